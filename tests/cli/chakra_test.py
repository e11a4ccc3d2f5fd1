#!/usr/bin/env python3
"""paradnn export --to chakra: traces decoded by protoc with the schema, their dependencies, collectives and durations.

Usage: chakra_test.py PARADNN PROTO [TEST...]. PROTO is gen/chakra/chakra.proto."""

import collections
import csv
import os
import re
import shutil
import subprocess
import sys
import unittest

from program import CEILINGS, PARADNN, Case, environment, main, needs

PROTO = os.path.abspath(sys.argv[2])
HAS_MPI = os.path.exists(os.path.join(os.path.dirname(PARADNN), "paradnn-worker-mpi")) and shutil.which("mpirun")
# Of mlcommons/chakra, schema/protobuf/et_def.proto.
PUBLISHED = {"AttributeProto": {"name": 1, "double_val": 3, "int64_val": 9, "uint64_val": 13, "bool_val": 27, "string_val": 29},
             "GlobalMetadata": {"version": 1, "attr": 2},
             "NodeType": {"INVALID_NODE": 0, "METADATA_NODE": 1, "COMP_NODE": 4, "COMM_COLL_NODE": 7},
             "Node": {"id": 1, "name": 2, "type": 3, "ctrl_deps": 4, "data_deps": 5, "duration_micros": 7, "attr": 10}}
NETWORKS = ["fc/layers=2,nodes=9,input=7,output=5,batch=3,mode=train", "cnn/block=residual,blocks=1,filters=4,image=33,output=5,batch=3,mode=train,optimizer=adam",
            "rnn/cell=lstm,layers=2,embedding=12,length=6,vocabulary=20,batch=3,mode=train", "llama/layers=2,hidden=12,heads=6,kv_heads=2,ffn=10,vocabulary=11,batch=2,length=5,mode=train",
            "transformer/hidden=8,heads=2,layers=2,vocabulary=11,length=6,batch=2,positions=6,mode=train,fuse=blocks", "cnn:resnet50,batch=1,mode=infer"]


