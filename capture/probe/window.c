/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.c - how many lines a level has, by windows, with noise. See window.h.
 */
#include <string.h>

#include "capture/probe/conflict.h"
#include "capture/probe/window.h"

enum {
    PAGE = CONFLICT_PAGE,
    LEAST = 256,
    COARSE = 32,  /* a window does not fit of which such a part misses */
    PROBES = 32,  /* lines of a profile, */
    ROUNDS = 2,   /* of others, */
    SMALL = 4096, /* lines: a level with more has more sets than a profile is wide */
    TRIES = 3,
    FEW_TRIALS = 4,
    LAST = 2 * PROBES - 4, /* lines from the end of a window to these */
    PARTS = 8,             /* of a window */
    PART = 4096,
    MANY_TRIALS = 60,
    MANY_ACCESSES = 10000000,
};

/* A part of the lines that are evicted. */
static const double CLEAR = 0.5;

/* A visit of a part of the nodes. */
static int visit_part(struct probe *p, unsigned level, size_t from, size_t count, int measured,
                      struct cf_measured *m)
{
    const struct probe_nodes all = p->nodes;
    int status;

    p->nodes.offset += from;
    p->nodes.count = count;
    status = probe_visit(p, level, !measured, (uint32_t)measured, m);
    p->nodes = all;
    return status;
}

/* Whether a window, which ends at the end of a page, misses in each of some orders; of a large one
   a part of them says that. */
static int roughly_fits(struct probe *p, unsigned level, uint64_t bytes)
{
    const uint64_t end = (bytes + PAGE - 1) / PAGE * PAGE;
    struct cf_measured none = {0};
    size_t part;

    probe_clear(p);
    probe_add(p, end - bytes, end, p->level[level - 1].line);
    probe_order(p);
    part = p->nodes.count / PARTS > PART ? p->nodes.count / PARTS : p->nodes.count;
    if (probe_forget(p) != 0 || probe_visit(p, level, 1, 0, &none) != 0)
        return -1;
    for (unsigned i = 0; i < 4; i++) {
        struct cf_measured m = {0};

        probe_order(p);
        if (visit_part(p, level, 0, part, 1, &m) != 0)
            return -1;
        if (m.misses * COARSE <= m.accesses)
            return 1;
        if (part == p->nodes.count)
            continue;
        if (m.misses * 2 > m.accesses)
            return 0; /* another program takes out less */
        if (visit_part(p, level, part, p->nodes.count - part, 0, &none) != 0)
            return -1;
    }
    return 0;
}

int window_range(struct probe *p, unsigned level, struct window_range *r)
{
    struct probe_level *l = &p->level[level - 1];
    const uint64_t before = level > 1 ? p->level[level - 2].reach : 0;
    uint64_t fits = before / l->line, beyond = level > 1 ? 2 * fits : LEAST / l->line;
    int now;

    beyond = beyond ? beyond : 1;
    while ((now = roughly_fits(p, level, beyond * l->line)) > 0) {
        fits = beyond;
        beyond *= 2;
        if (fits * l->line >= p->most || beyond * l->line + PAGE > p->bench->size)
            return 0;
    }
    while (now >= 0 && beyond - fits > 1 && beyond - fits > fits / COARSE) {
        const uint64_t middle = fits + (beyond - fits) / 2;

        now = roughly_fits(p, level, middle * l->line);
        *(now > 0 ? &fits : &beyond) = middle;
    }
    l->reach = beyond * l->line;
    r->least = fits - fits / (COARSE / 2);
    r->most = beyond + 1;
    return now < 0 ? -1 : 1;
}

/* Lines behind the end of windows, `first` and then `step` lines from it, of which each stays or is
   evicted by a window of so many others. */
struct profile {
    uint64_t others, first, step;
    unsigned trials;
    uint32_t evicted[PROBES];
};

