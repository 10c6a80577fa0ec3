#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture perf-script: the text of perf script.
load lib

# What perf 6.1 printed by default of a program whose name has a blank.
sample() {
    cat <<'END'
        demo app  4242 [000]   123.456789:       1000 cpu/mem-loads,ldlat=30/P:     7ffd10001234       269100142 |OP LOAD|LVL L1 or L1 hit|SNP None|TLB L1 or L2 hit|LCK N/A|BLK  N/A               7           401136 [unknown] (demo)
        demo app  4242 [001]   123.456790:       1000 cpu/mem-loads,ldlat=30/P:     7ffd10002240       469100442 |OP LOAD|LVL L2 or L2 hit|SNP None|TLB L1 or L2 hit|LCK N/A|BLK  N/A              15           40113a [unknown] (demo)
        demo app  4242 [000]   123.456793:       1000 cpu/mem-loads,ldlat=30/P:     7f1122335470     21869080242 |OP LOAD|LVL LFB/MAB or LFB/MAB hit|SNP N/A|TLB L1 or L2 hit|LCK N/A|BLK  Data              40           401146 [unknown] (demo)
        demo app  4242 [001]   123.456794:       1000 cpu/mem-loads,ldlat=30/P:     7f1122336480    103a6a802042 |OP LOAD|LVL Remote node, same socket RAM hit|SNP HitM|TLB L1 or L2 hit|LCK Yes|BL             620           40114a [unknown] (demo)
        demo app  4242 [001]   123.456796:       1000         cpu/mem-stores/P:     7ffd10003238        51080184 |OP STORE|LVL L1 miss|SNP N/A|TLB L2 miss|LCK N/A|BLK  N/A                                       0           401154 [unknown] (demo)
        demo app  4242 [000]   123.456797:       1000 cpu/mem-loads,ldlat=30/P: ffff888012345678      1e05080021 |OP N/A|LVL N/A or N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A                                         22 ffffffff81000100 [unknown] ([unknown])
END
}

@test "perf's default fields" {
    sample >s.txt
    run -0 --separate-stderr cf-capture perf-script -o s.cf s.txt
    has '1 samples left out that state no operation' "$stderr"
    run -0 cf-cat --csv --columns time,op,addr,level,weight,stage,pid,tid,cpu,pc,data_src,cost s.cf
    is 'time,op,addr,level,weight,stage,pid,tid,cpu,pc,data_src,cost
123456789000,load,0x7ffd10001234,1,1000,1,4242,4242,0,0x401136,10352591170,7
123456790000,load,0x7ffd10002240,2,1000,1,4242,4242,1,0x40113a,18942526530,15
123456793000,load,0x7f1122335470,254,1000,1,4242,4242,0,0x401146,2303864603202,40
123456794000,load,0x7f1122336480,255,1000,1,4242,4242,1,0x40114a,17843080929346,620
123456796000,store,0x7ffd10003238,254,1000,1,4242,4242,1,0x401154,1359479172,0'
}

@test "threads whose name begins with # are no comments; those without a process are told" {
    { echo '# a comment of perf'; sample | sed 's/^ *demo app  4242 \[001\]/         #worker  4243 [001]/'; } >s.txt
    run -0 --separate-stderr cf-capture perf-script -o s.cf s.txt
    has 'each is taken for a process of its own' "$stderr"
    [[ $(rows access s.cf --columns tid | sort | uniq -c | paste -s -d ' ' | tr -s ' ') == ' 2 4242 3 4243 1 tid' ]]
    sed 's/ 424[23] / 4242\/&/; s/\/ /\//' s.txt >p.txt
    run -0 --separate-stderr cf-capture perf-script -q -o s.cf p.txt
    has_not 'of its own' "$stderr"
    [[ $(rows access s.cf --columns pid,tid | sort -u | paste -s -d ' ') == '4242,4242 4242,4243 pid,tid' ]]
}

@test "names without numbers of processes or threads are told: rows do not say whose they are" {
    printf '%s\n' '  my app   123.456789: 1000' '  sort   123.456790: 1000' >s.txt
    run -0 --separate-stderr cf-capture perf-script --op load -F comm,time,addr -o s.cf s.txt
    has 'without pid or tid no row says whose it is' "$stderr"
    run -0 --separate-stderr cf-capture perf-script --op load -F time,addr -o s.cf <<<' 123.456789: 1000'
    [[ -z $stderr ]]
}

