#!/usr/bin/env python3
"""Networks as torch.onnx.export writes them, and what paradnn makes of them: a table in Markdown.

Usage: onnx_exports.py PARADNN DIR [--max-flop N] [--only PATTERN]... [NAME...]

Each network is exported to DIR/NAME.onnx (opset 17, a free batch) in a process of its own, which also counts parameters and multiply-adds
as PyTorch has them, unless the file is there. Then the program reads it: parameters, multiply-adds of products at batch 1 and 8, operators
that are left of the nodes, and `paradnn check` of a step of inference at batch 1. What is refused has its line instead. Exits with 77 if an
export is missing and there is no PyTorch, with torchvision and transformers, to make it; with 1 if a count differs or a check fails."""

import argparse
import csv
import fnmatch
import json
import os
import re
import subprocess
import sys
import time
from math import prod

sys.dont_write_bytecode = True
SKIPPED = 77
BATCHES = (1, 8)


def vision(name, *size, group="", **options):
    def make():
        import torch
        import torchvision
        module = getattr(torchvision.models, group) if group else torchvision.models
        weights = {"weights": None} | ({"weights_backbone": None} if group else {})
        return getattr(module, name)(**weights, **options), {"image": torch.randn(2, 3, *(size or (224, 224)))}
    return make


def words(name, length, vocabulary, is_masked=False, **options):
    """name: a configuration of transformers, whose defaults are the published base size, and a model."""
    def make():
        import torch
        import transformers
        config = getattr(transformers, name[0])(**options)
        model = getattr(transformers, name[1])(config)
        inputs = {"input_ids": torch.randint(vocabulary, (2, length))} | ({"attention_mask": torch.ones(2, length, dtype=torch.int64)} if is_masked else {})
        return wrapped(model, *inputs), inputs
    return make


def whisper():
    import torch
    import transformers
    config = transformers.WhisperConfig(d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6, decoder_attention_heads=6,
                                        encoder_ffn_dim=1536, decoder_ffn_dim=1536)
    return wrapped(transformers.WhisperModel(config).get_encoder(), "input_features"), {"input_features": torch.randn(2, 80, 3000)}


def wrapped(model, *names):
    """A module that gives a model of transformers its inputs by name, and whose result is the first of the model's."""
    from torch import nn

    class Only(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, *inputs):
            return self.inner(**dict(zip(names, inputs)), return_dict=False)[0]

    return Only()


def recurrent(cell):
    """Word ids, two layers, both ways for LSTM, the last step's class."""
    def make():
        import torch
        from torch import nn

        class Tagger(nn.Module):
            def __init__(self):
                super().__init__()
                self.words = nn.Embedding(10000, 256)
                self.stack = getattr(nn, cell)(256, 512, 2, batch_first=True, bidirectional=cell == "LSTM")
                self.output = nn.Linear(1024 if cell == "LSTM" else 512, 20)

            def forward(self, ids):
                return self.output(self.stack(self.words(ids))[0][:, -1])

        return Tagger(), {"ids": torch.randint(10000, (2, 64))}
    return make


def encoder():
    """PyTorch's own layer."""
    import torch
    from torch import nn
    layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    return nn.TransformerEncoder(layer, 3, enable_nested_tensor=False), {"x": torch.randn(2, 64, 256)}


def dlrm():
    """Dot products of 8 embeddings with each other and with the dense features."""
    import torch
    from torch import nn

    class Dlrm(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList(nn.Embedding(1000 * (i + 1), 64) for i in range(8))
            self.bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU())
            self.top = nn.Sequential(nn.Linear(64 + 81, 256), nn.ReLU(), nn.Linear(256, 1))

        def forward(self, x, ids):
            low = self.bottom(x)
            rows = torch.stack([low] + [table(ids[:, i]) for i, table in enumerate(self.tables)], 1)
            return self.top(torch.cat([low, torch.bmm(rows, rows.transpose(1, 2)).flatten(1)], 1))

    return Dlrm(), {"x": torch.randn(2, 13), "ids": torch.randint(1000, (2, 8))}


def unet():
    import torch
    from torch import nn

    def conv(inputs, outputs):
        return nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()

    def twice(inputs, outputs):
        return nn.Sequential(*conv(inputs, outputs), *conv(outputs, outputs))

    class Unet(nn.Module):
        def __init__(self, widths=(32, 64, 128, 256)):
            super().__init__()
            self.down = nn.ModuleList(twice(a, b) for a, b in zip((3,) + widths, widths))
            self.grow = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
            self.up = nn.ModuleList(twice(2 * a, a) for a in widths[:-1])
            self.output = nn.Conv2d(widths[0], 5, 1)

        def forward(self, x):
            kept = []
            for down in self.down:
                x = down(nn.functional.max_pool2d(x, 2) if kept else x)
                kept.append(x)
            for i in reversed(range(len(self.up))):
                x = self.up[i](torch.cat([kept[i], self.grow[i](x)], 1))
            return self.output(x)

    return Unet(), {"image": torch.randn(2, 3, 128, 128)}


