/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.c - which runs are made, in which order, and the rows that they give.
 *
 * Sample after sample: in each, one run of each kind that is asked for. So a machine that becomes
 * slower meanwhile is so for all pages alike, and what was cut off has as many runs of one page as
 * of another. Runs with no page cached and with all of them come first, between the others, and
 * last: every gain is against the mean of these, and if they were made at one time, what the
 * machine was like then would be a gain, or a loss, of all pages.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/pages/pages.h"

void pages_emit(struct pages *k, enum cf_page_policy policy, const struct pages_unit *unit,
                uint32_t best, uint32_t sample, const struct pages_reading *r)
{
    struct cf_writer *w = k->writer;
    const char *region = unit ? k->layout.mapping[unit->mapping].region : "";
    struct cf_values row[7 + PAGES_COUNTERS] = {{CF_REGION, NULL, cf_writer_string(w, region)},
                                                {CF_PAGENO, NULL, unit ? unit->number : 0},
                                                {CF_SAMPLE, NULL, sample},
                                                {CF_RUNTIME, NULL, r->cycles},
                                                {CF_POLICY, NULL, policy},
                                                {CF_BEST, NULL, best},
                                                {CF_CALL_NUMBER, NULL, k->o.call}};

    for (unsigned i = 0; i < k->counters; i++)
        row[7 + i] = (struct cf_values){k->counter[i].id, NULL, r->counter[i]};
    (void)cf_writer_rows(w, CF_PAGE, 1, row, 7 + k->counters, NULL); /* it keeps its problem */
    k->rows++;
}

/* ---- one run ---- */

static double now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void show(struct pages *k, size_t number, size_t of)
{
    static double begun;
    static size_t first;
    double left;

    if (begun <= 0) {
        begun = now_s();
        first = number;
    }
    if (!cf_tool_due(&k->tool))
        return;
    left =
        number > first ? (now_s() - begun) / (double)(number - first) * (double)(of - number) : 0;
    cf_tool_show(&k->tool, "run %zu of %s%zu, %.0f min %02.0f s left", number + 1,
                 k->o.bisect ? "at most " : "", of, (double)(int)(left / 60),
                 left - 60 * (double)(int)(left / 60));
}

int pages_measure(struct pages *k, struct pages_run *run, size_t number, size_t of)
{
    show(k, number, of);
    if (pages_run(k, run) != 0)
        return 0;
    if (*run->why && !k->dropped++)
        cf_warn(&k->tool, "a sample is dropped: %s", run->why);
    return !cf_writer_problem(k->writer) && cf_writer_flush(k->writer) == 0;
}

/* ---- all of them ---- */

enum { PAIR_EVERY = 128 }; /* so many others there are at most between two pairs */

/* A run of the plan: of a unit, of the best so many, or of the N-th pair of the sample. */
struct kind {
    enum cf_page_policy policy;
    uint32_t unit, best, pair;
};

/* The runs of all samples are numbered through, `kinds` each; behind them is one more pair. */
struct plan {
    struct pages *k;
    struct kind *kind; /* of one sample, in their order */
    size_t kinds;
    uint32_t pairs, others; /* of runs with none and with all cached, in one sample; of the rest */
    uint32_t *place;        /* units in the order of --rank */
    uint8_t *off;           /* of the next run, by unit */
    uint8_t *done;          /* by number of the run: an earlier output has it */
};

/* How many of the other runs of a sample come before its pair. */
static size_t before_pair(const struct plan *p, size_t pair)
{
    return pair * p->others / p->pairs;
}

static struct kind other_kind(const struct plan *p, uint32_t i)
{
    const struct pages *k = p->k;
    const uint32_t units = (uint32_t)k->units;

    if (k->o.migrate)
        return (struct kind){CF_PAGES_MIGRATED, units, k->o.migrate, 0};
    if (k->o.rank) /* with none and with all of them these are the pairs */
        return (struct kind){CF_PAGES_BEST, units, i + 1, 0};
    return (struct kind){k->o.mode, i, k->o.group > 1 ? k->unit[i].pages : 0, 0};
}

