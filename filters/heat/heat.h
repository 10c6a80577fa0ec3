/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heat.h - a map of pages over time: a counter that bins amounts by page and time in one pass, the
 * finished map that it turns into, and three ways to draw that map.
 *
 * A "page" is known by (region, page number). Region 0 is what was not resolved: its page numbers
 * are address / 4096. A "row" is a page of the finished map, a "band" the rows of one region, a
 * "cell" what one page got in one time bin; cells that got nothing are not stored.
 */
#ifndef CF_HEATMAP_HEAT_H
#define CF_HEATMAP_HEAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "filters/picture/picture.h"
#include "formats/stream/cf.h"

enum {
    HEAT_PAGE_SHIFT = 12,
    HEAT_SLICE = 4096,        /* rows that heat_add() takes at once */
    HEAT_MOST_BINS = 1 << 20, /* bins of fixed width that one map may span */
    HEAT_FINE_BINS = 4096,    /* of a page, which draws them merged */
    HEAT_FINE_CELLS = 1 << 21 /* of a page: some 8 MB */
};

/* ---- counting (count.c) ---- */

struct heat;

/* Bins of adaptive width, in the end at most `bins` of them; or of `width` ticks each where that
   is not 0, from the time `origin` on. Without memory, counting and finishing end the program. */
struct heat *heat_new(const struct cf_tool *t, uint32_t bins, uint64_t width,
                      uint64_t origin) CF_MUST_CHECK;

/* The finished map has at most so many cells, if need be of fewer bins, down to 256. */
void heat_bound(struct heat *h, uint64_t cells);

/* Only regions for which f(arg, region) is not 0 are counted. Asked once for 64 pages or so. */
void heat_filter(struct heat *h, int (*f)(void *, uint32_t region), void *arg);

/* One slice of at most HEAT_SLICE rows. times may be NULL (all `time`), region and page too (then
   all is region 0), and addr (then region 0 uses page, or 0). Row i counts where pass[kind[i]] is 1
   (kind NULL: every row), with amount[i] (NULL: 1). Rows outside [from, to] do not count. Rows
   that do not count by their kind still decide how far the time goes, so that all maps of a stream
   have the same bins. */
struct heat_rows {
    uint32_t rows;
    const uint64_t *times;
    uint64_t time;
    const uint32_t *region, *page;
    const uint64_t *addr;
    const uint8_t *kind;
    const uint8_t *pass; /* 256 entries of 0 or 1 */
    const uint64_t *amount;
    uint64_t from, to;
};

/* 0, or -1 where there would be over HEAT_MOST_BINS, after which the heat may only be freed. */
int heat_add(struct heat *h, const struct heat_rows *rows) CF_MUST_CHECK;

void heat_free(struct heat *h);

/* ---- what was counted of a part (heat_part.c) ---- */

/* The bins as they are, which are no wider than those of the whole. */
struct heat_bins {
    unsigned shift;       /* they are 1 << shift ticks, where their width is adaptive */
    int any;              /* a row had a time in [from, to]: */
    uint64_t first, last; /* where the first and the last bin begin */
    uint64_t cells;       /* the most that there ever were */
};
struct heat_bins heat_bins_of(struct heat *h);

/* Hands out all cells, bin by bin: a page, which is of region 0 where it was not resolved, where
   the bin begins, and what was counted, never 0; one of a page and bin may come in several. */
void heat_cells(struct heat *h,
                void (*take)(void *arg, uint32_t region, uint64_t page, uint64_t time,
                             uint64_t amount),
                void *arg);

/* Makes bins for those of a part, whose cells heat_add() then takes as rows. -1 where there would
   be over HEAT_MOST_BINS, or a bin begins before the origin; 1 where so many cells came together
   that the width of adaptive bins would depend on their order. */
int heat_join(struct heat *h, const struct heat_bins *part) CF_MUST_CHECK;

/* ---- the functions of a page and a stretch of time (names.c) ---- */

enum { HEAT_NAMED = 4 };

struct heat_named {
    uint64_t place, bin; /* the bin is of 1 << heat_names_shift() ticks, from time 0 */
    uint64_t total;
    uint64_t count[HEAT_NAMED]; /* at least so much of it is of a function; 0: no function */
    uint32_t function[HEAT_NAMED];
};

/* A page as a key. */
static inline uint64_t heat_place(uint32_t region, uint64_t page)
{
    return region ? (uint64_t)region << 32 | (uint32_t)page : 1ull << 63 | page;
}

struct heat_names;

/* With the filter of heat_filter(), or NULL. Without memory, all these end the program. */
struct heat_names *heat_names_new(const struct cf_tool *t, int (*filter)(void *, uint32_t region),
                                  void *arg) CF_MUST_CHECK;
void heat_names_free(struct heat_names *n);

/* Takes in rows that heat_add() counts, with the function of each. */
void heat_names_add(struct heat_names *n, const struct heat_rows *rows, const uint32_t *function);

