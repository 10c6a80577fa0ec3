# SPDX-License-Identifier: BSD-2-Clause
#
# pipelines/batch.mk: every trace of a folder through a recipe, here, on hosts, on a cluster. Whatever
# starts the workers, and whatever was killed before, the results have the same bytes.
# Takes long: a cluster whose node dies.
load lib

setup_file() {
    local root=$BATS_TEST_DIRNAME/.. n
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    cd "$BATS_FILE_TMPDIR" || return 1
    mkdir traces
    for n in 0 1 2 3 4 5 6 7 8 9; do cf-cat --slice "${n}0000-${n}9999" -o "traces/sort-$n.cf" "$root/samples/sort.cf"; done
    cat >pages.mk <<END
include stored.mk
RESULTS := pages.csv curve.csv \$(call pictures,pages.csv)
BY      ?= page
\$(OUT)/%/pages.csv: \$(FOLDER)/%.cf
	@mkdir -p \$(@D)
	cf-resolve -q \$< | cf-rank -q --csv --by \$(BY) \$(call png,Pages) \$(to)
\$(OUT)/%/curve.csv: \$(FOLDER)/%.cf
	@mkdir -p \$(@D)
	{ cf-distance -q \$< | cf-mrc -q && while [ -e $BATS_FILE_TMPDIR/hold/\$* ]; do sleep .02; done; } \$(to)
END
    mkdir hold
    # what all others are compared with: the recipe, without batch.mk
    make -s -I "$root/pipelines" -f pages.mk BIN="$B/bin" TRACES=traces OUT=plain PICTURES=0
}

setup() {
    lib_setup
    reached "pipelines of programs that have suites"
    D=$BATS_FILE_TMPDIR
    PAGES=$D/pages.mk
    need xxhsum "hashes of traces"
    rm -f "$D"/hold/*
}

batch() {
    make -s --no-print-directory -C "$ROOT" -f pipelines/batch.mk BIN="$B/bin" TRACES="${TRACES-$D/traces}" OUT="$T/out" RECIPE="$PAGES" PICTURES=0 "$@"
}

# results: OUT has the results of the plain run, and nothing under their names that is not theirs
results() {
    diff -r -x ".*" -x index.html -x manifest.csv "$D/plain" "$T/out" >diff.txt || fail "$(cat diff.txt)"
}

# few N: the first N traces alone, in a folder of this test
few() {
    mkdir -p few
    for ((n = 0; n < $1; n++)); do cp -p "$D/traces/sort-$n.cf" few/; done
    TRACES=$T/few
}

@test "ten traces with two workers: the results of a plain run, a manifest, a page" {
    run -0 batch -j2
    is "10 whole"
    results
    [[ $(head -n 1 out/manifest.csv) == bytes,modified,xxh128,records,clock,source,name,command ]]
    (($(wc -l <out/manifest.csv) == 11))
    local bytes hash records rest
    IFS=, read -r bytes _ hash records rest < <(grep ',"sort-3",' out/manifest.csv)
    [[ $bytes == "$(stat -c %s "$D/traces/sort-3.cf")" && "$hash  -" == "$(xxhsum -H2 <"$D/traces/sort-3.cf" | sed 's/stdin/-/')" ]]
    [[ $records == "$(cf-cat --count "$D/traces/sort-3.cf" 2>/dev/null || cf-cat -q --csv --table access "$D/traces/sort-3.cf" | sed 1d | wc -l)" ]]
    [[ $rest == 'instructions,cf-capture-trace,"sort-3","sort /usr/share/common-licenses/GPL-3"' ]]
    grep -qF "<td title=\"XXH128 $hash\">sort-3<td>whole<td class=n>$records<td class=n>$bytes<td class=c>sort /usr/share" out/index.html
    [[ $(grep -o '<tr class=whole>' out/index.html | wc -l) == 10 ]]
    grep -qF '<a href="sort-9/curve.csv">' out/index.html
    # nothing is made again, and nothing else than results is under a trace's name
    find out -name '*.csv' -newer out/index.html -o -name '*.csv' ! -name manifest.csv -printf '%p %T@\n' | sort >before
    run -0 batch
    find out -name '*.csv' -newer out/index.html -o -name '*.csv' ! -name manifest.csv -printf '%p %T@\n' | sort | same before -
    [[ $(ls -A out/sort-0 | paste -sd' ') == ".batch curve.csv pages.csv" ]] || fail "$(ls -A out/sort-0)"
    run -0 batch status
    [[ ${lines[-1]} == "10 whole" ]]
}

@test "recipes by name: explore, cacheperf, bbprof, with their pictures on the page" {
    need gcc
    few 1
    for r in explore cacheperf bbprof; do
        run -0 batch RECIPE=$r PICTURES=1 OUT="$T/$r"
        [[ $r == cacheperf || $output == "1 whole" ]] || fail "$output"
    done
    # what makes results of few samples doubtful is said, then and later, and on the page
    run -0 batch RECIPE=cacheperf PICTURES=1 OUT="$T/cacheperf"
    has "batch: sort-0: whole: cf-report: no finding: "
    run -0 batch RECIPE=cacheperf PICTURES=1 OUT="$T/cacheperf" status
    has "whole	sort-0	cf-report: no finding: "
    grep -qF '<td>whole<br>cf-report: no finding: ' cacheperf/index.html
    grep -q '^cf-classify: [0-9]* samples\{0,1\}: with fewer than 1000 ' cacheperf/sort-0/log
    make -s -C "$ROOT" -f pipelines/explore.mk BIN="$B/bin" TRACES="$TRACES" OUT="$T/plain" PICTURES=0
    for f in plain/sort-0/*.csv; do cmp "$f" "explore/sort-0/${f##*/}"; done
    grep -qF '<img loading=lazy src="sort-0/curve.png"' explore/index.html
    [[ $(file explore/sort-0/curve.png) == *PNG* && -s bbprof/sort-0/pages.png && -s cacheperf/sort-0/findings.html ]]
    # the recipe of OUT is taken up without its name, and another is refused
    run -0 make -s -C "$ROOT" -f pipelines/batch.mk BIN="$B/bin" TRACES="$TRACES" OUT="$T/bbprof" PICTURES=1
    is "1 whole"
    run -2 batch RECIPE=explore OUT="$T/bbprof"
    has "holds results of recipe bbprof: give another OUT"
}

