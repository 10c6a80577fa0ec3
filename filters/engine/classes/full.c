/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * full.c - a fully associative LRU cache by times and a threshold (see full.h).
 *
 * Times run from 2 up to the number of bits; 0 is a line that was never seen, 1 one that was seen
 * before the bits were last begun anew. When the bits are used up, the lines that are in the cache
 * get the times 2, 3, ... in their order, which their ranks among the set bits are, and all other
 * lines get time 1. There are 4 bits a slot and 16 a cache line or more, so that this costs a
 * quarter of a step over a slot for each reference.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/full.h"

enum { NEVER = 0, LONG_AGO = 1, FIRST_TIME = 2 };
enum {
    LEAST_BITS = 1 << 10,
    PIECE = 1 << 10,       /* references between choices of the loop */
    AHEAD = 24,            /* references between asking for a time and using it */
    SPARE = 8,             /* a power of two */
    MORE_WORDS = 1 + SPARE /* behind the bits */
};
static const uint64_t most_bits = (uint64_t)1 << 31;

struct cf_full {
    uint32_t *time; /* of slot n in element n << shift */
    uint32_t room;  /* slots */
    unsigned shift;
    int lent; /* the array is the caller's */
    uint32_t now;
    uint32_t oldest; /* time of the oldest line in the cache; `now` when there is none */
    uint32_t live;   /* lines in the cache */
    uint32_t lines;  /* that it can hold */
    int many;        /* the last references missed often */
    uint64_t span;   /* number of bits, a multiple of 64 */
    uint64_t *bits;  /* bit t: t is, or will be, the time of a line in the cache; then a word
                      that is never 0, and SPARE words that mean nothing */
    uint32_t *rank;  /* set bits before each word, when times begin anew */
};

static uint64_t span_for(const struct cf_full *f, uint32_t slots)
{
    uint64_t lines = (uint64_t)f->lines * 16, all = (uint64_t)slots * 4;
    uint64_t span = (lines < all || lines > most_bits / 4) ? all : lines;

    span = span < LEAST_BITS ? LEAST_BITS : (span + 63) / 64 * 64;
    return span > most_bits ? most_bits : span;
}

struct cf_full *cf_full_new(uint64_t lines)
{
    struct cf_full *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    /* there are never more slots */
    f->lines = lines > CF_SLOTS_MOST ? CF_SLOTS_MOST : (uint32_t)lines;
    f->now = f->oldest = FIRST_TIME;
    f->span = span_for(f, 0);
    f->bits = malloc((f->span / 64 + MORE_WORDS) * sizeof(*f->bits));
    f->rank = malloc(f->span / 64 * sizeof(*f->rank));
    if (!f->bits || !f->rank) {
        cf_full_free(f);
        return NULL;
    }
    memset(f->bits, 0xff, (f->span / 64 + MORE_WORDS) * sizeof(*f->bits));
    return f;
}

void cf_full_free(struct cf_full *f)
{
    if (!f)
        return;
    if (!f->lent)
        free(f->time);
    free(f->bits);
    free(f->rank);
    free(f);
}

/* The word of bits that holds the oldest line's, and those before it 0. While references are taken
   one after the other it stands in a register, and nowhere else. */
struct tail {
    uint64_t bits;
    uint32_t word;
};

static inline struct tail get_tail(const struct cf_full *f)
{
    uint32_t w = f->oldest / 64;

    return (struct tail){f->bits[w] & (UINT64_MAX << f->oldest % 64), w};
}

/* The time of the oldest line, or the time now when there is none. */
static inline uint32_t find_oldest(struct tail *t, const uint64_t *bits)
{
    while (!t->bits)
        t->bits = bits[++t->word];
    return t->word * 64 + (uint32_t)__builtin_ctzll(t->bits);
}

/* Gives the times FIRST_TIME, ... to the lines in the cache, so that the clock can go on. -1 when
   it cannot for lack of memory. */
