/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_rows.h - random rows for hierarchies of caches, and what they counted, for tests.
 */
#ifndef HIERARCHY_ROWS_H
#define HIERARCHY_ROWS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy.h"
#include "machine_text.h"
#include "random_machine.h"
#include "tap.h"

enum { ROWS = 600 };

static uint64_t addr[ROWS], space[ROWS];
static uint8_t op[ROWS], core[ROWS];
static uint32_t size[ROWS];

enum ops { DATA_OPS, MANY_OPS, PREFETCH_OPS, FETCH_OPS };

static inline void make_rows(unsigned cores, enum ops ops)
{
    static const uint8_t changes[] = {2, 40, 150};
    uint64_t base[6], span = 1u << (6 + next(8)), at = 0;
    unsigned shape = next(4), change = changes[next(3)];
    unsigned c = 0, p = 0, spaces = next(3) ? 1 : 3;

    for (unsigned i = 0; i < 6; i++)
        base[i] = next(8) == 0 ? UINT64_MAX - next(200) : (uint64_t)next(1 << 20) << next(30);
    for (uint32_t i = 0; i < ROWS; i++) {
        if (next(change) == 0) {
            c = next(cores);
            p = next(spaces);
        }
        core[i] = (uint8_t)c;
        space[i] = cf_space_key(p);
        at = shape == 0 ? next((uint32_t)span) : at + (shape == 1 ? 8 : shape == 2 ? span / 4 : 24);
        addr[i] = base[next(3) ? 0 : next(6)] + at % span;
        op[i] = (uint8_t)(next(3) ? CF_LOAD : CF_STORE);
        if (ops == PREFETCH_OPS && next(12) == 0)
            op[i] = CF_PREFETCH;
        if (ops == FETCH_OPS && next(3) == 0)
            op[i] = (uint8_t)(next(12) == 0 ? CF_PREFETCH : CF_IFETCH);
        if (ops == MANY_OPS && next(3) == 0)
            op[i] = (uint8_t)(next(30) == 0 ? CF_FLUSH : next(12) == 0 ? CF_PREFETCH : CF_IFETCH);
        size[i] = next(8) ? 1u << next(4) : next(40) ? next(100) : 1000 + next(3000);
        if (next(6) == 0 && i) {
            addr[i] = addr[i - 1];
            size[i] = size[i - 1];
        }
    }
}

static inline int same_counts(const struct cf_hierarchy_counts *a,
                              const struct cf_hierarchy_counts *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static inline void tell(const struct set *s)
{
    char *text = machine_text(&s->m);

    note("%u cores, masks %u", s->o.cores, s->o.mask_count);
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        note("%s", line);
    free(text);
}

static inline void print_counts(const char *who, const struct cf_hierarchy_counts *c)
{
    const uint64_t *v = (const uint64_t *)c;

    printf("# %s:", who);
    for (unsigned i = 0; i < sizeof *c / sizeof *v; i++)
        printf(" %llu", (unsigned long long)v[i]);
    printf("\n");
}

#endif
