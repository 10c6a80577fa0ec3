# SPDX-License-Identifier: BSD-2-Clause
#
# cf-distance: by hand, and against lists in which the line that is accessed moves to the front.
load lib

COLD=18446744073709551615 BEYOND=18446744073709551614
NONE=18446744073709551613 UNSAMPLED=18446744073709551612

# by_list [-v NAME=VALUE]...: distances of CSV with the columns op,size,addr,pid,tid on standard
# input. Variables: shift (bits), sets, per (all, process, thread), kind (data, fetches, unified),
# max. Addresses are decimal, below 2^53.
by_list() {
    awk -F, -v shift=6 -v sets=1 -v per=all -v kind=data -v max=0 -v cold=$COLD -v beyond=$BEYOND \
        -v none=$NONE "$@" '
        BEGIN { bytes = 2 ^ shift }
        NR > 1 {
            fetch = $1 == "ifetch"
            if ($1 == "flush" || (kind == "data" && fetch) || (kind == "fetches" && !fetch)) { print none; next }
            last = int(($3 + ($2 > 0 ? $2 - 1 : 0)) / bytes)
            worst = 0; first = 0
            for (line = int($3 / bytes); line <= last; line++) {
                unit = (per == "all" ? "" : per == "process" ? $4 : $4 "," $5) ":" line % sets
                x = (per == "all" ? $4 : "") ":" line
                n = count[unit] + 0
                for (i = n; i > 0 && list[unit, i] != x; i--) ;
                if (!i) { first = 1; count[unit] = ++n; i = n; list[unit, n] = x }
                else { if (n - i > worst) worst = n - i }
                for (; i < n; i++) list[unit, i] = list[unit, i + 1]
                list[unit, n] = x
            }
            if (first) print cold
            else if (max && worst > max) print beyond
            else print worst
        }'
}

# random ROWS SEED: such CSV, with time. Of few lines, since the lists are as long as there are lines.
random() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed); split("load load load store store prefetch ifetch flush", op, " ")
        print "op,size,addr,pid,tid,time"
        for (i = 0; i < n; i++) {
            o = op[1 + int(rand() * 8)]; r = rand(); q = rand()
            if (i % 13 == 0) { pid = 100 + int(rand() * 3); tid = pid + int(rand() * 3) }
            printf "%s,%d,%d,%d,%d,%d\n", o, q < .9 ? 2 ^ int(rand() * 5) : int(rand() * 400),
                4096 + int((r < .5 ? rand() * 20 : r < .9 ? rand() * 100 : rand() * 400)) * 56, pid, tid, i
        } }'
}

# decimal: the same CSV with addresses in decimal instead of hex.
decimal() {
    awk -F, -v OFS=, 'NR > 1 {
        x = 0
        for (i = 3; i <= length($3); i++) x = x * 16 + index("0123456789abcdef", substr($3, i, 1)) - 1
        $3 = sprintf("%.0f", x) } { print }'
}

# dist FILE [OPTION...]: the column that cf-distance adds.
dist() {
    local file=$1
    shift
    cf-distance -q "$@" "$file" | cf-cat --csv --columns dist | tail -n +2
}

# agrees: standard input is what stands in `want`; else shows where it begins to differ.
agrees() {
    diff -u want - >difference || {
        head -n 20 difference >&2
        return 1
    }
}

@test "by hand: first accesses, repeats, straddles, other kinds, flushes" {
    printf 'time,op,size,addr\n1,load,8,0x0\n2,load,8,0x38\n3,store,8,0x40\n4,load,8,0x80\n5,load,8,0x3c\n6,ifetch,64,0x0\n7,flush,1,0x40\n8,load,8,0x40\n9,load,0,0x80\n' >a.csv
    stream a.cf a.csv
    run -0 dist a.cf
    # row 5 touches the lines 0 and 1, of which 0 is farther away: two lines since
    is "$COLD
0
$COLD
$COLD
2
$NONE
$NONE
0
2"
    run -0 dist a.cf --for unified --line-size 128
    is "$COLD
0
0
$COLD
1
0
$NONE
0
1"
}

