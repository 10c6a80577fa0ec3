# SPDX-License-Identifier: BSD-2-Clause
#
# Partial results: what the same program makes of those of all parts is what it makes of the whole, and
# what does not go together is refused; and processes that share a file.
# Takes long: thousands of runs.
load lib

# whole_parts FILE COMMAND...: by 1, 2, 3, 7 and 64 parts, as of the whole
whole_parts() {
    local file=$1 n
    shift
    "$@" "$file" >all.csv 2>all.err || fail "$*"
    for n in 1 2 3 7 64; do
        parts $n "$file" "$@"
        # in any order
        "$@" $(seq -f p.%g.cf $n -1 1) >joined.csv 2>joined.err || fail "joining $n: $*"
        same all.csv joined.csv
        same all.err joined.err
    done
}

# three FILE COMMAND...: by three processes, as of the whole
three() {
    local file=$1
    shift
    "$@" -j 3 "$file" >joined.csv 2>joined.err || fail "-j 3: $*"
    same all.csv joined.csv
    same all.err joined.err
}

# whole FILE COMMAND...: and by three processes
whole() {
    whole_parts "$@"
    three "$@"
}

# agrees FILE COMMAND...: by some numbers of parts, which change from call to call, as of the whole; the
# exit status, too
agrees() {
    local file=$1 n status=0
    shift
    "$@" "$file" >all.csv 2>all.err || status=$?
    turn=$((${turn:-0} + 1))
    for n in $((1 + turn % 7)) $((2 + turn % 3)); do
        parts $n "$file" "$@"
        local joined=0
        "$@" $(seq -f p.%g.cf $n -1 1) >joined.csv 2>joined.err || joined=$?
        same all.csv joined.csv
        same all.err joined.err
        [[ $joined -eq $status ]] || fail "status $joined of $n parts, and $status of the whole: $*"
    done
}

# by_all FILE COMMAND...: and by three processes
by_all() {
    agrees "$@"
    three "$@"
}

@test "cf-rank: every key and value, of parts and by processes" {
    local by
    make_parts t.cf 11 2 12
    for by in function page region object site source symbol thread process cache-line address op class \
        hit stack function,page,object,thread; do
        by_all t.cf cf-rank --csv --by $by --value misses,ratio,cost,bytes,loads,fetches,l1-misses,conflict
    done
    by_all t.cf cf-rank --csv --by set -m raspberry-pi-4
    by_all t.cf cf-rank --csv --by object --cover=50,90
    by_all t.cf cf-rank --csv --by page --dist 100 --value misses,hits
    by_all t.cf cf-rank --csv --by function --class conflict --value misses
    whole t.cf cf-rank --csv --by object
    [[ $(wc -l <all.csv) -gt 10 ]]
}

@test "cf-histogram: every option, of parts" {
    local seed file
    for seed in $(few 23 "21 22 23"); do
        make_parts t.cf $seed $((seed % 3 + 1)) 12
        make_parts s.cf $seed 2 12 sampled
        for file in t.cf s.cf; do
            agrees $file cf-histogram --csv
            agrees $file cf-histogram --by op --json
            agrees $file cf-histogram --bins exact --weight none --by function
            agrees $file cf-histogram --bins $((1 + seed % 5)) --weight cost --term
            agrees $file cf-histogram --bins 100 --by pid
        done
        agrees t.cf cf-histogram --column cost
        agrees t.cf cf-histogram --column class --by hit --weight cost
        agrees t.cf cf-histogram --column function --by page --weight size --json
        agrees t.cf cf-histogram --column time --bins 9
        agrees t.cf cf-histogram --column addr --bins exact
        agrees t.cf cf-histogram --table object --column bytes --by op
        agrees t.cf cf-histogram --table map --column label
        agrees t.cf cf-histogram --table task --column op
        agrees t.cf cf-histogram --table lost --column count --bins 3
        agrees t.cf cf-histogram --table unplaced --column op
    done
    whole_parts t.cf cf-histogram --by site
    [[ $(wc -l <all.csv) -gt 50 ]]
}

@test "cf-heatmap: every option, of parts and by processes" {
    local seed
    for seed in $(few 32 "31 32"); do
        make_parts t.cf $seed $((seed % 3 + 1)) 12
        agrees t.cf cf-heatmap
        by_all t.cf cf-heatmap --bins $seed --value misses --json
        agrees t.cf cf-heatmap --bins 7 --value cost --all
        agrees t.cf cf-heatmap --bin-width 100 --value bytes --region '*[1-4]'
        by_all t.cf cf-heatmap --time 100-900 --value loads --term
        agrees t.cf cf-heatmap --time 1000- --value stores
        agrees t.cf cf-heatmap --top 3 --op load,flush -w 1000
        # snapshots, and both; of two streams, whose numbers are the same
        make_parts a.cf $seed $((seed % 3 + 1)) 12 all
        cf-cache -q -m raspberry-pi-4 --snapshot-every 500 a.cf -o l.cf
        by_all l.cf cf-heatmap --table line
        agrees l.cf cf-heatmap --table line --level 2 --region 'a*'
        agrees l.cf cf-heatmap --table access
        agrees l.cf cf-heatmap
    done
    whole t.cf cf-heatmap --csv
    [[ $(wc -l <all.csv) -gt 500 ]]
    # parts of the time are those of the whole
    same <(cf-heatmap -q --time 20%-40% t.cf) <(cf-heatmap -q -j 3 --time 20%-40% t.cf)
    # a picture of the parts
    parts 3 t.cf cf-heatmap
    cf-heatmap -q --picture whole.png t.cf
    cf-heatmap -q --picture joined.png p.1.cf p.2.cf p.3.cf
    cmp whole.png joined.png
    run -2 cf-heatmap --html page.html p.1.cf p.2.cf p.3.cf
    has "--html: a page names functions, which partial results do not have"
    run -2 cf-heatmap -j 2 --html page.html t.cf
    run -2 cf-heatmap --partial --html page.html t.cf
    run -2 cf-heatmap --partial --picture map.png t.cf
    run -2 cf-heatmap --partial -j 2 t.cf
}

@test "cf-heatmap: what one run says and exits with, the joined parts do, too" {
    # nothing says what missed, and half has no address
    printf 'time,addr\n1,4096\n5,8192\n' | stream a.packed.cf
    printf 'time,addr,region\n7,4096,heap\n' | cf-capture csv -q | cf-cat --columns time,region -o b.packed.cf
    cat a.packed.cf b.packed.cf >ab.cf
    local options
    for options in '--value misses' ''; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr cf-heatmap $options ab.cf
        echo "$output" >all.csv
        echo "$stderr" >all.err
        # shellcheck disable=SC2086 # words
        parts 2 ab.cf cf-heatmap $options
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr cf-heatmap $options p.1.cf p.2.cf
        same all.csv <(echo "$output")
        same all.err <(echo "$stderr")
    done
}

