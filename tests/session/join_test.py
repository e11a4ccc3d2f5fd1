#!/usr/bin/env python3
"""Joins many processes to sweeps, harms them after random numbers of visits, and merges what they left.

Usage: join_test.py PARADNN MOVED_CLOCK.so [HARMS [SEED]]

A sweep of one process provides the rows. Then sweeps of the same spec are joined, by up to four processes at a time, until there were HARMS
harms: each kind in turn, and once each without HARMS. A process is killed with its worker, asked to end, has its date changed, or is
stopped until another one, whose clock runs ahead, has taken over its lease. Each directory is then brought to its end and merged, and must
have the rows of the undisturbed sweep, equal in all columns that measure nothing; every visit of every part once; no lease that is held;
and no visit to an instance that the part had not claimed, or had lost."""

import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from files import exact, expect, ROOFS, rows, write
from processes import Clock, journal_lines, stop, wait_until

ROUNDS = 8
EXPIRY_S = 36000
SPEC = f"""\
sweep: join
run: {{mode: [infer, train], threads: 1}}
measure: {{rounds: {ROUNDS}, precision: 90%, min_samples: 3, max_time: 1ms, probe: off}}
limits: {{time: {EXPIRY_S}s}}
models:
  - fc: {{layers: 2, nodes: [8, 16], input: 32, output: [4, 8], batch: [2, 4]}}
"""
INSTANCES = 16
AT_ONCE = 4
DATES_S = (400 * 86400, -400 * 86400, 3 * 3600, -90)
MOVED_CLOCK = os.path.abspath(sys.argv[2])


class Records:
    """The log of leases, replayed."""

    def __init__(self, directory):
        self.held, self.done, self.events = {}, set(), collections.Counter()
        self.leases = {}  # number -> (part, instances)
        folder = os.path.join(directory, "leases")
        names = sorted(name for name in (os.listdir(folder) if os.path.isdir(folder) else []) if re.fullmatch(r"\d{8}", name))
        expect(names == [f"{i:08}" for i in range(len(names))], "the log has gaps")
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
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

    def of(self, joiner):
        """The lease that it holds, or None."""
        return next((number for number in self.held if self.leases[number][0].split("-")[-3] == str(joiner.process.pid)), None)


class Joiner:
    def __init__(self, sweep, number):
        self.clock = Clock(MOVED_CLOCK, f"{sweep.directory}.clock{number}")
        self.is_ended_by_test = False
        environment = {**os.environ, "PARADNN_PRESENCE_DIR": os.path.join(sweep.directory, "..", "nowhere"), "OMP_WAIT_POLICY": "passive",
                       **self.clock.variables}
        self.process = subprocess.Popen(sweep.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment,
                                        start_new_session=True)

    def is_at_work(self):
        return self.process.poll() is None

    def stop(self):
        return stop(self.process.pid)

    def send(self, number):
        """To a process that is stopped; the first of these wakes it."""
        self.process.send_signal(number)
        self.process.send_signal(signal.SIGCONT)

    def end(self, *allowed):
        """Returns exit status and what it said."""
        _, text = self.process.communicate()
        status = self.process.returncode
        ended = (130, -signal.SIGTERM, -signal.SIGUSR1, -signal.SIGKILL) if self.is_ended_by_test else ()
        expect(status in (0, *ended), f"exit status {status}: {text.decode()}")
        return status, text.decode()


