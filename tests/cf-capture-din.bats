#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture din: traces of Dinero III.
load lib

@test "the labels: read, write, fetch, escape, flush" {
    printf '2 400\n0 1000\n1 1004\n3 0\n4 2000\n2 404\n0 ffffffffffffffff\n' | cf-capture din >t.cf
    run -0 cf-cat --csv t.cf
    is 'time,op,size,addr,pc,insns
1,ifetch,4,0x400,0x400,1
2,load,4,0x1000,0x400,0
3,store,4,0x1004,0x400,0
5,flush,4,0x2000,0x400,0
6,ifetch,4,0x404,0x404,1
7,load,4,0xffffffffffffffff,0x404,0'
}

@test "addresses with and without 0x, sizes, comments, blanks, CR LF" {
    printf ' 0\t0x10 8\n0 20 0x10\n0 30 read of x\n0  40  2 comment\r\n\r\n\n1 50\r\n0 60   \n0 ABCdef 1048576\n' |
        cf-capture din --size 1 >t.cf
    run -0 cf-cat --csv --columns op,size,addr t.cf
    is 'op,size,addr
load,8,0x10
load,16,0x20
load,1,0x30
load,2,0x40
store,1,0x50
load,1,0x60
load,1048576,0xabcdef'
}

@test "bad lines are counted, the first is told, the rest is imported" {
    printf '0 10\n5 20\n0\n0 xyz\n0 10 0\n0 10 8x\n0 10 99999999\n0 10 -4\n0 10 +4\nr 10\n0 12345678901234567\n00 1\n0 0x\n-1 3\n1 30\n' >t.din
    run -1 --separate-stderr bash -c 'cf-capture din t.din >t.cf'
    has "cf-capture-din: t.din:2: '5 20'" "$stderr"
    has "13 lines were bad" "$stderr"
    run -0 cf-cat --csv --columns time,op,addr t.cf
    is 'time,op,addr
1,load,0x10
2,store,0x30'
}

@test "a last line without a newline, of each importer of text: left out and told, status 1" {
    local form what
    while IFS='|' read -r form what; do
        printf '%b' "$what" >whole
        run -0 cf-capture $form -o whole.cf whole
        run -0 bash -c 'cf-cat --csv whole.cf | wc -l'
        is 3
        head -c -1 whole >cut
        run -1 --separate-stderr cf-capture $form -q -o cut.cf cut
        is ''
        [[ $stderr == cf-capture-${form%% *}:\ cut:[0-9]:\ "the last line has no newline"* ]] ||
            fail "$form: $stderr"
        [ "${#stderr_lines[@]}" -eq 1 ] || fail "$form: $stderr"
        run -1 --separate-stderr cf-cat --csv cut.cf
        [ "${#lines[@]}" -eq 2 ]
        has "its own input was cut off" "$stderr"
    done <<'END'
din|0 10\n0 20\n
lackey| L 10,4\n L 20,4\n
csv|addr\n0x10\n0x20\n
leon4|10 40000000 nop [00000000]\n11 40000004 nop [00000000]\n
leon4 --raw|0x90100000 00000010 00000000 40000000 01000000\n0x90100010 00000011 00000000 40000004 01000000\n
leon4|INST 0 10 0x40000000 nop 0\nINST 0 11 0x40000004 nop 0\n
END
}

@test "a byte order mark before each text is none of it" {
    local p file
    printf '0 10\n1 20\n' >din
    printf 'I  10,2\n L 20,4\n' >lackey
    printf 'addr\n1\n' >csv
    printf '00007,0x005000010000\n00007,0x005000020000\n' >dumpcache
    head -n 50 "$ROOT/samples/leon4/fits.hist" >leon4
    echo ' 42/42 7ffd10001234 269100142 |OP LOAD|LVL L1 hit|LCK N/A' >perf-script
    printf '{INST 0 7 0x40001000 0x01000000 0x0 nop 0 0 0} {INST 0 8 0x40001004 0x01000000 0x0 nop 0 0 0}' >list
    for file in din lackey csv dumpcache leon4 perf-script list; do
        p=${file/list/leon4}
        args=()
        [[ $p != dumpcache ]] || args=(--sets 1 --ways 2)
        [[ $p != perf-script ]] || args=(-F pid,tid,addr,data_src)
        cf-capture $p -q "${args[@]}" <$file >want.cf
        printf '\xef\xbb\xbf' | cat - $file >bom
        run -0 --separate-stderr bash -c 'cf-capture "$@" <bom >got.cf' - $p -q "${args[@]}"
        [[ -z $stderr ]] || fail "$stderr"
        cmp want.cf got.cf
        [[ $p != din && $p != lackey ]] || cf-capture $p -q bom bom >two.cf # each file has its own
    done
}

