#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# cf-annotate: figures beside source lines, and whose lines they are. Its page is opened in suite
# pages.

load lib

# accesses N: rows of all that can be counted, of lines in three files, some of none.
accesses() {
    awk -v n="$1" 'BEGIN {
        print "time,pid,tid,op,size,addr,weight,function,source,hit,class,cost,insns"
        split("n/mm.c src/io.c lib/very/deep.h", file, " ")
        split("load store load ifetch load prefetch", op, " ")
        for (i = 1; i <= n; i++) {
            r = (i * 7919) % 10007
            hit = r % 11 < 7 ? 1 : r % 11 < 9 ? 2 : 255
            source = r % 13 ? file[r % 3 + 1] ":" (r % 37 + 1) : ""
            printf "%d,1,1,%s,%d,0x%x,%d,f%d,%s,%d,%d,%d,%d\n", i, op[i % 6 + 1], 8, r * 64, r % 4 + 1,
                r % 5, source, hit, (hit > 1 ? r % 4 + 1 : 0), hit * 3, (i % 6 == 3 ? 5 : 0)
        }
    }'
}

# at STREAM [OPTION...]: a stream of CSV without addresses, which do not matter.
at() {
    sed '1s/$/,addr/; 1!s/$/,0x10/' | stream "$@"
}

# lines FILE: "file:line,values" of CSV without texts, as cf-rank names them, sorted.
lines() {
    sed 1d "$1" | sed 's/,$//; s/,/:/' | sed 's/^:,/,/' | sort
}

# of RANKING.csv: "source,values", sorted.
of() {
    sed 1d "$1" | cut -d, -f2- | sed -E 's/(,[0-9.]+){3}$//' | sort
}

@test "each value of each line is that of cf-rank --by source" {
    accesses 30000 | stream in.cf
    local v
    for v in accesses,bytes,loads,stores,misses,hits,cost,fetches l1-misses,l2-misses,compulsory,conflict,capacity \
        'misses,accesses --class conflict' 'misses,hits --level 1' 'accesses,misses --op store' 'stores,accesses'; do
        # shellcheck disable=SC2086 # options
        cf-rank -q --by source --value $v in.cf >rank.csv
        # shellcheck disable=SC2086
        cf-annotate -q --value $v in.cf >own.csv 2>err
        of rank.csv >want
        (($(wc -l <want) > 100))
        lines own.csv | same want - || fail "$v"
        [[ $(head -n 1 own.csv) == "file,line,$(head -n 1 rank.csv | sed 's/^rank,source,//; s/,share.*//'),text" ]]
    done
}

@test "a ratio is that of cf-rank, and has no share" {
    accesses 30000 | stream in.cf
    cf-rank -q --by source --value ratio,misses --sort misses in.cf >rank.csv
    cf-annotate -q --value ratio,misses in.cf 2>err >own.csv
    of rank.csv >want
    lines own.csv | same want -
    cf-annotate -q --value ratio --term in.cf 2>err >term
    grep -qE '^ *[0-9]+\.[0-9]{2}% +all$' term
}

