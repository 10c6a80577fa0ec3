/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.h - the parts of cf-capture-pages, the UProfiler of BBProf: the mappings of a program and
 * its pages, one run of it, what the module does to its pages, and which runs are made.
 */
#ifndef CF_PAGES_PAGES_H
#define CF_PAGES_PAGES_H

#include <sys/types.h>

#include "capture/base/cf_command.h"
#include "capture/base/cf_device.h"
#include "capture/events/names.h"
#include "capture/watch/watch.h"
#include "capture/watch/watch_stub.h"
#include "formats/program/cf_tool.h"
#include "kmod/pagectl/pagectl.h"

enum { PAGES_SHIFT = 12, PAGES_SIZE = 1 << PAGES_SHIFT };

/* As --regions names them. */
enum pages_kind {
    PAGES_TEXT,
    PAGES_RODATA,
    PAGES_DATA,
    PAGES_BSS,
    PAGES_HEAP,
    PAGES_STACK,
    PAGES_ANON,
    PAGES_LIB,
    PAGES_KINDS,
    PAGES_NO_KIND = PAGES_KINDS /* shared, of the kernel, a guard, a file that is no program */
};

struct pages_mapping {
    uint64_t start, end; /* bytes */
    uint64_t offset;     /* in the file */
    uint64_t base;       /* from where pages count; of a stack its end */
    unsigned flags;      /* PAGECTL_READ ... */
    enum pages_kind kind;
    int part;         /* of the kernel it is one mapping with the one before */
    const char *name; /* as in maps, "" without */
    char *region;     /* as cf-resolve has it; NULL without a kind */
};

/* The mappings of a process, as /proc/PID/maps lists them. */
struct pages_layout {
    char *text, *names; /* as read; the same, cut into names */
    size_t bytes;
    struct pages_mapping *mapping;
    size_t count, room;
    uint64_t ours; /* where a mapping begins that we had it make; 0: there is none */
};

/* What the program has mapped, by its system calls: see anon.c. */
struct pages_call {
    uint64_t start, end;
    uint64_t base;   /* from where its pages count */
    uint32_t number; /* of memory without a name, in the order of first mappings; 0: of a file */
};
struct pages_calls {
    struct pages_call *live; /* in the order of addresses */
    size_t count, room;
    struct pages_call *first; /* each address at which memory without a name began, in order */
    size_t firsts, first_room;
};

/* A page that is looked into, or with --group several; it is the same in every run. */
struct pages_page {
    uint32_t mapping; /* its number in the layout */
    uint32_t number;  /* in its region */
    uint32_t unit;    /* what it is changed with */
};
struct pages_unit {
    uint32_t mapping, number; /* of its first page */
    uint32_t pages;
    uint32_t place; /* in the order of --rank */
};

struct pages_options {
    const char *device, *output, *function, *rank, *counters;
    uint32_t call, samples, group, migrate; /* migrate 0: not asked for */
    unsigned mode;                          /* enum cf_page_policy: CF_PAGES_ONLY or CF_PAGES_BUT */
    unsigned kinds;                         /* bits of enum pages_kind */
    int bisect, resume;
    int cpu, priority; /* -1, 0: not asked for */
    char **argv;       /* of the program */
};

/* What a run is for. */
enum pages_purpose {
    PAGES_MEMORY, /* how much memory the program takes */
    PAGES_LAYOUT, /* which mappings and pages it has then */
    PAGES_SAMPLE  /* time */
};

enum { PAGES_COUNTERS = 8 };

struct pages_counter {
    const char *name;   /* of the event */
    const char *column; /* the same in letters of a column's name */
    unsigned id;        /* of the column */
    struct cf_perf_name is;
};

/* What one run has measured. */
struct pages_reading {
    uint64_t cycles, counter[PAGES_COUNTERS];
};

enum { PAGES_ENTRY, PAGES_RETURN }; /* points of the watch */

