/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.h - cycles of a trace when only some of its pages are cached.
 *
 * An access to a cached page goes through the caches of the machine; one to any other page goes
 * past them and costs what memory does. This is what the profiling, ranking and migration runs of
 * "Governing with Insights: Towards Profile-driven Cache Management of Black-Box Applications"
 * (sections 4.3 and 5.1) measure by changing the attributes of pages; here it is computed.
 *
 * Each core has a clock of its own: the cycles of its accesses add up.
 *
 * Memory: by pages and simulations; nothing grows with the trace.
 */
#ifndef CF_PAGES_H
#define CF_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "filters/engine/cache/latency.h"
#include "formats/machine/cf_machine.h"
#include "formats/stream/cf.h"

/* Accesses in their order. An access lies in its page wholly. */
struct cf_paged {
    uint32_t rows;
    const uint64_t *addr;
    const uint8_t *op, *core;
    const uint32_t *size;
    const uint32_t
        *frame; /* number of the address's page; a page of a program may lie in several */
    uint32_t frames;
    unsigned cores; /* all numbers are below these */
};

/* A machine with its costs, which may not depend on earlier accesses (cf_latencies_depend()). */
struct cf_paged_machine {
    const struct cf_machine *machine;
    unsigned cores;
    uint64_t seed;
    uint32_t page_size;             /* bytes, a power of two */
    uint32_t cost[CF_LATENCY_KEYS]; /* cycles, by cf_latency_key(); 0 where none is known */
    unsigned line_shift;            /* log2 of the machine's line_size */
};

/* Caches of a level. */
static inline unsigned cf_paged_caches(const struct cf_paged_machine *m, const struct cf_level *l)
{
    const unsigned shared = l->shared_by ? l->shared_by : 1;

    return (m->cores + shared - 1) / shared;
}

/* What row i costs when its page is not cached: memory is read or written for each line that it
   touches, as by a processor that can keep none. */
static inline uint64_t cf_paged_uncached(const struct cf_paged_machine *m,
                                         const struct cf_paged *rows, uint32_t i)
{
    const uint64_t cost = m->cost[cf_latency_key(CF_FROM_MEMORY, rows->op[i])];
    const uint32_t line = UINT32_C(1) << m->line_shift;
    const uint32_t bytes = ((uint32_t)rows->addr[i] & (line - 1)) + rows->size[i];

    return __builtin_expect(bytes <= line, 1) ? cost : cost * ((bytes + line - 1) >> m->line_shift);
}

/* The end of the rows from i on that are of one core. */
static inline uint32_t cf_paged_same_core(const struct cf_paged *rows, uint32_t i)
{
    const uint8_t core = rows->core[i++];
    const uint64_t eight = core * UINT64_C(0x0101010101010101);
    uint64_t word = eight;

    for (; i + sizeof word <= rows->rows && word == eight; i += sizeof word)
        memcpy(&word, rows->core + i, sizeof word);
    i -= word == eight ? 0 : sizeof word;
    while (i < rows->rows && rows->core[i] == core)
        i++;
    return i;
}

/* The space of all rows: pages are those of one process. */
extern const uint64_t cf_paged_space[CF_FILE_ROWS];

/* Fills cost[] and line_shift. */
void cf_paged_costs(struct cf_paged_machine *m, struct cf_latencies *l);

/* ---- alone.c: every page by itself ---- */

/* What each page gains when it alone is cached, in one reading: where the lines of a page that
   share a set are no more than its ways, nothing is ever replaced; then all pages can be cached at
   once in caches without bounds, since no page touches the lines of another. */
struct cf_alone;

/* How many frames a page may have for that: 0: the machine's sets are too few for any page. */
uint32_t cf_alone_frames(const struct cf_paged_machine *m);

/* NULL without memory. */
struct cf_alone *cf_alone_new(const struct cf_paged_machine *m);
void cf_alone_free(struct cf_alone *a);
/* -1 without memory. */
int cf_alone_rows(struct cf_alone *a, const struct cf_paged *rows) CF_MUST_CHECK;
/* Cycles that a core saves on a frame; negative where a cache costs more than memory. */
int64_t cf_alone_gain(const struct cf_alone *a, uint32_t frame, unsigned core);

/* ---- subsets.c: some pages together ---- */

/* The pages whose place in an order is from `from` up to `to`; with `others`, all but these. */
struct cf_subset {
    uint32_t from, to;
    int others;
};

/* Simulations beside each other, each of one subset. */
struct cf_subsets;

/* place[frame] of each page that will come; NULL: all are in every subset. NULL
   where the machine cannot be modelled, with `problem`, or without memory, with errno ENOMEM. */
struct cf_subsets *cf_subsets_new(const struct cf_paged_machine *m, const uint32_t *place,
                                  const struct cf_subset *subset, size_t count, char *problem,
                                  size_t size);
void cf_subsets_free(struct cf_subsets *s);
/* By at most so many threads. -1 without memory. */
int cf_subsets_rows(struct cf_subsets *s, const struct cf_paged *rows,
                    unsigned threads) CF_MUST_CHECK;
uint64_t cf_subsets_cycles(const struct cf_subsets *s, size_t subset, unsigned core);

/* ---- nested.c: the best k pages, for every k ---- */

/* All k in one reading, for machines with LRU everywhere, further levels that are unified and
   neither inclusive nor exclusive, and rows of one core without flushes. */
struct cf_nested;

/* Whether the machine is such. */
int cf_nested_fits(const struct cf_paged_machine *m);
/* The best k are those with places below k; for k in [from, to), of at most `pages`. By at most so
   many threads. NULL without memory. */
struct cf_nested *cf_nested_new(const struct cf_paged_machine *m, const uint32_t *place,
                                uint32_t pages, uint32_t from, uint32_t to, unsigned threads);
void cf_nested_free(struct cf_nested *n);
/* `frame` too. -1 without memory. */
int cf_nested_rows(struct cf_nested *n, const struct cf_paged *rows) CF_MUST_CHECK;
/* After the last rows. -1 without memory. */
int cf_nested_end(struct cf_nested *n) CF_MUST_CHECK;
uint64_t cf_nested_cycles(const struct cf_nested *n, uint32_t k);
/* Bytes that the further levels take so far. */
uint64_t cf_nested_bytes(const struct cf_nested *n);

/* Bytes that a simulation takes, about. */
uint64_t cf_subset_bytes(const struct cf_paged_machine *m);

#endif
