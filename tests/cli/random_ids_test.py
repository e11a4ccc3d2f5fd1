#!/usr/bin/env python3
"""No ID that `list` accepts crashes a worker: random, tiny models of every family through `check`.

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
    def draw(self, rng, rows):
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
            if row["name"] in SIZES:
                value = rng.choice(SIZES[row["name"]])
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
            rows = [row for row in table(self.paradnn("families", family, "--format", "csv", expect=0).stdout)
                    if row["kind"] in ("hyper-parameter", "run setting")]
            compared = 0
            for _ in range(EACH):
                name = family + "/" + ",".join(self.draw(rng, rows) + ["threads=1"])
                done = self.paradnn("check", name, "--allow-slow", "--max-flop", "1e9",
                                    env=environment(OMP_WAIT_POLICY="passive"))
                said = done.stdout + done.stderr
                self.assertIn(done.returncode, (0, 1, 2), said)  # 2: it does not parse
                self.assertIsNone(ENDS.search(said), f"{name}: {said}")
                compared += " 1 passed" in " " + done.stderr.replace("\n", " ")
            self.assertGreater(compared, 0, f"{family}: no ID is a model")


if __name__ == "__main__":
    main(1)
