#!/usr/bin/env python3
"""Sweeps: their tables and directory, what runs again, what does not mix, and instances that cannot be run.

Usage: sweep_test.py PARADNN [TEST...]"""

import os
import re
import shutil
import subprocess

from program import CEILINGS, LONG, NETS, ROOFS, SHORT, Case, Swept, environment, main, table

FULL_IDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "golden", "full-ids")


class Again(Swept):
    def test_every_instance_is_one_row(self):
        rows = self.rows("small.results", "results.csv")
        self.assertEqual([row["id"] for row in rows], self.ids())
        statuses = [row["status"] for row in rows]
        self.assertEqual((statuses.count("ok"), statuses.count("filtered")), (8, 4))
        self.assertEqual({row["reason"] for row in rows if row["status"] == "filtered"}, {"params < 1000"})
        self.assertRegex(self.done.stderr, r"12 instances: 8 ok, 4 filtered\n")
        self.assertIn("paradnn plot roofline small.results", self.done.stderr)
        self.assertEqual(self.done.stdout, "")
        for row in rows:
            if row["status"] == "ok":
                self.assertGreater(float(row["time_ns_median"]), 0)
                self.assertGreater(float(row["pct_of_roof"]), 0)
        ops = self.rows("small.results", "ops.csv")
        self.assertEqual({op["id"] for op in ops}, {row["id"] for row in rows if row["status"] == "ok"})

    def test_directory_holds_what_was_run(self):
        self.assertEqual(sorted(os.listdir(self.path("small.results"))),
                         ["ceilings.csv", "environment.yaml", "journal-ops.csv", "journal.csv", "ops.csv", "results.csv", "spec.yaml"])
        self.assertIn("sweep: small", self.read("small.results", "spec.yaml"))
        self.assertIn("omp_proc_bind", self.read("small.results", "environment.yaml"))
        # The recorded spec is enough to run it again, overrides included.
        listed = table(self.paradnn("list", "small.results/spec.yaml", "--format", "csv", expect=0).stdout)
        self.assertEqual([row["id"] for row in listed], self.ids())
        sets = ["--set", "run.mode=train", "--set", "models.0.fc.batch=[2, 4]", "--set", "models.0.fc.layers=1"]
        self.sweep("-o", "other", *SHORT, *sets)
        listed = [self.paradnn("list", *arguments, "--format", "csv", expect=0).stdout
                  for arguments in (["small.yaml", *sets], ["other/spec.yaml"])]
        self.assertEqual(listed[0], listed[1])

    def test_again_adds_nothing(self):
        journal = self.read("small.results", "journal.csv")
        results = self.read("small.results", "results.csv")
        done = self.sweep()
        self.assertEqual(self.read("small.results", "journal.csv"), journal)
        self.assertEqual(self.read("small.results", "results.csv"), results)
        self.assertNotIn("the spec has changed", self.done.stderr + done.stderr)

    def test_more_rounds_are_appended(self):
        before = self.read("small.results", "journal.csv")
        self.sweep("--set", "measure.rounds=3")
        after = self.read("small.results", "journal.csv")
        self.assertTrue(after.startswith(before))
        rounds = [int(row["rounds"]) for row in self.rows("small.results", "results.csv") if row["status"] == "ok"]
        self.assertEqual(len(rounds), 8)
        self.assertGreaterEqual(min(rounds), 3)

    def test_other_spec_keeps_earlier_rows_and_is_said(self):
        train = [row["id"] for row in self.rows("small.results", "results.csv") if (row["status"], row["run_mode"]) == ("ok", "train")]
        done = self.sweep("--set", "run.mode=infer")
        self.assertEqual(done.stderr.count("the spec has changed; rows of the previous one stay in the tables; paradnn prune drops them\n"), 1)
        ids = [row["id"] for row in self.rows("small.results", "results.csv")]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual((len(ids), sorted(ids[6:])), (10, sorted(train)))

    def test_other_seed_does_not_mix(self):
        self.assertIn("seed", self.sweep("--set", "seed=2", expect=2).stderr)

    def test_other_machine_does_not_mix(self):
        facts = self.read("small.results", "environment.yaml")
        for fact in ("host", "cores_usable", "quota_cpus", "l1d_bytes", "l2_bytes", "l3_bytes"):
            with self.subTest(fact):
                other, count = re.subn(rf"(?m)^{fact}: (\S+)", f"{fact}: 12345", facts)
                self.assertEqual(count, 1)
                self.write("small.results/environment.yaml", other)
                done = self.sweep(expect=2)
                self.assertRegex(done.stderr, rf"environment\.yaml: {fact} was 12345 and is .*; one directory holds one machine")
                self.assertEqual(self.read("small.results", "environment.yaml"), other)

    def test_bad_roofs_of_the_directory_change_nothing(self):
        self.write("small.results/ceilings.csv", "kind,color\n")
        before = {name: self.read("small.results", name) for name in os.listdir(self.path("small.results"))}
        done = self.paradnn("sweep", "small.yaml", "--set", "measure.rounds=3", expect=2)
        self.assertRegex(done.stderr, r"\Aparadnn: small\.results/ceilings\.csv:1: .*\n\Z")
        self.assertEqual({name: self.read("small.results", name) for name in os.listdir(self.path("small.results"))}, before)

    def test_roofs_of_other_threads_are_said(self):
        self.write("roofs.csv", CEILINGS.replace(",1,", ",7,"))
        done = self.sweep()
        self.assertIn("roofs.csv has no roofs for 1 thread", done.stderr)

    def test_shards_are_the_sweep(self):
        """Each shard has the rows that `list --shard` shows, in a directory of its own that no other shard goes on in."""
        sharded = []
        for i in range(3):
            self.paradnn("sweep", "small.yaml", *ROOFS, "--shard", "auto/3", "--shard-base", "1", expect=0,
                         env=environment(SGE_TASK_ID=str(i + 1), LSB_JOBINDEX="0"))
            directory = f"small.{i}-of-3.results"
            ids = [row["id"] for row in self.rows(directory, "results.csv")]
            listed = table(self.paradnn("list", "small.yaml", "--shard", f"{i}/3", "--format=csv", expect=0).stdout)
            self.assertEqual(ids, [row["id"] for row in listed])
            self.assertIn(f'shard: "{i}/3"', self.read(directory, "environment.yaml"))
            sharded += ids
        self.assertEqual(sorted(sharded), sorted(self.ids()))
        self.assertIn("shard 0/3, and this is shard 1/3", self.sweep("--shard", "1/3", "-o", "small.0-of-3.results", expect=2).stderr)
        self.assertIn("shard 0/3, and this is the whole sweep", self.sweep("-o", "small.0-of-3.results", expect=2).stderr)
        self.sweep("--shard", "0/3", "-o", "small.0-of-3.results")
        self.assertIn("holds a whole sweep, and this is shard 0/3", self.sweep("--shard", "0/3", "-o", "small.results", expect=2).stderr)


