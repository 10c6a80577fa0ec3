# SPDX-License-Identifier: BSD-2-Clause
#
# cf-report's page: each of its figures against the program that computes it alone, programs whose
# trouble is known, and what is no recording.
load lib

setup() {
    lib_setup
    a_machine >/dev/null
    M=$BATS_TEST_TMPDIR/machine.yaml
}

# accesses_of N: accesses of two functions, three source lines, heap memory and a variable
accesses_of() {
    awk -v n="$1" 'BEGIN {
        srand(5); print "time,pid,tid,op,addr,size,region,page,object,site,function,source,symbol"
        for (i = 0; i < n; i++) {
            k = int(rand() * 3); a = k == 0 ? i * 8 % 40960 : k == 1 ? int(rand() * 64) * 1024 : int(rand() * 128) * 8
            printf "%d,7,7,%s,%d,8,%s,%d,%d,%s,%s,%s,%s\n", i, rand() < .3 ? "store" : "load", 65536 * (k + 1) + a,
                k == 2 ? "[heap]" : "prog", int(a / 4096), k == 2, k == 2 ? "main a.c:9" : "",
                k ? "walk" : "scan", k ? "a.c:" 10 + k : "a.c:1", k == 1 ? "table" : ""
        } }'
}

# page ARGUMENT...: the page as JSON, one value a line: PATH VALUE
page() {
    cf-report -q --json "$@" >page.json || return
    python3 - <<'END' >page.txt
import json
def walk(path, v):
    if isinstance(v, dict):
        for k in v: walk(path + [k], v[k])
    elif isinstance(v, list):
        for i, x in enumerate(v): walk(path + [str(i)], x)
    else:
        print('.'.join(path), v)
walk([], json.load(open('page.json')))
END
}

# value PATH
value() {
    sed -n "s/^${1//./\\.} //p" page.txt
}

# equal PATH VALUE
equal() {
    [[ $(value "$1") == "$2" ]] || fail "$1 is $(value "$1") and not $2"
}

@test "levels, classes, tables and curve are those of the programs that compute them alone" {
    accesses_of 20000 | stream a.cf
    page -m "$M" a.cf
    cf-cache -q -m "$M" a.cf | cf-classify -q -m "$M" >b.cf
    equal levels.0.name L1D
    for f in 'functions function' 'source_lines source' 'sites site' 'symbols symbol'; do
        cf-rank -q --by "${f#* }" --value misses,accesses,l2-misses,compulsory,capacity,conflict b.cf |
            awk -F, -v t="${f% *}" 'NR > 1 && $2 != "" && $3 { i = n++
                print t "." i ".name " $2; print t "." i ".accesses " $4; print t "." i ".misses " $3
                print t "." i ".last_level_misses " $5; print t "." i ".compulsory " $6
                print t "." i ".capacity " $7; print t "." i ".conflict " $8 }' >want
        [[ -s want ]]
        grep "^${f% *}\." page.txt | grep -v 'advice\|sharing' | same - want
    done
    cf-rank -q --by class b.cf --csv | tail -n +2 | while IFS=, read -r _ class sum _; do
        [[ $class == none ]] || equal "classes.$class" "$sum"
    done
    cf-rank -q --by op --value accesses,l1-misses,l2-misses b.cf | awk -F, 'NR > 1 { a += $3; b += $4; c += $5 }
        END { print a, b, b, c }' | same - <(echo "$(value levels.0.accesses) $(value levels.0.misses)" \
        "$(value levels.1.accesses) $(value levels.1.misses)")
    python3 -c 'import json
for size, ratio in json.load(open("page.json"))["curve"]:
    if size in (1024, 8192, 32768): print(size, "%.6f" % ratio)' >got
    cf-distance -q a.cf | cf-mrc -q --csv --at 1K,8K,32K >mrc.csv
    python3 - <<'END' | same got -
