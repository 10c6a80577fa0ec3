#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# cf-classify --rule cacheperf: samples from CSV, their verdicts, what is refused, and that what
# came is handed on. The verdicts themselves are held against a model in test_cacheperf*.
load lib

# samples KIND: samples of a program that mostly hits, and of one thing that misses, as CSV.
samples() {
    awk -v kind="$1" '
        function row(tid, op, addr, pc, level, weight, stage, object, source) {
            print ++time ",1," tid "," op ",4," addr "," pc "," level "," weight "," stage "," \
                object "," source
        }
        BEGIN {
            print "time,pid,tid,op,size,addr,pc,level,weight,stage,object,source"
            for (i = 0; i < 4000; i++) {
                row(1 + i % 2, i % 3 ? "load" : "store", 65536 + i % 100 * 8, 16, 1, 20000, 1, 0, "")
                if (i % 8)
                    continue
                two = 1 + i / 8 % 2
                if (kind == "true" || kind == "false" || kind == "allocator_false") {
                    at = 131072 + (kind == "true" ? 0 : 4 * two)
                    object = kind == "allocator_false" ? two : 0
                    row(two, "load", at, 32, 2, 20000, 1, object, "share.c:1")
                    row(two, "store", at, 36, 1, 50000, 1, object, "share.c:1")
                }
                if (kind == "capacity")
                    row(1, "load", 1048576 + 64 * i, 48, "memory", 20000, 1, 0, "walk.c:2")
                if (kind == "conflict" || kind == "allocator_conflict")
                    row(1, "load", 1048576 + 4096 * i, 64, 3, 20000, 1, 0, "walk.c:3")
                for (k = 0; i % 800 == 0 && k < 64; k++) {
                    if (kind == "capacity")
                        row(1, "load", 1048576 + 64 * i + 4 * k, 48, 1, 0, 2, 0, "walk.c:2")
                    if (kind == "conflict" || kind == "allocator_conflict")
                        row(1, "load", 1048576 + 4096 * (i + k), 64, 2, 0, 2,
                            kind == "conflict" ? 1 : 1 + k % 2, "walk.c:3")
                }
            }
        }'
}

# classify OPTION... FILE
classify() {
    cf-classify --rule cacheperf -m xeon-6230 "$@"
}

# verdicts OPTION... FILE: source line and class of what has one.
verdicts() {
    classify "$@" | cf-rank -q --csv --by source,class --value misses | cut -d , -f 2-4 | tail -n +2
}

# same GOT WANTED
same() {
    local output=$1
    is "$2"
}

# matches PATTERN [TEXT]: of $output, or a text.
matches() {
    [[ ${2-$output} == $1 ]] || {
        echo "${2-$output}" >&2
        return 1
    }
}

objects='time,op,pid,tid,addr,bytes,object
0,alloc,1,1,131072,4,1
0,alloc,1,2,131076,4,2'

@test "each verdict, from samples to a ranking" {
    local kind class
    echo "$objects" >objects.csv
    for kind in true false allocator_false capacity conflict allocator_conflict; do
        samples $kind >$kind.csv
        stream $kind.cf -w object=objects.csv $kind.csv
        case $kind in
        true | *false) class=${kind}_sharing ;;
        *) class=$kind ;;
        esac
        run -0 verdicts $kind.cf
        case $kind in
        true | *false) is "share.c:1,$class,10000000" ;;
        capacity) is "walk.c:2,$class,10000000" ;;
        *) is "walk.c:3,$class,10000000" ;;
        esac
    done
}

