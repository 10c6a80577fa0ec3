/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intervals.c - a set of disjoint address ranges, for lookups by the hundred million.
 *
 * The ranges stand in slots that form a list in address order. A lookup starts at the slot that the
 * last lookup near this address found (a table hashed by the address without its low bits), or that
 * the last lookup with this key found. Such a hint may be stale and still never wrong: what the
 * slot says now either holds the address, or proves with its neighbour that nothing does, or is of
 * no help. So nothing has to be invalidated when ranges come and go a million times a second.
 *
 * What no hint answers is searched in the order: sorted blocks of up to BLOCK starts, and over them
 * one sorted array of each block's first start. Memory grows with the ranges in the set, and falls
 * back to free lists, not to the system, when they go.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/engine/rows/intervals_parts.h"

enum {
    HOPS = 4,         /* neighbours that a lookup visits before it searches */
    FLIGHT = 32,      /* lookups that memory is asked for in advance */
    BIG = 4096,       /* ranges whose slots no longer stay in the cache */
    NEAR_LEAST = 8,   /* hints by address: binary logarithm of their number */
    NEAR_LOOKUP = 12, /* for a set that is asked */
    NEAR_MOST = 22,
};

/* Number of starts in the sorted array that are <= addr. The loop has no branch to mispredict. */
static uint32_t count_until(const uint64_t *start, uint32_t count, uint64_t addr)
{
    const uint64_t *base = start;
    while (count > 1) {
        uint32_t half = count / 2;
        base = base[half] <= addr ? base + half : base;
        count -= half;
    }
    return (uint32_t)(base - start) + (count == 1 && *base <= addr);
}

/* Gives an array of `count` elements room for `room`. */
static int grow(void **array, size_t count, size_t room, size_t size)
{
    void *more = cf_memory_take(room * size);

    if (!more)
        return -1;
    if (count)
        memcpy(more, *array, count * size);
    free(*array);
    *array = more;
    return 0;
}

/* Opens a gap for a new block at `at` of the order. Its index in the pool, or -1. */
static int64_t block_add(struct cf_intervals *v, uint32_t at)
{
    if (v->blocks == v->blocks_room) {
        uint32_t room = v->blocks_room < 8 ? 8 : v->blocks_room + v->blocks_room / 2;
        if (grow((void **)&v->first, v->blocks, room, sizeof *v->first) < 0 ||
            grow((void **)&v->order, v->blocks, room, sizeof *v->order) < 0)
            return -1;
        v->blocks_room = room;
    }
    if (!v->free_block && v->pool_used == v->pool_room) {
        uint32_t room = v->pool_room < 1 ? 1 : v->pool_room + (v->pool_room + 1) / 2;
        if (grow((void **)&v->pool, v->pool_used, room, sizeof *v->pool) < 0)
            return -1;
        v->pool_room = room;
    }
    uint32_t index;
    if (v->free_block) {
        index = v->free_block - 1;
        v->free_block = v->pool[index].count;
    } else {
        index = v->pool_used++;
    }
    v->pool[index].count = 0;
    memmove(v->first + at + 1, v->first + at, (v->blocks - at) * sizeof *v->first);
    memmove(v->order + at + 1, v->order + at, (v->blocks - at) * sizeof *v->order);
    v->order[at] = index;
    v->first[at] = 0;
    v->blocks++;
    return index;
}

static void block_drop(struct cf_intervals *v, uint32_t at)
{
    struct block *b = &v->pool[v->order[at]];
    b->count = v->free_block;
    v->free_block = v->order[at] + 1;
    v->blocks--;
    memmove(v->first + at, v->first + at + 1, (v->blocks - at) * sizeof *v->first);
    memmove(v->order + at, v->order + at + 1, (v->blocks - at) * sizeof *v->order);
}

static void block_put(struct block *b, uint32_t at, uint64_t start, uint32_t slot)
{
    memmove(b->start + at + 1, b->start + at, (b->count - at) * sizeof *b->start);
    memmove(b->slot + at + 1, b->slot + at, (b->count - at) * sizeof *b->slot);
    b->start[at] = start;
    b->slot[at] = slot;
    b->count++;
}