class Sweep:
    """One directory and the processes that have joined it."""

    def __init__(self, program, spec, directory, ceilings):
        self.program, self.directory = program, directory
        self.command = [program, "sweep", spec, "-o", directory, "--join", "--lease-expiry", f"{EXPIRY_S}s", "--ceilings", ceilings]
        self.joiners, self.joins, self.is_complete = [], 0, False

    def start(self):
        self.joiners.append(Joiner(self, self.joins))
        self.joins += 1
        return self.joiners[-1]

    def parts(self):
        path = os.path.join(self.directory, "parts")
        return [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else []

    def visits(self):
        return sum(max(len(journal_lines(part)) - 1, 0) for part in self.parts())

    def reap(self):
        """Those that have ended; is_complete if one of them found everything done."""
        for joiner in [joiner for joiner in self.joiners if not joiner.is_at_work()]:
            self.joiners.remove(joiner)
            self.is_complete = f"{INSTANCES} of {INSTANCES} instances are done" in joiner.end()[1] or self.is_complete
        return self.is_complete

    def harm(self, kinds):
        """In this order, until the sweep is complete. Returns how many were done."""
        for done, kind in enumerate(kinds):
            while True:
                for _ in range(random.randint(not self.joiners, AT_ONCE - len(self.joiners))):
                    self.start()
                before, wanted = self.visits(), random.randint(0, INSTANCES)
                wait_until(lambda: self.visits() >= before + wanted or any(not joiner.is_at_work() for joiner in self.joiners))
                if self.reap():
                    return done
                if any(joiner.stop() and HARMS[kind](self, joiner) for joiner in random.sample(self.joiners, len(self.joiners))):
                    break
        return len(kinds)

    def abandon(self):
        """After a failure: nobody would wake those that are stopped, and others wait for them."""
        for joiner in self.joiners:
            if joiner.is_at_work():
                os.killpg(joiner.process.pid, signal.SIGKILL)

    def finish(self):
        while not self.reap():
            if not self.joiners:
                self.start()
            wait_until(lambda: any(not joiner.is_at_work() for joiner in self.joiners))
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
        for path in self.parts():
            part = os.path.basename(path)
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
        extra = sum(counts.values()) - ROUNDS * INSTANCES
        return sum(merged.values()), extra, records, by_instance


# Each finds a process that is stopped. False if there was nothing to harm, and it goes on.

def kill(sweep, joiner):
    """The others look around at their next turn: by their own clocks they would in ten minutes."""
    joiner.is_ended_by_test = True
    os.killpg(joiner.process.pid, signal.SIGKILL)
    joiner.process.wait()
    for other in sweep.joiners:
        other.clock.move(EXPIRY_S / 50)
    return True


def send(number):
    def ask(_, joiner):
        joiner.is_ended_by_test = True
        joiner.send(number)
        return True
    return ask


def change_date(_, joiner):
    joiner.clock.change_date(random.choice(DATES_S))
    joiner.send(signal.SIGCONT)
    return True


def outlive_lease(sweep, joiner):
    """Stopped for longer than a lease lasts without a sign of life: what it held is another's, and it commits no visit to that, but for one
    that it was about to write."""
    held = Records(sweep.directory).of(joiner)
    if not held:
        joiner.send(signal.SIGCONT)
        return False
    part, instances = Records(sweep.directory).leases[held]
    os.killpg(joiner.process.pid, signal.SIGSTOP)
    before = [line for line in journal_lines(os.path.join(sweep.directory, "parts", part))]
    other = sweep.start()
    other.clock.jump_until(lambda: held not in Records(sweep.directory).held or not other.is_at_work(), 2 * EXPIRY_S)
    records = Records(sweep.directory)
    expect(held not in records.held and records.events["lost"], f"lease {held} is not taken over: {records.events}")
    os.killpg(joiner.process.pid, signal.SIGCONT)
    sweep.joiners.remove(joiner)
    joiner.end()
    claimed = {i for number, (of, found) in Records(sweep.directory).leases.items() if of == part and number > held for i in found}
    order = [row["id"].encode() for row in rows(sweep.reference, "results.csv")]
    after = journal_lines(os.path.join(sweep.directory, "parts", part))[len(before):]
    late = [line for line in after if any(order[i] in line for i in instances - claimed)]
    expect(len(late) <= 1, f"{part} has visited what it had lost: {late}")
    return True


HARMS = {"kill": kill, "term": send(signal.SIGTERM), "usr1": send(signal.SIGUSR1), "date": change_date, "stop": outlive_lease}


def run(program, arguments, **options):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, **options)


def twins(sweep, reference):
    """Two copies from the same moment, on different days and otherwise undisturbed: no instance is measured by both."""
    for date_s in DATES_S[:2]:
        sweep.start().clock.change_date(date_s)
    texts = [joiner.end() for joiner in sweep.joiners]
    expect(all(status == 0 for status, _ in texts), f"twins: {texts}")
    sweep.joiners = []
    _, _, records, by_instance = sweep.check(reference)
    expect(not records.events["lost"], "one of two twins took the other to be dead")
    expect(all(len(parts) == 1 for parts in by_instance.values()), "an instance was measured by both twins")
    _, text = sweep.start().end()
    expect("nothing to do: 16 of 16" in text, f"a third copy: {text}")


