/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map.c - from what was counted to a map: bands by their totals, rows by page, cells by time.
 *
 * In: the counters and cells of count.c, which it uses up. Out: struct heat_map. Memory: about 20
 * bytes a page and final bin.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/heat/heat_parts.h"
#include "formats/base/cf_number.h"

struct place {
    uint64_t page, total;
    uint32_t band, id; /* id: the page of its cells */
};

static int by_region(const void *a, const void *b)
{
    return cf_order(((const struct heat_band *)a)->region, ((const struct heat_band *)b)->region);
}

static int by_total(const void *a, const void *b)
{
    const struct heat_band *x = a, *y = b;

    return cf_order(y->total, x->total) ?: strcmp(x->name, y->name) ?: by_region(a, b);
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return cf_order(x->band, y->band) ?: cf_order(x->page, y->page);
}

/* One band a region that has a chunk, in the order of the regions. */
static void make_bands(struct heat *h, struct heat_map *map)
{
    uint32_t n = 0;

    map->band = cf_need(h->tool, calloc((size_t)h->chunks, sizeof *map->band));
    for (uint32_t c = 1; c < h->chunks; c++) {
        uint32_t region = region_of(h->chunk[c].key);
        if (!h->chunk[c].ignored && (!n || map->band[n - 1].region != region))
            map->band[n++].region = region;
    }
    qsort(map->band, n, sizeof *map->band, by_region);
    for (uint32_t b = 0; b < n; b++) {
        if (!map->bands || map->band[map->bands - 1].region != map->band[b].region)
            map->band[map->bands++] = map->band[b];
    }
}

/* Adds up the cells by page into places (one a page that has any), and by band. The counters hold
   the totals meanwhile. */
static struct place *make_places(struct heat *h, struct heat_map *map)
{
    struct place *place;
    uint32_t n = 0;

    for (size_t b = 0; b < h->used; b++) {
        for (size_t i = 0; i < h->bin[b].cells; i++) {
            uint64_t *live = counter_of(h, &h->bin[b].cell[i]);

            n += *live == 0;
            *live = cf_sum(*live, amount_of(&h->bin[b].cell[i]));
        }
    }
    place = cf_need(h->tool, malloc((n + 1) * sizeof *place));
    map->rows = n;
    n = 0;
    for (uint32_t c = 1; c < h->chunks; c++) {
        const uint64_t *live = live_of(h, c);
        uint64_t key = h->chunk[c].key;
        struct heat_band wanted = {.region = region_of(key)}, *band;

        if (h->chunk[c].ignored)
            continue;
        band = bsearch(&wanted, map->band, map->bands, sizeof wanted, by_region);
        for (uint32_t i = 0; i < CHUNK; i++) {
            if (!live[i])
                continue;
            place[n].id = c * CHUNK + i;
            place[n].page = ((key & ~UNRESOLVED) << CHUNK_SHIFT) + i;
            if (!(key & UNRESOLVED))
                place[n].page = (uint32_t)place[n].page;
            place[n].total = live[i];
            place[n++].band = (uint32_t)(band - map->band);
            band->total = cf_sum(band->total, live[i]);
            band->rows++;
            map->total = cf_sum(map->total, live[i]);
        }
    }
    return place;
}

/* Orders the bands by their totals and drops those that have no rows. */
static void order_bands(const struct cf_tool *t, struct heat_map *map, struct place *place,
                        const char *(*name)(void *, uint32_t), void *arg)
{
    uint32_t *rank = cf_need(t, malloc((map->bands + 1) * sizeof *rank));
    uint32_t first = 0;

    for (uint32_t b = 0; b < map->bands; b++) {
        map->band[b].name = name(arg, map->band[b].region);
        map->band[b].first = b;
    }
    qsort(map->band, map->bands, sizeof *map->band, by_total);
    for (uint32_t b = 0; b < map->bands; b++) {
        rank[map->band[b].first] = b;
        map->band[b].first = first;
        first += map->band[b].rows;
    }
    for (uint32_t i = 0; i < map->rows; i++)
        place[i].band = rank[place[i].band];
    while (map->bands && !map->band[map->bands - 1].rows)
        map->bands--;
    qsort(place, map->rows, sizeof *place, by_place);
    free(rank);
}

