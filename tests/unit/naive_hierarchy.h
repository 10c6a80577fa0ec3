/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * naive_hierarchy.h - a hierarchy of caches (naive_caches.h) as one would write it to be sure that
 * it is right: one byte range at a time; no runs, no batches, no prefetchers. What goes from level
 * to level: reads, writes of dirty lines, evictions, and what other cores lose.
 */
#ifndef NAIVE_HIERARCHY_H
#define NAIVE_HIERARCHY_H

#include <stdint.h>

#include "formats/stream/cf.h"
#include "naive_caches.h"

static void naive_write(struct naive *n, int level, uint64_t addr, unsigned bytes);

/* Takes all lines of `level` in [addr, addr + bytes) from one cache. */
static int naive_drop(struct naive *n, int level, unsigned cache, uint64_t addr, unsigned bytes,
                      int keep, uint64_t *count)
{
    unsigned step = n->level[level].spec->line;
    int dirty = 0;

    for (uint64_t k = 0; k < (bytes < step ? 1 : bytes / step); k++) {
        struct naive_line *x = naive_find(n, level, cache, addr + k * step);

        if (!x)
            continue;
        dirty |= x->dirty;
        n->level[level].n.writebacks += (unsigned)x->dirty;
        x->dirty = 0;
        if (!keep) {
            x->valid = 0;
            (*count)++;
        }
    }
    return dirty;
}

/* Does a cache of another core that meets our way at `next` hold it dirty? */
static int naive_dirty_elsewhere(struct naive *n, int level, int next, uint64_t addr)
{
    for (int i = 0; i <= level; i++)
        for (unsigned c = 0; naive_serves(n, i, 0) && c < n->level[i].caches; c++) {
            unsigned other = c * n->level[i].shared;

            if (other / n->level[level].shared == n->core / n->level[level].shared ||
                (next >= 0 && other / n->level[next].shared != n->core / n->level[next].shared))
                continue;
            for (uint64_t b = 0; b < n->level[level].spec->line; b += n->level[i].spec->line) {
                struct naive_line *x = naive_find(n, i, c, naive_begin(n, level, addr) + b);

                if (x && x->dirty)
                    return 1;
            }
        }
    return 0;
}

/* Does a cache that our core does not use hold it dirty? */
static int naive_others_changed(struct naive *n, uint64_t addr, unsigned bytes)
{
    for (int i = 0; i < (int)n->levels; i++)
        for (unsigned c = 0; naive_serves(n, i, 0) && c < n->level[i].caches; c++)
            for (uint64_t b = 0; c != naive_cache(n, i) && b < bytes; b += n->level[i].spec->line) {
                struct naive_line *x = naive_find(n, i, c, addr + b);

                if (x && x->dirty)
                    return 1;
            }
    return 0;
}

/* Before something goes from `level` to the next: copies that other caches hold which meet our way
   first at that next level. */
static void naive_snoop(struct naive *n, int level, uint64_t addr, int take)
{
    int next = naive_next(n, level, 0), dirty = 0;
    unsigned bytes = n->level[level].spec->line;

    addr = naive_begin(n, level, addr);
    if (!naive_serves(n, level, 0))
        return;
    if (naive_exclusive(n, next) && !take)
        take = naive_dirty_elsewhere(n, level, next, addr) ||
               (naive_find(n, next, naive_cache(n, next), addr) &&
                naive_find(n, next, naive_cache(n, next), addr)->dirty);
    for (int i = 0; i <= level; i++) {
        struct naive_level *l = &n->level[i];

        if (!naive_serves(n, i, 0))
            continue;
        for (unsigned c = 0; c < l->caches; c++) {
            unsigned other = c * l->shared; /* a core of that cache */
            int ours = other / n->level[level].shared == n->core / n->level[level].shared;
            int meets =
                next < 0 || other / n->level[next].shared == n->core / n->level[next].shared;

            uint64_t before = l->n.invalidations;

            if (!ours && meets)
                dirty |= naive_drop(n, i, c, addr, bytes, !take, &l->n.invalidations);
            if (l->n.invalidations == before || l->spec->inclusion != CF_INCLUSIVE)
                continue;
            /* instruction caches lose it too */
            for (int k = 0; k < i; k++)
                for (unsigned d = 0; naive_before(n, k, i) && d < n->level[k].caches; d++)
                    if (d * n->level[k].shared / l->shared == c)
                        dirty |=
                            naive_drop(n, k, d, addr, bytes, 0, &n->level[k].n.back_invalidations);
        }
    }
    if (dirty)
        naive_write(n, next, addr, bytes);
}

/* Others may hold the line from `level` on: they lose it. */
static void naive_own(struct naive *n, int level, uint64_t addr)
{
    for (int i = level; i >= 0; i = naive_next(n, i, 0)) {
        struct naive_line *x = naive_find(n, i, naive_cache(n, i), addr);

        if ((x && x->dirty) || !naive_serves(n, i, 0))
            return;
        naive_snoop(n, i, addr, 1);
    }
}