@test "noise and an endless line are bad lines and nothing worse" {
    head -c 300000 /bin/bash >noise
    (head -c 300000 /dev/zero | tr '\0' 0; printf '\n0 10\n') >long
    printf '0 10\0\n\0\n0\00010\n' >zero
    run -1 cf-capture din -o n.cf noise
    run -1 cf-capture din -o z.cf zero
    has '3 lines were bad'
    run -1 cf-capture din -o l.cf long
    [ "${#lines[@]}" -eq 1 ]
    run -0 cf-cat --csv --columns addr l.cf
    is 'addr
0x10'
}

@test "many records, over the ends of batches and files" {
    awk 'BEGIN { print "time,op,size,addr,pc,insns" >"want.csv"
        for (i = 1; i <= 30000; i++) {
            l = i % 3; a = sprintf("%x", i * 37)
            if (l == 2) pc = "0x" a
            print l, a, 1 + i % 9
            print i "," (l == 0 ? "load" : l == 1 ? "store" : "ifetch") "," 1 + i % 9 ",0x" a "," \
                (i < 2 ? "0x0" : pc) "," (l == 2) + 0 >"want.csv" } }' >t.din
    head -n 12345 t.din >a.din
    tail -n +12346 t.din >b.din
    cf-capture din t.din >t.cf
    cf-cat --csv t.cf >got.csv
    same want.csv got.csv
    cf-capture din -o t.packed.cf a.din b.din
    cf-cat --csv t.packed.cf >got.csv
    same want.csv got.csv
}

@test "the header tells clock and source; the same input gives the same bytes" {
    printf '0 10\n1 20\n' >t.din
    cf-capture din t.din | cat >t.cf
    run -0 cf-cat --dump t.cf
    has records
    has cf-capture-din
    cf-capture din - <t.din >u.cf
    cf-cat --csv u.cf | cmp - <(cf-cat --csv t.cf)
    cf-capture din t.din | cmp - t.cf
}

@test "empty input, or escapes alone: a stream that says so, a message, status 1" {
    : >empty
    run -1 --separate-stderr bash -c 'cf-capture din empty >t.cf'
    has 'no records' "$stderr"
    run -1 cf-cat --verify t.cf
    has "what wrote it says"
    rm t.cf
    printf '3 0\n3 4\n' >e.din
    run -1 cf-capture din -o t.cf e.din
    has 'no records: the input holds no access, but escapes alone'
    [ ! -e t.cf ]
    printf '3 0\n0 4\n' >e.din
    run -0 cf-capture din -o t.cf e.din
    is ''
}

@test "a file that cannot be read: told, the others are imported, status 1" {
    printf '0 10\n' >a.din
    run -1 cf-capture din -o t.cf missing a.din
    has 'missing: No such file'
    run -1 --separate-stderr cf-cat --csv --columns addr t.cf # it is not all
    is 'addr
0x10'
}

@test "a full disk is an error; a closed pipe is none" {
    awk 'BEGIN { for (i = 0; i < 100000; i++) print 0, i }' >t.din
    run -3 bash -c 'cf-capture din t.din >/dev/full'
    run -0 bash -c 'cf-capture din t.din | head -c 100 >/dev/null'
    is ''
}

@test "usage: bad option, bad size, help, probe" {
    run -2 cf-capture din --nonsense
    run -2 cf-capture din --size 0
    run -2 cf-capture din --size x
    run -0 cf-capture din --help
    has 'Usage: cf-capture din'
    run -0 cf-capture din --probe
    has 'ready: '
}
