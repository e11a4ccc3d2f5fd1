"""ONNX files for tests, without the package onnx: a graph that is built node by node, and the few messages of onnx.proto that it takes, as
bytes. Weights have a shape and no data, of which nothing is read."""

import math
import struct

FLOAT, INT64, BOOL = 1, 7, 9


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def field(key, value):
    """A number as varint, a float as four bytes, text and bytes with their length."""
    if isinstance(value, float):
        return varint(key << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(key << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(key << 3 | 2) + varint(len(data)) + data


def tensor(name, dims, kind, numbers=None, external=None):
    data = b"".join(field(1, dim) for dim in dims) + field(2, kind) + (field(8, name) if name else b"")
    if numbers is not None:
        data += field(9, struct.pack("<%d%s" % (len(numbers), {FLOAT: "f", INT64: "q", BOOL: "?"}[kind]), *numbers))
    if external:
        data += field(13, field(1, "location") + field(2, external)) + field(14, 1)
    return data


def attribute(name, value):
    if isinstance(value, bytes):  # a tensor
        return field(1, name) + field(5, value) + field(20, 4)
    if isinstance(value, list):
        return field(1, name) + b"".join(field(8, item) for item in value) + field(20, 7)
    key, kind = {float: (2, 1), int: (3, 2), str: (4, 3)}[type(value)]
    return field(1, name) + field(key, value) + field(20, kind)


def value_info(name, kind, dims):
    shape = b"".join(field(1, field(2, dim) if isinstance(dim, str) else field(1, dim) if dim else b"") for dim in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


class Graph:
    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def weight(self, *dims, name=None):
        name = name or self.fresh("w")
        self.weights.append(tensor(name, dims, FLOAT))
        return name

    def numbers(self, values, kind=INT64, dims=None):
        """A constant; a single number without dimensions."""
        many = values if isinstance(values, list) else [values]
        dims = dims if dims is not None else [len(many)] if isinstance(values, list) else []
        return self.node("Constant", value=tensor("", dims, kind, many))

    def node(self, op, *inputs, name="", outputs=1, domain="", **attributes):
        names = [self.fresh("v") for _ in range(outputs)]
        self.nodes.append(b"".join(field(1, item) for item in inputs) + b"".join(field(2, item) for item in names)
                          + field(3, name or self.fresh(op + "_")) + field(4, op)
                          + b"".join(field(5, attribute(*item)) for item in attributes.items()) + (field(7, domain) if domain else b""))
        return names[0] if outputs == 1 else names

    def file(self, inputs, outputs, opset=17):
        """inputs: (name, kind, dimensions: numbers, names, or 0 for none)."""
        graph = b"".join(field(1, node) for node in self.nodes) + field(2, "g") + b"".join(field(5, weight) for weight in self.weights)
        graph += b"".join(field(11, value_info(*item)) for item in inputs) + b"".join(field(12, value_info(item, FLOAT, [])) for item in outputs)
        return field(1, 8) + field(2, "pytorch") + field(7, graph) + field(8, field(2, opset))


def convolution(g, x, c_in, c_out, name, kernel=3, stride=1, groups=1, norm=True, relu="Relu"):
    # pylint: disable=too-many-arguments
    bias = [] if norm else [g.weight(c_out)]
    x = g.node("Conv", x, g.weight(c_out, c_in // groups, kernel, kernel), *bias, kernel_shape=[kernel] * 2, strides=[stride] * 2,
               pads=[kernel // 2] * 4, group=groups, name=f"/{name}/conv/Conv")
    if norm:
        x = g.node("BatchNormalization", x, *(g.weight(c_out) for _ in range(4)), name=f"/{name}/bn/BatchNormalization")
    if relu == "Clip":
        return g.node("Clip", x, g.numbers(0.0, FLOAT), g.numbers(6.0, FLOAT), name=f"/{name}/act/Clip")
    return g.node("Relu", x, name=f"/{name}/act/Relu") if relu else x


def resnet18(norm=True):
    g = Graph()
    x = convolution(g, "image", 3, 64, "stem", 7, 2, norm=norm)
    x, channels = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, name="/stem/pool/MaxPool"), 64
    for stage, width in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride, name = 2 if stage and not block else 1, f"layer{stage + 1}/layer{stage + 1}.{block}"
            y = convolution(g, x, channels, width, name, 3, stride, norm=norm)
            y = convolution(g, y, width, width, name, norm=norm, relu=None)
            if channels != width:
                x = convolution(g, x, channels, width, name, 1, stride, norm=norm, relu=None)
            x, channels = g.node("Relu", g.node("Add", y, x, name=f"/{name}/Add"), name=f"/{name}/act/Relu"), width
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    return g.file([("image", FLOAT, ["batch", 3, 224, 224])], [g.node("Gemm", x, g.weight(1000, 512), g.weight(1000), transB=1, name="/fc/Gemm")])


def mobilenet_v2():
    g = Graph()
    x, channels, block = convolution(g, "image", 3, 32, "features/features.0", 3, 2, relu="Clip"), 32, 0
    for expand, width, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            block, inner, y = block + 1, channels * expand, x
            name = f"features/features.{block}"
            if expand != 1:
                y = convolution(g, y, channels, inner, name, 1, relu="Clip")
            y = convolution(g, y, inner, inner, name, 3, 1 if i else stride, inner, relu="Clip")
            y = convolution(g, y, inner, width, name, 1, relu=None)
            x, channels = g.node("Add", x, y, name=f"/{name}/Add") if i else y, width
    x = g.node("ReduceMean", convolution(g, x, 320, 1280, "features/features.18", 1, relu="Clip"), axes=[2, 3], keepdims=0)
    logits = g.node("Gemm", x, g.weight(1000, 1280), g.weight(1000), transB=1, name="/classifier/Gemm")
    return g.file([("image", FLOAT, ["batch", 3, "height", "width"])], [logits])


def mlp():
    """An export without free dimensions: the first one becomes the minibatch."""
    g = Graph()
    x = g.node("Relu", g.node("Gemm", g.node("Flatten", "x", axis=1), g.weight(64, 784), g.weight(64), transB=1))
    return g.file([("x", FLOAT, [1, 1, 28, 28])], [g.node("Softmax", g.node("Add", g.node("MatMul", x, g.weight(64, 10)), g.weight(10)), axis=1)])


def layer_norm(g, x, width, in_pieces):
    if not in_pieces:
        return g.node("LayerNormalization", x, g.weight(width), g.weight(width), axis=-1, epsilon=1e-12)
    d = g.node("Sub", x, g.node("ReduceMean", x, axes=[-1]))
    variance = g.node("ReduceMean", g.node("Pow", d, g.numbers(2.0, FLOAT)), axes=[-1])
    y = g.node("Div", d, g.node("Sqrt", g.node("Add", variance, g.numbers(1e-12, FLOAT))))
    return g.node("Add", g.node("Mul", y, g.weight(width)), g.weight(width))


def sizes(g, x, *dims):
    """The list of dimensions of x by number, and of numbers as text."""
    shape = g.node("Shape", x)
    parts = [g.node("Unsqueeze", g.node("Gather", shape, g.numbers(d), axis=0), g.numbers([0])) if isinstance(d, int) else g.numbers([int(d)])
             for d in dims]
    return g.node("Concat", *parts, axis=0)


def split_heads(g, x, heads, width, perm):
    return g.node("Transpose", g.node("Reshape", x, sizes(g, x, 0, 1, str(heads), str(width))), perm=perm)


def attend(g, scores, values, out):
    y = g.node("Transpose", g.node("MatMul", g.node("Softmax", scores, axis=-1), values), perm=[0, 2, 1, 3])
    return g.node("Reshape", y, sizes(g, y, 0, 1, str(out)))


def linear(g, x, rows, columns):
    return g.node("Add", g.weight(columns), g.node("MatMul", x, g.weight(rows, columns)))


def bert(layers=1, hidden=64, heads=2, words=100):
    g = Graph()
    width = hidden // heads
    x = g.node("Add", g.node("Gather", g.weight(words, hidden), "ids"), g.node("Gather", g.weight(2, hidden), "types"))
    length = g.node("Unsqueeze", g.node("Gather", g.node("Shape", "ids"), g.numbers(1), axis=0), g.numbers([0]))
    places = g.node("Slice", g.numbers(list(range(128)), dims=[1, 128]), g.numbers([0]), length, g.numbers([1]))
    x = layer_norm(g, g.node("Add", x, g.node("Gather", g.weight(128, hidden), places)), hidden, True)
    seen = g.node("Cast", g.node("Unsqueeze", "mask", g.numbers([1, 2])), to=FLOAT)
    hidden_by = g.node("Mul", g.node("Sub", g.numbers(1.0, FLOAT), seen), g.numbers(-3e38, FLOAT))
    for _ in range(layers):
        q, k, v = (split_heads(g, linear(g, x, hidden, hidden), heads, width, perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = g.node("Add", g.node("Div", g.node("MatMul", q, k), g.numbers(width ** 0.5, FLOAT)), hidden_by)
        x = layer_norm(g, g.node("Add", linear(g, attend(g, scores, v, hidden), hidden, hidden), x), hidden, True)
        y = linear(g, x, hidden, 4 * hidden)
        erf = g.node("Add", g.node("Erf", g.node("Div", y, g.numbers(2 ** 0.5, FLOAT))), g.numbers(1.0, FLOAT))
        y = g.node("Mul", g.node("Mul", y, erf), g.numbers(0.5, FLOAT))
        x = layer_norm(g, g.node("Add", linear(g, y, 4 * hidden, hidden), x), hidden, True)
    first = g.node("Gather", x, g.numbers(0), axis=1)
    return g.file([(name, INT64, ["batch", "length"]) for name in ("ids", "types", "mask")], [g.node("Gemm", first, g.weight(3, hidden), g.weight(3), transB=1)])


def gpt2(hidden=64, heads=2, words=100, places=64, positions=None):
    """A table that is the output's weight too; queries, keys and values side by side; a mask cut from a constant. positions: an input that has them."""
    g = Graph()
    table, width = g.weight(words, hidden, name="wte.weight"), hidden // heads
    length = g.node("Gather", g.node("Shape", "ids"), g.numbers(1), axis=0)
    at = positions or g.node("Unsqueeze", g.node("Range", g.numbers(0), length, g.numbers(1)), g.numbers([0]))
    x = g.node("Add", g.node("Gather", table, "ids"), g.node("Gather", g.weight(places, hidden), at))
    y = linear(g, layer_norm(g, x, hidden, False), hidden, 3 * hidden)
    parts = g.node("Split", y, g.numbers([hidden] * 3), axis=2, outputs=3)
    q, k, v = (split_heads(g, part, heads, width, perm) for part, perm in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
    triangle = g.numbers([column <= row for row in range(places) for column in range(places)], BOOL, [1, 1, places, places])
    end = g.node("Unsqueeze", length, g.numbers([0]))
    cut = g.node("Slice", triangle, g.numbers([0, 0]), g.node("Concat", end, end, axis=0), g.numbers([2, 3]))
    scores = g.node("Where", cut, g.node("MatMul", g.node("Mul", q, g.numbers(width ** -0.5, FLOAT)), k), g.numbers(-3e38, FLOAT))
    x = g.node("Add", linear(g, attend(g, scores, v, hidden), hidden, hidden), x)
    inputs = ["ids"] + [positions] * bool(positions)
    return g.file([(name, INT64, ["batch", "length"]) for name in inputs], [g.node("MatMul", layer_norm(g, x, hidden, False), g.node("Transpose", table, perm=[1, 0]))])


def lstm(features=16, hidden=24):
    """Two directions, then the last state of one."""
    g = Graph()
    x = g.node("Transpose", "x", perm=[1, 0, 2])
    y = g.node("LSTM", x, g.weight(2, 4 * hidden, features), g.weight(2, 4 * hidden, hidden), g.weight(2, 8 * hidden), hidden_size=hidden,
               direction="bidirectional")
    y = g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 1, 3]), g.numbers([0, 0, -1]))
    _, last = g.node("GRU", y, g.weight(1, 3 * hidden, 2 * hidden), g.weight(1, 3 * hidden, hidden), g.weight(1, 6 * hidden), hidden_size=hidden,
                     linear_before_reset=1, outputs=2)
    last = g.node("Squeeze", last, g.numbers([0]))
    return g.file([("x", FLOAT, ["batch", "steps", features])], [g.node("Gemm", last, g.weight(5, hidden), g.weight(5), transB=1)])


def unet():
    """Images that are halved and doubled, joined with what they were, and gated by their means."""
    g = Graph()
    x = convolution(g, "image", 3, 8, "down1", norm=False)
    y = g.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = convolution(g, y, 8, 16, "down2", norm=False, relu=None)
    y = g.node("Mul", y, g.node("Sigmoid", y))
    gate = g.node("HardSigmoid", g.node("GlobalAveragePool", y), alpha=1 / 6)
    y = g.node("Mul", gate, y)
    up = g.node("ConvTranspose", y, g.weight(16, 8, 2, 2), g.weight(8), kernel_shape=[2, 2], strides=[2, 2])
    half = g.node("Resize", y, "", g.numbers([1.0, 1.0, 2.0, 2.0], FLOAT), mode="nearest")
    y = g.node("Concat", x, up, half, axis=1)
    a, b = g.node("Split", y, g.numbers([16, 16]), axis=1, outputs=2)
    y = g.node("Sub", a, g.node("Slice", b, g.numbers([0]), g.numbers([16]), g.numbers([1])))
    groups = g.node("Reshape", y, g.numbers([0, 4, -1]))
    normed = g.node("InstanceNormalization", groups, g.numbers([1.0] * 4, FLOAT), g.numbers([0.0] * 4, FLOAT))
    y = g.node("Reshape", normed, g.node("Shape", y))
    y = g.node("Add", g.node("Mul", y, g.weight(16, 1, 1)), g.weight(16, 1, 1))
    y = g.node("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    return g.file([("image", FLOAT, ["batch", 3, "height", "width"])], [g.node("Conv", y, g.weight(2, 16, 1, 1))])


def attention(hidden=12, heads=3, places=5):
    """PyTorch's MultiheadAttention: steps first, heads and minibatch in one dimension, so that no strides tell them apart; a class's token in front,
    and positions, both learned."""
    g = Graph()
    width = hidden // heads
    x = g.node("Reshape", g.node("Conv", "image", g.weight(hidden, 1, 2, 2), kernel_shape=[2, 2], strides=[2, 2]), g.numbers([0, hidden, -1]))
    token = g.node("Expand", g.weight(1, 1, hidden), sizes(g, "image", 0, "1", "1"))
    x = g.node("Add", g.node("Concat", token, g.node("Transpose", x, perm=[0, 2, 1]), axis=1), g.weight(1, places, hidden))
    x = g.node("Transpose", x, perm=[1, 0, 2])
    q, k, v = (g.node("Transpose", g.node("Reshape", linear(g, x, hidden, hidden), g.numbers([places, -1, width])), perm=[1, 0, 2]) for _ in range(3))
    scores = g.node("MatMul", g.node("Mul", q, g.numbers(width ** -0.5, FLOAT)), g.node("Transpose", k, perm=[0, 2, 1]))
    y = g.node("Transpose", g.node("MatMul", g.node("Softmax", scores, axis=-1), v), perm=[1, 0, 2])
    y = linear(g, g.node("Reshape", y, g.numbers([-1, hidden])), hidden, hidden)
    y = g.node("Transpose", g.node("Reshape", y, g.numbers([places, -1, hidden])), perm=[1, 0, 2])
    return g.file([("image", FLOAT, ["batch", 1, 4, 4])], [linear(g, g.node("Gather", y, g.numbers(0), axis=1), hidden, 3)])


def windows(hidden=8, side=8, window=4):
    """Rows of an image in windows, rolled, with a constant mask that is filled piece by piece, and a learned bias by relative position."""
    g = Graph()
    cells, many = window * window, side // window
    x = g.node("Transpose", g.node("Conv", "image", g.weight(hidden, 1, 1, 1), kernel_shape=[1, 1]), perm=[0, 2, 3, 1])
    x = g.node("Concat", g.node("Slice", x, g.numbers([2]), g.numbers([99]), g.numbers([1])), g.node("Slice", x, g.numbers([0]), g.numbers([2]), g.numbers([1])), axis=1)
    x = g.node("Transpose", g.node("Reshape", x, g.numbers([-1, many, window, many, window, hidden])), perm=[0, 1, 3, 2, 4, 5])
    x = g.node("Reshape", x, g.numbers([-1, cells, hidden]))
    qkv = g.node("Transpose", g.node("Reshape", linear(g, x, hidden, 3 * hidden), g.numbers([-1, cells, 3, 2, hidden // 2])), perm=[2, 0, 3, 1, 4])
    q, k, v = (g.node("Gather", qkv, g.numbers(i), axis=0) for i in range(3))
    scores = g.node("MatMul", q, g.node("Transpose", k, perm=[0, 1, 3, 2]))
    table = g.node("Gather", g.weight((2 * window - 1) ** 2, 2), g.numbers([0] * cells * cells), axis=0)
    table = g.node("Unsqueeze", g.node("Transpose", g.node("Reshape", table, g.numbers([cells, cells, 2])), perm=[2, 0, 1]), g.numbers([0]))
    scores = g.node("Add", scores, table)
    zeros = g.node("ConstantOfShape", g.numbers([many * many, cells, cells]), value=tensor("", [1], FLOAT, [0.0]))
    mask = g.node("ScatterND", zeros, g.numbers([3, 0, 5], dims=[1, 3]), g.numbers([-100.0], FLOAT))
    scores = g.node("Reshape", scores, g.numbers([-1, many * many, 2, cells, cells]))
    scores = g.node("Add", scores, g.node("Unsqueeze", mask, g.numbers([0, 2])))
    y = g.node("MatMul", g.node("Softmax", g.node("Reshape", scores, g.numbers([-1, 2, cells, cells])), axis=-1), v)
    y = g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 1, 3]), g.numbers([-1, cells, hidden]))
    return g.file([("image", FLOAT, ["batch", 1, side, side])], [linear(g, y, hidden, 3)])


def pieces(hidden=8):
    """Norms and activations that older opsets have no operator for, or weights that are constants."""
    g = Graph()
    square = g.node("ReduceMean", g.node("Pow", "x", g.numbers(2.0, FLOAT)), axes=[-1])
    inverse = g.node("Reciprocal", g.node("Sqrt", g.node("Add", square, g.numbers(1e-6, FLOAT))))
    x = g.node("Mul", g.weight(hidden), g.node("Mul", "x", inverse))
    x = g.node("LayerNormalization", x, g.weight(hidden), axis=-1)
    x = g.node("LayerNormalization", x, g.numbers([1.0] * hidden, FLOAT), g.numbers([0.0] * hidden, FLOAT), axis=-1)
    six = g.node("Clip", g.node("Add", x, g.numbers(3.0, FLOAT)), g.numbers(0.0, FLOAT), g.numbers(6.0, FLOAT))
    x = g.node("Div", g.node("Mul", x, six), g.numbers(6.0, FLOAT))
    cube = g.node("Mul", g.node("Pow", x, g.numbers(3.0, FLOAT)), g.numbers(0.044715, FLOAT))
    tanh = g.node("Tanh", g.node("Mul", g.node("Add", x, cube), g.numbers(0.7978846, FLOAT)))
    x = g.node("Mul", g.node("Mul", x, g.numbers(0.5, FLOAT)), g.node("Add", tanh, g.numbers(1.0, FLOAT)))
    x = g.node("ReduceMean", g.node("Neg", x), axes=[1], keepdims=0)
    return g.file([("x", FLOAT, ["batch", "length", hidden])], [g.node("Mul", x, g.numbers(2.0, FLOAT))])


def angles(g, ids, width, theta=1e4, positions=None):
    """Positions times frequencies, as transformers computes them: (batch, length, width / 2). positions: an input that has them."""
    half = width // 2
    g.weights.append(tensor("inverse", [1, half, 1], FLOAT, [theta ** (-i / half) for i in range(half)]))
    length = g.node("Gather", g.node("Shape", ids), g.numbers(1), axis=0)
    at = (positions, [1]) if positions else (g.node("Range", g.numbers(0), length, g.numbers(1)), [0, 1])
    at = g.node("Cast", g.node("Unsqueeze", at[0], g.numbers(at[1])), to=FLOAT)
    inverse = g.node("Cast", g.node("Expand", "inverse", sizes(g, ids, 0, "1", "1")), to=FLOAT)
    return g.node("Transpose", g.node("MatMul", inverse, at), perm=[0, 2, 1])


def tables(g, of):
    both = g.node("Concat", of, of, axis=-1)
    return [g.node("Unsqueeze", g.node(op, both), g.numbers([1])) for op in ("Cos", "Sin")]


def looked_up(g, positions, width, rows=64, theta=1e4):
    """The same by tables of a row for each position, as older exports have them."""
    angle = [[row * theta ** (-i / (width // 2)) for i in range(width // 2)] * 2 for row in range(rows)]
    for name, function in (("cos_cached", math.cos), ("sin_cached", math.sin)):
        g.weights.append(tensor(name, [rows, width], FLOAT, [function(one) for row in angle for one in row]))
    return [g.node("Unsqueeze", g.node("Gather", name, positions), g.numbers([1])) for name in ("cos_cached", "sin_cached")]


def part(g, x, axis, first, end):
    return g.node("Slice", x, *(g.numbers([k]) for k in (first, end, axis)))


def turn(g, x, cos, sin, width, signs=(-1, 1), parts=(1, 0), halves=None):
    """x cos + [-x2 x1] sin."""
    first, second = (part(g, halves or x, -1, k * width // 2, (k + 1) * width // 2) for k in parts)
    first, second = (g.node("Neg", item) if sign < 0 else item for item, sign in zip((first, second), signs))
    return g.node("Add", g.node("Mul", x, cos), g.node("Mul", g.node("Concat", first, second, axis=-1), sin), name="turned")


def repeat_heads(g, x, times):
    """(batch, heads, length, width) with each head several times."""
    if times == 1:
        return x
    shape = g.node("Shape", x)
    batch, heads, length, width = (g.node("Unsqueeze", g.node("Gather", shape, g.numbers(k), axis=0), g.numbers([0])) for k in range(4))
    x = g.node("Expand", g.node("Unsqueeze", x, g.numbers([2])), g.node("Concat", batch, heads, g.numbers([times]), length, width, axis=0))
    return g.node("Reshape", x, g.node("Concat", batch, g.node("Mul", heads, g.numbers([times])), length, width, axis=0))


def rms_norm(g, x, width, one=1.0, power=None):
    """As transformers writes it, with casts that change nothing."""
    same = g.node("Cast", x, to=FLOAT)
    square = g.node("Pow", *(power(same) if power else (same, g.numbers(2.0, FLOAT))))
    root = g.node("Sqrt", g.node("Add", g.node("ReduceMean", square, axes=[-1]), g.numbers(1e-6, FLOAT)))
    y = g.node("Mul", same, g.node("Div", g.numbers(one, FLOAT), root))
    return g.node("Mul", g.weight(width), g.node("Cast", y, to=FLOAT), name="normed")


def llama(hidden=32, heads=4, kv_heads=2, ffn=48, words=100, layers=1, fused=False, positions=None):
    """Rotary positions, queries in groups, an inverse root in pieces, and a causal mask that padding is part of; fused: as Phi-3, with queries, keys and
    values side by side, and a part of each head, which is empty, that is not turned; positions: of an input "position_ids", "angles" or "tables"."""
    # pylint: disable=too-many-arguments
    g = Graph()
    width = hidden // heads
    x = g.node("Gather", g.weight(words, hidden), "ids")
    inputs = ["ids", "mask"] + ["position_ids"] * bool(positions)
    cos, sin = looked_up(g, "position_ids", width) if positions == "tables" else tables(g, angles(g, "ids", width, positions=positions and "position_ids"))
    seen = g.node("Cast", g.node("Unsqueeze", "mask", g.numbers([1, 2])), to=BOOL)
    hidden_by = g.node("Where", seen, g.numbers(0.0, FLOAT), g.numbers(-3e38, FLOAT))
    for _ in range(layers):
        y = rms_norm(g, x, hidden)
        if fused:
            y = g.node("MatMul", y, g.weight(hidden, (heads + 2 * kv_heads) * width))
            ends = [0, heads * width, (heads + kv_heads) * width, 1 << 40]
            q, k, v = (part(g, y, 2, *ends[i:i + 2]) for i in range(3))
        else:
            q, k, v = (g.node("MatMul", y, g.weight(hidden, many * width)) for many in (heads, kv_heads, kv_heads))
        q, k, v = (split_heads(g, item, many, width, [0, 2, 1, 3]) for item, many in ((q, heads), (k, kv_heads), (v, kv_heads)))
        q, k = ((turn(g, item, cos, sin, width), part(g, item, 3, width, 1 << 40)) for item in (q, k))
        q, k = (g.node("Concat", *both, axis=-1) if fused else both[0] for both in (q, k))
        k, v = (repeat_heads(g, item, heads // kv_heads) for item in (k, v))
        scores = g.node("Mul", g.node("MatMul", q, g.node("Transpose", k, perm=[0, 1, 3, 2])), g.numbers(width ** -0.5, FLOAT))
        y = attend(g, g.node("Add", scores, hidden_by), v, hidden)
        x = g.node("Add", x, g.node("MatMul", y, g.weight(hidden, hidden)))
        y = rms_norm(g, x, hidden)
        gate = g.node("MatMul", y, g.weight(hidden, ffn))
        gate = g.node("Mul", gate, g.node("Sigmoid", gate))
        x = g.node("Add", x, g.node("MatMul", g.node("Mul", gate, g.node("MatMul", y, g.weight(hidden, ffn))), g.weight(ffn, hidden)))
    logits = g.node("MatMul", rms_norm(g, x, hidden), g.weight(hidden, words))
    return g.file([(name, INT64, ["batch", "length"]) for name in inputs], [logits])


NETWORKS = {"mlp": mlp, "mobilenet_v2": mobilenet_v2, "resnet18": resnet18, "bert": bert, "gpt2": gpt2, "lstm": lstm, "unet": unet, "attention": attention,
            "windows": windows, "pieces": pieces, "llama": llama}
