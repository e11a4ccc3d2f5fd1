"""The networks that paradnn's families build, in PyTorch.

fc-LAYERS-NODES-INPUT-OUTPUT has ReLU layers and a linear one. ResNet v1.5 has a projection shortcut in the first block of every group
(resnet18: except the first group), VGG-16 no dropout. CELL-LAYERS-HIDDEN is word ids, an embedding, the stack and a projection of every
step to the vocabulary, trained with a loss masked by drawn lengths. Transformers are in attention.py, networks of today in today.py,
exported-NAME in onnx_exports.py."""

import torch
from torch import nn

import attention
import onnx_exports
import today

VOCABULARY, LENGTH = 1024, 50


def fully_connected(layers, nodes, inputs, outputs):
    stack = []
    for i in range(layers):
        stack += [nn.Linear(nodes if i else inputs, nodes), nn.ReLU()]
    return nn.Sequential(*stack, nn.Linear(nodes, outputs))


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


def images_problem(name, batch):
    return NETWORKS[name](), torch.randn(batch, 3, 224, 224), image_labels(batch)


def dense_problem(name, batch):
    layers, nodes, inputs, outputs = (int(word) for word in name.split("-")[1:])
    return fully_connected(layers, nodes, inputs, outputs), torch.rand(batch, inputs) * 2 - 1, torch.randint(outputs, (batch,))


def words_problem(name, batch):
    cell, layers, hidden = name.split("-")
    x = torch.randint(VOCABULARY, (LENGTH, batch))
    return Recurrent(cell, int(layers), int(hidden)), x, word_labels(x)


def problem(name, mode, batch):
    """Model, inputs and, for training, the function from result to loss and an optimizer."""
    if name.startswith("exported-"):
        model, inputs = onnx_exports.network(name[len("exported-"):])
        return model, tuple(torch.cat([x[:1]] * batch) for x in inputs.values()), None, None
    if name.startswith(("bert", "gpt2")):
        return attention.problem(name, mode, batch)
    if name.startswith(("vision", "llama", "dlrm")):
        return *today.problem(name, mode, batch), None, None
    make = images_problem if name in NETWORKS else dense_problem if name.startswith("fc") else words_problem
    model, x, labels = make(name, batch)
    loss_of = nn.CrossEntropyLoss(ignore_index=-1)
    return model, (x,), lambda result: loss_of(result, labels), sgd
