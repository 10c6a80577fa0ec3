#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture snapshot with the real kernel module, in a guest of a Cortex-A57 whose tag memory answers
# RAMINDEX (tests/guest/tagram.c): the way that a snapshot takes on a board, from the breakpoint or
# signal to the stream.
load lib
load guest/suite
load guest/trigger

setup_file() {
    trigger_guest arm64 -cpu cortex-a57 -smp 2 <<'END'
modules() {
    insmod /tagram.ko l2_kb=$1 whole=1
    insmod /cacheflow.ko force=1 size=$2
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

@test "RAMINDEX was given only commands that the CPU takes" {
    passed trigger commands
    passed trigger commands.full
}

@test "no warning in the kernel's log" {
    passed trigger kernel-log
}
