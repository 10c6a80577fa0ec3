/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.h - events by the names that libpfm4 has for those of all processors. Its header and the
 * kernel's declare the same, so that names.c has the first alone.
 */
#ifndef CF_EVENTS_NAMES_H
#define CF_EVENTS_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct cf_perf_name { /* as in struct perf_event_attr */
    uint32_t type, precise_ip;
    uint64_t config, config1, config2;
    int foreign;            /* no event of this machine's processor */
    int no_user, no_kernel; /* of these levels it counts nothing: the kernel only where the name
                               says so, or of the kernel's own events */
};

/* What an event is, also of another processor than this one: 0, or -1 with the reason in `why`. */
int cf_perf_name(const char *name, struct cf_perf_name *is, char *why, size_t size);

#endif