def tcn():
    """Dilated causal convolutions over time."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inputs, outputs, dilation):
            super().__init__()
            self.pad, self.conv = nn.ConstantPad1d((2 * dilation, 0), 0.0), nn.Conv1d(inputs, outputs, 3, dilation=dilation)
            self.skip = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

        def forward(self, x):
            return torch.relu(torch.relu(self.conv(self.pad(x))) + self.skip(x))

    blocks = [Block(40 if not i else 128, 128, 1 << i) for i in range(5)]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(128, 30)), {"x": torch.randn(2, 40, 200)}


def mixer():
    """MLP-Mixer S/32."""
    import torch
    from torch import nn

    class Layer(nn.Module):
        def __init__(self, patches, width):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.tokens = nn.Sequential(nn.Linear(patches, 256), nn.GELU(), nn.Linear(256, patches))
            self.channels = nn.Sequential(nn.Linear(width, 2048), nn.GELU(), nn.Linear(2048, width))

        def forward(self, x):
            x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
            return x + self.channels(self.norm2(x))

    class Mixer(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 512, 32, 32)
            self.layers = nn.Sequential(*(Layer(49, 512) for _ in range(8)), nn.LayerNorm(512))
            self.output = nn.Linear(512, 1000)

        def forward(self, x):
            return self.output(self.layers(self.stem(x).flatten(2).transpose(1, 2)).mean(1))

    return Mixer(), {"image": torch.randn(2, 3, 224, 224)}


NETWORKS = {name: vision(name) for name in (
    "alexnet", "resnet18", "resnet50", "resnext50_32x4d", "densenet121", "mobilenet_v2", "mobilenet_v3_large", "shufflenet_v2_x1_0", "squeezenet1_0",
    "efficientnet_b0", "regnet_y_400mf", "mnasnet1_0", "convnext_tiny", "vit_b_16", "swin_t")}
NETWORKS |= {
    "googlenet": vision("googlenet", aux_logits=False, init_weights=False),
    "inception_v3": vision("inception_v3", 299, 299, aux_logits=False, init_weights=False),
    "fcn_resnet50": vision("fcn_resnet50", group="segmentation"), "deeplabv3_resnet50": vision("deeplabv3_resnet50", group="segmentation"),
    "lraspp_mobilenet_v3_large": vision("lraspp_mobilenet_v3_large", group="segmentation"),
    "ssdlite320_mobilenet_v3_large": vision("ssdlite320_mobilenet_v3_large", 320, 320, group="detection"),
    "retinanet_resnet50_fpn": vision("retinanet_resnet50_fpn", group="detection"),
    "bert_base": words(("BertConfig", "BertModel"), 128, 30522), "gpt2": words(("GPT2Config", "GPT2Model"), 128, 50257, is_masked=True, use_cache=False),
    "distilbert": words(("DistilBertConfig", "DistilBertModel"), 128, 30522), "t5_small_encoder": words(("T5Config", "T5EncoderModel"), 128, 32128),
    "whisper_tiny_encoder": whisper, "lstm": recurrent("LSTM"), "encoder": encoder,
}
OWN = {"dlrm": dlrm, "unet": unet, "tcn": tcn, "gru": recurrent("GRU"), "mlp_mixer": mixer}
NETWORKS |= OWN


def network(name):
    """The model, in the mode of inference, and its inputs. No two weights are the same, or the exporter would keep one of them."""
    import torch
    torch.manual_seed(1)
    model, inputs = NETWORKS[name]()
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.01 * torch.randn_like(weight)
    return model.eval(), inputs


def flop_of(model, inputs, batch):
    """Of PyTorch's products, from shapes alone; without the fast paths that it does not count."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode
    given = [torch.cat([x[:1]] * batch) for x in inputs.values()]
    with torch.backends.mkldnn.flags(enabled=False), sdpa_kernel(SDPBackend.MATH), torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(*given)
    return counter.get_total_flops()


