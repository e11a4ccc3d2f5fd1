#!/usr/bin/env python3
"""Instances with two ranks, which mpirun starts.

Usage: mpi_test.py PARADNN MOVED_CLOCK"""

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from processes import Clock, journal_lines, stop, wait_until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # noqa: E402

PROGRAM, MOVED_CLOCK = (os.path.abspath(path) for path in sys.argv[1:3])
# Of another machine: no roof matters here.
CEILINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../results/examples/zen5-2-cores/ceilings.csv")
MODEL = "fc/layers=2,nodes=32,input=64,output=8,batch=8,threads=1"
QUICK = ["--set", "measure.rounds=1", "--set", "measure.max_time=1ms", "--set", "measure.min_samples=3", "--set", "measure.probe=off", "-q"]
# Ranks that wait let others have the core.
QUIET = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMP_WAIT_POLICY": "passive"}


def ranks_of(driver):
    """The pids of the ranks, which are the children of mpirun, the child of the driver."""
    parents, ranks = {}, []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
            parents[int(entry)] = (name, int(rest.split()[1]))
        except (FileNotFoundError, ProcessLookupError):
            continue
    for pid, (name, parent) in parents.items():
        if name.startswith("paradnn-worker-") and parents.get(parent, ("", 0))[1] == driver:
            ranks.append(pid)
    return sorted(ranks)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two ranks need two cores")
