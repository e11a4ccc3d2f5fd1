#!/usr/bin/env python3
"""`paradnn compare` on made-up tables: what it joins, and every number of it computed once more from the same tables.

Usage: compare_test.py PARADNN"""

import csv
import io
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import make_journal  # noqa: E402

PARADNN = sys.argv.pop(1)
HEADER = ["id", "family", "mode", "status", "time_ns_median", "ci_low_ns", "ci_high_ns"]
OP_HEADER = ["id", "op", "category", "op_pass", "layer", "executions", "time_ns_median", "pct_of_roof"]


def close(a, b, tolerance=2e-5):
    """Equal as far as six written digits say."""
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def t_quantile(degrees, tails=0.05):
    """Two-sided quantile of Student's t, by bisection of an integral (Simpson's rule over the angle, where t = sqrt(degrees) tan)."""
    def tail(t):
        low, high, n = math.atan(t / math.sqrt(degrees)), math.pi / 2, 2000
        step = (high - low) / n
        values = [math.cos(low + i * step) ** (degrees - 1) for i in range(n + 1)]
        area = step / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))
        scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)
        return 2 * area * scale
    low, high = 0.0, 1e3
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > tails else (low, middle)
    return low


def f_tail(f, above, below):
    """Probability that F is above f: the incomplete beta function at below / (below + above f), integrated over the angle."""
    def area(angle, n=4000):
        values = [math.sin(i * angle / n) ** (below - 1) * math.cos(i * angle / n) ** (above - 1) for i in range(n + 1)]
        return angle / n / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))
    return area(math.asin(math.sqrt(below / (below + above * f)))) / area(math.pi / 2)


def mean(values):
    return sum(values) / len(values)


def squares(values):
    return sum((value - mean(values)) ** 2 for value in values)


class Tables(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def table(self, name, file, header, rows):
        directory = os.path.join(self.place.name, name)
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, file), "w", newline="", encoding="utf-8") as out:
            csv.writer(out, lineterminator="\n").writerows([header] + rows)
        return directory

    def results(self, name, rows, header=None):
        return self.table(name, "results.csv", header or HEADER, rows)

    def compare(self, *arguments, status=0):
        done = subprocess.run([PARADNN, "compare", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.compare(*arguments, "--format", "csv"))))


