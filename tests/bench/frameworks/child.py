"""A child's side: one contender in a process of its own, built once and then timed a round at a time.

After it has warmed up, the child prints a line of JSON about itself; then, for every number that it reads, one with as many samples in ns,
each of a single step. Between rounds its parent stops the process, so that no thread of it waits actively."""

import collections
import json
import resource
import sys
import time

import numpy

# What a result may differ by from the first contender's in f32, relative to its largest value. f32: sums of thousands of products in another
# order. Others: rounding, layer after layer, with weights that nobody trained; what is wrong differs by about 1.
TOLERANCE = {"f32": 1e-3, "bf16": 0.1, "int8": 0.3}


def warm_up(step, seconds, least):
    start, steps = time.perf_counter(), 0
    while steps < least or time.perf_counter() - start < seconds:
        step()
        steps += 1


def difference(result, path):
    """Relative to the largest value that the first contender left in the file."""
    first = numpy.load(path)
    if first.shape != result.shape:
        sys.exit(f"the result has shape {result.shape}, that of the first contender {first.shape}")
    return float(numpy.abs(result - first).max() / numpy.abs(first).max())


def compare(result, path, leaves, dtype="f32"):
    """Leaves the result in the file, or compares with it; without a path, it only has to be finite."""
    result = numpy.asarray(result, dtype=numpy.float32)
    if not numpy.isfinite(result).all():
        sys.exit("the result is not finite")
    if not path:
        return 0.0
    if leaves:
        numpy.save(path, result)
        return 0.0
    found = difference(result, path)
    if found > TOLERANCE[dtype]:
        sys.exit(f"wrong: the result differs by {found:.2g} from that of the first contender")
    return found


def stays(names):
    """What to say about the products of a quantized network that are still computed in f32; names: of their kinds, one for each."""
    counts = collections.Counter(names)
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) + " in f32" if counts else ""


def serve(step, facts):
    """facts: a dictionary for the parent. Returns at the end of stdin."""
    warm_up(step, 1, 3)  # a traced network optimizes itself in the first two steps
    start = time.perf_counter_ns()
    step()
    print(json.dumps(facts | {"step_ns": time.perf_counter_ns() - start}), flush=True)
    for line in sys.stdin:
        warm_up(step, 0.2, 1)
        samples = []
        for _ in range(int(line)):
            before = time.perf_counter_ns()
            step()
            samples.append(time.perf_counter_ns() - before)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"samples_ns": samples, "peak_rss_bytes": peak}), flush=True)
