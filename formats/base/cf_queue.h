/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_queue.h - those that wait, of whom the next one is that with the highest count, and of several
 * the one with the lowest number.
 *
 * A binary heap. Memory: 16 to 32 bytes for each that waits at once, and 4 to 8 for each number up
 * to the highest that ever waited.
 */
#ifndef CF_QUEUE_H
#define CF_QUEUE_H

#include "formats/stream/cf.h"

struct cf_queued {
    uint64_t count;
    uint32_t number;
};

/* Begins as {0}. */
struct cf_queue {
    uint32_t waiting;
    struct cf_queued *heap; /* none has a turn before that at half its index */
    uint32_t *place;        /* of a number in the heap, from 1; 0: does not wait */
    size_t room, places;
};

void cf_queue_free(struct cf_queue *q);

/* `number`, below 2^32 - 1, does not wait yet. -1 without memory. */
int cf_queue_put(struct cf_queue *q, uint32_t number, uint64_t count) CF_MUST_CHECK;

/* If `number` waits it has this count from now on, which is not less than before. */
void cf_queue_more(struct cf_queue *q, uint32_t number, uint64_t count);

/* The next one, which waits no longer; q->waiting is not 0. */
uint32_t cf_queue_take(struct cf_queue *q);

#endif
