/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.c - which runs are made, in which order, and the rows that they give.
 *
 * Sample after sample: in each, a run with no page cached, one with all, and one of each kind that
 * is asked for. So a machine that becomes slower meanwhile is so for all pages alike, and what was
 * cut off has as many runs of one page as of another.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/pages/bisect.h"
#include "capture/pages/pages.h"
#include "formats/base/cf_number.h"

void pages_emit(struct pages *k, enum cf_page_policy policy, const struct pages_unit *unit,
                uint32_t best, uint32_t sample, uint64_t cycles)
{
    struct cf_writer *w = k->writer;
    const char *region = unit ? k->layout.mapping[unit->mapping].region : "";
    const struct cf_values row[] = {{CF_REGION, NULL, cf_writer_string(w, region)},
                                    {CF_PAGENO, NULL, unit ? unit->number : 0},
                                    {CF_SAMPLE, NULL, sample},
                                    {CF_RUNTIME, NULL, cycles},
                                    {CF_POLICY, NULL, policy},
                                    {CF_BEST, NULL, best},
                                    {CF_CALL_NUMBER, NULL, k->o.call}};

    (void)cf_writer_rows(w, CF_PAGE, 1, row, 7, NULL); /* the writer keeps its problem */
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

/* A run of the plan: of a unit, or of the best so many. */
struct kind {
    enum cf_page_policy policy;
    uint32_t unit, best;
};

struct plan {
    struct pages *k;
    struct kind *kind; /* of one sample */
    size_t kinds;
    uint32_t *place; /* units in the order of --rank */
    uint8_t *off;    /* of the next run, by unit */
    uint8_t *done;   /* by sample and kind: an earlier output has it */
};

static void make_kinds(struct plan *p)
{
    struct pages *k = p->k;
    const uint32_t units = (uint32_t)k->units;

    p->kind = cf_tool_room(&k->tool, k->units + 3, sizeof *p->kind);
    p->kind[p->kinds++] = (struct kind){CF_PAGES_NONE, units, 0};
    p->kind[p->kinds++] = (struct kind){CF_PAGES_ALL, units, 0};
    for (uint32_t i = 0; i < units && !k->o.rank; i++)
        p->kind[p->kinds++] = (struct kind){k->o.mode, i, k->o.group > 1 ? k->unit[i].pages : 0};
    if (k->o.migrate)
        p->kind[p->kinds++] = (struct kind){CF_PAGES_MIGRATED, units, k->o.migrate};
    /* with none and with all of them these are the first two */
    for (uint32_t i = 1; i < units && k->o.rank && !k->o.migrate; i++)
        p->kind[p->kinds++] = (struct kind){CF_PAGES_BEST, units, i};
    p->place = cf_tool_room(&k->tool, k->units + 1, sizeof *p->place);
    for (uint32_t i = 0; i < units && k->o.rank; i++)
        p->place[k->unit[i].place] = i;
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

static void emit(struct plan *p, const struct kind *kind, uint32_t sample, uint64_t cycles)
{
    struct pages *k = p->k;

    pages_emit(k, kind->policy, kind->unit < k->units ? &k->unit[kind->unit] : NULL, kind->best,
               sample, cycles);
    if (k->o.rank && !k->o.migrate && kind->policy == CF_PAGES_NONE)
        pages_emit(k, CF_PAGES_BEST, NULL, 0, sample, cycles);
    if (k->o.rank && !k->o.migrate && kind->policy == CF_PAGES_ALL)
        pages_emit(k, CF_PAGES_BEST, NULL, (uint32_t)k->units, sample, cycles);
}

/* The kind of an earlier row, or p->kinds. */
static size_t find_kind(const struct plan *p, const struct pages_row *row)
{
    const struct pages *k = p->k;
    const size_t at = pages_find_unit(k, row->region, row->page);

    if (row->policy == CF_PAGES_NONE || row->policy == CF_PAGES_ALL)
        return row->policy - CF_PAGES_NONE;
    if (row->policy == k->o.mode && !k->o.rank)
        return at < k->units ? 2 + at : p->kinds;
    if (row->policy == CF_PAGES_MIGRATED && k->o.migrate && row->best == k->o.migrate)
        return 2;
    if (row->policy == CF_PAGES_BEST && k->o.rank && !k->o.migrate && row->best > 0 &&
        row->best < k->units)
        return 1 + (size_t)row->best;
    return p->kinds;
}

/* Rows of the best none and the best all come with others. */
static int derived(const struct plan *p, const struct pages_row *row)
{
    return row->policy == CF_PAGES_BEST && p->k->o.rank && (!row->best || row->best == p->k->units);
}

/* The place of a row's run among all runs, or SIZE_MAX. */
static size_t find_place(const struct plan *p, const struct pages_row *row)
{
    const size_t at = find_kind(p, row);

    if (at == p->kinds || !row->sample || row->sample > p->k->o.samples ||
        row->call != p->k->o.call)
        return SIZE_MAX;
    return (row->sample - (size_t)1) * p->kinds + at;
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
        emit(p, &p->kind[at % p->kinds], row[i].sample, row[i].cycles);
        p->done[at] = 1;
        done++;
    }
    if (!p->k->tool.quiet)
        cf_warn(&p->k->tool, "--resume: %zu of %zu runs are there", done,
                p->kinds * p->k->o.samples);
    return done;
}

void pages_plan(struct pages *k)
{
    struct plan p = {.k = k};
    size_t made = 0, all;

    if (k->o.rank)
        pages_order(k);
    if (k->o.migrate > k->units)
        cf_die(&k->tool, CF_EXIT_USAGE, "--migrate %u: there are %zu pages", k->o.migrate,
               k->units);
    make_kinds(&p);
    all = p.kinds * k->o.samples;
    p.off = cf_tool_room(&k->tool, k->units + 1, 1);
    p.done = cf_tool_room(&k->tool, all, 1);
    if (k->o.resume)
        made = take_over(&p);
    for (size_t at = 0; at < all; at++) {
        const uint32_t sample = (uint32_t)(at / p.kinds) + 1;
        const struct kind *kind = &p.kind[at % p.kinds];
        struct pages_run run;

        if (p.done[at])
            continue;
        make_run(&p, kind, &run);
        if (!pages_measure(k, &run, made++, all))
            break;
        if (!*run.why)
            emit(&p, kind, sample, run.cycles);
    }
}

/* ---- the best few ---- */

enum { BEST = 10 };

struct search {
    struct pages *k;
    uint8_t *off;
    uint32_t *samples; /* rows so far, by unit */
    uint64_t most;
    size_t runs;
};

static int search_run(void *arg, uint32_t from, uint32_t to, double *gain)
{
    struct search *s = arg;
    struct pages *k = s->k;
    const int only = k->o.mode == CF_PAGES_ONLY;
    enum { TRIES = 3 };

    for (unsigned i = 0; i < TRIES; i++) {
        struct pages_run run = {.purpose = PAGES_SAMPLE, .off = s->off};

        memset(s->off, only, k->units);
        memset(s->off + from, !only, to - from);
        if (!pages_measure(k, &run, s->runs++, s->most))
            return -2;
        if (*run.why)
            continue;
        if (to - from == 1)
            pages_emit(k, k->o.mode, &k->unit[from], k->o.group > 1 ? k->unit[from].pages : 0,
                       ++s->samples[from], run.cycles);
        *gain = (only ? -1.0 : 1.0) * (double)run.cycles;
        return 0;
    }
    cf_warn(&k->tool, "--bisect: a run failed %d times: the search ends", TRIES);
    return -2;
}

void pages_bisect(struct pages *k)
{
    uint32_t page[BEST];
    struct search s = {.k = k,
                       .off = cf_tool_room(&k->tool, k->units + 1, 1),
                       .samples = cf_tool_room(&k->tool, k->units + 1, sizeof *s.samples)};
    struct cf_bisect b = {.count = (uint32_t)k->units,
                          .best = BEST,
                          .samples = k->o.samples,
                          .most = cf_bisect_most((uint32_t)k->units, BEST, k->o.samples),
                          .run = search_run,
                          .arg = &s,
                          .page = page};
    int going = 1, status = -2;

    s.most = b.most + 2 * (uint64_t)k->o.samples;
    for (uint32_t i = 0; going && i < 2 * k->o.samples; i++) {
        struct pages_run run = {.purpose = PAGES_SAMPLE, .off = i % 2 ? NULL : s.off};

        memset(s.off, 1, k->units);
        going = pages_measure(k, &run, s.runs++, s.most);
        if (going && !*run.why)
            pages_emit(k, i % 2 ? CF_PAGES_ALL : CF_PAGES_NONE, NULL, 0, i / 2 + 1, run.cycles);
    }
    if (going)
        status = cf_bisect(&b);
    if (status == -1)
        cf_out_of_memory(&k->tool);
    if (status == 0) {
        cf_warn(&k->tool,
                "--bisect: the %u best of %zu pages by %" PRIu64 " runs of %" PRIu64
                ": confidence %s that the last of them gains more than the strongest of the others",
                b.found, k->units, b.runs, cf_product(k->units, k->o.samples),
                b.confidence < 0 ? "not known, with one run of each,"
                                 : cf_tool_text(&k->tool, "%.0f %%", 100 * b.confidence));
        for (uint32_t i = 0; i < b.found && !k->tool.quiet; i++)
            cf_warn(&k->tool, "%u: %s page %u", i + 1,
                    k->layout.mapping[k->unit[page[i]].mapping].region, k->unit[page[i]].number);
    }
}
