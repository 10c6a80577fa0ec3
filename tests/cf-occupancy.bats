#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# cf-occupancy: lines of each process in each snapshot, and the pictures of them. What is counted is
# also tested by tests/unit/test_census.c.

load lib

# Two levels; snapshot 3 is empty; pid 0 is nobody. The level 2 cache has 4 sets of 2 ways.
small() {
    cat >snapshots.csv <<'END'
snapshot,time,mode,level,sets,ways
1,100,33,1,2,1
1,100,33,2,4,2
2,200,33,1,2,1
2,200,33,2,4,2
3,300,33,1,2,1
3,300,33,2,4,2
END
    printf 'time,pid,tid,op,label\n0,7,7,begin,sh\n0,8,8,begin,gzip\n1,7,7,name,sort\n1,7,9,name,thread\n' >tasks.csv
    stream small.cf -t line --clock cycles --with snapshot=snapshots.csv --with task=tasks.csv <<'END'
snapshot,level,set,way,state,phys,addr,pid,region,cpu
1,1,0,0,3,0x0,0x1000,7,[heap],0
1,2,0,0,3,0x0,0x1000,7,[heap],0
1,2,0,1,1,0x1000,0x2000,8,[heap],0
1,2,1,0,3,0x40,0x1040,7,libc.so.6,0
2,2,0,0,131,0x0,0x1000,7,[heap],0
2,2,3,1,1,0x8c0,0,0,,0
END
}

@test "lines and share of each process, by snapshot and level; an empty snapshot has no rows" {
    small
    run -0 cf-occupancy small.cf
    is 'snapshot,time_cycles,level,pid,name,lines,share
1,100,1,7,sort,1,0.500000
1,100,2,7,sort,2,0.250000
1,100,2,8,gzip,1,0.125000
2,200,2,7,sort,1,0.125000
2,200,2,0,[unknown],1,0.125000'
    run -0 cf-occupancy --level 1 small.cf
    is 'snapshot,time_cycles,level,pid,name,lines,share
1,100,1,7,sort,1,0.500000'
}

@test "--wide: a row a snapshot, also for an empty one, and what is empty" {
    small
    run -0 cf-occupancy --wide --level 2 small.cf
    is 'snapshot,time_cycles,level,sort (7),[unknown],gzip (8),[empty]
1,100,2,2,0,1,5
2,200,2,1,1,0,6
3,300,2,0,0,0,8'
    run -0 cf-occupancy --wide --level 2 --top 1 small.cf
    is 'snapshot,time_cycles,level,sort (7),[other],[empty]
1,100,2,2,1,5
2,200,2,1,1,6
3,300,2,0,0,8'
}

@test "streams of different clocks, and more processes than can be told apart, are told" {
    small
    printf 'snapshot,pid\n1,7\n' | stream other.cf -t line --clock nanoseconds
    printf 'snapshot,pid\n1,7\n' | stream slow.cf -t line --clock nanoseconds --hz 1000
    local p
    for p in cf-occupancy cf-sets; do
        run -0 --separate-stderr $p --lines 8 small.cf other.cf
        has "the streams count time in different units: their times do not compare" "$stderr"
        run -0 --separate-stderr $p --lines 8 slow.cf other.cf
        has "the streams count time in different units: their times do not compare" "$stderr"
        run -0 --separate-stderr $p --lines 8 slow.cf slow.cf
        [[ $stderr != *units* ]]
    done
    { echo snapshot,pid && seq 1 65536 | sed 's/^/1,/'; } | stream many.cf -t line
    run -0 cf-occupancy -q --top 1 many.cf
    { echo snapshot,pid && seq 1 65537 | sed 's/^/1,/'; } | stream many.cf -t line
    run -1 cf-occupancy -q --top 1 many.cf
    is "cf-occupancy: over 65536 different processes: choose some by cf-select, or fewer by --by"
}

@test "--top: the others are one" {
    small
    run -0 cf-occupancy --level 2 -n 1 small.cf
    is 'snapshot,time_cycles,level,pid,name,lines,share
1,100,2,7,sort,2,0.250000
1,100,2,,[other],1,0.125000
2,200,2,7,sort,1,0.125000
2,200,2,,[other],1,0.125000'
}

