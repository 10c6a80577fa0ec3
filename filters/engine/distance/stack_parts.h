/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_parts.h - one LRU stack, and what its portable and its vector code share. The idea is told
 * in stack_one.c.
 */
#ifndef CF_STACK_PARTS_H
#define CF_STACK_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "filters/engine/distance/stack.h"

enum {
    STACK_FRONT = 32,  /* most recent lines, which are not in the tree */
    STACK_BATCH = 992, /* references handled at a time: 10 bits of time less the front's */
    STACK_FAR = 128,   /* the same without a front: their lines stay in the first-level cache */
    STACK_WAYS = 5,
    STACK_LEVELS = 3,
    STACK_FOLD = 255, /* removals that fit in a byte */
    STACK_AHEAD = 16, /* how many steps before its use a bucket is fetched into the cache */
};

/* Of a line that has no slot in the tree (yet). */
#define STACK_FRESH UINT32_MAX

/* A bucket of the table of lines fills one cache line. */
struct stack_bucket {
    uint64_t line[STACK_WAYS];
    uint32_t slot[STACK_WAYS];
    uint32_t used;
};

/*
 * Counts of live slots. A block is a cache line of 8 words: slot s is bit s % 64 of word[s / 64],
 * in block s / 512. The first word of a block holds no slots but seven fields of 9 bits: live slots
 * in the words before word 1, 2, ... 7. near[] has for each block the live slots in those before it
 * of the same 32; far[0] the same for each 32 blocks within 1024, far[1] for each of those within
 * 32, and so on; top, for the at most 32 of the last, within all.
 */
struct stack_tree {
    uint64_t *word;
    uint16_t *near;
    uint32_t *far[STACK_LEVELS];
    uint32_t blocks;
    unsigned levels; /* of far */
};

struct stack {
    struct stack_bucket *bucket;
    uint32_t buckets;
    uint32_t behind; /* how many buckets behind its home a line is at most */
    uint64_t seed;   /* of the hash */
    uint64_t lines;
    struct stack_tree tree;
    uint32_t top[32]; /* of the tree */
    uint32_t tail;    /* next slot to give */
    uint32_t live;    /* lines in the tree; those below `oldest` may have left it */
    uint64_t max;     /* greatest distance that is wanted, 0 = any */
    uint32_t oldest;  /* lines with lower slots are farther away than `max` */
    /* the front, most recent line first */
    uint32_t count;
    uint64_t front[STACK_FRONT];
    uint32_t *slot[STACK_FRONT]; /* where the table holds their slots */
    /* whether to use the front */
    int off;
    uint32_t seen, near; /* references, and those with a distance below STACK_FRONT */
    uint64_t cold, compactions;
};

/*
 * What the steps of a batch hand on. The lines of the front before the batch are numbered 0 to 31
 * by recency, those that come into it 32, 33, ...: their origin.
 */
struct stack_work {
    uint64_t line[STACK_BATCH];             /* that were not in the front */
    uint64_t dist[STACK_BATCH];             /* their distances */
    uint16_t index[STACK_BATCH];            /* their places in the batch */
    uint16_t evicted[STACK_BATCH];          /* origin of the line that each of them drove out */
    uint16_t self[STACK_BATCH];             /* the same when there is no front: each itself */
    uint16_t order[STACK_FRONT];            /* origins of the lines in the front after the batch */
    struct stack_bucket *home[STACK_BATCH]; /* of those lines in the table */
    uint16_t late[STACK_BATCH];             /* those that are not in their homes */
    uint32_t *slot[STACK_FRONT + STACK_BATCH]; /* by origin: where its slot is */
};

/* The steps of a batch, portable or by vectors. */
struct stack_code {
    /* Finds distances in the front; returns how many of `n` lines are not in it. */
    uint32_t (*front)(struct stack *s, struct stack_work *w, const uint64_t *line, uint32_t n,
                      uint64_t *dist);
    /* Notes the homes of m lines. */
    void (*homes)(const struct stack *s, struct stack_work *w, const uint64_t *line, uint32_t m);
    /* Finds or makes the places of m lines in the table, whose homes are noted; returns m, or how
       many it found before the table was full. */
    uint32_t (*find)(struct stack *s, struct stack_work *w, const uint64_t *line, uint32_t m);
    /* Distances of m lines by the tree; from line `fill` on each drives the line of origin
       evicted[] out of the front. Where `evicted` is NULL there is no front; then the homes
       that are noted are fetched into the cache, `nexts` of them, at most m. */
    void (*rank)(struct stack *s, struct stack_work *w, uint32_t m, uint32_t fill,
                 const uint16_t *evicted, uint64_t *dist, uint32_t nexts);
    /* Gives the lines in the tree the first slots in their order, those below `oldest` none, and
       counts them (the tree is not changed). */
    void (*renumber)(struct stack *s);
};

