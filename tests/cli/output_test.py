#!/usr/bin/env python3
"""Where output goes: files, links, devices, pipes, a closed or full stdout, directories that vanish, signals, workers that hang.

Usage: output_test.py PARADNN"""

import os
import resource
import shutil
import signal
import stat
import subprocess
import unittest

from program import CEILINGS, ROOFS, Case, default_signals, environment, journal_lines, main, needs

SPEC = """\
sweep: small
run: {mode: infer, threads: 1}
measure: {rounds: %d, precision: %s, min_samples: 3, max_time: %s, probe: off}
limits: {time: 10h}
models:
  - fc: {layers: 1, nodes: [8, 16], input: 8, output: 4, batch: [2, 4]}
"""
# A roof is asked for last: these are refused before, or a minute would pass.
SLOW_CEILINGS = ["ceilings", "--threads", "1", "--seconds", "3000"]


class Output(Case):
    # The long one does not end before the test ends it.
    FILES = {"small.yaml": SPEC % (2, "90%", "1ms"), "long.yaml": SPEC % (10000, "0.0001%", "20s"), "roofs.csv": CEILINGS}

    def sweep_at_work(self, *options, **popen_options):
        """After its first visits."""
        child = self.popen("sweep", "long.yaml", *ROOFS, "-o", "out", *options, **popen_options)
        self.wait_for(lambda: len(journal_lines(self.path("out"))) > 3, child)
        return child


