/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_writer.h - private to libcf: what the parts of the writer share. Functions return 0, or -1
 * after cfw_fail() has kept the first problem.
 */
#ifndef CF_WRITER_H
#define CF_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "formats/base/cf_memory.h"
#include "formats/stream/cf_wire.h"

enum {
    ZSTD_LEVEL = 3,
    /* of frames that go out one by one: 1.1 to 1.3 times the bytes, and cf-distance --partial takes
       0.75 times the processor time */
    FAST_LEVEL = -5,
    MAX_THREADS = 4,
    THREAD_ROWS = 1 << 15, /* a batch of fewer rows is no reason to start threads */
    PIPE_BYTES = 1 << 20,
    MAX_TABLES = 64,
    PASS_ROWS = CF_FILE_ROWS / 4, /* packed frames of as many rows go to a file as they are */
    PARTIAL_SECONDS = 5,          /* so old may be what a recording's file does not hold yet */
    NUMBERED_ROWS = 256,          /* fewer are sent as they are */
    STRING_BYTES = 1 << 20,       /* a dictionary frame's text */
    ID_SPACE = 1 << CF_CHAIN_SHIFT,
};

/* How a column of a batch is held. */
enum batch_fill {
    AS_ARRAY,
    AS_CONSTANT, /* all rows so far have `value` */
    UNDECIDED,   /* no rows yet */
    BY_KIND,     /* as the rows' hints say */
    ENCODED,     /* `data` is what goes into the file */
};

struct batch_column {
    uint16_t id;
    uint8_t type, width;
    uint8_t filled; /* enum batch_fill */
    uint8_t codec;  /* where it is encoded, with `value` as its base */
    uint32_t bytes; /* ... and as many of data */
    uint64_t value;
    uint8_t *data;
    size_t room; /* bytes */
};

struct batch {
    unsigned table;
    uint32_t rows;
    unsigned columns;
    struct batch_column column[CF_MAX_COLUMNS];
    uint32_t *hint;
    size_t hint_room;     /* rows */
    uint64_t first, last; /* smallest and largest time so far */
    int timed;
    int unhinted;      /* some rows came without a hint, so that all are packed without */
    size_t blob_bytes; /* of the one blob column, at the end of `column` */
    unsigned encoded;  /* columns */
    uint64_t turn;
    struct batch *next;
};

struct cf_writer {
    char *program, *command; /* NULL: that of the header */
    char *clock_unit;        /* the same */
    uint64_t clock_hz;
    char *path, *temp; /* temp NULL: unnamed, or written in place */
    int fd, owned, unnamed, packed, framed, opened, private;
    int regular;            /* a file that gets its name at the end */
    int recording, partial; /* it is kept when it is cut off; `temp` is the name that it has then */
    struct stat had;        /* of a recording: what had its name when it began; zeroes: nothing */
    int wanting;            /* what it was made from was not whole */
    int cut;                /* the stream ends here although what it is of does not */
    uint64_t whole;         /* bytes of it up to the last frame that is complete */
    struct timespec flushed;
    atomic_int failed;
    int unfit; /* what it was given is what failed, and not the output */
    char problem[512];

    uint64_t bytes;             /* written in all */
    uint64_t segment_start;     /* of them before this segment */
    int in_segment, disorder;   /* a frame of it begins with a time that goes back */
    uint64_t total[65536 / 64]; /* rows of the tables below 1024 */
    uint32_t other[MAX_TABLES]; /* further tables, */
    uint64_t other_rows[MAX_TABLES];
    unsigned others;
    struct cf_index_entry *index;
    size_t indexed, index_room;

    unsigned chain; /* our place in it */
    struct cf_strings *strings;
    struct cf_facts facts; /* of our columns */
    uint64_t weights;      /* of our accesses, added up */
    struct {
        uint16_t id;
        uint8_t type;
    } declared[CF_MAX_COLUMNS]; /* columns that cf.h does not list */
    unsigned declarations;
    const unsigned *only;                                  /* columns of accesses; NULL: all */
    uint64_t left_out;                                     /* accesses without any of these */
    struct cf_kinds *kinds;                                /* of the hints */
    struct cf_bytes string_id, string_length, string_text; /* not yet written */

