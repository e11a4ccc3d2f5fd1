"""What all contenders run under: the same threads, bound alike, and each library on the best code that the processor has.

A distribution's OpenBLAS may take a processor that is newer than itself for an old one. paradnn's worker then asks for a better core;
here PyTorch is given the one whose product is fastest, and its own kernels in the same way. Variables of the user's own that choose a
library's code are kept, and said."""

import ctypes
import json
import os
import subprocess
import sys
import time

# The way paradnn binds its workers; paradnn itself must not be bound, since it asks which cores it may use.
BOUND = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores", "OMP_WAIT_POLICY": "active", "OMP_DYNAMIC": "false"}
CORE, CAPABILITY = "OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY"
CHOICES = (CORE, "OPENBLAS_L2_SIZE", CAPABILITY, "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ONEDNN_PRIMITIVE_CACHE_CAPACITY",
           "DNNL_PRIMITIVE_CACHE_CAPACITY", "ONEDNN_DEFAULT_FPMATH_MODE", "TORCHINDUCTOR_FREEZING")
AVX512, AVX2 = {"avx512f", "avx512bw", "avx512dq", "avx512vl"}, {"avx2", "fma"}
# What to ask a library for, if the processor has all of the flags.
ASKED = {CORE: {"SkylakeX": AVX512, "Haswell": AVX2}, CAPABILITY: {"avx512": AVX512, "avx2": AVX2}}
# It must be faster than the library's own choice by this factor.
CLEARLY = 1.05
# For one probe, which takes seconds.
LIMIT_S = 120


def sgemm_rate(library, size=1024):
    """The core's name, and 1e9 FLOP/s of the best of a few products; in a process of its own."""
    blas = ctypes.CDLL(library)
    blas.openblas_get_corename.restype = ctypes.c_char_p
    a, b, c = ((ctypes.c_float * (size * size))(*([0.5] * (size * size))) for _ in range(3))
    best = float("inf")
    for _ in range(8):
        start = time.perf_counter()
        blas.cblas_sgemm(101, 111, 111, size, size, size, ctypes.c_float(1), a, size, b, size, ctypes.c_float(0), c, size)
        best = min(best, time.perf_counter() - start)
    return {"name": blas.openblas_get_corename().decode(), "rate": 2e-9 * size**3 / best}


def cores():
    """One processor of each core that this process may use."""
    def siblings(processor):
        try:
            with open(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list", encoding="utf-8") as file:
                return file.read()
        except OSError:
            return processor

    return sorted({siblings(processor): processor for processor in sorted(os.sched_getaffinity(0), reverse=True)}.values())


def flags():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((set(line.split()) for line in file if line.startswith("flags")), set())


def fastest(variable, command, environment, what):
    """The value for the variable, None where the library's own choice is as good; and a sentence."""
    def probe(value):
        changed = {**os.environ, **environment, **({variable: value} if value else {})}
        try:
            done = subprocess.run(command, env=changed, capture_output=True, text=True, check=True, timeout=LIMIT_S)
        except subprocess.SubprocessError as error:
            if not value:
                sys.exit(f"{' '.join(command)}: {error}")
            return {"rate": 0}  # not with this value, then
        return json.loads(done.stdout)

    values = [None] + [value for value, needed in ASKED[variable].items() if needed <= flags()]
    # Twice each, in turns, so that no disturbance decides.
    turns = [[probe(value) for value in values] for _ in range(2)]
    results = [max(pair, key=lambda result: result["rate"]) for pair in zip(*turns)]
    best = max(range(len(values)), key=lambda i: results[i]["rate"])
    said = what.format(**results[0])
    if results[best]["rate"] <= CLEARLY * results[0]["rate"]:
        return None, f"{said}, its own choice; none that {variable} names is clearly faster"
    return values[best], f"{said}, its own choice; {variable}={values[best]} is faster: {results[best]['rate']:.3g}"


def environment_of(python, script, blas, threads):
    """The variables to set for every child, and what to say about them. python, script: of PyTorch's child; blas: the OpenBLAS that it
    loads, or an empty string."""
    bound = BOUND | {"OMP_NUM_THREADS": str(threads)}
    said = [f"{threads} threads, {', '.join(f'{key}={value}' for key, value in bound.items())}"]
    said += [f"{key}={os.environ[key]} of the environment is not used" for key in bound if os.environ.get(key, bound[key]) != bound[key]]
    said += [f"{key}={os.environ[key]} is the environment's own, and kept" for key in CHOICES if key in os.environ]
    probes = {CAPABILITY: ([python, script, "rate"], "PyTorch takes its kernels for {name} (layer norm and GELU, {rate:.3g} GB/s)")}
    if "openblas" in blas:
        probes[CORE] = ([sys.executable, __file__, blas], "OpenBLAS takes its kernels for {name} (sgemm, {rate:.3g} GFLOP/s)")
    for variable, (command, what) in probes.items():
        if variable not in os.environ:
            value, sentence = fastest(variable, command, bound, what)
            said.append(sentence)
            bound |= {variable: value} if value else {}
    return bound, said


if __name__ == "__main__":
    print(json.dumps(sgemm_rate(sys.argv[1])))
