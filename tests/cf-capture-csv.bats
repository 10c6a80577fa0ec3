#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture csv: any table from CSV.
load lib

# "TABLE ROWS FIRST LAST" of each frame, as cf-cat --dump tells of it.
frames() {
    cf-cat --dump --rows 0 "$1" |
        sed -nE 's/^frame .*: table ([a-z]+), ([0-9]+) rows?, .*, time ([0-9]+) to ([0-9]+)$/\1 \2 \3 \4/p'
}

@test "accesses: ops by name, hex, decimal, text; any order of columns" {
    cat >a.csv <<'END'
addr,op,size,time,pid,tid,pc,function,level
0x1000,load,8,5,1,2,0x400,main,1
4096,store,4,6,1,2,1024,"a, ""b""",memory
0xffffffffffffffff,flush,1,18446744073709551615,4294967295,0,,,255
END
    cf-capture csv a.csv >a.cf
    run -0 cf-cat --csv a.cf
    is 'addr,op,size,time,pid,tid,pc,function,level
0x1000,load,8,5,1,2,0x400,main,1
0x1000,store,4,6,1,2,0x400,"a, ""b""",255
0xffffffffffffffff,flush,1,18446744073709551615,4294967295,0,0x0,,255'
}

@test "only addr: time is the number of the row" {
    printf 'addr\n0x10\n0x20\n0x30\n' | cf-capture csv >a.cf
    run -0 cf-cat --csv a.cf
    is 'time,addr
1,0x10
2,0x20
3,0x30'
}

@test "quotes, CR LF, a byte order mark, blank lines, blanks around cells" {
    printf '\xef\xbb\xbfaddr , "label"\r\n\r\n 0x10 ,"two\r\nlines"\r\n\n"0x20"," x "\r\n0x30,plain text\n' |
        cf-capture csv >a.cf
    cf-cat --csv --columns addr,label a.cf >got.csv
    printf 'addr,label\n0x10,"two\r\nlines"\n0x20," x "\n0x30,plain text\n' >want.csv
    same want.csv got.csv
}

@test "what cf-cat prints is read back to the same, for every table" {
    printf 'time,pid,tid,parent,op,name\n0,7,7,1,begin,prog\n3,7,8,7,name,worker\n9,7,7,0,exit,\n' >task.csv
    printf 'time,pid,op,start,end,offset,perms,name\n0,7,map,0x1000,0x3000,0,r-xp,/bin/x\n8,7,unmap,0x1000,0x3000,,,\n' >map.csv
    printf 'pid,stack,parent,pc\n7,1,0,0x400\n7,2,1,0x500\n' >stack.csv
    printf 'time,pid,tid,op,addr,bytes,stack\n1,7,7,alloc,0x9000,64,2\n7,7,7,free,0x9000,64,2\n' >object.csv
    printf 'time,pid,tid,cpu,count\n1,7,7,0,100\n' >switch.csv
    printf 'snapshot,time,mode,cost_cycles\n1,2,0,500\n2,6,1,700\n' >snapshot.csv
    printf 'snapshot,level,set,way,state,phys,addr,pid\n1,2,0,0,M,0x40,0x40,7\n2,2,0,1,S,0x80,,7\n' >line.csv
    printf 'region,page,sample,runtime_cycles,policy\n[heap],3,0,1000,1\n' >page.csv
    printf 'experiment,parameter,repeat,misses,time\nsize,1024,0,3,900\nsize,2048,0,4,100\n' >probe.csv
    printf 'time,op,addr,size\n4,load,0x10,4\n5,store,0x20,8\n' >access.csv
    with=()
    for t in task map stack object switch snapshot line page probe; do
        with+=(--with $t=$t.csv)
    done
    cf-capture csv "${with[@]}" access.csv >a.cf
    for t in task map stack object switch snapshot line page probe access; do
        cf-cat --csv --table $t a.cf >$t.got
        cf-capture csv --table $t $t.got >b.cf
        cf-cat --csv --table $t b.cf >$t.again
        same $t.got $t.again
        [ "$(wc -l <$t.got)" -eq "$(wc -l <$t.csv)" ] || fail "$t lost rows"
    done
    run -0 cat line.got
    is 'snapshot,level,set,way,state,phys,addr,pid
1,2,0,0,1,0x40,0x40,7
2,2,0,1,4,0x80,0x0,7'
    run -0 cat map.got
    has '0,7,map,0x1000,0x3000,0,5,/bin/x'
}

