#!/usr/bin/env python3
"""The same networks in paradnn, PyTorch and ONNX Runtime: the same machine, cores, thread count, pinning, and flushed denormals.

Usage: run.py PARADNN [--dtype f32|bf16|int8] [--family F] [--case PATTERN]... [--id ID]... [--onnx FILE]... [--all] [--rounds N] [--threads N]
              [--results DIR] [--csv FILE]

Contenders are built and warmed up one after the other. Then they take turns: a round has as many samples of single steps from each of
them, in an order that rotates from round to round, so that drift of the machine affects all of them alike. A ratio is paradnn's
median in a round over that of another contender in the same round; printed are the median, least and greatest ratio. The fastest
contender is that with the smallest median over the rounds. Variants of PyTorch are in variants.py, cases in cases.py; without --case
and --all the short list runs. In inference, ONNX Runtime runs PyTorch's export of the network and ours. --id: instead of cases, any
model of paradnn beside ONNX Runtime on its export. --onnx FILE[,AXIS=N]...: an ONNX file as paradnn imports it, beside ONNX Runtime on the
file and on our export of the import, and beside PyTorch if FILE is one of onnx_exports.py.

--dtype: paradnn, and the others' ways in that type, each beside the same framework in f32. A result must be near that of f32; a way that is far slower
than the framework's f32 is shown, with that as its reason, and never the fastest. / floor: a step's time over the least that the measured
roofs allow for paradnn's ops in that type (floor.py).

Exits with 77 and one line if PyTorch (or, with
--id and --onnx, ONNX Runtime) or paradnn is missing, with 1 if a case failed. Without ONNX Runtime the comparison of cases goes on without it, and says so."""

import argparse
import fnmatch
import os
import signal
import sys
import tempfile

sys.dont_write_bytecode = True

import contenders as c  # noqa: E402: after dont_write_bytecode
import host  # noqa: E402
import table  # noqa: E402
from cases import CASES, in_dtype, of_file, own  # noqa: E402

SKIPPED = 77
# Of one contender in one round; at least MIN_SAMPLES, at most MAX_SAMPLES.
ROUND_NS = 400e6
MIN_SAMPLES, MAX_SAMPLES = 3, 200
# By how much two counts of arithmetic may differ: one of them has only layers with weights.
FLOP_RANGE = (0.85, 1.05)
# A way in a smaller type that takes this many times as long as the same framework in f32 is nobody's choice.
FAR_SLOWER = 1.5


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def ways(case, options, directory):
    """paradnn's. Not every way is one for every model of --id."""
    for fuse in case.fuse:
        try:
            yield c.Paradnn(case, fuse, options, directory)
        except c.Failed:
            if case.params or fuse == "none":
                raise


def make_contenders(case, options, tools, directory):
    every, result = [], ""
    if case.network and tools.python:
        result = os.path.join(directory, f"{case.name}.npy")
        names = ["eager"] * (case.dtype != "f32") + tools.torch["variants"].get(f"{case.dtype}/{case.family}/{case.mode}", [])
        every += [c.Torch(tools.python, case, name, options, tools.environment, result) for name in names]
        if tools.onnx_python and case.mode == "infer" and not case.file:
            every += c.onnx_of_torch(tools, case, options, result, directory)
    if tools.onnx_python and case.file:
        every += c.onnx_of_file(tools, case, options, result)
    if case.gguf:
        every += [c.LlamaCpp(tools, case, options, directory, *words) for words in c.types_of(case)]
    elif tools.onnx_python and case.mode != "train":
        every += c.onnx_of_paradnn(tools, case, options, directory)
    return every + list(ways(case, options, directory))


def check_flop(case, every):
    """PyTorch's default counted its multiplications and additions; in training it did not, nor does it see products outside of layers, as
    Swin's: of a file, parameters and results are compared."""
    expected = every[0].facts.get("flop")
    for contender in every:
        ours = getattr(contender, "flop", 0)
        if expected and ours and not case.file and not FLOP_RANGE[0] <= expected / ours <= FLOP_RANGE[1]:
            raise c.Failed(f"{expected} FLOP in PyTorch's layers, {ours} in paradnn: the networks are not the same")


def check_elements(every):
    """Of the first result, of the same network in two files."""
    found = {each.name: each.facts["elements"] for each in every if getattr(each, "facts", {}).get("elements")}
    if len(set(found.values())) > 1:
        raise c.Failed("the results differ in their elements: " + ", ".join(f"{count} of {name}" for name, count in found.items()))


def prepare(case, every):
    for contender in every:
        print(f"{case.name}: preparing {contender.name}", file=sys.stderr)
        contender.prepare()
    must_have_run(every[0])
    check_flop(case, every)
    check_elements(every)


def must_have_run(first):
    if first.reason:
        raise c.Failed(f"{first.name}: {first.reason}")


def take_turns(case, every, rounds):
    samples = max(MIN_SAMPLES, min(MAX_SAMPLES, int(ROUND_NS / every[0].step_ns)))
    for number in range(1, rounds + 1):
        for i in range(len(every)):
            contender = every[(number + i) % len(every)]
            if not contender.reason:
                contender.run(number, samples)
        print(f"{case.name}: round {number} of {rounds}", file=sys.stderr)
    must_have_run(every[0])


def judge(every):
    """Marks the ways that a smaller type cripples."""
    for each in every:
        plain = [other for other in every if (other.framework, other.dtype) == (each.framework, "f32") and other.rounds and not other.reason]
        if each.dtype == "f32" or not each.rounds or each.reason or not plain:
            continue
        base = min(plain, key=table.median)
        times = table.ratios(each, base)[0]
        if times > FAR_SLOWER:
            said = f"crippled: {times:.1f} times as long as {base.name}"
            each.crippled, each.note = True, f"{said}; {each.note}" if each.note else said


