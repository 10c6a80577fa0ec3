# SPDX-License-Identifier: BSD-2-Clause
#
# cf-merge: by time against sort, interleaving against a clock kept by hand and by awk.
load lib

random_csv() { # ROWS SEED STEP: accesses in the order of time
    awk -v n="$1" -v seed="$2" -v step="$3" 'BEGIN {
        srand(seed); t = 0
        print "time,pid,tid,op,size,addr,function"
        for (i = 0; i < n; i++) {
            t += int(rand() * step)
            printf "%d,%d,%d,%s,%d,0x%x,s%d_%d\n", t, 100 + int(rand() * 2), 100 + int(rand() * 4),
                rand() < .5 ? "load" : "store", 8, rand() * 1048576, seed * (rand() < .5), rand() * 20
        } }'
}

# sorted FILE.csv...: their rows by time, those of an earlier file first where times are equal
sorted() {
    head -n 1 "$1"
    local f
    for f; do tail -n +2 "$f"; done | sort -s -t, -k1,1n
}

@test "by time: three inputs against sort, raw and packed, to a pipe and to a file" {
    random_csv 30000 1 4 >a.csv
    random_csv 20000 2 6 >b.csv
    random_csv 70 3 1500 >c.csv
    stream a.cf a.csv
    stream b.packed.cf b.csv
    stream c.cf c.csv
    sorted a.csv b.csv c.csv >want.csv
    cf-merge a.cf b.packed.cf c.cf | cf-cat --csv | cmp want.csv -
    cf-merge a.cf b.packed.cf - <c.cf -o m.packed.cf
    cf-cat --csv m.packed.cf | cmp want.csv -
    run -0 cf-cat --verify m.packed.cf
    has "50070 rows of access"
    # equal times: the order of the inputs decides
    sorted c.csv a.csv b.csv >want.csv
    cf-merge c.cf a.cf b.packed.cf | cf-cat --csv | cmp want.csv -
}

@test "transfers on a bus stand before the accesses that they go with, in a pipe, too" {
    printf 'time,op,addr\n5,load,0x1\n50,load,0x2\n' >a.csv
    printf 'time,op,size,addr,master,transfer,burst\n4,load,32,0x0,0,0,0\n49,load,32,0x20,0,0,0\n' >b.csv
    stream a.cf --with bus=b.csv a.csv
    printf 'time,op,addr\n6,load,0x1\n' | stream c.cf
    cf-merge a.cf c.cf >m.cf
    cf-cat --verify m.cf
    run -0 cf-cat --csv --table bus --columns time m.cf
    is $'time\n4\n49'
    run -0 cf-cat --csv --columns time m.cf
    is $'time\n5\n6\n50'
}

@test "by time: long stretches of one input, and inputs that do not overlap" {
    awk -v OFS=, 'BEGIN { print "time,addr"; for (i = 0; i < 40000; i++) print i, "0x1" }' >a.csv
    awk -v OFS=, 'BEGIN { print "time,addr"; for (i = 30000; i < 90000; i++) print i, "0x2" }' >b.csv
    stream a.cf a.csv
    stream b.cf b.csv
    sorted a.csv b.csv >want.csv
    cf-merge b.cf a.cf | cat >m.cf
    sorted b.csv a.csv >want.csv
    cf-cat --csv m.cf | cmp want.csv -
    # frames are full, however short the runs are
    run -0 cf-cat --info m.cf
    has '"access": {rows: 100000, frames: 7,'
}

@test "one input comes out as it was, with every table" {
    random_csv 20000 4 3 >a.csv
    printf 'time,pid,op,start,end,offset,perms,label\n0,100,map,0x0,0x1000,0,3,x\n900,101,map,0x0,0x1000,0,3,y\n' >m.csv
    printf 'time,pid,tid,op,addr,bytes,stack\n3,100,100,alloc,0x10,64,1\n800,100,100,free,0x10,64,1\n' >o.csv
    printf 'pid,stack,parent,pc\n100,1,0,0x400000\n' >s.csv
    printf 'time,pid,tid,parent,op,label\n0,100,100,1,begin,main\n' >t.csv
    stream a.cf --with map=m.csv --with object=o.csv --with stack=s.csv --with task=t.csv a.csv
    cf-merge a.cf >b.cf
    local table
    for table in access map object stack task; do
        cf-cat --csv --table $table a.cf >want.csv
        cf-cat --csv --table $table b.cf >got.csv
        same want.csv got.csv
    done
}

@test "other tables: in the order of time, and before accesses of the same time" {
    printf 'time,pid,op,start,end,label\n0,1,map,0x0,0x1000,a0\n50,1,map,0x1000,0x2000,a50\n' >ma.csv
    printf 'time,pid,op,start,end,label\n10,2,map,0x0,0x1000,b10\n50,2,map,0x1000,0x2000,b50\n70,2,map,0x2000,0x3000,b70\n' >mb.csv
    printf 'time,pid,addr\n5,1,0x1\n50,1,0x2\n' >a.csv
    printf 'time,pid,addr\n20,2,0x3\n60,2,0x4\n' >b.csv
    stream a.cf --with map=ma.csv a.csv
    stream b.cf --with map=mb.csv b.csv
    run -0 bash -c 'cf-merge a.cf b.cf | cf-cat --csv --table map --columns time,pid,label'
    is "time,pid,label
0,1,a0
10,2,b10
50,1,a50
50,2,b50
70,2,b70"
    # many accesses, so that several frames go out: each mapping comes before the frame it explains
    awk -v OFS=, 'BEGIN { print "time,pid,addr"; for (i = 0; i < 50000; i++) print i, 1, "0x1" }' >c.csv
    awk -v OFS=, 'BEGIN { print "time,pid,op,start,end"; for (i = 0; i < 50000; i += 5000) print i, 2, "map", i, i + 1 }' >mc.csv
    stream c.cf c.csv
    stream mc.cf --table map mc.csv
    cf-merge c.cf mc.cf | cat >m.cf
    cf-cat --dump --rows 20000 m.cf | awk '
        / op=map / { match($0, /time=[0-9]+/); t = substr($0, RSTART + 5, RLENGTH - 5); m[t] = 1 }
        /^    time=[0-9]+ pid=1 addr/ { match($0, /time=[0-9]+/); t = substr($0, RSTART + 5, RLENGTH - 5)
            n++; if (t % 5000 == 0) { seen++; if (!(t in m)) bad = 1 } }
        END { exit !(n == 50000 && seen == 10 && !bad) }'
}

