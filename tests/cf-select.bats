# SPDX-License-Identifier: BSD-2-Clause
#
# cf-select: rows that fulfil the conditions, checked against awk over the same rows as CSV.
load lib

setup_file() {
    # addresses are decimal here, so that awk can compare them; the importer takes both
    awk 'BEGIN {
        srand(11); t = 0
        print "time,cpu,pid,tid,op,size,addr,pc,region,function,hit"
        split("load store ifetch prefetch flush", op, " ")
        for (i = 0; i < 60000; i++) {
            t += int(rand() * 3)
            printf "%d,%d,%d,%d,%s,%d,%d,%d,r%d.so,fn%d,%d\n", t, rand() * 4, 100 + int(rand() * 3),
                100 + int(rand() * 6), op[1 + int(rand() * 5)], 2 ^ int(rand() * 6), rand() * 65536,
                4194304 + int(rand() * 999), rand() * 7, rand() * 300, rand() < 0.1 ? 255 : 1
        } }' >"$BATS_FILE_TMPDIR/in.csv"
    printf 'time,pid,op,start,end,label\n5,100,map,0,65536,r1.so\n9,101,map,0,65536,r2.so\n' \
        >"$BATS_FILE_TMPDIR/m.csv"
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    cd "$BATS_FILE_TMPDIR" || return 1
    cf-capture csv -q --with map=m.csv in.csv >in.cf
    cf-cat in.cf -o in.packed.cf
}

setup() {
    lib_setup
    D=$BATS_FILE_TMPDIR
}

