#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Accesses from instructions and registers, against what the tracer records of the same program. All levels of
# optimisation and a million instructions: tests/run-long operands.
# Takes long: programs step by step.
load lib

BUILD=(-static -nostdlib -fno-pie -no-pie -fno-stack-protector -ffreestanding -mno-red-zone -w
    -Wl,--build-id=0x6b65726e656c7321)

# against WHAT INSTRUCTIONS ROUNDS COMPILER...: more than so many instructions that access memory agree
against() {
    run -0 "$ROOT/tests/operands/against" "$1" "${@:3}"
    [[ $output -gt $2 ]] || fail "$output"
}

against_trace() {
    [[ $(uname -m) == x86_64 ]] || skip "steps x86-64"
    against trace 10000 "$@"
}

# The emulator loads all of a masked and of a fused operand, so the compiler makes none of these.
against_emulator() { # ARCH INSTRUCTIONS ROUNDS COMPILER...
    [[ $1 != x86_64 || $(uname -m) == x86_64 ]] || skip "the compiler is not for x86-64"
    need "qemu-$1" "the emulator"
    need "$4"
    [[ $1 != aarch64 ]] || need aarch64-linux-gnu-ld "the cross compiler"
    against "$@"
}

# With breakpoints of the kernel: what each of them sees is what the instruction accesses. The program is
# killed when enough was seen, however long that takes, and else ends after its rounds. It is the recorded one but
# for a number, so both are one build.
at_breakpoints() { # INSTRUCTIONS COMPILER...
    local said
    [[ $(uname -m) == x86_64 ]] || skip "the program's breakpoints are those of x86-64"
    said=$(cf-capture-perf --coarse page-faults --fine 64 -q -o needed.cf -- true 2>&1) || without "$said"
    "${@:2}" "${BUILD[@]}" -DSAME -DROUNDS=3 -o kernels "$ROOT/tests/operands/kernels.c"
    cf-capture-trace -q -o t.cf -- ./kernels
    cf-cat --csv --columns pc,op,addr,size t.cf >traced.csv
    "${@:2}" "${BUILD[@]}" -DSAME -DROUNDS=4000000 -o kernels "$ROOT/tests/operands/kernels.c"
    { cf-capture-perf -q --coarse t.cf --same-set 100000 --expire 20 -- ./kernels || true; } |
        cf-cat --csv --columns time,tid,pc,op,addr,size,stage | tee rows.csv |
        awk -F, -v least="$1" '$7 == 2 && !killed { n += !seen[$3]++; times++
            if (n > least && times > 40 * least) { killed = 1; system("kill " $2) } }'
    sed -n '1p;/,2$/p' rows.csv >seen.csv
    run -0 python3 "$ROOT/tests/operands/within.py" seen.csv traced.csv
    [[ ${output% *} -gt $1 && ${output#* } -gt $((20 * $1)) ]] || fail "$output"
}

@test "breakpoints, gcc -O2" { at_breakpoints 30 gcc -O2; }

@test "gcc -O0" { against_trace 1 gcc -O0; }
@test "gcc -O2" { against_trace 1 gcc -O2; }
# bats test_tags=slow
@test "gcc -O3, AVX2" { against_trace 1 gcc -O3 -march=haswell; }
# bats test_tags=slow
@test "clang -O3, gathers" { against_trace 1 clang -O3 -march=skylake; }

@test "x86-64 in emulation, gcc -O1" { against_emulator x86_64 10000 1 gcc -O1; }
# bats test_tags=slow
@test "x86-64 in emulation, clang -O3, SSE4" { against_emulator x86_64 10000 1 clang -O3 -msse4.2; }
@test "AArch64 in emulation, gcc -O0" { against_emulator aarch64 60000 1 aarch64-linux-gnu-gcc -O0; }
# bats test_tags=slow
@test "AArch64 in emulation, gcc -O2" { against_emulator aarch64 20000 1 aarch64-linux-gnu-gcc -O2; }
# bats test_tags=slow
@test "AArch64 in emulation, clang -O1" { against_emulator aarch64 20000 1 clang --target=aarch64-linux-gnu -O1; }
@test "AArch64 in emulation, clang -O3, LSE" {
    against_emulator aarch64 20000 1 clang --target=aarch64-linux-gnu -O3 -march=armv8.2-a
}

@test "AArch64: random loads and stores are what a disassembler prints, and what it refuses is refused" {
    need llvm-mc "LLVM's assembler"
    need llvm-objdump "LLVM's disassembler"
    run -0 python3 "$ROOT/tests/operands/disassembled.py" 20000 1
    read -r known mnemonics <<<"$output"
    [[ $known -gt 9000 && $mnemonics -gt 140 ]] || fail "$output"
}

@test "AArch64: cf-capture perf compiles, takes registers out of a sample, and samples out of a trace" {
    need qemu-aarch64 "the emulator"
    need aarch64-linux-gnu-gcc "the cross compiler"
    local cc=(aarch64-linux-gnu-gcc -std=gnu11 -D_GNU_SOURCE -DCF_VERSION='""' -Wall -Wextra -Werror -I"$ROOT"
        -idirafter /usr/include) source
    for source in "$ROOT"/capture/cf-capture-perf.c "$ROOT"/capture/{events,perf,perf/tasks}/*.c; do
        "${cc[@]}" -fsyntax-only "$source"
    done
    "${cc[@]}" -static -o registers "$ROOT/tests/unit/test_sampled_registers.c" "$ROOT/formats/base/cf_memory.c" \
        "$ROOT"/capture/spe/*.c "$ROOT/capture/base/cf_data_src.c"
    run -0 qemu-aarch64 ./registers
    [[ $output == *"- register 31"* ]]
    "${cc[@]}" -static -o traces "$ROOT/tests/unit/test_perf_aux.c" "$ROOT/formats/base/cf_memory.c" \
        "$ROOT"/capture/spe/*.c "$ROOT/capture/base/cf_data_src.c"
    run -0 qemu-aarch64 ./traces
    [[ $output == *"- the counter of ARM can be read"* && $output != *"not ok"* ]]
}
