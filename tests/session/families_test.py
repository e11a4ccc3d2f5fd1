#!/usr/bin/env python3
"""Families of users in result directories: kept with the rows, told apart from a changed definition, and checked when they are read.

Usage: families_test.py PARADNN"""

import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from program import ROOFS, Case

FAMILY = """\
family: mynet
axes: {width: {default: 8, range: 1..4096}, batch: {default: 4, range: 1..64}}
inputs: {x: {shape: [batch, width]}}
ops: [{dense: {out: OUT}, from: x}, LAST]
"""
SPEC = """\
families: [mynet.yaml]
run: {mode: infer, backend: reference, threads: 1}
measure: {rounds: 1, max_time: 1ms, min_samples: 3, probe: off}
models: [mynet: {width: [8, 16]}]
"""
CHANGED = "the family has changed from "


class Families(Case):
    FILES = {**Case.FILES, "s.yaml": SPEC}

    def family(self, last="relu", out="width"):
        self.write("mynet.yaml", FAMILY.replace("LAST", last).replace("OUT", out))

    def sweep_own(self, directory="d"):
        return self.paradnn("sweep", "s.yaml", "-o", directory, *ROOFS, expect=0)

    def kept(self, directory="d"):
        return sorted(os.listdir(self.path(directory, "families")))

    def families(self, directory="d"):
        return {row["id"].split("/")[0] for row in self.rows(directory, "results.csv")}

    def test_kept_and_changed(self):
        self.family()
        self.assertNotIn(CHANGED, self.sweep_own().stderr)
        first = self.kept()
        self.assertEqual(first, [name + ".yaml" for name in self.families()])
        before = first[0][:-len(".yaml")]
        self.family("tanh")
        said = self.sweep_own().stderr
        after = next(iter(self.families() - {before}))
        self.assertIn(f"paradnn: d: {CHANGED}{before} to {after}; its models run anew, and rows of {before} stay in the tables; "
                      "paradnn prune drops them\n", said)
        self.assertEqual(self.kept(), sorted([before + ".yaml", after + ".yaml"]))
        self.assertEqual([row["status"] for row in self.rows("d", "results.csv")], ["ok"] * 4)
        self.assertNotIn(CHANGED, self.sweep_own().stderr)
        self.paradnn("prune", "d", "--yes", expect=0)
        self.assertEqual((self.kept(), self.families()), ([after + ".yaml"], {after}))

    def test_rows_keep_their_meaning(self):
        self.family()
        self.sweep_own()
        os.remove(self.path("mynet.yaml"))
        for command in (["results", "d"], ["breakdown", "d"], ["status", "d"]):
            self.paradnn(*command, expect=0)
        name = self.kept()[0][:-len(".yaml")]
        for only, count in (("family=mynet", 2), ("mynet", 2), ("mynet/width=8", 1), (name, 2), ("family=my", 0), ("family!=mynet", 0)):
            found = self.paradnn("results", "d", "--only", only, "--format", "csv", expect=0).stdout
            self.assertEqual(found.count(f"{name}/width="), 2 * count, only)

    def test_of_another_content(self):
        self.family()
        self.sweep_own()
        name = self.kept()[0]
        self.write(os.path.join("d", "families", name), self.read("d", "families", name).replace("relu", "tanh"))
        for command in (["results", "d"], ["status", "d"], ["prune", "d", "--yes"], ["sweep", "s.yaml", "-o", "d", *ROOFS],
                        ["merge", "d", "d2", "-o", "m"]):
            shutil.copytree(self.path("d"), self.path("d2"), dirs_exist_ok=True)
            done = self.paradnn(*command, expect=2)
            self.assertRegex(done.stderr, rf"paradnn: d2?/families/{name}: is mynet@[0-9a-f]{{8}}, so that it was changed after its "
                                          "models were measured\n")
        self.write(os.path.join("d", "families", name), "family: [")
        self.assertIn(f"d/families/{name}:", self.paradnn("results", "d", expect=2).stderr)

    def test_comments_do_not_matter(self):
        self.family()
        self.sweep_own()
        name = self.kept()[0]
        self.write(os.path.join("d", "families", name), "# mine\n" + self.read("d", "families", name))
        self.paradnn("results", "d", expect=0)

    def test_merge(self):
        self.family()
        self.sweep_own()
        self.family("tanh")
        self.sweep_own("e")
        self.paradnn("merge", "--union", "d", "e", "-o", "m", expect=0)
        self.assertEqual(self.kept("m"), sorted(self.kept("d") + self.kept("e")))
        self.assertEqual(self.families("m"), self.families("d") | self.families("e"))
        self.paradnn("results", "m", expect=0)

    def test_compare_tells_definitions_apart(self):
        self.family()
        self.sweep_own()
        self.family("tanh")
        self.sweep_own("e")
        said = self.paradnn("compare", "d", "e", expect=2).stderr
        names = [self.kept(directory)[0][:-len(".yaml")] for directory in ("d", "e")]
        self.assertIn(f"no instance is in both d and e; {names[0]} has 'op (relu)', {names[1]} has 'op (tanh)'\n", said)
        self.assertNotIn("input x", said)
        self.family()
        self.write("s.yaml", SPEC.replace("[8, 16]", "[24]"))
        self.sweep_own("f")
        self.assertNotIn(" has ", self.paradnn("compare", "d", "f", "--across", "host").stderr)

    def test_one_hash(self):
        """Two definitions whose texts have the same first digits of their SHA-256: found by trying 56281 of them."""
        for directory, out in (("d", "4164"), ("e", "56281")):
            self.write("mynet.yaml", FAMILY.replace(", LAST", "").replace("OUT", out))
            self.sweep_own(directory)
            self.assertEqual(self.kept(directory), ["mynet@3652fc64.yaml"])
        self.assertIn("e/families/mynet@3652fc64.yaml: another definition is mynet@3652fc64, too; rename one of the families\n",
                      self.paradnn("merge", "--union", "d", "e", "-o", "m", expect=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
