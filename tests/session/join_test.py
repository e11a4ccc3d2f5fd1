#!/usr/bin/env python3
"""Joins many processes to sweeps, kills them at random moments, and merges what they left.

Usage: join_test.py PARADNN [JOINS [SEED]]

A sweep of one process provides the rows. Then sweeps of the same spec are joined until there were JOINS joins: up to four processes at a
time, some begun at once, one with a clock that jumps (where there is libfaketime). They are killed with all their children, asked to
end, or stopped for longer than a lease lasts without a sign of life. Each directory is then brought to its end and merged, and must
have the rows of the undisturbed sweep, equal in all columns that measure nothing; every visit of every part once; no lease that is
held; and no visit to an instance that the part had not claimed."""

import collections
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from files import exact, expect, rows, Wrong

ROUNDS = 3
EXPIRY_S = 2
SPEC = f"""\
sweep: join
run: {{mode: [infer, train], threads: 1}}
measure: {{rounds: {ROUNDS}, precision: 90%, min_samples: 3, max_time: 60ms}}
limits: {{time: 20s}}
models:
  - fc: {{layers: 2, nodes: [8, 16], input: 32, output: [4, 8], batch: [2, 4]}}
"""
INSTANCES = 16
AT_ONCE = 4
JOINS_OF_A_SWEEP = 12
LONGEST_DELAY_S = 0.5
PATIENCE_S = 300
HARM = ["kill"] * 6 + ["term"] * 2 + ["usr1"] + ["stop"]


def find_faketime():
    found = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    return found[0] if found else None


class Records:
    """The log of leases, replayed."""

    def __init__(self, directory):
        self.held, self.done, self.events = {}, set(), collections.Counter()
        self.leases = {}  # number -> (part, instances)
        names = sorted(name for name in os.listdir(os.path.join(directory, "leases")) if re.fullmatch(r"\d{8}", name))
        expect(names == [f"{i:08}" for i in range(len(names))], "the log has gaps")
        for name in names:
            path = os.path.join(directory, "leases", name)
            with open(path, encoding="utf-8") as file:
                self.take(int(name), dict(line.rstrip("\n").split(": ", 1) for line in file if line[0] != "#"))

    def take(self, number, record):
        event = record["event"]
        self.events[event] += 1
        instances = set()
        for part in filter(None, record.get("list", "").split(",")):
            first, _, last = part.partition("-")
            instances |= set(range(int(first), int(last or first) + 1))
        if event == "claim":
            taken = instances & (self.done | {i for held in self.held.values() for i in held})
            expect(not taken, f"lease {number} claims {taken}, which are not free")
            self.held[number] = instances
            self.leases[number] = (record["part"], instances)
        elif event in ("ended", "lost"):
            lease = int(record["lease"])
            expect(instances <= self.held.pop(lease), f"record {number} ends what was not held")
            self.done |= instances


