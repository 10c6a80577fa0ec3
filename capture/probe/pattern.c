/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pattern.c - the nodes of a pattern, and the orders in which they are visited: shuffled, since
 * prefetchers detect strides (Abel and Reineke, section 5.3).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/probe/probe.h"

enum { OTHERS = 4 }; /* so many as a level before holds, so often */

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
    free(p->there);
    p->there = NULL;
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

/* ---- lines of one set, and those that take them out of the levels before ---- */

/* Which nodes there are, by bits at the number of their unit. */
static int note_nodes(struct probe *p)
{
    const uint64_t unit = p->level[0].line;
    uint64_t top = 0;

    for (size_t i = 0; i < p->nodes.count; i++)
        top = p->nodes.offset[i] > top ? p->nodes.offset[i] : top;
    free(p->there);
    p->there = calloc(top / unit / 64 + 1, sizeof *p->there);
    if (!p->there) {
        p->error = ENOMEM;
        return -1;
    }
    p->top = top;
    for (size_t i = 0; i < p->nodes.count; i++)
        p->there[p->nodes.offset[i] / unit / 64] |= (uint64_t)1 << p->nodes.offset[i] / unit % 64;
    return 0;
}

/* Adds to p->spare the nodes of the line that were not taken yet. */
static size_t take_line(struct probe *p, uint64_t at, uint64_t line)
{
    const uint64_t unit = p->level[0].line;
    const uint64_t end = at + line < p->top + 1 ? at + line : p->top + 1;
    size_t count = 0;

    for (at += (unit - at % unit) % unit; at < end; at += unit) {
        uint64_t *word = &p->there[at / unit / 64];
        const uint64_t bit = (uint64_t)1 << at / unit % 64;

        if (*word & bit) {
            *word &= ~bit;
            p->spare.offset[p->spare.count++] = at;
            count++;
        }
    }
    return count;
}

/* Takes others that share a set of the level with those taken so far: some times what it holds. In
   an order of their own, since those of a deeper level get there when the next ones push them. */
static void take_others(struct probe *p, const struct probe_level *l, unsigned char *done)
{
    const uint64_t way = l->way_size ? l->way_size : l->line, ways = p->top / way + 1;
    const size_t so_far = p->spare.count;

    memset(done, 0, way / l->line);
    for (size_t i = 0; i < so_far; i++) {
        const uint64_t set = p->spare.offset[i] % way / l->line,
                       first = probe_below(&p->seed, (uint32_t)ways);
        uint64_t left = OTHERS * l->reach / way + 1;

        for (uint64_t k = 0; !done[set] && left && k < ways; k++)
            left -= take_line(p, (first + k) % ways * way + set * l->line, l->line) != 0;
        done[set] = 1;
    }
    shuffle(p->spare.offset + so_far, p->spare.count - so_far, &p->seed);
}

size_t probe_group(struct probe *p, unsigned level, uint32_t group)
{
    const uint64_t line = p->level[level - 1].line;
    const uint64_t unit = p->level[0].line;
    unsigned char *done = NULL;
    size_t sets = 1, first = 0;

    for (unsigned i = 0; i + 1 < level; i++)
        if (p->level[i].way_size / p->level[i].line > sets)
            sets = p->level[i].way_size / p->level[i].line;
    if (p->error || room(p, &p->spare, p->nodes.count) || (!p->there && note_nodes(p)))
        return 0;
    done = malloc(sets);
    if (!done) {
        p->error = ENOMEM;
        return 0;
    }
    p->spare.count = 0;
    for (uint64_t at = 0; at <= p->top; at += group * line)
        first += take_line(p, at, line);
    shuffle(p->spare.offset, first, &p->seed);
    /* what takes a line out of a deeper level must first leave those before it */
    for (unsigned i = level - 1; i > 0; i--)
        take_others(p, &p->level[i - 1], done);
    free(done);
    for (size_t i = 0; i < p->spare.count; i++)
        p->there[p->spare.offset[i] / unit / 64] |= (uint64_t)1 << p->spare.offset[i] / unit % 64;
    return first;
}
