#!/usr/bin/env python3
"""Where output goes: files, links, devices, pipes, a closed or full stdout, directories that vanish, signals, workers that hang.

Usage: output_test.py PARADNN"""

import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "session"))
from processes import journal_lines, worker_of  # pylint: disable=wrong-import-position

PARADNN = os.path.abspath(sys.argv[1])
PATIENCE_S = 120

SPEC = """\
sweep: small
run: {mode: infer, threads: 1}
measure: {rounds: %d, precision: 90%%, min_samples: 3, max_time: 20s, probe: off}
models:
  - fc: {layers: 1, nodes: [8, 16], input: 8, output: 4, batch: [2, 4]}
"""
CEILINGS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,100,90,110,5
bandwidth,read,,L1,1,32768,130,120,140,5
bandwidth,read,,DRAM,1,0,18,17,19,5
"""
# A roof is asked for last: these are refused before, or a minute would pass.
SLOW_CEILINGS = ["ceilings", "--threads", "1", "--seconds", "3000"]
QUICK_CEILINGS = ["ceilings", "--threads", "1", "--seconds", "0.2"]


# Without the variables that the program speaks of.
QUIET = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_"))}


def default_signals():
    """In the child: as from a terminal, whatever started the test."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.write("small.yaml", SPEC % 2)
        self.write("long.yaml", SPEC % 2000)
        self.write("roofs.csv", CEILINGS)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()

    def popen(self, *arguments, **options):
        child = subprocess.Popen([PARADNN, *arguments], **{"cwd": self.directory, "stdin": subprocess.DEVNULL,
                                                           "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": QUIET,
                                                           "preexec_fn": default_signals, **options})
        self.addCleanup(lambda: (child.poll() is None and child.kill(), child.communicate()))
        return child

    def paradnn(self, *arguments, expect=0, **options):
        child = self.popen(*arguments, **options)
        out, errors = child.communicate(timeout=PATIENCE_S)
        self.assertEqual(child.returncode, expect, (arguments, errors))
        return out, errors

    def sweep_at_work(self, *options, **popen_options):
        """A sweep that is far from its end, after its first visits."""
        child = self.popen("sweep", "long.yaml", "--ceilings", "roofs.csv", "-o", "out", *options, **popen_options)
        self.wait_for(lambda: len(journal_lines(self.path("out"))) > 3, child)
        return child

    def wait_for(self, condition, child):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertIsNone(child.poll(), "has ended early")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)


