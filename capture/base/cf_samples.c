/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_samples.c - from samples to rows. */
#include "capture/base/cf_samples.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

static int holds(const char *name, size_t length, const char *word)
{
    const size_t n = strlen(word);

    for (size_t i = 0; i + n <= length; i++)
        if (strncasecmp(name + i, word, n) == 0)
            return 1;
    return 0;
}

unsigned cf_event_op(const char *name, size_t length)
{
    const int load = holds(name, length, "load"), store = holds(name, length, "store");

    return load == store ? 0 : load ? CF_LOAD : CF_STORE;
}

void cf_samples_send(struct cf_samples *s)
{
    struct cf_values columns[16] = {
        {CF_TIME, s->time, 0},   {CF_OP, s->op_of, 0},      {CF_ADDR, s->addr, 0},
        {CF_LEVEL, s->level, 0}, {CF_WEIGHT, s->weight, 0}, {CF_STAGE, NULL, CF_STAGE_COARSE},
    };
    const struct {
        unsigned has;
        struct cf_values values;
    } more[] = {
        {CF_SAMPLES_TASK, {CF_PID, s->pid, 0}},
        {CF_SAMPLES_TASK, {CF_TID, s->tid, 0}},
        {CF_SAMPLES_CPU, {CF_CPU, s->cpu, 0}},
        {CF_SAMPLES_PC, {CF_PC, s->pc, 0}},
        {CF_SAMPLES_PHYS, {CF_PHYS, s->phys, 0}},
        {CF_SAMPLES_DATA_SRC, {CF_DATA_SRC, s->data_src, 0}},
        {CF_SAMPLES_COST, {CF_COST, s->cost, 0}},
    };
    unsigned count = 6;

    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (s->has & more[i].has)
            columns[count++] = more[i].values;
    if (s->rows && cf_writer_rows(s->out, CF_ACCESS, s->rows, columns, count, NULL) < 0)
        s->failed = 1; /* reported when the writer is closed */
    s->rows = 0;
}

/* Whether another event has reported the access of this sample, as those do that are synthesised
   from one record of ARM's SPE; notes it else. */
static int is_repeat(struct cf_samples *s, const struct cf_sample *sample)
{
    if (!s->timed)
        return 0;
    if (s->near_time != sample->time)
        s->near = 0;
    s->near_time = sample->time;
    for (unsigned i = 0; i < s->near; i++) {
        const struct cf_sample *l = &s->last[i];

        if (l->addr == sample->addr && l->pc == sample->pc && l->tid == sample->tid &&
            l->data_src == sample->data_src && l->event != sample->event)
            return 1;
    }
    if (s->near == CF_SAMPLES_NEAR) {
        memmove(s->last, s->last + 1, (CF_SAMPLES_NEAR - 1) * sizeof *s->last);
        s->near--;
    }
    s->last[s->near++] = *sample;
    return 0;
}

static void add_row(struct cf_samples *s, const struct cf_sample *sample, unsigned op)
{
    unsigned i;

    if (s->rows == CF_SAMPLES_BATCH)
        cf_samples_send(s);
    i = s->rows++;
    s->time[i] = sample->time;
    s->addr[i] = sample->addr;
    s->phys[i] = sample->phys;
    s->pc[i] = sample->pc;
    s->weight[i] = sample->period;
    s->data_src[i] = sample->data_src;
    s->pid[i] = sample->pid;
    s->tid[i] = sample->tid;
    s->cpu[i] = sample->cpu;
    s->cost[i] = sample->latency < UINT32_MAX ? (uint32_t)sample->latency : UINT32_MAX;
    s->op_of[i] = (uint8_t)op;
    s->level[i] = sample->level ? sample->level : (uint8_t)cf_data_src_level(sample->data_src);
}

void cf_samples_add(struct cf_samples *s, const struct cf_sample *sample)
{
    int both = 0;
    unsigned op = cf_data_src_op(sample->data_src, &both);

    if (sample->addr == 0) {
        s->no_addr++;
        return;
    }
    if (op == 0 && sample->data_src == 0)
        op = sample->op;
    if (op == 0)
        op = s->op;
    if (op == 0) {
        s->no_op++;
        return;
    }
    if (is_repeat(s, sample)) {
        s->repeats++;
        return;
    }
    s->taken++;
    s->long_cost += sample->latency > UINT32_MAX;
    if (both)
        add_row(s, sample, CF_LOAD);
    add_row(s, sample, op);
}

void cf_samples_set_op(const struct cf_tool *t, void *samples, const char *option, char *text)
{
    struct cf_samples *s = samples;

    s->op = cf_parse_op(t, option, text);
}

void cf_samples_idle(void *samples)
{
    struct cf_samples *s = samples;

    cf_samples_send(s);
    (void)cf_writer_flush(s->out);
}

void cf_samples_report(const struct cf_samples *s, const struct cf_tool *t)
{
    if (s->no_addr)
        cf_warn(t, "%" PRIu64 " samples left out that have no address", s->no_addr);
    if (s->no_op)
        cf_warn(t, "%" PRIu64 " samples left out that state no operation: --op gives them one",
                s->no_op);
    if (s->repeats)
        cf_warn(t, "%" PRIu64 " samples left out that repeat an access for another event",
                s->repeats);
    if (s->long_cost)
        cf_warn(t, "%" PRIu64 " samples have a latency above 32 bits: their cost is 4294967295",
                s->long_cost);
}
