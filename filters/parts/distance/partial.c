/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partial.c - the distances of a part of a recording, and what crosses its ends, as a partial
 * result, which join.c joins (cf-stream(5), "Partial results").
 *
 * The first references of a frame to lines that are new in the part stand before the frame, so that
 * a join needs no more than a frame at a time; the order of the lines' last uses stands at the end.
 * Lines are those of addresses: which process they are of, stands beside them, since another part
 * numbers processes in another order.
 *
 * Memory: what stack.h says, 24 bytes a distinct line at the end, and where there are several
 * processes, 43 to 85 bytes a line of all but the first.
 */
#include <math.h>
#include <stdlib.h>

#include "filters/engine/rows/counts.h"
#include "filters/parts/distance/distance.h"

struct cut {
    struct cf_tool *tool;
    struct cf_partial *partial;
    struct stacks *stacks;
    struct cf_cores *cores;
    struct cf_stack_part *ends;
    struct pieces pieces;
    uint32_t units;       /* that were written */
    uint32_t usual;       /* unit of lines that are not in `of` */
    struct cf_counts *of; /* units of lines, and one more */
    uint64_t rows;        /* of accesses so far */
    int begun;            /* `usual` is known */
};

static void put(struct cut *c, enum entry entry, uint64_t a, uint64_t b, uint64_t d)
{
    cf_partial_row(c->partial,
                   &(struct cf_partial_row){.entry = entry, .keys = 3, .key = {a, b, d}});
}

/* ---- which process or thread: 0 is none, and the n-th that appears is n ---- */

/* Where all are in one stack: of each piece. */
static void number_pieces(struct cut *c)
{
    for (size_t i = 0; i < c->pieces.count; i++) {
        struct piece *p = c->pieces.piece + i;
        const uint64_t process = (uint64_t)p->pid << 32;
        uint32_t number;
        int status;

        if (!p->of_process)
            continue;
        status = cf_groups_number(c->stacks->units, &process, sizeof(process), 1, &number);
        if (status != 0)
            report(c->tool, status < 0 ? NO_MEMORY : MANY_UNITS);
        p->unit = number + 1;
    }
}

static void write_units(struct cut *c)
{
    for (const uint32_t all = cf_groups_count(c->stacks->units); c->units < all; c->units++) {
        const uint64_t unit = cf_groups_value(c->stacks->units, c->units);

        put(c, ENTRY_UNIT, unit >> 32, (uint32_t)unit, 0);
    }
}

static int in_one_stack(const struct cut *c)
{
    return c->stacks->set->per == PER_ALL;
}

static uint64_t key_of(const struct cut *c, uint32_t unit)
{
    return in_one_stack(c) && unit ? cf_space_key(unit - 1) : 0;
}

static void remember(struct cut *c, uint64_t line, uint32_t unit)
{
    if (!c->begun)
        c->usual = unit;
    c->begun = 1;
    if (unit != c->usual)
        *(uint64_t *)cf_need(c->tool, cf_counts_at(c->of, 0, line)) = (uint64_t)unit + 1;
}

static uint32_t remembered(const struct cut *c, uint64_t line)
{
    const uint64_t unit = cf_counts_get(c->of, 0, line);

    return unit ? (uint32_t)(unit - 1) : c->usual;
}

/* ---- a frame ---- */

static void write_firsts(struct cut *c)
{
    const struct piece *piece = c->pieces.piece;

    for (size_t i = 0; i < c->ends->firsts; i++) {
        const struct cf_stack_first *first = c->ends->first + i;
        uint32_t unit = first->unit + 1;

        if (in_one_stack(c)) {
            while (piece->to <= first->row - c->rows)
                piece++;
            unit = piece->unit;
            remember(c, first->line, unit);
        }
        put(c, ENTRY_FIRST, first->row, first->line ^ key_of(c, unit), unit);
    }
    c->ends->firsts = 0;
}

static int take_frame(struct cut *c, struct cf_frame *f)
{
    enum trouble what;

    if (in_one_stack(c)) {
        int status;

        c->pieces.count = 0;
        status = find_pieces(c->cores, f, &c->pieces);
        if (status > 0)
            return 0;
        cf_must(c->tool, status);
        number_pieces(c);
    }
    what = stacks_frame(c->stacks, f, c->pieces.piece, c->rows);
    if (what != FINE)
        report(c->tool, what);
    if (stacks_mix(c->stacks))
        cf_die(c->tool, CF_EXIT_USAGE, "--partial: " STACKS_MIX, 1u << (c->stacks->set->shift - 1),
               1u << c->stacks->set->shift);
    write_units(c);
    write_firsts(c);
    c->rows += f->rows;
    cf_partial_flush(c->partial);
    return hand_on(c->tool, c->stacks, f, NULL, c->partial->out);
}

/* ---- the end ---- */

static void write_lasts(struct cut *c)
{
    cf_must(c->tool, cf_stack_end_part(c->stacks->stack));
    for (size_t i = 0; i < c->ends->lasts; i++) {
        const struct cf_stack_last *last = c->ends->last + i;
        const uint32_t unit = in_one_stack(c) ? remembered(c, last->line) : last->unit + 1;

        put(c, ENTRY_LAST, 0, last->line ^ key_of(c, unit), unit);
    }
}

/* Each reference to the sample counts as much, so that whole numbers say it all. */
static void write_samples(struct cut *c)
{
    const struct shards *h = &c->ends->shards;

    for (unsigned g = 0; g < SHARDS_GROUPS; g++)
        for (unsigned b = 0; b < SHARDS_SIZES; b++)
            if (h->sum[g][b] > 0)
                put(c, ENTRY_SAMPLED, g, b, (uint64_t)llround(h->sum[g][b] * shards_rate(h)));
}

void write_partial(struct cf_tool *t, struct stacks *stacks, struct cf_cores *cores,
                   struct cf_partial *partial, struct cf_frame *f)
{
    struct cut c = {.tool = t, .partial = partial, .stacks = stacks, .cores = cores};
    int failed = 0; /* cf_partial_finish() reports why */

    c.of = cf_need(t, cf_counts_new());
    stacks->part = c.ends = cf_tool_room(t, 1, sizeof(*c.ends));
    cf_must(t, cf_stack_begin_part(stacks->stack, c.ends));
    for (; f && !failed; f = next_frame(partial, stacks)) {
        if (f->table == CF_ACCESS && f->rows)
            failed = take_frame(&c, f) != 0;
        else if (f->table != CF_HEADER)
            failed = cf_writer_frame(partial->out, f) != 0;
    }
    cf_partial_end(partial);
    write_lasts(&c);
    write_samples(&c);
    put(&c, ENTRY_END, c.rows, c.ends->references, c.ends->shards.sampled);
    cf_stack_part_free(c.ends);
    cf_counts_free(c.of);
    free(c.pieces.piece);
}
