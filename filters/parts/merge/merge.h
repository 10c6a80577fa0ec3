/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge.h - the parts of cf-merge: what comes from an input, what goes out, the merge by time,
 * the interleaving of threads, and schedules of tasks.
 */
#ifndef MERGE_H
#define MERGE_H

#include "formats/stream/cf.h"
#include "formats/program/cf_tool.h"

#include "filters/engine/rows/counts.h"

enum schedule { SCHEDULE_NONE, SCHEDULE_FAIR, SCHEDULE_FIFO };

struct options {
    const char *output;
    int renumber, force, interleave;
    enum schedule schedule;
    uint64_t slice; /* ticks of the clock that a task runs under SCHEDULE_FAIR */
    uint32_t pid_offset;
    uint32_t cpus;    /* 0 = one a thread; of a schedule 1 */
    uint64_t quantum; /* instructions */
    uint64_t memory;  /* bytes */
};

/* A file, or one of its segments if it has several. */
struct input {
    char *file;        /* to open */
    char *name;        /* for messages */
    unsigned number;   /* from 0 */
    uint64_t from, to; /* the bytes of its segment; to 0: all of the file */
    uint32_t offset;   /* added to its processes and threads */
    int warned;        /* of what is wrong with it */
    int passed;        /* there is a thread that passes on what belongs to none */
};

struct merge {
    struct cf_tool tool;
    struct options o;
    struct input *input;
    unsigned inputs;
    size_t input_room;
    struct cf_writer *writer;
    struct output *out;
    struct cf_header stated; /* its facts: of columns, of all inputs so far */
    size_t fact_room;
    char *command;              /* those of all inputs so far */
    const struct input *model;  /* the first that has snapshots of one */
    int models;                 /* others have, too, which was reported */
    struct cf_counts *owner;    /* input + 1 by process of the output */
    int clash_warned, left_out; /* left_out: it was said of some rows */
};

/* Rows of one table as columns: those of a frame, or a copy. */
struct part_column {
    uint16_t id;
    uint8_t type;
    const void *values;
};

struct part {
    unsigned table;
    uint32_t rows, at; /* rows before `at` are done */
    unsigned columns;
    struct part_column column[CF_MAX_COLUMNS];
    struct out_table *out;        /* where they go, NULL = not known yet */
    unsigned slot;                /* for output.c */
    unsigned version;             /* of the mapping below */
    int16_t from[CF_MAX_COLUMNS]; /* the column of ours for each one that goes out, -1 = none */
};

/* ---- source.c: one reader over one input ---- */

/* Copied rows, of which each has a key by which they go out. */
struct block {
    struct block *next;
    uint64_t *key;
    struct part part;
};

struct fifo {
    unsigned table;
    struct block *first, **last;
};

/* Key of the row at its head. */
static inline uint64_t fifo_key(const struct fifo *q)
{
    return q->first->key[q->first->part.at];
}

struct source {
    struct merge *merge;
    const struct input *input;
    struct cf_reader *reader;
    uint32_t *string[256]; /* the writer's id by chain and low bits */
    size_t strings[256];   /* and their room */
    struct fifo fifo[64];
    unsigned fifos;
    unsigned headers;           /* that came */
    uint32_t looked[64];        /* processes whose owner was looked up, by their last bits */
    struct cf_counts *snapshot; /* time + 1 by number; NULL: none so far */
    uint64_t last;              /* largest time that source_order() saw */
    int order_warned;
    uint64_t left_out; /* tables of which it was said */
    struct part part;  /* accesses or lines that wait; rows == at when there are none */
    const void *original[CF_MAX_COLUMNS]; /* values of its columns before translation */
    uint32_t *translated[CF_MAX_COLUMNS];
    size_t translated_room[CF_MAX_COLUMNS];
};

/* Opens the input for accesses from a span of time. */
void source_open(struct source *s, struct merge *m, const struct input *input, uint64_t from,
                 uint64_t to);
void source_close(struct source *s);

/* The next frame of the input but headers, strings and names, which it acts on: 1, or 0 at its
   end. */
int source_next(struct source *s, struct cf_frame **f);

/* Warns of what was wrong with the input, once. */
void source_warn(const struct source *s);
/* The same for one that was read before: what was not wrong then is not the input's fault, and ends
   the program. */
void source_check_again(const struct source *s);

/* Notes the times of a frame. 1 where they go back, of which it warns once. */
int source_order(struct source *s, const struct cf_frame *f);
/* Reports once that accesses have no time, where other inputs are. */
void source_timeless(struct source *s, const struct cf_frame *f);

/* Warns once where a frame describes, or with --renumber has, a process whose number another input
   has. */
void source_check_clash(struct source *s, const struct cf_frame *f);

/* Warns once that rows of a table are left out, which belong to no thread or task. */
void source_leave_out(struct source *s, unsigned table, const char *owner);

/* Makes the frame of accesses or lines the one that waits. Its rows from..from+n must be
   translated before they go out. */
void source_take(struct source *s, const struct cf_frame *f);
void source_translate(struct source *s, uint32_t from, uint32_t n);

/* Values of a column, NULL where there is none. */
const void *part_values(const struct part *p, unsigned id);

/* Queues copies of the rows `row[0..rows)` of a frame, or of all when `row` is NULL, with these
   keys, which are copied. */
