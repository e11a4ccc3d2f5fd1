#!/usr/bin/env python3
"""tests/bench/frameworks without a framework: its cases exist in paradnn, libraries get their fastest kernels, ratios are of one round.
Usage: frameworks_test.py PARADNN"""

import argparse
import contextlib
import csv
import io
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "bench", "frameworks"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import contenders  # noqa: E402: after the path
import floor  # noqa: E402
import host  # noqa: E402
import needs  # noqa: E402
import run  # noqa: E402
import table  # noqa: E402
from cases import CASES, in_dtype, of_file, own  # noqa: E402

PARADNN = sys.argv.pop(1)
# Prints the rate of the kernels that the variable names: {0} of none, {1} of SkylakeX, {2} of Haswell.
PROBE = 'case $OPENBLAS_CORETYPE in SkylakeX) rate={1};; Haswell) rate={2};; *) rate={0};; esac; echo "{{\\"name\\": \\"Old\\", \\"rate\\": $rate}}"'


class Cases(unittest.TestCase):
    def test_paradnn_has_the_same_parameters(self):
        options = argparse.Namespace(paradnn=PARADNN, threads=1)
        for case in CASES.values():
            with self.subTest(case.name):
                self.assertGreater(contenders.Paradnn(case, case.fuse[0], options, "nowhere").flop, 0)

    def test_every_family_is_in_the_short_list(self):
        self.assertEqual({case.family for case in CASES.values() if case.is_main}, {"fc", "cnn", "rnn", "transformer", "today"})


    def test_any_id_is_a_case(self):
        """With its own minibatch, and without a PyTorch to count parameters like."""
        case = own("cnn:resnet18,batch=2")
        self.assertEqual((case.family, case.network, contenders.id_of(case)), ("cnn", None, "cnn:resnet18,batch=2,mode=infer"))
        self.assertIn("batch=2,", contenders.Paradnn(case, "none", argparse.Namespace(paradnn=PARADNN, threads=1), "nowhere").id)

    def test_any_file_is_a_case(self):
        """With its sizes; PyTorch has it only if it is one of those that onnx_exports.py makes."""
        case = of_file("/some/net.onnx,batch=3,length=5")
        self.assertEqual((case.name, case.network, case.file, contenders.id_of(case)),
                         ("net", None, "/some/net.onnx", "/some/net.onnx,batch=3,length=5,mode=infer"))
        case = of_file("/some/gru.onnx,batch=3,length=5")
        self.assertEqual((case.network, case.batch, contenders.id_of(case)), ("exported-gru", 3, "/some/gru.onnx,length=5,batch=3,mode=infer"))

    def test_results_of_other_sizes_are_other_networks(self):
        def found(*counts):
            return [argparse.Namespace(name=str(i), facts={"elements": count}) for i, count in enumerate(counts)] + [contenders.Contender("paradnn")]

        run.check_elements(found(6, 6))
        run.check_elements(found(None, 6))
        with self.assertRaisesRegex(contenders.Failed, "the results differ in their elements: 6 of 0, 4 of 1"):
            run.check_elements(found(6, 4))

    def test_onnx_runtime_gets_the_values_that_a_model_names(self):
        try:
            import numpy
        except ImportError:
            self.skipTest(needs.say("numpy"))
        with mock.patch.dict(sys.modules, onnxruntime=mock.Mock()):
            import onnx_child
        said = {"ids": "zipf 50", "rows": "masked 6", "place": "position 4", "mask": "sequence_mask -10000", "x": "uniform 0.5"}
        shapes = {"ids": [3, 100], "rows": [2, 3], "place": [8], "mask": [5, 7], "x": [4, 4]}
        session = mock.Mock()
        session.get_modelmeta().custom_metadata_map = said
        session.get_inputs.return_value = [argparse.Namespace(name=name, shape=shapes[name], type="tensor(float)" if name in ("mask", "x") else "tensor(int32)")
                                           for name in said]
        values = onnx_child.drawn(session, said, {})
        self.assertTrue(all(list(values[name].shape) == shapes[name] for name in said))
        self.assertEqual((values["ids"].min(), values["ids"].max() < 50, values["ids"].dtype), (0, True, numpy.int32))
        self.assertTrue((numpy.diff(values["rows"]) > 0).all() and values["rows"][1].min() >= 6 and values["rows"].max() < 12)
        self.assertEqual(values["place"].tolist(), [0, 1, 2, 3] * 2)
        self.assertTrue((numpy.diff(values["mask"]) <= 0).all() and (values["mask"][:, 0] == 0).all())
        self.assertLess(abs(values["x"]).max(), 0.5)
        shapes["x"] = ["batch.1", 4, "other"]
        session.get_inputs.return_value = [argparse.Namespace(name="x.0", shape=shapes["x"], type="tensor(float)")]
        self.assertEqual(onnx_child.drawn(session, {"x_0": "constant 2"}, {"batch_1": 3})["x.0"].tolist(), [[[2]] * 4] * 3)


