/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the tests say to tagram.ko: a write() to /dev/tagram holds one tagram_content and then
 * `count` of struct cacheflow_line, and is from then on all that is in that memory.
 */
#ifndef CACHEFLOW_TAGRAM_H
#define CACHEFLOW_TAGRAM_H

#include "kmod/cacheflow.h"

/* As `ram`: holds the lock of mappings of the file whose descriptor is `count`, as who changes
   shared page tables does, until another such write, where -1 means none. */
#define TAGRAM_HOLD 0xffffu

struct tagram_content {
    __u32 ram; /* enum cacheflow_ram_id */
    __u32 count;
    __u32 noise; /* seed of what stands in entries that are not valid and in unreliable bits */
    __u32 reserved;
};

#endif
