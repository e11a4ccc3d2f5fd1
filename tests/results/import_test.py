#!/usr/bin/env python3
"""paradnn import of files in the format that ParaDnn shipped, and of any table by a mapping of its columns: what becomes of labels, states
and numbers, that compare, fit and report work on the result, and that whatever cannot be mapped is an error with the row. Usage: import_test.py PARADNN"""

import copy
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PARADNN = os.path.abspath(sys.argv.pop(1))


def model(layers, nodes, batch, steps, label=None, inputs=2000, outputs=1000):
    """One model that ran; FLOP as their profiler counted: 6 per weight and example, the first layer's gradient of the data included."""
    weights = inputs * nodes + (layers - 1) * nodes * nodes + nodes * outputs
    params = weights + layers * nodes + outputs
    fl = round(6e-9 * batch * weights, 2)
    return {"labels": label or f"layer_{layers}-node_{nodes}-input_{inputs}-output_{outputs}-bs_{batch}", "params": float(f"{params:.4g}"),
            "fl": fl, "flops": fl * steps, "intensity": fl * 1e9 / (4 * params), "step_per_sec": steps, "example_per_sec": batch * steps}


def shipped(ran, failed=()):
    """The file's one object of lists."""
    lists = {"states": [state for _, state in failed], "err_jobs": [label for label, _ in failed]}
    for key in ("intensity", "flops", "params", "example_per_sec", "step_per_sec", "labels", "fl"):
        lists[key] = [row[key] for row in ran]
    return lists


RAN = [model(layers, nodes, batch, 3e6 / (layers * nodes * (batch + 40))) for layers in (4, 8) for nodes in (1024, 2048) for batch in (64, 256)]
FAILED = [("layer_128-node_8192-input_2000-output_1000-bs_16384", "OOM"), ("layer_64-node_512-input_2000-output_1000-bs_64", "no error but not finished"),
          ("layer_32-node_512-input_2000-output_1000-bs_64", "NaN value"), ("layer_16-node_512-input_2000-output_1000-bs_64", "Deadline Exceeded"),
          ("layer_2-node_512-input_2000-output_1000-bs_64", "Socket closed")]
GOOD = shipped([*RAN, model(4, 1024, 128, 0)], FAILED)


