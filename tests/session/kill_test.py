#!/usr/bin/env python3
"""Kills workers and drivers of sweeps at random moments, and resumes the sweeps until they finish.

Usage: kill_test.py PARADNN [KILLS [SEED]]

An undisturbed sweep provides the keys. Other sweeps of the same spec, each in its own directory, then receive KILLS times SIGKILL in
their worker or driver, and are resumed until they finish. Each must leave a table with the same keys in the same order, none missing
and none twice, a journal that has only been appended to, and no other files. A killed driver must leave no worker behind. Finally, one
sweep is interrupted by SIGINT: exit status 130, tables complete."""

import collections
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

ROUNDS = 3
SPEC = f"""\
sweep: kill
run: {{mode: [infer, train], threads: 1}}
measure: {{rounds: {ROUNDS}, precision: 90%, min_samples: 3, max_time: 60ms}}
models:
  - fc: {{layers: 2, nodes: [8, 16], input: 32, output: [4, 8], batch: [2, 4]}}
"""
# About half the duration of an undisturbed sweep: kills hit every stage, most of them more than once.
LONGEST_DELAY_S = 0.4
PATIENCE_S = 10
NAMES = ["ceilings.csv", "environment.yaml", "journal-ops.csv", "journal.csv", "ops.csv", "results.csv", "spec.yaml"]


