/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c - the functions that account for most of a page in a stretch of time, for a page that
 * names them where one points at the map.
 *
 * In: the rows that count.c counts, with a function each. Out: cells of a page and a bin of time,
 * each with its sum and up to HEAT_NAMED functions. Which, and a lower bound of what each counts,
 * is found by frequent counting: Misra and Gries, "Finding repeated elements", Science of Computer
 * Programming 2, 1982; weighted and merged as in Agarwal et al., "Mergeable summaries", PODS 2012.
 * A function of more than a fifth of a cell is always among them; none is short of more than that.
 *
 * Bins are 2^n ticks wide, at most BINS of them. Memory: at most CELLS cells, some 30 MB; where
 * there would be more, bins get twice as wide, down to FEWEST; then further cells have no names.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/heat/heat.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

enum { BINS = 256, FEWEST = 8, CELLS = 1 << 17, RECENT_SHIFT = 10, RECENT = 1 << RECENT_SHIFT };

struct heat_names {
    const struct cf_tool *tool;
    struct heat_named *cell;
    size_t cells, room;
    struct cf_counts *number; /* of the cell of a place and bin, plus one */
    struct cf_counts *wanted; /* of a region: 1 = yes, 2 = no */
    unsigned shift;
    uint64_t low, high;      /* bins, where there is a cell */
    uint32_t recent[RECENT]; /* cells, plus one, by their places */
    int (*filter)(void *, uint32_t);
    void *filter_arg;
};

struct heat_names *heat_names_new(const struct cf_tool *t, int (*filter)(void *, uint32_t region),
                                  void *arg)
{
    struct heat_names *n = cf_tool_room(t, 1, sizeof *n);

    n->tool = t;
    n->number = cf_need(t, cf_counts_new());
    n->wanted = cf_need(t, cf_counts_new());
    n->filter = filter;
    n->filter_arg = arg;
    return n;
}

void heat_names_free(struct heat_names *n)
{
    if (!n)
        return;
    cf_counts_free(n->number);
    cf_counts_free(n->wanted);
    free(n->cell);
}

/* Frequent counting with HEAT_NAMED counters. */
static void add_function(struct heat_named *c, uint32_t function, uint64_t amount)
{
    uint64_t least = amount;
    unsigned i, empty = HEAT_NAMED;

    for (i = 0; i < HEAT_NAMED && c->function[i] != function; i++) {
        if (!c->count[i])
            empty = i;
        else if (c->count[i] < least)
            least = c->count[i];
    }
    if (i == HEAT_NAMED && empty == HEAT_NAMED) {
        for (unsigned k = 0; k < HEAT_NAMED; k++)
            if (!(c->count[k] -= least)) {
                c->function[k] = 0;
                empty = k;
            }
        amount -= least;
    }
    i = i < HEAT_NAMED ? i : empty;
    if (i == HEAT_NAMED || !amount)
        return;
    c->function[i] = function;
    c->count[i] = cf_sum(c->count[i], amount);
}

/* The cell of a place and bin; NULL where there is no room. */
static struct heat_named *find_cell(struct heat_names *n, uint64_t place, uint64_t bin)
{
    uint64_t *number;

    if (n->cells >= CELLS && !cf_counts_get(n->number, place, bin))
        return NULL;
    number = cf_need(n->tool, cf_counts_at(n->number, place, bin));
    if (!*number) {
        cf_must(n->tool, cf_array_room(&n->cell, &n->room, n->cells + 1, sizeof *n->cell));
        n->low = n->cells && n->low < bin ? n->low : bin;
        n->high = n->cells && n->high > bin ? n->high : bin;
        n->cell[n->cells] = (struct heat_named){.place = place, .bin = bin};
        *number = ++n->cells;
    }
    return &n->cell[*number - 1];
}

/* Doubles the width of the bins. */
static void widen(struct heat_names *n)
{
    const size_t before = n->cells;

    cf_counts_free(n->number);
    n->number = cf_need(n->tool, cf_counts_new());
    n->cells = 0;
    memset(n->recent, 0, sizeof n->recent);
    n->shift++;
    /* a cell comes to stand where it was, or before that */
    for (size_t i = 0; i < before; i++) {
        const struct heat_named old = n->cell[i];
        struct heat_named *to = find_cell(n, old.place, old.bin >> 1);

        to->total = cf_sum(to->total, old.total);
        for (unsigned k = 0; k < HEAT_NAMED; k++)
            if (old.count[k])
                add_function(to, old.function[k], old.count[k]);
    }
}

