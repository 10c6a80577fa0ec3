/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.c - rows of samples. See samples.h.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/base/cf_samples.h"
#include "capture/perf/samples.h"
#include "formats/base/cf_memory.h"

enum { KERNEL_HALF = 63 };

struct cf_perf_row {
    struct cf_access access;
    uint64_t time, pc, weight, data_src, latency;
    uint32_t cpu, pid, tid;
    uint8_t level, stage;
};

void cf_perf_rows_begin(struct cf_perf_rows *s, struct cf_writer *out, struct cf_fine *fine,
                        struct cf_tasks *tasks, struct cf_heap *heap, uint64_t start_ns)
{
    *s = (struct cf_perf_rows){.out = out,
                               .fine = fine,
                               .tasks = tasks,
                               .heap = heap,
                               .start_ns = start_ns,
                               .last_ns = start_ns};
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
    if (cf_array_room(&s->kept, &s->room, s->count + 1, sizeof *s->kept) != 0)
        return -1;
    s->kept[s->count++] = (struct cf_perf_row){*a,          time_of(s, r),  r->ip,         weight,
                                               r->data_src, r->latency,     r->cpu,        r->pid,
                                               r->tid,      (uint8_t)level, (uint8_t)stage};
    return 0;
}

int cf_perf_rows_put(struct cf_perf_rows *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct cf_perf_row *r = &s->kept[i];
        const struct cf_values v[] = {
            {CF_TIME, NULL, r->time},
            {CF_CPU, NULL, r->cpu},
            {CF_PID, NULL, r->pid},
            {CF_TID, NULL, r->tid},
            {CF_OP, NULL, r->access.op},
            {CF_SIZE, NULL, r->access.size},
            {CF_ADDR, NULL, r->access.addr},
            {CF_PC, NULL, r->pc},
            {CF_LEVEL, NULL, r->level},
            {CF_WEIGHT, NULL, r->weight},
            {CF_STAGE, NULL, r->stage},
            {CF_DATA_SRC, NULL, r->data_src},
            {CF_COST, NULL, r->latency < UINT32_MAX ? r->latency : UINT32_MAX}};

        if (cf_writer_rows(s->out, CF_ACCESS, 1, v, s->latencies ? 13 : 12, NULL) != 0 ||
            (r->weight && r->level &&
             cf_heap_sampled(s->heap, r->pid, r->access.addr, r->weight, r->level > 1) != 0))
            return -1;
    }
    s->rows += s->count;
    s->count = 0;
    return 0;
}

void cf_perf_rows_free(struct cf_perf_rows *s)
{
    free(s->kept);
}

static int take_fine(struct cf_perf_rows *s, const struct cf_record *r)
{
    struct cf_access all[CF_OPERANDS_MOST];
    uint64_t misses;
    const int n = cf_fine_accesses(s->fine, r, all, &misses);

    /* What an earlier stream knows of the instruction stands at its first access here. */
    if (misses && row(s, r, &all[0], CF_FROM_BEYOND, misses, CF_STAGE_COARSE) != 0)
        return -1;

    for (int i = 0; i < n; i++)
        if (row(s, r, &all[i], 0, 0, CF_STAGE_FINE) != 0)
            return -1;
    return 0;
}

/* The operation, 0 where it is not known; *both: it loads first. */
static unsigned operation(const struct cf_record *r, int *both)
{
    const unsigned op = cf_data_src_op(r->data_src, both);

    return op ? op : r->kind == CF_PERF_LOADS ? CF_LOAD : r->kind == CF_PERF_STORES ? CF_STORE : 0;
}

int cf_perf_rows_take(struct cf_perf_rows *s, const struct cf_record *r)
{
    struct cf_access a = {.addr = r->addr, .size = 1};
    unsigned level = CF_FROM_MEMORY; /* of a page that was not there */
    int known, both = 0;
    const char *library = cf_heap_library(s->heap);
    struct cf_tasks_file file;

    if (r->kind == CF_PERF_BREAKPOINT)
        return take_fine(s, r);
    if (r->ip >> KERNEL_HALF || (r->kind == CF_PERF_FAULTS && r->addr - r->ip < 16))
        return 0; /* of the kernel, or the instruction's own page */
    if (library && cf_tasks_file(s->tasks, r->pid, r->ip, &file) &&
        strcmp(file.name, library) == 0) {
        s->observer++;
        return 0;
    }
    known = cf_fine_decode(s->fine, r, &a);
    if (r->kind != CF_PERF_FAULTS) {
        a.op = (uint8_t)operation(r, &both);
        known = a.op != 0;
        level = r->level ? r->level : cf_data_src_level(r->data_src);
    }
    if (!r->addr || !known) {
        s->placeless += r->kind != CF_PERF_FAULTS;
        s->undecoded += r->kind == CF_PERF_FAULTS;
        return 0;
    }
    s->long_cost += s->latencies && r->latency > UINT32_MAX;
    if (both && row(s, r, &(struct cf_access){a.addr, a.size, CF_LOAD}, level, r->period,
                    CF_STAGE_COARSE) != 0)
        return -1;
    if (row(s, r, &a, level, r->period, CF_STAGE_COARSE) != 0)
        return -1;
    /* one of unknown level is neither hit nor miss */
    return level ? cf_fine_sampled(s->fine, r, level > 1) : 0;
}

/* A row of what was lost. */
static int note(struct cf_perf_rows *s, const struct cf_record *r, uint64_t count, const char *what)
{
    const struct cf_values v[] = {
        {CF_TIME, NULL, time_of(s, r)}, {CF_CPU, NULL, r->cpu},
        {CF_PID, NULL, r->pid},         {CF_TID, NULL, r->tid},
        {CF_COUNT, NULL, count},        {CF_LABEL, NULL, cf_writer_string(s->out, what)}};

    return cf_writer_rows(s->out, CF_LOST, 1, v, 6, NULL);
}

int cf_perf_rows_untold(struct cf_perf_rows *s, uint64_t count)
{
    const struct cf_values v[] = {{CF_TIME, NULL, cf_perf_rows_time(s)},
                                  {CF_COUNT, NULL, count},
                                  {CF_LABEL, NULL, cf_writer_string(s->out, "lost")}};

    s->lost += count;
    return count ? cf_writer_rows(s->out, CF_LOST, 1, v, 3, NULL) : 0;
}

/* Of a part of a trace: how many samples were lost is not known. */
static int note_trace(struct cf_perf_rows *s, const struct cf_record *r)
{
    const uint64_t flags = cf_record_word(r->body + 16);
    const int truncated = !!(flags & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL));
    const int collided = !!(flags & PERF_AUX_FLAG_COLLISION);

    s->truncated += (uint64_t)truncated;
    s->collided += (uint64_t)collided;
    return (truncated && note(s, r, 1, "truncated") != 0) ||
                   (collided && note(s, r, 1, "collision") != 0)
               ? -1
               : 0;
}

int cf_perf_rows_note(struct cf_perf_rows *s, const struct cf_record *r)
{
    uint64_t count;

    if (r->type == PERF_RECORD_LOST && r->length >= 16) {
        count = cf_record_word(r->body + 8);
        s->lost += count;
        return note(s, r, count, "lost");
    }
    if (r->type == PERF_RECORD_LOST_SAMPLES && r->length >= 8) {
        count = cf_record_word(r->body);
        s->lost += count;
        return note(s, r, count, "lost");
    }
    if (r->type == PERF_RECORD_AUX && r->length >= 24)
        return note_trace(s, r);
    if (r->type != PERF_RECORD_THROTTLE)
        return 0;
    s->throttled++;
    return note(s, r, 1, "throttled");
}
