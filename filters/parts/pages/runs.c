/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs.c - the readings of the trace, and what they say: with no page cached and with all, with
 * each page alone, with all but each, with the best k.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/pages/pages.h"

void pages_emit(const struct pages *p, enum cf_page_policy policy, const struct page_name *name,
                uint32_t k, uint64_t cycles)
{
    struct cf_writer *w = p->writer;
    const struct cf_values row[] = {{CF_REGION, NULL, name ? cf_writer_string(w, name->region) : 0},
                                    {CF_PAGENO, NULL, name ? name->page : 0},
                                    {CF_SAMPLE, NULL, 1},
                                    {CF_RUNTIME, NULL, cycles},
                                    {CF_POLICY, NULL, policy},
                                    {CF_BEST, NULL, k}};

    (void)cf_writer_rows(w, CF_PAGE, 1, row, 6, NULL); /* the writer keeps its problem */
}

/* ---- readings ---- */

static struct cf_subsets *simulations(struct pages *p, const uint32_t *place,
                                      const struct cf_subset *subset, size_t count)
{
    char problem[512];
    struct cf_subsets *s = cf_subsets_new(&p->paged, place, subset, count, problem, sizeof problem);

    if (!s)
        cf_die(&p->tool, errno == ENOMEM ? CF_EXIT_ENVIRONMENT : CF_EXIT_USAGE, "%s: %s",
               p->machine->name, problem);
    return s;
}

static uint64_t runtime(const struct pages *p, const struct cf_subsets *s, size_t subset)
{
    uint64_t cycles[CF_MAX_CORES];

    for (unsigned c = 0; c < p->paged.cores; c++)
        cycles[c] = cf_subsets_cycles(s, subset, c);
    return pages_runtime(p, cycles);
}

/* The cycles of rows when no page is cached. */
static void add_base(struct pages *p)
{
    const struct cf_paged *rows = &p->rows;
    static const uint8_t bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    unsigned seen = 0;

    for (uint32_t i = 0, end; i < rows->rows; i = end) {
        uint64_t cycles = 0;

        end = cf_paged_same_core(rows, i);
        for (uint32_t k = i; k < end; k++) {
            cycles += cf_paged_uncached(&p->paged, rows, k);
            seen |= bit[cf_latency_key(0, rows->op[k])];
        }
        p->base[rows->core[i]] += cycles;
    }
    for (unsigned key = 0; key < sizeof p->seen; key++)
        p->seen[key] |= seen >> key & 1;
}

/* The first reading finds the pages, and knows the runs with none and with all of them. */
void pages_first(struct pages *p, uint64_t *none, uint64_t *all)
{
    const struct cf_subset every = {0, 0, 1};
    struct cf_subsets *s = simulations(p, NULL, &every, 1);

    if (p->mode == PAGES_CACHED && cf_alone_frames(&p->paged))
        p->alone = cf_need(&p->tool, cf_alone_new(&p->paged));
    pages_open(p);
    while (pages_next(p)) {
        add_base(p);
        cf_must(&p->tool, cf_subsets_rows(s, &p->rows, 1));
        if (p->alone)
            cf_must(&p->tool, cf_alone_rows(p->alone, &p->rows));
    }
    cf_tool_fit(&p->tool, p->reader);
    cf_tool_note(&p->tool, cf_tool_problems(&p->tool, p->reader));
    pages_close(p);
    *none = pages_runtime(p, p->base);
    *all = runtime(p, s, 0);
    cf_subsets_free(s);
}

/* Runs the simulations of all subsets, as many at once as memory holds: their runtimes. */
static uint64_t *simulate(struct pages *p, const uint32_t *place, const struct cf_subset *subset,
                          size_t count)
{
    uint64_t *result = cf_tool_room(&p->tool, count + 1, sizeof *result);
    const uint64_t fit = p->memory / cf_subset_bytes(&p->paged);
    const size_t most = fit ? (size_t)fit : 1;

    for (size_t at = 0, n; at < count; at += n) {
        struct cf_subsets *s;

        n = count - at < most ? count - at : most;
        s = simulations(p, place, subset + at, n);
        pages_open(p);
        while (pages_next(p))
            cf_must(&p->tool, cf_subsets_rows(s, &p->rows, p->threads));
        pages_close(p);
        for (size_t i = 0; i < n; i++)
            result[at + i] = runtime(p, s, i);
        cf_subsets_free(s);
    }
    return result;
}

