/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace.h - how fast the processor runs by the clock, and how finely that counts.
 */
#ifndef CF_PROBE_PACE_H
#define CF_PROBE_PACE_H

#include <stddef.h>
#include <stdint.h>

struct pace {
    uint64_t best;     /* ticks of the reference loop */
    uint64_t overhead; /* ticks between two readings of the clock */
    uint64_t step;     /* ticks by which the clock advances; UINT64_MAX: it stands */
};

/* Ticks of the reference loop: arithmetic, which needs no memory. */
uint64_t pace_loop(void);
void pace_take(struct pace *p);
/* A visit takes some 50 microseconds: -1 with the reason where the clock cannot tell its parts. */
int pace_check(const struct pace *p, char *why, size_t size);

#endif
