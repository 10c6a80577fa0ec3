/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence.c - private caches under invalidation, with classes of misses (see coherence.h).
 *
 * Blocks of runs go through five steps. (1) Rows become runs: references of one core to one line,
 * one after the other; a run keeps the words that it writes, and those that its first access
 * touches, which are what counts if it misses (coherence_rows_simd.c). (2) Lines become slots. (3)
 * Runs pass through the sets of their cores, or the caller's list of misses, which says who misses
 * (coherence_simd.c). (4) Each core's fully associative cache takes the runs of its core. (5) Run
 * by run, what the core knew of the line gives the class of a miss, and a store gives news of it to
 * the others.
 *
 * The state of a line is the set of cores that ever held it, and for each of them the words that
 * others wrote since it referenced the line last: it has lost the line to them, or had lost it
 * before, if there are any. Behind it stand the times of the fully associative caches (full.h), so
 * that one access to memory brings all that is known of a line. A set is the slots of its lines
 * from the newest to the oldest, then free ways (lru.h).
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/coherence_parts.h"

/* ---- step 1: rows to runs ---- */

static inline unsigned op_of(const struct cf_coherence_rows *in, uint32_t row)
{
    const unsigned op = in->op ? in->op[row] : CF_LOAD;

    return op && op < CF_CLASS_OPS ? op : CF_LOAD;
}

/* One row of any kind and any number of lines, each a run: 0 when the block is full before its end,
   or holds a flush, which must be its only run. */
static int one_row(struct cf_coherence *c, const struct cf_coherence_rows *in, uint32_t row)
{
    const unsigned op = op_of(in, row), shift = c->g.line_shift;
    const uint64_t addr = in->addr[row], last = last_byte(in, row);

    if (op == CF_IFETCH && !c->g.fetches)
        return 1;
    for (uint64_t line = (addr >> shift) + c->done; line <= last >> shift; line++) {
        const uint32_t n = c->runs;

        if (n == BLOCK || (n && (op == CF_FLUSH || c->flush))) {
            c->done = line - (addr >> shift);
            return 0;
        }
        c->line[n] = line ^ (in->space ? in->space[row] : 0);
        c->touch[n] = words_of(c, addr, last, line);
        c->write[n] = op == CF_STORE ? c->touch[n] : 0;
        c->row[n] = row;
        c->core[n] = in->core ? in->core[row] : 0;
        c->op[n] = (uint8_t)op;
        c->flush = op == CF_FLUSH;
        c->counts.references[op]++;
        c->runs++;
    }
    c->done = 0;
    return 1;
}

/* A block: returns the row that the next one begins with. */
static uint32_t fill(struct cf_coherence *c, const struct cf_coherence_rows *in, uint32_t row,
                     uint32_t rows)
{
    const int plain = c->plain_rows && in->op && in->size && in->core && in->space;

    c->runs = 0;
    c->flush = 0;
    while (row < rows) {
        /* which look at the core of the row before */
        if (plain && row && rows - row >= COHERENCE_ROWS && !c->done && !c->flush) {
            row = c->plain_rows(c, in, row, rows);
            if (c->runs + COHERENCE_ROWS > BLOCK)
                break;
        }
        if (row < rows && !one_row(c, in, row))
            break;
        row += row < rows;
    }
    return row;
}

/* ---- steps 2 and 4: slots, and what a fully associative cache of the core says ---- */

/* The run behind the last one that is of the same core as run `i` and those between. */
static uint32_t end_of_turn(const struct cf_coherence *c, uint32_t i)
{
    enum { FEW = 8 };
    const uint8_t core = c->core[i];

    /* equal values equal themselves shifted by one */
    while (i + FEW < c->runs && !memcmp(&c->core[i], &c->core[i + 1], FEW))
        i += FEW;
    for (i++; i < c->runs && c->core[i] == core; i++)
        ;
    return i;
}

