#!/usr/bin/env python3
"""The data behind every picture, from tables made up here, and what the pictures say.

Usage: plot_test.py PARADNN GOLDEN [--update]. The golden files hold nothing measured; --update rewrites them."""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PARADNN, GOLDEN = (os.path.abspath(path) for path in sys.argv[1:3])
UPDATE = "--update" in sys.argv

CEILINGS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,100,90,110,5
compute,gemm-onednn,f32,,1,0,90,80,95,5
bandwidth,read,,L1,1,32768,130,120,140,5
bandwidth,read,,DRAM,1,0,18,17,19,5
overhead,op,,,1,0,50,40,60,5
"""

# Two steps of one model: the residual of the second is 500 ns of 2000.
PAIR_RESULTS = """\
id,family,layers,batch,mode,dtype,threads,status,time_ns_median,intensity_flop_per_byte,gflops,bound,started_utc,extrapolated
one,fc,1,1,infer,f32,1,ok,1000,0.5,4,memory,2026-05-01T12:00:00.000Z,0
two,fc,1,2,infer,f32,1,ok,2000,20,50,compute,2026-05-01T12:00:00.000Z,0
four,fc,1,4,infer,f32,1,oom,,,,,,0
"""
PAIR_OPS = """\
id,op_index,layer,op,category,pass,shape,count,flop_count,in_bounds_flop_count,byte_count,time_ns_median,pct_of_roof
one,0,output,dense,linear gemm,forward,1x8:8x8:1x8,1,128,128,320,900,50
one,1,output,bias,bias,forward,1x8:8:1x8,1,8,8,96,100,50
two,0,output,dense,linear gemm,forward,2x8:8x8:2x8,1,256,256,384,1500,60
"""

# Two families. Of fc: the means of cells over layers, a cell that failed, one that failed in part, two that are missing.
GRID_RESULTS = """\
id,family,layers,nodes,batch,mode,threads,status,time_ns_median,pct_of_peak,gain
a,fc,1,8,1,infer,1,ok,1000,2,-1
b,fc,2,8,1,infer,1,ok,1000,8,3
c,fc,1,64,1,infer,1,ok,1000,16,4
d,fc,2,64,1,infer,1,oom,,,
e,fc,1,64,16,infer,1,oom_predicted,,,
f,fc,2,64,16,infer,1,filtered,,,
g,fc,1,512,16,train,1,ok,1000,50,5
h,rnn,1,8,1,infer,1,ok,1000,3,6
i,rnn,,,1,infer,1,ok,1000,3,7
"""

# Name of the golden file, arguments after `plot`.
GOLDEN_CASES = [
    ("roofline", ["roofline", "pair", "--color", "batch"]),
    ("roofline-only", ["roofline", "pair", "--only", "batch=2"]),
    ("breakdown", ["breakdown", "pair"]),
    ("breakdown-by", ["breakdown", "pair", "--by", "op", "--across", "batch"]),
    ("ceilings", ["ceilings", "pair"]),
    ("heatmap", ["heatmap", "grid"]),
    ("heatmap-by", ["heatmap", "grid", "--x", "threads", "--y", "nodes", "--value", "gain", "--by", "mode", "--only", "family=fc"]),
]


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.tables("pair", PAIR_RESULTS, PAIR_OPS)
        self.tables("grid", GRID_RESULTS)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def tables(self, name, results, ops=""):
        os.makedirs(self.path(name), exist_ok=True)
        for file_name, text in (("results.csv", results), ("ops.csv", ops), ("ceilings.csv", CEILINGS)):
            if text:
                with open(self.path(name, file_name), "w", encoding="utf-8") as file:
                    file.write(text)

    def plot(self, *arguments, expect=0, **options):
        done = subprocess.run([PARADNN, "plot", *arguments], cwd=self.directory, capture_output=True, text=True, timeout=120,
                              check=False, **options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def data(self, *arguments):
        """The rows of --format csv."""
        return list(csv.DictReader(self.plot(*arguments, "--format", "csv").stdout.splitlines()))

    def picture(self, *arguments):
        """The text of the SVG picture."""
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        with open(self.path(self.plot(*arguments, "--format", "svg").stdout.strip()), encoding="utf-8") as file:
            return file.read()


class Data(Case):
    def test_golden(self):
        for name, arguments in GOLDEN_CASES:
            with self.subTest(name):
                printed = self.plot(*arguments, "--format", "csv").stdout
                path = os.path.join(GOLDEN, name + ".csv")
                if UPDATE:
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(printed)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(printed, file.read())

    def test_no_golden_file_is_left_over(self):
        self.assertEqual({name + ".csv" for name, _ in GOLDEN_CASES}, set(os.listdir(GOLDEN)))

    def test_needs_no_gnuplot(self):
        self.plot("roofline", "pair", "--format", "csv", env={"PATH": self.directory})
        self.assertIn("gnuplot-nox", self.plot("roofline", "pair", env={"PATH": self.directory}, expect=1).stderr)

    def test_goes_to_a_file(self):
        done = self.plot("roofline", "pair", "--format", "csv", "-o", "points.svg")
        self.assertEqual(done.stdout, "points.csv\n")
        with open(self.path("points.csv"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.plot("roofline", "pair", "--format", "csv").stdout)

    def test_refused_option_says_what_is_taken(self):
        for arguments, taken in ((["ceilings", "pair", "--only", "batch=1"], "it takes --output and --format"),
                                 (["breakdown", "pair", "--color", "batch"], "it takes --by, --across, --only, --output and --format")):
            self.assertIn(taken, self.plot(*arguments, expect=2).stderr)

    def test_breakdown_adds_up(self):
        shares = {}
        for row in self.data("breakdown", "pair"):
            shares.setdefault(row["id"], {})[row["part"]] = float(row["share_pct"])
        self.assertEqual(shares["two"]["residual"], 25)
        for parts in shares.values():
            self.assertAlmostEqual(sum(parts.values()), 100)

    def test_heatmap_means(self):
        cells = {(row["family"], row["batch"], row["nodes"]): (row["pct_of_peak"], row["models"], row["failed"])
                 for row in self.data("heatmap", "grid")}
        self.assertEqual(cells, {("fc", "1", "8"): ("4", "2", "0"),  # sqrt(2 * 8)
                                 ("fc", "1", "64"): ("16", "1", "1"), ("fc", "16", "64"): ("", "0", "1"),
                                 ("fc", "16", "512"): ("50", "1", "0"), ("rnn", "1", "8"): ("3", "1", "0")})
        # A value that is not positive: arithmetic.
        cells = {row["nodes"]: row["gain"] for row in self.data("heatmap", "grid", "--only", "family=fc", "--value", "gain")}
        self.assertEqual(cells["8"], "1")

    def test_heatmap_bins_many_numbers(self):
        rows = "".join(f"n{n},fc,1,{n},1,infer,1,ok,1000,{n},1\n" for n in range(1, 41))
        self.tables("many", GRID_RESULTS.splitlines(keepends=True)[0] + rows)
        cells = {row["nodes"]: (float(row["pct_of_peak"]), row["models"])
                 for row in self.data("heatmap", "many", "--x", "nodes", "--y", "batch")}
        self.assertEqual(list(cells), ["1", "2", "4", "8", "16", "32"])
        self.assertEqual([models for _, models in cells.values()], ["1", "2", "4", "8", "16", "9"])
        self.assertAlmostEqual(cells["4"][0], (4 * 5 * 6 * 7) ** 0.25, places=4)

    def test_heatmap_refuses(self):
        for arguments, message in ((["--x", "batch", "--y", "batch"], "both axes are batch"),
                                   (["--by", "nodes"], "--by nodes is an axis already"),
                                   (["--value", "pct_of_peek"], "did you mean 'pct_of_peak'?"),
                                   (["--value", "mode"], "and a number in mode"),
                                   (["--only", "id=a"], "only one hyper-parameter or run setting varies")):
            self.assertIn(message, self.plot("heatmap", "grid", *arguments, expect=2).stderr)

    def test_heatmap_says(self):
        picture = self.picture("heatmap", "grid")
        for text in ("pct_of_peak in grid", "pct_of_peak (%)", "nodes", "batch", "fc", "rnn", "512"):
            self.assertIn(f">{text}<", picture)
        self.assertIn("A cell is the geometric mean of its models, 5 in all; a cross: all failed, a small one: some did, 2 in all",
                      picture)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
