/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches: rows that wait to become a frame, in the order in which they go out.
 */
#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "cf_writer.h"
#include "cf_stretches.h"

void cfw_free_batch(struct batch *b)
{
    if (!b)
        return;
    for (unsigned i = 0; i < CF_MAX_COLUMNS; i++)
        free(b->column[i].data);
    free(b->hint);
    free(b);
}

struct batch *cfw_new_batch(struct cf_writer *w, unsigned table)
{
    struct batch *b;

    pthread_mutex_lock(&w->lock);
    b = w->spare;
    if (b)
        w->spare = b->next;
    pthread_mutex_unlock(&w->lock);
    if (!b)
        b = calloc(1, sizeof(*b));
    if (!b) {
        cfw_fail(w, "out of memory");
        return NULL;
    }
    b->table = table;
    b->rows = 0;
    b->columns = 0;
    b->unhinted = 0;
    b->blob_bytes = 0;
    b->encoded = 0;
    b->first = b->last = 0;
    b->timed = 0;
    b->next = NULL;
    return b;
}

void cfw_spare_batch(struct cf_writer *w, struct batch *b)
{
    pthread_mutex_lock(&w->lock);
    b->next = w->spare;
    w->spare = b;
    pthread_mutex_unlock(&w->lock);
}

/* Whether times rise and are all below 2^63, so that a difference's sign decides: blocks of a
   constant length become vectors. */
static int ascends(const uint64_t *time, uint32_t n)
{
    enum { BLOCK = 16 };
    uint64_t sign = n ? time[0] : 0;
    uint32_t k = 1;

    for (; k + BLOCK <= n; k += BLOCK)
        for (int q = 0; q < BLOCK; q++)
            sign |= (time[k + (uint32_t)q] - time[k + (uint32_t)q - 1]) | time[k + (uint32_t)q];
    for (; k < n; k++)
        sign |= (time[k] - time[k - 1]) | time[k];
    return sign >> 63 == 0;
}

uint32_t cfw_in_order(const struct batch *b, const void *const *values, const uint64_t *constant,
                      uint32_t from, uint32_t rows)
{
    const uint64_t *time;
    unsigned i = 0;
    uint32_t k = 1;

    while (i < b->columns && b->column[i].id != CF_TIME)
        i++;
    if (i == b->columns)
        return rows;
    time = values[i] ? (const uint64_t *)values[i] + from : NULL;
    if (b->timed && (time ? *time : constant[i]) < b->last)
        return 0;
    if (!time || ascends(time, rows))
        return rows;
    while (k < rows && time[k] >= time[k - 1])
        k++;
    return k;
}

void cfw_note_times(struct batch *b, uint32_t from, int rising)
{
    for (unsigned i = 0; i < b->columns; i++) {
        const struct batch_column *c = &b->column[i];
        const uint64_t *time = (const uint64_t *)(const void *)c->data;
        uint64_t low = b->timed ? b->first : UINT64_MAX, high = b->timed ? b->last : 0;

        if (c->id != CF_TIME || c->filled == ENCODED)
            continue;
        if (c->filled == AS_CONSTANT) {
            low = c->value < low ? c->value : low;
            high = c->value > high ? c->value : high;
        } else if (rising || ascends(time + from, b->rows - from)) {
            low = from < b->rows && time[from] < low ? time[from] : low;
            high = from < b->rows && time[b->rows - 1] > high ? time[b->rows - 1] : high;
        } else {
            for (uint32_t k = from; k < b->rows; k++) {
                low = time[k] < low ? time[k] : low;
                high = time[k] > high ? time[k] : high;
            }
        }
        b->first = low;
        b->last = high;
        b->timed = 1;
        return;
    }
}

int cfw_flush_strings(struct cf_writer *w)
{
    static const uint16_t ids[] = {CF_ID, CF_LENGTH, CF_TEXT};
    struct cf_bytes *const waiting[] = {&w->string_id, &w->string_length, &w->string_text};
    struct batch *b;

    if (!w->string_id.used)
        return 0;
    b = cfw_new_batch(w, CF_STRING);
    if (!b)
        return -1;
    b->rows = (uint32_t)(w->string_id.used / 4);
    b->columns = 3;
    b->blob_bytes = w->string_text.used;
    b->unhinted = 1;
    for (unsigned i = 0; i < 3; i++) {
        struct batch_column *c = &b->column[i];

        c->id = ids[i];
        c->type = (uint8_t)cf_column_type(ids[i]);
        c->width = c->type == CF_BLOB ? 1 : 4;
        c->filled = AS_ARRAY;
        if (cfw_room(w, &c->data, &c->room, waiting[i]->used, 1) != 0) {
            cfw_spare_batch(w, b);
            return -1;
        }
        memcpy(c->data, waiting[i]->data, waiting[i]->used);
        waiting[i]->used = 0;
    }
    return cfw_emit(w, b);
}

/* Whether rows of `table` go out before those of `limit`. */
static int goes_before(unsigned table, unsigned limit)
{
    return table < limit || (limit == CF_ACCESS && cf_table_traits(table) & CF_TABLE_BEFORE);
}

int cfw_flush_below(struct cf_writer *w, unsigned limit)
{
    if (cfw_flush_strings(w) != 0)
        return -1;
    if (limit > CF_ACCESS && (cfw_flush_below(w, CF_ACCESS) != 0 || cf_writer_stretched(w) != 0))
        return -1;
    for (unsigned i = 0; i < w->batches; i++) {
        struct batch *b = w->batch[i];

        if (!b || b->rows == 0 || !goes_before(b->table, limit))
            continue;
        w->batch[i] = NULL;
        if (cfw_emit(w, b) != 0)
            return -1;
    }
    return 0;
}

