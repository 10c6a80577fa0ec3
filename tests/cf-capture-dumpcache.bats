#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture dumpcache: snapshots of the published tool, made by make_dumpcache from a cache that is
# known, so that what comes out is held against what was in it.
load lib

setup_file() {
    export D=$BATS_FILE_TMPDIR
    mkdir "$D/page" "$D/half"
    "${CF_B:-$BATS_TEST_DIRNAME/../build}/test/make_dumpcache" "$D/page" 6 page 1
    "${CF_B:-$BATS_TEST_DIRNAME/../build}/test/make_dumpcache" "$D/half" 4 half 2
}

dump() {
    cf-capture-dumpcache "$@"
}

# compare TRUTH LINES.csv: what was in the cache came out with its addresses and process; beside
# that only leftovers. With a third argument the physical address is always known. Prints how many
# leftovers there are, and how many of them came out.
compare() {
    awk -F, -v half="${3:-}" '
        NR == FNR {
            key = $1 "," $2 "," $3
            if ($4 == "left") left[key] = 1
            else truth[key] = half ? $4 ",0,0" : $6 ? "0," $5 "," $6 : $4 ",0,0"
            next
        }
        FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            key = $at["snapshot"] "," $at["set"] "," $at["way"]
            is = substr($at["phys"], 3) "," substr($at["addr"], 3) "," $at["pid"]
            if (key in left) { kept++; next }
            if (truth[key] != is) { print key ": " truth[key] " became " is; bad = 1 }
            seen[key] = 1
        }
        END {
            for (key in truth) if (!(key in seen)) { print key " is missing"; bad = 1 }
            for (key in left) all++
            print all + 0, kept + 0
            exit bad
        }' "$1" "$2"
}

@test "a folder: every line of the cache with its address in the page, or its frame" {
    dump -q -o d.cf "$D/page"
    rows line d.cf >lines.csv
    run -0 compare "$D/page/truth.csv" lines.csv
    read -r all kept <<<"$output"
    # some of the leftovers are proven to be such, and no other line was left out
    [ "$all" -gt 1000 ]
    [ "$kept" -lt "$all" ]
}

@test "a folder: snapshots, their mode, tasks and mappings, each change once" {
    dump -q -o d.cf "$D/page"
    run -0 rows snapshot d.cf
    is 'snapshot,time,mode,level,sets,ways
1,1,15,2,2048,16
2,2,15,2,2048,16
3,3,15,2,2048,16
4,4,15,2,2048,16
5,5,15,2,2048,16
6,6,15,2,2048,16'
    run -0 rows task d.cf
    is 'time,pid,tid,parent,op,label
0,500,500,0,begin,snapshot
0,501,501,500,begin,
0,502,502,500,begin,
1,501,501,0,name,a program'
    run -0 rows map d.cf
    is 'time,pid,op,start,end,offset,perms,label
1,501,map,0x400000,0x401000,0,5,/home/user/a program
1,501,map,0x5500000000,0x5500100000,0,3,[heap]
1,502,map,0x7fb0000000,0x7fb0384000,0,3,
2,501,map,0x5500000000,0x5500384000,0,3,[heap]'
    run -0 cf-cat --info d.cf
    has snapshots
    run -0 bash -c "cf-resolve -q d.cf | cf-heatmap --csv"
    has '[heap]'
}

