/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join.c - the partial results of all parts become what cf-distance makes of the whole (partial.c).
 *
 * Parts come one after the other. First references are joined to the parts before (stack_join.h)
 * frame by frame, and the order of a part's lines at its end. The tables of which each part has all
 * rows from the beginning are written once: as many rows as the parts before had are left out.
 *
 * Memory: what stack.h says of the lines of all parts; a frame, with 32 bytes a first reference in
 * it; 12 bytes a process or thread of a part.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/distance/distance.h"
#include "formats/base/cf_memory.h"

struct joining {
    struct cf_tool *tool;
    struct cf_partial *partial;
    struct stacks *all;
    struct cf_cores *cores;
    struct cf_writer *writer;
    double rate;
    int by_number;            /* results depend on which number a process has */
    uint64_t segments;        /* that were begun */
    uint64_t seen[CF_ACCESS]; /* of the last: rows of tables that each part has, by the table */
    /* of the part at hand */
    uint64_t here[CF_ACCESS]; /* the same in its segment */
    uint64_t rows, firsts, lasts;
    int nowhere; /* some lines are of no process */
    /* units by their numbers in the part: that in the whole, and the key of its space there */
    uint32_t *number;
    uint64_t *key;
    size_t units, number_room, key_room;
    struct cf_stack_part ends; /* first references of the next frame, or lines in their order */
    uint64_t *joined;
    size_t joined_room;
};

/* ---- the beginning of a part or segment ---- */

static int begin_segment(struct joining *j, const struct cf_frame *f)
{
    const uint64_t segment = j->partial->segment;

    memset(j->here, 0, sizeof(j->here));
    if (segment == 1) {
        j->rows = j->firsts = j->lasts = 0;
        j->units = 1; /* none */
        j->nowhere = 0;
    }
    if (segment <= j->segments)
        return 0;
    if (segment != j->segments + 1)
        cf_partial_damaged(j->partial);
    j->segments = segment;
    memset(j->seen, 0, sizeof(j->seen));
    return cf_partial_header(j->partial, f->header, j->writer);
}

/* ---- entries ---- */

static int in_one_stack(const struct joining *j)
{
    return j->all->set->per == PER_ALL;
}

static void refuse_number(const struct joining *j, uint64_t pid)
{
    cf_die(j->tool, CF_EXIT_INPUT,
           "%s: process %" PRIu64
           " is not the same in the order of the part's processes as in that "
           "of the whole, on which %s depend: run cf-distance on the whole (with -j), or with "
           "--per process",
           cf_reader_file(j->partial->reader), pid,
           j->by_number > 1 ? "samples"
           : j->by_number   ? "sets whose number is no power of two"
                            : "lines of rows without pid");
}

static void take_unit(struct joining *j, uint64_t pid, uint64_t tid)
{
    const uint64_t value = pid << 32 | tid, here = cf_space_key((uint32_t)j->units - 1);
    const uint32_t process = (uint32_t)pid;
    uint32_t number = 0, core;
    uint64_t key = 0;
    int status = 0;

    if (pid >> 32 || tid >> 32 || j->units > CF_GROUPS_MOST)
        cf_partial_damaged(j->partial);
    if (!in_one_stack(j))
        status = cf_groups_number(j->all->units, &value, sizeof(value), 1, &number);
    else if (!cf_cores_piece(j->cores, NULL, &process, NULL, 0, 1, &core, &key))
        status = -1;
    if (status != 0)
        report(j->tool, status < 0 ? NO_MEMORY : MANY_UNITS);
    if (in_one_stack(j) && key != here && (j->by_number || j->nowhere))
        refuse_number(j, pid);
    cf_must(j->tool, cf_array_room(&j->number, &j->number_room, j->units + 1, sizeof(*j->number)));
    cf_must(j->tool, cf_array_room(&j->key, &j->key_room, j->units + 1, sizeof(*j->key)));
    j->number[j->units] = number;
    j->key[j->units++] = key;
}

/* The line's number in the whole. Lines of no process are in the space of the first one. */
static uint64_t line_of(struct joining *j, uint64_t line, uint64_t unit)
{
    if (unit >= j->units || (!unit && !in_one_stack(j)))
        cf_partial_damaged(j->partial);
    if (!unit && j->units > 1 && j->key[1])
        refuse_number(j, 0);
    j->nowhere |= !unit;
    stacks_note(j->all, line << j->all->set->shift, j->key[unit]);
    if (stacks_mix(j->all))
        cf_die(j->tool, CF_EXIT_INPUT, "%s: " STACKS_MIX, cf_reader_file(j->partial->reader),
               1u << (j->all->set->shift - 1), 1u << j->all->set->shift);
    line ^= j->key[unit];
    if (line >> 63)
        cf_partial_damaged(j->partial);
    return line;
}

static void take_first(struct joining *j, uint64_t row, uint64_t line, uint64_t unit)
{
    struct cf_stack_part *const p = &j->ends;

    cf_must(j->tool, cf_array_room(&p->first, &p->first_room, p->firsts + 1, sizeof(*p->first)));
    p->first[p->firsts++] = (struct cf_stack_first){line_of(j, line, unit), row, (uint32_t)unit};
    j->firsts++;
}

static void take_last(struct joining *j, uint64_t line, uint64_t unit)
{
    struct cf_stack_part *const p = &j->ends;

    cf_must(j->tool, cf_array_room(&p->last, &p->last_room, p->lasts + 1, sizeof(*p->last)));
    p->last[p->lasts++] = (struct cf_stack_last){line_of(j, line, unit), (uint32_t)unit};
    j->lasts++;
}