@test "a summary by weight, in which unknown levels are told apart" {
    samples capacity | awk -F , -v OFS=, 'NR == 2 { $8 = 0 } 1' >a.csv
    stream a.cf a.csv
    run -0 classify --summary a.cf
    is "level,op,references,misses,capacity,conflict,true_sharing,false_sharing,allocator_conflict,allocator_false_sharing,unclassified,unknown
L1D,load,63320000,10000000,10000000,0,0,0,0,0,0,0
L1D,store,26680000,0,0,0,0,0,0,0,0,20000"
    # fetches and prefetches take no part
    {
        cat a.csv
        tail -n 1 a.csv | sed 's/load\|store/prefetch/'
        tail -n 1 a.csv | sed 's/load\|store/ifetch/'
    } >b.csv
    [[ $(grep -c fetch b.csv) == 2 ]]
    stream b.cf b.csv
    same "$(classify -q --summary b.cf)" "$output"
    run -0 classify --load-misses 20 --summary a.cf
    matches "*L1D,load,63320000,10000000,0,0,0,0,0,0,10000000,0*"
}

@test "options reach the rule" {
    samples conflict >a.csv
    stream a.cf a.csv
    local options
    same "$(verdicts a.cf)" "walk.c:3,conflict,10000000"
    for options in "--load-misses 20" "--instruction-accesses 12" "--window-ratio 50" \
        "--window 1 --window-ratio 100"; do
        # shellcheck disable=SC2086 # several words
        same "$(verdicts $options a.cf)" ""
    done
    same "$(verdicts --set-misses 100 a.cf)" "walk.c:3,capacity,10000000"
    samples capacity >b.csv
    stream b.cf b.csv
    same "$(verdicts b.cf)" "walk.c:2,capacity,10000000"
    same "$(verdicts --literal b.cf)" "walk.c:2,conflict,10000000"
    same "$(verdicts --literal --same-set 17 b.cf)" "walk.c:2,capacity,10000000"
    samples false | sed 's/share.c:1$//; /,store,/s/,36,/,32,/' >c.csv
    stream c.cf c.csv
    same "$(verdicts --store-misses 20 --load-misses 3 c.cf)" ",false_sharing,10000000"
    same "$(verdicts --line-misses 100 c.cf)" ",capacity,10000000"
    same "$(verdicts --line-misses 100 --instruction-misses 100 c.cf)" ",capacity,10000000"
}

@test "a set of a cache with more sets needs a smaller share" {
    printf 'name: wide\nline_size: 64\ncpus: 1\nlevels:\n  - {name: L1, size: 64KiB, ways: 1}\n' >wide.yaml
    # 1024 sets, each with less than 1 % of the misses
    awk 'BEGIN { print "tid,op,size,addr,pc,level,weight,stage"
        for (i = 0; i < 500; i++) print "1,load,4," 64 * i + 1048576 ",5,2,100,1"
        for (i = 0; i < 64; i++) print "1,load,4," 65536 * i + 1048576 ",5,2,0,2" }' >a.csv
    stream a.cf a.csv
    for options in "" "--set-misses 1"; do
        # shellcheck disable=SC2086 # several words
        cf-classify -q --rule cacheperf -m ./wide.yaml $options a.cf | cf-rank -q --by class >ranked
        if [[ $options ]]; then grep capacity ranked; else grep conflict ranked; fi
    done
}

@test "every row, table and column is handed on, in order" {
    echo "$objects" >objects.csv
    samples false | awk -F , -v OFS=, 'NR == 1 { print $0 ",cost,class,phys"; next }
        { print $0 "," NR % 7 ",3," NR }' >a.csv
    stream a.cf -w object=objects.csv a.csv
    classify -q a.cf >b.cf
    classify -q -o c.cf a.cf
    local columns=time,pid,tid,op,size,addr,pc,level,weight,stage,object,source,cost,phys
    cf-cat --csv --columns $columns a.cf >a.rows
    for f in b c; do
        cf-cat --csv --columns $columns $f.cf >$f.rows
        cmp a.rows $f.rows
        cf-cat --csv --table object $f.cf | cmp - <(cf-cat --csv --table object a.cf)
        # the class that came is gone
        same "$(cf-cat --csv --columns class $f.cf | sort -u | paste -s -d ' ')" "0 5 class"
    done
    cf-cat --info b.cf >info
    grep -q cacheperf info
}

