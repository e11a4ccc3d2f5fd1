#!/usr/bin/env python3
"""How far `paradnn project` is off: steps of one result directory projected onto another's roofs, against those measured there, per family.

Usage: projection.py FROM ONTO [CONDITIONS]  two directories, in both directions; of rows such as threads=1
       projection.py --threads RESULTS       one with run.threads=[1, 2]: one thread onto two, and back
       projection.py --factor RESULTS NAME=FACTOR... -- MEASURED [CONDITIONS]
                                             factors, such as compute=0.5, against rows measured so, such as isa=avx2
With --table, one line for each model too; with --kinds, one for each kind of op. PARADNN names the program (default: build/cli/paradnn)."""

import csv
import os
import re
import statistics
import subprocess
import sys

PARADNN = os.environ.get("PARADNN", "build/cli/paradnn")


def project(results, *options):
    run = subprocess.run([PARADNN, "project", results, "--format", "csv", *options], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return list(csv.DictReader(run.stdout.splitlines()))


def key_of(identity, without):
    return re.sub(r",\b(" + without + r")=[^,]*", "", identity) if without else identity


def report(title, projected, measured, table, without=""):
    times = {key_of(row["id"], without): float(row["time_ns_median"]) for row in measured}
    families = {}
    for row in projected:
        truth = times.get(key_of(row["id"], without))
        if truth:
            families.setdefault(row["family"], []).append((float(row["projected_ns"]) / truth - 1, float(row["time_ns_median"]) / truth, row))
    if not families:
        sys.exit(f"{title}: no instance is on both sides")
    families["all"] = [one for all_of in families.values() for one in all_of]
    for family, errors in families.items():
        if family == "all" and len(families) == 2:
            continue
        absolute = sorted(abs(error) for error, _, _ in errors)
        naive = statistics.median(abs(ratio - 1) for _, ratio, _ in errors)
        print(f"{title:34} {family:14} {len(errors):4} models  median |error| {100 * statistics.median(absolute):5.1f} %  "
              f"bias {100 * statistics.median(error for error, _, _ in errors):+6.1f} %  largest {100 * absolute[-1]:5.0f} %  "
              f"without projection {100 * naive:5.1f} %")
    for error, ratio, row in sorted(families["all"], key=lambda one: one[0]) if table else []:
        print(f"   {100 * error:+6.1f} %  measured x {ratio:5.2f}  projected x {float(row['speedup']):5.2f}  {row['id']}")


def report_kinds(title, projected, measured, without=""):
    """By op, pass and bound: the errors of single ops, those with the largest share of the time first."""
    ops = {(key_of(row["id"], without), row["op_index"]): row for row in measured}
    kinds = {}
    for row in projected:
        other = ops.get((key_of(row["id"], without), row["op_index"]))
        if other and (other["op"], other["op_pass"]) == (row["op"], row["op_pass"]):
            truth = float(other["time_ns_median"])
            time = float(row["time_ns_median"])
            kinds.setdefault((row["op"], row["op_pass"], row["bound"]), []).append((float(row["projected_ns"]) / truth - 1, time / truth, time))
    total = sum(time for errors in kinds.values() for _, _, time in errors)
    for kind, errors in sorted(kinds.items(), key=lambda one: -sum(time for _, _, time in one[1])):
        share = 100 * sum(time for _, _, time in errors) / total
        if share < 1:
            break
        print(f"{title:34} {' '.join(kind):44} {len(errors):4} ops  {share:5.1f} % of the time  "
              f"median |error| {100 * statistics.median(abs(error) for error, _, _ in errors):5.1f} %  "
              f"bias {100 * statistics.median(error for error, _, _ in errors):+6.1f} %  "
              f"measured x {statistics.median(ratio for _, ratio, _ in errors):5.2f}")


def compare(title, projected, measured, options, without=""):
    """Projected and measured: what `project` takes for either side."""
    report(title, project(*projected), project(*measured), "--table" in options, without)
    if "--kinds" in options:
        report_kinds(title, project(*projected, "--table", "ops"), project(*measured, "--table", "ops"), without)


def only(conditions):
    return [word for condition in conditions for word in ("--only", condition)]


def main():
    options = [word for word in sys.argv[1:] if word in ("--table", "--kinds")]
    arguments = [word for word in sys.argv[1:] if word not in options]
    if len(arguments) == 2 and arguments[0] == "--threads":
        for one, other in (("1", "2"), ("2", "1")):
            compare(f"{one} to {other} threads", (arguments[1], "--threads", other, "--only", f"threads={one}"),
                    (arguments[1], "--compute", "1", "--only", f"threads={other}"), options, "threads")
    elif len(arguments) > 4 and arguments[0] == "--factor" and "--" in arguments:
        end = arguments.index("--")
        factors = [word for factor in arguments[2:end] for word in ("--" + factor.split("=", 1)[0], factor.split("=", 1)[1])]
        compare(" ".join(arguments[2:end] + arguments[end + 2:]), (arguments[1], *factors),
                (arguments[end + 1], "--compute", "1", *only(arguments[end + 2:])), options, "isa")
    elif len(arguments) >= 2 and not arguments[0].startswith("-"):
        for one, other in (arguments[:2], arguments[1::-1]):
            title = f"{os.path.basename(one.rstrip('/'))} onto {os.path.basename(other.rstrip('/'))}"
            compare(title, (one, "--onto", other, *only(arguments[2:])), (other, "--compute", "1", *only(arguments[2:])), options)
    else:
        sys.exit(__doc__)


main()