@test "other records are passed over, and not a thread whose name is like theirs" {
    printf '%s\n' '   : PERF_RECORD_X  4242 [001]   123.456789:       1000 cpu/mem-loads/P:     7ffd10001234           401136 main (demo)' \
        '            demo  4242 [001]   123.456790: PERF_RECORD_COMM: dead beef:4242/4242' \
        '            demo  4242 [001]   123.456790: PERF_RECORD_EXIT(4242:4242):(4241:4241)' \
        PERF_RECORD_FINISHED_ROUND >s.txt
    run -0 --separate-stderr cf-capture perf-script -o s.cf s.txt
    has_not 'left out' "$stderr"
    run -0 cf-cat --csv --columns tid,addr s.cf
    is 'tid,addr
4242,0x7ffd10001234'
}

@test "a bad line of a thread whose name is like another record's is one" {
    printf '%s\n' ' PERF_RECORD_X  4242 [001]   123.456789:       1000 cpu/mem-loads/P:     no-address' \
        'demo  4242 [001]   123.456790:       1000 cpu/mem-loads/P:     7ffd10001234           401136 main (demo)' >s.txt
    run -1 --separate-stderr cf-capture perf-script -o s.cf s.txt
    has "s.txt:1: ' PERF_RECORD_X  4242 " "$stderr"
    [[ $(rows access s.cf | wc -l) == 2 ]]
    printf '%s\n' ' 4242 PERF_RECORD_EXIT(4242:4242):(4241:4241)' ' 4242 1000' >s.txt
    run -0 cf-capture perf-script --op load -F tid,addr -o s.cf s.txt
    [[ $(rows access s.cf | wc -l) == 2 ]]
}

@test "field misc may be empty, and a CPU comes from field cpu only" {
    printf '%s\n' '  a 7 4242/4243  U   123.456788: 1000' '  a 7 4242/4243      123.456789: 1008' >s.txt
    cf-capture perf-script --op load -F comm,pid,tid,misc,time,addr -o s.cf s.txt
    run -0 cf-cat --csv --columns addr,pid,tid s.cf
    is 'addr,pid,tid
0x1000,4242,4243
0x1008,4242,4243'
    printf '%s\n' ' 4242 U abc0' ' 4242   abc8' | cf-capture perf-script --op load -F tid,misc,addr -o s.cf
    run -0 cf-cat --csv --columns addr,tid s.cf
    is 'addr,tid
0xabc0,4242
0xabc8,4242'
    echo ' worker[3]  123.456789: 1000' | cf-capture perf-script --op load -F comm,time,addr -o s.cf
    run -0 cf-cat --csv s.cf
    has_not cpu
}

@test "-F: the fields that perf script was given" {
    cat >s.txt <<'END'
 4242   123.456789:     7ffd10001234       269100142 |OP LOAD|LVL L1 or L1 hit|SNP None|TLB L1 or L2 hit|LCK N/A|BLK  N/A               7           401136       123451234 4K
 4242   123.456790:     7ffd10002240       469100442 |OP LOAD|LVL L2 or L2 hit|SNP None|TLB L1 or L2 hit|LCK N/A|BLK  N/A              15           40113a       123452240 4K
END
    cf-capture perf-script -F tid,time,ip,addr,weight,data_src,phys_addr,data_page_size -o s.cf --period 77 s.txt
    run -0 cf-cat --csv --columns addr,weight,pid,pc,phys,cost s.cf
    is 'addr,weight,pid,pc,phys,cost
0x7ffd10001234,77,4242,0x401136,0x123451234,7
0x7ffd10002240,77,4242,0x40113a,0x123452240,15'
    echo ' 4242   123.456789: cpu/mem-loads,ldlat=30/P:     7ffd10001234       269100142 |OP LOAD|LVL L1 or L1 hit|LCK N/A|BLK  N/A               7              10' >s.txt
    cf-capture perf-script -F tid,time,event,addr,weight,ins_lat,data_src -o s.cf s.txt
    run -0 cf-cat --csv --columns addr,cost s.cf
    is 'addr,cost
0x7ffd10001234,7'
    echo '        demo app  4242/4243  [001]   123.456789: cpu/mem-loads,ldlat=30/P:     7ffd10001234       269100142 |OP LOAD|LVL L1 hit|LCK N/A|BLK  N/A               7           401136 operator|(int, int)       123451234' >s.txt
    cf-capture perf-script -F comm,pid,tid,cpu,time,event,addr,data_src,weight,ip,sym,phys_addr -o s.cf s.txt
    run -0 cf-cat --csv --columns addr,pid,tid,cpu,pc,phys s.cf
    is 'addr,pid,tid,cpu,pc,phys
0x7ffd10001234,4242,4243,1,0x401136,0x123451234'
    # no times: the number of the sample
    echo ' 4242 7ffd10001234 269100142 |OP LOAD|LVL L1 hit|LCK N/A' >s.txt
    cf-capture perf-script -F tid,addr,data_src s.txt | cf-cat --csv --columns time,addr,tid >s.csv
    run -0 tail -n 1 s.csv
    is '1,0x7ffd10001234,4242'
}

