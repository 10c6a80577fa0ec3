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
    APART = 8,      /* as of probe_limit() */
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
        probe_add(p, at, bytes - at < part ? bytes : at + part, p->level[0].line);
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

/* What a window shows that does not fit the level before. */
struct beyond {
    uint64_t bytes, least; /* least: ticks of the fastest access that no level before served */
    /* by misses those of the level before, and of this one; by time the accesses that this one
       served: m, and these, or all where there are none: before */
    struct cf_measured before, m;
    int found;
};

static int look_by_time(struct probe *p, unsigned level, struct beyond *b)
{
    uint64_t *const ticks = &p->level[level - 1].ticks;
    struct cf_measured all = {0};

    *ticks = p->level[level - 2].ticks;
    if (probe_visit(p, level, 1, 1, &all) != 0)
        return -1;
    b->least = UINT64_MAX;
    for (size_t i = 0; i < p->nodes.count; i++)
        if (p->ticks[i] > probe_limit(p, level - 1) && p->ticks[i] < b->least)
            b->least = p->ticks[i];
    *ticks = b->least;
    b->m = all;
    served_alone(p, level, &b->m);
    b->before = b->m.accesses ? b->m : all;
    b->found = b->least < p->memory_ticks;
    return 0;
}

static int look(struct probe *p, unsigned level, uint64_t bytes, struct beyond *b)
{
    const uint32_t rounds = add_beyond(p, level, bytes);
    const uint64_t seed = p->seed;

    *b = (struct beyond){.bytes = bytes};
    probe_order(p);
    if (probe_forget(p) != 0)
        return -1;
    if (p->by_time)
        return look_by_time(p, level, b);
    if (probe_visit(p, level - 1, 1, rounds, &b->before) != 0 || probe_forget(p) != 0)
        return -1;
    p->seed = seed;
    if (probe_visit(p, level, 1, rounds, &b->m) != 0)
        return -1;
    /* random replacement varies */
    b->found = b->m.misses < b->before.misses - b->before.misses / 4;
    return 0;
}

/* A level of less than twice the one before may serve none of a window of that size, but does of a
   smaller one: more than another level behind it serves of the larger. */
int probe_has_level(struct probe *p, unsigned level)
{
    static const unsigned parts[] = {4, 16};
    const uint64_t reach = p->level[level - 2].reach;
    struct beyond best, b;
    uint64_t seed;

    if (!reach || 2 * reach > p->bench->size)
        return 0;
    if (look(p, level, 2 * reach, &best) != 0)
        return -1;
    seed = p->seed;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts && (p->by_time || !best.found); i++) {
        if (look(p, level, reach + reach / parts[i], &b) != 0)
            return -1;
        /* by misses they are few, so that they vary: the level has to serve nearly all */
        if (b.found && (p->by_time ? b.least < best.least - best.least / APART
                                   : b.m.misses < b.before.misses / APART))
            best = b;
    }
    p->seed = seed;
    if (p->by_time) {
        p->level[level - 1].ticks = best.least;
        probe_emit(p, "latency", best.bytes, best.m.accesses ? level : 0, &best.before);
    } else {
        probe_emit(p, "levels", best.bytes, level - 1, &best.before);
        probe_emit(p, "levels", best.bytes, level, &best.m);
    }
    return best.found;
}
