"""The ways through PyTorch. Each changes a model and its inputs; a row says in which type, in which modes, and for which families it is a
contender."""

import importlib.util
import operator
import os
import shutil
import sysconfig
from collections import namedtuple

import torch
from torch import fx, nn
from torch.utils import cpp_extension
from torch.utils import mkldnn as mkldnn_utils

import attention

Variant = namedtuple("Variant", "change families modes needs without_gradients dtype", defaults=(lambda: "", torch.inference_mode, "f32"))
ALL = ("fc", "cnn", "rnn", "transformer", "today")


def as_is(model, inputs):
    return model, inputs


def channels_last(model, inputs):
    return model.to(memory_format=torch.channels_last), tuple(x.to(memory_format=torch.channels_last) for x in inputs)


def jit(model, inputs):
    """Traced and frozen, which folds batch normalization."""
    return torch.jit.freeze(torch.jit.trace(model, inputs)), inputs


def jit_optimized(model, inputs):
    """Also run by oneDNN in its own layouts."""
    return torch.jit.optimize_for_inference(jit(model, inputs)[0]), inputs


def jit_channels_last(model, inputs):
    return jit(*channels_last(model, inputs))


def mkldnn(model, inputs):
    """Weights packed by oneDNN once, and its inner product in place of the BLAS."""
    return mkldnn_utils.to_mkldnn(model), tuple(x.to_mkldnn() for x in inputs)


def compiled(model, inputs):
    import torch._inductor.config as config
    config.freezing = not model.training
    return torch.compile(model), inputs


class Autocast(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.model(*inputs)


def autocast(model, inputs):
    """Weights stay in f32; each operator's inputs are converted to the type that PyTorch finds good for it."""
    return Autocast(model).train(model.training), inputs


def converted(inputs):
    return tuple(x.to(torch.bfloat16) if x.is_floating_point() else x for x in inputs)


def bf16(model, inputs):
    """Weights and activations."""
    return model.to(torch.bfloat16), converted(inputs)


def in_turn(*changes):
    def change(model, inputs):
        for each in changes:
            model, inputs = each(model, inputs)
        return model, inputs

    return change


def dynamic(model, inputs):
    """Weights in int8; what they are multiplied by is quantized in every step."""
    from torch.ao import quantization
    torch.backends.quantized.engine = "onednn"
    return quantization.quantize_dynamic(model, {nn.Linear, nn.LSTM, nn.GRU}, dtype=torch.qint8), inputs


def static(model, inputs):
    """Weights and activations in int8, with scales of what these inputs were seen to make. An addition in place would stay in f32."""
    from torch.ao import quantization
    from torch.ao.quantization import quantize_fx
    torch.backends.quantized.engine = "onednn"
    traced = fx.symbolic_trace(model)
    for node in traced.graph.nodes:
        node.target = operator.add if node.target is operator.iadd else node.target
    traced.recompile()
    observed = quantize_fx.prepare_fx(traced, quantization.get_default_qconfig_mapping("onednn"), inputs)
    observed(*inputs)
    return quantize_fx.convert_fx(observed), inputs


def left_in_f32(model):
    """The kinds of the layers with weights that quantization did not replace."""
    return [type(module).__name__ for module in model.modules() if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.RNNBase))]


def is_too_slow():
    return "" if torch.__version__.startswith("1.") else "with PyTorch 2.6 on Debian's oneDNN 3.7 a step takes minutes"


def lacks_compiler():
    if not hasattr(torch, "compile") or not importlib.util.find_spec("torch._inductor"):
        return "this PyTorch has no torch.compile"
    headers = {"ATen/NumericUtils.h": cpp_extension.include_paths() + ["/usr/include"], "Python.h": [sysconfig.get_path("include")]}
    missing = [name for name, places in headers.items() if not any(os.path.exists(os.path.join(place, name)) for place in places)]
    missing += [] if shutil.which("g++") else ["g++"]
    return f"torch.compile needs {' and '.join(missing)}" if missing else ""


def lacks_bf16():
    return "" if hasattr(torch, "autocast") else "this PyTorch has no autocast on the CPU"


def lacks_engine():
    try:
        from torch.ao.quantization import quantize_dynamic, quantize_fx  # noqa: F401: whether they are there
    except ImportError as error:
        return f"this PyTorch has no quantization of its own: {error}"
    engines = torch.backends.quantized.supported_engines
    return "" if "onednn" in engines else f"this PyTorch quantizes without oneDNN, by {', '.join(engines) or 'nothing'}"


# The first is PyTorch's default.
VARIANTS = {
    "eager": Variant(as_is, ALL, ("infer", "train", "decode")),
    "channels_last": Variant(channels_last, ("cnn",), ("infer", "train")),
    "jit": Variant(jit, ("fc", "rnn", "transformer", "today"), ("infer", "decode")),
    "jit_optimized": Variant(jit_optimized, ("cnn",), ("infer",), is_too_slow),
    "jit_channels_last": Variant(jit_channels_last, ("cnn",), ("infer",)),
    "mkldnn": Variant(mkldnn, ("fc",), ("infer",), without_gradients=torch.no_grad),  # it cannot do inference_mode
    "library": Variant(attention.library, ("transformer",), ("infer",)),
    "compiled": Variant(compiled, ALL, ("infer", "train", "decode"), lacks_compiler),
    "autocast": Variant(autocast, ALL, ("infer", "train", "decode"), lacks_bf16, dtype="bf16"),
    "autocast_channels_last": Variant(in_turn(channels_last, autocast), ("cnn",), ("infer", "train"), lacks_bf16, dtype="bf16"),
    "autocast_compiled": Variant(in_turn(autocast, compiled), ALL, ("infer", "train", "decode"), lacks_compiler, dtype="bf16"),
    "bf16": Variant(bf16, ALL, ("infer", "train", "decode"), dtype="bf16"),
    "bf16_channels_last": Variant(in_turn(bf16, channels_last), ("cnn",), ("infer", "train"), dtype="bf16"),
    "bf16_compiled": Variant(in_turn(bf16, compiled), ALL, ("infer", "train", "decode"), lacks_compiler, dtype="bf16"),
    "int8_dynamic": Variant(dynamic, ("fc", "rnn", "transformer", "today"), ("infer", "decode"), lacks_engine, torch.no_grad, "int8"),
    "int8_static": Variant(static, ("fc", "cnn"), ("infer",), lacks_engine, torch.no_grad, "int8"),
}


def available():
    """For a type, family and mode, written type/family/mode: the variants that can run here; by type, why others cannot."""
    usable, missing = {}, {}
    for name, variant in VARIANTS.items():
        reason = variant.needs()
        if reason:
            missing.setdefault(variant.dtype, {})[name] = reason
            continue
        for family in variant.families:
            for mode in variant.modes:
                usable.setdefault(f"{variant.dtype}/{family}/{mode}", []).append(name)
    return usable | {"missing": missing}