@test "strings are written anew, so that equal texts have one id" {
    printf 'time,addr,function\n1,0x1,x\n3,0x1,y\n' >a.csv
    printf 'time,addr,function\n2,0x1,y\n4,0x1,x\n5,0x1,\n' >b.csv
    stream a.cf a.csv
    stream b.cf b.csv
    cf-merge a.cf b.cf >m.cf
    run -0 cf-cat --csv m.cf
    is "time,addr,function
1,0x1,x
2,0x1,y
3,0x1,y
4,0x1,x
5,0x1,"
    run -0 cf-cat --csv --table string m.cf
    [[ ${#lines[@]} == 3 ]]
}

@test "clashing processes are told, and --renumber and --pid-offset keep them apart" {
    printf 'time,pid,tid,addr\n1,7,8,0x1\n' >a.csv
    printf 'time,pid,tid,parent,op,label\n0,7,8,1,begin,x\n0,0,0,0,begin,kernel\n' >t.csv
    stream a.cf --with task=t.csv a.csv
    run -0 --separate-stderr bash -c 'cf-merge a.cf a.cf >/dev/null'
    has "process 7 stands in a.cf and in a.cf" "$stderr"
    run -0 --separate-stderr bash -c 'cf-merge --renumber a.cf a.cf >m.cf'
    [[ -z $stderr ]]
    run -0 cf-cat --csv m.cf
    is "time,pid,tid,addr
1,7,8,0x1
1,10000007,10000008,0x1"
    run -0 bash -c 'cf-merge --pid-offset 100 a.cf a.cf a.cf | cf-cat --csv --table task'
    is "time,pid,tid,parent,op,label
0,7,8,1,begin,x
0,0,0,0,begin,kernel
0,107,108,101,begin,x
0,0,0,0,begin,kernel
0,207,208,201,begin,x
0,0,0,0,begin,kernel"
    run -0 --separate-stderr bash -c 'cf-merge --force a.cf a.cf >/dev/null'
    [[ -z $stderr ]]
    # threads side by side, too, and numbers that are too near
    printf 'time,pid,tid,cpu,count\n0,7,8,0,0\n' >s.csv
    stream t.cf --with task=t.csv --with switch=s.csv a.csv
    run -0 --separate-stderr bash -c 'cf-merge --interleave t.cf t.cf >/dev/null'
    has "process 7 stands in t.cf and in t.cf" "$stderr"
    printf 'time,pid,tid,op,label\n0,10,10,begin,y\n' | stream next.cf --table task
    for how in '' --interleave '--schedule fair'; do
        run -0 --separate-stderr bash -c "cf-merge $how --pid-offset 3 next.cf t.cf >/dev/null"
        has "process 7 of t.cf gets the number of one in next.cf: give a larger --pid-offset" "$stderr"
        run -0 --separate-stderr bash -c "cf-merge $how --pid-offset 4 next.cf t.cf >/dev/null"
        [[ -z $stderr ]] || fail "$how" "$stderr"
    done
    # processes that no other table describes
    printf 'time,pid,tid,addr\n1,1,1,0x1\n2,2,2,0x2\n2,64,64,0x3\n' | stream bare.cf
    for how in '' '--schedule fair'; do
        run -0 --separate-stderr bash -c "cf-merge $how --pid-offset 1 bare.cf bare.cf >/dev/null"
        has "process 1 of bare.cf gets the number of one in bare.cf: give a larger --pid-offset" "$stderr"
        run -0 --separate-stderr bash -c "cf-merge $how --pid-offset 3 bare.cf bare.cf >/dev/null"
        [[ -z $stderr ]] || fail "$how" "$stderr"
    done
    run -1 --separate-stderr bash -c 'cf-merge --pid-offset 4294967290 a.cf a.cf >/dev/null'
    has "smaller --pid-offset" "$stderr"
}

@test "parts are merged with nothing: what other parts have of them, too, would be counted" {
    printf 'time,pid,tid,op,label\n0,7,7,begin,x\n' >t.csv
    printf 'time,pid,tid,addr\n1,7,7,0x1\n' | cf-capture csv -q -w task=t.csv -o a.cf
    cf-cat -q a.cf a.cf -o two.cf
    cf-cat -q --part 1/2 a.cf >part.cf
    for input in 'part.cf a.cf' 'a.cf part.cf' '--interleave part.cf' '- a.cf'; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr cf-merge --renumber -o m.cf $input <part.cf
        has "a part of a recording, of which other parts have some rows, too" "$stderr"
        [[ ! -e m.cf ]]
    done
    cf-merge part.cf | cf-cat --csv | same <(cf-cat --csv part.cf) -
}

@test "lines without set and way stay so beside those that have them, in the order of their snapshots" {
    printf 'snapshot,set,way,phys,time\n0,0,0,0x1000,1\n0,1,0,0x1040,1\n1,0,1,0x2000,5\n' | stream a.cf --table line -
    printf 'snapshot,phys,time\n0,0x1000,3\n0,0x1040,3\n1,0x2000,7\n' | stream b.cf --table line -
    run -0 --separate-stderr cf-merge b.cf a.cf -o m.cf
    [[ ! $stderr ]]
    run -0 bash -c 'cf-cat --csv --table line --columns snapshot,set,way,phys m.cf | sed "s/,,,/,-,-,/"'
    is "snapshot,set,way,phys
1,0,0,0x1000
1,1,0,0x1040
0,-,-,0x1000
0,-,-,0x1040
3,0,1,0x2000
2,-,-,0x2000"
    run -0 bash -c 'cf-occupancy -q m.cf | cut -d, -f1,6'
    is "snapshot,lines
1,2
0,2
3,1
2,1"
    # alike of one that was merged before, and of its segments
    cf-cat b.cf a.cf >segments.cf
    cf-merge -q segments.cf | cf-cat --csv | same <(cf-cat --csv m.cf) -
    cf-merge -q m.cf | cf-cat --csv | same <(cf-cat --csv m.cf) -
}

@test "objects and snapshots of several inputs get numbers of their own" {
    printf 'time,addr,object\n1,0x1,1\n2,0x1,5\n3,0x1,0\n' >a.csv
    printf 'snapshot,time\n0,10\n1,20\n' >s.csv
    printf 'snapshot,level,set,way,addr\n0,1,0,0,0x1\n1,1,0,0,0x2\n' >l.csv
    stream a.cf a.csv
    stream s.cf --table line --with snapshot=s.csv l.csv
    run -0 bash -c 'cf-merge -q a.cf a.cf | cf-cat --csv'
    is "time,addr,object
1,0x1,1
1,0x1,2
2,0x1,9
2,0x1,10
3,0x1,0
3,0x1,0"
    run -0 bash -c 'cf-merge s.cf s.cf | cf-cat --csv --table line --columns snapshot,addr'
    is "snapshot,addr
0,0x1
1,0x1
2,0x2
3,0x2"
    run -0 bash -c 'cf-merge s.cf s.cf | cf-cat --csv --table snapshot --columns snapshot,time'
    is "snapshot,time
0,10
1,10
2,20
3,20"
}

@test "lines that stand behind accesses of later times: told where they come behind later ones of another input" {
    printf 'snapshot,time\n3,10\n' >s.csv
    printf 'snapshot,set\n3,0\n' >l.csv
    printf 'time,addr\n5,1\n90,2\n' >a.csv
    cf-capture csv -w snapshot=s.csv -w line=l.csv -o both.cf a.csv
    cf-capture csv -t snapshot -o early.cf -w line=<(printf 'snapshot,set\n4,7\n') <(printf 'snapshot,time\n4,9\n')
    cf-capture csv -t snapshot -o late.cf -w line=<(printf 'snapshot,set\n4,7\n') <(printf 'snapshot,time\n4,11\n')
    run -0 cf-merge early.cf both.cf -o m.cf
    run -0 cf-cat --verify m.cf
    run -1 --separate-stderr cf-merge both.cf late.cf -o m.cf
    has "both.cf: accesses of later times stand before the lines of snapshot 3" "$stderr"
    run -1 cf-cat --verify m.cf
    has "lines of snapshot 6 behind those of the later one 9" "$output"
    run -0 cf-merge both.cf -o m.cf
    run -0 cf-cat --verify m.cf
}

@test "clocks that differ are an error, unless --force" {
    printf 'time,addr\n1,0x1\n' >a.csv
    stream a.cf --clock cycles a.csv
    stream b.cf --clock nanoseconds a.csv
    run -1 --separate-stderr bash -c 'cf-merge a.cf b.cf >/dev/null'
    has "b.cf: its clock counts nanoseconds, that of the inputs before cycles" "$stderr"
    run -0 bash -c 'cf-merge --force a.cf b.cf | cf-cat --csv'
    [[ ${#lines[@]} == 3 ]]
}

@test "a column that only one input has" {
    printf 'time,addr\n1,0x1\n3,0x1\n' >a.csv
    printf 'time,addr,function,dist\n2,0x1,f,7\n' >b.csv
    stream a.cf a.csv
    stream b.cf b.csv
    run -0 --separate-stderr bash -c 'cf-merge a.cf b.cf | cf-cat --csv'
    is "time,addr,function,dist
1,0x1,,18446744073709551613
2,0x1,f,7
3,0x1,,18446744073709551613"
    has "a.cf: there is no column 'function' in table access: its rows get no text" "$stderr"
    has "a.cf: there is no column 'dist' in table access: its rows have no distance" "$stderr"
    run -0 --separate-stderr bash -c 'cf-merge -q a.cf b.cf >/dev/null'
    [[ $stderr == "" ]]
}

@test "accesses without an operation are loads, as they are alone" {
    printf 'time,addr\n1,0x1\n3,0x1\n' | stream a.cf
    printf 'time,addr,op\n2,0x1,store\n' | stream b.cf
    local files
    for files in 'a.cf b.cf' 'b.cf a.cf'; do
        # shellcheck disable=SC2086 # files
        run -0 --separate-stderr bash -c "cf-merge $files | cf-cat --csv --columns time,op"
        is "time,op
1,load
2,store
3,load"
    done
    has "a.cf: there is no column 'op' in table access: its rows are loads" "$stderr"
}

@test "accesses without a time have no place among those of another input" {
    printf 'addr\n0x1\n' | stream t.cf
    cf-cat --columns addr t.cf -o a.cf
    printf 'time,addr\n5,0x2\n' | stream b.cf
    run -1 --separate-stderr bash -c 'cf-merge -q a.cf a.cf b.cf >m.cf'
    [[ $(grep -c "a.cf: frame [0-9]*: accesses without column 'time' have no place" <<<"$stderr") == 2 ]] || fail "$stderr"
    run -1 bash -c 'cf-cat --csv --columns addr m.cf 2>/dev/null'
    is "addr
0x1
0x1
0x2"
    run -0 --separate-stderr bash -c 'cf-merge a.cf >/dev/null'
    [[ ! $stderr ]]
}

@test "a column that comes later: rows before it in the same frame get nothing in it" {
    printf 'time,addr\n1,0x1\n2,0x1\n' >a.csv
    printf 'time,addr,function,dist\n3,0x1,f,7\n' >b.csv
    stream a.cf a.csv
    stream b.cf b.csv
    cat a.cf b.cf >two.cf
    run -1 --separate-stderr bash -c 'cat two.cf | cf-merge | cf-cat --csv'
    is "time,addr,function,dist
1,0x1,,18446744073709551613
2,0x1,,18446744073709551613
3,0x1,f,7"
}

@test "time that goes back in a pipe is told; segments of a file are inputs of their own" {
    random_csv 500 5 3 >a.csv
    random_csv 700 6 3 >b.csv
    stream a.cf a.csv
    stream b.cf b.csv
    cat a.cf b.cf >two.cf
    sorted a.csv b.csv >want.csv
    cf-merge two.cf | cf-cat --csv | cmp want.csv -
    cf-cat a.cf b.cf -o two.packed.cf
    cf-merge two.packed.cf | cf-cat --csv | cmp want.csv -
    run -1 --separate-stderr bash -c 'cat two.cf | cf-merge >out.cf'
    has "standard input: frame 2: time goes back" "$stderr"
    run -1 --separate-stderr cf-cat --csv out.cf
    has "out of order" "$stderr"
    run -0 bash -c 'cf-cat --csv out.cf 2>/dev/null | wc -l' # nothing is lost
    is 1201
    # as several streams are where it does not
    printf 'time,addr,object\n1,0,1\n' | stream one.cf
    printf 'time,addr,object\n2,0,1\n' | stream more.cf
    run -1 --separate-stderr bash -c 'cat one.cf more.cf | cf-merge - one.cf >out.cf'
    has "standard input: several streams in a pipe" "$stderr"
    run -0 bash -c 'cat one.cf more.cf >two.cf; cf-merge two.cf one.cf | cf-cat --csv --columns time,object | sort'
    is $'1,1\n1,3\n2,2\ntime,object'
}

@test "a damaged input: the rest is merged, status 1" {
    random_csv 40000 7 3 >a.csv
    stream a.cf a.csv
    head -c 400000 a.cf >cut.cf
    run -1 --separate-stderr bash -c 'cf-merge cut.cf a.cf >m.cf'
    has "cut.cf: " "$stderr"
    wanting m.cf
    run -1 --separate-stderr bash -c 'cf-merge nothing.cf a.cf | cf-cat --csv >got.csv; exit ${PIPESTATUS[0]}'
    cmp a.csv got.csv
}

# ---- interleaving ----

two_threads() { # [OPTION...]: a.cf, where thread 11 is created by 10 at its instruction 100
    printf 'time,pid,tid,cpu,count\n0,10,10,0,0\n100,10,11,0,0\n150,10,10,0,100\n250,10,11,0,50\n' >sw.csv
    cat >ac.csv <<'END'
time,pid,tid,op,size,addr
10,10,10,load,8,0x10
90,10,10,load,8,0x90
100,10,11,load,8,0x100
140,10,11,load,8,0x140
150,10,10,load,8,0x150
200,10,10,load,8,0x200
250,10,11,load,8,0x250
260,10,11,load,8,0x260
END
    stream a.cf --clock instructions --with switch=sw.csv "$@" ac.csv
}

@test "--interleave: each thread by its own clock" {
    two_threads
    run -0 bash -c 'cf-merge --interleave a.cf | cf-cat --csv --columns time,tid,addr,cpu'
    is "time,tid,addr,cpu
10,10,0x10,0
90,10,0x90,0
100,10,0x150,0
100,11,0x100,1
140,11,0x140,1
150,10,0x200,0
150,11,0x250,1
160,11,0x260,1"
    cf-merge --interleave a.cf >want.cf
    cf-merge --interleave <a.cf >got.cf
    cf-cat --csv got.cf | cmp <(cf-cat --csv want.cf) -
    cat a.cf | cf-merge --interleave | cf-cat --csv | cmp <(cf-cat --csv want.cf) -
    cf-cat a.cf -o a.packed.cf
    cf-merge --interleave a.packed.cf -o got.packed.cf
    cf-cat --csv got.packed.cf | cmp <(cf-cat --csv want.cf) -
}

@test "--interleave of what has no thread: rows are handed on as they are" {
    # the readers of the first look must not go before the output ends: seen with the sanitizers
    printf 'experiment,parameter,repeat,level,accesses,misses,time\nsize,64,0,1,4,0,9\n' >p.csv
    cf-capture csv -q --table probe -o p.cf p.csv
    cf-merge -q --interleave --cores 2 -o out.cf p.cf
    cf-cat --csv --table probe out.cf | cmp p.csv -
}

@test "--interleave: a thread starts where its creator made it, and side rows go with their thread" {
    printf 'time,pid,tid,parent,op,label\n0,10,10,1,begin,main\n60,10,11,10,begin,two\n250,10,10,1,exit,main\n' >t.csv
    printf 'time,pid,tid,op,addr,bytes\n95,10,10,alloc,0x100,64\n255,10,11,free,0x100,64\n' >o.csv
    printf 'time,pid,op,start,end\n145,10,map,0x1000,0x2000\n160,10,map,0x3000,0x4000\n' >m.csv
    two_threads --with task=t.csv --with object=o.csv --with map=m.csv
    cf-merge --interleave a.cf >b.cf
    run -0 cf-cat --csv --columns time,tid,addr b.cf
    is "time,tid,addr
10,10,0x10
60,11,0x100
90,10,0x90
100,10,0x150
100,11,0x140
110,11,0x250
120,11,0x260
150,10,0x200"
    run -0 cf-cat --csv --table object --columns time,tid,op b.cf
    is "time,tid,op
95,10,alloc
115,11,free"
    run -0 cf-cat --csv --table map --columns time,start b.cf
    is "time,start
105,0x1000
110,0x3000"
    run -0 cf-cat --csv --table task --columns time,tid b.cf
    is "time,tid
0,10
60,11
200,10" # at 250 the other thread runs already
    run -0 cf-cat --csv --table switch b.cf
    is "time,pid,tid,cpu,count
0,10,10,0,0
60,10,11,1,0"
}

@test "--interleave: a forked process starts where the thread was that forked" {
    # thread 10 runs for 20, thread 11 for 100, then 10 again, which forks process 20 after 20 more
    printf 'time,pid,tid,parent,op,label\n0,10,10,1,begin,main\n20,10,11,0,begin,two\n140,20,20,10,begin,child\n' >t.csv
    printf 'time,pid,tid,count\n0,10,10,0\n20,10,11,0\n120,10,10,20\n140,20,20,0\n170,10,10,40\n' >s.csv
    stream a.cf --with task=t.csv --with switch=s.csv <<-'END'
	time,pid,tid,op,size,addr
	10,10,10,load,8,0x10
	70,10,11,load,8,0x50
	130,10,10,load,8,0x30
	145,20,20,load,8,0x45
	175,10,10,load,8,0x46
	END
    run -0 bash -c 'cf-merge --interleave a.cf | cf-cat --csv --columns time,pid,tid,addr'
    is "time,pid,tid,addr
10,10,10,0x10
30,10,10,0x30
45,10,10,0x46
45,20,20,0x45
70,10,11,0x50"
}

@test "--interleave: a creator that makes way for a third thread at once" {
    printf 'time,pid,tid,parent,op,label\n0,10,10,1,begin,main\n40,10,11,0,begin,one\n60,10,12,0,begin,two\n' >t.csv
    printf 'time,pid,tid,cpu,count\n0,10,10,0,0\n40,10,11,0,0\n55,10,10,0,40\n60,10,11,0,15\n70,10,12,0,0\n' >s.csv
    printf 'time,pid,tid,op,addr,size\n45,10,11,load,0x1,1\n57,10,10,load,0x2,1\n65,10,11,load,0x3,1\n75,10,12,load,0x4,1\n' |
        stream a.cf --with task=t.csv --with switch=s.csv
    run -0 bash -c 'cf-merge --interleave a.cf | cf-cat --csv --table task --columns time,tid'
    is "time,tid
0,10
40,11
45,12"
    run -0 bash -c 'cf-merge --interleave a.cf | cf-cat --csv --columns time,tid,addr'
    is "time,tid,addr
42,10,0x2
45,11,0x1
50,12,0x4
60,11,0x3"
}

@test "--cores: threads of one processor take turns" {
    printf 'time,pid,tid,parent,op,label\n0,10,10,1,begin,main\n60,10,11,10,begin,two\n' >t.csv
    two_threads --with task=t.csv
    cf-merge --interleave --cores 1 --quantum 30 a.cf >b.cf
    # 10 runs from 0 on; 11 exists from 60 on and gets the turn at 90, and so on
    run -0 cf-cat --csv --columns time,tid,addr,cpu b.cf
    is "time,tid,addr,cpu
10,10,0x10,0
90,11,0x100,0
120,10,0x90,0
130,10,0x150,0
160,11,0x140,0
170,11,0x250,0
210,11,0x260,0
210,10,0x200,0"
    run -0 cf-cat --csv --table switch --columns time,tid,count b.cf
    is "time,tid,count
0,10,0
90,11,0
120,10,90
150,11,30
180,10,120
210,11,60
210,10,150"
    # with a long quantum the first runs to its end
    run -0 bash -c 'cf-merge --interleave --cores 1 a.cf | cf-cat --csv --columns time,tid'
    [[ ${lines[4]} == 150,10 && ${lines[5]} == 150,11 && ${lines[8]} == 210,11 ]]
}

# six threads, made by the first one after the other, run in turns of random length
many_threads() {
    awk -v seed="$1" 'BEGIN {
        srand(seed); n = 1; t = 0; run = 0; count[0] = 0; start[0] = 0
        print "time,pid,tid,cpu,count" >"sw.csv"
        print "time,pid,tid,parent,op,label" >"t.csv"
        print "time,pid,tid,op,size,addr" >"ac.csv"
        print "0,10,10,1,begin,main" >"t.csv"
        for (turn = 0; turn < 400; turn++) {
            print t ",10," 10 + run ",0," count[run] >"sw.csv"
            length_ = int(rand() * 500)
            for (i = 0; i < length_; i++) {
                t++; count[run]++
                if (run == 0 && n < 6 && rand() < .003) {
                    start[n] = start[0] + count[0]; count[n] = 0
                    print t ",10," 10 + n ",10,begin,t" n >"t.csv"
                    n++
                }
                if (rand() < .4) {
                    print t ",10," 10 + run ",load,8," t >"ac.csv"
                    # what is expected: own clock from the creation on
                    printf "%d,%d,0x%x,%d\n", start[run] + count[run], 10 + run, t, run >"expect"
                }
            }
            # a created thread first runs when the creator was switched out
            run = int(rand() * n)
        } }'
    { echo time,tid,addr,cpu; sort -s -t, -k1,1n -k2,2n expect; } >want.csv
    stream a.cf --with switch=sw.csv --with task=t.csv ac.csv
}

@test "--interleave: random turns of six threads against awk" {
    local seed
    for seed in 1 2 3; do
        many_threads $seed
        cf-merge --interleave a.cf | cf-cat --csv --columns time,tid,addr,cpu >got.csv
        (($(wc -l <want.csv) > 10000))
        cmp want.csv got.csv
    done
}

@test "--interleave: what is side by side already keeps the clock of each thread, and takes another program in" {
    local seed how
    # by each thread's time since its first access
    clocks() { cf-cat --csv --columns tid,time,addr "$@" | sort -s -t, -k1,1 | awk -F, -v OFS=, '$1 != tid { tid = $1; first = $2 } { print $1, $2 - first, $3 }'; }
    for seed in 1 2; do
        many_threads $seed
        cf-merge --interleave a.cf >side.cf
        cf-merge --interleave side.cf | cf-cat --csv --columns time,tid,addr,cpu | cmp want.csv -
        cf-merge --interleave --renumber side.cf a.cf | cf-select --pid 10 | cf-cat --csv --columns time,tid,addr | cmp <(cut -d, -f1-3 want.csv) -
        # merged by time, they are on processors of their own
        cf-merge --renumber side.cf a.cf >both.cf
        cf-merge --interleave both.cf | cf-select --pid 10000010 | cf-cat --csv --columns time,addr | cmp <(cut -d, -f1,3 want.csv) -
        # turns of several threads of one processor, of tasks that change theirs, and of processes
        # (the clock of a task begins with its first access)
        sed -i '1a 0,10,10,load,8,0' ac.csv
        stream a.cf --with switch=sw.csv --with task=t.csv ac.csv
        for how in '--interleave --cores 1' '--interleave --cores 2 --quantum 77' '--schedule fair:700 --cores 2'; do
            cf-merge $how --renumber a.cf a.cf a.cf >turns.cf
            cf-merge --interleave --renumber a.cf a.cf a.cf >want.cf
            same <(clocks want.cf) <(cf-merge --interleave turns.cf | clocks)
        done
    done
}

@test "--interleave: who maps, and whose child it is, among threads that are side by side" {
    printf 'time,pid,tid,cpu,count\n0,10,10,0,0\n0,10,11,1,0\n0,20,20,2,0\n50,20,20,1,50\n60,10,12,2,0\n' >s.csv
    printf 'time,pid,op,start,end\n40,10,map,0x1000,0x2000\n55,10,map,0x3000,0x4000\n' >m.csv
    printf 'time,pid,tid,op,addr,bytes\n30,10,10,alloc,0x100,64\n' >o.csv
    printf 'time,pid,tid,op,addr\n0,10,10,load,1\n0,10,11,load,2\n0,20,20,load,3\n70,10,12,load,4\n80,10,10,load,5\n80,20,20,load,6\n' |
        stream a.cf --with switch=s.csv --with map=m.csv --with object=o.csv
    # at 55, thread 11 has made way for process 20; at 60, process 20 no longer is on processor 2
    cf-merge --interleave a.cf >b.cf
    for columns in 'map --columns time,start' 'object --columns time,tid' 'access --columns time,addr' 'switch --columns time,tid'; do
        cf-cat --csv --table $columns b.cf | sort | same <(cf-cat --csv --table $columns a.cf | grep -v '^50,' | sort) -
    done
}

@test "--cores: every row of random turns is there once, each thread in its order, in time's order" {
    many_threads 4
    local cpus
    for cpus in 1 2 4; do
        cf-merge --interleave --cores $cpus --quantum 77 a.cf >b.cf
        cf-cat --csv --columns time,tid,addr,cpu b.cf >got.csv
        # own clocks rise, at most one thread a processor moves at a time
        awk -F, -v n=$cpus 'NR == 1 { next }
            $1 < last || ($4 != ($2 - 10) % n) { bad = 1 }
            { last = $1 } END { exit bad }' got.csv
        tail -n +2 got.csv | cut -d, -f2,3 | sort >got.rows
        tail -n +2 want.csv | cut -d, -f2,3 | sort >want.rows
        cmp want.rows got.rows
        # the instructions of all threads of one processor take at least their sum
        cf-cat --csv --columns tid,addr b.cf | tail -n +2 | sort -s -t, -k1,1n >got.order
        cf-cat --csv --columns tid,addr a.cf | tail -n +2 | sort -s -t, -k1,1n >want.order
        cmp want.order got.order
    done
    # one processor is never idle here, so all is done when as many instructions have passed
    cf-merge --interleave --cores 1 --quantum 1 a.cf | cf-cat --csv --columns time >got.csv
    (($(tail -n 1 got.csv) <= $(tail -n 1 ac.csv | cut -d, -f1)))
    (($(tail -n 1 got.csv) > $(tail -n 1 ac.csv | cut -d, -f1) * 9 / 10))
}

@test "--interleave: annotations come along" {
    two_threads
    sed '1s/$/,function/;2,$s/$/,f/' ac.csv >fn.csv
    stream b.cf --with switch=sw.csv fn.csv
    run -0 bash -c 'cf-merge --interleave b.cf | cf-cat --csv --columns addr,function'
    [[ ${lines[8]} == 0x260,f ]]
}

@test "--interleave: the names of calls come along" {
    printf '%s\n' time,pid,tid,op,addr,size 5,1,1,load,0x1000,8 >a.csv
    printf '%s\n' time,pid,tid,count 0,1,1,0 >switch.csv
    printf '%s\n' pid,stack,parent,pc,function,source,inlined 1,1,0,0x10,main,x.c:1,outer >stack.csv
    stream a.cf -w switch=switch.csv -w stack=stack.csv a.csv
    cf-merge --interleave --cores 2 a.cf | rows stack | same stack.csv -
}

@test "--interleave: lost samples go with their thread, and those of none with the first, in the order of time" {
    printf 'time,pid,tid,cpu,count\n0,10,10,0,0\n30,10,11,0,0\n' >sw.csv
    printf 'time,pid,tid,op,addr\n0,10,10,load,1\n30,10,11,load,2\n50,10,11,load,3\n' >a.csv
    printf 'time,pid,tid,count\n5,10,10,1\n35,0,0,2\n40,10,11,3\n' >l.csv
    cf-capture csv -w switch=sw.csv -w lost=l.csv a.csv -o a.cf
    run -0 bash -c 'cf-merge --interleave --renumber a.cf a.cf | cf-cat --csv --table lost'
    is 'time,pid,tid,count
5,10,10,1
5,10000010,10000010,1
30,0,0,2
30,0,0,2
40,10,11,3
40,10000010,10000011,3'
    printf 'time,count\n5,1\n' | cf-capture csv -w switch=sw.csv -w lost=- a.csv -o b.cf
    run -0 bash -c 'cf-merge --interleave b.cf | cf-cat --csv --table lost'
    is $'time,count\n5,1'
}

@test "--interleave of two programs at once" {
    two_threads
    run -0 bash -c 'cf-merge --interleave --renumber a.cf a.cf | cf-cat --csv --columns time,pid,tid,cpu'
    [[ ${#lines[@]} == 17 ]]
    [[ ${lines[1]} == 10,10,10,0 && ${lines[2]} == 10,10000010,10000010,1 ]]
    [[ ${lines[5]} == 100,10,10,0 && ${lines[6]} == 100,10000010,10000010,1 &&
        ${lines[7]} == 100,10,11,2 && ${lines[8]} == 100,10000010,10000011,3 ]]
}

@test "--interleave without switches, and a pipe that is too long" {
    printf 'time,pid,tid,addr\n1,7,7,0x1\n2,7,8,0x1\n' >a.csv
    stream a.cf a.csv
    run -1 --separate-stderr bash -c 'cf-merge --interleave a.cf | cf-cat --csv --columns time,tid; exit ${PIPESTATUS[0]}'
    has "no table switch" "$stderr"
    is "time,tid
1,7
2,8"
    two_threads
    run -3 --separate-stderr bash -c 'cat a.cf | cf-merge --interleave --memory 500 >out.cf'
    has "raise --memory" "$stderr"
}

@test "--interleave: segments of one file, however many, each read once and by its own threads" {
    local k n bytes=()
    two_threads
    for k in 25 100; do
        for ((n = 0; n < k; n++)); do cat a.cf; done >$k.cf
        # what a process and its children have read, in bytes
        bytes+=("$(bash -c "cf-merge -q --interleave $k.cf -o $k.out.cf && sed -n 's/rchar: //p' /proc/\$\$/io")")
        [[ $(cf-cat --csv $k.out.cf | wc -l) == $((k * 8 + 1)) ]]
    done
    # four times as much, not sixteen times
    ((bytes[1] < bytes[0] * 5)) || fail "25 segments: ${bytes[0]} bytes read, 100: ${bytes[1]}"
    cf-merge -q --interleave a.cf a.cf a.cf | cf-cat --csv >want.csv
    cat a.cf a.cf a.cf | cf-merge -q --interleave | cf-cat --csv | cmp want.csv -
    # a damaged segment is told once, and takes nothing from the others
    head -c $(($(stat -c %s a.cf) - 200)) a.cf >cut.cf
    cat a.cf cut.cf a.cf >three.cf
    run -1 --separate-stderr bash -c 'cf-merge -q --interleave three.cf >out.cf'
    [[ ${#stderr_lines[@]} == 1 && $stderr == *three.cf:\ byte* ]]
    cf-merge -q --interleave a.cf a.cf | cf-cat --csv --columns addr | sort >want
    cf-cat --csv --columns addr out.cf | sort | comm -23 want - >lost
    [[ ! -s lost ]]
}

@test "--interleave: what cannot be read again is no end of the input" {
    two_threads
    cat a.cf a.cf a.cf >three.cf
    cf-merge --interleave three.cf | cat >want.cf
    # a search for leaks would open files, too
    export ASAN_OPTIONS=exitcode=99:detect_leaks=0
    # the first pass needs one file at a time, the second one a thread that lives
    run -3 --separate-stderr bash -c 'ulimit -n 6; cf-merge --interleave three.cf >out.cf'
    has "three.cf: Too many open files" "$stderr"
    ! cf-cat --verify out.cf 2>/dev/null || false
    run -3 --separate-stderr bash -c 'ulimit -n 6; cf-merge --interleave -o out.packed.cf three.cf'
    [[ ! -e out.packed.cf ]]
    # a soft limit is none
    bash -c 'ulimit -Sn 6; cf-merge --interleave three.cf' | cmp want.cf -
}

@test "--interleave: --memory bounds what the threads that live read" {
    two_threads
    for n in {1..60}; do cat a.cf; done >many.cf
    run -3 --separate-stderr bash -c 'cf-merge --interleave --memory 1M many.cf >out.cf'
    has "threads at once takes more than 1048576 bytes" "$stderr"
    has "raise --memory" "$stderr"
    run -0 cf-merge --interleave --memory 1M a.cf -o out.packed.cf
}

# ---- schedules ----

# CPUS SLICE (0: fifo) FILE.csv...: the reference, which goes tick by tick
schedule_slowly() {
    awk -F, -v cpus="$1" -v slice="$2" '
        FNR == 1 { jobs++; n[jobs] = 0; next }
        { if (!n[jobs]) base[jobs] = $1
          at[jobs, ++n[jobs]] = $1 - base[jobs]; addr[jobs, n[jobs]] = $3 }
        function take(c) { on[c] = ""; if (head <= tail) { on[c] = queue[head++]; used[c] = 0 } }
        END {
            head = 1; tail = 0
            for (j = 1; j <= jobs; j++) { queue[++tail] = j; next_[j] = 1; own[j] = 0 }
            for (c = 0; c < cpus; c++) take(c)
            print "time,pid,cpu,addr"
            for (t = 0; left < jobs; t++)
                for (c = 0; c < cpus; c++) {
                    if (on[c] != "" && next_[on[c]] > n[on[c]]) { left++; take(c) }
                    else if (on[c] != "" && slice && used[c] >= slice && head <= tail) {
                        queue[++tail] = on[c]; take(c)
                    }
                    if ((j = on[c]) == "") continue
                    while (next_[j] <= n[j] && at[j, next_[j]] == own[j])
                        print t "," 7 + (j - 1) * 10000000 "," c "," addr[j, next_[j]++]
                    own[j]++; used[c]++
                }
        }' "${@:3}"
}

# SEED ROWS: accesses with gaps and equal times
task() {
    awk -v seed="$1" -v rows="$2" 'BEGIN { srand(seed); t = 50; print "time,pid,addr"
        for (i = 0; i < rows; i++) { printf "%d,7,0x%x\n", t, seed * 65536 + i
            t += rand() < .3 ? 0 : rand() < .02 ? int(rand() * 200) : 1 + int(rand() * 3) } }'
}

@test "--schedule: random tasks under every policy against a reference that goes tick by tick" {
    local k cpus slice kind
    for k in 1 2 3 4 5; do
        task $k $((k * 300)) >"$k.csv"
        stream "$k.cf" --clock instructions "$k.csv"
    done
    for cpus in 1 2 3 7; do
        for slice in 0 1 10 137 100000; do
            kind=fair:$slice
            ((slice)) || kind=fifo
            schedule_slowly $cpus $slice [1-5].csv >want.csv
            cf-merge --schedule $kind --cores $cpus [1-5].cf | cf-cat --csv --columns time,pid,cpu,addr >got.csv
            same want.csv got.csv || fail "$kind, $cpus CPUs"
        done
    done
    # more than a frame of a file, packed and through a pipe
    task 6 40000 >6.csv
    stream 6.packed.cf --clock instructions 6.csv
    schedule_slowly 2 500 6.csv 1.csv 2.csv | awk -F, -v OFS=, '{ print $1, $3, $4 }' >want.csv
    cf-merge --schedule fair:500 --cores 2 6.packed.cf 1.cf 2.cf | cf-cat --csv --columns time,cpu,addr >got.csv
    same want.csv got.csv
    cf-cat 6.packed.cf | cf-merge --schedule fair:500 --cores 2 - 1.cf 2.cf | cf-cat --csv --columns time,cpu,addr >got.csv
    same want.csv got.csv
}

@test "--schedule: what explains a task's accesses moves with them, and counts stay true" {
    printf 'time,pid,tid,op,addr\n0,7,7,load,0x1\n10,7,8,load,0x2\n20,7,8,load,0x3\n30,7,7,load,0x4\n' >a.csv
    printf 'time,pid,tid,count\n0,7,7,0\n10,7,8,0\n30,7,7,10\n' >s.csv
    printf 'time,pid,op,start,end\n0,7,map,0x0,0x10\n20,7,map,0x100,0x200\n' >m.csv
    printf 'time,pid,tid,parent,op,label\n0,7,7,1,begin,me\n30,7,7,1,exit,me\n' >t.csv
    printf 'time,pid,tid,op,addr,bytes\n15,7,8,alloc,0x1,8\n' >o.csv
    stream a.cf --clock instructions --with switch=s.csv --with map=m.csv --with task=t.csv --with object=o.csv a.csv
    cf-merge --schedule fair:12 a.cf a.cf >b.cf
    run -0 cf-cat --csv --columns time,pid,tid,addr b.cf
    is "time,pid,tid,addr
0,7,7,0x1
10,7,8,0x2
12,10000007,10000007,0x1
22,10000007,10000008,0x2
32,7,8,0x3
44,10000007,10000008,0x3
54,7,7,0x4
61,10000007,10000007,0x4"
    run -0 bash -c 'cf-cat --csv --table switch --columns time,pid,tid,cpu,count b.cf'
    is "time,pid,tid,cpu,count
0,7,7,0,0
10,7,8,0,0
12,10000007,10000007,0,0
22,10000007,10000008,0,0
24,7,8,0,2
36,10000007,10000008,0,2
48,7,8,0,14
54,7,7,0,10
55,10000007,10000008,0,14
61,10000007,10000007,0,10"
    run -0 rows map b.cf
    has "32,7,map,0x100"
    has "44,10000007,map,0x100"
    run -0 bash -c 'cf-cat --csv --table task --columns time,pid,parent,op b.cf'
    is "time,pid,parent,op
0,7,1,begin
12,10000007,10000001,begin
54,7,1,exit
61,10000007,10000001,exit"
    run -0 bash -c 'cf-cat --csv --table object --columns time,tid b.cf'
    is "time,tid
27,8
39,10000008"
    # counts tell how many instructions a thread has executed before each of its accesses: as
    # --interleave, which reads them, makes again of it
    cf-merge --interleave --cores 1 --quantum 1000 a.cf | cf-cat --csv --columns tid,addr >want
    cf-cat --csv --columns tid,addr <(cf-select --pid 7 b.cf) | sort >got
    sort want | same - got
}

@test "--schedule: what comes after the last access, as of a recording with a limit, takes that moment" {
    printf 'time,pid,addr\n0,7,0x1\n10,7,0x2\n' >a.csv
    printf 'time,pid,tid,op,label\n5000,7,7,exit,me\n' >t.csv
    stream a.cf --clock instructions --with task=t.csv a.csv
    cf-merge --schedule fifo a.cf a.cf >b.cf
    run -0 cf-cat --csv --columns time,pid b.cf
    is "time,pid
0,7
10,7
11,10000007
21,10000007"
    run -0 cf-cat --csv --table task --columns time,pid b.cf
    is "time,pid
10,7
21,10000007"
}

@test "--schedule: damage, snapshots, time that goes back, nothing" {
    task 1 40000 >a.csv
    stream a.cf --clock instructions a.csv
    head -c $(($(stat -c %s a.cf) / 2)) a.cf >cut.cf
    run -1 --separate-stderr bash -c 'cf-merge --schedule fifo nothing.cf cut.cf a.cf >b.cf'
    has "nothing.cf" "$stderr"
    has "cut.cf" "$stderr"
    wanting b.cf
    (($(cf-cat --csv b.cf 2>/dev/null | wc -l) > 40001))
    : >empty.cf
    run -1 bash -c 'cf-merge --schedule fair empty.cf >c.cf'
    printf 'time,pid,addr\n10,1,0x1\n20,1,0x2\n15,1,0x3\n30,1,0x4\n' | stream back.cf --clock instructions 2>&1 || true
    run -1 --separate-stderr bash -c 'cf-merge --schedule fair:5 back.cf a.cf >c.cf'
    has "back.cf: frame" "$stderr"
    has "time goes back" "$stderr"
    run -1 --separate-stderr bash -c 'cf-select --pid 1 c.cf | cf-cat --csv --columns addr'
    [[ ${#lines[@]} == 5 ]]
    printf 'snapshot,time\n0,10\n' >s.csv
    printf 'snapshot,level,set,way,addr\n0,1,0,0,0x1\n' >l.csv
    stream s.cf --clock instructions --table line --with snapshot=s.csv l.csv
    run -0 --separate-stderr bash -c 'cf-merge --schedule fair s.cf a.cf >c.cf'
    has "s.cf: snapshots belong to no task" "$stderr"
    [[ $(rows line c.cf) == "" ]]
    # nothing that could run at all
    run -1 --separate-stderr bash -c 'cf-merge --schedule fifo s.cf s.cf >c.cf'
    has "no input has accesses: there is nothing to schedule" "$stderr"
    wanting c.cf
}

@test "--interleave: what has a time but no thread is left out, table by table, with a message" {
    printf 'time,cpu,op,size,pc\n0,0,load,4,0x10\n5,0,load,4,0x10\n' >u.csv
    printf 'time,op,size,addr\n3,load,32,0x40\n' >b.csv
    two_threads --with unplaced=u.csv --with bus=b.csv
    run -0 --separate-stderr cf-merge --interleave -o c.cf a.cf
    has 'a.cf: rows of unplaced belong to no thread: they are left out' "$stderr"
    has 'a.cf: rows of bus belong to no thread: they are left out' "$stderr"
    [[ $(grep -c 'left out' <<<"$stderr") == 2 ]]
    cf-cat --verify c.cf
    [[ ! $(rows unplaced c.cf) && ! $(rows bus c.cf) ]]
    same <(rows access c.cf) <(two_threads && cf-merge --interleave a.cf | cf-cat --csv --table access)
    # without a thread nothing is interleaved
    printf 'snapshot,set,way,phys\n1,0,0,64\n2,0,0,128\n' | cf-capture csv -q -t line -o s.cf -
    run -0 --separate-stderr cf-merge --interleave -o c.cf s.cf
    has 'no thread has accesses in any input: they are merged as without --interleave, and nothing is left out' "$stderr"
    same <(rows line c.cf) <(rows line s.cf)
    # nor where threads are known and there are only snapshots; and no table comes twice
    cf-cache -q -m tegra-x1 --snapshot-every 300000 -o s.cf "$ROOT/samples/sort.cf"
    run -0 --separate-stderr cf-merge --interleave -o c.cf s.cf
    has 'no thread has accesses in any input' "$stderr"
    cf-cat --verify c.cf
    local table
    for table in task map stack switch snapshot line; do
        same <(rows $table c.cf) <(rows $table s.cf)
        [[ $(rows $table c.cf) ]]
    done
}

@test "the command is that of all inputs, each once" {
    local a="sort /usr/share/common-licenses/GPL-3" b
    b=$(cf-cat --info "$ROOT/samples/gzip.cf" | sed -n 's/^command: "\(.*\)"$/\1/p')
    cf-merge -q --schedule fifo -o m.cf "$ROOT"/samples/{sort,gzip,sort}.cf
    [[ $b && $(cf-cat --info m.cf) == *$'\n'"command: \"$a, $b\""$'\n'* ]] || fail "$(cf-cat --info m.cf)"
    # of one input alone nothing changes
    cf-merge -q -o m.cf "$ROOT/samples/sort.cf"
    same <(cf-cat --info m.cf | sed -n '/^cacheflow/,/^chain/p') <(cf-cat --info "$ROOT/samples/sort.cf" | sed -n '/^cacheflow/,/^chain/p')
}

@test "wrong options" {
    run -2 cf-merge --schedule best </dev/null
    run -2 cf-merge --schedule fair:0 </dev/null
    run -2 cf-merge --schedule fair: </dev/null
    run -2 cf-merge --schedule fifo --interleave </dev/null
    run -2 cf-merge --schedule fifo --quantum 5 </dev/null
    run -2 cf-merge --cores 2 </dev/null
    run -2 cf-merge --interleave --cores 0 </dev/null
    run -2 cf-merge - - </dev/null
    run -2 cf-merge --pid-offset 0 </dev/null
}

@test "--interleave of a stream without a thread" {
    make_stream empty >empty.cf
    run -0 cf-merge -q --interleave -o out.cf empty.cf
    run -0 cf-cat --csv --table access out.cf
    [[ ${#lines[@]} -le 1 ]]
}
