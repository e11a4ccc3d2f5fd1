#!/usr/bin/env python3
"""One network on one path through PyTorch, timed in a process of its own; started by torch_cnn.py, torch_rnn.py and
torch_transformer.py.

Usage: torch_models.py NETWORK MODE BATCH VARIANT THREADS SAMPLES
       torch_models.py facts
The first prints one line of JSON: params, samples_ns (of single steps, after a warm-up), peak_rss_bytes. The second prints
the versions behind this PyTorch, and the variants of each mode.

The networks are those that paradnn's families cnn and rnn build: ResNet v1.5 with a projection shortcut in the first block of every
group, of ResNet-18 too, and VGG-16 without dropout; CELL-LAYERS-HIDDEN is word ids, an embedding, the stack and a projection of every
step to the vocabulary, trained with a loss masked by drawn lengths; those of the family transformer are in torch_attention.py. A
training step is zero_grad, forward, cross-entropy, backward, and SGD or, of transformers, AdamW."""

import json
import resource
import sys
import time

sys.dont_write_bytecode = True

import torch  # noqa: E402: after dont_write_bytecode
from torch import nn  # noqa: E402

import torch_attention  # noqa: E402


def conv_norm(inputs, outputs, kernel, stride=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs)


def relu():
    return nn.ReLU(inplace=True)


class Block(nn.Module):
    def __init__(self, inputs, width, stride, bottleneck, project):
        super().__init__()
        self.outputs = 4 * width if bottleneck else width
        if bottleneck:
            layers = (*conv_norm(inputs, width, 1), relu(), *conv_norm(width, width, 3, stride), relu(), *conv_norm(width, self.outputs, 1))
        else:
            layers = (*conv_norm(inputs, width, 3, stride), relu(), *conv_norm(width, width, 3))
        self.body = nn.Sequential(*layers)
        self.shortcut = nn.Sequential(*conv_norm(inputs, self.outputs, 1, stride)) if project else nn.Identity()
        self.relu = relu()

    def forward(self, x):
        y = self.body(x)
        y += self.shortcut(x)
        return self.relu(y)


def resnet(blocks, bottleneck):
    layers = [*conv_norm(3, 64, 7, 2), relu(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for group, count in enumerate(blocks):
        for i in range(count):
            block = Block(inputs, 64 << group, 2 if group and not i else 1, bottleneck, project=not i and (group or bottleneck))
            layers.append(block)
            inputs = block.outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


def vgg(blocks):
    layers, inputs = [], 3
    for group, count in enumerate(blocks):
        for _ in range(count):
            outputs = min(64 << group, 512)
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), relu()]
            inputs = outputs
        layers.append(nn.MaxPool2d(2, 2))
    layers += [nn.Flatten(), nn.Linear(inputs * 7 * 7, 4096), relu(), nn.Linear(4096, 4096), relu(), nn.Linear(4096, 1000)]
    return nn.Sequential(*layers)


VOCABULARY, LENGTH = 1024, 50


class Recurrent(nn.Module):
    """A sequence is a column, as in paradnn."""

    def __init__(self, cell, layers, hidden):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, hidden)
        self.stack = {"lstm": nn.LSTM, "gru": nn.GRU}[cell](hidden, hidden, layers)
        self.projection = nn.Linear(hidden, VOCABULARY)

    def forward(self, ids):
        return self.projection(self.stack(self.embedding(ids))[0]).flatten(0, 1)


NETWORKS = {
    "resnet18": lambda: resnet((2, 2, 2, 2), bottleneck=False),
    "resnet50": lambda: resnet((3, 4, 6, 3), bottleneck=True),
    "vgg16": lambda: vgg((2, 2, 3, 3, 3)),
}


def as_is(model, inputs):
    return model, inputs


def channels_last(model, inputs):
    return model.to(memory_format=torch.channels_last), tuple(x.to(memory_format=torch.channels_last) for x in inputs)


def jit(model, inputs):
    """Traced and frozen, which folds the batch normalization, then run by oneDNN in its own layouts."""
    return torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(model, inputs))), inputs


def jit_channels_last(model, inputs):
    return jit_as_is(*channels_last(model, inputs))


def jit_as_is(model, inputs):
    return torch.jit.freeze(torch.jit.trace(model, inputs)), inputs


