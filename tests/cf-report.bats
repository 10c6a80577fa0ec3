# SPDX-License-Identifier: BSD-2-Clause
#
# cf-report: the LEON4 profiling tool's report by hand, against the column it sums up, and the
# counters' screen in all its forms.
load lib

setup() {
    lib_setup
    S=$ROOT/samples/leon4
}

# annotated PROGRAM RULE...: run.cf, with costs
annotated() {
    local p=$1
    shift
    cf-capture leon4 -q -r -b "$S/$p.ahb.raw" "$S/$p.inst.raw" | cf-classify -q -m leon4-n2x --rule "$@" |
        cf-latency -q -m leon4-n2x >run.cf
}

by_hand() {
    cat >a.csv <<'END'
time,cpu,op,addr,size,hit,class,class_behind,cost
1,0,ifetch,0,4,255,1,1,36
2,0,ifetch,4,4,1,0,0,0
3,0,load,64,4,2,3,0,5
4,1,load,128,4,255,2,2,36
5,0,load,64,4,2,16,0,5
6,0,store,256,4,255,0,16,2
7,0,store,64,4,2,0,0,0
8,0,load,99,4,0,0,0,0
9,0,prefetch,99,4,255,0,0,1000
END
    stream a.cf a.csv
}

@test "a page by hand: classes of each cache, what memory served, cost and time" {
    by_hand
    run -0 cf-report --leon4 a.cf
    is "                     dcache       icache      l2cache
misses                    3            1            3
compulsory                0            1            1
conflict                  1            0            0
capacity                  1            0            1
unclassified              1            0            1
hit or miss?              1            0            -
Total cost: 84 cycles
Total cost: 0.560 us"
    run -0 cf-report --leon4 --csv a.cf
    has 'item,value,counted,difference
dcache_misses,3,,
dcache_compulsory,0,,
dcache_conflict,1,,
dcache_capacity,1,,
dcache_unclassified,1,,
dcache_unknown,1,,
icache_misses,1,,'
    has 'l2cache_unclassified,1,,
total_cost_cycles,84,,
total_cost_us,0.560,,'
    run -0 cf-report --leon4 --cpu 1 a.cf
    has 'misses                    1            0            1'
    has 'Total cost: 36 cycles'
}

@test "the clock is the stream's, where it has one of cycles, else the machine's" {
    by_hand
    printf 'line_size: 32\nclock_hz: 84000000\nlevels:\n  - {name: L1, size: 1KiB, ways: 1}\n' >m.yaml
    run -0 cf-report --leon4 -m ./m.yaml a.cf
    has 'Total cost: 1.000 us'
    sed -i '/clock_hz/d' m.yaml
    run -0 cf-report --leon4 -m ./m.yaml a.cf
    has_not ' us'
    run -0 cf-report --leon4 --csv -m ./m.yaml a.cf
    has_not '_us'
    head -n 40 "$S/fits.hist" >t.txt
    cf-capture leon4 -q --clock 50000000 t.txt | cf-classify -q --rule leon4 -m leon4-n2x |
        cf-latency -q -m leon4-n2x >t.cf
    run -0 cf-report --leon4 t.cf
    cycles=$(sed -n 's/Total cost: \([0-9]*\) cycles/\1/p' <<<"$output")
    has "Total cost: $(awk -v c="$cycles" 'BEGIN { printf "%.3f", c / 50 }') us"
}

@test "on every sample each counter of misses is met, by the paper's procedure, with addresses and by rule hill" {
    local p
    for p in fits overflow windows; do
        for rule in "leon4 --no-addresses" leon4 hill; do
            # shellcheck disable=SC2086
            annotated $p $rule
            run -0 cf-report --leon4 --csv --counters "$S/$p.counters" run.cf
            for counter in 'icache miss' 'dcache miss' 'external event 1'; do
                grep -qE "^$counter,[0-9]+,[0-9]+,0$" <<<"$output" || fail "$p $rule: $output"
            done
            # those that trapped were fetched, and not counted
            grep -qE '^all instructions,[0-9]+,[0-9]+,\+[0-9]+$' <<<"$output" || fail "$output"
            # classes sum up to misses
            awk -F, '/_misses/ { want[substr($1, 1, index($1, "_") - 1)] = $2 }
                /_(compulsory|conflict|capacity|unclassified|true_sharing|false_sharing)/ {
                    k = substr($1, 1, index($1, "_") - 1); sum[k] += $2 }
                END { for (k in sum) if (sum[k] != want[k]) exit 1 }' <<<"$output" || fail "$output"
        done
    done
}

