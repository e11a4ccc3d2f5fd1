#!/usr/bin/env python3
"""What the program prints: help, listings, errors and the analyses of tables made up here, against golden files; and its manual pages.

Usage: golden_test.py PARADNN GOLDEN [--update] [TEST...]. The golden files hold nothing measured; --update rewrites them."""

import csv
import glob
import io
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

from program import NETS, PARADNN, SMALL, Case, bert_tables, main, needs, table

GOLDEN = os.path.abspath(sys.argv[2])

def platforms():
    """results.csv of two backends: B is up to twice as fast at batch 64 and slower at batch 1; two rows cannot be compared."""
    tables = []
    for backend, speed in (("onednn", {1: 1, 64: 1}), ("openblas", {1: 0.95, 64: 2})):
        table = "id,family,layers,nodes,batch,mode,backend,threads,status,reason,params,time_ns_median,ci_low_ns,ci_high_ns\n"
        for nodes in (32, 64, 128):
            for batch in (1, 64):
                name = f"fc/layers=2,nodes={nodes},input=20,output=10,batch={batch},activation=relu,mode=infer,threads=2"
                name = name.replace(",threads", ",backend=openblas,threads") if backend == "openblas" else name
                ns = nodes * batch * (110 if nodes == 64 and backend == "openblas" else 100) / speed[batch]
                end = f"ok,,{nodes * 30},{ns:.6g},{ns * 0.97:.6g},{ns * 1.03:.6g}"
                if nodes == 128:
                    end = "crash,signal 11,3840,,," if backend == "openblas" and batch == 1 else end
                    if backend == "onednn" and batch == 64:
                        continue
                table += f'"{name}",fc,2,{nodes},{batch},infer,{backend},2,{end}\n'
        tables.append(table)
    return tables


def fit_table():
    """A results.csv with a power law, an outlier, a collinear and a constant key, a missing cell, and a family that is too small."""
    text = "id,family,layers,nodes,input,batch,output,cell,mode,status,time_ns_median,pct_of_peak\n"
    number = 0
    for layers in (1, 2, 4):
        for nodes in (16, 32, 64):
            for batch in (1, 8):
                number += 1
                wobble = 1 + 0.02 * (number * 7 % 5 - 2)
                time = 1000 * layers * nodes ** 1.5 * batch ** 0.75 * wobble * (3 if number == 11 else 1)
                mode, status = ("train", "ok") if number % 3 else ("infer", "crash" if number == 9 else "ok")
                text += (f"fc/{number},fc,{layers},{nodes},{2 * nodes},{'' if number == 4 else batch},10,,{mode},{status},{time:.0f},"
                         f"{10 + 5 * batch - layers + number % 4}\n")
    return text + "rnn/1,rnn,1,,,1,10,lstm,train,ok,100,1\nrnn/2,rnn,2,,,1,10,gru,train,ok,130,2\n"


