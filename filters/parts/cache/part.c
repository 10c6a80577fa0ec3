/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * part.c - a part of a recording is run through the first levels, of which nobody knows what they
 * held before, and written down with what missed; the parts in their order are joined to the model
 * (hierarchy_chunk.h, "written down").
 *
 * Equal addresses of different processes are different lines: a key that comes of the number of the
 * process, in the order of appearance, stands in the highest bits of a line. Another part numbers
 * them in another order. So processes are written down, too, and lines get the keys of the whole
 * where they are joined. A line of 2^s bytes leaves s - 1 bits for the number: more processes than
 * that are refused.
 *
 * Memory: a first level; of a part that is joined, the events of one of its frames.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/cache.h"
#include "filters/engine/cache/hierarchy_chunk.h"
#include "filters/parts/cache/cache_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/together/cf_processes.h"

enum {
    KINDS = 2,
    MOST_EVENTS = 1 << 26, /* of a piece */
    NO_PROCESS = 1,        /* key2 of a process: accesses do not say which it is */
};

struct part {
    struct summary *whole;
    struct cf_chunk *chunk;
    uint32_t processes; /* that were written down */
    int nowhere;        /* accesses that are of none, too */
    uint64_t *key[3];
    size_t room[3];
    uint8_t hit[CF_FILE_ROWS]; /* of no interest */
};

static void refuse(const struct cf_tool *t, const char *level, const char *why)
{
    cf_die(t, CF_EXIT_USAGE,
           "--partial: %s%s%s: take parts of the sets, by --set-part, or run it on the whole",
           level, *level ? " " : "", why);
}

struct part *part_new(struct summary *w)
{
    struct part *p;
    const char *why, *frames = options_for_frames(w->o);
    int level;

    if (frames)
        cf_die(w->tool, CF_EXIT_USAGE,
               "--partial does not go with %s: what comes first decides on what comes later",
               frames);
    if (w->o->cores > 1)
        cf_die(w->tool, CF_EXIT_USAGE,
               "--partial is for one core, and there are %u: give --cores 1, or take parts of the "
               "sets, by --set-part",
               w->o->cores);
    if (!cf_hierarchy_chunks(w->model, &why, &level))
        refuse(w->tool, level < 0 ? "" : w->machine->level[level].name, why);
    p = cf_need(w->tool, calloc(1, sizeof *p));
    p->whole = w;
    p->chunk = cf_need(w->tool, cf_chunk_new(w->machine));
    cf_chunk_begin(p->chunk);
    return p;
}

void part_free(struct part *p)
{
    if (!p)
        return;
    for (unsigned i = 0; i < 3; i++)
        free(p->key[i]);
    cf_chunk_free(p->chunk);
    free(p);
}

static void put(const struct part *p, enum entry entry, uint64_t a, uint64_t b, uint64_t d)
{
    cf_partial_row(&p->whole->partial,
                   &(struct cf_partial_row){.entry = (uint8_t)entry, .keys = 3, .key = {a, b, d}});
}

/* The process of a piece, where it has not been seen. */
static void note_process(struct part *p, const uint32_t *pid, uint64_t space)
{
    if (!pid && !p->nowhere++)
        put(p, ENTRY_PROCESS, 0, NO_PROCESS, 0);
    if (!pid || space != cf_space_key(p->processes))
        return;
    if (++p->processes > 1u << (cf_chunk_shift(p->chunk) - 1))
        cf_die(p->whole->tool, CF_EXIT_USAGE,
               "--partial: more than %u processes, which lines of %u bytes do not allow: take "
               "parts of the sets, by --set-part",
               1u << (cf_chunk_shift(p->chunk) - 1), 1u << cf_chunk_shift(p->chunk));
    put(p, ENTRY_PROCESS, *pid, 0, 0);
}

static void room(struct part *p, unsigned key, size_t rows)
{
    cf_must(p->whole->tool, cf_array_room(&p->key[key], &p->room[key], rows, sizeof *p->key[key]));
}

