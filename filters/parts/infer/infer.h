/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * infer.h - what the files of cf-infer share: the series of measurements that were read, what is
 * known of each cache and how, and the machines that this is held against or filled up from.
 */
#ifndef INFER_H
#define INFER_H

#include "filters/engine/infer/geometry.h"
#include "filters/picture/output.h"
#include "formats/machine/cf_machine.h"
#include "formats/program/cf_tool.h"

enum { SERIES_MOST = 1024, UNKNOWN_MOST = 8, EVIDENCE_MOST = 8, CACHES_MOST = 2 * CF_MAX_LEVELS };

/* The experiments of table probe (cf-stream(5)). */
enum experiment {
    X_SIZE,
    X_CAPACITY,
    X_ASSOCIATIVITY,
    X_LINE,
    X_BLOCK,
    X_WAY_SIZE,
    X_APART,
    X_PAIR,
    X_PAGES,
    X_LATENCY,
    X_TLB,
    X_INCLUSION,
    X_WAYS,
    X_LEVELS,
    X_WINDOW,
    X_INDEX,
    X_SHARE,
    X_REFERENCE,
    X_POLICY,
    X_KNOWN,
};

struct experiment_kind {
    const char *name, *axis; /* axis: what the parameter is */
    enum { NO_CHANGE, GEOMETRY, REACH } use;
    enum cf_measures of;
    struct cf_change_rule rule;
};
extern const struct experiment_kind experiment_kinds[X_KNOWN];

/* An experiment at one level. */
struct series {
    enum experiment is;
    int code; /* of instructions */
    uint8_t level;
    uint32_t string;   /* the experiment's name */
    size_t from, rows; /* its measurements, once they are sorted */
    struct cf_points points;
    struct cf_change change; /* where the kind has one */
};

/* Parameters of experiment inclusion: see exclusive.c; LINE_HOT: a line that the level before
   keeps, of a set in which others are visited, which an inclusive level takes from it; FILLED,
   BLOCKS: see policy.c. */
enum {
    LINES_OF_A_SET = 1,
    LINE_KEPT,
    LINE_LEFT,
    LINE_NEAR,
    LINE_LUCK,
    ONE_MORE,
    LINE_HOT,
    FILLED,
    BLOCKS
};

/* What is known of a cache. */
enum what { SIZE, WAYS, LINE, LATENCY, WHATS };
extern const char *const what_names[WHATS];

enum how { NOT_MEASURED, NOT_TOLD, MEASURED, ASSUMED };
extern const char *const how_names[];

struct value {
    enum how how;
    uint64_t is; /* 0: no estimate */
    uint64_t least, most;
    double confidence;
    char by[160]; /* the experiments; of NOT_TOLD, why; of ASSUMED, whose value it is */
};

/* Its replacement policy. */
struct policy {
    enum how how;
    enum cf_replacement is; /* where it is MEASURED, */
    unsigned same;          /* and those that are the same with so many ways, by bit; it, too */
    double confidence;
    char by[240]; /* the experiment, and what else it may be called; why it cannot be told */
};

struct cache {
    unsigned level; /* CF_FROM_MEMORY: the memory, which has a latency alone */
    int code;
    enum cf_kind kind;
    char name[32];
    struct value value[WHATS];
    struct policy policy;
    int exclusive;                  /* as was measured; -1: not, or it cannot be told */
    int inclusive;                  /* 0: it is not, as was measured; else -1 */
    int index;                      /* 0 plain, 1 hashed; -1: not known */
    const char *index_why;          /* it cannot be told, or NULL */
    unsigned shared_by, others;     /* of so many other CPUs; 0: not known */
    const struct cf_level *assumed; /* what else is assumed is this one's */
    int whole;                      /* size, ways and line are measured or assumed */
};

struct tlb {
    uint64_t page_size; /* bytes; 0: not stated */
    struct value entries;
};

struct options {
    const char *assume, *compare;
    double least; /* confidence of what is told */
    struct cf_output output;
};

struct infer {
    struct cf_tool tool;
    struct options o;
    struct cf_reader *reader;
    struct cf_measurement *row;
    size_t rows, room;
    struct series series[SERIES_MOST];
    unsigned count;
    struct {
        uint32_t string;
        uint64_t rows;
    } unknown[UNKNOWN_MOST];
    unsigned unknowns;
    uint64_t spoilt;
    /* of the first header */
    int header_seen;
    char *machine, *host, *cpu, *date, *unit;
    uint64_t hz, page_size, frame_size; /* frame: of the physical memory of an address */
    struct cache cache[CACHES_MOST];    /* from the core outwards, the memory last */
    unsigned caches;
    struct tlb tlb[CF_MAX_TLBS];
    unsigned tlbs;
    struct cf_machine *assumed, *claimed;
};

/* ---- read.c ---- */

/* Takes all rows in; exits where they are of two machines. */
void read_rows(struct infer *f);

/* ---- known.c: what the series say of each cache ---- */

void find_changes(struct infer *f);
void know(struct infer *f);
int is_told(const struct value *v);
/* Whether it was no machine that was measured: what it repeats is the same. */
int is_model(const struct infer *f);
/* Level of this depth, for instructions or else for data, or NULL. */
const struct cf_level *level_like(const struct cf_machine *m, unsigned depth, int code);
/* Cycles of a load, or of a fetch, that such a level or memory serves, whatever the description's
   rule is: those of the levels before it included. 0 where it does not state them. */
uint64_t stated_latency(const struct cf_machine *m, unsigned depth, int code);

/* ---- policy.c ---- */

/* What the sequences measured say of a cache whose ways are known. */
void know_policy(const struct infer *f, struct cache *c);
/* ---- relation.c ---- */

/* Index, sharing and inclusion of a level whose size and ways are known. */
void know_relations(const struct infer *f, struct cache *c);

/* ---- exclusive.c ---- */

/* What was found to fit in a level may be what it holds with the level before it, where it is
   exclusive: makes size and ways its own, or takes them back where that cannot be told. */
void settle_inclusion(const struct infer *f, struct cache *c, const struct cache *before);

/* ---- describe.c, estimates.c, infer_picture.c, infer_html.c ---- */

/* The description; 0 where no cache is known, and nothing was printed. */
int print_description(const struct infer *f, FILE *out);
void print_estimates(const struct infer *f, FILE *out);
void print_comparison(const struct infer *f, FILE *out);

/* "L1D size": of which cache a series is, and its experiment; "L2 tlb" and "latency.code" where
   that is not known. No two have the same. */
void series_name(const struct infer *f, const struct series *s, char *to, size_t size);
void draw_series(const struct infer *f);
/* What one picture or page shows. */
struct sheet {
    const struct infer *f;
    const struct series *const *series;
    unsigned count;
};
int infer_html(const void *what, FILE *out);

#endif
