# SPDX-License-Identifier: BSD-2-Clause
#
# cf-mrc: by hand, of random distances against awk, and of traces against cf-cache.
load lib

setup_file() {
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    cd "$BATS_FILE_TMPDIR" || return 1
    awk 'BEGIN {
        srand(6); split("load store ifetch", op, " ")
        print "time,pid,op,addr,weight,region,dist"
        for (i = 0; i < 30000; i++) {
            r = rand(); dist = int(2 ^ (rand() * 14))
            if (r < .1) dist = r < .07 ? "inf" : "18446744073709551613"
            printf "%d,%d,%s,%d,%d,r%d,%s\n", i, 100 + int(rand() * 3), op[1 + int(rand() * 3)], rand() * 1e6,
                1 + int(rand() * 9), rand() * rand() * 30, dist
        } }' >in.csv
    cf-capture csv -q in.csv >in.cf
    cf-cat in.cf -o in.packed.cf
}

setup() {
    lib_setup
    D=$BATS_FILE_TMPDIR
}

# Columns: 1 time 2 pid 3 op 4 addr 5 weight 6 region 7 dist
# by_awk KEY POINTS: what cf-mrc prints, sorted; lines of 64 bytes
by_awk() {
    awk -F, -v points="$2" "NR > 1 && \$7 !~ /709551613\$/ { key = $1; known[key]; all[key] += \$5
            if (\$7 == \"inf\") cold[key] += \$5; else n[key \" \" \$7] += \$5 }
        END { for (k = 0; k < 16; k++) for (j = 0; j < points; j++) {
                s = int(2 ^ k + 2 ^ k * j / points); if (s > last) size[++sizes] = last = s }
            for (key in known) for (i = 1; i <= sizes; i++) miss[key, i] = cold[key]
            for (kd in n) { split(kd, part, \" \"); key = part[1]
                for (i = 1; i <= sizes && size[i] <= part[2]; i++) miss[key, i] += n[kd] }
            for (i = sizes; i > 1; i--) { flat = 1
                for (key in known) if (miss[key, i] != miss[key, i - 1]) flat = 0
                if (!flat) break }
            for (key in known) for (k = 1; k <= i; k++) printf \"%s,%d,%d,%d,%d,%d,%.9f\n\", key, size[k] * 64, size[k],
                all[key], miss[key, k], cold[key], miss[key, k] / all[key] }" "$D/in.csv" | sort -t, -k1,1 -k2,2n
}

@test "random distances: as awk, raw and packed" {
    for n in 1 3 4 64; do
        by_awk '"x"' $n | cut -d, -f2- >want
        (($(wc -l <want) > 8 * n))
        for f in in.cf in.packed.cf; do
            cf-mrc --points $n "$D/$f" >got
            [[ $(head -n 1 got) == size_bytes,lines,accesses,misses,compulsory_misses,miss_ratio ]]
            tail -n +2 got | same want - || fail "--points $n, $f"
        done
    done
}

@test "one curve for each value: as awk" {
    for by in 2:pid 3:op 6:region; do
        by_awk "\$${by%:*}" 4 >want
        (($(wc -l <want) > 100))
        cf-mrc --by "${by#*:}" "$D/in.cf" >got
        [[ $(head -n 1 got) == "${by#*:},size_bytes,lines,accesses,misses,compulsory_misses,miss_ratio" ]]
        tail -n +2 got | sort -t, -k1,1 -k2,2n | same want - || fail "--by $by"
    done
    [[ $(cf-mrc --by op "$D/in.cf" | cut -d, -f1 | uniq | paste -sd,) == op,load,store,ifetch ]]
}

@test "chosen sizes, any at all; --max" {
    cf-mrc --points 1024 "$D/in.cf" >all
    for s in 64 192 6400 64000 65472; do grep "^$s," all; done >want
    cf-mrc --at 64000,64,0x1900,192,65472,64 "$D/in.cf" | tail -n +2 | same want -
    run -0 cf-mrc -q --max 320 "$D/in.cf"
    [[ ${#lines[@]} == 6 && ${lines[5]} == 320,5,* ]]
    # beyond the end the curve is flat
    run -0 cf-mrc -q --points 1 --max 64M "$D/in.cf"
    [[ ${#lines[@]} == 22 && $(cut -d, -f4,5 <<<"${lines[21]}" | tr , '\n' | uniq | wc -l) == 1 ]]
    run -2 cf-mrc --max 63 "$D/in.cf"
    has '--max: 63 bytes are less than one way, which has 64'
    run -2 --separate-stderr cf-mrc --at 100 "$D/in.cf"
    has "no whole number" "$stderr"
}

@test "line size and sets are those of the options" {
    printf 'time,addr,dist\n1,0,inf\n2,0,1\n3,0,0\n4,0,2\n' | stream a.cf
    run -0 cf-mrc --line-size 16 --sets 4 a.cf
    is "size_bytes,lines,ways,accesses,misses,compulsory_misses,miss_ratio
64,4,1,4,3,1,0.750000000
128,8,2,4,2,1,0.500000000
192,12,3,4,1,1,0.250000000"
}

@test "distances that are bounded: the curve ends there, and says so" {
    printf 'time,addr,dist\n1,0,inf\n2,0,18446744073709551614\n3,0,2\n4,0,3\n' | stream a.cf
    run -0 --separate-stderr cf-mrc --points 2 a.cf
    # what is beyond is more than 3, so caches of up to 4 lines are known to miss; of 2 at least
    [[ ${lines[2]} == 128,2,4,4,1,1.000000000 && ${lines[3]} == 192,3,4,3,1,0.750000000 ]]
    has "larger caches are left out" "$stderr"
    run -0 --separate-stderr cf-mrc -q a.cf
    [[ -z $stderr ]]
    run -1 --separate-stderr cf-mrc -q --at 64,64K a.cf
    has "larger caches are left out" "$stderr"
    [[ ${#lines[@]} == 2 ]]
}

@test "nothing but first accesses, and nothing at all" {
    printf 'time,addr,dist\n1,0,inf\n2,64,inf\n' | stream a.cf
    run -0 cf-mrc -q a.cf
    is "size_bytes,lines,accesses,misses,compulsory_misses,miss_ratio
64,1,2,2,2,1.000000000"
    printf 'time,addr,dist\n' | stream b.cf
    run -0 cf-mrc -q b.cf
    [[ ${lines[0]} == size_bytes,lines,* ]]
}

@test "distances as large as there are" {
    printf 'time,addr,dist\n1,0,18446744073709551611\n2,64,4294967296\n3,64,0xffffffffffff\n' | stream a.cf
    run -0 cf-mrc -q --at 64,0x4000000000,0x4000000040,0x3fffffffffffc0,0xffffffffffffffc0 a.cf
    is "size_bytes,lines,accesses,misses,compulsory_misses,miss_ratio
64,1,3,3,0,1.000000000
274877906944,4294967296,3,3,0,1.000000000
274877907008,4294967297,3,2,0,0.666666667
18014398509481920,281474976710655,3,2,0,0.666666667
18446744073709551552,288230376151711743,3,1,0,0.333333333"
}

@test "without dist: status 1, and cf-distance is named" {
    printf 'time,addr\n1,0\n' | stream a.cf
    run -1 --separate-stderr cf-mrc a.cf
    has "'dist'" "$stderr"
    has cf-distance "$stderr"
}

@test "the stream tells line size, sets and bound; later options go first" {
    printf 'time,addr\n1,0\n2,256\n3,0\n4,512\n5,256\n6,4\n' | stream a.cf
    cf-distance --line-size=256 a.cf >b.cf
    run -0 cf-mrc b.cf
    is "size_bytes,lines,accesses,misses,compulsory_misses,miss_ratio
256,1,6,6,3,1.000000000
512,2,6,5,3,0.833333333
768,3,6,3,3,0.500000000"
    cf-distance --line 256 --sets 2 a.cf | cf-cat >b.cf
    run -0 cf-mrc b.cf
    is "size_bytes,lines,ways,accesses,misses,compulsory_misses,miss_ratio
512,2,1,6,4,3,0.666666667
1024,4,2,6,3,3,0.500000000"
    run -0 --separate-stderr cf-mrc -q --line-size 128 --sets 2 b.cf
    [[ ${lines[1]} == 256,2,1,* ]]
    [ "$stderr" = "cf-mrc: --line-size 128: the header states of column dist the line_size 256" ]
    run -0 --separate-stderr cf-mrc --sets 1 b.cf
    has "--sets 1: the header states of column dist the sets 2" "$stderr"
    run -0 --separate-stderr cf-mrc --line-size 256 --sets 2 b.cf
    [ -z "$stderr" ]
    # of whichever input it is
    cf-distance a.cf >c.cf
    run -0 --separate-stderr cf-mrc -q --line-size 64 --sets 1 c.cf b.cf b.cf
    [ "$stderr" = "cf-mrc: --line-size 64: the header states of column dist the line_size 256
cf-mrc: --sets 1: the header states of column dist the sets 2" ]
    cf-distance --line-size 256 --bound 1 a.cf >b.cf
    run -0 --separate-stderr cf-mrc b.cf
    is "size_bytes,lines,accesses,misses,compulsory_misses,miss_ratio
256,1,6,6,3,1.000000000
512,2,6,5,3,0.833333333"
    has "no distance beyond 1 lines" "$stderr"
    # numbers as options take them
    cf-distance --line-size 0x100 --bound 1B a.cf >b.cf
    run -0 --separate-stderr cf-mrc b.cf
    [[ ${lines[1]} == 256,1,* ]]
    has "no distance beyond 1 lines" "$stderr"
    # a stream that had two: the last counts
    cf-distance --line-size 32 a.cf | cf-distance --line-size 256 >b.cf
    run -0 cf-mrc b.cf
    [[ ${lines[1]} == 256,1,* ]]
    cf-distance --line-size 32 a.cf >c.cf
    run -1 --separate-stderr cf-mrc b.cf c.cf
    has "different line sizes" "$stderr"
}

# machine SIZE WAYS: a machine description with one level of 64-byte lines
machine() {
    printf 'name: one\nline_size: 64\nlevels:\n  - {name: L1, kind: data, size: %d, ways: %d}\n' "$1" "$2" >one.yaml
}

# misses FILE: accesses that went to memory
misses() {
    cf-cache -m ./one.yaml "$1" | cf-histogram --column hit | sed -n 's/^memory,\([0-9]*\),.*/\1/p'
}

@test "the curve equals the misses of cf-cache, fully associative and of sets" {
    for s in sort gzip; do
        cf-select --op load,store "$ROOT/samples/$s.cf" | cf-cat --slice 0-400000 >s.cf
        cf-distance s.cf | cf-mrc >whole.csv
        cf-distance --sets 16 s.cf | cf-mrc >sets.csv
        for lines in 4 20 512; do
            machine $((lines * 64)) $lines
            [[ $(sed -n "s/^$((lines * 64)),$lines,[0-9]*,\([0-9]*\),.*/\1/p" whole.csv) == "$(misses s.cf)" ]] ||
                fail "$s, $lines lines"
        done
        for ways in 1 3 8; do
            machine $((ways * 1024)) $ways
            [[ $(sed -n "s/^$((ways * 1024)),[0-9]*,$ways,[0-9]*,\([0-9]*\),.*/\1/p" sets.csv) == "$(misses s.cf)" ]] ||
                fail "$s, 16 sets of $ways ways"
        done
    done
}

@test "samples: the curve lies where its error says" {
    cf-select --op load,store "$ROOT/samples/sqlite.cf" | cf-cat --slice 0-2000000 -o s.cf
    cf-distance s.cf | cf-mrc --max 4M >exact.csv
    for how in "--rate 0.1" "--samples 512"; do
        # shellcheck disable=SC2086
        cf-distance $how s.cf | cf-mrc --max 4M >sampled.csv
        [[ $(head -n 1 sampled.csv) == size_bytes,lines,accesses,misses,compulsory_misses,miss_ratio,miss_ratio_error ]]
        # of all sizes at least nine in ten within two errors, and none beyond five
        paste -d, exact.csv sampled.csv | awk -F, 'NR > 1 {
                off = $6 - $12; if (off < 0) off = -off; n++; in2 += off <= 2 * $13; in5 += off <= 5 * $13
                if ($1 != $7 || $13 > .5) bad = 1; sum += $13 }
            END { print n, in2, in5, sum; exit bad || n < 40 || in2 < .9 * n || in5 < n || sum == 0 }' || fail "$how"
    done
    # a sample of everything is exact
    cf-distance --samples 1000000 s.cf | cf-mrc --max 4M | cut -d, -f1-6 >all.csv
    same exact.csv all.csv
}

@test "samples: where the curve falls in a step, the error holds the step" {
    # columns of a matrix: all lines come back after as many others, about as many as 16K hold
    for rows in 232 238 244 250 262 268 280; do
        awk -v rows=$rows 'BEGIN {
            print "time,addr,size"
            for (c = 0; c < 16; c++) for (r = 0; r < rows; r++) printf "%d,%d,8\n", t++, 1048576 + r * (4096 + rows * 8) + c * 8
        }' | stream w.cf
        cf-distance w.cf | cf-mrc --at 16K,64K >exact.csv
        cf-distance --rate 0.3 w.cf | cf-mrc --at 16K,64K >sampled.csv
        # and beside the step it is small
        paste -d, exact.csv sampled.csv | awk -F, 'NR > 1 {
                off = $6 - $12; if (off < 0) off = -off
                if (off > 2.5 * $13 || (NR == 3 && $13 > .03)) bad = 1; n++ }
            END { exit bad || n != 2 }' || fail "$rows rows: $(tail -n 2 sampled.csv)"
    done
}

@test "samples: what the sample says nothing of has no misses and no error" {
    cf-distance -q --rate 1e-6 --stats "$ROOT/samples/sort.cf" 2>err >none.cf
    has "no reference is in the sample" "$(cat err)"
    run -1 --separate-stderr cf-mrc -q none.cf
    [[ ${#lines[@]} == 2 && ${lines[1]} == 64,1,310918,,,, ]]
    has "the misses of 1 of 1 curves are not known" "$stderr"
    cf-mrc -q --html none.html none.cf >csv || :
    grep -q '"lines":\[\[null\]\]' none.html
    # op load has a sample without a miss, op store none
    printf 'time,op,addr,dist,dist_weight\n1,load,0,0,2\n2,load,64,18446744073709551612,0\n3,store,64,18446744073709551612,0\n' |
        stream s.cf
    run -0 --separate-stderr cf-mrc --by op --at 8K s.cf
    is "op,size_bytes,lines,accesses,misses,compulsory_misses,miss_ratio,miss_ratio_error
load,8192,128,2,0,0,0.000000000,
store,8192,128,1,,,,"
    has "the misses of 1 of 2 curves are not known" "$stderr"
    # a group that is in the sample whole by chance: its distances are estimates all the same
    printf 'time,op,addr,dist,dist_weight\n1,load,0,60,2\n2,load,0,60,2\n3,store,64,18446744073709551612,0\n' | stream whole.cf
    run -0 cf-mrc -q --by op --at 4K whole.cf
    has load,4096,64,2,0,0,0.000000000,1.0 "${lines[1]}"
    # compulsory misses are misses, however many the sample stands for
    awk 'BEGIN { print "time,op,size,addr"; for (i = 1; i <= 2000; i++) printf "%d,load,8,%d\n", i, 1048576 + 64 * i }' | stream once.cf
    run -0 bash -c 'cf-distance --rate 0.1 once.cf | cf-mrc --at 1K'
    has 1024,16,2000,2000,2000,1.000000000,0.0 "${lines[1]}"
}

@test "samples: without what they stand for, there is no curve" {
    cf-distance -q --rate 0.1 "$ROOT/samples/sort.cf" | cf-cat --columns op,addr,dist -o bare.cf
    local said="cf-mrc: table access has no column 'dist_weight', which sampled distances need: keep it in --columns"
    for options in "" "--by op" --partial; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr cf-mrc $options bare.cf
        [[ $stderr == "$said" && $output != *size_bytes* ]] || fail "$options: $output$stderr"
    done
    # behind distances of all lines, too
    run -1 --separate-stderr cf-mrc <(cf-distance -q "$ROOT/samples/sort.cf") bare.cf
    [[ $stderr == "$said" && -z $output ]]
}

@test "wrong options" {
    run -2 cf-mrc --by shoesize </dev/null
    run -2 cf-mrc --by dist </dev/null
    run -2 cf-mrc --by dist_weight </dev/null
    run -2 cf-mrc --points 0 </dev/null
    run -2 cf-mrc --at , </dev/null
    run -2 cf-mrc --at 0 </dev/null
    run -2 cf-mrc --line-size 48 </dev/null
    run -2 cf-mrc --at 1K --max 1K </dev/null
    has '--at does not go with --max'
    run -2 cf-mrc --at 1K --points 4 </dev/null
    has '--at does not go with --points'
}

@test "--picture and --html: the curves with the caches of a machine, by doublings" {
    awk 'BEGIN { print "time,addr,op"; for (i = 0; i < 4000; i++) printf "%d,%d,%s\n", i, i * 64 % 102400, i % 2 ? "load" : "store" }' |
        stream walk.cf
    cf-distance -q walk.cf >d.cf
    cf-mrc --picture c.png --html c.html d.cf >c.csv
    [[ $(file -b c.png) == 'PNG image data, 900 x 540, 8-bit/color RGB, non-interlaced' ]]
    same <(cf-mrc d.cf) c.csv
    # the page has the sizes and ratios of the rows
    [[ $(grep -oE '"size":\[[^]]*' c.html | tr '[' ',' | cut -d, -f2-) == "$(column size_bytes c.csv | paste -sd,)" ]]
    grep -q '"name":"all accesses"' c.html
    grep -qE '"lines":\[\[1,1,.*,0.4\]\]' c.html
    # from 64 bytes at x 50 to 112 K at 668, an upright line at 32 K: 50 + 618 * 9 / 10.8
    run -0 pixels c.png 565,300 565,200
    is $'f3f4f7\nf3f4f7'
    cf-mrc -m raspberry-pi-4 --picture m.png d.cf >/dev/null
    run -0 pixels m.png 565,300 565,200
    is $'606370\n606370'
    cf-mrc --by op --html by.html --picture by.svg --picture-size 85x60mm d.cf >/dev/null
    grep -q '"name":"load".*' by.html
    grep -q '"name":"store".*' by.html
    cf-mrc --picture - d.cf | cmp - c.png
    run -2 cf-mrc --picture c.jpg d.cf
    run -2 cf-mrc -m no-such-machine --picture c.png d.cf
    run -2 cf-mrc -m raspberry-pi-4 d.cf
    has '--machine marks sizes in a picture: give --picture or --html'
    # the axis of 67 % ends at 70 %
    awk 'BEGIN { print "time,addr"; for (i = 0; i < 3000; i++) printf "%d,%d\n", i, (i - (i && i % 3 == 0)) * 64 }' | stream axis.cf
    cf-distance -q axis.cf | cf-mrc -q --html axis.html >/dev/null
    grep -q '"top":0.7,' axis.html
    # sizes to the last digit
    cf-mrc -q --at 1K,1536M,3G --html large.html d.cf >/dev/null
    grep -q '"size":\[1024,1610612736,3221225472\]' large.html
    # no access at all
    printf 'time,addr\n' | stream none.cf
    cf-distance -q none.cf | cf-mrc -q --picture none.pdf --html none.html >/dev/null
    [[ $(head -c 5 none.pdf) == %PDF- ]]
    grep -q '"lines":\[\[null\]\]' none.html
    grep -q 'bytes; no accesses' none.html
    run ! grep -q 'no accesses' c.html
}

@test "--picture: sizes that are no powers of two have their numbers at the axis" {
    awk 'BEGIN { print "time,addr"; for (i = 0; i < 900; i++) printf "%d,%d\n", i, i * 64 % 12800 }' | stream walk.cf
    cf-distance -q walk.cf | cf-mrc -q --at 5K,6K,7K --picture c.png >/dev/null
    # 6 K, at 50 + 618 * log(6 / 5) / log(7 / 5) = 385
    [[ $(inks c.png 375-395 500-512) -gt 1 ]]
}

@test "--picture and --html: a curve of one size is a dot that can be seen" {
    printf 'time,op,size,addr\n5,load,8,4096\n' | cf-capture csv -q | cf-distance -q | cf-mrc -q --picture one.png >/dev/null
    run -0 pixels one.png 357,70 360,70 359,71 359,76
    is $'0072b2\n0072b2\n0072b2\nf3f4f7'
}

@test "--picture: what draws ends with the program" {
    local pid child
    cf-distance -q "$ROOT/samples/sort.cf" -o d.cf
    mkfifo p.png
    exec 8<>p.png
    dd if=/dev/zero of=p.png oflag=nonblock bs=1 count=1M 2>/dev/null || true # full: who writes more waits
    cf-mrc -q --picture p.png d.cf >/dev/null 8>&- &
    pid=$!
    until child=$(pgrep -P $pid); do sleep .02; done
    kill -KILL $pid
    wait $pid || true
    while [[ -e /proc/$child && $(ps -o stat= -p "$child") != Z* ]]; do sleep .02; done
    exec 8>&-
}

@test "--by op --html: what has no distance has no curve, and no line in the legend" {
    printf 'time,op,addr\n1,load,64\n2,load,64\n3,ifetch,64\n4,ifetch,128\n' | stream a.cf
    cf-distance -q a.cf | cf-mrc -q --by op --html by.html >/dev/null
    grep -q '"name":"load"' by.html
    run ! grep -q '"name":"ifetch"' by.html
}

@test "--picture and --html: the summary says of what caches and accesses the curve is, and of a sample" {
    summary() { cf-distance -q "$@" trace.cf | cf-mrc -q --html page.html >/dev/null && grep -o '"summary":"[^"]*"' page.html; }
    awk 'BEGIN { print "time,tid,addr,op,size"; for (i = 0; i < 3000; i++) printf "%d,%d,%d,%s,8\n", i, i % 2, i * 64 % 12800, i % 9 ? "load" : "ifetch" }' | stream trace.cf
    run -0 summary
    is '"summary":"LRU caches of lines of 64 bytes"'
    run -0 summary --sets 16 --for unified
    is '"summary":"LRU caches of 16 sets and lines of 64 bytes; accesses: unified"'
    run -0 summary --per thread --for unified
    is '"summary":"LRU caches of lines of 64 bytes; one for each thread; accesses: unified"'
    run -0 summary --for fetches --line-size 32
    is '"summary":"LRU caches of lines of 32 bytes; accesses: fetches"'
    run -0 summary --rate 0.5
    is '"summary":"LRU caches of lines of 64 bytes; estimated of sampled lines"'
}
