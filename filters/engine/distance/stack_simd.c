/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_simd.c - references to one stack, in batches: the steps of stack_one.c, for each processor.
 */
#include "filters/engine/distance/stack_front.h"
#include "filters/engine/distance/stack_parts.h"
#include "formats/cpu/cf_simd.h"

enum {
    TRIAL = 1 << 14, /* references after which the use of the front is judged */
    FAR = 128,       /* a batch without a front: its lines stay in the first-level cache */
    FEW = 5,         /* references that are taken one by one */
    FOLD = 255,      /* removals that fit in a byte */
    AHEAD = 16,      /* how many steps before its use a bucket is fetched into the cache */
};

/* ---- the table ---- */

/* A mask of the way of a bucket that holds the line, 0 where none does. */
CF_INLINE uint32_t match(const struct stack_bucket *b, uint64_t line)
{
    const cf_vec wanted = cf_vec_all(line);
    uint32_t ways = 0;

    for (unsigned k = 0; k < STACK_WAYS; k += CF_LANES) {
        cf_vec here;

        memcpy(&here, (const char *)b + k * sizeof(line), sizeof here);
        ways |= cf_vec_equal(here, wanted) << k;
    }
    return ways & ((1u << b->used) - 1);
}

/* Where the slot of a line stands; a new line is put in with STACK_FRESH. NULL when the table
   is full. */
static uint32_t *place_of(struct stack *s, uint64_t line, struct stack_bucket *home)
{
    struct stack_bucket *b = home;
    uint32_t behind = 0;

    for (;; b = stack_behind(s, b), behind++) {
        const uint32_t ways = match(b, line);

        if (ways)
            return b->slot + __builtin_ctz(ways);
        if (b->used < STACK_WAYS)
            break;
    }
    /* at most 70 %: then 9 of 10 lines are in their home */
    if (s->lines >= (uint64_t)s->buckets * STACK_WAYS * 7 / 10)
        return NULL;
    if (behind > s->behind)
        s->behind = behind;
    s->lines++;
    b->line[b->used] = line;
    b->slot[b->used] = STACK_FRESH;
    return b->slot + b->used++;
}

/* Notes the homes of m lines. */
static void find_homes(const struct stack *s, struct stack_work *w, const uint64_t *line,
                       uint32_t m)
{
    const struct stack table = {.bucket = s->bucket, .buckets = s->buckets};
    const uint64_t seed = s->seed;

    uint32_t k = 0;

    for (; k + CF_LANES <= m; k += CF_LANES) {
        cf_vec h = cf_vec_load(line + k);

        h = (h ^ seed) * STACK_MIX1;
        h = ((h ^ h >> 32) * STACK_MIX2) >> 32;
        h = (h * s->buckets >> 32) * sizeof(struct stack_bucket) + (uintptr_t)s->bucket;
        memcpy(w->home + k, &h, sizeof h);
    }
    for (; k < m; k++)
        w->home[k] = stack_home(&table, stack_hash(seed, line[k]));
}

/* And fetches the first of them into the cache. */
static void fetch_homes(const struct stack *s, struct stack_work *w, const uint64_t *line,
                        uint32_t m)
{
    find_homes(s, w, line, m);
    for (uint32_t k = 0; k < m && k < AHEAD; k++)
        __builtin_prefetch(w->home[k]);
}

/* The block of a slot into the cache; in vain where there is none: the address is just a number */
CF_INLINE void fetch_block(const struct stack_tree *t, uint32_t slot)
{
    __builtin_prefetch((const void *)((uintptr_t)t->word + (uintptr_t)(slot >> 9) * 64));
}

/* Finds or makes the places of m lines, whose homes are noted; returns m, or how many it found
   before the table was full. In two passes, so that neither waits for memory nor guesses: lines
   that are not in their home are only noted in the first, and the bucket behind it comes meanwhile.
   Equal lines stay in their order, for none of them is found in the first pass if one is not. */
