/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intervals_state.c - a set of address ranges, made, copied and freed.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/engine/rows/intervals_parts.h"

struct cf_intervals *cf_intervals_new(unsigned shift)
{
    struct cf_intervals *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    v->shift = shift;
    v->slots_room = 16;
    v->slots = malloc(v->slots_room * sizeof *v->slots);
    v->home = malloc(v->slots_room * sizeof *v->home);
    if (!v->slots || !v->home) {
        cf_intervals_free(v);
        return NULL;
    }
    slot_vacate(v, 0);
    v->slots_used = 1;
    return v;
}

void cf_intervals_free(struct cf_intervals *v)
{
    if (!v)
        return;
    free(v->slots);
    free(v->home);
    free(v->first);
    free(v->order);
    free(v->pool);
    free(v->near);
    free(v);
}

static void *duplicate(const void *from, size_t count, size_t size, int *failed)
{
    if (count == 0)
        return NULL;
    void *to = cf_memory_take(count * size);
    if (!to)
        *failed = 1;
    else
        memcpy(to, from, count * size);
    return to;
}

struct cf_intervals *cf_intervals_copy(const struct cf_intervals *v)
{
    struct cf_intervals *c = malloc(sizeof *c);
    int failed = 0;
    if (!c)
        return NULL;
    *c = *v;
    c->near = c->recent = NULL;
    c->near_bits = c->near_enough = 0; /* hints are made when they pay again */
    c->slots = duplicate(v->slots, v->slots_used, sizeof *v->slots, &failed);
    c->home = duplicate(v->home, v->slots_used, sizeof *v->home, &failed);
    c->first = duplicate(v->first, v->blocks, sizeof *v->first, &failed);
    c->order = duplicate(v->order, v->blocks, sizeof *v->order, &failed);
    c->pool = duplicate(v->pool, v->pool_used, sizeof *v->pool, &failed);
    c->slots_room = c->slots_used;
    c->blocks_room = c->blocks;
    c->pool_room = c->pool_used;
    if (failed) {
        cf_intervals_free(c);
        return NULL;
    }
    return c;
}
