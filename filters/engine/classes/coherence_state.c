/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_state.c - private caches under invalidation, made for a geometry and freed, and what
 * they counted.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/coherence_parts.h"
#include "formats/base/cf_memory.h"

struct cf_coherence *cf_coherence_new(const struct cf_coherence_geometry *g)
{
    struct cf_coherence *c;
    uint64_t lines = (uint64_t)g->sets * g->ways;
    size_t bytes;

    if (g->cores < 1 || g->cores > CF_COHERENCE_CORES || !lines || g->line_shift < 2 ||
        g->line_shift > 16 || lines > SIZE_MAX / CF_LRU_UNIT / sizeof(uint32_t) / g->cores)
        return NULL;
    c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->g = *g;
    c->unit_shift = g->line_shift > 8 ? g->line_shift - 6 : 2;
    c->mask_bits = g->line_shift - c->unit_shift > 4 ? 64 : 16;
    c->times = c->mask_bits == 16 ? 1 + (g->cores + 1) / 2 : 2 + 2 * g->cores;
    while (1u << c->shift < c->times + g->cores)
        c->shift++;
    c->even = (g->sets & (g->sets - 1)) == 0;
    c->alone = g->outside && !g->no_allocate;
    c->first_core = CF_COHERENCE_CORES;
    c->through_sets = CF_SIMD_CHOICE(cf_coherence_through_sets);
    c->plain_rows = cf_cpu() == CF_CPU_NONE ? NULL : CF_SIMD_CHOICE(cf_coherence_plain_rows);
    c->slots = cf_slots_new();
    if (!c->slots)
        goto fail;
    if (!g->outside) {
        c->places = (uint32_t)cf_lru_room(g->ways);
        bytes = (size_t)g->sets * c->places * g->cores * sizeof(*c->ways);
        c->ways = cf_memory_take(bytes);
        if (!c->ways)
            goto fail;
        memset(c->ways, 0xff, bytes); /* CF_NO_SLOT */
    }
    for (unsigned i = 0; i < g->cores; i++) {
        c->full[i] = cf_full_new(lines);
        if (!c->full[i])
            goto fail;
    }
    return c;
fail:
    cf_coherence_free(c);
    return NULL;
}

void cf_coherence_free(struct cf_coherence *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->g.cores; i++)
        cf_full_free(c->full[i]);
    cf_slots_free(c->slots);
    free(c->ways);
    free(c->state);
    free(c);
}

const struct cf_class_counts *cf_coherence_counts(const struct cf_coherence *c)
{
    return &c->counts;
}

uint64_t cf_coherence_invalidations(const struct cf_coherence *c)
{
    return c->invalidations;
}
