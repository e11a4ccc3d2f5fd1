"""What a comparison prints: the contenders of every case, and a summary with one line a case."""

import csv
import statistics

OURS = "paradnn"


def ratios(contender, other):
    """Median, least and greatest ratio over the rounds."""
    both = [a / b for a, b in zip(contender.medians(), other.medians())]
    return statistics.median(both), min(both), max(both)


def median(contender):
    return statistics.median(contender.medians())


def floor_of(every):
    """The least of paradnn's ways; 0: not known."""
    return min((floor for floor in (statistics.median(each.floors) for each in every if getattr(each, "floors", [])) if floor), default=0)


def describe(case, contender, others, floor):
    """The contender's row; others: the contenders to compare it with, by name. The floor is that of the case's type."""
    row = {"case": case.name, "family": case.family, "mode": case.mode, "dtype": contender.dtype, "contender": contender.name, "rounds": len(contender.rounds)}
    row |= {"samples": sum(map(len, contender.rounds)), "time_ns_median": "", "fastest": others["fastest"].name}
    row |= {"peak_rss_bytes": contender.peak_rss_bytes or "", "plan_bytes": contender.plan_bytes or ""}
    if contender.rounds:
        row["time_ns_median"] = round(median(contender))
    is_above = floor and contender.rounds and contender.dtype == case.dtype
    row |= {"floor_ns": round(floor) if is_above else "", "ratio_to_floor": f"{median(contender) / floor:.4f}" if is_above else ""}
    for key, other in others.items():
        values = [f"{value:.4f}" for value in ratios(contender, other)] if contender.rounds else [""] * 3
        row |= zip((f"ratio_to_{key}", f"ratio_to_{key}_low", f"ratio_to_{key}_high"), values)
    return row | {"reason": contender.reason, "note": contender.note}


def floor_cell(row):
    return f"{float(row['ratio_to_floor']):.2f}" if row["ratio_to_floor"] else ""


def range_of(row, key):
    return "{:.2f} ({:.2f} to {:.2f})".format(*(float(row[f"ratio_to_{key}{end}"]) for end in ("", "_low", "_high")))


def show(row):
    if row["reason"]:
        print(f"  {row['contender']:24}  {row['reason']}")
        return
    cells = [f"{row['time_ns_median'] / 1e6:9.3f}", f"{floor_cell(row):>7}", f"{range_of(row, 'fastest'):>20}", f"{range_of(row, 'eager'):>20}",
             f"{row['peak_rss_bytes'] / 2**20:5.0f} MiB"]
    cells += [f"{row['plan_bytes'] / 2**20:5.0f} MiB"] if row["plan_bytes"] else []
    cells += [row["note"]] if row["note"] else []
    print(f"  {row['contender']:24}  {'  '.join(cells)}")


def show_case(case, every):
    """Prints the case and returns its rows."""
    others = [each for each in every if each.rounds and not each.reason and not each.name.startswith(OURS)]
    against = {"fastest": min((each for each in others if not each.crippled), key=median), "eager": others[0]}
    print(f"\n{case.name:26}  {'ms/step':>9}  {'/ floor':>7}  {'/ fastest':>20}  {'/ ' + others[0].name:>20}  {'peak RSS':>9}  {'plan':>9}")
    rows = [describe(case, each, against, floor_of(every)) for each in every]
    for row in rows:
        show(row)
    print(end="", flush=True)
    return rows


def show_summary(rows):
    """In Markdown: paradnn's faster way against the first other, PyTorch's default, and against the fastest of all the others."""
    first = next((row["contender"] for row in rows), "torch eager")
    print(f"\n| {'case':24} | {'ms':>9} | {'/ floor':7} | {'/ ' + first:20} | {'/ fastest other':20} | fastest other |\n|---|---|---|---|---|---|")
    for name in dict.fromkeys(row["case"] for row in rows):
        ours = [row for row in rows if row["case"] == name and row["contender"].startswith(OURS) and row["time_ns_median"]]
        if not ours:
            print(f"| {name:24} | {'-':>9} | | | | |")
            continue
        row = min(ours, key=lambda each: each["time_ns_median"])
        print(f"| {name:24} | {row['time_ns_median'] / 1e6:9.3f} | {floor_cell(row):>7} | {range_of(row, 'eager'):20} | {range_of(row, 'fastest'):20} "
              f"| {row['fastest']} |")


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
