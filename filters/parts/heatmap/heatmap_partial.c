/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heatmap_partial.c - the counts of cf-heatmap as a partial result: the cells of its finest bins.
 *
 * What counts can be added in any order: amounts stay at the greatest number once they come there,
 * and bins are those of filters/heat/heat_part.c. Functions of cells (--html) are found by counting
 * that depends on the order, and are in no partial result. Memory: that of the maps.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/parts/heatmap/rows.h"

/* What a row is, in cf-stream(5), "Partial results". */
enum {
    ENTRY_ACCESSES = 1,
    ENTRY_LINES = 2,
    ENTRY_BINS = 3,
    ENTRY_ROWS = 4,
    ENTRY_SNAPSHOT = 5,
    ENTRY_PROCESSES = 6
};

char *rows_options(const struct cf_tool *t, const struct options *o)
{
    static const char *const value[] = {"accesses", "bytes", "loads", "stores", "misses", "cost"};
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(t, open_memstream(&text, &bytes));

    fprintf(out, "value %s; op", value[o->value]);
    for (unsigned op = 0; op < 8; op++)
        if (o->ops[op] && cf_op_name(op))
            fprintf(out, " %s", cf_op_name(op));
    if (o->width)
        fprintf(out, "; bin-width %" PRIu64, o->width);
    else
        fprintf(out, "; bins %" PRIu32, o->bins);
    if (o->from_given || o->from)
        fprintf(out, "; from %" PRIu64, o->from);
    if (o->to != UINT64_MAX)
        fprintf(out, "; to %" PRIu64, o->to);
    if (o->table)
        fprintf(out, "; table %s", cf_table_name(o->table));
    for (unsigned level = 0; o->level_given && level < 256; level++)
        if (o->levels[level])
            fprintf(out, "; level %u", level);
    if (o->region)
        fprintf(out, "; region %s", o->region);
    return cf_need(t, cf_memory_text(out, &text));
}

/* ---- writing ---- */

struct cells {
    struct work *w;
    uint8_t entry;
};

static void put_cell(void *cells, uint32_t region, uint64_t page, uint64_t time, uint64_t amount)
{
    const struct cells *c = cells;

    cf_partial_row(&c->w->partial, &(struct cf_partial_row){
                                       .entry = c->entry,
                                       .keys = 2,
                                       .texts = 1,
                                       .sums = 1,
                                       .key = {time, page},
                                       .text = {region ? cf_reader_text(c->w->reader, region) : ""},
                                       .sum = &amount,
                                   });
}

static void put_heat(struct work *w, struct heat *h)
{
    const struct heat_bins b = heat_bins_of(h);
    struct cells c = {w, h == w->lines ? ENTRY_LINES : ENTRY_ACCESSES};

    if (!b.any)
        return;
    cf_partial_row(&w->partial, &(struct cf_partial_row){
                                    .entry = ENTRY_BINS,
                                    .keys = 5,
                                    .key = {c.entry, b.shift, b.first, b.last, b.cells},
                                });
    heat_cells(h, put_cell, &c);
}

void rows_write(struct work *w)
{
    const uint64_t rows[] = {w->access_rows, w->line_rows, w->unresolved_rows};

    cf_partial_row(&w->partial, &(struct cf_partial_row){
                                    .entry = ENTRY_ROWS,
                                    .keys = 9,
                                    .texts = 2,
                                    .sums = 3,
                                    .key = {(uint64_t)w->no_place[0], (uint64_t)w->no_place[1],
                                            (uint64_t)w->no_misses, (uint64_t)w->units_differ,
                                            w->segment, w->line_segments, w->line_segment,
                                            (uint64_t)w->no_level, w->missed_by},
                                    .text = {w->unit, w->command},
                                    .sum = rows,
                                });
    for (size_t i = 0; i < w->snapshots.count; i++)
        cf_partial_row(&w->partial, &(struct cf_partial_row){
                                        .entry = ENTRY_SNAPSHOT,
                                        .keys = 2,
                                        .key = {w->snapshots.number[i], w->snapshots.time[i]},
                                    });
    if (w->processes.begun)
        cf_partial_row(&w->partial, &(struct cf_partial_row){
                                        .entry = ENTRY_PROCESSES,
                                        .keys = 2,
                                        .key = {w->processes.pid, (uint64_t)w->processes.warned},
                                    });
    put_heat(w, w->accesses);
    put_heat(w, w->lines);
}

/* ---- merging ---- */

static uint64_t key(const struct work *w, const struct cf_frame *f, unsigned k, uint32_t i)
{
    return cf_partial_key(&w->partial, f, k)[i];
}

