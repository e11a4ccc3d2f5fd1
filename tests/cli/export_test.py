#!/usr/bin/env python3
"""paradnn export: networks in ONNX, against golden text, onnx's checker, and the results of ONNX Runtime.

Usage: export_test.py PARADNN VALUES GOLDEN PROTO [--update] [TEST...]. VALUES is the test program onnx_values, PROTO the folder of
onnx.proto."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys

from program import ROOFS, Case, main, needs

READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx_reader.py")
VALUES, GOLDEN, PROTO = (os.path.abspath(word) for word in sys.argv[2:5])

# Small, and together everything that ops write: one or more of each family.
NETWORKS = [
    "fc/layers=2,nodes=9,input=7,output=5,batch=3", "fc/layers=1,nodes=8,input=9,output=4,batch=2,activation=gelu",
    "fc/layers=2,nodes=9,input=7,output=5,batch=3,activation=hardsigmoid", "fc/layers=2,nodes=9,input=7,output=5,batch=3,activation=softplus",
    "cnn/block=plain,blocks=1-2,filters=13-10,image=17,output=7,batch=3,dense=20", "cnn/block=residual,blocks=1,filters=4,image=225,pool=7x7,output=6,batch=1",
    "cnn/block=bottleneck,blocks=1-2-1-1,filters=8,image=40,output=7,batch=2",
    "rnn/cell=lstm,layers=2,embedding=12,length=6,vocabulary=20,batch=3,bidirectional=yes", "rnn/cell=gru,layers=2,embedding=8,length=4,vocabulary=6,batch=4,output_at=last",
    "rnn/cell=lbr_gru,layers=1,embedding=8,length=4,vocabulary=6,batch=4,bidirectional=yes", "rnn/cell=rnn,layers=1,embedding=8,length=4,vocabulary=6,batch=4",
    "gnmt/hidden=6,layers=3,vocabulary=8,source=4,target=3,batch=3", "deepspeech2/hidden=6,layers=2,frames=35,characters=5,labels=1,batch=2",
    "transformer/hidden=8,heads=2,layers=2,vocabulary=11,length=6,batch=2,positions=6,objective=masked-lm,predictions=3",
    "transformer/architecture=decoder,hidden=12,heads=3,layers=2,vocabulary=5,length=3,batch=2,positions=3,norm=pre,objective=causal-lm,activation=gelu_tanh",
    "transformer/architecture=decoder,hidden=4,heads=2,layers=1,vocabulary=5,batch=3,positions=8,objective=causal-lm,phase=decode,context=4,ffn=4,mode=infer",
    "transformer/architecture=encoder-decoder,hidden=4,heads=2,layers=1,vocabulary=5,length=3,target=2,batch=2,positions=0,objective=causal-lm,ffn=4,qkv=separate",
    "mobilenet_v1/width=0.25,image=40,output=5,batch=2", "mobilenet_v2/width=0.1,image=32,output=3,batch=2", "mobilenet_v3/size=small,width=0.25,image=40,output=5,batch=2",
    "efficientnet/width=0.1,depth=0.5,image=32,output=3,batch=2", "regnet/depths=1-1,widths=16-20,group=4,image=36,output=5,batch=2",
    "resnext/blocks=1,filters=8,groups=2,base=16,image=32,output=3,batch=2",
    "llama/layers=2,hidden=12,heads=6,kv_heads=1,ffn=10,vocabulary=11,batch=2,length=5", "llama/layers=1,hidden=8,heads=2,ffn=6,length=7,vocabulary=5,batch=2,window=3",
    "llama/layers=2,hidden=8,heads=2,kv_heads=1,ffn=6,length=4,vocabulary=5,batch=2,qk_norm=yes", "llama/layers=2,hidden=8,heads=2,ffn=6,experts=4,active=2,length=4,vocabulary=5,batch=2",
    "llama/layers=2,hidden=8,heads=2,kv_heads=1,ffn=6,vocabulary=5,batch=2,phase=decode,context=4,mode=infer",
    "ncf/users=9,items=7,factors=4,mlp=5-3,input=6,batch=2", "dlrm/dim=7,bottom=12,top=8,features=4,pooling=5,rows_cap=30,batch=6",
    "graphsage/layers=2,hidden=3,features=4,fanout=2,output=3,batch=2", "ssd_resnet34/image=257,classes=3,batch=1",
    "vit/layers=2,hidden=6,heads=3,patch=2,image=4,output=3,batch=2", "mlp_mixer/layers=1,hidden=12,patch=4,image=16,output=5,batch=2",
    "minigo/board=3,blocks=1,filters=4,units=3,planes=2,batch=2", "squeezenet/stem=8,kernel=3,width=0.25,image=40,output=5,batch=2",
    "densenet/blocks=1-2,growth=8,filters=12,image=40,output=5,batch=2", "googlenet/width=0.125,image=40,output=5,batch=2", "inception_v3/image=75,output=3,batch=1",
    "whisper/layers=1,hidden=4,heads=2,frames=4,mels=3,length=3,vocabulary=5,batch=2", "whisper/layers=1,hidden=4,heads=2,frames=4,vocabulary=5,batch=2,phase=decode,context=3,mode=infer",
    "dit/layers=1,hidden=12,heads=2,image=8,classes=5,batch=2", "unet/depth=2,filters=4,image=16,output=3,batch=2", "unet/depth=1,filters=4,upsampling=nearest,image=12,output=3,batch=2",
    "unet/depth=1,filters=4,upsampling=bilinear,image=12,output=3,batch=2", "convnext/depths=1-2,widths=4-6,image=16,output=3,batch=2",
    "shufflenet_v2/widths=8-20-36-10,repeats=2-1-2,image=40,output=5,batch=2", "sd_unet/widths=12-20,repeats=1,heads=2,groups=2,text=6,tokens=5,image=8,batch=2",
    "retinanet/height=33,width=47,classes=3,anchors=2,blocks=1,filters=2,channels=4,batch=1",
    "mask_rcnn/height=33,width=47,classes=3,regions=8,masks=4,blocks=1,filters=2,channels=4,units=5,batch=2", "swin/depths=2-2,hidden=4,head=4,window=3,patch=1,image=6,output=3,batch=2",
    "t5/layers=2,hidden=8,heads=2,width=3,ffn=6,buckets=4,distance=5,length=5,target=4,vocabulary=7,batch=2",
    "t5/layers=1,hidden=4,heads=2,width=3,ffn=6,buckets=4,distance=5,length=5,vocabulary=7,batch=2,phase=decode,context=3,mode=infer",
]
# What no family that ships has written: pixels that are named, taps apart, padding that differs, and values that repeat in each way.
ODD = """\
family: odd
help: what no family that ships has written
axes:
  batch: {default: 2, range: 1..64, help: "minibatch: images per step"}