@test "lines of all files of a folder may end with CR LF" {
    dump -q -o d.cf "$D/page"
    cp -r "$D/page" crlf
    sed -i 's/$/\r/' crlf/*.csv crlf/*.txt
    dump -q -o c.cf crlf
    for table in line map task; do
        rows $table d.cf >want
        rows $table c.cf >got
        same want got
    done
}

@test "options say what the files do not: modes, times, level" {
    dump -q -t -a -e -p 2.5 --level 3 -o d.cf "$D/page"
    run -0 bash -c "cf-cat --csv --table snapshot d.cf | sed -n 2,3p"
    is '1,2500000,28,3,2048,16
2,5000000,28,3,2048,16'
    run -0 cf-cat --info d.cf
    has nanoseconds
}

@test "addresses that were not resolved are half the physical one" {
    dump -q --stale none -o h.cf "$D/half"
    rows line h.cf >lines.csv
    run -0 compare "$D/half/truth.csv" lines.csv half
    read -r all kept <<<"$output"
    [ "$all" = "$kept" ]
    run -0 bash -c "cf-cat --csv --table snapshot h.cf | sed -n 2p"
    is '1,1,11,2,2048,16'
}

@test "binary snapshots are the same snapshots, without mappings" {
    dump -q --stale none -o f.cf "$D"/half/cachedump?.csv
    dump -q --stale none -o b.cf "$D/half/dump.bin"
    rows line f.cf >f.csv
    rows line b.cf >b.csv
    same f.csv b.csv
    dump -q --stale none <"$D/half/dump.bin" | rows line >b.csv
    same f.csv b.csv
    # resolved, without mappings: what only these would tell is told as a guess
    run -0 --separate-stderr bash -c "cf-capture-dumpcache -o b.cf '$D/page/dump.bin'"
    has 'may be virtual or physical' "$stderr"
}

@test "leftovers: all, proven, equal ones" {
    local all proven same
    all=$(dump -q --stale none "$D/page" | rows line | wc -l)
    proven=$(dump -q --stale twice "$D/page" | rows line | wc -l)
    same=$(dump -q --stale same "$D/page" | rows line | wc -l)
    [ "$same" -lt "$proven" ]
    [ "$proven" -lt "$all" ]
    run -0 --separate-stderr dump -o d.cf "$D/page"
    has "$((all - proven)) entries left out" "$stderr"
}

@test "leftovers by hand: of two entries that name one line the older one goes" {
    cat >one.csv <<'END'
00007,0x005000010000
00007,0x005000020000
END
    cat >two.csv <<'END'
00007,0x005000010000
00007,0x005000010000
END
    local way
    # it came into way 1, so what is in way 0 is old
    run -0 bash -c "cf-capture-dumpcache -q --sets 1 --ways 2 one.csv two.csv | cf-cat --csv --table line"
    is 'snapshot,level,set,way,state,addr,pid
1,2,0,0,0,0x5000010000,7
1,2,0,1,0,0x5000020000,7
2,2,0,1,0,0x5000010000,7'
    # of three, the two that were there before
    printf '00007,0x0050000%s0000\n' 1 2 3 1 2 1 1 1 1 >three.csv
    run -0 bash -c "cf-capture-dumpcache -q --sets 1 --ways 3 three.csv | cf-cat --csv --table line --columns snapshot,way,addr | tail -n 3"
    is '2,1,0x5000020000
2,2,0x5000010000
3,1,0x5000010000'
    # a physical address is that of one line, whatever the process of the entry before it
    printf '%s,0x%s\n' 7 5000010000 7 10040 8 5000020000 7 5000010000 7 10040 8 10040 >frame.csv
    run -0 bash -c "cf-capture-dumpcache -q -A page --sets 1 --ways 3 frame.csv | cf-cat --csv --table line --columns snapshot,way,phys | tail -n 2"
    is '2,0,0x0
2,2,0x10040'
    # nothing tells which of the two is old
    run -0 bash -c "cf-capture-dumpcache -q --sets 1 --ways 2 two.csv | cf-cat --csv --table line"
    is 'snapshot,level,set,way,state,addr,pid
1,2,0,0,0,0x5000010000,7
1,2,0,1,0,0x5000010000,7'
}

@test "pids: 99999 is nobody, and a page without mapping keeps the one before it by option only" {
    # set 1: a virtual page, and a physical address with the pid of the entry before
    cat >p.csv <<'END'
99999,0x005000010000
00000,0x000000000000
00007,0x005000020000
00007,0x000080000040
END
    run -0 bash -c "cf-capture-dumpcache -q --sets 2 --ways 2 p.csv | cf-cat --csv --table line"
    is 'snapshot,level,set,way,state,addr,pid,phys
1,2,1,0,0,0x5000020040,7,0x0
1,2,1,1,0,0x0,0,0x80000040
1,2,0,0,0,0x0,0,'
    run -0 bash -c "cf-capture-dumpcache -q --keep-pids --sets 2 --ways 2 p.csv | cf-cat --csv --table line"
    has '1,2,1,1,0,0x0,7,0x80000040'
    # two of nobody at one virtual address need not be one line
    printf '99999,0x005000010000\n00007,0x005000020000\n' >one.csv
    printf '99999,0x005000010000\n99999,0x005000010000\n' >two.csv
    run -0 bash -c "cf-capture-dumpcache -q -A page --sets 1 --ways 2 one.csv two.csv | cf-cat --csv --table line --columns snapshot,set,way | tail -n 2"
    is $'2,0,0\n2,0,1'
}

@test "a line of nobody has no address, which is not physical address 0: it is never the same line" {
    printf '00000,0x000000001000\n99999,0x007f12345000\n' >one.csv
    printf '00000,0x000000001000\n99999,0x007f67890000\n' >two.csv
    cf-capture-dumpcache -q --addresses page --sets 2 --ways 1 -o d.cf one.csv two.csv
    run -0 --separate-stderr cf-sets d.cf
    is 'snapshot,time_snapshots,level,pid,name,active_lines,reused_lines,active_quota,reused_quota
1,1,2,0,[unknown],2,0,1.000000000,0.000000000
2,2,2,0,[unknown],2,1,1.000000000,0.500000000'
    has '2 lines have no address: they do not count as reused' "$stderr"
    run -1 cf-diff -q d.cf
    has '2 lines have neither a physical nor a virtual address'
}

@test "a cache of less than a page a way: that the place in the page is not known is said" {
    printf '00007,0x005000010000\n00007,0x005000020000\n' >one.csv
    run -0 --separate-stderr cf-capture-dumpcache --sets 2 --ways 1 -o d.cf one.csv
    has '2 lines have the first address that they may have in their page' "$stderr"
    run -0 --separate-stderr cf-capture-dumpcache --sets 2 --ways 1 --line-size 2048 -o d.cf one.csv
    [[ -z $stderr ]]
}

@test "full virtual addresses are taken as they are" {
    printf '00007,0x005000010008\n00007,0x005000123040\n' >f.csv
    run -0 bash -c "cf-capture-dumpcache -q --sets 2 --ways 1 f.csv | cf-cat --csv --table line"
    is 'snapshot,level,set,way,state,addr,pid
1,2,0,0,0,0x5000010008,7
1,2,1,0,0,0x5000123040,7'
    run -1 --separate-stderr bash -c "cf-capture-dumpcache -q -A half --sets 2 --ways 1 f.csv >out"
    has '2 addresses do not fit their set' "$stderr"
}

@test "the fork for the Cortex-A72: two levels of one snapshot" {
    mkdir fork
    printf '2\n90\n91\n' >fork/pids.txt
    for n in 0001 0002; do
        cat >"fork/cachedump.1.$n.csv" <<'END'
0,0,91,0x5b,0x00000001,0x4003f848,0xfe120000 ,0x0,0x0
0,1,91,0x5b,0x00000000,0x00000000,0x00000040 ,0x0,0x0
1,0,91,0x5b,0x00000003,0x0003f848,0xfe124000 ,0x0,0x0
1,1,99999,0x1869f,0x00000002,0x4003f848,0xfe120040 ,0x0,0x0
END
        cat >"fork/cachedump.2.$n.csv" <<'END'
VE, 0,0,1,  91,0x5b, 0x00000000,0x8001fc25,0xfe120000 ,0x0
II, 1,0,0,  0,0x0, 0x00000000,0x00000000,0x00000000 ,0x0
VS, 0,1,3,  91,0x5b, 0x00000000,0x0001fc27,0xfe120040 ,0x0
II, 1,1,0,  0,0x0, 0x00000000,0x00000000,0x00000000 ,0x0
END
    done
    dump -q -o f.cf fork
    run -0 rows snapshot f.cf
    is 'snapshot,time,mode,level,sets,ways
1,1,3,1,2,2
1,1,3,2,2,2
2,2,3,1,2,2
2,2,3,2,2,2'
    run -0 bash -c "cf-cat --csv --table line f.cf | head -n 6"
    is 'snapshot,level,set,way,state,addr,pid,phys
1,1,0,0,131,0x0,91,0xfe120000
1,1,0,1,1,0x0,91,0xfe124000
1,1,1,1,132,0x0,0,0xfe120040
1,2,0,0,133,0x0,91,0xfe120000
1,2,1,0,6,0x0,91,0xfe120040'
    # mappings are those of all its levels; a level that comes again is another snapshot
    echo '00400000-00401000 r-xp 00000000 08:01 7 /bin/a' >fork/91-1.txt
    cp fork/91-1.txt fork/91-2.txt
    cat fork/cachedump.1.0002.csv >>fork/cachedump.1.0001.csv
    dump -q -o f.cf fork
    run -0 rows snapshot f.cf
    is 'snapshot,time,mode,level,sets,ways
1,1,11,1,2,2
2,2,11,1,2,2
2,2,11,2,2,2
3,3,11,1,2,2
3,3,11,2,2,2'
    run -0 --separate-stderr bash -c "cf-occupancy -q --level 1 f.cf | cut -d, -f1,4-"
    is 'snapshot,pid,name,lines,share
1,91,a,2,0.500000
1,0,[unknown],1,0.250000
2,91,a,2,0.500000
2,0,[unknown],1,0.250000
3,91,a,2,0.500000
3,0,[unknown],1,0.250000'
}

@test "the fork: files of each level are as many as pids.txt says, whichever levels there are" {
    mkdir fork
    printf '2\n90\n91\n' >fork/pids.txt
    for n in 1 2; do
        echo 'VE, 0,0,1,  91,0x5b, 0x00000000,0x8001fc25,0xfe120000 ,0x0' >fork/cachedump.2.$n.csv
    done
    run -0 --separate-stderr bash -c 'cf-capture-dumpcache fork >f.cf'
    [[ -z $stderr ]]
    echo '0,0,91,0x5b,0x00000001,0x4003f848,0xfe120000 ,0x0,0x0' >fork/cachedump.1.1.csv
    run -1 --separate-stderr bash -c 'cf-capture-dumpcache fork >f.cf'
    [[ $stderr == 'cf-capture-dumpcache: fork/pids.txt: announces 2 snapshots, but here are 1 of level 1' ]]
    mv fork/cachedump.2.2.csv fork/cachedump.1.2.csv
    run -1 --separate-stderr bash -c 'cf-capture-dumpcache fork >f.cf'
    has 'announces 2 snapshots, but here are 1 of level 2' "$stderr"
}

@test "forms that name set and way: a line before them that cannot be read is no snapshot of its own" {
    mkdir fork
    printf '2\n90\n91\n' >fork/pids.txt
    for n in 1 2; do
        printf '%s\n' way,set '0,0,91,0x5b,0x00000001,0x4003f848,0xfe120000 ,0x0' way,set >fork/cachedump.1.$n.csv
    done
    run -1 --separate-stderr cf-capture-dumpcache -o f.cf fork
    [[ $(grep -c "'way,set' is no entry" <<<"$stderr") == 1 && $stderr != *"cut off"* ]]
    run -0 rows snapshot f.cf
    is $'snapshot,time,mode,level,sets,ways\n1,1,3,1,1,1\n2,2,3,1,1,1'
    # of the tool's own forms it is the first entry
    printf '%s\n' no 00007,0x5000010000 no no >own.csv
    run -1 --separate-stderr cf-capture-dumpcache -A page --sets 1 --ways 2 -o o.cf own.csv
    [[ $stderr != *"cut off"* ]]
    run -0 bash -c "cf-cat --csv --table snapshot --columns snapshot o.cf; cf-cat --csv --table line --columns snapshot,way o.cf"
    is $'snapshot\n1\n2\nsnapshot,way\n1,1'
}

@test "forms that name set and way: addresses that no line of the set can have are told of" {
    cat >r.txt <<'END'
SET:0000 WAY:00 V:1 D:1 NS:1 TAG:0000fe123000 DATA[0:63] 00000000 00000000
SET:0001 WAY:00 V:1 D:0 NS:0 TAG:0000fe124000 DATA[0:63] 00000000 00000000
SET:0066 WAY:00 V:1 D:0 NS:0 TAG:0000fe125080 DATA[0:63] 00000000 00000000
SET:0067 WAY:00 V:0 D:0 NS:0 TAG:000000000000 DATA[0:63] 00000000 00000000
END
    run -1 --separate-stderr bash -c 'cf-capture-dumpcache r.txt >r.cf'
    [[ $stderr == 'cf-capture-dumpcache: 1 addresses do not fit their set: they are damaged, or check --addresses, --sets and --ways' ]]
    # beyond all memory
    sed -i 's/TAG:0000fe124000/TAG:1000000fe124040/' r.txt
    run -1 --separate-stderr bash -c 'cf-capture-dumpcache r.txt >r.cf'
    has "r.txt:2: 'SET:0001 WAY:00 V:1 D:0 NS:0 TAG:1000000' is no entry of a snapshot" "$stderr"
    run -0 bash -c "cf-cat --csv --table line --columns set r.cf"
    is $'set\n0\n66'
    # what is not valid has any
    sed -i '2s/V:1/V:0/' r.txt
    run -0 --separate-stderr cf-capture-dumpcache r.txt -o r.cf
    [[ -z $stderr ]]
}

@test "the text of ramindex: the first level; a snapshot ends where a place comes again" {
    local i
    for i in 1 2; do
        cat <<'END'
SET:0000 WAY:00 V:1 D:1 NS:1 TAG:0000fe123000 DATA[0:63] 00000000 00000000
SET:0000 WAY:01 V:0 D:0 NS:0 TAG:000000000000 DATA[0:63] 00000000 00000000
SET:0001 WAY:00 V:1 D:0 NS:0 TAG:0000fe124040 DATA[0:63] 00000000 00000000
SET:0001 WAY:01 V:0 D:0 NS:0 TAG:000000000000 DATA[0:63] 00000000 00000000
END
    done >r.txt
    run -0 bash -c "cf-capture-dumpcache r.txt | cf-cat --csv --table line"
    is 'snapshot,level,set,way,state,addr,pid,phys
1,1,0,0,129,0x0,0,0xfe123000
1,1,1,0,0,0x0,0,0xfe124040
2,1,0,0,129,0x0,0,0xfe123000
2,1,1,0,0,0x0,0,0xfe124040'
    run -0 bash -c "cf-capture-dumpcache --level 1 r.txt | cf-cat --csv --table snapshot"
    has '2,2,3,1,2,2'
    # invalid places may be missing, so that it need not be the first one
    sed -n '3p;4p;1p;3p' r.txt >back.txt
    run -0 bash -c "cf-capture-dumpcache --level 3 back.txt | cf-cat --csv --table line --columns snapshot,level,set"
    is $'snapshot,level,set\n1,3,0\n1,3,1\n2,3,1'
}

@test "cut-off, damaged and missing files: what can be read is there, status 1, the place is told" {
    local n
    head -n 20000 "$D/page/cachedump0.csv" >cut.csv
    run -1 --separate-stderr dump -q -o c.cf cut.csv
    has 'cut.csv: cut off: its last snapshot has 20000 of 32768 entries' "$stderr"
    n=$(rows line c.cf | wc -l)
    [ "$n" -gt 1000 ]
    run -1 cf-cat --verify c.cf
    has "what wrote it says"
    head -c 400001 "$D/page/dump.bin" >cut.bin
    run -1 --separate-stderr dump -q -o c.cf cut.bin
    has 'cut.bin' "$stderr"
    has 'has 25000 of 32768' "$stderr"
    # a bad line keeps its place
    n=$(grep -n -m 1 -v 0x000000000000 "$D/page/cachedump0.csv" | cut -d: -f1)
    sed "${n}s/.*/rubbish/" "$D/page/cachedump0.csv" >bad.csv
    run -1 --separate-stderr dump -q -o c.cf bad.csv
    has "bad.csv:$n: 'rubbish' is no entry" "$stderr"
    dump -q -o g.cf "$D/page/cachedump0.csv"
    run -0 bash -c "diff <(cf-cat --csv --table line g.cf) <(cf-cat --csv --table line c.cf) | grep -c '^[<>]'"
    is 1
    # entries that no machine has, in text and in binary: big-endian ones, noise
    printf '%s,0x7f0000001000\n' 42 4194305 42 >none.csv
    printf '42,0x10000000000000\n' >>none.csv
    run -1 --separate-stderr dump -q --sets 1 --ways 4 -o c.cf none.csv
    has "none.csv:2: '4194305,0x7f0000001000' is no entry" "$stderr"
    has '2 lines were bad in all' "$stderr"
    for i in {0..3}; do printf '\0\0\0\x2a\0\0\0\0\0\0\x7f\0\0\0\x'$i'0\0'; done >big.bin
    run -1 --separate-stderr dump -q --sets 1 --ways 4 -o c.cf big.bin
    has 'big.bin:1: pid 704643072 with address 0x7f0000 is no entry of a snapshot: those of little-endian' "$stderr"
    has '4 lines were bad in all' "$stderr"
    run -0 rows line c.cf
    [ "${#lines[@]}" -le 1 ]
    # a folder from which a snapshot is missing
    cp -r "$D/page" gone
    rm gone/cachedump3.csv
    run -1 --separate-stderr dump -q -o c.cf gone
    has 'gone/pids.txt: announces 6 snapshots, but here are 5' "$stderr"
    [ "$(rows snapshot c.cf | wc -l)" = 6 ]
    rm gone/pids.txt
    run -1 --separate-stderr dump -q -o c.cf gone
    has 'gone/pids.txt: cannot be read' "$stderr"
    for pids in '6 500 501x' '6 500 0x1f5' '6 500 -501' '6 500 18446744073709551616'; do
        printf '%s\n' $pids >gone/pids.txt
        run -1 --separate-stderr dump -q -o c.cf gone
        has 'gone/pids.txt: holds a line that is no number' "$stderr"
    done
    for pids in '' ' '; do
        printf '%s' "${pids:+$pids$'\n'}" >gone/pids.txt
        run -1 --separate-stderr dump -q -o c.cf gone
        has 'gone/pids.txt: is empty: no task is known' "$stderr"
    done
    printf '%s\n' 5 500 501 500 >gone/pids.txt
    run -1 --separate-stderr dump -q -o c.cf gone
    has 'gone/pids.txt: a pid is not one, or stands there twice' "$stderr"
    [ "$(rows task c.cf | grep -c begin)" = 2 ]
    printf '6\n500\n5' >gone/pids.txt
    run -1 --separate-stderr dump -q -o c.cf gone
    has 'gone/pids.txt: the last line has no newline' "$stderr"
    run -1 --separate-stderr rows task c.cf
    has_not ',5,5,'
    has ',500,500,'
    cp "$D/page/pids.txt" gone
    mv gone/501-0.txt map
    head -c -3 map >gone/501-0.txt
    run -1 --separate-stderr dump -q -o c.cf gone
    has 'gone/501-0.txt: the last line has no newline' "$stderr"
    rm gone/501-0.txt
    mkdir gone/501-0.txt
    run -1 --separate-stderr dump -q -o c.cf gone
    has 'gone/501-0.txt: Is a directory' "$stderr"
    rmdir gone/501-0.txt
    mv map gone/501-0.txt
    echo 'no mapping' >>gone/501-0.txt
    cp "$D/page/pids.txt" "$D/page/cachedump3.csv" gone
    run -1 --separate-stderr dump -q -o c.cf gone
    has 'gone/501-0.txt: holds lines that are none' "$stderr"
    # lists of mappings: one that is missing between others, and of a process that has ended
    cp "$D/page/501-0.txt" gone
    cp "$D"/page/cachedump?.csv gone
    run -0 --separate-stderr dump -q -o c.cf gone
    [[ ! $stderr ]] || fail "$stderr"
    rm gone/502-2.txt gone/502-3.txt gone/501-5.txt
    run -1 --separate-stderr dump -o c.cf gone
    has 'gone/502-3.txt: is missing, though there is a later list of the process: what it has mapped at 2 snapshots is' "$stderr"
    has 'gone: process 501 has no list of mappings at the last 1 snapshots, as one that has ended' "$stderr"
    has_not 'process 502' "$stderr"
    mkdir empty
    run -1 --separate-stderr dump -o c.cf empty
    has 'empty: holds no snapshot' "$stderr"
    : >empty.csv
    run -1 --separate-stderr dump -o c.cf empty.csv "$D/page/cachedump0.csv"
    has 'empty.csv: is empty' "$stderr"
    [ "$(rows snapshot c.cf | wc -l)" = 2 ]
    run -1 --separate-stderr bash -c 'cf-capture dumpcache - </dev/null >c.cf'
    has 'no snapshot: the input is empty' "$stderr"
    run -1 cf-cat --verify c.cf
    has "what wrote it says"
}

