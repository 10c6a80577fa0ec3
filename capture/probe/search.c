/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search.c - level after level: its line, its size, and from these its ways.
 *
 * Of the first level all is exact. Sizes are found by doubling a window from offset 0 until it does
 * not fit, and by halves then. The search takes one order of the window each time, so it may end
 * too high at a deeper level; all orders of what it ended with find a miss then, and it goes on
 * below.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "capture/probe/probe.h"

enum {
    LEAST = 256,
    LONGEST_LINE = 65536,
    MOST_WAYS = 1024,
    MOST_PARTS = 13,
    DEVIATIONS = 2,
    QUICKLY = 4,  /* times that one order of each window is enough to find a size */
    NEARLY = 1024 /* lines */
};

static uint64_t unit(const struct probe *p)
{
    return p->level[0].line;
}

/* A window that is longer than the one before, which fits, has only to visit what is new. */
static int window(struct probe *p, uint64_t bytes, unsigned level, enum probe_effort effort)
{
    const uint64_t held = effort == PROBE_ONCE && p->held < bytes ? p->held : 0;
    struct cf_measured none = {0};
    int now;

    if (held) {
        probe_clear(p);
        probe_add(p, held, bytes, unit(p));
        probe_order(p);
        if (probe_visit(p, level, 1, 0, &none) != 0)
            return -1;
        effort = PROBE_MORE;
    }
    probe_clear(p);
    probe_add(p, 0, bytes, unit(p));
    now = probe_fits(p, "size", bytes, level, effort);
    p->held = now > 0 ? bytes : 0;
    return now;
}

/* ---- the line: two accesses to one line miss once ---- */

static int find_line(struct probe *p, unsigned level)
{
    struct probe_level *l = &p->level[level - 1];

    const uint64_t before = level > 1 ? p->level[level - 2].line : 0;

    for (uint64_t d = before > CF_NODE ? before / 2 : CF_NODE; d <= LONGEST_LINE; d *= 2) {
        struct cf_measured m = {0};
        uint64_t missed;

        probe_clear(p);
        probe_add(p, 0, d + 1, d);
        if (probe_forget(p) != 0)
            return -1;
        /* one access alone is timed as such */
        if (p->by_time && level == 1) {
            p->nodes.count = 1;
            p->nodes.offset[0] = 0;
            if (probe_visit(p, 1, 0, 1, &m) != 0)
                return -1;
            p->nodes.offset[0] = d;
            m = (struct cf_measured){0};
            if (probe_visit(p, 1, 0, 1, &m) != 0)
                return -1;
            missed = 1 + probe_misses(p, 1, &m);
        } else {
            if (probe_visit(p, level, 0, 1, &m) != 0)
                return -1;
            missed = probe_misses(p, level, &m);
        }
        probe_emit(p, "pair", d, level, &m);
        if (missed > 1) {
            l->line = d;
            return 1;
        }
    }
    return 0;
}

/* ---- the size ---- */

/* A window that does not fit, how many misses a round of it has, and their standard deviation as a
   part of them. */
struct beyond {
    uint64_t bytes;
    double misses, error;
};

static struct beyond beyond_of(const struct probe *p, uint64_t bytes)
{
    const double known = p->missed > 0 ? p->missed : 0;

    return (struct beyond){bytes, known / p->part, 1 / sqrt(known)};
}

/* Where to look next between what fits and what does not. As long as no set has two lines too many,
   misses grow with the lines that a window is too long: those of the last two windows say where
   they begin, and if they are wrong, the search goes on by halves. */
static uint64_t between(uint64_t fits, const struct beyond last[2], uint64_t line)
{
    const double lines = (double)((last[0].bytes - fits) / line);
    double place = lines / 2;

    if (last[1].misses > last[0].misses) {
        const double more = last[0].misses * (double)((last[1].bytes - last[0].bytes) / line) /
                            (last[1].misses - last[0].misses),
                     error = 1 + DEVIATIONS * more * last[0].error;

        if (lines - more - error >= 1)
            place = lines - more - error;
        else if (more - error >= 1 && lines - more + error >= 1)
            place = lines - more + error;
    }
    return fits + (uint64_t)place * line;
}