@test "random accesses: as lists say, in all variants" {
    local seed kind per sets
    for seed in 1 2; do
        random 2000 $seed >a.csv
        stream a.cf a.csv
        stream a.packed.cf a.csv
        for kind in data fetches unified; do
            by_list -v kind=$kind <a.csv >want
            dist a.cf --for $kind | agrees || fail "--for $kind, seed $seed"
        done
        by_list -v shift=4 <a.csv >want
        dist a.packed.cf --line-size 16 | agrees || fail "--line-size 16"
        by_list -v shift=8 <a.csv >want
        dist a.packed.cf --line-size 256 | agrees || fail "--line-size 256"
        for per in process thread; do
            by_list -v per=$per <a.csv >want
            dist a.cf --per $per | agrees || fail "--per $per, seed $seed"
            by_list -v per=$per -v sets=5 -v kind=unified <a.csv >want
            dist a.packed.cf --per $per --sets 5 --for unified | agrees || fail "--per $per --sets 5"
        done
        for sets in 2 64; do
            by_list -v sets=$sets <a.csv >want
            dist a.cf --sets $sets | agrees || fail "--sets $sets, seed $seed"
        done
        # of sets that are no power of two, the process chooses too, as in cf-cache: here one alone
        awk -F, -v OFS=, 'NR > 1 { $4 = $5 = 100 } { print }' a.csv >b.csv
        stream b.cf b.csv
        by_list -v sets=7 <b.csv >want
        dist b.cf --sets 7 | agrees || fail "--sets 7, seed $seed"
        by_list -v max=50 <a.csv >want
        grep -q $BEYOND want
        dist a.cf --bound 50 | agrees || fail "--bound 50"
    done
}

@test "threads in turns of many rows, and of one" {
    local turn
    for turn in 1 1000; do
        awk -v turn=$turn 'BEGIN { srand(7); print "op,size,addr,pid,tid,time"
            for (i = 0; i < 6000; i++) printf "load,8,%d,1,%d,%d\n", int(rand() * rand() * 90) * 64, 1 + int(i / turn) % 3, i }' >a.csv
        stream a.cf a.csv
        by_list -v per=thread <a.csv >want
        dist a.cf --per thread | agrees
        by_list <a.csv >want
        dist a.cf | agrees
    done
}

@test "real traces: as lists say" {
    local name kind
    for name in gzip sort sqlite cc1 threads; do
        cf-cat --csv --table access --columns op,size,addr,pid,tid "$ROOT/samples/$name.cf" 2>err |
            head -n 8001 | decimal >a.csv
        stream a.cf a.csv
        for kind in data unified; do
            by_list -v kind=$kind <a.csv >want
            dist a.cf --for $kind | agrees || fail "$name, --for $kind"
        done
        by_list -v sets=64 <a.csv >want
        dist a.cf --sets 64 | agrees || fail "$name, --sets 64"
        by_list -v per=thread <a.csv >want
        dist a.cf --per thread | agrees || fail "$name, --per thread"
    done
}

@test "the top of the address space, large accesses, line numbers of 62 bits" {
    printf 'time,op,size,addr\n1,load,8,0xffffffffffffffff\n2,load,1,0xfffffffffffffff8\n3,load,4294967295,0xffffffffffffff00\n4,load,1048576,0x1000\n5,store,1048576,0x1000\n6,load,8,0xffffffffffffffc0\n' >a.csv
    stream a.cf a.csv
    run -0 dist a.cf
    is "$COLD
0
$COLD
$COLD
16383
16384"
    run -0 dist a.cf --line-size 4 --bound 16M
    is "$COLD
$COLD
$COLD
$COLD
262143
262159"
    run -0 dist a.cf --sets 1000
    is "$COLD
0
$COLD
$COLD
16
16"
}

@test "a rate of 1 is no sampling: each reference stands for itself" {
    cf-distance -q --rate 1 "$ROOT/samples/sort.cf" >all.cf
    [[ $(cf-cat --csv --columns dist_weight all.cf | sed 1d | sort -u) == 1 ]]
    cf-histogram -q --csv --column dist all.cf >sampled.csv
    cf-distance -q "$ROOT/samples/sort.cf" | cf-histogram -q --csv --column dist | cmp - sampled.csv
}