@test "cf-mrc: every option, of parts; sampled distances, bounds and sets, too" {
    local seed file
    for seed in $(few 41 "41 42"); do
        make_parts t.cf $seed $((seed % 3 + 1)) 12
        make_parts s.cf $seed 2 12 sampled
        make_parts a.cf $seed $((seed % 3 + 1)) 12 all
        cf-distance -q --bound 100 a.cf -o bound.cf
        cf-distance -q --rate 0.3 a.cf -o rate.cf
        cf-distance -q --sets 8 --line-size 32 a.cf -o sets.cf
        for file in t.cf s.cf bound.cf rate.cf; do
            agrees $file cf-mrc --csv
            agrees $file cf-mrc --by op --points 2 --json
            agrees $file cf-mrc --by function --at 1K,8K
            agrees $file cf-mrc --by pid --max 16K
            agrees $file cf-mrc --line-size 32 --sets 2 --term
        done
        agrees sets.cf cf-mrc
        # where some distances are sampled, and others not
        cat t.cf s.cf >both.cf
        agrees both.cf cf-mrc --by region
    done
    cf-distance -q --rate 0.3 a.cf -o rate.cf
    whole_parts rate.cf cf-mrc
    has miss_ratio_error "$(head -n 1 all.csv)"
    cf-mrc -q --picture whole.png rate.cf
    parts 3 rate.cf cf-mrc
    cf-mrc -q --picture joined.png p.1.cf p.2.cf p.3.cf
    cmp whole.png joined.png
    run -2 cf-mrc --partial --picture x.png rate.cf
    # distances of parts alone are those of no cache
    run -1 --separate-stderr bash -c "set -o pipefail; cf-cat --part 2/3 a.cf | cf-distance | cf-mrc --partial | cat >p.cf"
    has "cf-distance was run on the part alone" "$stderr"
    # the curves of a trace by parts that cf-distance joined
    cf-distance -q -j 2 a.cf -o dist.cf
    parts 3 dist.cf cf-mrc
    same <(cf-distance -q a.cf | cf-mrc) <(cf-mrc p.1.cf p.2.cf p.3.cf)
}

# distances N FILE OPTION...: the parts' partial results of cf-distance joined, as of the whole, byte for
# byte; joined.cf and all.cf are files, and joined.raw and all.raw came through pipes
distances() {
    local n=$1 file=$2 i status=0 joined=0
    shift 2
    parts $n "$file" cf-distance -q "$@"
    seq -f p.%g.cf "$n" | xargs cat >p.cf
    cf-distance -q "$@" <"$file" >all.cf || status=$?
    cf-distance -q "$@" <p.cf >joined.cf || joined=$?
    cmp all.cf joined.cf || fail "$n parts: $*"
    [[ $joined -eq $status ]] || fail "status $joined of $n parts, and $status of the whole: $*"
    cf-distance -q "$@" <"$file" | cat >all.raw || true
    cf-distance -q "$@" <p.cf | cat >joined.raw || true
    cmp all.raw joined.raw || fail "$n parts in a pipe: $*"
}

@test "a first frame that is more than the first part: that part is empty, and joins like any other" {
    { echo op,addr,size,time; seq -f 'load,%.0f,8,1' 64 64 12800; } | stream long.cf
    printf 'op,addr,size,time\nload,64,8,1\n' | stream short.cf
    cf-cat long.cf short.cf short.cf short.cf -o t.cf
    cf-cat --part 1/3 t.cf -o first.cf
    cf-cat --verify first.cf
    [[ $(cf-cat --info first.cf | grep -c 'number: 1, parts: 3, ') -eq 1 ]]
    whole t.cf cf-rank -q --by op
    whole t.cf cf-heatmap -q
    whole_parts t.cf cf-histogram --column size
    distances 3 t.cf
    echo '{line_size: 64, levels: [{name: L1, size: 1KiB, ways: 2}]}' >m.yaml
    in_parts 3 t.cf cf-cache -q -m ./m.yaml --cores 1 --summary
    in_parts 3 t.cf cf-classify -q -m ./m.yaml --cores 1 --summary
    whole_parts joined.cf cf-mrc -q
}

@test "cf-distance: the parts of random recordings, every option, byte for byte" {
    local seed options n
    for seed in $(few 71 "71 72 73"); do
        make_parts t.cf $seed $((seed % 3 + 1)) 12 all
        for options in "" "--bound 50" "--sets 4" "--per process" "--per thread" "--for unified" "--for fetches" \
            "--line-size 32" "--columns addr" "--columns time,pid --per thread --sets 3" "--rate 1" \
            "--per process --rate 0.5" "--per thread --bound 9 --for unified"; do
            turn=$((${turn:-0} + 1))
            for n in $((1 + turn % 3)) 7; do
                # shellcheck disable=SC2086 # words
                distances $n t.cf $options
            done
        done
        for n in 1 2 3 64; do distances $n t.cf; done
    done
    has $'18446744073709551615\n' "$(cf-cat -q --csv --columns dist joined.cf)"$'\n'
    [[ $(cf-cat --csv --columns dist joined.cf 2>/dev/null | sort -u | wc -l) -gt 100 ]]
}

# bats test_tags=slow
@test "cf-distance: the parts of real recordings, several segments, sampled and in sets" {
    local options
    cat "$ROOT/samples/threads.cf" "$ROOT/samples/sort.cf" "$ROOT/samples/threads.cf" >t.cf
    for options in "" "--per thread" "--for unified"; do
        # shellcheck disable=SC2086 # words
        distances 3 t.cf $options
    done
    cf-cat --slice 10%-30% "$ROOT/samples/sqlite.cf" -o one.cf
    for options in "--rate 0.1" "--sets 48" "--rate 0.01 --for unified"; do
        # shellcheck disable=SC2086 # words
        distances 3 one.cf $options
    done
    # distances of an earlier run are replaced
    cf-distance -q --rate 0.5 t.cf -o dist.cf
    distances 3 dist.cf
    # what was counted, and the error of samples
    # shellcheck disable=SC2086 # words
    for options in "" "--rate 0.1"; do
        distances 2 one.cf $options
        cf-distance -q --stats $options one.cf 2>&1 >none.cf | sed 's/ lines kept.*/ lines kept/' >want
        [[ -s want ]]
        cf-distance -q --stats $options p.cf 2>&1 >none.cf | sed 's/ lines kept.*/ lines kept/' | diff want -
    done
}

@test "cf-distance: parts and partial results in files, the same rows, and the curve" {
    local n table
    make_parts t.cf 74 2 12 all
    cf-distance -q t.cf -o all.cf
    for n in 1 2 3; do
        cf-cat --part $n/3 t.cf -o part.cf
        cf-distance -q --partial part.cf -o p.$n.cf
    done
    cf-distance -q p.1.cf p.2.cf p.3.cf -o joined.cf
    cf-cat --verify joined.cf
    for table in access string task map stack object switch name unplaced lost; do
        cf-cat --csv --table $table all.cf >want 2>err || true # it may have none
        cf-cat --csv --table $table joined.cf 2>err | same want -
    done
    cf-cat --csv --table stack joined.cf | grep -q ,
    same <(cf-mrc all.cf) <(cf-mrc joined.cf)
    parts 3 joined.cf cf-mrc
    same <(cf-mrc all.cf) <(cf-mrc p.1.cf p.2.cf p.3.cf)
    # the chain has neither the parts nor what was run on them
    cf-cat --info joined.cf >info
    has '"cf-distance -q p.1.cf p.2.cf p.3.cf -o joined.cf"' "$(<info)"
    run ! grep -e 'cf-cat --part\|--partial\|partial:\|part:' info
}

