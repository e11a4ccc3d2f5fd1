#!/usr/bin/env python3
"""Specs and arguments of up to a megabyte that try to take much more: each ends with one line of error and status 2, within
256 MiB of resident memory and 512 MiB of address space. How much work that is, LIST_COUNTED counts, in basic blocks of gen/.

A family's file, whose families are more than the program's own: eight times its size and 16 MiB.

Usage: bombs_test.py PARADNN LIST_COUNTED [--sanitized]   (sanitizers map terabytes: without the limits on memory)"""

import os
import resource
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

SANITIZED = "--sanitized" in sys.argv
PARADNN, LIST_COUNTED = (os.path.abspath(path) for path in sys.argv[1:3])
# Without the variables that the program speaks of.
QUIET = needs.quiet()
MOST_RESIDENT_KIB = 256 << 10
MOST_BYTES = 512 << 20
# Two or three times the most; what is quadratic takes more. Drawing points for a sample ends after a million: 200 blocks each.
MOST_BLOCKS, MOST_BLOCKS_OF = 120e6, {"a sample where nothing is": 600e6}


def model(keys, more=""):
    return "models:\n  - fc: {" + keys + "}\n" + more


def alias_tree(levels, fan):
    lines = ["a0: &a0 [" + ",".join("x" * fan) + "]"]
    lines += [f"a{i}: &a{i} [" + ",".join([f"*a{i - 1}"] * fan) + "]" for i in range(1, levels)]
    return "\n".join(lines) + "\n"


CUBE = ", ".join(f"{name}: {{from: 1, to: 1000, plus: 1}}" for name in ("layers", "nodes", "input", "output", "batch"))
LIST = "[" + ",".join(map(str, range(1, 4097))) + "]"
LONG_WHERE = "nodes" + " + nodes" * 500 + " < 0"

SPECS = {
    "aliases of aliases": alias_tree(8, 9),
    "aliases of aliases in 300 documents": "---\n".join([alias_tree(6, 6)] * 300),
    "models by alias in 300 documents": "---\n".join(["models:\n- &m {fc: {nodes: 2}}\n" + "- *m\n" * 300] * 300),
    "models by alias": "models: [&m {fc: }" + ", *m" * 60000 + "]\n",
    "models": "models:\n" + "- fc:\n" * 40000,
    "documents": "---\nmodels: [fc: ]\n" * 40000,
    "empty documents": "---\n" * 200000,
    "anchors": "models: [" + ",".join(f"&a{i} x" for i in range(40000)) + ",*a0" * 40000 + "]\n",
    "a long text by alias": model("nodes: [&t '" + "1" * 4000 + "'" + ", *t" * 100000 + "]"),
    "a long where by alias": f"models:\n- {{fc: , where: &w '{LONG_WHERE}'}}\n" + "- {fc: , where: *w}\n" * 9000,
    "flow lists": "models: " + "[" * 500000,
    "flow maps": "models: " + "{a: " * 200000,
    "block maps": "".join(" " * i + "a:\n" for i in range(1400)),
    "block lists": "models:\n" + "- " * 400000,
    "parentheses": model("", "    where: " + "(" * 2000 + "1" + ")" * 2000),
    "signs": model("", "    where: " + "-" * 4000 + "1"),
    "nots": model("", "    where: " + "not " * 1000 + "1"),
    "powers": model("", "    where: nodes" + " ^ nodes" * 500),
    "branches": model("", "    where: " + "1 ? " * 1000 + "1"),
    "a long where": model("", "    where: nodes" + "+nodes" * 150000),
    "a long list": model("nodes: [" + ",".join(map(str, range(1, 140000))) + "]"),
    "long lists by alias": model(f"nodes: &l {LIST}") + "  - fc: {nodes: *l}\n" * 30,
    "10^18 steps": model("nodes: {from: 1, to: 1000000000000000000, plus: 1}"),
    "a million steps": model("nodes: {from: 1, to: 1000000, plus: 1}"),
    "a product of 10^15": model(CUBE),
    "a product that overflows": model(CUBE.replace("to: 1000,", "to: 16000,").replace("16000", "4000", 1)),
    "a product of models": "models:\n" + "  - fc: {nodes: {from: 1, to: 1000, plus: 1}}\n" * 5000,
    "a sobol sample": model(CUBE, "    sample: {count: 1000000000, method: sobol}\n"),
    "a random sample": model(CUBE, "    sample: {count: 9007199254740992, method: random}\n"),
    "where over a product": model(CUBE, "    where: nodes < 0\n"),
    "a sample where nothing is": model(CUBE, "    where: nodes < 0\n    sample: {count: 5, method: sobol}\n"),
    "a sample where nothing costs that": model(CUBE, "    where: params < 0\n    sample: {count: 5, method: random}\n"),
    "a sample where nothing needs that": model(CUBE, "    where: memory < 0\n    sample: {count: 5, method: random}\n"),
    "zip": model("nodes: {from: 1, to: 16000000, plus: 1}, input: {from: 1, to: 16000000, plus: 1}",
                 "    zip: [[nodes, input]]\n"),
    "names to zip": model("nodes: [1, 2], input: [1, 2]", "    zip: [" + "[nodes, input], " * 50000 + "]\n"),
    "a large map merged": "a: &a {" + ", ".join(f"k{i}: 1" for i in range(40000)) + "}\nb: {<<: *a, "
                          + ", ".join(f"l{i}: 1" for i in range(20000)) + "}\n",
    "a map merged often": model("layers: 1", "  - fc: &a {" + ", ".join(f"k{i}: 1" for i in range(300)) + "}\n"
                                + ("  - fc: {<<: [" + "*a, " * 60 + "]}\n") * 60),
    "many columns": model("", "    rows: {columns: [" + "nodes, " * 100000 + "], values: [[1]]}\n"),
    "many rows": model("", "    rows: {columns: [nodes, batch], values: [" + "[1, 2], " * 100000 + "]}\n"),
    "a long key": model("k" * 900000 + ": 1"),
    "a long key of its own": "? " + "k" * 900000 + "\n: 1\n" + model(""),
    "a long value": "sweep: " + "x" * 900000 + "\n" + model(""),
    "keys twice": "sweep: x\n" * 100000 + model(""),
    "unknown keys": "".join(f"k{i}: x\n" for i in range(80000)) + model(""),
    "directives": "".join(f"%TAG !a{i}! tag:x\n" for i in range(40000)) + "---\n" + model(""),
    "tags": "models: " + "!a " * 300000,
    "newlines": "\n" * 1000000,
}


