#!/usr/bin/env python3
"""Disturbs sweeps at random moments and resumes them until they finish.

Usage: kill_test.py PARADNN [DISTURBANCES [SEED [KIND...]]]

An undisturbed sweep provides the rows. Other sweeps of the same spec, each in its own directory, are disturbed: their worker is killed
or stopped until it runs into its time limit; their driver is killed, asked to end by each of four signals, or stopped for a while;
their disk is full or read-only, their files are limited in size, their directory is moved away, replaced or deleted. After each
disturbance the journal must begin with all complete rows that it had before. At the end, after a run with --retry, each sweep
must have the rows of the undisturbed one, equal in all columns that measure nothing, every visit and its ops once, and no other
files. A driver that ends must leave no worker behind."""

import collections
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from files import exact, expect, rows, Wrong
from processes import is_running, journal_lines, worker_of

ROUNDS = 3
SPEC = f"""\
sweep: kill
run: {{mode: [infer, train], threads: 1}}
measure: {{rounds: {ROUNDS}, precision: 90%, min_samples: 3, max_time: 60ms}}
limits: {{time: 2s}}
models:
  - fc: {{layers: 2, nodes: [8, 16], input: 32, output: [4, 8], batch: [2, 4]}}
"""
# About half the duration of an undisturbed sweep: disturbances hit every stage, most of them more than once.
LONGEST_DELAY_S = 0.4
PATIENCE_S = 120
NAMES = ["ceilings.csv", "environment.yaml", "journal-ops.csv", "journal.csv", "ops.csv", "results.csv", "spec.yaml"]
# What may stand in a visit's row for a disturbance; --retry replaces it.
DISTURBED = ("crash", "timeout")
SIGNALS = {"sigint": signal.SIGINT, "sigterm": signal.SIGTERM, "sighup": signal.SIGHUP,
           "sigusr1": signal.SIGUSR1}


