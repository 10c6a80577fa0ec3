/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses wait in a list for each set until the snapshot behind them comes. The lines of a set's
 * universe then get small numbers, their places in a sorted array, and everything that is asked of
 * them is a flag by number.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/replacement/gamma.h"
#include "filters/engine/replacement/candidates_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

/* The i-th deterministic candidate. */
static enum cf_replacement candidate_at(int i)
{
    enum cf_replacement p = 0;

    while (cf_policy_traits(p) & (CF_POLICY_RANDOM | CF_POLICY_BY_CORE) || i-- > 0)
        p++;
    return p;
}

struct cf_candidates *cf_candidates_new(uint32_t sets, uint32_t ways, int empty)
{
    const size_t n = (size_t)sets * ways;
    struct cf_candidates *r = calloc(1, sizeof *r);
    int bad;

    if (!r)
        return NULL;
    r->sets = sets;
    r->ways = ways;
    r->random = 1;
    r->line = malloc(n * sizeof *r->line);
    r->times = calloc(n, sizeof *r->times);
    r->set = calloc(sets, sizeof *r->set);
    bad = !r->line || !r->times || !r->set;
    for (int i = 0; i < FIXED && ways <= CF_CANDIDATES_WAYS; i++) {
        const struct cf_cache_geometry g = {sets, ways, candidate_at(i), CF_CACHE_PHYSICAL, 1};

        r->cache[i] = cf_cache_new(&g);
        bad |= !r->cache[i];
    }
    if (bad || ways > CF_CANDIDATES_WAYS) {
        cf_candidates_free(r);
        return NULL;
    }
    cf_candidates_begin(r, empty);
    return r;
}

void cf_candidates_free(struct cf_candidates *r)
{
    if (!r)
        return;
    for (int i = 0; i < FIXED; i++)
        cf_cache_free(r->cache[i]);
    free(r->line);
    free(r->times);
    free(r->set);
    free(r->log);
    free(r->member);
    free(r->event);
    free(r);
}

void cf_candidates_leave_out(struct cf_candidates *r, uint32_t set)
{
    r->set[set].left_out = 1;
}

int cf_candidates_access(struct cf_candidates *r, uint64_t line, int flush)
{
    struct set *set = &r->set[line % r->sets];

    if (set->left_out)
        return 0;
    if (r->logged == UINT32_MAX / 2 ||
        cf_array_room(&r->log, &r->log_room, r->logged + (size_t)1, sizeof *r->log) != 0)
        return -1;
    r->log[r->logged++] = (struct access){line, 0, flush != 0};
    if (set->tail)
        r->log[set->tail - 1].next = r->logged;
    else
        set->head = r->logged;
    set->tail = r->logged;
    return 0;
}

/* ---- the universe of a set ---- */

static int by_line(const void *x, const void *y)
{
    const struct member *a = x, *b = y;

    return cf_order(a->line, b->line);
}

/* Number of a line in the universe, or -1. */
static int number_of(const struct cf_candidates *r, uint64_t line)
{
    const struct member wanted = {.line = line};
    const struct member *at = bsearch(&wanted, r->member, r->lines, sizeof wanted, by_line);

    return at ? (int)(at - r->member) : -1;
}

static void number_lines(struct cf_candidates *r, const struct view *v)
{
    uint32_t n = 0, kept = 0;

    for (uint32_t w = 0; w < r->ways; w++)
        if (v->before[w] != CF_CACHE_NONE)
            r->member[n++] = (struct member){.line = v->before[w]};
    for (uint32_t i = r->set[v->set].head; i; i = r->log[i - 1].next)
        r->member[n++] = (struct member){.line = r->log[i - 1].line};
    qsort(r->member, n, sizeof *r->member, by_line);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || r->member[i].line != r->member[kept - 1].line)
            r->member[kept++] = r->member[i];
    r->lines = kept;
}

