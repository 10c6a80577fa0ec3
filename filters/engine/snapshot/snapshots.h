/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshots.h - walk through a stream of snapshots: which rows belong to which snapshot of which
 * cache level, and what is known of it; and what a line is called.
 *
 * The rows of table snapshot may stand far ahead of the lines that they announce, and frames begin
 * and end anywhere. So announcements are kept until lines of their snapshot come, or of a later
 * one: then the snapshot was empty. Lines whose snapshot was not announced are a snapshot all the
 * same, of which time, mode and geometry are not known; streams made by hand are like that.
 * census.h counts along this walk, tags.h makes tables of it.
 *
 * Memory: 48 bytes an announcement that is ahead of its lines.
 */
#ifndef CF_SNAPSHOTS_H
#define CF_SNAPSHOTS_H

#include "formats/stream/cf.h"

struct cf_snapshot {
    uint32_t number;
    uint32_t sets, ways; /* of one cache of the level, 0 = not known */
    uint8_t level;       /* 0 = not known */
    uint8_t mode;        /* bits of enum cf_mode */
    uint8_t announced;   /* by a row of table snapshot; else time and mode are 0 */
    uint32_t segment;    /* how many headers came before it, from 1 */
    uint64_t time;       /* in ticks of the clock */
    uint64_t cost;       /* cycles */
};

/* Whether what both state of their cache is the same. */
static inline int cf_snapshot_alike(const struct cf_snapshot *a, const struct cf_snapshot *b)
{
    return (!a->sets || !b->sets || a->sets == b->sets) &&
           (!a->ways || !b->ways || a->ways == b->ways) &&
           (!a->level || !b->level || a->level == b->level);
}

struct cf_snapshots;

/* What comes next. With several levels their rows may take turns: only when the number changes, or
   at the end, all are complete. */
struct cf_snapshots_event {
    enum {
        CF_SNAPSHOTS_BEGIN, /* a snapshot of a level, in the order of the stream, also an empty one
                             */
        CF_SNAPSHOTS_ROWS,  /* rows [from, to) of the frame at hand belong to it */
        CF_SNAPSHOTS_END,   /* of a segment, or of the input */
    } what;
    const struct cf_snapshot *is; /* until the next call */
    uint32_t from, to;
};

/* Levels: one of them (1 to 255), all, or that of the first event. Where one is looked at, rows
   without column level are taken for it. */
enum { CF_SNAPSHOTS_ALL = 0, CF_SNAPSHOTS_FIRST = 256 };

/* NULL without memory. */
struct cf_snapshots *cf_snapshots_new(unsigned level) CF_MUST_CHECK;
void cf_snapshots_free(struct cf_snapshots *s);

/* Asks for the columns that the walk itself needs, of whole recordings. */
void cf_snapshots_want(struct cf_reader *r);

/* Takes a frame of any table, of which headers, snapshots and lines matter. It must live until
   cf_snapshots_next() gives 0, which it must have done before the next one. -1 without memory. */
int cf_snapshots_frame(struct cf_snapshots *s, const struct cf_frame *f) CF_MUST_CHECK;

/* No frame will follow. */
void cf_snapshots_end(struct cf_snapshots *s);

/* 1 with an event, 0 when another frame is wanted. */
int cf_snapshots_next(struct cf_snapshots *s, struct cf_snapshots_event *e);

/* The only level that is looked at, 0 while not known or of all. */
unsigned cf_snapshots_level(const struct cf_snapshots *s);

/* Rows of other levels so far. */
uint64_t cf_snapshots_passed_over(const struct cf_snapshots *s);

/* ---- lines ---- */

/* What a line is called, so that two rows are of the same line when their names are equal: its
   physical address; where that is not known (0, and the virtual one is not), process and virtual
   address. The first byte of a line has an even address, so that bit 0 distinguishes the two. Names
   of virtual lines are unique for processes below 2^16 at addresses below 2^48; beyond, two could
   be equal by chance. */
static inline uint64_t cf_line_virtual(uint64_t addr, uint32_t pid)
{
    return (addr ^ (uint64_t)__builtin_bswap32(pid) << 32) | 1;
}

static inline uint64_t cf_line_name(uint64_t phys, uint64_t addr, uint32_t pid)
{
    return phys || !addr ? phys & ~(uint64_t)1 : cf_line_virtual(addr, pid);
}

static inline int cf_line_is_virtual(uint64_t name)
{
    return name & 1;
}

#endif
