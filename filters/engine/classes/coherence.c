/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence.c - private caches under invalidation, with classes of misses (see coherence.h).
 *
 * Blocks of runs go through five steps. (1) Rows become runs: references of one core to one line,
 * one after the other (runs.h); a run keeps the words that it writes, and those that its first
 * access touches, which are what counts if it misses (coherence_simd.c). (2) Lines become slots.
 * (3) Runs pass through the sets of their cores, or the caller's list of misses, which says who
 * misses (coherence_simd.c). (4) Each core's fully associative cache takes the runs of its core.
 * (5) Run by run, what the core knew of the line gives the class of a miss, and a store gives news
 * of it to the others.
 *
 * The state of a line is the set of cores that ever held it, and for each of them the words that
 * others wrote since it referenced the line last: it has lost the line to them, or had lost it
 * before, if there are any. Behind it stand the times of the fully associative caches (full.h), so
 * that one access to memory brings all that is known of a line. A set is its lines from the newest
 * to the oldest (ways.h); where one left, its way holds none until the next comes.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/coherence_parts.h"
#include "filters/engine/rows/ways.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

struct cf_coherence *cf_coherence_new(const struct cf_coherence_geometry *g)
{
    struct cf_coherence *c;
    uint64_t lines = (uint64_t)g->sets * g->ways;
    size_t bytes;

    if (g->cores < 1 || g->cores > CF_COHERENCE_CORES || !lines || g->line_shift < 2 ||
        g->line_shift > 16 || lines > SIZE_MAX / COHERENCE_PLACES / sizeof(*c->ways) / g->cores)
        return NULL;
    c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->g = *g;
    c->unit_shift = g->line_shift > 8 ? g->line_shift - 6 : 2;
    c->mask_bits = g->line_shift - c->unit_shift > 4 ? 64 : 16;
    c->times = c->mask_bits == 16 ? 1 + (g->cores + 1) / 2 : 2 + 2 * g->cores;
    while (1u << c->shift < c->times + g->cores)
        c->shift++;
    c->index = cf_sets(g->sets);
    c->one_core = !g->no_allocate;
    c->first_core = CF_COHERENCE_CORES;
    c->take_runs = CF_SIMD_CHOICE(cf_coherence_take_runs);
    c->through_sets = CF_SIMD_CHOICE(cf_coherence_through_sets);
    c->slots = cf_slots_new();
    c->batch = cf_runs_new(
        g->line_shift,
        (g->fetches ? CF_RUNS_ALL : CF_RUNS_DATA) | (g->no_allocate ? CF_RUNS_STORES : 0), BLOCK);
    if (!c->slots || !c->batch)
        goto fail;
    if (!g->outside) {
        c->places = (g->ways + COHERENCE_PLACES - 1) / COHERENCE_PLACES * COHERENCE_PLACES;
        bytes = (size_t)g->sets * c->places * g->cores * sizeof(*c->ways) + CF_WAYS_BEHIND;
        c->ways = cf_memory_take(bytes);
        if (!c->ways)
            goto fail;
        memset(c->ways, CF_NO_LINE_BYTE, bytes);
    }
    for (unsigned i = 0; i < g->cores; i++) {
        c->full[i] = cf_full_new(lines);
        if (!c->full[i])
            goto fail;
    }
    return c;
fail:
    cf_coherence_free(c);
    return NULL;
}

void cf_coherence_free(struct cf_coherence *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->g.cores; i++)
        cf_full_free(c->full[i]);
    cf_slots_free(c->slots);
    cf_runs_free(c->batch);
    free(c->begins);
    free(c->ways);
    free(c->holders);
    free(c->state);
    free(c);
}

/* ---- step 1: rows to runs ---- */

/* Rows by operation; taking runs adds what they have of further lines. */
static void count_rows(struct cf_coherence *c, const struct cf_coherence_rows *in)
{
    const uint64_t fetches = c->counts.references[CF_IFETCH];

    cf_runs_ops(c->batch, in->op, in->rows, c->counts.references);
    if (!c->g.fetches)
        c->counts.references[CF_IFETCH] = fetches;
}

