"""The contenders of a comparison: networks in PyTorch and ONNX Runtime, each in a child process that is stopped between its rounds, and
paradnn, one visit of a sweep each round."""

import csv
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
TORCH, ONNX = os.path.join(HERE, "torch_child.py"), os.path.join(HERE, "onnx_child.py")
# For one process, or one answer of a child: building and warming up, a round. Compiling a network takes a minute or two.
LIMIT_S = 900


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
    file.seek(0)
    lines = file.read().strip().splitlines()
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
    """rounds: one list of samples in ns per round; reason: why there are none. step_ns: of one step, once it is ready."""

    def __init__(self, name):
        self.name = name
        self.rounds, self.reason = [], ""
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
    def __init__(self, name, command, environment):
        super().__init__(name)
        self.command, self.environment = command, environment
        self.process, self.errors, self.facts = None, None, {}

    def prepare(self):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env={**os.environ, **self.environment}, start_new_session=True)
        self.facts = self.answer()
        self.step_ns = self.facts.get("step_ns", 0)

    def answer(self):
        """The next line of JSON; stops the process."""
        with Deadline(self.process) as deadline:
            for line in self.process.stdout:
                if line.startswith("{"):
                    self.process.send_signal(signal.SIGSTOP)
                    return json.loads(line)
            self.process.wait()
        self.reason = deadline.reason or last_line(self.errors)[:160] or f"exit {self.process.returncode}"
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
        super().__init__(f"torch {variant}", [python, TORCH, *words, variant, str(options.threads), result], environment)
        self.case, self.is_eager = case, variant == "eager"

    def prepare(self):
        super().prepare()
        if not self.reason and self.facts["params"] != self.case.torch_params:
            raise Failed(f"PyTorch has {self.facts['params']} parameters, expected {self.case.torch_params}")


class Onnx(Child):
    """torch_python exports the model. Its threads are no OpenMP threads, and variables that bind those would leave it one core."""

    def __init__(self, python, torch_python, case, options, environment, result, directory):
        self.model = os.path.join(directory, f"{case.name}.onnx")
        super().__init__("onnxruntime", [python, ONNX, self.model, str(options.threads), result], {"OMP_NUM_THREADS": "1"})
        self.export = lambda: call([torch_python, TORCH, "export", case.network, case.mode, str(case.batch), self.model], **environment)

    def prepare(self):
        try:
            self.export()
        except Failed as error:
            self.reason = f"the model cannot be exported: {error}"
            return
        super().prepare()


class Paradnn(Contender):
    """Every round is one visit, in a result directory of its own: in a longer sweep the program may add visits on its own."""

    def __init__(self, case, fuse, options, directory):
        super().__init__("paradnn" + (f" {fuse}" if fuse != "none" else ""))
        self.program = options.paradnn
        self.directory, self.roofs = os.path.join(directory, f"{case.name}.{fuse}"), os.path.join(directory, "roofs.csv")
        settings = f"batch={case.batch},mode={case.settings},threads={options.threads}" + (f",fuse={fuse}" if fuse != "none" else "")
        listed, _ = call([self.program, "list", f"{case.id},{settings}", "--format", "csv"])
        row = next(csv.DictReader(listed.splitlines()))
        if int(row["params"]) != case.params:
            raise Failed(f"paradnn has {row['params']} parameters, expected {case.params}")
        self.id, self.flop = row["id"], int(row["flop_count"])

    def run(self, number, samples):
        # A visit's warm-up is a quarter of its time, and a precision of 50 % ends it at the minimum number of samples.
        rules = {"rounds": 1, "min_samples": max(3, samples), "max_time": "4s", "precision": "50%"}
        sets = [word for key, value in rules.items() for word in ("--set", f"measure.{key}={value}")]
        directory = f"{self.directory}.round{number}"
        _, peak = call([self.program, "sweep", self.id, "-o", directory, "--ceilings", self.roofs, *sets, "--set", "limits.time=900s",
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
        self.peak_rss_bytes = max(self.peak_rss_bytes, peak)
        self.plan_bytes = int(visit["plan_bytes"])
