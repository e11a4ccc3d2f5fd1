#!/usr/bin/env python3
"""Tables, paths and arguments from somebody else: nothing they hold runs a command, blocks, or reaches a terminal raw.

Usage: hostile_test.py PARADNN"""

import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

PARADNN = os.path.abspath(sys.argv[1])

# Each creates the file `executed` where text is read as commands: by the end of a data block, of a string or of a line,
# by substitution, as a macro, as a pipe, by a shell.
CELLS = [
    "\nEND\n!touch executed #", "\n!touch executed\n", "'\n!touch executed #", "\"\nEND\n!touch executed #",
    "`touch executed`", "\" . system(\"touch executed\") . \"", "' . system('touch executed') . '", "'; system('touch executed') #",
    "\"; system('touch executed') #", "\\\n!touch executed", "\\", "'", "\"", "@TITLE", "{", "}", "|touch executed",
    "<touch executed", "$(touch executed)", "\x1b]0;title\x07\x1b[2J", "\x7f\t\r", "\xc2\x9b2J", "#", "%s%n", "a" * 3000,
]

CEILINGS = [
    "kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions".split(","),
    "compute,fma,f32,,1,0,100,90,110,5".split(","),
    "bandwidth,read,,L1,1,32768,130,120,140,5".split(","),
    "bandwidth,read,,DRAM,1,0,18,17,19,5".split(","),
    "overhead,op,,,1,0,50,40,60,5".split(","),
]

RESULTS = [
    "id,family,layers,batch,run_mode,optimizer,backend,fuse,dtype,threads,status,bound,started_utc,time_ns_median,extrapolated,"
    "intensity_flop_per_byte,gflops".split(","),
    "a,fc,1,1,infer,none,onednn,none,f32,1,ok,memory,2026-05-01T12:00:00.000Z,1000,0,0.5,4".split(","),
    "b,fc,1,2,train,sgd,onednn,none,f32,1,ok,compute,2026-05-01T12:00:00.000Z,2000,0,20,50".split(","),
]

OPS = [
    "id,op_index,layer,op,category,op_pass,op_shape,executions,flop_count,in_bounds_flop_count,byte_count,time_ns_median,pct_of_roof,"
    "implementation,bound,roof_level".split(","),
    "a,0,layer1,dense,linear gemm,forward,8x8:8x8:8x8,1,1024,1024,768,900,50,jit,memory,L1".split(","),
    "b,0,layer1,dense,linear gemm,forward,8x8:8x8:8x8,1,1024,1024,768,1900,50,jit,memory,L1".split(","),
]

TABLES = {"ceilings.csv": CEILINGS, "results.csv": RESULTS, "ops.csv": OPS}

ENVIRONMENT = 'cpu: "A CPU"\n'

# Where each text column is shown: the commands that read it.
PLOTS = [
    ["plot", "roofline", "{0}"],
    ["plot", "ceilings", "{0}"],
    ["plot", "breakdown", "{0}"],
    ["plot", "breakdown", "{0}", "--by", "layer,op"],
    ["plot", "breakdown", "{0}", "--across", "batch"],
    ["plot", "boxes", "{0}", "--value", "gflops", "--by", "mode,backend"],
    ["plot", "span", "{0}", "--value", "time_ns_median"],
    ["plot", "heatmap", "{0}", "--x", "batch", "--y", "mode", "--by", "layers", "--value", "gflops"],
]

TEXT_COLUMNS = {
    "ceilings.csv": ["kind", "pattern", "dtype", "level"],
    "results.csv": ["id", "family", "layers", "batch", "run_mode", "optimizer", "backend", "fuse", "dtype", "threads", "bound",
                    "started_utc"],
    "ops.csv": ["layer", "op", "category", "op_pass", "op_shape", "implementation", "bound", "roof_level"],
}


