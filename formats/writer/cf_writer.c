/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a stream: gathers rows into frames, encodes and writes them.
 *
 * To a pipe, frames are small and go out in the caller's thread, by one writev() that takes passed
 * columns from where the reader left them. To a file, frames are large and packed by threads of
 * our own: full batches stand in a queue, each thread encodes one and writes it when its turn has
 * come, so that the file does not depend on the number of threads.
 *
 * Order: before a batch of access or line goes out, the batches of all event tables (task, map,
 * stack, object, switch, snapshot) do, and before any batch the strings that it may need.
 *
 * Memory: one batch a table and, for files, two and two a thread; an index entry for every frame of
 * a segment; the strings that this program defined.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cf_stretches_parts.h"
#include "cf_writer.h"

static void free_batches(struct batch *b)
{
    while (b) {
        struct batch *next = b->next;

        cfw_free_batch(b);
        b = next;
    }
}

static void free_writer(struct cf_writer *w)
{
    for (unsigned i = 0; i < w->batches; i++)
        cfw_free_batch(w->batch[i]);
    free_batches(w->spare);
    free_batches(w->queue);
    for (unsigned i = 0; i < CF_MAX_COLUMNS; i++)
        free(w->scratch[i]);
    cf_encoder_free(w->encoder);
    cf_numbering_free(w->numbering);
    cfw_free_stretches(w->stretches);
    for (unsigned i = 0; w->kinds && i < CF_KIND_BLOCKS; i++)
        free(w->kinds->block[i]);
    free(w->kinds);
    cf_strings_free(w->strings);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    cf_facts_clear(&w->facts);
    free(w->string_id.data);
    free(w->string_length.data);
    free(w->string_text.data);
    free(w->index);
    free(w->program);
    free(w->command);
    free(w->clock_unit);
    free(w->path);
    free(w->temp);
    free(w);
}

