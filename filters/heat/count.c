/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count.c - amounts by page and time bin, in one pass over rows whose last time is not known yet.
 *
 * Live counters, 64 pages a chunk, hold the bin that the time is in. When the time leaves it, what
 * was touched goes to the bin as cells {page, amount} of 8 bytes and the counters become 0 again.
 * Adaptive bins are 2^n ticks wide: when the time runs past the last of 4 * `bins` of them, pairs
 * are merged through the counters and the width doubles. Four times finer than asked, so that the
 * final bins, some of these together, fill at least two thirds of what was asked for.
 *
 * Memory: 512 bytes a chunk of touched pages, and 8 bytes a page and fine bin in which it was
 * touched; past FOLD_CELLS the bins get wider early, down to the number asked for. So it depends
 * on the pages that were touched and not on the length of the trace. A time that goes back costs
 * time but no memory: bins that were visited often are merged when they are entered again.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/heat/heat_parts.h"
#include "formats/base/cf_memory.h"

enum { TIMES = 32 }; /* that are compared at once */

/* Where a recent chunk stands. */
static uint32_t place_of(uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> (64 - RECENT_SHIFT));
}

static uint32_t new_chunk(struct heat *h, uint64_t key)
{
    const struct cf_tool *t = h->tool;
    const uint32_t c = h->chunks, slab = c >> SLAB_SHIFT;

    cf_must(t, cf_array_room(&h->chunk, &h->chunk_room, c + (size_t)1, sizeof *h->chunk));
    cf_must(t, cf_array_room(&h->slab, &h->slab_room, slab + (size_t)1, sizeof *h->slab));
    cf_must(t, cf_array_room(&h->dirty, &h->dirty_room, c + (size_t)1, sizeof *h->dirty));
    /* bit 31 of a page in a cell has another meaning */
    cf_must(t, c >= HIGH_PART / CHUNK);
    if (c % (1u << SLAB_SHIFT) == 0)
        h->slab[slab] = cf_need(t, calloc((size_t)CHUNK << SLAB_SHIFT, sizeof **h->slab));
    h->chunk[c] = (struct chunk){.key = key};
    return h->chunks++;
}

struct heat *heat_new(const struct cf_tool *t, uint32_t bins, uint64_t width, uint64_t origin)
{
    struct heat *h = cf_need(t, calloc(1, sizeof *h));

    h->tool = t;
    h->wanted = bins ? bins : 1;
    h->width = width;
    h->origin = origin;
    h->most = width ? HEAT_MOST_BINS : (size_t)h->wanted * FINER;
    for (size_t i = 0; i < sizeof h->recent / sizeof h->recent[0]; i++)
        h->recent[i].key = NOWHERE;
    h->number = cf_need(t, cf_counts_new());
    (void)new_chunk(h, NOWHERE);
    return h;
}

void heat_filter(struct heat *h, int (*f)(void *, uint32_t region), void *arg)
{
    h->filter = f;
    h->filter_arg = arg;
}

void heat_free_bins(struct heat *h)
{
    for (size_t b = 0; b < h->used; b++)
        free(h->bin[b].cell);
    free(h->bin);
    h->bin = NULL;
    h->used = h->room = 0;
}

void heat_free(struct heat *h)
{
    if (!h)
        return;
    heat_free_bins(h);
    for (uint32_t c = 0; c < h->chunks; c += 1u << SLAB_SHIFT)
        free(h->slab[c >> SLAB_SHIFT]);
    free(h->slab);
    free(h->chunk);
    free(h->dirty);
    cf_counts_free(h->number);
    free(h);
}

static void mark(struct heat *h, uint32_t chunk)
{
    if (!h->chunk[chunk].dirty) {
        h->chunk[chunk].dirty = 1;
        h->dirty[h->dirties++] = chunk;
    }
}

/* The counters of the chunk of a key, which becomes a recent one and is listed as dirty. */
static __attribute__((noinline)) uint64_t *find_chunk(struct heat *h, uint64_t key)
{
    struct recent *recent = &h->recent[place_of(key)];
    uint64_t *number = cf_need(h->tool, cf_counts_at(h->number, 0, key));
    uint32_t c;

    if (!*number) {
        c = new_chunk(h, key);
        *number = c + 1;
        h->chunk[c].ignored = h->filter && !h->filter(h->filter_arg, region_of(key));
    }
    c = (uint32_t)*number - 1;
    if (h->chunk[c].ignored)
        c = 0;
    else
        mark(h, c);
    *recent = (struct recent){.key = key, .live = live_of(h, c)};
    return recent->live;
}

