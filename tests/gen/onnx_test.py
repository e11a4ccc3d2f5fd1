#!/usr/bin/env python3
"""ONNX files as families: what they become, what they count, and what is said of those that are none. Usage:
onnx_test.py PROGRAM GOLDEN [--update]; the golden files are families, and a line for each bad file."""

import json
import math
import os
import struct
import sys

import onnx_graph as onnx
from onnx_graph import BOOL, FLOAT, INT64, Graph, field, tensor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from program import ROOFS, Case, main

GOLDEN = os.path.abspath(sys.argv[2])
IMAGE = [("x", FLOAT, ["batch", 3, 8, 8])]


def of(op, *inputs, given=None, opset=17, **attributes):
    """A file with one node."""
    g = Graph()
    inputs = [g.weight(*item) if isinstance(item, list) else item for item in inputs]
    return g.file(given or IMAGE, [g.node(op, *inputs, name="here", **attributes)], opset)


def cycle():
    g = Graph()
    a = g.node("Add", "x", "v2", name="first")
    g.node("Relu", a, name="second")
    return g.file(IMAGE, [a])


def twice():
    g = Graph()
    y = g.node("Relu", "x")
    g.count -= 2
    g.node("Relu", "x", name="again")
    return g.file(IMAGE, [y])


def outside(path):
    g = Graph()
    g.weights.append(tensor("w", [4, 3, 1, 1], FLOAT, external=path))
    return g.file(IMAGE, [g.node("Conv", "x", "w")])


def control():
    g = Graph()
    y = g.node("If", "c", name="choice")
    return g.file([*IMAGE, ("c", BOOL, [])], [g.node("Add", y, g.node("If", "c"))])


def several(op):
    g = Graph()
    return g.file(IMAGE, [g.node(op, g.node("Relu", "x")), g.node(op, "x"), g.node(op, "x")])


def unused(op):
    g = Graph()
    g.node(op, "x")
    return g.file(IMAGE, [g.node("Relu", "x")])


def types():
    g = Graph()
    return g.file(IMAGE, [g.node("Add", "x", g.numbers([1, 2, 3, 4, 5, 6, 7, 8]), name="here")])


def sized(*dims):
    return of("Relu", "x", given=[("x", FLOAT, list(dims))])


def reshape(*dims):
    g = Graph()
    return g.file(IMAGE, [g.node("Relu", g.node("Reshape", "x", g.numbers(list(dims)), name="here"))])


def halved():
    """Rows of which half are left: no polynomial at odd sizes."""
    g = Graph()
    return g.file([("x", FLOAT, ["batch", 4])], [g.node("Slice", "x", g.numbers([0]), g.numbers([9]), g.numbers([0]), g.numbers([2]))])


def made(build, dims=("batch", 8), others=(), opset=17):
    g = Graph()
    return g.file([(name, FLOAT, list(dims)) for name in ("x", *others)], [build(g)], opset)


def gelu(g, of="x", scale=0.5 ** 0.5, function="Erf"):
    inner = g.node("Add", g.node(function, g.node("Mul", of, g.numbers(scale, FLOAT))), g.numbers(1.0, FLOAT))
    return g.node("Mul", g.node("Mul", "x", inner, name="here"), g.numbers(0.5, FLOAT), name="last")


def hardswish(g, low):
    six = g.node("Clip", g.node("Add", "x", g.numbers(3.0, FLOAT)), g.numbers(low, FLOAT), g.numbers(6.0, FLOAT))
    return g.node("Div", g.node("Mul", "x", six), g.numbers(6.0, FLOAT), name="here")


def layer_norm(g, means=(-1, -1), gamma=(8,), beta=(8,)):
    d = g.node("Sub", "x", g.node("ReduceMean", "x", axes=[means[0]]), name="minus")
    variance = g.node("ReduceMean", g.node("Pow", d, g.numbers(2.0, FLOAT)), axes=[means[1]])
    y = g.node("Div", d, g.node("Sqrt", g.node("Add", variance, g.numbers(1e-5, FLOAT))), name="here")
    return g.node("Add", g.node("Mul", y, g.weight(*gamma), name="gamma"), g.weight(*beta), name="beta")


def added(g, *numbers):
    """A constant mask of scores, by numbers that are added."""
    return g.node("Relu", g.node("Add", "x", g.numbers(list(numbers), FLOAT, [2, 2]), name="here"))