/* Where windows end, and the lines begin that they may evict. */
static uint64_t end_of(const struct probe *p, unsigned level)
{
    const struct probe_level *l = &p->level[level - 1];

    return ((l->reach + 2 * PROBES * l->line) / PAGE + 1) * PAGE;
}

static int visit_each(struct probe *p, unsigned level, uint64_t end, struct profile *f)
{
    const uint64_t line = p->level[level - 1].line;
    uint64_t order[PROBES];

    probe_clear(p);
    probe_add(p, end + f->first * line, end + (f->first + PROBES * f->step) * line, f->step * line);
    probe_order(p);
    if (p->error)
        return -1;
    memcpy(order, p->nodes.offset, sizeof order);
    for (unsigned i = 0; i < PROBES; i++) {
        struct cf_measured m = {0};

        p->nodes.count = 1;
        p->nodes.offset[0] = order[i];
        if (probe_visit(p, level, 0, 1, &m) != 0)
            return -1;
        f->evicted[((order[i] - end) / line - f->first) / f->step] += m.misses != 0;
    }
    return 0;
}

/* Each of the lines is evicted whose set has as many others in the window as ways: those from
   size - others on. */
static int take_profile(struct probe *p, unsigned level, struct profile *f)
{
    const uint64_t line = p->level[level - 1].line, end = end_of(p, level);

    memset(f->evicted, 0, sizeof f->evicted);
    for (unsigned i = 0; i < f->trials; i++) {
        struct cf_measured m = {0};

        probe_clear(p);
        probe_add(p, end + f->first * line, end + (f->first + PROBES * f->step) * line,
                  f->step * line);
        probe_order(p);
        if (probe_forget(p) != 0 || probe_visit(p, level, 1, 0, &m) != 0)
            return -1;
        probe_clear(p);
        probe_add(p, end - f->others * line, end, line);
        for (unsigned k = 0; k < ROUNDS; k++) {
            probe_order(p);
            if (p->nodes.count && probe_visit(p, level, 1, 0, &m) != 0)
                return -1;
        }
        if (visit_each(p, level, end, f) != 0)
            return -1;
    }
    return 0;
}

/* From which of the lines on more are evicted, by least squares; 0 to PROBES. How much more, as a
   part of all. */
static unsigned split(const struct profile *f, double *more)
{
    double all = 0, before = 0, best = -1;
    unsigned at = PROBES;

    for (unsigned i = 0; i < PROBES; i++)
        all += f->evicted[i];
    *more = 0;
    for (unsigned i = 1; i < PROBES; i++) {
        double low, high, gain;

        before += f->evicted[i - 1];
        low = before / i;
        high = (all - before) / (PROBES - i);
        gain = (high - low) * (high - low) * i * (PROBES - i);
        if (high > low && gain > best) {
            best = gain;
            at = i;
            *more = (high - low) / f->trials;
        }
    }
    return at;
}

/* Where the profile begins to be evicted; 0: cannot tell. */
static int find_split(struct probe *p, unsigned level, struct profile *f, unsigned *at)
{
    double more;

    f->trials = FEW_TRIALS;
    if (take_profile(p, level, f) != 0)
        return -1;
    *at = split(f, &more);
    if (more < CLEAR && f->others * ROUNDS * MANY_TRIALS < MANY_ACCESSES) {
        f->trials = MANY_TRIALS;
        if (take_profile(p, level, f) != 0)
            return -1;
        *at = split(f, &more);
    }
    return more > 0;
}

/* Whether the line behind a window is evicted by so many before it, mostly. */
static int window_evicts(struct probe *p, unsigned level, uint64_t others)
{
    const uint64_t line = p->level[level - 1].line, end = end_of(p, level);
    unsigned evicted = 0;

    for (unsigned i = 0; i < FEW_TRIALS; i++) {
        struct cf_measured m = {0};

        probe_clear(p);
        probe_add(p, end, end + 1, 1);
        if (probe_forget(p) != 0 || probe_visit(p, level, 1, 0, &m) != 0)
            return -1;
        probe_clear(p);
        probe_add(p, end - others * line, end, line);
        for (unsigned k = 0; k < ROUNDS && p->nodes.count; k++) {
            probe_order(p);
            if (probe_visit(p, level, 1, 0, &m) != 0)
                return -1;
        }
        probe_clear(p);
        probe_add(p, end, end + 1, 1);
        m = (struct cf_measured){0};
        if (probe_visit(p, level, 0, 1, &m) != 0)
            return -1;
        evicted += m.misses != 0;
    }
    return 2 * evicted > FEW_TRIALS;
}

