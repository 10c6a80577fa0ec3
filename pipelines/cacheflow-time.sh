#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# cacheflow-time.sh RUNS CPU OTHER-CPU COMMAND [BESIDE]
#
# Prints how long COMMAND takes on a processor, in nanoseconds, the mean of so many runs; with BESIDE
# while that runs on another processor, again and again. What they print is dropped.
set -u

[[ $# -ge 4 ]] || { sed -n '4,7s/^# //p' "$0" >&2; exit 2; }
runs=$1 own=$2 other=$3 command=$4 beside=${5:-}
group=

# What runs beside is a process group of its own, which is ended as a whole.
finish() { [[ -z $group ]] || kill -- "-$group" 2>/dev/null; }
trap finish EXIT

if [[ $beside ]]; then
    setsid taskset -c "$other" bash -c "while :; do $beside; done" >/dev/null 2>&1 </dev/null &
    group=$!
    sleep 0.1
    kill -0 "$group" 2>/dev/null || { echo "$0: on processor $other nothing runs" >&2; exit 3; }
fi
all=0
for ((i = 0; i < runs; i++)); do
    start=$(date +%s%N)
    taskset -c "$own" bash -c "exec $command" >/dev/null </dev/null || { echo "$0: $command failed" >&2; exit 1; }
    all=$((all + $(date +%s%N) - start))
done
echo $((all / runs))
