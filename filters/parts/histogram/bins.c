/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bins.c - counting values into bins, for each group apart (see histogram.h).
 *
 * Memory: 65 counters a group for powers of two; twice the number of bins at most where they are
 * equal; for exact values 256 a group and up to 85 bytes for each distinct value from 256 up.
 *
 * Equal bins in one pass: the width starts at 1 and doubles whenever the values seen so far span
 * more bins than there may be; neighbours are then added together, so nothing is lost. A bin stands
 * at its number modulo the table's size, which therefore needs no shift when lower values come. The
 * last width depends on the smallest and the largest value alone, not on their order.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "filters/engine/rows/counts.h"
#include "filters/parts/histogram/histogram.h"

enum { LOG2_BINS = 65, SMALL_VALUES = 256 };

struct bins {
    struct cf_tool *tool;
    enum bins_kind kind;
    unsigned most;
    uint64_t special, one;
    size_t stride;                   /* counters of a group */
    size_t groups;                   /* groups that there is room for */
    uint64_t *count;                 /* stride for each group */
    uint64_t *named;                 /* BINS_SPECIALS for each group */
    uint64_t low, high;              /* values seen, with BINS_EQUAL */
    int seen;                        /* low and high hold */
    unsigned shift;                  /* log2 of the width */
    struct cf_counts *large;         /* by group and value, with BINS_EXACT */
    struct cf_count *sorted;         /* the same when all is counted */
    uint64_t *value, *weight, *wide; /* rows that are numbers; their groups as wide as keys */
    uint32_t *group;
};

struct bins *bins_new(struct cf_tool *t, enum bins_kind kind, unsigned most, uint64_t special,
                      uint64_t one)
{
    struct bins *b = cf_tool_room(t, 1, sizeof(*b));

    *b = (struct bins){.tool = t, .kind = kind, .most = most, .special = special, .one = one};
    b->stride = kind == BINS_LOG2 ? LOG2_BINS : kind == BINS_EXACT ? SMALL_VALUES : 1;
    while (kind == BINS_EQUAL && b->stride < most)
        b->stride *= 2;
    b->large = cf_need(t, cf_counts_new());
    b->value = cf_column_room(t, sizeof(*b->value));
    b->weight = cf_column_room(t, sizeof(*b->weight));
    b->wide = cf_column_room(t, sizeof(*b->wide));
    b->group = cf_column_room(t, sizeof(*b->group));
    return b;
}

void bins_free(struct bins *b)
{
    cf_counts_free(b->large);
    free(b->sorted);
    free(b->count);
    free(b->named);
}

static void make_groups(struct bins *b, size_t groups)
{
    size_t room = b->groups;

    cf_must(b->tool, cf_array_cleared(&b->count, &room, groups, b->stride * sizeof(*b->count)));
    cf_must(b->tool,
            cf_array_cleared(&b->named, &b->groups, groups, BINS_SPECIALS * sizeof(*b->named)));
}

/* Takes special values out; what is left stands in b->value, b->group and b->weight. Free of
   branches but for the rare: which rows are special is not to be predicted. */
static uint32_t split(struct bins *b, const uint64_t *value, const uint32_t *group,
                      const uint64_t *weight, uint32_t rows)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < rows; i++) {
        uint64_t v = value[i], w = weight ? weight[i] : b->one;
        uint32_t g = group ? group[i] : 0;

        b->value[n] = v;
        b->group[n] = g;
        b->weight[n] = w;
        n += v < b->special;
        if (v >= b->special)
            b->named[(size_t)g * BINS_SPECIALS + (UINT64_MAX - v)] += w;
    }
    return n;
}

/* ---- equal bins ---- */

/* The number of a bin of that width; one bin of 2^64 holds all values. */
static inline uint64_t bin_of(uint64_t v, unsigned shift)
{
    return shift < 64 ? v >> shift : 0;
}

static void widen(struct bins *b, unsigned shift)
{
    size_t mask = b->stride - 1;
    uint64_t *sum = cf_need(b->tool, malloc(b->stride * sizeof(*sum)));

    for (size_t g = 0; g < b->groups; g++) {
        uint64_t *count = b->count + g * b->stride, last = bin_of(b->high, b->shift);

        memset(sum, 0, b->stride * sizeof(*sum));
        for (uint64_t bin = bin_of(b->low, b->shift);; bin++) {
            sum[bin_of(bin, shift - b->shift) & mask] += count[bin & mask];
            if (bin == last)
                break;
        }
        memcpy(count, sum, b->stride * sizeof(*sum));
    }
    free(sum);
}

static void fit(struct bins *b, const uint64_t *value, uint32_t rows)
{
    uint64_t low = b->seen ? b->low : value[0], high = b->seen ? b->high : value[0];
    unsigned shift = b->shift;

    for (uint32_t i = 0; i < rows; i++) {
        low = value[i] < low ? value[i] : low;
        high = value[i] > high ? value[i] : high;
    }
    while (bin_of(high, shift) - bin_of(low, shift) >= b->most)
        shift++;
    if (b->seen && shift != b->shift)
        widen(b, shift);
    b->low = low;
    b->high = high;
    b->shift = shift;
    b->seen = 1;
}

/* ---- counting ---- */

static inline size_t place(const struct bins *b, enum bins_kind kind, uint64_t v)
{
    if (kind == BINS_LOG2)
        return v ? 64 - (size_t)__builtin_clzll(v) : 0;
    return (size_t)bin_of(v, b->shift) & (b->stride - 1);
}

