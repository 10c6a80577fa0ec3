#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# cf-heatmap: counts by page and time, and the pictures of them.

load lib

# Small resolved stream: two mappings, a clock.
small() {
    stream small.cf --clock instructions <<'END'
time,op,size,addr,region,page
0,load,8,0x1000,[heap],1
0,store,4,0x1008,[heap],1
1,load,2,0x9000,libc.so.6,40
2,ifetch,16,0x400000,prog,0
2,load,8,0x5000,[heap],5
3,prefetch,8,0x1010,[heap],1
END
}

# walk ROWS STEP: a stream of ROWS accesses in steps of STEP ticks over 7 pages of two mappings.
walk() {
    awk -v n="$1" -v s="$2" 'BEGIN {
        print "time,op,size,addr,region,page"
        for (i = 0; i < n; i++) {
            p = (i * i + int(i / 50)) % 7
            printf "%d,%s,8,0x%x,%s,%d\n", i * s, i % 3 ? "load" : "store", 4096 * (p + 1), p % 2 ? "odd" : "even", p
        }
    }' | stream walk.cf --clock cycles
}

# Sum of the last column of a CSV file.
total() {
    awk -F, 'NR > 1 { s += $NF } END { printf "%d\n", s }' "$1"
}

# The counts of FILE.csv made from fine ones: bins of WIDTH ticks from START on.
coarser() {
    awk -F, -v w="$2" -v s="$3" '
        NR == 1 { print; next }
        { b = int(($3 - s) / w); k = $1 "," $2 "," s + b * w "," s + (b + 1) * w; if (!(k in n)) order[++m] = k; n[k] += $5 }
        END { for (i = 1; i <= m; i++) print order[i] "," n[order[i]] }' "$1"
}

@test "--time as a part of the time: the same as by its ticks" {
    local last
    last=$(cf-cat --info "$ROOT/samples/sort.cf" | sed -n 's/.*"access".*last: \([0-9]*\),.*/\1/p')
    cf-heatmap -q --csv --time 25%-75% "$ROOT/samples/sort.cf" >part.csv
    cf-heatmap -q --csv --time $((1 + last / 4))-$((last * 3 / 4)) "$ROOT/samples/sort.cf" >ticks.csv
    [[ $(wc -l <part.csv) -gt 100 ]]
    cmp part.csv ticks.csv
    cf-heatmap -q --csv --time -75% "$ROOT/samples/sort.cf" >part.csv
    cf-heatmap -q --csv --time -$((last * 3 / 4)) "$ROOT/samples/sort.cf" >ticks.csv
    cmp part.csv ticks.csv
    run -2 bash -c "cf-cat '$ROOT/samples/sort.cf' | cf-heatmap -q --csv --time 25%-75%"
    has "--time: a part of the time needs a file with an index"
    run -2 cf-heatmap -q --csv --table line --time 25%-75% "$ROOT/samples/sort.cf"
    has "--time: of lines it is numbers of snapshots, of which there are no parts"
    # of parts only ticks
    run -2 cf-heatmap -q --partial --time 25%-75% "$ROOT/samples/sort.cf"
    has "--partial does not go with a part of the time"
    cf-heatmap -q --partial --time 100-200 "$ROOT/samples/sort.cf" >part.cf
    run -2 cf-heatmap -q --csv --time 25%-75% part.cf
    has "--time: a part of the time needs the whole recording"
}

@test "counts data accesses by page and time, the largest mapping first" {
    small
    run -0 cf-heatmap small.cf
    is 'region,page,time_start_instructions,time_end_instructions,accesses
[heap],1,0,1,2
[heap],1,3,4,1
[heap],5,2,3,1
libc.so.6,40,1,2,1'
}

@test "mappings with equal totals are in the order of their names" {
    printf 'addr,region,page\n0x1000,zebra,0\n0x2000,ant,0\n' | stream equal.cf
    cf-heatmap equal.cf >out.csv
    [[ $(column region out.csv | tr '\n' ' ') == 'ant zebra ' ]]
}

@test "--all and --op choose operations" {
    small
    cf-heatmap --all small.cf >all.csv
    [[ $(total all.csv) == 6 ]]
    run -0 cf-heatmap --op ifetch small.cf
    is 'region,page,time_start_instructions,time_end_instructions,accesses
prog,0,2,3,1'
    cf-heatmap --op store,prefetch small.cf >some.csv
    [[ $(total some.csv) == 2 ]]
    run -2 cf-heatmap --op lode small.cf
    has "'lode': give one of load, store, ifetch, prefetch, flush"
}

@test "--value bytes, loads, stores" {
    small
    run -0 cf-heatmap --value bytes --bins 1 small.cf
    is 'region,page,time_start_instructions,time_end_instructions,bytes
[heap],1,0,4,20
[heap],5,0,4,8
libc.so.6,40,0,4,2'
    cf-heatmap --value loads small.cf >loads.csv
    [[ $(total loads.csv) == 3 ]]
    cf-heatmap --value stores small.cf >stores.csv
    [[ $(total stores.csv) == 1 && $(head -n 1 stores.csv) == *,stores ]]
}

