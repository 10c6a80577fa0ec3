/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tlb.c - how many pages are translated without a walk of the page tables: one line of each page is
 * visited, each in the next set, so that the first level holds all of them, as long as they are at
 * most half of its lines. More pages are visited with lines that it misses every time, so that they
 * are a series of their own; in large steps, since pages of tables and of the kernel take entries
 * there, too, and where it ends is not sharp (Saavedra and Smith, "Measuring Cache and TLB
 * Performance and Their Effect on Benchmark Runtimes", IEEE Transactions on Computers 44, 1995).
 */
#include "capture/probe/steady/steady.h"

enum { PART = 16 /* of the pages: the step of the second series */ };

static int visit(struct probe *p, uint64_t pages, unsigned level)
{
    const uint64_t line = p->level[0].line, page = p->page;
    struct cf_measured m;
    double value;

    probe_clear(p);
    for (uint64_t i = 0; i < pages; i++) {
        const uint64_t at = i * page + i * line % page;

        probe_add(p, at, at + 1, line);
    }
    if (steady_visit(p, &m, &value) != 0)
        return -1;
    probe_emit(p, "tlb", pages, level, &m);
    return 0;
}

int steady_tlb(struct probe *p, uint32_t repeats)
{
    struct cf_bench *const bench = p->bench;
    const uint64_t lines = p->level[0].size / p->level[0].line;
    uint64_t pages;
    int status = 0;

    if (!p->ordinary || !p->page)
        return 0;
    pages = p->ordinary->size / p->page;
    p->bench = p->ordinary;
    for (uint32_t i = 0; status == 0 && i < repeats && !(i > 2 && steady_late(p, "repeats")); i++) {
        for (uint64_t n = 1; status == 0 && n <= lines / 2 && n <= pages; n++)
            status = visit(p, n, 1);
        for (uint64_t n = lines * 3 / 2; status == 0 && n <= pages; n += n / PART)
            status = visit(p, n, 2);
    }
    p->bench = bench;
    return status;
}
