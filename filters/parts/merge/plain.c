/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain.c - merges inputs by time, in runs: all rows of one input that come before the next row of
 * any other input go out at once. Rows of equal time go out in the order of the inputs.
 *
 * Rows of other tables with a time wait until accesses of that time or a later one go out.
 * Memory: for each input, the frame of accesses that waits and the other rows that came before it.
 */
#include <stdlib.h>

#include "filters/parts/merge/merge.h"

struct lane {
    struct source source;
    uint64_t *order; /* time of each waiting row, never falling */
    size_t room;
    const uint64_t *time; /* `order`, or the column itself */
    int pending;          /* there are such rows */
};

struct plain {
    struct merge *merge;
    struct lane *lane;
    uint64_t next_other; /* no other row that waits is earlier */
    uint64_t line_time;  /* of the latest snapshot of which a line went out */
    int lines_told;
};

/* Sets the times by which the rows of the waiting frame go out. */
static void set_order(struct plain *p, struct lane *l, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    const uint32_t *snapshot = time ? NULL : cf_u32(f, CF_SNAP);
    uint64_t last = l->source.last;

    l->time = time;
    if (time && !source_order(&l->source, f))
        return;
    merge_room(p->merge, &l->order, &l->room, f->rows, sizeof(*l->order));
    for (uint32_t i = 0; i < f->rows; i++) {
        uint64_t at = time ? time[i] : last;

        if (snapshot && (i == 0 || snapshot[i] != snapshot[i - 1]))
            at = source_snapshot_time(&l->source, snapshot[i], last);
        last = at > last ? at : last;
        l->order[i] = last;
    }
    l->time = l->order;
    l->source.last = last;
}

/* Reads until accesses or lines wait, or the input ends. */
static void load(struct plain *p, struct lane *l)
{
    struct source *s = &l->source;
    struct cf_frame *f;

    l->pending = 0;
    output_settle(p->merge->out); /* what is read now takes the place of what waited */
    while (source_next(s, &f)) {
        const uint64_t *time = cf_u64(f, CF_TIME);

        if (s->input->number == 0) /* the others are about as far */
            cf_tool_progress(&p->merge->tool, s->reader);
        source_check_clash(s, f);
        switch (f->table) {
        case CF_ACCESS:
        case CF_LINE:
            if (!f->rows)
                break;
            if (f->table == CF_ACCESS && !time && p->merge->inputs > 1)
                source_timeless(s, f);
            set_order(p, l, f);
            source_take(s, f);
            source_translate(s, 0, f->rows);
            output_map(p->merge->out, s, &s->part);
            l->pending = 1;
            return;
        case CF_STACK:
            /* where no thread was found to be interleaved, these went out then */
            if (!p->merge->o.interleave)
                source_pass(s, f);
            break;
        default:
            if (time && f->table != CF_PROBE) {
                source_queue(s, f, NULL, f->rows, time);
                p->next_other = 0;
                break;
            }
            source_pass(s, f);
        }
    }
}

/* Inputs run side by side, on processors of their own: so table switch says whose turn ends where
   another begins. Accesses keep the processor that they were recorded on. */
static int64_t switch_cpu(const struct plain *p, const struct source *s, const struct part *part)
{
    const uint32_t *cpu = part_values(part, CF_CPU);
    const uint64_t wide = (uint64_t)(cpu ? cpu[part->at] : 0) * p->merge->inputs + s->input->number;

    if (part->table != CF_SWITCH || p->merge->inputs == 1 || wide > UINT32_MAX)
        return KEEP_CPU;
    return (int64_t)wide;
}

/* Sends the waiting rows of other tables with a time up to `to`, table by table in time order. */
static void send_others(struct plain *p, uint64_t to)
{
    for (;;) {
        struct fifo *first = NULL;
        struct source *from = NULL;
        uint64_t least = UINT64_MAX;
        struct block *b;
        uint32_t n;

        for (unsigned i = 0; i < p->merge->inputs; i++) {
            struct fifo *q = source_first(&p->lane[i].source);

            if (q && (!first || fifo_key(q) < least)) {
                first = q;
                from = &p->lane[i].source;
                least = fifo_key(q);
            }
        }
        p->next_other = least;
        if (!first || least > to)
            return;
        b = first->first;
        for (n = 1; b->part.table != CF_SWITCH && b->part.at + n < b->part.rows &&
                    b->key[b->part.at + n] == least;)
            n++;
        output_rows(p->merge->out, from, &b->part, b->part.at, n, 0, switch_cpu(p, from, &b->part),
                    0);
        fifo_advance(first, n);
    }
}