/* Moves the cells of a bin back into the counters. */
static void restore_counters(struct heat *h, struct bin *b)
{
    for (size_t i = 0; i < b->cells; i++) {
        uint64_t *live = counter_of(h, &b->cell[i]);

        *live = cf_sum(*live, amount_of(&b->cell[i]));
        mark(h, (b->cell[i].page & ~HIGH_PART) >> CHUNK_SHIFT);
    }
    h->cells -= b->cells;
    b->cells = b->merged = 0;
}

/* A bin is filled once as a rule: only one that grows again gets room to spare. */
static void room_for(struct heat *h, struct bin *b, size_t more)
{
    const size_t least = b->cells + more, room = b->cells ? least + least / 2 : least;

    if (least <= b->room)
        return;
    b->cell = cf_need(h->tool, realloc(b->cell, room * sizeof *b->cell));
    b->room = room;
}

void heat_flush(struct heat *h, struct bin *b)
{
    int fresh = b->cells == 0;
    size_t cells = 0;
    struct cell *to;

    for (uint32_t d = 0; d < h->dirties; d++) {
        const uint64_t *live = live_of(h, h->dirty[d]);
        for (unsigned i = 0; i < CHUNK; i++)
            cells += ((uint32_t)live[i] != 0) + (live[i] >> 32 != 0);
    }
    room_for(h, b, cells + 1); /* one is written in vain */
    to = b->cell + b->cells;
    for (uint32_t d = 0; d < h->dirties; d++) {
        uint32_t c = h->dirty[d];
        uint64_t *live = live_of(h, c), key = h->chunk[c].key;
        struct recent *recent = &h->recent[place_of(key)];

        for (uint32_t i = 0; i < CHUNK; i++) {
            uint32_t low = (uint32_t)live[i], high = (uint32_t)(live[i] >> 32);

            *to = (struct cell){c * CHUNK + i, low};
            to += low != 0; /* not branched on: few are foreseen */
            if (high)
                *to++ = (struct cell){(c * CHUNK + i) | HIGH_PART, high};
            live[i] = 0;
        }
        h->chunk[c].dirty = 0;
        /* so that the next touch comes by find_chunk(), which lists the chunk again */
        if (recent->key == key)
            recent->key = NOWHERE;
    }
    b->cells += cells;
    h->dirties = 0;
    h->cells += cells;
    h->most_cells = h->cells > h->most_cells ? h->cells : h->most_cells;
    if (fresh)
        b->merged = b->cells;
}

