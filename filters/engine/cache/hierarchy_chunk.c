/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_chunk.c - first levels in chunks of time (see hierarchy_chunk.h).
 *
 * Why that is exact. LRU keeps the lines of a set in the order of their last use, and the set holds
 * the first W of them, its ways (Mattson, Gecsei, Slutz, Traiger, IBM Systems Journal 9(2), 1970).
 * Let D be the distinct lines of the set that the chunk has used so far. They stand before all that
 * it has not used, in an order that the chunk alone decides. So
 *   - a line of D among the W newest of D is in the set, whatever it held before: a sure hit;
 *   - once D has W lines, the set holds W of them and nothing else, in that order: all references
 *     are settled, and so is each victim, but for whether it is dirty;
 *   - until then no line of D is evicted, so a miss of the empty set is the first use of its line X
 *     in the chunk. It hits if and only if X is still there of what the set held before, O. What is
 *     left of O keeps its order behind D. A first use that hits takes X out of it; one that misses
 *     takes an invalid way, or else the last line of O. That depends on D by its number alone. So
 *     it is right to replay only the first uses, in their order, on the set as the chunk before
 *     left it: they stand in another order there than they will in the end, but before O all the
 *     same.
 * There are at most `sets` x W such first uses in a chunk. Then the first |D| ways of a set are
 * those of the chunk's own set, and the others those of the replayed one.
 *
 * Dirty is a line that a store of the chunk has touched since it came in, or that was dirty before
 * and has stayed since. So where a line leaves clean that has been there since its first use, it is
 * noted, for it may have been dirty before; and so are those that are still there at the end.
 *
 * Lists of a chunk have the operation where others have the row: it is all that counting needs.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy_chunk_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

enum { MOST_EVENTS = 1 << 24 /* of a chunk; what has more is refused */ };

/* ---- what can be done so ---- */

static int no(const char **why, int *level, const char *text, int at)
{
    *why = text;
    *level = at;
    return 0;
}

static int first_can(const struct cf_hierarchy *h, int level, const char **why, int *at)
{
    const struct tier *t = &h->tier[level];
    const struct cf_cache *c = t->cache[0];

    if (t->spec.ways > 1 && t->spec.policy != CF_LRU)
        return no(why, at, "does not replace by LRU", level);
    if (c->physical)
        return no(why, at, "has a mask of ways", level);
    if (!t->spec.write_back || !t->spec.write_allocate)
        return no(why, at, "writes through, or does not allocate at stores", level);
    return 1;
}

int cf_hierarchy_chunks(const struct cf_hierarchy *h, const char **why, int *level)
{
    const int data = h->first[KIND_DATA], fetch = h->first[KIND_FETCH];

    for (unsigned i = 0; i < h->levels; i++) {
        const struct tier *t = &h->tier[i];

        if (t->prefetcher)
            return no(why, level, "has a prefetcher", (int)i);
        if (t->inclusive || t->exclusive)
            return no(why, level, "acts on the levels before it: it is inclusive or exclusive",
                      (int)i);
    }
    if (h->watched || !cfh_is_simple(h))
        return no(why, level, "the first levels are of different lines, or have levels in common",
                  MEMORY);
    if (data != MEMORY && fetch != MEMORY && h->tier[data].onward != h->tier[fetch].onward)
        return no(why, level, "the first levels have different ones behind them", MEMORY);
    return (data == MEMORY || first_can(h, data, why, level)) &&
           (fetch == MEMORY || first_can(h, fetch, why, level));
}

/* ---- a chunk ---- */

struct cf_chunk *cf_chunk_new(const struct cf_machine *m)
{
    const struct cf_hierarchy_options o = {.cores = 1};
    struct cf_chunk *c = calloc(1, sizeof *c);
    char problem[256];
    int bad;