@test "more traces than one command takes by their names: all have their state, and are on the page" {
    local long n
    long=$(printf '%0200d' 0)
    mkdir many
    for n in {1000..1699}; do ln -s "$D/traces/sort-0.cf" "many/$n-$long.cf"; done
    TRACES=$T/many run -2 batch begin end
    has "700 missing"
    [[ $(grep -c "<tr class=missing>" out/index.html) == 700 ]]
    # of one of them there is a result
    TRACES=$T/many run -0 batch one NAME="1500-$long"
    TRACES=$T/many run -2 batch -j2 status
    has "1 whole, 699 missing"
}

@test "a damaged trace fails with its message; the others are whole; mended, it is refused until it is taken" {
    few 2
    head -c 9000 "$D/traces/sort-2.cf" >few/sort-2.cf
    run -2 batch
    # the program that read it, not one behind that in the pipe
    has "sort-2: failed: cf-resolve: $T/few/sort-2.cf: byte "
    has "2 whole, 1 failed"
    [[ ! -e out/sort-2/curve.csv && ! -e out/sort-2/pages.csv && -s out/sort-0/curve.csv ]]
    grep -q '<tr class=failed>' out/index.html
    run -2 batch status
    has "sort-2	cf-"
    cp "$D/traces/sort-2.cf" few/
    run -2 batch status
    has "2 whole, 1 changed"
    run -2 batch
    has "sort-2: not the trace of the manifest: $(stat -c %s few/sort-2.cf) bytes"
    [[ ! -e out/sort-2/curve.csv ]]
    run -0 batch manifest
    grep -q "^$(stat -c %s few/sort-2.cf),.*,\"sort-2\"," out/manifest.csv
    run -0 batch
    is "3 whole"
    cmp out/sort-2/curve.csv "$D/plain/sort-2/curve.csv"
}

@test "a trace of other bytes and the same size is seen by its hash; another time alone is none" {
    few 1
    batch
    touch few/sort-0.cf
    run -0 batch
    is "1 whole"
    # a byte of the compressed records
    printf 'X' | dd of=few/sort-0.cf bs=1 seek=9000 conv=notrunc status=none
    run -2 batch
    has "sort-0: not the trace of the manifest"
}

@test "a manifest that came with the traces: what it does not know or knows otherwise is refused" {
    few 2
    batch
    mv out/manifest.csv came.csv
    rm -r out
    run -0 batch MANIFEST="$T/came.csv"
    is "2 whole"
    rm -r out
    cp "$D/traces/sort-5.cf" few/
    cp "$D/traces/sort-6.cf" few/sort-1.cf
    run -2 batch MANIFEST="$T/came.csv"
    has "sort-5: not in $T/came.csv"
    has "sort-1: not the trace of $T/came.csv"
    has "1 whole, 2 failed"
    # also where OUT knows the trace
    cp -p "$D/traces/sort-1.cf" few/
    rm few/sort-5.cf
    run -0 batch MANIFEST="$T/came.csv"
    sed 's/,[0-9a-f]*,/,0123,/' came.csv >other.csv
    run -2 batch MANIFEST="$T/other.csv" status
    has "changed	sort-0	not the trace of $T/other.csv"
    has "2 changed"
    run -2 batch MANIFEST="$T/none.csv" status
    has "none.csv is no manifest"
    run -2 batch MANIFEST="$T/other.csv"
    has "sort-0: not the trace of $T/other.csv"
    has "2 failed"
    # and what it knows, but is not there
    rm few/sort-1.cf
    run -2 batch MANIFEST="$T/came.csv"
    has "sort-1: absent: in $T/came.csv, not in $TRACES"
    has "1 whole, 1 absent"
    grep -q '<tr class=absent>' out/index.html
    run -2 batch MANIFEST="$T/came.csv" status
    has "1 whole, 1 absent"
    rm -r out
    # also by a worker on another host, which has nothing of the environment here
    MANIFEST=$T/other.csv batch begin
    run -2 out/.batch/run one NAME=sort-0
    has "sort-0: not the trace of $T/other.csv"
    # what the batch itself writes says nothing of what came
    cp other.csv out/manifest.csv
    ln -s out/manifest.csv link.csv
    for m in out/manifest.csv link.csv; do
        run -2 batch MANIFEST="$T/$m"
        has "MANIFEST=$T/$m is the file that the batch writes"
    done
    same other.csv out/manifest.csv
    rm -r out
    echo name,size >came.csv
    for m in came none; do
        run -2 batch MANIFEST="$T/$m.csv"
        has "$m.csv is no manifest, whose first line is bytes,modified"
        [[ ! -e out ]]
    done
}

@test "a trace by any name is a trace: when it is another, nothing else is made anew" {
    few 1
    cp few/sort-0.cf few/any.cf
    run -0 batch RECIPE=explore MACHINES=tegra-x1
    cp out/.batch/key before
    cp "$D/traces/sort-1.cf" few/any.cf
    run -2 batch RECIPE=explore MACHINES=tegra-x1
    has "1 whole, 1 changed"
    cmp before out/.batch/key
}

