# SPDX-License-Identifier: BSD-2-Clause
#
# pipelines/explore.mk: slices of two samples through all of it, results checked and looked into. And demo.mk, samples.mk.
load lib

setup_file() {
    local root=$BATS_TEST_DIRNAME/..
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    cd "$BATS_FILE_TMPDIR" || return 1
    mkdir traces
    cf-cat --slice 0-150000 -o traces/cc1.cf "$root/samples/cc1.cf"
    cf-cat --slice 0-150000 -o traces/two-threads.cf "$root/samples/threads.cf"
}

setup() {
    lib_setup
    reached "pipelines of programs that have suites"
    D=$BATS_FILE_TMPDIR
}

explore() {
    make -s -C "$ROOT" -f pipelines/explore.mk BIN="$B/bin" OUT="$T/out" "$@"
}

# picture FILE: a PNG of the right size that is not empty white
picture() {
    [[ $(file "$1") == *"PNG image data, 1120 x 640"* ]] || fail "$1: $(file "$1")"
    # a picture with nothing on it takes some 3 KB
    (($(stat -c %s "$1") > 8000)) || fail "$1 shows nothing: $(stat -c %s "$1") bytes"
}

@test "a folder of traces, in parallel: all tables and pictures" {
    run -0 explore -j2 TRACES="$D/traces"
    has "2 traces: results in"
    local n f
    for n in cc1 two-threads; do
        [[ $(ls "$T/out/$n" | paste -sd' ') == "classes.csv classes.png curve-by-op.csv curve-by-op.png curve-fetches.csv curve-fetches.png curve.csv curve.png functions.csv functions.png lines.csv lines.png sweep.csv sweep.png" ]] ||
            fail "$(ls "$T/out/$n")"
        for f in curve curve-by-op sweep classes functions lines; do picture "$T/out/$n/$f.png"; done
    done
    cd out/cc1
    # the parts agree with each other: of the curve, by operation, sum up to all
    [[ $(head -n 1 curve.csv) == size_bytes,lines,accesses,misses,compulsory_misses,miss_ratio ]]
    awk -F, 'NR > 1 && ($1 == "load" || $1 == "store") && $2 == 4096 { n += $4; m += $5 } END { print n "," m }' curve-by-op.csv >sum
    sed -n 's/^4096,64,\([0-9]*,[0-9]*\),.*/\1/p' curve.csv | same - sum
    # the sweep has both ends
    grep -q '^[0-9]*,1,1024,64,' sweep.csv
    grep -q '^[0-9]*,16,4194304,64,' sweep.csv
    # drawn with its table, and again where the picture alone is missing
    rm "$T/out/cc1/sweep.png"
    explore TRACES="$D/traces"
    picture "$T/out/cc1/sweep.png"
    # this trace has instructions
    (($(wc -l <curve-fetches.csv) > 10))
    [[ $(head -n 1 functions.csv) == rank,function,misses,share_percent,cumulative_percent,knee ]]
    [[ $(head -n 1 lines.csv) == rank,source,misses,share_percent,cumulative_percent,knee ]]
    (($(wc -l <functions.csv) > 2))
}

@test "three machines: classes sum up to misses, and are those of cf-classify" {
    explore TRACES="$D/traces/cc1.cf" "$T/out/cc1/classes.csv"
    cd out/cc1
    [[ $(head -n 1 classes.csv) == machine,* ]]
    [[ $(tail -n +2 classes.csv | cut -d, -f1 | uniq | paste -sd' ') == "raspberry-pi-4 xeon-6230 zynq-ultrascale" ]]
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "misses") m = i
                 if ($i ~ /^(compulsory|capacity|conflict|true_sharing|false_sharing)$/) c[i] } next }
        { s = 0; for (i in c) s += $i; if (s != $m || s == 0) exit 1; rows++ } END { exit rows < 9 }' classes.csv
    cf-classify -q -m xeon-6230 --summary "$D/traces/cc1.cf" | grep ',load,' | sed 's/^/xeon-6230,/' >want
    grep '^xeon-6230,.*,load,' classes.csv | same want -
}

