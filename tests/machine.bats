#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Machine descriptions: the installed files and the manual. What the loader takes and refuses is
# tests/unit/test_machine.c, which also shows a description when called with names.
load lib

show() {
    "$B/test/test_machine" "$@"
}

@test "every description of the source tree is installed, and no other" {
    (cd "$ROOT/formats/machines" && ls -- *.yaml) >want
    (cd "$B/share/cacheflow/machines" && ls -- *.yaml) >got
    same want got
    for f in "$ROOT"/formats/machines/*.yaml; do
        cmp "$f" "$B/share/cacheflow/machines/${f##*/}"
    done
}

@test "every description loads by name and by file, to the same" {
    for f in "$ROOT"/formats/machines/*.yaml; do
        name=${f##*/}
        show "${name%.yaml}" >by-name
        show "$f" >by-file
        same by-name by-file
        grep -q '^source: "..........' by-name || fail "$name does not say where it comes from"
    done
}

@test "what is shown loads again to the same" {
    for m in tegra-x1 leon4-n2x xeon-6230; do
        show $m >a.yaml
        show ./a.yaml >b.yaml
        same a.yaml b.yaml
    done
}

@test "a description without a name is called by its file, in whole characters of UTF-8" {
    printf 'op,addr\nload,0x1000\n' | cf-capture csv >in.cf
    for name in "$(printf '\303\251%.0s' {1..64})" $'a\xffb'; do
        echo '{line_size: 64, levels: [{name: L1, size: 64, ways: 1}], latency: {L1: 1, memory: 2}}' >"$name.yaml"
        cf-cache -m "./$name.yaml" in.cf | cf-latency -m "./$name.yaml" 2>said >out.cf
        same /dev/null said
        cf-cat --info out.cf | grep -o 'machine: "[^"]*"' | uniq >>names
    done
    printf 'machine: "%s"\n' "$(printf '\303\251%.0s' {1..63})" 'a\\xffb' >want
    same want names
}

@test "the examples of cf-machine(5) load" {
    awk '/^\.Bd/ { inside = 1; n++; next } /^\.Ed/ { inside = 0; next }
        inside { print > "example" n ".yaml" }' "$ROOT/formats/cf-machine.5"
    [ -s example1.yaml ]
    [ -s example2.yaml ]
    for f in example*.yaml; do
        show ./$f >shown
        grep -qE '^line_size: (64|32)$' shown
        cat shown >>all
    done
    grep -q 'latency: {L1D: 4, L2: 21, memory: 180}' all
    grep -q 'load_after_store: 13' all
}

@test "the manual names every key and every value that the loader knows" {
    printf 'line_size: 64\nlevels:\n  - {name: A, size: 64, ways: 1, x: 1}\n' >key.yaml
    run -1 show ./key.yaml
    keys=${output##*known are }
    printf 'x: 1\n' >key.yaml
    run -1 show ./key.yaml
    keys+=", ${output##*known are }"
    printf 'line_size: 64\nlevels:\n  - {name: A, size: 64, ways: 1}\nlatency: {A: {x: 1}}\n' >key.yaml
    run -1 show ./key.yaml
    has "known are load, store, ifetch, prefetch, flush, and"
    keys+=", load, store, ifetch, prefetch, flush"
    printf 'line_size: 64\nlevels:\n  - {name: A, size: 64, ways: 1}\nlatency_rule: x\n' >key.yaml
    run -1 show ./key.yaml
    keys+=", ${output##*give one of }"
    for what in policy kind write inclusion; do
        printf 'line_size: 64\nlevels:\n  - {name: A, size: 64, ways: 1, %s: x}\n' $what >key.yaml
        run -1 show ./key.yaml
        keys+=", ${output##*give one of }"
    done
    for key in ${keys//,/ }; do
        grep -qE -- "^\.(It|Pq)? *Cm $key|Cm $key( |\$)" "$ROOT/formats/cf-machine.5" ||
            fail "cf-machine(5) does not tell of '$key'"
    done
    [[ $keys == *srrip* && $keys == *clock_hz* && $keys == *shared_by* ]]
}

@test "a mistake is told with file, line and remedy" {
    printf 'line_size: 64\nlevels:\n  - {name: L1, size: 32KiB, ways: 8, polcy: lru}\n' >m.yaml
    run -1 show ./m.yaml
    is "./m.yaml:3: unknown key 'polcy' in a level: known are name, kind, size, ways, line_size, shared_by, policy, write, allocate, inclusion, depth, index"
}

@test "numbers as options take them" {
    printf 'line_size: 0x40\nlevels:\n  - {name: L1, size: 32k, ways: 8}\n' >m.yaml
    for size in 32k 32K '32 KiB' 0x8000 32768B; do
        sed "s/32k/$size/" m.yaml >n.yaml
        run -0 show ./n.yaml
        has 'size: 32KiB, ways: 8'
    done
    for number in 8K 8B 010x -8 18446744073709551624; do
        sed "s/ways: 8/ways: $number/" m.yaml >n.yaml
        run -1 show ./n.yaml
        has "n.yaml:3: 'ways: $number' is not a whole number"
    done
}

@test "host: this machine, or a clear message" {
    if show host >host.yaml 2>problem; then
        show ./host.yaml >again.yaml
        same host.yaml again.yaml
    else
        grep -q 'name a machine description\|write a description' host.yaml
    fi
}