    if (!c)
        return NULL;
    c->h = cfh_new(m, &o, c, problem, sizeof problem);
    bad = !c->h || cf_cache_list_room(&c->batch, BATCH + 2) != 0;
    for (unsigned kind = 0; !bad && kind < KINDS; kind++) {
        struct first *f = &c->first[kind];
        const struct cf_cache *cache = has_first(c->h, kind) ? first_cache(c->h, kind) : NULL;
        const size_t slots = cache ? (size_t)cache->sets * cache->ways : 0;

        if (!cache)
            continue;
        f->line = malloc(slots * sizeof *f->line);
        f->dirty = malloc(slots);
        f->used = malloc(cache->sets * sizeof *f->used);
        f->may = malloc(cache->sets * sizeof *f->may);
        bad = !f->line || !f->dirty || !f->used || !f->may;
    }
    if (!bad)
        return c;
    cf_chunk_free(c);
    return NULL;
}

void cf_chunk_free(struct cf_chunk *c)
{
    if (!c)
        return;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        free(c->first[kind].line);
        free(c->first[kind].dirty);
        free(c->first[kind].used);
        free(c->first[kind].may);
        free(c->first[kind].mark);
    }
    for (unsigned k = 0; k < 2; k++)
        cf_cache_list_free(&c->list[k]);
    cf_cache_list_free(&c->batch);
    cf_hierarchy_free(c->h);
    free(c);
}

void cf_chunk_begin(struct cf_chunk *c)
{
    for (unsigned i = 0; i < c->h->levels; i++) {
        struct tier *t = &c->h->tier[i];

        memset(t->arrived, 0, sizeof t->arrived);
        memset(t->missed, 0, sizeof t->missed);
        t->n = (struct cf_hierarchy_counts){0};
    }
    memset(c->h->memory, 0, sizeof c->h->memory);
    c->h->memory_writes = 0;
    c->refused = 0;
    c->taken = 0;
    c->list[0].count = c->list[1].count = 0;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct first *f = &c->first[kind];

        if (!has_first(c->h, kind))
            continue;
        cf_cache_clear(first_cache(c->h, kind));
        memset(f->used, 0, first_cache(c->h, kind)->sets * sizeof *f->used);
        memset(f->may, 0, first_cache(c->h, kind)->sets * sizeof *f->may);
        f->marks = f->listed = 0;
        f->left = f->full = 0;
    }
}

int cf_chunk_run(struct cf_chunk *c, const uint64_t *addr, const uint8_t *op, const uint32_t *size,
                 uint32_t from, uint32_t to, uint64_t space, uint8_t *hit)
{
    return c->refused ? -1 : cf_hierarchy_run(c->h, addr, op, size, from, to, 0, space, hit);
}

int cfh_chunk_refuse(struct cf_chunk *c)
{
    c->refused = 1;
    return -1;
}

int cf_chunk_refused(const struct cf_chunk *c)
{
    return c->refused;
}

/* The slot of a line that leaves, if it has been there since its first use; else -1. */
static int64_t first_slot(const struct first *f, const struct cf_cache *cache, uint64_t line)
{
    const uint32_t set = cf_cache_index(cache, line);
    const size_t slot = (size_t)set * cache->ways;

    for (uint32_t i = 0; i < f->used[set]; i++)
        if (f->line[slot + i] == line)
            return (int64_t)(slot + i);
    return -1;
}

/* One that missed: 1 where it is not settled. There is room. */
static int missed_first(struct first *f, const struct cf_cache *cache, uint64_t line,
                        uint64_t victim, unsigned class)
{
    const int leaves = victim != NO_LINE;
    const uint64_t what = leaves ? victim & ~CF_CACHE_DIRTY : line;
    const int64_t slot = leaves ? first_slot(f, cache, what) : use_first(f, cache, what);

    if (leaves && slot >= 0)
        leave_first(f, cache, (uint32_t)slot);
    if (slot < 0 || (leaves && (victim & CF_CACHE_DIRTY)))
        return 0;
    f->mark[f->marks++] = (struct cf_chunk_mark){
        .line = what, .slot = (uint32_t)slot, .class = (uint8_t) class, .leaves = (uint8_t)leaves};
    return 1;
}

