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

#if defined(__GNUC__)
#define CF_MUST_CHECK   __attribute__((warn_unused_result))
#define CF_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define CF_MUST_CHECK
#define CF_PRINTF(a, b)
#endif

enum {
    CF_WIRE_ROWS = 1 << 14, /* rows in a frame of a pipe: 16,384 stay inside a second-level cache */
    CF_PIECE_ROWS = 1 << 13, /* rows of a packed frame that programs without output get at once */
    CF_FILE_ROWS =
        1 << 19,         /* rows in a frame of a packed file, and the most that a frame may have */
    CF_MAX_COLUMNS = 64, /* columns in a frame */
    CF_MAX_TEXT = 1 << 16,   /* bytes in one string */
    CF_MAX_HEADER = 1 << 20, /* bytes in the YAML of a header */
    CF_MAX_FACTS = 1024,     /* facts of columns in a header, */
    CF_MAX_FACT_NAME = 64,   /* and bytes of a fact's column, or of its key, with the zero */
    CF_MAX_FRAME = 1 << 28,  /* bytes in a frame */
};

/* What is special about a table. Its place among frames is cf-stream(5)'s, "Order". */
enum cf_table_trait {
    CF_TABLE_TIMED = 1,   /* column time says when each of its rows came about */
    CF_TABLE_BEFORE = 2,  /* its rows stand before the accesses and lines that follow them */
    CF_TABLE_HOLDS = 4,   /* what a row says holds from then on: a part of a stream needs it, too */
    CF_TABLE_PROCESS = 8, /* by its pid a merge sees two processes of one number */
    CF_TABLE_FAMILY = 16, /* its column parent is a process, renumbered as pid is */
    CF_TABLE_EVENT = CF_TABLE_TIMED | CF_TABLE_BEFORE,
    CF_TABLE_STATE = CF_TABLE_EVENT | CF_TABLE_HOLDS,
};

/* Tables: id, number, name, traits. Numbers of 256 and above are free for others. */
#define CF_TABLES(T)                                                                               \
    T(CF_END, 1, "end", 0) /* id rows: rows of each table in the segment */                        \
    /* offset id rows first last: where each frame of the segment stands */                        \
    T(CF_INDEX, 2, "index", 0)                                                                     \
    T(CF_STRING, 3, "string", 0) /* id length text: the dictionary */                              \
    /* id type label: a column (id) or table (id + 65536) not listed here */                       \
    T(CF_NAME, 4, "name", 0)                                                                       \
    /* time pid tid parent op label: a process or thread begins, is named, ends */                 \
    T(CF_TASK, 16, "task", CF_TABLE_STATE | CF_TABLE_PROCESS | CF_TABLE_FAMILY)                    \
    /* time pid op start end offset perms label: a mapping comes or goes */                        \
    T(CF_MAP, 17, "map", CF_TABLE_STATE | CF_TABLE_PROCESS)                                        \
    /* pid stack parent pc: one node of the calling-context tree */                                \
    T(CF_STACK, 18, "stack", CF_TABLE_BEFORE | CF_TABLE_PROCESS)                                   \
    /* time pid tid op addr bytes stack: heap memory allocated or released */                      \
    T(CF_OBJECT, 19, "object", CF_TABLE_STATE)                                                     \
    /* time pid tid cpu count: tid runs from time on, after count instructions */                  \
    T(CF_SWITCH, 20, "switch", CF_TABLE_STATE)                                                     \
    /* snapshot time mode cost_cycles level sets ways: one snapshot of a cache */                  \
    T(CF_SNAPSHOT, 21, "snapshot", CF_TABLE_EVENT)                                                 \
    /* time cpu op size pc level phys: a memory access whose address is not known */               \
    T(CF_UNPLACED, 22, "unplaced", CF_TABLE_EVENT)                                                 \
    /* time cpu pid tid op size addr phys pc level weight insns: a memory access */                \
    T(CF_ACCESS, 32, "access", CF_TABLE_TIMED)                                                     \
    /* snapshot level cpu set way state phys addr pid: a valid line in a snapshot */               \
    T(CF_LINE, 33, "line", 0)                                                                      \
    /* region page sample runtime_cycles policy: one timing under a page policy */                 \
    T(CF_PAGE, 34, "page", 0)                                                                      \
    /* experiment parameter repeat misses time: one synthetic measurement */                       \
    T(CF_PROBE, 35, "probe", 0)                                                                    \
    /* time op size addr master transfer burst: a transfer on a bus */                             \
    T(CF_BUS, 36, "bus", CF_TABLE_EVENT)

