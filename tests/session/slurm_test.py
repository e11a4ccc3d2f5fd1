#!/usr/bin/env python3
"""submit on a real Slurm of three nodes on this machine: one node is killed in mid-visit, one task is requeued, one is warned that its
time is up. The merge job's tables must be those of one process. Skips with a line where there can be no such Slurm.

Usage: slurm_test.py PARADNN SWEEPS [TIMES]"""

import csv
import os
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
import needs  # noqa: E402
import slurm  # noqa: E402
from files import rows  # noqa: E402

PARADNN, SWEEPS = (os.path.abspath(path) for path in sys.argv[1:3])
TIMES = int(sys.argv[3]) if len(sys.argv) > 3 else 1
RANKS_WORKER = os.path.join(os.path.dirname(PARADNN), "paradnn-worker-mpi")
# Of another machine: no roof matters here.
CEILINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../results/examples/zen5-2-cores/ceilings.csv")
RANKS = "fc/layers=2,nodes=64,input=64,output=8,batch=16,threads=1,ranks=2"
SPEC = [os.path.join(SWEEPS, "smoke.yaml"), "--set", "run.threads=1"]
# Costs and shapes; what else is in the tables was measured. Which reorders there are depends on the implementations that were fastest.
OPS = ("id", "layer", "op", "category", "op_pass", "op_shape", "executions", "flop_count", "byte_count")