int cfh_chunk_missed(struct cf_chunk *c, const struct tier *t, const uint64_t *line,
                     const uint32_t *row, uint8_t *flags, uint32_t misses, const uint8_t *op)
{
    const int level = (int)(t - c->h->tier);
    struct first *const f = &c->first[c->h->first[KIND_DATA] == level ? KIND_DATA : KIND_FETCH];
    const struct cf_cache *cache = t->cache[t->at];
    /* in registers, since bytes that are written might be anything in memory */
    const struct cf_sets index = cache->index;
    const uint64_t *const may = f->may, *const victim = t->victim;
    const uint32_t *const miss = t->miss;

    if (!f->left && f->full == cache->sets)
        return 0;
    if (cf_array_room(&f->mark, &f->room, f->marks + misses, sizeof *f->mark) != 0)
        return -1;
    for (uint32_t k = 0; k < misses; k++) {
        const uint64_t left = victim[k] & ~CF_CACHE_DIRTY;

        if (victim[k] != NO_LINE && !(may[cf_sets_index(&index, left)] & first_bit(left)))
            continue; /* nearly all are settled so */
        if (missed_first(f, cache, line[miss[k]], victim[k], class_of_op(op, row[miss[k]])))
            flags[miss[k]] |= UNSETTLED;
    }
    return 0;
}

struct cf_cache_list *cfh_chunk_list(struct cf_chunk *c)
{
    return &c->list[0];
}

int cfh_chunk_take(struct cf_chunk *c, uint32_t first, const struct cf_cache_list *more,
                   const uint8_t *op)
{
    struct cf_cache_list *const to = &c->list[0];
    const int split = c->h->first[KIND_DATA] != c->h->first[KIND_FETCH];

    if (to->count + more->count > MOST_EVENTS)
        return cfh_chunk_refuse(c);
    if (cf_cache_list_add(to, more, 0, more->count) != 0)
        return -1;
    for (uint32_t i = first; i < to->count; i++)
        to->row[i] = op && op[to->row[i]] < CF_FLUSH ? op[to->row[i]] : CF_LOAD;
    if (c->first[0].listed == c->first[0].marks && c->first[1].listed == c->first[1].marks)
        return 0;
    for (uint32_t i = first; i < to->count; i++) {
        struct first *f =
            &c->first[split && (to->flags[i] & CF_RUN_FETCH) ? KIND_FETCH : KIND_DATA];

        if (!(to->flags[i] & UNSETTLED))
            continue;
        to->flags[i] &= (uint8_t)~UNSETTLED;
        f->mark[f->listed++].at = i;
    }
    return 0;
}

/* ---- what the chunk before has left ---- */

static void stays_dirty(uint64_t *set, uint32_t ways, uint64_t line)
{
    for (uint32_t i = 0; i < ways; i++)
        if ((set[i] & ~CF_CACHE_DIRTY) == line) {
            set[i] |= CF_CACHE_DIRTY;
            return;
        }
}

