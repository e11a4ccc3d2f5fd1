#!/usr/bin/env python3
"""Merges made-up directories: what must come out, and what must be refused.

Usage: merge_test.py PARADNN"""

import csv
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import make_journal  # noqa: E402
from files import content, read, rows, write  # noqa: E402

SPEC = """\
# made for {}
sweep: merge
run: {{threads: 2}}
measure: {{rounds: 2}}
models:
  - fc: {{layers: [1, 2], nodes: [8, 16], input: 16, output: 8, batch: [1, 2]}}
"""
PARADNN = os.path.abspath(sys.argv[1])
NAMES = ["ceilings.csv", "environment.yaml", "journal-ops.csv", "journal.csv", "ops.csv", "results.csv", "spec.yaml"]
IDS = []


def merge(*arguments, rc=0, file_limit=None):
    limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))) if file_limit else None
    run = subprocess.run([PARADNN, "merge", *arguments], capture_output=True, text=True, preexec_fn=limit, check=False)
    assert rc in (None, run.returncode), (arguments, run.returncode, run.stderr)
    assert run.stdout == "", run.stdout
    return run.stderr


def make(directory, ids=None, spec="a test", **options):
    make_journal.make(directory, SPEC.format(spec), IDS if ids is None else ids, **options)


def listed(spec):
    run = subprocess.run([PARADNN, "list", "-", "--format", "csv"], input=spec, capture_output=True, text=True, check=True)
    return list(csv.DictReader(run.stdout.splitlines()))


def check_ops(directory):
    """Each visit's ops, in order, under its number."""
    ops = iter(rows(directory, "journal-ops.csv"))
    numbers = {}
    for visit in rows(directory, "journal.csv"):
        numbers[visit["id"]] = numbers.get(visit["id"], 0) + 1
        assert int(visit["visit"]) == numbers[visit["id"]], visit
        for _ in range(int(visit["ops"])):
            op = next(ops)
            assert (op["id"], op["visit"]) == (visit["id"], visit["visit"]), op
    assert next(ops, None) is None


def test_one():
    make("a")
    before = content("a")
    merge("a", "-o", "m")
    assert sorted(os.listdir("m")) == NAMES, os.listdir("m")
    assert content("a") == before
    for name in "journal.csv", "journal-ops.csv":
        assert sorted(read("a", name).splitlines()) == sorted(read("m", name).splitlines())
    results = rows("m", "results.csv")
    assert [row["id"] for row in results] == IDS
    assert all(row["status"] == "ok" and row["rounds"] == "2" and row["host"] == "node1" for row in results)
    assert all(row["pct_of_roof"] for row in results)
    assert rows("m", "ops.csv")
    check_ops("m")


def test_shards_in_any_order():
    make("a", IDS[::2], seed=1, spec="the first shard")
    make("b", IDS[1::2], seed=2, spec="the second shard")
    merge("a", "b", "-o", "ab")
    merge("b", "a", "a", "./b/", "-o", "ba")
    assert content("ab") == content("ba")
    assert [row["id"] for row in rows("ab", "results.csv")] == IDS


def test_union():
    """Of different specs, in any order: a row each, and a spec that asks for all of them."""
    other = SPEC.format("another").replace("layers: [1, 2]", "layers: 3").replace("threads: 2", "threads: 1")
    ids = [row["id"] for row in listed(other)]
    make("a", IDS[::2], seed=1)
    make("b", IDS[1::2], seed=2, spec="the same spec")
    make_journal.make("c", "# made\n---\n" + other, ids, seed=3)
    refused = merge("a", "c", "-o", "m", rc=2)
    assert "c/spec.yaml: not the spec of a/spec.yaml" in refused and "or give --union" in refused, refused
    merge("--union", "a", "b", "c", "-o", "abc")
    merge("c", "--union", "b", "a", "-o", "cba")
    assert content("abc") == content("cba")
    assert sorted(row["id"] for row in rows("abc", "results.csv")) == sorted(IDS + ids)
    assert all(row["status"] == "ok" and row["rounds"] == "2" for row in rows("abc", "results.csv"))
    assert sorted(row["id"] for row in listed(read("abc", "spec.yaml"))) == sorted(IDS + ids)
    merge("--union", "a", "b", "-o", "ab")
    merge("a", "b", "-o", "plain")
    assert content("ab") == content("plain")


