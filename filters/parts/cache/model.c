/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.c - the model of a machine's caches that the options ask for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/cache/model.h"

/* Index of the level of this name. */
static unsigned find_level(const struct cache *c, const char *option, const char *name)
{
    for (unsigned i = 0; i < c->machine->levels; i++)
        if (!strcmp(c->machine->level[i].name, name))
            return i;
    cf_die(&c->tool, CF_EXIT_USAGE, "%s: %s has no level '%s'", option, c->machine->name, name);
}

static unsigned data_level(const struct cache *c, const char *option, int last)
{
    unsigned found = CF_MAX_LEVELS;

    for (unsigned i = 0; i < c->machine->levels; i++)
        if (c->machine->level[i].kind != CF_INSTRUCTION_CACHE && (last || found == CF_MAX_LEVELS))
            found = i;
    if (found == CF_MAX_LEVELS)
        cf_die(&c->tool, CF_EXIT_USAGE, "%s: %s has no data cache: name a level", option,
               c->machine->name);
    return found;
}

static void set_prefetch(struct cache *c, const char *text, struct cf_hierarchy_options *h)
{
    const char *colon = strchr(text, ':');
    char *kind = cf_need(&c->tool, strndup(text, strcspn(text, ":")));
    const unsigned level =
        colon ? find_level(c, "--prefetch", colon + 1) : data_level(c, "--prefetch", 0);

    h->prefetch[level] = cf_parse_word(&c->tool, "--prefetch", kind, "none next-line stride");
    free(kind);
}

static void set_mask(struct cache *c, const char *text, struct cf_way_mask *mask)
{
    char *copy = cf_need(&c->tool, strdup(text)), *ways = strchr(copy, ':'), *level = NULL;

    if (!ways)
        cf_die(&c->tool, CF_EXIT_USAGE, "--way-mask '%s': give CORE:MASK, such as 0:0xf", text);
    *ways++ = '\0';
    if ((level = strchr(ways, ':')))
        *level++ = '\0';
    mask->core = (unsigned)cf_parse_u64(&c->tool, "--way-mask", copy, 0, CF_MAX_CORES - 1);
    mask->ways = cf_parse_u64(&c->tool, "--way-mask", ways, 1, UINT64_MAX);
    mask->level = level ? find_level(c, "--way-mask", level) : data_level(c, "--way-mask", 1);
    free(copy);
}

void make_model(struct cache *c)
{
    struct cf_hierarchy_options h = {.seed = c->o.seed, .masks = c->mask};
    char problem[512];

    c->machine = cf_tool_machine(&c->tool, c->o.machine);
    h.cores = c->o.cores = cf_tool_cores(c->machine, c->o.cores);
    for (unsigned i = 0; i < c->o.prefetches; i++)
        set_prefetch(c, c->o.prefetch[i], &h);
    for (unsigned i = 0; i < c->o.masks; i++)
        set_mask(c, c->o.mask[i], &c->mask[h.mask_count++]);
    if (c->o.snapshot.every) {
        c->o.snapshot.level = c->o.snapshot_level
                                  ? find_level(c, "--snapshot-level", c->o.snapshot_level)
                                  : data_level(c, "--snapshot-every", 1);
        h.placed = 1u << c->o.snapshot.level;
    }
    c->model = cf_hierarchy_new(c->machine, &h, problem, sizeof problem);
    if (!c->model)
        cf_die(&c->tool, errno == ENOMEM ? CF_EXIT_ENVIRONMENT : CF_EXIT_USAGE, "%s: %s",
               c->o.machine, problem);
    c->cores = cf_need(&c->tool, cf_cores_new(c->o.cores));
}