inputs:
  pixels: {shape: [batch, 6, 5, 8]}
  labels: {shape: [batch], fill: {class: 3}}
ops:
  - {resize: {height: 7, width: 3}, from: pixels, layer: stem}
  - {conv2d: {out: 4, kernel_h: 3, dilation_h: 2, padding_h: 1, end_h: 2}, layer: stem, as: wide}
  - {ops: [pool2d: {kind: average, to: 1}], as: gate}
  - {ops: [{multiply, from: [wide, gate]}, pool2d: {kind: average, kernel: 2, stride: 1, padding: 1}, hardtanh: {low: -1, high: 2}]}
  - {rearrange: {pattern: "'n c h w -> (n h w) c'"}, as: rows}
  - {mean: {along: columns}, as: row}
  - {multiply, from: [rows, row], as: scaled}
  - {mean: {sequences: batch}, as: each}
  - {add, from: [scaled, each]}
  - {ops: [layernorm: {affine: 0}, rmsnorm, mean: {sequences: batch}, dense: {out: 3}, bias], layer: output, as: logits}
loss: [{softmax_cross_entropy, from: [logits, labels], layer: loss}]
"""
# Several results, of which others are made, one twice, and inputs, two of which nothing else reads.
TWICE = """\
family: twice
help: several results without weights
axes:
  batch: {default: 2, range: 1..64, help: "minibatch: rows per step"}
