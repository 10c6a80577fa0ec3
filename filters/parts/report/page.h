/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.h - the parts of cf-report's page: what a recording is, where it misses and why, in one
 * reading of what other programs of the suite have annotated.
 *
 * Memory: sums by function, source line, allocation site, global variable and thread, and by each
 * address that threads fight over; a bit for each line; the map of pages over time.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "filters/engine/distance/curve.h"
#include "filters/heat/heat.h"
#include "filters/parts/report/lost.h"
#include "filters/ranking/ranking.h"
#include "formats/machine/cf_machine.h"
#include "formats/program/cf_chain.h"

struct page_options {
    const char *machine, *html, *record;
    uint32_t cores, top;
    char **command; /* what is to be recorded, or NULL */
};

/* A process that ran. Without table switch its instructions are not known, and 0. */
struct page_process {
    uint64_t pid, instructions, accesses, misses;
    const char *name;
};

/* Rankings that share the sums. */
enum page_table {
    PAGE_FUNCTIONS,
    PAGE_SOURCES,
    PAGE_SITES,
    PAGE_SYMBOLS,
    PAGE_THREADS,
    PAGE_TABLES
};

enum { PAGE_OPS = CF_FLUSH + 1, PAGE_LEVELS = 256, PAGE_BINS = 120 };

/* An address in a line that threads fight over. */
struct page_fight {
    uint64_t pid, line, addr, tid, sharing[2]; /* true and false */
    const char *source, *name; /* name: of the variable, or where it was allocated; or "" */
};

struct page {
    struct cf_tool *tool;
    struct page_options o;
    struct cf_machine *machine;
    unsigned cores;
    struct cf_reader *reader;
    int interleaved; /* threads stand side by side, by cf-merge or on the CPUs of the recording */
    int in_order;    /* processes of one thread each, on one core of several */

    char *command, *unit, *source;
    char *recorded[CF_RECORDED];
    /* of the recording, before it is annotated */
    uint64_t ticks;               /* of time, in all segments */
    struct page_process *process; /* by pid */
    size_t processes;
    char *problem;              /* what is wrong with it, or NULL */
    int lacks_names;            /* function or mapping */
    int placed, lacks_tid;      /* accesses say on which CPU they were; not of which thread */
    int several, threaded;      /* threads or processes; threads of one process by table switch, */
    int threads;                /* and by accesses, where nothing else says where they ran */
    int switched, side_by_side; /* there is table switch, of several processors */
    int units_differ, hosts_differ; /* of its segments */

    uint64_t served[PAGE_OPS][PAGE_LEVELS]; /* accesses by what served them */
    uint64_t class[CF_CLASSES_MODELLED];
    uint64_t unplaced; /* rows of accesses without an address */
    struct lost lost;
    int in_turns; /* threads could not be put side by side */

    struct cf_sums sums, sharing_sums;
    unsigned misses, last_misses, classes[CF_CLASSES_MODELLED]; /* which sums they are; 0: none */
    struct cf_ranking table[PAGE_TABLES], sharing;
    struct cf_ranked ranked[PAGE_TABLES];
    struct page_fight *fight; /* the line with most first */
    size_t fights;

    struct cf_curve *curve;
    uint64_t *size; /* lines, rising */
    size_t sizes;
    uint32_t *group;                               /* of each row of a frame */
    uint64_t *curve_misses, curve_all, compulsory; /* accesses, all by loads and stores */
    uint64_t touched;                              /* lines */
    struct cf_counts *lines;                       /* by process and line / 64, a bit each */
    struct heat *heat;
    struct heat_map map;
};

/* ---- page_chain.c: the programs that annotate ---- */

/* Records the command if there is one, looks at the recording, and has standard input be what the
   others make of it. */
struct cf_chain page_chain(struct page *p, char *const *files, int count);

/* ---- page_look.c ---- */

/* Exits where it is no recording of accesses; finds out what columns it has. */
void page_look_at_kind(struct page *p, char *const *file);
/* Finds out the rest that is said above; warns of segments that do not go together. */
void page_look_through(struct page *p, char *const *file);

/* ---- page_processes.c ---- */

/* From the ranking of threads: what each process did; the first of its threads names it. */
void page_make_processes(struct page *p);

/* ---- page_read.c ---- */

void page_read(struct page *p);
/* Sorts. */
void page_finish(struct page *p);
void page_free(struct page *p);

/* A level of the machine in the report: accesses that came to it, and those that went on, but for
   prefetches and flushes. */
struct page_level {
    const struct cf_level *level;
    uint64_t accesses, misses;
};
/* Up to CF_MAX_LEVELS of them; how many. */
unsigned page_levels(const struct page *p, struct page_level *out);
/* Instructions of the recording, 0 where its clock counts something else. */
uint64_t page_instructions(const struct page *p);
/* Processes with accesses; those that began and have none. */
uint64_t page_processes(const struct page *p);
uint64_t page_silent(const struct page *p);
/* What helps against the class of which most misses are. */
const char *page_advice(const struct page *p, const uint64_t *sum);
/* The entries of a table that are shown, without the key that has no name; next one from *at on. */
const struct cf_rank_item *page_item(const struct page *p, enum page_table table, size_t *at);
const char *page_item_name(const struct page *p, enum page_table table,
                           const struct cf_rank_item *i);
/* Sum over a whole table. */
uint64_t page_sum(const struct page *p, unsigned sum);

/* ---- page_text.c, page_json.c ---- */

void page_print(const struct page *p, FILE *out);
void page_json(const struct page *p, FILE *out);
int page_html(const struct page *p, FILE *out) CF_MUST_CHECK;

extern const char *const page_titles[PAGE_TABLES];
extern const char *const page_names[PAGE_TABLES];

#endif