def sides_of(directory, kills):
    """In paired order: both sides of a model were visited equally often, next to each other but for what each kill may have torn apart."""
    def side(row):
        return re.sub(r",fuse=[^,]*", "", row["id"]), ",fuse=post-ops" in row["id"]

    counts = collections.defaultdict(lambda: [0, 0])
    for row in rows(directory, "journal.csv"):
        model, is_b = side(row)
        counts[model][is_b] += row["status"] == "ok"
    expect(len(counts) == 4 and all(a == b >= ROUNDS for a, b in counts.values()), f"visits of both sides: {dict(counts)}")
    parts, lone = os.path.join(directory, "parts"), 0
    for part in os.listdir(parts) if os.path.isdir(parts) else []:
        if not os.path.exists(os.path.join(parts, part, "journal.csv")):
            continue
        waiting = None
        for row in rows(os.path.join(parts, part), "journal.csv"):
            model, is_b = side(row)
            if waiting == (model, not is_b):
                waiting = None
            else:
                lone += waiting is not None
                waiting = (model, is_b)
        lone += waiting is not None
    expect(lone <= 2 * kills, f"{lone} visits without the other side beside them after {kills} kills")


def paired(program, root, ceilings):
    """A sweep that compares two sides: joined, joined with a process killed, and dealt to two shards."""
    spec, shards = os.path.join(root, "paired.yaml"), [os.path.join(root, f"paired.{i}") for i in range(2)]
    write(SPEC.replace("mode: [infer, train]", "mode: infer, fuse: [none, post-ops]").replace("batch: [2, 4]", "batch: 2"), spec)
    for kills in range(2):
        sweep = Sweep(program, spec, os.path.join(root, f"paired.joined{kills}"), ceilings)
        for _ in range(2):
            sweep.start()
        wait_until(lambda sweep=sweep: sweep.visits() >= 5 or not all(joiner.is_at_work() for joiner in sweep.joiners))
        killed = kills and sweep.joiners[0].is_at_work() and sweep.joiners[0].stop() and kill(sweep, sweep.joiners.pop(0))
        for joiner in sweep.joiners:
            joiner.end()
        expect(sweep.start().end()[0] == 0, "a third process")
        sweep.joiners = []
        sweep.merge()
        sides_of(sweep.directory, int(bool(killed)))
    for i, directory in enumerate(shards):
        done = run(program, ["sweep", spec, "-o", directory, "--shard", f"{i}/2", "--ceilings", ceilings])
        expect(done.returncode == 0, done.stderr)
    done = run(program, ["merge", *shards, "-o", os.path.join(root, "paired.merged")])
    expect(done.returncode == 0, done.stderr)
    sides_of(os.path.join(root, "paired.merged"), 0)
    for name in ("joined0", "joined1", "merged"):
        with open(os.path.join(root, f"paired.{name}", "environment.yaml"), encoding="utf-8") as file:
            expect("\npaired_precision: 0.9\n" in file.read(), f"compare does not know that {name} has pairs")


def main():
    program = os.path.abspath(sys.argv[1])
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else len(HARMS)
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())
    random.seed(seed)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as root:
        spec, ceilings, alone = (os.path.join(root, name) for name in ("join.yaml", "ceilings.csv", "alone"))
        write(SPEC, spec)
        write(ROOFS, ceilings)
        done = run(program, ["sweep", spec, "-o", alone, "--ceilings", ceilings])
        expect(done.returncode == 0, done.stderr)
        reference = exact(alone)
        expect(len(reference) == INSTANCES, f"{len(reference)} rows")
        paired(program, root, ceilings)
        twins(Sweep(program, spec, os.path.join(root, "twins"), ceilings), reference)
        turns = [kind for _ in range(0, wanted, len(HARMS)) for kind in random.sample(list(HARMS), len(HARMS))][:wanted]
        harms = joins = sweeps = visits = extra = 0
        events = collections.Counter()
        while harms < wanted:
            sweep = Sweep(program, spec, os.path.join(root, f"joined{sweeps}"), ceilings)
            sweep.reference = alone
            try:
                harms += sweep.harm(turns[harms:])
                sweep.finish()
            finally:
                sweep.abandon()
            made, more, records, _ = sweep.check(reference)
            joins += sweep.joins
            sweeps, visits, extra = sweeps + 1, visits + made, extra + more
            events += records.events
            shutil.rmtree(sweep.directory)
        print(f"{harms} harms to {joins} joins of {sweeps} sweeps: {visits} visits, none lost, none doubled, {extra} more than asked for; "
              f"records: {dict(events)}")


if __name__ == "__main__":
    main()
