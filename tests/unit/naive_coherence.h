/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * naive_coherence.h - private caches under invalidation as one would write them to be sure that
 * they are right: caches are lists with the time of the last use, and who wrote what is kept byte
 * by byte.
 */
#ifndef NAIVE_COHERENCE_H
#define NAIVE_COHERENCE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/coherence.h"
#include "formats/stream/cf.h"

enum { NAIVE_LINES = 600 };

/* What is known of a line: its number, and for each core when it last referenced it, whether it
   holds it, and the bytes that others wrote since. */
struct naive_shared_line {
    uint64_t number;
    struct {
        unsigned used;      /* time of its place in the cache's order */
        unsigned full_used; /* likewise, in the fully associative cache */
        char held, in_full, known;
        char *written; /* a byte of the line */
    } at[CF_COHERENCE_CORES];
};

struct naive_coherence {
    struct cf_coherence_geometry g;
    struct naive_shared_line line[NAIVE_LINES];
    char *bytes;
    unsigned lines, now, row;
    struct {
        uint64_t *line;
        uint32_t *row, count;
        uint8_t *missed; /* by row */
    } miss;
    struct cf_class_counts counts;
};

static inline struct naive_shared_line *naive_find_shared(struct naive_coherence *m,
                                                          uint64_t number)
{
    size_t width = (size_t)1 << m->g.line_shift;
    struct naive_shared_line *l;

    for (unsigned i = 0; i < m->lines; i++)
        if (m->line[i].number == number)
            return &m->line[i];
    if (m->lines == NAIVE_LINES)
        exit(1);
    l = &m->line[m->lines];
    memset(l, 0, sizeof(*l));
    l->number = number;
    for (unsigned k = 0; k < m->g.cores; k++) {
        l->at[k].written = m->bytes + ((size_t)m->lines * m->g.cores + k) * width;
        memset(l->at[k].written, 0, width);
    }
    m->lines++;
    return l;
}

/* Makes room for one line of a core in the set of `number`. */
static inline void naive_replace(struct naive_coherence *m, unsigned core, uint64_t number)
{
    struct naive_shared_line *oldest = NULL;
    unsigned count = 0;

    for (unsigned i = 0; i < m->lines; i++) {
        struct naive_shared_line *l = &m->line[i];

        if (!l->at[core].held || l->number % m->g.sets != number % m->g.sets)
            continue;
        count++;
        if (!oldest || l->at[core].used < oldest->at[core].used)
            oldest = l;
    }
    if (count == m->g.ways)
        oldest->at[core].held = 0;
}

static inline int naive_full_hits(struct naive_coherence *m, unsigned core,
                                  struct naive_shared_line *line, int allocate)
{
    struct naive_shared_line *oldest = NULL;
    uint64_t count = 0;
    int hit = line->at[core].in_full;

    if (hit || allocate) {
        for (unsigned i = 0; i < m->lines && !hit; i++) {
            struct naive_shared_line *l = &m->line[i];

            if (!l->at[core].in_full)
                continue;
            count++;
            if (!oldest || l->at[core].full_used < oldest->at[core].full_used)
                oldest = l;
        }
        if (count == (uint64_t)m->g.sets * m->g.ways)
            oldest->at[core].in_full = 0;
        line->at[core].in_full = 1;
        line->at[core].full_used = m->now;
    }
    return hit;
}

/* Bytes `from` to `to` of a line, widened to what counts as a word. */
static inline unsigned naive_one_line(struct naive_coherence *m, unsigned core, unsigned op,
                                      uint64_t number, uint64_t from, uint64_t to)
{
    struct naive_shared_line *l = naive_find_shared(m, number);
    uint64_t width = (uint64_t)1 << m->g.line_shift, word = width > 256 ? width / 64 : 4;
    unsigned class = CF_CLASS_NONE;
    int hit = l->at[core].held, full, fresh = 0, lost = 0;

    m->now++;
    m->counts.references[op]++;
    if (op == CF_FLUSH) {
        for (unsigned k = 0; k < m->g.cores; k++)
            l->at[k].held = l->at[k].in_full = 0;
        return CF_CLASS_NONE;
    }
    full = naive_full_hits(m, core, l, !(op == CF_STORE && m->g.no_allocate));
    from = from / word * word;
    to = to / word * word + word - 1;
    for (uint64_t b = from; b <= to; b++)
        fresh |= l->at[core].written[b];
    for (uint64_t b = 0; b < width; b++)
        lost |= l->at[core].written[b];
    if (!hit) {
        if (!l->at[core].known)
            class = CF_CLASS_COMPULSORY;
        else if (lost)
            class = fresh ? CF_CLASS_TRUE_SHARING : CF_CLASS_FALSE_SHARING;
        else
            class = full ? CF_CLASS_CONFLICT : CF_CLASS_CAPACITY;
        m->counts.misses[op][class]++;
        m->miss.row[m->miss.count] = m->row;
        m->miss.line[m->miss.count++] = number;
        m->miss.missed[m->row] = 1;
    }
    if (hit || op != CF_STORE || !m->g.no_allocate) {
        if (!hit)
            naive_replace(m, core, number);
        l->at[core].held = l->at[core].known = 1;
        l->at[core].used = m->now;
        memset(l->at[core].written, 0, width);
    }
    for (unsigned k = 0; k < m->g.cores && op == CF_STORE; k++) {
        if (k == core)
            continue;
        l->at[k].held = 0;
        for (uint64_t b = from; b <= to && l->at[k].known; b++)
            l->at[k].written[b] = 1;
    }
    return class;
}

static inline unsigned naive_access(struct naive_coherence *m, unsigned core, unsigned op,
                                    uint64_t addr, uint32_t size, uint64_t space)
{
    uint64_t width = (uint64_t)1 << m->g.line_shift;
    uint64_t last = addr + (size ? size - 1 : 0), line;
    unsigned class = CF_CLASS_NONE;

    if (!op || op >= CF_CLASS_OPS)
        op = CF_LOAD;
    if (op == CF_IFETCH && !m->g.fetches)
        return class;
    if (last < addr)
        last = UINT64_MAX;
    for (line = addr / width;; line++) {
        unsigned found =
            naive_one_line(m, core, op, line ^ space, line == addr / width ? addr % width : 0,
                           line == last / width ? last % width : width - 1);

        class = found > class ? found : class;
        if (line == last / width)
            return class;
    }
}

#endif
