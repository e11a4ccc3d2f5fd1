#!/usr/bin/env python3
"""paradnn prune: what it drops, when it refuses, and that a kill at any instant leaves the old journal or the new one.

Usage: prune_test.py PARADNN KILL_AT.so"""

import fcntl
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import make_journal
from files import rows, write
from processes import preload

PARADNN, KILL_AT = (os.path.abspath(path) for path in sys.argv[1:3])
SPEC = """\
sweep: small
run: {mode: [infer, train], threads: 2}
measure: {rounds: 2, min_samples: 3, max_time: 50ms, probe: off}
models:
  - fc: {layers: 2, nodes: 8, input: 12, output: 5, batch: 4}
  - rnn: {cell: gru, layers: 1, embedding: 8, length: 4, vocabulary: 9, batch: 2, output_at: last}
"""
# What the directories were measured with: two more models of each family, and another family.
EARLIER = (SPEC.replace("nodes: 8", "nodes: [8, 16]").replace("output_at: last", "output_at: [last, every-step]") +
           "  - cnn: {block: plain, blocks: 1-1, filters: 4, image: 12, output: 6, batch: 2, kernel: 3, window: 2}\n")
JOURNAL = ("journal.csv", "journal-ops.csv")
TABLES = ("results.csv", "ops.csv")


