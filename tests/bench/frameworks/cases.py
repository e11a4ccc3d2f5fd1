"""What is compared: for every case the network of torch_child.py, paradnn's id of the same, and how many parameters each has.

PyTorch's recurrent cells have two bias vectors per gate where paradnn's family rnn has one (lbr_gru: one more); their parameters are
counted accordingly. PyTorch's GRU is linear before reset, so paradnn's is lbr_gru."""

import os
import sys
from collections import namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import onnx_exports  # noqa: E402: after the path

# settings: paradnn's mode with what belongs to it. fuse: paradnn's ways. is_main: of the short comparison. network: of torch_child.py,
# None: no PyTorch. gguf: the arguments of gguf_model.py behind FILE and TYPE for llama.cpp, None: not by it; length: tokens of its prompt or
# context. file: of --onnx, or None. dtype: of paradnn, and of what it is compared with.
Case = namedtuple("Case", "name family network mode batch id settings fuse params torch_params is_main gguf length file dtype",
                  defaults=(None, None, None, "f32"))

OPTIMIZER = {"infer": "infer", "decode": "infer", "train": "train,optimizer=sgd"}


def case(name, family, network, mode, batch, instance, fuse, params, torch_params=None, settings=None, is_main=False):
    return Case(name, family, network, mode, batch, instance, settings or OPTIMIZER[mode], fuse, params, torch_params or params, is_main)


def dense_cases():
    for layers, nodes, mode, batch, is_main in ((4, 4096, "infer", 256, True), (4, 1024, "infer", 64, True), (4, 1024, "train", 64, True),
                                                (4, 256, "infer", 16, False), (4, 256, "train", 16, True), (4, 4096, "train", 256, False),
                                                (4, 1024, "infer", 1, False), (16, 1024, "infer", 256, False)):
        inputs, outputs = 2000, 1000
        params = nodes * (inputs + 1) + (layers - 1) * nodes * (nodes + 1) + outputs * (nodes + 1)
        yield case(f"fc-{layers}x{nodes}-{mode}-{batch}", "fc", f"fc-{layers}-{nodes}-{inputs}-{outputs}", mode, batch,
                   f"fc/layers={layers},nodes={nodes},input={inputs},output={outputs}", ("none", "post-ops") if mode == "infer" else ("none",),
                   params, is_main=is_main)


# Published parameter counts.
CNN_PARAMS = {"resnet50": 25_557_032, "resnet18": 11_689_512, "vgg16": 138_357_544}


def image_cases():
    for network, mode, batch, is_main in (("resnet50", "infer", 1, True), ("resnet50", "infer", 16, True), ("resnet50", "train", 16, True),
                                          ("resnet18", "infer", 1, False), ("resnet18", "infer", 16, False), ("resnet18", "train", 16, False),
                                          ("vgg16", "infer", 4, False)):
        yield case(f"{network}-{mode}-{batch}", "cnn", network, mode, batch, f"cnn:{network}", ("post-ops",), CNN_PARAMS[network],
                   is_main=is_main)


VOCABULARY, LENGTH = 1024, 50
# paradnn's name, gates, and bias vectors in paradnn.
CELLS = {"lstm": ("lstm", 4, 4), "gru": ("lbr_gru", 3, 4)}
RNN_MAIN = {("lstm", 2, 512, "infer", 32), ("lstm", 2, 512, "train", 32), ("gru", 2, 512, "infer", 32)}


def word_params(layers, hidden, gates, bias_vectors):
    return layers * hidden * (gates * 2 * hidden + bias_vectors) + VOCABULARY * (2 * hidden + 1)


def word_cases():
    every = [(cell, layers, hidden, mode, batch) for cell in CELLS for layers in (1, 2, 4) for hidden in (512, 1024)
             for mode in ("infer", "train") for batch in (1, 32, 128)]
    for cell, layers, hidden, mode, batch in every:
        name, gates, bias_vectors = CELLS[cell]
        yield case(f"{cell}-{layers}x{hidden}-{mode}-{batch}", "rnn", f"{cell}-{layers}-{hidden}", mode, batch,
                   f"rnn/cell={name},layers={layers},embedding={hidden},length={LENGTH},vocabulary={VOCABULARY},rnn=auto", ("none",),
                   word_params(layers, hidden, gates, bias_vectors), word_params(layers, hidden, gates, 2 * gates),
                   is_main=(cell, layers, hidden, mode, batch) in RNN_MAIN)


# Published for 12 layers; a layer has 12 H H + 13 H.
TRANSFORMER_PARAMS = {"infer": 109_482_240, "train": 110_106_428, "decode": 124_439_808}
LAYER_PARAMS = 7_087_872
TRANSFORMERS = {
    "infer": ("transformer:bert-base,objective=none,length={length}", "infer"),
    "train": ("transformer:bert-base,objective=masked-lm,dropout=10,length={length}", "train,optimizer=adamw"),
    "decode": ("transformer:gpt2,phase=decode,context={length}", "infer"),
}
BERT_MAIN = {(1, "infer", 1, 128), (1, "infer", 8, 128), (1, "train", 8, 128)}


