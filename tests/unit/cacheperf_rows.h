/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cacheperf_rows.h - samples as rows of an array, and what the engine says of them.
 */
#ifndef CACHEPERF_ROWS_H
#define CACHEPERF_ROWS_H

#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/cacheperf.h"
#include "formats/stream/cf.h"

enum { MOST = 400, OBJECTS = 8 };

struct row {
    uint64_t addr, pc, weight;
    uint32_t size, pid, tid, object, source;
    uint8_t op, level, stage;
};

static struct row row[MOST];
static unsigned rows;
static uint32_t allocator[OBJECTS]; /* 0: not known */
static struct cf_cacheperf_config g;

/* ---- the engine ---- */

static uint8_t got[MOST];

/* Copies a part of the rows into columns. */
static struct cf_cacheperf_rows columns(unsigned from, unsigned n)
{
    uint64_t *wide = calloc(3, MOST * sizeof(*wide));
    uint32_t *narrow = calloc(5, MOST * sizeof(*narrow));
    uint8_t *code = calloc(3, MOST);

    for (unsigned i = 0; i < n; i++) {
        const struct row *r = &row[from + i];

        wide[i] = r->addr;
        wide[MOST + i] = r->pc;
        wide[2 * MOST + i] = r->weight;
        narrow[i] = r->size;
        narrow[MOST + i] = r->pid;
        narrow[2 * MOST + i] = r->tid;
        narrow[3 * MOST + i] = r->object;
        narrow[4 * MOST + i] = r->source;
        code[i] = r->op;
        code[MOST + i] = r->level;
        code[2 * MOST + i] = r->stage;
    }
    return (struct cf_cacheperf_rows){.rows = n,
                                      .addr = wide,
                                      .pc = wide + MOST,
                                      .weight = wide + 2 * MOST,
                                      .size = narrow,
                                      .pid = narrow + MOST,
                                      .tid = narrow + 2 * MOST,
                                      .object = narrow + 3 * MOST,
                                      .source = narrow + 4 * MOST,
                                      .op = code,
                                      .level = code + MOST,
                                      .stage = code + 2 * MOST};
}

static void release(struct cf_cacheperf_rows *part)
{
    free((void *)part->addr);
    free((void *)part->size);
    free((void *)part->op);
}

__attribute__((unused)) static void engine(unsigned cut)
{
    struct cf_cacheperf *c = cf_cacheperf_new(&g);
    struct cf_cacheperf_rows part[2] = {columns(0, cut), columns(cut, rows - cut)};
    int bad = !c;

    for (uint32_t o = 1; o < OBJECTS; o++)
        if (allocator[o])
            bad |= cf_cacheperf_object(c, o, allocator[o]);
    bad |= cf_cacheperf_judge(c, part, 2);
    if (bad)
        abort();
    cf_cacheperf_class(c, &part[0], got);
    cf_cacheperf_class(c, &part[1], got + cut);
    cf_cacheperf_free(c);
    release(&part[0]);
    release(&part[1]);
}

__attribute__((unused)) static void defaults(void)
{
    g = (struct cf_cacheperf_config){.line_shift = 6,
                                     .sets = 64,
                                     .ways = 8,
                                     .window = 1000,
                                     .same_set = 8,
                                     .window_ratio = 0.5,
                                     .load_misses = 3,
                                     .store_misses = 1,
                                     .code_accesses = 0.01,
                                     .code_misses = 1,
                                     .line_misses = 1,
                                     .set_misses = 1};
    rows = 0;
    memset(row, 0, sizeof(row));
    memset(allocator, 0, sizeof(allocator));
}

#endif
