/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_partial_rows.c - writing the rows of a partial result (see cf_partial.h). */
#include <string.h>

#include "formats/together/cf_partial.h"

enum { BATCH_ROWS = 1024 };

struct cf_partial_batch {
    uint32_t rows;
    unsigned keys, texts, sums; /* of each row */
    uint8_t entry[BATCH_ROWS];
    uint64_t key[CF_PARTIAL_KEYS][BATCH_ROWS], sum[CF_PARTIAL_SUMS][BATCH_ROWS];
    uint32_t text[CF_PARTIAL_TEXTS][BATCH_ROWS];
};

/* NULL where not even a header came, which is reported. */
static struct cf_partial_batch *batch_of(struct cf_partial *p)
{
    if (!p->batch && p->input == CF_INPUT_STREAMS)
        p->batch = cf_tool_room(p->tool, 1, sizeof(*p->batch));
    return p->batch;
}

void cf_partial_flush(struct cf_partial *p)
{
    struct cf_partial_batch *b = p->batch;
    struct cf_values values[CF_PARTIAL_COLUMNS];
    unsigned n = 0;

    if (!b || !b->rows)
        return;
    values[n++] = (struct cf_values){CF_ENTRY, b->entry, 0};
    for (unsigned i = 0; i < b->keys; i++)
        values[n++] = (struct cf_values){CF_KEY1 + i, b->key[i], 0};
    for (unsigned i = 0; i < b->texts; i++)
        values[n++] = (struct cf_values){CF_TEXT1 + i, b->text[i], 0};
    for (unsigned i = 0; i < b->sums; i++)
        values[n++] = (struct cf_values){CF_SUM1 + i, b->sum[i], 0};
    /* a failure shows again when the writer is closed */
    (void)cf_writer_rows(p->out, CF_PARTIAL, b->rows, values, n, NULL);
    b->rows = 0;
}

void cf_partial_row(struct cf_partial *p, const struct cf_partial_row *row)
{
    struct cf_partial_batch *b = batch_of(p);

    if (!b)
        return;
    if (b->rows == BATCH_ROWS || row->keys != b->keys || row->texts != b->texts ||
        row->sums != b->sums)
        cf_partial_flush(p);
    b->keys = row->keys;
    b->texts = row->texts;
    b->sums = row->sums;
    b->entry[b->rows] = row->entry;
    for (unsigned i = 0; i < row->keys; i++)
        b->key[i][b->rows] = row->key[i];
    for (unsigned i = 0; i < row->texts; i++) {
        if (row->text[i] && strlen(row->text[i]) > CF_MAX_TEXT)
            cf_die(p->tool, CF_EXIT_INPUT,
                   "--partial: a text of more than %d bytes, which no stream can hold",
                   CF_MAX_TEXT);
        b->text[i][b->rows] = cf_writer_string(p->out, row->text[i] ? row->text[i] : "");
    }
    for (unsigned i = 0; i < row->sums; i++)
        b->sum[i][b->rows] = row->sum[i];
    b->rows++;
}

void cf_partial_rows(struct cf_partial *p, uint8_t entry, uint32_t rows, const uint64_t *const *key,
                     unsigned keys)
{
    struct cf_partial_batch *b = batch_of(p);
    struct cf_values values[1 + CF_PARTIAL_KEYS];

    if (!b)
        return;
    cf_partial_flush(p);
    memset(b->entry, entry, BATCH_ROWS);
    for (uint32_t from = 0, n; from < rows; from += n) {
        n = rows - from < BATCH_ROWS ? rows - from : BATCH_ROWS;
        values[0] = (struct cf_values){CF_ENTRY, b->entry, 0};
        for (unsigned i = 0; i < keys; i++)
            values[1 + i] = (struct cf_values){CF_KEY1 + i, key[i] + from, 0};
        /* a failure shows again when the writer is closed */
        (void)cf_writer_rows(p->out, CF_PARTIAL, n, values, 1 + keys, NULL);
    }
}