CF_INLINE uint32_t find_above(struct stack *s, struct stack_work *w, const uint64_t *line,
                              uint32_t m, uint32_t oldest)
{
    uint32_t late = 0;

    for (uint32_t k = 0; k < m; k++) {
        struct stack_bucket *const home = w->home[k];
        const uint32_t ways = match(home, line[k]);
        uint32_t *const place = home->slot + __builtin_ctz(ways | 1u << (STACK_WAYS - 1));

        if (k + AHEAD < m)
            __builtin_prefetch(w->home[k + AHEAD]);
        w->slot[STACK_FRONT + k] = place;
        fetch_block(&s->tree, *place < oldest ? oldest : *place);
        w->late[late] = (uint16_t)k;
        late += !ways;
    }
    for (uint32_t i = 0; i < late; i++)
        __builtin_prefetch(w->home[w->late[i]] + 1);
    for (uint32_t i = 0; i < late; i++) {
        const uint32_t k = w->late[i];
        uint32_t *const place = place_of(s, line[k], w->home[k]);

        if (!place)
            return k;
        w->slot[STACK_FRONT + k] = place;
        fetch_block(&s->tree, *place);
    }
    return m;
}

static uint32_t find_all(struct stack *s, struct stack_work *w, const uint64_t *line, uint32_t m)
{
    return s->oldest ? find_above(s, w, line, m, s->oldest) : find_above(s, w, line, m, 0);
}

/* Places in the table of the m lines that were not in the front, whose homes are noted, and of
   those that are, where the table was made anew. */
static int find(struct stack *s, struct stack_work *w, const uint64_t *line, uint32_t m)
{
    const uint64_t lines = s->lines;
    uint32_t found = find_all(s, w, line, m);

    if (found < m) {
        while (found < m) {
            if (stack_table_grow(s) != 0)
                return -1;
            fetch_homes(s, w, line, m);
            found = find_all(s, w, line, m);
        }
        fetch_homes(s, w, s->front, s->count);
        (void)find_all(s, w, s->front, s->count);
        memcpy(s->slot, w->slot + STACK_FRONT, sizeof s->slot);
        fetch_homes(s, w, line, m);
        (void)find_all(s, w, line, m);
    }
    memcpy(w->slot, s->slot, sizeof s->slot);
    s->compulsory += s->lines - lines;
    return 0;
}

/* ---- the tree ---- */

/* 32 zeros, then ones: from 31 - i on it is 1 at all places after place i. */
static const uint8_t step8[64] = {[32 ... 63] = 1};
static const uint16_t step16[64] = {[32 ... 63] = 1};
static const uint32_t step32[64] = {[32 ... 63] = 1};

/* Subtracts 1 from the counts behind `index` that stand in the same 32, which fill one or two cache
   lines. */
#define LESS(bits)                                                                                 \
    CF_INLINE void less##bits(uint##bits##_t *count, uint32_t index)                               \
    {                                                                                              \
        typedef uint##bits##_t vector __attribute__((vector_size(CF_LANES * 8)));                  \
        const uint##bits##_t *step = step##bits + 31 - index % 32;                                 \
        vector *v = (vector *)(count + (index & ~31u)), one;                                       \
                                                                                                   \
        _Pragma("GCC unroll 8") for (unsigned i = 0; i < 32 * sizeof *count / sizeof one; i++)     \
        {                                                                                          \
            memcpy(&one, step + i * (sizeof one / sizeof *step), sizeof one);                      \
            v[i] -= one;                                                                           \
        }                                                                                          \
    }
LESS(16)
LESS(32)

/* Number of live slots before `slot`, but for what `top` counts; and `slot` dies. */
CF_INLINE uint32_t take(const struct stack_tree *t, uint32_t slot, unsigned levels)
{
    uint64_t *const block = t->word + (slot >> 9) * 8, *const place = t->word + (slot >> 6);
    const uint32_t shift = 9 * (slot >> 6 & 7);
    const uint64_t word = *place, fields = *block;
    uint32_t n = (uint32_t)(fields >> (shift - 9) & 511);

    *place = word & ~((uint64_t)1 << (slot & 63));
    *block = fields - (STACK_FIELDS << shift);
    n += stack_ones(word & (((uint64_t)1 << (slot & 63)) - 1)) + t->near[slot >> 9];
    less16(t->near, slot >> 9);
    for (unsigned i = 0; i < levels; i++) {
        n += t->far[i][slot >> (14 + 5 * i)];
        less32(t->far[i], slot >> (14 + 5 * i));
    }
    return n;
}

