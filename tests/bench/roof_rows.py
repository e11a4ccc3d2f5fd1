#!/usr/bin/env python3
"""How many per cent of their roof rows reach, with the machine idle and beside one busy process.

Usage: roof_rows.py LABEL=PARADNN... [--out DIR] [--sweeps fc,cnn,rnn,transformer] [--loads none,busy] [--set KEY=VALUE]...
For example: roof_rows.py before=../old/build/cli/paradnn after=build/cli/paradnn --set measure.rounds=3

Runs the shipped sweeps with each program in turn, each load by itself, into DIR/LABEL-SWEEP-LOAD (visits that are there are
kept), and prints a table: the distribution of pct_of_roof, the share of rows above 100 % and above 105 %, and how many rows have the
flag above_roof. A row of operators comes from ops.csv, which has no flags. The last column compares a row beside the busy process
with the same row on the idle machine: the median over rows of the ratio of their pct_of_roof, and its 10 and 90 % quantiles."""

import argparse
import csv
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def run(program, sweep, load, directory, settings):
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if load == "busy" else None
    command = [program, "sweep", f"{ROOT}/sweeps/{sweep}.yaml", "-o", directory]
    try:
        done = subprocess.run(command + [word for setting in settings for word in ("--set", setting)], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    finally:
        if neighbour:
            neighbour.kill()
            neighbour.wait()
    if done.returncode not in (0, 1):  # 1: some instances failed, and have a row that says so
        sys.exit(f"{' '.join(command)}: {done.stderr}")


def read(directory, table):
    """Per cent of the roof by row, and how many rows are flagged."""
    keys = ("id", "op_index") if table == "ops" else ("id",)
    with open(f"{directory}/{table}.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["pct_of_roof"]]
    flagged = sum("above_roof" in row.get("row_flags", "") for row in rows)
    return {tuple(row[key] for key in keys): float(row["pct_of_roof"]) for row in rows}, flagged


def quantile(values, part):
    values = sorted(values)
    at = part * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def beside(rows, idle):
    ratios = [rows[key] / idle[key] for key in rows if idle.get(key)]
    return " ".join(f"{quantile(ratios, part):.2f}" for part in (0.1, 0.5, 0.9)) if ratios else ""


def line(name, table, directory, idle_directory):
    rows, flagged = read(directory, table)
    values = list(rows.values())
    spread = [f"{quantile(values, part):.0f}" for part in (0, 0.1, 0.5, 0.9, 1)]
    above = [f"{100 * sum(value > limit for value in values) / len(values):.1f}" for limit in (100, 105)]
    ratio = beside(rows, read(idle_directory, table)[0]) if idle_directory else ""
    return [name, str(len(rows)), *spread, *above, str(flagged) if table == "results" else "", ratio]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--out", default="roof-rows")
    parser.add_argument("--sweeps", default="fc,cnn,rnn,transformer")
    parser.add_argument("--loads", default="none,busy")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    arguments = parser.parse_args()
    programs = [text.split("=", 1) for text in arguments.programs]
    sweeps, loads = arguments.sweeps.split(","), arguments.loads.split(",")
    os.makedirs(arguments.out, exist_ok=True)
    for load in loads:
        for at, sweep in enumerate(sweeps):
            for label, program in programs if at % 2 else programs[::-1]:
                run(program, sweep, load, f"{arguments.out}/{label}-{sweep}-{load}", arguments.settings)
    for table, what in (("results", "models"), ("ops", "operators")):
        head = [what, "rows", "min", "p10", "p50", "p90", "max", "% > 100", "% > 105", "flagged", "busy / idle"]
        print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
        for sweep in sweeps:
            for load in loads:
                for label, _ in programs:
                    directory = f"{arguments.out}/{label}-{sweep}-{load}"
                    idle = f"{arguments.out}/{label}-{sweep}-none"
                    other = idle if load != "none" and os.path.exists(f"{idle}/results.csv") else None
                    print(f"| {' | '.join(line(f'{sweep}, {load}, {label}', table, directory, other))} |")


main()