def in_types(*names):
    """Cases of these names in bf16 and int8."""
    return [case for dtype in ("bf16", "int8") for case in (in_dtype(CASES[name], dtype) for name in names) if case]


class Types(unittest.TestCase):
    """--dtype: what runs."""

    OPTIONS = argparse.Namespace(paradnn=PARADNN, threads=1)
    TOOLS = argparse.Namespace(
        python="python", onnx_python="python", gguf_python="python", gguf={"bench": "bench"}, environment={},
        torch={"variants": {"f32/fc/infer": ["eager", "compiled"], "bf16/fc/infer": ["autocast", "bf16"], "int8/fc/infer": ["int8_dynamic"]}})
    DENSE, LLAMA = CASES["fc-4x256-infer-16"], CASES["llama3.2-1b-infer-1-512"]

    def test_paradnn_has_the_short_list_in_every_type(self):
        for case in in_types(*(name for name, case in CASES.items() if case.is_main or case.gguf)):
            with self.subTest(case.name, dtype=case.dtype):
                self.assertIn(f",dtype={case.dtype}", contenders.Paradnn(case, case.fuse[0], self.OPTIONS, "nowhere").id)

    def test_training_is_not_in_int8(self):
        def chosen(dtype, *patterns):
            cases, said = run.cases_in_type(argparse.Namespace(id=[], onnx=[], case=patterns, family=None, all=False, dtype=dtype))
            return [case.name for case in cases], said

        infers, trains = "fc-4x256-infer-16", "fc-4x256-train-16"
        self.assertEqual(chosen("int8", infers, trains), ([infers], f"left out, as int8 is for inference: {trains}"))
        self.assertEqual(chosen("bf16", infers, trains), ([infers, trains], ""))
        self.assertEqual(chosen("f32", infers, trains), ([infers, trains], ""))
        self.assertEqual(chosen("int8", infers), ([infers], ""))
        with self.assertRaisesRegex(SystemExit, f"left out, as int8 is for inference: {trains}"):
            chosen("int8", trains)
        self.assertIs(in_dtype(self.DENSE, "f32"), self.DENSE)

    def names(self, case, dtype):
        return [(each.name, each.dtype) for each in run.make_contenders(in_dtype(case, dtype), self.OPTIONS, self.TOOLS, "nowhere")]

    def test_every_framework_also_runs_in_f32(self):
        ours = ["paradnn", "paradnn post-ops"]
        self.assertEqual(self.names(self.DENSE, "f32"),
                         [(name, "f32") for name in ("torch eager", "torch compiled", "onnxruntime", "onnxruntime, our export", *ours)])
        for dtype, ways in (("bf16", ["torch autocast", "torch bf16"]), ("int8", ["torch int8_dynamic"])):
            self.assertEqual(self.names(self.DENSE, dtype), [
                ("torch eager f32", "f32"), *((way, dtype) for way in ways), ("onnxruntime f32", "f32"), (f"onnxruntime {dtype}", dtype),
                ("onnxruntime f32, our export", "f32"), (f"onnxruntime {dtype}, our export", dtype), *((name, dtype) for name in ours)])
        self.assertEqual(self.names(self.LLAMA, "f32"), [("llama.cpp", "f32"), ("paradnn blocks", "f32")])
        self.assertEqual(self.names(self.LLAMA, "int8"), [("llama.cpp f32", "f32"), ("llama.cpp int8", "int8"), ("paradnn blocks", "int8")])

    def test_llama_cpp_has_its_own_names_of_types(self):
        for dtype, word in (("f32", "f32"), ("bf16", "bf16"), ("int8", "q8_0")):
            child = contenders.LlamaCpp(self.TOOLS, self.LLAMA, self.OPTIONS, "place", dtype, "")
            with mock.patch.object(contenders, "call") as call, mock.patch.object(child, "visit"):
                child.prepare()
            self.assertEqual(call.call_args[0][0][2:5], [child.model, word, "4"])

    def test_int8_is_made_of_the_export_in_f32(self):
        case = in_dtype(self.DENSE, "int8")
        for make in (lambda: contenders.onnx_of_torch(self.TOOLS, case, self.OPTIONS, "r", "place"),
                     lambda: contenders.onnx_of_paradnn(self.TOOLS, case, self.OPTIONS, "place")):
            with mock.patch.object(contenders, "call") as call:
                plain, small = make()
                plain.export()
                small.export()
            self.assertEqual((call.call_count, plain.command[2], plain.command[3], small.command[3]), (1, small.command[2], "f32", "int8"))
            self.assertNotIn("int8", " ".join(call.call_args[0][0]))

    def test_bf16_is_tried_in_onnx_runtime(self):
        """As PyTorch exports it; paradnn refuses to, and a file is what it is."""
        case = in_dtype(self.DENSE, "bf16")
        with mock.patch.object(contenders, "call") as call:
            plain, small = contenders.onnx_of_torch(self.TOOLS, case, self.OPTIONS, "r", "place")
            small.export()
        self.assertEqual(call.call_args[0][0][-2:], [small.command[2], "bf16"])
        self.assertNotEqual(plain.command[2], small.command[2])
        with tempfile.TemporaryDirectory() as place:
            _, small = contenders.onnx_of_paradnn(self.TOOLS, case, self.OPTIONS, place)
            small.prepare()
        self.assertRegex(small.reason, "the model cannot be exported: .*f32")
        with mock.patch.object(contenders, "call", return_value=("", 0)), mock.patch.object(contenders, "row_of", return_value={"model": "net"}):
            plain, small = contenders.onnx_of_file(self.TOOLS, in_dtype(of_file("/some/net.onnx"), "bf16"), self.OPTIONS, "")
        self.assertIsNone(plain.export())
        small.prepare()
        self.assertEqual(small.reason, "the model cannot be exported: the file is in f32, and nothing here converts it")

    def test_only_what_its_type_lacks_is_said(self):
        tools = run.Tools.__new__(run.Tools)
        tools.python, tools.onnx_python, tools.onnx, tools.said = "python", "python", {"version": "1", "provider": "its own"}, []
        tools.torch = {"version": "2", "config": [], "blas": "", "variants": {"missing": {"int8": {"int8_static": "no engine"}}}}

        def said(dtype):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                tools.show(dtype)
            return out.getvalue()

        self.assertIn("PyTorch's variant int8_static is left out: no engine\n", said("int8"))
        self.assertNotIn("left out", said("f32") + said("bf16"))


