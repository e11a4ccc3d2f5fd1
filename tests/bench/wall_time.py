#!/usr/bin/env python3
"""Where a sweep's wall time goes, with nothing kept from earlier sweeps and then with what the first one kept.

Usage: wall_time.py PARADNN [SPEC...]; without specs the four family sweeps. Prints what each sweep says at its end, as a table in
seconds. Timed are samples and stamped steps; warm-up is not."""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PARTS = ["samples", "stamped steps", "warm-up", "probes", "choosing", "other preparation", "roofs", "other"]


def main():
    program = os.path.abspath(sys.argv[1])
    specs = sys.argv[2:] or [os.path.join(ROOT, "sweeps", name + ".yaml") for name in ("fc", "cnn", "rnn", "transformer")]
    print(f"{'sweep':12} {'run':6} {'wall':>6} {'timed':>6} " + " ".join(f"{part:>{max(6, len(part))}}" for part in PARTS))
    with tempfile.TemporaryDirectory() as folder:
        for spec in specs:
            name = os.path.basename(spec).removesuffix(".yaml")
            environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, name), "PARADNN_NO_CACHE": ""}
            for run in ("first", "second"):
                done = subprocess.run([program, "sweep", spec, "-o", os.path.join(folder, f"{name}-{run}")], env=environment,
                                      stderr=subprocess.PIPE, text=True, check=True)
                wall, share, rest = re.search(r"^([\d.]+) s, (\d+) % in timed steps: (.*)$", done.stderr, re.M).groups()
                seconds = dict(re.findall(r"([a-z-][a-z -]*) ([\d.]+) s", rest))
                print(f"{name:12} {run:6} {wall:>6} {share + ' %':>6} " +
                      " ".join(f"{seconds[part]:>{max(6, len(part))}}" for part in PARTS), flush=True)


if __name__ == "__main__":
    main()