# Name of the golden file, arguments, exit status. stderr is not compared if it reports durations.
GOLDEN_CASES = [
    ("help", ["--help"], 0),
    ("help-data", ["data", "--help"], 0),
    ("help-model", ["help", "resnet50"], 2),
    ("help-unknown", ["help", "brekdown"], 2),
    ("nothing", [], 2),
    ("columns-ceilings", ["columns", "ceilings"], 0),
    ("columns-bound", ["columns", "bound"], 0),
    ("columns-noisy", ["columns", "noisy"], 0),
    ("columns-model", ["columns", "fc"], 0),
    ("columns-file", ["columns", "./mynet.yaml"], 0),
    ("columns-spec", ["columns", "small.yaml"], 2),
    ("columns-unknown", ["columns", "result"], 2),
    ("ops", ["ops"], 0),
    ("ops-csv", ["ops", "--format=csv"], 0),
    ("ops-conv2d", ["ops", "conv2d"], 0),
    ("ops-several", ["ops", "dense", "dropout", "embedding", "mask", "concat", "pool2d", "rnn", "hardtanh", "softmax_cross_entropy"], 0),
    ("ops-inserted-csv", ["ops", "sgd", "dropout_add_norm", "layernorm", "--format=csv"], 0),
    ("ops-mixed", ["ops", "dense", "fc"], 2),
    ("ops-unknown", ["ops", "conv2"], 2),
    ("ops-unknown-model", ["ops", "fcc"], 2),
    ("ops-former-option", ["ops", "--library", "a.results"], 2),
    ("ops-former-letter", ["ops", "-l", "a.results"], 2),
    ("families", ["families"], 0),
    ("families-json", ["families", "--format=json"], 0),
    ("families-fc", ["families", "fc"], 0),
    ("families-cnn", ["families", "cnn"], 0),
    ("families-rnn", ["families", "rnn"], 0),
    ("families-unknown", ["families", "fcc"], 2),
    ("families-file", ["families", "mynet.yaml"], 0),
    ("families-spec", ["families", "small.yaml"], 2),
    ("families-file-claim", ["families", "claims.yaml"], 2),
    ("families-file-values", ["families", "mynet.yaml,batch=2"], 2),
    ("families-no-source", ["families", "mynet.yaml", "--source"], 2),
    ("families-source-of-all", ["families", "--source"], 2),
    ("list", ["list", "small.yaml"], 0),
    ("list-file", ["list", "mynet.yaml,batch=[4]", "./mynet.yaml:wide,threads=1"], 2),
    ("list-file-values", ["list", "mynet.yaml,batch=4,threads=1", "./mynet.yaml:wide,threads=1"], 0),
    ("list-file-and-spec", ["list", "mine.yaml", "mynet.yaml,batch=1,threads=1", "--set", "models.0.mynet.width=[1, 2]"], 0),
    ("list-fused", ["list", "rnn/rnn=fused,threads=1", "rnn/rnn=unrolled,threads=1", "fc/layers=1,threads=1", "--format", "csv",
                    "--columns", "family,rnn,memory_bytes"], 0),
    ("list-csv", ["list", "small.yaml", "--format", "csv"], 0),
    ("list-columns", ["list", "small.yaml", "--columns", "params,id"], 0),
    ("list-brief", ["list", "small.yaml", "--columns=brief", "--format", "csv"], 0),
    ("list-bad-column", ["list", "small.yaml", "--columns", "brief,parms"], 2),
    ("compare-columns", ["compare", "a.results", "b.results", "--columns", "ratio,id"], 0),
    ("breakdown-columns", ["breakdown", "bert.results", "--columns", "id,share_pct,category"], 0),
    ("breakdown-bad-column", ["breakdown", "bert.results", "--columns", "shares_pct"], 2),
    ("list-twice", ["list", "small.yaml", "small.yaml", "--set", "run.mode=infer"], 0),
    ("list-id", ["list", "fc/layers=2,nodes=16,input=20,output=10,batch=4,threads=1"], 0),
    ("count", ["list", "--count", "small.yaml"], 0),
    ("count-csv", ["list", "--count", "small.yaml", "--format", "csv"], 0),
    ("count-beyond-64-bits", ["list", "--count", "large.yaml", "--format", "csv"], 0),
    ("list-shard", ["list", "small.yaml", "--shard", "3/3", "--shard-base", "1"], 0),
    ("list-shard-csv", ["list", "small.yaml", "nets.yaml", "--shard", "2/3", "--format", "csv"], 0),
    ("count-shard", ["list", "--count", "small.yaml", "--shard", "2/3"], 0),
    ("list-bad-shard", ["list", "small.yaml", "--shard", "3/3"], 2),
    ("list-bad-shard-base", ["list", "small.yaml", "--shard-base", "1"], 2),
    ("list-nets", ["list", "nets.yaml", "--set", "run.algorithm=[auto, direct]"], 0),
    ("list-nets-csv", ["list", "nets.yaml", "small.yaml", "--format", "csv"], 0),
    ("list-presets", ["list", "cnn:resnet50,batch=1,threads=1,mode=infer", "cnn:vgg16,batch=1,threads=1,image=64",
                      "--set", "models.0.cnn.blocks=[2, 3-4-23-3]"], 0),
    ("list-families", ["list", "cnn:resnet50,batch=1,threads=1", "rnn/cell=gru,length=25,threads=1",
                       "gnmt:gnmt,batch=1,threads=1,mode=infer", "deepspeech2:deepspeech2,batch=1,threads=1,mode=infer"], 0),
    ("list-same-net", ["list", "cnn/block=residual,mode=infer,threads=1", "--set",
                       "models.0.cnn.blocks=[1, 1-1-1-1, [1, 1, 1, 2]]"], 0),
    ("list-missing", ["list", "missing.yaml"], 2),
    ("list-bad-id", ["list", "fc/layer=2"], 2),
    ("list-bad-list", ["list", "cnn/blocks=3-4-x-3"], 2),
    ("list-bad-setting", ["list", "fc/algorithm=gemm"], 2),
    ("list-bad-optimizer", ["list", "fc/mode=infer,optimizer=sgd"], 2),
    ("list-set-optimizer", ["list", "fc/mode=infer,threads=1", "--set", "run.optimizer=[sgd, adam]"], 0),
    ("list-bad-block", ["list", "cnn:resnet50,kernel=5"], 2),
    ("list-bad-image", ["list", "cnn:vgg16,image=16,threads=1"], 2),
    ("list-bad-set", ["list", "small.yaml", "--set", "run.thread=2"], 2),
    ("list-bad-min-samples", ["list", "small.yaml", "--set", "measure.min_samples=16385"], 2),
    *[(f"submit-{kind}", ["submit", "small.yaml", "--workers", "4", "-o", "/shared/small.results", "--program", "paradnn", "--scheduler",
                          kind, "--time", "90m", "--dry-run", "--", *passed], 0)
      for kind, passed in (("slurm", ["--partition=cpu"]), ("none", ["n1", "n2", "n3", "n4"]))],
    ("submit-no-workers", ["submit", "small.yaml"], 2),
    ("submit-no-directory", ["submit", "fc", "--workers", "2"], 2),
    ("submit-array", ["submit", "small.yaml", "--workers", "2", "--", "--array=0-9"], 2),
    ("unknown-command", ["lst"], 2),
    ("unknown-option", ["list", "small.yaml", "--fromat", "csv"], 2),
    ("unknown-global", ["--versoin"], 2),
    ("unknown-format", ["list", "small.yaml", "--format", "cvs"], 2),
    ("no-operand", ["sweep"], 2),
    ("extra-operand", ["ceilings", "dense"], 2),
    ("run-bad-rounds", ["run", "fc", "--rounds", "many"], 2),
    ("run-vary-unknown", ["run", "rnn", "--vary", "lenght=10,20"], 2),
    ("run-vary-setting", ["run", "rnn", "--vary", "threads=1,2"], 2),
    ("run-vary-weights", ["run", "rnn/embedding=64", "--vary", "hidden=64,128"], 2),
    ("run-vary-settings", ["run", "rnn", "--vary", "length=10", "--set", "run.mode=[infer, train]"], 2),
    ("run-vary-range", ["run", "rnn", "--vary", "length={from: 0, to: 20, plus: 10}"], 2),
    ("run-vary-value", ["run", "fc", "--vary", "batch=1,x"], 2),
    ("run-vary-invalid", ["run", "cnn/block=plain", "--vary", "image=1"], 2),
    ("run-vary-bad-id", ["run", "fc/nodes=x", "--vary", "batch=1"], 2),
    ("compose-bad-budget", ["compose", "fc", "--budget", "soon"], 2),
    ("seqpoint-bad-target", ["seqpoint", "rnn", "--target-error", "none"], 2),
    ("run-vary-no-list", ["run", "rnn", "--vary", "length"], 2),
    ("run-vary-two", ["run", "rnn", "fc", "--vary", "batch=1,2"], 2),
    ("check-bad-backend", ["check", "fc", "--backend", "onednm"], 2),
    ("check-bad-limit", ["check", "fc", "--max-flop", "lots"], 2),
    ("ceilings-bad-threads", ["ceilings", "--threads", "0"], 2),
    ("ceilings-bad-seconds", ["ceilings", "--seconds", "never"], 2),
    ("breakdown-group", ["breakdown", "bert.results", "--by", "group", "--only", "batch=4"], 0),
    ("breakdown-csv", ["breakdown", "bert.results", "--by=group,pass", "--only", "batch=4", "--format", "csv"], 0),
    ("breakdown-across", ["breakdown", "bert.results", "--by", "group", "--across", "batch"], 0),
    ("breakdown-gemms", ["breakdown", "bert.results", "--gemms"], 0),
    ("breakdown-directions", ["breakdown", "bert.results", "--check-directions"], 1),
    ("breakdown-directions-csv", ["breakdown", "bert.results", "--check-directions", "--only", "batch=4", "--format=csv"], 0),
    ("breakdown-bad-by", ["breakdown", "bert.results", "--by", "gruop"], 2),
    ("breakdown-bad-across", ["breakdown", "bert.results", "--across", "bacth"], 2),
    ("breakdown-bad-only", ["breakdown", "bert.results", "--only", "batch=5"], 2),
    ("compare", ["compare", "a.results", "b.results"], 0),
    ("compare-csv", ["compare", "a.results", "b.results", "--format", "csv"], 0),
    ("compare-only", ["compare", "a.results", "b.results", "--only", "batch=1", "--table", "pairs"], 0),
    ("compare-groups", ["compare", "a.results", "b.results", "-t", "groups"], 0),
    ("compare-groups-csv", ["compare", "a.results", "b.results", "-t", "groups", "--format", "csv"], 0),
    ("compare-axes", ["compare", "a.results", "b.results", "-t", "axes"], 0),
    ("compare-groups-json", ["compare", "a.results", "b.results", "-t", "groups", "--format", "json"], 0),
    ("compare-unpaired", ["compare", "a.results", "b.results", "-t", "unpaired"], 0),
    ("compare-within", ["compare", "bert.results", "--across", "batch"], 0),
    ("compare-ops", ["compare", "bert.results", "--across", "batch=16:4", "-t", "ops", "--by", "group,pass"], 0),
    ("compare-ops-csv", ["compare", "bert.results", "--across", "batch", "-t", "ops", "--format", "csv"], 0),
    ("compare-bad-across", ["compare", "a.results", "b.results", "--across", "backnd"], 2),
    ("compare-bad-value", ["compare", "bert.results", "--across", "batch=4:5"], 2),
    ("compare-bad-gate", ["compare", "a.results", "b.results", "--gate", "2"], 2),
    ("compare-gate-unpaired", ["compare", "a.results", "b.results", "--gate", "2%"], 2),
    ("compare-none", ["compare", "a.results"], 2),
    ("compare-same", ["compare", "a.results", "./a.results"], 2),
    ("compare-bad-by", ["compare", "a.results", "b.results", "--by", "op", "--format", "csv"], 2),
    ("breakdown-both", ["breakdown", "bert.results", "--gemms", "--by", "pass"], 2),
    ("fit", ["fit", "fit.results"], 0),
    ("project-nothing", ["project", "fit.results"], 2),
    ("project", ["project", "roofed.results", "--compute", "4"], 0),
    ("project-json", ["project", "roofed.results", "--compute", "2", "--format", "json"], 0),
    ("project-bad-factor", ["project", "fit.results", "--compute", "fast"], 2),
    ("project-bad-level", ["project", "fit.results", "--bandwidth", "L3=0"], 2),
    ("scale-nothing", ["scale", "fit.results"], 2),
    ("scale-parts", ["scale", "roofed.results", "--slice", "1,2", "--link", "12.5GB/s,2us", "--table", "parts"], 0),
    ("scale-jsonl", ["scale", "roofed.results", "--nodes", "2,4", "--link", "12.5GB/s,2us", "--format", "jsonl"], 0),
    ("scale-no-link", ["scale", "fit.results", "--nodes", "2"], 2),
    ("scale-bad-link", ["scale", "fit.results", "--nodes", "2", "--link", "fast"], 2),
    *[(f"scale-bad-{name}", ["scale", "fit.results", "--link", "1GB/s", *option, value], 2)
      for name, option, value in (("nodes", ["--nodes"], "2,0"), ("digits", ["--nodes"], "2,000000000000000000000020"),
                                  ("number", ["--nodes"], "99999999999999999999"), ("slice", ["--slice"], "1e30"),
                                  ("bucket", ["--nodes", "2", "--bucket"], "1e30GB"), ("memory", ["--nodes", "2", "--memory"], "99999999999999999999"))],
    ("fit-power", ["fit", "fit.results", "--model", "power", "--only", "family=fc"], 0),
    ("fit-residuals", ["fit", "fit.results", "--model", "power", "--on", "batch", "--residuals"], 0),
    ("fit-bad-family", ["fit", "fit.results", "--only", "family=gnmt"], 2),
    ("fit-bad-value", ["fit", "fit.results", "--value", "pct_of_peek"], 2),
    ("fit-bad-column", ["fit", "fit.results", "--on", "nodes,bacth"], 2),
    ("fit-few-rows", ["fit", "fit.results", "--only", "family=rnn"], 2),
    ("plot-unknown", ["plot", "rofline", "small.results"], 2),
    ("plot-option", ["plot", "roofline", "bert.results", "--across", "batch"], 2),
    ("worker-by-hand", ["worker"], 2),
]
TIMED = {"count-shard"}
# These list every run setting too. Their golden files leave out the settings that families-fc.txt has, so that a new setting changes only
# that file.
HAS_SETTINGS = {"families-file", "families-cnn", "families-rnn", "list-csv", "list-nets-csv", "list-shard-csv"}


