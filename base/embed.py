#!/usr/bin/env python3
"""Writes a C file that holds an ASCII text file as an array: embed.py INPUT NAME HEADER OUTPUT. HEADER declares it.

An array, because a string literal is limited to 4095 characters."""

import sys

source, name, header, output = sys.argv[1:]
with open(source, encoding="ascii") as file:
    values = [str(ord(letter)) for letter in file.read()] + ["0"]
rows = [", ".join(values[i : i + 24]) for i in range(0, len(values), 24)]
with open(output, "w", encoding="ascii") as file:
    file.write(f'#include "{header}"\n\nconst char {name}[] = {{\n    ' + ",\n    ".join(rows) + "};\n")