@test "dist_weight is a number with a fraction, which cf-cat prints and is read back" {
    cf-distance --rate 0.3 "$ROOT/samples/sort.cf" | cf-cat --csv --columns addr,dist,dist_weight | head -n 3000 >a.csv
    grep -q ',3[.]3333' a.csv
    cf-capture csv a.csv | cf-cat --csv --columns addr,dist,dist_weight >again.csv
    same a.csv again.csv
    run -1 --separate-stderr bash -o pipefail -c 'printf "addr,dist_weight\n1,2\n2,two\n3,inf\n4,0.5x\n" | cf-capture csv | cf-cat --csv --columns addr,dist_weight'
    is $'addr,dist_weight\n0x1,2'
    has "dist_weight 'two': give a number, also with a fraction" "$stderr"
    has "dist_weight 'inf': give" "$stderr"
    has "dist_weight '0.5x': give" "$stderr"
    printf 'addr,dist_weight\n1,-2\n2,3\n' >a.csv
    run -1 cf-capture csv -o a.cf a.csv
    has "dist_weight '-2': give"
}

@test "rows of other tables come before accesses of the same time" {
    awk 'BEGIN { print "time,addr"; for (i = 1; i <= 50000; i++) print i "," i }' >a.csv
    awk 'BEGIN { print "time,op,start,end"
        for (i = 0; i <= 48; i++) print i * 1024 ",map," i "," i + 1 }' >m.csv
    cf-capture csv --with map=m.csv a.csv | cat >a.cf
    # When an access frame that ends at time T comes, all mappings up to T have come; the first
    # frame ends at 16384, at the very time of a mapping.
    frames a.cf >frames
    run -0 awk '
        $1 == "map" { maps += $2 }
        $1 == "access" { rows += $2; if (maps < int($4 / 1024) + 1) print "too late: " $0 }
        END { print maps, rows }' frames
    is '49 50000'
    [ "$(grep -c ^access frames)" -ge 3 ]
    cf-cat --csv --table map a.cf >got.csv
    [ "$(column time got.csv)" = "$(column time m.csv)" ]
}

@test "without a time of their own, tasks and mappings are there from time 0" {
    printf 'addr\n0x1\n' >a.csv
    printf 'op,start,end\nmap,1,2\nmap,3,4\n' >m.csv
    cf-capture csv --with map=m.csv a.csv >a.cf
    run -0 cf-cat --csv --table map a.cf
    is 'time,op,start,end
0,map,0x1,0x2
0,map,0x3,0x4'
}

@test "the lines of a snapshot follow its row" {
    awk 'BEGIN { print "snapshot,time"; for (i = 1; i <= 40; i++) print i "," i * 10 }' >s.csv
    awk 'BEGIN { print "snapshot,set"
        for (i = 1; i <= 40; i++) for (k = 0; k < 1000 && i != 7; k++) print i "," k }' >l.csv
    cf-capture csv --table line --with snapshot=s.csv l.csv | cat >a.cf
    cf-cat --csv --table snapshot a.cf >got.csv
    same s.csv got.csv
    cf-cat --csv --table line a.cf >got.csv
    same l.csv got.csv
    # 16,384 lines are the first 17 snapshots and some: their rows, and not all 40, come first.
    run -0 bash -c "$(declare -f frames); frames a.cf | head -n 2"
    [[ ${lines[0]} =~ ^snapshot\ (1[789]|[23][0-9])\ 10\  ]] || fail "$output"
    [[ ${lines[1]} == 'line 16384 '* ]] || fail "$output"
}

@test "lines of a snapshot that has no row are told and left out, so that what is written is whole" {
    printf 'snapshot,time\n2,10\n4,20\n' >s.csv
    printf 'snapshot,set\n1,0\n2,1\n3,2\n4,3\n4,4\n5,5\n' >l.csv
    run -1 --separate-stderr cf-capture csv -t line -w snapshot=s.csv l.csv -o l.cf
    has 'l.csv:2:1: snapshot 1 is not in the file of snapshots: the line is left out' "${stderr_lines[0]}"
    [ "${#stderr_lines[@]}" = 3 ]
    cf-cat --verify l.cf
    run -0 rows line l.cf
    is $'snapshot,set\n2,1\n4,3\n4,4'
    # lines alone
    run -0 cf-capture csv -t line l.csv -o l.cf
    is ''
}

@test "--clock and --hz are in the header" {
    printf 'addr\n1\n' | cf-capture csv --clock cycles --hz 1900000000 >a.cf
    run -0 cf-cat --dump a.cf
    has cycles
    has 1900000000
    has cf-capture-csv
    printf 'addr\n1\n' | cf-capture csv >a.cf
    run -0 cf-cat --dump a.cf
    has records
}