@test "sampling: weights, marks, size, and the curve that comes out" {
    awk 'BEGIN { srand(3); print "time,op,size,addr"
        for (i = 0; i < 200000; i++) printf "%d,load,8,%d\n", i, int(exp(rand() * log(30000))) * 64 }' >a.csv
    stream a.cf a.csv
    dist a.cf >exact
    for option in "--rate 0.1" "--samples 2K" "--samples 2K --rate 0.5"; do
        # shellcheck disable=SC2086
        cf-distance --stats $option a.cf 2>err >b.cf
        cf-cat --csv --columns dist,dist_weight b.cf | tail -n +2 >sampled
        grep -q "$UNSAMPLED" sampled
        # the miss ratio at 1024, 4096 and 16384 lines
        awk -F, -v unsampled=$UNSAMPLED '
            FNR == 1 { file++ }
            { for (c = 1024; c <= 16384; c *= 4) {
                if (file == 1) exact[c] += $1 >= c
                else if ($1 "" != unsampled "" && $1 >= c) sum[c] += $2 } }
            END { for (c = 1024; c <= 16384; c *= 4) {
                d = (sum[c] - exact[c]) / FNR; if (d < 0) d = -d
                if (d > .04) { print "off by " d " at " c; exit 1 } } }' exact sampled || fail "$option"
        grep -Eq 'rate 0\.[0-9]+, [0-9]+ references sampled, [0-9]+ expected; standard error' err
    done
    # what falls, falls for all processes: two that do the same have the same distances
    awk 'BEGIN { srand(5); print "time,pid,op,size,addr"
        for (i = 1; i <= 60000; i++) {
            a = int(rand() * 20000) * 64
            for (p = 1; p <= 2; p++) print i "," p ",load,8," a } }' >two.csv
    stream two.cf two.csv
    cf-distance -q --per process --samples 500 two.cf | cf-cat --csv --columns pid,dist - >two
    for p in 1 2; do sed -n "s/^$p,//p" two >dist$p; done
    [ "$(grep -vcxF -e $UNSAMPLED dist1)" -gt 500 ]
    same dist1 dist2
    # the weights are one over a rate that falls
    awk -F, '$2 < last { exit 1 } { last = $2 }' sampled
    [[ $(grep -o '[0-9]* lines kept' err | cut -d' ' -f1) -le 2048 ]]
    # again, without: no weights of the old sample stay
    run -0 bash -c 'cf-distance b.cf | cf-cat --csv | head -n 1'
    is "time,op,size,addr,dist"
    run -0 bash -c 'cf-distance --rate 0.5 b.cf | cf-cat --csv --columns dist_weight | sort -u'
    has "2"
}

@test "what is no access, and other columns, pass" {
    printf 'time,pid,op,start,end,label\n0,1,map,0x0,0x2000,x\n' >m.csv
    printf 'time,pid,op,size,addr,pc,function\n1,1,load,8,0x40,0x99,f\n' >a.csv
    stream a.cf --with map=m.csv a.csv
    run -0 bash -c 'cf-distance a.cf | cf-cat --csv'
    is "time,pid,op,size,addr,pc,function,dist
1,1,load,8,0x40,0x99,f,$COLD"
    run -0 bash -c 'cf-distance a.cf | cf-cat --csv --table map'
    has "0,1,map,0x0,0x2000"
}

@test "columns that lack are told" {
    printf 'time,addr\n1,0x40\n2,0x44\n' >b.csv
    stream b.cf b.csv
    run -0 dist b.cf
    is "$COLD
0"
    run -0 dist b.cf --for unified
    is "$COLD
0"
    run -1 --separate-stderr cf-distance --for fetches b.cf
    has "op" "$stderr"
    run -1 --separate-stderr cf-distance --per thread b.cf
    has "tid" "$stderr"
    run -1 --separate-stderr cf-distance --per process b.cf
    has "pid" "$stderr"
}

@test "a rate of 1: every access stands for itself" {
    random 3000 4 >a.csv
    stream a.cf a.csv
    cf-distance -q a.cf | cf-mrc -q >want
    cf-distance -q --rate 1 a.cf | cf-mrc -q >got
    cut -d, -f1-5 want >want5
    cut -d, -f1-5 got | diff want5 - >&2
    for jobs in 1 2; do
        run -0 bash -c "cf-distance -q -j $jobs --rate 1 a.cf | cf-cat --csv --columns dist_weight | sort | uniq -c"
        is "   3000 1
      1 dist_weight"
    done
}

