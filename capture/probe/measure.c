/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * measure.c - measurements of a pattern, and whether it fits a level.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/probe/probe.h"
#include "formats/stream/cf.h"

enum {
    AWAY = 4,    /* rounds of others while a group rests, */
    PART = 4096, /* nodes of a round that are visited before misses are looked at, at least */
    ROUND_PARTS = 8,
    SHUFFLED = 4,   /* orders before those by groups */
    LINES = 400,    /* that a window may be too long, for these; */
    DOUBTED = 2400, /* where no ways were found, */
    WAYS = 32,      /* of the level, for these */
    PARTS = 13,     /* of a number of lines, less than this, that may be the number of sets */
    POWERS = 20,    /* of two, that may be it */
    FIRM = 4,
    TICKS_APART = 8, /* a level's accesses take up to an eighth more than most do */
};

uint64_t probe_limit(const struct probe *p, unsigned level)
{
    const uint64_t ticks = p->level[level - 1].ticks;

    return ticks + ticks / TICKS_APART;
}

static int failed(struct probe *p)
{
    p->error = errno ? errno : EIO;
    return -1;
}

int probe_forget(struct probe *p)
{
    p->held = 0;
    if (p->error)
        return -1;
    return p->bench->forget(p->bench->self) == 0 ? 0 : failed(p);
}

int probe_visit(struct probe *p, unsigned level, uint32_t warm, uint32_t rounds,
                struct cf_measured *sum)
{
    struct cf_visit v = {.offset = p->nodes.offset,
                         .count = (uint32_t)p->nodes.count,
                         .warm = warm,
                         .rounds = rounds,
                         .level = level};
    const size_t measured = p->nodes.count * rounds;
    struct cf_measured m = {0};

    if (p->error)
        return -1;
    if (p->by_time && (level > 1 || p->noisy) && rounds) {
        if (measured > p->ticks_room) {
            free(p->ticks);
            p->ticks = malloc(measured * sizeof *p->ticks);
            p->ticks_room = p->ticks ? measured : 0;
            if (!p->ticks)
                return failed(p);
        }
        v.each = p->ticks;
    }
    p->accesses += p->nodes.count * (warm + rounds);
    if (p->bench->run(p->bench->self, &v, &m) != 0)
        return failed(p);
    if (v.each) {
        m.method = CF_METHOD_EACH;
        m.misses = 0;
        m.has_misses = 1;
        for (size_t i = 0; i < measured; i++)
            m.misses += v.each[i] > probe_limit(p, level);
    }
    m.accesses += sum->accesses;
    m.misses += sum->misses;
    m.time += sum->time;
    m.spoilt = m.spoilt ? m.spoilt : sum->spoilt;
    *sum = m;
    return 0;
}

void probe_emit(struct probe *p, const char *experiment, uint64_t parameter, unsigned level,
                const struct cf_measured *m)
{
    struct probe_row row = {experiment, parameter, 0, level, *m};
    struct probe_seen *more;

    for (size_t i = 0; i < p->seen_count; i++)
        if (p->seen[i].experiment == experiment && p->seen[i].parameter == parameter &&
            p->seen[i].level == level) {
            row.repeat = p->seen[i].times++;
            p->row(p->arg, &row);
            return;
        }
    more = realloc(p->seen, (p->seen_count + 1) * sizeof *more);
    if (!more) {
        p->error = ENOMEM;
        return;
    }
    p->seen = more;
    p->seen[p->seen_count++] = (struct probe_seen){experiment, parameter, level, 1};
    p->row(p->arg, &row);
}

uint64_t probe_misses(const struct probe *p, unsigned level, const struct cf_measured *m)
{
    if (m->has_misses)
        return m->misses;
    return m->time > m->accesses * p->level[level - 1].ticks;
}

int probe_may_be_exclusive(const struct probe *p, unsigned level)
{
    return level > 1 && p->level[level - 1].line == p->level[level - 2].line;
}

/* An exclusive level evicts when all lines of a set have left the level before it. So lines of one
   set are to be visited together, then others. How many sets there may be: p->group, or a part of
   it; a power of two; or what follows from the ways, and from how many lines a window is longer
   than the level. The order after `last`, or 0. */
static uint32_t next_group(const struct probe *p, unsigned level, enum probe_effort effort,
                           uint32_t *last)
{
    const struct probe_level *l = &p->level[level - 1], *b = l - 1;
    const uint64_t lines = p->nodes.count * p->level[0].line / l->line;

    if (!probe_may_be_exclusive(p, level))
        return 0;
    /* the more the levels before hold, the more hides there of what a window is too long by */
    const uint64_t bytes = p->nodes.count * p->level[0].line,
                   most = (p->doubt ? DOUBTED : LINES) * b->reach / bytes * b->reach / bytes * WAYS;

    while (++*last < PARTS + (effort == PROBE_ALL ? POWERS + most : 0)) {
        const uint64_t place = *last - PARTS - POWERS, more = place / WAYS + 1,
                       ways = place % WAYS + 1;
        uint64_t group = 0;

        if (*last < PARTS)
            group = p->group % *last || (*last > 1 && effort <= PROBE_ONCE) ? 0 : p->group / *last;
        else if (*last < PARTS + POWERS)
            group = 2u << (PARTS + POWERS - 1 - *last); /* a part of it would do, too */
        else if (lines > more && (lines - more) % ways == 0)
            group = (lines - more) / ways;
        if (group > 1 && group < b->reach / l->line && (*last < PARTS || lines / group < 2 * WAYS))
            return (uint32_t)group;
    }
    return 0;
}

