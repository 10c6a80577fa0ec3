/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hierarchy as a pipeline, as long as one core runs, whose levels are neither inclusive nor
 * exclusive and have no prefetchers: no level then acts on one before it. So a level takes a whole
 * list of events and makes the list of the next level, each miss giving a read of its line
 * and, after it, its dirty victim. That is the order in which the serial model does it, so the
 * results are the same; but each level works on one cache at a time, in vectors, and knows what
 * comes next.
 *
 * Events are runs, and in lists behind the first level:
 *   CF_CACHE_POSTED                no demand access
 *   CF_RUN_STORE, POSTED, GIVEN    a dirty line given back; CF_CACHE_WHOLE: it fills a line there
 *   CF_RUN_STORE                   a store that was not kept before, POSTED when it hit there
 */
#include <stdlib.h>

#include "filters/engine/cache/hierarchy_parts.h"

static int room_for(struct tier *t, uint32_t count)
{
    if (count <= t->room)
        return 0;
    free(t->miss);
    free(t->victim);
    t->room = count < BATCH ? BATCH : count + count / 2;
    t->miss = malloc(((size_t)t->room + 8) * sizeof *t->miss);
    t->victim = malloc(((size_t)t->room + 8) * sizeof *t->victim);
    if (!t->miss || !t->victim) {
        t->room = 0;
        return -1;
    }
    return 0;
}

struct run_of_level {
    const uint64_t *line;
    const uint32_t *row;
    uint8_t *flags;
    uint32_t count, misses;
    unsigned extra; /* log2 of the lines of this level that one of the next holds */
    uint8_t behind; /* depth that serves what misses */
};

/* Events of a level that allocates and writes back: only what missed has consequences. For misses
   `from` to `end`; where `listed` is 0 the next is memory, for which counts are enough; where
   `told` is 0 nobody asks which level served a row. */
static inline __attribute__((always_inline)) void
emit_some(struct cf_hierarchy *h, struct tier *t, const struct run_of_level *r, const uint8_t *op,
          uint8_t *hit, struct cf_cache_list *to, uint32_t from, uint32_t end, const int listed,
          const int told)
{
    const int next = t->onward;
    const uint8_t given_back = cfh_given_back(r->extra);
    /* in registers, since bytes that are written might be anything in memory */
    const uint64_t *const lines = r->line, *const victims = t->victim;
    const uint32_t *const rows = r->row, *const misses = t->miss;
    const uint8_t *const flags = r->flags;
    uint64_t *const line = to->line;
    uint32_t *const row = to->row;
    uint8_t *const flag = to->flags;
    const unsigned extra = r->extra;
    const uint8_t behind = r->behind;
    uint64_t evictions = 0, dirty_lines = 0, writes = 0, missed = 0, read = 0;
    uint32_t n = to->count;

    for (uint32_t k = from; k < end; k++) {
        const uint32_t i = misses[k], at = rows[i];
        const unsigned f = flags[i];
        const uint64_t given = (f & (CF_CACHE_POSTED | GIVEN)) == (CF_CACHE_POSTED | GIVEN);
        const uint64_t reads = !(f & CF_CACHE_WHOLE), one = one_of(op, at);
        const uint64_t victim = victims[k], valid = victim != CF_CACHE_NONE;
        const uint64_t dirty = victim >> 63 & valid;

        evictions += valid;
        dirty_lines += dirty;
        writes += given;
        missed += one & (given - 1);
        read += one & -reads;
        if (listed) {
            line[n] = lines[i] >> extra;
            row[n] = at;
            flag[n] = (uint8_t)(f & (CF_RUN_FETCH | CF_RUN_PREFETCH | CF_CACHE_POSTED | UNSETTLED));
            n += (uint32_t)reads;
            line[n] = (victim & ~CF_CACHE_DIRTY) >> extra;
            row[n] = at;
            flag[n] = given_back;
            n += (uint32_t)dirty;
        }
        /* a batch before may have had another line of the row, which was served later */
        if (told)
            hit[at] = (f & CF_CACHE_POSTED) || hit[at] > behind ? hit[at] : behind;
    }
    to->count = n;
    t->n.evictions += evictions;
    t->n.writebacks += dirty_lines;
    t->n.write_misses += writes;
    add_counts(t->missed, missed);
    add_counts(next == MEMORY ? h->memory : h->tier[next].arrived, read);
    *(next == MEMORY ? &h->memory_writes : &h->tier[next].n.writes) += dirty_lines;
}

