# SPDX-License-Identifier: BSD-2-Clause
#
# pipelines/cacheflow.mk with small parameters: what the figures of "Observing the Invisible" show is
# looked for in the numbers. SYNTH's buffers are smaller, and so is the time between its snapshots;
# the real programs have less to do, and little of it is recorded.
# Takes long: recordings, long figures.
load lib

BYTES=131072 PAGES=32 PERIOD=50000 SLICE=200000 TIME=1600000

# The recordings are made once for all tests.
cacheflow() {
    # shellcheck disable=SC2086 # DRY is an option or nothing
    make -s ${DRY:-} -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$BATS_FILE_TMPDIR/out" PICTURES="${PICTURES:-0}" \
        SYNTH_BYTES=$BYTES SYNTH_PERIOD=8192 LIMIT=1500000 TIME=$TIME PERIOD=$PERIOD SLICE=$SLICE \
        TEXT=6000 ROWS=1000 UNIT="$BATS_FILE_TMPDIR/unit.c" REPL_SETS=200 REPL_TIMES=40 "${@/#/$BATS_FILE_TMPDIR/out/}"
}

setup_file() {
    # what is recorded of the compiler is its start, the same for any source
    echo 'int none;' >"$BATS_FILE_TMPDIR/unit.c"
}

setup() {
    lib_setup
    reached "pipelines of programs that have suites"
    need gcc "the kernels and a program to record come from it"
    O=$BATS_FILE_TMPDIR/out
}

# FILE.csv: page, snapshot, lines of SYNTH's buffers, which are one region of 2 * PAGES pages
buffers() {
    awk -F, -v pages=$((2 * PAGES)) '
        NR == 1 { if ($0 != "region,page,snapshot,lines") exit 1; next }
        { row[NR] = $2 "," $3 "," $4; region[NR] = $1; if ($2 + 1 > most[$1]) most[$1] = $2 + 1 }
        END { for (i = 2; i <= NR; i++) if (most[region[i]] == pages && region[i] ~ /^\[anon\]/) print row[i] }' "$1"
}

@test "SYNTH, flush mode: each pass over each buffer is a band" {
    cacheflow fig4.csv
    buffers "$O/fig4.csv" >rows
    (($(wc -l <rows) >= 4 * PAGES)) || fail "$(wc -l rows)"
    # visits of a page: snapshots in a row
    sort -t, -k1,1n -k2,2n rows | awk -F, '
        $1 != page || $2 != last + 1 { n[$1]++; print $1, n[$1], $2 } { page = $1; last = $2 }' >visits
    awk -v n=$PAGES '
        { visits[$1]++; first[$1, $2] = $3 }
        END {
            for (p = 0; p < 2 * n; p++) {
                if (visits[p] != 2) { print "page " p ": " visits[p] " visits"; exit 1 }
                # a band rises or stays, from page to page
                for (v = 1; v <= 2; v++)
                    if (p % n && first[p, v] < first[p - 1, v]) { print "page " p " comes before the last"; exit 1 }
            }
            # write, read, write, read: each band begins where the one before has ended
            if (first[0, 2] < first[n - 1, 1] || first[n, 1] < first[n - 1, 2] || first[n, 2] < first[2 * n - 1, 1]) {
                print "bands in another order"; exit 1 }
            # and has a slope: a pass takes several snapshots
            for (b = 0; b < 2; b++) for (v = 1; v <= 2; v++)
                if (first[b * n + n - 1, v] - first[b * n, v] < 4) { print "no slope"; exit 1 }
        }' visits
    # a snapshot shows what was accessed since the last one, and no more
    awk -F, -v n=$PAGES '{ s[$2]++ } END { for (i in s) if (s[i] > n / 3) exit 1 }' rows
    # every line of a page is there in the one or two snapshots of a visit
    awk -F, -v n=$PAGES '{ l[$1] += $3 } END { for (p = 0; p < 2 * n; p++) if (l[p] < 2 * 64 || l[p] > 2 * 64 + 6) exit 1 }' rows
}

@test "SYNTH, transparent mode, from a full cache: the first buffer stays, and fades while the second comes" {
    cacheflow fig5.csv
    buffers "$O/fig5.csv" >stays
    # the buffers alone are drawn, and nothing of BOMB
    [[ $(sed 1d "$O/fig5.csv" | wc -l) == $(wc -l <stays) ]]
    awk -F, -v n=$PAGES '
        { l[$2, $1 >= n] += $3; if ($2 > end) end = $2; if (!first || $2 < first) first = $2 }
        END {
            for (s = first; s <= end; s++) { if (l[s, 0] > most) { most = l[s, 0]; at = s }; if (l[s, 1] && !second) second = s }
            # whole when its second pass is over, and then only less
            if (most < .97 * 64 * n || at > second) { print "most: " most " at " at ", second from " second; exit 1 }
            for (s = second + 1; s <= end; s++) if (l[s, 0] > l[s - 1, 0]) { print "more lines in " s; exit 1 }
            if (l[end, 0] > .98 * most || l[end, 0] < .7 * most) { print "at the end " l[end, 0] " of " most; exit 1 }
            if (l[end, 1] < .95 * 64 * n) { print "second: " l[end, 1]; exit 1 }
        }' stays
}

@test "fig6: another board shows the same bands in steps of its own" {
    cacheflow fig4.csv fig6.csv
    run ! cmp -s "$O/fig4.csv" "$O/fig6.csv"
    # as many visits to each page, and more snapshots, since its clock ticks less often between two
    for f in 4 6; do
        buffers "$O/fig$f.csv" | sort -t, -k1,1n -k2,2n | awk -F, '$1 != page || $2 != last + 1 { print $1 } { page = $1; last = $2 }' >visits.$f
    done
    same visits.4 visits.6
    awk -F, 'FNR == 1 { f++ } $3 + 0 > most[f] { most[f] = $3 + 0 } END { exit !(most[2] > 1.2 * most[1] && most[2] < 1.35 * most[1]) }' \
        "$O/fig4.csv" "$O/fig6.csv"
}

# FILE.csv: for each snapshot who has most lines: snapshot, number of the program in the order of inputs
leaders() {
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; if (!at["snapshot"] || !at["pid"] || !at["lines"]) exit 1; next }
        $at["pid"] > 0 { s = $at["snapshot"]; l = $at["lines"] + 0
            if (l > most[s]) { most[s] = l; who[s] = int($at["pid"] / 10000000) }
            if (s > end) end = s; if (first == "" || s < first) first = s }
        END { for (s = first; s <= end; s++) if (s in who) print s - first, who[s] }' "$1"
}

