/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sweep_partial.c - the misses of a part of a recording, written down to be joined.
 *
 * Nobody knows what the caches held when a part began. But at which place of its set a line is
 * found that was used in the part before does not depend on that: all lines in front of it were
 * used since. So those misses are counted. The first use of each line in the part is written down
 * in the order of these, and in the end each line in the order of the last uses. To resolve the
 * first uses by what the parts before have left is the method of Niu, Dinan, Lu and Sadayappan,
 * "PARDA: A Fast Parallel Reuse Distance Analysis Algorithm", IPDPS 2012; here for all numbers of
 * sets at once, since their lists (allassoc.h) need no more than the order in which lines were
 * used.
 *
 * Processes are numbered in the order of their appearance, in each part anew: so they are written
 * down, too.
 *
 * Memory: of what is written, 36 bytes a distinct line of each line size where lines lie together
 * (see slots.h), and some 1 KiB where each is far from all others; of what is joined, nothing that
 * grows.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/engine/rows/slots.h"
#include "filters/parts/sweep/sweep.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "formats/together/cf_processes.h"

/* What a row is, in cf-stream(5), "Partial results". */
enum {
    ENTRY_PROCESS = 1,
    ENTRY_REFERENCES,
    ENTRY_AGAIN,
    ENTRY_FIRST,
    ENTRY_LAST,
    ENTRY_END,
};

enum { ROWS = 4096 }; /* written or taken at a time */

/* Lines by the order of first uses, from 1 on; and a ring by that of last uses, which begins and
   ends at 0. */
struct use {
    uint64_t line;
    uint32_t process, older, newer;
};

struct uses {
    struct cf_slots *slots;
    uint32_t *slot, *of_slot;
    uint32_t of_slot_room;
    size_t slot_room, room;
    struct use *use;
    uint32_t count;
};

static char *options_text(const struct sweep *w)
{
    static const char *const what[] = {"", "data", "fetches", "unified"};
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(&w->tool, open_memstream(&text, &bytes));

    fprintf(out, "for %s; ways", what[w->o.what]);
    for (unsigned i = 0; i < w->o.ways.count; i++)
        fprintf(out, " %" PRIu64, w->o.ways.value[i]);
    for (unsigned i = 0; i < w->o.line_size.count; i++) {
        fprintf(out, "; line-size %" PRIu64 " sets", w->o.line_size.value[i]);
        for (unsigned k = 0; k < w->size[i].count; k++)
            fprintf(out, " %" PRIu32, w->size[i].sets[k]);
    }
    return cf_need(&w->tool, cf_memory_text(out, &text));
}

void sweep_partial(struct sweep *w)
{
    w->partial.tool = &w->tool;
    w->partial.ordered = 1;
    w->partial.options = options_text(w);
    for (unsigned i = 0; w->partial.asked && i < w->o.line_size.count; i++) {
        struct uses *const u = cf_need(&w->tool, calloc(1, sizeof *u));

        w->size[i].uses = u;
        u->slots = cf_need(&w->tool, cf_slots_new());
        cf_must(&w->tool, cf_array_room(&u->use, &u->room, 1, sizeof *u->use));
        u->use[0] = (struct use){0};
    }
}

void sweep_partial_free(struct sweep *w)
{
    for (unsigned i = 0; i < w->o.line_size.count; i++) {
        struct uses *const u = w->size[i].uses;

        if (!u)
            continue;
        cf_slots_free(u->slots);
        free(u->slot);
        free(u->of_slot);
        free(u->use);
        free(u);
    }
    free(w->pid);
    free(w->space);
}

static void add_process(struct sweep *w, uint32_t pid, uint64_t space)
{
    cf_must(&w->tool, cf_array_room(&w->pid, &w->room[0], w->processes + 1, sizeof *w->pid));
    cf_must(&w->tool, cf_array_room(&w->space, &w->room[1], w->processes + 1, sizeof *w->space));
    w->pid[w->processes] = pid;
    w->space[w->processes++] = space;
}

/* ---- of a part ---- */

/* The sets of two processes lie in a part as they do in the whole only where their numbers, which
   may be others there, do not matter. */
static int sets_are_powers(const struct sweep *w)
{
    for (unsigned i = 0; i < w->o.line_size.count; i++)
        for (unsigned k = 0; k < w->size[i].count; k++)
            if (!cf_is_power_of_two(w->size[i].sets[k]))
                return 0;
    return 1;
}