static void make_kinds(struct plan *p)
{
    struct pages *k = p->k;
    const uint32_t units = (uint32_t)k->units;
    uint32_t pair = 0;

    p->others = k->o.migrate ? 1 : k->o.rank ? units - 1 : units;
    p->pairs = p->others > 1 ? 2 + p->others / PAIR_EVERY : 1;
    p->kind = cf_tool_room(&k->tool, p->others + 2 * (size_t)p->pairs, sizeof *p->kind);
    for (uint32_t i = 0; i < p->others || pair < p->pairs; i++) {
        for (; pair < p->pairs && before_pair(p, pair) == i; pair++) {
            p->kind[p->kinds++] = (struct kind){CF_PAGES_NONE, units, 0, pair};
            p->kind[p->kinds++] = (struct kind){CF_PAGES_ALL, units, 0, pair};
        }
        if (i < p->others)
            p->kind[p->kinds++] = other_kind(p, i);
    }
    p->place = cf_tool_room(&k->tool, k->units + 1, sizeof *p->place);
    for (uint32_t i = 0; i < units && k->o.rank; i++)
        p->place[k->unit[i].place] = i;
}

/* The number of that run, from 0: pairs are those of all samples. */
static size_t pair_at(const struct plan *p, size_t pair, enum cf_page_policy policy)
{
    const size_t here = pair % p->pairs;

    return pair / p->pairs * p->kinds + 2 * here + before_pair(p, here) + (policy == CF_PAGES_ALL);
}

static size_t other_at(const struct plan *p, size_t sample, size_t other)
{
    size_t pairs = 0;

    while (pairs < p->pairs && before_pair(p, pairs) <= other)
        pairs++;
    return sample * p->kinds + 2 * pairs + other;
}

static uint32_t sample_of(const struct plan *p, size_t at)
{
    const struct kind *kind = &p->kind[at % p->kinds];
    const size_t sample = at / p->kinds;

    if (kind->policy == CF_PAGES_NONE || kind->policy == CF_PAGES_ALL)
        return (uint32_t)(sample * p->pairs + kind->pair + 1);
    return (uint32_t)sample + 1;
}

/* Which units are not cached in a run of that kind. */
static void make_run(struct plan *p, const struct kind *kind, struct pages_run *run)
{
    const size_t units = p->k->units;

    *run = (struct pages_run){.purpose = PAGES_SAMPLE, .off = p->off};
    memset(p->off,
           kind->policy == CF_PAGES_NONE || kind->policy == CF_PAGES_ONLY ||
               kind->policy == CF_PAGES_BEST,
           units);
    if (kind->policy == CF_PAGES_ALL || kind->policy == CF_PAGES_MIGRATED)
        run->off = NULL;
    if (kind->policy == CF_PAGES_ONLY || kind->policy == CF_PAGES_BUT)
        p->off[kind->unit] ^= 1;
    if (kind->policy == CF_PAGES_MIGRATED) {
        run->move = p->place;
        run->moves = kind->best;
    }
    for (uint32_t i = 0; kind->policy == CF_PAGES_BEST && i < kind->best; i++)
        p->off[p->place[i]] = 0;
}

static void emit(struct plan *p, const struct kind *kind, uint32_t sample,
                 const struct pages_reading *r)
{
    struct pages *k = p->k;
    const uint32_t unit = kind->policy == CF_PAGES_BEST ? p->place[kind->best - 1] : kind->unit;

    pages_emit(k, kind->policy, unit < k->units ? &k->unit[unit] : NULL, kind->best, sample, r);
    if (k->o.rank && !k->o.migrate && kind->policy == CF_PAGES_NONE)
        pages_emit(k, CF_PAGES_BEST, NULL, 0, sample, r);
    if (k->o.rank && !k->o.migrate && kind->policy == CF_PAGES_ALL)
        pages_emit(k, CF_PAGES_BEST, k->units ? &k->unit[p->place[k->units - 1]] : NULL,
                   (uint32_t)k->units, sample, r);
}

