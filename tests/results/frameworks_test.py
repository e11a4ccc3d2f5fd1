#!/usr/bin/env python3
"""tests/bench/frameworks without a framework: its cases exist in paradnn, libraries get their fastest kernels, ratios are of one round.
Usage: frameworks_test.py PARADNN"""

import argparse
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
import host  # noqa: E402
import needs  # noqa: E402
import run  # noqa: E402
import table  # noqa: E402
from cases import CASES, of_file, own  # noqa: E402

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


if __name__ == "__main__":
    unittest.main()
