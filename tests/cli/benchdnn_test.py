#!/usr/bin/env python3
"""paradnn export --to benchdnn: each line by the grammar that benchdnn's documentation gives its drivers, knobs and descriptors (oneDNN 3,
tests/benchdnn/doc: driver_*.md, knobs_*.md, knob_*.md), and the sums of their multiply-adds.

Usage: benchdnn_test.py PARADNN [TEST...]."""

import math
import re

from program import Case, main

TYPE = r"(f32|bf16|f16|s32|s8|u8)"
TAG = r"(any|ab|abx|axb)"
BOOL = r"(true|false)"
NUMBER = r"-?\d+(\.\d+)?(e[+-]?\d+)?"
DIMS = r"[1-9]\d*(x[1-9]\d*){0,11}"
# knobs_attr.md: which take alpha, and which beta, too.
PLAIN = ("abs", "exp", "gelu_erf", "gelu_tanh", "log", "logistic", "logistic_dst", "mish", "round", "sqrt", "square", "tanh", "tanh_dst")
ALPHA = ("elu", "elu_dst", "relu", "relu_dst", "soft_relu", "swish")
BOTH = ("clip", "clip_v2", "clip_v2_dst", "hardsigmoid", "hardswish", "linear", "pow")
ELTWISE = "(" + "|".join(PLAIN + ALPHA + BOTH) + ")"
POST_OP = rf"(sum|{ELTWISE}(:{NUMBER}(:{NUMBER})?)?)"
SCALE = r"((src|dst):common:" + NUMBER + r"|wei:(common:" + NUMBER + r"|per_oc))"
ZERO_POINT = r"(src|wei|dst):(common|per_dim_1):-?\d+"
COMMON = {"reset": "", "mode": "[CPFRIL]", "cold-cache": "(none|wei|all)", "impl": r"[a-z0-9_:]+"}
ATTRIBUTES = {"attr-post-ops": rf"{POST_OP}(\+{POST_OP})*", "attr-scales": rf"{SCALE}(\+{SCALE})*", "attr-zero-points": rf"{ZERO_POINT}(\+{ZERO_POINT})*"}
IMAGE = (r"mb(?P<mb>\d+)", r"ic(?P<ic>\d+)", r"ih(?P<ih>\d+)", r"iw(?P<iw>\d+)")
WINDOW = IMAGE + (r"oh(?P<oh>\d+)", r"ow(?P<ow>\d+)", r"kh(?P<kh>\d+)", r"kw(?P<kw>\d+)", r"sh(?P<sh>\d+)", r"sw(?P<sw>\d+)", r"ph(?P<ph>\d+)", r"pw(?P<pw>\d+)")
CONVOLUTION = (r"(g(?P<g>\d+))?",) + IMAGE + (r"oc(?P<oc>\d+)",) + WINDOW[4:] + (r"(dh(?P<dh>\d+)dw(?P<dw>\d+))?",)
CONV = {"dir": "(FWD_B|FWD_D|FWD_I|BWD_D|BWD_W|BWD_WB)", "dt": f"{TYPE}:{TYPE}:{TYPE}", "stag": TAG, "wtag": TAG, "dtag": TAG, **ATTRIBUTES}
NORM_DIR = "(FWD_D|FWD_I|BWD_D|BWD_DW)"
# By driver: its knobs, and its descriptor, in which _ is ignored.
DRIVERS = {
    "conv": ({**CONV, "alg": "(DIRECT|WINO|AUTO)"}, "".join(CONVOLUTION)),
    "deconv": ({**CONV, "alg": "(DIRECT|WINO)"}, "".join(CONVOLUTION)),
    "ip": (CONV, r"mb(?P<mb>\d+)ic(?P<ic>\d+)oc(?P<oc>\d+)"),
    "matmul": ({"dt": f"{TYPE}:{TYPE}:{TYPE}", "strides": r"(\d+(x\d+)*:){2}\d+(x\d+)*", "stag": TAG, "wtag": TAG, "dtag": TAG, "bia_dt": TYPE, "bia_mask": r"\d", **ATTRIBUTES}, f"{DIMS}:{DIMS}:{DIMS}"),
    "pool": ({"dir": "(FWD_D|FWD_I|BWD_D)", "dt": f"{TYPE}:{TYPE}", "tag": TAG, "alg": "(max|avg_np|avg_p)"}, "".join(WINDOW)),
    "bnorm": ({"dir": NORM_DIR, "dt": TYPE, "tag": TAG, "flags": "G?C?H?R?A?"}, "".join(IMAGE) + f"eps{NUMBER}"),
    "gnorm": ({"dir": NORM_DIR, "dt": f"{TYPE}:{TYPE}", "tag": f"{TAG}:{TAG}", "flags": "G?C?H?"}, r"g(?P<g>\d+)" + "".join(IMAGE) + f"eps{NUMBER}"),
    "lnorm": ({"dir": NORM_DIR, "dt": f"{TYPE}:{TYPE}", "tag": f"{TAG}:{TAG}", "flags": "G?C?H?M?"}, DIMS),
    "softmax": ({"dir": "(FWD_D|FWD_I|BWD_D)", "sdt": TYPE, "ddt": TYPE, "stag": TAG, "dtag": TAG, "axis": r"\d"}, DIMS),
    "eltwise": ({"dir": "(FWD_D|BWD_D)", "dt": TYPE, "tag": TAG, "alg": ELTWISE, "alpha": NUMBER, "beta": NUMBER}, DIMS),
    "binary": ({"sdt": f"{TYPE}:{TYPE}", "ddt": TYPE, "stag": f"{TAG}:{TAG}", "dtag": TAG, "alg": "(ADD|DIV|MAX|MIN|MUL|SUB)"}, f"{DIMS}:{DIMS}"),
    "reduction": ({"sdt": TYPE, "ddt": TYPE, "stag": TAG, "dtag": TAG, "alg": "(sum|mean|max|min|mul)"}, f"{DIMS}:{DIMS}"),
    "concat": ({"sdt": TYPE, "ddt": TYPE, "stag": TAG, "dtag": TAG, "axis": r"\d"}, f"{DIMS}(:{DIMS})+"),
    "resampling": ({"dir": "(FWD_D|BWD_D)", "sdt": TYPE, "ddt": TYPE, "tag": TAG, "alg": "(nearest|linear)"}, "".join(IMAGE) + r"oh(?P<oh>\d+)ow(?P<ow>\d+)"),
    "reorder": ({"sdt": TYPE, "ddt": TYPE, "stag": TAG, "dtag": TAG}, DIMS),
    "rnn": ({"prop": "(FWD_I|FWD_D|BWD_DW)", "cfg": "(f32|bf16f32)", "alg": "(VANILLA_RNN|VANILLA_LSTM|VANILLA_GRU|LBR_GRU)",
             "direction": "(left2right|right2left)", "activation": "(RELU|LOGISTIC|TANH)"},
            r"l(?P<l>\d+)t(?P<t>\d+)mb(?P<mb>\d+)sic(?P<sic>\d+)slc(?P<slc>\d+)dhc(?P<dhc>\d+)dic(?P<dic>\d+)"),
}


