#!/usr/bin/env python3
"""ResNet-50, ResNet-18 and VGG-16 in paradnn and in PyTorch: f32, the same machine, cores, thread count and pinning.

Usage: torch_cnn.py PARADNN [--case NAME]... [--rounds N] [--threads N] [--results DIR] [--csv FILE]

A round runs every contender once, each in a process of its own, in an order that rotates from round to round, so that drift of the
machine affects all of them alike. Every contender takes the same number of samples per round, of single steps after a warm-up. A ratio
is paradnn's median in a round over PyTorch's in the same round; printed are the median, least and greatest ratio. PyTorch's fastest
variant is the one with the smallest median over the rounds. Exits with 77 and one line if PyTorch or paradnn is missing."""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

SKIPPED = 77
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_models.py")
FUSE = ("none", "post-ops")

# Name: network, mode, batch, samples per contender and round.
CASES = {
    "resnet50-infer-1": ("resnet50", "infer", 1, 20),
    "resnet50-infer-16": ("resnet50", "infer", 16, 4),
    "resnet50-train-16": ("resnet50", "train", 16, 3),
    "resnet18-infer-1": ("resnet18", "infer", 1, 20),
    "resnet18-infer-16": ("resnet18", "infer", 16, 6),
    "resnet18-train-16": ("resnet18", "train", 16, 4),
    "vgg16-infer-4": ("vgg16", "infer", 4, 4),
}
# Published parameter counts.
PARAMS = {"resnet50": 25_557_032, "resnet18": 11_689_512, "vgg16": 138_357_544}

# The way paradnn binds its workers; paradnn itself must not be bound, since it asks which cores it may use.
PINNED = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores", "OMP_WAIT_POLICY": "active", "OMP_DYNAMIC": "false"}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def call(arguments, good=(0,), **environment):
    """stdout and peak memory of the process and its children; on failure, the last line of stderr is the reason."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(arguments, stdout=out, stderr=errors, env={**os.environ, **environment})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if child.returncode not in good:
            reason = (errors.read().strip() or out.read().strip() or "nothing said").splitlines()[-1]
            raise RuntimeError(f"{' '.join(arguments)}: exit {child.returncode}: {reason}")
        return out.read(), usage.ru_maxrss * 1024


def find_torch():
    """The interpreter that has PyTorch: this one, or the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            return python, json.loads(call([python, MODELS, "facts"])[0])
        except (RuntimeError, OSError) as error:
            reason = str(error).rsplit(": ", 1)[-1]
    skip(f"no python3 here has PyTorch ({reason}); Debian's package is python3-torch")


class Contender:
    """rounds: one list of samples in ns per round; empty, with a reason, if it cannot run."""

    def __init__(self, name):
        self.name = name
        self.rounds, self.reason = [], ""
        self.n_samples = self.peak_rss_bytes = self.plan_bytes = 0

    def medians(self):
        return [statistics.median(samples) for samples in self.rounds]

    def run(self, number):
        """Appends round `number`."""
        raise NotImplementedError


class Torch(Contender):
    def __init__(self, python, case, variant, threads, params):
        network, mode, batch, samples = case
        super().__init__(f"torch {variant}")
        self.network, self.params = network, params
        self.command = [python, MODELS, network, mode, str(batch), variant, str(threads), str(samples)]

    def run(self, number):
        text, _ = call(self.command, **PINNED)
        result = json.loads(text)
        check_params(self.network, result["params"], self.params, "PyTorch")
        self.rounds.append(result["samples_ns"])
        self.n_samples += len(result["samples_ns"])
        self.peak_rss_bytes = max(self.peak_rss_bytes, result["peak_rss_bytes"])


class Paradnn(Contender):
    """Every round is one visit, in a result directory of its own: in a longer sweep the program may add visits on its own."""

    def __init__(self, name, options, instance, samples, params, directory):
        super().__init__(f"paradnn {name}")
        self.program, self.id, self.directory, self.samples = options.paradnn, instance, directory, samples
        listed, _ = call([self.program, "list", self.id, "--format", "csv"])
        row = next(csv.DictReader(listed.splitlines()))
        check_params(instance, int(row["params"]), params, "paradnn")
        self.full_id = row["id"]

    def run(self, number):
        if self.reason:
            return
        # A visit's warm-up is a quarter of its time, and a precision of 50 % ends it at the minimum number of samples.
        rules = {"rounds": 1, "min_samples": self.samples, "max_time": "4s", "precision": "50%"}
        sets = [word for key, value in rules.items() for word in ("--set", f"measure.{key}={value}")]
        roofs = os.path.join(os.path.dirname(self.directory), "roofs.csv")
        directory = round_directory(self.directory, number)
        _, peak = call([self.program, "sweep", self.id, "-o", directory, "--ceilings", roofs, *sets, "--set", "limits.time=900s",
                        "--set", "limits.memory=90%"], good=(0, 1))
        with open(os.path.join(directory, "journal.csv"), newline="", encoding="utf-8") as file:
            visits = [row for row in csv.DictReader(file) if row["id"] == self.full_id]
        if len(visits) != 1:
            sys.exit(f"{directory}: {len(visits)} visits of {self.full_id}, expected one: --results must be a new directory")
        visit = visits[0]
        if visit["status"] != "ok":
            self.reason = f"{visit['status']}: {visit['reason']}"
            return
        self.rounds.append([float(visit["time_ns_median"])])
        self.n_samples += int(visit["samples"])
        self.peak_rss_bytes = max(self.peak_rss_bytes, peak)
        self.plan_bytes = int(visit["plan_bytes"])