static void begin_process(struct sweep *w, uint32_t pid, uint64_t space)
{
    const uint64_t size = w->o.line_size.value[0];

    add_process(w, pid, space);
    if (w->processes > size / 2)
        cf_die(&w->tool, CF_EXIT_USAGE,
               "--partial: more than %" PRIu64 " processes, which lines of %" PRIu64
               " bytes do not allow: run it on the whole",
               size / 2, size);
    if (w->processes > 1 && !sets_are_powers(w))
        cf_die(&w->tool, CF_EXIT_USAGE,
               "--partial: several processes, and numbers of sets that are no powers of two: run "
               "it on the whole");
}

void sweep_process(struct sweep *w, const uint32_t *pid, uint64_t space)
{
    if (pid && space == cf_space_key(w->processes))
        begin_process(w, *pid, space);
    if (w->pids == CF_PIDS_ANY)
        cf_die(&w->tool, CF_EXIT_INPUT,
               "--partial: some accesses say which process they are of, and some do not: run it "
               "on the whole");
}

static void use_line(struct sweep *w, struct uses *u, uint32_t *of_slot, uint64_t line,
                     uint32_t process)
{
    uint32_t n = *of_slot;

    if (!n) {
        n = *of_slot = ++u->count;
        cf_must(&w->tool, cf_array_room(&u->use, &u->room, (size_t)n + 1, sizeof *u->use));
        u->use[n] = (struct use){.line = line, .process = process};
    } else {
        u->use[u->use[n].older].newer = u->use[n].newer;
        u->use[u->use[n].newer].older = u->use[n].older;
    }
    u->use[n].older = u->use[0].older;
    u->use[n].newer = 0;
    u->use[u->use[0].older].newer = n;
    u->use[0].older = n;
}

void sweep_use(struct sweep *w, struct size *s, uint64_t space)
{
    const uint32_t process = cf_space_number(space);
    const struct cf_runs *r = s->runs;
    struct uses *const u = s->uses;

    if (!u)
        return;
    cf_must(&w->tool, cf_array_room(&u->slot, &u->slot_room, r->capacity, sizeof *u->slot));
    cf_must(&w->tool, cf_slots_find(u->slots, r->line, r->count, u->slot));
    cf_must(&w->tool, cf_slots_array(cf_slots_count(u->slots), (void **)&u->of_slot,
                                     &u->of_slot_room, sizeof *u->of_slot));
    for (uint32_t i = 0; i < r->count; i++)
        use_line(w, u, &u->of_slot[u->slot[i]], r->line[i], process);
}

/* All lines, by the order of first uses, or by that of last uses. */
static void write_lines(struct sweep *w, const struct size *s, uint8_t entry)
{
    static uint64_t key[3][ROWS];
    const uint64_t *const keys[] = {key[0], key[1], key[2]};
    const struct uses *u = s->uses;
    uint32_t rows = 0;

    for (uint32_t n = entry == ENTRY_FIRST ? 1 : u->use[0].newer; n && n <= u->count;
         n = entry == ENTRY_FIRST ? n + 1 : u->use[n].newer) {
        key[0][rows] = u->use[n].line * s->line; /* the key of its space is above that */
        key[1][rows] = u->use[n].process;
        key[2][rows++] = s->line;
        if (rows == ROWS) {
            cf_partial_rows(&w->partial, entry, rows, keys, 3);
            rows = 0;
        }
    }
    cf_partial_rows(&w->partial, entry, rows, keys, 3);
}

static void write_size(struct sweep *w, const struct size *s)
{
    cf_partial_row(&w->partial, &(struct cf_partial_row){.entry = ENTRY_REFERENCES,
                                                         .keys = 3,
                                                         .sums = 1,
                                                         .key = {0, 0, s->line},
                                                         .sum = &s->references});
    for (unsigned k = 0; k < s->count; k++)
        for (unsigned i = 0; i < w->o.ways.count; i++) {
            const uint64_t again = sweep_misses(&w->o, s, k, i) - s->uses->count;

            cf_partial_row(&w->partial, &(struct cf_partial_row){
                                            .entry = ENTRY_AGAIN,
                                            .keys = 3,
                                            .sums = 1,
                                            .key = {s->sets[k], w->o.ways.value[i], s->line},
                                            .sum = &again});
        }
    write_lines(w, s, ENTRY_FIRST);
    write_lines(w, s, ENTRY_LAST);
}

void sweep_write(struct sweep *w)
{
    for (uint32_t i = 0; i < w->processes; i++)
        cf_partial_row(&w->partial, &(struct cf_partial_row){
                                        .entry = ENTRY_PROCESS, .keys = 3, .key = {w->pid[i]}});
    for (unsigned i = 0; i < w->o.line_size.count; i++)
        if (w->size[i].count)
            write_size(w, &w->size[i]);
    cf_partial_row(&w->partial,
                   &(struct cf_partial_row){.entry = ENTRY_END, .keys = 3, .key = {w->pids}});
}

