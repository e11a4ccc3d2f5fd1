#!/usr/bin/env python3
"""The node tests of ONNX itself, of the package libonnx-testdata: each network that is read computes the test's results from the test's inputs, or is in
the golden file as one whose numbers differ, as doc/onnx.md says. Those that are not read are counted by reason. Usage: onnx_nodes_test.py NODES GOLDEN
[--update]; NODES is the test program onnx_nodes."""

import collections
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from program import needs

DATA = "/usr/share/libonnx-testdata/data/node"
# What is said of networks, and the reason that it is counted as.
REASONS = [("expected 11 to", "another opset"), ("not a tensor", "sequences and maps"), ("no tensors", "sequences and maps"), ("integers alone", "integers, or texts, alone"), ("is not read", "an operator that is not read"),
           ("no operator of a family", "what no operator of a family does"), ("constant", "results that are inputs or constant"),
           ("computes nothing", "results that are inputs or constant"), ("", "shapes, and others")]


def main():
    nodes, golden = sys.argv[1], os.path.join(sys.argv[2], "nodes.txt")
    if not os.path.isdir(DATA):
        needs.say("libonnx-testdata")
        return needs.SKIPPED
    names = sorted(name for name in os.listdir(DATA) if os.path.exists(os.path.join(DATA, name, "model.onnx")))
    done = subprocess.run([nodes] + [os.path.join(DATA, name) for name in names], capture_output=True, text=True, check=True)
    found = dict(line.split("\t") for line in done.stdout.splitlines())
    run = {name: said.split(":")[0] for name, said in found.items() if not said.startswith("refused")}
    reasons = collections.Counter(next(reason for words, reason in REASONS if words in said) for name, said in found.items() if name not in run)
    print(f"{len(names)} tests: {sum(said == 'same' for said in run.values())} compute the same")
    print("".join(f"{count:5} not run: {reason}\n" for reason, count in reasons.most_common()), end="")
    if "--update" in sys.argv:
        with open(golden, "w", encoding="ascii") as file:
            file.write("".join(f"{name} {said}\n" for name, said in sorted(run.items())))
        return 0
    with open(golden, encoding="ascii") as file:
        expected = dict(line.split() for line in file)
    wrong = [f"{name}: {found[name]}, expected {said}" for name, said in expected.items() if name in found and run.get(name) != said]
    wrong += [f"{name}: {found[name]}, and not in {os.path.basename(golden)}" for name, said in run.items() if name not in expected and said != "same"]
    known = set(expected) & set(found)
    if len(known) < len(expected) // 2:
        wrong.append(f"only {len(known)} of {len(expected)} tests are there")
    print("\n".join(wrong))
    return 1 if wrong or len(found) != len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