@test "what is there is not made again; a newer trace is explored again" {
    cp -r "$D/traces" .
    explore PICTURES=0 TRACES="$T/traces"
    [[ -z $(find out -name '*.png') && -n $(find out -name sweep.csv) ]]
    run -0 explore -n PICTURES=0 TRACES="$T/traces"
    has_not cf-
    touch -d tomorrow traces/cc1.cf
    run -0 explore -n PICTURES=0 TRACES="$T/traces"
    has cc1/sweep.csv
    has_not two-threads/sweep.csv
}

@test "another trace of the same name: a newer one is explored, one that is not is refused, and the same one elsewhere is none" {
    one() { explore PICTURES=0 MACHINES=tegra-x1 "$@" "$T/out/a/classes.csv"; }
    mkdir first other
    cp "$D/traces/two-threads.cf" first/a.cf
    cp "$D/traces/cc1.cf" other/a.cf
    touch -d yesterday other/a.cf
    one TRACES="$T/first"
    cp out/a/classes.csv before
    for how in -s -n; do
        run -2 one TRACES="$T/other" $how
        has "'$T/other/a.cf' is not the trace that $T/out/a was made of, as far as is known, and not newer: touch it, and all is made again, or give another OUT"
    done
    mv first moved
    run -0 one TRACES="$T/moved"
    # put in place of it, with its time
    mv other/a.cf moved/
    run -2 one TRACES="$T/moved/a.cf"
    has "is not the trace that"
    same before out/a/classes.csv
    touch moved/a.cf
    run -0 one TRACES="$T/moved/a.cf"
    cf-classify -q -m tegra-x1 --summary "$D/traces/cc1.cf" | same - out/a/classes.csv
    # of results that are there without a word nothing is known
    rm -r out/.traces
    run -2 one TRACES="$T/moved"
    run -0 explore TRACES="$T/moved" clean
}

@test "a trace is the same one in a locale of decimal commas" {
    localedef -i de_DE -f UTF-8 "$T/de_DE.UTF-8" 2>/dev/null || skip "no such locale can be made here"
    one() { explore MACHINES=tegra-x1 PICTURES=0 TRACES="$D/traces/cc1.cf" "$T/out/cc1/$1.csv"; }
    one classes
    export LOCPATH=$T LC_ALL=de_DE.UTF-8
    run -0 one classes
    run -0 one sweep
}

@test "a CDPATH in the environment leads to no other folder" {
    mkdir -p here/sub other/sub
    ln "$D/traces/cc1.cf" here/sub/
    ln "$D/traces/two-threads.cf" other/sub/
    for p in explore batch; do
        run -0 env CDPATH="$T/other:." make -s --no-print-directory -C here -f "$ROOT/pipelines/$p.mk" BIN="$B/bin" TRACES=sub \
            OUT=$p MACHINES=tegra-x1 PICTURES=0
        [[ $(ls here/$p | grep -v 'index\|manifest') == cc1 ]]
    done
    cmp here/explore/cc1/curve.csv here/batch/cc1/curve.csv
}

@test "a trace that is changed while results are made of it fails them" {
    printf 'include stored.mk\nRESULTS := a.csv b.csv\n' >own.mk
    printf '$(OUT)/%%/%s.csv: $(FOLDER)/%%.cf\n\t@mkdir -p $(@D)\n\tcf-rank -q --csv --by op $< $(to)\n%s' \
        a $'\t[ ! -e x/edit ] || cp other.cf x/t.cf\n' b '' >>own.mk
    mkdir x
    cf-cat --slice 0-1000 -o x/t.cf "$ROOT/samples/sort.cf"
    cp x/t.cf first.cf
    cf-cat --slice 0-2000 -o other.cf "$ROOT/samples/sort.cf"
    own() { make -s -I "$ROOT/pipelines" -f own.mk BIN="$B/bin" TRACES=x OUT=out "$@"; }
    : >x/edit
    run -2 own
    has "x/t.cf was changed while results were made of it"
    [[ -s out/t/a.csv && ! -e out/t/b.csv && -z $(find out -name '*.tmp') ]] || fail "$(find out)"
    # by whatever name the folder has
    for o in ./two three/ ./four// ../five; do
        cp first.cf x/t.cf
        run -2 own OUT=$o
        has "x/t.cf was changed while results were made of it"
    done
    # or the one that we are in
    mkdir 'a  b%'
    ln -s "$T"/{own.mk,x,other.cf} 'a  b%'
    cp first.cf x/t.cf
    run -2 own OUT=six -C 'a  b%'
    has "x/t.cf was changed while results were made of it"
    rm x/edit
    # it is newer than what was made before
    run -0 own
    cf-rank -q --csv --by op other.cf | tee want | same - out/t/a.csv
    same want out/t/b.csv
}