#define CF_TABLE_ID(id, number, name, traits) id = number,
enum cf_table {
    CF_HEADER = 0, /* no table on the wire: it stands for the header of a segment */
    CF_TABLES(CF_TABLE_ID)
};

/* How the values of a column look in memory. Each column of enum cf_column has one fixed type. */
enum cf_type {
    CF_U8 = 1,
    CF_U16 = 2,
    CF_U32 = 3,
    CF_U64 = 4,
    CF_I64 = 5,
    CF_F64 = 6,
    CF_STR = 7,  /* uint32_t id of a string, 0 = none */
    CF_BLOB = 8, /* bytes that are not one value a row */
};

/* Columns: id, number, name, type, the program that adds it; and the unit. Numbers of 32768 and
   above are free for others. */
#define CF_COLUMNS(C)                                                                              \
    C(CF_TIME, 1, "time", CF_U64, NULL) /* in units of the header's clock */                       \
    C(CF_CPU, 2, "cpu", CF_U32, NULL)                                                              \
    C(CF_PID, 3, "pid", CF_U32, NULL)                                                              \
    C(CF_TID, 4, "tid", CF_U32, NULL)                                                              \
    C(CF_OP, 5, "op", CF_U8, NULL)      /* enum cf_op */                                           \
    C(CF_SIZE, 6, "size", CF_U32, NULL) /* bytes accessed (an instruction run: its bytes) */       \
    /* virtual byte address; of an object or line: its first byte */                               \
    C(CF_ADDR, 7, "addr", CF_U64, NULL)                                                            \
    C(CF_PHYS, 8, "phys", CF_U64, NULL) /* physical byte address */                                \
    /* address of the instruction; of an instruction run: its first */                             \
    C(CF_PC, 9, "pc", CF_U64, NULL)                                                                \
    /* cache level seen by hardware: 1, 2, 3, ...; 0 = unknown, 255 = memory */                    \
    C(CF_LEVEL, 10, "level", CF_U8, NULL)                                                          \
    C(CF_WEIGHT, 11, "weight", CF_U64, NULL) /* events that a sample stands for; absent = 1 */     \
    C(CF_INSNS, 12, "insns", CF_U32, NULL)   /* instructions in an instruction run; 0 for data */  \
    C(CF_START, 16, "start", CF_U64, NULL)   /* first byte of a mapping */                         \
    C(CF_STOP, 17, "end", CF_U64, NULL)      /* first byte after a mapping */                      \
    /* byte offset in the mapped file; in an index, in the segment */                              \
    C(CF_OFFSET, 18, "offset", CF_U64, NULL)                                                       \
    C(CF_PERMS, 19, "perms", CF_U8, NULL)     /* enum cf_perms */                                  \
    C(CF_LABEL, 20, "label", CF_STR, NULL)    /* name of a mapping, task or column */              \
    C(CF_BYTES, 21, "bytes", CF_U64, NULL)    /* size of a heap object in bytes */                 \
    C(CF_STACK_ID, 22, "stack", CF_U32, NULL) /* node of the calling-context tree, 0 = unknown */  \
    /* parent node (0 = root), or parent process of a task */                                      \
    C(CF_PARENT, 23, "parent", CF_U32, NULL)                                                       \
    C(CF_COUNT, 24, "count", CF_U64, NULL)   /* instructions that a thread has executed */         \
    C(CF_SNAP, 32, "snapshot", CF_U32, NULL) /* number of a snapshot */                            \
    C(CF_SET, 33, "set", CF_U32, NULL)                                                             \
    C(CF_WAY, 34, "way", CF_U32, NULL)                                                             \
    C(CF_STATE, 35, "state", CF_U8, NULL)             /* line state, enum cf_state */              \
    C(CF_MODE, 36, "mode", CF_U8, NULL)               /* of a snapshot, enum cf_mode */            \
    C(CF_COST_TOTAL, 37, "cost_cycles", CF_U64, NULL) /* of a snapshot */                          \
    C(CF_SETS, 38, "sets", CF_U32, NULL)              /* of the cache that a snapshot shows */     \
    C(CF_WAYS, 39, "ways", CF_U32, NULL)              /* the same */                               \
    C(CF_SAMPLE, 40, "sample", CF_U32, NULL)                                                       \
    C(CF_RUNTIME, 41, "runtime_cycles", CF_U64, NULL)                                              \
    C(CF_POLICY, 42, "policy", CF_U8, NULL) /* page policy */                                      \
    C(CF_EXPERIMENT, 43, "experiment", CF_STR, NULL)                                               \
    C(CF_PARAMETER, 44, "parameter", CF_U64, NULL)                                                 \
    C(CF_REPEAT, 45, "repeat", CF_U32, NULL)                                                       \
    C(CF_MISSES, 46, "misses", CF_U64, NULL)                                                       \
    C(CF_MASTER, 48, "master", CF_U32, NULL) /* number of the bus master */                        \
    /* of an AHB transfer, HTRANS: 0 idle, 1 busy, 2 first, 3 further */                           \
    C(CF_TRANSFER, 49, "transfer", CF_U8, NULL)                                                    \
    C(CF_BURST, 50, "burst", CF_U32, NULL)               /* of an AHB transfer, HBURST */          \
    C(CF_REGION, 64, "region", CF_STR, "cf-resolve")     /* mapping that owns the record */        \
    C(CF_PAGENO, 65, "page", CF_U32, "cf-resolve")       /* index of the page in its mapping */    \
    C(CF_OBJ, 66, "object", CF_U32, "cf-resolve")        /* number of the heap object, 0 = none */ \
    C(CF_SITE, 67, "site", CF_STR, "cf-resolve")         /* allocation site of the object */       \
    C(CF_FUNCTION, 68, "function", CF_STR, "cf-resolve") /* function of pc */                      \
    C(CF_SOURCE, 69, "source", CF_STR, "cf-resolve")     /* file:line of pc */                     \
    C(CF_SYMBOL, 70, "symbol", CF_STR, "cf-resolve")     /* global variable at addr */             \
    /* reuse distance in lines; marks from CF_DIST_LEAST */                                        \
    C(CF_DIST, 72, "dist", CF_U64, "cf-distance")                                                  \
    C(CF_HIT, 73, "hit", CF_U8, "cf-cache") /* level that served the access: 1.., 255 = memory */  \
    C(CF_CLASS, 74, "class", CF_U8, "cf-classify") /* enum cf_class, of the miss */                \
    C(CF_COST, 75, "cost", CF_U32, "cf-latency")   /* cycles that the access cost */               \
    /* references that a row with a sampled dist stands for */                                     \
    C(CF_DIST_WEIGHT, 76, "dist_weight", CF_F64, "cf-distance")                                    \
    /* class of the miss in the level after the first */                                           \
    C(CF_CLASS_BEHIND, 79, "class_behind", CF_U8, "cf-classify --rule leon4")                      \
    C(CF_ID, 96, "id", CF_U32, NULL)         /* of a string, table or column */                    \
    C(CF_LENGTH, 97, "length", CF_U32, NULL) /* bytes of a string */                               \
    C(CF_TEXT, 98, "text", CF_BLOB, NULL)    /* the strings without separators */                  \
    C(CF_TYPE, 99, "type", CF_U8, NULL)      /* enum cf_type */                                    \
    C(CF_ROWS, 100, "rows", CF_U64, NULL)                                                          \
    C(CF_FIRST, 101, "first", CF_U64, NULL)      /* smallest time in a frame */                    \
    C(CF_LAST, 102, "last", CF_U64, NULL)        /* largest time in a frame */                     \
    C(CF_TRAILER, 103, "trailer", CF_BLOB, NULL) /* closes the end frame */                        \
    /* codes of a packed frame, without values for programs */                                     \
    C(CF_CODE, 104, "code", CF_BLOB, NULL)