/* A dirty line has come to the level before. */
static void naive_forget_older(struct naive *n, int level, uint64_t addr)
{
    struct naive_line *x =
        naive_exclusive(n, level) ? naive_find(n, level, naive_cache(n, level), addr) : NULL;

    if (x)
        x->valid = 0;
}

static void naive_insert(struct naive *n, int level, uint64_t addr, int dirty)
{
    struct naive_level *l = &n->level[level];
    unsigned cache = naive_cache(n, level);
    struct naive_line *x = naive_victim(n, level, naive_set(n, level, cache, addr)), old = *x;
    int fetch = !naive_serves(n, level, 0), next = naive_next(n, level, fetch);
    uint64_t mine;

    x->addr = naive_begin(n, level, addr);
    x->space = n->space;
    x->valid = 1;
    x->dirty = dirty;
    naive_touch(n, x);
    x->came = n->clock;
    if (!old.valid)
        return;
    mine = n->space;
    n->space = old.space;
    l->n.evictions++;
    if (l->spec->inclusion == CF_INCLUSIVE)
        for (int i = 0; i < level; i++)
            for (unsigned c = 0; naive_before(n, i, level) && c < n->level[i].caches; c++)
                if (c * n->level[i].shared / l->shared == cache)
                    old.dirty |= naive_drop(n, i, c, old.addr, l->spec->line, 0,
                                            &n->level[i].n.back_invalidations);
    /* an instruction cache may hold what another core has changed since */
    if (fetch && naive_exclusive(n, next) && naive_serves(n, next, 0) &&
        naive_others_changed(n, old.addr, l->spec->line)) {
        n->space = mine;
        return;
    }
    l->n.writebacks += (unsigned)old.dirty;
    if (naive_exclusive(n, next)) {
        struct naive_line *y = naive_find(n, next, naive_cache(n, next), old.addr);

        n->level[next].n.writes++;
        n->level[next].n.write_misses += !y;
        if (!y) {
            if (old.dirty)
                naive_forget_older(n, naive_next(n, next, !naive_serves(n, next, 0)), old.addr);
            naive_insert(n, next, old.addr, old.dirty);
        } else {
            y->dirty |= old.dirty;
            naive_touch(n, y);
        }
    } else if (old.dirty) {
        naive_write(n, next, old.addr, l->spec->line);
    }
    n->space = mine;
}

static unsigned naive_read(struct naive *n, int level, uint64_t addr, int fetch, int own,
                           int *dirty);

/* Dirty data of `bytes` bytes, a line of some level before, comes to `level`. */
static void naive_write(struct naive *n, int level, uint64_t addr, unsigned bytes)
{
    struct naive_level *l;
    struct naive_line *x;
    int missed, next;

    if (level < 0) {
        n->memory_writes++;
        return;
    }
    l = &n->level[level];
    x = naive_find(n, level, naive_cache(n, level), addr);
    next = naive_next(n, level, !naive_serves(n, level, 0));
    missed = !x;
    l->n.writes++;
    l->n.write_misses += !x;
    if (x) {
        naive_touch(n, x);
        x->dirty |= l->spec->write_back;
    } else if (naive_exclusive(n, level)) {
        naive_forget_older(n, next, addr);
        naive_insert(n, level, addr, 1);
    } else if (l->spec->write_allocate) {
        int dirty = l->spec->write_back;

        if (bytes != l->spec->line) {
            naive_read(n, next, addr, !naive_serves(n, level, 0), 0, &dirty);
        } else {
            naive_forget_older(n, next, addr);
        }
        naive_insert(n, level, addr, dirty);
    }
    if (naive_exclusive(n, level))
        return;
    if (!l->spec->write_back || (missed && !l->spec->write_allocate)) {
        l->n.writebacks++;
        naive_write(n, next, addr, bytes);
    }
}

static unsigned naive_read(struct naive *n, int level, uint64_t addr, int fetch, int own,
                           int *dirty)
{
    struct naive_line *x;
    unsigned served;
    int given = 0;

    if (level < 0) {
        n->memory_reads++;
        return CF_FROM_MEMORY;
    }
    (*naive_count(n, level, 0))++;
    x = naive_find(n, level, naive_cache(n, level), addr);
    if (x) {
        int was = x->dirty;

        if (naive_exclusive(n, level)) {
            x->valid = 0;
            if (dirty)
                *dirty |= was;
            else if (was) {
                n->level[level].n.writebacks++;
                naive_write(n, naive_next(n, level, !naive_serves(n, level, 0)), addr,
                            n->level[level].spec->line);
            }
        } else {
            naive_touch(n, x);
        }
        if (own && !was)
            naive_own(n, level, addr);
        return n->level[level].spec->depth;
    }
    (*naive_count(n, level, 1))++;
    naive_snoop(n, level, addr, own);
    /* a fetch that leaves the way of data behind a unified level asks on the rest of that, too */
    if (naive_serves(n, level, 0) && naive_next(n, level, fetch) != naive_next(n, level, 0))
        for (int i = naive_next(n, level, 0); i >= 0; i = naive_next(n, i, 0))
            naive_snoop(n, i, addr, own);
    if (naive_exclusive(n, level))
        return naive_read(n, naive_next(n, level, fetch), addr, fetch, own, dirty);
    /* an instruction cache gets no dirty line */
    served = naive_read(n, naive_next(n, level, fetch), addr, fetch, own,
                        naive_serves(n, level, 0) ? &given : NULL);
    naive_insert(n, level, addr, given);
    return served;
}