@test "cf-distance --partial: refused, what does not join, and what is no result yet" {
    make_parts t.cf 75 1 9 all
    make_parts u.cf 76 1 9 all
    parts 3 u.cf cf-distance
    for f in 1 2 3; do mv p.$f.cf u.$f.cf; done
    parts 2 t.cf cf-distance
    mv p.2.cf half.cf
    parts 3 t.cf cf-distance
    refuses() { # TEXT COMMAND...
        local text=$1
        shift
        run -1 --separate-stderr bash -c 'set -o pipefail; "$@" | cat >none.cf' bash "$@"
        has "$text" "$stderr"
        rm -f joined.cf
        run -1 --separate-stderr "$@" -o joined.cf
        [[ ! -e joined.cf ]]
    }
    refuses "u.2.cf: a part of another file than the partial results before" cf-distance p.1.cf u.2.cf p.3.cf
    refuses "half.cf: one of another number of parts" cf-distance p.1.cf half.cf
    refuses "p.2.cf: part 2 of 3, where part 1 is due: give the partial results of all parts, in their order" \
        cf-distance p.2.cf p.1.cf p.3.cf
    refuses "p.3.cf: part 3 of 3, where part 2 is due" cf-distance p.1.cf p.3.cf
    refuses "part 3 of 3 is missing: give the partial results of all" cf-distance p.1.cf p.2.cf
    refuses "p.2.cf: part 2 of 3, which came already: give each part once" cf-distance p.1.cf p.2.cf p.2.cf p.3.cf
    refuses "p.1.cf: a partial result with other options, 'for data; per all; line-size 64; sets 1' instead of" \
        cf-distance --sets 2 p.1.cf p.2.cf p.3.cf
    refuses "with other options, 'for data; per all; line-size 64; sets 1' instead of 'for data; per all; line-size 64; sets 1; samples 64'" \
        cf-distance --samples 64 p.1.cf p.2.cf p.3.cf
    refuses "u.cf: a recording behind a partial result" cf-distance p.1.cf u.cf
    refuses "p.1.cf: a partial result behind a recording" cf-distance u.cf p.1.cf
    refuses "p.1.cf: a partial result, of which --partial cannot make another" cf-distance --partial p.1.cf
    refuses "p.1.cf: a partial result behind a recording" cf-distance -j 2 u.cf p.1.cf
    cf-rank --partial t.cf >ranked.cf
    refuses "ranked.cf: a partial result of cf-rank: give it to that program" cf-distance ranked.cf
    for f in 8 3000; do
        head -c $(($(stat -c %s p.2.cf) - f)) p.2.cf >cut.cf
        refuses "not whole: make" cf-distance p.1.cf cut.cf p.3.cf
        head -c $(($(stat -c %s p.3.cf) - f)) p.3.cf >cut.cf
        refuses "a partial result is not whole: make it anew; there is no result" cf-distance p.1.cf p.2.cf cut.cf
    done
    cp p.2.cf bad.cf
    printf 'XXXXXXXX' | dd of=bad.cf bs=1 seek=$(($(stat -c %s bad.cf) / 2 & ~7)) conv=notrunc status=none
    refuses "" cf-distance p.1.cf bad.cf p.3.cf
    cf-cat p.1.cf p.2.cf p.3.cf -o packed.cf
    refuses "packed.cf: other programs have changed it: give it as cf-distance has written it" cf-distance packed.cf
    # to readers of distances it is no result
    for program in "cf-mrc" "cf-mrc --partial" "cf-histogram --column dist"; do
        run -1 --separate-stderr bash -c "set -o pipefail; cf-cat --part 2/3 t.cf | cf-distance --partial | $program | cat >none.cf"
        has "standard input: a partial result of cf-distance: give it to that program" "$stderr"
    done
    run -1 --separate-stderr bash -c "set -o pipefail; cf-distance --partial t.cf | cf-classify -m raspberry-pi-4 | cat >none.cf"
    has "a partial result: give it to cf-distance, which made it" "$stderr"
    # what was run on the part
    run -1 --separate-stderr bash -c "set -o pipefail; cf-cat --part 2/3 t.cf | cf-select --op load | cf-distance --partial | cat >none.cf"
    has "other programs were run on the part: give cf-distance what cf-cat --part gives" "$stderr"
    run -2 cf-distance --partial --samples 100 t.cf
    has "--partial does not go with --samples: its rate depends on all parts before"
    run -2 cf-distance --partial -j 2 t.cf
    has "--partial does not go with --jobs: take more parts"
}

@test "cf-distance: refused, where results depend on the order of processes, which a part alone does not know" {
    local options
    local t
    printf 'time,pid,addr\n1,7,4096\n2,8,4096\n3,7,4096\n' | stream a.packed.cf
    printf 'time,pid,addr,size\n4,8,4096,8\n5,7,8192,8\n6,8,8192,8\n' | stream b.packed.cf
    printf 'time,addr,cpu\n7,4096,1\n8,12288,1\n9,4096,1\n' | stream none.packed.cf
    cat a.packed.cf b.packed.cf >t.cf
    distances 2 t.cf
    is_column() { same <(printf '%s\n' dist "$@") <(cf-cat -q --csv --columns dist joined.cf); }
    is_column 18446744073709551615 18446744073709551615 1 1 18446744073709551615 18446744073709551615
    distances 2 t.cf --sets 4
    distances 2 t.cf --per process --sets 3
    distances 2 t.cf --per process --rate 0.5
    rm joined.cf
    for options in "--sets 3" "--rate 0.5"; do
        # shellcheck disable=SC2086 # words
        parts 2 t.cf cf-distance $options
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr cf-distance $options p.1.cf p.2.cf -o joined.cf
        has "p.2.cf: process 8 is not the same in the order of the part's processes as in that of the whole, on which s" "$stderr"
        [[ ! -e joined.cf ]]
    done
    has "on which samples depend: run cf-distance on the whole (with -j), or with --per process" "$stderr"
    # rows without a process are in the space of the first
    cat a.packed.cf none.packed.cf >t.cf
    distances 2 t.cf
    is_column 18446744073709551615 18446744073709551615 1 0 18446744073709551615 1
    cat a.packed.cf none.packed.cf b.packed.cf >t.cf
    distances 3 t.cf
    for t in "none.packed.cf b.packed.cf" "b.packed.cf none.packed.cf"; do
        # shellcheck disable=SC2086 # words
        cat a.packed.cf a.packed.cf a.packed.cf a.packed.cf $t >t.cf
        parts 3 t.cf cf-distance
        run -1 --separate-stderr cf-distance p.1.cf p.2.cf p.3.cf -o none.cf
        has "on which lines of rows without pid depend" "$stderr"
    done
}

@test "cf-distance: refused, more processes than there are bits for, where addresses have those bits" {
    local j said="more than 2 processes, which lines of 4 bytes do not allow at such addresses: give --per process"
    printf 'time,pid,addr\n1,100,0x5000\n2,101,0x5000\n3,102,0x5000\n' | stream a.packed.cf
    printf 'time,pid,addr\n50,100,0x8000000000001000\n51,102,0x1000\n52,100,0x8000000000001000\n' | stream b.packed.cf
    cat a.packed.cf b.packed.cf >ab.cf
    # only the join knows that they are so many
    parts 2 ab.cf cf-distance -q --line-size 4
    run -1 --separate-stderr cf-distance -q --line-size 4 p.1.cf p.2.cf -o joined.cf
    has "p.2.cf: $said" "$stderr"
    [[ ! -e joined.cf ]]
    run -2 --separate-stderr bash -c "set -o pipefail; cf-distance --line-size 4 --partial ab.cf | cat >none.cf"
    has "--partial: $said" "$stderr"
    # of the whole it is said, by one thread and by several
    for j in 1 3; do
        run -0 --separate-stderr cf-distance -q --line-size 4 -j $j ab.cf -o whole.cf
        is ""
        has "distances may be wrong, lines of different processes be taken for one: $said" "$stderr"
    done
    distances 2 ab.cf
    distances 2 ab.cf --line-size 4 --per process
    # user space and a kernel are far from each other
    for j in $(seq 100); do
        printf '%s,%s,%s\n' "$j" "$j" 0x7ffffffff000 "$j" "$j" 0xffff800000000000 "$j" "$j" 0x40
    done | { echo time,pid,addr && cat; } | stream many.packed.cf
    cat many.packed.cf many.packed.cf >many.cf
    distances 2 many.cf
    run -0 --separate-stderr cf-distance -q many.cf -o whole.cf
    [[ ! $stderr ]]
}