/* Replays the first uses of a first level. */
static void settle(struct cf_chunk *c, struct cf_hierarchy *h, unsigned kind)
{
    struct first *f = &c->first[kind];
    struct tier *t = &h->tier[h->first[kind]];
    struct cf_cache *cache = first_cache(h, kind);
    uint64_t *arrived = t->onward == MEMORY ? h->memory : h->tier[t->onward].arrived;
    uint64_t *writes = t->onward == MEMORY ? &h->memory_writes : &h->tier[t->onward].n.writes;

    for (size_t i = 0; i < f->marks; i++) {
        struct cf_chunk_mark *const m = &f->mark[i];
        enum cf_cache_state before;
        uint64_t victim = m->leaves && f->dirty[m->slot] ? m->line | CF_CACHE_DIRTY : NO_LINE;

        if (!m->leaves) {
            before = cf_cache_touch(cache, m->line, 0);
            f->dirty[m->slot] = before == CF_CACHE_MODIFIED;
            m->hits = before != CF_CACHE_ABSENT;
            if (!m->hits)
                victim = cf_cache_insert(cache, m->line, 0, CF_CACHE_ALL_WAYS);
            t->missed[m->class] -= m->hits;
            arrived[m->class] -= m->hits;
            t->n.evictions += victim != NO_LINE;
        }
        m->line = NO_LINE;
        if (victim != NO_LINE && (victim & CF_CACHE_DIRTY)) {
            m->line = victim & ~CF_CACHE_DIRTY;
            t->n.writebacks++;
            ++*writes;
        }
    }
}

/* The cache of a first level, of which all is settled, then holds what it does after the chunk. */
static void leave(struct cf_chunk *c, struct cf_hierarchy *h, unsigned kind)
{
    struct first *f = &c->first[kind];
    struct cf_cache *cache = first_cache(h, kind), *own = first_cache(c->h, kind);

    for (uint32_t set = 0; set < cache->sets; set++) {
        const size_t at = (size_t)set * cache->ways;

        for (uint32_t i = 0; i < f->used[set]; i++)
            cache->line[at + i] = own->line[at + i];
        for (uint32_t i = 0; f->may[set] && i < f->used[set]; i++)
            if (f->line[at + i] != NO_LINE && f->dirty[at + i])
                stays_dirty(cache->line + at, cache->ways, f->line[at + i]);
    }
}

static void add_tier(struct tier *to, const struct tier *from)
{
    uint64_t *n = (uint64_t *)&to->n, *const end = n + sizeof to->n / sizeof *n;
    const uint64_t *more = (const uint64_t *)&from->n;

    for (unsigned k = 0; k < CLASSES; k++) {
        to->arrived[k] += from->arrived[k];
        to->missed[k] += from->missed[k];
    }
    while (n < end)
        *n++ += *more++;
}

/* Counts of the chunk: of its first levels, and what arrives at the one behind. */
static void add_counts_of(struct cf_hierarchy *h, const struct cf_hierarchy *own)
{
    const int behind = behind_first(h);

    for (unsigned i = 0; i < h->levels; i++)
        if (!h->tier[i].before || (int)i == behind)
            add_tier(&h->tier[i], &own->tier[i]);
}

/* ---- the levels behind ---- */

/* The mark that comes next in the list; NULL where there is none. */
static const struct cf_chunk_mark *next_mark(const struct cf_chunk *c, size_t next[KINDS],
                                             unsigned *kind)
{
    const struct cf_chunk_mark *found = NULL;

    for (unsigned k = 0; k < KINDS; k++) {
        const struct first *f = &c->first[k];

        if (next[k] < f->marks && (!found || f->mark[next[k]].at < found->at)) {
            found = f->mark + next[k];
            *kind = k;
        }
    }
    return found;
}

/* The event of a mark, if it missed, and the line that is written back after it. -1 without memory,
   which there is. */
static int copy_settled(struct cf_cache_list *to, const struct cf_cache_list *from,
                        const struct cf_chunk_mark *m, unsigned extra)
{
    if (!m->hits && cf_cache_list_add(to, from, m->at, 1) != 0)
        return -1;
    if (m->line == NO_LINE)
        return 0;
    to->line[to->count] = m->line >> extra;
    to->row[to->count] = from->row[m->at];
    to->flags[to->count++] = cfh_given_back(extra);
    return 0;
}

static int run_batch(struct cf_hierarchy *h, int level, const struct cf_cache_list *l,
                     struct cf_cache_list *next)
{
    static const uint8_t each[CF_FLUSH + 1] = {0, 1, 2, 3, 4, 5}; /* the row is the operation */
    uint8_t hit[sizeof each] = {0};

