# SPDX-License-Identifier: BSD-2-Clause
#
# cf-cat: concatenates, packs, slices; prints CSV and dumps; checks.
load lib

small() { # FILE: four accesses, two mappings
    cat >a.csv <<'END'
time,pid,tid,op,size,addr,pc
10,7,8,load,4,0x1000,0x400000
20,7,8,store,8,0x1ff8,0x400004
30,7,9,ifetch,16,0x400010,0x400010
40,7,9,load,1,0xffffffffff600000,0x400020
END
    cat >m.csv <<'END'
time,pid,op,start,end,offset,perms,label
0,7,map,0x1000,0x2000,0,3,"a ""quoted"", name"
35,7,unmap,0x1000,0x2000,0,3,
END
    stream "$1" --clock instructions --with map=m.csv a.csv
}

random_csv() { # ROWS SEED: accesses in the order of time
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed); t = 0
        print "time,pid,tid,op,size,addr,pc,function"
        split("load store ifetch prefetch", op, " ")
        for (i = 0; i < n; i++) {
            t += int(rand() * 4)
            printf "%d,%d,%d,%s,%d,0x%x,0x%x,f%d\n", t, 100 + int(rand() * 2), 100 + int(rand() * 4),
                op[1 + int(rand() * 4)], 2 ^ int(rand() * 5), rand() * 1048576, 4194304 + int(rand() * 99),
                rand() * 20
        } }'
}

@test "--slice of a part of the time: the same as by its ticks" {
    cf-cat --slice 25%-75% "$ROOT/samples/sort.cf" -o part.cf
    # from 1 on, as many ticks as the last one says
    local last
    last=$(cf-cat --info "$ROOT/samples/sort.cf" | sed -n 's/.*"access".*last: \([0-9]*\),.*/\1/p')
    cf-cat --slice $((1 + last / 4))-$((1 + last * 3 / 4 - 1)) "$ROOT/samples/sort.cf" -o ticks.cf
    same <(cf-cat --csv part.cf) <(cf-cat --csv ticks.cf)
    same <(cf-cat --csv --table map part.cf) <(cf-cat --csv --table map ticks.cf)
    # snapshots have times, too
    cf-cache -q -m raspberry-pi-4 --snapshot-every 10000 -o snapshots.cf "$ROOT/samples/sort.cf"
    cf-cat --slice 50%- --csv --table snapshot snapshots.cf >half.csv
    cf-cat --csv --table snapshot snapshots.cf >all.csv
    [[ $(wc -l <half.csv) -gt 5 && $(wc -l <half.csv) -lt $(wc -l <all.csv) ]]
    same <(tail -n +2 half.csv) <(tail -n $(($(wc -l <half.csv) - 1)) all.csv)
    run -2 bash -c "cat part.cf | cf-cat --slice 25%-75%"
    has "--slice: a part of the time needs a file with an index"
    # the time of a part is not that of the whole
    cf-cat --part 2/3 "$ROOT/samples/sort.cf" -o second.cf
    run -2 bash -c "cf-cat --slice 25%-75% second.cf >none.cf"
    has "--slice: a part of the time needs the whole recording, and this is a part of one"
    cat part.cf second.cf >both.cf
    run -2 bash -c "cf-cat --slice 25%-75% <both.cf >none.cf"
    cf-cat --part 1/1 "$ROOT/samples/sort.cf" -o one.cf
    same <(cf-cat --csv part.cf) <(cf-cat --csv --slice 25%-75% one.cf)
}

@test "--csv prints what was imported, from a pipe and from a packed file" {
    small a.cf
    small a.packed.cf
    cf-cat --csv a.cf >out.csv
    same a.csv out.csv
    cf-cat --csv a.packed.cf >out.csv
    same a.csv out.csv
    cf-cat --csv <a.cf >out.csv
    same a.csv out.csv
    cf-cat --csv --table map a.packed.cf >out.csv
    same m.csv out.csv
}

@test "--decimal: addresses as numbers, in CSV and JSON, and it can be imported again" {
    printf 'time,op,addr,pc\n1,load,0xffffffffffffffff,0x10\n2,store,0x0,0x1f\n' | stream d.cf
    run -0 cf-cat --csv --decimal d.cf
    is 'time,op,addr,pc
1,load,18446744073709551615,16
2,store,0,31'
    run -0 cf-cat --json --decimal d.cf
    is '{"time":1,"op":"load","addr":18446744073709551615,"pc":16}
{"time":2,"op":"store","addr":0,"pc":31}'
    cf-cat --csv --decimal d.cf | stream again.cf
    same <(cf-cat --csv d.cf) <(cf-cat --csv again.cf)
    run -2 cf-cat --decimal d.cf
    has "--table and --decimal belong to --csv and --json"
}

