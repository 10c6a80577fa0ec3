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

@test "machines: of 60, each policy is that of several first levels, and none that of most" {
    local n
    for n in $(seq 60); do awk -v seed="$n" -f "$ROOT/pipelines/modeling-machine.awk"; done |
        sed -n 's/.*name: L1, .*policy: \([^,]*\),.*/\1/p' | sort | uniq -c >policies
    [[ $(awk '$1 > 3 && $1 < 15' policies | wc -l) == 7 ]] || fail "$(<policies)"
}

# machine LINE-SIZE LATENCIES LEVEL...: a description; a level is "size ways policy inclusion"
machine() {
    local i=0 level
    printf 'line_size: %s\nlevels:\n' "$1"
    # shellcheck disable=SC2086 # words
    for level in "${@:3}"; do
        printf '  - {name: L%s, kind: unified, size: %s, ways: %s, policy: %s, inclusion: %s}\n' $((i += 1)) $level
    done
    echo "latency: {$2}"
}

@test "machines whose exclusive levels hide lines in those before, or with sets that are no power of two: told in whole" {
    machine 64 'L1: 2, L2: 19, memory: 39' '1048576 2 srrip non-inclusive' '2540544 16 srrip exclusive' >1.yaml
    machine 64 'L1: 1, L2: 22, L3: 45, memory: 83' '1792 7 lru non-inclusive' '4096 8 nru exclusive' \
        '990720 20 fifo non-inclusive' >2.yaml
    machine 256 'L1: 4, L2: 7, L3: 37, memory: 68' '90112 22 lru non-inclusive' '1704960 20 srrip non-inclusive' \
        '7171584 14 fifo exclusive' >3.yaml
    machine 128 'L1: 1, L2: 6, L3: 12, memory: 18' '52736 2 tree-plru non-inclusive' '1835008 7 lru inclusive' \
        '4194304 16 tree-plru inclusive' >4.yaml
    machine 64 'L1: 3, L2: 13, L3: 46, memory: 81' '344064 21 srrip non-inclusive' '720896 22 srrip exclusive' \
        '1898240 1 tree-plru non-inclusive' >5.yaml
    local n
    for n in 1 2 3 4 5; do
        cf-capture-probe -q --quick --by $([[ $n == 5 ]] && echo time || echo misses) --on ./$n.yaml -o p.cf
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
    local f here
    cp "$ROOT/formats/machines/atom-d525.yaml" m.yaml
    run -0 modeling MODEL="$T/m.yaml" -n
    # after this machine is measured, the rest is its own, and the page
    here=${output#*measure this machine}
    has_not "$T/out/m.yaml.misses.cf" "${here%%awk -v out=*}"
    has_not recovery.csv.tmp "$here"
    has_not policies.csv.tmp "$here"
    has_not topology.txt.tmp "$here"
    modeling MODEL="$T/m.yaml"
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
    # what it links to is there
    grep -o 'href=[^>]*' out/page.html | sed 's/^href=//' >links
    [[ $(wc -l <links) == 3 ]]
    while read -r f; do [[ -e out/$f ]] || fail "$f"; done <links
    # each machine is one, by either
    awk -F, 'NR > 1 { n[$1] += $4 } END { exit n["misses"] != 4 || n["time"] != 4 }' out/policies.csv || fail "$(<out/policies.csv)"
    # nothing is made twice
    run -0 modeling MODEL="$T/m.yaml"
    ! grep -q '^measure' <<<"$output" || fail "$output"
}

@test "this machine alone takes no random one; of none there are empty tables, and what is no number is refused" {
    run -0 modeling here -n
    [[ $(grep -c "cf-capture probe" <<<"$output") == 1 ]] || fail "$output"
    run -0 timeout 20 make -s -C "$ROOT" -f pipelines/modeling.mk BIN="$B/bin" OUT="$T/none" MACHINES=0 "$T/none/policies.csv" </dev/zero
    [[ $(<none/policies.csv) == by,policy,told,machines ]]
    run -2 modeling MACHINES=x -n
    has "MACHINES='x' is no number: give how many"
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

@test "a level that is told of a machine that has none is told wrong" {
    mkdir bin && ln -s "$B"/bin/* bin/ && rm bin/cf-infer
    printf '#!/bin/sh\n%s "$@" | grep -v ^L2\necho L2,size,65536,65536,65536,0.9900,,not claimed,\n' "$B/bin/cf-infer" >bin/cf-infer
    chmod +x bin/cf-infer
    run -0 make -s -C "$ROOT" -f pipelines/modeling.mk BIN="$T/bin" OUT="$T/out" MACHINES=1 "$T/out/recovery.csv"
    [[ $(grep ,L2, out/recovery.csv) == $'misses,L2,size,0,1,0\ntime,L2,size,0,1,0' ]] || fail "$(<out/recovery.csv)"
}

@test "a working folder with a blank in its name" {
    mkdir 'a b'
    run -0 make -s -C 'a b' -f "$ROOT/pipelines/modeling.mk" BIN="$B/bin" OUT=out MACHINES=1 out/recovery.csv
    (($(wc -l <'a b/out/recovery.csv') > 5)) || fail "$(<'a b/out/recovery.csv')"
}

@test "a step that fails fails the pipeline and leaves nothing under its name" {
    mkdir bin && ln -s "$B"/bin/* bin && rm bin/cf-infer
    printf '#!/bin/sh\necho half\nexit 3\n' >bin/cf-infer && chmod +x bin/cf-infer
    run ! make -s -C "$ROOT" -f pipelines/modeling.mk BIN="$T/bin" OUT="$T/out" MACHINES=1 "$T/out/recovery.csv"
    [ ! -e out/recovery.csv ] && [ ! -e out/random/1.misses.csv ]
}
