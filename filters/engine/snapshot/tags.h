/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tags.h - snapshots of a cache, one after the other, each as a table of what every way holds.
 *
 * snapshots.h finds the rows of each snapshot; here they become whole tables: the one of now
 * and the one before, so that what compares snapshots goes over two arrays. One level is looked
 * at; the caches of that level (by column cpu) lie behind each other.
 *
 * A line is known by its name (see there): its physical address, or where that is not known by
 * process and virtual address; on request the other way round.
 *
 * Memory: two tables, 8 bytes a line of the cache and up to 14 more for what is asked for; 24 bytes
 * for each further mapping of a line, where they are asked for; and what the walk takes.
 */
#ifndef CF_TAGS_H
#define CF_TAGS_H

#include <stddef.h>
#include <stdint.h>

#include "filters/engine/snapshot/snapshots.h"

#define CF_TAGS_NONE UINT64_MAX /* no valid line */

enum { CF_TAGS_MOST = 1 << 24, CF_TAGS_WAYS = 1024, CF_TAGS_CACHES = 1024 };

/* What is kept beside the line itself. */
enum cf_tags_keep {
    CF_TAGS_OWNER = 1, /* pid, addr */
    CF_TAGS_PID = 16,  /* pid alone */
    CF_TAGS_STATE = 2,
    CF_TAGS_MARK = 4,    /* as given to cf_snaps_marks() */
    CF_TAGS_VIRTUAL = 8, /* lines are known by process and virtual address where they have one */
};

/* Slot ((cache * set_room) + set) * way_room + way; slots behind `sets` and `ways` hold nothing. */
struct cf_tags {
    uint32_t caches, sets, ways;
    uint32_t set_room, way_room;
    const uint32_t *cpu; /* of each cache */
    uint64_t *line;      /* its name; CF_TAGS_NONE */
    uint64_t *addr;
    uint32_t *pid;
    uint8_t *state, *mark;
};

/* A further mapping of a line. */
struct cf_tags_owner {
    uint64_t line, addr;
    uint32_t pid;
};

struct cf_snaps {
    /* to be read after cf_snaps_next() gave 1 */
    struct cf_snapshot info;
    struct cf_tags now;
    struct cf_tags_owner *more; /* with CF_TAGS_OWNER: those of now beside each line's first */
    size_t mores, more_room;
    struct cf_snapshot info_before;
    struct cf_tags before; /* empty when this snapshot is the first of its segment */
    int first;             /* it is */
    uint64_t count;        /* snapshots so far, over all segments */
    /* of the whole input */
    uint64_t refused;         /* rows whose set or way the cache cannot have */
    struct cf_snapshot worst; /* the snapshot of the first of them, */
    uint32_t worst_set, worst_way;
    uint64_t nameless;     /* rows without any address */
    uint64_t other_levels; /* rows of other levels */
    unsigned level;        /* the one that is looked at, 0 while not known */
    struct cf_snaps_own *own;
};

/* `level` 0: that of the first row which has one. `keep`: enum cf_tags_keep. NULL without memory.
 */
struct cf_snaps *cf_snaps_new(unsigned level, unsigned keep) CF_MUST_CHECK;
void cf_snaps_free(struct cf_snaps *s);

/* Asks a reader for the columns. */
void cf_snaps_want(const struct cf_snaps *s, struct cf_reader *r);

/* Takes a frame in, of any table; it must live until cf_snaps_next() gives 0. -1 without memory. */
int cf_snaps_frame(struct cf_snaps *s, const struct cf_frame *f) CF_MUST_CHECK;

/* A mark for each row of the frame of table line that was taken in last, bits of which a line has
   those of all its rows. */
void cf_snaps_marks(struct cf_snaps *s, const uint8_t *mark);

/* No frame will follow. */
void cf_snaps_end(struct cf_snaps *s);

/* The next snapshot that is complete: 1; 0 when another frame is wanted; -1 without memory. */
int cf_snaps_next(struct cf_snaps *s) CF_MUST_CHECK;

/* The set of a slot's row, and its slots. */
static inline size_t cf_tags_slot(const struct cf_tags *t, uint32_t cache, uint32_t set)
{
    return ((size_t)cache * t->set_room + set) * t->way_room;
}

/* Slots of a table. */
static inline size_t cf_tags_slots(const struct cf_tags *t)
{
    return (size_t)t->caches * t->set_room * t->way_room;
}

/* Lines that the caches hold when they are full. */
static inline uint64_t cf_tags_capacity(const struct cf_tags *t)
{
    return (uint64_t)t->caches * t->sets * t->ways;
}

#endif
