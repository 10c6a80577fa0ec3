# SPDX-License-Identifier: BSD-2-Clause
#
# pipelines/bbprof.mk on its smallest programs, and what draws its curves.
# Takes long: recordings under Valgrind.
load lib

setup() {
    lib_setup
    reached "pipelines of programs that have suites"
}

curves() {
    awk -f "$ROOT/pipelines/bbprof-curves.awk" "$@"
}

@test "curves: one for each value of the keys, through its points, from 0" {
    printf '%s\n' name,k,cycles a,0,100 a,10,50 b,0,20 'c&<d,10,100' >t.csv
    run -0 curves -v x=k -v y=cycles -v by=name -v 'title=A < B & C' t.csv
    has 'A &lt; B &amp; C'
    has '>c&amp;&lt;d<'
    # the area is 600 by 405 pixels, its origin at 90, 445
    has 'd="M90.0 40.0L690.0 242.5"'
    has '<circle cx="90.0" cy="364.0"'
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parseString(sys.argv[1])' "$output"
    run -1 curves -v x=k -v y=cycle -v by=name t.csv
    is "bbprof-curves.awk: the table lacks cycle"
    head -n 1 t.csv >none.csv
    run -1 curves -v x=k -v y=cycles -v by=name none.csv
    is "bbprof-curves.awk: the table has nothing to draw"
}

@test "curves: panels with the same axes, bars, a second axis at the right" {
    printf '%s\n' name,k,cycles,size a,0,100,5 a,10,50,10 b,0,20,0 b,10,100,20 >t.csv
    run -0 curves -v x=k -v y=cycles -v by=k -v panel=name -v title=T t.csv
    # panels of 240 by 210, the second one 280 further
    has '<circle cx="90.0" cy="60.0"'
    has '<circle cx="610.0" cy="60.0"'
    has '>a<'
    run -0 curves -v x=name -v y=cycles -v by=k -v shape=bars -v title=T t.csv
    has '<rect x="120.0" y="40.0" width="120.0" height="405.0"'
    has '<rect x="540.0" y="40.0" width="120.0" height="405.0"'
    run -0 curves -v x=k -v y=cycles -v by=name -v y2=size -v y2text='A < B' -v xtext=kilo -v title=T t.csv
    has 'd="M90.0 343.8L690.0 242.5"'
    has '>A &lt; B<'
    has '>kilo<'
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parseString(sys.argv[1])' "$output"
    run -1 curves -v x=k -v y=cycles -v by=name -v panel=nothing t.csv
    is "bbprof-curves.awk: the table lacks nothing"
}

@test "curves: what lies below 0 is in the picture, by an axis of its panel, and a panel of zeros has one" {
    printf '%s\n' name,k,gain,of a,1,10,heap a,3,-4,heap b,1,0,stack b,2,0,stack >t.csv
    # no more than there could be, if it did not end
    timeout 10 awk -f "$ROOT/pipelines/bbprof-curves.awk" -v x=k -v y=gain -v by=name -v panel=of -v own=1 t.csv | head -c 99999 >t.svg
    run -0 cat t.svg
    # panels of 240 by 210: 10 is the upper edge, 60, and -4 the lower one, 270
    has 'd="M170.0 60.0L330.0 270.0"'
    has 'text-anchor="end">-4<'
    has 'stroke="#888" d="M90 210.0H330"'
    has 'text-anchor="end">0<'
    # the other panel: from 0 to 1
    has 'd="M515.0 270.0L635.0 270.0"'
    run -0 curves -v x=name -v y=gain -v by=k -v shape=bars -v title=T t.csv
    has '<rect x="120.0" y="40.0" width="80.0" height="289.3"'
    has '<rect x="200.0" y="329.3" width="80.0" height="115.7"'
    has_not 'height="-'
}