@test "recordings that follow each other are judged one by one, object numbers and all" {
    echo "$objects" >objects.csv
    samples allocator_false >a.csv
    samples capacity >b.csv
    stream a.cf -w object=objects.csv a.csv
    stream b.cf b.csv
    stream bare.cf a.csv
    cat a.cf bare.cf b.cf >all.cf
    cat a.cf b.cf >two.cf
    same "$(verdicts all.cf | sort)" "share.c:1,allocator_false_sharing,10000000
share.c:1,false_sharing,10000000
walk.c:2,capacity,10000000"
    # with shares of the sum of both, neither would have so much
    same "$(verdicts --instruction-misses 60 --line-misses 60 two.cf | sort)" \
        "share.c:1,allocator_false_sharing,10000000
walk.c:2,capacity,10000000"
}

@test "what is not sampled is refused: a hint, and no result" {
    samples false | cut -d , -f 1-8 >a.csv
    stream a.cf a.csv
    run -1 --separate-stderr classify --summary a.cf
    same "$output" ""
    matches "*not sampled*cf-sample*" "$stderr"
    run -1 --separate-stderr classify -o b.cf a.cf
    same "$(cf-cat --csv b.cf | wc -l)" 0
    samples false | cut -d , -f 1-7,9-10 >a.csv
    stream a.cf a.csv
    run -1 --separate-stderr classify --summary a.cf
    same "$output" ""
    matches "*no column 'level'*cf-cache and cf-sample*" "$stderr"
}

@test "too few samples: how many, and the periods that give enough" {
    awk 'BEGIN { print "tid,op,size,addr,pc,hit"
        for (i = 0; i < 6000; i++) print "1,load,8," 64 * i ",1,255" }' >a.csv
    stream a.cf a.csv
    cf-sample -q -m xeon-6230 --loads 10 --stores 25 --jitter 0 --fine 0 --expire 5 -o few.cf a.cf
    run -0 --separate-stderr classify --summary few.cf
    has "600 samples: with fewer than 1000 the verdicts depend on chance: record a longer run, or take more samples of this one, by cf-sample --loads 1 --stores 1 --expire 0.15" "$stderr"
    run -0 --separate-stderr classify -q --summary few.cf
    same "$stderr" ""
    cf-sample -q -m xeon-6230 --loads 6 --jitter 0 -o enough.cf a.cf
    run -0 --separate-stderr classify --summary enough.cf
    has_not "with fewer than" "$stderr"
    # each recording by itself; all accesses are samples already
    head -n 901 a.csv >b.csv
    stream b.cf b.csv
    cf-sample -q -m xeon-6230 --loads 1 --stores 0 --jitter 0 -o all.cf b.cf
    run -0 --separate-stderr classify --summary <(cat enough.cf all.cf)
    has "900 samples: with fewer than 1000 the verdicts depend on chance: record a longer run" "$stderr"
    has_not "by cf-sample" "$stderr"
    head -n 1 a.csv | sed 's/$/,level,weight/' >none.csv
    stream none.cf none.csv
    run -0 --separate-stderr classify --summary none.cf
    has "0 samples: with fewer" "$stderr"
}

@test "breakpoints that ended too early for --same-set are reported" {
    # an instruction walks down columns of 32 lines, each of which is one set
    awk 'BEGIN { print "op,size,addr,pc,hit,source"
        for (i = 0; i < 64000; i++) print "load,8," 4096 * (i % 32) + 64 * int(i / 32 % 64) ",1,255,c.c:1" }' >a.csv
    stream a.cf a.csv
    sampled() { cf-sample -q -m xeon-6230 --loads 20 --stores 50 --expire 0.01 "$@" a.cf; }
    sampled -o short.cf
    same "$(verdicts short.cf)" "c.c:1,conflict,63994"
    run -0 --separate-stderr classify -q --same-set 9 --summary short.cf
    has "a breakpoint of these samples ended after 8 accesses to one set, so no run has the 9 of --same-set, and conflicts may be taken for capacity misses: sample with --same-set 9 too, or give at most --same-set 8" "$stderr"
    sampled --same-set 9 -o long.cf
    for n in 8 9; do
        run -0 --separate-stderr classify -q --same-set $n --summary long.cf
        same "$stderr" ""
    done
    sampled --fine 4 -o few.cf
    run -0 --separate-stderr classify -q --summary few.cf
    has "ended after 4 accesses, so no run has the 8 of --same-set" "$stderr"
    sampled --fine 0 -o none.cf
    run -0 --separate-stderr classify -q --summary none.cf
    same "$stderr" ""
}

