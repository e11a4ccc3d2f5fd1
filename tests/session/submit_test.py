#!/usr/bin/env python3
"""submit with a made-up sbatch and scontrol, and its scripts with a made-up paradnn and ssh. tests/session/slurm_test.py has a real Slurm.

Usage: submit_test.py PARADNN"""

import csv
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

from processes import wait_until

PARADNN = os.path.abspath(sys.argv[1])
SCHEDULERS = ("slurm", "none")
HOSTS = {"none": ("node1", "node2")}
SPEC = """\
sweep: wide
run: {threads: 1}
models:
  - fc: {layers: [1, 2, 3], nodes: [8, 16, 32], input: 8, output: 8, batch: 1}
"""
# Says its arguments, and answers what the test wants, one line a call.
SBATCH = """\
#!/bin/bash
printf '%s\\n' "$*" >>"$FAKES/asked"
n=$(wc -l <"$FAKES/asked")
sed -n "${n}p" "$FAKES/answers"
[ ! -f "$FAKES/complaint.$n" ] || { cat "$FAKES/complaint.$n" >&2; exit 1; }
"""
SCONTROL = """\
#!/bin/bash
echo "scontrol $*" >>"$FAKES/calls"
[ "$1" = requeue ] || cat "$FAKES/config"
"""
# Works until a signal comes, or as long as it is told to.
WORKER = """\
#!/bin/bash
case $1 in
sweep)
    trap 'echo USR1 >>"$FAKES/calls"; { echo visits; echo "$((10 + MORE))"; } >"$FAKES/visits"; exit 130' USR1
    trap 'echo TERM >>"$FAKES/calls"; exit 130' TERM
    echo "$*" >>"$FAKES/calls"
    echo started >>"$FAKES/started"
    for ((i = 0; i < TENTHS; i++)); do sleep 0.1; done
    exit "${ENDS:-0}"
    ;;
*) echo "$*" >>"$FAKES/calls" ;;&
status) cat "$FAKES/visits"; exit "$OPEN" ;;
esac
"""
SSH = """\
#!/bin/bash
for host; do :; [ "${host#-}" = "$host" ] && [ "$host" != BatchMode=yes ] && break; done
echo "ssh $host" >>"$FAKES/calls"
exec bash -c "${!#}"
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "it's a $HOME")
        self.fakes = os.path.join(self.directory, "fakes")
        os.mkdir(self.path)
        os.mkdir(self.fakes)
        self.write("spec.yaml", SPEC)
        self.environment = {**os.environ, "FAKES": self.fakes, "PATH": f"{self.fakes}:{os.environ['PATH']}"}
        self.fake("config", "Configuration data\nMaxArraySize            = 1001\nMaxJobCount = 10000\n")
        self.fake("answers", "12\n13\n")
        for name, text in (("sbatch", SBATCH), ("scontrol", SCONTROL), ("ssh", SSH), ("worker", WORKER)):
            self.fake(name, text)
            os.chmod(os.path.join(self.fakes, name), stat.S_IRWXU)

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as file:
            file.write(text)

    def fake(self, name, text):
        with open(os.path.join(self.fakes, name), "w", encoding="utf-8") as file:
            file.write(text)

    def said(self, name):
        path = os.path.join(self.fakes, name)
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()

    def paradnn(self, *arguments, expect=0, environment=None):
        done = subprocess.run([PARADNN, *arguments], cwd=self.path, env=environment or self.environment, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def submit(self, *arguments, **options):
        return self.paradnn("submit", "spec.yaml", "-o", "out", *arguments, **options)

    def fails(self, message, *arguments, expect=2, **options):
        done = self.submit(*arguments, expect=expect, **options)
        last = done.stderr.splitlines()[-1]
        self.assertIn(message, last)
        self.assertTrue(last.startswith("paradnn: "), last)
        return done

    def recorded(self):
        with open(os.path.join(self.path, "out", "jobs", "jobs.csv"), encoding="utf-8") as file:
            return [(row["job_id"], row["cluster"], row["tasks"]) for row in csv.DictReader(file)]


class Submit(Case):
    def test_an_array_and_a_merge(self):
        done = self.submit("--workers", "4", "--", "--partition=p q", "--exclusive")
        self.assertEqual(done.stdout, "12: 4 workers\n13: merge, when all of them have ended\n")
        array, merge = self.said("asked")
        jobs = os.path.join(self.path, "out", "jobs")
        self.assertEqual(array, f"--parsable --partition=p q --exclusive --chdir={jobs} --array=0-3 {jobs}/worker.sh")
        self.assertTrue(merge.startswith("--parsable --partition=p q --exclusive --job-name=paradnn-wide-merge "), merge)
        self.assertTrue(merge.endswith(f" --dependency=afterany:12 {jobs}/merge.sh"), merge)
        self.assertEqual(self.recorded(), [("12", "", "4"), ("13", "", "")])

    def test_nodes_for_ranks(self):
        """A worker has as many nodes as asked for, the merge one; other schedulers' are not known to mpirun."""
        ranks = ("--set", "run.ranks=[1, 2]")
        self.submit("--workers", "2", "--nodes", "2", *ranks)
        with open(os.path.join(self.path, "out", "jobs", "worker.sh"), encoding="utf-8") as file:
            script = file.read()
        self.assertIn("#SBATCH --nodes=2\n#SBATCH --ntasks=2\n", script)
        self.assertIn(" --nodes=1 --ntasks=1 ", self.said("asked")[1])
        self.fails("--nodes is 3, but no instance has more than 2 ranks", "--workers", "2", "--nodes", "3", *ranks)
        self.fails("--nodes is 2, but no instance has more than 1 rank", "--workers", "2", "--nodes", "2")
        self.fails("--nodes is '0', expected a whole number from 1", "--workers", "2", "--nodes", "0")
        self.fails("--nodes is for Slurm", "--workers", "1", "--nodes", "2", "--scheduler", "none", *ranks)

    def test_more_workers_later(self):
        self.submit("--workers", "2")
        self.fake("answers", "12\n13\n20\n21\n")
        self.submit("--workers", "3")
        self.assertEqual([row[0] for row in self.recorded()], ["12", "13", "20", "21"])

    def test_another_spec(self):
        self.submit("--workers", "2")
        done = self.fails("out/spec.yaml: has", "--workers", "2", "--set", "models.0.fc.batch=2")
        self.assertEqual(len(self.said("asked")), 2, done)

    def test_arrays_of_the_site(self):
        self.fake("config", "MaxArraySize = 4\n")
        self.fake("answers", "1;far\n2;far\n3;far\n4;far\n")
        done = self.submit("--workers", "9")
        self.assertEqual(done.stdout.splitlines()[:3], ["1 on far: 4 workers", "2 on far: 4 workers", "3 on far: 1 worker"])
        asked = self.said("asked")
        self.assertEqual([line.split("--array=")[1].split()[0] for line in asked[:3]], ["0-3", "0-3", "0-0"])
        self.assertIn("--dependency=afterany:1:2:3 --clusters=far ", asked[3])
        self.assertEqual(self.recorded()[-1], ("4", "far", ""))

    def test_no_more_workers_than_instances(self):
        done = self.submit("--workers", "100")
        self.assertIn("--array=0-8 ", self.said("asked")[0])
        self.assertIn("--workers is 100, but 9 are enough", done.stderr)

    def test_chatter_before_the_id(self):
        self.fake("answers", "12\n13\n")
        self.fake("sbatch", SBATCH.replace("n=$(wc", "echo Welcome, your budget is 12 hours; n=$(wc"))
        self.submit("--workers", "2")
        self.assertEqual([row[0] for row in self.recorded()], ["12", "13"])

    def test_bad_answers(self):
        for answer in ("", "Submitted batch job 12", "12x", "12;", ";far", "-1", "123456789012345678901234567890"):
            with self.subTest(answer):
                self.fake("answers", answer + "\n")
                if os.path.exists(os.path.join(self.fakes, "asked")):
                    os.remove(os.path.join(self.fakes, "asked"))
                self.fails("not with a job id", "--workers", "2", expect=1)
        self.assertFalse(os.path.exists(os.path.join(self.path, "out", "jobs", "jobs.csv")))

    def test_refusals(self):
        self.fake("complaint.1", "sbatch: lua: no account\nsbatch: error: Batch job submission failed: Invalid account\n\n")
        self.fails("sbatch refused: Batch job submission failed: Invalid account", "--workers", "2")
        os.remove(os.path.join(self.fakes, "complaint.1"))
        os.remove(os.path.join(self.fakes, "asked"))
        # The merge is refused: the workers run, and that is known.
        self.fake("complaint.2", "")
        done = self.fails("sbatch refused: it does not say why", "--workers", "2")
        self.assertEqual(done.stdout, "12: 2 workers\n")
        self.assertEqual(self.recorded(), [("12", "", "2")])

    def test_no_slurm(self):
        empty = os.path.join(self.directory, "empty")
        os.mkdir(empty)
        self.fails("cannot run scontrol: No such file or directory", "--workers", "2", expect=1,
                   environment={**self.environment, "PATH": empty})
        for text, message in (("MaxArraySize = 0\n", "takes no job arrays"), ("ClusterName = x\n", "has no MaxArraySize"),
                              ("MaxArraySize = many\n", "has no MaxArraySize")):
            self.fake("config", text)
            self.fails(message, "--workers", "2", expect=2 if "no job" in message else 1)
        self.fake("config", "MaxArraySize = 1\n")
        os.unlink(os.path.join(self.fakes, "sbatch"))
        if not shutil.which("sbatch"):
            self.fails("cannot run sbatch", "--workers", "2", expect=1)

    def test_bad_arguments(self):
        for message, *arguments in (
                ("--workers is '0'", "--workers", "0"), ("--workers is 'x'", "--workers", "x"), ("--workers is missing",),
                ("--workers sets the array", "--workers", "2", "--", "--array=0-9"),
                ("the job is submit's own", "--workers", "2", "--", "--wrap=hostname"),
                ("--program is more than one line", "--workers", "2", "--program", "a\nb"),
                ("--time is 'soon'", "--workers", "2", "--time", "soon"),
                ("--scheduler cannot be 'slrum', did you mean 'slurm'?", "--workers", "2", "--scheduler", "slrum"),
                ("--scheduler none needs a host for each worker after --; workers on other cores of one machine are other setups, which one "
                 "sweep never mixes", "--workers", "2", "--scheduler", "none"),
                ("1 hosts for 2 workers", "--workers", "2", "--scheduler", "none", "--", "node1")):
            with self.subTest(message):
                self.fails(message, *arguments)
        self.assertEqual(os.listdir(self.path), ["spec.yaml"])

    def test_dry_run_leaves_nothing(self):
        for scheduler in SCHEDULERS:
            self.submit("--workers", "2", "--scheduler", scheduler, "--dry-run", "--", *HOSTS.get(scheduler, ()))
        self.assertEqual((os.listdir(self.path), self.said("asked"), self.said("calls")), (["spec.yaml"], [], []))

    def test_directory_is_a_file(self):
        self.write("out", "")
        self.fails("exists and is not a directory", "--workers", "2")


