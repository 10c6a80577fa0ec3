# SPDX-License-Identifier: BSD-2-Clause
#
# pipelines/settings.mk: a pipeline that is run again in the same OUT makes nothing with the same settings, and is
# refused with others. By results of each that take no time.
load lib

# pipeline NAME RESULT [ARGUMENT...]: one result in OUT, which is $T/out, or the folder that IN names
pipeline() {
    local out=$T/${IN:-out}
    make --no-print-directory -C "$ROOT" -f "pipelines/$1.mk" BIN="$BIN" OUT="$out" "$out/$2" "${@:3}"
}

# exported SETTING NAME RESULT [ARGUMENT...]: the same, with SETTING in the environment alone
exported() {
    export "${1?}"
    pipeline "${@:2}"
}

# keeps NAME RESULT SETTING OTHER [ARGUMENT...]: what was made with SETTING is refused to OTHER, a value of the same
keeps() {
    local name=$1 result=$2 setting=$3 other=$4 how
    set -- "$name" "$result" "${@:5}"
    run -0 pipeline "$@" "$setting" -n
    run -1 pipeline "$@" "$setting" -q
    run pipeline "$@" "$setting" -t
    [[ ! -e out ]] || fail "$name: -n, -q or -t has made $(find out)"
    run -0 pipeline "$@" "$setting"
    [[ -e out/$result && -s out/.settings ]] || fail "$name: $(find out)"
    stat -c %y "out/$result" out/.settings >made
    # the same, from the environment as well
    run -0 pipeline "$@" "$setting"
    run -0 exported "$setting" "$@"
    # another
    for how in -s -n; do
        run -2 pipeline "$@" "$other" $how
        has "what is in $T/out was made with $setting, and now is given $other: give another OUT, or remove it"
    done
    run -2 exported "$other" "$@"
    has "was made with $setting, and now is given $other:"
    stat -c %y "out/$result" out/.settings | same made -
    IN=other run -0 pipeline "$@" "$other"
    [[ -e other/$result ]] || fail "$name: $(find other)"
}

@test "recipes for stored traces: other settings are refused; after clean they are not; a recipe without any is none" {
    mkdir traces
    cf-cat --slice 0-1000 -o traces/sort.cf "$ROOT/samples/sort.cf"
    keeps explore sort/classes.csv MACHINES=tegra-x1 "MACHINES=tegra-x1 xeon-6230" PICTURES=0 TRACES="$T/traces"
    # how it is shown, and of which traces, is none
    run -0 pipeline explore sort/classes.csv MACHINES=tegra-x1 PICTURES=1 TRACES="$T/traces/sort.cf"
    run -0 make -C "$ROOT" -f pipelines/explore.mk BIN="$BIN" OUT="$T/out" TRACES="$T/traces" MACHINES=tegra-x1 clean
    run -0 pipeline explore sort/classes.csv MACHINES=xeon-6230 PICTURES=0 TRACES="$T/traces"
    [[ -s out/sort/classes.csv ]]
    printf 'include stored.mk\nRESULTS := n.csv\n$(OUT)/%%/n.csv: $(FOLDER)/%%.cf\n\t@mkdir -p $(@D)\n%s\n' \
        $'\tcf-rank -q --csv --by op $< $(to)' >own.mk
    # LIST is for batch.mk
    echo mine >list
    for i in 1 2; do LIST=list run -0 make -s -I "$ROOT/pipelines" -f own.mk BIN="$B/bin" TRACES=traces OUT=own; done
    [[ $(<list) == mine && -s own/.settings ]]
    [[ -s own/sort/n.csv ]]
}

@test "cacheflow.mk: other settings are refused" {
    keeps cacheflow script.sql ROWS=5 ROWS=6
}

@test "cacheperf.mk: other settings are refused" {
    keeps cacheperf real/script.sql SEEDS=2 SEEDS=20
}

@test "modeling.mk: other settings are refused" {
    keeps modeling random/1.yaml MACHINES=2 MACHINES=20
}

@test "bbprof.mk, and bbprof-beside.mk: other settings are refused" {
    keeps bbprof machine/lru.yaml SIZES=sqcif "SIZES=sqcif qcif"
    rm -r out other
    keeps bbprof machine/lru.yaml STORES=9 STORES=10
    # those that bbprof-beside.sh has from the environment
    for setting in PASSES=2 SETTLED=9 UNSETTLED=9; do
        IN=other run -2 exported $setting bbprof machine/lru.yaml STORES=10
        has "now is given $setting"
        unset ${setting%%=*}
    done
}

