#!/bin/bash
# The tables of what all workers have measured. Exit status 1: some instances are missing.
set -u
directory=@DIRECTORY@
program=(@PROGRAM@)
exec "${program[@]}" merge "$directory" -o "$directory"