static void write_marks(struct part *p, const struct cf_chunk_events *e, unsigned kind)
{
    for (unsigned i = 0; i < 3; i++)
        room(p, i, e->marks[kind]);
    for (size_t i = 0; i < e->marks[kind]; i++) {
        const struct cf_chunk_mark *m = e->mark[kind] + i;

        p->key[0][i] = m->line;
        p->key[1][i] = m->at;
        p->key[2][i] =
            m->slot | (uint64_t)m->class << 32 | (uint64_t)m->leaves << 40 | (uint64_t)kind << 48;
    }
    cf_partial_rows(&p->whole->partial, ENTRY_MARK, (uint32_t)e->marks[kind],
                    (const uint64_t *const *)p->key, 3);
}

static void write_events(struct part *p)
{
    struct cf_chunk_events e;

    cf_chunk_events(p->chunk, &e);
    for (unsigned kind = 0; kind < KINDS; kind++)
        write_marks(p, &e, kind);
    room(p, 1, e.count);
    for (uint32_t i = 0; i < e.count; i++)
        p->key[1][i] = e.op[i] | (uint64_t)e.flags[i] << 8;
    cf_partial_rows(&p->whole->partial, ENTRY_EVENT, e.count,
                    (const uint64_t *const[]){e.line, p->key[1]}, 2);
    put(p, ENTRY_PIECE, e.count, e.marks[0], e.marks[1]);
}

void part_frame(struct part *p, const struct cf_frame *f)
{
    const int physical = p->whole->o->frame.physical;
    const uint64_t *addr = cf_u64(f, physical ? CF_PHYS : CF_ADDR);
    const uint32_t *pid = physical ? NULL : cf_u32(f, CF_PID);

    for (uint32_t from = 0, end; from < f->rows; from = end) {
        uint32_t core;
        uint64_t space;

        end = cf_cores_next(p->whole->cores, f, from, f->rows, &core, &space);
        if (end <= from)
            cf_out_of_memory(p->whole->tool);
        if (!physical)
            note_process(p, pid ? pid + from : NULL, space);
        if (cf_chunk_run(p->chunk, addr, cf_u8(f, CF_OP), cf_u32(f, CF_SIZE), from, end,
                         physical ? 0 : space, p->hit) == 0)
            continue;
        if (!cf_chunk_refused(p->chunk))
            cf_out_of_memory(p->whole->tool);
        refuse(p->whole->tool, "", "flushes, or accesses of very many lines");
    }
    write_events(p);
}

void part_end(struct part *p)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (uint32_t i = 0; i < cf_chunk_slots(p->chunk, kind); i++) {
            struct cf_chunk_slot s;

            if (cf_chunk_slot(p->chunk, kind, i, &s))
                put(p, ENTRY_SLOT, s.line, s.stays, i | (uint64_t)kind << 32);
        }
    for (unsigned i = 0; i <= p->whole->machine->levels; i++) {
        struct cf_hierarchy_counts n;

        cf_chunk_counts(p->chunk, i, &n);
        put_counts(&p->whole->partial, ENTRY_SURE, i, &n);
    }
    put(p, ENTRY_END, 0, 0, 0);
}

/* ---- joining ---- */

struct joined {
    struct summary *whole;
    struct cf_chunk *chunk;
    /* of the part at hand */
    unsigned pids; /* for cf_pids_join(), of all parts */
    uint64_t *key; /* of processes in the whole, by their numbers in the part */
    size_t processes, key_room;
    int nowhere, renumbered;
    unsigned sure; /* levels whose counts came, and the memory */
    /* of the piece at hand */
    uint64_t *line;
    uint32_t *op;
    uint8_t *flags;
    struct cf_chunk_mark *mark[KINDS];
    size_t events, marks[KINDS], line_room, op_room, flags_room, mark_room[KINDS];
};

static void begin_part(struct joined *j)
{
    cf_chunk_begin(j->chunk);
    j->processes = 0;
    j->nowhere = j->renumbered = 0;
    j->sure = 0;
}

struct joined *joined_new(struct summary *w)
{
    struct joined *j = cf_need(w->tool, calloc(1, sizeof *j));
    const char *why;
    int level;

    j->whole = w;
    if (w->o->cores > 1 || !cf_hierarchy_chunks(w->model, &why, &level))
        cf_partial_damaged(&w->partial); /* its options are ours, which no part can have */
    j->chunk = cf_need(w->tool, cf_chunk_new(w->machine));
    begin_part(j);
    return j;
}