class FakeTorch:
    """Modules in place of PyTorch's while it is open: what the children import, and no more."""

    def __init__(self, engines=("onednn",), **lacking):
        torch = mock.MagicMock(__version__="2.14.1")
        torch.nn = mock.MagicMock(Module=type("Module", (), {}))
        for name in ("Linear", "Conv1d", "Conv2d", "RNNBase"):
            setattr(torch.nn, name, type(name, (), {}))
        torch.backends.quantized.supported_engines = list(engines)
        for name in ("compile", *lacking.get("names", ())):
            delattr(torch, name)
        quantization = mock.MagicMock() if lacking.get("quantization", True) else None
        self.torch = torch
        self.patch = mock.patch.dict(sys.modules, {
            "torch": torch, "torch.nn": torch.nn, "torch.fx": torch.fx, "torch.utils": torch.utils, "torch.ao": torch.ao,
            "torch.ao.quantization": quantization, "torch.ao.quantization.quantize_fx": getattr(quantization, "quantize_fx", None)})
        torch.ao.quantization = quantization

    def __enter__(self):
        self.patch.start()
        import variants
        return variants, self.torch

    def __exit__(self, *_):
        self.patch.stop()


class Variants(unittest.TestCase):
    def test_each_type_has_ways_of_its_own(self):
        with FakeTorch() as (variants, _):
            found = variants.available()
        self.assertEqual(found["bf16/fc/train"], ["autocast", "bf16"])
        self.assertEqual(found["bf16/cnn/infer"], ["autocast", "autocast_channels_last", "bf16", "bf16_channels_last"])
        self.assertEqual((found["int8/rnn/infer"], found["int8/cnn/infer"]), (["int8_dynamic"], ["int8_static"]))
        self.assertEqual(found["f32/cnn/train"], ["eager", "channels_last"])
        self.assertNotIn("int8/cnn/train", found)
        self.assertEqual(found["missing"]["bf16"], dict.fromkeys(("autocast_compiled", "bf16_compiled"), "this PyTorch has no torch.compile"))
        self.assertNotIn("int8", found["missing"])

    def test_what_quantization_lacks_is_said(self):
        for engines, said in ((("qnnpack", "fbgemm"), "this PyTorch quantizes without oneDNN, by qnnpack, fbgemm"),
                              ((), "this PyTorch quantizes without oneDNN, by nothing")):
            with FakeTorch(engines) as (variants, _):
                found = variants.available()
            self.assertEqual(found["missing"]["int8"], dict.fromkeys(("int8_dynamic", "int8_static"), said))
            self.assertNotIn("int8/rnn/infer", found)
        with FakeTorch(quantization=False) as (variants, _):
            self.assertRegex(variants.available()["missing"]["int8"]["int8_dynamic"], "this PyTorch has no quantization of its own: .")
        with FakeTorch(names=["autocast"]) as (variants, _):
            self.assertEqual(variants.available()["bf16/fc/infer"], ["bf16"])

    def test_ids_keep_their_type_in_bf16(self):
        def value(is_real):
            return mock.Mock(is_floating_point=lambda: is_real)

        with FakeTorch() as (variants, torch):
            model, ids, image = mock.Mock(), value(False), value(True)
            changed, inputs = variants.VARIANTS["bf16"].change(model, (ids, image))
        self.assertEqual((changed, inputs), (model.to.return_value, (ids, image.to.return_value)))
        self.assertEqual((model.to.call_args, image.to.call_args), (mock.call(torch.bfloat16),) * 2)

    def test_a_change_is_of_the_one_before(self):
        with FakeTorch() as (variants, _):
            change = variants.in_turn(lambda model, inputs: (model + "a", inputs + "1"), lambda model, inputs: (model + "b", inputs + "2"))
            self.assertEqual(change("m", "x"), ("mab", "x12"))

    def test_quantization_is_by_onednn(self):
        for name in ("int8_dynamic", "int8_static"):
            with FakeTorch(("qnnpack", "onednn")) as (variants, torch):
                torch.backends.quantized.engine = "qnnpack"
                variants.VARIANTS[name].change(mock.Mock(), ("x",))
                self.assertEqual(torch.backends.quantized.engine, "onednn")

    def test_static_quantization_sees_inputs_and_additions_in_place(self):
        with FakeTorch() as (variants, torch):
            import operator
            nodes = [argparse.Namespace(target=target) for target in (operator.iadd, operator.add, "conv")]
            torch.fx.symbolic_trace.return_value.graph.nodes = nodes
            variants.VARIANTS["int8_static"].change("model", ("x", "y"))
            observed = torch.ao.quantization.quantize_fx.prepare_fx.return_value
        self.assertEqual([node.target for node in nodes], [operator.add, operator.add, "conv"])
        observed.assert_called_once_with("x", "y")

    def test_layers_left_in_f32_are_named(self):
        with FakeTorch() as (variants, torch):
            layers = [torch.nn.Linear(), torch.nn.Module(), type("LSTM", (torch.nn.RNNBase,), {})(), torch.nn.Linear()]
            self.assertEqual(variants.left_in_f32(mock.Mock(modules=lambda: layers)), ["Linear", "LSTM", "Linear"])
            self.assertEqual(variants.left_in_f32(mock.Mock(modules=lambda: layers[1:2])), [])