@test "an unknown column: its place, and the known ones" {
    printf 'addr,sise\n1,2\n' >a.csv
    run -1 --separate-stderr bash -c 'cf-capture csv a.csv >a.cf'
    has "cf-capture-csv: a.csv:1:2: unknown column 'sise': known are time, cpu, pid" "$stderr"
    has_not trailer "$stderr"
    run -1 cf-cat --verify a.cf
    has "what wrote it says"
}

@test "a column twice, no addr, internal columns, an empty name" {
    for head in addr,addr size,time addr,rows addr,text addr, ; do
        printf '%s\n1,1\n' $head >a.csv
        run -1 cf-capture csv -o a.cf a.csv
        has a.csv:1
    done
    printf 'pid,addr,bytes\n7,0x1000,32\n' >m.csv
    run -1 cf-capture csv --table object -o a.cf m.csv
    is "cf-capture-csv: m.csv:1: no column 'op', which rows of table object need
cf-capture-csv: a.cf: not written: nothing was recorded"
    printf 'name,label\nx,y\n' >m.csv
    run -1 cf-capture csv --table map -o a.cf m.csv
    has 'a second time'
}

@test "a bad header spoils its own file only" {
    printf 'addr\n1\n' >a.csv
    printf 'begin\n1\n' >m.csv
    run -1 cf-capture csv --with map=m.csv -o a.cf a.csv
    has "m.csv:1:1: unknown column 'begin'"
    run -1 --separate-stderr cf-cat --csv --columns addr a.cf
    is 'addr
0x1'
}

@test "bad cells: file, line and cell are told, the row is left out, the rest is imported" {
    cat >a.csv <<'END'
time,op,addr,size,level
1,load,0x1,4,1
2,stor,0x2,4,1
3,load,zz,4,1
4,load,0x,4,1
5,load,,4,1
6,load,0x6,4294967296,1
7,load,0x7,-1,1
8,load,0x8,4
9,load,0x9,4,1,7
10,alloc,0xa,4,1
11,load,0xb,4,256
12,load,0x10000000000000000,4,1
13,load,"0xc
",4,1
15,load,0xd,4,1
END
    run -1 --separate-stderr bash -c 'cf-capture csv a.csv >a.cf'
    has "a.csv:3:2: op 'stor'" "$stderr"
    has "a.csv:4:3: addr 'zz'" "$stderr"
    has "a.csv:5:3: addr '0x'" "$stderr"
    has "a.csv:6:3: addr is empty" "$stderr"
    has "a.csv:7:4: size '4294967296': give a smaller number" "$stderr"
    has "a.csv:8:4: size '-1'" "$stderr"
    has "a.csv:9: 4 cells where the header names 5" "$stderr"
    has "a.csv:10: 6 cells" "$stderr"
    has "a.csv:11:2: op 'alloc'" "$stderr"
    has "a.csv:12:5: level '256'" "$stderr"
    has "12 lines were bad in all" "$stderr"
    [ "${#stderr_lines[@]}" -eq 11 ]
    run -0 cf-cat --csv --columns time,addr a.cf
    is 'time,addr
1,0x1
15,0xd'
}

@test "the number of a row counts bad rows too" {
    printf 'addr\n0x1\nx\n0x3\n' >a.csv
    run -1 cf-capture csv -o a.cf a.csv
    run -0 cf-cat --csv a.cf
    is 'time,addr
1,0x1
3,0x3'
}

@test "times out of order: told, kept, status 1" {
    printf 'time,addr\n5,1\n4,2\n6,3\n' >a.csv
    run -1 cf-capture csv -o a.cf a.csv
    has 'a.csv:3:1: time 4 comes after 5'
    run -1 --separate-stderr cf-cat --csv --columns time a.cf
    has 'time 4 stands behind time 5: out of order' "$stderr"
    is 'time
5
4
6'
}

