/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which core makes an access, and in which address space.
 *
 * Streams keep one thread for thousands of rows. So a piece is found by comparing whole blocks of
 * rows with the first row's values, and only where a value changes are the numbers of threads and
 * processes looked up.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/cores.h"
#include "filters/engine/rows/counts.h"

enum { FEW = 16, BLOCK = 512, RECENT_BITS = 6 };

struct recent {
    uint64_t id;
    uint32_t number; /* + 1 */
};

struct cf_cores {
    unsigned cores;
    uint64_t threads, processes;
    struct cf_counts *number; /* a: pid and tid, or pid; b: whether of a thread; number + 1 */
    struct recent recent[2][1 << RECENT_BITS]; /* of processes, of threads: they may take turns */
};

struct cf_cores *cf_cores_new(unsigned cores)
{
    struct cf_cores *c = calloc(1, sizeof *c);

    if (c && !(c->number = cf_counts_new())) {
        free(c);
        c = NULL;
    }
    if (c)
        c->cores = cores ? cores : 1;
    return c;
}

void cf_cores_free(struct cf_cores *c)
{
    if (!c)
        return;
    cf_counts_free(c->number);
    free(c);
}

/* Number of a thread or process in the order of appearance, from 0. -1 without memory. */
static int number(struct cf_cores *c, uint64_t id, int thread, uint64_t *count, uint32_t *result)
{
    struct recent *const r = &c->recent[thread][id * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS)];

    if (!r->number || r->id != id) {
        uint64_t *n = cf_counts_at(c->number, id, (uint64_t)thread);

        if (!n)
            return -1;
        if (!*n)
            *n = ++*count;
        *r = (struct recent){id, (uint32_t)*n};
    }
    *result = r->number - 1;
    return 0;
}

static int ask(struct cf_cores *c, const uint32_t *cpu, const uint32_t *pid, const uint32_t *tid,
               uint32_t row, uint32_t *core, uint64_t *space)
{
    uint32_t p = pid ? pid[row] : 0, n;

    *core = 0;
    *space = 0;
    if (c->cores > 1 && cpu) {
        *core = cpu[row] % c->cores;
    } else if (c->cores > 1) {
        if (number(c, (uint64_t)p << 32 | (tid ? tid[row] : 0), 1, &c->threads, &n) != 0)
            return -1;
        *core = n % c->cores;
    }
    if (pid) {
        if (number(c, p, 0, &c->processes, &n) != 0)
            return -1;
        *space = cf_space_key(n);
    }
    return 0;
}

/* Are the values in `rows` rows equal to the one before them? A run of equal values equals itself
   shifted by one, and memcmp() compares faster than any loop that we could write. */
static int goes_on(const uint32_t *column, uint32_t from, uint32_t rows)
{
    return memcmp(column + from, column + from - 1, rows * sizeof *column) == 0;
}

/* Both columns are looked at together: one after the other, a column that never changes would
   be read to its end for each change of the other. */
uint32_t cf_cores_same(const uint32_t *a, const uint32_t *b, uint32_t from, uint32_t rows)
{
    uint32_t value_a = a[from], value_b = b[from], i = from + 1;
    uint32_t end = i + FEW < rows ? i + FEW : rows;

    /* pieces of a few rows want no blocks */
    while (i < end && a[i] == value_a && b[i] == value_b)
        i++;
    if (i < end)
        return i;
    while (i + BLOCK <= rows && goes_on(a, i, BLOCK) && (a == b || goes_on(b, i, BLOCK)))
        i += BLOCK;
    while (i < rows && a[i] == value_a && b[i] == value_b)
        i++;
    return i;
}

uint32_t cf_cores_piece(struct cf_cores *c, const uint32_t *cpu, const uint32_t *pid,
                        const uint32_t *tid, uint32_t from, uint32_t rows, uint32_t *core,
                        uint64_t *space)
{
    const uint32_t *by = c->cores == 1 ? NULL : cpu ? cpu : tid; /* what chooses the core */
    uint32_t end = from;

    if (from >= rows)
        return rows;
    if (ask(c, cpu, pid, tid, from, core, space) != 0)
        return 0;
    if (!by && !pid)
        return rows;
    for (;;) {
        uint32_t next_core;
        uint64_t next_space;

        end = cf_cores_same(by ? by : pid, pid ? pid : by, end, rows);
        if (end == rows)
            return end;
        /* two threads may well be on one core and in one space */
        if (ask(c, cpu, pid, tid, end, &next_core, &next_space) != 0)
            return 0;
        if (next_core != *core || next_space != *space)
            return end;
    }
}

int cf_cores_rows(struct cf_cores *c, const uint32_t *cpu, const uint32_t *pid, const uint32_t *tid,
                  uint32_t rows, uint8_t *core, uint64_t *space)
{
    const uint32_t *by = c->cores == 1 ? NULL : cpu ? cpu : tid;

    for (uint32_t i = 0, end; i < rows; i = end) {
        uint32_t at;
        uint64_t in;

        if (ask(c, cpu, pid, tid, i, &at, &in) != 0)
            return -1;
        end = by || pid ? cf_cores_same(by ? by : pid, pid ? pid : by, i, rows) : rows;
        memset(core + i, (int)at, end - i);
        for (uint32_t k = i; k < end; k++)
            space[k] = in;
    }
    return 0;
}
