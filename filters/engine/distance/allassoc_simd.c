/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allassoc_simd.c - the lists of allassoc.h by vectors, for each processor.
 *
 * Where numbers of sets divide each other, a list for fewer sets holds no line that the lists for
 * the most sets do not hold. So only for these, lines are looked for by their number;
 * a line stays in its way there while it is in the list, and way and set make a name of 16 bits.
 * All lists, also those for the most sets, are lists of names. A name is given to another line when
 * its line falls out of the list for the most sets; from all others the line has fallen out by
 * then, or falls out with the same reference.
 *
 * A list always begins at the same place, and moving it costs little: the names up to the one that
 * was found, or all, take the name of their left neighbour. As long as a list is one block of
 * names, no branch depends on the outcome.
 *
 * References are taken in batches, the most sets first, where nearly all come first in their list;
 * then several numbers of sets at a time so that their work overlaps, from the fewest sets; those
 * that came first in their list are left out for the rest of the chain.
 */
#include "filters/engine/distance/allassoc_parts.h"
#include "formats/cpu/cf_simd.h"

enum {
    BATCH = 1024,
    GROUP = 7, /* numbers of sets */
    LANES = CF_LANES * 4,
    BLOCK = LANES > 16 ? LANES : 16, /* names that are looked at at a time: a vector or two */
    PARTS = BLOCK / LANES,
#ifdef CF_SIMD_AVX2
    BITS = 2, /* of what equal() returns, for each name */
#else
    BITS = 1,
#endif
};

/* What is looked for when a line is nowhere: no list has this name. */
#define NOWHERE 0xfffe

/* References, and which of them are still looked for. */
struct batch {
    uint32_t count;
    uint16_t left[BATCH + 1];
    const uint64_t *line;
    uint16_t wanted[BATCH]; /* name to look for */
    uint16_t name[BATCH];   /* name to put in front: the same, unless that is NOWHERE */
};

typedef int16_t lanes __attribute__((vector_size(CF_LANES * 8), may_alias));

/* BITS bits for each name of a block that is the one that is wanted. */
CF_INLINE uint32_t equal(const uint16_t *list, uint16_t wanted)
{
    const lanes all = (lanes){0} + (int16_t)wanted, *n = (const lanes *)list;
#if defined(CF_SIMD_AVX2)
    return (uint32_t)_mm256_movemask_epi8((__m256i)(*n == all));
#elif defined(__x86_64__)
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16((__m128i)(n[0] == all), (__m128i)(n[1] == all)));
#else
    typedef int8_t bytes __attribute__((vector_size(8)));
    const uint64_t each = 0x8040201008040201u, ones = 0x0101010101010101u;
    const uint64_t low = (uint64_t) __builtin_convertvector(n[0] == all, bytes),
                   high = (uint64_t) __builtin_convertvector(n[1] == all, bytes);

    return (uint32_t)((low & each) * ones >> 56 | (high & each) * ones >> 56 << 8);
#endif
}

/* The place of the first name that is the wanted one, or BLOCK. */
CF_INLINE uint32_t first(uint32_t bits)
{
    return (uint32_t)__builtin_ctzll(bits | (uint64_t)1 << BLOCK * BITS) / BITS;
}

/* The names up to `place` take that of their left neighbour, the first the last of `left`, which
   becomes what the next block needs. */
CF_INLINE void move(uint16_t *list, uint32_t place, cf_vec *left)
{
    static const int16_t upto[2 * BLOCK] = {[0 ... BLOCK] = -1};

    for (unsigned i = 0; i < PARTS; i++) {
        cf_vec *part = (cf_vec *)list + i;
        const cf_vec here = *part, before = cf_vec_shift(*left, here);
        cf_vec mask;

        memcpy(&mask, upto + BLOCK - place + i * LANES, sizeof(mask));
        *part = cf_vec_blend(mask, here << 16 | before >> 48, here);
        *left = here;
    }
}

/* Looks for `wanted` and moves it to the front, or puts `name` there: returns the place where it
   was. */
CF_INLINE uint32_t to_front(uint16_t *list, unsigned blocks, uint16_t wanted, uint16_t name)
{
    cf_vec left = (cf_vec)((lanes){0} + (int16_t)name);

    for (uint32_t j = 0;; j++, list += BLOCK) {
        const uint32_t place = first(equal(list, wanted));

        move(list, place, &left);
        if (j + 1 == blocks || place < BLOCK)
            return BLOCK * j + place;
    }
}

