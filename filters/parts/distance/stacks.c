/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.c - the distances of the rows of a frame: in one stack, or in one for each process or
 * thread.
 */
#include <stdlib.h>

#include "filters/engine/rows/gather.h"
#include "filters/parts/distance/distance.h"

/* Rows of one unit and space. Taken in shares that stay in the cache. */
static void rows(struct distance *d, uint32_t unit, const uint64_t *addr, const uint8_t *op,
                 const uint32_t *size, uint32_t count, uint64_t space, uint64_t *dist,
                 double *weight)
{
    for (uint32_t at = 0, n; at < count; at += n) {
        n = count - at < CF_WIRE_ROWS ? count - at : CF_WIRE_ROWS;
        if (cf_stack_rows(d->stack, d->runs, unit, addr + at, op ? op + at : NULL,
                          size ? size + at : NULL, n, space, dist + at,
                          weight ? weight + at : NULL) != 0)
            cf_die(&d->tool, CF_EXIT_ENVIRONMENT, "out of memory, or over 2^31 lines");
    }
}

/* Rows from `from` up to `to` of a frame. */
static void piece(struct distance *d, const struct cf_frame *f, uint32_t unit, uint32_t from,
                  uint32_t to, uint64_t space)
{
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint32_t *size = cf_u32(f, CF_SIZE);

    rows(d, unit, cf_u64(f, CF_ADDR) + from, op ? op + from : NULL, size ? size + from : NULL,
         to - from, space, d->dist + from, d->weight ? d->weight + from : NULL);
}

void stacks_one(struct distance *d, const struct cf_frame *f)
{
    for (uint32_t from = 0, to; from < f->rows; from = to) {
        uint32_t core;
        uint64_t space;

        to = cf_cores_piece(d->cores, NULL, cf_u32(f, CF_PID), NULL, from, f->rows, &core, &space);
        if (!to)
            cf_out_of_memory(&d->tool);
        piece(d, f, 0, from, to, space);
    }
}

/* Numbers the processes or threads of the rows; returns how many pieces of one unit there are. */
static uint32_t find_units(struct distance *d, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    uint32_t pieces = 1;
    int status;

    for (uint32_t i = 0; i < f->rows; i++)
        d->thread[i] = (uint64_t)(pid ? pid[i] : 0) << 32 | (d->per == PER_THREAD ? tid[i] : 0);
    status = cf_groups_number(d->units, d->thread, sizeof(*d->thread), f->rows, d->unit);
    if (status < 0)
        cf_out_of_memory(&d->tool);
    if (status > 0)
        cf_die(&d->tool, CF_EXIT_ENVIRONMENT,
               "more than %d processes or threads: take a part with cf-select", CF_GROUPS_MOST);
    for (uint32_t i = 1; i < f->rows; i++)
        pieces += d->unit[i] != d->unit[i - 1];
    return pieces;
}

/* Where units take turns at every few rows: the rows of each at once, unit by unit. */
static void gathered(struct distance *d, const struct cf_frame *f)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR);
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint32_t *size = cf_u32(f, CF_SIZE);
    const uint32_t units = cf_groups_count(d->units);
    uint32_t *end = cf_need(&d->tool, calloc((size_t)units + 1, sizeof(*end)));

    for (uint32_t i = 0; i < f->rows; i++)
        end[d->unit[i] + 1]++;
    for (uint32_t u = 0; u < units; u++)
        end[u + 1] += end[u];
    for (uint32_t i = 0; i < f->rows; i++)
        d->index[end[d->unit[i]]++] = i;
    cf_gather_values(d->addr, addr, sizeof(*addr), d->index, f->rows);
    if (op)
        cf_gather_values(d->op, op, sizeof(*op), d->index, f->rows);
    if (size)
        cf_gather_values(d->size, size, sizeof(*size), d->index, f->rows);
    for (uint32_t u = 0, from = 0; u < units; from = end[u++])
        rows(d, u, d->addr + from, op ? d->op + from : NULL, size ? d->size + from : NULL,
             end[u] - from, 0, d->part + from, NULL);
    for (uint32_t i = 0; i < f->rows; i++)
        d->dist[d->index[i]] = d->part[i];
    free(end);
}

void stacks_units(struct distance *d, const struct cf_frame *f)
{
    enum { SHORT = 256 };

    /* a sample's rate depends on the order of all rows */
    if (find_units(d, f) > f->rows / SHORT + 1 && !d->sampling) {
        gathered(d, f);
        return;
    }
    for (uint32_t from = 0, to; from < f->rows; from = to) {
        for (to = from + 1; to < f->rows && d->unit[to] == d->unit[from];)
            to++;
        piece(d, f, d->unit[from], from, to, 0);
    }
}
