/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_state.c - private caches under invalidation, made for a geometry and freed, and what
 * they counted.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/coherence_parts.h"

struct cf_coherence *cf_coherence_new(const struct cf_coherence_geometry *g)
{
    struct cf_coherence *c;
    uint64_t lines = (uint64_t)g->sets * g->ways;

    if (g->cores < 1 || g->cores > CF_COHERENCE_CORES || !lines || g->line_shift < 2 ||
        g->line_shift > 16 || lines > SIZE_MAX / sizeof(uint32_t) / g->cores)
        return NULL;
    c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->g = *g;
    c->unit_shift = g->line_shift > 8 ? g->line_shift - 6 : 2;
    c->mask_bits = g->line_shift - c->unit_shift > 4 ? 64 : 16;
    c->words = g->cores <= 2 && c->mask_bits == 16 ? 1 : 1 + (g->cores * c->mask_bits + 63) / 64;
    while ((uint64_t)1 << c->shift < c->words + (g->cores + 1) / 2)
        c->shift++;
    c->even = (g->sets & (g->sets - 1)) == 0;
    c->alone = g->outside && !g->no_allocate;
    c->first_core = CF_COHERENCE_CORES;
#ifdef HAVE_AVX512_COHERENCE
    c->vectors = !g->portable && __builtin_cpu_supports("avx512f") &&
                 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("bmi2");
#endif
    c->slots = cf_slots_new();
    if (!c->slots)
        goto fail;
#ifdef HAVE_AVX512_COHERENCE
    if (c->vectors && !g->outside && !g->no_allocate && g->cores == 2 && g->ways <= 8 && c->even &&
        c->words == 1) {
        c->pair = cf_pair_new(g);
        if (!c->pair)
            goto fail;
        return c;
    }
#endif
    if (!g->outside) {
        c->ways = malloc((size_t)lines * g->cores * sizeof(*c->ways));
        if (!c->ways)
            goto fail;
        memset(c->ways, 0xff, (size_t)lines * g->cores * sizeof(*c->ways)); /* CF_NO_SLOT */
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
#ifdef HAVE_AVX512_COHERENCE
    cf_pair_free(c->pair);
#endif
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