@test "times out of order: each program behind says so, wherever they stand in a frame, and once a segment" {
    local at before
    for at in 2 3 500 16384 16385 20000; do
        awk -v at=$at 'BEGIN { print "time,addr"; for (i = 1; i <= 20000; i++) print (i == at ? 0 : i) "," i }' >a.csv
        before=$((at > 1 ? at - 1 : 1))
        for to in '' '-o a.cf'; do
            run -1 --separate-stderr bash -c "cf-capture csv a.csv $to >b.cf; cf-histogram --column time ${to:+a.cf} <b.cf"
            has "table access: time 0 stands behind time $before: out of order" "$stderr"
            run -1 --separate-stderr bash -c "cf-capture csv a.csv $to >b.cf; cf-cat --csv ${to:+a.cf} <b.cf | wc -l; exit \${PIPESTATUS[0]}"
            is 20001
        done
    done
    awk 'BEGIN { srand(4); print "time,addr"; for (i = 0; i < 3000; i++) print int(rand() * 9) "," i }' >a.csv
    run -1 cf-capture csv -o a.cf a.csv
    run -1 --separate-stderr bash -c 'cf-cat a.cf a.cf | cf-cat --dump -n 0'
    [[ $(grep -c '^frame .*: table access' <<<"$output") == 4 ]] # no frame for each time that goes back
    [[ $(grep -c 'out of order' <<<"$stderr") == 2 ]]            # one program's word, and the other's
}

@test "snapshots out of order, of lines or of their own table: told, left out, status 1, and what is written is whole" {
    printf 'snapshot,time\n1,10\n2,20\n' >s.csv
    printf 'snapshot,set\n1,0\n2,0\n1,1\n2,1\n' >l.csv
    run -1 cf-capture csv -t line -w snapshot=s.csv l.csv -o l.cf
    is 'cf-capture-csv: l.csv:4:1: snapshot 1 comes after 2: sort the file by snapshot; the row is left out'
    cf-cat --verify l.cf
    run -0 rows line l.cf
    is $'snapshot,set\n1,0\n2,0\n2,1'
    printf 'snapshot,time\n2,10\n1,20\n' >s.csv
    run -1 cf-capture csv -t snapshot s.csv -o s.cf
    has 's.csv:3:1: snapshot 1 comes after 2'
}

@test "an op that the table does not have, as a name or number or empty, and a mapping that ends before it starts" {
    # the numbers of din are others: 0 is its read
    printf 'op,addr\n0,1\n2,2\n99,3\n,4\n16,5\n300,6\nload,7\n' >a.csv
    run -1 --separate-stderr cf-capture csv -o a.cf a.csv
    has "a.csv:2:1: op '0': give the name of an operation of this table" "${stderr_lines[0]}"
    [ "${#stderr_lines[@]}" = 5 ]
    run -0 cf-cat --csv --columns op,addr a.cf
    is $'op,addr\nstore,0x2\nload,0x7'
    printf 'op,start,end\n9,1,2\nunmap,2,1\n16,1,1\nmap,1,2\n' >m.csv
    run -1 cf-capture csv -t map -o m.cf m.csv
    has "m.csv:2:1: op '9'"
    has 'm.csv:3: end is before start'
    run -0 cf-cat --csv --table map --columns op,start,end m.cf
    is $'op,start,end\nmap,0x1,0x1\nmap,0x1,0x2'
    # the other tables of accesses, and one whose rows have no operations: 300 is no byte, 44
    for table in bus unplaced lost; do
        printf 'time,op\n1,load\n2,99\n3,300\n4,\n' >b.csv
        run -1 --separate-stderr cf-capture csv -t $table -o b.cf b.csv
        [ "${#stderr_lines[@]}" = 3 ]
        run -0 cf-cat --csv --table $table --columns time,op b.cf
        is $'time,op\n1,load'
    done
    printf 'time,op\n1,free\n' >b.csv
    run -1 cf-capture csv -t bus -o b.cf b.csv
}

@test "a quote that is not closed ends the file with a message" {
    printf 'addr,label\n1,a\n2,"b\n3,c\n' >a.csv
    run -1 cf-capture csv -o a.cf a.csv
    has 'quote is not closed'
    run -0 cf-cat --csv --columns addr a.cf
    is 'addr
0x1'
    (printf 'addr,label\n1,a\n2,"'; yes 'b,c' | head -n 100000) >a.csv
    run -1 cf-capture csv -o a.cf a.csv
    has 'is a quote not closed'
}

