/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steady.c - the same questions to a machine whose other programs, clock and frames nobody
 * controls.
 *
 * Each parameter is measured several times, and one parameter after the other, so that what
 * disturbs the machine for a while does not fall on one of them. Others add time: the least decides
 * where to look closer (Abel and Reineke, "Automatic Cache Modeling by Measurements", section 5.2);
 * the verdict is that of who reads all rows.
 *
 * The first level is measured with windows, as on a model: its sets are decided by address bits
 * below the page. The second one with pages (frames.h). What is behind it shows as a curve alone.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "capture/probe/steady.h"
#include "formats/stream/cf.h"

enum {
    SMALLEST = 2048, /* bytes of a first level, at least */
    CLOSE = 1024,    /* to each side of where the first level seems to end */
    CLOSE_STEP = 64,
    LINES = 512,    /* bytes: lines are looked for up to here */
    MOST_WAYS = 32, /* of the first level */
    MANY = 16384,   /* lines: of larger windows one is left out, or more, between two */
};

static const double jump = 1.25, near_jump = 1.1, rise = 1.02,
                    slight = 1.003; /* times the base line */

double steady_value(const struct cf_measured *m)
{
    return m->has_misses ? (double)m->misses / (double)m->accesses
                         : (double)m->time / (double)m->accesses;
}

double steady_lesser(double a, double b)
{
    return isnan(a) || b < a ? b : a;
}

int steady_visit(struct probe *p, struct cf_measured *m, double *value)
{
    const size_t n = p->nodes.count;

    *m = (struct cf_measured){0};
    probe_order(p);
    /* all accesses together, whichever level serves them */
    if (probe_visit(p, 1, STEADY_WARM, n < STEADY_VISITED ? STEADY_VISITED / (uint32_t)n + 1 : 1,
                    m) != 0)
        return -1;
    *value = m->spoilt ? NAN : steady_value(m);
    return 0;
}

/* One measurement of the nodes, and its row. */
static int once(struct probe *p, const char *experiment, uint64_t parameter, unsigned level,
                double *value)
{
    struct cf_measured m;

    if (steady_visit(p, &m, value) != 0)
        return -1;
    probe_emit(p, experiment, parameter, level, &m);
    return 0;
}

uint64_t steady_plausible(uint64_t size)
{
    uint64_t part = 1;

    while (size >= 16 * part)
        part *= 2;
    return (size + part / 4) / part * part;
}

int steady_late(struct probe *p, const char *what)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!p->until || (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec < p->until)
        return 0;
    p->late = p->late ? p->late : what;
    return 1;
}

int steady_keep(struct probe *p, struct steady_rows *k, const char *experiment, uint64_t parameter,
                const struct cf_measured *m)
{
    if (k->count == k->room) {
        const size_t room = k->room ? 2 * k->room : 64;
        struct probe_row *more = realloc(k->row, room * sizeof *more);

        if (!more) {
            p->error = ENOMEM;
            return -1;
        }
        k->row = more;
        k->room = room;
    }
    k->row[k->count++] =
        (struct probe_row){.experiment = experiment, .parameter = parameter, .m = *m};
    return 0;
}

void steady_emit(struct probe *p, struct steady_rows *k, const char *experiment, unsigned level)
{
    for (size_t i = 0; i < k->count; i++)
        probe_emit(p, experiment ? experiment : k->row[i].experiment, k->row[i].parameter, level,
                   &k->row[i].m);
    free(k->row);
    *k = (struct steady_rows){0};
}

/* ---- windows of the first level ---- */

struct series {
    const char *experiment;
    uint64_t *parameter;
    double *least; /* NAN: all were spoilt */
    size_t count, room;
};

static int add_parameter(struct series *s, uint64_t parameter)
{
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 64;
        uint64_t *parameters = realloc(s->parameter, room * sizeof *parameters);
        double *least;

        if (!parameters)
            return -1;
        s->parameter = parameters;
        least = realloc(s->least, room * sizeof *least);
        if (!least)
            return -1;
        s->least = least;
        s->room = room;
    }
    s->parameter[s->count] = parameter;
    s->least[s->count++] = NAN;
    return 0;
}

static void free_series(struct series *s)
{
    free(s->parameter);
    free(s->least);
}

/* The nodes of a parameter; the level is about as large as `size`. */
typedef void (*nodes_of)(struct probe *p, uint64_t size, uint64_t parameter);