class Ranks(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.results = os.path.join(self.place.name, "r.results")

    def command(self, *models, more=()):
        return [PROGRAM, "sweep", *models, "-o", self.results, "--ceilings", CEILINGS, *QUICK, *more]

    def rows(self):
        with open(os.path.join(self.results, "results.csv"), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def visits(self):
        return list(csv.DictReader(line.decode() for line in journal_lines(self.results)))

    def sweep(self, *models, before=(), environment=None, status=0):
        run = subprocess.run([*before, *self.command(*models)], capture_output=True, text=True, check=False,
                             env={**os.environ, **QUIET, **(environment or {})})
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr

    def test_modes(self):
        """Ranks that average have the same weights afterwards, or the row would not be ok."""
        modes = ("none", "blocking", "bucketed", "thread")
        self.sweep(MODEL + ",ranks=2", *[f"{MODEL},ranks=2,allreduce={mode}" for mode in modes if mode != "blocking"])
        rows = self.rows()
        self.assertEqual({row["allreduce"]: row["status"] for row in rows}, dict.fromkeys(modes, "ok"))
        for row in rows:
            self.assertGreater(float(row["compute_ns"]), 0)
            averages = row["allreduce"] != "none"
            self.assertEqual(row["allreduce_bytes"], str(4 * int(row["params"])) if averages else "")
            self.assertEqual(bool(row["hidden_pct"]), averages)

    def test_under_mpirun(self):
        """One process of the outer job measures and writes."""
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        outer = ["mpirun", "--bind-to", "none", "--oversubscribe", "-np", "2"]
        said = self.sweep(MODEL + ",ranks=2", before=outer, environment=root)
        self.assertEqual([(row["ranks"], row["status"]) for row in self.rows()], [("2", "ok")], said)

    def test_tasks_of_srun(self):
        """All but the first leave, with or without others in the directory; without ranks, they work."""
        for more in ((), ("--join",)):
            run = subprocess.run(self.command(MODEL + ",ranks=2", more=more), capture_output=True, text=True, check=False,
                                 env={**os.environ, "SLURM_PROCID": "1"})
            self.assertEqual((run.returncode, run.stderr),
                             (0, "paradnn: SLURM_PROCID is 1: a sweep with ranks is left to process 0, which has mpirun start them\n"))
            self.assertFalse(os.path.exists(self.results))
        self.sweep(MODEL, environment={"SLURM_PROCID": "1"})
        self.assertEqual([row["status"] for row in self.rows()], ["ok"])

    def test_worlds_of_one(self):
        """An mpirun of another MPI starts processes that do not find each other. What it passes on to other hosts fits any."""
        fake, seen = (os.path.join(self.place.name, name) for name in ("mpirun", "seen"))
        with open(fake, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nenv >{seen}\nshift 2\nexec \"$@\"\n")
        os.chmod(fake, 0o755)
        self.sweep(MODEL + ",ranks=2", environment={"PARADNN_MPIRUN": fake, "OMP_PLACES": "{0}", "GOMP_CPU_AFFINITY": "0"}, status=1)
        self.assertIn("worlds of 1 process instead of one of 2", self.rows()[0]["reason"])
        with open(seen, encoding="utf-8") as file:
            variables = file.read().splitlines()
        self.assertIn("OMP_PLACES=cores", variables)
        self.assertFalse([variable for variable in variables if variable.startswith("GOMP_CPU_AFFINITY")])

    def test_other_build(self):
        """The second rank's program says that it is another build, as on a host with an older installation."""
        fake, either, older = (os.path.join(self.place.name, name) for name in ("mpirun", "either", "paradnn-worker-mpi"))
        with open(fake, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec mpirun \"$1\" \"$2\" {either} \"$3\" \"$4\" \"$5\"\n")
        with open(either, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nprogram=$1\nshift\n[ \"$OMPI_COMM_WORLD_RANK\" = 0 ] || program={older}\nexec \"$program\" \"$@\"\n")
        with open(os.path.join(os.path.dirname(PROGRAM), "paradnn-worker-mpi"), "rb") as file:
            program, replaced = re.subn(rb"\([0-9a-f]{12}\)\0", b"(0123456789ab)\0", file.read())
        self.assertEqual(replaced, 1)
        with open(older, "wb") as file:
            file.write(program)
        for path in (fake, either, older):
            os.chmod(path, 0o755)
        self.sweep(MODEL + ",ranks=2", environment={"PARADNN_MPIRUN": fake}, status=1)
        self.assertRegex(self.rows()[0]["reason"], r"rank 1 is build .*\(0123456789ab\), but rank 0 is build .*: all must be the same build")

    def harmed(self):
        return [(visit["status"], visit["reason"]) for visit in self.visits() if visit["status"] in ("crash", "timeout")]

    def disturbed(self, harm, *models, more=()):
        """The harmed visits of a sweep without end, in whose second visit, or about that, rank 1 comes to harm."""
        clock = Clock(MOVED_CLOCK, os.path.join(self.place.name, "clock"))
        endless = ["--set", "measure.rounds=10000", "--set", "measure.min_samples=1000"]
        with subprocess.Popen(self.command(*models, more=[*endless, *more]), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **QUIET, **clock.variables}) as driver:
            def wait(condition):
                wait_until(lambda: condition() or driver.poll() is not None)
                self.assertIsNone(driver.poll(), driver.stderr.read() if driver.poll() is not None else "")

            # With the first visit in the journal, these ranks are in the second one, or about to be, and stay for all others.
            wait(self.visits)
            ranks = ranks_of(driver.pid)
            self.assertEqual(len(ranks), 2)
            harm(ranks[1], clock)
            wait(self.harmed)
            clock.each_look_takes(0)
            wait(lambda: self.visits()[-1]["status"] == "ok")
            wait(lambda: not any(os.path.exists(f"/proc/{rank}") for rank in ranks))
            driver.send_signal(signal.SIGINT)
            said = driver.stderr.read()
        self.assertEqual(driver.returncode, 130, said)
        return self.harmed()

    def test_killed_rank(self):
        """Its visit is a crash that says which rank, other ranks take their places, and the sweep goes on."""
        visits = self.disturbed(lambda rank, clock: os.kill(rank, signal.SIGKILL), MODEL + ",ranks=2")
        self.assertEqual([status for status, _ in visits], ["crash"])
        self.assertRegex(visits[0][1], "rank 1 .*signal 9")
        self.assertEqual([row["status"] for row in self.rows()], ["ok"])

    def test_silent_rank(self):
        """As after a lost link: the others wait in MPI. The visit ends at its limit, and the sweep goes on without those ranks."""
        def silence(rank, clock):
            self.assertTrue(stop(rank))
            clock.each_look_takes(1)

        visits = self.disturbed(silence, MODEL + ",ranks=2", MODEL + ",ranks=2,allreduce=none", more=["--set", "limits.time=10min"])
        self.assertEqual(visits[0], ("timeout", "took longer than the limit of 600 s, or the ranks no longer reach each other"))

    def test_too_few_cores(self):
        cores = len(os.sched_getaffinity(0))
        self.sweep(f"fc/layers=1,nodes=8,batch=2,threads={cores},ranks=2", status=1)
        self.assertIn("cores available to this process", self.rows()[0]["reason"])

    def test_talkative_mpi(self):
        """The reason is what mpirun says of the end, whatever its ranks' MPI says before and after it."""
        fake = os.path.join(self.place.name, "mpirun")
        with open(fake, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ncat >&2 <<'END'\n"
                       "[vm][[1,1],0][btl_tcp_proc.c:266] Unable to find reachable pairing\n" + "-" * 60 + "\n"
                       "mpirun noticed that process rank 1 with PID 7 on node vm\nexited on signal 9 (Killed).\n" + "-" * 60 + "\n"
                       "[vm][[1,1],1][btl_tcp_proc.c:266] Unable to find reachable pairing\nEND\nexit 1\n")
        os.chmod(fake, 0o755)
        self.sweep(MODEL + ",ranks=2", environment={"PARADNN_MPIRUN": fake}, status=1)
        self.assertIn(f"{fake} did not start the ranks: mpirun noticed that process rank 1 with PID 7 on node vm exited on signal 9 (Killed).",
                      self.rows()[0]["reason"])

    def test_no_mpirun(self):
        plain = os.path.join(self.place.name, "mpirun")
        with open(plain, "w", encoding="utf-8"):
            pass
        for program, cause in (("/none", "No such file or directory"), (plain, "Permission denied")):
            self.sweep(MODEL + ",ranks=2", environment={"PARADNN_MPIRUN": program}, status=1)
            self.assertIn(f"{program}: {cause}", self.rows()[0]["reason"])
            shutil.rmtree(self.results)


if __name__ == "__main__":
    if needs.cores(PROGRAM) < 2:
        print("skipped: two ranks want two cores, and only one may be used here")
        sys.exit(needs.SKIPPED)
    unittest.main(argv=sys.argv[:1])
