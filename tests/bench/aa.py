#!/usr/bin/env python3
"""The A/A test of the intervals: a sweep, run twice in a row into two directories on the same machine.

Usage: aa.py A.results B.results
       aa.py OUT      every pair in OUT, as aa_collect.py leaves them, taken together by kind of neighbour
       aa.py --within PARADNN OUT [--sweeps N] [--minutes M] [--loops N] [--small] [--kind equal|slow] [--max-time T]

A 95 % interval should contain the other run's headline about that often, in rows that found the machine in the same state: the
medians of their read probes are within 15 %. Prints that share, for these rows and for all, the median half-width, the median
difference of the two headlines, and the ratio of the two; then the same for the interval of each instance alone, as it was before
variances were pooled, with and without every visit's time scaled by a probe.

--within: sweeps in paired order, whose sides are two copies of oneDNN, in turn equal and such that one spins for 2 % of each step: how many
verdicts are false, how many of the slow-downs are found, how often the 99 % interval has the truth, how wide it is, and what a model takes.
--loops: with so many busy loops beside them. --small: models of steps of a few ms at most, of which many are judged within an hour. --kind: one
of both. --max-time: of a model and all its visits. What OUT has already is kept and counted, too."""

import argparse
import csv
import functools
import io
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

csv.field_size_limit(1 << 30)
T95 = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
MEDIAN_FACTOR = [0, 1.0, 1.0, 1.346014, 1.192795, 1.434168, 1.288454, 1.473128, 1.345436, 1.494907, 1.38325]


