# SPDX-License-Identifier: BSD-2-Clause
#
# pipelines/cacheperf.mk on a program with two defects and on what mends it, with one seed, and its
# judge by hand: each field of a finding that is wrong is found wrong. All programs and seeds:
# tests/run-long pipeline.
load lib

setup() {
    lib_setup
    reached "pipelines of programs that have suites"
}

# ---- the judge ----

# A program with marks, and what is true of it: two rows as it is, none when mended.
truth() {
    printf '%s\n' '/* one */' 'x[i]++; /* MISS */' 'a' 'p = malloc(8); /* OBJECT */' 'y++; /* MISS 2 */' \
        '' '' '' '' '' '' 'z++; /* MISS */' >demo.c
    printf '%s\n' program,row,mended,type,origin,line,object demo,1,0,conflict,application,MISS,'heap OBJECT' \
        demo,2,0,false_sharing,allocator,'MISS 2','global total' >truth.csv
}

# judged MENDED FINDING...: class,origin,sources,memory of each
judged() {
    { echo finding,class,origin,misses,sources,functions,memory,fix && printf '%s\n' "${@:2}" |
        awk -F, -v OFS=, 'NF { print NR, $1, $2, 100, $3, "\"f(int, \"\"x\"\"); g<a, b>\"", $4, "\"pad it, or not\"" }'; } >found.csv
    "$ROOT/pipelines/cacheperf-judge.sh" . demo "$1" found.csv
}

@test "the picture of times: labels of its axis lie apart, however long the longest bar is" {
    local most
    for most in 1.2 12.4 42.4 980; do
        printf 'p,%s,1,1,1,%s\n' alone 1 objects 1.2 both $most | awk -f "$ROOT/pipelines/cacheperf-fig10.awk" |
            sed -n 's/.*y="\([0-9.]*\)" text-anchor="end".*/\1/p' | sort -n |
            awk -v most=$most 'NR > 1 && $1 - before < 11 { print most ": " before " and " $1; bad = 1 } { before = $1 } END { exit bad || NR < 3 }'
    done
}

@test "the picture of times: the mean of a mode is over the programs that have it" {
    printf '%s\n' program a,objects,1,1,1,2 a,both,1,1,1,4 b,objects,1,1,1,8 | awk -f "$ROOT/pipelines/cacheperf-fig10.awk" |
        sed -n 's/.*<rect.*<text.*>\([0-9.]*\)<.*/\1/p' | xargs | same - <(echo 2.00 4.00 8.00 4.00 4.00)
}

@test "the judge: right findings are found, in any order, with what else they name" {
    truth
    run -0 judged 0 'allocator_false_sharing,allocator,lib/demo.c:5,a; total' \
        'conflict,application,demo.c:1; cacheperf/demo.c:12,main cacheperf/demo.c:4'
    is $'demo,1,0,conflict,application,1,conflict,application,0\ndemo,2,0,false_sharing,allocator,1,false_sharing,allocator,0'
    # mended, and nothing is found; or something is
    run -0 judged 1 ''
    is demo,,1,nothing,,1,,,0
    run -0 judged 1 conflict,application,demo.c:2,demo.c:4
    is demo,,1,nothing,,0,conflict,application,1
}

@test "the judge: a name of a file may hold a backslash" {
    truth
    judged 1 '' >/dev/null
    mv found.csv 'a\tb.csv'
    run -0 "$ROOT/pipelines/cacheperf-judge.sh" . demo 1 'a\tb.csv'
    is demo,,1,nothing,,1,,,0
}

@test "the judge: each wrong field is found wrong, and a finding of nothing is counted" {
    truth
    # what of the first row's finding is wrong: type, origin, statement, object
    local wrong
    for wrong in capacity,application,demo.c:2,demo.c:4 allocator_conflict,allocator,demo.c:2,demo.c:4; do
        run -0 judged 0 "$wrong" false_sharing,allocator,demo.c:5,total
        [[ ${lines[0]} == "demo,1,0,conflict,application,0,${wrong%,demo*,*},1" ||
            ${lines[0]} == "demo,1,0,conflict,application,0,conflict,allocator,1" ]] || fail "$output"
        [[ ${lines[1]} == demo,2,0,false_sharing,allocator,1,* ]] || fail "$output"
    done
    for wrong in conflict,application,demo.c:3,demo.c:4 conflict,application,demo.c:22,demo.c:4 \
        conflict,application,otherdemo.c:2,demo.c:4 conflict,application,demo.c:1,demo.c:4; do
        run -0 judged 0 "$wrong"
        [[ ${lines[0]} == demo,1,0,conflict,application,0,,,1 ]] || fail "$wrong: $output"
    done
    for wrong in '' demo.c:3 demo.c:44 total; do
        run -0 judged 0 "conflict,application,demo.c:2,$wrong"
        [[ ${lines[0]} == demo,1,0,conflict,application,0,conflict,application,1 ]] || fail "$wrong: $output"
    done
    for wrong in '' subtotal totals demo.c:4; do
        run -0 judged 0 "false_sharing,allocator,demo.c:5,$wrong"
        [[ ${lines[1]} == demo,2,0,false_sharing,allocator,0,false_sharing,allocator,1 ]] || fail "$wrong: $output"
    done
    run -0 judged 0 ''
    is $'demo,1,0,conflict,application,0,,,0\ndemo,2,0,false_sharing,allocator,0,,,0'
}

