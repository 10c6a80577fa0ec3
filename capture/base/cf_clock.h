/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_clock.h - the finest clock that a program may read without the kernel: the counter of time
 * stamps on x86-64, where it ticks steadily (Intel SDM, volume 3B, "Invariant TSC"), the virtual
 * counter on AArch64 (Arm ARM, CNTVCT), else the kernel's monotonic clock.
 */
#ifndef CF_CLOCK_H
#define CF_CLOCK_H

#include <stdint.h>

/* Ticks now. Nothing before it is still under way, and nothing after it has begun. */
uint64_t cf_clock(void);

const char *cf_clock_name(void); /* tsc, cntvct or clock_monotonic */
uint64_t cf_clock_hz(void);      /* ticks a second */

#endif
