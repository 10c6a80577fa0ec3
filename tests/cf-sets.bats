#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# cf-sets: active and reused set quotas. What is counted is also tested by tests/unit/test_census.c
# and test_lineset.c.

load lib

# Mode 1 is flush. Of pid 7, line 0x40 is there twice in a row, in another way; line 0x80 comes back
# after a hole; line 0x1000 passes from 8 to 7.
small() {
    printf 'snapshot,time,mode,level,sets,ways\n1,10,1,2,4,2\n2,20,1,2,4,2\n3,30,1,2,4,2\n4,40,1,2,4,2\n' >snapshots.csv
    printf 'time,pid,tid,op,label\n0,7,7,begin,sort\n' >tasks.csv
    stream small.cf -t line --clock cycles --with snapshot=snapshots.csv --with task=tasks.csv <<'END'
snapshot,level,set,way,phys,addr,pid
1,2,1,0,0x40,0x1040,7
1,2,2,0,0x80,0x1080,7
1,2,0,1,0x1000,0x5000,8
2,2,1,1,0x40,0x1040,7
2,2,0,1,0x1000,0x7000,7
4,2,1,1,0x40,0x1040,7
4,2,2,0,0x80,0x1080,7
END
}

@test "active and reused lines by snapshot and process, with the snapshots where it has none" {
    small
    run -0 --separate-stderr cf-sets small.cf
    is 'snapshot,time_cycles,level,pid,name,active_lines,reused_lines,active_quota,reused_quota
1,10,2,7,sort,2,0,0.250000000,0.000000000
1,10,2,8,,1,0,0.125000000,0.000000000
2,20,2,7,sort,2,2,0.250000000,0.250000000
2,20,2,8,,0,0,0.000000000,0.000000000
3,30,2,7,sort,0,0,0.000000000,0.000000000
3,30,2,8,,0,0,0.000000000,0.000000000
4,40,2,7,sort,2,0,0.250000000,0.000000000
4,40,2,8,,0,0,0.000000000,0.000000000'
    [[ -z $stderr ]]
}