@test "--by region, cpu and state" {
    small
    run -0 cf-occupancy --by region --level 2 small.cf
    is 'snapshot,time_cycles,level,pid,name,region,lines,share
1,100,2,7,sort,[heap],1,0.125000
1,100,2,7,sort,libc.so.6,1,0.125000
1,100,2,8,gzip,[heap],1,0.125000
2,200,2,7,sort,[heap],1,0.125000
2,200,2,0,[unknown],[unresolved],1,0.125000'
    run -0 cf-occupancy --by state --level 2 small.cf
    is 'snapshot,time_cycles,level,state,lines,share
1,100,2,modified,1,0.125000
1,100,2,exclusive,2,0.250000
2,200,2,modified,1,0.125000
2,200,2,"exclusive, non-secure",1,0.125000'
    run -0 cf-occupancy --by cpu --level 2 small.cf
    is 'snapshot,time_cycles,level,cpu,lines,share
1,100,2,0,3,0.375000
2,200,2,0,2,0.250000'
    run -2 cf-occupancy --by colour small.cf
    has "'colour': give one of process, region, cpu, state"
    printf 'snapshot,pid\n1,7\n' | stream bare.cf -t line
    run -1 --separate-stderr cf-occupancy --by region bare.cf
    has region "$stderr"
    has cf-resolve "$stderr"
}

@test "--by state: all that tags can tell, each with its name and number of lines" {
    for state in 0 1 2 3 4 5 5 6 7 129 133 134 134 128; do
        echo "1,7,$state"
    done | { echo snapshot,pid,state && cat; } | stream s.cf -t line
    cf-occupancy -q --by state s.cf | sed 's/^1,,0,//; s/,$//' >out
    [[ $(grep -v snapshot out | sort | tr '\n' ' ') == '"[unknown], non-secure",1 "modified or exclusive, non-secure",1 "modified, non-secure",1 "owned or shared, non-secure",2 [reserved],1 [unknown],1 exclusive,1 modified or exclusive,2 modified,1 owned or shared,1 owned,1 shared,1 ' ]] || fail "$(cat out)"
    cf-occupancy -q --wide --by state s.cf | head -n 1 | grep -q ',modified or exclusive,'
}

@test "private caches of several cores: a share is of all of them" {
    printf 'snapshot,time,mode,level,sets,ways\n1,5,1,1,2,2\n' >snapshots.csv
    stream cores.cf -t line --with snapshot=snapshots.csv <<'END'
snapshot,level,cpu,set,way,pid
1,1,0,0,0,7
1,1,2,0,0,7
1,1,2,1,0,8
END
    cf-occupancy -q cores.cf >out.csv
    [[ $(column share out.csv | tr '\n' ' ') == '0.250000 0.125000 ' ]]
    # another stream has its own
    printf 'snapshot,level,cpu,set,way,pid\n1,1,0,0,0,7\n' | stream one.cf -t line --with snapshot=snapshots.csv
    cf-occupancy -q cores.cf one.cf cores.cf >out.csv
    [[ $(column share out.csv | tr '\n' ' ') == '0.250000 0.125000 0.250000 0.250000 0.125000 ' ]]
    cf-sets -q cores.cf one.cf >out.csv
    [[ $(column active_quota out.csv | tr '\n' ' ') == '0.250000000 0.125000000 0.250000000 ' ]]
}

@test "snapshots that nobody announced, without a level: shares need --lines" {
    printf 'snapshot,pid\n4,7\n4,7\n9,7\n9,8\n' | stream bare.cf -t line
    run -0 --separate-stderr cf-occupancy bare.cf
    is 'snapshot,time_records,level,pid,name,lines,share
4,,0,7,,2,
9,,0,7,,1,
9,,0,8,,1,'
    has 'give --lines' "$stderr"
    run -0 --separate-stderr cf-occupancy --lines 4 bare.cf
    is 'snapshot,time_records,level,pid,name,lines,share
4,,0,7,,2,0.500000
9,,0,7,,1,0.250000
9,,0,8,,1,0.250000'
    [[ -z $stderr ]]
}

@test "a stream without snapshots is refused" {
    printf 'op,addr\nload,0x10\n' | stream accesses.cf
    run -1 --separate-stderr cf-occupancy -q accesses.cf
    is ''
    has 'none of table line, which cf-cache --snapshot-every' "$stderr"
}

# What is at three places: a line that 7 and 8 map, one that 7 maps twice, with two names, and one of
# 8. `order` is how its rows are sorted.
shared() { # ORDER...
    printf 'snapshot,time,mode,level,sets,ways\n1,100,1,2,4,2\n' >snapshots.csv
    sort "$@" <<'END' | { echo snapshot,level,set,way,state,addr,pid,region,cpu && cat; } |
1,2,0,0,1,0x1000,7,libc.so.6,0
1,2,0,0,1,0x9000,8,libc.so.6,0
1,2,1,1,3,0x2040,7,[heap],0
1,2,1,1,3,0x5040,7,[heap],0
1,2,3,0,1,0x30c0,8,[heap],0
END
        stream shared.cf -t line --clock cycles --with snapshot=snapshots.csv
}

