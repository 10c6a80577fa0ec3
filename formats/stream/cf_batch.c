/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches: rows that wait to become a frame, and the threads that pack them.
 *
 * To a pipe, frames go out in the caller's thread. To a file, full batches stand in a queue; each
 * thread encodes one and writes it when its turn has come, so that the file does not depend on the
 * number of threads.
 */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/uio.h>

#include "formats/base/cf_memory.h"
#include "cf_writer.h"

void cfw_free_batch(struct batch *b)
{
    if (!b)
        return;
    for (unsigned i = 0; i < CF_MAX_COLUMNS; i++)
        free(b->column[i].data);
    free(b->hint);
    free(b->ready);
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
    b->first = b->last = 0;
    b->timed = 0;
    b->next = NULL;
    return b;
}

void cfw_spare_batch(struct cf_writer *w, struct batch *b)
{
    free(b->ready);
    b->ready = NULL;
    pthread_mutex_lock(&w->lock);
    b->next = w->spare;
    w->spare = b;
    pthread_mutex_unlock(&w->lock);
}

/* Room for `rows` values of a column in all; doubled, so that small tables stay small. */
static int column_room(struct batch_column *c, uint32_t rows)
{
    size_t bytes = (size_t)rows * c->width, room = c->room ? c->room : 4096;
    uint8_t *p;

    if (bytes <= c->room)
        return 0;
    while (room < bytes)
        room *= 2;
    p = cf_memory_grow(c->data, c->room, room);
    if (!p)
        return -1;
    c->data = p;
    c->room = room;
    return 0;
}

static void fill(uint8_t *to, unsigned width, uint64_t value, uint32_t rows)
{
    switch (width) {
    case 1:
        memset(to, (int)(value & 0xff), rows);
        break;
    case 2:
        for (uint32_t i = 0; i < rows; i++)
            ((uint16_t *)to)[i] = (uint16_t)value;
        break;
    case 4:
        for (uint32_t i = 0; i < rows; i++)
            ((uint32_t *)to)[i] = (uint32_t)value;
        break;
    default:
        for (uint32_t i = 0; i < rows; i++)
            ((uint64_t *)to)[i] = value;
    }
}

/* Whether times rise and are all below 2^63, so that a difference's sign tells: blocks of a
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

void cfw_note_times(struct batch *b, uint32_t from, int rising)
{
    for (unsigned i = 0; i < b->columns; i++) {
        const struct batch_column *c = &b->column[i];
        const uint64_t *time = (const uint64_t *)(const void *)c->data;
        uint64_t low = b->timed ? b->first : UINT64_MAX, high = b->timed ? b->last : 0;

        if (c->id != CF_TIME)
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

uint8_t *cfw_scratch(struct cf_writer *w, unsigned i, size_t bytes)
{
    if (w->scratch_room[i] < bytes) {
        free(w->scratch[i]);
        w->scratch[i] = malloc(bytes);
        w->scratch_room[i] = w->scratch[i] ? bytes : 0;
        if (!w->scratch[i])
            cfw_fail(w, "out of memory");
    }
    return w->scratch[i];
}

/* Numbers the kinds of a batch, where that takes less than what they stand for, and makes `code`
   the column of the numbers. 1 when done, 0 when not, -1 without memory. */
static int number_kinds(struct cf_writer *w, const struct batch *b, struct cf_coded *code)
{
    unsigned by_kind = 0;
    uint8_t *place;
    int32_t n;

    for (unsigned i = 0; i < b->columns; i++)
        by_kind += b->column[i].filled == BY_KIND;
    if (by_kind < 2 || b->unhinted || b->rows < NUMBERED_ROWS || b->columns == CF_MAX_COLUMNS)
        return 0;
    place = cfw_scratch(w, b->columns, (size_t)b->rows * 2);
    if (!place || (!w->numbering && !(w->numbering = cf_numbering_new())))
        return -1;
    n = cf_numbering_rows(w->numbering, w->kinds, b->hint, b->rows, b->rows / 4,
                          (uint16_t *)(void *)place);
    *code = (struct cf_coded){CF_CODE, CF_BLOB, CF_ROWCODES, b->rows * 2, (uint64_t)n, place};
    return n < 0 ? -1 : n > 0;
}