# Without the variables that the program speaks of.
QUIET = needs.quiet()


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def write_tables(self, place, changed=None, column=None, *cells):
        """A row of the changed table for each cell."""
        os.makedirs(self.path(place), exist_ok=True)
        for name, rows in TABLES.items():
            rows = [list(row) for row in rows]
            if name == changed:
                rows[2:3] = [list(rows[2]) for _ in cells]
                for i, cell in enumerate(cells):
                    key = {"results.csv": 0, "ops.csv": 1}.get(name)
                    if i and key is not None:
                        rows[2 + i][key] += str(i)
                    rows[2 + i][rows[0].index(column)] = cell
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            self.write(os.path.join(place, name), text.getvalue())
        self.write(os.path.join(place, "environment.yaml"), ENVIRONMENT)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def paradnn(self, *arguments, home=None):
        """Ends by itself, leaves nothing that a command would leave, and says at most one line of error."""
        done = subprocess.run([PARADNN, *arguments], cwd=self.directory, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, env={**QUIET, **({"HOME": home} if home else {})})
        self.assertFalse(self.take_executed(), arguments)
        for stream in (done.stdout, done.stderr):
            self.assertFalse([byte for byte in stream if byte < 0x20 and byte != 0x0a or byte == 0x7f], stream)
            stream.decode("utf-8")
        if done.returncode:
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertGreaterEqual(done.returncode, 0, done.stderr)
        return done

    def take_executed(self):
        """Where a command has left its file, which is removed, so that the next one counts for itself."""
        executed = [place for place, _, files in os.walk(self.directory) if "executed" in files]
        for place in executed:
            os.unlink(os.path.join(place, "executed"))
        return executed

    def kinds(self, place):
        for plot in PLOTS:
            yield [word.format(place) for word in plot] + ["--format", "svg"]