@test "--summary: mean over all snapshots and largest" {
    small
    run -0 cf-sets --summary small.cf
    is 'level,pid,name,snapshots,active_mean,active_max,reused_mean,reused_max
2,7,sort,4,0.187500000,0.250000000,0.062500000,0.250000000
2,8,,4,0.031250000,0.125000000,0.000000000,0.000000000'
    run -0 cf-sets --summary --top 1 small.cf
    [[ ${#lines[@]} == 2 ]]
}

@test "without physical addresses a line is the same by process and address" {
    printf 'snapshot,pid,addr\n1,7,0x40\n1,8,0x40\n1,7,0x80\n2,7,0x40\n2,9,0x40\n2,8,0x80\n' | stream v.cf -t line
    cf-sets -q --lines 4 v.cf >out.csv
    [[ $(awk -F, '$1 == 2 { print $4 ":" $7 }' out.csv | tr '\n' ' ') == '7:1 8:0 9:0 ' ]] || fail "$(cat out.csv)"
}

@test "some lines with a physical address, some without: each by what it has" {
    printf 'snapshot,pid,phys,addr\n1,7,0x40,0\n1,7,0,0x5000\n1,8,0,0x6000\n2,9,0x40,0\n2,7,0,0x5000\n2,9,0,0x6000\n3,9,0x80,0x6000\n' |
        stream m.cf -t line
    cf-sets -q --lines 4 m.cf >out.csv
    # 0x40 goes from 7 to 9 and is the same; address 0x6000 of 9 is not that of 8, and 0x80 is new
    [[ $(awk -F, 'NR > 1 && $1 > 1 && $6 { print $1 ":" $4 ":" $7 }' out.csv | tr '\n' ' ') == '2:7:1 2:9:1 3:9:0 ' ]] || fail "$(cat out.csv)"
    # neighbours of one address in two caches
    printf 'snapshot,cpu,pid,addr\n1,0,1001,0x40\n1,1,1000,0x80\n2,0,1000,0x40\n2,1,1001,0x40\n' | stream n.cf -t line
    cf-sets -q --lines 4 n.cf >out.csv
    [[ $(awk -F, '$1 > 1 { n += $7 } END { print n }' out.csv) == 0 ]] || fail "$(cat out.csv)"
}

@test "lines without any address are told, and none is reused" {
    printf 'snapshot,pid\n1,7\n2,7\n2,7\n' | stream bare.cf -t line
    run -0 --separate-stderr cf-sets --lines 4 bare.cf
    has '3 lines have no address' "$stderr"
    [[ $(cut -d, -f7 <<<"$output" | tail -n 1) == 0 ]]
}

@test "the same line in another core's cache is not reused, and another stream begins anew" {
    printf 'snapshot,cpu,pid,phys\n1,0,7,0x40\n1,1,7,0x80\n2,1,7,0x40\n2,1,7,0x80\n' | stream c.cf -t line
    cf-sets -q --lines 4 c.cf >out.csv
    [[ $(column reused_lines out.csv | tr '\n' ' ') == '0 1 ' ]]
    small
    cf-sets -q small.cf >one.csv
    cat small.cf small.cf | cf-sets -q >two.csv
    { sed '1s/$/,file/; 1!s/$/,standard input/' one.csv && sed '1d; s/$/,standard input:2/' one.csv; } >want.csv
    same want.csv two.csv
}

# short LINES NAME PID: a run of three snapshots of a program that has so many lines in each.
short() {
    printf 'snapshot,time,mode,level,sets,ways\n1,10,1,2,4,2\n2,20,1,2,4,2\n3,30,1,2,4,2\n' >snapshots.csv
    printf 'time,pid,tid,op,label\n0,%d,%d,begin,%s\n' "$3" "$3" "$2" >tasks.csv
    { echo snapshot,level,phys,pid
      for s in 1 2 3; do for ((i = 0; i < $1; i++)); do printf '%d,2,0x%x,%d\n' $s $((i * 64)) "$3"; done; done; } |
        stream "$2.cf" -t line --clock cycles --with snapshot=snapshots.csv --with task=tasks.csv
}

@test "several files are several programs: each has its own snapshots, means, name and file" {
    small
    short 4 gzip 7 # the pid of small's sort
    run -0 --separate-stderr cf-sets --summary small.cf gzip.cf
    is 'level,pid,name,snapshots,active_mean,active_max,reused_mean,reused_max,file
2,7,sort,4,0.187500000,0.250000000,0.062500000,0.250000000,small.cf
2,8,,4,0.031250000,0.125000000,0.000000000,0.000000000,small.cf
2,7,gzip,3,0.500000000,0.500000000,0.333333333,0.500000000,gzip.cf'
    cf-sets -q small.cf gzip.cf >both.csv
    { cf-sets small.cf | sed '1s/$/,file/; 1!s/$/,small.cf/' && cf-sets gzip.cf | sed '1d; s/$/,gzip.cf/'; } | same - both.csv
    # one file that holds both
    cat small.cf gzip.cf >joined.cf
    cf-sets -q joined.cf | sed 's/joined.cf:2$/gzip.cf/; s/joined.cf$/small.cf/' | same both.csv -
    # the picture: both begin at 0, and where one has ended there is nothing, not 0
    cf-sets -q --top 2 --html sets.html --picture sets.png small.cf gzip.cf >/dev/null
    grep -q '"time":\["10","20","30","40"\]' sets.html
    grep -q '"title":"active set quota, of the cache","stacked":false,"lines":\[\[4,4,4,null\],' sets.html
    grep -q '^\[2,2,0,2\]' sets.html
    # times that differ: each value is of all the time since the snapshot before
    printf 'snapshot,time,mode,level,sets,ways\n1,5015,1,2,4,2\n2,5030,1,2,4,2\n' >snapshots.csv
    printf 'snapshot,level,phys,pid\n1,2,0x40,9\n2,2,0x40,9\n2,2,0x80,9\n' |
        stream late.cf -t line --clock cycles --with snapshot=snapshots.csv
    cf-sets -q --html sets.html gzip.cf late.cf >/dev/null
    grep -q '"time":\["10","15","20","30"\]' sets.html
    grep -q '"lines":\[\[4,4,4,4\],' sets.html
    grep -q '^\[1,1,2,2\]' sets.html
}

@test "two programs of one name are told by their files; --colours: the same in every picture" {
    short 2 gzip 7
    mv gzip.cf a.cf
    short 3 gzip 7
    short 1 sort 9
    cf-sets -q --html sets.html --colours cc1,sort a.cf gzip.cf sort.cf >/dev/null
    grep -q '"name":"gzip of a.cf"' sets.html
    grep -q '"name":"gzip of gzip.cf"' sets.html
    # the second colour
    grep -q '"name":"sort","colour":"#bc8200"' sets.html
    cf-occupancy -q --html one.html --colours cc1,sort sort.cf >/dev/null
    grep -q '"name":"sort","colour":"#bc8200"' one.html
    # and no other has it
    [[ $(grep -o '"colour":"#[0-9a-f]*"' sets.html | sort -u | wc -l) == 3 ]]
}

# process FILE SETS TIME:PID,PID...: a snapshot at each time, of a cache of 2 ways, with a line for each PID.
process() {
    local file=$1 sets=$2 at n=0 pid
    echo snapshot,time,mode,level,sets,ways >snapshots.csv
    echo snapshot,level,set,way,pid >lines.csv
    for at in "${@:3}"; do
        echo "$((++n)),${at%:*},1,2,$sets,2" >>snapshots.csv
        for pid in $(tr , ' ' <<<"${at#*:}"); do echo "$n,2,$((i / 2)),$((i++ % 2)),$pid"; done >>lines.csv
    done
    stream "$file" -t line --clock cycles --with snapshot=snapshots.csv lines.csv
}

@test "pictures of several runs: processes with numbers only, and of one name in one run, are told apart" {
    local i=0
    process a.cf 4 10:7,7,8 20:7,8
    process b.cf 4 10:7,9
    cf-sets -q --html sets.html a.cf b.cf >/dev/null
    same - <(grep -o '"name":"[^"]*"' sets.html | sort) <<'END'
"name":"pid 7 of a.cf"
"name":"pid 7 of b.cf"
"name":"pid 8"
"name":"pid 9"
END
    for i in a b; do
        printf 'time,pid,tid,op,label\n0,7,7,begin,sh\n0,8,8,begin,sh\n0,9,9,begin,my sh\n' >tasks.csv
        cf-cat --csv --table snapshot $i.cf >snapshots.csv
        cf-cat --csv --table line $i.cf | stream $i.named.cf -t line --clock cycles --with snapshot=snapshots.csv --with task=tasks.csv
    done
    cf-sets -q --html sets.html a.named.cf b.named.cf >/dev/null
    same - <(grep -o '"name":"[^"]*"' sets.html | sort) <<'END'
"name":"my sh"
"name":"sh (7) of a.named.cf"
"name":"sh (8) of a.named.cf"
"name":"sh of b.named.cf"
END
}

@test "pictures: of caches of two sizes each counts by its own, in cf-occupancy too" {
    local i=0
    process small.cf 2 10:7,7 20:7,7
    i=0
    process large.cf 8 10:7,7 20:7,7
    column active_quota <(cf-sets -q small.cf large.cf) | sort -u | same - <(printf '0.125000000\n0.500000000\n')
    cf-sets -q --html sets.html small.cf large.cf >/dev/null
    grep -q '"whole":16,' sets.html
    grep -A1 -F '"title":"active set quota, of the cache","stacked":false,"lines":[[8,8],' sets.html | grep -qxF '[2,2]]},'
    cf-occupancy -q --html one.html small.cf large.cf >/dev/null
    grep -qF '"lines":[[8,8,2,2]]' one.html
    grep -qF '4 snapshots of level 2, caches of up to 16 lines; on average 31.2 % in use' one.html
    cf-occupancy -q --html one.html small.cf >/dev/null
    grep -qF '2 snapshots of level 2 of 4 lines; on average 50.0 % in use' one.html
}

@test "--picture of several runs: the mean is that of each one's own snapshots" {
    local i=0 places=() x y
    process few.cf 8 100:7 200:7,7,7,7,7,7,7
    i=0
    process dense.cf 8 {40..90..10}:7
    cf-sets -q --picture one.png few.cf >/dev/null
    cf-sets -q --picture both.png few.cf dense.cf >/dev/null
    # the line with the mean of the first in the legend
    for ((y = 82; y < 98; y++)); do for ((x = 1200; x < 1390; x++)); do places+=("$x,$y"); done; done
    same <(pixels one.png "${places[@]}") <(pixels both.png "${places[@]}")
    [[ $(inks one.png 1200-1390 82-98) -gt 1 ]]
}

@test "transparent snapshots are told, and a cache of unknown size" {
    small
    sed -i 's/,1,2,4,2$/,0,2,4,2/; 2s/,0,2,4,2$/,1,2,4,2/' snapshots.csv
    printf 'snapshot,level,pid,phys\n1,2,7,0x40\n' | stream t.cf -t line --with snapshot=snapshots.csv
    run -0 --separate-stderr cf-sets t.cf
    has '3 of 4 snapshots are transparent' "$stderr"
    printf 'snapshot,pid\n1,7\n' | stream bare.cf -t line
    run -0 --separate-stderr cf-sets bare.cf
    has 'give --lines' "$stderr"
    has_not transparent "$stderr" # nobody says how it was taken
    is 'snapshot,time_records,level,pid,name,active_lines,reused_lines,active_quota,reused_quota
1,,0,7,,1,0,,'
    run -0 --separate-stderr cf-sets -q bare.cf
    [[ -z $stderr ]]
}

@test "a model's snapshots: reused lines are those that joining the rows of neighbours gives" {
    cf-cache -q -m raspberry-pi-4 --snapshot-every 30000 --flush -o snapshots.cf "$ROOT/samples/gzip.cf"
    cf-sets snapshots.cf >out.csv
    cf-cat --csv --table line --columns snapshot,phys snapshots.cf | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { s = $at["snapshot"]; p = $at["phys"]; n[s]++; has[s, p] = 1; if ((s - 1, p) in has) r[s]++; if (s > last) last = s }
        END { for (s = 1; s <= last; s++) print n[s] + 0 "," r[s] + 0 }' >want
    paste -d, <(column active_lines out.csv) <(column reused_lines out.csv) >got
    same want got
    # there is something to count
    awk -F, '{ n += $2 } END { exit n < 100 }' got
}

@test "--picture and --html: that some of the processes are left out is said" {
    { echo snapshot,level,pid; for i in {1..20}; do echo "1,2,$i"; done; } | stream twenty.cf -t line
    cf-sets -q --html twenty.html twenty.cf >/dev/null
    grep -qF '; drawn: the 8 of 20 with most lines"' twenty.html
    cf-sets -q --top 20 --html all.html twenty.cf >/dev/null
    run ! grep -qF 'drawn: the' all.html
}

@test "--picture and --html: both profiles" {
    small
    cf-sets --picture sets.png --html sets.html small.cf >out.csv
    [[ $(file -b sets.png) == 'PNG image data, 1400 x 500, 8-bit/color RGB, non-interlaced' ]]
    grep -q '"title":"active set quota, of the cache","stacked":false,"lines":\[\[2,2,0,2\],' sets.html
    grep -q '"title":"reused set quota, of the cache","stacked":false,"lines":\[\[0,2,0,0\],' sets.html
    [[ $(wc -l <out.csv) == 9 ]]
    cf-sets --picture - small.cf | cmp - sets.png
}

@test "--picture: in the smallest picture there is room for both panels" {
    local at
    small
    cf-sets --picture tiny.png --picture-size 60x40mm small.cf >/dev/null
    mapfile -t at < <(for y in $(seq 100 4 400); do printf '%s\n' "300,$y" "640,$y"; done)
    pixels tiny.png "${at[@]}" | grep -c f3f4f7 >ground
    [[ $(cat ground) -gt 10 ]]
    # and nothing at the edges
    mapfile -t at < <(for y in $(seq 1 7 470); do printf '%s\n' "1,$y" "707,$y"; done)
    pixels tiny.png "${at[@]}" | sort -u >edges
    same <(echo ffffff) edges
}

@test "--picture: where one number has room beside the axis it is not 0 alone" {
    printf 'snapshot,time,mode,level,sets,ways\n1,5,1,2,64,2\n2,9,1,2,64,2\n' >snapshots.csv
    { echo snapshot,level,pid; for i in {0..69}; do echo "$((i / 35 + 1)),2,$((1000000000 + i % 7))"; done; } |
        stream low.cf -t line --with snapshot=snapshots.csv
    cf-sets -q --picture low.png --picture-size 60x40mm low.cf >/dev/null
    # left of the upper end of the axis
    [[ $(inks low.png 60-110 202-222) -gt 1 ]]
    # the legend lies below the title of the axis
    [[ $(pixels low.png 45,350) == ffffff ]]
}

@test "--picture: a title of any length leaves room for what is drawn" {
    small
    cf-sets -q --picture long.png --picture-size 60x40mm --title "$(seq -s ' ' 90)" small.cf >/dev/null
    # both panels below two lines of it, and numbers below those
    run -0 pixels long.png 300,280 640,280
    is $'f3f4f7\nf3f4f7'
    [[ $(inks long.png 120-140 325-350) -gt 1 ]]
}

@test "a picture into a pipe or a device is written there; neither is replaced" {
    small
    mkfifo pipe.png
    cat pipe.png >got.png &
    cf-sets --picture pipe.png small.cf >out.csv
    wait $!
    cf-sets --picture want.png small.cf >out.csv
    cmp want.png got.png
    [[ -p pipe.png ]]
    ln -s /dev/null nowhere.png
    cf-sets --picture nowhere.png small.cf >out.csv
    [[ -L nowhere.png && -c nowhere.png ]]
}

@test "a line that a process maps three times is one of its lines, and of each process that maps it" {
    printf 'snapshot,time,mode,level,sets,ways\n1,10,1,2,4,2\n2,20,1,2,4,2\n' >snapshots.csv
    for s in 1 2; do for p in 7 8; do for a in 0x1000 0x5000 0x9000; do echo "$s,2,1,0,0x40,$a,$p"; done; done; done |
        { echo snapshot,level,set,way,phys,addr,pid && cat; } |
        stream shared.cf -t line --clock cycles --with snapshot=snapshots.csv
    run -0 --separate-stderr cf-sets shared.cf
    is 'snapshot,time_cycles,level,pid,name,active_lines,reused_lines,active_quota,reused_quota
1,10,2,7,,1,0,0.125000000,0.000000000
1,10,2,8,,1,0,0.125000000,0.000000000
2,20,2,7,,1,1,0.125000000,0.125000000
2,20,2,8,,1,1,0.125000000,0.125000000'
}

@test "a level that no snapshot has" {
    small
    run -0 --separate-stderr cf-sets --level 3 small.cf
    has 'no snapshots of level 3' "$stderr"
}