class Onnx(unittest.TestCase):
    """The child of ONNX Runtime without it, numpy or onnx."""

    def setUp(self):
        self.runtime, self.onnx = mock.MagicMock(), mock.MagicMock()
        modules = {"numpy": mock.MagicMock(), "onnxruntime": self.runtime, "onnxruntime.quantization": self.runtime.quantization, "onnx": self.onnx,
                   "onnxruntime.quantization.shape_inference": self.runtime.quantization.shape_inference}
        patch = mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)
        for name in ("child", "onnx_child"):
            sys.modules.pop(name, None)
        import child
        import onnx_child
        self.child, self.module = child, onnx_child

    def test_calibration_sees_the_inputs_once(self):
        values = self.module.Calibration({"x": 1})
        self.assertEqual([values.get_next(), values.get_next()], [{"x": 1}, None])

    def prepared(self, dtype):
        with mock.patch.object(self.module, "session_of") as sessions, mock.patch.object(self.module, "inputs_of", return_value={"x": 1}), \
                mock.patch.object(self.module, "left_in_f32", return_value=["LSTM", "Gemm", "LSTM"]):
            _, inputs, note = self.module.prepare("net.onnx", dtype, 2, "", "")
        return sessions.call_args[0][0], inputs, note

    def test_int8_runs_what_was_quantized(self):
        path, inputs, note = self.prepared("int8")
        folded, written, calibration = self.runtime.quantization.quantize_static.call_args[0]
        self.assertEqual(self.runtime.quantization.shape_inference.quant_pre_process.call_args[0], ("net.onnx", folded))
        self.assertEqual((path, calibration.get_next(), note), (written, inputs, "1 Gemm, 2 LSTM in f32"))
        self.assertTrue(self.runtime.quantization.quantize_static.call_args[1]["per_channel"])
        self.assertFalse(os.path.exists(os.path.dirname(path)))

    def test_other_types_run_the_file_itself(self):
        for dtype in ("f32", "bf16"):
            self.assertEqual(self.prepared(dtype), ("net.onnx", {"x": 1}, ""))
        self.runtime.quantization.quantize_static.assert_not_called()

    def test_products_without_dequantized_operands_are_in_f32(self):
        def node(kind, inputs, outputs):
            return argparse.Namespace(op_type=kind, input=inputs, output=outputs)

        self.onnx.load.return_value.graph.node = [
            node("DequantizeLinear", ["w"], ["v"]), node("Gemm", ["x", "v"], ["y"]), node("Relu", ["y"], ["z"]),
            node("LSTM", ["z", "w"], ["h"]), node("MatMul", ["h", "z"], ["r"])]
        self.assertEqual(self.module.left_in_f32("net.onnx"), ["LSTM", "MatMul"])

    def test_a_result_may_differ_by_what_its_type_rounds(self):
        def passes(dtype, difference):
            with mock.patch.object(self.child, "difference", return_value=difference):
                return self.child.compare(mock.Mock(), "first", False, dtype)

        for dtype, bound in self.child.TOLERANCE.items():
            self.assertEqual(passes(dtype, bound), bound)
            with self.assertRaisesRegex(SystemExit, "wrong: the result differs by"):
                passes(dtype, 1.01 * bound)
        self.assertLess(max(self.child.TOLERANCE.values()), 0.5)

    def test_nothing_left_in_f32_is_not_said(self):
        self.assertEqual(self.child.stays([]), "")


