#!/usr/bin/env python3
"""When commands end before they are done: budgets, time limits, the time left, signals; and tables that are written meanwhile.

Usage: limits_test.py PARADNN MOVED_CLOCK.so [TEST...]"""

import os
import re
import select
import signal
import sys
import unittest

from program import LONG, ROOFS, Case, Clock, environment, journal_lines, main, stop

MOVED_CLOCK = os.path.abspath(sys.argv[2])


class Budgets(Case):
    def test_dry_run_says_what_a_budget_reaches(self):
        for budget, reach in (("1h", "within 60 min: all visits to about 8 of the 8 instances, which is all of them"),
                              ("100us", "within 0 s: all visits to about 0 of the 8 instances, spread over the spec")):
            done = self.sweep("--dry-run", "--set", "limits.budget=" + budget)
            self.assertRegex(done.stderr, rf"\A12 instances: 8 to run, 4 filtered\n(paradnn: .*\n)?a sweep takes about \d+ s.*\(.*\)\n{reach}\n\Z")
        self.assertFalse(os.path.exists(self.path("small.results")))

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "these sweeps had two cores")
    def test_dry_run_says_how_long_sweeps_took(self):
        """Seconds taken, without roofs, on two cores whose roofs are those of the example (doc/measurements)."""
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        outside = 0
        for sweep, taken in (("fc", 58.1), ("fc", 52.9), ("fc", 56.5), ("rnn", 49.1), ("rnn", 45.0), ("cnn", 59.0), ("cnn", 52.2),
                             ("transformer", 49.0), ("transformer", 39.3)):
            said = self.paradnn("sweep", f"{root}/sweeps/{sweep}.yaml", "--dry-run", "--set", "run.threads=2", "--set", "measure.order=shuffled", "--ceilings",
                                f"{root}/results/examples/zen5-2-cores/ceilings.csv", "-o", "none", expect=0).stderr
            about, least, most = map(int, re.search(r"about (\d+) s, from (\d+) s .* to (\d+) s ", said).groups())
            self.assertLess(abs(taken / about - 1), 0.27, said)
            self.assertGreater(taken, least, said)
            self.assertLess(taken, 1.08 * most, said)
            outside += taken > most
        self.assertLess(outside, 3)

    def test_progress_begins_with_what_the_dry_run_says(self):
        """Also where that is much more than the rounds take."""
        spec = ("fc/layers=1,nodes=8,input=8,output=8,batch=1,mode=infer,threads=1", "--set", "measure.rounds=3", "--set", "measure.max_time=100s", *ROOFS)
        said = self.paradnn("sweep", *spec, "--dry-run", "-o", "out", expect=0).stderr
        usual, rounds = re.search(r"takes about (.*?), from (.*?) where", said).groups()
        self.assertNotEqual(usual, rounds)
        child = self.popen("sweep", *spec, "-o", "out")
        lines = iter(child.stderr.readline, "")
        self.assertIn(f" visits, {usual} left", next(line for line in lines if " of 3 visits" in line))
        child.terminate()
        child.communicate()

    def test_sweeps_take_what_their_list_says(self):
        """By the program, for two cores, at nominal speed."""
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sweeps")
        most = {"seconds": 20, "a minute": 120, "minutes": 3600, "hours": 24 * 3600, "days": 14 * 24 * 3600, "weeks": 1e9}
        units = {"s": 1, "min": 60, "h": 3600}
        with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| `([a-z0-9-]+\.yaml)` \| [\d,]+ \| ([a-z ]+) \|", file.read(), re.M)
        self.assertGreater(len(rows), 15)
        for name, word in rows:
            said = self.paradnn("list", "--count", os.path.join(root, name), "--set", "run.threads=2", expect=0).stderr
            self.assertIn("(at nominal speed)", said)
            about = re.search(r"takes about ((?:\d+ (?:h|min|s)\b ?)+)", said).group(1)
            seconds = sum(int(count) * units[unit] for count, unit in re.findall(r"(\d+) (h|min|s)", about))
            self.assertEqual(next(known for known, bound in most.items() if seconds < bound), word, name + ": " + said)

    def test_a_list_goes_by_kept_roofs(self):
        """As a dry run does, which keeps them; and at nominal speed where none are, for some thread counts or for all."""
        kept = environment(PARADNN_NO_CACHE="", XDG_CACHE_HOME=self.path("cache"))

        def estimate(*command, threads=(1,)):
            models = [f"fc/layers=1,nodes=64,input=64,output=64,batch=16,mode=infer,threads={count}" for count in threads]
            said = self.paradnn(*command, *models, "--set", "measure.max_time=100s", expect=0, env=kept).stderr
            return said, re.search(r"a sweep takes about [^(]*", said)[0], re.search(r"a sweep takes .* \((.*)\)\n", said)[1]

        self.assertEqual(estimate("list", "--count")[2], "at nominal speed")
        for _ in range(5):  # a busy machine's roofs are not kept
            said, taken, of = estimate("sweep", "--dry-run")
            if "nothing is kept" not in said:
                break
        else:
            self.skipTest("too busy a machine for roofs")
        self.assertEqual(estimate("list", "--count")[1:], (taken, of))
        self.assertRegex(of, r"^by the roofs measured \d{4}-\d\d-\d\dT\d\d:\d\dZ$")
        self.assertEqual(estimate("list", "--count", threads=(3,))[2], "at nominal speed")
        self.assertEqual(estimate("list", "--count", threads=(3, 1))[2], of + ", and at nominal speed where there are none")

    def test_dry_run_says_what_cannot_run(self):
        model = "fc/layers=1,nodes=8,input=8,output=8,batch=1,"
        said = self.paradnn("sweep", model + "dtype=int8,threads=1", model + "threads=4000", model + "threads=1", "--dry-run", *ROOFS,
                            "-o", "out", expect=0).stderr
        self.assertRegex(said, r"\A3 instances: 1 to run, 1 unsupported \(int8 is for inference\), "
                         r"1 invalid \(4000 threads, but only \d+ cores may be used here\)\n")
        self.paradnn("sweep", model + "dtype=int8,threads=1", *ROOFS, "-o", "out")
        self.assertEqual([(row["status"], row["reason"]) for row in self.rows("out", "results.csv")],
                         [("unsupported", "int8 is for inference")])

    def test_budget_ends_the_command(self):
        """However much there is to do: here more than an hour has room for, wherever it is."""
        clock = Clock(MOVED_CLOCK, self.path("clock"))
        child = self.popen("sweep", "fc/layers=1,nodes=8,input=8,output=8,mode=infer,threads=1", "-o", "out", *ROOFS, *LONG,
                           "--set", "limits.budget=1h", "--set", "models.0.fc.batch={from: 1, to: 3000, plus: 1}",
                           env=environment(**clock.variables))
        self.wait_for(lambda: len(journal_lines(self.path("out"))) > 3, child)
        clock.move(2 * 3600)
        stderr = child.communicate()[1]
        self.assertEqual(child.returncode, 0, stderr)
        self.assertIn("; the budget is spent", stderr)
        rows = self.rows("out", "results.csv")
        self.assertEqual({row["status"] for row in rows}, {"ok", "interrupted"})
        self.assertEqual({row["reason"] for row in rows if row["status"] == "interrupted"}, {"the budget was spent before its first visit"})

    def test_budget_is_the_reason(self):
        done = self.sweep("--set", "limits.budget=1ns", expect=1)
        reasons = [row["reason"] for row in self.rows("small.results", "results.csv") if row["status"] == "interrupted"]
        self.assertEqual(reasons, ["the budget was spent before its first visit"] * 8)
        self.assertIn("12 instances: 4 filtered, 8 interrupted; 4 done, 0 begun, 8 open; the budget is spent\n", done.stderr)
        self.assertIn("resume: run the same command again\n", done.stderr)

    def test_no_visit_starts_without_time_for_it(self):
        for options, variables, source in ((("--time-left", "1s"), {}, "--time-left"),
                                           ((), {"SLURM_JOB_END_TIME": "1000"}, "SLURM_JOB_END_TIME")):
            with self.subTest(source):
                done = self.sweep("-o", "late.results", *options, expect=1, env=environment(**variables))
                self.assertIn(f"({source})", done.stderr)
                self.assertIn("; the time is up", done.stderr)
                self.assertEqual(self.rows("late.results", "journal.csv"), [])
                reasons = {row["reason"] for row in self.rows("late.results", "results.csv") if row["status"] == "interrupted"}
                self.assertEqual(reasons, {"the time was up before its first visit"})