@test "--value misses by hit, by class, by the level of samples, and cost" {
    stream hit.cf <<'END'
time,op,addr,region,page,hit,cost
0,load,0x1000,a,1,1,4
1,load,0x1000,a,1,255,200
2,store,0x2000,a,2,255,180
3,ifetch,0x3000,a,3,255,180
END
    cf-heatmap --value misses hit.cf >out.csv
    [[ $(total out.csv) == 2 ]]
    run -0 cf-heatmap --value cost --bins 1 hit.cf
    is 'region,page,time_start_records,time_end_records,cost_cycles
a,1,0,4,204
a,2,0,4,180'
    printf 'addr,region,page,class\n0x1000,a,1,0\n0x1000,a,1,2\n' | stream class.cf
    cf-heatmap --value misses class.cf >out.csv
    [[ $(total out.csv) == 1 ]]
    printf 'addr,region,page,level,weight\n0x1000,a,1,255,700\n0x1000,a,1,2,10\n' | stream level.cf
    run -0 --separate-stderr cf-heatmap --value misses level.cf
    [[ $output == *,700 && -z $stderr ]] || fail "$output$stderr"
    # of some samples the level is not known
    printf 'addr,region,page,level\n0x1000,a,1,255\n0x1000,a,1,254\n' | stream beyond.cf
    run -0 --separate-stderr cf-heatmap -q --value misses beyond.cf
    [[ $output == *,1 && $stderr == *'not known what served them (level 254), are left out of the misses' ]] || fail "$output$stderr"
    cf-cat -o packed.cf beyond.cf
    parts 1 packed.cf cf-heatmap -q --value misses
    cf-heatmap -q --value misses p.1.cf 2>&1 >/dev/null | same <(echo "$stderr") -
    printf 'addr,op,region,page,level\n0x1000,store,a,1,255\n0x1000,load,a,1,254\n' | stream others.cf
    run -0 --separate-stderr cf-heatmap --value misses --op store others.cf
    [[ $output == *,1 && -z $stderr ]] || fail "$output$stderr"
}

@test "a value whose column is missing is an input that lacks something, not a zero" {
    small
    run -1 --separate-stderr cf-heatmap --value misses small.cf
    has 'no column hit, class or level' "$stderr"
    run -1 --separate-stderr cf-heatmap --value cost small.cf
    has 'cost' "$stderr"
}

@test "weights of samples are counted, and large sums are kept whole" {
    stream weights.cf <<'END'
time,op,addr,region,page,weight,size
0,load,0x1000,a,1,5000000000,1
0,load,0x1000,a,1,4294967296,1
1000000,load,0x1000,a,1,1,1
1000001,load,0x2000,a,2,2000000000000000,4294967295
1000001,load,0x2000,a,2,2000000000000000,4294967295
END
    run -0 cf-heatmap --bins 1 weights.cf
    has ',9294967297'
    has ',4000000000000000'
    # more than 64 bits hold is no sum
    run -1 cf-heatmap --bins 1 --value bytes weights.cf
    has '--value bytes: more than 2^64 in all'
}

@test "a sum above 2^64 is refused; one below it is drawn" {
    weigh() { # COST: of each of 2^52 - 6 accesses
        printf 'time,op,size,addr,region,page,weight,cost\n1,load,8,4096,heap,0,4503599627370490,%s\n2,load,8,8192,heap,1,1,4000\n' "$1" |
            cf-capture csv -q
    }
    weigh 4000 >less.cf
    (
        ulimit -S -t 60
        cf-heatmap -q --value cost --picture less.png less.cf >less.csv
    )
    grep -qx 'heap,0,1,2,18014398509481960000' less.csv
    weigh 4294967295 >more.cf
    run -1 --separate-stderr cf-heatmap -q --value cost more.cf
    [[ -z $output && $stderr == *'--value cost: more than 2^64 in all'* ]]
}

@test "without a mapping pages are address / 4096, with a hint" {
    printf 'addr\n0x7fff00001234\n0x7fff00001fff\n0x5000\n' | stream plain.cf
    run -0 --separate-stderr cf-heatmap --bins 1 plain.cf
    is 'region,page,time_start_records,time_end_records,accesses
[unresolved],5,1,4,1
[unresolved],34358689793,1,4,2'
    has '3 rows have no mapping' "$stderr"
    has 'cf-resolve' "$stderr"
    run -0 --separate-stderr cf-heatmap -q plain.cf
    [[ -z $stderr ]]
}

@test "rows that cf-resolve could not place stand beside those that it could" {
    stream mixed.cf <<'END'
time,addr,region,page
0,0x1000,a,1
0,0x99000,,0
END
    run -0 cf-heatmap mixed.cf
    is 'region,page,time_start_records,time_end_records,accesses
[unresolved],153,0,1,1
a,1,0,1,1'
}

