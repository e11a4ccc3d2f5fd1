#!/usr/bin/env python3
"""Makes a large synthetic result directory from the rows of a real, small one, to see what pictures do with many points.

Usage: many_points.py RESULTS OUTPUT [COUNT]. Each row is a real one whose minibatch and width are multiplied, half of them by powers of two, and whose
measurements are scaled with them and scattered; 1 row in 25 is made to fail. The same input gives the same output. Nothing in it is a
measurement: environment.yaml says so in the place of the processor's name."""

import csv
import os
import random
import re
import shutil
import sys

WIDTHS = {"fc": "nodes", "cnn": "filters", "rnn": "embedding", "transformer": "hidden", "gnmt": "hidden", "deepspeech2": "hidden"}
TIMES = re.compile(r"^(time_ns_.*|ci_(low|high)_ns)$")
# Columns that are proportional to the rate.
RATES = ("gflops", "bw_gbs", "examples_per_s", "pct_of_peak", "pct_of_roof")
MEASURED = ("gflops", "bw_gbs", "examples_per_s", "pct_of_peak", "pct_of_roof", "speed_index", "residual_pct", "bound", "roof_level")


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def scale(row, column, factor):
    if row.get(column):
        row[column] = f"{float(row[column]) * factor:.6g}"


def grow(row, key, factor):
    """Multiplies a hyper-parameter, in its column and in the id."""
    value = str(int(row[key]) * factor)
    row["id"] = re.sub(rf"([/,]{key}=)[^,]*", rf"\g<1>{value}", row["id"])
    row[key] = value


def make(real, ops, rng):
    """One synthetic row and its ops."""
    row = dict(real)
    wide, batch = (2 ** rng.randrange(7), 2 ** rng.randrange(7)) if rng.randrange(2) else (rng.randint(1, 64), rng.randint(1, 64))
    width = WIDTHS[row["family"]]
    if row[width].isdigit():
        grow(row, width, wide)
    if row["family"] in ("rnn", "transformer"):
        for key in ("hidden", "ffn"):
            if key != width and row.get(key, "").isdigit():
                grow(row, key, wide)
    grow(row, "batch", batch)
    work, rate = wide ** 1.7 * batch * rng.lognormvariate(0, 0.1), 1
    if rng.randrange(25) == 0:
        for column in row:
            if TIMES.match(column) or column in MEASURED:
                row[column] = ""
        row["status"] = "oom"
        return row, []
    if row["gflops"]:
        room = 0.97 * float(row["attainable_gflops"] or 400) / float(row["gflops"])
        rate = min(room * (1 - 0.5 * rng.random()), (wide * batch) ** 0.2 * rng.lognormvariate(0, 0.35))
    for column in row:
        if TIMES.match(column):
            scale(row, column, work / rate)
    for column in RATES:
        scale(row, column, rate * (batch / (work / rate) / rate if column == "examples_per_s" else 1))
    row["params"] = round(float(row["params"]) * wide ** 1.9)
    scale(row, "intensity_flop_per_byte", (wide * batch) ** 0.3 * rng.lognormvariate(0, 0.15))
    made = []
    for op in ops:
        op = dict(op, id=row["id"])
        slower = rng.lognormvariate(0, 0.15)
        scale(op, "time_ns_median", work / rate * slower)
        for column in ("gflops", "bw_gbs", "pct_of_roof"):
            scale(op, column, rate / slower)
        scale(op, "intensity_flop_per_byte", (wide * batch) ** 0.3 if op["category"] in ("linear gemm", "conv", "recurrent") else 1)
        made.append(op)
    return row, made


def main(source, output, count=2000):
    rng = random.Random(1)
    rows = [row for row in read(os.path.join(source, "results.csv")) if row["status"] == "ok"]
    ops = {}
    for op in read(os.path.join(source, "ops.csv")):
        ops.setdefault(op["id"], []).append(op)
    os.makedirs(output, exist_ok=True)
    made, made_ops, seen = [], [], set()
    while len(made) < count:
        real = rng.choice(rows)
        row, its_ops = make(real, ops.get(real["id"], []), rng)
        if row["id"] not in seen:
            seen.add(row["id"])
            made.append(row)
            made_ops += its_ops
    write(os.path.join(output, "results.csv"), made)
    write(os.path.join(output, "ops.csv"), made_ops)
    shutil.copy(os.path.join(source, "ceilings.csv"), output)
    with open(os.path.join(output, "environment.yaml"), "w", encoding="utf-8") as file:
        file.write('cpu: "SYNTHETIC"\n')


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:4]))
