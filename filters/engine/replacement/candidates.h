/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * candidates.h - which replacement policy does a cache have, of which snapshots show the contents
 * and a trace the accesses in between?
 *
 * Every candidate that cache.h knows runs the accesses of a set from one snapshot to the next. A
 * set is judged where it must have replaced something (it and the accesses together have more lines
 * than ways), where all of its lines were used since watching began, so that the hidden state is
 * known (or it was empty before), and where nothing came in that no access explains. A candidate is
 * exact when it leaves the very lines that the snapshot shows. A candidate that fails begins again
 * from the snapshot: its lines are put into their ways in the order of their last use (FIFO: in the
 * order in which they came), which gives LRU and tree-PLRU their true state, FIFO too unless a line
 * left and came back unseen, and the others one that may have been.
 *
 * Log-likelihood of a judged set. Its universe is what it held plus what was accessed. The outcome
 * is how many of the accessed lines survive (j of a), which ones, and which of the u others do.
 *   deterministic  exact with probability p, the share that was exact but at least one half, since
 *                  what is right by chance explains nothing; else any other outcome: each j that
 *                  is possible, and then each choice of lines, is equally likely
 *   random         the mean of 64 runs with random victims that spare what is seen to survive, each
 *                  weighted by the chance of that; exact where it is certain which accesses miss,
 *                  else an estimate, too low in the mean by half its relative variance
 * Deterministic candidates pay ln(n) / 2 for their p (Schwarz, "Estimating the Dimension of a
 * Model", Annals of Statistics 6, 1978). Candidates that are less than 3 apart, "positive" but not
 * "strong" evidence (Kass and Raftery, "Bayes Factors", JASA 90, 1995, section 3.2), or that
 * predicted the same wherever they were judged, cannot be told apart.
 *
 * Memory: for each line of the cache about 100 bytes; 16 bytes for each access between two
 * snapshots, and up to 60 for each access to one set between two.
 */
#ifndef CF_CANDIDATES_H
#define CF_CANDIDATES_H

#include <stdint.h>

#include "filters/engine/cache/cache.h"

/* Candidates are random, and every policy that neither draws nor goes by the core. */
#define CF_CANDIDATES_COUNTED(id, name, bits, traits)                                              \
    +!((traits) & (CF_POLICY_RANDOM | CF_POLICY_BY_CORE))
enum {
    CF_CANDIDATES_WAYS = 64, /* at most */
    CF_CANDIDATES_ALL = 1 CF_POLICIES(CF_CANDIDATES_COUNTED),
};

struct cf_candidates;

/* Line L belongs to set L mod sets. `empty`: the caches are known to begin empty. NULL without
   memory. */
struct cf_candidates *cf_candidates_new(uint32_t sets, uint32_t ways, int empty)
    __attribute__((warn_unused_result));
void cf_candidates_free(struct cf_candidates *r);

/* An access to a line, or a flush of it. -1 without memory. */
int cf_candidates_access(struct cf_candidates *r, uint64_t line, int flush)
    __attribute__((warn_unused_result));

/* A snapshot of what came from these accesses: line[set * stride + way], CF_CACHE_NONE where there
   is none. `emptied`: the cache was emptied afterwards. -1 without memory. */
int cf_candidates_snapshot(struct cf_candidates *r, const uint64_t *line, uint32_t stride,
                           int emptied) __attribute__((warn_unused_result));

/* After a snapshot: another recording begins, of caches that are known to be empty or of which
   nothing is known. */
void cf_candidates_begin(struct cf_candidates *r, int empty);

/* A set is not looked at: nothing in it is judged. */
void cf_candidates_leave_out(struct cf_candidates *r, uint32_t set);

struct cf_candidates_totals {
    uint64_t judged;
    uint64_t trivial;     /* everything fitted: each policy keeps all */
    uint64_t unknown;     /* the state before was not known */
    uint64_t unexplained; /* lines that no access brought */
};
struct cf_candidates_totals cf_candidates_totals(const struct cf_candidates *r);

enum cf_candidates_verdict {
    CF_CANDIDATES_NO_EVIDENCE, /* nothing was judged */
    CF_CANDIDATES_BEST,
    CF_CANDIDATES_NOT_APART, /* cannot be told apart from the best */
    CF_CANDIDATES_WORSE,
};

struct cf_candidates_score {
    enum cf_replacement policy;
    enum cf_candidates_verdict verdict;
    uint64_t exact;        /* judged sets whose lines were predicted; 0 for random, */
    uint64_t lines, right; /* which predicts chances; lines predicted, and those that were there */
    uint64_t differs;      /* judged sets for which it predicts otherwise than the best */
    double log_likelihood; /* with the price of its parameter */
};

/* All candidates, best first; of equals the one that stands first in enum cf_replacement. */
void cf_candidates_rank(const struct cf_candidates *r,
                        struct cf_candidates_score score[CF_CANDIDATES_ALL]);

#endif