class Wrong(Exception):
    """A line that the grammar does not have."""


def need(holds, *said):
    if not holds:
        raise Wrong(*said)


def check_window(found, driver):
    """A convolution's output is what its windows give, with as much padding at the end as they need."""
    for axis in "hw":
        inner, outer = ("o", "i") if driver == "deconv" else ("i", "o")
        size, windows = found[inner + axis], found[outer + axis]
        reach = (found["k" + axis] - 1) * (found.get("d" + axis, 0) + 1) + 1
        end = (windows - 1) * found["s" + axis] + reach - size - found["p" + axis]
        need(end > -found["s" + axis], "the last windows are missing", found)
        need(end < reach, "a window only of padding", found)
    need(found["ic"] % found.get("g", 1) == 0 and found.get("oc", 0) % found.get("g", 1) == 0, "groups", found)


def shapes(text):
    return [[int(size) for size in part.split("x")] for part in text.split(":")]


def check_matmul(descriptor, strides):
    a, b, y = shapes(descriptor)
    need(len(a) == len(b) == len(y) and a[-1] == b[-2], "a and b disagree", descriptor)
    need(y == [max(i, k) for i, k in zip(a[:-2], b[:-2])] + [a[-2], b[-1]], "y is not their product", descriptor)
    for shape, stride in zip((a, b, y), shapes(strides) if strides else []):
        need(len(shape) == len(stride) and 1 in stride[-2:], "strides", strides)