/* Every removal changes the counts of the top, which would have to go through memory from one to
   the next. So those of up to FOLD removals are added up in a register of 32 bytes. */
typedef uint8_t bytes32 __attribute__((vector_size(32)));

CF_INLINE void rank_levels(struct stack *s, struct stack_work *w, uint32_t m, uint32_t fill,
                           const uint16_t *evicted, uint64_t *dist, uint32_t nexts, uint32_t oldest,
                           unsigned levels)
{
    const struct stack_tree tree = s->tree;
    const unsigned top_shift = 14 + 5 * levels;
    uint32_t *const *place = w->slot + STACK_FRONT;
    uint32_t newer = s->live + s->count - 1, tail = s->tail; /* lines but the one at hand */

    for (uint32_t k = 0; k < m;) {
        const uint32_t end = m - k < FOLD ? m : k + FOLD;
        bytes32 less = {0}, one;

        for (; k < end; k++) {
            const uint32_t slot = *place[k];

            if (!evicted && k < nexts)
                __builtin_prefetch(w->home[k]);
            if (__builtin_expect(slot - oldest >= STACK_FRESH - oldest, 0)) {
                /* fresh, or below `oldest`, where its bit may stay: it is not counted */
                dist[k] = slot == STACK_FRESH ? CF_DIST_COMPULSORY : CF_DIST_BEYOND;
                newer++;
            } else {
                const uint32_t top = slot >> top_shift;

                dist[k] = newer - take(&tree, slot, levels) - s->top[top] + less[top];
                memcpy(&one, step8 + 31 - top, sizeof one);
                less += one;
            }
            if (!evicted) {
                *place[k] = tail;
                tail = stack_next_slot(tail);
            } else if (k >= fill) {
                *w->slot[evicted[k]] = tail;
                tail = stack_next_slot(tail);
            }
        }
        for (unsigned i = 0; i < 32; i++)
            s->top[i] -= less[i];
    }
    /* the front has `fill` lines more now, or all that came */
    s->live = newer + 1 - s->count - (m < fill ? m : fill);
    s->tail = tail;
}

/* Moves `oldest` up by whole blocks. The lines behind a slot never become fewer: each that leaves
   its place there gets a later one. */
static void move_oldest(struct stack *s)
{
    if (!s->max || s->live + (uint64_t)s->count <= s->max)
        return;
    for (;;) {
        const uint32_t next = (s->oldest >> 9) * 512 + 512 + 64;

        if (next >= s->tail || s->live + (uint64_t)s->count - stack_rank(s, next) <= s->max)
            return;
        s->oldest = next;
    }
}

/* Distances of m lines by the tree; from line `fill` on each drives the line of origin evicted[]
   out of the front. Where `evicted` is NULL there is no front; then the homes that are noted are
   fetched into the cache, `nexts` of them, at most m. What is usual is known to the compiler: the
   number of levels, whether there is a front, and that all distances are wanted. */
static void rank(struct stack *s, struct stack_work *w, uint32_t m, uint32_t fill,
                 const uint16_t *evicted, uint64_t *dist, uint32_t nexts)
{
    const unsigned levels = s->tree.levels;
    const uint32_t oldest = s->oldest;

    if (levels == 1 && !evicted && !oldest)
        rank_levels(s, w, m, 0, NULL, dist, nexts, 0, 1);
    else if (levels == 1 && !oldest)
        rank_levels(s, w, m, fill, evicted, dist, 0, 0, 1);
    else if (levels == 0 && evicted && !oldest)
        rank_levels(s, w, m, fill, evicted, dist, 0, 0, 0);
    else if (levels == 1 && !evicted)
        rank_levels(s, w, m, 0, NULL, dist, nexts, oldest, 1);
    else if (levels == 1)
        rank_levels(s, w, m, fill, evicted, dist, 0, oldest, 1);
    else if (levels == 0 && evicted)
        rank_levels(s, w, m, fill, evicted, dist, 0, oldest, 0);
    else
        rank_levels(s, w, m, fill, evicted, dist, nexts, oldest, levels);
    move_oldest(s);
}