/* The way of a line in its set, or `room`. */
CF_INLINE uint32_t find(const uint64_t *way, const uint16_t *tags, uint16_t tag, uint64_t line,
                        uint32_t room)
{
    for (uint32_t j = 0; j < room; j += BLOCK)
        for (uint32_t bits = equal(tags + j, tag); bits; bits &= bits - 1)
            if (__builtin_expect(way[j + first(bits)] == line, 1))
                return j + first(bits);
    return room;
}

/* Looks the lines of a batch up for the most sets, and names them. */
CF_INLINE void look_up(struct cf_allassoc_sets *s, struct batch *b, unsigned blocks)
{
    const uint32_t room = blocks * BLOCK;

    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t r = b->left[i];
        const uint64_t line = b->line[r], at = (uint64_t)cf_sets_index(&s->index, line) * room;
        uint16_t *list = s->name + at, tag;
        uint32_t way;

        b->wanted[r] = b->name[r] = list[0];
        if (__builtin_expect(s->way[at + (list[0] & (room - 1))] == line, 1)) {
            s->found[0]++;
            continue;
        }
        tag = (uint16_t)(line * 0x9e3779b97f4a7c15u >> 48);
        way = find(s->way + at, s->tag + at, tag, line, room);
        if (way < room) {
            b->wanted[r] = b->name[r] = (uint16_t)((list[0] & ~(room - 1)) + way);
        } else {
            b->wanted[r] = NOWHERE;
            b->name[r] = list[room - 1];
            way = b->name[r] & (room - 1);
            s->way[at + way] = line;
            s->tag[at + way] = tag;
        }
        s->found[to_front(list, blocks, b->wanted[r], b->name[r])]++;
    }
}

/* One batch for `levels` numbers of sets; references that came first for the last of them leave the
   batch. `powers`: all are powers of two. */
CF_INLINE void group(struct cf_allassoc_sets *s, unsigned levels, struct batch *b, unsigned blocks,
                     int powers)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        const uint16_t r = b->left[i], wanted = b->wanted[r], name = b->name[r];
        const uint64_t line = b->line[r];
        uint32_t place = 0;

#pragma GCC unroll 7
        for (unsigned k = 0; k < levels; k++) {
            const size_t set =
                powers ? (uint32_t)line & (s[k].sets - 1) : cf_sets_index(&s[k].index, line);

            place = to_front(s[k].name + set * blocks * BLOCK, blocks, wanted, name);
            s[k].found[place]++;
        }
        b->left[kept] = r;
        kept += place != 0;
    }
    b->count = kept;
}

/* One batch, of which what came first has left already, for the numbers of sets that share names,
   from the k-th to the `most`-th: the most first. */
CF_INLINE void share(struct cf_allassoc *a, unsigned k, unsigned most, struct batch *b,
                     unsigned blocks)
{
    look_up(&a->set[most], b, blocks);
    for (unsigned levels; k < most; k += levels) {
        const uint32_t before = b->count;

        levels = most - k < GROUP ? most - k : GROUP;
        if (a->set[most].index.inverse)
            group(a->set + k, levels, b, blocks, 0);
        else if (levels == GROUP)
            group(a->set + k, GROUP, b, blocks, 1);
        else
            group(a->set + k, levels, b, blocks, 1);
        for (unsigned j = k + levels; j < most; j++)
            a->set[j].found[0] += before - b->count;
    }
}

CF_INLINE void run(struct cf_allassoc *a, const uint64_t *line, uint32_t count, unsigned blocks)
{
    struct batch b = {0};

    for (uint32_t done = 0, take; done < count; done += take) {
        take = count - done < BATCH ? count - done : BATCH;
        b.line = line + done;
        for (unsigned k = 0, most; k < a->count; k = most + 1) {
            most = a->set[k].share;
            if (!k || a->set[k - 1].top < k) /* begins a chain */
                for (b.count = 0; b.count < take; b.count++)
                    b.left[b.count] = (uint16_t)b.count;
            for (unsigned j = k; j <= most; j++)
                a->set[j].found[0] += take - b.count;
            share(a, k, most, &b, blocks);
        }
    }
}

void CF_SIMD(cf_allassoc_run)(struct cf_allassoc *a, const uint64_t *line, uint32_t count)
{
    if (a->room == BLOCK)
        run(a, line, count, 1);
    else
        run(a, line, count, a->room / BLOCK);
}
