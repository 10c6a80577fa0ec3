/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * candidates_parts.h - what the files of candidates.h share: their state, and the set at hand.
 *
 * The universe of a set, what it held and what was accessed, is sorted; the place of a line in it
 * is its number, by which everything else is found.
 */
#ifndef CF_CANDIDATES_PARTS_H
#define CF_CANDIDATES_PARTS_H

#include "filters/engine/replacement/candidates.h"

enum { FIXED = CF_CANDIDATES_ALL - 1, RUNS = 64 }; /* deterministic; runs of the random one */

struct access {
    uint64_t line;
    uint32_t next; /* index + 1 */
    uint32_t flush;
};

/* What is known of a line of the universe. */
struct member {
    uint64_t line;
    uint8_t before, accessed, now;
    uint32_t place;       /* index + 1 among the lines that a random run may evict */
    uint32_t last_event;  /* index */
    uint64_t first, last; /* access, counted from 1 */
};

/* When a line was used last and when it came in; 0 = not known. */
struct times {
    uint64_t used, came;
};

struct set {
    uint32_t head, tail; /* of its accesses, index + 1 */
    uint8_t ready, left_out;
};

struct cf_candidates {
    uint32_t sets, ways;
    struct cf_cache *cache[FIXED];
    uint64_t *line; /* sets x ways: the snapshot before */
    struct times *times;
    struct set *set;
    struct access *log;
    uint32_t logged;
    size_t log_room;
    uint64_t clock; /* accesses so far */
    uint64_t random;
    /* of the set at hand */
    struct member *member; /* the universe */
    uint32_t *event;       /* number of the line * 2 + flush */
    uint32_t lines, events;
    size_t member_room, event_room;
    /* results */
    struct cf_candidates_totals totals;
    uint64_t exact[FIXED], predicted[FIXED], right[FIXED];
    uint64_t differs[FIXED][FIXED];
    double others[FIXED]; /* ln of the outcomes beside the predicted one, where it was not exact */
    double likelihood;    /* of random */
};

/* A set between two snapshots. */
struct view {
    uint32_t set;
    const uint64_t *before, *now;
    uint32_t held, holds;         /* valid lines before and now */
    uint32_t accessed, survived;  /* lines that were accessed, and those of them that are there */
    uint32_t others, others_left; /* the same of lines that were not */
    int flushed, unexplained;
};

/* ln of the chance that random victims leave what is there. The line of the last event is. */
double cfc_ln_random(struct cf_candidates *r);

#endif
