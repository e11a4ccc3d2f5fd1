#!/usr/bin/env python3
"""The command seqpoint: what it chooses, runs and keeps, on a model that takes no time; and what it says to bad input.

Usage: seqpoint_test.py PARADNN"""

import csv
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from files import ROOFS, rows, write
from processes import journal_lines, wait_until

PARADNN = os.path.abspath(sys.argv[1])
SPEC = """\
sweep: small
run: {threads: 1, mode: train, backend: reference}
measure: {rounds: 2, min_samples: 1, max_time: 1ms, probe: off}
seqpoint: {lengths: "histogram:1-40=200", examples: 200, sampler: bucket, shard_batches: 5, multiple: 1, unique_max: 4, sample: 20}
models:
  - rnn: {embedding: 8, hidden: 8, vocabulary: 16, batch: 4}
"""
TWO = """\
sweep: two
run: {threads: 1, mode: infer, backend: reference}
measure: {rounds: 2, min_samples: 1, max_time: 1ms, probe: off}
seqpoint: {lengths: pairs.txt, sampler: sorted, key: both}
models:
  - gnmt: {hidden: 4, layers: 2, vocabulary: 16, batch: 2}
"""
ENVIRONMENT = {**os.environ, "PARADNN_NO_CACHE": "1", "OMP_WAIT_POLICY": "passive"}


