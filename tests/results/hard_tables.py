"""Result directories that are hard to draw: rates above every roof, many roofs close together, many colors with long names, two dozen
bars whose names differ in many values. As a program: hard_tables.py DIRECTORY writes them all."""

import os
import sys

DTYPES = ("f32", "bf16", "f16", "int8")

CEILINGS_HEADER = "kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions\n"


def ceilings(dtypes):
    """Peaks a few per cent apart, so that their names would touch."""
    rows = [f"compute,{pattern},{dtype},,2,0,{1000 * (1 + 0.03 * i) * scale:.1f},1,2,5"
            for i, dtype in enumerate(dtypes) for pattern, scale in (("fma", 1), ("gemm-onednn", 0.97))]
    rows += [f"bandwidth,read,,{level},2,{size},{value},1,2,5"
             for level, size, value in (("L1", 65536, 900), ("L2", 2097152, 500), ("L3", 33554432, 250), ("DRAM", 0, 40))]
    return CEILINGS_HEADER + "\n".join(rows) + "\n"


RESULTS_HEADER = ("id,family,layers,nodes,batch,activation,mode,dtype,backend,threads,status,time_ns_median,params,intensity_flop_per_byte,"
                  "gflops,pct_of_peak,bound,host,started_utc,extrapolated\n")


def model(number, dtype="f32", host="here", gflops=500.0, intensity=4.0):
    layers, nodes, batch = 2 + number % 6, 64 << number % 5, 1 << number % 9
    name = f"fc/layers={layers},nodes={nodes},input=2000,output=1000,batch={batch},activation=relu,threads=2"
    return (f'"{name}{"" if dtype == "f32" else f",dtype={dtype}"}",fc,{layers},{nodes},{batch},relu,train,{dtype},onednn,2,ok,1000,{1000 + number},'
            f"{intensity:.4g},{gflops:.4g},50,compute,{host},2026-05-01T12:00:00.000Z,0\n")


def above():
    """Every third rate is up to three times the peak; the hosts, for colors, have long names and there are 40 of them."""
    rows = [model(i, DTYPES[i % 4], f"compute-node-{i % 40:03d}.rack-17.cluster.very-long-domain.example.org",
                  1000 * (3 if i % 3 == 0 else 0.5) * (0.5 + i / 100), 0.5 * 1.08 ** i) for i in range(100)]
    return RESULTS_HEADER + "".join(rows), ceilings(DTYPES), ""


def left():
    """All rates at the peak, on the left of every ridge: crowds along the lines and where their names are."""
    rows = [model(i, "f32", "here", 1000 * (0.9 + 0.002 * i), 1.0 * 1.15 ** (i % 40)) for i in range(100)]
    return RESULTS_HEADER + "".join(rows), ceilings(DTYPES[:1]), ""


def far():
    """Rates a thousand times the peaks, whose names therefore end up at the bottom."""
    rows = [model(i, DTYPES[i % 4], f"compute-node-{i % 40:03d}.rack-17.cluster.very-long-domain.example.org", 1e6 * (0.5 + i / 100),
                  0.5 * 1.08 ** i) for i in range(100)]
    return RESULTS_HEADER + "".join(rows), ceilings(DTYPES), ""


def low():
    """Peaks in the middle of the picture: neither below nor above their names is there room for all colors."""
    rows = [model(i, DTYPES[i % 4], f"compute-node-{i % 40:03d}.rack-17.cluster.very-long-domain.example.org",
                  1000 * (30 if i % 2 else 0.03) * (0.5 + i / 100), 0.5 * 1.08 ** i) for i in range(100)]
    return RESULTS_HEADER + "".join(rows), ceilings(DTYPES), ""


CNN_HEADER = ("id,family,block,blocks,filters,image,output,batch,pool,stride_on,shortcut,activation,mode,dtype,fuse,algorithm,threads,status,"
              "time_ns_median,params,started_utc,extrapolated\n")
OPS_HEADER = ("id,op_index,layer,op,category,op_pass,op_shape,executions,flop_count,in_bounds_flop_count,byte_count,time_ns_median,gflops,"
              "intensity_flop_per_byte,bound,pct_of_roof\n")
CATEGORIES = ("convolution", "batchnorm", "activation", "pooling", "linear gemm", "bias", "optimizer", "loss", "reorder", "add", "softmax",
              "normalization of layers, with dropout and residual", "embedding", "slice and concatenate")


def bars(count):
    """Networks that differ in eight values, among them long ones."""
    results, ops = [], []
    for i in range(count):
        block, blocks, image, batch = ("residual", "bottleneck")[i % 2], ("2", "3-4-6-3", "3-4-23-3")[i % 3], 64 << i % 3, 1 << i % 6
        mode, fuse = ("infer", "train")[i // 2 % 2], ("none", "post-ops")[i // 4 % 2]
        algorithm, shortcut = ("auto", "winograd", "gemm")[i // 3 % 3], ("projection", "identity")[i // 5 % 2]
        name = (f"cnn/block={block},blocks={blocks},filters={16 << i % 3},image={image},output=1000,batch={batch},pool=global,stride_on=3x3,"
                f"shortcut={shortcut},activation=relu,mode={mode},fuse={fuse},algorithm={algorithm},threads=2")
        step = 1e6 * (i + 1) ** 2
        results.append(f'"{name}",cnn,{block},{blocks},{16 << i % 3},{image},1000,{batch},global,3x3,{shortcut},relu,{mode},f32,{fuse},{algorithm},2,'
                       f"ok,{step:.0f},{1000 + i},2026-05-01T12:00:00.000Z,{int(i == 5)}\n")
        for k, category in enumerate(CATEGORIES):
            part = step * 0.95 * (len(CATEGORIES) - k) / 105
            ops.append(f'"{name}",{k},layer{k},op{k},"{category}",forward,x,1,1,1,1,{part:.0f},1,1,compute,50\n')
    return CNN_HEADER + "".join(results), "", OPS_HEADER + "".join(ops)


def groups():
    """Six transformers of 30 layers, so that a legend by part and layer is long."""
    header = "id,family,layers,hidden,batch,mode,dtype,threads,status,time_ns_median,params,started_utc,extrapolated\n"
    results, ops = [], []
    for i in range(6):
        name = f"transformer/layers=30,hidden=64,batch={1 << i},threads=2"
        results.append(f'"{name}",transformer,30,64,{1 << i},train,f32,2,ok,{1000000 * (i + 1)},1000,2026-05-01T12:00:00.000Z,0\n')
        for k in range(30):
            for op, category in (("dense", "linear gemm"), ("softmax", "softmax")):
                ops.append(f'"{name}",{k},query{k},{op},{category},forward,x,1,1,1,1,{14000 * (i + 1) + k},1,1,compute,50\n')
    return header + "".join(results), "", OPS_HEADER + "".join(ops)


TABLES = {"above": above, "far": far, "left": left, "low": low, "groups": groups, "bars24": lambda: bars(24), "bars8": lambda: bars(8), "bars60": lambda: bars(60)}


def write(directory, name):
    """Writes DIRECTORY/NAME and returns its path."""
    path = os.path.join(directory, name)
    os.makedirs(path, exist_ok=True)
    for file_name, text in zip(("results.csv", "ceilings.csv", "ops.csv"), TABLES[name]()):
        if text:
            with open(os.path.join(path, file_name), "w", encoding="utf-8") as file:
                file.write(text)
    return path


if __name__ == "__main__":
    for table in TABLES:
        print(write(sys.argv[1], table))