@test "a picture of an older table goes; results that are no tables are made anew" {
    mkdir few
    cp "$ROOT/samples/sort.cf" few/
    explore() { make -s -C "$ROOT" -f "pipelines/$1" BIN="$B/bin" TRACES="$T/few" OUT="$T/out" "${@:2}"; }
    printf 'include stored.mk\nRESULTS := n.csv n.txt\n$(OUT)/%%/n.csv: $(FOLDER)/%%.cf\n\t@mkdir -p $(@D)\n%s\n%s\n' \
        $'\tcf-rank -q --csv --by op $(call png,Operations) $< $(to)' \
        $'$(OUT)/%/n.txt: $(OUT)/%/n.csv\n\twc -l <$< $(to)' >own.mk
    own() { make -s -I "$ROOT/pipelines" -f own.mk BIN="$B/bin" TRACES="$T/few" OUT="$T/out" "$@"; }
    own
    [[ -s out/sort/n.png && $(<out/sort/n.txt) == "$(wc -l <out/sort/n.csv)" ]]
    cf-cat --slice 0-1000 -o few/sort.cf "$ROOT/samples/sort.cf"
    own PICTURES=0
    [[ ! -e out/sort/n.png && $(<out/sort/n.txt) == "$(wc -l <out/sort/n.csv)" ]]
    for i in 1 2; do
        touch few/sort.cf
        run -0 own
        is "1 traces: results in $T/out"
        [[ -s out/sort/n.png && -s out/sort/n.txt && ! -e out/sort/n.txt.tmp ]]
    done
    # a picture that cannot be given its name: no table either
    mkdir bin
    ln -s "$B"/bin/* bin/
    printf '#!/bin/sh\n[ "${2%%.png}" = "$2" ] && exec /bin/mv "$@"\nexit 1\n' >bin/mv
    chmod +x bin/mv
    rm out/sort/n.csv
    run -2 own BIN="$T/bin"
    [[ ! -e out/sort/n.csv && -z $(find out -name '*tmp*') ]] || fail "$(find out)"
    # nor one that a recipe names and does not make
    sed -i 's/:= n.csv/:= n.png n.csv/; s/ $(call png,Operations)//' own.mk
    rm -rf out
    run -2 own
    has "no picture came with $T/out/sort/n.csv: its rule wants \$(call png,TITLE) and \$(to)"
}

@test "a picture that a stopped run has left behind is not that of a table made without pictures" {
    cp "$D/traces/cc1.cf" .
    one() { explore MACHINES=tegra-x1 TRACES="$T/cc1.cf" "$T/out/cc1/classes.csv" "$@"; }
    one
    mv out/cc1/classes.png out/cc1/classes.tmp.png
    touch cc1.cf
    one PICTURES=0
    [[ $(ls out/cc1) == classes.csv ]] || fail "$(ls out/cc1)"
}

@test "one trace; one machine" {
    run -0 explore PICTURES=0 TRACES="$D/traces/two-threads.cf" MACHINES=leon4-n2x
    [[ $(ls out) == two-threads ]]
    cf-classify -q -m leon4-n2x --summary "$D/traces/two-threads.cf" | same - out/two-threads/classes.csv
}

@test "a trace that knows no functions: the tables that need them fail, and TABLES names the others" {
    printf '%s\n' addr,op,size 0,load,8 64,load,8 0,store,8 | cf-capture csv -q -o import.cf
    run -2 explore -j1 TRACES="$T/import.cf" OUT="$T/all"
    has "has no column 'source'"
    run -0 explore TRACES="$T/import.cf" TABLES='curve.csv sweep.csv'
    [[ $(ls out/import | xargs) == 'curve.csv curve.png sweep.csv sweep.png' ]]
    run -2 explore TRACES="$T/import.cf" TABLES=curve.csv
    has 'was made with TABLES=curve.csv sweep.csv'
}

@test "a damaged trace fails, and leaves no result and no half of one" {
    mkdir bad
    head -c 20000 "$D/traces/cc1.cf" >bad/cut.cf
    run ! explore -k TRACES="$T/bad"
    [[ -z $(find out -type f ! -path '*/.*') ]] || fail "$(find out -type f)"
}