def content(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def ops_match(directory):
    """Whether journal-ops.csv has the ops of every visit, and no others."""
    ops = iter(rows(directory, "journal-ops.csv"))
    for visit in rows(directory, "journal.csv"):
        for _ in range(int(visit["ops"])):
            op = next(ops, None)
            if not op or (op["id"], op["visit"]) != (visit["id"], visit["visit"]):
                return False
    return next(ops, None) is None


class Prune(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.earlier = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.earlier.cleanup)
        spec, visits, cls.measured = (os.path.join(cls.earlier.name, name) for name in ("spec.yaml", "visits", "measured"))
        with open(spec, "w", encoding="utf-8") as file:
            file.write(EARLIER)
        make_journal.make(visits, EARLIER, make_journal.ids_of(PARADNN, spec))
        subprocess.run([PARADNN, "merge", visits, "-o", cls.measured], check=True, capture_output=True)

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name

    def make(self, name="d"):
        directory = os.path.join(self.place, name)
        shutil.copytree(self.measured, directory)
        write(SPEC, directory, "spec.yaml")
        return directory

    def prune(self, *arguments, rc=0, **environment):
        done = subprocess.run([PARADNN, "prune", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, rc, done.stderr)
        return done

    def test_shard_of_an_earlier_version_loses_nothing(self):
        """What its rule dealt to it is not known."""
        directory = self.make()
        with open(os.path.join(directory, "environment.yaml"), "a", encoding="utf-8") as file:
            file.write('written_utc: "2026"\nshard: "0/2"\n')
        before = content(directory, "journal.csv")
        self.assertIn("d: shard 0/2 was dealt by an earlier version", self.prune(directory, "--yes", rc=2).stderr)
        self.assertEqual(content(directory, "journal.csv"), before)

    def test_drops_and_keeps_aside(self):
        directory = self.make()
        before = {name: content(directory, name) for name in JOURNAL}
        done = self.prune(directory, "--yes")
        dropped = done.stdout.splitlines()
        self.assertEqual(len(dropped), 6)
        self.assertTrue(all("nodes=16" in name or "output_at=every-step" in name or name.startswith("cnn/") for name in dropped))
        self.assertIn("6 instances that spec.yaml does not name, with ", done.stderr)
        aside = sorted(set(os.listdir(directory)) - set(os.listdir(self.measured)))
        self.assertRegex("\n".join(aside), r"\Ajournal-\d{4}-\d\d-\d\dT\d{6}Z\.csv\njournal-ops-\d{4}-\d\d-\d\dT\d{6}Z\.csv\Z")
        self.assertEqual([content(directory, name) for name in aside], [before["journal.csv"], before["journal-ops.csv"]])
        self.assertTrue(ops_match(directory))
        kept = [line for line in before["journal.csv"].splitlines()[1:] if line.split(b'"')[1].decode() not in dropped]
        self.assertEqual(content(directory, "journal.csv").splitlines()[1:], kept)
        self.assertEqual(len(rows(directory, "results.csv")), 4)
        self.assertEqual({row["id"] for row in rows(directory, "ops.csv")}, {row["id"] for row in rows(directory, "results.csv")})
        # Nothing is left to do; the old journal can be put back.
        self.assertIn("0 instances", self.prune(directory).stderr)
        for name in JOURNAL:
            stem = name[:-4]
            os.replace(os.path.join(directory, next(n for n in aside if n.startswith(stem + "-2"))), os.path.join(directory, name))
        self.assertIn("6 instances", self.prune(directory, "-y").stderr)

    def test_tables_of_another_journal(self):
        """Tables with as many lines as they should have, but of instances that are dropped already: prune was killed before it made them."""
        directory = self.make()
        self.prune(directory, "--yes")
        new = {name: content(directory, name) for name in TABLES}
        for name in TABLES:
            old = content(self.measured, name).splitlines(keepends=True)
            count = len(new[name].splitlines())
            write((old[0] + b"".join(old[1 - count:])).decode(), directory, name)
            self.assertNotEqual(content(directory, name), new[name])
        self.assertIn("0 instances", self.prune(directory).stderr)
        self.assertEqual({name: content(directory, name) for name in TABLES}, new)

    def test_only(self):
        directory = self.make()
        done = self.prune(directory, "--only", "rnn/mode=train,infer", "--only", "batch<4", "--yes")
        self.assertEqual([("output_at=every-step" in name) for name in done.stdout.splitlines()], [True, True])
        self.assertIn("4 of them not in spec.yaml either", done.stderr)
        self.assertEqual(len(rows(directory, "results.csv")), 8)
        self.assertIn("results.csv has no column 'bach'", self.prune(directory, "--only", "bach=1", rc=2).stderr)

    def test_never_silently(self):
        directory = self.make()
        before = {name: content(directory, name) for name in os.listdir(directory)}
        self.assertIn("needs --yes", self.prune(directory, rc=2).stderr)
        self.assertEqual({name: content(directory, name) for name in os.listdir(directory)}, before)
        for answer, left in (("n\n", 10), ("\n", 10), ("y\n", 4)):
            try:
                own, other = pty.openpty()
            except OSError as error:
                self.skipTest(f"no pseudo-terminals here: {error}")
            os.write(own, answer.encode())
            done = subprocess.run([PARADNN, "prune", directory], stdin=other, capture_output=True, text=True)
            self.assertIn("drop them? [y/N]", done.stderr)
            self.assertEqual((done.returncode, "nothing was dropped\n" in done.stderr), (0, left != 4))
            self.assertEqual(len(rows(directory, "results.csv")), left)
            os.close(own)
            os.close(other)

    def test_refuses(self):
        directory = self.make()
        with open(os.path.join(directory, "journal.csv"), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.assertIn("another paradnn is writing there", self.prune(directory, "--yes", rc=2).stderr)
        os.makedirs(os.path.join(directory, "parts"))
        self.assertIn("its journals are in parts/", self.prune(directory, "--yes", rc=2).stderr)
        empty = os.path.join(self.place, "empty")
        os.makedirs(empty)
        self.assertIn("has no journal.csv", self.prune(empty, rc=2).stderr)
        self.assertEqual(os.listdir(empty), [])
        self.assertIn("none", self.prune(os.path.join(self.place, "none"), rc=2).stderr)

    def test_killed_at_every_instant(self):
        """Before each call that changes a file: journal.csv is the old or the new one, a reader finds every visit's ops, and prune goes on."""
        whole = self.make("whole")
        old = content(whole, "journal.csv")
        self.prune(whole, "--yes")
        new = {name: content(whole, name) for name in (*JOURNAL, *TABLES)}
        seen = set()
        for call in range(1, 200):
            directory = self.make(f"d{call}")
            done = subprocess.run([PARADNN, "prune", directory, "--yes"], capture_output=True, stdin=subprocess.DEVNULL,
                                  env={**os.environ, **preload(KILL_AT), "KILL_AT": str(call)})
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
            state = content(directory, "journal.csv")
            self.assertIn(state, (old, new["journal.csv"]), call)
            seen.add((state == old, ops_match(directory)))
            aside = [name for name in os.listdir(directory) if name.startswith("journal-2") and content(directory, name) == old]
            self.assertTrue(aside or state == old, call)
            status = subprocess.run([PARADNN, "status", directory], capture_output=True, text=True)
            self.assertIn(status.returncode, (0, 1), status.stderr)
            self.prune(directory, "--yes")
            self.assertEqual({name: content(directory, name) for name in new}, new, call)
            self.assertEqual([name for name in os.listdir(directory) if name.endswith(".tmp")], [])
            shutil.rmtree(directory)
        self.assertGreater(call, 20)
        # Kills hit both sides of the step, and the moment between the two files.
        self.assertEqual(seen, {(True, True), (False, False), (False, True)})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