# as_alone FILE OPTION...: by three threads comes what comes by one, to a pipe and to a file.
as_alone() {
    local file=$1
    shift
    cf-distance -q "$@" "$file" | cat >alone.cf
    cf-distance -q --jobs 3 "$@" "$file" | cmp alone.cf - >&2
    cf-distance -q -j2 "$@" - <"$file" | cmp <(cf-distance -q "$@" - <"$file") - >&2
    cf-distance -q "$@" -o one.cf "$file"
    cf-distance -q -j 2 "$@" -o two.cf "$file"
    same <(cf-cat two.cf) <(cf-cat one.cf | sed 's/-o one.cf/-o two.cf/') >&2 || {
        cf-cat --csv one.cf | cmp - <(cf-cat --csv two.cf) >&2
    }
}

@test "-j: byte for byte what one thread gives, in all variants" {
    local options seed
    # each header ends a part; rows of processes and threads in turns; empty parts
    for seed in 1 2 3 4; do
        random 2000 $seed >$seed.csv
        stream $seed.cf $seed.csv
    done
    head -n 1 1.csv >0.csv
    stream 0.cf 0.csv
    cat 1.cf 2.cf 0.cf 3.cf 4.cf 1.cf >a.cf
    for options in "" "--sets 16" "--sets 7 --bound 5" "--bound 30" "--per process" "--per thread" \
        "--per thread --sets 4" "--for unified" "--for fetches" "--rate 0.3" "--rate 0.5 --per thread" \
        "--rate 0.4 --bound 50" "--line-size 16 --columns addr" "--columns ''"; do
        # shellcheck disable=SC2086
        eval as_alone a.cf $options
    done
}

@test "-j: real traces, of several parts in one segment" {
    local options some=("" "--bound 300")
    # partial.bats has each option with parts that are small
    [[ -z ${CF_LONG-} ]] || some+=("--sets 64" "--rate 0.1" "--for unified")
    for options in "${some[@]}"; do
        # shellcheck disable=SC2086
        as_alone "$ROOT/samples/sqlite.cf" $options
    done
    as_alone "$ROOT/samples/threads.cf" --per thread
    run -0 --separate-stderr bash -c "cf-distance -q --stats -j 2 '$ROOT/samples/sqlite.cf' 2>&1 >/dev/null | tail -n 1"
    has "3 parts; their joins took"
}

@test "-j: --stats counts what one thread counts" {
    cat "$ROOT/samples/threads.cf" "$ROOT/samples/threads.cf" >a.cf
    for options in "" "--rate 0.3" "--per thread"; do
        # shellcheck disable=SC2086
        cf-distance -q --stats $options a.cf 2>&1 >/dev/null | sed 's/ lines kept.*/ lines kept/' >want
        # shellcheck disable=SC2086
        cf-distance -q --stats -j 2 $options a.cf 2>&1 >/dev/null | sed 's/ lines kept.*/ lines kept/' |
            grep -v 'parts; their joins' | diff want - >&2
    done
}

@test "-j: the chain does not have it, and keeps what else was said" {
    local said
    for said in "-j 2" "-j2" "--jobs=2" "--jobs 2"; do
        # shellcheck disable=SC2086
        cf-distance -q --sets 4 $said --bound 9 "$ROOT/samples/threads.cf" | cat >b.cf
        strings b.cf | grep -q '"cf-distance -q --sets 4 --bound 9 [^ ]*threads.cf"$'
    done
    cp "$ROOT/samples/threads.cf" "a -j 3 b.cf"
    cf-distance -q "a -j 3 b.cf" -j 2 | strings | grep -q "\"cf-distance -q 'a -j 3 b.cf'\"$"
}

@test "-j: a live pipe is not held back" {
    mkfifo in
    cf-distance -q -j 2 --columns '' - <in >out.cf &
    exec 5>in
    cf-cat "$ROOT/samples/threads.cf" | head -c 60000 >&5
    for _ in {1..100}; do
        [[ $(stat -c %s out.cf) -gt 1000 ]] && break
        sleep 0.05
    done
    [[ $(stat -c %s out.cf) -gt 1000 ]]
    exec 5>&-
    wait $! || [[ $? == 1 ]]
}

