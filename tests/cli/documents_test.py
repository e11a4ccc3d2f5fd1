#!/usr/bin/env python3
"""Walks through documents: runs the commands of their shell blocks and compares what they print with what the document shows.

Usage: documents_test.py [--all] [--without TEXT]... ROOT PARADNN DOCUMENT... [-- COMMAND...]

Without --all, what takes minutes is left out, and the commands run in a directory that has links to everything in ROOT, with PARADNN in
the PATH; its roofs are those of an example. With --all everything runs, in ROOT itself, and what README says about the PATH must have come true by then. COMMAND is put
before `bash -c`: that is how the walk goes through a chroot, where ROOT is then. --without leaves out commands that contain TEXT.

A block of the language sh has a command a line, which must succeed. A block that begins with "$ " shows commands with their output: "..."
stands for the rest of a line or, alone, for any number of lines; they must succeed too. A comment before a block changes what happens, one word a line:

    <!-- run
    first: COMMAND         run before the block
    not: TEXT | REASON     commands that contain TEXT, or all of them, are not run; but their programs exist
    minutes                these commands are run with --all only; with ": TEXT" those that contain it
    measured               numbers, their units, names of implementations, what bounds an op and what to run next may differ
    excerpt                the output has more lines and longer ones than are shown
    output: TEXT           the block is the end of what the last block's command with TEXT printed
    file: NAME             the block is written to a file
    -->"""

import csv
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

