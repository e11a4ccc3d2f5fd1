#!/usr/bin/env python3
"""The driver's program links no thread pool and no math library, by itself or through another library; the worker's does. Which build of
a library is loaded is part of its version, since what was measured with one build says nothing of another.

Usage: ldd_test.py PARADNN PARADNN_WORKER"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

ID = re.compile(rb"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0(.{20})", re.S)  # a note with the id of a build
MODEL = "fc/layers=1,nodes=8,input=8,output=8,batch=2,mode=infer,threads=1"
KEPT_OUT = ["libgomp", "libomp", "libiomp5", "libdnnl", "libopenblas", "libblas", "liblapack"]


def libraries(program):
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines() if line.strip()]


def found(program):
    return sorted({name for name in KEPT_OUT for library in libraries(program) if library.startswith(name + ".so")})


def versions(driver, folder):
    """Those of the backends, with libraries from this folder before others."""
    done = subprocess.run([driver, "version"], env={**os.environ, "LD_LIBRARY_PATH": folder}, capture_output=True, text=True, check=True)
    return dict(line.split(None, 1) for line in done.stdout.splitlines()[1:])


def sweep(driver, folder, place, *options):
    """Kept choices are below `place`. Whether the sweep ended well, what it said, and how many files of choices there are."""
    roofs = os.path.join(place, "roofs.csv")
    with open(roofs, "w", encoding="utf-8") as file:
        file.write("kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions\ncompute,fma,f32,,1,0,100,90,110,5\n"
                   "bandwidth,read,,DRAM,1,0,18,17,19,5\n")
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "XDG_CACHE_HOME": place}
    environment.pop("PARADNN_NO_CACHE", None)
    done = subprocess.run([driver, "sweep", MODEL, "--ceilings", roofs, "--set", "measure.rounds=1", "--set", "measure.max_time=1ms", *options],
                          env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr, len([name for _, _, names in os.walk(place) for name in names if name.startswith("choices")])


def check_apart(driver, folder, backend):
    """Choices kept for one build do not serve the other, whose visits are refused by a directory of the first."""
    with tempfile.TemporaryDirectory() as place:
        first, second = ("-o", os.path.join(place, "first")), ("-o", os.path.join(place, "second"))
        options = "--set", f"run.backend={backend}"
        status, said, kept = sweep(driver, "", place, *options, *first)
        assert status == 0, said
        status, said, _ = sweep(driver, folder, place, *options, *first, "--set", "measure.rounds=2")
        assert status == 2 and f"backend_{backend} was " in said, said
        status, said, others = sweep(driver, folder, place, *options, *second)
        assert status == 0 and others == 2 * kept, (said, kept, others)
        assert kept or backend != "onednn", "no choice is kept: this test would not notice one"


def check_builds(driver, worker):
    """Each library as it is, as another build of the same version, and without an id."""
    paths = dict(line.split()[0:3:2] for line in subprocess.run(["ldd", worker], capture_output=True, text=True, check=True).stdout.splitlines()
                 if re.match(r"\s*lib(dnnl|openblas)\.so\S* => /", line))
    usual = versions(driver, "")
    for name, path in paths.items():
        backend = {"libdnnl": "onednn", "libopenblas": "openblas"}[name.split(".")[0]]
        with open(path, "rb") as file:
            code = file.read()
        own = ID.search(code)
        changes = {"other": (own[1], bytes(reversed(own[1])) if own else b""), "none": (b"\x03\0\0\0GNU\0", b"\x07\0\0\0GNU\0")} if own else {}
        builds = [usual[backend].rpartition(", build ")[2]]
        if own:
            assert builds[0].startswith(own[1].hex()[:12]), (usual, own[1].hex())
        with tempfile.TemporaryDirectory() as folder:
            for before, after in changes.values():
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(code.replace(before, after))
                if len(builds) == 1:
                    check_apart(driver, folder, backend)
                version, _, build = versions(driver, folder)[backend].rpartition(", build ")
                assert version == usual[backend].rpartition(", build ")[0], (version, usual)
                builds.append(build)
        assert len(set(builds)) == len(builds) and all(builds), builds


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
    check_builds(driver, worker)
    return 1 if in_driver else 0


if __name__ == "__main__":
    sys.exit(main())