# as_awk AWK-CONDITION OPTION...: cf-select with the options keeps what awk keeps. Columns are
# $1 time, $2 cpu, $3 pid, $4 tid, $5 op, $6 size, $7 addr, $8 pc, $9 region, $10 function.
as_awk() {
    local condition=$1 f
    shift
    # what cf-cat prints has addresses in hex: awk prints them so, too
    awk -F, -v OFS=, "NR == 1 { print; next } $condition {
        \$7 = sprintf(\"0x%x\", \$7); \$8 = sprintf(\"0x%x\", \$8); print }" "$D/in.csv" >want.csv
    for f in in.cf in.packed.cf; do
        cf-select "$@" "$D/$f" >out.cf
        cf-cat --csv out.cf >got.csv
        [[ -s got.csv ]] || head -n 1 want.csv >got.csv
        cmp want.csv got.csv || fail "not as awk ($f): $*"
        cf-select "$@" "$D/$f" -o out.packed.cf
        cf-cat --csv out.packed.cf >got.csv
        [[ -s got.csv ]] || head -n 1 want.csv >got.csv
        cmp want.csv got.csv || fail "not as awk, into a file ($f): $*"
    done
    kept=$(($(wc -l <want.csv) - 1))
}

@test "a part of the time: parts that meet share no row, and together are all" {
    local f n parts
    # first 0 and last T: part A to B are the ticks from floor(A (T + 1)) on, below floor(B (T + 1))
    for f in in.packed.cf; do
        parts=0
        for n in 0 1 2 3 4 5 6 7 8 9; do
            cf-select --time $((10 * n))%-$((10 * n + 10))% "$D/$f" | cf-cat --csv >part$n.csv
            [[ $(wc -l <part$n.csv) -gt 1000 ]]
            parts=$((parts + $(wc -l <part$n.csv) - 1))
        done
        [[ $parts == 60000 ]] || fail "$parts rows"
        { cat part0.csv && tail -q -n +2 part[1-9].csv; } >got.csv
        cf-cat --csv "$D/$f" | cmp - got.csv
    done
    read -r first last < <(cf-cat --info "$D/in.packed.cf" | sed -n 's/.*"access".*first: \([0-9]*\), last: \([0-9]*\),.*/\1 \2/p')
    from=$(awk "BEGIN { print $first + int(0.125 * ($last - $first + 1)) }")
    to=$(awk "BEGIN { print $first + int(0.5 * ($last - $first + 1)) - 1 }")
    for f in 12.5%-50% .; do
        [[ $f != . ]] || f=$from-$to
        cf-select --time "$f" "$D/in.packed.cf" | cf-cat --csv >"$f.csv"
    done
    cmp 12.5%-50%.csv "$from-$to.csv"
    cf-select --time 90%- "$D/in.packed.cf" | cf-cat --csv | cmp - part9.csv
    cf-select --time -10% "$D/in.packed.cf" | cf-cat --csv | cmp - part0.csv
    # as alternatives, and inverted
    cf-select --time -10%,90%- "$D/in.packed.cf" | cf-cat --csv >got.csv
    { cat part0.csv && tail -n +2 part9.csv; } | cmp - got.csv
    cf-select --invert --time 10%-90% "$D/in.packed.cf" | cf-cat --csv | cmp - got.csv
    # standard input that is a file has an index, too
    cf-select --time -10% <"$D/in.packed.cf" | cf-cat --csv | cmp - part0.csv
    # two inputs: of the time of both
    cf-select --time 0%-100% "$D/in.packed.cf" "$D/in.packed.cf" | cf-cat --csv | wc -l >n
    [[ $(cat n) == 120001 ]]
    # nor does a recording without rows, which has no index, matter
    echo time,addr | stream none.packed.cf
    cat "$D/in.packed.cf" none.packed.cf >two.cf
    for n in two.cf "$D/in.packed.cf none.packed.cf"; do
        # shellcheck disable=SC2086 # names of files
        cf-select --time -10% $n | cf-cat --csv | cmp - part0.csv
    done
    run -0 --separate-stderr bash -c 'cf-select -q --time 10%-20% none.packed.cf | cf-cat --csv'
    is ""
}

@test "a part of the time of what has no index is refused, and so is what is no part" {
    run -2 bash -c "cat '$D/in.packed.cf' | cf-select --time 10%-20% >out"
    has "--time: a part of the time needs a file with an index"
    [[ ! -s out ]]
    cf-cat "$D/in.cf" | cat >raw.cf
    run -2 bash -c "cf-select --time 10%-20% raw.cf >out"
    has "store it by 'cf-cat -o FILE'"
    head -c -64 "$D/in.packed.cf" >cut.cf
    run -2 bash -c "cf-select --time 10%-20% cut.cf >out"
    has "needs a file with an index"
    cf-cat --part 1/2 "$D/in.packed.cf" -o first.cf
    run -2 bash -c "cf-select --time 10%-20% first.cf >out"
    has "--time: a part of the time needs the whole recording"
    [[ ! -s out ]]
    local bad
    for bad in 10%-101% 20%-10% 10%-10% 10%-20 10-20% %-% 5% nan%-20% -5%-10% 10%-20%x; do
        run -2 bash -c "cf-select --time '$bad' '$D/in.packed.cf' >out"
        has "--time '$bad': "
    done
    run -2 bash -c "cf-select --addr 10%-20% '$D/in.packed.cf' >out"
    run -2 bash -c "cf-select --time 0.0001%-0.0002% '$D/in.packed.cf' >out"
    has "shorter than a tick of the clock"
}

@test "a time is found by the index: what lies elsewhere in the file is not read" {
    # a damaged frame before the time is no hindrance, and one in it is reported
    cf-cat --dump -n 0 "$D/in.packed.cf" | sed -n 's/^frame [0-9]* at byte \([0-9]*\): table access.*/\1/p' >frames
    local at
    at=$(head -n 1 frames)
    cf-cat --csv --columns time,op,addr,size "$D/in.packed.cf" | awk -F, -v OFS=, 'NR > 1 { $1 += 1000000 } 1' |
        cf-capture csv -q -o late.cf
    cat "$D/in.packed.cf" late.cf >both.cf
    printf 'x' | dd of=both.cf bs=1 seek=$((at + 2000)) conv=notrunc status=none
    run -1 cf-cat --verify both.cf
    run -0 --separate-stderr cf-select --time 1000000- -o out.cf both.cf
    [[ -z $stderr ]] || fail "$stderr"
    [[ $(cf-cat --csv out.cf | wc -l) == 60001 ]]
    run -1 cf-select --time 0- -o out.cf both.cf
    run -0 --separate-stderr cf-select --time 5000000- -o out.cf late.cf
    [[ $stderr == *"nothing was selected; cf-cat --info prints the first and last time"* ]] || fail "$stderr"
}

@test "one condition each" {
    as_awk '$5 == "load"' --op load
    ((kept > 10000))
    as_awk '$5 == "load" || $5 == "flush"' --op load,flush
    as_awk '$3 == 101' --pid 101
    as_awk '$4 >= 102 && $4 <= 104' --tid 102-104
    as_awk '$2 == 0 || $2 == 3' --cpu 0,3
    as_awk '$7 >= 4096 && $7 <= 8191' --addr 0x1000-0x1fff
    as_awk '$7 >= 4096 && $7 <= 8191' --addr 0x1000+4K
    as_awk '$8 >= 4194400' --pc 4194400-
    as_awk '$1 <= 20000' --time -20000
    as_awk '$6 == 8' --size 8
    ((kept > 5000))
}

@test "strings by pattern" {
    as_awk '$9 == "r3.so"' --region r3.so
    as_awk '$9 ~ /^r[12]/' --region 'r[12]*'
    as_awk '$10 ~ /^fn.*7$/' --function 'fn*7'
    as_awk '$10 ~ /^fn.$/ && $9 == "r0.so"' --function 'fn?' --region r0.so
    ((kept > 10))
}

@test "whose they are, why they missed, what served them" {
    awk 'BEGIN { srand(5)
        print "time,op,addr,object,site,symbol,source,class,hit"
        split("none compulsory capacity conflict", class, " ")
        for (i = 0; i < 5000; i++) { o = int(rand() * 9); c = rand() < .4 ? 1 + int(rand() * 3) : 0
            printf "%d,load,%d,%d,%s,%s,f%d.c:%d,%d,%d\n", i, i * 8, o, o ? "main t.c:" o % 3 : "",
                rand() < .3 ? "v" int(rand() * 4) : "", rand() * 3, rand() * 20, c, c ? (rand() < .5 ? 255 : 2) : 1 } }' >k.csv
    stream k.cf k.csv
    picks() { # AWK-CONDITION OPTION...
        local condition=$1
        shift
        awk -F, "NR > 1 && ($condition) { print \$1 }" k.csv >want
        [[ -s want ]]
        cf-select "$@" k.cf | cf-cat --csv --columns time | tail -n +2 | same want - || fail "$*"
    }
    picks '$4 == 3 || $4 >= 7' --object 3,7-
    picks '$4 == 0' --object 0
    picks '$5 == "main t.c:1"' --site '*:1'
    picks '$6 == "v2" || $6 == ""' --symbol v2 --symbol ''
    picks '$7 ~ /^f1[.]c:/' --source 'f1.c:*'
    picks '$8 == 3 || $8 == 1' --class conflict,compulsory
    picks '$8 == 0' --class none
    picks '$9 == 255' --hit memory
    picks '$9 == 1 || $9 == 255' --hit 1,memory
    picks '$7 ~ /^f2/ && $5 ~ /:0$/ && $6 == "v1"' --source 'f2*' --site '*:0' --symbol v1
    run -2 cf-select --class good k.cf
    run -2 cf-select --hit main k.cf
    printf 'op,addr\nload,1\n' | stream bare.cf
    local option
    for option in object=1 site=x symbol=x source=x class=none hit=1; do
        run -1 --separate-stderr cf-select --$option bare.cf
        has "'${option%=*}'" "$stderr"
    done
}

