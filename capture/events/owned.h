/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owned.h - threads that have events of their own and may have inherited those of another, too:
 * they began while their process was attached. Each record of such a thread, and of what it begins,
 * comes once.
 *
 * Memory: these threads and what they begin.
 */
#ifndef CF_EVENTS_OWNED_H
#define CF_EVENTS_OWNED_H

#include <stddef.h>
#include <stdint.h>

struct cf_record;

struct cf_owned_thread { /* from a time on, its events are those of the thread `by` */
    uint32_t tid, by;
    uint64_t since;
    uint64_t fault; /* time of its last sample of a page fault */
};

struct cf_owned {
    struct cf_owned_thread *thread; /* sorted by tid */
    size_t count, room;
};

/* -1 without memory. */
int cf_owned_add(struct cf_owned *o, const struct cf_owned_thread *t);

/* Whether a record at that time, the next one, by an event of a thread `by`, is one that comes by
   another event too: 1; else 0, or -1 without memory. */
int cf_owned_twice(struct cf_owned *o, const struct cf_record *r, uint32_t by, uint64_t time);

#endif
