#!/usr/bin/env python3
"""Disturbs sweeps and resumes them until they finish.

Usage: kill_test.py PARADNN MOVED_CLOCK.so KILL_AT.so [DISTURBANCES [SEED [KIND...]]]

An undisturbed sweep provides the rows. Other sweeps of the same spec, each in its own directory, have so many rounds that they do not end
by themselves, and are disturbed by each kind in turn, once they have made a random number of visits: their worker is killed or stopped
until it runs into its time limit; their driver is killed, before any call that changes a file, asked to end by each of four signals, or
stopped for a while; their disk is full or read-only, their files are limited in size, their directory is moved away, replaced or deleted.
After each disturbance the journal must begin with all complete rows that it had before. Then the sweep is brought to its end, killed once
on the way; after a run with --retry, it must have the rows of the undisturbed one, equal in all columns that measure nothing, every visit
and its ops once, and no other files. A driver that ends must leave no worker behind. Without DISTURBANCES there is one of each kind."""

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

from files import exact, expect, ROOFS, rows, write, Wrong
from processes import Clock, is_running, journal_lines, preload, stop, wait_for_poll, wait_for_turns, wait_until, worker_of

ROUNDS = 3
ENDLESS = 10000  # 160,000 visits
LIMIT_S = 100
SPEC = f"""\
sweep: kill
run: {{mode: [infer, train], threads: 1}}
measure: {{rounds: {ROUNDS}, precision: 90%, min_samples: 3, max_time: 1ms, probe: off}}
limits: {{time: {LIMIT_S}s}}
models:
  - fc: {{layers: 2, nodes: [8, 16], input: 32, output: [4, 8], batch: [2, 4]}}
"""
INSTANCES = 16
MOST_VISITS = 12  # before a disturbance
MOST_CALLS = 600  # that change files, about as many as those of a whole sweep
NAMES = ["ceilings.csv", "environment.yaml", "journal-ops.csv", "journal.csv", "ops.csv", "results.csv", "spec.yaml"]
# What may stand in a visit's row for a disturbance; --retry replaces it.
DISTURBED = ("crash", "timeout")
SIGNALS = {"sigint": signal.SIGINT, "sigterm": signal.SIGTERM, "sighup": signal.SIGHUP,
           "sigusr1": signal.SIGUSR1}
MOVED_CLOCK, KILL_AT = (os.path.abspath(path) for path in sys.argv[2:4])