@test "case 2 and case 3 of the paper: all compulsory, and conflicts in the instruction cache" {
    annotated fits leon4 --no-addresses
    run -0 cf-report --leon4 run.cf
    is "                     dcache       icache      l2cache
misses                   45           34           81
compulsory               45           34           81
conflict                  0            0            0
capacity                  0            0            0
unclassified              0            0            0
Total cost: 1572 cycles
Total cost: 10.480 us"
    annotated overflow leon4 --no-addresses
    run -0 cf-report --leon4 --csv run.cf
    has 'dcache_compulsory,1328,'
    has 'icache_conflict,522,'
    annotated overflow leon4
    run -0 cf-report --leon4 --csv run.cf
    has 'dcache_conflict,687,'
}

@test "case 3 of the paper, the second level off: as after reset, its counter stands at 0 and so does the report" {
    local rule
    sed '/external event 1/s/[0-9]*$/0000000000/' "$S/overflow.counters" >off.counters
    for rule in "leon4 --no-addresses" leon4 hill; do
        # shellcheck disable=SC2086
        cf-capture leon4 -q -r -b "$S/overflow.ahb.raw" "$S/overflow.inst.raw" |
            cf-classify -q -m leon4-n2x-l2-off --rule $rule | cf-latency -q -m leon4-n2x-l2-off >run.cf
        run -0 --separate-stderr cf-report --leon4 -m leon4-n2x-l2-off --counters off.counters run.cf
        [[ -z $stderr ]] || fail "$stderr"
        for counter in 'icache miss' 'dcache miss' 'external event 1'; do
            grep -qE "^$counter +[0-9]+ +[0-9]+  0$" <<<"$output" || fail "$rule: $output"
        done
        grep -qE '^misses +1328 +1408 +0$' <<<"$output" || fail "$output"
        grep -qE '^conflict +[0-9]+ +52[02] +-$' <<<"$output" || fail "$output"
        has 'Second level: off'
        # 48 cycles of each read, 2 of each store
        stores=$(cf-cat --csv --table access --columns op,hit run.cf | grep -c store,255)
        unplaced=$(cf-cat --csv --table unplaced --columns op,cost run.cf | awk -F, '$1 == "store" { n += $2 } END { print n + 0 }')
        has "Total cost: $((48 * 2736 + 2 * stores + unplaced)) cycles"
        run -0 cf-report --leon4 --csv --counters off.counters run.cf
        has 'l2cache_misses,0,,'
        has_not l2cache_compulsory
        has 'external event 1,0,0,0'
        # judged as if it was on: a warning says what is odd
        annotated overflow $rule
        run -0 --separate-stderr cf-report --leon4 --counters off.counters run.cf
        has leon4-n2x-l2-off "$stderr"
        has_not 'Second level: off'
    done
    run -0 --separate-stderr cf-report --leon4 --counters "$S/overflow.counters" run.cf
    [[ -z $stderr ]] || fail "$stderr"
}

@test "the report is the sum of the columns; text, list and raw words of one run give the same" {
    local form m=$S/middle-windows
    cf-capture leon4 -q "$m.hist" >text.cf
    cf-capture leon4 -q "$m.tcl.hist" >list.cf
    cf-capture leon4 -q -r -b "$m.ahb.raw" "$m.inst.raw" >raw.cf
    for form in text list raw; do
        cf-classify -q --rule leon4 -m leon4-n2x $form.cf | cf-latency -q -m leon4-n2x >run.cf
        cf-report --leon4 run.cf >$form.report
        cf-cat --csv --table access --columns time,op,addr,hit,class,class_behind,cost run.cf >$form.rows
        cf-cat --csv --table unplaced run.cf >>$form.rows
        same text.rows $form.rows
        same text.report $form.report
    done
    # of the rows that stand there
    awk -F, '/^time,op/ { next } /^time,cpu/ { second = 1; next }
        !second { n += $2 == "load" && $5 > 0; c += $7 }
        second { n += $3 == "load" && $9 > 0; c += $11 }
        END { print n, c }' text.rows >want
    sed -n 's/^misses *\([0-9]*\) .*/\1/p;s/^Total cost: \([0-9]*\) cycles/\1/p' text.report | paste -sd' ' | same want -
}