class Sweep(Case):
    FILES = {**Case.FILES, "nets.yaml": NETS}
    ONE = "fc/layers=1,nodes=8,input=8,output=8,batch=1,threads=1"

    def test_directory_of_full_ids_goes_on(self):
        """A directory of a version whose ids named every setting: its visits count, and today's ids find its rows."""
        os.mkdir(self.path("old"))
        for name in ("journal.csv", "journal-ops.csv", "results.csv", "ops.csv", "spec.yaml"):
            shutil.copy(os.path.join(FULL_IDS, name), self.path("old"))
        old = self.rows("old", "results.csv")
        self.assertTrue(all(",isa=default" in row["id"] for row in old))
        today = [row["id"] for row in table(self.paradnn("list", "old/spec.yaml", "--format=csv", expect=0).stdout)]
        self.assertFalse(any(",isa=" in name for name in today))
        shares = table(self.paradnn("breakdown", "old", "--format=csv", expect=0).stdout)
        self.assertEqual(list(dict.fromkeys(row["id"] for row in shares)), today)
        only = self.paradnn("breakdown", "old", "--format=csv", "--only", "id=" + old[1]["id"], expect=0).stdout
        self.assertEqual({row["id"] for row in table(only)}, {today[1]})
        journal = self.read("old", "journal.csv")
        self.paradnn("sweep", "old/spec.yaml", "-o", "old", *ROOFS, expect=0)
        self.assertEqual(self.read("old", "journal-schema-3.csv"), journal)
        self.assertEqual([{**row, "schema": "3"} for row in table(journal)],
                         [{name: row[name] for name in table(journal)[0]} | {"schema": "3"}
                          for row in table(self.read("old", "journal.csv"))])
        journal = self.read("old", "journal.csv")
        rows = self.rows("old", "results.csv")
        self.assertEqual([row["id"] for row in rows], today)
        self.assertEqual([row["time_ns_median"] for row in rows], [row["time_ns_median"] for row in old])
        self.assertEqual({row["id"] for row in self.rows("old", "ops.csv")}, set(today))
        # New rows are written in today's form; old rows stay.
        self.paradnn("sweep", "old/spec.yaml", "-o", "old", *ROOFS, "--set", "measure.rounds=2", expect=0)
        self.assertTrue(self.read("old", "journal.csv").startswith(journal))
        visits = self.rows("old", "journal.csv")
        self.assertEqual([row["id"] in today for row in visits], [False] * len(old) + [True] * (len(visits) - len(old)))
        ops = self.rows("old", "journal-ops.csv")
        for row in visits:
            self.assertEqual(len([op for op in ops if (op["id"], op["visit"]) == (row["id"], row["visit"])]), int(row["ops"]))
        self.assertTrue(all(int(row["rounds"]) >= 2 for row in self.rows("old", "results.csv")))

    # Every library has matrix products for SSE4.1; the last isa is beyond any current processor.
    ISA = [*SHORT, "--set", "run.threads=1"]
    PLAIN = "cnn/block=plain,blocks=1,filters=16,image=16,output=10,batch=2"

    def test_each_isa_has_kernels_of_its_own(self):
        sets = [*self.ISA, "--set", "run.isa=[default, sse41]"]
        self.paradnn("sweep", self.PLAIN, *ROOFS, "-o", "isa", *sets)
        rows = {row["isa"]: row for row in self.rows("isa", "results.csv")}
        self.assertEqual(set(rows), {"default", "sse41"})
        self.assertEqual(rows["default"]["status"], "ok")
        if "this processor has" in rows["sse41"]["reason"]:
            self.skipTest("no processor with these instruction sets")
        self.assertEqual(rows["sse41"]["status"], "ok", rows["sse41"]["reason"])
        ops = self.rows("isa", "ops.csv")
        names = {isa: [op["implementation"] for op in ops if op["id"] == row["id"] and op["op"] == "conv2d"]
                 for isa, row in rows.items()}
        for name in names["sse41"]:
            self.assertNotRegex(name, "avx")
        self.assertNotEqual(names["default"], names["sse41"])
        done = self.paradnn("check", self.PLAIN, *sets, expect=0)
        self.assertEqual(done.stderr, "2 passed, 0 failed, 0 skipped\n")

    def test_isa_without_a_way_is_unsupported(self):
        for backend, isa, reason in (("reference", "sse41", "reference cannot limit its instruction sets"),
                                     ("onednn", "avx512_core_amx_fp16", "isa=avx512_core_amx_fp16: this processor has|does not know"),
                                     ("openblas", "avx512_core_amx_fp16", "isa=avx512_core_amx_fp16: this processor has")):
            with self.subTest(backend, isa=isa):
                done = self.paradnn("check", f"fc/layers=1,nodes=8,batch=2,backend={backend},isa={isa}")
                if "PASS" not in done.stdout:
                    self.assertRegex(done.stdout, f"SKIP .*({reason}|this processor has)")

    def test_openblas_keeps_to_its_isa(self):
        small = "fc/layers=2,nodes=64,input=20,output=10,batch=16,threads=1,backend=openblas,isa=sse41"
        done = self.paradnn("check", small)
        self.assertRegex(done.stdout, r"PASS  fc|this processor has")

    def test_too_big_is_predicted_and_nothing_starts(self):
        self.sweep("--set", "limits.memory=1KiB", expect=1)  # nothing ended ok
        rows = self.rows("small.results", "results.csv")
        self.assertEqual({row["status"] for row in rows}, {"oom_predicted", "filtered"})
        self.assertIn("the limit is 1.00 KiB", next(row["reason"] for row in rows if row["status"] == "oom_predicted"))
        self.assertEqual(self.read("small.results", "journal.csv").count("\n"), 1)

    def test_what_cannot_be_counted_is_a_row_and_nothing_starts(self):
        large = "models.0.fc={layers: 400, nodes: 16777216, input: 1, output: 1, batch: 16777216}"
        apart = ["--set", large, "--set", "models.0.where=layers > 1", "--set", "run.mode=train"]
        self.sweep(*apart, expect=None)
        row, = self.rows("small.results", "results.csv")
        self.assertEqual((row["status"], row["params"], row["flop_count"], row["memory_bytes"]), ("oom_predicted", "", "", ""))
        self.assertEqual(row["reason"], "a FLOP, byte or memory count does not fit in 64 bits")
        self.assertEqual(self.read("small.results", "journal.csv").count("\n"), 1)
        row, = table(self.paradnn("list", "small.yaml", *apart, "--format", "csv", expect=0).stdout)
        self.assertEqual((row["params"], row["flop_count"], row["reason"]), ("", "", "its counts do not fit in 64 bits"))
        self.assertRegex(self.paradnn("list", "small.yaml", *apart, expect=0).stdout, r"\n {50,}too big +fc/layers=400,")
        count = self.paradnn("list", "--count", "small.yaml", *apart, expect=0)
        self.assertIn("1 instances are not in the sums", count.stderr)
        filtered = self.paradnn("list", "small.yaml", "--set", large, "--set", "run.mode=train", expect=0).stdout
        self.assertRegex(filtered, r"\n {50,}filtered +fc/layers=400,")

    def test_what_does_not_apply_is_empty_and_what_does_not_fit_is_invalid(self):
        self.paradnn("sweep", "nets.yaml", *ROOFS, expect=1)
        rows = self.rows("nets.results", "results.csv")
        self.assertEqual([(row["block"], row["blocks"], row["kernel"], row["image"], row["status"]) for row in rows], [
            ("residual", "1-2-1-1", "", "16", "ok"), ("residual", "1-2-1-1", "", "8", "ok"),
            ("residual", "1", "", "16", "ok"), ("residual", "1", "", "8", "ok"),
            ("plain", "1-2-1-1", "3", "16", "ok"), ("plain", "1-2-1-1", "3", "8", "invalid"),
            ("plain", "1-2-1-1", "5-3", "16", "ok"), ("plain", "1-2-1-1", "5-3", "8", "invalid"),
            ("plain", "1", "3", "16", "ok"), ("plain", "1", "3", "8", "ok"),
            ("plain", "1", "5-3", "16", "ok"), ("plain", "1", "5-3", "8", "ok")])
        self.assertEqual({row["reason"] for row in rows if row["status"] == "invalid"},
                         {"image=8 leaves 1x1 pixels for stage4, too few for window=2"})
        self.assertEqual({row["pool"] for row in rows}, {"global", ""})
        journal = self.read("nets.results", "journal.csv")
        self.paradnn("sweep", "nets.results/spec.yaml", *ROOFS, "-o", "nets.results", expect=1)
        self.assertEqual(self.read("nets.results", "journal.csv"), journal)
        self.assertEqual(self.rows("nets.results", "results.csv"), rows)

    def test_too_many_threads_is_invalid(self):
        self.sweep("--set", "run.threads=4096", expect=1)
        rows = self.rows("small.results", "results.csv")
        self.assertEqual({row["status"] for row in rows}, {"invalid", "filtered"})

    def test_bad_directory(self):
        done = self.sweep("-o", "small.yaml", expect=2)
        self.assertEqual(done.stderr, "paradnn: small.yaml: exists and is not a directory\n")

    def test_bad_ceilings(self):
        self.write("roofs.csv", "kind,color\n")
        self.assertRegex(self.sweep(expect=2).stderr, r"\Aparadnn: roofs\.csv:1")
        self.assertFalse(os.path.exists(self.path("small.results")))

    def test_a_second_sweep_waits_its_turn(self):
        child = self.popen("sweep", "small.yaml", *ROOFS, *LONG, stderr=subprocess.DEVNULL)
        self.wait_for(lambda: os.path.exists(self.path("small.results", "spec.yaml")), child)
        self.assertIn("another paradnn is writing there", self.sweep(expect=2).stderr)

    def test_id_needs_a_directory(self):
        done = self.paradnn("sweep", self.ONE, *ROOFS, expect=2)
        self.assertEqual(done.stderr, "paradnn: neither an ID nor a pipe names a directory, give -o DIR\n")
        self.paradnn("sweep", self.ONE, *ROOFS, *SHORT, "-o", "one", expect=0)
        self.assertEqual([row["status"] for row in self.rows("one", "results.csv")], ["ok"])

    def test_a_pipe_needs_a_directory(self):
        for name in ("/dev/stdin", "/dev/fd/{}", "/proc/self/fd/{}"):
            for options, status in (([], 2), (["-o", "piped"], 0)):
                with self.subTest(name, options=options):
                    reader, writer = os.pipe()
                    os.write(writer, b"models: [{fc: {layers: 1, nodes: 8, input: 8, output: 8, batch: 1}}]\n")
                    os.close(writer)
                    done = self.paradnn("sweep", name.format(reader), *ROOFS, *SHORT, *options, expect=status, stdin=reader, pass_fds=[reader])
                    os.close(reader)
                    if status:
                        self.assertEqual(done.stderr, "paradnn: neither an ID nor a pipe names a directory, give -o DIR\n")
        self.assertEqual(len(self.rows("piped", "results.csv")), 1)
        self.assertEqual([name for name in os.listdir(self.directory) if name.endswith(".results")], [])

    def test_roofs_of_another_speed_are_said(self):
        for value, word in (("0.001", "slower"), ("1000000", "faster")):
            with self.subTest(word):
                self.write("roofs.csv", CEILINGS + f"probe,fma,,,1,0,{value},{value},{value},5\n")
                done = self.paradnn("sweep", self.ONE, *ROOFS, *SHORT, "--set", "measure.probe=on", "-o", word, expect=0)
                self.assertRegex(done.stderr, rf"\nparadnn: the machine was \d+ % {word} while the roofs were measured [^\n]*\n\Z")
        self.write("roofs.csv", CEILINGS)
        done = self.paradnn("sweep", self.ONE, *ROOFS, *SHORT, "--set", "measure.probe=on", "-o", "unknown", expect=0)
        self.assertNotIn("the machine was", done.stderr)

    def test_slow_rows_say_so_and_are_not_mixed(self):
        half = ("models: [fc: {layers: 1, nodes: 16, input: 8, output: 4, batch: 4}]\n"
                "run: {mode: infer, dtype: bf16, backend: openblas, threads: 1}\n"
                "measure: {rounds: 2, max_time: 1ms, min_samples: 3, probe: off}\nsweep: half\n")
        self.write("half.yaml", half)

        def row_after(*options):
            self.paradnn("sweep", "half.yaml", *ROOFS, *options)
            return self.rows("half.results", "results.csv")[0]

        row = row_after()
        self.assertEqual(row["status"], "unsupported")
        self.assertEqual(row["reason"], "openblas: no fast bf16 code for dense forward with sgemm; --allow-slow runs it")
        row = row_after("--allow-slow")
        self.assertEqual(row["status"], "ok")
        self.assertIn("slow", row["row_flags"].split("|"))
        self.assertEqual(row_after("--set", "measure.rounds=20"), row)

    def test_counters_are_there_or_said_to_be_missing(self):
        """Whichever it is on the machine that runs this; without the key, nothing is said."""
        for value in ("off", "on"):
            done = self.sweep("-o", f"counters-{value}", *SHORT, "--set", f"measure.counters={value}")
            told = re.search(r'^counters: "(.*)"$', self.read(f"counters-{value}", "environment.yaml"), re.M).group(1)
            has = told.startswith("cycles and instructions")
            self.assertEqual(told == "off", value == "off")
            self.assertEqual(done.stderr.count("hardware counters: "), 0 if has or value == "off" else 1)
            self.assertEqual(f"hardware counters: {told}; first with fc/" in done.stderr, not has and value == "on")
            for name in ("journal.csv", "journal-ops.csv", "results.csv", "ops.csv"):
                for row in self.rows(f"counters-{value}", name):
                    for column in ("instructions", "ipc", "effective_ghz"):
                        self.assertNotEqual(row[column], "0")
                        if not has:
                            self.assertEqual(row[column], "")

    def test_end_says_where_the_time_went(self):
        def sweep(directory):
            done = self.paradnn("sweep", self.ONE, *ROOFS, *SHORT, "--set", "measure.rounds=2", "-o", directory, expect=0,
                                env=environment(PARADNN_NO_CACHE="", XDG_CACHE_HOME=self.path("kept-by-sweep")))
            wall, share, parts = re.search(r"^([\d.]+) s, (\d+) % in timed steps: (.*)$", done.stderr, re.M).groups()
            seconds = [float(part) for part in re.findall(r"[a-z][a-z -]* ([\d.]+) s", parts)]
            self.assertEqual(len(seconds), 8)
            self.assertAlmostEqual(sum(seconds), float(wall), delta=0.46)  # each is rounded to a tenth
            self.assertLessEqual(abs(int(share) * float(wall) / 100 - sum(seconds[:2])), 0.2 + 0.01 * float(wall))
            return [int(count) for count in re.search(r"; choices: (\d+) measured, (\d+) from earlier", done.stderr, re.M).groups()]

        measured, recalled = sweep("first")
        self.assertGreater(measured, 0)
        self.assertEqual(recalled, 0)
        self.assertGreater(sum(sweep("second")), 0)  # times measured beside another program are not kept


if __name__ == "__main__":
    main(1)
