#!/usr/bin/env python3
"""What `paradnn report` says of the published observations: each on tables that are made so that it holds, does not hold, and cannot be
told. Usage: report_claims_test.py PARADNN"""

import html
import os
import re
import subprocess
import sys
import tempfile
import unittest

from made_up import write_tables

PARADNN = sys.argv.pop(1)
KEYS = ["layers", "nodes", "filters", "embedding", "batch", "mode", "dtype", "backend", "threads"]
HEADER = ["id", "family", *KEYS, "status", "reason", "params", "in_bounds_flop_count", "byte_count", "memory_bytes", "plan_bytes", "time_ns_median",
          "ci_low_ns", "ci_high_ns", "gflops", "intensity_flop_per_byte", "pct_of_roof", "pct_of_peak", "bound", "roof_level", "row_flags", "exposed_ns", "infeed_pct"]
OPS = ["id", "op_index", "layer", "op", "category", "op_pass", "dtype", "op_shape", "executions", "flop_count", "in_bounds_flop_count", "byte_count",
       "time_ns_median", "share_pct", "gflops", "bw_gbs", "intensity_flop_per_byte", "attainable_gflops", "pct_of_roof", "bound",
       "roof_level", "implementation", "extrapolated"]
HOLDS, DOES_NOT, UNKNOWN = "holds", "does not hold", "cannot be told"
ENVIRONMENT = 'host: "vm"\ncpu: "C"\nisa: "avx2"\ncores_usable: 4\nbackend_onednn: "{}"\n'
NARROWER = "Would tell: A narrower interval"


def model(family, ns, keys, **other):
    """A row. Its rate and its utilization follow from its time: each model has 1000 FLOP."""
    cells = {"family": family, "mode": "infer", "dtype": "f32", "backend": "onednn", "threads": 2, "status": "ok", "params": 100,
             "in_bounds_flop_count": 1000, "byte_count": 100, "memory_bytes": 4096, "time_ns_median": ns, "ci_low_ns": ns * 0.99,
             "ci_high_ns": ns * 1.01, "gflops": 1000 / ns, "intensity_flop_per_byte": 10, "pct_of_roof": 50, "pct_of_peak": 1000 / ns,
             "bound": "compute", **keys}
    cells["id"] = family + "/" + ",".join(f"{key}={cells[key]}" for key in KEYS if key in cells)
    return {**cells, **other}


def ops(rows):
    """A table of ops: rows are (model, [(op, category, ns, bound)])."""
    lines = [",".join(OPS)]
    for row, of_row in rows:
        for k, (op, category, ns, bound) in enumerate(of_row):
            cells = {**dict.fromkeys(OPS, 1), "id": '"' + row["id"] + '"', "op_index": k, "layer": f"hidden{k}", "op": op, "category": category,
                     "pass": "forward", "dtype": "f32", "shape": "8:8:8", "time_ns_median": ns, "bound": bound, "roof_level": "L1",
                     "implementation": "x", "extrapolated": 0}
            lines.append(",".join(str(cells[name]) for name in OPS))
    return "\n".join(lines) + "\n"


