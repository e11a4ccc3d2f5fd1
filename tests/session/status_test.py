#!/usr/bin/env python3
"""What status says of made-up directories.

Usage: status_test.py PARADNN"""

import csv
import fcntl
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import make_journal  # noqa: E402

SPEC = """\
sweep: status
run: {threads: 1}
measure: {rounds: 2}
models:
  - fc: {layers: [1, 2], nodes: [8, 16], input: 16, output: 8, batch: [1, 2]}
    where: batch < 2 or nodes < 16
"""
PARADNN = os.path.abspath(sys.argv[1])


def status(directory, rc):
    run = subprocess.run([PARADNN, "status", directory, "--format", "csv"], capture_output=True, text=True, check=False)
    assert run.returncode == rc, (directory, run)
    (row,) = csv.DictReader(run.stdout.splitlines())
    return row


def expect(directory, rc, **items):
    found = status(directory, rc)
    assert {name: found.get(name) for name in items} == items, (directory, found)


def record(number, event, host="node1", **values):
    lines = {"schema": 1, "event": event, **({"journal_schema": 4} if event == "plan" else {}), "part": f"{host}-1-x", "boot": '"a"',
             "pid_space": 1, "pid": 1, "started": 1, **values, "record": number}
    with open(f"joined/leases/{number:08}", "w", encoding="utf-8") as file:
        file.write("# One record of a joined sweep: who measures which of its instances.\n")
        file.writelines(f"{key}: {value}\n" for key, value in lines.items())


def check_leases():
    """Of a joined sweep, who holds what and who is stale."""
    os.makedirs("joined/leases")
    expect("joined", 1, leases_held=None)
    record(0, "plan", instances=8, hash=1, expiry_ns=36000 * 10**9, allow_slow=0)
    record(1, "claim", host="node1", cost_us=1, list="0-2")
    record(2, "claim", host="node2", cost_us=1, list="3-4")
    record(3, "ended", host="node1", lease=1, list="0")
    record(4, "claim", host="node1", cost_us=1, list="1")
    for host in "node1", "node2":
        with open(f"joined/leases/beat-{host}-1-x", "w", encoding="utf-8") as file:
            file.write(f"{1:020}\n")
    os.utime("joined/leases/beat-node2-1-x", (1, 1))
    expect("joined", 1, working="1", leases_held="1", leases_stale="1", leases_ended="1", leases_lost="0", instances_held="3",
           **{"held_by node1-1-x": "1", "stale node2-1-x": "2"})
    run = subprocess.run([PARADNN, "status", "joined", "--format", "json"], capture_output=True, text=True, check=False)
    (row,) = json.loads(run.stdout)
    assert [row[name] for name in ("directory", "leases_held", "stale node2-1-x", "crash")] == ["joined", 1, 2, 0], row
    record(5, "claim", cost_us=1, list="1")
    run = subprocess.run([PARADNN, "status", "joined"], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "joined/leases/00000005: claims instance 1, which was not free" in run.stderr, run
    os.remove("joined/leases/00000005")


def check_lock(ids):
    """On this host, the journal's lock tells whether a sweep is running."""
    make_journal.make("here", SPEC, ids[:2], host=os.uname().nodename)
    expect("here", 1, working="0", visits_per_hour="")
    with open("here/journal.csv", "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        expect("here", 1, working="1")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("spec.yaml", "w", encoding="utf-8") as file:
            file.write(SPEC)
        ids = [name for name in make_journal.ids_of(PARADNN, "spec.yaml", threads=1)
               if "batch=1," in name or "nodes=8," in name]
        assert len(ids) == 6, ids

        make_journal.make("whole", SPEC, ids)
        expect("whole", 0, instances="8", done="8", ok="6", filtered="2", open="0", begun="0", interrupted="0", of_another_spec="0", visits="12",
               directories="1", working="0", seconds_left="0")

        # Half of the visits, the last of them not yet complete.
        make_journal.make("half", SPEC, ids, visits=1)
        with open("half/journal.csv", "a", encoding="utf-8") as file:
            file.write('2,"fc/layers=')
        expect("half", 1, done="2", begun="6", open="0", ok="6", visits="6", working="1")
        assert float(status("half", 1)["seconds_left"]) >= 0

        # Visits beyond the rounds count where there may be any: at most three times as many, of which four fifths are usual.
        left = {}
        for max_time in "5s", "100us":
            spec = SPEC.replace("rounds: 2", f"rounds: 2, max_time: {max_time}")
            make_journal.make("left-" + max_time, spec, ids, visits=1)
            left[max_time] = float(status("left-" + max_time, 1)["seconds_left"])
        assert left["5s"] > 4 * left["100us"] > 0, left

        # A failure is a result, a crash only the second time.
        with open("half/journal.csv", encoding="utf-8") as file:
            text = file.read()
        rows = text.split("\n")
        rows[1], rows[2] = rows[1].replace(",ok,", ",oom,"), rows[2].replace(",ok,", ",crash,")
        with open("half/journal.csv", "w", encoding="utf-8") as file:
            file.write("\n".join(rows))
        expect("half", 1, done="3", oom="1", crash="1", begun="5", open="0")

        os.makedirs("joined/parts")
        with open("joined/spec.yaml", "w", encoding="utf-8") as file:
            file.write(SPEC)
        expect("joined", 1, done="2", open="6", interrupted="6", visits="0", directories="0")
        make_journal.make("joined/parts/p1", SPEC, ids[:3], seed=1)
        expect("joined", 1, done="5", ok="3", open="3", begun="0", directories="1")
        make_journal.make("joined/parts/p2", SPEC, ids[3:5], seed=2, host="node2")
        os.utime("joined/parts/p1/journal.csv", (1, 1))
        expect("joined", 1, done="7", ok="5", directories="2", working="1")
        check_leases()
        make_journal.make("joined/parts/p3", SPEC, ids[5:], seed=3, host="node2")
        expect("joined", 0, done="8", ok="6", directories="3")
        check_lock(ids)

        make_journal.make("other", SPEC.replace("16]", "32]"), ids)
        expect("other", 1, instances="8", done="6", open="2", ok="4", of_another_spec="2")

        with open("whole/environment.yaml", "a", encoding="utf-8") as file:
            file.write('shard: "0/2"\n')
        old = subprocess.run([PARADNN, "status", "whole"], capture_output=True, text=True, check=False)
        assert (old.returncode, old.stdout) == (2, "") and "whole: shard 0/2 was dealt by an earlier version" in old.stderr, old
        with open("whole/environment.yaml", "a", encoding="utf-8") as file:
            file.write('shard_rule: "the spec"\n')
        shard = status("whole", 0)
        assert 0 < int(shard["instances"]) < 8, shard
        run = subprocess.run([PARADNN, "status", "half", "--watch", "--columns", "nope"], capture_output=True, text=True, check=False)
        assert run.returncode == 2 and run.stderr.count("has no column 'nope'") == 1, run
        run = subprocess.run([PARADNN, "status", "none"], capture_output=True, text=True, check=False)
        assert run.returncode == 2 and "none: No such file or directory" in run.stderr, run
    print("status ok")


if __name__ == "__main__":
    main()
