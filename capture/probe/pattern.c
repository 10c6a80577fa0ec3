/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pattern.c - the nodes of a pattern, and the orders in which they are visited: shuffled, since
 * prefetchers detect strides (Abel and Reineke, section 5.3).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/probe/probe.h"

uint32_t probe_below(uint64_t *state, uint32_t n)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (uint32_t)((z >> 32) * n >> 32);
}

static int room(struct probe *p, struct probe_nodes *n, size_t count)
{
    uint64_t *more;

    if (count <= n->room)
        return 0;
    count += count / 2;
    more = realloc(n->offset, count * sizeof *more);
    if (!more) {
        p->error = ENOMEM;
        return -1;
    }
    n->offset = more;
    n->room = count;
    return 0;
}

void probe_clear(struct probe *p)
{
    p->nodes.count = 0;
}

void probe_add(struct probe *p, uint64_t from, uint64_t to, uint64_t step)
{
    struct probe_nodes *n = &p->nodes;

    if (to <= from || p->error || room(p, n, n->count + (size_t)((to - from - 1) / step + 1)))
        return;
    for (uint64_t at = from; at < to; at += step)
        n->offset[n->count++] = at;
}

static void shuffle(uint64_t *offset, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        const size_t k = probe_below(state, (uint32_t)i);
        const uint64_t other = offset[k];

        offset[k] = offset[i - 1];
        offset[i - 1] = other;
    }
}

void probe_order(struct probe *p, uint64_t line, uint32_t group)
{
    struct probe_nodes *n = &p->nodes;
    size_t *begin;

    shuffle(n->offset, n->count, &p->seed);
    if (!group || p->error || room(p, &p->spare, n->count + group + 1))
        return;
    begin = (size_t *)p->spare.offset + n->count;
    memset(begin, 0, (group + 1) * sizeof *begin);
    memcpy(p->spare.offset, n->offset, n->count * sizeof *n->offset);
    for (size_t i = 0; i < n->count; i++)
        begin[n->offset[i] / line % group + 1]++;
    for (uint32_t g = 1; g < group; g++)
        begin[g] += begin[g - 1];
    for (size_t i = 0; i < n->count; i++)
        n->offset[begin[p->spare.offset[i] / line % group]++] = p->spare.offset[i];
}
