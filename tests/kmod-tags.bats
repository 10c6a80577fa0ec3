# SPDX-License-Identifier: BSD-2-Clause
#
# cacheflow.ko on arm64, in guests of a Cortex-A57 and a Cortex-A72 with emulated tag memories
# (tests/guest/tagram.c): what is put into them comes out. Two boots of an emulator at the same time.
# Takes long: guests.
load lib
load guest/suite

setup_file() {
    guest_build arm64
    [[ -z $WHY ]] || return 0
    guest_boot arm64 fill2 -cpu cortex-a57 -smp 1 <<'END' &
insmod /tagram.ko l2_kb=2048
insmod /cacheflow.ko force=1 size=1048576
check fill.apart 0 9 2048 16
commands commands.apart
rmmod cacheflow
rmmod tagram
insmod /tagram.ko l2_kb=2048 whole=1
insmod /cacheflow.ko force=1 assume=1 size=1048576
check info.a57 cortex-a57 2048 0
check fill.l2 0 36 2048 16
check full.l1d 1
check leak 1 300
commands commands
END
    # Memory above 256 MB is not Linux's.
    guest_boot arm64 fill1 -cpu cortex-a72 -smp 1 -m 320 -append mem=256m <<'END'
insmod /tagram.ko l2_kb=1024 whole=1
check refused.in-use "Linux uses memory there" "force=1 phys=0x4ff00000 size=4194304"
insmod /cacheflow.ko force=1 phys=0x52000000 size=2097152
check info cortex-a72 1024 1
check fill.l2 0 36 1024 16
check fill.l1d 1 90 256 2
check fill.l1i 2 90 256 3
check full
check map
check owners
commands commands
END
    wait
}

@test "L2 of 2 MB: random fillings come out, also with each instruction on its own" {
    passed fill2 fill.apart
    passed fill2 fill.l2
}

@test "L2 of 1 MB: random fillings come out" {
    passed fill1 fill.l2
}

@test "first level, data and instructions: random fillings come out" {
    passed fill1 fill.l1d
    passed fill1 fill.l1i
}

@test "RAMINDEX is given only commands that the CPU takes, with interrupts off" {
    passed fill2 commands.apart
    passed fill2 commands
    passed fill1 commands
}

@test "geometry and backend are those of the CPU; a configuration that makes no sense is refused" {
    passed fill1 info
    passed fill2 info.a57
}

@test "owners of anonymous, file, shared, fork-shared, large and unmapped pages are those of pagemap" {
    passed fill1 owners
}

@test "a full buffer says so and is not overwritten" {
    passed fill2 full.l1d
    passed fill1 full
}

@test "read and mmap give the same bytes, and neither can be written" {
    passed fill1 map
}

@test "snapshots leave nothing allocated, and no process held" {
    passed fill2 leak
}

@test "a buffer in memory that Linux does not use; one that Linux uses is refused" {
    passed fill1 refused.in-use
}

@test "no warning in the kernel's log" {
    passed fill1 kernel-log
    passed fill2 kernel-log
}
