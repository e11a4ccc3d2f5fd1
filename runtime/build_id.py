#!/usr/bin/env python3
"""Writes a C file with an id of the build: equal objects have equal ids, wherever they were compiled.

Usage: build_id.py OUTPUT VERSION OBJECT..."""

import hashlib
import sys


def main():
    output, version, objects = sys.argv[1], sys.argv[2], sys.argv[3:]
    digest = hashlib.sha256()
    for name in objects:
        with open(name, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    with open(output, "w", encoding="utf-8") as file:
        file.write('#include "runtime/protocol/software.h"\n\n'
                   f'const char pdnn_build[PDNN_BUILD_TEXT] = "{version} ({digest.hexdigest()[:12]})";\n')


if __name__ == "__main__":
    main()