class Import(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def path(self, *names):
        return os.path.join(self.place.name, *names)

    def paradnn(self, *arguments, expect=0):
        done = subprocess.run([PARADNN, *arguments], cwd=self.place.name, capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C", "PARADNN_NO_CACHE": "1"})
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))

    def rows(self, *names):
        with open(self.path(*names), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_labels_of_other_models_are_flagged(self):
        """As ParaDnn's scripts wrote: labels with inputs and outputs of models that ran with others."""
        wrong = dict(RAN[1], params=RAN[1]["params"] * 1.06)
        near = dict(RAN[2], params=RAN[2]["params"] * 1.04)
        self.write("gpu_fc.json", shipped([RAN[0], wrong, near]))
        done = self.paradnn("import", "gpu_fc.json", "-o", "gpu.results")
        self.assertIn("paradnn: 1 of 3 instances that ran have other numbers of parameters", done.stderr)
        self.assertEqual([row["row_flags"] for row in self.rows("gpu.results", "results.csv")], ["", "mislabeled", ""])
        self.write("good.json", shipped(RAN))
        self.assertNotIn("other numbers of parameters", self.paradnn("import", "good.json", "-o", "good.results").stderr)

    def test_fully_connected(self):
        self.write("gpu_fc.json", GOOD)
        done = self.paradnn("import", "gpu_fc.json", "-o", "gpu.results")
        self.assertIn("14 instances: 8 ok, 1 oom, 1 timeout, 1 crash, 1 numeric_error, 2 interrupted\n", done.stderr)
        rows = self.rows("gpu.results", "results.csv")
        first, ran = rows[0], RAN[0]
        self.assertEqual(first["id"], "fc/layers=4,nodes=1024,input=2000,output=1000,batch=64,activation=relu")
        self.assertEqual([first[key] for key in ("threads", "backend", "isa", "cache")], [""] * 4)
        self.assertAlmostEqual(float(first["time_ns_median"]), 1e9 / ran["step_per_sec"], delta=1)
        self.assertAlmostEqual(float(first["examples_per_s"]), ran["example_per_sec"], delta=1)
        self.assertEqual(int(first["params"]), 2000 * 1024 + 3 * 1024 * 1024 + 1024 * 1000 + 4 * 1024 + 1000)
        self.assertEqual((first["host"], first["run_mode"], first["dtype"], first["optimizer"]), ("gpu_fc", "train", "f32", "rmsprop"))
        # Rates are of our count, which lacks the gradient of the input.
        self.assertLess(float(first["gflops"]), ran["flops"])
        self.assertGreater(float(first["gflops"]), 0.7 * ran["flops"])
        self.assertEqual([(row["status"], row["reason"]) for row in rows[8:]],
                         [("interrupted", "step_per_sec is 0 in the file"), ("oom", "OOM"), ("interrupted", "no error but not finished"),
                          ("numeric_error", "NaN value"), ("timeout", "Deadline Exceeded"), ("crash", "Socket closed")])
        self.assertFalse(any(row["time_ns_median"] or row["gflops"] for row in rows[8:]))
        self.assertTrue(all(row["flop_count"] for row in rows))
        imported = self.rows("gpu.results", "imported.csv")
        self.assertEqual([row["id"] for row in imported], [row["id"] for row in rows])
        self.assertEqual([row["label"] for row in imported], GOOD["labels"] + GOOD["err_jobs"])
        self.assertAlmostEqual(float(imported[0]["gflops"]), ran["flops"])
        self.assertEqual(imported[9]["gflops"], "")
        with open(self.path("gpu.results", "environment.yaml"), encoding="utf-8") as file:
            text = file.read()
        for line in ('host: "gpu_fc"', 'imported_from: "gpu_fc.json"', 'imported_format: "ParaDnn JSON"', "imported_shards: 1"):
            self.assertIn(line + "\n", text)

    def test_fit_of_the_files_own_numbers(self):
        """imported.gflops, whose FLOP has the first layer's gradient of the data, is not gflops."""
        self.write("gpu_fc.json", GOOD)
        self.paradnn("import", "gpu_fc.json", "-o", "gpu.results")
        actual = {value: {row["id"]: float(row["actual"]) for row in csv.DictReader(self.paradnn(
            "fit", "gpu.results", "--value", value, "--residuals", "--format", "csv").stdout.splitlines())} for value in ("gflops", "imported.gflops")}
        own = {row["id"]: float(row["gflops"]) for row in self.rows("gpu.results", "imported.csv") if row["gflops"]}
        self.assertGreaterEqual(len(actual["imported.gflops"]), 6)
        for name, value in actual["imported.gflops"].items():
            self.assertAlmostEqual(value, own[name])
            self.assertGreater(value, actual["gflops"][name])
        self.assertIn("there is no column 'gflop'", self.paradnn("fit", "gpu.results", "--value", "imported.gflop", expect=2).stderr)

    def test_status(self):
        """Nothing of an import is missing; a directory that merely lacks a journal is still refused."""
        self.write("gpu_fc.json", GOOD)
        self.paradnn("import", "gpu_fc.json", "-o", "gpu.results")
        (told,) = csv.DictReader(self.paradnn("status", "gpu.results", "--format", "csv").stdout.splitlines())
        self.assertEqual([told[key] for key in ("instances", "done", "open", "ok", "oom", "interrupted", "visits")], ["14", "14", "0", "8", "1", "2", "0"])
        os.remove(self.path("gpu.results", "environment.yaml"))
        self.assertIn("has neither journal.csv nor parts, so there are no visits", self.paradnn("status", "gpu.results", expect=2).stderr)

    def test_software_is_the_version(self):
        """Boxes of the speed-up over a baseline per software version, as the paper has them."""
        self.write("gpu_fc.json", GOOD)
        for version in ("1.7", "1.12"):
            self.paradnn("import", "gpu_fc.json", "-o", f"tf{version}", "--software", f"TensorFlow {version}")
        done = self.paradnn("plot", "boxes", "tf1.7", "tf1.12", "--by", "version,dtype", "--format", "csv")
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual([(row["version"], row["dtype"], row["middle"], row["instances"]) for row in rows],
                         [("TensorFlow 1.12", "f32", "1", str(len(RAN)))])

    def test_shards_settings_and_what_reads_the_result(self):
        shards = copy.deepcopy(GOOD)
        for key in ("fl", "flops", "intensity"):
            shards[key] = [value / 8 for value in shards[key]]
        for key in ("flops", "step_per_sec", "example_per_sec"):
            shards[key] = [value * (2 + at) for at, value in enumerate(shards[key])]
        self.write("gpu_fc.json", GOOD)
        self.write("tpu_fc.json", shards)
        self.paradnn("import", "gpu_fc.json", "-o", "gpu.results")
        done = self.paradnn("import", "tpu_fc.json", "-o", "tpu.results", "--shards", "8", "--host", "TPU v2", "--set", "dtype=bf16")
        self.assertIn("parameters 1.00, FLOP of a step 1.05\n", done.stderr)
        rows, imported = self.rows("tpu.results", "results.csv"), self.rows("tpu.results", "imported.csv")
        self.assertTrue(rows[0]["id"].endswith("activation=relu,dtype=bf16"), rows[0]["id"])
        self.assertEqual(rows[0]["host"], "TPU v2")
        for at, (row, ran) in enumerate(zip(imported, RAN)):
            self.assertAlmostEqual(float(row["gflops"]), (2 + at) * ran["flops"], delta=1e-9 * ran["flops"])
            self.assertAlmostEqual(float(row["step_flop_count"]), ran["fl"] * 1e9, delta=1)
        ratios = self.paradnn("fit", "gpu.results", "tpu.results", "--across", "dtype=f32:bf16", "--on", "layers,nodes")
        self.assertIn("ratios of dtype=f32 over dtype=bf16: 8; 6 instances have none\n", ratios.stderr)
        fitted = self.paradnn("fit", "gpu.results", "--value", "gflops", "--format", "csv").stdout
        self.assertIn("--check-directions is about Transformers, and there is none here",
                      self.paradnn("breakdown", "gpu.results", "--check-directions", expect=2).stderr)
        self.assertEqual({row["term"] for row in csv.DictReader(fitted.splitlines()) if row["weight"]}, {"layers", "nodes", "batch"})

    def test_defaults_without_ceilings(self):
        self.write("gpu_fc.json", GOOD)
        self.paradnn("import", "gpu_fc.json", "-o", "gpu.results")
        rows = [row for row in self.rows("gpu.results", "results.csv") if row["status"] == "ok"]
        self.assertEqual({row["pct_of_peak"] for row in rows}, {""})
        done = self.paradnn("fit", "gpu.results", "--format", "csv")
        self.assertIn("no instance has pct_of_peak, so gflops is fitted\n", done.stderr)
        fitted = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual({row["value"] for row in fitted}, {"gflops"})
        self.assertEqual({row["term"] for row in fitted if row["weight"]}, {"layers", "nodes", "batch"})
        self.assertNotIn("pct_of_peak", self.paradnn("fit", "gpu.results", "--model", "power").stderr)
        self.assertEqual(self.paradnn("plot", "weights", "gpu.results", "--format", "csv").stdout, done.stdout)
        cells = list(csv.DictReader(self.paradnn("plot", "heatmap", "gpu.results", "--format", "csv").stdout.splitlines()))
        self.assertEqual(sum(int(row["models"]) for row in cells), len(rows))
        self.assertTrue(all(float(row["gflops"]) > 0 for row in cells if int(row["models"])))
        boxes = list(csv.DictReader(self.paradnn("plot", "boxes", "gpu.results", "--format", "csv").stdout.splitlines()))
        rates = sorted(float(row["gflops"]) for row in rows)
        self.assertEqual(int(boxes[0]["instances"]), len(rows))
        self.assertTrue(rates[3] <= float(boxes[0]["middle"]) <= rates[4])

    def test_same_bytes(self):
        self.write("gpu_fc.json", GOOD)
        for name, options in (("one", []), ("two", [])):
            self.paradnn("import", "gpu_fc.json", "-o", name, *options)
        for name in sorted(os.listdir(self.path("one"))):
            with open(self.path("one", name), "rb") as one, open(self.path("two", name), "rb") as two:
                self.assertEqual(one.read(), two.read(), name)

    def test_other_families(self):
        row = {"params": 23e6, "fl": 1500.0, "flops": 1500.0, "intensity": 16.0, "step_per_sec": 1.0, "example_per_sec": 64.0}
        self.write("cnn.json", shipped([{**row, "labels": "block_3-filtersz_16-input_224-output_500-batchsize_64"}]))
        self.write("rnn.json", shipped([{**row, "labels": "layer_5-maxlength_50-vocabsize_8-embeddingsize_300-batchsize_64"}]))
        for name, unsaid in (("cnn", "block"), ("rnn", "cell")):
            done = self.paradnn("import", f"{name}.json", "-o", "out", expect=2)
            self.assertIn(f"does not say which {unsaid} the model has: give --set {unsaid}=", done.stderr)
        self.paradnn("import", "cnn.json", "-o", "cnn", "--set", "block=bottleneck", "--set", "pool=7x7")
        self.paradnn("import", "rnn.json", "-o", "rnn", "--set", "cell=gru")
        self.assertIn("cnn/block=bottleneck,blocks=3,filters=16,image=224,output=500,batch=64,pool=7x7", self.rows("cnn", "results.csv")[0]["id"])
        self.assertIn("rnn/cell=gru,layers=5,embedding=300,hidden=300,length=50,vocabulary=8,batch=64", self.rows("rnn", "results.csv")[0]["id"])

    def refused(self, text, message, *arguments):
        self.write("bad.json", text)
        done = self.paradnn("import", "bad.json", "-o", "out", *arguments, expect=2)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse(os.path.exists(self.path("out")))

    def left_out(self, lists, *messages):
        """All others are imported."""
        self.write("bad.json", lists)
        done = self.paradnn("import", "bad.json", "-o", "out", expect=1)
        self.assertIn(f"\nparadnn: {len(messages)} of 14 instances are left out", done.stderr)
        for message in messages[:3]:
            self.assertIn(message, done.stderr.split("left out")[1])
        self.assertEqual(done.stderr.split("left out")[1].count("\n"), 1 + len(messages[:3]))
        self.assertEqual("the first of them" in done.stderr, len(messages) > 3)
        self.assertEqual(len(self.rows("out", "results.csv")), 14 - len(messages))
        self.assertEqual(len(self.rows("out", "imported.csv")), 14 - len(messages))
        shutil.rmtree(self.path("out"))

    def changed(self, key, at, value):
        lists = copy.deepcopy(GOOD)
        lists[key][at] = value
        return lists

    def test_not_the_format(self):
        whole = json.dumps(GOOD)
        self.refused("", "bad.json:1:0: ")
        self.refused(whole[:len(whole) // 2], "bad.json:1:")
        self.refused(whole + "}", "bad.json:1:")
        self.refused("[" * 100000, "bad.json:1:")
        self.refused(whole.replace("0.0", "NaN", 1), "bad.json:1:")
        self.refused(whole[:-1] + ', "labels": []}', "duplicate object key")
        self.refused([], "there is no column 'labels'")
        self.refused("7", "'[' or '{' expected near '7'")
        self.refused({}, "there is no list 'labels'")
        self.refused(shipped([]), "no instances")
        self.refused({**GOOD, "labels": {}}, "there is no list 'labels'")
        self.refused({**{key: value for key, value in GOOD.items() if key != "labels"}, "lables": []},
                     "there is no list 'labels', did you mean 'lables'?")
        self.refused({key: value for key, value in GOOD.items() if key != "fl"}, "there is no list 'fl'")
        self.refused({**GOOD, "fl": GOOD["fl"][1:]}, "'fl' has 8 values, 'labels' 9")
        self.refused({**GOOD, "states": ["OOM"]}, "'states' has 1 values, 'err_jobs' 5")

    def test_not_to_be_mapped(self):
        label = GOOD["labels"][2]
        for key, value, message in (
                ("fl", "many", f"label '{label}': fl is not a number"),
                ("params", -1, f"label '{label}': params is -1"),
                ("step_per_sec", None, f"label '{label}': step_per_sec has no value"),
                ("example_per_sec", 1.5, f"label '{label}': example_per_sec is 1.5, but the batch times step_per_sec "),
                ("flops", 1.5, f"label '{label}': flops is 1.5, but fl times step_per_sec "),
                ("labels", 7, "label '7': '7' is not WORD_NUMBER"),
                ("labels", GOOD["labels"][0], f"label '{GOOD['labels'][0]}': is there twice"),
                ("labels", GOOD["err_jobs"][0], f"label '{GOOD['err_jobs'][0]}': example_per_sec is "),
                ("labels", "resnet50", "label 'resnet50': 'resnet50' is not WORD_NUMBER"),
                ("labels", "", "label '': '' is not WORD_NUMBER"),
                ("labels", "layer_4-node_-8", "label 'layer_4-node_-8': 'node_' is not WORD_NUMBER"),
                ("labels", "layer_4-node_1e3-input_1-output_1-bs_1", "'node_1e3' is not WORD_NUMBER"),
                ("labels", "layer_4-node_8-input_1-output_1", "'bs' is missing"),
                ("labels", "layer_4-node_8-input_1-output_1-bz_1", "unknown word 'bz', did you mean 'bs'?"),
                ("labels", "layer_4-layer_4-input_1-output_1-bs_1", "'layer' is there twice"),
                ("labels", "layer_4-node_8-input_1-output_1-bs_1-x_1", "unknown word 'x'"),
                ("labels", "layer_0-node_8-input_1-output_1-bs_1", "label 'layer_0-node_8-input_1-output_1-bs_1': "),
                ("labels", "layer_4-node_99999999999999999999-input_1-output_1-bs_1", "label 'layer_4-node_99999999999999999999-"),
                ("labels", "layer_4\n-node_8", "is not WORD_NUMBER")):
            with self.subTest(key=key, value=value):
                self.left_out(self.changed(key, 2, value), message)
        failed = GOOD["err_jobs"][1]
        self.left_out(self.changed("states", 1, "OOMM"), f"label '{failed}': unknown state 'OOMM', did you mean 'OOM'?")
        self.left_out(self.changed("states", 1, 5), f"label '{failed}': unknown state '5'")
        self.left_out(self.changed("err_jobs", 1, FAILED[0][0]), f"label '{FAILED[0][0]}': is there twice")
        several = self.changed("labels", 0, "resnet50")
        several["labels"][1:5] = ["", 3, "vgg", "x_1"]
        self.left_out(several, "label 'resnet50': ", "label '': ", "label '3': ", "label 'vgg': ", "label 'x_1': ")
        self.refused({**GOOD, "labels": ["resnet50"] * 9, "err_jobs": ["vgg"] * 5},
                     "bad.json: none of 14 instances can be read, the first: label 'resnet50': 'resnet50' is not WORD_NUMBER")
        self.refused(GOOD, "nodes is given twice", "--set", "nodes=5")
        self.refused(GOOD, "unknown key 'dtpye'", "--set", "dtpye=bf16")
        self.refused(GOOD, "--model does nothing here: a file of ParaDnn's says the models", "--model", "fc")
        self.refused(GOOD, "--shards is '0', expected a whole number from 1 to", "--shards", "0")

    def test_settings_in_one_text(self):
        self.write("good.json", GOOD)
        self.paradnn("import", "good.json", "-o", "good", "--set", "dtype=bf16,threads=2")
        self.assertTrue(self.rows("good", "results.csv")[0]["id"].endswith("dtype=bf16,threads=2"))
        self.assertEqual([self.rows("good", "results.csv")[0][key] for key in ("dtype", "threads", "backend")], ["bf16", "2", ""])
        self.refused(GOOD, "threads is given twice", "--set", "threads=2,threads=3")

    def test_a_table_without_a_mapping(self):
        self.write("x.csv", "a,b\n")
        self.assertEqual(self.paradnn("import", "x.csv", "-o", "out", expect=2).stderr,
                         "paradnn: not as ParaDnn shipped, and --map names no columns: x.csv: there is no column 'labels'\n")

    TABLE = [{"width": 64 * (1 + k), "bs": 32, "latency": 0.25 * (1 + k), "gpu": gpu, "why": ""} for gpu in ("T4", "V100") for k in range(3)] + [
        {"width": 8192, "bs": 32, "latency": "", "gpu": "T4", "why": "OOM"}]
    MAPPED = ["--model", "fc", "--set", "layers=2,input=100,output=10", "--map", "nodes=width", "--map", "batch=bs", "--map", "time=latency:ms",
              "--map", "host=gpu", "--map", "state=why", "--host", "T4"]

    def write_table(self):
        """The same rows as CSV, as JSON objects, as lines of JSON, and as JSON lists."""
        names = list(self.TABLE[0])
        self.write("t.csv", "\n".join([",".join(names), *(",".join(str(row[name]) for name in names) for row in self.TABLE)]) + "\n")
        objects = [{key: None if value == "" else value for key, value in row.items()} for row in self.TABLE]
        self.write("objects.json", objects)
        self.write("lines.jsonl", "\n".join(map(json.dumps, objects)) + "\n\n")
        self.write("lines", "".join(json.dumps(row) + "\r\n" for row in objects))
        self.write("lists.json", {name: [row[name] for row in self.TABLE] for name in names})

    def test_any_table(self):
        self.write_table()
        for name in ("t.csv", "objects.json", "lists.json", "lines.jsonl", "lines"):
            with self.subTest(name):
                done = self.paradnn("import", name, "-o", name + ".out", *self.MAPPED)
                self.assertIn("4 instances: 3 ok, 1 oom\n3 rows of other platforms\n", done.stderr)
                rows = self.rows(name + ".out", "results.csv")
                self.assertEqual([(row["nodes"], row["threads"], row["host"], row["status"]) for row in rows],
                                 [(str(64 * (1 + k)), "", "T4", "ok") for k in range(3)] + [("8192", "", "T4", "oom")])
                self.assertEqual([float(row["time_ns_median"]) for row in rows[:3]], [250000, 500000, 750000])
                self.assertAlmostEqual(float(rows[1]["examples_per_s"]), 32 / 0.5e-3)
                self.assertEqual([row["time_ns"] for row in self.rows(name + ".out", "imported.csv")], ["250000", "500000", "750000", ""])
        with open(self.path("t.csv.out", "results.csv"), encoding="utf-8") as one, open(self.path("lists.json.out", "results.csv"), encoding="utf-8") as two:
            self.assertEqual(one.read(), two.read())

    def test_byte_order_marks(self):
        """What spreadsheets write in front of UTF-8 is not a part of the first column's name, nor of JSON."""
        self.write_table()
        self.paradnn("import", "t.csv", "-o", "plain", *self.MAPPED)
        for name in ("t.csv", "objects.json", "lists.json"):
            with open(self.path(name), encoding="utf-8") as file:
                text = file.read()
            with open(self.path("marked." + name), "w", encoding="utf-8-sig") as file:
                file.write(text)
            self.paradnn("import", "marked." + name, "-o", name + ".out", *self.MAPPED)
            self.assertEqual(self.rows(name + ".out", "results.csv"), self.rows("plain", "results.csv"))

    def test_lines_of_json(self):
        """Also one line, and what a command wrote; each error has its line."""
        mapped = ["--map", "model=id", "--map", "time=time_ns_median:ns"]
        self.write("one.jsonl", '{"id": "fc,layers=2,nodes=8", "time_ns_median": 1000}')
        self.paradnn("import", "one.jsonl", "-o", "one", *mapped)
        self.assertEqual([row["layers"] for row in self.rows("one", "results.csv")], ["2"])
        written = self.paradnn("list", "fc", "rnn", "--format", "jsonl").stdout
        self.write("list.jsonl", written.replace("}\n", ', "time_ns_median": 2000}\n'))
        self.paradnn("import", "list.jsonl", "-o", "list", *mapped)
        self.assertEqual([(row["family"], row["time_ns_median"]) for row in self.rows("list", "results.csv")], [("fc", "2000"), ("rnn", "2000")])
        for text, message in (('{"id": "fc"}\n{"id": }\n', "bad.jsonl:2:8: not JSON: "), ('{"id": "fc"}\n\n[1]\n', "bad.jsonl:3: more than one JSON value, and not lines"),
                              ('[{"id": "fc"}]\n{"id": "fc"}\n', "bad.jsonl:1: more than one JSON value"), ('{"id": "fc"}\n{"id": "fc", "id": 2}\n', "bad.jsonl:2:")):
            self.write("bad.jsonl", text)
            self.assertIn(message, self.paradnn("import", "bad.jsonl", "-o", "bad", *mapped, expect=2).stderr)

    def test_a_column_of_models(self):
        """Presets and ids; rows that cannot be read are counted and named."""
        self.write("m.csv", "net,batch,rate\nresnet50,4,100\n\"fc/layers=2,nodes=64\",8,2000\nresnet51,4,100\ncnn:resnet18,4,many\nresnet18,4,\n")
        done = self.paradnn("import", "m.csv", "-o", "m", "--map", "model=net", "--map", "batch=batch", "--map", "examples_per_s=rate", expect=1)
        self.assertIn("paradnn: 3 of 5 instances are left out:\n", done.stderr)
        for words in ("row 3: ", "did you mean 'resnet18', 'resnet34', 'resnet50'", "row 4: rate is not a number", "row 5: rate has no value"):
            self.assertIn(words, done.stderr)
        rows = self.rows("m", "results.csv")
        self.assertEqual([(row["preset"], row["batch"]) for row in rows], [("resnet50", "4"), ("", "8")])
        self.assertAlmostEqual(float(rows[1]["time_ns_median"]), 8 / 2000 * 1e9)

    def test_a_ratio_without_the_other(self):
        self.write("some.csv", "w,ms,p\n16,1,300\n32,1,600\n")
        arguments = ["--model", "fc", "--set", "layers=1,input=9,output=9,batch=2,mode=infer", "--map", "nodes=w", "--map", "time=ms:ms"]
        params = r"\nthe file's over the instances', median: parameters \d+\.\d\d\n"
        said = self.paradnn("import", "some.csv", "-o", "one", *arguments, "--map", "params=p", expect=0).stderr
        self.assertRegex(said, params)
        self.assertNotIn("median", self.paradnn("import", "some.csv", "-o", "none", *arguments, expect=0).stderr)

    def test_mappings_that_are_wrong(self):
        self.write_table()
        for message, options in (
                ("has several platforms, such as 'T4' and 'V100': say with --host which", self.MAPPED[:-2]),
                ("has no platform 'P100'", [*self.MAPPED[:-1], "P100"]),
                ("no column says the model", self.MAPPED[2:]),
                ("no column says the time", ["--model", "fc", "--map", "nodes=width"]),
                ("a time needs its unit behind the column", ["--model", "fc", "--map", "time=latency"]),
                ("only `time` has such a unit", ["--model", "fc", "--map", "params=width:ms"]),
                ("is not KEY=COLUMN", ["--map", "time"]),
                ("--map has nodes twice", [*self.MAPPED, "--map", "nodes=bs"]),
                ("there is no column 'latncy', did you mean 'latency'?", ["--model", "fc", "--map", "time=latncy:ms"]),
                ("unknown key 'nodse' for fc, did you mean 'nodes'?", ["--model", "fc", "--map", "nodse=width", "--map", "time=latency:ms"]),
                ("--model does nothing here: a column says the models", [*self.MAPPED, "--map", "model=bs"]),
                ("--shards does nothing here: no column has FLOP", [*self.MAPPED, "--shards", "8"]),
                ("--peak needs --bandwidth", [*self.MAPPED, "--peak", "8100"]),
                ("--peak and --ceilings cannot be combined", [*self.MAPPED, "--peak", "8100", "--bandwidth", "1", "--ceilings", "t.csv"]),
                ("--peak is '0', expected a number from 1e-06 to 1e+12", [*self.MAPPED, "--peak", "0", "--bandwidth", "1"])):
            with self.subTest(message):
                self.assertIn(message, self.paradnn("import", "t.csv", "-o", "out", *options, expect=2).stderr)
                self.assertFalse(os.path.exists(self.path("out")))

    def test_roofs(self):
        """A place under roofs like any directory's; without, none."""
        self.write_table()
        self.paradnn("import", "t.csv", "-o", "none", *self.MAPPED)
        self.assertEqual({(row["attainable_gflops"], row["bound"], row["pct_of_roof"]) for row in self.rows("none", "results.csv")}, {("", "", "")})
        self.assertFalse(os.path.exists(self.path("none", "ceilings.csv")))
        self.paradnn("import", "t.csv", "-o", "given", *self.MAPPED, "--peak", "8100", "--bandwidth", "300")
        rows = self.rows("given", "results.csv")
        for row in rows[:3]:
            flop, size = int(row["in_bounds_flop_count"]), int(row["byte_count"])
            self.assertAlmostEqual(float(row["attainable_gflops"]) / min(8100, flop / size * 300), 1, delta=1e-4)
            self.assertEqual(row["bound"], "memory" if flop / size * 300 < 8100 else "compute")
            self.assertAlmostEqual(float(row["pct_of_roof"]), 100 * float(row["gflops"]) / float(row["attainable_gflops"]), delta=0.01)
        self.assertEqual(rows[3]["bound"], "")
        self.assertIn("compute", {row["kind"] for row in self.rows("given", "ceilings.csv")})
        for name in ("given", "none"):
            self.paradnn("report", name, "-o", "page.html")
            with open(self.path("page.html"), encoding="utf-8") as file:
                page = file.read()
            self.assertEqual("what bounds them is not known" in page, name == "none")
            self.assertEqual('<figure class="roofline"' in page, name == "given")
            self.assertNotIn(", threads", page)
        # Rows with threads take the roofs of as many; one that is faster than its roof says so.
        self.paradnn("import", "t.csv", "-o", "file", *self.MAPPED, "--ceilings", "given/ceilings.csv")
        self.assertEqual([row["bound"] for row in self.rows("file", "results.csv")], [row["bound"] for row in rows])
        self.paradnn("import", "t.csv", "-o", "slow", *self.MAPPED, "--set", "threads=4", "--peak", "0.001", "--bandwidth", "300")
        self.assertEqual({row["row_flags"] for row in self.rows("slow", "results.csv")[:3]}, {"above_roof"})
        self.assertEqual({row["threads"] for row in self.rows("slow", "ceilings.csv")}, {"4"})
        self.assertEqual({row["row_flags"] for row in rows}, {""})

    def test_roofs_of_other_threads(self):
        """What lacks is named, and what is there."""
        self.write_table()
        for threads in ("2", "4"):
            self.paradnn("import", "t.csv", "-o", threads, *self.MAPPED, "--set", "threads=" + threads, "--peak", "8100", "--bandwidth", "300")
        with open(self.path("2", "ceilings.csv"), encoding="utf-8") as two, open(self.path("4", "ceilings.csv"), encoding="utf-8") as four:
            self.write("both.csv", two.read() + "".join(four.readlines()[1:]))
        for lacks, settings in (("for 8 threads", ["--set", "threads=8"]), ("for an unknown number of threads", [])):
            done = self.paradnn("import", "t.csv", "-o", "out", *self.MAPPED, *settings, "--ceilings", "both.csv", expect=1)
            self.assertIn(f"row 1: both.csv has no roofs {lacks}, only for 2, 4: give --set threads=N\n", done.stderr)
            shutil.rmtree(self.path("out"))

    def test_cells_without_a_value(self):
        """Neither the default nor nothing ran: a row says what it lacks; what does not apply to it is no value."""
        self.write("n.csv", "model,nodes,batch,image,ms,gpu\nfc,8,2,,1,a\nfc,,2,,1,a\nfc,8,,,1,a\ncnn,,2,32,1,a\n,8,2,,1,a\nfc,16,2,,,a\nfc,16,2,,1,\nfc,16,NA,,1,a\n")
        objects = [{"model": "fc", "nodes": 8, "batch": 2, "ms": 1, "gpu": "a"}, {"model": "fc", "nodes": None, "batch": 2, "ms": 1, "gpu": "a"},
                   {"model": "fc", "nodes": 8, "ms": 1, "gpu": "a"}, {"model": "cnn", "batch": 2, "image": 32, "ms": 1, "gpu": "a"},
                   {"nodes": 8, "batch": 2, "ms": 1, "gpu": "a"}, {"model": "fc", "nodes": 16, "batch": 2, "ms": "", "gpu": "a"},
                   {"model": "fc", "nodes": 16, "batch": 2, "ms": 1}, {"model": "fc", "nodes": 16, "batch": "", "ms": 1, "gpu": "a"}]
        self.write("n.json", objects)
        mapped = [word for key in ("model", "nodes", "batch", "image") for word in ("--map", f"{key}={key}")]
        for name in ("n.csv", "n.json"):
            done = self.paradnn("import", name, "-o", name + ".out", *mapped, "--map", "time=ms:ms", "--map", "host=gpu", expect=1)
            self.assertIn("paradnn: 6 of 8 instances are left out, the first of them:\nrow 2: nodes has no value\nrow 3: batch has no value\n"
                          "row 5: model has no value\n", done.stderr)
            self.assertEqual([(row["family"], row["batch"], row["status"]) for row in self.rows(name + ".out", "results.csv")], [("fc", "2", "ok"), ("cnn", "2", "ok")])
        for lacks, row in (("ms", 6), ("gpu", 7), ("batch", 8)):
            self.write("one.json", [objects[0], objects[row - 1]])
            done = self.paradnn("import", "one.json", "-o", lacks, *mapped[:6], "--map", "time=ms:ms", "--map", "host=gpu", expect=1)
            self.assertIn(f"row 2: {lacks} has no value\n", done.stderr)

    def test_what_other_programs_write(self):
        """Floats, exponents, TRUE and NA of pandas and R are values, where they are exact; a number with a comma is not one."""
        self.write("p.csv", '"","model","nodes","batch","pooler","ms"\n"1","bert-base",NA,4.0,TRUE,1.5E+01\n"2","fc",64.0,1E+02,NA,3\n"3","fc",64.5,2,NA,3\n'
                            '"4","bert-base",NA,2,False,3\n"5","fc","1,024",2,NA,3\n"6","fc","8,layers=2",2,NA,3\n')
        mapped = [word for key in ("model", "nodes", "batch", "pooler") for word in ("--map", f"{key}={key}")]
        done = self.paradnn("import", "p.csv", "-o", "p", *mapped, "--map", "time=ms:ms", expect=1)
        self.assertIn("nodes is '64.5', expected a whole number\nrow 5: nodes is '1,024', which is not one value\nrow 6: nodes is '8,layers=2', which is not", done.stderr)
        self.assertEqual([[row[key] for key in ("nodes", "batch", "pooler", "time_ns_median")] for row in self.rows("p", "results.csv")],
                         [["", "4", "yes", "15000000"], ["64", "100", "", "3000000"], ["", "2", "no", "3000000"]])

    def test_micro_steps_and_ranks(self):
        """Examples are those of a step: of all its micro-steps, of all ranks."""
        self.write("e.csv", "a,r,rate,ms\n4,1,1000,32\n1,1,1000,8\n4,2,1000,64\n")
        mapped = ["--model", "fc,batch=8,mode=train", "--map", "accumulate=a", "--map", "ranks=r"]
        for name, column in (("rates", "examples_per_s=rate"), ("times", "time=ms:ms")):
            self.paradnn("import", "e.csv", "-o", name, *mapped, "--map", column)
            rows = self.rows(name, "results.csv")
            self.assertEqual([float(row["time_ns_median"]) / 1e6 for row in rows], [32, 8, 64])
            self.assertEqual([float(row["examples_per_s"]) for row in rows], [1000, 1000, 1000])
        self.paradnn("import", "e.csv", "-o", "both", *mapped, "--map", "examples_per_s=rate", "--map", "time=ms:ms")

    def test_times_that_contradict_rates(self):
        """By more than 3 %: 8 examples in 5 ms are 1600 a second."""
        self.write("c.csv", "nodes,ms,rate,steps\n8,8,1000,125\n16,8,1029,122\n32,5,1000,200\n64,8,1000,130\n128,8.3,1000,120.482\n")
        mapped = ["--model", "fc,batch=8", "--map", "nodes=nodes", "--map", "time=ms:ms", "--map", "examples_per_s=rate", "--map", "steps_per_s=steps"]
        done = self.paradnn("import", "c.csv", "-o", "c", *mapped, expect=1)
        self.assertIn("3 of 5 instances are left out:\nrow 3: rate is 1000, but the batch over ms 1600\nrow 4: steps is 130, but 1 over ms 125\n"
                      "row 5: rate is 1000, but the batch over ms 963.8554217\n", done.stderr)
        self.assertEqual([row["nodes"] for row in self.rows("c", "results.csv")], ["8", "16"])

    def test_rates_of_other_models(self):
        """FLOP, or a rate of them, that cannot be the model's are flagged and said; those of one core of several name --shards."""
        flop = 6 * 8 * (100 * 50 + 50 * 10)  # of training, all gradients
        mapped = ["--model", "fc,layers=1,input=100,output=10,nodes=50", "--map", "batch=b", "--map", "time=ms:ms", "--map"]
        for name, factors, told, cores in (("good", (1, 1.2, 0.9), 0, ""), ("one", (1, 3, 1), 1, ""), ("cores", (0.125, 0.125, 0.125), 3, "8"), ("adds", (0.4, 0.4, 0.4), 3, ""), ("forward", (0.273, 0.273, 0.273), 3, "")):
            for column, value in (("gflops=x", lambda at, factor: flop * (at + 1) * factor / 1e6), ("step_flop_count=x", lambda at, factor: flop * (at + 1) * factor)):
                with self.subTest(name=name, column=column):
                    self.write("r.csv", "b,ms,x\n" + "".join(f"{8 * (at + 1)},1,{value(at, factor)}\n" for at, factor in enumerate(factors)))
                    done = self.paradnn("import", "r.csv", "-o", name + column[:2], *mapped, column)
                    flags = [row["row_flags"] for row in self.rows(name + column[:2], "results.csv")]
                    self.assertEqual("less than half or more than twice" in done.stderr, told > 0, done.stderr)
                    self.assertEqual(f"of one core of {cores}: --shards {cores} multiplies" in done.stderr, bool(cores), done.stderr)
                    self.assertEqual("mislabeled" in flags, told > 0)
                    if name == "cores":
                        done = self.paradnn("import", "r.csv", "-o", name + "8" + column[:2], *mapped, column, "--shards", "8")
                        self.assertNotIn("one core", done.stderr)
                        self.assertNotIn("mislabeled", done.stderr)

    def test_repetitions_are_samples(self):
        """Rows of one configuration: the median, the extremes; but not those that an unread key tells apart, or that say another model."""
        self.write("s.csv", "nodes,ms,run,batch,p\n8,3,1,4,100\n16,7,1,4,200\n8,1,2,4,100\n8,2,3,4,100\n16,9,2,4,200\n8,2,4,8,100\n8,2,5,4,101\n8,0,6,4,100\n")
        mapped = ["--model", "fc,layers=1,input=4,output=4", "--map", "nodes=nodes", "--map", "time=ms:ms"]
        done = self.paradnn("import", "s.csv", "-o", "s", *mapped, "--map", "params=p", expect=1)
        self.assertIn("2 instances: 2 ok\n", done.stderr)
        self.assertIn("\n3 rows that repeat an instance: samples of its row; no --map names run, in which they differ\n", done.stderr)
        self.assertIn("row 6: is there twice; no --map names run, batch\nrow 7: is there twice; no --map names run, batch\nrow 8: is there twice", done.stderr)
        rows = self.rows("s", "results.csv")
        self.assertEqual([[row[key] for key in ("nodes", "samples", "time_ns_median", "time_ns_min", "time_ns_mean")] for row in rows],
                         [["8", "3", "2000000", "1000000", "2000000"], ["16", "2", "8000000", "7000000", "8000000"]])
        self.assertEqual([row["time_ns"] for row in self.rows("s", "imported.csv")], ["2000000", "8000000"])
        self.write("once.csv", "nodes,ms\n8,3\n16,7\n")
        self.assertNotIn("repeat", self.paradnn("import", "once.csv", "-o", "once", *mapped).stderr)
        self.assertEqual({row["samples"] for row in self.rows("once", "results.csv")}, {""})

    def test_peaks_of_dtypes(self):
        """A peak holds for the dtype that it is named for; one number for one dtype."""
        self.write("d.csv", "d,ms\nf32,1\nbf16,1\nf16,1\n")
        mapped = ["--model", "fc,mode=infer", "--map", "dtype=d", "--map", "time=ms:ms", "--bandwidth", "900", "--peak"]
        self.paradnn("import", "d.csv", "-o", "d", *mapped, "f32=14900,bf16=312000")
        peaks = [(row["dtype"], row["attainable_gflops"] != "", row["pct_of_peak"]) for row in self.rows("d", "results.csv")]
        rate = float(self.rows("d", "results.csv")[0]["gflops"] or self.rows("d", "results.csv")[0]["in_bounds_flop_count"])
        self.assertEqual([peak[:2] for peak in peaks], [("f32", True), ("bf16", True), ("f16", False)])
        self.assertAlmostEqual(float(peaks[0][2]), rate / 14900 * 100, delta=1e-3)
        self.assertAlmostEqual(float(peaks[1][2]), rate / 312000 * 100, delta=1e-3)
        self.assertEqual([(row["dtype"], row["value"]) for row in self.rows("d", "ceilings.csv") if row["kind"] == "compute"], [("f32", "14900"), ("bf16", "312000")])
        for peak, message in (("14900", "d.csv: --peak is one number, and the file has f32 and bf16: give --peak f32=N,bf16=N"),
                              ("f23=1", "--peak: dtype is 'f23', expected one of: f32, bf16, f16, int8"), ("f32=1,f32=2", "--peak has f32 twice"), ("f32=x", "--peak is 'x', expected a number"),
                              ("f32=1,2", "--peak: '2' in a list is not DTYPE=N"), ("", "--peak needs a N, but it is empty")):
            self.assertIn(message, self.paradnn("import", "d.csv", "-o", "out", *mapped, peak, expect=2).stderr)
        self.write("b.csv", "d,ms\nbf16,1\n")
        self.paradnn("import", "b.csv", "-o", "b", *mapped, "312000")
        self.assertEqual(self.rows("b", "ceilings.csv")[0]["dtype"], "bf16")

    def test_a_roof_for_each_number_of_threads(self):
        """And dtype, as many as there may be."""
        rows = [f"{threads},{dtype},{threads}" for dtype in ("f32", "bf16", "f16", "int8") for threads in range(1, 4097)]
        self.write("many.csv", "t,d,ms\n" + "\n".join(rows) + "\n")
        self.paradnn("import", "many.csv", "-o", "out", "--model", "fc", "--set", "layers=1,nodes=8,mode=infer", "--map", "threads=t", "--map", "dtype=d",
                     "--map", "time=ms:ms", "--peak", "f32=8100,bf16=8100,f16=8100,int8=8100", "--bandwidth", "300")
        self.assertEqual(len(self.rows("out", "ceilings.csv")), 5 * 4096)

    def test_rows_that_differ_in_what_nobody_reads(self):
        self.write("x.csv", "layers,batch,nodes,t,notes\n2,8,16,1,a\n2,16,16,2,b\n")
        mapped = ["--model", "fc", "--map", "layers=layers", "--map", "nodes=nodes", "--map", "time=t:ms"]
        self.assertIn("row 2: is there twice; no --map names batch, notes\n", self.paradnn("import", "x.csv", "-o", "one", *mapped, expect=1).stderr)
        self.paradnn("import", "x.csv", "-o", "two", *mapped, "--map", "batch=batch")
        self.assertEqual([row["batch"] for row in self.rows("two", "results.csv")], ["8", "16"])

    def test_published_forms_of_other_families(self):
        """Labels as the run scripts of ParaDnn make them, lists as get_perf.py does, of a few rows each."""
        for family, labels, options, ids in (
                ("cnn", ["block_1-filtersz_16-input_100-output_500-batchsize_64", "block_2-filtersz_32-input_200-output_1000-batchsize_128"],
                 ["block=bottleneck"], ["cnn/block=bottleneck,blocks=1,filters=16,", "cnn/block=bottleneck,blocks=2,filters=32,"]),
                ("rnn", ["layer_1-maxlength_10-vocabsize_32-embeddingsize_100-batchsize_64", "layer_5-maxlength_50-vocabsize_128-embeddingsize_500-batchsize_256"],
                 ["cell=lstm"], ["rnn/cell=lstm,layers=1,embedding=100,", "rnn/cell=lstm,layers=5,embedding=500,"])):
            rows = [{"labels": label, "params": 1e6, "fl": 10.0, "flops": 50.0, "intensity": 2500.0, "step_per_sec": 5.0,
                     "example_per_sec": 5.0 * int(label.rsplit("_", 1)[1])} for label in labels]
            failed = labels[0].replace("_64", "_1024")
            self.write(f"{family}.json", shipped(rows, [(failed, "OOM")]))
            done = self.paradnn("import", f"{family}.json", "-o", family, "--set", ",".join(options))
            self.assertIn("3 instances: 2 ok, 1 oom\n", done.stderr)
            made = self.rows(family, "results.csv")
            for row, begin in zip(made, ids):
                self.assertTrue(row["id"].startswith(begin), row["id"])
            self.assertEqual([row["batch"] for row in made], [labels[0].rsplit("_", 1)[1], labels[1].rsplit("_", 1)[1], "1024"])

    def test_where_it_goes(self):
        self.write("good.json", GOOD)
        self.assertIn("give -o DIR", self.paradnn("import", "good.json", expect=2).stderr)
        os.mkdir(self.path("there"))
        self.assertIn("there: cannot be made: File exists", self.paradnn("import", "good.json", "-o", "there", expect=2).stderr)
        self.assertEqual(os.listdir(self.path("there")), [])
        self.assertIn("missing.json", self.paradnn("import", "missing.json", "-o", "out", expect=2).stderr)
        self.assertIn("there", self.paradnn("import", "there", "-o", "out", expect=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
