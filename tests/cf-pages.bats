#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-pages: the profile of a program with a known one, the three kinds of runs, what is refused and
# said. That its cycles are right is held against a slow model, machine by machine, in test_reference.

load lib

machine() {
    cat >m.yaml <<'END'
name: small
cpus: 2
line_size: 64
levels:
  - {name: L1, kind: unified, size: 512, ways: 2, policy: lru}
latency: {L1: 1, memory: 10}
END
}

# profile OPTION... INPUT: table page of it
profile() {
    cf-pages -q -m m.yaml "$@" -o p.cf
    cf-cat --csv --table page --columns region,page,runtime_cycles,policy,k p.cf >got
}

# Two pages, a and b, of 64 bytes: a is read four times, b twice.
two_pages() {
    printf '%s\n' addr,region,page 0,a,0 64,b,1 0,a,0 0,a,0 64,b,1 0,a,0 | stream two.cf -
}

@test "each page alone, all but each, and the best k, to the cycle" {
    machine
    two_pages
    profile --page-size 64 two.cf
    same /dev/stdin got <<'END'
region,page,runtime_cycles,policy,k
,0,60,1,0
,0,24,2,0
a,0,33,3,0
b,1,51,3,0
END
    cp p.cf alone.cf
    profile --page-size 64 --mode uncached two.cf
    tail -n 2 got >rows
    same /dev/stdin rows <<'END'
a,0,51,4,0
b,1,33,4,0
END
    profile --page-size 64 --rank alone.cf two.cf
    tail -n 3 got >rows
    same /dev/stdin rows <<'END'
,0,60,5,0
a,0,33,5,1
b,1,24,5,2
END
}

@test "STAIRCASE: five steps of 20 pages, in their order, with heights of 1 to 5" {
    reached "a model"
    cat >stair.c <<'END'
#include <stdlib.h>
#include <string.h>
enum { PAGE = 4096, PAGES = 100 };
volatile unsigned long sink;
__attribute__((noinline)) void climb(volatile unsigned char *b)
{
    for (int i = 0; i < 100; i++)
        for (int p = i / 20 * 20; p < PAGES; p++)
            for (int l = 0; l < PAGE; l += 64)
                sink += b[p * PAGE + l];
}
int main(void)
{
    unsigned char *b = aligned_alloc(PAGE, PAGES * PAGE);
    memset(b, 1, PAGES * PAGE);
    climb(b);
    return 0;
}
END
    gcc -O1 -g -o stair stair.c
    cf-capture trace -q -i --own-allocator --function climb -o s.cf -- ./stair
    cf-resolve -q -o r.cf s.cf
    cf-pages -q -m zynq-ultrascale -o p.cf r.cf
    cf-cat --csv --table page --columns region,page,runtime_cycles,policy p.cf >p.csv
    # pages of the buffer are those that are neither the program's, nor code, nor stack
    awk -F, '$4 == 1 { none = $3 } $4 == 3 && $1 !~ /stair|stack/ { print $2, none - $3 }' p.csv | sort -n >gains
    [ "$(wc -l <gains)" -eq 100 ]
    awk '{ step = int((NR - 1) / 20) + 1; sum[step] += $2; if (least[step] == "" || $2 < least[step]) least[step] = $2
           if ($2 > most[step]) most[step] = $2 }
        END { for (s = 1; s <= 5; s++) {
            high = sum[s] / 20 / (sum[5] / 100)
            if (high < s * .95 || high > s * 1.05 || (s > 1 && least[s] <= most[s - 1])) exit 1 } }' gains
    # the ends of the ranking are the two baselines
    cf-pages -q -m zynq-ultrascale --rank p.cf -o k.cf r.cf
    cf-cat --csv --table page --columns runtime_cycles,policy,k k.cf |
        awk -F, '$2 == 1 { none = $1 } $2 == 2 { all = $1 } $2 == 5 { last = $1; if (!$3) first = $1 }
                 END { exit !(first == none && last == all && none > all) }'
}

@test "without a cache each line of an access comes from memory" {
    machine
    printf '%s\n' addr,op,size,region,page 0,ifetch,240,a,0 0,ifetch,240,a,0 | stream in.cf -
    profile in.cf
    same /dev/stdin got <<'END'
region,page,runtime_cycles,policy,k
,0,80,1,0
,0,11,2,0
a,0,11,3,0
END
}

