/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_columns.h - which tables and columns there are, and what their values mean (cf-stream(5)). A
 * part of cf.h, which programs include.
 */
#ifndef CF_COLUMNS_H
#define CF_COLUMNS_H

#include <stdint.h>

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
    /* time pid op start end offset perms label build: a mapping comes or goes */                  \
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
    /* source label built: the path of a source file */                                            \
    T(CF_FILE, 23, "file", CF_TABLE_BEFORE)                                                        \
    /* time cpu pid tid count label: samples that the kernel lost, or throttled */                 \
    T(CF_LOST, 24, "lost", CF_TABLE_EVENT)                                                         \
    /* time cpu pid tid op size addr phys pc level weight insns: a memory access */                \
    T(CF_ACCESS, 32, "access", CF_TABLE_TIMED)                                                     \
    /* snapshot level cpu set way state phys addr pid: a valid line in a snapshot */               \
    T(CF_LINE, 33, "line", 0)                                                                      \
    /* region page sample runtime_cycles policy: one timing under a page policy */                 \
    T(CF_PAGE, 34, "page", 0)                                                                      \
    /* experiment parameter repeat level accesses misses time cpu method spoilt: a measurement */  \
    T(CF_PROBE, 35, "probe", 0)                                                                    \
    /* time op size addr master transfer burst: a transfer on a bus */                             \
    T(CF_BUS, 36, "bus", CF_TABLE_EVENT)                                                           \
    /* entry and those of key1.. text1.. sum1.. that it has: of the partial result of a program */ \
    T(CF_PARTIAL, 37, "partial", 0)

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
    C(CF_STAGE, 13, "stage", CF_U8, "cf-sample") /* enum cf_stage, of a sample */                  \
    C(CF_DATA_SRC, 14, "data_src", CF_U64, NULL) /* raw PERF_SAMPLE_DATA_SRC of a sample */        \
    C(CF_START, 16, "start", CF_U64, NULL)       /* first byte of a mapping */                     \
    C(CF_STOP, 17, "end", CF_U64, NULL)          /* first byte after a mapping */                  \
    /* byte offset in the mapped file; in an index, in the segment */                              \
    C(CF_OFFSET, 18, "offset", CF_U64, NULL)                                                       \
    C(CF_PERMS, 19, "perms", CF_U8, NULL)     /* enum cf_perms */                                  \
    C(CF_LABEL, 20, "label", CF_STR, NULL)    /* name of a mapping, task or column; a path */      \
    C(CF_BYTES, 21, "bytes", CF_U64, NULL)    /* size of a heap object in bytes */                 \
    C(CF_STACK_ID, 22, "stack", CF_U32, NULL) /* node of the calling-context tree, 0 = unknown */  \
    /* parent node (0 = root), or parent process of a task */                                      \
    C(CF_PARENT, 23, "parent", CF_U32, NULL)                                                       \
    C(CF_COUNT, 24, "count", CF_U64, NULL) /* instructions that a thread has executed */           \
    C(CF_BUILD, 25, "build", CF_STR, NULL) /* which build of a file is mapped */                   \
    /* when the program was linked that a source file is of: seconds since 1970, 0 = unknown */    \
    C(CF_BUILT, 26, "built", CF_U64, NULL)                                                         \
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
    C(CF_BEST, 47, "k", CF_U32, NULL)        /* pages that the policy names, of a page policy */   \
    C(CF_MASTER, 48, "master", CF_U32, NULL) /* number of the bus master */                        \
    /* of an AHB transfer, HTRANS: 0 idle, 1 busy, 2 first, 3 further */                           \
    C(CF_TRANSFER, 49, "transfer", CF_U8, NULL)                                                    \
    C(CF_BURST, 50, "burst", CF_U32, NULL)               /* of an AHB transfer, HBURST */          \
    C(CF_CALL_NUMBER, 51, "call", CF_U32, NULL)          /* of the observed function, from 1 */    \
    C(CF_ACCESSES, 52, "accesses", CF_U64, NULL)         /* that a measurement made */             \
    C(CF_METHOD, 53, "method", CF_U8, NULL)              /* of a measurement, enum cf_method */    \
    C(CF_SPOILT, 54, "spoilt", CF_U8, NULL)              /* the same, enum cf_spoilt */            \
    C(CF_REGION, 64, "region", CF_STR, "cf-resolve")     /* mapping that owns the record */        \
    C(CF_PAGENO, 65, "page", CF_U32, "cf-resolve")       /* index of the page in its mapping */    \
    C(CF_OBJ, 66, "object", CF_U32, "cf-resolve")        /* number of the heap object, 0 = none */ \
    C(CF_SITE, 67, "site", CF_STR, "cf-resolve")         /* allocation site of the object */       \
    C(CF_FUNCTION, 68, "function", CF_STR, "cf-resolve") /* function of pc */                      \
    C(CF_SOURCE, 69, "source", CF_STR, "cf-resolve")     /* file:line of pc */                     \
    C(CF_SYMBOL, 70, "symbol", CF_STR, "cf-resolve")     /* global variable at addr */             \
    /* functions into which `function` was inlined there: "main;outer" */                          \
    C(CF_INLINED, 71, "inlined", CF_STR, "cf-resolve")                                             \
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
    C(CF_CODE, 104, "code", CF_BLOB, NULL)                                                         \
    /* of a partial result: what a row of it is, by the program */                                 \
    C(CF_ENTRY, 112, "entry", CF_U8, NULL)                                                         \
    C(CF_KEY1, 113, "key1", CF_U64, NULL)                                                          \
    C(CF_KEY2, 114, "key2", CF_U64, NULL)                                                          \
    C(CF_KEY3, 115, "key3", CF_U64, NULL)                                                          \
    C(CF_KEY4, 116, "key4", CF_U64, NULL)                                                          \
    C(CF_KEY5, 117, "key5", CF_U64, NULL)                                                          \
    C(CF_KEY6, 118, "key6", CF_U64, NULL)                                                          \
    C(CF_KEY7, 119, "key7", CF_U64, NULL)                                                          \
    C(CF_KEY8, 120, "key8", CF_U64, NULL)                                                          \
    C(CF_KEY9, 121, "key9", CF_U64, NULL)                                                          \
    C(CF_KEY10, 122, "key10", CF_U64, NULL)                                                        \
    C(CF_TEXT1, 123, "text1", CF_STR, NULL)                                                        \
    C(CF_TEXT2, 124, "text2", CF_STR, NULL)                                                        \
    C(CF_TEXT3, 125, "text3", CF_STR, NULL)                                                        \
    C(CF_TEXT4, 126, "text4", CF_STR, NULL)                                                        \
    C(CF_TEXT5, 127, "text5", CF_STR, NULL)                                                        \
    C(CF_SUM1, 128, "sum1", CF_U64, NULL)                                                          \
    C(CF_SUM2, 129, "sum2", CF_U64, NULL)                                                          \
    C(CF_SUM3, 130, "sum3", CF_U64, NULL)                                                          \
    C(CF_SUM4, 131, "sum4", CF_U64, NULL)                                                          \
    C(CF_SUM5, 132, "sum5", CF_U64, NULL)                                                          \
    C(CF_SUM6, 133, "sum6", CF_U64, NULL)                                                          \
    C(CF_SUM7, 134, "sum7", CF_U64, NULL)                                                          \
    C(CF_SUM8, 135, "sum8", CF_U64, NULL)                                                          \
    C(CF_SUM9, 136, "sum9", CF_U64, NULL)                                                          \
    C(CF_SUM10, 137, "sum10", CF_U64, NULL)                                                        \
    C(CF_SUM11, 138, "sum11", CF_U64, NULL)                                                        \
    C(CF_SUM12, 139, "sum12", CF_U64, NULL)                                                        \
    C(CF_SUM13, 140, "sum13", CF_U64, NULL)                                                        \
    C(CF_SUM14, 141, "sum14", CF_U64, NULL)                                                        \
    C(CF_SUM15, 142, "sum15", CF_U64, NULL)                                                        \
    C(CF_SUM16, 143, "sum16", CF_U64, NULL)                                                        \
    C(CF_SUM17, 144, "sum17", CF_U64, NULL)                                                        \
    C(CF_SUM18, 145, "sum18", CF_U64, NULL)                                                        \
    C(CF_SUM19, 146, "sum19", CF_U64, NULL)                                                        \
    C(CF_SUM20, 147, "sum20", CF_U64, NULL)                                                        \
    C(CF_SUM21, 148, "sum21", CF_U64, NULL)                                                        \
    C(CF_SUM22, 149, "sum22", CF_U64, NULL)                                                        \
    C(CF_SUM23, 150, "sum23", CF_U64, NULL)                                                        \
    C(CF_SUM24, 151, "sum24", CF_U64, NULL)

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