@test "either of weight and stage makes a sample" {
    samples false | cut -d , -f 1-9,11- >weight.csv
    samples false | cut -d , -f 1-8,10- >stage.csv
    stream weight.cf weight.csv
    stream stage.cf stage.csv
    same "$(verdicts weight.cf)" "share.c:1,false_sharing,10000000"
    same "$(verdicts stage.cf)" "share.c:1,false_sharing,500"
    # rows without weight are the breakpoint's
    samples conflict | cut -d , -f 1-9,11- >a.csv
    stream a.cf a.csv
    same "$(verdicts a.cf)" "walk.c:3,conflict,10000000"
}

@test "streams without object, source, pid, tid, op, size" {
    samples capacity | cut -d , -f 6-9 >a.csv
    stream a.cf a.csv
    run -0 --separate-stderr classify --summary a.cf
    matches "*no column 'object'*cf-resolve*" "$stderr"
    matches "*L1D,load,90000000,10000000,10000000,0,0,0,0,0,0,0*" "$output"
    run -0 --separate-stderr classify -q --summary a.cf
    same "$stderr" ""
    samples allocator_false | cut -d , -f 1-10,12 >b.csv
    stream b.cf b.csv
    same "$(verdicts -q b.cf)" "share.c:1,false_sharing,10000000"
    # a stream that ends before anything was sampled
    head -n 1 b.csv >c.csv
    stream c.cf c.csv
    run -0 classify -q --summary c.cf
    same "$(wc -l <<<"$output")" 1
}

@test "threads that took turns are spoken of" {
    samples false >a.csv
    printf 'time,pid,tid,cpu,count\n1,1,1,0,0\n2,1,2,0,5\n' >switch.csv
    stream a.cf -w switch=switch.csv a.csv
    run -0 --separate-stderr classify --summary a.cf
    matches "*took turns*" "$stderr"
    awk -F , -v OFS=, '{ print $0, NR == 1 ? "cpu" : $3 % 2 }' a.csv >b.csv
    stream b.cf -w switch=switch.csv b.csv
    run -0 --separate-stderr classify --summary b.cf
    same "$stderr" ""
}

@test "wrong usage" {
    samples false >a.csv
    stream a.cf a.csv
    local options
    for options in "--window 5" "--literal" "--set-misses 2" "--line-misses 3"; do
        # shellcheck disable=SC2086 # several words
        run -2 cf-classify -m xeon-6230 $options a.cf
        matches "*for --rule cacheperf alone*"
    done
    for options in "--level L2" "--cores 2" "--hit" "--no-addresses" "--window 0" "--same-set 1" \
        "--same-set 65" "--load-misses 101" "-m tegra-x1 --summary"; do
        # shellcheck disable=SC2086 # several words
        run -2 classify $options a.cf
    done
    printf 'name: f\nline_size: 64\ncpus: 1\nlevels:\n  - {name: L1I, kind: instruction, size: 64KiB, ways: 1}\n' >f.yaml
    run -2 cf-classify --rule cacheperf -m ./f.yaml a.cf
    matches "*no first-level cache for data*"
}

@test "a cut-off stream: what came is classified, status 1" {
    samples false >a.csv
    stream a.cf a.csv
    head -c "$(($(stat -c %s a.cf) - 100))" a.cf >cut.cf
    run -1 --separate-stderr classify --summary --csv -o whole.cf cut.cf
    has "cut off" "$stderr"
    has L1D,load
}