class Chakra(Case):
    def decode(self, path):
        """The messages of a trace: the whole, and nodes. Each is behind its length, as in a field that repeats."""
        with open(os.path.join(self.directory, path), "rb") as file:
            data = file.read()
        parts, at = [], 0
        while at < len(data):
            length, shift, start = 0, 0, at
            while True:
                length |= (data[at] & 0x7F) << shift
                shift += 7
                at += 1
                if data[at - 1] < 0x80:
                    break
            parts.append((data[start:at], data[at:at + length]))
            at += length
        self.assertEqual(at, len(data))
        whole = b"\x0a" + b"".join(parts[0]) + b"".join(b"\x12" + length + part for length, part in parts[1:])
        with open(PROTO, encoding="utf-8") as file:
            schema = file.read()
        with open(os.path.join(self.directory, "trace.proto"), "w", encoding="utf-8") as file:
            file.write(schema + "message Trace { GlobalMetadata whole = 1; repeated Node node = 2; }\n")
        text = subprocess.run(["protoc", "--decode=ChakraProtoMsg.Trace", "trace.proto"], cwd=self.directory, input=whole, capture_output=True, check=True).stdout.decode()
        self.assertNotRegex(text, r"(?m)^\s*\d+: ", "fields that the schema does not have")
        nodes = []
        for block in text.split("\nnode {\n")[1:]:
            node = {"deps": [], "ctrl": [], "id": 0, "micros": 0}
            for key, value in re.findall(r"(?m)^  (\w+): (.*)$", block):
                if key in ("data_deps", "ctrl_deps"):
                    node["deps" if key == "data_deps" else "ctrl"].append(int(value))
                else:
                    node[{"duration_micros": "micros"}.get(key, key)] = value.strip('"') if key in ("name", "type") else int(value)
            node["attr"] = dict(re.findall(r'name: "(\w+)"\n\s*\w+_val: (\S+)', block))
            nodes.append(node)
        return text.split("\nnode {\n")[0], nodes

    def export(self, instance, *arguments, expect=0):
        return self.paradnn("export", instance, "--to", "chakra", "-o", "trace", *arguments, expect=expect)

    def test_the_schema_has_the_published_numbers(self):
        with open(PROTO, encoding="utf-8") as file:
            text = file.read()
        found = {}
        for name, body in re.findall(r"(?ms)^(?:message|enum) (\w+) \{\n(.*?)^\}", text):
            found[name] = {field: int(number) for field, number in re.findall(r"(\w+) = (\d+);", body)}
        self.assertEqual(found, PUBLISHED)

    def test_dependencies_are_the_graphs(self):
        self.export("fc/layers=1,nodes=8,input=5,output=3,batch=2,mode=train,optimizer=sgd,fuse=post-ops")
        whole, nodes = self.decode("trace.0.et")
        self.assertIn("fc/layers=1,nodes=8,input=5,output=3,batch=2,activation=relu,optimizer=sgd,fuse=post-ops", whole)
        at = {node["name"]: node for node in nodes}
        names = {node["id"]: node["name"] for node in nodes}

        def deps(name, kind="deps"):
            return sorted(names[i] for i in at[name][kind])
        self.assertEqual(deps("hidden1.dense.forward"), [])
        self.assertEqual(deps("output.dense.forward"), ["hidden1.dense.forward"])
        self.assertEqual(deps("loss.softmax_cross_entropy.forward"), ["output.dense.forward"])
        self.assertEqual(deps("output.dense.backward-weights"), ["hidden1.dense.forward", "loss.softmax_cross_entropy.backward-data"])
        self.assertEqual(deps("output.dense.backward-data"), ["loss.softmax_cross_entropy.backward-data"])
        self.assertEqual(deps("hidden1.dense.backward-weights"), ["hidden1.relu.backward-data"])
        updates = [node for node in nodes if node["name"] == "output.sgd.update"]
        self.assertEqual({name for node in updates for name in (names[i] for i in node["deps"])}, {"output.dense.backward-weights"})
        # A weight is not changed before the passes that read it are done.
        self.assertEqual({name for node in updates for name in (names[i] for i in node["ctrl"])}, {"output.dense.forward", "output.dense.backward-data"})

    def test_traces_have_no_circle_and_every_operator(self):
        for network in NETWORKS:
            with self.subTest(network):
                done = self.export(network)
                _, nodes = self.decode("trace.0.et")
                self.assertEqual([node["id"] for node in nodes], list(range(len(nodes))))
                self.assertTrue(all(i < node["id"] for node in nodes for i in node["deps"] + node["ctrl"]))
                self.assertTrue(all(not set(node["deps"]) & set(node["ctrl"]) for node in nodes))
                self.assertEqual({(node["type"], node["attr"]["is_cpu_op"]) for node in nodes}, {("COMP_NODE", "false")})
                self.assertEqual({node["micros"] for node in nodes}, {0})
                self.assertNotIn("time_ns", {name for node in nodes for name in node["attr"]})
                self.assertEqual(done.stderr, f"{len(nodes)} of {len(nodes)} nodes have no duration, give --results DIR\n")
                row = next(csv.DictReader(self.paradnn("list", network, "--format", "csv", expect=0).stdout.splitlines()))
                self.assertEqual(sum(int(node["attr"].get("num_ops", 0)) for node in nodes), int(row["in_bounds_flop_count"] or row["flop_count"]))

    def test_ranks_have_collectives(self):
        for mode in ("blocking", "bucketed"):
            with self.subTest(mode):
                self.export(f"fc/layers=2,nodes=64,input=32,output=8,batch=4,mode=train,optimizer=sgd,ranks=2,allreduce={mode}")
                traces = [self.decode(f"trace.{rank}.et") for rank in range(2)]
                self.assertIn("int64_val: 1", traces[1][0])
                nodes = traces[0][1]
                collectives = [node for node in nodes if node["type"] == "COMM_COLL_NODE"]
                parameters = 32 * 64 + 64 + 64 * 64 + 64 + 64 * 8 + 8
                self.assertEqual(sum(int(node["attr"]["comm_size"]) for node in collectives), 4 * parameters)
                self.assertEqual({node["attr"]["comm_type"] for node in collectives}, {"0"})
                # Simulators refuse collectives of the CPU, and time only what is not its.
                for node in nodes:
                    self.assertEqual(node["attr"]["is_cpu_op"], "true" if node["type"] == "METADATA_NODE" else "false")

                def reach(node):
                    seen, stack = set(), [node["id"]]
                    while stack:
                        for i in nodes[stack.pop()]["deps"]:
                            if i not in seen:
                                seen.add(i)
                                stack.append(i)
                    return seen
                for update in (node for node in nodes if node["name"].endswith("sgd.update")):
                    self.assertTrue(reach(update) & {node["id"] for node in collectives}, update)

    def measure(self, command, instance, roofs, **options):
        quick = ["--set", "measure.max_time=1ms", "--set", "measure.rounds=1", "--set", "measure.min_samples=3", "--set", "measure.probe=off"]
        shutil.rmtree(self.path("out"), ignore_errors=True)
        self.paradnn(command, instance, "-o", "out", "--ceilings", roofs, *quick, expect=0, **options)

    def check_durations(self, nodes):
        """Each operator and pass takes as long as the rows of the results say, and nodes say so twice. Returns the sum."""
        times, found = collections.Counter(), collections.Counter()
        for row in self.rows("out", "ops.csv"):
            if row["op"] != "reorder":
                times[f"{row['op']}.{row['op_pass']}"] += float(row["time_ns_median"])
        self.assertEqual(sum(int(row["executions"]) for row in self.rows("out", "ops.csv") if row["op"] != "reorder"), len(nodes))
        for node in nodes:
            found[".".join(node["name"].split(".")[-2:])] += float(node["attr"]["time_ns"])
            self.assertEqual(node["micros"], int(float(node["attr"]["time_ns"]) / 1000 + 0.5))
        self.assertEqual(found.keys(), times.keys())
        for name, time in times.items():
            self.assertAlmostEqual(found[name], time, delta=1e-6 * time + 1e-3, msg=name)
        return sum(found.values())

    def test_durations_are_those_of_the_results(self):
        instance = "fc/layers=2,nodes=8,input=5,output=3,batch=2,mode=train,threads=1"
        self.measure("sweep", instance, "roofs.csv")
        self.assertEqual(self.export(instance, "--results", "out").stderr, "")
        self.check_durations(self.decode("trace.0.et")[1])

    def test_durations_are_those_of_composed_results(self):
        """In a last cache of 48 KiB, into which the model does not fit, its time is the sum of its operators, and so is the trace's."""
        self.write("small.csv", CEILINGS + f"bandwidth,read,,L2,1,{48 << 10},90,80,95,5\n")
        instance = "fc/layers=3,nodes=100,input=60,output=10,batch=32,mode=train,backend=reference,threads=1"
        self.measure("compose", instance, "small.csv")
        row = self.rows("out", "results.csv")[0]
        self.assertEqual(row["method"], "composed")
        self.assertEqual(self.export(instance, "--results", "out").stderr, "")
        total = self.check_durations(self.decode("trace.0.et")[1])
        self.assertAlmostEqual(total / float(row["time_ns_median"]), 1, places=4)

    @unittest.skipIf(not HAS_MPI, "no worker for MPI was built, or there is no mpirun")
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two ranks need two cores")
    def test_ranks_have_the_durations_of_the_results(self):
        """The traces of both ranks have the same collectives in the same order, of all gradients, with times."""
        for mode in ("blocking", "bucketed"):
            with self.subTest(mode):
                instance = f"fc/layers=2,nodes=64,input=32,output=8,batch=4,mode=train,optimizer=sgd,threads=1,ranks=2,allreduce={mode}"
                self.measure("sweep", instance, "roofs.csv", env=environment(OMPI_MCA_mpi_yield_when_idle="1", OMP_WAIT_POLICY="passive"))
                self.assertEqual(self.export(instance, "--results", "out").stderr, "")
                collectives = []
                for rank in range(2):
                    whole, nodes = self.decode(f"trace.{rank}.et")
                    self.assertEqual(re.findall(r'name: "rank"\n\s*int64_val: (\d)', whole), [str(rank)])
                    self.check_durations(nodes)
                    collectives.append([(node["name"], node["attr"]["comm_type"], node["attr"]["comm_size"], node["attr"]["time_ns"])
                                        for node in nodes if node["type"] == "COMM_COLL_NODE"])
                self.assertEqual(*collectives)
                self.assertEqual(sum(int(size) for _, _, size, _ in collectives[0]), int(self.rows("out", "results.csv")[0]["allreduce_bytes"]))
                self.assertGreater(sum(float(time) for *_, time in collectives[0]), 0)

    def test_what_is_said(self):
        done = self.export("fc/layers=2,nodes=8", "--results", "none", expect=2)
        self.assertIn("none", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "trace.0.et")))
        done = self.paradnn("export", "fc/layers=1,nodes=8", "--to", "chakra", expect=2)
        self.assertEqual(done.stderr, "paradnn: export needs a file to write, give -o FILE\n")
        done = self.paradnn("export", "fc/layers=1,nodes=8", "--results", "x", "-o", "y", expect=2)
        self.assertEqual(done.stderr, "paradnn: --results goes with --to chakra, onnx has no durations\n")


if __name__ == "__main__":
    if not shutil.which("protoc"):
        needs.say("protoc")
        sys.exit(needs.SKIPPED)
    main(2)
