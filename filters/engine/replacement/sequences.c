/* SPDX-License-Identifier: BSD-2-Clause */
/* sequences.c - the policy that explains misses of sequences. See sequences.h. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/replacement/gamma.h"
#include "filters/engine/replacement/sequences.h"

enum { RUNS = 256, ADDED = 2 };

static const double MODES = 0.9, AGREE = 0.5, OF_SETS = 0.75, OTHERS = 0.25, ALONE = 0.125,
                    DEVIATIONS = 4, CHANCE = 1e-4;
static const double ROUNDED = 1.0 / 12; /* variance that a whole number adds */
/* Beta distribution of the share that is disturbed. */
static const double DISTURBED = 1, QUIET = 4;

struct cf_predictions {
    uint32_t ways, length;
    unsigned fixed; /* policies that predict a number, by bit */
    uint32_t misses[CF_POLICY_COUNT][CF_SEQUENCES];
    uint32_t *runs; /* of random: [number][misses] */
    struct moments {
        double mean, variance;
    } ln[CF_SEQUENCES], count[CF_SEQUENCES]; /* of its chances, and of its misses */
};

/* ---- predictions ---- */

static uint32_t count_misses(const struct cf_predictions *p, enum cf_replacement policy,
                             uint64_t seed, const uint64_t *line, int *status)
{
    static const uint8_t flags[CF_SEQUENCE_LONGEST];
    uint64_t victim[CF_SEQUENCE_LONGEST + 8];
    uint32_t miss[CF_SEQUENCE_LONGEST + 8], n = 0;
    struct cf_cache *c = cf_cache_new(
        &(struct cf_cache_geometry){.sets = 1, .ways = p->ways, .policy = policy, .seed = seed});

    if (!c) {
        *status = -1;
        return 0;
    }
    n = cf_cache_batch(c, line, flags, p->length, CF_CACHE_ALL_WAYS, miss, victim);
    cf_cache_free(c);
    return n;
}

static double ln_random(const struct cf_predictions *p, uint32_t number, uint32_t misses)
{
    const double more = ADDED / (double)(p->length + 1);

    return log((p->runs[number * (p->length + 1) + misses] + more) / (RUNS + ADDED));
}

/* How likely random replacement is to itself, and how many misses it has. */
static void expect(struct cf_predictions *p, uint32_t number)
{
    struct moments *ln = &p->ln[number], *count = &p->count[number];

    for (uint32_t m = 0; m <= p->length; m++) {
        const double value = ln_random(p, number, m), chance = exp(value);

        ln->mean += chance * value;
        ln->variance += chance * value * value;
        count->mean += chance * m;
        count->variance += chance * m * m;
    }
    ln->variance = fmax(0, ln->variance - ln->mean * ln->mean);
    count->variance = fmax(0, count->variance - count->mean * count->mean) + ROUNDED;
}

static int predict(struct cf_predictions *p, uint32_t number)
{
    uint8_t block[CF_SEQUENCE_LONGEST];
    uint64_t line[CF_SEQUENCE_LONGEST];
    int status = 0;

    cf_sequence_make(p->ways, number, block);
    for (uint32_t i = 0; i < p->length; i++)
        line[i] = block[i];
    for (unsigned k = 0; k < CF_POLICY_COUNT; k++)
        if (p->fixed >> k & 1)
            p->misses[k][number] = count_misses(p, (enum cf_replacement)k, 0, line, &status);
    for (uint32_t run = 0; run < RUNS && status == 0; run++)
        p->runs[number * (p->length + 1) +
                count_misses(p, CF_RANDOM, (uint64_t)number * RUNS + run, line, &status)]++;
    expect(p, number);
    return status;
}

struct cf_predictions *cf_predictions_new(uint32_t ways)
{
    struct cf_predictions *p = ways && ways <= CF_SEQUENCE_WAYS ? calloc(1, sizeof *p) : NULL;
    int status = 0;

    if (!p)
        return NULL;
    p->ways = ways;
    p->length = cf_sequence_length(ways);
    p->runs = calloc((size_t)CF_SEQUENCES * (p->length + 1), sizeof *p->runs);
    for (unsigned k = 0; k < CF_POLICY_COUNT; k++) {
        const unsigned traits = cf_policy_traits((enum cf_replacement)k);

        if (!(traits & (CF_POLICY_RANDOM | CF_POLICY_BY_CORE)) &&
            !((traits & CF_POLICY_POWER_OF_TWO) && (ways & (ways - 1))))
            p->fixed |= 1u << k;
    }
    for (uint32_t number = 0; p->runs && status == 0 && number < CF_SEQUENCES; number++)
        status = predict(p, number);
    if (!p->runs || status != 0) {
        cf_predictions_free(p);
        return NULL;
    }
    return p;
}

void cf_predictions_free(struct cf_predictions *p)
{
    if (p)
        free(p->runs);
    free(p);
}

uint32_t cf_predictions_misses(const struct cf_predictions *p, enum cf_replacement policy,
                               uint32_t number)
{
    return p->misses[policy][number];
}