/* Deals the cells out to their rows. The counter of a page holds its row and then, as a bin's low
   and high part of one page follow each other, nothing else is needed. */
static void deal(struct heat *h, struct heat_map *map, const struct place *place)
{
    uint64_t first = 0;

    map->row = cf_need(h->tool, calloc((size_t)map->rows + 1, sizeof *map->row));
    map->bin = cf_need(h->tool, malloc((h->cells + 1) * sizeof *map->bin));
    map->value = cf_need(h->tool, malloc((h->cells + 1) * sizeof *map->value));
    for (uint32_t i = 0; i < map->rows; i++) {
        uint32_t id = place[i].id;
        map->row[i].page = place[i].page;
        map->row[i].total = place[i].total;
        map->row[i].band = place[i].band;
        live_of(h, id >> CHUNK_SHIFT)[id & (CHUNK - 1)] = i;
    }
    for (size_t b = 0; b < h->used; b++)
        for (size_t i = 0; i < h->bin[b].cells; i++)
            map->row[*counter_of(h, &h->bin[b].cell[i])].first++;
    for (uint32_t i = 0; i < map->rows; i++) {
        uint64_t room = map->row[i].first;
        map->row[i].first = first;
        first += room;
    }
    for (size_t b = 0; b < h->used; b++) {
        for (size_t i = 0; i < h->bin[b].cells; i++) {
            const struct cell *cell = &h->bin[b].cell[i];
            struct heat_row *row = &map->row[*counter_of(h, cell)];
            uint64_t at = row->first + row->cells, amount = amount_of(cell);

            if (row->cells && map->bin[at - 1] == b) {
                at--;
                map->value[at] = cf_sum(map->value[at], amount);
            } else {
                map->bin[at] = (uint32_t)b;
                map->value[at] = amount;
                row->cells++;
                map->cells++;
            }
            if (map->value[at] > map->peak)
                map->peak = map->value[at];
        }
        free(h->bin[b].cell);
        h->bin[b] = (struct bin){0};
    }
}

void heat_bound(struct heat *h, uint64_t cells)
{
    h->bound = cells;
}

/* Puts fine bins together, so that at most the wanted number remain and cells are one a page;
   returns how many make one. */
static uint64_t settle(struct heat *h)
{
    uint64_t group = h->width || !h->used ? 1 : (h->used + h->wanted - 1) / h->wanted;

    for (uint64_t step = group;; step = 2, group *= 2) {
        size_t bins = 0;

        for (size_t b = 0; b < h->used; b += step) {
            size_t count = h->used - b < step ? h->used - b : (size_t)step;
            heat_merge(h, &h->bin[bins++], &h->bin[b], count);
        }
        h->used = bins;
        if (!h->bound || h->cells <= h->bound || bins <= 256)
            return group;
    }
}

const char *heat_region_name(void *reader, uint32_t region)
{
    const char *name = region ? cf_reader_text(reader, region) : "";

    return *name ? name : "[unresolved]";
}

void heat_finish(struct heat *h, const char *(*name)(void *, uint32_t region), void *arg,
                 struct heat_map *map)
{
    struct place *place;
    uint64_t group;

    if (h->inside)
        heat_flush(h, &h->bin[h->current]);
    h->inside = 0;
    group = settle(h);
    map->bins = (uint32_t)h->used;
    if (h->width) {
        map->start = h->origin + h->base * h->width;
        map->width = h->width * group;
    } else {
        map->start = h->base << h->shift;
        map->width = group << h->shift >> h->shift == group ? group << h->shift : UINT64_MAX;
    }
    make_bands(h, map);
    place = make_places(h, map);
    order_bands(h->tool, map, place, name, arg);
    deal(h, map, place);
    free(place);
    heat_free_bins(h);
}

void heat_map_free(struct heat_map *map)
{
    free(map->band);
    free(map->row);
    free(map->bin);
    free(map->value);
    memset(map, 0, sizeof *map);
}

uint64_t heat_bin_start(const struct heat_map *map, uint64_t bin)
{
    return cf_sum(map->start, cf_product(bin, map->width));
}
