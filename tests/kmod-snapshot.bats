#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture snapshot with the real kernel module, in an x86 guest whose cache is backend=model.
load lib
load guest/suite
load guest/trigger

setup_file() {
    trigger_guest amd64 -smp 2 <<'END'
modules() {
    insmod /cacheflow.ko backend=model model_sets=$1 size=$2
    insmod /tagram.ko
}
END
}

@test "--probe tells whether the module is there" {
    passed trigger no-module
    passed trigger probe
}

@test "flush: 6 snapshots hold the lines that were put in, with process and address" {
    passed trigger flush
}

@test "transparent: 9 snapshots from the buffer hold the same" {
    passed trigger transparent
}

@test "two snapshots back to back; a breakpoint" {
    passed trigger twice
    passed trigger break
}

@test "a full buffer is told, and what it holds is written" {
    passed trigger full
}

@test "no warning in the kernel's log" {
    passed trigger kernel-log
}
