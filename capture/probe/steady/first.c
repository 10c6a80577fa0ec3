/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * first.c - size, ways and line of the first level of a machine that is disturbed.
 *
 * Windows show about how large it is: on processors with a tree in place of LRU, or whose core
 * another guest of the host uses too, those a little too large miss little, and those that fit miss
 * a little. So the ways are found by lines of one set: more of them than it has ways take several
 * times as long. Nobody knows yet how far apart the lines of a set are. Three distances are tried:
 * a power of two, of which those of all processors known are parts; the size that windows show; and
 * three quarters of it, since pages as far apart as the others may share a set of a translation
 * buffer. And then the size of a way is the least distance at which twice as many lines as there
 * are ways do not fit, for at any other distance they are in several sets. Ways and that distance
 * must make the size that windows show; where they do not, all is measured again, as long as there
 * is time. Else a cache of 8 ways that seems to be of 34 KiB is one of 16: lines so far apart are
 * in two sets.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "capture/probe/steady/steady.h"
#include "formats/base/cf_memory.h"

enum {
    SMALLEST = 2048, /* bytes of a first level, at least */
    CLOSE = 1024,    /* to each side of where the first level seems to end */
    CLOSE_STEP = 64,
    PARTS = 8,   /* of windows farther off, where the first level surely holds them or does not */
    LOUD = 8,    /* of so many windows that fit, one may take longer */
    LINES = 512, /* bytes: lines are looked for up to here */
    MOST_WAYS = 32, /* of the first level */
    MULTIPLES = 4,  /* of the size of a way: at any of them lines share a set */
    ATTEMPTS = 60,
    ATTEMPT_PERCENT = 40,        /* of the time, after which there is no further one */
    PAUSE_NS = 50 * 1000 * 1000, /* before another */
    NO_CACHE = 2,
    STEPS_ATTEMPTS = 8,
};

static const double jump = 1.25, near_jump = 1.1, rise = 1.02; /* times the base line */

struct point {
    uint64_t parameter;
    double least;    /* NAN: all were spoilt */
    double quartile; /* the lower one: the value where others disturb most repeats, but not all */
};

struct series {
    const char *experiment; /* NULL: without rows */
    struct steady_rows *rows;
    struct point *point;
    size_t count, room;
};

struct first {
    struct probe *p;
    uint32_t repeats;
    struct steady_rows rough, windows, lines; /* of this attempt; lines: of one set */
};

static int add_parameter(struct series *s, uint64_t parameter)
{
    if (cf_array_room(&s->point, &s->room, s->count + 1, sizeof *s->point) != 0)
        return -1;
    s->point[s->count++] = (struct point){parameter, NAN, NAN};
    return 0;
}

/* The nodes of a parameter; `of` is what else they hang on. */
typedef void (*nodes_of)(struct probe *p, uint64_t of, uint64_t parameter);

static void size_nodes(struct probe *p, uint64_t of, uint64_t bytes)
{
    (void)of;
    probe_add(p, 0, bytes, p->level[0].line);
}

/* Lines as many as a level half as large again would have in each of its sets of so many bytes; the
   second half of them is moved by the parameter. Where that is a line they are in other sets, and
   all fit. */
static void block_nodes(struct probe *p, uint64_t size, uint64_t by)
{
    const uint64_t half = size * 3 / 4 / LINES * LINES;

    probe_add(p, 0, half, LINES);
    probe_add(p, half + by, 2 * half + by, LINES);
}

static void ways_nodes(struct probe *p, uint64_t apart, uint64_t lines)
{
    probe_add(p, 0, lines * apart, apart);
}

static void apart_nodes(struct probe *p, uint64_t lines, uint64_t apart)
{
    ways_nodes(p, apart, lines);
}