def paradnn(*arguments):
    done = subprocess.run([PARADNN, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    return done.stdout


def same(name, found, expected, columns):
    found, expected = ([tuple(row[column] for column in columns) for row in table] for table in (found, expected))
    assert found == expected, (name, [pair for pair in zip(found, expected) if pair[0] != pair[1]][:3], len(found), len(expected))


class Sweep:
    """A submitted sweep."""

    def __init__(self, cluster, place):
        self.cluster, self.directory = cluster, os.path.join(place, "joined")
        cluster.run(PARADNN, "submit", *SPEC, "--set", "measure.max_time=2s", "--workers", "3", "-o", self.directory,
                    "--lease-expiry", "4s", "--", "--partition=test")
        array, merge = rows(self.directory, "jobs", "jobs.csv")
        self.array, self.merge = array["job_id"], merge["job_id"]
        assert array["tasks"] == "3", array

    def node(self, task):
        return self.cluster.run("squeue", "-h", "-t", "running", "-j", f"{self.array}_{task}", "-o", "%N", check=False).stdout.strip()

    def parts(self, node):
        parts = os.path.join(self.directory, "parts")
        return [os.path.join(parts, name) for name in (os.listdir(parts) if os.path.isdir(parts) else []) if name.startswith(node + "-")]

    def has_visits(self, node):
        for part in self.parts(node):
            journal = os.path.join(part, "journal.csv")
            if os.path.exists(journal):
                with open(journal, encoding="utf-8") as file:
                    if file.read().count("\n") > 1:
                        return True
        return False

    def measured(self):
        """The host of each visit that some worker made."""
        found = {}
        for node in ("n1", "n2", "n3"):
            for part in self.parts(node):
                for visit in rows(part, "journal.csv"):
                    found[visit["id"], visit["started_utc"]] = node
        return found

    def visiting_task(self):
        """One that has made a visit while all three are at work, or None."""
        nodes = [self.node(task) for task in range(3)]
        if not all(node and self.parts(node) for node in nodes):
            return None
        return next((task for task in range(3) if self.has_visits(nodes[task])), None)

    def restarts(self, task):
        shown = self.cluster.run("scontrol", "show", "job", f"{self.array}_{task}").stdout
        return int(shown.split("Restarts=")[1].split()[0])

    def state(self, job):
        return self.cluster.run("squeue", "-h", "-t", "all", "-j", job, "-o", "%T").stdout.split()

    def logs(self):
        text, jobs = "", os.path.join(self.directory, "jobs")
        for name in sorted(os.listdir(jobs)):
            if name.endswith(".log"):
                with open(os.path.join(jobs, name), encoding="utf-8", errors="replace") as file:
                    text += f"--- {name}\n{file.read()}"
        return text


def disturb(cluster, sweep):
    cluster.wait(lambda: sweep.visiting_task() is not None)
    killed = sweep.visiting_task()
    requeued, warned = (task for task in range(3) if task != killed)
    node = sweep.node(killed)
    cluster.node_die(node)
    cluster.run("scontrol", "requeue", f"{sweep.array}_{requeued}")
    cluster.run("scancel", "--batch", "--signal=USR1", f"{sweep.array}_{warned}")
    cluster.node_up(node)
    cluster.wait(lambda: not cluster.is_in_queue(sweep.merge))
    assert [sweep.restarts(task) for task in range(3)] == [1, 1, 1], [sweep.restarts(task) for task in range(3)]


def check(sweep, alone, columns):
    assert sweep.state(sweep.merge) == ["COMPLETED"], sweep.state(sweep.merge)
    results = rows(sweep.directory, "results.csv")
    same("results.csv", results, rows(alone, "results.csv"), columns)
    assert {row["status"] for row in results} == {"ok"}, results
    same("ops.csv", *([row for row in rows(place, "ops.csv") if row["op"] != "reorder"] for place in (sweep.directory, alone)), OPS)
    measured, kept = sweep.measured(), {}
    for visit in rows(sweep.directory, "journal.csv"):
        kept.setdefault(visit["id"], []).append((visit["id"], visit["started_utc"]))
    for of in kept.values():
        assert len(of) >= 2 and len(set(of)) == len(of) and len({measured[visit] for visit in of}) == 1, (of, measured)
    recorded = [(row["job_id"], row["tasks"]) for row in rows(sweep.directory, "jobs", "jobs.csv")]
    assert recorded == [(sweep.array, "3"), (sweep.merge, "")], recorded
    paradnn("status", sweep.directory)


def ranks(cluster, place):
    """Two ranks on two nodes, of a sweep that srun starts on both, and of a submitted one, which gets its roofs."""
    alone, directory, program = (os.path.join(place, name) for name in ("ranks", "submitted", "program"))
    command = [RANKS, "--set", "measure.max_time=60ms", "--set", "measure.rounds=1"]
    done = cluster.run("srun", "-N2", "-n2", PARADNN, "sweep", *command, "-o", alone, "--ceilings", CEILINGS, "-q")
    assert "paradnn: SLURM_PROCID is 1: a sweep with ranks is left to process 0, which has mpirun start them" in done.stderr.splitlines(), done
    with open(program, "w", encoding="utf-8") as file:
        file.write(f'[ "$1" != sweep ] || set -- "$@" --ceilings {alone}/ceilings.csv\nexec {PARADNN} "$@"\n')
    cluster.run(PARADNN, "submit", *command, "--workers", "1", "--nodes", "2", "--program", f"sh {program}", "-o", directory)
    merge = rows(directory, "jobs", "jobs.csv")[-1]["job_id"]
    cluster.wait(lambda: not cluster.is_in_queue(merge))
    for table in (rows(alone, "results.csv"), rows(directory, "results.csv")):
        assert [(row["ranks"], row["status"]) for row in table] == [("2", "ok")], table


def once():
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        alone = os.path.join(place, "alone")
        paradnn("sweep", *SPEC, "--set", "measure.max_time=20ms", "-o", alone)
        columns = paradnn("list", *SPEC, "--format", "csv").splitlines()[0].split(",")
        columns = [name for name in columns if name in rows(alone, "results.csv")[0]]
        assert {"id", "params", "flop_count", "byte_count", "memory_bytes"} <= set(columns), columns
        cluster, sweep = slurm.Slurm(os.path.join(place, "slurm")), None
        try:
            cluster.up(3)
            sweep = Sweep(cluster, place)
            disturb(cluster, sweep)
            check(sweep, alone, columns)
            if os.path.exists(RANKS_WORKER):
                ranks(cluster, place)
        except AssertionError:
            print(sweep.logs() if sweep else "nothing was submitted", file=sys.stderr)
            raise
        finally:
            cluster.stop()


def main():
    if slurm.missing():
        for program in slurm.missing():
            needs.say(program)
        return needs.SKIPPED
    try:
        for _ in range(TIMES):
            once()
    except slurm.Unavailable as reason:
        print(f"skipped: {reason}")
        return needs.SKIPPED
    print("slurm ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
