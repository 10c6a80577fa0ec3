/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.c - the replacement policy of a cache, from experiment policy: what all policies predict
 * is compared with what was measured (sequences.h).
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/replacement/sequences.h"
#include "filters/parts/infer/infer.h"

/* Sets that are judged. */
enum { SETS = 64 };

/* "lru or nru": policies by bit. */
static void name_policies(unsigned policies, char *to, size_t size)
{
    size_t at = 0;

    to[0] = '\0';
    for (unsigned k = 0; k < CF_POLICY_COUNT; k++)
        if (policies >> k & 1 && at < size)
            at += (size_t)snprintf(to + at, size - at, "%s%s", at ? " or " : "",
                                   cf_policy_name((enum cf_replacement)k));
}

/* Those measurements that are of a sequence for so many ways, and how many there are. */
static size_t take_rows(const struct infer *f, const struct series *s, uint64_t ways,
                        struct cf_sequence_row *row)
{
    size_t n = 0;

    for (size_t i = s->from; i < s->from + s->rows; i++) {
        const struct cf_measurement *m = &f->row[i];

        if (m->spoilt || !m->counted || m->accesses != cf_sequence_length((uint32_t)ways) ||
            m->misses > m->accesses || m->parameter % CF_SEQUENCE_SET >= CF_SEQUENCES ||
            m->parameter / CF_SEQUENCE_SET > UINT32_MAX)
            continue;
        row[n++] = (struct cf_sequence_row){(uint32_t)(m->parameter / CF_SEQUENCE_SET),
                                            (uint32_t)(m->parameter % CF_SEQUENCE_SET),
                                            (uint32_t)m->misses};
    }
    return n;
}

/* Why there are no rows: the first measurement says. */
static const char *why_no_rows(const struct infer *f, const struct series *s)
{
    for (size_t i = s->from; i < s->from + s->rows; i++)
        if (!f->row[i].spoilt)
            return f->row[i].counted ? "the sequences measured are not those for so many ways"
                                     : "the misses of no sequence are known";
    return "all measurements are spoilt";
}

/* "lru in sets 0, 16 and 5 more, srrip in set 8": of sets that differ. */
static void name_sets(const struct cf_sequences_set *each, size_t sets, char *to, size_t size)
{
    unsigned done[SETS], n = 0;
    size_t at = 0;

    for (size_t i = 0; i < sets && at < size; i++) {
        const struct cf_sequences_verdict *v = &each[i].is;
        const unsigned policies = v->state == CF_SEQUENCES_NAMED ? v->policies : 0;
        char name[100];
        unsigned k = 0, count = 0;

        while (k < n && done[k] != policies)
            k++;
        if (k < n || (!policies && v->state != CF_SEQUENCES_OTHER))
            continue;
        done[n++] = policies;
        for (size_t j = i; j < sets; j++)
            count += each[j].is.state == v->state && each[j].is.policies == v->policies;
        name_policies(policies, name, sizeof name);
        at += (size_t)snprintf(to + at, size - at, "%s%s in %u of %zu sets (first: %u)",
                               at ? ", " : "sets differ: ", *name ? name : "none of the policies",
                               count, sets, each[i].set);
    }
}

static void explain(const struct cf_sequences_verdict *v, const struct cf_sequences_set *each,
                    size_t sets, uint64_t ways, struct policy *p)
{
    char names[100];

    name_policies(v->policies, names, sizeof names);
    switch (v->state) {
    case CF_SEQUENCES_NAMED:
        p->how = MEASURED;
        p->is = (enum cf_replacement)__builtin_ctz(v->policies);
        p->same = v->policies;
        if (v->policies & (v->policies - 1))
            snprintf(p->by, sizeof p->by, "policy; with %u way%s the same: %s", (unsigned)ways,
                     ways > 1 ? "s" : "", names);
        else
            snprintf(p->by, sizeof p->by, "policy");
        break;
    case CF_SEQUENCES_ALIKE:
        snprintf(p->by, sizeof p->by, "%s: the sequences measured do not distinguish them", names);
        break;
    case CF_SEQUENCES_OTHER:
        snprintf(p->by, sizeof p->by,
                 "none of these: lru, fifo, random, tree-plru, bit-plru, nru, srrip");
        break;
    case CF_SEQUENCES_ONCE:
        snprintf(p->by, sizeof p->by, "each measurement was made once, so noise is not known");
        break;
    case CF_SEQUENCES_FEW:
        snprintf(p->by, sizeof p->by, "too few sequences were measured");
        break;
    case CF_SEQUENCES_SETS:
        name_sets(each, sets, p->by, sizeof p->by);
        break;
    default:
        snprintf(p->by, sizeof p->by,
                 "no policy explains enough of the measurements: noise, or one that is close to a "
                 "known one");
    }
}

static void judge(const struct infer *f, const struct series *s, uint64_t ways, struct policy *p)
{
    struct cf_sequence_row *row = cf_need(&f->tool, calloc(s->rows, sizeof *row));
    const size_t n = take_rows(f, s, ways, row);
    struct cf_sequences_set each[SETS];
    struct cf_sequences_verdict v;
    size_t sets;

    if (n) {
        struct cf_predictions *of = cf_need(&f->tool, cf_predictions_new((uint32_t)ways));

        v = cf_sequences_judge(of, row, n, is_model(f), f->o.least, each, SETS, &sets);
        p->confidence = v.confidence;
        explain(&v, each, sets, ways, p);
        cf_predictions_free(of);
    } else {
        snprintf(p->by, sizeof p->by, "%s", why_no_rows(f, s));
    }
    free(row);
}

/* Random replacement is what is left where an inclusive level behind took some blocks out: whether
   one may have, by experiment inclusion. More than one in a hundred is more than noise does. */
static int is_disturbed(const struct infer *f, const struct cache *c)
{
    uint64_t accesses[2] = {0}, misses[2] = {0};

    for (unsigned i = 0; i < f->count; i++) {
        const struct series *s = &f->series[i];

        for (size_t k = s->from; k < s->from + s->rows; k++) {
            const struct cf_measurement *m = &f->row[k];

            if (s->is != X_INCLUSION || s->level != c->level || s->code != c->code || m->spoilt ||
                !m->counted || (m->parameter != FILLED && m->parameter != BLOCKS))
                continue;
            accesses[m->parameter == BLOCKS] += m->accesses;
            misses[m->parameter == BLOCKS] += m->misses;
        }
    }
    return 100 * misses[0] > accesses[0] || 100 * misses[1] > accesses[1];
}

void know_policy(const struct infer *f, struct cache *c)
{
    const struct value *ways = &c->value[WAYS];
    struct policy *p = &c->policy;

    *p = (struct policy){.how = NOT_MEASURED};
    for (unsigned i = 0; i < f->count; i++) {
        const struct series *s = &f->series[i];

        if (s->is != X_POLICY || s->level != c->level || s->code != c->code || !s->rows)
            continue;
        p->how = NOT_TOLD;
        if (!is_told(ways))
            snprintf(p->by, sizeof p->by, "it rests on the ways, which cannot be told");
        else if (ways->is > CF_SEQUENCE_WAYS)
            snprintf(p->by, sizeof p->by, "there are more than %d ways", CF_SEQUENCE_WAYS);
        else
            judge(f, s, ways->is, p);
        if (p->how == MEASURED && p->same == 1u << CF_RANDOM && is_disturbed(f, c)) {
            p->how = NOT_TOLD;
            p->confidence = 0;
            snprintf(p->by, sizeof p->by,
                     "random, or another one of which a level behind takes lines away");
        }
    }
}
