#!/usr/bin/env python3
"""What models consist of, their times composed of measured operators, and the library of these: resumed, reused, merged, and killed at
random calls that change files, 3 times; 100 times by hand:
compose_test.py build/cli/paradnn build/tests/moved_clock.so build/tests/kill_at.so 100

Usage: compose_test.py PARADNN MOVED_CLOCK.so KILL_AT.so [KILLS]"""

import collections
import csv
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from files import ROOFS, rows as read_rows, write
from processes import Clock, preload, stop, wait_until

PARADNN, MOVED_CLOCK, KILL_AT = (os.path.abspath(path) for path in sys.argv[1:4])
KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 3
# The reference backend chooses nothing by measuring, so a model consists of the same operators every time.
SPEC = """\
sweep: small
run: {mode: [infer, train], backend: reference, threads: 1}
measure: {rounds: 2, precision: 90%%, min_samples: 3, max_time: 1ms, probe: off}
models:
  - fc: {layers: [2, 4], nodes: [8, 40], input: 40, output: 4, batch: %s}
"""
SIZES = """\
sweep: sizes
run: {mode: infer, backend: reference, threads: 1}
measure: {rounds: 2, precision: 90%, min_samples: 3, max_time: 1ms, probe: off}
models:
  - fc: {layers: 2, nodes: 40, input: 40, output: 40, batch: {from: 128, to: 8192, times: 2}}
"""
MANY = """\
sweep: many
run: {mode: [infer, train], backend: reference, threads: 1}
measure: {rounds: 1, precision: 90%, min_samples: 3, max_time: 1ms, probe: off}
models:
  - fc: {layers: [2, 3, 4, 5, 6], nodes: [44, 48, 52], input: 120, output: 4, batch: 4}
"""
ENVIRONMENT = {**os.environ, "PARADNN_NO_CACHE": "1", "OMP_WAIT_POLICY": "passive"}


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.roofs = os.path.join(self.directory, "roofs.csv")
        write(f"{ROOFS}bandwidth,read,,L2,1,{1 << 20},90,80,95,5\n", self.roofs)

    def run_paradnn(self, *arguments, code=0, variables=()):
        done = subprocess.run([PARADNN, *arguments], cwd=self.directory, env={**ENVIRONMENT, **dict(variables)}, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def rows_of(self, *ids):
        return list(csv.DictReader(io.StringIO(self.run_paradnn("ops", *ids, "--ceilings", self.roofs, "--format", "csv").stdout)))


class Ops(Case):
    def test_more_layers_are_more_runs_of_the_same_operators(self):
        """At 2 MiB a layer nothing survives in 1 MiB from one use of the weights to the next."""
        model = "fc/nodes=700,input=700,output=100,batch=8,mode=infer,backend=reference,threads=1,layers="
        rows = self.rows_of(model + "6", model + "12")
        self.assertTrue(all(row["models"] == "2" for row in rows), rows)
        runs = {name: sum(int(row["runs"]) for row in rows if f" {name}/forward/" in row["operator"]) for name in ("dense", "bias", "relu")}
        self.assertEqual(runs, {"dense": 20, "bias": 20, "relu": 18})

    def test_models_that_cannot_run_are_said(self):
        done = self.run_paradnn("ops", "fc/layers=1,nodes=8,input=8,output=4,batch=2,backend=openblas,dtype=bf16,threads=1", "--ceilings",
                                self.roofs, code=1)
        self.assertIn("1 unsupported, such as: ", done.stderr)
        self.assertIn("0 models, 0 operators", done.stderr)


class Compose(Case):
    """A last cache of 48 KiB, into which models with 8 nodes fit: they run."""

    def setUp(self):
        super().setUp()
        write(f"{ROOFS}bandwidth,read,,L2,1,{48 << 10},90,80,95,5\n", self.roofs)
        self.write_spec("small.yaml", 4)

    def write_spec(self, name, batch):
        write(SPEC % batch, self.directory, name)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def compose(self, *arguments, code=0, variables=()):
        return self.run_paradnn("compose", *arguments, "--ceilings", self.roofs, code=code, variables=variables)

    def made_up_library(self, name, change):
        """The library of `a` with other rows: what `change` makes of each, given its dictionary."""
        rows = self.table("a", "operators.csv")
        os.mkdir(self.path(name))
        with open(self.path(name, "operators.csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows({**row, **change(row)} for row in rows)

    def table(self, *names):
        return read_rows(self.directory, *names)

    def check_library(self, *names, rounds=2):
        """Every operator has as many times as there are rounds."""
        rows = self.table(*names)
        self.assertTrue(rows)
        self.assertTrue(all(row["status"] == "ok" for row in rows))
        times = collections.Counter((row["context"], row["operator"]) for row in rows)
        self.assertEqual(set(times.values()), {rounds}, times)
        return times

    def test_rows_are_sums_of_operators(self):
        self.compose("small.yaml", "-o", "a")
        rows, ops = self.table("a", "results.csv"), self.table("a", "ops.csv")
        self.assertEqual(len(rows), 8)
        self.assertEqual({row["status"] for row in rows}, {"ok"})
        for row in rows:
            self.assertEqual(row["method"], "direct" if int(row["plan_bytes"]) <= 48 << 10 else "composed", row)
        self.assertEqual({row["method"] for row in rows}, {"direct", "composed"})
        library = collections.defaultdict(list)
        for row in self.table("a", "operators.csv"):
            library[row["operator"]].append(float(row["time_ns_median"]))
        for row in rows:
            if row["method"] == "direct":
                continue
            self.assertEqual(row["rounds"], "2")
            self.assertIn("composed", row["row_flags"].split("|"))
            if row["ci_low_ns"]:  # two rounds have an interval if the rows' scatters are alike
                self.assertTrue(float(row["ci_low_ns"]) <= float(row["time_ns_median"]) <= float(row["ci_high_ns"]))
            found = self.rows_of(row["id"])
            composed = sum(int(one["runs"]) * sum(library[one["operator"]]) / 2 for one in found)
            self.assertAlmostEqual(float(row["time_ns_median"]) / composed, 1, 4)
            parts = sum(float(op["time_ns_median"]) for op in ops if op["id"] == row["id"])
            self.assertAlmostEqual(parts / composed, 1, 4)
        self.check_library("a", "operators.csv")

    def test_rows_have_what_implementations_move(self):
        """Recurrent weights (256, 64), which are packed and then read in each of five steps."""
        model = "rnn/cell=lstm,layers=1,embedding=64,hidden=64,vocabulary=20,batch=1,length=5,mode=infer,backend=openblas,threads=1"
        self.compose(model, "-o", "a", "--set", "measure.rounds=1", "--set", "measure.max_time=1ms")
        self.assertEqual([row["method"] for row in self.table("a", "results.csv")], ["composed"])
        extra = [(op["extra_read_bytes"], op["extra_written_bytes"]) for op in self.table("a", "ops.csv") if op["op"] == "rnn"]
        self.assertEqual(extra, [(str(5 * 256 * 64 * 4), str(256 * 64 * 4))])

    def test_a_library_is_measured_once(self):
        done = self.compose("small.yaml", "-o", "a")
        self.assertNotIn(" 0 measurements", done.stderr)
        before = self.table("a", "results.csv")
        self.assertIn("\n0 measurements", self.compose("small.yaml", "-o", "a").stderr)
        self.assertEqual(self.table("a", "results.csv"), before)
        self.assertIn("\n0 measurements", self.compose("small.yaml", "-o", "b", "--operators", "a").stderr)
        self.assertFalse(os.path.exists(self.path("b", "operators.csv")))
        times = [[row["time_ns_median"] for row in rows if row["method"] == "composed"] for rows in (before, self.table("b", "results.csv"))]
        self.assertEqual(*times)
        listed = self.run_paradnn("ops", "--operators", "a", "--format", "csv").stdout
        self.assertEqual(list(csv.DictReader(io.StringIO(listed))), self.table("a", "operators.csv"))
        self.run_paradnn("ops", "--operators", "b", code=2)

    def test_validation_runs_what_it_composed(self):
        done = self.run_paradnn("compose", "small.yaml", "-o", "a", "--ceilings", self.roofs, "--validate", "2", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(len(rows), 2)
        methods = {row["id"]: row for row in self.table("a", "results.csv")}
        for row in rows:
            self.assertEqual(methods[row["id"]]["method"], "direct")
            self.assertNotIn("composed", methods[row["id"]]["row_flags"])
            self.assertAlmostEqual(float(row["composed_ns"]) / float(row["direct_ns"]) - 1, float(row["error_pct"]) / 100, 3)
        drawn = list(csv.DictReader(io.StringIO(self.run_paradnn("plot", "composed", "a", "--format", "csv").stdout)))
        drawn = {row["id"]: 100 * float(row["ratio"]) - 100 for row in drawn}
        self.assertEqual(set(drawn), {row["id"] for row in rows})
        for row in rows:
            self.assertAlmostEqual(drawn[row["id"]], float(row["error_pct"]), delta=0.1)
        shutil.copytree(self.path("a"), self.path("copy"))
        both = list(csv.DictReader(io.StringIO(self.run_paradnn("plot", "composed", "a", "copy", "--format", "csv").stdout)))
        self.assertEqual(sorted((row["results"], row["id"]) for row in both), sorted((name, i) for name in ("a", "copy") for i in drawn))
        again = self.run_paradnn("compose", "small.yaml", "-o", "a", "--ceilings", self.roofs, "--validate", "2", "--format", "csv")
        self.assertEqual(again.stdout, done.stdout)
        # Two are no sample: neither their median nor a share of them is told.
        self.assertNotIn("(median)", self.compose("small.yaml", "-o", "a", "--validate", "2").stdout)
        self.assertNotIn("median error", self.run_paradnn("plot", "composed", "a", "--format", "svg", "-o", "/dev/stdout").stdout)

    def test_models_that_run_give_the_others_intervals(self):
        """30 models, of which nine run for that: just enough to have any, for all strata together."""
        write(MANY, self.directory, "many.yaml")
        done = self.run_paradnn("compose", "many.yaml", "-o", "a", "--ceilings", self.roofs, "--calibrate", "9", "--validate", "3",
                                "--format", "csv")
        self.assertIn("\nintervals from 9 models\n", done.stderr)
        rows = self.table("a", "results.csv")
        self.assertEqual(collections.Counter(row["method"] for row in rows), {"direct": 12, "composed": 18})
        reaches = set()
        ops, first = self.table("a", "ops.csv"), {row["id"]: float(row["time_ns_median"]) for row in self.table("a", "journal.csv")[:30]}
        for row in rows:
            if row["method"] == "direct":
                continue
            self.assertIn("settled", row["row_flags"].split("|"))
            low, time_ns, high = (float(row[name]) for name in ("ci_low_ns", "time_ns_median", "ci_high_ns"))
            self.assertTrue(low < time_ns < high)
            self.assertAlmostEqual(low / time_ns - 1, 1 - high / time_ns, 4)
            reaches.add(high / time_ns)
            self.assertAlmostEqual(sum(float(op["time_ns_median"]) for op in ops if op["id"] == row["id"]) / time_ns, 1, 3)
            self.assertTrue(0.4 < time_ns / first[row["id"]] < 2.1)
        self.assertLess(max(reaches) - min(reaches), 2e-4)
        validated = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(len(validated), 3)
        for row in validated:
            self.assertAlmostEqual(float(row["high_ns"]) / float(row["composed_ns"]), max(reaches), 3)
        journal = self.table("a", "journal.csv")
        self.assertIn("(median)", self.compose("many.yaml", "-o", "a", "--calibrate", "9", "--validate", "3").stdout)
        self.assertIn("median error", self.run_paradnn("plot", "composed", "a", "--format", "svg", "-o", "/dev/stdout").stdout)
        shutil.copytree(self.path("a"), self.path("copy"))
        picture = self.run_paradnn("plot", "composed", "a", "copy", "--format", "svg", "-o", "/dev/stdout").stdout
        for title in ("a", "copy"):
            self.assertEqual(picture.count(f">Composed over measured times in {title}<"), 1)
        self.assertEqual(picture.count("; median error, median |error|, share within 10 %: all"), 2)
        self.assertEqual(self.table("a", "journal.csv"), journal)

    def test_what_was_to_calibrate_and_did_not_run_is_like_the_others(self):
        """The budget is spent while one of the first models runs, and operators are in the library."""
        write(MANY, self.directory, "many.yaml")
        self.compose("many.yaml", "-o", "a")
        clock, said = Clock(MOVED_CLOCK, self.path("clock")), ""
        command = [PARADNN, "compose", "many.yaml", "-o", "b", "--operators", "a", "--calibrate", "20", "--budget", "1000h", "--ceilings", self.roofs,
                   "--set", "measure.max_time=1h", "--set", "measure.min_samples=500", "--set", "limits.time=10h"]
        with subprocess.Popen(command, cwd=self.directory, env={**ENVIRONMENT, **clock.variables}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            while not re.search(r"[1-9]\d* of 20 visits", said):
                line = process.stderr.readline()
                self.assertTrue(line, said)
                said += line
                if "of 20 visits" in line:  # the worker is there
                    clock.each_look_takes(60)  # every visit is seen: a line of progress is written once a minute at most
            clock.move(2000 * 3600)
            said += process.stderr.read()
        self.assertEqual(process.returncode, 0, said)
        rows = [row for row in self.table("b", "results.csv") if row["method"] == "composed"]
        self.assertGreater(len(rows), 10)
        self.assertEqual([row["id"] for row in rows if "settled" not in row["row_flags"].split("|")], [])

    def test_a_sweep_runs_what_was_composed(self):
        self.compose("small.yaml", "-o", "a")
        composed = [row["method"] for row in self.table("a", "results.csv")].count("composed")
        sweep = ["sweep", "small.yaml", "-o", "a", "--ceilings", self.roofs]
        self.assertGreater(composed, 0)
        self.assertIn(f"{composed} of the done instances only have composed times, and run now\n", self.run_paradnn(*sweep).stderr)
        self.assertNotIn("composed times", self.run_paradnn(*sweep).stderr)
        self.assertEqual({row["method"] for row in self.table("a", "results.csv")}, {"direct"})

    def test_an_operator_that_fails_leaves_its_models_unpredicted(self):
        self.compose("small.yaml", "-o", "a")
        bad = next(row for row in self.table("a", "operators.csv") if " softmax_cross_entropy/backward-data/" in row["operator"])
        self.made_up_library("bad", lambda row: {"status": "crash", "reason": "killed by SIGSEGV"} if row["operator"] == bad["operator"] else {})
        self.compose("small.yaml", "-o", "b", "--operators", "bad", code=0)
        rows = self.table("b", "results.csv")
        failed = [row for row in rows if row["status"] == "unpredicted"]
        self.assertTrue(failed)
        for row in failed:
            self.assertRegex(row["reason"], r"^crash of softmax_cross_entropy/backward-data/.*: killed by SIGSEGV, and not predicted: fewer than 2 measured neighbours of ")
            self.assertEqual(row["time_ns_median"], "")
        self.assertEqual({row["status"] for row in rows}, {"ok", "unpredicted"})
        self.assertIn("\n0 measurements", self.compose("small.yaml", "-o", "b", "--operators", "bad", code=0).stderr)
        self.compose("small.yaml", "-o", "b", "--operators", "bad", "--retry", code=0)
        self.assertEqual({row["status"] for row in self.table("b", "results.csv")}, {"ok"})

    def test_dry_run_writes_nothing(self):
        for option in (("--operators", "a"), ("--retry",), ("--validate", "2"), ("--calibrate", "2")):
            self.assertIn(f"--dry-run and {option[0]} cannot be combined", self.compose("small.yaml", "--dry-run", *option, code=2).stderr)
        done = self.compose("small.yaml", "--budget", "1h", "--dry-run")
        self.assertRegex(done.stdout, r"^8 instances: .* 6 are small enough to run; 2 to compose of \d+ operators")
        self.assertRegex(done.stdout, r"\nin 60 min: 6 run, 2 composed, 0 predicted with 0 interpolated operators; 0 left; takes ")
        self.assertEqual(sorted(os.listdir(self.directory)), ["roofs.csv", "small.yaml"])
        rows = list(csv.DictReader(io.StringIO(self.compose("small.yaml", "--dry-run", "--format", "csv").stdout)))
        self.assertTrue(all(row["operators"] == row["measured"] for row in rows), rows)

    def test_progress_says_what_a_dry_run_says(self):
        """Before anything is compiled, what is left is all of it."""
        for name, sets in (("whole", ()), ("rounds", ("--set", "measure.rounds=4")), ("budget", ("--budget", "10h"))):
            taken = re.search(r"; takes (.*)\n", self.compose("small.yaml", "--dry-run", *sets).stdout)[1]
            said = self.compose("small.yaml", "-o", name, *sets).stderr
            self.assertEqual(re.findall(r"0 of 8 models compiled, (.*) left\n", said), [taken], said)
            self.assertNotIn(" 0 ms", taken)

    def test_a_budget_is_kept_and_the_rest_follows(self):
        """What the second run finds measured, it does not measure again."""
        clock, library = Clock(MOVED_CLOCK, self.path("clock")), self.path("a", "operators.csv")
        command = [PARADNN, "compose", "small.yaml", "-o", "a", "--ceilings", self.roofs, "--budget", "10h", "--set", "measure.rounds=10"]
        with subprocess.Popen(command, cwd=self.directory, env={**ENVIRONMENT, **clock.variables}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as process:
            wait_until(lambda: (os.path.exists(library) and len(self.table("a", "operators.csv")) > 2) or process.poll() is not None)
            self.assertTrue(stop(process.pid))
            kept = self.table("a", "operators.csv")
            clock.move(20 * 3600)
            process.send_signal(signal.SIGCONT)
            said = process.stderr.read().decode()
        # Whether the few operators are all of some model depends on the order.
        self.assertEqual(process.returncode, int("ok" not in {row["status"] for row in self.table("a", "results.csv")}), said)
        self.assertIn("; the time is up", said)
        self.assertEqual({row["reason"] for row in self.table("a", "results.csv") if row["status"] == "interrupted"},
                         {"the budget was spent before its first visit"})
        self.assertLessEqual({row["status"] for row in self.table("a", "results.csv")}, {"ok", "interrupted"})
        at_end = len(self.table("a", "operators.csv"))
        self.compose("small.yaml", "-o", "a", "--set", "measure.rounds=10")
        self.assertEqual({row["status"] for row in self.table("a", "results.csv")}, {"ok"})
        self.assertEqual(self.table("a", "operators.csv")[:len(kept)], kept)
        self.assertLess(at_end, len(self.table("a", "operators.csv")) / 2)
        self.check_library("a", "operators.csv", rounds=10)

    def test_what_cannot_be_measured_is_predicted_from_its_neighbours(self):
        """The operators of one size fail; those of smaller and larger ones do not."""
        write(SIZES, self.directory, "sizes.yaml")
        self.compose("sizes.yaml", "-o", "a")
        # Made-up times, in proportion to the batch.
        times = lambda row: {f"time_ns_{name}": 1e3 * int(row["operator"].split("/")[2].split("x")[0]) for name in ("median", "min")}  # noqa: E731
        fails = lambda row: {"status": "timeout", "reason": "after 1 s"} if " dense/forward/2048x" in row["operator"] else times(row)  # noqa: E731
        self.made_up_library("good", times)
        self.made_up_library("bad", fails)
        self.compose("sizes.yaml", "-o", "c", "--operators", "good")
        expected = {row["id"]: float(row["time_ns_median"]) for row in self.table("c", "results.csv")}
        self.compose("sizes.yaml", "-o", "b", "--operators", "bad")
        rows = {row["id"]: row for row in self.table("b", "results.csv")}
        predicted = [row for row in rows.values() if row["method"] == "predicted"]
        self.assertTrue(predicted)
        for row in predicted:
            self.assertEqual((row["status"], row["batch"]), ("ok", "2048"))
            self.assertIn("predicted", row["row_flags"].split("|"))
            self.assertLess(float(row["ci_low_ns"]), float(row["time_ns_median"]))
            self.assertGreater(float(row["ci_high_ns"]), float(row["time_ns_median"]))
            self.assertAlmostEqual(float(row["time_ns_median"]) / expected[row["id"]], 1, 2)
        self.assertEqual({row["method"] for row in rows.values() if row["batch"] != "2048"}, {"composed"})
        self.assertIn("\n0 measurements", self.compose("sizes.yaml", "-o", "b", "--operators", "bad").stderr)
        self.assertEqual({row["id"]: row for row in self.table("b", "results.csv")}, rows)
        self.compose("sizes.yaml", "-o", "b", "--operators", "good")
        self.assertEqual({row["method"] for row in self.table("b", "results.csv")}, {"composed"})

    def test_samples_stay_when_there_are_more_models(self):
        """Of the models of a part, those that validate the whole validate the part as well."""
        write(MANY, self.directory, "many.yaml")
        ids = []
        for layers in ("[2, 3]", "[2, 3, 4, 5, 6]"):
            done = self.compose("many.yaml", "--set", f"models.0.fc.layers={layers}", "-o", f"a{len(ids)}", "--validate", "8", "--format", "csv")
            ids.append({row["id"] for row in csv.DictReader(io.StringIO(done.stdout))})
            self.assertEqual(len(ids[-1]), 8)
        part = {row["id"] for row in self.table("a0", "results.csv")}
        self.assertTrue(part & ids[1])
        self.assertLessEqual(part & ids[1], ids[0])

    def test_samples_of_a_budget_stay(self):
        """What ran for the models that a first run knew is what validates a second one with more."""
        write(MANY, self.directory, "many.yaml")
        ran = []
        for layers in ("[2, 3]", "[2, 3, 4, 5, 6]"):
            self.compose("many.yaml", "--set", f"models.0.fc.layers={layers}", "-o", "a", "--budget", "1h", "--validate", "2")
            ran.append({row["id"] for row in self.table("a", "results.csv") if row["method"] == "direct"})
        self.assertEqual(len(ran[0]), 2)
        self.assertEqual(ran[1], ran[0])

    def test_what_is_unpredicted_is_predicted_once_there_are_neighbours(self):
        """All sizes of an operator fail, then one only."""
        write(SIZES, self.directory, "sizes.yaml")
        self.compose("sizes.yaml", "-o", "a")
        for name, failing in (("all", " dense/forward/"), ("one", " dense/forward/2048x")):
            self.made_up_library(name, lambda row, of=failing: {"status": "timeout", "reason": "after 1 s"} if of in row["operator"] else {})
        self.compose("sizes.yaml", "-o", "b", "--operators", "all", code=1)
        self.assertEqual({row["status"] for row in self.table("b", "results.csv") if row["method"] != "direct"}, {"unpredicted"})
        journal = self.table("b", "journal.csv")
        self.compose("sizes.yaml", "-o", "b", "--operators", "all", code=1)
        self.assertEqual(self.table("b", "journal.csv"), journal)
        self.compose("sizes.yaml", "-o", "b", "--operators", "one")
        rows = self.table("b", "results.csv")
        self.assertEqual({row["status"] for row in rows}, {"ok"})
        self.assertEqual({row["batch"] for row in rows if row["method"] == "predicted"}, {"2048"})

    def test_merge_joins_libraries(self):
        self.compose("small.yaml", "-o", "a", "--set", "measure.rounds=1")
        shutil.copytree(self.path("a"), self.path("copy"))
        self.compose("small.yaml", "-o", "b", "--set", "measure.rounds=1")
        self.run_paradnn("merge", "a", "copy", "b", "-o", "all")
        rows = [sorted(tuple(row.values()) for row in self.table(name, "operators.csv")) for name in ("a", "b", "all")]
        self.assertEqual(sorted(rows[0] + rows[1]), rows[2])
        self.assertIn("\n0 measurements", self.compose("small.yaml", "-o", "c", "--operators", "all", "--set", "measure.rounds=2").stderr)

    def test_shards_are_parts_of_the_whole(self):
        for shard in ("0/2", "1/2"):
            self.compose("small.yaml", "--shard", shard, "--set", "measure.rounds=1")
        self.run_paradnn("merge", "small.0-of-2.composed", "small.1-of-2.composed", "-o", "all")
        parts = [{row["id"] for row in self.table(f"small.{i}-of-2.composed", "results.csv")} for i in range(2)]
        rows = self.table("all", "results.csv")
        self.assertFalse(parts[0] & parts[1])
        self.assertEqual({row["id"] for row in rows}, parts[0] | parts[1])
        self.assertEqual({row["status"] for row in rows}, {"ok"})
        self.assertEqual({row["method"] for row in rows}, {"direct", "composed"})
        self.assertIn("\n0 measurements", self.compose("small.yaml", "-o", "all", "--set", "measure.rounds=1").stderr)

    def test_kills_lose_and_double_nothing(self):
        """Whatever was in the library stays in it, and in the end each operator has been measured once per round."""
        random.seed(1)
        command = [PARADNN, "compose", "small.yaml", "-o", "a", "--ceilings", self.roofs, "--set", "measure.rounds=7"]
        self.compose("small.yaml", "-o", "whole", "--set", "measure.rounds=7")
        most_calls, before = 6 * len(self.table("whole", "operators.csv")) // min(KILLS, 10), []
        for _ in range(KILLS):
            done = subprocess.run(command, cwd=self.directory, capture_output=True,
                                  env={**ENVIRONMENT, **preload(KILL_AT), "KILL_AT": str(random.randint(1, most_calls))})
            self.assertIn(done.returncode, (0, -signal.SIGKILL), done.stderr)
            rows = []
            if os.path.exists(self.path("a", "operators.csv")):
                with open(self.path("a", "operators.csv"), encoding="utf-8") as file:
                    rows = file.read().split("\n")[:-1]
            self.assertEqual(rows[:len(before)], before)
            before = rows
        self.compose("small.yaml", "-o", "a", "--set", "measure.rounds=7")
        self.assertEqual(sorted(self.check_library("a", "operators.csv", rounds=7)),
                         sorted(self.check_library("whole", "operators.csv", rounds=7)))
        for row in self.table("a", "results.csv"):
            self.assertEqual(row["status"], "ok", row)
            self.assertGreaterEqual(int(row["rounds"]), 7)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
