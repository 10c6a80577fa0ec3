/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_written.c - a chunk that is written down, and taken up again (see hierarchy_chunk.h).
 *
 * To settle a mark needs what the level held before the chunk, and the marks before it, but nothing
 * behind it. So events can be joined as they come, and need not be kept.
 *
 * Of what is taken up, that is checked on which memory or time depends: places, slots, operations,
 * flags, and that a mark is what it says to be by the marks before it. No line has the top bit,
 * which NO_LINE has.
 */
#include <string.h>

#include "filters/engine/cache/hierarchy_chunk_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

unsigned cf_chunk_shift(const struct cf_chunk *c)
{
    const struct cf_hierarchy *h = c->h;

    return h->tier[h->first[KIND_DATA] != MEMORY ? h->first[KIND_DATA] : h->first[KIND_FETCH]]
        .shift;
}

unsigned cf_chunk_shift_behind(const struct cf_chunk *c)
{
    const int behind = behind_first(c->h);

    return behind == MEMORY ? 0 : c->h->tier[behind].shift;
}

int cf_chunk_by_bits(const struct cf_chunk *c)
{
    int all = 1;

    for (unsigned kind = 0; kind < KINDS; kind++)
        if (has_first(c->h, kind))
            all &= !(first_cache(c->h, kind)->sets & (first_cache(c->h, kind)->sets - 1));
    return all;
}

/* ---- handing out ---- */

void cf_chunk_events(struct cf_chunk *c, struct cf_chunk_events *e)
{
    struct cf_cache_list *const l = &c->list[0];

    *e = (struct cf_chunk_events){
        .count = l->count, .line = l->line, .op = l->row, .flags = l->flags};
    l->count = 0;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct first *f = &c->first[kind];

        e->mark[kind] = f->mark;
        e->marks[kind] = f->marks;
        f->marks = f->listed = 0;
    }
}

uint32_t cf_chunk_slots(const struct cf_chunk *c, unsigned kind)
{
    return has_first(c->h, kind) ? first_cache(c->h, kind)->sets * first_cache(c->h, kind)->ways
                                 : 0;
}

int cf_chunk_slot(const struct cf_chunk *c, unsigned kind, uint32_t slot, struct cf_chunk_slot *s)
{
    const struct cf_cache *cache = first_cache(c->h, kind);
    const struct first *f = &c->first[kind];

    if (slot % cache->ways >= f->used[slot / cache->ways])
        return 0;
    *s = (struct cf_chunk_slot){cache->line[slot], f->line[slot]};
    return 1;
}

void cf_chunk_counts(const struct cf_chunk *c, unsigned level, struct cf_hierarchy_counts *n)
{
    const struct cf_hierarchy *h = c->h;

    if (level < h->levels)
        cf_hierarchy_count(h, level, n);
    else
        *n = (struct cf_hierarchy_counts){.loads = h->memory[CLASS_LOAD],
                                          .stores = h->memory[CLASS_STORE],
                                          .ifetches = h->memory[CLASS_FETCH],
                                          .prefetches = h->memory[CLASS_PREFETCH],
                                          .writes = h->memory_writes};
}

/* ---- taking up ---- */

/* Follows a mark as cfh_chunk_missed() made it. */
static int follow(struct first *f, const struct cf_cache *cache, const struct cf_chunk_mark *m)
{
    const uint32_t set = m->slot / cache->ways;

    if ((m->line & CF_CACHE_DIRTY) || m->slot >= cache->sets * cache->ways || m->class >= CLASSES)
        return 1;
    if (!m->leaves) {
        if (cf_cache_index(cache, m->line) != set ||
            m->slot % cache->ways != f->used[set]) /* also where all are used */
            return 1;
        (void)use_first(f, cache, m->line);
        return 0;
    }
    if (m->slot % cache->ways >= f->used[set] || f->line[m->slot] != m->line)
        return 1;
    leave_first(f, cache, m->slot);
    return 0;
}

static int take_marks(struct cf_chunk *c, unsigned kind, const struct cf_chunk_events *e)
{
    struct first *f = &c->first[kind];
    const int behind = behind_first(c->h) != MEMORY;
    uint64_t least = 0;

    if (e->marks[kind] && !has_first(c->h, kind))
        return 1;
    if (cf_array_room(&f->mark, &f->room, e->marks[kind] + 1, sizeof *f->mark) != 0)
        return -1;
    f->marks = f->listed = 0;
    for (size_t i = 0; i < e->marks[kind]; i++) {
        const struct cf_chunk_mark *m = &e->mark[kind][i];

        if (behind && (m->at < least || m->at >= e->count || (c->list[0].flags[m->at] & UNSETTLED)))
            return 1;
        if (follow(f, first_cache(c->h, kind), m) != 0)
            return 1;
        if (behind)
            c->list[0].flags[m->at] |= UNSETTLED; /* no other mark is about it */
        least = (uint64_t)m->at + 1;
        f->mark[f->marks++] = *m;
    }
    return 0;
}

