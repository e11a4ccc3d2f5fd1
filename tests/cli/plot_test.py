#!/usr/bin/env python3
"""The data behind every picture, from tables made up here, and what the pictures say.

Usage: plot_test.py PARADNN GOLDEN [--update]. The golden files hold nothing measured; --update rewrites them."""

import html
import math
import os
import random
import re
import shutil
import subprocess
import sys

from program import Case, bert_tables, main, needs, table

import drawn  # program.py has made tests/ a place to import from

GOLDEN = os.path.abspath(sys.argv[2])
PICTURES = os.path.join(os.path.dirname(GOLDEN), "figures")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "results", "examples")

CEILINGS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,100,90,110,5
compute,gemm-onednn,f32,,1,0,90,80,95,5
bandwidth,read,,L1,1,32768,130,120,140,5
bandwidth,read,,DRAM,1,0,18,17,19,5
overhead,op,,,1,0,50,40,60,5
"""

# With a ladder, of plain reads and of streaming copies, and a capacity that the host reports.
LADDER = CEILINGS.replace("repetitions", "repetitions,reported_bytes").replace(",5\n", ",5,\n").replace("140,5,", "140,5,49152") + "".join(
    f"ladder,{pattern},,{level},1,{size},{rate},{rate - 1},{rate + 2},3,\n" for pattern, rates in (("read", (131, 128, 18)), ("copy-streaming", (25, 24, 22)))
    for level, size, rate in zip(("L1", "L1", "DRAM"), (16384, 32768, 1 << 28), rates))

# Two steps of one model: the residual of the second is 500 ns of 2000.
PAIR_RESULTS = """\
id,family,layers,batch,mode,dtype,threads,status,time_ns_median,intensity_flop_per_byte,gflops,bound,started_utc,extrapolated
one,fc,1,1,infer,f32,1,ok,1000,0.5,4,memory,2026-05-01T12:00:00.000Z,0
two,fc,1,2,infer,f32,1,ok,2000,20,50,compute,2026-05-01T12:00:00.000Z,0
four,fc,1,4,infer,f32,1,oom,,,,,,0
"""
PAIR_OPS = """\
id,op_index,layer,op,category,op_pass,op_shape,executions,flop_count,in_bounds_flop_count,byte_count,time_ns_median,pct_of_roof
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

# Ops with 80, 1 and 0.9 % of their model's time, and one without arithmetic.
OPS_RESULTS = """\
id,family,layers,batch,mode,dtype,threads,status,time_ns_median,started_utc
a,fc,1,1,infer,f32,1,ok,1000,2026-05-01T12:00:00.000Z
b,fc,1,4,infer,f32,2,ok,1000,2026-05-01T12:00:00.000Z
"""
OPS_OPS = """\
id,op_index,layer,op,category,op_pass,op_shape,executions,flop_count,in_bounds_flop_count,byte_count,time_ns_median,gflops,intensity_flop_per_byte,bound,pct_of_roof
a,0,hidden1,dense,linear gemm,forward,x,1,1,1,1,800,40,2,compute,
a,1,hidden1,bias,bias,forward,x,1,1,1,1,10,3,0.25,memory,
a,2,hidden1,relu,activation,forward,x,1,1,1,1,9,2,0.125,memory,
a,3,,reorder,reorder,forward,x,1,0,0,1,100,,,,
b,0,hidden1,dense,linear gemm,backward-weights,x,1,1,1,1,900,50,4,compute,
"""

# Amdahl: 20 % of `a` and half of `b` are not parallel; `c` has no counterpart, `d` has a faster thread among two than alone.
SCALING_RESULTS = """\
id,family,layers,batch,threads,status,time_ns_median,pct_of_peak
a1,fc,1,1,1,ok,1000,50
a2,fc,1,1,2,ok,600,41.6667
a4,fc,1,1,4,ok,400,31.25
b1,fc,2,1,1,ok,1000,40
b2,fc,2,1,2,ok,750,26.6667
c4,fc,3,1,4,ok,1000,10
d1,fc,1,8,1,ok,1000,20
d2,fc,1,8,2,ok,400,25
"""

# Two backends: twice as fast, equal, half as fast; one pair is incomplete.
PAIRS_RESULTS = """\
id,family,layers,batch,backend,threads,status,params,time_ns_median,ci_low_ns,ci_high_ns
"fc/layers=1,nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,threads=1",fc,1,1,onednn,1,ok,100,1000,990,1010
"fc/layers=1,nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,backend=openblas,threads=1",fc,1,1,openblas,1,ok,100,500,495,505
"fc/layers=2,nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,threads=1",fc,2,1,onednn,1,ok,200,1000,990,1010
"fc/layers=2,nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,backend=openblas,threads=1",fc,2,1,openblas,1,ok,200,1000,990,1010
"fc/layers=4,nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,threads=1",fc,4,1,onednn,1,ok,400,1000,990,1010
"fc/layers=4,nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,backend=openblas,threads=1",fc,4,1,openblas,1,ok,400,2000,1980,2020
"fc/layers=8,nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,threads=1",fc,8,1,onednn,1,ok,800,1000,990,1010
"fc/layers=8,nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,backend=openblas,threads=1",fc,8,1,openblas,1,crash,800,,,
"""

# Every integer from 0 to 100, so that a percentile is its own value; a preset of another family.
BOX_RESULTS = "id,family,layers,batch,mode,threads,status,time_ns_median,params,pct_of_peak\n" + "".join(
    f"n{n},fc,{n},1,infer,1,ok,1000,{n + 1},{n}\n" for n in range(100, -1, -1)) + (
    "cnn:resnet50,cnn,,1,infer,1,ok,1000,25557032,30\n" "x,cnn,,1,infer,1,ok,1000,1000,10\n" "y,cnn,,1,train,1,ok,1000,2000,\n")

# An epoch of 100 iterations that takes 8.18 ms; two SeqPoints say 7 ms.
SEQPOINT = """\
id,source_length,target_length,iterations,flop_count,chosen_by,seqpoint_weight,draws,draws_weight,time_ns,measured
a,10,12,40,1000,seqpoint|frequent,90,2,50,50000,2
b,10,20,49,1500,median|sample,,1,40,70000,1
c,30,35,11,4000,seqpoint|worst|sample,10,1,10,250000,1
"""

# Two ranks, their link alone, and two models that averaged gradients; the third did not.
LINK_RESULTS = """\
id,family,batch,threads,ranks,allreduce,status,time_ns_median,allreduce_bytes,bus_gbs
fc/a,fc,1,1,2,blocking,ok,1000,4000,0.5
fc/b,fc,1,1,2,thread,ok,3000,4000000,2.5
fc/c,fc,1,1,2,none,ok,900,,
"""
LINKS = CEILINGS.splitlines()[0] + ",ranks\n" + "".join(
    f"link,allreduce,,,0,{size},{rate},{rate / 2},{rate},3,2\n" for size, rate in ((64, 0.1), (4096, 1), (4194304, 3)))

# Name of the golden file, arguments after `plot`.
GOLDEN_CASES = [
    ("roofline", ["roofline", "pair", "--color", "batch"]),
    ("roofline-only", ["roofline", "pair", "--only", "batch=2"]),
    ("breakdown", ["breakdown", "pair"]),
    ("breakdown-by", ["breakdown", "pair", "--by", "op", "--across", "batch"]),
    ("ceilings", ["ceilings", "ladder"]),
    ("ops", ["ops", "ops"]),
    ("ops-by", ["ops", "ops", "--by", "category,pass", "--only", "batch=1"]),
    ("scaling", ["scaling", "scaling"]),
    ("scaling-color", ["scaling", "scaling", "--color", "layers", "--only", "batch=1"]),
    ("allreduce", ["allreduce", "link"]),
    ("speedup", ["speedup", "pairs"]),
    ("speedup-two", ["speedup", "pairs", "slow", "--only", "backend=onednn", "--x", "time_ns_median", "--color", "status"]),
    ("boxes", ["boxes", "box"]),
    ("boxes-by", ["boxes", "box", "--value", "params", "--by", "mode"]),
    ("boxes-ratio", ["boxes", "pairs", "--across", "backend"]),
    ("seqpoint", ["seqpoint", "epoch"]),
    ("span", ["span", "box"]),
    ("span-value", ["span", "box", "--value", "pct_of_peak", "--only", "family=fc"]),
    ("heatmap", ["heatmap", "grid"]),
    ("heatmap-by", ["heatmap", "grid", "--x", "threads", "--y", "nodes", "--value", "gain", "--by", "mode", "--only", "family=fc"]),
]
# Of the kinds that no picture of the documents shows.
GOLDEN_PICTURES = {"breakdown", "ceilings", "scaling", "seqpoint", "boxes-zen5", "weights-zen5"}


