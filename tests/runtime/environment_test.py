#!/usr/bin/env python3
"""What batch systems and users set before the program starts: variables of OpenMP, affinity masks, cgroups. For each, what `threads: all`
becomes, where a worker's threads really run, and the message on stderr.

Usage: environment_test.py PARADNN"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

PARADNN = os.path.abspath(sys.argv.pop(1))


def units_of_two_cores():
    """One hardware thread from each of the first two cores of our mask; fewer if there are fewer."""
    cores = {}
    for unit in sorted(os.sched_getaffinity(0)):
        try:
            with open(f"/sys/devices/system/cpu/cpu{unit}/topology/thread_siblings_list", encoding="utf-8") as file:
                core = file.read().strip()
        except OSError:
            core = unit
        cores.setdefault(core, unit)
    return list(cores.values())[:2]


UNITS = units_of_two_cores()

# One short visit with each library.
SPEC = """\
sweep: places
run: {mode: infer, threads: %s, backend: [onednn, openblas]}
measure: {rounds: 1, min_samples: 1, max_time: 1ms, probe: off}
models:
  - fc: {layers: 2, nodes: 8, input: 8, output: 4, batch: 2}
"""
ROOFS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,100,90,110,5
bandwidth,read,,DRAM,1,0,18,17,19,5
"""

BOTH, FIRST, SECOND = (0, 1), (0,), (1,)
OBEYED, OVERRIDDEN = "obeyed", "overridden"