static void block_take(struct block *b, uint32_t at)
{
    b->count--;
    memmove(b->start + at, b->start + at + 1, (b->count - at) * sizeof *b->start);
    memmove(b->slot + at, b->slot + at + 1, (b->count - at) * sizeof *b->slot);
}

/* Moves the entries of `from` beginning with `first` to the end of `to`. */
static void block_move(struct cf_intervals *v, uint32_t to_index, uint32_t from_index,
                       uint32_t first)
{
    struct block *to = &v->pool[to_index], *from = &v->pool[from_index];
    uint32_t moved = from->count - first;

    memcpy(to->start + to->count, from->start + first, moved * sizeof *to->start);
    memcpy(to->slot + to->count, from->slot + first, moved * sizeof *to->slot);
    for (uint32_t i = first; i < from->count; i++)
        v->home[from->slot[i]] = to_index;
    to->count += moved;
    from->count = first;
}

static uint32_t slot_take(struct cf_intervals *v)
{
    uint32_t slot = v->free_slot;
    if (slot) {
        v->free_slot = v->slots[slot].prev;
        return slot;
    }
    if (v->slots_used == v->slots_room) {
        if (v->slots_room > UINT32_MAX / 2)
            return 0;
        uint32_t room = v->slots_room + v->slots_room / 2 + 1;
        if (grow((void **)&v->slots, v->slots_used, room, sizeof *v->slots) < 0 ||
            grow((void **)&v->home, v->slots_used, room, sizeof *v->home) < 0)
            return 0;
        v->slots_room = room;
    }
    return v->slots_used++;
}

static void slot_give(struct cf_intervals *v, uint32_t slot)
{
    slot_vacate(v, slot);
    v->slots[slot].prev = v->free_slot;
    v->free_slot = slot;
}

/* ---- hints ---- */

static uint32_t hash_near(const struct cf_intervals *v, uint64_t addr)
{
    return (uint32_t)((addr >> v->shift) * 0x9e3779b97f4a7c15u >> (64 - v->near_bits));
}

static uint32_t hash_key(uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 54);
}

/* Makes hints when there are none, and more when they are too few for the ranges: at least two for
   each, within bounds. Without memory for them everything is only slower. */
static void hints_make(struct cf_intervals *v, unsigned least)
{
    unsigned bits = least;
    uint32_t *hints;

    while (bits < NEAR_MOST && ((uint32_t)1 << bits) < 4 * (uint64_t)v->count)
        bits++;
    v->near_enough = bits == NEAR_MOST ? UINT32_MAX : (uint32_t)1 << (bits - 1);
    if (v->near && bits <= v->near_bits)
        return;
    hints = cf_memory_take((((size_t)1 << bits) + KEYS) * sizeof *hints);
    if (!hints)
        return;
    memset(hints, 0, (((size_t)1 << bits) + KEYS) * sizeof *hints);
    free(v->near);
    v->near = hints;
    v->recent = hints + ((size_t)1 << bits);
    v->near_bits = bits;
    for (uint32_t s = v->slots[0].next; s; s = v->slots[s].next)
        v->near[hash_near(v, v->slots[s].start)] = s;
}

enum { UNKNOWN = UINT32_MAX };

/* Asks slot s and a few neighbours for the last range that starts at or before addr: its slot, 0 if
   there is none, UNKNOWN if they do not know. */
static inline uint32_t ask(const struct cf_interval *slots, uint32_t s, uint64_t addr)
{
    for (int hop = 0; hop < HOPS; hop++) {
        const struct cf_interval *i = &slots[s];
        if (addr < i->start)
            s = i->prev;
        else if (addr <= i->last || i->next == 0 || addr < slots[i->next].start)
            return s;
        else
            s = i->next;
    }
    return UNKNOWN;
}

static uint32_t search(const struct cf_intervals *v, uint64_t addr)
{
    uint32_t above = count_until(v->first, v->blocks, addr);
    if (above == 0)
        return 0;
    const struct block *b = &v->pool[v->order[above - 1]];
    return b->slot[count_until(b->start, b->count, addr) - 1];
}