@test "leon4.mk: other settings are refused" {
    # a compiler that makes nothing
    keeps leon4 fits.elf FORMSARGS=--post FORMSARGS=--lock LEON='touch $@ #'
}

@test "a variable of the command line that no makefile of the pipeline has, as where it is misspelt, is named" {
    run -0 pipeline cacheperf real/script.sql SEED=2 SEEDS=2 V=1 "it's=x" -s
    has "SEED='2': pipelines/cacheperf.mk has no variable of this name: is it misspelt?"
    has "it's='x': pipelines/cacheperf.mk has no variable of this name"
    has_not "SEEDS"
    has_not "V="
    # of a program there may be any, and what comments alone have is none
    IN=other run -0 pipeline cacheflow script.sql ROWS=5 COMMAND_mine=true REPL=1 -s
    has "REPL='1': pipelines/cacheflow.mk has"
    has_not COMMAND_mine
    # the file that has it is included
    IN=third run -0 pipeline bbprof machine/lru.yaml STORES=9
    has_not misspelt
}

@test "results of programs of another version are refused, as those of other settings are" {
    mkdir bin
    for v in 1 2; do
        printf '#!/bin/sh\necho "cf-cat (cacheflow) %s"\n' $v >bin/cf-cat
        chmod +x bin/cf-cat
        BIN=$T/bin IN=out$v run -0 pipeline cacheflow script.sql ROWS=5
        BIN=$T/bin IN=out$v run -0 pipeline cacheflow script.sql ROWS=5
    done
    BIN=$T/bin IN=out1 run -2 pipeline cacheflow script.sql ROWS=5
    has "was made with cf-cat (cacheflow) 1, and now is given cf-cat (cacheflow) 2: give another OUT, or remove it"
}

@test "a folder whose name the shell or make would take apart is refused by each" {
    for name in explore cacheflow cacheperf bbprof modeling leon4 demo; do
        IN="b l" run -2 pipeline $name none -n
        has "'$T/b l': a name with a blank, a leading '-' or a character of the shell's or make's own: rename it or link to it"
    done
    [[ ! -e "b l" && ! -e b ]]
}

@test "an empty OUT is not the root of all folders" {
    for name in explore cacheflow cacheperf bbprof modeling leon4 demo; do
        run -2 make -C "$ROOT" -f pipelines/$name.mk BIN="$BIN" TRACES=samples OUT= -n
        has "OUT is empty, which would be the root of all folders: give one"
    done
}

@test "a default that is given is no other setting, and blanks, BIN, V and PICTURES are none" {
    pipeline cacheflow script.sql ROWS=5
    ln -s "$BIN" bin
    run -0 pipeline cacheflow script.sql ROWS=5 TEXT=60000 'PROGRAMS=gzip  sort sqlite3 cc1 ' BIN="$T/bin" V=1 PICTURES=0
    run -2 pipeline cacheflow script.sql ROWS=5 TEXT=6000
    has "made with TEXT=60000, and now is given TEXT=6000:"
    # nor is how the file ends
    echo >>out/.settings
    run -0 pipeline cacheflow script.sql ROWS=5
}

@test "a setting that no makefile has, with characters of make's own: seen, shown, and not run" {
    unset CC
    local odd='COMMAND_mine=a "$(shell touch '"$T"'/ran)" # 50% ~_ ~t $$(b)'
    pipeline cacheflow script.sql ROWS=5
    run -2 pipeline cacheflow script.sql ROWS=5 "$odd"
    has "was made with the defaults, and now is given $odd:"
    [[ ! -e ran ]]
    run -2 exported COMMAND_mine=a cacheflow script.sql ROWS=5
    has "was made with the defaults, and now is given COMMAND_mine=a:"
    run -2 pipeline cacheflow script.sql ROWS=5 CC=clang
    has "was made with the defaults, and now is given CC=clang:"
    run -2 exported CC=clang cacheflow script.sql ROWS=5
    has "was made with the defaults, and now is given CC=clang:"
    unset CC
    IN=odd pipeline cacheflow script.sql ROWS=5 "$odd"
    IN=odd run -0 pipeline cacheflow script.sql ROWS=5 "$odd"
    IN=odd run -2 pipeline cacheflow script.sql ROWS=5 "${odd/50%/5%}"
    has "was made with $odd, and now is given ${odd/50%/5%}:"
    IN=odd run -2 pipeline cacheflow script.sql ROWS=5
    has "was made with $odd, and now is given the defaults:"
}