/* Which of the other runs of a sample an earlier row is of, or p->others. */
static size_t find_other(const struct plan *p, const struct pages_row *row)
{
    const struct pages *k = p->k;

    if (k->o.migrate)
        return row->policy == CF_PAGES_MIGRATED && row->best == k->o.migrate ? 0 : p->others;
    if (k->o.rank)
        return row->policy == CF_PAGES_BEST && row->best > 0 && row->best < k->units ? row->best - 1
                                                                                     : p->others;
    return row->policy == k->o.mode ? pages_find_unit(k, row->region, row->page) : p->others;
}

/* Rows of the best none and the best all come with others. */
static int derived(const struct plan *p, const struct pages_row *row)
{
    return row->policy == CF_PAGES_BEST && p->k->o.rank && (!row->best || row->best == p->k->units);
}

/* The number of a row's run, or SIZE_MAX. */
static size_t find_place(const struct plan *p, const struct pages_row *row)
{
    const struct pages_options *o = &p->k->o;
    size_t other;

    if (!row->sample || row->call != o->call)
        return SIZE_MAX;
    if (row->policy == CF_PAGES_NONE || row->policy == CF_PAGES_ALL)
        return row->sample <= (uint64_t)o->samples * p->pairs + 1
                   ? pair_at(p, row->sample - 1, row->policy)
                   : SIZE_MAX;
    other = find_other(p, row);
    return other < p->others && row->sample <= o->samples ? other_at(p, row->sample - 1, other)
                                                          : SIZE_MAX;
}

/* Takes over what was measured before. */
static size_t take_over(struct plan *p)
{
    const struct pages_row *row = p->k->earlier;
    const size_t rows = p->k->earlier_rows;
    size_t done = 0, foreign = 0;

    for (size_t i = 0; i < rows; i++)
        foreign += !derived(p, &row[i]) && find_place(p, &row[i]) == SIZE_MAX;
    if (foreign)
        cf_die(&p->k->tool, CF_EXIT_INPUT,
               "--resume: %zu of the %zu rows are of other pages or options than these: nothing is "
               "changed",
               foreign, rows);
    pages_earlier_keep(p->k);
    for (size_t i = 0; i < rows; i++) {
        const size_t at = derived(p, &row[i]) ? SIZE_MAX : find_place(p, &row[i]);

        if (at == SIZE_MAX || p->done[at])
            continue;
        emit(p, &p->kind[at % p->kinds], row[i].sample, &row[i].reading);
        p->done[at] = 1;
        done++;
    }
    if (!p->k->tool.quiet)
        cf_warn(&p->k->tool, "--resume: %zu of %zu runs are there", done,
                p->kinds * p->k->o.samples + 2);
    return done;
}

void pages_plan(struct pages *k)
{
    struct plan p = {.k = k};
    size_t made = 0, all;

    if (k->o.migrate > k->units)
        cf_die(&k->tool, CF_EXIT_USAGE, "--migrate %u: there are %zu pages", k->o.migrate,
               k->units);
    make_kinds(&p);
    all = p.kinds * k->o.samples + 2;
    p.off = cf_tool_room(&k->tool, k->units + 1, 1);
    p.done = cf_tool_room(&k->tool, all, 1);
    if (k->o.resume)
        made = take_over(&p);
    for (size_t at = 0; at < all; at++) {
        const struct kind *kind = &p.kind[at % p.kinds];
        struct pages_run run;

        if (p.done[at])
            continue;
        make_run(&p, kind, &run);
        if (!pages_measure(k, &run, made++, all))
            break;
        if (!*run.why)
            emit(&p, kind, sample_of(&p, at), &run.reading);
    }
}