static int order_of_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int measure(struct first *f, struct series *s, uint64_t of, nodes_of nodes)
{
    const uint32_t n = f->repeats;
    double *values = malloc((n * s->count + 1) * sizeof *values);

    for (uint32_t i = 0; values && i < n; i++)
        for (size_t k = 0; k < s->count; k++) {
            struct point *x = &s->point[k];
            struct cf_measured m;
            double value;

            probe_clear(f->p);
            nodes(f->p, of, x->parameter);
            if (steady_visit(f->p, &m, &value) != 0 ||
                (s->rows && steady_keep(f->p, s->rows, s->experiment, x->parameter, &m) != 0)) {
                free(values);
                return -1;
            }
            x->least = steady_lesser(x->least, value);
            values[n * k + i] = isnan(value) ? INFINITY : value;
        }
    for (size_t k = 0; values && k < s->count; k++) {
        qsort(values + n * k, n, sizeof *values, order_of_values);
        s->point[k].quartile = values[n * k + (n - 1) / 4];
    }
    free(values);
    return values ? 0 : -1;
}

static double base_line(const struct series *s, size_t count)
{
    double least = NAN;

    for (size_t i = 0; i < count && i < s->count; i++)
        least = steady_lesser(least, s->point[i].least);
    return least;
}

/* Whether the value of a place is far above those before it. */
static int is_far(const struct series *s, size_t k)
{
    return s->point[k].least > base_line(s, k) * near_jump;
}

/* The first such place; the count: there is none. */
static size_t first_far(const struct series *s)
{
    size_t k = 1;

    while (k < s->count && !is_far(s, k))
        k++;
    return k;
}

/* ---- windows ---- */

/* By itself: what disturbs for a while falls on it alone. So its rows count only where there are no
   others. */
static int window(struct first *f, uint64_t bytes, double *value)
{
    struct series s = {.experiment = "size", .rows = &f->rough};
    int status = add_parameter(&s, bytes) == 0 ? measure(f, &s, 0, size_nodes) : -1;

    *value = status == 0 ? s.point[0].least : NAN;
    free(s.point);
    return status;
}

/* Where windows begin to take longer, to CLOSE bytes: 1; NO_CACHE where they never do, or 0 where
   nobody knows, since all visits of one were spoilt. */
static int end_of_first(struct first *f, uint64_t *from, uint64_t *to)
{
    const struct probe *p = f->p;
    double value, base = NAN;
    int spoilt = 0;

    *from = *to = 0;
    for (uint64_t bytes = SMALLEST; bytes <= p->most && bytes <= p->bench->size; bytes *= 2) {
        if (window(f, bytes, &value) != 0)
            return -1;
        if (*from && value > base * jump) {
            *to = bytes;
            break;
        }
        spoilt |= isnan(value);
        base = steady_lesser(base, value);
        *from = bytes;
    }
    while (*to && *to - *from > CLOSE) {
        const uint64_t middle = (*from + (*to - *from) / 2) / CLOSE_STEP * CLOSE_STEP;

        if (window(f, middle, &value) != 0)
            return -1;
        *(value > base * rise ? to : from) = middle;
    }
    return *to ? 1 : spoilt ? 0 : NO_CACHE;
}

/* The last window before they take longer for good, in at least a quarter of the repeats: another
   guest on the core leaves few of them quiet. 0: there is none, or too many before it take longer,
   too. */
static uint64_t last_low(const struct series *s)
{
    const double base = base_line(s, PARTS);
    size_t k = s->count, loud = 0;

    while (k && !(s->point[k - 1].quartile <= base * rise))
        k--;
    for (size_t i = 0; i < k; i++)
        loud += !(s->point[i].quartile <= base * rise);
    return k && LOUD * loud <= k ? s->point[k - 1].parameter : 0;
}

static int size_of_first(struct first *f, uint64_t from, uint64_t to)
{
    const uint64_t line = f->p->level[0].line;
    const uint64_t close = (from > 2 * CLOSE ? from - CLOSE : from / 2) / line * line;
    struct series s = {.experiment = "size", .rows = &f->windows};
    int status = 0;

    for (unsigned i = PARTS / 2; status == 0 && i < PARTS; i++)
        status = add_parameter(&s, close / PARTS * i / line * line);
    for (uint64_t bytes = close; status == 0 && bytes <= to + CLOSE; bytes += line)
        status = add_parameter(&s, bytes);
    for (unsigned i = PARTS + 2; status == 0 && i <= 2 * PARTS; i += 2)
        status = add_parameter(&s, to / PARTS * i / line * line);
    if (status == 0)
        status = measure(f, &s, 0, size_nodes);
    f->p->level[0].size = status == 0 ? last_low(&s) : 0;
    free(s.point);
    return status;
}

