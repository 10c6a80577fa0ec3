/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter.h - misses as the kernel's performance events count them, by the names of libpfm4 and the
 * presets of PAPI; section 5.1 of "Automatic Cache Modeling by Measurements" prefers them to time.
 */
#ifndef CF_PROBE_COUNTER_H
#define CF_PROBE_COUNTER_H

#include <stddef.h>
#include <stdint.h>

struct cf_counter {
    int fd; /* -1: none */
    char name[64];
};

/* The misses of loads in data cache `level`, or of instruction fetches in the first level (`code`):
   the first event of a list that this machine has. `name` is one of a user instead: an event of
   libpfm4 or PAPI_Ln_DCM and the like. -1 with the reason in `why`. */
int cf_counter_open(struct cf_counter *c, unsigned level, int code, const char *name, char *why,
                    size_t size);
void cf_counter_close(struct cf_counter *c);

/* From 0. */
void cf_counter_start(const struct cf_counter *c);
/* What was counted since. 1: not all the time, since the processor has too few counters for all
   that are open; -1 with errno. */
int cf_counter_stop(const struct cf_counter *c, uint64_t *count);

#endif
