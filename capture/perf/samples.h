/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.h - samples become rows of table access, and what the kernel lost becomes rows of table
 * lost.
 *
 * Rows of accesses are kept until those of mappings and objects of their time are written.
 */
#ifndef CF_PERF_SAMPLES_H
#define CF_PERF_SAMPLES_H

#include "capture/perf/fine.h"
#include "capture/perf/heap.h"

struct cf_perf_row;

struct cf_perf_rows {
    struct cf_writer *out;
    struct cf_fine *fine;
    struct cf_tasks *tasks;
    struct cf_heap *heap;
    struct cf_perf_row *kept;
    size_t count, room;
    uint64_t start_ns, last_ns;
    int latencies; /* samples have them */
    uint64_t rows, lost, throttled;
    uint64_t truncated, collided; /* parts of a trace in which samples were lost */
    uint64_t placeless;           /* without address or operation */
    uint64_t undecoded;           /* faults of instructions that could not be read or decoded */
    uint64_t long_cost;           /* whose latency is above 32 bits: their cost is UINT32_MAX */
    uint64_t observer;            /* of the library that records heap objects */
};

void cf_perf_rows_begin(struct cf_perf_rows *s, struct cf_writer *out, struct cf_fine *fine,
                        struct cf_tasks *tasks, struct cf_heap *heap, uint64_t start_ns);

void cf_perf_rows_free(struct cf_perf_rows *s);

/* -1 when the output takes no more, or without memory. */
int cf_perf_rows_take(struct cf_perf_rows *s, const struct cf_record *r);
/* A record that is no sample. */
int cf_perf_rows_note(struct cf_perf_rows *s, const struct cf_record *r);
/* So many more records were lost, it is not known where. */
int cf_perf_rows_untold(struct cf_perf_rows *s, uint64_t count);
/* Writes the rows of accesses that are kept. */
int cf_perf_rows_put(struct cf_perf_rows *s);

/* The time that has been written last. */
uint64_t cf_perf_rows_time(const struct cf_perf_rows *s);

#endif
