# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# For the suites that run cf-capture snapshot with the real kernel module in a guest, after
# guest/suite: the way that a snapshot takes on a board, from the breakpoint or signal to the stream.
# What a program has put into the emulated cache (resident.c) is what the stream holds, with process
# and virtual address.

# trigger_script <MODULES: what a guest is to run, at the end of its script and with no module loaded.
# MODULES is a shell function `modules SETS BYTES` that loads the modules, for an L2 of so many sets and
# 16 ways and a buffer of so many bytes. The names of the checks begin with "trigger.".
trigger_script() {
    [[ -z $WHY_PROGRAMS ]] || return 0
    cat - <(trigger_checks)
}

# triggered GUEST CHECK: it has passed that one
triggered() {
    programs_here
    passed "$1" "trigger.$2"
}

trigger_checks() {
    cat <<'END'
# same NAME FILE FILE
same() {
    if [ -s "$2" ] && cmp -s "$2" "$3"; then
        echo "CHECK ok trigger.$1: $(wc -l <"$2") lines"
    else
        echo "CHECK FAILED trigger.$1: $(diff "$2" "$3" | head -n 4 | tr '\n' ' ')"
    fi
}
lines() {
    cf-cat --csv --table line --columns snapshot,set,way,state,phys,addr,pid "$1" | tail -n +2 |
        sort -t , -n -k 1 -k 2 -k 3
}
said() {
    sort -t , -n -k 1 -k 2 -k 3 "$1"
}
cf-capture-snapshot --probe >/tmp/probe || echo "CHECK ok trigger.no-module: $(cat /tmp/probe)"
# A small cache: full size is that of kmod-tags.bats. Each snapshot is of other lines than the one
# before, so three would show one that is old, lost or doubled.
modules 512 4194304
cf-capture-snapshot --probe >/tmp/probe && echo "CHECK ok trigger.probe: $(cat /tmp/probe)"
cd /tmp
cf-capture-snapshot -e stop -mr -o flush.cf -- resident 6 512 16 >said
said said >want
lines flush.cf >have
same flush want have
cf-capture-snapshot -t -e stop -mr -o keep.cf -- resident 9 512 16 >said
said said >want
lines keep.cf >have
same transparent want have
cf-capture-snapshot -t -e stop -2 -o twice.cf -- resident 3 512 16 >said
echo 6 >want
cf-cat --csv --table snapshot twice.cf | tail -n +2 | wc -l >have
same twice want have
cf-capture-snapshot -e break:main -n 1 -o break.cf -- resident 0 512 16 >said
echo 1 >want
cf-cat --csv --table snapshot break.cf | tail -n +2 | wc -l >have
same break want have
# snapshots of 256 lines with an owner each: the buffer is full after 13, and the program goes on
commands trigger.commands
rmmod cacheflow
rmmod tagram
modules 256 262144
cf-capture-snapshot -t -e stop -r -o full.cf -- resident 20 256 16 >said 2>err
status=$?
if [ $status = 1 ] && grep -q "buffer is full after" err && cf-cat --verify full.cf >/dev/null; then
    echo "CHECK ok trigger.full: $(cat err)"
else
    echo "CHECK FAILED trigger.full: status $status: $(cat err)"
fi
commands trigger.commands.full
END
}