BLOCK = re.compile(r"(?:^<!-- run\n(?P<notes>.*?)^-->\n+)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
# What a measured block may show differently: what, and what it may be.
MEASURED = [
    (re.compile(r"(?<=time     )(?=\d)"), r"(?:unusable(?:, the machine is busy)?: )?"),
    (re.compile(r"\bnext: .*"), r"next: .*"),  # advice depends on what was measured
    (re.compile(r"\b\d+ +(?=(?:compute|overhead|L\d|DRAM)\b)"), r"(?:\d+\s+)?"),  # % of a roof: empty for what is faster than it
    (re.compile(r"(?:[a-z][a-z ]* \d[\d.]* %(?:, )?)+"), r"(?:[a-z][a-z ]* \d[\d.]* %(?:, )?)+"),  # shares, the largest first
    (re.compile(r"\b\w+:\w.*"), r".*"),  # onednn:brg:avx512_core matmul ab
    (re.compile(r"\b(?:compute|overhead|memory(?: (?:L\d|DRAM))?|L\d|DRAM)\b"), r"(?:compute|overhead|memory(?: \(?(?:L\d|DRAM)\)?)?|L\d|DRAM)"),
    (re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?(?: (?:[num]?s|min|h|[kMGTP]?FLOP|[KMGT]?i?B)\b)?"),
     r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?(?: (?:[num]?s|min|h|[kMGTP]?FLOP|[KMGT]?i?B)\b)?"),
]
ROOFS = "results/examples/zen5-2-cores/ceilings.csv"
# Nothing measured matters here. Roofs would be measured for each command, as no two agree on a busy machine, and take longer than all the rest.
PROGRAM = """#!/bin/sh
case $1 in run|sweep|compose) set -- "$@" --ceilings {roofs} --set measure.max_time=50ms;; esac
exec {paradnn} "$@"
"""
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def parse_notes(text):
    """A list of (word, rest)."""
    return [tuple(part.strip() for part in (line + ":").split(":", 1)) for line in (text or "").splitlines() if line.strip()]


class Block:
    def __init__(self, match, line):
        self.language, self.text, self.line = match["language"], match["text"], line
        self.notes = [(word, rest[:-1].strip()) for word, rest in parse_notes(match["notes"])]
        unknown = {word for word, _ in self.notes} - {"first", "not", "minutes", "measured", "excerpt", "output", "file"}
        if unknown:
            sys.exit(f"line {line}: a note that is none: {', '.join(unknown)}")

    def has(self, word):
        return any(found == word for found, _ in self.notes)

    def all(self, word):
        return [rest for found, rest in self.notes if found == word]

    def commands(self):
        """(command, what it prints or None)."""
        if self.language == "sh":
            joined = self.text.replace("\\\n", "")
            return [(line, None) for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        if not self.text.startswith("$ "):
            return []
        return [(command, output) for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", self.text, re.M)]


def pattern_of_line(line, measured):
    """Of a line without its end: the parts that may differ are replaced, the others are taken as they are."""
    for found, allowed in MEASURED if measured else []:
        match = found.search(line)
        if match:
            return pattern_of_line(line[: match.start()], measured) + allowed + pattern_of_line(line[match.end() :], measured)
    text = ".*".join(re.escape(part) for part in line.split("..."))
    return re.sub(r"(?:\\ )+", r"\\s+", text) if measured else text


def pattern_of(block, shown):
    """A regular expression for the output that the block shows."""
    any_lines, rest = r"(?:.*\n)*?", ".*" if block.has("excerpt") else "[ ]*"
    lines = [line.rstrip() for line in shown.splitlines() if line.strip() or not block.has("excerpt")]
    parts = [any_lines if line == "..." else pattern_of_line(line, block.has("measured")) + rest + r"\n" for line in lines]
    between = any_lines if block.has("excerpt") else ""
    return re.compile(r"\A" + (any_lines if block.has("output") or between else "") + between.join(parts) + between + r"\Z")


class Walk:
    def __init__(self, everything, without, root, paradnn, prefix):
        self.everything, self.without, self.prefix = everything, without, prefix
        self.failed, self.ran, self.left_out = 0, 0, 0
        self.here, self.place = root, None
        self.environment = dict(os.environ)
        self.outputs = {}  # of the commands of the last block that had any
        self.not_run = []  # those of its commands that were left out
        if not everything:
            self.place = tempfile.TemporaryDirectory()
            self.here = os.path.join(self.place.name, "clone")
            os.mkdir(self.here)
            for name in os.listdir(root):
                if not name.startswith("build") and not name.endswith(".results"):
                    os.symlink(os.path.join(root, name), os.path.join(self.here, name))
            os.mkdir(os.path.join(self.place.name, "bin"))
            program = os.path.join(self.place.name, "bin", "paradnn")
            with open(program, "w", encoding="utf-8") as file:
                file.write(PROGRAM.format(paradnn=shlex.quote(paradnn), roofs=shlex.quote(self.roofs(paradnn))))
            os.chmod(program, 0o755)
            self.environment["PATH"] = f"{self.place.name}/bin:{self.environment['PATH']}"
            self.environment["OMP_WAIT_POLICY"] = "passive"

    def roofs(self, paradnn):
        """A file with the example's roofs of two threads as those of all threads here, a hundred times as high: no machine is above them."""
        listed = subprocess.run([paradnn, "list", "fc", "--format", "csv"], capture_output=True, text=True, check=True).stdout
        threads = next(csv.DictReader(listed.splitlines()))["threads"]
        path = os.path.join(self.place.name, "roofs.csv")
        with open(os.path.join(SOURCE, ROOFS), encoding="utf-8") as source, open(path, "w", encoding="utf-8") as file:
            rows = csv.DictReader(source)
            writer = csv.DictWriter(file, rows.fieldnames, lineterminator="\n")
            writer.writeheader()
            for row in rows:
                high = {name: 100 * float(row[name]) for name in ("value", "low", "high") if row["kind"] in ("compute", "bandwidth") and row[name]}
                if row["threads"] == "2" or threads != "1":
                    writer.writerow({**row, **high, "threads": threads if row["threads"] == "2" else row["threads"]})
        return path

    def run(self, command):
        done = subprocess.run([*self.prefix, "bash", "-c", f"cd {self.here} && {{ {command}\n}}"], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        self.outputs[command] = [done.stdout, done.stderr, done.stdout + done.stderr, done.stderr + done.stdout]
        return done

    def fail(self, where, text):
        self.failed += 1
        print(f"{where}: {text}", flush=True)

    def compare(self, where, block, shown, outputs):
        pattern = pattern_of(block, shown)
        if not any(pattern.search(output) for output in outputs):
            self.fail(where, f"shows\n{shown}but it printed\n{outputs[3]}")

    def is_left_out(self, block, command):
        reasons = [text.split("|")[0].strip() for text in block.all("not")] + self.without
        if not self.everything:
            reasons += block.all("minutes")
        return any(text in command for text in reasons)

    def walk_block(self, document, block):
        where = f"{document}:{block.line}"
        for name in block.all("file"):
            done = subprocess.run([*self.prefix, "bash", "-c", f"cat >{self.here}/{name}"], input=block.text, text=True, check=False)
            if done.returncode:
                self.fail(where, f"cannot write {name}")
        commands = block.commands()
        if commands:
            self.outputs, self.not_run = {}, []
        firsts = block.all("first")
        for command, shown in commands:
            if self.is_left_out(block, command):
                self.left_out += 1
                self.not_run.append(command)
                program = command.split()[0]
                if "/" in program and not program.startswith("build") and not os.path.exists(os.path.join(SOURCE, program)):
                    self.fail(where, f"there is no {program}")
                continue
            while firsts:
                self.run_first(where, firsts.pop(0))
            self.run_command(where, block, command, shown)
        for text in block.all("output"):
            ran = [outputs for command, outputs in self.outputs.items() if text in command]
            for outputs in ran:
                self.compare(where, block, block.text, outputs)
            if not ran and not any(text in command for command in self.not_run):
                self.fail(where, f"no command before it has '{text}'")

    def run_first(self, where, first):
        done = self.run(first)
        if done.returncode:
            self.fail(where, f"'{first}' comes first and failed: {done.stderr[-2000:]}")

    def run_command(self, where, block, command, shown):
        if self.everything:
            print(f"{where}: {command}", flush=True)
        done = self.run(command)
        self.ran += 1
        if shown is not None:
            self.compare(where, block, shown, self.outputs[command])
        if done.returncode:
            self.fail(where, f"'{command}' ended with status {done.returncode}: {done.stderr[-2000:]}")

    def walk(self, document):
        with open(os.path.join(SOURCE, document), encoding="utf-8") as file:
            text = file.read()
        for match in BLOCK.finditer(text):
            self.walk_block(document, Block(match, text[: match.start("text")].count("\n")))


def main():
    arguments, prefix = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, prefix = arguments[:at], arguments[at + 1 :]
    everything = "--all" in arguments
    without = []
    while "--without" in arguments:
        at = arguments.index("--without")
        without.append(arguments[at + 1])
        del arguments[at : at + 2]
    root, paradnn, *documents = [name for name in arguments if name != "--all"]
    here = os.getcwd()
    if needs.missing("bash"):
        return needs.SKIPPED
    walk = Walk(everything, without, root if everything else os.path.abspath(root), os.path.join(here, paradnn), prefix)
    for document in documents:
        walk.walk(document)
    print(f"{walk.ran} commands run, {walk.left_out} left out, {walk.failed} failed")
    return 1 if walk.failed else 0


if __name__ == "__main__":
    sys.exit(main())
