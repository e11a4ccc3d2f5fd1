"""The contenders of a comparison: networks in PyTorch and ONNX Runtime, each in a child process that is stopped between its rounds, and
paradnn, one visit of a sweep each round."""

import csv
import functools
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading

import floor

HERE = os.path.dirname(os.path.abspath(__file__))
TORCH, ONNX, GGUF = (os.path.join(HERE, name) for name in ("torch_child.py", "onnx_child.py", "gguf_model.py"))
# For one process, or one answer of a child: building and warming up, a round. Compiling a network takes a minute or two.
LIMIT_S = 900
# What llama.cpp's files call the types.
GGUF_TYPES = {"f32": "f32", "bf16": "bf16", "int8": "q8_0"}


class Failed(RuntimeError):
    """Says why a case or a contender cannot run."""


class Deadline:
    """While it is open, the process may run for LIMIT_S; then, or when an exception leaves, it is killed with all that it has started.
    It must lead a session of its own. reason: what to say if that happened, else empty."""

    def __init__(self, process):
        self.process, self.reason = process, ""
        self.timer = threading.Timer(LIMIT_S, self.expire)

    def __enter__(self):
        self.timer.start()
        return self

    def __exit__(self, kind, *_):
        self.timer.cancel()
        if kind:
            self.kill()

    def expire(self):
        self.reason = f"no answer within {LIMIT_S:g} s, killed"
        self.kill()

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def call(arguments, good=(0,), **environment):
    """stdout and peak memory of the process and its children; on failure, the last line of stderr is the reason."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(arguments, stdout=out, stderr=errors, env={**os.environ, **environment}, start_new_session=True)
        with Deadline(child) as deadline:
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if child.returncode not in good:
            why = deadline.reason or f"exit {child.returncode}: {last_line(errors) or 'nothing said'}"
            raise Failed(f"{os.path.basename(arguments[0])} {why}")
        return out.read(), usage.ru_maxrss * 1024


def last_line(file):
    """What a process said last, less what UCX, which PyTorch may bring, traces while the process ends."""
    file.seek(0)
    lines = [line for line in file.read().strip().splitlines() if " UCX " not in line]
    return lines[-1].strip() if lines else ""


def find_python(script):
    """An interpreter that can run the child, this one or the system's, and the child's facts; else None and the reason."""
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        try:
            return python, json.loads(call([python, script, "facts"])[0])
        except (Failed, OSError) as error:
            reason = str(error).rsplit("Error: ", 1)[-1]
    return None, reason


class Contender:
    """rounds: one list of samples in ns per round; reason: why there are none. step_ns: of one step, once it is ready. note: what to know of
    its times; crippled: and that no comparison with them counts."""

    def __init__(self, name, dtype="f32"):
        self.name, self.dtype = name, dtype
        self.framework = name.split(",")[0].split()[0]
        self.rounds, self.reason, self.note, self.crippled = [], "", "", False
        self.step_ns = self.peak_rss_bytes = self.plan_bytes = 0

    def medians(self):
        return [statistics.median(samples) for samples in self.rounds]

    def prepare(self):
        """Until it is ready for rounds."""

    def run(self, number, samples):
        """Appends round `number`."""
        raise NotImplementedError

    def finish(self):
        """Leaves no process behind."""


class Child(Contender):
    def __init__(self, name, command, environment, dtype="f32"):
        super().__init__(name, dtype)
        self.command, self.environment = command, environment
        self.process, self.errors, self.facts = None, None, {}

    def prepare(self):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env={**os.environ, **self.environment}, start_new_session=True)
        self.facts = self.answer()
        self.step_ns, self.note = self.facts.get("step_ns", 0), self.facts.get("note", "")

    def answer(self):
        """The next line of JSON; stops the process."""
        with Deadline(self.process) as deadline:
            for line in self.process.stdout:
                if line.startswith("{"):
                    self.process.send_signal(signal.SIGSTOP)
                    return json.loads(line)
            self.process.wait()
        status = self.process.returncode
        self.reason = deadline.reason or (f"killed by signal {-status}" if status < 0 else last_line(self.errors)[-160:] or f"exit {status}")
        return {}

    def run(self, number, samples):
        self.process.send_signal(signal.SIGCONT)
        try:
            print(samples, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # it died meanwhile, and there will be no answer
        result = self.answer()
        if result:
            self.rounds.append(result["samples_ns"])
            self.peak_rss_bytes = result["peak_rss_bytes"]

    def finish(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            with Deadline(self.process):
                self.process.stdin.close()
                self.process.wait()


class Torch(Child):
    def __init__(self, python, case, variant, options, environment, result):
        words = [case.network, case.mode, str(case.batch)]
        is_plain = variant == "eager" and case.dtype != "f32"
        super().__init__(f"torch {variant}" + " f32" * is_plain, [python, TORCH, *words, variant, str(options.threads), result], environment,
                         "f32" if is_plain else case.dtype)
        self.case = case

    def prepare(self):
        super().prepare()
        if not self.reason and self.case.torch_params and self.facts["params"] != self.case.torch_params:
            raise Failed(f"PyTorch has {self.facts['params']} parameters, expected {self.case.torch_params}")


class Onnx(Child):
    """export writes the model. Its threads are no OpenMP threads, and variables that bind those would leave it one core."""

    def __init__(self, name, dtype, python, options, model, result, export, said=""):
        super().__init__(name, [python, ONNX, model, dtype, str(options.threads), result, said], {"OMP_NUM_THREADS": "1"}, dtype)
        self.export = export

    def prepare(self):
        try:
            self.export()
        except Failed as error:
            self.reason = f"the model cannot be exported: {error}"
            return
        super().prepare()


def types_of(case):
    """Of each framework's ways: in another type than f32, one in f32 comes first, which says what the type brings it. With what to write
    behind its name."""
    return [("f32", "")] if case.dtype == "f32" else [("f32", " f32"), (case.dtype, f" {case.dtype}")]


def onnx_of_torch(tools, case, options, result, directory):
    """For int8, ONNX Runtime quantizes the export in f32."""
    @functools.cache
    def export(dtype):
        model = os.path.join(directory, f"{case.name}.{dtype}.onnx")
        call([tools.python, TORCH, "export", case.network, case.mode, str(case.batch), model, dtype], **tools.environment)

    for dtype, suffix in types_of(case):
        source = "bf16" if dtype == "bf16" else "f32"
        yield Onnx(f"onnxruntime{suffix}", dtype, tools.onnx_python, options, os.path.join(directory, f"{case.name}.{source}.onnx"), result,
                   functools.partial(export, source))


def onnx_of_paradnn(tools, case, options, directory):
    """On our export, which is in f32, and whose weights are ours, so that there is nothing to compare its result with."""
    model = os.path.join(directory, f"{case.name.replace('/', '-')}.ours.onnx")

    @functools.cache
    def export(settings):
        call([options.paradnn, "export", id_of(case._replace(settings=settings)), "-o", model, "--weights"])

    for dtype, suffix in types_of(case):
        settings = case.settings if dtype == "bf16" else "infer"
        yield Onnx(f"onnxruntime{suffix}, our export", dtype, tools.onnx_python, options, model, "", functools.partial(export, settings))


class LlamaCpp(Contender):
    """A run of llama-bench a round, after the warm-up that it begins with, on a model of the same sizes. Of decoding, a run is STEPS tokens, its
    first ones, which is in its favour: filling its cache would take most of the time."""

    STEPS = 16

    def __init__(self, tools, case, options, directory, dtype, suffix):
        super().__init__(f"llama.cpp{suffix}", dtype)
        self.python, self.bench = tools.gguf_python, tools.gguf.get("bench") if tools.gguf_python else tools.gguf
        self.case, self.threads, self.model = case, options.threads, os.path.join(directory, f"{case.name}.{dtype}.gguf")
        self.facts = {}

    def prepare(self):
        if not self.python:
            self.reason = f"no python3 here has gguf and llama-bench ({self.bench})"
            return
        call([self.python, GGUF, self.model, GGUF_TYPES[self.dtype], *map(str, self.case.gguf)])
        self.step_ns = self.visit()

    def visit(self):
        """The time of a step, in ns."""
        prompt, steps = (self.case.length, 1) if self.case.mode == "infer" else (0, self.STEPS)
        work = ["-p", prompt, "-n", 0] if prompt else ["-p", 0, "-n", steps]
        said, peak = call([self.bench, "-m", self.model, *map(str, work), "-r", "1", "-t", str(self.threads), "-o", "json"])
        run = json.loads(said)[0]
        if run["model_n_params"] != self.case.params:
            raise Failed(f"llama.cpp has {run['model_n_params']} parameters, expected {self.case.params}")
        self.peak_rss_bytes = max(self.peak_rss_bytes, peak)
        return run["samples_ns"][0] / steps

    def run(self, number, samples):
        self.rounds.append([self.visit()])

    def finish(self):
        if os.path.exists(self.model):
            os.remove(self.model)


def onnx_of_file(tools, case, options, result):
    """On the file itself, with PyTorch's inputs or such as paradnn's import of it draws."""
    family, _ = call([options.paradnn, "import", case.file, "--loss", "none", "-o", "/dev/stdout"])
    fills = {name: f"{word} {scale}" for name, word, scale in re.findall(r"^  in_(\w+): .*fill: \{(\w+): (\S+?)\}", family, re.MULTILINE)}
    axes = row_of(options, id_of(case))["model"].partition("/")[2].split(",")
    said = {"sizes": {axis: int(size) for axis, size in (word.split("=") for word in axes if word)}, "fills": fills}
    def check(dtype):
        if dtype == "bf16":
            raise Failed("the file is in f32, and nothing here converts it")

    for dtype, suffix in types_of(case):
        yield Onnx(f"onnxruntime{suffix}", dtype, tools.onnx_python, options, case.file, result, functools.partial(check, dtype), json.dumps(said))


def row_of(options, instance):
    listed, _ = call([options.paradnn, "list", instance, "--format", "csv"])
    return next(csv.DictReader(listed.splitlines()))


def id_of(case):
    return f"{case.id}{f',batch={case.batch}' if case.batch else ''},mode={case.settings}"


class Paradnn(Contender):
    """Every round is one visit, in a result directory of its own: in a longer sweep the program may add visits on its own."""

    def __init__(self, case, fuse, options, directory):
        super().__init__("paradnn" + (f" {fuse}" if fuse != "none" else ""), case.dtype)
        self.program, self.threads, self.floors = options.paradnn, options.threads, []
        self.directory, self.roofs = os.path.join(directory, f"{case.name.replace('/', '-')}.{fuse}"), os.path.join(directory, "roofs.csv")
        settings = f"threads={options.threads}" + (f",fuse={fuse}" if fuse != "none" else "")
        self.model = f"{id_of(case)},{settings}"
        row = row_of(options, self.model)
        if case.params and int(row["params"]) != case.params:
            raise Failed(f"paradnn has {row['params']} parameters, expected {case.params}")
        self.id, self.flop = row["id"], int(row["flop_count"])

    def run(self, number, samples):
        # A visit's warm-up is a quarter of its time, and a precision of 50 % ends it at the minimum number of samples.
        rules = {"rounds": 1, "min_samples": max(3, samples), "max_time": "4s", "precision": "50%"}
        sets = [word for key, value in rules.items() for word in ("--set", f"measure.{key}={value}")]
        directory = f"{self.directory}.round{number}"
        _, peak = call([self.program, "sweep", self.model, "-o", directory, "--ceilings", self.roofs, *sets, "--set", "limits.time=900s",
                        "--set", "limits.memory=90%"], good=(0, 1))
        with open(os.path.join(directory, "journal.csv"), newline="", encoding="utf-8") as file:
            visits = [row for row in csv.DictReader(file) if row["id"] == self.id]
        if len(visits) != 1:
            raise Failed(f"{directory}: {len(visits)} visits of {self.id}, expected one: --results must be a new directory")
        visit = visits[0]
        if visit["status"] != "ok":
            self.reason = f"{visit['status']}: {visit['reason']}"
            return
        self.rounds.append([float(visit["time_ns_median"])])
        self.floors.append(floor.step_ns(directory, self.threads))
        self.peak_rss_bytes = max(self.peak_rss_bytes, peak)
        self.plan_bytes = int(visit["plan_bytes"])
