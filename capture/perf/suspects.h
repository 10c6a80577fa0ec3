/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suspects.h - which instruction gets the breakpoint next: the choice of section 3.3 of
 * "CachePerf".
 *
 * An instruction wants it when two of its samples in a row missed, or when one missed on a set on
 * which 8 of the thread's last 64 sampled misses were: so does cf-sample unless told otherwise. It
 * waits, and the next one is that with the most sampled misses: what a program does once, as when
 * it starts, does not hold up what it goes on to do. One that had a turn gets another when the
 * caller says so.
 *
 * Memory: 270 KB, and 50 to 100 bytes an instruction with a sampled miss.
 */
#ifndef CF_PERF_SUSPECTS_H
#define CF_PERF_SUSPECTS_H

#include <stdint.h>

#include "formats/stream/cf.h"

struct cf_suspects;

/* Of one set nothing is said by misses on it. NULL without memory. */
struct cf_suspects *cf_suspects_new(uint32_t sets, uint32_t line_size);
void cf_suspects_free(struct cf_suspects *s);

/* A sampled access; again: its instruction may have another turn. -1 without memory. */
int cf_suspects_sampled(struct cf_suspects *s, uint32_t pid, uint32_t tid, uint64_t pc,
                        uint64_t addr, int missed, int again) CF_MUST_CHECK;

uint32_t cf_suspects_waiting(const struct cf_suspects *s);

/* Whose turn it is; some wait. */
void cf_suspects_next(struct cf_suspects *s, uint32_t *pid, uint64_t *pc);

#endif
