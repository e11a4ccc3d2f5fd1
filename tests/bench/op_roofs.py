#!/usr/bin/env python3
"""Where each op stands against its roof beyond the caches: forward and backward, in each type.

Usage: op_roofs.py PARADNN [--only CASE,...] [--dtype f32,bf16] [--out DIR, where measured cases are kept] [--set KEY=VALUE]... [--ceilings FILE]
For example: op_roofs.py build/cli/paradnn --only slice,rope --set measure.rounds=5

A family is made of each op: its input, a bias whose gradient makes the op's own gradient needed, the op, a loss. One
training step from cold caches gives the op's rows in ops.csv. Tensors have 16 million values unless computation binds.
Prints a row per op and pass: time and per cent of the roof in each type, and what binds."""

import argparse
import csv
import json
import os
import subprocess
import sys

ROWS, WIDE, IMAGES = [16384, 1024], [16384, 2048], [16, 64, 128, 128]
SAME = None  # the result has the input's shape


def case(op, shape, result=SAME, inputs=None, **attributes):
    """One op on (bias of x), its other `inputs` {name: input}, and a loss against values of the result's shape."""
    return {"op": op, "shape": shape, "result": result or shape, "inputs": inputs or {}, "attributes": attributes}


def classes(rows, count):
    return {"shape": [rows], "fill": {"class": count}}


CASES = {
    "rearrange to rows": case("rearrange", IMAGES, [16 * 128 * 128, 64], pattern="'n c h w -> (n h w) c'"),
    "rearrange heads": case("rearrange", ROWS, [16 * 16 * 1024, 64], pattern="'(n t) (h d) -> (n h t) d'", n=16, h=16),
    "rearrange windows": case("rearrange", [32 * 64 * 64, 128], pattern="'(n y i x j) c -> (n y x i j) c'", n=32, y=8, i=8, x=8),
    "rearrange transpose": case("rearrange", ROWS, [1024, 16384], pattern="'r c -> c r'"),
    "slice columns": case("slice", WIDE, ROWS, columns=1024, first=512),
    "slice image": case("slice", IMAGES, [16, 64, 128, 96], width=96, first=16),
    "concat columns": case("concat", ROWS, WIDE, {"other": {"shape": ROWS}}),
    "concat channels": case("concat", IMAGES, [16, 128, 128, 128], {"other": {"shape": IMAGES}}),
    "resize nearest": case("resize", [16, 64, 64, 64], IMAGES),
    "resize bilinear": case("resize", [16, 64, 64, 64], IMAGES, kind="bilinear"),
    "resize bilinear 3/2": case("resize", [16, 64, 96, 96], [16, 64, 144, 144], kind="bilinear", height=144, width=144),
    "roi_align": case("roi_align", [2, 256, 200, 304], [512, 256, 7, 7], {"boxes": {"shape": [512, 4]}}, size=7),
    "scatter_add": case("scatter_add", ROWS, [8192, 1024], {"plan": {"shape": [16384], "fill": {"position": 8192}}}, rows=8192),
    "scatter_add gates": case("scatter_add", ROWS, [8192, 1024],
                              {"plan": {"shape": [16384], "fill": {"position": 8192}}, "gates": {"shape": [8192, 8]}}, rows=8192),
    "selective_scan": case("selective_scan", [4096, 1536], SAME, {
        "delta": {"shape": [4096, 1536], "fill": {"constant": 0.1}}, "b": {"shape": [4096, 16]}, "c": {"shape": [4096, 16]}},
        sequences=4),
    "top_k 2 of 64": case("top_k", [262144, 64], k=2),
    "top_k 8 of 128": case("top_k", [131072, 128], k=8),
    "multiply": case("multiply", ROWS, SAME, {"other": {"shape": ROWS}}),
    "multiply by rows": case("multiply", ROWS, SAME, {"other": {"shape": [16, 1024]}}),
    "multiply channel": case("multiply", IMAGES, SAME, {"other": {"shape": [16, 64, 1, 1]}}),
    "add row": case("add", ROWS, SAME, {"other": {"shape": [16, 1024]}}),
    "mean rows": case("mean", ROWS, [16, 1024], sequences=16),
    "mean columns": case("mean", ROWS, [16384, 1], along="columns"),
    "groupnorm": case("groupnorm", IMAGES, groups=32),
    "layernorm": case("layernorm", ROWS),
    "layernorm plain": case("layernorm", ROWS, affine="no"),
    "rmsnorm": case("rmsnorm", ROWS),
    "rmsnorm by head": case("rmsnorm", ROWS, heads=8, width=128),
    "rope": case("rope", ROWS, sequences=16, heads=8, width=128),
    "interaction": case("interaction", [8192, 27 * 128], [8192, 351], width=128),
    "interaction 8": case("interaction", [32768, 8 * 64], [32768, 28], width=64),
    "relu": case("relu", ROWS),
    "hardswish": case("hardswish", ROWS),
    "hardsigmoid": case("hardsigmoid", ROWS),
    "softplus": case("softplus", ROWS),
    "silu": case("silu", ROWS),
    "smooth_l1": case("smooth_l1", ROWS),
    "squared_error": case("squared_error", ROWS),
    "logistic_loss": {**case("logistic_loss", ROWS), "wanted": {"class": 2}},
    "embedding_bag": {**case("embedding_bag", [8192, 32], [8192, 128], rows=1000000, out=128), "fill": {"class": 1000000}},
    "embedding_bag of rows": case("embedding_bag", [131072, 128], [8192, 128],
                                  {"ids": {"shape": [8192, 16], "fill": {"class": 131072}}}, rows=131072, out=128),
    "experts": case("experts", [4096, 1024], [4096, 2048], experts=8, out=2048),
    "experts few rows": case("experts", [64, 1024], [64, 2048], experts=32, out=2048),
    "conv_transpose2d": case("conv_transpose2d", [8, 128, 64, 64], [8, 64, 128, 128], out=64, kernel=2, stride=2),
    "conv_transpose2d 4x4": case("conv_transpose2d", [8, 128, 32, 32], [8, 64, 64, 64], out=64, kernel=4, stride=2, padding=1),
    "depthwise 3x3": case("conv2d", [16, 96, 112, 112], out=96, groups=96, kernel=3, padding=1),
    "depthwise 5x5": case("conv2d", [16, 240, 28, 28], out=240, groups=240, kernel=5, padding=2),
    "depthwise causal": case("conv2d", [4, 1536, 1024, 1], out=1536, groups=1536, kernel_h=4, padding_h=3, end_h=0),
    "depthwise 7x7": case("conv2d", [16, 96, 56, 56], out=96, groups=96, kernel=7, padding=3),
    "groups of four": case("conv2d", [16, 128, 56, 56], out=128, groups=32, kernel=3, padding=1),
    "groups of eight": case("conv2d", [16, 256, 56, 56], out=256, groups=32, kernel=3, padding=1),
}
LOSSES = ("smooth_l1", "squared_error", "logistic_loss")