def replaced(g, fill, dims=()):
    seen = g.numbers([True, False, True, False], BOOL, [2, 2])
    fill = g.numbers(fill, FLOAT)
    return g.node("Where", seen, "x", g.node("Expand", fill, g.numbers(list(dims))) if dims else fill, name="here")


def without_nan(g, of="x", fill=(0.0,), by="Softmax"):
    """Where of a test of `of`, else of the scores; `fill`: numbers, or an input."""
    y = g.node(by, "x")
    test = g.node("IsNaN", y if of == "y" else of)
    fill = fill if isinstance(fill, str) else g.numbers(list(fill), FLOAT)
    return g.node("Relu", g.node("Where", test, fill, y, name="here"))


def lstm(g, *others, biases=True, **attributes):
    weights = [g.weight(1, 8, 3), g.weight(1, 8, 2), g.weight(1, 16) if biases else ""]
    return g.node("LSTM", "x", *weights, *(other(g) if callable(other) else other for other in others), name="here", hidden_size=2, **attributes)


def tables(g, *columns):
    """A table for each of these columns of the ids, the sum of their rows."""
    found = [g.node("Gather", g.weight(5 + k, 4), g.node("Gather", "ids", g.numbers(k), axis=1)) for k in columns]
    return g.file([("ids", INT64, ["batch", 2])], [g.node("Add", *found)])


def table(g):
    return g.file([("ids", INT64, ["batch", 2])], [g.node("Gather", g.weight(5, 4), "ids")])


def pooled(g, *pads):
    return g.node("MaxPool", "x", kernel_shape=[3, 3], strides=[2, 2], pads=list(pads), ceil_mode=1, name="here")


def outside_scalar(g):
    g.weights.append(tensor("w", [], FLOAT, external="w.bin"))
    return g.node("Add", "x", "w", name="here")


def inside_scalar(g):
    g.weights.append(tensor("w", [1], FLOAT, [2.0]))
    return g.node("Mul", "x", "w")


def divided(g):
    g.weights.append(tensor("w", [], FLOAT, [4.0]))
    return g.node("Relu", g.node("Div", "x", g.node("Sqrt", "w"), name="here"))


def padded(g, pads=(0, 0, 2, 0, 0, 1), *fill, op="Conv", **attributes):
    """Steps in channels, something around them, then a convolution of three taps."""
    y = g.node("Pad", "x", g.numbers(list(pads)), *(g.numbers(number, FLOAT) for number in fill), name="around", **attributes)
    return g.node("Relu", y) if op == "Relu" else g.node(op, y, g.weight(4, 3, 3), pads=[0, 1], name="here")


def truncated(g, back=False):
    """An initializer 2.7 that is cast to an integer: it counts columns, or is cast back to scale them."""
    g.weights.append(tensor("w", [], FLOAT, [2.7]))
    count = g.node("Cast", "w", to=INT64)
    if back:
        return g.node("Mul", "x", g.node("Cast", count, to=FLOAT))
    return g.node("Gather", "x", g.node("Range", g.numbers(0), count, g.numbers(1)), axis=1)


def turned(of=None, table=lambda g, cos, sin: (cos, sin), theta=1e4, positions=None, **how):
    """Two heads of 8 numbers that are turned: what is to be known by its numbers, whatever wrote them."""
    def build(g):
        both = onnx.angles(g, "ids", 8, theta, positions)
        cos, sin = table(g, *onnx.tables(g, of(g, both) if of else both))
        x = g.node("Transpose", g.node("Reshape", "x", g.numbers([0, 0, 2, 8])), perm=[0, 2, 1, 3])
        other = {"halves": g.node("Relu", x)} if how.pop("other", False) else {}
        y = onnx.turn(g, x, cos, sin, 8, **how, **other)
        return g.node("MatMul", y, g.node("Transpose", y, perm=[0, 1, 3, 2]))
    g = Graph()
    return g.file([("x", FLOAT, ["batch", "length", 16]), ("ids", INT64, ["batch", "length"])], [build(g)])


def looked_up(first):
    """The same by rows of tables from one on."""
    def table(g, *_):
        length = g.node("Gather", g.node("Shape", "ids"), g.numbers(1), axis=0)
        rows = g.node("Range", g.numbers(first), g.node("Add", length, g.numbers(first)), g.numbers(1))
        return onnx.looked_up(g, g.node("Unsqueeze", rows, g.numbers([0])), 8)
    return turned(table=table)


