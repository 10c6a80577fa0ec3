/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs_parts.h - what the portable and the vector code of runs.h share.
 */
#ifndef CF_RUNS_PARTS_H
#define CF_RUNS_PARTS_H

#include "filters/engine/rows/runs.h"

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
    uint32_t slow;            /* rows before this one are taken one by one */
};

/* What plain rows look back to. */
struct cf_runs_before {
    uint64_t line;  /* UINT64_MAX: of a reference that ends a run */
    uint64_t fetch; /* 1: of a fetch */
};

/* Takes plain rows, 64 at a time, of `rows` rows that begin at `from`, up to the first that is not
   plain or while the batch has room for 64 runs: returns how many rows. Plain are loads, stores
   and, without CF_RUNS_SPLIT, fetches of one or two lines each, and rows that take no part.
   `before` is renewed. */
typedef uint32_t cf_runs_blocks(struct cf_runs *r, const struct cf_runs_input *in, uint32_t from,
                                uint32_t rows, struct cf_runs_before *before);
cf_runs_blocks cf_runs_blocks_avx2, cf_runs_blocks_avx512;

#ifdef __x86_64__
#include <immintrin.h>

#define CF_RUNS_INLINE static inline __attribute__((always_inline, target("bmi,bmi2,popcnt")))

/* Of a block of rows, a bit a row; or of the first half of one that has straddling rows, two bits a
   row: for its first line, and for its second, which takes part where there is one. */
struct cf_runs_masks {
    uint64_t begins; /* its line differs from that of the row before */
    uint64_t loads, stores, fetches;
    uint64_t straddles; /* more than one line */
    uint64_t part;      /* takes part */
};

/* Rows ahead of those at hand that are asked for, far enough to come from memory in time. */
enum { CF_RUNS_AHEAD = 256 };

/* Asks for the 64 rows that lie CF_RUNS_AHEAD rows behind `row`: the processor by itself does not
   look far enough ahead in three columns at once. */
CF_RUNS_INLINE void cf_runs_ask(const struct cf_runs_input *in, uint32_t row)
{
    const char *const addr = (const char *)(in->addr + row + CF_RUNS_AHEAD);
    const char *const size = (const char *)(in->size + row + CF_RUNS_AHEAD);

#pragma GCC unroll 8
    for (unsigned k = 0; k < 8; k++)
        _mm_prefetch(addr + 64 * k, _MM_HINT_T0);
#pragma GCC unroll 4
    for (unsigned k = 0; k < 4; k++)
        _mm_prefetch(size + 64 * k, _MM_HINT_T0);
    _mm_prefetch((const char *)(in->op + row + CF_RUNS_AHEAD), _MM_HINT_T0);
}

/* The rows in `part` whose line differs from the last one of the row before in `part`. */
CF_RUNS_INLINE uint64_t cf_runs_begins(const uint64_t *addr, unsigned shift, uint64_t part,
                                       uint64_t straddles, uint64_t before)
{
    uint64_t begins = 0;

    for (; part; part = _blsr_u64(part)) {
        const uint64_t row = _blsi_u64(part), line = addr[_tzcnt_u64(part)] >> shift;

        begins |= line != before ? row : 0;
        before = line + ((straddles & row) != 0);
    }
    return begins;
}

/* Finds the rows that take part: returns how many rows come before the first that is not plain. */
CF_RUNS_INLINE unsigned cf_runs_plain(const struct cf_runs *r, const uint64_t *addr,
                                      uint64_t before, struct cf_runs_masks *m)
{
    const uint64_t data = r->options & CF_RUNS_DATA ? UINT64_MAX : 0;
    const uint64_t fetches = r->options & CF_RUNS_FETCHES ? m->fetches : 0;
    const uint64_t plain = m->loads | m->stores | (r->options & CF_RUNS_SPLIT ? 0 : fetches);

    m->part = fetches | (~m->fetches & data);
    m->straddles &= m->part;
    if (m->part != UINT64_MAX)
        m->begins = cf_runs_begins(addr, r->shift, m->part, m->straddles, before);
    return (unsigned)_tzcnt_u64(~plain & m->part);
}

/* Two bits for each of the first 32 rows: returns how many of these rows come before the first that
   is not plain, if `taken` did before lines were looked at. */