void heat_merge(struct heat *h, struct bin *to, struct bin *from, size_t count)
{
    struct bin one = {0};
    size_t filled = 0;

    for (size_t i = 0; i < count; i++) {
        if (from[i].cells) {
            one = from[i];
            filled++;
        }
    }
    if (filled > 1) {
        one = (struct bin){0};
        for (size_t i = 0; i < count; i++)
            restore_counters(h, &from[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (filled != 1 || from[i].cells == 0)
            free(from[i].cell);
        from[i] = (struct bin){0};
    }
    *to = one;
    if (filled > 1)
        heat_flush(h, to);
}

void heat_fold(struct heat *h)
{
    uint64_t base = h->base >> 1;
    size_t used = (size_t)(((h->base + h->used - 1) >> 1) - base) + 1;

    for (size_t to = 0, from = 0; to < used; to++) {
        /* an odd first bin has no partner */
        size_t count = (to == 0 && (h->base & 1)) || from + 1 == h->used ? 1 : 2;
        heat_merge(h, &h->bin[to], &h->bin[from], count);
        from += count;
    }
    h->base = base;
    h->used = used;
    h->shift++;
}

/* Makes room for bins so that there is one with the number `bin`. -1 where that are too many. */
static int reach(struct heat *h, uint64_t bin)
{
    uint64_t first = h->used && h->base < bin ? h->base : bin;
    uint64_t last = h->used && h->base + h->used - 1 > bin ? h->base + h->used - 1 : bin;
    size_t count, before;

    if (last - first >= h->most)
        return -1;
    count = (size_t)(last - first) + 1;
    before = h->used ? (size_t)(h->base - first) : 0;
    cf_must(h->tool, cf_array_room(&h->bin, &h->room, count, sizeof *h->bin));
    if (before)
        memmove(h->bin + before, h->bin, h->used * sizeof *h->bin);
    memset(h->bin, 0, before * sizeof *h->bin);
    memset(h->bin + before + h->used, 0, (count - before - h->used) * sizeof *h->bin);
    h->base = first;
    h->used = count;
    return 0;
}

int heat_enter(struct heat *h, uint64_t time)
{
    uint64_t bin;

    if (h->inside)
        heat_flush(h, &h->bin[h->current]);
    h->inside = 0;
    if (h->width) {
        bin = (time - h->origin) / h->width;
        if (reach(h, bin) != 0)
            return -1;
        h->low = h->origin + bin * h->width;
        h->span = h->width;
    } else {
        while (reach(h, time >> h->shift) != 0 || (h->cells > FOLD_CELLS && h->used > h->wanted))
            heat_fold(h);
        bin = time >> h->shift;
        h->low = bin << h->shift;
        h->span = 1ull << h->shift;
    }
    h->current = (size_t)(bin - h->base);
    if (h->bin[h->current].cells > 2 * h->bin[h->current].merged + 1024)
        restore_counters(h, &h->bin[h->current]);
    h->inside = 1;
    return 0;
}

/* Counts rows of one bin, those of h->chosen or `count` of them from `first` on; the loop that all
   the work is in. The flags are constants where it is called, so that each use becomes a loop of
   its own. */
static inline __attribute__((always_inline)) void count_rows(struct heat *h,
                                                             const struct heat_rows *r,
                                                             uint32_t first, uint32_t count,
                                                             int chosen, int resolved, int weighted)
{
    const uint32_t *region = r->region, *page = r->page;
    const uint64_t *addr = r->addr;

    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = chosen ? h->chosen[k] : first + k;
        uint64_t key, number, *live;
        struct recent *recent;

        if (resolved && region[i]) {
            number = page[i];
            key = (uint64_t)region[i] << (32 - CHUNK_SHIFT) | number >> CHUNK_SHIFT;
        } else {
            number = addr ? addr[i] >> HEAT_PAGE_SHIFT : page ? page[i] : 0;
            key = UNRESOLVED | number >> CHUNK_SHIFT;
        }
        recent = &h->recent[place_of(key)];
        live = recent->key == key ? recent->live : find_chunk(h, key);
        live += number & (CHUNK - 1);
        *live = weighted ? cf_sum(*live, r->amount[i]) : *live + 1;
    }
}

static inline __attribute__((always_inline)) void
count_any(struct heat *h, const struct heat_rows *r, uint32_t first, uint32_t count, int chosen)
{
    int resolved = r->region && r->page;

    if (resolved && !r->amount)
        count_rows(h, r, first, count, chosen, 1, 0);
    else if (resolved)
        count_rows(h, r, first, count, chosen, 1, 1);
    else if (!r->amount)
        count_rows(h, r, first, count, chosen, 0, 0);
    else
        count_rows(h, r, first, count, chosen, 0, 1);
}

/* The first row from `a` on whose time is not in the current bin, or not wanted. Mostly there is
   none: blocks are looked at as a whole, without a branch a row. */
static uint32_t bin_end(const struct heat *h, const struct heat_rows *r, uint32_t a)
{
    const uint64_t last = cf_sum(h->low, h->span - 1);
    const uint64_t from = r->from > h->low ? r->from : h->low;
    const uint64_t length = (r->to < last ? r->to : last) - from;
    const uint64_t *times = r->times;

    for (; r->rows - a >= TIMES; a += TIMES) {
        int out = 0;

        for (unsigned i = 0; i < TIMES; i++)
            out |= times[a + i] - from > length;
        if (out)
            break;
    }
    while (a < r->rows && times[a] - from <= length)
        a++;
    return a;
}

int heat_add(struct heat *h, const struct heat_rows *r)
{
    for (uint32_t a = 0, b; a < r->rows; a = b) {
        uint64_t time = r->times ? r->times[a] : r->time;
        uint32_t chosen = 0;

        if (time < r->from || time > r->to) {
            b = r->times ? a + 1 : r->rows;
            continue;
        }
        if ((!h->inside || time - h->low >= h->span) && heat_enter(h, time) != 0)
            return -1;
        b = r->times ? bin_end(h, r, a) : r->rows;
        for (uint32_t i = a; r->kind && i < b; i++) {
            h->chosen[chosen] = (uint16_t)i;
            chosen += r->pass[r->kind[i]];
        }
        if (r->kind)
            count_any(h, r, 0, chosen, 1);
        else
            count_any(h, r, a, b - a, 0);
    }
    return 0;
}