void joined_free(struct joined *j)
{
    if (!j)
        return;
    free(j->key);
    free(j->line);
    free(j->op);
    free(j->flags);
    for (unsigned kind = 0; kind < KINDS; kind++)
        free(j->mark[kind]);
    cf_chunk_free(j->chunk);
    free(j);
}

static void damaged(const struct joined *j)
{
    cf_partial_damaged(&j->whole->partial);
}

static void check_status(const struct joined *j, int status)
{
    if (status > 0)
        damaged(j);
    cf_must(j->whole->tool, status);
}

static void take_process(struct joined *j, uint64_t pid, uint64_t none)
{
    const uint32_t process = (uint32_t)pid;
    uint32_t core;
    uint64_t key;

    if (pid >> 32 || none > NO_PROCESS || (!none && j->processes >> (cf_chunk_shift(j->chunk) - 1)))
        damaged(j);
    cf_pids_join(&j->pids, j->whole->tool, !none);
    if (none) {
        j->nowhere = 1;
    } else {
        if (!cf_cores_piece(j->whole->cores, NULL, &process, NULL, 0, 1, &core, &key))
            cf_out_of_memory(j->whole->tool);
        cf_must(j->whole->tool,
                cf_array_room(&j->key, &j->key_room, j->processes + 1, sizeof *j->key));
        j->renumbered |= key != cf_space_key((uint32_t)j->processes);
        j->key[j->processes++] = key;
    }
    if (j->renumbered && ((j->nowhere && j->key[0]) || !cf_chunk_by_bits(j->chunk)))
        cf_die(j->whole->tool, CF_EXIT_INPUT,
               "%s: process %" PRIu64 " is not the same in the order of the part's processes as in "
               "that of the whole, on which %s depend: run cf-cache on the whole, or take parts "
               "of the sets, by --set-part",
               cf_reader_file(j->whole->partial.reader), pid,
               cf_chunk_by_bits(j->chunk) ? "accesses without pid"
                                          : "sets whose number is no power of two");
}

/* A line of 1 << shift bytes, with the key of its process in the whole. */
static uint64_t line_of(const struct joined *j, uint64_t line, unsigned shift)
{
    unsigned first, extra;
    uint32_t number = 0;

    if (!j->renumbered || line == CF_CACHE_NONE)
        return line;
    first = cf_chunk_shift(j->chunk);
    extra = shift - first;
    for (unsigned bit = 0; bit + 1 < first; bit++)
        number |= (uint32_t)(line << (1 + extra) << bit >> 63) << bit;
    if (number >= j->processes)
        damaged(j);
    return line ^ (cf_space_key(number) ^ j->key[number]) >> extra;
}

static void take_events(struct joined *j, const uint64_t *line, const uint64_t *what, uint32_t rows)
{
    const struct cf_tool *t = j->whole->tool;
    const unsigned shift = cf_chunk_shift_behind(j->chunk);
    const size_t events = j->events + rows;
    uint64_t wrong = 0;

    if (events > MOST_EVENTS || !shift)
        damaged(j);
    cf_must(t, cf_array_room(&j->line, &j->line_room, events, sizeof *j->line));
    cf_must(t, cf_array_room(&j->op, &j->op_room, events, sizeof *j->op));
    cf_must(t, cf_array_room(&j->flags, &j->flags_room, events, sizeof *j->flags));
    for (uint32_t i = 0; i < rows; i++) {
        wrong |= what[i] >> 16;
        j->line[j->events + i] = line_of(j, line[i], shift);
        j->op[j->events + i] = what[i] & 0xff;
        j->flags[j->events + i] = (uint8_t)(what[i] >> 8);
    }
    if (wrong)
        damaged(j);
    j->events = events;
}

