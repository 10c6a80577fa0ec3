/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hill_stages.c - rule hill in three stages, for threads: (0) the caches of the model, and runs for
 * coherence.h; (1) its sets, or what threec.h says of what reached the caches of the model; (2)
 * what coherence.h knows of each line. No stage needs what a later one finds out.
 *
 * Memory of a piece: a byte a row; 17 bytes a reference that reaches a level of one cache or all
 * cores, 12 a miss of private ones; what coherence.h says of a list.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/parts/classify/hill.h"

void *hill_piece_new(void *state)
{
    const struct hill *h = state;
    struct piece *p = calloc(1, sizeof(*p));

    for (unsigned i = 0; p && i < h->watches; i++) {
        p->runs[i] = cf_coherence_list_new();
        if (!p->runs[i]) {
            hill_piece_free(p);
            return NULL;
        }
    }
    return p;
}

void hill_piece_free(void *piece)
{
    struct piece *p = piece;

    for (unsigned i = 0; p && i < WATCHES; i++) {
        free(p->list[i].row);
        free(p->list[i].line);
        free(p->kept[i].line);
        free(p->kept[i].row);
        free(p->kept[i].miss);
        free(p->kept[i].flags);
        free(p->kept[i].call);
        cf_coherence_list_free(p->runs[i]);
    }
    free(p);
}

void hill_keep(struct piece *p, unsigned watch, const struct cf_hierarchy_refs *refs)
{
    struct kept *const k = &p->kept[watch];
    const size_t all = k->refs + refs->count;

    if (cf_array_room(&k->line, &k->ref_room[0], all, sizeof(*k->line)) != 0 ||
        cf_array_room(&k->row, &k->ref_room[1], all, sizeof(*k->row)) != 0 ||
        cf_array_room(&k->flags, &k->ref_room[2], all, sizeof(*k->flags)) != 0 ||
        cf_array_room(&k->miss, &k->miss_room, k->misses + refs->misses, sizeof(*k->miss)) != 0 ||
        cf_array_room(&k->call, &k->call_room, k->calls + 1, sizeof(*k->call)) != 0) {
        p->failed = 1;
        return;
    }
    memcpy(k->line + k->refs, refs->line, refs->count * sizeof(*k->line));
    memcpy(k->row + k->refs, refs->row, refs->count * sizeof(*k->row));
    memcpy(k->flags + k->refs, refs->flags, refs->count);
    if (refs->misses)
        memcpy(k->miss + k->misses, refs->miss, refs->misses * sizeof(*k->miss));
    k->refs = all;
    k->misses += refs->misses;
    k->call[k->calls++] = *refs;
}

static int look_kept(struct watched *w, struct piece *p)
{
    const struct kept *const k = &p->kept[w - w->h->watch];
    size_t at = 0, miss = 0;

    for (size_t i = 0; i < k->calls; i++) {
        struct cf_hierarchy_refs refs = k->call[i];

        refs.line = k->line + at;
        refs.row = k->row + at;
        refs.flags = k->flags + at;
        refs.miss = k->miss + miss;
        if (hill_look(w, p, &refs) != 0)
            return -1;
        at += refs.count;
        miss += refs.misses;
    }
    return 0;
}

int hill_first(void *state, void *piece, const struct rows *rows)
{
    struct hill *h = state;
    struct piece *p = piece;
    int look = 0; /* at the operations, in look_kept() */

    p->later = 1;
    for (unsigned i = 0; i < h->watches; i++)
        p->kept[i].refs = p->kept[i].misses = p->kept[i].calls = 0;
    if (hill_model(h, p, rows, NULL) != 0)
        return -1;
    for (unsigned i = 0; i < h->watches; i++) {
        struct watched *const w = &h->watch[i];
        struct cf_coherence_rows shared;

        look |= !w->shares;
        if (!w->shares)
            continue;
        shared = hill_shared_rows(w);
        if (cf_coherence_take(w->shares, &shared, p->runs[i]) != 0)
            return -1;
    }
    if (rows->op && look)
        memcpy(p->op, rows->op, rows->rows);
    p->in = (struct rows){.rows = rows->rows, .op = rows->op ? p->op : NULL};
    return 0;
}

/* A watcher's part of a stage. */
static int stage_of(struct watched *w, struct piece *p, unsigned stage)
{
    struct cf_coherence_list *const runs = p->runs[w - w->h->watch];

    if (stage == 1)
        return w->shares ? cf_coherence_sets(w->shares, runs) : look_kept(w, p);
    return w->shares ? cf_coherence_classes(w->shares, runs) : 0;
}

int hill_stage(void *state, void *piece, unsigned stage)
{
    struct hill *h = state;

    for (unsigned i = 0; i < h->watches; i++)
        if (stage_of(&h->watch[i], piece, stage) != 0)
            return -1;
    return 0;
}
