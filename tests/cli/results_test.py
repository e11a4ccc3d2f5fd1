#!/usr/bin/env python3
"""What is made of a sweep's tables: breakdown and plot.

Usage: results_test.py PARADNN [TEST...]"""

import csv
import os
import re
import shutil
import subprocess
import sys

from program import Swept, main, table

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "results"))
import made_up  # noqa: E402


class Results(Swept):
    def test_breakdown(self):
        done = self.paradnn("breakdown", "small.results", "--format", "csv", expect=0)
        self.assertEqual(done.stderr, "8 instances; left out 4 that did not end ok\n")
        rows = table(done.stdout)
        steps = {row["id"]: row for row in self.rows("small.results", "results.csv") if row["status"] == "ok"}
        self.assertEqual(list(dict.fromkeys(row["id"] for row in rows)), list(steps))
        for name, step in steps.items():
            own = [row for row in rows if row["id"] == name]
            self.assertEqual(own[-1]["category"], "residual")
            self.assertAlmostEqual(sum(float(row["share_pct"]) for row in own), 100, places=2)
            self.assertAlmostEqual(float(own[-1]["share_pct"]), float(step["residual_pct"]), places=2)
            self.assertEqual("optimizer" in {row["category"] for row in own}, step["run_mode"] == "train")
        for_people = self.paradnn("breakdown", "small.results", expect=0).stdout
        self.assertEqual(for_people.count("residual"), len(steps))
        self.assertEqual(for_people.count(" of the step at its roof; it runs at "), len(steps))

    def test_breakdown_names_presets(self):
        """For people; programs get ids, and what is no preset has its id for both."""
        fc = "fc/layers=4,nodes=1024,input=2000,output=1000,batch={},activation=relu,mode=infer,threads=2"
        models = [(text.format(batch), batch) for text in ("cnn:resnet18,batch={},mode=infer,threads=2", fc) for batch in (1, 4)]
        self.write("named/results.csv", "id,family,batch,mode,threads,status,time_ns_median\n" +
                   "".join(f'"{name}",{re.match("[a-z]+", name)[0]},{batch},infer,2,ok,1000\n' for name, batch in models))
        self.write("named/ops.csv", "id,op,category,op_pass,layer,executions,time_ns_median,pct_of_roof\n" +
                   "".join(f'"{name}",dense,linear,forward,a,1,900,\n' for name, _ in models))
        heads = [line for line in self.paradnn("breakdown", "named", expect=0).stdout.splitlines() if ",mode=infer" in line]
        self.assertEqual(heads, ["resnet18,batch=1,mode=infer,threads=2", "resnet18,batch=4,mode=infer,threads=2", fc.format(1), fc.format(4)])
        heads = [line for line in self.paradnn("breakdown", "named", "--across", "batch", expect=0).stdout.splitlines() if "parts in" in line]
        self.assertEqual(heads, ["resnet18,batch=*,mode=infer,threads=2: parts in % of the step", fc.format("*") + ": parts in % of the step"])
        rows = table(self.paradnn("breakdown", "named", "--format", "csv", expect=0).stdout)
        self.assertEqual([name.split(",")[0] for name in dict.fromkeys(row["id"] for row in rows)], ["cnn/block=residual"] * 2 + ["fc/layers=4"] * 2)

    def test_breakdown_says_what_is_moved_besides(self):
        def line(extra):
            rows = [{**row, "extra_read_bytes": extra, "extra_written_bytes": extra // 3, "extra_set_bytes": 4096}
                    for row in self.rows("small.results", "ops.csv")]
            self.write("small.results/ops.csv", "\n".join([",".join(rows[0]), *(",".join(f'"{cell}"' for cell in row.values()) for row in rows), ""]))
            return self.paradnn("breakdown", "small.results", expect=0).stdout

        self.assertNotIn("compulsory", line(0))
        text = line(3000000000)
        self.assertEqual(len(re.findall(r"; it runs at \d+ % of it \(.*\), moving 4\.00 GB of which [\d.]+ k?B are compulsory: ", text)),
                         text.count(" of the step at its roof; it runs at "))

    def test_breakdown_of_what_is_no_result_directory(self):
        done = self.paradnn("breakdown", ".", expect=2)
        self.assertRegex(done.stderr, r"\Aparadnn: \./results\.csv: ")

    def test_one_file_has_whole_lines_in_order(self):
        for arguments in (["compare", "small.results", "--across", "mode"], ["breakdown", "small.results", "--format", "csv"],
                          ["fit", "small.results", "--value", "gflops", "--on", "nodes,batch,layers"]):
            with self.subTest(arguments=arguments):
                apart = self.paradnn(*arguments, expect=0)
                self.assertTrue(apart.stdout and apart.stderr)
                self.assertEqual(self.paradnn(*arguments, expect=0, stderr=subprocess.STDOUT).stdout, apart.stdout + apart.stderr)

    def test_rows(self):
        """All of them in the file's order, or the first in that of a column; the cells are those of the file."""
        rows = self.rows("small.results", "results.csv")
        self.assertEqual(table(self.paradnn("results", "small.results", "--format", "csv", expect=0).stdout), rows)
        ok = [row for row in rows if row["status"] == "ok"]
        for by, key, down in (("time_ns_median", lambda row: float(row["time_ns_median"]), True), ("time_ns_median:up", lambda row: float(row["time_ns_median"]), False),
                              ("mode", lambda row: row["run_mode"], False), ("mode:down", lambda row: row["run_mode"], True)):
            found = table(self.paradnn("results", "small.results", "--only", "status=ok", "--sort", by, "--format", "csv", expect=0).stdout)
            self.assertEqual(found, sorted(ok, key=key, reverse=down), by)
        found = table(self.paradnn("results", "small.results", "-s", "batch", "--top", "3", "--columns", "status,id", "--format", "csv", expect=0).stdout)
        self.assertEqual([list(row) for row in found], [["status", "id"]] * 3)
        text = self.paradnn("results", "small.results", expect=0).stdout
        self.assertEqual(text.count("\n"), len(rows) + 1)
        self.assertRegex(text, r"\A *time .* examples/s .*status +id\n")
        self.assertEqual(self.paradnn("results", "small.results", "--top", "1", "--format", "markdown", expect=0).stdout.count("\n"), 3)
        for arguments, said in ((["--sort", "tim"], "did you mean"), (["--sort", "batch:left"], "neither :up nor :down"), (["--top", "0"], "from 1 to"),
                                (["--only", "batch=77"], ""), (["--columns", "tim"], "has no column 'tim'")):
            done = self.paradnn("results", "small.results", *arguments, expect=0 if not said else 2)
            self.assertIn(said, done.stderr)

    def write_results(self, name, rows):
        os.makedirs(self.path(name), exist_ok=True)
        with open(self.path(name, "results.csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def test_a_fit_of_two_takes_keys_of_both(self):
        rows = self.rows("small.results", "results.csv")
        for number, row in enumerate(rows):
            row["time_ns_median"] = row["time_ns_median"] and 1000 + number * number
        self.write_results("whole", rows)
        self.write_results("bare", [{name: cell for name, cell in row.items() if name not in ("nodes", "run_mode")} for row in rows])
        whole, bare = (self.paradnn("fit", name, "small.results", expect=0).stdout for name in ("whole", "bare"))
        self.assertRegex(whole, r"\nnodes +-?\d(.*\n)+mode=train +mode=infer +-?\d")
        self.assertEqual(bare, whole)

    def test_a_fit_of_several_is_that_of_each(self):
        """With the first; and what one of them cannot be fitted on is said, and no error."""
        rows = [row for row in self.rows("small.results", "results.csv") if row["status"] == "ok"]
        for name, power in (("first", 0), ("second", 1), ("third", 2)):
            self.write_results(name, [{**row, "time_ns_median": 1000 * (number + 1) ** power + number} for number, row in enumerate(rows)])
        for option in ([], ["--residuals"]):
            found = table(self.paradnn("fit", "first", "second", "third", *option, "--format", "csv", expect=0).stdout)
            for name in ("second", "third"):
                alone = table(self.paradnn("fit", "first", name, *option, "--format", "csv", expect=0).stdout)
                self.assertEqual({row["value"] for row in alone}, {"ratio"})
                self.assertEqual([{**row, "value": "ratio"} for row in found if row["value"] == f"ratio to {name}"], alone)
        done = self.paradnn("fit", "first", "second", "third", expect=0)
        for name in ("second", "third"):
            self.assertEqual(done.stdout.count(f"fc: ratio to {name} of {len(rows)} instances, linear: "), 1)
            self.assertEqual(done.stderr.count(f"ratios of first over {name}: {len(rows)}; 0 instances have none\n"), 1)
        self.write_results("twice", [{**row, "time_ns_median": 500 + number / 2} for number, row in enumerate(rows)])
        done = self.paradnn("fit", "first", "twice", "third", "--model", "log", "--format", "csv", expect=0)
        self.assertEqual({row["value"] for row in table(done.stdout)}, {"ratio to third"})
        self.assertIn("ratio to twice", done.stderr)
        self.assertIn("ratio", self.paradnn("fit", "first", "twice", expect=2).stderr)

    def test_what_is_open_is_said_and_confounds(self):
        """The measured ones lie on a diagonal of batch and width; or are spread, where nothing may be left out."""
        values = [2 ** i for i in range(8)]
        cells = [(nodes, batch) for nodes in values for batch in values for _ in "ab"]
        kept = {"diagonal": lambda nodes, batch, twin: nodes == batch or nodes == 2 * batch,
                "few": lambda nodes, batch, twin: nodes != batch or batch < 16,
                "spread": lambda nodes, batch, twin: (values.index(nodes) + values.index(batch)) % 2 == twin}
        said, states = {}, {}
        for name, has in kept.items():
            rows = [made_up.row(1 + i % 2, nodes, batch, 1000 * nodes, float(nodes)) for i, (nodes, batch) in enumerate(cells)]
            for i, row in enumerate(rows):
                if not has(row["nodes"], row["batch"], i % 2):
                    row.update(status="interrupted", time_ns_median="", pct_of_peak="", gflops="")
            made_up.write_tables(self.path(name), rows)
            done = self.paradnn("fit", name, "--model", "log", "--format", "csv", expect=0)
            said[name], states[name] = done.stderr, {row["term"]: (row["state"], row["collinear_with"], bool(row["weight"])) for row in table(done.stdout)}
        self.assertTrue(said["diagonal"].startswith("98 of 128 instances are open; their absence confounds nodes with batch\n"), said)
        self.assertEqual((states["diagonal"]["nodes"], states["diagonal"]["batch"], states["diagonal"]["layers"]),
                         (("confounded", "batch", False), ("confounded", "nodes", False), ("fitted", "", True)))
        self.paradnn("report", "diagonal", "spread", "-o", "page.html", expect=0)
        self.paradnn("plot", "heatmap", "diagonal", "--x", "nodes", "--y", "batch", "-o", "diagonal.svg", expect=0)
        with open(self.path("page.html"), encoding="utf-8") as page, open(self.path("diagonal.svg"), encoding="utf-8") as picture:
            page, picture = page.read(), picture.read()
        self.assertEqual(page.count("<ul><li>98 of 128 instances are open; their absence confounds nodes with batch.</li>"), 1)
        self.assertEqual(page.count(" instances are open.</li>"), 1)
        self.assertIn("98 of 128 instances are open", " ".join(re.findall(r">([^<]*)<", picture)))
        self.assertTrue(said["spread"].startswith("64 of 128 instances are open\n"), said)
        self.assertNotIn("open", said["few"])  # not more than a tenth
        for name in "few", "spread":
            self.assertEqual({states[name][key] for key in ("nodes", "batch")}, {("fitted", "", True)}, states)
        made_up.write_tables(self.path("whole"), [made_up.row(1 + i % 2, nodes, batch, 500 * nodes * nodes, float(nodes)) for i, (nodes, batch) in enumerate(cells)])
        self.check_compared("diagonal", {"nodes": ("batch", ""), "batch": ("nodes", "")},
                            "nodes, batch are left out, since instances that are open confound them.")
        for name in kept.keys() - {"diagonal"}:
            self.check_compared(name, {}, None)
        self.check_pairs_of_several()

    def check_pairs_of_several(self):
        """What is open is counted in the pairs of each with the first, and so is what it confounds."""
        diagonal, spread = "98 of 128 instances are open; their absence confounds nodes with batch\n", "64 of 128 instances are open\n"
        for sides, said in ((("whole", "diagonal", "few", "spread"), f"B: {diagonal}D: {spread}"), (("whole", "few"), ""), (("whole", "spread"), spread),
                            (("whole", "diagonal"), diagonal)):
            for command in ("compare", "fit"):
                done = self.paradnn(command, *sides, "--format", "csv", expect=0)
                self.assertEqual("".join(line + "\n" for line in done.stderr.splitlines() if " are open" in line), said)
                self.assertTrue(done.stderr.startswith(said), done.stderr)
        rows = table(self.paradnn("fit", "whole", "diagonal", "few", "--model", "log", "--format", "csv", expect=0).stdout)
        self.assertEqual([(row["value"], row["term"]) for row in rows if row["state"] == "confounded"],
                         [("ratio to diagonal", "nodes"), ("ratio to diagonal", "batch")])

    def check_compared(self, name, confounded, sentence):
        """Whichever side lacks instances, only confounded keys explain nothing, and have no groups."""
        for sides in (("whole", name), (name, "whole")):
            done = self.paradnn("compare", *sides, "--table", "axes", "--format", "csv", expect=0)
            self.assertEqual(done.stderr.startswith("98 of 128 instances are open; their absence confounds nodes with batch\n"), bool(confounded), done.stderr)
            axes = {row["key"]: (row["confounded_with"], row["explained"]) for row in table(done.stdout)}
            self.assertEqual(axes.keys(), {"layers", "nodes", "batch"})
            groups = {row["key"] for row in table(self.paradnn("compare", *sides, "--table", "groups", "--format", "csv", expect=0).stdout)}
            self.assertEqual(groups, {""} | (axes.keys() - confounded.keys()))
            for key, (confounder, explained) in axes.items():
                self.assertEqual((confounder, explained) if key in confounded else (confounder, bool(explained)), confounded.get(key, ("", True)))
            text = " ".join(self.paradnn("compare", *sides, expect=0).stdout.split())
            self.assertEqual("left out" in text, bool(sentence), text)
            self.assertIn(sentence or "nodes explains the ratios best", text)

    def test_a_heat_map_leaves_out_what_is_confounded(self):
        """Where deep models are there for small widths only, a mean over depths shows depth along the width, but in cells without open ones."""
        values = [2 ** i for i in range(8)]
        cells = [(nodes, batch, twin) for nodes in values for batch in values for twin in range(2)]
        kept = {"skewed": lambda nodes, batch, twin: batch >= 64 or (nodes < 16) == twin,
                "none": lambda nodes, batch, twin: (nodes < 16) == twin,
                "spread": lambda nodes, batch, twin: (values.index(nodes) + values.index(batch)) % 2 == twin,
                "whole": lambda nodes, batch, twin: True}
        for name, has in kept.items():
            rows = [made_up.row(1 + twin, nodes, batch, 1000 * nodes, float(nodes)) for nodes, batch, twin in cells]
            for row, cell in zip(rows, cells):
                if not has(*cell):
                    row.update(status="interrupted", time_ns_median="", pct_of_peak="", gflops="")
            made_up.write_tables(self.path(name), rows)

        def drawn(*operands, expect=0):
            options = ("--x", "nodes", "--y", "batch", "--value", "gflops")
            done = self.paradnn("plot", "heatmap", *operands, *options, "--format", "csv", expect=expect)
            if expect:
                return done.stderr
            self.paradnn("plot", "heatmap", *operands, *options, "-o", "map.svg", expect=0)
            with open(self.path("map.svg"), encoding="utf-8") as picture:
                return table(done.stdout), " ".join(re.findall(r">([^<]*)<", picture.read()))

        said = "left out: {} cells where some are open, since nodes goes together with layers"
        found, text = drawn("skewed")
        self.assertEqual({int(row["batch"]) for row in found}, {64, 128})
        self.assertEqual((len(found), {row["models"] for row in found}), (16, {"2"}))
        self.assertIn(said.format(48), " ".join(text.split()))
        found, text = drawn("skewed", "--by", "layers")
        self.assertEqual(sum(int(row["models"]) for row in found), 80)
        self.assertNotIn("left out", text)
        for name in "spread", "whole":
            found, text = drawn(name)
            self.assertEqual((len(found), "left out" in text), (64, False))
        self.assertIn("instances are open in each cell of nodes and batch, and what is there confounds an axis with layers: "
                      "a panel for each value of it (--by layers), or one of them (--only)", drawn("none", expect=2))
        # Of two, a ratio's cell lacks what is open on either side.
        for sides in ("whole", "skewed"), ("skewed", "whole"):
            found, text = drawn(*sides)
            ratios = [row for row in found if row["ratio"]]
            self.assertEqual({int(row["batch"]) for row in ratios}, {64, 128}, sides)

    def test_columns_may_stand_in_any_order(self):
        """What is a key is known by its name: status in front of the family once ended a heat map by a signal."""
        def made():
            commands = [["compare", "small.results", "--across", "mode"], ["fit", "small.results", "--value", "gflops"],
                        ["breakdown", "small.results", "--across", "layers"],
                        ["compare", "small.results", "other", "--across", "host"], ["fit", "other", "small.results", "--across", "mode=infer:train"],
                        ["plot", "heatmap", "small.results", "other", "--format", "svg", "-o", "/dev/stdout"]]
            return [self.paradnn(*command, expect=0).stdout for command in commands]

        shutil.copytree(self.path("small.results"), self.path("other"))
        before = made()
        rows = self.rows("small.results", "results.csv")
        names = list(rows[0])
        family, status = names.index("family"), names.index("status")
        for order in (["status", *names[family + 1:status], "family", *names[status + 1:], *names[:family]],
                      [*names[family + 1:status - 2], *names[:family + 1], "status", *names[status - 2:status], *names[status + 1:]]):
            self.write_results("small.results", [{name: row[name] for name in order} for row in rows])
            self.assertEqual(made(), before)

    def test_pictures_of_foreign_keys(self):
        """Called as pictures call what they draw, or in several words; each once ended them by a signal."""
        rows = self.rows("small.results", "results.csv")
        keys = ["models", "failed", "ratio", "kind", "name", "middle", "my key", "#x"]
        self.write_results("small.results", [{**dict(list(row.items())[:6]), **{key: number % 3 for key in keys}, **row} for number, row in enumerate(rows)])
        shutil.copytree(self.path("small.results"), self.path("other"))
        for key in keys:
            for options in (["heatmap", "small.results", f"--x={key}", "--y", "nodes"], ["boxes", "small.results", f"--by={key}"],
                            ["heatmap", "small.results", "other", "--x", "layers", "--y", "nodes", f"--by={key}"]):
                with self.subTest(options):
                    self.paradnn("plot", *options, "--value", "gflops", "--format", "svg", "-o", "out.svg", expect=0)
        for options, said in ((["heatmap", "--x", "nodes", "--y", "layers", "--value", "nodes"], "nodes cannot be the value, it is an axis or divides the picture"),
                              (["boxes", "--by", "run_mode,mode"], "'run_mode,mode' names mode twice")):
            self.assertEqual(self.paradnn("plot", options[0], "small.results", *options[1:], expect=2).stderr, f"paradnn: {said}\n")

    def test_wide_tables(self):
        shutil.copytree(self.path("small.results"), self.path("other"))
        for name, count in (("small.results", 700), ("other", 800)):
            self.write_results(name, [{**row, **{f"{name[0]}{i}": i for i in range(count)}} for row in self.rows(name, "results.csv")])
        done = self.paradnn("results", "small.results", "other", "--columns", "s699,o799", "--format", "csv", expect=0)
        self.assertEqual(set(done.stdout.splitlines()[1:]), {"699,", ",799"})

    def test_plot(self):
        done = self.paradnn("plot", "roofline", "small.results", "--color", "mode", "--format", "svg", expect=0)
        self.assertEqual(done.stderr, "8 points, 4 rows without a rate left out\n")
        self.assertIn("<svg", self.read(done.stdout.strip()))


if __name__ == "__main__":
    main(1)
