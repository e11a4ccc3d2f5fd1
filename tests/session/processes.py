"""What tests of running sweeps share: the journal as it stands, and the worker of a driver."""

import os


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


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