NET = ("family: net\nhelp: a network\naxes:\n  width: {default: 8, range: 1..64, help: w}\n  batch: {default: 4, range: 1..64, help: b}\n"
       "inputs:\n  x: {shape: [batch, 16]}\n")
OPS = "ops:\n  - {dense: {out: width}, from: x}\n"
FAMILIES = {
    "a list": NET + "let: {a: [" + "1," * 400000 + "1]}\n" + OPS,
    "values by alias": NET + "let: {a: &a [" + "1," * 1000 + "1], b: [" + "*a," * 20000 + "1]}\n" + OPS,
    "lets": NET + "let:\n" + "".join(f"  a{i}: 1\n" for i in range(50000)) + OPS,
    "axes": NET.replace("inputs:", "".join(f"  w{i}: {{default: 8, range: 1..64, help: w}}\n" for i in range(20000)) + "inputs:") + OPS,
    "words": NET.replace("inputs:", "  k: {default: a0, values: [" + ",".join(f"a{i}" for i in range(9000)) + "], help: h}\ninputs:") + OPS,
    "inputs": NET + "".join(f"  x{i}: {{shape: [batch, 16]}}\n" for i in range(20000)) + OPS,
    "ops": NET + OPS + "  - relu\n" * 100000,
    "layers": NET + OPS + "  - dense: {out: width}\n" * 40000,
    "as many layers as may be": NET + OPS + "  - dense: {out: width}\n" * 6500 + "  - nosuch\n",
    "requirements": NET + "require: [" + "1 == 1," * 100000 + "1]\n" + OPS,
    "as many requirements as may be": NET + "require: [" + "1 == 1," * 30000 + "1 == 2]\n" + OPS,
    "presets": NET + OPS + "presets:\n" + "".join(f"  p{i}: {{width: 8, help: h}}\n" for i in range(20000)),
    "blocks": NET + "blocks:\n" + "".join(f"  b{i}: {{ops: [relu, relu]}}\n" for i in range(20000)) + OPS,
    "parentheses in it": NET + "let: {a: '" + "(" * 2000 + "1" + ")" * 2000 + "'}\n" + OPS,
    "nested lists": NET + "ops: " + "[" * 200000,
    "a long help": NET.replace("a network", "'" + "x" * 900000 + "'") + OPS,
    "rounds": NET + OPS + "  - {relu, repeat: 65536}\n",
    "rounds of nothing": NET + OPS + "  - {ops: [{ops: [{relu, when: width > 100}], repeat: 60000}], repeat: 60000}\n",
    "blocks that double": NET + "blocks:\n  b0: {ops: [relu, relu]}\n" + "".join(f"  b{i}: {{ops: [b{i - 1}, b{i - 1}]}}\n" for i in range(1, 16))
                          + OPS + "  - {b15, repeat: 65536}\n",
    "a large weight list": NET + "let: {a: 1}\n" + OPS + "  - {dense: {out: 'sum([" + "1, " * 1300 + "1])'}, repeat: 300}\n",
}


