#!/usr/bin/env python3
"""Sweeps in a control group with little memory: cold caches fit, and what the kernel kills is oom. Skipped with one line
(and exit status 77) where control groups cannot be made.

Usage: cgroup_test.py PARADNN"""

import csv
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from processes import journal_lines, wait_until, worker_of

PARADNN = os.path.abspath(sys.argv[1])
MIB = 1 << 20
# Given, so that no time goes into measuring roofs. Four times the caches, for the evictor and for the probe, would be 1200 MiB.
CEILINGS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,100,90,110,5
bandwidth,read,,L1,1,32768,130,120,140,5
bandwidth,read,,L3,1,157286400,80,75,85,5
bandwidth,read,,DRAM,1,0,18,17,19,5
overhead,op,,,1,0,50,40,60,5
"""
SMALL = "fc/layers=2,nodes=64,input=64,output=64,batch=8,threads=1"
# 200 MB, whatever is chosen: OpenBLAS takes weights as they are
MEDIUM = "fc/layers=4,nodes=4096,input=64,output=64,batch=8,mode=infer,backend=openblas,threads=1"
LARGE = "fc/layers=4,nodes=8192,input=64,output=64,batch=8,threads=1"  # a gigabyte


# By version: which files of a group have its limit, its peak and its count of kills.
FILES = {"memory": ("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"),
         "": ("memory.max", "memory.peak", "memory.events")}


def own_group():
    """The directory of this process's memory group, and the names of its files."""
    mounts, paths = {}, {}
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            words, rest = (part.split() for part in line.split(" - "))
            if rest[0] == "cgroup2":
                mounts[""] = (words[3], words[4])
            elif rest[0] == "cgroup" and "memory" in rest[2].split(","):
                mounts["memory"] = (words[3], words[4])
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file:
            _, names, path = line.strip().split(":", 2)
            paths.update((name, path) for name in names.split(","))
    for name, files in FILES.items():
        if name not in mounts or name not in paths:
            continue
        top, point = mounts[name]
        path = paths[name][len(top):] if top != "/" and paths[name].startswith(top) else paths[name]
        if name == "memory" or os.path.exists(point + path + "/memory.current"):
            return point + path, files
    raise unittest.SkipTest("no memory control group is mounted")


class Group:
    """A group of its own below that of this process, with a limit on memory."""

    def __init__(self, limit_bytes):
        parent, (limit, self.peak_name, self.kills_name) = own_group()
        self.path = os.path.join(parent, f"paradnn-test-{os.getpid()}")
        try:
            os.mkdir(self.path)
            self.write(limit, limit_bytes)
        except OSError as error:
            self.remove()
            raise unittest.SkipTest(f"no memory control group can be made here: {error}") from error

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as file:
            file.write(str(value))

    def read(self, name):
        with open(os.path.join(self.path, name), encoding="utf-8") as file:
            return file.read()

    def enter(self):
        self.write("cgroup.procs", os.getpid())

    def peak_bytes(self):
        """0 where the kernel does not tell."""
        return int(self.read(self.peak_name)) if os.path.exists(os.path.join(self.path, self.peak_name)) else 0

    def kills(self):
        return dict(line.split() for line in self.read(self.kills_name).splitlines()).get("oom_kill")

    def remove(self):
        if os.path.isdir(self.path):
            os.rmdir(self.path)


def resident_bytes(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS")), 0)
    except OSError:
        return 0


def visits_of(results):
    return list(csv.DictReader(line.decode() for line in journal_lines(results)))


class Limited(unittest.TestCase):
    def sweep(self, limit_bytes, ids, *settings, disturb=lambda child, directory: None):
        """Runs a sweep in a group of its own; returns its rows, the group and what it printed."""
        group = Group(limit_bytes)
        self.addCleanup(group.remove)
        with tempfile.TemporaryDirectory() as directory:
            roofs, results = os.path.join(directory, "roofs.csv"), os.path.join(directory, "r")
            with open(roofs, "w", encoding="utf-8") as file:
                file.write(CEILINGS)
            settings = ("measure.rounds=2", "measure.min_samples=3", "measure.max_time=1ms", *settings)
            words = [word for setting in settings for word in ("--set", setting)]
            with subprocess.Popen([PARADNN, "sweep", *ids, "--ceilings", roofs, "-o", results, *words], preexec_fn=group.enter,
                                  env={**os.environ, "OMP_WAIT_POLICY": "passive"}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True) as child:
                disturb(child, results)
                errors = child.stderr.read()
            self.assertIn(child.returncode, (0, 1, 130), errors)
            with open(os.path.join(results, "results.csv"), newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.visits = visits_of(results)
        print(f"peak {group.peak_bytes() / MIB:.0f} MiB of {limit_bytes / MIB:.0f}: {[row['status'] for row in rows]}",
              file=sys.stderr)
        return rows, group, errors

    def test_cold_caches_fit(self):
        limit_bytes = 900 * MIB
        rows, group, text = self.sweep(limit_bytes, [SMALL], "measure.cache=cold", "measure.rounds=1")
        self.assertEqual([row["status"] for row in rows], ["ok"], text)
        self.assertLess(group.peak_bytes(), limit_bytes)
        if group.peak_bytes():
            self.assertGreater(group.peak_bytes(), 300 * MIB)  # twice the caches
        self.assertIn(group.kills(), ("0", None))

    def test_what_the_kernel_kills_is_oom(self):
        rows, group, text = self.sweep(400 * MIB, [LARGE, SMALL], "limits.memory=8GiB", "measure.probe=off", "measure.order=cost")
        self.assertEqual([row["status"] for row in rows], ["oom", "ok"], text)
        self.assertGreater(int(rows[1]["rounds"]), 1)  # all but the first come after the kill
        self.assertIn("ran out of memory and was killed", rows[0]["reason"])
        self.assertNotEqual(group.kills(), "0")

    def test_what_somebody_else_kills_is_a_crash(self):
        """However near its limit on memory the worker is."""
        limit_bytes = 220 * MIB

        def wait(child, condition):
            wait_until(lambda: condition() or child.poll() is not None)
            self.assertIsNone(child.poll(), child.stderr.read() if child.poll() is not None else "")

        def kill_when_large(child, results):
            def kill_if_large():
                worker = worker_of(child.pid)
                is_large = worker and resident_bytes(worker) > 0.92 * limit_bytes
                if is_large:
                    os.kill(worker, signal.SIGKILL)
                return is_large

            wait(child, kill_if_large)
            wait(child, lambda: any(visit["status"] == "crash" for visit in visits_of(results)))
            child.send_signal(signal.SIGINT)

        self.sweep(2048 * MIB, [MEDIUM], f"limits.memory={limit_bytes // MIB}MiB", "measure.probe=off", "measure.rounds=10000",
                   disturb=kill_when_large)
        crashes = [visit["reason"] for visit in self.visits if visit["status"] == "crash"]
        self.assertEqual(len(crashes), 1)
        self.assertIn("killed by signal 9", crashes[0])


if __name__ == "__main__":
    try:
        Group(900 * MIB).remove()
    except unittest.SkipTest as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
