/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hill_part.c - rule hill of a part of a recording, written down to be joined (hill_join.c).
 *
 * Nobody knows what the caches held when a part began. But whether a line that was used in it
 * before is there does not depend on that: by LRU it is, if fewer other lines than there are ways
 * were used since, and all of them in the part; in its set, and in the fully associative cache. So
 * those misses are counted. The first use of each line in the part is written down, and in the end
 * the lines that are in either cache, the oldest first. To resolve the first uses of a part by what
 * the parts before have left is the method of Niu, Dinan, Lu and Sadayappan, "PARDA: A Fast
 * Parallel Reuse Distance Analysis Algorithm", IPDPS 2012; here a cache bounds what they leave.
 *
 * Processes are numbered in the order of their appearance, in each part anew: so they are written
 * down, too.
 *
 * Memory: of what is written, 12 bytes a distinct line, and at the end 80 a line of the caches.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/cache.h"
#include "filters/parts/classify/hill.h"
#include "formats/base/cf_memory.h"

struct uses {
    uint64_t *line;
    uint32_t *process;
    size_t count, sent, room[2];
    /* of the piece at hand, from `sent` on */
    uint32_t *row;
    size_t row_room;
};

struct hill_part {
    struct cf_partial *partial;
    struct hill *h;
    unsigned machine;
    uint32_t processes; /* that appeared */
    int nowhere;        /* accesses that are of none */
    struct uses uses[WATCHES];
    uint64_t *key[2];
    size_t key_room[2];
};

struct hill_part *hill_part_new(struct cf_partial *partial, struct hill *h, unsigned machine)
{
    struct hill_part *p = cf_need(partial->tool, calloc(1, sizeof *p));

    p->partial = partial;
    p->h = h;
    p->machine = machine;
    return p;
}

void hill_part_free(struct hill_part *p)
{
    for (unsigned i = 0; p && i < WATCHES; i++) {
        free(p->uses[i].line);
        free(p->uses[i].process);
        free(p->uses[i].row);
    }
    for (unsigned i = 0; p && i < 2; i++)
        free(p->key[i]);
    free(p);
}

/* ---- first uses ---- */

int hill_part_first(struct hill_part *p, unsigned watch, uint32_t row, uint64_t line)
{
    struct uses *const u = &p->uses[watch];
    const size_t n = u->count - u->sent;

    if (cf_array_room(&u->line, &u->room[0], u->count + 1, sizeof *u->line) != 0 ||
        cf_array_room(&u->process, &u->room[1], u->count + 1, sizeof *u->process) != 0 ||
        cf_array_room(&u->row, &u->row_room, n + 1, sizeof *u->row) != 0)
        return -1;
    u->row[n] = row;
    u->line[u->count++] = line;
    return 0;
}

static void note_processes(struct hill_part *p, const struct piece *piece)
{
    const struct cf_tool *t = p->partial->tool;
    const unsigned shift = (unsigned)__builtin_ctz(p->h->shortest);
    uint64_t before = UINT64_MAX;

    p->nowhere |= !piece->in.pid;
    for (uint32_t i = 0; piece->in.pid && i < piece->in.rows; i++) {
        if (p->h->space[i] == before)
            continue;
        before = p->h->space[i];
        if (before != cf_space_key(p->processes))
            continue;
        if (p->processes++ >> (shift - 1))
            cf_die(t, CF_EXIT_USAGE,
                   "--partial: more than %u processes, which lines of %u bytes do not allow: run "
                   "it on the whole",
                   1u << (shift - 1), p->h->shortest);
        cf_partial_row(p->partial, &(struct cf_partial_row){
                                       .entry = HILL_PROCESS,
                                       .keys = 2,
                                       .key = {piece->in.pid[i], hill_what(0, p->machine, 0)}});
    }
    if (p->nowhere && p->processes)
        cf_die(t, CF_EXIT_INPUT,
               "--partial: some accesses say which process they are of, and some do not: run it "
               "on the whole");
}

/* The address of a line, whose key is that of its process. */
static uint64_t address(const struct watched *w, uint64_t line, uint32_t process)
{
    return (line ^ cf_space_key(process) >> w->key_shift)
           << __builtin_ctz(w->h->m->level[w->level].line);
}

static void key_room(struct hill_part *p, size_t rows)
{
    for (unsigned i = 0; i < 2; i++)
        cf_must(p->partial->tool,
                cf_array_room(&p->key[i], &p->key_room[i], rows, sizeof *p->key[i]));
}

