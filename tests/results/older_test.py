#!/usr/bin/env python3
"""A directory that schema 2 wrote (schema-2/): every command reads it, names of that time still work, and a sweep goes on in it.

Usage: older_test.py PARADNN"""

import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PARADNN = os.path.abspath(sys.argv.pop(1))
OLD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema-2")
KEPT = ["journal.csv", "journal-ops.csv"]


def rows(*path):
    with open(os.path.join(*path), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def content(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


# Settings that schema 2 did not know: tables written since have their columns, and say so in one more row per setting.
SINCE = {"data", "loaders", "pages", "ranks", "allreduce", "bucket", "bucket_mb"}


def without_news(text):
    """A CSV text without what is said of these settings."""
    head, *table = csv.reader(io.StringIO(text))
    kept = [i for i, name in enumerate(head) if name not in SINCE]
    rest = io.StringIO()
    csv.writer(rest, lineterminator="\n").writerows([row[i] for i in kept] for row in [head, *table] if row is head or not SINCE & set(row))
    return rest.getvalue()


class Older(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name
        self.old = os.path.join(self.place, "old")
        shutil.copytree(OLD, self.old)
        os.remove(os.path.join(self.old, "environment.yaml"))  # of another machine, where no sweep could go on

    def run_paradnn(self, *arguments, rc=0):
        quiet = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}  # what is set there is said
        done = subprocess.run([PARADNN, *arguments], cwd=self.place, env=quiet, capture_output=True, text=True)
        self.assertEqual(done.returncode, rc, done.stderr)
        return done

    def answers(self, directory):
        """What the commands that read results say."""
        return [self.run_paradnn(*arguments).stdout.replace(directory, "DIR") for arguments in (
            ["breakdown", directory, "--format", "csv"], ["breakdown", directory, "--gemms", "--format", "csv"],
            ["breakdown", directory, "--across", "nodes", "--only", "family=fc", "--by", "group,pass"],
            ["compare", directory, "--across", "nodes=8:16", "--table", "groups", "--format", "csv"],
            ["compare", directory, "--across", "output_at=last:every-step", "--format", "csv"],
            ["fit", directory, "--value", "gflops", "--only", "family=fc", "--format", "csv"],
            ["plot", "roofline", directory, "--color", "row_flags", "--format", "csv"],
            ["plot", "ops", directory, "--format", "csv"], ["plot", "boxes", directory, "--value", "gflops", "--format", "csv"],
            ["plot", "ceilings", directory, "--format", "csv"])]

    def test_commands_read_it(self):
        """The tables that a sweep writes anew say what the old ones say."""
        before = self.answers(self.old)
        self.run_paradnn("report", self.old)
        self.assertIn("instances", self.run_paradnn("status", OLD).stdout)
        self.run_paradnn("merge", OLD, "-o", "merged")
        self.run_paradnn("sweep", os.path.join(OLD, "spec.yaml"), "-o", self.old)
        self.assertEqual({row["schema"] for row in rows(self.old, "results.csv")}, {"3"})
        for number, (old, new) in enumerate(zip(before, self.answers(self.old))):
            if old != new:
                old, new = without_news(old), without_news(new)
            self.assertEqual(old, new, number)

    def test_parts_of_an_id(self):
        self.run_paradnn("merge", OLD, "-o", "merged")
        table = rows(self.place, "merged", "results.csv")
        self.assertEqual(len(table), 10)
        for row in table:
            self.assertEqual(row["id"], row["model"] + "," + row["settings"])
            self.assertTrue(row["settings"].endswith("threads=1"))
        rnn = [row for row in table if row["family"] == "rnn"]
        self.assertEqual({row["output_at"] for row in rnn}, {"last", "every-step"})
        self.assertEqual({row["output"] for row in rnn}, {""})
        self.assertEqual({row["output"] for row in table}, {"", "5", "6"})
        ops = rows(self.place, "merged", "ops.csv")
        of = {row["id"]: row for row in table}
        for op in ops:
            for name in ("model", "family", "run_mode", "status"):
                self.assertEqual(op[name], of[op["id"]][name])

    def test_a_sweep_goes_on(self):
        old = len(rows(self.old, "journal.csv"))
        before = {name: content(self.old, name) for name in KEPT}
        self.run_paradnn("sweep", os.path.join(OLD, "spec.yaml"), "-o", self.old, "--set", "measure.rounds=3")
        for name, text in before.items():
            self.assertEqual(content(self.old, name)[:len(text)], text, name)
        visits = rows(self.old, "journal.csv")
        self.assertGreater(len(visits), old)
        self.assertEqual([row["schema"] for row in visits], ["2"] * old + ["3"] * (len(visits) - old))
        self.assertEqual(sum(int(row["rounds"]) for row in rows(self.old, "results.csv")), len(visits))
        # Rows of both schemas merge with what is merged already.
        self.run_paradnn("merge", self.old, "-o", "merged")
        self.assertEqual(len(rows(self.place, "merged", "journal.csv")), len(visits))

    def test_names_of_that_time(self):
        for arguments, now in ((["plot", "roofline", self.old, "--color", "flags", "--format", "csv"], "row_flags"),
                               (["breakdown", self.old, "--only", "flags=,noisy"], "row_flags"),
                               (["breakdown", self.old, "--only", "batch=2,output=last"], "output_at"),
                               (["breakdown", self.old, "--only", "rnn/output=every-step"], "output_at")):
            done = self.run_paradnn(*arguments)
            said = [line for line in done.stderr.splitlines() if "is now called" in line]
            self.assertEqual(len(said), 1, done.stderr)
            self.assertTrue(said[0].endswith(f"is now called '{now}'"), said)
        done = self.run_paradnn("breakdown", self.old, "--only", "output=5")
        self.assertNotIn("is now called", done.stderr)
        self.assertIn("fc/", done.stdout)

    def test_old_names_in_specs(self):
        spec = os.path.join(self.place, "old.yaml")
        for text, place in (("  - rnn: {output: [last, none]}\n", "2:11"), ("  - rnn: {output_at: [last, none, every-step]}\n"
                                                                           "    where: output != every-step\n", "3:12")):
            with open(spec, "w", encoding="utf-8") as file:
                file.write("models:\n" + text)
            done = self.run_paradnn("list", "old.yaml", "--format", "csv")
            # The suite may set OpenMP's variables, which is told first.
            said = [line for line in done.stderr.splitlines() if not line.startswith("paradnn: OpenMP variables")]
            self.assertEqual(said, [f"paradnn: old.yaml:{place}: 'output' of rnn is now called 'output_at'"])
            self.assertEqual([row["output_at"] for row in csv.DictReader(done.stdout.splitlines())][:2], ["last", "none"])
        with open(spec, "w", encoding="utf-8") as file:
            file.write("models:\n  - rnn: {output: last, output_at: none}\n")
        self.assertIn("'output_at' is given twice", self.run_paradnn("list", "old.yaml", rc=2).stderr)

    def test_both_names_of_a_key(self):
        """A column has another name than its key where readers of tables would not take the key's."""
        for name in ("mode", "run_mode"):
            self.assertIn(" per step", self.run_paradnn("breakdown", self.old, "--only", f"fc/{name}=train").stdout)
            header = self.run_paradnn("compare", self.old, "--across", "nodes=8:16", "--format", "csv").stdout.splitlines()[0].split(",")
            self.assertIn("run_mode", header)
            self.assertNotIn("mode", header)


if __name__ == "__main__":
    unittest.main()
