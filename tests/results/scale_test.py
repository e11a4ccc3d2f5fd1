#!/usr/bin/env python3
"""paradnn scale on a small measured directory: what must hold whatever was measured, and what a sweep may not be scaled to.

Usage: scale_test.py PARADNN CEILINGS"""

import csv
import os
import subprocess
import sys
import tempfile

LINK = "100MB/s,10us"
TRAIN = "transformer/layers=2,hidden=64,heads=4,length=16,vocabulary=100,batch=2"


def expect(condition, *what):
    if not condition:
        sys.exit(" ".join(str(word) for word in what))


def scale(paradnn, results, *options):
    run = subprocess.run([paradnn, "scale", results, "--link", LINK, "--format", "csv", *options], capture_output=True, text=True)
    expect(run.returncode == 0, options, run.stderr)
    return list(csv.DictReader(run.stdout.splitlines()))


def near(a, b):
    return abs(a - b) <= 1e-4 * max(abs(a), abs(b), 1e-9)


def number(row, column):
    return float(row[column])


def check_nodes(paradnn, results):
    at_end = scale(paradnn, results, "--nodes", "1,2,8")
    during = scale(paradnn, results, "--nodes", "1,2,8", "--overlap", "--bucket", "10KB")
    expect(len(at_end) == len(during) == 9, len(at_end))
    for one, other in zip(at_end, during):
        n = number(one, "nodes")
        expect(one["method"] == other["method"] == "modelled", one)
        expect(near(number(one, "step_ns"), number(one, "compute_ns") + number(one, "exposed_ns")), one)
        ring = 2 * (n - 1) / n * number(one, "gradient_bytes") / 0.1 + 2 * (n - 1) * 10000 * number(one, "buckets") if n > 1 else 0
        expect(near(number(one, "gradients_ns"), ring) and near(number(one, "exposed_ns"), ring), one)
        expect(near(number(one, "gradient_bytes"), 4 * number(one, "params_per_device")), one)
        expect(near(number(one, "compute_ns"), number(one, "one_device_ns")), one)
        expect(number(other, "exposed_ns") <= number(other, "gradients_ns") + 1, other)
        expect(n == 1 or number(other, "buckets") > number(one, "buckets"), other)


def check_slices(paradnn, results):
    rows = scale(paradnn, results, "--slice", "1,2,4,8")
    ways = [(row["family"], row["slice_ways"]) for row in rows]
    expect(ways == [("fc", "1"), ("cnn", "1"), *(("transformer", slices) for slices in "124")],
           "only the transformer, and not by 8 of 4 heads; a network's projection is a shortcut:", ways)
    sliced = [row for row in rows if row["family"] == "transformer"]
    for before, after in zip(sliced, sliced[1:]):
        expect(number(after, "exposed_pct") > number(before, "exposed_pct"), "exposed", after)
        for column in ("params_per_device", "memory_bytes", "compute_ns"):
            expect(number(after, column) < number(before, column), column, after)
        m = number(after, "slice_ways")
        bytes_of_layer = 2 * 16 * 64 * 4  # e * T * H
        ring = 2 * (m - 1) / m * bytes_of_layer / 0.1 + 2 * (m - 1) * 10000
        expect(near(number(after, "slices_ns"), 2 * 4 * ring), "four reductions per layer:", after)
    parts = scale(paradnn, results, "--slice", "2", "--nodes", "2", "--table", "parts")
    expect(near(sum(number(row, "share_pct") for row in parts), 100), parts)
    expect({"exposed: gradients", "exposed: slices"} <= {row["part"] for row in parts}, parts)


def check_batch(paradnn, results):
    fitting = scale(paradnn, results, "--nodes", "1", "--memory", "64MiB", "--only", "family=fc")[0]
    batch = int(fitting["largest_batch"])
    for size, fits in ((batch, True), (batch + 1, False)):
        listed = subprocess.run([paradnn, "list", f"fc/layers=2,nodes=64,batch={size}", "--format", "csv"], capture_output=True, text=True)
        need = int(next(csv.DictReader(listed.stdout.splitlines()))["memory_bytes"])
        expect((need <= 64 << 20) == fits, size, need)
    none = scale(paradnn, results, "--nodes", "1", "--memory", "1KB", "--only", "family=fc")[0]
    expect(none["largest_batch"] == "", none)


def main():
    paradnn, ceilings = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        results = os.path.join(folder, "r")
        short = ["--set", "measure.rounds=1", "--set", "measure.max_time=20ms", "--set", "run.threads=1"]
        spec = os.path.join(folder, "s.yaml")
        with open(spec, "w") as file:
            file.write("sweep: s\nrun: {mode: train}\nmodels:\n  - fc: {layers: 2, nodes: 64, batch: 4}\n"
                       "  - cnn: {block: residual, blocks: 1, filters: 4, image: 32, batch: 1}\n  - transformer: {"
                       + TRAIN.split("/")[1].replace("=", ": ").replace(",", ", ") + "}\n")
        run = subprocess.run([paradnn, "sweep", spec, "-o", results, "--ceilings", ceilings, *short], capture_output=True, text=True)
        expect(run.returncode == 0, run.stderr)
        check_nodes(paradnn, results)
        check_slices(paradnn, results)
        check_batch(paradnn, results)
        for option, said in (("--slice=3", "divisor of their heads"), ("--nodes=2,8,2", "expected up to 32 different numbers")):
            refused = subprocess.run([paradnn, "scale", results, option, "--link", LINK], capture_output=True, text=True)
            expect(refused.returncode == 2 and said in refused.stderr, refused.stderr)


main()