def test_copies():
    make("a", seed=1)
    make("b", seed=2)
    shutil.copytree("a", "copy")
    text = merge("a", "copy", "b", "-o", "m")
    assert f"{2 * len(IDS)} copies dropped" in text, text
    check_ops("m")
    assert len(rows("m", "journal.csv")) == 4 * len(IDS)
    for name in IDS:
        times = [row["started_utc"] for row in rows("m", "journal.csv") if row["id"] == name]
        assert times == sorted(times) and len(times) == 4
    merge("m", "a", "b", "-o", "again")
    assert content("again") == content("m")


def test_missing():
    make("a", IDS[:5])
    make("b", IDS[5:6], visits=1, seed=3)
    text = merge("a", "b", "-o", "m", rc=1)
    assert [line.split("missing: ")[1] for line in text.splitlines() if "missing: " in line] == IDS[6:], text
    assert "8 instances: 6 ok, 2 interrupted; 5 done, 1 begun, 2 open\n" in text, text
    assert [row["status"] for row in rows("m", "results.csv")] == ["ok"] * 6 + ["interrupted"] * 2


def test_hosts():
    make("a", seed=1, visits=3, host="node1", value=100.0)
    make("b", IDS[:3], seed=2, visits=2, host="node2", value=1000.0, cpu="another")
    make("c", IDS[3:5], seed=3, visits=4, host="node2", value=2000.0, cpu="another")
    text = merge("a", "b", "c", "-o", "m")
    assert f"{IDS[0]}: measured on 2 hosts; kept the 3 visits of node1, left out 2 of others" in text, text
    assert f"{IDS[3]}: measured on 2 hosts; kept the 4 visits of node2, left out 3 of others" in text, text
    hosts = {row["id"]: row["host"] for row in rows("m", "results.csv")}
    assert hosts == {name: "node2" if name in IDS[3:5] else "node1" for name in IDS}
    assert hosts == {row["id"]: row["host"] for row in rows("m", "hosts.csv")}
    # The faster of two measurements of a host's roofs, and each row under its own.
    peaks = {row["host"]: row["value"] for row in rows("m", "ceilings.csv") if row["kind"] == "compute"}
    assert peaks == {"node1": "100", "node2": "2000"}, peaks
    assert next(iter(peaks)) == "node1"
    merge("a", "-o", "m1")
    merge("c", "-o", "m2", rc=1)
    apart = {row["id"]: row for row in rows("m1", "results.csv")}
    apart.update({row["id"]: row for row in rows("m2", "results.csv") if row["status"] == "ok"})
    for row in rows("m", "results.csv"):
        assert row["attainable_gflops"] == apart[row["id"]]["attainable_gflops"], row["id"]
    assert 'cpu: "made up | another"' in read("m", "environment.yaml") or \
        'cpu: "another | made up"' in read("m", "environment.yaml")
    # What was merged can be merged again, and knows its hosts.
    make("d", IDS[:2], seed=4, visits=5, host="node3")
    merge("m", "d", "-o", "again")
    hosts.update({name: "node3" for name in IDS[:2]})
    assert hosts == {row["id"]: row["host"] for row in rows("again", "results.csv")}


def test_half_written():
    make("a", visits=2)
    whole = read("a", "journal.csv")
    write(whole[:-30], "a", "journal.csv")
    before = content("a")
    text = merge("a", "-o", "m", rc=1)
    assert "a/journal.csv: an incomplete last row was left out" in text, text
    assert len(rows("m", "journal.csv")) == 2 * len(IDS) - 1
    assert content("a") == before
    check_ops("m")
    # A part whose process died before its first visit.
    os.makedirs("empty")
    write(make_journal.JOURNAL[:20], "empty", "journal.csv")
    write(whole, "a", "journal.csv")
    text = merge("empty", "a", "-o", "n")
    assert "empty: no visits yet" in text, text


