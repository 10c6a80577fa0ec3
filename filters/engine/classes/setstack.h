/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * setstack.h - an LRU stack for each set of a cache, searched from its top: stack distances where
 * not every reference enters.
 *
 * The distance of a reference is the number of distinct other lines of its set that were placed or
 * touched since the line itself was (Mattson, Gecsei, Slutz, Traiger: Evaluation techniques for
 * storage hierarchies, IBM Systems Journal 9(2), 1970), which an LRU cache of W ways hits exactly
 * when it is below W. stack.h has the same faster, in a tree, where all references enter. A store
 * to a cache that does not allocate touches a line only where the cache holds it, so that the
 * stack's first W lines remain what the cache has; that needs the list itself.
 *
 * Memory: 8 to 16 bytes a distinct line, 128 at least a set that is used. Time: that of a scan up
 * to the distance.
 */
#ifndef CF_SETSTACK_H
#define CF_SETSTACK_H

#include <stdint.h>

#include "filters/engine/classes/classes.h"

struct cf_setstack;

/* `sets` from 1 on. NULL without memory. */
struct cf_setstack *cf_setstack_new(uint32_t sets);
void cf_setstack_free(struct cf_setstack *s);

/* References `line` (which may carry the key of its space), in set `set`, below the number of sets:
 *distance, CF_DIST_COMPULSORY at the first. -1 without memory. */
int cf_setstack_touch(struct cf_setstack *s, uint32_t set, uint64_t line, uint64_t *distance);

/* The same for a reference that brings nothing in: touches the line if its distance is below `ways`
   and returns 1, else leaves the stack alone and returns 0. */
int cf_setstack_touch_held(struct cf_setstack *s, uint32_t set, uint64_t line, uint32_t ways);

/* The class by distance, as in: Ntogramatzi, Katsaros, Nikolaidis: Cache activity profiling tool
   for the LEON4 processor, III.A. None below `ways`; conflict from there to below the number of
   sets (the paper says "greater than the number of ways" and "less than 4" for a hit, which leaves
   4 itself out; an LRU cache of 4 ways misses it); capacity above the number of sets; compulsory
   ("cold") if infinite. A distance of just the number of sets has no class in the paper and is
   unclassified here. */
enum cf_class cf_setstack_class(uint64_t distance, uint32_t ways, uint32_t sets);

#endif