/* ---- joined ---- */

static struct size *size_of(struct sweep *w, uint64_t line)
{
    for (unsigned i = 0; i < w->o.line_size.count; i++)
        if (w->size[i].line == line && w->size[i].count)
            return &w->size[i];
    cf_partial_damaged(&w->partial);
}

static void take_process(struct sweep *w, uint64_t pid)
{
    const uint32_t number = (uint32_t)pid;
    uint64_t space;
    uint32_t core;

    if (pid > UINT32_MAX)
        cf_partial_damaged(&w->partial);
    cf_must(&w->tool, !cf_cores_piece(w->cores, NULL, &number, NULL, 0, 1, &core, &space));
    add_process(w, number, space);
}

static void take_again(struct sweep *w, uint64_t sets, uint64_t ways, uint64_t line, uint64_t sum)
{
    struct size *const s = size_of(w, line);
    unsigned k = 0, i = 0;

    while (k < s->count && s->sets[k] != sets)
        k++;
    while (i < w->o.ways.count && w->o.ways.value[i] != ways)
        i++;
    if (k == s->count || i == w->o.ways.count)
        cf_partial_damaged(&w->partial);
    s->again[k][i] += sum;
}

/* Where the key of a process meets an address, the sets of its lines are not those that a part, in
   which it may be the first, took them for. */
static void check_set(const struct sweep *w, uint64_t line, uint64_t space)
{
    if (line & space && !sets_are_powers(w))
        cf_die(&w->tool, CF_EXIT_INPUT,
               "%s: processes whose addresses have the bits by which processes differ, and "
               "numbers of sets that are no powers of two: run it on the whole",
               cf_reader_file(w->partial.reader));
}

/* Lines of one process and line size. */
static void take_lines(struct sweep *w, const uint64_t *addr, uint32_t rows, uint64_t process,
                       uint64_t size, int first)
{
    static uint64_t line[ROWS];
    struct size *const s = size_of(w, size);
    uint64_t space = 0;

    if (process < w->processes)
        space = w->space[process];
    else if (process || w->processes)
        cf_partial_damaged(&w->partial);
    for (uint32_t from = 0; from < rows;) {
        uint32_t n = 0;

        for (; n < ROWS && from < rows; n++, from++) {
            line[n] = addr[from] / s->line;
            check_set(w, line[n], space);
            line[n] ^= space;
        }
        if (first)
            cf_allassoc_run(s->all, line, n);
        else
            cf_allassoc_touch(s->all, line, n);
    }
}

/* Rows of one entry, process or number of ways, and line size. */
static void take_rows(struct sweep *w, const struct cf_frame *f, uint32_t at, uint32_t rows)
{
    const uint8_t entry = cf_partial_entries(&w->partial, f)[at];
    const uint64_t *const a = cf_partial_key(&w->partial, f, 0) + at;
    const uint64_t b = cf_partial_key(&w->partial, f, 1)[at];
    const uint64_t line = cf_partial_key(&w->partial, f, 2)[at];

    if (entry < ENTRY_PROCESS || entry > ENTRY_END || w->partial.ended)
        cf_partial_damaged(&w->partial);
    if (entry == ENTRY_FIRST || entry == ENTRY_LAST)
        take_lines(w, a, rows, b, line, entry == ENTRY_FIRST);
    for (uint32_t i = 0; entry == ENTRY_PROCESS && i < rows; i++)
        take_process(w, a[i]);
    for (uint32_t i = 0; entry == ENTRY_REFERENCES && i < rows; i++)
        size_of(w, line)->references += cf_partial_sum(&w->partial, f, 0)[at + i];
    for (uint32_t i = 0; entry == ENTRY_AGAIN && i < rows; i++)
        take_again(w, a[i], b, line, cf_partial_sum(&w->partial, f, 0)[at + i]);
    if (entry == ENTRY_END) {
        if (*a)
            cf_pids_join(&w->pids, &w->tool, *a == 1);
        w->processes = 0;
        w->partial.ended = 1;
    }
}

void sweep_merge(struct sweep *w, const struct cf_frame *f)
{
    const uint8_t *entry = f->table == CF_PARTIAL ? cf_partial_entries(&w->partial, f) : NULL;

    for (uint32_t i = 0, end; entry && i < f->rows; i = end) {
        const uint64_t *const b = cf_partial_key(&w->partial, f, 1);
        const uint64_t *const line = cf_partial_key(&w->partial, f, 2);

        for (end = i + 1;
             end < f->rows && entry[end] == entry[i] && b[end] == b[i] && line[end] == line[i];)
            end++;
        take_rows(w, f, i, end - i);
    }
}
