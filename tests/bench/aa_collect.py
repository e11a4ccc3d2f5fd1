#!/usr/bin/env python3
"""Collects A/A data: every sweep is run twice in a row, so that the two runs differ only in what the machine did meanwhile.

Usage: aa_collect.py PARADNN OUT [--minutes M] [PAIR...]     (PAIR: quiet-N, compute-N, stream-N; default: six quiet, four loaded: an hour)

Writes OUT/SWEEP.PAIR.a and OUT/SWEEP.PAIR.b for the sweeps fc, rnn and cnn as shipped. A pair of kind compute or stream runs beside
one busy process: a loop of arithmetic, or one that copies memory. What is there is kept, so a collection can be done in parts. The
roofs are measured once and shared. With --minutes it begins no pair of runs that would end later."""

import argparse
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import time

SWEEPS = pathlib.Path(__file__).resolve().parents[2] / "sweeps"
NAMES = ("fc", "rnn", "cnn")
NEIGHBOURS = {
    "compute": "while True: pass",
    "stream": "a, b = bytearray(1 << 27), bytes(1 << 27)\nwhile True: a[:] = b",
}
PAIRS = ["quiet-1", "compute-1", "quiet-2", "stream-1", "quiet-3", "quiet-4", "quiet-5", "quiet-6", "compute-2", "stream-2"]


def run(paradnn, spec, directory, roofs, neighbour):
    busy = neighbour and subprocess.Popen([sys.executable, "-c", neighbour])
    part = f"{directory}.part"
    shutil.rmtree(part, ignore_errors=True)
    command = [paradnn, "sweep", spec, "-o", part] + (["--ceilings", roofs] if os.path.exists(roofs) else [])
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        if busy:
            busy.kill()
            busy.wait()
    if done.returncode > 1:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr[-2000:]}")
    if not os.path.exists(roofs):
        shutil.copy(f"{part}/ceilings.csv", roofs)
    os.rename(part, directory)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paradnn")
    parser.add_argument("out")
    parser.add_argument("pairs", nargs="*", default=PAIRS)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    begin, longest = time.monotonic(), 0
    for pair, name in itertools.product(args.pairs, NAMES):
        sides = [f"{args.out}/{name}.{pair}.{side}" for side in "ab"]
        if all(map(os.path.exists, sides)):
            continue
        start = time.monotonic()
        if start + longest > begin + 60 * args.minutes:
            break
        for directory in sides:
            run(args.paradnn, SWEEPS / f"{name}.yaml", directory, f"{args.out}/ceilings.csv", NEIGHBOURS.get(pair.split("-")[0]))
        longest = max(longest, time.monotonic() - start)
        print(f"{name}.{pair}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