class Targets(Case):
    def test_paths_are_tried_before_anything_is_measured(self):
        os.mkdir(self.path("directory"))
        for output, cause in (("directory", "is a directory, expected a file"), ("none/roofs.csv", "No such file or directory"),
                              ("/proc/roofs.csv", ""), ("/dev/fd/99", "Bad file descriptor")):
            with self.subTest(output):
                out, errors = self.paradnn(*SLOW_CEILINGS, "-o", output, expect=2)
                self.assertEqual(out, "")
                self.assertRegex(errors, rf"\Aparadnn: {output}: .*{cause}\n\Z")
        self.assertEqual(os.listdir(self.path("directory")), [])

    def test_streams_are_written_to_as_they_are(self):
        self.paradnn(*QUICK_CEILINGS, "-o", "roofs")
        self.assertTrue(self.read("roofs").startswith("kind,"))
        self.paradnn(*QUICK_CEILINGS, "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        out, _ = self.paradnn(*QUICK_CEILINGS, "-o", "/dev/stdout")
        self.assertTrue(out.startswith("kind,") and "\nbandwidth by working set" in out)
        # Appended to, not replaced, although it is a file.
        with open(self.path("both"), "w", encoding="utf-8") as file:
            file.write("first\n")
            file.flush()
            self.paradnn(*QUICK_CEILINGS, "-o", "/dev/stdout", stdout=file)
        self.assertRegex(self.read("both"), r"\Afirst\nkind,(.|\n)*\nbandwidth by working set")

    def test_a_pipe_is_kept_open_for_its_reader(self):
        os.mkfifo(self.path("pipe"))
        with subprocess.Popen(["cat", self.path("pipe")], stdout=subprocess.PIPE, text=True) as reader:
            self.paradnn(*QUICK_CEILINGS, "-o", "pipe")
            self.assertTrue(reader.communicate(timeout=PATIENCE_S)[0].startswith("kind,"))
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))

    def test_links_lead_to_their_target(self):
        self.write("target", "old")
        os.symlink("target", self.path("link"))
        os.symlink("fresh", self.path("dangling"))
        for link, target in (("link", "target"), ("dangling", "fresh")):
            self.paradnn(*QUICK_CEILINGS, "-o", link)
            self.assertTrue(os.path.islink(self.path(link)))
            self.assertFalse(os.path.islink(self.path(target)))
            self.assertTrue(self.read(target).startswith("kind,"))

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_pictures(self):
        os.mkdir(self.path("in"))
        shutil.copy(self.path("roofs.csv"), self.path("in", "ceilings.csv"))
        plot = ["plot", "ceilings", "in"]
        out, _ = self.paradnn(*plot, "-o", "/dev/stdout")
        self.assertRegex(out, r"\A<\?xml(.|\n)*</svg>\s*\Z")
        self.paradnn(*plot, "-o", "/dev/null", "--format", "png")
        os.mkfifo(self.path("pipe.svg"))
        with subprocess.Popen(["cat", self.path("pipe.svg")], stdout=subprocess.PIPE, text=True) as reader:
            self.assertEqual(self.paradnn(*plot, "-o", "pipe.svg")[0], "")
            self.assertIn("</svg>", reader.communicate(timeout=PATIENCE_S)[0])
        os.symlink("target.svg", self.path("link.svg"))
        self.assertEqual(self.paradnn(*plot, "-o", "link")[0], "link.svg\nlink.png\n")
        self.assertTrue(os.path.islink(self.path("link.svg")) and os.path.exists(self.path("target.svg")))
        os.mkdir(self.path("taken.png"))
        self.paradnn(*plot, "-o", "taken", expect=2)
        self.assertFalse(os.path.exists(self.path("taken.svg")))

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_a_picture_that_does_not_fit_leaves_the_old_one(self):
        os.mkdir(self.path("in"))
        shutil.copy(self.path("roofs.csv"), self.path("in", "ceilings.csv"))
        self.write("in/ceilings.svg", "old")

        def limited():
            default_signals()
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        self.paradnn("plot", "ceilings", "in", expect=1, preexec_fn=limited)
        self.assertEqual(self.read("in/ceilings.svg"), "old")
        self.assertEqual(sorted(os.listdir(self.path("in"))), ["ceilings.csv", "ceilings.svg"])


class Stdout(Case):
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
                        _, errors = self.paradnn(*arguments, expect=1, **options)
                        self.assertEqual(errors.count("paradnn: cannot write to standard output\n"), 1)
        _, errors = self.paradnn(*SLOW_CEILINGS, expect=1, preexec_fn=closed)
        self.assertEqual(errors, "paradnn: cannot write to standard output\n")
        self.paradnn("sweep", "small.yaml", "--ceilings", "roofs.csv", preexec_fn=closed)

    def test_a_reader_that_has_enough_ends_it_quietly(self):
        self.write("many.yaml", "models:\n  - fc: {layers: 1, nodes: {from: 1, to: 20000, plus: 1}, input: 8, output: 8, batch: 1}\n")
        child = self.popen("list", "many.yaml")
        child.stdout.readline()
        child.stdout.close()
        self.assertEqual(child.stderr.read(), "")
        self.assertEqual(child.wait(PATIENCE_S), -signal.SIGPIPE)

    def test_more_threads_than_cores_are_said(self):
        _, errors = self.paradnn("list", "small.yaml", "--set", "run.threads=[1,1000]")
        self.assertRegex(errors, r"\Aparadnn: 4 of these instances need more than the \d+ threads [^\n]*\n\Z")
        self.assertEqual(self.paradnn("list", "small.yaml", "--format", "csv")[1], "")

    def test_variables_are_shown_escaped(self):
        _, errors = self.paradnn("list", "small.yaml", env={**QUIET, "OMP_STACKSIZE": "\x1b[2J\r", "OMP_PLACES": "\x1b[3J\n"})
        self.assertEqual([byte for byte in errors[:-1] if ord(byte) < 0x20], [])
        self.assertIn("\\x1b[2J\\r", errors)
        self.assertIn("\\x1b[3J\\n", errors)


