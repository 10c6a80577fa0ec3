/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_csv.c - the answers of cf-policy as CSV, and what draws them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "filters/parts/policy/policy.h"
#include "formats/program/cf_rows.h"

static void test(FILE *out, const char *name, const struct cf_chi_squared *c, double alpha,
                 const char *verdict, const char *holds, const char *fails)
{
    const int few = !(c->least >= 5) || isnan(c->p);

    cf_csv_print(out, "%s_chi_squared,%.3f\n", name, isnan(c->p) ? NAN : c->statistic);
    cf_csv_print(out, "%s_degrees_of_freedom,%" PRIu64 "\n", name, (uint64_t)c->degrees);
    cf_csv_print(out, "%s_p_value,%.6f\n", name, c->p);
    cf_csv_print(out, "%s,%s\n", verdict, few ? "too few decisions" : c->p < alpha ? fails : holds);
}

static void print_best(FILE *out, const struct findings *f)
{
    char names[256] = "";
    size_t n = 0;

    for (int i = 0; i < CF_CANDIDATES_ALL; i++) {
        const struct cf_candidates_score *s = &f->score[i];

        if (s->verdict == CF_CANDIDATES_BEST || s->verdict == CF_CANDIDATES_NOT_APART)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? " or " : "",
                                  cf_policy_name(s->policy));
    }
    cf_csv_print(out, "policy,%s\n", n ? names : "no evidence");
}

static void print_summary(FILE *out, const struct findings *f)
{
    const struct cf_placement *p = f->placement;
    const struct cf_chi_squared ways = cf_placement_ways(p), steps = cf_placement_steps(p);

    cf_csv_print(out, "result,value\nsnapshots,%" PRIu64 "\nsets,%u\nways,%u\n", f->snapshots,
                 f->sets, f->ways);
    cf_csv_print(
        out, "decisions,%" PRIu64 "\nseveral_in_a_set,%" PRIu64 "\ninto_invalid_ways,%" PRIu64 "\n",
        p->decisions, p->several, p->fills);
    test(out, "way", &ways, f->alpha, "way_choice", "uniform", "not uniform");
    test(out, "step", &steps, f->alpha, "successive_choices", "independent", "not independent");
    if (!f->score)
        return;
    cf_csv_print(out,
                 "judged_sets,%" PRIu64 "\nnothing_replaced,%" PRIu64 "\nstate_not_known,%" PRIu64
                 "\nnot_explained,%" PRIu64 "\naccesses_without_frame,%" PRIu64 "\n",
                 f->totals.judged, f->totals.trivial, f->totals.unknown, f->totals.unexplained,
                 f->unplaced);
    print_best(out, f);
}

static int print_ways(const void *findings, FILE *out)
{
    const struct cf_placement *p = ((const struct findings *)findings)->placement;

    fputs("way,decisions,probability,uniform_probability,into_invalid\n", out);
    for (uint32_t w = 0; w < p->ways; w++) {
        cf_csv_print(out, "%u,%" PRIu64 ",%.6f,%.6f,%" PRIu64 "\n", w, p->took[w],
                     p->decisions ? (double)p->took[w] / (double)p->decisions : NAN, 1.0 / p->ways,
                     p->filled[w]);
    }
    return 0;
}

static int print_survivors(const void *findings, FILE *out)
{
    const struct findings *f = findings;
    const struct cf_survivors_row *row = f->survivor;

    fputs("rounds,lines,cached,snapshots,probability\n", out);
    for (size_t i = 0; i < f->survivors; i++) {
        cf_csv_print(out, "%u,%u,%u,%" PRIu64 ",%.6f\n", row[i].rounds, row[i].lines, row[i].cached,
                     row[i].count, (double)row[i].count / (double)row[i].total);
    }
    return 0;
}

static int print_policies(const void *findings, FILE *out)
{
    const struct findings *f = findings;
    static const char *const verdicts[] = {"no evidence", "best", "cannot be told apart", "worse"};

    fputs("rank,policy,verdict,judged_sets,exact,exact_share,lines_right_share,log_likelihood,"
          "differs_from_best\n",
          out);
    for (unsigned i = 0; i < CF_CANDIDATES_ALL; i++) {
        const struct cf_candidates_score *s = &f->score[i];
        const int guesses = s->policy == CF_RANDOM;
        const double judged = (double)f->totals.judged;

        cf_csv_print(out, "%u,%s,%s,%" PRIu64 ",", i + 1, cf_policy_name(s->policy),
                     verdicts[s->verdict], f->totals.judged);
        if (!guesses)
            cf_csv_u64(out, 1, s->exact);
        cf_csv_print(out, ",%.6f,%.6f,%.3f,%" PRIu64 "\n",
                     guesses || judged <= 0 ? NAN : (double)s->exact / judged,
                     s->lines ? (double)s->right / (double)s->lines : NAN, s->log_likelihood,
                     s->differs);
    }
    return 0;
}

void print_results(struct work *w)
{
    const struct options *o = &w->o;
    struct cf_candidates_score score[CF_CANDIDATES_ALL];
    struct cf_survivors_row *row = NULL;
    struct findings f = {
        .snapshots = w->snaps->count,
        .sets = w->snaps->now.sets,
        .ways = w->snaps->now.ways,
        .placement = &w->placement,
        .alpha = o->alpha,
    };

    if (w->candidates && !w->no_candidates) {
        cf_candidates_rank(w->candidates, score);
        f.score = score;
        f.totals = cf_candidates_totals(w->candidates);
        f.unplaced = accesses_unplaced(w->accesses);
    }
    if (w->snaps->count && !w->placement.ways && !w->tool.quiet &&
        (o->ways || (o->output.picture && !o->survivors)))
        cf_warn(&w->tool, "no snapshot follows another without a flush in between: which way was "
                          "chosen is not known of any line");
    cf_rows_begin(&w->tool);
    if (o->ways)
        cf_tool_file(&w->tool, o->ways, print_ways, &f);
    if (o->survivors) {
        row = cf_survivors_rows(w->survivors, &f.survivors);
        cf_must(&w->tool, !row && w->snaps->count);
        f.survivor = row;
        cf_tool_file(&w->tool, o->survivors, print_survivors, &f);
    }
    if (o->output.picture)
        (o->survivors ? draw_survivors : draw_ways)(w, &f);
    if (o->policies && f.score)
        cf_tool_file(&w->tool, o->policies, print_policies, &f);
    if (!o->to_stdout && cf_output_stdout(&w->tool, &o->output) != CF_STDOUT_PICTURE)
        print_summary(stdout, &f);
    free(row);
}