@test "-j: damage, what lacks, and what cannot be written, as by one thread" {
    head -c 300000 "$ROOT/samples/sqlite.cf" >cut.cf
    run -1 --separate-stderr cf-distance -q -o one.cf cut.cf
    local said=$stderr
    run -1 --separate-stderr cf-distance -q -j 2 -o two.cf cut.cf
    [[ $stderr == "$said" ]]
    cf-cat --csv one.cf | cmp - <(cf-cat --csv two.cf)
    printf 'time,addr\n1,0x40\n' >b.csv
    stream b.cf b.csv
    run -1 --separate-stderr cf-distance -j 2 --per thread b.cf
    has "tid" "$stderr"
    run -3 --separate-stderr bash -c "cf-distance -q -j 2 '$ROOT/samples/threads.cf' >/dev/full"
    has "No space left" "$stderr"
    run -2 --separate-stderr cf-distance -j 2 --samples 100 b.cf
    has "--samples does not go with --jobs" "$stderr"
    run -2 --separate-stderr cf-distance -j 0 b.cf
    run -2 --separate-stderr cf-distance -j 257 b.cf
}

@test "accesses without pid beside others that have it: a warning by each program that keeps processes apart" {
    local program said="some accesses have no column pid: they are taken for those of the process that comes first"
    stream no.cf <<<$'op,addr,size\nload,0x1000,8'
    stream pid.cf <<<$'op,addr,size,pid\nload,0x1000,8,7'
    for program in cf-distance 'cf-distance -j 2' cf-sweep 'cf-cache --summary -m raspberry-pi-4' \
        'cf-cache --summary -m raspberry-pi-4 --cores 1 -j 2' 'cf-classify -m raspberry-pi-4'; do
        run -0 bash -c "$program no.cf no.cf pid.cf 2>&1 >/dev/null | grep -c '$said'"
        is 1
        run -0 bash -c "{ $program no.cf no.cf; $program pid.cf pid.cf; } 2>&1 >/dev/null"
        has_not 'column pid'
    done
    cf-cat -q no.cf pid.cf -o both.cf
    for program in 1 2; do
        cf-cat --part $program/2 both.cf | cf-distance --partial >part.$program 2>/dev/null
    done
    run -0 bash -c "cf-distance part.1 part.2 2>&1 >/dev/null"
    has "$said"
    printf 'line_size: 64\nlevels:\n  - {name: L1, size: 512, ways: 2}\n' >m.yaml
    for program in cf-cache cf-classify; do
        for part in 1 2; do
            cf-cat --part $part/2 both.cf | $program --summary -m ./m.yaml --partial >part.$part 2>err
            [[ ! -s err ]] || fail "$(<err)"
        done
        run -0 bash -c "$program --summary -m ./m.yaml part.1 part.2 2>&1 >/dev/null | grep -c '$said'"
        is 1
    done
}

@test "wrong usage" {
    local bad
    for bad in "--for x" "--line-size 48" "--line-size 2" "--line-size 128K" "--sets 0" "--sets x" \
        "--per cpu" "--bound 0" "--rate 0" "--rate 1.5" "--rate x" "--rate nan" "--samples 63" "--samples 2G" \
        "--rate 0.1 --sets 4"; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr cf-distance $bad /dev/null
        has "${bad%% *}" "$stderr"
    done
}

@test "memory does not grow with the trace, and little with its lines" {
    awk 'BEGIN { print "time,op,size,addr"; for (i = 0; i < 300000; i++) printf "%d,load,8,%d\n", i, i % 50000 * 64 }' >a.csv
    stream a.cf a.csv
    run -0 bash -c 'cf-distance --stats a.cf 2>&1 >/dev/null'
    has "300000 references to lines, 50000 first ones, 50000 lines kept"
    bytes=$(grep -o '[0-9.]* bytes each' <<<"$output")
    [[ ${bytes%%.*} -lt 32 ]]
    cat a.cf a.cf a.cf a.cf >b.cf
    run -0 bash -c 'cf-distance --stats b.cf 2>&1 >/dev/null'
    has "1200000 references to lines, 50000 first ones, 50000 lines kept, $bytes"
}
