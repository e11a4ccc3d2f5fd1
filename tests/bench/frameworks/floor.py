"""The least time that the machine's measured roofs allow for a step: the sum over its ops of the longer of two times, that of their FLOP and
that of their compulsory bytes. paradnn has placed every op under its roof; what its own implementation moves besides, and its reorders,
are no part of what any other has to do."""

import csv
import os

csv.field_size_limit(1 << 30)


def rows(directory, table):
    with open(os.path.join(directory, table), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def peaks(ceilings, threads):
    """FLOP per ns, by type: the largest that was measured."""
    found = {}
    for row in ceilings:
        if row["kind"] == "compute" and row["threads"] == str(threads):
            found[row["dtype"]] = max(found.get(row["dtype"], 0), float(row["value"]))
    return found


def number(row, column):
    return float(row.get(column) or 0)


def op_ns(op, peak):
    """0 without a roof, and not more than it took: what ran faster than its roof shows that the roof is too low, or
    did less than is counted: the floor of Winograd's convolutions is that of all multiplications, and another's time may be below it."""
    roof = number(op, "time_ns_median") * min(number(op, "pct_of_roof"), 100) / 100
    needed, extra = number(op, "byte_count"), number(op, "extra_read_bytes") + number(op, "extra_written_bytes")
    if not extra or "memory" not in op["bound"]:
        return roof
    flop_ns = number(op, "in_bounds_flop_count") / peak if peak else 0
    return min(roof, max(flop_ns, roof * needed / (needed + extra)))


def step_ns(directory, threads):
    """Of the one model in a directory of results; 0: none of its ops has a roof."""
    peak = peaks(rows(directory, "ceilings.csv"), threads)
    return sum(op_ns(op, peak.get(op["dtype"])) for op in rows(directory, "ops.csv") if op["op"] != "reorder")