def round_directory(case_directory, number):
    return f"{case_directory}.round{number}"


def check_params(network, params, expected, who):
    if params != expected:
        sys.exit(f"{network}: {who} has {params} parameters, expected {expected}: the networks are not the same")


def ratios(contender, other):
    """Median, least and greatest ratio over the rounds."""
    both = [a / b for a, b in zip(contender.medians(), other.medians())]
    return statistics.median(both), min(both), max(both)


def describe(name, contender, others):
    """The contender's row; others: the contenders to compare it with, by name."""
    row = {"case": name, "contender": contender.name, "rounds": len(contender.rounds), "samples": contender.n_samples}
    row |= {"time_ns_median": "", "peak_rss_bytes": contender.peak_rss_bytes or "", "plan_bytes": contender.plan_bytes or ""}
    if contender.rounds:
        row["time_ns_median"] = round(statistics.median(contender.medians()))
    for key, other in others.items():
        values = [f"{value:.4f}" for value in ratios(contender, other)] if contender.rounds else [""] * 3
        row |= zip((f"ratio_to_{key}", f"ratio_to_{key}_low", f"ratio_to_{key}_high"), values)
    return row | {"reason": contender.reason}


def show(row, others):
    if row["reason"]:
        print(f"  {row['contender']:22}  {row['reason']}")
        return
    cells = [f"{row['time_ns_median'] / 1e6:9.2f}"]
    for key, other in others.items():
        own = row["contender"] == other.name
        ratio = "{:.3f} ({:.3f} to {:.3f})".format(*(float(row[f"ratio_to_{key}{end}"]) for end in ("", "_low", "_high")))
        cells.append(f"{'1' if own else ratio:>22}")
    cells += [f"{row['peak_rss_bytes'] / 2**20:5.0f} MiB", f"{row['plan_bytes'] / 2**20:5.0f} MiB" if row["plan_bytes"] else f"{'':9}"]
    print(f"  {row['contender']:22}  {'  '.join(cells)}  {row['samples']}")


def compare(name, contenders):
    """Prints the case and returns its rows."""
    torch = [c for c in contenders if isinstance(c, Torch)]
    others = {"fastest": min(torch, key=lambda c: statistics.median(c.medians())), "eager": torch[0]}
    print(f"\n{name:24}  {'ms/step':>9}  {'/ fastest torch':>22}  {'/ torch eager':>22}  {'peak RSS':>9}  {'plan':>9}  samples")
    rows = [describe(name, contender, others) for contender in contenders]
    for row in rows:
        show(row, others)
    return rows


def make_contenders(case, options, python, facts, directory):
    network, mode, batch, samples = case
    contenders = [Torch(python, case, variant, options.threads, PARAMS[network]) for variant in facts["variants"][mode]]
    for fuse in FUSE:
        instance = f"cnn:{network},batch={batch},mode={mode},threads={options.threads},fuse={fuse}"
        instance += ",optimizer=sgd" if mode == "train" else ""
        contenders.append(Paradnn(fuse, options, instance, samples, PARAMS[network], directory))
    return contenders


def run_case(name, contenders, options, directory):
    for number in range(1, options.rounds + 1):
        for i in range(len(contenders)):
            contender = contenders[(number + i) % len(contenders)]
            print(f"{name}, round {number} of {options.rounds}: {contender.name}", file=sys.stderr)
            contender.run(number)
    rows = compare(name, contenders)
    print()
    print(call([options.paradnn, "breakdown", round_directory(directory, options.rounds)])[0].rstrip(), flush=True)
    return rows


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def main(description, cases, make):
    """make(case, options, python, facts, directory): the contenders of a case."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("paradnn", help="the program")
    parser.add_argument("--case", action="append", choices=cases, help="one of them; all without it")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--results", help="keep paradnn's result directories here")
    parser.add_argument("--csv", help="write the rows to this file, too")
    options = parser.parse_args()
    if not os.access(options.paradnn, os.X_OK):
        skip(f"{options.paradnn} is no program")
    options.paradnn = os.path.abspath(options.paradnn)
    python, facts = find_torch()
    if not facts["mkldnn"]:
        skip("this PyTorch has no oneDNN")
    print(f"PyTorch {facts['version']}; {'; '.join(facts['config'])}")
    print(f"{options.threads} threads, {options.rounds} rounds, {', '.join(f'{key}={value}' for key, value in PINNED.items())}", flush=True)
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"the machine is not quiet: a load of {load:.1f} before anything runs; threads that wait actively suffer most", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.results or temporary
        os.makedirs(directory, exist_ok=True)
        call([options.paradnn, "ceilings", "-t", str(options.threads), "-o", os.path.join(directory, "roofs.csv")])
        rows = []
        for name in options.case or cases:
            kept = os.path.join(directory, name)
            rows += run_case(name, make(cases[name], options, python, facts, kept), options, kept)
            if options.csv:
                write_csv(options.csv, rows)


if __name__ == "__main__":
    main(__doc__.splitlines()[0], CASES, make_contenders)
