/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cores.h - which core makes an access, and in which address space: what a filter needs before it
 * can feed an engine.
 *
 * The core of a row is its cpu modulo `cores`, where the stream has that column; else the threads
 * go to the cores in turn, in the order in which they appear: the first to core 0, the next to
 * core 1, ... and round again. A thread is a pair (pid, tid). The address space is the process:
 * see cf_space_key(). Without pid and tid there is one thread of one process.
 *
 * Memory: 43 to 85 bytes a thread, and as many a process.
 */
#ifndef CF_CORES_H
#define CF_CORES_H

#include <stdint.h>

#include "filters/engine/rows/runs.h"
#include "formats/stream/cf.h"

struct cf_cores;

/* `cores` from 1 to 256; where it is 1 every row is on core 0. NULL without memory. */
struct cf_cores *cf_cores_new(unsigned cores);
void cf_cores_free(struct cf_cores *c);

/* The piece of rows that begins at `from` and is on one core and in one space: returns its end (at
   most `rows`). cpu, pid and tid may be NULL. 0 without memory. */
uint32_t cf_cores_piece(struct cf_cores *c, const uint32_t *cpu, const uint32_t *pid,
                        const uint32_t *tid, uint32_t from, uint32_t rows, uint32_t *core,
                        uint64_t *space);

/* The same of a frame: its columns cpu, pid and tid where they were asked for. */
static inline uint32_t cf_cores_next(struct cf_cores *c, const struct cf_frame *f, uint32_t from,
                                     uint32_t to, uint32_t *core, uint64_t *space)
{
    return cf_cores_piece(c, cf_u32(f, CF_CPU), cf_u32(f, CF_PID), cf_u32(f, CF_TID), from, to,
                          core, space);
}

/* The same row by row, for threads that take turns at every access. core[i] and space[i] for all
   rows. -1 without memory. */
int cf_cores_rows(struct cf_cores *c, const uint32_t *cpu, const uint32_t *pid, const uint32_t *tid,
                  uint32_t rows, uint8_t *core, uint64_t *space);

/* The first row from `from` on where one of two columns, which may be the same, differs from its
   value in row `from`; at most `rows`. */
uint32_t cf_cores_same(const uint32_t *a, const uint32_t *b, uint32_t from, uint32_t rows);

#endif