class Limits(Case):
    """Of the time for one answer, which do not pass by themselves before anything else has happened."""
    def setUp(self):
        super().setUp()
        self.clock = Clock(MOVED_CLOCK, self.path("clock"))

    def test_ceilings_give_up(self):
        child = self.popen("ceilings", "--threads", "1", "--seconds", "3000", "--time", "3s", env=environment(**self.clock.variables))
        self.read_until(lambda line: "measuring the roofs" in line, child)
        self.clock.each_look_takes(1)
        errors = child.communicate()[1]
        self.assertEqual(child.returncode, 1)
        self.assertRegex(errors, r"(\A|\n)paradnn: worker: took longer than the limit of 3\.00 s\n\Z")

    def test_check_gives_up_on_one_instance(self):
        """The worker stops answering during the second, which the reference would need a minute for."""
        small, large = ("fc/layers=1,nodes={0},input={0},output=4,batch={0},mode=infer,threads=1".format(size) for size in (8, 4096))
        child = self.popen("check", small, large, small.replace("batch=8", "batch=9"), "--max-flop", "1e15", "--time", "20s",
                           env=environment(**self.clock.variables), text=False, bufsize=0)
        line = child.stdout.readline()
        self.assertTrue(line.startswith(b"PASS  fc/"), line)
        self.stop_worker(child)
        while not line.startswith(b"FAIL"):
            if select.select([child.stdout], [], [], 0.01)[0]:
                line = child.stdout.readline()
                self.assertTrue(line, "has ended early")
            else:
                self.clock.move(1)  # of which no look at the clock counts more
        self.assertRegex(line, rb"\AFAIL  fc/[^\n]*: worker: took longer than the limit of 20\.0 s\n")
        self.assertRegex(child.communicate()[0], rb"\APASS  fc/[^\n]*batch=9,")
        self.assertEqual(child.returncode, 1)

    def test_times_are_checked(self):
        for command in (["ceilings"], ["check", "small.yaml"]):
            for text in ("0s", "-1s", "soon"):
                errors = self.paradnn(*command, "--time=" + text, expect=2).stderr
                self.assertEqual(errors, f"paradnn: {command[0]}: --time is '{text}', expected a time such as 90s or 10m\n")