def run_case(case, options, tools, directory):
    every = make_contenders(case, options, tools, directory)
    try:
        prepare(case, every)
        take_turns(case, every, options.rounds)
    finally:
        for contender in every:
            contender.finish()
    judge(every)
    return table.show_case(case, every)


class Tools:
    """The interpreters that have PyTorch and ONNX Runtime, their facts, and the environment of children."""

    def __init__(self, threads, cases):
        self.onnx_python, self.onnx = c.find_python(c.ONNX)
        self.gguf_python, self.gguf = c.find_python(c.GGUF)
        self.python, self.environment, self.said = None, {}, []
        needs_onnx = any(case.params is None for case in cases)
        if needs_onnx and not self.onnx_python:
            skip(f"no python3 here has ONNX Runtime ({self.onnx}); Debian 13's package is python3-onnxruntime")
        if any(case.network for case in cases):
            self.find_torch(threads, not needs_onnx)

    def find_torch(self, threads, needs_torch):
        self.python, self.torch = c.find_python(c.TORCH)
        if not self.python and not needs_torch:
            self.said.append(f"PyTorch is left out: no python3 here has it ({self.torch})")
            return
        if not self.python:
            skip(f"no python3 here has PyTorch ({self.torch}); Debian's package is python3-torch")
        if not self.torch["mkldnn"]:
            skip("this PyTorch has no oneDNN")
        if self.torch["blas"] and not any(name in self.torch["blas"] for name in ("openblas", "mkl")):
            skip(f"PyTorch's BLAS is {self.torch['blas']}, which would hold it back; Debian's package is libopenblas0-openmp")
        self.environment, self.said = host.environment_of(self.python, c.TORCH, self.torch["blas"], threads)

    def show(self, dtype):
        if self.python:
            self.show_torch(dtype)
        if self.onnx_python:
            print(f"ONNX Runtime {self.onnx['version']}: {self.onnx['provider']}, in inference")
        else:
            print(f"ONNX Runtime is left out: no python3 here has it ({self.onnx}); Debian 13's package is python3-onnxruntime")
        print("\n".join(self.said), flush=True)

    def show_torch(self, dtype):
        print(f"PyTorch {self.torch['version']}: {'; '.join(self.torch['config'])}; BLAS {self.torch['blas'] or 'unknown'}")
        for variant, reason in self.torch["variants"]["missing"].get(dtype, {}).items():
            print(f"PyTorch's variant {variant} is left out: {reason}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paradnn", help="the program")
    parser.add_argument("--dtype", choices=("f32", "bf16", "int8"), default="f32", help="of paradnn and of what it is compared with")
    parser.add_argument("--family", choices=sorted({case.family for case in CASES.values()}), help="only this one")
    parser.add_argument("--case", action="append", default=[], help="a name or pattern, of all cases")
    parser.add_argument("--id", action="append", default=[], help="instead: a model of paradnn, without run settings")
    parser.add_argument("--onnx", action="append", default=[], metavar="FILE", help="instead: an ONNX file, with sizes of its axes")
    parser.add_argument("--all", action="store_true", help="not only the short list")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--threads", type=int, default=len(host.cores()))
    parser.add_argument("--results", help="keep paradnn's result directories here")
    parser.add_argument("--csv", help="write the rows to this file, too")
    return parser.parse_args()


def chosen_cases(options):
    """In the order of the patterns, or of the ids."""
    if options.id or options.onnx:
        return [own(instance) for instance in options.id] + [of_file(instance) for instance in options.onnx]
    names = [name for pattern in options.case for name in fnmatch.filter(CASES, pattern)] if options.case else CASES
    found = [CASES[name] for name in dict.fromkeys(names) if options.family in (None, CASES[name].family) and
             (options.case or options.all or CASES[name].is_main)]
    return found or sys.exit("no such case; there are " + " ".join(CASES))


def cases_in_type(options):
    """And a sentence about those that do not exist in it."""
    cases = chosen_cases(options)
    there = [case for case in (in_dtype(case, options.dtype) for case in cases) if case]
    left_out = [case.name for case in cases if not in_dtype(case, options.dtype)]
    said = f"left out, as {options.dtype} is for inference: {' '.join(left_out)}" if left_out else ""
    return (there, said) if there else sys.exit(said)


def main():
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # children that are stopped would stay
    options = arguments()
    cases, left_out = cases_in_type(options)
    if not os.access(options.paradnn, os.X_OK):
        skip(f"{options.paradnn} is no program")
    options.paradnn = os.path.abspath(options.paradnn)
    tools = Tools(options.threads, cases)
    tools.show(options.dtype)
    print(left_out, end="\n" if left_out else "", flush=True)
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"the machine is not quiet: a load of {load:.1f} before anything runs; threads that wait actively suffer most", flush=True)
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.results or temporary
        os.makedirs(directory, exist_ok=True)
        try:
            c.call([options.paradnn, "ceilings", "-t", str(options.threads), "-o", os.path.join(directory, "roofs.csv")])
        except c.Failed as error:
            sys.exit(str(error))
        for case in cases:
            try:
                rows += run_case(case, options, tools, directory)
            except c.Failed as error:
                failed += 1
                print(f"\n{case.name}: {error}", flush=True)
            if options.csv and rows:
                table.write_csv(options.csv, rows)
    table.show_summary(rows)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
