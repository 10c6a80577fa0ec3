/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inclusion.c - whether a level is exclusive, where its size hangs on it.
 *
 * An exclusive level holds no line that the level before it holds. Where its way size divides that
 * of the level before it, all lines of a set there belong to one set here, and both hold together
 * what a level of the size of both would hold. Where the way size is a part, lines of one set there
 * tell: less of them fit. Where both are equal, a line tells that stays in the level before while
 * others pass: a level that is not exclusive loses it, and one that is gets it when it leaves the
 * level before. The level before must keep the line; with FIFO or random replacement it does not,
 * and often both behave alike.
 */
#include "capture/probe/probe.h"

enum { TRIALS = 8, PASSES = 8, ORDERS = 24 };

/* Lines of one set of the level before, and of one set of this one: does so many fit? */
static int one_set(struct probe *p, unsigned level, uint64_t lines)
{
    const struct probe_level *l = &p->level[level - 1], *b = l - 1;
    struct cf_measured sum = {0};
    uint64_t misses = 0;

    probe_clear(p);
    probe_add(p, 0, lines * b->way_size, b->way_size);
    /* what takes lines out of the levels before that */
    for (uint64_t at = l->line; level > 2 && at < 2 * p->level[level - 3].reach;
         at += p->level[0].line)
        if (at % l->way_size >= l->line)
            probe_add(p, at, at + 1, 1);
    if (probe_forget(p) != 0)
        return -1;
    for (int i = 0; i < ORDERS && !misses; i++) {
        probe_order(p, l->line, 0);
        if (probe_visit(p, level, i == 0, 1, &sum) != 0)
            return -1;
        misses = probe_misses(p, level, &sum);
    }
    probe_emit(p, "inclusion", PROBE_SETS, level, &sum);
    return misses == 0;
}

/* One access, at an offset. */
static int one(struct probe *p, unsigned level, uint64_t at, struct cf_measured *sum)
{
    probe_clear(p);
    probe_add(p, at, at + 1, 1);
    return probe_visit(p, level, 0, 1, sum);
}

/* Line 0 is visited after each other one. Whether the level before kept it all the time, and
   whether it had gone when it left that at last: bits 1 and 2; -1 with p->error. */
static int trial(struct probe *p, unsigned level, uint64_t ways, uint32_t repeat)
{
    const struct probe_level *l = &p->level[level - 1], *b = l - 1;
    const uint64_t others = 2 * ways + 2, before = b->size / b->way_size;
    struct cf_measured other = {0}, hot = {0}, left = {0};

    if (probe_forget(p) != 0 || one(p, level - 1, 0, &other) != 0)
        return -1;
    for (uint64_t i = 0; i < (PASSES + 1) * ways; i++) {
        if (i == ways)
            hot = (struct cf_measured){0}; /* what came first may have had to find its place */
        if (one(p, level, (1 + (i + repeat) % others) * b->way_size, &other) != 0 ||
            one(p, level - 1, 0, &hot) != 0)
            return -1;
    }
    /* the last ones again, which the level has: line 0 leaves the level before */
    probe_clear(p);
    for (uint64_t i = (PASSES + 1) * ways - before - repeat % 2; i < (PASSES + 1) * ways; i++)
        probe_add(p, (1 + (i + repeat) % others) * b->way_size,
                  (1 + (i + repeat) % others) * b->way_size + 1, 1);
    for (uint32_t i = 0; i < 4 + repeat; i++) {
        probe_order(p, l->line, 0);
        if (probe_visit(p, level, 0, 1, &other) != 0)
            return -1;
    }
    if (one(p, level, 0, &left) != 0)
        return -1;
    probe_emit(p, "inclusion", PROBE_HOT, level, &hot);
    probe_emit(p, "inclusion", PROBE_LEFT, level, &left);
    return (probe_misses(p, level - 1, &hot) == 0) | (probe_misses(p, level, &left) != 0) << 1;
}

/* 1: exclusive, 0: not, 2: cannot tell; -1 with p->error. */
static int exclusive(struct probe *p, unsigned level)
{
    const struct probe_level *l = &p->level[level - 1], *b = l - 1;
    const uint64_t ways = l->size / l->way_size, before = b->size / b->way_size,
                   part = b->way_size / l->way_size;
    int kept = 0;

    if (part > 1)
        return one_set(p, level, ways - (part - 1) * before + 1) ^ 1;
    if (level > 2)
        return 2;
    for (uint32_t i = 0; i < TRIALS; i++) {
        const int now = trial(p, level, ways, i);

        if (now < 0)
            return -1;
        if (now & 2)
            return 0;
        kept += now & 1;
    }
    return kept == TRIALS ? 1 : 2;
}

int probe_inclusion(struct probe *p, unsigned level)
{
    struct probe_level *l = &p->level[level - 1], *b = l - 1;
    int now = 2;

    if (!l->way_size || l->line != p->level[0].line)
        return 1; /* no exclusive level has longer lines than the one before it */
    if (b->size && b->way_size) {
        if (b->way_size % l->way_size || l->size <= b->size)
            return 1;
        if (2 * (l->size / l->way_size + 2) * b->way_size <= p->bench->size)
            now = exclusive(p, level);
    }
    if (now < 0)
        return -1;
    if (now)
        l->size = now == 1 ? l->size - b->size : 0;
    return 1;
}
