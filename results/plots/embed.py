#!/usr/bin/env python3
"""Writes a C file that holds a text file as a string: embed.py INPUT NAME OUTPUT."""

import sys

source, name, output = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    lines = file.read().splitlines()
quoted = ['    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in lines]
with open(output, "w", encoding="utf-8") as file:
    file.write(f'#include "results/gnuplot.h"\n\nconst char {name}[] =\n' + "\n".join(quoted) + ";\n")
