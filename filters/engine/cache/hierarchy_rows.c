/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From rows to batches of runs (runs.h), each of which goes to one of the implementations: the
 * pipeline (hierarchy_pipe.c), which is fast and serves simple machines as long as one core runs
 * and nothing is flushed, or the serial model (hierarchy_serial_simd.c), which serves all. Both
 * work on the same caches with the same result.
 */
#include <string.h>

#include "filters/engine/cache/hierarchy_parts.h"
#include "formats/cpu/cf_simd.h"
#include "formats/stream/cf.h"

/* so few are not worth a batch of runs */
enum { FEW_ROWS = 32 };

/* Line accesses at the first level, or at memory where there is none: one a row, and one for every
   further line of it. The runs do not show them, since repeated references are dropped.
   Returns the flushes. */
static uint64_t count_rows(struct cf_hierarchy *h, const uint8_t *op, uint32_t from, uint32_t to,
                           uint64_t *fetches)
{
    uint64_t n[CF_FLUSH + 1] = {0};

    cf_runs_ops(h->runs[0], op ? op + from : NULL, to - from, n);
    cfh_arrived(h, CLASS_LOAD, n[CF_LOAD]);
    cfh_arrived(h, CLASS_STORE, n[CF_STORE]);
    cfh_arrived(h, CLASS_FETCH, n[CF_IFETCH]);
    cfh_arrived(h, CLASS_PREFETCH, n[CF_PREFETCH]);
    *fetches = n[CF_IFETCH];
    return n[CF_FLUSH];
}

void cfh_count_parts(struct cf_hierarchy *h, const struct cf_runs *r, const uint8_t *op)
{
    const uint64_t parts = 0x0101010101010101u * CF_RUN_PART;

    for (uint32_t i = 0; i < r->count;) {
        uint64_t word = parts;
        uint32_t end = i + 8;

        if (end <= r->count)
            memcpy(&word, r->flags + i, 8);
        else
            end = r->count;
        if (__builtin_expect((word & parts) == 0, 1)) {
            i = end;
            continue;
        }
        for (; i < end; i++)
            if ((r->flags[i] & (CF_RUN_PART | CF_RUN_FLUSH)) == CF_RUN_PART)
                cfh_arrived(h, class_of_op(op, r->row[i]), 1);
    }
}

/* The depth that a row has which causes no run: that of its first level. */
static void preset(const struct cf_hierarchy *h, const uint8_t *op, uint32_t from, uint32_t to,
                   uint8_t *hit)
{
    memset(hit + from, h->first_depth[KIND_DATA], to - from);
    if (h->first_depth[KIND_FETCH] != h->first_depth[KIND_DATA])
        for (uint32_t i = from; op && i < to; i++)
            if (op[i] == CF_IFETCH)
                hit[i] = h->first_depth[KIND_FETCH];
}

/* Which implementation takes a batch. */
enum code { PIPELINE, SERIAL };

static int run_batches(struct cf_hierarchy *h, struct cf_runs *r, const uint64_t *addr,
                       const uint8_t *op, const uint32_t *size, uint32_t from, uint32_t to,
                       unsigned core, uint64_t space, enum code code, uint8_t *hit)
{
    while (from < to) {
        from = cf_runs_fill(r, addr, op, size, from, to, space);
        cfh_count_parts(h, r, op);
        if (code == SERIAL)
            h->serial(h, r, op, core, hit);
        else if (cfh_pipeline(h, r, NULL, op, core, hit) != 0)
            return -1;
    }
    return 0;
}

void cfh_from_rows(uint32_t *row, uint32_t count, const uint32_t *of)
{
    for (uint32_t i = 0; i < count; i++)
        row[i] = of[row[i]];
}

enum { ROWS = 64 };

/* A bit for each of up to 64 rows that is a fetch. */
static inline uint64_t fetches_of(const uint8_t *op, uint32_t rows)
{
    uint8_t some[ROWS] = {0};

    if (rows >= ROWS)
        return cf_bytes_equal(op, CF_IFETCH);
    memcpy(some, op, rows);
    return cf_bytes_equal(some, CF_IFETCH);
}

