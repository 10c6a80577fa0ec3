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

# figure COLD CONFLICT AGAIN LOADS STORES LINES ALL: a trace that fetches so many lines first, misses so
# many of them for conflicts, reads the last one so often though it was there, and has so many loads
# that miss, stores, to so many lines, and instructions
figure() {
    awk -v cold="$1" -v conflict="$2" -v again="$3" -v loads="$4" -v stores="$5" -v lines="$6" -v all="$7" '
        function read(at) { printf "%d  %08x  ahb read, mst=0, size=4  [00000000]\n", ++t, at }
        function insn(at, text, result) { printf "%d  %08x  %s  [%08x]\n", ++t, at, text, result; n++ }
        function fetched(at) { read(at); insn(at, "nop", 0) }
        BEGIN {
            code = 1073741824; data = code + 1048576
            for (i = 0; i < cold; i++) fetched(code + 32 * i)
            for (i = 0; i < conflict; i++) fetched(code + 32 * i)
            at = code + 32 * ((conflict ? conflict : cold) - 1)
            for (i = 0; i < again; i++) fetched(at + i % 2 * 4)
            for (i = 0; i < loads; i++) { insn(at + i % 2 * 8, "ld  [%g1], %g2", 0); read(data + 32 * i) }
            for (i = 0; i < stores; i++) insn(at + i % 2 * 8, "st  %g2, [%g1]", data + 32 * (loads + i % lines))
            while (n < all) insn(at + n % 8 * 4, "nop", 0)
        }'
}

# counted ALL ICACHE DCACHE SECOND: what the statistics unit shows
counted() {
    printf '0: 0 all instructions %010d\n1: 0 icache miss %09d\n2: 0 dcache miss %09d\n3: 0 external event 1 %010d\n' "$@"
}

@test "figures 2 to 5 of the paper, of traces that have what they count" {
    local m=leon4-n2x-l2-off
    figure 1128 516 26 20 619 619 34580 | cf-capture leon4 -q --store address |
        cf-classify -q -m $m --rule leon4 --no-addresses | cf-latency -q -m $m >run.cf
    counted 34580 1670 20 0 >fig5
    run -0 cf-report --leon4 -m $m --counters fig5 run.cf
    is "                     dcache       icache      l2cache
misses                   20         1670            0
compulsory               20         1128            -
conflict                  0          516            -
capacity                  0            0            -
unclassified              0           26            -
Second level: off, memory serves what misses the first
Total cost: 82358 cycles
Total cost: 549.053 us

counter                 counted         here  difference
all instructions          34580        34580  0
icache miss                1670         1670  0
dcache miss                  20           20  0
external event 1              0            0  0"
    # of its 325 lines of the second level 70 are those of stores; what they cost is in cf-latency.bats
    m=leon4-n2x
    figure 235 0 11 20 70 70 31529 | cf-capture leon4 -q --store address |
        cf-classify -q -m $m --rule leon4 --no-addresses >run.cf
    counted 31529 246 20 325 >fig3
    run -0 cf-report -q --leon4 -m $m --counters fig3 run.cf
    is "                     dcache       icache      l2cache
misses                   20          246          325
compulsory               20          235          325
conflict                  0            0            0
capacity                  0            0            0
unclassified              0           11            0
Total cost: unknown, since there is no column cost, which cf-latency adds

counter                 counted         here  difference
all instructions          31529        31529  0
icache miss                 246          246  0
dcache miss                  20           20  0
external event 1            325          325  0"
    # its cycles in microseconds
    printf 'op,addr,hit,class,cost\nload,0,255,1,9694\n' >us.csv
    stream us.cf us.csv
    run -0 cf-report -q --leon4 us.cf
    has 'Total cost: 9694 cycles
Total cost: 64.627 us'
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
    # classes of another level are not those of the first
    cf-capture leon4 -q "$S/late-overflow.hist" | cf-classify -q --rule hill --hit --level L2 --cores 1 -m leon4-n2x >run.cf
    run -1 --separate-stderr cf-report --leon4 run.cf
    has 'loads and fetches missed the first level by column hit and have no class' "$stderr"
    cf-capture leon4 -q "$S/late-overflow.hist" | cf-classify -q --rule hill --hit -m leon4-n2x >run.cf
    run -0 --separate-stderr cf-report --leon4 run.cf
    [[ -z $stderr ]] || fail "$stderr"
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