@test "occupancy, fifo on one CPU: one program after the other" {
    cacheflow fig10.csv
    leaders "$O/fig10.csv" >who
    [[ $(awk '{ print $2 }' who | uniq | paste -sd' ') == "0 1 2 3" ]] || fail "$(cat who)"
    # no interleaving: in a snapshot there are the lines of one, or of two where one makes way
    awk -F, 'NR > 1 && $4 > 0 && $6 > 0 { n[$1]++ } END { for (s in n) { if (n[s] > 2) exit 1; if (n[s] == 2) two++ }
        exit two > 3 }' "$O/fig10.csv"
}

@test "occupancy, fair on one CPU: the program changes with every slice" {
    cacheflow fig9.csv fig10.csv
    leaders "$O/fig9.csv" >who
    # while all four run, snapshot s lies in the slice of one of them
    awk -v per=$((SLICE / PERIOD)) -v all=$((4 * 4 * SLICE / PERIOD)) '
        $1 < all { rows++; if ($2 != int($1 / per) % 4) { print "snapshot " $1 ": program " $2; exit 1 } }
        END { if (rows != all) { print rows " of " all; exit 1 } }' who
    # much more often than by priority
    (($(awk '{ print $2 }' who | uniq | wc -l) > 12))
    # the same work takes as long
    leaders "$O/fig10.csv" >fifo
    (($(wc -l <who) - $(wc -l <fifo) < 3 && $(wc -l <fifo) - $(wc -l <who) < 3))
}

