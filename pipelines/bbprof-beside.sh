#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bbprof-beside.sh [-c CORUNNER.cf] [-w ROWS] [-l WHAT=CYCLES]... MACHINE PROGRAM.cf [CF-CACHE OPTION]...
#
# How long a recorded program runs on CPU 0 of a modelled machine, alone or with the same co-runner on
# CPUs 1 to 3, as CSV. PROGRAM.cf counts instructions; CORUNNER.cf cycles, by cf-latency --retime of its
# run alone.
#
#   -c   the co-runner. It stands for one that runs for ever: to end before the program is an error
#   -w   the first ROWS accesses of the program warm the caches, and are not in its runtime
#   -l   latencies, as in cf-latency(1)
#
# What each pays for its misses decides who comes when, and that decides what each pays. So the programs
# are merged by their times, go through the caches, get the times that follow, and are merged again,
# until the runtime changes by less than SETTLED percent: at least two passes, at most PASSES. What
# still changes by more than UNSETTLED then is an error. (The three can be set in the environment.)
#
# Columns: runtime_cycles; passes, and change_percent by the last of them; while the program ran,
# stored_mb_per_s, what the co-runners stored, at a line each, and memory_mb_per_s, what memory sent them
# and got back: each line of a co-runner that only stores twice.
set -euo pipefail
shopt -s inherit_errexit
# numbers of awk with a point
export LC_ALL=C
PASSES=${PASSES:-8} SETTLED=${SETTLED:-0.5} UNSETTLED=${UNSETTLED:-3} LINE=64

corunner='' warm=0 latency=()
while getopts c:w:l: option; do
    case $option in
    c) corunner=$OPTARG ;;
    w) warm=$OPTARG ;;
    l) latency+=(--latency "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[[ $# -ge 2 && $warm != *[!0-9]* ]] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
for number in PASSES SETTLED UNSETTLED; do
    [[ ${!number} =~ ^[0-9]+(\.[0-9]+)?$ ]] || { echo "bbprof-beside.sh: $number='${!number}': give a number" >&2; exit 2; }
done
machine=$1 program=$2
shift 2

d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT

fail() {
    echo "bbprof-beside.sh: $program: $1" >&2
    exit 1
}

# last FILE: time of its last access
last() {
    cf-cat --info "$1" | sed -n 's/^ *"access": .*, last: \([0-9]*\),.*/\1/p'
}
clock() { cf-cat --info "$1" | grep '^clock:'; }
instructions=$(($(last "$program") + 1))

# retimed CPU: accesses of one CPU, in the times that follow from their costs; and the sums of these
retimed() {
    cf-latency -q -m "$machine" ${latency[@]+"${latency[@]}"} --retime --summary --csv -o "$d/$1.cf" >"$d/cost$1"
}

# What the program took, without what it had before row `warm`
runtime() {
    local from=0
    ((warm == 0)) || from=$(cf-cat --csv --columns time "$d/0.cf" | awk -v row="$warm" 'NR == row + 2 { at = $1 } END { print at }')
    awk -F, -v from="$from" -v cycles="$instructions" 'NR > 1 { cycles += $4 } END { printf "%.0f\n", cycles - from }' "$d/cost0"
}

echo runtime_cycles,passes,change_percent,stored_mb_per_s,memory_mb_per_s
if [[ -z $corunner ]]; then
    cf-cache -q -m "$machine" --frames sequential "$@" "$program" | retimed 0
    echo "$(runtime),1,0,0,0"
    exit
fi

# pass: all of them through the caches together, each CPU on to its own costs and times.
pass() {
    local k job=()
    for k in 0 1 2 3; do
        cf-select -q --cpu "$k" "$d/pipe$k" | retimed "next$k" &
        job+=($!)
    done
    # with what options the co-runners' column hit was made is no matter, as it is made anew; and each input describes
    # the others' processes, too
    cf-merge -q --force --schedule fifo --cores 4 "$d/0.cf" "$d"/part[123].cf |
        cf-cache -q -m "$machine" --frames sequential "$@" | tee "$d"/pipe[123] >"$d/pipe0"
    for k in 0 1 2 3; do
        wait "${job[k]}"
        mv "$d/next$k.cf" "$d/$k.cf"
        mv "$d/costnext$k" "$d/cost$k"
    done
}

# The first guess: each as fast as alone. Lists of pages that name the co-runners' alone are no matter then.
cf-cache -q -m "$machine" --frames sequential "$@" "$program" 2>"$d/messages" | retimed 0 || fail "$(<"$d/messages")"
[[ $(clock "$corunner") == "$(clock "$d/0.cf")" ]] ||
    fail "the co-runner's times have another clock: give what cf-latency --retime has written, of the same machine"
mkfifo "$d"/pipe{0..3}
now=$(runtime)
end=$(last "$d/0.cf")
lasted=0 anew=40
for ((n = 1; n <= PASSES; n++)); do
    # Of the co-runners more than the program takes, since it and they change; at first less, since most are slowed
    # more than it is. Where that did not last until its end, they begin anew with more of each.
    for k in 1 2 3; do
        if ((lasted)); then
            cf-cat -q --slice "0-$((end * 5 / 2))" -o "$d/part$k.cf" "$d/$k.cf"
        else
            cf-cat -q --slice "0-$((end * anew / 100))" -o "$d/part$k.cf" "$corunner"
        fi
    done
    ((lasted)) || anew=$((anew == 40 ? 125 : anew * 2))
    pass "$@"
    before=$now now=$(runtime) end=$(last "$d/0.cf")
    change=$(awk -v a="$before" -v b="$now" 'BEGIN { printf "%.2f", 100 * (b > a ? b - a : a - b) / a }')
    lasted=1
    for k in 1 2 3; do (($(last "$d/$k.cf") >= end)) || lasted=0; done
    ((lasted || $(last "$corunner") > $(last "$d/part1.cf"))) ||
        fail "takes $end cycles, and the co-runner ends after $(last "$d/1.cf"): record more of it"
    ((n > 1 && lasted)) && awk -v change="$change" -v settled="$SETTLED" 'BEGIN { exit change >= settled }' && break
done
((n <= PASSES)) || n=$PASSES
if ((!lasted)) || awk -v change="$change" -v unsettled="$UNSETTLED" 'BEGIN { exit change <= unsettled }'; then
    fail "takes $now cycles in pass $n, $change % from those of the pass before: it does not settle"
fi

# While the program ran: stores of the co-runners, and lines that memory sent.
hz=$(cf-cat --info "$d/0.cf" | sed -n 's/^clock: .*hz: \([0-9]*\).*/\1/p')
for k in 1 2 3; do
    cf-cat -q --slice "0-$end" "$d/$k.cf" | cf-latency -q -m "$machine" ${latency[@]+"${latency[@]}"} --summary --csv
done | awk -F, -v line="$LINE" -v second="$hz" -v cycles="$end" -v runtime="$now,$n,$change" '
    function mb(lines) { return lines * line * second / cycles / 1e6 }
    $2 == "store" { stored += $3 }
    $1 == "memory" { sent += $3 }
    END { printf "%s,%.0f,%.0f\n", runtime, mb(stored), mb(2 * sent) }'