#define CF_COLUMN_ID(id, number, name, type, adder) id = number,
enum cf_column { CF_COLUMNS(CF_COLUMN_ID) };

enum cf_op {
    CF_LOAD = 1,
    CF_STORE = 2,
    CF_IFETCH = 3, /* a straight-line run: addr = pc = start, size = bytes, insns */
    CF_PREFETCH = 4,
    CF_FLUSH = 5,
    CF_MAPPED = 16, /* table map */
    CF_UNMAPPED = 17,
    CF_ALLOC = 18, /* table object */
    CF_FREE = 19,
    CF_BEGIN = 20, /* table task */
    CF_EXIT = 21,
    CF_NAMED = 22,
};

/* How a snapshot came to be: the modes of "Observing the Invisible", sections 5 and 6. */
enum cf_mode {
    CF_MODE_FLUSH = 1,       /* the cache was emptied after it; else it is transparent */
    CF_MODE_SYNCHRONOUS = 2, /* the observed tasks were stopped */
    CF_MODE_RESOLVED = 4,    /* the kernel told pid and virtual address */
    CF_MODE_LAYOUT = 8,      /* mappings were read with it */
    CF_MODE_EVENT = 16,      /* an event asked for it; else a timer */
    CF_MODE_MODEL = 32,      /* of a modelled cache */
};