/* Appends those of 64 rows from `row` on to the rows of a kind, n of which are there. */
static inline __attribute__((always_inline)) uint32_t
take_kind(struct apart *a, const unsigned kind, uint32_t n, uint64_t those, const uint64_t *addr,
          const uint8_t *op, const uint32_t *size, uint32_t row)
{
    uint64_t *const addrs = a->addr[kind];
    uint32_t *const sizes = a->size[kind], *const rows = a->row[kind];
    uint8_t *const ops = a->op[kind];

    for (; those; those &= those - 1, n++) {
        const uint32_t i = row + (unsigned)__builtin_ctzll(those);

        addrs[n] = addr[i];
        sizes[n] = size ? size[i] : 1;
        rows[n] = i;
        if (kind == KIND_DATA) /* those of fetches are loads from the beginning */
            ops[n] = op[i];
    }
    return n;
}

/* Puts rows of the two kinds apart and makes runs of each; 0 if a batch does not hold them all. */
static int take_apart(struct apart *a, const uint64_t *addr, const uint8_t *op,
                      const uint32_t *size, uint32_t from, uint32_t to, uint64_t space)
{
    uint32_t n[KINDS] = {0};

    for (uint32_t i = from; i < to; i += ROWS) {
        const uint64_t there = to - i < ROWS ? (UINT64_C(1) << (to - i)) - 1 : UINT64_MAX;
        const uint64_t fetches = fetches_of(op + i, to - i) & there;

        n[KIND_DATA] = take_kind(a, KIND_DATA, n[KIND_DATA], there & ~fetches, addr, op, size, i);
        n[KIND_FETCH] = take_kind(a, KIND_FETCH, n[KIND_FETCH], fetches, addr, op, size, i);
    }
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct cf_runs *r = a->runs[kind];
        /* Vector code wants operations. It has to begin anew at each access of two lines, which
           are too many among fetches where lines are short. */
        const uint8_t *ops = kind == KIND_DATA || r->shift >= 6 ? a->op[kind] : NULL;
        const uint32_t end = cf_runs_fill(r, a->addr[kind], ops, a->size[kind], 0, n[kind], space);

        if (end != n[kind] || r->done) {
            r->done = 0;
            return 0;
        }
        cfh_from_rows(r->row, r->count, a->row[kind]);
        for (uint32_t i = 0; kind == KIND_FETCH && i < r->count; i++)
            r->flags[i] |= CF_RUN_FETCH;
    }
    return 1;
}

/* Runs of both kinds in the order of their rows: what is dropped of one kind would hit, whatever
   the other does in between. */
static const struct cf_runs *merge_kinds(struct apart *a)
{
    const struct cf_runs *data = a->runs[KIND_DATA], *fetches = a->runs[KIND_FETCH];
    struct cf_runs *both = a->both;
    uint32_t d = 0, f = 0, n = 0;

    /* the row behind the last of a list is above all */
    data->row[data->count] = fetches->row[fetches->count] = UINT32_MAX;
    for (; d < data->count || f < fetches->count; n++) {
        const uint64_t data_line = data->line[d], fetch_line = fetches->line[f];
        const uint32_t data_row = data->row[d], fetch_row = fetches->row[f];
        const uint8_t data_flags = data->flags[d], fetch_flags = fetches->flags[f];
        const int fetch = fetch_row < data_row;

        both->line[n] = fetch ? fetch_line : data_line;
        both->row[n] = fetch ? fetch_row : data_row;
        both->flags[n] = fetch ? fetch_flags : data_flags;
        f += (uint32_t)fetch;
        d += (uint32_t)!fetch;
    }
    both->count = n;
    return both;
}

