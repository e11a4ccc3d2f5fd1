#!/usr/bin/env python3
"""The names of all columns of all tables: none is an attribute of a pandas DataFrame or reserved in Python, R or DuckDB (reserved.txt).

Usage: names_test.py PARADNN"""

import csv
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def reserved():
    """Reader by name, in lower case."""
    found, reader = {}, None
    with open(os.path.join(HERE, "reserved.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines()[1:]:
            if line.startswith("# "):
                reader = line[2:]
            else:
                found.update((word.lower(), reader) for word in line.split())
    return found


def of_pandas():
    """What pandas says where it is installed, in whatever version."""
    code = "import pandas; print(*(name for name in dir(pandas.DataFrame) if name[0] != '_'))"
    for python in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run([python, "-c", code], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split()
    return []


def main():
    listed = subprocess.run([sys.argv[1], "columns", "--format", "csv"], capture_output=True, text=True, check=True).stdout
    columns = [(row["table"], row["column"]) for row in csv.DictReader(listed.splitlines()) if row["table"]]
    assert len(columns) > 300 and len({table for table, _ in columns}) > 10, columns
    words = reserved()
    assert all(word in words for word in ("flags", "mode", "count", "class", "repeat", "window")), words
    words.update((name, "attributes of the pandas installed here") for name in of_pandas())
    taken = [f"{table}.{column}: {words[column.lower()]}" for table, column in columns if column.lower() in words]
    assert not taken, "\n".join(taken)
    odd = [column for _, column in columns if not column.isidentifier() or column != column.lower()]
    assert not odd, odd


main()
