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

#include "capture/probe/frames.h"
#include "capture/probe/probe.h"
#include "formats/stream/cf.h"

enum {
    WARM = 2,
    VISITED = 40000, /* accesses of a measurement, about */
    SMALLEST = 2048, /* bytes of a first level, at least */
    CLOSE = 1024,    /* to each side of where the first level seems to end */
    CLOSE_STEP = 64,
    LINES = 512,    /* bytes: lines are looked for up to here */
    MOST_WAYS = 32, /* of the first level */
    FRAME = 4096,   /* the smallest page of any host */
    REFUSED = 400,  /* with 64 colours one that is not full is missed once in 500 searches */
    TRIES = 12,
    BEYOND = 8,     /* pages more than fit */
    COLOUR = 64,    /* pages of one, at most */
    SAMPLES = 4096, /* accesses timed by themselves */
};

static const double jump = 1.25, near_jump = 1.1, rise = 1.02,
                    slight = 1.003; /* times the base line */

static double value_of(const struct cf_measured *m)
{
    return m->has_misses ? (double)m->misses / (double)m->accesses
                         : (double)m->time / (double)m->accesses;
}

/* One measurement of the nodes; the value, or NAN where it was spoilt. -1 with p->error. */
static int once(struct probe *p, const char *experiment, uint64_t parameter, unsigned level,
                double *value)
{
    const size_t n = p->nodes.count;
    struct cf_measured m = {0};

    probe_order(p);
    /* all accesses together, whichever level serves them */
    if (probe_visit(p, 1, WARM, n < VISITED ? VISITED / (uint32_t)n + 1 : 1, &m) != 0)
        return -1;
    probe_emit(p, experiment, parameter, level, &m);
    *value = m.spoilt ? NAN : value_of(&m);
    return 0;
}

