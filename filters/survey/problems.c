/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

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