@test "lines: a fetch for each line, with its page and its instructions" {
    printf '%s\n' time,addr,op,size,pc,insns,page 7,8180,ifetch,160,8180,40,3 9,8200,store,100,8180,0,4 50,64,ifetch,4,64,1,0 >t.csv
    run -0 awk -f "$ROOT/pipelines/bbprof-lines.awk" t.csv
    is "time,addr,op,size,pc,insns,page
7,8180,ifetch,12,8180,3,3
10,8192,ifetch,64,8192,16,4
26,8256,ifetch,64,8256,16,4
42,8320,ifetch,20,8320,5,4
9,8200,store,100,8180,0,4
50,64,ifetch,4,64,1,0"
    # a page of no mapping is one of all addresses
    printf '%s\n' time,addr,op,size,pc,insns,page 7,12285,ifetch,8,12285,2,33552047999 >t.csv
    run -0 awk -f "$ROOT/pipelines/bbprof-lines.awk" t.csv
    has 7,12288,ifetch,5,12288,2,33552048000
}

# strides FILE ROWS LINES STEP OP: so many accesses, a line each, round after round over so many lines
strides() {
    awk -v rows="$2" -v lines="$3" -v step="$4" -v op="$5" 'BEGIN {
        print "time,addr,pid,op"
        for (i = 0; i < rows; i++) print i * step "," 65536 + i % lines * 64 ",1," op }' | cf-capture csv -q -c instructions | cf-cat -q -o "$1"
}

@test "beside: a program and three that evict its lines, or none; as long as it runs" {
    cat >m.yaml <<'END'
cpus: 4
clock_hz: 1000000000
line_size: 64
levels:
  - {name: L1D, kind: data, size: 64, ways: 1}
  - {name: L2, size: 256KiB, ways: 2, shared_by: 4}
latency: {L1D: 1, L2: 10, memory: {load: 100, store: 50}}
END
    # the second level has 4096 lines: with 2560 of each of three, each line is evicted before its time comes
    local beside=$ROOT/pipelines/bbprof-beside.sh alone=$((639 * 2000 + 1 + 64 * 100 + 576 * 10)) k
    strides p.cf 640 64 2000 load
    strides many.cf 120000 2560 2 store
    strides few.cf 120000 64 2 store
    for k in many few; do
        cf-cache -q -m m.yaml --frames sequential $k.cf | cf-latency -q -m m.yaml --retime -o $k.beside.cf
    done
    local head=runtime_cycles,passes,change_percent,stored_mb_per_s,memory_mb_per_s
    run -0 --separate-stderr "$beside" m.yaml p.cf
    is "$head"$'\n'"$alone,1,0,0,0"
    run -0 --separate-stderr "$beside" -c few.beside.cf m.yaml p.cf
    # three stores, of a line of 64 bytes each, in 12 ns; from memory and back each of 192 lines once
    [[ $output == "$head"$'\n'"$alone,2,0.00,159"??",$((2 * 192 * 64 * 1000 / alone))" ]] || fail "$output"
    # in a locale of decimal commas, too
    if localedef -i de_DE -f UTF-8 "$T/de_DE.UTF-8" 2>/dev/null; then
        run -0 --separate-stderr env LOCPATH="$T" LC_ALL=de_DE.UTF-8 "$beside" -c few.beside.cf m.yaml p.cf
        [[ $output == "$head"$'\n'"$alone,2,0.00,159"??,* ]] || fail "$output"
    fi
    run -0 --separate-stderr "$beside" -c many.beside.cf m.yaml p.cf
    [[ $output == "$head"$'\n'"$((639 * 2000 + 1 + 640 * 100)),"* ]]
    # without its first 64 accesses, and with half of the colours for the program
    run -0 --separate-stderr "$beside" -w 64 -c many.beside.cf m.yaml p.cf
    [[ $output == "$head"$'\n'"$((575 * 2000 + 1 + 576 * 100)),"* ]]
    run -0 --separate-stderr "$beside" -c many.beside.cf m.yaml p.cf --colours 0:0-15 --colours 1:16-31 --colours 2:16-31 --colours 3:16-31
    [[ $output == "$head"$'\n'"$alone,"* ]]
    run -0 --separate-stderr "$beside" -l L2=20 m.yaml p.cf
    is "$head"$'\n'"$((alone + 576 * 10)),1,0,0,0"
    # one that ends too early, one that did not settle, and wrong usage
    cf-cat -q --slice 0-300000 -o short.cf few.beside.cf
    run -1 --separate-stderr "$beside" -c short.cf m.yaml p.cf
    [[ $stderr == "bbprof-beside.sh: p.cf: takes "*"the co-runner ends after 29999"?": record more of it" ]] || fail "$stderr"
    PASSES=1 UNSETTLED=1 run -1 --separate-stderr "$beside" -c many.beside.cf m.yaml p.cf
    has "it does not settle" "$stderr"
    SETTLED=x run -2 --separate-stderr "$beside" -c many.beside.cf m.yaml p.cf
    has "bbprof-beside.sh: SETTLED='x': give a number" "$stderr"
    run -1 --separate-stderr "$beside" -c many.cf m.yaml p.cf
    has "the co-runner's times have another clock" "$stderr"
    run -2 --separate-stderr "$beside" m.yaml
    has "bbprof-beside.sh [-c CORUNNER.cf]" "$stderr"
    run -1 --separate-stderr "$beside" -c nothing.cf m.yaml p.cf
}

