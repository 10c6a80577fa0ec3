# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# For the suites of pagectl.ko, after guest/suite: what a guest is to run, the same on each
# architecture.

# pagectl_script POOL USED PAGES WAYS: a pool of 120 frames at that address; one that the kernel itself
# uses; how many pages pages_yield restores, and how often it gives way more than a kernel would that does
# not let go of its locks: the more the longer restoring takes in the emulator
pagectl_script() {
    cat <<END
insmod /pagetab.ko
check refused.pages.form "not ADDRESS,SIZE" "pool=0x1000" pagectl
check refused.pages.size "not a number of whole pages" "pool=$1,4095" pagectl
check refused.pages.nowhere "not memory that Linux manages" "pool=0x7f00000000,4096" pagectl
check refused.pages.used "in use by what cannot be moved" "pool=$2,4096" pagectl
insmod /pagectl.ko
check pages_info.none 0
check pages_errors.none
rmmod pagectl
insmod /pagectl.ko pool=$1,480K
check pages_info 120
check pages_set
check pages_fault
check pages_data 4
check pages_change
check pages_yield $3 $4
check pages_end
check pages_errors
check pages_rights
check pages_huge
check pages_move
check pages_busy 24
check pages_fuzz 600
check pages_leak 10000
check pages_info.after 120
check pages_unload
insmod /pagectl.ko pool=$1,480K
check pages_info.again 120
END
}