@test "an option again is an alternative, another option a further condition" {
    as_awk '($7 < 256 || $7 >= 65000) && $5 == "store"' --addr -255 --op store --addr 65000-
    as_awk '($5 == "load" || $5 == "store") && ($3 == 100 || $3 == 102) && $6 <= 4' \
        --op load --op store --pid 100,102 --size -4
    as_awk '($9 == "r1.so" || $9 == "r2.so") && $1 > 30000' --region r1.so --region r2.so \
        --time 30001-
    ((kept > 1000))
}

@test "--invert keeps the others" {
    as_awk '!($5 == "load" && $3 == 100)' --op load --pid 100 --invert
    as_awk '!($1 >= 1000 && $1 <= 50000)' --time 1000-50000 --invert
}

@test "nothing, everything" {
    as_awk 0 --pid 99
    ((kept == 0))
    as_awk 1 --pid 100-102
    ((kept == 60000))
    as_awk 0 --pid 4294967296- # more than a pid can be
    as_awk 0 --pid 100-102 --invert
}

@test "nothing selected is told, but not with --quiet" {
    printf 'time,op,addr\n1,load,0x10\n2,store,0x20\n' | stream a.cf
    run -0 --separate-stderr bash -c 'cf-select --op flush a.cf | cf-cat --csv'
    [[ $stderr == "cf-select: nothing was selected out of 2 rows" ]] || fail "$stderr"
    run -0 --separate-stderr bash -c 'cf-select -q --op flush a.cf | cf-cat --csv'
    [[ -z $stderr ]] || fail "$stderr"
}