@test "beside: a second level of other colours, or that is not shared by four, is refused" {
    machine() {
        make -s -C "$ROOT" -f pipelines/bbprof.mk BIN="$BIN" OUT="$T/$1" DESCRIPTIONS="$T" MACHINE="$1" "$T/$1/machine/lru.yaml"
    }
    local m
    sed 's/shared_by: 4, //' "$ROOT/formats/machines/zynq-ultrascale.yaml" >alone.yaml
    cp "$ROOT"/formats/machines/{tegra-x1,zynq-ultrascale,raspberry-pi-4}.yaml .
    for m in tegra-x1 alone; do
        run -2 machine $m
        has "$m: its second level is none of 16 page colours that 4 CPUs share: give another MACHINE"
        [[ ! -e $m/machine/lru.yaml ]]
    done
    for m in zynq-ultrascale raspberry-pi-4; do run -0 machine $m; done
}

@test "a buffer that ends within a page: that page is one of it" {
    shown() { make -n -s -C "$ROOT" -f pipelines/bbprof.mk BIN="$BIN" OUT="$T/out" IMAGES=disparity-sqcif-def POLICIES=lru KIB=42 "$@"; }
    run -0 shown "$T/out/fig12.csv"
    has run/lru/42/their11/disparity-sqcif-def.csv
    run -0 shown THEIRS="0 8" PROGRAMS11=c2isbm "$T/out/fig11.csv"
    has "keys='c2isbm,lru,8,9'"
}

@test "OUT=./FOLDER: runs beside co-runners have them there, too" {
    need valgrind 'records the programs'
    for o in one ./two; do
        make -s -f "$ROOT/pipelines/bbprof.mk" BIN="$BIN" OUT=$o POLICIES=lru OWN=0 CALLS=2 STORES=500000 $o/fig10.csv
    done
    cmp one/fig10.csv two/fig10.csv
    awk -F, 'END { exit $4 < 2 }' two/fig10.csv || fail "$(<two/fig10.csv)"
}

@test "fig11 compares with none moved, whatever THEIRS begins with" {
    run -0 make -n -s -C "$ROOT" -f pipelines/bbprof.mk BIN="$BIN" OUT="$T/out" POLICIES=lru PROGRAMS11=c2isbm THEIRS="32 8" "$T/out/fig11.csv"
    has ">$T/out/run/lru/420/their0/c2isbm.csv.tmp"
    (($(grep -o "/their0/c2isbm.csv $T/out/run/lru/420/their\(32\|8\)/" <<<"$output" | wc -l) == 2)) || fail "$output"
}