@test "cf-distance: refused, rows of a partial result that no program writes" {
    local good='segment 1|row 3 7 0 0|row 1 0 1 1|row 1 1 2 1|accesses 3|row 2 0 1 1|row 2 0 2 1|row 5 3 3 0'
    local options='for data; per all; line-size 64; sets 1'
    made() { tr '|' '\n' <<<"$1" | make_partial cf-distance "${2:-$options}" >made.cf; }
    made "$good"
    cf-distance made.cf -o joined.cf
    same <(printf '%s\n' dist 18446744073709551615 18446744073709551615 0) <(cf-cat --csv --columns dist joined.cf)
    damaged() { # FROM TO: the good one with another text
        [[ $good == *"$1"* ]]
        made "${good/"$1"/"$2"}"
        run -1 --separate-stderr cf-distance made.cf -o none.cf
        has "${3:-made.cf: a partial result with rows that no program writes: damaged}" "$stderr"
        [[ ! -e none.cf ]]
    }
    damaged 'row 3 7 0 0|' ''                             # no such process
    damaged 'row 3 7 0 0' 'row 3 4294967296 0 0'          # a pid of more than 32 bits
    damaged 'row 1 0 1 1' 'row 1 0 1 2'                   # another process
    damaged 'row 2 0 1 1' 'row 2 0 1 99999999999'         # the same at the end
    damaged 'row 1 0 1 1' 'row 1 0 9223372036854775808 1' # a line of 64 bits
    damaged 'row 2 0 2 1|' ''                             # a line is missing in the order
    damaged 'row 5 3 3 0' 'row 5 4 3 0'                   # not as many accesses
    damaged 'row 5 3 3 0' 'row 6 3 3 0'                   # no such entry
    damaged 'row 5 3 3 0' 'row 4 32 0 1|row 5 3 3 0'      # no such group of samples
    damaged 'row 5 3 3 0' 'row 4 0 65 1|row 5 3 3 0'      # no such size of distances
    damaged '|row 5 3 3 0' ''                             # no end
    damaged 'row 5 3 3 0' 'row 5 3 3 0|accesses 1'        # accesses behind the end
    damaged 'row 5 3 3 0' 'row 5 3 3 0|row 3 8 0 0'       # and a row
    damaged 'accesses 3|row 2 0 1 1' 'row 2 0 1 1|accesses 3'
    damaged 'segment 1' 'segment 2'
    damaged 'row 5 3 3 0' 'segment 1|row 5 3 3 0'
    damaged 'accesses 3' 'accesses 1|accesses 2'
    damaged 'row 1 1 2 1|accesses 3' 'accesses 3|row 1 1 2 1|accesses 1'
    damaged 'segment 1' 'part 1 1|segment 1' "other programs have changed it" # no cf-cat in the chain
    made "${good/segment 1/segment 1|segment 2}"
    cf-distance made.cf -o joined.cf
    # a thread of no process
    made 'segment 1|row 3 7 8 0|row 1 0 1 1|accesses 1|row 2 0 1 1|row 5 1 1 0' "${options/all/thread}"
    cf-distance --per thread made.cf -o joined.cf
    made 'segment 1|row 3 7 8 0|row 1 0 1 0|accesses 1|row 2 0 1 1|row 5 1 1 0' "${options/all/thread}"
    run -1 cf-distance --per thread made.cf -o none.cf
}

@test "cf-distance --partial: of a recording that is cut off: what could be read, status 1 and a word" {
    make_parts t.cf 77 1 9 all
    head -c 20000 t.cf >short.cf
    cf-distance -q short.cf -o all.cf 2>said || [[ $? == 1 ]]
    run -1 bash -c "cf-distance -q --partial short.cf >p.cf"
    run -1 --separate-stderr cf-distance -q p.cf -o joined.cf
    has "what wrote it says that its own input was cut off" "$stderr"
    [[ $(cf-cat --csv all.cf 2>/dev/null | wc -l) -gt 100 ]]
    same <(cf-cat --csv all.cf 2>said) <(cf-cat --csv joined.cf 2>said)
    # records of another kind
    printf 'snapshot,addr\n1,4096\n2,8192\n' | stream l.packed.cf --table line
    distances 2 l.packed.cf
    # and nothing
    printf 'time,addr\n' | stream e.packed.cf
    distances 2 e.packed.cf
}

@test "cf-latency --summary: every option, of parts; not where a latency depends on the access before" {
    make_parts t.cf 51 2 12 all
    cf-cache -q -m raspberry-pi-4 t.cf -o hit.cf
    agrees hit.cf cf-latency -m raspberry-pi-4 --summary
    agrees hit.cf cf-latency -m raspberry-pi-4 --summary --json --latency L2.store=99
    agrees hit.cf cf-latency -m raspberry-pi-4 --summary --term --cores 2 --latency memory=300
    has memory "$(<all.csv)"
    # of unknown level: they are counted, and said
    printf 'time,addr,op,level,weight\n1,64,load,0,5\n2,64,load,1,2\n3,64,store,0,1\n4,64,load,2,18446744073709551615\n' >a.csv
    for row in 1 2 3; do stream a$row.packed.cf < <(head -n 1 a.csv && sed -n "$((row + 1))p" a.csv); done
    cat a1.packed.cf a2.packed.cf a3.packed.cf >a.cf
    agrees a.cf cf-latency -m raspberry-pi-4 --summary --level-column level
    has "2 accesses of unknown level or operation cost nothing" "$(<all.err)"
    run -2 cf-latency -m raspberry-pi-4 --partial hit.cf
    run -2 cf-latency -m raspberry-pi-4 --partial --summary -o x.cf hit.cf
    run -2 cf-latency -m raspberry-pi-4 --latency L1D.store_after_load=9 --partial --summary hit.cf
    has "depend on the access before"
    parts 2 hit.cf cf-latency -m raspberry-pi-4 --summary
    run -1 --separate-stderr cf-latency -m raspberry-pi-4 --summary --latency L2.load_after_store=99 p.1.cf p.2.cf
    is ""
    has "p.1.cf: a partial result with other options" "$stderr"
}

# sweeps N FILE OPTION...: the parts' partial results joined, as of the whole
sweeps() {
    local n=$1 file=$2 status=0 joined=0
    shift 2
    parts $n "$file" cf-sweep -q "$@"
    cf-sweep -q "$@" "$file" >all.csv 2>all.err || status=$?
    cf-sweep -q "$@" $(seq -f p.%g.cf $n) >joined.csv 2>joined.err || joined=$?
    same all.csv joined.csv || fail "$n parts: $*"
    same all.err joined.err
    [[ $joined -eq $status ]] || fail "status $joined of $n parts, and $status of the whole: $*"
}

@test "cf-sweep: the parts of random and real recordings, every option, byte for byte" {
    local seed options n
    for seed in $(few 81 "81 82 83"); do
        make_parts t.cf $seed $((seed % 3 + 1)) 12 all
        for options in "" "--min 64 --ways 1,2,3,32" "--for fetches --min 64" "--for unified --line-size 16,64,4096 --min 64" \
            "--line-size 8 --sets 1,2,64 --min 8 --max 64K"; do
            turn=$((${turn:-0} + 1))
            for n in $((1 + turn % 3)) 7; do
                # shellcheck disable=SC2086 # words
                sweeps $n t.cf $options
            done
        done
    done
    [[ $(cut -d, -f6 all.csv | sort -u | wc -l) -gt 7 ]]
    # a process at a time: its sets are the same in any numbers of them
    printf 'time,pid,addr\n1,7,4096\n2,7,8192\n3,7,4096\n' | stream a.packed.cf
    printf 'time,pid,addr,size\n4,8,4096,8\n5,8,8192,200\n6,8,4096,8\n' | stream b.packed.cf
    cat a.packed.cf b.packed.cf a.packed.cf >t.cf
    sweeps 3 t.cf --sets 1,3,5 --min 64
    sweeps 5 t.cf
    # accesses without pid in some parts alone
    printf 'time,addr\n7,4096\n8,64\n' | stream none.packed.cf
    cat a.packed.cf none.packed.cf >t.cf
    sweeps 2 t.cf
    has "some accesses have no column pid" "$(<joined.err)"
    # a process whose first accesses take no part
    printf 'time,pid,op,addr\n1,7,ifetch,64\n2,8,load,64\n' | stream a.packed.cf
    printf 'time,pid,op,addr,size\n3,7,load,64,8\n4,8,load,64,8\n5,7,load,128,8\n' | stream b.packed.cf
    cat a.packed.cf b.packed.cf >t.cf
    sweeps 2 t.cf --min 64
    sweeps 2 "$ROOT/samples/threads.cf"
    sweeps 3 "$ROOT/samples/sort.cf" --sets 3,48,64 --for unified
}

