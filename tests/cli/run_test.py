#!/usr/bin/env python3
"""paradnn run: what it shows, --vary, rows above their roofs, and the choices that it keeps.

Usage: run_test.py PARADNN [TEST...]"""

import os
import subprocess
import sys

from program import ROOFS, SHORT, Case, environment, main, needs, table


class Run(Case):
    ID = "fc/layers=2,nodes=64,input=20,output=10,batch=16,threads=1"

    def test_run_for_people(self):
        done = self.paradnn("run", self.ID, *ROOFS, *SHORT, "--set", "measure.rounds=2", "--set", "measure.probe=on", expect=0)
        self.assertRegex(done.stdout, r"\Afc/layers=2,nodes=64,")
        # Two visits of one instance are too few for an interval.
        self.assertRegex(done.stdout, r"per step(, 95 % interval .* \([3-8]| \(2) visits, \d+ samples\)")
        for word in ("dense", "bwd-weights", "softmax_cross_entropy", "rmsprop", "implementation", "16x20:64x20:16x64", "where ", "saving "):
            self.assertIn(word, done.stdout)

    def test_run_without_meminfo(self):
        """A service of systemd with ProcSubset=pid sees nothing but processes in /proc."""
        inner = ["unshare", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-c",
                 'mount -t proc -o subset=pid proc /proc && [ ! -e /proc/meminfo ] && exec "$@"', "sh"]
        if needs.missing("unshare") or subprocess.run([*inner, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("needs unshare with namespaces of its own")
        large = "fc/layers=1,nodes=65536,input=4000000,output=1,batch=1,mode=infer,threads=1"
        for model, status, said in ((self.ID, 0, "per step"), (large, 1, r"needs 977 GiB, the limit is [1-9]")):
            done = subprocess.run([*inner, os.path.abspath(sys.argv[1]), "run", model, *ROOFS, *SHORT, "--rounds", "1"], cwd=self.directory,
                                  env=environment(), capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stdout, said)

    def test_run_csv_is_ops_csv(self):
        done = self.paradnn("run", self.ID, *ROOFS, *SHORT, "--rounds", "1", "--format", "csv", expect=0)
        rows = table(done.stdout)
        columns = table(self.paradnn("columns", "ops", "--format", "csv", expect=0).stdout)
        names = [row["column"] for row in columns if row["table"] == "ops"]
        self.assertEqual(list(rows[0]), names)
        self.assertGreater(sum(float(row["time_ns_median"]) for row in rows), 0)

    def test_run_counts_what_implementations_move(self):
        """Two equal layers, whose recurrent weights (64, 16) are packed and then read in each of five steps."""
        model = "rnn/cell=lstm,layers=2,embedding=16,hidden=16,vocabulary=20,batch=1,length=5,mode=infer,rnn=unrolled,threads=1"
        rows = table(self.paradnn("run", model, *ROOFS, *SHORT, "--rounds", "1", "--format", "csv", expect=0).stdout)
        extra = {row["op"]: [int(row[f"extra_{what}_bytes"]) for what in ("read", "written", "set")] for row in rows}
        weights, step = 64 * 16 * 4, 6 * 16 * 4
        self.assertEqual(extra.pop("rnn"), [2 * 5 * weights, 2 * weights, weights + step])
        self.assertEqual({tuple(counts) for counts in extra.values()}, {(0, 0, 0)})

    VARY = [*ROOFS, *SHORT, "--set", "measure.rounds=2"]
    RNN = "rnn/cell=gru,embedding=16,vocabulary=20,batch=4,threads=1"

    def test_run_vary_shares_one_block(self):
        done = self.paradnn("run", self.RNN, "--vary", "length={from: 3, to: 9, plus: 3}", *self.VARY, expect=0)
        self.assertRegex(done.stdout, r"\Arnn/cell=gru,.*length=9,")
        self.assertRegex(done.stdout, r"\n  shared +\S+ KiB of weights and state\n  memory +one block of \S+ KiB; ")
        self.assertIn("\n  programs 3 prepared, 3 kept, at most 64\n", done.stdout)
        table = done.stdout.splitlines()[6:]
        self.assertRegex(table[0], r"\Alength +time +95 % from +to +examples/s +GFLOP/s +% of roof +prepare +status\Z")
        self.assertEqual([(row.split()[0], row.split()[-1]) for row in table[1:]], [("3", "ok"), ("6", "ok"), ("9", "ok")])

    def test_run_vary_csv_is_results_csv(self):
        for model, vary in ((self.RNN, "batch=1,8"), (self.ID + ",mode=infer,fuse=post-ops", "batch=32,1"),
                            ("gnmt/hidden=8,layers=2,vocabulary=20,batch=2,backend=openblas,threads=1", "source=3,7")):
            with self.subTest(model):
                done = self.paradnn("run", model, "--vary", vary, *self.VARY, "--format", "csv", expect=0)
                key, values = vary.split("=")
                rows = table(done.stdout)
                self.assertEqual([row[key] for row in rows], values.split(","))
                self.assertEqual({row["status"] for row in rows}, {"ok"})
                self.assertTrue(all(int(row["rounds"]) >= 2 and int(row["prepare_ns"]) > 0 for row in rows))
                self.assertIn("  programs 2 prepared, 2 kept, at most 64\n", done.stderr)

    def test_run_vary_says_which_value_does_not_fit(self):
        done = self.paradnn("run", self.RNN, "--vary", "length=9,90000", *self.VARY, "--set", "limits.memory=10MiB", expect=0)
        self.assertRegex(done.stdout, r"\n +9 .* ok\n +90000 .*oom_predicted +needs ")

    def test_run_asks_for_columns_first(self):
        for more in ([], ["--vary", "batch=1,2"]):
            done = self.paradnn("run", "fc/layers=1,nodes=8", *more, *ROOFS, "--format", "csv", "--columns", "nope", expect=2)
            self.assertRegex(done.stderr, r"\Aparadnn: --columns: (ops|results) has no column 'nope'\n\Z")

    def test_run_what_cannot_be(self):
        done = self.paradnn("run", "fc/layers=1,nodes=8,threads=4096", *ROOFS, expect=1)
        self.assertRegex(done.stdout, r"status +invalid: 4096 threads")

    def test_run_fails_as_a_sweep_does(self):
        limit = [*ROOFS, *SHORT, "--set", "limits.memory=1MiB"]
        big = "fc/layers=2,nodes=4096,threads=1"
        self.assertIn("oom_predicted", self.paradnn("run", self.ID, big, *limit, expect=0).stdout)
        self.assertIn("oom_predicted", self.paradnn("run", big, *limit, expect=1).stdout)

    # A kFLOP/s and a kB/s, so that every op is far above its roof.
    LOW = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,1e-6,1e-6,1e-6,5
bandwidth,read,,DRAM,1,0,1e-6,1e-6,1e-6,5
"""

    def test_rows_above_their_roof_are_named(self):
        self.write("low.csv", self.LOW)
        self.write("high.csv", self.LOW.replace("1e-6", "1e9"))

        def columns(text, title):
            """The cells of the column at whose title the table's right-aligned cells end; residual and total have none."""
            lines = text.split("\n\n")[1].splitlines()
            end = lines[0].index(title) + len(title)
            return [line[:end].split("  ")[-1].strip() if len(line) >= end else "" for line in lines[1:] if not line.startswith(("residual", "total"))]

        def run(roofs, *options):
            return self.paradnn("run", self.ID, "--ceilings", roofs, *SHORT, *options, expect=0).stdout

        text = run("low.csv")
        self.assertRegex(text, r"\n  roof     above its roof, at [\d.e+]+ times the 0\.0 GFLOP/s attainable there, bound by \w+.*: "
                               r"a count or a roof is wrong\n  flags    .*above_roof")
        self.assertRegex(text, r"\n  above    \w+ [\w-]+ of \w+ and \d+ more: [\d.]+ % of the step in ops above their roofs; "
                               r"what they lose is unknown\n")
        self.assertNotIn("  saving  ", text)
        self.assertEqual(set(columns(text, "% of roof")), {"above"})
        text = run("high.csv")
        self.assertRegex(text, r"\n  roof     0 % of the 1000000000\.0 GFLOP/s attainable there")
        self.assertRegex(text, r"\n  saving   .* would save [\d.]+ % of the step at its roof; it runs at 0 % of it")
        self.assertNotIn("above", text)
        self.assertEqual(set(columns(text, "% of roof")), {"0"})
        self.assertEqual(columns(run("low.csv", "--vary", "batch=4,8"), "% of roof"), ["above", "above"])
        self.paradnn("sweep", self.ID, "-o", "low", "--ceilings", "low.csv", *SHORT, expect=0)
        text = self.paradnn("breakdown", "low", expect=0).stdout
        self.assertEqual((set(columns(text, "% of roof")), set(columns(text, "would save at roof, % of step"))), ({"above"}, {""}))
        self.assertEqual(set(columns(self.paradnn("breakdown", "low", "--gemms", expect=0).stdout, "% of roof")), {"above"})

    def test_run_says_which_side_is_faster(self):
        """Of two sides that were visited next to each other eight times. All workers' choices are in a directory of their own meanwhile.
        No step is as short as max_time, so that no round is added."""
        os.mkdir(self.path("own"))
        for rounds, sides, is_said in ((8, "[none, post-ops]", True), (7, "[none, post-ops]", False), (8, "none", False)):
            for output in ([], ["--format", "csv"]):
                done = self.paradnn("run", self.ID, *ROOFS, *SHORT, "--set", f"run.fuse={sides}", "--set", f"measure.rounds={rounds}",
                                    "--set", "measure.max_time=100ns", *output,
                                    expect=0, env=environment(PARADNN_NO_CACHE="", XDG_CACHE_HOME=self.path("kept"), TMPDIR=self.path("own")))
                said, silent = (done.stderr, done.stdout) if output else (done.stdout, done.stderr)
                line = r"\n?fuse=post-ops is (slower than|faster than|alike with|undecided beside) fuse=none: [-+]\d+\.\d % time, 99 % interval "
                (self.assertRegex if is_said else self.assertNotRegex)(said, line + r"[-+]\S+ to [-+]\S+ %, 8 pairs\n")
                self.assertNotIn("pairs", silent)
                self.assertEqual(os.listdir(self.path("own")), [])
                self.assertEqual(os.path.exists(self.path("kept")), sides == "none")

    def test_choices_are_kept_unless_told_not_to(self):
        def run(command, *options, **variables):
            done = self.paradnn(*command, self.ID, *ROOFS, *SHORT, "--set", "measure.rounds=2", *options, expect=0,
                                env=environment(**variables))
            self.assertNotIn("cache", done.stderr)
            kept = self.path("kept", "paradnn")
            return {name: self.read("kept", "paradnn", name) for name in os.listdir(kept)} if os.path.exists(kept) else {}

        command, keep = ["run"], {"PARADNN_NO_CACHE": "", "XDG_CACHE_HOME": self.path("kept")}
        self.assertEqual(run(command, "--no-cache", **keep), {})
        self.assertEqual(run(command, **{**keep, "PARADNN_NO_CACHE": "1"}), {})
        # What was measured beside another program is not kept, so that files may begin with little and grow.
        first = run(command, **keep)
        self.assertEqual(len(first), 1)
        for command_now in (command, ["sweep", "-o", "one"]):
            second = run(command_now, **keep)
            self.assertEqual(second.keys(), first.keys())
            for name, text in first.items():
                self.assertTrue(second[name].startswith(text), (text, second[name]))
            first = second
        for name in first:
            self.write(os.path.join("kept", "paradnn", name), "nothing\n")
        self.assertEqual(run(command, **keep).keys(), first.keys())
        self.write("file", "")
        run(command, PARADNN_NO_CACHE="", XDG_CACHE_HOME=self.path("file"))
        run(command, PARADNN_NO_CACHE="", XDG_CACHE_HOME="", HOME="")


if __name__ == "__main__":
    main(1)
