# SPDX-License-Identifier: BSD-2-Clause
#
# cacheflow.ko on x86, whose caches cannot be read: everything but RAMINDEX, by backend=model, in a
# guest of an emulator, and cf-capture snapshot with it. tests/guest/tagram.c fills the model.
# Takes long: a guest.
load lib
load guest/suite
load guest/trigger

setup_file() {
    guest_build amd64
    [[ -z $WHY ]] || return 0
    guest_programs amd64
    cat >"$G/script" <<'END'
check refused.no-cpu "no CPU here" ""
check refused.shape "invalid" "backend=model model_sets=3"
check refused.in-use "Linux uses memory there" "backend=model phys=0x1000000 size=4096"
check refused.nothing "there is no memory" "backend=model phys=0x700000000 size=16777216"
insmod /cacheflow.ko backend=model size=4194304
insmod /tagram.ko
check info model 2048 2
check fill 0 36 2048 16
check full
check map
check owners offline
check free 3000
check hugetlb
check reused
check truncated
check zeros
check freeze 5
check cost 2
check rights
check fuzz 20000
rmmod cacheflow
insmod /cacheflow.ko backend=model size=524288
check replace
rmmod cacheflow
insmod /cacheflow.ko backend=model model_sets=64 size=1048576
check fill.small 0 36 64 16
check free.few 60
check leak.both 0 100
echo 0 >/sys/devices/system/cpu/cpu1/online
check leak 0 300
echo 1 >/sys/devices/system/cpu/cpu1/online
check clients 0
check stuck 0
check unplug 0 8
check unload 0 8 "backend=model model_sets=64 size=1048576"
rmmod cacheflow
rmmod tagram
END
    trigger_script >>"$G/script" <<'END'
modules() {
    insmod /cacheflow.ko backend=model model_sets=$1 size=$2
    insmod /tagram.ko
}
END
    # Page tables of five levels.
    guest_boot amd64 deep -cpu max -smp 2 -kernel "$S/amd64/packed" <<'END' &
grep -q -w la57 /proc/cpuinfo && echo "CHECK ok levels: $(cat /proc/version)"
insmod /cacheflow.ko backend=model size=4194304
insmod /tagram.ko
check owners
insmod /pagetab.ko
insmod /pagectl.ko
check pages_set
check pages_errors
END
    # With memory that is plugged in and not in use.
    guest_boot amd64 model -smp 2 -m 256,slots=1,maxmem=4G -append memhp_default_state=offline \
        -object memory-backend-ram,id=spare,size=128M -device pc-dimm,memdev=spare <"$G/script"
    wait
}

@test "random fillings come out" {
    passed model fill
    passed model fill.small
}

@test "the model has to be asked for, and is refused in a shape that makes no sense" {
    passed model refused.no-cpu
    passed model refused.shape
    passed model info
}

@test "owners of anonymous, file, shared, fork-shared, large and unmapped pages are those of pagemap" {
    passed model owners
    passed model hugetlb
}

@test "memory that was unmapped is free, in blocks and in what a CPU keeps for itself" {
    passed model free
    passed model free.few
}

@test "page tables of five levels: owners are those of pagemap, and pages are what pagectl sets" {
    passed deep levels
    passed deep owners
    passed deep pages_set
    passed deep pages_errors
    passed deep kernel-log
}

@test "more owners than there is room for are counted, and no line is lost" {
    passed model truncated
}

@test "a thread that gets the number of a process which has just ended is not taken for that" {
    passed model reused
}

@test "memory that was read and never written has one owner for each mapping, not for each page" {
    passed model zeros
}

@test "other CPUs make no progress during a snapshot" {
    passed model freeze
}

@test "the cost in cycles is in the record" {
    passed model cost
}

@test "a full buffer says so and is not overwritten" {
    passed model full
}

@test "a snapshot that the buffer is too small for does not cost the one before" {
    passed model replace
}

@test "read and mmap give the same bytes, and neither can be written" {
    passed model map
}

@test "snapshots leave nothing allocated, and no process held" {
    passed model leak
    passed model leak.both
}

@test "two clients: one owns the buffer, the other may look" {
    passed model clients
}

@test "a client that waits for its own memory holds up nobody" {
    passed model stuck
}

@test "a CPU that is unplugged while it reads" {
    passed model unplug
}

@test "unloading is refused while the device is in use, and clean after its user was killed" {
    passed model unload
}

@test "fuzzed calls" {
    passed model fuzz
}

@test "neither another user nor root without CAP_SYS_RAWIO may open the device" {
    passed model rights
}

@test "a buffer where Linux has its memory, or where there is none, is refused" {
    passed model refused.in-use
    passed model refused.nothing
}

@test "--probe tells whether the module is there" {
    triggered model no-module
    triggered model probe
}

@test "flush: 6 snapshots hold the lines that were put in, with process and address" {
    triggered model flush
}

@test "transparent: 9 snapshots from the buffer hold the same" {
    triggered model transparent
}

@test "two snapshots back to back; a breakpoint" {
    triggered model twice
    triggered model break
}

@test "a full buffer is told by the program, and what it holds is written" {
    triggered model full
}

@test "no warning in the kernel's log" {
    passed model kernel-log
}
