#!/usr/bin/env python3
"""Where things are in pictures of tables that are hard to draw (hard_tables.py): texts inside the picture, apart from each other and
from marks, with room for the bars.

Usage: geometry_test.py PARADNN"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
import drawn  # pylint: disable=wrong-import-position
import hard_tables  # pylint: disable=wrong-import-position

PARADNN = os.path.abspath(sys.argv[1])

class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def draw(self, table, *arguments):
        path = hard_tables.write(self.directory, table)
        done = subprocess.run([PARADNN, "plot", arguments[0], path, *arguments[1:], "--format", "svg"], cwd=self.directory,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        with open(os.path.join(self.directory, done.stdout.strip()), encoding="utf-8") as file:
            return drawn.Picture(file.read())

    def check_texts(self, picture):
        self.assertEqual(picture.collisions(), [])


class Rooflines(Case):
    CASES = [(table, color) for table in ("above", "far", "left", "low") for color in ("bound", "host", "nodes")]

    def test_texts_are_apart(self):
        for table, color in self.CASES:
            with self.subTest(table=table, color=color):
                self.check_texts(self.draw(table, "roofline", "--color", color))

    def test_a_legend_without_room_is_counted(self):
        texts = [text.name for text in self.draw("low", "roofline", "--color", "host").texts]
        hosts = [text for text in texts if text.startswith("compute-node-")]
        more = [int(text.split()[1]) for text in texts if re.fullmatch(r"and \d+ more", text)]
        others = [int(text.split()[0]) for text in texts if re.fullmatch(r"\d+ others", text)]
        self.assertEqual(len(hosts) + sum(more) + sum(others), 40)


class Bars(Case):
    def check_bars(self, table, count, *arguments):
        picture = self.draw(table, "breakdown", *arguments)
        self.check_texts(picture)
        times = [text for text in picture.texts if re.fullmatch(r"~?[\d.]+ (ns|us|ms|s)", text.name)]
        self.assertEqual(len(times), count)
        # The parts of the bar below each time.
        for time in times:
            parts = [bar for bar in picture.bars if bar[0] < time.x < bar[2] and bar[3] - bar[1] > 1]
            height = max(bar[3] for bar in parts) - min(bar[1] for bar in parts)
            self.assertGreater(height, 300)
            self.assertLess(time.y, min(bar[1] for bar in parts))
        return [text.name for text in picture.texts]

    def test_many_bars_keep_room_and_show_times(self):
        for table, count in (("bars8", 8), ("bars24", 24), ("bars60", 60)):
            for arguments in (["--by", "category"], ["--by", "layer,op,category"], ["--by", "category", "--across", "batch"]):
                with self.subTest(table=table, arguments=arguments):
                    self.check_bars(table, count, *arguments)

    def test_names_are_what_differs_and_whole(self):
        """With their keys, and without those that follow from the ones before: filters, image and batch from block and blocks."""
        texts = self.check_bars("bars24", 24, "--by", "category")
        names = [text for text in texts if text.startswith("block=")]
        self.assertEqual(len(set(names)), 24)
        for name in names:
            self.assertRegex(name, r"^block=(residual|bottleneck),blocks=[\d-]+,shortcut=(projection|identity),mode=(infer|train),fuse=(none|post-ops)$")

    def test_names_too_long_say_what_is_unusual(self):
        """Of nine keys, each of which one bar changes: the caption has the others."""
        keys = [f"a_rather_long_key_{k}" for k in range(9)]
        path = os.path.join(self.directory, "unusual")
        os.mkdir(path)
        with open(os.path.join(path, "results.csv"), "w", encoding="utf-8") as results, open(os.path.join(path, "ops.csv"), "w", encoding="utf-8") as ops:
            results.write(f"id,family,{','.join(keys)},threads,status,time_ns_median\n")
            ops.write(hard_tables.OPS_HEADER)
            for n in range(10):
                results.write(f"m{n},fc,{','.join('2' if k == n else '1' for k in range(9))},1,ok,1000\n")
                ops.write(f"m{n},0,l,dense,linear gemm,forward,x,1,1,1,1,900,1,1,compute,50\n")
        done = subprocess.run([PARADNN, "plot", "breakdown", path, "--format", "svg", "-o", "/dev/stdout"], capture_output=True, text=True, check=True)
        picture = drawn.Picture(done.stdout)
        self.check_texts(picture)
        texts = " ".join(text.name for text in picture.texts)
        self.assertEqual([text.name for text in picture.texts if text.name.endswith("..")], [])
        for name in ("the usual values", *(f"{key}=2" for key in keys), f"{keys[0]}=1", "unless stated otherwise"):
            self.assertIn(name, texts)

    def test_a_width_is_kept(self):
        """Bars get narrower, down to what their names need; then the least width is said."""
        for table, width, count in (("bars8", "85mm", 8), ("bars24", "120mm", 24), ("bars60", "200mm", 60)):
            with self.subTest(table=table):
                picture = self.draw(table, "breakdown", "--by", "category", "--width", width, "--font-size", "8")
                self.check_texts(picture)
                self.assertAlmostEqual(picture.width * 8 / 11.25, float(width[:-2]) * 96 / 25.4, delta=0.3)
                self.assertEqual(len([text for text in picture.texts if re.fullmatch(r"~?[\d.]+ (ns|us|ms|s)", text.name)]), count)
        path = hard_tables.write(self.directory, "bars60")
        done = subprocess.run([PARADNN, "plot", "breakdown", path, "--width", "85mm", "--font-size", "8"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"it takes --width 1\d\dmm\n")

    def test_a_long_legend_is_counted(self):
        texts = self.check_bars("groups", 6, "--by", "group,pass,layer")
        more = [int(text.split()[1]) for text in texts if re.fullmatch(r"and \d+ more", text)]
        self.assertEqual(len(more), 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