@test "of page faults perf names the address as well: ip stands behind" {
    # as perf 6.1 printed it
    printf '%s\n' ' 8583/8583  12258.650355009: page-faults:     556c479c1040 __TMC_END__+0x0 (/tmp/w2/kid) ffffffff817554ea elf_load+0x28a ([kernel.kallsyms])' \
        ' 8583/8583  12258.650428377: page-faults:     7f4ac6c25b70 add (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)     7f4ac6c25b70 _start+0x0 (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)' >s.txt
    run -0 --separate-stderr cf-capture perf-script --op load -F pid,tid,time,event,addr,ip,sym,symoff,dso -o s.cf s.txt
    run -0 cf-cat --csv --columns addr,pc s.cf
    is 'addr,pc
0x556c479c1040,0xffffffff817554ea
0x7f4ac6c25b70,0x7f4ac6c25b70'
}

@test "of perf's default fields a symbol that is hex, too, is not taken for ip" {
    echo '  demo 4242 [001]   123.456789:          7     cpu/mem-loads/P:     7ffd10001234           401136 add (/tmp/demo)' >s.txt
    run -0 --separate-stderr cf-capture perf-script --op load -o s.cf s.txt
    run -0 cf-cat --csv --columns addr,pc s.cf
    is 'addr,pc
0x7ffd10001234,0x401136'
}

@test "a line with more fields than -F has is refused: each might be another's" {
    echo ' 4242   123.456789:     7ffd10001234       269100142 |OP LOAD|LVL L1 hit|BLK  N/A               7           401136' >s.txt
    run -0 cf-capture perf-script -F tid,time,addr,data_src,weight,ip -o s.cf s.txt
    for fields in addr addr,ip addr,data_src addr,data_src,ip addr,data_src,weight; do
        run -1 cf-capture perf-script --op load -F tid,time,$fields -o s.cf s.txt
        has "has not the fields of -F"
    done
}

@test "texts of newer and older versions, of hybrid processors, and SPE" {
    printf '%s\n' 'chromium-browse   46572 [002] 544966.882384:      10000 	cpu_core/MEM_UOPS_RETIRED.LOAD_LATENCY/: 7ffdf1391b0c     10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK    N/A    5   7    0   7fad7c47425d [unknown] (/x)' \
        'ls 14753 [011]  544967.072400:          1      l1d-miss:  ffff1234       88000182 |OP LOAD|LVL L1 miss|SNP N/A|TLB Walker hit|LCK No|BLK  N/A ffffa7c22b4b2a00 [unknown] ([kernel.kallsyms])' \
        'ls 14753 [011]  544967.072400:          1    l1d-access:  ffff1234       88000182 |OP LOAD|LVL L1 miss|SNP N/A|TLB Walker hit|LCK No|BLK  N/A ffffa7c22b4b2a00 [unknown] ([kernel.kallsyms])' \
        'ls 14753 [011]  544968.072400:          1 mem:  ffff1234       88000144 |OP STORE SIMD|LVL L1 hit|SNP N/A|AFF PRED SG     0 ffffa7c22b4b2a00 [unknown] (x)' >s.txt
    run -0 --separate-stderr cf-capture perf-script -o s.cf s.txt
    has '1 samples left out that repeat an access for another event' "$stderr"
    run -0 cf-cat --csv --columns time,op,addr,level,weight,cpu,pc,cost s.cf
    is 'time,op,addr,level,weight,cpu,pc,cost
544966882384000,load,0x7ffdf1391b0c,1,10000,2,0x7fad7c47425d,5
544967072400000,load,0xffff1234,254,1,11,0xffffa7c22b4b2a00,0
544968072400000,store,0xffff1234,1,1,11,0xffffa7c22b4b2a00,0'
}