void source_queue(struct source *s, const struct cf_frame *f, const uint32_t *row, uint32_t rows,
                  const uint64_t *key);

/* Hands on the rows of a frame at once. */
void source_pass(struct source *s, const struct cf_frame *f);

/* The queue whose head has the smallest key (the lowest table first), NULL when all are empty. */
struct fifo *source_first(struct source *s);
void fifo_advance(struct fifo *q, uint32_t rows);

/* The time of a snapshot; `before` for one that was not announced. */
uint64_t source_snapshot_time(struct source *s, uint32_t id, uint64_t before);

/* The number of a process or thread in the output. */
uint32_t source_process(const struct source *s, uint32_t id);

/* ---- output.c: tables that are being filled; where output fails, the program ends ---- */

enum { KEEP_CPU = -1 };

struct output *output_new(struct merge *m) CF_MUST_CHECK;
void output_free(struct output *out);

/* The first header begins the stream; the clocks of the others are compared with its clock.
   `reader` must stay open until output_free(). */
void output_header(struct output *out, const struct source *s, const struct cf_frame *f);

/* Whether the output needs this reader until output_free(). */
int output_needs(const struct output *out, const struct cf_reader *reader);

/* Makes sure that the columns of the rows go out, and where each comes from. */
void output_map(struct output *out, const struct source *s, struct part *p);

/* Appends rows from..from+n, translated. `s` is named in messages. `delta` is added to the time;
   `cpu` unless KEEP_CPU is the processor. `later`: the values stay where they are until
   output_settle(), which spares much where runs are short. */
void output_rows(struct output *out, const struct source *s, struct part *p, uint32_t from,
                 uint32_t n, uint64_t delta, int64_t cpu, int later);

/* Appends a row to table switch: a thread, by its numbers in the output, runs on a processor from
   `time` on, after `count` instructions. */
void output_switch(struct output *out, const struct source *s, uint64_t time, uint32_t pid,
                   uint32_t tid, uint32_t cpu, uint64_t count);

/* Takes the values of all rows that were appended. */
void output_settle(struct output *out);

/* Sends what was filled. */
void output_flush(struct output *out);

/* Takes in what a header of an input states of its columns, which goes into the one header that
   goes out; ends the program where that is not what the inputs so far state, or comes when that
   header was written. The headers of files are read before anything is written, those of pipes as
   they come. */
void merge_facts(struct merge *m, const char *input, const struct cf_header *h, int began);

/* States of columns that depend on the order of accesses that they were made in another one. */
void merge_outdate(struct merge *m);

/* ---- the three ways ---- */

void merge_by_time(struct merge *m);
void merge_interleaved(struct merge *m);
void merge_scheduled(struct merge *m);

/* Zeroed; exits without memory. */
void *merge_alloc(const struct merge *m, size_t count, size_t width) CF_MUST_CHECK;
/* cf_array_cleared(), which exits without memory. */
void merge_room(const struct merge *m, void *array, size_t *room, size_t count, size_t width);

/* ---- threads.c: what is known of threads before their accesses are read ---- */

struct stretch { /* the thread runs from `time` to `end`, having executed `count` before */
    uint64_t time, count, end;
};

struct child {
    uint64_t own; /* clock of the creator */
    unsigned thread;
};

struct thread {
    const struct input *input;
    struct process *process;
    uint32_t pid, tid; /* as in the input */
    unsigned index;
    uint32_t cpu;         /* where it began to run last */
    uint64_t born;        /* time of its first sign of life */
    uint64_t first, last; /* times between which its accesses lie */
    struct stretch *stretch;
    size_t stretches, stretch_room;
    int creator;         /* index, -1 = none known */
    int passes;          /* the first of its input: hands on what belongs to no thread */
    struct child *child; /* by their creator's clock */
    size_t children, child_room;
    struct runner *runner;
    struct thread *after; /* in the queue of its processor */
};

struct running { /* `thread` runs from `time` on */
    uint64_t time;
    unsigned thread;
};

struct process {
    const struct input *input;
    uint32_t pid;
    uint32_t parent; /* process that made it, 0 = none known */
    int first_thread;
    struct running *running;
    size_t runs, run_room;
};

struct threads {
    struct merge *merge;
    struct thread *thread; /* in the order of their birth */
    size_t count, room;
    struct process **process;
    size_t processes, process_room;
    uint64_t accesses;                        /* of all inputs */
    struct cf_counts *thread_at, *process_at; /* index + 1 by input and pid, tid */
    struct cf_counts *cpu_at; /* index + 1 of the thread that began last, by input and cpu */
    struct source *source;    /* one an input */
};

/* Reads all inputs for their threads, and hands on what has no place in time. */
struct threads *threads_find(struct merge *m) CF_MUST_CHECK;
void threads_free(struct threads *t);
/* The thread that does something at a time: by its number, or else the one that runs. NULL where
   the process is not known. */
struct thread *threads_get(struct threads *t, const struct input *input, uint32_t pid,
                           uint32_t tid);
struct thread *threads_running(struct threads *t, const struct input *input, uint32_t pid,
                               uint64_t time);
/* The thread's own clock, in executed instructions. */
uint64_t thread_clock(const struct thread *th, uint64_t time);

#endif
