/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * groups.c - numbers for the distinct values of a column (see groups.h).
 *
 * In: a column. Out: the number of each row's value. Memory: the list of values and a counter for
 * each, which holds its number; both grow with distinct values alone.
 *
 * A direct-mapped cache of recent values comes first, since addresses and sites come in bursts, and
 * few processes take turns.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/engine/rows/groups.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

enum {
    RECENT_BITS = 12,
};

struct recent {
    uint64_t value;
    uint32_t number;
    int known;
};

struct cf_groups {
    struct cf_counts *numbers; /* number + 1 of each value */
    uint64_t *value;           /* by number */
    uint32_t count;
    size_t room;
    struct recent recent[1 << RECENT_BITS];
};

struct cf_groups *cf_groups_new(void)
{
    struct cf_groups *g = calloc(1, sizeof(*g));

    if (g && !(g->numbers = cf_counts_new())) {
        free(g);
        g = NULL;
    }
    return g;
}

void cf_groups_free(struct cf_groups *g)
{
    if (g) {
        cf_counts_free(g->numbers);
        free(g->value);
        free(g);
    }
}

/* A new value takes the next number. */
static int find(struct cf_groups *g, uint64_t value, uint32_t *number)
{
    uint64_t *at = cf_counts_at(g->numbers, 0, value);

    if (!at)
        return -1;
    if (!*at) {
        if (g->count == CF_GROUPS_MOST)
            return 1;
        if (cf_array_room(&g->value, &g->room, g->count + (size_t)1, sizeof(*g->value)) != 0)
            return -1;
        g->value[g->count] = value;
        *at = ++g->count;
    }
    *number = (uint32_t)*at - 1;
    return 0;
}

static inline uint64_t value_at(const void *values, size_t width, uint32_t i)
{
    const uint8_t *p = (const uint8_t *)values + i * width;
    uint64_t v = 0;

    switch (width) {
    case 1:
        return *p;
    case 2:
        return *(const uint16_t *)(const void *)p;
    case 4:
        return *(const uint32_t *)(const void *)p;
    default:
        memcpy(&v, p, sizeof(v));
        return v;
    }
}

static inline int number_rows(struct cf_groups *g, const void *values, size_t width, uint32_t rows,
                              uint32_t *number)
{
    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t v = value_at(values, width, i);
        struct recent *r = &g->recent[v * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS)];

        if (r->value != v || !r->known) {
            const int bad = find(g, v, &r->number);

            r->value = v;
            r->known = !bad;
            if (bad)
                return bad;
        }
        number[i] = r->number;
    }
    return 0;
}

int cf_groups_number(struct cf_groups *g, const void *values, size_t width, uint32_t rows,
                     uint32_t *number)
{
    /* one loop each, in which the width is a constant */
    switch (width) {
    case 1:
        return number_rows(g, values, 1, rows, number);
    case 2:
        return number_rows(g, values, 2, rows, number);
    case 4:
        return number_rows(g, values, 4, rows, number);
    default:
        return number_rows(g, values, 8, rows, number);
    }
}

uint32_t cf_groups_count(const struct cf_groups *g)
{
    return g->count;
}

uint64_t cf_groups_value(const struct cf_groups *g, uint32_t number)
{
    return g->value[number];
}

static int by_text_or_value(const void *x, const void *y)
{
    const struct cf_group *i = x, *j = y;

    if (i->text && j->text)
        return strcmp(i->text, j->text);
    return cf_order(i->value, j->value);
}

struct cf_group *cf_groups_sorted(const struct cf_groups *g, const struct cf_reader *texts)
{
    struct cf_group *group = malloc((g->count + (size_t)1) * sizeof(*group));

    for (uint32_t i = 0; group && i < g->count; i++)
        group[i] = (struct cf_group){
            g->value[i], texts ? cf_reader_text(texts, (uint32_t)g->value[i]) : NULL, i};
    if (group)
        qsort(group, g->count, sizeof(*group), by_text_or_value);
    return group;
}
