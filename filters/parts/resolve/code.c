/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code.c - the columns that depend on the pc: function, source line, inlined functions.
 *
 * Where the rows of a frame state their pc by kind, and all are of one state of one process's code,
 * the columns are looked up once a kind and go out as such. Where that turns out otherwise in the
 * midst of a frame, they become one value a row.
 */
#include <string.h>

#include "filters/parts/resolve/columns.h"

enum { NAMED = 1 << FUNCTION | 1 << SOURCE | 1 << INLINED };

void code_begin(struct state *s, const struct cf_frame *f)
{
    struct code *c = &s->code;

    c->seen = 0;
    c->by_row = 0;
    c->pc = NULL;
    if (f->table != CF_ACCESS || !cf_frame_kinds(f, &c->rows)) {
        c->rows.kinds = 0;
        c->by_row = 1;
        c->pc = f->table == CF_ACCESS ? cf_late_values(f, CF_PC) : NULL;
    }
}

uint64_t code_key(const struct state *s, uint32_t row)
{
    return s->code.rows.kinds ? s->code.rows.code[row] : s->code.pc ? s->code.pc[row] : 0;
}

static uint64_t pc_of(const struct state *s, uint32_t row)
{
    const struct cf_row_kinds *k = &s->code.rows;

    return k->kinds ? k->pc[k->kind[k->code[row]]] : s->code.pc[row];
}

static void find(struct state *s, unsigned add, struct space *space, const uint64_t *pc,
                 uint32_t from, uint32_t count)
{
    places_find_many(s->t.places, space, pc, count, s->column[FUNCTION] + from,
                     s->column[SOURCE] + from,
                     add & 1 << INLINED ? s->column[INLINED] + from : NULL);
}

/* Of each kind; the columns by row serve as room for it. */
static void find_kinds(struct state *s, unsigned add, struct space *space)
{
    const uint32_t kinds = s->code.rows.kinds;

    s->code.seen = space->code;
    find(s, add, space, s->code.rows.pc, 0, kinds);
    for (int k = FUNCTION; k < ADDED; k++)
        for (uint32_t i = 0; add & 1u << k && i < kinds; i++)
            s->code.of_kind[k - FUNCTION][i] = s->column[k][i];
}

/* What the kinds say of the rows before `end` becomes one value a row. */
static void spread(struct state *s, unsigned add, uint32_t end)
{
    const struct cf_row_kinds *r = &s->code.rows;

    for (int k = FUNCTION; k < ADDED && !s->code.by_row; k++)
        for (uint32_t i = 0; add & 1u << k && i < end; i++)
            s->column[k][i] = (uint32_t)s->code.of_kind[k - FUNCTION][r->kind[r->code[i]]];
    s->code.by_row = 1;
}

void code_run(struct state *s, unsigned add, struct space *space, uint32_t from, uint32_t end)
{
    uint64_t pc[CHUNK];

    if (!(add & NAMED))
        return;
    if (!s->code.by_row && !s->code.seen)
        find_kinds(s, add, space);
    if (!s->code.by_row && s->code.seen == space->code)
        return;
    spread(s, add, from);
    for (uint32_t i = from, n; i < end && (s->code.pc || s->code.rows.kinds); i += n) {
        n = end - i < CHUNK ? end - i : CHUNK;
        for (uint32_t k = 0; k < n; k++)
            pc[k] = pc_of(s, i + k);
        find(s, add, space, pc, i, n);
    }
}

void code_none(struct state *s, unsigned add, uint32_t from, uint32_t end)
{
    if (add & NAMED)
        spread(s, add, from);
    for (int k = FUNCTION; k < ADDED; k++)
        memset(s->column[k] + from, 0, (end - from) * sizeof **s->column);
}

int code_set(struct state *s, struct cf_frame *f, unsigned column, int k)
{
    return k < FUNCTION || s->code.by_row
               ? cf_frame_set(f, column, s->column[k])
               : cf_frame_set_of_kind(f, column, s->code.of_kind[k - FUNCTION]);
}

static int counts(const struct state *s, int k, uint32_t id)
{
    return k == FUNCTION ? resolver_names(&s->t.r, id) : id != 0;
}

static void count_kinds(struct state *s, unsigned add, uint32_t rows)
{
    enum { BITS = 21 }; /* CF_FILE_ROWS fits */
    const struct cf_row_kinds *r = &s->code.rows;
    uint64_t sum = 0;

    memset(s->code.has, 0, r->codes * sizeof *s->code.has);
    for (int k = FUNCTION; k < ADDED; k++)
        for (uint32_t c = 0; add & 1u << k && c < r->codes; c++)
            s->code.has[c] |=
                (uint64_t)counts(s, k, (uint32_t)s->code.of_kind[k - FUNCTION][r->kind[c]])
                << (k - FUNCTION) * BITS;
    for (uint32_t i = 0; i < rows; i++)
        sum += s->code.has[r->code[i]];
    for (int k = FUNCTION; k < ADDED; k++)
        s->count[k] += sum >> (k - FUNCTION) * BITS & ((1 << BITS) - 1);
}

void code_count(struct state *s, unsigned add, uint32_t rows)
{
    if (!s->code.by_row && add & NAMED)
        count_kinds(s, add, rows);
    for (int k = FUNCTION; s->code.by_row && k < ADDED; k++) {
        uint32_t found = 0, last = 0, one = 0;
        for (uint32_t i = 0; add & 1u << k && i < rows; i++) {
            if (s->column[k][i] != last)
                one = (uint32_t)counts(s, k, last = s->column[k][i]);
            found += one;
        }
        s->count[k] += found;
    }
}