static int is_file(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

struct cf_writer *cf_writer_open(const char *path, const char *program)
{
    struct cf_writer *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->fd = -1;
    w->packed = path || is_file(STDOUT_FILENO);
    w->path = path ? strdup(path) : NULL;
    w->program = strdup(program && *program ? program : "unknown");
    w->strings = cf_strings_new();
    w->queue_end = &w->queue;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (!w->program || !w->strings || (path && !w->path)) {
        free_writer(w);
        return NULL;
    }
    return w;
}

struct cf_writer *cf_writer_pipe(int fd, const char *program)
{
    struct cf_writer *w = cf_writer_open(NULL, program);

    if (!w)
        return NULL;
    w->fd = fd;
    w->opened = w->owned = 1;
    w->packed = 0;
    (void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
    return w;
}

void cf_writer_command(struct cf_writer *w, const char *command)
{
    free(w->command);
    w->command = strdup(command);
    if (!w->command)
        cfw_fail(w, "%s: out of memory", cfw_target(w));
}

void cf_writer_clock(struct cf_writer *w, const char *unit, uint64_t hz)
{
    free(w->clock_unit);
    w->clock_unit = strdup(unit);
    w->clock_hz = hz;
    if (!w->clock_unit)
        cfw_fail(w, "%s: out of memory", cfw_target(w));
}

void cf_writer_private(struct cf_writer *w)
{
    w->private = 1;
}

void cf_writer_framed(struct cf_writer *w)
{
    w->packed = 0;
    w->framed = 1;
}

void cf_writer_recording(struct cf_writer *w)
{
    w->recording = 1;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &w->flushed);
}

void cf_writer_wanting(struct cf_writer *w)
{
    w->wanting = 1;
}

void cf_writer_cut(struct cf_writer *w)
{
    w->cut = 1;
}

int cfw_ready_to_write(struct cf_writer *w)
{
    if (w->failed)
        return -1;
    if (!w->in_segment) {
        cfw_fail(w, "%s: rows before a header", cfw_target(w));
        return -1;
    }
    return 0;
}

/* Appends rows of columns whose types are given. `values` NULL: constant. */
int cfw_append(struct cf_writer *w, unsigned table, uint32_t rows, const uint16_t *id,
               const uint8_t *type, const void *const *values, const uint64_t *constant,
               unsigned columns, const uint32_t *hint)
{
    uint32_t most = w->packed ? CF_FILE_ROWS : CF_WIRE_ROWS, done = 0;

    while (done < rows) {
        struct batch *b = cfw_batch_for(w, table, id, type, columns);
        const int rising = table != CF_PROBE && !w->disorder;
        uint32_t n;

        if (!b)
            return -1;
        n = rows - done < most - b->rows ? rows - done : most - b->rows;
        if (rising)
            n = cfw_in_order(b, values, constant, done, n);
        if (!n) { /* a frame that begins with a time that goes back tells readers */
            w->disorder = 1;
            if (cfw_flush_for(w, table) != 0)
                return -1;
            continue;
        }
        for (unsigned i = 0; i < columns; i++) {
            uint8_t *place;

            if (!values[i]) {
                if (cfw_constant_column(w, b, i, constant[i], n) != 0)
                    return -1;
                continue;
            }
            place = cfw_array_column(w, b, i, n);
            if (!place)
                return -1;
            memcpy(place, (const uint8_t *)values[i] + (size_t)done * b->column[i].width,
                   (size_t)n * b->column[i].width);
        }
        if (!hint) {
            b->unhinted = 1;
        } else if (!b->unhinted) {
            uint32_t *place = cfw_hints(w, b, n);

            if (!place)
                return -1;
            memcpy(place, hint + done, n * sizeof(*place));
        }
        b->rows += n;
        cfw_note_times(b, b->rows - n, rising);
        done += n;
        if (b->rows == most && cfw_flush_for(w, table) != 0)
            return -1;
    }
    return 0;
}

static uint8_t type_of(struct cf_writer *w, unsigned column)
{
    enum cf_type type = cf_column_type(column);

    if (column > UINT16_MAX) /* said here: to batches it is another number */
        cfw_fail(w, "%s: column %u cannot be written as rows", cfw_target(w), column);
    for (unsigned i = 0; !type && i < w->declarations; i++)
        if (w->declared[i].id == column)
            type = w->declared[i].type;
    return (uint8_t)type;
}

int cf_writer_rows(struct cf_writer *w, unsigned table, uint32_t rows,
                   const struct cf_values *columns, unsigned count, const uint32_t *hint)
{
    uint16_t id[CF_MAX_COLUMNS];
    uint8_t type[CF_MAX_COLUMNS];
    const void *values[CF_MAX_COLUMNS];
    uint64_t constant[CF_MAX_COLUMNS];

    if (cfw_ready_to_write(w) != 0)
        return -1;
    if (count > CF_MAX_COLUMNS) {
        cfw_fail(w, "%s: more than %d columns", cfw_target(w), CF_MAX_COLUMNS);
        return -1;
    }
    for (unsigned i = 0; i < count; i++) {
        id[i] = (uint16_t)columns[i].column;
        type[i] = type_of(w, columns[i].column);
        values[i] = columns[i].values;
        constant[i] = columns[i].constant;
    }
    return cfw_append(w, table, rows, id, type, values, constant, count, hint);
}

int cf_writer_kind(struct cf_writer *w, uint32_t hint, uint64_t pc, enum cf_op op, uint32_t size,
                   uint32_t insns)
{
    struct cf_row_kind **block;

    if (!w->kinds)
        w->kinds = calloc(1, sizeof(*w->kinds));
    if (!w->kinds || hint / CF_KIND_BLOCK >= CF_KIND_BLOCKS) {
        cfw_fail(w, w->kinds ? "%s: more than 2^29 kinds" : "%s: out of memory", cfw_target(w));
        return -1;
    }
    block = &w->kinds->block[hint / CF_KIND_BLOCK];
    if (!*block)
        *block = calloc(CF_KIND_BLOCK, sizeof(**block));
    if (!*block) {
        cfw_fail(w, "%s: out of memory", cfw_target(w));
        return -1;
    }
    if (hint >= w->kinds->end)
        w->kinds->end = (hint / CF_KIND_BLOCK + 1) * CF_KIND_BLOCK;
    (*block)[hint % CF_KIND_BLOCK] = (struct cf_row_kind){pc, size, insns, (uint8_t)op};
    return 0;
}

int cf_writer_place(struct cf_writer *w, unsigned table, const struct cf_values *constants,
                    unsigned constant_count, struct cf_place *columns, unsigned count,
                    uint32_t **hint, uint32_t *rows)
{
    uint32_t most = w->packed ? CF_FILE_ROWS : CF_WIRE_ROWS;
    uint16_t id[CF_MAX_COLUMNS];
    uint8_t type[CF_MAX_COLUMNS];
    struct batch *b;
    uint32_t n;

    if (cfw_ready_to_write(w) != 0)
        return -1;
    if (constant_count + count > CF_MAX_COLUMNS) {
        cfw_fail(w, "%s: more than %d columns", cfw_target(w), CF_MAX_COLUMNS);
        return -1;
    }
    for (unsigned i = 0; i < count + constant_count; i++) {
        unsigned column = i < count ? columns[i].column : constants[i - count].column;

        id[i] = (uint16_t)column;
        type[i] = type_of(w, column);
    }
    b = cfw_batch_for(w, table, id, type, count + constant_count);
    for (unsigned i = 0; b && b->rows && i < constant_count; i++)
        if (constants[i].values == CF_BY_KIND &&
            (b->unhinted || b->column[count + i].filled != BY_KIND)) {
            if (cfw_flush_for(w, table) != 0)
                return -1;
            b = cfw_batch_for(w, table, id, type, count + constant_count);
        }
    if (!b)
        return -1;
    n = most - b->rows;
    n = n > CF_WIRE_ROWS ? CF_WIRE_ROWS : n;
    for (unsigned i = 0; i < count; i++) {
        columns[i].values = cfw_array_column(w, b, i, n);
        if (!columns[i].values)
            return -1;
    }
    for (unsigned i = 0; i < constant_count; i++)
        if (constants[i].values == CF_BY_KIND)
            b->column[count + i].filled = BY_KIND;
        else if (cfw_constant_column(w, b, count + i, constants[i].constant, n) != 0)
            return -1;
    if (hint) {
        *hint = cfw_hints(w, b, n);
        if (!*hint)
            return -1;
    } else {
        b->unhinted = 1;
    }
    *rows = n;
    return 0;
}

int cf_writer_placed(struct cf_writer *w, unsigned table, uint32_t rows)
{
    for (unsigned i = 0; i < w->batches; i++) {
        struct batch *b = w->batch[i];

        if (!b || b->table != table)
            continue;
        b->rows += rows;
        cfw_note_times(b, b->rows - rows, 1);
        /* A full one goes with what comes next: rows of other tables up to its times may follow. */
        return 0;
    }
    return -1;
}

int cf_writer_flush(struct cf_writer *w)
{
    struct timespec now;

    if (w->failed)
        return -1;
    if (w->packed) {
        if (!w->recording)
            return 0;
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
        if (now.tv_sec - w->flushed.tv_sec < PARTIAL_SECONDS)
            return 0;
        w->flushed = now;
    }
    return cfw_flush_below(w, UINT_MAX);
}

int cfw_queue_string(struct cf_writer *w, uint32_t id, const char *text, size_t length)
{
    const uint32_t bytes = (uint32_t)length;

    if (w->string_text.used + length > STRING_BYTES || w->string_id.used / 4 >= CF_WIRE_ROWS)
        if (cfw_flush_strings(w) != 0)
            return -1;
    if (cf_bytes_add(&w->string_id, &id, 4) != 0 ||
        cf_bytes_add(&w->string_length, &bytes, 4) != 0 ||
        cf_bytes_add(&w->string_text, text, length) != 0) {
        cfw_fail(w, "out of memory");
        return -1;
    }
    return 0;
}

uint32_t cf_writer_string(struct cf_writer *w, const char *text)
{
    size_t length = strlen(text);
    uint32_t number, id;
    int fresh;

    if (!length || cfw_ready_to_write(w) != 0)
        return 0;
    if (length > CF_MAX_TEXT)
        length = CF_MAX_TEXT;
    number = cf_strings_number(w->strings, text, length, &fresh);
    if (!number || number >= ID_SPACE) {
        cfw_fail(w, number ? "%s: more than 2^24 strings" : "%s: out of memory", cfw_target(w));
        return 0;
    }
    id = (uint32_t)w->chain << CF_CHAIN_SHIFT | number;
    if (fresh && cfw_queue_string(w, id, text, length) != 0)
        return 0;
    return id;
}

int cf_writer_name(struct cf_writer *w, unsigned id, enum cf_type type, const char *name)
{
    static const uint16_t ids[] = {CF_ID, CF_TYPE, CF_LABEL};
    static const uint8_t types[] = {CF_U32, CF_U8, CF_STR};
    static const void *const none[3];
    uint64_t values[3] = {id, type, 0};

    if (cfw_ready_to_write(w) != 0)
        return -1;
    if (!*name) {
        cfw_fail(w, "%s: the name of column %u is empty", cfw_target(w), id);
        return -1;
    }
    if (id < 65536) {
        if (w->declarations == CF_MAX_COLUMNS) {
            cfw_fail(w, "%s: more than %d declared columns", cfw_target(w), CF_MAX_COLUMNS);
            return -1;
        }
        w->declared[w->declarations].id = (uint16_t)id;
        w->declared[w->declarations++].type = (uint8_t)type;
    }
    values[2] = cf_writer_string(w, name);
    if (!values[2] || cfw_append(w, CF_NAME, 1, ids, types, none, values, 3, NULL) != 0)
        return -1;
    return cfw_flush_for(w, CF_NAME);
}

uint64_t cf_writer_bytes(const struct cf_writer *w)
{
    return w->bytes;
}

const char *cf_writer_problem(const struct cf_writer *w)
{
    return w->failed ? w->problem : NULL;
}

/* A file that was not written to its end: what is whole of a recording stays, with a problem that
   says where. */
static void leave_partial(struct cf_writer *w)
{
    char why[sizeof(w->problem)];

    snprintf(why, sizeof(why), "%s", w->failed ? w->problem : w->path);
    w->failed = 0;
    if (!w->partial) {
        if (w->temp)
            (void)unlink(w->temp);
        cfw_fail(w, "%s%s%s", why, w->cut ? ": not written" : "",
                 w->cut && w->recording ? ": nothing was recorded" : "");
        return;
    }
    (void)!ftruncate(w->fd, (off_t)w->whole); /* what a full disk cut */
    cfw_fail(w, "%s: %swhat was recorded until then is in %s", why, w->cut ? "cut off: " : "",
             w->temp);
}

int cf_writer_close(struct cf_writer *w, int complete, char *problem, size_t size)
{
    int result, broken, named = 0;

    if (!w)
        return 0;
    if (!w->failed && (w->cut || !complete))
        (void)cfw_flush_below(w, UINT_MAX);
    if (w->cut && (w->path || w->whole)) /* a pipe that has carried nothing may say so */
        complete = 0;
    if (!w->failed && complete)
        (void)cfw_end_segment(w);
    pthread_mutex_lock(&w->lock);
    w->stop = 1;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->threads; i++)
        pthread_join(w->thread[i], NULL);
    if (!w->opened && !w->failed)
        (void)cfw_open_output(w);
    if (!w->failed && w->path && !(w->cut && w->regular))
        named = cfw_name_output(w) == 0;
    broken = w->failed;
    if (w->regular && (w->failed || w->cut))
        leave_partial(w);
    if (w->fd >= 0 && close(w->fd) != 0 && !named) {
        broken = 1;
        cfw_fail(w, "%s: cannot write: %s", cfw_target(w), strerror(errno));
    }
    result = w->failed ? ((w->cut && !broken) || w->unfit ? 1 : -1) : 0;
    if (w->failed && problem && size)
        snprintf(problem, size, "%s", w->problem);
    free_writer(w);
    return result;
}