CF_RUNS_INLINE unsigned cf_runs_double(const struct cf_runs *r, const uint64_t *addr,
                                       const uint32_t *size, struct cf_runs_masks *m,
                                       unsigned taken)
{
    const uint64_t first = 0x5555555555555555u, half = UINT32_MAX;
    uint64_t begins = m->begins, second = m->straddles & half;

    taken = taken < 32 ? taken : 32;
    for (uint64_t left = second; left; left = _blsr_u64(left)) {
        const unsigned row = (unsigned)_tzcnt_u64(left);
        const uint64_t next = (addr[row] >> r->shift) + 1, after = _blsi_u64(left) << 1;

        if ((addr[row] + size[row] - 1) >> r->shift != next) {
            taken = taken < row ? taken : row; /* three lines, or past the top of memory */
            break;
        }
        begins = addr[row + 1] >> r->shift == next ? begins & ~after : begins | after;
    }
    m->begins = _pdep_u64(begins, first) | _pdep_u64(second, ~first);
    m->stores = _pdep_u64(m->stores, first) * 3;
    m->fetches = _pdep_u64(m->fetches, first) * 3;
    m->part = _pdep_u64(m->part, first) | _pdep_u64(second, ~first);
    return taken;
}

/* Runs that begin in a block. */
struct cf_runs_found {
    uint64_t rows;                /* a bit for each row that begins one */
    uint64_t store, again, fetch; /* a bit a run: its flags */
    uint64_t second;              /* a bit a run: of the second line of a row */
    unsigned count;
};

/*
 * Finds the runs that begin in the first `taken` rows of a block (from 1), and renews the flags of
 * the run before. What takes no part is squeezed out of the masks first.
 *
 * With a bit at the last row of each run, adding the stores to the rows before it carries into that
 * bit exactly when one of the run's rows is a store.
 */
CF_RUNS_INLINE struct cf_runs_found cf_runs_find(struct cf_runs *r, const uint64_t *addr,
                                                 struct cf_runs_masks m, unsigned taken,
                                                 int doubled, struct cf_runs_before *before)
{
    const uint64_t part = m.part & _bzhi_u64(UINT64_MAX, taken << doubled);
    struct cf_runs_found f = {0};
    unsigned last;

    taken <<= doubled;
    if (!part)
        return f;
    last = 63 - (unsigned)__builtin_clzll(part);
    if (part != _bzhi_u64(UINT64_MAX, taken)) {
        taken = (unsigned)_mm_popcnt_u64(part);
        m.begins = _pext_u64(m.begins, part);
        m.stores = _pext_u64(m.stores, part);
        m.fetches = _pext_u64(m.fetches, part);
    }
    const uint64_t valid = _bzhi_u64(UINT64_MAX, taken);
    const uint64_t apart = r->options & CF_RUNS_STORES ? m.stores : 0;
    const uint64_t other = m.fetches ^ (m.fetches << 1 | before->fetch);
    const uint64_t begins = (m.begins | other | apart | apart << 1) & valid;
    const uint64_t going_on = (begins ^ (begins - 1)) >> 1; /* rows of the run before */
    const uint64_t lead = begins ? going_on & valid : valid;

    if (lead)
        r->flags[r->count - 1] |= CF_RUN_AGAIN | (m.stores & lead ? CF_RUN_STORE : 0);
    if (begins) {
        const uint64_t ends = _blsr_u64(begins) >> 1 | (uint64_t)1 << (taken - 1);
        const uint64_t inner = ~ends & valid;
        const uint64_t own = m.stores & valid & ~lead;

        f.store = _pext_u64(((own & inner) + inner) | own, ends);
        f.again = _pext_u64(~begins, ends);
        f.fetch = _pext_u64(m.fetches, begins);
        f.rows = _pdep_u64(begins, part);
        f.count = (unsigned)_mm_popcnt_u64(begins);
        f.second = doubled ? _pext_u64(0xaaaaaaaaaaaaaaaau, f.rows) : 0;
    }
    r->references += taken;
    before->line = apart >> (taken - 1) & 1
                       ? UINT64_MAX
                       : (addr[last >> doubled] >> r->shift) + (last & (unsigned)doubled);
    before->fetch = m.fetches >> (taken - 1) & 1;
    return f;
}
#endif

#endif
