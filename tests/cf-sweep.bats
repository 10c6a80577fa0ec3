# SPDX-License-Identifier: BSD-2-Clause
#
# cf-sweep: random accesses against a list for each set in awk, and traces against cf-cache.
load lib

setup_file() {
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    cd "$BATS_FILE_TMPDIR" || return 1
    # three processes; near, far, cyclic and strided accesses, some over two lines or many
    awk 'BEGIN {
        srand(9); split("load store ifetch load prefetch flush", op, " ")
        print "time,pid,op,size,addr"
        for (i = 0; i < 6000; i++) {
            k = int(i / 700) % 4
            if (k == 0) at += int(rand() * 40) - 16
            if (k == 1) at = int(rand() * rand() * 30000)
            if (k > 1) at = i * (k == 2 ? 64 : 512) % 20000
            if (at < 0) at = 0
            printf "%d,%d,%s,%d,%d\n", i, 100 + int(i / 50) % 3, op[1 + int(rand() * 6)],
                rand() < .02 ? 1000 : 2 ^ int(rand() * 5), at
        } }' >in.csv
    cf-capture csv -q in.csv >in.cf
    cf-cat in.cf -o in.packed.cf
    awk -F, -v OFS=, 'NR > 1 { $2 = 100 } 1' in.csv >one.csv
    cf-capture csv -q one.csv >one.cf
}

setup() {
    lib_setup
    D=$BATS_FILE_TMPDIR
}

# by_awk OPS LINE SETS WAYS [FILE]: "references,misses" of one cache; OPS is a regular expression
by_awk() {
    awk -F, -v line="$2" -v sets="$3" -v ways="$4" "NR > 1 && \$3 ~ /^($1)\$/ {
        if (!(\$2 in space)) space[\$2] = spaces++
        for (l = int(\$5 / line); l <= int((\$5 + \$4 - 1) / line); l++) {
            # the list of a set: lines with blanks around, the newest first
            key = \" \" space[\$2] \":\" l \" \"; s = l % sets; refs++
            at = index(list[s], key)
            if (!at) {
                misses++
                if (++held[s] > ways) { held[s]--; sub(/ [^ ]* \$/, \"\", list[s]) }
            } else
                list[s] = substr(list[s], 1, at - 1) substr(list[s], at + length(key))
            list[s] = key list[s]
        } } END { print refs \",\" misses }" "$D/${5:-in.csv}"
}

# point FILE LINE SETS WAYS: the same of cf-sweep's output
point() {
    awk -F, -v l="$2" -v s="$3" -v w="$4" '$1 == s && $2 == w && $4 == l { print $5 "," $6; n++ } END { exit n != 1 }' "$1"
}

@test "random accesses: as a list for each set" {
    local what ops
    for what in data fetches unified; do
        case $what in
        data) ops='load|store|prefetch' ;;
        fetches) ops='ifetch' ;;
        unified) ops='load|store|prefetch|ifetch' ;;
        esac
        cf-sweep --for $what --line-size 16,64,256 --ways 1,2,3,8,70 --min 1 "$D/in.cf" >got.csv
        cf-sweep --for $what --line-size 256,16,64 --ways 1,2,3,8,70 --min 1 "$D/in.packed.cf" | same got.csv -
        for geometry in "16 1 1" "16 1 8" "16 64 2" "64 1 70" "64 2 3" "64 16 8" "64 128 1" "256 4 2" "256 32 3"; do
            # shellcheck disable=SC2086
            [[ "$(point got.csv $geometry)" == "$(by_awk "$ops" $geometry)" ]] || fail "$what $geometry" \
                "$(point got.csv $geometry) is not $(by_awk "$ops" $geometry)"
        done
    done
}