import csv
for r in csv.DictReader(open('mrc.csv')): print(r['size_bytes'], '%.6f' % float(r['miss_ratio']))
END
    equal touched_bytes "$(($(cf-rank -q --by cache-line a.cf | tail -n +2 | wc -l) * 64))"
    equal instructions ''
    equal interleaved False
}

@test "prefetches and flushes are no accesses of a level, and the curve is of loads and stores" {
    local i
    for ((i = 0; i < 40; i++)); do
        printf "%s,8,$((65536 + 64 * i))\n" load store load flush prefetch
    done | sed '1i op,size,addr' | stream a.cf
    page -m "$M" a.cf
    cf-cache -q -m "$M" --summary a.cf >cache.csv
    equal levels.0.accesses "$(sed -n 's/^L1D,[^,]*,[^,]*,\([0-9]*\),.*/\1/p' cache.csv)"
    equal levels.0.misses "$(sed -n 's/^L1D,[^,]*,[^,]*,[^,]*,\([0-9]*\),.*/\1/p' cache.csv)"
    equal levels.0.accesses 120
    equal levels.0.misses 40
    equal classes.compulsory 40
    # each line is new to its first load alone
    python3 -c 'import json
assert {round(ratio, 3) for size, ratio in json.load(open("page.json"))["curve"]} == {.333}'
    equal touched_bytes 2560
    # a line that is prefetched only is touched, too
    printf '%s\n' op,size,addr prefetch,8,0 load,8,0 prefetch,8,64 | stream b.cf
    page -m "$M" b.cf
    equal touched_bytes 128
    python3 -c 'import json
assert {ratio for size, ratio in json.load(open("page.json"))["curve"]} == {0}'
}

@test "a thousandth of the misses is in the tables, and less is not" {
    local n
    for n in 999 1000; do # misses of f, and one of g
        awk -v n=$n 'BEGIN { print "addr,function,region"; for (i = 0; i < n; i++) print 64 * i ",f,r"; print 64 * n ",g,r" }' | stream a.cf
        page -m "$M" a.cf
        equal functions.0.misses $n
        equal functions.1.name "$([[ $n == 1000 ]] || echo g)"
    done
}

@test "lines are as long as the machine's, and all lines of an access to several are touched" {
    seq 0 32 3168 | sed '1i addr' | stream a.cf
    sed 's/^line_size: 64/line_size: 32/' "$M" >narrow.yaml
    page -m narrow.yaml a.cf
    equal touched_bytes 3200
    # each access is the first to its line
    python3 -c 'import json
assert {ratio for size, ratio in json.load(open("page.json"))["curve"]} == {1}'
    # lines 0 to 3, of which 1 was there; again, by another process; the last two, of a load that goes beyond the end
    printf '%s\n' pid,addr,size 1,64,8 1,63,130 1,0,256 2,0,64 2,0xffffffffffffffa0,4294967295 | stream b.cf
    page -m "$M" b.cf
    equal touched_bytes $(((4 + 1 + 2) * 64))
}

@test "a process has its own name, and not that of the thread with most misses" {
    printf '%s\n' pid,tid,op,label 7,7,begin,main 7,8,begin,worker 9,9,begin,idle 5,6,begin,other >task.csv
    { printf '%s\n' time,pid,tid,addr 1,7,7,0 2,5,6,0 {3..9},7,8,{1..9}000; } | stream a.cf --with task=task.csv
    run -0 --separate-stderr cf-report -q -m "$M" --cores 1 --json a.cf
    python3 -c 'import json, sys
print(*((p["pid"], p["name"]) for p in json.load(sys.stdin)["process_list"]))' <<<"$output" |
        same - <(echo "(5, '') (7, 'main') (9, 'idle')")
}

