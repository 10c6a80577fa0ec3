/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paper.c - the three experiments of Abel and Reineke, "Automatic Cache Modeling by Measurements",
 * section 4, Algorithms 1 to 3, in their order and for the first level: each goes on a while behind
 * the jump that it looks for, so that it can be seen. They are measured beyond what the searches
 * need, and take from them how far to go.
 *
 * As printed the algorithms have slips; they are read so that the new count goes to m, that the
 * array of the second has room for its lines, and that the third compares with the round before and
 * ends when the misses fall. It does not end on a cache of one set: the way size bounds it here.
 * The paper goes around 1000 times, the first misses among them; here once goes before what counts.
 */
#include "capture/probe/probe.h"

enum { STEP = 1024, ROUNDS = 8 };

static int measure(struct probe *p, const char *experiment, uint64_t parameter, uint32_t repeats)
{
    for (uint32_t i = 0; i < repeats; i++) {
        struct cf_measured m = {0};

        if (probe_forget(p) != 0)
            return -1;
        probe_order(p);
        if (probe_visit(p, 1, 1, ROUNDS, &m) != 0)
            return -1;
        probe_emit(p, experiment, parameter, 1, &m);
    }
    return 0;
}

static int capacity(struct probe *p, uint64_t up_to, uint32_t repeats)
{
    for (uint64_t bytes = STEP; bytes <= up_to; bytes += STEP) {
        probe_clear(p);
        probe_add(p, 0, bytes, p->level[0].line);
        if (measure(p, "capacity", bytes, repeats) != 0)
            return -1;
    }
    return 0;
}

int probe_paper(struct probe *p, uint64_t most, uint32_t repeats)
{
    const struct probe_level *l = &p->level[0];
    const uint64_t ways = l->way_size ? l->size / l->way_size : 0, first = (ways + 1) / 2;
    uint64_t up_to = l->size + l->size / 2 + STEP;

    if (!ways)
        return 0;
    if (up_to > most)
        up_to = most;
    if (capacity(p, up_to < p->bench->size ? up_to : p->bench->size, repeats) != 0)
        return -1;
    for (uint64_t n = 1; n <= 2 * ways && n * l->size <= p->bench->size; n++) {
        probe_clear(p);
        probe_add(p, 0, n * l->size, l->size);
        if (measure(p, "associativity", n, repeats) != 0)
            return -1;
    }
    for (uint64_t at = CF_NODE; at <= 4 * l->line && at < l->way_size; at *= 2) {
        if (ways * l->size + at >= p->bench->size)
            break;
        probe_clear(p);
        probe_add(p, 0, first * l->size, l->size);
        probe_add(p, first * l->size + at, ways * l->size + at + 1, l->size);
        if (measure(p, "block", at, repeats) != 0)
            return -1;
    }
    return 0;
}