/* The same of a small level, by halves. */
static int halve(struct probe *p, unsigned level, struct window_range *r)
{
    uint64_t stays = r->least ? r->least - 1 : 0, evicts = r->most + 1;

    while (evicts - stays > 1) {
        const uint64_t middle = stays + (evicts - stays) / 2;
        const int now = window_evicts(p, level, middle);

        if (now < 0)
            return -1;
        *(now ? &evicts : &stays) = middle;
    }
    r->exact = evicts;
    return 1;
}

/* Whether a window evicts lines each time that it is tried, as noise does now and then. */
static int all_evict(struct probe *p, unsigned level, struct profile *f)
{
    for (unsigned i = 0; i < TRIES; i++) {
        unsigned evicted = 0;

        if (take_profile(p, level, f) != 0)
            return -1;
        for (unsigned k = 0; k < PROBES; k++)
            evicted += f->evicted[k];
        if (evicted < 2)
            return 0;
    }
    return 1;
}

/* Between `a` lines, which stay, and `b`, which do not: by lines behind a window that are as far
   apart as they can be where it has less than one set may have more than another, and where those
   do not show it, by halves. */
static int narrow(struct probe *p, unsigned level, uint64_t *a, uint64_t *b)
{
    struct profile f = {.step = 2};
    int now, vague = 0;

    while (*b - *a > PROBES / 2) {
        const uint64_t wide = *b - *a;
        double more = 0;
        unsigned at = 0;

        f.first = 0;
        if (!vague && wide <= *b / COARSE && wide > 2 * PROBES) {
            f.others = *a + LAST; /* a and b are where the last two of a narrow profile go */
            f.step = (wide + PROBES - 1) / PROBES;
            f.trials = FEW_TRIALS;
            if (take_profile(p, level, &f) != 0)
                return -1;
            at = split(&f, &more);
        }
        if (more >= CLEAR && at + 1 < PROBES) { /* one line alone says nothing */
            *b = *a + (at + 1) * f.step;
            *a += at > 2 ? (at - 2) * f.step : 0;
            continue;
        }
        vague |= f.step > 2;
        f.step = 2;
        f.trials = 1;
        f.others = *a + wide / 2;
        if ((now = all_evict(p, level, &f)) < 0)
            return -1;
        *(now ? b : a) = f.others;
    }
    return 1;
}

int window_exact(struct probe *p, unsigned level, struct window_range *r)
{
    uint64_t a = r->least ? r->least : 1, b = r->most;
    struct profile f = {.step = 2};
    unsigned at[2];
    int now;

    if (end_of(p, level) + 2 * PROBES * p->level[level - 1].line > p->bench->size)
        return 0;
    if (b <= SMALL)
        return halve(p, level, r);
    if (narrow(p, level, &a, &b) < 0)
        return -1;
    for (unsigned i = 0; b == r->most && i < TRIES; i++) { /* nothing did: it is larger */
        a = b - PROBES;
        b = r->most += r->most / COARSE;
        if (narrow(p, level, &a, &b) < 0)
            return -1;
    }
    /* it evicted the last two */
    f.others = (a + b) / 2 + LAST - PROBES;
    for (f.first = 0; f.first < 2; f.first++)
        if ((now = find_split(p, level, &f, &at[f.first])) <= 0)
            return now;
    at[0] *= 2;
    at[1] = 2 * at[1] + 1;
    r->exact = f.others + (at[0] < at[1] ? at[0] : at[1]);
    return 1;
}
