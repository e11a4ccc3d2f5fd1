#!/usr/bin/env python3
"""What people see: on terminals of several widths no line is wider than the terminal, and a pipe gets tables as wide as they are.

Usage: screen_test.py PARADNN SOURCE"""

import csv
import fcntl
import os
import pty
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import unittest

from program import LONG, PARADNN, SHORT, Case, bert_tables, environment, main

SOURCE = os.path.abspath(sys.argv[2])
WIDTHS = (80, 100, 160)


def screen(arguments, columns, directory=SOURCE, status=0):
    """What the program writes to a terminal this wide, on stdout."""
    reader, terminal = pty.openpty()
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        with subprocess.Popen([PARADNN, *arguments], cwd=directory, stdin=subprocess.DEVNULL, stdout=terminal,
                              stderr=subprocess.PIPE) as child:
            os.close(terminal)
            blocks = []
            while True:
                try:
                    block = os.read(reader, 65536)
                except OSError:  # Linux: the other end is closed
                    break
                if not block:
                    break
                blocks.append(block)
            errors = child.stderr.read().decode()
            if child.wait() != status:
                raise AssertionError(f"{arguments}: {child.returncode}: {errors}")
    finally:
        os.close(reader)
    return b"".join(blocks).decode().replace("\r\n", "\n")


def pipe(arguments, directory=SOURCE):
    return subprocess.run([PARADNN, *arguments], cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=True).stdout


def words(text):
    """The text without the places where lines end: what is left is the same at any width, if nothing is left out."""
    return sorted("".join(text.split()))


class Screens(unittest.TestCase):
    def fits(self, *arguments, directory=SOURCE, status=0):
        """Checks all widths; returns the screens by width."""
        screens = {}
        for columns in WIDTHS:
            with self.subTest(arguments=arguments, columns=columns):
                screens[columns] = screen(arguments, columns, directory, status)
                self.assertEqual([line for line in screens[columns].split("\n") if len(line) > columns], [])
        return screens