class Claims(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.count = 0

    def ask(self, claim, *tables):
        """The verdict on the claim that begins so, and why. A table: rows, or rows and other files by name."""
        names = []
        for table in tables:
            rows, files = table if isinstance(table, tuple) else (table, {})
            self.count += 1
            names.append(os.path.join(self.place.name, f"t{self.count}"))
            write_tables(names[-1], rows, HEADER, **files)
        page = os.path.join(self.place.name, "page.html")
        done = subprocess.run([PARADNN, "report", *names, "-o", page], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(page, encoding="utf-8") as file:
            text = file.read()
        found = [[html.unescape(re.sub(r"<.*?>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line)]
                 for table in re.findall(r"<table>(.*?)</table>", text.split('id="findings"')[1].split("</section>")[0], re.S)
                 for line in table.splitlines() if "<td" in line]
        found = [line for line in found if line[1].startswith(claim)]
        self.assertTrue(found, claim)
        self.number = found[0][0]
        # The first source's, where there are two.
        at = next(k for k, cell in enumerate(found[0]) if cell in (HOLDS, DOES_NOT, UNKNOWN))
        return found[0][at], " Would tell: ".join(found[0][at + 1:])

    def check(self, claim, verdict, words, *tables):
        found, why = self.ask(claim, *tables)
        self.assertEqual(found, verdict, why)
        self.assertIn(words, why)
        self.assertEqual("Would tell:" in why, verdict == UNKNOWN)

    def along(self, key, factors):
        """Six series of models in which only the key differs: the last is so many times as fast as the first."""
        return [model("fc", 1000 / (factor if last else 1), {"layers": 1, "nodes": 8, "batch": 1, **{other: 10 + k}, key: 64 if last else 2})
                for k, factor in enumerate(factors) for last in (0, 1) for other in ("nodes" if key == "batch" else "batch",)]

    def test_utilization_along(self):
        up, down, mixed, same = (2, 2.1, 2.2, 2.3, 2, 2), (0.5, 0.4, 0.5, 0.5, 0.5, 0.5), (2, 0.5, 2, 0.5, 2, 0.5), (1, 1.01, 0.99, 1, 1.02, 1)
        for claim, key, yes, no in (("Utilization grows with the minibatch", "batch", up, down),
                                    ("Utilization grows with the width", "nodes", up, down),
                                    ("Utilization does not depend on depth", "layers", same, up)):
            with self.subTest(claim):
                self.check(claim, HOLDS, "geometric mean of 6 series", self.along(key, yes))
                self.check(claim, DOES_NOT, "geometric mean of 6 series", self.along(key, no))
                self.check(claim, UNKNOWN, NARROWER, self.along(key, mixed))
                self.check(claim, UNKNOWN, "at least 3 are needed", self.along(key, yes[:2]))

    def test_large_factors_are_plain(self):
        self.check("Utilization grows with the minibatch", HOLDS, "multiplied by 2500 (95 % interval 2500 to 2500,", self.along("batch", (2500,) * 3))

    def shares(self, shares, family="fc"):
        """Models of two ops; the share of time bound by memory is in an op that is no product."""
        rows = [model(family, 1000, {"layers": 1, "nodes": 8 + k, "batch": 1}) for k in range(len(shares))]
        return rows, {"ops.csv": ops([(row, [("dense", "linear gemm", 1000 * (1 - share), "compute"), ("relu", "activation", 900 * share, "memory"),
                                             ("bias", "bias", 100 * share, "compute")]) for row, share in zip(rows, shares)])}

    def test_bound_by_memory(self):
        claim = "A quarter or more"
        self.check(claim, HOLDS, "45.0 % (95 % interval 45.0 to 45.0 %)", self.shares((0.5, 0.5, 0.5)))
        self.assertEqual(self.number, "2")
        self.check(claim, DOES_NOT, "9.00 % (95 % interval 9.00 to 9.00 %) of a model's op time is bound by memory, mean of 3 models", self.shares((0.1,) * 3))
        self.check(claim, UNKNOWN, NARROWER, self.shares((0.1, 0.5, 0.3)))
        self.check(claim, UNKNOWN, "Models with rows in ops.csv for such ops: 0; at least 3 are needed", self.shares((0.5,) * 3, "rnn"))

    def test_other_ops_bound_by_memory(self):
        def table(shares):
            rows = [model("fc", 1000, {"layers": 1, "nodes": 8 + k, "batch": 1}) for k in range(len(shares))]
            return rows, {"ops.csv": ops([(row, [("dense", "linear gemm", 700, "compute"), ("relu", "activation", 300 * share, "memory"),
                                                 ("bias", "bias", 300 * (1 - share), "overhead")]) for row, share in zip(rows, shares)])}
        claim = "Ops other than matrix products"
        self.check(claim, HOLDS, "80.0 %", table((0.8, 0.8, 0.8)))
        self.check(claim, DOES_NOT, "20.0 %", table((0.2, 0.2, 0.2)))
        self.check(claim, UNKNOWN, NARROWER, table((0.2, 0.8, 0.5)))
        self.check(claim, UNKNOWN, "Models with rows in ops.csv for such ops: 2", table((0.8, 0.8)))
        # 4.303 * 0.1 / sqrt(3)
        self.check(claim, UNKNOWN, "50.0 % (95 % interval 25.2 to 74.8 %)", table((0.4, 0.5, 0.6)))

    def threads(self, gains, apart=False):
        tables = [[model("fc", 1000 / (gain if threads == 4 else 1), {"layers": 1, "nodes": 8 + k, "batch": 1, "threads": threads})
                   for k, gain in enumerate(gains)] for threads in (1, 4)]
        return tables if apart else [tables[0] + tables[1]]

    def test_part_does_not_scale(self):
        claim = "Part of the work"
        for apart in (False, True):
            with self.subTest(two_directories=apart):
                # (4 / 2 - 1) / 3
                self.check(claim, HOLDS, "33.3 % (95 % interval 33.3 to 33.3 %) of the work does not scale, mean of 3 models", *self.threads((2, 2, 2), apart))
                self.check(claim, DOES_NOT, "-6.67 %", *self.threads((5, 5, 5), apart))
                self.check(claim, UNKNOWN, NARROWER, *self.threads((2, 4, 9), apart))
        self.check(claim, UNKNOWN, "Models that ran both on one thread and on several: 0; at least 3 are needed", [model("fc", 1, {"nodes": k}) for k in range(3)])

    def test_communication(self):
        def steps(shares, mode="train"):
            return [model("fc", 1000, {"nodes": 8 + k, "mode": mode}, exposed_ns=1000 * share) for k, share in enumerate(shares)]
        claim = "Communication between devices"
        self.check(claim, HOLDS, "On several ranks, 30.0 % (95 % interval 30.0 to 30.0 %) of a training step waits for gradients", steps((0.3,) * 3))
        self.assertEqual(self.number, "3")
        self.check(claim, DOES_NOT, "2.00 % (", steps((0.02,) * 3))
        self.check(claim, UNKNOWN, NARROWER, steps((0.02, 0.3, 0.1)))
        self.check(claim, UNKNOWN, "Models that trained on several ranks: 0", steps((0.3,) * 3, "infer"))
        self.check(claim, UNKNOWN, "Models that trained on several ranks: 0", self.along("batch", (2, 2, 2)))

    def test_input(self):
        def steps(waits, family="cnn"):
            return [model(family, 1000, {"filters": 8 + k}, infeed_pct=pct, in_bounds_flop_count=1000 * (1 + 9 * (k >= 3)))
                    for k, pct in enumerate(waits)]
        claim = "Small convolutional networks wait"
        self.check(claim, HOLDS, "In the smaller half of convolutional networks, 40.0 % (95 % interval 40.0 to 40.0 %) of a step waits", steps((40, 40, 40, 1, 1, 1)))
        self.assertEqual(self.number, "4")
        self.check(claim, DOES_NOT, "1.00 % (", steps((1, 1, 1, 40, 40, 40)))
        self.check(claim, UNKNOWN, NARROWER, steps((1, 40, 10, 1, 1, 1)))
        self.check(claim, UNKNOWN, "Such networks that prepared their input beside the steps: 0", steps((40, 40, 40, 1, 1, 1), "fc"))
        self.check(claim, UNKNOWN, "Such networks that prepared their input beside the steps: 0", steps(("",) * 6))

    def test_sides_that_differ_in_more(self):
        """Two machines, or two keys at once, say nothing of one key."""
        other = {"environment.yaml": 'cpu: "another"\n'}
        for claim, tables in (("16-bit types", self.dtypes((2, 2, 2), True)), ("Part of the work", self.threads((2, 2, 2), True))):
            with self.subTest(claim):
                self.check(claim, UNKNOWN, ": 0; at least 3 are needed", tables[0], (tables[1], other))
                both = [dict(row, backend="openblas", id=row["id"].replace("onednn", "openblas")) for row in tables[1]]
                self.check(claim, UNKNOWN, ": 0; at least 3 are needed", tables[0], both)

    def test_memory(self):
        limit = {"environment.yaml": "limit_memory_bytes: 1000000\n"}
        rows = [model("fc", 1000, {"nodes": k}, memory_bytes=k * 100000) for k in (1, 2, 3)]
        large = model("fc", 1000, {"nodes": 9}, memory_bytes=900000)
        refused = [dict(model("fc", 1, {"nodes": n}, memory_bytes=n * 100000), status="oom_predicted", time_ns_median="") for n in (20, 40)]
        claim = "The largest models need more memory"
        self.check(claim, HOLDS, "Models that did not fit the memory limit: 2 of 5, the smallest of them with 1.91 MiB of tensors; the largest that ran has "
                   "293 KiB", (rows + refused, limit))
        self.assertEqual(self.number, "6")
        self.check(claim, DOES_NOT, "All models that ran fit (4); the largest has 879 KiB of tensors, with a limit of 977 KiB", (rows + [large], limit))
        self.check(claim, UNKNOWN, "more than half of the limit", (rows, limit))
        self.check(claim, UNKNOWN, "unknown size", rows)
        # Of rnn=fused only what was allocated is known; of an import, nothing.
        allocated = [dict(row, memory_bytes="", plan_bytes=row["memory_bytes"]) for row in rows + [large]]
        self.check(claim, DOES_NOT, "the largest has 879 KiB of tensors", (allocated, limit))
        self.check(claim, UNKNOWN, "What memory the models took is not known.", ([dict(row, memory_bytes="") for row in rows], limit))

    def dtypes(self, gains, apart=False):
        tables = [[model("fc", 1000 / (gain if dtype == "bf16" else 1), {"nodes": k, "dtype": dtype}) for k, gain in enumerate(gains)]
                  for dtype in ("f32", "bf16")]
        return tables if apart else [tables[0] + tables[1]]

    def test_16_bits(self):
        claim = "16-bit types"
        for apart in (False, True):
            with self.subTest(two_directories=apart):
                self.check(claim, HOLDS, "multiplied by 2.00 (95 % interval", *self.dtypes((2, 2, 2), apart))
                self.assertEqual(self.number, "13")
                self.check(claim, DOES_NOT, "multiplied by 0.500 (", *self.dtypes((0.5, 0.5, 0.5), apart))
                self.check(claim, UNKNOWN, NARROWER, *self.dtypes((2, 0.5, 1), apart))
        self.check(claim, UNKNOWN, "Models that ran both in f32 and in a 16-bit type: 0", [model("fc", 1, {"nodes": k}) for k in range(3)])

    def pairs(self, family, key, gains, **other):
        """Two tables: per value of the key, the speed-ups of the second over the first."""
        tables = [[], []]
        for value, of_value in gains.items():
            for k, gain in enumerate(of_value):
                cells = {"layers": 1 + k, "batch": 1, **({} if key == "params" else {key: value})}
                own = {"params": value} if key == "params" else {}
                if key == "params":
                    cells["filters" if family == "cnn" else "nodes"] = value
                for table, ns in zip(tables, (1000, 1000 / gain)):
                    table.append(model(family, ns, cells, **own, **other))
        return tables

    def test_sides_of_two_directories_are_their_names(self):
        """Whatever else differs."""
        tables = self.pairs("fc", "batch", {1: (2, 2.1, 2), 8: (1, 1.1, 0.9), 64: (0.5, 0.4, 0.5)})
        other = [dict(row, dtype="bf16", id=row["id"].replace("f32", "bf16")) for row in tables[1]]
        self.check("Large minibatches prefer", HOLDS, "Speed-up of t2 over t1: ", tables[0], other)
        together = tables[0] + [dict(row, backend="openblas", id=row["id"].replace("onednn", "openblas")) for row in tables[1]]
        self.check("Large minibatches prefer", HOLDS, "Speed-up of backend=openblas over backend=onednn: ", together)

    def test_where_platforms_change_places(self):
        for claim, number, key in (("Large minibatches prefer", "7", "batch"), ("Small fully connected networks prefer", "8", "params")):
            with self.subTest(claim):
                middle = (1, 1.1, 0.9)
                self.check(claim, HOLDS, "of 3 models) in the third with the smallest", *self.pairs("fc", key, {1: (2, 2.1, 2), 8: middle, 64: (0.5, 0.4, 0.5)}))
                self.assertEqual(self.number, number)
                self.check(claim, DOES_NOT, "in that with the largest", *self.pairs("fc", key, {1: (2, 2.1, 2), 8: middle, 64: (3, 3, 3.1)}))
                self.check(claim, UNKNOWN, NARROWER, *self.pairs("fc", key, {1: (2, 2.1, 2), 8: middle, 64: (3, 0.3, 1)}))
                self.check(claim, UNKNOWN, "at least 3 of each are needed", *self.pairs("fc", key, {1: (2, 2.1, 2)}))
                self.check(claim, UNKNOWN, "No two platforms", self.pairs("fc", key, {1: (2, 2, 2)})[0])

    def test_lead_on_convolutional_networks(self):
        claim = "The faster platform's lead"
        grows, shrinks = {1: (2, 2.1, 2), 8: (3, 3, 3), 64: (4, 4.1, 4)}, {1: (4, 4.1, 4), 8: (3, 3, 3), 64: (2, 2.1, 2)}
        self.check(claim, HOLDS, "a change by a factor of 1.9", *self.pairs("cnn", "params", grows))
        self.assertEqual(self.number, "9")
        # The first table may be that of the faster platform.
        self.check(claim, HOLDS, "a change by a factor of 0.50", *reversed(self.pairs("cnn", "params", grows)))
        self.check(claim, DOES_NOT, "a change by a factor of 0.50", *self.pairs("cnn", "params", shrinks))
        self.check(claim, UNKNOWN, NARROWER, *self.pairs("cnn", "params", {1: (2, 3, 2), 8: (3, 3, 3), 64: (4, 2, 2)}))
        self.check(claim, UNKNOWN, "at least 3 of each", *self.pairs("fc", "params", grows))

    def test_utilization_of_both(self):
        for claim, family, key in (("One platform uses at least twice", "cnn", "filters"), ("One platform uses at least three times", "rnn", "embedding")):
            with self.subTest(claim):
                self.check(claim, HOLDS, "is 4.00 (95 % interval", *self.pairs(family, key, {1: (4, 4, 4)}))
                self.assertEqual(self.number, "10")
                self.check(claim, HOLDS, "is 0.250 (95 % interval", *reversed(self.pairs(family, key, {1: (4, 4, 4)})))
                self.check(claim, DOES_NOT, "is 1.20 (", *self.pairs(family, key, {1: (1.2, 1.2, 1.2)}))
                self.check(claim, UNKNOWN, NARROWER, *self.pairs(family, key, {1: (1, 9, 4)}))
                self.check(claim, UNKNOWN, "Such models with a utilization on both platforms: 0", *self.pairs(family, key, {1: (4, 4, 4)}, pct_of_peak=""))

    def test_embeddings(self):
        claim = "One platform gains more"
        self.check(claim, HOLDS, "a change by a factor of 1.9", *self.pairs("rnn", "embedding", {8: (2, 2.1, 2), 64: (3, 3, 3), 512: (4, 4.1, 4)}))
        self.assertEqual(self.number, "11")
        self.check(claim, DOES_NOT, "smallest embedding", *self.pairs("rnn", "embedding", {8: (2, 2.01, 2), 64: (3, 3, 3), 512: (2, 2.01, 2)}))
        self.check(claim, UNKNOWN, NARROWER, *self.pairs("rnn", "embedding", {8: (2, 1, 3), 64: (3, 3, 3), 512: (4, 2, 2)}))
        self.check(claim, UNKNOWN, "at least 3 of each", *self.pairs("fc", "nodes", {8: (2, 2, 2), 64: (3, 3, 3)}))
        # Twice as fast, times exp of +-2.776 (4 degrees of freedom) * ln 1.1 * sqrt(2 / 3).
        self.check(claim, HOLDS, "a change by a factor of 2.00 (1.61 to 2.48)",
                   *self.pairs("rnn", "embedding", {8: (1 / 1.1, 1, 1.1), 64: (3, 3, 3), 512: (2 / 1.1, 2, 2.2)}))

    def generations(self, compute, memory):
        """Two tables with ops: how many times as fast the second runs products bound by compute, and those bound by memory."""
        tables = []
        for side in (0, 1):
            rows = [model("fc", 1000 / (2 if side else 1), {"nodes": 8 + k}) for k in range(len(compute))]
            tables.append((rows, {"ops.csv": ops([(row, [("dense", "linear gemm", 500 / (c if side else 1), "compute"), ("relu", "activation", 100, "memory"),
                                                         ("dense", "linear gemm", 300 / (m if side else 1), "memory")])
                                                  for row, c, m in zip(rows, compute, memory)])}))
        return tables

    def test_products_bound_by_memory(self):
        claim = "Matrix products bound by memory gain more"
        self.check(claim, HOLDS, "products bound by memory 3.00 (95 % interval", *self.generations((2, 2.1, 2), (3, 3, 3)))
        self.assertEqual(self.number, "5")
        self.check(claim, DOES_NOT, "products bound by compute 3.00 (", *self.generations((3, 3, 3), (2, 2.1, 2)))
        self.check(claim, UNKNOWN, NARROWER, *self.generations((3, 2, 1), (1, 3, 2)))
        self.check(claim, UNKNOWN, "Models with products bound by compute: 0, with products bound by memory: 0", *self.pairs("fc", "nodes", {8: (2, 2, 2)}))

    def versions(self, gains, old="oneDNN 2.6.3 (x)", new="oneDNN 3.5 (x)", change=lambda text: text):
        tables = self.pairs("fc", "nodes", {8: gains})
        return (tables[0], {"environment.yaml": ENVIRONMENT.format(old)}), (tables[1], {"environment.yaml": change(ENVIRONMENT.format(new))})

    def test_versions(self):
        some, every = "A newer version of the library makes some", "Every newer version"
        self.check(some, HOLDS, "Of 3 models, the greatest gain from oneDNN 2.6.3 to oneDNN 3.5 is a factor of 2.50 (95 % interval", *self.versions((1.1, 1.2, 2.5)))
        self.assertEqual(self.number, "12")
        self.check(some, DOES_NOT, "is a factor of 1.50 (", *self.versions((1.1, 1.2, 1.5)))
        self.check(some, UNKNOWN, NARROWER, *self.versions((1.1, 1.2, 2.005)))
        self.check(every, HOLDS, "the speed of models is multiplied by 1.20 (95 % interval", *self.versions((1.2, 1.21, 1.19)))
        self.assertEqual(self.number, "14")
        # The older one may come second.
        self.check(every, HOLDS, "From oneDNN 2.6.3 to oneDNN 3.5", *reversed(self.versions((1.2, 1.21, 1.19))))
        # Nor does it matter what ran on one side alone.
        older, newer = self.versions((1.2, 1.21, 1.19))
        alone = {**older[0][0], "backend": "openblas", "nodes": 16, "id": older[0][0]["id"].replace("nodes=8", "nodes=16,backend=openblas")}
        self.check(every, HOLDS, "From oneDNN 2.6.3 to oneDNN 3.5", (older[0] + [alone], older[1]), newer)
        self.check(every, DOES_NOT, "multiplied by 0.800 (", *self.versions((0.8, 0.81, 0.79)))
        self.check(every, UNKNOWN, NARROWER, *self.versions((0.8, 1.3, 1)))
        for claim in some, every:
            self.check(claim, UNKNOWN, "Both ran oneDNN 2.6.3", *self.versions((2, 2, 2), new="oneDNN 2.6.3 (y)"))
            self.check(claim, UNKNOWN, "different machines", *self.versions((2, 2, 2), change=lambda text: text.replace('"C"', '"D"')))
            self.check(claim, UNKNOWN, "not known", *self.pairs("fc", "nodes", {8: (2, 2, 2)}))
            self.check(claim, UNKNOWN, "differ in their settings", *self.threads((2, 2, 2), True))

    def test_two_platforms_in_one_directory(self):
        """A run setting that has several values makes platforms too."""
        rows = self.threads((2, 2, 2))[0]
        self.check("Large minibatches", UNKNOWN, "ran on both platforms", rows)
        rows = [row for table in self.pairs("fc", "batch", {1: (2, 2.1, 2), 8: (1, 1, 1), 64: (0.5, 0.4, 0.5)}) for row in table]
        for row in rows[9:]:
            row.update(threads=8, id=row["id"].replace("threads=2", "threads=8"))
        self.check("Large minibatches", HOLDS, "Speed-up of threads=8 over threads=2", rows)
        for backend in ("openblas", "reference"):
            rows += [{**row, "backend": backend, "id": row["id"].replace("backend=onednn", f"backend={backend}")} for row in rows[:18]]
        self.check("Large minibatches", UNKNOWN, "Speed-up of backend=openblas over backend=onednn", rows)


if __name__ == "__main__":
    unittest.main()
