# SPDX-License-Identifier: BSD-2-Clause
#
# cf-report --cacheperf: findings from streams by hand, of which all figures are known.
load lib

NAMES=time,pid,tid,op,addr,size,pc,level,weight,class,object,site,symbol,region,function,source

# samples FILE [OPTION...]: a stream from rows on standard input; classes by name.
samples() {
    local out=$1
    shift
    (
        echo $NAMES
        sed 's/,none,/,0,/; s/,capacity,/,2,/; s/,conflict,/,3,/; s/,true,/,4,/; s/,false,/,5,/
            s/,alloc_conflict,/,6,/; s/,alloc_false,/,7,/'
    ) >rows.csv
    stream "$out" "$@" rows.csv
}

# objects ROW...: objects.csv, and the calls that allocated them.
objects() {
    {
        echo time,pid,tid,op,addr,bytes,stack,object,site,function,source
        printf '%s\n' "$@"
    } >objects.csv
    printf '%s\n' pid,stack,parent,pc,function,source 7,1,0,0x10,main,main.c:9 7,2,1,0x20,make,x.c:155 \
        '7,3,2,0x30,operator new,new.cc:50' >calls.csv
}

# field NAME FILE.csv: one column of all rows.
field() {
    python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[2], newline="")): print(row[sys.argv[1]])' "$1" "$2"
}

@test "false sharing: the form of the paper's figure 8, with shares and bound by hand" {
    objects '0,7,101,alloc,0x1000,1056,3,1,make x.c:155,make,x.c:155'
    samples a.cf -w object=objects.csv -w stack=calls.csv <<'END'
1,7,101,load,0x1000,8,0x400,2,600,false,1,make x.c:155,,[heap],regress,x.c:94
2,7,102,store,0x1008,8,0x404,2,200,false,1,make x.c:155,,[heap],regress,x.c:97
3,7,102,load,0x1048,8,0x400,memory,100,false,1,make x.c:155,,[heap],regress,x.c:94
4,7,103,load,0x9000,8,0x500,memory,100,none,0,,,[heap],other,x.c:8
5,7,103,load,0x9000,8,0x500,1,9000,none,0,,,[heap],other,x.c:8
6,7,103,store,0x9000,8,0x500,1,1000,none,0,,,[heap],other,x.c:8
7,7,103,load,0x9000,8,0x500,0,5000,none,0,,,[heap],other,x.c:8
END
    # 900 of 1000 misses; 900 * 199 of 10000 + 1000 * 200
    run -0 cf-report --cacheperf a.cf
    is "7 samples; 8.16 % of the loads and 16.67 % of the stores missed the first level
Gains are upper bounds for misses that cost 200 hits each
7 samples: with fewer than 1000 findings depend on chance: record a longer run, or take more by shorter --loads and --stores

Finding 1: 90.0 % of all misses (3 samples, 2 cache lines)
Application's false sharing, accessed by:
#0 instruction at:
  - x.c:94, regress, 77.8 % of these
#1 instruction at:
  - x.c:97, regress, 22.2 % of these
Related to the heap object (1056 bytes) allocated at:
  - # 0: x.c:155, make
  - # 1: main.c:9, main
Threads: 101 (66.7 %), 102 (33.3 %)
Gain: the time for memory shrinks by at most 85.3 %
To mend it: threads use different words of a line: align and pad what each of them uses to a whole line, or keep it in memory of its own"
    # the latencies of a machine: loads 4, 14, 100; stores 1, 14
    cat >m.yaml <<'END'
name: by hand
line_size: 64
levels: [{name: L1, size: 32KiB, ways: 8}, {name: L2, size: 1MiB, ways: 8}]
latency: {L1: {load: 4, store: 1}, L2: 14, memory: 100}
END
    # 600 * 10 + 200 * 13 + 100 * 96 of 9000 * 4 + 1000 + 800 * 14 + 200 * 100
    run -0 cf-report -q --cacheperf -m ./m.yaml --csv a.cf
    [[ ${lines[0]} == finding,class,origin,misses,share_percent,bound_percent,samples,fine_samples,cache_lines,sources,functions,objects,object_bytes,allocating_threads,memory,threads,fix ]]
    [[ ${lines[1]} == '1,false_sharing,application,900,90.000,26.686,3,0,2,x.c:94; x.c:97,regress; regress,1,1056,101,make x.c:155,101; 102,'* ]] || fail "$output"
    run -0 cf-report -q --cacheperf --ratio 11 --csv a.cf
    [[ ${lines[1]} == *,900,90.000,42.857,3,* ]] || fail "$output" # 900 * 10 of 10000 + 1000 * 11
}