/* The number of lines between two others that most powers of two divide. */
static uint64_t roundest(uint64_t above, uint64_t below)
{
    uint64_t power = 1;

    while ((below - 1) / (2 * power) * (2 * power) > above)
        power *= 2;
    return (below - 1) / power * power;
}

/* `fits` does, and `beyond` does not, as it was just seen; both are multiples of the line. Near the
   end a round number is tried, as most sizes are. */
static int halve(struct probe *p, unsigned level, enum probe_effort effort, uint64_t fits,
                 uint64_t beyond, uint64_t *size)
{
    const uint64_t line = p->level[level - 1].line;
    struct beyond last[2] = {beyond_of(p, beyond), {0}};
    uint64_t round = 0;

    while (last[0].bytes - fits > line) {
        uint64_t middle = between(fits, last, line);
        int now;

        if (round && fits == round)
            middle = fits + line;
        else if (!round && last[0].bytes - fits <= NEARLY * line)
            middle = round = roundest(fits / line, last[0].bytes / line) * line;
        now = window(p, middle, level, effort);
        if (now < 0)
            return -1;
        if (now) {
            fits = middle;
        } else {
            last[1] = last[0];
            last[0] = beyond_of(p, middle);
        }
    }
    *size = fits;
    return 0;
}

/* Another order of what seemed to fit found a miss: so the end is below, and most often near. */
static int below(struct probe *p, unsigned level, enum probe_effort effort, uint64_t least,
                 uint64_t *fits, uint64_t *beyond)
{
    const uint64_t line = p->level[level - 1].line;
    int now = 0;

    for (uint64_t step = line; now == 0 && *fits > least; step *= 2) {
        *beyond = *fits;
        *fits = *fits - least > step ? *fits - step : least;
        now = *fits == least ? 1 : window(p, *fits, level, effort);
    }
    return now < 0 ? -1 : 0;
}

/* 1: found, 0: it cannot be told, -1: p->error. */
static int find_size(struct probe *p, unsigned level)
{
    struct probe_level *l = &p->level[level - 1];
    const uint64_t before = level > 1 ? p->level[level - 2].reach : 0;
    uint64_t fits = before / l->line * l->line, beyond = level > 1 ? 2 * before : LEAST, size;
    int now;

    beyond = (beyond + l->line - 1) / l->line * l->line;
    while ((now = window(p, beyond, level, PROBE_ONCE)) > 0) {
        fits = beyond;
        beyond *= 2;
        if (fits >= p->most || beyond + l->line > p->bench->size)
            return 0;
    }
    for (int again = 0; now >= 0 && again < 32; again++) {
        const enum probe_effort effort = again < QUICKLY ? PROBE_ONCE : PROBE_SOME;

        if (halve(p, level, effort, fits, beyond, &size) != 0)
            return -1;
        now = level > 1 && size > before ? window(p, size, level, PROBE_ALL) : 1;
        if (now < 0)
            return -1;
        if (now && size <= before)
            return 0;
        if (now) {
            l->size = l->reach = size;
            /* the window that ends a node later does beyond fit, if the line is right */
            now = window(p, size + unit(p), level, PROBE_ALL);
            l->size = now ? 0 : size;
            return now < 0 ? -1 : !now;
        }
        fits = size;
        if (below(p, level, effort, before / l->line * l->line, &fits, &beyond) != 0)
            return -1;
    }
    return now < 0 ? -1 : 0;
}

/* ---- the ways ---- */

/* The last `part` bytes of the size moved behind it: each set has as many lines as it has ways
   where the part is a multiple of the way size, else some have one more. */
