/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_list.h - stack distances by a list in which the line that is referenced moves to the front,
 * for what tests hold against the engine.
 */
#ifndef STACK_LIST_H
#define STACK_LIST_H

#include <stdlib.h>
#include <string.h>

#include "filters/engine/distance/stack.h"
#include "formats/stream/cf.h"
#include "tap.h"

enum { MOST = 6000, BIG = 400000 };

static uint64_t state = 88172645463325252u;

static inline uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t line[BIG], got[BIG], want[BIG];

/* ---- what is right ---- */

struct list {
    uint64_t *line; /* most recent first */
    uint32_t count;
};

static inline uint64_t list_distance(struct list *l, uint64_t x)
{
    uint32_t i = 0;

    while (i < l->count && l->line[i] != x)
        i++;
    const int cold = i == l->count;
    l->count += cold;
    memmove(l->line + 1, l->line, i * sizeof(*l->line));
    l->line[0] = x;
    return cold ? CF_DIST_COMPULSORY : i;
}

/* Distances within line % sets, by lists that each have room for `n` lines. */
static inline void list_distances(const uint64_t *x, uint32_t n, uint32_t sets, uint64_t max,
                                  uint64_t *dist)
{
    struct list *list = calloc(sets, sizeof(*list));

    for (uint32_t s = 0; s < sets; s++)
        list[s].line = malloc((n + 1) * sizeof(uint64_t));
    for (uint32_t i = 0; i < n; i++) {
        dist[i] = list_distance(list + x[i] % sets, x[i]);
        if (max && dist[i] > max && dist[i] != CF_DIST_COMPULSORY)
            dist[i] = CF_DIST_BEYOND;
    }
    for (uint32_t s = 0; s < sets; s++)
        free(list[s].line);
    free(list);
}

/* References to n lines, which are of 4 bytes and below 2^62. */
static inline int reference(struct cf_stack *s, uint32_t unit, const uint64_t *x, uint32_t n,
                            uint64_t *dist)
{
    static uint64_t address[BIG];
    static double weight[BIG];
    static struct cf_runs *r;

    r = r ? r : cf_runs_new(2, CF_RUNS_DATA, 1 << 14);
    for (uint32_t i = 0; i < n; i++)
        address[i] = x[i] << 2;
    return cf_stack_rows(s, r, unit, address, NULL, NULL, n, 0, dist, weight);
}

static inline uint64_t differences(const uint64_t *a, const uint64_t *b, uint32_t n)
{
    uint64_t wrong = 0;

    for (uint32_t i = 0; i < n; i++)
        wrong += a[i] != b[i];
    return wrong;
}

#endif
