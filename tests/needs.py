"""What tests need that may be missing. Each says so in one line of one form, which packaging/test shows again at the end:

    skipped: needs PROGRAM: apt-get install PACKAGE"""

import csv
import os
import shutil
import subprocess

# Of Debian, where they are not called like the program.
PACKAGES = {"Rscript": "r-base-core", "chromedriver": "chromium-driver", "gnuplot": "gnuplot-nox", "ldd": "libc-bin", "numpy": "python3-numpy", "onnx": "python3-onnx", "onnxruntime": "python3-onnxruntime",
            "pandas": "python3-pandas", "pdflatex": "texlive-latex-base texlive-pictures", "taskset": "util-linux", "unshare": "util-linux", "munged": "munge",
            **dict.fromkeys(("sbatch", "scontrol", "squeue", "sinfo"), "slurm-client")}
SKIPPED = 77  # the status of a test of which nothing could run


def say(program):
    """Prints the line; returns what stands after "skipped: ", for unittest."""
    text = f"needs {program}: apt-get install {PACKAGES.get(program, program)}"
    print(f"skipped: {text}", flush=True)
    return text


def missing(*programs):
    """A reason to skip if any of the programs is not installed, each of which gets its line; else None."""
    reasons = [say(program) for program in programs if not shutil.which(program)]
    return reasons[0] if reasons else None


def quiet():
    """Our environment without the variables that libraries read, of which the program would say what becomes of them."""
    read = ("OMP_", "GOMP_", "KMP_", "ONEDNN_", "DNNL_", "OPENBLAS_", "HWLOC_", "SLURM_CPUS_", "PBS_N", "NSLOTS", "LSB_DJOB_",
            "LD_", "GLIBC_TUNABLES", "MALLOC_")
    return {name: value for name, value in os.environ.items() if not name.startswith(read)}


def cores(paradnn):
    """How many cores the program may use here, which a control group's quota limits as well as the mask."""
    text = subprocess.run([paradnn, "list", "fc/layers=1,nodes=8,mode=infer", "--format", "csv"], capture_output=True, text=True, check=True).stdout
    return int(next(csv.DictReader(text.splitlines()))["threads"])
