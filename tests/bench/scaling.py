#!/usr/bin/env python3
"""How far `paradnn scale` is off: training on two ranks with one core each over a link of a known rate (tests/bench/limited_link.sh; as root),
measured, against what is modelled from the same models on one rank and what the sweep measured of the link.

Usage: scaling.py PARADNN RATE [--table] [--keep DIRECTORY], as in: scaling.py build/cli/paradnn 1gbit
With --table, one line for each instance too. With --keep, the results stay there; where there are some already, they are read instead."""

import csv
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

MODELS = (
    [f"fc/layers=4,nodes={n},input=512,output=512,batch={b}" for n in (256, 512, 1024) for b in (64, 1024)]
    + [f"rnn/cell={c},hidden=256,embedding=256,length=20,vocabulary=1000,batch={b}" for c in ("lstm", "gru") for b in (16, 64)]
    + [f"transformer/layers=2,hidden=256,heads=4,length=64,vocabulary=1000,batch={b}" for b in (4, 16)]
    + [f"cnn/block=residual,blocks=1,filters=16,image=64,output=100,batch={b}" for b in (8, 32)]
)
BUCKET = 1  # MB
# The setting of the measured side, and the option of `scale` that models it
MODES = {"blocking": (), "thread": ("--overlap",)}
LINK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "limited_link.sh")


def rows_of(*path):
    with open(os.path.join(*path), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measure(program, rate, results):
    instances = [f"{model},threads=1" for model in MODELS]
    instances += [f"{one},ranks=2,allreduce={mode},bucket={BUCKET}" for one in instances for mode in MODES]
    subprocess.run(["bash", LINK, rate, program, "sweep", *instances, "-o", results, "--set", "run.mode=train", "--set", "measure.rounds=2",
                    "--set", "measure.max_time=700ms", "--set", "measure.min_samples=4", "-q"], check=False)


def link_of(results, message):
    """As the sweep measured it, the median of its repetitions: the rate of the message that is nearest to a bucket, and the latency of the smallest
    one, which a ring of two passes on twice."""
    links = [row for row in rows_of(results, "ceilings.csv") if row["kind"] == "link"]
    smallest = min(links, key=lambda row: float(row["capacity_bytes"]))
    nearest = min(links, key=lambda row: abs(math.log(float(row["capacity_bytes"]) / message)))
    return float(nearest["median_value"]), float(smallest["capacity_bytes"]) / float(smallest["median_value"]) / 2


def key_of(identity):
    return re.sub(r",(ranks|allreduce|bucket)=[^,]*", "", identity)


def print_errors(mode, family, errors):
    absolute = sorted(abs(error) for error, _ in errors)
    print(f"| {mode} | {family} | {len(errors)} | {100 * statistics.median(absolute):.1f} | {100 * statistics.median(e for e, _ in errors):+.1f} | "
          f"{100 * absolute[-1]:.0f} | {100 * statistics.median(abs(naive) for _, naive in errors):.0f} |")


def main():
    words = sys.argv[1:]
    keep = words[words.index("--keep") + 1] if "--keep" in words else None
    program, rate = os.path.abspath(words[0]), words[1]
    with tempfile.TemporaryDirectory() as place:
        results = keep or os.path.join(place, "r.results")
        if not os.path.exists(results):
            measure(program, rate, results)
        gbs, latency = link_of(results, BUCKET * 1e6)
        print(f"link: {gbs:.5g} GB/s, {latency / 1000:.4g} us")
        measured = {}
        for row in rows_of(results, "results.csv"):
            if row["status"] == "ok" and row["ranks"] == "2":
                measured[key_of(row["id"]), row["allreduce"]] = row
        print("| `allreduce` | family | models | median error % | bias % | largest % | without communication % |\n|---|---|---|---|---|---|---|")
        table = []
        every = []
        for mode, options in MODES.items():
            run = subprocess.run([program, "scale", results, "--nodes", "2", "--link", f"{gbs:.6g}GB/s,{latency / 1000:.6g}us", "--bucket", f"{BUCKET}MB",
                                  "--only", "ranks=1", "--format", "csv", *options], capture_output=True, text=True, check=False)
            if run.returncode:
                sys.exit(run.stderr)
            families = {}
            for row in csv.DictReader(run.stdout.splitlines()):
                other = measured.get((key_of(row["id"]), mode))
                if not other:
                    continue
                truth = float(other["time_ns_median"])
                error = float(row["step_ns"]) / truth - 1
                families.setdefault(row["family"], []).append((error, float(row["one_device_ns"]) / truth - 1))
                table.append(f"{100 * error:+6.1f} %  step ms {truth / 1e6:8.2f}, modelled {float(row['step_ns']) / 1e6:8.2f};  compute {float(other['compute_ns']) / 1e6:8.2f}, "
                             f"{float(row['compute_ns']) / 1e6:8.2f};  communication {float(other['comm_ns']) / 1e6:8.2f}, {float(row['gradients_ns']) / 1e6:8.2f};  "
                             f"exposed {float(other['exposed_ns']) / 1e6:8.2f}, {float(row['exposed_ns']) / 1e6:8.2f}  {mode:8} {key_of(row['id'])[:90]}")
            for family, errors in families.items():
                print_errors(mode, family, errors)
            of_mode = [error for errors in families.values() for error in errors]
            if of_mode:
                print_errors(mode, "all", of_mode)
            every += of_mode
        if not every:
            sys.exit("no model was measured on one rank and on two")
        print_errors("both", "all", every)
        if "--table" in words:
            print(*sorted(table, key=lambda line: float(line.split()[0])), sep="\n")


if __name__ == "__main__":
    main()
