#!/usr/bin/env python3
"""The program from outside: what it prints, what it leaves behind, how it exits.

Usage: cli_test.py PARADNN GOLDEN [--update] [TEST...]. The golden files hold nothing measured; --update rewrites them."""

import csv
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PARADNN, GOLDEN = (os.path.abspath(path) for path in sys.argv[1:3])
UPDATE = "--update" in sys.argv

SMALL = """\
sweep: small
run: {mode: [infer, train], threads: 1}
measure: {rounds: 2, max_time: 50ms, min_samples: 3, probe: off}
models:
  - fc:
      layers: [1, 2]
      nodes: {from: 8, to: 32, times: 2}
      input: 20
      output: 10
      batch: 4
    where: params < 1000
"""

# Lists, parameters that apply to only one kind of block, and two instances whose windows leave less than a pixel.
NETS = """\
sweep: nets
run: {mode: infer, backend: reference, threads: 1}
measure: {rounds: 1, max_time: 10ms, min_samples: 3, probe: off}
models:
  - cnn: {block: [residual, plain], blocks: [[1, 2, 1, 1], 1], kernel: [3, 5-3], filters: 4, image: [16, 8], output: 3, batch: 1}
"""

# One row of each kind is enough to place everything, and saves ten seconds of measuring.
CEILINGS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,100,90,110,5
bandwidth,read,,L1,1,32768,130,120,140,5
bandwidth,read,,DRAM,1,0,18,17,19,5
overhead,op,,,1,0,50,40,60,5
"""

# Two training steps of a transformer: layer, op, category, pass, shape for a batch of 4, count, FLOP, bytes, ns of
# each step, percentage of the roof.
BERT_OPS = [
    ("embedding", "embedding", "embedding", "forward", "64:99x8:64x8", 1, 0, 4352, 300, 400, 40),
    ("query1..query2", "dense", "linear gemm", "forward", "64x8:8x8:64x8@query", 2, 16384, 8704, 1000, 4000, 80),
    ("query1..query2", "dense", "linear gemm", "backward-data", "64x8:8x8:64x8@query", 2, 16384, 8704, 1100, 4400, 75),
    ("query1..query2", "dense", "linear gemm", "backward-weights", "64x8:64x8:8x8@query", 2, 16384, 8704, 1200, 4800, 70),
    ("scores1..scores2", "matmul", "attention gemm", "forward",
     "64x24:64x24:8x16x16,sequences=4,heads=2,width=4,b_column=8,transpose_b=1@scores", 2, 32768, 24576, 800, 3200, 50),
    ("softmax1..softmax2", "softmax", "softmax", "forward", "8x16x16:8x16x16@softmax", 2, 20480, 32768, 500, 2000, 60),
    ("norm1.1..norm1.2", "layernorm", "normalization", "forward", "64x8:8:8:64x8@norm1", 2, 8192, 8320, 400, 1600, ""),
    ("ffn1.1..ffn1.2", "dense", "linear gemm", "forward", "64x8:32x8:64x32+bias+gelu@ffn1", 2, 65536, 22784, 2000, 8000, 85),
    ("decoder", "dense", "linear gemm", "forward", "20x8:99x8:20x99@decoder", 1, 31680, 11728, 600, 2400, 80),
    ("", "reorder", "reorder", "forward", "8x8", 1, 0, 512, 50, 50, 30),
    ("query1..query2", "lamb_direction", "optimizer stage 1", "update", "64@query", 2, 1920, 3584, 1200, 1200, 90),
    ("query1..query2", "lamb_apply", "optimizer stage 2", "update", "64@query", 2, 256, 1536, 500, 500, 95),
    ("nowhere", "slice", "data movement", "forward", "64x8:64x4", 1, 0, 2048, 50, 1100, 20),
]


def bert_tables():
    """results.csv and ops.csv of BERT_OPS at batch 4 and, extrapolated, at batch 16."""
    results = "id,family,layers,hidden,length,batch,mode,dtype,status,params,time_ns_median,extrapolated\n"
    ops = ("id,op_index,layer,op,category,pass,shape,count,flop_count,in_bounds_flop_count,byte_count,time_ns_median,"
           "pct_of_roof\n")
    for k, batch, step in ((8, 4, 10000), (9, 16, 33000)):
        name = f'"transformer/layers=2,hidden=8,length=16,batch={batch},mode=train,dtype=f32"'
        results += f"{name},transformer,2,8,16,{batch},train,f32,ok,1000,{step},{int(batch == 16)}\n"
        for i, row in enumerate(BERT_OPS):
            layer, op, category, phase, shape, count, flop, traffic = row[:8]
            ops += f'{name},{i},{layer},{op},{category},{phase},"{shape}",{count},{flop},{flop},{traffic},{row[k]},{row[10]}\n'
    return results, ops


def platforms():
    """results.csv of two backends: B is up to twice as fast at batch 64 and slower at batch 1; two rows cannot be compared."""
    tables = []
    for backend, speed in (("onednn", {1: 1, 64: 1}), ("openblas", {1: 0.95, 64: 2})):
        table = "id,family,layers,nodes,batch,mode,backend,threads,status,reason,params,time_ns_median,ci_low_ns,ci_high_ns\n"
        for nodes in (32, 64, 128):
            for batch in (1, 64):
                name = f"fc/layers=2,nodes={nodes},input=20,output=10,batch={batch},activation=relu,mode=infer,threads=2"
                name = name.replace(",threads", ",backend=openblas,threads") if backend == "openblas" else name
                ns = nodes * batch * (110 if nodes == 64 and backend == "openblas" else 100) / speed[batch]
                end = f"ok,,{nodes * 30},{ns:.6g},{ns * 0.97:.6g},{ns * 1.03:.6g}"
                if nodes == 128:
                    end = "crash,signal 11,3840,,," if backend == "openblas" and batch == 1 else end
                    if backend == "onednn" and batch == 64:
                        continue
                table += f'"{name}",fc,2,{nodes},{batch},infer,{backend},2,{end}\n'
        tables.append(table)
    return tables


def fit_table():
    """A results.csv with a power law, an outlier, a collinear and a constant key, a missing cell, and a family that is too small."""
    text = "id,family,layers,nodes,input,batch,output,cell,mode,status,time_ns_median,pct_of_peak\n"
    number = 0
    for layers in (1, 2, 4):
        for nodes in (16, 32, 64):
            for batch in (1, 8):
                number += 1
                wobble = 1 + 0.02 * (number * 7 % 5 - 2)
                time = 1000 * layers * nodes ** 1.5 * batch ** 0.75 * wobble * (3 if number == 11 else 1)
                mode, status = ("train", "ok") if number % 3 else ("infer", "crash" if number == 9 else "ok")
                text += (f"fc/{number},fc,{layers},{nodes},{2 * nodes},{'' if number == 4 else batch},10,,{mode},{status},{time:.0f},"
                         f"{10 + 5 * batch - layers + number % 4}\n")
    return text + "rnn/1,rnn,1,,,1,10,lstm,train,ok,100,1\nrnn/2,rnn,2,,,1,10,gru,train,ok,130,2\n"


# Name of the golden file, arguments, exit status. stderr is not compared if it reports durations.
GOLDEN_CASES = [
    ("help", ["--help"], 0),
    *[(f"help-{name}", [name, "--help"], 0)
      for name in ("sweep", "compose", "submit", "status", "merge", "prune", "list", "run", "check", "ceilings", "seqpoint", "plot", "breakdown", "compare", "report", "fit", "project", "scale", "import", "data",
                   "columns", "ops", "families", "help", "version")],
    ("help-topic", ["help", "fit"], 0),
    ("help-model", ["help", "resnet50"], 2),
    ("help-unknown", ["help", "brekdown"], 2),
    ("nothing", [], 2),
    ("columns", ["columns", "--format", "csv"], 0),
    ("columns-ceilings", ["columns", "ceilings"], 0),
    ("columns-words", ["columns", "words", "--format", "csv"], 0),
    ("columns-bound", ["columns", "bound"], 0),
    ("columns-noisy", ["columns", "noisy"], 0),
    ("columns-unknown", ["columns", "result"], 2),
    ("ops", ["ops"], 0),
    ("ops-csv", ["ops", "--format=csv"], 0),
    ("families", ["families"], 0),
    ("families-fc", ["families", "fc"], 0),
    ("families-cnn", ["families", "cnn"], 0),
    ("families-rnn", ["families", "rnn"], 0),
    ("families-unknown", ["families", "fcc"], 2),
    ("list", ["list", "small.yaml"], 0),
    ("list-csv", ["list", "small.yaml", "--format", "csv"], 0),
    ("list-twice", ["list", "small.yaml", "small.yaml", "--set", "run.mode=infer"], 0),
    ("list-id", ["list", "fc/layers=2,nodes=16,input=20,output=10,batch=4,threads=1"], 0),
    ("count", ["list", "--count", "small.yaml"], 0),
    ("count-csv", ["list", "--count", "small.yaml", "--format", "csv"], 0),
    ("list-shard", ["list", "small.yaml", "--shard", "3/3", "--shard-base", "1"], 0),
    ("list-shard-csv", ["list", "small.yaml", "nets.yaml", "--shard", "2/3", "--format", "csv"], 0),
    ("count-shard", ["list", "--count", "small.yaml", "--shard", "2/3"], 0),
    ("list-bad-shard", ["list", "small.yaml", "--shard", "3/3"], 2),
    ("list-bad-shard-base", ["list", "small.yaml", "--shard-base", "1"], 2),
    ("list-nets", ["list", "nets.yaml", "--set", "run.algorithm=[auto, direct]"], 0),
    ("list-nets-csv", ["list", "nets.yaml", "small.yaml", "--format", "csv"], 0),
    ("list-presets", ["list", "cnn:resnet50,batch=1,threads=1,mode=infer", "cnn:vgg16,batch=1,threads=1,image=64",
                      "--set", "models.0.cnn.blocks=[2, 3-4-23-3]"], 0),
    ("list-families", ["list", "cnn:resnet50,batch=1,threads=1", "rnn/cell=gru,length=25,threads=1",
                       "gnmt:gnmt,batch=1,threads=1,mode=infer", "deepspeech2:deepspeech2,batch=1,threads=1,mode=infer"], 0),
    ("list-same-net", ["list", "cnn/block=residual,mode=infer,threads=1", "--set",
                       "models.0.cnn.blocks=[1, 1-1-1-1, [1, 1, 1, 2]]"], 0),
    ("list-missing", ["list", "missing.yaml"], 2),
    ("list-bad-id", ["list", "fc/layer=2"], 2),
    ("list-bad-list", ["list", "cnn/blocks=3-4-x-3"], 2),
    ("list-bad-setting", ["list", "fc/algorithm=gemm"], 2),
    ("list-bad-optimizer", ["list", "fc/mode=infer,optimizer=sgd"], 2),
    ("list-set-optimizer", ["list", "fc/mode=infer,threads=1", "--set", "run.optimizer=[sgd, adam]"], 0),
    ("list-bad-block", ["list", "cnn:resnet50,kernel=5"], 2),
    ("list-bad-image", ["list", "cnn:vgg16,image=16,threads=1"], 2),
    ("list-bad-set", ["list", "small.yaml", "--set", "run.thread=2"], 2),
    ("list-bad-min-samples", ["list", "small.yaml", "--set", "measure.min_samples=16385"], 2),
    *[(f"submit-{kind}", ["submit", "small.yaml", "--workers", "4", "-o", "/shared/small.results", "--program", "paradnn", "--scheduler",
                          kind, "--time", "90m", "--dry-run", "--", *passed], 0)
      for kind, passed in (("slurm", ["--partition=cpu"]), ("pbs", ["-q", "cpu"]), ("lsf", []), ("none", ["n1", "n2", "n3", "n4"]))],
    ("submit-no-workers", ["submit", "small.yaml"], 2),
    ("submit-no-directory", ["submit", "fc", "--workers", "2"], 2),
    ("submit-array", ["submit", "small.yaml", "--workers", "2", "--", "--array=0-9"], 2),
    ("unknown-command", ["lst"], 2),
    ("unknown-option", ["list", "small.yaml", "--fromat", "csv"], 2),
    ("unknown-global", ["--versoin"], 2),
    ("unknown-format", ["list", "small.yaml", "--format", "cvs"], 2),
    ("no-operand", ["sweep"], 2),
    ("extra-operand", ["ceilings", "dense"], 2),
    ("run-bad-rounds", ["run", "fc", "--rounds", "many"], 2),
    ("run-vary-unknown", ["run", "rnn", "--vary", "lenght=10,20"], 2),
    ("run-vary-setting", ["run", "rnn", "--vary", "threads=1,2"], 2),
    ("run-vary-weights", ["run", "rnn/embedding=64", "--vary", "hidden=64,128"], 2),
    ("run-vary-settings", ["run", "rnn", "--vary", "length=10", "--set", "run.mode=[infer, train]"], 2),
    ("run-vary-range", ["run", "rnn", "--vary", "length={from: 0, to: 20, plus: 10}"], 2),
    ("run-vary-no-list", ["run", "rnn", "--vary", "length"], 2),
    ("run-vary-two", ["run", "rnn", "fc", "--vary", "batch=1,2"], 2),
    ("check-bad-backend", ["check", "fc", "--backend", "onednm"], 2),
    ("check-bad-limit", ["check", "fc", "--max-flop", "lots"], 2),
    ("ceilings-bad-threads", ["ceilings", "--threads", "0"], 2),
    ("ceilings-bad-seconds", ["ceilings", "--seconds", "never"], 2),
    ("breakdown-group", ["breakdown", "bert.results", "--by", "group", "--only", "batch=4"], 0),
    ("breakdown-csv", ["breakdown", "bert.results", "--by=group,pass", "--only", "batch=4", "--format", "csv"], 0),
    ("breakdown-across", ["breakdown", "bert.results", "--by", "group", "--across", "batch"], 0),
    ("breakdown-gemms", ["breakdown", "bert.results", "--gemms"], 0),
    ("breakdown-directions", ["breakdown", "bert.results", "--check-directions"], 1),
    ("breakdown-directions-csv", ["breakdown", "bert.results", "--check-directions", "--only", "batch=4", "--format=csv"], 0),
    ("breakdown-bad-by", ["breakdown", "bert.results", "--by", "gruop"], 2),
    ("breakdown-bad-across", ["breakdown", "bert.results", "--across", "bacth"], 2),
    ("breakdown-bad-only", ["breakdown", "bert.results", "--only", "batch=5"], 2),
    ("compare", ["compare", "a.results", "b.results"], 0),
    ("compare-csv", ["compare", "a.results", "b.results", "--format", "csv"], 0),
    ("compare-only", ["compare", "a.results", "b.results", "--only", "batch=1", "--table", "pairs"], 0),
    ("compare-groups", ["compare", "a.results", "b.results", "-t", "groups"], 0),
    ("compare-groups-csv", ["compare", "a.results", "b.results", "-t", "groups", "--format", "csv"], 0),
    ("compare-axes", ["compare", "a.results", "b.results", "-t", "axes"], 0),
    ("compare-unpaired", ["compare", "a.results", "b.results", "-t", "unpaired"], 0),
    ("compare-within", ["compare", "bert.results", "--across", "batch"], 0),
    ("compare-ops", ["compare", "bert.results", "--across", "batch=16:4", "-t", "ops", "--by", "group,pass"], 0),
    ("compare-ops-csv", ["compare", "bert.results", "--across", "batch", "-t", "ops", "--format", "csv"], 0),
    ("compare-bad-across", ["compare", "a.results", "b.results", "--across", "backnd"], 2),
    ("compare-bad-value", ["compare", "bert.results", "--across", "batch=4:5"], 2),
    ("compare-none", ["compare", "a.results"], 2),
    ("compare-same", ["compare", "a.results", "./a.results"], 2),
    ("compare-bad-by", ["compare", "a.results", "b.results", "--by", "op", "--format", "csv"], 2),
    ("breakdown-both", ["breakdown", "bert.results", "--gemms", "--by", "pass"], 2),
    ("fit", ["fit", "fit.results"], 0),
    ("project-nothing", ["project", "fit.results"], 2),
    ("project-bad-factor", ["project", "fit.results", "--compute", "fast"], 2),
    ("project-bad-level", ["project", "fit.results", "--bandwidth", "L3=0"], 2),
    ("scale-nothing", ["scale", "fit.results"], 2),
    ("scale-no-link", ["scale", "fit.results", "--nodes", "2"], 2),
    ("scale-bad-link", ["scale", "fit.results", "--nodes", "2", "--link", "fast"], 2),
    ("scale-bad-nodes", ["scale", "fit.results", "--nodes", "2,0", "--link", "1GB/s"], 2),
    ("fit-power", ["fit", "fit.results", "--model", "power", "--only", "family=fc"], 0),
    ("fit-bad-family", ["fit", "fit.results", "--only", "family=gnmt"], 2),
    ("fit-bad-value", ["fit", "fit.results", "--value", "pct_of_peek"], 2),
    ("fit-bad-column", ["fit", "fit.results", "--on", "nodes,bacth"], 2),
    ("fit-few-rows", ["fit", "fit.results", "--only", "family=rnn"], 2),
    ("plot-unknown", ["plot", "rofline", "small.results"], 2),
    ("plot-option", ["plot", "roofline", "bert.results", "--across", "batch"], 2),
    ("worker-by-hand", ["worker"], 2),
]
TIMED = {"count", "count-csv", "count-shard"}
# These list every run setting too. Their golden files leave out the settings that families-fc.txt and columns.txt already have, so that a
# new setting changes only those two files.
HAS_SETTINGS = {"families-cnn", "families-rnn", "list-csv", "list-nets-csv", "list-shard-csv"}


def without_settings(text, settings):
    """Leaves such settings out: their lines in a table of parameters, their columns in a CSV table."""
    lines = text.splitlines(keepends=True)
    if lines[0].startswith("id,"):
        rows = list(csv.reader(lines))
        kept = [i for i, name in enumerate(rows[0]) if name not in settings]
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([row[i] for i in kept] for row in rows)
        return out.getvalue()
    return "".join(line for line in lines if not (line.startswith("run setting") and line.split()[2] in settings))


def environment():
    """Our environment without the variables that would change the program's output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_", "NO_COLOR"))}
    return {**kept, "LC_ALL": "C", "PARADNN_NO_CACHE": "1"}


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.write("small.yaml", SMALL)
        self.write("nets.yaml", NETS)
        self.write("roofs.csv", CEILINGS)
        os.mkdir(self.path("bert.results"))
        for name, text in zip(("results.csv", "ops.csv"), bert_tables()):
            self.write(os.path.join("bert.results", name), text)
        for name, text in zip(("a.results", "b.results"), platforms()):
            os.mkdir(self.path(name))
            self.write(os.path.join(name, "results.csv"), text)
        os.mkdir(self.path("fit.results"))
        self.write(os.path.join("fit.results", "results.csv"), fit_table())

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()

    def paradnn(self, *arguments, expect=None, **options):
        done = subprocess.run([PARADNN, *arguments], cwd=self.directory, env=environment(), capture_output=True, text=True,
                              timeout=300, check=False, **options)
        if expect is not None:
            self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def sweep(self, *arguments, expect=0):
        return self.paradnn("sweep", "small.yaml", "--ceilings", "roofs.csv", *arguments, expect=expect)

    def rows(self, *names):
        return list(csv.DictReader(self.read(*names).splitlines()))

    def ids(self):
        listed = self.paradnn("list", "small.yaml", "--format", "csv", expect=0).stdout
        return [row["id"] for row in csv.DictReader(listed.splitlines())]