# bats test_tags=slow
@test "staircase and two image programs, one other input: all figures, in a folder with a comma" {
    need valgrind 'records the programs'
    bbprof() {
        make "$@" -C "$ROOT" -f pipelines/bbprof.mk BIN="$BIN" OUT="$T/o,ut" PROGRAMS="disparity tracking" SIZES=sqcif \
            INPUTS=nor1 ITERATIONS=5 SHIFTS=1 PROGRAM3=c2isbm PROGRAMS11=c2isbm IMAGES=disparity-sqcif-def POLICIES=lru \
            KIBS="200 344 640" OWN="0 32 59 64 65" THEIRS="0 41 105" COLOURS="4 12 16" CALLS=3 STORES=250000
    }
    run -0 --separate-stderr bbprof -s -j2
    [ -z "$stderr" ] || fail "$stderr"
    cd o,ut
    is "results in $T/o,ut"$'\n'"$(<workingset.csv)"
    # five steps of 20 heap pages, the best first
    awk -F, 'NR > 1 { step = 6 - int((NR + 18) / 20); bad += $2 != "heap" || int(($3 + 0) / 20) < step - 2 || $4 > last && NR > 2; last = $4 }
        END { exit bad || NR != 101 }' fig6.csv || fail "$(<fig6.csv)"
    # the best k: all of them are best, and nearly nothing is not
    awk -F, 'NR > 1 { n[$1]++; bad += $3 != n[$1] || $5 > 1 || ($3 == 1 && $5 != 1); least[$1] = $5 }
        END { exit bad || length(n) != 2 || least["disparity"] > .5 || least["tracking"] > .5 }' fig8.csv || fail "$(<fig8.csv)"
    [ "$(cut -d, -f1-2 fig9.csv | sort -u | wc -l)" = 5 ]
    # of the input itself, the order is its own: both figures have the same cycles
    same <(awk -F, '$2 == "def" && $3 > 0 { print $1, $3, $4 }' fig9.csv) <(awk -F, 'NR > 1 { print $1, $3, $4 }' fig8.csv)
    awk -F, '$3 == "spearman" { n++; bad += $5 < .85 } END { exit bad || n != 2 }' orders.csv || fail "$(<orders.csv)"
    awk -F, 'NR > 1 { n++; bad += $3 < 1 || $3 > $2 } END { exit bad || n != 3 }' workingset.csv || fail "$(<workingset.csv)"
    # the working set of either table is that of the same runs
    local p
    for p in disparity tracking; do
        cf-rank -q --csv --by page --value gain best/$p-sqcif-nor1.cf | awk -F, -v p=$p 'NR > 1 { n += $NF } END { print p "," n }'
    done | same - <(awk -F, -v OFS=, '$3 == "overlap_of_working_set" { print $1, $4 }' orders.csv)
    awk -F, '$3 == "overlap_of_working_set" && $4 < 20 { exit 1 }' orders.csv || fail "$(<orders.csv)"
    local f
    for f in fig3 fig5 fig6 fig7 fig8 fig9 fig10 fig11; do
        grep -q '^<path fill="none"' $f.svg || fail "$f.svg has no curve"
    done
    [ "$(grep -c '^<rect x=' fig12.svg)" = 7 ]
    # beside co-runners: slower as soon as they and the program exceed 1 MiB, and no more beyond
    value() { awk -F, -v key="^$2," -v at="$3" '$0 ~ key { print $at }' "$1"; }
    awk -v few="$(value fig3.csv lru,200 4)" -v a="$(value fig3.csv lru,344 4)" -v b="$(value fig3.csv lru,640 4)" 'BEGIN { exit !(few < 1.02 && a > 4 && b > 4 && b <= a) }' || fail "$(<fig3.csv)"
    # c2isbm: falls until the pages left fit the instruction cache, is flat up to the pool's 64, and rises
    awk -F, 'NR > 1 { took[$2] = $3 } END { exit !(took[0] > 1.5 * took[32] && took[32] > 3 * took[59] &&
        took[64] >= took[59] && took[64] < 1.05 * took[59] && took[65] > 1.1 * took[64]) }' fig10.csv || fail "$(<fig10.csv)"
    awk -F, '$2 == 0 && $4 < 6 { exit 1 }' fig10.csv || fail "$(<fig10.csv)"
    # co-runners' pages: nothing is gained before at most 192 are left, and all when none is
    [ "$(value fig11.csv c2isbm,lru,0,315 5)" = "$(value fig11.csv c2isbm,lru,41,192 5)" ]
    awk -F, '$3 == 105 && ($6 > 1.001 || $4 != 0) { exit 1 }' fig11.csv || fail "$(<fig11.csv)"
    # more pages than there are
    run -2 bbprof -s "$T/o,ut/run/lru/420/own66/c2isbm.csv" "$T/o,ut/run/lru/420/their106/c2isbm.csv" -k
    has "$T/o,ut/list/c2isbm.csv has only 65 of 66 pages: give fewer in OWN"
    has "$T/o,ut/list/interf-420.csv has only 105 of 106 pages: give fewer in THEIRS, or a larger KIB"
    # colours of its own: co-runners change nothing, to the cycle; nor do those whose pages were moved
    [ "$(grep -c ,beside, fig5.csv)" = 3 ]
    same <(awk -F, '$3 == "alone" && $4 < 16 { print $4, $5 }' fig5.csv) <(awk -F, '$3 == "beside" && $4 < 16 { print $4, $5 }' fig5.csv)
    awk -F, 'NR > 1 { took[$3] = $4; part[$3] = $5 } END { exit !(took["alone-4-colours"] == took["beside-4-colours"] &&
        took["alone-12-colours"] == took["beside-12-colours"] && took["beside-moved"] == took["alone-12-colours"] &&
        part["beside"] > 1.1 && part["alone"] == 1) }' fig12.csv || fail "$(<fig12.csv)"
    [[ $(file profile/staircase.png) == *"PNG image data"* ]]
    [ -z "$(find . -name '*.tmp*')" ]
    # what is there is not made again; a figure whose table is gone is, with the table alone
    again() {
        bbprof "$@" "$T/o,ut/fig6.svg" "$T/o,ut/fig9.svg"
    }
    run -0 again -q
    rm fig6.csv trace/staircase.cf
    run -0 again --no-print-directory
    is "  table    fig6.csv"$'\n'"  draw     fig6.svg"
    grep -q ,heap, fig6.csv
    rm profile/staircase.cf
    run -0 again --no-print-directory
    is "  record   trace/staircase.cf"$'\n'"  profile  profile/staircase.cf"$'\n'"  table    fig6.csv"$'\n'"  draw     fig6.svg"
    rm fig9.csv
    run -0 again -s
    is ""
    [ -e fig9.csv ]
    rm fig9.svg
    run -0 again --no-print-directory V=1
    has bbprof-curves.awk
}