static void emit_misses(struct cf_hierarchy *h, struct tier *t, const struct run_of_level *r,
                        const uint8_t *op, uint8_t *hit, struct cf_cache_list *to)
{
    for (uint32_t from = 0, end; from < r->misses; from = end) {
        end = r->misses - from > MOST_COUNTED ? from + MOST_COUNTED : r->misses;
        if (t->onward == MEMORY)
            emit_some(h, t, r, op, hit, to, from, end, 0, hit != NULL);
        else if (hit)
            emit_some(h, t, r, op, hit, to, from, end, 1, 1);
        else
            emit_some(h, t, r, op, hit, to, from, end, 1, 0);
    }
}

/* The same for a level that writes through or does not allocate: what a store does depends on
   whether it hit, so all events are looked at. */
static void emit_all(struct tier *t, const struct run_of_level *r, const uint8_t *op, uint8_t *hit,
                     struct cf_cache_list *to)
{
    const int through = !t->spec.write_back, allocate = t->spec.write_allocate;
    uint32_t n = to->count, k = 0;

    for (uint32_t i = 0; i < r->count; i++) {
        const uint32_t at = r->row[i];
        const unsigned f = r->flags[i], store = f & CF_RUN_STORE, posted = f & CF_CACHE_POSTED;
        const unsigned given = store && posted ? f & GIVEN : 0;
        const int missed = k < r->misses && t->miss[k] == i;
        const uint64_t victim = missed ? t->victim[k++] : CF_CACHE_NONE;

        if (!missed && !(store && through))
            continue;
        if (missed) {
            t->n.evictions += victim != CF_CACHE_NONE;
            if (given)
                t->n.write_misses++;
            else
                t->missed[class_of_op(op, at)]++;
            if (!posted && hit && hit[at] < r->behind)
                hit[at] = r->behind;
            if ((!store || allocate) && !(f & CF_CACHE_WHOLE)) {
                to->line[n] = r->line[i] >> r->extra;
                to->row[n] = at;
                to->flags[n++] = (uint8_t)(f & (CF_RUN_FETCH | CF_RUN_PREFETCH | CF_CACHE_POSTED));
            }
            if (victim != CF_CACHE_NONE && (victim & CF_CACHE_DIRTY)) {
                t->n.writebacks++;
                to->line[n] = (victim & ~CF_CACHE_DIRTY) >> r->extra;
                to->row[n] = at;
                to->flags[n++] = cfh_given_back(r->extra);
            }
        }
        if (store && (through || !allocate)) {
            const unsigned waits = missed && !allocate ? posted : CF_CACHE_POSTED;

            t->n.writebacks += given != 0;
            to->line[n] = r->line[i] >> r->extra;
            to->row[n] = at;
            to->flags[n++] =
                (uint8_t)(CF_RUN_STORE | waits | given | (r->extra ? 0 : f & CF_CACHE_WHOLE));
        }
    }
    to->count = n;
}

/* What arrives behind the first level, and at memory: events from `from` on. */
static void count_events(struct cf_hierarchy *h, int level, const struct cf_cache_list *l,
                         uint32_t from, const uint8_t *op)
{
    uint64_t *arrived = level == MEMORY ? h->memory : h->tier[level].arrived, writes = 0;

    for (uint32_t i = from; i < l->count; i++) {
        const unsigned f = l->flags[i], store = f & CF_RUN_STORE;
        /* memory keeps what is written and reads nothing for it */
        const int write = store && (level == MEMORY || (f & GIVEN));

        writes += (unsigned)write;
        arrived[class_of_op(op, l->row[i])] += !write;
    }
    *(level == MEMORY ? &h->memory_writes : &h->tier[level].n.writes) += writes;
}

/* The runs of a first level go as they are. */
static void watch_first(struct tier *t, const struct run_of_level *r)
{
    const struct cf_hierarchy_refs refs = {.count = r->count,
                                           .line = r->line,
                                           .row = r->row,
                                           .flags = r->flags,
                                           .cache = t->at,
                                           .miss = t->miss,
                                           .misses = r->misses};

    cfh_watch_flush(t);
    t->watch->f(t->watch->arg, &refs);
}

static void watch_level(struct tier *t, const struct run_of_level *r, const uint8_t *op)
{
    static const uint8_t flags_of_class[CLASSES] = {0, 0, CF_RUN_FETCH, CF_RUN_PREFETCH};

    for (uint32_t i = 0, k = 0; i < r->count; i++) {
        const int missed = k < r->misses && t->miss[k] == i;
        const unsigned f = r->flags[i];
        unsigned seen = f & CF_RUN_STORE;

        if (seen && (f & CF_CACHE_POSTED) && (f & GIVEN))
            seen |= CF_REF_WRITE;
        else
            seen |= flags_of_class[class_of_op(op, r->row[i])];
        cfh_note(t, r->line[i], r->row[i], t->at, seen, missed);
        k += (unsigned)missed;
    }
}

