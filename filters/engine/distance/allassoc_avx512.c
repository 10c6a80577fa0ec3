/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allassoc_avx512.c - the lists of allassoc.h with 32 lines in a vector.
 *
 * Where numbers of sets divide each other, a list for fewer sets holds no line that the lists for
 * the most sets do not hold. So only for these, lines are looked for by their number;
 * a line stays in its way there while it is in the list, and way and set make a name of 16 bits.
 * All lists, also those for the most sets, are lists of names. A name is given to another line when
 * its line falls out of the list for the most sets; from all others the line has fallen out by
 * then, or falls out with the same reference.
 *
 * A list always begins at the same place, and moving all of it costs little: the names up to the
 * one that was found, or all, take the name of their left neighbour. There is no branch that
 * depends on the outcome, and places are counted in a vector that has a counter for each.
 *
 * References are taken in batches, the most sets first, then a few numbers of sets at a time so
 * that their work overlaps, from the fewest sets; those that came first in their list are left out
 * for the rest of the chain.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/distance/allassoc_parts.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { LANES = 32, BATCH = 1024, GROUP = 5 };

/* What is looked for when a line is nowhere: no list has this name. */
#define NOWHERE 0xfffefffeu

/* References that are still looked for. Names stand twice, in both halves. */
struct batch {
    uint32_t count;
    uint64_t line[BATCH + 1];
    uint32_t wanted[BATCH + 1]; /* name to look for */
    uint32_t name[BATCH + 1];   /* name to put in front: the same, unless that is NOWHERE */
};

/* References of one batch by place. */
struct places {
    __m512i count[2];
};

INLINE void add_places(uint64_t *found, const struct places *p, unsigned vectors)
{
    const uint16_t *count = (const uint16_t *)p;

    for (unsigned j = 0; j < vectors * LANES; j += 8) {
        const __m128i eight = _mm_loadu_si128((const __m128i *)(const void *)(count + j));

        _mm512_storeu_si512(found + j, _mm512_add_epi64(_mm512_loadu_si512(found + j),
                                                        _mm512_cvtepu16_epi64(eight)));
    }
}

/* Looks for `wanted` and moves it to the front, or puts `name` there: returns a bit for the place
   where it was, 0 for none. */
INLINE uint64_t to_front(uint16_t *list, unsigned vectors, uint32_t wanted, uint32_t name,
                         struct places *p)
{
    __m512i v[2], left = _mm512_set1_epi32((int)name);
    uint64_t m = 0, upto;

    for (unsigned j = 0; j < vectors; j++) {
        v[j] = _mm512_load_si512(list + LANES * j);
        const __mmask32 at = _mm512_cmpeq_epi16_mask(v[j], _mm512_set1_epi32((int)wanted));

        p->count[j] = _mm512_mask_add_epi16(p->count[j], at, p->count[j], _mm512_set1_epi16(1));
        m |= (uint64_t)at << LANES * j;
    }
    upto = vectors == 1 ? _blsmsk_u32((uint32_t)m) : _blsmsk_u64(m);
    for (unsigned j = 0; j < vectors; j++) {
        const __m512i moved = _mm512_shldi_epi32(v[j], _mm512_alignr_epi32(v[j], left, 15), 16);

        _mm512_store_si512(list + LANES * j,
                           _mm512_mask_mov_epi16(v[j], (__mmask32)(upto >> LANES * j), moved));
        left = v[j];
    }
    return m;
}

/* The way of a line in its set, or `room`. */
INLINE uint32_t find(const uint64_t *way, const uint16_t *tags, uint16_t tag, uint64_t line,
                     unsigned vectors)
{
    const __m512i wanted = _mm512_set1_epi16((short)tag);
    uint64_t m = 0;

    for (unsigned j = 0; j < vectors; j++)
        m |= (uint64_t)_mm512_cmpeq_epi16_mask(_mm512_load_si512(tags + LANES * j), wanted)
             << LANES * j;
    for (; m; m = _blsr_u64(m))
        if (__builtin_expect(way[_tzcnt_u64(m)] == line, 1))
            return (uint32_t)_tzcnt_u64(m);
    return vectors * LANES;
}

