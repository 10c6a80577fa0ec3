/* SPDX-License-Identifier: BSD-2-Clause */
/* nested_parts.h - the state of nested.c, and the levels behind the first (nested_levels.c). */
#ifndef CF_NESTED_PARTS_H
#define CF_NESTED_PARTS_H

#include "filters/engine/pages/pages.h"
#include "filters/engine/rows/sets.h"

enum { DEEPER = 3, MOST_WAYS = 64 };

/* A line in a list. */
struct used {
    uint64_t line;
    uint32_t place, id;
    uint32_t dirty; /* it is dirty for k below this */
};

struct list {
    struct used *used; /* the last one used first */
    size_t room;
    uint32_t count;
};

struct first {
    struct cf_sets sets;
    uint32_t ways;
    unsigned depth;
    struct list *list; /* by set; NULL: no such level */
};

enum what { READ, WRITE, PART, LAST_PART };

struct event {
    uint32_t id, from, to; /* for k in [from, to) */
    uint32_t misses;       /* of a part: it is read further out for k from here up */
    uint32_t set[DEEPER];
    uint8_t what, op, depth; /* depth: of the first level */
};

struct deeper {
    struct cf_sets sets;
    uint32_t ways, depth;
    size_t lines;
};

/* The further levels with one k. */
struct with {
    uint32_t *line[DEEPER]; /* ids + 1, by set, the last one used first; DIRTY */
    uint64_t cycles;
    uint8_t slowest; /* of the parts so far */
};

enum { DIRTY = 1u << 31 };

struct cf_nested {
    const struct cf_paged_machine *m;
    const uint32_t *place;
    uint32_t most, from, to; /* k of all pages; k that are wanted: [from, to) */
    unsigned shift;          /* log2 of a line */
    struct first first[2];   /* for data, for fetches */
    int split;
    unsigned levels;
    struct deeper deeper[DEEPER];
    struct with *with; /* by k - from */
    int64_t *change;   /* of cycles, from k to the next */
    uint64_t *line_of; /* by id */
    size_t line_room;
    struct event *event;
    size_t event_room;
    uint32_t events;
    int failed; /* no memory for events */
};

/* Shows all events to the further levels of each k, by at most so many threads; then there are
   none. */
void cf_nested_flush(struct cf_nested *n, unsigned threads);

#endif
