#!/bin/sh
# The shipped sweeps on this Debian and on Debian 13, which have different generations of oneDNN: sweep by sweep, one right after the other,
# so that both run under the same load. Usage: generations.sh OUT, a path inside the working tree, the only place both can see. Needs the builds
# in build and build-debian13 (.ci/debian13). About ten minutes.
set -eu
cd "$(dirname "$0")/../.."
out=$1
mkdir -p "$out"
for sweep in fc cnn rnn transformer; do
    build/cli/paradnn sweep "sweeps/$sweep.yaml" -o "$out/$sweep-here.results"
    .ci/debian13 build-debian13/cli/paradnn sweep "sweeps/$sweep.yaml" -o "$out/$sweep-debian13.results"
done
for sweep in fc cnn rnn transformer; do
    build/cli/paradnn compare "$out/$sweep-here.results" "$out/$sweep-debian13.results"
done