void hill_part_piece(struct hill_part *p, const struct piece *piece)
{
    for (uint32_t i = 0; piece->in.op && i < piece->in.rows; i++)
        if (piece->in.op[i] == CF_FLUSH)
            cf_die(p->partial->tool, CF_EXIT_USAGE,
                   "--partial: flushes take out lines that a part does not know: run it on the "
                   "whole");
    note_processes(p, piece);
    for (unsigned k = 0; k < p->h->watches; k++) {
        struct uses *const u = &p->uses[k];
        const size_t n = u->count - u->sent;

        key_room(p, n);
        for (size_t i = 0; i < n; i++) {
            const size_t at = u->sent + i;
            const uint32_t row = u->row[i];

            u->process[at] = cf_space_number(p->h->space[row]);
            p->key[0][i] = address(&p->h->watch[k], u->line[at], u->process[at]);
            p->key[1][i] = hill_what(hill_op(piece, row), p->machine, u->process[at]);
        }
        cf_partial_rows(p->partial, HILL_FIRST, (uint32_t)n, (const uint64_t *const *)p->key, 2);
        u->sent = u->count;
    }
}

/* ---- its end ---- */

/* A line that is in a cache, and by what it is the newer. */
struct held {
    uint64_t line, age;
    uint32_t process;
    int known;
};

static int by_line(const void *a, const void *b)
{
    const struct held *x = a, *y = b;

    return (x->line > y->line) - (x->line < y->line);
}

static int by_age(const void *a, const void *b)
{
    const struct held *x = a, *y = b;

    return (x->age > y->age) - (x->age < y->age);
}

/* Lines of the real cache, by their lines; those of a set are the older the greater their way. */
static size_t held_really(const struct hill_part *p, const struct watched *w, struct held *held)
{
    const struct cf_level *l = &p->h->m->level[w->level];
    size_t n = 0;

    for (uint32_t way = l->ways; way-- > 0;)
        for (uint32_t set = 0; set < l->sets; set++) {
            const uint64_t line = cf_hierarchy_line(p->h->model, w->level, 0, set, way);

            if (line == CF_CACHE_NONE)
                continue;
            held[n] = (struct held){.line = line & ~CF_CACHE_DIRTY, .age = n};
            n++;
        }
    qsort(held, n, sizeof *held, by_line);
    return n;
}

/* All lines that either cache holds, the oldest first. Those of the fully associative one are newer
   than the others. */
static size_t held_lines(const struct hill_part *p, unsigned watch, struct held *held)
{
    enum { BATCH = 4096 };
    const struct watched *w = &p->h->watch[watch];
    const struct uses *u = &p->uses[watch];
    const size_t really = held_really(p, w, held);
    uint32_t time[BATCH];
    size_t n = really, kept = 0;

    for (size_t from = 0, count; from < u->count; from += count) {
        count = u->count - from < BATCH ? u->count - from : BATCH;
        cf_must(p->partial->tool,
                cf_threec_times(w->three[0], u->line + from, (uint32_t)count, time));
        for (size_t i = 0; i < count; i++) {
            const struct held key = {.line = u->line[from + i]};
            struct held *const found =
                time[i] ? &held[n++] : bsearch(&key, held, really, sizeof key, by_line);

            if (!found)
                continue;
            *found = (struct held){.line = key.line,
                                   .age = time[i] ? really + time[i] : found->age,
                                   .process = u->process[from + i],
                                   .known = 1};
        }
    }
    for (size_t i = 0; i < n; i++)
        if (held[i].known)
            held[kept++] = held[i];
    qsort(held, kept, sizeof *held, by_age);
    return kept;
}

static void write_held(struct hill_part *p, unsigned watch)
{
    const struct watched *w = &p->h->watch[watch];
    const struct cf_level *l = &p->h->m->level[w->level];
    const size_t lines = (size_t)l->sets * l->ways;
    const unsigned op = l->kind == CF_INSTRUCTION_CACHE ? CF_IFETCH : CF_LOAD;
    struct held *held = cf_need(p->partial->tool, calloc(2 * lines, sizeof *held));
    const size_t n = held_lines(p, watch, held);

    key_room(p, n);
    for (size_t i = 0; i < n; i++) {
        p->key[0][i] = address(w, held[i].line, held[i].process);
        p->key[1][i] = hill_what(op, p->machine, held[i].process);
    }
    cf_partial_rows(p->partial, HILL_HELD, (uint32_t)n, (const uint64_t *const *)p->key, 2);
    free(held);
}

void hill_part_end(struct hill_part *p)
{
    for (unsigned i = 0; i < p->h->watches; i++) {
        struct cf_class_counts c = hill_counts(&p->h->watch[i]);
        uint64_t *from[HILL_SUMS], sum[HILL_SUMS];

        write_held(p, i);
        hill_sums(&c, from);
        for (unsigned k = 0; k < HILL_SUMS; k++)
            sum[k] = *from[k];
        cf_partial_row(p->partial, &(struct cf_partial_row){.entry = HILL_COUNTS,
                                                            .keys = 2,
                                                            .sums = HILL_SUMS,
                                                            .key = {i, hill_what(0, p->machine, 0)},
                                                            .sum = sum});
    }
}
