#!/usr/bin/env python3
"""`paradnn report` on made-up tables: what it says, what it escapes, what it refuses. Usage: report_test.py PARADNN"""

import base64
import ctypes
import hashlib
import html
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

from made_up import CEILINGS, grid, HEADER, row, write_tables

PARADNN = os.path.abspath(sys.argv.pop(1))
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "results", "examples")


class Report(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def results(self, rows, name="a", header=None, **files):
        directory = os.path.join(self.place.name, name)
        write_tables(directory, rows, header, **files)
        return directory

    def report(self, *directories):
        path = os.path.join(self.place.name, "page.html")
        done = subprocess.run([PARADNN, "report", *directories, "-o", path], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(path, encoding="utf-8") as file:
            return file.read()

    def refuse(self, *directories):
        done = subprocess.run([PARADNN, "report", *directories], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    @staticmethod
    def verdicts(page, *where):
        """By claim: the verdict and why. where: the row's source, if there are two."""
        cells = [[html.unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line)]
                 for line in page.split('<section id="findings"')[1].split("</section>")[0].splitlines() if "<td" in line]
        at = {line[1]: next(k for k, cell in enumerate(line) if cell in ("holds", "does not hold", "cannot be told")) for line in cells}
        return {line[1]: (line[at[line[1]]], " Would tell: ".join(line[at[line[1]] + 1:])) for line in cells if not where or line[2] in where}

    def test_says_what_the_tables_say(self):
        verdicts = self.verdicts(self.report(self.results(grid())))
        verdict, why = verdicts["Utilization grows with the minibatch."]
        self.assertEqual(verdict, "holds")
        self.assertIn("multiplied by 8.00 (95 % interval 8.00 to 8.00, geometric mean of 9 series", why)
        self.assertIn("9 of them rising", why)
        verdict, why = verdicts["Utilization does not depend on depth."]
        self.assertEqual(verdict, "holds")
        self.assertIn("of 12 series", why)
        verdict, why = verdicts["Utilization grows with the width of layers."]
        self.assertEqual(verdict, "does not hold")
        self.assertIn("multiplied by 0.5", why)
        self.assertEqual(verdicts["16-bit types make models faster."][0], "cannot be told")

    def test_the_first_lines(self):
        page = self.report(self.results(grid(), **{"environment.yaml": 'cpu: "Some CPU"\ncores_usable: 4\n'}))
        lines = html.unescape(re.sub(r"<[^>]*>", "", re.search(r'<section id="findings".*?</section>', page, re.S).group(0)))
        self.assertIn("a: Some CPU, 4 cores; on 1 thread f32 100.0 GFLOP/s, DRAM 18.0 GB/s", lines)
        self.assertIn("36 of 36 models ended ok: 36 are bound by compute, 0 by memory, 0 by overhead.", lines)
        self.assertIn("FLOP rates are 0.500 to 12.0 %, median 2.50 % of the measured peak; most: layers=1,nodes=16,batch=8.", lines)
        self.assertIn("they reach 0.250 to 6.00 %, median 1.25 % of their roofs; farthest below: layers=4,nodes=32,batch=1.", lines)
        self.assertIn("Half of the 95 % intervals of step times are within \u00b1 4.0 %; 0 models are noisy.", lines)

    def test_few_are_no_sample(self):
        for n, said in ((1, False), (2, False), (3, True)):
            page = self.report(self.results(grid()[:n], f"n{n}"))
            findings = re.search(r'<section id="findings".*?</section>', page, re.S).group(0)
            for text in ("FLOP rates are", "they reach", "Half of the"):
                self.assertEqual(text in findings, said, (n, text))

    def first_lines(self, page):
        return html.unescape(re.sub(r"<[^>]*>", "", re.search(r'<section id="findings".*?</section>', page, re.S).group(0)))

    def test_the_roofs_of_the_most_threads_and_their_range(self):
        """One row of two threads among 36 of one; its DRAM was measured twice near and once far. Half of a state says nothing."""
        two = dict(row(1, 64, 8, 1000, 5), threads=2)
        two["id"] = two["id"].replace("threads=1", "threads=2")
        roofs = CEILINGS.replace("repetitions", "repetitions,measurements,state").replace(",5\n", ",5,1,\n") + """\
compute,fma,f32,,2,0,190,90,210,5,1,near
bandwidth,read,,DRAM,2,0,30,25,35,5,2,near
probe,handoff,,,2,0,100,90,110,5,2,near
compute,fma,f32,,2,0,190,90,210,5,1,far
bandwidth,read,,DRAM,2,0,45,5,50,5,1,far
probe,handoff,,,2,0,400,90,110,5,1,far
"""
        lines = self.first_lines(self.report(self.results(grid() + [two], **{"ceilings.csv": roofs})))
        self.assertIn("a: on 2 threads f32 190.0 GFLOP/s, DRAM 30.0 GB/s (25.0 to 45.0)", lines)
        lines = self.first_lines(self.report(self.results(grid(), "one", **{"ceilings.csv": roofs})))
        self.assertIn("one: on 1 thread f32 100.0 GFLOP/s, DRAM 18.0 GB/s", lines)
        self.assertNotIn("(", lines.split("ended ok")[0])

    def test_a_roof_in_a_wide_range(self):
        """What is under it is not said to be far below; a bound that cannot be told counts for neither."""
        header = HEADER + ["roof_low", "roof_high"]
        rows = [dict(r, roof_low=100, roof_high=129) for r in grid()]
        lines = self.first_lines(self.report(self.results(rows, "known", header)))
        self.assertIn("farthest below: layers=4,nodes=32,batch=1.", lines)
        self.assertNotIn("not known within", lines)
        self.assertNotIn("by one or another", lines)
        for each in rows:
            if each["layers"] == 4:
                each.update(roof_high=131, bound="compute|memory")
        lines = self.first_lines(self.report(self.results(rows, "vague", header)))
        self.assertIn("24 are bound by compute, 0 by memory, 0 by overhead, 12 by one or another, which the range of", lines)
        self.assertIn("farthest below: layers=2,nodes=32,batch=1.", lines)
        self.assertIn("The roof of 12 models is not known within a factor of 1.3: how far below it they are is not said.", lines)

    def test_one_is_said_as_one(self):
        page = self.report(self.results(grid()[:1]))
        self.assertIn("<li>1 of 1 model ended ok: 1 is bound by compute, 0 by memory, 0 by overhead.</li>", page)
        self.assertNotIn("1 models", re.search(r'<section id="findings".*?</section>', page, re.S).group(0))

    def test_rows_above_their_roof_lead_nothing(self):
        above = dict(row(1, 99, 8, 1000, 500), row_flags="above_roof")
        page = self.report(self.results(grid() + [above]))
        self.assertIn("<li>1 model is above its roof and left out here.</li>", page)
        two = self.report(self.results(grid() + [above, dict(row(1, 98, 8, 1000, 500), row_flags="above_roof noisy")], "two"))
        self.assertIn("<li>2 models are above their roof and left out here.</li>", two)
        rows = [dict(r, row_flags="noisy|unusable" if i == 0 else "", pct_of_peak=99.5 if i == 0 else r["pct_of_peak"]) for i, r in enumerate(grid())]
        page = self.report(self.results(rows, "busy"))
        self.assertIn("<li>1 model is unusable and left out here.</li>", page)
        self.assertNotIn(" to 99.5 %", page)
        self.assertIn("; 1 model is noisy.</li>", two)
        lines = html.unescape(re.sub(r"<[^>]*>", "", re.search(r'<section id="findings".*?</section>', page, re.S).group(0)))
        self.assertIn("of the measured peak; most: layers=1,nodes=16,batch=8.", lines)
        self.assertNotIn("above their roof", self.report(self.results(grid(), "b")))

    def test_names_have_what_varies(self):
        """And once above the table what does not, by family: a part that only some ids have is in neither."""
        several = [row(2, nodes, batch, 1000, 12 if (nodes, batch) == (8, 2) else 10) for nodes in (8, 16) for batch in (1, 2)]
        only = dict(row(3, 8, 4, 1000, 5), family="rnn", id="rnn/cell=lstm,layers=3,batch=4,mode=infer,threads=1")
        page = self.report(self.results(several + [only]))
        models = re.search(r'<section id="models".*?</section>', page, re.S).group(0)
        lines = re.search(r'<section id="findings".*?</section>', page, re.S).group(0)
        self.assertIn(f'<code title="{several[1]["id"]}">fc/nodes=8,batch=2</code>', lines)
        self.assertRegex(lines, r'<code title="rnn/[^"]*">rnn</code>')
        self.assertIn("All fc: layers=2, mode=infer, threads=1</p>", models)

    def test_presets_have_their_names(self):
        """In sentences, tables and what a pointer shows; a model that is none is told by its keys."""
        nets = [dict(row(3, 8, batch, 1000 * (k + 1), 5 + k), family="cnn", id=f"cnn:{preset},batch={batch},mode=infer,threads=1")
                for k, (preset, batch) in enumerate((("resnet50", 1), ("resnet50", 4), ("vgg16", 1)))]
        page = self.report(self.results([*nets, row(2, 8, 1, 1000, 12)]), self.results([*nets, row(2, 8, 1, 1000, 12)], "b"))
        findings, comparison = (re.search(rf'<section id="{name}".*?</section>', page, re.S).group(0) for name in ("findings", "comparison"))
        self.assertRegex(findings, r'farthest below: <code title="cnn/block=[^"]*">resnet50,batch=1</code>')
        self.assertRegex(findings, r'most: <code title="fc/[^"]*">fc</code>')
        for name in ("resnet50,batch=1", "resnet50,batch=4", "vgg16", "fc"):
            self.assertIn(f"<td>{name}</td>", comparison)
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
        self.assertEqual(sorted(set(data["name"]["v"])), ["fc", "resnet50,batch=*", "vgg16"])

    def test_cannot_tell_where_series_disagree(self):
        rows = [row(1, 8 * k, batch, 1000, 10 + (batch == 2) * (k % 3 - 1) * 4) for k in range(1, 10) for batch in (1, 2)]
        self.assertEqual(self.verdicts(self.report(self.results(rows)))["Utilization grows with the minibatch."][0], "cannot be told")

    def test_memory_share_of_other_ops(self):
        """Of the time outside products, 300 of 400 ns are bound by memory in each model."""
        rows = grid()[:4]
        ops = "id,op_index,layer,op,category,op_pass,dtype,op_shape,executions,flop_count,in_bounds_flop_count,byte_count,time_ns_median,share_pct," \
              "gflops,bw_gbs,intensity_flop_per_byte,attainable_gflops,pct_of_roof,bound,roof_level,implementation,extrapolated\n"
        for r in rows:
            for k, (op, category, ns, bound) in enumerate([("dense", "linear gemm", 900, "compute"), ("relu", "activation", 300, "memory"),
                                                           ("bias", "bias", 100, "overhead")]):
                ops += f'"{r["id"]}",{k},hidden1,{op},{category},forward,f32,8:8:8,1,8,8,8,{ns},10,1,1,1,1,50,{bound},L1,x,0\n'
        page = self.report(self.results(rows, **{"ops.csv": ops}))
        verdict, why = self.verdicts(page)["Ops other than matrix products are bound by memory."]
        self.assertEqual(verdict, "holds")
        self.assertIn("75.0 % (95 % interval 75.0 to 75.0 %)", why)
        section = re.search(r'<section id="ops".*?</section>', page, re.S).group(0)
        self.assertIn('<figure class="breakdown"', section)
        self.assertEqual(re.findall(r"<td[^>]*>([^<]*)</td>", section.split("<table")[-1]), ["fc", "4", "69.2", "23.1", "7.7"])

    def test_categories_called_like_columns(self):
        """Of the section's table, of another one, or like the number of one."""
        rows = grid()[:4]
        for number, category in enumerate(("kind", "models", "all others", "residual", "1", "family")):
            ops = "id,op_index,layer,op,category,op_pass,dtype,op_shape,executions,flop_count,in_bounds_flop_count,byte_count,time_ns_median,share_pct," \
                  "gflops,bw_gbs,intensity_flop_per_byte,attainable_gflops,pct_of_roof,bound,roof_level,implementation,extrapolated\n"
            for r in rows:
                for k, (of_op, ns) in enumerate((("linear gemm", 300), (category, 100))):
                    ops += f'"{r["id"]}",{k},hidden1,dense,{of_op},forward,f32,8:8:8,1,8,8,8,{ns},10,1,1,1,1,50,memory,L1,x,0\n'
            page = self.report(self.results(rows, f"called{number}", **{"ops.csv": ops}))
            table = re.search(r'<section id="ops".*?</section>', page, re.S).group(0).split("<table")[-1]
            self.assertEqual(re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", table), ["kind", "models", "linear gemm", category, "fc", "4", "75.0", "25.0"])
        side_by_side = subprocess.run([PARADNN, "breakdown", os.path.join(self.place.name, "called3"), "--across", "batch"], capture_output=True, text=True, check=True)
        self.assertEqual(re.findall(r"^residual +(\S+)", side_by_side.stdout, re.M), ["10.0", "60.0"])

    def test_more_categories_than_columns(self):
        """300 equal ops of a category each: 63 have a column of their own."""
        rows = grid()[:4]
        ops = "id,op_index,layer,op,category,op_pass,dtype,op_shape,executions,flop_count,in_bounds_flop_count,byte_count,time_ns_median,share_pct," \
              "gflops,bw_gbs,intensity_flop_per_byte,attainable_gflops,pct_of_roof,bound,roof_level,implementation,extrapolated\n"
        for r in rows:
            for k in range(300):
                ops += f'"{r["id"]}",{k},hidden1,dense,kind {k},forward,f32,8:8:8,1,8,8,8,10,1,1,1,1,1,50,memory,L1,x,0\n'
        page = self.report(self.results(rows, **{"ops.csv": ops}))
        section = re.search(r'<section id="ops".*?</section>', page, re.S).group(0)
        cells = re.findall(r"<td[^>]*>([^<]*)</td>", section.split("<table")[-1])
        self.assertEqual(cells, ["fc", "4", *["0.3"] * 63, "79.0"])
        self.assertIn("all others", section)

    def test_the_data_are_the_tables(self):
        rows = grid() + [dict(row(8, 8, 1, 1, 0), status="oom_predicted", reason='needs 3 GiB, "so"', time_ns_median="", ci_low_ns="",
                             ci_high_ns="", gflops="", pct_of_peak="", pct_of_roof="", bound="", in_bounds_flop_count=9, byte_count=9,
                             intensity_flop_per_byte=1)]
        page = self.report(self.results(rows))
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
        self.assertEqual(data["n"], len(rows))

        def at(column, k):
            return column["v"][int(column["i"][k * column["w"]:(k + 1) * column["w"]], 36) if "i" in column else 0]
        numbers = {"time_ns": "time_ns_median", "low": "ci_low_ns", "high": "ci_high_ns", "gflops": "gflops", "params": "params",
                   "intensity": "intensity_flop_per_byte", "roof": "pct_of_roof"}
        for k, wanted in enumerate(rows):
            axes = {axis["name"]: at(axis, k) for axis in data["axes"]}
            self.assertEqual(re.sub(r"(\w+)=\*", lambda part: f"{part.group(1)}={axes[part.group(1)]}", at(data["id"], k)), wanted["id"])
            self.assertEqual(at(data["status"], k), wanted["status"])
            self.assertEqual(axes["nodes"], str(wanted["nodes"]))
            for name, column in numbers.items():
                self.assertEqual(data[name][k], None if wanted[column] == "" else float(f"{wanted[column]:.6g}"), name)
        self.assertIn("needs 3 GiB, &quot;so&quot;", page)

    def test_page_runs_and_loads_nothing_else(self):
        page = self.report(self.results(grid()))
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
        self.assertTrue(policy.startswith("default-src 'none';"))
        for tag, kind in (("style", "style-src"), ("script", "script-src")):
            text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S).group(1)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertIn(f"{kind} 'sha256-{digest}'", policy)
            self.assertLess(len(text), 25000)
        self.assertNotRegex(page.replace("http://www.w3.org/2000/svg", ""), r"https?://|<link|<img|<iframe|@import|url\((?!#)|style=")

    def figures(self, page):
        """Of every figure: the command that it names, as words, and its picture or why there is none."""
        found = re.findall(r"<figure[^>]*>\n(.*?)<figcaption><code>(.*?)</code>(.*?)</figcaption></figure>", page, re.S)
        self.assertEqual(len(found), page.count("<figure"))
        self.assertEqual([why for picture, _, why in found if picture and why], [])
        return [(shlex.split(html.unescape(command)), picture or html.unescape(why).removeprefix(": ")) for picture, command, why in found]

    def test_figures_are_those_of_plot(self):
        """Byte by byte, or the same reason."""
        several = [row(2, nodes, batch, 1000, 10 + nodes * batch) for nodes in (8, 16) for batch in (1, 2)]
        others = [dict(row(3, 8, batch, 1000, 10), family="rnn", id=f"rnn/cell=lstm,layers=3,batch={batch},mode=infer,threads=1") for batch in (4, 8)]
        names = ("grid", "it's", "none", "families", "apart")
        for name, rows, files in zip(names, (grid(), grid()[2:], grid(), several + others, others), ({}, {}, {"ceilings.csv": None}, {}, {})):
            self.results(rows, name, **files)
        for name in ("zen5-2-cores", "zen3-2-cores"):
            os.symlink(os.path.join(EXAMPLES, name), os.path.join(self.place.name, name))
        pages = {("zen5-2-cores", "zen3-2-cores"): ["speedup", "roofline", "heatmap", "weights", "weights", "breakdown", "boxes"],
                 ("grid",): ["roofline", "heatmap", "weights", "boxes"],
                 ("grid", "--only", "nodes>8"): ["roofline", "heatmap", "weights", "boxes"],
                 ("grid", "it's"): ["speedup", "roofline", "heatmap", "weights", "weights", "boxes"],
                 ("grid", "none"): ["speedup", "roofline", "heatmap", "weights", "weights", "boxes"],
                 ("grid", "apart"): ["roofline", "heatmap", "heatmap", "weights", "weights", "boxes"],
                 ("families",): ["roofline", "heatmap", "heatmap", "weights", "boxes"]}
        for arguments, kinds in pages.items():
            with self.subTest(arguments):
                subprocess.run([PARADNN, "report", *arguments, "-o", "page.html"], cwd=self.place.name, check=True, capture_output=True)
                with open(os.path.join(self.place.name, "page.html"), encoding="utf-8") as file:
                    figures = self.figures(file.read())
                self.assertEqual([command[2] for command, _ in figures], kinds)
                for command, shown in figures:
                    done = subprocess.run([PARADNN, *command[1:], "-o", "/dev/stdout", "--format", "svg"], cwd=self.place.name, capture_output=True, text=True)
                    if done.returncode == 0:
                        self.assertEqual(shown, done.stdout, command)
                    else:
                        self.assertEqual(shown, done.stderr.removeprefix("paradnn: ").strip(), command)

    def test_names_from_tables_are_text(self):
        evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>'\"&"
        rows = [dict(r, row_flags=evil, bound=evil, reason=evil) for r in grid()]
        rows[0]["id"] = evil
        rows[1].update(status=evil, time_ns_median="")
        page = self.report(self.results(rows, name="a<b>&'c\n", **{"environment.yaml": f'cpu: "{evil}"\n'}))
        self.assertEqual(page.count("<script"), 2)
        self.assertNotIn("<img", page)
        self.assertNotIn("<b>&'c", page)

    def test_same_tables_same_bytes(self):
        directory = self.results(grid())
        self.assertEqual(self.report(directory), self.report(directory))

    def test_two_directories(self):
        faster = [dict(r, time_ns_median=r["time_ns_median"] / 2, ci_low_ns=r["ci_low_ns"] / 2, ci_high_ns=r["ci_high_ns"] / 2)
                  for r in grid()]
        page = self.report(self.results(grid(), "a"), self.results(faster, "b"))
        section = html.unescape(re.sub(r"<[^>]*>", "", re.search(r'<section id="comparison".*?</section>', page, re.S).group(0)))
        self.assertIn("The time of a over that of b is 2.00 (1.99 to 2.01, without what shifts a whole run), the geometric mean over 36 instances. "
                      "The interval is above 1 in 36 (100 %)", section)
        self.assertIn("36 of 36 pairs, by their speed-ups.", section)
        for source in ("a", "b"):
            verdict, why = self.verdicts(page, source)["Utilization grows with the minibatch."]
            self.assertEqual(verdict, "holds")
            self.assertIn("geometric mean of 9 series", why)

    def test_three_directories(self):
        """A column and a panel for each beside the first, and a sentence; one that cannot be compared says why, and the others are there."""
        times = {"a": 1, "b": 0.5, "c": 4}
        places = [self.results([dict(r, **{key: r[key] * factor for key in ("time_ns_median", "ci_low_ns", "ci_high_ns")}) for r in grid()], name,
                               **{"environment.yaml": f'cpu: "CPU {name}"\n'}) for name, factor in times.items()]
        other = self.results([dict(r, id=r["id"].replace("nodes=", "nodes=1"), nodes=f"1{r['nodes']}") for r in grid()], "d")
        for directories, why in ((places, False), ([*places, other], True)):
            page = self.report(*directories)
            comparison = re.search(r'<section id="comparison".*?</section>', page, re.S).group(0)
            text = html.unescape(re.sub(r"<[^>]*>", "", comparison))
            self.assertIn("b: The time of a over that of b is 2.00 (1.99 to 2.01", text)
            self.assertIn("c: The time of a over that of c is 0.250 (0.249 to 0.251", text)
            self.assertEqual("a and d cannot be compared: " in text, why)
            self.assertEqual(text.count("cannot be compared"), why)
            self.assertEqual(re.findall(r"<th[^>]*>([^<]*)</th>", comparison)[:6], ["differs", "a", "b", "c", "b over a", "c over a"])
            for panel in ("Speed-up of b over a", "Speed-up of c over a"):
                self.assertEqual(comparison.count(f">{panel}<"), 1)
            self.assertNotIn("over d", comparison)
            self.assertIn("<code>paradnn plot speedup a b c</code>", comparison)
            self.assertIn(f"paradnn: a, b{', c and d' if why else ' and c'}</h1>", page)
            claims = self.verdicts(page, "a and b"), self.verdicts(page, "a and c")
            for pair in claims:
                self.assertIn("Large minibatches prefer one platform, small ones the other.", pair)

    def test_other_implementations_come_first(self):
        """Before which side is faster, with the op; not where both sides ran the same."""
        rows = grid()[:4]
        faster = [dict(r, time_ns_median=r["time_ns_median"] / 2, ci_low_ns=r["ci_low_ns"] / 2, ci_high_ns=r["ci_high_ns"] / 2) for r in rows]
        for other in (True, False):
            sides = []
            for name, of_side in (("a", rows), ("b", faster)):
                ops = "id,op_index,layer,op,category,op_pass,dtype,op_shape,executions,flop_count,in_bounds_flop_count,byte_count,time_ns_median,share_pct," \
                      "gflops,bw_gbs,intensity_flop_per_byte,attainable_gflops,pct_of_roof,bound,roof_level,implementation,extrapolated\n"
                for k, r in enumerate(of_side):
                    ran = "jit" if other and name == "b" and not k else "gemm"
                    ops += f'"{r["id"]}",0,hidden1,dense,linear gemm,forward,f32,8:8:8,1,8,8,8,{r["time_ns_median"]},100,1,1,1,1,50,compute,L1,{ran},0\n'
                sides.append(self.results(of_side, f"{name}{other}", **{"ops.csv": ops}))
            section = html.unescape(re.sub(r"<[^>]*>", "", re.search(r'<section id="comparison".*?</section>', self.report(*sides), re.S).group(0)))
            self.assertEqual("In 1 of 4 the sides ran an op in different implementations, such as dense/forward of" in section, other)
            self.assertEqual(f"on side B. A is a{other}, B is b{other}. " in section, other)
            if other:
                self.assertLess(section.index("different implementations"), section.index("The time of a"))

    def test_ops_are_read_once(self):
        """By all sections and pictures together, as the kernel counts how often the file is opened."""
        ops = "id,op_index,layer,op,category,op_pass,dtype,op_shape,executions,flop_count,in_bounds_flop_count,byte_count,time_ns_median,share_pct," \
              "gflops,bw_gbs,intensity_flop_per_byte,attainable_gflops,pct_of_roof,bound,roof_level,implementation,extrapolated\n"
        ops += "".join(f'"{r["id"]}",0,hidden1,dense,linear gemm,forward,f32,8:8:8,1,8,8,8,900,10,1,1,1,1,50,compute,L1,x,0\n' for r in grid()[:4])
        sides = [self.results(grid()[:4], name, **{"ops.csv": ops}) for name in "ab"]
        libc, opened = ctypes.CDLL(None), 0x20
        events = libc.inotify_init1(os.O_NONBLOCK)
        for side in sides:
            libc.inotify_add_watch(events, os.path.join(side, "ops.csv").encode(), opened)
        page = self.report(*sides)
        self.assertEqual(len(os.read(events, 4096)) // 16, 2)
        os.close(events)
        self.assertIn("Where the difference comes from", page)
        self.assertIn('<figure class="breakdown"', page)

    def test_two_platforms_in_one_directory(self):
        """A run setting with two values is a comparison too."""
        rows = grid() + [dict(r, threads=4, id=r["id"].replace("threads=1", "threads=4"), time_ns_median=r["time_ns_median"] / 2,
                              ci_low_ns=r["ci_low_ns"] / 2, ci_high_ns=r["ci_high_ns"] / 2) for r in grid()]
        page = self.report(self.results(rows))
        section = html.unescape(re.sub(r"<[^>]*>", "", re.search(r'<section id="comparison".*?</section>', page, re.S).group(0)))
        self.assertIn("threads=4 is 2.00 times as fast as threads=1 (1.99 to 2.01), the geometric mean over 36 instances. threads=4 is clearly faster in 36", section)

    def test_rows_that_only_one_side_has(self):
        page = self.report(self.results(grid(), "a"), self.results(grid()[1:], "b"))
        self.assertIn("<summary>Models without a ratio: 1</summary>", page)
        self.assertIn("<td>no such row</td>", page)

    def test_two_directories_without_a_common_model(self):
        other = [dict(r, id=r["id"].replace("nodes=", "nodes=1"), nodes=f"1{r['nodes']}") for r in grid()]
        page = self.report(self.results(grid(), "a"), self.results(other, "b"))
        self.assertIn("cannot be compared", page)

    def test_an_epoch_by_its_lengths(self):
        directory, path = self.results(grid()), os.path.join(self.place.name, "a", "seqpoint.csv")
        self.assertNotIn('id="epoch"', self.report(directory))
        table = ("id,source_length,target_length,iterations,flop_count,chosen_by,seqpoint_weight,draws,draws_weight,time_ns,measured\n"
                 "<b>,10,0,40,,seqpoint|sample,90,1,50,50000,1\nb,30,0,60,,,,0,,250000,1\n")
        with open(path, "w", encoding="utf-8") as file:
            file.write(table)
        page = self.report(directory)
        for text in ('<a href="#epoch">', '<figure class="seqpoint"',
                     "100 iterations of 2 lengths; 1 SeqPoint projects 4.50 ms, all iterations take 17.0 ms: -73.53 %",
                     "<tr>" + "".join(f'<td class="number">{cell}</td>' for cell in ("10", "40", "90", "50.0 us")) + "</tr>"):
            self.assertIn(text, page)
        with open(path, "w", encoding="utf-8") as file:
            file.write(table.replace("b,30,0,60", "b,<30>,0,60"))
        self.assertIn("seqpoint.csv:3: source_length: &#39;&lt;30&gt;&#39; is not an integer", self.report(directory))

    def test_default_file(self):
        directory = self.results(grid())
        done = subprocess.run([PARADNN, "report", directory], capture_output=True, text=True)
        self.assertEqual(done.stdout, f"{directory}/report.html\n")
        self.assertTrue(os.path.exists(f"{directory}/report.html"))

    def test_without_roofs(self):
        """What was imported has none, and no utilization either."""
        page = self.report(self.results([dict(r, pct_of_peak="") for r in grid()], **{"ceilings.csv": None}))
        self.assertNotIn('class="roofline"', page)
        unknown = self.report(self.results([dict(r, bound="", pct_of_roof="") for r in grid()], "unknown", **{"ceilings.csv": None}))
        self.assertIn("36 of 36 models ended ok; what bounds them is not known.", unknown)
        self.assertNotIn("are bound by compute", unknown)
        self.assertIn("are bound by compute", page)
        self.assertNotIn("what bounds them is not known", page)
        self.assertIn("a has no measured roofs, so it has no roofline.", page)
        self.assertNotIn("so it has no roofline", self.report(self.results(grid(), "with")))
        self.assertIn("paradnn plot boxes a --value gflops", page)

    def test_one_of_two_has_no_rows(self):
        for order in ((0, 1), (1, 0)):
            names = [self.results(grid(), f"full{order[0]}"), self.results([], f"empty{order[0]}")]
            page = self.report(names[order[0]], names[order[1]])
            self.assertEqual(page.count('class="roofline"'), 1)

    def test_16_bits_beside_other_types(self):
        header = HEADER[:7] + ["dtype"] + HEADER[7:]
        rows = [dict(row(1, nodes, 1, 1000 * times, 10), dtype=dtype) for nodes in (8, 16, 32)
                for dtype, times in (("f32", 4), ("bf16", 2), ("int8", 1))]
        for r in rows:
            r["id"] += f",dtype={r['dtype']}"
        verdict, why = self.verdicts(self.report(self.results(rows, header=header)))["16-bit types make models faster."]
        self.assertEqual(verdict, "holds")
        self.assertIn("multiplied by 2.00 (", why)

    def test_rows_that_were_not_tried_did_not_fail(self):
        """In the heat map of layers and batch, one cell has only failures, one only rows that were not tried."""
        rows = grid()
        for r in rows:
            if r["layers"] == 1 and r["batch"] == 1:
                r.update(status="timeout", time_ns_median="", pct_of_peak="")
            if r["layers"] == 1 and r["batch"] == 2:
                r.update(status="interrupted", time_ns_median="", pct_of_peak="")
        rows = [r for r in rows if r["nodes"] == 8]
        figure = re.search(r'<figure class="heatmap".*?</figure>', self.report(self.results(rows)), re.S).group(0)
        self.assertEqual(len(re.findall(r'url\(#mark-6-\d+-b00020-', figure)), 1)

    def test_where_it_is_highest(self):
        """Of the cells of a heat map, also beside one without a number; nothing where all are alike."""
        rows = [dict(row(layers, 8, batch, 1000, layers * batch), reason="") for layers in (1, 2) for batch in (1, 4)]
        rows[0].update(status="timeout", time_ns_median="", pct_of_peak="")
        self.assertIn("<p>share of the measured peak (%): highest 8.00 at batch=4; lowest 2.00 at batch=1.</p>", self.report(self.results(rows)))
        self.assertNotIn("highest", self.report(self.results([dict(r, pct_of_peak=5) for r in rows], "alike")))

    def test_numbers_of_pictures(self):
        """Behind a heat map, unless its cells are many, and not behind points, which the table of models has."""
        for rows, has in ((grid(), True), ([row(1, nodes, batch, 1000, nodes + batch) for nodes in range(11) for batch in range(1, 11)], False)):
            page = self.report(self.results(rows, f"numbers{has}"))
            figure = page.split('<figure class="heatmap"')[1].split("</figure>\n")[1]
            self.assertEqual(figure.startswith("<details><summary>Its numbers</summary>"), has)
            self.assertFalse(page.split('<figure class="roofline"')[1].split("</figure>\n")[1].startswith("<details>"))
            self.assertEqual('<th scope="col" class="number">pct_of_peak</th>' in figure, has)

    def test_only_failures(self):
        rows = [dict(r, status="timeout", reason="took longer than 1 s", time_ns_median="", gflops="") for r in grid()]
        self.assertIn("took longer than 1 s", self.report(self.results(rows)))

    @staticmethod
    def failures(page):
        section = re.search(r'<section id="failures".*?</section>', page, re.S).group(0)
        return [[html.unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line)] for line in re.findall(r"<tr>(.*?)</tr>", section, re.S) if "<td" in line]

    def test_failures_by_status_and_reason(self):
        """2,000 models that did not run, for 300 reasons in five forms: most frequent first, a few models of each."""
        rows = grid()
        for k in range(2000):
            number = k % 240
            forms = ((f"needs {number}.5 GiB, more than 12 GiB", "oom_predicted") if k % 300 < 240 else
                     (f"took longer than {1 + k % 30} s in conv2d", "timeout") if k % 300 < 270 else
                     ("oneDNN has no f32 here", "unsupported") if k % 300 < 271 else
                     (f"oneDNN has no f64 here, {k % 28} times 1e+{k % 28:02}", "unsupported") if k % 300 < 299 else ("", "crash"))
            rows.append(dict(row(9, k, 1, 0, 0), status=forms[1], reason=forms[0], time_ns_median=""))
        self.assertEqual(len({r["reason"] for r in rows[36:] if r["status"] != "ok"}), 300)
        found = self.failures(self.report(self.results(rows)))
        self.assertEqual([line[:3] for line in found], [
            ["1640", "oom_predicted", "needs N GiB, more than N GiB"], ["180", "timeout", "took longer than N s in conv2d"],
            ["168", "unsupported", "oneDNN has no f64 here, N times N"], ["6", "unsupported", "oneDNN has no f32 here"], ["6", "crash", ""]])
        self.assertEqual(found[0][3].count("; layers=9,nodes="), 4)
        self.assertIn("layers=9,nodes=0,", found[0][3])

    def test_more_reasons_than_anybody_reads(self):
        rows = grid() + [dict(row(9, k, 1, 0, 0), status="crash", time_ns_median="", reason="".join("abcdefghij"[int(c)] for c in str(k)))
                         for k in range(300)]
        page = self.report(self.results(rows))
        self.assertEqual(len(self.failures(page)), 20)
        self.assertIn("20 of 300 reasons.", page)

    def test_states_of_the_machine(self):
        """Which part of the visits found the threads far apart: of moved rows what they say, of others by their distance."""
        header = [*HEADER, "rounds", "handoff_ns", "far_pct", "clock_ghz", "cpu_share_pct", "steal_pct"]
        for distances, far in ((((100, ""), (400, ""), (250, 25)), "50 %"), (((100, ""), (140, ""), (110, "")), ""), ((("", ""),) * 3, None)):
            rows = [dict(made, rounds=4 if i else 2, handoff_ns=distance, far_pct=far_pct, clock_ghz="" if far is None else 4 - i / 10,
                         cpu_share_pct="" if far is None else 99 - i, steal_pct="" if far is None else i)
                    for i, (made, (distance, far_pct)) in enumerate(zip(grid()[:3], distances))]
            page = self.report(self.results(rows, f"states-{far}", header))
            table = re.search(r"<table>(?:(?!</table>).)*States of states.*?</table>", page, re.S)
            self.assertEqual(table is not None, far is not None)
            if table:
                cells = [html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", table[0], re.S)]
                self.assertEqual(cells[1:], ["3", "10", "100", str(distances[1][0]), far, "3.8", "4", "97 %", "2 %"])

    def test_only(self):
        rows = grid() + [dict(row(8, 8, 1, 1, 0), status="timeout", reason="slow", time_ns_median="", gflops="")]
        place = self.results(rows)
        page = self.report(place, "--only", "fc/layers=1,batch=1,2")
        self.assertIn("<p>Only rows with fc/layers=1,batch=1,2</p>", page)
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
        self.assertEqual(len(data["time_ns"]), 6)
        page = self.report(place, "--only", "status!=ok")
        self.assertIn("slow", page)
        self.assertIn("0 of 1 model ended ok.", page)
        self.assertNotIn("bound by compute, 0", page)
        self.assertNotIn("<figure", page)
        self.assertNotIn("of the measured peak; most", page)
        self.assertNotIn('<section id="weights"', page)
        self.assertIn("named twice", self.refuse(place, place))
        self.assertIn("has no rows", self.refuse(place, "--only", "layers>8"))
        self.assertIn("no column 'layer'", self.refuse(place, "--only", "layer=1"))

    def test_refuses(self):
        self.assertIn("results.csv", self.refuse(self.place.name))
        self.assertIn("has no rows", self.refuse(self.results([], "empty")))
        self.assertIn("there is no column 'status'", self.refuse(self.results(grid(), "lacks", [c for c in HEADER if c != "status"])))
        self.assertIn("there is no column 'low'",
                      self.refuse(self.results(grid(), "roofs", **{"ceilings.csv": CEILINGS.replace(",low,", ",small,")})))
        self.report(self.results([dict(r, schema=3) for r in grid()], "schema-3", ["schema", *HEADER]))
        for schema, said in ((2, "results.csv: written by an older version of paradnn (schema 2, now 4)"),
                             (5, "results.csv:2: schema '5', this program reads 4"),
                             (2**32 + 4, "schema '4294967300', this program reads 4")):
            rows = [dict(r, schema=schema) for r in grid()]
            self.assertIn(said, self.refuse(self.results(rows, f"schema-{schema}", ["schema", *HEADER])))
        done = subprocess.run([PARADNN, "report", self.results(grid(), "fine"), "-o", "/nowhere/x.html"], capture_output=True, text=True)
        self.assertIn("/nowhere", done.stderr)


if __name__ == "__main__":
    unittest.main()
