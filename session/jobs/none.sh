#!/bin/bash
# The workers of a sweep, then its tables. With hosts as arguments, one worker on each of them, through ssh; without, @WORKERS@ on this
# machine, each on its share of the cores, where they still disturb each other's times.
set -u
directory=@DIRECTORY@
program=(@PROGRAM@)
sweep=("${program[@]}" sweep "$directory/spec.yaml" -o "$directory" --join --grace @GRACE@@OPTIONS@)
workers=()

# The processors that this shell may use, those of one core side by side.
processors() {
    local list range
    list=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
    for range in ${list//,/ }; do
        seq "${range%-*}" "${range#*-}"
    done | while read -r cpu; do
        echo "$(cat "/sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list" 2>/dev/null || echo "$cpu") $cpu"
    done | LC_ALL=C sort -n -s | sed 's/.* //'
}

start_here() {
    local count=@WORKERS@ all share i
    mapfile -t all < <(processors)
    if [ "${#all[@]}" -lt "$count" ]; then
        echo "$count workers, but only ${#all[@]} processors" >&2
        exit 2
    fi
    for ((i = 0; i < count; i++)); do
        share=("${all[@]:i * ${#all[@]} / count:(i + 1) * ${#all[@]} / count - i * ${#all[@]} / count}")
        taskset -c "$(IFS=,; echo "${share[*]}")" "${sweep[@]}" >"$directory/jobs/worker-$i.log" 2>&1 &
        workers+=($!)
    done
}

# A terminal on the other side: if the connection ends, the worker gets a signal and ends too.
start_on() {
    local command
    command="exec $(printf '%q ' "${sweep[@]}") >$(printf '%q' "$directory/jobs/worker-$1.log") 2>&1"
    ssh -tt -o BatchMode=yes "$1" "$command" </dev/null >/dev/null &
    workers+=($!)
}

trap 'kill -TERM "${workers[@]}" 2>/dev/null' INT TERM HUP
if [ $# = 0 ]; then
    start_here
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
