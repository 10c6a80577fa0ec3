# SPDX-License-Identifier: BSD-2-Clause
#
# cacheflow.ko on arm64, in a guest with emulated tag memories (tests/guest/tagram.c): owners are
# right, the module does no harm, and cf-capture snapshot works with it. What is in the memories is
# tests/kmod-tags.bats.
# Takes long: a guest.
load lib
load guest/suite
load guest/trigger

setup_file() {
    guest_build arm64
    [[ -z $WHY ]] || return 0
    guest_programs arm64
    cat >"$G/script" <<'END'
insmod /tagram.ko l2_kb=512 whole=1 hidden=1
check refused.hidden "below a hypervisor" ""
echo 1000 >/sys/module/tagram/parameters/claim
check refused.claim "memory 0 claims 1000 sets" "force=1"
rmmod tagram
# A quarter of the entries of the cache that kmod-tags.bats fills.
insmod /tagram.ko l2_kb=512 whole=1
check refused.hypervisor "below a hypervisor" ""
check refused.backend "no such backend" "force=1 backend=cortex-a99"
check refused.other-backend "no CPU here" "force=1 backend=cortex-a72"
check refused.size "not a number of pages" "force=1 size=4095"
check refused.memory "no memory for a buffer" "force=1 size=1073741824"
check refused.in-use "Linux uses memory there" "force=1 phys=0x48000000 size=1048576"
insmod /cacheflow.ko force=1 assume=1 size=1048576
check info cortex-a57 512 0
check cost 1
divide=/sys/module/tagram/parameters/divide
for how in 1 2; do
    echo $how >$divide
    read -r begin _ </proc/uptime
    before=$(cat $divide)
    check cost.divided$how 1
    after=$(cat $divide)
    read -r end _ </proc/uptime
    # As it was; where others count, that has gone on by each 64th cycle, of one a nanosecond.
    counted=$((${after#* } - ${before#* })) passed=$(((${end%.*}${end#*.} - ${begin%.*}${begin#*.} + 2) * 10000000))
    [ $how = 2 ] || counted=0
    if [ "${before% *}" = $how ] && [ "${after% *}" = $how ] && [ $counted -ge 0 ] &&
        [ $((counted * 32)) -le $passed ]; then
        echo "CHECK ok divide$how: $before, $after, in $passed ns"
    else
        echo "CHECK FAILED divide$how: $before, $after, in $passed ns"
    fi
done
echo 0 >$divide
echo 1024 >/sys/module/tagram/parameters/claim
check geometry
echo 0 >/sys/module/tagram/parameters/claim
check full 0
check map
check owners
check hugetlb
check reused
check truncated
check zeros
check freeze 5
check leak 1 100
check clients 1
check stuck 1
check unplug 1 8
check rights
check fuzz 10000
check unload 1 8 "force=1 assume=1 size=1048576"
commands commands
rmmod cacheflow
rmmod tagram
END
    trigger_script >>"$G/script" <<'END'
modules() {
    insmod /tagram.ko l2_kb=$1 whole=1
    insmod /cacheflow.ko force=1 size=$2
}
END
    guest_boot arm64 system -cpu cortex-a57 -smp 2 <"$G/script"
}

@test "RAMINDEX is given only commands that the CPU takes, with interrupts off" {
    passed system commands
    triggered system commands
    triggered system commands.full
}

@test "geometry and backend are those of the CPU; a configuration that makes no sense is refused" {
    passed system info
}

@test "a cache that is not as it was is not read, nor one whose shape no cache has" {
    passed system geometry
    passed system refused.claim
}

@test "owners of anonymous, file, shared, fork-shared, large and unmapped pages are those of pagemap" {
    passed system owners
    passed system hugetlb
}

@test "more owners than there is room for are counted, and no line is lost" {
    passed system truncated
}

@test "a thread that gets the number of a process which has just ended is not taken for that" {
    passed system reused
}

@test "memory that was read and never written has one owner for each mapping, not for each page" {
    passed system zeros
}

@test "other CPUs make no progress during a snapshot" {
    passed system freeze
}

@test "the cost in cycles of the CPU is in the record" {
    passed system cost
}

@test "a cycle counter that counts each 64th counts each for a snapshot, and then as before" {
    passed system cost.divided1
    passed system divide1
    passed system cost.divided2
    passed system divide2
}

@test "a full buffer says so and is not overwritten" {
    passed system full
}

@test "read and mmap give the same bytes, and neither can be written" {
    passed system map
}

@test "snapshots leave nothing allocated, and no process held" {
    passed system leak
}

@test "two clients: one owns the buffer, the other may look" {
    passed system clients
}

@test "a client that waits for its own memory holds up nobody" {
    passed system stuck
}

@test "a CPU that is unplugged while it reads" {
    passed system unplug
}

@test "unloading is refused while the device is in use, and clean after its user was killed" {
    passed system unload
}

@test "fuzzed calls" {
    passed system fuzz
}

@test "neither another user nor root without CAP_SYS_RAWIO may open the device" {
    passed system rights
}

@test "a buffer in memory that Linux does not use; one that Linux uses is refused" {
    passed system refused.in-use
}

@test "parameters that make no sense are refused with a message" {
    passed system refused.hypervisor
    passed system refused.hidden
    passed system refused.backend
    passed system refused.other-backend
    passed system refused.size
    passed system refused.memory
}

@test "--probe tells whether the module is there" {
    triggered system no-module
    triggered system probe
}

@test "flush: 6 snapshots hold the lines that were put in, with process and address" {
    triggered system flush
}

@test "transparent: 9 snapshots from the buffer hold the same" {
    triggered system transparent
}

@test "two snapshots back to back; a breakpoint" {
    triggered system twice
    triggered system break
}

@test "a full buffer is told by the program, and what it holds is written" {
    triggered system full
}

@test "no warning in the kernel's log" {
    passed system kernel-log
}

@test "32-bit ARM: the module compiles without a warning" {
    guest_here
    run "$ROOT/tests/guest/guest" build armhf "$G/armhf"
    [[ $status != 3 ]] || skip "$output"
    [[ $status == 0 ]] || fail "$output"
}
