#!/usr/bin/env python3
"""How far `paradnn project` is off: steps of one result directory projected onto another's roofs, against those measured there, per family.

Usage: projection.py FROM ONTO               two directories, in both directions
       projection.py --threads RESULTS       one with run.threads=[1, 2]: one thread onto two, and back
       projection.py --factor RESULTS NAME=FACTOR... -- MEASURED [CONDITIONS]
                                             factors, such as compute=0.5, against rows measured so, such as isa=avx2
With --table, one line for each model too. PARADNN names the program (default: build/cli/paradnn)."""

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


def main():
    arguments = [word for word in sys.argv[1:] if word != "--table"]
    table = "--table" in sys.argv
    if len(arguments) == 2 and arguments[0] == "--threads":
        one, two = (project(arguments[1], "--compute", "1", "--only", f"threads={n}") for n in (1, 2))
        report("1 to 2 threads", project(arguments[1], "--threads", "2", "--only", "threads=1"), two, table, "threads")
        report("2 to 1 threads", project(arguments[1], "--threads", "1", "--only", "threads=2"), one, table, "threads")
    elif len(arguments) > 4 and arguments[0] == "--factor" and "--" in arguments:
        end = arguments.index("--")
        options = [word for factor in arguments[2:end] for word in ("--" + factor.split("=", 1)[0], factor.split("=", 1)[1])]
        measured = project(arguments[end + 1], "--compute", "1", *[word for only in arguments[end + 2:] for word in ("--only", only)])
        report(" ".join(arguments[2:end] + arguments[end + 2:]), project(arguments[1], *options), measured, table, "isa")
    elif len(arguments) == 2:
        for one, other in (arguments, arguments[::-1]):
            title = f"{os.path.basename(one.rstrip('/'))} onto {os.path.basename(other.rstrip('/'))}"
            report(title, project(one, "--onto", other), project(other, "--compute", "1"), table)
    else:
        sys.exit(__doc__)


main()
