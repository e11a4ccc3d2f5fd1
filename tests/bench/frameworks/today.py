"""Networks of today in PyTorch, for torch_child.py: torchvision's own image networks, LLaMA's layers as user scripts write them, and DLRM.

B sequences, n tokens of each, H width, h heads of queries, g of keys and values, d = H/h."""

import torch
from torch import nn
from torch.nn import functional

HIDDEN, HEADS, KV_HEADS, FFN, WORDS = 2048, 32, 8, 8192, 1000
WIDTH = HIDDEN // HEADS


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


class LlamaLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = RmsNorm(), RmsNorm()
        self.qkv = nn.Linear(HIDDEN, (HEADS + 2 * KV_HEADS) * WIDTH, bias=False)
        self.projection = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.gate, self.up = nn.Linear(HIDDEN, FFN, bias=False), nn.Linear(HIDDEN, FFN, bias=False)
        self.down = nn.Linear(FFN, HIDDEN, bias=False)

    def forward(self, x, cosine, sine, caches):
        rows = x.shape[:2]
        qkv = self.qkv(self.norm1(x)).view(*rows, HEADS + 2 * KV_HEADS, WIDTH).transpose(1, 2)
        turned, values = qkv.split((HEADS + KV_HEADS, KV_HEADS), dim=1)
        low, high = turned.chunk(2, dim=-1)
        turned = turned * cosine + torch.cat((-high, low), dim=-1) * sine
        q, keys = turned.split((HEADS, KV_HEADS), dim=1)
        if caches:
            caches[0][:, :, -1:], caches[1][:, :, -1:] = keys, values
            keys, values = caches
        y = functional.scaled_dot_product_attention(q, keys, values, is_causal=not caches, enable_gqa=True)
        x = x + self.projection(y.transpose(1, 2).flatten(2))
        z = self.norm2(x)
        return x + self.down(functional.silu(self.gate(z)) * self.up(z))


class Llama(nn.Module):
    """All tokens of a prompt, or, with caches, one more."""

    def __init__(self, layers):
        super().__init__()
        self.words = nn.Embedding(WORDS, HIDDEN)
        self.layers = nn.ModuleList(LlamaLayer() for _ in range(layers))
        self.norm = RmsNorm()
        self.output = nn.Linear(HIDDEN, WORDS, bias=False)

    def forward(self, ids, cosine, sine, *caches):
        """ids (B, n), cosine and sine (n, d); caches: for every layer the keys, then the values, (B, g, context, d)."""
        x = self.words(ids)
        for i, layer in enumerate(self.layers):
            x = layer(x, cosine, sine, caches[2 * i:2 * i + 2])
        return self.output(self.norm(x))


def llama(layers, length, mode, batch):
    tokens = 1 if mode == "decode" else length
    angles = torch.arange(length - tokens, length)[:, None] * 1e4 ** (-torch.arange(0, WIDTH, 2) / WIDTH)
    angles = torch.cat((angles, angles), dim=-1)
    caches = [torch.randn(batch, KV_HEADS, length, WIDTH) for _ in range(2 * layers)] if mode == "decode" else []
    return Llama(layers), (torch.randint(WORDS, (batch, tokens)), angles.cos(), angles.sin(), *caches)


# Criteo's tables, whose rows a case caps.
TABLES = (39884406, 39043, 17289, 7420, 20263, 3, 7120, 1543, 63, 38532951, 2953546, 403346, 10, 2208, 11938, 155, 4, 976, 14, 39979771, 25641295,
          39664984, 585935, 12972, 108, 36)
DIM, FEATURES = 128, 13


def mlp(*widths):
    layers = [layer for inputs, outputs in zip(widths, widths[1:]) for layer in (nn.Linear(inputs, outputs), nn.ReLU())]
    return nn.Sequential(*layers)


class Dlrm(nn.Module):
    def __init__(self, cap):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(min(rows, cap), DIM, mode="sum") for rows in TABLES)
        self.bottom, n = mlp(FEATURES, 512, 256, DIM), len(TABLES) + 1
        self.top = nn.Sequential(*mlp(DIM + n * (n - 1) // 2, 1024, 1024, 512, 256), nn.Linear(256, 1))
        self.pairs = torch.tril_indices(n, n, -1)

    def forward(self, features, *ids):
        low = self.bottom(features)
        vectors = torch.stack([low] + [table(each) for table, each in zip(self.tables, ids)], dim=1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return torch.sigmoid(self.top(torch.cat((low, products), dim=1)))


def dlrm(cap, pooling, batch):
    return Dlrm(cap), (torch.randn(batch, FEATURES), *(torch.randint(min(rows, cap), (batch, pooling)) for rows in TABLES))


def vision(name, batch):
    import torchvision  # only these cases need it
    return getattr(torchvision.models, name)(weights=None), (torch.randn(batch, 3, 224, 224),)


def problem(name, mode, batch):
    """Model and inputs of an inference: vision-NAME, llama-LAYERS-LENGTH (decoding: of its caches), dlrm-CAP-POOLING."""
    kind, *words = name.split("-")
    if kind == "vision":
        return vision(words[0], batch)
    first, second = map(int, words)
    return llama(first, second, mode, batch) if kind == "llama" else dlrm(first, second, batch)