class Dictionaries(Screens):
    def test_tables_fit(self):
        for arguments in (["families"], ["families", "cnn"], ["families", "transformer"], ["ops"], ["columns"],
                          ["columns", "results"]):
            self.fits(*arguments)

    def test_a_pager_shows_them_as_the_screen_does(self):
        """Standard output is a pipe, but somebody reads what comes out of it on the terminal behind standard error."""
        reader, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
        for arguments, fits in ((["families", "cnn"], True), (["families", "cnn", "--format", "csv"], False)):
            text = subprocess.run([PARADNN, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=terminal, check=True).stdout
            self.assertEqual(max(map(len, text.decode().splitlines())) <= 80, fits)
        os.close(terminal)
        os.close(reader)

    def test_nothing_is_lost(self):
        for arguments in (["families"], ["ops"]):
            expected = words(pipe(arguments))
            for text in self.fits(*arguments).values():
                self.assertEqual(words(text), expected)

    def test_what_is_left_out_is_said(self):
        text = screen(["columns", "ops"], 50)
        self.assertRegex(text, r"\n\(no room for: (unit, )?type\)(\n|\Z)")

    def test_the_dictionary_knows_keys(self):
        """Where a key's column has another name in files."""
        for key, column in (("mode", "run_mode"), ("items", "n_items")):
            done = subprocess.run([PARADNN, "columns", key, "--format", "csv"], capture_output=True, text=True, check=True)
            self.assertEqual({line.split(",")[1] for line in done.stdout.splitlines()[1:]}, {column})
            self.assertEqual(done.stderr, f"the column '{key}' is called '{column}'\n")

    def test_a_pipe_gets_one_line_per_row(self):
        for arguments in (["families", "cnn"], ["ops"], ["columns", "ceilings"]):
            table = pipe(arguments)
            programs = pipe([*arguments, "--format", "csv"])
            self.assertEqual(table.count("\n"), programs.count("\n"))


EXAMPLE = os.path.join("results", "examples", "zen5-2-cores")


class Instances(Screens):
    def test_list_fits(self):
        for arguments in (["sweeps/fc.yaml"], ["sweeps/cnn.yaml"], ["sweeps/bert.yaml"],
                          ["cnn:resnet50", "fc/layers=4", "rnn/cell=gru", "transformer:bert-large", "cnn:vgg16"]):
            self.fits("list", *arguments)

    def test_list_says_once_what_it_has_no_room_for(self):
        # Thousands of rows are printed in several parts, in which columns have different widths.
        text = screen(["list", "sweeps/paper-fc.yaml", "--set", "models.0.fc.nodes=[32, 8192]"], 50)
        self.assertEqual(text.count("(no room for: "), 1)
        self.assertRegex(text, r"\n\(no room for: [^\n]*\)\n\Z")

    def test_list_shows_what_varies_and_the_rest_once(self):
        ids = ["fc/nodes=16,batch=1,mode=infer,threads=1", "fc/nodes=16,batch=4,mode=infer,threads=1", "fc/nodes=16,batch=4,threads=1"]
        text = screen(["list", *ids], 100)
        lines = text.splitlines()
        self.assertEqual(lines[0], "not repeated below: fc, layers=4, nodes=16, input=2000, output=1000, activation=relu, threads=1")
        self.assertEqual([line.split()[-1] for line in lines[3:]], ["batch=1,mode=infer", "batch=4,mode=infer", "batch=4,mode=train"])
        self.assertEqual([line.split()[-1] for line in pipe(["list", *ids]).splitlines()[1:]],
                         [name.replace("fc/", "fc/layers=4,").replace("nodes=16,", "nodes=16,input=2000,output=1000,")
                          .replace(",mode", ",activation=relu,mode") if "mode" in name else
                          "fc/layers=4,nodes=16,input=2000,output=1000,batch=4,activation=relu,threads=1" for name in ids])

    def test_run_fits(self):
        roofs = ["--ceilings", os.path.join(EXAMPLE, "ceilings.csv")]
        short = [*SHORT, "--set", "run.threads=1"]
        # Parts of the step add up: the ops and what is in none of them.
        for text in self.fits("run", "cnn/blocks=1,filters=8,image=32,batch=1", *roofs, *short).values():
            self.assertIn("  where    of the step: ", text)
        self.fits("run", "rnn/hidden=8,embedding=8,vocabulary=16,batch=1", "--vary", "length=2,3", *roofs, *short)

    def test_ops_of_models_fit(self):
        roofs = ["--ceilings", os.path.join(EXAMPLE, "ceilings.csv")]
        self.fits("ops", "fc/layers=1,nodes=32,batch=2,threads=1", *roofs)
        done = subprocess.run([PARADNN, "ops", "fc/layers=1,nodes=32,batch=2,threads=1", *roofs, "--set", "limits.budget=1s"], cwd=SOURCE,
                              capture_output=True, text=True, check=True)
        self.assertIn("limits.budget is for sweep; ops finds all operators, however long that takes\n", done.stderr)

    def test_breakdown_fits(self):
        for arguments in ([], ["--by", "layer"], ["--by", "op,pass"], ["--by", "group,pass"], ["--gemms"], ["--across", "batch"]):
            self.fits("breakdown", EXAMPLE, *arguments)

    def test_compare_fits(self):
        other = os.path.join("results", "examples", "zen3-2-cores")
        for arguments in ([], ["--by", "op,pass"], *(["--table", table] for table in ("pairs", "groups", "axes", "ops", "unpaired", "sides")),
                          ["--table", "ops", "--by", "layer,op,pass"]):
            self.fits("compare", EXAMPLE, other, *arguments)
        self.fits("compare", EXAMPLE, "--across", "mode", "--table", "unpaired")

    def test_compare_shows_what_varies_and_the_rest_once(self):
        pairs = ["compare", EXAMPLE, os.path.join("results", "examples", "zen3-2-cores"), "--table", "pairs"]
        lines, ids = screen(pairs, 100).splitlines(), [line.split()[-1] for line in pipe(pairs).splitlines()[1:]]
        self.assertEqual(lines[0], "not repeated below: fc, input=2000, output=1000, activation=relu, threads=2")
        shown = [line.split()[-1] for line in lines[3:]]
        self.assertEqual(len(shown), len(ids))
        for short, whole in zip(shown, ids):
            self.assertLessEqual(set(short.split(",")) - {"mode=train"}, set(whole.replace("/", ",").split(",")))
        self.assertEqual(len(set(shown)), len(ids))

    def test_compare_shows_no_value_of_what_differs(self):
        """Pairs have none: not the key's default either."""
        for table in ([], ["--table", "pairs"]):
            shown = screen(["compare", EXAMPLE, "--across", "nodes=256:1024", *table], 100)
            self.assertIn("not repeated below: fc, layers=4, input=2000, output=1000, activation=relu, threads=2\n", shown)
            self.assertNotIn("nodes", shown.split("not repeated below: ")[1])

    def test_fit_fits(self):
        self.fits("fit", EXAMPLE)
        self.fits("fit", EXAMPLE, "--model", "power")

    def test_breakdown_across_continues_below(self):
        narrow, wide = (screen(["breakdown", EXAMPLE, "--across", "batch,layers,nodes"], columns) for columns in (80, 160))
        self.assertGreater(narrow.count("time of a step"), wide.count("time of a step"))
        self.assertEqual(narrow.count(" us") + narrow.count(" ms"), wide.count(" us") + wide.count(" ms"))


class Directions(Case, Screens):
    def test_directions_fit(self):
        for name, text in zip(("results.csv", "ops.csv"), bert_tables()):
            self.write(os.path.join("bert.results", name), text)
        check = ["breakdown", "bert.results", "--check-directions"]
        for only, status in ([], 1), (["--only", "batch=4"], 0):
            done = self.paradnn(*check, *only, "--format", "csv", expect=status)
            verdicts = [row["verdict"] for row in csv.DictReader(done.stdout.splitlines())]
            self.assertGreater(len(verdicts), 5)
            for text in self.fits(*check, *only, directory=self.directory, status=status).values():
                shown = [line.split("  ")[0] for line in text.splitlines() if line.startswith(("holds", "does not hold", "cannot be told"))]
                self.assertEqual(shown, verdicts)


SPEC = """\
sweep: small
run: {mode: [infer, train], threads: 1}
measure: {rounds: 3, precision: 50%, min_samples: 3, max_time: 1ms, probe: off}
models:
  - fc: {layers: 1, nodes: [8, 16], input: 200, output: 100, batch: 16}
"""


class Sweeps(Case):
    FILES = {"small.yaml": SPEC}

    def sweep(self, *options, **variables):
        done = self.paradnn("sweep", "small.yaml", "--ceilings", os.path.join(SOURCE, EXAMPLE, "ceilings.csv"), *options, expect=0,
                            env=environment(**variables))
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_the_end_says_what_was_found_and_what_to_run_next(self):
        said = self.sweep(OMP_WAIT_POLICY="active")
        self.assertEqual(said.count("library variables"), 1)
        lines = [line for line in said.splitlines() if not line.startswith("paradnn: ")]
        self.assertEqual(lines[0], "not repeated below: fc, layers=1, input=200, output=100, batch=16, activation=relu, threads=1")
        self.assertRegex(lines[1], r"\A +0 %  0 of 12 visits(, [0-9a-z ]+ left)?  nodes=(8|16),mode=(infer|train)\Z")
        end = lines[next(i for i, line in enumerate(lines) if "% in timed steps" in line):]
        self.assertLessEqual(len(end), 11)
        text = "\n".join(end)
        # On a machine so busy that no time says anything, none of them is the fastest.
        self.assertRegex(text, r"\n4 instances: 4 ok\n(unusable: 4 of 4.*\n|(unusable.*\n)?"
                               r"fastest: [\d.]+ [kMGT]?FLOP/s, .*: nodes=(8|16),mode=(infer|train)\n)")
        self.assertRegex(text, r"\nbound by (\w+: \d, )*\w+: \d; noisy: \d of 4.*\ntables: small\.results/results\.csv, ")
        commands = [line.split(None, 2)[2] for line in end if line.startswith("next: ")]
        self.assertGreaterEqual(len(commands), 2)
        self.paradnn(*shlex.split(commands[0]), expect=0)

    def test_unusable_is_said_before_any_number(self):
        # So many that none is added for being noisy.
        self.sweep("--quiet", "--set", "measure.rounds=12")
        header, *visits = csv.reader(self.read("small.results", "journal.csv").splitlines())
        time, number, flags = (header.index(name) for name in ("time_ns_median", "visit", "row_flags"))
        for slower, busy in ((1, ""), (1, "preempted"), (20, ""), (20, "preempted")):
            for visit in visits:
                visit[time] = str(1000 * (slower if "nodes=16" in visit[1] and int(visit[number]) % 2 else 1))
                visit[flags] = busy
            with open(self.path("small.results", "journal.csv"), "w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([header, *visits])
            os.remove(self.path("small.results", "results.csv"))
            said = self.sweep()
            end = "; the machine was busy in 2 of these" if busy else ""
            self.assertEqual(f"unusable: 2 of 4{end}\nfastest: " in said, slower > 1, said)
            status = self.paradnn("status", "small.results", expect=0).stdout.splitlines()
            self.assertEqual(status[1].split() == ["unusable", "2"], slower > 1, status)
            self.assertEqual("unusable" in said + str(status), slower > 1)

    def test_the_rows_that_stand_out(self):
        """The fastest and the slowest at the end are those of the tables, whichever rows they are."""
        self.sweep("--quiet", "--set", "measure.rounds=12")
        header, *visits = csv.reader(self.read("small.results", "journal.csv").splitlines())
        time, name = header.index("time_ns_median"), header.index("id")
        ids = sorted({visit[name] for visit in visits})
        for slow, fast in ((0, 3), (2, 1)):
            for visit in visits:
                visit[time] = {ids[slow]: "900000", ids[fast]: "10"}.get(visit[name], "5000")
            with open(self.path("small.results", "journal.csv"), "w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([header, *visits])
            os.remove(self.path("small.results", "results.csv"))
            said = self.sweep("--set", "measure.rounds=12")
            rows = sorted(csv.DictReader(self.read("small.results", "results.csv").splitlines()), key=lambda row: float(row["gflops"]))
            self.assertEqual((rows[0]["id"], rows[-1]["id"]), (ids[slow], ids[fast]))
            for word, row in (("fastest", rows[-1]), ("slowest", rows[0])):
                self.assertRegex(said, rf"\n{word}: .*: nodes={row['nodes']},mode={row['run_mode']}\n")

    def test_quiet_says_nothing_even_of_variables(self):
        said = self.sweep("--quiet", OMP_WAIT_POLICY="active")
        self.assertNotIn("library variables", said)
        # Others may be measuring on these cores.
        self.assertEqual([line for line in said.splitlines() if not line.startswith("paradnn: ")], [])


def has_terminals():
    """A chroot may have none."""
    try:
        for descriptor in pty.openpty():
            os.close(descriptor)
    except OSError:
        return False
    return True


class Next(Case):
    def test_commands_can_be_pasted(self):
        """Whatever the directory is called, its name is one word of a shell and no option."""
        for name in ("a b", "-x", "it's $HOME"):
            for options in ((), ("--join",)):
                said = self.paradnn("sweep", "small.yaml", "--ceilings", "roofs.csv", *SHORT, "--output=" + name + "".join(options), *options,
                                    expect=0).stderr
                commands = [line.split(None, 1)[1] for line in said.splitlines() if line.startswith("next: ")]
                self.assertTrue(commands, said)
                for command in commands:
                    with self.subTest(command):
                        if " plot " in command:
                            command += " --format csv"
                        done = subprocess.run(["sh", "-c", command.replace("paradnn", PARADNN, 1)], cwd=self.directory, check=False,
                                              capture_output=True, text=True, env=environment())
                        self.assertEqual(done.returncode, 0, done.stderr)


class Bars(Case):
    def bar(self, columns, *arguments, **variables):
        """A sweep whose progress goes to a terminal; its two ends."""
        reader, terminal = pty.openpty()
        self.addCleanup(os.close, reader)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        child = self.popen("sweep", "small.yaml", "--ceilings", "roofs.csv", *arguments, "-o", "out", stderr=terminal,
                           env=environment(**{"TERM": "xterm", **variables}))
        return child, reader, terminal

    def test_a_terminal_made_narrower(self):
        """What wrapped is wiped, and what follows fits."""
        child, reader, terminal = self.bar(100, *LONG, NO_COLOR="1")
        text = b""
        while b"%  " not in text:
            text += os.read(reader, 4096)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 40, 0, 0))
        while not re.search(rb"\r\x1b\[2A\x1b\[J[^\r]*\r\x1b\[K[^\r]*\r", text):
            self.assertIsNone(child.poll(), text)
            text += os.read(reader, 4096)
        child.send_signal(signal.SIGINT)
        for bar in re.split(rb"\r\x1b\[K", re.split(rb"\x1b\[2A\x1b\[J", text)[-1])[:-1]:
            self.assertLess(len(bar), 40)
        os.close(terminal)

    def test_a_terminal_without_escapes(self):
        for term, escapes in (("dumb", False), ("xterm", True)):
            child, reader, terminal = self.bar(80, *SHORT, "--retry", TERM=term)
            self.assertEqual(child.wait(), 0)
            os.close(terminal)
            text = b""
            try:
                while block := os.read(reader, 4096):
                    text += block
            except OSError:  # Linux: the other end is closed
                pass
            self.assertEqual(b"\x1b" in text, escapes, text)
            shutil.rmtree(self.path("out"))


if __name__ == "__main__":
    if not has_terminals():
        print("skipped: there are no pseudo-terminals here")
        sys.exit(77)
    main(2)
