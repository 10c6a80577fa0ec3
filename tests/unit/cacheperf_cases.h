/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cacheperf_cases.h - samples by hand: two threads at a line, an instruction that walks.
 */
#ifndef CACHEPERF_CASES_H
#define CACHEPERF_CASES_H

#include "cacheperf_rows.h"

/* Nothing is left out but what a case sets. */
__attribute__((unused)) static void lenient(void)
{
    defaults();
    g.window_ratio = g.load_misses = g.store_misses = g.code_accesses = g.code_misses = 0;
    g.line_misses = g.set_misses = 0;
}

static struct row *add(uint32_t tid, unsigned op, uint64_t addr, uint64_t pc, unsigned level)
{
    struct row *r = &row[rows++];

    *r = (struct row){.addr = addr,
                      .pc = pc,
                      .weight = 100,
                      .size = 4,
                      .pid = 1,
                      .tid = tid,
                      .op = (uint8_t)op,
                      .level = (uint8_t)level,
                      .stage = CF_STAGE_COARSE};
    return r;
}

static struct row *fine(uint32_t tid, uint64_t addr, uint64_t pc)
{
    struct row *r = add(tid, CF_LOAD, addr, pc, 1);

    r->stage = CF_STAGE_FINE;
    r->weight = 0;
    return r;
}

__attribute__((unused)) static void hits(unsigned n, unsigned op)
{
    for (unsigned i = 0; i < n; i++)
        add(1, op, 0x10, 0xff, 1);
}

/* The class of the last row that missed. */
__attribute__((unused)) static unsigned verdict(void)
{
    unsigned last = 0;

    engine(rows / 2);
    for (unsigned i = 0; i < rows; i++)
        last = row[i].level > 1 ? got[i] : last;
    return last;
}

static const uint64_t LINE = 0x1000;

/* Two threads that load and store, at these places of the line. */
__attribute__((unused)) static void contend(unsigned times, uint64_t one, uint64_t two)
{
    for (unsigned i = 0; i < times; i++) {
        add(1, CF_LOAD, LINE + one, 1, 2);
        add(1, CF_STORE, LINE + one, 2, 1);
        add(2, CF_LOAD, LINE + two, 1, 2);
        add(2, CF_STORE, LINE + two, 2, 1);
    }
}

/* Misses of an instruction on as many sets, and fine samples of it at a stride. */
__attribute__((unused)) static void walk(unsigned misses, unsigned samples, uint64_t stride)
{
    for (unsigned i = 0; i < misses; i++)
        add(1, CF_LOAD, 0x100000 + 64 * i, 5, 2);
    for (unsigned i = 0; i < samples; i++)
        fine(1, 0x200000 + stride * i, 5);
}

#endif
