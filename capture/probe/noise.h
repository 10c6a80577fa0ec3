/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * noise.h - a bench on which another one is measured as a machine would be that others use, too:
 * times vary, and another program takes lines out of the caches.
 *
 * Each time, of an access or of all accesses of a visit, is longer or shorter by up to a part of
 * it, all values alike. The other program comes after 1 to 2 * NOISE_CALM accesses, all numbers
 * alike, also within a visit, and makes 1 to NOISE_LINES accesses, 64 bytes apart, in memory of its
 * own, whose lines no forget() takes away: those of the last time are visited again after it.
 */
#ifndef CF_PROBE_NOISE_H
#define CF_PROBE_NOISE_H

#include "capture/probe/bench/bench.h"

enum { NOISE_CALM = 100000, NOISE_LINES = 1024, NOISE_STEP = 64, NOISE_ROOM = 16 << 20 };

struct noise {
    struct cf_bench bench; /* this one is measured */
    struct cf_bench *on;
    double part; /* of a time, 0.05 for a twentieth */
    uint64_t state;
    uint64_t calm; /* accesses until the other program comes */
    uint64_t other[NOISE_LINES];
    uint32_t others; /* lines that it has had since the last forget() */
};

/* `on` has a buffer of NOISE_ROOM bytes more than is measured. */
void noise_begin(struct noise *n, struct cf_bench *on, double part, uint64_t seed);

#endif