@test "every access is counted once, with any number of bins" {
    walk 5000 37
    local bins
    for bins in 1 2 3 7 50 200 5000 65536; do
        cf-heatmap --bins $bins walk.cf >out.csv
        [[ $(total out.csv) == 5000 ]] || fail "$bins bins: $(total out.csv) accesses"
        local got
        got=$(column time_start_cycles out.csv | sort -u | wc -l)
        ((got <= bins)) || fail "$bins bins asked for, $got made"
        ((bins > 5000 || 3 * got >= 2 * bins - 3)) || fail "$bins bins asked for, only $got made"
    done
}

@test "bins that were doubled hold what a recount with their width holds" {
    walk 5000 37
    local bins start end
    for bins in 1 3 7 50; do
        cf-heatmap --bins $bins walk.cf >adaptive.csv
        IFS=, read -r _ _ start end _ < <(sed -n 2p adaptive.csv)
        cf-heatmap --bin-width $((end - start)) walk.cf >fixed.csv
        same fixed.csv adaptive.csv
        # and by another program: every tick its own bin, added up by awk
        cf-heatmap --bin-width 1 walk.cf >fine.csv
        coarser fine.csv $((end - start)) 0 >recount.csv
        same recount.csv adaptive.csv
    done
}

@test "bins that were doubled begin where the time does, not at 0" {
    awk 'BEGIN { print "time,addr,region,page"; for (i = 0; i < 3000; i++) printf "%d,0x1000,a,%d\n", 999999000 + 7 * i, i % 5 }' |
        stream late.cf
    cf-heatmap --bins 20 late.cf >adaptive.csv
    [[ $(total adaptive.csv) == 3000 ]]
    local start end count
    IFS=, read -r _ _ start end _ < <(sed -n 2p adaptive.csv)
    ((start <= 999999000 && start + (end - start) > 999999000))
    count=$(column time_start_records adaptive.csv | sort -u | wc -l)
    ((count >= 13 && count <= 20)) || fail "$count bins"
    cf-heatmap --bin-width 1 late.cf >fine.csv
    coarser fine.csv $((end - start)) "$start" >recount.csv
    same recount.csv adaptive.csv
}

@test "a time that goes back loses nothing" {
    awk 'BEGIN { print "time,addr,region,page"
        for (i = 0; i < 4000; i++) { x = (x * 69069 + 12345) % 4294967296; printf "%d,0x1000,a,%d\n", x % 100000, int(x / 65536) % 3 } }' >back.csv
    # two streams one after the other: the second begins at 0 again, and each jumps
    # (the importer says that it is not sorted, and keeps the rows)
    run -1 stream one.cf <back.csv
    cat one.cf one.cf >two.cf
    run -1 --separate-stderr cf-heatmap --bins 10 two.cf
    has "out of order" "$stderr"
    printf '%s\n' "$output" >out.csv
    [[ $(total out.csv) == 8000 ]]
    local start end
    IFS=, read -r _ _ start end _ < <(sed -n 2p out.csv)
    awk -F, -v w=$((end - start)) 'NR > 1 { n[$4 "," int($1 / w) * w] += 2 } END { for (k in n) print k "," n[k] }' back.csv |
        sort -t, -n -k1,1 -k2,2 >want.csv
    cut -d, -f2,3,5 out.csv | tail -n +2 >got.csv
    same want.csv got.csv
}

@test "--time, --from and --to keep both ends" {
    walk 100 10
    cf-heatmap --time 100-200 walk.cf >out.csv
    [[ $(total out.csv) == 11 ]]
    cf-heatmap --from 100 --to 200 walk.cf >again.csv
    same out.csv again.csv
    cf-heatmap --time 900- walk.cf >out.csv
    [[ $(total out.csv) == 10 ]]
    cf-heatmap --time -90 walk.cf >out.csv
    [[ $(total out.csv) == 10 ]]
    cf-heatmap --time 100-199 --bins 4 walk.cf >out.csv
    [[ $(column time_start_cycles out.csv | sort -nu | tr '\n' ' ') == '100 125 150 175 ' ]]
    run -2 cf-heatmap --from 9 --to 8 walk.cf
}

@test "--bin-width counts from --from, and refuses more bins than there is room for" {
    walk 100 10
    cf-heatmap --bin-width 300 --from 50 walk.cf >out.csv
    [[ $(column time_start_cycles out.csv | sort -nu | tr '\n' ' ') == '50 350 650 950 ' ]]
    printf 'time,addr\n0,0x1000\n18446744073709551615,0x1000\n' | stream far.cf
    run -2 --separate-stderr cf-heatmap --bin-width 1 far.cf
    has 'more than 1048576 bins' "$stderr"
    # the whole range of time, adaptively
    cf-heatmap -q --bins 1 far.cf >out.csv
    [[ $(total out.csv) == 2 ]]
    cf-heatmap -q far.cf >out.csv
    [[ $(total out.csv) == 2 && $(wc -l <out.csv) == 3 ]]
}

