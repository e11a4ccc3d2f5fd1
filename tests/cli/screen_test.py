#!/usr/bin/env python3
"""What people see: on terminals of several widths no line is wider than the terminal, and a pipe gets tables as wide as they are.

Usage: screen_test.py PARADNN SOURCE"""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import unittest

PARADNN, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
WIDTHS = (80, 100, 160)
PATIENCE_S = 120


def screen(arguments, columns, directory=SOURCE):
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
            if child.wait(PATIENCE_S) != 0:
                raise AssertionError(f"{arguments}: {child.returncode}: {errors}")
    finally:
        os.close(reader)
    return b"".join(blocks).decode().replace("\r\n", "\n")


def pipe(arguments, directory=SOURCE):
    return subprocess.run([PARADNN, *arguments], cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_S, check=True).stdout


def words(text):
    """The text without the places where lines end: what is left is the same at any width, if nothing is left out."""
    return sorted("".join(text.split()))


class Case(unittest.TestCase):
    def fits(self, *arguments, directory=SOURCE):
        """Checks all widths; returns the screens by width."""
        screens = {}
        for columns in WIDTHS:
            with self.subTest(arguments=arguments, columns=columns):
                screens[columns] = screen(arguments, columns, directory)
                self.assertEqual([line for line in screens[columns].split("\n") if len(line) > columns], [])
        return screens


class Dictionaries(Case):
    def test_tables_fit(self):
        for arguments in (["families"], ["families", "cnn"], ["families", "transformer"], ["ops"], ["columns"],
                          ["columns", "results"]):
            self.fits(*arguments)

    def test_nothing_is_lost(self):
        for arguments in (["families"], ["ops"]):
            expected = words(pipe(arguments))
            for text in self.fits(*arguments).values():
                self.assertEqual(words(text), expected)

    def test_what_is_left_out_is_said(self):
        text = screen(["columns", "results"], 50)
        self.assertNotIn("integer", text)
        self.assertRegex(text, r"\(no room for: (unit, )?type\)\n\Z")

    def test_a_pipe_gets_one_line_per_row(self):
        for arguments in (["families", "cnn"], ["ops"], ["columns"]):
            table = pipe(arguments)
            programs = pipe([*arguments, "--format", "csv"])
            self.assertEqual(table.count("\n"), programs.count("\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