static int send_batch(struct cf_writer *w, struct batch *b)
{
    struct cf_coded coded[CF_MAX_COLUMNS];
    int numbered = number_kinds(w, b, &coded[b->columns < CF_MAX_COLUMNS ? b->columns : 0]);

    if (numbered < 0) {
        cfw_fail(w, "out of memory");
        return -1;
    }
    for (unsigned i = 0; i < b->columns; i++) {
        const struct batch_column *c = &b->column[i];
        uint64_t value = c->filled == AS_CONSTANT ? c->value : 0;

        if (c->filled == BY_KIND && numbered) {
            uint8_t *place = cfw_scratch(w, i, 9 * (size_t)coded[b->columns].base + 32);

            if (!place)
                return -1;
            coded[i].id = c->id;
            coded[i].type = c->type;
            cf_numbering_column(w->numbering, w->kinds, c->id, place, &coded[i]);
            continue;
        }
        if (c->filled == BY_KIND && !cfw_array_column(w, b, i, 0))
            return -1;
        coded[i] = (struct cf_coded){c->id, c->type, CF_CONST, 0, value, NULL};
        if (c->type == CF_BLOB) {
            coded[i] = (struct cf_coded){c->id,         c->type, CF_RAW, (uint32_t)b->blob_bytes,
                                         b->blob_bytes, c->data};
        } else if (c->filled == AS_ARRAY) {
            const int lines = b->table == CF_LINE;
            uint8_t *place = cfw_scratch(w, i, (size_t)b->rows * (lines ? 6 : 4));

            if (!place)
                return -1;
            (lines ? cf_encode_line : cf_encode_wire)(c->type, c->data, b->rows, place, &coded[i]);
            coded[i].id = c->id;
            coded[i].type = c->type;
        }
    }
    return cfw_write_frame(w, b->table, b->rows, b->first, b->last, coded,
                           b->columns + (unsigned)numbered);
}

/* Packs a batch. `threaded`: waits for the batch's turn before anything is written. */
static void pack_batch(struct cf_writer *w, struct batch *b, struct cf_encoder *e, int threaded)
{
    struct cf_values values[CF_MAX_COLUMNS];
    struct cf_coded coded[CF_MAX_COLUMNS + 1];
    int n = e ? 0 : -1;

    if (!b->ready && e) {
        for (unsigned i = 0; i < b->columns; i++) {
            const struct batch_column *c = &b->column[i];

            values[i] = (struct cf_values){c->id,
                                           c->filled == AS_ARRAY  ? c->data
                                           : c->filled == BY_KIND ? CF_BY_KIND
                                                                  : NULL,
                                           c->value};
            /* without memory the frame below fails as well */
            (void)!cf_encoder_type(e, c->id, c->type);
        }
        n = cf_encoder_frame(e, b->table, b->rows, values, b->columns, b->unhinted ? NULL : b->hint,
                             w->kinds, b->blob_bytes, coded);
    }
    if (threaded) {
        pthread_mutex_lock(&w->lock);
        while (w->turn != b->turn)
            pthread_cond_wait(&w->changed, &w->lock);
        pthread_mutex_unlock(&w->lock);
    }
    if (b->ready) {
        struct iovec v = {b->ready, b->ready_bytes};

        if (cfw_note_frame(w, b->table, b->rows, cf_get64(b->ready + 16),
                           cf_get64(b->ready + 24)) == 0)
            (void)cfw_write_all(w, &v, 1);
    } else if (n < 0) {
        cfw_fail(w, "out of memory");
    } else {
        (void)cfw_write_frame(w, b->table, b->rows, b->first, b->last, coded, (unsigned)n);
    }
    if (threaded) {
        pthread_mutex_lock(&w->lock);
        w->turn++;
        w->queued--;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
    }
    cfw_spare_batch(w, b);
}