extern const struct stack_code stack_portable;
#if defined(__x86_64__)
#define HAVE_VECTOR_STACK
extern const struct stack_code stack_avx2, stack_avx512;
#endif

/* Distances greater than `max` may be CF_DIST_BEYOND; 0: none is. NULL without memory. */
struct stack *stack_new(uint64_t max);
void stack_free(struct stack *s);

/* Distances of n references, any number. -1 without memory or at the 2^31st line. */
int stack_lines(struct stack *s, const struct stack_code *code, struct stack_work *w,
                const uint64_t *line, uint32_t n, uint64_t *dist);

/* Forgets the lines of which keep(line, arg) is 0. -1 without memory. */
int stack_keep(struct stack *s, int (*keep)(uint64_t line, const void *arg), const void *arg);

/* Calls f(line, arg) for all lines, in no order that means anything. */
void stack_each(const struct stack *s, void (*f)(uint64_t line, void *arg), void *arg);

/* Bytes of table and tree. */
uint64_t stack_bytes(const struct stack *s);

/* ---- the table (stack_table.c), of which -1 says that there is no memory ---- */

int stack_table_make(struct stack *s);
void stack_table_free(struct stack *s);

/* More room. Lines get other places. -1 at the 2^31st line, too. */
int stack_table_grow(struct stack *s);

/* Drops the lines of which keep() is 0, and tells each one's slot. */
int stack_table_keep(struct stack *s, int (*keep)(uint64_t line, const void *arg), const void *arg,
                     void (*dropped)(struct stack *s, uint32_t slot));
uint64_t stack_table_bytes(const struct stack *s);

/* ---- the code of the steps, made for each instruction set ---- */

#define STACK_INLINE static inline __attribute__((always_inline, unused))

#define STACK_MIX1 UINT64_C(0x9e3779b97f4a7c15)
#define STACK_MIX2 UINT64_C(0xd6e8feb86659fd93)

/* Every bit of the line changes the upper bits, which are those that are used. */
STACK_INLINE uint64_t stack_hash(uint64_t seed, uint64_t line)
{
    uint64_t h = (line ^ seed) * STACK_MIX1;

    return (h ^ h >> 32) * STACK_MIX2;
}

STACK_INLINE struct stack_bucket *stack_home(const struct stack *s, uint64_t hash)
{
    return s->bucket + ((hash >> 32) * s->buckets >> 32);
}

/* The bucket behind `b`, around the end. */
STACK_INLINE struct stack_bucket *stack_behind(const struct stack *s, struct stack_bucket *b)
{
    return b + 1 == s->bucket + s->buckets ? s->bucket : b + 1;
}

/* At most 70 %: then 9 of 10 lines are in their home. */
STACK_INLINE int stack_table_full(const struct stack *s)
{
    return s->lines >= (uint64_t)s->buckets * STACK_WAYS * 7 / 10;
}

/* A mask of the ways of a bucket that hold the line, those too that are not in use. */
typedef uint32_t (*stack_match)(const struct stack_bucket *b, uint64_t line);

/* A mask of the way that holds the line, 0 where none does. */
STACK_INLINE uint32_t stack_ways(const struct stack_bucket *b, uint64_t line, stack_match match)
{
    return match(b, line) & ((1u << b->used) - 1);
}

/* Where the slot of a line stands; a new line is put in with STACK_FRESH. NULL when the table
   is full. */
STACK_INLINE uint32_t *stack_place(struct stack *s, uint64_t line, struct stack_bucket *home,
                                   stack_match match)
{
    struct stack_bucket *b = home;
    uint32_t behind = 0;

    for (;; b = stack_behind(s, b), behind++) {
        const uint32_t ways = stack_ways(b, line, match);

        if (ways)
            return b->slot + __builtin_ctz(ways);
        if (b->used < STACK_WAYS)
            break;
    }
    if (stack_table_full(s))
        return NULL;
    if (behind > s->behind)
        s->behind = behind;
    s->lines++;
    b->line[b->used] = line;
    b->slot[b->used] = STACK_FRESH;
    return b->slot + b->used++;
}

/* The homes of lines `from` to m - 1. */
STACK_INLINE void stack_homes(const struct stack *s, struct stack_work *w, const uint64_t *line,
                              uint32_t from, uint32_t m)
{
    const struct stack table = {.bucket = s->bucket, .buckets = s->buckets};
    const uint64_t seed = s->seed;

    for (uint32_t k = from; k < m; k++)
        w->home[k] = stack_home(&table, stack_hash(seed, line[k]));
}

/* The block of a slot into the cache; in vain where there is none: the address is just a number */
STACK_INLINE void stack_fetch_block(const struct stack_tree *t, uint32_t slot)
{
    __builtin_prefetch((const void *)((uintptr_t)t->word + (uintptr_t)(slot >> 9) * 64));
}