uint32_t cf_intervals_before(struct cf_intervals *v, uint64_t addr)
{
    uint32_t found = UNKNOWN;

    if (v->near)
        found = ask(v->slots, v->near[hash_near(v, addr)], addr);
    return found == (uint32_t)UNKNOWN ? search(v, addr) : found;
}

/* ---- changes ---- */

/* Index in the order of the block that `start`, one of its starts, stands in. */
static uint32_t order_of(const struct cf_intervals *v, uint64_t start)
{
    return count_until(v->first, v->blocks, start) - 1;
}

/* Puts a slot into the order behind `prev`, 0 = before all. 0 without memory. */
static int order_insert(struct cf_intervals *v, uint32_t prev, uint64_t start, uint32_t slot)
{
    uint32_t index, at = 0;

    if (v->blocks == 0 && block_add(v, 0) < 0)
        return 0;
    index = prev ? v->home[prev] : v->order[0];
    struct block *b = &v->pool[index];
    if (prev)
        at = count_until(b->start, b->count, v->slots[prev].start);
    if (b->count == BLOCK) {
        /* Ranges that come in ascending order, the usual case, leave full blocks behind. */
        uint32_t block = prev ? order_of(v, v->slots[prev].start) : 0;
        int ascending = at == BLOCK && block + 1 == v->blocks;
        int64_t added = block_add(v, block + 1);
        if (added < 0)
            return 0;
        b = &v->pool[index];
        if (!ascending) {
            block_move(v, (uint32_t)added, index, BLOCK / 2);
            v->first[block + 1] = v->pool[added].start[0];
        }
        if (ascending || at > BLOCK / 2) {
            at -= b->count;
            index = (uint32_t)added;
            b = &v->pool[index];
            if (at == 0)
                v->first[block + 1] = start;
        }
    }
    block_put(b, at, start, slot);
    v->home[slot] = index;
    if (!prev)
        v->first[0] = start;
    return 1;
}

uint32_t cf_intervals_insert(struct cf_intervals *v, uint64_t start, uint64_t last, uint32_t value,
                             uint32_t extra)
{
    uint32_t prev = cf_intervals_before(v, start), next = v->slots[prev].next;

    if (last < start || (prev && v->slots[prev].last >= start) ||
        (next && v->slots[next].start <= last))
        return 0;
    uint32_t slot = slot_take(v);
    if (!slot)
        return 0;
    if (!order_insert(v, prev, start, slot)) {
        slot_give(v, slot);
        return 0;
    }
    v->slots[slot] = (struct cf_interval){start, last, value, extra, prev, next};
    v->slots[prev].next = slot;
    if (next)
        v->slots[next].prev = slot;
    v->count++;
    if (v->count > v->near_enough && v->count > BLOCK)
        hints_make(v, NEAR_LEAST);
    if (v->near)
        v->near[hash_near(v, start)] = slot;
    return slot;
}

void cf_intervals_remove(struct cf_intervals *v, uint32_t slot)
{
    struct cf_interval s = v->slots[slot];
    struct block *b = &v->pool[v->home[slot]];
    uint32_t place = count_until(b->start, b->count, s.start) - 1;

    if (b->count <= BLOCK / 4 || place == 0) {
        uint32_t block = order_of(v, s.start);
        uint32_t left = block + 1 < v->blocks ? block : block - 1;
        block_take(b, place);
        v->first[block] = b->start[0];
        /* Joining what is thin keeps the memory in proportion to the ranges. */
        if (b->count == 0) {
            block_drop(v, block);
        } else if (b->count < BLOCK / 4 && v->blocks > 1 &&
                   v->pool[v->order[left]].count + v->pool[v->order[left + 1]].count <=
                       BLOCK * 3 / 4) {
            block_move(v, v->order[left], v->order[left + 1], 0);
            block_drop(v, left + 1);
        }
    } else {
        block_take(b, place);
    }
    v->slots[s.prev].next = s.next;
    if (s.next)
        v->slots[s.next].prev = s.prev;
    slot_give(v, slot);
    v->count--;
    /* What takes the place will ask where it is. */
    if (v->near)
        v->near[hash_near(v, s.start)] = s.prev;
}

/* ---- lookups ---- */