@test "a file that a setting names and that was changed: refused as another setting; one that the pipeline makes is none" {
    local file="$T/it's~5%.yaml" was
    printf 'line_size: 64\nlevels:\n  - {name: L1, size: 4KiB, ways: 2}\n' | tee "$file" >m.yaml
    for name in bbprof cacheflow cacheperf "explore TRACES=$ROOT/samples/gzip.cf"; do
        # shellcheck disable=SC2086 # a name, and an argument
        set -- ${name%% *} none ${name#"${name%% *}"} LISTED="tegra-x1 $T/m.yaml" COMMAND_x="a $file"
        IN=$1 run -2 pipeline "$@"
        : >"$1/none"
        printf '# more\n' >>"$file"
        IN=$1 run -2 pipeline "$@"
        has "what is in $T/$1 was made with $file (checksum $(head -n 3 "$file" | cksum | cut -d' ' -f1)), and now is given $file (checksum"
        head -n 3 m.yaml >"$file"
        IN=$1 run pipeline "$@"
        has_not "was made with"
        sed -i s/4KiB/8KiB/ m.yaml
        IN=$1 run -2 pipeline "$@"
        has "was made with $T/m.yaml (checksum "
        sed -i s/8KiB/4KiB/ m.yaml
    done
    pipeline cacheflow script.sql ROWS=5 COMMAND_x="sort $T/out/script.sql"
    run -0 pipeline cacheflow script.sql ROWS=5 COMMAND_x="sort $T/out/script.sql"
    # nor with a realpath that has no options of GNU's
    mkdir bin
    printf '#!/bin/sh\necho "realpath: $1: No such file or directory" >&2\nexit 1\n' >bin/realpath
    chmod +x bin/realpath
    for i in 1 2; do
        IN=other PATH=$T/bin:$PATH run -0 pipeline cacheflow script.sql ROWS=5 COMMAND_x="sort $T/out/../other/script.sql"
        has_not realpath
    done
}

@test "a file that a setting names is changed during a run: what is made after that is refused, even when it is put back" {
    local file="$T/it's a~5%.yaml"
    printf 'include stored.mk\nRESULTS := a.csv b.csv\n' >own.mk
    cat >>own.mk <<'END'
$(OUT)/%/a.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D) && cat $(LISTED) $(to)
$(OUT)/%/b.csv: $(FOLDER)/%.cf
	@[ -e edited ] || { touch edited; cp $(LISTED) was; sleep .1; cp was $(LISTED); }
	cat $(LISTED) $(to)
END
    cp "$ROOT/samples/gzip.cf" x.cf
    # that of busybox prints the number of seconds without fractions: within one, it is the same
    mkdir bin
    printf '#!/bin/sh\n[ "$3" != %%.9Y ] || { echo 1; exit; }\nexec %s "$@"\n' "$(type -P stat)" >bin/stat
    chmod +x bin/stat
    own() { PATH=$T/bin:$PATH make --no-print-directory -I "$ROOT/pipelines" -f own.mk BIN="$B/bin" TRACES=x.cf OUT=own LISTED="\"$file\"" "$@"; }
    echo one >"$file"
    run -2 own
    has "own: a file that a setting names was changed while results were made of it"
    [[ $(<own/x/a.csv) == one && ! -e own/x/b.csv && ! -e own/x/b.csv.tmp ]]
    run -0 own
    [[ $(<own/x/b.csv) == one ]]
}

@test "a file that a setting names in quotes, behind < or = is seen, too" {
    local words folder=out file="$T/a b"
    for words in "'$file'" "<'$file'" "--in='$file'" "sh -c 'x <$T/m.yaml'"; do
        [[ $words != *m.yaml* ]] || file=$T/m.yaml
        echo 1 >"$file"
        folder+=1
        IN=$folder pipeline cacheflow script.sql ROWS=5 COMMAND_x="x $words"
        IN=$folder run -0 pipeline cacheflow script.sql ROWS=5 COMMAND_x="x $words"
        echo 2 >"$file"
        IN=$folder run -2 pipeline cacheflow script.sql ROWS=5 COMMAND_x="x $words"
        has "was made with $file (checksum $(echo 1 | cksum | cut -d' ' -f1)), and now is given $file (checksum"
    done
}