def test_refused():
    make("a")
    make("b", seed=1)
    whole = content("b")

    def refuse(expected, *arguments):
        text = merge("a", *arguments, "-o", "m", rc=2)
        assert text.count("\n") == 1 and expected in text, text
        assert sorted(os.listdir(".")) == names, os.listdir(".")

    def damage(name, change):
        write(change(whole[name].decode()), "b", name)

    names = sorted(os.listdir("."))
    refuse("none: No such file or directory", "none")
    damage("spec.yaml", lambda text: text.replace("rounds: 2", "rounds: 3"))
    refuse("b/spec.yaml: not the spec of a/spec.yaml, which has 'measure: {rounds: 2}'", "b")
    damage("spec.yaml", lambda text: text)
    damage("environment.yaml", lambda text: text.replace("made up", "another"))
    refuse('a and b: cpu is "made up" and "another" on one host', "b")
    damage("environment.yaml", lambda text: text)
    damage("journal.csv", lambda text: text.replace("\n4,", "\n9,", 1))
    refuse("b/journal.csv:2: schema 9", "b")
    damage("journal.csv", lambda text: text.replace(",ok,", ",", 1))
    refuse("b/journal.csv:2: 40 fields, the header has 41", "b")
    damage("journal.csv", lambda text: text.replace(",ok,", ',"ok,', 1))
    refuse("b/journal.csv:2: a NUL byte, or a quote that is never closed", "b")
    damage("journal.csv", lambda text: "name,size\nx,1\n")
    refuse("b/journal.csv:1: not a journal.csv of this version", "b")
    damage("journal.csv", lambda text: text)
    damage("journal-ops.csv", lambda text: "\n".join(text.split("\n")[:4]) + "\n")
    refuse("b/journal-ops.csv: ends before visit", "b")
    damage("journal-ops.csv", lambda text: text.replace(",1,dense", ",7,dense", 1))
    refuse("b/journal-ops.csv:2: is not op 1 of visit 1", "b")
    damage("journal-ops.csv", lambda text: text)
    damage("journal.csv", lambda text: text.replace(",ok,", ",fine,", 1))
    refuse("'fine' is not a value for column 'status'", "b")
    damage("journal.csv", lambda text: text)
    text = merge("a", "-o", "b", rc=2)
    assert "b: exists already" in text, text
    assert content("b") == whole
    os.symlink("nowhere", "gone")
    text = merge("a", "-o", "gone", rc=2)
    assert "gone: is a link to nowhere: No such file or directory" in text, text


def test_joined():
    os.makedirs("joined/parts")
    write(SPEC.format("x"), "joined", "spec.yaml")
    make("joined/parts/p1", IDS[:4], seed=1)
    make("joined/parts/p2", IDS[4:7], seed=2)
    write("nothing to do with it", "joined", "parts", "notes.txt")
    text = merge("joined", "-o", "joined", rc=1)
    assert "joined/parts/notes.txt: ignored, it has no journal.csv" in text, text
    assert f"missing: {IDS[7]}" in text, text
    make("joined/parts/p3", IDS[7:], seed=3)
    text = merge("joined", "-o", "joined")
    assert sorted(os.listdir("joined")) == sorted(NAMES + ["parts"]), os.listdir("joined")
    assert len(rows("joined", "journal.csv")) == 2 * len(IDS)
    merge("joined", "-o", "m")
    assert content("m") == {name: text for name, text in content("joined").items() if os.sep not in name}


def test_full_disk():
    make("a", visits=8)
    before = content(".")
    text = merge("a", "-o", "m", rc=1, file_limit=9000)
    assert text.count("\n") == 1 and "cannot write: File too large" in text, text
    assert content(".") == before and os.listdir(".") == ["a"], os.listdir(".")


def test_threads_of_hosts():
    """`threads: all` is another id on a host with other cores, and still the same instance of the spec."""
    spec = SPEC.replace("run: {{threads: 2}}\n", "").format("x")
    four = [name.replace("threads=2", "threads=4") for name in IDS]
    make_journal.make("a", spec, IDS[:4], seed=1)
    make_journal.make("b", spec, four[4:], seed=2, host="node2")
    write(make_journal.environment("node2", 4), "b", "environment.yaml")
    merge("a", "b", "-o", "m")
    assert [row["id"] for row in rows("m", "results.csv")] == IDS[:4] + four[4:]


def test_all_and_as_many_threads():
    """On a host with two cores, `threads: [all, 2]` is one instance of each model, on one with four it is two."""
    spec = SPEC.replace("threads: 2", "threads: [all, 2]").format("x")
    four = [name.replace("threads=2", "threads=4") for name in IDS]
    make_journal.make("a", spec, IDS, seed=1)
    make_journal.make("b", spec, four[:2], seed=2, host="node2")
    write(make_journal.environment("node2", 4), "b", "environment.yaml")
    missing = merge("a", "b", "-o", "m", rc=1)
    assert sorted(re.findall(r"missing: (.*)", missing)) == sorted(four[2:]), missing
    found = {row["id"]: row for row in rows("m", "results.csv")}
    assert {name for name, row in found.items() if row["status"] == "ok"} == set(IDS + four[:2]), found
    exact = {row["id"]: row["flop_count"] for row in listed(spec.replace("[all, 2]", "[4, 2]"))}
    assert {name: row["flop_count"] for name, row in found.items()} == exact