/* In two passes, so that neither waits for memory nor guesses: lines that are not in their home
   are only noted in the first, and the bucket behind it comes meanwhile. Equal lines stay in their
   order, for none of them is found in the first pass if one is not. */
STACK_INLINE uint32_t stack_find_above(struct stack *s, struct stack_work *w, const uint64_t *line,
                                       uint32_t m, uint32_t oldest, stack_match match)
{
    uint32_t late = 0;

    for (uint32_t k = 0; k < m; k++) {
        struct stack_bucket *const home = w->home[k];
        const uint32_t ways = stack_ways(home, line[k], match);
        uint32_t *const place = home->slot + __builtin_ctz(ways | 1u << (STACK_WAYS - 1));

        if (k + STACK_AHEAD < m)
            __builtin_prefetch(w->home[k + STACK_AHEAD]);
        w->slot[STACK_FRONT + k] = place;
        stack_fetch_block(&s->tree, *place < oldest ? oldest : *place);
        w->late[late] = (uint16_t)k;
        late += !ways;
    }
    for (uint32_t i = 0; i < late; i++)
        __builtin_prefetch(w->home[w->late[i]] + 1);
    for (uint32_t i = 0; i < late; i++) {
        const uint32_t k = w->late[i];
        uint32_t *const place = stack_place(s, line[k], w->home[k], match);

        if (!place)
            return k;
        w->slot[STACK_FRONT + k] = place;
        stack_fetch_block(&s->tree, *place);
    }
    return m;
}

STACK_INLINE uint32_t stack_find_all(struct stack *s, struct stack_work *w, const uint64_t *line,
                                     uint32_t m, stack_match match)
{
    return s->oldest ? stack_find_above(s, w, line, m, s->oldest, match)
                     : stack_find_above(s, w, line, m, 0, match);
}

/* Number of ones: by the processor's instruction, or by adding neighbours (Knuth, The Art of
   Computer Programming 4A, 7.1.3). */
STACK_INLINE uint32_t stack_ones(uint64_t x, int instruction)
{
    if (instruction)
        return (uint32_t)__builtin_popcountll(x);
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(x * 0x0101010101010101u >> 56);
}

/* 32 zeros, then ones: from 31 - i on it is 1 at all places after place i. */
extern const uint8_t stack_step8[64];
extern const uint16_t stack_step16[64];
extern const uint32_t stack_step32[64];
/* 1 in each of the seven fields of a block. Shifted by 9 bits a word it has them behind the word,
   and one in the top bit, which belongs to no field. */
#define STACK_FIELDS UINT64_C(0x0040201008040201)

/* Number of live slots before `slot`, but for what `top` counts. */
STACK_INLINE uint32_t stack_before(const struct stack_tree *t, uint32_t slot, unsigned levels,
                                   int instruction)
{
    const uint64_t *const word = t->word + (slot >> 6), *const block = t->word + (slot >> 9) * 8;
    uint32_t n = (uint32_t)(*block >> (9 * (slot >> 6 & 7) - 9) & 511) + t->near[slot >> 9];

    n += stack_ones(*word & (((uint64_t)1 << (slot & 63)) - 1), instruction);
    for (unsigned i = 0; i < levels; i++)
        n += t->far[i][slot >> (14 + 5 * i)];
    return n;
}

/* Subtracts 1 from the counts behind `index` that stand in the same 32. */
typedef void (*stack_less16)(uint16_t *__restrict count, uint32_t index);
typedef void (*stack_less32)(uint32_t *__restrict count, uint32_t index);

STACK_INLINE void less16(uint16_t *__restrict count, uint32_t index)
{
    const uint16_t *__restrict step = stack_step16 + 31 - index % 32;

    count += index & ~31u;
    for (unsigned k = 0; k < 32; k++)
        count[k] = (uint16_t)(count[k] - step[k]);
}

STACK_INLINE void less32(uint32_t *__restrict count, uint32_t index)
{
    const uint32_t *__restrict step = stack_step32 + 31 - index % 32;

    count += index & ~31u;
    for (unsigned k = 0; k < 32; k++)
        count[k] -= step[k];
}

/* The same, and `slot` dies. */
STACK_INLINE uint32_t stack_take(const struct stack_tree *t, uint32_t slot, unsigned levels,
                                 int instruction, stack_less16 few, stack_less32 many)
{
    uint64_t *const block = t->word + (slot >> 9) * 8, *const place = t->word + (slot >> 6);
    const uint32_t shift = 9 * (slot >> 6 & 7);
    const uint64_t word = *place, fields = *block;
    uint32_t n = (uint32_t)(fields >> (shift - 9) & 511);

    *place = word & ~((uint64_t)1 << (slot & 63));
    *block = fields - (STACK_FIELDS << shift);
    n += stack_ones(word & (((uint64_t)1 << (slot & 63)) - 1), instruction) + t->near[slot >> 9];
    few(t->near, slot >> 9);
    for (unsigned i = 0; i < levels; i++) {
        n += t->far[i][slot >> (14 + 5 * i)];
        many(t->far[i], slot >> (14 + 5 * i));
    }
    return n;
}

