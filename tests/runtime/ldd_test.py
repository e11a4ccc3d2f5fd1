#!/usr/bin/env python3
"""The driver's program links no thread pool and no math library, by itself or through another library; the worker's does.

Usage: ldd_test.py PARADNN PARADNN_WORKER"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

KEPT_OUT = ["libgomp", "libomp", "libiomp5", "libdnnl", "libopenblas", "libblas", "liblapack"]


def libraries(program):
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines() if line.strip()]


def found(program):
    return sorted({name for name in KEPT_OUT for library in libraries(program) if library.startswith(name + ".so")})


def main():
    driver, worker = sys.argv[1:3]
    if needs.missing("ldd"):
        return needs.SKIPPED
    in_driver, in_worker = found(driver), found(worker)
    if in_driver:
        print(f"{driver} links {', '.join(in_driver)}")
    if "libgomp" not in in_worker and "libomp" not in in_worker:
        print(f"{worker} links no OpenMP: this test would not notice one")
        return 1
    return 1 if in_driver else 0


if __name__ == "__main__":
    sys.exit(main())