@test "a line counts once for each process that maps it, however often it does, and once in the cache" {
    local order
    for order in -s -r -k5,5 -k6,6; do
        shared -t , $order
        run -0 --separate-stderr cf-occupancy shared.cf
        same <(printf '%s\n' snapshot,time_cycles,level,pid,name,lines,share 1,100,2,7,,2,0.250000 1,100,2,8,,2,0.250000) <(echo "$output")
        has '1 snapshots have lines of several processes: these count for each of them' "$stderr"
        run -0 cf-occupancy -q --wide shared.cf
        [[ ${lines[1]} == 1,100,2,2,2,5 ]] || fail "$output"
        run -0 --separate-stderr cf-occupancy --by region shared.cf
        [[ $(column lines <(echo "$output") | paste -sd' ') == '1 1 1 1' && ${#lines[@]} == 5 ]] || fail "$output"
        has 'lines of several mappings' "$stderr"
        run -0 --separate-stderr cf-occupancy --by state shared.cf
        [[ $(column lines <(echo "$output") | sort | paste -sd' ') == '1 2' && -z $stderr ]] || fail "$output"
        run -0 --separate-stderr cf-occupancy --by cpu shared.cf
        [[ $(column lines <(echo "$output")) == 3 && -z $stderr ]] || fail "$output"
    done
    cf-occupancy -q --html page.html shared.cf >/dev/null
    grep -q 'of 8 lines; on average 37.5 % in use' page.html
}

@test "random snapshots with lines of several processes and names: as an awk program counts" {
    awk 'BEGIN { srand(5); print "snapshot,level,cpu,set,way,phys,addr,pid"
        for (s = 1; s <= 9; s++) for (i = 0; i < (s % 3 ? 4000 : 9000); i++) {
            n = s % 3 == 2 ? int(i / 8) : int(rand() * 1500) # some by their places
            printf("%d,2,%d,%d,%d,0x%x,0x%x,%d\n", s, n >= 750, n % 750 / 8, n % 8, 1048576 + n % 750 * 64,
                (1 + int(rand() * 3)) * 1073741824 + n * 64, rand() * 4) } }' >random.csv
    local columns
    cf-capture csv -q -t line -o random.cf random.csv
    for columns in snapshot,level,cpu,set,way,phys,addr,pid snapshot,level,cpu,phys,addr,pid snapshot,cpu,set,way,pid; do
        cf-cat --csv -q --table line --columns $columns random.cf | cf-capture csv -q -t line -o part.cf
        cf-occupancy -q part.cf | awk -F, 'NR > 1 { print $1 "," $4 "," $6 }' | sort >got
        awk -F, 'NR > 1 && !seen[$1, $3, $6, $8]++ { n[$1 "," $8]++ } END { for (i in n) print i "," n[i] }' random.csv | sort >want
        same want got
    done
}

@test "more rows than the cache has lines, of which nothing says which line they are, are told" {
    small
    run -0 --separate-stderr cf-occupancy --level 2 small.cf
    [[ -z $stderr ]]
    printf 'snapshot,pid\n1,7\n1,8\n1,9\n' | stream nameless.cf -t line
    run -0 --separate-stderr cf-occupancy --lines 2 nameless.cf
    has '1 snapshots list more lines than the cache has: its sets and ways are stated too low, or rows have no set' "$stderr"
}

@test "names with commas, control characters and markup do no harm" {
    printf 'time,pid,tid,op,label\n0,7,7,begin,"a,""b\033[31m</script><b>"\n' >tasks.csv
    printf 'snapshot,pid\n1,7\n1,7\n' | stream names.cf -t line --with task=tasks.csv
    cf-occupancy -q --html page.html names.cf >out.csv
    [[ $(tail -n 1 out.csv) == '1,,0,7,"a,""b'$'\033''[31m</script><b>",2,' ]]
    run ! grep -q '</script><b>' page.html
    NO_COLOR=1 COLUMNS=80 cf-occupancy -q --term names.cf >drawing
    run ! grep -q $'\033' drawing
}

@test "the drawing: letters without colours, halves of characters with them" {
    small
    COLUMNS=60 LINES=20 NO_COLOR=1 cf-occupancy --term small.cf >drawing
    grep -q '^Cache occupancy by process' drawing
    grep -q '^3 snapshots of level 2 of 8 lines' drawing
    grep -q 'A  sort  mean 12.5 %, at most 25.0 %' drawing
    # the first third of the lowest line is sort's, and the last is empty
    grep -q '^ *A* *$' drawing
    COLUMNS=60 LINES=20 COLORTERM=truecolor cf-occupancy --term small.cf >drawing
    grep -q $'\033\[48;2;0;57;89m' drawing
    [[ $(wc -L <drawing) -le 1000 ]]
}

@test "--picture: areas as high as the shares, and the ground where the cache is empty" {
    small
    cf-occupancy --picture map.png small.cf >out.csv
    [[ $(file -b map.png) == 'PNG image data, 1200 x 600, 8-bit/color RGB, non-interlaced' ]]
    # the frame spans x 50 to 967 and y 71 to 553, which is 40 %; snapshots are thirds of it; 1/8 is 151 lines
    pixels map.png 200,530 200,300 200,200 200,90 500,350 800,545 >colours
    cat >want <<'END'
003959 sort, 2 of 8 in snapshot 1
003959 also
bc8200 gzip above it, the third by rank
f3f4f7 empty
787a86 nobody's, in snapshot 2
f3f4f7 snapshot 3
END
    same <(cut -c 1-6 want) colours
    cf-occupancy --picture - small.cf | cmp - map.png
    run -2 cf-occupancy --picture - --html - small.cf
    run -2 cf-occupancy --picture-size 10x10 small.cf
    run -3 cf-occupancy --picture /no/such/directory/map.png small.cf
}

@test "--picture: a program keeps its name and colour whatever its rank, and time is on the axis" {
    local first
    small
    # snapshot 3 as long as the two before together: it takes the right half
    sed -i 's/^3,300,/3,400,/' snapshots.csv
    printf 'snapshot,level,set,way,pid\n1,2,0,0,7\n2,2,0,0,7\n2,2,0,1,8\n3,2,0,0,8\n3,2,0,1,8\n3,2,1,1,8\n' |
        stream late.cf -t line --clock cycles --with snapshot=snapshots.csv --with task=tasks.csv
    cf-occupancy --html late.html --picture late.png late.cf >/dev/null
    # gzip has most lines here; in small.cf it was sort
    first=$(grep -oE '"name":"gzip","colour":"#[0-9a-f]*"' late.html)
    [[ $(grep -oE '"name":"[a-z]*"' late.html | head -n 1) == '"name":"gzip"' ]]
    cf-occupancy --html small.html small.cf >/dev/null
    grep -qF "$first" small.html
    grep -q '"time":\["100","200","400"\],"unit":"cycles"' late.html
    # the second snapshot ends in the middle, at 509; there are sort and gzip, then gzip alone
    pixels late.png 500,545 515,545 500,300 >colours
    same <(printf '%s\n' "${first:(-7):6}" "${first:(-7):6}" "$(grep -oE '"sort","colour":"#[0-9a-f]*' late.html | tail -c 7)") colours
    # of two with one name the number tells
    printf 'time,pid,tid,op,label\n0,7,7,begin,sort\n0,8,8,begin,sort\n' >tasks.csv
    printf 'snapshot,pid\n1,7\n1,8\n' | stream twins.cf -t line --with task=tasks.csv
    cf-occupancy -q --html twins.html twins.cf >/dev/null
    grep -q '"sort (7)"' twins.html
    grep -q '"sort (8)"' twins.html
    run ! grep -q '"time":' twins.html
}

@test "--picture: many series with long names in one column of a paper, as every form" {
    local p edge
    for p in {1..30}; do
        echo "0,$p,$p,begin,a-program-with-a-long-name-$p"
    done | { echo time,pid,tid,op,label && cat; } >tasks.csv
    for p in {1..30}; do echo "1,2,0,0,3,0x0,0x1000,$p"; done |
        { echo snapshot,level,set,way,state,phys,addr,pid && cat; } | stream many.cf -t line --with task=tasks.csv
    for p in png svg pdf; do
        cf-occupancy -q -n 30 --picture many.$p --picture-size 85x60mm many.cf >/dev/null
        [[ $(stat -c %s many.$p) -lt 1000000 ]]
    done
    # nothing but paper at the edges: no text is cut there
    mapfile -t edge < <(for p in $(seq 1 7 708); do printf '%s\n' "1002,$p" "1,$p"; done)
    pixels many.png "${edge[@]}" | sort -u >edges
    same <(echo ffffff) edges
}

@test "--html: one page with the counts, and nothing from elsewhere" {
    small
    cf-occupancy --html page.html small.cf >out.csv
    grep -q '"lines":\[\[2,1,0\],' page.html
    grep -q '"snapshot":\[1,2,3\]' page.html
    run ! grep -E 'https?://|src=' page.html
    run ! grep -q '@DATA@' page.html
}

@test "a small share has its digits in what is said of a picture, and is no 0.0 %" {
    printf '%s\n' snapshot,time,mode,level,sets,ways 1,10,1,2,1024,16 >snapshots.csv
    printf '%s\n' snapshot,level,set,way,pid 1,2,0,0,7 | stream small.cf -t line --clock cycles --with snapshot=snapshots.csv
    run -0 cf-occupancy -q --html small.html --term small.cf
    grep -qF 'on average 0.0061 % in use' small.html
    has 'mean 0.0061 %, at most 0.0061 %'
}

@test "streams one after the other: snapshots go on" {
    small
    cat small.cf small.cf >two.cf
    cf-occupancy -q small.cf >one.csv
    cf-occupancy -q two.cf >two.csv
    { cat one.csv && tail -n +2 one.csv; } >want.csv
    same want.csv two.csv
}

@test "several streams: a process of another name in each is told" {
    for name in one two; do
        printf 'time,pid,tid,op,label\n0,7,7,name,first\n1,7,7,name,%s\n' $name >tasks.csv
        printf 'snapshot,pid\n1,7\n' | stream $name.cf -t line --with task=tasks.csv
    done
    run -0 --separate-stderr cf-occupancy --lines 2 one.cf two.cf one.cf
    has "process 7 is called 'two' in one stream and 'one' in another, and counted as one" "$stderr"
    run -0 --separate-stderr cf-occupancy --lines 2 two.cf two.cf
    [[ ! $stderr ]] || fail "$stderr"
    run -0 --separate-stderr cf-sets --lines 2 one.cf two.cf
    has_not "is called" "$stderr"
}

@test "sums over processes are the rows of each snapshot, of a model's snapshots of a real program" {
    cf-cache -q -m raspberry-pi-4 --snapshot-every 30000 -o snapshots.cf "$ROOT/samples/sort.cf"
    cf-occupancy -q snapshots.cf | awk -F, 'NR > 1 { n[$1] += $(NF - 1) } END { for (i in n) print i "," n[i] }' | sort >got
    rows line snapshots.cf | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "snapshot") c = i; next }
        { n[$c]++ } END { for (i in n) print i "," n[i] }' | sort >want
    [[ -s want ]]
    same want got
    # raw or packed, as a file or through a pipe
    cf-occupancy -q snapshots.cf >file.csv
    cf-cache -q -m raspberry-pi-4 --snapshot-every 30000 "$ROOT/samples/sort.cf" | cf-occupancy -q >pipe.csv
    same file.csv pipe.csv
}

@test "several streams: the axis tells where the next one begins" {
    printf 'snapshot,time,mode,level,sets,ways\n' >snapshots.csv
    printf 'snapshot,level,set,way,state,phys,addr,pid\n' >lines.csv
    local i
    for i in {1..40}; do
        echo "$i,${i}00,33,2,4,2" >>snapshots.csv
        echo "$i,2,0,0,3,0x0,0x1000,7" >>lines.csv
    done
    stream one.cf -t line --with snapshot=snapshots.csv lines.csv
    COLUMNS=100 LINES=20 NO_COLOR=1 cf-occupancy -q --term one.cf one.cf one.cf one.cf one.cf >drawing
    run -0 grep 'snapshot$' drawing
    [[ $output =~ ^(\ *1){4}\ *snapshot$ ]] || fail "$output"
}

@test "several streams: the picture names the command of each, once" {
    local p
    for p in sort gzip; do
        cf-select -q --time 0-60000 "$ROOT/samples/$p.cf" |
            cf-cache -q -m tegra-x1 --snapshot-every 20000 -o $p.cf
    done
    cf-occupancy -q --html page.html sort.cf gzip.cf sort.cf gzip.cf >/dev/null
    run -0 grep -oE '"command":"[^"]*"' page.html
    [[ $output =~ ^'"command":"sort '[^,]*', gzip '[^,]*'"'$ ]] || fail "$output"
    cf-occupancy -q --html page.html gzip.cf >/dev/null
    run -0 grep -oE '"command":"[^"]*"' page.html
    [[ $output =~ ^'"command":"gzip '[^,]*'"'$ ]] || fail "$output"
}

@test "snapshots that are all empty: a picture of the ground" {
    printf 'snapshot,time,mode,level,sets,ways\n1,100,33,2,4,2\n2,200,33,2,4,2\n' >snapshots.csv
    printf 'time,op,addr\n' | stream in.cf --with snapshot=snapshots.csv
    run -0 cf-occupancy -q --picture map.png --csv in.cf
    is snapshot,time_records,level,pid,name,lines,share
    [[ $(pixels map.png 400,300) == f3f4f7 ]]
}