class Signals(Case):
    def test_interrupt_leaves_valid_tables_and_the_rest_runs_later(self):
        child = self.popen("sweep", "small.yaml", *ROOFS, *LONG)
        self.wait_for(lambda: len(journal_lines(self.path("small.results"))) > 3, child)
        child.send_signal(signal.SIGINT)
        stderr = child.communicate()[1]
        self.assertEqual(child.returncode, 130, stderr)
        self.assertIn("interrupted", stderr)
        self.assertRegex(stderr, r"12 instances: .*; 4 done, [1-8] begun, \d open\n")
        self.assertIn("resume: run the same command again\n", stderr)
        self.assertEqual([row["id"] for row in self.rows("small.results", "results.csv")], self.ids())
        self.sweep()
        statuses = [row["status"] for row in self.rows("small.results", "results.csv")]
        self.assertEqual((statuses.count("ok"), statuses.count("filtered")), (8, 4))

    def test_tables_that_cannot_be_written_are_said_and_fail_at_the_end(self):
        clock = Clock(MOVED_CLOCK, self.path("clock"))
        child = self.popen("sweep", "small.yaml", *ROOFS, *LONG, env=environment(**clock.variables))
        self.wait_for(lambda: len(journal_lines(self.path("small.results"))) > 3, child)
        stop(child.pid)  # or it may write the table meanwhile
        os.unlink(self.path("small.results", "results.csv"))
        os.makedirs(self.path("small.results", "results.csv", "in the way"))
        child.send_signal(signal.SIGCONT)
        clock.each_look_takes(3)  # tables are written every few seconds
        self.read_until(lambda line: line.startswith("paradnn: the tables are behind the journal: small.results/results.csv: "), child)
        clock.each_look_takes(0)
        self.wait_for(lambda: len(journal_lines(self.path("small.results"))) > 4 * 8, child)
        child.send_signal(signal.SIGINT)
        errors = child.communicate()[1]
        self.assertEqual(child.returncode, 1)
        self.assertRegex(errors, r"(\A|\n)paradnn: small\.results/results\.csv: .*\n\Z")
        self.assertNotIn("12 instances", errors)
        os.removedirs(self.path("small.results", "results.csv", "in the way"))
        before = self.read("small.results", "journal.csv")
        self.assertIn("12 instances: 8 ok, 4 filtered\n", self.sweep().stderr)
        self.assertEqual(self.read("small.results", "journal.csv"), before)

    def test_run_interrupted_says_what_it_has(self):
        clock = Clock(MOVED_CLOCK, self.path("clock"))
        ids = [f"fc/layers=1,nodes={nodes},input=8,output=8,batch=1,threads=1" for nodes in (8, 9)]
        child = self.popen("run", *ids, *ROOFS, *LONG, "--rounds", "10000", "--set", "measure.order=cost", env=environment(**clock.variables))
        self.read_until(lambda line: " 0 of 20000 visits" in line, child)
        clock.each_look_takes(20)  # every one is now reported
        self.read_until(lambda line: re.search(r" [1-9]\d* of 20000 visits", line), child)
        child.send_signal(signal.SIGINT)
        stdout, stderr = child.communicate()
        self.assertEqual((child.returncode, stderr.splitlines()[-1]), (130, "paradnn: interrupted"))
        self.assertRegex(stdout, r"per step")

    def sweep_during_a_visit(self, *options, **variables):
        return self.popen("sweep", "fc/layers=1,nodes=8,input=8,output=8,batch=1,threads=1", *ROOFS, *LONG, "-o", "ended.results", *options,
                          start_new_session=True, env=environment(**variables))

    @staticmethod
    def signal_all(child):
        """Its driver and its worker get more signals than one."""
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM):
            os.killpg(child.pid, number)

    def test_signals_leave_the_visit_its_grace(self):
        clock = Clock(MOVED_CLOCK, self.path("clock"))
        child = self.sweep_during_a_visit("--grace", "1000h", **clock.variables)
        self.wait_for(lambda: len(journal_lines(self.path("ended.results"))) > 3, child)
        worker = self.stop_worker(child)
        clock.each_look_takes(20)  # every turn of waiting is now reported: several in a row without news
        counts = [None]
        while len(counts) < 5 or len(set(counts[-5:])) > 1:
            counts.append(re.search(r"\d+ of 10000 visits", self.read_until(lambda line: " visits" in line, child)[-1])[0])
        clock.each_look_takes(0)
        before = journal_lines(self.path("ended.results"))
        self.signal_all(child)
        os.kill(worker, signal.SIGCONT)
        child.communicate()
        self.assertEqual(child.returncode, 130)
        self.assertEqual(journal_lines(self.path("ended.results"))[:-1], before)  # one more
        self.assertEqual([row["status"] for row in self.rows("ended.results", "results.csv")], ["ok"])

    def test_signals_drop_what_does_not_fit_the_grace(self):
        child = self.sweep_during_a_visit("--set", "measure.rounds=1", "--set", "measure.max_time=10h", "--grace", "1ms")
        self.read_until(lambda line: "0 of 1 visits" in line, child)
        self.signal_all(child)
        child.communicate()
        self.assertEqual(child.returncode, 130)
        self.assertEqual(self.rows("ended.results", "journal.csv"), [])
        (row,) = self.rows("ended.results", "results.csv")
        self.assertEqual((row["status"], row["reason"]), ("interrupted", "stopped before its first visit"))


if __name__ == "__main__":
    main(2)