static void size_nodes(struct probe *p, uint64_t size, uint64_t bytes)
{
    (void)size;
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

static void ways_nodes(struct probe *p, uint64_t size, uint64_t lines)
{
    probe_add(p, 0, lines * size, size);
}

static int measure(struct probe *p, struct series *s, uint64_t size, nodes_of nodes,
                   uint32_t repeats)
{
    for (uint32_t i = 0; i < repeats; i++)
        for (size_t k = 0; k < s->count; k++) {
            double value;

            probe_clear(p);
            nodes(p, size, s->parameter[k]);
            if (once(p, s->experiment, s->parameter[k], 1, &value) != 0)
                return -1;
            s->least[k] = steady_lesser(s->least[k], value);
        }
    return 0;
}

static int window(struct probe *p, uint64_t bytes, uint32_t repeats, double *value)
{
    struct series s = {.experiment = "size"};
    int status = add_parameter(&s, bytes) == 0 ? measure(p, &s, 0, size_nodes, repeats) : -1;

    *value = status == 0 ? s.least[0] : NAN;
    free_series(&s);
    return status;
}

/* Where windows begin to take longer, to CLOSE bytes: 1, or 0 where they never do. */
static int end_of_first(struct probe *p, uint32_t repeats, uint64_t *from, uint64_t *to,
                        double *base)
{
    double value;

    *from = *to = 0;
    for (uint64_t bytes = SMALLEST; bytes <= p->most && bytes <= p->bench->size; bytes *= 2) {
        if (window(p, bytes, repeats, &value) != 0)
            return -1;
        if (*from && value > *base * jump) {
            *to = bytes;
            break;
        }
        *base = *from ? steady_lesser(*base, value) : value;
        *from = bytes;
    }
    while (*to && *to - *from > CLOSE) {
        const uint64_t middle = (*from + (*to - *from) / 2) / CLOSE_STEP * CLOSE_STEP;

        if (window(p, middle, repeats, &value) != 0)
            return -1;
        *(value > *base * rise ? to : from) = middle;
    }
    return *to != 0;
}

/* The last parameter before the values rise for good. */
static uint64_t last_low(const struct series *s, double base)
{
    size_t k = s->count;

    while (k && !(s->least[k - 1] <= base * slight))
        k--;
    return k ? s->parameter[k - 1] : 0;
}

static double base_line(const struct series *s, size_t count)
{
    double least = NAN;

    for (size_t i = 0; i < count && i < s->count; i++)
        least = steady_lesser(least, s->least[i]);
    return least;
}

/* The last parameter before the first one that is far above those before it; 0: there is none. */
static uint64_t last_fit(const struct series *s)
{
    for (size_t k = 1; k < s->count; k++)
        if (s->least[k] > base_line(s, k) * near_jump)
            return s->parameter[k - 1];
    return 0;
}

static int size_of_first(struct probe *p, uint32_t repeats, uint64_t from, uint64_t to)
{
    const uint64_t line = p->level[0].line;
    struct series s = {.experiment = "size"};
    uint64_t bytes = (from > 2 * CLOSE ? from - CLOSE : from / 2) / line * line;
    int status = 0;

    for (; status == 0 && bytes <= to + CLOSE; bytes += line)
        status = add_parameter(&s, bytes);
    if (status == 0)
        status = measure(p, &s, 0, size_nodes, repeats);
    if (status == 0)
        p->level[0].size = last_low(&s, base_line(&s, CLOSE / (size_t)line / 2));
    free_series(&s);
    return status;
}

/* A line is the least distance that makes all fit. */
static int line_of_first(struct probe *p, uint32_t repeats, uint64_t about)
{
    struct series s = {.experiment = "block"};
    size_t k = 0;
    int status = 0;

    for (uint64_t at = CF_NODE; status == 0 && at < LINES; at *= 2)
        status = add_parameter(&s, at);
    if (status == 0)
        status = measure(p, &s, about, block_nodes, repeats);
    if (status == 0) {
        const double base = base_line(&s, s.count);

        for (k = s.count; k && s.least[k - 1] < base * jump; k--)
            ;
        p->level[0].line = k && k < s.count ? s.parameter[k] : 0;
    }
    free_series(&s);
    return status;
}

/* Of a size that may be some lines too small, the one of so many ways of whole KiB; 0: none is
   close. */
static uint64_t whole_ways(uint64_t size, uint64_t ways)
{
    const uint64_t unit = ways * CLOSE, whole = (size + unit / 2) / unit * unit;

    return whole > size + size / 32 || size > whole + whole / 32 ? 0 : whole;
}

/* Lines a way apart, or several: whole KiB, since what a few misses add is little. For the policy,
   the last number that fits, where the ways divide the size. */
static int ways_of_first(struct probe *p, uint32_t repeats)
{
    const uint64_t size = steady_plausible(p->level[0].size);
    struct series s = {.experiment = "associativity"};
    uint64_t ways = 0;
    int status = 0;

    for (unsigned n = 1; status == 0 && n <= MOST_WAYS && n * size <= p->bench->size; n++)
        status = add_parameter(&s, n);
    if (status == 0)
        status = measure(p, &s, size, ways_nodes, repeats);
    if (status == 0)
        ways = last_fit(&s);
    if (ways && whole_ways(size, ways)) {
        p->level[0].size = whole_ways(size, ways);
        p->level[0].way_size = p->level[0].size / ways;
    }
    free_series(&s);
    return status;
}

/* ---- what is behind ---- */

static int curve(struct probe *p, uint32_t repeats)
{
    double value;

    for (uint32_t i = 0; i < repeats / 4 + 1; i++)
        for (uint64_t bytes = SMALLEST; bytes <= p->bench->size; bytes += bytes / 2) {
            uint64_t step = 4 * CF_NODE;

            while (bytes / step > MANY)
                step *= 2;
            probe_clear(p);
            probe_add(p, 0, bytes / CF_NODE * CF_NODE, step);
            if (once(p, "latency", bytes, 0, &value) != 0)
                return -1;
        }
    return 0;
}

/* Algorithm 1 of the paper, in its steps of 1 KiB. The other two are those of the search. */
static int paper(struct probe *p, uint32_t repeats)
{
    const uint64_t size = p->level[0].size;
    struct series s = {.experiment = "capacity"};
    int status = 0;

    if (!p->paper)
        return 0;
    for (uint64_t bytes = CLOSE; status == 0 && bytes <= size + size / 2; bytes += CLOSE)
        status = add_parameter(&s, bytes);
    if (status == 0)
        status = measure(p, &s, 0, size_nodes, repeats);
    free_series(&s);
    return status;
}

/* ---- all ---- */

/* The first level, without which nothing else is looked for: 1, or 0 where it was not found. */
static int first(struct probe *p, uint32_t repeats)
{
    uint64_t from, to;
    double base = NAN, value;
    int found;

    p->level[0].line = CF_NODE;
    found = end_of_first(p, repeats, &from, &to, &base);
    if (found <= 0)
        return found;
    if (line_of_first(p, repeats, to) != 0)
        return -1;
    if (!p->level[0].line)
        return 0;
    if (size_of_first(p, repeats, from, to) != 0)
        return -1;
    if (!p->level[0].size)
        return 0;
    p->levels = 1;
    if (ways_of_first(p, repeats) != 0)
        return -1;
    for (uint32_t i = 0; i < repeats; i++) {
        probe_clear(p);
        probe_add(p, 0, p->level[0].size / 2, p->level[0].line);
        if (once(p, "latency", p->level[0].size / 2, 1, &value) != 0)
            return -1;
    }
    return 1;
}

/* What follows on the first level, what matters most first; shares of the time that all take. */
static const struct {
    int (*measure)(struct probe *p, uint32_t repeats);
    const char *name;
    double share;
} stages[] = {
    {steady_second, "the second level", 0.61},
    {steady_beyond, "latencies of what is behind it", 0.05},
    {probe_policy_steady, "the replacement policy", 0.05},
    {steady_code, "the first level for instructions", 0.05},
    {steady_tlb, "the translation of addresses", 0.1},
    {curve, "the curve of latencies", 0.06},
    {paper, "the steps of the paper", 0.05},
};

int probe_steady(struct probe *p, uint32_t repeats)
{
    const int found = first(p, repeats);

    p->done = 1;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        p->done -= stages[i].share;
    for (size_t i = 0; found > 0 && i < sizeof stages / sizeof *stages; i++) {
        if (steady_late(p, stages[i].name))
            break;
        if (stages[i].measure(p, repeats) != 0)
            return -1;
        p->done += stages[i].share;
    }
    return found < 0 ? -1 : 0;
}