class Targets(Output):
    def test_paths_are_tried_before_anything_is_measured(self):
        os.mkdir(self.path("directory"))
        for output, cause in (("directory", "is a directory, expected a file"), ("none/roofs.csv", "No such file or directory"),
                              ("/proc/roofs.csv", ""), ("/dev/fd/99", "Bad file descriptor")):
            with self.subTest(output):
                done = self.paradnn(*SLOW_CEILINGS, "-o", output, expect=2)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, rf"\Aparadnn: {output}: .*{cause}\n\Z")
        self.assertEqual(os.listdir(self.path("directory")), [])

    def test_columns_are_asked_for_before_anything_is_measured(self):
        for arguments in (["ops", "fc"], ["check", "fc"], ["compose", "fc", "--validate", "1", "-o", "out"], ["compose", "fc", "--dry-run"],
                          ["seqpoint", "rnn", "--lengths", "uniform:3-5", "-o", "out"], SLOW_CEILINGS):
            with self.subTest(arguments):
                done = self.paradnn(*arguments, "--columns", "nope", expect=2)
                self.assertRegex(done.stderr, r"\Aparadnn: --columns: \S+( SPEC)? has no column 'nope'\n\Z")
        self.assertEqual(self.paradnn("compose", "fc", "-o", "out", "--columns", "operator", expect=2).stderr,
                         "paradnn: --format and --columns are for the table that --validate or --dry-run prints\n")
        self.assertFalse(os.path.exists(self.path("out")))

    def test_an_error_stands_alone(self):
        """Nothing is said before it that only a sweep would need."""
        array = {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_MAX": "4", "SLURM_ARRAY_TASK_COUNT": "2"}
        ended = {"SLURM_JOB_ID": "1", "SLURM_JOB_END_TIME": "soon"}
        for arguments, variables in ((["small.yaml", "--shard", "4/2", "--time-left", "3m"], {}), (["none.yaml", "--time-left", "3m"], {}),
                                     (["small.yaml", "--time-left", "3m", "--ceilings", "none"], {}),
                                     (["small.yaml", "--set", "nope=1", "--shard", "auto/16"], array), (["none.yaml"], ended)):
            with self.subTest(arguments):
                self.assertRegex(self.paradnn("sweep", *arguments, expect=2, env=environment(**variables)).stderr, r"\Aparadnn: .*\n\Z")
        self.assertIn("time left: 3 min (--time-left)\n", self.paradnn("sweep", "small.yaml", "--time-left", "3m", *ROOFS, expect=0).stderr)

    def test_pictures(self):
        os.mkdir(self.path("in"))
        shutil.copy(self.path("roofs.csv"), self.path("in", "ceilings.csv"))
        plot = ["plot", "ceilings", "in"]
        self.assertRegex(self.paradnn(*plot, "-o", "/dev/stdout", expect=0).stdout, r"\A<svg(.|\n)*</svg>\s*\Z")
        self.paradnn(*plot, "-o", "/dev/null", "--format", "tex", expect=0)
        os.mkfifo(self.path("pipe.svg"))
        with subprocess.Popen(["cat", self.path("pipe.svg")], stdout=subprocess.PIPE, text=True) as reader:
            self.assertEqual(self.paradnn(*plot, "-o", "pipe.svg", expect=0).stdout, "")
            self.assertIn("</svg>", reader.communicate()[0])
        os.symlink("target.svg", self.path("link.svg"))
        self.assertIn(self.paradnn(*plot, "-o", "link", expect=0).stdout, ("link.svg\nlink.png\n", "link.svg\n"))  # png where cairo is
        self.assertTrue(os.path.islink(self.path("link.svg")) and os.path.exists(self.path("target.svg")))
        os.mkdir(self.path("taken.png"))
        self.paradnn(*plot, "-o", "taken", expect=2)
        self.assertFalse(os.path.exists(self.path("taken.svg")))

    def test_a_picture_that_does_not_fit_leaves_the_old_one(self):
        os.mkdir(self.path("in"))
        shutil.copy(self.path("roofs.csv"), self.path("in", "ceilings.csv"))
        self.write("in/ceilings.svg", "old")

        def limited():
            default_signals()
            resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
        self.paradnn("plot", "ceilings", "in", expect=1, preexec_fn=limited)
        self.assertEqual(self.read("in/ceilings.svg"), "old")
        self.assertEqual(sorted(os.listdir(self.path("in"))), ["ceilings.csv", "ceilings.svg"])


class Stdout(Output):
    COMMANDS = [["list", "small.yaml"], ["list", "small.yaml", "--format", "csv"], ["list", "small.yaml", "--count"], ["families"],
                ["ops"], ["columns"], ["--help"], ["--man"], ["--version"], ["list", "--help"], ["breakdown", "--help"],
                ["check", "small.yaml"]]

    def test_closed_or_full_is_an_error(self):
        def closed():
            default_signals()
            os.close(1)
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments in self.COMMANDS:
                for options in ({"preexec_fn": closed}, {"stdout": full}):
                    with self.subTest(arguments=arguments, options=options):
                        errors = self.paradnn(*arguments, expect=1, **options).stderr
                        self.assertEqual(errors.count("paradnn: cannot write to standard output\n"), 1)
        errors = self.paradnn(*SLOW_CEILINGS, expect=1, preexec_fn=closed).stderr
        self.assertEqual(errors, "paradnn: cannot write to standard output\n")
        self.paradnn("sweep", "small.yaml", *ROOFS, expect=0, preexec_fn=closed)

    def test_a_reader_that_has_enough_ends_it_quietly(self):
        self.write("many.yaml", "models:\n  - fc: {layers: 1, nodes: {from: 1, to: 20000, plus: 1}, input: 8, output: 8, batch: 1}\n")
        child = self.popen("list", "many.yaml")
        child.stdout.readline()
        child.stdout.close()
        self.assertEqual(child.stderr.read(), "")
        self.assertEqual(child.wait(), -signal.SIGPIPE)

    def test_more_threads_than_cores_are_said(self):
        errors = self.paradnn("list", "small.yaml", "--set", "run.threads=[1,1000]", expect=0).stderr
        self.assertRegex(errors, r"\Aparadnn: 4 of these instances need more than the \d+ threads [^\n]*\n\Z")
        self.assertEqual(self.paradnn("list", "small.yaml", "--format", "csv", expect=0).stderr, "")

    def test_variables_are_shown_escaped(self):
        errors = self.paradnn("sweep", "small.yaml", *ROOFS, expect=0, env=environment(OMP_STACKSIZE="\x1b[2J\r", OMP_PLACES="\x1b[3J\n")).stderr
        self.assertEqual({byte for byte in errors if ord(byte) < 0x20}, {"\n"})
        self.assertIn("\\x1b[2J\\r", errors)
        self.assertIn("\\x1b[3J\\n", errors)


class Directories(Output):
    def test_tables_are_tried_before_anything_is_measured(self):
        for name in ("results.csv", "ops.csv", "ceilings.csv"):
            with self.subTest(name):
                os.makedirs(self.path(name + ".results", name))
                errors = self.paradnn("sweep", "long.yaml", *ROOFS, "-o", name + ".results", expect=2).stderr
                self.assertEqual(errors, f"paradnn: {name}.results/{name}: is a directory, expected a file\n")
                self.assertEqual(journal_lines(self.path(name + ".results"))[1:], [])

    def test_what_cannot_be_made_or_written(self):
        for place in ("none/out", "/proc/out", "/proc"):
            with self.subTest(place):
                errors = self.paradnn("sweep", "small.yaml", *ROOFS, "-o", place, expect=2).stderr
                self.assertRegex(errors, rf"\Aparadnn: {place}[:/][^\n]*\n\Z")

    def vanish(self, change, named="out"):
        child = self.sweep_at_work()
        change()
        _, errors = child.communicate()
        self.assertEqual(child.returncode, 1, errors)
        self.assertRegex(errors, rf"(\A|\n)paradnn: {named}: the (directory|file) was [^\n]*\n\Z")
        self.assertNotIn("tables: ", errors)

    @staticmethod
    def remove(path):
        while os.path.exists(path):  # the sweep may write into it meanwhile
            shutil.rmtree(path, ignore_errors=True)

    def test_a_deleted_directory_ends_the_sweep(self):
        self.vanish(lambda: os.rename(self.path("out"), self.path("away")) or self.remove(self.path("away")))
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_replaced_directory_ends_the_sweep_and_gets_nothing(self):
        def replace():
            os.rename(self.path("out"), self.path("away"))
            os.mkdir(self.path("out"))
        self.vanish(replace)
        self.assertEqual(os.listdir(self.path("out")), [])
        # What was measured is where the directory is now, in all tables, and goes on there.
        self.assertEqual(sorted(os.listdir(self.path("away"))),
                         ["ceilings.csv", "environment.yaml", "journal-ops.csv", "journal.csv", "ops.csv", "results.csv", "spec.yaml"])
        self.assertEqual(self.read("away", "results.csv").count("\n"), 5)
        before = journal_lines(self.path("away"))
        self.paradnn("sweep", "small.yaml", *ROOFS, "-o", "away", expect=0)
        self.assertEqual(journal_lines(self.path("away"))[:len(before)], before)

    def test_a_deleted_journal_ends_the_sweep(self):
        self.vanish(lambda: os.unlink(self.path("out", "journal.csv")), "out/journal.csv")


class Signals(Output):
    def test_a_hangup_ends_a_sweep_like_an_interrupt(self):
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGXCPU):
            with self.subTest(number):
                # A terminal sends it to the worker, too.
                child = self.sweep_at_work(start_new_session=True)
                os.killpg(child.pid, number)
                _, errors = child.communicate()
                self.assertEqual(child.returncode, 130, errors)
                self.assertNotIn("crash", self.read("out", "journal.csv"))
                self.assertEqual(self.read("out", "results.csv").count("\n"), 5)
                shutil.rmtree(self.path("out"))

    def test_progress_that_nobody_reads_ends_nothing(self):
        """As when the tee behind it has ended: no line can be written from the first on, or none at the end."""
        reader, writer = os.pipe()
        os.close(reader)
        self.paradnn("sweep", "small.yaml", *ROOFS, "-o", "whole", expect=0, stderr=writer)
        os.close(writer)
        self.assertEqual([row["status"] for row in self.rows("whole", "results.csv")], ["ok"] * 4)
        child = self.sweep_at_work()
        child.stderr.close()
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(), 130)
        self.assertEqual(self.read("out", "results.csv").count("\n"), 5)

    def test_a_watch_ends_with_the_sweep_or_a_signal(self):
        def report():
            lines = []
            while not lines or not lines[-1].startswith("seconds_left"):
                lines.append(child.stdout.readline())
                self.assertTrue(lines[-1], "has ended early")
            return "".join(lines)

        self.paradnn("sweep", "small.yaml", *ROOFS, expect=0)
        whole = self.read("small.results", "journal.csv")
        self.assertNotIn("\n\n", self.paradnn("status", "small.results", "--watch", expect=0).stdout)
        # Without the last visit an instance may still have enough, since times that scatter get more than they need.
        self.write("small.results/journal.csv", "".join(whole.splitlines(True)[:2]))
        for number in (signal.SIGINT, signal.SIGTERM):
            child = self.popen("status", "small.results", "--watch")
            report()
            child.send_signal(number)
            self.assertEqual((child.wait(), child.stderr.read()), (130, "paradnn: interrupted\n"))
        child = self.popen("status", "small.results", "--watch")
        first = report()
        self.write("small.results/journal.csv", whole)
        rest = child.stdout.read()
        self.assertEqual((child.wait(), child.stderr.read()), (0, ""))
        self.assertRegex(first, r"\nopen +[01]\n|\nbegun +1\n")
        self.assertRegex(rest, r"\A\n[^\n](.*\n)*done +4\n")

    def test_nohup_keeps_it_running(self):
        child = self.sweep_at_work(preexec_fn=lambda: default_signals() or signal.signal(signal.SIGHUP, signal.SIG_IGN))
        child.send_signal(signal.SIGHUP)
        lines = len(journal_lines(self.path("out")))
        self.wait_for(lambda: len(journal_lines(self.path("out"))) > lines + 3, child)

    def test_a_file_size_limit_is_a_full_disk(self):
        def limited():
            default_signals()
            resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
        child = self.popen("sweep", "long.yaml", *ROOFS, "-o", "out", preexec_fn=limited)
        _, errors = child.communicate()
        self.assertEqual(child.returncode, 1, errors)
        self.assertRegex(errors, r"\nparadnn: out/journal(-ops)?\.csv: cannot write: File too large\n\Z")
        before = journal_lines(self.path("out"))
        self.assertGreater(len(before), 3)
        self.paradnn("sweep", "small.yaml", *ROOFS, "-o", "out", expect=0)
        self.assertEqual(journal_lines(self.path("out"))[:len(before)], before)


if __name__ == "__main__":
    main(1)