@test "the allocator's false sharing and conflicts: objects by thread, by site, with sizes" {
    objects '0,7,101,alloc,0x1000,8,2,1,make x.c:155,make,x.c:155' '0,7,102,alloc,0x1008,8,2,2,make x.c:155,make,x.c:155' \
        '0,7,101,alloc,0x2000,48,2,3,make x.c:155,make,x.c:155' '0,7,101,alloc,0x3000,48,2,4,make x.c:155,make,x.c:155' \
        '0,7,101,alloc,0x5000,32,0,5,other y.c:1,other,y.c:1'
    samples a.cf -w object=objects.csv -w stack=calls.csv <<'END'
1,7,101,store,0x1000,1,0x400,2,500,alloc_false,1,make x.c:155,,[heap],work,x.c:84
2,7,102,store,0x1008,1,0x400,2,400,alloc_false,2,make x.c:155,,[heap],work,x.c:84
3,7,101,load,0x2000,8,0x500,2,50,alloc_conflict,3,make x.c:155,,[heap],walk,x.c:90
4,7,101,load,0x3000,8,0x500,2,0,alloc_conflict,4,make x.c:155,,[heap],walk,x.c:90
5,7,101,load,0x5000,8,0x508,2,40,alloc_conflict,5,other y.c:1,,[heap],walk,x.c:91
END
    run -0 cf-report --cacheperf a.cf
    has "5 samples, 1 of them fine; 100.00 % of the loads and 100.00 % of the stores missed the first level"
    has "Finding 1: 90.9 % of all misses (2 samples, 1 cache line)
Allocator's false sharing, accessed by the instruction at:
  - x.c:84, work
Related to multiple heap objects (8 bytes) allocated by different threads:
# 0 object (8 bytes) is allocated by thread 101 at:
  - # 0: x.c:155, make
  - # 1: main.c:9, main
# 1 object (8 bytes) is allocated by thread 102 at:
  - # 0: x.c:155, make
  - # 1: main.c:9, main
Threads: 101 (55.6 %), 102 (44.4 %)"
    has "Finding 2: 5.1 % of all misses (2 samples)
Allocator's conflict misses, accessed by the instruction at:
  - x.c:90, walk
Related to multiple heap objects (48 bytes) allocated at:
  - # 0: x.c:155, make
  - # 1: main.c:9, main
Thread: 101"
    has "Finding 3: 4.0 % of all misses (1 sample)"
    has "Related to the heap object (32 bytes) allocated at:
  - # 0: y.c:1, other"
    cf-report --cacheperf --csv a.cf >got.csv
    field class got.csv | same - <(printf '%s\n' allocator_false_sharing allocator_conflict allocator_conflict)
    field origin got.csv | sort -u | same - <(echo allocator)
    [[ $(field allocating_threads got.csv | head -1) == "101; 102" ]]
    [[ $(field objects got.csv | paste -sd,) == 2,2,1 ]]
}

@test "conflict, capacity and true sharing of the application: globals, mappings, unknown memory" {
    samples a.cf <<'END'
1,7,101,load,0x1000,8,0x400,2,500,true,0,,counter,/bin/x,count,x.c:3
2,7,102,store,0x1000,8,0x404,2,450,true,0,,counter,/bin/x,count,x.c:3
3,7,101,load,0x2000,8,0x500,2,300,conflict,0,,table,/bin/x,walk,x.c:8
4,7,101,load,0x8000,8,0x600,2,200,capacity,0,,,[stack],deep,
5,7,101,load,0x8000,8,0x700,2,100,capacity,0,,,,,
END
    run -0 cf-report --cacheperf a.cf
    has "Application's true sharing, accessed by the instruction at:
  - x.c:3, count
Related to the global object:
  - counter
Threads: 101 (52.6 %), 102 (47.4 %)"
    has "Application's conflict misses, accessed by the instruction at:
  - x.c:8, walk
Related to the global object:
  - table
Thread: 101"
    has "Application's capacity misses, accessed by the instruction at:
  - deep, 0x600
Related to the mapping:
  - [stack]"
    has "Application's capacity misses, accessed by the instruction at:
  - 0x700
Related to memory of which no object is known"
    has "thread-local variables"
    has "interchange the loops"
    has "tile, fuse or interchange"
}

@test "grouping: lines of one site and statement are one finding, others are not" {
    objects '0,7,1,alloc,0x1000,64,2,1,make x.c:155,make,x.c:155' '0,7,1,alloc,0x1040,64,2,2,make x.c:155,make,x.c:155' \
        '0,7,1,alloc,0x9000,64,2,3,other y.c:1,other,y.c:1'
    samples a.cf -w object=objects.csv <<'END'
1,7,1,store,0x1000,8,0x400,2,100,false,1,make x.c:155,,[heap],f,x.c:1
2,7,2,store,0x1048,8,0x400,2,100,false,2,make x.c:155,,[heap],f,x.c:1
3,7,2,store,0x1048,8,0x408,2,10,false,2,make x.c:155,,[heap],f,x.c:2
4,7,2,store,0x1080,8,0x408,2,1,false,2,make x.c:155,,[heap],f,x.c:2
5,7,2,store,0x10c0,8,0x480,2,40,false,2,make x.c:155,,[heap],f,x.c:3
6,7,2,store,0x1100,8,0x400,2,30,true,2,make x.c:155,,[heap],f,x.c:1
7,7,2,store,0x9000,8,0x400,2,20,false,3,other y.c:1,,[heap],f,x.c:1
8,8,2,store,0x1000,8,0x400,2,5,false,1,make x.c:155,,[heap],g,x.c:9
END
    cf-report --cacheperf --csv a.cf >got.csv
    paste -d, <(field misses got.csv) <(field cache_lines got.csv) <(field sources got.csv) <(field class got.csv) >got
    same - got <<'END'
211,3,x.c:1; x.c:2,false_sharing
40,1,x.c:3,false_sharing
30,1,x.c:1,true_sharing
20,1,x.c:1,false_sharing
5,1,x.c:9,false_sharing
END
}