class Data(Case):
    FILES = {}

    def setUp(self):
        super().setUp()
        self.tables("pair", PAIR_RESULTS, PAIR_OPS)
        self.tables("grid", GRID_RESULTS)
        self.tables("ops", OPS_RESULTS, OPS_OPS)
        self.tables("scaling", SCALING_RESULTS)
        self.tables("pairs", PAIRS_RESULTS)
        self.tables("slow", PAIRS_RESULTS.replace(",1000,990,1010", ",4000,3900,4100"))
        self.tables("box", BOX_RESULTS)
        self.write("epoch/seqpoint.csv", SEQPOINT)
        self.tables("link", LINK_RESULTS)
        self.write("link/ceilings.csv", LINKS)
        self.write("ladder/ceilings.csv", LADDER)

    def tables(self, name, results, ops=""):
        for file_name, text in (("results.csv", results), ("ops.csv", ops), ("ceilings.csv", CEILINGS)):
            if text:
                self.write(os.path.join(name, file_name), text)

    def plot(self, *arguments, expect=0, **options):
        return self.paradnn("plot", *arguments, expect=expect, **options)

    def data(self, *arguments):
        """The rows of --format csv."""
        return table(self.plot(*arguments, "--format", "csv").stdout)

    def boxes(self, *arguments):
        """The same of boxes, without the models that have rows of their own."""
        return [row for row in self.data("boxes", *arguments) if row["kind"] not in ("value", "beyond")]

    def picture(self, *arguments):
        """The text of the SVG picture."""
        return self.read(self.plot(*arguments, "--format", "svg").stdout.strip())

    def test_golden(self):
        for name, arguments in GOLDEN_CASES:
            with self.subTest(name):
                printed = self.plot(*arguments, "--format", "csv").stdout
                self.expect_golden(os.path.join(GOLDEN, name + ".csv"), printed)

    def test_no_golden_file_is_left_over(self):
        self.assertEqual({name + ".csv" for name, _ in GOLDEN_CASES}, set(os.listdir(GOLDEN)))
        self.assertEqual({name + ".svg" for name in GOLDEN_PICTURES}, set(os.listdir(PICTURES)))

    @staticmethod
    def picture_cases():
        """Of the tables above, and of the shipped examples, on all of which no text touches another one or a point."""
        zen5, zen3 = (os.path.join(EXAMPLES, name) for name in ("zen5-2-cores", "zen3-2-cores"))
        shipped = [[kind, zen5] for kind in ("roofline", "ops", "breakdown", "ceilings", "heatmap", "boxes", "span", "weights")]
        shipped += [["roofline", zen5, "--color", "nodes"], ["speedup", zen3, zen5], ["op_speedup", zen3, zen5], ["projection", zen5, "--compute", "2"],
                    ["boxes", zen3, zen5], ["heatmap", zen3, zen5]]
        made_up = [case for case in GOLDEN_CASES if case[0] in ("breakdown", "ceilings", "scaling", "allreduce", "seqpoint", "heatmap-by", "boxes-ratio")]
        return made_up + [("-".join([case[0], *(os.path.basename(word).split("-")[0] for word in case[1:] if word[:2] != "--")]), case) for case in shipped]

    def test_golden_pictures(self):
        for name, arguments in self.picture_cases():
            with self.subTest(name):
                picture = self.plot(*arguments, "--format", "svg", "-o", "/dev/stdout").stdout
                self.assertEqual(drawn.Picture(picture).collisions(), [])
                if name in GOLDEN_PICTURES:
                    self.expect_golden(os.path.join(PICTURES, name + ".svg"), picture)

    def test_points_lie_where_their_rows_say(self):
        """Each row has its point, on axes of logarithms."""
        zen5, zen3 = (os.path.join(EXAMPLES, name) for name in ("zen5-2-cores", "zen3-2-cores"))
        for *arguments, across, up in (["allreduce", "link", "bytes", "bus_gbs"], ["speedup", zen3, zen5, "x", "speedup"],
                                       ["roofline", zen5, "--color", "nodes", "intensity_flop_per_byte", "gflops"],
                                       ["ops", zen5, "--by", "category", "intensity_flop_per_byte", "gflops"],
                                       ["scaling", "scaling", "pct_of_peak_few", "pct_of_peak_per_thread"],
                                       ["projection", zen5, "--compute", "2", "x", "speedup"]):
            with self.subTest(arguments[0]):
                picture = drawn.Picture(self.plot(*arguments, "--format", "svg", "-o", "/dev/stdout").stdout)
                rows = {at: (float(row[across]), float(row[up])) for at, row in enumerate(self.data(*arguments)) if row[across] and row[up]}
                self.assertEqual({at for at, _ in picture.rows}, set(rows))
                for axis, sign in ((0, 1), (1, -1)):
                    places = sorted((math.log(rows[at][axis]), sign * (point.x, point.y)[axis]) for at, point in picture.rows)
                    (least, start), (most, end) = places[0], places[-1]
                    self.assertGreater(end - start, 50)
                    for value, place in places:
                        self.assertLess(abs(start + (value - least) / (most - least) * (end - start) - place), 0.2)

    def test_pictures_of_the_documents(self):
        """Those of the shipped example are what the program draws of it today."""
        zen5, zen3 = (os.path.join(EXAMPLES, name) for name in ("zen5-2-cores", "zen3-2-cores"))
        xeon = os.path.join(EXAMPLES, "xeon-2-cores")
        for name, *arguments in (("roofline", xeon), ("heatmap", zen5), ("ops", zen5), ("op_speedup", zen3, zen5),
                                 ("projection", zen5, "--compute", "2", "--bandwidth", "1.5")):
            with open(os.path.join(EXAMPLES, os.pardir, os.pardir, "doc", name + ".svg"), encoding="utf-8") as file:
                self.assertEqual(self.plot(name, *arguments, "--format", "svg", "-o", "/dev/stdout").stdout,
                                 file.read(), name)

    def test_a_column_of_a_paper(self):
        """85 mm wide with letters of 8 points, and LaTeX takes them."""
        pictures = []
        for name, arguments in self.picture_cases():
            with self.subTest(name):
                width, points = ("120mm", "453.5") if name == "breakdown-zen5" else ("85mm", "321.3")  # of 30 bars
                picture = self.plot(*arguments, "--width", width, "--font-size", "8", "--format", "svg", "-o", "/dev/stdout").stdout
                self.assertEqual(drawn.Picture(picture).collisions(), [])
                self.assertIn(f'width="{points}"', picture[:300])
                self.plot(*arguments, "--width", width, "--font-size", "8", "-o", name + ".tex")
                pictures.append("\\input{" + name + ".tex}\n\n")
        missing = needs.missing("pdflatex")
        if missing:
            self.skipTest(missing)
        self.write("paper.tex", "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{pgf,textcomp}\\begin{document}\n" + "".join(pictures) +
                   "\\end{document}\n")
        done = subprocess.run(["pdflatex", "-interaction=batchmode", "-halt-on-error", "paper.tex"], cwd=self.directory, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_wide_roofs_stay_apart(self):
        """Roofs of AMX are 20 times as high as those of f32, with the longest names."""
        wide = [f"compute,{pattern},{dtype},,{threads},0,{value},{value * .8:.0f},{value},5" for threads in (1, 2)
                for pattern, dtype, value in (("avx512_bf16", "bf16", 380), ("amx_tile_bf16", "bf16", 2190), ("gemm-onednn-brgemm", "bf16", 1870),
                                              ("amx_tile_int8", "int8", 4370.5), ("gemm-onednn-brgemm", "int8", 3900))]
        self.write("wide/ceilings.csv", CEILINGS + "\n".join(wide) + "\n")
        for size in ([], ["--width", "85mm", "--font-size", "8"], ["--width", "120mm", "--font-size", "9"]):
            self.assertEqual(drawn.Picture(self.plot("ceilings", "wide", *size, "--format", "svg", "-o", "/dev/stdout").stdout).collisions(), [])

    def test_close_roofs_are_named_in_a_narrow_legend(self):
        """The FMA peak is 9 % above the best GEMM, less than a name is high."""
        self.assertNotIn(">line: ", self.plot("roofline", os.path.join(EXAMPLES, "zen5-2-cores"), "--format", "svg", "-o", "/dev/stdout").stdout)
        for size in ("6", "7", "8", "9"):
            picture = self.plot("roofline", os.path.join(EXAMPLES, "zen5-2-cores"), "--width", "85mm", "--font-size", size, "--format", "svg", "-o",
                                "/dev/stdout").stdout
            self.assertEqual(len(drawn.Picture(picture).levels), 2)
            self.assertLess(picture.index(">line: FMA peak 528 GFLOP/s<"), picture.index(">dashed: best GEMM (onednn) 484 GFLOP/s<"))
            self.assertEqual(drawn.Picture(picture).collisions(), [])

    def test_names_of_close_bandwidths_are_apart(self):
        """Where they have no room along their lines, the legend has them."""
        self.tables("close", PAIR_RESULTS, PAIR_OPS)
        self.write("close/ceilings.csv", CEILINGS.splitlines()[0] + "\ncompute,fma,f32,,1,0,233,230,240,5\n" + "".join(
            f"bandwidth,read,,{level},1,{size},{rate},{rate},{rate},5\n" for level, size, rate in
            (("L1", 32768, 422), ("L2", 1 << 20, 301), ("L3", 1 << 25, 197), ("DRAM", 0, 35.3))))
        names = ["L1 422 GB/s (read)", "L2 301 GB/s (read)", "L3 197 GB/s (read)", "DRAM 35.3 GB/s (read)"]
        listed = {}
        for width in ("85mm", "100mm", "120mm", "170mm", None):
            size = ["--width", width, "--font-size", "8"] if width else []
            picture = self.plot("roofline", "close", *size, "--format", "svg", "-o", "/dev/stdout").stdout
            self.assertEqual(drawn.Picture(picture).collisions(), [], width)
            listed[width] = [name for name in names if f">line: {name}<" in picture]
            for name in names:
                self.assertEqual(picture.count(f">{name}<") + (name in listed[width]), 1, (width, name))
        self.assertTrue(listed["85mm"])
        self.assertFalse(listed[None])

    def test_a_word_is_broken_only_where_it_is_longer_than_a_line(self):
        """A name that is exactly as wide as what it has is one line."""
        rows = "".join(f"w{n},{family},{n % 3 + 1},{2 ** (n % 5)},{2 ** (n % 4)},{'train' if n % 7 < 3 else 'infer'},1,ok,1000,{5 + n % 5 * 3 + n % 11},1\n"
                       for family in ("fc", "cnn", "rnn", "transformer") for n in range(40))
        self.tables("many", GRID_RESULTS.splitlines(keepends=True)[0] + rows)
        for width in range(85, 125, 3):
            picture = self.plot("weights", "many", "--width", f"{width}mm", "--font-size", "8", "--format", "svg", "-o", "/dev/stdout").stdout
            self.assertEqual(len(re.findall("in logarithms<", picture)), 1 + 4, width)

    def test_a_size_that_is_too_small_is_refused(self):
        zen5 = os.path.join(EXAMPLES, "zen5-2-cores")
        for kind, width in (("boxes", "40mm"), ("span", "40mm"), ("heatmap", "40mm")):
            with self.subTest(kind):
                done = self.plot(kind, zen5, "--width", width, "--format", "svg", "-o", "small.svg", expect=2)
                said = re.fullmatch(f"paradnn: this picture of {kind} does not fit in such a size: with these letters it takes --width "
                                    "(\\d+)mm\n", done.stderr)
                self.assertTrue(said, done.stderr)
                self.assertFalse(os.path.exists(self.path("small.svg")))
                self.plot(kind, zen5, "--width", f"{int(said[1]) - 1}mm", "--format", "svg", "-o", "small.svg", expect=2)
                self.assertFalse(os.path.exists(self.path("small.svg")))
                self.plot(kind, zen5, "--width", said[1] + "mm", "--format", "svg", "-o", "small.svg")
                self.assertEqual(drawn.Picture(self.read("small.svg")).collisions(), [])
                os.remove(self.path("small.svg"))
        done = self.plot("roofline", zen5, "--height", "40mm", "--format", "svg", "-o", "small.svg", expect=2)
        self.assertIn("make it higher, or its letters smaller", done.stderr)

    def test_ranges(self):
        """Points outside are counted, roofs keep their slopes, and everything stays within the frame."""
        zen5 = os.path.join(EXAMPLES, "zen5-2-cores")
        values = [(float(row["intensity_flop_per_byte"]), float(row["gflops"])) for row in self.data("roofline", zen5) if row["kind"] == "model"]
        for x, y in (("1:10", None), (":5", None), (None, "100:300"), ("2:20", "50:400"), ("200:", None)):
            with self.subTest(x=x, y=y):
                low, high = zip(*([float(end or bound) for end, bound in zip((text or ":").split(":"), (0, 1e9))] for text in (x, y)))
                inside = [spot for spot in values if all(low[k] <= spot[k] <= high[k] for k in (0, 1))]
                done = self.plot("roofline", zen5, *(["--xrange", x] if x else []), *(["--yrange", y] if y else []), "--format", "svg", "-o", "/dev/stdout")
                self.assertEqual(len(set(drawn.Picture(done.stdout).rows and [row for row, _ in drawn.Picture(done.stdout).rows])), len(inside))
                self.assertTrue(done.stderr.startswith(f"{len(inside)} points"), done.stderr)
                self.assertIn(f", {len(values) - len(inside)} outside of the ranges\n", done.stderr)
                slopes = set()
                for line in re.findall(r'stroke-width="2"[^>]* d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"', done.stdout):
                    left, bottom, right, top = (float(number) for number in line)
                    self.assertTrue(91 < left < right < 877 and 89 < top < bottom < 725, line)
                    if right - left > 100:
                        slopes.add(round((bottom - top) / (right - left), 1))
                self.assertLess(len(slopes), 2)
        self.assertNotIn("outside", self.plot("roofline", zen5, "-o", "x.svg").stderr)
        for text in ("5", "5:2", "0:2", "a:b"):
            self.assertIn(f"--xrange {text}: a range is LOW:HIGH", self.plot("roofline", zen5, "--xrange", text, expect=2).stderr)

    def test_ranges_of_other_pictures(self):
        """Of boxes, spans, weights and epochs too: what is outside is counted, and nothing leaves the frame."""
        zen5 = os.path.join(EXAMPLES, "zen5-2-cores")
        weights = [float(row["weight"]) for row in self.data("weights", zen5) if row["weight"]]
        for kind, name, option, values in (
                ("boxes", "box", "--yrange", [*range(101), 30, 10]), ("span", "box", "--yrange", [*range(1, 102), 25557032, 1000, 2000]),
                ("boxes", "pairs", "--yrange", [2, 1, 0.5]), ("weights", zen5, "--xrange", weights), ("seqpoint", "epoch", "--xrange", [22, 30, 65]),
                ("seqpoint", "epoch", "--yrange", [0.05, 0.07, 0.25])):
            across = ["--across", "backend"] if name == "pairs" else []
            plain = self.plot(kind, name, *across, "--format", "svg", "-o", "/dev/stdout")
            self.assertNotIn("outside", plain.stderr)
            for text in ("0.06:0.9", "0.2:", ":0.2", "20:70", "60:", "-1:-0.1", "1e7:"):
                low, high = (float(end or bound) for end, bound in zip(text.split(":"), (-math.inf, math.inf)))
                with self.subTest(kind, name=name, range=text):
                    done = self.plot(kind, name, *across, option, text, "--format", "svg", "-o", "/dev/stdout")
                    inside = [value for value in values if low <= value <= high]
                    self.assertTrue(done.stderr.startswith(f"{len(inside)} "), done.stderr)
                    self.assertEqual(f", {len(values) - len(inside)} outside of the ranges\n" in done.stderr, len(inside) < len(values), done.stderr)
                    picture = drawn.Picture(done.stdout)
                    self.assertEqual(picture.collisions(), [])
                    left, right, bottom, top = self.frame(done.stdout)
                    at, low_edge, high_edge = (0, left, right) if option == "--xrange" else (1, top, bottom)
                    ends = [end for bar in picture.bars for end in (bar[at], bar[at + 2])] + [(point.x, point.y)[at] for _, point in picture.rows]
                    self.assertTrue(all(low_edge - 0.2 <= end <= high_edge + 0.2 for end in ends) or option == "--yrange" and kind == "seqpoint")
        box = self.data("boxes", "box", "--only", "family=fc")  # a range changes the picture, not its data
        self.assertEqual(self.data("boxes", "box", "--only", "family=fc", "--yrange", "20:30"), box)

    @staticmethod
    def frame(picture):
        """The ends of a picture's longest axes: left, right, bottom, top."""
        levels = [[float(n) for n in line] for line in re.findall(r'stroke="#444444" stroke-width="1" d="M([\d.]+) ([\d.]+)H([\d.]+)"', picture)]
        uprights = [[float(n) for n in line] for line in re.findall(r'stroke="#444444" stroke-width="1" d="M([\d.]+) ([\d.]+)V([\d.]+)"', picture)]
        left, bottom, right = max(levels, key=lambda line: line[2] - line[0])
        return left, right, bottom, max(uprights, key=lambda line: line[1] - line[2])[2] if uprights else 0

    def test_a_range_that_an_axis_cannot_take(self):
        for kind, option, why in (("boxes", "--xrange", "horizontal axis has names"), ("span", "--xrange", "horizontal axis has names"),
                                  ("weights", "--yrange", "vertical axis has names"), ("breakdown", "--yrange", "vertical axis is a whole step"),
                                  ("heatmap", "--xrange", "horizontal axis has the values of a key, which --only chooses"),
                                  ("ceilings", "--yrange", "vertical axis is one of bandwidths and one of names")):
            self.assertEqual(self.plot(kind, "pair", option, "1:2", expect=2).stderr, f"paradnn: plot {kind} has no {option}: its {why}\n")
        for text in ("5", "5:2", "a:b"):
            self.assertIn(f"--yrange {text}: a range is LOW:HIGH, as in", self.plot("boxes", "box", "--yrange", text, expect=2).stderr)

    def test_titles_and_captions_may_be_left_out(self):
        """Of every kind, which is then lower; the rest stays."""
        cases = dict(self.picture_cases())
        for name in ("roofline-zen5", "breakdown", "heatmap-zen5", "boxes-zen5", "weights-zen5", "ceilings-zen5", "seqpoint"):
            with self.subTest(name):
                plain = self.plot(*cases[name], "--format", "svg", "-o", "/dev/stdout").stdout
                bare = self.plot(*cases[name], "--title", "none", "--caption", "none", "--format", "svg", "-o", "/dev/stdout").stdout
                self.assertIn('font-size="20"', plain)
                self.assertNotIn('font-size="20"', bare)
                self.assertEqual(drawn.Picture(bare).collisions(), [])
                texts, left = ([text.name for text in drawn.Picture(picture).texts] for picture in (plain, bare))
                self.assertLess(len(left), len(texts) - 1)
                self.assertLess(drawn.Picture(bare).height, drawn.Picture(plain).height)
        self.assertIn("--title cannot be 'x', expected one of: none", self.plot("roofline", "pair", "--title", "x", expect=2).stderr)

    def test_goes_to_a_file(self):
        done = self.plot("roofline", "pair", "--format", "csv", "-o", "points.svg")
        self.assertEqual(done.stdout, "points.csv\n")
        self.assertEqual(self.read("points.csv"), self.plot("roofline", "pair", "--format", "csv").stdout)

    def test_an_extension_that_is_no_format_is_refused(self):
        """Unless --format names one; a dot in a directory is no extension."""
        for name in ("x.jpg", "x.svgz"):
            done = self.plot("roofline", "pair", "-o", name, expect=2)
            self.assertIn(f"{name}: a picture is .svg, .png, .pdf or .tex, and its data .csv", done.stderr)
            self.assertFalse(os.path.exists(self.path(name + ".svg")))
        os.mkdir(self.path("v1.2"))
        for name, *more in (("v1.2/x",), ("x.jpg", "--format", "svg")):
            self.assertIn(name + ".svg\n", self.plot("roofline", "pair", "-o", name, *more).stdout)

    def test_refused_option_says_what_is_taken(self):
        for arguments, taken in ((["ceilings", "pair", "--only", "batch=1"], "it takes --output, --format, --width, --height, --font-size, --title and --caption"),
                                 (["breakdown", "pair", "--color", "batch"], "it takes --by, --across, --only, --output, --format, --width, --height, --font-size, --title and --caption")):
            self.assertIn(taken, self.plot(*arguments, expect=2).stderr)

    def test_numbers_are_checked(self):
        for option, text, expected in (("--font-size", "2", "a number from 4 to 40"), ("--font-size", "8pt", "a number from 4 to 40"),
                                       ("--threads", "0", "a whole number from 1 to 1048576")):
            self.assertIn(f"plot: {option} is '{text}', expected {expected}\n", self.plot("projection", "pair", option, text, expect=2).stderr)

    def test_bars_of_presets_have_their_names(self):
        """And what varies; what a preset says is not said again, and models of no preset are told by their keys."""
        ids = [f"{model},batch={batch},mode={mode},threads=1" for model in ("cnn:resnet50", "cnn:vgg16", "rnn/cell=lstm,layers=1")
               for batch in (1, 4) for mode in ("infer", "train")]
        head = OPS_OPS.splitlines()[0]
        for name, chosen in (("presets", ids), ("resnets", ids[:4])):
            self.tables(name, "id,family,status,time_ns_median\n" + "".join(f'"{i}",{i.split(":")[0].split("/")[0]},ok,1000\n' for i in chosen),
                        head + "\n" + "".join(f'"{i}",1,a,dense,linear gemm,forward,x,1,1,1,1,900,1,1,,\n' for i in chosen))
        picture = self.picture("breakdown", "presets")
        for text in ("resnet50,batch=1,mode=infer", "vgg16,batch=4,mode=train", "rnn/batch=4,mode=infer"):
            self.assertIn(f">{text}<", picture)
        self.assertNotIn("block=", picture)
        picture = self.picture("breakdown", "resnets")
        self.assertIn(">batch=1,mode=infer<", picture)
        self.assertNotIn("resnet50,", picture)

    def test_breakdown_adds_up(self):
        shares = {}
        for row in self.data("breakdown", "pair"):
            shares.setdefault(row["id"], {})[row["part"]] = float(row["share_pct"])
        self.assertEqual(shares["two"]["residual"], 25)
        for parts in shares.values():
            self.assertAlmostEqual(sum(parts.values()), 100)

    def test_weights_are_those_of_fit(self):
        rows = "".join(f"w{n},fc,{n % 3 + 1},{2 ** (n % 5)},{2 ** (n % 4)},{'train' if n % 7 < 3 else 'infer'},1,ok,1000,"
                       f"{5 + n % 5 * 3 + n % 11},1\n" for n in range(40))
        self.tables("many", GRID_RESULTS.splitlines(keepends=True)[0] + rows)
        fitted = self.paradnn("fit", "many", "--format", "csv", expect=0)
        self.assertEqual(self.plot("weights", "many", "--format", "csv").stdout, fitted.stdout)
        self.assertIn("could be fitted on varies", self.plot("weights", "grid", "--only", "family=rnn", expect=2).stderr)
        picture = self.picture("weights", "many")
        for text in ("nodes", "batch", "mode=infer against train", "fc: 40 instances, R2", "in logarithms"):
            self.assertIn(text, picture)

    def test_heatmap_means(self):
        cells = {(row["family"], row["batch"], row["nodes"]): (row["pct_of_peak"], row["models"], row["failed"])
                 for row in self.data("heatmap", "grid")}
        self.assertEqual(cells, {("fc", "1", "8"): ("4", "2", "0"),  # sqrt(2 * 8)
                                 ("fc", "1", "64"): ("16", "1", "1"), ("fc", "16", "64"): ("", "0", "1"),
                                 ("fc", "16", "512"): ("50", "1", "0"), ("rnn", "1", "8"): ("3", "1", "0")})
        # A value that is not positive: arithmetic.
        cells = {row["nodes"]: row["gain"] for row in self.data("heatmap", "grid", "--only", "family=fc", "--value", "gain")}
        self.assertEqual(cells["8"], "1")

    def test_heatmap_axes_are_shared(self):
        """Of two families, the axes that both have, though one of them has more values of its own."""
        self.tables("mixed", "id,family,layers,nodes,hidden,batch,threads,status,time_ns_median,pct_of_peak\n" + "".join(
            f"f{n},fc,{n % 2},{n},,{n % 3},1,ok,1000,5\nr{n},rnn,{n % 2},,{n},{n % 3},1,ok,1000,5\n" for n in range(1, 9)))
        self.assertEqual(list(self.data("heatmap", "mixed")[0])[:3], ["family", "batch", "layers"])
        self.assertEqual(list(self.data("heatmap", "mixed", "--only", "family=fc")[0])[:3], ["family", "batch", "nodes"])

    def test_heatmap_crosses_are_failures_of_their_mode(self):
        """Not what never ran, nor what has no time; inference and training have panels of their own."""
        head = "id,family,nodes,batch,mode,threads,status,time_ns_median,pct_of_peak\n"
        rows = [f"{mode}{n}{b},fc,{n},{b},{mode},1,ok,1000,5\n" for mode in ("infer", "train") for n in (1, 2) for b in (1, 2)]
        for status, crosses in (("crash", 1), ("oom", 1), ("timeout", 1), ("interrupted", 0), ("filtered", 0), ("unpredicted", 0), ("ok", 0)):
            with self.subTest(status):
                self.tables("crosses", head + "".join(rows[:-1]) + rows[-1].replace(",ok,1000,5", f",{status},,"))
                cells = self.data("heatmap", "crosses")
                self.assertEqual(sum(int(row["failed"]) for row in cells if row["run_mode"] == "train"), crosses)
                self.assertEqual(sum(int(row["failed"]) for row in cells if row["run_mode"] == "infer"), 0)
                picture = self.picture("heatmap", "crosses")
                self.assertEqual("a cross: all failed" in picture, crosses == 1)
                self.assertEqual([at for at, _ in drawn.Picture(picture).rows], [at for at, row in enumerate(cells) if row["failed"] != "0"])
        self.assertNotIn("run_mode", self.data("heatmap", "crosses", "--only", "mode=train")[0])

    def test_heatmap_bins_many_numbers(self):
        rows = "".join(f"n{n},fc,1,{n},1,infer,1,ok,1000,{n},1\n" for n in range(1, 41))
        self.tables("many", GRID_RESULTS.splitlines(keepends=True)[0] + rows)
        cells = {row["nodes"]: (float(row["pct_of_peak"]), row["models"])
                 for row in self.data("heatmap", "many", "--x", "nodes", "--y", "batch")}
        self.assertEqual(list(cells), ["1", "2", "4", "8", "16", "32"])
        self.assertEqual([models for _, models in cells.values()], ["1", "2", "4", "8", "16", "9"])
        self.assertAlmostEqual(cells["4"][0], (4 * 5 * 6 * 7) ** 0.25, places=4)

    def test_heatmap_bins_fractions_and_huge_numbers(self):
        numbers = [2.0 ** -n for n in range(1, 13)] + [1.5 * 2.0 ** -n for n in range(1, 13)] + [2.0 ** n for n in (53, 57, 62, 1023)] + [
            1.7976931348623157e308, 5e-324, 0, -3, -2.0 ** 70]
        header = GRID_RESULTS.splitlines(keepends=True)[0].replace("nodes", "breadth").replace("batch", "tallness")  # keys of somebody's own
        for key, other in (("breadth", "tallness"), ("tallness", "breadth")):
            row = ",".join({"id": "n{0}", "family": "fc", "status": "ok", "pct_of_peak": "50", key: "{1!r}"}.get(column, "1")
                           for column in header.strip().split(","))
            self.tables("many", header + "".join(row.format(*each) + "\n" for each in enumerate(numbers)))
            rows = self.data("heatmap", "many", "--x", "breadth", "--y", "tallness")
            models = {row[key]: row["models"] for row in rows}
            self.assertEqual({row[other] for row in rows}, {"1"})
            # Names of bins are rounded to 6 digits.
            self.assertEqual(models, {"0": "3", "4.94066e-324": "1", **{f"{2.0 ** -n:.6g}": "2" for n in range(12, 0, -1)},
                                      "9007199254740992": "1", "1.44115e17": "1", "4.61169e18": "1", "8.98847e307": "2"})

    def test_boxes_name_every_model(self):
        self.tables("presets", "id,family,batch,status,time_ns_median,pct_of_peak\n" + "".join(
            f'"cnn:resnet50,batch={n}",cnn,{n},ok,1000,50\n' for n in range(1, 4200)))
        kinds = [row["kind"] for row in self.data("boxes", "presets")]
        self.assertEqual((kinds.count("box"), kinds.count("measured")), (1, 4199))

    def test_boxes_need_five_values(self):
        """Four models are four circles, with their median in the data; five are a box; a span needs no percentiles."""
        head = "id,family,batch,threads,status,time_ns_median,pct_of_peak,params\n"
        rows = [f"a{n},fc,{n},1,ok,1000,{n * 10},{n}\n" for n in range(1, 6)]
        self.tables("four", head + "".join(rows[:4]))
        self.tables("five", head + "".join(rows))
        self.tables("both", head + "".join(rows) + "".join(row.replace("fc", "rnn") for row in rows[:4]))
        circles, few = "mark-0-250-none-444444", "fewer than five models have no percentiles: a circle is one; n: models."
        for name, boxes, said in (("four", ["values"], (False, True)), ("five", ["box"], (True, False)), ("both", ["box", "values"], (True, True))):
            with self.subTest(name):
                self.assertEqual([row["kind"] for row in self.boxes(name)], boxes)
                picture = self.picture("boxes", name)
                data, seen = self.data("boxes", name), drawn.Picture(picture).rows
                self.assertEqual([at for at, _ in seen], [at for at, row in enumerate(data) if row["kind"] in ("value", "beyond")])
                for (_, one), (_, other) in zip(seen, seen[1:]):
                    values = [float(data[at]["middle"]) for at in (dict((id(p), a) for a, p in seen)[id(point)] for point in (one, other))]
                    self.assertEqual(one.y > other.y, values[0] < values[1])
                self.assertEqual(("percentiles 9 to 91" in picture, few in re.sub("</text>\n<text[^>]*>", " ", picture)), said)
                self.assertEqual(picture.count(f'marker-end="url(#{circles}'), {"four": 4, "five": 2, "both": 6}[name])
        row, = self.boxes("four")
        self.assertEqual((row["middle"], row["low"], row["high_whisker"]), ("25", "", ""))
        self.assertEqual([row["high"] for row in self.data("span", "four") if row["kind"] == "box"], ["4"])

    def test_axes_are_words_with_a_unit(self):
        """Of columns, not of keys, which are called as users type them."""
        self.tables("words", "id,family,batch,head_dim,threads,status,time_ns_median,gflops,intensity_flop_per_byte,examples_per_s,peak_rate,probe_gbs,"
                    "state_bytes,bound\n" + "".join(f"a{n},fc,{n},{n},1,ok,1000,5,2,{n},{n},{n},{n},memory\n" for n in range(1, 7)))
        for value, title, axis in (("examples_per_s", "throughput", "throughput (examples/s)"), ("probe_gbs", "probe", "probe (GB/s)"),
                                   ("state_bytes", "state", "state (bytes)"), ("time_ns_median", "time of a step", "time of a step (ns)")):
            for kind in ("boxes", "heatmap"):
                picture = self.picture(kind, "words", "--value", value, *(["--x", "batch", "--y", "head_dim"] if kind == "heatmap" else []))
                for text in (f"{title} in words", axis):
                    self.assertIn(f">{text}<", picture)
                self.assertNotIn("_", "".join(re.findall(">([^<>]*)</text>", picture)).replace("head_dim", ""))
        self.assertIn(">head_dim<", picture)

    def test_ops_count_each_directory(self):
        """What takes 93 % of the time here and 50 % there is not said of both together."""
        self.tables("other", OPS_RESULTS, OPS_OPS.replace(",10,3,", ",1700,3,"))
        picture = self.picture("ops", "ops", "other")
        for text in ("kind: share of time, by directory", "dense: 93 %, 48 %", "bias: 0.55 %, 48 %"):
            self.assertIn(f">{text}<", picture)

    def test_a_projection_names_its_target(self):
        zen5, zen3 = (os.path.join(EXAMPLES, name) for name in ("zen5-2-cores", "zen3-2-cores"))
        for arguments, target in ((["--compute", "2"], "with compute x 2"), (["--onto", zen5], "on zen5-2-cores"),
                                  (["--onto", zen5, "--compute", "2"], "on zen5-2-cores with compute x 2")):
            picture = self.plot("projection", zen3, *arguments, "--format", "svg", "-o", "/dev/stdout").stdout
            self.assertIn(f">Projected speed-up of zen3-2-cores {target}<", picture)
            self.assertIn(f">Projected, not measured: {target.split(' ', 1)[1]}<", picture)

    def test_heatmap_refuses(self):
        for arguments, message in ((["--x", "batch", "--y", "batch"], "both axes are batch"),
                                   (["--by", "nodes"], "nodes is an axis already: name the axes"),
                                   (["--value", "pct_of_peek"], "did you mean 'pct_of_peak'?"),
                                   (["--value", "mode"], "and a number in mode"),
                                   (["--only", "id=a"], "only one hyper-parameter or run setting varies")):
            self.assertIn(message, self.plot("heatmap", "grid", *arguments, expect=2).stderr)

    def test_heatmap_says(self):
        picture = self.picture("heatmap", "grid")
        for text in ("share of the measured peak in grid", "share of the measured peak (%)", "nodes", "batch", "fc, mode=infer", "fc, mode=train", "rnn, mode=infer", "512"):
            self.assertTrue(f">{text}<" in picture, text)
        self.assertTrue("A cell is the geometric mean of its models, 5 in all; a cross: all failed, a small one: some did, 2 in all"
                        in picture)

    def test_costs_alone_can_be_drawn(self):
        """A spec in place of a directory: what `list` says of its instances, without those that would not run, and nothing runs."""
        self.write("two.yaml", "sweep: two\nrun: {mode: [infer, train], threads: all}\nmodels:\n"
                   "  - fc: {layers: [1, 2], nodes: [8, 64, 512], input: 32, output: 8, batch: [1, 16]}\n    where: params <= 2e5\n"
                   "  - rnn: {cell: [rnn, lstm], layers: 1, embedding: 16, length: [5, 10], vocabulary: 32, batch: 4}\n")
        listed = [row for row in table(self.paradnn("list", "two.yaml", "--format", "csv", expect=0).stdout) if not row["status"]]
        known = set(os.listdir(self.directory))
        for value in ("params", "flop_count", "byte_count", "memory_bytes", "intensity_flop_per_byte", "gradient_bytes"):
            with self.subTest(value):
                bars = {row["family"]: (float(row["low"]), float(row["high"])) for row in self.data("span", "two.yaml", "--value", value) if row["kind"] == "box"}
                for family, ends in bars.items():
                    costs = [float(row[value]) for row in listed if row["family"] == family and row[value]]
                    self.assertEqual(ends, tuple(float(f"{end(costs):.6g}" if value.startswith("int") else end(costs)) for end in (min, max)))
        done = self.plot("boxes", "two.yaml", "--format", "csv")
        self.assertIn(f"{len(listed)} models, 4 models without a value left out\n", done.stderr)
        self.assertEqual(sum(int(row["instances"]) for row in table(done.stdout) if row["kind"] in ("box", "values")), len(listed))
        cells = self.data("heatmap", "two.yaml", "--value", "flop_count", "--x", "batch", "--y", "nodes", "--only", "fc/layers=1,mode=infer")
        self.assertEqual({(row["batch"], row["nodes"]): row["flop_count"] for row in cells},
                         {(row["batch"], row["nodes"]): row["flop_count"] for row in listed
                          if row["family"] == "fc" and row["layers"] == "1" and row["run_mode"] == "infer"})
        self.assertIn("nodes", {row["term"] for row in self.data("weights", "two.yaml", "--value", "params")})
        self.assertEqual([row["high"] for row in self.data("span", "resnet50", "bert-base,batch=4") if row["kind"] == "box"], ["25557032", "109482240"])
        self.assertEqual(set(os.listdir(self.directory)), known)
        for kind in ("span", "boxes", "heatmap", "weights"):
            done = self.plot(kind, "two.yaml", *(["--x", "batch", "--y", "mode"] if kind == "heatmap" else []), "--format", "svg")
            self.assertEqual(done.stdout, kind + ".svg\n")
            picture = self.read(kind + ".svg")
            self.assertIn(">costs alone, nothing ran, f32, fuse none<" if kind == "span" else ">costs alone, nothing ran", picture)
            for text in ("thread", "unknown machine", "ended ok", "not in the tables"):
                self.assertNotIn(text, picture)
            self.assertEqual(drawn.Picture(picture).collisions(), [])
        self.assertIn(">hollow: not in the spec<", self.read("span.svg"))
        self.assertEqual(set(os.listdir(self.directory)) - known, {kind + ".svg" for kind in ("span", "boxes", "heatmap", "weights")})
        self.assertNotIn("costs alone", self.picture("span", "box"))

    def test_costs_are_refused_where_they_are_not_enough(self):
        self.write("two.yaml", "models: [fc: {layers: [1, 2], nodes: 8, input: 8, output: 8, batch: 1}]\n")
        enough = "; costs alone are enough for heatmap, boxes, span and weights\n"
        for arguments, message in ((["roofline", "two.yaml"], "plot: two.yaml is a spec, expected a directory such as 'paradnn sweep two.yaml' writes" + enough),
                                   (["breakdown", "resnet50"], "plot: resnet50 is a model, expected a directory such as 'paradnn sweep resnet50 -o DIR' writes" + enough),
                                   (["boxes", "two.yaml", "--value", "gflops"], "costs alone have no column 'gflops'\n"),
                                   (["boxes", "two.yaml", "--across", "layers"], "--across compares step times, and of a spec nothing ran\n"),
                                   (["span", "two.yaml", "box"], "plot span draws result directories, or the costs of specs, not both\n"),
                                   (["span", "gone.yaml"], "gone.yaml: No such file or directory\n"),
                                   (["span", "two.yaml", "--only", "layers=7"], "no instance has all the values asked for\n")):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.plot(*arguments, expect=2).stderr, "paradnn: " + message)

    def test_distribution_is_what_scale_models(self):
        bert = [text.replace("hidden=8,", "hidden=8,heads=2,") for text in bert_tables()]
        self.tables("bert", *bert)
        self.tables("infer", *(text.replace("mode=train", "mode=infer").replace(",train,", ",infer,") for text in bert))
        zen5 = os.path.join(EXAMPLES, "zen5-2-cores")
        for name, arguments, values in ((zen5, ["--nodes", "1,2,8", "--link", "1GB/s,2us"], ("efficiency_pct", "examples_per_s", "exposed_pct")),
                                        ("bert", ["--nodes", "1,4", "--slice", "1,2", "--link", "100MB/s,5us", "--overlap", "--bucket", "1KB"],
                                         ("efficiency_pct", "step_ns", "memory_bytes"))):
            modelled = table(self.paradnn("scale", name, *arguments, "--format", "csv", expect=0).stdout)
            for value in values:
                with self.subTest(name, value=value):
                    option = [] if value == "efficiency_pct" else ["--value", value]
                    done = self.plot("distribution", name, *arguments, *option, "--format", "csv")
                    expected = [[row[key] for key in ("id", "nodes", "slice_ways", "devices", value)] + [row["family"]]
                                for row in modelled if row[value] and float(row[value]) > 0]
                    self.assertEqual([list(row.values()) for row in table(done.stdout)], expected)
                    picture = self.plot("distribution", name, *arguments, *option, "--format", "svg", "-o", "/dev/stdout").stdout
                    shown = drawn.Picture(picture)
                    self.assertEqual(len(shown.rows), len(expected))
                    self.assertEqual(shown.collisions(), [])
                    joined = sum(a[0] == b[0] and a[2] == b[2] for a, b in zip(expected, expected[1:]))
                    self.assertEqual(picture.count('stroke="#555555" stroke-width="1" d='), joined)
                    self.assertEqual(">sliced over some of them<" in picture, name == "bert")
                    self.assertIn(f">Training on several devices, modelled from {os.path.basename(name)}<", picture)
                    self.assertEqual("during the backward pass" in picture, name == "bert")
        for arguments, message in ((["bert", "--nodes", "2"], "--link is missing"), (["bert", "--link", "1GB/s"], "nothing to scale to"),
                                   (["bert", "--nodes", "2", "--link", "1GB/s", "--value", "step"], "paradnn scale models no 'step', did you mean 'step_ns'?"),
                                   (["bert", "--nodes", "1", "--link", "1GB/s", "--value", "exposed_ns"], "bert: no row of paradnn scale has a number above 0"),
                                   (["infer", "--nodes", "2", "--link", "1GB/s"], "no chosen instance")):
            self.assertIn(message, self.plot("distribution", *arguments, expect=2).stderr)

    def test_dots_tell_two_kinds_apart(self):
        """A white dot on points that all train would say nothing."""
        self.assertNotIn('fill="#ffffff" r=', self.picture("roofline", "pair"))
        self.tables("pair", PAIR_RESULTS.replace(",infer,", ",train,"))
        self.assertNotIn('fill="#ffffff" r=', self.picture("roofline", "pair"))
        self.tables("pair", PAIR_RESULTS.replace(",infer,", ",train,", 1))
        self.assertIn('fill="#ffffff" r=', self.picture("roofline", "pair"))

    def test_ops_have_a_share(self):
        ops = [(row["id"], row["name"], row["share_pct"]) for row in self.data("ops", "ops") if row["kind"] == "op"]
        self.assertEqual(ops, [("a", "dense", "80"), ("a", "bias", "1"), ("b", "dense", "90")])

    def test_ops_say_their_share_of_all_time(self):
        picture = self.picture("ops", "ops")
        for text in ("dense: 93 %", "bias: 0.55 %", "FMA peak 100 GFLOP/s", "L1 130 GB/s (read)", "Ops of ops: 2 models",
                     "operational intensity (FLOP per byte of compulsory traffic)"):
            self.assertTrue(f">{text}<" in picture, text)
        self.assertTrue("1 of the models ran with other threads" in picture)

    def test_scaling_fractions(self):
        rows = {row["id"]: row for row in self.data("scaling", "scaling")}
        self.assertEqual({name: float(row["fraction"]) for name, row in rows.items()}, {"a2": 0.2, "a4": 0.2, "b2": 0.5, "d2": -0.2})
        self.assertEqual({name: float(row["speedup"]) for name, row in rows.items()}, {"a2": 1.66667, "a4": 2.5, "b2": 1.33333, "d2": 2.5})
        # A quarter of the work on each of 4 threads at 2.5 times the speed: 50 % * 2.5 / 4.
        self.assertEqual(float(rows["a4"]["pct_of_peak_per_thread"]), 31.25)
        self.assertEqual({name: float(row["efficiency"]) for name, row in rows.items()}, {"a2": 0.833333, "a4": 0.625, "b2": 0.666667, "d2": 1.25})
        self.assertEqual({row["efficiency_low"] for row in rows.values()}, {""})

    def test_scaling_weak_and_strong(self):
        """A speed-up of 1.6 on two: 80 %, and 0.25 of the work is not parallel. The minibatch of ranks is that of one of them."""
        head = "id,family,batch,threads,status,time_ns_median,ci_low_ns,ci_high_ns,pct_of_peak\n"
        for key, batch, ns, scaling in (("threads", 16, 1250, "weak"), ("threads", 8, 625, "strong"), ("ranks", 8, 1250, "weak"), ("ranks", 4, 625, "strong")):
            self.tables("scales", (head + f"a,fc,8,1,ok,1000,900,1100,40\nb,fc,{batch},2,ok,{ns},{ns},{ns},64\n"
                                   "c,rnn,8,2,ok,900,900,900,20\n").replace("threads", key))
            rows = self.data("scaling", "scales", "--across", key)
            self.assertEqual([(row["id"], row["scaling"], float(row["speedup"]), float(row["efficiency"]), float(row["fraction"])) for row in rows],
                             [("b", scaling, 1.6, 0.8, 0.25)])
            self.assertLess(abs(float(rows[0]["efficiency_low"]) - 0.8 * (900 / 1100) ** 0.5), 1e-5)
            self.assertLess(abs(float(rows[0]["efficiency_high"]) - 0.8 * (1100 / 900) ** 0.5), 1e-5)
            self.assertIn(f"More {key} in scales", self.picture("scaling", "scales", "--across", key))

    def test_scaling_of_ranks_by_exchange(self):
        """One rank averages nothing, and is what ranks that average in any way are compared with; else the way must be the same."""
        head = "id,family,batch,ranks,allreduce,bucket,status,time_ns_median,pct_of_peak\n"
        several = "c,fc,8,2,thread,1,ok,1250,20\nd,fc,8,4,thread,1,ok,2500,20\ne,fc,8,2,blocking,1,ok,2000,20\n"
        self.tables("exchange", head + "a,fc,8,1,,,ok,1000,40\n" + several)
        rows = self.data("scaling", "exchange", "--across", "ranks")
        self.assertEqual(sorted((row["id"], float(row["speedup"])) for row in rows), [("c", 1.6), ("d", 1.6), ("e", 1.0)])
        self.tables("exchange", head + several)
        self.assertEqual([(row["id"], float(row["speedup"])) for row in self.data("scaling", "exchange", "--across", "ranks")], [("d", 1.0)])

    def test_seqpoint_says(self):
        picture = self.picture("seqpoint", "epoch")
        for text in ("in epoch", "100 iterations of 3 pairs of lengths", "2 SeqPoints project 7.00 ms",
                     "all iterations take 8.18 ms: -14.43 %", "random sample (2)", "source + target"):
            self.assertIn(text, picture)
        self.write("part/seqpoint.csv", SEQPOINT.replace("70000,1", ",").replace("49,1500,median|sample,,1,40,", "49,,,,,,"))
        picture = self.picture("seqpoint", "part")
        self.assertIn("2 SeqPoints project 7.00 ms", picture)
        self.assertNotIn("all iterations take", picture)
        self.write("dry/seqpoint.csv", "".join(",".join(line.split(",")[:9] + (["", ""] if at else ["time_ns", "measured"])) + "\n"
                                  for at, line in enumerate(SEQPOINT.splitlines())))
        self.assertIn("Iterations by length in dry", self.picture("seqpoint", "dry"))

    def test_seqpoint_captions_have_their_lines(self):
        """Of a narrow picture, below the title of the axis, and nothing where there is none."""
        heights = {}
        for more in ([], ["--caption", "none"]):
            for width in ("85mm", "170mm"):
                picture = drawn.Picture(self.plot("seqpoint", "epoch", "--width", width, "--font-size", "8", *more, "--format", "svg", "-o", "/dev/stdout").stdout)
                self.assertEqual(picture.collisions(), [])
                title, = (text for text in picture.texts if text.name.startswith("padded length"))
                below = [text.y for text in picture.texts if text.name.startswith("A SeqPoint")]
                self.assertEqual(len(below), not more)
                self.assertTrue(all(y - title.y > 18 for y in below))
                heights[width, bool(more)] = picture.height
        self.assertLess(heights["85mm", True], heights["85mm", False])

    def test_seqpoint_refuses(self):
        for old, new, message in (
                ("b,10,20", "b,10,12", "seqpoint.csv:3: lengths must be ascending, each pair once"),
                ("b,10,20", "b,10,0", "seqpoint.csv:3: lengths must be ascending, each pair once"),
                ("c,30,35", "c,30,0", "seqpoint.csv:4: target_length is 0 in some rows only"),
                ("median|", "medium|", "seqpoint.csv:3: 'medium|sample' is not a value for column 'chosen_by'"),
                ("a,10,12,40", "a,10,12,0", "seqpoint.csv:2: lengths, iterations, weights and times must be greater than 0"),
                (",70000,", ",-1,", "seqpoint.csv:3: lengths, iterations, weights and times must be greater than 0"),
                ("time_ns", "time", "seqpoint.csv:1: there is no column 'time_ns'")):
            self.write("bad/seqpoint.csv", SEQPOINT.replace(old, new))
            self.assertIn(message, self.plot("seqpoint", "bad", expect=2).stderr)
        self.write("bad/seqpoint.csv", SEQPOINT.splitlines()[0] + "\n")
        self.assertIn("there are no rows", self.plot("seqpoint", "bad", expect=2).stderr)
        self.assertIn("seqpoint.csv", self.plot("seqpoint", "pair", expect=2).stderr)

    def test_scaling_says(self):
        picture = self.picture("scaling", "scaling")
        for text in ("f = 0: no loss", "f = 0.1 on 4 threads", "share of the peak on 1 thread (%)"):
            self.assertTrue(f">{text}<" in picture, text)
        self.assertTrue("2 threads: 0.2, 90 %: 0.44" in picture)  # of -0.2, 0.2, 0.5
        for few in ("4 threads: ", "batch 8: "):  # of one model or two each
            self.assertEqual(few in picture, False, few)
        self.assertIn("no model ran on several", self.plot("scaling", "grid", expect=2).stderr)

    def test_speedup_takes_a_column_of_either_table(self):
        rows = [line.split('"') for line in PAIRS_RESULTS.splitlines() if "openblas" not in line]
        wider = "\n".join([rows[0][0] + ",isa,found"] + [f'"{row[1]}"{row[2]},{isa},{n + 5}'
                                                         for n, (row, isa) in enumerate(zip(rows[1:], ("avx2", "amx", "avx2", "amx")))]) + "\n"
        self.tables("narrow", PAIRS_RESULTS)
        self.tables("wider", wider)
        only = ["--only", "backend=onednn", "--across", "host"]
        for sides in (("narrow", "wider"), ("wider", "narrow")):
            found = self.data("speedup", *sides, "--x", "found", "--color", "isa", *only)
            self.assertEqual([(row["x"], row["color"]) for row in found], [("5", "avx2"), ("6", "amx"), ("7", "avx2"), ("8", "amx")])
        self.assertIn("no column 'fount'", self.plot("speedup", "narrow", "wider", "--x", "fount", *only, expect=2).stderr)

    def test_speedup_ratios(self):
        rows = {row["x"]: (float(row["speedup"]), row["decision"]) for row in self.data("speedup", "pairs")}
        self.assertEqual(rows, {"100": (2, "faster"), "200": (1, "undecided"), "400": (0.5, "slower")})
        picture = self.picture("speedup", "pairs")
        for text in ("step time of backend=onednn over that of backend=openblas", "parameters", "geometric mean 1.00",
                     "clearly: 1 faster, 1 slower", "33 % of 3 above 1", "equally fast", "the interval contains 1",
                     "Each point is one model that both ran. Above the line the second platform is faster. Intervals: 95 %."):
            self.assertTrue(f">{text}<" in picture, text)

    def ops_pair(self):
        """Two sides: dense is twice as fast on B, bias equal; one op that only A has, one without arithmetic, one below 1 %."""
        ident = "fc/layers=1,nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,threads=1"
        head = OPS_OPS.splitlines()[0]
        rows = (("hidden1", "dense", "linear gemm", "800", "2"), ("hidden1", "bias", "bias", "80", "0.25"),
                ("output", "dense", "linear gemm", "400", "4"), ("output", "relu", "activation", "8", "0.125"),
                ("", "reorder", "reorder", "100", ""))
        for name, factor in (("a", 1), ("b", 0.5)):
            ops = [f'"{ident}",{n},{layer},{op},{category},forward,x,1,1,1,1,{float(time) * (factor if op == "dense" else 1)},1,{intensity},,'
                   for n, (layer, op, category, time, intensity) in enumerate(rows)]
            if name == "a":
                ops.append(f'"{ident}",9,output,softmax,loss,forward,x,1,1,1,1,100,1,1,,')
            self.tables(name, f'id,family,layers,threads,status,time_ns_median\n"{ident}",fc,1,1,ok,1500\n',
                        "\n".join([head, *(reversed(ops) if name == "b" else ops)]) + "\n")

    def test_op_speedup(self):
        self.ops_pair()
        rows = [(row["layer"], row["op"], row["intensity_flop_per_byte"], row["speedup"]) for row in self.data("op_speedup", "a", "b")]
        self.assertEqual(rows, [("hidden1", "dense", "2", "2"), ("hidden1", "bias", "0.25", "1"), ("output", "dense", "4", "2")])
        done = self.plot("op_speedup", "a", "b", "--format", "csv")
        self.assertIn("3 ops, 3 ops of one side, with a small share or without arithmetic left out", done.stderr)
        picture = self.picture("op_speedup", "a", "b", "--by", "category")
        for text in ("linear gemm: 2.00", "bias: 1.00", "equally fast", "kind: geometric mean", "Ops: speed-up of b over a"):
            self.assertTrue(f">{text}<" in picture, text)
        self.assertIn("did you mean 'category'?", self.plot("op_speedup", "a", "b", "--by", "categry", expect=2).stderr)

    def test_sides_are_called_by_the_names_of_their_directories(self):
        self.ops_pair()
        picture = self.picture("op_speedup", self.path("a"), self.path("b") + "/")
        self.assertIn(">Ops: speed-up of b over a<", picture)
        self.assertIn(">time of a over that of b<", picture)

    def test_op_speedup_within_a_directory(self):
        """Both sides come from one ops.csv."""
        self.ops_pair()
        ops = self.read("a", "ops.csv").splitlines()
        both = [ops[0], *ops[1:], *(line.replace("threads=1", "threads=2").replace(",800.0,", ",1600,") for line in ops[1:])]
        ident = "fc/layers=1,nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,threads="
        self.tables("both", "id,family,layers,threads,status,time_ns_median\n" + "".join(
            f'"{ident}{n}",fc,1,{n},ok,1500\n' for n in (1, 2)), "\n".join(both) + "\n")
        rows = {(row["layer"], row["op"]): row["speedup"] for row in self.data("op_speedup", "both", "--across", "threads=1:2")}
        self.assertEqual(rows[("hidden1", "dense")], "0.5")
        self.assertEqual(rows[("output", "dense")], "1")

    def test_common_values_of_a_comparison(self):
        """The subtitle has what both sides share; of what differs it says nothing."""
        picture = self.picture("speedup", "pairs", "--across", "backend")
        self.assertTrue(">unknown machine, fc, 1 thread<" in picture)
        self.assertTrue(">Speed-up of backend=openblas over backend=onednn in pairs<" in picture)

    def texts_over_points(self, picture):
        """The texts of an SVG that lie over one of its points."""
        picture = drawn.Picture(picture)
        self.assertTrue(picture.rows)
        return {text.name for text in picture.texts for _, point in picture.rows if text.overlaps(point, 2.0)}

    def test_texts_lie_on_no_point(self):
        """Points crowd on and around every roof; those under a panel's texts must be none, whatever their number."""
        head = "id,family,layers,mode,dtype,threads,status,time_ns_median,intensity_flop_per_byte,gflops,bound,started_utc\n"
        for count in (20, 2000):
            rng = random.Random(count)
            rows = []
            for n in range(count):
                intensity = 10 ** rng.uniform(-1.5, 2)
                rate = min(100, rng.choice((18, 130)) * intensity) * rng.uniform(0.5, 1)
                rows.append(f"m{n},fc,{n},infer,f32,1,ok,1000,{intensity:.4g},{rate:.4g},compute,2026-05-01T12:00:00.000Z")
            self.tables("crowd", head + "\n".join(rows) + "\n")
            self.assertEqual(self.texts_over_points(self.picture("roofline", "crowd")), set())

    def test_large_synthetic_tables(self):
        """Every kind draws 500 rows made of real ones, and keeps its texts off the points."""
        place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "results")
        subprocess.run([sys.executable, os.path.join(place, "many_points.py"), os.path.join(place, "real-fc"), self.path("many"), "500"],
                       check=True)
        for kind in ("roofline", "ops", "heatmap", "boxes", "span", "scaling", "weights"):
            picture = self.picture(kind, "many")
            if kind in ("roofline", "ops", "scaling"):
                self.assertEqual(self.texts_over_points(picture), set(), kind)
        for kind in ("speedup", "op_speedup", "boxes", "weights"):
            picture = self.picture(kind, "many", "--across", "threads=1:2")
            if kind != "weights" and kind != "boxes":
                self.assertEqual(self.texts_over_points(picture), set(), kind)

    def test_long_titles_wrap(self):
        """To lines as wide as the picture, which is that much higher; a comparison leaves its directories out first."""
        long, other = "r" * 70, "s" * 50
        self.tables(long, PAIRS_RESULTS)
        self.tables(other, PAIRS_RESULTS)
        picture = self.picture("speedup", long, "--across", "backend")
        self.assertTrue(">Speed-up of backend=openblas over backend=onednn<" in picture)
        def lines(*arguments):
            """The title's, and how high the picture is."""
            picture = self.picture("span", *arguments)
            return re.findall('font-size="20">([^<]*)<', picture), drawn.Picture(picture).height
        (short, usual), (title, height) = lines("pairs"), lines(long, other)
        self.assertEqual((short, title), (["parameters of pairs"], [f"parameters of {long} and", other]))
        self.assertEqual(height - usual, 28)
        widest = "w" * 250
        os.rename(self.path(long), self.path(widest))
        title, _ = lines(widest)
        self.assertTrue(len(title) > 2 and "".join(title) == "parameters of" + widest, title)

    def test_nothing_is_cut(self):
        """Long names of roofs, models, ops, keys and directories are there to their last letter, in lines, whatever the width."""
        here, there = "measured-on-the-first-of-two-machines-in-may", "measured-on-the-other-of-two-machines-in-june"
        kernel, key = "gemm-of-a-long-library", "a_key_with_a_name_that_has_no_room_on_one_line"
        hosts = [f"compute-node-{n:02d}.rack-17.cluster.very-long-domain.example.org" for n in range(6)]
        head = f"id,family,layers,batch,mode,dtype,threads,{key},status,time_ns_median,params,intensity_flop_per_byte,gflops,pct_of_peak,host,started_utc\n"
        for name, speed in ((here, 1), (there, 2)):
            self.tables(name, head + "".join(
                f'"fc/layers={n % 3 + 1},nodes=8,input=8,output=8,batch={n + 1},activation=relu,mode=infer,threads=1",fc,{n % 3 + 1},{n + 1},infer,f32,1,{n % 4},'
                f"ok,{1000 * (n + 1) / speed},{100 * n + 1},{n + 1},{(4 + n % 5) * speed},{n % 7 + 3},{hosts[n % 6]},2026-05-01T12:00:00.000Z\n" for n in range(18)))
            roofs = CEILINGS.replace("gemm-onednn", kernel) + f"compute,{kernel},bf16,,1,0,180,150.5,190.5,5\n"
            self.write(os.path.join(name, "ceilings.csv"), roofs.replace("repetitions", "repetitions,measurements").replace(",5\n", ",5,3\n"))
        ratio = f"step time of {here} over that of {there}"
        for *arguments, texts in (["roofline", here, "--color", "host", [*hosts, f"best GEMM ({kernel[5:]}) 90 GFLOP/s (80 to 95)"]],
                                  ["ceilings", here, [f"f32  {kernel}", f"bf16  {kernel}"]], ["weights", here, [key]],
                                  ["speedup", here, there, "--color", "layers", [ratio]], ["boxes", here, there, [ratio]],
                                  ["boxes", here, there, "--value", "params", [here, there]], ["span", here, [f"parameters of {here}"]],
                                  ["heatmap", here, "--y", key, "--x", "layers", [key]]):
            for size in ([], ["--width", "170mm", "--font-size", "8"], ["--width", "85mm", "--font-size", "8"], ["--width", "85mm", "--font-size", "6"]):
                with self.subTest(arguments[0], size=size):
                    done = self.plot(*arguments, *size, "--format", "svg", "-o", "/dev/stdout", expect=None)
                    if done.returncode:
                        self.assertTrue(size)
                        self.assertIn("does not fit in such a size", done.stderr)
                        continue
                    picture = drawn.Picture(done.stdout)
                    self.assertEqual(picture.collisions(), [])
                    whole = "".join(text.name for text in picture.texts).replace(" ", "")
                    for text in texts:
                        self.assertIn(text.replace(" ", ""), whole)
                    self.assertNotIn("..<", done.stdout)

    def test_a_panel_for_each_directory(self):
        """The rows of each are those of it alone; of one nothing names it but the title."""
        examples = [shutil.copytree(os.path.join(EXAMPLES, f"{name}-2-cores"), self.path(name)) for name in ("zen3", "zen5")]
        shutil.copytree(self.path("link"), self.path("again"))
        self.tables("slower", SCALING_RESULTS.replace(",600,", ",800,"))
        for name, pct in (("waits", 20), ("more", 60)):
            self.tables(name, "id,family,layers,batch,threads,status,time_ns_median,pct_of_peak,infeed_pct\n"
                        f"a,fc,1,1,1,ok,1000,50,{pct}\nb,fc,2,1,1,ok,1000,40,{pct / 2}\n")
        for kind, *options, directories, said in (
                ("projection", "--compute", "2", examples, "Projected speed-up of {} with compute x 2"),
                ("allreduce", [self.path("link"), self.path("again")], "All-reduce in {}"),
                ("distribution", "--nodes", "1,2,8", "--link", "1GB/s,2us", examples, "Training on several devices, modelled from {}"),
                ("scaling", [self.path("scaling"), self.path("slower")], "More threads in {}"),
                ("infeed", [self.path("waits"), self.path("more")], "Waiting for data in {}")):
            rows = self.data(kind, *directories, *options)
            for directory in directories:
                name = os.path.basename(directory)
                alone = self.data(kind, directory, *options)
                self.assertNotIn("results", alone[0])
                self.assertEqual([{key: cell for key, cell in row.items() if key != "results"} for row in rows if row["results"] == name], alone)
                self.assertEqual(self.picture(kind, *directories, *options).count(f">{said.format(name)}<"), 1)
        picture = self.picture("projection", *examples, "--compute", "2")
        self.assertEqual(len(re.findall(r"; ridge point in f32, FLOP/byte: [\d.]+ as measured; [\d.]+ as projected; geometric mean 1[.]\d\d; in", picture)), 2)
        self.assertIn(">ridge point in f32, FLOP/byte:<", self.picture("projection", examples[0], "--compute", "2"))
        # 0.2, 0.5 and -0.2 on two threads, and 0.6 in place of 0.2.
        picture = self.picture("scaling", "scaling", "slower")
        self.assertEqual(re.findall("; fraction f: median, percentile: 2 threads: ([^;]*), 90 %: ([^;]*); parallel efficiency, median: all: ([^;<]*)<", picture),
                         [("0.2", "0.44", "75 %, f 0.20"), ("0.5", "0.58", "65 %, f 0.35")])
        self.assertEqual(picture.count(">f = 0.1 on 4 threads<"), 2)
        self.assertIn(">2 threads: 0.2, 90 %: 0.44<", self.picture("scaling", "scaling"))
        self.tables("infers", *(text.replace("mode=train", "mode=infer").replace(",train,", ",infer,") for text in bert_tables()))
        self.assertIn("paradnn: infers: no chosen instance", self.plot("distribution", self.path("zen3"), "infers", "--nodes", "2", "--link", "1GB/s",
                                                                        expect=2).stderr)
        self.assertEqual(self.plot("seqpoint", "epoch", "epoch", expect=2).stderr,
                         "paradnn: plot seqpoint draws one result directory, not 2: each has a picture of its own\n")
        names = [f"f{n}" for n in range(8)]
        for name in names:
            shutil.copytree(self.path("link"), self.path(name))
        self.assertIn("9 result directories are more than 8 panels", self.plot("allreduce", "link", *names, expect=2).stderr)

    def test_a_panel_for_each_beside_the_first(self):
        """The points of each are those of the two alone; of two nothing else is said."""
        self.ops_pair()
        for name, of in (("c", "a"), ("d", "b")):
            self.tables(name, self.read(of, "results.csv").replace("ok,1500", "ok,3000"), self.read(of, "ops.csv"))
        rows = self.data("speedup", "a", "b", "c", "d", "--x", "layers")
        self.assertEqual([(row["results"], row["speedup"]) for row in rows], [("b", "1"), ("c", "0.5"), ("d", "0.5")])
        self.assertNotIn("results", self.data("speedup", "a", "b", "--x", "layers")[0])
        rows = self.data("op_speedup", "a", "b", "c")
        for side in ("b", "c"):
            self.assertEqual([(row["layer"], row["op"], row["speedup"]) for row in rows if row["results"] == side],
                             [(row["layer"], row["op"], row["speedup"]) for row in self.data("op_speedup", "a", side)])
        for kind, titles, *options in (("speedup", "Speed-up", "--x", "layers"), ("op_speedup", "Ops: speed-up")):
            picture = self.picture(kind, "a", "b", "c", *options)
            for side in ("b", "c"):
                self.assertEqual(picture.count(f">{titles} of {side} over a<"), 1)
            self.assertEqual(picture.count(">equally fast<"), 2)
            self.assertIn("time of a over that of the other<", picture)
            self.assertNotIn("the other<", self.picture(kind, "a", "b", *options))
        self.assertIn("; geometric mean 0.500; 0 % of 1 above 1<", self.picture("speedup", "a", "b", "c", "--x", "layers"))
        names = [f"e{n}" for n in range(9)]
        for name in names:
            self.tables(name, self.read("a", "results.csv"))
        self.assertIn("9 result directories besides the first are more than 8 panels", self.plot("speedup", "a", *names, "--x", "layers", expect=2).stderr)

    def test_roofs_are_of_what_models_do(self):
        """Inference only reads: it has the lines of reads, and training those of the fastest pattern; where that is the same, one line."""
        lines = {"infer": [("L1 reads", "140"), ("DRAM", "18")], "train": [("L1", "210"), ("DRAM", "18")],
                 "both": [("L1 reads", "140"), ("L1", "210"), ("DRAM", "18")]}
        for name, expected in lines.items():
            text = PAIR_RESULTS if name == "infer" else PAIR_RESULTS.replace(",infer,", ",train,", 1 if name == "both" else -1)
            self.tables(name, text, PAIR_OPS)
            self.write(os.path.join(name, "ceilings.csv"), CEILINGS + "bandwidth,update,,L1,1,32768,210,20,210,5\n")
            self.assertEqual([(row["name"], row["bw_gbs"]) for row in self.data("roofline", name) if row["kind"] == "bandwidth"], expected)
            picture = self.picture("roofline", name)
            self.assertEqual("Slanted lines are of reads, for inference" in picture, name != "train")
            self.assertEqual(", and dashed of the fastest pattern" in picture, name == "both")
            self.assertNotIn("#d6dbe2", picture)
            self.assertNotIn("Bands are", picture)

    def test_roofs_have_bands(self):
        """A band behind each roof that is known from several measurements, or in both states; one that is known from one has none."""
        header, peak, gemm, *levels = CEILINGS.splitlines()
        self.tables("band", PAIR_RESULTS, PAIR_OPS)
        self.write("band/ceilings.csv", "\n".join([header + ",measurements,state", peak + ",2,near", gemm + ",1,near", *(row + ",1,near" for row in levels),
                                                  *(row.replace(",18,", ",24,") + ",1,far" for row in (peak, gemm, *levels)),
                                                  "probe,handoff,,,1,0,100,99,101,5,1,near", "probe,handoff,,,1,0,400,99,101,5,1,far", ""]))
        picture = self.picture("roofline", "band")
        self.assertEqual(picture.count("#d6dbe2"), 2)
        for text in ("FMA peak 100 GFLOP/s (90 to 110)", "best GEMM (onednn) 90 GFLOP/s", "L1 130 GB/s (read)", "DRAM 18 GB/s (read) (18 to 24)"):
            self.assertIn(f">{text}<", picture)
        self.assertIn("Bands are", picture)

    def test_roofs_of_their_own(self):
        """A panel for each directory and number of threads that ceilings.csv has roofs for."""
        self.tables("two", PAIR_RESULTS.replace("infer,f32,1,ok,2000", "infer,f32,2,ok,2000"), PAIR_OPS)
        self.tables("ops2", OPS_RESULTS, OPS_OPS)
        for name in ("two", "ops2"):
            more = (line.replace(",1,", ",2,", 1).replace(",100,", ",190,") + "\n" for line in CEILINGS.splitlines()[1:])
            self.write(os.path.join(name, "ceilings.csv"), CEILINGS + "".join(more))
        rows = self.data("roofline", "pair", "two")
        points = [(row["name"], row["results"], row["threads"]) for row in rows if row["kind"] == "model"]
        self.assertEqual(points, [("one", "pair", "1"), ("two", "pair", "1"), ("one", "two", "1"), ("two", "two", "2")])
        peaks = [(row["results"], row["threads"], row["gflops"]) for row in rows if row["name"].startswith("FMA")]
        self.assertEqual(peaks, [("pair", "1", "100"), ("two", "1", "100"), ("two", "2", "190")])
        picture = self.picture("roofline", "pair", "two")
        for text in ("Roofline of pair: 2 models", "Roofline of two: 1 model", "FMA peak 100 GFLOP/s", "FMA peak 190 GFLOP/s"):
            self.assertTrue(f">{text}<" in picture, text)
        self.assertTrue('height="2400"' in picture)
        rows = [row for row in self.data("ops", "ops2") if row["kind"] == "op"]
        self.assertEqual({(row["id"], row["threads"]) for row in rows}, {("a", "1"), ("b", "2")})

    def test_ceilings_of_two_directories(self):
        self.tables("fast", PAIR_RESULTS, PAIR_OPS)
        self.write("fast/ceilings.csv", CEILINGS.replace(",100,", ",300,").replace(",1,", ",4,", 1))
        rows = [(row["results"], row["threads"], row["value"]) for row in self.data("ceilings", "pair", "fast") if row["pattern"] == "fma"]
        self.assertEqual(rows, [("pair", "1", "100"), ("fast", "4", "300")])
        picture = self.picture("ceilings", "pair", "fast")
        for text in ("Roofs of pair and fast", "pair, 1 thread: calling an operator takes 50.0 ns", "fast, 4 threads"):
            self.assertTrue(f">{text}<" in picture, text)

    def test_ceilings_of_both_states_stand_apart(self):
        """Each state of the threads' distance has its own panels; without states nothing is said of them."""
        header, *rows = CEILINGS.splitlines()
        self.write("both/ceilings.csv", "\n".join([header + ",state", *(row + state for state in (",near", ",far") for row in rows), ""]))
        for text in ("1 thread near each other", "1 thread far apart"):
            self.assertEqual(self.picture("ceilings", "both").count(">" + text), 1)
            self.assertNotIn(text, self.picture("ceilings", "pair"))

    def test_ceilings_draws_all_that_it_counts(self):
        header = CEILINGS.splitlines()[0]
        rows = [f"compute,fma,f32,,{t},0,{t},{t},{t},5" for t in range(2, 72)] + [f"compute,gemm-{k},bf16,,2,0,9,8,10,5" for k in range(50)]
        self.write("many/ceilings.csv", "\n".join([header, *rows, ""]))
        run = self.plot("ceilings", "many", "--format", "svg")
        self.assertIn("120 roofs\n", run.stderr)
        words = re.findall(r">([^<>]+)</text>", self.read(run.stdout.strip()))
        self.assertEqual([w for w in words if re.fullmatch(r"\d+ threads", w)], [f"{t} threads" for t in range(2, 72)])
        self.assertEqual([w for w in words if w.startswith("bf16")], [f"bf16  gemm-{k}" for k in range(50)])

    def test_subtitles_count_rows_above_their_roof(self):
        lines = PAIR_RESULTS.splitlines()
        self.tables("flagged", "\n".join(line + flags for line, flags in zip(lines, (",row_flags", ",noisy|above_roof", ",noisy", ","))) + "\n", PAIR_OPS)
        for kind in ("roofline", "breakdown"):
            self.assertIn(", 1 of 2 above their roof", self.picture(kind, "flagged"))
            self.assertNotIn("above their roof", self.picture(kind, "pair"))

    def test_panels_count_their_own_rows(self):
        """Of two directories, each has its own rows above their roof and its own without a rate."""
        lines = PAIR_RESULTS.splitlines()
        self.tables("clean", "\n".join(lines[:3]) + "\n", PAIR_OPS)
        self.tables("flagged", "\n".join(line + flags for line, flags in zip(lines, (",row_flags", ",above_roof", ",unusable", ","))) + "\n", PAIR_OPS)
        words = re.findall(">(unknown machine[^<]*)<", self.picture("roofline", "clean", "flagged"))
        self.assertEqual(words, ["unknown machine, 1 thread, f32, 2026-05-01",
                                 "unknown machine, 1 thread, f32, 2026-05-01, 1 of 2 above their roof, 1 of 2 unusable; 1 row without a rate left out"])

    def test_doubtful_rows_are_crossed(self):
        """Each by itself, in every picture that has rows as points, and explained only where there is one."""
        flagged = [line + flags for line, flags in zip(PAIR_RESULTS.splitlines(), (",row_flags", ",above_roof", ",noisy", ","))]
        self.tables("flagged", "\n".join(flagged) + "\n")
        self.tables("flagged_ops", OPS_RESULTS, OPS_OPS.replace(",40,2,compute,", ",40,2,compute,150"))
        pairs = [line + ("row_flags" if line.startswith("id") else "unusable" if "layers=2" in line and "openblas" in line else "")
                 for line in PAIRS_RESULTS.replace("\n", ",\n").splitlines()]
        self.tables("flagged_pairs", "\n".join(pairs) + "\n")
        rows = SCALING_RESULTS.replace("\n", ",\n").replace("peak,", "peak,row_flags").replace("400,25,", "400,25,noisy|unusable")
        self.tables("flagged_scaling", rows)
        presets = BOX_RESULTS.replace("\n", ",\n").replace("peak,", "peak,row_flags").replace("25557032,30,", "25557032,30,above_roof")
        self.tables("flagged_box", presets)
        for kind, name, plain in (("roofline", "flagged", "pair"), ("speedup", "flagged_pairs", "pairs"), ("scaling", "flagged_scaling", "scaling"),
                                  ("boxes", "flagged_box", "box"), ("span", "flagged_box", "box"), ("ops", "flagged_ops", "ops")):
            with self.subTest(kind):
                picture = self.picture(kind, name)
                self.assertIn(">above its roof, or unusable<", picture)
                self.assertEqual(len(re.findall(r'data-rows="\d+" marker-end="url\(#mark-6-600-222222-ffffff-5\)', picture)), 1)
                self.assertNotIn("mark-6", self.picture(kind, plain))

    def test_subtitles_of_ratios_count_pairs(self):
        rows = [line + (",method,row_flags" if line.startswith("id") else ",composed," if "layers=1," in line and "openblas" in line
                        else ",direct,above_roof" if "layers=2," in line and "openblas" not in line else ",direct,")
                for line in PAIRS_RESULTS.splitlines()]
        self.tables("noted", "\n".join(rows) + "\n")
        for kind in ("speedup", "boxes", "weights"):
            self.assertIn(", 1 of 3 composed, 1 of 3 above their roof<", self.picture(kind, "noted", "--across", "backend"), kind)

    def test_speedup_says_what_intervals_say(self):
        """That all contain 1, or that some pairs have none; such a point has no white dot."""
        rows = PAIRS_RESULTS.splitlines()
        within = "\n".join(re.sub(r",\d+,\d+,\d+$", ",1000,900,1100", line) for line in rows) + "\n"
        self.tables("within", within)
        picture = self.picture("speedup", "within")
        self.assertIn(">every interval contains 1<", picture)
        self.assertNotIn("excludes 1", picture)
        self.assertIn(">family<", picture)
        self.assertIn('-dot"', picture)
        self.tables("without", re.sub(r",900,1100\n", ",,\n", within))
        picture = self.picture("speedup", "without")
        self.assertIn(">no ratio has an interval<", picture)
        self.assertNotIn("clearly:", picture)
        self.assertNotIn("contains 1", picture)
        self.tables("some", "\n".join(re.sub(r",\d+,\d+$", ",,", line) if "layers=2" in line else line for line in rows) + "\n")
        picture = self.picture("speedup", "some")
        self.assertNotIn("contains 1", picture)

    def test_an_empty_color_is_not_known(self):
        """It has neither a place on the scale nor the color of a word, and the legend says so."""
        rows = [line + end for line, end in zip(PAIR_RESULTS.splitlines(), (",speed_index,host", ",0.5,", ",,here", ",,"))]
        self.tables("blank", "\n".join(rows) + "\n", PAIR_OPS)
        for color in ("speed_index", "host"):
            picture = self.picture("roofline", "blank", "--color", color)
            self.assertIn(">not known<", picture)
            self.assertEqual(len(set(re.findall(r'data-rows="\d" marker-end="(url[^"]*)"', picture))), 2, color)
        self.assertNotIn("not known", self.picture("roofline", "pair", "--color", "batch"))

    def test_ridges_that_are_not_known(self):
        """One side without f32 has no ridge point, two without bandwidths have none."""
        zen5 = os.path.join(EXAMPLES, "zen5-2-cores")
        lines = self.read(zen5, "ceilings.csv").splitlines(keepends=True)
        for name, left_out in (("no_f32", "compute,[^,]*,f32"), ("no_bandwidth", "bandwidth|ladder")):
            for file_name in ("results.csv", "ops.csv"):
                self.write(os.path.join(name, file_name), self.read(zen5, file_name))
            self.write(os.path.join(name, "ceilings.csv"), "".join(line for line in lines if not re.match(left_out, line)))
        picture = self.picture("projection", zen5, "--onto", "no_f32", "-o", "x.svg")
        self.assertIn(">   5.18 as measured<", picture)
        self.assertNotIn("as projected<", picture.replace("bold as projected<", ""))
        self.assertNotIn("ridge", self.picture("projection", zen5, "--onto", "no_bandwidth", "-o", "x.svg"))

    def test_threads_without_roofs(self):
        """Their models stand under the roofs that there are, and the subtitle says so."""
        picture = self.picture("ops", "ops")
        self.assertTrue("1 of the models ran with other threads" in picture)
        self.assertTrue('height="800"' in picture)

    def test_weights_of_a_ratio(self):
        """A time that grows with nodes on one side and not on the other: the ratio has nodes as its weight."""
        head = "id,family,layers,nodes,threads,status,time_ns_median,pct_of_peak\n"
        for name, power in (("flat", 0), ("steep", 2)):
            self.tables(name, head + "".join(
                f'"fc/layers={layers},nodes={2 ** n},input=8,output=8,batch=1,activation=relu,mode=infer,threads=1",fc,{layers},{2 ** n},1,'
                f"ok,{1000 * layers * 2 ** (n * power)},{n}\n" for layers in (1, 2, 4) for n in range(4)))
        rows = {(row["fit_model"], row["term"]): row for row in self.data("weights", "steep", "flat")}
        self.assertEqual(rows[("log", "nodes")]["value"], "ratio")
        self.assertAlmostEqual(float(rows[("log", "nodes")]["weight"]), 1, places=9)
        self.assertAlmostEqual(float(rows[("log", "layers")]["weight"]), 0, places=9)
        self.assertTrue(">What decides the speed-up of flat over steep<" in self.picture("weights", "steep", "flat"))
        terms = {row["term"] for row in self.data("weights", "steep", "flat", "--value", "time_ns_median")}
        self.assertIn("results=flat", terms)
        self.tables("again", self.read("flat", "results.csv"))
        rows = self.data("weights", "steep", "flat", "again")
        self.assertEqual([row["weight"] for row in rows if row["results"] == "flat"], [row["weight"] for row in rows if row["results"] == "again"])
        self.assertNotIn("results", self.data("weights", "steep", "flat")[0])
        picture = self.picture("weights", "steep", "flat", "again")
        for text in ("What decides the speed-up over steep", "flat, fc: 12 instances, R2"):
            self.assertIn(f">{text}", picture)

    def test_boxes_percentiles(self):
        rows = self.boxes("box", "--only", "family=fc")
        self.assertEqual([(row["instances"], row["low_whisker"], row["low"], row["middle"], row["high"], row["high_whisker"])
                          for row in rows], [("101", "2", "9", "50", "91", "98")])
        self.assertEqual([(row["name"], row["middle"]) for row in self.data("boxes", "box", "--only", "family=fc") if row["kind"] == "beyond"],
                         [("n100", "100"), ("n99", "99"), ("n1", "1"), ("n0", "0")])
        rows = self.boxes("box", "--only", "family=cnn")
        self.assertEqual([(row["kind"], row["name"], row["middle"]) for row in rows],
                         [("values", "", "20"), ("measured", "resnet50", "30")])
        for method, kind in (("direct", "measured"), ("composed", "composed")):
            self.tables("by", "\n".join(line + (",method" if line.startswith("id,") else f",{method}") for line in BOX_RESULTS.splitlines()) + "\n")
            self.assertEqual({row["kind"] for row in self.boxes("by", "--only", "family=cnn")}, {"values", kind})
        self.assertEqual([row["middle"] for row in self.boxes("pairs", "--across", "backend")], ["1"])
        self.tables("five", PAIRS_RESULTS + "".join(line.replace("layers=2", f"layers={n}").replace("fc,2", f"fc,{n}") + "\n"
                                                    for n in (16, 32) for line in PAIRS_RESULTS.splitlines() if "layers=2" in line))
        picture = self.picture("boxes", "five", "--across", "backend")
        line, bar = (float(re.search(rf'{attribute} d="M[\d.]+ ([\d.]+)H', picture)[1]) for attribute in ('stroke-dasharray="6"', 'stroke-width="3"'))
        self.assertEqual(line, bar)  # both at 1
        self.assertIn("not --value", self.plot("boxes", "pairs", "--across", "backend", "--value", "params", expect=2).stderr)

    def test_boxes_of_several_directories(self):
        """Every directory against the first, or a value of each; what a directory decides is not said twice."""
        for name, times, threads in (("a", 3 * (1000, 2000), 1), ("b", 3 * (500, 1000), 2), ("c", 3 * (2000, 1000), 4)):
            self.tables(name, "id,family,batch,threads,status,time_ns_median,pct_of_peak\n" + "".join(
                f'"fc/layers=1,nodes=8,input=8,output=8,batch={n},activation=relu,mode=infer,threads={threads}",fc,{n},{threads},ok,'
                f"{time},{time / 100}\n" for n, time in enumerate(times, 1)))
        rows = self.boxes("a", "b", "c", "--across", "threads")
        self.assertEqual([(row["results"], row["instances"], row["low"][:4], row["high"][:4]) for row in rows],
                         [("b", "6", "2", "2"), ("c", "6", "0.5", "2")])
        self.assertNotIn("threads", rows[0])
        rows = self.boxes("a", "b", "c", "--value", "pct_of_peak")
        self.assertEqual([(row["results"], row["middle"]) for row in rows], [("a", "15"), ("b", "7.5"), ("c", "15")])
        picture = self.picture("boxes", "a", "b", "c", "--across", "threads")
        for text in ("Speed-up over a", "step time of a over that of the other", "results", "b, n=6"):
            self.assertTrue(f">{text}<" in picture, text)
        self.assertIn("a: named twice", self.plot("boxes", "a", "a", expect=2).stderr)

    def test_boxes_by_version_and_dtype(self):
        """The software that environment.yaml names, as in the paper's boxes of several versions."""
        for name, time, version in (("old", 1000, "2.6.3"), ("new", 500, "3.7.2")):
            self.tables(name, "id,family,dtype,backend,status,time_ns_median\n" + "".join(
                f'"fc/layers=1,nodes=8,input=8,output=8,batch={n},activation=relu,mode=infer,dtype={dtype},threads=1",fc,{dtype},onednn,ok,'
                f"{time * n}\n" for n, dtype in enumerate(("f32", "bf16"), 1)))
            self.write(os.path.join(name, "environment.yaml"), f'backend_onednn: "oneDNN {version} (avx2)" # identity\n')
        rows = self.boxes("old", "new", "--by", "version,dtype")
        self.assertEqual([(row["version"], row["dtype"], row["middle"]) for row in rows],
                         [("oneDNN 3.7.2", "f32", "2"), ("oneDNN 3.7.2", "bf16", "2")])
        rows = self.boxes("old", "new", "--by", "version", "--value", "time_ns_median")
        self.assertEqual([row["version"] for row in rows], ["oneDNN 2.6.3", "oneDNN 3.7.2"])

    def test_heat_maps_side_by_side(self):
        self.tables("other", GRID_RESULTS.replace("ok,1000,2,", "oom,,,"))
        rows = self.data("heatmap", "grid", "other", "--only", "family=fc", "--x", "batch", "--y", "nodes")
        cells = {(row["results"], row["batch"], row["nodes"]): (row["pct_of_peak"], row["failed"]) for row in rows}
        self.assertEqual(cells[("grid", "1", "8")], ("4", "0"))
        self.assertEqual(cells[("other", "1", "8")], ("8", "1"))
        picture = self.picture("heatmap", "grid", "other", "--only", "family=fc", "--x", "batch", "--y", "nodes")
        for text in ("share of the measured peak in grid and other", "results=grid, mode=infer", "results=other, mode=train"):
            self.assertTrue(f">{text}<" in picture, text)
        self.assertEqual({(row["batch"], row["nodes"]): (row["ratio"], row["models"]) for row in rows if row["ratio"]},
                         {("1", "8"): ("1", "1"), ("1", "64"): ("1", "1"), ("16", "512"): ("1", "1")})
        self.tables("failed", GRID_RESULTS.replace("infer,1,ok", "infer,2,oom").replace("train,1,ok", "train,2,oom"))
        picture = self.picture("heatmap", "grid", "failed", "--only", "family=fc", "--x", "batch", "--y", "nodes")
        self.assertTrue(">unknown machine, fc<" in picture)  # not "1 thread", which those that failed do not share

    def test_heat_map_of_ratios(self):
        """The times of each cell's pairs, A's over B's, as a geometric mean; of a cell without a pair, nothing."""
        head = "id,family,layers,batch,nodes,threads,status,time_ns_median,pct_of_peak,row_flags\n"
        for name, times in (("a", (100, 400, 900, 100)), ("b", (50, 50, 1800, ""))):
            self.tables(name, head + "".join(
                f'"fc/layers={layers},nodes={nodes},input=8,output=8,batch={batch},activation=relu,mode=infer,threads=1",fc,{layers},{batch},{nodes},1,'
                f'{"ok" if time else "oom"},{time},{7 if time else ""},{"unusable" if time == 1800 else ""}\n'
                for time, (layers, batch, nodes) in zip(times, ((1, 1, 8), (2, 1, 8), (1, 2, 16), (1, 2, 8)))))
        rows = [(row["results"], row["batch"], row["nodes"], row["ratio"], row["models"], row["failed"], row["doubtful"])
                for row in self.data("heatmap", "a", "b", "--x", "batch", "--y", "nodes")]
        self.assertEqual([row for row in rows if row[3]], [("b", "1", "8", "4", "2", "0", "0"), ("b", "2", "16", "0.5", "1", "0", "1")])
        self.assertEqual(len(rows), 3 + 3)
        picture = self.picture("heatmap", "a", "b", "--x", "batch", "--y", "nodes")
        for text in ("results=a", "results=b", "time of a over b", "ratio of step times"):
            self.assertIn(f">{text}<", picture)
        inks = set(re.findall(r'<path fill="(#\w+)" d="[^"]*Z"/>\n<text text-anchor="middle"[^>]*>(7|4|0\.5)<', picture))
        self.assertEqual(len({ink for ink, _ in inks}), 3, inks)  # values are equal, ratios have a scale of their own
        both = self.read("a", "results.csv") + "".join(
            line.replace("threads=1", "threads=2").replace(",1,o", ",2,o") + "\n" for line in self.read("b", "results.csv").splitlines()[1:])
        self.tables("both", both)
        rows = self.data("heatmap", "both", "--across", "threads=1:2", "--x", "batch", "--y", "nodes")
        self.assertEqual([(row["threads"], row["ratio"]) for row in rows if row["ratio"]], [("2", "4"), ("2", "0.5")])
        self.tables("c", self.read("a", "results.csv").replace("ok,100,", "ok,25,"))
        rows = self.data("heatmap", "a", "b", "c", "--x", "batch", "--y", "nodes")
        self.assertEqual([(row["results"], row["ratio"]) for row in rows if row["ratio"]],
                         [("b", "4"), ("b", "0.5"), ("c", "2"), ("c", "4"), ("c", "1")])
        picture = self.picture("heatmap", "a", "b", "c", "--x", "batch", "--y", "nodes")
        for text in ("results=c", "time of a over b", "time of a over c"):
            self.assertEqual(picture.count(f">{text}<"), 1, text)
        self.assertIn("threads is an axis already", self.plot("heatmap", "both", "--across", "threads=1:2", "--y", "threads", expect=2).stderr)
        self.tables("other", head + "e,fc,1,4,32,1,ok,100,7,\n")
        self.assertNotIn("ratio of step times", self.picture("heatmap", "a", "other", "--x", "batch", "--y", "nodes"))

    def test_breakdown_of_two_directories(self):
        self.tables("again", PAIR_RESULTS.replace(",1000,", ",4000,"), PAIR_OPS.replace(",900,", ",3600,"))
        rows = self.data("breakdown", "pair", "again", "--by", "op", "--only", "batch=1")
        self.assertEqual([(row["results"], row["part"], row["share_pct"]) for row in rows if row["part"] == "dense"],
                         [("pair", "dense", "90"), ("again", "dense", "90")])
        self.assertEqual({row["step_ns"] for row in rows}, {"1000", "4000"})

    def test_boxes_say(self):
        picture = self.picture("boxes", "box")
        for text in ("resnet50", "share of the measured peak (%)", "fc, n=101", "named models"):
            self.assertTrue(f">{text}<" in picture, text)

    def test_span_reaches_from_the_least_to_the_greatest(self):
        rows = self.data("span", "box")
        self.assertEqual([(row["family"], row["low"], row["high"]) for row in rows if row["kind"] == "box"],
                         [("fc", "1", "101"), ("cnn", "1000", "25557032")])
        presets = {row["name"]: (row["kind"], row["middle"]) for row in rows if row["kind"] != "box"}
        self.assertEqual(presets["resnet50"], ("measured", "25557032"))
        self.assertEqual(presets["resnet18"], ("preset", "11689512"))
        picture = self.picture("span", "box")
        self.assertTrue(">hollow: not in the tables<" in picture)
        inks = dict(re.findall(r'data-rows="(\d+)" marker-end="url\(#mark-\d-600-(\w+)-', picture))
        self.assertEqual({at for at, ink in inks.items() if ink == "ffffff"}, {str(at) for at, row in enumerate(rows) if row["kind"] == "preset"})
        self.assertFalse('stroke-width="3"' in picture)  # the bar of a box's median
        self.assertIn(">A bar goes from the least to the greatest model", picture)
        self.assertNotIn("was measured", picture)


if __name__ == "__main__":
    main(2)