static void *pack_thread(void *arg)
{
    struct cf_writer *w = arg;
    struct cf_encoder *e = cf_encoder_new(ZSTD_LEVEL);

    pthread_mutex_lock(&w->lock);
    while (!w->stop || w->queue) {
        struct batch *b = w->queue;

        if (!b) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        w->queue = b->next;
        if (!w->queue)
            w->queue_end = &w->queue;
        pthread_mutex_unlock(&w->lock);
        pack_batch(w, b, e, 1);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    cf_encoder_free(e);
    return NULL;
}

static void start_threads(struct cf_writer *w)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    sigset_t all, before;

    /* signals are for the thread that knows what to do with them */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (w->threads < (cpus > MAX_THREADS ? MAX_THREADS
                         : cpus > 1         ? (unsigned)cpus
                                            : 1) &&
           pthread_create(&w->thread[w->threads], NULL, pack_thread, w) == 0)
        w->threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cfw_drain(struct cf_writer *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->queued)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

/* Sends a batch on its way; it is no longer the caller's. */
int cfw_emit(struct cf_writer *w, struct batch *b)
{
    if (!w->packed) {
        int result = send_batch(w, b);

        cfw_spare_batch(w, b);
        return result;
    }
    if (!w->threads && b->rows >= THREAD_ROWS && !b->ready)
        start_threads(w);
    if (!w->threads) {
        if (!w->encoder)
            w->encoder = cf_encoder_new(ZSTD_LEVEL);
        if (!w->encoder) {
            cfw_fail(w, "out of memory");
            cfw_spare_batch(w, b);
            return -1;
        }
        pack_batch(w, b, w->encoder, 0);
        return w->failed ? -1 : 0;
    }
    pthread_mutex_lock(&w->lock);
    while (w->queued > w->threads)
        pthread_cond_wait(&w->changed, &w->lock);
    b->turn = w->turns++;
    b->next = NULL;
    *w->queue_end = b;
    w->queue_end = &b->next;
    w->queued++;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return w->failed ? -1 : 0;
}

int cfw_flush_strings(struct cf_writer *w)
{
    struct batch *b;
    const struct {
        uint16_t id;
        uint8_t type, width;
        const void *data;
        size_t bytes;
    } columns[] = {
        {CF_ID, CF_U32, 4, w->string_id, w->string_count * 4},
        {CF_LENGTH, CF_U32, 4, w->string_length, w->string_count * 4},
        {CF_TEXT, CF_BLOB, 1, w->string_text, w->string_bytes},
    };

    if (!w->string_count)
        return 0;
    b = cfw_new_batch(w, CF_STRING);
    if (!b)
        return -1;
    b->rows = (uint32_t)w->string_count;
    b->columns = 3;
    b->blob_bytes = w->string_bytes;
    b->unhinted = 1;
    for (unsigned i = 0; i < 3; i++) {
        struct batch_column *c = &b->column[i];

        c->id = columns[i].id;
        c->type = columns[i].type;
        c->width = columns[i].width;
        c->filled = AS_ARRAY;
        if (column_room(c, (uint32_t)(columns[i].bytes / c->width)) != 0) {
            cfw_fail(w, "out of memory");
            cfw_spare_batch(w, b);
            return -1;
        }
        memcpy(c->data, columns[i].data, columns[i].bytes);
    }
    w->string_count = 0;
    w->string_bytes = 0;
    return cfw_emit(w, b);
}

/* Emits the batches of tables below `limit`, strings first. Below access counts the table bus, too:
   what happened on the bus stands before the accesses that it tells of. */
int cfw_flush_below(struct cf_writer *w, unsigned limit)
{
    if (cfw_flush_strings(w) != 0)
        return -1;
    if (limit > CF_ACCESS && cfw_flush_below(w, CF_ACCESS) != 0)
        return -1;
    for (unsigned i = 0; i < w->batches; i++) {
        struct batch *b = w->batch[i];

        if (!b || b->rows == 0 || (b->table >= limit && (limit != CF_ACCESS || b->table != CF_BUS)))
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

    if (column_room(c, b->rows + rows) != 0) {
        cfw_fail(w, "out of memory");
        return NULL;
    }
    if (c->filled == AS_CONSTANT)
        fill(c->data, c->width, c->value, b->rows);
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
    fill(place, c->width, value, rows);
    return 0;
}

uint32_t *cfw_hints(struct cf_writer *w, struct batch *b, uint32_t rows)
{
    size_t need = (size_t)b->rows + rows, room = b->hint_room ? b->hint_room : 1024;

    if (need > b->hint_room) {
        uint32_t *p;

        while (room < need)
            room *= 2;
        p = cf_memory_grow(b->hint, b->hint_room * sizeof(*p), room * sizeof(*p));
        if (!p) {
            cfw_fail(w, "out of memory");
            return NULL;
        }
        b->hint = p;
        b->hint_room = room;
    }
    return b->hint + b->rows;
}