static int look(struct cf_candidates *r, struct view *v)
{
    uint32_t events = 0;

    for (uint32_t i = r->set[v->set].head; i; i = r->log[i - 1].next)
        events++;
    if (cf_array_room(&r->member, &r->member_room, events + r->ways, sizeof *r->member) != 0 ||
        cf_array_room(&r->event, &r->event_room, events, sizeof *r->event) != 0)
        return -1;
    number_lines(r, v);
    r->events = 0;
    for (uint32_t i = r->set[v->set].head; i; i = r->log[i - 1].next) {
        const uint32_t k = (uint32_t)number_of(r, r->log[i - 1].line);

        r->event[r->events++] = k * 2 + r->log[i - 1].flush;
        v->flushed |= r->log[i - 1].flush != 0;
        r->member[k].accessed = 1;
        r->member[k].last = r->clock + i;
        if (!r->member[k].first)
            r->member[k].first = r->clock + i;
    }
    for (uint32_t w = 0; w < r->ways; w++) {
        int k;

        if (v->before[w] != CF_CACHE_NONE && (k = number_of(r, v->before[w])) >= 0) {
            r->member[k].before = 1;
            v->held++;
        }
        if (v->now[w] == CF_CACHE_NONE)
            continue;
        v->holds++;
        k = number_of(r, v->now[w]);
        if (k < 0)
            v->unexplained = 1;
        else
            r->member[k].now = 1;
    }
    for (uint32_t k = 0; k < r->lines; k++) {
        const struct member *m = &r->member[k];

        v->accessed += m->accessed;
        v->survived += m->accessed && m->now;
        v->others += !m->accessed;
        v->others_left += !m->accessed && m->now;
    }
    return 0;
}

/* ---- judging ---- */

/* ln of the outcomes beside one that was predicted, in *others, and of the chance of this one under
   random, in *random. 0 when nothing can be learned, or it cannot be. */
static int weigh(struct cf_candidates *r, const struct view *v, double *others, double *random)
{
    const uint32_t least = v->others >= r->ways ? 1 : r->ways - v->others,
                   most = v->accessed < r->ways ? v->accessed : r->ways;
    double all;

    /* the line that was accessed last is there in any case */
    if (v->survived < least || v->survived > most || v->holds != r->ways ||
        !r->member[r->event[r->events - 1] / 2].now)
        return 0;
    all = cf_ln_choose(v->accessed - 1.0, v->survived - 1.0) +
          cf_ln_choose(v->others, v->others_left) + log((double)(most - least) + 1);
    if (all <= 0)
        return 0;
    *others = all + log1p(-exp(-all));
    *random = cfc_ln_random(r);
    return 1;
}

/* Runs the accesses under a candidate; a sum over the lines that it leaves distinguishes
   predictions. */
static uint64_t run_candidate(struct cf_candidates *r, struct cf_cache *c, const struct view *v,
                              uint32_t *there, uint32_t *left)
{
    uint64_t sum = 0, victim;

    for (uint32_t i = 0; i < r->events; i++)
        cf_cache_access(c, r->member[r->event[i] / 2].line, r->event[i] & 1 ? CF_RUN_FLUSH : 0,
                        CF_CACHE_ALL_WAYS, &victim);
    *there = *left = 0;
    for (uint32_t w = 0; w < r->ways; w++) {
        const uint64_t line = cf_cache_line(c, v->set, w);
        int k;

        if (line == CF_CACHE_NONE)
            continue;
        ++*left;
        k = number_of(r, line & ~CF_CACHE_DIRTY);
        *there += k >= 0 && r->member[k].now;
        sum += (line + 1) * 0x9e3779b97f4a7c15u ^ (line + 1) >> 31;
    }
    return sum;
}