/* The fully associative caches where stores do not allocate: one by one. */
static int touch_or_pass(struct cf_coherence *c)
{
    for (uint32_t i = 0; i < c->runs; i++) {
        int found = cf_full_one(c->full[c->core[i]], c->slots, c->slot[i],
                                c->write[i] ? CF_FULL_NO_ALLOCATE : CF_FULL_TOUCH);

        if (found < 0)
            return -1;
        c->found[i] = (uint8_t)found;
    }
    return 0;
}

static int look_up(struct cf_coherence *c)
{
    void *state = c->state;
    const uint32_t room = c->room;

    if (cf_slots_find(c->slots, c->line, c->runs, c->slot) != 0 ||
        cf_slots_array(c->slots, &state, &c->room, sizeof(*c->state) << c->shift) != 0)
        return -1;
    c->state = state;
    for (unsigned k = 0; k < c->g.cores && c->room != room; k++)
        cf_full_lend(c->full[k], c->state + c->times + k, c->room, c->shift);
    for (uint32_t i = 0; i < c->runs; i++)
        __builtin_prefetch(state_of(c, c->slot[i]), 1);
    return 0;
}

/* Turns are short where threads take them at every access: eight elements in one go, and what is
   too much is overwritten by the next. */
static inline __attribute__((always_inline)) void copy(void *to, const void *from, uint32_t count,
                                                       size_t width)
{
    for (uint32_t i = 0; i < count; i += SPARE)
        memcpy((char *)to + i * width, (const char *)from + i * width, SPARE * width);
}

/* What the fully associative caches say: the runs of each core are put together turn by turn for
   its cache, and what it found is put back. */
