#!/usr/bin/env python3
"""Memory of a driver whose journal has thousands of visits to one instance: it grows with the visits, not with their square.

Usage: memory_test.py PARADNN [--sanitized]   (sanitizers take memory of their own: without the bounds)

A sweep of 3,000 and then of 6,000 made-up visits with 40 ops each goes on with two more rounds; status reads the directory; merge makes
another of it. A peak is that of the command or of its worker, whichever is greater: 39 and 75 MiB for the sweep, 15 and 20 for status, 41
and 77 for merge. While the breakdown had a row for each op of each visit, and in it a time for each visit, the sweep took 2.7 and 10.8 GiB."""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import make_journal  # noqa: E402
from files import rows  # noqa: E402

PARADNN = os.path.abspath(sys.argv[1])
SANITIZED = "--sanitized" in sys.argv
MOST_MIB = 160
MOST_GROWTH = 2.5  # from 3,000 to 6,000
OPS = 40
SPEC = """\
sweep: one
run: {threads: 1}
measure: {rounds: 1, max_time: 1ms, precision: 90%, probe: off}
models:
  - fc: {layers: 2, nodes: 16, input: 16, output: 8, batch: 4}
"""
# The sweep measures no roofs.
CEILINGS = f"{make_journal.CEILINGS}\ncompute,fma,f32,,1,0,100,100,100,3\nbandwidth,read,,DRAM,1,0,10,10,10,3\n"


def run(*arguments):
    """Runs the program. Returns its peak of resident memory in MiB."""
    with subprocess.Popen([PARADNN, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, (arguments, child.returncode, said)
    peak = used.ru_maxrss / 1024
    assert SANITIZED or peak <= MOST_MIB, (arguments, peak)
    return peak


def made_up(directory, visits, name):
    """A directory of made-up visits that a sweep on this machine takes for its own."""
    make_journal.make(directory, SPEC, [name], visits=visits, n_ops=OPS)
    for file in "environment.yaml", "ceilings.csv":
        shutil.copy(os.path.join("real", file), directory)


def peaks(visits, name):
    directory = f"{visits}-visits"
    made_up(directory, visits, name)
    used = {"sweep": run("sweep", "one.yaml", "-o", directory, "--set", f"measure.rounds={visits + 2}")}
    assert [row["rounds"] for row in rows(directory, "results.csv")] == [str(visits + 2)]
    # Each op once, however many visits have it.
    assert sum(row["op"] == "dense" and row["op_shape"].startswith("4x1:") for row in rows(directory, "ops.csv")) == 1
    used["status"] = run("status", directory)
    used["merge"] = run("merge", directory, "-o", directory + "-merged")
    assert len(rows(directory + "-merged", "journal.csv")) == visits + 2
    return used


def main():
    with open("one.yaml", "w", encoding="utf-8") as file:
        file.write(SPEC)
    with open("roofs.csv", "w", encoding="utf-8") as file:
        file.write(CEILINGS)
    run("sweep", "one.yaml", "-o", "real", "--ceilings", "roofs.csv")
    name = rows("real", "journal.csv")[0]["id"]
    few, many = peaks(3000, name), peaks(6000, name)
    for command, peak in many.items():
        print(f"{command}: {few[command]:.0f} MiB with 3,000 visits, {peak:.0f} MiB with 6,000")
        assert SANITIZED or peak <= MOST_GROWTH * few[command], (command, few[command], peak)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
