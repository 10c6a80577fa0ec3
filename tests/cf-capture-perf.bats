#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture perf on the kernel of this machine: attributes, page faults, breakpoints, rings. What
# needs counters has no test but its attributes and its refusal.
load lib

setup_file() {
    export D=$BATS_FILE_TMPDIR
    cat >"$D/walk.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
static volatile long cells[1024];
static __thread volatile long own;
static void *work(void *a)
{
    for (long n = *(long *)a; n > 0; n--)
        for (long i = 0; i < 1024; i++) { cells[i] += n; own++; }
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t[8];
    long n = atol(argv[1]);
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < threads; i++) pthread_create(&t[i], 0, work, &n);
    for (int i = 0; i < threads; i++) pthread_join(t[i], 0);
    return 7;
}
END
    gcc -g -O1 -pthread -o "$D/walk" "$D/walk.c"
    cf-capture-trace -q -o "$D/earlier.cf" -- "$D/walk" 3 || [[ $? == 7 ]]
}

breakpoints() {
    local said
    said=$(cf-capture-perf --coarse page-faults -q -o needed.cf -- true 2>&1) || skip "perf_event_open: $said"
}

@test "attributes of Intel are those of the paper's Table 1" {
    run -0 cf-capture-perf --dry-run --vendor intel --fine 0
    [[ ${lines[0]} == "loads: type=4 config=0x1cd config1=0x3 sample_period=20000 precise_ip=3 sample_type=IDENTIFIER|IP|TID|TIME|ADDR|CPU|WEIGHT|DATA_SRC "* ]]
    [[ ${lines[1]} == "stores: type=4 config=0x82d0 config1=0x0 sample_period=50000 precise_ip=1 "* ]]
    run -0 cf-capture-perf --dry-run --vendor amd --fine 0 --loads 20001
    [[ ${lines[0]} == "loads-and-stores: type=ibs_op config=0x80000 "*"sample_period=20000 "* ]]
}

@test "without counters it is refused, and the message says what to do" {
    ! cf-capture-perf --probe || skip "this machine has counters"
    run -3 cf-capture-perf -- true
    [[ $output == *"--coarse page-faults"* ]]
}

@test "a breakpoint sees the addresses one after the other, of two threads and of a thread's own memory" {
    breakpoints
    # All 64 accesses may be of the thread that begins first: what is seen must be right each time,
    # and both threads in one of these runs.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        run -7 cf-capture-perf --coarse "$D/earlier.cf" --expire 5000 -o t.cf -- "$D/walk" 60000 2
        cf-cat --csv --columns tid,op,size,addr,pc,stage,weight t.cf >t.csv
        run python3 - <<'END'
import csv, collections, sys
by = collections.defaultdict(list)
for r in csv.DictReader(open('t.csv')):
    assert (r['stage'], r['weight'], r['size']) == ('2', '0', '8'), r
    by[r['pc'], r['tid']].append((r['op'], int(r['addr'], 16)))
walked = fixed = 0
for rows in by.values():
    steps = {b[1] - a[1] for a, b in zip(rows, rows[1:])}
    walked += steps <= {8, 8 - 8192} and 8 in steps
    fixed += steps == {0}
assert walked >= 1 and fixed >= 1, (walked, fixed)
sys.exit(0 if walked >= 2 and fixed >= 2 else 9)
END
        [[ $status == 9 ]] || break
    done
    [[ $status == 0 ]] || fail "status $status" "$output"
}

@test "what a small ring loses is counted in the stream and reported" {
    breakpoints
    run -0 cf-capture-perf --coarse page-faults --fine 0 --buffer 4K -o t.cf -- \
        sh -c 'for i in 1 2 3 4 5 6 7 8; do ls -R /usr/share/doc >/dev/null; done'
    [[ $output == *"records were lost"* ]]
    sum=$(rows lost t.cf | awk -F, 'NR > 1 { s += $5 } END { print s }')
    [[ $output == *"$sum records were lost"* ]]
    cf-cat --verify t.cf
}

@test "an attached process that ends ends the recording" {
    breakpoints
    "$D/walk" 400000 2 3>&- &
    run -0 cf-capture-perf --pid $! --coarse "$D/earlier.cf" -o t.cf
    [[ $(rows access t.cf | wc -l) -gt 64 ]]
    run -3 cf-capture-perf --pid 4194303 --coarse page-faults -o t.cf
}

@test "signal USR1 begins another segment" {
    breakpoints
    cf-capture-perf --coarse page-faults -o t.cf -- sh -c 'sleep 0.2; kill -USR1 $PPID; sleep 0.2; ls'
    [[ $(grep -ao 'cacheflow: 1' t.cf | wc -l) == 2 ]]
    cf-cat --verify t.cf
}
