/* SPDX-License-Identifier: BSD-2-Clause */
/* levels.c - which levels an access goes through, as "Levels" in cf-machine(5) has it. */
#include "tests/reference/model.h"

int serves(const struct level *l, int fetch)
{
    return l->kind == UNIFIED || l->kind == (fetch ? INSTRUCTION : DATA);
}

/* The next level outwards for accesses of a kind. */
int behind(const struct machine *m, int level, int fetch)
{
    for (int i = level + 1; i < (int)m->levels; i++)
        if (serves(&m->level[i], fetch))
            return i;
    return MEMORY;
}

int first_level(const struct machine *m, int fetch)
{
    return behind(m, -1, fetch);
}

/* The way of what is written: that of data, unless the cache is one for instructions. */
int behind_writes(const struct machine *m, int level)
{
    return behind(m, level, m->level[level].kind == INSTRUCTION);
}

/* Do some accesses come through `inner` to `outer`? */
int is_before(const struct machine *m, int inner, int outer)
{
    for (int fetch = 0; fetch < 2; fetch++)
        if (inner < outer && serves(&m->level[inner], fetch) && serves(&m->level[outer], fetch))
            return 1;
    return 0;
}

static int has_before(const struct machine *m, int level)
{
    for (int i = 0; i < level; i++)
        if (is_before(m, i, level))
            return 1;
    return 0;
}

int is_exclusive(const struct machine *m, int level)
{
    return level != MEMORY && m->level[level].inclusion == EXCLUSIVE && has_before(m, level);
}

unsigned caches_of(const struct machine *m, int level)
{
    return (m->cores + m->level[level].shared_by - 1) / m->level[level].shared_by;
}

unsigned cache_of(const struct machine *m, int level, unsigned core)
{
    return core / m->level[level].shared_by;
}

/* Are caches `a` and `b` of one core? */
int same_core(const struct machine *m, int level_a, unsigned a, int level_b, unsigned b)
{
    for (unsigned core = 0; core < m->cores; core++)
        if (cache_of(m, level_a, core) == a && cache_of(m, level_b, core) == b)
            return 1;
    return 0;
}

/* cf-cache(1), The model: what is not modelled. */
const char *not_modelled(const struct machine *m)
{
    for (int i = 0; i < (int)m->levels; i++) {
        const struct level *l = &m->level[i];

        for (int k = 0; k < i; k++) {
            const struct level *b = &m->level[k];

            if (!is_before(m, k, i))
                continue;
            if (b->line > l->line)
                return "lines that become shorter";
            if (b->depth >= l->depth)
                return "a level that is not deeper than one before it";
            for (unsigned c = 0; c < m->cores; c++)
                for (unsigned d = 0; d < m->cores; d++)
                    if (cache_of(m, k, c) == cache_of(m, k, d) &&
                        cache_of(m, i, c) != cache_of(m, i, d))
                        return "CPUs that share a first but not a second level";
            if (is_exclusive(m, i) && b->line != l->line)
                return "exclusive, with lines of another size";
            if (l->inclusion == INCLUSIVE && l->kind != UNIFIED && b->kind == UNIFIED)
                return "inclusive, behind what holds lines that it never sees";
        }
        if (!is_exclusive(m, i))
            continue;
        if (l->through || l->prefetcher)
            return "exclusive, and writes through or prefetches";
        if (first_level(m, 0) == i || first_level(m, 1) == i)
            return "exclusive, with no level before it that keeps its lines";
    }
    return NULL;
}
