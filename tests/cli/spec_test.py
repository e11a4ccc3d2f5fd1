#!/usr/bin/env python3
"""doc/spec.md is what the program prints, and every example in it, and of families' parameters, is a spec that lists.

Usage: spec_test.py PARADNN DOCUMENT [--update], where --update writes the document."""

import csv
import os
import re
import subprocess
import sys
import tempfile
import unittest

PARADNN, DOCUMENT = (os.path.abspath(path) for path in sys.argv[1:3])
UPDATE = "--update" in sys.argv
TOP = ("sweep", "seed", "run", "measure", "limits", "seqpoint", "dataset", "libraries", "families", "models")


def paradnn(*arguments, text=None):
    with tempfile.TemporaryDirectory() as place:
        with open(os.path.join(place, "shapes.csv"), "w", encoding="utf-8") as file:
            file.write("nodes,batch\n64,16\n64,32\n")
        return subprocess.run([PARADNN, *arguments], input=text, capture_output=True, text=True, check=False, cwd=place)


def page():
    done = paradnn("help", "spec")
    assert done.returncode == 0, done.stderr
    return done.stdout


def families():
    listed = csv.DictReader(paradnn("families", "--format", "csv").stdout.splitlines())
    return [row["family"] for row in listed if row["model"] == row["family"]]


def hyper_parameters(family):
    """Rows of `paradnn families FAMILY`."""
    listed = csv.DictReader(paradnn("families", family, "--format", "csv").stdout.splitlines())
    return [row for row in listed if row["kind"] == "hyper-parameter"]


def rows(document):
    """What the lists say of keys, as maps."""
    for item in re.findall(r"^- (.*(?:\n  .*)*)", document, re.M):
        found = re.fullmatch(r"`(?P<key>\w+)` \((?P<values>.+?)(?:; (?:default (?P<default>.+?)|without it .+?))?\): (?P<meaning>.+)\. "
                             r"Example: `(?P<example>.+)`", re.sub(r"\n  ", " ", item))
        if found:
            yield found.groupdict()


def spec_of(example):
    """A whole spec around an example: a section, or an entry of models."""
    if re.match(r"models\b", example):
        return example
    if re.match(r"(%s)\b" % "|".join(TOP), example):
        sides = "run: {fuse: [none, post-ops]}\n" if "choices" in example else ""  # a key of paired order
        sides += "libraries: {new: new}\n" if "library" in example else ""
        return f"{sides}{example}\nmodels: [fc: {{}}]"
    return f"models: [{example}]" if example.startswith("{") else f"models: [{{{example}}}]"


class Page(unittest.TestCase):
    def lists(self, spec, *sets):
        options = [word for text in ("run.threads=1", *sets) for word in ("--set", text)]
        done = paradnn("list", "-", *options, "--format", "csv", text=spec)
        self.assertEqual(done.returncode, 0, f"{spec}\n{done.stderr}")
        found = list(csv.DictReader(done.stdout.splitlines()))
        self.assertTrue(found, spec)
        return found

    def test_document_is_what_the_program_prints(self):
        if UPDATE:
            with open(DOCUMENT, "w", encoding="utf-8") as file:
                file.write(page())
        with open(DOCUMENT, encoding="utf-8") as file:
            self.assertEqual(file.read(), page())

    def test_keys_are_explained(self):
        """Every item but the costs and the notes on where-expressions has a key's values, its meaning and an example."""
        self.assertGreater(len(list(rows(page()))), 60)
        of_keys = re.sub(r"(?s)## Where\n.*?(?=^## )", "", page(), flags=re.M)
        self.assertEqual(len(list(rows(page()))), len(re.findall(r"^- ", of_keys, re.M)))

    def test_examples_of_keys_list(self):
        """Each varies or sets its key, and none of its instances is invalid."""
        for row in rows(page()):
            with self.subTest(row["example"]):
                self.assertIn(f"{row['key']}:", row["example"])
                both = () if row["example"].startswith("run") else ("run.mode=[train, infer]",)
                reasons = {}
                for line in self.lists(spec_of(row["example"]), *both):
                    reasons.setdefault(line["run_mode"] if both else "", set()).add(line["reason"])
                self.assertTrue({""} in reasons.values() or ("where" in row["example"] and "" in next(iter(reasons.values()))), reasons)

    def test_specs_list(self):
        specs = re.findall(r"```yaml\n(.*?)```", page(), re.S)
        self.assertGreater(len(specs), 3)
        for spec in specs:
            with self.subTest(spec):
                self.assertIn("", [line["reason"] for line in self.lists(spec)])

    def test_examples_of_hyper_parameters_list(self):
        """Where its hyper-parameter applies, none of its instances is invalid in inference, or none in training."""
        for family in families():
            for row in hyper_parameters(family):
                # "with block=residual or bottleneck", "with architecture=decoder and phase=decode"
                needed = re.findall(r"(\w+)=([^ ]+)", row["help"].partition("; with ")[2])
                values = ", ".join([f"{key}: {value}" for key, value in needed] + [f"{row['name']}: {row['example']}"])
                with self.subTest(f"{family}: {values}"):
                    reasons = {}
                    for line in self.lists(f"models: [{{{family}: {{{values}}}}}]", "run.mode=[train, infer]"):
                        reasons.setdefault(line["run_mode"], set()).add(line["reason"])
                    self.assertIn({""}, reasons.values())

    def test_defaults_are_those_that_apply(self):
        """A spec that writes out the defaults of a family and of the settings has the id of one that does not."""
        for family in families():
            written = ", ".join(f"{row['name']}: {row['default']}" for row in hyper_parameters(family) if "; with" not in row["help"])
            with self.subTest(family):
                ids = [self.lists(f"models: [{{{family}: {{{values}}}}}]")[0]["id"] for values in ("", written)]
                self.assertEqual(*ids)

    def test_text_fits_the_terminal(self):
        for line in re.sub(r"(?s)```.*?```", "", page()).splitlines():
            self.assertLessEqual(len(line), 80)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
