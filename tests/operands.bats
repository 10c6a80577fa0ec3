#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Accesses from instructions and registers, against what the tracer records of the same program.
load lib

against_trace() {
    [[ $(uname -m) == x86_64 ]] || skip "steps x86-64"
    "$@" -static -nostdlib -fno-pie -no-pie -fno-stack-protector -ffreestanding -mno-red-zone -w \
        -o kernels "$ROOT/tests/operands/kernels.c"
    step_operands ./kernels >stepped.csv
    cf-capture-trace -q -o t.cf -- ./kernels
    cf-cat --csv --columns pc,op,addr,size t.cf >traced.csv
    run -0 python3 "$ROOT/tests/operands/compare.py" stepped.csv traced.csv
    [[ $output -gt 40000 ]]
}

@test "gcc -O1" { against_trace gcc -O1; }
@test "gcc -O2" { against_trace gcc -O2; }
@test "gcc -O3, AVX2" { against_trace gcc -O3 -march=haswell; }
@test "clang -O1" { against_trace clang -O1; }
@test "clang -O3, gathers" { against_trace clang -O3 -march=skylake; }