@test "the columns" {
    run -0 bash -c "cf-sweep --ways 2 --sets 4 --min 1 '$D/in.cf'"
    [[ ${#lines[@]} == 2 && ${lines[0]} == sets,ways,size_bytes,line_size_bytes,references,misses,miss_ratio ]]
    awk -F, 'NR == 2 { exit !($1 == 4 && $2 == 2 && $3 == 512 && $4 == 64 && sprintf("%.9f", $6 / $5) == $7) }' <<<"$output"
}

@test "which caches: sizes, sets in a range or listed" {
    run -0 bash -c "cf-sweep --min 4K --max 8K --ways 1,4 '$D/in.cf' | cut -d, -f1-3"
    is "sets,ways,size_bytes
64,1,4096
128,1,8192
16,4,4096
32,4,8192"
    run -0 bash -c "cf-sweep --min 1 --sets 2-5 --ways 1,2 '$D/in.cf' | cut -d, -f1-3"
    is "sets,ways,size_bytes
2,1,128
4,1,256
2,2,256
4,2,512"
    run -0 bash -c "cf-sweep --min 1 --sets 48,3 --ways 2 '$D/in.cf'"
    [[ ${lines[1]} == 3,2,384,64,* && ${lines[2]} == 48,2,6144,64,* && ${#lines[@]} == 3 ]]
    # of one process: what tells processes apart lies in bits that such numbers of sets mix in
    for sets in 3 48; do
        cf-sweep --min 1 --sets 48,3 --ways 2 "$D/one.cf" >got
        [[ "$(point got 64 $sets 2)" == "$(by_awk 'load|store|prefetch' 64 $sets 2 one.csv)" ]]
    done
}

# agree TRACE WHAT KIND SETS WAYS LINE: one level of cf-cache counts the same references and misses
agree() {
    local summary
    printf 'name: one\nline_size: %d\nlevels:\n  - {name: L1, kind: %s, size: %d, ways: %d}\n' \
        "$6" "$3" $(($4 * $5 * $6)) "$5" >one.yaml
    cf-cache -m ./one.yaml --cores 1 --summary "$1" >summary.csv
    summary=$(column line_accesses summary.csv | head -n 1),$(column misses summary.csv | head -n 1)
    cf-sweep --for "$2" --line-size "$6" --sets "$4" --ways "$5" --min 1 --max 1G "$1" >got
    [[ "$(point got "$6" "$4" "$5")" == "$summary" ]] || fail "$*" "cf-cache $summary, cf-sweep $(tail -n 1 got)"
}

@test "traces: as cf-cache with that one level" {
    local s
    for s in sort gzip threads; do
        cf-cat --slice 0-300000 "$ROOT/samples/$s.cf" >s.cf
        agree s.cf data data 64 8 64
        agree s.cf data data 1 16 64
        agree s.cf data data 128 1 32
        agree s.cf data data 48 12 64
    done
    cf-cat --slice 0-300000 "$ROOT/samples/cc1.cf" >s.cf
    agree s.cf data data 64 8 64
    agree s.cf fetches instruction 64 4 64
    agree s.cf unified unified 256 16 128
}

@test "the top of the address space, sizes of 0 and of a megabyte" {
    printf 'time,op,size,addr\n1,load,8,0xfffffffffffffffc\n2,load,0,0xffffffffffffffff\n3,load,1048576,0x3f\n' | stream a.cf
    run -0 cf-sweep --sets 1 --ways 1 --min 1 a.cf
    # one line, the same, and 16,385 of the third
    [[ ${lines[1]} == 1,1,64,64,16387,16386,0.999938976 ]]
}

@test "nothing to count" {
    printf 'time,op,addr\n1,ifetch,1\n' | stream a.cf
    run -0 cf-sweep --sets 1 --ways 1 --min 1 a.cf
    is "sets,ways,size_bytes,line_size_bytes,references,misses,miss_ratio
1,1,64,64,0,0,"
}

@test "wrong options" {
    run -2 cf-sweep --for everything </dev/null
    run -2 cf-sweep --line-size 48 </dev/null
    run -2 cf-sweep --line-size 2 </dev/null
    run -2 cf-sweep --ways 0 </dev/null
    run -2 cf-sweep --ways 1025 </dev/null
    run -2 cf-sweep --ways , </dev/null
    run -2 cf-sweep --sets 0 </dev/null
    # the lists of the largest caches would take 6 GB
    run -2 --separate-stderr cf-sweep --max 18446744073709551615 </dev/null
    is ""
    has "take more than --memory" "$stderr"
    run -2 cf-sweep --line-size 64,128 --memory 767 --ways 1 --sets 2 --min 1 </dev/null
    run -0 cf-sweep --line-size 64,128 --memory 768 --ways 1 --sets 2 --min 1 "$D/in.cf"
    run -2 --separate-stderr cf-sweep --min 2K --max 1K </dev/null
    has "no cache" "$stderr"
}

@test "--picture and --html: a line for each number of ways and line size" {
    awk 'BEGIN { print "time,addr"; for (i = 0; i < 3000; i++) printf "%d,%d\n", i, i * 64 % 12800 }' | stream walk.cf
    cf-sweep --ways 1,2 --line-size 32,64 --min 1K --max 32K --picture s.png --html s.html walk.cf >s.csv
    [[ $(file -b s.png) == 'PNG image data, 900 x 540, 8-bit/color RGB, non-interlaced' ]]
    grep -q '"size":\[1024,2048,4096,8192,16384,32768\]' s.html
    grep -q '"name":"1 way, lines of 32"' s.html
    grep -q '"name":"2 ways, lines of 64"' s.html
    # line size 64, two ways: the last line
    grep -q "\[$(awk -F, '$2 == 2 && $4 == 64 { print $6 }' s.csv | paste -sd,)\]\]}" s.html
    # a size that a line does not have is none of its points
    cf-sweep --ways 1,3 --min 1K --max 4K --html gap.html walk.cf >/dev/null
    grep -qE '"lines":\[\[[0-9]+,null,[0-9]+,' gap.html
    # and breaks no line: of 3 ways there are 1536 and 3072 bytes; alone it is a dot
    cf-sweep --ways 1,3,64 --min 1K --max 4K --picture gap.svg walk.cf >/dev/null
    same - <(sed -n 's/.*stroke-width:\([^;]*\);stroke-linecap:round.* d="\([^"]*\) ".*/\1 \2/p' gap.svg | sed -E 's/ [0-9.]+ [0-9.]+//g') <<'END'
6 M L
1.6 M L
1.6 M L
END
    cf-sweep --ways 1,2 --line-size 32,64 --min 1K --max 32K --picture - walk.cf | cmp - s.png
}

@test "--picture and --html: the summary says of what accesses the misses are, where they are not data alone" {
    summary() { cf-sweep -q --min 1K --max 4K "$@" --html page.html trace.cf >/dev/null && grep -o '"summary":"[^"]*"' page.html; }
    awk 'BEGIN { print "time,addr,op,size"; for (i = 0; i < 3000; i++) printf "%d,%d,%s,8\n", i, i * 64 % 12800, i % 9 ? "load" : "ifetch" }' | stream trace.cf
    run -0 summary
    is '"summary":"LRU caches of lines of 64 bytes"'
    run -0 summary --for fetches
    is '"summary":"LRU caches of lines of 64 bytes; accesses: fetches"'
    run -0 summary --for unified --line-size 32,64
    is '"summary":"LRU caches; accesses: unified"'
}
