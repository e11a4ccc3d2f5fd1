"""What is compared: for every case the network of torch_child.py, paradnn's id of the same, and how many parameters each has.

PyTorch's recurrent cells have two bias vectors per gate where paradnn's family rnn has one (lbr_gru: one more); their parameters are
counted accordingly. PyTorch's GRU is linear before reset, so paradnn's is lbr_gru."""

from collections import namedtuple

# settings: paradnn's mode with what belongs to it. fuse: paradnn's ways. is_main: of the short comparison.
Case = namedtuple("Case", "name family network mode batch id settings fuse params torch_params is_main")

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


CASES = {each.name: each for make in (dense_cases, image_cases, word_cases, transformer_cases) for each in make()}