@test "occupancy, fifo on three CPUs: three at once, the fourth when the first has ended" {
    cacheflow fig10.csv fig11.csv
    awk -F, '
        NR == 1 { next }
        $4 > 0 && $6 > 0 { who = int($4 / 10000000); if (!(who in first)) first[who] = $1; last[who] = $1; n[$1]++ }
        END {
            for (w = 0; w < 3; w++) if (first[w] != first[0]) exit 1
            end = last[0]; for (w = 1; w < 3; w++) if (last[w] < end) end = last[w]
            if (first[3] < end || first[3] > end + 1) { print "the fourth from " first[3] ", one ended at " end; exit 1 }
            if (n[first[0] + 1] != 3) exit 1
        }' "$O/fig11.csv"
    (($(leaders "$O/fig11.csv" | wc -l) < $(leaders "$O/fig10.csv" | wc -l)))
}

# bats test_tags=slow
@test "sets, clash: quotas of all five, all pairs, a correlation" {
    cacheflow fig12.csv table3.csv correlation.csv
    [[ $(column observed "$O/table3.csv" | sort -u | wc -l) == 5 ]]
    (($(wc -l <"$O/table3.csv") >= 1 + 20))
    # two programs cannot be faster together than alone, beyond what random replacement gives
    awk -F, 'NR > 1 { n++; if ($3 < .95 || $3 > 20) exit 1 } END { exit n != 20 }' "$O/slowdown.csv"
    # BOMB reads more than the cache has: nobody's active set is larger
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { q = $at["active_quota"] + 0; p = $at["name"]; if (q > most[p]) most[p] = q; if (q > m) m = q }
        END { for (p in most) n++; exit n != 5 || most["bomb"] != m }' "$O/fig12.csv"
    has reused "$(cat "$O/correlation.csv")"
    # each program has its own file, and its mean is of its own snapshots
    [[ $(column file "$O/fig12.csv" | sort -u | wc -l) == 5 ]]
}

@test "table 2: a flush changes what was there, a transparent snapshot next to nothing" {
    cacheflow table2.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /changed/ && $i ~ /mean/) c = i; if (!c) exit 1; next }
        { n++; v[n] = $c } END { if (n != 2) exit 1; hi = v[1] > v[2] ? v[1] : v[2]; lo = v[1] + v[2] - hi
            if (!(hi > 10 && lo < 1)) { print hi, lo; exit 1 } }' "$O/table2.csv"
}

@test "replacement: random, uniform; lines survive more with each round" {
    cacheflow fig13.csv fig14.csv policies.csv
    # the expected number of cached lines rises with the rounds
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { if ($at["lines"] != 16) { print "lines", $at["lines"]; exit 1 }
          e[$at["rounds"]] += $at["cached"] * $at["probability"] }
        END { for (r = 2; r <= 8; r++) if (e[r] <= e[r - 1] && r < 5) { print r, e[r - 1], e[r]; exit 1 }
              if (e[1] < 8 || e[1] > 13 || e[8] < 13) { print e[1], e[8]; exit 1 } }' "$O/fig13.csv"
    [[ $(($(wc -l <"$O/fig14.csv") - 1)) == 16 ]]
    [[ $(sed -n 2p "$O/policies.csv") == *random* ]] || fail "$(cat "$O/policies.csv")"
}