static int moved(struct probe *p, unsigned level, uint64_t part, enum probe_effort effort)
{
    const uint64_t size = p->level[level - 1].size;

    probe_clear(p);
    probe_add(p, 0, size - part, unit(p));
    probe_add(p, size, size + part, unit(p));
    return probe_fits(p, "ways", size / part, level, effort);
}

/* Ways divide the lines, and `moved` says of a divisor whether it divides the ways: so do the
   powers of each prime. */
static int find_ways(struct probe *p, unsigned level, enum probe_effort effort)
{
    const struct probe_level *l = &p->level[level - 1];
    uint64_t left = l->size / l->line, ways = 1;

    for (uint64_t prime = 2; left > 1 && prime <= MOST_WAYS; prime++) {
        int divides = left % prime == 0;

        while (divides && left % prime == 0 && ways * prime <= MOST_WAYS) {
            int now;

            /* if these are all: lines of a set together, see measure.c */
            p->group = (uint32_t)(l->size / l->line / ways);
            now = moved(p, level, l->size / (ways * prime), effort);

            if (now < 0)
                return -1;
            left /= prime;
            divides = now;
            ways *= now ? prime : 1;
        }
        while (left % prime == 0)
            left /= prime;
    }
    p->level[level - 1].way_size = l->size / ways;
    p->group = (uint32_t)(l->size / l->line / ways);
    return 0;
}

/* ---- that it is so, in the patterns that say it plainly ---- */

/* The window without its last `part` bytes, and the line behind it; what the part leaves empty in
   other sets than that line's is filled, which keeps the levels before it busy. */
static int shortened(struct probe *p, unsigned level, uint64_t part, enum probe_effort effort)
{
    const struct probe_level *l = &p->level[level - 1];

    probe_clear(p);
    probe_add(p, 0, l->size - part, unit(p));
    probe_add(p, l->size, l->size + unit(p), unit(p));
    probe_add(p, l->size + l->way_size - (part < l->way_size ? part : l->way_size - l->line),
              l->size + l->way_size, unit(p));
    return probe_fits(p, "way-size", part, level, effort);
}

static int begun_later(struct probe *p, unsigned level, uint64_t from, enum probe_effort effort)
{
    probe_clear(p);
    probe_add(p, from, p->level[level - 1].size + unit(p), unit(p));
    return probe_fits(p, "line", from, level, effort);
}

/* 1: the line is as found. */
static int confirm_line(struct probe *p, unsigned level)
{
    const uint64_t line = p->level[level - 1].line;
    int now = begun_later(p, level, line, PROBE_ONCE);

    if (now > 0)
        now = begun_later(p, level, line - unit(p), PROBE_ALL);
    return now < 0 ? -1 : !now || line <= unit(p);
}

/* 1: the ways are as supposed. */
static int confirm_ways(struct probe *p, unsigned level, enum probe_effort effort,
                        enum probe_supposed supposed)
{
    const struct probe_level *l = &p->level[level - 1];
    int now;

    p->supposed = supposed;
    p->group = (uint32_t)(l->way_size / l->line);
    now = shortened(p, level, l->way_size, effort);
    if (now > 0)
        now = shortened(p, level, l->way_size - l->line, PROBE_SOME) ^ 1;
    p->supposed = PROBE_PLAIN;
    return now;
}

/* Lines by whose order an exclusive level was seen to evict belong to one set, or to a part of one:
   1 if that is so, and not for a part of the way size as well. */
static int ways_of_group(struct probe *p, unsigned level)
{
    struct probe_level *l = &p->level[level - 1];
    const uint64_t way_size = p->group * l->line;
    int found = 0;

    if (way_size && l->size % way_size == 0) {
        l->way_size = way_size;
        found = confirm_ways(p, level, PROBE_SOME, PROBE_KEEP);
    }
    for (uint64_t part = 2; found > 0 && part <= MOST_PARTS; part++)
        if (way_size % (part * l->line) == 0) {
            int now;

            l->way_size = way_size / part;
            now = confirm_ways(p, level, PROBE_SOME, PROBE_OTHER);
            found = now ? now < 0 ? -1 : 0 : 1;
        }
    if (found > 0)
        l->way_size = way_size;
    return found;
}

