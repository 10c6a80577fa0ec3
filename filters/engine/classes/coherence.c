/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence.c - private caches under invalidation, with classes of misses (see coherence.h).
 *
 * Blocks of runs go through four steps. (1) Rows become runs: references of one core to one line,
 * one after the other; a run keeps the words that it writes, and those that its first access
 * touches, which are what counts if it misses. (2) Lines become slots. (3) Each core's fully
 * associative cache takes the runs of its core. (4) Run by run the line's state says whether the
 * core holds it; the core's set is brought up to date, and a store takes the line from the others.
 *
 * Vector code for step 1 is in coherence_avx512.c. For two cores, that for steps 3 and 4 is in
 * coherence_pair_avx512.c, whose states do without the first two of the sets that follow.
 *
 * The state of a line is a set of cores that hold it, one of those that ever held it, and for each
 * of these the words that others wrote since it referenced the line last. For two cores and 16
 * words that is one 64-bit word. Beside it stand the times of the fully associative caches
 * (full.h), so that one access to memory brings all that is known of a line. A set is the slots of
 * its lines from the newest to the oldest, then free ways.
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

/* Loads and stores of one line each, up to the first row that is something else or a full block:
   returns that row. Every row is written as the next run, and counts as one only if it is. */
static inline __attribute__((always_inline)) uint32_t
plain_rows(struct cf_coherence *c, const struct cf_coherence_rows *in, uint32_t row, uint32_t rows,
           int has_core, int has_missed, int alone)
{
    const unsigned shift = c->g.line_shift, unit = c->unit_shift;
    const uint64_t bytes = ((uint64_t)1 << shift) - 1;
    const uint64_t apart = c->g.no_allocate != 0;
    uint64_t before = 0, write = 0, stores = 0;
    uint32_t n = c->runs, core_before = UINT32_MAX, i;

    for (i = row; i < rows && n < BLOCK; i++) {
        const uint64_t addr = in->addr[i], size = in->size[i], last = addr + (size - (size != 0));
        const uint64_t line = (addr >> shift) ^ (has_core ? in->space[i] : 0);
        const uint64_t store = (uint64_t)in->op[i] - CF_LOAD;
        const uint32_t core = alone ? c->first_core : has_core ? in->core[i] : 0;
        const uint64_t touch = alone ? 0 : bits_of((addr & bytes) >> unit, (last & bytes) >> unit);
        uint64_t new;

        if (__builtin_expect((addr >> shift != last >> shift) | (store > 1), 0))
            break;
        new = (line != before) | (core != core_before) | (apart & (store | (write != 0))) |
              (has_missed && in->missed[i]);
        c->line[n] = line;
        if (!alone)
            c->touch[n] = touch;
        c->row[n] = i;
        c->core[n] = (uint8_t)core;
        c->op[n] = in->op[i];
        write = (write & (new - 1)) | (touch & -store);
        n += (uint32_t) new;
        if (!alone)
            c->write[n - 1] = write;
        stores += store;
        before = line;
        core_before = core;
    }
    c->runs = n;
    c->counts.references[CF_STORE] += stores;
    c->counts.references[CF_LOAD] += i - row - stores;
    return i;
}

/* A block: returns the row that the next one begins with. */
static uint32_t fill(struct cf_coherence *c, const struct cf_coherence_rows *in, uint32_t row,
                     uint32_t rows)
{
    const int plain = in->op && in->size && !in->core == !in->space && (in->core || !c->g.outside);

    c->runs = 0;
    c->flush = 0;
    while (row < rows) {
        if (plain && !c->done && !c->flush) {
#ifdef HAVE_AVX512_COHERENCE
            if (c->vectors && row && in->core)
                row = cf_coherence_rows_avx512(c, in, row, rows);
#endif
            row = c->alone       ? plain_rows(c, in, row, rows, 1, 1, 1)
                  : c->g.outside ? plain_rows(c, in, row, rows, 1, 1, 0)
                  : in->core     ? plain_rows(c, in, row, rows, 1, 0, 0)
                                 : plain_rows(c, in, row, rows, 0, 0, 0);
        }
        if (row < rows && !one_row(c, in, row))
            break;
        row += row < rows;
    }
    return row;
}

/* ---- steps 2 and 3: slots, and what a fully associative cache of the core says ---- */

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

/* The runs of core k, put together turn by turn for its cache, and what it found put back. */
static int touch(struct cf_coherence *c, unsigned k)
{
    uint32_t n = 0;

    for (uint32_t t = 0, len; t < c->turns; t++, n += len) {
        len = c->turn[t + 1] - c->turn[t];
        if (c->core[c->turn[t]] == k)
            memcpy(c->part_slot + n, c->slot + c->turn[t], len * sizeof(*c->slot));
        else
            len = 0;
    }
    if (cf_full_touch(c->full[k], c->slots, c->part_slot, n, c->part_found) != 0)
        return -1;
    n = 0;
    for (uint32_t t = 0, len; t < c->turns; t++, n += len) {
        len = c->turn[t + 1] - c->turn[t];
        if (c->core[c->turn[t]] == k)
            memcpy(c->found + c->turn[t], c->part_found + n, len);
        else
            len = 0;
    }
    return 0;
}

