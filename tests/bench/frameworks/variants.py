"""The ways through PyTorch. Each changes a model and its inputs; a row says in which modes, and for which families, it is a contender."""

import importlib.util
import os
import shutil
import sysconfig
from collections import namedtuple

import torch
from torch.utils import cpp_extension
from torch.utils import mkldnn as mkldnn_utils

import attention

Variant = namedtuple("Variant", "change families modes needs without_gradients", defaults=(lambda: "", torch.inference_mode))
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


def is_too_slow():
    return "" if torch.__version__.startswith("1.") else "with PyTorch 2.6 on Debian's oneDNN 3.7 a step takes minutes"


def lacks_compiler():
    if not hasattr(torch, "compile") or not importlib.util.find_spec("torch._inductor"):
        return "this PyTorch has no torch.compile"
    headers = {"ATen/NumericUtils.h": cpp_extension.include_paths() + ["/usr/include"], "Python.h": [sysconfig.get_path("include")]}
    missing = [name for name, places in headers.items() if not any(os.path.exists(os.path.join(place, name)) for place in places)]
    missing += [] if shutil.which("g++") else ["g++"]
    return f"torch.compile needs {' and '.join(missing)}" if missing else ""


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
}


def available():
    """For a family and mode, written family/mode: the variants that can run here; and why others cannot."""
    reasons = {name: variant.needs() for name, variant in VARIANTS.items()}
    usable = {}
    for name, variant in VARIANTS.items():
        for family in variant.families:
            for mode in variant.modes:
                if not reasons[name]:
                    usable.setdefault(f"{family}/{mode}", []).append(name)
    return usable | {"missing": {name: reason for name, reason in reasons.items() if reason}}