/* Column stage: what a sample is of (cf-sample(1)); 0 is no sample. */
enum cf_stage {
    CF_STAGE_COARSE = 1, /* it stands for as many accesses as column weight says */
    CF_STAGE_FINE = 2,   /* every access of an instruction for a while; weight 0 */
};

/* How a snapshot came to be: the modes of "Observing the Invisible", sections 5 and 6. */
enum cf_mode {
    CF_MODE_FLUSH = 1,       /* the cache was emptied after it; else it is transparent */
    CF_MODE_SYNCHRONOUS = 2, /* the observed tasks were stopped */
    CF_MODE_RESOLVED = 4,    /* pid and virtual address are the kernel's */
    CF_MODE_LAYOUT = 8,      /* mappings were read with it */
    CF_MODE_EVENT = 16,      /* an event asked for it; else a timer */
    CF_MODE_MODEL = 32,      /* of a modelled cache */
};

/* Which pages are cached, of table page. */
enum cf_page_policy {
    CF_PAGES_NONE = 1,
    CF_PAGES_ALL = 2,
    CF_PAGES_ONLY = 3,    /* this page alone */
    CF_PAGES_BUT = 4,     /* all but this page */
    CF_PAGES_BEST = 5,    /* the best k */
    CF_PAGES_MIGRATED = 6 /* the best k have new frames */
};