/* A line is the least distance that makes all fit. */
static int line_of_first(struct first *f, uint64_t about)
{
    struct series s = {.experiment = "block", .rows = &f->windows};
    int status = 0;

    for (uint64_t at = CF_NODE; status == 0 && at < LINES; at *= 2)
        status = add_parameter(&s, at);
    if (status == 0)
        status = measure(f, &s, about, block_nodes);
    if (status == 0) {
        const double base = base_line(&s, s.count);
        size_t k = s.count;

        while (k && s.point[k - 1].quartile < base * jump)
            k--;
        f->p->level[0].line = k && k < s.count ? s.point[k].parameter : 0;
    }
    free(s.point);
    return status;
}

/* ---- lines of one set ---- */

/* How many of them fit; 0: nobody knows. */
static int ways_of_first(struct first *f, uint64_t apart, uint64_t *ways)
{
    struct series s = {.experiment = "associativity", .rows = &f->lines};
    int status = 0;

    *ways = 0;
    for (unsigned n = 1; status == 0 && n <= MOST_WAYS && n * apart <= f->p->bench->size; n++)
        status = add_parameter(&s, n);
    if (status == 0)
        status = measure(f, &s, apart, ways_nodes);
    if (status == 0 && first_far(&s) < s.count)
        *ways = s.point[first_far(&s) - 1].parameter;
    free(s.point);
    return status;
}

/* The size of a way, which is about `near`; 0: nobody knows. First it is looked for; then rows are
   made of it, of what is less, and of its multiples, up to which lines do not fit. */
static int way_of_first(struct first *f, uint64_t ways, uint64_t near, uint64_t *way)
{
    const uint64_t line = f->p->level[0].line;
    struct series look = {.rows = NULL}, s = {.experiment = "apart", .rows = &f->lines};
    int status = 0;

    *way = 0;
    for (uint64_t at = (near - near / 4) / line * line; status == 0 && at <= near + near / 4;
         at += line)
        status = at ? add_parameter(&look, at) : 0;
    if (status == 0)
        status = measure(f, &look, 2 * ways, apart_nodes);
    if (status == 0 && first_far(&look) < look.count)
        *way = look.point[first_far(&look)].parameter;
    for (size_t i = 0; *way && status == 0 && look.point[i].parameter < *way; i++)
        status = add_parameter(&s, look.point[i].parameter);
    for (unsigned i = 1; *way && status == 0 && i <= MULTIPLES; i++)
        if (2 * ways * i * *way <= f->p->bench->size)
            status = add_parameter(&s, i * *way);
    if (status == 0)
        status = measure(f, &s, 2 * ways, apart_nodes);
    if (status == 0 && *way &&
        (first_far(&s) == s.count || s.point[first_far(&s)].parameter != *way))
        *way = 0;
    free(look.point);
    free(s.point);
    return status;
}

/* Whether as many lines as there are ways fit at all multiples of the way's size: at a part of it
   more of them fit, and at the multiple that is the true size they do not. Pages that are 16 or 32
   apart also take each other out of a translation buffer, of 6 ways say. So where lines seem not to
   fit, they must take longer than lines of nearly the same pages in other sets. */
static int way_holds(struct first *f, uint64_t ways, uint64_t way, int *holds)
{
    const uint64_t line = f->p->level[0].line;
    struct series s = {.rows = NULL}, others = {.rows = NULL};
    int status = 0;

    for (unsigned i = 1; status == 0 && i <= MOST_WAYS; i++) {
        if (ways * (i * way + line) > f->p->bench->size)
            break;
        status = add_parameter(&s, i * way) | add_parameter(&others, i * way + line);
    }
    if (status == 0)
        status = measure(f, &s, ways, apart_nodes);
    if (status == 0)
        status = measure(f, &others, ways, apart_nodes);
    *holds = status == 0;
    for (size_t k = 1; *holds && k < s.count; k++)
        *holds = !is_far(&s, k) || s.point[k].least <= others.point[k].least * near_jump;
    free(s.point);
    free(others.point);
    return status;
}