uint32_t cf_intervals_overlap(struct cf_intervals *v, uint64_t start, uint64_t last)
{
    uint32_t slot = cf_intervals_before(v, start);

    if (slot == 0 || v->slots[slot].last < start)
        slot = v->slots[slot].next;
    return slot && v->slots[slot].start <= last ? slot : 0;
}

uint32_t cf_intervals_find(struct cf_intervals *v, uint64_t addr, uint64_t key)
{
    uint32_t slot;

    cf_intervals_find_many(v, &addr, &key, 1, &slot);
    return slot;
}

static inline uint32_t find_one(struct cf_intervals *v, uint64_t addr, uint64_t key)
{
    uint32_t *near = &v->near[hash_near(v, addr)], *recent = &v->recent[hash_key(key)];
    uint32_t found = ask(v->slots, *near, addr);

    if (found == (uint32_t)UNKNOWN)
        found = ask(v->slots, *recent, addr);
    if (found == (uint32_t)UNKNOWN)
        found = search(v, addr);
    *near = *recent = found;
    return addr <= v->slots[found].last ? found : 0;
}

void cf_intervals_find_many(struct cf_intervals *v, const uint64_t *addr, const uint64_t *key,
                            size_t count, uint32_t *slots)
{
    if (v->near_bits < NEAR_LOOKUP && v->count)
        hints_make(v, NEAR_LOOKUP);
    if (v->count == 0 || !v->near) {
        for (size_t i = 0; i < count; i++) {
            uint32_t slot = v->count ? search(v, addr[i]) : 0;
            slots[i] = addr[i] <= v->slots[slot].last ? slot : 0;
        }
        return;
    }
    if (v->count < BIG) {
        for (size_t i = 0; i < count; i++)
            slots[i] = find_one(v, addr[i], key ? key[i] : 0);
        return;
    }
    for (size_t i = 0; i < count; i += FLIGHT) {
        size_t n = i + FLIGHT < count ? i + FLIGHT : count;
        for (size_t k = i + 2 * FLIGHT; k < i + 3 * FLIGHT && k < count; k++)
            __builtin_prefetch(&v->near[hash_near(v, addr[k])], 1);
        for (size_t k = i + FLIGHT; k < i + 2 * FLIGHT && k < count; k++)
            __builtin_prefetch(&v->slots[v->near[hash_near(v, addr[k])]]);
        for (size_t k = i; k < n; k++)
            slots[k] = find_one(v, addr[k], key ? key[k] : 0);
    }
}

void cf_intervals_around(struct cf_intervals *v, uint64_t addr, uint64_t *first, uint64_t *last)
{
    const uint32_t slot = cf_intervals_before(v, addr);
    const struct cf_interval *i = &v->slots[slot];
    const int inside = slot && addr <= i->last;
    uint64_t from = 0, to = UINT64_MAX;

    if (slot)
        from = inside ? i->start : i->last + 1;
    if (inside)
        to = i->last;
    else if (i->next)
        to = v->slots[i->next].start - 1;
    *first = from > *first ? from : *first;
    *last = to < *last ? to : *last;
}

void cf_intervals_soon(const struct cf_intervals *v, uint64_t addr, unsigned stage)
{
    if (!v->near || v->count < BIG)
        return;
    const uint32_t *near = &v->near[hash_near(v, addr)];
    if (stage == 0) {
        __builtin_prefetch(near, 1);
    } else if (stage == 1) {
        __builtin_prefetch(&v->slots[*near], 1);
        __builtin_prefetch(&v->home[*near]);
    } else if (v->slots[*near].last != 0) {
        const struct block *b = &v->pool[v->home[*near]];
        __builtin_prefetch(&b->count, 1);
        for (unsigned i = BLOCK / 8; i < BLOCK; i += BLOCK / 4)
            __builtin_prefetch(&b->start[i], 1);
        __builtin_prefetch(&b->start[BLOCK / 2], 1);
    }
}

const struct cf_interval *cf_intervals_slots(const struct cf_intervals *v)
{
    return v->slots;
}

uint32_t cf_intervals_count(const struct cf_intervals *v)
{
    return v->count;
}