@test "the judge: what is no table of findings is refused, not taken for none" {
    truth
    : >found.csv
    run -1 "$ROOT/pipelines/cacheperf-judge.sh" . demo 1 found.csv
    has "lacks class"
    echo finding,class,origin,memory >found.csv
    run -1 "$ROOT/pipelines/cacheperf-judge.sh" . demo 0 found.csv
    run -2 "$ROOT/pipelines/cacheperf-judge.sh" . demo 0 missing.csv
    has "cacheperf-judge.sh SOURCES PROGRAM MENDED FINDINGS.csv"
    run -2 "$ROOT/pipelines/cacheperf-judge.sh" . demo 0
}

@test "shares: the most that a source line is off, also one that only one side has" {
    printf '%s\n' rank,source,misses,share_percent a.c:1,1 1,a.c:1,60,60 2,a.c:2,40,40 \
        missed,50 rank,source,misses,share_percent 1,a.c:1,6,61.5 2,a.c:2,4,38.5 \
        missed,40 rank,source,misses,share_percent 1,a.c:1,6,57 2,a.c:2,4,41 3,a.c:3,1,2 |
        sed 2d >in
    [ "$(awk -f "$ROOT/pipelines/cacheperf-shares.awk" in)" = "3.00 40 a.c:1" ]
    head -n 5 in >one
    [ "$(awk -f "$ROOT/pipelines/cacheperf-shares.awk" one)" = "60.00 50 a.c:1" ]
    run ! awk -f "$ROOT/pipelines/cacheperf-shares.awk" /dev/null
    # in a folder with a comma
    sed 's|[ac]\.c:[0-9]|"/x,y/&"|' in | awk -f "$ROOT/pipelines/cacheperf-shares.awk" >comma
    [ "$(<comma)" = '3.00 40 "/x,y/a.c:1"' ] || fail "$(<comma)"
}

@test "table2: the class of most misses of a statement, in a folder with a comma, too" {
    mkdir trace hill shares
    echo program,row,mended,type,origin,line,object >truth.csv
    echo "p,1,0,conflict,application,MISS,heap OBJECT" >>truth.csv
    printf '%s\n' 'int a;' 'a++; /* MISS */' >p.c
    for source in p.c:2 x/p.c:2 '"/x,y,z/p.c:2"'; do
        printf '%s\n' rank,source,misses,compulsory,capacity,conflict,share_percent "1,$source,9,1,2,6,90" 2,p.c:1,1,1,0,0,10 >hill/p.0.csv
        echo p,1,0,conflict | awk -v out=. -v sources=. -v head=h -f "$ROOT/pipelines/cacheperf-table.awk" >table
        [[ $(tail -n 1 table) == p,1,0,conflict,,conflict,* ]] || fail "$source" "$(<table)"
    done
}

# ---- the pipeline ----

@test "two defects and a mended twin, one seed: all tables and the page" {
    need valgrind 'records the programs'
    seq 3000 >text
    run -0 make -s -j2 -C "$ROOT" -f pipelines/cacheperf.mk BIN="$BIN" OUT="$T/out" ONLY=adi SEEDS=1 \
        RUNS=1 LASTING=1 REAL=mine COMMAND_mine="sort $T/text"
    cd out
    # said where the kernel or the machine permits none, and of a program that has ended too early
    output=$(grep -v '^no breakpoints: \|: no breakpoint saw an access: ' <<<"$output")
    is "$(echo "results in $T/out, on one page in $T/out/report.html" && cat table2.csv)"
    local line
    awk -F, 'NR > 1 { print $1 "," $2 "," $3 "," $4 "," $5 "," $6 "," $7 "," $10 "," $12 }' table2.csv | same - <(
        echo adi,6,0,conflict,application,1,1,0,conflict
        echo adi,7,0,conflict,application,1,1,0,conflict
        echo adi,,1,nothing,,1,1,0,
    )
    # periods are shorter than 20000, by as much as is stated; shares and the speed-up are numbers
    read -r line _ <trace/adi.0.periods
    awk -F, -v period="$line" 'NR > 1 && $3 == 0 { n++; bad += $11 < 1 || $11 - 20000 / period > 0.1 || 20000 / period - $11 > 0.1 ||
        $13 == "" || $13 > 2 || $14 < 10000 || $15 <= 0 } END { exit n != 2 || bad }' table2.csv || fail "$(<table2.csv)"
    # other settings: skid alone loses a bug, and only the second sweep, which then looks like capacity
    [ "$(cut -d, -f1 table5.csv | sort -u | wc -l)" = 11 ]
    same - table5-lost.csv <<END