/* 1: the ways that the level seems to have, 0: none, -1: p->error. */
static int suppose_ways(struct probe *p, unsigned level)
{
    const enum probe_effort sure = probe_may_be_exclusive(p, level) ? PROBE_SOME : PROBE_ONCE;
    int now;

    now = ways_of_group(p, level);
    for (int effort = PROBE_ONCE; now == 0 && effort <= PROBE_SOME; effort++) {
        probe_settle(p, level, 0);
        if (find_ways(p, level, effort) != 0)
            return -1;
        now = confirm_ways(p, level, sure, PROBE_KEEP);
    }
    probe_settle(p, level, now > 0);
    return now;
}

/* The size, as find_size(), and whether the ways are as supposed. Where a size has none, it may be
   that of an exclusive level with lines that hid in the one before: in more orders some miss. */
static int size_and_ways(struct probe *p, unsigned level, int *ways)
{
    int now = find_size(p, level);

    *ways = now > 0 ? suppose_ways(p, level) : now;
    if (*ways == 0 && p->level[level - 1].reach && !p->doubt && probe_may_be_exclusive(p, level)) {
        p->doubt = 1;
        p->group = 0;
        now = size_and_ways(p, level, ways);
        p->doubt = 0;
    }
    return now;
}

/* 1: one line more of a set of the first level than it has ways does not fit. An inclusive level
   behind it, about as large, may have too many of all lines that show its ways, so that they seem
   to be as few as that one has. */
static int confirm_set(struct probe *p)
{
    const struct probe_level *l = p->level;
    const uint64_t more = l->size / l->way_size + 1;
    int now = 1;

    for (uint64_t n = 1; now > 0 && n <= more && more * l->size <= p->bench->size; n += more - 1) {
        probe_clear(p);
        probe_add(p, 0, n * l->size, l->size);
        now = probe_fits(p, "associativity", n, 1, PROBE_ONCE) ^ (n > 1);
    }
    return now;
}

static int find_level(struct probe *p, unsigned level)
{
    struct probe_level *l = &p->level[level - 1];
    int now, known;

    p->group = 0;
    if ((known = find_line(p, level)) <= 0 || (known = size_and_ways(p, level, &now)) <= 0)
        return known;
    if (now > 0) /* what shows it, as rows */
        now = window(p, l->size / 2 / l->line * l->line, level, PROBE_ONCE) < 0
                  ? -1
                  : confirm_line(p, level);
    if (now > 0 && level == 1)
        now = confirm_set(p);
    if (now == 0)
        l->way_size = 0;
    if (now >= 0 && probe_may_be_exclusive(p, level))
        now = probe_firm(p, level);
    if (now > 0)
        return level > 1 ? probe_inclusion(p, level) : 1;
    l->way_size = 0;
    if (probe_may_be_exclusive(p, level))
        l->size = 0; /* it may be exclusive, and smaller */
    return now < 0 ? -1 : 1;
}

/* ---- level after level ---- */

int probe_search(struct probe *p)
{
    int now = p->by_time ? probe_first_ticks(p) : 1;

    for (unsigned level = 1; now > 0 && level <= PROBE_LEVELS; level++) {
        if (level > 1)
            now = probe_has_level(p, level);
        if (now > 0) {
            p->levels = level;
            now = find_level(p, level);
        }
    }
    return now < 0 ? -1 : 0;
}

void probe_free(struct probe *p)
{
    free(p->nodes.offset);
    free(p->spare.offset);
    free(p->there);
    free(p->ticks);
    free(p->seen);
}