@test "--region and --top choose mappings" {
    small
    run -0 cf-heatmap --region '*heap*' --bins 1 small.cf
    is 'region,page,time_start_instructions,time_end_instructions,accesses
[heap],1,0,4,3
[heap],5,0,4,1'
    cf-heatmap --top 1 small.cf >top.csv
    [[ $(column region top.csv | sort -u) == '[heap]' ]]
    cf-heatmap --region nothing small.cf >none.csv
    [[ $(wc -l <none.csv) == 1 ]]
}

@test "the bins do not depend on what is chosen" {
    walk 2000 10
    cf-heatmap --bins 10 walk.cf | grep odd, >all.csv
    cf-heatmap --bins 10 --region odd walk.cf | grep odd, >odd.csv
    same all.csv odd.csv
}

@test "several segments: mappings of the same name are one" {
    small
    cat small.cf small.cf >twice.cf
    cf-heatmap --bins 1 twice.cf >out.csv
    [[ $(total out.csv) == 10 && $(wc -l <out.csv) == 4 ]]
}

@test "snapshots: cached lines of a page by snapshot" {
    stream lines.cf --table line <<'END'
snapshot,level,set,way,addr,region,page
1,1,0,0,0x1000,a,1
1,1,1,0,0x1040,a,1
1,2,0,0,0x5000,a,5
4,2,0,1,0x1000,a,1
4,2,0,0,0x9000,b,0
END
    run -0 cf-heatmap lines.cf
    is 'region,page,snapshot,lines
a,1,1,2
a,1,4,1
a,5,1,1
b,0,4,1'
    run -0 cf-heatmap --level 2 lines.cf
    is 'region,page,snapshot,lines
a,1,4,1
a,5,1,1
b,0,4,1'
    run -0 cf-heatmap --table line --time 2-9 lines.cf
    is 'region,page,snapshot,lines
a,1,4,1
b,0,4,1'
    run -2 cf-heatmap --table line --value bytes lines.cf
}

@test "where there are accesses, lines are not counted unless asked for" {
    small
    printf 'snapshot,level,set,way,addr,region,page\n0,1,0,0,0x1000,a,1\n' | stream lines.cf --table line
    cat lines.cf small.cf >both.cf
    cf-heatmap both.cf >out.csv
    [[ $(head -n 1 out.csv) == *,accesses && $(total out.csv) == 5 ]]
    cf-heatmap --table line both.cf >out.csv
    [[ $(head -n 1 out.csv) == *,lines && $(total out.csv) == 1 ]]
}

@test "names are quoted in CSV" {
    printf 'addr,region,page\n0x1000,"a,""b""",2\n' | stream odd.cf
    run -0 cf-heatmap odd.cf
    has '"a,""b""",2,1,2,1'
}

@test "a stream that was cut off is counted as far as it goes, with status 1" {
    walk 5000 1
    head -c $(($(stat -c %s walk.cf) - 40)) walk.cf >cut.cf
    run -1 --separate-stderr cf-heatmap --bins 1 cut.cf
    has 'region,page' "$output"
    [[ -n $stderr ]]
}

# png_size FILE: width and height from its header, after a look at the signature.
png_size() {
    [[ $(od -An -tx1 -N8 "$1" | tr -d ' \n') == 89504e470d0a1a0a ]] || fail "no PNG" || return
    od -An -tu1 -j16 -N8 "$1" | awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 "x" (($5 * 256 + $6) * 256 + $7) * 256 + $8 }'
}

