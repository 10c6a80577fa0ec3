#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# --columns of the programs that hand accesses on.
load lib

columns_setup() {
    # a loop over three arrays, so that a packed file predicts it, with addresses that it does not
    awk 'BEGIN { print "time,pid,tid,op,size,addr,pc,hit"; x = 1
        for (i = 0; i < 6000; i++) { x = (x * 69069 + 1) % 4294967296; k = i % 3
            printf "%d,7,%d,%s,%d,%d,%d,%d\n", i * 2, 7 + int(i / 2000), k == 2 ? "store" : "load", k ? 8 : 4,
                65536 * (k + 1) + (i % 60 ? 8 * int(i / 3) : 64 * (x % 999)), 4096 + 4 * k, i % 9 ? 1 : 255 } }' >rows.csv
    cf-capture csv -q -o packed.cf rows.csv
    cf-capture csv -q rows.csv | cat >raw.cf
}

# keys FILE: the columns of its accesses.
keys() {
    cf-cat --json "$1" | head -n 1 | grep -o '"[a-z_0-9]*":' | tr -d '":' | sort | paste -s -d ' '
}

@test "a program hands on the columns that are listed, and those that it adds, as without a list" {
    local input list program added want
    columns_setup
    a_machine >/dev/null
    for input in packed.cf raw.cf; do
        for list in addr,op pc,addr time,tid size,pid time,pid,tid,op,size,addr,pc; do
            while IFS='|' read -r program added; do
                $program $input | cat >all.cf
                $program --columns $list $input | cat >listed.cf
                $program --columns $list -o file.cf $input
                want=$(tr , '\n' <<<"$list${added:+,$added}" | sort | paste -s -d ' ')
                [[ $(keys listed.cf) == "$want" && $(keys file.cf) == "$want" ]] ||
                    fail "$program --columns $list $input: $(keys listed.cf); -o: $(keys file.cf); not $want"
                cf-cat --csv --columns "${want// /,}" all.cf >all.csv
                cf-cat --csv --columns "${want// /,}" listed.cf | cmp - all.csv
                cf-cat --csv --columns "${want// /,}" file.cf | cmp - all.csv
                cf-cat --verify listed.cf file.cf
            done <<END
cf-cat -q|
cf-select -q --op load|
cf-select -q --op load,store,ifetch|
cf-distance -q|dist
cf-distance -q --rate 0.5|dist,dist_weight
cf-cache -q -m $BATS_TEST_TMPDIR/machine.yaml|hit
cf-classify -q -m $BATS_TEST_TMPDIR/machine.yaml|class,hit
cf-latency -q -m $BATS_TEST_TMPDIR/machine.yaml|cost
cf-sample -q -m $BATS_TEST_TMPDIR/machine.yaml --loads 2 --stores 2 --fine 0|level,weight,stage
END
        done
    done
}

@test "what was packed stays packed in a pipe with what it needs, and nothing else comes along" {
    columns_setup
    cf-cat --columns addr,pc packed.cf | cf-cat --dump >dump
    grep -q 'column addr  *u64  predict' dump
    grep -q 'column code' dump
    cf-cat --columns time,op packed.cf | cf-cat --dump >dump
    grep -q 'column time  *u64  steps' dump
    grep -q 'column op  *u8  *bycode' dump
    # addresses may begin at pc, which is not there
    cf-cat --columns addr packed.cf | cf-cat --dump >dump
    run ! grep 'predict\|column code' dump
    cf-cat --columns tid packed.cf | cf-cat --dump >dump
    run ! grep 'column code' dump
    # other tables are whole
    cf-capture csv -q --with map=<(printf 'time,pid,op,start,end,label\n0,7,map,65536,131072,a\n') rows.csv |
        cf-cat --columns addr | cf-cat --csv --table map | grep -q '0,7,map,0x10000,0x20000,.*a'
}

@test "what is no list of columns, or no stream, is refused" {
    local list
    columns_setup
    a_machine >/dev/null
    for list in adr addr,adr code text; do
        run -2 cf-distance --columns $list packed.cf
        has "--columns: '${list##*,}' is no column of accesses"
    done
    run -2 cf-cache -m machine.yaml --summary --columns addr packed.cf
    has "--columns is for a stream"
    run -2 cf-cache -m machine.yaml --snapshot-every 100 --columns addr packed.cf
    has "--columns is for a stream"
    run -2 cf-classify -m machine.yaml --summary --columns addr packed.cf
    has "--columns is for a stream"
    run -2 cf-cat --verify --columns addr packed.cf
    has "--columns is for streams, --csv and --json"
}

