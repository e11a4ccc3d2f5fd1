#!/usr/bin/env python3
"""How much of the communication of data parallel training is hidden: models times the four settings of allreduce, on two ranks with one core each,
over shared memory (RATE none) or over a link of that rate between two network namespaces (tests/bench/limited_link.sh; as root).

Usage: overlap.py PARADNN RATE [MODEL...], as in: overlap.py build/cli/paradnn 200mbit fc lstm
"""

import csv
import os
import subprocess
import sys
import tempfile

# The large ones compute for longer than a link of 200 Mbit/s takes for their gradients, or nearly as long. fc-large has many buckets, so that the
# last one, behind which nothing is left to compute, is a small part of them.
MODELS = {
    "fc": "fc/layers=4,nodes=512,input=512,output=512,batch=4096",
    "fc-large": "fc/layers=47,nodes=512,input=512,output=512,batch=6144",
    "resnet18": "resnet18,batch=16",
    "resnet18-large": "resnet18,batch=96",
    "lstm": "rnn/layers=2,embedding=256,length=32,vocabulary=1000,cell=lstm,batch=64",
    "lstm-large": "rnn/layers=2,embedding=256,length=32,vocabulary=1000,cell=lstm,batch=512",
    "bert": "bert-base,layers=1,vocabulary=1000,batch=8,length=128",
    "bert-large": "bert-base,layers=1,vocabulary=1000,batch=96,length=128",
}
BUCKET = 1  # MB
LINK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "limited_link.sh")


def measure(program, rate, model):
    """Rows of results.csv."""
    settings = ["none", "blocking", "bucketed", "thread"]
    instances = [f"{model},threads=1,ranks=2,allreduce={mode}" + (f",bucket={BUCKET}" if mode != "none" else "") for mode in settings]
    with tempfile.TemporaryDirectory() as place:
        results = os.path.join(place, "r.results")
        command = [program, "sweep", *instances, "-o", results, "--set", "measure.rounds=2", "--set", "measure.max_time=5s",
                   "--set", "measure.min_samples=3", "--set", "measure.probe=off", "-q"]
        if rate != "none":
            command = ["bash", LINK, rate, *command]
        subprocess.run(command, check=False)
        with open(os.path.join(results, "results.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        with open(os.path.join(results, "ceilings.csv"), newline="", encoding="utf-8") as file:
            links = [row for row in csv.DictReader(file) if row["kind"] == "link"]
    return sorted(rows, key=lambda row: settings.index(row["allreduce"])), links


def main():
    program, rate, chosen = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:] or list(MODELS)
    print("| model | `allreduce` | MB | step ms | compute ms | comm ms | exposed ms | hidden % | GB/s |\n|---|---|---|---|---|---|---|---|---|")
    links = []
    for name in chosen:
        rows, links = measure(program, rate, MODELS[name])
        for row in rows:
            if row["status"] != "ok":
                print(f"| {name} | {row['allreduce']} | {row['status']}: {row['reason']} |")
                continue
            cells = [f"{float(row[column]) / unit:.{digits}f}" if row[column] else "" for column, unit, digits in (
                ("allreduce_bytes", 1e6, 1), ("time_ns_median", 1e6, 1), ("compute_ns", 1e6, 1), ("comm_ns", 1e6, 1), ("exposed_ns", 1e6, 1),
                ("hidden_pct", 1, 0), ("bus_gbs", 1, 4))]
            print(f"| {name} | {row['allreduce']} | " + " | ".join(cells) + " |", flush=True)
    print("\n| message | GB/s | ms |\n|---|---|---|")
    for row in links:
        size, best = float(row["capacity_bytes"]), float(row["value"])
        print(f"| {size:.0f} | {best:.4f} | {2 * (int(row['ranks']) - 1) / int(row['ranks']) * size / best * 1e-6:.3f} |")


if __name__ == "__main__":
    main()
