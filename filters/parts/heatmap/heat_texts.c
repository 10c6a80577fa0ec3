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

#include "filters/parts/heatmap/heat.h"

const struct cf_rgb heat_ground = {17, 18, 26};
const struct cf_rgb heat_gap = {96, 98, 112};

double heat_scale(const struct heat_map *map, uint64_t value)
{
    if (value >= map->peak)
        return 1;
    if (map->linear)
        return (double)value / (double)map->peak;
    return value > 1 ? log((double)value) / log((double)map->peak) : 0;
}

void heat_page_name(char *out, size_t size, const struct heat_map *map, uint32_t row)
{
    uint64_t page = map->row[row].page;

    if (map->band[map->row[row].band].region)
        snprintf(out, size, "%" PRIu64, page);
    else
        snprintf(out, size, "0x%" PRIx64, page << HEAT_PAGE_SHIFT);
}

void heat_time_axis(const struct heat_map *map, unsigned marks, struct heat_axis *axis)
{
    static const char *const much[] = {"", "thousand ", "million ", "billion "};
    static const char *const seconds[] = {"ns", "us", "ms", "s"};
    uint64_t start = map->start, end = heat_bin_start(map, map->bins);
    double largest;
    int power = 0;

    memset(axis, 0, sizeof *axis);
    axis->divisor = 1;
    if (!strcmp(map->unit, "snapshot")) {
        axis->step = fmax(1, cf_axis_step((double)start, (double)end, marks));
        snprintf(axis->title, sizeof axis->title, "snapshot");
        return;
    }
    /* marks that differ only in the last of many digits cannot be compared at a glance */
    if (start / 4 > end - start)
        axis->zero = start;
    largest = (double)(end - axis->zero);
    while (power < 3 && largest >= 10000) {
        largest /= 1000;
        axis->divisor *= 1000;
        power++;
    }
    axis->step = cf_axis_step((double)(start - axis->zero) / axis->divisor,
                              (double)(end - axis->zero) / axis->divisor, marks);
    for (double s = axis->step; axis->digits < 6 && s < 0.999; s *= 10)
        axis->digits++;
    if (!strcmp(map->unit, "nanoseconds"))
        snprintf(axis->title, sizeof axis->title, "time (%s", seconds[power]);
    else
        snprintf(axis->title, sizeof axis->title, "time (%s%s", much[power],
                 *map->unit ? map->unit : "ticks");
    if (axis->zero) {
        size_t n = strlen(axis->title);
        snprintf(axis->title + n, sizeof axis->title - n, " after %" PRIu64, axis->zero);
    }
    strncat(axis->title, ")", sizeof axis->title - strlen(axis->title) - 1);
}

void heat_title(const struct heat_map *map, char *out, size_t size)
{
    if (!strcmp(map->unit, "snapshot"))
        snprintf(out, size, "Cached lines of each page, by snapshot");
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