/* Inlined for each kind, with or without groups and weights. */
static inline __attribute__((always_inline)) void count(struct bins *b, enum bins_kind kind,
                                                        const uint64_t *value,
                                                        const uint32_t *group,
                                                        const uint64_t *weight, uint32_t rows)
{
    uint64_t *at = b->count;
    size_t stride = b->stride;

    for (uint32_t i = 0; i < rows; i++)
        at[(group ? group[i] * stride : 0) + place(b, kind, value[i])] +=
            weight ? weight[i] : b->one;
}

/* Small values have counters, others are hashed. */
static void count_exact(struct bins *b, const uint64_t *value, const uint32_t *group,
                        const uint64_t *weight, uint32_t rows)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < rows; i++) {
        uint64_t v = value[i], w = weight ? weight[i] : b->one;
        uint32_t g = group ? group[i] : 0;

        if (v < SMALL_VALUES) {
            b->count[g * b->stride + v] += w;
        } else {
            /* b->value may be what we read: n is never beyond i */
            b->value[n] = v;
            b->weight[n] = w;
            b->wide[n++] = g;
        }
    }
    cf_must(b->tool, cf_counts_add(b->large, b->wide, b->value, b->weight, n));
}

void bins_add(struct bins *b, const uint64_t *value, const uint32_t *group, const uint64_t *weight,
              uint32_t rows, uint32_t groups)
{
    make_groups(b, groups);
    if (b->special) {
        rows = split(b, value, group, weight, rows);
        value = b->value;
        weight = weight ? b->weight : NULL;
        group = group ? b->group : NULL;
    }
    if (rows == 0)
        return;
    if (b->kind == BINS_EQUAL)
        fit(b, value, rows);
    if (b->kind == BINS_EXACT)
        count_exact(b, value, group, weight, rows);
    else if (b->kind == BINS_EQUAL)
        count(b, BINS_EQUAL, value, group, weight, rows);
    else if (group || weight)
        count(b, BINS_LOG2, value, group, weight, rows);
    else
        count(b, BINS_LOG2, value, NULL, NULL, rows);
}

/* ---- results ---- */

int bins_ends(const struct bins *b, uint64_t *low, uint64_t *high)
{
    *low = b->low;
    *high = b->high;
    return b->seen;
}

static int by_key(const void *x, const void *y)
{
    const struct cf_count *i = x, *j = y;

    return cf_order(i->a, j->a) ?: cf_order(i->b, j->b);
}

void bins_finish(struct bins *b)
{
    size_t all = cf_counts_size(b->large);

    b->sorted = cf_need(b->tool, malloc((all + 1) * sizeof(*b->sorted)));
    cf_counts_copy(b->large, b->sorted);
    qsort(b->sorted, all, sizeof(*b->sorted), by_key);
}

static struct bin *exact_list(const struct bins *b, uint32_t group, size_t *count)
{
    size_t all = cf_counts_size(b->large), low = 0, high = all, n = 0;
    struct bin *list;

    while (low < high) { /* the first of the group */
        size_t mid = low + (high - low) / 2;

        if (b->sorted[mid].a < group)
            low = mid + 1;
        else
            high = mid;
    }
    for (high = low; high < all && b->sorted[high].a == group;)
        high++;
    list = cf_need(b->tool, malloc((high - low + SMALL_VALUES) * sizeof(*list)));
    for (uint64_t v = 0; v < SMALL_VALUES; v++)
        if (b->count[group * b->stride + v])
            list[n++] = (struct bin){v, v, b->count[group * b->stride + v]};
    for (; low < high; low++)
        list[n++] = (struct bin){b->sorted[low].b, b->sorted[low].b, b->sorted[low].value};
    *count = n;
    return list;
}

static struct bin equal_bin(const struct bins *b, uint64_t bin, uint64_t count)
{
    const uint64_t low = b->shift < 64 ? bin << b->shift : 0;

    return (struct bin){low, low + (b->shift ? UINT64_MAX >> (64 - b->shift) : 0), count};
}

struct bin *bins_list(const struct bins *b, uint32_t group, size_t *count)
{
    const uint64_t *from;
    struct bin *list;
    size_t n = 0, most, last = 0;

    *count = 0;
    if (group >= b->groups) /* nothing was counted at all */
        return cf_need(b->tool, calloc(1, sizeof(*list)));
    if (b->kind == BINS_EXACT)
        return exact_list(b, group, count);
    from = b->count + group * b->stride;
    most = b->kind == BINS_LOG2 ? LOG2_BINS
           : b->seen            ? (size_t)(bin_of(b->high, b->shift) - bin_of(b->low, b->shift)) + 1
                                : 0;
    list = cf_need(b->tool, calloc(most + 1, sizeof(*list)));
    for (size_t i = 0; i < most; i++) {
        uint64_t bin = bin_of(b->low, b->shift) + i;
        struct bin *to = &list[n];

        if (b->kind == BINS_LOG2)
            *to = (struct bin){i ? (uint64_t)1 << (i - 1) : 0,
                               i ? ((uint64_t)1 << (i - 1)) * 2 - 1 : 0, from[i]};
        else
            *to = equal_bin(b, bin, from[bin & (b->stride - 1)]);
        if (n || to->count) /* begins with the first that is not empty */
            n++;
        if (to->count)
            last = n;
    }
    *count = last;
    return list;
}

uint64_t bins_special(const struct bins *b, uint32_t group, uint64_t value)
{
    return group < b->groups ? b->named[(size_t)group * BINS_SPECIALS + (UINT64_MAX - value)] : 0;
}