def parse(line):
    """The line's driver, knobs and descriptor; Wrong if it has none."""
    words = line.split(" ")
    need(words[0][:2] == "--" and words[0][2:] in DRIVERS, "no driver", words[0])
    driver = words[0][2:]
    known, grammar = DRIVERS[driver]
    knobs = {}
    for word in words[1:-1]:
        knob = re.fullmatch(r"--([a-z_-]+)(?:=(.+))?", word)
        need(knob, "no knob", word)
        name, value = knob.group(1), knob.group(2) or ""
        need(name not in knobs, "given twice", word)
        need(re.fullmatch({**COMMON, **known}.get(name, "(?!)"), value), f"--{driver} has no such value", word)
        knobs[name] = value
    text = words[-1]
    if driver not in ("matmul", "softmax", "eltwise", "binary", "reduction", "concat", "reorder", "lnorm"):
        text = text.replace("_", "")
    found = re.fullmatch(grammar, text)
    need(found, "descriptor", words[-1])
    sizes = {name: int(size) for name, size in found.groupdict().items() if size is not None}
    if driver in ("conv", "deconv", "pool"):
        check_window(sizes, driver)
    if driver == "matmul":
        check_matmul(text, knobs.get("strides"))
    need(driver != "ip" or "attr-zero-points" not in knobs, "inner products have none", line)
    if driver in ("binary", "reduction"):
        a, b = shapes(text)
        need(len(a) >= len(b) and all(k in (1, i) for i, k in zip(a, b)), "shapes", text)
    if driver in ("softmax", "concat"):
        need(int(knobs["axis"]) < len(shapes(text)[0]), "axis", line)
    if driver == "eltwise":
        need(float(knobs["beta"]) == 0 or knobs["alg"] in BOTH, "no beta", line)
        need(float(knobs["alpha"]) == 0 or knobs["alg"] in BOTH + ALPHA, "no alpha", line)
    return driver, knobs, sizes, text


def products(driver, sizes, text):
    if driver == "conv":
        return math.prod(sizes[name] for name in ("mb", "oc", "oh", "ow", "ic", "kh", "kw")) // sizes.get("g", 1)
    if driver == "ip":
        return sizes["mb"] * sizes["ic"] * sizes["oc"]
    if driver == "matmul":
        return math.prod(shapes(text)[2]) * shapes(text)[0][-1]
    return 0


NETWORKS = ["cnn/block=residual,blocks=1,filters=4,image=33,output=5,batch=3", "mobilenet_v2/width=0.1,image=32,output=3,batch=2",
            "mobilenet_v3/size=small,width=0.25,image=40,output=5,batch=2", "unet/depth=1,filters=4,upsampling=bilinear,image=12,output=3,batch=2",
            "unet/depth=2,filters=4,image=16,output=3,batch=2", "sd_unet/widths=12-20,repeats=1,heads=2,groups=2,text=6,tokens=5,image=8,batch=2",
            "rnn/cell=lstm,layers=2,embedding=12,length=6,vocabulary=20,batch=3,bidirectional=yes", "rnn/cell=gru,layers=1,embedding=8,length=4,vocabulary=6,batch=4",
            "deepspeech2/hidden=6,layers=2,frames=35,characters=5,labels=1,batch=2", "gnmt/hidden=6,layers=3,vocabulary=8,source=4,target=3,batch=3",
            "transformer/hidden=8,heads=2,layers=2,vocabulary=11,length=6,batch=2,positions=6,objective=masked-lm,predictions=3",
            "llama/layers=2,hidden=12,heads=6,kv_heads=2,ffn=10,vocabulary=11,batch=2,length=5", "densenet/blocks=1-2,growth=8,filters=12,image=40,output=5,batch=2",
            "llama/layers=1,hidden=8,heads=2,ffn=6,length=7,vocabulary=5,batch=2,window=3", "shufflenet_v2/widths=8-20-36-10,repeats=2-1-2,image=40,output=5,batch=2",
            "vit/layers=2,hidden=6,heads=3,patch=2,image=4,output=3,batch=2", "mlp_mixer/layers=1,hidden=12,patch=4,image=16,output=5,batch=2",
            "convnext/depths=1-2,widths=4-6,image=16,output=3,batch=2", "fc/layers=2,nodes=9,input=7,output=5,batch=3,activation=hardsigmoid",
            "fc/layers=2,nodes=9,input=7,output=5,batch=3,activation=hardtanh", "mamba/layers=1,hidden=8,states=3,length=4,vocabulary=5,batch=2"]
SETTINGS = ["mode=infer", "mode=train", "mode=infer,fuse=post-ops", "mode=train,fuse=blocks", "mode=infer,dtype=bf16,cache=cold", "mode=train,dtype=bf16",
            "mode=infer,dtype=int8", "mode=infer,dtype=int8,fuse=post-ops"]