class Sweep:
    """One result directory, and the driver that works on it if there is one."""

    def __init__(self, program, spec, directory, ceilings):
        self.command = [program, "sweep", spec, "-o", directory] + (["--ceilings", ceilings] if ceilings else [])
        self.directory = directory
        self.kept = []  # the journal's complete lines after the last disturbance
        self.driver = None
        self.said = ""  # by the last driver that ended

    def start(self, *options, file_limit=None):
        def prepare():
            for number in (*SIGNALS.values(), signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            if file_limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
        self.driver = subprocess.Popen([*self.command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       preexec_fn=prepare)

    def is_at_work(self):
        return self.driver is not None and self.driver.poll() is None

    def end(self, *allowed):
        """Waits for the driver's end; its worker must end too. Returns what it said."""
        worker = worker_of(self.driver.pid) if self.is_at_work() else None
        _, errors = self.driver.communicate(timeout=PATIENCE_S)
        status, self.driver = self.driver.returncode, None
        self.said = errors.decode()
        expect(status in allowed, f"exit status {status}, not one of {allowed}: {self.said}")
        deadline = time.monotonic() + PATIENCE_S
        while worker is not None and is_running(worker):
            expect(time.monotonic() < deadline, f"worker {worker} has outlived its driver")
            time.sleep(0.01)
        return status, self.said

    def check_journal(self):
        lines = journal_lines(self.directory)
        expect(lines[: len(self.kept)] == self.kept, "the journal has lost or changed lines that were there")
        self.kept = lines

    def check(self, reference):
        self.check_journal()
        names = sorted(os.listdir(self.directory))
        expect(names == NAMES, f"the directory holds {names}: {self.said}")
        expect(exact(self.directory) == reference, "the rows are not those of the undisturbed sweep")
        visits = rows(os.path.join(self.directory, "journal.csv"))
        for row in reference:
            statuses = [visit["status"] for visit in visits if visit["id"] == row["id"]]
            expect(set(statuses) <= {"ok", *DISTURBED}, f"{row['id']}: {statuses}")
            expect(statuses.count("ok") >= ROUNDS, f"{row['id']}: has not come to its end: {statuses}")
        numbers = [(visit["id"], visit["visit"]) for visit in visits]
        expect(len(set(numbers)) == len(numbers), "a visit is in the journal twice")
        for instance, counts in collections.Counter(id for id, _ in numbers).items():
            expect({int(number) for id, number in numbers if id == instance} == set(range(1, counts + 1)),
                   f"{instance}: visits are missing")
        ops = rows(os.path.join(self.directory, "journal-ops.csv"))
        have = collections.Counter((op["id"], op["visit"]) for op in ops)
        want = {(visit["id"], visit["visit"]): int(visit["ops"]) for visit in visits if visit["ops"] != "0"}
        expect(have == want, "journal-ops.csv does not hold the ops of the journal's visits, each once")
        return sum(visit["status"] in DISTURBED for visit in visits)


# Each disturbance finds a driver at work, does its harm at once, and leaves the directory where it was and usable again. It may leave
# the driver at work or ended. It returns False if there was nothing to disturb.

def kill_worker(sweep):
    worker = worker_of(sweep.driver.pid)
    if worker is not None:
        os.kill(worker, signal.SIGKILL)
    return worker is not None


def stop_worker(sweep):
    """Its visit ends as a timeout; at the start, another worker is tried."""
    worker = worker_of(sweep.driver.pid)
    if worker is None or not journal_lines(sweep.directory):
        return False
    os.kill(worker, signal.SIGSTOP)
    deadline = time.monotonic() + PATIENCE_S
    while is_running(worker) and sweep.is_at_work():
        expect(time.monotonic() < deadline, "a stopped worker is never killed")
        time.sleep(0.05)
    return True


def kill_driver(sweep):
    worker = worker_of(sweep.driver.pid)
    sweep.driver.kill()
    sweep.end(-signal.SIGKILL, 0, 1)
    deadline = time.monotonic() + PATIENCE_S
    while worker is not None and is_running(worker):
        expect(time.monotonic() < deadline, f"worker {worker} has outlived its driver")
        time.sleep(0.01)
    return True


def stop_driver(sweep):
    """As by ^Z: both stop, for longer than the time limit, which does not count."""
    before = sum(b",timeout," in line for line in journal_lines(sweep.directory))
    processes = [pid for pid in (sweep.driver.pid, worker_of(sweep.driver.pid)) if pid is not None]
    for pid in processes:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(2.5)
    for pid in processes:
        os.kill(pid, signal.SIGCONT)
    time.sleep(0.3)
    after = sum(b",timeout," in line for line in journal_lines(sweep.directory))
    expect(after == before, "time in which the driver was stopped counts for the limit")
    return True


def send(name):
    def disturb(sweep):
        has_begun = len(journal_lines(sweep.directory)) > len(sweep.kept)  # before, the signal may still have its default action
        sweep.driver.send_signal(SIGNALS[name])
        status, _ = sweep.end(130, 0, 1, *(() if has_begun else (-SIGNALS[name],)))
        if status == 130:
            results = rows(os.path.join(sweep.directory, "results.csv"))
            expect(len(results) == 16, "an interrupted sweep does not leave all its rows")
        return True
    return disturb


def restart(sweep, **options):
    """Ends the driver and starts it under other conditions."""
    sweep.driver.kill()
    sweep.end(-signal.SIGKILL, 0, 1)
    sweep.check_journal()
    sweep.start(**options)


def limit_files(sweep):
    paths = [os.path.join(sweep.directory, name) for name in NAMES]
    sizes = [os.path.getsize(path) for path in paths if os.path.exists(path)]
    restart(sweep, file_limit=random.randint(0, max(sizes, default=0) + 4000))
    sweep.end(0, 1)
    return True


def on_small_disk(harm):
    """Moves the directory to a file system of its own that `harm` makes unusable while the sweep runs."""
    def disturb(sweep):
        sweep.driver.kill()
        sweep.end(-signal.SIGKILL, 0, 1)
        sweep.check_journal()
        os.makedirs(sweep.directory, exist_ok=True)
        used = sum(-(-os.path.getsize(os.path.join(sweep.directory, name)) // 4096) * 4 for name in os.listdir(sweep.directory))
        away = sweep.directory + ".away"
        os.rename(sweep.directory, away)
        os.mkdir(sweep.directory)
        size = used + random.choice([16, 32, 48, 64, 96])
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", sweep.directory], check=True)
        try:
            shutil.copytree(away, sweep.directory, dirs_exist_ok=True)
            sweep.start()
            harm(sweep)
            sweep.check_journal()
            shutil.rmtree(away)
            shutil.copytree(sweep.directory, away)
        finally:
            subprocess.run(["umount", sweep.directory], check=True)
            os.rmdir(sweep.directory)
            os.rename(away, sweep.directory)
        return True
    return disturb


def fill(sweep):
    sweep.end(0, 1, 2)


def make_read_only(sweep):
    """Files open for writing keep a file system writable, so the driver is killed before."""
    time.sleep(random.uniform(0, LONGEST_DELAY_S))
    sweep.driver.kill()
    sweep.end(-signal.SIGKILL, 0, 1)
    before = {name: os.path.getsize(os.path.join(sweep.directory, name)) for name in os.listdir(sweep.directory)}
    subprocess.run(["mount", "-o", "remount,ro", sweep.directory], check=True)
    sweep.start()
    _, errors = sweep.end(2)
    expect(sweep.directory in errors, f"the directory is not named: {errors}")
    after = {name: os.path.getsize(os.path.join(sweep.directory, name)) for name in os.listdir(sweep.directory)}
    expect(before == after, "something was written to a read-only directory")


def move_directory(sweep):
    return lose(sweep, lambda away: None)


def replace_directory(sweep):
    return lose(sweep, lambda away: os.mkdir(sweep.directory))


def lose(sweep, then):
    if len(journal_lines(sweep.directory)) <= max(1, len(sweep.kept)) or not sweep.is_at_work():
        return False
    away = sweep.directory + ".away"
    os.rename(sweep.directory, away)
    then(away)
    status, errors = sweep.end(0, 1)
    # The last visit may have come before.
    expect(status == 1 and sweep.directory in errors or "instances:" in errors, f"status {status}, the directory is not named: {errors}")
    if os.path.exists(sweep.directory):
        expect(not os.listdir(sweep.directory), "the other directory got files")
        os.rmdir(sweep.directory)
    os.rename(away, sweep.directory)
    return True


def delete_directory(sweep):
    if len(journal_lines(sweep.directory)) <= max(1, len(sweep.kept)) or not sweep.is_at_work():
        return False
    away = sweep.directory + ".away"
    os.rename(sweep.directory, away)
    while os.path.exists(away):  # the driver may still make files there
        shutil.rmtree(away, ignore_errors=True)
    status, errors = sweep.end(0, 1)
    expect(status == 1 and sweep.directory in errors or "instances:" in errors, f"status {status}, the directory is not named: {errors}")
    sweep.kept = []
    return True


def can_mount():
    with tempfile.TemporaryDirectory() as place:
        if subprocess.run(["mount", "-t", "tmpfs", "none", place], check=False, stderr=subprocess.DEVNULL).returncode:
            return False
        subprocess.run(["umount", place], check=True)
    return True


KINDS = {
    "kill-worker": kill_worker,
    "stop-worker": stop_worker,
    "kill-driver": kill_driver,
    "stop-driver": stop_driver,
    **{name: send(name) for name in SIGNALS},
    "file-limit": limit_files,
    "full-disk": on_small_disk(fill),
    "read-only": on_small_disk(make_read_only),
    "move": move_directory,
    "replace": replace_directory,
    "delete": delete_directory,
}
NEED_MOUNT = ("full-disk", "read-only")


def disturb(make_sweep, reference, kinds, wanted):
    """Until there were `wanted` disturbances; a sweep that finishes meanwhile is checked and replaced by a fresh one."""
    done = collections.Counter()
    sweeps = visits = 0
    turns = []
    while sum(done.values()) < wanted:
        sweep = make_sweep(f"disturbed{sweeps}")
        sweeps += 1
        sweep.start()
        while sum(done.values()) < wanted:
            time.sleep(random.uniform(0, LONGEST_DELAY_S))
            if not sweep.is_at_work():
                break
            turns = turns or random.sample(kinds, len(kinds))
            if KINDS[turns[-1]](sweep):
                done[turns.pop()] += 1
            else:
                turns.insert(0, turns.pop())
            sweep.check_journal()
            if sweep.driver is None:
                sweep.start()
        sweep.end(0, 1)
        sweep.start("--retry")
        sweep.end(0)
        visits += sweep.check(reference)
        shutil.rmtree(sweep.directory)
    return done, sweeps, visits


def main():
    program = os.path.abspath(sys.argv[1])
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    kinds = sys.argv[4:] or [kind for kind in KINDS if kind not in NEED_MOUNT or can_mount()]
    random.seed(seed)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as root:
        spec = os.path.join(root, "kill.yaml")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(SPEC)
        quiet = Sweep(program, spec, os.path.join(root, "undisturbed"), None)
        quiet.start("--set", "limits.time=5m")  # the roofs' limit too: on a busy machine they may take longer than the spec's
        quiet.end(0)
        reference = exact(quiet.directory)
        expect(len({row["id"] for row in reference}) == 16, f"{len(reference)} rows in the undisturbed sweep, not 16")
        expect(quiet.check(reference) == 0, "the undisturbed sweep has visits that failed")
        ceilings = os.path.join(quiet.directory, "ceilings.csv")
        done, sweeps, visits = disturb(lambda name: Sweep(program, spec, os.path.join(root, name), ceilings), reference, kinds, wanted)
        print(f"{sum(done.values())} disturbances of {sweeps} sweeps: no row lost, none doubled, none torn; "
              f"{visits} visits ended as a crash or a timeout")
        print(", ".join(f"{kind} {done[kind]}" for kind in kinds))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        print(f"WRONG: {wrong}")
        sys.exit(1)
