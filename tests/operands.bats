#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Accesses from instructions and registers, against what the tracer records of the same program. All levels of
# optimisation and a million instructions: tests/run-long operands.
load lib

BUILD=(-static -nostdlib -fno-pie -no-pie -fno-stack-protector -ffreestanding -mno-red-zone -w)

against_trace() {
    [[ $(uname -m) == x86_64 ]] || skip "steps x86-64"
    "$@" "${BUILD[@]}" -o kernels "$ROOT/tests/operands/kernels.c"
    step_operands ./kernels >stepped.csv
    cf-capture-trace -q -o t.cf -- ./kernels
    cf-cat --csv --columns pc,op,addr,size t.cf >traced.csv
    run -0 python3 "$ROOT/tests/operands/compare.py" stepped.csv traced.csv
    [[ $output -gt 40000 ]]
}

# With breakpoints of the kernel: what each of them sees is what the instruction accesses.
at_breakpoints() { # INSTRUCTIONS COMPILER...
    local said
    [[ $(uname -m) == x86_64 ]] || skip "breakpoints are decoded for x86-64"
    said=$(cf-capture-perf --coarse page-faults -q -o needed.cf -- true 2>&1) || skip "perf_event_open: $said"
    "${@:2}" "${BUILD[@]}" -DSAME -DROUNDS=3 -o kernels "$ROOT/tests/operands/kernels.c"
    cf-capture-trace -q -o t.cf -- ./kernels
    cf-cat --csv --columns pc,op,addr,size t.cf >traced.csv
    "${@:2}" "${BUILD[@]}" -DSAME -DROUNDS=4000000 -o kernels "$ROOT/tests/operands/kernels.c"
    run cf-capture-perf -q --coarse t.cf --same-set 100000 --expire 20 -o seen.cf -- timeout -s INT 12 ./kernels
    cf-cat --csv --columns time,tid,pc,op,addr,size,stage seen.cf | sed -n '1p;/,2$/p' >seen.csv
    run -0 python3 "$ROOT/tests/operands/within.py" seen.csv traced.csv
    [[ ${output% *} -gt $1 && ${output#* } -gt $((20 * $1)) ]]
}

@test "breakpoints, gcc -O2" { at_breakpoints 30 gcc -O2; }

@test "gcc -O0" { against_trace gcc -O0 -DROUNDS=1; }
@test "gcc -O2" { against_trace gcc -O2; }
@test "gcc -O3, AVX2" { against_trace gcc -O3 -march=haswell; }
@test "clang -O3, gathers" { against_trace clang -O3 -march=skylake; }