def test_measured_on_hosts_of_several_cores():
    """What was measured with all threads of two hosts is of this spec both times, and what neither has is missing."""
    spec = SPEC.replace("run: {{threads: 2}}\n", "").format("x")
    four = [name.replace("threads=2", "threads=4") for name in IDS]
    make_journal.make("a", spec, IDS[:5], seed=1)
    make_journal.make("b", spec, four[3:7], seed=2, host="node2")
    write(make_journal.environment("node2", 4), "b", "environment.yaml")
    text = merge("a", "b", "-o", "m", rc=1)
    assert "2 instances were measured with several numbers of threads, since the hosts have several" in text, text
    assert re.search(r"10 instances: 9 ok, 1 interrupted; 9 done, 0 begun, 1 open\n", text), text
    ok = sorted(row["id"] for row in rows("m", "results.csv") if row["status"] == "ok")
    assert ok == sorted(IDS[:5] + four[3:7]), ok
    assert len(re.findall(r"missing: ", text)) == 1, text
    again = merge("m", "-o", "again", rc=1)
    assert "10 instances: 9 ok, 1 interrupted; 9 done, 0 begun, 1 open\n" in again, again
    assert sorted(row["id"] for row in rows("again", "results.csv") if row["status"] == "ok") == ok
    status = subprocess.run([PARADNN, "status", "m", "--format", "csv"], capture_output=True, text=True, check=False).stdout
    found = next(csv.DictReader(status.splitlines()))
    assert (found["done"], found["open"], found["of_another_spec"]) == ("9", "1", "0"), found
    make("c", IDS[:5], seed=3)
    make("d", IDS[3:], seed=4, host="node2")
    assert "several numbers of threads" not in merge("c", "d", "-o", "n"), "the threads are the spec's"


def on_two_hosts(spec, ids):
    """What two cores of one host, then four of another have of the spec: in a and b, and what is missing of both."""
    two, four = ids[:len(ids) // 2], ids[len(ids) // 2:]
    make_journal.make("a", spec, two, seed=1)
    make_journal.make("b", spec, four, seed=2, host="node2")
    write(make_journal.environment("node2", 4), "b", "environment.yaml")
    return re.findall(r"missing: (.*)", merge("a", "b", "-o", "m", rc=None))


def test_threads_of_ranks():
    """All threads are divided among ranks."""
    spec = SPEC.replace("threads: 2", "threads: all, ranks: 2, mode: train").format("x")
    ids = [name.replace("mode=infer", "mode=train").replace("threads=2", "threads={}") + ",ranks=2" for name in IDS]
    assert not on_two_hosts(spec, [name.format(1) for name in ids[:4]] + [name.format(2) for name in ids[4:]])


def test_merged_once_more():
    """With its parts, a directory that was merged from them is what it was."""
    spec = SPEC.replace("run: {{threads: 2}}\n", "").format("x")
    four = [name.replace("threads=2", "threads=4") for name in IDS]
    assert not on_two_hosts(spec, IDS[:4] + four[4:])
    for i, sources in enumerate((("m", "a", "b"), ("b", "m", "a"))):
        merge(*sources, "-o", f"again{i}")
        assert rows(f"again{i}", "results.csv") == rows("m", "results.csv")


def test_threads_of_an_earlier_spec():
    """What was measured with as many threads as that host has is not what the spec asks for with others."""
    spec = SPEC.replace("threads: 2", "threads: 4").format("x")
    four = [name.replace("threads=2", "threads=4") for name in IDS]
    assert sorted(on_two_hosts(spec, IDS[:1] + four[:1])) == sorted(four[1:])


def test_works_like_any_other():
    make("a")
    merge("a", "-o", "m")
    run = subprocess.run([PARADNN, "breakdown", "m"], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and IDS[0] in run.stdout, run.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write(SPEC.format("x"), "spec.yaml")
        IDS.extend(make_journal.ids_of(PARADNN, "spec.yaml"))
        assert len(IDS) == 8, IDS
        for name, test in list(globals().items()):
            if not name.startswith("test_"):
                continue
            os.makedirs(name)
            os.chdir(name)
            try:
                test()
            except AssertionError:
                print(f"{name} failed", file=sys.stderr)
                raise
            os.chdir(folder)
            print(f"{name} ok")


if __name__ == "__main__":
    main()