@test "--picture: a picture of the size asked for, the same at every run, beside the CSV" {
    walk 3000 10
    cf-heatmap walk.cf >plain.csv
    cf-heatmap --picture a.png walk.cf >a.csv
    same plain.csv a.csv
    [[ $(png_size a.png) == 1200x800 ]]
    cf-heatmap --picture b.png walk.cf >/dev/null
    cmp a.png b.png
    cf-heatmap --picture-size 700x400 --scale linear --picture c.png walk.cf >/dev/null
    [[ $(png_size c.png) == 700x400 ]]
    cf-heatmap --picture - walk.cf >d.png
    cmp a.png d.png
    run -2 cf-heatmap --picture-size 700 walk.cf
    if command -v pngtopnm >/dev/null; then
        pngtopnm a.png | head -c 15 | grep -q '1200 800'
    fi
    # nothing is left beside the picture
    [[ -z $(ls ./*.tmp 2>/dev/null) ]]
}

@test "the drawing: its legend begins at 1 on a log scale, and at 0 on a linear one" {
    walk 300 10
    run -0 env NO_COLOR=1 cf-heatmap -q --term walk.cf
    has ' 1 ..::'
    has '(log)'
    run -0 env NO_COLOR=1 cf-heatmap -q --term --scale linear walk.cf
    has ' 0 ..::'
    has '(linear)'
}

@test "--region: a name in brackets is a set of characters; where nothing has such a name, a message says so" {
    printf '%s\n' addr,region,page 1,[heap],1 | stream a.cf
    run -0 --separate-stderr cf-heatmap --region '[[]heap]' a.cf
    has '[heap],1,1,2,1'
    [[ -z $stderr ]]
    run -0 --separate-stderr cf-heatmap --region '[heap]' a.cf
    is 'region,page,time_start_records,time_end_records,accesses'
    has "nothing is counted of mappings of such names" "$stderr"
    run -0 --separate-stderr cf-heatmap -q --region '[heap]' a.cf
    [[ -z $stderr ]]
}

@test "--picture: hot and cold pages have the ends of the colours, untouched ones the ground" {
    # at 1200x800 the map spans columns 240 to 1183; one band of two pages, two bins
    awk 'BEGIN { print "time,addr,region,page"; for (i = 0; i < 1000; i++) print "0,0x1000,a,0"; print "1,0x2000,a,1" }' | stream two.cf
    cf-heatmap --picture two.png two.cf >/dev/null
    # hot, none, none, cold
    run -0 pixels two.png 300,115 1000,115 300,131 1000,131
    is $'fff45a\n11121a\n11121a\n8244c2'
}

@test "--picture: what the colours mean is said in full in a small picture, too" {
    walk 30 10
    cf-heatmap -q --picture small.png --picture-size 300x200 walk.cf >/dev/null
    # "pages left out" has a line of its own, beside the heading of the pages
    [[ $(inks small.png 170-210 57-66) -gt 1 ]]
}

@test "--picture: the ending says the form; the same bytes at every run, and small files" {
    walk 30000 50
    local f
    for f in png svg pdf SVG; do
        cf-heatmap --picture a.$f --picture-size 85x60mm walk.cf >/dev/null
        cf-heatmap --picture b.$f --picture-size 85x60mm walk.cf >/dev/null
        cmp a.$f b.$f
        [[ $(stat -c %s a.$f) -lt 1000000 ]]
    done
    # 300 dots an inch, which the PNG says: 11811 pixels a metre
    [[ $(png_size a.png) == 1004x709 && $(file -b a.png) == 'PNG image data, 1004 x 709, 8-bit/color RGB'* ]]
    [[ $(od -An -tx1 -j33 -N21 a.png | tr -d ' \n') == 000000097048597300002e2300002e230178a53f76 ]]
    grep -q '^<svg .*width="85mm" height="60mm"' a.svg
    grep -q '<image ' a.svg
    cmp a.svg a.SVG
    [[ $(head -c 5 a.pdf) == %PDF- ]]
    grep -qa '/MediaBox \[ 0 0 240.9[0-9]* 170.0[0-9]* \]' a.pdf
    run ! grep -qa '/CreationDate' a.pdf
    # sizes in pixels are of 96 an inch
    cf-heatmap --picture p.svg --picture-size 960x480 walk.cf >/dev/null
    grep -q '^<svg .*width="254mm" height="127mm"' p.svg
}

@test "--picture: another ending, or a size that is none, is wrong usage" {
    small
    local name
    for name in map.gif map dir.png/map .png.txt; do
        run -2 --separate-stderr cf-heatmap --picture $name small.cf
        is ''
        has '.png, .svg or .pdf' "$stderr"
        [[ ! -e $name ]]
    done
    for name in 700 x mm 85xmm 85x60cm 299x400 400x199 16385x400 59x60mm 60x39mm 1301x60mm 85mmx60; do
        run -2 --separate-stderr cf-heatmap --picture-size $name small.cf
        has --picture-size "$stderr"
    done
    cf-heatmap --picture a.png small.cf >a.csv
    run -0 --separate-stderr cf-heatmap --png old.png small.cf
    has '--picture' "$stderr"
    cmp a.png old.png
}

@test "--picture: text grows with the square root of the size, which shows in where the map begins" {
    awk 'BEGIN { print "time,addr,region,page"; for (i = 0; i < 1000; i++) print "0,0x1000,a,0"; print "1,0x2000,a,1" }' | stream two.cf
    # four times the width, twice the text: the map begins at 480, and its upper left is hot
    cf-heatmap --picture two.png --picture-size 4800x3200 two.cf >/dev/null
    run -0 pixels two.png 476,230 484,230
    is $'ffffff\nfff45a'
}

@test "--picture: what is not ASCII is '?' in a picture, and --title replaces the title" {
    local name i=0
    for name in e é '?'; do
        printf 'time,addr,region,page\n1,0x1000,%s,0\n' "$name" | stream $((i + 1)).cf
        i=$((i + 1))
        cf-heatmap --picture $i.png $i.cf >/dev/null
    done
    cmp 2.png 3.png
    run ! cmp -s 1.png 2.png
    cf-heatmap --picture own.pdf --title 'What it is' 1.cf >/dev/null
    grep -qa '/Title (What it is)' own.pdf
    # without a title there is no summary, and the map begins further up
    cf-heatmap --picture bare.png --title '' 1.cf >/dev/null
    run -0 pixels 1.png 700,80
    is ffffff
    run -0 pixels bare.png 700,80
    is fff45a
}

@test "pictures of nothing, of one access, and of pages far apart" {
    printf 'time,addr,region,page\n' | stream none.cf
    printf 'time,addr,region,page\n5,0x1000,a,4294967295\n' | stream one.cf
    awk 'BEGIN { print "time,addr,region,page"; for (i = 0; i < 3000; i++) printf "%d,0x1000,sparse,%d\n", i, i * i * 400 }' | stream sparse.cf
    local s
    for s in none one sparse; do
        cf-heatmap --picture $s.png --html $s.html --picture-size 300x200 $s.cf >$s.csv
        [[ $(png_size $s.png) == 300x200 ]]
        COLUMNS=40 LINES=10 cf-heatmap --term $s.cf >$s.txt
        COLUMNS=1 LINES=1 NO_COLOR=1 cf-heatmap --term $s.cf >$s.txt
    done
    [[ $(total one.csv) == 1 && $(wc -l <none.csv) == 1 && $(total sparse.csv) == 3000 ]]
}

@test "a picture that cannot be written: status 3, and no file" {
    small
    run -3 --separate-stderr cf-heatmap --picture /nonexistent/a.png small.cf
    has '/nonexistent/a.png' "$stderr"
    run -3 --separate-stderr bash -c 'cf-heatmap --picture - small.cf >/dev/full'
    run -3 --separate-stderr bash -c 'cf-heatmap --html - small.cf >/dev/full'
}

@test "a picture keeps the mode of a file that is there, and follows a link to nothing" {
    walk 30 10
    touch a.png
    chmod 600 a.png
    ln -s b.png link.png
    cf-heatmap --picture a.png walk.cf >/dev/null
    cf-heatmap --picture link.png walk.cf >/dev/null
    [[ $(stat -c %a a.png) == 600 && -L link.png && ! -L b.png ]]
    cmp a.png b.png
    [[ $(echo *.tmp) == '*.tmp' ]]
}

@test "--html: bins as they are asked for, and fewer where cells would be too many" {
    walk 3000 10
    cf-heatmap -w 100 --html w.html walk.cf >/dev/null
    grep -q '"width":"100",' w.html
    cf-heatmap --bins 4096 --html fine.html walk.cf >/dev/null
    cf-heatmap --html page.html walk.cf >/dev/null
    cmp fine.html page.html
    # of 600 pages in each of 4000 times: 2.4 million cells, of which 1.2 million remain
    awk 'BEGIN { print "time,addr"; for (t = 0; t < 4000; t++) for (p = 0; p < 600; p++) print t "," p * 4096 }' | stream many.cf
    cf-heatmap -q --html many.html many.cf >/dev/null
    grep -q '"width":"2","bins":2000,' many.html
    grep -q '"cells":1200000,' many.html
}

@test "--html: one page with the data, nothing from the network" {
    walk 3000 10
    cf-heatmap --html a.html walk.cf >/dev/null
    grep -q '"bands":\[\["even",' a.html
    run ! grep -Eiq '(https?:)?//[a-z0-9]' <(sed -e 's/"data":"[^"]*"//' -e 's|^ *//.*||' -e 's|/\*.*\*/||' a.html)
    run ! grep -q '@DATA@' a.html
    cf-heatmap --html b.html walk.cf >/dev/null
    cmp a.html b.html
    # the cells are those of the CSV of as many bins as a page keeps, beside another CSV
    need python3 'decodes the cells'
    cf-heatmap --bins 4096 walk.cf >want.csv
    cf-heatmap --html b.html walk.cf >few.csv
    same <(cf-heatmap walk.cf) few.csv
    run ! cmp -s few.csv want.csv
    cat >cells.py <<'END'
import base64, json, re, sys
page = open(sys.argv[1], encoding='utf-8').read()
# as JavaScript, whose numbers have 53 bits
m = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1], parse_int=lambda text: int(float(text)))
data, at = base64.b64decode(m['data']), 0
def number():
    global at
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value
print('region,page,time_start_cycles,time_end_cycles,accesses')
for name, total, rows, resolved in m['bands']:
    page = 0
    for _ in range(rows):
        page += number()
        bin = 0
        for _ in range(number()):
            bin += number()
            start = int(m['start']) + bin * int(m['width'])
            print(name, page, start, start + int(m['width']), number(), sep=',')
assert at == len(data)
END
    python3 cells.py a.html | same want.csv -
    printf 'time,addr,region,page\n5,0x1000,m,0\n18428729675200071680,0x1000,m,0\n' | stream far.cf
    cf-heatmap -q -w 9007199254740993 --html far.html far.cf >far.csv
    python3 cells.py far.html | tail -n +2 | same <(tail -n +2 far.csv) -
}

@test "hostile names end no element, command no terminal, and break no CSV" {
    {
        printf 'addr,region,page\n'
        printf '0x1000,"</script><script>alert(1)</script>",1\n'
        printf '0x1000,"\033]0;owned\007\033[31m\302\2332J & \\ ""q""",2\n'
        printf '0x1000,"\377\376 bad utf-8 \342\200\256rtl",3\n'
        printf '0x1000,"<!--<b>",4\n'
    } | stream hostile.cf --clock '<x>
y'
    cf-heatmap --html h.html --picture h.png hostile.cf >h.csv
    run ! grep -q 'alert(1)</script>' h.html
    [[ $(grep -c '</script>' h.html) == 2 ]]
    run ! grep -q '<!--<b>' h.html
    head -n 1 h.csv | grep -q '^region,page,time_start__x__y,'
    need python3 'reads JSON'
    run -0 python3 - h.html <<'END'
import json, re, sys
page = open(sys.argv[1], encoding='utf-8').read()
m = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
print(len(m['bands']), '</script><script>alert(1)</script>' in [b[0] for b in m['bands']])
END
    is '4 True'
    COLUMNS=120 cf-heatmap --term hostile.cf >h.txt
    # only our own sequences: colours
    run ! grep -aqP '\x1b(?!\[[0-9;]*m)|\x07|\xc2\x9b|\xff|\xe2\x80\xae' h.txt
    NO_COLOR=1 COLUMNS=120 cf-heatmap --term hostile.cf >h.txt
    run ! grep -aqP '[\x00-\x09\x0b-\x1f\x7f]' h.txt
    grep -aq '?\]0;owned?' h.txt
}

@test "on a terminal the map is drawn, --csv writes CSV there" {
    need script 'makes a terminal'
    small
    export COLUMNS=80 LINES=24 TERM=xterm COLORTERM=truecolor
    script -qec 'cf-heatmap small.cf' /dev/null </dev/null >drawn.txt
    grep -aq '\[heap\]' drawn.txt
    grep -aq $'\033\[48;2;' drawn.txt
    run ! grep -aq 'region,page' drawn.txt
    script -qec 'cf-heatmap --csv small.cf' /dev/null </dev/null >csv.txt
    grep -aq 'region,page,time_start_instructions' csv.txt
    COLORTERM='' script -qec 'cf-heatmap small.cf' /dev/null </dev/null >drawn.txt
    grep -aq $'\033\[48;5;' drawn.txt
    run ! grep -aq $'\033\[48;2;' drawn.txt
    NO_COLOR=1 script -qec 'cf-heatmap small.cf' /dev/null </dev/null >drawn.txt
    run ! grep -aq $'\033' drawn.txt
    script -qec 'cf-heatmap --picture - small.cf; echo "status $?"' /dev/null </dev/null >refused.txt
    grep -aq 'status 2' refused.txt
}

@test "--term: text only, exactly" {
    small
    NO_COLOR=1 COLUMNS=60 LINES=20 run -0 cf-heatmap --term small.cf
    golden cf-heatmap/term.txt <(printf '%s\n' "$output")
}

@test "--term keeps to the width" {
    walk 3000 10
    local columns
    for columns in 30 60 133; do
        COLUMNS=$columns NO_COLOR=1 cf-heatmap --term walk.cf >out.txt
        ((columns < 60)) || [[ $(wc -L <out.txt) -le $columns ]] || fail "$columns: $(wc -L <out.txt)"
    done
}

@test "after cf-resolve" {
    cat >map.csv <<'END'
time,pid,op,start,end,offset,perms,name
0,7,map,0x10000,0x20000,0,3,[heap]
END
    printf 'time,pid,op,addr,size\n1,7,load,0x11008,8\n2,7,store,0x13000,8\n3,7,load,0x99000,8\n' |
        stream raw.cf --with map=map.csv
    cf-resolve raw.cf | cf-heatmap -q >out.csv
    grep -q '^\[heap\],1,1,2,1$' out.csv
    grep -q '^\[heap\],3,2,3,1$' out.csv
    [[ $(total out.csv) == 3 ]]
}

# timed TIME...: timed.cf and timed.html, snapshots 1, 2, ... at these times, of one line each
timed() {
    local i=0 t
    echo snapshot,time >snapshots.csv
    echo snapshot,addr >lines.csv
    for t in "$@"; do
        echo "$((++i)),$t" >>snapshots.csv
        echo "$i,0x1000" >>lines.csv
    done
    stream timed.cf -t line --clock cycles --with snapshot=snapshots.csv lines.csv
    cf-heatmap -q --html timed.html timed.cf >rows.csv
}

@test "snapshots at even times, or nearly, have an axis of time; others are counted" {
    timed 100 200 300 400
    grep -q '"title":"Cached lines of each page, over time"' timed.html
    grep -q '"zero":0,"period":100,"clock":"cycles"' timed.html
    # a timer that is late, and a last one that comes with the end of the program
    timed 1000 1130 1200 1290 1400 1420
    grep -q '"zero":900,"period":100,"clock":"cycles"' timed.html
    # no row has a time: what is counted is the same
    [[ $(sed -n 2p rows.csv) == '[unresolved],1,1,1' ]]
    for times in '100 200 900 1000' '100 100 100' '5' '100 200 300 550'; do
        # shellcheck disable=SC2086
        timed $times
        grep -q '"title":"Cached lines of each page, by snapshot"' timed.html || fail "$times"
        ! grep -q '"period"' timed.html || fail "$times"
    done
    # numbers of snapshots that were lost leave a gap in time
    printf 'snapshot,time\n1,100\n2,200\n7,700\n8,800\n' >snapshots.csv
    printf 'snapshot,addr\n1,0x1000\n8,0x1000\n' | stream gap.cf -t line --with snapshot=snapshots.csv
    cf-heatmap -q --html gap.html gap.cf >/dev/null
    grep -q '"zero":0,"period":100' gap.html
    # two streams have two beginnings
    cat gap.cf gap.cf | cf-heatmap -q --html two.html >/dev/null
    ! grep -q '"period"' two.html || fail "two streams"
    # on a terminal
    timed 1000000 2000000 3000000
    COLUMNS=100 run -0 cf-heatmap --term timed.cf
    has 'time (thousand cycles)'
}

@test "snapshots: lines of which only the physical address is known are at that" {
    printf 'snapshot,phys,addr,pid\n1,0x5040,0,0\n1,0,0x9000,7\n' | stream m.cf -t line
    run -0 --separate-stderr cf-heatmap -q m.cf
    [[ $(cut -d, -f2- <<<"$output" | tail -n 2) == $'5,1,1\n9,1,1' ]] || fail "$output"
}

@test "snapshots: numbers far apart are told, and so are streams whose numbers begin again" {
    printf 'snapshot,addr\n1,0x1000\n4000000000,0x1000\n' | stream far.cf -t line
    run -1 --separate-stderr cf-heatmap -q far.cf
    has 'numbers of snapshots' "$stderr"
    printf 'snapshot,addr\n1,0x1000\n' | stream one.cf -t line
    run -0 --separate-stderr cf-heatmap one.cf one.cf
    has 'same number are added up' "$stderr"
    run -0 --separate-stderr cf-heatmap one.cf
    has_not 'same number' "$stderr"
}

@test "a picture that is cut off is no picture: where SIGCHLD is ignored, too; a reader that goes away is no error" {
    awk 'BEGIN { print "time,op,addr,region,page"; for (i = 0; i < 5000; i++) printf "%d,load,0x%x,r,%d\n", i, i * 512, i / 8 }' |
        stream a.cf
    echo old >old.png
    run -3 --separate-stderr bash -c 'trap "" CHLD XFSZ; ulimit -f 1; exec cf-heatmap -q --csv --picture old.png a.cf >/dev/null'
    has 'File too large' "$stderr"
    [[ $(<old.png) == old ]]
    run -3 --separate-stderr bash -c 'ulimit -f 1; exec cf-heatmap -q --csv --picture old.png a.cf >/dev/null'
    has 'File too large' "$stderr"
    bash -c 'trap "" CHLD; exec cf-heatmap -q --csv --picture new.png a.cf >/dev/null'
    file new.png | grep -q 'PNG image'
    run -141 --separate-stderr bash -c 'set -o pipefail; cf-heatmap -q --picture - --picture-size 3000x3000 a.cf | head -c 10 >/dev/null'
    [[ ! $stderr ]]
}

@test "options that would be ignored are refused" {
    while IFS='|' read -r options said; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr cf-heatmap -q $options "$ROOT/samples/sort.cf"
        has "$said" "$stderr"
    done <<'END'
--level 2 --value misses|--value: of snapshots only lines are counted
--level 2 --table access|--level is of lines of snapshots
--table line --op load|--op: of snapshots only lines are counted
--table line --all|--all: of snapshots only lines are counted
--table line -b 8|--bins: each snapshot is a column, and they are not put together
--level 2 -w 8|--bin-width: each snapshot is a column, and they are not put together
--value loads --op store|--op does not go with --value loads or stores
--all --op load|--op does not go with --all
-b 5 -w 100|--bins does not go with --bin-width
END
    run -1 --separate-stderr cf-heatmap -q --level 2 "$ROOT/samples/sort.cf"
    has "none of table line" "$stderr"
}

@test "without column op there are no loads to count, and without time no bins" {
    cf-cat --columns addr,time "$ROOT/samples/sort.cf" -o noop.cf
    for what in "--value loads" "--op flush" "--op store --value accesses --partial"; do
        # shellcheck disable=SC2086
        run -1 --separate-stderr cf-heatmap -q $what noop.cf
        has "table access has no column 'op'" "$stderr"
    done
    run -0 bash -c "cf-heatmap -q --all noop.cf | awk -F, '{ n += \$5 } END { print n }'"
    is 310918
    cf-cat --columns addr,op "$ROOT/samples/sort.cf" -o notime.cf
    run -1 --separate-stderr cf-heatmap -q notime.cf
    has "table access has no column 'time'" "$stderr"
    [ -z "$output" ]
}
