#!/usr/bin/env python3
"""BERT-Base and decoding with GPT-2 in paradnn and in PyTorch: f32, the same machine, cores, thread count and pinning.

Usage: torch_transformer.py PARADNN [--case NAME]... [--rounds N] [--threads N] [--results DIR] [--csv FILE]

Interleaved and compared as in torch_cnn.py. BERT's inference ends with its pooler; its training has masked-word and next-sentence
prediction, dropout of 10 %, and AdamW. A decoding step computes one token
that attends to 512 tokens, all of them cached except itself. PyTorch's variant `library` is nn.TransformerEncoder, which leaves Python in
inference; no variant skips padding tokens, and neither does paradnn."""

import sys

sys.dont_write_bytecode = True

import torch_cnn  # noqa: E402: after dont_write_bytecode

FUSE = ("none", "blocks")
CONTEXT = 512
# By layers, then by an upper bound on tokens per step: samples per contender and round.
SAMPLES = {1: {256: 10, 1024: 6, 4096: 4}, 12: {256: 6, 1024: 3, 4096: 3}}

# Name: network, layers, mode, batch, length.
CASES = {
    f"bert-{layers}-infer-{batch}-{length}": ("bert", layers, "infer", batch, length)
    for layers in SAMPLES for batch in (1, 8) for length in (128, 512)
}
CASES |= {f"bert-{layers}-train-8-128": ("bert", layers, "train", 8, 128) for layers in SAMPLES}
CASES["gpt2-decode-1-512"] = ("gpt2", 12, "decode", 1, CONTEXT)

# Published for 12 layers; a layer has 12 H H + 13 H.
PARAMS = {"infer": 109_482_240, "train": 110_106_428, "decode": 124_439_808}
LAYER_PARAMS = 7_087_872
# paradnn's id.
IDS = {
    "infer": "transformer:bert-base,objective=none,length={length},mode=infer",
    "train": "transformer:bert-base,objective=masked-lm,dropout=10,length={length},mode=train,optimizer=adamw",
    "decode": "transformer:gpt2,phase=decode,context={length},mode=infer",
}


def samples_of(layers, mode, tokens):
    if mode == "decode":
        return 10
    return next(samples for most, samples in SAMPLES[layers].items() if tokens <= most)


def make_contenders(case, options, python, facts, directory):
    network, layers, mode, batch, length = case
    samples = samples_of(layers, mode, batch * length)
    params = PARAMS[mode] - (12 - layers) * LAYER_PARAMS
    torch_case = (f"{network}-{layers}-{length}", mode, batch, samples)
    contenders = [torch_cnn.Torch(python, torch_case, variant, options.threads, params)
                  for variant in facts["transformer_variants"][mode]]
    for fuse in FUSE:
        instance = f"{IDS[mode].format(length=length)},layers={layers},batch={batch},threads={options.threads},fuse={fuse}"
        contenders.append(torch_cnn.Paradnn(fuse, options, instance, samples, params, directory))
    return contenders


if __name__ == "__main__":
    torch_cnn.main(__doc__.splitlines()[0], CASES, make_contenders)