@test "cf-sweep --partial: refused, what a part alone does not say, and what does not join" {
    printf 'time,pid,addr\n1,7,4096\n2,8,4096\n3,9,64\n' | stream a.packed.cf
    printf 'time,addr,cpu\n7,4096,1\n' | stream none.packed.cf
    run -2 bash -c "cf-sweep --sets 3 --min 64 --partial a.packed.cf | cat >p.cf; exit \${PIPESTATUS[0]}"
    has "--partial: several processes, and numbers of sets that are no powers of two: run it on the whole"
    run -2 bash -c "cf-sweep --line-size 4 --partial a.packed.cf | cat >p.cf; exit \${PIPESTATUS[0]}"
    has "--partial: more than 2 processes, which lines of 4 bytes do not allow: run it on the whole"
    cat a.packed.cf none.packed.cf >t.cf
    run -1 bash -c "cf-sweep --partial t.cf | cat >p.cf; exit \${PIPESTATUS[0]}"
    has "--partial: some accesses say which process they are of, and some do not: run it on the whole"
    run -2 cf-sweep --partial --picture x.png a.packed.cf
    has "--partial does not go with --picture"
    parts 2 "$ROOT/samples/threads.cf" cf-sweep
    refuses() { # TEXT WORD...
        run -1 --separate-stderr cf-sweep "${@:2}"
        is ""
        has "$1" "$stderr"
    }
    refuses "p.1.cf: a partial result with other options" --ways 2 p.1.cf p.2.cf
    refuses "p.1.cf: a partial result with other options" --line-size 32 p.1.cf p.2.cf
    refuses "part 2 of 2 is missing" p.1.cf
    refuses "p.2.cf: part" p.2.cf p.1.cf
    refuses "p.1.cf: part 1 of 2, which came already" p.1.cf p.1.cf
    # the third process has the bit of its key in addresses
    printf 'time,pid,addr\n1,7,64\n' | stream a.packed.cf
    printf 'time,pid,addr\n2,8,64\n' | stream b.packed.cf
    printf 'time,pid,addr\n3,9,64\n4,9,0xffff888000000000\n' | stream c.packed.cf
    cat a.packed.cf b.packed.cf c.packed.cf >t.cf
    parts 3 t.cf cf-sweep --line-size 4 --sets 3,5 --min 4
    refuses "p.3.cf: processes whose addresses have the bits by which processes differ" --line-size 4 --sets 3,5 --min 4 p.1.cf p.2.cf p.3.cf
    sweeps 3 t.cf --line-size 4 --min 4
}

@test "cf-sweep: refused, rows of a partial result that no program writes" {
    local good='segment 1|row 1 7 0 0|row 4 0 0 64|row 4 64 0 64|row 5 0 0 64|row 5 64 0 64|row 6 0 0 0'
    made() { tr '|' '\n' <<<"$1" | make_partial cf-sweep 'for data; ways 1 2; line-size 64 sets 1 2' >made.cf; }
    sweep() { cf-sweep -q --ways 1,2 --sets 1,2 --min 64 made.cf; }
    made "$good"
    run -0 sweep
    is $'sets,ways,size_bytes,line_size_bytes,references,misses,miss_ratio\n'"$(printf '%s,64,0,2,\n' 1,1,64 2,1,128 1,2,128 2,2,256)"
    damaged() { # FROM TO: the good one with another text
        [[ $good == *"$1"* ]]
        made "${good/"$1"/"$2"}"
        run -1 --separate-stderr sweep
        has "made.cf: a partial result with rows that no program writes: damaged" "$stderr"
        is ""
    }
    damaged 'row 1 7 0 0|' 'row 1 7 0 0|row 4 0 1 64|'    # another process
    damaged 'row 1 7 0 0|' 'row 1 4294967296 0 0|'        # a pid of more than 32 bits
    damaged 'row 4 0 0 64' 'row 4 0 0 32'                 # another line size
    damaged 'row 5 0 0 64' 'row 5 0 99999999999 64'       # another process at the end
    damaged 'row 6 0 0 0' 'row 7 0 0 0'                   # no such entry
    damaged 'row 6 0 0 0' 'row 0 0 0 0'
    damaged '|row 6 0 0 0' ''                             # no end
    damaged 'row 6 0 0 0' 'row 6 0 0 0|row 1 8 0 0'       # a row behind it
}

@test "what is printed may differ from what the partial results were made with" {
    make_parts t.cf 12 1 9
    parts 3 t.cf cf-rank --by page --value accesses,cost
    same <(cf-rank -q --by page --value accesses,cost --sort cost --top 5 --json t.cf) \
        <(cf-rank -q --by page --value accesses,cost --sort cost --top 5 --json p.1.cf p.2.cf p.3.cf)
    # packed, and all in one file
    cf-cat p.1.cf p.2.cf p.3.cf -o all.cf
    cf-cat --verify all.cf
    same <(cf-rank -q --by page --value accesses,cost t.cf) <(cf-rank -q --by page --value accesses,cost all.cf)
}

@test "cf-rank --before: of the partial results of what came after" {
    parts 2 "$ROOT/samples/sort.cf" cf-rank --by op
    same <(cf-rank -q --by op --before "$ROOT/samples/sort.cf" --fail-above 0 "$ROOT/samples/sort.cf") \
        <(cf-rank -q --by op --before "$ROOT/samples/sort.cf" --fail-above 0 p.1.cf p.2.cf)
    run -0 cf-rank -q --by op --before "$ROOT/samples/sort.cf" --fail-above 0 p.1.cf p.2.cf
    has load
    # what counts without a key, as loads of stores alone
    printf 'time,op,addr\n1,store,64\n' | stream store.packed.cf
    parts 1 store.packed.cf cf-rank --by op --value loads
    run -0 cf-rank -q --by op --value loads --before store.packed.cf --fail-above 0 store.packed.cf
    run -0 cf-rank -q --by op --value loads --before store.packed.cf --fail-above 0 p.1.cf
}