@test "what --csv prints can be imported again: 40000 random rows" {
    random_csv 40000 1 >r.csv
    stream r.packed.cf r.csv
    cf-cat --csv r.packed.cf >one.csv
    same r.csv one.csv
    stream again.cf one.csv
    cf-cat --csv again.cf >two.csv
    cmp one.csv two.csv
}

@test "--columns: accesses that have none of them are left out, which a message says" {
    printf '%s\n' addr,hit 1,1 2,2 | stream a.cf
    printf '%s\n' addr,size 1,4 2,4 3,4 | stream b.cf
    local out
    for out in packed.cf /dev/stdout; do
        run -1 --separate-stderr cf-cat --columns hit,site -o $out a.cf b.cf
        [[ $stderr == 'cf-cat: --columns: 3 accesses have none of these columns, and are left out' ]] || fail "$stderr"
    done
    wanting packed.cf
    same <(printf '%s\n' hit 1 2) <(cf-cat --csv packed.cf 2>&-)
    run -1 --separate-stderr cf-select --columns hit --addr 2 b.cf
    [[ $stderr == 'cf-select: --columns: 1 accesses have none'* ]] || fail "$stderr"
    # one that has some of them is whole
    run -0 --separate-stderr cf-cat --columns addr,hit -o c.cf a.cf b.cf
    [[ -z $stderr && $(rows access c.cf | wc -l) == 6 ]]
}

@test "--csv of one column: a field that is empty is no empty line, which would be no row" {
    printf '%s\n' start,end,label 0,1,a 1,2, 2,3,b >map.csv
    stream a.cf -t map map.csv
    run -0 cf-cat --csv --table map --columns label a.cf
    is $'label\na\n""\nb'
    cf-cat --csv --table map --columns label a.cf | stream b.cf -t map
    [[ $(rows map --columns label b.cf) == "$output" ]]
    run -0 cf-cat --csv --table map --columns pc a.cf
    has $'pc\n""\n""\n""'
}

