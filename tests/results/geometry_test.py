#!/usr/bin/env python3
"""Where things are in pictures of tables that are hard to draw (hard_tables.py): texts inside the picture, apart from each other and
from marks, with room for the bars. Positions are those of the SVG; texts have the size that they have in the PNG, which is larger.

Usage: geometry_test.py PARADNN"""

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
import hard_tables  # pylint: disable=wrong-import-position
import needs  # pylint: disable=wrong-import-position

PARADNN = os.path.abspath(sys.argv[1])

# Widths of letters in DejaVu Sans, in thousandths of the font's size.
WIDTHS = {}
for letters, width in (("ijlI", 278), (" .,", 318), ("/:;", 337), ("f", 352), ("-", 361), ("()t", 391), ("r", 411), ("_", 500), ("sz", 523),
                       ("cFL", 560), ("vxyk", 592), ("aoeP", 614), ("bdghnpquTYE0123456789", 636), ("SBRAVXZK", 690), ("C", 698),
                       ("HNUDG", 765), ("OQ", 787), ("w", 818), ("=~+<>", 838), ("M", 863), ("%", 950), ("mW", 985)):
    WIDTHS.update((letter, width) for letter in letters)
PNG_SCALE = 4 / 3  # a point of the font in pixels
HINTED = 0.975  # letters are set a little closer than that, as measured


class Box:
    """A rectangle that may be rotated: its middle, half its sides, and the direction of its longer side."""

    def __init__(self, x, y, half_width, half_height, angle, name):
        self.x, self.y, self.sides, self.name = x, y, (half_width, half_height), name
        self.axes = ((math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle)))

    def reach(self, direction):
        """Half the length of its shadow on a direction."""
        return sum(side * abs(axis[0] * direction[0] + axis[1] * direction[1]) for side, axis in zip(self.sides, self.axes))

    def overlaps(self, other, slack=1.0):
        return all(abs((other.x - self.x) * d[0] + (other.y - self.y) * d[1]) < self.reach(d) + other.reach(d) - slack
                   for d in self.axes + other.axes)


class Picture:
    def __init__(self, path):
        root = ElementTree.parse(path).getroot()
        self.width, self.height = (float(size) for size in root.get("viewBox").split()[2:])
        self.texts, self.points, self.bars = [], [], []
        self.walk(root, {})

    def walk(self, element, inherited):
        tag = element.tag.split("}")[-1]
        style = {**inherited, **element.attrib}
        if tag == "defs":
            return
        if tag == "text" and "".join(element.itertext()).strip():
            self.texts.append(self.box_of("".join(element.itertext()).strip(), style))
        if tag == "use":
            self.points.append(self.point_of(element))
        if tag == "polygon":
            corners = [tuple(float(number) for number in pair.split(",")) for pair in element.get("points").split()]
            xs, ys = zip(*corners)
            self.bars.append((min(xs), min(ys), max(xs), max(ys)))
        for child in element:
            self.walk(child, style)

    @staticmethod
    def box_of(text, style):
        x, y = (float(number) for number in re.search(r"translate\(([-\d.]+),([-\d.]+)\)", style["transform"]).groups())
        rotated = re.search(r"rotate\(([-\d.]+)", style["transform"])
        angle = math.radians(float(rotated.group(1))) if rotated else 0
        size = float(style["font-size"]) * PNG_SCALE
        width = sum(WIDTHS.get(letter, 640) for letter in text) * size * HINTED / 1000
        middle = {"start": width / 2, "middle": 0, "end": -width / 2}[style.get("text-anchor", "start")]
        up = -0.25 * float(style["font-size"])  # from the base line
        return Box(x + middle * math.cos(angle) - up * math.sin(angle), y + middle * math.sin(angle) + up * math.cos(angle),
                   width / 2, 0.36 * size, angle, text)

    @staticmethod
    def point_of(element):
        x, y, size = re.search(r"translate\(([-\d.]+),([-\d.]+)\) scale\(([-\d.]+)", element.get("transform")).groups()
        return Box(float(x), float(y), 0.7 * float(size), 0.7 * float(size), 0, f"point at {x}, {y}")


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def draw(self, table, *arguments):
        path = hard_tables.write(self.directory, table)
        done = subprocess.run([PARADNN, "plot", arguments[0], path, *arguments[1:], "--format", "svg"], cwd=self.directory,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        return Picture(os.path.join(self.directory, done.stdout.strip()))

    def check_texts(self, picture):
        for i, text in enumerate(picture.texts):
            across, down = text.reach((1, 0)), text.reach((0, 1))
            inside = text.x - across > -1 and text.x + across < picture.width + 1 and text.y - down > -1 and text.y + down < picture.height + 1
            self.assertTrue(inside, f"'{text.name}' leaves the picture")
            for other in picture.texts[:i]:
                self.assertFalse(text.overlaps(other), f"'{text.name}' touches '{other.name}'")
            for point in picture.points:
                self.assertFalse(text.overlaps(point, 2.0), f"'{text.name}' touches a {point.name}")


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
        texts = self.check_bars("bars24", 24, "--by", "category")
        names = [text for text in texts if re.match(r"(residual|bottleneck) [\d-]+ \d+ ", text)]
        self.assertEqual(len(names), 24)
        self.assertEqual([name for name in names if ".." in name], [])
        keys = "block blocks filters image batch shortcut mode fuse algorithm"
        self.assertIn(keys, texts)
        self.assertEqual({len(name.split()) for name in names}, {len(keys.split())})

    def test_a_long_legend_is_counted(self):
        texts = self.check_bars("groups", 6, "--by", "group,pass,layer")
        more = [int(text.split()[1]) for text in texts if re.fullmatch(r"and \d+ more", text)]
        self.assertEqual(len(more), 1)


if __name__ == "__main__":
    if needs.missing("gnuplot"):
        sys.exit(needs.SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
