/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots.h - a dense number (slot) for every line that was ever referenced, so that what an engine
 * knows of a line is an element of an array.
 *
 * 64 neighbouring lines are a page, 64 pages a region. A hash finds the region, a table in it the
 * page, and a page gets 64 slots when one of its lines is first looked up. So the table has few
 * entries and stays in the nearest cache, and lines that lie together have slots that do.
 *
 * Memory: a region takes 256 to 512 bytes and 43 to 85 in the table, 0.2 bytes a line at most where
 * all its lines are used, and up to 640 where one is; arrays indexed by slot cost 64 elements a
 * page.
 */
#ifndef CF_SLOTS_H
#define CF_SLOTS_H

#include <stddef.h>
#include <stdint.h>

enum { CF_SLOTS_PAGE = 64, CF_SLOTS_MOST = 1 << 30 };

struct cf_slots;

/* NULL without memory. */
struct cf_slots *cf_slots_new(void);
void cf_slots_free(struct cf_slots *s);

/* slot[i] of line[i]; each new page adds CF_SLOTS_PAGE. -1 without memory, or when there would be
   more than CF_SLOTS_MOST slots. */
int cf_slots_find(struct cf_slots *s, const uint64_t *line, size_t count, uint32_t *slot);

/* All slots so far are below that. */
uint32_t cf_slots_count(const struct cf_slots *s);

/* Makes the array at *array have elements of `width` bytes for `slots` slots, new ones 0: *room is
   the number of slots that it has room for. -1 without memory; the array is then as it was. */
int cf_slots_array(uint32_t slots, void **array, uint32_t *room, size_t width);

#endif
