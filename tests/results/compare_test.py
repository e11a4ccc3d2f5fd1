#!/usr/bin/env python3
"""tests/bench/compare.py on made-up tables: what it joins, what it leaves out, and how it averages. Usage: compare_test.py PARADNN"""

import csv
import os
import subprocess
import sys
import tempfile
import unittest

PARADNN = sys.argv.pop(1)
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "bench", "compare.py")
HEADER = ["id", "family", "mode", "status", "time_ns_median", "ci_low_ns", "ci_high_ns"]


class Compare(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def results(self, name, rows):
        directory = os.path.join(self.place.name, name)
        os.mkdir(directory)
        with open(os.path.join(directory, "results.csv"), "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([HEADER] + rows)
        return directory

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)

    def test_joins_by_id(self):
        a = self.results("a", [["fc/1", "fc", "infer", "ok", 4000, 3900, 4100], ["fc/2", "fc", "infer", "ok", 1000, 900, 1100],
                               ["fc/3", "fc", "train", "ok", 1000, "", ""], ["fc/4", "fc", "train", "unsupported", "", "", ""]])
        b = self.results("b", [["fc/2", "fc", "infer", "ok", 1000, 900, 1100], ["fc/1", "fc", "infer", "ok", 1000, 990, 1010],
                               ["fc/5", "fc", "train", "ok", 1000, "", ""], ["fc/4", "fc", "train", "ok", 5, "", ""]])
        text = self.run_script(a, b).stdout
        self.assertIn("  4.000        0.004 ms      0.001 ms  fc/1\n", text)
        self.assertIn("  1.000~       0.001 ms      0.001 ms  fc/2\n", text)
        self.assertIn("fc           infer   2.000  1.000  4.000      2\n", text)
        self.assertIn("3 left out", text)
        rows = list(csv.DictReader(self.run_script("--csv", a, b).stdout.splitlines()))
        self.assertEqual([(row["id"], row["ratio"], row["clear"]) for row in rows], [("fc/1", "4", "yes"), ("fc/2", "1", "no")])

    def test_joins_ids_of_earlier_versions(self):
        """What it drops from an id, the program drops too."""
        full = "rnn/cell=lstm,layers=1,embedding=8,hidden=8,length=5,vocabulary=9,batch=2,bidirectional=no,output=every-step,dropout=0," \
               "ids=uniform,mode=train,dtype=f32,optimizer=rmsprop,backend=onednn,threads=2,cache=warm,fuse=none,rnn=auto,accumulate=1," \
               "checkpoint=none,isa=default"
        other = full.replace("mode=train", "mode=infer").replace("optimizer=rmsprop,", "").replace(",accumulate=1,checkpoint=none", "")
        network = "cnn/block=residual,blocks=1,filters=2,image=32,output=4,batch=2,pool=global,activation=relu,mode=infer,dtype=f32," \
                  "backend=onednn,threads=2,cache=warm,fuse=none,algorithm=auto,isa=default"
        listed = subprocess.run([PARADNN, "list", "--format", "csv", full, other, network], capture_output=True, text=True, check=True).stdout
        today = [row["id"] for row in csv.DictReader(listed.splitlines())]
        self.assertTrue(today[0].endswith(",ids=uniform,threads=2") and today[1].endswith(",mode=infer,threads=2"), today)
        a = self.results("a", [[name, "rnn", "x", "ok", 4000, "", ""] for name in (full, other, network)])
        b = self.results("b", [[name, "rnn", "x", "ok", 1000, "", ""] for name in today])
        rows = list(csv.DictReader(self.run_script("--csv", a, b).stdout.splitlines()))
        self.assertEqual(sorted(row["id"] for row in rows), sorted(today))

    def test_refuses(self):
        a = self.results("a", [["fc/1", "fc", "infer", "ok", 4000, 3900, 4100]])
        b = self.results("b", [["fc/2", "fc", "infer", "ok", 4000, 3900, 4100]])
        self.assertIn("no instance ran on both sides (2", self.run_script(a, b).stderr)
        self.assertIn("Usage", self.run_script(a).stderr)


if __name__ == "__main__":
    unittest.main()
