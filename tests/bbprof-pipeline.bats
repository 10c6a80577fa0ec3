# SPDX-License-Identifier: BSD-2-Clause
#
# pipelines/bbprof.mk on its smallest programs, and what draws its curves.
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

@test "staircase and two image programs, one other input: all figures" {
    need valgrind 'records the programs'
    run -0 --separate-stderr make -s -j2 -C "$ROOT" -f pipelines/bbprof.mk BIN="$B/bin" OUT="$T/out" PROGRAMS="disparity tracking" SIZES=sqcif \
        INPUTS=nor1 ITERATIONS=5 SHIFTS=1
    cd out
    is "results in $T/out"$'\n'"$(<workingset.csv)"
    # five steps of 20 heap pages, the best first
    awk -F, 'NR > 1 { step = 6 - int((NR + 18) / 20); bad += $2 != "heap" || int(($3 + 0) / 20) < step - 2 || $4 > last && NR > 2; last = $4 }
        END { exit bad || NR != 101 }' fig6.csv || fail "$(<fig6.csv)"
    # the best k: all of them are best, and nearly nothing is not
    awk -F, 'NR > 1 { n[$1]++; bad += $3 != n[$1] || $5 > 1 || ($3 == 1 && $5 != 1); least[$1] = $5 }
        END { exit bad || length(n) != 2 || least["disparity"] > .5 || least["tracking"] > .5 }' fig8.csv || fail "$(<fig8.csv)"
    [ "$(cut -d, -f1-2 fig9.csv | sort -u | wc -l)" = 5 ]
    # of the input itself, the order is its own: both figures have the same cycles
    diff <(awk -F, '$2 == "def" && $3 > 0 { print $1, $3, $4 }' fig9.csv) <(awk -F, 'NR > 1 { print $1, $3, $4 }' fig8.csv)
    awk -F, '$3 == "spearman" { n++; bad += $5 < .85 } END { exit bad || n != 2 }' orders.csv || fail "$(<orders.csv)"
    awk -F, 'NR > 1 { n++; bad += $3 < 1 || $3 > $2 } END { exit bad || n != 3 }' workingset.csv || fail "$(<workingset.csv)"
    local f
    for f in fig6 fig7 fig8 fig9; do
        grep -q '^<path fill="none"' $f.svg || fail "$f.svg has no curve"
    done
    [[ $(file profile/staircase.png) == *"PNG image data"* ]]
    [ -z "$(find . -name '*.tmp*')" ]
}

@test "a step that fails fails the pipeline" {
    mkdir bin && ln -s "$B"/bin/* bin && rm bin/cf-pages
    printf '#!/bin/sh\nexit 1\n' >bin/cf-pages && chmod +x bin/cf-pages
    need valgrind 'records the programs'
    run ! make -s -C "$ROOT" -f pipelines/bbprof.mk BIN="$T/bin" OUT="$T/out" ITERATIONS=5 "$T/out/fig6.csv"
    [ ! -e out/fig6.csv ] && [ ! -e out/profile/staircase.cf ]
}
