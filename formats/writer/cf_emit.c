/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Full batches become frames: encoded for a pipe, packed for a file, and the threads that pack.
 *
 * To a pipe, frames go out in the caller's thread. To a file, full batches stand in a queue; each
 * thread encodes one and writes it when its turn has come, so that the file does not depend on the
 * number of threads.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/uio.h>

#include "cf_writer.h"

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
    n = cf_numbering_rows(w->numbering, w->kinds, b->hint, b->rows, b->rows / 2,
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

/* The columns of a batch for a file; how many, -1 without memory. */
static int encode_batch(const struct cf_writer *w, const struct batch *b, struct cf_encoder *e,
                        struct cf_coded *coded)
{
    struct cf_values values[CF_MAX_COLUMNS];
    struct cf_coded set[CF_MAX_COLUMNS + 1];
    unsigned n = 0;
    int count = 0;

    for (unsigned i = 0; i < b->columns; i++) {
        const struct batch_column *c = &b->column[i];

        if (c->filled == ENCODED)
            continue;
        set[n].type = c->type;
        values[n++] = (struct cf_values){c->id,
                                         c->filled == AS_ARRAY  ? c->data
                                         : c->filled == BY_KIND ? CF_BY_KIND
                                                                : NULL,
                                         c->value};
    }
    /* with columns that are packed already, no others are packed together */
    if (n)
        count = cf_encoder_frame(e, b->encoded ? CF_PARTIAL : b->table, b->rows, values, n,
                                 b->unhinted ? NULL : b->hint, w->kinds, b->blob_bytes, set);
    if (count < 0)
        return -1;
    n = 0;
    for (unsigned i = 0; i < b->columns; i++) {
        const struct batch_column *c = &b->column[i];

        coded[i] = c->filled == ENCODED
                       ? (struct cf_coded){c->id, c->type, c->codec, c->bytes, c->value, c->data}
                       : set[n++];
    }
    if (n < (unsigned)count) /* the codes */
        coded[b->columns] = set[n];
    return (int)b->columns + count - (int)n;
}

/* Packs a batch. `threaded`: waits for the batch's turn before anything is written. */
static void pack_batch(struct cf_writer *w, struct batch *b, struct cf_encoder *e, int threaded)
{
    struct cf_coded coded[CF_MAX_COLUMNS + 1];
    const int n = e ? encode_batch(w, b, e, coded) : -1;

    if (threaded) {
        pthread_mutex_lock(&w->lock);
        while (w->turn != b->turn)
            pthread_cond_wait(&w->changed, &w->lock);
        pthread_mutex_unlock(&w->lock);
    }
    if (n < 0)
        cfw_fail(w, "out of memory");
    else
        (void)cfw_write_frame(w, b->table, b->rows, b->first, b->last, coded, (unsigned)n);
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

/* That of the caller's thread; NULL without memory. */
struct cf_encoder *cfw_encoder(struct cf_writer *w)
{
    if (!w->encoder)
        w->encoder = cf_encoder_new(w->framed ? FAST_LEVEL : ZSTD_LEVEL);
    if (!w->encoder)
        cfw_fail(w, "out of memory");
    return w->encoder;
}

/* Adds up the weights of accesses: -1 where they are more than a reader takes. */
static int weigh(struct cf_writer *w, const struct batch *b)
{
    for (unsigned i = 0; b->table == CF_ACCESS && i < b->columns; i++) {
        const struct batch_column *c = &b->column[i];
        const uint64_t *weight = (const uint64_t *)(const void *)c->data;

        for (uint32_t k = 0; c->id == CF_WEIGHT && c->filled != ENCODED && k < b->rows; k++) {
            const uint64_t one = c->filled == AS_ARRAY ? weight[k] : c->value;

            if (one > CF_WEIGHTS_MOST - w->weights) {
                w->unfit = 1;
                cfw_fail(w,
                         "%s: with one of %llu the weights of accesses add up to more than 2^52, "
                         "which no reader takes: give smaller ones",
                         cfw_target(w), (unsigned long long)one);
                return -1;
            }
            w->weights += one;
        }
    }
    return 0;
}

/* Sends a batch on its way; it is no longer the caller's. */
int cfw_emit(struct cf_writer *w, struct batch *b)
{
    if (weigh(w, b) != 0) {
        cfw_spare_batch(w, b);
        return -1;
    }
    if (!w->packed && !w->framed) {
        int result = send_batch(w, b);

        cfw_spare_batch(w, b);
        return result;
    }
    if (!w->threads && b->rows >= THREAD_ROWS && b->encoded < b->columns && !w->framed)
        start_threads(w);
    if (!w->threads) {
        if (!cfw_encoder(w)) {
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
