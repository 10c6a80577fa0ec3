/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cacheperf_parts.h - what the files of the engine share: the stores, and how a row is read.
 */
#ifndef CF_CACHEPERF_PARTS_H
#define CF_CACHEPERF_PARTS_H

#include "filters/engine/classes/cacheperf.h"
#include "filters/engine/rows/counts.h"
#include "filters/engine/rows/sets.h"

enum {
    CFP_RUN = 64,      /* accesses that the paper's breakpoint collects at most */
    CFP_SHARES = 1680, /* of an access: equal for all but 9, 11 and 13 words */
    CFP_FEW = 20,      /* less than a twentieth is few */
    CFP_SLACK = 4,     /* times as many misses as the stores explain: both are samples */
};

/* A sample that takes part. */
struct cfp_sample {
    uint64_t addr, pc, weight, line;
    uint32_t pid, tid, object, source, size;
    int store, miss, known, fine;
};

/* Misses of a window, the oldest first. */
struct cfp_miss {
    uint64_t at, row; /* sample of the window, row of the stream */
};

struct cfp_window {
    uint64_t seen; /* samples so far */
    struct cfp_miss *miss;
    size_t first, untaken, count, room; /* miss[first .. count) are in the window */
};

struct cfp_line {
    uint64_t misses;
    uint32_t set;
    uint8_t heavy, class;
};

struct cfp_code {
    uint64_t misses;
    uint32_t statement, samples; /* samples: of misses that are in the stores */
    uint32_t runs, same, mixed;  /* of fine samples; on one set; there on several objects */
    uint8_t class;
};

struct cfp_statement {
    uint64_t accesses, misses, shared; /* shared: misses on lines that are */
    uint8_t heavy, class;
};

/* What a thread did to a word of an object in a line. */
struct cfp_cell {
    uint32_t line, thread, object;
    uint8_t word;
    uint64_t misses, stores;
    uint64_t part_misses, part_stores; /* of an access the share of this word, of CFP_SHARES */
    uint64_t key[2];                   /* it is sorted by */
};

/* Misses of an instruction on one set. */
struct cfp_spot {
    uint32_t code, set, samples, object;
    uint64_t line;
    uint8_t lines, objects; /* several */
};

struct cfp_access {
    uint64_t line;
    uint32_t thread, set, object;
};

struct cf_cacheperf {
    struct cf_cacheperf_config c;
    struct cf_sets sets;
    unsigned word_shift;
    struct cf_counts *objects; /* allocating thread + 1 */
    struct cf_counts *windows, *lines, *codes, *statements, *cells, *spots; /* numbers + 1 */
    struct cfp_window *window; /* of loads or stores of a thread */
    struct cfp_line *line;
    struct cfp_code *code;
    struct cfp_statement *statement;
    struct cfp_cell *cell;
    struct cfp_spot *spot;
    size_t window_room, line_room, code_room, statement_room, cell_room, spot_room;
    uint8_t *taken;                  /* of each row: a miss that is in the stores */
    uint64_t *set;                   /* misses of each */
    uint64_t accesses[2], misses[2]; /* loads and stores */
    uint64_t run_pid, run_pc;
    struct cfp_access run[CFP_RUN];
    unsigned run_length;
};

/* Number of a key, from 0, and room for it in the array; -1 without memory. */
int cfp_number(struct cf_counts *counts, uint64_t a, uint64_t b, void *array, size_t *room,
               size_t width, uint32_t *number);

/* The instruction of a sample; NULL where there is none. */
struct cfp_code *cfp_code_of(const struct cf_cacheperf *c, const struct cfp_sample *s);

static inline int cfp_more(uint64_t part, double percent, uint64_t whole)
{
    return (double)part * 100 > percent * (double)whole;
}

/* ---- cacheperf_sharing.c ---- */

/* Which lines have many misses, and whose set few want; then what threads did to them; then
   whether they are shared. -1 without memory. */
int cfp_find_heavy(struct cf_cacheperf *c);
int cfp_see_word(struct cf_cacheperf *c, const struct cfp_sample *s, int taken);
int cfp_judge_lines(struct cf_cacheperf *c);

/* ---- cacheperf_patterns.c ---- */

/* A fine sample, in their order; cfp_end_run() after the last. -1 without memory. */
int cfp_see_fine(struct cf_cacheperf *c, const struct cfp_sample *s);
void cfp_end_run(struct cf_cacheperf *c);
/* A miss that is in the stores, of an instruction without runs. -1 without memory. */
int cfp_see_spot(struct cf_cacheperf *c, const struct cfp_sample *s);
/* -1 without memory. */
int cfp_judge_statements(struct cf_cacheperf *c);

#endif