class Pictures(Case):
    def test_tables_of_these_tests_are_drawn(self):
        self.write_tables("good")
        for plot in self.kinds("good"):
            with self.subTest(plot):
                self.assertEqual(self.paradnn(*plot).returncode, 0)

    def test_no_cell_runs_a_command(self):
        plots = {"ceilings.csv": PLOTS[:2], "results.csv": [PLOTS[0], *PLOTS[4:]], "ops.csv": [PLOTS[3]]}
        for table, columns in TEXT_COLUMNS.items():
            for i, column in enumerate(columns):
                # All cells in the columns that reach a picture raw, and in others some; four to a picture, unless it refuses one of them.
                cells = CELLS if column in ("pattern", "level") else CELLS[i % 3::8]
                for first in range(0, len(cells), 4):
                    some = cells[first:first + 4]
                    with self.subTest(table=table, column=column, cells=some):
                        self.draw(table, column, some, plots[table])

    def draw(self, table, column, cells, plots):
        self.write_tables("bad", table, column, *cells)
        for plot in plots:
            done = self.paradnn(*[word.format("bad") for word in plot], "--format", "svg")
            if done.returncode and len(cells) > 1:
                for cell in cells:
                    self.draw(table, column, [cell], [plot])
                self.write_tables("bad", table, column, *cells)

    def test_no_cell_of_two_tables_runs_a_command(self):
        self.write_tables("good")
        plot = ["plot", "speedup", "good", "bad", "--x", "gflops", "--color", "bound", "--format", "svg"]
        self.write_tables("bad")
        self.assertEqual(self.paradnn(*plot).returncode, 0)
        for cell in CELLS[:16]:
            with self.subTest(cell):
                self.write_tables("bad", "results.csv", "bound", cell)
                self.paradnn("plot", "speedup", "bad", "good", *plot[4:])

    def test_no_cell_of_several_directories_runs_a_command(self):
        """Their names, the versions of environment.yaml, and the kinds of op of two sides."""
        self.write_tables("good")
        places = []
        for i, cell in enumerate(CELLS[:12]):
            places.append(f"{i}" + cell.replace("/", "").replace("\0", "")[:100])
            self.write_tables(places[-1], "ops.csv", "layer", cell)
            escaped = cell.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            self.write(os.path.join(places[-1], "environment.yaml"), f'backend_onednn: "{escaped}"\n')
            with self.subTest(cell):
                self.paradnn("plot", "op_speedup", "good", places[-1], "--by", "layer,op", "--format", "svg")
        for first in range(0, len(places), 4):
            for plot in (["roofline"], ["ceilings"], ["boxes", "--value", "gflops", "--by", "results,version"]):
                with self.subTest(places=places[first:first + 4], plot=plot):
                    done = self.paradnn("plot", plot[0], "good", *places[first:first + 4], *plot[1:], "--format", "svg")
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_column_or_machine_runs_a_command(self):
        self.write_tables("bad")
        for cell in CELLS[:12]:
            with self.subTest(cell):
                text = io.StringIO()
                csv.writer(text, lineterminator="\n").writerows([RESULTS[0] + [cell], RESULTS[1] + ["x"], RESULTS[2] + [cell]])
                self.write("bad/results.csv", text.getvalue())
                self.write("bad/environment.yaml", 'cpu: "%s"\n' % cell.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))
                self.paradnn("plot", "roofline", "bad", "--color", cell, "--format", "svg")

    def test_no_path_runs_a_command(self):
        for i, place in enumerate(("|touch executed", "a'b", "|touch executed;:", "-o", "<touch executed", "new\nline", "`touch executed`", "a\"b")):
            self.write_tables(place)
            for plot in list(self.kinds(place))[:None if i < 2 else 3]:
                with self.subTest(plot):
                    if place == "-o":
                        plot = [*plot[:2], *plot[3:], "--", place]
                    done = subprocess.run([PARADNN, *plot], cwd=self.directory, capture_output=True, check=False)
                    self.assertFalse(self.take_executed())
                    self.assertEqual((done.returncode, done.stdout.decode()), (0, f"{place}/{plot[1]}.svg\n"), done.stderr)
                    self.assertTrue(os.path.exists(self.path(place, plot[1] + ".svg")))

    def test_no_output_runs_a_command(self):
        self.write_tables("good")
        for output in ("|touch executed", "-", "| touch executed; #", "<touch executed", "`touch executed`", "'", "new\nline"):
            with self.subTest(output):
                done = subprocess.run([PARADNN, "plot", "ceilings", "good", "--output=" + output, "--format", "svg"], cwd=self.directory,
                                      capture_output=True, check=False)
                self.assertFalse(self.take_executed())
                self.assertEqual((done.returncode, done.stdout.decode()), (0, f"{output}.svg\n"), done.stderr)
                with open(self.path(output + ".svg"), "rb") as picture:
                    self.assertTrue(b"<svg" in picture.read())


class Numbers(Case):
    def test_threads_of_a_roof(self):
        for threads in ("-3000000", "-1"):
            self.write_tables("bad", "ceilings.csv", "threads", threads)
            done = self.paradnn("plot", "ceilings", "bad")
            self.assertEqual((done.returncode, done.stderr.decode()), (2, f"paradnn: bad/ceilings.csv: {threads} is not a number of threads\n"))