@test "other tables pass, and remainders become whole frames" {
    cf-select --pid 101 --op load "$D/in.cf" >out.cf
    cf-cat --csv --table map "$D/in.cf" >want.csv
    cf-cat --csv --table map out.cf >got.csv
    same want.csv got.csv
    # 4000 of 60000 rows, from four frames: one frame
    run -0 cf-cat --info out.cf
    [[ $output =~ \"access\":\ \{rows:\ [0-9]+,\ frames:\ 1, ]]
}

@test "frames that are wholly kept pass as they came" {
    run -0 cf-cat --info "$D/in.cf"
    before=$(grep '"access"' <<<"$output")
    run -0 bash -c 'cf-select --pid 100-102 "$0" | cf-cat --info' "$D/in.cf"
    [[ $(grep '"access"' <<<"$output") == "$before" ]]
}

@test "lines of a snapshot, as far as they have the columns" {
    printf 'snapshot,level,set,way,addr,pid\n0,1,0,0,0x10,1\n0,1,1,0,0x20,2\n0,2,0,0,0x30,1\n' >l.csv
    stream l.cf --table line l.csv
    run -0 bash -c 'cf-select --pid 1 l.cf | cf-cat --csv --table line --columns addr'
    is "addr
0x10
0x30"
    # no column op: the condition says nothing of lines, which a warning says
    run -0 --separate-stderr bash -c 'cf-select --op load l.cf | cf-cat --csv --table line --columns addr'
    is "addr
0x10
0x20
0x30"
    has 'without a column of the conditions' "$stderr"
    run -0 bash -c 'cf-select --op load --addr 0x20-0x2f l.cf | cf-cat --csv --table line --columns addr'
    is "addr
0x20"
}

@test "two segments: strings mean what their own dictionary says" {
    printf 'time,addr,function\n1,0x1,x\n2,0x2,y\n' >a.csv
    printf 'time,addr,function\n1,0x3,y\n2,0x4,x\n' >b.csv
    stream a.cf a.csv
    stream b.cf b.csv
    cat a.cf b.cf >two.cf
    run -0 bash -c 'cf-select --function y two.cf | cf-cat --csv'
    is "time,addr,function
2,0x2,y
1,0x3,y"
}

@test "a column that is missing: status 1, and the program that adds it is named" {
    printf 'time,op,addr\n1,load,0x1\n' >a.csv
    stream a.cf a.csv
    run -1 --separate-stderr bash -c 'cf-select --function x a.cf >/dev/null'
    has cf-resolve "$stderr"
}

@test "wrong conditions" {
    run -2 cf-select "$D/in.cf"
    run -2 cf-select --op jump "$D/in.cf"
    run -2 cf-select --op map "$D/in.cf"
    run -2 cf-select --addr 9-1 "$D/in.cf"
    run -2 cf-select --pid x "$D/in.cf"
    run -2 cf-select --pid , "$D/in.cf"
}

@test "remainders of a pipe that pauses are passed on meanwhile" {
    cf-capture csv -q "$D/in.csv" | head -c 300000 >part.cf
    { cat part.cf; gate go; } | cf-select --time 3 2>/dev/null | cf-cat --csv 2>/dev/null >out.csv &
    eventually grep -q '^3,' out.csv
    touch go
    wait || true
}

@test "rows of a packed file go without a remark" {
    { echo time,op,addr; seq 1 3000 | awk '{ printf "%d,%s,0x%x\n", $1, $1 % 3 ? "load" : "store", 4096 + 8 * ($1 % 7) }'; } >a.csv
    cf-capture csv -o a.cf a.csv
    run -0 --separate-stderr bash -c 'set -o pipefail; cf-select --op store a.cf | cf-cat --csv | wc -l'
    [ "$output" = 1001 ]
    [ -z "$stderr" ]
}

@test "times of segments with different clocks are told, here and by cf-cat --slice" {
    printf 'time,op,addr\n1,load,1\n900,store,2\n' >a.csv
    stream a.cf --clock instructions a.csv
    stream b.cf --clock cycles a.csv
    for program in 'cf-select --time 5-1000' 'cf-select --invert --time 5-1000' 'cf-cat --slice 5-1000'; do
        run -0 --separate-stderr bash -c "$program a.cf b.cf >out.cf"
        has "column time has different facts in the inputs, which the result mixes: clock instructions; clock cycles" "$stderr"
        run -0 --separate-stderr bash -c "$program a.cf a.cf >out.cf"
        [[ ! $stderr ]]
    done
    run -0 --separate-stderr bash -c "cf-select --op load a.cf b.cf >out.cf"
    [[ ! $stderr ]]
    # ticks of one name and another length
    stream c.cf --clock cycles --hz 1000 a.csv
    stream d.cf --clock cycles --hz 2000 a.csv
    for program in 'cf-select --time 5-1000' 'cf-cat --slice 5-1000' 'cf-histogram --column time'; do
        run -0 --separate-stderr bash -c "$program c.cf d.cf >out.cf"
        has "which the result mixes: clock cycles at 1000 Hz; clock cycles at 2000 Hz" "$stderr"
    done
    run -0 --separate-stderr cf-heatmap c.cf d.cf
    has "the streams count time in different units" "$stderr"
    run -0 --separate-stderr cf-heatmap c.cf c.cf
    [[ $stderr != *units* ]]
}

@test "a column that the program that adds it could not make: that one is not asked for again" {
    printf 'time,op,addr\n1,load,1\n' | stream a.cf
    cf-resolve -q a.cf -o r.cf
    run -1 --separate-stderr cf-select --region x r.cf
    has "no column 'region': cf-resolve was run, but had nothing here to make it of" "$stderr"
    run -1 --separate-stderr cf-select --region x a.cf
    has "no column 'region': first run the stream through cf-resolve" "$stderr"
}