OPS = [  # op, dtype, FLOP, bytes, extra read, extra written, ns, % of roof, bound; and what of it is in the floor
    (("fc", "f32", 1000, 100, 0, 0, 50, 40, "compute"), 20),
    (("fc", "f32", 1000, 100, 300, 0, 50, 40, "compute"), 20),  # more bytes, but not what binds
    (("lstm", "f32", 100, 100, 200, 100, 50, 80, "memory"), 10),  # compulsory are 100 of 400 bytes
    (("lstm", "f32", 100, 100, 200, 100, 50, 80, "compute|memory"), 10),
    (("lstm", "f32", 3000, 100, 300, 0, 50, 80, "memory"), 30),  # arithmetic at the peak takes longer
    (("lstm", "f32", 9000, 100, 300, 0, 50, 80, "memory"), 40),  # and never more than the roof
    (("relu", "bf16", 100, 100, 0, 0, 50, 103, "memory"), 50),  # the roof is not above what was reached
    (("odd", "f32", 100, 100, 0, 0, 50, "", ""), 0),
    (("none", "f32", 100, 100, 0, 0, "", "", ""), 0),
    (("reorder", "f32", "", 100, 0, 0, 50, 50, "memory"), 0)]
OP_COLUMNS = ("op dtype in_bounds_flop_count byte_count extra_read_bytes extra_written_bytes time_ns_median pct_of_roof bound").split()