@test "tidy and clean, of more traces than one command takes by their names: what the recipe makes goes, the rest stays" {
    local long n
    long=$(printf '%0240d' 0)
    mkdir many
    for n in {100..199}; do
        ln -s "$D/traces/cc1.cf" "many/$n-$long.cf"
        mkdir -p "out/$n-$long"
        echo 1 | tee "out/$n-$long"/{curve.csv,curve.png,sweep.csv.tmp,sweep.tmp.png,sweep.tmp.png.12.tmp,sweep.csv.tmp.tmp34,kept} >/dev/null
        : >"out/$n-$long/classes.csv"
    done
    rm -r "out/150-$long"
    run -0 explore TRACES="$T/many" tidy
    find out -type f -printf '%f\n' | sort | uniq -c | awk '{ print $2, $1 }' | same - <(printf '%s 99\n' curve.csv curve.png kept)
    run -0 explore TRACES="$T/many" clean
    find out -type f -printf '%f\n' | sort -u | same - <(echo kept)
}

@test "the machine by the variable of another recipe is refused, not passed over or taken for a part of the tables" {
    local r
    run -2 explore TRACES="$D/traces" MACHINE=tegra-x1
    has "MACHINE='tegra-x1': machines are taken here as MACHINES, the first one for rankings"
    for r in bbprof cacheperf; do
        run -2 make -s -C "$ROOT" -f "pipelines/recipe-$r.mk" BIN="$B/bin" OUT="$T/out" TRACES="$D/traces" MACHINES=tegra-x1
        has "MACHINES='tegra-x1': one machine is taken here, MACHINE"
    done
    [[ ! -e out ]] || fail "$(find out)"
}

@test "a folder that has the name of a trace is a folder" {
    mkdir d.cf
    ln "$D/traces/cc1.cf" d.cf/a.cf
    run -0 explore PICTURES=0 TRACES="$T/d.cf" TABLES=classes.csv
    [[ -s out/a/classes.csv ]]
}

@test "no traces: a message" {
    mkdir none
    run ! explore TRACES="$T/none"
    has "no traces"
    run ! explore TRACES="$T/nowhere"
    has "no traces (*.cf) in '$T/nowhere' ls: cannot access"
    run ! explore TRACES="$T/nowhere.cf"
    has "no trace '$T/nowhere.cf'"
    [[ ! -e out ]] || fail "$(find out)"
    run -0 explore TRACES="$T/nowhere.cf" clean
    # nor is a link to none or a folder one, nor a pipe, for whose bytes each program would wait
    local kind
    for kind in "ln -s nowhere" mkdir mkfifo; do
        rm -rf odd
        mkdir odd
        cp "$D/traces/cc1.cf" odd
        $kind odd/gone.cf
        run -2 explore TRACES="$T/odd"
        has "no trace '$T/odd/gone.cf': no regular file is there"
    done
    [[ ! -e out ]] || fail "$(find out)"
}

@test "names that the shell or make would take apart are refused, and nothing of them runs" {
    local n bad=
    for n in 'a b' 'a`touch pwned`' 'a$(touch pwned)' 'a;touch pwned' "it's" 'say"so"' -x 'a=b' 'a:b' 'a%' '#a' \
        '~' $'a\tb' 'a\b' 'a<b' 'a|b' 'a&b' '[a]' 'a*' $'new\nline' '(a)'; do
        rm -rf odd
        mkdir odd
        ln "$D/traces/cc1.cf" "odd/$n.cf"
        run explore PICTURES=0 TRACES="$T/odd"
        [[ $status == 2 && $output == *"rename it or link to it"* ]] || bad+="a trace '$n': $status $output"$'\n'
        [[ $n == -x || $n == *\$* ]] && continue
        run explore PICTURES=0 TRACES="$D/traces" OUT="$T/out/$n"
        [[ $status == 2 && $output == *"rename it or link to it"* ]] || bad+="results in '$n': $status $output"$'\n'
    done
    [[ -z $bad ]] || fail "$bad"
    [[ -z $(find "$T" "$D" "$ROOT" -maxdepth 2 -name pwned) ]]
    [[ ! -e out ]]
    # a folder's other files and what is no such character do no harm
    rm -rf odd
    mkdir odd
    touch 'odd/a b.csv'
    ln "$D/traces/cc1.cf" odd/é-1,@+_.cf
    explore TRACES="$T/odd" "$T/out/é-1,@+_/curve.png"
    picture "$T/out/é-1,@+_/curve.png"
}