static void judge(struct cf_candidates *r, const struct view *v)
{
    uint64_t sum[FIXED];
    uint32_t there[FIXED], left[FIXED];
    double others, random;

    for (int i = 0; i < FIXED; i++)
        sum[i] = run_candidate(r, r->cache[i], v, &there[i], &left[i]);
    if (!r->set[v->set].ready || v->flushed) {
        r->totals.unknown++;
        return;
    }
    if (v->unexplained) {
        r->totals.unexplained++;
        return;
    }
    if (r->lines <= r->ways) {
        r->totals.trivial++;
        return;
    }
    if (!weigh(r, v, &others, &random)) {
        r->totals.unexplained++;
        return;
    }
    r->totals.judged++;
    r->likelihood += random;
    for (int i = 0; i < FIXED; i++) {
        const int exact = there[i] == v->holds && left[i] == v->holds;

        r->exact[i] += (uint64_t)exact;
        r->predicted[i] += left[i];
        r->right[i] += there[i];
        if (!exact)
            r->others[i] += others;
        for (int k = 0; k < FIXED; k++)
            r->differs[i][k] += sum[i] != sum[k];
    }
}

/* ---- beginning again from a snapshot ---- */

struct held {
    uint64_t line, when;
    struct times times;
    uint32_t way;
};

static int by_when(const void *x, const void *y)
{
    const struct held *a = x, *b = y;

    return cf_order(a->when, b->when) ?: cf_order(a->way, b->way);
}

static void empty_set(struct cf_cache *c, uint32_t set, uint32_t ways)
{
    for (uint32_t w = 0; w < ways; w++) {
        const uint64_t line = cf_cache_line(c, set, w);

        if (line != CF_CACHE_NONE)
            cf_cache_remove(c, line & ~CF_CACHE_DIRTY);
    }
}

static void begin_again(struct cf_candidates *r, int candidate, const struct view *v)
{
    struct cf_cache *c = r->cache[candidate];
    const size_t at = (size_t)v->set * r->ways;
    struct held held[CF_CANDIDATES_WAYS];
    const unsigned traits = cf_policy_traits(candidate_at(candidate));
    uint32_t n = 0, same = 0;

    for (uint32_t w = 0; w < r->ways; w++)
        same += cf_cache_line(c, v->set, w) == v->now[w];
    if (same == r->ways)
        return;
    empty_set(c, v->set, r->ways);
    for (uint32_t w = 0; w < r->ways; w++) {
        const struct times t = r->times[at + w];

        if (v->now[w] != CF_CACHE_NONE)
            held[n++] =
                (struct held){v->now[w], traits & CF_POLICY_ARRIVAL ? t.came : t.used, t, w};
    }
    qsort(held, n, sizeof *held, by_when);
    for (uint32_t i = 0; i < n; i++) {
        cf_cache_insert(c, held[i].line, 0, (uint64_t)1 << held[i].way);
        if ((traits & CF_POLICY_REPEATS) && held[i].times.used > held[i].times.came)
            cf_cache_touch(c, held[i].line, 0);
    }
}

/* Takes the snapshot over as what is known: which line is where, when it was used and came in. */
static void take_over(struct cf_candidates *r, const struct view *v, int looked)
{
    const size_t at = (size_t)v->set * r->ways;
    struct times times[CF_CANDIDATES_WAYS] = {{0}};
    int ready = 1;

    for (uint32_t w = 0; w < r->ways; w++) {
        const int k = looked && v->now[w] != CF_CACHE_NONE ? number_of(r, v->now[w]) : -1;

        for (uint32_t b = 0; b < r->ways; b++)
            if (v->before[b] == v->now[w])
                times[w] = r->times[at + b];
        if (k >= 0 && r->member[k].accessed) {
            times[w].used = r->member[k].last;
            if (!r->member[k].before)
                times[w].came = r->member[k].first;
        }
        if (v->now[w] != CF_CACHE_NONE)
            ready &= times[w].used && times[w].came;
        else
            times[w] = (struct times){0};
    }
    memcpy(r->times + at, times, r->ways * sizeof *times);
    memcpy(r->line + at, v->now, r->ways * sizeof *v->now);
    r->set[v->set].ready = (uint8_t)ready;
}

void cf_candidates_begin(struct cf_candidates *r, int empty)
{
    const size_t n = (size_t)r->sets * r->ways;

    for (uint32_t set = 0; set < r->sets; set++) {
        for (int i = 0; i < FIXED; i++)
            empty_set(r->cache[i], set, r->ways);
        r->set[set].ready = empty != 0;
    }
    memset(r->line, CF_NO_LINE_BYTE, n * sizeof *r->line);
    memset(r->times, 0, n * sizeof *r->times);
}

