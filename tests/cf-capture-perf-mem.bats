#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture perf-mem: the text of perf mem report -D.
load lib

columns=time,op,addr,level,weight,stage,pid,tid,pc,data_src,cost

@test "with commas" {
    cat >s.txt <<'END'
# PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL
4242,4243,0x401136,0x7ffd10001234,7,0x269100142,demo:???
4242,4242,0x401146,0x7f1122335470,40,0x21869080242,/opt/demo app:f, g
4242,4242,0x401154,0x7ffd10003238,0,0x51080184,demo:???
4242,4242,0xffffffff81000100,0xffff888012345678,22,0x1e05080021,???:???
4242,4242,0x401154,0x0,0,0x51080184,demo:???
END
    run -0 --separate-stderr cf-capture perf-mem --period 9 -o s.cf s.txt
    has '1 samples left out that have no address' "$stderr"
    has '1 samples left out that state no operation' "$stderr"
    run -0 cf-cat --csv --columns $columns s.cf
    is "$columns
1,load,0x7ffd10001234,1,9,1,4242,4243,0x401136,10352591170,7
2,load,0x7f1122335470,254,9,1,4242,4242,0x401146,2303864603202,40
3,store,0x7ffd10003238,254,9,1,4242,4242,0x401154,1359479172,0"
}

@test "with blanks: the first address has a prefix that no other has" {
    cat >s.txt <<'END'
# PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL
 4242  4242 0x0000000000401136 0x0167ffd10001234     7 0x269100142 demo:???
4242 4242 0x40113a 0x7ffd10002240 15 0x469100442 demo:???
END
    cf-capture perf-mem -o s.cf s.txt
    run -0 cf-cat --csv --columns addr,pc,cost s.cf
    is 'addr,pc,cost
0x7ffd10001234,0x401136,7
0x7ffd10002240,0x40113a,15'
    printf '%s\n' '# PID, TID, IP, ADDR, PHYS ADDR, DATA PAGE SIZE, LOCAL WEIGHT, DSRC, SYMBOL' \
        '20134 20134 0xffffffffb5bd2fd0 0x016ffff9a274e96a308 0x000000044e96a308 4K  1168 0x5080144 /lib/vmlinux:perf_ctx_unlock' |
        cf-capture perf-mem | cf-cat --csv --columns op,addr,phys,pc,cost >s.csv
    run -0 tail -n 1 s.csv
    is 'store,0xffff9a274e96a308,0x44e96a308,0xffffffffb5bd2fd0,1168'
}

@test "a latency above 32 bits is cut, which is told" {
    printf '%s\n' '4242,4242,0x401136,0x7ffd10001234,4294967295,0x269100142,demo:???' \
        '4242,4242,0x401136,0x7ffd10001234,4294967296,0x269100142,demo:???' >s.txt
    run -0 --separate-stderr cf-capture perf-mem -o s.cf s.txt
    has ': 1 samples have a latency above 32 bits' "$stderr"
    run -0 cf-cat --csv --columns cost s.cf
    is 'cost
4294967295
4294967295'
}

@test "physical addresses and page sizes" {
    printf '%s\n' '# PID, TID, IP, ADDR, PHYS ADDR, DATA PAGE SIZE, LOCAL WEIGHT, DSRC, SYMBOL' \
        '4242,4242,0x401136,0x7ffd10001234,0x0000000123451234,4K,7,0x269100142,demo:???' |
        cf-capture perf-mem | cf-cat --csv --columns addr,phys,cost >s.csv
    run -0 tail -n 1 s.csv
    is '0x7ffd10001234,0x123451234,7'
}

@test "the same accesses as perf-data of the same file" {
    need perf "linux-perf"
    local layout
    for layout in intel amd; do
        make_perf_data $layout little file 300 4 >m.data
        perf mem -i m.data report -D -x , 2>/dev/null >m.txt || perf mem report -i m.data -D -x , 2>/dev/null >m.txt
        [[ $(wc -l <m.txt) -gt 200 ]] || skip "perf mem report prints nothing of a made file here"
        cf-capture perf-data -o m.cf m.data
        cf-capture perf-mem -o s.cf m.txt
        for f in m s; do
            cf-cat --csv --columns op,addr,level,stage,pid,tid,pc,data_src,cost $f.cf >$f.csv
        done
        same m.csv s.csv
    done
}

@test "bad lines and unknown columns are reported, the rest is imported" {
    printf '%s\n' '4242,4242,0x401136,0x7ffd10001234,7,0x269100142,demo:???' 'x' '4242,1' >s.txt
    run -1 --separate-stderr cf-capture perf-mem -o s.cf s.txt
    has "s.txt:2: 'x' has not the columns" "$stderr"
    has '2 lines were bad in all' "$stderr"
    [[ $(rows access s.cf | wc -l) == 2 ]]
    printf '%s\n' '# PID, TID, IP, BLK' >s.txt
    run -1 cf-capture perf-mem s.txt
    has 's.txt:1: a column that is not known'
    for columns in 'PID, TID, IP, ADDR, BLK, DSRC' 'PID, PID, IP, ADDR, LOCAL WEIGHT, DSRC'; do
        printf '%s\n' "# $columns, SYMBOL" '1,2,0x40,0x10,7,0x269100142,demo:???' >s.txt
        run -1 cf-capture perf-mem --op load s.txt
        has 's.txt:1: a column that is not known or stands there a second time: the lines behind it'
        has 'no records'
    done
}
