/* SPDX-License-Identifier: BSD-2-Clause */
/* levels.c - options of cf-cache that name a level of the machine. */
#include <string.h>

#include "filters/parts/cache/cache_parts.h"

unsigned find_level(const struct cf_tool *t, const struct cf_machine *m, const char *option,
                    const char *name, int last)
{
    unsigned found = name ? cf_machine_level(m, name) : m->levels;

    if (name && found == m->levels)
        cf_die(t, CF_EXIT_USAGE, "%s: %s has no level '%s'", option, m->name, name);
    for (unsigned i = 0; !name && i < m->levels; i++)
        if (m->level[i].kind != CF_INSTRUCTION_CACHE && (last || found == m->levels))
            found = i;
    if (found == m->levels)
        cf_die(t, CF_EXIT_USAGE, "%s: %s has no data cache: name a level", option, m->name);
    return found;
}

void set_prefetch(const struct cf_tool *t, const struct cf_machine *m, const char *text,
                  struct cf_hierarchy_options *h, unsigned *given)
{
    char *name = cf_tool_text(t, "%s", text);
    const char *kind = strsep(&name, ":");
    const unsigned level = find_level(t, m, "--prefetch", name, 0);

    if (*given >> level & 1)
        cf_die(t, CF_EXIT_USAGE, "--prefetch '%s': a second one of level %s: give one", text,
               m->level[level].name);
    *given |= 1u << level;
    h->prefetch[level] = cf_parse_word(t, "--prefetch", kind, "none next-line stride");
}

void set_mask(const struct cf_tool *t, const struct cf_machine *m, const char *text,
              struct cf_way_mask *mask)
{
    char *name = cf_tool_text(t, "%s", text);
    const char *core = strsep(&name, ":"), *ways = strsep(&name, ":");

    if (!ways)
        cf_die(t, CF_EXIT_USAGE, "--way-mask '%s': give CORE:MASK, such as 0:0xf", text);
    mask->core = (unsigned)cf_parse_u64(t, "--way-mask", core, 0, CF_MAX_CORES - 1);
    mask->ways = cf_parse_u64(t, "--way-mask", ways, 1, UINT64_MAX);
    mask->level = find_level(t, m, "--way-mask", name, 1);
}