class Compare(Tables):
    def test_joins_by_id(self):
        a = self.results("a", [["net/1", "net", "infer", "ok", 4000, 3900, 4100], ["net/2", "net", "infer", "ok", 1000, 900, 1100],
                               ["net/3", "net", "train", "ok", 1000, "", ""], ["net/4", "net", "train", "unsupported", "", "", ""]])
        b = self.results("b", [["net/2", "net", "infer", "ok", 1000, 900, 1100], ["net/1", "net", "infer", "ok", 1000, 990, 1010],
                               ["net/5", "net", "train", "ok", 1000, "", ""], ["net/4", "net", "train", "ok", 5, "", ""]])
        rows = self.rows(a, b)
        self.assertEqual([(row["id"], row["ratio"], row["clear"], row["decision"], row["run_mode"]) for row in rows],
                         [("net/1", "4", "1", "faster", "infer"), ("net/2", "1", "0", "undecided", "infer")])
        self.assertEqual([(row["id"], row["a_status"], row["b_status"]) for row in self.rows(a, b, "--table", "unpaired")],
                         [("net/3", "ok", ""), ("net/4", "unsupported", "ok"), ("net/5", "", "ok")])
        text = self.compare(a, b)
        self.assertIn("The time of A over that of B is 2.00 (", text)
        self.assertIn("Not compared, because they did not end ok on both sides: 3\n", text)
        self.assertIn("ops.csv does not say", text)

    def three(self):
        """A, B and C; net/3 has no time in A, net/2 none in C, which has net/4 alone."""
        ops = ["id", "op", "category", "op_pass", "layer", "executions", "time_ns_median", "pct_of_roof"]
        places = []
        for name, times, cpu in (("a", (4000, 1000, ""), "one"), ("b", (1000, 500, 10), "two"), ("c", (8000, "", 20), "one")):
            rows = [[f"net/{i}", "net", "infer", "ok" if ns else "oom", ns, ns and ns * 0.99, ns and ns * 1.01] for i, ns in enumerate(times, 1)]
            rows += [["net/4", "net", "infer", "ok", 5, "", ""]] if name == "c" else []
            places.append(self.results(name, rows))
            self.table(name, "ops.csv", ops, [[f"net/{i}", "dense", "linear", "forward", "", 1, ns, ""] for i, ns in enumerate(times, 1) if ns])
            with open(os.path.join(self.place.name, name, "environment.yaml"), "w", encoding="utf-8") as file:
                file.write(f'kernel: "{name}"\ncpu: {cpu}\n')
        return places

    def test_the_first_beside_each_other(self):
        """Of three directories a column each, in every table; what a pair of two would say of each is there."""
        a, b, c = self.three()
        rows = self.rows(a, b, c)
        self.assertEqual([(row["id"], row["a_ns"], row["b_ns"], row["b_ratio"], row["c_ns"], row["c_ratio"]) for row in rows],
                         [("net/1", "4000", "1000", "4", "8000", "0.5"), ("net/2", "1000", "500", "2", "", "")])
        self.assertEqual([(row["b_decision"], row["c_decision"], row["run_mode"]) for row in rows],
                         [("faster", "slower", "infer"), ("faster", "", "infer")])
        for side, other in (("b", b), ("c", c)):
            for table in ("pairs", "groups", "axes", "ops"):
                alone, beside = self.rows(a, other, "--table", table), self.rows(a, b, c, "--table", table)
                for row in alone:
                    keys = {"pairs": ["a_id"], "ops": ["family", "op"]}.get(table, ["family", "key"] + ["value"] * (table == "groups"))
                    there = next(found for found in beside if all(found[key] == row[key] for key in keys))
                    for name, cell in row.items():
                        name = name if name in there and not name.startswith("b_") else f"{side}_{name.removeprefix('b_')}"
                        self.assertEqual(there[name], cell, (table, side, name))
        facts = {row["name"]: (row["a"], row["b"], row["c"]) for row in self.rows(a, b, c, "--table", "sides")}
        self.assertEqual(facts, {"kernel": ("a", "b", "c"), "cpu": ("one", "two", "one")})
        self.assertEqual([(row["id"], row["a_status"], row["b_status"], row["c_status"]) for row in self.rows(a, b, c, "--table", "unpaired")],
                         [("net/3", "oom", "ok", "ok"), ("net/2", "ok", "ok", "oom"), ("net/4", "", "", "ok")])

    def test_what_is_said_of_each_side(self):
        a, b, c = self.three()
        text = " ".join(self.compare(a, b, c).split())
        for said in (f"A: {a}", f"B: {b}", f"C: {c}", "B: The time of A over that of B is 2.83 (", "C: The time of A over that of C is 0.500",
                     "summed over 2 instances of A and B, 1 instance of A and C. The product of all effects of a side is its geometric mean",
                     "Not compared, because they did not end ok on all sides: 3"):
            self.assertIn(said, text)
        done = subprocess.run([PARADNN, "compare", a, b, c], capture_output=True, text=True)
        self.assertEqual(done.stderr, "B: 2 instances on both sides, 1 not compared\nC: 1 instance on both sides, 3 not compared\n")
        two = " ".join(self.compare(a, b).split())
        for of_several in ("B: The time", "of a side", "on all sides"):
            self.assertNotIn(of_several, two)
        self.assertIn("on both sides: 1", two)

    def test_sides_of_one_directory(self):
        """Of three values a column each; of each, what two would say."""
        name = "fc/layers={},nodes=8,input=8,output=8,batch=1,activation=relu,mode=infer,threads={}"
        header = ["id", "family", "layers", "threads", *HEADER[2:]]
        rows = [[name.format(layers, threads), "fc", layers, threads, "infer", "ok", ns, ns * 0.99, ns * 1.01]
                for layers in range(1, 5) for threads in (1, 2, 4) for ns in [1000 * layers / (1 + (threads - 1) * layers / 8)]]
        place = self.results("scaled", rows, header)
        beside = {table: self.rows(place, "--across", "threads=1:2:4", "--table", table) for table in ("pairs", "groups", "axes")}
        self.assertEqual([row["c_id"] for row in beside["pairs"]], [name.format(layers, 4) for layers in range(1, 5)])
        for side, value in (("b", 2), ("c", 4)):
            for table, keys in (("pairs", ["a_id"]), ("groups", ["key", "value"]), ("axes", ["key"])):
                for row in self.rows(place, "--across", f"threads=1:{value}", "--table", table):
                    there = next(found for found in beside[table] if all(found[key] == row[key] for key in keys))
                    for column, cell in row.items():
                        column = column if column in there and not column.startswith("b_") else f"{side}_{column.removeprefix('b_')}"
                        self.assertEqual(there[column], cell, (table, side, column))
        text = self.compare(place, "--across", "threads=1:2:4")
        for said in (f"A: threads=1 of {place}\n", f"B: threads=2 of {place}\n", f"C: threads=4 of {place}\n", "C: C is 1.89 times as fast as A ("):
            self.assertIn(said, text)
        self.assertNotIn("C: ", self.compare(place, "--across", "threads=1:2"))
        fits = subprocess.run([PARADNN, "fit", place, "--across", "threads=1:2:4", "--format", "csv"], capture_output=True, text=True, check=True)
        self.assertEqual({row["value"] for row in csv.DictReader(io.StringIO(fits.stdout))}, {"ratio to threads=2", "ratio to threads=4"})
        for across, said in (("threads=1:2:8", "no instance has threads=8, the values are 1, 2, 4"), ("threads=1:2:1", "both sides have threads=1"),
                             ("threads=1:2:4,layers=1:2", "--across has 3 values of threads and 2 of layers"), ("threads=1", "'threads=1' is not KEY or KEY=A:B"),
                             ("threads=1:", "no instance has threads=, the"), ("threads=1:2:", "no instance has threads=, the")):
            self.assertIn(said, self.compare(place, "--across", across, status=2))
        other = self.results("other", rows, header)
        self.assertIn("no instance has threads=2:4", self.compare(place, other, "--across", "threads=1:2:4", status=2))
        many = self.results("many", [[name.format(1, n), "fc", 1, n, "infer", "ok", 1000 / n, "", ""] for n in range(1, 66)], header)
        across = "threads=" + ":".join(str(n) for n in range(1, 66))
        self.assertEqual(self.compare(many, "--across", across, status=2), "paradnn: 65 sides are more than the 64 that a table has columns for\n")
        self.assertEqual(len(self.rows(many, "--across", across.removesuffix(":65"))), 1)

    def test_one_of_several_that_cannot_be_compared(self):
        a, b, _ = self.three()
        other = self.results("d", [["rnn/1", "rnn", "infer", "ok", 5, "", ""]])
        self.assertEqual(self.compare(a, b, other, status=2), f"paradnn: {other}: no instance is in both {a} and {other}\n")
        self.assertEqual(self.compare(a, other, status=2), f"paradnn: no instance is in both {a} and {other}\n")
        self.assertIn("named twice", self.compare(a, b, a, status=2))

    def test_a_preset_is_named(self):
        """Where an op ran in another implementation; a model of no preset has its id."""
        header = ["id", "op", "category", "op_pass", "layer", "executions", "time_ns_median", "pct_of_roof", "implementation"]
        for model, said in (("cnn:resnet50,batch=4,mode=infer,threads=2", "conv/forward of resnet50,batch=4,mode=infer,threads=2: one on side A, two"),
                            ("rnn/cell=lstm,layers=3,mode=infer,threads=2", "conv/forward of rnn/cell=lstm,layers=3,")):
            places = []
            for name, implementation in (("a", "one"), ("b", "two")):
                places.append(self.results(name, [[model, model[:3], "infer", "ok", 100, 99, 101]]))
                self.table(name, "ops.csv", header, [[model, "conv", "conv", "forward", "", 1, 90, "", implementation]])
            self.assertIn(said, " ".join(self.compare(*places).split()))

    def test_another_state_is_said(self):
        header = HEADER + ["threads", "host", "probe_gbs"]
        for host, said in (("one", True), ("other", False)):
            a = self.results("a", [[f"net/{i}", "net", "infer", "ok", 100, 99, 101, 2, "one", 20] for i in range(3)], header)
            b = self.results("b", [[f"net/{i}", "net", "infer", "ok", 90, 89, 91, 2, host, (18, 17, 24)[i]] for i in range(3)], header)
            text = " ".join(self.compare(a, b).split())
            self.assertEqual("2 of 3 found the machine in another state on either side (the rate of DRAM reads in 2)." in text, said)
            # What cannot be told comes before what it would be.
            self.assertEqual("cannot be told: 2 of 3" in text and text.index("cannot be told") < text.index("The time of A"), said)
            self.assertEqual([row["probe_ratio"] for row in self.rows(a, b)], ["1.11111", "1.17647", "0.833333"])

    def test_counters_split_the_ratio(self):
        header = HEADER + ["instructions", "ipc"]
        for counted in (True, False):
            more = [3000, 1.5] if counted else ["", ""]
            a = self.results("a", [["net/1", "net", "infer", "ok", 1000, "", "", *more], ["net/2", "net", "infer", "ok", 100, "", "", "", ""]], header)
            b = self.results("b", [["net/1", "net", "infer", "ok", 500, "", "", 1000, 2], ["net/2", "net", "infer", "ok", 300, "", "", 5, 1]], header)
            self.assertEqual([(row["instructions_factor"], row["cpi_factor"], row["cycle_rate_factor"]) for row in self.rows(a, b)],
                             [("3", "1.33333", "0.5") if counted else ("", "", ""), ("", "", "")])
            self.assertEqual("By hardware counters on both sides, in 1 of 2: a mean of 2.00 is made of" in self.compare(a, b), counted)
            self.assertEqual("hardware counters" in self.compare(a, b), counted)

    def test_what_differs_is_named(self):
        """Each by a little less than counts, and by a little more."""
        header = HEADER + ["threads", "host", "probe_gbs", "handoff_ns", "clock_ghz"]
        for values, named in (((20, 149, 4.19), None), ((20, 151, 4), "the threads' distance in 1"), ((20, 66, 4), "the threads' distance in 1"),
                              ((20, 100, 4.21), "the clock in 1"), ((23.1, 100, 4), "the rate of DRAM reads in 1"),
                              ((23.1, 400, 3), "the threads' distance in 1, the clock in 1, the rate of DRAM reads in 1"), ((20, "", ""), None)):
            a = self.results("a", [[f"net/{i}", "net", "infer", "ok", 100, 99, 101, 2, "one", 20, 100, 4] for i in range(3)], header)
            b = self.results("b", [[f"net/{i}", "net", "infer", "ok", 90, 89, 91, 2, "one", *(values if not i else (20, 100, 4))] for i in range(3)],
                             header)
            text = " ".join(self.compare(a, b).split())
            self.assertEqual(f"1 of 3 found the machine in another state on either side ({named}), so that" in text, named is not None, text)
            self.assertEqual("another state" in text, named is not None)

    def journal(self, directory, visits):
        """visits: by id, (median, handoff_ns) each."""
        columns = make_journal.JOURNAL.split(",")
        with open(os.path.join(directory, "journal.csv"), "w", encoding="utf-8") as file:
            file.write(make_journal.JOURNAL + "\n")
            for name, rows in visits.items():
                for number, (median, handoff) in enumerate(rows, 1):
                    row = dict.fromkeys(columns, "") | {
                        "schema": 4, "id": name, "visit": number, "status": "ok", "started_utc": make_journal.started(1000 * number), "samples": 5,
                        "steps_per_sample": 1, "warmups": 4, "time_ns_median": median, "handoff_ns": handoff, "stop_reason": "precision", "ops": 0}
                    file.write(",".join(str(row[name]) for name in columns) + "\n")

    def test_visits_of_one_state_are_compared(self):
        """Where the sides mix states, and both have three visits of one: the state's medians, and what the row has besides."""
        header = HEADER + ["threads", "host", "handoff_ns", "row_flags"]
        near, far = (100, 101, 99), (200, 201, 199)
        both = [(ns, 105) for ns in near] + [(ns, 400) for ns in far]
        for b_visits, state, ratio in (([(ns, 410) for ns in (100, 100.5, 99.5, 101)], "far", 200 / 100.25),   # B was far throughout, and faster
                                       ([(ns, 100) for ns in (50, 50.5, 49.5)] + [(400, 390)] * 2, "near", 2.0),
                                       ([(ns, 100) for ns in (50, 50.5)] + [(400, 390)] * 2, "", None),  # two of each
                                       ([(100, "")] * 4, "", None)):  # nothing is known of B
            a = self.results("a", [["net/0", "net", "infer", "ok", 150, 100, 200, 2, "one", 250, "moved"],
                                   ["net/1", "net", "infer", "ok", 80, 79, 81, 2, "one", 105, ""]], header)
            b_ns = sorted(ns for ns, _ in b_visits)
            b_median = (b_ns[len(b_ns) // 2] + b_ns[(len(b_ns) - 1) // 2]) / 2
            b = self.results("b", [["net/0", "net", "infer", "ok", b_median, 90, 110, 2, "one", 400, ""],
                                   ["net/1", "net", "infer", "ok", 80, 79, 81, 2, "one", 105, ""]], header)
            for directory, visits in ((a, both), (b, b_visits)):
                self.journal(directory, {"net/0": visits, "net/1": [(80, 105)] * 3})
            moved, quiet = self.rows(a, b)
            text = " ".join(self.compare(a, b).split())
            self.assertEqual((moved["state"], quiet["state"], quiet["ratio"]), (state, "", "1"))
            self.assertTrue(close(float(moved["ratio"]), ratio or 150 / b_median), (moved, ratio))
            self.assertEqual("1 of 2 ratios are of the visits in one state only" in text, bool(state), text)
            self.assertEqual("another state on either side" in text, not state, text)
            if state:  # the interval is that of the state's visits, not of the mixture
                self.assertGreater(float(moved["ratio_low"]), 1.5)
        os.remove(os.path.join(b, "journal.csv"))
        self.assertEqual([row["state"] for row in self.rows(a, b)], ["", ""])

    def test_unusable_times_are_said_first(self):
        header = HEADER + ["row_flags"]
        a = self.results("a", [[f"net/{i}", "net", "infer", "ok", 100, 99, 101, ""] for i in range(2)], header)
        for flags, said in (("noisy|unusable", True), ("noisy|unusable|preempted", True), ("noisy", False), ("noisy|preempted", False)):
            b = self.results("b", [[f"net/{i}", "net", "infer", "ok", 90, 50, 150 + 9 * i, ("", flags)[i]] for i in range(2)], header)
            text = self.compare(a, b)
            busy = ", the machine was busy in 1 of these" if "preempted" in flags else ""
            self.assertEqual(f"Unusable: 1 of 2{busy}." in text, said)
            if said:
                self.assertLess(text.index("Unusable"), text.index("The time of A"))

    def test_few_in_another_state(self):
        header = HEADER + ["threads", "host", "probe_gbs"]
        a = self.results("a", [[f"net/{i}", "net", "infer", "ok", 100, 99, 101, 2, "one", 20] for i in range(3)], header)
        b = self.results("b", [[f"net/{i}", "net", "infer", "ok", 90, 89, 91, 2, "one", (20, 20, 28)[i]] for i in range(3)], header)
        text = self.compare(a, b)
        self.assertIn("1 of 3 found the machine in another state", text)
        self.assertNotIn("cannot be told", text)

    def test_times_without_an_interval(self):
        """As in an import. One ratio with an interval is enough to say which are clear; without any, the ratios themselves are counted."""
        a = self.results("a", [[f"net/{i}", "net", "infer", "ok", 100, 99, 101] for i in range(5)])
        for ends, groups, said in (
                (("", ""), ("", "", "5", "3"), "B took less time in 3 (60 %), more in 1 (20 %); no ratio has an interval, so that no difference is clear."),
                ((49, 51), ("1", "0", "4", "3"), "The interval is above 1 in 1 (20 %), below 1 in 0 (0 %); 4 undecided, 4 of them without an interval.")):
            b = self.results("b", [["net/0", "net", "infer", "ok", 50, *ends],
                                   *([f"net/{i}", "net", "infer", "ok", ns, "", ""] for i, ns in ((1, 50), (2, 99), (3, 100), (4, 101)))])
            text = " ".join(self.compare(a, b).split())
            for other in ("no ratio has an interval", "undecided,", "clearly faster in", said):
                self.assertEqual(other in text, other in said, text)
            row = self.rows(a, b, "--table", "groups")[0]
            self.assertEqual((row["faster"], row["slower"], row["undecided"], row["above_1"]), groups)

    def test_runs_apart_have_no_verdict(self):
        """Two directories, or the rows of two hosts in one: the mean's interval lacks what shifts a whole run. Two settings of one run have one."""
        rows = [[f"net/nodes={i}{setting}", "net", backend, "ok", ns, ns - 1, ns + 1, host]
                for setting, backend, ns, host in (("", "onednn", 103, "one"), (",backend=openblas", "openblas", 100, "%s")) for i in range(4)]
        header = [{"mode": "backend"}.get(name, name) for name in HEADER] + ["host"]
        for host, apart in (("one", False), ("other", True)):
            both = [[cell % host if cell == "%s" else cell for cell in row] for row in rows]
            one = self.results("one", both, header)
            a, b = self.results("a", both[:4], header), self.results("b", both[4:], header)
            for sides, is_apart in (((one,), apart), ((a, b), True)):
                text = " ".join(self.compare(*sides).split())
                self.assertEqual("is 1.03 (1.02 to 1.04, without what shifts a whole run), the geometric mean over 4 instances." in text, is_apart, text)
                for verdict in ("times as fast", "clearly faster in 4"):
                    self.assertEqual(verdict in text, not is_apart, text)

    def test_no_shares_of_nearly_nothing(self):
        """Runs that are equal within 2 % of A have no shares of what B saves; those that differ by 2 % do."""
        for b_ns, shares in ((1000, ["", "", ""]), (981, ["", "", ""]), (1019, ["", "", ""]), (980, ["-1300", "1500", "-100"]),
                             (1020, ["1500", "-1500", "100"])):
            places = []
            for name, step, ops in (("a", 1000, (400, 500)), ("b", b_ns, (b_ns - 320, 200))):
                places.append(self.results(name, [["net/1", "net", "infer", "ok", step, "", ""]]))
                self.table(name, "ops.csv", OP_HEADER,
                           [["net/1", op, "any", "forward", "l1", 1, ns, ""] for op, ns in zip(("dense", "relu"), ops)])
            rows = {row["op"]: row for row in self.rows(*places, "--table", "ops") if row["family"] == ""}
            self.assertEqual([rows[op]["gain_pct"] for op in ("dense", "relu", "residual")], shares)

    def test_a_model_without_a_family_counts_once(self):
        models = [["net/1", "net"], ["other/1", "other"], ["alone/1", ""]]
        places = []
        for name, ns in (("a", 1000), ("b", 500)):
            places.append(self.results(name, [[*model, "infer", "ok", ns, "", ""] for model in models]))
            self.table(name, "ops.csv", OP_HEADER, [[model[0], "dense", "any", "forward", "l1", 1, ns, ""] for model in models])
        self.assertIn("summed over 3 instances", self.compare(*places))
        rows = [row for row in self.rows(*places, "--table", "ops") if row["op"] == "dense"]
        self.assertEqual([(row["family"], row["a_ns"]) for row in rows], [("", "3000"), ("net", "1000"), ("other", "1000")])

    def test_joins_ids_of_earlier_versions(self):
        full = "rnn/cell=lstm,layers=1,embedding=8,hidden=8,length=5,vocabulary=9,batch=2,bidirectional=no,output_at=every-step,dropout=0," \
               "ids=uniform,mode=train,dtype=f32,optimizer=rmsprop,backend=onednn,threads=2,cache=warm,fuse=none,rnn=auto,accumulate=1," \
               "checkpoint=none,isa=default"
        network = "cnn/block=residual,blocks=1,filters=2,image=32,output=4,batch=2,pool=global,activation=relu,mode=infer,dtype=f32," \
                  "backend=onednn,threads=2,cache=warm,fuse=none,algorithm=auto,isa=default"
        listed = subprocess.run([PARADNN, "list", "--format", "csv", full, network], capture_output=True, text=True, check=True).stdout
        today = [row["id"] for row in csv.DictReader(listed.splitlines())]
        a = self.results("a", [[name, "rnn", "x", "ok", 4000, "", ""] for name in (full, network)])
        b = self.results("b", [[name, "rnn", "x", "ok", 1000, "", ""] for name in today])
        rows = self.rows(a, b)
        self.assertEqual([(row["id"], row["clear"]) for row in rows], [(name, "") for name in today])

    def test_directories_are_their_own_names(self):
        """Whatever the key is called in which they differ."""
        a, b = (self.results(name, [["net/1", "net", "infer", "ok", time, time - 100, time + 100]]) for name, time in (("a", 4000), ("b", 2000)))
        plain = self.compare(a, b)
        self.assertRegex(plain, rf"\AA: {a}\nB: {b}\n")
        for across in ("host", "results", "results=a:b"):
            self.assertEqual(self.compare(a, b, "--across", across), plain)

    def test_refuses(self):
        a = self.results("a", [["net/1", "net", "infer", "ok", 4000, 3900, 4100]])
        b = self.results("b", [["net/2", "net", "infer", "ok", 4000, 3900, 4100]])
        c = self.results("c", [["net/1", "net", "infer", "crash", "", "", ""]])
        d = self.results("d", [["net/1", "net", "infer", "ok", 0, 0, 0]])
        e = self.table("e", "results.csv", ["id", "status"], [["net/1", "ok"]])
        for arguments, message in (((a, b), "no instance is in both"), ((a, a), "named twice"),
                                   ((a, c), "no instance ended ok on both sides"), ((a, d), "no instance ended ok on both sides"),
                                   ((a, e), "there is no column 'family'"), ((a, os.path.join(a, "b")), "No such file"),
                                   ((a,), "no two instances differ only in how they run"), ((a, b, "--across", "mod"), "'mode'?"),
                                   ((a, a + "/../d", "--by", "op", "--table", "pairs"), "--by is for the table ops, not for pairs"),
                                   ((a, d, "--only", "mode=train"), "no instance that ended ok has all the values"),
                                   ((a, b, "--only", "results=a"), f"{b}: no instance has all the values asked for\n"),
                                   ((a, b, "--only", "id=net/2"), f"{a}: no instance has all the values asked for\n"),
                                   ((a, b, "--across", "results=b:a"), "no instance has results=b, the values are a"),
                                   ((a, self.results("f", [])), "f: results.csv has no instance\n"),
                                   ((os.path.join(self.place.name, "f"), a), "f: results.csv has no instance\n"),
                                   ((a, self.results("g", [["net/1", "net", "infer", "ok", "4,4E+05", "", ""]])),
                                    "g/results.csv:2: time_ns_median: '4,4E+05' is not a number")):
            self.assertIn(message, self.compare(*arguments, status=1 if "ended ok on both" in message else 2))


class Gate(Tables):
    """compare --gate: its exit status and what it prints, and does not, on made-up sweeps in paired order."""

    FUSE = ("none", "post-ops", "blocks")

    def swept(self, name, models, order="paired_precision: 0.02\n"):
        """models: by side, its status, or by how much of the first side it is slower there, by how much visits are above and below that in
        turn, how many there are, if not by 0.2 % and 12, and how many of these, the first, ran other choices."""
        rows, visits = [], []
        for model, sides in models.items():
            for fuse, of in zip(self.FUSE, sides):
                key, is_ok = f"net/nodes={model}" + (f",fuse={fuse}" if fuse != "none" else ""), not isinstance(of, str)
                rows.append([key, "net", "infer", fuse, "ok" if is_ok else of, *((100, 90, 110) if is_ok else ("", "", ""))])
                share, noise, count, others = (*of, 0)[:4] if isinstance(of, tuple) else (of, 0.002, 12, 0)
                for k in range(count if is_ok else 1):
                    ns = 100 * (1 + share) * (1 + (noise if k % 2 else -noise) * (fuse != "none")) if is_ok else ""
                    visits.append((k, key, "ok" if is_ok else of, ns, "other_choices" if is_ok and k < others else ""))
        directory = self.results(name, rows, HEADER[:3] + ["fuse"] + HEADER[3:])
        columns = make_journal.JOURNAL.split(",")
        with open(os.path.join(directory, "journal.csv"), "w", encoding="utf-8") as file:
            file.write(make_journal.JOURNAL + "\n")
            for k, key, status, ns, flags in sorted(visits, key=lambda visit: visit[0]):
                row = dict.fromkeys(columns, "") | {"schema": 4, "id": f'"{key}"', "visit": k + 1, "status": status, "ops": 0, "row_flags": flags,
                                                    "started_utc": make_journal.started(100000 * k)}
                row |= {"samples": 5, "steps_per_sample": 1, "warmups": 4, "time_ns_median": ns, "stop_reason": "precision"} if ns else {}
                file.write(",".join(str(row[column]) for column in columns) + "\n")
        with open(os.path.join(directory, "environment.yaml"), "w", encoding="utf-8") as file:
            file.write(order)
        return directory

    def judge(self, directory, *options):
        """The exit status and the lines of stderr that are the gate's."""
        done = subprocess.run([PARADNN, "compare", directory, "--gate", "2%", *options], capture_output=True, text=True)
        return done.returncode, [line for line in done.stderr.splitlines() if line.startswith(("gate", "next:", "paradnn:"))]

    def test_gate(self):
        slow, same, noisy = 0.04, 0.0, (0.0, 0.06, 12)
        for name, models, status, said in (
                ("passes", {1: (0.0, same), 2: (0.0, -0.03)}, 0, ["gate 2 %: passed, 2 of 2 passed"]),
                ("fails", {1: (0.0, same), 2: (0.0, slow)}, 1,
                 [r"gate 2 %: broken, 1 of 2 passed; slower: net/nodes=2 \(\+3\.\d to \+4\.\d %\)"]),
                ("untold", {1: (0.0, same), 2: (0.0, noisy)}, 3,
                 [r"gate 2 %: could not be told, 1 of 2 passed; not told: net/nodes=2 \(-9\.\d to \+\d+\.\d %\)",
                  r"next:   paradnn sweep {0}/spec\.yaml --set measure\.rounds=24 -o {0}"]),
                ("both", {1: (0.0, slow), 2: (0.0, noisy)}, 1,  # what is broken stays so
                 [r"gate 2 %: broken, 0 of 2 passed; slower: net/nodes=1 \(.*\); not told: net/nodes=2 \(.*\)", "next: .*"]),
                ("one side", {1: (0.0, same), 2: (0.0, "crash"), 3: ("oom", 0.0)}, 3,
                 [r"gate 2 %: could not be told, 1 of 3 passed; not told: net/nodes=2 \(not ok in B\), net/nodes=3 \(not ok in A\)"]),
                ("few", {1: (0.0, same), 2: ((0.0, 0.002, 7), (slow, 0.002, 7))}, 3,
                 [r"gate 2 %: could not be told, 1 of 2 passed; not told: net/nodes=2 \(no pairs\)"]),
                ("apart", {1: (0.0, same), 2: (0.0, (slow, 0.002, 12, 5))}, 3,
                 [r"gate 2 %: could not be told, 1 of 2 passed; not told: net/nodes=2 \(other choices\)"]),
                ("all apart", {1: (0.0, (slow, 0.002, 12, 12))}, 3,
                 [r"gate 2 %: could not be told, 0 of 1 passed; not told: net/nodes=1 \(other choices\)"]),
                ("neither", {1: (0.0, same), 2: ("oom", "oom")}, 0, ["gate 2 %: passed, 1 of 1 passed; on neither side ok: 1"]),
                ("most", {1: (0.0, same), 2: ("oom", "oom"), 3: ("crash", "oom")}, 3,
                 ["gate 2 %: could not be told, 1 of 1 passed; on neither side ok: 2"]),
                ("nothing", {1: (0.0, "crash"), 2: ("oom", 0.0)}, 3,
                 [r"gate 2 %: could not be told, no instance ended ok on both sides, fuse=none and fuse=post-ops \(2 on one or none\)"]),
                ("unpaired", {1: ((0.0, 0.002, 7), (slow, 0.002, 7))}, 2,
                 [r"paradnn: --gate judges pairs of visits, and {0} has none: sweep with measure\.order=paired, at least 8 rounds"])):
            directory = self.swept(name, models)
            code, lines = self.judge(directory)
            self.assertEqual((code, len(lines)), (status, len(said)), (name, lines))
            for line, pattern in zip(lines, said):
                self.assertRegex(line, "^" + pattern.format(directory) + "$")
        self.assertEqual(self.judge(self.swept("shuffled", {1: (0.0, same)}, "order: another\n"))[0], 2)
        for gate in ("0%", "2", "-1%", "two"):
            self.assertIn("expected a percentage above 0", self.compare(directory, "--gate", gate, status=2))

    def test_other_choices(self):
        """Where too few pairs ran the same choices, no verdict, and a sentence before the ratio; else the others give one."""
        for others, decision, pairs in ((0, "slower", "12"), (4, "slower", "8"), (5, "undecided", "")):
            directory = self.swept(f"apart{others}", {1: (0.0, (0.04, 0.002, 12, others))})
            row, = self.rows(directory)
            self.assertEqual((row["decision"], row["pairs"], row["other_choices"], row["clear"]),
                             (decision, pairs, str(others), "1" if decision == "slower" else "0"))
            text = " ".join(self.compare(directory).split())
            said = "1 of 1 are undecided, since the sides ran other choices among implementations in their pairs of visits."
            self.assertEqual(said in text and text.index(said) < text.index("clearly"), decision == "undecided", text)
            self.assertEqual("other choices" in text, decision == "undecided")

    def test_gate_of_three_sides(self):
        """Each side with the first; models of C say so."""
        directory = self.swept("three", {1: (0.0, 0.0, 0.04), 2: (0.0, 0.04, 0.0)})
        code, lines = self.judge(directory, "--across", "fuse=none:post-ops:blocks")
        self.assertEqual((code, len(lines)), (1, 1), lines)
        self.assertRegex(lines[0], r"^gate 2 %: broken, 2 of 4 passed; slower: net/nodes=2 \([^)]*\), net/nodes=1 in C \([^)]*\)$")
        for side in ("post-ops", "blocks"):
            code, lines = self.judge(directory, "--across", f"fuse=none:{side}")
            self.assertNotIn(" in C", lines[0])

    def test_all_sides_share_the_one_per_cent(self):
        """What the first look at one model's two sides decides needs a later one where there are 39 models, and more so of three sides."""
        near, same = (0.011, 0.003, 8), (0.0, 0.002, 8)
        for name, models, decision in (("one", {1: (same, near)}, "slower"),
                                       ("many", {k: (same, near if k == 1 else same, same) for k in range(1, 40)}, "undecided")):
            directory = self.swept(name, models)
            rows = self.rows(directory, "--across", "fuse=none:post-ops")
            self.assertEqual([row["decision"] for row in rows if row["id"] == "net/nodes=1"], [decision])


class Sides(Tables):
    """What differs besides times, and what the roofs explain of the ratios."""

    ENVIRONMENT = {"written_utc": '"now"', "host": '"one" # identity', "cpu": '"AMD EPYC" # identity', "isa": '"avx2" # identity',
                   "cpu_generation": '"AuthenticAMD family 25 model 1"',
                   "kernel": '"Linux 6.1"', "openblas_coretype": '"" # identity', "library_variables": '""', "memory_bytes": "1000"}
    ROWS = [["net/1", "net", "infer", "ok", 4000, 3900, 4100], ["net/2", "net", "infer", "ok", 1000, 900, 1100]]
    MEASURED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "results", "examples", "zen3-2-cores")

    def environment(self, directory, **facts):
        with open(os.path.join(directory, "environment.yaml"), "w", encoding="utf-8") as file:
            file.write("# facts\n" + "".join(f"{key}: {value}\n" for key, value in (self.ENVIRONMENT | facts).items() if value is not None))

    def test_environments(self):
        a, b = self.results("a", self.ROWS), self.results("b", self.ROWS)
        self.assertEqual(self.rows(a, b, "--table", "sides"), [])  # nothing is known of either
        self.environment(a)
        cases = (({}, []), ({"written_utc": '"then"', "memory_bytes": "2000"}, []), ({"kernel": None}, []),  # not said is not another one
                 ({"kernel": '"Linux 6.2"'}, [("kernel", "Linux 6.1", "Linux 6.2")]),
                 ({"cpu_generation": '"AuthenticAMD family 26 model 2"'},
                  [("cpu_generation", "AuthenticAMD family 25 model 1", "AuthenticAMD family 26 model 2")]),
                 ({"openblas_coretype": '"Zen" # identity', "library_variables": '"OPENBLAS_CORETYPE=Zen"'}, [("openblas_coretype", "", "Zen")]),
                 # What was ignored is in the text of all variables only.
                 ({"library_variables": '"OPENBLAS_CORETYPE=Nonsense"'}, []),
                 # An earlier version says no more than that text.
                 ({"openblas_coretype": None, "library_variables": '"OPENBLAS_CORETYPE=Zen"'}, [("library_variables", "", "OPENBLAS_CORETYPE=Zen")]))
        for facts, expected in cases:
            self.environment(b, **facts)
            rows = self.rows(a, b, "--table", "sides")
            self.assertEqual([(row["name"], row["a"], row["b"]) for row in rows], expected, facts)
            text = self.compare(a, b)
            self.assertEqual("B over A" in text and text.index("B over A") < text.index("The time of A"), bool(expected), text)
            self.assertNotIn("From the roofs alone", text)

    def test_clock(self):
        header = HEADER + ["clock_ghz"]
        a = self.results("a", [[*row, 4] for row in self.ROWS], header)
        for ghz, expected in ((3.9, []), ("", []), (3, [("clock_ghz", "4", "3", "0.75")])):
            b = self.results("b", [[*row, ghz] for row in self.ROWS], header)
            self.assertEqual([(row["name"], row["a"], row["b"], row["ratio"]) for row in self.rows(a, b, "--table", "sides")], expected)

    def test_implementations_lead_where_nothing_else_differs(self):
        """Another instruction set has other implementations by definition."""
        header = OP_HEADER + ["implementation"]
        for other, leads in (({}, True), ({"isa": '"avx512" # identity'}, False), ({"cpu_generation": '"AuthenticAMD family 26 model 2"'}, False)):
            for name, facts, code in (("a", {}, "jit:avx2"), ("b", other, "gemm")):
                directory = self.results(name, self.ROWS)
                self.environment(directory, **facts)
                self.table(name, "ops.csv", header, [[row[0], "dense", "dense", "forward", "L1", 1, 900, "", code] for row in self.ROWS])
            text = self.compare(*(os.path.join(self.place.name, name) for name in "ab"))
            self.assertEqual(text.count("in different implementations"), 1)
            self.assertEqual(text.index("in different implementations") < text.index("The time of A"), leads, text)

    def scaled(self, name, roofs, times, threads=None):
        """A copy of a measured directory on a machine whose roofs are so many times as high, and whose times so many times as long."""
        directory = os.path.join(self.place.name, name)
        os.makedirs(directory, exist_ok=True)
        for file, columns, factor in (("ceilings.csv", ("value", "low", "high", "median_value"), roofs), ("ops.csv", ("time_ns_median",), times),
                                      ("results.csv", ("time_ns_median", "ci_low_ns", "ci_high_ns"), times)):
            with open(os.path.join(self.MEASURED, file), newline="", encoding="utf-8") as lines:
                table = list(csv.DictReader(lines))
            for row in table:
                is_cost = file == "ceilings.csv" and row["kind"] == "overhead"
                row.update({column: float(row[column]) * (1 / factor if is_cost else factor) for column in columns if row[column]})
                if threads and file != "ceilings.csv":
                    row["id"] = row["id"].replace("threads=2", f"threads={threads}")
                    row.update({"threads": threads} if "threads" in row else {})
            self.table(name, file, list(table[0]), [list(row.values()) for row in table])
        return directory

    def test_roofs(self):
        """Twice the roofs give twice the speed; what is faster than that is beyond them."""
        a = self.scaled("a", 1, 1)
        for roofs, times, beyond, sentence in ((2, 0.5, 1, "would be 2.00; it is 1.00 times that (geometric means over 30 instances"),
                                               (2, 0.25, 2, "would be 2.00; it is 2.00 times that"), (0.5, 1, 2, "would be 0.500; it is 2.00 times"),
                                               (1, 0.5, 2, None), (1.01, 0.5, None, None)):  # roofs that do not differ explain nothing
            b = self.scaled("b", roofs, times)
            rows = self.rows(a, b)
            for row in rows:
                self.assertTrue(beyond is None or close(float(row["beyond_roofs"]), beyond), row)
            text = " ".join(self.compare(a, b).split())
            self.assertEqual("From the roofs alone" in text, sentence is not None, text)
            self.assertIn(sentence or "The time of A", text)
            dram = [row for row in self.rows(a, b, "--table", "sides") if row["name"] == "DRAM (GB/s)"]
            self.assertTrue(close(float(dram[0]["ratio"]), roofs), dram)

    def test_roofs_are_those_of_the_threads(self):
        """What ran on one thread is projected onto the roofs of one; another type, or no roofs, is not projected."""
        a, b = self.scaled("a", 1, 1), self.scaled("b", 1, 1, threads=1)
        for row in self.rows(a, b, "--across", "threads"):  # equal times, about half the roofs
            self.assertTrue(1.5 < float(row["beyond_roofs"]) < 2.5, row["beyond_roofs"])
        os.remove(os.path.join(b, "ceilings.csv"))
        self.assertEqual({row["beyond_roofs"] for row in self.rows(a, b, "--across", "threads")}, {""})
        b = self.scaled("c", 2, 1)
        self.assertEqual({row["beyond_roofs"] for row in self.rows(a, b, "--across", "dtype")}, {""})
        self.assertNotIn("From the roofs alone", self.compare(a, b, "--across", "dtype"))


class Recomputed(Tables):
    """Two directories of 300 instances of two families, in different orders, with failures and what only one side has."""

    KEYS = ["layers", "nodes", "filters", "batch", "mode", "backend", "threads"]

    def setUp(self):
        super().setUp()
        chance = random.Random(16)
        plain = []
        for family, width in (("wide", "nodes"), ("deep", "filters")):
            for layers in (1, 2, 4, 8, 16):
                for size in (32, 64, 128, 256, 512):
                    for batch in (1, 8, 64):
                        for mode in ("infer", "train"):
                            plain.append({"family": family, "layers": layers, width: size, "batch": batch, "mode": mode, "threads": 2})
        sides, ops = ([], []), ([], [])
        for side, backend in enumerate(("onednn", "openblas")):
            for number, keys in enumerate(plain):
                status = chance.choices(["ok", "oom", None], [18, 1, 1])[0]
                if not status:
                    continue
                ns = 1e3 * keys["batch"] ** 0.8 * keys["layers"] * chance.lognormvariate(0, 0.3) * (1.3 if side and keys["batch"] > 1 else 1)
                half = chance.choice([0.02, 0.1, 0.3])
                pairs = ",".join(f"{key}={value}" for key, value in keys.items() if key != "family")
                name = f"{keys['family']}/{pairs}" + (",backend=openblas" if side else "")
                times = [round(ns, 3), round(ns * math.exp(-half), 3), round(ns * math.exp(half), 3)] if status == "ok" else ["", "", ""]
                if number % 50 == 7:
                    times[1:] = ["", ""]
                row = {**keys, "id": name, "backend": backend, "status": status, "reason": "" if status == "ok" else "too large"}
                sides[side].append([row.get(key, "") for key in ["id", "family"] + self.KEYS + ["status", "reason"]] + times)
                if status == "ok" and number % 11:
                    for op, part in (("dense", 0.5), ("relu", 0.1), ("dense", 0.2), ("softmax" if side else "tanh", 0.15)):
                        ops[side].append([name, op, "any", "forward", "l1", 1, round(ns * part * chance.uniform(0.7, 1.1), 3), ""])
        chance.shuffle(sides[1])
        header = ["id", "family"] + self.KEYS + ["status", "reason", "time_ns_median", "ci_low_ns", "ci_high_ns"]
        self.directories = [self.results(name, side, header) for name, side in zip("ab", sides)]
        for name, side in zip("ab", ops):
            self.table(name, "ops.csv", OP_HEADER, side)
        self.sides = [{row[0].replace(",backend=openblas", ""): dict(zip(header, row)) for row in side} for side in sides]
        self.ops = ops
        self.pairs = [(name, a, self.sides[1][name]) for name, a in self.sides[0].items()
                      if a["status"] == "ok" and self.sides[1].get(name, {}).get("status") == "ok"]

    @staticmethod
    def half(row):
        return math.log(row["ci_high_ns"] / row["ci_low_ns"]) / 2 if row["ci_low_ns"] else math.nan

    def log_and_half(self, a, b):
        return math.log(a["time_ns_median"] / b["time_ns_median"]), math.sqrt((self.half(a) ** 2 + self.half(b) ** 2) / 2)

    def test_pairs(self):
        rows = self.rows(*self.directories)
        self.assertGreater(len(rows), 200)
        self.assertEqual([row["id"] for row in rows], [name for name, _, _ in self.pairs])
        for row, (_, a, b) in zip(rows, self.pairs):
            log, half = self.log_and_half(a, b)
            self.assertTrue(close(float(row["ratio"]), math.exp(log)))
            self.assertEqual([row[key] for key in ("layers", "nodes", "run_mode")], [str(a[key]) for key in ("layers", "nodes", "mode")])
            self.assertEqual(row["a_id"], a["id"])
            self.assertEqual(row["b_id"], b["id"])
            self.assertNotIn("backend", row)
            if math.isnan(half):
                self.assertEqual((row["ratio_low"], row["ratio_high"], row["clear"], row["decision"]), ("", "", "", "undecided"))
                continue
            self.assertTrue(close(float(row["ratio_low"]), math.exp(log - half)) and close(float(row["ratio_high"]), math.exp(log + half)))
            self.assertEqual(row["decision"], "faster" if log > half else "slower" if log < -half else "undecided")
            self.assertEqual(row["clear"], str(int(abs(log) > half)))

    def test_unpaired(self):
        rows = self.rows(*self.directories, "--table", "unpaired")
        both = {name for name, _, _ in self.pairs}
        self.assertEqual({row["id"] for row in rows}, (self.sides[0].keys() | self.sides[1].keys()) - both)
        for row in rows:
            for letter, side in zip("ab", self.sides):
                self.assertEqual(row[letter + "_status"], side.get(row["id"], {"status": ""})["status"])

    def members(self, family, key=None, value=None):
        return [pair for pair in self.pairs if family in ("", pair[1]["family"]) and (not key or str(pair[1][key]) == value)]

    def test_groups(self):
        rows = self.rows(*self.directories, "--table", "groups")
        self.assertEqual([row["family"] for row in rows if not row["key"]], ["", "wide", "deep"])
        for row in rows:
            known = [self.log_and_half(a, b) for _, a, b in self.members(row["family"], row["key"], row["value"])]
            logs = [log for log, _ in known]
            n = len(logs)
            self.assertEqual(int(row["instances"]), n)
            self.assertTrue(close(float(row["geo_mean"]), math.exp(mean(logs))))
            measured = math.sqrt(sum(half ** 2 for _, half in known)) / n
            sampled = t_quantile(n - 1) * math.sqrt(squares(logs) / (n - 1) / n)
            half = max(sampled, measured) if not math.isnan(measured) else sampled
            self.assertTrue(close(float(row["geo_mean_low"]), math.exp(mean(logs) - half), 2e-4), row)
            self.assertTrue(close(float(row["geo_mean_high"]), math.exp(mean(logs) + half), 2e-4), row)
            self.assertTrue(close(float(row["least"]), math.exp(min(logs))) and close(float(row["greatest"]), math.exp(max(logs))))
            self.assertEqual(int(row["faster"]), sum(log > half for log, half in known))
            self.assertEqual(int(row["slower"]), sum(log < -half for log, half in known))
            self.assertEqual(int(row["faster"]) + int(row["slower"]) + int(row["undecided"]), n)
            self.assertEqual(int(row["above_1"]), sum(log > 0 for log in logs))

    def test_axes(self):
        rows = self.rows(*self.directories, "--table", "axes")
        self.assertEqual([row["key"] for row in rows if row["family"] == "wide"][0], "batch")
        self.assertEqual({row["key"] for row in rows if not row["family"]}, {"family", "layers", "nodes", "filters", "batch", "mode"})
        for row in rows:
            members = [pair for pair in self.members(row["family"]) if str(pair[1][row["key"]])]
            logs = {}
            for _, a, b in members:
                logs.setdefault(a[row["key"]], []).append(self.log_and_half(a, b)[0])
            n, k = len(members), len(logs)
            within, total = sum(squares(values) for values in logs.values()), squares(sum(logs.values(), []))
            self.assertEqual((int(row["instances"]), int(row["n_values"])), (n, k))
            self.assertEqual(row["complete"], str(int(n == len(self.members(row["family"])))))
            self.assertTrue(close(float(row["explained"]), 1 - within / total), row)
            self.assertTrue(close(float(row["adjusted"]), 1 - within / (n - k) / (total / (n - 1))), row)
            p_value = f_tail((total - within) / (k - 1) / (within / (n - k)), k - 1, n - k)
            self.assertTrue(math.isclose(float(row["p_value"]), p_value, rel_tol=1e-4), (row, p_value))

    def test_ops(self):
        rows = self.rows(*self.directories, "--table", "ops")
        for family in ("", "wide", "deep"):
            times = [{}, {}]
            effects, steps, n, mean_log = {}, [0, 0], 0, 0
            for _, a, b in self.members(family):
                both = [a["time_ns_median"], b["time_ns_median"]]
                parts = [[row for row in self.ops[side] if row[0] == (a, b)[side]["id"]] for side in (0, 1)]
                if not parts[0] or not parts[1]:
                    continue
                n += 1
                log = math.log(both[0] / both[1])
                mean_log += log
                logarithmic = (both[0] - both[1]) / log
                for side, sign in ((0, 1), (1, -1)):
                    steps[side] += both[side]
                    of_step = [(row[1], row[6]) for row in parts[side]]
                    of_step.append(("residual", both[side] - sum(ns for _, ns in of_step)))
                    for op, ns in of_step:
                        times[side][op] = times[side].get(op, 0) + ns
                        effects[op] = effects.get(op, 0) + sign * ns / logarithmic
            mine = {row["op"]: row for row in rows if row["family"] == family}
            self.assertEqual(set(mine), set(effects))
            product = 1
            for op, row in mine.items():
                a_ns, b_ns = (side.get(op, 0) for side in times)
                self.assertTrue(close(float(row["a_ns"]), a_ns) and close(float(row["b_ns"]), b_ns), row)
                self.assertTrue(close(float(row["a_share_pct"]), 100 * a_ns / steps[0]))
                self.assertTrue(close(float(row["gain_pct"]), 100 * (a_ns - b_ns) / (steps[0] - steps[1]), 1e-3), row)
                self.assertTrue(close(float(row["effect"]), math.exp(effects[op] / n)), row)
                product *= float(row["effect"])
            self.assertTrue(close(product, math.exp(mean_log / n), 1e-4))

    def test_text(self):
        text = self.compare(*self.directories)
        groups = self.rows(*self.directories, "--table", "groups")
        self.assertIn(f"The time of A over that of B is {float(groups[0]['geo_mean']):#.3g} (", text)
        self.assertIn("wide: batch explains the ratios best", text)
        for table in ("pairs", "groups", "axes", "ops", "unpaired"):
            lines = self.compare(*self.directories, "--table", table).splitlines()
            self.assertEqual(len(lines), 1 + len(self.rows(*self.directories, "--table", table)))

    def test_one_directory(self):
        """The same rows in one table, in which both sides are."""
        header = ["id", "family"] + self.KEYS + ["status", "reason", "time_ns_median", "ci_low_ns", "ci_high_ns"]
        together = [[row[key] for key in header] for side in self.sides for row in side.values()]
        random.Random(1).shuffle(together)
        directory = self.results("together", together, header)
        self.table("together", "ops.csv", OP_HEADER, self.ops[0] + self.ops[1])
        first = next(row[header.index("backend")] for row in together)
        self.assertEqual(len(self.rows(directory)), len(self.pairs))
        across = [] if first == "onednn" else ["--across", "backend=onednn:openblas"]
        for table in ("pairs", "unpaired", "groups", "axes", "ops"):
            two, one = (self.rows(*arguments, "--table", table) for arguments in (self.directories, [directory, *across]))
            order = lambda rows: sorted(tuple(row.values()) for row in rows)
            if table in ("pairs", "unpaired", "axes"):
                self.assertEqual(order(one), order(two))
            else:
                self.assertEqual(len(one), len(two))


class Large(Tables):
    def test_many(self):
        """14,000 instances; how long it takes is not asserted."""
        header = ["id", "family", "nodes", "batch", "threads", "status", "time_ns_median", "ci_low_ns", "ci_high_ns"]
        sides = [[[f"net/nodes={i},batch={i % 7},threads={threads}", "net", i, i % 7, threads, "ok", 1000 + i, 990 + i, 1010 + i]
                  for i in range(14000)] for threads in (1, 2)]
        a, b = self.results("a", sides[0], header), self.results("b", sides[1], header)
        self.assertEqual(len(self.rows(a, b)), 14000)
        self.assertEqual(self.rows(a, b, "--table", "groups")[0]["undecided"], "14000")
        self.assertIn("no key explains the ratios better than chance", self.compare(a, b))


if __name__ == "__main__":
    unittest.main()