/* Appends events that are in the order of their rows to a list that is, too. No row is in both. */
static int merge(struct cf_hierarchy *h, struct cf_cache_list *l, const struct cf_cache_list *more)
{
    struct cf_cache_list *to = &h->merged, swap;
    uint32_t a = 0, b = 0, n = 0;

    to->count = 0;
    if (cf_cache_list_room(to, (size_t)l->count + more->count) != 0)
        return -1;
    while (a < l->count || b < more->count) {
        const int first = b == more->count || (a < l->count && l->row[a] < more->row[b]);
        const struct cf_cache_list *from = first ? l : more;
        const uint32_t i = first ? a++ : b++;

        to->line[n] = from->line[i];
        to->row[n] = from->row[i];
        to->flags[n++] = from->flags[i];
    }
    to->count = n;
    swap = *l;
    *l = *to;
    *to = swap;
    return 0;
}

/* One level: r holds its events. What follows from them is appended to `more`, or where that is
   NULL goes to the list of the next level, in the order of the rows. */
static int run_level(struct cf_hierarchy *h, int level, struct run_of_level *r, int first,
                     const uint8_t *op, uint8_t *hit, struct cf_cache_list *more)
{
    struct tier *t = &h->tier[level];
    const int next = t->onward;
    struct cf_cache_list *to = more;
    uint32_t from;

    if (!more) {
        to = next == MEMORY || h->in[next].count ? &h->out : &h->in[next];
        to->count = 0;
    }
    from = to->count;
    if (r->count > UINT32_MAX / 4 || room_for(t, r->count) != 0 ||
        cf_cache_list_room(to, from + (size_t)r->count * 3 + 2) != 0)
        return -1;
    r->misses = cf_cache_batch(t->cache[t->at], r->line, r->flags, r->count, t->ways[h->core],
                               t->miss, t->victim);
    if (h->chunk && cfh_chunk_missed(h->chunk, t, r->line, r->row, r->flags, r->misses, op) != 0)
        return -1;
    r->extra = next == MEMORY ? 0 : h->tier[next].shift - t->shift;
    r->behind = (uint8_t)depth_of(h, next);
    if (t->watch && first)
        watch_first(t, r);
    else if (t->watch)
        watch_level(t, r, op);
    if (t->spec.write_back && t->spec.write_allocate) {
        emit_misses(h, t, r, op, hit, to);
    } else {
        emit_all(t, r, op, hit, to);
        count_events(h, next, to, from, op);
    }
    if (next != MEMORY && to == &h->out && to->count)
        return merge(h, &h->in[next], to);
    return 0;
}

int cfh_pipeline_level(struct cf_hierarchy *h, int level, const struct cf_cache_list *l,
                       const uint8_t *op, uint8_t *hit, struct cf_cache_list *more)
{
    struct run_of_level r = {.line = l->line, .row = l->row, .flags = l->flags, .count = l->count};

    return r.count ? run_level(h, level, &r, 0, op, hit, more) : 0;
}

int cfh_pipeline(struct cf_hierarchy *h, const struct cf_runs *data, const struct cf_runs *fetches,
                 const uint8_t *op, unsigned core, uint8_t *hit)
{
    /* In a chunk, what follows from one first level goes straight to the chunk's list; what follows
       from two is merged first. */
    struct cf_cache_list *const all = h->chunk ? cfh_chunk_list(h->chunk) : NULL,
                                *const to = fetches && fetches->count && data->count ? NULL : all;
    uint32_t taken = all ? all->count : 0;

    h->core = core;
    h->forget = 1;
    for (unsigned i = 0; i < h->levels; i++)
        h->in[i].count = 0;
    for (unsigned i = 0; i < h->levels; i++) {
        struct cf_cache_list *in = &h->in[i];
        const struct cf_runs *first = h->first[KIND_DATA] == (int)i    ? data
                                      : h->first[KIND_FETCH] == (int)i ? fetches
                                                                       : NULL;
        int bad = 0;

        if (first) {
            struct run_of_level r = {.line = first->line,
                                     .row = first->row,
                                     .flags = first->flags,
                                     .count = first->count};

            bad = r.count && run_level(h, (int)i, &r, 1, op, hit, to) != 0;
        } else if (h->chunk) {
            bad = cfh_chunk_take(h->chunk, taken, in, op) != 0;
            taken = all->count;
        } else {
            bad = cfh_pipeline_level(h, (int)i, in, op, hit, NULL) != 0;
        }
        if (bad)
            return -1;
        in->count = 0;
    }
    return 0;
}