@test "no programs, neither in BIN nor in PATH, or none in the BIN that is given: one message says what is missing" {
    local p path=/usr/bin:/bin
    [[ ! -e /usr/bin/cf-cat && ! -e /bin/cf-cat ]] || skip "programs are installed"
    none() { PATH=$path run -2 make -f "$ROOT/pipelines/$p.mk" TRACES="$D/traces" B=build "$@"; }
    for p in explore recipe-bbprof recipe-cacheperf bbprof cacheperf cacheflow modeling demo; do
        none
        has "no cf-cat in BIN, which is 'build/bin/', nor in PATH: cacheflow's programs are missing: build them by 'make', or give"
        has_not "command not found"
        [[ ! -e build ]] || fail "$(find build)"
    done
    # what is given and wrong gives way to none that happen to be in PATH
    p=explore path=$B/bin:$path
    none BIN=none
    has "no cf-cat in BIN, which is 'none': cacheflow's programs are missing"
    none BIN="$ROOT/filters"
    has "no cf-cat in BIN, which is '$ROOT/filters': cacheflow's programs are missing"
    # nothing is made of them here
    p=demo path=/usr/bin:/bin
    PATH=$path run -0 make -n -f "$ROOT/pipelines/demo.mk" B=build
    PATH=$path run -0 make -f "$ROOT/pipelines/explore.mk" B=build TRACES="$D/traces" clean
}

@test "demo.mk: another PROGRAM, or one that was built anew, is recorded in place of the last; a picture that is gone is drawn" {
    need valgrind 'records the programs'
    demo() { make -s -f "$ROOT/pipelines/demo.mk" B=build PROGRAM="./mine '$1'" >shown; }
    command_of() { cf-cat --info build/demo/trace.cf | sed -n 's/^command: //p'; }
    mkdir build
    ln -s "$B/bin" build/bin
    cp /bin/true mine
    # by a line of its own, which is not run where a signal has ended the recording
    run -0 make -n -f "$ROOT/pipelines/demo.mk" B=build PROGRAM=./mine build/demo/trace.cf
    has $'cf-capture trace -o build/demo/trace.cf.tmp -- ./mine\nmv build/demo/trace.cf.tmp build/demo/trace.cf'
    demo one
    cp build/demo/trace.cf first.cf
    demo one
    cmp first.cf build/demo/trace.cf
    demo "two  ;"
    [[ $(command_of) == "\"./mine 'two  ;'\"" && build/demo/functions.csv -nt build/demo/trace.cf ]] || fail "$(command_of)"
    rm build/demo/heatmap.*
    cp build/demo/trace.cf first.cf
    demo "two  ;"
    [[ -s build/demo/heatmap.csv && -s build/demo/heatmap.html && $(file build/demo/heatmap.png) == *PNG* ]]
    cmp first.cf build/demo/trace.cf
    cp /bin/echo mine
    demo "two  ;"
    run ! cmp -s first.cf build/demo/trace.cf
    [[ -z $(find build/demo -name '*.tmp*') ]]
}

@test "samples.mk runs its program under a private name, not a fixed one that others may have taken" {
    mkdir bin bench tmp
    touch bench/bench_threads
    cat >bin/cf-capture <<END
#!/bin/bash
for last; do :; done
[[ -f \$last ]] && stat -c '%a %n' "\${last%/*}" >>$T/ran
END
    chmod +x bin/cf-capture
    # twice: what the first has left would show
    TMPDIR=$T/tmp make -s -C "$ROOT" -f pipelines/samples.mk BIN="$T/bin" B="$T" samples/threads.cf
    TMPDIR=$T/tmp make -s -C "$ROOT" -f pipelines/samples.mk BIN="$T/bin" B="$T" samples/threads.cf
    [[ $(grep -c "^700 $T/tmp/" ran) == 2 ]] || fail "$(cat ran)"
    [[ $(sort -u ran | wc -l) == 2 && -z $(ls tmp) ]]
}