setting,program,row,mended,type,origin,found,runs,type_found,origin_found,others
skid-1,adi,7,0,conflict,application,0,1,capacity,application,1
END
    # ten times the samples, or a tenth of them; accesses at breakpoints
    awk -F, 'NR > 1 { n[$1] = $2; bad += $3 < 8 || $4 <= 0 || $5 < 1000 }
        END { exit bad || length(n) != 10 || n["usual"] < 50000 || n["periods-tenth"] < 5 * n["usual"] ||
            n["periods-10"] * 9 > n["usual"] }' table4.csv || fail "$(<table4.csv)"
    # a real program: alone it takes what it takes
    grep -q '^mine,alone,[0-9.]*,[0-9.]*,[0-9]*,1.00,1.00$' table3.csv || fail "$(<table3.csv)"
    awk -F, '$2 == "trace" { exit !($6 > 1 && $7 > 1) }' table3.csv || fail "$(<table3.csv)"
    if cf-capture perf -q --coarse page-faults --fine 64 -o t.cf -- true 2>messages; then
        [ "$(cut -d, -f2 table3.csv | paste -sd' ')" = "mode alone objects breakpoints both trace" ] || fail "$(<table3.csv)"
        grep -q '>mine</text>' fig10.svg && grep -q '<svg ' report.html || fail "$(<fig10.svg)"
        # the bar is as high as the time
        awk -F, '$2 == "objects" { print $6 }' table3.csv | same - <(sed -n 's/.*<rect.*<text.*>\([0-9.]*\)<.*/\1/p' fig10.svg | head -n 1)
    fi
    # of one program, the last word of the legend is within the picture; of long bars, a few labels stand apart
    printf 'p,%s,1,1,1,%s\n' alone 1 objects 1.2 breakpoints 1.5 both 12.4 | awk -f "$ROOT/pipelines/cacheperf-fig10.awk" >one.svg
    awk -F'"' '/<svg/ { wide = $4 } />both</ { for (i = 1; i < NF; i++) if ($i ~ /<text x=$/) x = $(i + 1)
        exit !(x && x + 30 < wide) }' one.svg || fail "$(<one.svg)"
    (($(grep -c 'text-anchor="end"' one.svg) <= 8)) || fail "$(<one.svg)"
    # the page has them all, and asks nobody for anything
    grep -q '<td class="n lost">0/1</td>' report.html
    [ "$(grep -c '<h2>' report.html)" = 5 ]
    [ "$(grep -c '<tr>' report.html)" -gt 20 ]
    run ! grep -E 'src=|href=|<script' report.html
    # nothing is left over of what was in between
    [ -z "$(find . -name '*.tmp' -o -name '*.found')" ]
}

@test "real programs are timed where none that is run has a defect" {
    seq 3000 >text
    run -0 make -s -C "$ROOT" -f pipelines/cacheperf.mk BIN="$BIN" OUT="$T/out" ONLY=clean SEEDS=1 SAMPLES=500 RUNS=1 LASTING=1 \
        TEXT=10 ROWS=10 REAL="none mine" COMMAND_mine="sort $T/text" "$T/out/table3.csv"
    grep -q '^mine,alone,' out/table3.csv || fail "$(<out/table3.csv)"
    has "none of REAL is left out: it is not installed"
    has_not "mine of REAL"
}

@test "a step that fails fails the pipeline" {
    mkdir bin && ln -s "$B"/bin/* bin && rm bin/cf-report
    printf '#!/bin/sh\nexit 1\n' >bin/cf-report && chmod +x bin/cf-report
    run ! make -s -C "$ROOT" -f pipelines/cacheperf.mk BIN="$T/bin" OUT="$T/out" ONLY=clean SEEDS=1 "$T/out/verdict/clean.0.csv"
    [ ! -e out/verdict/clean.0.csv ]
}

# told FILE TARGET [ARGUMENT...]: of the pipeline, with a cf-capture that writes what it was given into FILE, and a stream
told() {
    mkdir -p bin && ln -sf "$B"/bin/* bin && rm bin/cf-capture
    printf '%s\n' '#!/bin/bash' "printf '[%s]' \"\$@\" >$T/$1" "exec cat $ROOT/samples/gzip.cf" >bin/cf-capture && chmod +x bin/cf-capture
    make -s -C "$ROOT" -f pipelines/cacheperf.mk BIN="$T/bin" OUT="$T/out" TEXT=10 ROWS=1 REAL=my UNIT="$T/unit.c" "${@:3}" "$T/out/$2"
}

@test "a program's command reaches the tracer as it stands, with quotes, blanks and what a shell would expand" {
    : >unit.c
    touch oneXtwo
    run -0 told words real/my.cf COMMAND_my="./w '{print \$\$1}' \"a  b\" 'one*two' \\\\"
    [[ $(<words) == *"[--][./w][{print \$1}][a  b][one*two][\\]" ]] || fail "$(<words)"
    [[ -s out/real/my.cf && $(wc -w <out/real/my.cf.cost) == 3 ]] || fail "$(<out/real/my.cf.cost)"
}