@test "grouping: statements that access the same objects are one finding, as in figure 7" {
    objects '0,7,1,alloc,0x10000,8824176,0,1,main a.cpp:275,main,a.cpp:275' \
        '0,7,1,alloc,0x900000,8824176,0,2,main a.cpp:278,main,a.cpp:278' '0,7,1,alloc,0xf00000,64,0,3,main a.cpp:300,main,a.cpp:300'
    samples a.cf -w object=objects.csv <<'END'
1,7,1,load,0x10000,8,0x400,memory,100,capacity,1,main a.cpp:275,,[heap],f,a.cpp:239
2,7,1,load,0x900000,8,0x404,memory,10,capacity,2,main a.cpp:278,,[heap],f,a.cpp:239
3,7,1,load,0x10040,8,0x408,memory,50,capacity,1,main a.cpp:275,,[heap],f,a.cpp:240
4,7,1,load,0x900040,8,0x408,memory,0,capacity,2,main a.cpp:278,,[heap],f,a.cpp:240
5,7,1,load,0x10080,8,0x410,memory,40,capacity,1,main a.cpp:275,,[heap],f,a.cpp:241
6,7,1,load,0x10080,8,0x420,memory,30,conflict,1,main a.cpp:275,,[heap],f,a.cpp:242
7,7,1,load,0x900080,8,0x420,memory,20,conflict,2,main a.cpp:278,,[heap],f,a.cpp:242
8,7,1,load,0x8000,8,0x430,memory,3,capacity,0,,,[stack],f,a.cpp:250
9,7,1,load,0x8000,8,0x440,memory,2,capacity,0,,,[stack],f,a.cpp:251
END
    run -0 cf-report --cacheperf a.cf
    has "Finding 1: 62.7 % of all misses (4 samples)
Application's capacity misses, accessed by:
#0 instruction at:
  - a.cpp:239, f, 68.8 % of these
#1 instruction at:
  - a.cpp:240, f, 31.2 % of these
Related to multiple heap objects (8824176 bytes) allocated at:
# 0 object (8824176 bytes) is allocated at:
  - # 0: a.cpp:275, main
# 1 object (8824176 bytes) is allocated at:
  - # 0: a.cpp:278, main"
    cf-report --cacheperf --csv a.cf >got.csv
    paste -d, <(field misses got.csv) <(field sources got.csv) <(field class got.csv) | same - <(printf '%s\n' \
        '160,a.cpp:239; a.cpp:240,capacity' '50,a.cpp:242,conflict' '40,a.cpp:241,capacity' '3,a.cpp:250,capacity' '2,a.cpp:251,capacity')
}

@test "objects and lines of one number in two segments are two" {
    objects '0,7,1,alloc,0x1000,64,2,1,make x.c:155,make,x.c:155'
    samples a.cf -w object=objects.csv <<<'1,7,1,store,0x1000,8,0x400,2,100,alloc_false,1,make x.c:155,,[heap],f,x.c:1'
    objects '0,7,1,alloc,0x1000,32,2,1,other y.c:5,other,y.c:5'
    samples b.cf -w object=objects.csv <<<'1,7,1,store,0x1000,8,0x400,2,70,alloc_false,1,other y.c:5,,[heap],f,x.c:1'
    cat a.cf b.cf | cf-report --cacheperf --csv >got.csv
    [[ $(field object_bytes got.csv | paste -sd,) == 64,32 ]]
    cf-report --cacheperf --csv a.cf b.cf | same got.csv -
}

@test "calls of a child that began with its parent's; calls that go round end" {
    objects '0,9,9,alloc,0x1000,64,3,1,make x.c:155,make,x.c:155'
    sed -i '2s/.*/7,1,2,0x10,main,main.c:9/' calls.csv
    printf '%s\n' time,pid,tid,parent,op 0,7,7,1,begin 0,9,9,7,begin >tasks.csv
    samples a.cf -w object=objects.csv -w stack=calls.csv -w task=tasks.csv \
        <<<'1,9,9,store,0x1000,8,0x400,2,100,conflict,1,make x.c:155,,[heap],f,x.c:1'
    run -0 cf-report --cacheperf a.cf
    has "  - # 0: x.c:155, make
  - # 1: main.c:9, main
  - # 2: x.c:155, make"
    has "  - and 53 more callers"
}

