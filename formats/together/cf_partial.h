/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_partial.h - the result of a part of a recording, as a stream that the same program reads to
 * print what it would have printed of the whole (cf-stream(5), "Partial results"); and processes
 * that share a file by parts and hand their results to the one that prints.
 *
 *     files = cf_partial_share(&p, files, &count);      processes, by -j: this may be one of them
 *     reader = cf_partial_reader(&p, files, count);
 *     each frame: if (!cf_partial_frame(&p, f)) count it
 *                 else if (f->table == CF_PARTIAL) merge it
 *     cf_partial_end(&p);                               nothing is missing
 *     if (p.asked) write rows, return cf_partial_finish(&p); else print
 *
 * Memory: of what is written, 1,024 rows. A process of -j takes what the program takes for its
 * part, and the one that prints what the result takes.
 */
#ifndef CF_PARTIAL_H
#define CF_PARTIAL_H

#include <sys/types.h>

#include "formats/program/cf_tool.h"

enum {
    CF_PARTIAL_KEYS = CF_KEY10 - CF_KEY1 + 1,
    CF_PARTIAL_TEXTS = CF_TEXT5 - CF_TEXT1 + 1,
    CF_PARTIAL_SUMS = CF_SUM24 - CF_SUM1 + 1,
    CF_PARTIAL_COLUMNS = 1 + CF_PARTIAL_KEYS + CF_PARTIAL_TEXTS + CF_PARTIAL_SUMS,
    CF_PARTIAL_JOBS = 256,
    CF_PARTIAL_TURNS = 4,
};

/* What the inputs are; not known before the first header. */
enum cf_partial_input { CF_INPUT_UNKNOWN, CF_INPUT_STREAMS, CF_INPUT_PARTIALS };

struct cf_partial {
    struct cf_tool *tool;
    int asked;     /* the result is wanted as a partial one: --partial, or a process of -j */
    uint32_t jobs; /* -j */
    char *options; /* those that the result depends on, as one text; freed at the end */
    /* for a program that hands the recording on, whose partial results are all of it, in its order:
       they have the headers of all segments, and come one after the other */
    int annotates;
    int ordered; /* or only come one after the other */
    int ended;   /* such programs set it when the part at hand is whole */
    /* the result is of this part of all sets of a cache, and of all of a recording; parts 0: it is
       of all sets. Where `by_sets`, processes of -j share the sets, not the recording */
    struct cf_part_option sets;
    int by_sets;

    enum cf_partial_input input;
    struct cf_part part; /* of partial results, the one at hand */
    uint64_t segment;    /* of it, from 1, where parts come in order; 0: they need not */
    struct cf_reader *reader;
    struct cf_writer *out;
    /* private */
    uint8_t *came; /* parts, where input is CF_INPUT_PARTIALS */
    uint64_t seen[CF_ACCESS];
    enum cf_fit fit; /* of the parts together: whether they have what the program needs, */
    unsigned lacks;  /* and, where not, of this table */
    char *through;   /* what was run on the parts, see cf_partial_through() */
    char *facts;     /* what they state of their columns */
    struct cf_partial_batch *batch;
    uint32_t job;   /* a process of -j, from 1 */
    uint32_t parts; /* and how many there are, of which p->jobs run at a time */
    struct cf_partial_job {
        pid_t pid;
        int pipe, messages;
        int turn; /* is at its end when it is this one's turn */
    } * jobs_list;
    char **files;
};

/* A program's options for it; of those with -j alone the second. */
#define CF_PARTIAL_OPTION(p)                                                                       \
    {                                                                                              \
        "partial", 0, CF_FLAG(&(p)->asked)                                                         \
    }
#define CF_JOBS_OPTION(p)                                                                          \
    {                                                                                              \
        "jobs", 'j', CF_NUMBER(&(p)->jobs, 1, CF_PARTIAL_JOBS)                                     \
    }

/* With -j, where the inputs are files with an index, or with by_sets any files: starts processes,
   each of which returns the files, with `asked` set, and reads a part of them, or has `sets`; where
   they started, the files are their results. Long recordings have up to CF_PARTIAL_TURNS parts a
   process, so that none is long without work where some parts are more work than others. Warns
   where there is no index, and returns the files as they are. `count` may change. */
char *const *cf_partial_share(struct cf_partial *p, char *const *files, int *count) CF_MUST_CHECK;

