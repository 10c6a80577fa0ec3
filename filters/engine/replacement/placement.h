/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * placement.h - what consecutive snapshots show of replacement: which way a new line took, and how
 * many of certain lines are cached ("Observing the Invisible", section 7.7, Figs. 14 and 13).
 *
 * Ways. A way whose line is another than in the snapshot before was chosen for a new one. Where a
 * set took one new line in between, that is one decision of the policy. Where it took several, the
 * earlier ones may be hidden by later ones, and how often each way was chosen is not known: these
 * are counted apart. So is a line that came into a way without a valid one: caches fill invalid
 * ways before they replace.
 *
 * Steps. From one decision of a set to its next one, the way moves by so many ways, modulo their
 * number. Independent decisions give each step its chance of the product of the ways' own chances;
 * a policy that goes around gives one step. So round robin, whose ways are chosen equally often, is
 * distinguished from random choice.
 */
#ifndef CF_PLACEMENT_H
#define CF_PLACEMENT_H

#include "filters/engine/replacement/gamma.h"
#include "filters/engine/snapshot/tags.h"

struct cf_placement {
    uint64_t took[CF_TAGS_WAYS];   /* decisions for each way */
    uint64_t filled[CF_TAGS_WAYS]; /* lines that came into it while it was invalid */
    uint64_t step[CF_TAGS_WAYS];
    uint64_t decisions, fills, steps;
    uint64_t several; /* new lines of sets that took more than one */
    uint32_t ways;    /* as far as was seen */
    uint16_t *last;   /* of each set, the way of the last decision, plus 1 */
    size_t sets;
    uint32_t set_room; /* of the tables for which `last` was made */
};

/* Compares two tables of one layout. With `marked`, only lines with a mark are counted;
   others evict as well. -1 without memory. */
int cf_placement_add(struct cf_placement *p, const struct cf_tags *before,
                     const struct cf_tags *now, int marked) CF_MUST_CHECK;
/* Another segment begins: what its sets decide is no step from what those before did. */
void cf_placement_forget(struct cf_placement *p);
void cf_placement_free(struct cf_placement *p);

/* Are all ways chosen equally often? Is a decision independent of the one before in its set? */
struct cf_chi_squared cf_placement_ways(const struct cf_placement *p);
struct cf_chi_squared cf_placement_steps(const struct cf_placement *p);

/* ---- k of n lines ---- */

struct cf_survivors;

/* `found`: lines are those with a mark, and each set is an experiment of its own; else `lines` of
   them were named, and all of the cache is one. */
struct cf_survivors *cf_survivors_new(int found, uint32_t lines) CF_MUST_CHECK;
void cf_survivors_free(struct cf_survivors *s);

/* Counts the marked lines of a snapshot that belongs to a number of rounds. -1 without memory.
   Memory: 43 to 85 bytes a line that was ever found, as much for each number of lines that a set
   had in a round, and 4 a line of the cache for each of 16 rounds (in all at most 16 MiB, or what
   one of them takes). */
int cf_survivors_add(struct cf_survivors *s, const struct cf_tags *before,
                     const struct cf_tags *now, uint32_t rounds) CF_MUST_CHECK;

struct cf_survivors_row {
    uint32_t rounds;
    uint32_t lines;  /* n: how many there are */
    uint32_t cached; /* k of them */
    uint64_t count;  /* snapshots, of each set one */
    uint64_t total;  /* with these rounds and so many lines */
};

/* All that was counted, by rising rounds, lines and cached, without those that did not occur: the
   caller frees. NULL without memory, and with *count 0 also where nothing was counted. */
struct cf_survivors_row *cf_survivors_rows(struct cf_survivors *s, size_t *count) CF_MUST_CHECK;

#endif
