#!/usr/bin/env python3
"""Sweeps whose minibatches are drawn or read: the rows they leave, what is refused before anything runs, and what becomes a row's reason.

Usage: infeed_test.py PARADNN"""

import os
import subprocess
import sys
import tempfile
import unittest

from files import ROOFS, rows as read_rows, write

PARADNN = os.path.abspath(sys.argv[1])
FC = "fc/layers=1,nodes=16,input=12,output=4,batch=8,threads=1"
ENVIRONMENT = {**os.environ, "PARADNN_NO_CACHE": "1", "OMP_WAIT_POLICY": "passive"}
SHORT = ["measure.rounds=1", "measure.max_time=1ms", "measure.min_samples=2", "measure.probe=off"]


def sets(*words):
    return [part for word in words for part in ("--set", word)]


class Infeed(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = room.name
        write(ROOFS, self.room, "roofs.csv")
        self.make("rows", "--features", "12", "--count", "40")

    def paradnn(self, *arguments):
        return subprocess.run([PARADNN, *arguments], capture_output=True, text=True, cwd=self.room, env=ENVIRONMENT)

    def make(self, content, *options):
        done = self.paradnn("data", "make", content, content, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def sweep(self, *settings, spec=FC, output="out"):
        return self.paradnn("sweep", spec, "-o", output, "--quiet", "--ceilings", "roofs.csv", *sets(*SHORT, *settings))

    def table(self, name="results.csv", output="out"):
        return read_rows(self.room, output, name)

    def refuses(self, text, *settings, **options):
        done = self.sweep(*settings, **options)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.room, options.get("output", "out"), "journal.csv")))

    def test_rows_say_what_was_seen(self):
        done = self.sweep("run.data=[resident, generated, file]", "run.loaders=[0, 2]", "dataset=rows")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {(row["data"], row["loaders"]): row for row in self.table()}
        self.assertEqual(set(rows), {("resident", ""), ("generated", "0"), ("generated", "2"), ("file", "0"), ("file", "2")})
        for (data, _), row in rows.items():
            waits = data != "resident"
            self.assertEqual(row["status"], "ok", row["reason"])
            self.assertEqual(bool(row["infeed_pct"]), waits)
            self.assertEqual(bool(row["loader_examples_per_s"]), waits)
            self.assertEqual(bool(row["loader_bytes_per_s"]), data == "file")
            self.assertEqual(row["page_cache"], "warm" if data == "file" else "")
            ops = [op for op in self.table("ops.csv") if op["id"] == row["id"]]
            waiting = [op for op in ops if op["category"] == "infeed"]
            self.assertEqual([op["op"] for op in waiting], ["infeed"] * waits)
            self.assertFalse([op for op in ops if op["op"] == "loaders"])
            whole = float(row["time_ns_median"])
            if waits:
                self.assertAlmostEqual(float(waiting[0]["time_ns_median"]) / whole * 100, float(row["infeed_pct"]), delta=0.01)
            in_ops = sum(float(op["time_ns_median"]) for op in ops if op["time_ns_median"])
            self.assertAlmostEqual(in_ops / whole * 100 + float(row["residual_pct"]), 100, delta=0.01)
        drawn = self.paradnn("plot", "infeed", "out", "--format", "csv", "--value", "gflops")
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        self.assertEqual(len(drawn.stdout.splitlines()), 5)
        again = self.paradnn("sweep", FC, "-o", "out", "--quiet", "--ceilings", "roofs.csv", *sets(*SHORT, "run.data=file", "dataset=other"))
        self.assertIn("dataset: other: No such file", again.stderr)
        self.paradnn("data", "make", "rows", "other", "--features", "12")
        again = self.paradnn("sweep", FC, "-o", "out", "--quiet", "--ceilings", "roofs.csv", *sets(*SHORT, "run.data=file", "dataset=other"))
        self.assertEqual(again.returncode, 2)
        self.assertIn("dataset was", again.stderr)

    def test_paths_start_at_the_spec(self):
        """Wherever the command is, also when it goes on, and from the directory's own spec; one that is typed starts here."""
        spec = ("dataset: [../rows]\nrun: {data: file, threads: 1, mode: infer}\n"
                "models: [fc: {layers: 1, nodes: 16, input: 12, output: 4, batch: 8}]\n")
        os.mkdir(os.path.join(self.room, "specs"))
        write(spec, self.room, "specs", "a.yaml")
        write(spec.replace("../rows", "rows"), self.room, "specs", "b.yaml")
        for visits, (here, name, *typed) in enumerate(((".", "specs/a.yaml"), ("specs", "a.yaml"), (".", "out/spec.yaml"),
                                                       (".", "specs/b.yaml", *sets("dataset=rows"))), 1):
            done = subprocess.run([PARADNN, "sweep", name, "-o", os.path.join(self.room, "out"), "--quiet", "--ceilings", os.path.join(self.room, "roofs.csv"),
                                   *sets(*SHORT, f"measure.rounds={visits}"), *typed],
                                  capture_output=True, text=True, cwd=os.path.join(self.room, here), env=ENVIRONMENT)
            self.assertEqual(done.returncode, 0, done.stderr)
            (row,) = self.table()
            self.assertEqual(row["status"], "ok")
            self.assertGreaterEqual(int(row["rounds"]), visits)  # more where the machine is noisy
        self.refuses("dataset: specs/rows: No such file", spec="specs/b.yaml", output="new")

    def test_refuses_before_anything_runs(self):
        self.refuses("the spec names none", "run.data=file")
        self.refuses("nowhere: No such file", "run.data=file", "dataset=nowhere")
        self.refuses("dataset takes a directory, or a list", "run.data=file", "dataset=[]")
        with open(os.path.join(self.room, "rows", "rows.bin"), "r+b") as file:
            file.truncate(100)
        self.refuses("rows.bin: has 100 bytes, 40 rows take 2080", "run.data=file", "dataset=rows")
        done = self.paradnn("list", FC + ",loaders=2")
        self.assertIn("loaders does not apply with data=resident", done.stderr)

    def test_misfits_are_rows(self):
        self.make("tokens", "--count", "100")
        done = self.paradnn("sweep", FC, "-o", "out", "--quiet", "--ceilings", "roofs.csv", *sets(*SHORT, "run.data=file", "dataset=tokens"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no data set of the spec has the rows of 12 features", self.table()[0]["reason"])
        self.assertEqual(self.table()[0]["status"], "invalid")
        done = self.paradnn("sweep", FC + ",data=generated,cache=cold", "-o", "cold", "--quiet", "--ceilings", "roofs.csv", *sets(*SHORT))
        self.assertEqual(self.table(output="cold")[0]["status"], "invalid")
        self.assertIn("needs cache=warm", self.table(output="cold")[0]["reason"])

    def test_show_and_make(self):
        shown = self.paradnn("data", "show", "rows")
        self.assertIn("features    12", shown.stdout)
        self.assertNotIn("decoded", shown.stdout)
        self.assertIn("decoded     3\n", self.make("images", "--count", "3", "--size", "8x8"))
        with open(os.path.join(self.room, "images", "files.txt"), encoding="utf-8") as file:
            second = file.read().splitlines()[1].split()[0]
        with open(os.path.join(self.room, "images", second), "r+b") as file:
            file.write(b"\x89PNG\r\n\x1a\n")
        done = self.paradnn("data", "show", "images")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, rf"\Aparadnn: images/{second}: is not a binary PPM .*: it is a PNG; 1 of 3 images do not decode\n\Z")
        for arguments, message in {
                ("make", "rows", "rows"): "has files already",
                ("make", "rows", "new", "--seed", "9223372036854775808"): "expected a whole number from 0 to 9223372036854775807\n",
                ("make", "rows", "new", "--count", "0"): "--count is '0', expected a whole number from 1 to",
                ("make", "images", "new", "--size", "12"): "--size: '12' is not WIDTHxHEIGHT",
                ("make", "images", "new", "--quality", "5"): "--quality needs --encoding jpeg",
                ("make", "rows"): "data make needs what to make and a new directory",
                ("show", "rows", "more"): "data show takes a directory and nothing else",
                ("mke", "rows", "new"): "did you mean 'make'?"}.items():
            done = self.paradnn("data", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.room, "new")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