def without_settings(text, settings):
    """Leaves such settings out: their lines in a table of parameters, their columns in a CSV table."""
    lines = text.splitlines(keepends=True)
    if lines[0].startswith("id,"):
        rows = list(csv.reader(lines))
        kept = [i for i, name in enumerate(rows[0]) if name not in settings]
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([row[i] for i in kept] for row in rows)
        return out.getvalue()
    return "".join(line for line in lines if not (line.startswith("run setting") and line.split()[2] in settings))



ROOFS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,100,90,110,5
bandwidth,read,,L2,1,1048576,400,380,420,5
bandwidth,read,,DRAM,1,0,200,190,210,5
overhead,op,,,1,0,1,1,1,5
"""


# Sums of 1.9e19 FLOP.
LARGE = """sweep: large
run: {mode: train}
models: [{fc: {layers: [100, 120], nodes: [32768, 40000, 50000, 65536], batch: [65536, 131072, 262144, 1048576]}}]
"""

# A family of a user's own, and a spec that has it.
MYNET = """family: mynet
help: a convolution and a head
axes:
  width: {default: 4, range: 1..64, help: channels of the convolution}
  batch: {default: 8, range: 1..1024, help: "minibatch: images per step"}
inputs:
  pixels: {shape: [batch, 3, 32, 32]}
  labels: {shape: [batch], fill: {class: 10}}