/* The first slots, by their order. */
STACK_INLINE uint32_t stack_slot(uint32_t n)
{
    return n / 448 * 512 + 64 + n % 448;
}

STACK_INLINE uint32_t stack_next_slot(uint32_t slot)
{
    return (slot + 1) % 512 ? slot + 1 : slot + 65;
}

/* Every removal changes the counts of the top, which would have to go through memory from one to
   the next. So those of up to STACK_FOLD removals are added up in a register of 32 bytes. */
typedef uint8_t stack_bytes32 __attribute__((vector_size(32)));

/* Adds 1 to the bytes behind place `at`. */
typedef void (*stack_more8)(stack_bytes32 *less, uint32_t at);

STACK_INLINE void more8(stack_bytes32 *less, uint32_t at)
{
    stack_bytes32 step;

    memcpy(&step, stack_step8 + 31 - at, sizeof step);
    *less += step;
}

STACK_INLINE void stack_rank_levels(struct stack *s, struct stack_work *w, uint32_t m,
                                    uint32_t fill, const uint16_t *evicted, uint64_t *dist,
                                    uint32_t nexts, uint32_t oldest, unsigned levels,
                                    int instruction, stack_less16 few, stack_less32 many,
                                    stack_more8 more)
{
    const struct stack_tree tree = s->tree;
    const unsigned top_shift = 14 + 5 * levels;
    uint32_t *const *place = w->slot + STACK_FRONT;
    uint32_t newer = s->live + s->count - 1, tail = s->tail; /* lines but the one at hand */

    for (uint32_t k = 0; k < m;) {
        const uint32_t end = m - k < STACK_FOLD ? m : k + STACK_FOLD;
        stack_bytes32 less = {0};

        for (; k < end; k++) {
            const uint32_t slot = *place[k];

            if (!evicted && k < nexts)
                __builtin_prefetch(w->home[k]);
            if (__builtin_expect(slot - oldest >= STACK_FRESH - oldest, 0)) {
                /* fresh, or below `oldest`, where its bit may stay: nobody counts it */
                dist[k] = slot == STACK_FRESH ? CF_DIST_COLD : CF_DIST_BEYOND;
                newer++;
            } else {
                const uint32_t top = slot >> top_shift;

                dist[k] = newer - stack_take(&tree, slot, levels, instruction, few, many) -
                          s->top[top] + less[top];
                more(&less, top);
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

/* With what is usual known to the compiler: the number of levels, whether there is a front, and
   that all distances are wanted. */
STACK_INLINE void stack_rank_all(struct stack *s, struct stack_work *w, uint32_t m, uint32_t fill,
                                 const uint16_t *evicted, uint64_t *dist, uint32_t nexts,
                                 int instruction, stack_less16 few, stack_less32 many,
                                 stack_more8 more)
{
    const unsigned levels = s->tree.levels;
    const uint32_t oldest = s->oldest;

    if (levels == 1 && !evicted && !oldest)
        stack_rank_levels(s, w, m, 0, NULL, dist, nexts, 0, 1, instruction, few, many, more);
    else if (levels == 1 && !oldest)
        stack_rank_levels(s, w, m, fill, evicted, dist, 0, 0, 1, instruction, few, many, more);
    else if (levels == 0 && evicted && !oldest)
        stack_rank_levels(s, w, m, fill, evicted, dist, 0, 0, 0, instruction, few, many, more);
    else
        stack_rank_levels(s, w, m, fill, evicted, dist, nexts, oldest, levels, instruction, few,
                          many, more);
}

/* Number of live slots before `slot`. */
STACK_INLINE uint32_t stack_rank(const struct stack *s, uint32_t slot, int instruction)
{
    const unsigned levels = s->tree.levels;

    return stack_before(&s->tree, slot, levels, instruction) + s->top[slot >> (14 + 5 * levels)];
}

STACK_INLINE void stack_renumber_all(struct stack *s, int instruction)
{
    const uint32_t first = s->oldest ? stack_rank(s, s->oldest, instruction) : 0;

    for (uint32_t i = 0; i < s->buckets; i++) {
        struct stack_bucket *b = s->bucket + i;

        for (uint32_t k = 0; k < b->used; k++) {
            if (b->slot[k] < s->oldest)
                b->slot[k] = 0;
            else if (b->slot[k] != STACK_FRESH)
                b->slot[k] = stack_slot(stack_rank(s, b->slot[k], instruction) - first);
        }
    }
    s->live -= first;
}

#endif
