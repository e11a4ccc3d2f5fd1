#!/bin/bash
# The workers of a sweep, then its tables. With hosts as arguments, one worker on each of them, through ssh; without, one on this machine.
set -u
directory=@DIRECTORY@
program=(@PROGRAM@)
sweep=("${program[@]}" sweep "$directory/spec.yaml" -o "$directory" --join --grace @GRACE@@OPTIONS@)
workers=()

# A terminal on the other side: if the connection ends, the worker gets a signal and ends too.
start_on() {
    local command
    command="exec $(printf '%q ' "${sweep[@]}") >$(printf '%q' "$directory/jobs/worker-$1.log") 2>&1"
    ssh -tt -o BatchMode=yes "$1" "$command" </dev/null >/dev/null &
    workers+=($!)
}

trap 'kill -TERM "${workers[@]}" 2>/dev/null' INT TERM HUP
if [ $# = 0 ]; then
    "${sweep[@]}" >"$directory/jobs/worker-here.log" 2>&1 &
    workers+=($!)
fi
for host; do
    start_on "$host"
done
for worker in "${workers[@]}"; do
    wait "$worker"
    while kill -0 "$worker" 2>/dev/null; do # a signal ended the wait, not the worker
        wait "$worker"
    done
done
exec bash "$directory/jobs/merge.sh"