static void join_ends(struct joining *j)
{
    struct cf_stack_part *const p = &j->ends;

    cf_must(j->tool, cf_array_room(&j->joined, &j->joined_room, p->firsts + 1, sizeof(*j->joined)));
    if (cf_stack_join(j->all->stack, p, j->number, j->joined) != 0)
        report(j->tool, NO_MEMORY);
    p->lasts = 0;
    p->references = 0;
    memset(&p->shards, 0, sizeof(p->shards));
}

static void take_samples(struct joining *j, uint64_t group, uint64_t size, uint64_t count)
{
    if (group >= SHARDS_GROUPS || size >= SHARDS_SIZES)
        cf_partial_damaged(j->partial);
    j->ends.shards.sum[group][size] += (double)count / j->rate;
}

static void take_end(struct joining *j, uint64_t rows, uint64_t references, uint64_t sampled)
{
    struct cf_stack_part *const p = &j->ends;

    if (p->firsts || rows != j->rows || j->firsts != j->lasts)
        cf_partial_damaged(j->partial);
    p->references = p->shards.references = references;
    p->shards.sampled = sampled;
    p->shards.expected = (double)references * j->rate;
    join_ends(j);
    j->partial->ended = 1;
}

static void take_entries(struct joining *j, const struct cf_frame *f)
{
    struct cf_partial *const p = j->partial;
    const uint8_t *entry = cf_partial_entries(p, f);
    const uint64_t *a, *b, *c;

    if (!entry)
        return;
    a = cf_partial_key(p, f, 0);
    b = cf_partial_key(p, f, 1);
    c = cf_partial_key(p, f, 2);
    for (uint32_t i = 0; i < f->rows; i++) {
        if (p->ended)
            cf_partial_damaged(p);
        switch (entry[i]) {
        case ENTRY_FIRST:
            take_first(j, a[i], b[i], c[i]);
            break;
        case ENTRY_LAST:
            take_last(j, b[i], c[i]);
            break;
        case ENTRY_UNIT:
            take_unit(j, a[i], b[i]);
            break;
        case ENTRY_SAMPLED:
            take_samples(j, a[i], b[i], c[i]);
            break;
        case ENTRY_END:
            take_end(j, a[i], b[i], c[i]);
            break;
        default:
            cf_partial_damaged(p);
        }
    }
    if (j->ends.lasts && !j->ends.firsts)
        join_ends(j);
}

/* ---- rows of the recording ---- */

static int take_accesses(struct joining *j, struct cf_frame *f)
{
    const uint64_t *partial = cf_u64(f, CF_DIST);
    struct cf_stack_part *const p = &j->ends;
    uint64_t *const dist = j->all->dist;

    if (j->partial->segment != j->segments || !partial)
        cf_partial_damaged(j->partial);
    for (size_t i = 0; i < p->firsts; i++)
        if (p->lasts || p->first[i].row < j->rows || p->first[i].row - j->rows >= f->rows)
            cf_partial_damaged(j->partial);
    join_ends(j);
    memcpy(dist, partial, f->rows * sizeof(*dist));
    for (size_t i = 0; i < p->firsts; i++)
        cf_stack_merge(dist + (p->first[i].row - j->rows), j->joined[i]);
    p->firsts = 0;
    j->rows += f->rows;
    return hand_on(j->tool, j->all, f, stacks_weigh(j->all, f->rows, j->rate), j->writer);
}

/* Rows of another table, without those that a part before had. */
static int take_others(struct joining *j, const struct cf_frame *f)
{
    const int open = j->partial->segment == j->segments;
    uint64_t repeated = 0;

    if (f->table >= CF_ACCESS || !cf_table_repeats(f->table)) {
        if (!open)
            cf_partial_damaged(j->partial);
        return cf_writer_frame(j->writer, f);
    }
    if (!open)
        return 0;
    if (j->here[f->table] < j->seen[f->table])
        repeated = j->seen[f->table] - j->here[f->table];
    j->here[f->table] += f->rows;
    if (repeated >= f->rows)
        return 0;
    j->seen[f->table] = j->here[f->table];
    return cf_writer_rest(j->writer, f, (uint32_t)repeated);
}

static int take_frame(struct joining *j, struct cf_frame *f)
{
    if (f->table == CF_HEADER)
        return begin_segment(j, f);
    if (f->table == CF_PARTIAL) {
        take_entries(j, f);
        return 0;
    }
    if (j->partial->ended)
        cf_partial_damaged(j->partial);
    if (f->table == CF_ACCESS && f->rows)
        return take_accesses(j, f);
    return take_others(j, f);
}

void join_partials(struct cf_tool *t, struct stacks *all, struct cf_cores *cores,
                   struct cf_partial *partial, struct cf_writer *w, struct cf_frame *f)
{
    struct joining j = {.tool = t, .partial = partial, .all = all, .cores = cores, .writer = w};
    const uint32_t sets = all->set->config.sets;
    int failed = 0; /* cf_tool_finish() reports why */

    j.rate = stacks_rate(all);
    j.by_number = j.rate < 1 ? 2 : sets & (sets - 1) ? 1 : 0;
    cf_must(t, cf_array_room(&j.number, &j.number_room, 1, sizeof(*j.number)));
    cf_must(t, cf_array_room(&j.key, &j.key_room, 1, sizeof(*j.key)));
    j.number[0] = 0; /* of none */
    j.key[0] = 0;
    for (; f && !failed; f = next_frame(partial, all))
        failed = take_frame(&j, f) != 0;
    if (!failed)
        cf_partial_end(partial);
    cf_stack_part_free(&j.ends);
    free(j.number);
    free(j.key);
    free(j.joined);
}