static int step_set(struct cf_candidates *r, uint32_t set, const uint64_t *now)
{
    struct view v = {.set = set, .before = r->line + (size_t)set * r->ways, .now = now};
    const int looked = r->set[set].head != 0;

    if (looked) {
        if (look(r, &v) != 0)
            return -1;
        judge(r, &v);
    } else {
        r->totals.unexplained++;
    }
    take_over(r, &v, looked);
    for (int i = 0; i < FIXED; i++)
        begin_again(r, i, &v);
    return 0;
}

int cf_candidates_snapshot(struct cf_candidates *r, const uint64_t *line, uint32_t stride,
                           int emptied)
{
    const size_t bytes = r->ways * sizeof *r->line;

    for (uint32_t set = 0; set < r->sets; set++) {
        uint64_t *mine = r->line + (size_t)set * r->ways;
        const uint64_t *now = line + (size_t)set * stride;

        if (r->set[set].left_out)
            continue;
        if ((r->set[set].head || memcmp(mine, now, bytes) != 0) && step_set(r, set, now) != 0)
            return -1;
        if (emptied) {
            for (int i = 0; i < FIXED; i++)
                empty_set(r->cache[i], set, r->ways);
            memset(mine, CF_NO_LINE_BYTE, bytes);
            memset(r->times + (size_t)set * r->ways, 0, r->ways * sizeof *r->times);
            r->set[set].ready = 1;
        }
        r->set[set].head = r->set[set].tail = 0;
    }
    r->clock += r->logged;
    r->logged = 0;
    return 0;
}

/* ---- results ---- */

struct cf_candidates_totals cf_candidates_totals(const struct cf_candidates *r)
{
    return r->totals;
}

static double log_likelihood(const struct cf_candidates *r, int i)
{
    const double n = (double)r->totals.judged, x = (double)r->exact[i];
    double p = (x + 0.5) / (n + 1);

    if (n <= 0)
        return 0;
    p = p < 0.5 ? 0.5 : p;
    return x * log(p) + (n - x) * log1p(-p) - r->others[i] - log(n) / 2;
}

static int by_likelihood(const void *x, const void *y)
{
    const struct cf_candidates_score *a = x, *b = y;

    if (a->log_likelihood != b->log_likelihood)
        return a->log_likelihood > b->log_likelihood ? -1 : 1;
    return cf_order(a->policy, b->policy);
}

static int index_of(enum cf_replacement policy)
{
    for (int i = 0; i < FIXED; i++)
        if (candidate_at(i) == policy)
            return i;
    return -1;
}

void cf_candidates_rank(const struct cf_candidates *r,
                        struct cf_candidates_score score[CF_CANDIDATES_ALL])
{
    int best;

    for (int i = 0; i < FIXED; i++)
        score[i] = (struct cf_candidates_score){
            .policy = candidate_at(i),
            .exact = r->exact[i],
            .lines = r->predicted[i],
            .right = r->right[i],
            .log_likelihood = log_likelihood(r, i),
        };
    score[FIXED] = (struct cf_candidates_score){
        .policy = CF_RANDOM,
        .log_likelihood = r->likelihood,
    };
    qsort(score, CF_CANDIDATES_ALL, sizeof *score, by_likelihood);
    best = index_of(score[0].policy);
    for (int k = 0; k < CF_CANDIDATES_ALL; k++) {
        const int i = index_of(score[k].policy);
        const int near = score[0].log_likelihood - score[k].log_likelihood < 3;

        /* random predicts chances, not lines */
        score[k].differs = best >= 0 && i >= 0 ? r->differs[best][i] : k ? r->totals.judged : 0;
        score[k].verdict = !r->totals.judged           ? CF_CANDIDATES_NO_EVIDENCE
                           : k == 0                    ? CF_CANDIDATES_BEST
                           : near || !score[k].differs ? CF_CANDIDATES_NOT_APART
                                                       : CF_CANDIDATES_WORSE;
    }
}
