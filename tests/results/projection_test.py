#!/usr/bin/env python3
"""paradnn project on a measured directory, where answers are known whatever was measured: nothing changed, everything twice as fast, its own
roofs as those of another machine. And factors of one kind: between 1 and the factor, monotonic, within the limits.

Usage: projection_test.py PARADNN RESULTS"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile


def project(paradnn, results, *options):
    run = subprocess.run([paradnn, "project", results, "--format", "csv", *options], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{options}: {run.stderr}")
    return list(csv.DictReader(run.stdout.splitlines()))


def expect(condition, *what):
    if not condition:
        sys.exit(" ".join(str(word) for word in what))


def refused(paradnn, results, words, *options):
    run = subprocess.run([paradnn, "project", results, *options], capture_output=True, text=True)
    expect(run.returncode == 2 and words in run.stderr and run.stderr.count("\n") == 1, options, run.returncode, run.stderr)


def rewrite(path, extra):
    """The table of ops with what these implementations read besides, of memory; the file may know of none."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(path, "w", newline="") as file:
        names = {"extra_read_bytes": extra, "extra_written_bytes": lambda row: 0, "extra_set_bytes": extra}
        table = csv.DictWriter(file, dict.fromkeys([*rows[0], *names]))
        table.writeheader()
        table.writerows({**row, **{name: count(row) for name, count in names.items()}} for row in rows)


def main():
    paradnn, results = sys.argv[1:]
    with open(os.path.join(results, "results.csv"), newline="") as file:
        ids = {row["id"] for row in csv.DictReader(file) if row["status"] == "ok"}
    everything = ["--compute", "2", "--bandwidth", "2,L1=2,L2=2,L3=2", "--overhead", "0.5"]
    for options, factor in ((["--compute", "1"], 1), (["--onto", results], 1), (everything, 2)):
        rows = project(paradnn, results, *options)
        expect({row["id"] for row in rows} == ids, "not all instances are there")
        for row in rows:
            expect(abs(float(row["speedup"]) / factor - 1) < 1e-5, options, row)
            expect(row["method"] == "projected" and float(row["moved_pct"]) == 0, row)
    last = {}
    for compute in ("1.5", "4"):
        rows = project(paradnn, results, "--compute", compute)
        for row in rows:
            gain = float(row["speedup"])
            expect(1 - 1e-6 <= gain <= float(compute) and gain >= last.get(row["id"], 1) - 1e-6, compute, row)
            last[row["id"]] = gain
    expect(any(gain > 1.5 for gain in last.values()), "nothing gains from compute")
    expect(any(float(row["moved_pct"]) > 0 for row in rows), "no op gets another bound")
    moved = [row for row in project(paradnn, results, "--compute", "4", "--table", "ops") if row["moves"] == "1"]
    expect(moved and all(row["bound"] == "compute" and row["projected_bound"] in ("memory", "overhead") for row in moved), "moves")
    slower = project(paradnn, results, "--threads", "1")
    expect(all(float(row["speedup"]) < 1 for row in slower), "one thread is not slower")
    limits = project(paradnn, results, "--compute", "1", "--table", "limits", "--by", "op,pass")
    expect(all(row["amdahl_limit"] == row["projected_limit"] and float(row["amdahl_limit"] or 1) >= 1 for row in limits), limits)

    # What an implementation reads again at the speed of memory gains nothing from compute; all else as before.
    with tempfile.TemporaryDirectory() as rereads:
        shutil.copytree(results, rereads, dirs_exist_ok=True)
        rewrite(os.path.join(rereads, "ops.csv"), lambda row: 10**12 * (row["op"] == "dense"))
        before, after = (project(paradnn, directory, "--compute", "4", "--table", "ops") for directory in (results, rereads))
        for old, new in zip(before, after, strict=True):
            if new["op"] == "dense":
                expect(new["bound"] == new["projected_bound"] == "memory" and float(new["speedup"]) == 1, new)
            else:
                expect(new == old, new)
        expect(any(row["op"] == "dense" and float(row["speedup"]) > 1.5 for row in before), "no product gains from compute")

    # An imported platform whose number of threads nobody said is one for all; a number that is asked for must be there.
    with tempfile.TemporaryDirectory() as place:
        imported, typed = os.path.join(place, "imported"), os.path.join(place, "typed.csv")
        with open(os.path.join(place, "t.csv"), "w") as file:
            file.write("nodes,ms\n64,1\n")
        subprocess.run([paradnn, "import", file.name, "-o", imported, "--model", "fc,mode=infer", "--map", "nodes=nodes", "--map", "time=ms:ms",
                        "--peak", "14900", "--bandwidth", "900"], check=True, capture_output=True)
        threads = {re.search(r"threads=(\d+)", name)[1] for name in ids}
        with open(os.path.join(imported, "ceilings.csv"), newline="") as file, open(typed, "w", newline="") as copy:
            roofs = list(csv.DictReader(file))
            expect({row["threads"] for row in roofs} == {"0"}, roofs)
            table = csv.DictWriter(copy, roofs[0])
            table.writeheader()
            table.writerows({**row, "threads": count} for row in roofs for count in threads)
        expect(project(paradnn, results, "--onto", imported) == project(paradnn, results, "--onto", typed), "other roofs")
        refused(paradnn, results, "no roofs for 64 threads", "--onto", imported, "--threads", "64")

    refused(paradnn, results, "nothing would change")
    refused(paradnn, results, "--compute is 'x', expected a factor", "--compute", "x")
    refused(paradnn, results, "no roofs for 64 threads", "--threads", "64")
    refused(paradnn, results, "/nowhere", "--onto", "/nowhere")
    with tempfile.TemporaryDirectory() as empty:
        refused(paradnn, empty, "results.csv", "--compute", "2")


main()