/* Looks the lines of a batch up for the most sets, and names them. */
INLINE void look_up(struct cf_allassoc_sets *s, struct batch *b, unsigned vectors)
{
    const uint32_t room = vectors * LANES;
    struct places p = {0};

    for (uint32_t i = 0; i < b->count; i++) {
        const uint64_t line = b->line[i], at = cf_allassoc_index(s, line) * room;
        const uint16_t tag = (uint16_t)(line * 0x9e3779b97f4a7c15u >> 48);
        const uint32_t way = find(s->way + at, s->tag + at, tag, line, vectors);
        uint16_t *list = s->name + at;
        uint32_t name;

        if (way < room) {
            name = (list[0] / room * room + way) * 0x10001;
            b->wanted[i] = name;
        } else {
            const uint32_t last = list[room - 1];

            s->way[at + last % room] = line;
            s->tag[at + last % room] = tag;
            name = last * 0x10001;
            b->wanted[i] = NOWHERE;
        }
        b->name[i] = name;
        to_front(list, vectors, b->wanted[i], name, &p);
    }
    add_places(s->found, &p, vectors);
}

/* One batch for `levels` numbers of sets; references that came first for the last of them leave the
   batch. `powers`: all are powers of two. */
INLINE void group(struct cf_allassoc_sets *s, unsigned levels, struct batch *b, unsigned vectors,
                  int powers)
{
    struct places p[GROUP] = {0};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t wanted = b->wanted[i], name = b->name[i];
        const uint64_t line = b->line[i];
        uint64_t place = 0;

#pragma GCC unroll 5
        for (unsigned k = 0; k < levels; k++) {
            const uint64_t set =
                powers ? (uint32_t)line & s[k].mask : cf_allassoc_index(&s[k], line);

            place = to_front(s[k].name + set * vectors * LANES, vectors, wanted, name, &p[k]);
        }
        b->line[kept] = line;
        b->wanted[kept] = wanted;
        b->name[kept] = name;
        kept += ~place & 1;
    }
    b->count = kept;
    for (unsigned k = 0; k < levels; k++)
        add_places(s[k].found, &p[k], vectors);
}

INLINE void groups(struct cf_allassoc_sets *s, unsigned levels, struct batch *b, unsigned vectors,
                   int powers)
{
    if (levels == 1)
        group(s, 1, b, vectors, powers);
    else if (levels == 2)
        group(s, 2, b, vectors, powers);
    else if (levels == 3)
        group(s, 3, b, vectors, powers);
    else if (levels == 4)
        group(s, 4, b, vectors, powers);
    else
        group(s, GROUP, b, vectors, powers);
}

/* One batch, of which what came first has left already, for the numbers of sets that share names,
   from the k-th to the `most`-th: the most first. */
INLINE void share(struct cf_allassoc *a, unsigned k, unsigned most, struct batch *b,
                  unsigned vectors)
{
    look_up(&a->set[most], b, vectors);
    for (unsigned levels; k < most; k += levels) {
        const uint32_t before = b->count;

        levels = most - k < GROUP ? most - k : GROUP;
        if (a->set[most].inverse)
            groups(a->set + k, levels, b, vectors, 0);
        else
            groups(a->set + k, levels, b, vectors, 1);
        for (unsigned j = k + levels; j < most; j++)
            a->set[j].found[0] += before - b->count;
    }
}

INLINE void run(struct cf_allassoc *a, const uint64_t *line, uint32_t count, unsigned vectors)
{
    struct batch b;

    for (uint32_t done = 0, take; done < count; done += take) {
        take = count - done < BATCH ? count - done : BATCH;
        for (unsigned k = 0, most; k < a->count; k = most + 1) {
            most = a->set[k].share;
            if (k == a->set[k].bottom) {
                __builtin_memcpy(b.line, line + done, take * sizeof(*line));
                b.count = take;
            }
            for (unsigned j = k; j <= most; j++)
                a->set[j].found[0] += take - b.count;
            share(a, k, most, &b, vectors);
        }
    }
}

static TARGET void run_32(struct cf_allassoc *a, const uint64_t *line, uint32_t count)
{
    run(a, line, count, 1);
}

static TARGET void run_64(struct cf_allassoc *a, const uint64_t *line, uint32_t count)
{
    run(a, line, count, 2);
}

cf_allassoc_runner *cf_allassoc_avx512(uint32_t ways, uint32_t *room)
{
    if (ways > 64 || !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512vbmi2") ||
        !__builtin_cpu_supports("bmi2"))
        return NULL;
    *room = ways <= 32 ? 32 : 64;
    return ways <= 32 ? run_32 : run_64;
}
#endif
