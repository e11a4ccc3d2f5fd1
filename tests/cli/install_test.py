#!/usr/bin/env python3
"""`meson install` into a directory: what is there, that it works from there and from elsewhere, and that `ninja uninstall` takes it away.

Usage: install_test.py BUILD. Every program of the build is up to date."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

BUILD = os.path.abspath(sys.argv[1])
TINY = "fc/layers=1,nodes=32,input=32,output=10,batch=2,threads=1"


def introspect(what):
    return json.loads(subprocess.run(["meson", "introspect", BUILD, "--" + what], capture_output=True, text=True, check=True).stdout)


OPTIONS = {option["name"]: option["value"] for option in introspect("buildoptions")}
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.place = place.name
        # The log of a real installation, which `ninja uninstall` reads, is not this one's to replace.
        log = os.path.join(BUILD, "meson-logs", "install-log.txt")
        if os.path.exists(log):
            shutil.copy(log, os.path.join(cls.place, "log"))
        cls.addClassCleanup(shutil.copy if os.path.exists(log) else lambda *_: os.remove(log), os.path.join(cls.place, "log"), log)
        cls.root = os.path.join(cls.place, "root")
        cls.environment = {**os.environ, "DESTDIR": cls.root}
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild"], env=cls.environment, capture_output=True, check=True)
        cls.prefix = cls.root + OPTIONS["prefix"]

    def installed(self, option, *names, prefix=None):
        return os.path.join(prefix or self.prefix, OPTIONS[option], *names)

    def paradnn(self, *arguments, prefix=None, expect=0):
        environment = {**{name: value for name, value in os.environ.items() if name != "PARADNN_WORKER"}, "OMP_WAIT_POLICY": "passive"}
        done = subprocess.run([self.installed("bindir", "paradnn", prefix=prefix), *arguments], cwd=self.place, env=environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def test_worker_is_found(self):
        self.assertTrue(os.access(self.installed("libexecdir", "paradnn", "paradnn-worker"), os.X_OK))
        self.assertEqual(len(self.paradnn("--version").stdout.splitlines()), 4)
        self.assertIn("1 passed, 0 failed", self.paradnn("check", TINY).stderr)

    def test_tree_can_be_moved(self):
        moved = os.path.join(self.place, "moved")
        shutil.copytree(self.prefix, moved)
        self.assertEqual(len(self.paradnn("--version", prefix=moved).stdout.splitlines()), 4)
        self.assertIn(f"spec: {moved}/share/paradnn/sweeps/smoke.yaml\n", self.paradnn("list", "smoke.yaml", prefix=moved).stderr)

    def test_program_through_a_link(self):
        link = os.path.join(self.place, "paradnn-link")
        os.symlink(self.installed("bindir", "paradnn"), link)
        done = subprocess.run([link, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(len(done.stdout.splitlines()), 4)

    def test_every_command_has_a_page(self):
        listed = re.findall(r"^  (\w+) ", self.paradnn("--help").stdout.split("\nTo start with:\n")[1].split("\nSPEC is")[0], re.M)
        pages = {os.path.basename(name) for name in os.listdir(self.installed("mandir", "man1"))}
        self.assertEqual(pages, {"paradnn.1", *(f"paradnn-{command}.1" for command in listed)})

    def test_shells_find_completion(self):
        for place in ("bash-completion/completions/paradnn", "zsh/site-functions/_paradnn", "fish/vendor_completions.d/paradnn.fish"):
            self.assertTrue(os.path.exists(self.installed("datadir", place)), place)

    def test_specs_are_found_by_name(self):
        shipped = sorted(os.listdir(self.installed("datadir", "paradnn", "sweeps")))
        self.assertEqual(shipped, sorted(name for name in os.listdir(os.path.join(SOURCE, "sweeps")) if name.endswith(".yaml")))
        path = self.installed("datadir", "paradnn", "sweeps", "paper-cnn.yaml")
        for name in ("paper-cnn.yaml", "sweeps/paper-cnn.yaml", "paper-cnn"):
            done = self.paradnn("list", "--count", name)
            self.assertRegex(done.stdout, r"\Ainstances .*\n +2160  ")
            self.assertIn(f"spec: {os.path.realpath(path)}\n", done.stderr)
        for name in shipped:
            self.assertIn(name, self.paradnn("--help").stdout)

    def test_own_file_comes_first(self):
        with open(os.path.join(self.place, "paper-rnn.yaml"), "w", encoding="utf-8") as file:
            file.write("models: [fc: {batch: [1, 2]}]\n")
        done = self.paradnn("list", "--count", "paper-rnn.yaml")
        self.assertRegex(done.stdout, r"\Ainstances .*\n +2  ")
        self.assertNotIn("spec:", done.stderr)
        # A family is an id, whatever else has its name; a path is a path.
        self.assertRegex(self.paradnn("list", "--count", "fc").stdout, r"\Ainstances .*\n +1  ")
        for name in ("./fc.yaml", "nowhere.yaml", os.path.join(self.place, "fc.yaml")):
            self.assertIn(f"paradnn: {name}: ", self.paradnn("list", name, expect=2).stderr)

    def test_sweep_of_an_installed_spec(self):
        roofs = self.installed("datadir", "paradnn", "examples", "zen5-2-cores", "ceilings.csv")
        quick = [word for text in ("run.threads=1", "measure.rounds=1", "measure.min_samples=3", "measure.max_time=1ms", "measure.probe=off")
                 for word in ("--set", text)]
        done = self.paradnn("sweep", "smoke.yaml", "--ceilings", roofs, *quick, "-o", "here")
        self.assertRegex(done.stderr, r"spec: \S+/smoke\.yaml\n")
        self.assertIn("8 instances: 8 ok\n", done.stderr)

    def test_examples_are_read(self):
        example = self.installed("datadir", "paradnn", "examples", "zen5-2-cores")
        self.assertIn("dense", self.paradnn("breakdown", example, "--by", "op").stdout)

    def test_setup_refuses_clang(self):
        if reason := needs.missing("clang"):
            self.skipTest(reason)
        done = subprocess.run(["meson", "setup", os.path.join(self.place, "build"), SOURCE], env={**os.environ, "CC": "clang"},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"ERROR: .*: clang has another OpenMP than libgomp: use gcc 12 or newer \(CC=gcc meson setup ...\)\n")

    def test_version_has_one_place(self):
        version = introspect("projectinfo")["version"]
        self.assertEqual(self.paradnn("--version").stdout.splitlines()[0], f"paradnn {version}")
        with open(os.path.join(SOURCE, "CHANGELOG.md"), encoding="utf-8") as file:
            newest = next(heading for heading in re.findall(r"^## \[(.*?)\]", file.read(), re.M) if heading != "Unreleased")
        self.assertEqual(newest, version)
        for page in os.listdir(self.installed("mandir", "man1")):
            with open(self.installed("mandir", "man1", page), encoding="utf-8") as file:
                self.assertIn(f"\n.Os paradnn {version}\n", file.read())
        with open(os.path.join(SOURCE, "meson.build"), encoding="utf-8") as file:
            self.assertEqual(file.read().count(version), 1)


class Uninstall(unittest.TestCase):
    def test_nothing_is_left(self):
        Install.setUpClass()
        self.addCleanup(Install.doClassCleanups)
        self.assertTrue(os.path.exists(Install.prefix))
        subprocess.run(["ninja", "-C", BUILD, "uninstall"], env=Install.environment, capture_output=True, check=True)
        left = [os.path.join(place, name) for place, _, names in os.walk(Install.root) for name in names]
        self.assertEqual(left, [])
        self.assertFalse(os.path.exists(Install.prefix + "/share/paradnn"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
