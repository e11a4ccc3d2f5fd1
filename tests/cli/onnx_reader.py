#!/usr/bin/env python3
"""What other programs say of exported networks; started by export_test.py, in processes of their own, since onnx and ONNX Runtime are not
for one process.

Usage: onnx_reader.py onnx FILE...            by onnx's checker and shape inference
       onnx_reader.py onnxruntime DIRECTORY... runs DIRECTORY/network.onnx on the values beside it
       onnx_reader.py MODULE                   does nothing if there is the module
A line of JSON each: what is wrong, or the shapes and the checked shapes of the results; the largest difference of a result over its
largest value."""

import json
import os
import sys

TYPES = {"tensor(float)": "float32", "tensor(int32)": "int32"}


def shape_of(value):
    return [size.dim_value for size in value.type.tensor_type.shape.dim]


def check(path):
    import onnx
    onnx.checker.check_model(path)
    graph = onnx.load(path, load_external_data=False)
    inferred = onnx.shape_inference.infer_shapes(graph, strict_mode=True).graph
    nodes = {}
    for node in graph.graph.node:
        nodes[node.op_type] = nodes.get(node.op_type, 0) + 1
    return {"nodes": nodes, "shape": [shape_of(each) for each in inferred.output], "said": [shape_of(each) for each in graph.graph.output]}


def run(directory):
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(os.path.join(directory, "network.onnx"), options, providers=["CPUExecutionProvider"])
    values = {each.name: numpy.fromfile(os.path.join(directory, each.name), TYPES[each.type]).reshape(each.shape) for each in session.get_inputs()}
    names, differences = [each.name for each in session.get_outputs() if each.name.startswith("result")], []
    for name, result in zip(names, session.run(names, values)):
        expected = numpy.fromfile(os.path.join(directory, name), result.dtype).reshape(result.shape)
        differences.append(float(numpy.abs(result - expected).max() / numpy.abs(expected).max()))
    return {"difference": max(differences)}


if __name__ == "__main__":
    if not getattr(__import__(sys.argv[1]), "__file__", None):  # a folder of that name, as of onnx's test data alone
        sys.exit(f"no module {sys.argv[1]}")
    for path in sys.argv[2:]:
        try:
            print(json.dumps((check if sys.argv[1] == "onnx" else run)(path)), flush=True)
        except Exception as error:  # pylint: disable=broad-except
            print(json.dumps({"wrong": f"{type(error).__name__}: {error}"[:400]}), flush=True)