class Terminals(Case):
    def test_tables_are_shown_without_control_characters(self):
        for table, columns in TEXT_COLUMNS.items():
            for column in columns:
                with self.subTest(table=table, column=column):
                    self.write_tables("bad", table, column, "\x1b]0;x\x07\x9b\r\nPASS")
                    for arguments in ([], ["--by", "layer,op"], ["--across", "batch"], ["--gemms"], ["--check-directions"]):
                        done = self.paradnn("breakdown", "bad", *arguments)
                        self.assertNotIn(b"\nPASS", done.stdout)

    def test_fits_are_shown_without_control_characters(self):
        bad = "\x1b]0;x\x07\x9b\r\nPASS"
        header = "id,family,layers,nodes,backend,threads,status,time_ns_median,gflops".split(",")
        sides = [[f"fc/layers={n},nodes={n * n % 7},backend={backend}", "fc", n, n * n % 7, backend, 1, "ok", 1000 + n * n % (5 if backend == "one" else 7), n + n % 3]
                 for n in range(1, 20) for backend in ("one", bad)]
        one = [row for row in sides if row[4] == "one"]
        cases = {"family": [["x", bad, 1, 1, "one", 1, "ok", 1, 1], *one], "families": [[row[0], bad, *row[2:]] for row in one],
                 "outlier": [*one, [bad, "fc", 5, 5, "one", 1, "ok", 1, 1e6]],
                 "word": [[*row[:4], bad if row[2] % 2 else "one", *row[5:]] for row in one], "across": sides}
        for name, rows in cases.items():
            with self.subTest(name):
                os.makedirs(self.path(name))
                text = io.StringIO()
                csv.writer(text, lineterminator="\n").writerows([header, *rows])
                self.write(os.path.join(name, "results.csv"), text.getvalue())
                done = self.paradnn("fit", name, *(["--across", "backend"] if name == "across" else ["--value", "gflops"]))
                shown = done.stdout + done.stderr
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(b"\\x1b]0;x\\x07\\xc2\\x9b\\r\\nPASS", shown)
                self.assertNotIn(b"\nPASS", shown)

    def test_arguments_and_names_are_shown_without_control_characters(self):
        odd = "\x1b[2J\r\nodd"
        self.write(odd, "models:\n  - fc: {layers: x}\n")
        for arguments in ([odd], ["list", odd], ["list", odd + "2"], ["plot", odd, "."], ["list", "--" + odd], ["breakdown", odd],
                          ["list", "fc/layers=" + odd], ["families", odd], ["columns", odd], ["--" + odd]):
            with self.subTest(arguments):
                done = self.paradnn(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"\\x1b[2J\\r\\nodd", done.stderr)

    def test_data_for_programs_is_exact(self):
        self.write_tables("bad", "ops.csv", "layer", "\x1b[2J")
        done = subprocess.run([PARADNN, "breakdown", "bad", "--by", "layer", "--format", "csv"], cwd=self.directory,
                              capture_output=True, check=True)
        self.assertIn(b"\x1b[2J", done.stdout)


class Pipes(Case):
    def test_nothing_waits_for_a_pipe(self):
        os.mkfifo(self.path("pipe"))
        self.write("small.yaml", "models:\n  - fc: {layers: 1, nodes: 8, input: 8, output: 8, batch: 1}\n")
        for name in ("results.csv", "ceilings.csv", "ops.csv", "environment.yaml", "journal.csv"):
            place = name + ".results"
            self.write_tables(place)
            if os.path.exists(self.path(place, name)):
                os.unlink(self.path(place, name))
            os.mkfifo(self.path(place, name))
        for arguments in (["list", "pipe"], ["list", "/dev/zero"], ["sweep", "small.yaml", "--ceilings", "pipe"],
                          ["plot", "roofline", "results.csv.results"], ["plot", "roofline", "ceilings.csv.results"],
                          ["plot", "ceilings", "ceilings.csv.results"], ["plot", "breakdown", "ops.csv.results"],
                          ["breakdown", "results.csv.results"], ["breakdown", "ops.csv.results"],
                          ["sweep", "small.yaml", "-o", "journal.csv.results", "--ceilings", "roofs.csv"]):
            with self.subTest(arguments):
                done = self.paradnn(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                if arguments[0] != "sweep":
                    self.assertRegex(done.stderr, b"is a (pipe|device), expected a file\n")

    def test_a_pipe_of_the_shell_is_a_spec(self):
        done = subprocess.run(["bash", "-c", '"$0" list --format csv <(echo "models: [fc: {layers: 1}]")', PARADNN],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"fc/layers=1", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
