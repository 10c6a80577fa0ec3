#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture snapshot with the real kernel module, in a guest: what a program has put into the
# emulated cache (tests/guest/resident.c) is what the stream holds, with process and virtual address.
load lib
load guest/suite

setup_file() {
    guest_build amd64
    [[ -z $WHY ]] || return 0
    [[ $(uname -m) == x86_64 ]] || {
        export WHY="the programs of this build do not run in a guest of another architecture"
        return 0
    }
    local dir=$G/amd64/extra file
    mkdir -p "$dir/bin"
    cc -std=gnu11 -D_GNU_SOURCE -O2 -static -I"$ROOT" -o "$dir/bin/resident" "$ROOT/tests/guest/resident.c"
    cp "$B/bin/cf-capture-snapshot" "$B/bin/cf-cat" "$dir/bin"
    # with the libraries that they are linked to
    ldd "$dir"/bin/cf-* | grep -oE '/[^ ]+\.so[^ ]*' | sort -u | while read -r file; do
        mkdir -p "$dir/${file%/*}"
        cp -L "$file" "$dir/$file"
    done
    guest_boot amd64 trigger -smp 2 <<'END'
# same NAME FILE FILE
same() {
    if cmp -s "$2" "$3"; then
        echo "CHECK ok $1: $(wc -l <"$2") lines"
    else
        echo "CHECK FAILED $1: $(diff "$2" "$3" | head -n 4 | tr '\n' ' ')"
    fi
}
lines() {
    cf-cat --csv --table line --columns snapshot,set,way,state,phys,addr,pid "$1" | tail -n +2 |
        sort -t , -n -k 1 -k 2 -k 3
}
said() {
    sort -t , -n -k 1 -k 2 -k 3 "$1"
}
cf-capture-snapshot --probe >/tmp/probe || echo "CHECK ok no-module: $(cat /tmp/probe)"
insmod /cacheflow.ko backend=model size=4194304
insmod /tagram.ko
cf-capture-snapshot --probe >/tmp/probe && echo "CHECK ok probe: $(cat /tmp/probe)"
cd /tmp
cf-capture-snapshot -e stop -mr -o flush.cf -- resident 20 2048 16 >said
said said >want
lines flush.cf >have
same flush want have
cf-capture-snapshot -t -e stop -mr -o keep.cf -- resident 30 2048 16 >said
said said >want
lines keep.cf >have
same transparent want have
cf-capture-snapshot -t -e stop -2 -o twice.cf -- resident 3 2048 16 >said
echo 6 >want
cf-cat --csv --table snapshot twice.cf | tail -n +2 | wc -l >have
same twice want have
cf-capture-snapshot -e break:main -n 1 -o break.cf -- resident 0 2048 16 >said
echo 1 >want
cf-cat --csv --table snapshot break.cf | tail -n +2 | wc -l >have
same break want have
# snapshots of 256 lines with an owner each, until the buffer is full
rmmod tagram; rmmod cacheflow
insmod /cacheflow.ko backend=model model_sets=256 size=262144
insmod /tagram.ko
cf-capture-snapshot -t -e stop -r -o full.cf -- resident 99 256 16 >said 2>err
status=$?
if [ $status = 1 ] && grep -q "buffer is full after" err && cf-cat --verify full.cf >/dev/null; then
    echo "CHECK ok full: $(cat err)"
else
    echo "CHECK FAILED full: status $status: $(cat err)"
fi
END
}

@test "--probe tells whether the module is there" {
    passed trigger no-module
    passed trigger probe
}

@test "flush: 20 snapshots hold the lines that were put in, with process and address" {
    passed trigger flush
}

@test "transparent: 30 snapshots from the buffer hold the same" {
    passed trigger transparent
}

@test "two snapshots back to back; a breakpoint" {
    passed trigger twice
    passed trigger break
}

@test "a full buffer is told, and what it holds is written" {
    passed trigger full
}

@test "no warning in the kernel's log" {
    passed trigger kernel-log
}
