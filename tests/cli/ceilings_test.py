#!/usr/bin/env python3
"""Measuring roofs: the file that a sweep takes, where it goes, and the roofs that are kept.

Usage: ceilings_test.py PARADNN [TEST...]"""

import os
import re
import stat
import subprocess

from program import SHORT, Case, environment, main


class Ceilings(Case):
    COMMAND = ["ceilings", "--threads", "1", "--time", "10h", "--seconds"]

    def setUp(self):
        super().setUp()
        self.environment = environment(PARADNN_NO_CACHE="", XDG_CACHE_HOME=self.path("kept"))

    def kept(self):
        """The lines of the roofs that are kept; the choices of sweeps lie beside them."""
        folder = self.path("kept", "paradnn")
        return [line for name in (os.listdir(folder) if os.path.exists(folder) else []) if name.startswith("roofs-")
                for line in self.read(folder, name).splitlines()]

    def sweep_one(self, directory, *options):
        return self.paradnn("sweep", "fc/layers=1,nodes=8,input=8,output=8,batch=1,threads=1", *SHORT, "-o", directory, *options, expect=0,
                            env=self.environment)

    def test_file_is_one_that_a_sweep_takes(self):
        done = self.paradnn(*self.COMMAND, "0.1", "--threads", "1", "-o", "mine.csv", "--format", "csv", "--no-cache", expect=0,
                            env=self.environment)
        self.assertEqual(done.stdout, self.read("mine.csv"))
        self.assertEqual(self.kept(), [])
        rows = self.rows("mine.csv")
        kinds = [(row["kind"], row["pattern"], row["dtype"], row["level"], row["capacity_bytes"]) for row in rows]
        self.assertTrue({"compute", "bandwidth"} <= {row["kind"] for row in rows})
        self.assertEqual(len(kinds), len(set(kinds)))  # equal threads are measured once
        self.sweep_one("out", "--ceilings", "mine.csv")
        self.assertEqual(self.rows("out", "ceilings.csv"), rows)

    def test_roofs_go_to_a_pipe_and_are_kept(self):
        os.mkfifo(self.path("pipe"))
        with subprocess.Popen(["cat", self.path("pipe")], stdout=subprocess.PIPE, text=True) as reader:
            done = self.paradnn(*self.COMMAND, "5", "-o", "pipe", expect=0, env=self.environment)
            self.assertTrue(reader.communicate()[0].startswith("kind,"))
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        self.assertIn("\nbandwidth by working set", done.stdout)
        before = self.kept()
        self.assertEqual(len(before), 2)
        done = self.sweep_one("out")  # 5 seconds are as many as it would take
        (said,) = [line for line in done.stderr.splitlines() if line.startswith("roofs for")]
        is_kept = re.fullmatch(r"roofs for 1 thread: those of [^,]*Z, confirmed by probes within \d+ %", said) is not None
        if not is_kept:
            self.assertRegex(said, r"^roofs for 1 thread: measured and joined with those kept, since the probes differ by \d+ % from .*, more than 15 %$")
        self.assertEqual(len(self.kept()), 2 if is_kept else 3)
        rows = self.rows("out", "ceilings.csv")
        self.assertEqual({row["checked_utc"] != "" for row in rows}, {is_kept})
        self.assertEqual(rows[0]["measured_utc"] in before[1], is_kept)
        self.assertEqual({row["measurements"] for row in rows}, {"1" if is_kept else "2"})
        model = "fc/layers=1,nodes=8,input=8,output=8,batch=1,threads=1"
        done = self.paradnn("sweep", model, *SHORT, "-o", "none", "--dry-run", expect=0, env=self.environment)
        self.assertIn("by the roofs measured 20", done.stdout + done.stderr)
        done = self.paradnn("run", model, *SHORT, expect=0, env=self.environment)
        self.assertIn("\n  roof ", done.stdout)


if __name__ == "__main__":
    main(1)
