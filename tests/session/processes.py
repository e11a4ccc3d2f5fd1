"""What tests of running sweeps share: the journal as it stands, the worker of a driver, and its clock. Nothing here has a time limit: what
hangs is ended by meson."""

import os
import signal
import struct
import time

LOOK_S = 0.002


def journal_lines(directory):
    """The complete lines of the journal; a torn last line does not count."""
    try:
        with open(os.path.join(directory, "journal.csv"), "rb") as file:
            return file.read().split(b"\n")[:-1]
    except OSError:
        return []


def worker_of(driver):
    """The worker's pid once it runs its own program, or None."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                command = file.read().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == driver and command[0] == b"paradnn-worker":
            return int(entry)
    return None


def state(pid):
    """The kernel's letter for it; Z once it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def is_running(pid):
    return state(pid) not in "ZX"


def wait_until(condition):
    while not condition():
        time.sleep(LOOK_S)


def stop(pid):
    """As by ^Z, and waits until it is. False if it has ended."""
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return False
    wait_until(lambda: state(pid) in "TZX")
    return state(pid) == "T"


def wait_for_poll(pid, stopped):
    """Until it waits for what a stopped process would say; at once where the kernel does not tell what a process waits for."""
    def place(of):
        with open(f"/proc/{of}/wchan", encoding="utf-8") as file:
            return file.read()
    if place(stopped) != "0":
        wait_until(lambda: "poll" in place(pid))


def wait_for_turns(pid, count):
    """Until it has waited and gone on that often."""
    def turns():
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
    most = turns() + count
    wait_until(lambda: turns() >= most)


def preload(*modules):
    """Variables of a program; sanitizers want to be first and need not be."""
    return {"LD_PRELOAD": " ".join(modules), "ASAN_OPTIONS": "verify_asan_link_order=0"}


class Clock:
    """The clock of drivers that are started with these variables: the real one, which the test moves on; see moved_clock.c."""

    def __init__(self, module, path):
        self.path, self.numbers = path, [0, 0, 0]
        self.variables = {**preload(module), "MOVED_CLOCK": path}
        self.write()

    def write(self):
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb") as file:
            file.write(struct.pack("=3q", *self.numbers))

    def move(self, seconds):
        """At once."""
        self.numbers[0] += int(seconds * 1e9)
        self.write()

    def jump_until(self, condition, seconds):
        """A jump now and then: the driver counts each for a second at most of the limits of its worker, and in full for all others."""
        while not condition():
            self.move(seconds)
            time.sleep(0.3)

    def each_look_takes(self, seconds):
        """From now on, as long as that is not 0."""
        self.numbers[1] = int(seconds * 1e9)
        self.write()

    def change_date(self, seconds):
        """The time of day alone."""
        self.numbers[2] += int(seconds * 1e9)
        self.write()