class Words(Case):
    def golden(self, name, arguments, expected_status):
        done = self.paradnn(*arguments, expect=expected_status)
        stderr = "" if name in TIMED else done.stderr
        stdout = without_settings(done.stdout, self.settings()) if name in HAS_SETTINGS else done.stdout
        text = f"$ paradnn {' '.join(arguments)}\n{stdout}"
        text += f"--- stderr\n{stderr}" if stderr else ""
        text += f"--- exit status {done.returncode}\n"
        path = os.path.join(GOLDEN, name + ".txt")
        if UPDATE:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(text, file.read())

    def test_golden(self):
        for name, arguments, status in GOLDEN_CASES:
            with self.subTest(name):
                self.golden(name, arguments, status)

    def settings(self):
        """The names of the settings in families-fc.txt."""
        listed = self.paradnn("families", "fc", "--format=csv", expect=0).stdout
        return {row["name"] for row in csv.DictReader(listed.splitlines()) if row["kind"] == "run setting"}

    def test_no_golden_file_is_left_over(self):
        self.assertEqual({name for name, _, _ in GOLDEN_CASES}, {os.path.splitext(name)[0] for name in os.listdir(GOLDEN)})

    def test_errors_are_one_line(self):
        for name, arguments, status in GOLDEN_CASES:
            if status == 2 and arguments:
                with self.subTest(name):
                    done = self.paradnn(*arguments)
                    self.assertEqual(done.stdout, "")
                    self.assertRegex(done.stderr, r"\Aparadnn: [^\n]+[^.\n]\n\Z")

    def test_version_names_every_backend(self):
        done = self.paradnn("--version", expect=0)
        self.assertRegex(done.stdout, r"\Aparadnn \d+\.\d+\.\d+\nonednn +\S.*\nopenblas +\S.*\nreference +\S.*\n\Z")

    def test_full_disk_is_said(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PARADNN, "ops"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "paradnn: cannot write to standard output\n")

    def test_manual_page(self):
        page = self.paradnn("--man", expect=0).stdout
        for word in ("sweep", "rmsprop", "NO_COLOR", "results.csv", ".Os " + self.paradnn("--version").stdout.splitlines()[0]):
            self.assertIn(word, page)
        commands = re.findall(r"^\.It Xr paradnn-(\S+) 1$", page, re.M)
        self.assertEqual(commands, re.findall(r"^\.Nm paradnn\n\.Cm (\S+)$", page, re.M))
        self.write("paradnn.1", page)
        for command in commands:
            page = self.paradnn("--man", command, expect=0).stdout
            self.write(f"paradnn-{command}.1", page)
            for option in re.findall(r"--[a-z][a-z-]+", self.paradnn(command, "--help").stdout.split("\nOptions:\n")[1].split("\nExamples:")[0]):
                self.assertIn(f" Fl -{option[2:]}" if option != "--help" else "", page)
        self.assertIn("Fl -ceilings", self.read("paradnn-sweep.1"))
        self.assertIn("did you mean 'sweep'", self.paradnn("--man", "sweeep", expect=2).stderr)
        if not shutil.which("mandoc"):
            self.skipTest("no mandoc")
        for name in ["paradnn.1", *(f"paradnn-{command}.1" for command in commands)]:
            # mandoc looks for the pages named in SEE ALSO among those installed.
            lint = subprocess.run(["mandoc", "-Tlint", "-W", "warning", self.path(name)], capture_output=True, text=True, check=False)
            self.assertEqual((lint.returncode, lint.stdout), (0, ""))


