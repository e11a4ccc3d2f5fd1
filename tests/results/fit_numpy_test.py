#!/usr/bin/env python3
"""paradnn fit against numpy's least squares (by singular values), on made-up tables with noise, words, constant and equal columns, missing
cells and failed rows: weights, standard errors, R2, leave-one-out R2 and leverages to 1e-9. Skipped where no python3 has numpy.

Usage: fit_numpy_test.py PARADNN"""

import csv
import math
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

try:
    import numpy
except ImportError:
    numpy = None
PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3")
HEADER = ["schema", "id", "family", "layers", "nodes", "input", "output", "batch", "cell", "mode", "status", "time_ns_median", "pct_of_peak"]
NUMBERS = ["layers", "nodes", "batch"]
TOLERANCE = 1e-9


def made_up_table(rng, n_rows):
    rows = []
    for i in range(n_rows):
        layers, nodes, batch = rng.randint(1, 64), 2 ** rng.randint(5, 13), 2 ** rng.randint(0, 10)
        cell, mode = rng.choice(["rnn", "lstm", "gru"]), rng.choice(["infer", "train"])
        status = "crash" if rng.random() < 0.1 else "ok"
        time = 1e4 * layers ** 0.9 * (nodes + 50) ** 1.7 * batch ** 0.6 * math.exp(rng.gauss(0, 0.4)) * (2 if mode == "train" else 1)
        share = max(0.01, 20 + 5 * math.log2(batch) - layers / 4 + rng.gauss(0, 5))
        rows.append([3, f"rnn/{i}", "rnn", layers, nodes, 2 * nodes, 10, "" if rng.random() < 0.05 else batch, cell, mode, status,
                     repr(time), repr(share) if rng.random() > 0.03 else ""])
    return rows


def relative(a, b):
    return abs(a - b) / max(1, abs(b))


def expected(table, value, model):
    """Weights by term, their standard errors, R2 of the fit and of leaving one out, fitted values by id."""
    kept = [row for row in table if row["status"] == "ok" and row[value] and row["batch"]]
    log = numpy.log if model != "linear" else (lambda values: values)
    y = log(numpy.array([float(row[value]) for row in kept]))
    columns = {name: log(numpy.array([float(row[name]) for row in kept])) for name in NUMBERS}
    everything = [row for row in table if row["status"] == "ok" and row[value]]
    for name in ("cell", "mode"):
        for word in list(dict.fromkeys(row[name] for row in everything))[1:]:
            columns[f"{name}={word}"] = numpy.array([float(row[name] == word) for row in kept])
    x = numpy.column_stack([numpy.ones(len(y)), *columns.values()])
    if model != "power":
        y = (y - y.mean()) / y.std()
        x[:, 1:] = (x[:, 1:] - x[:, 1:].mean(axis=0)) / x[:, 1:].std(axis=0)
    weights = numpy.linalg.lstsq(x, y, rcond=None)[0]
    inverse = numpy.linalg.pinv(x)
    residuals, leverage = y - x @ weights, numpy.einsum("ij,ji->i", x, inverse)
    degrees = len(y) - x.shape[1]
    errors = numpy.sqrt(residuals @ residuals / degrees * numpy.diag(inverse @ inverse.T))
    total = ((y - y.mean()) ** 2).sum()
    alone = leverage.max() > 1 - TOLERANCE  # a row that cannot be predicted from the others
    loo = math.nan if alone else 1 - ((residuals / (1 - leverage)) ** 2).sum() / total
    return {"weights": dict(zip(["constant", *columns], weights)), "errors": dict(zip(["constant", *columns], errors)),
            "r2": 1 - residuals @ residuals / total, "loo": loo,
            "leverage": dict(zip((row["id"] for row in kept), leverage)), "rows": len(kept)}


def compare(program, directory, table, value, model):
    arguments = [program, "fit", directory, "--value", value, "--model", model, "--format", "csv"]
    listed = list(csv.DictReader(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.splitlines()))
    residuals = subprocess.run([*arguments, "--residuals"], capture_output=True, text=True, check=True).stdout
    want = expected(table, value, model)
    states = {row["term"]: (row["state"], row["collinear_with"]) for row in listed}
    assert states["input"] == ("collinear", "nodes") and states["output"] == ("constant", ""), states
    found = {row["term"]: row for row in listed if row["weight"]}
    names = {name for name in want["weights"] if model == "power" or name != "constant"}
    assert set(found) == names, (set(found), names)
    worst = 0.0
    for name, row in found.items():
        assert int(row["rows"]) == want["rows"]
        weight, is_factor = float(row["weight"]), model == "power" and (row["baseline"] or name == "constant")
        worst = max(worst, relative(math.log(weight) if is_factor else weight, want["weights"][name]), relative(float(row["r2"]), want["r2"]))
        assert math.isnan(want["loo"]) == (not row["r2_leave_one_out"]), (want["loo"], row)
        if row["r2_leave_one_out"]:
            worst = max(worst, relative(float(row["r2_leave_one_out"]), want["loo"]))
        if row["std_error"]:
            worst = max(worst, relative(float(row["std_error"]), want["errors"][name]))
    for row in csv.DictReader(residuals.splitlines()):
        worst = max(worst, abs(float(row["leverage"]) - want["leverage"].pop(row["id"])))
    assert not want["leverage"], want["leverage"]
    print(f"{len(table)} rows, {value}, {model}: largest difference {worst:.1e}")
    assert worst <= TOLERANCE, worst


def main():
    if numpy is None:
        for python in PYTHONS:
            if python != sys.executable and os.path.exists(python) and \
                    subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
                return subprocess.run([python, os.path.abspath(__file__), *sys.argv[1:]]).returncode
        needs.say("numpy")
        return needs.SKIPPED
    for seed, n_rows in ((1, 20), (2, 100), (3, 2000)):
        with tempfile.TemporaryDirectory() as directory:
            rows = made_up_table(random.Random(seed), n_rows)
            with open(os.path.join(directory, "results.csv"), "w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])
            table = [dict(zip(HEADER, map(str, row))) for row in rows]
            for value, model in (("pct_of_peak", "linear"), ("pct_of_peak", "log"), ("time_ns_median", "power"), ("time_ns_median", "linear")):
                compare(sys.argv[1], directory, table, value, model)
    return 0


if __name__ == "__main__":
    sys.exit(main())
