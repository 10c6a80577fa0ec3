/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lineset.h - the lines of a snapshot, and which of them were in the snapshot before: the reused
 * set of "Observing the Invisible", section 7.6 ("the number of lines that are the same and present
 * in two successive snapshots").
 *
 * A line is a key of 64 bits. Memory: 34 to 68 bytes a line of the largest snapshot. A size of the
 * cache that a stream declares without having lines takes no room.
 */
#ifndef CF_LINESET_H
#define CF_LINESET_H

#include <stdint.h>

struct cf_lineset;

/* NULL without memory. */
struct cf_lineset *cf_lineset_new(void) __attribute__((warn_unused_result));
void cf_lineset_free(struct cf_lineset *s);

/* Adds lines to the current snapshot; before[i] = 1 where the last one had key[i], else 0, and
   again[i] = 1 where the current one has it already (`again` may be NULL). UINT64_MAX is no key. -1
   without memory. */
int cf_lineset_add(struct cf_lineset *s, const uint64_t *key, uint32_t count, uint8_t *before,
                   uint8_t *again) __attribute__((warn_unused_result));

/* The current snapshot becomes the last one, and an empty one the current. */
void cf_lineset_next(struct cf_lineset *s);

#endif
