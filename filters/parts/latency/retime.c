/* SPDX-License-Identifier: BSD-2-Clause */
/* retime.c - two sums run along with the accesses: the costs that they gain, and, where the stream
   was retimed before, those that they lose. */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/parts/latency/retime.h"
#include "formats/base/cf_number.h"
#include "formats/together/cf_made.h"
#include "formats/together/cf_processes.h"

/* Rows of a frame that waits. */
struct held {
    struct held *next;
    struct cf_frame frame; /* its columns are copies */
    uint64_t *time, *count;
    const uint32_t *pid, *tid;
    uint32_t timed, sent; /* rows before these have their new times; were written */
};

struct sums {
    uint64_t gained, lost;
};

struct retime {
    struct cf_tool *tool;
    uint64_t hz;
    int again;   /* the stream was retimed before */
    int came;    /* accesses did */
    char *clock; /* of a segment, another than of instructions; NULL: none has one */
    struct sums sums;
    struct held *first, **last;
    uint64_t next; /* time of the earliest row that waits */
    int named;     /* accesses state their process and thread; else the last switch does */
    uint64_t pid, tid;
    struct sums thread;              /* of it, since it was looked up */
    struct cf_counts *gained, *lost; /* by pid and tid */
    uint64_t *time;
    int has_cpu;
    uint32_t cpu;
    struct cf_processes processes;
};

struct retime *retime_new(struct cf_tool *tool, uint64_t hz, struct cf_reader *r)
{
    struct retime *t = cf_need(tool, calloc(1, sizeof *t));

    t->tool = tool;
    t->hz = hz;
    t->last = &t->first;
    t->next = UINT64_MAX;
    t->gained = cf_need(tool, cf_counts_new());
    t->lost = cf_need(tool, cf_counts_new());
    t->time = cf_column_room(tool, sizeof *t->time);
    cf_reader_want(r, CF_ACCESS, CF_TIME, CF_REQUIRED);
    cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_COST, CF_WEIGHT, CF_CPU, CF_PID, CF_TID);
    return t;
}

static void release(struct held *h)
{
    for (unsigned i = 0; i < h->frame.columns; i++)
        free((void *)(uintptr_t)h->frame.column[i].values);
    free(h);
}

void retime_free(struct retime *t)
{
    if (!t)
        return;
    for (struct held *h = t->first, *next; h; h = next) {
        next = h->next;
        release(h);
    }
    cf_counts_free(t->gained);
    cf_counts_free(t->lost);
    free(t->clock);
    free(t);
}

static void refuse_clock(const struct retime *t)
{
    cf_die(t->tool, CF_EXIT_INPUT,
           "--retime: the clock of the stream is '%s', it must count instructions", t->clock);
}

void retime_begin(struct retime *t, const struct cf_header *h, struct cf_writer *w)
{
    const char *counts = cf_header_fact(h, "time", cf_counts);

    t->again = counts && !strcmp(counts, cf_counts_costs);
    if (counts && !strcmp(counts, cf_counts_old_costs))
        cf_die(t->tool, CF_EXIT_INPUT,
               "--retime: its times contain costs that column cost no longer states, or of "
               "accesses that are not there: retime the stream from before the last cf-latency, "
               "and before rows were taken out");
    if (!t->again && (!h->clock_unit || strcmp(h->clock_unit, "instructions") != 0)) {
        free(t->clock);
        t->clock = cf_need(t->tool, strdup(h->clock_unit ? h->clock_unit : "not stated"));
        if (t->came)
            refuse_clock(t);
        return; /* where no accesses come either, that is said */
    }
    t->sums = t->thread = (struct sums){0, 0};
    t->pid = t->tid = 0;
    t->has_cpu = 0;
    cf_counts_free(t->gained);
    cf_counts_free(t->lost);
    t->gained = cf_need(t->tool, cf_counts_new());
    t->lost = cf_need(t->tool, cf_counts_new());
    cf_writer_clock(w, "cycles", t->hz);
    (void)cf_writer_fact(w, "time", cf_counts, cf_counts_costs);
}

static uint64_t moved(uint64_t time, const struct sums *s)
{
    return cf_sum(time > s->lost ? time - s->lost : 0, s->gained);
}

/* ---- other tables ---- */

int retime_take(struct retime *t, struct cf_frame *f)
{
    struct held *h;

    if (f->table == CF_ACCESS || f->table == CF_PROBE || f->table == CF_HEADER || !f->rows ||
        t->clock || !cf_late_values(f, CF_TIME) || cf_frame_all(f) != 0)
        return 0;
    if (f->table == CF_UNPLACED)
        cf_die(t->tool, CF_EXIT_INPUT,
               "--retime: table unplaced has accesses of unknown address, whose cost no time can "
               "contain: without --retime, cost has it");
    h = cf_need(t->tool, calloc(1, sizeof *h));
    h->frame = (struct cf_frame){.table = f->table, .rows = f->rows, .reader = f->reader};
    for (unsigned i = 0; i < f->columns; i++) {
        const struct cf_data *c = &f->column[i];
        const size_t width = cf_type_width(c->type);
        void *copy;

        if (!width || !c->values)
            continue;
        copy = cf_need(t->tool, malloc(f->rows * width));
        memcpy(copy, c->values, f->rows * width);
        h->frame.column[h->frame.columns++] =
            (struct cf_data){.id = c->id, .type = c->type, .values = copy};
        if (c->id == CF_TIME)
            h->time = copy;
        if (c->id == CF_COUNT && f->table == CF_SWITCH)
            h->count = copy;
    }
    h->pid = cf_u32(&h->frame, CF_PID);
    h->tid = cf_u32(&h->frame, CF_TID);
    t->next = h->time[0] < t->next ? h->time[0] : t->next;
    *t->last = h;
    t->last = &h->next;
    return 1;
}