@test "refused: what does not go together" {
    local f
    make_parts t.cf 13 1 9
    make_parts u.cf 14 1 9
    parts 3 u.cf cf-rank
    for f in 1 2 3; do mv p.$f.cf u.$f.cf; done
    parts 2 t.cf cf-rank
    mv p.2.cf half.cf
    parts 3 t.cf cf-rank
    run -1 cf-rank p.1.cf p.2.cf u.3.cf
    has "u.3.cf: a part of another file than the partial results before"
    # also of a recording that differs in addresses alone
    for f in 0x1000 0x8000; do
        printf 'time,addr,op\n1,%s,load\n5,0x2000,load\n' $f | stream 1.packed.cf
        printf 'time,addr,op\n7,%s,load\n9,0x2000,load\n' $f | stream 2.packed.cf
        cat 1.packed.cf 2.packed.cf >$f.cf
    done
    [[ $(stat -c %s 0x1000.cf) == $(stat -c %s 0x8000.cf) ]]
    cf-cat --part 1/2 0x1000.cf | cf-rank --by address --partial >one.cf
    cf-cat --part 2/2 0x8000.cf | cf-rank --by address --partial >two.cf
    run -1 cf-rank --by address one.cf two.cf
    has "two.cf: a part of another file than the partial results before"
    run -1 cf-rank p.1.cf p.2.cf half.cf
    has "half.cf: one of another number of parts than the partial results before"
    run -1 cf-rank p.1.cf p.3.cf
    is "cf-rank: part 2 of 3 is missing: give the partial results of all"
    run -1 cf-rank p.1.cf p.2.cf p.2.cf p.3.cf
    has "p.2.cf: part 2 of 3, which came already: give each part once"
    run -1 cf-rank --by page p.1.cf p.2.cf p.3.cf
    has "p.1.cf: a partial result with other options, 'by function"
    run -1 cf-rank p.1.cf t.cf
    has "t.cf: a recording behind a partial result: give only one of the two kinds"
    run -1 cf-rank t.cf p.1.cf
    has "p.1.cf: a partial result behind a recording"
    run -1 cf-rank --partial p.1.cf
    has "a partial result, of which --partial cannot make another"
    cf-cat --part 1/2 t.cf >first.cf
    cf-cat --part 2/2 t.cf >second.cf
    run -1 bash -c "set -o pipefail; cat first.cf second.cf | cf-rank --partial | cat >none.cf"
    has "another part than the inputs before: make a partial result of each"
    make_stream through x partial program cf-rank partial version 0.0.1 partial options x <p.1.cf >old.cf
    run -1 cf-rank old.cf
    has "a partial result of version 0.0.1, and this is version"
    make_stream through x partial program cf-other <p.1.cf >other.cf
    run -1 cf-rank other.cf
    has "a partial result of cf-other: give it to that program"
}

@test "a recording of the wrong kind is refused, but not a part that has other records alone" {
    local program
    printf 'time,addr\n1,4096\n5,8192\n' | stream a.packed.cf
    printf 'snapshot,addr\n1,4096\n2,8192\n' | stream l.packed.cf --table line
    cat l.packed.cf a.packed.cf l.packed.cf >both.cf
    for program in 'cf-rank --by address' 'cf-histogram --column addr' 'cf-heatmap --table access'; do
        # shellcheck disable=SC2086 # words
        agrees both.cf $program
        # shellcheck disable=SC2086 # words
        parts 2 l.packed.cf $program
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr $program p.1.cf p.2.cf
        is ""
        [[ $stderr == "${program%% *}: the inputs: there are records, but none of table access, which recordings of accesses have" ]]
    done
    run -1 --separate-stderr cf-rank -j 2 --by address l.packed.cf
    is ""
    has "none of table access" "$stderr"
}

@test "a column that no access has: nothing is printed, and nothing else is said to lack" {
    local program j i
    printf 'time,addr,op\n1,64,load\n' | stream a.packed.cf
    printf 'time,addr,op\n2,64,load\n' | stream b.packed.cf
    cat a.packed.cf b.packed.cf >ab.cf
    for program in 'cf-rank --by region' 'cf-histogram --column level' cf-mrc 'cf-latency -q -m raspberry-pi-4 --summary'; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr $program ab.cf
        is ""
        has "table access has no column" "$stderr"
        for j in 1 2 3; do # the third has no accesses at all
            for ((i = 1; i <= j; i++)); do
                # shellcheck disable=SC2086 # words
                cf-cat --part $i/$j ab.cf | $program --partial >p.$i.cf 2>>said || [[ $i -lt 3 && $? == 1 ]]
            done
            ((j > 1)) || continue # of the whole there is no result
            # shellcheck disable=SC2086 # words
            run -1 --separate-stderr $program $(seq -f p.%g.cf $j)
            is ""
            run ! grep "none of table" <<<"$stderr"
        done
    done
    for j in 2 3; do
        run -1 --separate-stderr cf-rank --csv -j $j --by region ab.cf
        is ""
        run ! grep "none of table" <<<"$stderr"
    done
    run -1 --separate-stderr cf-rank --csv -j 2 --by region a.packed.cf
    is ""
    # one of the parts has it, or another kind of records
    printf 'time,addr,op,region\n3,64,load,heap\n' | stream c.packed.cf
    cat a.packed.cf c.packed.cf >ac.cf
    run -1 --separate-stderr cf-rank --csv --by region ac.cf
    echo "$output" >all.csv
    run -1 --separate-stderr cf-rank --csv -j 2 --by region ac.cf
    same all.csv <(echo "$output")
    has 1,heap,1, "$output"
}

@test "refused by each program: what does not go together" {
    local command program text number=0 version
    version=$(cf-rank --version | sed 's/.* //;q')
    make_parts t.cf 61 1 9 all
    make_parts u.cf 62 1 9 all
    cf-cache -q -m raspberry-pi-4 t.cf -o t-hit.cf
    cf-cache -q -m raspberry-pi-4 u.cf -o u-hit.cf
    for command in cf-rank cf-histogram cf-heatmap cf-mrc 'cf-latency -m raspberry-pi-4 --summary'; do
        program=${command%% *}
        read -ra words <<<"$command"
        parts 3 u-hit.cf "${words[@]}"
        for number in 1 2 3; do mv p.$number.cf u.$number.cf; done
        parts 2 t-hit.cf "${words[@]}"
        mv p.2.cf half.cf
        parts 3 t-hit.cf "${words[@]}"
        refuses() { # TEXT FILE...
            text=$1
            shift
            run -1 --separate-stderr "${words[@]}" "$@"
            is ""
            has "$text" "$stderr"
        }
        refuses "u.3.cf: a part of another file than the partial results before" p.1.cf p.2.cf u.3.cf
        refuses "half.cf: one of another number of parts" p.1.cf p.2.cf half.cf
        refuses "part 2 of 3 is missing" p.1.cf p.3.cf
        refuses "part 3 of 3 is missing" p.1.cf p.2.cf
        refuses "p.2.cf: part 2 of 3, which came already" p.1.cf p.2.cf p.2.cf p.3.cf
        refuses "t.cf: a recording behind a partial result" p.1.cf t.cf
        refuses "p.1.cf: a partial result behind a recording" t-hit.cf p.1.cf
        make_stream through x partial program "$program" partial version 0.0.1 partial options x <p.1.cf >old.cf
        refuses "old.cf: a partial result of version 0.0.1, and this is version" old.cf
        make_stream through x partial program "$program" partial version 99.0.0 partial options x <p.1.cf >new.cf
        refuses "new.cf: a partial result of version 99.0.0, and this is version" new.cf
        make_stream through x partial program cf-other <p.1.cf >other.cf
        refuses "other.cf: a partial result of cf-other: give it to that program" other.cf
        make_stream through x partial program "$program" partial version "$version" partial options none <p.1.cf >options.cf
        refuses "options.cf: a partial result with other options, 'none' instead of" options.cf
        make_stream through x partial options none <p.1.cf >none.cf
        refuses "none.cf: a partial result with rows that no program writes: damaged" none.cf
        [[ $program != cf-rank ]] || {
            printf '%s\n' 'segment 0' 'row 5 1 2 3' |
                make_partial cf-rank "$(cf-cat --dump p.1.cf 2>/dev/null | sed -n 's/.*options: "\(.*\)"}*$/\1/p' | head -n 1)" >fewer.cf
            refuses "fewer.cf: a partial result without column 'key4', which this build of version $version has: make it anew" fewer.cf
        }
        head -c $(($(stat -c %s p.2.cf) - 8)) p.2.cf >cut.cf
        refuses "a partial result is not whole" p.1.cf cut.cf p.3.cf
        : >empty.cf
        refuses "empty.cf" p.1.cf empty.cf p.3.cf
        # the rows of another program's, under the name of this: refused, or counts of no meaning
        if [[ $program != cf-rank ]]; then
            text=$(cf-cat --dump p.1.cf 2>/dev/null | sed -n 's/.*options: "\(.*\)"}*$/\1/p' | head -n 1)
            [[ $text ]]
            make_stream through x partial program "$program" partial version "$version" partial options "$text" <ranked.cf >strange.cf
            run "${words[@]}" strange.cf
            [[ $status -le 1 ]]
        else
            cf-rank --partial t.cf >ranked.cf
        fi
    done
}

