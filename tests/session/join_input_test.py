#!/usr/bin/env python3
"""What may be wrong with a joined directory or with who joins it: each is one clear line, and nothing is lost. What may be wrong with the log
of leases is in test_leases.c.

Usage: join_input_test.py PARADNN MOVED_CLOCK.so KILL_AT.so [TEST...]"""

import collections
import csv
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

from files import content, read, ROOFS, rows, write
from processes import Clock, preload, state, stop, wait_until

SPEC = """\
sweep: input
run: {threads: 1}
measure: {rounds: 3, precision: 90%, min_samples: 3, max_time: 1ms, probe: off}
limits: {time: 10h}
models:
  - fc: {layers: 1, nodes: [8, 16], input: 16, output: 8, batch: [1, 2]}
"""
PARADNN, MOVED_CLOCK, KILL_AT = (os.path.abspath(path) for path in sys.argv[1:4])
INSTANCES = 4
EXPIRY_S = 36000
EXPIRY = ["--lease-expiry", f"{EXPIRY_S}s"]  # of who joins first
ENVIRONMENT = needs.quiet()
CALLS = {}  # that change files, of a join until it has made so many visits


def command(directory, *options, spec="../spec.yaml"):
    expiry = [] if os.path.exists(os.path.join(directory, "leases")) else EXPIRY
    return [PARADNN, "sweep", spec, "-o", directory, "--join", "--ceilings", "../ceilings.csv", *expiry, *options]


def join(directory, *options, rc=0, spec="../spec.yaml", prefix=(), **variables):
    run = subprocess.run([*prefix, *command(directory, *options, spec=spec)], capture_output=True, text=True, check=False,
                         env={**ENVIRONMENT, **variables})
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


def interrupted(directory, after=2, prefix=()):
    """A join that is killed once it has made some visits, between two calls that change files. Returns its part."""
    for calls in range(CALLS.get(after, 1), 1000, 5):
        subprocess.run([*prefix, *command(directory)], stderr=subprocess.DEVNULL, check=False,
                       env={**ENVIRONMENT, **preload(KILL_AT), "KILL_AT": str(calls)})
        if visits(directory) >= after:
            break
        shutil.rmtree(directory, ignore_errors=True)
    CALLS[after] = calls
    assert after <= visits(directory) < 3 * INSTANCES, visits(directory)
    part, = os.listdir(os.path.join(directory, "parts"))
    return part


def test_whole():
    text = join("d")
    assert "4 of 4 instances are done" in text and "next:   paradnn merge d -o d" in text, text
    assert check("d") >= 3 * INSTANCES
    text = join("d")
    assert "nothing to do: 4 of 4 instances are done" in text, text
    assert len(os.listdir("d/parts")) == 1


def test_goes_on():
    """What a killed process left on this host counts, but for the files that it was about to write."""
    interrupted("d")
    for place in "d", "d/leases":
        write("half a rec", place, "paradnn-0123456789abcdef.tmp")
    join("d")
    assert check("d") >= 3 * INSTANCES
    assert len(os.listdir("d/parts")) == 2
    assert not glob.glob("d/**/*.tmp", recursive=True) and not glob.glob("d/leases/[!0-9]*"), os.listdir("d/leases")


def test_time_and_budget():
    """What does not fit into the time or the budget is left to others, at once."""
    for number, limit in enumerate((["--time-left", "10h"], ["--set", "limits.budget=10h"])):
        directory, clock = f"d{number}", Clock(MOVED_CLOCK, f"clock{number}")
        with subprocess.Popen(command(directory, "--set", "measure.rounds=10000", *limit), stderr=subprocess.PIPE, text=True,
                              env={**ENVIRONMENT, **clock.variables}) as process:
            wait_until(lambda: os.path.isdir(directory) and visits(directory) or process.poll() is not None)
            clock.move(20 * 3600)
            said = process.stderr.read()
        assert process.returncode == 0 and "left to claim" in said, (process.returncode, said)
        events = [line for name in sorted(os.listdir(f"{directory}/leases")) for line in read(directory, "leases", name).splitlines()
                  if line.startswith("event: ")]
        assert 0 < events.count("event: claim") == events.count("event: ended") <= INSTANCES, events
    text = join("late", "--time-left", "1s")
    assert "nothing to do: 0 of 4 instances are done, 4 are left to claim" in text, text


