/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge.c - the rows of all files in one order, and their batches into the stream.
 */
#include <inttypes.h>

#include "capture/csv/import.h"

static unsigned rank(unsigned table)
{
    return table == CF_ACCESS ? 1000 : table == CF_LINE ? 999 : table;
}

static const struct cf_csv_input *waiting(const struct cf_csv_import *m, unsigned table)
{
    for (unsigned i = 0; i < m->inputs; i++)
        if (m->input[i]->table == table && m->input[i]->have_row)
            return m->input[i];
    return NULL;
}

static uint64_t snapshot_of(const struct cf_csv_input *in)
{
    return in->snap_at >= 0 ? in->cell[in->snap_at] : 0;
}

/* When the row that waits in `in` may go; 0 if a snapshot's lines or row must go before it. */
static int may_go(const struct cf_csv_import *m, const struct cf_csv_input *in, uint64_t *time)
{
    const struct cf_csv_input *other;

    *time = cf_csv_input_time(in);
    if (in->table == CF_SNAPSHOT) {
        other = waiting(m, CF_LINE);
        return !other || snapshot_of(other) >= snapshot_of(in);
    }
    if (in->table == CF_LINE) {
        other = waiting(m, CF_SNAPSHOT);
        *time = m->snapshot_time;
        return !other || snapshot_of(other) > snapshot_of(in);
    }
    return 1;
}

static struct cf_csv_input *choose(struct cf_csv_import *m)
{
    struct cf_csv_input *best = NULL;
    uint64_t best_time = 0, time;

    for (unsigned i = 0; i < m->inputs; i++) {
        struct cf_csv_input *in = m->input[i];

        if (!in->have_row || !may_go(m, in, &time))
            continue;
        if (!best || time < best_time ||
            (time == best_time && rank(in->table) < rank(best->table))) {
            best = in;
            best_time = time;
        }
    }
    return best;
}

static void send_batch(struct cf_csv_import *m, struct cf_csv_input *in)
{
    struct cf_values columns[CF_MAX_COLUMNS];
    unsigned count = 0;

    if (in->rows == 0)
        return;
    if (cf_table_traits(in->table) & CF_TABLE_TIMED && in->time_at < 0)
        columns[count++] =
            (struct cf_values){CF_TIME, in->table == CF_ACCESS ? in->times : NULL, 0};
    for (unsigned i = 0; i < in->columns; i++)
        columns[count++] = (struct cf_values){in->id[i], in->batch[i], 0};
    if (cf_writer_rows(m->out, in->table, in->rows, columns, count, NULL) < 0)
        m->failed = 1; /* reported when the writer is closed */
    in->rows = 0;
}

/* Where there is a file of snapshots, each line is of one that it has. */
static int is_stray(const struct cf_csv_import *m, struct cf_csv_input *in)
{
    int listed = 0;

    for (unsigned i = 0; in->table == CF_LINE && i < m->inputs; i++)
        listed |= m->input[i]->table == CF_SNAPSHOT;
    if (!listed || (m->snapshots && m->snapshot == snapshot_of(in)))
        return 0;
    cf_lines_bad(&in->lines, (unsigned)in->snap_at + 1,
                 "snapshot %" PRIu64 " is not in the file of snapshots: the line is left out",
                 snapshot_of(in));
    return 1;
}

static void take_row(struct cf_csv_import *m, struct cf_csv_input *in)
{
    uint32_t row = in->rows++;

    for (unsigned i = 0; i < in->columns; i++) {
        switch (cf_type_width(in->type[i])) {
        case 1:
            ((uint8_t *)in->batch[i])[row] = (uint8_t)in->cell[i];
            break;
        case 2:
            ((uint16_t *)in->batch[i])[row] = (uint16_t)in->cell[i];
            break;
        case 4:
            ((uint32_t *)in->batch[i])[row] = (uint32_t)in->cell[i];
            break;
        default:
            ((uint64_t *)in->batch[i])[row] = in->cell[i];
        }
    }
    in->times[row] = in->row;
    if (in->table == CF_SNAPSHOT) {
        m->snapshot_time = cf_csv_input_time(in);
        m->snapshot = snapshot_of(in);
        m->snapshots = 1;
    }
    if (in->rows == CF_CSV_BATCH)
        send_batch(m, in);
}

void cf_csv_import_idle(void *arg)
{
    struct cf_csv_import *m = arg;

    for (unsigned i = 0; i < m->inputs; i++)
        send_batch(m, m->input[i]);
    (void)cf_writer_flush(m->out);
}

void cf_csv_import_merge(struct cf_csv_import *m)
{
    struct cf_csv_input *in, *before = NULL;

    for (unsigned i = 0; i < m->inputs; i++)
        cf_csv_input_next(m->input[i]);
    while (!m->failed && (in = choose(m))) {
        /* Only the table that is being read has rows in its batch, so that the order is kept. */
        if (before && before != in)
            send_batch(m, before);
        if (!is_stray(m, in))
            take_row(m, in);
        before = in;
        cf_csv_input_next(in);
    }
    if (before)
        send_batch(m, before);
}