int cf_chunk_take_events(struct cf_chunk *c, const struct cf_chunk_events *e)
{
    const struct cf_cache_list from = {.count = e->count,
                                       .line = (uint64_t *)e->line,
                                       .row = (uint32_t *)e->op,
                                       .flags = (uint8_t *)e->flags};
    int result = 0;

    if (e->count && behind_first(c->h) == MEMORY)
        return 1;
    for (uint32_t i = 0; i < e->count; i++)
        if ((e->line[i] & CF_CACHE_DIRTY) || e->op[i] >= CF_FLUSH || (e->flags[i] & UNSETTLED))
            return 1;
    c->list[0].count = 0;
    if (cf_cache_list_add(&c->list[0], &from, 0, e->count) != 0)
        return -1;
    for (unsigned kind = 0; result == 0 && kind < KINDS; kind++)
        result = take_marks(c, kind, e);
    for (uint32_t i = 0; i < e->count; i++)
        c->list[0].flags[i] &= (uint8_t)~UNSETTLED;
    return result;
}

int cf_chunk_take_slot(struct cf_chunk *c, unsigned kind, uint32_t slot,
                       const struct cf_chunk_slot *s)
{
    struct cf_cache *cache = has_first(c->h, kind) ? first_cache(c->h, kind) : NULL;
    struct first *f = &c->first[kind];
    const uint64_t line = s->line & ~CF_CACHE_DIRTY;

    if (!cache || slot >= cache->sets * cache->ways ||
        slot % cache->ways >= f->used[slot / cache->ways] || s->line == NO_LINE ||
        cf_cache_index(cache, line) != slot / cache->ways ||
        (s->stays != NO_LINE && s->stays != f->line[slot]))
        return 1;
    cf_cache_reach(cache, slot / cache->ways);
    if (cache->line[slot] != NO_LINE) /* it came already */
        return 1;
    cache->line[slot] = s->line;
    if (f->line[slot] != NO_LINE && s->stays == NO_LINE) /* it has left, known to be dirty */
        leave_first(f, cache, slot);
    c->taken++;
    return 0;
}

void cf_chunk_take_counts(struct cf_chunk *c, unsigned level, const struct cf_hierarchy_counts *n)
{
    struct cf_hierarchy *h = c->h;
    uint64_t *arrived = level < h->levels ? h->tier[level].arrived : h->memory;

    arrived[CLASS_LOAD] = n->loads;
    arrived[CLASS_STORE] = n->stores;
    arrived[CLASS_FETCH] = n->ifetches;
    arrived[CLASS_PREFETCH] = n->prefetches;
    if (level == h->levels) {
        h->memory_writes = n->writes;
        return;
    }
    h->tier[level].missed[CLASS_LOAD] = n->load_misses;
    h->tier[level].missed[CLASS_STORE] = n->store_misses;
    h->tier[level].missed[CLASS_FETCH] = n->ifetch_misses;
    h->tier[level].missed[CLASS_PREFETCH] = n->prefetch_misses;
    h->tier[level].n = *n;
    /* what is counted above is not counted here */
    memset(&h->tier[level].n, 0, offsetof(struct cf_hierarchy_counts, flushes));
}

int cf_chunk_join(struct cf_chunk *c, struct cf_hierarchy *h, int last)
{
    size_t used = 0;
    int bad = 0;

    for (unsigned kind = 0; last && kind < KINDS; kind++)
        for (uint32_t set = 0; has_first(h, kind) && set < first_cache(h, kind)->sets; set++)
            used += c->first[kind].used[set];
    if (last && used != c->taken)
        return 1;
    cfh_chunk_settle(c, h, 0, last);
    for (unsigned stage = 0; !bad && stage < cf_hierarchy_stages(h); stage++)
        bad = cfh_chunk_behind(c, h, stage) != 0;
    if (last)
        cfh_chunk_memory(c, h);
    c->list[0].count = 0;
    c->first[KIND_DATA].marks = c->first[KIND_FETCH].marks = 0;
    return bad ? -1 : 0;
}
