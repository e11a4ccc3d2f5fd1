#!/usr/bin/env python3
"""Two platforms side by side: joins result directories by instance and prints A's time over B's, and the geometric mean per family.

Usage: compare.py [--csv] A.results B.results [A2.results B2.results ...]

Above 1, B is faster. An instance's ratio is `clear` if the 95 % intervals of its two headlines do not overlap. Instances that only one
side has, or that did not run, are counted. Directories from different versions of paradnn are matched by today's ids."""

import csv
import math
import os
import sys

COLUMNS = ["family", "mode", "ratio", "clear", "a_ns", "b_ns", "id"]


# Before 1.0, ids named all of these settings; today's ids leave out defaults. Later settings never appeared in an id at their default, so
# the list does not grow.
DEFAULTS = {"mode=train", "dtype=f32", "optimizer=rmsprop", "backend=onednn", "cache=warm", "fuse=none", "algorithm=auto", "rnn=auto",
            "accumulate=1", "checkpoint=none", "layers_run=all", "isa=default"}


# Hyper-parameters added later: the prefix of ids that lack one, the key that follows it, and the value that all instances had before.
LATER = [("cnn/block=residual,", "activation=", "shortcut=projection,")]


def renewed(name):
    """The id as today's version prints it."""
    for beginning, behind, pair in LATER:
        if name.startswith(beginning) and pair.partition("=")[0] + "=" not in name:
            name = name.replace(behind, pair + behind)
    family, mark, pairs = name.partition("/")
    return family + mark + ",".join(pair for pair in pairs.split(",") if pair not in DEFAULTS)


def rows_of(directory):
    with open(os.path.join(directory, "results.csv"), newline="", encoding="utf-8") as file:
        return {renewed(row["id"]): row for row in csv.DictReader(file)}


def number(row, column):
    return float(row[column]) if row and row.get(column) else math.nan


def is_clear(a, b):
    """Also false if an interval is unknown, as after a single visit."""
    return number(a, "ci_high_ns") < number(b, "ci_low_ns") or number(b, "ci_high_ns") < number(a, "ci_low_ns")


def join(pairs):
    """The rows that ran on both sides, and how many did not."""
    joined, left_out = [], 0
    for a_directory, b_directory in pairs:
        a_rows, b_rows = rows_of(a_directory), rows_of(b_directory)
        for key in sorted(a_rows.keys() | b_rows.keys()):
            a, b = a_rows.get(key), b_rows.get(key)
            a_ns, b_ns = number(a, "time_ns_median"), number(b, "time_ns_median")
            if not a or not b or a["status"] != "ok" or b["status"] != "ok" or not a_ns > 0 or not b_ns > 0:
                left_out += 1
                continue
            joined.append({"family": a["family"], "mode": a["mode"], "ratio": a_ns / b_ns, "clear": is_clear(a, b), "a_ns": a_ns,
                           "b_ns": b_ns, "id": key})
    return joined, left_out


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def groups_of(rows):
    """(family, mode) in the order of the rows, then each family as a whole, and finally everything."""
    groups = {}
    for row in rows:
        for key in ((row["family"], row["mode"]), (row["family"], "all"), ("all", "all")):
            groups.setdefault(key, []).append(row)
    groups["all", "all"] = groups.pop(("all", "all"))
    return groups


def print_csv(rows):
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "ratio": f"{row['ratio']:.4g}", "clear": "yes" if row["clear"] else "no", "a_ns": f"{row['a_ns']:.6g}",
                         "b_ns": f"{row['b_ns']:.6g}"})


def print_text(rows, left_out):
    for row in rows:
        print(f"{row['ratio']:7.3f}{' ' if row['clear'] else '~'}  {row['a_ns'] / 1e6:10.4g} ms {row['b_ns'] / 1e6:10.4g} ms  {row['id']}")
    print("\nA's time / B's, geometric mean; ~ above: the intervals meet\n")
    print(f"{'family':12} {'mode':6} {'mean':>6} {'least':>6} {'most':>6} {'count':>6}")
    for (family, mode), members in groups_of(rows).items():
        ratios = [row["ratio"] for row in members]
        print(f"{family:12} {mode:6} {geometric_mean(ratios):6.3f} {min(ratios):6.3f} {max(ratios):6.3f} {len(ratios):6}")
    if left_out:
        print(f"\n{left_out} left out: they ran on one side, or on none")


def main(arguments):
    wants_csv = "--csv" in arguments
    directories = [argument for argument in arguments if argument != "--csv"]
    if not directories or len(directories) % 2:
        sys.exit(__doc__)
    rows, left_out = join(zip(directories[::2], directories[1::2]))
    if not rows:
        sys.exit(f"compare.py: no instance ran on both sides ({left_out} on one or none)")
    if wants_csv:
        print_csv(rows)
    else:
        print_text(rows, left_out)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BrokenPipeError:
        pass
