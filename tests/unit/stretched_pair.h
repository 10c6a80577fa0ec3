/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stretched_pair.h - two models of a machine, one of which gets accesses in stretches and the other
 * the same as rows, for tests: what each level counts must be the same, and so must the lines that
 * the caches hold.
 */
#ifndef STRETCHED_PAIR_H
#define STRETCHED_PAIR_H

#include <stdio.h>

#include "filters/engine/cache/hierarchy.h"
#include "hierarchy_rows.h"
#include "random_machine.h"
#include "stretched_frame.h"
#include "tap.h"

enum {
    KINDS = 64,     /* of rows */
    LONGEST = 1016, /* accesses to data, or lines of fetches, of a stretch that is taken */
};

static uint8_t kind_op[KINDS];
static uint32_t kind_size[KINDS];

struct pair {
    struct cf_hierarchy *stretches, *rows;
    unsigned core;
    uint64_t space;
};

static inline int pair_new(struct pair *p, const struct set *s)
{
    char problem[256];

    *p = (struct pair){cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem),
                       cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem),
                       s->o.cores > 1 ? next(s->o.cores) : 0, 0};
    return p->stretches && p->rows;
}

static inline void pair_free(struct pair *p)
{
    cf_hierarchy_free(p->stretches);
    cf_hierarchy_free(p->rows);
}

static inline void run_rows(struct cf_hierarchy *h, uint32_t rows, unsigned by, uint64_t in)
{
    static uint8_t hit[FRAME_ROWS];

    if (cf_hierarchy_run(h, row_addr, row_op, row_size, 0, rows, by, in, hit) != 0)
        abort();
}

/* What a frame is to both: whether it was taken as stretches. */
static inline int give(struct pair *p, const struct cf_stretched *s)
{
    const uint32_t rows = frame_rows(s);
    const int taken = cf_hierarchy_stretches(p->stretches, s, p->core, p->space);

    if (taken < 0)
        abort();
    run_rows(p->rows, rows, p->core, p->space);
    if (!taken)
        run_rows(p->stretches, rows, p->core, p->space);
    return taken;
}

static inline unsigned different_counts(const struct pair *p, unsigned levels)
{
    struct cf_hierarchy_counts a, b;
    unsigned wrong = 0;

    for (unsigned i = 0; i <= levels; i++) {
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        if (i == levels) {
            cf_hierarchy_memory(p->stretches, &a);
            cf_hierarchy_memory(p->rows, &b);
        } else {
            cf_hierarchy_count(p->stretches, i, &a);
            cf_hierarchy_count(p->rows, i, &b);
        }
        if (same_counts(&a, &b))
            continue;
        if (!wrong++)
            note("level %u", i);
        print_counts("stretches", &a);
        print_counts("rows     ", &b);
    }
    return wrong;
}

static inline unsigned different_lines(const struct pair *p, const struct cf_machine *m)
{
    for (unsigned i = 0; i < m->levels; i++)
        for (unsigned c = 0; c < cf_hierarchy_caches(p->rows, i); c++)
            for (uint32_t set = 0; set < m->level[i].sets; set++)
                for (uint32_t way = 0; way < m->level[i].ways; way++)
                    if (cf_hierarchy_line(p->stretches, i, c, set, way) !=
                        cf_hierarchy_line(p->rows, i, c, set, way)) {
                        note("level %u cache %u set %u way %u: another line", i, c, set, way);
                        return 1;
                    }
    return 0;
}

#endif
