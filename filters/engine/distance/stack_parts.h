/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_parts.h - one LRU stack. The algorithm is described in stack_one.c.
 */
#ifndef CF_STACK_PARTS_H
#define CF_STACK_PARTS_H

#include <stdint.h>

#include "filters/engine/distance/stack.h"
#include "formats/cpu/cf_cpu.h"

enum {
    STACK_FRONT = 32,  /* most recent lines, which are not in the tree */
    STACK_BATCH = 992, /* references handled at a time: 10 bits of time less the front's */
    STACK_WAYS = 5,
    STACK_LEVELS = 3,
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
    uint32_t oldest;  /* lines with lower slots are farther away than `max`, or from before */
    int before;       /* there are such from before stack_forget() */
    /* the front, most recent line first */
    uint32_t count;
    uint64_t front[STACK_FRONT];
    uint32_t *slot[STACK_FRONT]; /* where the table holds their slots */
    /* whether to use the front */
    int off;
    uint32_t seen, near; /* references, and those with a distance below STACK_FRONT */
    uint64_t compulsory, compactions;
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
    uint16_t order[STACK_FRONT];            /* origins of the lines in the front after the batch */
    struct stack_bucket *home[STACK_BATCH]; /* of those lines in the table */
    uint16_t late[STACK_BATCH];             /* those that are not in their homes */
    uint32_t *slot[STACK_FRONT + STACK_BATCH]; /* by origin: where its slot is */
};

/* Distances of n references, any number. -1 without memory or at the 2^31st line. */
typedef int stack_runner(struct stack *s, struct stack_work *w, const uint64_t *line, uint32_t n,
                         uint64_t *dist);
CF_SIMD_CODE(stack_runner, stack_lines);

/* Distances greater than `max` may be CF_DIST_BEYOND; 0: none is. NULL without memory. */
struct stack *stack_new(uint64_t max);
void stack_free(struct stack *s);

/* Makes room for `slots` more slots. -1 without memory. */
int stack_make_room(struct stack *s, uint32_t slots);

/* The lines of the front go into the tree. -1 without memory. */
int stack_flush_front(struct stack *s);

/* Forgets the lines of which keep(line, arg) is 0. -1 without memory. */
int stack_keep(struct stack *s, int (*keep)(uint64_t line, const void *arg), const void *arg);

/* Calls f(line, arg) for all lines, in no order that means anything. */
void stack_each(const struct stack *s, void (*f)(uint64_t line, void *arg), void *arg);

/* A part of a trace begins: the next reference to each line so far is CF_DIST_BEYOND, and they
   count in no distance. Where `max` is 0. -1 without memory. */
int stack_forget(struct stack *s);

/* The lines that were referenced since, the oldest first; returns how many. The front must be
   flushed. */
uint32_t stack_order(const struct stack *s, uint64_t *line);

/* Bytes of table and tree. */
uint64_t stack_bytes(const struct stack *s);

/* ---- the table (stack_table.c), of which -1 says that there is no memory ---- */

int stack_table_make(struct stack *s);
void stack_table_free(struct stack *s);

/* More room. Lines get other places. -1 at the 2^31st line, too. */
int stack_table_grow(struct stack *s);

/* Drops the lines of which keep() is 0, and says each one's slot. */
int stack_table_keep(struct stack *s, int (*keep)(uint64_t line, const void *arg), const void *arg,
                     void (*dropped)(struct stack *s, uint32_t slot));
uint64_t stack_table_bytes(const struct stack *s);

/* ---- what is in a place ---- */

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

/* Number of ones: by the processor's instruction, or by adding neighbours (Knuth, The Art of
   Computer Programming 4A, 7.1.3). */
STACK_INLINE uint32_t stack_ones(uint64_t x)
{
#if defined(__x86_64__) && !defined(__POPCNT__)
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(x * 0x0101010101010101u >> 56);
#else
    return (uint32_t)__builtin_popcountll(x);
#endif
}

/* 1 in each of the seven fields of a block. Shifted by 9 bits a word it has them behind the word,
   and one in the top bit, which belongs to no field. */
#define STACK_FIELDS UINT64_C(0x0040201008040201)

/* Number of live slots before `slot`. */
STACK_INLINE uint32_t stack_rank(const struct stack *s, uint32_t slot)
{
    const struct stack_tree *const t = &s->tree;
    const uint64_t *const word = t->word + (slot >> 6), *const block = t->word + (slot >> 9) * 8;
    uint32_t n = (uint32_t)(*block >> (9 * (slot >> 6 & 7) - 9) & 511) + t->near[slot >> 9];

    n += stack_ones(*word & (((uint64_t)1 << (slot & 63)) - 1));
    for (unsigned i = 0; i < t->levels; i++)
        n += t->far[i][slot >> (14 + 5 * i)];
    return n + s->top[slot >> (14 + 5 * t->levels)];
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

#endif