def transformer_cases():
    """BERT's inference ends with its pooler; its training has masked-word and next-sentence prediction and dropout of 10 %. A decoding
    step computes one token that attends to 512, all of them cached except itself."""
    every = [("bert", layers, "infer", batch, length) for layers in (1, 12) for batch in (1, 8) for length in (128, 512)]
    every += [("bert", layers, "train", 8, 128) for layers in (1, 12)] + [("gpt2", 12, "decode", 1, 512)]
    for network, layers, mode, batch, length in every:
        instance, settings = TRANSFORMERS[mode]
        yield case(f"{network}-{layers}-{mode}-{batch}-{length}", "transformer", f"{network}-{layers}-{length}", mode, batch,
                   f"{instance.format(length=length)},layers={layers}", ("blocks",),
                   TRANSFORMER_PARAMS[mode] - (12 - layers) * LAYER_PARAMS, settings=settings,
                   is_main=network == "gpt2" or (layers, mode, batch, length) in BERT_MAIN)


# Published; the others are of torchvision's or our own networks, whose parameters are counted.
VISION = {"mobilenet_v2": ("cnn", "post-ops", 3_504_872), "convnext_tiny": ("cnn", "post-ops", 28_589_128), "vit_b_16": ("today", "blocks", 86_567_656)}
LLAMA = "llama/layers={layers},hidden=2048,heads=32,kv_heads=8,ffn=8192,vocabulary=1000,tied=no,"


def today_cases():
    """LLaMA's layers are those of Llama 3.2 1B. DLRM's tables have at most 20,000 rows, so that they are not what memory is full of."""
    for name, (family, fuse, params) in VISION.items():
        for batch in (1, 16):
            yield case(f"{name}-infer-{batch}", family, f"vision-{name}", "infer", batch, name, (fuse,), params, is_main=batch == 1)
    layers = 2
    params = 2 * 1000 * 2048 + 2048 + layers * (2 * 2048 + 2048 * 48 * 64 + 2048 * 2048 + 3 * 2048 * 8192)
    for mode, length in (("infer", 512), ("decode", 512)):
        phase = f"phase=decode,context={length}" if mode == "decode" else f"length={length}"
        yield case(f"llama-{layers}-{mode}-1-{length}", "today", f"llama-{layers}-{length}", mode, 1, LLAMA.format(layers=layers) + phase, ("blocks",),
                   params, is_main=True)
    for batch, pooling in ((128, 1), (128, 32), (2048, 1)):
        yield case(f"dlrm-infer-{batch}-{pooling}", "today", f"dlrm-20000-{pooling}", "infer", batch, f"dlrm/rows_cap=20000,pooling={pooling}",
                   ("post-ops",), 35_886_849, is_main=batch == 128)


def llama_cpp_cases():
    """Llama 3.2 1B. In another type than f32, llama.cpp's activations are still f32 and its cache f16, paradnn's of the type. A prompt goes
    through four of its layers and has few words: llama.cpp computes the output of its last token only, paradnn of each."""
    length = 512
    for mode, layers, words, phase in (("infer", 4, 1000, f"length={length}"), ("decode", 16, 128256, f"phase=decode,context={length}")):
        params = 2048 + words * 2048 + layers * (2 * 2048 + 2048 * 48 * 64 + 2048 * 2048 + 3 * 2048 * 8192)
        made = case(f"llama3.2-1b-{mode}-1-{length}", "today", None, mode, 1, f"llama3.2-1b,layers={layers},vocabulary={words},{phase}",
                    ("blocks",), params)
        yield made._replace(gguf=(layers, 2048, 32, 8, 8192, words, 2 * length), length=length)


def own(instance):
    """A case of any id without run settings, which no PyTorch has: paradnn in all its ways beside ONNX Runtime on its export."""
    return case(instance, instance.split("/")[0].split(":")[0], None, "infer", None, instance, ("none", "post-ops", "blocks"), None)


def of_file(instance):
    """A case of FILE.onnx,AXIS=N...: ONNX Runtime runs the file itself, too. PyTorch has the networks that onnx_exports.py makes."""
    path, *axes = instance.split(",")
    name, sizes = os.path.splitext(os.path.basename(path))[0], dict(axis.split("=") for axis in axes)
    path = os.path.abspath(path)
    made = own(",".join([path, *axes]))._replace(name=name, family="today", file=path)
    if name not in onnx_exports.NETWORKS:
        return made
    batch = int(sizes.pop("batch", 1))
    return made._replace(network=f"exported-{name}", batch=batch, id=",".join([path, *(f"{axis}={size}" for axis, size in sizes.items())]))


def in_dtype(case, dtype):
    """The case in another type; None if no step of its mode exists in it."""
    if dtype == "int8" and case.mode == "train":
        return None
    return case if dtype == "f32" else case._replace(dtype=dtype, settings=f"{case.settings},dtype={dtype}")


CASES = {each.name: each for make in (dense_cases, image_cases, word_cases, transformer_cases, today_cases, llama_cpp_cases) for each in make()}