class Wrong(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Wrong(text)


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def journal_lines(directory):
    """The complete lines of the journal; a torn last line does not count."""
    try:
        with open(os.path.join(directory, "journal.csv"), "rb") as file:
            return file.read().split(b"\n")[:-1]
    except FileNotFoundError:
        return []


def worker_of(driver):
    """The worker's pid once it runs its own program, or None."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                command = file.read().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == driver and command[0] == b"paradnn-worker":
            return int(entry)
    return None


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Sweep:
    """One result directory and the driver working on it."""

    def __init__(self, program, spec, directory, ceilings):
        self.command = [program, "sweep", spec, "-o", directory] + (["--ceilings", ceilings] if ceilings else [])
        self.directory = directory
        self.kept = []  # the journal as it was after the last kill
        self.worker_kills = 0
        self.driver = None

    def start(self):
        self.driver = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def is_at_work(self):
        return self.driver is not None and self.driver.poll() is None

    def finish(self):
        """Waits for the end and checks the exit status: 1 means that a row failed, as killed ones may."""
        _, errors = self.driver.communicate(timeout=300)
        status, self.driver = self.driver.returncode, None
        expect(status in (0, 1), f"exit status {status}: {errors.decode()}")
        return status

    def kill_worker(self):
        worker = worker_of(self.driver.pid)
        if worker is None:
            return False
        os.kill(worker, signal.SIGKILL)
        self.worker_kills += 1
        return True

    def kill_driver(self):
        worker = worker_of(self.driver.pid)
        self.driver.kill()
        self.driver.communicate()
        self.driver = None
        deadline = time.monotonic() + PATIENCE_S
        while worker is not None and is_running(worker):
            expect(time.monotonic() < deadline, f"worker {worker} has outlived its driver")
            time.sleep(0.01)
        self.check_journal()
        return True

    def check_journal(self):
        lines = journal_lines(self.directory)
        expect(lines[: len(self.kept)] == self.kept, "the journal has lost or changed lines that were there")
        self.kept = lines

    def check(self, keys):
        self.check_journal()
        names = sorted(os.listdir(self.directory))
        expect(names == NAMES, f"the directory holds {names}")
        results = rows(os.path.join(self.directory, "results.csv"))
        expect([row["id"] for row in results] == keys, "the keys are not those of the undisturbed sweep")
        for row in results:
            expect(row["status"] in ("ok", "crash"), f"{row['id']}: {row['status']}: {row['reason']}")
        visits = rows(os.path.join(self.directory, "journal.csv"))
        for key in keys:
            statuses = [visit["status"] for visit in visits if visit["id"] == key]
            expect(statuses.count("ok") >= ROUNDS or statuses[-2:] == ["crash", "crash"],
                   f"{key}: has not come to its end: {statuses}")
        numbers = [(visit["id"], visit["visit"]) for visit in visits]
        expect(len(set(numbers)) == len(numbers), "a visit is in the journal twice")
        ops = rows(os.path.join(self.directory, "journal-ops.csv"))
        have = collections.Counter((op["id"], op["visit"]) for op in ops)
        want = {(visit["id"], visit["visit"]): int(visit["ops"]) for visit in visits if visit["ops"] != "0"}
        expect(have == want, "journal-ops.csv does not hold the ops of the journal's visits, each once")
        crashes = sum(visit["status"] == "crash" for visit in visits)
        expect(crashes <= self.worker_kills, f"{crashes} crashes after {self.worker_kills} kills of a worker")
        return crashes, sum(row["status"] == "crash" for row in results)


def check_interrupt(program, spec, directory, ceilings, keys):
    sweep = Sweep(program, spec, directory, ceilings)
    sweep.start()
    deadline = time.monotonic() + PATIENCE_S
    while len(journal_lines(directory)) < 5:
        expect(time.monotonic() < deadline and sweep.is_at_work(), "the sweep makes no progress")
        time.sleep(0.01)
    sweep.driver.send_signal(signal.SIGINT)
    _, errors = sweep.driver.communicate(timeout=PATIENCE_S)
    expect(sweep.driver.returncode == 130, f"exit status {sweep.driver.returncode} after SIGINT: {errors.decode()}")
    expect([row["id"] for row in rows(os.path.join(directory, "results.csv"))] == keys,
           "an interrupted sweep does not leave all its keys")
    sweep.kept = journal_lines(directory)
    sweep.start()
    expect(sweep.finish() == 0, "what was interrupted does not end well")
    crashes, _ = sweep.check(keys)
    expect(crashes == 0, "an interrupted visit counts as a crash")


def disturb(program, spec, root, ceilings, keys, kills):
    """Kills the requested number of times; a sweep that finishes meanwhile is checked and replaced by a fresh one."""
    done = {"worker": 0, "driver": 0}
    sweeps = crashes = failed = 0
    while sum(done.values()) < kills:
        sweep = Sweep(program, spec, os.path.join(root, f"disturbed{sweeps}"), ceilings)
        sweeps += 1
        sweep.start()
        while sum(done.values()) < kills:
            time.sleep(random.uniform(0, LONGEST_DELAY_S))
            if not sweep.is_at_work():
                break
            victim = random.choice(list(done))
            if sweep.kill_worker() if victim == "worker" else sweep.kill_driver():
                done[victim] += 1
            if sweep.driver is None:
                sweep.start()
        sweep.finish()
        these_crashes, these_failed = sweep.check(keys)
        crashes += these_crashes
        failed += these_failed
    return done, sweeps, crashes, failed


def main():
    program = os.path.abspath(sys.argv[1])
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    random.seed(seed)
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as root:
        spec = os.path.join(root, "kill.yaml")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(SPEC)
        quiet = Sweep(program, spec, os.path.join(root, "undisturbed"), None)
        quiet.start()
        expect(quiet.finish() == 0, "the undisturbed sweep fails")
        keys = [row["id"] for row in rows(os.path.join(quiet.directory, "results.csv"))]
        expect(len(keys) == len(set(keys)) == 16, f"{len(keys)} keys in the undisturbed sweep, not 16")
        quiet.check(keys)
        ceilings = os.path.join(quiet.directory, "ceilings.csv")
        done, sweeps, crashes, failed = disturb(program, spec, root, ceilings, keys, kills)
        print(f"killed {done['worker']} workers and {done['driver']} drivers in {sweeps} sweeps: no row lost, none doubled; "
              f"{crashes} visits crashed, {failed} of {sweeps * len(keys)} rows in the end")
        check_interrupt(program, spec, os.path.join(root, "interrupted"), ceilings, keys)
        print("interrupted one sweep: status 130, all rows there, the rest done by a rerun")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        print(f"WRONG: {wrong}")
        sys.exit(1)
