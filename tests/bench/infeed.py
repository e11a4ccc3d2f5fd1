#!/usr/bin/env python3
"""Step times with resident, generated and read data at several numbers of loaders, and the loaders beside djpeg on the same files, as
tables in Markdown.

Usage: infeed.py PARADNN [-o DIR] [--rounds N] [--max-time TIME] [--threads N]. DIR (default: infeed.bench) gets the data sets and the
results; what is there is used again. djpeg is in Debian's libjpeg-turbo-progs."""

import argparse
import csv
import os
import shutil
import subprocess
import time

MODELS = {
    "CNN, 4 filters, 64 x 64": "cnn/block=residual,blocks=1,filters=4,image=64,batch=8",
    "CNN, 16 filters, 64 x 64": "cnn/block=residual,blocks=1,filters=16,image=64,batch=8",
    "ResNet-18, 224 x 224": "resnet18,batch=8",
    "BERT layer, 128 words": "transformer:bert-base,layers=1,length=128,batch=8",
}
SETS = {
    "images.data": ["images", "--encoding", "jpeg"],
    "large.data": ["images", "--encoding", "jpeg", "--size", "1024x1024", "--count", "32"],
    "raw.data": ["images"],
    "tokens.data": ["tokens"],
}
DECODED_BY = "cnn/block=residual,blocks=1,filters=4,image=64,batch=8"


def sweep(paradnn, options, ids, sets, output, settings):
    command = [paradnn, "sweep", "-o", output, *ids, "--quiet"]
    for setting in [f"dataset=[{', '.join(sets)}]", f"measure.rounds={options.rounds}", f"measure.max_time={options.max_time}",
                    *settings, *([f"run.threads={options.threads}"] if options.threads else [])]:
        command += ["--set", setting]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(os.path.join(output, "results.csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def step_table(rows):
    names = ["resident", *(f"{data} {loaders}" for data in ("generated", "file") for loaders in "012")]
    print("| step, ms (waits, %) | " + " | ".join(names) + " |\n|---" + "|---" * len(names) + "|")
    models = list(dict.fromkeys(row["model"] for row in rows))
    for title, model in zip(MODELS, models):
        cells = {}
        for row in (row for row in rows if row["model"] == model):
            name = row["data"] + (f" {row['loaders']}" if row["loaders"] else "")
            waits = f" ({float(row['infeed_pct']):.1f})" if row["infeed_pct"] else ""
            cells[name] = f"{float(row['time_ns_median']) / 1e6:.3g}{waits}" if row["status"] == "ok" else row["status"]
        print(f"| {title} | " + " | ".join(cells[name] for name in names) + " |")


def djpeg_per_second(directory):
    """Best of five passes over the files, one process each; and the same for starting the program without an image to decode."""
    files = sorted(os.path.join(directory, name) for name in os.listdir(directory) if name.endswith(".jpg"))[:64]

    def best(arguments):
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            for file in files:
                subprocess.run(["djpeg", *arguments(file)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times.append((time.perf_counter() - begun) / len(files))
        return min(times)

    whole, start = best(lambda file: ["-outfile", os.devnull, file]), best(lambda file: ["-version"])
    return 1 / whole, 1 / (whole - start)


def loader_table(paradnn, options):
    print("\n| images/s | 0 loaders | 1 | 2 | djpeg | without its start |\n|---|---|---|---|---|---|")
    for name in ("images.data", "large.data", "raw.data"):
        where = os.path.join(options.output, name)
        rows = sweep(paradnn, options, [DECODED_BY], [where], os.path.join(options.output, name + ".results"),
                     ["run.data=file", "run.loaders=[0, 1, 2]", "run.threads=1"])
        rates = [f"{float(row['loader_examples_per_s']):.0f}" for row in sorted(rows, key=lambda row: row["loaders"])]
        djpeg = ["", ""]
        if name != "raw.data" and shutil.which("djpeg"):
            djpeg = [f"{rate:.0f}" for rate in djpeg_per_second(where)]
        print(f"| {name} | " + " | ".join(rates + djpeg) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paradnn")
    parser.add_argument("-o", "--output", default="infeed.bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-time", default="1500ms")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    for name, arguments in SETS.items():
        where = os.path.join(options.output, name)
        if not os.path.exists(where):
            subprocess.run([options.paradnn, "data", "make", arguments[0], where, *arguments[1:]], check=True, stdout=subprocess.DEVNULL)
    sets = [os.path.join(options.output, name) for name in ("images.data", "tokens.data")]
    rows = sweep(options.paradnn, options, list(MODELS.values()), sets, os.path.join(options.output, "steps.results"),
                 ["run.optimizer=sgd", "run.fuse=post-ops", "run.data=[resident, generated, file]", "run.loaders=[0, 1, 2]"])
    step_table(rows)
    loader_table(options.paradnn, options)


if __name__ == "__main__":
    main()
