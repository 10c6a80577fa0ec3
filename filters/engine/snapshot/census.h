/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * census.h - whose lines are in a cache: for each snapshot the number of lines of each process (or
 * mapping, core, state), and how many of them the snapshot before had too.
 *
 * "Observing the Invisible" draws the first as occupancy (section 7.5) and divides both by the
 * lines of the cache as active and reused set quota (section 7.6). A line that has several rows,
 * one for each mapping of its frame, counts once for each group that has it (see listing.h). What
 * is at one place of a cache is one line; where rows do not state set and way, what has one name
 * is, and what has none is a line of its own. "The same line" in two snapshots has the same name
 * (see snapshots.h) in the same cache of the level: the physical address where it is known, else
 * process and virtual address; one without either is never known to be reused. Successive are
 * snapshots of one level that follow each other in a segment of the stream, also where one of them
 * is empty.
 *
 * Memory: 64 bytes a snapshot and level, and 12 for each group that has lines in it; 32 bytes a
 * group; what listing.h says, and for reused lines lineset.h.
 */
#ifndef CF_CENSUS_H
#define CF_CENSUS_H

#include "filters/engine/rows/groups.h"
#include "filters/engine/snapshot/snapshots.h"
#include "formats/stream/cf.h"

enum cf_census_by { CF_CENSUS_PROCESS, CF_CENSUS_REGION, CF_CENSUS_CPU, CF_CENSUS_STATE };

struct cf_census_cell {
    uint32_t group, lines, reused;
};

struct cf_census_snapshot {
    struct cf_snapshot is;
    uint64_t lines;  /* that the caches have, each once */
    uint64_t listed; /* the sum of the cells' lines: those of several groups count for each */
    size_t first;    /* cell */
    uint32_t cells;  /* in the order of groups; those without lines are left out */
};

/* Groups are numbered in the order in which they appear. */
struct cf_census_group {
    uint32_t stream; /* segment of the snapshots, where streams are apart */
    uint32_t pid;    /* by process or region */
    uint32_t value;  /* the region's string, the core's number, the state */
};

enum { CF_CENSUS_SLICE = 4096 /* rows that are looked at together */, CF_CENSUS_LEVELS = 256 };

struct cf_census {
    /* to be read */
    struct cf_census_snapshot *snapshot; /* in the order of the stream */
    struct cf_census_cell *cell;
    size_t snapshots, cells;
    uint64_t nameless; /* rows without any address, where reused lines are counted */
    struct cf_snapshots *walk;
    struct cf_groups *groups;
    /* its own */
    enum cf_census_by by;
    int reuse;
    /* by process, set before the first frame: those of each stream are others; all that are known
       are one, 1, beside 0 */
    int apart, together;
    struct cf_groups *pids, *values;
    struct cf_census_level *level[CF_CENSUS_LEVELS];
    size_t snapshot_room, cell_room;
    /* columns of the frame at hand that lines are named by, where they are */
    int named;
    const uint64_t *phys, *addr;
    const uint32_t *owner;
    uint32_t pid[CF_CENSUS_SLICE], group[CF_CENSUS_SLICE], cpu[CF_CENSUS_SLICE];
    uint32_t value[CF_CENSUS_SLICE];
    uint64_t name[CF_CENSUS_SLICE], key[CF_CENSUS_SLICE], place[CF_CENSUS_SLICE];
    uint8_t before[CF_CENSUS_SLICE], first[CF_CENSUS_SLICE];
};

/* `reuse`: count reused lines too. `level` 0: all levels, each on its own. NULL without memory. */
struct cf_census *cf_census_new(enum cf_census_by by, int reuse, uint8_t level) CF_MUST_CHECK;
void cf_census_free(struct cf_census *c);

/* Asks for the columns that are looked at. */
void cf_census_want(const struct cf_census *c, struct cf_reader *r);

enum { CF_CENSUS_NO_MEMORY = -1, CF_CENSUS_TOO_MANY = 1 };

/* Takes a frame of any table. 0, or one of the two above, the second when there are more than 65536
   groups; the census can then only be freed. */
int cf_census_frame(struct cf_census *c, const struct cf_frame *f) CF_MUST_CHECK;

/* No more frames come: completes what follows. As cf_census_frame(). */
int cf_census_end(struct cf_census *c) CF_MUST_CHECK;

struct cf_census_group cf_census_group(const struct cf_census *c, uint32_t group);

/* Numbers of all groups, the one with most lines in all snapshots first, then by pid and value;
   `order` has room for them. Sums are of one level, or of all where `level` is negative; total[g]
   is that of group g. -1 without memory. */
int cf_census_rank(const struct cf_census *c, int level, uint32_t *order,
                   uint64_t *total) CF_MUST_CHECK;

/* Lines that all caches of a level hold in a snapshot: sets * ways * the caches that the lines of
   the level name by their cpu in its segment (one where they name none). 0 when the snapshot
   has no geometry. */
uint64_t cf_census_room(const struct cf_census *c, const struct cf_snapshot *s);

#endif