# The variants of each mode; the first one is PyTorch's default.
VARIANTS = {
    "infer": {"eager": as_is, "channels_last": channels_last, "jit": jit, "jit_channels_last": jit_channels_last},
    "train": {"eager": as_is, "channels_last": channels_last},
}
RECURRENT_VARIANTS = {"infer": {"eager": as_is, "jit": jit_as_is}, "train": {"eager": as_is}}
TRANSFORMER_VARIANTS = {
    "infer": {"eager": as_is, "library": torch_attention.library, "jit": jit_as_is},
    "train": {"eager": as_is},
    "decode": {"eager": as_is, "jit": jit_as_is},
}


def image_labels(batch):
    return torch.randint(1000, (batch,))


def word_labels(ids):
    """No labels past the end of a sequence."""
    labels = torch.randint(VOCABULARY, ids.shape)
    ends = torch.randint(1, LENGTH + 1, ids.shape[1:])
    labels[torch.arange(LENGTH)[:, None] >= ends] = -1
    return labels.flatten()


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-3)


def problem(name, mode, batch):
    """Variants, model, inputs and, for training, the function from result to loss and an optimizer."""
    if name.startswith(("bert", "gpt2")):
        return (TRANSFORMER_VARIANTS, *torch_attention.problem(name, mode, batch))
    if name in NETWORKS:
        variants, model, x = VARIANTS, NETWORKS[name](), torch.randn(batch, 3, 224, 224)
        labels = image_labels(batch)
    else:
        cell, layers, hidden = name.split("-")
        variants, model, x = RECURRENT_VARIANTS, Recurrent(cell, int(layers), int(hidden)), torch.randint(VOCABULARY, (LENGTH, batch))
        labels = word_labels(x)
    loss_of = nn.CrossEntropyLoss(ignore_index=-1)
    return variants, model, (x,), lambda result: loss_of(result, labels), sgd


def inference(model, inputs):
    def step():
        with torch.inference_mode():
            return model(*inputs)

    return step


def training(model, inputs, loss_of, optimizer):
    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(*inputs))
        loss.backward()
        optimizer.step()
        return loss

    return step


def make_step(model, variant, inputs, mode, loss_of, optimizer_of):
    if mode == "train":
        model, inputs = variant(model.train(), inputs)
        return training(model, inputs, loss_of, optimizer_of(model.parameters()))
    with torch.inference_mode():
        return inference(*variant(model.eval(), inputs))


def sample(step, count):
    """Warms up like paradnn: a second, at least two steps (three if traced: a traced network optimizes itself in the first two)."""
    start, warmups, samples = time.perf_counter(), 0, []
    while warmups < 3 or time.perf_counter() - start < 1:
        step()
        warmups += 1
    for _ in range(count):
        before = time.perf_counter_ns()
        step()
        samples.append(time.perf_counter_ns() - before)
    return samples


def facts():
    config = torch.__config__.show() + torch.__config__.parallel_info()
    words = ("MKL-DNN", "OpenMP", "CPU capability", "BLAS_INFO", "parallel backend")
    lines = dict.fromkeys(line.strip(" -") for line in config.splitlines() if any(word in line for word in words))
    return {
        "version": torch.__version__,
        "mkldnn": torch.backends.mkldnn.is_available(),
        "config": [line for line in lines if len(line) < 120],
        "variants": {mode: list(variants) for mode, variants in VARIANTS.items()},
        "recurrent_variants": {mode: list(variants) for mode, variants in RECURRENT_VARIANTS.items()},
        "transformer_variants": {mode: list(variants) for mode, variants in TRANSFORMER_VARIANTS.items()},
    }


def measure(name, mode, batch, variant, threads, count):
    torch.manual_seed(1)
    torch.set_num_threads(int(threads))
    torch.set_flush_denormal(True)
    variants, model, inputs, loss_of, optimizer_of = problem(name, mode, int(batch))
    params = sum(parameter.numel() for parameter in model.parameters())
    step = make_step(model, variants[mode][variant], inputs, mode, loss_of, optimizer_of)
    samples = sample(step, int(count))
    if not bool(step().isfinite().all()):
        sys.exit(f"{name}: the result is not finite")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"params": params, "samples_ns": samples, "peak_rss_bytes": peak}


if __name__ == "__main__":
    print(json.dumps(facts() if sys.argv[1:] == ["facts"] else measure(*sys.argv[1:])))