@test "a size of 0, and one that is not known, are that of one byte" {
    machine
    # the last byte of a line: any other size would reach into the next
    printf '%s\n' addr,size,region,page 63,0,a,0 63,1,a,0 127,0,a,0 4095,0,a,0 | stream zero.cf -
    printf '%s\n' addr,region,page 63,a,0 63,a,0 127,a,0 4095,a,0 | stream none.cf -
    for f in zero none; do
        run -0 --separate-stderr cf-pages -m m.yaml $f.cf -o p.cf
        [[ $stderr != *"next page"* ]]
        cf-cat --csv --table page --columns runtime_cycles p.cf >got
        same <(printf '%s\n' runtime_cycles 40 31 31) got
    done
}

@test "several cores: each has its clock, and the slowest decides" {
    machine
    printf '%s\n' addr,cpu,region,page 0,0,a,0 64,1,b,1 64,1,b,1 64,1,b,1 | stream in.cf -
    profile --page-size 64 in.cf
    same /dev/stdin got <<'END'
region,page,runtime_cycles,policy,k
,0,30,1,0
,0,12,2,0
a,0,30,3,0
b,1,12,3,0
END
}

@test "more pages than one block of caches holds: they are the same with more blocks" {
    machine
    { echo addr,region,page
      awk 'BEGIN { for (r = 0; r < 2; r++) for (i = 0; i < 900; i++) print (i * 7 % 900) * 4096 + r * 64 * (i % 3) ",a," i * 7 % 900 }'; } | stream in.cf -
    profile --cores 1 in.cf
    mv got few
    # with so many cores a block has 256 frames
    profile --cores 256 in.cf
    same few got
    [ "$(wc -l <got)" -eq 903 ]
}

@test "instructions count where the clock does" {
    machine
    printf '%s\n' time,addr,region,page 5,0,a,0 9,0,a,0 | stream in.cf --clock instructions -
    profile in.cf
    same /dev/stdin got <<'END'
region,page,runtime_cycles,policy,k
,0,25,1,0
,0,16,2,0
a,0,16,3,0
END
    two_pages
    run -0 --separate-stderr cf-pages -m m.yaml two.cf -o p.cf
    has "does not count instructions" "$stderr"
}

@test "recordings one after the other: each has its instructions" {
    machine
    printf '%s\n' time,addr,region,page 5,0,a,0 9,0,a,0 | stream in.cf --clock instructions -
    cat in.cf in.cf >two.cf
    profile two.cf
    same /dev/stdin got <<'END'
region,page,runtime_cycles,policy,k
,0,50,1,0
,0,23,2,0
a,0,23,3,0
END
    # also where a later one of them counts none
    two_pages
    cat in.cf two.cf >mixed.cf
    run -0 --separate-stderr cf-pages -m m.yaml in.cf -o p.cf
    [[ -z $stderr ]]
    run -0 --separate-stderr cf-pages -m m.yaml --mode uncached mixed.cf -o p.cf
    [[ $(grep -c "does not count instructions" <<<"$stderr") == 1 ]]
}

@test "pages of another size than the stream states are refused" {
    machine
    cf-resolve -q --page-size 65536 "$ROOT/samples/gzip.cf" | cf-select --time 0-100000 -o r.cf
    run -1 --separate-stderr cf-pages -q -m m.yaml -o p.cf r.cf
    has "its pages are of 65536 bytes, not 4096 as another input or --page-size has it" "$stderr"
    cf-pages -q -m m.yaml --page-size 65536 -o p.cf r.cf
    # of a profile, too
    two_pages
    run -1 --separate-stderr cf-pages -q -m m.yaml --rank p.cf -o q.cf two.cf
    has "its pages are of 65536 bytes, not 4096" "$stderr"
}

@test "a page that lies at several addresses, and caches that a page alone overflows, are simulated" {
    machine
    # page 0 lies at two places whose lines fight over one set of one way
    sed -i 's/ways: 2/ways: 1/' m.yaml
    printf '%s\n' addr,region,page 0,a,0 512,a,0 0,a,0 512,a,0 | stream in.cf -
    profile --page-size 64 in.cf
    [ "$(tail -n 1 got)" = "a,0,40,3,0" ]
    run -1 --separate-stderr cf-pages -q -m m.yaml --page-size 64 -o p.cf < <(cat in.cf)
    has "1 pages lay at several addresses" "$stderr"
    # a page of 1024 bytes does not fit into 512
    printf '%s\n' addr,region,page 0,a,0 512,a,0 0,a,0 64,a,0 64,a,0 | stream in.cf -
    profile --page-size 1024 in.cf
    [ "$(tail -n 1 got)" = "a,0,41,3,0" ]
    # from a pipe too
    cf-pages -q -m m.yaml --page-size 1024 <in.cf | cf-cat --csv --table page --columns runtime_cycles >got
    [ "$(tail -n 1 got)" = 41 ]
}

