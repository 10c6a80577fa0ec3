# SPDX-License-Identifier: BSD-2-Clause
#
# pagectl.ko on x86, in a guest: memory types in the page tables are those asked for, by a module that
# reads them (tests/guest/pagetab.c), and all is as before when it ends, however it does.
# Takes long: a guest.
# bats file_tags=slow
load lib
load guest/suite
load guest/pagectl

setup_file() {
    guest_build amd64
    [[ -z $WHY ]] || return 0
    local pool=0xd000000 movable=64M
    # the debug kernel has 1.5 GiB, of whose end it uses some 200 MiB itself before others can
    [[ ${CF_GUEST_RELEASE:-} != debug ]] || { pool=0x42000000 movable=512M; }
    pagectl_script $pool 0x1000000 6000 10 |
        guest_boot amd64 pages -smp 2 -append "movablecore=$movable"
}

@test "memory types are those asked for, of anonymous, shared and file memory and code; others stay" {
    passed pages pages_set
}

@test "pages are faulted in and pinned, and keep their type when they are written to" {
    passed pages pages_fault
}

@test "data written by one type is there by the other, with each change" {
    passed pages pages_data
}

@test "nothing is lost of what threads count while their pages change" {
    passed pages pages_busy
}

@test "munmap, mremap, mprotect, madvise and fork: no entry of ours is moved, copied or left" {
    passed pages pages_change
}

@test "while many pages are restored, others get the CPU in between" {
    passed pages pages_yield
}

@test "all is as before after close, another target, exit and kill -9, of the process and of the user" {
    passed pages pages_end
}

@test "unloading is refused while the device is open, and changes nothing" {
    passed pages pages_unload
}

@test "pages move to the pool with data and type, and back; what cannot move is named" {
    passed pages pages_info
    passed pages pages_move
    passed pages pages_info.after
    passed pages pages_info.again
}

@test "a part of a large page is treated alone; hugetlbfs is refused" {
    passed pages pages_huge
}

@test "each error of each request, with a pool and without" {
    passed pages pages_info.none
    passed pages pages_errors.none
    passed pages pages_errors
}

@test "neither another user nor root without CAP_SYS_RAWIO or CAP_SYS_PTRACE" {
    passed pages pages_rights
}

@test "fuzzed lists and calls" {
    passed pages pages_fuzz
}

@test "10,000 operations leave nothing allocated, and no process held" {
    passed pages pages_leak
}

@test "a pool that cannot be is refused with a message" {
    passed pages refused.pages.form
    passed pages refused.pages.size
    passed pages refused.pages.nowhere
    passed pages refused.pages.used
}

@test "no warning in the kernel's log" {
    passed pages kernel-log
}