def family(name, made):
    """The definition of a case's family, whose name is what is left of the case's."""
    op, inputs, count = made["op"], {}, len(made["inputs"])
    inputs["x"] = {"shape": ["batch"] + made["shape"][1:], **({"fill": made["fill"]} if "fill" in made else {})}
    inputs.update(made["inputs"])
    inputs["wanted"] = {"shape": made["result"], **({"fill": made["wanted"]} if "wanted" in made else {})}
    others = list(made["inputs"])
    first = [] if "fill" in made else [{"bias": None, "from": "x"}]
    source = ["in"] + others
    if name == "embedding_bag of rows":
        source = ["ids", "in"]
    entry = {op: made["attributes"] or None}
    if "fill" in made:
        entry["from"] = "x"
    elif count:
        entry["from"] = source
    if op in LOSSES:
        ops, loss = first, [{op: None, "from": ["last", "wanted"], "layer": "measured"}]
        ops[-1]["as"] = "last"
    else:
        ops = first + [{**entry, "layer": "measured", "as": "last"}]
        if op == "top_k":  # whose result is infinite where it is not among the largest
            ops[-1].pop("as")
            ops.append({"softmax": None, "layer": "softmax", "as": "last"})
        loss = [{"squared_error": None, "from": ["last", "wanted"], "layer": "loss"}]
    batch = made["shape"][0]
    return {"family": "f_" + "".join(c if c.isalnum() else "_" for c in name), "help": name,
            "axes": {"batch": {"default": batch, "range": f"{batch}..{batch}", "help": "rows or images"}},
            "inputs": inputs, "ops": ops, "loss": loss}


def measure(program, name, directory, dtypes, settings):
    made = family(name, CASES[name])
    spec = {"sweep": made["family"], "run": {"mode": "train", "optimizer": "sgd", "dtype": dtypes},
            "measure": {"cache": "cold", "rounds": 3, "max_time": "300ms"}, "families": [made], "models": [{made["family"]: {}}]}
    path, results = f"{directory}/{made['family']}.yaml", f"{directory}/{made['family']}.results"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(spec, file, indent=1)
    done = subprocess.run([program, "sweep", path, "-o", results] + settings,
                          check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: {done.stdout}{done.stderr}", file=sys.stderr)
    if not os.path.exists(f"{results}/ops.csv"):
        return []
    with open(f"{results}/ops.csv", newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["layer"] == "measured"]


def cells(rows, word, dtypes):
    for dtype in dtypes:
        of_type = [row for row in rows if row["op_pass"] == word and f"dtype={dtype}" in row["id"] + ",dtype=f32"]
        if dtype == "f32":
            of_type = [row for row in of_type if "dtype=" not in row["id"] or "dtype=f32" in row["id"]]
        if not of_type:
            yield from ("", "")
            continue
        time = sum(float(row["time_ns_median"]) for row in of_type)
        roof = sum(float(row["time_ns_median"]) * float(row["pct_of_roof"] or 0) for row in of_type) / time
        bound = "" if of_type[0]["bound"] == "memory" else " " + of_type[0]["bound"]
        yield from (f"{time / 1e6:.2f}", f"{roof:.0f}{bound}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--dtype", default="f32,bf16")
    parser.add_argument("--out", default="op-roofs.results")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--ceilings")
    arguments = parser.parse_args()
    dtypes = arguments.dtype.split(",")
    settings = [word for setting in arguments.settings for word in ("--set", setting)]
    settings += ["--ceilings", arguments.ceilings] if arguments.ceilings else []
    os.makedirs(arguments.out, exist_ok=True)
    print("| op | pass |" + "".join(f" {d}, ms | % of roof |" for d in dtypes) + "\n|---|---|" + "---|---|" * len(dtypes), flush=True)
    for name in [case for case in CASES if any(case == w or case.split(" ")[0] == w for w in arguments.only.split(","))]:
        rows = measure(arguments.program, name, arguments.out, dtypes, settings)
        for word in ("forward", "backward-data", "backward-weights"):
            if any(row["op_pass"] == word for row in rows):
                print(f"| {name} | {word} | " + " | ".join(cells(rows, word, dtypes)) + " |", flush=True)


main()