/* What a batch must know of the rows. -1 without memory. */
static int mark_begins(struct cf_coherence *c, const struct cf_coherence_rows *in)
{
    const uint32_t rows = in->rows;
    uint8_t *begins = c->begins;

    if (c->begins_room < rows) {
        free(begins);
        c->begins = begins = malloc((size_t)rows + 64);
        c->begins_room = begins ? rows : 0;
        if (!begins)
            return -1;
    }
    memset(begins, 0, rows);
    /* equal values equal themselves shifted by one */
    if (in->core && memcmp(in->core, in->core + 1, rows - 1) != 0)
        for (uint32_t i = 1; i < rows; i++)
            begins[i] = in->core[i] != in->core[i - 1];
    if (in->space && memcmp(in->space, in->space + 1, (rows - 1) * sizeof(*in->space)) != 0)
        for (uint32_t i = 1; i < rows; i++)
            begins[i] |= in->space[i] != in->space[i - 1];
    for (uint32_t i = 0; in->missed && i < rows; i++)
        begins[i] |= in->missed[i];
    c->batch->begins = begins;
    return 0;
}

/* ---- step 4: what a fully associative cache of the core says ---- */

/* The run behind the last one that is of the same core as run `i` and those between. */
static uint32_t end_of_turn(const struct cf_coherence_block *b, uint32_t i)
{
    enum { FEW = 8 };
    const uint8_t core = b->core[i];

    /* equal values equal themselves shifted by one */
    while (i + FEW < b->runs && !memcmp(&b->core[i], &b->core[i + 1], FEW))
        i += FEW;
    for (i++; i < b->runs && b->core[i] == core; i++)
        ;
    return i;
}

/* The fully associative caches where stores do not allocate: one by one. */
static int touch_or_pass(struct cf_coherence *c, const struct cf_coherence_block *b)
{
    for (uint32_t i = 0; i < b->runs; i++) {
        int found = cf_full_one(c->full[b->core[i]], c->slots, b->slot[i],
                                b->write[i] ? CF_FULL_NO_ALLOCATE : CF_FULL_TOUCH);

        if (found < 0)
            return -1;
        c->found[i] = (uint8_t)found;
    }
    return 0;
}

static int room_for_states(struct cf_coherence *c, const struct cf_coherence_block *b)
{
    void *state = c->state;
    const uint32_t room = c->room;

    if (cf_slots_array(b->slots, &state, &c->room, sizeof(*c->state) << c->shift) != 0)
        return -1;
    c->state = state;
    for (unsigned k = 0; k < c->g.cores && c->room != room; k++)
        cf_full_lend(c->full[k], c->state + c->times + k, c->room, c->shift);
    for (uint32_t i = 0; i < b->runs; i++)
        __builtin_prefetch(state_of(c, b->slot[i]), 1);
    return 0;
}

/* What the fully associative caches say, of runs of one core at a time. */
static int through_full(struct cf_coherence *c, const struct cf_coherence_block *b)
{
    if (c->g.no_allocate)
        return touch_or_pass(c, b);
    for (uint32_t i = 0, next; i < b->runs; i = next) {
        next = end_of_turn(b, i);
        if (cf_full_touch(c->full[b->core[i]], c->slots, b->slot + i, next - i, c->found + i) != 0)
            return -1;
    }
    return 0;
}

/* ---- steps 3 and 5: who misses, and why ---- */

/* The state of a slot: a bit for each core that ever held the line, and for each core the words
   that others wrote since it referenced the line last: 16 bits, or 64 from the second word on. */
static inline uint64_t get_news(const uint32_t *state, unsigned core, int wide)
{
    return wide ? ((const uint64_t *)(const void *)state)[1 + core]
                : ((const uint16_t *)state)[2 + core];
}

static inline void put_news(uint32_t *state, unsigned core, uint64_t news, int wide)
{
    if (wide)
        ((uint64_t *)(void *)state)[1 + core] = news;
    else
        ((uint16_t *)state)[2 + core] = (uint16_t)news;
}

static void flush_sets(struct cf_coherence *c, uint64_t line)
{
    uint64_t *const sets = sets_of(c, line);

    for (uint32_t w = 0; w < c->g.cores * c->places; w++)
        if (sets[w] == line)
            sets[w] = CF_NO_LINE;
}

