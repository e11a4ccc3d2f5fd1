#!/usr/bin/env python3
"""status, merge, sweep and compose count the same instances as done, whatever visits there are.

Usage: standing_test.py PARADNN"""

import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import make_journal  # noqa: E402
from files import read, rows  # noqa: E402

SPEC = """\
sweep: standing
run: {threads: 1, backend: reference}
measure: {rounds: 2, precision: 99%, max_time: 1us, min_samples: 1, probe: "off"}
models:
  - fc: {layers: [1, 2], nodes: [8, 16], input: 16, output: 8, batch: [1, 2]}
"""
PARADNN = os.path.abspath(sys.argv[1])
# o ok, c crash, m out of memory; C composed, P predicted, S settled. The visits of an instance, and whether it is open.
CASES = [("oo", False), ("o", True), ("oc", True), ("cc", False), ("m", False), ("cCc", False), ("CSS", True), ("CCSSo", True)]
KINDS = {"o": ("ok", ""), "c": ("crash", ""), "m": ("oom", ""), "C": ("ok", "composed"), "P": ("ok", "composed|predicted"),
         "S": ("ok", "composed|settled")}

SCHEMA = make_journal.visit_rows(random.Random(0), "", 1, 0, 0)[0].split(",")[0]


def paradnn(*arguments):
    run = subprocess.run([PARADNN, *arguments], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), (arguments, run)
    return run


def status(directory):
    (row,) = csv.DictReader(paradnn("status", directory, "--format", "csv").stdout.splitlines())
    return row


def said_open(said):
    """The instances that are not done, by what a command prints: "3 instances: 3 ok; 1 done, 2 begun, 0 open"."""
    found = re.search(r"\d+ instances:[^;\n]*(?:; \d+ done, (\d+) begun, (\d+) open)?", said)
    assert found, said
    return int(found.group(1) or 0) + int(found.group(2) or 0)


def unfinished(*directories):
    """By a merge of them."""
    shutil.rmtree("merged", ignore_errors=True)
    return said_open(paradnn("merge", *directories, "-o", "merged").stderr)


def report(directory):
    paradnn("report", directory)
    return read(directory, "report.html")


def open_in(directory):
    """By status, whose counts of rows are those of the tables."""
    found = status(directory)
    assert int(found["done"]) + int(found["begun"]) + int(found["open"]) == int(found["instances"]), found
    return int(found["begun"]) + int(found["open"])


def write(directory, visits, start=0):
    """A journal of these visits, by instance, each without ops and a second after the one before."""
    os.makedirs(directory, exist_ok=True)
    with open(f"{directory}/journal-ops.csv", "w", encoding="utf-8") as file:
        file.write(make_journal.OPS + "\n")
    with open(f"{directory}/journal.csv", "w", encoding="utf-8") as file:
        file.write(make_journal.JOURNAL + "\n")
        for name, letters in visits.items():
            for number, letter in enumerate(letters, 1):
                outcome, flags = KINDS[letter]
                start += 0 if letter == "S" and letters[number - 2] == "S" else 1
                median = 1000 + (37 * start + 5 * number) % 101
                times = f"5,1,4,{median},900,{median + 3},950,1200,9,{median}" if outcome == "ok" else ",,,,,,,,,"
                file.write(f'{SCHEMA},"{name}",{number},{outcome},,{make_journal.started(1000 * start)},1,1000,{times},,,,,,,,,,,,,,,,,,,,,'
                           f'{"precision" if outcome == "ok" else ""},{flags},0\n')


def made(directory, visits, host, start=0):
    make_journal.make(directory, SPEC, [], host=host)
    write(directory, visits, start)


def test_one_directory():
    with open("roofs.csv", "w", encoding="utf-8") as file:
        file.write(make_journal.ceilings(threads=1))
    sweep = ["sweep", "spec.yaml", "-o", "swept", "--ceilings", "roofs.csv"]
    paradnn(*sweep, "--set", "measure.rounds=1")
    with open("swept/spec.yaml", "w", encoding="utf-8") as file:
        file.write(SPEC)
    ids = [row["id"] for row in rows("swept", "results.csv")]
    assert len(ids) == len(CASES), ids
    write("swept", dict(zip(ids, (letters for letters, _ in CASES))))
    opened = [name for name, (_, is_open) in zip(ids, CASES) if is_open]
    assert open_in("swept") == unfinished("swept") == len(opened), status("swept")
    assert int(status("swept")["ok"]) == [row["status"] for row in rows("merged", "results.csv")].count("ok"), status("swept")
    said = f"{len(CASES)} instances: 6 ok, 1 oom, 1 crash; 4 done, 4 begun, 0 open."
    assert said in report("swept")
    before = len(rows("swept", "journal.csv"))
    paradnn(*sweep)
    assert f"<li>{len(CASES)} instances:" not in report("swept")
    visited = {row["id"] for row in rows("swept", "journal.csv")[before:]}
    assert visited == set(opened), visited ^ set(opened)


