/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heat_texts.c - what the pictures of a map have in common: the scale of its colours, the axis of
 * time, texts for people.
 *
 * In: a finished map. Out: numbers between 0 and 1, and texts in buffers of the caller. Colours and
 * numbers that other pictures use too are in filters/picture/.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filters/heat/heat.h"

double heat_scale(const struct heat_map *map, uint64_t value)
{
    if (value >= map->peak)
        return 1;
    if (map->linear)
        return (double)value / (double)map->peak;
    return value > 1 ? log((double)value) / log((double)map->peak) : 0;
}

/* A snapshot shows what happened in the period before it. */
void heat_axis(const struct heat_map *map, struct heat_axis *axis)
{
    const double start = map->zero + ((double)map->start - 1) * map->period;

    *axis = (struct heat_axis){map->start, heat_bin_start(map, map->bins), map->unit};
    if (!(map->period > 0))
        return;
    axis->start = start > 0 ? (uint64_t)(start + 0.5) : 0;
    axis->end = axis->start + (uint64_t)(map->bins * map->period + 0.5);
    axis->unit = map->clock;
}

void heat_page_name(char *out, size_t size, const struct heat_map *map, uint32_t row)
{
    uint64_t page = map->row[row].page;

    if (map->band[map->row[row].band].region)
        snprintf(out, size, "%" PRIu64, page);
    else
        snprintf(out, size, "0x%" PRIx64, page << HEAT_PAGE_SHIFT);
}

void heat_title(const struct heat_map *map, char *out, size_t size)
{
    if (!strcmp(map->unit, "snapshot"))
        snprintf(out, size, "Cached lines of each page, %s",
                 map->period > 0 ? "over time" : "by snapshot");
    else
        snprintf(out, size, "%s of each page over time", map->what);
    if (out[0] >= 'a' && out[0] <= 'z')
        out[0] = (char)(out[0] - 'a' + 'A');
}

void heat_summary(const struct heat_map *map, char *out, size_t size)
{
    char total[32], width[32];
    int n;

    cf_text_number(total, sizeof total, (double)map->total);
    n = snprintf(out, size, "%s %s, %" PRIu32 " page%s in %" PRIu32 " mapping%s", total, map->what,
                 map->rows, map->rows == 1 ? "" : "s", map->bands, map->bands == 1 ? "" : "s");
    if (n < 0 || (size_t)n >= size)
        return;
    if (strcmp(map->unit, "snapshot")) {
        const char *unit = *map->unit ? map->unit : "ticks";
        int length = (int)strlen(unit);

        if (map->width == 1 && unit[length - 1] == 's')
            length--;
        cf_text_number(width, sizeof width, (double)map->width);
        snprintf(out + n, size - (size_t)n, "; %" PRIu32 " bin%s of %s %.*s", map->bins,
                 map->bins == 1 ? "" : "s", width, length, unit);
    } else {
        snprintf(out + n, size - (size_t)n, "; %" PRIu32 " snapshot%s", map->bins,
                 map->bins == 1 ? "" : "s");
    }
}