static int flush_full(struct cf_coherence *c, uint32_t slot)
{
    for (unsigned k = 0; k < c->g.cores; k++)
        if (cf_full_one(c->full[k], c->slots, slot, CF_FULL_FLUSH) < 0)
            return -1;
    return 0;
}

/* Which runs miss in the caller's, of whose misses `k` belong to runs before. Returns how many
   belong to these or runs before. */
static uint32_t through_list(struct cf_coherence_block *b, const struct cf_coherence_rows *in,
                             uint32_t k)
{
    memset(b->missed, 0, sizeof(b->missed));
    for (uint32_t i = 0; i < b->runs && k < in->misses; i++)
        if (in->miss_row[k] == b->row[i] && in->miss_line[k] == b->line[i]) {
            b->missed[i / 64] |= (uint64_t)1 << i % 64;
            k++;
        }
    return k;
}

/* What the cores knew of the lines, and know then; the first may know any of before a second came.
   No branch depends on what is found, which cannot be predicted where it matters. */
static inline __attribute__((always_inline)) void
states(struct cf_coherence *c, const struct cf_coherence_block *b, int wide)
{
    const uint32_t runs = b->runs;
    const int stays_out = c->g.no_allocate, one_core = b->one_core, outside = c->g.outside;
    const unsigned shift = c->shift;
    const uint32_t first_core = (uint32_t)1 << c->first_core % 32;
    uint32_t *const first = c->state;

    for (uint32_t i = 0; i < runs; i++) {
        const unsigned core = b->core[i];
        const uint32_t me = (uint32_t)1 << core;
        const uint64_t missed = b->missed[i / 64] >> i % 64 & 1;
        const uint64_t write = b->write[i];
        /* a core that has the line has no news of it */
        const uint64_t comes = -(missed & !(stays_out && write));
        uint32_t *const state = first + ((size_t)b->slot[i] << shift), known = *state;
        const uint64_t news = get_news(state, core, wide);

        if (one_core && !missed)
            continue;
        c->news[i] = news;
        c->found[i] = (outside && !(known & me)) ? CF_FULL_NEVER_SEEN : c->found[i];
        put_news(state, core, news & ~comes, wide);
        *state = known | (me & (uint32_t)comes);
        if (c->g.cores == 2) {
            put_news(state, !core, get_news(state, !core, wide) | write, wide);
            continue;
        }
        for (uint32_t others = write ? ((known | first_core) & ~me) : 0; others;
             others &= others - 1) {
            const unsigned k = (unsigned)__builtin_ctz(others);

            put_news(state, k, get_news(state, k, wide) | write, wide);
        }
    }
}

static void count_misses(struct cf_coherence *c, const struct cf_coherence_block *b, uint8_t *class)
{
    static const uint8_t classes[] = {CF_CLASS_CONFLICT, CF_CLASS_COMPULSORY, CF_CLASS_CAPACITY};

    for (uint32_t k = 0; 64 * k < b->runs; k++)
        for (uint64_t missed = b->missed[k]; missed; missed &= missed - 1) {
            const uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(missed);
            const uint8_t sharing =
                c->news[i] & b->touch[i] ? CF_CLASS_TRUE_SHARING : CF_CLASS_FALSE_SHARING;
            const uint8_t found =
                c->news[i] && c->found[i] != CF_FULL_NEVER_SEEN ? sharing : classes[c->found[i]];

            if (class)
                cf_class_raise(&class[b->row[i]], found);
            c->counts.misses[b->op[i]][found]++;
        }
}

/* Whether all rows so far are of one core. */
static void see_cores(struct cf_coherence *c, const struct cf_coherence_rows *in)
{
    const uint32_t core = in->core ? in->core[0] : 0;

    c->one_core &= c->first_core == CF_COHERENCE_CORES || c->first_core == core;
    if (c->first_core == CF_COHERENCE_CORES)
        c->first_core = core;
    if (in->core)
        c->one_core &= !memcmp(in->core, in->core + 1, in->rows - 1);
}

