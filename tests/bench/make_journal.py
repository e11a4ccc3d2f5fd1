#!/usr/bin/env python3
"""Makes a result directory of made-up visits, for tests and measurements of merge and status.

make_journal.py PARADNN SPEC DIR [--visits N] [--ops N] [--host NAME] [--share I/N] [--seed N] [--first N]

Every instance of SPEC gets N visits, interleaved as in a sweep, each with N rows in journal-ops.csv. The same
arguments make the same bytes; visits of two seeds differ.
"""

import argparse
import csv
import io
import os
import random
import subprocess

JOURNAL = ("schema,id,visit,status,reason,started_utc,prepare_ns,plan_bytes,samples,steps_per_sample,warmups,"
           "time_ns_median,time_ns_min,time_ns_mean,time_ns_p10,time_ns_p90,time_ns_mad,stamped_ns,"
           "probe_gflops,probe_gbs,ranks_compute_ns,ranks_skew_ns,ranks_comm_ns,infeed_wait_ns,loader_ns,"
           "allreduce_bytes,loader_bytes,page_cache,clock_ghz,handoff_ns,fork_ns,cpu_share_pct,page_faults,context_switches,steal_pct,"
           "effective_ghz,instructions,ipc,stop_reason,row_flags,ops")
OPS = ("id,visit,op,op_pass,op_shape,layer,implementation,executions,reorder_bytes,time_ns,"
       "extra_read_bytes,extra_written_bytes,extra_set_bytes,effective_ghz,instructions,ipc")
CEILINGS = "kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions"


def environment(host, threads=2, cpu="made up"):
    return (f'written_utc: "2026-11-22T10:00:00.000Z"\nhost: "{host}" # identity\ncpu: "{cpu}" # identity\n'
            f"cores_usable: {threads} # identity\nthreads_all: {threads}\nseed: 1 # identity\n"
            "limit_memory_bytes: 16000000000\n")


def ceilings(value=100.0, threads=2):
    rows = [f"compute,fma,f32,,{threads},0,{value},{value},{value},3",
            f"bandwidth,read,,DRAM,{threads},0,{value / 10},{value / 10},{value / 10},3",
            f"bandwidth,copy,,DRAM,{threads},0,{value / 10},{value / 10},{value / 10},3",
            f"bandwidth,triad,,DRAM,{threads},0,{value / 10},{value / 10},{value / 10},3",
            f"probe,fma,,,{threads},0,50,50,50,3", f"probe,read,,,{threads},0,5,5,5,3"]
    return "\n".join([CEILINGS] + rows) + "\n"


def started(ms):
    seconds, ms = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"2026-{1 + days // 28 % 12:02d}-{1 + days % 28:02d}T{hours:02d}:{minutes:02d}:{seconds:02d}.{ms:03d}Z"


def ids_of(paradnn, spec, threads=2):
    text = subprocess.run([paradnn, "list", spec, "--format", "csv", "--set", f"run.threads={threads}"], check=True,
                          capture_output=True, text=True).stdout
    return [row["id"] for row in csv.DictReader(io.StringIO(text))]


def visit_rows(rng, name, number, ms, n_ops):
    """The row of journal.csv and those of journal-ops.csv."""
    median = rng.randrange(10**5, 10**7)
    mean = median * (1 + rng.random() / 50)
    row = (f'4,"{name}",{number},ok,,{started(ms)},{rng.randrange(10**7, 10**8)},56857792,5,1,4,{median},'
           f"{median - 1000},{mean!r},{median - 900.5},{median + 1100.25},{rng.randrange(100, 9999)},"
           f"{median + 77},{50 + rng.random()!r},{5 + rng.random()!r},,,,,,,,,,,,,,,,,,,precision,,{n_ops}\n")
    ops = "".join(f'"{name}",{number},dense,forward,4x{i + 1}:16x{i + 1}:4x16,,onednn:brgemm:avx512_core,1,0,'
                  f"{rng.randrange(1000, 99999)},0,0,0,,,\n" for i in range(n_ops))
    return row, ops


def make(directory, spec_text, ids, visits=2, n_ops=3, host="node1", seed=0, first=1, cpu="made up", value=100.0):
    """first: the number of the first visit to each instance."""
    rng = random.Random(seed)
    os.makedirs(directory)
    path = lambda name: os.path.join(directory, name)
    with open(path("journal.csv"), "w", encoding="utf-8") as journal, \
            open(path("journal-ops.csv"), "w", encoding="utf-8") as ops_file:
        journal.write(JOURNAL + "\n")
        ops_file.write(OPS + "\n")
        ms = seed * 86400000
        for number in range(first, first + visits):
            order = list(ids)
            rng.shuffle(order)
            for name in order:
                ms += rng.randrange(1, 400)
                row, ops = visit_rows(rng, name, number, ms, n_ops)
                ops_file.write(ops)
                journal.write(row)
    for name, text in (("spec.yaml", spec_text), ("environment.yaml", environment(host, cpu=cpu)),
                       ("ceilings.csv", ceilings(value))):
        with open(path(name), "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paradnn")
    parser.add_argument("spec")
    parser.add_argument("directory")
    parser.add_argument("--visits", type=int, default=5)
    parser.add_argument("--ops", type=int, default=20)
    parser.add_argument("--host", default="node1")
    parser.add_argument("--share", default="1/1", help="I/N: every N-th instance from the I-th")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=1)
    given = parser.parse_args()
    index, count = map(int, given.share.split("/"))
    with open(given.spec, encoding="utf-8") as file:
        spec_text = file.read()
    ids = ids_of(given.paradnn, given.spec)[index - 1::count]
    make(given.directory, spec_text, ids, given.visits, given.ops, given.host, given.seed, given.first)
    print(f"{len(ids)} instances, {len(ids) * given.visits} visits, {len(ids) * given.visits * given.ops} ops")


if __name__ == "__main__":
    main()