@test "a large frame that stays packed in a file: without its times none are stated, and all else is there" {
    awk 'BEGIN { print "time,op,addr,pc"; for (i = 0; i < 150000; i++) printf "%d,load,%d,%d\n", i, 8 * i, 4096 + 4 * (i % 3) }' |
        cf-capture csv -q -o large.cf
    a_machine >/dev/null
    cf-cache -q -m ./machine.yaml -o file.cf large.cf
    cf-cat --verify file.cf
    cf-cache -q -m ./machine.yaml --columns addr,pc -o file.cf large.cf
    cf-cat --verify file.cf
    cf-cache -q -m ./machine.yaml large.cf | cf-cat --csv --columns addr,pc,hit >want.csv
    cf-cat --csv --columns addr,pc,hit file.cf | cmp - want.csv
    [[ $(cf-cat --info file.cf | grep -c 'first:') == 0 ]]
    # of weights that stay packed, as differences here, the first is not that of all
    awk 'BEGIN { print "time,addr,weight,hit,op"; for (i = 0; i < 150000; i++) printf "%d,%d,%.0f,1,load\n", i, 8 * i, i ? i : 2 ^ 40 }' |
        cf-capture csv -q -o weighted.cf
    cf-latency -q -m tegra-x1 -o file.cf weighted.cf
    cf-latency -q -m tegra-x1 weighted.cf | cf-cat --csv --columns addr,weight,cost >want.csv
    cf-cat --csv --columns addr,weight,cost file.cf | cmp - want.csv
}

@test "a column that the next program needs, and that is not listed, is named" {
    columns_setup
    cf-distance -q packed.cf | cf-mrc -q >all.csv
    cf-distance -q --columns tid packed.cf | cf-mrc -q | cmp - all.csv
    cf-distance -q --rate 0.5 packed.cf | cf-mrc -q >all.csv
    cf-distance -q --rate 0.5 --columns addr packed.cf | cf-mrc -q | cmp - all.csv
    cf-distance -q --rate 0.5 --columns tid packed.cf >short.cf
    run -1 cf-mrc short.cf
    has "no column 'addr', which sampled distances need"
    cf-cat --columns op packed.cf >short.cf
    run -1 cf-distance short.cf
    has "no column 'addr'"
}

@test "weights that add up to more than 2^52 are refused wherever they are read or written, so that no sum wraps" {
    local program
    a_machine >/dev/null
    weights() { printf 'time,op,size,addr,weight,dist,hit\n'; for w in "$@"; do echo "1,load,8,0x1000,$w,5,255"; done; }
    weights 4503599627370495 1 | cf-capture csv -q >most.cf
    weights 1 | cf-capture csv -q >one.cf
    cat most.cf one.cf >more.cf
    for sum in "4503599627370495 2" "7 18446744073709551615"; do
        # shellcheck disable=SC2086
        weights $sum >sum.csv
        run -1 cf-capture csv -o sum.cf sum.csv
        is "cf-capture-csv: sum.cf: with one of ${sum#* } the weights of accesses add up to more than 2^52, which no reader takes: give smaller ones"
        [ ! -e sum.cf ]
        run -1 --separate-stderr bash -c 'cf-capture csv sum.csv | cf-cat'
        has "more than 2^52, which no reader takes" "$stderr"
    done
    echo 'a 1 [000] 1.000001: 9223372036854775807 mem-loads: 1000 401000 f+0x1 (x)' >s.txt
    run -1 cf-capture perf-script -o sum.cf s.txt
    has 'more than 2^52'
    while read -r program; do
        # shellcheck disable=SC2086
        run -0 $program most.cf
        has 4503599627370496
        for file in "more.cf" "most.cf one.cf"; do
            # shellcheck disable=SC2086
            run -1 --separate-stderr $program $file
            has "the weights of accesses add up to more than 2^52" "$stderr"
        done
    done <<'END'
cf-mrc -q
cf-rank -q --by op --value accesses,misses
cf-heatmap -q
cf-histogram -q --column size
END
    # whose counts are finer
    run -1 --separate-stderr cf-histogram most.cf
    has "the weights of distances add up to more than 2^47" "$stderr"
    weights 140737488355327 | cf-capture csv -q | cf-histogram | grep -q '^4,7,140737488355327,1.0'
    printf 'time,addr,dist,dist_weight,weight\n1,0,5,1000,1099511627776\n' | cf-capture csv -q >both.cf
    for program in cf-mrc cf-histogram; do
        run -1 --separate-stderr $program both.cf
        has "more than 2^47" "$stderr"
    done
}

@test "samples whose weight was left out are not counted as rows, but where that is asked for" {
    local program
    columns_setup
    a_machine >/dev/null
    cf-sample -q -m ./machine.yaml --loads 7 --stores 7 --fine 0 packed.cf -o samples.cf
    cf-distance -q packed.cf | cf-sample -q -m ./machine.yaml --loads 7 --stores 7 -o dist.cf
    cf-cat --columns time,op,addr,hit samples.cf -o bare.cf
    while read -r program; do
        # shellcheck disable=SC2086
        $program samples.cf >/dev/null
        # shellcheck disable=SC2086
        run -1 --separate-stderr $program bare.cf
        has "no column 'weight': the accesses are samples, and it says of how many: keep it in --columns" "$stderr"
    done <<'END'
cf-rank -q --by op --value accesses,misses
cf-histogram -q --column hit
cf-heatmap -q
cf-latency -q -m ./machine.yaml --latency L1I=1 --latency L1D=1 --latency L2=9 --latency memory=90 --summary
END
    run -1 --separate-stderr cf-rank --by op --before packed.cf bare.cf
    has "no column 'weight'" "$stderr"
    cf-cat --columns dist -o bare-dist.cf dist.cf
    run -1 --separate-stderr cf-mrc bare-dist.cf
    has "no column 'weight'" "$stderr"
    same <(cf-histogram --column hit --weight none samples.cf) <(cf-histogram --column hit --weight none bare.cf)
}
