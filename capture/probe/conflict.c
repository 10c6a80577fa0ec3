/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conflict.c - whether a line is evicted from a level by so many others of its set, where noise
 * hides the misses of whole windows: another program takes lines out, and prefetchers bring some.
 *
 * A line is visited, then the others, then the line again, which alone is measured: it misses where
 * it was evicted. What disturbs other lines does not count, and what disturbs this one is rare, so
 * that repeats decide: it is evicted by enough others in a share of them that noise does not reach,
 * under any policy, as W + 1 lines of a set of W ways do not all stay. A set of lines without any
 * of which the line stays is a minimal eviction set (Vila, Koepf and Morales, "Theory and Practice
 * of Finding Eviction Sets", IEEE S&P 2019).
 *
 * Behind the first level, lines are taken out of the levels before it by others that share a set
 * there and none here: so an exclusive level gets them, and what is found is its own size.
 *
 * Prefetchers: lines stand in a page each, so that no stride is seen, and where their pages let
 * them at its end, behind which none prefetches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/probe/conflict.h"

enum {
    PAGE = CONFLICT_PAGE,
    STEPS = 3,
    MOST_SWEPT = 8192, /* lines of the first level */
    FEW_SETS = 16,     /* so few that lines which are prefetched often fall into the same one */
    TIMES = 3,         /* as many lines as the levels before have ways take a line out of them */
};

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

uint64_t conflict_multiple(uint64_t a, uint64_t b)
{
    return a / divisor(a, b) * b;
}

uint64_t conflict_step(uint64_t way, uint64_t line)
{
    uint64_t times = (PAGE + way - 1) / way;

    if (way <= 2 * line)
        return conflict_multiple(PAGE, way);
    if (times == 2)
        times = 5; /* most numbers of sets are multiples of 2, and of others many of 3 */
    for (uint64_t by = 2; times > 1 && by < times; by++)
        if (times % by == 0)
            times++, by = 1; /* a prime number, which divides few numbers of sets behind */
    return times * way;
}

/* Lines that are multiples of it apart share a set in all levels before; 0: beyond the buffer. */
static uint64_t period_before(const struct probe *p, unsigned level)
{
    uint64_t period = level > 1;

    for (unsigned i = 0; i + 1 < level && period; i++) {
        period = p->level[i].way_size ? conflict_multiple(period, p->level[i].way_size) : 0;
        period = period <= p->bench->size ? period : 0;
    }
    return period;
}

static uint64_t step_before(const struct probe *p, unsigned level)
{
    const uint64_t period = period_before(p, level);

    return period ? conflict_step(period, p->level[0].line) : 0;
}

/* Whether one of so many lines shares its sets with another. */
static int is_among(const uint64_t *place, uint32_t count, uint64_t other, uint64_t period)
{
    uint32_t i = 0;

    while (i < count && place[i] % period != other % period)
        i++;
    return i < count;
}

/* Whether lines so far apart may share a set of the level, if its ways are as is supposed, or parts
   of these; where all lines that are `step` apart would, more of them show it. */
static int may_conflict(const struct conflict *c, uint64_t line, uint64_t step, uint64_t distance)
{
    for (uint64_t part = 1; part == 1 || part * c->lines <= CONFLICT_WAYS; part++) {
        const uint64_t way = c->way / part, rest = distance % way;

        if (c->way % (part * line) == 0 && (part == 1 || step % way) &&
            (rest < line || rest + 2 * line > way)) /* the line behind may be prefetched */
            return 1;
    }
    return 0;
}

/* The lines of trials. */
struct plan {
    uint64_t place[CONFLICT_LINES];
    struct probe_nodes own[STEPS],
        others[STEPS]; /* that take the line, and the others, out of levels
                                                     before, one after the other */
    int possible;
    uint64_t *used; /* a bit a page: one line stands there, so that no stride is seen */
};

static int take_page(uint64_t *used, uint64_t place)
{
    const uint64_t page = place / PAGE, bit = (uint64_t)1 << page % 64;
    const int taken = (used[page / 64] & bit) != 0;

    used[page / 64] |= bit;
    return !taken;
}

/* Adds to the nodes so many that are multiples of `step` from the line `at`, and share no set of
   the level with it. 1, or 0 where there are few such. */
static int add_away(struct probe *p, const struct conflict *c, uint64_t at, uint64_t step,
                    uint64_t wanted, uint64_t *used)
{
    const uint64_t line = p->level[c->level - 1].line, all = wanted,
                   steps = step ? p->bench->size / step : 0,
                   from = steps ? probe_below(&p->seed, (uint32_t)steps) : 0;

    for (uint64_t i = 0; i < steps && wanted; i++) {
        const uint64_t d = (from + i) % steps * step,
                       place = at + d < p->bench->size ? at + d : at + d - steps * step;

        if (may_conflict(c, line, step, place > at ? place - at : at - place) ||
            !take_page(used, place))
            continue;
        probe_add(p, place, place + 1, 1);
        wanted--;
    }
    return 2 * wanted <= all;
}

/* Adds pages of twice the first level. A page with a line that may share the set is left out whole:
   a stride prefetcher, which sees some lines of a page, brings others of it. */
static int add_window(struct probe *p, const struct conflict *c, uint64_t at)
{
    const struct probe_level *first = &p->level[0];
    const uint64_t line = p->level[c->level - 1].line, wanted = 2 * first->size / first->line;

    if (first->size / first->line > MOST_SWEPT)
        return 0;
    for (uint64_t page = p->bench->size / 2 / PAGE * PAGE;
         page + PAGE <= p->bench->size && p->nodes.count < wanted; page += PAGE) {
        uint64_t place = page;

        while (place < page + PAGE &&
               !may_conflict(c, line, 1, place > at ? place - at : at - place))
            place += first->line;
        if (place >= page + PAGE)
            probe_add(p, page, page + PAGE, first->line);
    }
    return p->nodes.count >= wanted;
}

/* The lines of the set; of a choice but the first, some of twice as many places. */
static int choose(struct probe *p, const struct conflict *c, unsigned choice, uint64_t *place)
{
    const uint32_t most = choice ? 2 * c->lines + 2 : c->lines;
    uint32_t left = c->lines;

    if (c->lines > CONFLICT_LINES)
        return -1;
    if (c->at + (uint64_t)most * c->step >= p->bench->size)
        return choice ? choose(p, c, 0, place) : -1;
    for (uint32_t k = 1; k <= most && left; k++)
        if (probe_below(&p->seed, most - k + 1) < left)
            place[--left] = c->at + k * c->step;
    return 0;
}

/* The nodes, which belong to the probe, as ones of a plan. */
static int keep(struct probe *p, struct probe_nodes *to)
{
    to->offset = malloc((p->nodes.count + 1) * sizeof *to->offset);
    to->count = p->nodes.count;
    if (p->error || !to->offset) {
        p->error = p->error ? p->error : ENOMEM;
        return -1;
    }
    if (to->count)
        memcpy(to->offset, p->nodes.offset, to->count * sizeof *to->offset);
    return 0;
}

static void drop(struct plan *k)
{
    for (unsigned i = 0; i < STEPS; i++) {
        free(k->own[i].offset);
        free(k->others[i].offset);
    }
    free(k->used);
}

/* Adds what takes lines out of levels before that have such a period: once for all that share their
   sets. Of others than the line itself, that may do what takes this one out. */
static int add_all(struct probe *p, const struct conflict *c, struct plan *k, int own,
                   uint64_t period, uint64_t wanted, const struct probe_nodes *mine)
{
    const uint64_t step = period ? conflict_step(period, p->level[0].line) : 0;
    int done = 1, shared = 0;

    if (!period)
        return 0;
    if (own)
        return add_away(p, c, c->at, step, wanted, k->used);
    for (uint32_t n = 0; n < c->lines; n++)
        if (is_among(&c->at, 1, k->place[n], period))
            shared = 1;
        else if (!is_among(k->place, n, k->place[n], period))
            done &= add_away(p, c, k->place[n], step, wanted, k->used);
    for (size_t n = 0; shared && n < mine->count; n++)
        probe_add(p, mine->offset[n], mine->offset[n] + 1, 1);
    return done;
}

/* What takes the line, or the others, out of the levels before, in one step: it shares sets with
   them in all of these. Or, where so few lines do, out of the first level, then out of the second,
   and where that may be exclusive, what came for that out of the first one. 1, 0 where that cannot
   be, or -1. */
static int take_out(struct probe *p, const struct conflict *c, struct plan *k, int own)
{
    /* without a line of the set more of them: they would evict if they were of the set, too */
    const uint64_t more = 2 + (c->without ? c->lines : 0), period = period_before(p, c->level),
                   step = step_before(p, c->level);
    struct probe_nodes *to = own ? k->own : k->others;
    uint64_t before = 0;
    int done = 1, together;

    for (unsigned i = 0; i + 1 < c->level; i++)
        before += TIMES * (p->level[i].size / p->level[i].way_size);
    /* the same of all trials, with and without lines */
    together = c->level != 3 || (step && p->bench->size / step >= 2 * (before + 2 + c->lines));
    for (unsigned i = 0; i < (together ? 1 : STEPS); i++) {
        const struct probe_level *l = &p->level[i];

        probe_clear(p);
        if (together)
            done = add_all(p, c, k, own, period, before + more, &k->own[0]);
        else if (i < 2)
            done &= add_all(p, c, k, own, l->way_size, more + TIMES * (l->size / l->way_size),
                            &k->own[i]);
        else if (probe_may_be_exclusive(p, 2))
            done &= add_window(p, c, c->at);
        if (keep(p, &to[i]) != 0)
            return -1;
    }
    return done;
}

static int make_plan(struct probe *p, const struct conflict *c, unsigned choice, struct plan *k)
{
    const uint64_t step = step_before(p, c->level);
    int own = 1, others = 1;

    *k = (struct plan){.possible = 0};
    k->possible = choose(p, c, choice, k->place) == 0;
    k->used = calloc(p->bench->size / PAGE / 64 + 1, sizeof *k->used);
    if (!k->used) {
        p->error = ENOMEM;
        return -1;
    }
    if (!k->possible)
        return 0;
    (void)take_page(k->used, c->at);
    for (uint32_t i = 0; i < c->lines; i++)
        (void)take_page(k->used, k->place[i]);
    if (c->level == 1)
        return 0;
    own = take_out(p, c, k, 1);
    if (own >= 0 && (c->passes > 1 || probe_may_be_exclusive(p, c->level)))
        others = take_out(p, c, k, 0);
    if (own < 0 || others < 0)
        return -1;
    /* none, where the lines themselves do it */
    k->possible = (own && others) || (!k->own->count && !probe_may_be_exclusive(p, c->level) &&
                                      step && c->step % step == 0);
    return 0;
}

/* Some nodes in a random order. */
static int visit(struct probe *p, unsigned level, const uint64_t *place, size_t count)
{
    struct cf_measured none = {0};

    probe_clear(p);
    for (size_t i = 0; i < count; i++)
        probe_add(p, place[i], place[i] + 1, 1);
    probe_order(p);
    return count && probe_visit(p, level, 1, 0, &none) != 0 ? -1 : 0;
}

static int visit_steps(struct probe *p, unsigned level, const struct probe_nodes *step)
{
    for (unsigned i = 0; i < STEPS; i++)
        if (visit(p, level, step[i].offset, step[i].count) != 0)
            return -1;
    return 0;
}

static int try_plan(struct probe *p, const struct conflict *c, struct plan *k,
                    struct cf_measured *m)
{
    if (!k->possible)
        return CONFLICT_UNCLEAR;
    if (c->without && c->lines) { /* any of them */
        const uint32_t i = probe_below(&p->seed, c->lines);
        const uint64_t first = k->place[0];

        k->place[0] = k->place[i];
        k->place[i] = first;
    }
    if (probe_forget(p) != 0 || visit(p, c->level, &c->at, 1) != 0 ||
        visit_steps(p, c->level, k->own) != 0)
        return -1;
    for (unsigned i = 0; i < c->passes; i++)
        if (visit(p, c->level, k->place + c->without, c->lines - c->without) != 0 ||
            visit_steps(p, c->level, k->others) != 0)
            return -1;
    probe_clear(p);
    probe_add(p, c->at, c->at + 1, 1);
    if (probe_visit(p, c->counted ? c->counted : c->level, 0, 1, m) != 0)
        return -1;
    return m->misses ? CONFLICT_EVICTED : CONFLICT_STAYS;
}

int conflict_once(struct probe *p, const struct conflict *c, unsigned choice, struct cf_measured *m)
{
    struct plan k;
    int now = make_plan(p, c, choice, &k);

    if (now == 0)
        now = try_plan(p, c, &k, m);
    drop(&k);
    return now;
}

/* Whether one choice of lines evicts; of choices but the first, another one each time. */
static int decide(struct probe *p, const struct conflict *c, unsigned choice,
                  struct conflict_seen *s)
{
    struct plan k;
    int now = make_plan(p, c, 0, &k), done = 0;

    *s = (struct conflict_seen){0};
    while (now == 0 && !done && s->trials < CONFLICT_TRIALS) {
        struct cf_measured m = {0};

        now = choice ? conflict_once(p, c, choice, &m) : try_plan(p, c, &k, &m);
        if (now < 0 || now == CONFLICT_UNCLEAR)
            break;
        s->evicted += now == CONFLICT_EVICTED;
        s->out[s->trials++] = now == CONFLICT_EVICTED;
        now = 0;
        if (s->evicted >= CONFLICT_ENOUGH && s->evicted * CONFLICT_SHARE >= s->trials)
            now = CONFLICT_EVICTED;
        done = s->trials >= (c->quick ? c->quick : CONFLICT_CLEAN) &&
               s->evicted * CONFLICT_RARE <= s->trials;
    }
    drop(&k);
    return now || done ? now : CONFLICT_UNCLEAR;
}

int conflict_decide(struct probe *p, const struct conflict *c, struct conflict_seen *s)
{
    int now = CONFLICT_EVICTED;

    /* a level behind that is inclusive may take the line out, which has too many of some lines */
    for (unsigned choice = 0; now == CONFLICT_EVICTED && choice < c->choices; choice++)
        now = decide(p, c, choice, s);
    return now;
}

int conflict_few_sets(struct probe *p, const struct conflict *of)
{
    const uint64_t line = p->level[0].line, sets = of->way / line;
    struct conflict c = *of;
    struct conflict_seen seen;
    int now;

    if (c.level > 1 || sets > FEW_SETS)
        return 1;
    c.step = conflict_multiple(PAGE, c.way);
    now = conflict_decide(p, &c, &seen);
    for (uint64_t part = 2; now == CONFLICT_EVICTED && part <= sets; part++) {
        c.step = conflict_step(c.way / part, line);
        if (sets % part || c.step % c.way == 0)
            continue;
        now = conflict_decide(p, &c, &seen);
        if (now >= 0) /* as it should be where these stay */
            now = now == CONFLICT_STAYS ? CONFLICT_EVICTED : CONFLICT_STAYS;
    }
    return now < 0 ? -1 : now == CONFLICT_EVICTED;
}