static int run_apart(struct cf_hierarchy *h, const uint64_t *addr, const uint8_t *op,
                     const uint32_t *size, uint32_t from, uint32_t to, unsigned core,
                     uint64_t space, enum code code, uint8_t *hit)
{
    struct apart *a = h->apart;

    for (uint32_t end; from < to; from = end) {
        /* lines that straddle are a few, for which there is some room */
        end = to - from > BATCH / 4 * 3 ? from + BATCH / 4 * 3 : to;
        if (!take_apart(a, addr, op, size, from, end, space)) {
            if (h->chunk)
                return cfh_chunk_refuse(h->chunk);
            if (run_batches(h, h->runs[0], addr, op, size, from, end, core, space, SERIAL, hit) !=
                0)
                return -1;
            continue;
        }
        for (unsigned kind = 0; kind < KINDS; kind++)
            cfh_count_parts(h, a->runs[kind], op);
        if (code == SERIAL)
            h->serial(h, merge_kinds(a), op, core, hit);
        else if (cfh_pipeline(h, a->runs[KIND_DATA], a->runs[KIND_FETCH], op, core, hit) != 0)
            return -1;
    }
    return 0;
}

void cfh_take_core(struct cf_hierarchy *h, unsigned core)
{
    if (h->has_run && h->core == core)
        return;
    if (h->has_run) {
        h->several_cores = 1;
        h->coherent = h->may_share;
    }
    h->has_run = 1;
    h->used = core < h->used ? h->used : core + 1;
    if (h->core != core)
        for (unsigned i = 0; i < h->levels; i++)
            h->tier[i].at = core / h->tier[i].shared;
    h->core = core;
}

int cf_hierarchy_run(struct cf_hierarchy *h, const uint64_t *addr, const uint8_t *op,
                     const uint32_t *size, uint32_t from, uint32_t to, unsigned core,
                     uint64_t space, uint8_t *hit)
{
    const unsigned shift[KINDS] = {h->runs[KIND_DATA]->shift, h->runs[KIND_FETCH]->shift};
    const unsigned least = shift[0] < shift[1] ? shift[0] : shift[1];
    /* a key of the shorter lines, so that both kinds call the same memory the same */
    const uint64_t key[KINDS] = {space >> (shift[0] - least), space >> (shift[1] - least)};
    uint64_t fetches, flushes;
    enum code code;
    int status = 0, apart, broken;

    if (from >= to)
        return 0;
    core %= h->cores;
    cfh_take_core(h, core);
    h->addr = addr;
    h->size = size;
    preset(h, op, from, to, hit);
    flushes = count_rows(h, op, from, to, &fetches);
    if (h->chunk && flushes)
        return cfh_chunk_refuse(h->chunk);
    apart = h->apart && op && !flushes && !h->watched && fetches && to - from >= FEW_ROWS;
    /* not worth making runs: few rows, and fetches between the data, which break them up */
    broken = (fetches && !apart) || h->two_runs || to - from < FEW_ROWS;
    code = !flushes && h->pipeline && !h->several_cores && (!h->split || op) ? PIPELINE : SERIAL;
    code = h->chunk ? PIPELINE : code;
    if (h->ahead || (code == SERIAL && !h->watched && broken)) {
        h->serial_rows(h, addr, op, size, from, to, core, key, hit);
    } else if (h->split && fetches && (code == PIPELINE || apart)) {
        status = run_apart(h, addr, op, size, from, to, core, space, code, hit);
    } else if (!h->two_runs) {
        status = run_batches(h, h->runs[0], addr, op, size, from, to, core, space, code, hit);
    } else {
        /* stretches of one kind, each with lines of its own size */
        for (uint32_t end; status == 0 && from < to; from = end) {
            int fetch = op && op[from] == CF_IFETCH;

            for (end = from + 1; end < to && (op && op[end] == CF_IFETCH) == fetch; end++)
                ;
            status = run_batches(h, h->runs[fetch], addr, op, size, from, end, core, key[fetch],
                                 code, hit);
        }
    }
    for (unsigned i = 0; i < h->levels; i++)
        if (h->tier[i].watch)
            cfh_watch_flush(&h->tier[i]);
    return status;
}

int cf_hierarchy_rows(struct cf_hierarchy *h, const uint64_t *addr, const uint8_t *op,
                      const uint32_t *size, uint32_t rows, const uint8_t *core,
                      const uint64_t *space, uint8_t *hit)
{
    for (uint32_t from = 0, end; from < rows; from = end) {
        for (end = from + 1; end < rows && core[end] == core[from] && space[end] == space[from];
             end++)
            ;
        if (cf_hierarchy_run(h, addr, op, size, from, end, core[from], space[from], hit) != 0)
            return -1;
    }
    return 0;
}