@test "the source around statements; a file that is not there says nothing" {
    printf '/* %s */\n' 1 2 3 4 5 6 7 8 9 | sed $'s/5/\t\e[1m5/' >x.c
    samples a.cf <<'END'
1,7,1,load,0x1000,8,0x400,2,100,conflict,0,,a,/bin/x,f,x.c:5
2,7,1,load,0x1000,8,0x400,2,90,capacity,0,,b,/bin/x,f,x.c:1
3,7,1,load,0x1000,8,0x400,2,80,conflict,0,,c,/bin/x,f,x.c:900
4,7,1,load,0x1000,8,0x400,2,70,conflict,0,,d,/bin/x,f,gone.c:5
END
    run -0 --separate-stderr cf-report --cacheperf a.cf
    [[ -z $stderr ]] || fail "$stderr"
    has "  - x.c:5, f
           3: /* 3 */
           4: /* 4 */
    >      5: /*      \\x1b[1m5 */
           6: /* 6 */
           7: /* 7 */
Related"
    has "    >      1: /* 1 */
           2: /* 2 */
           3: /* 3 */
Related"
    has "  - x.c:900, f
Related"
    mkdir -p below/n
    mv x.c below/n
    run ! grep -q '  > ' <(cf-report --cacheperf a.cf)
    run -0 cf-report --cacheperf --source-dir below/n a.cf
    has "    >      1: /* 1 */"
}

@test "long lists are cut in the text, and whole in CSV and JSON" {
    for i in {1..9}; do echo "$i,7,$i,store,0x1000,8,0x40$i,2,$((100 - i)),conflict,0,,v,/bin/x,f,x.c:$i"; done | samples a.cf
    run -0 cf-report --cacheperf -n 3 a.cf
    has "  - x.c:3, f, 11.3 % of these
  - and 6 more instructions"
    has "Threads: 1 (11.6 %), 2 (11.5 %), 3 (11.3 %) and 6 more"
    [[ $(cf-report --cacheperf --csv a.cf | grep -o 'x\.c:' | wc -l) == 9 ]]
    cf-report --cacheperf --json a.cf | python3 -c 'import json, sys
f = json.load(sys.stdin)["findings"]
assert len(f) == 1 and len(f[0]["statements"]) == 9 and len(f[0]["threads"]) == 9'
}

@test "no finding: said, with the reason" {
    samples a.cf </dev/null
    run -0 cf-report --cacheperf a.cf
    is "no finding: no access was sampled"
    samples a.cf <<<'1,7,1,load,0x1000,8,0x400,1,100,none,0,,v,/bin/x,f,x.c:1'
    run -0 cf-report --cacheperf a.cf
    is "no finding: no sampled access missed; too few samples to say more (1): record a longer run, or take more by shorter --loads and --stores"
    awk 'BEGIN { for (i = 0; i < 1000; i++) print i ",7,1,load,0x1000,8,0x400,1,100,none,0,,v,/bin/x,f,x.c:1" }' | samples a.cf
    run -0 cf-report --cacheperf a.cf
    is "no finding: no sampled access missed"
    sed -i 's/,100,0,/,0,0,/' rows.csv # those of a breakpoint do not count
    stream a.cf rows.csv
    run -0 cf-report --cacheperf a.cf
    has "too few samples to say more (0): record a longer run"
    samples b.cf <<'END'
1,7,1,load,0x1000,8,0x400,2,2,none,0,,v,/bin/x,f,x.c:1
2,7,1,load,0x1000,8,0x400,1,98,none,0,,v,/bin/x,f,x.c:1
END
    run -0 cf-report --cacheperf b.cf
    has "no finding: 2.00 % of the loads and 0.00 % of the stores missed: the program is below the rule's filter, which by default wants 3 % of the loads or 1 % of the stores; too few samples"
    samples c.cf <<<'1,7,1,load,0x1000,8,0x400,2,2,none,0,,v,/bin/x,f,x.c:1'
    run -0 cf-report --cacheperf c.cf
    has "no finding: 100.00 % of the loads and 0.00 % of the stores missed, but of no line, set or statement"
    [[ $(cf-report --cacheperf --csv c.cf | wc -l) == 1 ]]
    cf-report --cacheperf --json b.cf | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["findings"] == [] and d["no_finding"].startswith("2.00 %"), d'
    cf-report --cacheperf --html page.html b.cf
    grep -q 'the program is below' page.html
}

@test "findings of few samples: that they depend on chance is said in each form; of a CSV without any, why" {
    local words='999 samples: with fewer than 1000 findings depend on chance: record a longer run, or take more by shorter --loads and --stores'
    missing() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print i ",7,1,load,0x1000,8,0x400,2,2,capacity,0,,v,/bin/x,f,x.c:1" }' | samples a.cf; }
    missing 999
    run -0 cf-report --cacheperf a.cf
    [[ ${lines[2]} == "$words" ]] || fail "$output"
    cf-report --cacheperf --html page.html a.cf
    grep -qF "; $words" page.html
    run -0 --separate-stderr cf-report --cacheperf --csv a.cf
    [[ $stderr == "cf-report: $words" ]] || fail "$stderr"
    run -0 --separate-stderr cf-report -q --cacheperf --csv a.cf
    [[ -z $stderr ]] || fail "$stderr"
    missing 1000
    cf-report --cacheperf --html page.html a.cf
    cf-report --cacheperf a.cf >text
    run ! grep -F "with fewer" text page.html
    run -0 --separate-stderr cf-report --cacheperf --csv a.cf
    [[ -z $stderr ]] || fail "$stderr"
    samples a.cf </dev/null
    run -0 --separate-stderr cf-report --cacheperf --csv a.cf
    [[ $stderr == "cf-report: no finding: no access was sampled" ]] || fail "$stderr"
}

