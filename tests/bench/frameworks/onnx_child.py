#!/usr/bin/env python3
"""A network that torch_child.py exported, through ONNX Runtime on the CPU; started by contenders.py.

Usage: onnx_child.py MODEL THREADS RESULT
       onnx_child.py facts
The model's inputs are beside it, in MODEL.npz. RESULT: as in torch_child.py. Then as child.py describes."""

import json
import os
import sys

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


def bind(session, inputs):
    """Inputs and outputs stay where they are: no copies in a step. The binding only borrows the inputs."""
    binding = session.io_binding()
    for each in session.get_inputs():
        binding.bind_ortvalue_input(each.name, onnxruntime.OrtValue.ortvalue_from_numpy(inputs[each.name]))
    for each in session.get_outputs():
        binding.bind_output(each.name)
    return binding


def measure(model, threads, result):
    session = session_of(model, int(threads))
    with numpy.load(f"{model}.npz") as file:
        inputs = dict(file)
    binding = bind(session, inputs)

    def step():
        session.run_with_iobinding(binding)

    step()
    found = child.compare(binding.copy_outputs_to_cpu()[0], result, leaves=False)
    child.serve(step, {"difference": found})


if __name__ == "__main__":
    if sys.argv[1:] == ["facts"]:
        print(json.dumps({"version": onnxruntime.__version__, "provider": OWN}))
    else:
        measure(*sys.argv[1:])