@test "a trace whose name is no UTF-8: its links on the page lead to its results" {
    few 1
    mv few/sort-0.cf few/$'n\xff\xc3\xa9.cf'
    run -0 batch
    grep -aq 'href="n%FF%C3%A9/curve.csv"' out/index.html || fail "$(grep -ao 'href="[^"]*"' out/index.html)"
    [[ -s out/$'n\xff\xc3\xa9/curve.csv' ]]
}

@test "a folder that has the name of a trace is a folder" {
    few 1
    mv few d.cf
    TRACES=$T/d.cf run -0 batch
    is "1 whole"
    TRACES=$T/d.cf run -0 batch status
    has "1 whole"
    cmp out/sort-0/curve.csv "$D/plain/sort-0/curve.csv"
}

@test "a trace that is a link: the file behind it counts; one that is no file is refused" {
    mkdir links
    cp "$D/traces/sort-0.cf" kept.cf
    ln -s ../kept.cf links/a.cf
    TRACES=$T/links run -0 batch
    grep -q "^$(stat -c %s kept.cf)," out/manifest.csv
    # nor is it whole while nothing is behind it
    mv kept.cf gone.cf
    TRACES=$T/links run -2 batch status
    has "1 changed"
    cp "$D/traces/sort-1.cf" kept.cf
    TRACES=$T/links run -2 batch status
    has "1 changed"
    TRACES=$T/links run -2 batch
    has "a: not the trace of the manifest"
    rm links/a.cf
    mkfifo links/a.cf
    TRACES=$T/links run -2 batch
    has "a.cf is no regular file"
    TRACES=$T/links run -2 batch manifest
    has "cannot read $T/links/a.cf"
}

@test "status: another time alone is none, other bytes of the same size are, and so is a result without bytes" {
    few 1
    batch
    touch few/sort-0.cf
    run -0 batch status
    has "1 whole"
    : >out/sort-0/curve.csv
    run -2 batch status
    has "1 missing"
    run -0 batch
    cmp out/sort-0/curve.csv "$D/plain/sort-0/curve.csv"
    printf 'X' | dd of=few/sort-0.cf bs=1 seek=9000 conv=notrunc status=none
    run -2 batch status
    has "1 changed"
}

@test "a trace is the same one in a locale of decimal commas" {
    localedef -i de_DE -f UTF-8 "$T/de_DE.UTF-8" 2>/dev/null || skip "no such locale can be made here"
    few 1
    export LOCPATH=$T LC_ALL=de_DE.UTF-8
    run -0 batch
    run -0 batch status
    has "1 whole"
    [[ $(cut -d, -f3 out/sort-0/.batch/manifest) == "$(xxhsum -H2 <few/sort-0.cf | cut -d ' ' -f 1)" ]]
    LC_ALL=C run -0 batch
}

@test "a trace that is changed while its results are made: they are not whole" {
    few 1
    touch "$D/hold/sort-0"
    batch >one.txt 2>&1 3>&- &
    until_ test -s out/sort-0/curve.csv.tmp # it has been read
    printf 'X' | dd of=few/sort-0.cf bs=1 seek=9000 conv=notrunc status=none
    rm "$D/hold/sort-0"
    wait
    grep -qF "sort-0.cf was changed while its results were made" one.txt
    [[ ! -e out/sort-0/.batch/whole ]]
    run -2 batch status
    has "1 changed"
}

@test "a file that a variable names is changed while results are made: they are not whole, and are made anew when it is as it was" {
    few 1
    echo one >given
    touch "$D/hold/sort-0"
    batch LISTED="$T/given" >one.txt 2>&1 3>&- &
    until_ test -s out/sort-0/curve.csv.tmp
    echo two >given
    rm "$D/hold/sort-0"
    wait
    grep -qF "sort-0: the recipe or a file that it reads was changed while the results were made: cf-cat" one.txt
    [[ ! -e out/sort-0/.batch/whole ]]
    echo one >given
    echo half >out/sort-0/pages.csv
    run -2 batch LISTED="$T/given" status
    has "1 failed"
    batch LISTED="$T/given"
    cmp out/sort-0/pages.csv "$D/plain/sort-0/pages.csv"
}

@test "status: of the variables that are given, else of those of the batch; what these would make anew is not whole" {
    few 1
    echo one >given
    status() { make -s --no-print-directory -C "$ROOT" -f pipelines/batch.mk TRACES="$TRACES" OUT="$T/out" "$@" status; }
    batch LISTED="$T/given"
    run -0 status
    has "1 whole"
    run -2 status LISTED=other
    has "1 missing"
    echo two >given
    run -2 status
    has "or a file that it reads was changed: "
    has "1 missing"
}

@test "status from another folder, without variables: of the recipe and the folder that the batch began with" {
    few 1
    mkdir one two
    sed 's/pages.csv/other.csv/g' "$PAGES" >two/pages.mk # another one by the same name
    cp "$PAGES" one/pages.mk
    at() { make -s --no-print-directory -C "$1" -f "$ROOT/pipelines/batch.mk" BIN="$B/bin" TRACES="$TRACES" PICTURES=0 "${@:2}"; }
    status() { make -s --no-print-directory -C "$1" -f "$ROOT/pipelines/batch.mk" TRACES="$TRACES" "${@:2}" status; }
    at one OUT=../out RECIPE=./pages.mk
    run -0 status two OUT="$T/out"
    is $'whole\tsort-0\t\n1 whole'
    run -0 at two OUT="$T/out"
    is "1 whole"
    rm two/pages.mk
    run -0 status two OUT=../out PICTURES=0
    cp one/pages.mk kept.mk
    at one OUT="$T/kept" RECIPE=../kept.mk
    rm -r one
    run -2 status two OUT="$T/kept"
    has "batch: the batch was begun in $T/one, which is not there: ask with its variables"
    run -0 status two OUT="$T/kept" PICTURES=0
}

@test "a working directory with a blank in its name: here, by LAUNCH=parallel, and status" {
    few 1
    mkdir 'sp ace'
    ln -s "$ROOT"/{pipelines,formats} "$TRACES" "$PAGES" 'sp ace'
    at() { make -s --no-print-directory -C 'sp ace' -f pipelines/batch.mk TRACES=few OUT=out "$@"; }
    run -0 at BIN="$B/bin" RECIPE=./pages.mk PICTURES=0
    is "1 whole"
    run -0 at status
    has "1 whole"
    run -0 'sp ace/out/.batch/run' check
    is ready
    need parallel "GNU parallel starts workers on hosts"
    run -0 at BIN="$B/bin" RECIPE=./pages.mk PICTURES=0 OUT=hosts LAUNCH=parallel
    has "1 whole"
    cmp 'sp ace/hosts/sort-0/curve.csv' "$D/plain/sort-0/curve.csv"
}

@test "what is given otherwise than on the command line makes other results, too" {
    few 1
    BY=function batch
    [[ $(head -n 1 out/sort-0/pages.csv) == rank,function,* ]]
    grep -qF "BY=function" out/index.html
    batch WORD='a\tb'
    grep -qF 'WORD=a\tb' out/index.html
    batch
    cmp out/sort-0/pages.csv "$D/plain/sort-0/pages.csv"
    # a file that a variable names
    printf 'line_size: 64\nlevels:\n  - {name: L1, size: 4KiB, ways: 2}\n' >m.yaml
    cat >misses.mk <<'END'
include stored.mk
RESULTS := misses.csv
$(OUT)/%/misses.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-cache -q --cores 1 -m $(MACHINE) --summary --csv $< $(to)
END
    PAGES=$T/misses.mk run -0 batch OUT="$T/m" MACHINE="$T/m.yaml"
    cp m/sort-0/misses.csv before
    sed -i s/4KiB/8KiB/ m.yaml
    PAGES=$T/misses.mk run -0 batch OUT="$T/m" MACHINE="$T/m.yaml"
    run ! cmp before m/sort-0/misses.csv
    # in one word with its option
    sed 's/-m [^ ]*/$(OPTIONS)/' misses.mk >options.mk
    local o
    for o in --machine= -m "--machine '"; do
        sed -i s/8KiB/4KiB/ m.yaml
        PAGES=$T/options.mk run -0 batch OUT="$T/o" OPTIONS="$o$T/m.yaml${o//[^\']/}"
        cp o/sort-0/misses.csv before
        sed -i s/4KiB/8KiB/ m.yaml
        PAGES=$T/options.mk run -0 batch OUT="$T/o" OPTIONS="$o$T/m.yaml${o//[^\']/}"
        run ! cmp before o/sort-0/misses.csv
    done
    # one that the recipe's own variable names
    sed -i '1i MACHINE ?= $(dir $(firstword $(MAKEFILE_LIST)))m.yaml' misses.mk
    PAGES=$T/misses.mk run -0 batch OUT="$T/m"
    cp m/sort-0/misses.csv before
    sed -i s/8KiB/4KiB/ m.yaml
    PAGES=$T/misses.mk run -2 batch OUT="$T/m" status
    has "has other programs or another recipe, or a file that it reads was changed: "
    has "missing	sort-0"
    PAGES=$T/misses.mk run -0 batch OUT="$T/m"
    run ! cmp before m/sort-0/misses.csv
    # and one that the caller may not set
    for o in ':= $(dir $(firstword $(MAKEFILE_LIST)))m.yaml' "= $T/m.yaml"; do
        sed -i s/4KiB/8KiB/ m.yaml
        sed -i "1s|.*|MACHINE $o|" misses.mk
        PAGES=$T/misses.mk run -0 batch OUT="$T/m"
        cp m/sort-0/misses.csv before
        sed -i s/8KiB/4KiB/ m.yaml
        PAGES=$T/misses.mk run -0 batch OUT="$T/m"
        run ! cmp before m/sort-0/misses.csv
    done
    # what it makes itself is none that it reads
    sed -i -e '1s|.*|MACHINE := $(OUT)/model.yaml|' -e 's|[.]cf$|.cf $(MACHINE)|' misses.mk
    printf '$(MACHINE):\n\tcp %s $@\n' "$T/m.yaml" >>misses.mk
    PAGES=$T/misses.mk run -0 batch OUT="$T/new"
    is "1 whole"
}

@test "a variable that neither the batch nor the recipe has, as where it is misspelt, is named, once" {
    few 1
    run -0 batch BYE=function LAUNC=slurm
    has "BYE='function': the batch and its recipe have no variable of this name: is it misspelt?"
    has "LAUNC='slurm': "
    [[ $(grep -c misspelt <<<"$output") == 2 ]] || fail "$output"
    # not by each worker
    run -0 out/.batch/run one NAME=sort-0
    has_not misspelt
    run -0 batch BY=function HOSTS=one
    is "1 whole"
}

@test "what a recipe includes is of it: another text makes all anew, and its variables are those of the environment" {
    few 1
    echo 'BY ?= page' >common.mk
    sed "s|^BY .*|include $T/common.mk|" "$PAGES" >own.mk
    PAGES=$T/own.mk
    batch
    cmp out/sort-0/pages.csv "$D/plain/sort-0/pages.csv"
    echo 'BY ?= function' >common.mk
    run -2 batch status
    has "1 missing"
    batch
    [[ $(head -n 1 out/sort-0/pages.csv) == rank,function,* ]]
    BY=region batch
    [[ $(head -n 1 out/sort-0/pages.csv) == rank,region,* ]]
    grep -qF "BY=region" out/index.html
}

@test "results that the recipe does not make any more go; one that makes none is refused" {
    few 1
    cp "$PAGES" own.mk
    PAGES=$T/own.mk
    batch
    sed -i 's/ pages.csv curve.csv/ curve.csv/' own.mk
    run -0 batch
    [[ $(ls out/sort-0) == curve.csv ]]
    run ! grep -F pages.csv out/index.html
    # what is in the way of that
    rm out/sort-0/curve.csv
    mkdir out/sort-0/curve.csv
    run -2 batch BY=function
    has "sort-0: rm: cannot remove"
    has "1 failed"
    rmdir out/sort-0/curve.csv
    sed -i 's/^RESULTS/RESULT/' own.mk
    run -2 batch
    has "names no RESULTS"
    has "1 failed"
}

@test "of a failure the message of the program that failed is shown, not what those behind it in the pipe say" {
    few 1
    printf 'op,addr,size\nload,0x1000,8\n' | cf-capture csv -q -o few/sort-0.cf
    PAGES=cacheperf run -2 batch
    has "sort-0: failed: cf-merge: standard input: byte "
    has "no column 'pid'"
}

@test "a recipe that ends well without a result, or with an empty one: the trace fails, and the message names it" {
    few 1
    local line
    for line in '@true' '@true $(to)'; do
        printf 'include stored.mk\nRESULTS := b.csv a.csv\n$(OUT)/%%/b.csv: $(FOLDER)/%%.cf\n\t@mkdir -p $(@D)\n\t@echo 1 $(to)\n' >own.mk
        printf '$(OUT)/%%/a.csv: $(FOLDER)/%%.cf\n\t@mkdir -p $(@D)\n\t%s\n' "$line" >>own.mk
        rm -rf out
        PAGES=$T/own.mk run -2 batch
        has "sort-0: failed: the recipe ended well, but $T/out/sort-0/a.csv is not there, or is empty"
    done
}

@test "a result by a name of the batch's own files is refused before anything is made" {
    few 1
    local n
    for n in log ./log log/a .batch/made; do
        sed "s|pages.csv|$n|g" "$PAGES" >own.mk
        PAGES=$T/own.mk run -2 batch
        has "own.mk has '${n#./}' in RESULTS, where batch.mk keeps what programs say: name it otherwise"
        has "1 failed"
        [[ $(ls out/sort-0) == log && -z $(find out -name curve.csv) ]] || fail "$(find out)"
        rm -r out
    done
    # alone, the recipe may
    sed "s|pages.csv|log|g" "$PAGES" >own.mk
    make -s -I "$ROOT/pipelines" -f own.mk BIN="$B/bin" TRACES="$TRACES" OUT=plain PICTURES=0
    cmp plain/sort-0/log "$D/plain/sort-0/pages.csv"
}

@test "a message with a tab, an escape and what is no UTF-8: whole in the last lines and on the page, and nothing acts on a terminal" {
    few 1
    cat >own.mk <<'END'
include stored.mk
RESULTS := a.csv
$(OUT)/%/a.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	@printf 'solver:\tno \033[31mmemory, caf\351\n' >&2; $(if $(FAILS),false,echo 1 $(to))
END
    PAGES=$T/own.mk run -2 batch FAILS=1
    has $'sort-0: failed: solver: no  [31mmemory, caf\351'
    has_not $'\033'
    grep -aqF $'<td>failed<br>solver: no  [31mmemory, caf\351<td' out/index.html
    PAGES=$T/own.mk run -0 batch
    has $'sort-0: whole: solver: no  [31mmemory, caf\351'
    PAGES=$T/own.mk run -0 batch status
    has $'whole\tsort-0\tsolver: no  [31mmemory, caf\351'
    # by a manifest
    { sed $'s/"$/\351"/' out/manifest.csv; echo $'1,2,3,4,,,"a\tb\033",""'; } >came.csv
    PAGES=$T/own.mk run -2 batch MANIFEST="$T/came.csv"
    has "1 whole, 1 absent"
    PAGES=$T/own.mk run -2 batch MANIFEST="$T/came.csv" status
    has $'absent\ta b \tin'
}

@test "two with other variables at the same time: the second does not begin, or the first says so" {
    few 2
    touch "$D/hold/sort-0"
    batch >one.txt 2>&1 3>&- &
    until_ test -e out/sort-0/curve.csv.tmp
    run -2 batch BY=function
    has "another batch is at work on sort-0 in $T/out: cf-cat"
    # as if it had begun between two traces
    sed -i "s/'BY=.*//; s/\$/, 'BY=function'/" out/.batch/key
    rm "$D/hold/sort-0"
    wait
    grep -qF "another batch has begun in $T/out: cf-cat" one.txt
    run ! grep whole one.txt
    [[ -e out/sort-0/.batch/whole && ! -e out/sort-1/.batch/whole ]]
    run -2 batch end
    has "batch: another batch has begun in $T/out"
}

@test "a page that cannot be written is told by the exit status" {
    few 1
    mkdir -p out/index.html
    run -2 batch
    has "cannot write $T/out/index.html"
    [[ -s out/sort-0/.batch/whole ]]
    rm -r out
    cp few/sort-0.cf few/index.html.cf
    run -2 batch
    has "a trace 'index.html.cf': the batch has a file of the name 'index.html' in OUT"
    [[ ! -e out ]]
}

@test "of a trace without a command the manifest has none" {
    mkdir din
    printf '0 400\n2 1000\n' | cf-capture din -q -o din/a.cf -
    TRACES=$T/din run batch
    [[ $(tail -n 1 out/manifest.csv) == *',2,records,cf-capture-din,"a",""' ]] || fail "$(<out/manifest.csv)"
    grep -qF '<td class=n>2<td class=n>'"$(stat -c %s din/a.cf)"'<td class=c><td>' out/index.html
}

@test "records of the manifest are what was measured: of a machine, or of snapshots and accesses" {
    mkdir other
    cp "$ROOT/samples/modeling/xeon-vm.cf" other/
    cf-cache -q -m tegra-x1 --snapshot-every 5000 "$D/traces/sort-0.cf" >other/snapshots.cf
    TRACES=$T/other run -0 batch manifest
    [[ $(cut -d, -f4 out/xeon-vm/.batch/manifest) == "$(rows probe other/xeon-vm.cf | sed 1d | wc -l)" ]]
    local lines accesses
    lines=$(rows line other/snapshots.cf | sed 1d | wc -l) accesses=$(rows access other/snapshots.cf | sed 1d | wc -l)
    ((lines > 0))
    [[ $(cut -d, -f4 out/snapshots/.batch/manifest) == $((lines + accesses)) ]]
}

# until COMMAND...: waits for it to hold, as long as the watch over suites lets it
until_() { until "$@"; do sleep .02; done; }

# kill_all: with kill -9 what works on this folder: all at once, so that none says that another died
kill_all() {
    local p signal
    for signal in STOP KILL; do
        for p in /proc/[0-9]*; do
            grep -qzF "$T/out" "$p/cmdline" "$p/environ" 2>/dev/null && [[ ${p#/proc/} != "$$" && ${p#/proc/} != "$BASHPID" ]] &&
                kill -$signal "${p#/proc/}"
        done
    done
    return 0
}

@test "make and its workers are killed in the middle: only what is missing is made, and all is the same" {
    few 3
    touch "$D/hold/sort-1"
    batch -j2 >/dev/null 2>&1 3>&- &
    until_ test -e out/sort-1/curve.csv.tmp -a -e out/sort-2/.batch/whole
    kill_all
    wait
    rm "$D/hold/sort-1"
    [[ -e out/sort-1/curve.csv.tmp && ! -e out/sort-1/curve.csv && ! -e out/sort-1/.batch/whole ]]
    stat -c %Y.%y out/sort-2/*.csv >before
    # as a machine that went down may leave it: the name without the bytes
    : >out/sort-1/pages.csv
    # what the killed ones have started may still hold the lock: that worker waits for its end
    run -0 batch
    [[ ${lines[0]} == "batch: sort-1: taken up where an earlier run was stopped; what it has left half made is removed" ]] || fail "$output"
    [[ ${#lines[@]} == 2 && ${lines[1]} == "3 whole" ]] || fail "$output"
    cmp out/sort-1/pages.csv "$D/plain/sort-1/pages.csv"
    stat -c %Y.%y out/sort-2/*.csv | same before -
    [[ -z $(find out -name '*.tmp') ]]
    for n in 0 1 2; do cmp "out/sort-$n/curve.csv" "$D/plain/sort-$n/curve.csv"; done
}

@test "two at the same time do not disturb each other: one makes a trace, the other waits" {
    few 1
    touch "$D/hold/sort-0"
    batch >one.txt 2>&1 3>&- &
    until_ test -e out/sort-0/curve.csv.tmp
    batch >two.txt 2>&1 3>&- &
    run -2 batch status
    has "running	sort-0"
    until_ grep -qxF "batch: sort-0: waits for another worker, which makes it" two.txt
    rm "$D/hold/sort-0"
    wait
    [[ $(<one.txt) == "1 whole" && $(tail -n 1 two.txt) == "1 whole" ]] || fail "$(cat one.txt two.txt)"
    cmp out/sort-0/curve.csv "$D/plain/sort-0/curve.csv"
}

@test "a result that is gone is made again; another recipe text or variable makes all anew" {
    few 1
    cp "$PAGES" own.mk
    PAGES=$T/own.mk
    batch PICTURES=1
    [[ -e out/sort-0/pages.png ]]
    rm out/sort-0/curve.csv
    run -2 batch PICTURES=1 status
    has "missing	sort-0"
    stat -c %y out/sort-0/pages.csv >before
    batch PICTURES=1
    stat -c %y out/sort-0/pages.csv | same before -
    cmp out/sort-0/curve.csv "$D/plain/sort-0/curve.csv"
    # others: the pictures of before are gone, too
    batch BY=function
    [[ $(head -n 1 out/sort-0/pages.csv) == rank,function,* && ! -e out/sort-0/pages.png ]]
    run -0 batch BY=function status
    run ! grep "another recipe" <<<"$output"
    echo '# otherwise' >>own.mk
    run -2 batch BY=function status
    has "has other programs or another recipe, or a file that it reads was changed: "
    has "1 missing"
    run -0 batch BY=function -n
    stat -c %y out/sort-0/curve.csv >before
    batch BY=function
    [[ $(stat -c %y out/sort-0/curve.csv) != "$(<before)" ]]
}

@test "what is made on the way to a result and is kept is made anew as well, also when that is taken up" {
    few 1
    cat >steps.mk <<END
include stored.mk
RESULTS := pages.csv
BY      ?= page
\$(OUT)/%/pages.csv: \$(OUT)/%/ranked.txt
	cat \$< \$(to)
\$(OUT)/%/ranked.txt: \$(FOLDER)/%.cf
	@mkdir -p \$(@D)
	cf-resolve -q \$< | cf-rank -q --csv --by \$(BY) \$(to); [ ! -e $T/stop ]
.SECONDARY:
END
    PAGES=$T/steps.mk
    batch
    cmp out/sort-0/pages.csv "$D/plain/sort-0/pages.csv"
    batch BY=function
    [[ $(head -n 1 out/sort-0/pages.csv) == rank,function,* ]]
    touch stop
    run -2 batch
    rm stop out/sort-0/.batch/failed
    echo half >out/sort-0/ranked.txt
    batch
    cmp out/sort-0/pages.csv "$D/plain/sort-0/pages.csv"
}

@test "files of the user in the folder of results stay" {
    few 1
    mkdir -p out/sort-0
    echo mine >out/sort-0/notes.txt
    echo mine >out/sort-0/notes.tmp
    batch
    batch BY=function
    [[ $(<out/sort-0/notes.txt) == mine && $(<out/sort-0/notes.tmp) == mine ]]
}

@test "wrong usage: no folder, one trace, no such recipe, no recipe at all, no such launcher" {
    run -2 make -s -C "$ROOT" -f pipelines/batch.mk TRACES="$D/traces"
    has "give TRACES, a folder of traces, and OUT"
    TRACES=$D/traces/sort-0.cf run -2 batch
    has "TRACES is a folder"
    TRACES=$T run -2 batch
    has "no traces (*.cf)"
    # the last one goes after make has looked
    TRACES=$T OUT=$T/out SCRIPTS=$ROOT/pipelines RECIPE_FILE=$PAGES run -3 bash "$ROOT/pipelines/batch.sh" end
    has "batch: no traces (*.cf) in $T"
    run -2 batch RECIPE=none
    has "no recipe 'none'"
    run -2 batch RECIPE=leon4
    has "is no recipe for stored traces"
    run -2 batch LAUNCH=pbs
    has "LAUNCH is parallel, slurm or nothing"
    run -2 batch LAUNCH=parallel HOSTS=one MACHINE=host
    has "machine 'host' is another on each host"
    run -2 batch LAUNCH=slurm MACHINES='tegra-x1 host'
    has "machine 'host' is another on each host"
    sed 's/^BY .*/&\nMACHINE ?= host/' "$PAGES" >host.mk
    run -2 batch RECIPE="$T/host.mk" LAUNCH=parallel
    has "machine 'host' is another on each host"
    sed 's/^BY .*/&\nTARGET ?= tegra-x1\nMACHINE ?= $(TARGET)/' "$PAGES" >target.mk
    run -2 batch RECIPE="$T/target.mk" LAUNCH=parallel TARGET=host
    has "machine 'host' is another on each host"
    run -2 batch RECIPE="$T/host.mk" LAUNCH=parallel HOSTS=none.invalid MACHINE=tegra-x1
    has_not "machine 'host'"
    rm -r out
    # the last word of it is a recipe
    cp "$PAGES" pages.mk
    run -2 make -s -f "$ROOT/pipelines/batch.mk" BIN="$B/bin" TRACES="$D/traces" OUT=out RECIPE='./my pages.mk'
    has "no recipe './my pages.mk'"
    for o in -t -i -B; do
        run -2 batch $o
        has "make $o is not for a batch"
    done
    for goal in all files machines results tidy clean; do
        run -2 batch $goal
        has "'$goal' is for make -f the recipe"
    done
    [[ ! -e out ]]
}

@test "make -n makes nothing" {
    run -0 batch -n
    [[ ! -e out ]]
}

@test "a command in a trace that is HTML, quotes and commas is text on the page, and one field of the manifest" {
    need valgrind "records a program"
    mkdir odd
    cf-capture trace -q --command-output /dev/null -o odd/é-1,@+_.cf -- true '<script>alert("x"), 1</script>'
    TRACES=$T/odd run -0 batch
    is "1 whole"
    [[ -s out/é-1,@+_/curve.csv ]]
    run ! grep -F '<script>alert' out/index.html
    grep -qF 'href="%C3%A9-1,@+_/curve.csv"' out/index.html
    python3 -c 'import csv, sys; r = list(csv.DictReader(open(sys.argv[1]))); assert [r[0]["name"], r[0]["command"]] == sys.argv[2:], r' \
        out/manifest.csv é-1,@+_ "true '<script>alert(\"x\"), 1</script>'"
}

@test "no space for results: the trace fails, nothing half made has its name, and with space it is made" {
    [[ $(id -u) == 0 ]] || skip "only root may mount a small file system"
    few 2
    mkdir out
    cat >small.sh <<END
mount -t tmpfs -o size=64k none "$T/out" || exit 77
head -c 50000 /dev/zero >"$T/out/full"
for i in 1 2; do
    make -s -C "$ROOT" -f pipelines/batch.mk BIN="$B/bin" TRACES="$TRACES" OUT="$T/out" RECIPE="$PAGES" PICTURES=0 && break
    for f in "$T"/out/sort-*/*.csv; do
        [[ ! -e \$f ]] || cmp "\$f" "$D/plain/\${f#$T/out/}" || exit 5
    done
    rm "$T/out/full"
    mount -o remount,size=8m "$T/out"
done
cp -r "$T/out" "$T/kept"
END
    run unshare -m --propagation private bash small.sh
    [[ $status != 77 ]] || skip "no small file system can be mounted"
    has "o space left"
    [[ $status == 0 && ${lines[-1]} == "2 whole" ]] || fail "$output"
    for n in 0 1; do cmp "kept/sort-$n/curve.csv" "$D/plain/sort-$n/curve.csv"; done
}

# An ssh of the tests: each host is this machine, but "down".
hosts() {
    mkdir -p bin
    cat >bin/ssh <<'END'
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
host=$1
shift
[[ $1 == -- ]] && shift
[[ $host == down ]] && { echo "ssh: connect to host down: No route to host" >&2; exit 255; }
echo "$host" >>"${BASH_SOURCE%/*}/../hosts.txt"
export SHELL=/bin/bash # as sshd does; by it, parallel's worker runs commands
[[ $host == idle ]] && unset SHELL
exec bash -c "$*"
END
    chmod +x bin/ssh
    export PARALLEL_SSH=$T/bin/ssh PARALLEL_HOME=$T/parallel
    mkdir -p parallel
}

@test "LAUNCH=parallel: on two hosts, all bytes as here" {
    need parallel "GNU parallel starts workers on hosts"
    hosts
    run -0 batch LAUNCH=parallel HOSTS="one two" JOBS=2
    has "10 whole"
    results
    [[ $(sort -u hosts.txt | paste -sd' ') == "one two" ]]
    # nothing is left to start
    rm hosts.txt
    run -0 batch LAUNCH=parallel HOSTS="one two"
    is "10 whole"
    [[ ! -e hosts.txt ]]
}

@test "LAUNCH=parallel: when it ends before all traces are through, that is said, and it is started again" {
    need parallel "GNU parallel starts workers on hosts"
    hosts
    few 3
    # begins none the first time, one the second time
    cat >bin/parallel <<END
#!/bin/bash
[[ \$* != *joblog* ]] || { echo >>$T/started; ((\$(wc -l <$T/started) > 1)) || exit 7
                           ((\$(wc -l <$T/started) > 2)) || exec $(command -v parallel) --halt now,done=1 --jobs 1 "\$@"; }
exec $(command -v parallel) "\$@"
END
    chmod +x bin/parallel
    PATH=$T/bin:$PATH run -0 batch LAUNCH=parallel HOSTS="one" JOBS=1
    has "status 7 when 0 of 3 traces were through"
    has "when 1 of 3 traces were through"
    has "3 whole"
    [[ $(wc -l <hosts.txt) == 4 ]] || fail "a trace was made twice: $(cat hosts.txt)"
}

@test "LAUNCH=parallel: what GNU parallel refuses is not started again, and not said to be" {
    need parallel "GNU parallel starts workers on hosts"
    few 1
    run -2 batch LAUNCH=parallel JOBS=x
    has "GNU parallel ended with status 255 when 0 of 1 traces were through"
    has_not "again"
}

@test "LAUNCH=parallel is killed: of its work nothing is left but what was made, and the next run makes the rest" {
    need parallel "GNU parallel starts workers on hosts"
    few 2
    touch "$D/hold/sort-1"
    batch LAUNCH=parallel >/dev/null 2>&1 3>&- &
    until_ test -e out/sort-1/curve.csv.tmp -a -e out/sort-0/.batch/whole
    kill_all
    wait
    rm "$D/hold/sort-1"
    [[ $(ls out/.batch | paste -sd' ') == "file folder key recipe run" ]] || fail "$(ls out/.batch)"
    run -0 batch LAUNCH=parallel
    has "2 whole"
}

@test "LAUNCH=slurm, by a stand-in that runs each job at once: all bytes as here, and nothing is left" {
    mkdir path
    cat >path/sbatch <<'END'
#!/bin/bash
for o; do [[ $o != --array=1-* ]] || n=${o#--array=1-}; done
[[ ${n-} ]] || exec "${@: -2}"
job=$(cat)
for ((i = 1; i <= n; i++)); do SLURM_ARRAY_TASK_ID=$i bash -c "$job"; done
echo "$n;cluster"
END
    chmod +x path/sbatch
    PATH=$T/path:$PATH run -0 batch LAUNCH=slurm ARRAY=4 WAIT=0
    has "10 traces submitted, jobs 4:4:2: 'make ... status' tells how far they are"
    results
    [[ -s out/index.html && $(ls out/.batch | paste -sd' ') == "file folder key recipe run" ]] || fail "$(ls out/.batch)"
}

@test "LAUNCH=parallel, slurm: a host that is down or has no programs is named, and nothing was started; nor where there is no launcher" {
    need parallel "GNU parallel starts workers on hosts"
    hosts
    few 2
    run -2 batch LAUNCH=parallel HOSTS="one down"
    has "down	ssh: connect to host down: No route to host"
    has "not every host of 'one down' can work: nothing was started"
    # parallel's worker there runs nothing, and ends well
    run -2 batch LAUNCH=parallel HOSTS="one idle"
    has "host idle does not answer"
    [[ $output != *"host one does not"* ]]
    # the programs are gone; others in PATH are not those that were given
    run -2 batch LAUNCH=parallel HOSTS="one" BIN="$T/none"
    has "no cf-cat on $(uname -n) in BIN, which is '$T/none': "
    PATH=/usr/bin:/bin run -2 make -s --no-print-directory -f "$ROOT/pipelines/batch.mk" B=none TRACES="$TRACES" OUT=none
    has "no cf-cat on $(uname -n), neither in BIN nor in PATH: build it there by 'make'"
    [[ -z $(find out -name '*.csv') ]]
    # another recipe than the batch began by
    cp "$PAGES" pages.mk
    PAGES=$T/pages.mk
    batch HOSTS=one WORD='a $$HOME'"'s" >/dev/null
    rm -r out/sort-0
    run -0 out/.batch/run one NAME=sort-0
    [[ -s out/sort-0/.batch/whole ]]
    rm -r out/sort-0
    echo "# changed" >>pages.mk
    HERE=1 run -2 out/.batch/run one NAME=sort-0
    has "has other programs or another recipe"
    run -2 out/.batch/run check
    has "has other programs or another recipe"
    [[ ! -e out/sort-0/.batch/whole && -s out/sort-0/.batch/failed && ! -e out/sort-0/pages.csv ]]
    # no parallel, and one that is not GNU's
    mkdir path
    ln -sf /usr/bin/* /bin/* path/
    rm -f path/{parallel,sbatch}
    PATH=$T/path run -2 batch LAUNCH=parallel
    has "it is in Debian's package parallel"
    printf '#!/bin/sh\necho parallel of moreutils\n' >path/parallel
    chmod +x path/parallel
    PATH=$T/path run -2 batch LAUNCH=parallel
    has "is not GNU parallel"
    PATH=$T/path run -2 batch LAUNCH=slurm
    has "it is in Debian's package slurm-client"
    # one that refuses, and what is no size of an array
    printf '#!/bin/sh\necho "sbatch: error: refused" >&2\nexit 1\n' >path/sbatch
    chmod +x path/sbatch
    PATH=$T/path run -2 batch LAUNCH=slurm
    has "sbatch: error: refused"
    for n in 0 x -1 ''; do
        PATH=$T/path run -2 batch LAUNCH=slurm ARRAY=$n
        has "ARRAY='$n': give a number of jobs from 1 on"
    done
}

@test "a worker of a machine without the programs fails its trace with that; one that has them makes it" {
    few 2
    mkdir programs
    cp -P "$B"/bin/cf-{cat,resolve,rank,distance,mrc} programs/
    run -0 batch BIN="$T/programs" # each worker's programs, from here on
    rm -r out/sort-0
    mv programs gone
    PATH=/usr/bin:/bin run -2 out/.batch/run one NAME=sort-0
    has "sort-0: no cf-cat on $(uname -n) in BIN, which is '$T/programs': build it there by 'make'"
    run -2 batch BIN="$T/programs" status
    has "failed	sort-0	no cf-cat on $(uname -n)"
    # none but one of them
    mkdir programs
    cp -P gone/cf-{cat,resolve,rank,mrc} programs/
    PATH=/usr/bin:/bin run -2 out/.batch/run one NAME=sort-0
    grep -q "cf-distance: command not found" out/sort-0/log
    [[ ! -e out/sort-0/curve.csv ]]
    rm -r programs
    mv gone programs
    run -0 out/.batch/run one NAME=sort-0
    cmp out/sort-0/curve.csv "$D/plain/sort-0/curve.csv"
}

# cluster: a Slurm of one node, of this test
cluster() {
    local p host
    for p in slurmctld slurmd munged sbatch; do
        PATH=$PATH:/usr/sbin command -v $p >/dev/null || skip "$p is missing: Debian's packages slurm-wlm and munge could not be installed"
    done
    PATH=$PATH:/usr/sbin
    [[ $(id -u) == 0 ]] || skip "only root may start a Slurm"
    host=$(hostname -s 2>/dev/null || uname -n)
    mkdir -p slurm/spool slurm/state
    S=$T/slurm
    chmod 755 "$S"
    head -c 64 /dev/urandom >slurm/key
    chmod 400 slurm/key
    # a port of its own each time, so that two runs of the tests do not meet
    local port=$((20000 + $$ % 10000 * 2))
    cat >slurm/slurm.conf <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$S/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$S/state
SlurmdSpoolDir=$S/spool
SlurmctldPidFile=$S/slurmctld.pid
SlurmdPidFile=$S/slurmd.pid
SlurmctldLogFile=$S/slurmctld.log
SlurmdLogFile=$S/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
MessageTimeout=60
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF=$S/slurm.conf
    munged --force --key-file "$S/key" --socket "$S/munge" --pid-file "$S/munged.pid" --log-file "$S/munged.log" \
        --seed-file "$S/munge.seed" 3>&- 2>/dev/null
    slurmctld -i 3>&- 2>/dev/null
    slurmd 3>&- 2>/dev/null
    until_ eval 'sinfo -h -o %t 2>/dev/null | grep -q idle'
}

teardown() {
    rm -f "$D"/hold/*
    [[ ${S:-} ]] || return 0
    scancel --name cf-batch 2>/dev/null
    local f
    for f in slurmd slurmctld munged; do kill "$(cat "$S/$f.pid" 2>/dev/null)" 2>/dev/null; done
    pids_of_slurm | xargs -r kill -9 2>/dev/null
    return 0
}

# what has been started with this test's configuration
pids_of_slurm() {
    local p
    for p in /proc/[0-9]*; do
        [[ $(cat "$p/comm" 2>/dev/null) == slurm* ]] && grep -qzF "SLURM_CONF=$S/slurm.conf" "$p/environ" 2>/dev/null && echo "${p#/proc/}"
    done
    return 0
}

@test "LAUNCH=slurm: a job is killed, a node dies; all bytes as here" {
    cluster
    # a running job is killed: its trace alone is missing
    touch "$D/hold/sort-1"
    batch LAUNCH=slurm ARRAY=4 >one.txt 2>&1 3>&- &
    until_ eval '[[ -e out/sort-1/curve.csv.tmp && $(ls out/*/.batch/whole 2>/dev/null | wc -l) == 9 ]]'
    scancel --signal=KILL --name cf-batch --state RUNNING
    if wait $!; then fail "a killed job has not failed"; fi
    grep -q "10 traces submitted, jobs .*:.*:" one.txt || fail "$(<one.txt)"
    grep -q "9 whole, 1 missing" one.txt || fail "$(<one.txt)"
    [[ ! -e out/sort-1/curve.csv ]]
    # it is made by the same command; the node dies with it, and Slurm may start it anew when it is back
    batch LAUNCH=slurm >two.txt 2>&1 3>&- &
    until_ eval '[[ $(squeue -h -t RUNNING -o %t) == R && -e out/sort-1/curve.csv.tmp ]]'
    kill -9 "$(cat "$S/slurmd.pid")"
    kill_all
    rm "$D/hold/sort-1"
    slurmd 3>&- 2>/dev/null
    wait
    # submitted alone: the page is made when all have ended
    run -0 batch LAUNCH=slurm WAIT=0
    until_ eval '[[ -z $(squeue -h) ]]'
    [[ $(grep -o '<tr class=whole>' out/index.html | wc -l) == 10 ]]
    results
}