@test "a program is recorded first, keeps its input and output, and leaves no file behind" {
    in_emulation "Valgrind does not run, nor what cf-report records with"
    printf '#include <stdio.h>\nint main(void) { int c, n = 0; while ((c = getchar()) != EOF) n += c == 10; printf("%%d lines\\n", n); return 0; }\n' >count.c
    gcc -O1 -g -o count count.c
    mkdir tmp
    TMPDIR=$PWD/tmp run -0 --separate-stderr cf-report -q -m "$M" -- ./count < <(printf 'a\nb\n')
    has '2 lines' "$output"
    has './count' "$output"
    has 'Functions that miss most' "$output"
    [[ -z $(ls tmp) ]]
    run -0 --separate-stderr cf-report -q -m "$M" --record kept.cf -- ./count </dev/null
    cf-cat --verify kept.cf
    rm kept.cf
    run -2 cf-report --record kept.cf x.cf
    run -2 cf-report -m "$M" x.cf -- ./count
    run -2 cf-report -m "$M" --
    TMPDIR=/nonexistent run -3 --separate-stderr cf-report -q -m "$M" -- ./count </dev/null
    has "cf-report: TMPDIR /nonexistent: " "$stderr"
    has /nonexistent "$stderr"
    run ! cf-report -q -m "$M" -- ./no-such-program
    has_not 'Functions' "$output"
    printf 'int main(void) { return 3; }\n' >three.c
    gcc -o three three.c
    run -3 --separate-stderr cf-report -q -m "$M" --html three.html -- ./three
    run -3 --separate-stderr cf-report -q -m "$M" -- ./three
    [[ -s three.html ]]
    has 'Levels' "$output"
    has 'ended with status 3' "$stderr"
}

@test "false sharing is found, with line, offsets, threads and variable; padded, it is gone" {
    cat >share.c <<'END'
#include <pthread.h>
#ifndef STEP
#define STEP 1
#endif
_Alignas(64) volatile long counts[4 * STEP];
static void *work(void *at) { volatile long *n = at; for (int i = 0; i < 20000; i++) ++*n; return 0; }
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)&counts[i * STEP]);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
END
    sed 's/^cpus: 1/cpus: 4/; s/^\(  - {name: L1.*\)}/\1, shared_by: 1}/; s/^\(  - {name: L2.*\)}/\1, shared_by: 4}/' "$M" >four.yaml
    gcc -O1 -g -pthread -o share share.c
    gcc -O1 -g -pthread -DSTEP=8 -o apart share.c
    cf-capture trace -q -o share.cf -- ./share
    cf-capture trace -q -o apart.cf -- ./apart
    page -m ./four.yaml share.cf
    equal interleaved True
    equal functions.0.name work
    equal symbols.0.name counts
    (($(value classes.false_sharing) > 40000))
    equal symbols.0.advice 'threads write neighbouring words: put them on lines of their own'
    for i in 0 1 2 3; do
        equal "shared_lines.$i.offset" $((i * 8))
        equal "shared_lines.$i.name" counts
        equal "shared_lines.$i.line" "$(value shared_lines.0.line)"
    done
    [[ $(for i in 0 1 2 3; do value shared_lines.$i.tid; done | sort -u | wc -l) == 4 ]]
    equal thread_count 5
    equal shared_lines_more 0
    run -0 --separate-stderr cf-report -q --top 1 -m ./four.yaml share.cf
    has '  and 2 more rows, of 1 lines in all'
    [[ -z $stderr ]] # nor from the programs that take part
    page -m ./four.yaml apart.cf
    (($(value classes.false_sharing) < 1000))
    has_not counts "$(grep shared_lines page.txt)"
    page -m ./four.yaml --cores 1 share.cf
    equal interleaved False
    equal classes.false_sharing 0
}

@test "names are made where there are none, and kept where there are some" {
    cf-report -q --json -m "$M" "$ROOT/samples/sort.cf" >a.json
    cf-resolve -q "$ROOT/samples/sort.cf" | cf-report -q --json -m "$M" >b.json
    same a.json b.json
    cf-select -q --op load "$ROOT/samples/sort.cf" >loads.cf
    page -m "$M" loads.cf
    equal stores 0
}