class Joiner:
    def __init__(self, sweep, clock=None):
        environment = dict(os.environ, PARADNN_PRESENCE_DIR=os.path.join(sweep.directory, "..", "nowhere"))
        if clock:
            environment.update(LD_PRELOAD=clock[0], FAKETIME_TIMESTAMP_FILE=clock[1], FAKETIME_NO_CACHE="1", DONT_FAKE_MONOTONIC="1",
                               FAKETIME_DONT_FAKE_MONOTONIC="1")
        self.jumps = bool(clock)
        self.killed = False
        self.process = subprocess.Popen(sweep.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment,
                                        start_new_session=True)

    def is_at_work(self):
        return self.process.poll() is None

    def send(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def kill(self):
        self.killed = True
        self.send(signal.SIGKILL)

    def end(self):
        """Returns exit status and what it said."""
        try:
            _, text = self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Wrong(f"a process does not end: {self.process.pid}") from None
        status = self.process.returncode
        allowed = (0, 130, -signal.SIGTERM, -signal.SIGUSR1) + ((-signal.SIGKILL,) if self.killed else ())
        expect(status in allowed, f"exit status {status}: {text.decode()}")
        return status, text.decode()


class Sweep:
    """One directory and the processes that have joined it."""

    def __init__(self, program, spec, directory, ceilings, faketime):
        self.program, self.directory = program, directory
        self.command = [program, "sweep", spec, "-o", directory, "--join", "--lease-expiry", f"{EXPIRY_S}s", "--ceilings", ceilings]
        self.faketime = faketime
        self.clock = directory + ".clock"
        self.joiners, self.joins, self.did = [], 0, collections.Counter()

    def start(self):
        clock = None
        if self.faketime and not any(joiner.jumps for joiner in self.joiners):
            with open(self.clock, "w", encoding="utf-8") as file:
                file.write("+0\n")
            clock = (self.faketime, self.clock)
            self.did["clock"] += 1
        self.joiners.append(Joiner(self, clock))
        self.joins += 1

    def jump(self):
        with open(self.clock, "w", encoding="utf-8") as file:
            file.write(random.choice(["+400d", "-400d", "+3h", "-90s"]) + "\n")

    def harm(self):
        joiner = random.choice(self.joiners)
        kind = random.choice(HARM)
        if not joiner.is_at_work():
            return
        self.did[kind] += 1
        if kind == "kill":
            joiner.kill()
        elif kind == "term":
            joiner.process.terminate()
        elif kind == "usr1":
            joiner.process.send_signal(signal.SIGUSR1)
        else:
            joiner.send(signal.SIGSTOP)
            time.sleep(1.5 * EXPIRY_S)
            joiner.send(signal.SIGCONT)

    def reap(self):
        """True if one of those that ended found everything done."""
        complete = False
        for joiner in [joiner for joiner in self.joiners if not joiner.is_at_work()]:
            self.joiners.remove(joiner)
            complete = f"{INSTANCES} of {INSTANCES} instances are done" in joiner.end()[1] or complete
        return complete

    def disturb(self, joins):
        """Until the sweep is complete, or there were this many joins; then to its end."""
        complete = False
        while not complete and self.joins < joins:
            for _ in range(random.choice([1, 1, 2])):
                if len(self.joiners) < AT_ONCE:
                    self.start()
            time.sleep(random.uniform(0, LONGEST_DELAY_S))
            if self.faketime:
                self.jump()
            self.harm()
            complete = self.reap()
        deadline = time.monotonic() + PATIENCE_S
        while not complete:
            expect(time.monotonic() < deadline, "the sweep is never complete")
            if not self.joiners:
                self.start()
            time.sleep(0.05)
            complete = self.reap()
        for joiner in self.joiners:
            joiner.end()
        self.joiners = []

    def merge(self):
        done = subprocess.run([self.program, "merge", self.directory, "-o", self.directory], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"merge: {done.returncode}: {done.stderr}")

    def check(self, reference):
        self.merge()
        expect(exact(self.directory) == reference, "the rows are not those of the undisturbed sweep")
        records = Records(self.directory)
        expect(not records.held, f"leases are held: {records.held}")
        expect(records.done == set(range(INSTANCES)), f"not done: {records.done}")
        order = {row["id"]: i for i, row in enumerate(reference)}
        found = collections.Counter()
        by_instance = collections.defaultdict(set)
        for part in os.listdir(os.path.join(self.directory, "parts")):
            path = os.path.join(self.directory, "parts", part)
            if not os.path.exists(os.path.join(path, "journal.csv")):
                continue
            for visit in rows(path, "journal.csv"):
                if None in visit.values():
                    continue  # the last line, which was cut short
                visit.pop("visit")
                found[tuple(visit.items())] += 1
                instance = order[visit["id"]]
                by_instance[instance].add(part)
                claimed = [lease for lease in records.leases.values() if lease[0] == part and instance in lease[1]]
                expect(claimed, f"{part} visited {visit['id']}, which it never claimed")
        merged = collections.Counter()
        for visit in rows(self.directory, "journal.csv"):
            visit.pop("visit")
            merged[tuple(visit.items())] += 1
        expect(max(merged.values()) == 1, "a visit is in the merged journal twice")
        expect(merged == found, f"{sum((found - merged).values())} visits lost, {sum((merged - found).values())} of nobody")
        counts = collections.Counter(row["id"] for row in rows(self.directory, "journal.csv") if row["status"] == "ok")
        expect(all(counts[row["id"]] >= ROUNDS for row in reference), f"too few visits: {counts}")
        days = collections.Counter(row["started_utc"][:10] for row in rows(self.directory, "journal.csv"))
        self.did["visits at another time"] += sum(days.values()) - max(days.values())
        extra = sum(counts.values()) - ROUNDS * INSTANCES
        return sum(merged.values()), extra, records, by_instance


def run(program, arguments, **options):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, **options)


def twins(make_sweep, reference):
    """Two copies from the same second, undisturbed: no instance is measured by both."""
    sweep = make_sweep("twins")
    sweep.faketime = None
    sweep.start()
    sweep.start()
    texts = [joiner.end() for joiner in sweep.joiners]
    expect(all(status == 0 for status, _ in texts), f"twins: {texts}")
    sweep.joiners = []
    _, _, records, by_instance = sweep.check(reference)
    expect(not records.events["lost"], "one of two twins took the other to be dead")
    expect(all(len(parts) == 1 for parts in by_instance.values()), "an instance was measured by both twins")
    sweep.start()
    status, text = sweep.joiners[0].end()
    expect(status == 0 and "nothing to do: 16 of 16" in text, f"a third copy: {status}: {text}")


def main():
    program = os.path.abspath(sys.argv[1])
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    random.seed(seed)
    print(f"seed {seed}", flush=True)
    faketime = find_faketime()
    if not faketime:
        print("no clock jumps: libfaketime is not installed", flush=True)
    with tempfile.TemporaryDirectory() as root:
        spec = os.path.join(root, "join.yaml")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(SPEC)
        alone = os.path.join(root, "alone")
        done = run(program, ["sweep", spec, "-o", alone])
        expect(done.returncode == 0, done.stderr)
        reference = exact(alone)
        expect(len(reference) == INSTANCES, f"{len(reference)} rows")
        ceilings = os.path.join(alone, "ceilings.csv")

        def make_sweep(name):
            return Sweep(program, spec, os.path.join(root, name), ceilings, faketime)

        twins(make_sweep, reference)
        joins = sweeps = visits = extra = 0
        did, events = collections.Counter(), collections.Counter()
        while joins < wanted:
            sweep = make_sweep(f"joined{sweeps}")
            sweep.disturb(min(JOINS_OF_A_SWEEP, wanted - joins))
            made, more, records, _ = sweep.check(reference)
            joins += sweep.joins
            sweeps, visits, extra = sweeps + 1, visits + made, extra + more
            did, events = did + sweep.did, events + records.events
            shutil.rmtree(sweep.directory)
        print(f"{joins} joins of {sweeps} sweeps ({dict(did)}): {visits} visits, none lost, none doubled, {extra} more than asked for; "
              f"records: {dict(events)}")


if __name__ == "__main__":
    main()
