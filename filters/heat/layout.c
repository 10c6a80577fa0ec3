/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout.c - which page stands where in a picture whose lines are fewer or more than the pages.
 *
 * A band gets lines by the square root of its pages, so that a large mapping does not squeeze the
 * small ones to nothing. In a band, untouched pages are not drawn: a short hole keeps
 * its place while there is room, a long one becomes a mark. Where pages are more than lines, a
 * line shows the hottest of its pages, so that a single hot page is never averaged away, and only
 * the longest holes are marked. Memory: a few words a row of the band that is laid out.
 */
#include <math.h>
#include <stdlib.h>

#include "filters/heat/heat.h"
#include "formats/base/cf_number.h"

enum { SHORT_HOLE = 3 };

/* Untouched pages between a row and the one before it in its band. */
static uint64_t hole_before(const struct heat_map *map, uint32_t row)
{
    return map->row[row].page - map->row[row - 1].page - 1;
}

/* Entries of a band: its rows, the pages of short holes, one for each long hole. */
static uint64_t count_entries(const struct heat_map *map, const struct heat_band *band,
                              uint32_t *long_holes)
{
    uint64_t entries = band->rows;

    *long_holes = 0;
    for (uint32_t r = band->first + 1; r < band->first + band->rows; r++) {
        uint64_t hole = hole_before(map, r);
        if (hole <= SHORT_HOLE)
            entries += hole;
        else
            ++*long_holes;
    }
    return entries;
}

uint32_t heat_heights(const struct heat_map *map, uint32_t lines, uint32_t least, uint32_t most,
                      uint32_t *height)
{
    uint32_t shown = map->top < map->bands ? map->top : map->bands, used = 0;
    double low = 0, high = lines;

    for (uint32_t b = 0; b < shown; b++)
        height[b] = 0;
    /* the largest factor of the square roots with which all bands fit */
    for (int round = 0; round < 60; round++) {
        double factor = (low + high) / 2;
        uint64_t sum = 0;

        for (uint32_t b = 0; b < shown; b++) {
            uint32_t holes;
            uint64_t entries = count_entries(map, &map->band[b], &holes) + holes;
            double h = floor(factor * sqrt((double)entries)), limit = (double)entries * most;
            h = h > limit ? limit : h;
            height[b] = h < least ? least : (uint32_t)h;
            sum += height[b];
        }
        used = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
        if (sum <= lines)
            low = factor;
        else
            high = factor;
        if (round == 58) /* ends on one that fits, if any does */
            high = low;
    }
    return used;
}

/* An entry: a row of the map, or one of these. */
#define EMPTY UINT32_MAX       /* an untouched page that keeps its place */
#define MARK  (UINT32_MAX - 1) /* a hole that is marked */

static int by_size(const void *a, const void *b)
{
    return cf_order(*(const uint64_t *)b, *(const uint64_t *)a);
}

/* Writes the entries of a band. Holes of at least `least` pages get a mark, while `marks` last;
   shorter ones keep their place if `keep`. */
static uint32_t write_entries(const struct heat_map *map, const struct heat_band *band,
                              uint64_t least, uint32_t marks, int keep, uint32_t *entry)
{
    uint32_t n = 0;

    for (uint32_t r = band->first; r < band->first + band->rows; r++) {
        uint64_t hole = r > band->first ? hole_before(map, r) : 0;

        if (hole > SHORT_HOLE && hole >= least && marks) {
            entry[n++] = MARK;
            marks--;
        } else if (keep && hole <= SHORT_HOLE) {
            for (uint64_t i = 0; i < hole; i++)
                entry[n++] = EMPTY;
        }
        entry[n++] = r;
    }
    return n;
}

/* Spreads entries without marks over lines. */
static void spread(const uint32_t *entry, uint32_t entries, struct heat_line *line, uint32_t lines)
{
    for (uint32_t i = 0; i < lines; i++) {
        uint32_t a = (uint32_t)((uint64_t)i * entries / lines);
        uint32_t b = (uint32_t)((uint64_t)(i + 1) * entries / lines);

        line[i] = (struct heat_line){1, 0, 0};
        for (uint32_t e = a; e < b || e == a; e++) {
            if (entry[e] == EMPTY)
                continue;
            if (line[i].first > line[i].last)
                line[i].first = entry[e];
            line[i].last = entry[e];
        }
    }
}

int heat_lines(const struct heat_map *map, const struct heat_band *band, uint32_t lines,
               uint32_t gap, struct heat_line *line)
{
    uint32_t holes, marks, segments, n, at = 0;
    uint64_t entries = count_entries(map, band, &holes), least = 0, left, room;
    uint32_t *entry;
    int fits = entries + (uint64_t)holes * gap <= lines;

    marks = fits || (uint64_t)holes * gap <= lines / 4 ? holes : lines / (4 * gap);
    if (!(entry = malloc((entries + holes) * sizeof *entry)))
        return -1;
    if (marks < holes) {
        uint64_t *size = malloc(holes * sizeof *size);
        uint32_t i = 0;

        if (!size) {
            free(entry);
            return -1;
        }
        for (uint32_t r = band->first + 1; r < band->first + band->rows; r++)
            if (hole_before(map, r) > SHORT_HOLE)
                size[i++] = hole_before(map, r);
        qsort(size, holes, sizeof *size, by_size);
        least = marks ? size[marks - 1] : UINT64_MAX;
        /* of many equal ones none is better than the others: mark only what is longer */
        if (marks && size[marks] == least)
            least++;
        free(size);
    }
    n = write_entries(map, band, least, marks, fits, entry);
    segments = 1;
    for (uint32_t e = 0; e < n; e++)
        segments += entry[e] == MARK;
    room = lines - (uint64_t)(segments - 1) * gap;
    left = n - (segments - 1);
    for (uint32_t e = 0, end; e < n; e = end) {
        uint64_t mine;

        if (entry[e] == MARK) {
            for (uint32_t i = 0; i < gap; i++)
                line[at++] = (struct heat_line){1, 0, 1};
            end = e + 1;
            continue;
        }
        for (end = e; end < n && entry[end] != MARK; end++)
            ;
        /* at least one line for each segment that follows */
        segments--;
        mine = end - e == left ? room : (end - e) * (room - segments) / left;
        mine = mine ? mine : 1;
        spread(entry + e, end - e, line + at, (uint32_t)mine);
        at += (uint32_t)mine;
        room -= mine;
        left -= end - e;
    }
    free(entry);
    return 0;
}

void heat_columns(const struct heat_map *map, const struct heat_line *line, uint64_t *column,
                  uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        column[x] = 0;
    for (uint32_t r = line->first; r <= line->last && !line->skipped; r++) {
        const struct heat_row *row = &map->row[r];
        for (uint64_t c = row->first; c < row->first + row->cells; c++) {
            uint32_t a = (uint32_t)((uint64_t)map->bin[c] * width / map->bins);
            uint32_t b = (uint32_t)(((uint64_t)map->bin[c] + 1) * width / map->bins);
            for (uint32_t x = a; x < b || x == a; x++)
                if (column[x] < map->value[c])
                    column[x] = map->value[c];
        }
    }
}
