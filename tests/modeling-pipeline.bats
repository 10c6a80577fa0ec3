#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# pipelines/modeling.mk: few machines, and this one quickly. What is measured here depends on the machine; that it is
# there and whole does not.

load lib

modeling() {
    make -s -C "$ROOT" -f pipelines/modeling.mk BIN="$B/bin" OUT="$T/out" MACHINES=4 HERE='--quick --max 4M' "$@"
}

@test "machines: the same number gives the same one, another number another; each is a description" {
    local n
    for n in 1 2 3 4 5 6 7 8; do
        awk -v seed=$n -f "$ROOT/pipelines/modeling-machine.awk" >$n.yaml
        cf-cache -q -m ./$n.yaml --summary "$ROOT/samples/sort.cf" >/dev/null
    done
    awk -v seed=3 -f "$ROOT/pipelines/modeling-machine.awk" | same 3.yaml -
    [[ $(for n in 1 2 3 4 5 6 7 8; do grep -v ^name $n.yaml | cksum; done | sort -u | wc -l) == 8 ]] || fail "two are alike"
}

@test "machines whose exclusive levels hide lines in those before, or with sets that are no power of two: told in whole" {
    local n
    for n in 16 25 38 79 125; do
        awk -v seed=$n -f "$ROOT/pipelines/modeling-machine.awk" >$n.yaml
        cf-capture-probe -q --quick --by $([[ $n == 125 ]] && echo time || echo misses) --on ./$n.yaml -o p.cf
        cf-infer -q --compare ./$n.yaml p.cf | grep -v '^L[123],latency,\|^memory' >compared
        [[ $(grep -c ",equal," compared) == $((3 * $(grep -c "name: L" $n.yaml) + 1)) ]] || fail "machine $n" "$(cat compared)"
        ! grep -vE '^of,|,equal,' compared || fail "machine $n"
        ! grep -q '^L4' compared || fail "a level that machine $n does not have"
    done
}

@test "the page: a name of a folder is text to the shell that reads the pictures" {
    local dir="it's '\$(touch pwned)'"
    mkdir "$dir"
    echo picture >"$dir/one.png"
    awk -v out="$dir" -v model=m -v figures="one.png" -v curves= -f "$ROOT/pipelines/modeling-page.awk" >page
    grep -q "base64,$(base64 "$dir/one.png")\"" page || fail "$(<page)"
    [[ ! -e pwned ]]
}

@test "all of it: figures, tables of recovery without a wrong value, this machine, the page" {
    some_host
    modeling
    local f
    for f in fig1{a,b,c}.{misses,time}; do
        [[ $(head -c 4 "out/$f.png" | tail -c 3) == PNG ]] || fail "$f is no picture"
    done
    head -1 out/recovery.csv | grep -qx by,level,what,right,wrong,not_told
    awk -F, 'NR > 1 && $5 { print; wrong = 1 } NR > 1 { right += $4 } END { exit wrong || right < 24 }' out/recovery.csv
    [[ $(awk -F, '$1 == "misses" && $2 == "L1" && $3 == "size" { print $4 + $6 }' out/recovery.csv) == 4 ]]
    grep -q '^name:' out/here.yaml || grep -q 'no cache can be described' out/here.yaml
    grep -q '^of,what,measured' out/claimed.csv
    grep -q '^<!DOCTYPE html>' out/page.html
    [[ $(grep -c 'data:image/png;base64,iVBOR' out/page.html) -ge 6 ]]
    ! grep -E 'src="?http|<link|<script src' out/page.html || fail "the page needs a network"
    # nothing is made twice
    run -0 modeling
    ! grep -q '^measure' <<<"$output" || fail "$output"
}

@test "a machine of which no cache is told is described as such, on the page as well" {
    cf-capture-probe -q --quick --max 64K --event page-faults -o p.cf 2>said || [[ $? != 3 ]] || skip "page faults are not counted here"
    grep -q 'no cache was found' said
    # nor does Linux claim one
    CF_SYSFS=$T/none run -0 modeling MACHINES=1 HERE='--quick --max 64K --event page-faults'
    has "shows no cache of any CPU"
    grep -q 'no cache can be described' out/here.yaml
    grep -q '^L1,size,cannot tell,' out/claimed.csv
    grep -q 'no cache can be described' out/page.html
    run ! modeling MACHINES=1 HERE='--quick --max 64K --event no-such-event' OUT="$T/other" "$T/other/here.yaml"
    [ ! -e other/here.cf ] && [ ! -e other/here.yaml ]
}

@test "a step that fails fails the pipeline and leaves nothing under its name" {
    mkdir bin && ln -s "$B"/bin/* bin && rm bin/cf-infer
    printf '#!/bin/sh\necho half\nexit 3\n' >bin/cf-infer && chmod +x bin/cf-infer
    run ! make -s -C "$ROOT" -f pipelines/modeling.mk BIN="$T/bin" OUT="$T/out" MACHINES=1 "$T/out/recovery.csv"
    [ ! -e out/recovery.csv ] && [ ! -e out/random/1.misses.csv ]
}