@test "a step that fails fails the pipeline" {
    mkdir bin && ln -s "$B"/bin/* bin && rm bin/cf-pages
    printf '#!/bin/sh\nexit 1\n' >bin/cf-pages && chmod +x bin/cf-pages
    need valgrind 'records the programs'
    run ! make -s -C "$ROOT" -f pipelines/bbprof.mk BIN="$T/bin" OUT="$T/out" ITERATIONS=5 "$T/out/fig6.csv"
    [ ! -e out/fig6.csv ] && [ ! -e out/profile/staircase.cf ]
}

@test "gains of a profile whose runtime cannot be read are no figure" {
    mkdir bin
    ln -s "$B"/bin/* bin && rm bin/cf-{cat,rank}
    printf '#!/bin/sh\nexit 1\n' >bin/cf-cat
    printf '#!/bin/sh\nprintf "rank,region,page,gain\\n1,[heap],0,5\\n"\n' >bin/cf-rank
    chmod +x bin/cf-{cat,rank}
    bbprof() { make -s -C "$ROOT" -f pipelines/bbprof.mk BIN="$T/bin" OUT="$T/out" -o "$T/out/profile/staircase.cf" "$T/out/$1"; }
    bbprof machine/lru.yaml
    mkdir out/profile && : >out/profile/staircase.cf
    run -2 bbprof fig6.csv
    [ ! -e out/fig6.csv ]
}
