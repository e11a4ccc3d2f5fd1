#!/usr/bin/env python3
"""int8 against f32: how much faster each kind of op is, and how close each type comes to its own measured roof.

Usage: int8.py RESULTS [INT8_RESULTS]
First: paradnn sweep sweeps/int8.yaml -o RESULTS

Compares instances that differ only in dtype, from one sweep over both or from two, the second one in int8. Ops are grouped by
category; categories that only one type has, such as quantization, have rows of their own. The share of the roof is the time that the op's own compute
and memory roofs allow, over the time it took. Below each pair follow the whole steps, and the arithmetic of both at the peak of the FMA
and GEMM rows in ceilings.csv."""

import collections
import csv
import re
import sys

csv.field_size_limit(1 << 30)


def rows(directory, table):
    with open(f"{directory}/{table}", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def steps(directory, dtype):
    """Rows of results.csv that ran in the dtype, keyed by id without the dtype."""
    return {
        re.sub(r",dtype=\w+", "", row["id"]): row
        for row in rows(directory, "results.csv")
        if row["status"] == "ok" and row["dtype"] == dtype
    }


def ops_of(directory):
    ops = collections.defaultdict(list)
    for row in rows(directory, "ops.csv"):
        if row["time_ns_median"]:
            ops[row["id"]].append(row)
    return ops


def by_category(ops):
    """Sums of time, FLOP, and the time that the roofs allow."""
    sums = collections.defaultdict(lambda: [0.0, 0.0, 0.0])
    for op in ops:
        time = float(op["time_ns_median"])
        sums[op["category"]][0] += time
        sums[op["category"]][1] += float(op["in_bounds_flop_count"] or 0)
        sums[op["category"]][2] += time * float(op["pct_of_roof"] or "nan") / 100
    return sums


def peak(directory, dtype, threads):
    values = [
        float(row["value"])
        for row in rows(directory, "ceilings.csv")
        if row["kind"] == "compute" and row["dtype"] == dtype and row["threads"] == threads
    ]
    return max(values, default=float("nan"))


def cells(part):
    if not part:
        return f"{'':>10}{'':>10}{'':>8}"
    time, flop, roof = part
    return f"{time / 1e6:>10.3f}{flop / time:>10.1f}{100 * roof / time:>8.0f}"


def compare(key, plain, small, directories, ops):
    print(f"\n{key}")
    print(f"{'':<20}{'f32 ms':>10}{'GFLOP/s':>10}{'% roof':>8}{'int8 ms':>10}{'GOP/s':>10}{'% roof':>8}{'speedup':>9}")
    left, right = (by_category(ops[i][row["id"]]) for i, row in enumerate((plain, small)))
    for category in sorted({*left, *right}, key=lambda name: -left.get(name, right.get(name))[0]):
        a, b = left.get(category), right.get(category)
        print(f"{category:<20}{cells(a)}{cells(b)}{f'{a[0] / b[0]:>8.2f}x' if a and b else ''}")
    whole = [
        [float(row["time_ns_median"]), float(row["in_bounds_flop_count"]), float(row["time_ns_median"]) * float(row["pct_of_roof"] or "nan") / 100]
        for row in (plain, small)
    ]
    print(f"{'whole step':<20}{cells(whole[0])}{cells(whole[1])}{whole[0][0] / whole[1][0]:>8.2f}x")
    peaks = [peak(directory, dtype, plain["threads"]) for directory, dtype in zip(directories, ("f32", "int8"))]
    print(f"{'peak':<20}{'':>10}{peaks[0]:>10.1f}{'':>8}{'':>10}{peaks[1]:>10.1f}{'':>8}{peaks[1] / peaks[0]:>8.2f}x")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    directories = (sys.argv[1], sys.argv[-1])
    plain, small = steps(directories[0], "f32"), steps(directories[1], "int8")
    ops = [ops_of(directory) for directory in directories]
    pairs = [key for key in plain if key in small]
    if not pairs:
        sys.exit("no instance ran in both f32 and int8")
    for key in pairs:
        compare(key, plain[key], small[key], directories, ops)


if __name__ == "__main__":
    main()
