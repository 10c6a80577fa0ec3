/* SPDX-License-Identifier: BSD-2-Clause */
/* order.c - the pages of the trace in the order of a profile: those with the greatest gains first,
   then those that it does not have. */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/pages/pages.h"
#include "filters/ranking/profile.h"
#include "formats/together/cf_made.h"

static int by_name(const void *x, const void *y, void *names)
{
    const struct page_name *name = names, *a = &name[*(const uint32_t *)x],
                           *b = &name[*(const uint32_t *)y];

    return strcmp(a->region, b->region) ?: (a->page > b->page) - (a->page < b->page);
}

/* The number of a page of the trace, or that of no page. */
static uint32_t find(const struct pages *p, const uint32_t *sorted, const char *region,
                     uint32_t page)
{
    size_t from = 0, to = p->names;

    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        const struct page_name *n = &p->name[sorted[mid]];
        const int order = strcmp(n->region, region) ?: (n->page > page) - (n->page < page);

        if (!order)
            return sorted[mid];
        if (order < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return UINT32_MAX;
}

static void read_profile(struct pages *p, struct cf_profile *profile)
{
    char *file[] = {cf_tool_text(&p->tool, "%s", p->rank)};
    uint64_t page_size = p->paged.page_size;
    struct cf_frame *f;
    int status;

    profile->reader = cf_tool_reader(&p->tool, file, 1);
    cf_profile_begin(profile, &p->tool, profile->reader);
    while (cf_reader_next(profile->reader, &f) > 0) {
        if (f->table == CF_HEADER)
            cf_made_pages(&p->tool, f->header, &page_size);
        cf_profile_frame(profile, f);
    }
    cf_tool_fit(&p->tool, profile->reader);
    status = cf_tool_problems(&p->tool, profile->reader);
    if (status == CF_EXIT_ENVIRONMENT)
        exit(status);
    cf_tool_note(&p->tool, status);
    cf_profile_sort(profile);
    if (!profile->mode)
        cf_die(&p->tool, CF_EXIT_INPUT,
               "%s: no runs with one page cached, or with all but one: "
               "there is no order",
               p->rank);
}

uint32_t *pages_order(struct pages *p)
{
    uint32_t *sorted = cf_tool_room(&p->tool, p->names + 1, sizeof *sorted), next = 0;
    uint32_t *place = cf_tool_room(&p->tool, p->names + 1, sizeof *place);
    const size_t frames = cf_counts_size(p->frame);
    uint32_t *by_frame = cf_tool_room(&p->tool, frames + 1, sizeof *by_frame);
    struct cf_profile profile = {.pages = 0};
    size_t foreign = 0;

    read_profile(p, &profile);
    for (uint32_t i = 0; i < p->names; i++) {
        sorted[i] = i;
        place[i] = UINT32_MAX;
    }
    qsort_r(sorted, p->names, sizeof *sorted, by_name, p->name);
    for (size_t i = 0; i < profile.pages; i++) {
        const uint32_t at = find(p, sorted, profile.page[i].region, profile.page[i].page);

        foreign += at == UINT32_MAX;
        if (at != UINT32_MAX)
            place[at] = next++;
    }
    if (foreign && !p->tool.quiet)
        cf_warn(&p->tool, "%s: %zu of its %zu pages are not in the trace", p->rank, foreign,
                profile.pages);
    if (next < p->names && !p->tool.quiet)
        cf_warn(&p->tool, "%s: %zu of the %zu pages of the trace are not in it: they come last",
                p->rank, p->names - next, p->names);
    for (uint32_t i = 0; i < p->names; i++)
        place[i] = place[i] == UINT32_MAX ? next++ : place[i];
    p->best = sorted; /* the names need not be found any more */
    for (uint32_t i = 0; i < p->names; i++)
        p->best[place[i]] = i;
    for (size_t i = 0; i < frames; i++)
        by_frame[i] = place[p->page_of[i]];
    cf_reader_close(profile.reader);
    cf_profile_free(&profile);
    return by_frame;
}
