#!/bin/bash
#SBATCH --job-name=@NAME@
#SBATCH --nodes=@NODES@
#SBATCH --ntasks=@NODES@
#SBATCH --exclusive
#SBATCH --mem=0
@TIME@#SBATCH --signal=B:USR1@@WARNING@
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%A_%a.log
# One worker of a sweep that any number of workers share. Slurm may run a task twice, even at the same time; the second copy finds nothing
# to do.
set -u
directory=@DIRECTORY@
program=(@PROGRAM@)

# How many visits all workers have made.
visits() {
    "${program[@]}" status "$directory" --format csv --columns visits 2>/dev/null | sed -n 2p
}

before=$(visits)
"${program[@]}" sweep "$directory/spec.yaml" -o "$directory" --join --grace @GRACE@@OPTIONS@ &
worker=$!
warned=
trap 'warned=yes; kill -USR1 "$worker" 2>/dev/null' USR1
trap 'kill -TERM "$worker" 2>/dev/null' TERM
wait "$worker"
status=$?
while kill -0 "$worker" 2>/dev/null; do # a signal ended the wait, not the worker
    wait "$worker"
    status=$?
done

# The time is up and work is left: back into the queue, unless nothing was measured meanwhile and nothing would be the next time. The last
# task of an array has the whole array's job id, so a task is named by array and number.
if [ -n "$warned" ] && ! "${program[@]}" status "$directory" >/dev/null 2>&1 && [ "$(visits)" != "$before" ]; then
    exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit "$status"
