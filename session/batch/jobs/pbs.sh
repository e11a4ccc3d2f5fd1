#!/bin/bash
#PBS -N @NAME@
#PBS -l select=1
#PBS -l place=exclhost
#PBS -l walltime=@TIME@
#PBS -r y
#PBS -j oe
#PBS -V
# One worker of a sweep that any number of workers share. PBS may run a task again; it goes on with what is left.
set -u
directory=@DIRECTORY@
program=(@PROGRAM@)
exec "${program[@]}" sweep "$directory/spec.yaml" -o "$directory" --join --grace @GRACE@@OPTIONS@