/* How a measurement of table probe was made; 0 is not known. */
enum cf_method {
    CF_METHOD_COUNTER = 1, /* misses are an event's count */
    CF_METHOD_CLOCK = 2,   /* the time of all accesses together, no misses */
    CF_METHOD_EACH = 3,    /* the time of each access: misses are those above a limit */
};

/* Why a measurement of table probe is not to be trusted. */
enum cf_spoilt {
    CF_SPOILT_NOT = 0,
    CF_SPOILT_DRIFT = 1,       /* the reference loop took another time than before */
    CF_SPOILT_MIGRATED = 2,    /* the CPU changed meanwhile */
    CF_SPOILT_MULTIPLEXED = 3, /* the counter did not count all the time */
    CF_SPOILT_DISTURBED = 4,   /* accesses missed that always hit, or the other way round */
};

/* A line's state in column `state`; 0 is not known. */
enum cf_state {
    CF_STATE_MODIFIED = 1,
    CF_STATE_OWNED = 2,
    CF_STATE_EXCLUSIVE = 3,
    CF_STATE_SHARED = 4,
    CF_STATE_UNIQUE = 5, /* modified or exclusive: tags that do not distinguish these */
    CF_STATE_COMMON = 6, /* owned or shared, the same */
    CF_STATE_NON_SECURE = 128,
};

/* What column dist holds where there is no distance: the values from CF_DIST_LEAST up. */
#define CF_DIST_COMPULSORY UINT64_MAX       /* first access to the line: infinite */
#define CF_DIST_BEYOND     (UINT64_MAX - 1) /* accessed before, farther away than was asked for */
#define CF_DIST_NONE       (UINT64_MAX - 2) /* does not take part: other op, or a flush */
#define CF_DIST_UNSAMPLED  (UINT64_MAX - 3) /* takes part, but its line is not in the sample */
#define CF_DIST_LEAST      CF_DIST_UNSAMPLED

enum {
    CF_FROM_MEMORY = 255, /* in columns hit and level: no cache served the access */
    /* in column level: the first level missed, and no level of this core's is known to have served
       it, such as a fill buffer or another core's cache */
    CF_FROM_BEYOND = 254,
    CF_MAX_CORES = 256, /* that a model of caches may have: a row's core is cpu modulo cores */
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
    /* of lines or objects that the allocator placed (cacheperf) */
    CF_CLASS_ALLOCATOR_CONFLICT = 6,
    CF_CLASS_ALLOCATOR_FALSE_SHARING = 7,
    CF_CLASSES = 8,
    CF_CLASSES_MODELLED = CF_CLASS_ALLOCATOR_CONFLICT, /* those before it, of modelled caches */
    CF_CLASS_UNCLASSIFIED = 16, /* hardware missed though the model hits; or of no class (leon4) */
};

enum cf_perms { CF_PERM_R = 1, CF_PERM_W = 2, CF_PERM_X = 4, CF_PERM_SHARED = 8 };

#endif