@test "the numbers in names of a folder's files: whole ones of any length, and what has others is told of" {
    local name
    mkdir names
    printf '3\n7\n' >names/pids.txt
    for name in 9 1234567890 18446744073709551615; do
        printf '00007,0x5000%02d0000\n' "${#name}" >"names/cachedump$name.csv"
    done
    touch names/cachedump5.csv.old names/my-cachedump5.csv
    run -0 --separate-stderr dump -q -A page --sets 1 --ways 1 -o c.cf names
    [[ ! $stderr ]] || fail "$stderr"
    [ "$(rows snapshot c.cf | wc -l)" = 4 ]
    for name in ' 7' -1 +3 0x1 18446744073709551616 '' .10.1 .0.1 .1. .1.-2 . 1.bak; do
        cp names/cachedump9.csv "names/cachedump$name.csv"
        run -1 --separate-stderr dump -q -A page --sets 1 --ways 1 -o c.cf names
        has "names/cachedump$name.csv: is left out" "$stderr"
        [[ $stderr != *$'\n'* ]] || fail "$stderr"
        [ "$(rows snapshot c.cf | wc -l)" = 4 ]
        rm "names/cachedump$name.csv"
    done
    # by two names of one number there is no telling which came first
    cp names/cachedump9.csv names/cachedump09.csv
    run -1 --separate-stderr dump -q -A page --sets 1 --ways 1 -o c.cf names
    [[ $stderr == *"names/cachedump9.csv: has the number of names/cachedump09.csv: both are imported, in this order"* ]]
    [ "$(rows snapshot c.cf | wc -l)" = 5 ]
}