static unsigned naive_store(struct naive *n, int level, uint64_t addr)
{
    const struct cf_level *l;
    struct naive_line *x;
    unsigned served;
    int given = 0, next, was;

    if (level < 0) {
        n->memory_writes++;
        return CF_FROM_MEMORY;
    }
    l = n->level[level].spec;
    next = naive_next(n, level, 0);
    (*naive_count(n, level, 0))++;
    x = naive_find(n, level, naive_cache(n, level), addr);
    if (x) {
        was = x->dirty;
        naive_touch(n, x);
        x->dirty |= l->write_back;
        if (!l->write_back) {
            naive_snoop(n, level, addr, 1);
            naive_store(n, next, addr);
        } else if (!was) {
            x->dirty = 0;
            naive_own(n, level, addr);
            x->dirty = 1;
        }
        return l->depth;
    }
    (*naive_count(n, level, 1))++;
    naive_snoop(n, level, addr, 1);
    if (!l->write_allocate || naive_exclusive(n, level))
        return naive_store(n, next, addr);
    served = naive_read(n, next, addr, 0, 1, &given);
    naive_insert(n, level, addr, given || l->write_back);
    if (!l->write_back) {
        naive_snoop(n, level, addr, 1);
        naive_store(n, next, addr);
    }
    return served;
}

/* The first level where some cache holds one of `bytes` bytes. */
static unsigned naive_holds(struct naive *n, uint64_t addr, unsigned bytes)
{
    unsigned found = CF_FROM_MEMORY;

    for (int i = 0; i < (int)n->levels; i++)
        for (unsigned c = 0; c < n->level[i].caches; c++)
            for (uint64_t b = 0; b < bytes; b += n->level[i].spec->line)
                if (naive_find(n, i, c, addr + b) && n->level[i].spec->depth < found)
                    found = n->level[i].spec->depth;
    return found;
}

static void naive_flush(struct naive *n, uint64_t addr, unsigned bytes)
{
    int dirty = 0;

    for (unsigned i = 0; i < n->levels; i++) {
        struct naive_level *l = &n->level[i];
        uint64_t lost = 0;

        for (unsigned c = 0; c < l->caches; c++) {
            uint64_t before = lost;

            dirty |= naive_drop(n, (int)i, c, naive_begin(n, (int)i, addr), bytes, 0, &lost);
            for (unsigned k = 0; lost > before && l->spec->inclusion == CF_INCLUSIVE && k < i; k++)
                for (unsigned d = 0; naive_before(n, (int)k, (int)i) && d < n->level[k].caches; d++)
                    dirty |= naive_drop(n, (int)k, d, naive_begin(n, (int)i, addr), l->spec->line,
                                        0, &n->level[k].n.back_invalidations);
        }
        l->n.flushes += lost;
    }
    n->memory_writes += (unsigned)dirty;
}

/* One row: the depth of its slowest line. `bytes`: line of the first level of its path. */
__attribute__((unused)) static unsigned naive_row(struct naive *n, uint64_t addr, unsigned op,
                                                  uint32_t size, unsigned bytes)
{
    int fetch = op == CF_IFETCH, first = naive_next(n, -1, fetch), ignored = 0;
    uint64_t last = addr + (size ? size - 1 : 0);
    unsigned slowest = 0;

    if (last < addr)
        last = UINT64_MAX;
    n->op = (int)op;
    /* before one of its lines takes another along, in a longer line */
    for (uint64_t line = addr / bytes; op == CF_FLUSH && line <= last / bytes; line++) {
        unsigned served = naive_holds(n, line * bytes, bytes);

        slowest = served > slowest ? served : slowest;
    }
    for (uint64_t line = addr / bytes; line <= last / bytes; line++) {
        unsigned served = 0;

        if (op == CF_FLUSH)
            naive_flush(n, line * bytes, bytes);
        else if (op == CF_STORE)
            served = naive_store(n, first, line * bytes);
        else
            served = naive_read(n, first, line * bytes, fetch, 0, &ignored);
        if (served > slowest)
            slowest = served;
    }
    return slowest;
}

#endif