/* The time between the two stops of a run. */
struct pages_between {
    struct cf_watch_stub stub;        /* without a page: time is taken at the stops */
    struct pages_reading start, cost; /* at the entry; of an empty function */
};

struct pages_row { /* of an earlier output */
    const char *region;
    uint32_t page, sample, best, call;
    struct pages_reading reading;
    uint8_t policy;
};

struct pages {
    struct cf_tool tool;
    struct pages_options o;
    struct cf_command command;
    struct cf_watch_point point[2]; /* entry of the function, and its return */
    struct cf_device device;
    struct pagectl_info info;
    unsigned uncached; /* enum pagectl_policy */
    struct cf_writer *writer;
    off_t input;        /* where standard input begins, -1: it cannot be read twice */
    uint64_t pad;       /* bytes of heap from the begin */
    char at_stops[256]; /* why time is taken there, and not in the program; "": it is not */
    struct pages_layout layout;
    struct pages_calls calls; /* of the run that found it */
    char *build;              /* of its program and libraries */
    char *profile;            /* a sum of what --rank says, or NULL */
    struct pages_page *page;
    size_t pages, page_room;
    struct pages_unit *unit;
    size_t units, unit_room;
    uint64_t untouched, refused[PAGECTL_NOT_TRIED + 1], other; /* pages that are left out */
    uint64_t dropped;                                          /* samples */
    struct pages_counter counter[PAGES_COUNTERS];
    unsigned counters;
    int *event; /* of each thread, one a counter */
    size_t events, event_room;
    struct pages_row *earlier;
    size_t earlier_rows, earlier_room;
    struct cf_fact *earlier_fact; /* of runtime_cycles */
    size_t earlier_facts, earlier_fact_room;
    uint64_t rows; /* written */
    int ended;     /* of the last run, as by waitpid() */
};

/* What one run has its pages like, and what came of it. */
struct pages_run {
    enum pages_purpose purpose;
    const uint8_t *off;   /* by unit: it is not cached; NULL: all are */
    const uint32_t *move; /* units that are migrated, or NULL */
    size_t moves;
    struct pages_reading reading;
    int lost;      /* the function did not return */
    char why[256]; /* the sample is none; "": it is one */
};

/* ---- counters.c ---- */

/* --counters: names with commas between. Exits where one is unknown, or cannot be counted here. */
void pages_counters_take(struct pages *k, char *list);
/* What the stream's columns are, before the first rows: once before the header, and once behind. */
void pages_counters_fact(struct pages *k);
void pages_counters_declare(struct pages *k);
/* Of all threads of the process, which stand. Exits where it cannot be had. */
void pages_counters_open(struct pages *k, pid_t pid);
/* The counters so far. -1: one did not count all the time. */
int pages_counters_read(const struct pages *k, struct pages_reading *r);
void pages_counters_close(struct pages *k);

/* ---- layout.c, list.c ---- */

/* Whether a mapping has no name. */
int pages_anonymous(const struct pages_mapping *m);
/* 0; -1 when the process is gone or there is no memory. What begins at `ours` has no kind. */
int pages_layout_read(struct pages_layout *l, pid_t pid, uint64_t ours);
void pages_layout_free(struct pages_layout *l);
/* Which builds of program and libraries a layout has: "NAME BUILD, ...". NULL without memory. */
char *pages_layout_build(const struct pages_layout *l);
/* Whether two runs of a program have the same mappings, wherever these are; else says in `why` what
   differs. */
int pages_layout_same(const struct pages_layout *a, const struct pages_layout *b, char *why,
                      size_t size);
/* Whether the mappings of one process have changed meanwhile; says in `why` what has. */
int pages_layout_changed(const struct pages_layout *before, const struct pages_layout *now,
                         char *why, size_t size);
/* Bytes that the process has taken at most for its heap and for memory without a name. */
uint64_t pages_memory(pid_t pid, const struct pages_layout *l);
uint64_t pages_address(const struct pages_layout *l, const struct pages_page *p);
/* The pages of k->layout that the process has in memory; those of no kind that is asked for are
   left out. */
