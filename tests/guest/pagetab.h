/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What pagetab.ko and the checks agree on: a read of /dev/pagetab takes what is asked from the
 * buffer, and puts the answer there.
 */
#ifndef CACHEFLOW_PAGETAB_H
#define CACHEFLOW_PAGETAB_H

#include <linux/types.h>

struct pagetab {
    __u64 addr;  /* in: of a page */
    __s32 pid;   /* in */
    __s32 error; /* out: of the look, 0 or negative */
    __u64 entry; /* out: of the page table */
    __u64 types; /* out: MAIR_EL1 or IA32_PAT, which the entry's type is a place of */
    __s64 pins;  /* out: references to the page beyond those of its mappings */
};

#endif