inputs:
  x: {shape: [batch, 6]}
  y: {shape: [batch, 5]}
  ids: {shape: [batch], fill: {class: 3}}
ops:
  - {relu, from: x, as: a}
  - {tanh, as: b}
  - {sigmoid, from: a, as: c}
result: [b, c, a, c, x, y, ids]
"""
NETWORKS += ["./odd.yaml,mode=infer", "./twice.yaml,mode=infer"]
# Those of NETWORKS that import refuses, by what they begin with: what it says of them.
UNREAD = {
    "gnmt/": "(ReduceL2): this operator is not read",  # of additive attention, whose operators are no others' either
    "transformer/architecture=decoder,hidden=4": "(ScatterND): no operator",  # of a cache, which is a result, too
    "whisper/layers=1,hidden=4,heads=2,frames=4,vocabulary": "(ScatterND): no operator", "t5/layers=1": "(ScatterND): no operator",
    "llama/layers=2,hidden=8,heads=2,kv_heads=1,ffn=6,vocabulary": "(Mul): no operator",  # one position does not say how angles grow
    "llama/layers=2,hidden=8,heads=2,ffn=6,experts": "(ScatterElements): this operator is not read",  # of routing
    "dlrm/": "(Gather): no operator",  # of a triangle of products
    "retinanet/": "(Gather): no operator", "./odd": "(Gather): no operator",  # of pixels that are named one by one
    "mask_rcnn/": "(RoiAlign): this operator is not read",
    "t5/layers=2": "(Add): a weight of 8 values meets data of 5 columns",  # buckets of distances
}
# What else differs in what comes back, exactly: parameters, and operators of a step before and after.
OTHERWISE = {
    # Tables of sinusoids (3x4, 2x4, 16x12) are not trained, but are initializers as weights are: ONNX has one kind of these.
    "transformer/architecture=encoder-decoder": (12, {}, {}), "whisper/layers=1,hidden=4,heads=2,frames=4,mels": (8, {}, {}), "dit/": (192, {}, {}),
    # Indices are read as one row of them.
    "transformer/hidden": (0, {("embedding", "2x3:12x8:6x8"): 1}, {("embedding", "6:12x8:6x8"): 1}),
    # ONNX has no operator that gathers rows and takes their mean.
    "graphsage/": (0, {("embedding_bag", "2x2:6x3:2x3"): 1, ("embedding_bag", "6x2:18x4:6x4"): 1, ("scale", "2x3:2x3"): 1, ("scale", "6x4:6x4"): 1},
                   {("embedding", "12:18x4:12x4"): 1, ("embedding", "4:6x3:4x3"): 1, ("mean", "12x4:6x4"): 1, ("mean", "4x3:2x3"): 1}),
    # The same sums by other shapes: as the graph has what is joined, windowed or one number for each channel.
    "vit/": (0, {("add", "10x6:10x6:10x6"): 5}, {("add", "10x6:10x6:10x6"): 4, ("add", "2x5x6:2x5x6:2x5x6"): 1}),
    "swin/": (0, {("add", "72x4:72x4:72x4"): 4}, {("add", "12x6x4:12x6x4:12x6x4"): 1, ("add", "72x4:72x4:72x4"): 3}),
    "sd_unet/": (0, {("add", "2x12x8x8:2x12:2x12x8x8"): 3, ("add", "2x20x4x4:2x20:2x20x4x4"): 5},
                 {("add", "2x12x8x8:2x12x1x1:2x12x8x8"): 3, ("add", "2x20x4x4:2x20x1x1:2x20x4x4"): 5}),
}
# Relative to the result's largest value: f32 beside double.
TOLERANCE = 1e-5
# What ONNX cannot say.
NO_FORM = {"mamba"}


def python_with(module):
    """A python3 that has the module: this one, or the distribution's; else None, after the line that says so."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.access(python, os.X_OK) and subprocess.run([python, READER, module], capture_output=True, check=False).returncode == 0:
            return python
    needs.say(module)
    return None


