#!/usr/bin/env python3
"""Writes a C file that holds a text file as an array, and its hash as a Content-Security-Policy writes it:
embed.py INPUT NAME OUTPUT."""

import base64
import hashlib
import sys

source, name, output = sys.argv[1:]
with open(source, "rb") as file:
    content = file.read()
content.decode("ascii")
assert b"</script" not in content and b"</style" not in content, f"{source} would end its own element"
values = [str(byte) for byte in content] + ["0"]
rows = [", ".join(values[i : i + 24]) for i in range(0, len(values), 24)]
digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
with open(output, "w", encoding="ascii") as file:
    file.write('#include "results/report/page.h"\n\n')
    file.write(f"const char {name}[] = {{\n    " + ",\n    ".join(rows) + "};\n")
    file.write(f'const char {name}_hash[] = "sha256-{digest}";\n')
