/* SPDX-License-Identifier: BSD-2-Clause */
/* hit_options.c - the options of cf-cache that change column hit, as the fact `options` of it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/cache/cache_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/together/cf_made.h"

static const char *const prefetchers[] = {"none", "next-line", "stride"};

/* The mask of a core that holds, the last that was given; 0 where there is none or it has all
   ways. */
static uint64_t mask_of(const struct cf_hierarchy_options *h, const struct cf_level *l,
                        unsigned level, unsigned core)
{
    const uint64_t all = l->ways < 64 ? ((uint64_t)1 << l->ways) - 1 : UINT64_MAX;
    uint64_t ways = 0;

    for (unsigned i = 0; i < h->mask_count; i++)
        if (h->masks[i].level == level && h->masks[i].core == core)
            ways = h->masks[i].ways;
    return ways == all ? 0 : ways;
}

const char *hit_options(const struct cf_tool *t, const struct options *o,
                        const struct cf_machine *m, const struct cf_hierarchy_options *h,
                        const struct placed *placed)
{
    const int frames = placed && !o->frame.physical;
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(t, open_memstream(&text, &bytes));
    const char *seed = cf_made_seed(t, m, o->seed, frames && o->frame.order == CF_FRAMES_RANDOM);

    for (unsigned i = 0; i < m->levels; i++) {
        const struct cf_level *l = &m->level[i];

        if (h->prefetch[i])
            fprintf(out, "prefetch %s:%s; ", prefetchers[h->prefetch[i]], l->name);
        for (unsigned core = 0; core < h->cores; core++)
            if (mask_of(h, l, i, core))
                fprintf(out, "way-mask %u:0x%" PRIx64 ":%s; ", core, mask_of(h, l, i, core),
                        l->name);
    }
    if (o->frame.physical)
        fputs("physical; ", out);
    if (frames)
        placed_text(placed, out);
    fputs(seed, out);
    text = cf_need(t, cf_memory_text(out, &text));
    bytes = strlen(text);
    if (bytes > 1 && text[bytes - 2] == ';')
        text[bytes - 2] = 0;
    return text;
}