/* A visit after others without misses: where it has some, the sum is that of it alone, so that few
   misses stand beside few accesses. */
static int visit_next(struct probe *p, unsigned level, uint32_t rounds, struct cf_measured *sum)
{
    const struct cf_measured before = *sum;

    if (probe_visit(p, level, 0, rounds, sum) != 0)
        return -1;
    if (probe_misses(p, level, sum)) {
        sum->accesses -= before.accesses;
        sum->time -= before.time;
    }
    return 0;
}

/* The lines of the first group; then others, until the levels before must have lost those (under
   SRRIP one that was hit stays for three times the ways); then the first group again. */
static int visit_groups(struct probe *p, unsigned level, uint32_t group, struct cf_measured *sum)
{
    const struct probe_nodes all = p->nodes;
    size_t first;
    int now;

    first = probe_group(p, level, group);
    if (p->error || !first)
        return p->error ? -1 : 0;
    p->nodes = p->spare;
    p->nodes.count = first;
    now = visit_next(p, level, 1, sum);
    p->nodes.offset = p->spare.offset + first;
    p->nodes.count = p->spare.count - first;
    if (now == 0 && p->nodes.count && !probe_misses(p, level, sum))
        now = visit_next(p, level, AWAY, sum);
    p->nodes.offset = p->spare.offset;
    p->nodes.count = first;
    if (now == 0 && !probe_misses(p, level, sum))
        now = visit_next(p, level, 1, sum);
    p->nodes = all;
    return now;
}

int probe_firm(struct probe *p, unsigned level)
{
    const struct probe_level *l = &p->level[level - 1];
    struct cf_measured none = {0};
    unsigned missed = 0;

    probe_clear(p);
    if (l->way_size)
        probe_add(p, 0, l->size + p->level[0].line, p->level[0].line);
    probe_order(p);
    if (probe_forget(p) != 0 || (p->nodes.count && probe_visit(p, level, 1, 0, &none) != 0))
        return -1;
    for (int i = 0; i < FIRM; i++) {
        struct cf_measured m = {.accesses = 1, .has_misses = 1, .method = CF_METHOD_EACH};

        if (p->nodes.count && visit_groups(p, level, (uint32_t)(l->way_size / l->line), &m) != 0)
            return -1;
        missed += m.misses != 0;
        probe_emit(p, "inclusion", PROBE_FIRM, level, &m);
    }
    return 2 * missed >= FIRM;
}

/* A round in parts, which ends at the first part with a miss. */
static int visit_parts(struct probe *p, unsigned level, struct cf_measured *sum)
{
    const struct probe_nodes all = p->nodes;
    const size_t part = all.count / ROUND_PARTS > PART ? all.count / ROUND_PARTS : PART;
    int now = 0;

    for (size_t at = 0; now == 0 && at < all.count && !probe_misses(p, level, sum); at += part) {
        p->nodes.offset = all.offset + at;
        p->nodes.count = all.count - at < part ? all.count - at : part;
        now = visit_next(p, level, 1, sum);
    }
    p->nodes = all;
    return now;
}

void probe_settle(struct probe *p, unsigned level, int found)
{
    for (const struct probe_row *k = p->kept; k < p->kept + p->kept_count; k++)
        if (found)
            probe_emit(p, k->experiment, k->parameter, level, &k->m);
        else
            probe_emit(p, "ways", k->repeat, level, &k->m);
    p->kept_count = 0;
}

int probe_fits(struct probe *p, const char *experiment, uint64_t parameter, unsigned level,
               enum probe_effort effort)
{
    const struct probe_level *l = &p->level[level - 1];
    const int shuffled = level == 1 || effort <= PROBE_ONCE ? 1 : SHUFFLED;
    struct cf_measured sum = {0}, none = {0};
    uint64_t misses = 0;
    uint32_t last = 0;

    if (effort != PROBE_MORE && probe_forget(p) != 0)
        return -1;
    for (int i = 0; !misses; i++) {
        uint32_t group = 0;

        if (i >= shuffled && !(group = next_group(p, level, effort, &last)))
            break;
        if (!group)
            probe_order(p);
        if ((i == 0 && effort != PROBE_MORE && probe_visit(p, level, 1, 0, &none) != 0) ||
            (group ? visit_groups(p, level, group, &sum) : visit_parts(p, level, &sum)) != 0)
            return -1;
        misses = probe_misses(p, level, &sum);
        if (misses && group)
            p->group = group;
    }
    p->missed = p->group || effort > PROBE_ONCE ? 0
                : sum.has_misses                ? (double)misses
                                                : (double)(sum.time - sum.accesses * l->ticks) /
                                       (double)(p->memory_ticks - l->ticks);
    p->part = (double)sum.accesses / (double)p->nodes.count;
    if (p->supposed == PROBE_KEEP && p->kept_count < PROBE_KEPT) {
        p->kept[p->kept_count++] = (struct probe_row){
            experiment, parameter, (uint32_t)(l->size / l->way_size), level, sum};
        return misses == 0;
    }
    /* what cf-infer may not take for sure */
    if (p->supposed)
        experiment = "ways", parameter = l->size / l->way_size;
    else if (!misses && level > 1 && effort < PROBE_ALL && parameter > l->size &&
             strcmp(experiment, "size") == 0)
        experiment = "window";
    probe_emit(p, experiment, parameter, level, &sum);
    return misses == 0;
}