class Sweep:
    """One result directory, and the driver that works on it if there is one."""

    def __init__(self, program, spec, directory, ceilings):
        self.command = [program, "sweep", spec, "-o", directory, "--ceilings", ceilings]
        self.directory = directory
        self.kept = []  # the journal's complete lines after the last disturbance
        self.driver = None
        self.said = ""  # by the last driver that ended
        self.clock = Clock(MOVED_CLOCK, directory + ".clock")

    def start(self, *options, rounds=ENDLESS, file_limit=None, kill_at=None):
        def prepare():
            for number in (*SIGNALS.values(), signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            if file_limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
        variables = {**preload(KILL_AT), "KILL_AT": str(kill_at)} if kill_at else self.clock.variables
        self.driver = subprocess.Popen([*self.command, "--set", f"measure.rounds={rounds}", *options], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, preexec_fn=prepare,
                                       env={**os.environ, "OMP_WAIT_POLICY": "passive", **variables})
        self.begun = len(journal_lines(self.directory))

    def is_at_work(self):
        return self.driver is not None and self.driver.poll() is None

    def wait(self, condition):
        """For what the driver brings about; it must not end by itself before."""
        wait_until(lambda: condition() or not self.is_at_work())
        if not condition():
            self.end()

    def wait_for_visits(self, count):
        self.wait(lambda: len(journal_lines(self.directory)) >= max(1, self.begun) + count)

    def has(self, status):
        return sum(b",%s," % status in line for line in journal_lines(self.directory))

    def end(self, *allowed):
        """Waits for the driver's end; its worker must end too. Returns what it said."""
        worker = worker_of(self.driver.pid) if self.is_at_work() else None
        _, errors = self.driver.communicate()
        status, self.driver = self.driver.returncode, None
        self.said = errors.decode()
        expect(status in allowed, f"exit status {status}, not one of {allowed}: {self.said}")
        wait_until(lambda: worker is None or not is_running(worker))
        return status, self.said

    def kill(self, *allowed):
        self.driver.kill()
        self.end(-signal.SIGKILL, *allowed)
        self.check_journal()

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


# Each disturbance finds a driver at work that has made some visits, or none, does its harm, and leaves the directory where it was and
# usable again. It may leave the driver at work or ended.

def find_worker(sweep):
    """There is none for a moment where the last one was killed."""
    found = []
    sweep.wait(lambda: found.append(worker_of(sweep.driver.pid)) or found[-1])
    return found[-1]


def kill_worker(sweep):
    os.kill(find_worker(sweep), signal.SIGKILL)
    sweep.wait_for_visits(len(journal_lines(sweep.directory)) - sweep.begun + 2)


def stop_worker(sweep):
    """A visit ends as a timeout; a worker that has not begun one is only replaced, and the next one is stopped."""
    sweep.wait_for_visits(1)
    before = sweep.has(b"timeout")
    while sweep.has(b"timeout") == before:
        worker = find_worker(sweep)
        stop(worker)
        sweep.clock.each_look_takes(1)
        sweep.wait(lambda: sweep.has(b"timeout") > before or not is_running(worker))
        sweep.clock.each_look_takes(0)


def kill_driver(sweep):
    sweep.kill()
    sweep.start(kill_at=random.randint(1, MOST_CALLS))
    sweep.end(-signal.SIGKILL)


def stop_driver(sweep):
    """As by ^Z: both stop during a visit, for longer than the time limit, which does not count."""
    sweep.wait_for_visits(1)
    before, worker = sweep.has(b"timeout"), find_worker(sweep)
    stop(worker)
    wait_for_poll(sweep.driver.pid, worker)
    stop(sweep.driver.pid)
    sweep.clock.move(2 * LIMIT_S)
    os.kill(sweep.driver.pid, signal.SIGCONT)
    wait_for_turns(sweep.driver.pid, 3)
    expect(is_running(worker), "time in which the driver was stopped counts for the limit")
    os.kill(worker, signal.SIGCONT)
    sweep.wait_for_visits(len(journal_lines(sweep.directory)) - sweep.begun + 2)
    expect(sweep.has(b"timeout") == before, "a visit that was stopped ends as a timeout")


def send(name):
    def disturb(sweep):
        has_begun = len(journal_lines(sweep.directory)) > sweep.begun  # before, the signal may still have its default action
        sweep.driver.send_signal(SIGNALS[name])
        status, _ = sweep.end(130, *(() if has_begun else (-SIGNALS[name],)))
        if status == 130:
            expect(len(rows(sweep.directory, "results.csv")) == INSTANCES, "an interrupted sweep does not leave all its rows")
    return disturb


def limit_files(sweep):
    sweep.kill()
    paths = [os.path.join(sweep.directory, name) for name in NAMES]
    sizes = [os.path.getsize(path) for path in paths if os.path.exists(path)]
    sweep.start(file_limit=random.randint(0, max(sizes, default=0) + 4000))
    sweep.end(1)


def on_small_disk(harm):
    """Moves the directory to a file system of its own that `harm` makes unusable while the sweep runs."""
    def disturb(sweep):
        sweep.kill()
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
    return disturb


def fill(sweep):
    sweep.end(1, 2)


def make_read_only(sweep):
    """Files open for writing keep a file system writable, so the driver is killed before."""
    visits = sweep.begun + random.randint(0, MOST_VISITS)
    wait_until(lambda: len(journal_lines(sweep.directory)) >= visits or not sweep.is_at_work())
    sweep.kill(1, 2)  # or its disk is full
    before = {name: os.path.getsize(os.path.join(sweep.directory, name)) for name in os.listdir(sweep.directory)}
    subprocess.run(["mount", "-o", "remount,ro", sweep.directory], check=True)
    sweep.start()
    _, errors = sweep.end(2)
    expect(sweep.directory in errors, f"the directory is not named: {errors}")
    after = {name: os.path.getsize(os.path.join(sweep.directory, name)) for name in os.listdir(sweep.directory)}
    expect(before == after, "something was written to a read-only directory")


def take_directory(sweep):
    """Away from a driver that works in it. Returns where it is, once the driver has said so."""
    sweep.wait_for_visits(1)
    os.rename(sweep.directory, sweep.directory + ".away")
    return sweep.directory + ".away"


def says_so(sweep):
    _, errors = sweep.end(1)
    expect(sweep.directory in errors, f"the directory is not named: {errors}")


def move_directory(sweep):
    away = take_directory(sweep)
    says_so(sweep)
    os.rename(away, sweep.directory)


def replace_directory(sweep):
    away = take_directory(sweep)
    os.mkdir(sweep.directory)
    says_so(sweep)
    os.rmdir(sweep.directory)  # which got no files
    os.rename(away, sweep.directory)


def delete_directory(sweep):
    away = take_directory(sweep)
    while os.path.exists(away):  # the driver may still make files there
        shutil.rmtree(away, ignore_errors=True)
    says_so(sweep)
    sweep.kept = []


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


def disturb(sweep, kinds):
    for kind in kinds:
        if sweep.driver is None:
            sweep.start()
        visits = random.randint(0, MOST_VISITS)
        if visits:
            sweep.wait_for_visits(visits)
        KINDS[kind](sweep)
        sweep.check_journal()
    if sweep.driver is not None:
        sweep.kill()


def finish(sweep, reference):
    """Returns how many visits were disturbed."""
    sweep.start(rounds=ROUNDS, kill_at=random.randint(1, MOST_CALLS))
    sweep.end(-signal.SIGKILL, 0, 1)
    sweep.start(rounds=ROUNDS)
    sweep.end(0, 1)
    sweep.start("--retry", rounds=ROUNDS)
    sweep.end(0)
    return sweep.check(reference)


def main():
    program = os.path.abspath(sys.argv[1])
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else int(time.time())
    kinds = sys.argv[6:] or [kind for kind in KINDS if kind not in NEED_MOUNT or can_mount()]
    wanted = int(sys.argv[4]) if len(sys.argv) > 4 else len(kinds)
    random.seed(seed)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as root:
        spec, ceilings = os.path.join(root, "kill.yaml"), os.path.join(root, "ceilings.csv")
        write(SPEC, spec)
        write(ROOFS, ceilings)
        quiet = Sweep(program, spec, os.path.join(root, "undisturbed"), ceilings)
        quiet.start(rounds=ROUNDS)
        quiet.end(0)
        reference = exact(quiet.directory)
        expect(len({row["id"] for row in reference}) == INSTANCES, f"{len(reference)} rows in the undisturbed sweep, not {INSTANCES}")
        expect(quiet.check(reference) == 0, "the undisturbed sweep has visits that failed")
        sweeps = visits = 0
        while sweeps * len(kinds) < wanted:
            sweep = Sweep(program, spec, os.path.join(root, f"disturbed{sweeps}"), ceilings)
            disturb(sweep, random.sample(kinds, min(len(kinds), wanted - sweeps * len(kinds))))
            visits += finish(sweep, reference)
            shutil.rmtree(sweep.directory)
            sweeps += 1
        print(f"{wanted} disturbances of {sweeps} sweeps: no row lost, none doubled, none torn; {visits} visits ended as a crash or a timeout")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        print(f"WRONG: {wrong}")
        sys.exit(1)
