/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.c - the answers of cf-policy as CSV.
 */
#include <math.h>
#include <string.h>

#include "filters/parts/policy/policy.h"

static void text(FILE *out, const char *result, const char *value)
{
    cf_csv_text(out, 1, result);
    cf_csv_text(out, 0, value);
    cf_csv_end(out);
}

static void number(FILE *out, const char *result, uint64_t value)
{
    cf_csv_text(out, 1, result);
    cf_csv_u64(out, 0, value);
    cf_csv_end(out);
}

static void real(FILE *out, const char *result, double value, int digits)
{
    cf_csv_text(out, 1, result);
    cf_csv_f64(out, 0, value, digits);
    cf_csv_end(out);
}

static void test(FILE *out, const char *name, const struct cf_chi_squared *c, double alpha,
                 const char *verdict, const char *holds, const char *fails)
{
    const int few = !(c->least >= 5) || isnan(c->p);
    char result[64];

    snprintf(result, sizeof result, "%s_chi_squared", name);
    real(out, result, isnan(c->p) ? NAN : c->statistic, 3);
    snprintf(result, sizeof result, "%s_degrees_of_freedom", name);
    number(out, result, (uint64_t)c->degrees);
    snprintf(result, sizeof result, "%s_p_value", name);
    real(out, result, c->p, 6);
    text(out, verdict, few ? "too few decisions" : c->p < alpha ? fails : holds);
}

static void print_best(FILE *out, const struct findings *f)
{
    char names[256] = "";
    size_t n = 0;

    for (int i = 0; i < CF_REPLAY_CANDIDATES; i++) {
        const struct cf_replay_score *s = &f->score[i];

        if (s->verdict == CF_REPLAY_BEST || s->verdict == CF_REPLAY_NOT_APART)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? " or " : "",
                                  cf_policy_name(s->policy));
    }
    text(out, "policy", n ? names : "no evidence");
}

void print_summary(FILE *out, const struct findings *f)
{
    const struct cf_placement *p = f->placement;
    const struct cf_chi_squared ways = cf_placement_ways(p), steps = cf_placement_steps(p);

    text(out, "result", "value");
    number(out, "snapshots", f->snapshots);
    number(out, "sets", f->sets);
    number(out, "ways", f->ways);
    number(out, "decisions", p->decisions);
    number(out, "several_in_a_set", p->several);
    number(out, "into_invalid_ways", p->fills);
    test(out, "way", &ways, f->alpha, "way_choice", "uniform", "not uniform");
    test(out, "step", &steps, f->alpha, "successive_choices", "independent", "not independent");
    if (!f->score)
        return;
    number(out, "judged_sets", f->totals.judged);
    number(out, "nothing_replaced", f->totals.trivial);
    number(out, "state_not_known", f->totals.unknown);
    number(out, "not_explained", f->totals.unexplained);
    number(out, "accesses_without_frame", f->unplaced);
    print_best(out, f);
}

int print_ways(const void *findings, FILE *out)
{
    const struct cf_placement *p = ((const struct findings *)findings)->placement;

    fputs("way,decisions,probability,uniform_probability,into_invalid\n", out);
    for (uint32_t w = 0; w < p->ways; w++) {
        cf_csv_u64(out, 1, w);
        cf_csv_u64(out, 0, p->took[w]);
        cf_csv_f64(out, 0, p->decisions ? (double)p->took[w] / (double)p->decisions : NAN, 6);
        cf_csv_f64(out, 0, 1.0 / p->ways, 6);
        cf_csv_u64(out, 0, p->filled[w]);
        cf_csv_end(out);
    }
    return 0;
}

int print_survivors(const void *findings, FILE *out)
{
    const struct findings *f = findings;
    const struct cf_survivors_row *row = f->survivor;

    fputs("rounds,lines,cached,snapshots,probability\n", out);
    for (size_t i = 0; i < f->survivors; i++) {
        cf_csv_u64(out, 1, row[i].rounds);
        cf_csv_u64(out, 0, row[i].lines);
        cf_csv_u64(out, 0, row[i].cached);
        cf_csv_u64(out, 0, row[i].count);
        cf_csv_f64(out, 0, (double)row[i].count / (double)row[i].total, 6);
        cf_csv_end(out);
    }
    return 0;
}

int print_policies(const void *findings, FILE *out)
{
    const struct findings *f = findings;
    static const char *const verdicts[] = {"no evidence", "best", "cannot be told apart", "worse"};

    fputs("rank,policy,verdict,judged_sets,exact,exact_share,lines_right_share,log_likelihood,"
          "differs_from_best\n",
          out);
    for (uint64_t i = 0; i < CF_REPLAY_CANDIDATES; i++) {
        const struct cf_replay_score *s = &f->score[i];
        const int guesses = s->policy == CF_RANDOM;
        const double judged = (double)f->totals.judged;

        cf_csv_u64(out, 1, i + 1);
        cf_csv_text(out, 0, cf_policy_name(s->policy));
        cf_csv_text(out, 0, verdicts[s->verdict]);
        cf_csv_u64(out, 0, f->totals.judged);
        if (guesses)
            cf_csv_text(out, 0, "");
        else
            cf_csv_u64(out, 0, s->exact);
        cf_csv_f64(out, 0, guesses || judged <= 0 ? NAN : (double)s->exact / judged, 6);
        cf_csv_f64(out, 0, s->lines ? (double)s->right / (double)s->lines : NAN, 6);
        cf_csv_f64(out, 0, s->log_likelihood, 3);
        cf_csv_u64(out, 0, s->differs);
        cf_csv_end(out);
    }
    return 0;
}