@test "lines may end with CR LF, and a decoded text that perf has cut to hex digits is none" {
    sample >s.txt
    cf-capture perf-script -q -o s.cf s.txt
    sed 's/$/\r/; s/ .unknown. (demo)//' s.txt >crlf.txt
    cf-capture perf-script -q -o crlf.cf crlf.txt
    for f in s crlf; do cf-cat --csv $f.cf >$f.csv; done
    same s.csv crlf.csv
    # as perf 6.1 printed it
    echo '     6219a9c69c73     6773bad1404 |OP STORE|LVL Remote L2 or Local RAM or Remote Cache (2 hops) or Uncached or Any c           400abc' >s.txt
    sed 's/          400abc/               7 ffffffff81000100/' s.txt >w.txt
    cf-capture perf-script -F addr,data_src,ip s.txt | cf-cat --csv --columns addr,pc >s.csv
    run -0 tail -n 1 s.csv
    is '0x6219a9c69c73,0x400abc'
    cf-capture perf-script -F addr,data_src,weight,ip w.txt | cf-cat --csv --columns addr,cost,pc >s.csv
    run -0 tail -n 1 s.csv
    is '0x6219a9c69c73,7,0xffffffff81000100'
    { echo -n 'demo 1 [000] 1.000001: 5 mem:'; cat w.txt; } | cf-capture perf-script | cf-cat --csv --columns cost,pc >s.csv
    run -0 tail -n 1 s.csv
    is '7,0xffffffff81000100'
}

@test "the operation of an event's name where there is no data_src, else --op" {
    echo 'a 1 [000] 1.000001: 5 cpu/mem-stores/P: 1000 401000 f+0x1 (x)' >s.txt
    echo 'a 1 [000] 1.000002: 5 page-faults: 1008 401000 f+0x1 (x)' >>s.txt
    run -0 --separate-stderr cf-capture perf-script --op load -o s.cf s.txt
    run -0 cf-cat --csv --columns op,addr,pc s.cf
    is 'op,addr,pc
store,0x1000,0x401000
load,0x1008,0x401000'
}

@test "perf's default fields of page faults and breakpoints have no address, and ip is none" {
    # as perf 6.1 printed it
    echo '             kid  8583 12258.650355:          1 page-faults:  ffffffff817554ea elf_load+0x28a ([kernel.kallsyms])' >s.txt
    run -1 --separate-stderr cf-capture perf-script --op store -o s.cf s.txt
    has '1 samples left out that have no address' "$stderr"
    has 'perf script prints both with -F addr,data_src' "$stderr"
}

@test "the same rows as perf-data of the same file" {
    need perf "linux-perf"
    local layout fields=pid,tid,cpu,time,period,event,addr,data_src,weight,ip
    for layout in intel amd spe; do
        make_perf_data $layout little file 500 9 >m.data
        perf script --ns -i m.data -F "$fields" 2>/dev/null >m.txt
        cf-capture perf-data -o m.cf m.data
        cf-capture perf-script -F "$fields" -o s.cf m.txt
        for f in m s; do
            cf-cat --csv --columns time,op,addr,level,weight,stage,pid,tid,cpu,pc,data_src,cost $f.cf >$f.csv
        done
        same m.csv s.csv
    done
}

@test "bad lines are reported with their place, the rest is imported" {
    { sample | head -n 1; echo 'no such line'; sample | sed -n 2p; sample | head -n 1; } >s.txt
    run -1 --separate-stderr cf-capture perf-script -o s.cf s.txt
    has "s.txt:2: 'no such line' has not the fields of perf's default: give -F the list" "$stderr"
    has '2 lines were bad in all' "$stderr" # the time of the last one falls
    [[ $(rows access s.cf | wc -l) == 3 ]]
    run -2 cf-capture perf-script -F comm,addr s.txt
    has 'without time'
    run -2 cf-capture perf-script -F comm,time s.txt
    has 'without addr'
    run -2 cf-capture perf-script -F adr s.txt
    has 'give one of comm, pid'
}

@test "a pipe that stays open: rows come without its end" {
    importing perf-script "$(sample | head -n 1)\n" 0x7ffd10001234
    kill "$pid"
    wait "$pid" || true
}
