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
 * The first level is measured with windows and lines of one set (first.c): its sets are decided by
 * address bits below the page. The second one with pages (frames.h). What is behind it shows as a
 * curve alone.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "capture/probe/steady/steady.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

enum {
    SMALLEST = 2048, /* bytes of the smallest window of a curve */
    MANY = 16384,    /* lines: of larger windows one is left out, or more, between two */
};

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

    if (p->error) /* such as a signal, which is seen with a row: no nodes were added since */
        return -1;
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
    if (cf_array_room(&k->row, &k->room, k->count + 1, sizeof *k->row) != 0) {
        p->error = ENOMEM;
        return -1;
    }
    k->row[k->count++] =
        (struct probe_row){.experiment = experiment, .parameter = parameter, .m = *m};
    return 0;
}

void steady_drop(struct steady_rows *k)
{
    free(k->row);
    *k = (struct steady_rows){0};
}

void steady_emit(struct probe *p, struct steady_rows *k, const char *experiment, unsigned level)
{
    for (size_t i = 0; i < k->count; i++)
        probe_emit(p, experiment ? experiment : k->row[i].experiment, k->row[i].parameter, level,
                   &k->row[i].m);
    steady_drop(k);
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

/* ---- all ---- */

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
    {steady_paper, "the steps of the paper", 0.05},
};

int probe_steady(struct probe *p, uint32_t repeats)
{
    const int found = steady_first(p, repeats);

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
