#!/usr/bin/env python3
"""How large the report of a large sweep is, how long it takes to write, and how long until a browser has it ready.

report_page.py PARADNN [--rows N] [--ops N] [--times N]

Makes a result directory of N models (default 14,000) from the rows of results/examples/zen5-2-cores, with other hyper-parameters and
scattered times, one in twenty failed, each with some rows in ops.csv (default 8); writes its report several times, and opens it as often in
Chromium, where there is one. Ready: the page is drawn, its script has run, every filter and table is there. Prints a line per figure, least,
median and most; the machine should be idle. The same arguments make the same tables."""

import argparse
import csv
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, os.pardir, os.pardir, "results", "examples", "zen5-2-cores")
READY = "const t = performance.getEntriesByType('navigation')[0]; return [t.domContentLoadedEventEnd - t.startTime, " \
        "document.querySelectorAll('#table tbody tr').length]"
TIMES = ("time_ns_median", "time_ns_min", "time_ns_mean", "time_ns_p10", "time_ns_p90", "time_ns_mad", "ci_low_ns", "ci_high_ns")
REASONS = (("oom_predicted", "needs {} GiB, more than 18 GiB"), ("timeout", "took longer than {} s"), ("unsupported", "no implementation"))


def table(name):
    with open(os.path.join(EXAMPLE, name), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return rows, list(rows[0])


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def keys(k):
    """Every combination once: 7 * 25 * 10 * 4 * 2 = 14,000, and then other inputs."""
    rest, places = k, []
    for count in (2, 10, 25, 7, 4):
        rest, place = divmod(rest, count)
        places.append(place)
    mode, batch, nodes, layers, output = places
    return {"layers": 2 + layers, "nodes": 32 * (1 + nodes), "input": 2000 + rest, "output": 250 * (1 + output), "batch": 2 ** batch,
            "run_mode": ("infer", "train")[mode]}


def made_up(k, template, luck):
    own = keys(k)
    row = {**template, **{key: str(value) for key, value in own.items()}}
    row["model"] = "fc/" + ",".join(f"{key}={value}" for key, value in own.items() if key != "run_mode") + ",activation=relu"
    row["settings"] = ("mode=infer," if own["run_mode"] == "infer" else "") + "threads=2"
    row["id"] = f"{row['model']},{row['settings']}"
    if luck.random() < 0.05:
        status, reason = luck.choice(REASONS)
        return {**row, **dict.fromkeys((*TIMES, "gflops", "bw_gbs", "pct_of_roof", "pct_of_peak", "bound", "roof_level", "row_flags"), ""),
                "status": status, "reason": reason.format(luck.randrange(1, 400))}
    factor = luck.lognormvariate(0, 1)
    for name in TIMES:
        row[name] = f"{float(row[name]) * factor:.6g}"
    for name in ("in_bounds_flop_count", "flop_count", "byte_count", "params"):
        row[name] = str(round(int(row[name]) * factor * luck.uniform(0.5, 1)))
    return row


def make(directory, n_rows, n_ops):
    luck = random.Random(1)
    rows, header = table("results.csv")
    ops, ops_header = table("ops.csv")
    made = [made_up(k, rows[k % len(rows)], luck) for k in range(n_rows)]
    write(os.path.join(directory, "results.csv"), header, made)
    write(os.path.join(directory, "ops.csv"), ops_header,
          [{**ops[(7 * k + i) % len(ops)], "id": row["id"], "op_index": i} for k, row in enumerate(made) if row["status"] == "ok" for i in range(n_ops)])
    for name in ("ceilings.csv", "environment.yaml"):
        shutil.copy(os.path.join(EXAMPLE, name), directory)


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def open_in_browser(page, times):
    sys.argv = [sys.argv[0], sys.argv[1]]
    sys.path.insert(0, os.path.join(HERE, os.pardir, "results"))
    from report_page_test import Browser  # takes PARADNN from sys.argv
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        browser = Browser(os.path.join(place, "profile"))
        try:
            found = []
            for _ in range(times):
                browser.open(f"file://{page}")
                ready, rows = browser.run(READY)
                assert rows == 100, rows
                found.append(ready / 1000)
        finally:
            browser.close()
    return found


def show(what, values, unit="s"):
    print(f"{what}: {min(values):.3f} to {max(values):.3f} {unit}, median {statistics.median(values):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paradnn")
    parser.add_argument("--rows", type=int, default=14000)
    parser.add_argument("--ops", type=int, default=8)
    parser.add_argument("--times", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        make(place, arguments.rows, arguments.ops)
        page = os.path.join(place, "page.html")
        took = []
        for _ in range(arguments.times):
            before = processor_time()
            subprocess.run([arguments.paradnn, "report", place, "-o", page], check=True, stdout=subprocess.DEVNULL)
            took.append(processor_time() - before)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        data = re.search(r'id="data">(.*?)</script>', text, re.S).group(1)
        assert json.loads(data)["n"] == arguments.rows
        print(f"page: {len(text.encode()) / 1e6:.2f} MB, of which data {len(data.encode()) / 1e6:.2f} MB; script "
              f"{len(re.search(r'<script>(.*?)</script>', text, re.S).group(1)) / 1e3:.1f} kB")
        show("processor time of `paradnn report`", took)
        if shutil.which("chromium") and shutil.which("chromedriver"):
            show("until ready in Chromium", open_in_browser(page, arguments.times))
        else:
            print("until ready: needs chromium and chromium-driver")


if __name__ == "__main__":
    main()