/* ---- the three kinds of answers ---- */

/* Pages that no reading of all knows have a simulation each. */
void pages_one_by_one(struct pages *p)
{
    const uint32_t frames = p->alone ? cf_alone_frames(&p->paged) : 0;
    const unsigned cores = p->paged.cores;
    uint64_t *cycles = cf_tool_room(&p->tool, (p->names + 1) * cores, sizeof *cycles);
    struct cf_subset *subset = cf_tool_room(&p->tool, p->names + 1, sizeof *subset);
    uint64_t *result;
    size_t count = 0;

    for (uint32_t i = 0; i < p->names; i++) {
        memcpy(cycles + i * (size_t)cores, p->base, cores * sizeof *cycles);
        if (p->name[i].frames > frames)
            subset[count++] = (struct cf_subset){i, i + 1, p->mode == PAGES_UNCACHED};
    }
    for (uint32_t i = 0; p->alone && i < cf_counts_size(p->frame); i++)
        for (unsigned c = 0; c < cores; c++)
            cycles[p->page_of[i] * (size_t)cores + c] -= (uint64_t)cf_alone_gain(p->alone, i, c);
    if (count && !strcmp(p->file, "-"))
        cf_die(&p->tool, CF_EXIT_INPUT,
               "%zu pages lay at several addresses, which takes another reading: store the trace "
               "in a file (cf-cat -o)",
               count);
    result = simulate(p, p->page_of, subset, count);
    for (uint32_t i = 0, next = 0; i < p->names; i++)
        pages_emit(p, p->mode == PAGES_UNCACHED ? CF_PAGES_BUT : CF_PAGES_ONLY, &p->name[i], 0,
                   p->name[i].frames > frames ? result[next++]
                                              : pages_runtime(p, cycles + i * (size_t)cores));
}

/* Whether one reading serves all k. */
static int fits(const struct pages *p)
{
    unsigned cores = 0;

    for (unsigned c = 0; c < p->paged.cores; c++)
        cores += p->ran[c] != 0;
    return cores == 1 && !p->seen[CF_FLUSH] && cf_nested_fits(&p->paged);
}

/* One reading for k in [from, to); 0: it takes more than --memory. */
static int nested_range(struct pages *p, const uint32_t *place, uint32_t from, uint32_t to,
                        uint64_t *result)
{
    struct cf_nested *n = cf_need(
        &p->tool, cf_nested_new(&p->paged, place, (uint32_t)p->names, from, to, p->threads));
    unsigned core = 0;
    int fits = 1;

    pages_open(p);
    while (fits && pages_next(p)) {
        cf_must(&p->tool, cf_nested_rows(n, &p->rows));
        fits = to - from == 1 || cf_nested_bytes(n) <= p->memory;
    }
    pages_close(p);
    cf_must(&p->tool, cf_nested_end(n));
    while (!p->ran[core])
        core++;
    for (uint32_t k = from; k < to; k++) {
        uint64_t cycles[CF_MAX_CORES] = {0};

        cycles[core] = cf_nested_cycles(n, k);
        result[k - 1] = pages_runtime(p, cycles);
    }
    cf_nested_free(n);
    return fits;
}

/* Runtimes for all k below `most`, as many in one reading as memory holds. */
static uint64_t *nested(struct pages *p, const uint32_t *place, uint32_t most)
{
    uint64_t *result = cf_tool_room(&p->tool, most + (size_t)1, sizeof *result);

    for (uint32_t from = 1, count = most - 1; from < most;) {
        const uint32_t to = most - from < count ? most : from + count;

        if (nested_range(p, place, from, to, result))
            from = to;
        else
            count = (to - from) / 2;
    }
    return result;
}

void pages_best(struct pages *p, uint64_t none, uint64_t all)
{
    const uint32_t *place = pages_order(p), most = (uint32_t)p->names;
    struct cf_subset *subset = cf_tool_room(&p->tool, p->names + 1, sizeof *subset);
    uint64_t *result;

    for (uint32_t k = 1; k < most; k++)
        subset[k - 1] = (struct cf_subset){0, k, 0};
    result = fits(p) ? nested(p, place, most) : simulate(p, place, subset, most ? most - 1 : 0);
    for (uint32_t k = 0; k <= most; k++)
        pages_emit(p, CF_PAGES_BEST, k ? &p->name[p->best[k - 1]] : NULL, k,
                   !k          ? none
                   : k == most ? all
                               : result[k - 1]);
}
