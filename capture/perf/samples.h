/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.h - samples become rows of table access, and what the kernel lost becomes rows of table
 * lost.
 */
#ifndef CF_PERF_SAMPLES_H
#define CF_PERF_SAMPLES_H

#include "capture/perf/fine.h"

struct cf_samples {
    struct cf_writer *out;
    struct cf_fine *fine;
    uint64_t start_ns, last_ns;
    uint64_t rows, lost, throttled;
    uint64_t placeless; /* without address or operation */
};

void cf_samples_begin(struct cf_samples *s, struct cf_writer *out, struct cf_fine *fine,
                      uint64_t start_ns);

/* -1 when the output takes no more, or without memory. */
int cf_samples_take(struct cf_samples *s, const struct cf_record *r);
/* A record that is no sample. */
int cf_samples_note(struct cf_samples *s, const struct cf_record *r);

/* The time that has been written last. */
uint64_t cf_samples_time(const struct cf_samples *s);

/* Column level from data_src: 1 is a hit in the first level, a fill buffer is beyond it, 255 what
   is no cache of this processor, 0 where it states nothing. */
unsigned cf_samples_level(uint64_t data_src);

#endif