def export(name, directory):
    """Normalization is kept: in the mode of inference, but neither fused nor folded. Nor are Swin's tables of relative positions."""
    import torch
    torch.backends.mha.set_fastpath_enabled(False)
    model, inputs = network(name)
    facts = {"params": sum(p.numel() for p in model.parameters()), "reason": ""}
    begin = time.perf_counter()
    folds = not name.startswith("swin") and not any(isinstance(module, torch.nn.modules.batchnorm._BatchNorm) for module in model.modules())
    kept = {} if folds else {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
    path = os.path.join(directory, f"{name}.onnx")
    try:
        torch.onnx.export(model, tuple(inputs.values()), path, opset_version=17, dynamo=False, input_names=list(inputs),
                          dynamic_axes={key: {0: "batch"} for key in inputs}, **kept)
    except Exception as error:  # whatever an exporter may say
        facts["reason"] = (str(error).strip() or type(error).__name__).splitlines()[0]
    facts["export_s"] = round(time.perf_counter() - begin, 1)
    facts["flop"] = [flop_of(model, inputs, batch) for batch in BATCHES] if not facts["reason"] else []
    with open(os.path.join(directory, f"{name}.json"), "w", encoding="utf-8") as file:
        json.dump(facts, file)


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def facts_of(name, directory):
    path = os.path.join(directory, f"{name}.json")
    if not os.path.exists(path):
        done = call(sys.executable, __file__, "--export", name, directory)
        if not os.path.exists(path):
            last = (done.stderr.strip().splitlines() or ["nothing said"])[-1]
            print(f"skipped: {name} cannot be made here: {last}")
            sys.exit(SKIPPED)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def multiply_adds(operator):
    """Of an operator as `paradnn ops` writes it, in inference: kind/forward/shapes,attributes."""
    kind, _, rest = re.search(r"isa=\S+ (\w+)/(\w+)/(\S+)", operator).groups()
    shapes, *given = rest.split(",")
    attr = dict(word.split("=") for word in given if "=" in word)
    shapes = [[int(size) for size in shape.split("x")] for shape in shapes.split("@")[0].split(":")]
    rules = {
        "conv2d": lambda x, w, *_: prod(shapes[-1]) * prod(w[1:]),
        "conv_transpose2d": lambda x, w, *_: prod(x) * prod(w[1:]),
        "dense": lambda x, w, *_: prod(x) * w[0],
        "matmul": lambda a, b, y: prod(a if "y_width" in attr else y) * (int(attr["width"]) if len(b) == 2 else a[1 if "transpose_a" in attr else 2]),
        "rnn": lambda x, w, u, *_: x[0] * (prod(w) + prod(u)),
    }
    return rules[kind](*shapes) if kind in rules else 0


def products(program, model):
    done = call(program, "ops", f"{model},mode=infer,backend=reference,threads=1", "--format", "csv")
    return sum(int(row["runs"]) * multiply_adds(row["operator"]) for row in csv.DictReader(done.stdout.splitlines()))


def verdict(program, model, limit):
    done = call(program, "check", f"{model},batch=1,mode=infer", "--max-flop", limit)
    said = (done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["nothing said"])
    return {0: "runs"}.get(done.returncode) if "1 passed" in done.stderr else next((line for line in said if "FAIL" in line), said[-1])


def describe(program, name, directory, options):
    """The row, and whether anything is wrong."""
    facts = facts_of(name, directory)
    if facts["reason"]:
        return [name, "", "", "", "", "", f"torch.onnx.export: {facts['reason'][:120]}"], False
    model, family = os.path.join(directory, f"{name}.onnx"), os.path.join(directory, f"{name}.yaml")
    done = call(program, "import", model, "-o", family, "--loss", "none")
    listed = call(program, "list", f"{family},mode=infer", "--format", "csv")
    if done.returncode or listed.returncode:
        done = done if done.returncode else listed
        return [name, f"{facts['params']:,}", *(f"{flop // 2:,}" for flop in facts["flop"]), "", "", done.stderr.strip().replace(directory, "")], False
    nodes, left = re.search(r"(\d+) nodes became (\d+)", done.stderr).groups()
    row = next(csv.DictReader(listed.stdout.splitlines()))
    both = [(int(row["params"]), facts["params"])]
    both += [(products(program, f"{family},batch={batch}"), flop // 2) for batch, flop in zip(BATCHES, facts["flop"])]
    said = verdict(program, family, options.max_flop)
    cells = [f"{ours:,}" + (f" ({theirs:,})" if ours != theirs else "") for ours, theirs in both]
    return [name, *cells, nodes, left, said], any(a != b for a, b in both) or said != "runs"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", metavar="PARADNN")
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("patterns", metavar="NAME", nargs="*", default=["*"], help="or a pattern")
    parser.add_argument("--max-flop", default="1e11", help="of what is checked")
    options = parser.parse_args()
    os.makedirs(options.directory, exist_ok=True)
    print("| network | parameters | multiply-adds, batch 1 | batch 8 | nodes | operators | inference |\n|---|---|---|---|---|---|---|")
    wrong = 0
    for name in [name for name in NETWORKS if any(fnmatch.fnmatch(name, pattern) for pattern in options.patterns or ["*"])]:
        row, is_wrong = describe(os.path.abspath(options.program), name, os.path.abspath(options.directory), options)
        wrong += is_wrong
        print(f"| {' | '.join(row)} |", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--export"]:
        export(*sys.argv[2:])
    else:
        main()
