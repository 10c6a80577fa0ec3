/* SPDX-License-Identifier: BSD-2-Clause */
/* nested_parts.h - the state of nested.c, and the levels behind the first (nested_levels.c). */
#ifndef CF_NESTED_PARTS_H
#define CF_NESTED_PARTS_H

#include "filters/engine/pages/pages.h"
#include "filters/engine/pages/share.h"
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

/* A part is one of several lines of an access: it costs nothing before its END. */
enum what { READ, WRITE, PART, END };

struct event {
    uint32_t id, from, to; /* for k in [from, to) */
    uint32_t set[DEEPER];
    uint8_t what, op, depth; /* depth: of the first level */
};

struct deeper {
    struct cf_sets sets;
    uint32_t ways, depth;
};

/* What a set of a further level holds with k from `from` up to that of the span before it, which is
   of greater k, in an array of words: from; number of the next one, 0: none; the lines: ids + 1,
   DIRTY, the last one used first. */
enum { SPAN_FROM, SPAN_NEXT, SPAN_LINES };

/* The further levels with k in [from, to), which one thread takes. */
struct part {
    uint32_t from, to;
    struct {
        uint32_t *head; /* by set: its first span, 0: it is empty with all k */
        uint32_t *word;
        size_t room, used; /* in words */
        uint32_t unused;   /* the first span of those that are not in use */
    } level[DEEPER];
    int64_t *change;  /* of cycles, from k - from to the next */
    uint8_t *slowest; /* of the parts so far, by k - from; 0: the first level */
    int parts;        /* what is read is a part */
    unsigned op;
    int failed; /* no memory */
};

enum { DIRTY = 1u << 31 };

struct cf_nested {
    const struct cf_paged_machine *m;
    const uint32_t *place;
    uint32_t most, from, to; /* k of all pages; k that are wanted: [from, to) */
    unsigned shift;          /* log2 of a line */
    struct first first[2];   /* for data, for fetches */
    int split;
    unsigned levels, parts;
    struct deeper deeper[DEEPER];
    struct part part[CF_SHARE_THREADS];
    int64_t *change;   /* of cycles, from k to the next */
    uint64_t *line_of; /* by id */
    size_t line_room;
    struct event *event;
    uint32_t events;
};

/* Shows all events to the further levels; then there are none. */
void cf_nested_flush(struct cf_nested *n);

#endif