/* A line's state in column `state`; 0 is not known. */
enum cf_state {
    CF_STATE_MODIFIED = 1,
    CF_STATE_OWNED = 2,
    CF_STATE_EXCLUSIVE = 3,
    CF_STATE_SHARED = 4,
    CF_STATE_UNIQUE = 5, /* modified or exclusive: tags that do not tell them apart */
    CF_STATE_COMMON = 6, /* owned or shared, the same */
    CF_STATE_NON_SECURE = 128,
};

/* What column dist holds where there is no distance: the values from CF_DIST_LEAST up. */
#define CF_DIST_COLD      UINT64_MAX       /* first access to the line: infinite */
#define CF_DIST_BEYOND    (UINT64_MAX - 1) /* accessed before, farther away than was asked for */
#define CF_DIST_NONE      (UINT64_MAX - 2) /* does not take part: other op, or a flush */
#define CF_DIST_UNSAMPLED (UINT64_MAX - 3) /* takes part, but its line is not in the sample */
#define CF_DIST_LEAST     CF_DIST_UNSAMPLED

enum {
    CF_FROM_MEMORY = 255, /* in columns hit and level: no cache served the access */
    CF_MAX_CORES = 256,   /* that a model of caches may have: a row's core is cpu modulo cores */
};

/* Columns class and class_behind: why an access missed. Codes below 16 are in the order in which
   their misses can be avoided: where several lines of one access missed, the access has the
   greatest. Codes never change their meaning; rules of their own take new ones. */
enum cf_class {
    CF_CLASS_NONE = 0,          /* no miss, or not classified */
    CF_CLASS_COMPULSORY = 1,    /* a cache without bounds would have missed */
    CF_CLASS_CAPACITY = 2,      /* a fully associative LRU cache of equal size would have missed */
    CF_CLASS_CONFLICT = 3,      /* it would have hit */
    CF_CLASS_TRUE_SHARING = 4,  /* lost to another core, which wrote what is accessed now */
    CF_CLASS_FALSE_SHARING = 5, /* lost to another core, which wrote only other words */
    CF_CLASSES = 6,
    CF_CLASS_UNCLASSIFIED = 16, /* hardware missed though the model hits; or of no class (leon4) */
};

enum cf_perms { CF_PERM_R = 1, CF_PERM_W = 2, CF_PERM_X = 4, CF_PERM_SHARED = 8 };

/* Names. The functions return NULL or 0 for what the list above does not hold. */
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