@test "a second run in the same OUT while one is at work: refused, and the first is not disturbed" {
    printf '%s\n' 'all: $(OUT)/a $(OUT)/b' '$(OUT)/a: ; echo >$@; while [ -e hold ]; do sleep .02; done' \
        'again = $(MAKE)' '$(OUT)/b: ; $(again) -f small.mk OUT=$(OUT) $(OUT)/c && echo >$@' '$(OUT)/c: ; echo >$@' \
        "include $ROOT/pipelines/settings.mk" >small.mk
    : >hold
    make -f small.mk OUT=out >one 2>&1 3>&- &
    until [[ -e out/a ]]; do kill -0 $! && sleep .02 || fail "$(<one)"; done
    for i in 1 2; do
        run -2 make -f small.mk OUT=out
        has "process $! is at work in out: wait for its end, or give another OUT"
    done
    # nor are the settings its own while there is no file yet
    mv out/a kept
    cp out/.settings before
    run -2 make -f small.mk OUT=out A=1
    has "process $! is at work in out"
    same before out/.settings
    mv kept out/a
    run -0 make -f small.mk OUT=out -n
    run -0 make -f small.mk OUT=other other/c
    rm hold
    wait $! || fail "$(<one)"
    [[ -e out/b && -e out/c ]] || fail "$(cat one; ls out)"
    # the same number, but another process
    sed -i 's/ .*/ 1/' out/.run
    run -0 make -f small.mk OUT=out
    read -r pid when <out/.run
    echo "$$ $when" >out/.run
    run -0 make -f small.mk OUT=out
}

@test "a compiler that fails amidst a program leaves none that the next run would take for whole" {
    printf '%s\n' '#!/bin/sh' 'while [ "$1" != -o ]; do shift; done' 'echo half >"$2"' 'exit 1' >cc
    chmod +x cc
    for made in "cacheperf program/adi.0" "cacheperf cost" "bbprof program/staircase" "cacheflow synth"; do
        run ! pipeline $made CC="$T/cc"
        [[ -z $(find out -name "${made##*[/ ]}") ]] || fail "$made" "$(find out)"
        rm -r out
    done
}

@test "a number of samples, seeds, lines or rows that is none is refused, not taken for 0" {
    for setting in SAMPLES=5e4 SEEDS=x SEEDS=0 LASTING=1s RUNS=1e1 RUNS=-1 TEXT=many "ROWS=1 2"; do
        run -2 pipeline cacheperf real/text.txt "$setting"
        has "${setting%%=*}='${setting#*=}' is no number from 1 on: give how many"
    done
    for setting in TEXT=x ROWS= TIME=1M; do
        run -2 pipeline cacheflow script.sql "$setting"
        has "${setting%%=*}='${setting#*=}' is no number from 1 on: give how many"
    done
    [[ ! -e out ]]
    run -0 pipeline cacheflow text.txt 'TEXT= 2 '
    [[ $(wc -l <out/text.txt) == 2 ]]
}

@test "files that nothing is known of are refused; where nothing was made, the settings are those of the next run" {
    mkdir out
    run -2 pipeline cacheflow no-such-result ROWS=5
    pipeline cacheflow script.sql ROWS=6
    rm out/.settings
    run -2 pipeline cacheflow script.sql ROWS=6
    has "$T/out has files, and no .settings that says what they were made with: give another OUT, or remove it"
    [[ ! -e out/.settings ]]
}

@test "what removes results is for any" {
    printf '%s\n' 'A ?= 1' 'all: ; touch $(OUT)/made' 'clean: ; rm -f $(OUT)/made' "include $ROOT/pipelines/settings.mk" >small.mk
    make -f small.mk OUT=out
    run -2 make -f small.mk OUT=out A=2
    run -0 make -f small.mk OUT=out A=2 clean
    run -0 make -f small.mk OUT=out A=2
    grep -q A=2 out/.settings
}

@test "results of a board are in a folder of their own" {
    mkdir b
    run -0 make -C "$ROOT" -f pipelines/cacheflow.mk B="$T/b" BIN="$BIN" ROWS=5 "$T/b/cacheflow/script.sql"
    run -0 make -C "$ROOT" -f pipelines/cacheflow.mk B="$T/b" BIN="$BIN" ROWS=5 DEVICE=/dev/none "$T/b/cacheflow-board/script.sql"
    grep -q DEVICE=/dev/none b/cacheflow-board/.settings
    # that one is asked for from the environment, too
    IN=b/cacheflow run -2 exported DEVICE=/dev/none cacheflow script.sql ROWS=5
    has "now is given DEVICE=/dev/none"
}