def rows(directory, table):
    with open(f"{directory}/{table}", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def interval(values):
    """Of an instance alone, and without the shift of a run: as pdnn_visits_interval was."""
    n = len(values)
    logs = [math.log(value) for value in values]
    t = T95[n - 1] if n - 1 < len(T95) else 1.96 + 2.4 / (n - 1)
    factor = MEDIAN_FACTOR[n] if n < len(MEDIAN_FACTOR) else math.pi / 2 - (0.68 if n % 2 else 2.0) / n
    half = t * statistics.stdev(logs) * math.sqrt(2 * factor / n)
    center = statistics.median(values)
    return center, center * math.exp(-half), center * math.exp(half)


@functools.lru_cache(maxsize=None)
def medians(directory):
    """By instance, in order: (time, FMA probe, read probe) of every ok visit."""
    visits = {}
    for row in rows(directory, "journal.csv"):
        if row["status"] == "ok":
            visits.setdefault(row["id"], []).append(tuple(float(row[name] or 0) for name in ("time_ns_median", "probe_gflops", "probe_gbs")))
    return visits


def published(directory):
    return {
        row["id"]: tuple(float(row[name]) for name in ("time_ns_median", "ci_low_ns", "ci_high_ns"))
        for row in rows(directory, "results.csv")
        if row["status"] == "ok" and row["ci_low_ns"]
    }


def alone(directory, probe=None):
    """The intervals of each instance alone; the visits' medians times the rate of their probe, which cancels drift."""
    return {
        key: interval([visit[0] * (visit[probe] if probe else 1) for visit in visits])
        for key, visits in medians(directory).items()
        if len(visits) > 1 and (not probe or all(visit[probe] > 0 for visit in visits))
    }


def state(directory):
    return {key: statistics.median(visit[2] for visit in visits) for key, visits in medians(directory).items()}


def compare(name, pairs, estimate, same_state):
    halves, differences, inside = [], [], 0
    for first, second in pairs:
        a, b, states = estimate(first), estimate(second), (state(first), state(second))
        for key in a.keys() & b.keys():
            if same_state and not 1 / 1.15 < states[0][key] / (states[1][key] or 1) < 1.15:
                continue
            differences.append(abs(math.log(a[key][0] / b[key][0])))
            halves += [(x[2] - x[1]) / (2 * x[0]) for x in (a[key], b[key])]
            inside += (a[key][1] <= b[key][0] <= a[key][2]) + (b[key][1] <= a[key][0] <= b[key][2])
    if not differences:
        return
    half, difference = statistics.median(halves), statistics.median(differences)
    rows_text = f"{len(differences)} rows{' in the same state' if same_state else ''}"
    print(f"  {name}, {rows_text}: coverage {100 * inside / len(halves):.1f} %, half-width {100 * half:.1f} %, "
          f"difference {100 * difference:.2f} %, ratio {half / difference:.1f}")


SLOW_DOWN = 0.02
WITHIN = """\
sweep: within
seed: {seed}
run: {{mode: [infer, train], library: [a, b]}}
libraries: {{a: {a}, b: {b}}}
measure: {{max_time: {max_time}}}
models:
{models}"""
MODELS = """\
  - fc: {layers: 2, nodes: 256, batch: 16}
  - fc: {layers: 4, nodes: 1024, batch: 64}
  - cnn: {preset: resnet18, batch: 1}
  - transformer: {architecture: encoder, layers: 2, hidden: 128, heads: 2, length: 32, vocabulary: 1000, batch: 4, objective: masked-lm}
  - transformer: {architecture: decoder, layers: 4, hidden: 256, heads: 4, length: 64, vocabulary: 1000, batch: 1, objective: causal-lm}
  - rnn: {cell: lstm, layers: 1, embedding: 256, length: 20, vocabulary: 256, batch: 16}
  - rnn: {cell: lstm, layers: 2, embedding: 512, length: 10, vocabulary: 256, batch: 8}
"""
SMALL = """\
  - fc: {layers: 2, nodes: 256, batch: 16}
  - fc: {layers: 3, nodes: 512, batch: 8}
  - cnn: {block: residual, blocks: 1, filters: 16, image: 32, output: 10, batch: 2}
  - transformer: {architecture: encoder, layers: 2, hidden: 128, heads: 2, length: 32, vocabulary: 1000, batch: 4, objective: masked-lm}
  - transformer: {architecture: decoder, layers: 2, hidden: 128, heads: 2, length: 32, vocabulary: 1000, batch: 1, objective: causal-lm}
  - rnn: {cell: lstm, layers: 1, embedding: 128, length: 10, vocabulary: 256, batch: 8}
  - rnn: {cell: gru, layers: 1, embedding: 128, length: 10, vocabulary: 256, batch: 4}
"""
# In place of oneDNN, which it loads under another name. A worker reads this clock before and after what it samples, and between stamps; the
# second reading comes when a part of the time since the first has passed once more. What passes between visits is left out.
SPIN = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int (*read_clock)(clockid_t, struct timespec *);

static double seconds(void) {
    struct timespec now;
    read_clock(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static _Thread_local double before;
    if (!read_clock)
        *(void **)&read_clock = dlsym(RTLD_NEXT, "clock_gettime");
    if (clock == CLOCK_MONOTONIC) {
        const double begin = seconds(), past = begin - before, end = begin + (past < 2 ? SHARE * past : 0);
        for (before = begin; before < end;)
            before = seconds();
    }
    return read_clock(clock, now);
}
"""


def onednn_of(paradnn):
    """The library that workers load, and its soname."""
    worker = os.path.join(os.path.dirname(os.path.abspath(paradnn)), "paradnn-worker")
    found = re.search(r"(libdnnl\.so\.\d+) => (\S+)", subprocess.run(["ldd", worker], capture_output=True, text=True, check=True).stdout)
    return found[2], found[1]


def make_libraries(paradnn, directory):
    """The sides of both kinds of sweeps: two copies, and two that spin, one of them for no time."""
    path, soname = onednn_of(paradnn)
    hidden = soname.replace("libdnnl", "libdnnx")
    sides = {kind: [os.path.join(os.path.abspath(directory), f"{kind}-{side}") for side in "ab"] for kind in ("equal", "slow")}
    for side in sides["equal"] + sides["slow"]:
        shutil.rmtree(side, ignore_errors=True)
        os.makedirs(side)
    for side in sides["equal"]:
        shutil.copy(path, os.path.join(side, soname))
    source = os.path.join(directory, "spin.c")
    pathlib.Path(source).write_text(SPIN, encoding="utf-8")
    library = pathlib.Path(path).read_bytes()
    for side, share in zip(sides["slow"], (0, SLOW_DOWN)):
        real = os.path.join(side, hidden)
        pathlib.Path(real).write_bytes(library.replace(soname.encode() + b"\0", hidden.encode() + b"\0"))
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", f"-DSHARE={share}", f"-Wl,-soname,{soname}", "-o",
                        os.path.join(side, soname), source, "-Wl,--no-as-needed", real, "-ldl"], check=True)
    return sides


def sweep_within(paradnn, out, name, spec):
    """The seconds that it takes, or took."""
    directory, took = f"{out}/{name}", f"{out}/{name}.seconds"
    if not os.path.exists(took):
        path, roofs, begin = f"{out}/{name}.yaml", f"{out}/ceilings.csv", time.monotonic()
        pathlib.Path(path).write_text(spec, encoding="utf-8")
        shutil.rmtree(directory, ignore_errors=True)
        if not os.path.exists(roofs):
            subprocess.run([paradnn, "ceilings", "-o", roofs], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            begin = time.monotonic()
        done = subprocess.run([paradnn, "sweep", path, "-o", directory, "--ceilings", roofs, "--quiet"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            sys.exit(f"{path}: {done.stderr[-2000:]}")
        pathlib.Path(took).write_text(f"{time.monotonic() - begin:.1f}\n", encoding="utf-8")
    return float(pathlib.Path(took).read_text(encoding="utf-8"))


def judged(paradnn, directory):
    done = subprocess.run([paradnn, "compare", directory, "--across", "library=a:b", "--format", "csv"], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def put_within(kind, sweeps):
    """sweeps: seconds and rows of each."""
    truth = -math.log1p(SLOW_DOWN) if kind == "slow" else 0  # of the logarithm of A's time over B's
    models = [row for _, of in sweeps for row in of if row["pairs"]]
    if not models:
        print(f"{kind}: no model has pairs")
        return
    decisions = [row["decision"] for row in models]
    false = [sum(row["decision"] in (("slower", "faster") if kind == "equal" else ("faster",)) for row in of) for _, of in sweeps]
    ends = [(math.log(float(row["ratio_low"])), math.log(float(row["ratio_high"]))) for row in models]
    halves = sorted((high - low) / 2 for low, high in ends)
    print(f"{kind}: {len(sweeps)} sweeps, {len(models)} models, {sum(len(of) for _, of in sweeps) - len(models)} without pairs\n"
          f"  {', '.join(f'{word} {decisions.count(word)}' for word in ('slower', 'faster', 'alike', 'undecided'))}\n"
          f"  false: {sum(false)} models in {sum(map(bool, false))} sweeps" + (f"; found: {decisions.count('slower')}" if kind == "slow" else "") + "\n"
          f"  99 % intervals with the truth: {sum(low <= truth <= high for low, high in ends)} of {len(ends)}; half-width "
          f"{100 * statistics.median(halves):.2f} % in the median, {100 * halves[len(halves) * 9 // 10]:.2f} % at 90 %\n"
          f"  rounds {statistics.median(int(row['pairs']) for row in models):.0f} in the median; "
          f"{sum(seconds for seconds, _ in sweeps) / len(models):.1f} s a model")


def within():
    parser = argparse.ArgumentParser(description="sweeps in paired order with sides whose ratio is known")
    parser.add_argument("--within", action="store_true", required=True)
    parser.add_argument("paradnn")
    parser.add_argument("out")
    parser.add_argument("--sweeps", type=int, default=2, help="of each kind (default: 2)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no sweep that would end later")
    parser.add_argument("--loops", type=int, default=0, help="busy loops beside the sweeps")
    parser.add_argument("--small", action="store_true", help="models of short steps")
    parser.add_argument("--kind", choices=["equal", "slow"], help="of sides; both in turn without")
    parser.add_argument("--max-time", default="60s", help="a model (default: 60s)")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    sides = {kind: of for kind, of in make_libraries(args.paradnn, args.out).items() if args.kind in (None, kind)}
    found, begin, longest = {kind: [] for kind in sides}, time.monotonic(), 0
    spec = WITHIN.replace("{models}", (SMALL if args.small else MODELS).replace("{", "{{").replace("}", "}}")).replace("{max_time}", args.max_time)
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.loops)]
    try:
        for seed in range(1, args.sweeps + 1):
            for kind, (a, b) in sides.items():
                start = time.monotonic()
                if start + longest > begin + 60 * args.minutes:
                    continue
                name = f"{kind}{'-small' if args.small else ''}.{args.loops}.{seed}"
                seconds = sweep_within(args.paradnn, args.out, name, spec.format(seed=seed, a=a, b=b))
                found[kind].append((seconds, judged(args.paradnn, f"{args.out}/{name}")))
                longest = max(longest, time.monotonic() - start)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    for kind, sweeps in found.items():
        put_within(kind, sweeps)


def main():
    if "--within" in sys.argv:
        within()
        return
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    kinds = {"": [tuple(sys.argv[1:])]}
    if len(sys.argv) == 2:
        kinds = {}
        for first in sorted(pathlib.Path(sys.argv[1]).glob("*.a")):
            kinds.setdefault(first.name.split(".")[1].split("-")[0], []).append((first, first.with_suffix(".b")))
    for kind, pairs in kinds.items():
        print(f"{kind or 'one pair'}: {len(pairs)} pairs of runs")
        for same_state in (True, False):
            compare("as published", pairs, published, same_state)
            compare("alone", pairs, alone, same_state)
            compare("alone, scaled by the FMA probe", pairs, lambda directory: alone(directory, 1), same_state)
            compare("alone, scaled by the read probe", pairs, lambda directory: alone(directory, 2), same_state)


if __name__ == "__main__":
    main()
