#!/usr/bin/env python3
"""Stacks of LSTM and GRU layers in paradnn and in PyTorch: f32, the same machine, cores, thread count and pinning.

Usage: torch_rnn.py PARADNN [--case NAME]... [--rounds N] [--threads N] [--results DIR] [--csv FILE]

Interleaved and compared as in torch_cnn.py. Both sides are word ids, an embedding, the stack and a projection of every step to the
vocabulary; a training step has a loss masked by drawn lengths, and SGD. PyTorch's GRU is linear before reset, so paradnn's is lbr_gru;
its cells have two bias vectors per gate where paradnn's family rnn has one, and their parameters are counted accordingly."""

import sys

sys.dont_write_bytecode = True

import torch_cnn  # noqa: E402: after dont_write_bytecode

VOCABULARY, LENGTH = 1024, 50
LAYERS, HIDDEN, BATCH = (1, 2, 4), (512, 1024), (1, 32, 128)
# paradnn's name, gates, and bias vectors in paradnn.
CELLS = {"lstm": ("lstm", 4, 4), "gru": ("lbr_gru", 3, 4)}
# By batch: samples per contender and round.
SAMPLES = {"infer": {1: 10, 32: 5, 128: 3}, "train": {1: 5, 32: 3, 128: 3}}

CASES = {
    f"{cell}-{layers}-{hidden}-{mode}-{batch}": (cell, layers, hidden, mode, batch)
    for cell in CELLS for layers in LAYERS for hidden in HIDDEN for mode in SAMPLES for batch in BATCH
}


def params_of(layers, hidden, gates, bias_vectors):
    return layers * hidden * (gates * 2 * hidden + bias_vectors) + VOCABULARY * (2 * hidden + 1)


def make_contenders(case, options, python, facts, directory):
    cell, layers, hidden, mode, batch = case
    name, gates, bias_vectors = CELLS[cell]
    samples = SAMPLES[mode][batch]
    torch_case = (f"{cell}-{layers}-{hidden}", mode, batch, samples)
    torch_params = params_of(layers, hidden, gates, 2 * gates)
    contenders = [torch_cnn.Torch(python, torch_case, variant, options.threads, torch_params)
                  for variant in facts["recurrent_variants"][mode]]
    instance = f"rnn/cell={name},layers={layers},embedding={hidden},length={LENGTH},vocabulary={VOCABULARY},batch={batch}"
    instance += f",mode={mode},threads={options.threads},rnn=auto" + (",optimizer=sgd" if mode == "train" else "")
    contenders.append(torch_cnn.Paradnn("auto", options, instance, samples, params_of(layers, hidden, gates, bias_vectors), directory))
    return contenders


if __name__ == "__main__":
    torch_cnn.main(__doc__.splitlines()[0], CASES, make_contenders)