static int through_full(struct cf_coherence *c)
{
    uint32_t at[CF_COHERENCE_CORES] = {0}, end = 0, turns = 0;

    if (c->g.no_allocate)
        return touch_or_pass(c);
    for (uint32_t i = 0, next; i < c->runs; i = next) {
        next = end_of_turn(c, i);
        c->turn[turns++] = i;
        at[c->core[i]] += next - i;
    }
    c->turn[turns] = c->runs;
    if (turns == 1)
        return cf_full_touch(c->full[c->core[0]], c->slots, c->slot, c->runs, c->found);
    for (unsigned k = 0; k < c->g.cores; k++) {
        const uint32_t runs = at[k];

        at[k] = end;
        end += runs ? runs + SPARE : 0;
    }
    for (uint32_t t = 0; t < turns; t++) {
        const uint32_t i = c->turn[t], runs = c->turn[t + 1] - i;
        uint32_t *const to = &at[c->core[i]];

        copy(c->part_slot + *to, c->slot + i, runs, sizeof(*c->slot));
        *to += runs;
    }
    end = 0;
    for (unsigned k = 0; k < c->g.cores; k++) {
        const uint32_t runs = at[k] - end;

        if (at[k] <= end)
            continue;
        if (cf_full_touch(c->full[k], c->slots, c->part_slot + end, runs, c->part_found + end) != 0)
            return -1;
        end = at[k] + SPARE;
        at[k] -= runs;
    }
    for (uint32_t t = 0; t < turns; t++) {
        const uint32_t i = c->turn[t], runs = c->turn[t + 1] - i;
        uint32_t *const from = &at[c->core[i]];

        copy(c->found + i, c->part_found + *from, runs, sizeof(*c->found));
        *from += runs;
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

static int flush(struct cf_coherence *c)
{
    const uint32_t ways = c->g.ways, slot = c->slot[0];
    uint32_t *const sets = c->g.outside ? NULL : sets_of(c, 0);
    uint32_t at;

    for (unsigned k = 0; k < c->g.cores; k++) {
        if (sets && cf_lru_find(sets + k * c->places, ways, slot, &at))
            cf_lru_drop(sets + k * c->places, at, ways);
        if (cf_full_one(c->full[k], c->slots, slot, CF_FULL_FLUSH) < 0)
            return -1;
    }
    return 0;
}

/* Which runs miss in the caller's. */
static void through_list(struct cf_coherence *c, const struct cf_coherence_rows *in)
{
    uint32_t k = c->next_miss;

    for (uint32_t i = 0; i < c->runs && k < in->misses; i++)
        if (in->miss_row[k] == c->row[i] && in->miss_line[k] == c->line[i]) {
            c->missed[i / 64] |= (uint64_t)1 << i % 64;
            k++;
        }
    c->next_miss = k;
}

/* What the cores knew of the lines, and know then. No branch depends on what is found, which
   nobody could predict where it matters. */
static inline __attribute__((always_inline)) void states(struct cf_coherence *c, int wide)
{
    const uint32_t runs = c->runs;
    const int stays_out = c->g.no_allocate, alone = c->alone, outside = c->g.outside;
    const unsigned shift = c->shift;
    uint32_t *const first = c->state;

    for (uint32_t i = 0; i < runs; i++) {
        const unsigned core = c->core[i];
        const uint32_t me = (uint32_t)1 << core;
        const uint64_t missed = c->missed[i / 64] >> i % 64 & 1;
        const uint64_t write = alone ? 0 : c->write[i];
        /* a core that has the line has no news of it */
        const uint64_t comes = -(missed & !(stays_out && write));
        uint32_t *const state = first + ((size_t)c->slot[i] << shift), known = *state;
        const uint64_t news = get_news(state, core, wide);

        if (alone && !missed)
            continue;
        c->news[i] = news;
        c->found[i] = (outside && !(known & me)) ? CF_FULL_NEVER_SEEN : c->found[i];
        put_news(state, core, news & ~comes, wide);
        *state = known | (me & (uint32_t)comes);
        if (c->g.cores == 2) {
            put_news(state, !core, get_news(state, !core, wide) | write, wide);
            continue;
        }
        for (uint32_t others = write ? (known & ~me) : 0; others; others &= others - 1) {
            const unsigned k = (unsigned)__builtin_ctz(others);

            put_news(state, k, get_news(state, k, wide) | write, wide);
        }
    }
}

static void count_misses(struct cf_coherence *c, uint8_t *class)
{
    static const uint8_t classes[] = {CF_CLASS_CONFLICT, CF_CLASS_COMPULSORY, CF_CLASS_CAPACITY};

    for (uint32_t k = 0; k < BLOCK / 64; k++)
        for (; c->missed[k]; c->missed[k] &= c->missed[k] - 1) {
            const uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(c->missed[k]);
            const uint8_t sharing =
                c->news[i] & c->touch[i] ? CF_CLASS_TRUE_SHARING : CF_CLASS_FALSE_SHARING;
            const uint8_t found =
                c->news[i] && c->found[i] != CF_FULL_NEVER_SEEN ? sharing : classes[c->found[i]];

            cf_class_raise(&class[c->row[i]], found);
            c->counts.misses[c->op[i]][found]++;
        }
}

/* Whether all rows so far are of one core. */
static void see_cores(struct cf_coherence *c, const struct cf_coherence_rows *in)
{
    if (!c->alone || !in->rows)
        return;
    if (in->core && c->first_core == CF_COHERENCE_CORES)
        c->first_core = in->core[0];
    c->alone =
        in->core && in->core[0] == c->first_core && !memcmp(in->core, in->core + 1, in->rows - 1);
}

int cf_coherence_run(struct cf_coherence *c, const struct cf_coherence_rows *in, uint8_t *class)
{
    uint32_t row = 0;

    c->next_miss = 0;
    see_cores(c, in);
    while (row < in->rows) {
        row = fill(c, in, row, in->rows);
        if (!c->runs)
            continue;
        if (look_up(c) != 0)
            return -1;
        if (c->flush) {
            if (flush(c) != 0)
                return -1;
            continue;
        }
        if (c->g.outside)
            through_list(c, in);
        else
            c->through_sets(c);
        if (through_full(c) != 0)
            return -1;
        if (c->mask_bits == 16)
            states(c, 0);
        else
            states(c, 1);
        count_misses(c, class);
    }
    return 0;
}