@test "text behind quotes: told, its row is left out, and no row after it; quotes within text are text" {
    printf 'addr,label\n1,"a"b\n2,c\n3,d"e"\n4,"f" \n5,"g\n"h\n6,"i""j"\n7,"k\n8,l\n9,"m"\n10,n\n' >a.csv
    run -1 --separate-stderr cf-capture csv -o a.cf a.csv
    has 'a.csv:2:2: text behind the closing quote of a cell' "${stderr_lines[0]}"
    has 'a.csv:7:2: text' "${stderr_lines[1]}"
    has 'a.csv:11:2: text' "${stderr_lines[2]}"
    [ "${#stderr_lines[@]}" = 3 ]
    run -0 cf-cat --csv a.cf
    is $'time,addr,label\n2,0x2,c\n3,0x3,"d""e"""\n4,0x4,f\n6,0x6,"i""j"\n8,0xa,n'
    printf 'addr,"label"x\n1,a\n' >a.csv
    run -1 cf-capture csv -o a.cf a.csv
    is 'cf-capture-csv: a.csv:1:2: text behind the closing quote of a cell: a quote within one stands twice
cf-capture-csv: a.cf: not written: nothing was recorded'
    # a line that is left out because it is too long is missing in its cell
    (printf 'addr,label\n1,"a\n'; head -c 300000 /dev/zero | tr '\0' x; printf '\nb"\n2,c\n') >a.csv
    run -1 --separate-stderr cf-capture csv -o a.cf a.csv
    has 'a.csv:4:2: a line within quotes was too long and is missing' "${stderr_lines[1]}"
    run -0 cf-cat --csv --columns addr,label a.cf
    is $'addr,label\n0x2,c'
}

@test "a lone CR, a zero byte, noise, an endless line" {
    printf 'addr\n1\r2\r\n3\n' >cr.csv
    run -1 cf-capture csv -o a.cf cr.csv
    has 'a CR inside a line'
    run -0 cf-cat --csv --columns addr a.cf
    is 'addr
0x1
0x3'
    printf 'addr,label\n1,a\0b\n2,c\n' >zero.csv
    run -1 cf-capture csv -o a.cf zero.csv
    has 'zero.csv:2:2: label: a text with a zero byte'
    (printf 'addr\n'; head -c 300000 /bin/bash; echo) >noise.csv
    run -1 cf-capture csv -o a.cf noise.csv
    run -0 cf-cat --verify a.cf
    (printf 'addr,label\n1,'; head -c 300000 /dev/zero | tr '\0' x; printf '\n2,b\n') >long.csv
    run -1 cf-capture csv -o a.cf long.csv
    has 'more than 65536 bytes'
    [[ $(grep -c 'more than' <<<"$output") == 1 ]]
    run -0 cf-cat --csv --columns addr,label a.cf
    is 'addr,label
0x2,b'
}

@test "many rows, over the ends of batches, with many texts" {
    awk 'BEGIN { print "time,op,addr,function"
        for (i = 1; i <= 20000; i++) print i ",load,0x" sprintf("%x", i * 64) ",f" i % 5000 }' >a.csv
    awk 'BEGIN { print "time,pid,op,start,end,label"
        for (i = 1; i <= 3000; i++) print i * 5 ",1,map," "0x" i "000,0x" i "fff,m" i }' >m.csv
    cf-capture csv --with map=m.csv a.csv | cat >a.cf
    cf-cat --csv a.cf >got.csv
    same a.csv got.csv
    cf-cat --csv --table map a.cf >got.csv
    same m.csv got.csv
    cf-capture csv -o p.cf --with map=m.csv a.csv
    cf-cat --csv p.cf >got.csv
    same a.csv got.csv
    cf-capture csv --with map=m.csv a.csv | cmp - a.cf
}

@test "of a file whose header row is bad all is missing: readers of the stream are told, and a file is kept" {
    printf '%s\n' pid,addr 7,0x1000 >a.csv
    printf '%s\n' pid,op,begin,end 7,map,1,2 >m.csv
    echo old >out.cf
    run -1 --separate-stderr bash -c 'set -o pipefail; cf-capture csv --with map=m.csv a.csv >a.cf'
    run -1 --separate-stderr cf-cat --csv a.cf
    is "time,pid,addr
1,7,0x1000"
    has "cut off, damaged or not what it needs" "$stderr"
    run -1 --separate-stderr cf-capture csv -o out.cf m.csv
    has "unknown column 'begin'" "$stderr"
    has "out.cf: not written" "$stderr"
    [[ $(<out.cf) == old ]]
    run -1 --separate-stderr bash -c 'cf-capture csv <m.csv 2>/dev/null | cf-cat --csv'
    has "cut off, damaged or not what it needs" "$stderr"
    run -1 --separate-stderr bash -c 'cf-capture csv nothing.csv >b.cf'
    has "no records: no input could be read" "$stderr"
}