/* cf_tool_reader(), which takes partial results, too. With `asked` the result's stream is begun. */
struct cf_reader *cf_partial_reader(struct cf_partial *p, char *const *files,
                                    int count) CF_MUST_CHECK;

/* Looks at a frame before the program does: 1 where it is of a partial result, and 0 where it is of
   a recording. Ends the program, by CF_EXIT_INPUT, where partial results do not go together, with
   recordings or with this program. */
int cf_partial_frame(struct cf_partial *p, const struct cf_frame *f) CF_MUST_CHECK;

/* Hands on the header of a partial result as it would be of the whole: without what says of which
   part and which program's it is. As cf_writer_frame(). */
int cf_partial_header(struct cf_partial *p, const struct cf_header *h, struct cf_writer *w);

/* How many of the first rows of a frame stand in earlier parts, too, and are counted there. Ends
   the program where a partial result is asked for and that is not known. Once a frame. */
uint32_t cf_partial_repeated(struct cf_partial *p, const struct cf_frame *f);

/* After all frames; ends the program where parts are missing, or cut off, or a process failed, and
   where the recording, but not a part alone, is of the wrong kind: cf_tool_fit(). */
void cf_partial_end(struct cf_partial *p);

/* Of a partial result at hand: whether it is that of the last part. What a recording says up to its
   end stands there, so that it need not be joined. */
int cf_partial_is_last(const struct cf_partial *p);

/* Adds a row to the result: the program's number for what it is, and key[0] to text[0] to sum[0] to
   the columns of these names. Ends the program where a text is longer than a string may be. */
struct cf_partial_row {
    uint8_t entry;
    unsigned keys, texts, sums;
    uint64_t key[CF_PARTIAL_KEYS];
    const char *text[CF_PARTIAL_TEXTS];
    const uint64_t *sum;
};
void cf_partial_row(struct cf_partial *p, const struct cf_partial_row *row);
/* Adds many rows of a kind: their keys. */
void cf_partial_rows(struct cf_partial *p, uint8_t entry, uint32_t rows, const uint64_t *const *key,
                     unsigned keys);
/* Rows so far go out before what is written next. */
void cf_partial_flush(struct cf_partial *p);

/* Columns of a frame of a partial result; ends the program, by CF_EXIT_INPUT, where one is missing.
   There are no entries, NULL, in a frame that is not the program's.
   Of texts the values are unified ids where the reader is one that does so. */
const uint8_t *cf_partial_entries(const struct cf_partial *p, const struct cf_frame *f);
const uint64_t *cf_partial_key(const struct cf_partial *p, const struct cf_frame *f, unsigned i);
const uint32_t *cf_partial_text(const struct cf_partial *p, const struct cf_frame *f, unsigned i);
const uint64_t *cf_partial_sum(const struct cf_partial *p, const struct cf_frame *f, unsigned i);
/* Ends the program: the frame at hand is none that it has written. */
void cf_partial_damaged(const struct cf_partial *p) __attribute__((noreturn));

/* Ends the result, which is left without its end where anything was wrong, closes all, and returns
   the exit status: cf_tool_finish() of a partial result. */
int cf_partial_finish(struct cf_partial *p);

/* Whether a program stands in the chain of a header behind the last `behind`, or, where that is
   NULL or not there, anywhere. */
int cf_partial_ran(const struct cf_header *h, const char *program, const char *behind);

/* The next command of the chain, from *place on, that has left accesses out: of cf-select, which
   needs a condition, or cf-cat with --slice or --part; *bytes of a line of the header. *place goes
   behind it. NULL: none. */
const char *cf_partial_left_out(const struct cf_header *h, uint64_t *place, size_t *bytes);
/* Whether there is one. */
int cf_partial_is_cut(const struct cf_header *h);

/* Private: of what was run on a part, which begins by a `cf-cat --part` at this place of the chain:
   the first program whose rows depend on rows before, or NULL. */
const char *cf_partial_remembers(const struct cf_header *h, uint64_t place);
/* Private: and all of it, with that cf-cat, as one text without names of files, and without a
   cf-cat that has no options, such as "cf-cat --columns addr | cf-select --op load". To be freed;
   NULL without memory. */
char *cf_partial_through(const struct cf_header *h, uint64_t place) CF_MUST_CHECK;

/* Private: the processes of -j end, and what they had to say is said. */
void cf_partial_jobs_end(struct cf_partial *p);

/* Frees what is left, of a program that printed. */
void cf_partial_free(struct cf_partial *p);

#endif
