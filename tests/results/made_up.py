"""Result directories of made-up models, for tests of the report."""

import csv
import os

CEILINGS = """\
kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions
compute,fma,f32,,1,0,100,90,110,5
bandwidth,read,,L1,1,32768,130,120,140,5
bandwidth,read,,DRAM,1,0,18,17,19,5
"""
HEADER = ["id", "family", "layers", "nodes", "batch", "mode", "threads", "status", "reason", "params", "in_bounds_flop_count",
          "byte_count", "memory_bytes", "time_ns_median", "ci_low_ns", "ci_high_ns", "gflops", "intensity_flop_per_byte",
          "pct_of_roof", "pct_of_peak", "bound", "roof_level", "row_flags"]


def row(layers, nodes, batch, ns, gflops, **other):
    name = f"fc/layers={layers},nodes={nodes},input=2000,output=1000,batch={batch},activation=relu,mode=infer,threads=1"
    cells = {"id": name, "family": "fc", "layers": layers, "nodes": nodes, "batch": batch, "mode": "infer", "threads": 1,
             "status": "ok", "params": nodes * nodes, "in_bounds_flop_count": round(gflops * ns), "byte_count": round(ns * 10), "memory_bytes": 4096,
             "time_ns_median": ns, "ci_low_ns": ns * 0.98, "ci_high_ns": ns * 1.04, "gflops": gflops,
             "intensity_flop_per_byte": gflops / 10, "pct_of_roof": gflops / 2, "pct_of_peak": gflops, "bound": "compute"}
    return dict(cells, **other)


def grid():
    """The rate doubles with every step of the batch, loses a tenth of a thousandth with depth, and does what it likes with width."""
    noise = {8: 1, 16: 1.5, 32: 0.5}
    return [row(layers, nodes, batch, 1000 * layers, batch * noise[nodes] * (1 - layers / 1e4))
            for layers in (1, 2, 4) for nodes in (8, 16, 32) for batch in (1, 2, 4, 8)]


def write_tables(directory, rows, header=None, **files):
    """A result directory with these rows, in which other files have the text given (None: no such file)."""
    os.makedirs(directory)
    with open(os.path.join(directory, "results.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, header or HEADER, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    for name, text in dict({"ceilings.csv": CEILINGS}, **files).items():
        if text is not None:
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(text)
