/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency.h - cycles that accesses cost, from the level that served each, its operation and, where
 * the machine has it, the operation before at that level.
 *
 * Without such a dependence a row is one look into a table of (level, operation). With one, every
 * cache of a level that has it keeps the operation of its last access. An access comes to all
 * levels on its path up to the one that served it; a store goes on through write-through levels to
 * the first that writes back, or to memory. Caches that write back also send lines outwards: these
 * are not in the records and do not count. The path of an instruction fetch has the instruction and
 * unified levels, that of everything else the data and unified ones.
 *
 * The rule "added" sums the levels up to the one that served, each by its own previous access, as
 * in: Ntogramatzi, Katsaros, Nikolaidis: Cache activity profiling tool for the LEON4 processor,
 * III.C, steps 6 and 7.
 *
 * Memory: 44 KiB, and 256 bytes for each level that depends on earlier accesses.
 */
#ifndef CF_ENGINE_LATENCY_H
#define CF_ENGINE_LATENCY_H

#include <stdint.h>

#include "formats/machine/cf_machine.h"

enum {
    CF_LATENCY_KINDS = CF_LATENCY_OPS + 1, /* operations of access, 0 and 6: something else */
    CF_LATENCY_KEYS = 256 * 8              /* a key is level * 8 + operation */
};

/* Why a key has no cycles; rows of such keys cost 0. */
enum cf_latency_lack {
    CF_LACKS_NOTHING,
    CF_LACKS_ORIGIN,  /* level 0 or 254: not known what served it; or an operation of no kind */
    CF_LACKS_LEVEL,   /* the machine has no such level on the path of the operation */
    CF_LACKS_LATENCY, /* the description does not state the latency of cf_latencies_level() */
};

struct cf_latencies;

/* A copy of what is needed from the machine. NULL without memory. */
struct cf_latencies *cf_latencies_new(const struct cf_machine *m) CF_MUST_CHECK;
void cf_latencies_free(struct cf_latencies *l);

/* Does a cost depend on earlier accesses? Then cf_latencies_rows() needs cores. */
int cf_latencies_depend(const struct cf_latencies *l);

/* cost[i] in cycles, for rows of level[i] (1, 2, ..: depth, 255: memory, 0: unknown) and op[i]
   (NULL: loads); saturates at UINT32_MAX. core[i], or NULL: all of core 0. seen[key] is set to 1
   for every key among the rows. */
void cf_latencies_rows(struct cf_latencies *l, const uint8_t *level, const uint8_t *op,
                       const uint8_t *core, uint32_t rows, uint32_t *cost,
                       uint8_t seen[CF_LATENCY_KEYS]);

/* Key of a row; operations beyond flush share one that has no cycles. */
static inline unsigned cf_latency_key(unsigned level, unsigned op)
{
    return level << 3 | (op < CF_LATENCY_OPS ? op : CF_LATENCY_OPS);
}

/* What the rows of a key lack, if anything. */
enum cf_latency_lack cf_latencies_lack(const struct cf_latencies *l, unsigned key);

/* Index in the machine of the level that a key means; m->levels for memory, -1 for none. Of a key
   that lacks a latency: the level that lacks it. */
int cf_latencies_level(const struct cf_latencies *l, unsigned key);

#endif
