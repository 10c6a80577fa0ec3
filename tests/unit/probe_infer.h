/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_infer.h - rows that capture/probe measures, as cf-infer takes them.
 */
#ifndef PROBE_INFER_H
#define PROBE_INFER_H

#include <stdlib.h>
#include <string.h>

#include "capture/probe/probe.h"
#include "filters/parts/infer/infer.h"

/* A row as cf-infer reads it. */
static inline void take_row(void *arg, const struct probe_row *r)
{
    struct infer *f = arg;
    unsigned i = 0;
    struct cf_measurement m = {.parameter = r->parameter,
                               .accesses = r->m.accesses,
                               .time = r->m.time,
                               .order = (uint32_t)f->rows,
                               .repeat = r->repeat,
                               .spoilt = r->m.spoilt || !r->m.accesses};

    while (i < f->count && (f->series[i].level != r->level ||
                            strcmp(experiment_kinds[f->series[i].is].name, r->experiment) != 0))
        i++;
    if (i == f->count) {
        f->series[i] = (struct series){.level = (uint8_t)r->level};
        while (strcmp(experiment_kinds[f->series[i].is].name, r->experiment) != 0)
            f->series[i].is++;
        f->count++;
    }
    m.series = i;
    m.counted = r->m.has_misses && f->series[i].is != X_LATENCY;
    m.misses = m.counted ? r->m.misses : 0;
    if (f->rows == f->room) {
        f->room = f->room ? 2 * f->room : 1024;
        f->row = realloc(f->row, f->room * sizeof *f->row);
    }
    f->row[f->rows++] = m;
}

static inline void forget_rows(struct infer *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        cf_points_free(&f->series[i].points);
        cf_change_free(&f->series[i].change);
    }
    free(f->row);
    memset(f, 0, sizeof *f);
}

#endif
