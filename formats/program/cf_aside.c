/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_aside.c - rows that wait for the accesses to come to their time (see cf_aside.h). */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "cf_aside.h"

enum { COLUMNS = 11, BATCH = 4096 };

/* Where each column of a row stands; the two tables use some places for columns of their own. */
static const struct place {
    unsigned unplaced, bus; /* columns, 0 for none */
    size_t at;
} places[COLUMNS] = {
    {CF_TIME, CF_TIME, offsetof(struct cf_aside_row, time)},
    {CF_CPU, CF_MASTER, offsetof(struct cf_aside_row, cpu)},
    {CF_OP, CF_OP, offsetof(struct cf_aside_row, op)},
    {CF_SIZE, CF_SIZE, offsetof(struct cf_aside_row, size)},
    {CF_PC, 0, offsetof(struct cf_aside_row, pc)},
    {CF_LEVEL, CF_TRANSFER, offsetof(struct cf_aside_row, level)},
    {CF_PHYS, CF_ADDR, offsetof(struct cf_aside_row, phys)},
    {CF_HIT, 0, offsetof(struct cf_aside_row, hit)},
    {CF_CLASS, 0, offsetof(struct cf_aside_row, class)},
    {CF_CLASS_BEHIND, 0, offsetof(struct cf_aside_row, behind)},
    {CF_COST, 0, offsetof(struct cf_aside_row, cost)},
};

static unsigned column_of(const struct cf_aside *a, unsigned i)
{
    return a->table == CF_BUS ? places[i].bus : places[i].unplaced;
}

void cf_aside_begin(struct cf_aside *a, unsigned table, struct cf_reader *r)
{
    *a = (struct cf_aside){.table = table};
    for (unsigned i = 0; i < COLUMNS; i++)
        if (column_of(a, i))
            cf_reader_want(r, table, column_of(a, i), CF_OPTIONAL);
}

void cf_aside_end(struct cf_aside *a)
{
    free(a->row);
    a->row = NULL;
    a->count = a->next = 0;
    a->room = 0;
}

int cf_aside_take(struct cf_aside *a, const struct cf_frame *f)
{
    struct cf_aside_row *row;

    if (a->count > UINT32_MAX / 4 ||
        cf_array_room(&a->row, &a->room, (size_t)a->count + f->rows, sizeof(*row)) != 0)
        return -1;
    row = a->row + a->count;
    memset(row, 0, f->rows * sizeof(*row));
    if (a->count == 0)
        a->columns = 0;
    for (unsigned i = 0; i < COLUMNS; i++) {
        const uint8_t *values = column_of(a, i) ? cf_values(f, column_of(a, i)) : NULL;
        const size_t width = column_of(a, i) ? cf_type_width(cf_column_type(column_of(a, i))) : 0;

        if (!values)
            continue;
        a->columns |= 1u << i;
        for (uint32_t k = 0; k < f->rows; k++)
            memcpy((uint8_t *)&row[k] + places[i].at, values + k * width, width);
    }
    a->count += f->rows;
    return 0;
}

struct cf_aside_row *cf_aside_next(struct cf_aside *a, uint64_t time)
{
    return cf_aside_due(a, time) ? &a->row[a->next++] : NULL;
}

void cf_aside_set(struct cf_aside *a, unsigned column)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        if (column_of(a, i) == column)
            a->columns |= 1u << i;
}

/* The rows from `from` on, at most a batch of them. */
static int write_rows(struct cf_aside *a, struct cf_writer *w, uint32_t from, uint32_t rows,
                      uint8_t *space)
{
    struct cf_values v[COLUMNS];
    unsigned count = 0;

    for (unsigned i = 0; i < COLUMNS; i++) {
        uint8_t *values = space + (size_t)i * BATCH * 8;
        size_t width;

        if (!(a->columns >> i & 1))
            continue;
        width = cf_type_width(cf_column_type(column_of(a, i)));
        for (uint32_t k = 0; k < rows; k++)
            memcpy(values + k * width, (const uint8_t *)&a->row[from + k] + places[i].at, width);
        v[count++] = (struct cf_values){column_of(a, i), values, 0};
    }
    return cf_writer_rows(w, a->table, rows, v, count, NULL);
}

int cf_aside_write(struct cf_aside *a, struct cf_writer *w)
{
    uint8_t *space = w && a->next ? malloc((size_t)COLUMNS * BATCH * 8) : NULL;
    int result = w && a->next && !space ? -1 : 0;

    for (uint32_t from = 0; space && result == 0 && from < a->next; from += BATCH)
        result = write_rows(a, w, from, a->next - from < BATCH ? a->next - from : BATCH, space);
    free(space);
    if (a->next == 0)
        return result;
    memmove(a->row, a->row + a->next, (a->count - a->next) * sizeof(*a->row));
    a->count -= a->next;
    a->next = 0;
    return result;
}
