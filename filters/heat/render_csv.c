/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_csv.c - the map as CSV: one row a page and time bin that got something, the largest
 * mapping first, then by page, then by time. Memory: what the rows of a page have in common.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/program/cf_rows.h"
#include "formats/program/cf_tool.h"

#include "filters/heat/heat.h"

/* The first two fields of all rows of a page, quoted once: to look for quotes in each row costs
   more than its numbers do. NULL without memory, and where `out` wants quotes around each text. */
static char *page_fields(const FILE *out, const char *name, uint64_t page, size_t *bytes)
{
    char *text = NULL;
    FILE *memory = cf_rows_quote(out) ? NULL : open_memstream(&text, bytes);

    if (!memory)
        return NULL;
    cf_csv_text(memory, 1, name);
    cf_csv_u64(memory, 0, page);
    if (!cf_memory_text(memory, &text))
        return NULL;
    return text;
}

void heat_csv(const struct heat_map *map, FILE *out, uint32_t top)
{
    uint32_t bands = top < map->bands ? top : map->bands;
    int snapshots = !strcmp(map->unit, "snapshot");

    fputs(snapshots ? "region,page,snapshot" : "region,page", out);
    if (!snapshots) {
        cf_csv_unit(out, "time_start", map->unit);
        cf_csv_unit(out, "time_end", map->unit);
    }
    cf_csv_text(out, 0, strcmp(map->what, "cycles") ? map->what : "cost_cycles");
    cf_csv_end(out);
    for (uint32_t b = 0; b < bands; b++) {
        const struct heat_band *band = &map->band[b];
        for (uint32_t r = band->first; r < band->first + band->rows; r++) {
            const struct heat_row *row = &map->row[r];
            size_t bytes;
            char *fields = page_fields(out, band->name, row->page, &bytes);

            for (uint64_t c = row->first; c < row->first + row->cells; c++) {
                if (fields) {
                    fwrite(fields, 1, bytes, out);
                } else {
                    cf_csv_text(out, 1, band->name);
                    cf_csv_u64(out, 0, row->page);
                }
                cf_csv_u64(out, 0, heat_bin_start(map, map->bin[c]));
                if (!snapshots)
                    cf_csv_u64(out, 0, heat_bin_start(map, (uint64_t)map->bin[c] + 1));
                cf_csv_u64(out, 0, map->value[c]);
                cf_csv_end(out);
            }
            free(fields);
        }
    }
}