    return cfh_pipeline_level(h, level, l, each, hit,
                              h->tier[level].onward == MEMORY ? NULL : next);
}

/* What has been copied. */
static int run_copied(struct cf_chunk *c, struct cf_hierarchy *h, int level,
                      struct cf_cache_list *next)
{
    const int bad = run_batch(h, level, &c->batch, next);

    c->batch.count = 0;
    return bad;
}

/* Has a level take a list; where `extra` is not -1, with what its marks have become. Between marks
   that are far apart nothing is copied. */
static int run_behind(struct cf_chunk *c, struct cf_hierarchy *h, int level,
                      const struct cf_cache_list *from, struct cf_cache_list *next, int extra)
{
    struct cf_cache_list *const b = &c->batch;
    size_t done[KINDS] = {0};
    unsigned kind = 0;
    const struct cf_chunk_mark *m = extra >= 0 ? next_mark(c, done, &kind) : NULL;

    next->count = 0;
    for (uint32_t at = 0, n; at < from->count;) {
        n = (m ? m->at : from->count) - at;
        n = n < BATCH ? n : BATCH;
        if (n > BATCH / 4) {
            const struct cf_cache_list some = {.line = from->line + at,
                                               .row = from->row + at,
                                               .flags = from->flags + at,
                                               .count = n};

            if (run_copied(c, h, level, next) != 0 || run_batch(h, level, &some, next) != 0)
                return -1;
        } else if (cf_cache_list_add(b, from, at, n) != 0) {
            return -1;
        }
        at += n;
        if (m && at == m->at) {
            if (copy_settled(b, from, m, (unsigned)extra) != 0)
                return -1;
            at++;
            done[kind]++;
            m = next_mark(c, done, &kind);
        }
        if (b->count >= BATCH / 4 * 3 && run_copied(c, h, level, next) != 0)
            return -1;
    }
    return run_copied(c, h, level, next);
}

unsigned cf_hierarchy_stages(const struct cf_hierarchy *h)
{
    unsigned n = 0;

    for (int level = behind_first(h); level != MEMORY; level = h->tier[level].onward)
        n++;
    return n ? n : 1;
}

static int first_level(const struct cf_hierarchy *h)
{
    return h->first[KIND_DATA] != MEMORY ? h->first[KIND_DATA] : h->first[KIND_FETCH];
}

void cfh_chunk_settle(struct cf_chunk *c, struct cf_hierarchy *h, unsigned core, int last)
{
    cfh_take_core(h, core);
    h->forget = 1;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (!has_first(h, kind))
            continue;
        settle(c, h, kind);
        if (last)
            leave(c, h, kind);
    }
    if (last)
        add_counts_of(h, c->h);
}

void cfh_chunk_memory(const struct cf_chunk *c, struct cf_hierarchy *h)
{
    for (unsigned k = 0; k < CLASSES; k++)
        h->memory[k] += c->h->memory[k];
    h->memory_writes += c->h->memory_writes;
}

int cfh_chunk_behind(struct cf_chunk *c, struct cf_hierarchy *h, unsigned stage)
{
    const int first = first_level(h);
    int level = h->tier[first].onward;

    for (unsigned k = 0; k < stage; k++)
        level = h->tier[level].onward;
    return level == MEMORY
               ? 0
               : run_behind(c, h, level, &c->list[stage % 2], &c->list[(stage + 1) % 2],
                            stage ? -1 : (int)(h->tier[level].shift - h->tier[first].shift));
}

int cf_chunk_stage(struct cf_chunk *c, struct cf_hierarchy *h, unsigned stage, unsigned core)
{
    if (stage == 0)
        cfh_chunk_settle(c, h, core, 1);
    /* the last stage, and no other one, takes care of what memory saw */
    if (stage + 1 == cf_hierarchy_stages(h))
        cfh_chunk_memory(c, h);
    return cfh_chunk_behind(c, h, stage);
}
