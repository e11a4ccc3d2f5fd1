#!/bin/bash
#BSUB -n 1
#BSUB -x
#BSUB -r
#BSUB -W @MINUTES@
# One worker of a sweep that any number of workers share. LSF may run a task again; it goes on with what is left.
set -u
directory=@DIRECTORY@
program=(@PROGRAM@)
exec "${program[@]}" sweep "$directory/spec.yaml" -o "$directory" --join --grace @GRACE@@OPTIONS@
