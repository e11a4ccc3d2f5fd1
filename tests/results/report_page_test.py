#!/usr/bin/env python3
"""The report in a browser: Chromium, driven through chromedriver (Debian packages chromium and chromium-driver). Skips where
they are missing. Usage: report_page_test.py PARADNN [--keep DIRECTORY]   (keeps screenshots there)"""

import base64
import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

PARADNN = sys.argv.pop(1)
KEEP = sys.argv.pop(sys.argv.index("--keep") + 1) if "--keep" in sys.argv else None
sys.argv = [argument for argument in sys.argv if argument != "--keep"]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "results", "examples")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """As much of WebDriver as the tests need."""

    def __init__(self, profile):
        self.port = free_port()
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                            "--window-size=1200,900"], "binary": shutil.which("chromium")}
        while not self.answers():
            if self.driver.poll() is not None:
                raise RuntimeError(f"chromedriver ended with {self.driver.returncode}")
            time.sleep(0.01)
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}}
        self.session = self.ask("POST", "/session", wanted)["sessionId"]

    def answers(self):
        try:
            self.ask("GET", "/status")
        except OSError:
            return False
        return True

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["value"]

    def post(self, path, body):
        return self.ask("POST", f"/session/{self.session}{path}", body)

    def open(self, url):
        self.post("/url", {"url": "about:blank"})
        self.post("/url", {"url": url})

    def run(self, script, *arguments):
        return self.post("/execute/sync", {"script": script, "args": list(arguments)})

    def log(self, kind):
        return self.post("/se/log", {"type": kind})

    def pointer(self, *actions):
        self.post("/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": list(actions)}]})

    def key(self, letter):
        self.post("/actions", {"actions": [{"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": letter}, {"type": "keyUp", "value": letter}]}]})

    def chromium(self, command, **parameters):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def close(self):
        self.ask("DELETE", f"/session/{self.session}")
        self.driver.terminate()
        self.driver.wait()


def pdf_text(data):
    """The text of a PDF that Chromium wrote. Fonts are subsets whose glyphs the ToUnicode tables give back."""
    objects = {int(number): body for number, body in re.findall(rb"(?:^|\n)(\d+) 0 obj\n(.*?)\nendobj", data, re.S)}

    def stream(number):
        body = objects[int(number)]
        start, length = re.search(rb"stream\r?\n", body).end(), int(re.search(rb"/Length (\d+)", body).group(1))
        packed = body[start : start + length]
        return zlib.decompress(packed) if b"/FlateDecode" in body else packed

    def letters(font):
        table, found = stream(re.search(rb"/ToUnicode (\d+) 0 R", objects[int(font)]).group(1)), {}
        for block in re.findall(rb"beginbfchar(.*?)endbfchar", table, re.S):
            found.update((int(glyph, 16), bytes.fromhex(text.decode()).decode("utf-16-be")) for glyph, text in re.findall(rb"<(\w+)> <(\w+)>", block))
        for block in re.findall(rb"beginbfrange(.*?)endbfrange", table, re.S):
            for first, last, text in re.findall(rb"<(\w+)> <(\w+)> <(\w+)>", block):
                found.update((glyph, chr(int(text, 16) + glyph - int(first, 16))) for glyph in range(int(first, 16), int(last, 16) + 1))
        return found

    text = []
    for body in objects.values():
        if re.search(rb"/Type /Page\b", body):
            fonts = {name: letters(font) for name, font in re.findall(rb"/(F\d+) (\d+) 0 R", body)}
            font = {}
            for name, glyphs in re.findall(rb"/(F\d+) [\d.]+ Tf|<(\w+)>", stream(re.search(rb"/Contents (\d+) 0 R", body).group(1))):
                font = fonts[name] if name else font
                text += [font.get(int(glyphs[i : i + 4], 16), "") for i in range(0, len(glyphs), 4)]
    return "".join(text)


def move(x, y):
    return {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}


