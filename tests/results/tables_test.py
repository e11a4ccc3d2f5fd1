#!/usr/bin/env python3
"""The snippets of doc/tables.md, each run where its tool is installed, and the types of results.csv as readers find them.

Usage: tables_test.py PARADNN DOCUMENT RESULTS"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

PARADNN, DOCUMENT, RESULTS = (os.path.abspath(path) for path in sys.argv[1:4])


def interpreter_with(module):
    """The first python3 that has the module, or None."""
    for python in dict.fromkeys([sys.executable, shutil.which("python3"), "/usr/bin/python3"]):
        if python and os.path.exists(python) and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    return None


# By the word behind ```: the program, the arguments before the snippet's file (None: it reads the snippet from stdin).
TOOLS = {
    "python": ("pandas", lambda: interpreter_with("pandas"), []),
    "python3": ("python3", lambda: sys.executable, []),
    "r": ("Rscript", lambda: shutil.which("Rscript"), []),
    "gnuplot": ("gnuplot", lambda: shutil.which("gnuplot"), []),
    "sqlite": ("sqlite3", lambda: shutil.which("sqlite3"), None),
}


def snippets():
    with open(DOCUMENT, encoding="utf-8") as file:
        return re.findall(r"^```(\w+)\n(.*?)^```$", file.read(), re.M | re.S)


class Tables(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name
        shutil.copytree(RESULTS, os.path.join(self.place, "fc.results"))

    def test_lists_all_files(self):
        printed = subprocess.run([PARADNN, "columns", "tables", "--format", "csv"], capture_output=True, text=True, check=True).stdout
        rows = [(row["table"], row["place"], row["help"]) for row in csv.DictReader(printed.splitlines()) if row["place"] == "file"]
        with open(DOCUMENT, encoding="utf-8") as file:
            listed = re.findall(r"^\| `([a-z-]+)` \| (\w+) \| (.*) \|$", file.read(), re.M)
        self.assertGreater(len(rows), 5)
        self.assertEqual(listed, rows)

    def said(self, *arguments):
        done = subprocess.run([PARADNN, *arguments], cwd=self.place, capture_output=True, text=True, env={**os.environ, "PARADNN_NO_CACHE": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    SHOWN = (("fit", "fc.results", "--value", "gflops", "--residuals", "--format", "csv"), ("breakdown", "fc.results"), ("plot", "roofline", "fc.results", "--format", "csv"))

    def test_byte_order_marks(self):
        """Tables that a spreadsheet saved: a UTF-8 mark first, and lines that end as on Windows."""
        before = [self.said(*arguments) for arguments in self.SHOWN]
        for name in ("results.csv", "ops.csv", "ceilings.csv"):
            with open(os.path.join(self.place, "fc.results", name), encoding="utf-8") as file:
                text = file.read()
            with open(os.path.join(self.place, "fc.results", name), "w", encoding="utf-8-sig", newline="\r\n") as file:
                file.write(text)
        self.assertEqual([self.said(*arguments) for arguments in self.SHOWN], before)

    def test_of_other_programs(self):
        """As pandas and R write them: an index in front, floats, TRUE, NA for what is empty, texts in quotes."""
        before = [self.said(*arguments) for arguments in self.SHOWN]
        types = self.types()
        for name in ("results.csv", "ops.csv", "ceilings.csv"):
            path = os.path.join(self.place, "fc.results", name)
            with open(path, newline="", encoding="utf-8") as file:
                header, *rows = csv.reader(file)
            with open(path, "w", encoding="utf-8") as file:
                file.write(",".join(f'"{column}"' for column in ["", *header]) + "\n")
                for at, row in enumerate(rows):
                    cells = ["NA" if cell == "" else f"{float(cell):.15G}" if column in ("nodes", "params") else cell + ".0" if cell.isdigit() and types.get(column) != "text"
                             else cell if re.fullmatch("[-0-9.e]+", cell) else f'"{cell}"' for column, cell in zip(header, row)]
                    file.write(",".join([f'"{at + 1}"', *cells]) + "\n")
        self.assertEqual([self.said(*arguments) for arguments in self.SHOWN], before)

    def run_with(self, language, text):
        name, find, arguments = TOOLS[language]
        program = find()
        if not program:
            self.skipTest(needs.say(name))
        path = os.path.join(self.place, "snippet")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        command = [program] if arguments is None else [program, *arguments, path]
        done = subprocess.run(command, cwd=self.place, input=text if arguments is None else "", capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_every_snippet_has_a_tool(self):
        self.assertEqual(sorted({language for language, _ in snippets()}), sorted(TOOLS))

    def check(self, language, expected):
        for found, text in snippets():
            if found == language:
                out = self.run_with(language, text)
                for word in expected:
                    self.assertIn(word, out)

    def test_pandas(self):
        self.check("python", ["1024", "dense", "mode=infer,threads=2", "train"])

    def test_pandas_reads_exact_counts_as_text(self):
        """Beside an empty field, a count above 2^53 is exact as the page reads it."""
        path = os.path.join(self.place, "fc.results", "results.csv")
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        rows[1][rows[0].index("flop_count")], rows[2][rows[0].index("flop_count")] = str(2**53 + 1), ""
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        self.check("python", [str(2**53 + 1)])

    def test_pandas_keeps_integers(self):
        """A column of integers with empty fields is Int64 with <NA>, not text and not floats; empty text is <NA> too."""
        path = os.path.join(self.place, "fc.results", "results.csv")
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        rows[1][rows[0].index("layers")] = rows[2][rows[0].index("activation")] = ""
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        out = self.run_with("python", "import pandas as pd\nt = pd.read_csv('fc.results/results.csv').convert_dtypes()\n"
                                      "print(t.layers.dtype, t.layers.isna().sum(), t.activation.isna().sum(), t.gflops.dtype)\n"
                                      "print(t.run_mode.dtype, t.row_flags.isna().all(), t.pivot_table(index='layers', columns='batch', "
                                      "values='gflops').shape[0])\n")
        self.assertEqual(out.split()[:4], ["Int64", "1", "1", "Float64"])
        self.assertEqual(out.split()[4], "string")

    def test_python(self):
        self.check("python3", ["64 408.85"])

    def test_r(self):
        self.check("r", ["pct_of_peak", "infer"])

    def test_gnuplot(self):
        self.check("gnuplot", [])
        if shutil.which("gnuplot"):
            with open(os.path.join(self.place, "rate.svg"), encoding="utf-8") as file:
                self.assertGreater(file.read().count("<use "), 10)

    def test_sqlite(self):
        self.check("sqlite", ["infer|64|", "dense|"])

    def types(self):
        listed = subprocess.run([PARADNN, "columns", "results", "--format", "csv"], capture_output=True, text=True, check=True).stdout
        return {row["column"]: row["type"] for row in csv.DictReader(listed.splitlines())}

    def test_fields_are_what_columns_say(self):
        with open(os.path.join(RESULTS, "results.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        types = self.types()
        self.assertLessEqual(set(rows[0]), set(types))
        for row in rows:
            for name, text in row.items():
                if text and types[name] in ("count", "integer"):
                    self.assertRegex(text, r"\A-?[0-9]+\Z", name)
                elif text and types[name] == "number":
                    self.assertRegex(text, r"\A-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?\Z", name)

    def numeric(self, names):
        """Columns that must load as numbers: those of such a type that are not empty throughout."""
        types = self.types()
        with open(os.path.join(RESULTS, "results.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        wanted = {name for name in names if types[name] != "text" and any(row[name] for row in rows)}
        self.assertGreater(len(wanted), 30)
        return wanted

    def test_pandas_finds_types(self):
        out = self.run_with("python", "import pandas as pd\nt = pd.read_csv('fc.results/results.csv')\n"
                                      "for name in t: print(name, pd.api.types.is_numeric_dtype(t[name]))\n")
        found = dict(line.split() for line in out.splitlines())
        self.assertEqual({name for name in self.numeric(found) if found[name] != "True"}, set())
        self.assertEqual([found[name] for name in ("id", "family", "status")], ["False"] * 3)

    def test_r_finds_types(self):
        out = self.run_with("r", "t <- read.csv('fc.results/results.csv')\nfor (name in names(t)) cat(name, is.numeric(t[[name]]), '\\n')\n")
        found = dict(line.split() for line in out.splitlines())
        self.assertEqual({name for name in self.numeric(found) if found[name] != "TRUE"}, set())
        self.assertEqual([found[name] for name in ("id", "family", "status")], ["FALSE"] * 3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
