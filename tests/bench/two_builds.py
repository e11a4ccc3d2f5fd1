#!/usr/bin/env python3
"""Two builds of paradnn side by side: is the second one slower anywhere?

Usage: two_builds.py OLD NEW [--rounds N] [--max-time T] [--case NAME]... [--csv FILE]

OLD and NEW are the programs. In every round, each program visits every case once, each time in a new process, in an order that is
reversed from round to round. Printed are the median over the rounds of new/old, and its extremes. Drift of the machine affects both
alike. Implementations chosen by measurement may differ from visit to visit: that is part of the answer."""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile

CASES = {
    "resnet50-infer-1": "cnn:resnet50,batch=1,mode=infer,fuse=post-ops",
    "resnet50-train-4": "cnn:resnet50,batch=4,mode=train,optimizer=sgd,fuse=post-ops",
    "vgg16-infer-4": "cnn:vgg16,batch=4,mode=infer,fuse=post-ops",
    "lstm-512-infer-32": "rnn/cell=lstm,layers=1,embedding=512,length=50,vocabulary=1024,batch=32,mode=infer",
    "lstm-512-train-32": "rnn/cell=lstm,layers=1,embedding=512,length=50,vocabulary=1024,batch=32,mode=train,optimizer=sgd",
    "gru-512-infer-128": "rnn/cell=lbr_gru,layers=2,embedding=512,length=50,vocabulary=1024,batch=128,mode=infer",
    "bert-layer-infer-8-128": "transformer:bert-base,objective=none,layers=1,length=128,batch=8,mode=infer,fuse=blocks",
    "bert-layer-train-8-128":
        "transformer:bert-base,objective=masked-lm,dropout=10,layers=1,length=128,batch=8,mode=train,optimizer=adamw,fuse=blocks",
    "gpt2-decode-1-512": "transformer:gpt2,phase=decode,context=512,batch=1,mode=infer,fuse=blocks",
    "fc-1024-train-64": "fc/layers=4,nodes=1024,batch=64,mode=train",
}


def visit(program, directory, instance, roofs, max_time):
    """The time of one visit in ns."""
    rules = {"rounds": 1, "min_samples": 5, "max_time": max_time, "precision": "0.5%"}
    sets = [word for key, value in rules.items() for word in ("--set", f"measure.{key}={value}")]
    done = subprocess.run([program, "sweep", instance, "-o", directory, "--ceilings", roofs, *sets], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"two_builds: {program} {instance}: {done.stderr.strip()}")
    with open(os.path.join(directory, "results.csv"), newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    return float(row["time_ns_median"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--max-time", default="2s")
    parser.add_argument("--case", action="append", choices=CASES, help="one of them; all without it")
    parser.add_argument("--csv", help="write every visit's time to this file, too")
    options = parser.parse_args()
    programs = {"old": os.path.abspath(options.old), "new": os.path.abspath(options.new)}
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        roofs = {}
        for name, program in programs.items():
            roofs[name] = os.path.join(scratch, f"{name}.csv")
            subprocess.run([program, "ceilings", "-o", roofs[name]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"{'case':24} {'old ms':>10} {'new ms':>10}  new/old (least to greatest of {options.rounds} rounds)")
        for case in options.case or CASES:
            times = {"old": [], "new": []}
            for number in range(options.rounds):
                for name in sorted(programs, reverse=number % 2 == 0):
                    directory = os.path.join(scratch, f"{case}.{name}.{number}")
                    times[name].append(visit(programs[name], directory, CASES[case], roofs[name], options.max_time))
                    rows.append({"case": case, "program": name, "round": number, "time_ns": times[name][-1]})
            ratios = [new / old for new, old in zip(times["new"], times["old"])]
            medians = [statistics.median(times[name]) / 1e6 for name in ("old", "new")]
            print(f"{case:24} {medians[0]:10.3f} {medians[1]:10.3f}  {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})",
                  flush=True)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