/* The same where stores do not allocate: one by one. */
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
    uint64_t cores = 0;
    void *state = c->state;
    const uint32_t room = c->room;

    if (cf_slots_find(c->slots, c->line, c->runs, c->slot) != 0 ||
        cf_slots_array(c->slots, &state, &c->room, sizeof(*c->state) << c->shift) != 0)
        return -1;
    c->state = state;
    if (c->pair)
        return 0;
    for (unsigned k = 0; k < c->g.cores && c->room != room; k++)
        cf_full_lend(c->full[k], (uint32_t *)(c->state + c->words) + k, c->room, c->shift + 1);
    for (uint32_t i = 0; i < c->runs; i++)
        __builtin_prefetch(&c->state[(size_t)c->slot[i] << c->shift], 1);
    c->turns = 0;
    for (uint32_t i = 0; i < c->runs; i = end_of_turn(c, i)) {
        c->turn[c->turns++] = i;
        cores |= (uint64_t)1 << c->core[i];
    }
    c->turn[c->turns] = c->runs;
    if (c->flush) {
        for (unsigned k = 0; k < c->g.cores; k++)
            if (cf_full_one(c->full[k], c->slots, c->slot[0], CF_FULL_FLUSH) < 0)
                return -1;
        return 0;
    }
    if (c->g.no_allocate)
        return touch_or_pass(c);
    if (c->turns == 1)
        return cf_full_touch(c->full[c->core[0]], c->slots, c->slot, c->runs, c->found);
    for (; cores; cores &= cores - 1)
        if (touch(c, (unsigned)__builtin_ctzll(cores)) != 0)
            return -1;
    return 0;
}

/* ---- step 4: who holds the line ---- */

/* Sets of cores. The short form is one word: two bits each for held and known, and the two masks
   from bits 16 and 32 on. The long form: held and known, then masks of 16 bits, four a word, or of
   64. */
struct state {
    uint32_t held, known;
};

static inline struct state get_state(const uint64_t *word, int brief)
{
    if (brief)
        return (struct state){word[0] & 3, word[0] >> 2 & 3};
    return (struct state){(uint32_t)word[0], (uint32_t)(word[0] >> 32)};
}

static inline void put_state(uint64_t *word, struct state s, int brief)
{
    if (brief)
        word[0] = (word[0] & ~(uint64_t)15) | s.held | s.known << 2;
    else
        word[0] = s.held | (uint64_t)s.known << 32;
}

/* Word and shift of the mask of a core. */
struct place {
    uint64_t *word;
    unsigned shift;
    uint64_t ones;
};

static inline struct place mask_of(const struct cf_coherence *c, uint64_t *word, unsigned core,
                                   int brief)
{
    if (brief)
        return (struct place){word, 16 + 16 * core, 0xffff};
    if (c->mask_bits == 16)
        return (struct place){word + 1 + core / 4, core % 4 * 16, 0xffff};
    return (struct place){word + 1 + core, 0, UINT64_MAX};
}

/* The set of a core that a run's line belongs to. */
static inline uint32_t *set_of(const struct cf_coherence *c, unsigned core, uint32_t i)
{
    const uint64_t line = c->line[i];
    const uint64_t set = c->even ? line & (c->g.sets - 1) : line % c->g.sets;

    return c->ways + ((size_t)core * c->g.sets + set) * c->g.ways;
}

static void flush(struct cf_coherence *c)
{
    uint64_t *word = &c->state[(size_t)c->slot[0] << c->shift];
    struct state s = get_state(word, c->words == 1);

    for (unsigned k = 0; k < c->g.cores && !c->g.outside; k++) {
        uint32_t *way = set_of(c, k, 0);

        for (uint32_t i = 0; i < c->g.ways; i++)
            if (way[i] == c->slot[0])
                take_out(way, c->g.ways, c->slot[0]);
    }
    s.held = 0;
    put_state(word, s, c->words == 1);
}

/* Makes `slot` the newest of the set: returns it when it was there, else what was last, which then
   is no longer in the set. */
static inline uint32_t to_front(uint32_t *way, uint32_t ways, uint32_t slot)
{
    uint32_t before = way[0];

    way[0] = slot;
    for (uint32_t k = 1; k < ways && before != slot; k++) {
        uint32_t t = way[k];

        way[k] = before;
        before = t;
    }
    return before;
}

