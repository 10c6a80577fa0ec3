/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search.c - the runs of --bisect, and what it found.
 */
#include <inttypes.h>
#include <string.h>

#include "capture/pages/bisect.h"
#include "capture/pages/pages.h"
#include "formats/base/cf_number.h"

enum { BEST = 10 };

struct search {
    struct pages *k;
    uint8_t *off;
    uint32_t *samples; /* rows so far, by unit */
    uint64_t most;     /* runs of the search itself */
    uint64_t made;     /* of these */
    uint32_t pairs;    /* of runs with none and with all cached, which are not */
    size_t runs;       /* of all kinds */
};

/* A run with no page cached, and one with all: 1, or 0 where that is the end. */
static int baselines(struct search *s)
{
    struct pages *k = s->k;
    const uint64_t of = s->most + 2 * (k->o.samples + 1);

    s->pairs++;
    for (unsigned all = 0; all < 2; all++) {
        struct pages_run run = {.purpose = PAGES_SAMPLE, .off = all ? NULL : s->off};

        memset(s->off, 1, k->units);
        if (!pages_measure(k, &run, s->runs++, of))
            return 0;
        if (!*run.why)
            pages_emit(k, all ? CF_PAGES_ALL : CF_PAGES_NONE, NULL, 0, s->pairs, &run.reading);
    }
    return 1;
}

static int search_run(void *arg, uint32_t from, uint32_t to, double *gain)
{
    struct search *s = arg;
    struct pages *k = s->k;
    const int only = k->o.mode == CF_PAGES_ONLY;
    enum { TRIES = 3 };

    /* as many as samples, between the others */
    if (s->pairs < k->o.samples && s->made >= s->pairs * s->most / k->o.samples && !baselines(s))
        return -2;
    s->made++;
    for (unsigned i = 0; i < TRIES; i++) {
        struct pages_run run = {.purpose = PAGES_SAMPLE, .off = s->off};

        memset(s->off, only, k->units);
        memset(s->off + from, !only, to - from);
        if (!pages_measure(k, &run, s->runs++, s->most + 2 * (k->o.samples + 1)))
            return -2;
        if (*run.why)
            continue;
        if (to - from == 1)
            pages_emit(k, k->o.mode, &k->unit[from], k->o.group > 1 ? k->unit[from].pages : 0,
                       ++s->samples[from], &run.reading);
        *gain = (only ? -1.0 : 1.0) * (double)run.reading.cycles;
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
    int status;

    s.most = b.most;
    status = cf_bisect(&b);
    while (status == 0 && s.pairs <= k->o.samples)
        status = baselines(&s) ? 0 : -2;
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
