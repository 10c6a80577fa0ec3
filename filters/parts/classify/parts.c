/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parts.c - a summary that may be one of parts of a recording, or of one of them: of rule hill,
 * whose first levels alone need nothing but what hill_part.c writes down.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/classify/hill.h"
#include "formats/base/cf_memory.h"

static void refuse(const struct parts *p, const char *level, const char *why)
{
    if (!p->partial.asked) /* of such a machine there are no parts */
        cf_partial_damaged(&p->partial);
    cf_die(p->partial.tool, CF_EXIT_USAGE,
           "--partial: %s%s%s: run it on the whole, by several threads with -j", level,
           *level ? " " : "", why);
}

static void check(const struct parts *p, const struct hill *h)
{
    if (h->core_count > 1)
        refuse(p, "", "it is for one core, and there are more: give --cores 1");
    for (unsigned i = 0; i < h->watches; i++)
        if (!h->watch[i].first)
            refuse(p, h->watch[i].name, "is not the first level");
    if (h->whole)
        refuse(p, h->whole_level < 0 ? "" : h->m->level[h->whole_level].name, h->whole);
}

/* What the counts depend on. */
static char *options_text(const struct parts *p)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(p->partial.tool, open_memstream(&text, &bytes));

    fprintf(out, "rule hill");
    for (unsigned k = 0; k < p->machines; k++) {
        const struct hill *h = p->state[k];

        fprintf(out, "; machine %s; cores %u", h->m->name, h->core_count);
        if (h->whole) /* why there are no partial results */
            fprintf(out, "; %s", h->whole);
        for (unsigned i = 0; i < h->watches; i++) {
            const struct watched *w = &h->watch[i];
            const struct cf_level *l = &h->m->level[w->level];

            fprintf(out, "; %s kind %d sets %" PRIu32 " ways %" PRIu32 " line %" PRIu32 "%s%s",
                    w->name, (int)l->kind, l->sets, l->ways, l->line, w->data ? " data" : "",
                    w->fetches ? " fetches" : "");
        }
    }
    return cf_need(p->partial.tool, cf_memory_text(out, &text));
}

struct cf_reader *parts_open(struct parts *p, char *const *files, int count)
{
    p->partial.ordered = 1;
    p->partial.options = options_text(p);
    for (unsigned i = 0; p->partial.asked && i < p->machines; i++) {
        struct hill *const h = p->state[i];

        check(p, h);
        h->part = hill_part_new(&p->partial, h, i);
    }
    return cf_partial_reader(&p->partial, files, count);
}

int parts_take(struct parts *p, const struct cf_frame *f)
{
    if (!p->partial.tool || !cf_partial_frame(&p->partial, f))
        return 0;
    if (f->table != CF_PARTIAL)
        return 1;
    for (unsigned i = 0; !p->joined && i < p->machines; i++)
        check(p, p->state[i]);
    if (!p->joined)
        p->joined = hill_joined_new(&p->partial, p->state, p->machines);
    hill_joined_frame(p->joined, f);
    return 1;
}

int parts_end(struct parts *p, int *status)
{
    if (p->partial.tool)
        cf_partial_end(&p->partial);
    hill_joined_free(p->joined);
    if (!p->partial.asked) {
        cf_partial_free(&p->partial);
        return 0;
    }
    for (unsigned i = 0; i < p->machines; i++) {
        struct hill *const h = p->state[i];

        hill_part_end(h->part);
        hill_part_free(h->part);
        h->part = NULL;
    }
    cf_partial_row(&p->partial, &(struct cf_partial_row){.entry = HILL_END, .keys = 2});
    *status = cf_partial_finish(&p->partial);
    return 1;
}