# board TARGET...: the pipeline with a Shutter of the tests in place of the kernel module, one a capture,
# of which it must be no child.
board() {
    mkdir -p bin
    ln -sf "$B"/bin/* bin/
    rm bin/cf-capture
    printf '%s\n' '#!/bin/bash' "rm -f $T/sock" "('$B/test/fake_shutter' $T/sock $T/notes >/dev/null 2>&1 3>&- &)" \
        "until [[ -S $T/sock ]]; do sleep .01; done" "exec '$B/bin/cf-capture' \"\$@\"" >bin/cf-capture
    chmod +x bin/cf-capture
    make -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$T/bin" OUT="$T/board" DEVICE="$T/sock" PICTURES=0 PROGRAMS="gzip mine" \
        COMMAND_mine="sort $T/board/text.txt" TEXT=60000 ROWS=10 UNIT="$BATS_FILE_TMPDIR/unit.c" SYNTH_SNAP=1ms \
        SYNTH_BYTES=67108864 SNAP=10ms LEAD="${LEAD:-1ms}" PASSES2="${PASSES2:-1000}" PAIRS2=1 RUNS=1 OTHER=0 THREE=0 "$@"
}

@test "a board: the figures and tables are made of its snapshots, under the programs' own names" {
    in_emulation "there is no signal SIGRTMAX, which the snapshots' timer sends"
    [[ $(id -u) == 0 ]] || skip "only root may set priorities and read page frames"
    run -0 board
    local f
    has 'Not made: fig6'
    # fig13 and fig14: tests/kmod-pipeline.bats
    [[ -e board/fig13.csv ]] || has 'fig14, for which there are too few huge pages: sysctl vm.nr_hugepages=3'
    for f in 4 5 7 8 9 10 11 12; do [[ -s board/fig$f.csv ]] || fail "fig$f"; done
    run ! test -e board/fig6.csv
    # SYNTH's buffers alone, after the shell in which BOMB ran has become SYNTH
    [[ $(sed 1d board/fig5.csv | cut -d, -f1 | sort -u | wc -l) == 1 ]]
    # a program may have ended before the first snapshot
    for f in 9 10 11; do
        [[ $(column name board/fig$f.csv | grep -vF '[unknown]' | sort -u | paste -sd' ') =~ ^(gzip|sort|gzip sort)$ ]] ||
            fail "fig$f" "$(cat board/fig$f.csv)"
    done
    [[ $(column name board/fig12.csv | grep -vF '[unknown]' | sort -u | paste -sd' ') == 'bomb gzip sort' ]] ||
        fail "$(column name board/fig12.csv | sort | uniq -c)"
    # five modes of snapshots
    (($(tail -n +2 board/table2.csv | wc -l) == 5)) || fail "$(cat board/table2.csv)"
    # each of two by each of three
    awk -F, 'NR > 1 { n++; if (!($3 > 0)) bad = 1 } END { exit bad || n != 6 }' board/slowdown.csv || fail "$(cat board/slowdown.csv)"
    [[ $(column observed board/table3.csv | sort -u | paste -sd' ') == 'bomb gzip mine' ]]
    grep -q 'Reused set eviction' board/table3.txt
    # a BOMB that is over before the snapshots is told
    LEAD=10s PASSES2=1 run -2 board OUT="$T/short" "$T/short/table2.csv"
    has 'more PASSES2'
    [[ ! -e short/table2.csv ]]
    # and a SYNTH that no snapshot saw
    cp board/mine.alone.cf board/fig5.cf
    rm board/fig5.csv
    run -2 board -o "$T/board/fig5.cf" "$T/board/fig5.csv"
    has 'SYNTH_SNAP, 1ms, is too long'
}

@test "a board: figures of REPL are refused where the cache has other ways than it was told" {
    local out=$T/new ways
    # of two ways each, sets come again after 1024
    for ways in "WAYS=8" "WAY_BYTES=2048 REPL_SETS=9" "REPL_SETS=1025"; do
        rm -rf new
        # shellcheck disable=SC2086 # words
        one() { make -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$out" DEVICE=/dev/none PICTURES=0 ROWS=5 $ways "$@"; }
        one "$out/script.sql" "$out/repl"
        cf-cache -q -m raspberry-pi-4 --snapshot-every 9999 -o new/rounds-1.cf "$ROOT/samples/sort.cf"
        for n in 2 3 4 5 6 7 8; do cp new/rounds-1.cf new/rounds-$n.cf; done
        for n in 13 14; do
            run -2 one "$out/fig$n.csv"
            has "the cache has 16 ways of 65536 bytes"
            [[ ! -e new/fig$n.csv ]]
        done
    done
}

@test "a board: a program is timed by the words of its command, in quotes or not" {
    printf '%s\n' '#!/bin/sh' 'printf "[%s]" "$@" >>'"$T/words" >wk
    chmod +x wk
    run -0 board PROGRAMS=wk TEXT=10 COMMAND_wk="$T/wk \"a  b\" '\$\$1*'" "$T/board/slowdown.csv"
    [[ $(<words) =~ ^('[a  b][$1*]')+$ ]] || fail "$(<words)"
}

@test "times: a program that fails, beside another too, and no number of runs are refused; a stop ends both" {
    local timed=$ROOT/pipelines/cacheflow-time.sh
    run -0 --separate-stderr "$timed" 2 0 0 true "sleep 9"
    ((output > 0)) && [[ -z $stderr ]]
    run -1 "$timed" 1 0 0 false "sleep 9"
    has "false failed"
    run -1 "$timed" 1 0 0 "sleep .1" "no-such-program"
    has "no-such-program failed, on processor 0"
    run -2 "$timed" 0 0 0 true
    has "RUNS='0': give a number from 1 on"
    printf '#!/bin/sh\necho $$ >%s/$1\nexec sleep 60\n' "$T" >wait
    chmod +x wait
    "$timed" 1 0 0 "./wait one" "./wait two" 3>&- &
    until [[ -s one && -s two ]]; do kill -0 $! && sleep .02 || fail "it has ended"; done
    kill $!
    wait $! || true
    # a zombie has ended, too
    for n in 1 2 3 4 5 6 7 8 9 0; do ps -o stat= -p "$(<one),$(<two)" | grep -qv '^Z' || return 0; sleep .1; done
    fail "$(ps -f "$(<one)" "$(<two)")"
}

# shown NAMES [ARGUMENT...]: what would be run of PROGRAMS=NAMES
shown() {
    make -n -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$T/new" PROGRAMS="$1" "${@:2}"
}

@test "colours are by the names of the programs that are run; one program alone is that of figures 7 and 8; none is refused" {
    run -0 shown 'a b cc1' COMMAND_a="dir/one 'x y'"
    (($(grep -c -- "--colours 'one,b,cc1,bomb'" <<<"$output") == 4)) || fail "$output"
    for device in "" DEVICE=/dev/none; do
        run -0 shown mine $device "$T/new/fig7.csv" "$T/new/fig8.csv"
        (($(grep -c "cf-heatmap.* >$T/new/fig[78].csv.tmp" <<<"$output") == 2)) || fail "$output"
    done
    run -2 shown ''
    has "PROGRAMS is empty: give one name at least"
}

@test "names of programs that would be others in tables, files or rules are refused" {
    local name
    # with a comma, cycles in slowdown.csv were those of no program
    for name in a,b g++ a=b ./a -a "it's" bomb fill steps repl-1 a.cut; do
        run -2 shown "gzip $name" "COMMAND_$name=true"
        has "PROGRAMS has '$name', which is no name for one"
    done
    run -2 shown "mine gzip mine"
    has "PROGRAMS has 'mine', which is no name for one, is another's here, or is there twice"
    run -0 shown "my-program_2.0"
}

@test "a program whose name has a comma: its cycles are counted" {
    cp "$(type -P true)" my,true
    make -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$T/new" PICTURES=0 PROGRAMS=mine COMMAND_mine="$T/my,true" \
        TEXT=10 ROWS=10 UNIT="$BATS_FILE_TMPDIR/unit.c" LIMIT=100000 TIME=1000000 "$T/new/schedules.csv" "$T/new/pairs/mine.csv"
    awk -F, 'NR > 1 { n++; bad += $3 < 1000 } END { exit bad || n != 3 }' new/schedules.csv || fail "$(<new/schedules.csv)"
    # alone, it stalls as often as when it runs first of all
    [[ $(<new/pairs/mine.csv) == mine,,$(awk -F, 'NR == 3 { print $4 }' new/schedules.csv) ]] || fail "$(<new/pairs/mine.csv)"
}

@test "table 2: a program that ends before its snapshots is left out, which is told" {
    run -0 make -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$T/new" PICTURES=0 PROGRAMS="mine" COMMAND_mine=true \
        TEXT=10 ROWS=10 UNIT="$BATS_FILE_TMPDIR/unit.c" LIMIT=1000000 TIME=3000000 "$T/new/table2.csv"
    is "$T/new/mine.cut.cf is left out of table2: it ends before instruction 1500000, half of TIME"
    # BOMB is in it
    [[ $(wc -l <new/table2.csv) == 3 ]] || fail "$(<new/table2.csv)"
}

@test "cycles above 2^31 are whole numbers in the tables" {
    cp "$(type -P true)" mine
    make -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$T/new" PICTURES=0 PROGRAMS=mine COMMAND_mine="$T/mine" \
        TEXT=10 ROWS=10 UNIT="$BATS_FILE_TMPDIR/unit.c" LIMIT=100000 TIME=1000000 LATENCY="17 10000001" \
        "$T/new/schedules.csv" "$T/new/pairs/mine.csv" "$T/new/pairs/mine+mine.csv"
    while IFS=, read -r _ instructions stalls cycles; do
        ((cycles > 4000000000 && cycles == instructions + stalls)) || fail "$(<new/schedules.csv)"
    done < <(sed 1d new/schedules.csv)
    grep -qE '^mine,,[0-9]{10,}$' new/pairs/mine.csv || fail "$(<new/pairs/mine.csv)"
    grep -qE '^mine,mine,[0-9]{10,}$' new/pairs/mine+mine.csv || fail "$(<new/pairs/mine+mine.csv)"
}

@test "a recording that a signal has ended is none to the next run" {
    printf '#!/bin/sh\n: >%s/runs\nexec sleep 60\n' "$T" >mine
    chmod +x mine
    mkfifo says
    cat says >said 3>&- &
    local reads=$! pid
    setsid make -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$T/new" PROGRAMS=mine COMMAND_mine="$T/mine" TEXT=10 ROWS=10 \
        UNIT="$BATS_FILE_TMPDIR/unit.c" "$T/new/mine.cf" >says 2>&1 3>&- &
    pid=$!
    until [[ -e runs ]]; do kill -0 $pid && sleep .02 || fail "$(<said)"; done
    kill -- -$pid
    wait $pid && fail "it has not failed"
    wait $reads # until all that it has started has ended
    [[ ! -e new/mine.cf ]] || fail "$(ls new)"
}

@test "a picture of an older table goes, and is drawn anew" {
    one() { make -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$T/new" SYNTH_BYTES=4096 "$@"; }
    one "$T/new/fig4.png"
    touch -d yesterday new/fig4.png
    touch new/synth.cf
    one PICTURES=0 "$T/new/fig4.csv"
    [[ ! -e new/fig4.png ]] || fail "the old picture is there"
    one "$T/new/fig4.png"
    [[ new/fig4.png -nt new/synth.cf ]]
}

@test "OUT=., an empty folder: the programs that were compiled are those that run" {
    mkdir here
    run -0 make -s -C here -f "$ROOT/pipelines/cacheflow.mk" BIN="$BIN" OUT=. SYNTH_BYTES=4096 PICTURES=0 fig4.csv
    [[ -s here/fig4.csv ]]
}

@test "a machine without a second level, or with a third one, is not taken for one of L2's size" {
    local machine
    for machine in leon4-n2x-l2-off xeon-6230; do
        run -2 make -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$T/new" MACHINE=$machine "$T/new/$machine.yaml"
        has "$machine: its last level is no second level L2: give another MACHINE"
        [[ ! -e new/$machine.yaml ]]
        rm -r new
    done
}

@test "a machine whose description is not among those that the pipeline reads is refused" {
    cp "$ROOT/formats/machines/xeon-6230.yaml" mine.yaml
    local v m
    for v in MACHINE MACHINE6; do
        for m in "$T/mine.yaml" host; do
            run -2 make -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$T/new" $v="$m" "$T/new/fig13.csv"
            has "$v=$m: there is no "
            [[ ! -e new ]]
        done
    done
}

@test "REPL fills sets of the machine that is given, also where its ways are no part of a huge page; others are refused" {
    run -0 make -s -C "$ROOT" -f pipelines/cacheflow.mk BIN="$BIN" OUT="$T/new" PICTURES=0 MACHINE=xeon-6230 REPL_SETS=20 "$T/new/fig13.csv"
    [[ $(<new/fig13.csv) == rounds,lines,cached,snapshots,probability$(printf '\n%s,11,11,20,1.000000' 1 2 3 4 5 6 7 8) ]] || fail "$(<new/fig13.csv)"
    run -2 shown mine MACHINE=atom-d525 WAYS=16
    has "WAY_BYTES=65536 WAYS=16: the last level of atom-d525 has 8 ways of 65536 bytes: leave them out"
    run -2 shown mine WAY_BYTES=65536
    has "WAY_BYTES=65536 WAYS=16: the last level of tegra-x1 has 16 ways of 131072 bytes: leave them out"
    rm -r new
    run -0 shown mine DEVICE=/dev/none WAY_BYTES=65536
}

@test "what is there is not made again" {
    cacheflow fig4.csv
    DRY=-n run -0 cacheflow fig4.csv
    has_not cf-
}