class Export(Case):
    FILES = {**Case.FILES, "odd.yaml": ODD, "twice.yaml": TWICE}

    def export(self, instance, *arguments, path="network.onnx", expect=0):
        return self.paradnn("export", instance, "-o", path, *arguments, expect=expect)

    def ask(self, python, module, paths):
        done = subprocess.run([python, READER, module, *paths], cwd=self.directory, capture_output=True, text=True, check=False)
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        self.assertEqual(len(found), len(paths), done.stderr)
        return found

    def text_of(self, path):
        with open(os.path.join(self.directory, path), "rb") as file:
            return subprocess.run(["protoc", "--decode=onnx.ModelProto", f"--proto_path={PROTO}", "onnx.proto"], stdin=file, capture_output=True,
                                  check=True, text=True).stdout

    def test_the_graph_is_as_the_golden_text_has_it(self):
        """Gemm with its bias; recurrent gates in ONNX's order, as parts of one weight; a causal mask."""
        for name, instance in (("fc", "fc/layers=1,nodes=8,input=5,output=3,batch=2"), ("lstm", "rnn/cell=lstm,layers=1,embedding=4,length=3,vocabulary=5,batch=2"),
                               ("decoder", "transformer/architecture=decoder,hidden=4,heads=2,layers=1,vocabulary=5,length=3,batch=2,positions=3,objective=causal-lm")):
            with self.subTest(name):
                self.export(instance)
                self.expect_golden(os.path.join(GOLDEN, f"{name}.txt"), self.text_of("network.onnx"))

    def families(self):
        return sorted({row["family"] for row in csv.DictReader(self.paradnn("families", "--format", "csv", expect=0).stdout.splitlines())})

    def test_each_family_has_a_network_here(self):
        self.assertEqual(sorted({name.split("/")[0] for name in NETWORKS} - {"."} | NO_FORM), self.families())

    def test_onnx_checks_them(self):
        python = python_with("onnx")
        if not python:
            self.skipTest("no onnx")
        paths = []
        for i, instance in enumerate(NETWORKS):
            paths.append(f"{i}.onnx")
            self.export(instance, path=paths[-1])
        for instance, found in zip(NETWORKS, self.ask(python, "onnx", paths)):
            with self.subTest(instance):
                self.assertNotIn("wrong", found)
                self.assertEqual(found["shape"], found["said"])

    def test_onnx_runtime_computes_what_the_reference_does(self):
        python = python_with("onnxruntime")
        if not python:
            self.skipTest("no onnxruntime")
        directories = []
        for i, instance in enumerate(NETWORKS):
            directories.append(str(i))
            os.mkdir(os.path.join(self.directory, str(i)))
            self.export(instance, "--weights", path=f"{i}/network.onnx")
            subprocess.run([VALUES, instance, str(i)], cwd=self.directory, check=True)
        for instance, found in zip(NETWORKS, self.ask(python, "onnxruntime", directories)):
            with self.subTest(instance):
                self.assertLessEqual(found.get("difference", found.get("wrong")), TOLERANCE)

    def products_of(self, instance):
        """How often each operator is in a step, but for those that only move data."""
        found = {}
        listed = self.paradnn("ops", f"{instance},backend=reference,threads=1", *ROOFS, "--format", "csv", expect=0).stdout
        for row in csv.DictReader(listed.splitlines()):
            kind, shapes = re.search(r"isa=\S+ (\w+)/forward/([^\s,@]+)", row["operator"]).groups()
            if kind not in ("rearrange", "slice", "concat"):
                found[kind, shapes] = found.get((kind, shapes), 0) + int(row["runs"])
        return found

    def pair_of(self, instance):
        """The network's inference, and that of what import makes of its export, with the same minibatch."""
        free = re.search(r"batch: {default: \d+, range: (\d+)\.\.(?!\1,)", self.read("network.yaml"))
        batch = re.search(r",batch=\d+|$", instance)[0] or ",batch=2"
        return instance + ",mode=infer" * ("mode=" not in instance), "./network.yaml,mode=infer" + (batch if free else "")

    def test_a_network_comes_back(self):
        """What import makes of an export: parameters, FLOP, and the same operators as often, but for what is said to differ."""
        for instance in NETWORKS:
            with self.subTest(instance):
                self.export(instance)
                unread = [text for start, text in UNREAD.items() if instance.startswith(start)]
                done = self.paradnn("import", "network.onnx", "-o", "network.yaml", "--loss", "none", expect=2 if unread else 0)
                if unread:
                    self.assertIn(unread[0], done.stderr)
                    continue
                pair = self.pair_of(instance)
                costs = [json.loads(self.paradnn("list", each, "--format", "json", expect=0).stdout)[0] for each in pair]
                params, before, after = next((row for start, row in OTHERWISE.items() if instance.startswith(start)), (0, {}, {}))
                self.assertEqual(costs[1]["params"] - costs[0]["params"], params)
                for key in ("flop_count", "in_bounds_flop_count"):
                    self.assertEqual(costs[0][key], costs[1][key])
                had, has = (self.products_of(each) for each in pair)
                self.assertEqual(({key: n for key, n in had.items() if has.get(key) != n}, {key: n for key, n in has.items() if had.get(key) != n}), (before, after))

    def count(self, instance):
        self.export(instance)
        kinds = {}
        for line in self.text_of("network.onnx").splitlines():
            word, _, kind = line.strip().partition(": ")
            if word == "op_type":
                kinds[kind.strip('"')] = kinds.get(kind.strip('"'), 0) + 1
        return kinds

    def test_nodes_are_those_of_other_exporters(self):
        """ResNet-50 as PyTorch in training mode writes it, and 12 layers of attention with one mask."""
        self.assertEqual(self.count("cnn:resnet50,batch=1"), {"Conv": 53, "BatchNormalization": 53, "Relu": 49, "MaxPool": 1, "Add": 16, "GlobalAveragePool": 1, "Flatten": 1,
                                                             "Gemm": 1})
        kinds = self.count("gpt2,batch=1,length=8")
        self.assertEqual((kinds["Softmax"], kinds["MatMul"], kinds["LayerNormalization"], kinds["Gemm"]), (12, 24, 25, 49))

    def test_a_large_network_is_a_small_file(self):
        self.export("llama2-7b,batch=1,length=8")
        data = os.stat(os.path.join(self.directory, "network.onnx.data"))
        self.assertLess(os.path.getsize(os.path.join(self.directory, "network.onnx")), 1 << 19)
        self.assertEqual(data.st_size, 32000 * 4096 * 4)
        self.assertLess(512 * data.st_blocks, 1 << 20)

    def test_weights_are_those_of_a_run(self):
        """And each is at its place: a scale near 1 is not in the block of zeros."""
        self.export("cnn/block=residual,blocks=1,filters=4,image=33,output=5,batch=3", "--weights")
        with open(os.path.join(self.directory, "network.onnx.data"), "rb") as file:
            first = file.read()
        self.export("cnn/block=residual,blocks=1,filters=4,image=33,output=5,batch=3", "--weights", "--set", "seed=2")
        with open(os.path.join(self.directory, "network.onnx.data"), "rb") as file:
            second = file.read()
        self.assertEqual(len(first), len(second))
        self.assertNotEqual(first, second)
        self.export("cnn/block=residual,blocks=1,filters=4,image=33,output=5,batch=3")
        with open(os.path.join(self.directory, "network.onnx.data"), "rb") as file:
            self.assertEqual(set(file.read()), {0})

    def results(self, instance):
        self.export(instance)
        parts = self.text_of("network.onnx").split("\n  output {\n")[1:]
        return [part.split('name: "')[1].split('"')[0] for part in parts]

    def test_indices_are_in_the_graph(self):
        self.export("swin/depths=1,hidden=4,head=2,window=7,patch=1,image=14,output=3,batch=1")
        kinds = [("data_type: 7" in part, "EXTERNAL" in part) for part in self.text_of("network.onnx").split("\n  initializer {\n")[1:]]
        self.assertIn((False, True), kinds)
        self.assertIn((True, False), kinds)
        self.assertNotIn((True, True), kinds)

    def test_all_results_are_there(self):
        self.assertEqual(self.results("minigo/board=3,blocks=1,filters=4,units=3,planes=2,batch=2"), ["result", "result2"])
        self.assertEqual(self.results("fc/layers=1,nodes=8,input=5,output=3,batch=2"), ["result"])
        self.assertEqual(self.results("./twice.yaml,mode=infer"), ["result"] + [f"result{i}" for i in range(2, 7)])

    def test_without_weights_there_is_no_data(self):
        """Nor that of the network that was there before."""
        self.export("fc/layers=1,nodes=8,input=5,output=3,batch=2")
        self.assertTrue(os.path.exists(os.path.join(self.directory, "network.onnx.data")))
        self.assertRegex(self.export("./twice.yaml,mode=infer").stderr, r"\Anetwork\.onnx: 6 nodes, \d+ B\n\Z")
        self.assertFalse(os.path.exists(os.path.join(self.directory, "network.onnx.data")))

    def test_what_is_said(self):
        done = self.export("fc/layers=1,nodes=8,input=5,output=3,batch=2", "--weights")
        self.assertRegex(done.stderr, r"\Anetwork\.onnx: 3 nodes, \d+ B, and \d+ B of weights beside it\n\Z")
        done = self.export("fc/layers=1,nodes=8,input=5,output=3,batch=2")
        self.assertRegex(done.stderr, r"\Anetwork\.onnx: 3 nodes, \d+ B, and 4\.10 kB of zeros for weights beside it\n\Z")

    def refused(self, message, instance, *arguments, path="refused.onnx", expect=1):
        done = self.export(instance, *arguments, path=path, expect=expect)
        self.assertEqual(done.stderr, f"paradnn: {message}\n")
        self.assertFalse(os.path.exists(os.path.join(self.directory, "refused.onnx")))
        self.assertFalse(os.path.exists(os.path.join(self.directory, "refused.onnx.data")))

    def test_what_has_no_form_is_named(self):
        self.refused("not in ONNX (opset 17): selective_scan has no form there (24 nodes, the first scan1)", "mamba:mamba-130m,batch=1,length=8")
        self.refused("not in ONNX (opset 17): selective_scan has no form there (1 node, scan1)", "mamba/layers=1,hidden=8,states=3,length=4,vocabulary=5,batch=2")
        self.refused("dtype=bf16 is not written in ONNX, only dtype=f32", "fc/layers=1,nodes=8,dtype=bf16")

    def test_bad_arguments(self):
        self.refused("export writes one network, and there are 2 instances", "fc/layers=1,nodes=8", "--set", "run.threads=[1, 2]", expect=2)
        self.refused("/dev/stdout: expected a file, beside which there can be its data", "fc/layers=1,nodes=8", path="/dev/stdout", expect=2)
        done = self.paradnn("export", "fc/layers=1,nodes=8", expect=2)
        self.assertEqual(done.stderr, "paradnn: export needs a file to write, give -o FILE\n")


if __name__ == "__main__":
    if not shutil.which("protoc"):
        needs.say("protoc")
        sys.exit(needs.SKIPPED)
    main(4)