    struct batch *batch[MAX_TABLES]; /* being filled, by table id */
    unsigned batches;
    struct batch *spare;
    uint8_t *scratch[CF_MAX_COLUMNS];
    size_t scratch_room[CF_MAX_COLUMNS];
    struct cf_encoder *encoder;
    struct cf_numbering *numbering;  /* of kinds, for a pipe */
    struct cfw_stretches *stretches; /* the same */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread[MAX_THREADS];
    unsigned threads;
    struct batch *queue, **queue_end;
    unsigned queued; /* batches in the queue or with a thread */
    uint64_t turns, turn;
    int stop;
};

/* cf_output.c */
void cfw_fail(struct cf_writer *w, const char *format, ...) CF_PRINTF(2, 3);
/* cf_array_room(), which fails without memory. */
int cfw_room(struct cf_writer *w, void *array, size_t *room, size_t count, size_t width);
const char *cfw_target(const struct cf_writer *w); /* its name in messages */
int cfw_open_output(struct cf_writer *w);
/* Gives the finished file its name, when a close says that nothing of it is lost. 0, or -1. */
int cfw_name_output(struct cf_writer *w);
int cfw_write_all(struct cf_writer *w, struct iovec *v, int count);
int cfw_write_frame(struct cf_writer *w, unsigned table, uint32_t rows, uint64_t first,
                    uint64_t last, const struct cf_coded *column, unsigned columns);

/* cf_batch.c */
struct batch *cfw_new_batch(struct cf_writer *w, unsigned table);
void cfw_spare_batch(struct cf_writer *w, struct batch *b); /* for the next cfw_new_batch() */
void cfw_free_batch(struct batch *b);
/* The batch that rows of a table go to, with these columns and room for one more row. */
struct batch *cfw_batch_for(struct cf_writer *w, unsigned table, const uint16_t *id,
                            const uint8_t *type, unsigned columns);
/* Places for `rows` more values of the i-th column, or more hints, after those that are there. */
uint8_t *cfw_array_column(struct cf_writer *w, struct batch *b, unsigned i, uint32_t rows);
uint32_t *cfw_hints(struct cf_writer *w, struct batch *b, uint32_t rows);
int cfw_constant_column(struct cf_writer *w, struct batch *b, unsigned i, uint64_t value,
                        uint32_t rows);
/* Rows from `from` on were added: takes in their times, which are known to rise or not. */
void cfw_note_times(struct batch *b, uint32_t from, int rising);
/* How many of some rows, one at least, can follow those of the batch in the order of time; `values`
   of its columns are theirs from row `from` on, NULL where they are constant. */
uint32_t cfw_in_order(const struct batch *b, const void *const *values, const uint64_t *constant,
                      uint32_t from, uint32_t rows);
int cfw_flush_strings(struct cf_writer *w);
int cfw_flush_below(struct cf_writer *w,
                    unsigned limit); /* strings, and what precedes table `limit` */
/* What must stand before a frame of `table`, and the table's own batch. */
int cfw_flush_for(struct cf_writer *w, unsigned table);

/* cf_emit.c */
uint8_t *cfw_scratch(struct cf_writer *w, unsigned i, size_t bytes); /* one for each column */
struct cf_encoder *cfw_encoder(struct cf_writer *w);                 /* of the caller's thread */
/* Sends a batch on its way; it is no longer the caller's. */
int cfw_emit(struct cf_writer *w, struct batch *b);
void cfw_drain(struct cf_writer *w); /* waits until all batches are written */

/* cf_writer.c */
int cfw_ready_to_write(struct cf_writer *w);
int cfw_append(struct cf_writer *w, unsigned table, uint32_t rows, const uint16_t *id,
               const uint8_t *type, const void *const *values, const uint64_t *constant,
               unsigned columns, const uint32_t *hint);
int cfw_queue_string(struct cf_writer *w, uint32_t id, const char *text, size_t length);

/* cf_segment.c */
int cfw_begin_segment(struct cf_writer *w, const struct cf_header *h, const struct cf_header *from);
int cfw_end_segment(struct cf_writer *w);

#endif