/* The class of a miss; then the line is brought in, unless a store does not. */
static inline unsigned miss(struct cf_coherence *c, uint32_t i, struct state *s, uint64_t *word,
                            int brief)
{
    const uint32_t me = (uint32_t)1 << c->core[i];
    const struct place m = mask_of(c, word, c->core[i], brief);
    const uint64_t news = *m.word >> m.shift & m.ones;
    unsigned class;

    class = c->found[i] == CF_FULL_HIT ? CF_CLASS_CONFLICT : CF_CLASS_CAPACITY;
    class = s->known & me ? class : CF_CLASS_COMPULSORY;
    if (news)
        class = news & c->touch[i] ? CF_CLASS_TRUE_SHARING : CF_CLASS_FALSE_SHARING;
    if (c->g.no_allocate && c->write[i])
        return class;
    s->known |= me;
    *m.word &= ~(m.ones << m.shift);
    if (!c->g.outside) {
        uint32_t victim = to_front(set_of(c, c->core[i], i), c->g.ways, c->slot[i]);

        s->held |= me;
        /* `held` is the lowest part of both forms */
        if (victim != CF_NO_SLOT)
            c->state[(size_t)victim << c->shift] &= ~(uint64_t)me;
    }
    return class;
}

/* A store: others that hold the line lose it, and all that know it are told the words. */
static inline void tell(struct cf_coherence *c, uint32_t i, struct state *s, uint64_t *word,
                        int brief)
{
    const uint32_t me = (uint32_t)1 << c->core[i];

    for (uint32_t others = s->held & ~me; others; others &= others - 1) {
        unsigned other = (unsigned)__builtin_ctz(others);

        take_out(set_of(c, other, i), c->g.ways, c->slot[i]);
        c->invalidations++;
    }
    s->held &= me;
    for (uint32_t told = s->known & ~me; told; told &= told - 1) {
        struct place m = mask_of(c, word, (unsigned)__builtin_ctz(told), brief);

        *m.word |= c->write[i] << m.shift;
    }
}

/* Whether the next of the caller's misses is the one of a run. */
static inline int is_next_miss(const struct cf_coherence *c, const struct cf_coherence_rows *in,
                               uint32_t i)
{
    return c->next_miss < in->misses && in->miss_row[c->next_miss] == c->row[i] &&
           in->miss_line[c->next_miss] == c->line[i];
}

static inline __attribute__((always_inline)) void
steps(struct cf_coherence *c, const struct cf_coherence_rows *in, uint8_t *class, int brief)
{
    const unsigned shift = c->shift;

    for (uint32_t i = 0; i < c->runs; i++) {
        const uint32_t me = (uint32_t)1 << c->core[i], slot = c->slot[i];
        uint64_t *word = &c->state[(size_t)slot << shift];
        struct state s;
        int hit;

        s = get_state(word, brief);
        if (c->g.outside) {
            hit = !is_next_miss(c, in, i);
            c->next_miss += !hit;
        } else {
            uint32_t *set = set_of(c, c->core[i], i);

            hit = (s.held & me) != 0;
            if (hit && set[0] != slot)
                to_front(set, c->g.ways, slot);
        }
        if (!hit) {
            const unsigned found = miss(c, i, &s, word, brief);

            cf_class_raise(&class[c->row[i]], (uint8_t)found);
            c->counts.misses[c->op[i]][found]++;
        }
        if (c->write[i] && (s.known & ~me))
            tell(c, i, &s, word, brief);
        put_state(word, s, brief);
    }
}

/* The same while there was one core only: nobody tells it of words or takes lines away, so that
   hits change nothing and the words of a run are not asked for. */
static void steps_alone(struct cf_coherence *c, const struct cf_coherence_rows *in, uint8_t *class,
                        int brief)
{
    for (uint32_t i = 0; i < c->runs && c->next_miss < in->misses; i++) {
        uint64_t *word;
        struct state s;
        unsigned found;

        if (!is_next_miss(c, in, i))
            continue;
        c->next_miss++;
        word = &c->state[(size_t)c->slot[i] << c->shift];
        s = get_state(word, brief);
        found = miss(c, i, &s, word, brief);
        cf_class_raise(&class[c->row[i]], (uint8_t)found);
        c->counts.misses[c->op[i]][found]++;
        put_state(word, s, brief);
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
#ifdef HAVE_AVX512_COHERENCE
        if (c->pair) {
            if (c->flush)
                cf_pair_flush(c);
            else if (cf_pair_block(c, class) != 0)
                return -1;
            continue;
        }
#endif
        if (c->flush)
            flush(c);
        else if (c->alone)
            steps_alone(c, in, class, c->words == 1);
        else if (c->words == 1)
            steps(c, in, class, 1);
        else
            steps(c, in, class, 0);
    }
    return 0;
}
