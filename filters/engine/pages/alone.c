/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alone.c - what each page gains when it alone is cached, in one reading (see pages.h).
 *
 * The caches without bounds are those of the machine with one way and a set for every line of a
 * block of frames, so that what the machine says of writes, inclusion and coherence holds. Blocks
 * are made as frames come.
 *
 * Memory: 16 bytes a line of each frame and cache, 8 a page and core.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy.h"
#include "filters/engine/pages/pages.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

enum { BLOCK = 4096 }; /* frames of a block */

struct cf_alone {
    const struct cf_paged_machine *m;
    struct cf_machine wide; /* the machine with caches of BLOCK frames */
    struct cf_hierarchy **block;
    size_t blocks;
    int64_t *gain; /* by page and core */
    size_t pages;
    struct {
        uint64_t addr[CF_FILE_ROWS];
        uint32_t size[CF_FILE_ROWS], row[CF_FILE_ROWS];
        uint8_t op[CF_FILE_ROWS], core[CF_FILE_ROWS], hit[CF_FILE_ROWS];
    } of; /* rows of a block */
};

uint32_t cf_alone_frames(const struct cf_paged_machine *m)
{
    uint32_t least = UINT32_MAX;

    for (unsigned i = 0; i < m->machine->levels; i++) {
        const struct cf_level *l = &m->machine->level[i];
        const uint32_t lines = m->page_size / l->line ? m->page_size / l->line : 1;
        const uint32_t together = (lines + l->sets - 1) / l->sets; /* of a frame in a set */
        /* where the core decides on the way, two lines of one core are one too many */
        const uint32_t ways = cf_policy_traits(l->policy) & CF_POLICY_BY_CORE ? 1 : l->ways;

        if (l->line > m->page_size)
            return 0;
        least = ways / together < least ? ways / together : least;
    }
    return least;
}

struct cf_alone *cf_alone_new(const struct cf_paged_machine *m, char *problem, size_t size)
{
    struct cf_alone *a = cf_memory_take(sizeof *a);

    if (!a) {
        snprintf(problem, size, "no memory");
        errno = ENOMEM;
        return NULL;
    }
    a->m = m;
    a->wide = *m->machine;
    a->block = NULL;
    a->gain = NULL;
    a->blocks = a->pages = 0;
    for (unsigned i = 0; i < a->wide.levels; i++) {
        struct cf_level *l = &a->wide.level[i];

        l->sets = BLOCK * (m->page_size / l->line);
        l->ways = 1;
        l->policy = CF_LRU;
    }
    return a;
}

void cf_alone_free(struct cf_alone *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->blocks; i++)
        cf_hierarchy_free(a->block[i]);
    free(a->block);
    free(a->gain);
    free(a);
}

static int block_rows(struct cf_alone *a, size_t block, const struct cf_paged *rows)
{
    const struct cf_hierarchy_options o = {.cores = a->m->cores};
    const uint64_t within = a->m->page_size - 1;
    char problem[512];
    uint32_t n = 0;

    for (uint32_t i = 0; i < rows->rows; i++) {
        const uint32_t frame = rows->frame[i];

        a->of.addr[n] = (uint64_t)(frame % BLOCK) * a->m->page_size | (rows->addr[i] & within);
        a->of.size[n] = rows->size[i];
        a->of.op[n] = rows->op[i];
        a->of.core[n] = rows->core[i];
        a->of.row[n] = i;
        n += frame / BLOCK == block;
    }
    if (n && !a->block[block])
        a->block[block] = cf_hierarchy_new(&a->wide, &o, problem, sizeof problem);
    if (n &&
        (!a->block[block] || cf_hierarchy_rows(a->block[block], a->of.addr, a->of.op, a->of.size, n,
                                               a->of.core, cf_paged_space, a->of.hit)))
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        const unsigned key = cf_latency_key(a->of.hit[i], a->of.op[i]);

        a->gain[rows->page[a->of.row[i]] * (size_t)a->m->cores + a->of.core[i]] +=
            (int64_t)cf_paged_uncached(a->m, rows, a->of.row[i]) - (int64_t)a->m->cost[key];
    }
    return 0;
}

int cf_alone_rows(struct cf_alone *a, const struct cf_paged *rows)
{
    uint32_t page = 0, frame = 0;

    for (uint32_t i = 0; i < rows->rows; i++) {
        page = rows->page[i] > page ? rows->page[i] : page;
        frame = rows->frame[i] > frame ? rows->frame[i] : frame;
    }
    if (!rows->rows)
        return 0;
    if (cf_array_cleared(&a->gain, &a->pages, page + (size_t)1, a->m->cores * sizeof *a->gain) !=
            0 ||
        cf_array_cleared(&a->block, &a->blocks, frame / BLOCK + (size_t)1, sizeof *a->block) != 0)
        return -1;
    for (size_t b = 0; b <= frame / BLOCK; b++)
        if (block_rows(a, b, rows) != 0)
            return -1;
    return 0;
}

int64_t cf_alone_gain(const struct cf_alone *a, uint32_t page, unsigned core)
{
    return page < a->pages ? a->gain[page * (size_t)a->m->cores + core] : 0;
}
