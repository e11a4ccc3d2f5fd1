"""What the tests of the program from outside share: a directory of their own in which it runs, without the variables that it speaks of, and
roofs that nobody had to measure. The first argument of each test is the program."""

import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position,unused-import

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "session"))
from processes import Clock, journal_lines, stop, worker_of  # pylint: disable=wrong-import-position,unused-import

PARADNN = os.path.abspath(sys.argv[1])

# Which no machine reaches, so that every op is below its roof.
CEILINGS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,1e7,0.9e7,1.1e7,5
bandwidth,read,,L1,1,32768,1.3e7,1.2e7,1.4e7,5
bandwidth,read,,DRAM,1,0,1.8e6,1.7e6,1.9e6,5
overhead,op,,,1,0,1e-3,0.9e-3,1.1e-3,5
"""
ROOFS = ["--ceilings", "roofs.csv"]

SMALL = """\
sweep: small
run: {mode: [infer, train], threads: 1}
measure: {rounds: 2, max_time: 1ms, min_samples: 3, probe: off}
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
measure: {rounds: 1, max_time: 1ms, min_samples: 3, probe: off}
models:
  - cnn: {block: [residual, plain], blocks: [[1, 2, 1, 1], 1], kernel: [3, 5-3], filters: 4, image: [16, 8], output: 3, batch: 1}
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
    ops = ("id,op_index,layer,op,category,op_pass,op_shape,executions,flop_count,in_bounds_flop_count,byte_count,time_ns_median,"
           "pct_of_roof\n")
    for k, batch, step in ((8, 4, 10000), (9, 16, 33000)):
        name = f'"transformer/layers=2,hidden=8,length=16,batch={batch},mode=train,dtype=f32"'
        results += f"{name},transformer,2,8,16,{batch},train,f32,ok,1000,{step},{int(batch == 16)}\n"
        for i, row in enumerate(BERT_OPS):
            layer, op, category, phase, shape, count, flop, traffic = row[:8]
            ops += f'{name},{i},{layer},{op},{category},{phase},"{shape}",{count},{flop},{flop},{traffic},{row[k]},{row[10]}\n'
    return results, ops


# Of a sweep of which nothing is asserted that was measured.
SHORT = ["--set", "measure.rounds=1", "--set", "measure.max_time=1ms", "--set", "measure.min_samples=3", "--set", "measure.probe=off",
         "--set", "limits.time=10h"]
# Of one that does not end before the test ends it: many thousands of visits.
LONG = ["--set", "measure.rounds=10000", "--set", "measure.max_time=20s", "--set", "measure.precision=0.0001%",
        "--set", "measure.probe=off", "--set", "limits.time=10h"]


def environment(**variables):
    """Our environment without what would change the program's output: variables, other sweeps on these cores, choices made earlier."""
    kept = {name: value for name, value in needs.quiet().items() if name != "NO_COLOR"}
    return {**kept, "LC_ALL": "C", "PARADNN_PRESENCE_DIR": "no-presence", "PARADNN_NO_CACHE": "1", **variables}


def default_signals():
    """In the child: as from a terminal, whatever started the test."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXCPU, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def table(text):
    """The rows of CSV."""
    return list(csv.DictReader(text.splitlines()))


class Case(unittest.TestCase):
    FILES = {"small.yaml": SMALL, "roofs.csv": CEILINGS}

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        for name, text in self.FILES.items():
            self.write(name, text)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()

    def rows(self, *names):
        return table(self.read(*names))

    def expect_golden(self, path, text):
        """The text is that of the committed file, which --update writes."""
        if "--update" in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(text, file.read())

    def popen(self, *arguments, **options):
        child = subprocess.Popen([PARADNN, *arguments], **{"cwd": self.directory, "stdin": subprocess.DEVNULL,
                                                           "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                                                           "env": environment(), "preexec_fn": default_signals, **options})
        self.addCleanup(self.end, child)
        return child

    @staticmethod
    def end(child):
        if child.poll() is None:
            child.kill()
        child.wait()
        for stream in (child.stdout, child.stderr):
            if stream:
                stream.close()

    def paradnn(self, *arguments, expect=None, **options):
        child = self.popen(*arguments, **options)
        stdout, stderr = child.communicate()
        if expect is not None:
            self.assertEqual(child.returncode, expect, (arguments, stderr))
        return subprocess.CompletedProcess(child.args, child.returncode, stdout, stderr)

    def sweep(self, *arguments, expect=0, **options):
        return self.paradnn("sweep", "small.yaml", *ROOFS, *arguments, expect=expect, **options)

    def ids(self):
        return [row["id"] for row in table(self.paradnn("list", "small.yaml", "--format", "csv", expect=0).stdout)]

    def wait_for(self, condition, child):
        """What the condition gives once that is true, which it must be before the child ends."""
        while not (found := condition()):
            self.assertIsNone(child.poll(), "has ended early")
            time.sleep(0.01)
        return found

    def read_until(self, is_wanted, child):
        """Lines of the child's stderr up to the first that is wanted."""
        lines = []
        while not lines or not is_wanted(lines[-1]):
            lines.append(child.stderr.readline())
            self.assertTrue(lines[-1], "has ended early")
        return lines

    def stop_worker(self, child):
        """As by ^Z, and waits until it is."""
        worker = self.wait_for(lambda: worker_of(child.pid), child)
        self.assertTrue(stop(worker))
        return worker


class Swept(Case):
    """With small.results as a sweep leaves it, which is made once."""
    @classmethod
    def setUpClass(cls):
        made = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, made)
        cls.swept = os.path.join(made, "small.results")
        for name, text in cls.FILES.items():
            with open(os.path.join(made, name), "w", encoding="utf-8") as file:
                file.write(text)
        cls.done = subprocess.run([PARADNN, "sweep", "small.yaml", *ROOFS], cwd=made, env=environment(), capture_output=True, text=True,
                                  check=True)

    def setUp(self):
        super().setUp()
        shutil.copytree(self.swept, self.path("small.results"))


def main(own):
    """Runs the tests that are named after the test's own arguments, or all."""
    unittest.main(argv=[sys.argv[0], *(name for name in sys.argv[1 + own:] if name != "--update")], verbosity=1)