class Directories(Case):
    def test_tables_are_tried_before_anything_is_measured(self):
        for name in ("results.csv", "ops.csv", "ceilings.csv"):
            with self.subTest(name):
                os.makedirs(self.path(name + ".results", name))
                _, errors = self.paradnn("sweep", "long.yaml", "--ceilings", "roofs.csv", "-o", name + ".results", expect=2)
                self.assertEqual(errors, f"paradnn: {name}.results/{name}: is a directory, expected a file\n")
                self.assertEqual(journal_lines(self.path(name + ".results"))[1:], [])

    def test_what_cannot_be_made_or_written(self):
        for place in ("none/out", "/proc/out", "/proc"):
            with self.subTest(place):
                _, errors = self.paradnn("sweep", "small.yaml", "--ceilings", "roofs.csv", "-o", place, expect=2)
                self.assertRegex(errors, rf"\Aparadnn: {place}[:/][^\n]*\n\Z")

    def vanish(self, change, named="out"):
        child = self.sweep_at_work()
        change()
        _, errors = child.communicate(timeout=PATIENCE_S)
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
        self.paradnn("sweep", "small.yaml", "--ceilings", "roofs.csv", "-o", "away")
        self.assertEqual(journal_lines(self.path("away"))[:len(before)], before)

    def test_a_deleted_journal_ends_the_sweep(self):
        self.vanish(lambda: os.unlink(self.path("out", "journal.csv")), "out/journal.csv")


class Signals(Case):
    def test_a_hangup_ends_a_sweep_like_an_interrupt(self):
        for number in (signal.SIGHUP, signal.SIGTERM):
            with self.subTest(number):
                # A terminal sends it to the worker, too.
                child = self.sweep_at_work(start_new_session=True)
                os.killpg(child.pid, number)
                _, errors = child.communicate(timeout=PATIENCE_S)
                self.assertEqual(child.returncode, 130, errors)
                self.assertNotIn("crash", self.read("out", "journal.csv"))
                self.assertEqual(self.read("out", "results.csv").count("\n"), 5)
                shutil.rmtree(self.path("out"))

    def test_nohup_keeps_it_running(self):
        child = self.sweep_at_work(preexec_fn=lambda: default_signals() or signal.signal(signal.SIGHUP, signal.SIG_IGN))
        child.send_signal(signal.SIGHUP)
        lines = len(journal_lines(self.path("out")))
        self.wait_for(lambda: len(journal_lines(self.path("out"))) > lines + 3, child)

    def test_a_file_size_limit_is_a_full_disk(self):
        def limited():
            default_signals()
            resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
        child = self.popen("sweep", "long.yaml", "--ceilings", "roofs.csv", "-o", "out", preexec_fn=limited)
        _, errors = child.communicate(timeout=PATIENCE_S)
        self.assertEqual(child.returncode, 1, errors)
        self.assertRegex(errors, r"\nparadnn: out/journal(-ops)?\.csv: cannot write: File too large\n\Z")
        before = journal_lines(self.path("out"))
        self.assertGreater(len(before), 3)
        self.paradnn("sweep", "small.yaml", "--ceilings", "roofs.csv", "-o", "out")
        self.assertEqual(journal_lines(self.path("out"))[:len(before)], before)


class Hangs(Case):
    def stop_worker(self, child):
        self.wait_for(lambda: worker_of(child.pid), child)
        os.kill(worker_of(child.pid), signal.SIGSTOP)

    def test_ceilings_give_up(self):
        child = self.popen(*SLOW_CEILINGS, "--time", "3s")
        self.wait_for(lambda: worker_of(child.pid), child)
        time.sleep(1)  # past the worker's start, which has a limit of its own
        self.stop_worker(child)
        _, errors = child.communicate(timeout=PATIENCE_S)
        self.assertEqual(child.returncode, 1)
        self.assertRegex(errors, r"\nparadnn: worker: took longer than the limit of 3\.00 s\n\Z")

    def test_check_gives_up_on_one_instance(self):
        self.write("slow.yaml", "models:\n  - fc: {layers: 8, nodes: 4096, input: 4096, output: 4, batch: 1024}\n"
                   "  - fc: {layers: 1, nodes: 8, input: 8, output: 4, batch: 2}\n")
        child = self.popen("check", "slow.yaml", "--max-flop", "1e15", "--time", "8s")
        out, _ = child.communicate(timeout=PATIENCE_S)
        self.assertEqual(child.returncode, 1)
        self.assertRegex(out, r"\AFAIL  fc/[^\n]*: worker: took longer than the limit of 8\.00 s\nPASS  ")

    def test_times_are_checked(self):
        for command in (["ceilings"], ["check", "small.yaml"]):
            for text in ("0s", "-1s", "soon"):
                _, errors = self.paradnn(*command, "--time=" + text, expect=2)
                self.assertEqual(errors, f"paradnn: --time is '{text}', expected a time such as 90s or 10m\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