/* Steps 2 and 3. -1 without memory. */
static int block_sets(struct cf_coherence *c, struct cf_coherence_block *b,
                      const struct cf_coherence_rows *in, uint32_t *next_miss)
{
    void *holders = c->holders;

    if (cf_slots_find(c->slots, b->line, b->runs, b->slot) != 0)
        return -1;
    b->slots = cf_slots_count(c->slots);
    if (c->g.outside) {
        *next_miss = through_list(b, in, *next_miss);
        return 0;
    }
    if (c->g.cores > 2 && !b->one_core &&
        cf_slots_array(b->slots, &holders, &c->holders_room, sizeof(*c->holders)) != 0)
        return -1;
    c->holders = holders;
    for (uint32_t i = 0; holders && i < b->runs; i++)
        __builtin_prefetch(c->holders + b->slot[i], 1);
    if (b->op[0] == CF_FLUSH)
        flush_sets(c, b->line[0]);
    else
        c->through_sets(c, b);
    return 0;
}

/* Steps 4 and 5. -1 without memory. */
static int block_classes(struct cf_coherence *c, const struct cf_coherence_block *b, uint8_t *class)
{
    if (room_for_states(c, b) != 0)
        return -1;
    if (b->op[0] == CF_FLUSH)
        return flush_full(c, b->slot[0]);
    if (through_full(c, b) != 0)
        return -1;
    /* one core has news of no line */
    if (!b->one_core || c->g.outside) {
        if (c->mask_bits == 16)
            states(c, b, 0);
        else
            states(c, b, 1);
    }
    count_misses(c, b, class);
    return 0;
}

/* ---- blocks, one through all steps after the other, or many through each ---- */

struct cf_coherence_list {
    struct cf_coherence_block *block;
    size_t count, room;
    struct cf_coherence_rows in;
};

struct cf_coherence_list *cf_coherence_list_new(void)
{
    return calloc(1, sizeof(struct cf_coherence_list));
}

void cf_coherence_list_free(struct cf_coherence_list *l)
{
    if (!l)
        return;
    free(l->block);
    free(l);
}

/* Step 1; without a list also the others. */
static int take(struct cf_coherence *c, const struct cf_coherence_rows *in,
                struct cf_coherence_list *l, uint8_t *class)
{
    struct cf_coherence_block *b = &c->block;
    uint32_t next_miss = 0;

    if (!in->rows)
        return 0;
    see_cores(c, in);
    c->rows_asked = !l || c->g.outside;
    if (mark_begins(c, in) != 0)
        return -1;
    count_rows(c, in);
    for (uint32_t row = 0; row < in->rows;) {
        row = cf_runs_fill(c->batch, in->addr, in->op, in->size, row, in->rows, 0);
        for (uint32_t at = 0; at < c->batch->count; at += b->runs) {
            if (l && cf_array_room(&l->block, &l->room, l->count + 1, sizeof(*b)) != 0)
                return -1;
            b = l ? l->block + l->count++ : b;
            c->take_runs(c, b, in, at, row);
            if (!l && (block_sets(c, b, in, &next_miss) != 0 || block_classes(c, b, class) != 0))
                return -1;
        }
    }
    return 0;
}

int cf_coherence_run(struct cf_coherence *c, const struct cf_coherence_rows *in, uint8_t *class)
{
    return take(c, in, NULL, class);
}

int cf_coherence_take(struct cf_coherence *c, const struct cf_coherence_rows *in,
                      struct cf_coherence_list *l)
{
    l->count = 0;
    l->in = *in;
    return take(c, in, l, NULL);
}

int cf_coherence_sets(struct cf_coherence *c, struct cf_coherence_list *l)
{
    uint32_t next_miss = 0;

    for (size_t i = 0; i < l->count; i++)
        if (block_sets(c, l->block + i, &l->in, &next_miss) != 0)
            return -1;
    return 0;
}

int cf_coherence_classes(struct cf_coherence *c, const struct cf_coherence_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (block_classes(c, l->block + i, NULL) != 0)
            return -1;
    return 0;
}

const struct cf_class_counts *cf_coherence_counts(const struct cf_coherence *c)
{
    return &c->counts;
}
