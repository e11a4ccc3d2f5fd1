#!/usr/bin/env python3
"""A network that torch_child.py or paradnn exported, through ONNX Runtime on the CPU; started by contenders.py.

Usage: onnx_child.py MODEL TYPE THREADS RESULT [JSON]
       onnx_child.py facts
The inputs of a model of PyTorch are beside it, in MODEL.npz, or, of any file, in RESULT.npz; those of paradnn are drawn as the model says, and
otherwise as JSON does: {"sizes": {AXIS: N}, "fills": {INPUT: "zipf 50257"}}. RESULT: as in torch_child.py, or empty, where weights are
others than PyTorch's. TYPE: of the arithmetic; for int8 the model, which is in f32, is quantized here. Then as child.py describes."""

import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True

import numpy  # noqa: E402: after dont_write_bytecode
import onnxruntime  # noqa: E402

import child  # noqa: E402
import host  # noqa: E402

# Its own kernels.
OWN = "CPUExecutionProvider"


def session_of(model, threads):
    """Its threads are its own, so they are bound by its own option: the caller's is on the first core, each other one on the next."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    cores = host.cores()[:threads]
    if threads > 1:
        options.add_session_config_entry("session.intra_op_thread_affinities", ";".join(str(core + 1) for core in cores[1:]))
    session = onnxruntime.InferenceSession(model, options, providers=[OWN])
    os.sched_setaffinity(0, cores[:1])
    return session


class Calibration:
    """Values to find the scales of activations with: those of the inputs, once."""

    def __init__(self, inputs):
        self.left = iter([inputs])

    def get_next(self):
        return next(self.left, None)


def quantize(model, inputs, path):
    """Writes the model in int8 to the path: weights with a scale for each channel, operators between pairs that quantize and dequantize, which
    is ONNX Runtime's own advice, as is to optimize the model before, which folds batch normalization."""
    from onnxruntime import quantization
    from onnxruntime.quantization import shape_inference
    folded = f"{path}.folded"
    shape_inference.quant_pre_process(model, folded, skip_symbolic_shape=True, save_as_external_data=True,
                                      all_tensors_to_one_file=True)
    quantization.quantize_static(folded, path, Calibration(inputs), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
                                 activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8,
                                 use_external_data_format=True)


PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN")


def left_in_f32(path):
    """The kinds of the products that quantization did not touch."""
    import onnx
    graph = onnx.load(path, load_external_data=False).graph
    maker = {name: node.op_type for node in graph.node for name in node.output}
    return [node.op_type for node in graph.node if node.op_type in PRODUCTS and "DequantizeLinear" not in map(maker.get, node.input)]


def masked(draw, shape, rows):
    """Different rows of each sequence, in ascending order."""
    return [numpy.sort(draw.choice(rows, shape[1], replace=False)) + sequence * rows for sequence in range(shape[0])]


# Values by the words of paradnn's families; the second argument is the scale.
FILLS = {
    "uniform": lambda draw, scale, shape: draw.uniform(-scale, scale, shape),
    "near_one": lambda draw, scale, shape: 1 + draw.uniform(-scale, scale, shape),
    "constant": lambda draw, scale, shape: numpy.full(shape, scale),
    "id": lambda draw, scale, shape: numpy.full(shape, scale),
    "class": lambda draw, scale, shape: draw.integers(0, int(scale), shape),
    "zipf": lambda draw, scale, shape: numpy.minimum(numpy.expm1(draw.random(shape) * numpy.log1p(scale)), scale - 1),
    "position": lambda draw, scale, shape: numpy.arange(numpy.prod(shape)).reshape(shape) % int(scale),
    "stride": lambda draw, scale, shape: numpy.arange(numpy.prod(shape)).reshape(shape) * int(scale),
    "masked": lambda draw, scale, shape: masked(draw, shape, int(scale)),
    "sequence_mask": lambda draw, scale, shape: numpy.where(numpy.arange(shape[-1]) < draw.integers(1, shape[-1] + 1, (*shape[:-1], 1)), 0, scale),
}
TYPES = {"tensor(float)": numpy.float32, "tensor(int32)": numpy.int32, "tensor(int64)": numpy.int64, "tensor(bool)": numpy.bool_}


def plain(name):
    """As paradnn writes names of a file."""
    return re.sub("[^A-Za-z0-9_]", "_", name)


def drawn(session, said, sizes):
    """said: of each input, "zipf 50257"; sizes: of free dimensions."""
    draw, values = numpy.random.default_rng(1), {}
    for each in session.get_inputs():
        word, scale = said.get(each.name, said.get(plain(each.name), "uniform 1")).split()
        shape = [size if isinstance(size, int) else sizes.get(plain(size), 1) for size in each.shape]
        values[each.name] = numpy.ascontiguousarray(FILLS[word](draw, float(scale), shape), TYPES[each.type])
    return values


def inputs_of(model, session, result, said):
    for path in (f"{model}.npz", f"{result}.npz"):
        if os.path.exists(path):
            with numpy.load(path) as file:
                return dict(zip((each.name for each in session.get_inputs()), file.values()))
    said = json.loads(said) if said else {"sizes": {}, "fills": session.get_modelmeta().custom_metadata_map}
    return drawn(session, said["fills"], said["sizes"])


def bind(session, inputs):
    """Inputs and outputs stay where they are: no copies in a step. The binding only borrows the inputs."""
    binding = session.io_binding()
    for each in session.get_inputs():
        binding.bind_ortvalue_input(each.name, onnxruntime.OrtValue.ortvalue_from_numpy(inputs[each.name]))
    for each in session.get_outputs():
        binding.bind_output(each.name)
    return binding


def prepare(model, dtype, threads, result, said):
    """Session, inputs, and a note."""
    if dtype != "int8":
        session = session_of(model, threads)
        return session, inputs_of(model, session, result, said), ""
    inputs = inputs_of(model, onnxruntime.InferenceSession(model, providers=[OWN]), result, said)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "int8.onnx")
        quantize(model, inputs, path)
        return session_of(path, threads), inputs, child.stays(left_in_f32(path))


def measure(model, dtype, threads, result, said=""):
    session, inputs, note = prepare(model, dtype, int(threads), result, said)
    binding = bind(session, inputs)

    def step():
        session.run_with_iobinding(binding)

    step()
    first = binding.copy_outputs_to_cpu()[0]
    child.serve(step, {"difference": child.compare(first, result, False, dtype), "elements": first.size, "note": note})


if __name__ == "__main__":
    if sys.argv[1:] == ["facts"]:
        print(json.dumps({"version": onnxruntime.__version__, "provider": OWN}))
    else:
        measure(*sys.argv[1:])