static int begin_anew(struct cf_full *f)
{
    const uint64_t want = span_for(f, f->room);
    uint32_t rank = FIRST_TIME, from = f->oldest / 64, words = (f->now + 63) / 64;

    for (uint32_t w = from; w < words; w++) {
        f->rank[w] = rank;
        rank += (uint32_t)__builtin_popcountll(f->bits[w]);
    }
    for (uint32_t s = 0; s < f->room; s++) {
        uint32_t *const time = &f->time[(size_t)s << f->shift];
        const uint32_t t = *time, w = t / 64;

        if (t >= f->oldest)
            *time = f->rank[w] +
                    (uint32_t)__builtin_popcountll(f->bits[w] & (((uint64_t)1 << t % 64) - 1));
        else
            *time = t != NEVER;
    }
    if (want > f->span) {
        uint64_t *bits = malloc((want / 64 + MORE_WORDS) * sizeof(*bits));
        uint32_t *ranks = malloc(want / 64 * sizeof(*ranks));

        /* without memory it goes on as it is, only slower */
        if (bits && ranks) {
            free(f->bits);
            free(f->rank);
            f->bits = bits;
            f->rank = ranks;
            f->span = want;
        } else {
            free(bits);
            free(ranks);
        }
    }
    memset(f->bits, 0xff, (f->span / 64 + MORE_WORDS) * sizeof(*f->bits));
    f->oldest = FIRST_TIME;
    f->now = rank;
    return rank < f->span ? 0 : -1;
}

/* What the loops keep in registers. */
struct run {
    struct tail tail;
    uint32_t now, oldest;
    uint32_t misses;
};

/* One reference, its line's time before says what it finds. */
static inline uint8_t step(struct cf_full *f, struct run *r, uint32_t t)
{
    uint8_t found = CF_FULL_HIT;

    if (t >= r->oldest) {
        const uint64_t bit = (uint64_t)1 << t % 64;

        if (t / 64 != r->tail.word) {
            f->bits[t / 64] &= ~bit;
            return found;
        }
        r->tail.bits &= ~bit;
    } else {
        found = (uint8_t)(CF_FULL_NEVER_SEEN + (t != NEVER));
        r->misses++;
        if (f->live == f->lines)
            r->tail.bits &= r->tail.bits - 1;
        else
            f->live++;
    }
    r->oldest = find_oldest(&r->tail, f->bits);
    return found;
}

/* Where most references hit: what is found is predicted, and no step waits for the one before. */
static void touch_present(struct cf_full *f, struct run *run, const uint32_t *slot, size_t count,
                          uint8_t *found)
{
    uint32_t *const time = f->time;
    const unsigned shift = f->shift;
    struct run r = *run;

    for (size_t i = 0; i < count; i++, r.now++) {
        uint32_t *const at = &time[(size_t)slot[i] << shift];
        const uint32_t t = *at;

        *at = r.now;
        found[i] = step(f, &r, t);
    }
    *run = r;
}

/* Where what is found cannot be predicted: without branches on it while the cache is full, the tail
   keeps a line, and no line in it is hit. A miss has no bit to take and takes one of a spare word.
 */