/* What the YAML of a header says; a NULL or 0 is not stated. */
struct cf_header {
    char *clock_unit;      /* instructions, cycles, nanoseconds */
    uint64_t clock_hz;     /* ticks of the clock in a second */
    char *machine;         /* name of the machine that was observed */
    uint32_t line_size;    /* bytes, as its machine description says */
    char *source;          /* program that captured */
    char *command;         /* command line that was observed */
    struct cf_facts facts; /* of columns */
    unsigned chain;        /* programs so far; bits 24 to 31 of a string id name one of them */
    char *yaml;            /* the whole document, with what we do not know */
    size_t yaml_bytes;
    size_t facts_at, facts_end; /* of yaml: where `columns` stands, or could */
};

struct cf_data {
    uint16_t id;
    uint8_t type;  /* enum cf_type */
    uint8_t codec; /* enum cf_codec */
    uint32_t bytes;
    uint64_t base;
    uint64_t sum;
    const void *wire;   /* encoded, bytes long and padded to 8; NULL for a column set by us */
    const void *values; /* decoded: rows values of its type; NULL when not wanted */
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

enum cf_need { CF_OPTIONAL = 0, CF_REQUIRED = 1 };

/* The inputs one after the other; "-" or count 0 is standard input. `files` must stay as it is. A
   file that cannot be opened is a problem like a damaged one: reported, the rest is still read.
   NULL only without memory. */
struct cf_reader *cf_reader_open(char *const *files, int count) CF_MUST_CHECK;

/* Asks for a column to be decoded in every frame of the table. Where a required one is missing,
   the frame is not handed out and the problem names the column and the program that adds it. */
void cf_reader_want(struct cf_reader *r, unsigned table, unsigned column, enum cf_need need);

/* Asks for every column of every table. */
void cf_reader_want_all(struct cf_reader *r);

/* Makes string ids in decoded columns dense (1, 2, 3, ...) and valid over all segments. For
   programs that write no stream, or write every string anew. */
void cf_reader_unify(struct cf_reader *r);

/* Hands a packed frame out in pieces of CF_PIECE_ROWS, which stay in the second-level cache until
   they are read: each is a cf_frame with rows and values of its own, and with the rest, first, last
   and number too, of the whole. A frame that is damaged gives no piece. For programs that hand no
   frame on. */
void cf_reader_pieces(struct cf_reader *r);

/* Only frames of access and line that reach into [from, to]; with an index, the rest of a file is
   not read. Rows outside may still come in the frames at the edges. */
void cf_reader_range(struct cf_reader *r, uint64_t from, uint64_t to);

/* Only the bytes [from, to) of the one file, which must be a regular one: a segment's, for a
   program that knows where it begins and ends. Call before the first cf_reader_next(). */
void cf_reader_span(struct cf_reader *r, uint64_t from, uint64_t to);

/* Holds the index of each segment against its frames, at 40 bytes a frame. What an index says
   wrongly is damage. */
void cf_reader_check_index(struct cf_reader *r);

/* Bytes of memory that the frame at hand and what it is decoded with take. */
size_t cf_reader_memory(const struct cf_reader *r);

/* Bytes of memory that the strings of an input may take, and their ids: of a segment, with
   cf_reader_unify() of all. What goes beyond is damage, told once a segment, and reads as empty;
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

/* Name of a column or table, also of one that the stream itself declares; NULL if nobody does. */
const char *cf_reader_column_name(const struct cf_reader *r, unsigned column);
const char *cf_reader_table_name(const struct cf_reader *r, unsigned table);

/* A fact of a column, as text: NULL where it is not stated. As a number: 1, 0 where it is not
   stated, -1 where it is none, or above UINT64_MAX. */
const char *cf_header_fact(const struct cf_header *h, const char *column, const char *key);
int cf_header_number(const struct cf_header *h, const char *column, const char *key,
                     uint64_t *value) CF_MUST_CHECK;

/* What went wrong, "input: place: what: what to do", or NULL; and the number of damaged places. */
const char *cf_reader_problem(const struct cf_reader *r);
unsigned cf_reader_damages(const struct cf_reader *r);

/* Whether the problem is none of the input: memory is out, a file cannot be opened for want of
   descriptors, or not be read. cf_reader_next() has then ended early. */
int cf_reader_refused(const struct cf_reader *r);

/* Whether an errno is of that kind. */
int cf_is_refusal(int error);

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
   decoded now. No strings. Where it does not decode, that is a problem of the reader. */
const void *cf_late_values(const struct cf_frame *f, unsigned column);

/* Adds or replaces a column by rows values of its type, which stay the caller's and must live
   until the frame was written. -1 when the frame has no place left. */
int cf_frame_set(struct cf_frame *f, unsigned column, const void *values);
/* The same for a column that is not listed above; see cf_writer_name(). */
int cf_frame_set_as(struct cf_frame *f, unsigned column, enum cf_type type, const void *values);
void cf_frame_drop(struct cf_frame *f, unsigned column);

/* ---- writing ---- */

/* A column to write: `values` holds one value of the column's type a row; where it is NULL, every
   row has the value `constant`. */
struct cf_values {
    unsigned column;
    const void *values;
    uint64_t constant;
};

/* path NULL: standard output, for the next program; else a packed file, which is written beside
   its name and takes it when closed. Of a file that has the name it keeps the permissions, and a
   link stays one. `program` is the command line that the header's chain gets. NULL without memory;
   a file that cannot be made shows at the first write. */
struct cf_writer *cf_writer_open(const char *path, const char *program) CF_MUST_CHECK;

/* For what not everybody may know, before anything is written: only the owner may read a file that
   is made. One that has the name already keeps its permissions. */
void cf_writer_private(struct cf_writer *w);

/* Before anything is written: what is written cannot be made again. From the first rows on the file
   stands beside its name, with ".partial" added to it, and loses that when closed. Where it cannot
   be written to its end, or the program is killed, what is whole stays there. */
void cf_writer_recording(struct cf_writer *w);

/* The recording ends, but not what is recorded, or nothing was: cf_writer_close() writes no end
   frame (unless to a pipe that got no rows) and tells where the partial file is, if there is one.
   The file that had the name before is left alone. */
void cf_writer_cut(struct cf_writer *w);

/* Begins a segment. Captures call it; for filters, cf_writer_frame() of a CF_HEADER frame does.
   Fields that are NULL or 0 are left out; yaml, facts and chain are ignored. */
int cf_writer_header(struct cf_writer *w, const struct cf_header *header);

/* States a fact of a column that this program adds, for the segments that begin from now on: what
   earlier programs stated of the column is gone there. A fact that is stated again replaces itself.
   -1 when it is not taken, which also shows when the writer is closed. */
int cf_writer_fact(struct cf_writer *w, const char *column, const char *key, const char *text);
int cf_writer_number(struct cf_writer *w, const char *column, const char *key, uint64_t value);
/* States nothing of the column any more. */
void cf_writer_forget(struct cf_writer *w, const char *column);

/* Hands a frame on, with the columns that were set in it. Headers get our line in their chain.
   Where a column that was not wanted must be decoded for it and is damaged, the frame is left out
   and the reader tells of the damage. */
int cf_writer_frame(struct cf_writer *w, const struct cf_frame *f);

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
   come in `constants`. cf_writer_placed() tells how many rows were filled in, at most *rows, and
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

/* Declares a column (or, with 65536 added, a table) that is not listed above, for this segment;
   then cf_writer_rows() takes it. At most 64. */
int cf_writer_name(struct cf_writer *w, unsigned id, enum cf_type type, const char *name);

/* Sends what is held back (a pipe) or what a reader could not wait for; cheap when nothing is. To
   the file of a recording only what is some seconds old. */
int cf_writer_flush(struct cf_writer *w);

const char *cf_writer_problem(const struct cf_writer *w);

/* Writes index and end frame, closes and frees. `complete` 0: the stream ends without an end
   frame, so that readers know that it was cut off. -1 when anything could not be written, 1 when
   all was but cf_writer_cut() keeps the file from its name; the message is then left in `problem`,
   which holds `size` bytes. */
int cf_writer_close(struct cf_writer *w, int complete, char *problem, size_t size) CF_MUST_CHECK;

#endif