@test "standard input, and accesses without names, mappings or threads" {
    printf 'time,op,addr,size\n' >a.csv
    awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%d,load,%d,4\n", i, i * 4 }' >>a.csv
    stream a.cf a.csv
    run -0 --separate-stderr cf-report -q -m "$M" <a.cf
    has 'Levels' "$output"
    has_not 'Functions' "$output"
    has_not 'source line' "$output"
    cf-report -q -m "$M" a.cf | same - <(cf-report -q -m "$M" - <a.cf)
    # a pipe with a name can be read once, too
    cf-report -q -m "$M" a.cf >want.txt
    cf-report -q -m "$M" <(cat a.cf) >got.txt
    cmp want.txt got.txt
}

@test "a recording that failed: no page of an older one by that name; of one that was cut off what there is" {
    in_emulation "Valgrind does not run, nor what cf-report records with"
    printf 'int main(void) { return 0; }\n' >none.c
    gcc -O1 -o none none.c
    run -0 --separate-stderr cf-report -q -m "$M" --record kept.cf -- ./none
    cp kept.cf before.cf
    run -127 --separate-stderr cf-report -q -m "$M" --record kept.cf -- ./missing
    [[ -z $output ]] || fail "$output"
    cmp kept.cf before.cf
    # a program with threads may end with 3
    printf '#include <pthread.h>\nstatic void *f(void *p) { return p; }\nint main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 3; }\n' >three.c
    gcc -O1 -pthread -o three three.c
    run -3 --separate-stderr cf-report -q -m "$M" --cores 2 --record kept.cf -- ./three
    has './three' "$output"
    [[ $(id -u) == 0 ]] || skip "only root may mount a small file system"
    mkdir small
    # shellcheck disable=SC2016 # the inner shell's
    TMPDIR=$PWD/small run -3 --separate-stderr unshare -m --propagation private bash -c '
        mount -t tmpfs -o size=300k none small || exit 77
        cf-report -q -m "$1" -- bash -c "for i in {1..20000}; do :; done"; status=$?; ls small >left; exit $status' bash "$M"
    has 'the recording is damaged: ' "$output"
    [[ ! -s left ]] || fail "$(<left)"
}