def paradnn(*arguments, expect=0):
    done = subprocess.run([PARADNN, *arguments], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == expect, (arguments, done)
    return done


def seqpoint(*arguments, expect=0):
    return paradnn("seqpoint", *arguments, "--ceilings", "roofs.csv", expect=expect)


def methods(*arguments):
    return {row["method"]: row for row in csv.DictReader(seqpoint(*arguments, "--format", "csv").stdout.splitlines())}


def check_dry_run():
    done = paradnn("seqpoint", "small.yaml", "--dry-run")
    assert "epoch    50 iterations of 4, bucket" in done.stdout, done.stdout
    assert not os.path.exists("small.results"), "a dry run left a directory"
    assert all(len(line.rstrip()) <= 80 for line in done.stdout.splitlines()), done.stdout


def check_chosen():
    """Without the truth: only what was chosen runs, and there are no errors."""
    found = methods("small.yaml")
    table = rows("small.results/seqpoint.csv")
    assert sum(int(row["iterations"]) for row in table) == 50, table
    weights = [float(row["seqpoint_weight"]) for row in table if row["seqpoint_weight"]]
    assert len(weights) >= 4 and math.isclose(sum(weights), 50), table
    assert all(row["time_ns"] for row in table if row["seqpoint_weight"]), table
    assert float(found["seqpoint"]["epoch_ns"]) > 0 and not found["seqpoint"]["error"], found
    results = rows("small.results/results.csv")
    assert len(results) == len(table), "a row per kind of iteration"
    assert {row["status"] for row in results} <= {"ok", "filtered"}, results


def check_truth():
    """All kinds; what is there is kept; a further run measures nothing."""
    before = sum(1 for _ in open("small.results/journal.csv", encoding="utf-8"))
    found = methods("small.yaml", "--ground-truth")
    table = rows("small.results/seqpoint.csv")
    truth = sum(float(row["time_ns"]) * int(row["iterations"]) for row in table)
    assert math.isclose(float(found["seqpoint"]["truth_ns"]), truth, rel_tol=1e-6), (found, truth)
    assert math.isclose(float(found["all-unique"]["epoch_ns"]), truth, rel_tol=1e-6), found
    for row in table:
        assert int(row["measured"]) > 0, row
    points = sum(float(row["seqpoint_weight"]) * float(row["time_ns"]) for row in table if row["seqpoint_weight"])
    assert math.isclose(float(found["seqpoint"]["error"]), points / truth - 1, abs_tol=1e-6), found
    after = sum(1 for _ in open("small.results/journal.csv", encoding="utf-8"))
    assert after > before
    methods("small.yaml", "--ground-truth")
    assert sum(1 for _ in open("small.results/journal.csv", encoding="utf-8")) == after, "it ran again"
    assert {row["status"] for row in rows("small.results/results.csv")} == {"ok"}


def check_every():
    """As many steps of each kind as the epoch has, whatever is interrupted in between."""
    seqpoint("small.yaml", "--ground-truth", "--every", "-o", "every")
    for row in rows("every/seqpoint.csv"):
        assert int(row["measured"]) >= int(row["iterations"]), row
    # Visits that timed fewer steps are medians, and are called that.
    median = "each length's median"
    assert median not in seqpoint("small.yaml", "--ground-truth", "--every", "-o", "every").stdout
    few = ["--set", "seqpoint.examples=2000", "--ground-truth", "-o", "few"]
    seqpoint("small.yaml", *few)
    assert median in seqpoint("small.yaml", *few, "--every").stdout
    # More of the sample later does not make the truth another one.
    narrowed = ["--ground-truth", "--every", "-o", "every"]
    plain = methods("small.yaml", *narrowed)
    found = methods("small.yaml", *narrowed, "--target-error", "0.01%", "--set", "seqpoint.sample=4")
    assert found["seqpoint"]["truth_ns"] == plain["seqpoint"]["truth_ns"], (found, plain)


def check_time():
    found = methods("small.yaml", "--ground-truth", "--statistic", "time", "-o", "every", "--every")
    assert abs(float(found["seqpoint"]["error"])) <= 0.01, found


def check_points():
    """The choice of one directory on another platform, and the speed-up of the pair."""
    seqpoint("small.yaml", "--ground-truth", "--points", "small.results", "--set", "run.backend=openblas", "-o", "other")
    chosen = [row["seqpoint_weight"] for row in rows("other/seqpoint.csv")]
    assert chosen == [row["seqpoint_weight"] for row in rows("small.results/seqpoint.csv")]
    done = paradnn("seqpoint", "small.results", "other", "--format", "csv")
    pair = {row["method"]: row for row in csv.DictReader(done.stdout.splitlines())}
    truth = [sum(float(row["time_ns"]) * int(row["iterations"]) for row in rows(f"{name}/seqpoint.csv")) for name in ("small.results", "other")]
    assert math.isclose(float(pair["truth"]["speedup"]), truth[0] / truth[1], rel_tol=1e-6), pair
    assert pair["seqpoint"]["error"] and pair["model-assisted"]["error"], pair
    times = [float(row["time_ns"]) for row in rows("small.results/seqpoint.csv")]
    for name in ("seqpoint", "frequent", "median"):
        assert 49.99 * min(times) <= float(pair[name]["first_ns"]) <= 50.01 * max(times), pair
    assert "model-assisted" in paradnn("seqpoint", "small.results", "other").stdout


def check_target_error():
    done = seqpoint("small.yaml", "--target-error", "20%", "--set", "seqpoint.sample=4", "-o", "narrow")
    said = re.search(r"\(\+-([0-9.]+) %, sampling error only\), from (\d+) iterations", done.stdout)
    assert said and (float(said[1]) <= 20 or int(said[2]) == 50), done.stdout
    assert f"target +-20 %: reached with {said[2]} iterations" in done.stdout, done.stdout


def check_pairs():
    """Two lengths: the ids have both, and the spec in the directory is one that lists."""
    with open("pairs.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{n % 7 + 1} {n % 5 + 2}\n" for n in range(60))
    seqpoint("two.yaml", "--ground-truth")
    for row in rows("two.results/seqpoint.csv"):
        assert f"source={row['source_length']},target={row['target_length']}," in row["id"], row
    os.makedirs("below")
    write(TWO.replace("pairs.txt", "../pairs.txt").replace(", key: both", ""), "below", "two.yaml")
    same = [seqpoint("below/two.yaml", "--dry-run", "--key", key).stdout.replace("below/../", "") == seqpoint("two.yaml", "--dry-run").stdout
            for key in ("both", "target")]
    assert same == [True, False]
    with open("two.results/spec.yaml", encoding="utf-8") as file:
        assert f'lengths: {os.path.join(os.getcwd(), "pairs.txt")},' in file.read().replace('"', "")
    listed = paradnn("list", "two.results/spec.yaml", "--format", "csv").stdout
    assert len(listed.splitlines()) == 1 + len(rows("two.results/results.csv")), listed


def check_bad_input():
    """One line each."""
    for name, text in {"empty.txt": "", "words.txt": "12\ntwelve\n", "zero.txt": "0\n"}.items():
        write(text, name)
    for arguments, said in [
            (["rnn", "--lengths", "empty.txt", "-o", "x"], "empty.txt"),
            (["rnn", "--lengths", "words.txt", "-o", "x"], "words.txt:2"),
            (["rnn", "--lengths", "zero.txt", "-o", "x"], "zero.txt:1"),
            (["rnn", "--lengths", "iwslt15-en-v", "-o", "x"], "did you mean"),
            (["rnn", "-o", "x"], "no lengths given"),
            (["fc", "--lengths", "uniform:1-9", "-o", "x"], "fc has no sequence length"),
            (["rnn/batch=64", "--lengths", "uniform:1-9", "--set", "seqpoint.examples=63", "-o", "x"], "63"),
            (["transformer/positions=16,length=16", "--lengths", "uniform:1-20", "-o", "x"], "16 positions"),
            (["rnn", "--lengths", "librispeech-clean-100", "-o", "x"], "frames_per_second"),
            (["rnn", "--lengths", "uniform:1-9"], "give -o DIR"),
            (["rnn", "--lengths", "uniform:1-9", "--sampler", "sortd", "-o", "x"], "sorted"),
            (["rnn", "--lengths", "uniform:1-9", "--every", "-o", "x"], "--ground-truth"),
            (["rnn", "--lengths", "uniform:1-9", "--statistic", "time", "-o", "x"], "--ground-truth"),
            (["rnn", "--lengths", "uniform:1-9", "--points", "nowhere", "-o", "x"], "nowhere"),
            (["small.yaml", "--set", "models.0.rnn.batch=[4, 8]"], "2 instances"),
            (["rnn", "--lengths", "pairs.txt", "-o", "x"], "two lengths per example, and this rnn takes one: give a file with one length a line"),
            (["gpt2", "--lengths", "azure-chat", "-o", "x"], "one length a line, or a model with architecture=encoder-decoder, which takes"),
            (["rnn", "--lengths", "iwslt15-en-vi", "-o", "x"], "two lengths per example"),
            (["transformer/positions=18,length=16", "--lengths", "uniform:17-18", "--set", "seqpoint.multiple=8", "-o", "x"], "multiple of 8"),
            (["small.yaml", "--statistic", "time", "--ground-truth", "--dry-run"], "no --dry-run"),
            (["two.yaml", "--points", "small.results"], "another epoch"),
            (["small.yaml", "--points", "small.results", "--set", "seed=9", "-o", "x"], "another epoch"),
            (["small.results", "two.results"], "different epochs"),
            (["small.results", "small.results", "--dry-run"], "seqpoint DIR DIR has no option --dry-run; it takes --format and --columns"),
            (["small.results", "below"], "paradnn: below/seqpoint.csv: No such file or directory"),
            (["below", "small.results"], "paradnn: below/seqpoint.csv: No such file or directory"),
            (["small.results", "nowhere"], "paradnn: nowhere/seqpoint.csv: No such file or directory"),
            (["small.yaml", "two.yaml"], "two result directories")]:
        done = paradnn("seqpoint", *arguments, expect=2)
        lines = [line for line in done.stderr.splitlines() if "library variables" not in line]
        assert len(lines) == 1 and lines[0].startswith("paradnn: ") and said in lines[0], (arguments, done)
        assert not os.path.exists("x"), arguments
    done = seqpoint("rnn/embedding=8,hidden=8,vocabulary=16,batch=4", "--lengths", "uniform:5-5", "--set", "seqpoint.examples=40", "--set",
                    "measure.max_time=1ms", "-o", "one")
    assert "one distinct length" in done.stdout, done.stdout


def check_interrupted():
    """Ends as every command does, whatever it can tell by then."""
    never = ["--set", "measure.rounds=1000", "--set", "measure.max_time=10h"]
    for sure in ([], ["--ground-truth"]):
        with subprocess.Popen([PARADNN, "seqpoint", "small.yaml", *sure, *never, "-o", "cut", "--ceilings", "roofs.csv"], env=ENVIRONMENT,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            wait_until(lambda: len(journal_lines("cut")) > 30)
            child.send_signal(signal.SIGINT)
        assert child.returncode == 130, (sure, child.returncode)
        shutil.rmtree("cut")


def main():
    for name, text in {"small.yaml": SPEC, "two.yaml": TWO, "roofs.csv": ROOFS}.items():
        write(text, name)
    check_dry_run()
    check_chosen()
    check_truth()
    check_every()
    check_time()
    check_points()
    check_target_error()
    check_pairs()
    check_bad_input()
    check_interrupted()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
