"""What a picture of paradnn's shows, read from its SVG: texts with the room they take, points with their rows, bars."""

import math
import re
import xml.etree.ElementTree as ElementTree

# Widths of letters in Helvetica, in thousandths of the font's size.
WIDTHS = {}
for letters, width in (("ijl'", 222), (" .,:;/\\ftI!", 278), ("()r-`", 333), ('"', 355), ("*", 389), ("ckvxyszJ", 500),
                       ("abdeghnopqu_0123456789L$#?", 556), ("=~+<>", 584), ("FTZ", 611), ("ABEKPSVXY", 667), ("CDHNRUw", 722),
                       ("GOQ", 778), ("mM", 833), ("%", 889), ("W", 944)):
    WIDTHS.update((letter, width) for letter in letters)


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


def rows_of(text):
    """The rows of a series' points: "0-3 7"."""
    ends = [[int(end) for end in part.split("-")] for part in text.split()]
    return [row for part in ends for row in range(part[0], part[-1] + 1)]


class Picture:
    def __init__(self, text):
        root = ElementTree.fromstring(text)
        self.width, self.height = (float(size) for size in root.get("viewBox").split()[2:])
        self.texts, self.points, self.bars, self.levels, self.rows, self.radius = [], [], [], [], [], {}
        self.walk(root, {})

    def walk(self, element, inherited):
        tag = element.tag.split("}")[-1]
        style = {**inherited, **element.attrib}
        if tag == "defs":
            return
        if tag == "text" and "".join(element.itertext()).strip():
            self.texts.append(self.box_of("".join(element.itertext()).strip(), style))
        if tag == "marker":
            radius = max(abs(float(number)) for number in re.findall(r"-?[\d.]+", element[0].get("r") or element[0].get("d")))
            self.radius[element.get("id")] = radius
            return
        if tag == "path" and element.get("marker-end"):
            radius = self.radius[element.get("marker-end")[5:-1]]
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", element.get("d"))]
            boxes = [Box(x, y, radius, radius, 0, f"point at {x}, {y}") for x, y in zip(numbers[::2], numbers[1::2])]
            self.points += boxes
            if element.get("data-rows"):
                self.rows += list(zip(rows_of(element.get("data-rows")), boxes))
        rectangle = re.fullmatch(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H[\d.]+Z", element.get("d", ""))
        if rectangle and element.get("fill") not in ("none", "#ffffff"):
            left, bottom, right, top = (float(number) for number in rectangle.groups())
            self.bars.append((left, top, right, bottom))
        level = re.fullmatch(r"M([\d.]+) ([\d.]+)H([\d.]+)", element.get("d", ""))
        if level and element.get("stroke-width") == "2":
            left, y, right = (float(number) for number in level.groups())
            self.levels.append(Box((left + right) / 2, y, (right - left) / 2, 1, 0, f"level line at {y}"))
        for child in element:
            self.walk(child, style)

    @staticmethod
    def box_of(text, style):
        x, size = float(style["x"]), float(style["font-size"])
        y = float(style["y"]) - 0.35 * size  # its middle
        rotated = re.search(r"rotate\(([-\d.]+) ([-\d.]+) ([-\d.]+)\)", style.get("transform", ""))
        angle = math.radians(float(rotated.group(1))) if rotated else 0
        if rotated:
            x, y = float(rotated.group(2)), float(rotated.group(3))
        width = sum(WIDTHS.get(letter, 667) for letter in text) * size / 1000
        middle = {"start": width / 2, "middle": 0, "end": -width / 2}[style.get("text-anchor", "start")]
        return Box(x + middle * math.cos(angle), y + middle * math.sin(angle), width / 2, 0.36 * size, angle, text)

    def collisions(self):
        """Texts that leave the picture, or touch each other, a point or a level line, such as a roof."""
        found = []
        for i, text in enumerate(self.texts):
            across, down = text.reach((1, 0)), text.reach((0, 1))
            if not (text.x - across > -1 and text.x + across < self.width + 1 and text.y - down > -1 and text.y + down < self.height + 1):
                found.append(f"'{text.name}' leaves the picture")
            found += [f"'{text.name}' touches '{other.name}'" for other in self.texts[:i] if text.overlaps(other)]
            found += [f"'{text.name}' touches a {mark.name}" for mark in self.points + self.levels if text.overlaps(mark, 2.0)]
        return found
