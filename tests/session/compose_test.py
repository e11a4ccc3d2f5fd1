#!/usr/bin/env python3
"""What models consist of, from the command line.

Usage: compose_test.py PARADNN"""

import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PARADNN = os.path.abspath(sys.argv[1])
ROOFS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,100,90,110,5
bandwidth,read,,L1,1,32768,130,120,140,5
bandwidth,read,,L2,1,1048576,90,80,95,5
bandwidth,read,,DRAM,1,0,18,17,19,5
"""
ENVIRONMENT = {**os.environ, "PARADNN_NO_CACHE": "1", "OMP_WAIT_POLICY": "passive"}


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.roofs = os.path.join(self.directory, "roofs.csv")
        with open(self.roofs, "w", encoding="utf-8") as file:
            file.write(ROOFS)

    def run_paradnn(self, *arguments, code=0):
        done = subprocess.run([PARADNN, *arguments], cwd=self.directory, env=ENVIRONMENT, capture_output=True, text=True, timeout=250)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def rows_of(self, *ids):
        return list(csv.DictReader(io.StringIO(self.run_paradnn("ops", *ids, "--ceilings", self.roofs, "--format", "csv").stdout)))


class Ops(Case):
    def test_more_layers_are_more_runs_of_the_same_operators(self):
        """At 2 MiB a layer nothing survives in 1 MiB from one use of the weights to the next."""
        model = "fc/nodes=700,input=700,output=100,batch=8,mode=infer,backend=reference,threads=1,layers="
        rows = self.rows_of(model + "6", model + "12")
        self.assertTrue(all(row["models"] == "2" for row in rows), rows)
        runs = {name: sum(int(row["runs"]) for row in rows if f" {name}/forward/" in row["operator"]) for name in ("dense", "bias", "relu")}
        self.assertEqual(runs, {"dense": 20, "bias": 20, "relu": 18})

    def test_models_that_cannot_run_are_said(self):
        done = self.run_paradnn("ops", "fc/layers=1,nodes=8,input=8,output=4,batch=2,backend=openblas,dtype=bf16,threads=1", "--ceilings",
                                self.roofs, code=1)
        self.assertIn("1 unsupported, such as: ", done.stderr)
        self.assertIn("0 models, 0 operators", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