@test "a file without an entry is told of, though others have some: later snapshots have other numbers" {
    printf '00007,0x5000010000\n' >one.csv
    for n in 0 1; do
        head -c $n /dev/zero | tr '\0' '\n' >none.csv
        run -1 --separate-stderr bash -c 'cf-capture-dumpcache -q --sets 1 --ways 1 one.csv none.csv one.csv >n.cf'
        [[ $stderr == 'cf-capture-dumpcache: none.csv: is empty' ]]
    done
    # an empty line behind entries is none
    echo >>one.csv
    run -0 --separate-stderr bash -c 'cf-capture-dumpcache -q -A page --sets 1 --ways 1 one.csv one.csv >n.cf'
    [[ -z $stderr ]]
}

@test "one damaged address makes one line wrong, which is said" {
    local kind n
    for kind in page half; do
        dump -q --stale none -o g.cf "$D/$kind/cachedump1.csv"
        rows line g.cf >good
        n=$(grep -n -m 5 -v 0x000000000000 "$D/$kind/cachedump1.csv" | tail -n 1 | cut -d: -f1)
        sed "${n}s/,.*/,0x00ab12345677/" "$D/$kind/cachedump1.csv" >bad.csv
        run -1 --separate-stderr dump -q --stale none -o c.cf bad.csv
        has '1 addresses do not fit their set: they are damaged, or check' "$stderr"
        rows line c.cf >got
        [ "$(diff good got | grep -c '^[<>]')" = 2 ]
        rows snapshot g.cf >good
        rows snapshot c.cf >got
        same good got
    done
}

@test "random bytes are refused without harm" {
    local i
    for i in 1 2 3 4 5 6 7 8; do
        head -c $((i * 3000)) /dev/urandom >r.bin
        status=0
        cf-capture-dumpcache -q r.bin >out 2>err || status=$?
        [ $status = 1 ]
        head -c 256 /dev/urandom | cat - /dev/zero | head -c 524288 >r.bin
        run -1 cf-capture-dumpcache -q -o out r.bin
        { head -c 3000 /dev/urandom | tr -c '0-9,x\n:SETWAY' '0' && echo; } >r.txt
        status=0
        cf-capture-dumpcache -q --sets 64 --ways 4 r.txt >out 2>err || status=$?
        [ $status -le 1 ]
        cf-cat out >/dev/null || grep -q 'cut off\|is empty\|no snapshot' err
    done
}

@test "options that make no sense: status 2" {
    run -2 dump --sets 3 x
    run -2 dump --ways 0 x
    run -2 dump --ways 257 x
    run -2 dump --sets 4M --ways 16 x
    run -2 dump --stale old x
    run -2 dump -A virtual x
    run -2 dump -p 0 x
    run -0 dump --probe
    has ready
}
