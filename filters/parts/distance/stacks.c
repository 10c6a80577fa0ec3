/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.c - distances of a frame: in one stack, in which a process is a space, or in one a unit.
 */
#include <stdlib.h>

#include "filters/engine/rows/gather.h"
#include "filters/parts/distance/distance.h"
#include "formats/base/cf_memory.h"

void stacks_prepare(const struct cf_tool *t, struct stacks *k, const struct settings *set)
{
    k->set = set;
    k->runs = cf_need(t, cf_runs_new(set->shift, set->what, CF_WIRE_ROWS));
    k->units = cf_need(t, cf_groups_new());
    k->dist = cf_column_room(t, sizeof(*k->dist));
    if (set->sampling)
        k->weight = cf_column_room(t, sizeof(*k->weight));
    for (uint32_t i = 0; set->sampling && i < CF_FILE_ROWS; i++)
        k->weight[i] = 1; /* and stays so at a rate of 1, at which the stacks do not sample */
    if (set->per == PER_ALL)
        return;
    k->unit = cf_column_room(t, sizeof(*k->unit));
    k->thread = cf_column_room(t, sizeof(*k->thread));
    k->index = cf_column_room(t, sizeof(*k->index));
    k->addr = cf_column_room(t, sizeof(*k->addr));
    k->dist_of_unit = cf_column_room(t, sizeof(*k->dist_of_unit));
    k->size = cf_column_room(t, sizeof(*k->size));
    k->op = cf_column_room(t, sizeof(*k->op));
}

void stacks_release(struct stacks *k)
{
    cf_stack_free(k->stack);
    cf_runs_free(k->runs);
    cf_groups_free(k->units);
}

int find_pieces(struct cf_cores *c, const struct cf_frame *f, struct pieces *p)
{
    uint64_t constant;
    const int same = cf_frame_constant(f, CF_PID, &constant);
    const uint32_t one = (uint32_t)constant;
    const uint32_t *pid = same ? &one : cf_late_values(f, CF_PID);
    const uint32_t rows = same ? 1 : f->rows;

    for (unsigned i = 0; !pid && i < f->columns; i++)
        if (f->column[i].id == CF_PID)
            return 1;
    for (uint32_t from = 0, to; from < rows; from = to) {
        struct piece *next;
        uint32_t core;

        if (cf_array_room(&p->piece, &p->room, p->count + 1, sizeof(*p->piece)) != 0)
            return -1;
        next = p->piece + p->count++;
        to = cf_cores_piece(c, NULL, pid, NULL, from, rows, &core, &next->space);
        if (!to)
            return -1;
        next->to = same ? f->rows : to;
        next->of_process = pid != NULL;
        next->pid = pid ? pid[from] : 0;
        next->unit = 0;
    }
    return 0;
}

/* As stacks_note(), of many. */
static void note(struct stacks *k, const uint64_t *addr, uint32_t rows)
{
    enum { BLOCK = 64 }; /* of a known length, so that compilers make vectors of it */
    uint64_t edges = 0;
    uint32_t i = 0;

    for (; rows - i >= BLOCK; i += BLOCK)
        for (uint32_t j = i; j < i + BLOCK; j++)
            edges |= addr[j] ^ addr[j] << 1;
    for (; i < rows; i++)
        stacks_note(k, addr[i], 0);
    k->edges |= edges;
}

/* Rows from `at` up to `to`, of one unit and space. Taken in shares that stay in the cache. */
static int rows(struct stacks *k, uint32_t unit, const uint64_t *addr, const uint8_t *op,
                const uint32_t *size, uint32_t at, uint32_t to, uint64_t space, uint64_t first,
                uint64_t *dist, double *weight)
{
    for (uint32_t n; at < to; at += n) {
        n = to - at < CF_WIRE_ROWS ? to - at : CF_WIRE_ROWS;
        if (k->set->per == PER_ALL)
            note(k, addr + at, n);
        if (k->part)
            k->part->row = first + at;
        if (cf_stack_rows(k->stack, k->runs, unit, addr + at, op ? op + at : NULL,
                          size ? size + at : NULL, n, space, dist + at,
                          weight ? weight + at : NULL) != 0)
            return -1;
    }
    return 0;
}

/* The same of a frame. */
static int frame_rows(struct stacks *k, const struct cf_frame *f, uint32_t unit, uint32_t from,
                      uint32_t to, uint64_t space, uint64_t first)
{
    return rows(k, unit, cf_u64(f, CF_ADDR), cf_u8(f, CF_OP), cf_u32(f, CF_SIZE), from, to, space,
                first, k->dist, k->weight);
}