void pages_list(struct pages *k, pid_t pid);
/* Numbers what pages are changed together. */
void pages_units(struct pages *k);
/* The unit of that name, or k->units. */
size_t pages_find_unit(const struct pages *k, const char *region, uint32_t number);

/* ---- anon.c ---- */

/* A system call of the program has returned. -1 without memory. */
int pages_calls_take(struct pages_calls *c, const struct cf_watch_call *call);
/* Divides what the kernel has as one mapping into those that the program made, and names them.
   -1 without memory. */
int pages_layout_divide(struct pages_layout *l, const struct pages_calls *c);
/* Divides the layout of another run of the program likewise, as far as it is the same. */
int pages_layout_like(struct pages_layout *l, const struct pages_layout *of);

/* ---- attributes.c: calls of the module; each exits where it refuses ---- */

void pages_open_device(struct pages *k);
void pages_target(struct pages *k, pid_t pid, const struct pages_layout *l);
/* Changes what the run asks for. -1 with run->why where a page could not be changed. */
int pages_apply(struct pages *k, const struct pages_layout *l, struct pages_run *run);
/* -1 with run->why where pages are not any more as the run asked for. */
int pages_held(struct pages *k, const struct pages_layout *l, struct pages_run *run);
/* Tries all pages, and leaves those out that cannot be changed. */
void pages_try(struct pages *k);
void pages_restore(struct pages *k);

/* ---- between.c; the thread stands at the function's first instruction ---- */

/* Has it map what reads the counter in the program, if the run is to. Where that cannot be,
   k->at_stops says why, or where it could before, run->why. */
void pages_between_map(struct pages *k, struct cf_watch *w, pid_t tid, struct pages_between *b,
                       struct pages_run *run);
/* Puts the trap behind the return, to where the function returns to, and measures what an empty
   function takes. -1 with errno. */
int pages_between_ready(struct pages *k, struct cf_watch *w, pid_t tid, struct pages_between *b,
                        uint64_t to);
/* The time begins: to be let go right after it. */
void pages_between_begin(struct pages *k, struct cf_watch *w, pid_t tid, struct pages_between *b,
                         struct pages_run *run);
/* It stands at the trap, which was reported at the time `now`: run->reading, or run->why. */
void pages_between_end(struct pages *k, pid_t tid, const struct pages_between *b, uint64_t now,
                       struct pages_run *run);

/* ---- run.c ---- */

/* Runs the program once: 0; or -1 when a signal asked us to end. Exits where no run can succeed. */
int pages_run(struct pages *k, struct pages_run *run);

/* ---- order.c ---- */

/* Gives each unit its place by --rank, and k->profile. */
void pages_order(struct pages *k);

/* ---- plan.c ---- */

/* Makes all runs but the first two. */
void pages_plan(struct pages *k);
void pages_emit(struct pages *k, enum cf_page_policy policy, const struct pages_unit *unit,
                uint32_t best, uint32_t sample, const struct pages_reading *r);
/* One run; its row, or why it is none. Returns whether to go on. */
int pages_measure(struct pages *k, struct pages_run *run, size_t number, size_t of);

/* ---- search.c ---- */

/* The same for --bisect. */
void pages_bisect(struct pages *k);

/* ---- resume.c ---- */

/* Reads the rows of an earlier output into k->earlier: FILE.partial, which was cut off, or FILE. */
void pages_earlier_read(struct pages *k);
/* What the header will state of the runtimes: exits where the earlier ones have another. */
void pages_earlier_check(const struct pages *k, const char *key, const char *value);
/* Before the new output is written: FILE.partial is FILE.resumed until pages_earlier_done(). */
void pages_earlier_keep(struct pages *k);
void pages_earlier_done(struct pages *k);

/* ---- options.c ---- */

void pages_options(struct pages *k, int argc, char **argv);
/* Those of --regions, to be freed. */
char *pages_regions(const struct pages *k);

#endif