static double lesser(double a, double b)
{
    return isnan(a) || b < a ? b : a;
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
            s->least[k] = lesser(s->least[k], value);
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
        *base = *from ? lesser(*base, value) : value;
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
        least = lesser(least, s->least[i]);
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
    const uint64_t size = (p->level[0].size + CLOSE / 2) / CLOSE * CLOSE;
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

static int order_of_ticks(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Ticks of single accesses to a window, at a part of 100 of them in their order. */
static int ticks_at(struct probe *p, uint64_t bytes, unsigned percent, uint64_t *ticks)
{
    const uint64_t step = bytes / SAMPLES / CF_NODE * CF_NODE;
    struct cf_measured m;
    uint32_t *each;
    int status;

    probe_clear(p);
    probe_add(p, 0, bytes, step > LINES ? step : LINES);
    probe_order(p);
    each = malloc(p->nodes.count * sizeof *each);
    if (!each || p->error)
        return -1;
    status = p->bench->run(p->bench->self,
                           &(struct cf_visit){.offset = p->nodes.offset,
                                              .count = (uint32_t)p->nodes.count,
                                              .warm = WARM,
                                              .rounds = 1,
                                              .level = 2,
                                              .each = each},
                           &m);
    qsort(each, p->nodes.count, sizeof *each, order_of_ticks);
    *ticks = each[(p->nodes.count - 1) * percent / 100];
    free(each);
    return status;
}

static void frames_row(void *arg, const char *experiment, uint64_t parameter, uint32_t repeat,
                       const struct cf_measured *m)
{
    const struct probe_row row = {experiment, parameter, repeat, 2, *m};
    struct probe *p = arg;

    p->accesses += m->accesses;
    p->row(p->arg, &row);
}

static int latency_of_second(struct probe *p, const struct cf_frames *f, uint32_t repeats)
{
    const uint64_t bytes = (uint64_t)(f->pages / 2) * f->page;
    double value;

    for (uint32_t i = 0; i < repeats && bytes > 4 * p->level[0].size; i++) {
        probe_clear(p);
        for (uint32_t k = 0; k < f->pages / 2; k++)
            probe_add(p, f->taken[k] * f->page, (f->taken[k] + 1) * f->page, 4 * CF_NODE);
        if (once(p, "latency", bytes, 2, &value) != 0)
            return -1;
    }
    return 0;
}

/* The search asks once whether one more page fits: here all numbers of pages again, up to some more
   than fit. */
static int size_of_second(struct probe *p, struct cf_frames *f, uint32_t repeats)
{
    const uint32_t most = f->pages + BEYOND;
    uint64_t *offset = calloc(most, sizeof *offset);
    int status = offset ? 0 : -1;

    for (uint32_t i = 0; i < BEYOND; i++)
        f->taken[f->pages + i] = f->taken[f->pages - 1] + 1 + i;
    for (uint32_t i = 0; status == 0 && i < repeats; i++)
        for (uint32_t n = 1; status == 0 && n <= most; n++) {
            struct cf_measured m;

            status = cf_frames_visit(f, f->taken, n, offset, &m);
            if (status == 0)
                frames_row(p, "pages", n * f->page, TRIES + i, &m);
        }
    free(offset);
    return status;
}

/* Lines of one set, one more each time. */
static int ways_of_second(struct probe *p, struct cf_frames *f, uint32_t repeats)
{
    uint64_t offset[COLOUR];
    uint32_t page[COLOUR];
    const int n = cf_frames_colour(f, page, COLOUR);

    for (uint32_t i = 0; i < repeats && n > 0; i++)
        for (uint32_t k = 1; k <= (uint32_t)n; k++) {
            struct cf_measured m;

            /* those that were taken first: the one that was refused is page[0] */
            if (cf_frames_visit(f, page + n - k, k, offset, &m) != 0)
                return -1;
            frames_row(p, "associativity", k, i, &m);
        }
    return n < 0 ? -1 : 0;
}

/* Ticks of the second level are those of most accesses to four times what the first one holds; what
   takes two fifths more comes from behind it, if a large window has such at all. */
static int second(struct probe *p, uint32_t repeats)
{
    struct cf_frames f = {.bench = p->bench,
                          .level = 2,
                          .page = FRAME,
                          .refused = REFUSED,
                          .tries = TRIES,
                          .seed = p->seed,
                          .row = frames_row,
                          .arg = p};
    uint64_t near, far;
    int status;

    if (ticks_at(p, 4 * p->level[0].size, 75, &near) != 0 ||
        ticks_at(p, p->bench->size, 50, &far) != 0)
        return -1;
    f.limit = near + near * 2 / 5;
    if (far <= f.limit)
        return 0;
    status = cf_frames_size(&f);
    if (status == 0 && f.full) {
        p->level[1].size = f.pages * f.page;
        p->levels = 2;
        status = size_of_second(p, &f, repeats);
        if (status == 0)
            status = ways_of_second(p, &f, repeats);
        if (status == 0)
            status = latency_of_second(p, &f, repeats);
    }
    free(f.taken);
    return status;
}

static int curve(struct probe *p, uint32_t repeats)
{
    double value;

    for (uint32_t i = 0; i < repeats; i++)
        for (uint64_t bytes = SMALLEST; bytes <= p->bench->size; bytes += bytes / 2) {
            probe_clear(p);
            probe_add(p, 0, bytes / CF_NODE * CF_NODE, 4 * CF_NODE);
            if (once(p, "latency", bytes, 0, &value) != 0)
                return -1;
        }
    return 0;
}

int probe_steady(struct probe *p, uint32_t repeats)
{
    uint64_t from, to;
    double base = NAN, value;
    int found;

    p->level[0].line = CF_NODE;
    found = end_of_first(p, repeats, &from, &to, &base);
    if (found < 0)
        return -1;
    if (!found)
        return 0;
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
    if (probe_policy_steady(p, repeats) != 0)
        return -1;
    return second(p, repeats) == 0 ? curve(p, repeats / 4 + 1) : -1;
}