@test "what is no recording of accesses gives one message and no page" {
    printf 'snapshot,set,way,addr\n1,0,0,64\n' >l.csv
    cf-capture csv -q --table line l.csv >lines.cf
    for f in lines.cf /dev/null missing.cf; do
        run -1 --separate-stderr cf-report -q -m "$M" "$f"
        is ""
        [[ ${#stderr_lines[@]} == 1 ]] || fail "$stderr"
    done
    run -1 --separate-stderr cf-report -q -m "$M" --html out.html lines.cf
    [[ ! -e out.html ]]
    run -2 cf-report -m "$M" lines.cf lines.cf
    has 'more than one recording' "$output"
}

@test "of a recording that was cut off the page is of what there is, and says so" {
    accesses_of 30000 | stream a.cf
    cf-cat a.cf -o packed.cf
    head -c $(($(stat -c %s a.cf) * 2 / 3)) a.cf >cut.cf
    run -1 --separate-stderr cf-report -q -m "$M" cut.cf
    has 'Functions that miss most' "$output"
    has 'cut' "$stderr"
    has 'the recording is damaged: cut.cf' "$output"
    run -3 --separate-stderr bash -c "cf-report -q -m '$M' a.cf >/dev/full"
    run -3 cf-report -q -m "$M" --html /dev/full a.cf
    run -0 bash -c "cf-report -q -m '$M' a.cf | head -n 1"
}

@test "samples that the kernel lost are spoken of" {
    accesses_of 1000 >a.csv
    printf '%s\n' time,cpu,pid,tid,count,label 1,0,7,7,300,lost 2,0,7,7,1,throttled 400,0,7,7,7,lost >lost.csv
    stream a.cf -w lost=lost.csv a.csv
    run -0 cf-report -q -m "$M" a.cf
    has '
307 samples were lost, and sampling was throttled 1 time: all shares are of the samples that are there
'
    page -m "$M" a.cf
    equal lost_samples 307
    equal throttled 1
    cf-report -q -m "$M" --html page.html a.cf
    grep -q '307 samples were lost, and' page.html
    stream b.cf a.csv
    run -0 cf-report -q -m "$M" b.cf
    has_not lost
    page -m "$M" b.cf
    equal lost_samples 0
}

@test "what is not all of a recording says so" {
    accesses_of 1000 | stream a.cf
    cf-cat --slice 1-500 a.cf >slice.cf
    run -0 cf-report -q -m "$M" slice.cf
    has '
not of the whole recording, but of what this kept: cf-cat --slice 1-500 a.cf
'
    cf-report -q -m "$M" --html page.html slice.cf
    grep -q 'but of what this kept: cf-cat --slice 1-500 a.cf"' page.html
    # of a part, through further programs, once
    cf-cat -o a.packed.cf a.cf
    cf-cat --part 1/2 a.packed.cf | cf-select --op load >both.cf
    run -0 cf-report -q -m "$M" both.cf
    has ' kept: cf-cat --part 1/2 a.packed.cf; cf-select --op load
'
    # what hands all of it on is no such program
    cf-resolve a.packed.cf | cf-cat --columns time,op,addr,size,tid,pid,pc,function,region,page - >all.cf
    run -0 cf-report -q -m "$M" all.cf
    has_not 'the whole recording'
    # a command that begins like another is one of its own
    cf-select --op load,store <a.cf | cf-select --op load >twice.cf
    run -0 cf-report -q -m "$M" twice.cf
    has 'what this kept: cf-select --op load,store; cf-select --op load
'
}

@test "names from anywhere command no terminal and no page" {
    accesses_of 2000 | sed "s/walk/ev\x1b[31mil<script>/; s/a\.c:1[12]/<b>'/" | stream a.cf
    run -0 --separate-stderr cf-report -q --term -m "$M" a.cf
    NO_COLOR=1 cf-report -q --term -m "$M" a.cf >term
    run ! grep -q $'\33' term
    cf-report -q -m "$M" --html a.html a.cf
    run ! grep -qF '<script>"' a.html
    run ! grep -q 'il<script>' a.html
    grep -q 'il\\u003cscript\\u003e' a.html
}

@test "options of one kind of report do not go with the other" {
    run -2 cf-report --csv x.cf
    has '--csv goes with --leon4' "$output"
    run -2 cf-report --leon4 --html x.html x.cf
    has '--html goes not with --leon4' "$output"
    run -2 cf-report --cpu 1 x.cf
    run -2 cf-report --leon4 -- ls
    run -2 cf-report --html a.html --json x.cf
}

@test "threads side by side: instructions are those of the recording, and one that is side by side stays so" {
    cat >share.c <<'END'
#include <pthread.h>
_Alignas(64) volatile long counts[4];
static void *work(void *at) { volatile long *n = at; for (int i = 0; i < 20000; i++) ++*n; return 0; }
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)&counts[i]);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
END
    gcc -O1 -g -pthread -o share share.c
    cf-capture trace -q -o share.cf -- ./share
    last=$(cf-cat --csv --columns time share.cf | tail -n 1)
    page -m raspberry-pi-4 --cores 1 share.cf
    (($(value instructions) >= last - 10 && $(value instructions) <= last + 100))
    alone=$(value instructions)
    page -m raspberry-pi-4 share.cf
    equal interleaved True
    equal instructions "$alone"
    grep '^classes' page.txt >want
    # merged before, it is not merged again; its threads' times overlap, and their turns add up
    # no room for the names of threads, which are made in a file first
    run -3 --separate-stderr bash -c 'ulimit -f 8; cf-report -m raspberry-pi-4 share.cf'
    has 'the variable TMPDIR names a folder with room' "$stderr"
    [[ -z $output ]]
    cf-merge -q --interleave --cores 4 -o side.cf share.cf
    page -m raspberry-pi-4 side.cf
    equal interleaved True
    grep '^classes' page.txt | same want -
    (($(value classes.false_sharing) > 40000))
    (($(value instructions) <= alone && $(value instructions) >= alone - 100))
}

@test "instructions of a recording are those of its process, from the first turn on; of a slice those within" {
    page -m "$M" "$ROOT/samples/sort.cf"
    equal instructions "$(value process_list.0.instructions)"
    cf-cat -q --slice 300000-400000 -o slice.cf "$ROOT/samples/sort.cf"
    page -m "$M" slice.cf
    equal instructions 99991 # the last access at 399998, the first at 300007
    equal process_list.0.instructions 99991
    # nor do they go on to the end of the recording, up to which cf-select leaves the other tables
    cf-select --time 300000-400000 -o slice.cf "$ROOT/samples/sort.cf"
    page -m "$M" slice.cf
    equal instructions 99991
    equal process_list.0.instructions 99991
    # of several processes: what ran before it is none of it
    printf 'time,pid,tid,op,addr\n' >a.csv
    awk 'BEGIN { for (i = 0; i < 1000; i++) print i "," (i < 600 ? "7,7" : "8,8") ",load," i * 64 }' >>a.csv
    printf 'time,pid,tid,cpu,count\n0,9,9,0,0\n100,7,7,0,0\n600,8,8,0,0\n' >turns.csv
    stream a.cf --clock instructions --with switch=turns.csv a.csv
    run -0 cf-cat --info <(cf-cat --slice 500-699 a.cf)
    has "pid: 7, name: \"\", accesses: 100, instructions: 100}"
    has "pid: 8, name: \"\", accesses: 100, instructions: 99}"
    page -m "$M" --cores 1 <(cf-cat --slice 500-699 a.cf)
    equal instructions 199
    grep '^process_list.*instructions' page.txt | same - <(printf 'process_list.%s\n' '0.instructions 100' '1.instructions 99')
    printf '800,9,9,0,0\n' >>turns.csv
    stream a.cf --clock instructions --with switch=turns.csv a.csv
    run -0 cf-cat --info <(cf-select --time 500-699 a.cf)
    has "pid: 7, name: \"\", accesses: 100, instructions: 100}"
    has "pid: 8, name: \"\", accesses: 100, instructions: 99}"
}

@test "recordings that were merged: instructions of each, and of all" {
    local how files
    cf-cat -q --slice 0-150000 -o a.cf "$ROOT/samples/sort.cf"
    cf-cat -q --slice 0-90000 -o b.cf "$ROOT/samples/gzip.cf"
    cf-merge a.cf a.cf >twice.cf 2>/dev/null # as of parts that have the same thread switches
    cf-cat -q --slice 0-200000 "$ROOT/samples/threads.cf" | cf-merge -q --interleave --cores 2 >side.cf
    for how in '' --interleave '--schedule fair:1000' '--schedule fair:1000 --cores 2'; do
        files=(a.cf b.cf)
        [[ $how == *1000* ]] || files+=(twice.cf side.cf)
        cf-merge $how --renumber "${files[@]}" -o m.cf
        cf-cat --info m.cf | sed -n 's/.*pid: \([0-9]*\),.*instructions: \([0-9]*\)}/\1 \2/p' | sort -n >info
        # to their last accesses, a few instructions before their ends
        head -n ${#files[@]} <<<"19121 149990
10019116 89980
20019121 149990
30019139 199900" | join - info | awk -v all=${#files[@]} '$3 >= $2 && $3 < $2 + 1000 { n++ } END { exit n != all }' || fail "$how: $(<info)"
        page -m "$M" --cores 1 m.cf
        sed -n 's/^process_list\.[0-9]\.\(pid\|instructions\) //p' page.txt | paste -d ' ' - - | sort -n | same info -
        equal instructions "$(awk '{ n += $2 } END { print n }' info)"
        run -0 --separate-stderr cf-report -q -m "$M" --cores 1 m.cf
        [[ $how == *1000 ]] || has 'processes in the order of time, as recorded, on one core' "$output"
    done
}

@test "several processes: instructions, accesses and misses of each; those without accesses" {
    printf '%s\n' time,pid,tid,op,addr >a.csv
    awk 'BEGIN { for (i = 0; i < 1000; i++) printf "%d,%d,%d,load,%d\n", i, i < 600 ? 7 : 8, i < 600 ? 7 : 8, i * 64 }' >>a.csv
    printf 'time,pid,tid,parent,op,label\n0,7,7,0,begin,first\n600,8,8,7,begin,second\n700,9,9,7,begin,third\n' >tasks.csv
    printf 'time,pid,tid,cpu,count\n0,7,7,0,0\n600,8,8,0,0\n' >turns.csv
    stream a.cf --clock instructions --with task=tasks.csv --with switch=turns.csv a.csv
    page -m "$M" --cores 1 a.cf
    equal processes 2
    equal processes_without_accesses 1
    grep '^process_list' page.txt | grep -v misses | same - <(printf 'process_list.%s\n' '0.pid 7' '0.name first' '0.instructions 600' \
        '0.accesses 600' '1.pid 8' '1.name second' '1.instructions 399' '1.accesses 400' '2.pid 9' '2.name third' '2.instructions 0' '2.accesses 0')
    # they stay in their order, on one core: nothing of them was by turns
    equal in_order False # there is but one core
    cp page.txt want
    page -m "$M" --cores 2 a.cf
    equal interleaved False
    equal in_order True
    sed 's/^in_order True/in_order False/' page.txt | same want -
    [[ $(($(value process_list.0.misses) + $(value process_list.1.misses))) == "$(value misses)" ]]
    run -0 --separate-stderr cf-report -q -m "$M" --cores 2 a.cf
    has 'processes one after the other, as recorded, on one core' "$output"
    has '1 process began of which no access is recorded' "$output"
    has 'second' "$output"
    # nor do they take cores of their own where no table switch says when they ran
    stream b.cf --clock instructions --with task=tasks.csv a.csv
    page -m "$M" --cores 2 b.cf
    equal in_order True
    grep -v 'instructions' page.txt | sed 's/^in_order True/in_order False/' | same <(grep -v instructions want) -
    awk 'BEGIN { print "pid,op,addr"; for (i = 0; i < 4000; i++) print int(i / 100) % 2 ",load," i % 100 * 64 }' | stream turns.cf
    page -m "$M" --cores 1 turns.cf
    misses=$(value misses)
    page -m "$M" --cores 2 turns.cf
    equal misses "$misses"
    run -0 cf-report -q -m "$M" --cores 2 turns.cf
    has 'processes one after the other, as recorded, on one core' "$output"
    run -0 cf-report -q -m "$M" --cores 1 turns.cf
    has 'processes one after the other, as recorded, on one core' "$output"
}

@test "threads of which nothing says when they ran: a warning, and a word on the page" {
    awk 'BEGIN { print "time,pid,tid,op,addr"; for (i = 0; i < 1000; i++) printf "%d,7,%d,store,%d\n", i, 7 + i % 2, 64 + 8 * (i % 2) }' | stream two.cf
    run -0 --separate-stderr cf-report -q -m raspberry-pi-4 two.cf
    has 'does not say when each of them ran' "$stderr"
    has 'threads took turns, and when is not known: each went to one of 4 cores' "$output"
    page -m raspberry-pi-4 --cores 1 two.cf 2>err
    [[ ! -s err ]] || fail "$(cat err)"
    equal threads_in_turns False
    run -0 cf-report -q -m raspberry-pi-4 --cores 1 two.cf
    has 'threads one after the other, as recorded, on one core' "$output"
    # accesses that do not say whose they are
    cf-cat --columns time,pid,op,addr two.cf >none.cf
    run -0 --separate-stderr cf-report -q -m raspberry-pi-4 none.cf
    has '1 process, threads not known (no column tid)' "$output"
    [[ -z $stderr ]] || fail "$stderr"
    page -m raspberry-pi-4 none.cf
    equal thread_count 0
    printf '%s\n' time,pid,tid 0,7,7 1,7,8 >switch.csv
    cf-cat --csv none.cf | stream switched.cf -w switch=switch.csv
    run -1 --separate-stderr cf-report -q -m raspberry-pi-4 switched.cf
    is ''
    has 'accesses have no column tid' "$stderr"
    run -0 cf-report -q -m raspberry-pi-4 --cores 1 switched.cf
    # of one process they have that, also where others have one thread each
    awk 'BEGIN { print "pid,tid,op,addr"; for (i = 0; i < 99; i++) print i % 3 ? "7," 7 + i % 3 ",load,64" : "5,5,load,64" }' | stream three.cf
    run -0 --separate-stderr cf-report -q -m raspberry-pi-4 three.cf
    has 'does not say when each of them ran' "$stderr"
    has_not 'on one core'
    # where accesses state their CPU, sharing is seen without a word of turns
    awk 'BEGIN { print "time,pid,tid,cpu,op,addr,size"; for (i = 0; i < 4000; i++) printf "%d,7,%d,%d,store,%d,8\n", i, 7 + i % 2, i % 2, 64 + 8 * (i % 2) }' | stream placed.cf
    page -m raspberry-pi-4 placed.cf
    equal classes.false_sharing 3998
    run -0 cf-report -q -m raspberry-pi-4 placed.cf
    has 'accesses on the CPUs that the recording states, of 4' "$output"
    has '[no source line]' "$output"
    # two processes of one thread each share nothing
    awk 'BEGIN { print "time,pid,tid,op,addr"; for (i = 0; i < 1000; i++) printf "%d,%d,%d,store,64\n", i, 7 + i % 2, 7 + i % 2 }' | stream apart.cf
    page -m raspberry-pi-4 apart.cf 2>err
    [[ ! -s err ]] || fail "$(cat err)"
    equal in_order True
}

@test "segments that do not go together are told" {
    accesses_of 3000 >a.csv
    stream a.cf --clock instructions a.csv
    stream b.cf --clock cycles a.csv
    run -0 --separate-stderr bash -c "cat a.cf b.cf | cf-report -q --json -m '$M'"
    has "different units, 'instructions' and 'cycles'" "$stderr"
    has_not '"instructions":' "$output"
    run -0 --separate-stderr bash -c "cat a.cf a.cf | cf-report -q --json -m '$M'"
    [[ ! $stderr ]]
    has '"instructions":' "$output"
}

@test "recordings of several computers: the page names one, and says so" {
    unshare -r -u sh -c 'hostname other' 2>/dev/null || skip "a name of its own for a process is not allowed here"
    cf-capture trace -q -o a.cf -- true
    unshare -r -u sh -c 'hostname other; exec cf-capture trace -q -o b.cf -- true'
    run -0 --separate-stderr bash -c "cat a.cf b.cf | cf-report -q -m '$M'"
    has 'several computers' "$stderr"
    has 'further parts were recorded on other computers' "$output"
    run -0 --separate-stderr bash -c "cat a.cf a.cf | cf-report -q -m '$M'"
    has_not 'computers' "$output$stderr"
}

@test "a signal ends what it runs, and leaves no file" {
    mkdir tmp
    mkfifo in
    exec 8<>in
    for sig in TERM HUP; do
        # that it is not ignored, as below nohup
        TMPDIR=$T/tmp env --default-signal=$sig cf-report -q -m "$M" <in >out 2>err 8>&- 3>&- &
        pid=$!
        eventually pgrep -P "$pid" >child
        kill -$sig "$pid"
        wait "$pid" && fail "status 0"
        [[ -z $(ls tmp) ]] || fail "$(ls tmp)"
        eventually gone "$(cat child)"
    done
}

@test "a recording without accesses: no page, and a word" {
    printf 'time,op,addr,size\n' | stream none.cf
    run -0 --separate-stderr cf-report -m $M --html none.html none.cf
    is ""
    has 'none.cf: no accesses were recorded, or kept: there is no page' "$stderr"
    [[ ! -e none.html ]]
}
