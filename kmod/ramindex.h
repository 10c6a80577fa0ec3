/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The instructions that reach what no register shows, each under a global name of its own, so that
 * they can be found in a running kernel: in ramindex_arm64.S and ramindex_arm.S.
 */
#ifndef CACHEFLOW_RAMINDEX_H
#define CACHEFLOW_RAMINDEX_H

#include <linux/linkage.h>
#include <linux/types.h>

/* RAMINDEX with this command; then DL1DATA0 of the CPU that this runs on. */
asmlinkage u32 cacheflow_ramindex_l2(u32 command);

/* The same; DL1DATA0 in bits 31:0 and DL1DATA1 in 63:32. */
asmlinkage u64 cacheflow_ramindex_l1d(u32 command);

/* The same with IL1DATA0 and IL1DATA1. */
asmlinkage u64 cacheflow_ramindex_l1i(u32 command);

/* CCSIDR of the cache that CSSELR selects by this value. */
asmlinkage unsigned long cacheflow_ccsidr(unsigned long selector);

#endif