static void merge_bins(struct work *w, const struct cf_frame *f, uint32_t i)
{
    const uint64_t which = key(w, f, 0, i), shift = key(w, f, 1, i);
    struct heat *h = which == ENTRY_LINES ? w->lines : w->accesses;
    const struct heat_bins b = {.shift = (unsigned)shift,
                                .any = 1,
                                .first = key(w, f, 2, i),
                                .last = key(w, f, 3, i),
                                .cells = key(w, f, 4, i)};
    int result;

    if ((which != ENTRY_LINES && which != ENTRY_ACCESSES) || shift > 63)
        cf_partial_damaged(&w->partial);
    result = heat_join(h, &b);
    if (result < 0)
        rows_too_many(w, h);
    if (result > 0)
        cf_die(w->tool, CF_EXIT_INPUT,
               "so many pages and bins that their width would depend on how the parts are made: "
               "give fewer --bins, or a --bin-width");
}

static void merge_cells(struct work *w, const struct cf_frame *f, uint32_t at, uint32_t rows,
                        struct heat *h)
{
    const struct cf_partial *p = &w->partial;
    const uint64_t *page = cf_partial_key(p, f, 1) + at;
    const uint32_t *region = cf_partial_text(p, f, 0) + at;
    struct heat_rows r = {.rows = rows,
                          .times = cf_partial_key(p, f, 0) + at,
                          .region = region,
                          .page = w->page,
                          .addr = w->amount,
                          .amount = cf_partial_sum(p, f, 0) + at,
                          .to = UINT64_MAX};

    for (uint32_t i = 0; i < rows; i++) {
        if (page[i] >> (region[i] ? 32 : 64 - HEAT_PAGE_SHIFT))
            cf_partial_damaged(p);
        w->page[i] = (uint32_t)page[i];
        w->amount[i] = page[i] << HEAT_PAGE_SHIFT;
    }
    if (heat_add(h, &r) != 0)
        rows_too_many(w, h);
}

static void merge_line_segments(struct work *w, uint64_t segments, uint64_t segment)
{
    if (!segments || w->line_segments > 1)
        return;
    w->line_segments = segments > 1 || (w->line_segments && w->line_segment != segment) ? 2 : 1;
    w->line_segment = segment;
}

static void merge_rows(struct work *w, const struct cf_frame *f, uint32_t i)
{
    const struct cf_partial *p = &w->partial;

    w->no_place[0] |= key(w, f, 0, i) != 0;
    w->no_place[1] |= key(w, f, 1, i) != 0;
    w->no_misses |= key(w, f, 2, i) != 0;
    w->no_level |= key(w, f, 7, i) != 0;
    w->missed_by |= (unsigned)key(w, f, 8, i) & CF_MISSED_ANY;
    w->access_rows += cf_partial_sum(p, f, 0)[i];
    w->line_rows += cf_partial_sum(p, f, 1)[i];
    w->unresolved_rows += cf_partial_sum(p, f, 2)[i];
    merge_line_segments(w, key(w, f, 5, i), key(w, f, 6, i));
    if (!cf_partial_is_last(p))
        return;
    w->units_differ = key(w, f, 3, i) != 0;
    w->segment = key(w, f, 4, i);
    w->unit = cf_tool_text(w->tool, "%s", cf_reader_text(w->reader, cf_partial_text(p, f, 0)[i]));
    w->command =
        cf_tool_text(w->tool, "%s", cf_reader_text(w->reader, cf_partial_text(p, f, 1)[i]));
}

static void merge_one(struct work *w, const struct cf_frame *f, uint32_t i, uint8_t entry)
{
    switch (entry) {
    case ENTRY_BINS:
        merge_bins(w, f, i);
        break;
    case ENTRY_ROWS:
        merge_rows(w, f, i);
        break;
    case ENTRY_SNAPSHOT:
        if (cf_partial_is_last(&w->partial))
            rows_snapshot(w, (uint32_t)key(w, f, 0, i), key(w, f, 1, i));
        break;
    case ENTRY_PROCESSES:
        cf_processes_join(&w->processes, w->tool, (uint32_t)key(w, f, 0, i), key(w, f, 1, i) != 0,
                          rows_processes);
        break;
    default:
        cf_partial_damaged(&w->partial);
    }
}

void rows_merge(struct work *w, const struct cf_frame *f)
{
    const uint8_t *entry = f->table == CF_PARTIAL ? cf_partial_entries(&w->partial, f) : NULL;

    for (uint32_t i = 0, end; entry && i < f->rows; i = end) {
        end = i + 1;
        if (entry[i] != ENTRY_ACCESSES && entry[i] != ENTRY_LINES) {
            merge_one(w, f, i, entry[i]);
            continue;
        }
        while (end < f->rows && entry[end] == entry[i] && end - i < HEAT_SLICE)
            end++;
        merge_cells(w, f, i, end - i, entry[i] == ENTRY_LINES ? w->lines : w->accesses);
    }
}