def single(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def turned_far(rounded, last=0.0, width=64, rows=8192):
    """By tables of f32, of exact angles or of angles that are f32 too; `last` moves the last row."""
    g, half = Graph(), width // 2
    angle = single if rounded else float
    frequencies = [angle(1e4 ** (-i / half)) for i in range(half)]
    angles = [angle(t * frequency) for t in (*range(rows - 1), rows - 1 + last) for frequency in frequencies]
    for name, function in (("cos", math.cos), ("sin", math.sin)):
        halves = [[function(one) for one in angles[t * half:(t + 1) * half]] for t in range(rows)]
        g.weights.append(tensor(name, [rows, width], FLOAT, [one for row in halves for one in row * 2]))
    y = onnx.turn(g, "x", "cos", "sin", width)
    return g.file([("x", FLOAT, ["batch", 1, rows, width])], [g.node("MatMul", y, g.weight(width, 4))])


def einsum(equation, *shapes):
    """Of inputs with letters as names of dimensions, but for those that are numbers."""
    g = Graph()
    names = ("x", "y")[:equation.count(",") + 1]
    return g.file([(name, FLOAT, dims) for name, dims in zip(names, shapes)], [g.node("Einsum", *names, equation=equation, name="here")])


def weighed(equation, shape, *weight):
    g = Graph()
    return g.file([("x", FLOAT, list(shape))], [g.node("Einsum", "x", g.weight(*weight), equation=equation, name="here")])


FAR = 2 ** 63


def nested(depth):
    data = b""
    for _ in range(depth):
        data = field(6, field(1, field(5, data)))
    return field(7, field(1, field(5, data))) + field(8, field(2, 17))


def rows(*others):
    return of("Add", *others, given=[("x", FLOAT, ["batch", 4]), ("y", FLOAT, ["batch", 5])])


BAD = {
    "empty": b"",
    "text": b"This is no protobuf, but a text.\n",
    "cut": onnx.mlp()[:-40],
    "deep": nested(5000),
    "bomb": field(7, b"\x0a\x00" * 1000000) + field(8, field(2, 17)),
    "no_nodes": Graph().file(IMAGE, []),
    "opset_10": of("Relu", "x", opset=10),
    "opset_24": of("Relu", "x", opset=24),
    "other_domain": of("FusedConv", "x", domain="com.microsoft"),
    "outside_above": outside("../weights.bin"),
    "outside_absolute": outside("/etc/weights.bin"),
    "cycle": cycle(),
    "undefined": of("Add", "x", "nowhere"),
    "twice": twice(),
    "types": types(),
    "shapes_add": rows("x", "y"),
    "shapes_channels": of("Conv", "x", [4, 5, 1, 1]),
    "shapes_inner": of("Gemm", "x", [5, 3], given=[("x", FLOAT, ["batch", 4])]),
    "shapes_reshape": reshape(0, 5, 7),
    "shapes_reshape_zero": reshape(-1, 0, -3),
    "shapes_concat": of("Concat", "x", "y", axis=0, given=[("x", FLOAT, ["batch", 4]), ("y", FLOAT, ["batch", 5])]),
    "window": of("MaxPool", "x", kernel_shape=[9, 9]),
    "strides": of("MaxPool", "x", kernel_shape=[2, 2], strides=[0, 1]),
    "axis": of("Softmax", "x", axis=7),
    "perm": of("Transpose", "x", perm=[0, 0, 1, 2]),
    "if": control(),
    "nonzero": several("NonZero"),
    "erf": of("Erf", "x"),
    "quantized": of("DynamicQuantizeLinear", "x"),
    "3d": of("Conv", "x", [4, 3, 1, 1, 1], given=[("x", FLOAT, ["batch", 3, 4, 4, 4])]),
    "free": sized("a", "b", "c", "d", "e"),
    "negative": sized("batch", -4),
    "huge": sized("batch", 1 << 30, 1 << 30),
    "halved": halved(),
    "no_input": of("Relu", [4]),
    "gelu_of_other": made(lambda g: gelu(g, "y"), others=["y"]),
    "gelu_scaled": made(lambda g: gelu(g, scale=0.8)),
    "gelu_tanh": made(lambda g: gelu(g, function="Tanh")),
    "hardswish": made(lambda g: hardswish(g, -1.0)),
    "norm_axis": made(lambda g: layer_norm(g, (1, 1)), [2, 8, 8]),
    "norm_gamma": made(lambda g: layer_norm(g, gamma=(8, 1)), [2, 8, 8]),
    "norm_beta": made(lambda g: layer_norm(g, beta=(8, 1)), [2, 8, 8]),
    "added": made(lambda g: added(g, 1.0, 2.0, 3.0, 4.0), [5, 2, 2]),
    "added_partly": made(lambda g: added(g, 0.0, -1e9, 0.5, 0.0), [5, 2, 2]),
    "replaced": made(lambda g: replaced(g, 0.0), [5, 2, 2]),
    "replaced_expanded": made(lambda g: replaced(g, 0.0, [2, 2]), [5, 2, 2]),
    "nan_of_other": made(without_nan, [5, 2, 2]),
    "nan_filled": made(lambda g: without_nan(g, "y", (0.0, 1.0)), [5, 2, 2]),
    "nan_by_input": made(lambda g: without_nan(g, "y", "c"), [1, 1, 1], others=["c"]),
    "nan_of_tanh": made(lambda g: without_nan(g, "y", by="Tanh"), [5, 2, 2]),
    "lstm_biases": made(lambda g: lstm(g, biases=False), [4, 2, 3]),
    "lstm_clip": made(lambda g: lstm(g, clip=0.1), [4, 2, 3]),
    "lstm_forget": made(lambda g: lstm(g, input_forget=1), [4, 2, 3]),
    "lstm_lengths": made(lambda g: lstm(g, lambda g: g.numbers([4, 3])), [4, 2, 3]),
    "lstm_begins": made(lambda g: lstm(g, "", lambda g: g.weight(1, 2, 2)), [4, 2, 3]),
    "lstm_cells": made(lambda g: lstm(g, "", "", lambda g: g.numbers([1.0] * 4, FLOAT, [1, 2, 2])), [4, 2, 3]),
    "lstm_peepholes": made(lambda g: lstm(g, "", "", "", lambda g: g.weight(1, 6)), [4, 2, 3]),
    "pool_ceil": made(lambda g: pooled(g, 0, 0, 2, 2), ["batch", 3, 8, 8]),
    "split": made(lambda g: g.node("Split", "x", outputs=2, axis=1, split=[2, FAR - 1], name="here")[0], opset=11),
    "grows": of("Mul", "x", [3, 1, 1], given=[("x", FLOAT, ["batch", 1, 8, 8])]),
    "scalar": made(outside_scalar, []),
    "transposed": of("ConvTranspose", "x", [3, 2, 1, 1], pads=[4] * 4),
    "transposed_same": of("ConvTranspose", "x", [3, 2, 1, 1], strides=[2, 2], auto_pad="SAME_UPPER"),
    "divided": made(divided),
    "logarithm": made(lambda g: g.node("Relu", g.node("Log", "x", name="here"))),
    "padded_one": made(lambda g: padded(g, (0, 0, 2, 0, 0, 0), 1.0), ["batch", 3, 9]),
    "padded_mode": made(lambda g: padded(g, mode="reflect"), ["batch", 3, 9]),
    "padded_channels": made(lambda g: padded(g, (0, 0, 0, 0, 1, 0)), ["batch", 3, 9]),
    "padded_less": made(lambda g: padded(g, (0, 0, -1, 0, 0, 0)), ["batch", 3, 9]),
    "padded_transposed": made(lambda g: padded(g, op="ConvTranspose"), ["batch", 4, 9]),
    "pool_rows": of("GlobalAveragePool", "x", given=[("x", FLOAT, ["batch", 9])]),
    "padded_alone": made(lambda g: padded(g, op="Relu"), ["batch", 3, 9]),
    "padded_twice": made(lambda g: g.node("Conv", padded(g), g.node("Exp", padded(g), name="weight")), ["batch", 3, 9]),
    "padded_far": made(lambda g: padded(g, (0, 0, 9, 0, 0, 0)), ["batch", 3, 9]),
    "padded_huge": made(lambda g: padded(g, (0, 0, 1 << 24, 0, 0, 1 << 24)), ["batch", 3, 9]),
    "turn_back": turned(signs=(1, -1)),
    "turn_signs": turned(signs=(-1, -1)),
    "turn_halves": turned(parts=(0, 1)),
    "turn_other": turned(other=True),
    "turn_tables": turned(table=lambda g, cos, sin: (sin, cos)),
    "turn_sines": turned(table=lambda g, cos, sin: (cos, g.node("Neg", sin))),
    "turn_scaled": turned(table=lambda g, cos, sin: (g.node("Mul", cos, g.numbers(1.5, FLOAT)), sin)),
    "turn_shifted": turned(of=lambda g, angles: g.node("Add", angles, g.numbers(1.0, FLOAT))),
    "turn_shifted_input": turned(of=lambda g, angles: g.node("Add", angles, g.numbers(1.0, FLOAT)), positions="ids"),
    "turn_rising": turned(theta=0.5),
    "turn_squares": turned(of=lambda g, angles: g.node("Mul", angles, angles)),
    "rms_norm_root": made(lambda g: onnx.rms_norm(g, "x", 8, one=2.0), [2, 8, 8]),
    "rms_norm_power": made(lambda g: onnx.rms_norm(g, "x", 8, power=lambda x: (g.numbers(2.0, FLOAT), x)), [2, 8, 8]),
    "einsum_one": einsum("ii->i", ["b", "b"]),
    "einsum_sum": einsum("bij,bkj->bi", ["batch", 3, 4], ["batch", 5, 4]),
    "einsum_sizes": einsum("bij,bkj->bik", ["batch", 3, 4], ["batch", 5, 6]),
    "einsum_dimensions": einsum("bij,bkj->bik", ["batch", 3], ["batch", 5, 6]),
    "elements": made(lambda g: g.node("Mul", g.node("Cast", g.node("GatherElements", g.numbers([1, 2]), g.numbers([2]), name="here"), to=FLOAT), "x"), [1]),
}
# Beside these, so that nothing is refused only because it looks like them.
FINE = {
    "unfree": of("Add", "x", "y", given=[("x", FLOAT, [3, 4]), ("y", FLOAT, [1, 4])]),
    "inside": outside("weights/part..1.bin"),
    "opset_11": of("Relu", "x", opset=11),
    "opset_23": of("Relu", "x", opset=23),
    "channels": of("Conv", "x", [4, 3, 1, 1]),
    "transposed_same": of("ConvTranspose", "x", [3, 2, 2, 2], strides=[2, 2], auto_pad="SAME_UPPER"),
    "channels_same": of("Conv", "x", [4, 3, 1, 1], strides=[2, 2], auto_pad="SAME_LOWER"),
    "reshape": reshape(0, 4, -1),
    "nonzero": unused("NonZero"),
    "layer_norm": made(layer_norm, [2, 8, 8]),
    "lstm": made(lambda g: lstm(g, lambda g: g.numbers([4, 4]), lambda g: g.numbers([0.0] * 4, FLOAT, [1, 2, 2])), [4, 2, 3]),
    "pool_ceil": made(lambda g: pooled(g, 1, 1, 1, 1), ["batch", 3, 8, 8]),
    "shape": made(lambda g: (g.node("Shape", "x", start=FAR - 1, end=-FAR), g.node("Relu", "x"))[1]),
}
# What a factor, a mask and others become. Of heads on both sides, keys are those of each.
SCORES = "{matmul: {sequences: b, heads: 2, width: 4, transpose_b: 1}, from: [in_x, in_y]"
KEPT = {
    "scalar": (made(inside_scalar, []), "scale: {factor: 2}"),
    "truncated": (made(truncated), "slice: {columns: 2}"),
    "truncated_back": (made(lambda g: truncated(g, True)), "scale: {factor: 2}"),
    "padded": (made(padded, ["batch", 3, 9]), "{conv2d: {out: 4, kernel_w: 3, padding_w: 2}}"),
    "mean_of_steps": (of("GlobalAveragePool", "x", given=[("x", FLOAT, ["batch", 3, 9])]), "{pool2d: {kind: average, to: 1}}"),
    "padded_zero": (made(lambda g: padded(g, (0, 0, 2, 0, 0, 0), 0.0, mode="constant"), ["batch", 3, 9]), "padding_w: 2, end_w: 1"),
    "padded_image": (made(lambda g: g.node("Conv", g.node("Pad", "x", g.numbers([0, 0, 1, 0, 0, 0, 0, 2])), g.weight(4, 3, 3, 3)), ["batch", 3, 8, 8]),
                     "{conv2d: {out: 4, kernel: 3, padding_h: 1, end_h: 0, end_w: 2}"),
    "factor": (made(lambda g: g.node("Relu", g.node("Mul", "x", g.numbers([7.0], FLOAT, [1, 1, 1])))), "scale: {factor: 7}"),
    "minus": (made(lambda g: g.node("Relu", g.node("Sub", g.numbers(0.0, FLOAT), "x"))), "scale: {factor: -1}"),
    "gelu": (made(gelu), "{gelu"),
    "hardswish": (made(lambda g: hardswish(g, 0.0)), "{hardswish"),
    "norm_axes": (made(lambda g: layer_norm(g, (1, -1)), [2, 8, 8]), "{rmsnorm"),
    "added": (made(lambda g: added(g, 0.0, -1e9, 0.0, 0.0), [5, 2, 2]), "{mask: {sequences: batch, causal: 1}"),
    "replaced": (made(lambda g: replaced(g, -1e9, [2, 2]), [5, 2, 2]), "{mask: {sequences: batch}"),
    "nan": (made(lambda g: without_nan(g, "y"), [5, 2, 2]), "- {softmax, from: in_x}\n  - {relu, as: r1}\n"),
    "steps": (made(lambda g: g.node("Slice", g.node("Slice", "x", *(g.numbers([k]) for k in (0, 8, 1, 1 << 52))), *(g.numbers([k]) for k in (0, 8, 1, 1 << 52)))),
              "slice: {columns: 1}"),
    "ids": (table(Graph()), "in_ids: {shape: [2 * batch], fill: {zipf: 5}}"),
    "parts_of_ids": (tables(Graph(), 0, 1), "in_ids: {shape: [batch], fill: {zipf: 5}}\n  in_ids_2: {shape: [batch], fill: {zipf: 6}}"),
    "axes": (of("Relu", "x", given=[("x", FLOAT, [None, None, 4])]), "  x2: {default: 16,"),
    "turned": (turned(), "{rope: {sequences: batch, heads: 2, width: 8}, from: in_x"),
    "turned_by_rows": (looked_up(0), "{rope: {sequences: batch, heads: 2, width: 8}, from: in_x"),
    "turned_by_later_rows": (looked_up(1), "{embedding: {rows: 64, out: 8}"),
    "turned_by": (turned(theta=5e5), "{rope: {sequences: batch, heads: 2, width: 8, theta: 500000}, from: in_x"),
    "turned_far": (turned_far(False), "{rope: {sequences: batch, width: 64}}"),
    "turned_far_rounded": (turned_far(True), "{rope: {sequences: batch, width: 64}}"),
    "turned_far_amiss": (turned_far(True, last=0.01), "- {embedding: {rows: 8192, out: 64}"),
    "einsum_scores": (einsum("bqhd,bkhd->bhqk", ["b", "q", 2, 4], ["b", "k", 2, 4]), "sequences: b, heads: 2, width: 4, transpose_b: 1"),
    "einsum_turned": (einsum("bqhd,bkhd->bhkq", ["b", 3, 2, 4], ["b", 5, 2, 4]), "'(a b) c d -> "),
    "einsum_rows": (weighed("bld,hd->blh", ["b", "l", 4], 6, 4), "{dense: {out: 6}"),
    "einsum_heads": (weighed("bld,dhk->bhlk", ["b", "l", 4], 4, 3, 2), "{dense: {out: 6}"),
    "elements": (made(lambda g: g.node("Mul", g.node("Cast", g.node("GatherElements", g.numbers([5, 7], dims=[1, 2]), g.numbers([1], dims=[1, 1]), axis=1), to=FLOAT), "x"), [1]),
                 "scale: {factor: 7}"),
    "grown": (of("ConvTranspose", "x", [3, 2, 4, 4], given=[("x", FLOAT, ["batch", 3, 1, 1])]), "conv_transpose2d: {out: 2, kernel: 4}"),
}


class Onnx(Case):
    maxDiff = None

    def put(self, name, data):
        with open(self.path(name + ".onnx"), "wb") as file:
            file.write(data)

    def listed(self, *arguments):
        """The models but for their names and settings."""
        return json.loads(self.paradnn("list", *arguments, "--format", "json", expect=0).stdout)

    def costs(self, *arguments):
        return [(row["params"], row["flop_count"], row["in_bounds_flop_count"]) for row in self.listed(*arguments)]

    def test_networks(self):
        """Each becomes a file that is the same network, in inference and in training."""
        for name, make in onnx.NETWORKS.items():
            self.put(name, make())
            self.paradnn("import", name + ".onnx", "-o", name + ".yaml", expect=0)
            self.expect_golden(os.path.join(GOLDEN, name + ".yaml"), self.read(name + ".yaml"))
            mode = "infer" if name == "unet" else "train"
            self.assertEqual(self.listed(f"./{name}.onnx,mode={mode}"), self.listed(f"./{name}.yaml,mode={mode}"))

    def test_published(self):
        """Parameters as published, and FLOP as of the families that ship."""
        self.put("resnet18", onnx.resnet18())
        self.put("mobilenet_v2", onnx.mobilenet_v2())
        for batch in (1, 8):
            self.assertEqual(self.costs(f"./mobilenet_v2.onnx,mode=infer,batch={batch}"), self.costs(f"mobilenet_v2,mode=infer,batch={batch}"))
            params, flop, _ = self.costs(f"./resnet18.onnx,mode=infer,batch={batch}")[0]
            shipped = self.costs(f"resnet18,mode=infer,batch={batch}")[0]
            self.assertEqual((params, flop), (11689512, shipped[1]))

    def test_transformers(self):
        """Parameters and multiply-adds of decoders whose keys are shared, by closed forms: keys and values are not repeated, and turning is not counted."""
        hidden, ffn, words, length = 32, 48, 100, 128
        for kv_heads, fused in ((1, False), (2, False), (4, False), (4, True), (2, True)):
            with self.subTest((kv_heads, fused)):
                self.put("llama", onnx.llama(kv_heads=kv_heads, fused=fused, layers=2))
                self.paradnn("import", "llama.onnx", "-o", "llama.yaml", expect=0)
                text = self.read("llama.yaml")
                columns = hidden + 2 * kv_heads * 8
                params = 2 * words * hidden + hidden + 2 * (2 * hidden + columns * hidden + hidden * hidden + 3 * hidden * ffn)
                macs = length * (words * hidden + 2 * (columns * hidden + hidden * hidden + 3 * hidden * ffn + 2 * length * hidden))
                self.write("llama.yaml", text + f'presets: {{p: {{length: {length}, help: "closed form (these, 2026)", params: {params}, macs: {macs}}}}}\n')
                self.paradnn("families", "./llama.yaml", expect=0)
                self.assertEqual(text.count("rope"), 4)
                self.assertEqual(text.count(f"b_heads: {kv_heads}"), 0 if kv_heads == 4 else 4)
                self.assertIn("PASS  llama@", self.paradnn("check", "./llama.onnx,batch=2,length=5", expect=0).stdout)

    def test_positions(self):
        """Positions as an input: rotary ones are as if constant, and the family says so; of a table they are ids, whatever rotates beside."""
        self.put("llama", onnx.llama(layers=2))
        self.paradnn("import", "llama.onnx", "-o", "llama.yaml", expect=0)
        expected = self.read("llama.yaml").splitlines()
        for positions in ("angles", "tables"):
            with self.subTest(positions):
                self.put("given", onnx.llama(layers=2, positions=positions))
                self.paradnn("import", "given.onnx", "-o", "given.yaml", expect=0)
                text = self.read("given.yaml").splitlines()
                self.assertEqual(text[1], expected[1][:-1] + '; its input position_ids counts 0, 1, 2, ..."')
                self.assertEqual(text[2:], expected[2:])
                self.assertEqual(sum("rope" in line for line in text), 4)
                self.assertIn("PASS  given@", self.paradnn("check", "./given.onnx,batch=2,length=5", expect=0).stdout)
        self.put("gpt2", onnx.gpt2(positions="position_ids"))
        self.paradnn("import", "gpt2.onnx", "-o", "gpt2.yaml", expect=0)
        text = self.read("gpt2.yaml")
        self.assertIn("in_position_ids: {shape: [batch * length], fill: {zipf: 64}}", text)
        self.assertNotIn("counts", text)

    def test_bad(self):
        lines = []
        for name, data in BAD.items():
            self.put(name, data)
            done = self.paradnn("import", name + ".onnx", "-o", "bad.yaml", expect=2)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertFalse(os.path.exists(self.path("bad.yaml")))
            lines.append(done.stderr)
        self.expect_golden(os.path.join(GOLDEN, "bad.txt"), "".join(lines))
        for name, data in FINE.items():
            self.put(name, data)
            self.paradnn("import", name + ".onnx", "-o", "fine.yaml", expect=0)

    def test_kept(self):
        for name, (data, words) in KEPT.items():
            with self.subTest(name):
                self.put(name, data)
                self.paradnn("import", name + ".onnx", "-o", "kept.yaml", expect=0)
                self.assertIn(words, self.read("kept.yaml"))
                self.paradnn("list", "kept.yaml,mode=infer", expect=0)

    def test_commands(self):
        """Wherever a model is named, in ids of results and from workers."""
        self.put("mlp", onnx.mlp())
        self.write("s.yaml", "families: [mlp.onnx]\nrun: {mode: infer, backend: reference, threads: 1}\n"
                   "measure: {rounds: 1, max_time: 1ms, min_samples: 3, probe: off}\nmodels: [mlp: {batch: [1, 2]}]\n")
        self.paradnn("sweep", "s.yaml", "-o", "d", *ROOFS, expect=0)
        self.assertEqual([row["status"] for row in self.rows("d", "results.csv")], ["ok", "ok"])
        self.assertEqual([os.path.splitext(name)[0] for name in os.listdir(self.path("d", "families"))],
                         [self.rows("d", "results.csv")[0]["id"].split("/")[0]])
        self.assertEqual([row["id"] for row in self.rows("d", "results.csv")],
                         [row["id"] for row in self.listed("./mlp.onnx,mode=infer,backend=reference,threads=1", "s.yaml")][-2:])
        self.assertIn("PASS  mlp@", self.paradnn("check", "./mlp.onnx,batch=3", expect=0).stdout)

    def test_fixed(self):
        """Sizes that the exporter wrote as numbers: a minibatch, but only that one."""
        g = Graph()
        y = g.node("Reshape", g.node("MatMul", "x", g.weight(8, 6)), g.numbers([4, 9]))
        self.put("fixed", g.file([("x", FLOAT, [6, 8])], [g.node("Relu", y)]))
        self.assertEqual(self.costs("./fixed.onnx,mode=infer"), [(48, 2 * 6 * 8 * 6 + 36, 2 * 6 * 8 * 6 + 36)])
        self.assertIn("batch is 7, expected 6 to 6", self.paradnn("list", "./fixed.onnx,batch=7", expect=2).stderr)

    def test_import(self):
        """What import says, and what it takes."""
        self.put("folded", onnx.resnet18(norm=False))
        self.put("mobilenet_v2", onnx.mobilenet_v2())
        said = self.paradnn("import", "folded.onnx", "-o", "a.yaml", expect=0).stderr
        self.assertIn("do_constant_folding=False", said)
        self.assertIn("49 nodes became 69 operators, 1 free dimension is an axis\n", said)
        said = self.paradnn("import", "mobilenet_v2.onnx", "-o", "b.yaml", "--set", "height=64", "--loss", "none", expect=0).stderr
        self.assertNotIn("do_constant_folding", said)
        text = self.read("b.yaml")
        self.assertIn("[batch, 3, 64, width]", text)
        self.assertNotIn("loss", text)
        self.put("mlp", onnx.mlp())
        self.paradnn("import", "mlp.onnx", "-o", "d.yaml", "--set", "batch=4", "--loss", "softmax_cross_entropy", expect=0)
        self.assertIn("batch: {default: 4, range: 4..4,", self.read("d.yaml"))
        self.assertIn("in_x: {shape: [4, 1, 28, 28]}", self.read("d.yaml"))
        self.put("image", of("Relu", "x"))
        self.assertIn("--loss softmax_cross_entropy needs a result (rows, classes)",
                      self.paradnn("import", "image.onnx", "-o", "e.yaml", "--loss", "softmax_cross_entropy", expect=2).stderr)
        self.paradnn("import", "image.onnx", "-o", "e.yaml", expect=0)
        for arguments, words in ((["--model", "fc"], "--model is for tables, folded.onnx is a network"), (["--set", "nothing=3"], "no free dimension 'nothing'"),
                                 (["--set", "batch=x"], "expected batch=N")):
            self.assertIn(words, self.paradnn("import", "folded.onnx", "-o", "c.yaml", *arguments, expect=2).stderr)
        self.write("t.csv", "a,b\n1,2\n")
        self.assertIn("--loss is for networks", self.paradnn("import", "t.csv", "-o", "d", "--loss", "none", expect=2).stderr)


if __name__ == "__main__":
    main(2)
