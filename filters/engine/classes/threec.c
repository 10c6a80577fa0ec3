/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threec.c - the fully associative cache beside a real one (see threec.h): lines become slots, and
 * slots go to full.c in batches, or one by one where there are flushes and stores that do not
 * allocate.
 */
#include <stdlib.h>

#include "filters/engine/rows/runs.h"
#include "filters/engine/classes/threec.h"

enum { BATCH = 4096 };

struct cf_threec {
    struct cf_slots *slots;
    struct cf_full *full;
    uint8_t apart; /* flags of references that need a step of their own */
    uint32_t slot[BATCH];
};

struct cf_threec *cf_threec_new(uint64_t lines, int no_allocate)
{
    struct cf_threec *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->apart = no_allocate ? CF_RUN_FLUSH | CF_RUN_STORE : CF_RUN_FLUSH;
    t->slots = cf_slots_new();
    t->full = cf_full_new(lines);
    if (!t->slots || !t->full) {
        cf_threec_free(t);
        return NULL;
    }
    return t;
}

void cf_threec_free(struct cf_threec *t)
{
    if (!t)
        return;
    cf_slots_free(t->slots);
    cf_full_free(t->full);
    free(t);
}

static int one_by_one(struct cf_threec *t, const uint8_t *flags, uint32_t count, uint8_t *found)
{
    for (uint32_t i = 0; i < count; i++) {
        unsigned special = flags[i] & t->apart;
        int f = cf_full_one(t->full, t->slots, t->slot[i],
                            special & CF_RUN_FLUSH ? CF_FULL_FLUSH
                            : special              ? CF_FULL_NO_ALLOCATE
                                                   : CF_FULL_TOUCH);

        if (f < 0)
            return -1;
        found[i] = (uint8_t)f;
    }
    return 0;
}

int cf_threec_look(struct cf_threec *t, const uint64_t *line, const uint8_t *flags, uint32_t count,
                   uint8_t *found)
{
    for (uint32_t from = 0, n; from < count; from += n) {
        int bad;

        n = count - from < BATCH ? count - from : BATCH;
        if (cf_slots_find(t->slots, line + from, n, t->slot) != 0)
            return -1;
        bad = cf_runs_flags(flags + from, n) & t->apart
                  ? one_by_one(t, flags + from, n, found + from)
                  : cf_full_touch(t->full, t->slots, t->slot, n, found + from);
        if (bad)
            return -1;
    }
    return 0;
}

int cf_threec_times(struct cf_threec *t, const uint64_t *line, uint32_t count, uint32_t *time)
{
    if (cf_slots_find(t->slots, line, count, time) != 0)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        time[i] = cf_full_time(t->full, time[i]);
    return 0;
}