static void add(const struct retime *t, struct cf_counts *counts, uint64_t value)
{
    uint64_t *at = value ? cf_need(t->tool, cf_counts_at(counts, t->pid, t->tid)) : NULL;

    if (at)
        *at = cf_sum(*at, value);
}

/* What the thread that runs has gained so far goes to its sums. */
static void settle_thread(struct retime *t)
{
    add(t, t->gained, t->thread.gained);
    add(t, t->lost, t->thread.lost);
    t->thread = (struct sums){0, 0};
}

/* Rows up to a time get their new ones. */
static void retime_held(struct retime *t, uint64_t time)
{
    settle_thread(t);
    t->next = UINT64_MAX;
    for (struct held *h = t->first; h; h = h->next) {
        for (; h->timed < h->frame.rows && h->time[h->timed] <= time; h->timed++) {
            const uint32_t i = h->timed;

            h->time[i] = moved(h->time[i], &t->sums);
            if (h->count) {
                const uint64_t pid = h->pid ? h->pid[i] : 0, tid = h->tid ? h->tid[i] : 0;
                struct sums s;

                if (!t->named) {
                    settle_thread(t);
                    t->pid = pid;
                    t->tid = tid;
                }
                s.gained = cf_counts_get(t->gained, pid, tid);
                s.lost = cf_counts_get(t->lost, pid, tid);
                h->count[i] = moved(h->count[i], &s);
            }
        }
        if (h->timed < h->frame.rows && h->time[h->timed] < t->next)
            t->next = h->time[h->timed];
    }
}

/* Writes the rows that have new times. */
static int send_held(struct retime *t, struct cf_writer *w)
{
    struct held **link = &t->first;
    int failed = 0;

    for (struct held *h = *link; h; h = *link) {
        struct cf_frame f = h->frame;

        f.rows = h->timed - h->sent;
        for (unsigned i = 0; i < f.columns; i++)
            f.column[i].values =
                (const char *)f.column[i].values + h->sent * cf_type_width(f.column[i].type);
        f.first = f.rows ? h->time[h->sent] : 0;
        f.last = f.rows ? h->time[h->timed - 1] : 0;
        if (f.rows && !failed)
            failed = cf_writer_frame(w, &f) != 0;
        h->sent = h->timed;
        if (h->sent < h->frame.rows) {
            link = &h->next;
        } else {
            *link = h->next;
            release(h);
        }
    }
    t->last = link;
    return failed ? -1 : 0;
}

int retime_end(struct retime *t, struct cf_writer *w)
{
    retime_held(t, UINT64_MAX);
    return send_held(t, w);
}

/* ---- accesses ---- */

static void check(struct retime *t, const struct cf_frame *f)
{
    const uint32_t *cpu = cf_u32(f, CF_CPU);

    cf_processes_check(&t->processes, t->tool, f,
                       "they are retimed as if they took turns on one processor; "
                       "retime each before cf-merge lays them side by side");
    for (uint32_t i = 0; cpu && i < f->rows; i++) {
        if (t->has_cpu && cpu[i] != t->cpu)
            cf_die(t->tool, CF_EXIT_INPUT,
                   "--retime: accesses of several CPUs, which are not on one clock: choose one by "
                   "'cf-select --cpu', or retime each program before cf-merge");
        t->cpu = cpu[i];
        t->has_cpu = 1;
    }
}

int retime_accesses(struct retime *t, struct cf_frame *f, const uint32_t *old, const uint32_t *cost,
                    struct cf_writer *w)
{
    const uint64_t *time = cf_u64(f, CF_TIME), *weight = cf_u64(f, CF_WEIGHT);
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);

    if (t->clock)
        refuse_clock(t);
    t->came = 1;
    if (t->again && !old)
        cf_die(t->tool, CF_EXIT_INPUT,
               "--retime: its times contain costs, and accesses lack column cost, which states "
               "them: run cf-latency --retime on the stream from before");
    old = t->again ? old : NULL;
    check(t, f);
    t->named = pid && tid;
    f->first = UINT64_MAX;
    f->last = 0;
    for (uint32_t i = 0; i < f->rows; i++) {
        const uint64_t times = weight ? weight[i] : 1;
        const struct sums s = {cf_product(cost[i], times), old ? cf_product(old[i], times) : 0};

        if (time[i] < t->sums.lost)
            cf_die(t->tool, CF_EXIT_INPUT,
                   "--retime: a time of an access is less than the costs of those before it, which "
                   "it should contain: retime each recording before cf-merge");
        if (time[i] >= t->next)
            retime_held(t, time[i]);
        if (t->named && (pid[i] != t->pid || tid[i] != t->tid)) {
            settle_thread(t);
            t->pid = pid[i];
            t->tid = tid[i];
        }
        t->time[i] = moved(time[i], &t->sums);
        f->first = t->time[i] < f->first ? t->time[i] : f->first;
        f->last = t->time[i] > f->last ? t->time[i] : f->last;
        t->sums = (struct sums){cf_sum(t->sums.gained, s.gained), cf_sum(t->sums.lost, s.lost)};
        t->thread =
            (struct sums){cf_sum(t->thread.gained, s.gained), cf_sum(t->thread.lost, s.lost)};
    }
    cf_tool_set(t->tool, f, CF_TIME, t->time);
    return send_held(t, w);
}
