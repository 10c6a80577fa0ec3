/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf.h - read and write the cacheflow record stream.
 *
 * A stream is a header, frames and an end frame. A frame holds rows of one table as columns. A
 * program reads frames, looks at the columns that it needs, adds columns, and hands the frame on;
 * what it does not know passes through unharmed. The bytes are specified in cf-stream(5).
 *
 *     struct cf_reader *in = cf_reader_open(files, count);
 *     struct cf_writer *out = cf_writer_open(NULL, "cf-example");
 *     struct cf_frame *f;
 *     cf_reader_want(in, CF_ACCESS, CF_ADDR, CF_REQUIRED);
 *     while (cf_reader_next(in, &f) > 0) {
 *         if (f->table == CF_ACCESS) {
 *             compute(cf_u64(f, CF_ADDR), f->rows, mine);
 *             cf_frame_set(f, CF_COST, mine);
 *         }
 *         cf_writer_frame(out, f);
 *     }
 *
 * A stream may hold several segments (`cat a.cf b.cf`): each begins with a header, which reaches
 * the program as a frame of table CF_HEADER. String ids hold within a segment.
 *
 * Ownership: what a reader hands out is valid until its next cf_reader_next(); strings until the
 * next CF_HEADER. Functions return 0 or a pointer when they succeed and -1 or NULL when not; the
 * message is then in cf_reader_problem() or cf_writer_problem(). Nothing here is global: one
 * thread may use one reader or writer at a time.
 */
#ifndef CF_H
#define CF_H

#include <stddef.h>
#include <stdint.h>

#include "cf_columns.h"

