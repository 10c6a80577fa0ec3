/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * measure.c - measurements of a pattern, and whether it fits a level.
 */
#include <errno.h>
#include <stdlib.h>

#include "capture/probe/probe.h"
#include "formats/stream/cf.h"

enum {
    AWAY = 4,        /* rounds that a group is not visited in */
    SHUFFLED = 6,    /* orders before those by groups */
    LINES = 16,      /* that a window may be too long, for these */
    WAYS = 32,       /* of the level, for these */
    PARTS = 12,      /* of a number of lines, that may be the number of sets */
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
    if (p->by_time && level > 1) {
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

/* An exclusive level evicts when all lines of a set have left the level before it. So lines of one
   set are to be visited together, then others. How many sets there may be: p->group, or a part of
   it; or what follows from the ways, and from how many lines a window is longer than the level. The
   order after `last`, or 0. */
static uint32_t next_group(const struct probe *p, unsigned level, enum probe_effort effort,
                           uint32_t *last)
{
    const struct probe_level *l = &p->level[level - 1], *b = l - 1;
    const uint64_t lines = p->nodes.count * p->level[0].line / l->line;

    if (level == 1 || l->line != p->level[0].line)
        return 0;
    while (++*last <= PARTS)
        if (p->group % *last == 0 && p->group / *last > 1 &&
            p->group / *last < b->reach / l->line && (*last == 1 || effort != PROBE_ONCE))
            return p->group / *last;
    while (effort == PROBE_ALL && ++*last < LINES * WAYS + PARTS) {
        const uint64_t more = (*last - PARTS) / WAYS + 1, ways = (*last - PARTS) % WAYS + 1;

        if (lines > more && (lines - more) % ways == 0 && (lines - more) / ways > 1 &&
            (lines - more) / ways < b->reach / l->line)
            return (uint32_t)((lines - more) / ways);
    }
    return 0;
}

/* A round by groups; then the first of them rests, until the level before must have lost its lines
   (under SRRIP one that was hit stays for three times the ways); then all again. */
static int visit_groups(struct probe *p, unsigned level, uint32_t group, struct cf_measured *sum)
{
    const uint64_t line = p->level[level - 1].line;
    const struct probe_nodes all = p->nodes;
    size_t first = 0;
    int now;

    if (probe_visit(p, level, 0, 1, sum) != 0)
        return -1;
    while (first < all.count && all.offset[first] / line % group == 0)
        first++;
    p->nodes.offset += first;
    p->nodes.count -= first;
    now = p->nodes.count ? probe_visit(p, level, 0, AWAY, sum) : 0;
    p->nodes = all;
    return now ? now : probe_visit(p, level, 0, 1, sum);
}

int probe_fits(struct probe *p, const char *experiment, uint64_t parameter, unsigned level,
               enum probe_effort effort)
{
    const uint64_t line = p->level[level - 1].line;
    const int shuffled = level == 1 || effort == PROBE_ONCE ? 1 : SHUFFLED;
    struct cf_measured sum = {0};
    uint64_t misses = 0;
    uint32_t last = 0;

    if (probe_forget(p) != 0)
        return -1;
    for (int i = 0; !misses; i++) {
        uint32_t group = 0;

        if (i >= shuffled && !(group = next_group(p, level, effort, &last)))
            break;
        probe_order(p, line, group);
        if (group ? visit_groups(p, level, group, &sum) : probe_visit(p, level, i == 0, 1, &sum))
            return -1;
        misses = probe_misses(p, level, &sum);
        if (misses && group)
            p->group = group;
    }
    probe_emit(p, experiment, parameter, level, &sum);
    return misses == 0;
}