def sets(*values):
    return ["fc"] + [word for value in values for word in ("--set", value)]


ARGUMENTS = {
    "ids": [f"fc/nodes={i}" for i in range(1, 20000)],
    "an id": ["fc/layers=" + "1" * 120000],
    "a list in an id": ["cnn/blocks=" + "-".join(["3"] * 60000)],
    "keys in an id": ["fc/" + ",".join(["layers=1"] * 12000)],
    "--set many": sets(*["measure.rounds=3"] * 40000),
    "--set keys": sets(*[f"k{i}=1" for i in range(40000)]),
    "--set keys of a map": sets(*[f"measure.k{i}=1" for i in range(30000)]),
    "--set the last of many": ["many.yaml"] + sets(*["models.4999.where=1 < 2"] * 20000)[1:],
    "--set a list": sets("models.0.fc.nodes=[" + "7," * 60000 + "]"),
    "--set aliases": sets("measure=[&a x" + ",*a" * 40000 + "]"),
    "--set nested": sets("measure=" + "[" * 120000),
    "--set a path": sets("a." * 60000 + "b=1"),
    "--set a where": sets("models.0.where=" + "(" * 100000),
    "--set a product": sets("models.0.fc.nodes={from: 1, to: 10000000, plus: 1}"),
    "--set where it multiplies": ["many.yaml"] + sets(*[f"measure.rounds={i}" for i in range(1, 500)])[1:],
}


def limit():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


class Bombs(unittest.TestCase):
    most_kib, most_blocks = 0, 0

    def tearDown(self):
        print(f"most: {self.most_kib / 1024:.0f} MiB, {self.most_blocks / 1e6:.0f} million blocks", file=sys.stderr)

    def resident_kib(self, *arguments):
        with subprocess.Popen([PARADNN, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=QUIET) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_maxrss

    def check(self, name, directory, *arguments, most_kib=MOST_RESIDENT_KIB):
        with subprocess.Popen([PARADNN, "list", *arguments], cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, preexec_fn=limit, env=QUIET) as child:
            errors = child.stderr.read()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.most_kib = max(self.most_kib, usage.ru_maxrss)
        self.assertEqual(child.returncode, 2, errors[-300:])
        self.assertEqual(errors.count(b"\n"), 1, errors[-300:])
        self.assertNotIn(b"memory for", errors)
        if not SANITIZED:
            self.assertLess(usage.ru_maxrss, most_kib)
        counted = subprocess.run([LIST_COUNTED, *arguments], cwd=directory, capture_output=True, env=QUIET, check=False)
        self.assertEqual((counted.returncode, counted.stderr), (2, errors))
        blocks = int(counted.stdout)
        self.most_blocks = max(self.most_blocks, blocks)
        self.assertLess(blocks, MOST_BLOCKS_OF.get(name, MOST_BLOCKS))

    def test_every_family_ends_with_an_error(self):
        base_kib = self.resident_kib("list", "fc")
        with tempfile.TemporaryDirectory() as directory:
            for name, text in FAMILIES.items():
                self.assertLessEqual(len(text), 1 << 20, name)
                with open(os.path.join(directory, "net.yaml"), "w", encoding="utf-8") as file:
                    file.write(text)
                with self.subTest(name):
                    self.check(name, directory, "./net.yaml", most_kib=base_kib + (8 * len(text) >> 10) + (16 << 10))

    def test_every_spec_ends_with_an_error(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in SPECS.items():
                self.assertLessEqual(len(text), 1 << 20, name)
                with open(os.path.join(directory, "bomb.yaml"), "w", encoding="utf-8") as file:
                    file.write(text)
                with self.subTest(name):
                    self.check(name, directory, "bomb.yaml")

    def test_all_arguments_end_with_an_error(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "many.yaml"), "w", encoding="utf-8") as file:
                file.write("---\nmodels: [fc: ]\n" * 5000)
            for name, arguments in ARGUMENTS.items():
                with self.subTest(name):
                    self.check(name, directory, *arguments)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
