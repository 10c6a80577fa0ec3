/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cacheperf_sharing.c - lines that threads take from each other (see cacheperf.h).
 *
 * What a thread does to a word counts where it is not few beside the most that any does to a word
 * of the line: who only prepared the line, or looked once, shares nothing. An access of several
 * words is done to each of them, but is one miss or store.
 */
#include <stdlib.h>

#include "filters/engine/classes/cacheperf_parts.h"

/* ---- lines with many misses ---- */

struct place {
    uint32_t set, line;
    uint64_t misses;
};

static int by_set(const void *x, const void *y)
{
    const struct place *a = x, *b = y;

    if (a->set != b->set)
        return a->set < b->set ? -1 : 1;
    return (a->misses < b->misses) - (a->misses > b->misses);
}

/* 2.2.1: few lines, not on the same set. Where more lines than the set has ways have at least half
   the misses of this one, the set is what they fight for. `first` is the set's line with most. */
static int is_crowded(const struct cf_cacheperf *c, const struct place *place, size_t count,
                      size_t first, size_t at)
{
    const size_t last = first + c->c.ways;

    return last < count && place[last].set == place[at].set &&
           place[last].misses >= place[at].misses - place[at].misses / 2;
}

int cfp_find_heavy(struct cf_cacheperf *c)
{
    const size_t count = cf_counts_size(c->lines);
    const uint64_t all = c->misses[0] + c->misses[1];
    struct place *place = malloc((count + 1) * sizeof(*place));
    size_t first = 0;

    if (!place)
        return -1;
    for (size_t i = 0; i < count; i++)
        place[i] = (struct place){c->line[i].set, (uint32_t)i, c->line[i].misses};
    qsort(place, count, sizeof(*place), by_set);
    for (size_t i = 0; i < count; i++) {
        first = place[i].set == place[first].set ? first : i;
        c->line[place[i].line].heavy = !c->c.patterns_only &&
                                       cfp_more(place[i].misses, c->c.line_misses, all) &&
                                       (c->c.literal || !is_crowded(c, place, count, first, i));
    }
    free(place);
    for (size_t i = 0; i < cf_counts_size(c->statements); i++) {
        struct cfp_statement *s = &c->statement[i];

        s->heavy = s->misses && (double)s->misses * 100 >= c->c.code_misses * (double)all &&
                   (double)s->accesses * 100 >=
                       c->c.code_accesses * (double)(c->accesses[0] + c->accesses[1]);
    }
    return 0;
}

/* ---- what threads do to the words of a line ---- */

int cfp_see_word(struct cf_cacheperf *c, const struct cfp_sample *s, int taken)
{
    const uint64_t line = cf_counts_get(c->lines, s->pid, s->line);
    const uint64_t at = s->addr & ((UINT64_C(1) << c->c.line_shift) - 1);
    const uint64_t words = UINT64_C(1) << (c->c.line_shift - c->word_shift);
    const uint64_t first = at >> c->word_shift;
    uint64_t last = (at + s->size - 1) >> c->word_shift, part;

    if (!line || !c->line[line - 1].heavy || !(taken || (s->store && !c->c.literal)))
        return 0;
    last = last < words ? last : words - 1;
    part = s->weight * CFP_SHARES / (last - first + 1);
    for (uint64_t word = first; word <= last; word++) {
        struct cfp_cell *cell;
        uint32_t number;

        if (cfp_number(c->cells, (line - 1) << 32 | s->tid, (uint64_t)s->object << 8 | word,
                       &c->cell, &c->cell_room, sizeof(*c->cell), &number) != 0)
            return -1;
        cell = &c->cell[number];
        cell->line = (uint32_t)(line - 1);
        cell->thread = s->tid;
        cell->object = s->object;
        cell->word = (uint8_t)word;
        cell->misses += taken ? s->weight : 0;
        cell->stores += s->store ? s->weight : 0;
        cell->part_misses += taken ? part : 0;
        cell->part_stores += s->store ? part : 0;
    }
    return 0;
}

/* ---- verdicts ---- */