/* ---- all of it ---- */

/* 1 where all agree; 0 where they do not, or something was not found, and p->level[0] holds what
   was; NO_CACHE where no window takes longer, which another attempt does not change. */
static int attempt(struct first *f, unsigned number)
{
    struct probe_level *l = &f->p->level[0];
    uint64_t from, to, seen, apart = CLOSE, ways, way = 0;
    int found, holds = 0;

    *l = (struct probe_level){.line = CF_NODE};
    found = end_of_first(f, &from, &to);
    if (found != 1)
        return found;
    if (line_of_first(f, to) != 0 || (l->line && size_of_first(f, from, to) != 0))
        return -1;
    if (!l->line || !l->size)
        return 0;
    seen = steady_plausible(l->size);
    while (number % 3 == 0 && apart < seen)
        apart *= 2;
    apart = number % 3 == 0 ? apart : number % 3 == 1 ? seen : seen / 4 * 3;
    if (ways_of_first(f, apart, &ways) != 0 ||
        (ways && way_of_first(f, ways, seen / ways, &way) != 0) ||
        (way && way_holds(f, ways, way, &holds) != 0))
        return -1;
    if (!holds || ways * way > l->size + l->size / 32 || l->size > ways * way + ways * way / 32)
        return 0;
    l->size = ways * way;
    l->way_size = way;
    return 1;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int steady_first(struct probe *p, uint32_t repeats)
{
    const uint64_t began = now_ns(), until = p->until > began ? p->until : began,
                   last = began + (until - began) / 100 * ATTEMPT_PERCENT;
    struct first f = {.p = p, .repeats = repeats};
    int whole = 0;

    for (unsigned i = 0; whole == 0 && i < ATTEMPTS && (i == 0 || now_ns() < last); i++) {
        const struct timespec pause = {.tv_nsec = i ? PAUSE_NS : 0};

        nanosleep(&pause, NULL);
        steady_drop(&f.rough);
        steady_drop(&f.windows);
        steady_drop(&f.lines);
        whole = attempt(&f, i);
        p->attempts = i + 1;
    }
    if (whole == 0)
        (void)steady_late(p, "more attempts at the first level");
    if (!f.windows.count)
        steady_emit(p, &f.rough, NULL, 1);
    steady_drop(&f.rough);
    steady_emit(p, &f.windows, NULL, 1);
    steady_emit(p, &f.lines, whole == 1 ? NULL : "ways", whole == 1);
    if (whole < 0) {
        p->error = p->error ? p->error : ENOMEM;
        return -1;
    }
    if (!p->level[0].size)
        return 0;
    p->levels = 1;
    for (uint32_t i = 0; i < repeats; i++) {
        struct cf_measured m;
        double value;

        probe_clear(p);
        probe_add(p, 0, p->level[0].size / 2, p->level[0].line);
        if (steady_visit(p, &m, &value) != 0)
            return -1;
        probe_emit(p, "latency", p->level[0].size / 2, 1, &m);
    }
    return 1;
}

/* Algorithm 1 of the paper, in its steps of 1 KiB, again where they end elsewhere than the level
   does. The other two are those of the search. */
int steady_paper(struct probe *p, uint32_t repeats)
{
    const uint64_t size = p->level[0].size, whole = p->level[0].way_size ? size : 0;
    struct first f = {.p = p, .repeats = repeats};
    int status = 0, agrees = 0;

    for (unsigned i = 0; p->paper && status == 0 && !agrees && i < STEPS_ATTEMPTS; i++) {
        struct series s = {.experiment = "capacity", .rows = &f.windows};

        if (i && steady_late(p, NULL))
            break;
        steady_drop(&f.windows);
        for (uint64_t bytes = CLOSE; status == 0 && bytes <= size + size / 2; bytes += CLOSE)
            status = add_parameter(&s, bytes);
        if (status == 0)
            status = measure(&f, &s, 0, size_nodes);
        agrees = status == 0 && last_low(&s) + size / 16 >= whole;
        free(s.point);
    }
    steady_emit(p, &f.windows, NULL, 1);
    return status;
}
