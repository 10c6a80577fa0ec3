/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_machine.h - the random machines of which test_probe measures the geometry, and
 * test_probe_policy the policy: one to three levels, each twice as large as the one before or more,
 * and the ticks of each.
 */
#ifndef PROBE_MACHINE_H
#define PROBE_MACHINE_H

#include <stdio.h>
#include <string.h>

#include "capture/probe/probe.h"
#include "formats/machine/cf_machine.h"

enum { MACHINES = 300, MOST = 8 << 20 };

static uint64_t state;

static inline uint32_t next(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

/* A size from `least` to `most`, all magnitudes alike. */
static inline uint64_t magnitude(uint64_t least, uint64_t most)
{
    unsigned span = 0;

    while (least << (span + 1) <= most)
        span++;
    least <<= next(span + 1);
    least += (uint64_t)next((uint32_t)(least / 16)) * 16;
    return least < most ? least : most;
}

static inline int make_level(struct cf_machine *m, unsigned i, uint64_t most)
{
    struct cf_level *l = &m->level[i];
    const uint64_t least = i ? 2 * m->level[i - 1].size : 1024;

    if (least > most)
        return -1;
    snprintf(l->name, sizeof l->name, "L%u", i + 1);
    l->depth = i + 1;
    l->shared_by = 1;
    l->write_back = l->write_allocate = 1;
    l->line = i ? m->level[i - 1].line : 16u << next(5);
    if (i && l->line < 256 && next(4) == 0)
        l->line *= 2;
    l->policy = (enum cf_replacement)next(CF_MASTER_INDEX);
    l->ways = l->policy == CF_TREE_PLRU ? 1u << next(5) : 1 + next(24);
    l->sets = (uint32_t)(magnitude(least, most) / l->ways / l->line);
    if (next(2))
        while (l->sets & (l->sets - 1))
            l->sets &= l->sets - 1;
    l->size = (uint64_t)l->sets * l->ways * l->line;
    if (!l->sets || l->size < least || l->size > most)
        return -1;
    l->inclusion = i ? (enum cf_inclusion)next(3) : CF_NON_INCLUSIVE;
    if (l->inclusion == CF_EXCLUSIVE && l->line != m->level[0].line)
        l->inclusion = CF_NON_INCLUSIVE;
    return 0;
}

/* Machine `number`; ticks[PROBE_LEVELS + 1] of each level, and behind them of memory. */
static inline void make_machine(uint32_t number, struct cf_machine *m, uint32_t *ticks)
{
    unsigned levels;

    state = number * 7919u + 5;
    next(1);
    levels = 1 + next(3);
    memset(m, 0, sizeof *m);
    snprintf(m->name, sizeof m->name, "random");
    m->cpus = 1;
    m->levels = levels;
    for (unsigned i = 0; i < levels; i++)
        while (make_level(m, i, MOST >> 2 * (levels - 1 - i)) != 0)
            ;
    m->line_size = m->level[0].line;
    ticks[0] = 1 + next(6);
    for (unsigned i = 1; i <= levels; i++)
        ticks[i] = ticks[i - 1] + ticks[i - 1] / 4 + 1 + next(30);
}

#endif