ops:
  - {conv2d: {out: width, kernel: 3, padding: 1}, from: pixels, layer: stem}
  - [bias, relu, pool2d: {kind: average, to: 1}]
  - {ops: [dense: {out: 10}, bias], layer: output, as: logits}
loss: [{softmax_cross_entropy, from: [logits, labels], layer: loss}]
presets:
  wide: {width: 32, help: eight times as wide}
"""
MINE = """families: [mynet.yaml]
run: {mode: infer, threads: 1}
models: [mynet: {batch: 2}, wide]
"""

# The tables that commands print, and a command that prints each.
PRINTED = {
    "breakdown": ["breakdown", "bert.results"],
    "gemms": ["breakdown", "bert.results", "--gemms"],
    **{f"compare-{name}": ["compare", "a.results", "b.results", "--table", name] for name in ("pairs", "groups", "axes", "unpaired")},
    "compare-ops": ["compare", "bert.results", "--across", "batch", "--table", "ops"],
    "projection": ["project", "roofed.results", "--compute", "2"],
    **{f"projection-{name}": ["project", "roofed.results", "--compute", "2", "--table", name] for name in ("ops", "moves", "limits", "families")},
    "scaling": ["scale", "roofed.results", "--nodes", "2", "--link", "1GB/s"],
    "scaling-parts": ["scale", "roofed.results", "--nodes", "2", "--link", "1GB/s", "--table", "parts"],
    "fit": ["fit", "fit.results"],
    "residuals": ["fit", "fit.results", "--residuals"],
}
# What people plot.
BRIEF = {
    "results": "id preset family batch run_mode dtype threads status params flop_count in_bounds_flop_count byte_count memory_bytes "
               "time_ns_median ci_low_ns ci_high_ns prepare_ns examples_per_s gflops bw_gbs intensity_flop_per_byte pct_of_roof bound row_flags",
    "ops": "id layer op category op_pass op_shape executions time_ns_median share_pct gflops bw_gbs pct_of_roof bound roof_level implementation",
}
# The unit that the end of a column's name promises; the first that fits counts.
UNITS = {"bytes_per_s": "B/s", "per_s": "1/s", "flop_per_byte": "FLOP/byte", "gflops": "1e9 FLOP/s", "gbs": "1e9 B/s", "(ns|ns_[a-z0-9]+)": "ns",
         "(bytes|byte_count)": "bytes", "(flop|flop_count)": "FLOP", "(pct|pct_of_[a-z]+)": "%"}
KINDS = {"text": str, "count": int, "integer": int, "number": float}
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "results", "examples")


def help_from(page, command):
    """What --help prints on 80 columns, from the command's manual page: two renderings of the same rows."""
    page = page.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
    synopsis, body = re.search(r"\n\.Sh SYNOPSIS\n(.*)\.Sh DESCRIPTION\n(.*)\.Sh SEE ALSO\n", page, re.S).groups()
    operands, rest = (re.search(rf"^\.{macro} (.*)", synopsis, re.M) for macro in ("Ar", "Op Fl - Ar"))
    lines = [f"Usage: paradnn {command}{' ' + operands[1] if operands else ''} [OPTION]...{f' [-- {rest[1]}]' if rest else ''}"]
    for part in re.split(r"^(?=\.(?:It|Pp|Sh))", body, flags=re.M):
        head, text = part.split("\n", 1) if part.startswith(".") else ("", part)
        text = " ".join(re.sub(r"^\.(Bl|El).*\n", "", text, flags=re.M).split("\n")).strip()
        name = re.sub(r"^\.It (Cm|Ic|Fl) ", r"-" if head.startswith(".It Fl") else "", head).replace(" , Fl ", ", -").replace(" Ar ", " ")
        column = 0 if not head.startswith(".It") else 6 if head.startswith(".It Ic") else 24
        # A number stays with its percent sign.
        filled = textwrap.wrap(re.sub(r"(?<=\d) %", "\0%", text), 80 - column, break_on_hyphens=False)
        filled = [" " * column + line for line in filled]
        if column and len(name) + 2 < column:
            filled[0] = f"  {name}".ljust(column) + filled[0].strip()
        elif column:
            filled = ["  " + name, *filled]
        elif head:
            filled = ["", *(filled or [head[len(".Sh "):].capitalize() + ":"])]
        lines += filled
    return "\n".join([*lines, ""]).replace("\0", " ")