@test "--function: only what these functions did, as cf-select has it; --file: only these files" {
    accesses 30000 | stream in.cf
    cf-select --function f2 --function 'f[3]' in.cf | cf-rank -q --by source --value accesses,misses >rank.csv
    cf-annotate -q --function f2 --function 'f[3]' --value accesses,misses in.cf 2>err >own.csv
    of rank.csv >want
    (($(wc -l <want) > 50))
    lines own.csv | same want -
    cf-select --source 'n/*' in.cf | cf-rank -q --by source --value accesses,misses >rank.csv
    for glob in mm.c 'n/*' '*.c --file n/mm.c'; do
        # shellcheck disable=SC2086 # several options
        cf-annotate -q --value accesses,misses --file $glob in.cf 2>err >own.csv
        [[ $glob == '*.c'* ]] || { of rank.csv >want && lines own.csv | same want -; } || fail "$glob"
        run grep -cE '^(lib|,)' own.csv
        is 0
    done
    run --separate-stderr cf-annotate --file 'no such' in.cf
    [[ $status == 0 ]]
    has "cf-annotate: nothing was counted in a file of that name: 'cf-rank --by source' lists them" "$stderr"
    is 'file,line,accesses,l1_misses,l2_misses,compulsory,capacity,conflict,true_sharing,cost_cycles,text'
    [[ ${#lines[@]} == 1 ]]
}

@test "without --value: accesses, and what the stream has columns for" {
    columns() { # CSV COLUMNS: those of the output for these of the input
        cut -d, -f "$2" "$1" | at t.cf
        cf-annotate -q t.cf 2>/dev/null | head -n 1 | sed 's/^file,line,//; s/,text$//'
    }
    # 1 time 2 source 3 hit 4 class 5 cost 6 level
    printf '%s\n' time,source,hit,class,cost,level 1,a/b.c:1,1,0,4,1 2,a/b.c:2,2,2,20,255 \
        3,a/b.c:2,255,1,200,255 >in.csv
    [[ $(columns in.csv 1,2) == accesses ]]
    [[ $(columns in.csv 1-3) == accesses,l1_misses,misses ]]
    [[ $(columns in.csv 1,2,4) == accesses,misses,compulsory,capacity ]]
    [[ $(columns in.csv 1,2,5) == accesses,cost_cycles ]]
    # nothing hits below the first level
    [[ $(columns in.csv 1,2,6) == accesses,misses ]]
    # what has a class missed the first level: that is said once
    [[ $(columns in.csv 1-5) == accesses,l1_misses,l2_misses,compulsory,capacity,cost_cycles ]]
    sed 's/,2,2,20/,3,2,20/' in.csv >deep.csv
    echo 4,a/b.c:1,2,3,7,1 >>deep.csv
    [[ $(columns deep.csv 1-3) == accesses,l1_misses,l2_misses,misses ]]
    # the misses of a machine with another cache
    sed 's/,1,0,4/,1,3,4/' in.csv >other.csv
    [[ $(columns other.csv 1-4) == accesses,l1_misses,l2_misses,misses,compulsory,capacity,conflict ]]
}

@test "without --value, what later accesses have columns for and the first have not is said" {
    printf '%s\n' time,source 1,a.c:1 | at one.cf
    printf '%s\n' time,source,hit,class,cost 1,a.c:1,1,0,4 2,a.c:1,255,1,90 | at all.cf
    run -0 --separate-stderr cf-annotate -q one.cf all.cf
    [[ ${#stderr_lines[@]} == 1 ]]
    has "accesses have a column for the misses of levels that the first accesses have not" "$stderr"
    printf '%s\n' time,source,hit,class 1,a.c:1,1,0 2,a.c:1,255,1 | at classes.cf
    run -0 --separate-stderr cf-annotate -q classes.cf all.cf
    has "a column for cost that the first accesses have not" "$stderr"
    run -0 --separate-stderr cf-annotate -q all.cf all.cf
    [[ -z $stderr ]]
    run -0 --separate-stderr cf-annotate -q --value accesses one.cf all.cf
    [[ -z $stderr ]]
}

@test "the greatest file is first: by --sort, by the first of --value, by cost and misses of all" {
    printf '%s\n' time,source,hit,cost,op 1,a/one.c:1,1,90,load 2,a/one.c:1,1,1,load 3,a/two.c:2,255,5,load \
        4,a/three.c:3,1,1,store 5,a/three.c:3,1,1,store 6,a/three.c:4,2,1,store >in.csv
    at in.cf <in.csv
    first() {
        cf-annotate -q "$@" 2>/dev/null | sed -n 2p | cut -d, -f1
    }
    [[ $(first in.cf) == a/one.c ]]
    [[ $(first --sort misses in.cf) == a/two.c ]]
    [[ $(first --sort accesses in.cf) == a/three.c ]]
    [[ $(first --value stores,cost in.cf) == a/three.c ]]
    [[ $(first --value accesses,ratio --sort ratio in.cf) == a/two.c ]]
    cut -d, -f1-3 in.csv | at hits.cf
    [[ $(first hits.cf) == a/two.c ]]
    run cf-annotate --value stores --sort cost in.cf
    [[ $status == 2 ]]
    has "--sort cost: is none of --value"
    run cf-annotate --sort conflict in.cf
    [[ $status == 2 ]]
    has "--sort conflict: is none of what the stream has columns for"
}

# a program of 60 lines, and accesses to some of them
sixty() {
    mkdir -p src/n
    seq 60 | sed 's/.*/int line_&;/' >src/n/sixty.c
    {
        echo time,source,hit
        awk 'BEGIN {
            for (i = 0; i < 9000; i++) print i ",n/sixty.c:20," (i % 3 ? 1 : 255)
            for (i = 0; i < 900; i++) print 9000 + i ",n/sixty.c:50,1"
            for (i = 0; i < 95; i++) print 9900 + i ",,1"
            print "9999,n/sixty.c:24,1"
            print "9999,n/sixty.c:55,1"
            print "9999,n/none.c:7,1"
        }'
    } | at sixty.cf
}

@test "on a terminal: totals that add up, files, lines with those around them" {
    sixty
    NO_COLOR=1 cf-annotate --term --source-dir src --context 2 --threshold 1 sixty.cf >out 2>err
    diff -u - <(sed "s:^-- $T/src/n/sixty.c -*:-- SRC/n/sixty.c -------------------------------------------------------------:" out) <<'END'
annotated source
2 of 5 counted lines in 1 of 2 files: those with 1 % of a value

-- totals --------------------------------------------------------------------

      accesses          misses
9,998 (100.0%)  3,000 (100.0%)  all
9,900 ( 99.0%)  3,000 (100.0%)  lines below
    3 (  0.0%)               .  lines under the threshold
   95 (  1.0%)               .  without source line

-- files ---------------------------------------------------------------------

      accesses          misses
9,902 ( 99.0%)  3,000 (100.0%)  n/sixty.c
    1 (  0.0%)               .  1 file of which no line is shown

-- SRC/n/sixty.c -------------------------------------------------------------

      accesses          misses
-- line 18 ----
             .               .   18  int line_18;
             .               .   19  int line_19;
9,000 ( 90.0%)  3,000 (100.0%)   20  int line_20;
             .               .   21  int line_21;
             .               .   22  int line_22;
-- line 48 ----
             .               .   48  int line_48;
             .               .   49  int line_49;
  900 (  9.0%)               .   50  int line_50;
             .               .   51  int line_51;
             .               .   52  int line_52;
END
}

@test "lines under the threshold are told of, and shown where they stand near others" {
    sixty
    NO_COLOR=1 cf-annotate --term --source-dir src --context 4 --threshold 1 sixty.cf >out 2>err
    grep -qE '^ +1 \( +0.0%\) +\. +24  int line_24;$' out
    run grep -c line_25 out
    is 0
    # of all values in the table of totals, the parts make the whole
    awk '/^-- totals/ { on = 1 } /^-- files/ { on = 0 }
        on && /%/ { gsub(/,/, "", $1); n = $1; if (/ all$/) all = n; else sum += n; rows++ }
        END { exit !(rows == 4 && all == 9998 && sum == all) }' out
    [[ ! -s err ]]
}

@test "files: from the working directory, below --source-dir, by the path of table file" {
    mkdir -p there/deep/n here/n other
    echo 'int here;' >here/n/x.c
    echo 'int there;' >there/deep/n/x.c
    echo 'int other;' >other/x.c
    printf '%s\n' time,source 1,n/x.c:1 | at plain.cf
    printf '%s\n' source,label,built "n/x.c,$T/there/deep/n/x.c,0" >files.csv
    printf '%s\n' time,source 1,n/x.c:1 | at stated.cf --with file=files.csv
    text() {
        cf-annotate -q "$@" 2>err | sed -n 2p
    }
    [[ $(text plain.cf) == n/x.c,1,1, ]]
    [[ ! -s err ]]
    cf-annotate plain.cf 2>err >out
    grep -qx 'cf-annotate: n/x.c: not found, so its lines have no text: --source-dir DIR says below which directory it is' err
    cd here
    [[ $(text ../plain.cf) == 'n/x.c,1,1,int here;' ]]
    [[ ! -s err ]]
    cd n
    [[ $(text ../../plain.cf) == 'n/x.c,1,1,int here;' ]]
    # one of that name in a directory of another name is another one
    cd ../../other
    [[ $(text ../plain.cf) == n/x.c,1,1, ]]
    cd ..
    [[ $(text stated.cf) == 'n/x.c,1,1,int there;' ]]
    # a relative one, as of reproducible builds, from the working directory, before the name
    printf '%s\n' source,label,built n/x.c,there/deep/n/x.c,0 >files.csv
    printf '%s\n' time,source 1,n/x.c:1 | at relative.cf --with file=files.csv
    [[ $(text relative.cf) == 'n/x.c,1,1,int there;' ]]
    [[ $(cd there && text ../relative.cf) == 'n/x.c,1,1,int there;' ]]
    [[ $(cd here && text ../relative.cf) == 'n/x.c,1,1,int here;' ]]
    [[ $(cd other && text ../relative.cf) == n/x.c,1,1, ]]
    # what the user says comes first
    [[ $(text --source-dir here stated.cf) == 'n/x.c,1,1,int here;' ]]
    [[ $(text --source-dir there plain.cf) == 'n/x.c,1,1,int there;' ]]
    # the directory itself may have another name
    [[ $(text --source-dir other plain.cf) == 'n/x.c,1,1,int other;' ]]
    [[ $(text --source-dir . plain.cf) == n/x.c,1,1, ]]
    grep -q "n/x.c: $T/.*/n/x.c and $T/.*/n/x.c both fit, so it has no text: name one by --source-dir" err
    # more in common with the path of the compiler
    [[ $(text --source-dir . stated.cf) == 'n/x.c,1,1,int there;' ]]
    # one file by two ways is one
    ln -s ../there/deep/n/x.c here/n/y.c
    ln -s there again
    [[ $(text --source-dir there --source-dir again plain.cf) == 'n/x.c,1,1,int there;' ]]
    # a file of that name alone is another one
    rm -r here
    [[ $(text --source-dir . plain.cf) == 'n/x.c,1,1,int there;' ]]
    rm -r there/deep/n
    mkdir -p more/m
    echo 'int m;' >more/m/x.c
    [[ $(text --source-dir more plain.cf) == n/x.c,1,1, ]]
    run -2 cf-annotate --source-dir nowhere plain.cf
    is 'cf-annotate: --source-dir nowhere: No such file or directory
Try '"'cf-annotate --help'." || has '--source-dir nowhere: No such file or directory'
    run -2 cf-annotate --value accesses --level 1 plain.cf
    [[ $output == *'--level goes with --value misses or hits' ]]
}

@test "one file by two spellings of its path is one" {
    local path name
    mkdir -p src/x
    echo 'int b;' >src/x/b.c
    # here or elsewhere; a directory of the path may be gone
    for path in gone/src/x//b.c gone/src/x/y/../b.c gone/src/./x/b.c; do
        printf '%s\n' source,label "x/b.c,/$path" x/b.c,/gone/src/x/b.c >files.csv
        printf '%s\n' time,source 1,x/b.c:1 | at two.cf --with file=files.csv
        run -0 --separate-stderr cf-annotate --csv --source-dir src two.cf
        is $'file,line,accesses,text\nx/b.c,1,1,int b;'
        [[ -z $stderr ]]
    done
    printf '%s\n' source,label "../b.c,$T/src/x/y/../b.c" >files.csv
    printf '%s\n' time,source 1,../b.c:1 | at up.cf --with file=files.csv
    for name in -q '--source-dir src'; do
        run -0 cf-annotate --csv $name up.cf
        is $'file,line,accesses,text\n../b.c,1,1,int b;'
    done
    for name in x//b.c x/./b.c x/y/../b.c ./x/b.c; do
        printf '%s\n' time,source "1,$name:1" | at name.cf
        run -0 cf-annotate --csv --source-dir src name.cf
        is "file,line,accesses,text
$name,1,1,int b;"
    done
    # of a path that leads elsewhere, none is taken
    printf '%s\n' source,label x/b.c,/gone/src/x/../b.c x/b.c,/gone/src/x/b.c >files.csv
    printf '%s\n' time,source 1,x/b.c:1 | at two.cf --with file=files.csv
    run -0 --separate-stderr cf-annotate --csv --source-dir src two.cf
    has 'x/b.c: stands for /gone/src/x/../b.c and /gone/src/x/b.c' "$stderr"
}

@test "the work grows with the files, not with their square" {
    # minutes of the processor's time where each name is compared with each
    awk 'BEGIN { print "source,label"; for (i = 0; i < 100000; i++) print "d/f" i ".c,/gone/d/f" i ".c" }' >files.csv
    awk 'BEGIN { print "time,source"; for (i = 0; i < 100000; i++) print i ",d/f" i ".c:1" }' |
        at many.cf --with file=files.csv
    (ulimit -t 20 && cf-annotate -q many.cf) | tail -n 1 >got
    [[ $(<got) == d/f*.c,1,1, ]]
}

@test "a name that stands for two files has no text, and says so" {
    mkdir -p a/n b/n
    echo 'int a;' >a/n/x.c
    echo 'int b;' >b/n/x.c
    printf '%s\n' source,label,built "n/x.c,$T/a/n/x.c,0" "n/x.c,$T/b/n/x.c,0" >files.csv
    printf '%s\n' time,source 1,n/x.c:1 | at two.cf --with file=files.csv
    run --separate-stderr cf-annotate two.cf
    is 'file,line,accesses,text
n/x.c,1,1,'
    has "n/x.c: stands for $T/a/n/x.c and $T/b/n/x.c, whose lines are added up, and has no text: 'cf-resolve --path-parts 0' keeps files apart" "$stderr"
    run --separate-stderr cf-annotate --source-dir a two.cf
    has 'n/x.c,1,1,'
    has_not 'int a'
    # two names of one file are one
    rm -r b
    ln -s a b
    run --separate-stderr cf-annotate two.cf
    has 'n/x.c,1,1,int a;'
    [[ -z $stderr ]]
}

@test "a file that is newer than the program, or than the recording, is warned of" {
    mkdir n
    echo 'int x;' >n/x.c
    touch -d @1700000000 n/x.c
    recorded() { # BUILT: a stream of a program that was linked then
        printf '%s\n' source,label,built "n/x.c,$T/n/x.c,$1" >files.csv
        printf '%s\n' time,source 1,n/x.c:1 | at r.cf --with file=files.csv
        run --separate-stderr cf-annotate r.cf
        has 'n/x.c,1,1,int x;'
    }
    recorded 1700000000
    [[ -z $stderr ]]
    recorded 0
    [[ -z $stderr ]]
    recorded 1699999999
    [[ $stderr == "cf-annotate: $T/n/x.c: newer than the program that was compiled from it: its lines may have moved since" ]]
    # of two programs, the first
    printf '%s\n' source,label,built "n/x.c,$T/n/x.c,1800000000" "n/x.c,$T/n/x.c,1600000000" >files.csv
    printf '%s\n' time,source 1,n/x.c:1 | at r.cf --with file=files.csv
    run --separate-stderr cf-annotate r.cf
    has 'newer than the program' "$stderr"
}

@test "a recording's date counts where programs have none, and where they are newer" {
    need valgrind 'records'
    mkdir n
    printf 'int x[99];\nint main(void)\n{\n    x[3]++;\n    return 0;\n}\n' >n/x.c
    cc -g -O0 -static -o prog n/x.c
    touch -d @1700000000 n/x.c
    touch -d @1700000100 prog
    SOURCE_DATE_EPOCH=1700000200 cf-capture trace -o in.cf -- ./prog 2>/dev/null
    cf-resolve -q -o r.cf in.cf
    run --separate-stderr cf-annotate --file x.c r.cf
    has 'n/x.c,4,2,"    x[3]++;"'
    [[ -z $stderr ]]
    touch -d @1700000150 n/x.c
    run --separate-stderr cf-annotate --file x.c r.cf
    has 'newer than the program that was compiled from it' "$stderr"
    # a copy of the program is newer than it was when it was recorded
    touch -d @1800000000 prog
    cf-resolve -q -o r.cf in.cf
    run --separate-stderr cf-annotate --file x.c r.cf
    [[ -z $stderr ]]
    touch -d @1700000250 n/x.c
    run --separate-stderr cf-annotate --file x.c r.cf
    has "$T/n/x.c: newer than the recording: its lines may have moved since" "$stderr"
    # of two recordings the first, wherever it stands
    SOURCE_DATE_EPOCH=1700000300 cf-capture trace --resolve -o later.cf -- ./prog 2>/dev/null
    run --separate-stderr cf-annotate --file x.c later.cf
    [[ -z $stderr ]]
    cat later.cf r.cf >both.cf
    run --separate-stderr cf-annotate --file x.c both.cf
    has 'n/x.c,4,4,'
    has "$T/n/x.c: newer than the recording: its lines may have moved since" "$stderr"
}

# shown FILE BYTES: the text of lines 1 to 3 of a file with these bytes, as CSV.
shown() {
    # shellcheck disable=SC2059 # the escapes are meant
    printf "$2" >"$1"
    printf '%s\n' time,source "1,$T/$1:1" "2,$T/$1:2" "3,$T/$1:3" | at shown.cf
    cf-annotate shown.cf 2>err | sed "1d; s:^$T/$1,::"
}

@test "source text is foreign: ends of lines, bytes that are none, what has no end" {
    is_text() { # FILE BYTES TEXT
        shown "$1" "$2" >got
        printf "$3" | same - got
    }
    is_text crlf.c 'a\r\nb\r\nc\r\n' '1,1,a\n2,1,b\n3,1,c\n'
    [[ ! -s err ]]
    is_text end.c 'a\nb\nc' '1,1,a\n2,1,b\n3,1,c\n'
    [[ ! -s err ]]
    is_text blank.c '\n\n\n' '1,1,\n2,1,\n3,1,\n'
    [[ ! -s err ]]
    is_text short.c 'a\nb' '1,1,a\n2,1,b\n3,1,\n'
    grep -qx "cf-annotate: $T/short.c has only 2 lines, and line 3 was counted: is it the file that was compiled?" err
    is_text empty.c '' '1,1,\n2,1,\n3,1,\n'
    grep -q 'empty.c has only 0 lines, and line 3 was counted' err
    is_text binary.c 'a\nb\0\nc\n' '1,1,\n2,1,\n3,1,\n'
    grep -qx "cf-annotate: $T/binary.c: holds zero bytes: it is no source: its lines have no text" err
    # far behind the begin, a zero byte is one more byte that is none
    is_text late.c "a\n%09000d\nc\0d\n" "1,1,a\n2,1,$(printf '%04096d' 0)...\n3,1,c?d\n"
    [[ ! -s err ]]
    # the text of CSV is as it is
    is_text raw.c 'a\tb\n\033[31mred\n"q",\377\n' '1,1,a\tb\n2,1,\033[31mred\n3,1,"""q"",\377"\n'
}

@test "lines of no file that can be read: a directory, a pipe, a device, one without rights" {
    mkdir dir.c
    mkfifo pipe.c
    printf '%s\n' time,source "1,$T/dir.c:1" "2,$T/pipe.c:1" 3,/dev/zero:1 4,/dev/stdin:2 | at odd.cf
    run --separate-stderr timeout 60 cf-annotate odd.cf
    [[ $status == 0 ]]
    [[ ${#lines[@]} == 5 ]]
    has '4 files, such as' "$stderr"
    # nobody else may read it
    if [[ $(id -u) == 0 ]]; then
        echo secret >closed.c
        chmod 600 closed.c
        chmod 755 "$T"
        printf '%s\n' time,source "1,$T/closed.c:1" | at closed.cf
        run --separate-stderr setpriv --reuid 65534 --clear-groups cf-annotate <closed.cf
        [[ $stderr != *'Permission denied'* || $output != *secret* ]]
        has_not secret
    fi
}

@test "names that are no file and line count as they are" {
    printf '%s\n' time,source 1,nothing 2,a.c: 3,a.c:x 4,a.c:-1 5,:7 6,a:b.c:12 \
        7,a.c:99999999999999999999999 8,a.c:4294967296 '9,../../x.c:3' | at names.cf
    cf-annotate names.cf >out 2>err
    diff -u - <(sed 1d out | sort) <<END
,7,1,
../../x.c,3,1,
a.c,4294967296,1,
a.c:,,1,
a.c:-1,,1,
a.c:99999999999999999999999,,1,
a.c:x,,1,
a:b.c,12,1,
nothing,,1,
END
    NO_COLOR=1 cf-annotate --term names.cf >out 2>err
    grep -qE '^ *1 \( 11.1%\) +-  $' out
}

@test "what is for people is safe for terminals: escapes, tabs, lines that are too long" {
    mkdir n
    printf 'int\ta; \033]0;title\007\n\tab\302\205\342\200\256c\n%200d\n' 1 >n/x.c
    printf '%s\n' time,source 1,n/x.c:1 2,n/x.c:2 3,n/x.c:3 '4,"evil'$'\e''[2J/x.c:1"' | at evil.cf
    NO_COLOR=1 cf-annotate --term evil.cf >out 2>err
    run grep -c $'[\x01-\x09\x0b-\x1f\x7f]' out
    is 0
    grep -qF '1  int     a; \x1b]0;title\x07' out
    grep -qF '2          ab\u0085\u202ec' out
    grep -qF 'evil\x1b[2J/x.c' out
    run grep -c $'\e' err
    is 0
    COLUMNS=50 NO_COLOR=1 cf-annotate --term evil.cf >out 2>err
    [[ $(sed -n '/n\/x.c -/,$p' out | grep -E '^ *1 .* 3  ' | wc -L) -le 50 ]]
    grep -qE '^ *1 .*3   +\.\.$' out
    # a terminal that is too narrow for shares has none
    run grep -c '%)' out
    is 0
    # with colours, those of lines with values
    cf-annotate --term evil.cf 2>/dev/null | grep -qE $'\e\\[48;5;[0-9]+m \e\\[0m'
}

@test "JSON: an object a line, null where there is nothing" {
    need python3 'reads JSON'
    mkdir n
    printf 'say("\\n");\n12\n' >n/x.c
    printf '%s\n' time,source 1,n/x.c:1 2,n/x.c:2 3, 4,n/y.c:3 5,nothing | at in.cf
    cf-annotate -q --json in.cf 2>/dev/null >out
    python3 -c '
import json
for line in open("out"): print(list(json.loads(line).values()))' >got
    diff -u - got <<'END'
['n/x.c', 1, 1, 'say("\\n");']
['n/x.c', 2, 1, '12']
['n/y.c', 3, 1, None]
['nothing', None, 1, None]
[None, None, 1, None]
END
    cf-annotate -q --json --context 1 --threshold 25 --value accesses --file x.c in.cf >out 2>err
    [[ ! -s out ]]
    cf-annotate -q --json --context 1 --file x.c in.cf --csv >out
    [[ $(head -n 1 out) == file,line,accesses,text ]]
}

@test "--context in CSV: lines without values, each once" {
    sixty
    cf-annotate --source-dir src --context 3 --threshold 1 sixty.cf >out 2>err
    diff -u - <(cut -d, -f1-4 out) <<END
file,line,accesses,misses
$(for i in {17..19}; do echo "n/sixty.c,$i,,"; done)
n/sixty.c,20,9000,3000
$(for i in {21..23}; do echo "n/sixty.c,$i,,"; done)
$(for i in {47..49}; do echo "n/sixty.c,$i,,"; done)
n/sixty.c,50,900,0
$(for i in {51..53}; do echo "n/sixty.c,$i,,"; done)
,,95,0
END
    # up to the end of the file, and not beyond it
    cf-annotate --source-dir src --context 1000000 --threshold 1 sixty.cf >out
    [[ $(grep -c sixty out) == 60 ]]
}

@test "wrong kinds of streams, and empty ones" {
    printf '%s\n' time 1 | at plain.cf
    run --separate-stderr cf-annotate plain.cf
    [[ $status == 1 && -z $output ]]
    has "has no column 'source': first run the stream through cf-resolve" "$stderr"
    printf '%s\n' time,source 1, 2, | at none.cf
    run -0 --separate-stderr cf-annotate none.cf
    is 'file,line,accesses,text
,,2,'
    [[ $stderr == "cf-annotate: no access is of a known source line: compile with -g, and see cf-resolve(1)" ]]
    printf '%s\n' time,source 1,a.c:1 | at in.cf
    run -1 --separate-stderr cf-annotate --value misses in.cf
    has 'the accesses have none of the columns class, hit and level' "$stderr"
    run -1 --separate-stderr cf-annotate --value cost in.cf
    has cf-latency "$stderr"
    run -1 --separate-stderr cf-annotate --dist 64 in.cf
    has cf-distance "$stderr"
}

@test "a distance says what missed, also where no values are named" {
    printf '%s\n' time,source,dist 1,a.c:1,3 2,a.c:1,80 3,a.c:2,63 4,a.c:2,64 | at in.cf
    run --separate-stderr cf-annotate --dist 64 in.cf
    is 'file,line,accesses,misses,text
a.c,1,2,1,
a.c,2,2,1,'
}

@test "streams of several machines, and concatenated ones, are warned of and added up" {
    printf '%s\n' time,source,size,op 1,a.c:1,8,load 2,a.c:2,8,load | at in.cf
    cf-cache -q -m raspberry-pi-4 in.cf >a.cf
    cf-cache -q -m tegra-x1 in.cf >b.cf
    cat a.cf b.cf >both.cf
    run --separate-stderr cf-annotate --value accesses,misses both.cf
    has 'a.c,1,2,2,'
    has 'a.c,2,2,0,'
    cf-rank -q --by source --value misses both.cf 2>said >/dev/null
    [[ $(grep -v 'not found' <<<"$stderr") == "$(sed 's/^cf-rank/cf-annotate/' said)" && -s said ]]
    run --separate-stderr cf-annotate both.cf
    [[ $(grep -v 'not found' <<<"$stderr") == "$(sed 's/^cf-rank/cf-annotate/' said)" ]]
}

@test "of many files that are not what was compiled, ten are named and the rest counted" {
    mkdir n
    local i
    for i in {10..22}; do
        echo 'int x;' >"n/$i.c"
        echo "n/$i.c,$T/n/$i.c,1000" >>files
    done
    (echo source,label,built && cat files) >files.csv
    (echo time,source && for i in {10..22}; do echo "$i,n/$i.c:1"; done) | at many.cf --with file=files.csv
    cf-annotate --html page.html many.cf 2>err >out
    [[ $(grep -c 'int x;' out) == 13 && $(grep -c 'newer than the program' err) == 10 ]]
    grep -qx 'cf-annotate: 3 more files are not what was compiled, or not known' err
    [[ $(wc -l <err) == 11 ]]
}
