#!/usr/bin/env python3
"""What may be wrong with a joined directory or with who joins it: each is one clear line, and nothing is lost.

Usage: join_input_test.py PARADNN"""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from files import content, read, rows, write

SPEC = """\
sweep: input
run: {threads: 1}
measure: {rounds: 3, precision: 90%, min_samples: 3, max_time: 60ms}
models:
  - fc: {layers: 1, nodes: [8, 16], input: 16, output: 8, batch: [1, 2]}
"""
PARADNN = os.path.abspath(sys.argv[1])
INSTANCES = 4
LONG_VISITS = ["--set", "measure.max_time=600ms"]  # in which a process can be killed
EXPIRY = ["--lease-expiry", "12s"]  # of who joins first. A join that finds nothing to do waits for a part of it
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}


def command(directory, *options, spec="../spec.yaml"):
    ceilings = ["--ceilings", "../ceilings.csv"] if os.path.exists("../ceilings.csv") else []
    expiry = [] if EXPIRY[0] in options or os.path.exists(os.path.join(directory, "leases")) else EXPIRY
    return [PARADNN, "sweep", spec, "-o", directory, "--join", *ceilings, *expiry, *options]


def join(directory, *options, rc=0, spec="../spec.yaml", prefix=(), timeout=None, **variables):
    run = subprocess.run([*prefix, *command(directory, *options, spec=spec)], capture_output=True, text=True, check=False,
                         env={**ENVIRONMENT, **variables}, timeout=timeout)
    assert run.returncode == rc, (run.returncode, run.stderr)
    assert run.stdout == "", run.stdout
    return run.stderr


def refuse(expected, directory, *options, rc=2, **more):
    text = join(directory, *options, rc=rc, **more)
    assert text.count("\n") == 1 and expected in text, text


def merge(directory, rc=0):
    run = subprocess.run([PARADNN, "merge", directory, "-o", directory], capture_output=True, text=True, check=False)
    assert run.returncode == rc, run.stderr
    return run.stderr


def check(directory):
    """Merges a complete sweep: three visits to each instance."""
    merge(directory)
    counts = [int(row["rounds"]) for row in rows(directory, "results.csv")]
    assert len(counts) == INSTANCES and all(count >= 3 for count in counts), counts
    return sum(counts)


def visits(directory):
    return sum(max(read(path).count("\n") - 1, 0) for path in glob.glob(os.path.join(directory, "parts", "*", "journal.csv")))


def interrupted(directory, after=2, kill=signal.SIGKILL, prefix=(), options=()):
    """A join that is killed once it has made some visits. Returns its part."""
    process = subprocess.Popen([*prefix, *command(directory, *LONG_VISITS, *options)], stderr=subprocess.DEVNULL,
                               start_new_session=True, env=ENVIRONMENT)
    while not os.path.isdir(directory) or visits(directory) < after:
        assert process.poll() is None, "has ended by itself"
        time.sleep(0.005)
    os.killpg(process.pid, kill)
    process.wait()
    return os.listdir(os.path.join(directory, "parts"))[0]


def slow(directory, *options, **more):
    return join(directory, *LONG_VISITS, *options, **more)


def test_whole():
    text = join("d")
    assert "4 of 4 instances are done" in text and "next:   paradnn merge d -o d" in text, text
    assert check("d") >= 12
    text = join("d")
    assert "nothing to do: 4 of 4 instances are done" in text, text
    assert len(os.listdir("d/parts")) == 1


def test_goes_on():
    """What a process left on this host counts, whether it was killed or asked to end."""
    for number, kill in enumerate((signal.SIGKILL, signal.SIGTERM)):
        directory = f"d{number}"
        interrupted(directory, kill=kill)
        before = visits(directory)
        assert 0 < before < 12, before
        slow(directory)
        assert check(directory) >= 12
        assert len(os.listdir(os.path.join(directory, "parts"))) == 2


def test_time_and_budget():
    """What does not fit into the time or the budget is left to others, at once."""
    for number, limit in enumerate((("--time-left", "7s"), ("--set", "limits.budget=1s"))):
        directory = f"d{number}"
        join(directory, "--set", "measure.max_time=600ms", "--set", "measure.rounds=30", *limit)
        events = [line for name in sorted(os.listdir(f"{directory}/leases")) for line in read(directory, "leases", name).splitlines()
                  if line.startswith("event: ")]
        assert events.count("event: claim") == events.count("event: ended") <= INSTANCES, events
    text = join("late", "--time-left", "1s")
    assert "nothing to do: 0 of 4 instances are done, 4 are left to claim" in text, text