def test_composed():
    """compose makes the missing rounds of those that status and merge call open, and of no others."""
    spec = SPEC.replace("reference", "onednn")
    with open("spec.yaml", "w", encoding="utf-8") as file:
        file.write(spec)
    with open("roofs.csv", "w", encoding="utf-8") as file:
        file.write(make_journal.ceilings(threads=1))  # of a machine without caches: no model is too small to be composed
    compose = ["compose", "spec.yaml", "-o", "composed", "--ceilings", "roofs.csv"]
    paradnn(*compose, "--set", "measure.rounds=1")
    with open("composed/spec.yaml", "w", encoding="utf-8") as file:
        file.write(spec)
    ids = [row["id"] for row in rows("composed", "results.csv")]
    letters = ["CC", "C", "CSS", "CCSS", "CSSSS", "PPC", "PP", "CC"]
    write("composed", dict(zip(ids, letters)))
    assert open_in("composed") == unfinished("composed") == 4, status("composed")
    before = len(rows("composed", "journal.csv"))
    assert said_open(paradnn(*compose).stderr) == 0
    new = [row["id"] for row in rows("composed", "journal.csv")[before:] if row["row_flags"] == "composed"]
    assert set(new) >= {ids[i] for i in (1, 2, 4, 5)} and not set(new) & {ids[i] for i in (0, 3, 7)}, new
    assert open_in("composed") == unfinished("composed") == 0, status("composed")


def test_two_hosts():
    """Visits on two hosts share no row: status and merge take those of one, the best by method."""
    ids = make_journal.ids_of(PARADNN, "spec.yaml")
    ids = [row.replace("threads=2", "threads=1") for row in ids]
    many = {"a": ["o", "oo", "o", "CC"], "b": ["o", "o", "CCSS", "o"]}
    open_ones, host_of = {ids[0], ids[2], ids[3]}, dict(zip(ids, ["a", "a", "a", "b"]))
    os.makedirs("joined/parts")
    with open("joined/spec.yaml", "w", encoding="utf-8") as file:
        file.write(SPEC)
    for number, (host, letters) in enumerate(many.items()):
        made(f"joined/parts/{host}", dict(zip(ids, letters)), host, 1000 * number)
    said = paradnn("merge", "joined", "-o", "merged")
    kept = {row["id"]: row["host"] for row in rows("merged", "results.csv") if row["status"] == "ok"}
    assert kept == host_of, (kept, said)
    assert said_open(said.stderr) == open_in("joined"), said
    assert status("joined")["begun"] == str(len(open_ones)) and status("joined")["ok"] == str(len(ids[:4])), status("joined")


def test_copies():
    """The merged journal beside the parts it was merged from: a visit in both is one visit."""
    ids = [row.replace("threads=2", "threads=1") for row in make_journal.ids_of(PARADNN, "spec.yaml")]
    os.makedirs("again/parts")
    with open("again/spec.yaml", "w", encoding="utf-8") as file:
        file.write(SPEC)
    made("again/parts/a", {ids[0]: "c", ids[1]: "o"}, "a")
    paradnn("merge", "again", "-o", "again")
    assert len(rows("again", "journal.csv")) == 2
    assert status("again")["begun"] == "2", status("again")


def test_intervals():
    """Only visits that count say how visits scatter, in a merge as in the directory itself."""
    ids = [row.replace("threads=2", "threads=1") for row in make_journal.ids_of(PARADNN, "spec.yaml")]
    letters = ["CCCSSSoo", "ooo", "oo", "CCSS", "PPoo", "oo", "oo", "ooo"]
    made("plain", {**dict(zip(ids, letters)), ids[0].replace("nodes=8", "nodes=9"): "o"}, "a")
    paradnn("merge", "plain", "-o", "merged")
    paradnn("prune", "plain", "--yes")  # drops the last one and makes the tables anew
    columns = ("id", "method", "rounds", "time_ns_median", "ci_low_ns", "ci_high_ns", "row_flags")
    plain, merged = ([[row[name] for name in columns] for row in rows(place, "results.csv")] for place in ("plain", "merged"))
    assert plain == merged[:-1], [pair for pair in zip(plain, merged) if pair[0] != pair[1]]
    assert len({row[4] for row in plain}) > 4, plain


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, test in sorted(globals().items()):
            if name.startswith("test_"):
                os.makedirs(f"{folder}/{name}")
                os.chdir(f"{folder}/{name}")
                with open("spec.yaml", "w", encoding="utf-8") as file:
                    file.write(SPEC)
                test()
                print(name, "ok")


if __name__ == "__main__":
    main()
