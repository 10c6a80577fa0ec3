#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# cacheflow-time.sh RUNS CPU OTHER-CPU COMMAND [BESIDE]
#
# Prints how long COMMAND takes on a processor, in nanoseconds, the mean of so many runs; with BESIDE
# while that runs on another processor, again and again. What they print is dropped. Each must end well.
set -u

[[ $# -ge 4 ]] || { sed -n '4,8s/^# //p' "$0" >&2; exit 2; }
runs=$1 own=$2 other=$3 command=$4 beside=${5:-}
[[ $runs =~ ^[1-9][0-9]*$ ]] || { echo "$0: RUNS='$runs': give a number from 1 on" >&2; exit 2; }
timed='' group=''

# Each is a process group of its own, which is ended as a whole.
set -m
finish() { for g in $timed $group; do kill -- "-$g" 2>/dev/null; done; }
trap finish EXIT

works() { [[ ! $beside ]] || kill -0 "$group" 2>/dev/null || { echo "$0: $beside failed, on processor $other" >&2; exit 1; }; }
if [[ $beside ]]; then
    taskset -c "$other" bash -c "while $beside; do :; done" >/dev/null 2>&1 </dev/null &
    group=$!
    sleep 0.1
fi
works
all=0
for ((i = 0; i < runs; i++)); do
    start=$(date +%s%N)
    taskset -c "$own" bash -c "exec $command" >/dev/null </dev/null &
    timed=$!
    wait "$timed" || { echo "$0: $command failed" >&2; exit 1; }
    all=$((all + $(date +%s%N) - start))
    timed=
done
works
echo $((all / runs))
