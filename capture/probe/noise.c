/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * noise.c - noise on a bench. See noise.h.
 */
#include "capture/probe/noise.h"
#include "capture/probe/probe.h"

static double vary(struct noise *n)
{
    const double unit = probe_below(&n->state, 1u << 20) / (double)(1u << 20);

    return 1 + n->part * (2 * unit - 1);
}

static int visit_other(struct noise *n)
{
    const struct cf_visit v = {.offset = n->other, .count = n->others, .warm = 1, .level = 1};
    struct cf_measured m = {0};

    return n->others ? n->on->run(n->on->self, &v, &m) : 0;
}

static int burst(struct noise *n)
{
    const uint64_t from =
        n->bench.size +
        (uint64_t)probe_below(&n->state, NOISE_ROOM / NOISE_STEP - NOISE_LINES) * NOISE_STEP;

    n->others = 1 + probe_below(&n->state, NOISE_LINES);
    for (uint32_t i = 0; i < n->others; i++)
        n->other[i] = from + (uint64_t)i * NOISE_STEP;
    n->calm = 1 + probe_below(&n->state, 2 * NOISE_CALM);
    return visit_other(n);
}

/* One round from node `at` on, up to where the other program comes; how many, or -1. */
static int64_t piece(struct noise *n, const struct cf_visit *v, uint32_t at, int measured,
                     uint32_t *each, struct cf_measured *m)
{
    const uint32_t left = v->count - at;
    struct cf_visit part = *v;
    struct cf_measured now = {0};

    part.offset += at;
    part.count = left < n->calm ? left : (uint32_t)n->calm;
    part.warm = !measured;
    part.rounds = (uint32_t)measured;
    part.each = measured ? each : NULL;
    n->calm -= part.count;
    if (n->on->run(n->on->self, &part, &now) != 0 || (!n->calm && burst(n) != 0))
        return -1;
    if (measured) {
        m->accesses += now.accesses;
        m->misses += now.misses;
        m->time += now.time;
        m->cpu = now.cpu;
        m->method = now.method;
        m->has_misses = now.has_misses;
    }
    return part.count;
}

static int in_pieces(struct noise *n, const struct cf_visit *v, struct cf_measured *m)
{
    uint32_t *each = v->each;

    for (uint32_t round = 0; round < v->warm + v->rounds; round++)
        for (uint32_t at = 0; at < v->count;) {
            const int measured = round >= v->warm;
            const int64_t got = piece(n, v, at, measured, each, m);

            if (got < 0)
                return -1;
            at += (uint32_t)got;
            each = measured && each ? each + got : each;
        }
    return 0;
}

static int run(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    struct noise *n = self;
    const uint64_t all = (uint64_t)v->count * (v->warm + v->rounds), timed = v->count * v->rounds;

    if (all >= n->calm) {
        if (in_pieces(n, v, m) != 0)
            return -1;
    } else {
        n->calm -= all;
        if (n->on->run(n->on->self, v, m) != 0)
            return -1;
    }
    if (v->each) {
        m->time = 0;
        for (uint64_t i = 0; i < timed; i++) {
            v->each[i] = (uint32_t)(v->each[i] * vary(n) + 0.5);
            m->time += v->each[i];
        }
    } else if (m->time) {
        m->time = (uint64_t)((double)m->time * vary(n) + 0.5);
    }
    return 0;
}

static int forget(void *self)
{
    struct noise *n = self;
    int status;

    n->on->behind = n->bench.behind;
    status = n->on->forget(n->on->self);

    if (status == 0)
        status = visit_other(n);
    n->others = 0;
    return status;
}

void noise_begin(struct noise *n, struct cf_bench *on, double part, uint64_t seed)
{
    *n = (struct noise){.on = on, .part = part, .state = seed ^ 0x6e6f697365u};
    n->bench = (struct cf_bench){
        .self = n, .forget = forget, .run = run, .step = on->step, .size = on->size - NOISE_ROOM};
    n->calm = 1 + probe_below(&n->state, 2 * NOISE_CALM);
}
