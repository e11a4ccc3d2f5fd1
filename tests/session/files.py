"""What tests of sweeps share about files: text, tables, whole directories, and the rows that two sweeps of one spec must have in common.
A path may be given in parts."""

import csv
import os

# What results.csv computes and does not measure, of sweeps of fully connected networks.
EXACT = ["schema", "id", "model", "settings", "family", "run_mode", "dtype", "optimizer", "backend", "threads", "cache", "status",
         "params", "flop_count", "byte_count", "weight_bytes", "activation_bytes", "memory_bytes", "layers", "nodes", "input", "output", "batch"]

# Of one thread, and of no machine: for sweeps that measure none. A last cache of 32 KiB, unless another one is added.
ROOFS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,100,90,110,5
bandwidth,read,,L1,1,32768,130,120,140,5
bandwidth,read,,DRAM,1,0,18,17,19,5
"""


class Wrong(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Wrong(text)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(text, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write(text)


def rows(*path):
    with open(os.path.join(*path), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def content(directory):
    """All files below the directory, by their path from there."""
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.relpath(os.path.join(folder, name), directory)] = file.read()
    return found


def exact(directory):
    return [{column: row[column] for column in EXACT} for row in rows(directory, "results.csv")]
