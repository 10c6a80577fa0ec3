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

void probe_order(struct probe *p)
{
    shuffle(p->nodes.offset, p->nodes.count, &p->seed);
}

size_t probe_group(struct probe *p, uint64_t line, uint32_t group, size_t others)
{
    const struct probe_nodes *n = &p->nodes;
    const unsigned shift = (unsigned)__builtin_ctzll(line); /* lines are powers of two */
    size_t first = 0, last = n->count;

    if (p->error || room(p, &p->spare, n->count))
        return 0;
    for (size_t i = 0; i < n->count; i++)
        if ((uint32_t)(n->offset[i] >> shift) % group == 0)
            p->spare.offset[first++] = n->offset[i];
        else if (n->count - last < others)
            p->spare.offset[--last] = n->offset[i];
    memmove(p->spare.offset + first, p->spare.offset + last,
            (n->count - last) * sizeof *p->spare.offset);
    p->spare.count = first + n->count - last;
    shuffle(p->spare.offset, first, &p->seed);
    shuffle(p->spare.offset + first, p->spare.count - first, &p->seed);
    return first;
}
