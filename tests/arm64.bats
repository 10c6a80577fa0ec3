# SPDX-License-Identifier: BSD-2-Clause
#
# The filters built for arm64 and run in emulation: record for record what they say here, where each
# source named _simd.c is compiled for other vectors.
# Takes long: an emulator.
# bats file_tags=slow
load lib
load guest/suite

setup_file() {
    guest_build arm64
    guest_programs arm64
    local name
    cd "$BATS_FILE_TMPDIR" || return 1
    for name in cc1 sqlite threads; do
        "$B/bin/cf-cat" --slice 100000-160000 "$ROOT/samples/$name.cf" >$name.cf || return 1
    done
}

setup() {
    lib_setup
    programs_here
    need qemu-aarch64
    D=$BATS_FILE_TMPDIR
    ARM=$S/arm64/programs/bin
}

# alike SAMPLE PROGRAM OPTION...: the same rows, and the same table of --summary, from both
alike() {
    local sample=$D/$1.cf program=$2
    shift 2
    "$program" -q "$@" "$sample" | cf-cat --csv >here.csv
    qemu-aarch64 "$ARM/$program" -q "$@" "$sample" | cf-cat --csv >there.csv
    [[ $(wc -l <here.csv) -gt 1000 ]] || fail "$program $*: nothing came"
    cmp here.csv there.csv || fail "$program $* $sample"
}

@test "caches: every machine, one core and several" {
    local m sample
    for m in "$ROOT"/formats/machines/*.yaml; do
        for sample in cc1 threads; do
            alike $sample cf-cache -m "$m"
        done
    done
}

@test "classes of misses, with sharing between cores" {
    alike sqlite cf-classify -m "$ROOT/formats/machines/xeon-6230.yaml"
    alike threads cf-classify -m "$ROOT/formats/machines/xeon-6230.yaml"
    alike threads cf-classify -m "$ROOT/formats/machines/atom-d525.yaml"
}

@test "distances: exact, in sets, sampled" {
    alike cc1 cf-distance
    alike sqlite cf-distance --sets 64
    alike cc1 cf-distance --rate 0.1
}

@test "all associativities" {
    cf-sweep -q "$D/sqlite.cf" >here.csv
    qemu-aarch64 "$ARM/cf-sweep" -q "$D/sqlite.cf" >there.csv
    [[ $(wc -l <here.csv) -gt 20 ]]
    cmp here.csv there.csv
}

@test "a stream of its own is read here" {
    qemu-aarch64 "$ARM/cf-cat" -o packed.cf "$D/cc1.cf"
    cf-cat --verify packed.cf
    same <(cf-cat --csv packed.cf) <(cf-cat --csv "$D/cc1.cf")
}