class Floor(unittest.TestCase):
    def step_ns(self, ops):
        peaks = [("compute", "f32", 2, 60), ("compute", "f32", 2, 100), ("compute", "f32", 1, 400), ("bandwidth", "", 2, 400), ("compute", "bf16", 2, 400)]
        with tempfile.TemporaryDirectory() as place:
            for name, columns, lines in (("ceilings.csv", ["kind", "dtype", "threads", "value"], peaks), ("ops.csv", OP_COLUMNS, ops)):
                with open(os.path.join(place, name), "w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows([columns, *lines])
            return floor.step_ns(place, 2)

    def test_every_op_has_its_part(self):
        for op, expected in OPS:
            with self.subTest(op):
                self.assertAlmostEqual(self.step_ns([op]), expected)
        self.assertAlmostEqual(self.step_ns([op for op, _ in OPS]), sum(expected for _, expected in OPS))

    def test_tables_without_extra_bytes_have_a_floor(self):
        """Those of earlier versions."""
        self.assertEqual(floor.op_ns({"op": "fc", "time_ns_median": "10", "pct_of_roof": "50", "bound": "memory", "byte_count": "7"}, None), 5)


class Host(unittest.TestCase):
    def choice(self, *rates, flags=host.AVX512 | host.AVX2, environment=None):
        with mock.patch.object(host, "flags", lambda: flags), mock.patch.dict(os.environ, environment or {}):
            if not environment:
                os.environ.pop(host.CORE, None)
            return host.fastest(host.CORE, ["sh", "-c", PROBE.format(*rates)], {}, "{name}, {rate:g}")

    def test_asks_for_what_is_faster(self):
        self.assertEqual(self.choice(40, 400, 200), ("SkylakeX", "Old, 40, its own choice; OPENBLAS_CORETYPE=SkylakeX is faster: 400"))
        self.assertEqual(self.choice(40, 200, 400)[0], "Haswell")

    def test_keeps_what_is_as_fast(self):
        self.assertIsNone(self.choice(400, 410, 300)[0])

    def test_asks_for_nothing_the_processor_lacks(self):
        self.assertEqual(self.choice(40, 400, 200, flags=host.AVX2)[0], "Haswell")
        self.assertIsNone(self.choice(40, 400, 200, flags=set())[0])

    def test_keeps_and_says_what_the_user_set(self):
        own = {host.CORE: "Haswell", host.CAPABILITY: "avx2", "OMP_PROC_BIND": "spread"}
        with mock.patch.dict(os.environ, own):
            bound, said = host.environment_of(sys.executable, "no such script", "libopenblas.so.0", 2)
        self.assertEqual(bound, host.BOUND | {"OMP_NUM_THREADS": "2"})
        self.assertIn("OPENBLAS_CORETYPE=Haswell is the environment's own, and kept", said)
        self.assertIn("OMP_PROC_BIND=spread of the environment is not used", said)


# They make the file $HUNG when they hang. The child of the first one keeps its output open.
HANGS = ["sh", "-c", "sleep inf & : >$HUNG; wait"]
ANSWERS_ONCE = ["sh", "-c", "echo '{\"step_ns\": 5}'; read samples; : >$HUNG; sleep inf"]
DIES = ["sh", "-c", "echo {}; read samples; exit 3"]
CRASHES = ["sh", "-c", "echo a warning >&2; kill -SEGV $$"]


class Deadlines(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.hung = os.path.join(place.name, "hung")
        self.limits = []
        for patch in (mock.patch.dict(os.environ, HUNG=self.hung), mock.patch.object(contenders.threading, "Timer", self.timer)):
            patch.start()
            self.addCleanup(patch.stop)

    def timer(self, seconds, expire):
        """A timer that expires as soon as the process hangs, unless it was cancelled before."""
        made = mock.Mock(cancelled=False)

        def wait():
            while not made.cancelled and not os.path.exists(self.hung):
                time.sleep(0.002)
            if not made.cancelled:
                expire()

        made.start = threading.Thread(target=wait, daemon=True).start
        made.cancel = lambda: setattr(made, "cancelled", True)
        self.limits.append(seconds)
        return made

    def child(self, command):
        child = contenders.Child("some", command, {})
        self.addCleanup(lambda: (child.finish(), child.process.stdout.close(), child.errors.close()))
        child.prepare()
        if not child.reason:
            child.run(1, 3)
        return child

    def test_a_hung_child_is_a_named_failure(self):
        for command in (HANGS, ANSWERS_ONCE):
            with self.subTest(command):
                child = self.child(command)
                os.remove(self.hung)
                self.assertEqual((child.reason, child.rounds), ("no answer within 900 s, killed", []))
        self.assertEqual(self.limits, [900] * 3)

    def test_a_child_that_dies_between_rounds_is_a_named_failure(self):
        child = self.child(DIES)
        self.assertEqual(child.reason, "exit 3")
        child.run(2, 3)
        self.assertEqual((child.reason, child.rounds), ("exit 3", []))

    def test_a_crash_is_no_warning(self):
        self.assertEqual(self.child(CRASHES).reason, "killed by signal 11")
        self.assertEqual(self.child(["sh", "-c", "echo why >&2; exit 1"]).reason, "why")

    def test_a_reason_is_no_trace_of_the_end(self):
        trace = "[1.2] [vm:1:0]   uct_component.c:185  UCX  TRACE component_list 0x1: unregister"
        for said, reason in ((f"first\nthe reason\n{trace}\n{trace}\n", "the reason"), ("first\nthe reason\n", "the reason"), (trace, ""), ("", "")):
            self.assertEqual(contenders.last_line(io.StringIO(said)), reason)

    def test_a_hung_process_is_a_named_failure(self):
        with self.assertRaisesRegex(contenders.Failed, "no answer within 900 s, killed"):
            contenders.call(HANGS)

    def test_a_hung_probe_is_not_asked_for(self):
        def run(command, env, timeout, **_):
            if host.CORE in env:
                raise subprocess.TimeoutExpired(command, timeout)
            return subprocess.CompletedProcess(command, 0, '{"name": "Old", "rate": 40}')

        with mock.patch.object(host.subprocess, "run", run), mock.patch.object(host, "flags", lambda: host.AVX2), mock.patch.dict(os.environ):
            os.environ.pop(host.CORE, None)
            self.assertIsNone(host.fastest(host.CORE, ["probe"], {}, "{name}")[0])


class Table(unittest.TestCase):
    def test_ratios_are_of_one_round(self):
        a, b = contenders.Contender("paradnn"), contenders.Contender("torch eager")
        a.rounds, b.rounds = [[1, 2, 3], [8], [3]], [[4], [4], [4]]
        self.assertEqual(table.ratios(a, b), (0.75, 0.5, 2))


def contender(name, dtype, *times, floors=None, reason=""):
    made = contenders.Contender(name, dtype)
    made.rounds, made.reason, made.peak_rss_bytes = [[time] for time in times], reason, 2**20
    if floors:
        made.floors = floors
    return made


class Judgement(unittest.TestCase):
    """In another type than f32: which ways count, and what is printed."""

    def every(self, bf16):
        return [contender("torch eager f32", "f32", 20e6, 20e6), contender("torch f32 twin", "f32", 10e6, 10e6), contender("torch bf16", "bf16", *bf16),
                contender("onnxruntime f32, our export", "f32", 2e6, 2e6), contender("onnxruntime bf16", "bf16", reason="no kernel"),
                contender("paradnn", "bf16", 3e6, 3e6, floors=[2e6, 2e6, 2.4e6]), contender("paradnn post-ops", "bf16", 2e6, 2.4e6, floors=[1e6, 1e6])]

    def shown(self, every, name="fc-4x256-infer-16", dtype="bf16"):
        run.judge(every)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            rows = table.show_case(in_dtype(CASES[name], dtype), every)
        return out.getvalue(), {row["contender"]: row for row in rows}

    def test_far_slower_than_f32_is_crippled(self):
        said, rows = self.shown(self.every((16e6, 16e6)))
        self.assertEqual(rows["torch bf16"]["note"], "crippled: 1.6 times as long as torch f32 twin")
        self.assertIn("crippled: 1.6 times as long as torch f32 twin\n", said)
        self.assertEqual(rows["torch bf16"]["time_ns_median"], 16e6)
        self.assertEqual(said.count("crippled"), 1)

    def test_not_far_slower_is_a_contender(self):
        """Nor is one of another framework a measure."""
        said, rows = self.shown(self.every((14e6, 14e6)))
        self.assertNotIn("crippled", said)
        self.assertEqual({row["note"] for row in rows.values()}, {""})

    def test_no_f32_beside_it_means_no_judgement(self):
        every = [contender("onnxruntime f32", "f32", 1e6), contender("torch bf16", "bf16", 9e6), contender("paradnn", "bf16", 9e6)]
        self.assertNotIn("crippled", self.shown(every)[0])

    def test_what_is_crippled_is_never_the_fastest(self):
        every = [contender("torch eager f32", "f32", 10e6), contender("torch bf16", "bf16", 5e6), contender("paradnn", "bf16", 1e6)]
        self.assertEqual(self.shown(every)[1]["paradnn"]["fastest"], "torch bf16")
        every[1].crippled = True
        self.assertEqual(self.shown(every)[1]["paradnn"]["fastest"], "torch eager f32")

    def test_a_note_of_the_child_stays(self):
        every = self.every((16e6, 16e6))
        every[2].note = "2 LSTM in f32"
        self.assertEqual(self.shown(every)[1]["torch bf16"]["note"], "crippled: 1.6 times as long as torch f32 twin; 2 LSTM in f32")
        every = self.every((9e6, 9e6))
        every[2].note = "2 LSTM in f32"
        self.assertTrue(any(line.endswith("  2 LSTM in f32") for line in self.shown(every)[0].splitlines()))

    def test_the_floor_is_the_least_of_our_ways_and_of_one_type(self):
        _, rows = self.shown(self.every((8e6, 8e6)))
        self.assertEqual([rows[name]["ratio_to_floor"] for name in ("paradnn", "paradnn post-ops", "torch bf16")], ["3.0000", "2.2000", "8.0000"])
        self.assertEqual([rows[name]["ratio_to_floor"] for name in ("torch eager f32", "onnxruntime f32, our export", "onnxruntime bf16")], [""] * 3)
        self.assertEqual(rows["paradnn"]["floor_ns"], 1e6)

    def test_no_floor_is_no_ratio(self):
        for floors in ([0, 0], None):
            every = [contender("torch eager", "f32", 10e6), contender("paradnn", "f32", 5e6, floors=floors)]
            _, rows = self.shown(every, dtype="f32")
            self.assertEqual({(row["floor_ns"], row["ratio_to_floor"]) for row in rows.values()}, {("", "")})

    def test_the_summary_has_the_floor(self):
        _, rows = self.shown(self.every((8e6, 8e6)))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            table.show_summary(list(rows.values()))
        header, rule, row = (line.split("|")[1:-1] for line in out.getvalue().strip().splitlines())
        self.assertEqual((header[2].strip(), row[2].strip(), len(rule), len(row)), ("/ floor", "2.20", len(header), len(header)))


if __name__ == "__main__":
    unittest.main()