@test "samples that were lost: said in each form" {
    printf '%s\n' time,cpu,pid,tid,count,label 1,0,7,1,300,lost 2,0,7,1,1,throttled 3,0,7,1,1,throttled 4,1,7,2,5,lost >lost.csv
    local words='305 samples were lost, and sampling was throttled 2 times: all shares are of the samples that are there'
    samples a.cf -w lost=lost.csv <<<'1,7,1,load,0x1000,8,0x400,2,2,capacity,0,,v,/bin/x,f,x.c:1'
    run -0 --separate-stderr cf-report --cacheperf a.cf
    has "by at most"
    [[ ${lines[3]} == "$words" && -z $stderr ]] || fail "$output"
    run -0 --separate-stderr cf-report --cacheperf --csv a.cf
    [[ $stderr == "cf-report: $words"$'\n'"cf-report: 1 sample: with fewer than 1000 "* && ${#lines[@]} == 2 ]] || fail "$stderr"
    run -0 --separate-stderr cf-report -q --cacheperf --csv a.cf
    [[ -z $stderr ]]
    cf-report --cacheperf --json a.cf | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert (d["lost_samples"], d["throttled"], d["lost"]) == (305, 2, sys.argv[1]), d' "$words"
    cf-report --cacheperf --html page.html a.cf
    grep -qF "\"lost\":\"$words\"" page.html
    # one of each, or one of them; without a finding; not there
    cf-select --op load a.cf >loads.cf
    run -0 cf-report --cacheperf loads.cf
    has "
not of the whole recording, but of what this kept: cf-select --op load a.cf; $words
"
    printf '%s\n' time,count,label 1,1,lost >lost.csv
    samples b.cf -w lost=lost.csv </dev/null
    run -0 cf-report --cacheperf b.cf
    is "no finding: no access was sampled
1 sample was lost: all shares are of the samples that are there"
    printf '%s\n' time,count,label 1,1,truncated 2,1,collision >lost.csv
    samples b.cf -w lost=lost.csv </dev/null
    run -0 cf-report --cacheperf b.cf
    has "samples were lost in 2 parts of a trace: all shares"
    printf '%s\n' time,count,label 1,1,truncated 2,9,lost 3,1,throttled >lost.csv
    samples b.cf -w lost=lost.csv </dev/null
    run -0 cf-report --cacheperf b.cf
    has "9 samples were lost, and more in 1 part of a trace, and sampling was throttled 1 time: all shares"
    printf '%s\n' time,label 1,throttled >lost.csv
    samples b.cf -w lost=lost.csv </dev/null
    run -0 cf-report --cacheperf b.cf
    has "sampling was throttled 1 time: all"
    has_not lost
    samples c.cf </dev/null
    cf-report --cacheperf --json c.cf | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert (d["lost_samples"], d["throttled"], d["lost"]) == (0, 0, ""), d'
}

@test "streams without object, stack, cpu or level: refused or said" {
    printf '%s\n' 1,7,1,load,0x1000,8,0x400,2,2,capacity,0,,v,/bin/x,f,x.c:1 2,7,2,load,0x2000,8,0x400,2,2,capacity,0,,,,f,x.c:1 |
        samples a.cf
    # without level nothing says what missed
    cut -d, -f1-7,9- rows.csv >no.csv
    stream no.cf no.csv
    run -1 --separate-stderr cf-report --cacheperf no.cf
    [[ -z $output && $stderr == *"no column 'level': samples have it: first run the stream through cf-cache and cf-sample"* ]] ||
        fail "$stderr"
    # without object memory is named as far as it can be
    cut -d, -f1-10,12- rows.csv >no.csv
    stream no.cf no.csv
    run -0 cf-report --cacheperf no.cf
    has "Related to the global object:
  - v"
    has_not "heap object"
    # without calls, where an object was allocated is not known
    printf '%s\n' time,pid,tid,op,addr,bytes,object 0,7,1,alloc,0x1000,64,1 >objects.csv
    sed 's/,2,2,2,0,/,2,2,2,1,/' rows.csv >one.csv
    stream one.cf -w object=objects.csv one.csv
    run -0 cf-report --cacheperf one.cf
    has "Related to the heap object (64 bytes) allocated at:
  - a place that is not known"
}

@test "a stream without classes of the rule is refused, and nothing is printed" {
    samples a.cf <<<'1,7,1,load,0x1000,8,0x400,2,2,capacity,0,,v,/bin/x,f,x.c:1'
    cut -d, -f1-9,11- rows.csv >unclassified.csv
    stream b.cf unclassified.csv
    run -1 --separate-stderr cf-report --cacheperf --callgrind out.callgrind b.cf
    [[ -z $output && $stderr == *"table access has no column 'class': first run the stream through cf-classify"* ]] || fail "$stderr"
    cf-cat --columns time,pid,tid,op,addr,level a.cf | cf-cache -q -m xeon-6230 | cf-classify -q -m xeon-6230 >hill.cf
    run -1 --separate-stderr cf-report --cacheperf --html page.html --callgrind out.callgrind hill.cf
    [[ -z $output && $stderr == *"column class is of rule hill: --cacheperf takes that of cf-classify --rule cacheperf"* ]] || fail "$stderr"
    sed 's/,2,0,,v/,1,0,,v/' rows.csv | stream c.cf
    run -1 --separate-stderr cf-report --cacheperf c.cf
    [[ -z $output && $stderr == *"class compulsory, which rule cacheperf does not give"* ]] || fail "$stderr"
    [[ ! -e page.html && ! -e out.callgrind ]]
    # of two the second one
    cat a.cf hill.cf >both.cf
    run -1 --separate-stderr cf-report --cacheperf both.cf
    [[ -z $output ]]
}

@test "the machine that the stream states prices the misses" {
    samples a.cf <<'END'
1,7,1,load,0x1000,8,0x400,memory,100,capacity,0,,v,/bin/x,f,x.c:1
2,7,1,load,0x1000,8,0x400,1,100,none,0,,v,/bin/x,f,x.c:1
END
    make_stream through x class rule cacheperf class machine 'Xeon Gold 6230, one socket' <a.cf >b.cf
    run -0 cf-report --cacheperf b.cf
    has "Gains are upper bounds by the latencies of Xeon Gold 6230, one socket"
    has "at most 95.9 %" # 185 of 193
    run -0 cf-report --cacheperf --ratio 3 b.cf
    has "Gains are upper bounds for misses that cost 3 hits each"
    has "at most 50.0 %"
    run -0 cf-report --cacheperf -m raspberry-pi-4 b.cf
    has "column class is of machine 'Xeon Gold 6230, one socket', and what a miss costs of 'Raspberry Pi 4"
    make_stream through x class rule cacheperf class machine 'nobody has it' <a.cf >c.cf
    run -0 cf-report --cacheperf c.cf
    has "Gains are upper bounds for misses that cost 200 hits each"
    # one that does not say what its memory costs
    printf '%s\n' 'name: m' 'line_size: 64' 'levels: [{name: L1, size: 1KiB, ways: 2}]' 'latency: {L1: 4}' >m.yaml
    run -0 cf-report --cacheperf -m ./m.yaml a.cf
    has "m does not state the latency of each level that served accesses: a miss counts as 200 hits: see --ratio"
    # samples that only say that they missed, or that name a level beyond those of the machine
    local level
    for level in 254 5; do
        samples a.cf <<END
1,7,1,load,0x1000,8,0x400,$level,100,capacity,0,,v,/bin/x,f,x.c:1
END
        run -0 cf-report --cacheperf -m xeon-6230 a.cf
        has "samples do not say which level of Xeon Gold 6230, one socket served a miss: a miss counts as 200 hits: see --ratio"
        [[ $output != *"does not state"* ]] || fail "$output"
    done
}

@test "lines are as long as the machine's" {
    printf '%s\n' 'name: m' 'line_size: 128' 'levels: [{name: L1, size: 1KiB, ways: 2}]' 'latency: {L1: 4, memory: 100}' >m.yaml
    samples a.cf <<'END'
1,7,1,store,0x1000,8,0x400,memory,100,false,0,,v,/bin/x,f,x.c:1
2,7,2,store,0x1040,8,0x400,memory,100,false,0,,v,/bin/x,f,x.c:1
END
    [[ $(cf-report --cacheperf a.cf) == *"2 cache lines)"* ]]
    [[ $(cf-report --cacheperf -m ./m.yaml a.cf) == *"1 cache line)"* ]]
}

@test "names that command a terminal, end an element or a field" {
    printf '%s\n' $NAMES '1,7,1,store,0x1000,8,0x400,2,100,5,0,,"</script><b>\""",m,"<i>\e[1m""","a,""b.c:1"' | sed $'s/\\\\e/\e/' >rows.csv
    stream a.cf rows.csv
    run -0 cf-report --cacheperf a.cf
    run ! grep -q $'\e' <<<"$output"
    run -0 cf-report --cacheperf a.cf
    has '\x1b[1m'
    cf-report --cacheperf --csv a.cf >got.csv
    [[ $(field sources got.csv) == 'a,"b.c:1' && $(field functions got.csv) == $'<i>\e[1m"' && $(field memory got.csv) == '</script><b>\"' ]]
    cf-report --cacheperf --json a.cf | python3 -c 'import json, sys
f = json.load(sys.stdin)["findings"][0]
assert f["memory"][0]["name"] == "</script><b>\\\"" and f["statements"][0]["source"] == "a,\"b.c:1", f'
    cf-report --cacheperf --html page.html a.cf
    [[ $(grep -c '</script>' page.html) == 2 ]]
    run ! grep -q $'\e' page.html
}

@test "a profile for KCachegrind holds all samples by weight, and the classes" {
    samples a.cf <<'END'
1,7,1,load,0x1000,8,0x400,memory,100,alloc_conflict,0,,v,/bin/x,f,x.c:1
2,7,1,load,0x1000,8,0x400,memory,0,alloc_conflict,0,,v,/bin/x,f,x.c:1
3,7,1,load,0x1000,8,0x400,1,900,none,0,,v,/bin/x,f,x.c:2
4,7,1,store,0x1000,8,0x400,2,50,alloc_false,0,,v,/bin/x,g,x.c:3
END
    cf-report --cacheperf --callgrind out.callgrind a.cf >text
    grep -q 'Finding 2' text
    cf-export --format callgrind a.cf | sed 's/cf-export/cf-report/' | same out.callgrind -
    grep -qx 'events: Ld St Bytes L1m L2m Miss AllocatorConflict AllocatorFalseSharing' out.callgrind
    grep -qx 'totals: 1000 50 8400 150 100 150 100 50' out.callgrind
}

@test "options of other reports, and of two at once" {
    samples a.cf <<<'1,7,1,load,0x1000,8,0x400,2,2,capacity,0,,v,/bin/x,f,x.c:1'
    local bad=('--cacheperf --leon4' '--cacheperf --cores 2' '--cacheperf --record x.cf' '--cacheperf --cpu 1'
        '--cacheperf --counters x' '--cacheperf --html x --json' '--cacheperf --html x --csv' '--cacheperf --ratio 3 -m xeon-6230'
        '--cacheperf --ratio 0.5' '--ratio 3' '--callgrind x' '--source-dir .' '--leon4 --ratio 3' '--csv' '--cacheperf --source-dir nowhere')
    for options in "${bad[@]}"; do
        # shellcheck disable=SC2086 # several words
        run -2 cf-report $options a.cf
    done
    run -2 cf-report --cacheperf -- true
    has "a program goes not with --cacheperf"
}

@test "a full disk and a damaged stream" {
    samples a.cf <<<'1,7,1,load,0x1000,8,0x400,2,2,capacity,0,,v,/bin/x,f,x.c:1'
    for form in '' --csv --json '--html -' '--html /dev/full' '--callgrind /dev/full'; do
        run -3 bash -c "cf-report --cacheperf $form a.cf >/dev/full"
        has "No space left on device"
    done
    head -c -20 a.cf >cut.cf
    run -1 cf-report --cacheperf cut.cf
    has "Finding 1: 100.0 % of all misses"
}

@test "numbers as large as there are" {
    samples a.cf <<'END'
1,7,1,load,0x1000,8,0x400,2,1,capacity,0,,v,/bin/x,f,x.c:1
2,7,1,load,0xffffffffffffffff,8,0x400,254,4503599627370495,false,4294967295,,v,/bin/x,f,x.c:99999999999999999999
END
    run -0 cf-report --cacheperf --csv a.cf
    has ",false_sharing,application,4503599627370495,100.000,"
    run -0 cf-report --cacheperf a.cf
    has "Related to a heap object of which nothing is known"
}

@test "random samples against a slow model" {
    for seed in {1..20}; do
        python3 - $seed <<'END'
import csv, random, subprocess, sys
random.seed(int(sys.argv[1]))
site = [random.randrange(4) for _ in range(9)]
rows = []
for t in range(random.choice([5, 60, 300])):
    cls, o, s = random.choice([0, 2, 3, 4, 5, 6, 7]), random.randrange(9), random.randrange(6)
    known = random.random() < 0.9
    rows.append((t, 7, random.randrange(3), random.choice(['load', 'store']), 64 * random.randrange(12) + random.randrange(64), 8,
        s, random.choice([1, 2, 3, 255]), random.choice([0, 1, 50]), cls, o + 1 if known else 0, '', '' if known else '',
        '[heap]', 'f', f'x.c:{s}'))
with open('r.csv', 'w') as f:
    f.write('time,pid,tid,op,addr,size,pc,level,weight,class,object,site,symbol,region,function,source\n')
    f.writelines(','.join(map(str, r)) + '\n' for r in rows)
with open('o.csv', 'w') as f:
    f.write('time,pid,tid,op,addr,bytes,stack,object,site,function,source\n')
    f.writelines(f'0,7,1,alloc,{o},64,0,{o + 1},site{site[o]},,\n' for o in range(9))
subprocess.run('cf-capture csv -w object=o.csv r.csv | cat >r.cf; cf-report --cacheperf --csv r.cf >got.csv', shell=True, check=True)
cells = {}
for r in rows:
    if r[9]:
        cells.setdefault((r[9], r[4] // 64 if r[9] in (4, 5, 7) else 'x' + r[15]), []).append(r)
weight = lambda r: r[8] if r[7] != 1 else 0
origin = lambda r: f'site{site[r[10] - 1]}' if r[10] else None
def most(part):  # the object with most misses, then samples; the first one met
    order = {}
    for r in rows:
        if r[9]: order.setdefault(r[10], len(order))
    objects = {r[10] for r in part}
    return max(objects, key=lambda o: (sum(weight(r) for r in part if r[10] == o), sum(r[10] == o for r in part), -order[o]))
groups = [[k, part] for k, part in cells.items()]
def alike(a, b):
    if a[0][0] != b[0][0]: return False
    if a[0][0] in (4, 5, 7):
        x, y = most(a[1]), most(b[1])
        return (site[x - 1] if x else None) == (site[y - 1] if y else None) and bool({r[15] for r in a[1]} & {r[15] for r in b[1]})
    x, y = {origin(r) for r in a[1]}, {origin(r) for r in b[1]}
    return None not in x and x == y
joined = [[g] for g in groups]
again = True
while again:
    again = False
    for i in range(len(joined)):
        for k in range(i + 1, len(joined)):
            if any(alike(a, b) for a in joined[i] for b in joined[k]):
                joined[i] += joined.pop(k)
                again = True
                break
        if again: break
name = {2: 'capacity', 3: 'conflict', 4: 'true_sharing', 5: 'false_sharing', 6: 'allocator_conflict', 7: 'allocator_false_sharing'}
want = []
for g in joined:
    part = [r for _, p in g for r in p]
    want.append((name[g[0][0][0]], sum(map(weight, part)), len(part), sum(not r[8] for r in part),
        len(g) if g[0][0][0] in (4, 5, 7) else 0, tuple(sorted({r[15] for r in part})), tuple(sorted({r[2] for r in part}))))
read = list(csv.DictReader(open('got.csv', newline='')))
got = [(r['class'], int(r['misses']), int(r['samples']), int(r['fine_samples']), int(r['cache_lines']),
    tuple(sorted(r['sources'].split('; '))), tuple(sorted(map(int, r['threads'].split('; '))))) for r in read]
assert sorted(got) == sorted(want), (got, want)
assert [g[1] for g in got] == sorted((g[1] for g in got), reverse=True)
all_misses = sum(map(weight, rows))
assert all(abs(float(r['share_percent']) - (100 * int(r['misses']) / all_misses if all_misses else 0)) < 0.001 for r in read)
END
    done
}

@test "lines are those of the level that was classified, where the machine states others" {
    printf '%s\n' 'name: wide' 'line_size: 64' levels: '  - {name: IL1, kind: instruction, size: 32KiB, ways: 8}' \
        '  - {name: L1, kind: data, size: 32KiB, ways: 8, line_size: 128}' >wide.yaml
    awk 'BEGIN { print "tid,op,size,addr,pc,level,weight,stage,source"
        for (i = 0; i < 2000; i++) print 1 + i % 2 ",store,8," 65536 + 64 * (i % 2) "," 16 + i % 2 ",2,10,1,a.c:" 1 + i % 2 }' >a.csv
    stream a.cf a.csv
    cf-classify -q --rule cacheperf -m ./wide.yaml -o b.cf a.cf
    run -0 --separate-stderr cf-report -q --cacheperf --csv -m ./wide.yaml b.cf
    [[ ${#lines[@]} == 2 && ${lines[1]} == *false_sharing,application,20000,100.000,*,2000,0,1,"a.c:1; a.c:2"* ]]
    same <(printf '%s\n' "$output") <(cf-report -q --cacheperf --csv --ratio 200 b.cf)
}

@test "accesses that are summed before they are looked at, as in packed files, change nothing" {
    for kind in plain 'weights 7' 'weights 0' weights sources costs hits pids stacks 'stacks pids'; do
        python3 - $kind <<'END'
import random, sys
kinds = sys.argv[1:]
random.seed(' '.join(kinds))
names = 'time,pid,tid,op,addr,size,pc,level,weight,class,object,symbol,region,function,source'
names += ',hit' * ('hits' in kinds) + ',cost' * ('costs' in kinds) + ',stack' * ('stacks' in kinds)
rows = open('r.csv', 'w')
rows.write(names + '\n')
for t in range(30000):
    at = t % 13
    # most of one place do not differ, others by chance
    rare, thread = random.random() < 0.03, random.choice([7, 8])
    level = random.choice([0, 2, 3, 255]) if rare else 1
    missed = random.choice([0, 2, 3, 4, 5, 6, 7]) if rare or random.random() < 0.002 else 0
    weight = '7' if '7' in kinds else '0' if '0' in kinds else random.randrange(3) if 'weights' in kinds else 1
    line = random.randrange(9) if 'sources' in kinds else at % 5
    row = [t, thread if 'pids' in kinds else 7, thread, 'store' if at % 3 else 'load', 64 * random.randrange(40) + at, 4 << at % 2,
        4096 + 4 * at, level, weight, missed, random.randrange(3), random.choice(['', 'v', 'w']), f'[m{random.randrange(3)}]',
        f'f{at % 4}', f'x.c:{line}' if line else '']
    if 'hits' in kinds: row.append(level if random.random() < 0.95 else random.choice([1, 2, 255]))
    if 'costs' in kinds: row.append(random.choice([4, 200]))
    if 'stacks' in kinds: row.append(random.randrange(4))
    rows.write(','.join(map(str, row)) + '\n')
with open('s.csv', 'w') as f:
    f.write('pid,stack,parent,pc,function\n')
    f.writelines(f'{pid},{n},{n - 1},{n},c{n * pid % 5}\n' for pid in (7, 8) for n in (1, 2, 3))
END
        stream plain.cf -w stack=s.csv r.csv
        cf-cat -q -o packed.cf plain.cf
        run ! grep -q ' codes ' <(cf-cat --dump -n 0 plain.cf)
        grep -q ' codes ' <(cf-cat --dump -n 0 packed.cf)
        for form in '' --csv --json '--csv --callgrind'; do
            # shellcheck disable=SC2086 # two words and a file
            cf-report --cacheperf $form ${form:+$([[ $form != *grind ]] || echo a.prof)} plain.cf >a
            # shellcheck disable=SC2086
            cf-report --cacheperf $form ${form:+$([[ $form != *grind ]] || echo b.prof)} packed.cf >b
            same a b
        done
        same a.prof b.prof
    done
}
