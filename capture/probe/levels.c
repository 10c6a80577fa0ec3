/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * levels.c - which levels there are: whether one after those that were found serves what these do
 * not hold; by time, what accesses to each take.
 */
#include "capture/probe/probe.h"

enum {
    ALONE = 64,
    ROUNDS = 4,
    MANY = 1 << 14, /* lines that show whether there is a level */
};

int probe_first_ticks(struct probe *p)
{
    struct cf_measured m = {0};

    probe_clear(p);
    probe_add(p, 0, 1, CF_NODE);
    if (probe_forget(p) != 0 || probe_visit(p, 1, 0, 1, &m) != 0)
        return -1;
    p->memory_ticks = m.time;
    probe_emit(p, "latency", 0, 255, &m);
    m = (struct cf_measured){0};
    if (probe_visit(p, 1, 1, ALONE, &m) != 0)
        return -1;
    p->level[0].ticks = m.time / m.accesses;
    probe_emit(p, "latency", CF_NODE, 1, &m);
    return p->level[0].ticks < p->memory_ticks;
}

/* A window that does not fit the level before: of a long one those lines alone that belong to the
   first sets there, which do not fit them either. */
static uint32_t add_beyond(struct probe *p, unsigned level, uint64_t bytes)
{
    const struct probe_level *b = &p->level[level - 2];
    const uint64_t way = b->way_size ? b->way_size : bytes;
    uint64_t part = way, before = 0, enough;

    for (unsigned i = 0; i + 2 < level; i++)
        before += 2 * p->level[i].reach; /* as levels hold that are exclusive */
    enough = before > MANY * p->level[0].line ? before : MANY * p->level[0].line;

    if (bytes > enough)
        part = (enough / (bytes / way + 1) / b->line + 1) * b->line;
    if (part > way)
        part = way;
    probe_clear(p);
    for (uint64_t at = 0; at < bytes; at += way)
        probe_add(p, at, at + part, p->level[0].line);
    return p->nodes.count > MANY ? 1 : ROUNDS;
}

/* Of the accesses that were timed those alone that the level served: none of a level before it, nor
   of one behind it, which has what of the window does not fit. */
static void served_alone(const struct probe *p, unsigned level, struct cf_measured *m)
{
    m->accesses = m->misses = m->time = 0;
    for (size_t i = 0; i < p->nodes.count; i++)
        if (p->ticks[i] > probe_limit(p, level - 1) && p->ticks[i] <= probe_limit(p, level)) {
            m->accesses++;
            m->time += p->ticks[i];
        }
}

int probe_has_level(struct probe *p, unsigned level)
{
    const uint64_t bytes = 2 * p->level[level - 2].reach;
    const uint64_t seed = p->seed;
    struct cf_measured before = {0}, m = {0}, all;
    uint64_t least = UINT64_MAX;
    uint32_t rounds;

    if (!bytes || bytes > p->bench->size)
        return 0;
    rounds = add_beyond(p, level, bytes);
    probe_order(p);
    if (probe_forget(p) != 0)
        return -1;
    if (p->by_time) {
        p->level[level - 1].ticks = p->level[level - 2].ticks;
        if (probe_visit(p, level, 1, 1, &m) != 0)
            return -1;
        for (size_t i = 0; i < p->nodes.count; i++)
            if (p->ticks[i] > probe_limit(p, level - 1) && p->ticks[i] < least)
                least = p->ticks[i];
        p->level[level - 1].ticks = least;
        all = m;
        served_alone(p, level, &m);
        probe_emit(p, "latency", bytes, m.accesses ? level : 0, m.accesses ? &m : &all);
        return least < p->memory_ticks;
    }
    if (probe_visit(p, level - 1, 1, rounds, &before) != 0 || probe_forget(p) != 0)
        return -1;
    p->seed = seed;
    if (probe_visit(p, level, 1, rounds, &m) != 0)
        return -1;
    probe_emit(p, "levels", bytes, level - 1, &before);
    probe_emit(p, "levels", bytes, level, &m);
    return m.misses < before.misses - before.misses / 4; /* random replacement varies */
}