@test "--csv: table by number, columns by name, the dictionary, no such table" {
    small a.cf
    run -0 cf-cat --csv --table 17 a.cf
    [[ ${lines[1]} == '0,7,map,0x1000,0x2000,0,3,"a ""quoted"", name"' ]]
    run -0 --separate-stderr cf-cat --csv --columns op,nonsense,time,dist a.cf
    is "op,nonsense,time,dist
load,,10,
store,,20,
ifetch,,30,
load,,40,"
    [[ $stderr == "cf-cat: table access has no column 'nonsense': its fields are empty
cf-cat: table access has no column 'dist', which cf-distance adds: its fields are empty" ]] || fail "$stderr"
    run -0 cf-cat --csv --table string a.cf
    is 'id,text
1,"a ""quoted"", name"'
    run -1 cf-cat --csv --table nonsense a.cf
    has "no such table"
    run -0 cf-cat --csv --table object a.cf # is listed, but not in this stream
    is ""
}

@test "--csv: a column that comes later is told and left out; --columns has both" {
    printf 'time,addr\n1,0x10\n' >one.csv
    printf 'time,addr,pc\n2,0x20,0x30\n' >two.csv
    stream one.cf one.csv
    stream two.cf two.csv
    run -0 --separate-stderr cf-cat --csv one.cf two.cf
    is "time,addr
1,0x10
2,0x20"
    has "column 'pc'" "$stderr"
    run -0 --separate-stderr cf-cat --csv --columns time,addr,pc one.cf two.cf
    is "time,addr,pc
1,0x10,
2,0x20,0x30"
    [[ -z $stderr ]]
    # the other way round the cell is empty
    run -0 --separate-stderr cf-cat --csv two.cf one.cf
    [[ ${lines[2]} == 1,0x10, && -z $stderr ]]
}

@test "inputs one after the other, in every combination of pipe and file" {
    random_csv 3000 2 >a.csv
    random_csv 2000 3 >b.csv
    stream a.cf a.csv
    stream b.packed.cf b.csv
    { cat a.csv; tail -n +2 b.csv; } >want.csv
    cf-cat a.cf b.packed.cf | cf-cat --csv >got.csv
    cmp want.csv got.csv
    cf-cat a.cf - <b.packed.cf -o both.cf
    cf-cat --csv both.cf | cmp want.csv -
    cat a.cf b.packed.cf | cf-cat | cf-cat -o - | cf-cat --csv | cmp want.csv -
    run -0 cf-cat --verify both.cf
    is "both.cf: ok, 4 frames, 40 rows of string, 5000 rows of access"
}

@test "packing makes random accesses smaller than raw, and a pipe gives the same again" {
    random_csv 20000 4 >a.csv
    stream a.cf a.csv
    cf-cat a.cf -o a.packed.cf
    (($(stat -c %s a.packed.cf) * 3 < $(stat -c %s a.cf) * 2))
    cf-cat a.packed.cf | cf-cat --csv | cmp a.csv -
}

@test "-o keeps the mode of a file that is there, follows links also to nothing, and writes devices" {
    small a.cf
    (umask 022 && cf-cat -o new.cf a.cf)
    [[ $(stat -c %a new.cf) == 644 ]]
    touch mine.cf open.cf
    chmod 600 mine.cf
    chmod 666 open.cf
    (umask 022 && cf-cat -o mine.cf a.cf && cf-cat -o open.cf a.cf)
    [[ $(stat -c %a mine.cf open.cf) == 600$'\n'666 ]]
    cf-cat --csv mine.cf | cmp a.csv -
    mkdir d
    ln -s ../there.cf d/two
    ln -s d/two one
    cf-cat -o one a.cf
    [[ -L one && -L d/two && ! -L there.cf ]]
    cf-cat --csv there.cf | cmp a.csv -
    chmod 640 there.cf
    echo old >there.cf
    cf-cat -o one a.cf
    [[ -L one && -L d/two && $(stat -c %a there.cf) == 640 ]]
    cf-cat --csv there.cf | cmp a.csv -
    ln -s loop loop
    ln -s no/such/file far
    run -3 cf-cat -o loop a.cf
    run -3 cf-cat -o far a.cf
    [[ -L loop && -L far ]]
    mkfifo fifo
    cat fifo >read.cf 3>&- &
    cf-cat -o fifo a.cf
    wait $!
    cf-cat --csv read.cf | cmp a.csv -
    [[ -p fifo ]]
    ln -s /dev/null null
    cf-cat -o null a.cf
    [[ -L null && -c /dev/null ]]
    cf-cat -o /dev/stdout a.cf | cf-cat --csv | cmp a.csv -
    cp a.cf log
    cf-cat -o /dev/stdout a.cf >>log # what stands in it stays
    { cat a.csv; tail -n +2 a.csv; } >two.csv
    cf-cat --csv log | cmp two.csv -
    [[ $(echo *.tmp*) == '*.tmp*' ]]
}

@test "--slice keeps both bounds and what explains the rest, with an index and without" {
    small a.cf
    small a.packed.cf
    local f
    for f in a.cf a.packed.cf; do
        run -0 cf-cat --slice 20-30 --csv $f
        is "time,pid,tid,op,size,addr,pc
20,7,8,store,8,0x1ff8,0x400004
30,7,9,ifetch,16,0x400010,0x400010"
        cf-cat --slice 20-30 $f >s.cf
        run -0 cf-cat --verify s.cf
        has "1 rows of map, 2 rows of access"
        run -0 cf-cat --csv --slice 100- $f
        [[ $output != *,* || ${#lines[@]} == 1 ]]
        run -0 cf-cat --csv --table map --slice 100- $f
        [[ ${#lines[@]} == 3 ]]
    done
}

@test "--slice of standard input of which something was read already" {
    local n
    # frames of the same sizes at other times: an index of the first would hide rows of the second
    for n in 1000000 3000000; do
        seq 1 600000 | awk -v n=$n 'BEGIN { print "time,op,size,addr" }
            { printf "%d,load,8,0x%x\n", n + $1, $1 * 8 }' >$n.csv
        cf-capture csv -o $n.cf $n.csv
    done
    cat 1000000.cf 3000000.cf >two.cf
    run -0 bash -c '{ head -c $(stat -c %s 1000000.cf) >/dev/null; cf-cat --csv --slice 3000001-3000005; } <two.cf'
    [[ ${#lines[@]} == 6 ]]
}

@test "--slice: accesses without a time are in no span; other recordings need none" {
    printf 'addr,op\n1,load\n' | cf-capture csv -q | cf-cat --columns addr,op >notime.cf
    run -1 --separate-stderr cf-cat --csv --slice 0-9 notime.cf
    [ -z "$output" ]
    has "table access has no column 'time'" "$stderr"
    printf 'snapshot,time\n1,10\n' >s.csv
    printf 'snapshot,set\n1,3\n' | cf-capture csv -q --table line --with snapshot=s.csv >lines.cf
    printf 'experiment,parameter,repeat,misses,time\nsize,1024,0,3,900\n' | cf-capture csv -q --table probe >probe.cf
    run -0 cf-cat --csv --table line --slice 0-10 lines.cf
    is $'snapshot,set\n1,3'
    run -0 cf-cat --csv --table probe --slice 0-10 probe.cf
    has size,1024,0,3,900
}

@test "--slice of random rows against awk" {
    random_csv 100000 5 >a.csv
    stream a.cf a.csv
    cf-cat a.cf -o a.packed.cf
    local from=30001 to=120456
    awk -F, -v a=$from -v b=$to 'NR == 1 || ($1 >= a && $1 <= b)' a.csv >want.csv
    (($(wc -l <want.csv) > 1000))
    cf-cat --slice $from-$to a.cf | cf-cat --csv | cmp want.csv -
    cf-cat --slice $from-$to a.packed.cf | cf-cat --csv | cmp want.csv -
    cf-cat --slice $from-$to a.packed.cf -o s.cf
    cf-cat --csv s.cf | cmp want.csv -
    cf-cat --csv --slice $from-$to a.cf a.packed.cf >two.csv
    { cat want.csv; tail -n +2 want.csv; } | cmp - two.csv
}

@test "--slice cuts accesses without an address, transfers on a bus and lost samples out, too" {
    local t
    printf 'time,op,size\n1,load,1\n5,load,2\n6,load,4\n' >t.csv
    printf 'time,count\n1,1\n5,2\n6,4\n' >lost.csv
    cf-capture csv -w unplaced=t.csv -w bus=t.csv -w lost=lost.csv -o a.cf <(printf 'time,addr\n5,1\n')
    for t in unplaced bus lost; do
        run -0 bash -c "cf-cat --slice 2-5 a.cf | cf-cat --csv --table $t --columns time"
        is $'time\n5'
    done
}

@test "--slice of snapshots: lines go with the time of theirs" {
    printf 'snapshot,time,mode,cost_cycles\n0,100,1,5\n1,200,1,5\n2,300,1,5\n' >s.csv
    printf 'snapshot,level,set,way,addr\n0,1,0,0,0x10\n1,1,0,0,0x20\n1,1,1,0,0x30\n2,1,0,0,0x40\n' >l.csv
    stream s.cf --table line --with snapshot=s.csv l.csv
    run -0 cf-cat --csv --table line --columns snapshot,addr --slice 150-250 s.cf
    is "snapshot,addr
1,0x20
1,0x30"
    run -0 cf-cat --csv --table snapshot --columns snapshot --slice 150-250 s.cf
    is "snapshot
1"
    cf-cat s.cf -o p.cf
    run -0 cf-cat --csv --table line --columns snapshot,addr --slice 150-250 p.cf
    is "snapshot,addr
1,0x20
1,0x30"
}

@test "where a header is damaged, wherever, the rows behind it come" {
    printf 'time,op,addr\n1,load,4096\n2,load,8192\n' >x.csv
    cf-capture-csv x.csv >a.cf
    for at in 0 8 20; do
        cp a.cf b.cf
        printf XXXX | dd of=b.cf bs=1 seek=$at conv=notrunc status=none
        cat a.cf b.cf >ab.cf
        run -1 --separate-stderr cf-cat --csv --columns addr ab.cf
        is $'addr\n0x1000\n0x2000\n0x1000\n0x2000'
        has 'ab.cf: byte '"$(stat -c %s a.cf)" "$stderr"
    done
}

@test "--info tells header, chain, rows and span" {
    small a.packed.cf
    cf-cat a.packed.cf >b.cf
    run -0 cf-cat --info b.cf
    has 'input: {file: "b.cf", segment: 1}'
    has 'unit: "instructions"'
    has '  - "cf-cat a.packed.cf"'
    has '"map": {rows: 2, frames: 1, first: 0, last: 35,'
    has '"access": {rows: 4, frames: 1, first: 10, last: 40,'
    run -0 cf-cat --info b.cf a.packed.cf
    [[ $(grep -c '^---$' <<<"$output") == 2 ]]
    # bytes per row is what the file has
    random_csv 20000 6 >r.csv
    stream r.cf r.csv
    bytes=$(cf-cat --info r.cf | sed -n 's/.*"access".* bytes: \([0-9]*\),.*/\1/p')
    size=$(stat -c %s r.cf)
    ((bytes < size && bytes > size * 9 / 10))
}

@test "--dump shows everything, and --rows limits it" {
    small a.cf
    run -0 cf-cat --dump a.cf
    has 'header at byte 0:'
    has '  clock: {unit: "instructions"}'
    has 'id=1 length=16 text="a \"quoted\", name"'
    has 'table access, 4 rows, 7 columns'
    has 'column pid        u32  const            0 bytes, base 7,'
    has 'time=40 pid=7 tid=9 op=load size=1 addr=0xffffffffff600000 pc=0x400020'
    has 'op=map start=0x1000 end=0x2000 offset=0 perms=3 label="a \"quoted\", name"'
    run -0 cf-cat --dump --rows 1 a.cf
    has '    time=10 '
    has_not '    time=20 '
    has '... 3 more rows'
}

@test "cache lines: a pipe and a file hold the same in codecs of their own, which --dump names" {
    # pages of 15 lines, far apart and of two processes
    seq 1 480 | awk 'BEGIN { print "time,pid,tid,op,size,addr,pc" }
        { p = $1 % 32
          printf "%d,%d,7,%s,8,0x%x%08x,0x%x\n", $1, 70000 * (1 + p % 2), $1 % 3 ? "load" : "store",
              p * p * 27, p * 1003520 + int($1 / 32) * 64, 65536 }' >wide.csv
    cf-capture csv wide.csv | cf-cache -q -m tegra-x1 --snapshot-every 100000 --snapshot-level L2 \
        --frames random --ram 64G | cat >lines.cf
    cf-cat -q -o lines.packed.cf lines.cf
    run -0 cf-cat --dump lines.cf
    [[ $output =~ column\ set\ +u32\ +rise8 && $output =~ column\ phys\ +u64\ +lines32 ]]
    [[ $output =~ column\ addr\ +u64\ +lines48 ]]
    run -0 cf-cat --dump lines.packed.cf
    [[ $output =~ column\ phys\ +u64\ +pages && $output =~ column\ addr\ +u64\ +pages ]]
    [[ $output =~ column\ pid\ +u32\ +like && $output =~ column\ code\ +blob\ +near ]]
    cf-cat --csv --table line lines.cf >lines.csv
    cf-cat --csv --table line lines.packed.cf >packed.csv
    [[ $(wc -l <lines.csv) == 481 ]]
    same lines.csv packed.csv
}

@test "--dump writes nothing that upsets a terminal" {
    printf 'time,pid,op,start,end,label\n1,1,map,0x1000,0x2000,"\033[31m"\n' >m.csv
    stream m.cf --table map m.csv
    run -0 cf-cat --dump m.cf
    has '\x1b[31m'
    has_not $'\033'
}

@test "--verify: one line an input, the place of the first damage, status 1" {
    random_csv 50000 7 >a.csv
    stream a.cf a.csv
    run -0 cf-cat --verify a.cf
    is "a.cf: ok, 5 frames, 20 rows of string, 50000 rows of access"
    cp a.cf bad.cf
    at=$(($(stat -c %s a.cf) / 2))
    printf '\xa5' | dd of=bad.cf bs=1 seek=$at conv=notrunc status=none
    run -1 --separate-stderr cf-cat --verify a.cf bad.cf
    [[ ${lines[0]} == "a.cf: ok, "* ]]
    [[ ${lines[1]} == "bad.cf: damaged: byte "*"checksum does not hold"* ]]
    head -c $at a.cf >cut.cf
    run -1 cf-cat --verify cut.cf
    [[ $output == "cut.cf: damaged: "*"cut off"* ]]
    run -1 cf-cat --verify - <cut.cf
    [[ $output == "standard input: damaged: "*"cut off"* ]]
    run -1 cf-cat --verify nothing.cf
    has "No such file"
}

@test "--verify: a frame that is swapped, moved, written twice or left out, each with its place" {
    local form
    for form in raw packed; do
        mkdir $form
        disorder_stream $form $form
        run -0 cf-cat --verify $form/good*.cf
        run -1 cf-cat --verify $form/*.cf
        printf '%s\n' "${lines[@]}" >said
        (($(ls $form/bad* | wc -l) > 900 && $(ls $form/good* | wc -l) > 150))
        grep '/bad' said | grep -v ': damaged: byte [0-9]* (frame [0-9]*): .' >missed || :
        [[ ! -s missed ]] || fail "not told:" "$(cat missed)"
        [[ $(grep -c '/bad' said) == $(ls $form/bad* | wc -l) ]]
    done
    run -1 cf-cat --verify raw/bad-swap-4-9.cf # task and first accesses
    is "raw/bad-swap-4-9.cf: damaged: byte 584 (frame 5): table map: time 0 behind accesses or lines of time 19"
}

@test "--verify: rows out of order inside a frame" {
    printf 'time,op,addr\n5,load,0x10\n7,load,0x20\n6,load,0x30\n' >a.csv
    cf-capture csv a.csv >a.cf 2>err || [[ $? == 1 ]]
    run -1 cf-cat --verify a.cf
    [[ $output == "a.cf: damaged: byte "*" (frame 2): table access: row 1: time 6 behind time 7" ]]
    # by one who does not begin a frame there
    mkdir d
    disorder_stream raw d
    run -0 bash -c 'cf-cat --csv d/bad-inside-9.cf >/dev/null'
    run -1 cf-cat --verify d/bad-inside-9.cf
    [[ $output == *": damaged: byte "*" (frame 9): table access: row 6: time 14 behind time 15" ]]
    # the time of a probe is how long it took
    printf 'experiment,parameter,repeat,level,accesses,misses,time\n' >p.csv
    printf 'size,%d,0,1,10,0,%d\n' 1 9 2 5 >>p.csv
    cf-capture csv --table probe p.csv | run -0 cf-cat --verify
}

@test "frames out of order are told by every program that reads them, and processed" {
    mkdir d
    disorder_stream raw d
    cf-cat --csv --table access --columns time d/whole.cf >want.csv
    run -1 --separate-stderr cf-cat --csv --columns time d/bad-swap-9-15.cf
    has "d/bad-swap-9-15.cf: byte " "$stderr"
    has "table access: time 20 stands behind time 49: out of order" "$stderr"
    tail -n +2 want.csv | sort -n | cmp - <(printf '%s\n' "${lines[@]}" | tail -n +2 | sort -n)
    run -1 --separate-stderr cf-histogram --column time d/bad-swap-9-15.cf
    has "out of order" "$stderr"
    run -1 --separate-stderr cf-cat --csv d/bad-move-11-to-17.cf # a mapping behind accesses of its time
    has "table map: time 35 stands behind time 49" "$stderr"
    run -0 cf-cat d/good-swap-4-5.cf
}

@test "--max-strings bounds the strings of an input: told with its place, status 1, all rows" {
    awk 'BEGIN { print "time,op,addr,region"
        for (i = 0; i < 60; i++) printf "%d,load,0x10,%040000d\n", i, i }' >a.csv
    stream a.cf a.csv
    stream a.packed.cf a.csv
    local f p
    for f in a.cf a.packed.cf; do
        cf-cat --csv $f | cmp a.csv -
        run -1 --separate-stderr cf-cat --csv --max-strings 1M $f
        ((${#lines[@]} == 61))
        [[ $stderr == "cf-cat: $f: byte "*" (frame "*"): the strings take more than 1 MiB"*"--max-strings" ]]
        cf-cat --max-strings 1M $f 2>err | cf-cat --csv | cmp a.csv - # what is handed on has them
        grep -q 'more than 1 MiB' err
    done
    run -2 cf-cat --max-strings 1K a.cf
    has "'1K': must be at least 1M"
    for p in $(programs annotator reducer); do
        run "$p" --max-strings many a.cf
        [[ $status == 2 && $output == *"--max-strings 'many'"* ]] || fail "$p: $output"
    done
}

@test "what can be read of a damaged stream is still handed on" {
    random_csv 50000 7 >a.csv
    stream a.cf a.csv
    printf '\xa5' | dd of=a.cf bs=1 seek=$(($(stat -c %s a.cf) / 2)) conv=notrunc status=none
    run -1 --separate-stderr bash -c 'cf-cat a.cf >b.cf'
    has "checksum does not hold" "$stderr"
    [ "$(wc -l <<<"$stderr")" = 1 ] # and not that rows lack, which follows
    wanting b.cf
    (($(cf-cat --csv b.cf 2>/dev/null | wc -l) == 33617)) # one frame of 16384 is lost
}

@test "options that do not go together" {
    small a.cf
    run -2 cf-cat --csv --dump a.cf
    run -2 cf-cat --table map a.cf
    run -2 cf-cat --rows 3 --csv a.cf
    run -2 cf-cat --csv -o x a.cf
    run -2 cf-cat --verify --slice 1-2 a.cf
    run -2 cf-cat --slice 2-1 a.cf
    run -2 cf-cat --csv --columns a,,b a.cf
}

@test "a pipe that pauses is passed on meanwhile" {
    random_csv 60000 8 >a.csv
    stream a.cf a.csv
    # the header, dictionary and some frames come; the end does not
    { head -c 800000 a.cf; gate go; } | cf-cat --csv 2>/dev/null >out.csv &
    local want
    want=$(sed -n 2p a.csv)
    eventually grep -qx "$want" out.csv
    touch go
    wait || true
}

@test "standard output that is a file gets a packed stream, at its end too" {
    awk 'BEGIN { print "time,op,addr"; for (i = 0; i < 100000; i++) printf "%d,load,0x%x\n", i, i * 8 }' >a.csv
    cf-capture csv a.csv | cat >pipe.cf
    cf-cat pipe.cf >file.cf
    cf-cat -o named.cf pipe.cf
    (($(stat -c %s file.cf) * 5 < $(stat -c %s pipe.cf)))
    # but for the command line in the chain
    [[ $(stat -c %s file.cf) == "$(stat -c %s named.cf)" || $(($(stat -c %s named.cf) - $(stat -c %s file.cf))) -le 16 ]]
    cf-cat --csv file.cf | cmp a.csv -
    # what was there stays, and by the index both parts are found
    cf-cat pipe.cf >>file.cf
    run -0 cf-cat --verify file.cf
    has '200000 rows of access'
    cf-cat --csv --slice 90000-90001 file.cf >got.csv
    printf 'time,op,addr\n90000,load,0xafc80\n90001,load,0xafc88\n90000,load,0xafc80\n90001,load,0xafc88\n' | cmp - got.csv
    random_csv 9000 5 | stream noise.cf
    (($(stat -c %s noise.cf) > 4096))
    run -3 --separate-stderr bash -c 'ulimit -f 1; trap "" XFSZ; cf-cat noise.cf >cut.cf'
    has 'File too large' "$stderr"
}

@test "--json: the rows of --csv, an object each" {
    printf 'time,op,addr,function\n1,load,0x10,"a,b"\n2,store,0x20,\n' | stream a.cf
    run -0 cf-cat --json a.cf
    is '{"time":1,"op":"load","addr":"0x10","function":"a,b"}
{"time":2,"op":"store","addr":"0x20","function":null}'
    run -0 cf-cat --json --columns function,time a.cf
    is '{"function":"a,b","time":1}
{"function":null,"time":2}'
    run -2 cf-cat --json --csv a.cf
    run -3 --separate-stderr bash -c 'cf-cat --json a.cf >/dev/full'
    has 'No space left' "$stderr"
}

# the parts' rows of a table, one part after the other
rows_of_parts() { # TABLE COLUMNS N FILE...
    local table=$1 columns=$2 n=$3 i
    shift 3
    echo "$columns"
    for ((i = 1; i <= n; i++)); do
        # a part without such rows fails
        cf-cat --csv --table "$table" --columns "$columns" --part "$i/$n" "$@" 2>none | tail -n +2
    done
}

# bats test_tags=slow
@test "--part: the parts together have each counted row once, in order" {
    local seed n
    for seed in 1 2; do
        make_parts a.cf $seed $seed 12
        cf-cat --verify a.cf
        for n in 1 2 3 7 64; do
            same <(cf-cat --csv --columns time,pid,tid,op,addr,pc,function,site,weight a.cf) \
                <(rows_of_parts access time,pid,tid,op,addr,pc,function,site,weight $n a.cf)
            same <(cf-cat --csv --table lost --columns time,count a.cf) \
                <(rows_of_parts lost time,count $n a.cf)
            same <(cf-cat --csv --table unplaced --columns time,op a.cf) \
                <(rows_of_parts unplaced time,op $n a.cf)
        done
    done
    # of a real recording, of which the tables that are said to be repeated are
    same <(cf-cat --csv "$ROOT/samples/threads.cf") <(cf-cat --csv --part 1/1 "$ROOT/samples/threads.cf")
}

@test "--part: what later rows need is in each part, up to its end, and the header says how much" {
    local n i table info repeated lines
    declare -A came
    make_parts a.cf 3 1 40
    for table in task map stack object switch; do cf-cat --csv --table $table a.cf >all.$table; done
    for n in 2 5 64; do
        for ((i = 1; i <= n; i++)); do
            cf-cat --part $i/$n a.cf >p.cf
            cf-cat --verify p.cf # strings, names, order, calling contexts
            info=$(cf-cat --info p.cf | grep '^  part: ' || :)
            for table in task map stack object switch; do
                cf-cat --csv --table $table p.cf >part.csv 2>none || echo time >part.csv
                lines=$(wc -l <part.csv)
                if ((i < n)); then # the beginning of the table, and no more
                    same <(head -n "$lines" all.$table) part.csv
                else
                    same all.$table part.csv
                fi
                repeated=
                [[ ! $info =~ [^a-z]$table:\ ([0-9]+) ]] || repeated=${BASH_REMATCH[1]}
                [[ ${repeated:-0} -eq ${came[$table]-0} ]] || ((i == 1))
                [[ $i -gt 1 || -z $repeated ]]
                came[$table]=$((lines - 1))
            done
        done
    done
    # as many accesses in each as the frames allow, which have at most 300
    cf-cat --info a.cf >all
    for i in 1 2 3 4; do
        cf-cat --csv --part $i/4 --columns time a.cf | wc -l
    done | sort -n >sizes
    (($(tail -1 sizes) - $(head -1 sizes) < 600))
}

@test "--part: 'before' and the identity in the header" {
    local i before=0
    make_parts a.cf 4 2 9
    make_parts b.cf 5 2 9
    for i in 1 2 3; do
        cf-cat --part $i/3 a.cf >p.cf
        [[ $(cf-cat --info p.cf | grep -c "number: $i, parts: 3, .*bytes: $(stat -c %s a.cf), before: $before\b") -ge 1 ]]
        before=$((before + $(cf-cat --csv --columns time p.cf | wc -l) - 1))
        cf-cat --info p.cf | sed -n 's/.*input: "\([0-9a-f]*\)".*/\1/p' >>ids
    done
    [[ $(sort -u ids | wc -l) -eq 1 ]]
    cf-cat --part 1/3 b.cf | cf-cat --info | sed -n 's/.*input: "\([0-9a-f]*\)".*/\1/p' >>ids
    [[ $(sort -u ids | wc -l) -eq 2 ]]
    # a part that is stored, read by ordinary programs
    cf-cat --part 2/3 -o p.packed.cf a.cf
    same <(cf-cat --csv --columns time,addr --part 2/3 a.cf) <(cf-cat --csv --columns time,addr p.packed.cf)
    # several files are one after the other; standard input may be a file
    same <(cf-cat --csv --columns time,addr a.cf b.cf) <(rows_of_parts access time,addr 3 a.cf b.cf)
    same <(cf-cat --csv --columns time --part 2/3 a.cf) <(cf-cat --csv --columns time --part 2/3 <a.cf)
}

@test "--part: reads its own frames only" {
    make_parts a.cf 6 1 60
    # damage in the middle of the file is none of the first and last parts
    local size
    size=$(stat -c %s a.cf)
    cp a.cf bad.cf
    printf 'XXXXXXXX' | dd of=bad.cf bs=1 seek=$((size / 2 & ~7)) conv=notrunc status=none
    run ! cf-cat --verify bad.cf
    same <(cf-cat --csv --part 1/6 a.cf 2>/dev/null) <(cf-cat --csv --part 1/6 bad.cf 2>/dev/null)
    local i damaged=0
    for i in 1 2 3 4 5 6; do
        cf-cat --part $i/6 bad.cf >/dev/null 2>err || damaged=$((damaged + 1))
    done
    [[ $damaged -ge 1 ]]
}

@test "--part: refused for pipes, files without an index, and parts of parts" {
    make_parts a.cf 7 1 5
    run -2 bash -c "cat a.cf | cf-cat --part 1/2"
    has "cf-cat: --part: standard input: is no file: a part is found by the index of a file: store it by 'cf-cat -o FILE', and name that"
    run -2 cf-cat --part 1/2 - - <a.cf
    has "standard input cannot be two inputs: name a FILE for one of them"
    cat a.cf | cf-cat | cat >raw.cf
    run -2 cf-cat --part 1/2 raw.cf
    has "raw.cf: has no index"
    head -c -40 a.cf >cut.cf
    run -2 cf-cat --part 1/2 cut.cf
    has "cut.cf: has no index, or one that does not hold"
    run -1 cf-cat --part 1/2 nowhere.cf
    has "nowhere.cf: No such file or directory"
    run -1 cf-cat --part 1/2 .
    has "is a directory"
    cf-cat --part 1/2 -o half.cf a.cf
    run -1 cf-cat --part 1/2 half.cf
    has "is a part itself: take parts of the whole file"
    local bad
    for bad in 1 0/2 3/2 1/0 x/2 1/y 1/65537 /; do
        run -2 cf-cat --part $bad a.cf
    done
    run -2 cf-cat --part 1/2 --slice 1-2 a.cf
    has "--part does not go with --slice, --verify or --info"
    run -2 cf-cat --part 1/2 --info a.cf
    # nothing to share out
    make_stream empty none.cf
    cf-cat --part 2/2 none.cf | cf-cat --verify
}

@test "--info: instructions of processors that an emulator runs by turns, and of a program begun anew" {
    # 1 waits from 100 to 150, and begins another program at 170
    printf 'time,pid,tid,cpu,count\n0,1,1,0,0\n100,2,2,1,0\n150,1,1,0,100\n170,1,1,0,0\n' >switch.csv
    printf 'time,pid,tid,cpu,addr\n1,1,1,0,0\n149,2,2,1,0\n180,1,1,0,0\n' | stream a.cf --with switch=switch.csv
    run -0 cf-cat --info a.cf
    has 'pid: 1, name: "", accesses: 2, instructions: 130}'
    has 'pid: 2, name: "", accesses: 1, instructions: 49}'
}
