#!/usr/bin/env python3
"""The A/A test of the intervals: a sweep, run twice in a row into two directories on the same machine.

Usage: aa.py A.results B.results
       aa.py OUT      every pair in OUT, as aa_collect.py leaves them, taken together by kind of neighbour

A 95 % interval should contain the other run's headline about that often, in rows that found the machine in the same state: the
medians of their read probes are within 15 %. Prints that share, for these rows and for all, the median half-width, the median
difference of the two headlines, and the ratio of the two; then the same for the interval of each instance alone, as it was before
variances were pooled, with and without every visit's time scaled by a probe."""

import csv
import functools
import math
import pathlib
import statistics
import sys

csv.field_size_limit(1 << 30)
T95 = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
MEDIAN_FACTOR = [0, 1.0, 1.0, 1.346014, 1.192795, 1.434168, 1.288454, 1.473128, 1.345436, 1.494907, 1.38325]


def rows(directory, table):
    with open(f"{directory}/{table}", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def interval(values):
    """Of an instance alone, and without the shift of a run: as pdnn_visits_interval was."""
    n = len(values)
    logs = [math.log(value) for value in values]
    t = T95[n - 1] if n - 1 < len(T95) else 1.96 + 2.4 / (n - 1)
    factor = MEDIAN_FACTOR[n] if n < len(MEDIAN_FACTOR) else math.pi / 2 - (0.68 if n % 2 else 2.0) / n
    half = t * statistics.stdev(logs) * math.sqrt(2 * factor / n)
    center = statistics.median(values)
    return center, center * math.exp(-half), center * math.exp(half)


@functools.lru_cache(maxsize=None)
def medians(directory):
    """By instance, in order: (time, FMA probe, read probe) of every ok visit."""
    visits = {}
    for row in rows(directory, "journal.csv"):
        if row["status"] == "ok":
            visits.setdefault(row["id"], []).append(tuple(float(row[name] or 0) for name in ("time_ns_median", "probe_gflops", "probe_gbs")))
    return visits


def published(directory):
    return {
        row["id"]: tuple(float(row[name]) for name in ("time_ns_median", "ci_low_ns", "ci_high_ns"))
        for row in rows(directory, "results.csv")
        if row["status"] == "ok" and row["ci_low_ns"]
    }


def alone(directory, probe=None):
    """The intervals of each instance alone; the visits' medians times the rate of their probe, which cancels drift."""
    return {
        key: interval([visit[0] * (visit[probe] if probe else 1) for visit in visits])
        for key, visits in medians(directory).items()
        if len(visits) > 1 and (not probe or all(visit[probe] > 0 for visit in visits))
    }


def state(directory):
    return {key: statistics.median(visit[2] for visit in visits) for key, visits in medians(directory).items()}


def compare(name, pairs, estimate, same_state):
    halves, differences, inside = [], [], 0
    for first, second in pairs:
        a, b, states = estimate(first), estimate(second), (state(first), state(second))
        for key in a.keys() & b.keys():
            if same_state and not 1 / 1.15 < states[0][key] / (states[1][key] or 1) < 1.15:
                continue
            differences.append(abs(math.log(a[key][0] / b[key][0])))
            halves += [(x[2] - x[1]) / (2 * x[0]) for x in (a[key], b[key])]
            inside += (a[key][1] <= b[key][0] <= a[key][2]) + (b[key][1] <= a[key][0] <= b[key][2])
    if not differences:
        return
    half, difference = statistics.median(halves), statistics.median(differences)
    rows_text = f"{len(differences)} rows{' in the same state' if same_state else ''}"
    print(f"  {name}, {rows_text}: coverage {100 * inside / len(halves):.1f} %, half-width {100 * half:.1f} %, "
          f"difference {100 * difference:.2f} %, ratio {half / difference:.1f}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    kinds = {"": [tuple(sys.argv[1:])]}
    if len(sys.argv) == 2:
        kinds = {}
        for first in sorted(pathlib.Path(sys.argv[1]).glob("*.a")):
            kinds.setdefault(first.name.split(".")[1].split("-")[0], []).append((first, first.with_suffix(".b")))
    for kind, pairs in kinds.items():
        print(f"{kind or 'one pair'}: {len(pairs)} pairs of runs")
        for same_state in (True, False):
            compare("as published", pairs, published, same_state)
            compare("alone", pairs, alone, same_state)
            compare("alone, scaled by the FMA probe", pairs, lambda directory: alone(directory, 1), same_state)
            compare("alone, scaled by the read probe", pairs, lambda directory: alone(directory, 2), same_state)


if __name__ == "__main__":
    main()