static void touch_any(struct cf_full *f, struct run *run, const uint32_t *restrict slot,
                      size_t count, uint8_t *restrict found)
{
    uint32_t *restrict const time = f->time;
    uint64_t *restrict const bits = f->bits;
    const uint32_t spare = (uint32_t)(f->span / 64) + 1;
    const unsigned shift = f->shift;
    const int full = f->live == f->lines;
    struct run r = *run;

    for (size_t i = 0; i < count; i++, r.now++) {
        uint32_t *const at = &time[(size_t)slot[i] << shift];
        const uint32_t t = *at, other = spare + r.now % SPARE;
        const uint64_t hit = -(uint64_t)(t >= r.oldest), bit = (uint64_t)1 << t % 64;
        const uint64_t next = r.tail.bits & (r.tail.bits - 1);
        uint32_t next_oldest;

        __builtin_prefetch(&time[(size_t)slot[i + AHEAD < count ? i + AHEAD : i] << shift], 1);
        *at = r.now;
        if (__builtin_expect(!full | !next | (t / 64 == r.tail.word), 0)) {
            found[i] = step(f, &r, t);
            continue;
        }
        next_oldest = r.tail.word * 64 + (uint32_t)__builtin_ctzll(next);
        bits[other ^ ((other ^ t / 64) & (uint32_t)hit)] &= ~bit;
        r.tail.bits = next ^ ((next ^ r.tail.bits) & hit);
        r.oldest = next_oldest ^ ((next_oldest ^ r.oldest) & (uint32_t)hit);
        found[i] = (uint8_t)((CF_FULL_NEVER_SEEN + (t != NEVER)) & ~hit);
        r.misses += 1 + (uint32_t)hit;
    }
    *run = r;
}

/* `count` is at most what is left of the times. */
static void touch(struct cf_full *f, const uint32_t *slot, size_t count, uint8_t *found)
{
    struct run r = {get_tail(f), f->now, f->oldest, 0};

    if (f->many)
        touch_any(f, &r, slot, count, found);
    else
        touch_present(f, &r, slot, count, found);
    f->bits[r.tail.word] = r.tail.bits;
    f->now = r.now;
    f->oldest = r.oldest;
    f->many = r.misses > count / 16;
}

static int make_room(struct cf_full *f, const struct cf_slots *slots)
{
    void *time = f->time;

    if (f->lent)
        return 0;
    if (cf_slots_array(cf_slots_count(slots), &time, &f->room, sizeof(*f->time)) != 0)
        return -1;
    f->time = time;
    return 0;
}

void cf_full_lend(struct cf_full *f, uint32_t *time, uint32_t room, unsigned shift)
{
    f->time = time;
    f->room = room;
    f->shift = shift;
    f->lent = 1;
}

int cf_full_touch(struct cf_full *f, const struct cf_slots *slots, const uint32_t *slot,
                  size_t count, uint8_t *found)
{
    if (make_room(f, slots) != 0)
        return -1;
    while (count) {
        uint64_t left;
        size_t n;

        if (f->now == f->span && begin_anew(f) != 0)
            return -1;
        left = f->span - f->now;
        n = count < left ? count : (size_t)left;
        n = n < PIECE ? n : PIECE;
        touch(f, slot, n, found);
        slot += n;
        found += n;
        count -= n;
    }
    return 0;
}

int cf_full_one(struct cf_full *f, const struct cf_slots *slots, uint32_t slot,
                enum cf_full_how how)
{
    struct tail tail;
    uint8_t found;
    uint32_t *time, t;

    if (make_room(f, slots) != 0)
        return -1;
    time = &f->time[(size_t)slot << f->shift];
    t = *time;
    if (how == CF_FULL_TOUCH || (how == CF_FULL_NO_ALLOCATE && t >= f->oldest))
        return cf_full_touch(f, slots, &slot, 1, &found) != 0 ? -1 : found;
    found = t >= f->oldest ? CF_FULL_HIT : t ? CF_FULL_GONE : CF_FULL_NEVER_SEEN;
    if (how == CF_FULL_FLUSH && found == CF_FULL_HIT) {
        *time = LONG_AGO;
        f->bits[t / 64] &= ~((uint64_t)1 << t % 64);
        f->live--;
        tail = get_tail(f);
        f->oldest = find_oldest(&tail, f->bits);
    }
    return found;
}

uint32_t cf_full_time(const struct cf_full *f, uint32_t slot)
{
    const uint32_t t = slot < f->room ? f->time[(size_t)slot << f->shift] : NEVER;

    return t >= f->oldest ? t : 0;
}