/* After the last row: the functions of a cell stand with the greatest first. 0 without any cell. */
int heat_names_finish(struct heat_names *n);

/* The cells of a page, by time. */
const struct heat_named *heat_names_of(const struct heat_names *n, uint64_t place, size_t *count);
unsigned heat_names_shift(const struct heat_names *n);

/* ---- the finished map (map.c) ---- */

struct heat_row {
    uint64_t page;
    uint64_t total;
    uint64_t first; /* cell */
    uint32_t cells; /* in the order of time */
    uint32_t band;
};

struct heat_band {
    const char *name; /* stays the reader's */
    uint64_t total;
    uint32_t first, rows; /* in the order of page numbers */
    uint32_t region;
};

struct heat_map {
    /* filled by heat_finish() */
    uint64_t start, width; /* bin b is [start + b * width, start + (b + 1) * width) */
    uint32_t bins;         /* from the first row to the last in the wanted time */
    uint64_t total, peak;  /* sum of all cells; largest cell */
    uint32_t bands, rows;
    uint64_t cells;
    struct heat_band *band; /* largest total first, then by name */
    struct heat_row *row;
    uint32_t *bin;   /* of each cell */
    uint64_t *value; /* of each cell, never 0 */
    /* filled by the caller, for the pictures */
    const char *what;            /* what is counted: "accesses", "bytes", ... */
    const char *unit;            /* of time: "instructions", ...; "snapshot" for snapshots; or "" */
    const char *command;         /* what was observed, or "" */
    uint32_t top;                /* bands to draw */
    int linear;                  /* scale of the colours, else logarithmic */
    const struct heat_map *fine; /* what a page shows instead, or NULL */
    const struct heat_names *names;            /* of its cells, or NULL */
    const char *(*function)(void *, uint32_t); /* the name of one */
    void *reader;                              /* which is the first argument */
    /* of snapshots at even times: number n was taken at zero + n * period; period 0: unknown */
    double zero, period;
    const char *clock; /* the unit of these */
};

/* The axis below a map: times, or numbers of snapshots whose times are not known or not even. */
struct heat_axis {
    uint64_t start, end;
    const char *unit;
};
void heat_axis(const struct heat_map *map, struct heat_axis *axis);

/* Turns what was counted into a map; `name` gives the name of a region. The heat is freed of its
   bins on the way and can only be freed afterwards. */
void heat_finish(struct heat *h, const char *(*name)(void *, uint32_t region), void *arg,
                 struct heat_map *map);
/* Such a name, of a region that `reader` has as a string: "[unresolved]" for none. */
const char *heat_region_name(void *reader, uint32_t region);
void heat_map_free(struct heat_map *map);

/* First and last time of a bin, the end not included; saturates at the largest time. */
uint64_t heat_bin_start(const struct heat_map *map, uint64_t bin);

/* Sets the bands to draw (map->top of them), each `height[b]` lines high, so that together they
   fill `lines`: high bands for many pages, but none below `least` lines and none above what
   `most` lines a page take. Returns the lines used. */
uint32_t heat_heights(const struct heat_map *map, uint32_t lines, uint32_t least, uint32_t most,
                      uint32_t *height);

/* What one line of a band shows: rows [first, last] of the map, or a stretch of untouched
   pages (skipped). Rows that share a line show the hottest of them. */
struct heat_line {
    uint32_t first, last;
    int skipped;
};

/* Lays out one band on `lines` lines, with `gap` lines for a stretch of untouched pages. */
int heat_lines(const struct heat_map *map, const struct heat_band *band, uint32_t lines,
               uint32_t gap, struct heat_line *line) CF_MUST_CHECK;

/* The hottest cell of each column for the rows of a line: columns [0, width) cover the bins. */
void heat_columns(const struct heat_map *map, const struct heat_line *line, uint64_t *column,
                  uint32_t width);

/* ---- colours, numbers and texts for people (heat_texts.c) ---- */

double heat_scale(const struct heat_map *map, uint64_t value); /* 0..1 for a value above 0 */

/* "123", or for a page that was not resolved its address, "0x7b000". */
void heat_page_name(char *out, size_t size, const struct heat_map *map, uint32_t row);

/* "Accesses of each page over time" and "12.3 M accesses, 45 pages of 6 mappings, ...". */
void heat_title(const struct heat_map *map, char *out, size_t size);
void heat_summary(const struct heat_map *map, char *out, size_t size);

/* ---- pictures of a struct heat_map: 0, or -1 when they cannot be written ---- */

int heat_picture(const void *map, const struct cf_sheet *sheet, FILE *out) CF_MUST_CHECK;
int heat_html(const void *map, FILE *out) CF_MUST_CHECK;

/* The mappings up to the one of rank `top`. */
void heat_csv(const struct heat_map *map, FILE *out, uint32_t top);

int heat_term(const void *map, FILE *out, const struct cf_terminal *t) CF_MUST_CHECK;

#endif