/* ---- batches ---- */

/* The front costs more than it spares where few references hit in it. */
static int judge_front(struct stack *s)
{
    const uint64_t near = s->near, seen = s->seen;

    s->near = s->seen = 0;
    if (s->off) {
        s->off = near * 100 <= seen * 60;
        return 0;
    }
    if (near * 100 >= seen * 45)
        return 0;
    s->off = 1;
    return stack_flush_front(s);
}

/* The front after a batch in which m lines came into it. */
static void renew_front(struct stack *s, const struct stack_work *w, uint32_t m)
{
    uint64_t old[STACK_FRONT];

    memcpy(old, s->front, sizeof old);
    s->count = s->count + m < STACK_FRONT ? s->count + m : STACK_FRONT;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint16_t from = w->order[i];

        s->front[i] = from < STACK_FRONT ? old[from] : w->line[from - STACK_FRONT];
        s->slot[i] = w->slot[from];
    }
}

/* Without a front: batches in which the table's memory for the next is on its way. */
static int far_lines(struct stack *s, struct stack_work *w, const uint64_t *line, uint32_t n,
                     uint64_t *dist)
{
    uint32_t m = n < FAR ? n : FAR;

    fetch_homes(s, w, line, m);
    for (uint32_t done = 0, next; done < n; done += m, m = next) {
        next = n - done - m < FAR ? n - done - m : FAR;
        if (stack_make_room(s, m) != 0 || find(s, w, line + done, m) != 0)
            return -1;
        find_homes(s, w, line + done + m, next);
        rank(s, w, m, 0, NULL, dist + done, next);
        for (uint32_t k = 0; k < m; k += 4) /* every fourth, as an estimate */
            if (dist[done + k] < STACK_FRONT)
                s->near += m - k < 4 ? m - k : 4;
    }
    return 0;
}

static int front_lines(struct stack *s, struct stack_work *w, const uint64_t *line, uint32_t n,
                       uint64_t *dist)
{
    const uint32_t fill = STACK_FRONT - s->count;
    const uint32_t m = find_front(s, w, line, n, dist);

    s->near += n - m;
    fetch_homes(s, w, w->line, m);
    if (stack_make_room(s, m > fill ? m - fill : 0) != 0 || find(s, w, w->line, m) != 0)
        return -1;
    rank(s, w, m, fill, w->evicted, w->dist, 0);
    for (uint32_t k = 0; k < m; k++)
        dist[w->index[k]] = w->dist[k];
    renew_front(s, w, m);
    return 0;
}

/* One reference, where a batch would cost more than the work: a stack of a small set. */
static int one_line(struct stack *s, struct stack_work *w, const uint64_t *line, uint64_t *dist)
{
    const uint64_t x = *line;
    uint32_t *slot;
    uint32_t d = 0;

    while (d < s->count && s->front[d] != x)
        d++;
    if (d == s->count)
        return front_lines(s, w, line, 1, dist);
    slot = s->slot[d];
    memmove(s->front + 1, s->front, d * sizeof(*s->front));
    memmove(s->slot + 1, s->slot, d * sizeof(*s->slot));
    s->front[0] = x;
    s->slot[0] = slot;
    s->near++;
    *dist = d;
    return 0;
}

int CF_SIMD(stack_lines)(struct stack *s, struct stack_work *w, const uint64_t *line, uint32_t n,
                         uint64_t *dist)
{
    for (uint32_t done = 0, part; done < n; done += part) {
        uint32_t most;
        int status;

        if (s->seen >= TRIAL && judge_front(s) != 0)
            return -1;
        most = s->off ? TRIAL : n < FEW ? 1 : STACK_BATCH;
        part = n - done < most ? n - done : most;
        s->seen += part;
        if (s->off)
            status = far_lines(s, w, line + done, part, dist + done);
        else if (n < FEW)
            status = one_line(s, w, line + done, dist + done);
        else
            status = front_lines(s, w, line + done, part, dist + done);
        if (status != 0)
            return -1;
    }
    return 0;
}