class Benchdnn(Case):
    def export(self, instance, expect=0):
        """Of each line how often it counts, and its parts."""
        done = self.paradnn("export", instance, "--to", "benchdnn", expect=expect)
        lines = done.stdout.splitlines()
        found = []
        for comment, line in zip(lines, lines[1:] + ["#"]):
            if line.startswith("#"):
                continue
            count = re.fullmatch(r"# (\w+) ([\w-]+), (\d+) nodes?(, .*)?", comment)
            self.assertTrue(count, comment)
            try:
                found.append((int(count.group(3)), *parse(line)))
            except Wrong as wrong:
                self.fail(f"{instance}: {line}: {wrong}")
        plain = [line for line in lines if not line.startswith("#")]
        self.assertEqual(len(plain), len(set(plain)), "lines that are equal")
        return found, [line for line in lines[2:] if line.startswith("# no driver")]

    def test_all_lines_are_benchdnns(self):
        drivers = set()
        for network in NETWORKS:
            for settings in SETTINGS:
                with self.subTest(f"{network},{settings}"):
                    found, missing = self.export(f"{network},{settings}")
                    self.assertTrue(found)
                    self.assertFalse([line for line in missing if line.startswith("# no driver: add ")])
                    drivers |= {line[1] for line in found}
                    for _, _, knobs, _, _ in found:
                        self.assertEqual(knobs["mode"], "P")
                        self.assertEqual(knobs["cold-cache"], "all" if "cold" in settings else "none")
        self.assertEqual(drivers, set(DRIVERS))

    def test_multiply_adds_are_the_published_ones(self):
        """ResNet-50 of 224x224, where each product has two gradients, but the first has one; BERT's six products of a layer, and two of attention."""
        found, missing = self.export("cnn:resnet50,batch=1,mode=infer")
        self.assertEqual(sum(count * products(*line[:1], *line[2:]) for count, *line in found), 4089184256)
        self.assertEqual(missing, [])
        found, _ = self.export("cnn:resnet50,batch=1,mode=train")
        self.assertEqual(sum(count * products(*line[:1], *line[2:]) for count, *line in found), 3 * 4089184256 - 64 * 3 * 49 * 112 * 112)
        found, _ = self.export("transformer:bert-base,batch=2,length=128,mode=infer")
        rows = 2 * 128
        layer = rows * 768 * 768 * (4 + 8) + 2 * rows * 128 * 768
        inner = [line for line in found if line[1] in ("ip", "matmul") and line[0] >= 12]
        self.assertEqual(sum(count * products(*line[:1], *line[2:]) for count, *line in inner), 12 * layer)

    def test_passes_and_what_is_fused(self):
        def lines(instance):
            return self.paradnn("export", instance, "--to", "benchdnn", expect=0).stdout.splitlines()[2:]
        self.assertEqual(lines("fc/layers=1,nodes=8,input=5,output=3,batch=2,mode=infer,fuse=post-ops,cache=cold"), [
            "# dense forward, 1 node, hidden1",
            "--ip --reset --mode=P --cold-cache=all --attr-post-ops=relu:0:0 --dir=FWD_B --dt=f32:f32:f32 --stag=ab --wtag=any --dtag=ab mb2ic5oc8",
            "# dense forward, 1 node, output",
            "--ip --reset --mode=P --cold-cache=all --dir=FWD_B --dt=f32:f32:f32 --stag=ab --wtag=any --dtag=ab mb2ic8oc3"])
        text = "\n".join(lines("fc/layers=1,nodes=8,input=5,output=3,batch=2,mode=train,optimizer=sgd,fuse=post-ops"))
        for part in ("--dir=FWD_B", "--dir=BWD_D ", "--dir=BWD_WB", "# no driver: sgd update, 4 nodes, the first hidden1", "--alg=relu_dst"):
            self.assertIn(part, text)
        self.assertNotIn("no driver: dense", text)

    def test_sums_of_gradients_and_recurrent_types(self):
        text = self.paradnn("export", "dit/layers=1,hidden=8,heads=2,image=6,batch=2,mode=train", "--to", "benchdnn", expect=0).stdout
        self.assertRegex(text, r"# add backward-data, \d+ nodes, .*\n--reduction .*--alg=sum 2x9x8:2x1x8\n")
        text = self.paradnn("export", "mamba/layers=1,hidden=8,states=3,length=4,vocabulary=5,batch=2,mode=train", "--to", "benchdnn", expect=0).stdout
        self.assertRegex(text, r"# add backward-data, 1 node, state_projection1\n--binary .*--alg=ADD 8x16:8x16\n")
        network = "rnn/cell=lstm,layers=1,embedding=12,length=6,vocabulary=20,batch=3,mode=infer,dtype="
        self.assertEqual([knobs["cfg"] for _, driver, knobs, _, _ in self.export(network + "bf16")[0] if driver == "rnn"], ["bf16f32"])
        found, missing = self.export(network + "f16")
        self.assertNotIn("rnn", [line[1] for line in found])
        self.assertIn("# no driver: rnn forward in f16, 1 node, layer1", missing)

    def test_bytes_are_unsigned_and_shifted(self):
        """As the library stores them: what a relu gives is not below 0, and is not shifted."""
        def lines(network, settings):
            text = self.paradnn("export", f"{network},mode=infer,{settings}", "--to", "benchdnn", expect=0).stdout
            return [re.sub(" --reset --mode=P --cold-cache=none", "", line) for line in text.splitlines() if re.match("--(ip|conv|matmul) ", line)]
        fc = "fc/layers=1,nodes=9,input=7,output=5,batch=3"
        self.assertEqual(lines(fc, "dtype=int8"), [
            "--matmul --dt=u8:s8:s32 --attr-zero-points=src:common:128 --stag=ab --wtag=any --dtag=ab 3x7:7x9:3x9",
            "--ip --dir=FWD_I --dt=u8:s8:s32 --stag=ab --wtag=any --dtag=ab mb3ic9oc5"])
        self.assertEqual(lines(fc, "dtype=int8,fuse=post-ops"), [
            "--matmul --attr-post-ops=relu:0:0 --dt=u8:s8:f32 --attr-scales=src:common:0.5+wei:per_oc --attr-zero-points=src:common:128 --stag=ab --wtag=any --dtag=ab "
            "--bia_dt=f32 --bia_mask=2 3x7:7x9:3x9",
            "--ip --dir=FWD_B --dt=u8:s8:f32 --attr-scales=src:common:0.5+wei:per_oc --stag=ab --wtag=any --dtag=ab mb3ic9oc5"])
        self.assertNotIn("zero-points", "".join(lines(fc, "dtype=f32") + lines("cnn/block=residual,blocks=1,filters=4,image=33,output=5,batch=3", "dtype=int8")))

    def test_what_the_grammar_refuses(self):
        """So that what it takes means something."""
        good = "--conv --mode=P --dir=FWD_I --dt=f32:f32:f32 --alg=AUTO mb1_ic3ih8iw8_oc4oh8ow8_kh3kw3_sh1sw1_ph1pw1"
        parse(good)
        for change in (("--conv", "--convolution"), ("FWD_I", "FWD_X"), ("--dt=f32:f32:f32", "--dt=f64x"), ("AUTO", "auto"), ("_oc4", ""), ("oh8", "oh10"), ("oh8", "oh6"),
                       ("--mode=P", "--mode=P --mode=P"), ("--alg=AUTO", "--tag=abx"), ("ic3", "g2ic3")):
            with self.subTest(change), self.assertRaises(Wrong):
                parse(good.replace(*change))
        for line in ("--matmul --dt=f32:f32:f32 --strides=2x1:2x1:2x1 4x2:3x2:4x2", "--eltwise --dir=FWD_D --dt=f32 --tag=abx --alg=tanh --alpha=1 --beta=0 4x2",
                     "--binary --alg=ADD 4x2:4x3", "--softmax --axis=2 4x2"):
            with self.subTest(line), self.assertRaises(Wrong):
                parse(line)

    def test_what_is_said(self):
        done = self.paradnn("export", "fc/layers=1,nodes=8", "--to", "benchdnn", "--weights", expect=2)
        self.assertEqual(done.stderr, "paradnn: --weights goes with --to onnx, benchdnn has none\n")
        done = self.paradnn("export", "fc/layers=1,nodes=8", "--to", "tvm", expect=2)
        self.assertIn("tvm", done.stderr)
        done = self.paradnn("export", "fc/layers=1,nodes=8", "--to", "benchdnn", "-o", "none/there", expect=2)
        self.assertIn("none/there", done.stderr)
        self.paradnn("export", "fc/layers=1,nodes=8", "--to", "benchdnn", "-o", "ops.txt", expect=0)
        with open(f"{self.directory}/ops.txt", encoding="utf-8") as file:
            self.assertEqual(file.readline(), "# fc/layers=1,nodes=8,input=2000,output=1000,batch=64,activation=relu\n")


if __name__ == "__main__":
    main(1)
