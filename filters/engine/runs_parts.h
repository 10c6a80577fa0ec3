/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs_parts.h - what the portable and the vector code of runs.h share.
 */
#ifndef CF_RUNS_PARTS_H
#define CF_RUNS_PARTS_H

#include "filters/engine/runs.h"

/* A call of cf_runs_fill(): its input, and the reference before. In index 0 all references, or with
   CF_RUNS_SPLIT those to data; in index 1 then the fetches. */
struct cf_runs_input {
    const uint64_t *addr;
    const uint8_t *op;    /* or NULL */
    const uint32_t *size; /* or NULL */
    uint64_t space;
    uint64_t before[2];       /* line of the reference before, without space */
    unsigned class_before[2]; /* its class */
    uint32_t run[2];          /* its run */
};

/* Takes blocks of 64 rows in which all are loads and stores of one line each, of `rows` rows that
   begin at `from`, while the batch has room for them: returns how many rows. *before is the line of
   the reference before, UINT64_MAX for one that ends a run, and is renewed. */
typedef uint32_t cf_runs_blocks(struct cf_runs *r, const struct cf_runs_input *in, uint32_t from,
                                uint32_t rows, uint64_t *before);
cf_runs_blocks cf_runs_blocks_avx2, cf_runs_blocks_avx512;

#ifdef __x86_64__
#include <immintrin.h>

/*
 * Writes the flags of the runs that begin in a block of 64 rows, of which `taken` count, and
 * returns a bit for each row that begins one: it has the bit in `begins`, or it or the row before
 * is in `apart`.
 *
 * With a bit at the last row of each run, adding the stores to the rows before it carries into that
 * bit exactly when one of the run's rows is a store.
 */
static inline __attribute__((always_inline, target("bmi,bmi2,popcnt"))) uint64_t
cf_runs_flags(struct cf_runs *r, uint64_t begins, uint64_t stores, uint64_t apart, unsigned taken)
{
    const uint64_t valid = _bzhi_u64(UINT64_MAX, taken);

    begins = (begins | apart | apart << 1) & valid;
    const uint64_t going_on = (begins ^ (begins - 1)) >> 1; /* rows of the run before */
    const uint64_t lead = begins ? going_on & valid : valid;

    if (lead)
        r->flags[r->count - 1] |= CF_RUN_AGAIN | (stores & lead ? CF_RUN_STORE : 0);
    if (begins) {
        const uint64_t ends = _blsr_u64(begins) >> 1 | (uint64_t)1 << (taken - 1);
        const uint64_t inner = ~ends & valid;
        const uint64_t own = stores & valid & ~lead;
        const uint64_t store = _pext_u64(((own & inner) + inner) | own, ends);
        const uint64_t again = _pext_u64(~begins, ends);
        const unsigned count = (unsigned)__builtin_popcountll(begins);

        for (unsigned k = 0; k < count; k += 8) {
            const uint64_t eight = _pdep_u64(store >> k, CF_RUN_STORE * 0x0101010101010101u) |
                                   _pdep_u64(again >> k, CF_RUN_AGAIN * 0x0101010101010101u);

            __builtin_memcpy(r->flags + r->count + k, &eight, 8);
        }
    }
    return begins;
}
#endif

#endif
