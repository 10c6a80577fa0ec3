/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bisect.c - the best of many pages by few runs. See bisect.h.
 */
#include <math.h>
#include <stdlib.h>

#include "capture/pages/bisect.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

enum { PERCENT = 15, CHUNKS = 4, NEEDED = 12 }; /* the last two times `best` */
static const double bound = 2;                  /* standard errors */

struct part { /* of the pages; parts do not overlap, and are all of them */
    uint32_t from, to;
    uint32_t runs;
    double sum, squares; /* of gains */
};

struct search {
    struct cf_bisect *b;
    struct part *part; /* sorted by mean gain, greatest first, where it matters */
    size_t parts, room;
    double squares, degrees; /* of all parts so far, against their means */
};

static double mean(const struct part *p)
{
    return p->sum / p->runs;
}

/* By the spread of all runs, since a part has few. */
static double error(const struct search *s, const struct part *p)
{
    return s->degrees > 0 ? sqrt(s->squares / s->degrees / p->runs) : 0;
}

static int by_mean(const void *x, const void *y)
{
    const double a = mean(x), b = mean(y);

    return (a < b) - (a > b)
               ?: cf_order(((const struct part *)x)->from, ((const struct part *)y)->from);
}

static double spread(const struct part *p)
{
    const double squares = p->squares - p->sum * p->sum / p->runs;

    return squares > 0 ? squares : 0;
}

static int measure(struct search *s, struct part *p, uint32_t runs)
{
    if (p->runs) {
        s->squares -= spread(p);
        s->degrees -= p->runs - 1;
    }
    for (uint32_t i = 0; i < runs; i++) {
        double gain;
        const int status = s->b->run(s->b->arg, p->from, p->to, &gain);

        if (status)
            return status;
        s->b->runs++;
        p->runs++;
        p->sum += gain;
        p->squares += gain * gain;
    }
    s->squares += spread(p);
    s->degrees += p->runs - 1;
    return 0;
}

static int add(struct search *s, uint32_t from, uint32_t to)
{
    if (cf_array_room(&s->part, &s->room, s->parts + 1, sizeof *s->part) != 0)
        return -1;
    s->part[s->parts] = (struct part){.from = from, .to = to};
    return measure(s, &s->part[s->parts++], s->b->samples);
}

static int single(const struct part *p)
{
    return p->to - p->from == 1;
}

static int split(struct search *s, size_t at)
{
    const struct part whole = s->part[at];
    const uint32_t middle = whole.from + (whole.to - whole.from) / 2;
    int status;

    s->part[at] = s->part[--s->parts];
    status = add(s, whole.from, middle);
    return status ? status : add(s, middle, whole.to);
}

static int afford(const struct search *s, uint64_t runs)
{
    return s->b->runs + runs <= s->b->most;
}

/* One step: 1 where there is none to make. The parts are sorted. */
static int step(struct search *s)
{
    const size_t best = s->b->best < s->parts ? s->b->best : s->parts;
    size_t low = 0, high = best;
    int status;

    for (size_t i = 0; i < best; i++) {
        if (!single(&s->part[i]))
            return afford(s, 2 * (uint64_t)s->b->samples) ? split(s, i) : 1;
        if (mean(&s->part[i]) - bound * error(s, &s->part[i]) <
            mean(&s->part[low]) - bound * error(s, &s->part[low]))
            low = i;
    }
    for (size_t i = best; i < s->parts; i++)
        if (mean(&s->part[i]) + bound * error(s, &s->part[i]) >
            mean(&s->part[high]) + bound * error(s, &s->part[high]))
            high = i;
    if (high == s->parts || mean(&s->part[low]) - bound * error(s, &s->part[low]) >=
                                mean(&s->part[high]) + bound * error(s, &s->part[high]))
        return 1;
    if (!single(&s->part[high]))
        return afford(s, 2 * (uint64_t)s->b->samples) ? split(s, high) : 1;
    if (!afford(s, 2))
        return 1;
    status = measure(s, &s->part[low], 1);
    return status ? status : measure(s, &s->part[high], 1);
}

/* The chance that of two means the first is the greater one. */
static double chance(const struct search *s, const struct part *a, const struct part *b)
{
    const double x = error(s, a), y = error(s, b), both = sqrt(x * x + y * y);
    const double apart = mean(a) - mean(b);

    if (both <= 0)
        return apart > 0 ? 1 : 0.5;
    return 0.5 * erfc(-apart / both / sqrt(2));
}

static void conclude(struct search *s)
{
    struct cf_bisect *b = s->b;
    const size_t best = b->best < s->parts ? b->best : s->parts;

    b->found = 0;
    b->confidence = 1;
    for (size_t i = 0; i < best; i++) {
        if (single(&s->part[i]))
            b->page[b->found++] = s->part[i].from;
        else
            b->confidence = 0; /* which of its pages it is is not known */
    }
    for (size_t i = best; best && i < s->parts && b->confidence > 0; i++)
        b->confidence = fmin(b->confidence, chance(s, &s->part[best - 1], &s->part[i]));
    if (s->degrees <= 0 && s->parts > best && b->confidence > 0)
        b->confidence = -1;
}

uint64_t cf_bisect_most(uint32_t count, uint32_t best, uint32_t samples)
{
    const uint64_t all = (uint64_t)count * samples, part = all * PERCENT / 100,
                   needed = (uint64_t)NEEDED * best * samples;
    const uint64_t most = part > needed ? part : needed;

    return most < all ? most : all;
}

int cf_bisect(struct cf_bisect *b)
{
    struct search s = {.b = b};
    uint32_t chunk = b->count / (CHUNKS * b->best) + 1;
    int status = 0;

    b->runs = 0;
    if (b->most >= (uint64_t)b->count * b->samples)
        chunk = 1;
    for (uint32_t at = 0; !status && at < b->count; at += chunk)
        status = add(&s, at, b->count - at < chunk ? b->count : at + chunk);
    while (!status) {
        qsort(s.part, s.parts, sizeof *s.part, by_mean);
        status = step(&s);
    }
    if (status == 1)
        conclude(&s);
    free(s.part);
    return status < 0 ? status : 0;
}
