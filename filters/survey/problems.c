/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/survey/problems.h"

int cf_snaps_problems(const struct cf_snaps *s, const struct cf_tool *t, const char *name)
{
    const char *colon = name ? ": " : "";

    if (!name)
        name = "";
    if (s->other_levels && !t->quiet)
        cf_warn(t, "%s%s%" PRIu64 " lines of other levels than %u were left out: see --level", name,
                colon, s->other_levels, s->level);
    if (s->nameless)
        cf_warn(t,
                "%s%s%" PRIu64 " lines have neither a physical nor a virtual address, and cannot "
                "be compared: run what made the stream with addresses",
                name, colon, s->nameless);
    if (s->refused)
        cf_warn(t,
                "%s%ssnapshot %u: set %u, way %u: the cache is not so large; %" PRIu64
                " such lines were left out",
                name, colon, s->worst.number, s->worst_set, s->worst_way, s->refused);
    return s->refused || s->nameless ? CF_EXIT_INPUT : CF_EXIT_OK;
}

void cf_tasks_problems(const struct cf_tool *t, const struct cf_counts *names,
                       const struct cf_reader *r)
{
    const size_t n = cf_counts_size(names);
    struct cf_count *all = cf_need(t, calloc(n + 1, sizeof *all));
    uint32_t last = 0;
    size_t i = 0;

    if (n)
        cf_counts_copy(names, all);
    while (i < n && all[i].value == (last = cf_tasks_name(names, 0, (uint32_t)all[i].b)))
        i++;
    if (i < n && !t->quiet)
        cf_warn(t,
                "process %" PRIu64 " is called '%s' in one stream and '%s' in another, and counted "
                "as one: give these streams one by one",
                all[i].b, cf_reader_text(r, (uint32_t)all[i].value), cf_reader_text(r, last));
    free(all);
}
