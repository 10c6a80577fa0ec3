/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * relation.c - how a level goes with addresses, other levels and other CPUs, as far as that was
 * measured: experiments index, inclusion and share (cf-stream(5)). Each asks whether accesses
 * miss; what disturbs makes them miss, and nothing makes them hit.
 */

#include "filters/parts/infer/infer.h"

enum {
    FEW = 3,
    MORE = 4, /* lines than ways, to say that none conflict */
    CPUS_MOST = 4096,
};

/* Part of the accesses that missed where a parameter was measured: the least, and the median. */
struct missed {
    uint64_t parameter;
    double least, median;
    size_t count;
};

/* Of the rows of one parameter that begin at *at, which goes on to the next one. `room` is for as
   many as the series has. */
static struct missed next_missed(const struct infer *f, const struct series *s, size_t *at,
                                 double *room)
{
    const struct cf_measurement *m = f->row + s->from;
    const uint64_t parameter = m[*at].parameter;
    struct missed is = {.parameter = parameter, .least = 1};

    for (; *at < s->rows && m[*at].parameter == parameter; (*at)++)
        if (!m[*at].spoilt && m[*at].counted)
            room[is.count++] = (double)m[*at].misses / (double)m[*at].accesses;
    if (is.count) {
        is.median = cf_median(room, is.count);
        is.least = room[0];
    }
    return is;
}

static const struct series *series_of(const struct infer *f, enum experiment is, unsigned level)
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->series[i].is == is && f->series[i].level == level && !f->series[i].code)
            return &f->series[i];
    return NULL;
}

/* Lines a way apart conflict from one more than the ways on, or do not. */
static void know_index(const struct infer *f, struct cache *c)
{
    const struct series *s = series_of(f, X_INDEX, c->level);
    const uint64_t ways = c->value[WAYS].is;
    unsigned conflict = 0, fit = 0, early = 0;
    double *room;

    if (!s || !is_told(&c->value[WAYS]) || !is_told(&c->value[SIZE]))
        return;
    room = cf_tool_room(&f->tool, s->rows, sizeof *room);
    for (size_t at = 0; at < s->rows;) {
        const struct missed m = next_missed(f, s, &at, room);

        if (!m.count)
            continue;
        early += m.parameter <= ways && m.least > 0;
        conflict += m.parameter > ways && m.least > 0;
        fit += m.parameter > ways && m.least <= 0;
    }
    if (conflict && !fit && !early)
        c->index = 0;
    else if (fit > MORE && !conflict && f->frame_size >= c->value[SIZE].is / ways)
        c->index = 1;
    else if (fit > MORE && !conflict)
        c->index_why = "lines a way apart do not conflict, as where it is hashed, or where frames "
                       "are smaller than that";
    else
        c->index_why = "noise hides it";
}

static void know_sharing(const struct infer *f, struct cache *c)
{
    const struct series *s = series_of(f, X_SHARE, c->level);
    unsigned with = 0, others = 0;
    double *room;

    if (!s || !s->rows)
        return;
    room = cf_tool_room(&f->tool, s->rows, sizeof *room);
    for (size_t at = 0; at < s->rows; others++) {
        const struct missed m = next_missed(f, s, &at, room);

        if (m.count < FEW || (m.median > 0.1 && m.median < 0.9))
            return;
        with += m.median <= 0.1;
    }
    if (others > CPUS_MOST)
        return;
    c->shared_by = 1 + with;
    c->others = others;
}

static void know_inclusion(const struct infer *f, struct cache *c)
{
    const struct series *s = series_of(f, X_INCLUSION, c->level);
    double *room;

    if (!s)
        return;
    room = cf_tool_room(&f->tool, s->rows, sizeof *room);
    for (size_t at = 0; at < s->rows;) {
        const struct missed m = next_missed(f, s, &at, room);

        if (m.parameter == LINE_HOT && m.count >= FEW && m.median <= 0)
            c->inclusive = 0;
    }
}

void know_relations(const struct infer *f, struct cache *c)
{
    know_index(f, c);
    know_sharing(f, c);
    know_inclusion(f, c);
}