class Sweep(Case):
    def test_every_instance_is_one_row(self):
        done = self.sweep()
        rows = self.rows("small.results", "results.csv")
        self.assertEqual([row["id"] for row in rows], self.ids())
        statuses = [row["status"] for row in rows]
        self.assertEqual((statuses.count("ok"), statuses.count("filtered")), (8, 4))
        self.assertEqual({row["reason"] for row in rows if row["status"] == "filtered"}, {"params < 1000"})
        self.assertRegex(done.stderr, r"12 instances: 8 ok, 4 filtered\n")
        self.assertIn("paradnn plot roofline small.results", done.stderr)
        self.assertEqual(done.stdout, "")
        for row in rows:
            if row["status"] == "ok":
                self.assertGreater(float(row["time_ns_median"]), 0)
                self.assertGreater(float(row["pct_of_roof"]), 0)
        ops = self.rows("small.results", "ops.csv")
        self.assertEqual({op["id"] for op in ops}, {row["id"] for row in rows if row["status"] == "ok"})

    def test_directory_holds_what_was_run(self):
        self.sweep("-o", "here")
        self.assertEqual(sorted(os.listdir(self.path("here"))),
                         ["ceilings.csv", "environment.yaml", "journal-ops.csv", "journal.csv", "ops.csv", "results.csv", "spec.yaml"])
        self.assertIn("sweep: small", self.read("here", "spec.yaml"))
        self.assertIn("omp_proc_bind", self.read("here", "environment.yaml"))
        # The recorded spec is enough to run it again, overrides included.
        listed = self.paradnn("list", "here/spec.yaml", "--format", "csv", expect=0).stdout
        self.assertEqual([row["id"] for row in csv.DictReader(listed.splitlines())], self.ids())
        sets = ["--set", "run.mode=train", "--set", "models.0.fc.batch=[2, 4]", "--set", "models.0.fc.layers=1"]
        self.sweep("-o", "other", *sets)
        listed = [self.paradnn("list", *arguments, "--format", "csv", expect=0).stdout
                  for arguments in (["small.yaml", *sets], ["other/spec.yaml"])]
        self.assertEqual(listed[0], listed[1])

    def test_again_adds_nothing(self):
        self.sweep()
        journal = self.read("small.results", "journal.csv")
        results = self.read("small.results", "results.csv")
        self.sweep()
        self.assertEqual(self.read("small.results", "journal.csv"), journal)
        self.assertEqual(self.read("small.results", "results.csv"), results)

    def test_directory_of_full_ids_goes_on(self):
        """A directory of a version whose ids named every setting: its visits count, and today's ids find its rows."""
        os.mkdir(self.path("old"))
        for name in ("journal.csv", "journal-ops.csv", "results.csv", "ops.csv", "spec.yaml"):
            shutil.copy(os.path.join(os.path.dirname(GOLDEN), "full-ids", name), self.path("old"))
        old = self.rows("old", "results.csv")
        self.assertTrue(all(",isa=default" in row["id"] for row in old))
        today = [row["id"] for row in csv.DictReader(self.paradnn("list", "old/spec.yaml", "--format=csv", expect=0).stdout.splitlines())]
        self.assertFalse(any(",isa=" in name for name in today))
        shares = list(csv.DictReader(self.paradnn("breakdown", "old", "--format=csv", expect=0).stdout.splitlines()))
        self.assertEqual(list(dict.fromkeys(row["id"] for row in shares)), today)
        only = self.paradnn("breakdown", "old", "--format=csv", "--only", "id=" + old[1]["id"], expect=0).stdout
        self.assertEqual({row["id"] for row in csv.DictReader(only.splitlines())}, {today[1]})
        journal = self.read("old", "journal.csv")
        self.paradnn("sweep", "old/spec.yaml", "-o", "old", "--ceilings", "roofs.csv", expect=0)
        self.assertEqual(self.read("old", "journal.csv"), journal)
        rows = self.rows("old", "results.csv")
        self.assertEqual([row["id"] for row in rows], today)
        self.assertEqual([row["time_ns_median"] for row in rows], [row["time_ns_median"] for row in old])
        self.assertEqual({row["id"] for row in self.rows("old", "ops.csv")}, set(today))
        # New rows are written in today's form; old rows stay.
        self.paradnn("sweep", "old/spec.yaml", "-o", "old", "--ceilings", "roofs.csv", "--set", "measure.rounds=2", expect=0)
        self.assertTrue(self.read("old", "journal.csv").startswith(journal))
        visits = self.rows("old", "journal.csv")
        self.assertEqual([row["id"] in today for row in visits], [False] * len(old) + [True] * (len(visits) - len(old)))
        ops = self.rows("old", "journal-ops.csv")
        for row in visits:
            self.assertEqual(len([op for op in ops if (op["id"], op["visit"]) == (row["id"], row["visit"])]), int(row["ops"]))
        self.assertTrue(all(int(row["rounds"]) >= 2 for row in self.rows("old", "results.csv")))

    def test_more_rounds_are_appended(self):
        self.sweep("--set", "measure.rounds=1")
        before = self.read("small.results", "journal.csv")
        self.sweep("--set", "measure.rounds=6")
        after = self.read("small.results", "journal.csv")
        self.assertTrue(after.startswith(before))
        rounds = [int(row["rounds"]) for row in self.rows("small.results", "results.csv") if row["status"] == "ok"]
        self.assertEqual(len(rounds), 8)
        self.assertGreaterEqual(min(rounds), 6)

    def test_other_spec_keeps_earlier_rows(self):
        self.sweep("--set", "run.mode=train")
        train = [row["id"] for row in self.rows("small.results", "results.csv")]
        measured = [row["id"] for row in self.rows("small.results", "results.csv") if row["status"] == "ok"]
        self.sweep("--set", "run.mode=infer")
        ids = [row["id"] for row in self.rows("small.results", "results.csv")]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(sorted(ids[len(train):]), sorted(measured))

    # Every library has matrix products for SSE4.1; the last isa is beyond any current processor.
    ISA = ["--set", "run.threads=1", "--set", "measure.rounds=1", "--set", "measure.max_time=50ms"]
    PLAIN = "cnn/block=plain,blocks=1,filters=16,image=16,output=10,batch=2"

    def test_each_isa_has_kernels_of_its_own(self):
        sets = [*self.ISA, "--set", "run.isa=[default, sse41]"]
        self.paradnn("sweep", self.PLAIN, "--ceilings", "roofs.csv", "-o", "isa", *sets)
        rows = {row["isa"]: row for row in self.rows("isa", "results.csv")}
        self.assertEqual(set(rows), {"default", "sse41"})
        self.assertEqual(rows["default"]["status"], "ok")
        if "this processor has" in rows["sse41"]["reason"]:
            self.skipTest("no processor with these instruction sets")
        self.assertEqual(rows["sse41"]["status"], "ok", rows["sse41"]["reason"])
        ops = self.rows("isa", "ops.csv")
        names = {isa: [op["implementation"] for op in ops if op["id"] == row["id"] and op["op"] == "conv2d"]
                 for isa, row in rows.items()}
        for name in names["sse41"]:
            self.assertNotRegex(name, "avx")
        self.assertNotEqual(names["default"], names["sse41"])
        done = self.paradnn("check", self.PLAIN, *sets, expect=0)
        self.assertEqual(done.stderr, "2 passed, 0 failed, 0 skipped\n")

    def test_isa_without_a_way_is_unsupported(self):
        for backend, isa, reason in (("reference", "sse41", "reference cannot limit its instruction sets"),
                                     ("onednn", "avx512_core_amx_fp16", "isa=avx512_core_amx_fp16: this processor has|does not know"),
                                     ("openblas", "avx512_core_amx_fp16", "isa=avx512_core_amx_fp16: this processor has")):
            with self.subTest(backend, isa=isa):
                done = self.paradnn("check", f"fc/layers=1,nodes=8,batch=2,backend={backend},isa={isa}")
                if "PASS" not in done.stdout:
                    self.assertRegex(done.stdout, f"SKIP .*({reason}|this processor has)")

    def test_openblas_keeps_to_its_isa(self):
        small = "fc/layers=2,nodes=64,input=20,output=10,batch=16,threads=1,backend=openblas,isa=sse41"
        done = self.paradnn("check", small)
        self.assertRegex(done.stdout, r"PASS  fc|this processor has")

    def test_too_big_is_predicted_and_nothing_starts(self):
        self.sweep("--set", "limits.memory=1KiB", expect=1)  # nothing ended ok
        rows = self.rows("small.results", "results.csv")
        self.assertEqual({row["status"] for row in rows}, {"oom_predicted", "filtered"})
        self.assertIn("the limit is 1.00 KiB", next(row["reason"] for row in rows if row["status"] == "oom_predicted"))
        self.assertEqual(self.read("small.results", "journal.csv").count("\n"), 1)

    def test_what_cannot_be_counted_is_a_row_and_nothing_starts(self):
        large = "models.0.fc={layers: 400, nodes: 16777216, input: 1, output: 1, batch: 16777216}"
        apart = ["--set", large, "--set", "models.0.where=layers > 1", "--set", "run.mode=train"]
        self.sweep(*apart, expect=None)
        row, = self.rows("small.results", "results.csv")
        self.assertEqual((row["status"], row["params"], row["flop_count"], row["memory_bytes"]), ("oom_predicted", "", "", ""))
        self.assertEqual(row["reason"], "a FLOP, byte or memory count does not fit in 64 bits")
        self.assertEqual(self.read("small.results", "journal.csv").count("\n"), 1)
        listed = self.paradnn("list", "small.yaml", *apart, "--format", "csv", expect=0).stdout
        row, = csv.DictReader(listed.splitlines())
        self.assertEqual((row["params"], row["flop_count"], row["reason"]), ("", "", "its counts do not fit in 64 bits"))
        self.assertRegex(self.paradnn("list", "small.yaml", *apart, expect=0).stdout, r"\n {50,}too big +fc/layers=400,")
        count = self.paradnn("list", "--count", "small.yaml", *apart, expect=0)
        self.assertIn("1 instances are not in the sums", count.stderr)
        filtered = self.paradnn("list", "small.yaml", "--set", large, "--set", "run.mode=train", expect=0).stdout
        self.assertRegex(filtered, r"\n {50,}filtered +fc/layers=400,")

    def test_what_does_not_apply_is_empty_and_what_does_not_fit_is_invalid(self):
        self.paradnn("sweep", "nets.yaml", "--ceilings", "roofs.csv", expect=1)
        rows = self.rows("nets.results", "results.csv")
        self.assertEqual([(row["block"], row["blocks"], row["kernel"], row["image"], row["status"]) for row in rows], [
            ("residual", "1-2-1-1", "", "16", "ok"), ("residual", "1-2-1-1", "", "8", "ok"),
            ("residual", "1", "", "16", "ok"), ("residual", "1", "", "8", "ok"),
            ("plain", "1-2-1-1", "3", "16", "ok"), ("plain", "1-2-1-1", "3", "8", "invalid"),
            ("plain", "1-2-1-1", "5-3", "16", "ok"), ("plain", "1-2-1-1", "5-3", "8", "invalid"),
            ("plain", "1", "3", "16", "ok"), ("plain", "1", "3", "8", "ok"),
            ("plain", "1", "5-3", "16", "ok"), ("plain", "1", "5-3", "8", "ok")])
        self.assertEqual({row["reason"] for row in rows if row["status"] == "invalid"},
                         {"pool2d: a 2x2 window with padding 0x0 does not fit an image of 1x1"})
        self.assertEqual({row["pool"] for row in rows}, {"global", ""})
        journal = self.read("nets.results", "journal.csv")
        self.paradnn("sweep", "nets.results/spec.yaml", "--ceilings", "roofs.csv", "-o", "nets.results", expect=1)
        self.assertEqual(self.read("nets.results", "journal.csv"), journal)
        self.assertEqual(self.rows("nets.results", "results.csv"), rows)

    def test_too_many_threads_is_invalid(self):
        self.sweep("--set", "run.threads=4096", expect=1)
        rows = self.rows("small.results", "results.csv")
        self.assertEqual({row["status"] for row in rows}, {"invalid", "filtered"})

    def test_interrupt_leaves_valid_tables_and_the_rest_runs_later(self):
        long = ["--set", "measure.rounds=30", "--set", "measure.max_time=30s"]
        child = subprocess.Popen([PARADNN, "sweep", "small.yaml", "--ceilings", "roofs.csv", *long], cwd=self.directory,
                                 env=environment(), stderr=subprocess.PIPE, text=True)
        journal = self.path("small.results", "journal.csv")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (os.path.exists(journal) and len(self.rows("small.results", "journal.csv")) > 2):
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        stderr = child.communicate(timeout=60)[1]
        self.assertEqual(child.returncode, 130, stderr)
        self.assertIn("interrupted", stderr)
        self.assertRegex(stderr, r"12 instances: .*; \d+ with fewer visits than the 30 asked for\n")
        self.assertIn("resume: run the same command again\n", stderr)
        self.assertEqual([row["id"] for row in self.rows("small.results", "results.csv")], self.ids())
        self.sweep()
        statuses = [row["status"] for row in self.rows("small.results", "results.csv")]
        self.assertEqual((statuses.count("ok"), statuses.count("filtered")), (8, 4))

    def test_roofs_of_other_threads_are_said(self):
        self.write("roofs.csv", CEILINGS.replace(",1,", ",7,"))
        done = self.sweep()
        self.assertIn("roofs.csv has no roofs for 1 thread", done.stderr)

    def test_bad_directory(self):
        done = self.sweep("-o", "small.yaml", expect=2)
        self.assertEqual(done.stderr, "paradnn: small.yaml: exists and is not a directory\n")

    def test_bad_ceilings(self):
        self.write("roofs.csv", "kind,color\n")
        self.assertRegex(self.sweep(expect=2).stderr, r"\Aparadnn: roofs\.csv:1")
        self.assertFalse(os.path.exists(self.path("small.results")))

    def test_a_second_sweep_waits_its_turn(self):
        child = subprocess.Popen([PARADNN, "sweep", "small.yaml", "--set", "measure.rounds=30"], cwd=self.directory,
                                 env=environment(), stderr=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not os.path.exists(self.path("small.results", "spec.yaml")):
            time.sleep(0.02)
        self.assertIn("another paradnn is writing there", self.sweep(expect=2).stderr)

    def test_other_seed_does_not_mix(self):
        self.sweep()
        self.assertIn("seed", self.sweep("--set", "seed=2", expect=2).stderr)

    def test_other_machine_does_not_mix(self):
        self.sweep()
        facts = self.read("small.results", "environment.yaml")
        for fact in ("host", "cores_usable", "quota_cpus", "l1d_bytes", "l2_bytes", "l3_bytes"):
            with self.subTest(fact):
                other, count = re.subn(rf"(?m)^{fact}: (\S+)", f"{fact}: 12345", facts)
                self.assertEqual(count, 1)
                self.write("small.results/environment.yaml", other)
                done = self.sweep(expect=2)
                self.assertRegex(done.stderr, rf"environment\.yaml: {fact} was 12345 and is .*; one directory holds one machine")
                self.assertEqual(self.read("small.results", "environment.yaml"), other)

    def test_other_spec_is_said(self):
        self.assertNotIn("another spec", self.sweep().stderr)
        self.assertNotIn("another spec", self.sweep().stderr)
        done = self.sweep("--set", "run.mode=infer")
        self.assertEqual(done.stderr.count("the spec has changed; rows of the previous one stay in the tables; paradnn prune drops them\n"), 1)

    def test_id_needs_a_directory(self):
        done = self.paradnn("sweep", One.ID, "--ceilings", "roofs.csv", expect=2)
        self.assertEqual(done.stderr, "paradnn: neither an ID nor standard input names a directory, give -o DIR\n")
        self.paradnn("sweep", One.ID, "--ceilings", "roofs.csv", "--set", "measure.rounds=1", "-o", "one", expect=0)
        self.assertEqual([row["status"] for row in self.rows("one", "results.csv")], ["ok"])

    def test_dry_run_says_what_a_budget_reaches(self):
        done = self.paradnn("sweep", "small.yaml", "--ceilings", "roofs.csv", "--dry-run", "--set", "limits.budget=1h", expect=0)
        self.assertRegex(done.stderr, r"\A12 instances: 8 to run, 4 filtered\n(paradnn: .*\n)?a sweep takes about \d+ s.*\(.*\)\n"
                                      r"within 60 min: all visits to about 8 of the 8 instances, which is all of them\n\Z")
        done = self.paradnn("sweep", "small.yaml", "--ceilings", "roofs.csv", "--dry-run", "--set", "limits.budget=100us", expect=0)
        self.assertIn("within 0 s: all visits to about 0 of the 8 instances, spread over the spec\n", done.stderr)
        self.assertFalse(os.path.exists(self.path("small.results")))

    def test_budget_ends_the_command(self):
        """Ten seconds, whatever there is to do: the promise with slack for a machine that does other things."""
        begun = time.monotonic()
        done = self.paradnn("sweep", "fc/layers=2,nodes=8,input=8,output=8,threads=1", "-o", "budget.results", "--ceilings", "roofs.csv",
                            "--set", "limits.budget=10s", "--set", "models.0.fc.batch={from: 1, to: 3000, plus: 1}", expect=0)
        self.assertLess(time.monotonic() - begun, 30)
        self.assertIn("; the budget is spent", done.stderr)
        rows = self.rows("budget.results", "results.csv")
        measured = [int(row["batch"]) for row in rows if row["status"] == "ok"]
        self.assertEqual({row["reason"] for row in rows if row["status"] == "interrupted"},
                         {"the budget was spent before its first visit"})
        if len(measured) >= 20:
            self.assertTrue(all(any(third * 1000 < batch <= third * 1000 + 1000 for batch in measured) for third in range(3)))

    def test_bad_roofs_of_the_directory_change_nothing(self):
        self.sweep()
        self.write("small.results/ceilings.csv", "kind,color\n")
        before = {name: self.read("small.results", name) for name in os.listdir(self.path("small.results"))}
        done = self.paradnn("sweep", "small.yaml", "--set", "measure.rounds=3", expect=2)
        self.assertRegex(done.stderr, r"\Aparadnn: small\.results/ceilings\.csv:1: .*\n\Z")
        self.assertEqual({name: self.read("small.results", name) for name in os.listdir(self.path("small.results"))}, before)

    def end(self, *options):
        """A sweep of one visit that takes two seconds: its driver and its worker get more signals than one in the middle of it. Its
        directory."""
        directory = self.path("ended.results")
        command = [PARADNN, "sweep", "fc/layers=1,nodes=8,input=8,output=8,batch=1,threads=1", "--set", "measure.rounds=1",
                   "--set", "measure.precision=0.0001%", "--set", "measure.max_time=2s", "--ceilings", "roofs.csv", "-o", directory, *options]
        with subprocess.Popen(command, cwd=self.directory, env=environment(), stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as child:
            while "0 of 1 visits" not in child.stderr.readline():
                self.assertIsNone(child.poll())
            for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM):
                os.killpg(child.pid, number)
            child.communicate(timeout=100)
            self.assertEqual(child.returncode, 130)
        return directory

    def test_signals_leave_the_visit_its_grace(self):
        directory = self.end("--grace", "100s")
        self.assertEqual([row["status"] for row in self.rows(directory, "journal.csv")], ["ok"])
        self.assertEqual([row["status"] for row in self.rows(directory, "results.csv")], ["ok"])

    def test_signals_drop_what_does_not_fit_the_grace(self):
        directory = self.end("--grace", "1ms")
        self.assertEqual(self.rows(directory, "journal.csv"), [])
        (row,) = self.rows(directory, "results.csv")
        self.assertEqual((row["status"], row["reason"]), ("interrupted", "stopped before its first visit"))

    def test_no_visit_starts_without_time_for_it(self):
        for options, variables, source in ((("--time-left", "1s"), {}, "--time-left"),
                                           ((), {"SLURM_JOB_END_TIME": "1000"}, "SLURM_JOB_END_TIME")):
            with self.subTest(source):
                done = subprocess.run([PARADNN, "sweep", "small.yaml", "--ceilings", "roofs.csv", "-o", "late.results", *options],
                                      cwd=self.directory, env={**environment(), **variables}, capture_output=True, text=True, check=False)
                self.assertIn(f"({source})", done.stderr)
                self.assertIn("; the time is up", done.stderr)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(self.rows("late.results", "journal.csv"), [])
                reasons = {row["reason"] for row in self.rows("late.results", "results.csv") if row["status"] == "interrupted"}
                self.assertEqual(reasons, {"the time was up before its first visit"})

    def test_shards_are_the_sweep(self):
        """Each shard has the rows that `list --shard` shows, in a directory of its own that no other shard goes on in."""
        sharded = []
        for i in range(3):
            given = ("--shard", "auto/3", "--shard-base", "1")
            done = subprocess.run([PARADNN, "sweep", "small.yaml", "--ceilings", "roofs.csv", *given], cwd=self.directory, check=False,
                                  env={**environment(), "SGE_TASK_ID": str(i + 1), "LSB_JOBINDEX": "0"}, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            directory = f"small.{i}-of-3.results"
            ids = [row["id"] for row in self.rows(directory, "results.csv")]
            listed = self.paradnn("list", "small.yaml", "--shard", f"{i}/3", "--format=csv", expect=0).stdout
            self.assertEqual(ids, [row["id"] for row in csv.DictReader(listed.splitlines())])
            self.assertIn(f'shard: "{i}/3"', self.read(directory, "environment.yaml"))
            sharded += ids
        self.assertEqual(sorted(sharded), sorted(self.ids()))
        facts = [re.search("shard_deal: (.*)", self.read(f"small.{i}-of-3.results", "environment.yaml"))[1] for i in range(3)]
        self.assertEqual(len(set(facts)), 1)
        self.assertIn("shard 0/3, and this is shard 1/3", self.sweep("--shard", "1/3", "-o", "small.0-of-3.results", expect=2).stderr)
        self.assertIn("shard 0/3, and this is the whole sweep", self.sweep("-o", "small.0-of-3.results", expect=2).stderr)
        self.sweep("--shard", "0/3", "-o", "small.0-of-3.results")
        self.sweep("-o", "whole")
        self.assertIn("holds a whole sweep, and this is shard 0/3", self.sweep("--shard", "0/3", "-o", "whole", expect=2).stderr)

    def test_budget_is_the_reason(self):
        done = self.sweep("--set", "limits.budget=1ns", expect=1)
        reasons = [row["reason"] for row in self.rows("small.results", "results.csv") if row["status"] == "interrupted"]
        self.assertEqual(reasons, ["the budget was spent before its first visit"] * 8)
        self.assertIn("8 with fewer visits than the 2 asked for; the budget is spent\n", done.stderr)
        self.assertIn("resume: run the same command again\n", done.stderr)

    def test_tables_that_cannot_be_written_fail_at_the_end(self):
        child = subprocess.Popen([PARADNN, "sweep", "small.yaml", "--ceilings", "roofs.csv", "--set", "measure.rounds=4"],
                                 cwd=self.directory, env=environment(), stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.kill)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not os.path.exists(self.path("small.results", "results.csv")):
            time.sleep(0.001)
        os.unlink(self.path("small.results", "results.csv"))
        os.makedirs(self.path("small.results", "results.csv", "in the way"))
        _, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 1)
        self.assertRegex(errors, r"\nparadnn: small\.results/results\.csv: .*\n\Z")
        self.assertNotIn("12 instances", errors)
        os.removedirs(self.path("small.results", "results.csv", "in the way"))
        before = self.read("small.results", "journal.csv")
        self.assertIn("12 instances: 8 ok, 4 filtered\n", self.sweep().stderr)
        self.assertEqual(self.read("small.results", "journal.csv"), before)

    def test_roofs_of_another_speed_are_said(self):
        for value, word in (("0.001", "slower"), ("1000000", "faster")):
            with self.subTest(word):
                self.write("roofs.csv", CEILINGS + f"probe,fma,,,1,0,{value},{value},{value},5\n")
                done = self.sweep("--set", "measure.probe=on", "-o", word)
                self.assertRegex(done.stderr, rf"\nparadnn: the machine was \d+ % {word} while the roofs were measured [^\n]*\n\Z")
        self.write("roofs.csv", CEILINGS)
        self.assertNotIn("the machine was", self.sweep("--set", "measure.probe=on", "-o", "unknown").stderr)


class One(Case):
    def test_end_says_where_the_time_went(self):
        def sweep(directory):
            done = subprocess.run([PARADNN, "sweep", "small.yaml", "-o", directory, "--ceilings", "roofs.csv"], cwd=self.directory,
                                  env={**environment(), "PARADNN_NO_CACHE": "", "XDG_CACHE_HOME": self.path("kept-by-sweep")},
                                  capture_output=True, text=True, timeout=300, check=True)
            wall, share, parts = re.search(r"^([\d.]+) s, (\d+) % in timed steps: (.*)$", done.stderr, re.M).groups()
            seconds = [float(part) for part in re.findall(r"[a-z][a-z -]* ([\d.]+) s", parts)]
            self.assertEqual(len(seconds), 8)
            self.assertAlmostEqual(sum(seconds), float(wall), delta=0.46)  # each is rounded to a tenth
            self.assertLessEqual(abs(int(share) * float(wall) / 100 - sum(seconds[:2])), 0.2 + 0.01 * float(wall))
            return [int(count) for count in re.search(r"; choices: (\d+) measured, (\d+) from earlier", done.stderr, re.M).groups()]

        measured, recalled = sweep("first")
        self.assertGreater(measured, 0)
        self.assertEqual(recalled, 0)
        measured, recalled = sweep("second")
        self.assertEqual(measured, 0)
        self.assertGreater(recalled, 0)

    ID = "fc/layers=2,nodes=64,input=20,output=10,batch=16,threads=1"

    def test_choices_are_kept_unless_told_not_to(self):
        def run(command, *options, **variables):
            done = subprocess.run([PARADNN, *command, self.ID, *options], cwd=self.directory, env={**environment(), **variables},
                                  capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("cache", done.stderr)
            kept = self.path("kept", "paradnn")
            return {name: self.read("kept", "paradnn", name) for name in os.listdir(kept)} if os.path.exists(kept) else {}

        command, keep = ["run", "--ceilings", "roofs.csv", "--rounds", "2"], {"PARADNN_NO_CACHE": "", "XDG_CACHE_HOME": self.path("kept")}
        self.assertEqual(run(command, "--no-cache", **keep), {})
        self.assertEqual(run(command, **{**keep, "PARADNN_NO_CACHE": "1"}), {})
        first = run(command, **keep)
        self.assertEqual(len(first), 1)
        self.assertGreater(len(list(first.values())[0].splitlines()), 2)
        self.assertEqual(run(command, **keep), first)
        self.assertEqual(run(["sweep", "-o", "one", "--ceilings", "roofs.csv"], **keep), first)
        self.assertEqual(run(command, "--set", "measure.max_time=60ms", "--no-cache", **keep), first)
        for name in first:
            self.write(os.path.join("kept", "paradnn", name), "nothing\n")
        self.assertEqual(run(command, **keep).keys(), first.keys())
        self.write("file", "")
        run(command, PARADNN_NO_CACHE="", XDG_CACHE_HOME=self.path("file"))
        run(command, PARADNN_NO_CACHE="", XDG_CACHE_HOME="", HOME="")

    # A tenth of a GFLOP/s and GB/s, so that every op is far above its roof.
    LOW = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,0.1,0.1,0.1,5
bandwidth,read,,DRAM,1,0,0.1,0.1,0.1,5
"""

    def test_rows_above_their_roof_are_named(self):
        self.write("low.csv", self.LOW)
        self.write("high.csv", self.LOW.replace("0.1", "1e9"))
        short = ["--set", "measure.max_time=50ms", "--set", "measure.probe=off", "--set", "measure.rounds=1"]

        def columns(text, title):
            """The cells of the column at whose title the table's right-aligned cells end; the residual has none."""
            lines = text.split("\n\n")[1].splitlines()
            end = lines[0].index(title) + len(title)
            return [line[:end].split("  ")[-1].strip() if len(line) >= end else "" for line in lines[1:] if not line.startswith("residual")]

        def run(roofs, *options):
            return self.paradnn("run", self.ID, "--ceilings", roofs, *short, *options, expect=0).stdout

        text = run("low.csv")
        self.assertRegex(text, r"\n  roof     above its roof, at [\d.e+]+ times the 0\.1 GFLOP/s attainable there, bound by \w+.*: "
                               r"a count or a roof is wrong\n  flags    .*above_roof")
        self.assertRegex(text, r"\n  above    \w+ [\w-]+ of \w+ and \d+ more: [\d.]+ % of the step in ops above their roofs; "
                               r"what they lose is unknown\n")
        self.assertNotIn("  saving  ", text)
        self.assertEqual(set(columns(text, "% of roof")), {"above"})
        text = run("high.csv")
        self.assertRegex(text, r"\n  roof     0 % of the 1000000000\.0 GFLOP/s attainable there")
        self.assertRegex(text, r"\n  saving   .* would save [\d.]+ % of the step at its roof; it runs at 0 % of it")
        self.assertNotIn("above", text)
        self.assertEqual(set(columns(text, "% of roof")), {"0"})
        self.assertEqual(columns(run("low.csv", "--vary", "batch=4,8"), "% of roof"), ["above", "above"])
        self.paradnn("sweep", self.ID, "-o", "low", "--ceilings", "low.csv", *short, expect=0)
        text = self.paradnn("breakdown", "low", expect=0).stdout
        self.assertEqual((set(columns(text, "% of roof")), set(columns(text, "would save at roof, % of step"))), ({"above"}, {""}))
        self.assertEqual(set(columns(self.paradnn("breakdown", "low", "--gemms", expect=0).stdout, "% of roof")), {"above"})

    def test_roofs_are_kept_unless_told_not_to(self):
        keep = {**environment(), "PARADNN_NO_CACHE": "", "XDG_CACHE_HOME": self.path("kept-roofs")}

        def run(*arguments, variables=keep):
            done = subprocess.run([PARADNN, *arguments], cwd=self.directory, env=variables, capture_output=True, text=True, timeout=300,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            kept = self.path("kept-roofs", "paradnn")
            names = [name for name in os.listdir(kept) if name.startswith("roofs-")] if os.path.exists(kept) else []
            said = [line for line in done.stderr.splitlines() if line.startswith("roofs for")]
            return said, "".join(self.read("kept-roofs", "paradnn", name) for name in names)

        ceilings = ["ceilings", "--threads", "1", "--seconds"]
        self.assertEqual(run(*ceilings, "0.1", "--no-cache"), ([], ""))
        self.assertEqual(run(*ceilings, "0.1", variables={**keep, "PARADNN_NO_CACHE": "1"}), ([], ""))
        said, kept = run(*ceilings, "0.1")
        self.assertEqual((said, len(kept.splitlines())), ([], 2))
        again = ["sweep", self.ID, "--set", "measure.max_time=50ms", "--set", "measure.rounds=1", "-o"]
        said, kept = run(*again, "first")
        self.assertEqual(said, ["roofs for 1 thread: measured, since those kept are more than a day old or were measured in less time"])
        self.assertEqual(len(kept.splitlines()), 3)
        self.assertEqual({row["checked_utc"] for row in self.rows("first", "ceilings.csv")}, {""})
        said, kept = run(*again, "second")
        self.assertEqual(len(said), 1)
        is_kept = re.fullmatch(r"roofs for 1 thread: those of [^,]*Z, confirmed by probes within \d+ %", said[0]) is not None
        if not is_kept:
            self.assertRegex(said[0], r"^roofs for 1 thread: measured, since the probes differ by \d+ % from .*, more than 15 %$")
        self.assertEqual(len(kept.splitlines()), 3 if is_kept else 4)
        rows = self.rows("second", "ceilings.csv")
        self.assertEqual({row["checked_utc"] != "" for row in rows}, {is_kept})
        self.assertEqual(rows[0]["measured_utc"] == self.rows("first", "ceilings.csv")[0]["measured_utc"], is_kept)

    def test_run_for_people(self):
        done = self.paradnn("run", self.ID, "--ceilings", "roofs.csv", "--rounds", "2", "--set", "measure.max_time=50ms",
                            expect=0)
        self.assertRegex(done.stdout, r"\Afc/layers=2,nodes=64,")
        # Two visits of one instance are too few for an interval.
        self.assertRegex(done.stdout, r"per step(, 95 % interval .* \([3-8]| \(2) visits, \d+ samples\)")
        for word in ("dense", "bwd-weights", "softmax_cross_entropy", "rmsprop", "implementation", "16x20:64x20:16x64", "where ", "saving "):
            self.assertIn(word, done.stdout)

    def test_run_csv_is_ops_csv(self):
        done = self.paradnn("run", self.ID, "--ceilings", "roofs.csv", "--rounds", "1", "--format", "csv", expect=0)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        names = [row["column"] for row in csv.DictReader(
            self.paradnn("columns", "ops", "--format", "csv", expect=0).stdout.splitlines()) if row["table"] == "ops"]
        self.assertEqual(list(rows[0]), names)
        self.assertGreater(sum(float(row["time_ns_median"]) for row in rows), 0)

    VARY = ["--ceilings", "roofs.csv", "--rounds", "2", "--set", "measure.max_time=50ms"]
    RNN = "rnn/cell=gru,embedding=16,vocabulary=20,batch=4,threads=1"

    def test_run_vary_shares_one_block(self):
        done = self.paradnn("run", self.RNN, "--vary", "length={from: 3, to: 9, plus: 3}", *self.VARY, expect=0)
        self.assertRegex(done.stdout, r"\Arnn/cell=gru,.*length=9,")
        self.assertRegex(done.stdout, r"\n  shared +\S+ KiB of weights and state\n  memory +one block of \S+ KiB; ")
        self.assertIn("\n  programs 3 prepared, 3 kept, at most 64\n", done.stdout)
        table = done.stdout.splitlines()[6:]
        self.assertRegex(table[0], r"\Alength +time +95 % from +to +examples/s +GFLOP/s +% of roof +prepare +status\Z")
        self.assertEqual([(row.split()[0], row.split()[-1]) for row in table[1:]], [("3", "ok"), ("6", "ok"), ("9", "ok")])

    def test_run_vary_csv_is_results_csv(self):
        for model, vary in ((self.RNN, "batch=1,8"), (self.ID + ",mode=infer,fuse=post-ops", "batch=32,1"),
                            ("gnmt/hidden=8,layers=2,vocabulary=20,batch=2,backend=openblas,threads=1", "source=3,7")):
            with self.subTest(model):
                done = self.paradnn("run", model, "--vary", vary, *self.VARY, "--format", "csv", expect=0)
                key, values = vary.split("=")
                rows = list(csv.DictReader(done.stdout.splitlines()))
                self.assertEqual([row[key] for row in rows], values.split(","))
                self.assertEqual({row["status"] for row in rows}, {"ok"})
                self.assertTrue(all(int(row["rounds"]) >= 2 and int(row["prepare_ns"]) > 0 for row in rows))
                self.assertIn("  programs 2 prepared, 2 kept, at most 64\n", done.stderr)

    def test_run_vary_says_which_value_does_not_fit(self):
        done = self.paradnn("run", self.RNN, "--vary", "length=9,90000", *self.VARY, "--set", "limits.memory=10MiB", expect=0)
        self.assertRegex(done.stdout, r"\n +9 .* ok\n +90000 .*oom_predicted: needs ")

    def test_run_what_cannot_be(self):
        done = self.paradnn("run", "fc/layers=1,nodes=8,threads=4096", "--ceilings", "roofs.csv", expect=1)
        self.assertRegex(done.stdout, r"status +invalid: 4096 threads")

    def test_run_interrupted_says_what_it_has(self):
        long = ["--rounds", "1000", "--set", "measure.max_time=60s", "--set", "measure.order=cost"]
        child = subprocess.Popen([PARADNN, "run", self.ID, self.ID.replace("64", "65"), "--ceilings", "roofs.csv", *long],
                                 cwd=self.directory, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        stdout, stderr = child.communicate(timeout=60)
        self.assertEqual((child.returncode, stderr.splitlines()[-1]), (130, "paradnn: interrupted"))
        self.assertRegex(stdout, r"per step")

    def test_run_fails_as_a_sweep_does(self):
        limit = ["--ceilings", "roofs.csv", "--rounds", "1", "--set", "limits.memory=1MiB"]
        big = "fc/layers=2,nodes=4096,threads=1"
        self.assertIn("oom_predicted", self.paradnn("run", self.ID, big, *limit, expect=0).stdout)
        self.assertIn("oom_predicted", self.paradnn("run", big, *limit, expect=1).stdout)

    def test_check_passes(self):
        for backend in ("onednn", "openblas"):
            with self.subTest(backend):
                done = self.paradnn("check", self.ID, "--backend", backend, expect=0)
                self.assertRegex(done.stdout, r"\APASS  fc/.*,threads=1\n" if backend == "onednn" else rf"\APASS  fc/.*,backend={backend},threads=1\n")
                self.assertEqual(done.stderr, "1 passed, 0 failed, 0 skipped\n")

    def test_check_passes_where_terms_cancel(self):
        speech = "deepspeech2/hidden=8,layers=1,frames=41,characters=5,labels=2,batch=2"
        translation = "gnmt/hidden=8,layers=2,vocabulary=20,source=4,target=5,batch=3"
        for model, backend in ((speech, "onednn"), (translation, "onednn"), (translation, "openblas")):
            with self.subTest(model, backend=backend):
                self.paradnn("check", f"{model},backend={backend},mode=train", expect=0)
                self.paradnn("check", f"{model},backend={backend},mode=infer", expect=0)

    def test_check_of_16_bit(self):
        models = ("fc/layers=2,nodes=24,input=20,output=10,batch=8", "cnn/block=residual,image=32,batch=2,filters=4",
                  "rnn/cell=lstm,embedding=16,length=4,vocabulary=20,batch=4",
                  "rnn/cell=gru,embedding=16,length=4,vocabulary=20,batch=4,bidirectional=yes",
                  "deepspeech2/hidden=8,layers=1,frames=41,characters=5,labels=2,batch=2",
                  "gnmt/hidden=8,layers=2,vocabulary=20,source=4,target=5,batch=3",
                  "transformer/layers=1,hidden=32,heads=4,ffn=48,length=8,batch=2,vocabulary=50",
                  "transformer/layers=1,hidden=32,heads=4,ffn=48,length=8,batch=2,vocabulary=50,fuse=blocks")
        for dtype in ("bf16", "f16"):
            for mode in ("infer", "train"):
                ids = [f"{model},dtype={dtype},mode={mode},backend={backend}" for model in models
                       for backend in ("onednn", "reference")]
                with self.subTest(dtype, mode=mode):
                    done = self.paradnn("check", *ids, "--allow-slow")
                    self.assertEqual(done.stderr, f"{len(ids)} passed, 0 failed, 0 skipped\n", done.stdout)

    def test_slow_rows_say_so_and_are_not_mixed(self):
        half = ("models: [fc: {layers: 1, nodes: 16, input: 8, output: 4, batch: 4}]\n"
                "run: {mode: infer, dtype: bf16, backend: openblas, threads: 1}\n"
                "measure: {rounds: 2, max_time: 10ms, min_samples: 3, probe: off}\nsweep: half\n")
        self.write("half.yaml", half)

        def row_after(*options):
            self.paradnn("sweep", "half.yaml", "--ceilings", "roofs.csv", *options)
            return self.rows("half.results", "results.csv")[0]

        row = row_after()
        self.assertEqual(row["status"], "unsupported")
        self.assertEqual(row["reason"], "openblas: bf16 has no fast path on sgemm: dense forward")
        row = row_after("--allow-slow")
        self.assertEqual(row["status"], "ok")
        self.assertIn("slow", row["row_flags"].split("|"))
        self.assertEqual(row_after("--set", "measure.rounds=20"), row)

    def test_check_csv(self):
        done = self.paradnn("check", self.ID, "--format", "csv", expect=0)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual({row["status"] for row in rows}, {"pass"})
        self.assertTrue(all(float(row["error"]) <= float(row["tolerance"]) for row in rows))

    def test_check_says_what_it_skips_and_that_nothing_was_compared(self):
        done = self.paradnn("check", self.ID, "--max-flop", "1000", expect=1)
        self.assertRegex(done.stdout, r"\ASKIP  fc/.*: .* FLOP, more than --max-flop 1e\+03\n\Z")
        self.assertEqual(done.stderr, "0 passed, 0 failed, 1 skipped\n")

    def test_ceilings_of_equal_threads_are_measured_once(self):
        done = self.paradnn("ceilings", "-t", "1", "-t", "1", "--seconds", "0.5", "--format", "csv", expect=0)
        kinds = [(row["kind"], row["pattern"], row["dtype"], row["level"], row["capacity_bytes"])
                 for row in csv.DictReader(done.stdout.splitlines())]
        self.assertEqual(len(kinds), len(set(kinds)))

    def test_ceilings_file_is_one_that_a_sweep_takes(self):
        done = self.paradnn("ceilings", "--threads", "1", "--seconds", "0.5", "-o", "mine.csv", "--format", "csv", expect=0)
        self.assertEqual(done.stdout, self.read("mine.csv"))
        self.assertTrue({"compute", "bandwidth"} <= {row["kind"] for row in self.rows("mine.csv")})
        self.paradnn("sweep", "small.yaml", "--ceilings", "mine.csv", "--set", "run.mode=infer", expect=0)
        self.assertEqual(self.rows("small.results", "ceilings.csv"), self.rows("mine.csv"))

    def test_breakdown(self):
        self.sweep()
        done = self.paradnn("breakdown", "small.results", "--format", "csv", expect=0)
        self.assertEqual(done.stderr, "8 instances; left out 4 that did not end ok\n")
        rows = list(csv.DictReader(done.stdout.splitlines()))
        steps = {row["id"]: row for row in self.rows("small.results", "results.csv") if row["status"] == "ok"}
        self.assertEqual(list(dict.fromkeys(row["id"] for row in rows)), list(steps))
        for name, step in steps.items():
            own = [row for row in rows if row["id"] == name]
            self.assertEqual(own[-1]["category"], "residual")
            self.assertAlmostEqual(sum(float(row["share_pct"]) for row in own), 100, places=2)
            self.assertAlmostEqual(float(own[-1]["share_pct"]), float(step["residual_pct"]), places=2)
            self.assertEqual("optimizer" in {row["category"] for row in own}, step["run_mode"] == "train")
        for_people = self.paradnn("breakdown", "small.results", expect=0).stdout
        self.assertEqual(for_people.count("residual"), len(steps))
        self.assertEqual(for_people.count(" of the step at its roof; it runs at "), len(steps))

    def test_breakdown_of_what_is_no_result_directory(self):
        done = self.paradnn("breakdown", ".", expect=2)
        self.assertRegex(done.stderr, r"\Aparadnn: \./results\.csv: ")

    def test_plot_breakdown(self):
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        done = self.paradnn("plot", "breakdown", "bert.results", "--across", "batch", "--format", "svg", expect=0)
        self.assertEqual((done.stdout, done.stderr), ("bert.results/breakdown.svg\n", "2 bars\n"))
        picture = self.read("bert.results", "breakdown.svg")
        for text in ("scale+mask+softmax+dropout", "other", "residual", "10.0 us", "~33.0 us", "batch", "8.0"):
            self.assertTrue(f"<text>{text}</text>" in picture, text)

    def test_plot(self):
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        self.sweep()
        done = self.paradnn("plot", "roofline", "small.results", "--color", "mode", "--format", "svg", expect=0)
        self.assertEqual(done.stderr, "8 points, 4 rows without a rate left out\n")
        self.assertTrue(re.search("<svg", self.read(done.stdout.strip())))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(name for name in sys.argv[3:] if name != "--update")], verbosity=1)
