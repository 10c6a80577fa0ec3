/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.c - rows of samples. See samples.h.
 */
#include <string.h>

#include "capture/cf_samples.h"
#include "capture/perf/samples.h"

enum { KERNEL_HALF = 63 };

void cf_perf_rows_begin(struct cf_perf_rows *s, struct cf_writer *out, struct cf_fine *fine,
                        uint64_t start_ns)
{
    *s = (struct cf_perf_rows){.out = out, .fine = fine, .start_ns = start_ns, .last_ns = start_ns};
}

/* Times that an interrupt put out of order may not go back. */
static uint64_t time_of(struct cf_perf_rows *s, const struct cf_record *r)
{
    if (r->time > s->last_ns)
        s->last_ns = r->time;
    return s->last_ns - s->start_ns;
}

uint64_t cf_perf_rows_time(const struct cf_perf_rows *s)
{
    return s->last_ns - s->start_ns;
}

static int row(struct cf_perf_rows *s, const struct cf_record *r, const struct cf_access *a,
               unsigned level, uint64_t weight, unsigned stage)
{
    const struct cf_values v[] = {
        {CF_TIME, NULL, time_of(s, r)}, {CF_CPU, NULL, r->cpu},  {CF_PID, NULL, r->pid},
        {CF_TID, NULL, r->tid},         {CF_OP, NULL, a->op},    {CF_SIZE, NULL, a->size},
        {CF_ADDR, NULL, a->addr},       {CF_PC, NULL, r->ip},    {CF_LEVEL, NULL, level},
        {CF_WEIGHT, NULL, weight},      {CF_STAGE, NULL, stage}, {CF_DATA_SRC, NULL, r->data_src}};

    s->rows++;
    return cf_writer_rows(s->out, CF_ACCESS, 1, v, 12, NULL);
}

static int take_fine(struct cf_perf_rows *s, const struct cf_record *r)
{
    struct cf_access all[CF_OPERANDS_MOST];
    const int n = cf_fine_accesses(s->fine, r, all);

    for (int i = 0; i < n; i++)
        if (row(s, r, &all[i], 0, 0, CF_STAGE_FINE) != 0)
            return -1;
    return 0;
}

/* Whether the operation is known, which is then in *op. */
static int operation(const struct cf_record *r, uint8_t *op)
{
    const union perf_mem_data_src d = {.val = r->data_src};

    if (d.mem_op & PERF_MEM_OP_LOAD)
        *op = CF_LOAD;
    else if (d.mem_op & PERF_MEM_OP_STORE)
        *op = CF_STORE;
    else if (d.mem_op & PERF_MEM_OP_PFETCH)
        *op = CF_PREFETCH;
    else if (r->kind == CF_PERF_LOADS || r->kind == CF_PERF_STORES)
        *op = r->kind == CF_PERF_LOADS ? CF_LOAD : CF_STORE;
    else
        return 0;
    return 1;
}

int cf_perf_rows_take(struct cf_perf_rows *s, const struct cf_record *r)
{
    struct cf_access a = {.addr = r->addr, .size = 1, .op = CF_LOAD};
    unsigned level = CF_FROM_MEMORY; /* of a page that was not there */
    int known;

    if (r->kind == CF_PERF_BREAKPOINT)
        return take_fine(s, r);
    if (r->ip >> KERNEL_HALF || (r->kind == CF_PERF_FAULTS && r->addr - r->ip < 16))
        return 0; /* of the kernel, or the instruction's own page */
    known = cf_fine_decode(s->fine, r, &a);
    if (r->kind != CF_PERF_FAULTS) {
        known = operation(r, &a.op);
        level = cf_data_src_level(r->data_src);
    }
    if (!r->addr || !known) {
        s->placeless++;
        return 0;
    }
    if (row(s, r, &a, level, r->period, CF_STAGE_COARSE) != 0)
        return -1;
    return cf_fine_sampled(s->fine, r->pid, r->tid, r->ip, r->addr, level > 1);
}

static uint64_t word(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

int cf_perf_rows_note(struct cf_perf_rows *s, const struct cf_record *r)
{
    struct cf_values v[] = {{CF_TIME, NULL, 0},     {CF_CPU, NULL, r->cpu}, {CF_PID, NULL, r->pid},
                            {CF_TID, NULL, r->tid}, {CF_COUNT, NULL, 1},    {CF_LABEL, NULL, 0}};
    const char *what = "throttled";

    if (r->type == PERF_RECORD_LOST && r->length >= 16) {
        v[4].constant = word(r->body + 8);
        s->lost += v[4].constant;
        what = "lost";
    } else if (r->type == PERF_RECORD_LOST_SAMPLES && r->length >= 8) {
        v[4].constant = word(r->body);
        s->lost += v[4].constant;
        what = "lost";
    } else if (r->type == PERF_RECORD_THROTTLE) {
        s->throttled++;
    } else {
        return 0;
    }
    v[0].constant = time_of(s, r);
    v[5].constant = cf_writer_string(s->out, what);
    return cf_writer_rows(s->out, CF_LOST, 1, v, 6, NULL);
}
