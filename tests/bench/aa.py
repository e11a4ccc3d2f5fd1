#!/usr/bin/env python3
"""The A/A test of the intervals: one sweep, run twice into two directories on the same machine.

Usage: aa.py A.results B.results
First: paradnn sweep sweeps/fc.yaml -o A.results; paradnn sweep sweeps/fc.yaml -o B.results

A 95 % interval should contain the other run's headline about that often (90 to 98 % of the rows). Prints that share, the
distribution of the intervals' half-widths and of the ratio of the two headlines; then the same with every visit's time scaled by
its FMA probe or its read probe, to see what the probes would change."""

import csv
import math
import statistics
import sys

csv.field_size_limit(1 << 30)
T95 = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
MEDIAN_FACTOR = [0, 1.0, 1.0, 1.346014, 1.192795, 1.434168, 1.288454, 1.473128, 1.345436, 1.494907, 1.38325]


def rows(directory, table):
    with open(f"{directory}/{table}", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def interval(values):
    """Like pdnn_visits_interval, for the scaled times, which the program does not compute."""
    n = len(values)
    logs = [math.log(value) for value in values]
    t = T95[n - 1] if n - 1 < len(T95) else 1.96 + 2.4 / (n - 1)
    factor = MEDIAN_FACTOR[n] if n < len(MEDIAN_FACTOR) else math.pi / 2 - (0.68 if n % 2 else 2.0) / n
    half = t * statistics.stdev(logs) * math.sqrt(2 * factor / n)
    center = statistics.median(values)
    return center, center * math.exp(-half), center * math.exp(half)


def published(directory):
    return {
        row["id"]: tuple(float(row[name]) for name in ("time_ns_median", "ci_low_ns", "ci_high_ns"))
        for row in rows(directory, "results.csv")
        if row["status"] == "ok" and row["ci_low_ns"]
    }


def scaled(directory, probe):
    """Intervals of the visits' medians times the rate of their probe, which cancels drift."""
    visits = [row for row in rows(directory, "journal.csv") if row["status"] == "ok" and float(row[probe]) > 0]
    if not visits:
        return {}
    return {
        key: interval([float(row["time_ns_median"]) * float(row[probe]) for row in visits if row["id"] == key])
        for key in {row["id"] for row in visits}
        if sum(row["id"] == key for row in visits) > 1
    }


def percentiles(values):
    values = sorted(values)
    return "  ".join(f"p{q} {values[min(len(values) - 1, q * len(values) // 100)]:.3f}" for q in (5, 25, 50, 75, 95))


def compare(name, a, b):
    both = sorted(a.keys() & b.keys())
    if not both:
        print(f"{name}: nothing to compare")
        return
    inside = sum(a[key][1] <= b[key][0] <= a[key][2] for key in both) + sum(b[key][1] <= a[key][0] <= b[key][2] for key in both)
    print(f"{name}: {len(both)} rows, the other run's headline lies inside {100 * inside / (2 * len(both)):.1f} % of the intervals")
    print("  half-width / headline:   ", percentiles([(x[2] - x[1]) / (2 * x[0]) for key in both for x in (a[key], b[key])]))
    print("  ratio of the headlines:  ", percentiles([a[key][0] / b[key][0] for key in both]))
    print(f"  |log ratio| median:       {statistics.median(abs(math.log(a[key][0] / b[key][0])) for key in both):.4f}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    a, b = sys.argv[1:]
    compare("as published", published(a), published(b))
    for probe in ("probe_gflops", "probe_gbs"):
        compare(f"scaled by {probe}", scaled(a, probe), scaled(b, probe))


if __name__ == "__main__":
    main()
