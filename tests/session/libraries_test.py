#!/usr/bin/env python3
"""Two names for one oneDNN, which is copied to temporary directories: pairs, what the directory says of the builds, and what is refused.
Skipped with one line (and exit status 77) where no worker loads a oneDNN of its own file.

Usage: libraries_test.py PARADNN"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from processes import journal_lines

PARADNN = os.path.abspath(sys.argv.pop(1))
MODELS = "models: [{fc: {layers: 1, nodes: [16, 32], input: 16, output: 16, batch: 4}}]\n"
FAST = "run: {mode: infer, threads: 1%s}\nmeasure: {rounds: 2, max_time: 10ms, min_samples: 1, probe: off}\n"


def own_library():
    """The file of the oneDNN that a worker loads, as it found it."""
    worker = os.path.join(os.path.dirname(PARADNN), "paradnn-worker")
    found = re.search(r"=> (\S*libdnnl\.so\S*)", subprocess.run(["ldd", worker], capture_output=True, text=True, check=True).stdout)
    return found[1] if found else None


LIBRARY = own_library()


class Libraries(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name
        for name in ("old", "new", "none", "other"):
            os.mkdir(os.path.join(self.place, name))
        for name in ("old", "new"):
            shutil.copy(LIBRARY, os.path.join(self.place, name, os.path.basename(LIBRARY)))
        stem = os.path.basename(LIBRARY).split(".so")[0]
        self.other = stem + ".so.1"
        with open(os.path.join(self.place, "other", self.other), "wb"):
            pass

    def spec(self, libraries, run=""):
        with open(os.path.join(self.place, "s.yaml"), "w", encoding="utf-8") as file:
            file.write(f"libraries: {{{libraries}}}\n" + FAST % run + MODELS)

    def command(self, *arguments, status=0, **variables):
        cache = {"XDG_CACHE_HOME": os.path.join(self.place, "cache"), "PARADNN_NO_CACHE": ""}
        done = subprocess.run([PARADNN, *arguments], cwd=self.place, capture_output=True, text=True,
                              env={**os.environ, **cache, **variables}, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def sweep(self, *more, status=0, **variables):
        return self.command("sweep", "s.yaml", "-o", "r", "--ceilings", self.ceilings(), *more, status=status, **variables)

    def ceilings(self):
        path = os.path.join(self.place, "ceilings.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions\n"
                       "compute,fma,f32,,1,0,100,90,110,5\nbandwidth,read,,DRAM,1,0,18,17,19,5\n")
        return path

    def refused(self, message, *more, **variables):
        done = self.sweep(*more, status=2, **variables)
        lines = [line for line in done.stderr.splitlines() if line.startswith("paradnn: s.yaml") or line.startswith("paradnn: --")]
        self.assertEqual(lines, [f"paradnn: {message}"])
        self.assertFalse(os.path.exists(os.path.join(self.place, "r")))

    def facts(self):
        with open(os.path.join(self.place, "r", "environment.yaml"), encoding="utf-8") as file:
            return dict(line.strip().split(": ", 1) for line in file if line.startswith("library_"))

    def test_two_names_for_one_build(self):
        self.spec("old: old, new: new")
        done = self.sweep()
        self.assertIn("libraries: old and new are the same build of onednn (A/A)", done.stderr)
        facts = self.facts()
        self.assertEqual(facts["library_old_onednn"], facts["library_new_onednn"])
        self.assertRegex(facts["library_old_onednn"], r'^"oneDNN .*, build [0-9a-f]+.*, file [0-9a-f]{16}" # identity$')
        self.assertEqual(facts["library_new_onednn_path"], f'"{self.place}/new/{os.path.basename(LIBRARY)}"')
        with open(os.path.join(self.place, "r", "results.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["library"] for row in rows], ["old", "old", "new", "new"])
        self.assertEqual({row["status"] for row in rows}, {"ok"})
        self.assertTrue(all(row["id"].endswith(",library=" + row["library"]) for row in rows))
        # Groups of two, in an order that turns round.
        ids = [re.search(r'"(fc/[^"]*)"', line.decode())[1] for line in journal_lines(os.path.join(self.place, "r")) if b'"fc/' in line]
        visits = [(re.sub(",library=.*", "", id), id.rsplit("=", 1)[1]) for id in ids]
        for first, second in zip(visits[::2], visits[1::2]):
            self.assertEqual(first[0], second[0])
            self.assertEqual({first[1], second[1]}, {"old", "new"})
        compared = self.command("compare", "r").stdout
        self.assertIn("A: library=old of r\nB: library=new of r\n", compared)
        self.assertIn("Both sides ran the same build of the library (A/A): what differs is noise.", compared)
        # One set of choices for both, and none else.
        self.assertNotIn("other_choices", {flag for row in rows for flag in row["row_flags"].split("|")})
        self.assertEqual(len([name for name in os.listdir(os.path.join(self.place, "r")) if name.startswith("choices-")]), 1)
        # Going on: where a build lies may change, which one it is may not.
        os.rename(os.path.join(self.place, "old"), os.path.join(self.place, "moved"))
        self.spec("old: moved, new: new")
        self.sweep()
        self.change("new")
        done = self.sweep(status=2)
        self.assertRegex(done.stderr, r'environment\.yaml: library_new_onednn was "oneDNN .*" and is "oneDNN .*" now; one directory holds')

    def change(self, name):
        """Another file that does the same."""
        with open(os.path.join(self.place, name, os.path.basename(LIBRARY)), "ab") as file:
            file.write(b"more")

    def test_another_build(self):
        self.change("new")
        self.spec("new: new", ", library: [default, new]")
        done = self.sweep()
        self.assertNotIn("A/A", done.stderr)
        self.assertEqual(len({self.facts()[f"library_{name}_onednn"] for name in ("default", "new")}), 2)
        compared = self.command("compare", "r").stdout
        self.assertIn("library=default", compared)
        self.assertNotIn("A/A", compared)

    def test_option(self):
        done = self.command("run", "fc/layers=1,nodes=16,input=16,output=16,batch=4,mode=infer,threads=1", "--library", "old=old", "--library",
                            "3.7-rc_1=new", "--set", "measure.max_time=10ms", "--rounds", "1", "--ceilings", self.ceilings(), "--format", "csv",
                            "--columns", "id")
        self.assertRegex(done.stdout, r"library=old\"\n(.*\n)*.*library=3\.7-rc_1")
        done = self.command("check", "fc/layers=1,nodes=16,input=16,output=16,batch=4,mode=infer,threads=1,library=new", "--library", "new=new",
                            "--library", "old=old")
        self.assertIn("1 passed, 0 failed", done.stderr)

    def test_refused(self):
        place, file = self.place, os.path.basename(LIBRARY)
        self.spec("old: old, new: nowhere")
        self.refused("s.yaml:1:28: libraries: nowhere: No such file or directory")
        self.spec("old: s.yaml")
        self.refused("s.yaml:1:18: libraries: s.yaml is not a directory, expected that of the library")
        self.spec("old: none")
        message = self.sweep(status=2).stderr
        self.assertRegex(message, rf"s.yaml:1:18: {place}/none has none of the libraries, and workers load {re.escape(file)}")
        self.spec("old: other")
        message = self.sweep(status=2).stderr
        self.assertRegex(message, rf"s.yaml:1:18: {place}/other has {re.escape(self.other)}, and workers load {re.escape(file)}")
        os.symlink("old", os.path.join(place, "a:b"))
        self.spec("old: 'a:b'")
        self.refused(f"s.yaml:1:18: libraries: the dynamic linker does not take ':', ';' and '$' in {place}/a:b for a part of a directory's name: "
                     "make a link to it")
        self.spec("old: old")
        self.refused(f"s.yaml:1:18: the worker loaded {LIBRARY}, and not that of {place}/old: is LD_PRELOAD set?", LD_PRELOAD=LIBRARY)
        self.refused("--library b=none: " + f"{place}/none has none of the libraries, and workers load {self.needed(message)}", "--library", "b=none")
        for given in ("b", "=old", "b="):
            done = self.command("sweep", "s.yaml", "-o", "r", "--library", given, status=2)
            self.assertEqual(done.stderr, f"paradnn: --library is '{given}', expected NAME=DIR\n")

    @staticmethod
    def needed(message):
        return message.strip().rsplit("workers load ", 1)[1]


if __name__ == "__main__":
    if not LIBRARY:
        print("skipped: the worker has its oneDNN within")
        sys.exit(77)
    unittest.main()
