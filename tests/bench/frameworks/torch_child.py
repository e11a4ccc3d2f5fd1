#!/usr/bin/env python3
"""One network on one path through PyTorch, in a process of its own; started by contenders.py.

Usage: torch_child.py NETWORK MODE BATCH VARIANT THREADS RESULT
       torch_child.py export NETWORK MODE BATCH MODEL TYPE
       torch_child.py facts
       torch_child.py rate
The first leaves the result of an inference in the file RESULT if VARIANT is eager, and its inputs in RESULT.npz, and otherwise compares with
it; then as child.py describes. The second writes the network in f32 or bf16 and its inputs for ONNX Runtime. The third prints
what is behind this PyTorch, the last how fast its own kernels are.

NETWORK is one of networks.py. A training step is zero_grad, forward, cross-entropy, backward, and SGD or, of transformers, AdamW."""

import inspect
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy  # noqa: E402: after dont_write_bytecode
import torch  # noqa: E402
from torch import nn  # noqa: E402

import child  # noqa: E402
import networks  # noqa: E402
import variants  # noqa: E402


def multiply_adds(model, inputs):
    """Of the layers that have weights, in one inference; products of activations are not seen."""
    total = 0

    def see(module, given, result):
        nonlocal total
        if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d)):
            weight = module.weight
            total += result.numel() // weight.shape[0] * weight.numel()
        elif isinstance(module, nn.MultiheadAttention):
            total += given[0].numel() // module.embed_dim * (module.in_proj_weight.numel() + module.out_proj.weight.numel())
        elif isinstance(module, (nn.LSTM, nn.GRU)):
            rows = given[0].shape[0] * given[0].shape[1]
            total += sum(rows * weight.numel() for name, weight in module.named_parameters() if name.startswith("weight"))

    hooks = [module.register_forward_hook(see) for module in model.modules()]
    model(*inputs)
    for hook in hooks:
        hook.remove()
    return total


def inference(model, inputs, without_gradients):
    def step():
        with without_gradients():
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


def problem(name, mode, batch):
    torch.manual_seed(1)
    return networks.problem(name, mode, int(batch))


def check(step, mode, variant, result):
    """In training a loss only has to be finite: what it is depends on the dropout."""
    if mode == "train":
        return 0.0 if bool(step().isfinite().all()) else sys.exit("the loss is not finite")
    found = step()
    return child.compare((found.to_dense() if found.is_mkldnn else found).float(), result, variant == "eager", variants.VARIANTS[variant].dtype)


def measure(name, mode, batch, variant, threads, result):
    torch.set_num_threads(int(threads))
    torch.set_flush_denormal(True)
    model, inputs, loss_of, optimizer_of = problem(name, mode, batch)
    facts = {"params": sum(parameter.numel() for parameter in model.parameters())}
    change, without_gradients = variants.VARIANTS[variant].change, variants.VARIANTS[variant].without_gradients
    if mode == "train":
        model, inputs = change(model.train(), inputs)
        step = training(model, inputs, loss_of, optimizer_of(model.parameters()))
    else:
        model.eval()
        with without_gradients():
            facts["flop"] = 2 * multiply_adds(model, inputs) if mode == "infer" and variant == "eager" else 0
            model, inputs = change(model, inputs)
        step = inference(model, inputs, without_gradients)
    if mode != "train" and variant == "eager":
        save(inputs, result)
    if variants.VARIANTS[variant].dtype == "int8":
        facts["note"] = child.stays(variants.left_in_f32(model))
    facts["difference"] = check(step, mode, variant, result)
    child.serve(step, facts)


def save(inputs, path):
    """In a file beside a result or a model. Returns their names."""
    named = {f"input{i}": value.numpy() for i, value in enumerate(inputs)}
    numpy.savez(f"{path}.npz", **named)
    return list(named)


class Converted(nn.Module):
    """In bf16 behind inputs and a result in f32."""

    def __init__(self, model):
        super().__init__()
        self.model = model.to(torch.bfloat16)

    def forward(self, *inputs):
        return self.model(*variants.converted(inputs)).float()


def export(name, mode, batch, path, dtype):
    model, inputs, _, _ = problem(name, mode, batch)
    names = save(inputs, path)
    model = Converted(model) if dtype == "bf16" else model
    if hasattr(torch.backends, "mha"):
        torch.backends.mha.set_fastpath_enabled(False)  # it has no form in ONNX
    # Later versions have a second exporter, and take it unless they are told not to.
    traced = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    with torch.no_grad():
        torch.onnx.export(model.eval(), tuple(inputs), path, input_names=names, output_names=["result"], opset_version=17,
                          do_constant_folding=True, **traced)
    print(json.dumps({}))


def blas():
    """The BLAS that is loaded."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        paths = {line.split()[-1] for line in file if "/" in line}
    found = sorted(path for path in paths if "libopenblas" in path) or sorted(path for path in paths if "blas" in path.rsplit("/", 1)[-1])
    return found[0] if found else ""


def facts():
    config = torch.__config__.show() + torch.__config__.parallel_info()
    words = ("MKL-DNN", "OpenMP", "CPU capability", "BLAS_INFO", "parallel backend")
    lines = dict.fromkeys(line.strip(" -") for line in config.splitlines() if any(word in line for word in words))
    torch.ones(2, 2) @ torch.ones(2, 2)
    return {
        "version": torch.__version__,
        "mkldnn": torch.backends.mkldnn.is_available(),
        "config": [line for line in lines if len(line) < 120],
        "blas": blas(),
        "variants": variants.available(),
    }


def rate():
    """GB/s of reading, in loops of PyTorch's own on values that the caches hold."""
    torch.set_num_threads(1)
    x, best = torch.randn(64, 1024), float("inf")
    with torch.inference_mode():
        for _ in range(50):
            start = time.perf_counter()
            nn.functional.gelu(nn.functional.layer_norm(x, (1024,)) + x)
            best = min(best, time.perf_counter() - start)
    capability = next((line for line in torch.__config__.show().splitlines() if "CPU capability" in line), "? ?").split()[-1]
    return {"name": capability, "rate": x.numel() * 4e-9 / best}


if __name__ == "__main__":
    if sys.argv[1] == "facts":
        print(json.dumps(facts()))
    elif sys.argv[1] == "rate":
        print(json.dumps(rate()))
    elif sys.argv[1] == "export":
        export(*sys.argv[2:])
    else:
        measure(*sys.argv[1:])