/* The cell of a row, with bins as wide as it takes. */
static struct heat_named *enter(struct heat_names *n, uint64_t place, uint64_t time)
{
    for (;;) {
        const uint64_t bin = time >> n->shift;
        const uint64_t low = n->cells && n->low < bin ? n->low : bin;
        const uint64_t high = n->cells && n->high > bin ? n->high : bin;

        if (high - low < BINS && (n->cells < CELLS || n->high - n->low < FEWEST))
            return find_cell(n, place, bin);
        if (high - low < BINS && cf_counts_get(n->number, place, bin))
            return find_cell(n, place, bin);
        widen(n);
    }
}

static int wanted(struct heat_names *n, uint32_t region)
{
    uint64_t *known;

    if (!n->filter)
        return 1;
    known = cf_need(n->tool, cf_counts_at(n->wanted, 0, region));
    if (!*known)
        *known = n->filter(n->filter_arg, region) ? 1 : 2;
    return *known == 1;
}

/* The cell of a row that counts, among those of late or another; NULL where there is none. */
static struct heat_named *cell_of(struct heat_names *n, uint32_t region, uint64_t place,
                                  uint64_t time)
{
    uint32_t *recent = &n->recent[(place * 0x9e3779b97f4a7c15u) >> (64 - RECENT_SHIFT)];
    struct heat_named *cell = *recent ? &n->cell[*recent - 1] : NULL;

    if (cell && cell->place == place && cell->bin == time >> n->shift)
        return cell;
    cell = wanted(n, region) ? enter(n, place, time) : NULL;
    *recent = cell ? (uint32_t)(cell - n->cell) + 1 : 0;
    return cell;
}

void heat_names_add(struct heat_names *n, const struct heat_rows *r, const uint32_t *function)
{
    for (uint32_t i = 0; i < r->rows; i++) {
        const uint64_t time = r->times ? r->times[i] : r->time;
        const uint32_t region = r->region && r->page ? r->region[i] : 0;
        const uint64_t amount = r->amount ? r->amount[i] : 1;
        const uint64_t number = region    ? r->page[i]
                                : r->addr ? r->addr[i] >> HEAT_PAGE_SHIFT
                                : r->page ? r->page[i]
                                          : 0;
        struct heat_named *cell;

        if (time < r->from || time > r->to || (r->kind && !r->pass[r->kind[i]]) || !amount)
            continue;
        cell = cell_of(n, region, heat_place(region, number), time);
        if (!cell)
            continue;
        cell->total = cf_sum(cell->total, amount);
        if (function[i])
            add_function(cell, function[i], amount);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct heat_named *x = a, *y = b;

    return cf_order(x->place, y->place) ?: cf_order(x->bin, y->bin);
}

int heat_names_finish(struct heat_names *n)
{
    if (n->cells)
        qsort(n->cell, n->cells, sizeof *n->cell, by_place);
    for (size_t c = 0; c < n->cells; c++) {
        struct heat_named *cell = &n->cell[c];

        for (unsigned i = 1; i < HEAT_NAMED; i++)
            for (unsigned k = i; k && cell->count[k] > cell->count[k - 1]; k--) {
                const uint64_t count = cell->count[k];
                const uint32_t function = cell->function[k];

                cell->count[k] = cell->count[k - 1];
                cell->function[k] = cell->function[k - 1];
                cell->count[k - 1] = count;
                cell->function[k - 1] = function;
            }
    }
    return n->cells > 0;
}

const struct heat_named *heat_names_of(const struct heat_names *n, uint64_t place, size_t *count)
{
    size_t low = 0, high = n->cells, end;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (n->cell[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < n->cells && n->cell[end].place == place;)
        end++;
    *count = end - low;
    return n->cell + low;
}

unsigned heat_names_shift(const struct heat_names *n)
{
    return n->shift;
}
