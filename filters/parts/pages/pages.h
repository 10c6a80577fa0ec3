/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.h - the parts of cf-pages: what pages there are, and in which order; the runs over them. */
#ifndef PAGES_H
#define PAGES_H

#include "filters/engine/pages/pages.h"
#include "filters/engine/rows/cores.h"
#include "filters/engine/rows/counts.h"
#include "formats/together/cf_processes.h"
#include "formats/program/cf_tool.h"
#include "formats/stream/cf.h"

enum pages_mode { PAGES_CACHED, PAGES_UNCACHED, PAGES_RANK };

struct page_name {
    const char *region;
    uint32_t page;
    uint32_t frames; /* addresses at which it lay */
};

/* A page that was accessed lately, where it lies; region 0: none. */
struct pages_lately {
    uint64_t at;   /* its address */
    uint64_t name; /* its region, and its number there */
    uint32_t frame;
};

struct pages {
    struct cf_tool tool;
    struct cf_machine *machine;
    const char *machine_name; /* as given */
    unsigned stated;          /* options --latency */
    struct cf_paged_machine paged;
    struct cf_latencies *latencies;
    const char *latency_text; /* those that options --latency changed */
    uint8_t seen[8];          /* operations, by the low bits of cf_latency_key() */
    char *file;
    const char *rank;
    enum pages_mode mode;
    uint64_t memory; /* bytes that simulations may take together */
    unsigned threads;

    /* of a reading */
    struct cf_reader *reader;
    struct cf_writer *writer;
    int headers; /* whether the writer has them */
    struct cf_cores *cores;
    struct cf_turns turns;
    /* by core: its instructions in segments that have ended, and in this one, if it has run */
    uint64_t before[CF_MAX_CORES], first[CF_MAX_CORES], last[CF_MAX_CORES];
    uint8_t ran[CF_MAX_CORES], runs[CF_MAX_CORES]; /* ever; in this segment */
    int counts;                                    /* time is instructions */
    int uncounted;                                 /* of a segment it is not */
    uint64_t outside, cut; /* accesses in no mapping; that reach into the next page */

    /* of the first reading */
    struct cf_counts *number, *frame; /* of a page; of a page at an address */
    struct page_name *name;
    uint32_t *page_of; /* by frame: the page that lies there */
    uint32_t *best;    /* pages by rank, the best first: after pages_order() */
    size_t names, name_room, frame_room;
    uint64_t base[CF_MAX_CORES]; /* cycles of the accesses when no page is cached */
    struct cf_alone *alone;      /* what each gains alone; NULL where a reading cannot say it */

    struct cf_paged rows;
    struct pages_lately *lately;
    uint64_t *addr;
    uint32_t *size, *frame_of;
    uint8_t *op, *core;
};

/* ---- rows.c: from frames to rows of pages ---- */

/* Opens the input once more, from its begin. */
void pages_open(struct pages *p);
/* The next rows; 0: there are none. */
int pages_next(struct pages *p);
/* Closes it; then pages_runtime() knows. */
void pages_close(struct pages *p);

/* Cycles of the slowest core, of which core c has cycles[c] of accesses beside its instructions. */
uint64_t pages_runtime(const struct pages *p, const uint64_t *cycles);

/* ---- runs.c: readings, and the rows that they give ---- */

/* The first reading: finds the pages, and the runtimes with none and with all of them cached. */
void pages_first(struct pages *p, uint64_t *none, uint64_t *all);
/* A row of table page; `name` NULL: of no certain page. */
void pages_emit(const struct pages *p, enum cf_page_policy policy, const struct page_name *name,
                uint32_t k, uint64_t cycles);
/* The rows of each page, in modes cached and uncached; of the best k, for every k. */
void pages_one_by_one(struct pages *p);
void pages_best(struct pages *p, uint64_t none, uint64_t all);

/* ---- order.c: the best first ---- */

/* place[frame] of its page, by a file that has table page. */
uint32_t *pages_order(struct pages *p);

#endif