@test "refused: what was run on a part alone, and would have needed the rows before it" {
    local program
    make_parts t.cf 13 1 9 all
    for program in cf-distance 'cf-cache -m raspberry-pi-4' 'cf-classify -m raspberry-pi-4' 'cf-distance | cf-select --op load'; do
        cf-cat --part 2/3 t.cf >p.cf
        run -1 --separate-stderr bash -c "set -o pipefail; cat p.cf | $program | cf-rank --partial | cat >none.cf"
        has "standard input: ${program%% *} was run on the part alone, without the rows before it" "$stderr"
        # of the whole it is right
        bash -c "set -o pipefail; cf-cat --part 1/1 t.cf | $program 2>err | cf-rank -q --partial | cat >p.cf"
        same <(bash -c "$program t.cf | cf-rank -q" 2>err) <(cf-rank -q p.cf)
    done
    # times that contain the costs of all accesses before
    printf 'time,addr,op,hit\n1,64,load,memory\n5,64,load,1\n' | stream hit.packed.cf --clock instructions
    cf-latency -q -m raspberry-pi-4 --retime hit.packed.cf -o slow.cf
    for program in 'cf-histogram --column time' cf-heatmap; do
        run -1 --separate-stderr bash -c "set -o pipefail; cf-cat --part 2/2 hit.packed.cf | cf-latency -q -m raspberry-pi-4 --retime |
            cf-select --op load | $program --partial | cat >none.cf"
        has "standard input: cf-latency was run on the part alone" "$stderr"
        # shellcheck disable=SC2086 # words
        parts 2 slow.cf $program
    done
    cf-select --op load t.cf -o loads.cf
    cf-distance loads.cf -o loads-dist.cf
    parts 3 loads-dist.cf cf-rank
    cf-rank p.1.cf p.2.cf p.3.cf
}

# through COMMAND PIPE1 PIPE2: makes p.1.cf and p.2.cf of COMMAND, of the two parts of t.cf through the pipes
through() {
    bash -c "set -o pipefail; $2 | $1 --partial >p.1.cf" || fail "$*"
    bash -c "set -o pipefail; $3 | $1 --partial >p.2.cf" || fail "$*"
}

@test "refused: parts that did not go through the same programs" {
    local command
    make_parts t.cf 14 1 9
    differs() { # WHAT BEFORE: in the joined
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr bash -c "set -o pipefail; $command p.1.cf p.2.cf | cat >joined"
        is ""
        [[ ! -s joined || $command == cf-distance* ]] # which hands on part by part
        has "p.2.cf: what was run on this part is '$1', and not '$2' as on those before: run the same on all parts" "$stderr"
    }
    for command in 'cf-rank -q --by op' 'cf-histogram --column op' 'cf-heatmap -q'; do
        through "$command" 'cf-cat --part 1/2 t.cf | cf-select --op load' 'cf-cat --part 2/2 t.cf'
        differs '' 'cf-select --op load'
        through "$command" 'cf-cat --part 1/2 t.cf | cf-select --op load' 'cf-cat --part 2/2 t.cf | cf-select --op store'
        differs 'cf-select --op store' 'cf-select --op load'
        through "$command" 'cf-cat --part 1/2 t.cf | cf-select --invert --op load' 'cf-cat --part 2/2 t.cf | cf-select --op load'
        differs 'cf-select --op load' 'cf-select --invert --op load'
    done
    through "$command" 'cf-cat --part 1/2 t.cf | cf-select --op load | cf-select --pid 100' \
        'cf-cat --part 2/2 t.cf | cf-select --pid 100 | cf-select --op load'
    differs 'cf-select --pid 100 | cf-select --op load' 'cf-select --op load | cf-select --pid 100'
    # names of options that are shortened, and several letters in a word
    command='cf-rank -q --by op'
    through "$command" "cf-cat --par 1/2 t.cf | cf-select --re '*1'" "cf-cat --par 2/2 t.cf | cf-select --re '*2'"
    differs "cf-select --re '*2'" "cf-select --re '*1'"
    printf 'time,addr,op,hit\n1,64,load,memory\n' | stream a.packed.cf
    cat a.packed.cf a.packed.cf >hit.cf
    through "$command" 'cf-cat --part 1/2 hit.cf | cf-latency -qm tegra-x1' \
        'cf-cat --part 2/2 hit.cf | cf-latency -qm raspberry-pi-4'
    differs 'cf-latency -qm raspberry-pi-4' 'cf-latency -qm tegra-x1'
    # a machine that is described by other numbers, under the same name
    machine() { # CYCLES: of memory
        echo "{line_size: 64, levels: [{name: L1, size: 1KiB, ways: 2}], latency: {L1: 1, memory: $1}, latency_source: 'estimate: x'}" >m.yaml
    }
    for command in 'cf-rank -q --by op --value cost' 'cf-histogram --column cost' 'cf-heatmap -q --value cost'; do
        machine 9
        bash -c "set -o pipefail; cf-cat --part 1/2 hit.cf | cf-latency -q -m ./m.yaml | $command --partial >p.1.cf"
        machine 90
        bash -c "set -o pipefail; cf-cat --part 2/2 hit.cf | cf-latency -q -m ./m.yaml | $command --partial >p.2.cf"
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr $command p.1.cf p.2.cf
        is ""
        has "p.2.cf: this part states 'cost latency: L1.load=1, L1.store=1, L1.ifetch=1, memory.load=90, " "$stderr"
        has "and not 'cost latency: L1.load=1, L1.store=1, L1.ifetch=1, memory.load=9, " "$stderr"
    done
    # columns that only one part has left, of each program that joins
    for command in 'cf-distance -q' 'cf-rank -q --by op'; do
        through "$command" 'cf-cat --columns addr,pid,op,size --part 1/2 t.cf' 'cf-cat --columns addr,op --part 2/2 t.cf'
        differs 'cf-cat --columns addr,op' 'cf-cat --columns addr,pid,op,size'
    done
    # two recordings of one part
    cf-cat --part 1/2 t.cf -o first.cf
    cf-select --op load first.cf -o loads.cf
    run -1 --separate-stderr bash -c "set -o pipefail; cf-rank --partial --by op first.cf loads.cf | cat >none.cf"
    has "loads.cf: what was run on this part is 'cf-select --op load', and not '' as on those before" "$stderr"
}

@test "joined: parts that went through the same programs, by whatever names of files" {
    make_parts t.cf 14 2 9
    cp t.cf "same file.cf"
    cf-select --op load t.cf | cf-select --invert --region '*a b* | x' | cf-rank -q --by op >all.csv
    # a file, and a pipe; -q, and not; cf-cat that changes nothing
    cf-cat -q --part 1/2 t.cf -o first.cf
    cf-select -q --op load first.cf -o loads.cf
    through 'cf-rank -q --by op' "cf-select --region '*a b* | x' --invert loads.cf" \
        "cf-cat --part=2/2 'same file.cf' | cf-cat | cf-select --op load -q - | cf-cat | cf-select --region '*a b* | x' --invert"
    same all.csv <(cf-rank -q --by op p.1.cf p.2.cf)
    has "through: \"cf-select --op load | cf-select --region '*a b* | x' --invert\"" "$(cf-cat --info p.1.cf)"
    # columns that all parts have left
    cf-cat --columns addr,op t.cf | cf-distance -q -o all.cf
    through 'cf-distance -q' 'cf-cat --columns addr,op --part 1/2 t.cf' \
        "cf-cat -q --part 2/2 --columns addr,op 'same file.cf'"
    cf-distance -q p.1.cf p.2.cf -o joined.cf
    same <(cf-cat --csv all.cf) <(cf-cat --csv joined.cf)
}