/* ---- one set ---- */

/* Measurements of one set, in the order of numbers and then of misses. */
struct group {
    const struct cf_predictions *p;
    const struct cf_sequence_row *row;
    size_t count;
    unsigned measured; /* sequences, by bit */
    size_t sequences;
    size_t repeats; /* measurements beside one of each sequence, */
    size_t modes;   /* and those with the most frequent number of misses, beside one */
    double none;    /* ln of its likelihood */
};

static size_t end_of(const struct group *g, size_t from)
{
    size_t end = from;

    while (end < g->count && g->row[end].number == g->row[from].number)
        end++;
    return end;
}

/* The most that any number of misses occurs among some rows; `of` is that of one number. */
static size_t most_frequent(const struct group *g, size_t from, size_t end, uint32_t misses,
                            size_t *of)
{
    size_t most = 0;

    *of = 0;
    for (size_t i = from, same = 0; i < end; i++) {
        same = i > from && g->row[i].misses == g->row[i - 1].misses ? same + 1 : 1;
        most = same > most ? same : most;
        *of += g->row[i].misses == misses;
    }
    return most;
}

static void survey(struct group *g)
{
    const double any = 1 / (double)(g->p->length + 1);

    for (size_t from = 0, end, of; from < g->count; from = end) {
        end = end_of(g, from);
        g->measured |= 1u << g->row[from].number;
        g->sequences++;
        g->modes += most_frequent(g, from, end, 0, &of) - 1;
        g->repeats += end - from - 1;
        for (size_t i = from, same = 0; i < end; i++) {
            same = i > from && g->row[i].misses == g->row[i - 1].misses ? same + 1 : 0;
            g->none += log(((double)same + any) / ((double)(i - from) + 1));
        }
    }
}

/* ln of the likelihood by a policy, and whether it is close enough to be named. */
static double by_policy(const struct group *g, unsigned policy, int *close)
{
    size_t agree = 0, right = 0;
    double quiet, disturbed;

    for (size_t from = 0, end, of, most; from < g->count; from = end) {
        end = end_of(g, from);
        most = most_frequent(g, from, end, g->p->misses[policy][g->row[from].number], &of);
        agree += of;
        right += of == most;
    }
    quiet = (double)agree;
    disturbed = (double)(g->count - agree);
    *close = (double)right >= MODES * (double)g->sequences;
    return lgamma(quiet + QUIET) + lgamma(disturbed + DISTURBED) -
           lgamma((double)g->count + QUIET + DISTURBED) + lgamma(QUIET + DISTURBED) -
           lgamma(QUIET) - lgamma(DISTURBED) - disturbed * log((double)g->p->length);
}

/* Disturbed measurements scatter, too: so what each sequence misses on average is tested, and
   whether all is as likely as random replacement is to itself, neither less nor more. */
static double by_random(const struct group *g, int *close)
{
    double ln = 0, mean = 0, variance = 0, squares = 0;

    for (size_t from = 0, end; from < g->count; from = end) {
        const struct moments *count = &g->p->count[g->row[from].number],
                             *likely = &g->p->ln[g->row[from].number];
        double sum = 0, n;

        end = end_of(g, from);
        n = (double)(end - from);
        for (size_t i = from; i < end; i++) {
            ln += ln_random(g->p, g->row[i].number, g->row[i].misses);
            sum += g->row[i].misses;
        }
        mean += n * likely->mean;
        variance += n * likely->variance;
        sum = sum / n - count->mean;
        squares += sum * sum / (count->variance * (1 / n + 1.0 / RUNS));
    }
    *close = fabs(ln - mean) <= DEVIATIONS * sqrt(variance) &&
             cf_gamma_upper((double)g->sequences / 2, squares / 2) >= CHANCE;
    return ln;
}

/* Policies that predict the same as one, in the sequences of which the bits are set. */
static unsigned same_as(const struct cf_predictions *p, unsigned policy, unsigned sequences)
{
    unsigned same = 0;

    for (unsigned k = 0; k < CF_POLICY_COUNT; k++) {
        int equal = p->fixed >> k & 1;

        for (unsigned n = 0; equal && n < CF_SEQUENCES; n++)
            equal = !(sequences >> n & 1) || p->misses[k][n] == p->misses[policy][n];
        same |= (unsigned)equal << k;
    }
    return same | (p->ways == 1 ? 1u << CF_RANDOM : 0);
}

/* What speaks for a policy, for random, and in the last place for none. */
struct hypothesis {
    unsigned policies, always; /* always: those that no sequence distinguishes from it */
    double ln;
    int close;
};

