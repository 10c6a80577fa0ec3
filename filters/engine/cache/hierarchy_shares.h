/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_shares.h - a hierarchy in shares of its sets, which threads can take at the same time.
 *
 * Where some bits of an address are part of the number of a set in all levels, no line ever meets
 * one that differs in them: not in a set, not as a copy of another core, and not on its way from
 * level to level. So the lines fall into groups, and a model that is given only the references of
 * some groups, in their order, does with them what a model of all does. Nothing is warmed up, and
 * nothing handed on. A share is some of the groups; each has a hierarchy of its own, made with the
 * same options, and what these count adds up.
 *
 * First cf_share_rows() makes references of rows, for each share, which needs no order of rows and
 * so can be done for many stretches of a trace at a time. Then each share takes its references,
 * stretch after stretch.
 *
 * Memory: 13 bytes a reference that is not to the line before; 26 where all are kept in order, too.
 */
#ifndef CF_HIERARCHY_SHARES_H
#define CF_HIERARCHY_SHARES_H

#include "filters/engine/cache/hierarchy.h"

enum {
    CF_MOST_SHARES = 256,
    CF_MOST_REFS = 1 << 23 /* in a list */
};

/* How many shares there can be, at most CF_MOST_SHARES; with 1 *why has a reason, to stand behind
   the name of a level where *level is one, and else (-1) for itself. */
unsigned cf_hierarchy_shares(const struct cf_hierarchy *h, const char **why, int *level);

/* What a thread makes references with, for hierarchies like `h`. `shares`: at most what there can
   be. NULL without memory. */
struct cf_share_maker;
struct cf_share_maker *cf_share_maker_new(const struct cf_hierarchy *h, unsigned shares);
void cf_share_maker_free(struct cf_share_maker *m);

/* References in their order; all 0 to begin with. */
struct cf_share_list {
    uint64_t *line;
    uint32_t *row;
    uint8_t *flags;
    size_t count, room;
};
void cf_share_list_free(struct cf_share_list *l);

/* Those of a share. */
struct cf_share_stretch; /* references of one core */
struct cf_share_refs {
    struct cf_share_list list[2]; /* where kinds are kept apart, of data and of fetches */
    struct cf_share_stretch *stretch;
    size_t count, room;
};
void cf_share_refs_clear(struct cf_share_refs *refs); /* keeps the memory */
void cf_share_refs_free(struct cf_share_refs *refs);

/* Appends the references of rows to refs[share] of each share. As cf_hierarchy_run(); a row is row
   + `first` there. Where `all` is not NULL, the references of all shares are appended there in
   their order, and in refs the number in `all` stands for the row. -1 without memory, or with errno
   E2BIG where a list would have over CF_MOST_REFS: an access may be of 4 GiB. */
int cf_share_rows(struct cf_share_maker *m, const uint64_t *addr, const uint8_t *op,
                  const uint32_t *size, uint32_t from, uint32_t to, unsigned core, uint64_t space,
                  uint32_t first, struct cf_share_refs *refs,
                  struct cf_share_list *all) CF_MUST_CHECK;

/* Runs them through the model of a share. `op` and `hit` are of the rows, or numbers, that they
   state; hit[i] is raised to the depth that served what the share has of row i, where that is not
   the first level. -1 without memory. */
int cf_hierarchy_share(struct cf_hierarchy *h, const struct cf_share_refs *refs, const uint8_t *op,
                       uint8_t *hit) CF_MUST_CHECK;

/* The column of cf_hierarchy_run(), from the hit[] of all shares, which were 0 before. `op` may not
   be NULL. */
void cf_share_hits(const struct cf_hierarchy *h, const uint8_t *op, uint32_t rows,
                   uint8_t *const *of_share, unsigned shares, uint8_t *hit);

/* Adds to what `h` counted: what was counted as rows became references, and by another model. */
void cf_share_maker_count(const struct cf_share_maker *m, struct cf_hierarchy *h);
void cf_hierarchy_add(struct cf_hierarchy *h, const struct cf_hierarchy *more);

#endif