static void take_mark(struct joined *j, uint64_t line, uint64_t at, uint64_t what)
{
    const unsigned kind = (unsigned)(what >> 48);
    struct cf_chunk_mark m = {.at = (uint32_t)at,
                              .slot = (uint32_t)what,
                              .class = (uint8_t)(what >> 32),
                              .leaves = (uint8_t)(what >> 40)};

    if (kind >= KINDS || at >> 32 || j->marks[kind] >= MOST_EVENTS)
        damaged(j);
    m.line = line_of(j, line, cf_chunk_shift(j->chunk));
    cf_must(j->whole->tool, cf_array_room(&j->mark[kind], &j->mark_room[kind], j->marks[kind] + 1,
                                          sizeof *j->mark[kind]));
    j->mark[kind][j->marks[kind]++] = m;
}

static void take_piece(struct joined *j, uint64_t events, const uint64_t *marks)
{
    const struct cf_chunk_events e = {.count = (uint32_t)j->events,
                                      .line = j->line,
                                      .op = j->op,
                                      .flags = j->flags,
                                      .mark = {j->mark[0], j->mark[1]},
                                      .marks = {j->marks[0], j->marks[1]}};

    if (events != j->events || marks[0] != j->marks[0] || marks[1] != j->marks[1])
        damaged(j);
    check_status(j, cf_chunk_take_events(j->chunk, &e));
    check_status(j, cf_chunk_join(j->chunk, j->whole->model, 0));
    j->events = j->marks[0] = j->marks[1] = 0;
}

static void take_slot(struct joined *j, uint64_t line, uint64_t stays, uint64_t where)
{
    const unsigned shift = cf_chunk_shift(j->chunk);
    const struct cf_chunk_slot s = {line_of(j, line & ~CF_CACHE_DIRTY, shift) |
                                        (line & CF_CACHE_DIRTY),
                                    line_of(j, stays, shift)};

    if (where >> 32 >= KINDS)
        damaged(j);
    check_status(j, cf_chunk_take_slot(j->chunk, (unsigned)(where >> 32), (uint32_t)where, &s));
}

static void take_sure(struct joined *j, const struct cf_frame *f, uint32_t row)
{
    const struct cf_partial *p = &j->whole->partial;
    const uint64_t level = cf_partial_key(p, f, 0)[row];
    uint64_t sum[COUNTS];
    struct cf_hierarchy_counts n;

    if (level != j->sure++ || level > j->whole->machine->levels)
        damaged(j);
    for (unsigned k = 0; k < COUNTS; k++)
        sum[k] = cf_partial_sum(p, f, k)[row];
    memcpy(&n, sum, sizeof n);
    cf_chunk_take_counts(j->chunk, (unsigned)level, &n);
}

static void end_of_part(struct joined *j)
{
    if (j->events || j->marks[0] || j->marks[1] || j->sure != j->whole->machine->levels + 1)
        damaged(j);
    check_status(j, cf_chunk_join(j->chunk, j->whole->model, 1));
    begin_part(j);
    j->whole->partial.ended = 1;
}

void joined_frame(struct joined *j, const struct cf_frame *f)
{
    const struct cf_partial *p = &j->whole->partial;
    const uint8_t *entry = cf_partial_entries(p, f);
    const uint64_t *a = cf_partial_key(p, f, 0), *b = cf_partial_key(p, f, 1);

    for (uint32_t i = 0; i < f->rows; i++) {
        uint32_t events = 0;
        const uint64_t d =
            entry[i] == ENTRY_EVENT || entry[i] == ENTRY_SURE ? 0 : cf_partial_key(p, f, 2)[i];

        if (p->ended)
            damaged(j);
        switch (entry[i]) {
        case ENTRY_PROCESS:
            take_process(j, a[i], b[i]);
            break;
        case ENTRY_EVENT:
            while (i + ++events < f->rows && entry[i + events] == ENTRY_EVENT)
                ;
            take_events(j, a + i, b + i, events);
            i += events - 1;
            break;
        case ENTRY_MARK:
            take_mark(j, a[i], b[i], d);
            break;
        case ENTRY_PIECE:
            take_piece(j, a[i], (const uint64_t[]){b[i], d});
            break;
        case ENTRY_SLOT:
            take_slot(j, a[i], b[i], d);
            break;
        case ENTRY_SURE:
            take_sure(j, f, i);
            break;
        case ENTRY_END:
            end_of_part(j);
            break;
        default:
            damaged(j);
        }
    }
}
