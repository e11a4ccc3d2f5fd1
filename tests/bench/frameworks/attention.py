"""BERT and a decoding step of GPT-2 in PyTorch, in the style of user scripts, for torch_child.py: the networks that paradnn's family
transformer builds from its presets bert-base and gpt2. Keys and values of earlier tokens are in full-length caches,
whose last row a step writes.

B sequences, n tokens of each, P of them masked, H width, h heads, d = H/h, V vocabulary."""

import math

import torch
from torch import nn
from torch.nn import functional

HIDDEN, HEADS, DROPOUT = 768, 12, 0.1
BERT_WORDS, BERT_POSITIONS, TYPES = 30522, 512, 2
GPT2_WORDS, GPT2_POSITIONS = 50257, 1024


def split_heads(qkv):
    """(B, n, 3H) into three of (B, h, n, d)."""
    return qkv.view(*qkv.shape[:2], 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.projection = nn.Linear(HIDDEN, HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, q, k, v, bias=None):
        scores = q @ k.transpose(-1, -2) / math.sqrt(HIDDEN // HEADS)
        if bias is not None:
            scores = scores + bias
        x = self.dropout(functional.softmax(scores, dim=-1)) @ v
        return self.projection(x.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """The parts of a layer of either network."""

    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.ffn1, self.ffn2 = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)


class BertLayer(Layer):
    def forward(self, x, bias):
        q, k, v = split_heads(self.attention.qkv(x))
        x = self.norm1(x + self.dropout(self.attention(q, k, v, bias)))
        return self.norm2(x + self.dropout(self.ffn2(functional.gelu(self.ffn1(x)))))


class Encoder(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(BertLayer() for _ in range(layers))

    def forward(self, x, bias):
        for layer in self.layers:
            x = layer(x, bias)
        return x


class LibraryEncoder(nn.Module):
    """The same layers as PyTorch's own modules, which take a C++ path in inference. Padding tokens are computed, as in all other variants;
    a nested tensor would skip them."""

    def __init__(self, encoder):
        super().__init__()
        layer = nn.TransformerEncoderLayer(HIDDEN, HEADS, 4 * HIDDEN, DROPOUT, "gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, len(encoder.layers), enable_nested_tensor=False)
        for library, own in zip(self.encoder.layers, encoder.layers):
            library.self_attn.in_proj_weight, library.self_attn.in_proj_bias = own.attention.qkv.weight, own.attention.qkv.bias
            library.self_attn.out_proj.weight, library.self_attn.out_proj.bias = own.attention.projection.weight, own.attention.projection.bias
            library.norm1, library.norm2, library.linear1, library.linear2 = own.norm1, own.norm2, own.ffn1, own.ffn2

    def forward(self, x, bias):
        return self.encoder(x, src_key_padding_mask=bias[:, 0, 0] < 0)


class Bert(nn.Module):
    """Inference returns the pooler's result; training adds the pretraining heads."""

    def __init__(self, layers):
        super().__init__()
        self.words, self.positions = nn.Embedding(BERT_WORDS, HIDDEN), nn.Embedding(BERT_POSITIONS, HIDDEN)
        self.types = nn.Embedding(TYPES, HIDDEN)
        self.norm, self.dropout = nn.LayerNorm(HIDDEN), nn.Dropout(DROPOUT)
        self.encoder = Encoder(layers)
        self.pooler = nn.Linear(HIDDEN, HIDDEN)

    def encode(self, ids, types, bias):
        x = self.words(ids) + self.positions(torch.arange(ids.shape[1])) + self.types(types)
        x = self.encoder(self.dropout(self.norm(x)), bias)
        return x, torch.tanh(self.pooler(x[:, 0]))

    def forward(self, ids, types, bias):
        return self.encode(ids, types, bias)[1]


class PretrainedBert(Bert):
    def __init__(self, layers):
        super().__init__(layers)
        self.transform, self.transform_norm = nn.Linear(HIDDEN, HIDDEN), nn.LayerNorm(HIDDEN)
        self.word_bias = nn.Parameter(torch.zeros(BERT_WORDS))
        self.next_sentence = nn.Linear(HIDDEN, 2)

    def forward(self, ids, types, bias, masked):
        """Scores of the masked words, (B*P, V), and of the next sentence, (B, 2)."""
        x, pooled = self.encode(ids, types, bias)
        x = self.transform_norm(functional.gelu(self.transform(x.flatten(0, 1)[masked])))
        return functional.linear(x, self.words.weight, self.word_bias), self.next_sentence(pooled)


class Gpt2Layer(Layer):
    def forward(self, x, keys, values):
        q, k, v = split_heads(self.attention.qkv(self.norm1(x)))
        keys[:, :, -1:] = k
        values[:, :, -1:] = v
        x = x + self.attention(q, keys, values)
        return x + self.ffn2(functional.gelu(self.ffn1(self.norm2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    """One more token."""

    def __init__(self, layers):
        super().__init__()
        self.words, self.positions = nn.Embedding(GPT2_WORDS, HIDDEN), nn.Embedding(GPT2_POSITIONS, HIDDEN)
        self.layers = nn.ModuleList(Gpt2Layer() for _ in range(layers))
        self.norm = nn.LayerNorm(HIDDEN)

    def forward(self, ids, position, *caches):
        """ids (B, 1), position (1); caches: for every layer the keys, then the values, (B, h, context, d)."""
        x = self.words(ids) + self.positions(position)
        for layer, keys, values in zip(self.layers, caches[::2], caches[1::2]):
            x = layer(x, keys, values)
        return functional.linear(self.norm(x), self.words.weight)


def bert_inputs(batch, length):
    ids, types = torch.randint(BERT_WORDS, (batch, length)), torch.randint(TYPES, (batch, length))
    ends = torch.randint(1, length + 1, (batch, 1))
    padding = torch.arange(length) >= ends
    return ids, types, padding[:, None, None] * -10000.0


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=1e-4)


def pretraining(layers, batch, length):
    predictions = (length * 5 + 31) // 32
    masked = torch.cat([torch.randperm(length)[:predictions].sort()[0] + i * length for i in range(batch)])
    words, following = torch.randint(BERT_WORDS, masked.shape), torch.randint(2, (batch,))

    def loss_of(result):
        return functional.cross_entropy(result[0], words) + functional.cross_entropy(result[1], following)

    return PretrainedBert(layers), (*bert_inputs(batch, length), masked), loss_of, adamw


def problem(name, mode, batch):
    """Model, inputs and, for training, the function from result to loss and an optimizer. NETWORK-LAYERS-LENGTH; for gpt2 the length is
    that of its caches."""
    network, layers, length = name.split("-")
    layers, length = int(layers), int(length)
    if mode == "train":
        return pretraining(layers, batch, length)
    if network == "bert":
        return Bert(layers), bert_inputs(batch, length), None, None
    caches = [torch.randn(batch, HEADS, length, HIDDEN // HEADS) for _ in range(2 * layers)]
    return Gpt2(layers), (torch.randint(GPT2_WORDS, (batch, 1)), torch.tensor([length - 1]), *caches), None, None


def library(model, inputs):
    model.encoder = LibraryEncoder(model.encoder).eval()
    return model, inputs