@test "what is left out is said: no mapping, the part of an access in the next page" {
    machine
    printf '%s\n' addr,size,region,page 0,1,a,0 60,8,a,0 64,1,b,1 4096,1,,0 | stream in.cf -
    run -0 --separate-stderr cf-pages -m m.yaml --page-size 64 in.cf -o p.cf
    has "1 accesses lie in no mapping" "$stderr"
    has "1 accesses reach into the next page" "$stderr"
    cf-cat --csv --table page --columns runtime_cycles p.cf >got
    same <(printf '%s\n' runtime_cycles 30 21 21 30) got
    run -0 --separate-stderr cf-pages -q -m m.yaml --page-size 64 in.cf -o p.cf
    has "no mapping" "$stderr"
    run ! grep "next page" <<<"$stderr"
}

@test "several processes, samples, no mappings, dependent and missing latencies are refused" {
    machine
    printf '%s\n' addr,pid,region,page 0,1,a,0 0,2,a,0 | stream in.cf -
    run -1 --separate-stderr cf-pages -o x.cf -m m.yaml in.cf
    has "several processes" "$stderr"
    has "cf-select --pid" "$stderr"
    printf '%s\n' addr,weight,region,page 0,10,a,0 | stream in.cf -
    run -1 --separate-stderr cf-pages -o x.cf -m m.yaml in.cf
    has "samples" "$stderr"
    printf '%s\n' addr 0 | stream in.cf -
    run -1 --separate-stderr cf-pages -o x.cf -m m.yaml in.cf
    has "region" "$stderr"
    has "cf-resolve" "$stderr"
    two_pages
    sed 's/memory: 10/memory: {load: 10, load_after_store: 12}/' m.yaml >after.yaml
    run -2 --separate-stderr cf-pages -o x.cf -m after.yaml two.cf
    has "depend on the access before" "$stderr"
    sed 's/, memory: 10//' m.yaml >none.yaml
    run -1 --separate-stderr cf-pages -o x.cf -q -m none.yaml two.cf
    has "states no latency for a load at memory" "$stderr"
    has "--latency" "$stderr"
    cf-pages -q -m none.yaml --latency memory=10 two.cf -o p.cf
    run -2 cf-pages -m m.yaml --mode cached --rank p.cf two.cf
    run -2 cf-pages -m m.yaml two.cf two.cf
    run -2 cf-pages two.cf
}

@test "a profile of other pages, or of none: said, refused" {
    machine
    two_pages
    cf-pages -q -m m.yaml --page-size 64 -o p.cf two.cf
    printf '%s\n' addr,region,page 0,a,0 128,c,2 0,a,0 | stream other.cf -
    run -0 --separate-stderr cf-pages -m m.yaml --page-size 64 --rank p.cf other.cf -o k.cf
    has "1 of its 2 pages are not in the trace" "$stderr"
    has "1 of the 2 pages of the trace are not in it: they come last" "$stderr"
    run -1 --separate-stderr cf-pages -o x.cf -m m.yaml --page-size 64 --rank k.cf two.cf
    has "no runs with one page" "$stderr"
    run -1 --separate-stderr cf-pages -o x.cf -m m.yaml --page-size 64 --rank two.cf two.cf
    run -1 --separate-stderr cf-pages -o x.cf -m m.yaml --rank no.cf two.cf
}

@test "a pipe longer than --memory is refused where it is read again, and taken where it is not" {
    machine
    two_pages
    run -3 --separate-stderr cf-pages -m m.yaml --memory 100 --mode uncached < <(cat two.cf)
    has "longer than 100 bytes" "$stderr"
    cf-pages -q -m m.yaml --memory 100 --page-size 64 < <(cat two.cf) | cf-cat --csv --table page >got
    [ "$(wc -l <got)" -eq 5 ]
}

@test "the stream says of which machine the cycles are" {
    machine
    two_pages
    cf-pages -q -m m.yaml --cores 1 -o p.cf two.cf
    cf-cat --info p.cf >info
    grep -q 'runtime_cycles: {by: "cf-pages", machine: "small"' info
}
