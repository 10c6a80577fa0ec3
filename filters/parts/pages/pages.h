/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.h - the parts of cf-pages: what pages there are, and in which order; the runs over them. */
#ifndef PAGES_H
#define PAGES_H

#include "filters/engine/pages/pages.h"
#include "filters/engine/rows/cores.h"
#include "filters/engine/rows/counts.h"
#include "formats/program/cf_processes.h"
#include "formats/program/cf_tool.h"
#include "formats/stream/cf.h"

enum pages_mode { PAGES_CACHED, PAGES_UNCACHED, PAGES_RANK };

struct page_name {
    const char *region;
    uint32_t page;
    uint32_t frames; /* addresses at which it lay */
};

struct pages {
    struct cf_tool tool;
    struct cf_machine *machine;
    struct cf_paged_machine paged;
    struct cf_latencies *latencies;
    uint8_t seen[CF_LATENCY_OPS + 1]; /* operations */
    char *file;
    const char *rank;
    enum pages_mode mode;
    uint64_t memory; /* bytes that simulations may take together */
    unsigned threads;

    /* of a reading */
    struct cf_reader *reader;
    struct cf_writer *writer; /* gets the headers; NULL: it has them */
    struct cf_cores *cores;
    struct cf_turns turns;
    uint64_t first[CF_MAX_CORES], last[CF_MAX_CORES]; /* instructions, by core */
    int ran[CF_MAX_CORES], counts;                    /* counts: time is instructions */
    uint64_t outside, cut; /* accesses in no mapping; that reach into the next page */
    int warned;

    /* of the first reading */
    struct cf_counts *number, *frame; /* of a page; of a page at an address */
    struct page_name *name;
    size_t names, name_room;
    uint64_t base[CF_MAX_CORES]; /* cycles of the accesses when no page is cached */

    struct cf_paged rows;
    uint64_t *key[2], *one;
    uint64_t *addr;
    uint32_t *size, *page, *frame_of;
    uint8_t *op, *core;
};

/* ---- rows.c: from frames to rows of pages ---- */

/* Opens the input once more, from its begin. */
void pages_open(struct pages *p);
/* The next rows; 0: there are none. */
int pages_next(struct pages *p);
/* Closes it; the first time, with what is to be said of it. */
void pages_close(struct pages *p);

/* Cycles of the slowest core, of which core c has cycles[c] of accesses beside its instructions. */
uint64_t pages_runtime(const struct pages *p, const uint64_t *cycles);

/* ---- order.c: the best first ---- */

/* place[page], by a file that has table page. */
uint32_t *pages_order(struct pages *p);

#endif