static int by_key(const void *x, const void *y)
{
    const struct cfp_cell *a = x, *b = y;

    for (unsigned i = 0; i < 2; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return 0;
}

/* Cells from `at` on whose first key is the same; what they sum up to. */
static size_t group(const struct cfp_cell *cell, size_t at, size_t count, uint64_t *misses,
                    uint64_t *stores)
{
    size_t end = at;

    *misses = *stores = 0;
    for (; end < count && cell[end].key[0] == cell[at].key[0]; end++) {
        *misses += cell[end].misses;
        *stores += cell[end].stores;
    }
    return end;
}

static int is_few(uint64_t part, uint64_t most)
{
    return part == 0 || (double)part * CFP_FEW < (double)most;
}

/* Moves the cells that count to the front, sorted by thread, where each miss and store is once;
   returns their number. */
static size_t keep(const struct cf_cacheperf *c, struct cfp_cell *cell, size_t count)
{
    uint64_t misses, stores, most[2] = {0, 0};
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        cell[i].key[0] = (uint64_t)cell[i].thread << 8 | cell[i].word;
        cell[i].key[1] = cell[i].object;
    }
    qsort(cell, count, sizeof(*cell), by_key);
    for (size_t i = 0; i < count; i = group(cell, i, count, &misses, &stores)) {
        (void)group(cell, i, count, &misses, &stores);
        most[0] = misses > most[0] ? misses : most[0];
        most[1] = stores > most[1] ? stores : most[1];
    }
    for (size_t i = 0, end; i < count; i = end) {
        end = group(cell, i, count, &misses, &stores);
        for (size_t k = i; k < end; k++)
            if (c->c.literal || !is_few(misses, most[0]) || !is_few(stores, most[1])) {
                cell[kept] = cell[k];
                cell[kept].misses = cell[k].part_misses;
                cell[kept++].stores = cell[k].part_stores;
            }
    }
    return kept;
}

/* Do several threads take the line from each other? A miss of that kind follows a store, which
   takes the line from each other thread once; and a line that nobody wrote is lost to nobody. */
static int is_contended(const struct cf_cacheperf *c, const struct cfp_cell *cell, size_t count)
{
    uint64_t threads = count > 0, misses = 0, stores = 0;

    for (size_t i = 0; i < count; i++) {
        threads += i && cell[i].thread != cell[i - 1].thread;
        misses += cell[i].misses;
        stores += cell[i].stores;
    }
    return threads > 1 &&
           (c->c.literal || (double)stores * (double)(threads - 1) * CFP_SLACK >= (double)misses);
}

/* Are most of the misses on words of an object that several threads touch, and one wrote? As
   printed, is there any word that several threads touch? */
static int is_true(const struct cf_cacheperf *c, struct cfp_cell *cell, size_t count)
{
    uint64_t misses, stores, same = 0, all = 0;

    for (size_t i = 0; i < count; i++) {
        cell[i].key[0] = (c->c.literal ? 0 : (uint64_t)cell[i].object << 8) | cell[i].word;
        cell[i].key[1] = cell[i].thread;
    }
    qsort(cell, count, sizeof(*cell), by_key);
    for (size_t i = 0, end; i < count; i = end) {
        end = group(cell, i, count, &misses, &stores);
        all += misses;
        if (cell[i].thread != cell[end - 1].thread && (stores || c->c.literal))
            same += misses;
    }
    return same && (c->c.literal || same >= all - same);
}

/* Has the line objects that several threads allocated, and, unless as printed, that several use? */
static int is_of_allocator(const struct cf_cacheperf *c, struct cfp_cell *cell, size_t count)
{
    uint64_t misses, stores, most = 0;
    uint32_t first = 0, last = 0;
    unsigned allocators = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t tid = cell[i].object ? cf_counts_get(c->objects, 0, cell[i].object) : 0;

        cell[i].key[0] = tid; /* 0: none, or not known */
        cell[i].key[1] = cell[i].thread;
    }
    qsort(cell, count, sizeof(*cell), by_key);
    for (size_t i = 0, end; i < count; i = end) {
        end = group(cell, i, count, &misses, &stores);
        most = cell[i].key[0] && misses + stores > most ? misses + stores : most;
    }
    for (size_t i = 0, end; i < count; i = end) {
        end = group(cell, i, count, &misses, &stores);
        if (!cell[i].key[0] || (!c->c.literal && is_few(misses + stores, most)))
            continue;
        first = allocators && first < cell[i].thread ? first : cell[i].thread;
        last = allocators && last > cell[end - 1].thread ? last : cell[end - 1].thread;
        allocators++;
    }
    return allocators > 1 && (c->c.literal || first != last);
}

static int by_line(const void *x, const void *y)
{
    const struct cfp_cell *a = x, *b = y;

    return (a->line > b->line) - (a->line < b->line);
}

int cfp_judge_lines(struct cf_cacheperf *c)
{
    const size_t count = cf_counts_size(c->cells);

    if (count)
        qsort(c->cell, count, sizeof(*c->cell), by_line);
    for (size_t i = 0, end; i < count; i = end) {
        struct cfp_line *line = &c->line[c->cell[i].line];
        struct cfp_cell *cell = &c->cell[i];
        size_t kept;

        for (end = i; end < count && c->cell[end].line == cell->line; end++)
            ;
        kept = keep(c, cell, end - i);
        if (!is_contended(c, cell, kept))
            continue;
        line->class = is_true(c, cell, kept)           ? CF_CLASS_TRUE_SHARING
                      : is_of_allocator(c, cell, kept) ? CF_CLASS_ALLOCATOR_FALSE_SHARING
                                                       : CF_CLASS_FALSE_SHARING;
    }
    return 0;
}