class Words(Case):
    FILES = {"small.yaml": SMALL, "nets.yaml": NETS, "large.yaml": LARGE, "mynet.yaml": MYNET, "mine.yaml": MINE,
             "claims.yaml": MYNET.replace("wide: {", "wide: {params: 7, ")}

    def setUp(self):
        super().setUp()
        for name, text in zip(("results.csv", "ops.csv"), bert_tables()):
            self.write(os.path.join("bert.results", name), text)
            self.write(os.path.join("roofed.results", name), text.replace("hidden=8", "hidden=8,heads=2"))
        self.write("roofed.results/ceilings.csv", ROOFS)
        for name, text in zip(("a.results", "b.results"), platforms()):
            self.write(os.path.join(name, "results.csv"), text)
        self.write("fit.results/results.csv", fit_table())

    def golden(self, name, arguments, expected_status):
        done = self.paradnn(*arguments, expect=expected_status)
        if expected_status == 2 and arguments:
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"\Aparadnn: [^\n]+[^.\n]\n\Z")
        stderr = "" if name in TIMED else done.stderr
        stdout = without_settings(done.stdout, self.settings()) if name in HAS_SETTINGS else done.stdout
        text = f"$ paradnn {' '.join(arguments)}\n{stdout}"
        text += f"--- stderr\n{stderr}" if stderr else ""
        text += f"--- exit status {done.returncode}\n"
        path = os.path.join(GOLDEN, name + ".txt")
        self.expect_golden(path, text)

    def test_golden(self):
        for name, arguments, status in GOLDEN_CASES:
            with self.subTest(name):
                self.golden(name, arguments, status)

    def test_a_preset_has_its_own_values(self):
        """Those of its family but for what it sets; and no other presets."""
        family, preset = (table(self.paradnn("families", name, "--format", "csv", expect=0).stdout) for name in ("transformer", "gpt2"))
        values = {row["name"]: row["default"] for row in preset if row["kind"] == "hyper-parameter"}
        self.assertEqual([values[name] for name in ("architecture", "layers", "vocabulary", "norm", "phase")],
                         ["decoder", "12", "50257", "pre", "prefill"])
        self.assertEqual({row["default"] for row in family if row["name"] == "architecture"}, {"encoder"})
        self.assertEqual({row["kind"] for row in family} - {row["kind"] for row in preset}, {"preset"})

    def test_csv_and_json_have_the_same_rows(self):
        for command in (["list", "small.yaml", "nets.yaml"], ["list", "--count", "small.yaml"], ["families"], ["ops"], ["columns", "words"],
                        *PRINTED.values(), ["breakdown", "bert.results", "a.results", "--by", "op"],
                        ["breakdown", "bert.results", "--across", "batch"], ["breakdown", "bert.results", "--check-directions"],
                        ["list", "small.yaml", "--set", "run.mode=[]"]):
            with self.subTest(command):
                rows, as_json, lines = (self.paradnn(*command, "--format", name).stdout for name in ("csv", "json", "jsonl"))
                rows, objects = table(rows), json.loads(as_json or "[]")
                self.assertEqual(objects, [json.loads(line) for line in lines.splitlines()])
                self.assertEqual([list(row) for row in objects], [list(row) for row in rows])
                for row, values in zip(rows, objects):
                    for name, value in values.items():
                        is_number = isinstance(value, (int, float))
                        self.assertEqual(float(row[name]) if is_number else row[name] or None, value, name)

    def settings(self):
        """The names of the settings in families-fc.txt."""
        listed = table(self.paradnn("families", "fc", "--format=csv", expect=0).stdout)
        return {row["name"] for row in listed if row["kind"] == "run setting"}

    def test_no_golden_file_is_left_over(self):
        self.assertEqual({name for name, _, _ in GOLDEN_CASES}, {os.path.splitext(name)[0] for name in os.listdir(GOLDEN)})

    def test_version_names_every_backend(self):
        done = self.paradnn("--version", expect=0)
        self.assertRegex(done.stdout, r"\Aparadnn \d+\.\d+\.\d+\nonednn +\S.*\nopenblas +\S.*\nreference +\S.*\n\Z")

    def test_manual_page(self):
        page = self.paradnn("--man", expect=0).stdout
        for word in ("sweep", "NO_COLOR", "results.csv", ".Os " + self.paradnn("--version").stdout.splitlines()[0]):
            self.assertIn(word, page)
        commands = re.findall(r"^\.It Xr paradnn-(\S+) 1$", page, re.M)
        self.assertEqual(commands, re.findall(r"^\.Nm paradnn\n\.Cm (\S+)$", page, re.M))
        self.write("paradnn.1", page)
        for command in commands:
            page = self.paradnn("--man", command, expect=0).stdout
            self.write(f"paradnn-{command}.1", page)
            for option in re.findall(r"--[a-z][a-z-]+", self.paradnn(command, "--help").stdout.split("\nOptions:\n")[1].split("\nExamples:")[0]):
                self.assertIn(f" Fl -{option[2:]}" if option != "--help" else "", page)
        self.assertIn("Fl -ceilings", self.read("paradnn-sweep.1"))
        self.assertIn("did you mean 'sweep'", self.paradnn("--man", "sweeep", expect=2).stderr)
        if not shutil.which("mandoc"):
            self.skipTest(needs.say("mandoc"))
        for name in ["paradnn.1", *(f"paradnn-{command}.1" for command in commands)]:
            # mandoc looks for the pages named in SEE ALSO among those installed.
            lint = subprocess.run(["mandoc", "-Tlint", "-W", "warning", self.path(name)], capture_output=True, text=True, check=False)
            self.assertEqual((lint.returncode, lint.stdout), (0, ""))

    def columns(self, *words):
        return [tuple(row.values()) for row in table(self.paradnn("columns", *words, "--format", "csv", expect=0).stdout)]

    def test_columns_are_those_of_tables(self):
        """Each once; a table's and a column's alone are those among all; a name promises its unit; and the tables of sweeps that came
        with the program have values of the kind that is listed."""
        rows, tables = self.columns(), [name for name, *_ in self.columns("tables")]
        names = [(name, column) for name, column, *_ in rows]
        self.assertEqual(len(set(names)), len(names))
        self.assertEqual(list(dict.fromkeys(name for name, _ in names)), tables)
        for word in dict.fromkeys(word for name in names for word in name):
            self.assertEqual(self.columns(word), [row for row in rows if word == row[0] or word == row[1] and word not in tables], word)
        for name, column, unit, kind, text in rows:
            promised = next((unit for end, unit in UNITS.items() if re.search(rf"(^|_){end}$", column)), None)
            self.assertTrue(unit == promised if promised else unit not in UNITS.values() or column in ("dropout", "expert_skew"), (name, column))
            self.assertIn(kind, KINDS)
            self.assertRegex(text, r"\A\S.*[^.\s]\Z")
        files = sorted(glob.glob(os.path.join(EXAMPLES, "zen*", "*.csv")))
        self.assertEqual(len(files), 6)
        for path in files:
            kinds = {column: KINDS[kind] for name, column, _, kind, _ in rows if f"{name}.csv" == os.path.basename(path)}
            with open(path, encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    for column, value in row.items():
                        self.assertIsNotNone(kinds[column](value or 0), (path, column))

    def test_printed_tables_have_their_columns(self):
        """In their order; behind those of pairs are the keys, and brief leaves out what this table has no use for."""
        brief, unused = self.columns("brief"), {"category", "op_group", "op_pass", "layer", "largest_batch"}
        for name, command in PRINTED.items():
            for choice, rows in (("all", self.columns(name)), ("brief", [row for row in brief if row[0] == name])):
                with self.subTest(name, choice=choice):
                    printed = self.paradnn(*command, "--columns", choice, "--format", "csv", expect=0).stdout.splitlines()[0].split(",")
                    listed = [column for _, column, *_ in rows if column in printed or choice == "all" or column not in unused]
                    self.assertEqual(printed[:len(listed)], listed)
                    self.assertTrue(name == "compare-pairs" or printed == listed)
        for name, expected in BRIEF.items():
            self.assertEqual([row[1] for row in brief if row[0] == name], expected.split())

    def test_words_are_those_of_columns(self):
        """Each has a meaning and an entry of its own, and the help of its column ends with it and its like."""
        rows, words = self.columns(), self.columns("words")
        for column in dict.fromkeys(row[0] for row in words):
            values = [row[1] for row in words if row[0] == column]
            self.assertTrue(any(row[1] == column and row[4].endswith(": " + ", ".join(values)) for row in rows), column)
        for word in words:
            self.assertTrue(word[2], word)
            if word[1] not in {name for row in rows for name in row[:2]}:
                self.assertIn(word, self.columns(word[1]))

    def test_help_says_what_the_manual_says(self):
        """Every command, however it is asked."""
        commands = [line.split()[0] for line in self.paradnn("--complete", "", expect=0).stdout.splitlines()[1:]]
        self.assertGreater(len(commands), 20)
        for command in commands:
            with self.subTest(command):
                expected = help_from(self.paradnn("--man", command, expect=0).stdout, command)
                for asked in (["help", command], [command, "--help"], [command, "-h"]):
                    done = self.paradnn(*asked, expect=0)
                    self.assertEqual((done.stdout, done.stderr), (expected, ""))

    def test_plot_breakdown(self):
        done = self.paradnn("plot", "breakdown", "bert.results", "--across", "batch", "--format", "svg", expect=0)
        self.assertEqual((done.stdout, done.stderr), ("bert.results/breakdown.svg\n", "2 bars\n"))
        picture = self.read("bert.results", "breakdown.svg")
        for text in ("scale+mask+softmax+dropout", "other", "residual", "10.0 us", "~33.0 us", "batch", "8.0"):
            self.assertTrue(f">{text}</text>" in picture, text)


if __name__ == "__main__":
    main(2)