static unsigned weigh(const struct group *g, struct hypothesis *h)
{
    const unsigned all = (1u << CF_SEQUENCES) - 1;
    unsigned n = 0, seen = 0;

    for (unsigned k = 0; k < CF_POLICY_COUNT; k++) {
        if (!(g->p->fixed >> k & 1) || (seen >> k & 1))
            continue;
        h[n].policies = same_as(g->p, k, g->measured);
        h[n].always = same_as(g->p, k, all);
        h[n].ln = by_policy(g, k, &h[n].close);
        seen |= h[n++].policies;
    }
    if (!(seen >> CF_RANDOM & 1)) {
        h[n].policies = h[n].always = 1u << CF_RANDOM;
        h[n].ln = by_random(g, &h[n].close);
        n++;
    }
    h[n++] = (struct hypothesis){.ln = g->none};
    return n;
}

static struct cf_sequences_verdict judge_set(struct group *g, int exact, double least)
{
    struct hypothesis h[CF_POLICY_COUNT + 2];
    struct cf_sequences_verdict is = {.state = CF_SEQUENCES_NOISE};
    unsigned best = 0, n;
    double sum = 0;

    survey(g);
    n = weigh(g, h);
    for (unsigned k = 1; k < n; k++)
        best = h[k].ln > h[best].ln ? k : best;
    for (unsigned k = 0; k < n; k++)
        sum += exp(h[k].ln - h[best].ln);
    is.confidence = 1 / sum;
    is.policies = h[best].policies;
    if (!is.policies && (double)g->modes >= AGREE * (double)g->repeats)
        is.state = CF_SEQUENCES_OTHER;
    else if (h[best].close && is.confidence >= least)
        is.state = h[best].policies == h[best].always ? CF_SEQUENCES_NAMED : CF_SEQUENCES_ALIKE;
    if (!exact && !g->repeats)
        is.state = CF_SEQUENCES_ONCE;
    if (g->sequences < CF_SEQUENCES / 2 || (!exact && g->repeats && g->repeats < g->sequences))
        is.state = CF_SEQUENCES_FEW;
    return is;
}

/* ---- all ---- */

static int order(const void *a, const void *b)
{
    const struct cf_sequence_row *x = a, *y = b;

    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->misses > y->misses) - (x->misses < y->misses);
}

static int is_named(const struct cf_sequences_verdict *v)
{
    return v->state == CF_SEQUENCES_NAMED || v->state == CF_SEQUENCES_ALIKE;
}

static int is_told(const struct cf_sequences_verdict *v)
{
    return is_named(v) || v->state == CF_SEQUENCES_OTHER;
}

/* One of many sets may be what noise makes of it. */
static int is_alone(const struct cf_sequences_set *each, size_t sets, size_t i)
{
    size_t same = 0;

    for (size_t k = 0; k < sets; k++)
        same += is_told(&each[k].is) && each[k].is.policies == each[i].is.policies;
    return (double)same < ALONE * (double)sets;
}

static struct cf_sequences_verdict together(const struct cf_sequences_set *each, size_t sets)
{
    struct cf_sequences_verdict all = {.state = CF_SEQUENCES_NONE};
    size_t count[CF_SEQUENCES_SETS + 1] = {0}, named = 0, other = 0, judged;
    unsigned common = UINT_MAX;
    double least = 1;

    for (size_t i = 0; i < sets; i++) {
        const struct cf_sequences_verdict *v = &each[i].is;

        count[v->state]++;
        if (!is_told(v) || is_alone(each, sets, i))
            continue;
        least = fmin(least, v->confidence);
        all.policies |= v->policies;
        common &= v->policies ? v->policies : UINT_MAX;
        named += v->policies != 0;
        other += v->policies == 0;
    }
    judged = sets - count[CF_SEQUENCES_FEW];
    if (named || other)
        all.confidence = least;
    if (!sets)
        return all;
    if (!judged)
        all.state = CF_SEQUENCES_FEW;
    else if (!common || (named && other && (double)named < OF_SETS * (double)judged))
        all.state = CF_SEQUENCES_SETS;
    else if (named && (double)named >= OF_SETS * (double)judged)
        all.state = count[CF_SEQUENCES_NAMED] ? CF_SEQUENCES_NAMED : CF_SEQUENCES_ALIKE;
    else if (!named && (double)other >= OTHERS * (double)judged)
        all.state = CF_SEQUENCES_OTHER;
    else
        all.state = count[CF_SEQUENCES_ONCE] ? CF_SEQUENCES_ONCE : CF_SEQUENCES_NOISE;
    if (all.state != CF_SEQUENCES_SETS)
        all.policies &= common;
    return all;
}

struct cf_sequences_verdict cf_sequences_judge(const struct cf_predictions *p,
                                               struct cf_sequence_row *row, size_t count, int exact,
                                               double least, struct cf_sequences_set *each,
                                               size_t room, size_t *sets)
{
    *sets = 0;
    if (count)
        qsort(row, count, sizeof *row, order);
    for (size_t from = 0, end; from < count && *sets < room; from = end) {
        struct group g = {.p = p, .row = row + from};

        for (end = from; end < count && row[end].set == row[from].set; end++)
            ;
        g.count = end - from;
        each[*sets].set = row[from].set;
        each[(*sets)++].is = judge_set(&g, exact, least);
    }
    return together(each, *sets);
}