@test "empty input is an error, a header row alone is not" {
    run -1 --separate-stderr bash -c 'cf-capture csv </dev/null >a.cf'
    has 'no records' "$stderr"
    run -1 cf-cat --verify a.cf
    has "what wrote it says"
    printf 'time,addr\n' >a.csv
    run -0 cf-capture csv -o a.cf a.csv
    is ''
    run -0 cf-cat --verify a.cf
    printf 'op,start,end\nmap,1,2\n' >m.csv
    run -0 cf-capture csv --with map=m.csv -o a.cf /dev/null
    is ''
}

@test "one of several files is empty: it is named, and the stream says that it is not whole" {
    printf 'time,addr\n1,64\n' >a.csv
    : >maps.csv
    run -1 cf-capture csv -o t.cf --with map=maps.csv a.csv
    is 'cf-capture-csv: maps.csv is empty; it begins with a row of column names'
    run -1 rows access t.cf
    has '1,0x40'
    run -1 cf-capture csv -o t.cf --with map=- a.csv </dev/null
    is 'cf-capture-csv: standard input is empty; it begins with a row of column names'
}

@test "standard input is left alone when --with has given the main table" {
    printf 'addr\n1\n' >a.csv
    run -0 bash -c '(cf-capture csv --with access=a.csv >a.cf; cat) <<<"still here"'
    is 'still here'
}

@test "rows arrive while the input is silent" {
    importing csv 'addr\n0x20\n' 0x20
    exec 8>&-
    wait "$pid" "$copy"
    cf-cat --verify t.cf
}

@test "a full disk is an error; a closed pipe is none" {
    awk 'BEGIN { print "addr"; for (i = 0; i < 100000; i++) print i }' >t.csv
    run -3 bash -c 'cf-capture csv t.csv >/dev/full'
    run -0 bash -c 'cf-capture csv t.csv | head -c 100 >/dev/null'
    is ''
}

@test "usage: options that are wrong" {
    printf 'addr\n1\n' >a.csv
    run -2 cf-capture csv --nonsense
    run -2 cf-capture csv --with map
    run -2 cf-capture csv --with =a.csv
    run -2 cf-capture csv --with map=
    run -2 cf-capture csv --with nonsense=a.csv
    has "no table 'nonsense': give one of task, "
    has ", bus"
    run -2 cf-capture csv --with string=a.csv
    run -2 cf-capture csv --with map=a.csv --with map=a.csv
    has 'two files for the table map'
    run -2 cf-capture csv --table end a.csv
    run -2 cf-capture csv --hz 0 a.csv
    run -2 cf-capture csv a.csv a.csv
    run -2 cf-capture csv --with map=- -
    run -1 cf-capture csv -o a.cf missing.csv
    has 'missing.csv: No such file'
    run -0 cf-capture csv --help
    has 'Usage: cf-capture csv'
    run -0 cf-capture csv --probe
    has 'ready: '
}

@test "a signal before any record: it is not said that the input is empty" {
    mkfifo in
    exec 8<>in
    catches_term() { # PID: it has begun to read, and waits for more
        local status
        status=$(<"/proc/$1/status")
        [[ $status =~ State:[[:blank:]]S && $status =~ SigCgt:[[:blank:]]*([0-9a-f]+) ]] &&
            ((16#${BASH_REMATCH[1]} >> 14 & 1))
    }
    for importer in csv dumpcache; do
        local status=0
        "cf-capture-$importer" -o t.cf - <in 2>err 3>&- 8>&- &
        printf 'time,addr,' >&8
        eventually catches_term $!
        kill -TERM $!
        wait $! || status=$?
        [ $status = 143 ]
        grep -q ': no [a-z]*: a signal ended the input before any came$' err || fail "$(<err)"
        [ "$(wc -l <err)" = 2 ] # and that the file was not written
    done
}

@test "what is made of a text that was cut off is not whole to the programs that read it, by other importers too" {
    printf 'time,op,addr\n1,load,0x1\n2,load,0x22' >cut.csv
    run -1 cf-capture csv -q -o cut.cf cut.csv
    run -1 --separate-stderr cf-rank -q --by op cut.cf
    has "what wrote it says that its own input was cut off" "$stderr"
    [[ ${lines[1]} == 1,load,1,* ]]
    run -1 cf-cat --verify cut.cf
    printf ' L 1000,8\n L 10' | run -1 cf-capture lackey -o cut.cf
    run -1 cf-cat --verify cut.cf
    printf '0 1000\n0 10' | run -1 cf-capture din -o cut.cf
    run -1 cf-cat --verify cut.cf
}
