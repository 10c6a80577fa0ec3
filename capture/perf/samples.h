/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.h - samples become rows of table access, and what the kernel lost becomes rows of table
 * lost.
 */
#ifndef CF_PERF_SAMPLES_H
#define CF_PERF_SAMPLES_H

#include "capture/perf/fine.h"

struct cf_perf_rows {
    struct cf_writer *out;
    struct cf_fine *fine;
    uint64_t start_ns, last_ns;
    uint64_t rows, lost, throttled;
    uint64_t placeless; /* without address or operation */
};

void cf_perf_rows_begin(struct cf_perf_rows *s, struct cf_writer *out, struct cf_fine *fine,
                        uint64_t start_ns);

/* -1 when the output takes no more, or without memory. */
int cf_perf_rows_take(struct cf_perf_rows *s, const struct cf_record *r);
/* A record that is no sample. */
int cf_perf_rows_note(struct cf_perf_rows *s, const struct cf_record *r);

/* The time that has been written last. */
uint64_t cf_perf_rows_time(const struct cf_perf_rows *s);

#endif
