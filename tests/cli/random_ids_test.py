#!/usr/bin/env python3
"""Random, tiny models of every family: no ID that `list` accepts crashes a worker in `check`, and what cannot be a
model says for which key.

Usage: random_ids_test.py PARADNN [TEST...]"""

import os
import random
import re

from program import Case, environment, main, table

FAMILIES = ("fc", "cnn", "rnn", "transformer", "gnmt", "deepspeech2")
EACH = int(os.environ.get("PARADNN_TEST_IDS", "25"))  # of each family
# What takes long even if the numbers are small, and what is about the machine.
LEFT_OUT = ("isa", "threads", "data", "ranks", "cache", "pages", "loaders", "allreduce", "bucket_mb")
SIZES = {"image": (16, 32, 64), "frames": (33, 41)}  # smaller ones fit no window
CONDITIONAL = ("kernel", "stride", "padding", "window", "dense", "stride_on", "shortcut", "pool", "predictions", "target",
               "types", "pooler", "phase", "context")
TINY = (1, 2, 3, 4, 5, 8, 9)
ENDS = re.compile(r"signal|assert|crash|exited with|core dumped|AddressSanitizer", re.I)


class RandomIds(Case):
    def rows_of(self, family):
        return [row for row in table(self.paradnn("families", family, "--format", "csv", expect=0).stdout)
                if row["kind"] in ("hyper-parameter", "run setting")]

    def draw(self, rng, rows, sizes=SIZES):
        """A value for about two of three parameters; sizes are always given, since the defaults are large."""
        parts = []
        for row in rows:
            number = re.search(r"(-?\d+)\.\.(\d+)", row["values"])
            words = [word for word in row["values"].split(", ") if ".." not in word and "list" not in word]
            if row["name"] in LEFT_OUT or not (number or words):
                continue
            if row["kind"] == "run setting" and rng.random() < 0.8:
                continue
            if row["help"].find("training only") >= 0 and rng.random() < 0.5:
                continue
            if row["name"] in CONDITIONAL and rng.random() < 0.7:
                continue
            if row["name"] in sizes:
                value = rng.choice(sizes[row["name"]])
            elif number and (not words or rng.random() < 0.7):
                value = min(max(rng.choice(TINY), int(number[1])), int(number[2]))
            elif rng.random() < 0.4:
                value = rng.choice(words)
            else:
                continue
            parts.append(f"{row['name']}={value}")
        return parts

    def test_no_id_crashes(self):
        rng = random.Random(7)
        for family in FAMILIES:
            rows, compared = self.rows_of(family), 0
            for _ in range(EACH):
                name = family + "/" + ",".join(self.draw(rng, rows) + ["threads=1"])
                done = self.paradnn("check", name, "--allow-slow", "--max-flop", "1e9",
                                    env=environment(OMP_WAIT_POLICY="passive"))
                said = done.stdout + done.stderr
                self.assertIn(done.returncode, (0, 1, 2), said)  # 2: it does not parse
                self.assertIsNone(ENDS.search(said), f"{name}: {said}")
                compared += " 1 passed" in " " + done.stderr.replace("\n", " ")
            self.assertGreater(compared, 0, f"{family}: no ID is a model")

    def test_what_does_not_fit_names_its_key(self):
        rng = random.Random(11)
        invalid = {}
        for family in FAMILIES:
            rows = [row for row in self.rows_of(family) if row["kind"] == "hyper-parameter"]
            for _ in range(3 * EACH):
                name = family + "/" + ",".join(self.draw(rng, rows, {}) + ["threads=1"])
                done = self.paradnn("list", name)
                if done.returncode and "does not apply" not in done.stderr:
                    said = done.stderr.split(name + ": ")[-1]
                    self.assertRegex(said, rf"\b({'|'.join(row['name'] for row in rows)})=", f"{name}: {said}")
                    invalid[family] = invalid.get(family, 0) + 1
        self.assertEqual(sorted(invalid), ["cnn", "deepspeech2", "transformer"])  # those whose keys depend on each other


if __name__ == "__main__":
    main(1)
