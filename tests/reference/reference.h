/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reference.h - a slow model of caches, written from the manuals to be obviously right, and what
 * compares the programs with it. It shares no code with the engines, only the list of policies: a
 * set is an array of ways, a way a struct, every rule a function that names the section of the
 * manual that it follows.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdint.h>
#include <stdio.h>

#include "formats/machine/cf_machine.h"

enum { LEVELS = 16, CORES = 64, MEMORY = -1, FROM_MEMORY = 255 };

enum op { LOAD = 1, STORE, IFETCH, PREFETCH, FLUSH, OPS };
enum kind { UNIFIED, DATA, INSTRUCTION };
enum inclusion { NON_INCLUSIVE, INCLUSIVE, EXCLUSIVE };
enum prefetcher { NO_PREFETCHER, NEXT_LINE, STRIDE };
enum miss { NO_MISS, COMPULSORY, CAPACITY, CONFLICT, TRUE_SHARING, FALSE_SHARING, CLASSES };

/* One level as cf-machine(5) describes it, and what options of cf-cache(1) add. */
struct level {
    enum kind kind;
    unsigned ways, sets, line; /* line: bytes */
    unsigned shared_by;
    enum cf_replacement policy;
    int through, no_allocate;
    enum inclusion inclusion;
    unsigned depth;
    int latency; /* states one */
    enum prefetcher prefetcher;
    uint64_t mask[CORES]; /* ways that a core may fill; 0: all */
};

struct machine {
    unsigned cores, levels;
    uint64_t seed;
    struct level level[LEVELS]; /* their names are L0, L1, ... by index */
};

struct row {
    uint64_t addr, phys;
    uint32_t size, cpu, pid, tid;
    uint8_t op;
    uint8_t cut;   /* a frame ends behind it */
    uint32_t page; /* where the stream has pages */
};

/* The rows, and which columns the stream has. */
struct stream {
    struct row *row;
    unsigned rows;
    int has_op, has_size, has_cpu, has_pid, has_tid, physical;
    int has_page; /* and region */
};

/* ---- model.c: the hierarchy ---- */

/* In the order in which the summary of cf-cache(1) prints them. */
enum count {
    LOADS,
    LOAD_MISSES,
    STORES,
    STORE_MISSES,
    IFETCHES,
    IFETCH_MISSES,
    PREFETCHES,
    PREFETCH_MISSES,
    WRITES,
    WRITE_MISSES,
    WRITEBACKS,
    EVICTIONS,
    INVALIDATIONS,
    BACK_INVALIDATIONS,
    FLUSHES,
    PREFETCHES_ISSUED,
    PREFETCHES_USEFUL,
    COUNTS
};
extern const char *const count_names[COUNTS];

/* How a reference comes to a level: a read, which stores cause too; a store that goes on; a line
   that the level before gives back; a flush. */
enum how { READ, STORED, WRITTEN, FLUSHED };

/* A reference to a line that reached a level. */
struct reference {
    int level;
    unsigned cache;
    uint32_t process;
    uint64_t number;      /* of the line: address / bytes of this level's line */
    uint64_t first, last; /* bytes that the row accesses */
    enum op op;           /* that it counts as */
    enum how how;
    int missed;
};

struct model;
typedef void listener(void *arg, const struct reference *r);

/* `f` may be NULL; it gets every reference to every level, and flushes for every cache. */
struct model *model_new(const struct machine *m, listener *f, void *arg);
void model_free(struct model *m);
/* Column hit of the row. `core`, and `process` in the order of appearance, are the caller's. */
unsigned model_row(struct model *m, const struct row *r, unsigned core, uint32_t process);
/* Index `levels` is memory. */
const uint64_t *model_counts(const struct model *m, unsigned level);
/* First level that serves data or instruction fetches, or MEMORY. */
int first_level(const struct machine *m, int fetch);
int serves(const struct level *l, int fetch);
unsigned caches_of(const struct machine *m, int level);
int is_exclusive(const struct machine *m, int level);
/* NULL, or why cf-cache(1) would not model it. */
const char *not_modelled(const struct machine *m);

/* ---- classes.c: rule hill of cf-classify(1) ---- */

struct classes;
/* `level`: as --level, or -1. */
struct classes *classes_new(const struct machine *m, int level);
void classes_free(struct classes *c);
listener classes_see; /* `arg` is the struct classes */
/* Class of the row whose references were seen since the last call. */
unsigned classes_row(struct classes *c);
/* References and misses by class, of the op; `misses` has CLASSES places. 0 where the summary has
   no row of that level and op. */
uint64_t classes_counts(const struct classes *c, unsigned level, enum op op, uint64_t *misses);

/* ---- random.c ---- */

struct run {
    uint64_t seed;
    struct machine machine;
    struct stream stream;
    int classify_level; /* --level of cf-classify, or -1 */
};

/* The run of this seed; the rows are malloc'ed. */
void random_run(struct run *r, uint64_t seed);
void print_machine(FILE *out, const struct machine *m);
/* As cf-capture-csv(1) reads them. */
void print_rows(FILE *out, const struct stream *s);

/* ---- programs.c ---- */

/* Makes a directory for files and looks for the programs in bin/ under `build`. */
void programs_begin(const char *build);
void programs_end(void);

/* ---- compare.c ---- */

/* Runs the programs and the model over it. 0 if they agree; else `what` says what differs. */
int compare_run(const struct run *r, char *what, size_t size);
/* Runs the model over the stream: hit and class of each row. `c` may be NULL, it is then for
   cf-cache. */
void run_model(struct model *m, struct classes *c, const struct run *r, uint8_t *hit,
               uint8_t *class);
/* The core of each row. */
void cores_of(const struct run *r, unsigned *core);

/* ---- pages.c ---- */

/* The same of cf-pages, whose runs are made here one page and one k after the other. 1: the run is
   none for it. */
int compare_pages(const struct run *r, char *what, size_t size);
/* How many of these were of which kind; 0: a kind that is to be among them was not. */
int compared_pages(char *what, size_t size);

/* Leaves rows out as long as the programs and the model still differ. */
void shrink_run(struct run *r);
/* Everything that it takes to see it again, each line behind "# ". */
void print_run(FILE *out, const struct run *r);

/* ---- examples.c ---- */

/* Example number `i`, from 0: does the model do what the manuals say, and the programs what the
   model does? -1 when there is none of the number. */
int check_example(unsigned i, const char **name, char *what, size_t size);

#endif