def claimed(directory, *options):
    """What a process claims first, as list has it; it is ended then."""
    with subprocess.Popen(command(directory, *options, spec="wide.yaml"), stderr=subprocess.DEVNULL, env=ENVIRONMENT) as process:
        wait_until(lambda: os.path.exists(f"{directory}/leases/00000001") or process.poll() is not None)
        process.terminate()
    run = subprocess.run([PARADNN, "list", "wide.yaml", "--format", "csv"], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    instances = list(csv.DictReader(run.stdout.splitlines()))
    record, = [line for line in read(directory, "leases", "00000001").splitlines() if line.startswith("list: ")]
    spans = [part.split("-") for part in record[len("list: "):].split(",")]
    return [instances[i] for span in spans for i in range(int(span[0]), int(span[-1]) + 1)]


def test_order_of_claims():
    """The longest come first; with a budget or an end, a balanced sample does, or the shortest."""
    write("sweep: wide\nrun: {mode: [infer, train], threads: 1}\nmeasure: {rounds: 3, probe: off}\nmodels:\n  - fc: {layers: [1, 2, 4, 8], "
          "nodes: [64, 128, 256, 512], input: 64, output: 8, batch: [4, 8, 16, 32]}\n", "wide.yaml")
    last, first = claimed("last"), claimed("first", "--set", "limits.budget=1000h", "--set", "limits.reach=smallest")
    assert len(last) >= 2 and all((row["layers"], row["nodes"]) == ("8", "512") for row in last), last
    assert len(first) >= 8 and not any("512" in (row["nodes"], row["batch"]) for row in first), first
    for number, limit in enumerate((["--time-left", "1000h"], ["--set", "limits.budget=1000h"])):
        sample = claimed(f"sample{number}", *limit)
        counts = {key: collections.Counter(row[key] for row in sample) for key in ("run_mode", "layers", "nodes", "batch")}
        assert len(sample) >= 8, sample
        assert all(max(of.values()) - (min(of.values()) if len(of) == n else 0) <= 2 for of, n in zip(counts.values(), (2, 4, 4, 4))), counts


def test_other_node():
    """A process that cannot be seen from here is dead when it has not counted for the expiry."""
    prefix = ("unshare", "--pid", "--fork", "--kill-child")
    if subprocess.run([*prefix, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        print("no process of another PID namespace: unshare does not work here")
        return
    interrupted("d", prefix=prefix)
    clock = Clock(MOVED_CLOCK, "clock")
    with subprocess.Popen(command("d"), stderr=subprocess.DEVNULL, env={**ENVIRONMENT, **clock.variables}) as process:
        clock.jump_until(lambda: process.poll() is not None, 2 * EXPIRY_S)
    assert process.returncode == 0, process.returncode
    assert check("d") >= 3 * INSTANCES
    events = [read("d/leases", name) for name in os.listdir("d/leases") if name.isdigit()]
    assert sum("event: lost" in event for event in events) == 1, events


def test_neighbour_dies():
    """Who waits for a process of this host sees soon that it has died, however long leases last: here, for years."""
    long = [word for word in command("d", "--lease-expiry", "100000h", "--set", "measure.rounds=200") if word != EXPIRY[1]]
    long.remove(EXPIRY[0])
    with subprocess.Popen(long, stderr=subprocess.DEVNULL, env=ENVIRONMENT) as first:
        wait_until(lambda: os.path.isdir("d") and visits("d"))
        assert stop(first.pid)
        with subprocess.Popen(long, stderr=subprocess.DEVNULL, env=ENVIRONMENT) as second:
            wait_until(lambda: "nanosleep" in read("/proc", str(second.pid), "wchan") or state(first.pid) != "T")
            first.kill()
        assert second.returncode == 0, second.returncode
    assert check("d") >= 200 * INSTANCES
    assert sum("event: lost" in read("d/leases", name) for name in os.listdir("d/leases") if name.isdigit()) == 1


def test_cores_of_their_own():
    """The second process on a host measures on a core that the first has not, and their parts are still of one setup."""
    if needs.cores(PARADNN) < 2:
        print("no second core")
        return
    os.makedirs("presence")
    environment = {**ENVIRONMENT, "PARADNN_PRESENCE_DIR": os.path.abspath("presence")}
    long = command("d", "--set", "measure.rounds=200")
    with subprocess.Popen(long, stderr=subprocess.PIPE, text=True, env=environment) as first:
        wait_until(lambda: os.path.isdir("d") and visits("d"))
        assert stop(first.pid)
        before = set(os.listdir("d/parts"))
        with subprocess.Popen(long, stderr=subprocess.PIPE, text=True, env=environment) as second:
            wait_until(lambda: "nanosleep" in read("/proc", str(second.pid), "wchan") or state(first.pid) != "T")
            first.kill()
            said = second.stderr.read()
        assert "beside other sweeps" not in first.stderr.read()
    assert "beside other sweeps" in said and "same cores" not in said, said
    one, = before
    other, = set(os.listdir("d/parts")) - before
    facts = [dict(line.split(": ", 1) for line in read("d/parts", part, "environment.yaml").splitlines() if line[0] != "#") for part in (one, other)]
    places = [fact["thread_places"].strip('"').split("},") for fact in facts]
    assert places[0][0] != places[1][0] and facts[0]["omp_places"] == facts[1]["omp_places"], facts
    assert check("d") >= 200 * INSTANCES


def test_other_sweep():
    join("d")
    before = content("d")
    refuse("d/spec.yaml: has 'measure: {rounds: 3, precision: 90%, min_samples: 3, max_time: 1ms, probe: off}' where this sweep has 'measure: {rounds: 4, ",
           "d", "--set", "measure.rounds=4")
    refuse("d/leases: --lease-expiry is 5.00 s, and the others have 36000 s", "d", "--lease-expiry", "5s")
    refuse("d/leases: the others have joined without --allow-slow", "d", "--allow-slow")
    refuse("--join and --shard cannot be combined", "d", "--shard", "0/2")
    refuse("--join and --retry cannot be combined", "d", "--retry")
    assert content("d") == before


def test_other_setup():
    """One host has one setup, or its visits could not be merged."""
    part = interrupted("d")
    path = f"d/parts/{part}/environment.yaml"
    whole = read(path)
    write(whole.replace('cpu: "', 'cpu: "not '), path)
    before = content("d")
    text = join("d", rc=2)
    assert text.count("\n") == 1 and f"{path}: cpu was \"not " in text, text
    after = content("d")
    assert {name: text for name, text in after.items() if not name.startswith("leases")} == \
        {name: text for name, text in before.items() if not name.startswith("leases")}
    write(whole, path)
    join("d")
    assert check("d") >= 3 * INSTANCES


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
        text = join(f"d{number}", *sets, *options)
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
    join("d")
    assert part in os.listdir("d/parts")
    assert check("d") >= 3 * INSTANCES


def test_half_written_journal():
    part = interrupted("d", after=3)
    path = f"d/parts/{part}/journal.csv"
    write(read(path) + read(path).splitlines()[-1][:-40], path)
    join("d")
    assert check("d") >= 3 * INSTANCES
    # Damage in the middle: the part does not count, and merge names it.
    part = interrupted("e", after=3)
    path = f"e/parts/{part}/journal.csv"
    lines = read(path).split("\n")
    write("\n".join([lines[0], "what is this", *lines[2:]]), path)
    text = join("e")
    assert f"{path}:2: 1 fields, the header has 41; instances of this part are measured again" in text, text
    assert f"{path}:2" in merge("e", rc=2)
    shutil.rmtree(f"e/parts/{part}")
    assert check("e") >= 3 * INSTANCES


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
            expected = f"{path}:2: 1 fields, the header has 41; instances of this part are measured again"
        else:
            shutil.rmtree(f"{directory}/parts/{part}")
        text = join(directory)
        assert text.count(expected) == 1 and "4 of 4 instances are done" in text, text
        assert "nothing to do: 4 of 4 instances are done" in join(directory)
        if directory == "damaged":
            assert f"{path}:2" in merge(directory, rc=2)
            shutil.rmtree(f"{directory}/parts/{part}")
            assert "nothing to do: 4 of 4 instances are done" in join(directory)
        assert check(directory) >= 3 * INSTANCES
    # What was merged is not missed.
    shutil.rmtree("gone/parts")
    assert "nothing to do: 4 of 4 instances are done" in join("gone")
    assert check("gone") >= 3 * INSTANCES


def test_full_disk():
    os.makedirs("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", "small"], check=False, stderr=subprocess.DEVNULL).returncode:
        print("no full disk: mount does not work here")
        return
    try:
        interrupted("small/d")
        before = visits("small/d")
        with open("small/filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        text = join("small/d", rc=1)
        assert text.count("\n") == 1 and "small/d/" in text and "No space left on device" in text, text
        assert visits("small/d") == before
        run = subprocess.run([PARADNN, "merge", "small/d", "-o", "small/d"], capture_output=True, text=True, check=False)
        assert run.returncode == 1 and "No space left on device" in run.stderr.splitlines()[-1], run
        assert visits("small/d") == before and not glob.glob("small/d/*.tmp"), os.listdir("small/d")
        os.remove("small/filler")
        join("small/d")
        assert check("small/d") >= 3 * INSTANCES
    finally:
        subprocess.run(["umount", "small"], check=True)


def test_no_directory():
    write("x", "file")
    refuse("file: exists and is not a directory", "file")
    refuse("none/d: cannot be created: No such file or directory", "none/d")
    run = subprocess.run([PARADNN, "sweep", "../spec.yaml", "--join"], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "--join needs --output" in run.stderr, run


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write(SPEC, "spec.yaml")
        write(ROOFS, "ceilings.csv")
        clock = Clock(MOVED_CLOCK, os.path.join(folder, "clock"))
        ENVIRONMENT.update(clock.variables, PARADNN_PRESENCE_DIR=os.path.join(folder, "nowhere"))
        for name, test in list(globals().items()):
            if not name.startswith("test_") or (len(sys.argv) > 4 and name not in sys.argv[4:]):
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
