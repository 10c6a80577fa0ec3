/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owned.c - which of a thread's events count. See owned.h.
 */
#include "capture/events/owned.h"
#include "capture/events/records.h"
#include "formats/base/cf_memory.h"

/* Where it is, or belongs. */
static size_t place_of(const struct cf_owned *o, uint32_t tid)
{
    size_t low = 0, high = o->count;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (o->thread[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct cf_owned_thread *find(const struct cf_owned *o, uint32_t tid)
{
    const size_t at = place_of(o, tid);

    return at < o->count && o->thread[at].tid == tid ? &o->thread[at] : NULL;
}

int cf_owned_add(struct cf_owned *o, const struct cf_owned_thread *t)
{
    const size_t at = place_of(o, t->tid);

    if (!find(o, t->tid)) {
        if (cf_array_room(&o->thread, &o->room, o->count + 1, sizeof *t) != 0)
            return -1;
        memmove(&o->thread[at + 1], &o->thread[at], (o->count++ - at) * sizeof *t);
    }
    o->thread[at] = *t;
    return 0;
}

/* What begins has the events of the one that begins it; its number may have been another's. */
static int inherit(struct cf_owned *o, const struct cf_owned_thread *from, uint32_t tid,
                   uint64_t time)
{
    const struct cf_owned_thread *t = find(o, tid);
    const size_t at = place_of(o, tid);

    if (t && t->since > time) /* it got its own later */
        return 0;
    if (from)
        return cf_owned_add(o, &(struct cf_owned_thread){tid, from->by, time, 0});
    if (t)
        memmove(&o->thread[at], &o->thread[at + 1], (--o->count - at) * sizeof *t);
    return 0;
}

int cf_owned_twice(struct cf_owned *o, const struct cf_record *r, uint32_t by, uint64_t time)
{
    struct cf_owned_thread *t = find(o, r->tid);
    int again;

    if (t && t->since > time)
        t = NULL;
    switch (r->type) {
    case PERF_RECORD_SAMPLE:
        if (!t || r->kind != CF_PERF_FAULTS)
            return t && t->by != by;
        /* A kernel may give all samples of a fault the event and the time of the first. */
        again = t->fault == time;
        t->fault = time;
        return (t->by != by) != again;
    case PERF_RECORD_MMAP2:
    case PERF_RECORD_COMM:
    case PERF_RECORD_EXIT:
        return t && t->by != by;
    case PERF_RECORD_FORK:
        if (t && t->by != by)
            return 1;
        return r->length < 12 ? 0 : inherit(o, t, cf_record_half(r->body + 8), time);
    default: /* of a ring, or of an event as such */
        return 0;
    }
}
