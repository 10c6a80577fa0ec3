/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_simd.c - what coherence.c knows of each run, and its sets.
 *
 * The line of a run becomes the newest of its core's
 * set, whether it was there or not, and a store takes it from the others': nothing need be kept of
 * who holds a line, nor changed for the line that is evicted.
 */
#include <string.h>

#include "filters/engine/classes/coherence_parts.h"
#include "filters/engine/rows/ways.h"
#include "formats/stream/cf.h"

/* How the words of a line are found. */
struct words {
    unsigned line_shift, unit_shift;
    uint64_t bytes; /* of a line, less one */
};

/* Words of a line that an access touches; `part`: the line is not its first. */
CF_INLINE uint64_t words_of(struct words w, uint64_t addr, uint64_t size, uint64_t line, int part)
{
    const uint64_t begin = line << w.line_shift, more = size - (size != 0);
    const uint64_t end = addr > UINT64_MAX - more ? UINT64_MAX : addr + more;
    const uint64_t from = part ? 0 : addr - begin;
    const uint64_t to = end - begin < w.bytes ? end - begin : w.bytes;

    return (UINT64_MAX << (from >> w.unit_shift)) & (UINT64_MAX >> (63 - (to >> w.unit_shift)));
}

/* The words of the runs at hand, of which `at` come before in the batch. */
CF_INLINE void find_words(const struct cf_coherence *c, struct cf_coherence_block *b,
                          const struct cf_coherence_rows *in, uint32_t at, uint32_t next)
{
    enum { STORES_TOO = CF_RUN_STORE | CF_RUN_AGAIN };
    const struct cf_runs *const r = c->batch;
    const struct cf_coherence_rows rows = *in;
    const struct words w = {c->g.line_shift, c->unit_shift, ((uint64_t)1 << c->g.line_shift) - 1};
    const uint8_t *const flags = r->flags + at;
    const uint32_t *const row = r->row + at, runs = b->runs;
    const uint64_t *const line = r->line + at;
    uint32_t several = 0;
    uint16_t again[BLOCK + 1];

    for (uint32_t n = 0; n < runs; n++) {
        const uint32_t i = row[n];
        const uint64_t words = words_of(w, rows.addr[i], rows.size ? rows.size[i] : 1, line[n],
                                        flags[n] & CF_RUN_PART);

        b->touch[n] = words;
        b->write[n] = words & -(uint64_t)(rows.op && rows.op[i] == CF_STORE);
        again[several] = (uint16_t)n;
        several += (flags[n] & STORES_TOO) == STORES_TOO;
    }
    /* what the stores behind the first access write */
    for (uint32_t k = 0; k < several; k++) {
        const uint32_t n = again[k], last = at + n + 1 == r->count;
        /* a row whose next line begins the next run may have ended this one */
        const uint32_t end =
            last ? next + (r->done != 0) : row[n + 1] + ((flags[n + 1] & CF_RUN_PART) != 0);

        for (uint32_t i = row[n] + 1; i < end; i++)
            if (rows.op[i] == CF_STORE)
                b->write[n] |= words_of(w, rows.addr[i], rows.size ? rows.size[i] : 1, line[n], 0);
    }
}

void CF_SIMD(cf_coherence_take_runs)(struct cf_coherence *c, struct cf_coherence_block *b,
                                     const struct cf_coherence_rows *in, uint32_t at, uint32_t next)
{
    const struct cf_runs *const r = c->batch;
    const uint8_t *const flags = r->flags + at, *const ops = in->op, *const cores = in->core;
    const uint32_t *const row = r->row + at;
    const uint64_t *const line = r->line + at;
    uint32_t count = r->count - at;

    if (cf_runs_flags(flags, count) & CF_RUN_FLUSH)
        for (uint32_t n = 0; n < count; n++)
            if (flags[n] & CF_RUN_FLUSH)
                count = n ? n : 1;
    b->runs = count;
    b->one_core = c->one_core;
    memcpy(b->line, line, count * sizeof(*line));
    if (c->rows_asked)
        memcpy(b->row, row, count * sizeof(*row));
    for (uint32_t n = 0; n < count; n++) {
        const unsigned what = ops ? ops[row[n]] : CF_LOAD;
        const unsigned op = what && what < CF_CLASS_OPS ? what : CF_LOAD;

        b->core[n] = cores ? cores[row[n]] : 0;
        b->op[n] = (uint8_t)op;
        if (__builtin_expect(flags[n] & CF_RUN_PART, 0))
            c->counts.references[op]++;
    }
    if (!c->one_core)
        find_words(c, b, in, at, next);
    else if (c->g.outside) /* no news for others; the caches here do not ask */
        memset(b->write, 0, count * sizeof(*b->write));
    for (uint32_t n = 0; in->space && n < count; n++)
        b->line[n] ^= in->space[row[n]];
}

