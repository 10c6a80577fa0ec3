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
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy.h"
#include "filters/engine/pages/pages.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

enum { MOST_SHIFT = 12, BLOCK_BYTES = 1 << 26 }; /* log2 of frames, and bytes, of a block */

struct cf_alone {
    const struct cf_paged_machine *m;
    struct cf_machine wide; /* the machine with caches of a block's frames */
    unsigned shift;         /* log2 of the frames of a block */
    struct cf_hierarchy **block;
    size_t blocks;
    int64_t *gain; /* by page and core */
    size_t pages;
    struct {
        uint64_t addr[CF_FILE_ROWS];
        uint32_t size[CF_FILE_ROWS], row[CF_FILE_ROWS];
        uint8_t op[CF_FILE_ROWS], core[CF_FILE_ROWS], hit[CF_FILE_ROWS];
    } of;          /* rows by block */
    uint32_t *end; /* of each block's among them */
    size_t ends;
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

struct cf_alone *cf_alone_new(const struct cf_paged_machine *m)
{
    struct cf_alone *a = cf_memory_take(sizeof *a);
    uint64_t bytes = 0; /* a frame */

    if (!a)
        return NULL;
    a->m = m;
    a->wide = *m->machine;
    a->block = NULL;
    a->gain = NULL;
    a->end = NULL;
    a->blocks = a->pages = a->ends = 0;
    for (unsigned i = 0; i < a->wide.levels; i++)
        bytes += (uint64_t)(m->page_size / a->wide.level[i].line) * 16 *
                 cf_paged_caches(m, &a->wide.level[i]);
    for (a->shift = MOST_SHIFT; a->shift && bytes << a->shift > BLOCK_BYTES;)
        a->shift--;
    for (unsigned i = 0; i < a->wide.levels; i++) {
        struct cf_level *l = &a->wide.level[i];

        l->sets = (m->page_size / l->line) << a->shift;
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
    free(a->end);
    free(a);
}

/* Sorts the rows by the blocks of their frames. */
static void sort(struct cf_alone *a, const struct cf_paged *rows, size_t blocks)
{
    const uint64_t within = a->m->page_size - 1;
    uint32_t sum = 0;

    memset(a->end, 0, blocks * sizeof *a->end);
    for (uint32_t i = 0; i < rows->rows; i++)
        a->end[rows->frame[i] >> a->shift]++;
    for (size_t b = 0; b < blocks; b++) {
        const uint32_t count = a->end[b];

        a->end[b] = sum; /* where it begins, until its rows are there */
        sum += count;
    }
    for (uint32_t i = 0; i < rows->rows; i++) {
        const uint32_t frame = rows->frame[i], to = a->end[frame >> a->shift]++;

        a->of.addr[to] =
            (uint64_t)(frame & ((1u << a->shift) - 1)) * a->m->page_size | (rows->addr[i] & within);
        a->of.size[to] = rows->size[i];
        a->of.op[to] = rows->op[i];
        a->of.core[to] = rows->core[i];
        a->of.row[to] = i;
    }
}

static int block_rows(struct cf_alone *a, size_t block, uint32_t from, uint32_t to)
{
    const struct cf_hierarchy_options o = {.cores = a->m->cores};
    char problem[512];

    if (from < to && !a->block[block])
        a->block[block] = cf_hierarchy_new(&a->wide, &o, problem, sizeof problem);
    if (from == to)
        return 0;
    return a->block[block] ? cf_hierarchy_rows(a->block[block], a->of.addr + from, a->of.op + from,
                                               a->of.size + from, to - from, a->of.core + from,
                                               cf_paged_space, a->of.hit + from)
                           : -1;
}

int cf_alone_rows(struct cf_alone *a, const struct cf_paged *rows)
{
    uint32_t page = 0, frame = 0;
    size_t blocks;

    for (uint32_t i = 0; i < rows->rows; i++) {
        page = rows->page[i] > page ? rows->page[i] : page;
        frame = rows->frame[i] > frame ? rows->frame[i] : frame;
    }
    blocks = (frame >> a->shift) + (size_t)1;
    if (cf_array_cleared(&a->gain, &a->pages, page + (size_t)1, a->m->cores * sizeof *a->gain) ||
        cf_array_cleared(&a->block, &a->blocks, blocks, sizeof *a->block) ||
        cf_array_room(&a->end, &a->ends, blocks, sizeof *a->end))
        return -1;
    sort(a, rows, blocks);
    for (size_t b = 0; b < blocks; b++)
        if (block_rows(a, b, b ? a->end[b - 1] : 0, a->end[b]) != 0)
            return -1;
    for (uint32_t i = 0; i < rows->rows; i++) {
        const unsigned key = cf_latency_key(a->of.hit[i], a->of.op[i]);
        const uint32_t row = a->of.row[i];

        a->gain[rows->page[row] * (size_t)a->m->cores + a->of.core[i]] +=
            (int64_t)cf_paged_uncached(a->m, rows, row) - (int64_t)a->m->cost[key];
    }
    return 0;
}

int64_t cf_alone_gain(const struct cf_alone *a, uint32_t page, unsigned core)
{
    return page < a->pages ? a->gain[page * (size_t)a->m->cores + core] : 0;
}