#if defined(__GNUC__)
#define CF_MUST_CHECK   __attribute__((warn_unused_result))
#define CF_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define CF_MUST_CHECK
#define CF_PRINTF(a, b)
#endif
#ifdef __cplusplus
extern "C" {
#endif

enum {
    CF_WIRE_ROWS = 1 << 14, /* rows in a frame of a pipe: 16,384 stay inside a second-level cache */
    CF_PIECE_ROWS = 1 << 13, /* rows of a packed frame that programs without output get at once */
    CF_DEFERRED_ROWS = 1 << 16, /* the same after cf_reader_defer() */
    CF_FILE_ROWS =
        1 << 19,          /* rows in a frame of a packed file, and the most that a frame may have */
    CF_MAX_COLUMNS = 64,  /* columns in a frame */
    CF_MAX_CODES = 65535, /* codes in a packed frame, and kinds: a code plus one fits 16 bits */
    CF_MAX_TEXT = 1 << 16,   /* bytes in one string */
    CF_MAX_HEADER = 1 << 20, /* bytes in the YAML of a header */
    CF_MAX_FACTS = 1024,     /* facts of columns in a header, */
    CF_MAX_FACT_NAME = 64,   /* and bytes of a fact's column, or of its key, with the zero */
    CF_MAX_FRAME = 1 << 28,  /* bytes in a frame */
    CF_MAX_PARTS = 1 << 16,  /* of an input */
};

/* Names. The functions return NULL or 0 for what cf_columns.h does not list. */
const char *cf_table_name(unsigned table);
unsigned cf_table_traits(unsigned table); /* enum cf_table_trait */
const char *cf_column_name(unsigned column);
enum cf_type cf_column_type(unsigned column);
unsigned cf_table_find(const char *name);
unsigned cf_column_find(const char *name);
const char *cf_column_adder(unsigned column); /* the filter that adds it, e.g. cf-resolve */
const char *cf_op_name(unsigned op);
unsigned cf_op_find(const char *name);
const char *cf_class_name(unsigned code);  /* "none", "compulsory", "capacity", ... */
unsigned cf_class_find(const char *name);  /* CF_CLASSES, which is no class, where none has it */
const char *cf_state_name(unsigned state); /* "modified or exclusive, non-secure"; "[unknown]" */
size_t cf_type_width(enum cf_type type);   /* bytes a value; 0 for a blob */

/* What the program that adds a column states of it, such as line_size of dist. */
struct cf_fact {
    const char *column, *key, *value;
    int number; /* the value is a whole number; else text */
};

struct cf_facts {
    struct cf_fact *fact;
    unsigned count;
};

/* What a recording says of where it was made: keys of `recorded` in the header. */
#define CF_RECORDED_KEYS(K)                                                                        \
    K(DATE, "date") K(HOST, "host") K(KERNEL, "kernel") K(CPU, "cpu") K(TOOL, "tool")
#define CF_RECORDED_ID(id, name) CF_RECORDED_##id,
enum cf_recorded { CF_RECORDED_KEYS(CF_RECORDED_ID) CF_RECORDED };

/* What the YAML of a header says; a NULL or 0 is not stated. */
struct cf_header {
    char *clock_unit;   /* instructions, cycles, nanoseconds */
    uint64_t clock_hz;  /* ticks of the clock in a second */
    char *machine;      /* name of the machine that was observed */
    uint32_t line_size; /* bytes, as its machine description says */
    char *source;       /* program that captured */
    char *command;      /* command line that was observed */
    int here;           /* for a writer: what is recorded runs here and now, so that it fills in: */
    char *recorded[CF_RECORDED];
    struct cf_facts facts; /* of columns */
    int restated;          /* the facts are others than those of yaml, see cf_reader_part() */
    unsigned chain;        /* programs so far; bits 24 to 31 of a string id name one of them */
    char *yaml;            /* the whole document, with what we do not know */
    size_t yaml_bytes;
    size_t facts_at, facts_end; /* of yaml: where `columns` stands, or could */
    size_t command_at, command_end;
    size_t clock_at, clock_end;
};

struct cf_data {
    uint16_t id;
    uint8_t type;  /* enum cf_type */
    uint8_t codec; /* enum cf_codec */
    uint32_t bytes;
    uint64_t base;
    uint64_t sum;
    const void *wire;        /* encoded, bytes long and padded to 8; NULL for a column set by us */
    const void *values;      /* decoded: rows values of its type; NULL when not wanted */
    const uint64_t *of_kind; /* set by kind; else NULL */
};

struct cf_frame {
    unsigned table;
    uint32_t rows;
    unsigned columns;
    uint64_t first, last;           /* smallest and largest time, 0 where there is none */
    uint64_t offset;                /* of the frame in its input, in bytes */
    uint64_t number;                /* of the frame in its input, from 1 */
    const struct cf_header *header; /* of the segment */
    struct cf_data column[CF_MAX_COLUMNS];
    struct cf_reader *reader;
};

/* ---- reading ---- */

/* CF_LATE: required, but decoded only when cf_late_values() asks for it. */
enum cf_need { CF_OPTIONAL = 0, CF_REQUIRED = 1, CF_LATE = 2 };

/* The inputs one after the other; "-" or count 0 is standard input. `files` must stay as it is. A
   file that cannot be opened is a problem like a damaged one: reported, the rest is still read.
   NULL only without memory. */
struct cf_reader *cf_reader_open(char *const *files, int count) CF_MUST_CHECK;

/* Asks for a column to be decoded in every frame of the table. Where a required one is missing,
   the frame is not handed out and the problem names the column and the program that adds it. Column
   0: none in particular, but the table, see cf_reader_lacks(). The weight of accesses is required
   where the header has facts of it: they are samples. */
void cf_reader_want(struct cf_reader *r, unsigned table, unsigned column, enum cf_need need);
/* The same for each of several columns, which end with a 0. */
void cf_reader_want_list(struct cf_reader *r, unsigned table, enum cf_need need,
                         const unsigned *column);
#define cf_reader_want_each(r, table, need, ...)                                                   \
    cf_reader_want_list(r, table, need, (const unsigned[]){__VA_ARGS__, 0})

/* Hands out no accesses that are samples, with column weight or stage or facts of one of these, for
   models; no snapshots of a part, for what needs all of each: problems like a missing column. */
void cf_reader_refuse_samples(struct cf_reader *r);
void cf_reader_refuse_parts(struct cf_reader *r);

/* Where what is required did not come, though records did: of another kind of recording (snapshots
   instead of accesses), or without a column, or where no records came of an input that is damaged
   or empty, which is a problem by itself: the first table of which a column is required; else 0.
   For programs that would print a result of nothing. */
unsigned cf_reader_lacks(const struct cf_reader *r);

/* How what came fits what is required. Of several parts of a recording, the greatest is that of the
   whole. CF_FIT_NONE: no records came, or none are required. */
enum cf_fit {
    CF_FIT_NONE,
    CF_FIT_OTHERS,  /* records of another kind alone, */
    CF_FIT_KIND,    /* of the kind, but not of the table, */
    CF_FIT_WITHOUT, /* of the table, but without a required column, or no header came, which is a
                       problem, too, */
    CF_FIT_WHOLE,   /* or with all of them */
};
enum cf_fit cf_reader_fit(const struct cf_reader *r);

/* The input that the last frame came from: a file's name or "standard input". */
const char *cf_reader_file(const struct cf_reader *r);
/* The input for messages: a file's name, "standard input" or, of several, "the inputs". */
const char *cf_reader_input(const struct cf_reader *r);

/* Takes partial results of programs (cf-stream(5), "Partial results"), which are refused else. */
void cf_reader_partials(struct cf_reader *r);

void cf_reader_want_all(struct cf_reader *r); /* every column of every table */

/* Makes string ids in decoded columns dense (1, 2, 3, ...) and valid over all segments. For
   programs that write no stream, or write every string anew. */
void cf_reader_unify(struct cf_reader *r);

/* Hands a packed frame out in pieces of CF_PIECE_ROWS, which stay in the second-level cache until
   they are read: each is a cf_frame with rows and values of its own, and with the rest, first, last
   and number too, of the whole. A frame that is damaged gives no piece. For programs that hand on
   no frame of which they want columns: others come whole. */
void cf_reader_pieces(struct cf_reader *r);

/* Hands accesses out with no column decoded, for programs that mostly do with what stands once a
   code (cf_frame_codes()). What is required of a frame, it has: cf_frame_wanted() decodes all that
   was asked for, cf_late_values() one column. Pieces are of CF_DEFERRED_ROWS. */
void cf_reader_defer(struct cf_reader *r);

/* Only frames of access and line that reach into [from, to]; with an index, the rest of a file is
   not read. Rows outside may still come in the frames at the edges. */
void cf_reader_range(struct cf_reader *r, uint64_t from, uint64_t to);

/* The times of the first and last access of all inputs, or of snapshots where there are no
   accesses, by their indexes and without reading the rest: 1, 0 where there are neither, -1 where
   an input is a pipe, has no index or cannot be read, -2 where one is a part of a recording or a
   partial result. */
int cf_reader_times(const struct cf_reader *r, uint64_t *first, uint64_t *last) CF_MUST_CHECK;

/* Only the part `number` of `parts`, from 1 to CF_MAX_PARTS, of the inputs one after the other, by
   their indexes: frames of accesses and other rows that are counted come in one part each, in order
   and about equally many rows of accesses in each; of the tables of which cf_table_repeats() all
   rows from the beginning of the inputs come in each part, in their places before the part's own.
   Headers state what cf_header_part() and cf_header_repeated() give. With a problem: -1 where there
   is no such part, or an input is a pipe or has no index, -2 where it cannot be read. Call before
   the first cf_reader_next(), and not with cf_reader_span() or cf_reader_check_index(). */
int cf_reader_part(struct cf_reader *r, uint32_t number, uint32_t parts) CF_MUST_CHECK;

/* Whether each part has the table's rows from the beginning, since later rows need them. */
int cf_table_repeats(unsigned table);

/* Only the bytes [from, to) of the one file, which must be a regular one: a segment's, for a
   program that knows where it begins and ends. Call before the first cf_reader_next(). */
void cf_reader_span(struct cf_reader *r, uint64_t from, uint64_t to);

/* Holds the index of each segment against its frames, at 40 bytes a frame. What an index says
   wrongly is damage. */
void cf_reader_check_index(struct cf_reader *r);

/* Bytes of memory that the frame at hand and what it is decoded with take. */
size_t cf_reader_memory(const struct cf_reader *r);

/* Bytes of memory that the strings of an input may take, and their ids: of a segment, with
   cf_reader_unify() of all. What goes beyond is damage, reported once a segment, and reads empty;
   frames are handed out all the same. Without a call 1 GiB, which no recorded program comes near
   to, and which a few compressed bytes could ask for. */
void cf_reader_max_strings(struct cf_reader *r, uint64_t bytes);

/* Calls f(arg) when no input came for 100 ms, and once a second while input keeps coming through a
   pipe, so that a program can flush what it holds back. */
void cf_reader_idle(struct cf_reader *r, void (*f)(void *), void *arg);

/* Next frame: 1, or 0 at the end of the last input. Damaged frames are skipped and remembered.
   Frames of the tables string and name are handed out too (after they were taken in). */
int cf_reader_next(struct cf_reader *r, struct cf_frame **frame);

/* Text of a string id, "" for 0 and for an id that the stream has not defined. */
const char *cf_reader_text(const struct cf_reader *r, uint32_t id);
/* Largest id that cf_reader_unify() has given so far. */
uint32_t cf_reader_strings(const struct cf_reader *r);

/* Name of a column or table, also of one that the stream itself declares; else NULL. */
const char *cf_reader_column_name(const struct cf_reader *r, unsigned column);
const char *cf_reader_table_name(const struct cf_reader *r, unsigned table);

/* A fact of a column, as text: NULL where it is not stated. As a number: 1, 0 where it is not
   stated, -1 where it is none, or above UINT64_MAX. */
const char *cf_header_fact(const struct cf_header *h, const char *column, const char *key);
int cf_header_number(const struct cf_header *h, const char *column, const char *key,
                     uint64_t *value) CF_MUST_CHECK;

/* Which part of which inputs a segment is of: 1, 0 where of none, -1 where that is badly stated. */
struct cf_part {
    uint64_t number, parts; /* it is the number-th, from 1 */
    char input[17];         /* of the inputs: a checksum of their headers and indexes in hex */
    uint64_t bytes;         /* the same: all that they have */
    uint64_t before;        /* rows of accesses in the parts before */
    uint64_t chain;         /* programs in the chain of the header that is one of a part here */
};
int cf_header_part(const struct cf_header *h, struct cf_part *part) CF_MUST_CHECK;
/* How many rows of a table a segment begins with that stand before its part. */
uint64_t cf_header_repeated(const struct cf_header *h, unsigned table);

/* What went wrong, "input: place: what: what to do", or NULL; the number of damaged places; and the
   i-th input beside that of the problem which could not be opened, and why, or NULL. */
const char *cf_reader_problem(const struct cf_reader *r);
unsigned cf_reader_damages(const struct cf_reader *r);
const char *cf_reader_unopened(const struct cf_reader *r, size_t i, const char **why);
/* Whether the problem is only that of what the inputs were made from, see cf_writer_wanting(). */
int cf_reader_wanting(const struct cf_reader *r);
/* Whether the problem is none of the input: memory is out, a file cannot be opened for want of
   descriptors, or not be read. cf_reader_next() has then ended early. */
int cf_reader_refused(const struct cf_reader *r);
int cf_is_refusal(int error); /* whether an errno is of that kind */

uint64_t cf_reader_bytes(const struct cf_reader *r); /* bytes read so far */
uint64_t cf_reader_size(const struct cf_reader *r);  /* of all inputs, 0 where unknown */
void cf_reader_close(struct cf_reader *r);

/* Decoded values of a wanted column, NULL where the frame lacks it or the type differs. cf_u32()
   serves CF_U32 and CF_STR. */
const uint8_t *cf_u8(const struct cf_frame *f, unsigned column);
const uint32_t *cf_u32(const struct cf_frame *f, unsigned column);
const uint64_t *cf_u64(const struct cf_frame *f, unsigned column);
const void *cf_values(const struct cf_frame *f, unsigned column);

/* The same for a column that only some frames turn out to need and that was not asked for: it is
   decoded now. Also for CF_LATE. Strings only after cf_reader_unify(). Where it does not decode,
   that is a problem of the reader. */
const void *cf_late_values(const struct cf_frame *f, unsigned column);
/* After cf_reader_defer(): decodes what was asked for. -1 where a column is damaged, which is then
   noted. */
int cf_frame_wanted(struct cf_frame *f) CF_MUST_CHECK;
/* Decodes all columns that were not wanted, for programs that look at them in few frames, with the
   string ids of the stream. -1 where one is damaged, which is then noted. */
int cf_frame_all(struct cf_frame *f) CF_MUST_CHECK;

/* Adds or replaces a column by rows values of its type, which stay the caller's and must live
   until the frame was written. -1 when the frame has no place left. */
int cf_frame_set(struct cf_frame *f, unsigned column, const void *values);
/* The same for a column that cf_columns.h does not list; see cf_writer_name(). */
int cf_frame_set_as(struct cf_frame *f, unsigned column, enum cf_type type, const void *values);
void cf_frame_drop(struct cf_frame *f, unsigned column);

/* Many frames of accesses state pc, op, size and insns once a kind of row, not once a row
   (cf-stream(5), "PACKED FRAMES"): row i is of kind[code[i]], which has pc[kind[code[i]]]. */
struct cf_row_kinds {
    uint32_t kinds, codes;
    const uint64_t *pc;
    const uint16_t *kind; /* of each code */
    const uint16_t *code; /* of each row */
};
/* Whether a frame does so, and comes whole (see cf_reader_pieces()); what it gives is good until
   the next frame. Where it is damaged, that is a problem of the reader. */
int cf_frame_kinds(const struct cf_frame *f, struct cf_row_kinds *k);
/* The code of each row, below *codes: NULL where a frame has none. A column may state its values
   once a code: cf_values_of_codes() is NULL of others, and gives strings only after
   cf_reader_unify(). Both are good until the next frame or piece, and where the frame is damaged,
   that is a problem of the reader. */
const uint16_t *cf_frame_codes(const struct cf_frame *f, uint32_t *codes);
const void *cf_values_of_codes(const struct cf_frame *f, unsigned column);
/* Whether a frame has a column; and whether it states one value for all rows of it, of strings the
   stream's id. */
int cf_frame_has(const struct cf_frame *f, unsigned column);
int cf_frame_constant(const struct cf_frame *f, unsigned column, uint64_t *value);
/* Adds or replaces a column of such a frame by one value a kind, which goes out as such where the
   frame does. As cf_frame_set(); the reader gives no values of the column. */
int cf_frame_set_of_kind(struct cf_frame *f, unsigned column, const uint64_t *values);

/* ---- frames that stay ---- */

/* For programs that work on many frames at the same time, in threads: copies of frames as they
   came, without what was set or dropped. */
struct cf_kept;
struct cf_kept *cf_kept_new(void) CF_MUST_CHECK;
void cf_kept_free(struct cf_kept *k);
void cf_kept_clear(struct cf_kept *k); /* keeps the memory */
size_t cf_kept_count(const struct cf_kept *k);
/* Appends a frame of rows (no header). -1 without memory. */
int cf_kept_add(struct cf_kept *k, const struct cf_frame *f) CF_MUST_CHECK;

/* A reader that wants and defers what `r` does so far, for frames that `r` gave and that were kept.
   Each thread has one of its own; texts and names it does not know. NULL without memory. */
struct cf_reader *cf_reader_second(const struct cf_reader *r) CF_MUST_CHECK;
/* The i-th frame, to look at, set columns in, and write: 1, or 0 where it is damaged or memory is
   missing. Good until the next one of the same reader, and while it is kept. */
int cf_kept_frame(const struct cf_kept *k, size_t i, struct cf_reader *second,
                  struct cf_frame **f) CF_MUST_CHECK;
/* The same of its rows from `from` on: as many as stay in a cache where rows are unpacked, else
   all. One piece after the other, from 0. */
int cf_kept_piece(const struct cf_kept *k, size_t i, uint32_t from, struct cf_reader *second,
                  struct cf_frame **f) CF_MUST_CHECK;
/* What the second reader found wrong counts as found by `r`. */
void cf_reader_add_problems(struct cf_reader *r, const struct cf_reader *second);

/* ---- writing ---- */

/* A column to write: `values` holds one value of the column's type a row; where it is NULL, every
   row has the value `constant`. */
struct cf_values {
    unsigned column;
    const void *values;
    uint64_t constant;
};

/* path NULL: standard output, for the next program, and packed where that is a regular file; else a
   packed file, which is written beside its name and takes it when closed. Of a file that has the
   name it keeps the permissions, and a link stays one. `program` is the command line that the
   header's chain gets. NULL without memory; a file that cannot be made shows at the first write. */
struct cf_writer *cf_writer_open(const char *path, const char *program) CF_MUST_CHECK;

/* The same to a pipe, for a program that was started to read it; the descriptor is the writer's
   from now on. */
struct cf_writer *cf_writer_pipe(int fd, const char *program) CF_MUST_CHECK;

/* For what not everybody may know, before anything is written: only the owner may read a file that
   is made. One that has the name already keeps its permissions. */
void cf_writer_private(struct cf_writer *w);

/* Before anything is written: what is written cannot be made again. Once rows have gone out, in a
   full frame or by cf_writer_flush() after 5 seconds, the file stands beside its name, with
   ".partial" added, and loses that when closed. Where it cannot be written to its end or is cut,
   the program is killed, or another one has written the file since it began, it stays there. */
void cf_writer_recording(struct cf_writer *w);

/* Before anything is written: frames that are handed on go out one by one as they came, to a file,
   too, which gets no index; what is set or added is packed, also to a pipe. */
void cf_writer_framed(struct cf_writer *w);

/* The recording ends, but not what is recorded, or nothing was: cf_writer_close() writes no end
   frame (unless to a pipe that got no rows) and says where the partial file is, if there is one.
   The file that had the name before is left alone. */
void cf_writer_cut(struct cf_writer *w);

/* What it was made from was cut off, damaged or not what was needed: the end frame says so, and
   every reader of it reports that as damage. */
void cf_writer_wanting(struct cf_writer *w);

/* Begins a segment. Captures call it; for filters, cf_writer_frame() of a CF_HEADER frame does.
   Fields that are NULL or 0 are left out; yaml, facts and chain are ignored. */
int cf_writer_header(struct cf_writer *w, const struct cf_header *header);

/* States a fact of a column that this program adds, for the segments that begin from now on: what
   earlier programs stated of the column is gone there. A fact that is stated again replaces itself.
   -1 when it is not taken, which also shows when the writer is closed. */
int cf_writer_fact(struct cf_writer *w, const char *column, const char *key, const char *text);
int cf_writer_number(struct cf_writer *w, const char *column, const char *key, uint64_t value);
void cf_writer_forget(struct cf_writer *w, const char *column); /* states nothing of it any more */

/* Headers that are handed on from now on state this command, instead of their own. */
void cf_writer_command(struct cf_writer *w, const char *command);
/* The same of their clock; hz 0: its frequency is not stated. */
void cf_writer_clock(struct cf_writer *w, const char *unit, uint64_t hz);

/* Frames of accesses are handed on with these columns alone, a list that ends with a 0 and stays as
   it is. Columns that are not in it are not decoded for that, unless packed with others. */
void cf_writer_only(struct cf_writer *w, const unsigned *column);
/* Accesses that had none of these, and were left out. */
uint64_t cf_writer_left_out(const struct cf_writer *w);

/* Hands a frame on, with the columns that were set in it. Headers get our line in their chain.
   Where a column that was not wanted must be decoded for it and is damaged, the frame is left out
   and the reader reports the damage. */
int cf_writer_frame(struct cf_writer *w, const struct cf_frame *f);
/* The same of a frame of strings, or without blobs, without its first rows. */
int cf_writer_rest(struct cf_writer *w, const struct cf_frame *f, uint32_t first);

/* Appends rows to a table. Rows are kept until a frame is full, rows of access or line follow, or
   cf_writer_flush(). `hint`, or NULL, is for accesses whose origin is known: rows with the same
   hint (from 1, below 2^31) have the same pc, op, size and insns, which saves the packer work. */
int cf_writer_rows(struct cf_writer *w, unsigned table, uint32_t rows,
                   const struct cf_values *columns, unsigned count, const uint32_t *hint);

extern const char cf_by_kind[];
#define CF_BY_KIND ((const void *)cf_by_kind)

/* Says what the rows with a hint have in common, before the first of them; 0, or -1 when the hint
   is 2^29 or more. In cf_writer_place(), the columns pc, op, size and insns may then stand in
   `constants` with CF_BY_KIND as their values. */
int cf_writer_kind(struct cf_writer *w, uint32_t hint, uint64_t pc, enum cf_op op, uint32_t size,
                   uint32_t insns);

/* The same without a copy: gives for each of `count` columns a place for *rows further values (one
   at least), and one for hints when `hint` is not NULL; columns with one value for all these rows
   come in `constants`. cf_writer_placed() says how many rows were filled in, at most *rows, and
   must follow before anything else is done with the writer. Times may not fall in a place. */
struct cf_place {
    unsigned column;
    void *values;
};
int cf_writer_place(struct cf_writer *w, unsigned table, const struct cf_values *constants,
                    unsigned constant_count, struct cf_place *columns, unsigned count,
                    uint32_t **hint, uint32_t *rows);
int cf_writer_placed(struct cf_writer *w, unsigned table, uint32_t rows);

/* Id of a string in the segment that is being written; written before the next frame. What is
   longer than CF_MAX_TEXT is cut there. 0 for "" and, with a problem, when a program defines over
   2^24 strings. */
uint32_t cf_writer_string(struct cf_writer *w, const char *text);

/* Declares a column (or, with 65536 added, a table) that cf_columns.h does not list, for this
   segment; then cf_writer_rows() takes it. At most 64. */
int cf_writer_name(struct cf_writer *w, unsigned id, enum cf_type type, const char *name);

/* Sends what is held back (a pipe) or what a reader could not wait for; cheap when nothing is. To
   the file of a recording only what is some seconds old. */
int cf_writer_flush(struct cf_writer *w);

uint64_t cf_writer_bytes(const struct cf_writer *w); /* bytes written so far */
const char *cf_writer_problem(const struct cf_writer *w);

/* Writes index and end frame, closes and frees. `complete` 0: the stream ends without an end
   frame, so that readers know that it was cut off. -1 when anything could not be written, 1 when
   all was but cf_writer_cut() keeps the file from its name, or where the weights of accesses are
   more than a reader takes; the message is then left in `problem`, which holds `size` bytes. */
int cf_writer_close(struct cf_writer *w, int complete, char *problem, size_t size) CF_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