@test "refused: a partial result given to a program that takes none" {
    make_parts t.cf 15 1 5
    parts 1 t.cf cf-rank
    some_host
    local program
    for program in cf-resolve cf-report cf-sets cf-merge 'cf-select --op load' cf-annotate; do
        run -1 --separate-stderr bash -c "$program p.1.cf | cat; exit \${PIPESTATUS[0]}"
        has "p.1.cf: byte 0: a partial result: give it to cf-rank, which made it" "$stderr"
    done
    # nor does the program that made it, where it does something else
    run -1 --separate-stderr cf-rank --before p.1.cf t.cf
    has "p.1.cf: byte 0: a partial result: give it to cf-rank, which made it, as FILE and with the same options" "$stderr"
}

@test "on a terminal: refused, and where a partial result goes to" {
    need script 'makes a terminal'
    local command
    make_parts t.cf 15 1 5
    for command in cf-rank cf-heatmap 'cf-latency -m raspberry-pi-4 --summary'; do
        run -2 timeout 600 script -qec "$command --partial t.cf" /dev/null </dev/null
        has "${command%% *}: the output is binary and standard output is a terminal: store the partial result by '> FILE'"
    done
}

@test "refused: partial results that were cut off, or damaged" {
    local bytes
    make_parts t.cf 16 1 9
    parts 2 t.cf cf-rank
    for bytes in 10 300 1000 $(($(stat -c %s p.2.cf) - 8)); do
        head -c $bytes p.2.cf >cut.cf
        run -1 --separate-stderr cf-rank p.1.cf cut.cf
        is ""
    done
}

@test "of a recording that is cut off or damaged: what could be read, status 1 and a word" {
    make_parts t.cf 16 1 9
    head -c 20000 t.cf >short.cf
    cf-rank -q short.cf >all.csv 2>said || [[ $? == 1 ]]
    [[ $(wc -l <all.csv) -gt 1 ]]
    run -1 bash -c "cf-rank -q --partial short.cf >short.p"
    run -1 --separate-stderr cf-rank short.p
    same all.csv <(echo "$output")
    has "what wrote it says that its own input was cut off" "$stderr"
}

# sleeps PID: it waits for something
sleeps() {
    [[ $(<"/proc/$1/stat") == *") S "* ]]
}

@test "-j: pipes and files without an index, by one process, with a warning" {
    make_parts t.cf 17 1 9
    cf-rank -q t.cf >all.csv
    run -0 --separate-stderr bash -c "cat t.cf | cf-rank -j 2"
    same all.csv <(echo "$output")
    has "--jobs: standard input: is no file" "$stderr"
    has "one process does it all" "$stderr"
    cat t.cf | cf-cat | cat >raw.cf
    same all.csv <(cf-rank -q -j 2 raw.cf)
    same all.csv <(cf-rank -q -j 2 <t.cf)
    run -1 cf-rank -j 2 nowhere.cf
    has "nowhere.cf: No such file or directory"
    run -1 cf-rank -j 2 .
    has ".: is a directory: name files"
    # a pipe with a name is opened once, so that what writes to it is heard
    mkfifo pipe
    for f in 1 2 3 4; do
        cat t.cf >pipe &
        eventually sleeps $!
        same all.csv <(timeout 60 cf-rank -q -j 2 pipe)
        wait $!
    done
    cat t.cf >pipe &
    eventually sleeps $!
    run -2 cf-cat --part 1/2 t.cf pipe
    has "--part: pipe: is no file"
    cf-cat -q --csv pipe | cmp - <(cf-cat -q --csv t.cf)
    wait $!
    # standard input is one input
    run -2 --separate-stderr cf-rank -j 2 - - <t.cf
    is ""
    has "standard input cannot be two inputs: name a FILE for one of them" "$stderr"
    run -2 cf-rank -j 2 --partial t.cf
    run -2 cf-rank -j 2 --before t.cf t.cf
    run -2 cf-rank -j 0 t.cf
    # what several processes have to say is said once
    run -1 --separate-stderr cf-rank -j 3 --value misses --by op "$ROOT/samples/threads.cf"
    is ""
    [[ $(grep -c "have none of the columns class, hit and level" <<<"$stderr") -eq 1 ]]
}

@test "-j: damage: what could be read, status 1 and a word, as by one process" {
    make_parts t.cf 18 1 40
    cp t.cf bad.cf
    printf 'XXXXXXXX' | dd of=bad.cf bs=1 seek=$(($(stat -c %s t.cf) / 2 & ~7)) conv=notrunc status=none
    cf-rank -q bad.cf >all.csv 2>said || [[ $? == 1 ]]
    [[ $(wc -l <all.csv) -gt 1 ]]
    for j in 2 3; do
        run -1 --separate-stderr cf-rank -q -j $j bad.cf
        same all.csv <(echo "$output")
        same said <(echo "$stderr")
    done
}

@test "-j: more damage than the first place of each part, and no wrong number of places" {
    local j size i
    make_parts t.cf 18 1 40
    size=$(stat -c %s t.cf)
    cp t.cf bad.cf
    for i in 3 5 6 7; do
        printf 'XXXXXXXX' | dd of=bad.cf bs=1 seek=$((size * i / 8 & ~7)) conv=notrunc status=none
    done
    run -1 --separate-stderr cf-rank -q bad.cf
    has "4 places of the input are damaged in all; what could be read was processed" "$stderr"
    for j in 2 4; do
        run -1 --separate-stderr cf-rank -q -j $j bad.cf
        [[ $(grep -c "^cf-rank: more places of the input are damaged; what could be read was processed" <<<"$stderr") == 1 ]]
        has_not "in all" "$stderr"
        [[ $(grep -c "bad.cf: byte" <<<"$stderr") == [1-4] ]]
    done
}

@test "-j: a process that is killed: an error, and no result" {
    need strace "to have a process killed while it writes"
    make_parts big.cf 19 1 300
    # the first process writes nothing but the message; leaks are not found under strace
    run -3 --separate-stderr env ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" strace -qq -f -o calls \
        -e trace=write,writev -e inject=write,writev:signal=KILL:when=2 cf-rank -j 2 --by address big.cf
    is ""
    [[ $stderr == *"--jobs: the process of part "[12]" of 2 was killed by signal 9: there is no result" ]]
    grep -q 'killed by SIGKILL' calls
}

@test "-j: a long recording has more parts than processes, of which so many run at a time" {
    need strace "to see which processes run"
    local i files=()
    for i in {1..52}; do # 208 million accesses
        files+=("$ROOT/samples/threads.cf")
    done
    cf-rank -q --by op "${files[@]}" >all.csv
    export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" # none are found under strace
    strace -f --seccomp-bpf -o calls -e trace=openat cf-rank -q -j 2 --by op "${files[@]}" \
        >some.csv 2>said
    same all.csv some.csv
    # those that read but the first process, which joins, and how many do at most
    [[ $(awk 'NR == 1 { first = $1 } $1 == first { next }
        /threads.cf/ && !($1 in reads) { reads[$1]; total++; most = ++now > most ? now : most }
        /exited with/ && $1 in reads { now-- }
        END { print total, most }' calls) == "4 2" ]]
    # one that is killed lets the next begin: nobody waits for ever
    run -3 --separate-stderr strace -qq -f -o calls -e trace=write,writev \
        -e inject=write,writev:signal=KILL:when=2 cf-rank -j 2 --by op "${files[@]}"
    is ""
    [[ $stderr == *"--jobs: the process of part "[1-4]" of 4 was killed by signal 9: there is no result" ]]
}
