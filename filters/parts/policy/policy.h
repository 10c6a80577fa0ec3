/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.h - what the files of cf-policy share: its options and state, the accesses of the second
 * stream, and what is printed.
 *
 * Accesses reach the candidates as numbers of physical lines. A trace has virtual addresses; which
 * frame a page had is learned from the lines of the snapshots, whose owner is known. What the level
 * of the snapshots did not see, because an inner level served it, is left out where the trace says
 * so (column hit of cf-cache, or level). Memory: 43 to 85 bytes a page.
 */
#ifndef POLICY_H
#define POLICY_H

#include "filters/engine/replacement/placement.h"
#include "filters/engine/replacement/candidates.h"
#include "filters/engine/snapshot/tags.h"
#include "filters/picture/output.h"
#include "formats/together/cf_made.h"
#include "formats/program/cf_tool.h"

enum { LINES_MOST = 1024, ROUNDS_MOST = 1024 };

enum grouping { BY_FILE, IN_CYCLES, IN_BLOCKS };

struct options {
    unsigned level;
    uint64_t line_size; /* bytes; 0: the stream's, else 64 */
    int filtered;       /* some lines only */
    struct cf_list line;
    int pid_given, region_given;
    uint32_t pid;
    uint64_t from, to; /* virtual addresses */
    uint64_t set_from, set_to;
    enum grouping grouping;
    uint64_t group; /* of so many snapshots */
    uint32_t rounds[ROUNDS_MOST], rounds_count;
    const char *survivors, *ways, *policies, *accesses;
    int to_stdout; /* of these results, one goes to standard output */
    double alpha;
    struct cf_output output;
};

/* ---- accesses.c ---- */

struct accesses;
struct work;

/* Runs the accesses up to the snapshot that came, and compares. Where that is impossible, warns
   and sets no_candidates. -1 without memory. */
int judge_candidates(struct work *w) CF_MUST_CHECK;
/* Accesses to pages that no snapshot has shown so far. */
uint64_t accesses_unplaced(const struct accesses *a);
/* Reads the rest, since damage is reported wherever it is. Exits where there are no accesses. */
void accesses_read_out(struct accesses *a);
/* Closes; says what was wrong with it. */
void accesses_close(struct accesses *a);

enum { LEAST_LINE = 4, MOST_LINE = 4096 };

struct work {
    struct cf_tool tool;
    struct options o;
    struct cf_reader *reader;
    struct cf_snaps *snaps;
    struct cf_survivors *survivors;
    struct accesses *accesses;
    struct cf_candidates *candidates;
    struct cf_placement placement;
    struct cf_mix clock;      /* of the snapshots, and of the accesses where there are some */
    struct cf_snapshot cache; /* of the first snapshot */
    int differ;               /* another one is of another, which was reported */
    uint64_t line_size;
    uint64_t misplaced; /* lines that are not in set (number mod sets) */
    int no_frame;       /* there are lines of which no physical address is known */
    int no_candidates;  /* it is impossible, which was reported */
    uint32_t judged_sets, judged_ways;
    uint64_t *numbers; /* the lines of a snapshot, by number */
    uint8_t mark[CF_FILE_ROWS];
};

/* ---- policy_csv.c ---- */

/* What the whole input gave. `score` NULL: no candidate was judged. */
struct findings {
    uint64_t snapshots;
    uint32_t sets, ways;
    const struct cf_placement *placement;
    const struct cf_survivors_row *survivor;
    size_t survivors;
    const struct cf_candidates_score *score;
    struct cf_candidates_totals totals;
    uint64_t unplaced;
    double alpha;
};

/* Prints and draws what was asked for. */
void print_results(struct work *w);

/* ---- policy_picture.c: for --picture ---- */

void draw_ways(const struct work *w, const struct findings *f);
void draw_survivors(const struct work *w, const struct findings *f);

#endif