NUMBERS = ("time_ns_median", "ci_low_ns", "ci_high_ns", "gflops", "intensity_flop_per_byte", "pct_of_roof")
CAPTION = "return document.querySelector('#table caption').textContent"
ROWS = "return [...document.querySelectorAll('#table tbody tr')].map(tr => [...tr.cells].map(cell => cell.textContent))"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.browser = Browser(os.path.join(cls.place.name, "profile"))
        cls.page = os.path.join(cls.place.name, "page.html")
        cls.two = os.path.join(cls.place.name, "two.html")
        example = os.path.join(EXAMPLES, "zen5-2-cores")
        subprocess.run([PARADNN, "report", example, "-o", cls.page], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([PARADNN, "report", example, os.path.join(EXAMPLES, "zen3-2-cores"), "-o", cls.two], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.place.cleanup()

    def setUp(self):
        self.browser.open(f"file://{self.page}")

    def tearDown(self):
        self.assertEqual([entry["message"] for entry in self.browser.log("browser")], [])

    def screenshot(self, name):
        if KEEP:
            metrics = self.browser.chromium("Page.getLayoutMetrics")["cssContentSize"]
            shot = self.browser.chromium("Page.captureScreenshot", captureBeyondViewport=True,
                                         clip={"x": 0, "y": 0, "width": metrics["width"], "height": metrics["height"], "scale": 1})
            with open(os.path.join(KEEP, name + ".png"), "wb") as file:
                file.write(base64.b64decode(shot["data"]))

    def facet(self, name, value):
        self.browser.run("document.querySelector(`input[data-facet=\"${arguments[0]}\"][value=\"${arguments[1]}\"]`).click()", name, value)

    def test_facets_narrow_table_and_picture(self):
        self.assertIn("30 of 30 models", self.browser.run(CAPTION))
        self.facet("mode", "train")
        self.assertIn("15 of 30 models", self.browser.run(CAPTION))
        self.assertTrue(all("mode=infer" in row[0] for row in self.browser.run(ROWS)))
        self.assertEqual((self.points(":not(.faded)"), self.points(".faded")), (15, 15))
        self.facet("mode", "train")
        self.assertEqual((self.points(":not(.faded)"), self.points(".faded")), (30, 0))

    def points(self, css, figure="roofline"):
        return self.browser.run("return [...document.querySelectorAll(`figure.${arguments[0]} path[data-rows]${arguments[1]}`)].reduce((n, p) => n + "
                                "(p.getAttribute('d').match(/-?[\\d.]+/g) || []).length / 2, 0)", figure, css)

    def test_the_address_keeps_the_view(self):
        self.facet("mode", "train")
        self.browser.run("document.querySelectorAll('#table th button')[1].click()")
        address, rows = self.browser.run("return location.href"), self.browser.run(ROWS)
        self.browser.open(address)
        self.assertEqual(self.browser.run(ROWS), rows)
        self.browser.run("document.getElementById('reset').click()")
        self.assertIn("30 of 30 models", self.browser.run(CAPTION))

    def test_sorting_by_time(self):
        times = "return [...document.querySelectorAll('#table tbody tr')].map(tr => JSON.parse(document.getElementById('data').textContent).time_ns[tr.dataset.row])"
        self.browser.run("document.querySelectorAll('#table th button')[1].click()")
        ascending = self.browser.run(times)
        self.assertEqual(ascending, sorted(ascending))
        self.browser.run("document.querySelectorAll('#table th button')[1].click()")
        self.assertEqual(self.browser.run(times), sorted(ascending, reverse=True))
        self.assertEqual(self.browser.run("return document.querySelectorAll('#table th')[1].getAttribute('aria-sort')"), "descending")

    def frame(self):
        self.browser.run("document.querySelector('figure.roofline svg').scrollIntoView({block: 'center'})")
        return self.browser.run("const r = document.querySelector('figure.roofline svg').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")

    def test_brush(self):
        left, top, width, height = self.frame()
        self.browser.pointer(move(left + 0.45 * width, top + 0.2 * height), {"type": "pointerDown", "button": 0},
                             move(left + 0.6 * width, top + 0.5 * height), move(left + 0.7 * width, top + 0.8 * height), {"type": "pointerUp", "button": 0})
        rows = self.browser.run(ROWS)
        self.assertTrue(0 < len(rows) < 30)
        low = float(self.browser.run("return document.querySelector('#filters input[type=number]').value"))
        for row in self.browser.run("const d = JSON.parse(document.getElementById('data').textContent); return "
                                    "[...document.querySelectorAll('#table tbody tr')].map(tr => d.intensity[tr.dataset.row])"):
            self.assertGreaterEqual(row, low * 0.999)
        self.assertIn("r.x=", self.browser.run("return location.hash"))

    def spot(self, index):
        """Where the point of a series of the roofline stands in the window, and the line of the picture's table that it has."""
        return self.browser.run(
            "const path = document.querySelectorAll('figure.roofline path[data-rows]:not(.faded)')[arguments[0]], svg = path.closest('svg');"
            "svg.scrollIntoView({block: 'center'}); const [x, y] = path.getAttribute('d').match(/-?[\\d.]+/g).map(Number);"
            "const p = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()); return [p.x, p.y, parseInt(path.dataset.rows)]", index)

    def test_range_by_keyboard(self):
        self.browser.run("const e = document.querySelector('#filters input[type=number]'); e.value = 1; e.dispatchEvent(new Event('change'))")
        self.assertTrue(0 < len(self.browser.run(ROWS)) < 30)

    def test_an_open_range_and_the_focus_survive(self):
        self.browser.run("const e = document.querySelector('#filters input[type=number]'); e.focus(); e.value = 1; e.dispatchEvent(new Event('change'))")
        self.assertEqual(self.browser.run("return document.activeElement.dataset.key"), "r.x0")
        address, rows = self.browser.run("return location.href"), self.browser.run(ROWS)
        self.browser.open(address)
        self.assertEqual(self.browser.run(ROWS), rows)

    def test_a_strange_address_does_no_harm(self):
        self.browser.open(f"file://{self.page}#?f.mode=%3D%25zz&sort=constructor&page=-3&r.x=a~b&color=nothing")
        self.assertIn("0 of 30 models", self.browser.run(CAPTION))

    def test_exact_values_on_hover_and_by_keyboard(self):
        data = subprocess.run([PARADNN, "plot", "roofline", os.path.join(EXAMPLES, "zen5-2-cores"), "--format", "csv"], check=True, capture_output=True, text=True)
        models = [line["name"] for line in csv.DictReader(data.stdout.splitlines())]
        for index in (1, 0):
            x, y, line = self.spot(index)
            self.browser.pointer(move(x, y))
            tip = self.browser.run("const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent")
            self.assertEqual(tip.split("\n")[1], models[line])
            self.assertIn(tip.split("\n")[0].split(",")[0], models[line])  # the name before the id: what varies
            self.assertIn("95 % interval", tip)
            self.assertIn("GFLOP/s at", tip)
            ring = self.browser.run("const r = document.querySelector('figure.roofline .ring').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]")
            self.assertLess(max(abs(ring[0] - x), abs(ring[1] - y)), 1.5)
        self.assertEqual(self.browser.run("return document.querySelectorAll('tr.chosen').length"), 1)
        self.browser.run("document.querySelector('#table tbody tr').focus()")
        self.browser.key("\ue015")
        self.assertEqual(self.browser.run("return document.activeElement.dataset.row"), "1")

    def test_clicking_a_point_shows_its_row(self):
        x, y, _ = self.spot(0)
        self.browser.pointer(move(x, y), {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})
        self.assertIsNotNone(self.browser.run("return document.activeElement.dataset.row || null"))

    def test_download(self):
        self.facet("mode", "train")
        text = self.browser.run("let kept; const make = URL.createObjectURL; URL.createObjectURL = blob => { kept = blob; return make(blob); };"
                                "HTMLAnchorElement.prototype.click = () => {}; document.getElementById('csv').click(); return kept.text()")
        lines = text.splitlines()
        self.assertEqual(len(lines), 16)
        shown = list(csv.DictReader(lines))
        with open(os.path.join(EXAMPLES, "zen5-2-cores", "results.csv"), newline="", encoding="utf-8") as file:
            rows = {line["id"]: line for line in csv.DictReader(file)}
        for line in shown:
            self.assertEqual({name: float(line[name]) for name in NUMBERS}, {name: float(rows[line["id"]][name]) for name in NUMBERS})

    def test_nothing_is_requested(self):
        self.browser.log("performance")
        self.browser.open(f"file://{self.two}")
        requests = [json.loads(entry["message"])["message"] for entry in self.browser.log("performance")]
        urls = [message["params"]["request"]["url"] for message in requests if message["method"] == "Network.requestWillBeSent"]
        self.assertEqual([url for url in urls if not url.startswith(("file://" + self.two, "about:", "data:"))], [])

    def test_light_dark_printed_and_on_a_phone(self):
        background = "return getComputedStyle(document.body).backgroundColor"
        light = self.browser.run(background)
        self.screenshot("light")
        self.browser.run("document.getElementById('theme').click()")
        self.assertNotEqual(self.browser.run(background), light)
        self.screenshot("dark")
        self.browser.chromium("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.browser.run(background), "rgb(255, 255, 255)")
        self.assertEqual(self.browser.run("return getComputedStyle(document.getElementById('filters')).display"), "none")
        self.screenshot("printed")
        self.browser.chromium("Emulation.setEmulatedMedia", media="")
        self.browser.chromium("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 390)
        self.screenshot("phone")
        self.browser.chromium("Emulation.clearDeviceMetricsOverride")

    def test_pictures_follow_the_dark_page(self):
        """Their paper and inks are the page's, and what stands on colors keeps its own."""
        color = "const e = document.querySelector(arguments[0]); return getComputedStyle(e)[arguments[1]]"
        paper, ink = ("figure.roofline svg > path[fill='#ffffff']", "fill"), ("figure.roofline svg > text:not([fill])", "fill")
        self.browser.run("document.documentElement.dataset.theme = 'light'")
        self.assertEqual((self.browser.run(color, *paper), self.browser.run(color, *ink)), ("rgb(255, 255, 255)", "rgb(26, 26, 26)"))
        on_colors = self.browser.run(color, "figure.heatmap svg > text[fill='#ffffff']", "fill")
        box = ("figure.boxes svg > path[fill='#9ecae1']", "fill")
        self.assertEqual(self.browser.run(color, *box), "rgb(158, 202, 225)")
        self.browser.run("document.documentElement.dataset.theme = 'dark'")
        self.assertEqual((self.browser.run(color, *paper), self.browser.run(color, *ink)), ("rgb(22, 22, 22)", "rgb(232, 232, 230)"))
        self.assertEqual(self.browser.run(color, "figure.heatmap svg > text[fill='#ffffff']", "fill"), on_colors)
        self.assertEqual(self.browser.run(color, *box), "rgb(47, 95, 128)")  # the median's line is light
        self.assertEqual(self.browser.run(color, "figure.roofline svg > path[stroke='#555555']", "stroke"), "rgb(176, 176, 172)")
        self.assertEqual(self.browser.run(color, "figure svg", "userSelect"), "none")

    def tips(self, page):
        """The kind of each picture with points, and what is said at the first of them."""
        self.browser.open(f"file://{page}")
        with_points = "[...document.querySelectorAll('figure')].filter(f => f.querySelector('path[data-rows]'))"
        for index, kind in enumerate(self.browser.run(f"return {with_points}.map(f => f.className)")):
            x, y = self.browser.run(
                f"const path = {with_points}[arguments[0]].querySelector('path[data-rows]:not(.faded)'), svg = path.closest('svg');"
                "const [x, y] = path.getAttribute('d').match(/-?[\\d.]+/g).map(Number), at = () => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());"
                "scrollBy(0, at().y - innerHeight / 2); return [at().x, at().y]", index)
            self.browser.pointer(move(x, y))
            yield kind, self.browser.run("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.textContent")

    def test_every_point_says_what_it_is(self):
        """A model of the page, or what the picture's table has of it."""
        for kind, text in self.tips(self.two):
            self.assertIn("kind: beyond" if kind == "boxes" else "GFLOP/s at ", text, kind)
        named = os.path.join(self.place.name, "named")
        os.mkdir(named)
        with open(os.path.join(named, "results.csv"), "w", encoding="utf-8") as file:
            file.write("id,family,batch,mode,threads,status,time_ns_median,params,pct_of_peak\n" + "".join(
                f"fc{n},fc,{n},infer,1,ok,1000,{n},{n * n}\n" for n in range(1, 8)) + "rnn1,rnn,1,infer,1,crash,,,\nrnn2,rnn,2,infer,1,ok,1000,1,1\n" + "".join(
                f'"{name},batch={n}",cnn,{n},infer,1,ok,1000,{n},{n * 10}\n' for n in range(1, 5) for name in ("cnn:resnet50", "cnn:resnet101")))
        page = os.path.join(self.place.name, "named.html")
        subprocess.run([PARADNN, "report", named, "-o", page], check=True, stdout=subprocess.DEVNULL)
        said = dict(self.tips(page))
        self.assertEqual(said["boxes"].splitlines()[:4], ["family: fc", "kind: beyond", "name: fc1", "instances: 1"])
        self.assertIn("Its numbers", self.browser.run("return document.querySelector('figure.boxes + details').textContent"))
        self.assertNotIn("beyond", self.browser.run("return document.querySelector('figure.boxes + details').textContent"))

    def test_dragging_selects_no_text(self):
        """From the middle of every picture to its corner and past it, and of the page's text it still does."""
        self.browser.open(f"file://{self.two}")
        self.browser.run("document.querySelectorAll('details').forEach(details => details.open = true)")
        drag = ("const r = document.querySelectorAll(arguments[0])[arguments[1]].getBoundingClientRect();"
                "scrollBy(0, r.top - 80); const t = document.querySelectorAll(arguments[0])[arguments[1]].getBoundingClientRect();"
                "return [Math.min(t.left + t.width * arguments[2], innerWidth - 5), Math.min(t.top + Math.min(t.height, 700) * arguments[3], innerHeight - 5)]")
        def selected(what, index, start, end):
            self.browser.run("getSelection().removeAllRanges()")
            places = [self.browser.run(drag, what, index, *place) for place in (start, end)]
            self.browser.pointer(move(*places[0]), {"type": "pointerDown", "button": 0}, move(*places[1]), {"type": "pointerUp", "button": 0})
            return self.browser.run("return getSelection().toString()")
        for index in range(self.browser.run("return document.querySelectorAll('figure svg').length")):
            for end in ((0.95, 0.95), (0.5, 1.05)):
                self.assertEqual(selected("figure svg", index, (0.3, 0.3), end), "", index)
        self.assertNotEqual(selected("section p", 0, (0.05, 0.3), (0.6, 0.7)), "")

    def test_without_its_script(self):
        self.browser.chromium("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.open(f"file://{self.page}")
        self.browser.chromium("Emulation.setScriptExecutionDisabled", value=False)
        self.assertEqual(self.browser.run("return document.getElementById('filters').hidden"), True)
        names = [row[0] for row in self.browser.run(ROWS)]
        self.assertEqual(len(names), 30)
        self.browser.open(f"file://{self.page}")
        ids = self.browser.run("return [...document.querySelectorAll('#table td code')].map(code => code.title)")
        self.assertEqual(ids, names)

    def test_what_is_collapsed_prints(self):
        """Without scripts too: all roofs, the groups of the comparison, models without a ratio, the environments."""
        shutil.copytree(os.path.join(EXAMPLES, "zen5-2-cores"), os.path.join(self.place.name, "whole"))
        lacks = os.path.join(self.place.name, "lacks")
        shutil.copytree(os.path.join(EXAMPLES, "zen3-2-cores"), lacks)
        with open(os.path.join(lacks, "results.csv"), encoding="utf-8") as file:
            lines = file.readlines()
        with open(os.path.join(lacks, "results.csv"), "w", encoding="utf-8") as file:
            file.writelines(lines[:-1])
        page = os.path.join(self.place.name, "print.html")
        subprocess.run([PARADNN, "report", os.path.join(self.place.name, "whole"), lacks, "-o", page], check=True, stdout=subprocess.DEVNULL)
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read().count("<details>"), 9)
        self.browser.chromium("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.open(f"file://{page}")
        printed = pdf_text(base64.b64decode(self.browser.post("/print", {})))
        self.browser.chromium("Emulation.setScriptExecutionDisabled", value=False)
        for words in ("which data would tell", "With the least and the greatest repetition", "low_whisker", "Geometric means of the speed-up", "no such row", "paradnn_build", "quota_cpus"):
            self.assertIn(words.replace(" ", ""), printed.replace(" ", ""))

    def test_two_sources(self):
        self.browser.open(f"file://{self.two}")
        self.assertIn("60 of 60 models", self.browser.run(CAPTION))
        self.facet("source", "zen3-2-cores")
        self.assertIn("30 of 60 models", self.browser.run(CAPTION))
        for figure, left, faded in (("roofline", 30, 30), ("speedup", 30, 0)):
            self.assertEqual((figure, self.points(":not(.faded)", figure), self.points(".faded", figure)), (figure, left, faded))
        self.screenshot("two")


if __name__ == "__main__":
    if needs.missing("chromium", "chromedriver"):
        sys.exit(needs.SKIPPED)
    unittest.main()
