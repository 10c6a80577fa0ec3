/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * groups.h - numbers for the distinct values of a column, 0, 1, 2, ... in the order in which they
 * appear, so that what is counted for each of them can stand in arrays.
 *
 * Memory: 8 bytes a distinct value and up to 85 for finding it; at most CF_GROUPS_MOST values.
 */
#ifndef CF_GROUPS_H
#define CF_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/stream/cf.h"

enum { CF_GROUPS_MOST = 1 << 16 };

struct cf_groups;

/* NULL without memory. */
struct cf_groups *cf_groups_new(void) __attribute__((warn_unused_result));
void cf_groups_free(struct cf_groups *g);

/* number[i] = number of values[i] for all rows, which are `width` bytes each: 1, 2, 4 or 8. -1
   without memory, 1 when there are more than CF_GROUPS_MOST values. */
int cf_groups_number(struct cf_groups *g, const void *values, size_t width, uint32_t rows,
                     uint32_t *number) __attribute__((warn_unused_result));

uint32_t cf_groups_count(const struct cf_groups *g);
uint64_t cf_groups_value(const struct cf_groups *g, uint32_t number);

struct cf_group {
    uint64_t value;
    const char *text; /* of the value, or NULL */
    uint32_t number;
};

/* All groups by rising value or, where the values are ids of strings of `texts`, by text. The
   caller frees; NULL without memory. */
struct cf_group *cf_groups_sorted(const struct cf_groups *g, const struct cf_reader *texts)
    __attribute__((warn_unused_result));

#endif