@test "without costs or classes of the second level, that is said and not made up" {
    cf-capture leon4 -q "$S/late-overflow.hist" | cf-classify -q --rule hill -m leon4-n2x >run.cf
    run -0 cf-report --leon4 run.cf
    has 'Total cost: unknown'
    grep -qE '^compulsory +[0-9]+ +[0-9]+ +-$' <<<"$output" || fail "$output"
    cf-capture leon4 -q "$S/late-overflow.hist" >run.cf
    run -1 cf-report --leon4 run.cf
    has 'cf-classify'
}

@test "counters: case, other names, several processors, blanks, and lines that are none" {
    by_hand
    printf 'grmon3> perf\r\nCPU/AHBM   DESCRIPTION   VALUE\r\n0: 0  ICACHE miss  0000000003\r\n\r\n 1: 1  icache miss 4\n2 : 0\tl2 miss\t3\n3: 0 data hold 7\n' >c.txt
    run -0 cf-report --leon4 --counters c.txt --l2-event 'L2 miss' a.cf
    has 'ICACHE miss                   3            1  -2'
    has 'l2 miss                       3            3  0'
    has 'data hold                     7            -  -'
    # of one name and one processor
    printf '0: 0 icache miss 3\n1: 1 icache miss 4\n' >c.txt
    run -0 cf-report --leon4 --csv --counters c.txt a.cf
    has 'icache miss,1,7,-6'
    run -0 cf-report --leon4 --csv --counters c.txt --cpu 0 a.cf
    has 'icache miss,1,3,-2'
}

@test "--leon4: without an access it says so" {
    printf 'time,op,addr,size\n1,load,64,8\n' | stream bus.cf -t bus
    run -0 --separate-stderr cf-report --leon4 bus.cf
    has 'Total cost: 0 cycles'
    [[ $stderr == 'cf-report: no accesses were recorded, or kept: all numbers are 0' ]]
    printf 'time,op,addr,size,cpu,class,hit\n1,load,64,8,0,1,255\n' | stream one.cf
    run -0 --separate-stderr cf-report --leon4 one.cf
    [[ -z $stderr ]]
    run -0 --separate-stderr cf-report --leon4 --cpu 1 one.cf
    has 'kept, of this processor: all numbers are 0' "$stderr"
}

@test "counters that are cut off, damaged, empty or not there: told with their place, the rest reported" {
    by_hand
    local bad
    for bad in '1: 0  dcache mi' '1: 0' '1:' '1: 0 99999999999999999999' '1: 0 x 99999999999999999999' \
        "1: 0 $(printf 'x%.0s' {1..80}) 5"; do
        printf '0: 0 icache miss 3\n%s\n' "$bad" >c.txt
        run -1 --separate-stderr cf-report --leon4 --counters c.txt a.cf
        has 'icache miss                   3'
        has 'cf-report: c.txt:2: not a counter' "$stderr"
    done
    # whatever the last line is: digits may be missing
    for bad in '0: 0 dcache miss 12' '0: 0 dcache m' 'grm'; do
        printf '0: 0 icache miss 3\n%s' "$bad" >c.txt
        run -1 --separate-stderr cf-report --leon4 --csv --counters c.txt a.cf
        has 'icache miss,1,3,-2'
        ! grep '^dcache miss,.*12' <<<"$output" || fail "$output"
        has 'cf-report: c.txt:2: the last line has no newline at its end' "$stderr"
    done
    sed '$d' c.txt >whole.txt
    run -0 cf-report --leon4 --counters whole.txt a.cf
    : >c.txt
    run -1 cf-report --leon4 --counters c.txt a.cf
    has 'c.txt: no counter in it'
    has 'Total cost: 84 cycles'
    run -1 cf-report --leon4 --counters none.txt a.cf
    has 'none.txt'
}

@test "wrong usage" {
    run -2 cf-report --counters x a.cf
    has '--leon4'
    run -2 cf-report --leon4 -m ./none.yaml
    run -2 cf-report --leon4 --cpu x
}