/* A line becomes the newest where it is there, or `enters`: over itself, else over a way without a
   line, else over the last. A set has `places`, of which the first `ways` are in use. Returns
   whether it was there. */
CF_INLINE int to_front(uint64_t *set, uint32_t places, uint32_t ways, uint64_t line, int enters)
{
    uint32_t at, none;

    if (places <= CF_WAYS_MOST) {
        const uint64_t found = cf_ways_find(set, places, line), last = (uint64_t)1 << (ways - 1);
        const uint64_t empty = cf_ways_find(set, places, CF_NO_LINE) & (last - 1);

        if (found || enters)
            cf_ways_push(set, places, found | (empty & -(uint64_t)!found) | last, line);
        return found != 0;
    }
    at = cf_ways_place(set, ways, line);
    none = cf_ways_place(set, ways - 1, CF_NO_LINE);
    if (at < ways || enters)
        cf_ways_front(set, ways, at < ways ? at : none, line);
    return at < ways;
}

/* A line leaves a set if it is there and `leaves`; no branch depends on that, which cannot be
   predicted. */
CF_INLINE void take(uint64_t *set, uint32_t ways, uint64_t line, int leaves)
{
    const uint32_t at = cf_ways_place(set, ways, line);
    uint64_t spare;

    *((at < ways) & leaves ? set + at : &spare) = CF_NO_LINE;
}

CF_INLINE void through_sets(struct cf_coherence *c, struct cf_coherence_block *b, int alone,
                            uint32_t places)
{
    const uint32_t cores = c->g.cores;
    const struct cf_sets index = c->index;
    const int stays_out = c->g.no_allocate;
    const uint32_t first_core = (uint32_t)1 << c->first_core % 32;
    const uint32_t runs = b->runs, ways = c->g.ways;
    uint64_t *const first = c->ways;

    for (uint32_t from = 0; from < runs; from += 64) {
        const uint32_t end = runs - from < 64 ? runs : from + 64;
        uint64_t missed = 0;

        for (uint32_t i = from; i < end; i++) {
            const uint32_t core = b->core[i], me = (uint32_t)1 << core;
            const uint64_t line = b->line[i], write = b->write[i];
            uint64_t *const set = first + (size_t)cf_sets_index(&index, line) * cores * places;

            missed |=
                (uint64_t)!to_front(set + core * places, places, ways, line, !stays_out || !write)
                << (i - from);
            if (alone)
                continue;
            if (cores == 2) {
                take(set + !core * places, places, line, write != 0);
                continue;
            }
            for (uint32_t k = write ? (c->holders[b->slot[i]] | first_core) & ~me : 0; k;
                 k &= k - 1)
                take(set + (uint32_t)__builtin_ctz(k) * places, places, line, 1);
            c->holders[b->slot[i]] |= me;
        }
        b->missed[from / 64] = missed;
    }
}

void CF_SIMD(cf_coherence_through_sets)(struct cf_coherence *c, struct cf_coherence_block *b)
{
    const int alone = b->one_core || c->g.cores == 1;

    if (c->places == COHERENCE_PLACES && alone)
        through_sets(c, b, 1, COHERENCE_PLACES);
    else if (c->places == COHERENCE_PLACES)
        through_sets(c, b, 0, COHERENCE_PLACES);
    else
        through_sets(c, b, alone, c->places);
}