# What is set, what becomes of it (None: no message), the value of `threads: all`, and the usable hardware threads as indices into the mask.
VARIABLES = [
    ({}, {}, 2, BOTH),
    ({"OMP_PROC_BIND": "close"}, {"OMP_PROC_BIND": OBEYED}, 2, BOTH),
    ({"OMP_PROC_BIND": "true"}, {"OMP_PROC_BIND": OBEYED}, 2, BOTH),
    ({"OMP_PROC_BIND": "spread"}, {"OMP_PROC_BIND": OVERRIDDEN}, 2, BOTH),
    ({"OMP_PROC_BIND": "false"}, {"OMP_PROC_BIND": OVERRIDDEN}, 2, BOTH),
    ({"OMP_PROC_BIND": "master"}, {"OMP_PROC_BIND": OVERRIDDEN}, 2, BOTH),
    ({"OMP_PLACES": "cores"}, {"OMP_PLACES": OBEYED}, 2, BOTH),
    ({"OMP_PLACES": "threads"}, {"OMP_PLACES": OVERRIDDEN}, 2, BOTH),
    ({"OMP_PLACES": "sockets"}, {"OMP_PLACES": OVERRIDDEN}, 2, BOTH),
    ({"OMP_PLACES": "{1},{0}"}, {"OMP_PLACES": OVERRIDDEN}, 2, BOTH),
    ({"OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}, {"OMP_PLACES": OBEYED, "OMP_PROC_BIND": OBEYED}, 2, BOTH),
    ({"OMP_PLACES": "sockets", "OMP_PROC_BIND": "spread"}, {"OMP_PLACES": OVERRIDDEN, "OMP_PROC_BIND": OVERRIDDEN}, 2, BOTH),
    ({"GOMP_CPU_AFFINITY": "0"}, {"GOMP_CPU_AFFINITY": OVERRIDDEN}, 2, BOTH),
    ({"KMP_AFFINITY": "compact"}, {"KMP_AFFINITY": OVERRIDDEN}, 2, BOTH),
    ({"OMP_DYNAMIC": "true", "OMP_WAIT_POLICY": "passive"}, {"OMP_DYNAMIC": OVERRIDDEN, "OMP_WAIT_POLICY": OBEYED}, 2, BOTH),
    ({"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": OBEYED}, 1, BOTH),
    ({"OMP_NUM_THREADS": "1,2", "OMP_PROC_BIND": "spread"}, {"OMP_NUM_THREADS": OBEYED, "OMP_PROC_BIND": OVERRIDDEN}, 1, BOTH),
    ({"OMP_NUM_THREADS": "64"}, {"OMP_NUM_THREADS": OBEYED}, 2, BOTH),
    ({"OMP_NUM_THREADS": " 1 "}, {"OMP_NUM_THREADS": OBEYED}, 1, BOTH),
    ({"OMP_NUM_THREADS": ""}, {"OMP_NUM_THREADS": OVERRIDDEN}, 2, BOTH),
    ({"OMP_NUM_THREADS": "0"}, {"OMP_NUM_THREADS": OVERRIDDEN}, 2, BOTH),
    ({"OMP_NUM_THREADS": "many"}, {"OMP_NUM_THREADS": OVERRIDDEN}, 2, BOTH),
    ({"SLURM_CPUS_PER_TASK": "1", "OMP_NUM_THREADS": "2"}, {"SLURM_CPUS_PER_TASK": OBEYED, "OMP_NUM_THREADS": OBEYED}, 1, BOTH),
    ({"NSLOTS": "64"}, {"NSLOTS": OBEYED}, 2, BOTH),
    ({"OMP_THREAD_LIMIT": "1"}, {"OMP_THREAD_LIMIT": OBEYED}, 1, FIRST),
    ({"OMP_THREAD_LIMIT": "64"}, {"OMP_THREAD_LIMIT": OBEYED}, 2, BOTH),
    ({"KMP_BLOCKTIME": "0"}, {"KMP_BLOCKTIME": OVERRIDDEN}, 2, BOTH),
    ({"ONEDNN_VERBOSE": "1", "DNNL_VERBOSE": "2"}, {"ONEDNN_VERBOSE": OVERRIDDEN, "DNNL_VERBOSE": OVERRIDDEN}, 2, BOTH),
    ({"DNNL_MAX_CPU_ISA": "AVX2"}, {"DNNL_MAX_CPU_ISA": OVERRIDDEN}, 2, BOTH),
    ({"ONEDNN_DEFAULT_FPMATH_MODE": "BF16", "OPENBLAS_SOMETHING": "1"},
     {"ONEDNN_DEFAULT_FPMATH_MODE": OBEYED, "OPENBLAS_SOMETHING": OVERRIDDEN}, 2, BOTH),
    ({"HWLOC_SYNTHETIC": "pack:1 core:1"}, {"HWLOC_SYNTHETIC": OVERRIDDEN}, 2, BOTH),
    ({"HWLOC_XMLFILE": "/nowhere.xml"}, {"HWLOC_XMLFILE": OVERRIDDEN}, 2, BOTH),
    ({"LD_LIBRARY_PATH": "/nowhere"}, {"LD_LIBRARY_PATH": OBEYED}, 2, BOTH),
    ({"GLIBC_TUNABLES": "glibc.malloc.arena_max=1", "MALLOC_ARENA_MAX": "1"}, {"GLIBC_TUNABLES": OBEYED, "MALLOC_ARENA_MAX": OBEYED}, 2, BOTH),
    ({"LD_DEBUG": "nothing", "MALLOC_WHATEVER": "1"}, {"LD_DEBUG": OVERRIDDEN, "MALLOC_WHATEVER": OVERRIDDEN}, 2, BOTH),
    ({"OPENBLAS_CORETYPE": "Nonsense"}, {"OPENBLAS_CORETYPE": OVERRIDDEN}, 2, BOTH),
    ({"OPENBLAS_L2_SIZE": "none"}, {"OPENBLAS_L2_SIZE": OVERRIDDEN}, 2, BOTH),
    ({"OPENBLAS_L2_SIZE": "512"}, {"OPENBLAS_L2_SIZE": OBEYED}, 2, BOTH),
    ({"ONEDNN_CPU_ISA_HINTS": "PREFER_XMM"}, {"ONEDNN_CPU_ISA_HINTS": OVERRIDDEN}, 2, BOTH),
    ({"DNNL_CPU_ISA_HINTS": "no_hints"}, {"DNNL_CPU_ISA_HINTS": OBEYED}, 2, BOTH),
    ({"ONEDNN_DEFAULT_FPMATH_MODE": "FAST"}, {"ONEDNN_DEFAULT_FPMATH_MODE": OVERRIDDEN}, 2, BOTH),
    ({"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "16", "DNNL_PRIMITIVE_CACHE_CAPACITY": "17"},
     {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": OBEYED, "DNNL_PRIMITIVE_CACHE_CAPACITY": OVERRIDDEN}, 2, BOTH),
]
# Why they are not obeyed.
REASONS = {"OMP_NUM_THREADS": "that is no number of threads", "OMP_PLACES": "each thread is bound to a core of its own",
           "KMP_BLOCKTIME": "libgomp does not read them", "ONEDNN_VERBOSE": "what is measured would take longer",
           "DNNL_MAX_CPU_ISA": "the setting isa says it", "HWLOC_SYNTHETIC": "the machine that counts is this one", "OPENBLAS_CORETYPE": "the library does not know such a value",
           "OPENBLAS_L2_SIZE": "the library does not know such a value", "ONEDNN_CPU_ISA_HINTS": "the library does not know such a value",
           "ONEDNN_DEFAULT_FPMATH_MODE": "the library does not know such a value"}


class Run:
    """A sweep with these variables, started by the command `before`."""

    def __init__(self, variables=(), before=(), threads="all"):
        kept = needs.quiet()
        with tempfile.TemporaryDirectory() as root:
            spec, directory = os.path.join(root, "places.yaml"), os.path.join(root, "out")
            with open(spec, "w", encoding="utf-8") as file:
                file.write(SPEC % threads)
            with open(os.path.join(root, "roofs.csv"), "w", encoding="utf-8") as file:
                file.write(ROOFS)
            done = subprocess.run([*before, PARADNN, "sweep", spec, "-o", directory, "--ceilings", file.name], env={**kept, **dict(variables)},
                                  capture_output=True, text=True, check=False)
            self.said = done.stderr
            self.facts = {}
            with open(os.path.join(directory, "environment.yaml"), encoding="utf-8") as file:
                for line in file:
                    name, _, value = line.partition(": ")
                    self.facts[name] = value.split(" # ")[0].strip().strip('"')
            with open(os.path.join(directory, "results.csv"), newline="", encoding="utf-8") as file:
                self.row = next(csv.DictReader(file))


def lines_of(path):
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8") as file:
        return len(file.readlines())


def places(indices):
    return ",".join(f"{{{UNITS[i]}}}" for i in indices)


class EnvironmentTest(unittest.TestCase):
    def check(self, run, threads, indices):
        quota = float(run.facts["quota_cpus"])  # of the control group that the test itself runs in; 0: none
        if 0 < quota < len(indices):
            indices = indices[:max(1, int(quota))]
            threads = min(threads, len(indices))
        self.assertEqual(run.row["threads"], str(threads))
        self.assertEqual(run.facts["thread_places"], places(indices))
        self.assertEqual(run.facts["omp_places"], places(indices))
        self.assertEqual(run.facts["threads_all"], str(threads))
        self.assertEqual(run.facts["cores_usable"], str(len(indices)))
        self.assertEqual(run.facts["omp_proc_bind"], "close")

    def test_variables(self):
        for variables, effects, threads, indices in VARIABLES:
            with self.subTest(variables=variables):
                run = Run(variables)
                self.check(run, threads, indices)
                lines = [line for line in run.said.splitlines() if "library variables" in line]
                self.assertEqual(len(lines), 1 if variables else 0, run.said)
                for name, effect in effects.items():
                    pair = f"{name}={variables[name]}"
                    self.assertIn(pair, run.facts[f"openmp_{effect}"])
                    other = OBEYED if effect == OVERRIDDEN else OVERRIDDEN
                    self.assertNotIn(name, run.facts[f"openmp_{other}"])
                    self.assertIn(pair, lines[0])
                    if name in REASONS:
                        self.assertEqual(f"since {REASONS[name]}" in lines[0], effect == OVERRIDDEN)
                self.assertEqual(run.facts["omp_wait_policy"], variables.get("OMP_WAIT_POLICY", "active"))

    def test_told_where_something_is_measured(self):
        """With the library that reads the variable: not by what only lists or fails, nor where all is done."""
        with tempfile.TemporaryDirectory() as root:
            roofs, out = os.path.join(root, "roofs.csv"), os.path.join(root, "out")
            with open(roofs, "w", encoding="utf-8") as file:
                file.write(ROOFS)
            model = "fc/layers=1,nodes=8,batch=2,threads=1,mode=infer"
            short = ["--set", "measure.max_time=1ms", "--set", "measure.min_samples=1", "--ceilings", roofs]
            sweep = ["sweep", model, "-o", out, *short, "--set", "measure.rounds=1", "--set"]
            for arguments, told in ((["list", model], ""), ([*sweep, "run.backend=nothing"], ""), ([*sweep, "run.backend=openblas"], "OPENBLAS"),
                                    ([*sweep, "run.backend=openblas"], ""), (["status", out], ""), (["run", model, "--rounds", "1", *short], "ONEDNN"),
                                    (["check", model], "ONEDNN"), (["run", model + ",backend=openblas", "--rounds", "1", *short], "OPENBLAS")):
                done = subprocess.run([PARADNN, *arguments], capture_output=True, text=True, check=False,
                                      env={**needs.quiet(), "OPENBLAS_L2_SIZE": "512", "ONEDNN_CPU_ISA_HINTS": "NO_HINTS", "MALLOC_TOP_PAD_": "0"})
                lines = [line for line in done.stderr.splitlines() if "library variables" in line]
                self.assertEqual(len(lines), bool(told), (arguments, done.stderr))
                for name in ("OPENBLAS_L2_SIZE", "ONEDNN_CPU_ISA_HINTS", "MALLOC_TOP_PAD_"):
                    self.assertEqual(name in "".join(lines), bool(told) and (name.startswith(told) or name.startswith("MALLOC")), (arguments, lines))

    def test_what_decides_which_code_runs_is_identity(self):
        with tempfile.TemporaryDirectory() as root:
            model, out = "fc/layers=1,nodes=8,batch=2,threads=1,mode=infer,backend=reference", os.path.join(root, "out")
            roofs = os.path.join(root, "roofs.csv")
            with open(roofs, "w", encoding="utf-8") as file:
                file.write(ROOFS)
            command = [PARADNN, "sweep", model, "-o", out, "--set", "measure.rounds=1", "--set", "measure.max_time=1ms", "--ceilings", roofs]
            first = subprocess.run(command, env=needs.quiet(), capture_output=True, text=True, check=False)
            self.assertEqual(first.returncode, 0, first.stderr)
            for name, value in (("LD_PRELOAD", "libm.so.6"), ("LD_LIBRARY_PATH", "/nowhere"), ("LD_BIND_NOW", "1"), ("GLIBC_TUNABLES", "glibc.malloc.arena_max=1"),
                                ("MALLOC_ARENA_MAX", "1"), ("MALLOC_PERTURB_", "7"), ("GOMP_SPINCOUNT", "0"), ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "7")):
                done = subprocess.run(command, env={**needs.quiet(), name: value}, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, f'{name} was "" and is "{value}" now' in done.stderr), (2, True), done.stderr)
            # Another kernel, or another governor where there is one, is said, and both are kept.
            facts = os.path.join(out, "environment.yaml")
            with open(facts, encoding="utf-8") as file:
                text = file.read()
            kernel = re.search(r'(?m)^kernel: "(.*)"$', text)[1]
            self.assertNotIn("kernel was", first.stderr)
            with open(facts, "w", encoding="utf-8") as file:
                file.write(text.replace(f'kernel: "{kernel}"', 'kernel: "1.2"'))
            done = subprocess.run([*command, "--set", "measure.rounds=2"], env=needs.quiet(), capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, f"kernel was 1.2 and is {kernel} now; what was measured is kept" in done.stderr), (0, True), done.stderr)
            with open(facts, encoding="utf-8") as file:
                self.assertIn(f'kernel: "1.2 | {kernel}"\n', file.read())
            done = subprocess.run(command, env={**needs.quiet(), "OPENBLAS_L2_SIZE": "none"}, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_more_threads_than_allowed(self):
        with tempfile.TemporaryDirectory() as root:
            for variables, before, reason in [
                    ({"OMP_THREAD_LIMIT": "1"}, [], "2 threads, but only 1 are allowed by OMP_THREAD_LIMIT"),
                    ({}, ["taskset", "-c", str(UNITS[1])], "2 threads, but only 1 cores may be used here")]:
                done = subprocess.run([*before, PARADNN, "sweep", "fc/nodes=8,batch=2,threads=2,mode=infer", "-o", os.path.join(root, "out")],
                                      env={**os.environ, **variables}, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                with open(os.path.join(root, "out", "results.csv"), newline="", encoding="utf-8") as file:
                    row = next(csv.DictReader(file))
                self.assertEqual((row["status"], row["reason"]), ("invalid", reason))
                shutil.rmtree(os.path.join(root, "out"))

    def test_number_of_threads_is_no_limit(self):
        """OMP_NUM_THREADS and a scheduler's grant are defaults: a spec that asks for more threads gets them."""
        for name in ("OMP_NUM_THREADS", "SLURM_CPUS_ON_NODE"):
            self.assertEqual(Run({name: "1"}, threads=2).row["threads"], "2")

    def test_cores_that_are_taken_away_end_the_sweep(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs two cores")
        with tempfile.TemporaryDirectory() as root:
            journal = os.path.join(root, "out", "journal.csv")
            options = [word for text in ("rounds=10000", "max_time=20s", "precision=0.0001%", "probe=off") for word in ("--set", f"measure.{text}")]
            with subprocess.Popen([PARADNN, "sweep", "fc/layers=1,nodes=8,input=8,output=8,batch=2,threads=1,mode=infer", "-o",
                                   os.path.join(root, "out"), "--set", "measure.min_samples=3", *options], env={**needs.quiet(), "PARADNN_NO_CACHE": "1"},
                                  stderr=subprocess.PIPE, text=True) as child:
                while lines_of(journal) < 2:
                    self.assertIsNone(child.poll())
                    time.sleep(0.05)
                os.sched_setaffinity(child.pid, {max(os.sched_getaffinity(0))})
                said = child.communicate()[1]
            self.assertEqual(child.returncode, 1, said)
            self.assertRegex(said, r"paradnn: cores \d+(, \d+)* were taken away from this process")
            with open(os.path.join(root, "out", "results.csv"), newline="", encoding="utf-8") as file:
                self.assertEqual(next(csv.DictReader(file))["status"], "ok")

    def test_taskset(self):
        reason = needs.missing("taskset")
        if reason:
            self.skipTest(reason)
        self.check(Run(before=["taskset", "-c", str(UNITS[1])]), 1, SECOND)
        bound = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
        self.check(Run(bound, before=["taskset", "-c", str(UNITS[1])]), 1, SECOND)
        self.check(Run(bound, before=["taskset", "-c", f"{UNITS[0]},{UNITS[1]}"]), 2, BOTH)

    def test_numactl(self):
        reason = needs.missing("numactl")
        if reason:
            self.skipTest(reason)
        self.check(Run({"OMP_PLACES": "cores"}, before=["numactl", f"--physcpubind={UNITS[1]}"]), 1, SECOND)

    def test_cgroup_quota(self):
        """Version 1 or 2, if this process may create a cgroup; test_host covers both with fake files."""
        for base, limit, text in [("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "100000"), ("/sys/fs/cgroup", "cpu.max", "100000 100000")]:
            group = os.path.join(base, f"paradnn-test-{os.getpid()}")
            try:
                os.mkdir(group)
                with open(os.path.join(group, limit), "w", encoding="utf-8") as file:
                    file.write(text)
            except OSError:
                if os.path.isdir(group):
                    os.rmdir(group)
                continue
            try:
                self.check(Run({"OMP_PROC_BIND": "close"}, before=["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh"]), 1, FIRST)
            finally:
                os.rmdir(group)
            return
        self.skipTest("no cgroup may be made here")


if __name__ == "__main__":
    if len(UNITS) < 2:
        print("skipped: there is one core")
        sys.exit(needs.SKIPPED)
    os.sched_setaffinity(0, UNITS)
    unittest.main()
