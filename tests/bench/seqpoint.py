#!/usr/bin/env python3
"""How far off projections of an epoch are: two epochs on five configurations of this processor, every iteration of each measured.

Usage: seqpoint.py run PARADNN SWEEPS DIRECTORY [SECONDS]   measure; run again, it goes on with what is missing (about a quarter of an hour in all)
       seqpoint.py table PARADNN SWEEPS DIRECTORY           print the tables of doc/seqpoint.md,
                                                           and write DIRECTORY/errors.csv, all that they come from"""

import csv
import io
import itertools
import math
import os
import signal
import subprocess
import sys
import time

EPOCHS = ("gnmt", "ds2")
# The last one has a neighbour that copies memory on the core that the model leaves free.
CONFIGS = {
    "threads-2": [], "threads-1": ["run.threads=1"], "avx2": ["run.isa=avx2"], "sse41": ["run.isa=sse41"], "neighbour": ["run.threads=1"],
    "threads-2-again": [],
}
METHODS = ("seqpoint", "model-assisted 20", "model-assisted 40", "frequent", "median", "worst", "prior", "random", "all-unique")
FLOOR = 1e-4
NEIGHBOUR = "import os; os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}); a = bytearray(1 << 28); b = memoryview(a)\nwhile True: b[:1 << 27] = b[1 << 27:]"


def arguments(sweeps, directory, epoch, config, *more):
    sets = [word for text in CONFIGS[config] for word in ("--set", text)]
    return ["seqpoint", f"{sweeps}/seqpoint-{epoch}.yaml", "--ground-truth", "--every", "-o", f"{directory}/{epoch}-{config}", *sets, *more]


def run(paradnn, sweeps, directory, seconds):
    os.makedirs(directory, exist_ok=True)
    end = time.monotonic() + seconds
    for config, epoch in itertools.product(CONFIGS, EPOCHS):
        done = f"{directory}/{epoch}-{config}.txt"
        left = end - time.monotonic()
        if os.path.exists(done) or left < 10:
            continue
        begun = time.monotonic()
        neighbour = subprocess.Popen([sys.executable, "-c", NEIGHBOUR]) if config == "neighbour" else None
        with open(f"{done}.part", "w", encoding="utf-8") as out:
            child = subprocess.Popen([paradnn, *arguments(sweeps, directory, epoch, config)], stdout=out, stderr=subprocess.DEVNULL)
            try:
                code = child.wait(left)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGTERM)
                code = child.wait()
        if neighbour:
            neighbour.kill()
            neighbour.wait()
        if code == 0:
            os.rename(f"{done}.part", done)
        print(f"{epoch} {config}: {code}, {time.monotonic() - begun:.0f} s", flush=True)


def rows(text):
    return {row["method"]: row for row in csv.DictReader(io.StringIO(text))}


def project(paradnn, sweeps, directory, epoch, config, sample):
    """What each method says, with the points chosen on two threads."""
    more = ["--set", f"seqpoint.sample={sample}", "--format", "csv"]
    more += ["--points", f"{directory}/{epoch}-threads-2"] if config != "threads-2" else ["--statistic", "time"]
    done = subprocess.run([paradnn, *arguments(sweeps, directory, epoch, config, *more)], capture_output=True, text=True, check=True)
    return rows(done.stdout)


def summary(errors):
    sizes = sorted(abs(error) for error in errors)
    geomean = math.exp(sum(math.log(max(size, FLOOR)) for size in sizes) / len(sizes))
    return f"{100 * geomean:.2f} | {100 * sum(sizes) / len(sizes):.2f} | {100 * sizes[-1]:.2f}"


def table(paradnn, sweeps, directory):
    errors, truth, written = {}, {}, {}
    for epoch, config in itertools.product(EPOCHS, CONFIGS):
        if not os.path.exists(f"{directory}/{epoch}-{config}.txt"):
            continue
        for sample in 20, 40:
            found = project(paradnn, sweeps, directory, epoch, config, sample)
            for method, row in found.items():
                name = f"{method} {sample}" if method == "model-assisted" else method
                errors.setdefault(epoch, {}).setdefault(name, {})[config] = float(row["error"])
                written[epoch, config, name] = {"epoch": epoch, "configuration": config, **row, "method": name}
        truth[epoch, config] = float(found["seqpoint"]["truth_ns"])
    with open(f"{directory}/errors.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(next(iter(written.values()))), lineterminator="\n")
        writer.writeheader()
        writer.writerows(written.values())
    for epoch, of in errors.items():
        configs = [config for config in CONFIGS if config in of["seqpoint"]]
        print(f"\n{epoch}: signed error, %\n\n| method | {' | '.join(configs)} | geomean | mean | max |\n|---|{'---:|' * (len(configs) + 3)}")
        print("| *epoch, s* | " + " | ".join(f"{truth[epoch, config] / 1e9:.2f}" for config in configs) + " | | | |")
        for method in METHODS:
            print(f"| {method} | " + " | ".join(f"{100 * of[method][config]:+.2f}" for config in configs) +
                  f" | {summary([of[method][config] for config in configs])} |")
        if "threads-2-again" in configs:
            print(f"\n{epoch}: the whole epoch again: {100 * (truth[epoch, 'threads-2-again'] / truth[epoch, 'threads-2'] - 1):+.2f} %")
        pairs = {}
        for a, b in itertools.combinations([config for config in configs if config != "threads-2-again"], 2):
            done = subprocess.run([paradnn, "seqpoint", f"{directory}/{epoch}-{a}", f"{directory}/{epoch}-{b}", "--format", "csv"], capture_output=True,
                                  text=True, check=True)
            for method, row in rows(done.stdout).items():
                if row["error"]:
                    pairs.setdefault(method, []).append(float(row["error"]))
        print(f"\n{epoch}: error of the projected speed-up over all pairs, %\n\n| method | geomean | mean | max |\n|---|---:|---:|---:|")
        for method, of_pairs in pairs.items():
            print(f"| {method} | {summary(of_pairs)} |")


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(*sys.argv[2:5], float(sys.argv[5]) if len(sys.argv) > 5 else 1e9)
    else:
        table(*sys.argv[2:5])