/* Number of rows from `at` on whose time is at most `to`: a few in a row are the rule when inputs
   alternate, thousands when they do not. */
static uint32_t run_length(const uint64_t *time, uint32_t at, uint32_t rows, uint64_t to)
{
    uint32_t low = at, step = 1;

    while (low + step < rows && time[low + step] <= to) {
        low += step;
        step *= 2;
    }
    for (; step; step /= 2)
        if (low + step < rows && time[low + step] <= to)
            low += step;
    return low - at + 1;
}

/* An input of accesses and lines may have lines behind accesses of later times, so that those of
   other inputs' later snapshots went out before: says so, once. */
static void check_lines(struct plain *p, struct lane *l, uint32_t n)
{
    struct source *s = &l->source;
    const struct part *part = &s->part;
    const uint32_t *snapshot = NULL;
    uint64_t last;

    for (unsigned i = 0; i < part->columns && part->table == CF_LINE; i++)
        if (part->column[i].id == CF_SNAP)
            snapshot = s->original[i];
    if (!snapshot || p->merge->inputs == 1)
        return;
    if (source_snapshot_time(s, snapshot[part->at], UINT64_MAX) < p->line_time && !p->lines_told) {
        p->lines_told = 1;
        cf_fail(&p->merge->tool, CF_EXIT_INPUT,
                "%s: accesses of later times stand before the lines of snapshot %u, which come "
                "behind those of a later one of another input: merge snapshots without accesses",
                s->input->name, snapshot[part->at]);
    }
    last = source_snapshot_time(s, snapshot[part->at + n - 1], 0);
    p->line_time = last > p->line_time ? last : p->line_time;
}

/* One run. 1, or 0 when all inputs have ended. */
static int step(struct plain *p)
{
    struct lane *l = NULL;
    uint64_t to = UINT64_MAX;
    struct part *part;
    uint32_t n;

    for (unsigned i = 0; i < p->merge->inputs; i++) {
        struct lane *other = &p->lane[i];

        if (other->pending &&
            (!l || other->time[other->source.part.at] < l->time[l->source.part.at]))
            l = other;
    }
    if (!l) {
        send_others(p, UINT64_MAX);
        return 0;
    }
    for (unsigned i = 0; i < p->merge->inputs; i++) {
        struct lane *other = &p->lane[i];
        uint64_t head;

        if (other == l || !other->pending)
            continue;
        head = other->time[other->source.part.at];
        /* an earlier input goes first at equal times, so its head is later than ours */
        head -= other < l;
        to = head < to ? head : to;
    }
    part = &l->source.part;
    n = run_length(l->time, part->at, part->rows, to);
    if (p->next_other <= l->time[part->at + n - 1])
        send_others(p, l->time[part->at + n - 1]);
    check_lines(p, l, n);
    output_rows(p->merge->out, &l->source, part, part->at, n, 0, KEEP_CPU, 1);
    part->at += n;
    if (part->at == part->rows)
        load(p, l);
    return 1;
}

/* An input is waiting: what is complete goes out. */
static void idle(void *arg)
{
    struct merge *m = arg;

    output_flush(m->out);
    (void)cf_writer_flush(m->writer);
}

void merge_by_time(struct merge *m)
{
    struct plain p = {.merge = m};

    p.lane = cf_tool_room(&m->tool, m->inputs, sizeof(*p.lane));
    for (unsigned i = 0; i < m->inputs; i++) {
        source_open(&p.lane[i].source, m, &m->input[i], 0, UINT64_MAX);
        cf_reader_want_all(p.lane[i].source.reader);
        load(&p, &p.lane[i]);
        cf_reader_idle(p.lane[i].source.reader, idle, m);
    }
    while (step(&p))
        ;
    output_flush(m->out);
    for (unsigned i = 0; i < m->inputs; i++) {
        source_warn(&p.lane[i].source);
        source_close(&p.lane[i].source);
        free(p.lane[i].order);
    }
}