/* Emits what must stand before a frame of `table`, and the table's own batch. */
int cfw_flush_for(struct cf_writer *w, unsigned table)
{
    if (cfw_flush_below(w, table < CF_ACCESS ? table : CF_ACCESS) != 0)
        return -1;
    for (unsigned i = 0; i < w->batches; i++) {
        struct batch *b = w->batch[i];

        if (b && b->table == table && b->rows) {
            w->batch[i] = NULL;
            return cfw_emit(w, b);
        }
    }
    return 0;
}

/* Whether a frame may have these columns: what no reader takes must not be written. */
static int may_have(struct cf_writer *w, unsigned table, const uint16_t *id, const uint8_t *type,
                    unsigned columns)
{
    if (table < CF_NAME || table > UINT16_MAX) {
        cfw_fail(w, "%s: table %u cannot be written as rows", cfw_target(w), table);
        return 0;
    }
    for (unsigned i = 0; i < columns; i++) {
        unsigned k = 0;

        while (id[k] != id[i])
            k++;
        if (k == i && id[i] && cf_type_width(type[i]))
            continue;
        cfw_fail(w,
                 k < i ? "%s: column %u is given twice" : "%s: column %u cannot be written as rows",
                 cfw_target(w), id[i]);
        return 0;
    }
    return 1;
}

/* The batch of a table, with these columns and room for at least one more row. */
struct batch *cfw_batch_for(struct cf_writer *w, unsigned table, const uint16_t *id,
                            const uint8_t *type, unsigned columns)
{
    uint32_t most = w->packed ? CF_FILE_ROWS : CF_WIRE_ROWS;
    unsigned i, same = 0;
    struct batch *b;

    for (i = 0; i < w->batches; i++)
        if (w->batch[i] && w->batch[i]->table == table)
            break;
    b = i < w->batches ? w->batch[i] : NULL;
    if (b && b->columns == columns)
        while (same < columns && b->column[same].id == id[same] &&
               b->column[same].type == type[same])
            same++;
    if (b && b->rows && (same < columns || b->columns != columns || b->rows >= most)) {
        if (cfw_flush_for(w, table) != 0)
            return NULL;
        b = NULL;
    }
    if (b && b->rows)
        return b;
    if (!may_have(w, table, id, type, columns) ||
        (table == CF_ACCESS && cf_writer_stretched(w) != 0)) /* what came before */
        return NULL;
    if (!b) {
        b = cfw_new_batch(w, table);
        if (!b)
            return NULL;
        for (i = 0; i < w->batches && w->batch[i]; i++)
            ;
        if (i == w->batches && w->batches++ == MAX_TABLES) {
            w->batches--;
            cfw_fail(w, "%s: more than %d tables", cfw_target(w), MAX_TABLES);
            cfw_spare_batch(w, b);
            return NULL;
        }
        /* kept in the order of the ids, which is the order in which they go out */
        w->batch[i] = b;
        for (unsigned k = 0; k < w->batches; k++)
            for (unsigned m = k + 1; m < w->batches; m++)
                if (w->batch[m] && (!w->batch[k] || w->batch[m]->table < w->batch[k]->table)) {
                    struct batch *t = w->batch[k];

                    w->batch[k] = w->batch[m];
                    w->batch[m] = t;
                }
    }
    b->columns = columns;
    b->unhinted = 0;
    for (i = 0; i < columns; i++) {
        b->column[i].id = id[i];
        b->column[i].type = type[i];
        b->column[i].width = (uint8_t)cf_type_width(type[i]);
        b->column[i].filled = UNDECIDED;
    }
    return b;
}

/* Makes the i-th column an array, with room for `rows` more values. */
uint8_t *cfw_array_column(struct cf_writer *w, struct batch *b, unsigned i, uint32_t rows)
{
    struct batch_column *c = &b->column[i];

    if (cfw_room(w, &c->data, &c->room, ((size_t)b->rows + rows) * c->width, 1) != 0)
        return NULL;
    if (c->filled == AS_CONSTANT)
        cf_fill(c->data, c->width, b->rows, c->value);
    else if (c->filled == BY_KIND)
        cf_kinds_column(w->kinds, c->id, b->hint, b->rows, c->data);
    c->filled = AS_ARRAY;
    return c->data + (size_t)b->rows * c->width;
}

int cfw_constant_column(struct cf_writer *w, struct batch *b, unsigned i, uint64_t value,
                        uint32_t rows)
{
    struct batch_column *c = &b->column[i];
    uint8_t *place;

    if (c->filled == UNDECIDED) {
        c->filled = AS_CONSTANT;
        c->value = value;
    }
    if (c->filled == AS_CONSTANT && c->value == value)
        return 0;
    place = cfw_array_column(w, b, i, rows);
    if (!place)
        return -1;
    cf_fill(place, c->width, rows, value);
    return 0;
}

uint32_t *cfw_hints(struct cf_writer *w, struct batch *b, uint32_t rows)
{
    if (cfw_room(w, &b->hint, &b->hint_room, (size_t)b->rows + rows, sizeof(*b->hint)) != 0)
        return NULL;
    return b->hint + b->rows;
}