def test_other_node():
    """A process that cannot be seen from here is dead when it has not counted for the expiry."""
    prefix = ("unshare", "--pid", "--fork", "--kill-child")
    if subprocess.run([*prefix, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        print("no process of another PID namespace: unshare does not work here")
        return
    interrupted("d", prefix=prefix, options=("--lease-expiry", "1s"))
    slow("d")
    assert check("d") >= 12
    events = [read("d/leases", name) for name in os.listdir("d/leases") if name.isdigit()]
    assert sum("event: lost" in event for event in events) == 1, events


def test_other_sweep():
    join("d")
    before = content("d")
    refuse("d/spec.yaml: has 'measure: {rounds: 3, precision: 90%, min_samples: 3, max_time: 60ms}' where this sweep has 'measure: {rounds: 4, ",
           "d", "--set", "measure.rounds=4")
    refuse("d/leases: --lease-expiry is 5.00 s, and the others have 12.0 s", "d", "--lease-expiry", "5s")
    refuse("d/leases: the others have joined without --allow-slow", "d", "--allow-slow")
    refuse("--join and --shard cannot be combined", "d", "--shard", "0/2")
    refuse("--join and --retry cannot be combined", "d", "--retry")
    assert content("d") == before


def test_other_version():
    join("d")
    plan = read("d/leases/00000000")
    write(plan.replace("schema: 1", "schema: 7", 1), "d/leases/00000000")
    refuse("d/leases/00000000: another version joined first: its leases have schema 7, those of this program", "d")
    write(re.sub(r"journal_schema: \d+", "journal_schema: 99", plan), "d/leases/00000000")
    refuse("d/leases/00000000: another version joined first: its journals have schema 99, those of this program", "d")
    write(plan.replace("instances: 4", "instances: 5"), "d/leases/00000000")
    refuse("d/leases: the spec has 5 instances on the host that joined first and 4 here", "d")


def test_other_setup():
    """One host has one setup, or its visits could not be merged."""
    part = interrupted("d")
    path = f"d/parts/{part}/environment.yaml"
    whole = read(path)
    write(whole.replace("# identity", "", 0).replace('cpu: "', 'cpu: "not '), path)
    before = content("d")
    text = slow("d", rc=2)
    assert text.count("\n") == 1 and f"{path}: cpu was \"not " in text, text
    after = content("d")
    assert {name: text for name, text in after.items() if not name.startswith("leases")} == \
        {name: text for name, text in before.items() if not name.startswith("leases")}
    write(whole, path)
    slow("d")
    assert check("d") >= 12


def test_not_joined():
    """A directory is that of one process, or of many."""
    alone = [PARADNN, "sweep", "../spec.yaml", "--ceilings", "../ceilings.csv", "-o"]
    subprocess.run([*alone, "alone"], check=True, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    refuse("alone: holds a sweep that one process runs; give --join a directory of its own", "alone")
    join("d")
    run = subprocess.run([*alone, "d"], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert run.returncode == 2 and "d: a joined sweep; go on with --join, or merge it first" in run.stderr, run
    check("d")
    run = subprocess.run([*alone, "d"], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert run.returncode == 0 and "4 instances: 4 ok" in run.stderr, run


def test_unsupported():
    """What stays unsupported is done with it, also for --allow-slow, which tries it once more in a sweep alone."""
    for number, options in enumerate(((), ("--allow-slow",))):
        sets = ("--set", "run.backend=reference", "--set", "run.isa=sse41")
        text = join(f"d{number}", *sets, *options, timeout=60)
        assert "4 of 4 instances are done" in text and "4 unsupported" in text, text
        assert visits(f"d{number}") == INSTANCES


def test_foreign_files():
    part = interrupted("d")
    write("x", "d/leases/notes.txt")
    write("x", "d/leases/00000077")
    write("x", "d/leases/beat-nobody")
    write("x", "d/parts/notes.txt")
    os.makedirs("d/parts/folder")
    os.makedirs("d/parts/.hidden")
    write("x", "d/notes.txt")
    slow("d")
    assert part in os.listdir("d/parts")
    assert check("d") >= 12


def test_damaged_log():
    join("d")
    last = sorted(name for name in os.listdir("d/leases") if name.isdigit())[-1]
    whole = read("d/leases", last)
    write(whole[:-5], "d/leases", last)
    before = content("d")
    refuse(f"d/leases/{last}: is damaged or not a record of leases: 'record' is wrong or missing", "d")
    write("", "d/leases", last)
    refuse(f"d/leases/{last}: is damaged or not a record of leases", "d")
    os.remove(os.path.join("d/leases", last))
    os.makedirs(os.path.join("d/leases", last))
    refuse(f"d/leases/{last}: is not a record of leases", "d")
    os.rmdir(os.path.join("d/leases", last))
    write(whole, "d/leases", last)
    assert set(content("d")) == set(before)
    join("d")
    assert check("d") >= 12


def test_half_written_journal():
    part = interrupted("d", after=3)
    path = f"d/parts/{part}/journal.csv"
    write(read(path) + read(path).splitlines()[-1][:-40], path)
    slow("d")
    assert check("d") >= 12
    # Damage in the middle: the part does not count, and merge names it.
    part = interrupted("e", after=3)
    path = f"e/parts/{part}/journal.csv"
    lines = read(path).split("\n")
    write("\n".join([lines[0], "what is this", *lines[2:]]), path)
    text = slow("e")
    assert f"{path}:2: not a row of a journal; instances of this part are measured again" in text, text
    assert f"{path}:2" in merge("e", rc=2)
    shutil.rmtree(f"e/parts/{part}")
    assert check("e") >= 12


def test_finished_part_is_damaged_or_gone():
    """What its ended leases had done is measured again by whoever looks next, once."""
    for directory in ("damaged", "gone"):
        join(directory)
        part, = os.listdir(f"{directory}/parts")
        path = f"{directory}/parts/{part}/journal.csv"
        expected = f"{path}: is gone; instances of this part are measured again"
        if directory == "damaged":
            lines = read(path).split("\n")
            write("\n".join([lines[0], "what is this", *lines[2:]]), path)
            expected = f"{path}:2: not a row of a journal; instances of this part are measured again"
        else:
            shutil.rmtree(f"{directory}/parts/{part}")
        text = join(directory)
        assert text.count(expected) == 1 and "4 of 4 instances are done" in text, text
        assert "nothing to do: 4 of 4 instances are done" in join(directory)
        if directory == "damaged":
            assert f"{path}:2" in merge(directory, rc=2)
            shutil.rmtree(f"{directory}/parts/{part}")
            assert "nothing to do: 4 of 4 instances are done" in join(directory)
        assert check(directory) >= 12
    # What was merged is not missed.
    shutil.rmtree("gone/parts")
    assert "nothing to do: 4 of 4 instances are done" in join("gone")
    assert check("gone") >= 12


def test_full_disk():
    os.makedirs("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", "small"], check=False, stderr=subprocess.DEVNULL).returncode:
        print("no full disk: mount does not work here")
        return
    try:
        interrupted("small/d", kill=signal.SIGTERM)
        before = visits("small/d")
        with open("small/filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        text = slow("small/d", rc=1)
        assert text.count("\n") == 1 and "small/d/" in text and "No space left on device" in text, text
        assert visits("small/d") == before
        run = subprocess.run([PARADNN, "merge", "small/d", "-o", "small/d"], capture_output=True, text=True, check=False)
        assert run.returncode == 1 and "No space left on device" in run.stderr.splitlines()[-1], run
        assert visits("small/d") == before and not glob.glob("small/d/*.tmp"), os.listdir("small/d")
        os.remove("small/filler")
        slow("small/d")
        assert check("small/d") >= 12
    finally:
        subprocess.run(["umount", "small"], check=True)


def test_no_directory():
    write("x", "file")
    refuse("file: exists and is not a directory", "file")
    refuse("none/d: cannot be created: No such file or directory", "none/d")
    run = subprocess.run([PARADNN, "sweep", "../spec.yaml", "--join"], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "--join needs the directory that all share, give -o DIR" in run.stderr, run


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        ENVIRONMENT["PARADNN_PRESENCE_DIR"] = os.path.join(folder, "nowhere")
        write(SPEC, "spec.yaml")
        subprocess.run([PARADNN, "ceilings", "--threads", "1", "--seconds", "2", "-o", "ceilings.csv"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name, test in list(globals().items()):
            if not name.startswith("test_") or (len(sys.argv) > 2 and name not in sys.argv[2:]):
                continue
            os.makedirs(name)
            os.chdir(name)
            try:
                test()
            except BaseException:
                print(f"{name} failed", file=sys.stderr)
                raise
            os.chdir(folder)
            print(f"{name} ok", flush=True)


if __name__ == "__main__":
    main()
