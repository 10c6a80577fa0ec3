/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * curve.c - how many stack distances lie between given sizes (see curve.h).
 *
 * In: distances. Out: counts. Memory: the counts, and a table that is the same size always.
 *
 * To find a distance's place among the sizes, the numbers are divided into cells: 0 to 31 each its
 * own, from there on 32 a doubling. A table holds for each cell how many sizes lie at or below its
 * begin; from there one looks on, which usual sizes (powers of two with steps between) make
 * unnecessary, since they are begins of cells.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/distance/curve.h"
#include "formats/base/cf_memory.h"

enum { CELL_BITS = 5, CELLS = (65 - CELL_BITS) << CELL_BITS, NAMES = 4 };

struct cf_curve {
    size_t sizes;
    size_t stride;   /* counters of a group: one below each size, one above all, the names */
    size_t groups;   /* that there is room for */
    uint64_t *size;  /* and behind them UINT64_MAX, where every search ends */
    uint64_t *count; /* stride a group */
    uint32_t start[CELLS];
};

static inline size_t cell_of(uint64_t d)
{
    /* without a branch for the small ones, which come and go among the others */
    const unsigned e = 63 - (unsigned)__builtin_clzll(d | 1 << CELL_BITS);

    return ((size_t)(e - CELL_BITS) << CELL_BITS) + (size_t)(d >> (e - CELL_BITS));
}

/* Smallest number in the cell. */
static uint64_t cell_begin(size_t cell)
{
    size_t e = cell >> CELL_BITS;

    if (e < 2)
        return cell;
    return (uint64_t)((cell & ((1 << CELL_BITS) - 1)) | 1 << CELL_BITS) << (e - 1);
}

struct cf_curve *cf_curve_new(const uint64_t *size, size_t count)
{
    struct cf_curve *c = calloc(1, sizeof(*c));
    uint32_t at = 0;

    if (!c)
        return NULL;
    c->sizes = count;
    c->stride = count + 1 + NAMES;
    c->size = malloc((count + 1) * sizeof(*c->size));
    if (!c->size) {
        free(c);
        return NULL;
    }
    if (count)
        memcpy(c->size, size, count * sizeof(*size));
    c->size[count] = UINT64_MAX;
    for (size_t cell = 0; cell < CELLS; cell++) {
        while (c->size[at] <= cell_begin(cell))
            at++;
        c->start[cell] = at;
    }
    return c;
}

void cf_curve_free(struct cf_curve *c)
{
    if (c) {
        free(c->size);
        free(c->count);
        free(c);
    }
}

static inline size_t place(const struct cf_curve *c, uint64_t d)
{
    size_t i;

    if (d >= CF_CURVE_NAMED)
        return c->sizes + 1 + (size_t)(UINT64_MAX - d);
    for (i = c->start[cell_of(d)]; d >= c->size[i];)
        i++;
    return i;
}

int cf_curve_add(struct cf_curve *c, const uint64_t *dist, const uint32_t *group,
                 const uint64_t *weight, size_t rows, size_t groups)
{
    uint64_t *count;

    if (cf_array_cleared(&c->count, &c->groups, groups, c->stride * sizeof(*c->count)) != 0)
        return -1;
    count = c->count;
    if (!group && !weight)
        for (size_t i = 0; i < rows; i++)
            count[place(c, dist[i])]++;
    else
        for (size_t i = 0; i < rows; i++)
            count[(group ? group[i] * c->stride : 0) + place(c, dist[i])] += weight ? weight[i] : 1;
    return 0;
}

void cf_curve_misses(const struct cf_curve *c, size_t group, uint64_t *misses)
{
    uint64_t sum = 0;

    for (size_t i = c->sizes; i-- > 0;) {
        sum += group < c->groups ? c->count[group * c->stride + i + 1] : 0;
        misses[i] = sum;
    }
}

uint64_t cf_curve_total(const struct cf_curve *c, size_t group)
{
    uint64_t sum = 0;

    for (size_t k = 0; k <= c->sizes && group < c->groups; k++)
        sum += c->count[group * c->stride + k];
    return sum;
}

uint64_t cf_curve_named(const struct cf_curve *c, size_t group, uint64_t name)
{
    if (group >= c->groups)
        return 0;
    return c->count[group * c->stride + c->sizes + 1 + (size_t)(UINT64_MAX - name)];
}
