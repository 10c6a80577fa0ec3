/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prefetchers of one cache: tagged next-line, and stride by page (sources in hierarchy.h).
 *
 * Both stay inside a page of 4 KiB, as hardware does that sees physical addresses. Lines that were
 * brought and not asked for yet stand in a hash set: open addressing, linear probing, at most half
 * full since there are at most as many as the cache has lines; removal moves back what follows, so
 * that no gravestones pile up.
 */
#include <stdlib.h>

#include "filters/engine/cache/hierarchy_parts.h"
#include "formats/base/cf_hash.h"

enum { PAGES = 64, PAGE_SHIFT = 12 };

struct prefetcher {
    enum cf_prefetcher kind;
    unsigned page_shift; /* log2 of the lines in a page; 0 where a line is a page or more */
    uint64_t mask;
    struct cf_seed seed;
    uint64_t *line; /* the set; NO_LINE is a free place */
    struct {
        uint64_t page, last;
        int64_t stride;
    } page[PAGES];
};

struct prefetcher *cfh_prefetcher_new(enum cf_prefetcher kind, unsigned shift, uint64_t lines)
{
    struct prefetcher *p = calloc(1, sizeof *p);
    uint64_t room = 16;

    if (!p)
        return NULL;
    while (room < lines * 2 + 2)
        room *= 2;
    p->kind = kind;
    p->page_shift = shift < PAGE_SHIFT ? PAGE_SHIFT - shift : 0;
    p->mask = room - 1;
    p->seed = cf_seed(p);
    p->line = malloc(room * sizeof *p->line);
    if (!p->line) {
        free(p);
        return NULL;
    }
    for (uint64_t i = 0; i < room; i++)
        p->line[i] = NO_LINE;
    for (unsigned i = 0; i < PAGES; i++)
        p->page[i].page = NO_LINE;
    return p;
}

void cfh_prefetcher_free(struct prefetcher *p)
{
    if (!p)
        return;
    free(p->line);
    free(p);
}

static uint64_t home(const struct prefetcher *p, uint64_t line)
{
    return cf_hash(p->seed, 0, line) & p->mask;
}

void cfh_prefetcher_brought(struct prefetcher *p, uint64_t line)
{
    uint64_t i = home(p, line);

    while (p->line[i] != NO_LINE && p->line[i] != line)
        i = (i + 1) & p->mask;
    p->line[i] = line;
}

/* 1 when the line was in the set. */
static int take(struct prefetcher *p, uint64_t line)
{
    uint64_t i = home(p, line), k;

    while (p->line[i] != line) {
        if (p->line[i] == NO_LINE)
            return 0;
        i = (i + 1) & p->mask;
    }
    for (k = (i + 1) & p->mask; p->line[k] != NO_LINE; k = (k + 1) & p->mask) {
        uint64_t way = (k - home(p, p->line[k])) & p->mask;

        /* it may move to the gap if that does not lie before its home */
        if (way >= ((k - i) & p->mask)) {
            p->line[i] = p->line[k];
            i = k;
        }
    }
    p->line[i] = NO_LINE;
    return 1;
}

void cfh_prefetcher_lost(struct prefetcher *p, uint64_t line)
{
    (void)take(p, line);
}

static int in_page(const struct prefetcher *p, uint64_t line, uint64_t other)
{
    return p->page_shift && line >> p->page_shift == other >> p->page_shift;
}

static int next_stride(struct prefetcher *p, uint64_t line, uint64_t *wanted)
{
    const uint64_t page = line >> p->page_shift;
    const unsigned i = page % PAGES;
    int64_t step;

    if (p->page[i].page != page) {
        p->page[i].page = page;
        p->page[i].last = line;
        p->page[i].stride = 0;
        return 0;
    }
    step = (int64_t)(line - p->page[i].last);
    if (step == 0)
        return 0;
    p->page[i].last = line;
    if (step != p->page[i].stride) {
        p->page[i].stride = step;
        return 0;
    }
    *wanted = line + (uint64_t)step;
    return in_page(p, line, *wanted);
}

int cfh_prefetcher_demand(struct prefetcher *p, uint64_t line, int hit, int *useful,
                          uint64_t *wanted)
{
    *useful = hit && take(p, line);
    if (p->kind == CF_PREFETCH_STRIDE)
        return next_stride(p, line, wanted);
    *wanted = line + 1;
    return (!hit || *useful) && in_page(p, line, line + 1);
}