class Scripts(Case):
    """The scripts themselves, run by bash in a directory whose name is everything a shell dislikes."""

    def script(self, name):
        return os.path.join(self.path, "out", "jobs", name)

    def prepare(self, *arguments):
        done = self.submit("--workers", "2", "--program", "env TENTHS=$TENTHS worker", *arguments)
        self.fake("visits", "visits\n10\n")
        if os.path.exists(os.path.join(self.fakes, "calls")):
            os.remove(os.path.join(self.fakes, "calls"))
        return done

    def start(self, **variables):
        environment = {**self.environment, "SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "3", "TENTHS": "36000", "MORE": "1",
                       "OPEN": "1", **variables}
        return subprocess.Popen(["bash", self.script("worker.sh")], env=environment, cwd=self.path, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def wait_for_worker(self, process, count=1):
        """Until as many take signals."""
        wait_until(lambda: len(self.said("started")) >= count or process.poll() is not None)
        self.assertIsNone(process.poll(), "the worker has ended")

    def ended(self, process):
        out, errors = process.communicate()
        self.assertEqual(errors, "")
        return process.returncode, out

    def test_syntax(self):
        for scheduler in SCHEDULERS:
            self.submit("--workers", "2", "--scheduler", scheduler, "--time", "90m", "--", *HOSTS.get(scheduler, ()))
            for name in ("worker.sh", "merge.sh"):
                subprocess.run(["bash", "-n", self.script(name)], check=True)
                if shutil.which("shellcheck"):
                    subprocess.run(["shellcheck", "-e", "SC2016", self.script(name)], check=True)

    def sweep_line(self, options="--grace 30s"):
        out = os.path.join(self.path, "out")
        return f"sweep {out}/spec.yaml -o {out} --join {options}"

    def test_worker_ends_by_itself(self):
        self.prepare()
        for ends in ("0", "1", "2"):
            process = self.start(TENTHS="0", ENDS=ends)
            self.assertEqual(self.ended(process)[0], int(ends))
        self.assertIn(self.sweep_line(), self.said("calls"))
        self.assertFalse([line for line in self.said("calls") if "requeue" in line])

    def test_warning_requeues_the_task(self):
        self.prepare()
        process = self.start()
        self.wait_for_worker(process)
        process.send_signal(signal.SIGUSR1)
        self.ended(process)
        calls = self.said("calls")
        self.assertEqual(calls.count("USR1"), 1)
        self.assertEqual(calls[-1], "scontrol requeue 12_3")

    def test_warning_without_need(self):
        """Complete, or nothing was measured: the task ends."""
        self.prepare()
        for variables in ({"OPEN": "0"}, {"MORE": "0"}):
            os.path.exists(os.path.join(self.fakes, "started")) and os.remove(os.path.join(self.fakes, "started"))
            self.fake("visits", "visits\n10\n")
            self.fake("calls", "")
            process = self.start(**variables)
            self.wait_for_worker(process)
            process.send_signal(signal.SIGUSR1)
            self.assertEqual(self.ended(process)[0], 130)
            self.assertIn("USR1", self.said("calls"))
            self.assertFalse([line for line in self.said("calls") if "requeue" in line])

    def test_end_is_passed_on(self):
        self.prepare()
        process = self.start()
        self.wait_for_worker(process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.ended(process)[0], 130)
        calls = self.said("calls")
        self.assertIn("TERM", calls)
        self.assertFalse([line for line in calls if "requeue" in line])

    def test_time_left_without_slurm(self):
        """Nobody else tells the workers when their time ends."""
        done = self.prepare("--scheduler", "none", "--time", "1h", "--grace", "5s", "--", "node1", "node2")
        subprocess.run(["bash", "-c", done.stdout], env={**self.environment, "TENTHS": "0"}, check=True)
        self.assertEqual(self.said("calls").count(self.sweep_line("--grace 5s --time-left 3570s")), 2)

    def test_hosts(self):
        done = self.prepare("--scheduler", "none", "--", "node1", "node2")
        subprocess.run(["bash", "-c", done.stdout], env={**self.environment, "TENTHS": "1"}, check=True)
        calls = self.said("calls")
        self.assertEqual(sorted(line for line in calls if line.startswith("ssh")), ["ssh node1", "ssh node2"])
        self.assertEqual(calls.count(self.sweep_line()), 2)
        out = os.path.join(self.path, "out")
        self.assertEqual(calls[-1], f"merge {out} -o {out}")
        self.assertTrue(os.path.exists(self.script("worker-node2.log")))

    def test_this_machine(self):
        done = self.submit("--workers", "1", "--scheduler", "none", "--program", "worker")
        subprocess.run(["bash", "-c", done.stdout], env={**self.environment, "TENTHS": "1"}, check=True)
        out = os.path.join(self.path, "out")
        self.assertEqual(self.said("calls"), [self.sweep_line(), f"merge {out} -o {out}"])
        self.assertTrue(os.path.exists(self.script("worker-here.log")))

    def test_interrupt_of_all(self):
        done = self.prepare("--scheduler", "none", "--", "node1", "node2")
        process = subprocess.Popen(["bash", "-c", "exec " + done.stdout], env={**self.environment, "TENTHS": "36000"})
        self.wait_for_worker(process, 2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 0)
        calls = self.said("calls")
        self.assertEqual(calls.count("TERM"), 2)
        self.assertTrue(calls[-1].startswith("merge "))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