/* Numbers the processes or threads of the rows; *pieces: how many pieces of one unit there are. */
static enum trouble find_units(struct stacks *k, const struct cf_frame *f, uint32_t *pieces)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    const int threads = k->set->per == PER_THREAD;
    int status;

    for (uint32_t i = 0; i < f->rows; i++)
        k->thread[i] = (uint64_t)(pid ? pid[i] : 0) << 32 | (threads ? tid[i] : 0);
    status = cf_groups_number(k->units, k->thread, sizeof(*k->thread), f->rows, k->unit);
    if (status != 0)
        return status < 0 ? NO_MEMORY : MANY_UNITS;
    *pieces = 1;
    for (uint32_t i = 1; i < f->rows; i++)
        *pieces += k->unit[i] != k->unit[i - 1];
    return FINE;
}

/* Where units take turns at every few rows: the rows of each at once, unit by unit. */
static int gathered(struct stacks *k, const struct cf_frame *f, uint64_t first)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR);
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint32_t *size = cf_u32(f, CF_SIZE);
    const uint32_t units = cf_groups_count(k->units);
    const size_t noted = k->part ? k->part->firsts : 0;
    uint32_t *end = calloc((size_t)units + 1, sizeof(*end));
    int bad = 0;

    if (!end)
        return -1;
    for (uint32_t i = 0; i < f->rows; i++)
        end[k->unit[i] + 1]++;
    for (uint32_t u = 0; u < units; u++)
        end[u + 1] += end[u];
    for (uint32_t i = 0; i < f->rows; i++)
        k->index[end[k->unit[i]]++] = i;
    cf_gather_values(k->addr, addr, sizeof(*addr), k->index, f->rows);
    if (op)
        cf_gather_values(k->op, op, sizeof(*op), k->index, f->rows);
    if (size)
        cf_gather_values(k->size, size, sizeof(*size), k->index, f->rows);
    for (uint32_t u = 0, from = 0; u < units && !bad; from = end[u++])
        bad = rows(k, u, k->addr, op ? k->op : NULL, size ? k->size : NULL, from, end[u], 0, 0,
                   k->dist_of_unit, NULL) != 0;
    for (uint32_t i = 0; i < f->rows; i++)
        k->dist[k->index[i]] = k->dist_of_unit[i];
    for (size_t i = noted; k->part && i < k->part->firsts; i++)
        k->part->first[i].row = first + k->index[k->part->first[i].row];
    free(end);
    return bad ? -1 : 0;
}

static enum trouble stacks_units(struct stacks *k, const struct cf_frame *f, uint64_t first)
{
    enum { SHORT = 256 };
    uint32_t pieces;
    enum trouble what = find_units(k, f, &pieces);

    /* a sample's rate depends on the order of all rows */
    if (what == FINE && pieces > f->rows / SHORT + 1 && !k->set->sampling)
        return gathered(k, f, first) != 0 ? NO_MEMORY : FINE;
    for (uint32_t from = 0, to; what == FINE && from < f->rows; from = to) {
        for (to = from + 1; to < f->rows && k->unit[to] == k->unit[from];)
            to++;
        if (frame_rows(k, f, k->unit[from], from, to, 0, first) != 0)
            what = NO_MEMORY;
    }
    return what;
}

enum trouble stacks_frame(struct stacks *k, const struct cf_frame *f, const struct piece *piece,
                          uint64_t first)
{
    if (k->set->per != PER_ALL)
        return stacks_units(k, f, first);
    for (uint32_t from = 0; from < f->rows; from = piece++->to) {
        k->keys |= piece->space;
        if (frame_rows(k, f, 0, from, piece->to, piece->space, first) != 0)
            return NO_MEMORY;
    }
    return FINE;
}

void report(const struct cf_tool *t, enum trouble what)
{
    if (what == MANY_UNITS)
        cf_die(t, CF_EXIT_ENVIRONMENT,
               "more than %d processes or threads: take a part with cf-select", CF_GROUPS_MOST);
    cf_die(t, CF_EXIT_ENVIRONMENT, "out of memory, or over 2^31 lines");
}

double stacks_rate(const struct stacks *k)
{
    struct cf_stack_stats stats;

    cf_stack_stats(k->stack, &stats);
    return stats.rate;
}

const double *stacks_weigh(struct stacks *k, uint32_t rows, double rate)
{
    for (uint32_t i = 0; k->weight && i < rows; i++)
        k->weight[i] = k->dist[i] == CF_DIST_NONE ? 1 : 1 / rate;
    return k->weight;
}

int hand_on(const struct cf_tool *t, const struct stacks *k, struct cf_frame *f,
            const double *weight, struct cf_writer *w)
{
    /* that of an earlier cf-distance, which is not true of the new distances */
    cf_frame_drop(f, CF_DIST_WEIGHT);
    cf_tool_set(t, f, CF_DIST, k->dist);
    if (weight)
        cf_tool_set(t, f, CF_DIST_WEIGHT, weight);
    return cf_writer_frame(w, f);
}
