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

enum { TRIALS = 8, PASSES = 8, ORDERS = 24, PUSHES = 4, CHANCES = 2000, LUCKY = 12 };
/* As many ways together as the level before has, so many times over: fewer of an exclusive one may
   lose a line to what leaves the level before after it. */
enum { LUCK_WAYS = 3 };

/* Lines of one set of the level before, and of one set of this one: does so many fit? Between two
   rounds of them, others take them out of the levels before that. */
static int one_set(struct probe *p, unsigned level, uint64_t lines)
{
    const struct probe_level *l = &p->level[level - 1], *b = l - 1;
    struct cf_measured sum = {0}, other = {0};
    uint64_t misses = 0;

    if (probe_forget(p) != 0)
        return -1;
    for (int i = 0; i < ORDERS && !misses; i++) {
        probe_clear(p);
        probe_add(p, 0, lines * b->way_size, b->way_size);
        probe_order(p);
        if (probe_visit(p, level, i == 0, 1, &sum) != 0)
            return -1;
        misses = probe_misses(p, level, &sum);
        probe_clear(p);
        for (uint64_t at = l->line; level > 2 && at < PUSHES * p->level[level - 3].reach;
             at += p->level[0].line)
            if (at % l->way_size >= l->line)
                probe_add(p, at, at + 1, 1);
        probe_order(p);
        if (p->nodes.count && probe_visit(p, level, 0, 1, &other) != 0)
            return -1;
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

/* Bytes between lines of one set of all levels before `level`; 0 where they are beyond the buffer.
 */
static uint64_t all_ways(const struct probe *p, unsigned level)
{
    uint64_t step = 1;

    for (unsigned i = 0; i + 1 < level; i++) {
        uint64_t a = step, b = p->level[i].way_size;

        while (b) {
            const uint64_t rest = a % b;

            a = b;
            b = rest;
        }
        step = p->level[i].way_size ? step / a * p->level[i].way_size : 0;
        if (!step || step > p->bench->size)
            return 0;
    }
    return step;
}

/* Behind two levels: takes line 0 out of the first one, by lines that belong to other sets of those
   behind, so that the second sees it again. 1: there are none such. */
static int push(struct probe *p, unsigned level)
{
    const struct probe_level *l = &p->level[level - 1], *first = p->level;
    const uint64_t lines = PUSHES * (first->size / first->way_size) + 2;
    struct cf_measured other = {0};

    if (level == 2)
        return 0;
    probe_clear(p);
    for (uint64_t at = first->way_size; p->nodes.count < lines; at += first->way_size) {
        int same = at % l->way_size < l->line;

        for (unsigned i = 1; i + 1 < level; i++)
            same |= at % p->level[i].way_size < l->line;
        if (at >= p->bench->size)
            return 1;
        if (!same)
            probe_add(p, at, at + 1, 1);
    }
    probe_order(p);
    return probe_visit(p, level, 0, 1, &other);
}

/* Line 0 is visited after each of the others, which are `step` apart. What it missed: of odd
   repeats at this level, which an exclusive one never does; of even ones at the level before. */
static int stay(struct probe *p, unsigned level, uint64_t step, uint32_t repeat,
                struct cf_measured *hot)
{
    const struct probe_level *l = &p->level[level - 1];
    const uint64_t ways = l->size / l->way_size, others = 2 * ways + 2;
    struct cf_measured other = {0};

    if (probe_forget(p) != 0 || one(p, level, 0, &other) != 0)
        return -1;
    for (uint64_t i = 0; i < (PASSES + 1) * ways; i++) {
        int now;

        if (i == ways)
            *hot = (struct cf_measured){0}; /* what came first may have had to find its place */
        if (one(p, level, (1 + (i + repeat) % others) * step, &other) != 0)
            return -1;
        now = push(p, level);
        if (now || one(p, repeat % 2 ? level : level - 1, 0, hot) != 0)
            return now ? now : -1;
    }
    return 0;
}

/* 1: exclusive, as far as this shows, 0: not, 2: cannot tell; -1 with p->error. `kept`: whether the
   level before kept the line in all even repeats: else when it left is not known, and that it is
   gone says nothing; nor where the level, if it is exclusive, has a single way. */
static int trial(struct probe *p, unsigned level, uint64_t step, uint32_t repeat, int *kept)
{
    const struct probe_level *l = &p->level[level - 1], *b = l - 1;
    const uint64_t ways = l->size / l->way_size, others = 2 * ways + 2,
                   before = b->size / b->way_size;
    struct cf_measured other = {0}, hot = {0}, left = {0};
    int now = stay(p, level, step, repeat, &hot);

    if (now)
        return now < 0 ? -1 : 2;
    /* the last ones again, which the level has: line 0 leaves the level before */
    probe_clear(p);
    for (uint64_t i = (PASSES + 1) * ways - before - repeat / 2 % 2; i < (PASSES + 1) * ways; i++)
        probe_add(p, (1 + (i + repeat) % others) * step, (1 + (i + repeat) % others) * step + 1, 1);
    for (uint32_t i = 0; i < 4 + repeat; i++) {
        probe_order(p);
        if (probe_visit(p, level, 0, 1, &other) != 0)
            return -1;
    }
    if (one(p, level, 0, &left) != 0)
        return -1;
    if (repeat % 2 == 0)
        probe_emit(p, "inclusion", PROBE_HOT, level, &hot);
    else
        probe_emit(p, "inclusion", PROBE_NEAR, level, &hot);
    probe_emit(p, "inclusion", PROBE_LEFT, level, &left);
    if (repeat % 2 == 0)
        *kept &= !probe_misses(p, level - 1, &hot);
    else if (probe_misses(p, level, &hot))
        return 0;
    if (probe_misses(p, level, &left))
        return *kept && ways > before + 1 ? 0 : 2;
    return repeat % 2 || *kept ? 1 : 2;
}

/* Where the first level keeps no line for sure, it may have kept one by chance, visited once, while
   so many others passed that a second level that is not exclusive has lost it. As trial(). */
static int by_chance(struct probe *p, uint64_t step)
{
    const struct probe_level *l = &p->level[1], *b = l - 1;
    const uint64_t ways = l->size / l->way_size, before = b->size / b->way_size;
    unsigned seen = 0;

    for (uint32_t i = 0; i < CHANCES && seen < LUCKY; i++) {
        struct cf_measured other = {0}, kept = {0}, left = {0};

        if (probe_forget(p) != 0 || one(p, 2, 0, &other) != 0)
            return -1;
        probe_clear(p);
        probe_add(p, step, (ways + 2) * step, step);
        probe_order(p);
        if (probe_visit(p, 2, 0, 1, &other) != 0 || one(p, 1, 0, &kept) != 0)
            return -1;
        if (probe_misses(p, 1, &kept))
            continue;
        /* the last ones, often enough: the first level loses line 0 */
        p->nodes.count = 0;
        probe_add(p, (ways + 2 - 2 * before) * step, (ways + 2) * step, step);
        for (int round = 0; round < 6; round++) {
            probe_order(p);
            if (probe_visit(p, 2, 0, 1, &other) != 0)
                return -1;
        }
        if (one(p, 2, 0, &left) != 0)
            return -1;
        probe_emit(p, "inclusion", PROBE_LUCK, 2, &left);
        if (probe_misses(p, 2, &left))
            return ways >= LUCK_WAYS * before ? 0 : 2;
        seen++;
    }
    return seen == LUCKY ? 1 : 2;
}

/* 1: exclusive, 0: not, 2: cannot tell; -1 with p->error. */
static int exclusive(struct probe *p, unsigned level)
{
    const struct probe_level *l = &p->level[level - 1], *b = l - 1;
    const uint64_t ways = l->size / l->way_size, before = b->size / b->way_size,
                   part = b->way_size / l->way_size, step = all_ways(p, level);
    int is = 1, kept = 1;

    if (part > 1)
        return 2 * (ways + 2) * b->way_size > p->bench->size
                   ? 2
                   : one_set(p, level, ways - (part - 1) * before + 1) ^ 1;
    if (!step || (2 * ways + 3) * step > p->bench->size)
        return 2;
    for (uint32_t i = 0; i < TRIALS; i++) {
        const int now = trial(p, level, step, i, &kept);

        if (now <= 0)
            return now;
        is = now == 2 ? 2 : is;
    }
    return is == 2 && level == 2 ? by_chance(p, step) : is;
}

int probe_inclusion(struct probe *p, unsigned level)
{
    struct probe_level *l = &p->level[level - 1], *b = l - 1;
    int now = 2;

    if (!l->way_size || !probe_may_be_exclusive(p, level))
        return 1;
    if (b->size && b->way_size) {
        if (b->way_size % l->way_size || l->size <= b->size)
            return 1;
        now = exclusive(p, level);
    }
    if (now < 0)
        return -1;
    if (now)
        l->size = now == 1 ? l->size - b->size : 0;
    return 1;
}
