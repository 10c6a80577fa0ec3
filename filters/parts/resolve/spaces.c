/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spaces.c - the address spaces of all processes, as events change them.
 *
 * Comes in: mappings that come and go, heap objects, processes that fork and end. Goes out: for a
 * process, the sets of its mappings (see mappings.c) and objects. Memory: what lives now. A forked
 * process shares its parent's sets until one of the two changes them; a process that has ended is
 * dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/engine/rows/counts.h"
#include "filters/parts/resolve/resolve.h"

/* ---- sets that are shared ---- */

static struct shared *shared_new(struct resolver *r, unsigned shift)
{
    struct shared *h = calloc(1, sizeof *h);

    if (h)
        h->set = cf_intervals_new(shift);
    if (!h || !h->set) {
        free(h);
        r->failed = 1;
        return NULL;
    }
    h->refs = 1;
    return h;
}

static void hold_regions(struct resolver *r, const struct cf_intervals *set, int hold)
{
    const struct cf_interval *slots = cf_intervals_slots(set);

    for (uint32_t i = slots[0].next; i; i = slots[i].next) {
        if (hold)
            r->regions[slots[i].value].refs++;
        else
            region_drop(r, slots[i].value);
    }
}

static void shared_drop(struct resolver *r, struct shared *h, int maps)
{
    if (!h || --h->refs > 0)
        return;
    if (maps)
        hold_regions(r, h->set, 0);
    cf_intervals_free(h->set);
    free(h);
}

struct cf_intervals *shared_own(struct resolver *r, struct shared **h, int maps)
{
    if (!*h)
        *h = shared_new(r, maps ? 12 : 6);
    if (*h && (*h)->refs > 1) {
        struct shared *own = calloc(1, sizeof *own);
        if (own)
            own->set = cf_intervals_copy((*h)->set);
        if (!own || !own->set) {
            free(own);
            r->failed = 1;
            return NULL;
        }
        own->refs = 1;
        if (maps)
            hold_regions(r, own->set, 1);
        (*h)->refs--;
        *h = own;
    }
    return *h ? (*h)->set : NULL;
}

/* ---- processes ---- */

struct space *world_space(const struct world *w, uint32_t pid)
{
    const uint64_t at = w->at ? cf_counts_get(w->at, 0, pid) : 0;

    return at ? w->space[at - 1] : NULL;
}

static struct space *space_make(struct world *w, uint32_t pid)
{
    struct space *s = world_space(w, pid);
    uint64_t *at;

    if (s)
        return s;
    if (!w->at)
        w->at = cf_counts_new();
    at = w->at ? cf_counts_at(w->at, 0, pid) : NULL;
    s = calloc(1, sizeof *s);
    if (!at || !s || cf_array_room(&w->space, &w->room, w->count + 1, sizeof *w->space) != 0) {
        w->r->failed = 1;
        free(s);
        return NULL;
    }
    s->pid = pid;
    s->forked = UINT64_MAX;
    s->code = s->layout = ++w->r->codes;
    w->space[w->count++] = s;
    *at = w->count;
    return s;
}

void space_forget_names(struct resolver *r, struct space *s)
{
    shared_drop(r, s->anon, 0);
    s->anon = NULL;
    s->first_count = 0;
}

void space_forget_objects(struct resolver *r, struct space *s)
{
    shared_drop(r, s->objects, 0);
    s->objects = NULL;
}

static void space_empty(struct resolver *r, struct space *s)
{
    shared_drop(r, s->maps, 1);
    shared_drop(r, s->unmapped, 0);
    s->maps = s->unmapped = NULL;
    space_forget_objects(r, s);
    space_forget_names(r, s);
    s->code = s->layout = ++r->codes;
}

static void space_drop(struct world *w, uint32_t pid)
{
    struct space *s = world_space(w, pid), *last;
    uint64_t *of_last, *at;

    if (!s)
        return;
    /* the last one takes its place */
    last = w->space[--w->count];
    of_last = cf_counts_at(w->at, 0, last->pid);
    at = cf_counts_at(w->at, 0, pid);
    w->space[*at - 1] = last;
    *of_last = *at;
    *at = 0;
    space_empty(w->r, s);
    free(s);
}

static void world_clear(struct world *w)
{
    for (size_t i = 0; i < w->count; i++) {
        space_empty(w->r, w->space[i]);
        free(w->space[i]);
    }
    cf_counts_free(w->at);
    free(w->space);
    free(w->deaths);
    *w = (struct world){.r = w->r};
}

uint64_t world_next_death(const struct world *w)
{
    if (w->death_first == w->death_count)
        return UINT64_MAX;
    uint64_t time = w->deaths[w->death_first].time;
    return time == UINT64_MAX ? time : time + 1;
}

void world_bury(struct world *w, uint64_t time)
{
    while (w->death_first < w->death_count && w->deaths[w->death_first].time < time) {
        uint32_t pid = w->deaths[w->death_first++].pid;
        struct space *s = world_space(w, pid);
        if (s && s->dying && --s->dying == 0)
            space_drop(w, pid);
    }
    if (w->death_first == w->death_count)
        w->death_first = w->death_count = 0;
}

/* What happened at the moment of the end still belongs to the process, so it goes only after. */
static void die(struct world *w, struct space *s, uint64_t time)
{
    if (w->death_count == w->death_room && w->death_first) {
        memmove(w->deaths, w->deaths + w->death_first,
                (w->death_count - w->death_first) * sizeof *w->deaths);
        w->death_count -= w->death_first;
        w->death_first = 0;
    }
    if (cf_array_room(&w->deaths, &w->death_room, w->death_count + 1, sizeof *w->deaths) != 0) {
        w->r->failed = 1;
        return;
    }
    w->deaths[w->death_count++] = (struct death){time, s->pid};
    s->dying++;
}

static void inherit(struct space *s, const struct space *from)
{
    s->maps = from->maps;
    s->objects = from->objects;
    s->anon = from->anon;
    if (s->anon)
        s->anon->refs++;
    if (s->maps)
        s->maps->refs++;
    if (s->objects)
        s->objects->refs++;
    memcpy(s->firsts, from->firsts, sizeof s->firsts);
    s->first_count = from->first_count;
}

static void fork_space(struct world *w, const struct event *e)
{
    struct space *parent, *s;

    space_drop(w, e->pid);
    s = space_make(w, e->pid);
    parent = world_space(w, e->a);
    if (s && parent) {
        s->parent = parent->pid;
        s->forked = e->time;
        inherit(s, parent);
    }
}

void world_copy(struct world *to, const struct world *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct space *old = from->space[i];
        struct space *s = space_make(to, old->pid);
        if (!s)
            continue;
        s->parent = old->parent;
        s->forked = old->forked;
        s->threads = old->threads;
        inherit(s, old);
    }
    for (size_t i = from->death_first; i < from->death_count; i++) {
        struct space *s = world_space(to, from->deaths[i].pid);
        const struct space *old = world_space(from, from->deaths[i].pid);
        if (s && old && old->dying)
            die(to, s, from->deaths[i].time);
    }
}

static void apply_task(struct world *w, const struct event *e)
{
    struct space *s = world_space(w, e->pid);
    int process = e->b == 0 || e->b == e->pid;

    if (e->op == CF_BEGIN) {
        int alive = s && s->threads && !s->dying;
        if (process && alive)
            return; /* a new program in the same process */
        if (process && e->a != 0 && e->a != e->pid)
            fork_space(w, e);
        else if (process && s && s->dying)
            space_drop(w, e->pid); /* the pid is used again */
        s = space_make(w, e->pid);
        if (s) {
            s->threads++;
            s->dying = 0;
        }
    } else if (e->op == CF_EXIT && s) {
        if (s->threads)
            s->threads--;
        if (s->threads == 0)
            die(w, s, e->time);
    }
}

/* ---- heap objects ---- */

/* The world ahead is asked for no accesses. */
static void forget(const struct world *w, const struct space *s, uint64_t start, uint64_t last)
{
    if (w != &w->r->ahead)
        recent_forget(w->r->recent, s->layout, start, last);
}

static void object_remove(const struct world *w, const struct space *s,
                          struct cf_intervals *objects, uint32_t slot)
{
    const struct cf_interval *i = &cf_intervals_slots(objects)[slot];

    forget(w, s, i->start, i->last);
    cf_intervals_remove(objects, slot);
}

/* Takes the released object out of such a set, if it is there. */
static void release(struct world *w, const struct space *s, struct shared **of,
                    const struct event *e)
{
    const uint32_t slot = *of ? cf_intervals_overlap((*of)->set, e->start, e->start) : 0;
    struct cf_intervals *objects;

    if (!slot || cf_intervals_slots((*of)->set)[slot].value != e->a)
        return;
    objects = shared_own(w->r, of, 0);
    if (objects)
        object_remove(w, s, objects, slot);
}

static void take_out(struct cf_intervals *set, uint64_t start, uint64_t last)
{
    uint32_t slot;

    while ((slot = cf_intervals_overlap(set, start, last)))
        cf_intervals_remove(set, slot);
}

void space_unmap_objects(struct world *w, struct space *s, uint64_t start, uint64_t last)
{
    struct cf_intervals *objects = shared_own(w->r, &s->objects, 0), *unmapped;
    uint32_t slot;

    while (objects && (slot = cf_intervals_overlap(objects, start, last))) {
        const struct cf_interval i = cf_intervals_slots(objects)[slot];

        cf_intervals_remove(objects, slot);
        if (w != &w->r->ahead || !(unmapped = shared_own(w->r, &s->unmapped, 0)))
            continue;
        take_out(unmapped, i.start, i.last);
        if (!cf_intervals_insert(unmapped, i.start, i.last, i.value, i.extra))
            w->r->failed = 1;
    }
}

static void apply_object(struct world *w, struct space *s, const struct event *e)
{
    struct cf_intervals *objects;
    uint32_t slot;

    if (e->op == CF_FREE) {
        release(w, s, &s->objects, e);
        release(w, s, &s->unmapped, e);
        return;
    }
    if (s->unmapped)
        take_out(s->unmapped->set, e->start, e->last);
    objects = shared_own(w->r, &s->objects, 0);
    if (!objects)
        return;
    /* No allocator gives out memory twice: the release of what is here was not seen. But a child of
       fork may say at once what it has from its parent. */
    while ((slot = cf_intervals_overlap(objects, e->start, e->last))) {
        const struct cf_interval *i = &cf_intervals_slots(objects)[slot];
        const int again = space_repeats(s, i, e);

        object_remove(w, s, objects, slot);
        if (w == &w->r->ahead && !again)
            w->r->odd->overlaps++;
    }
    if (!cf_intervals_insert(objects, e->start, e->last, e->a, e->b))
        w->r->failed = 1;
    forget(w, s, e->start, e->last);
}

void world_apply(struct world *w, const struct event *e)
{
    struct space *s;

    world_bury(w, e->time);
    switch (e->op) {
    case CF_BEGIN:
    case CF_EXIT:
        apply_task(w, e);
        break;
    case CF_MAPPED:
    case CF_ALLOC:
    case CF_FREE:
        s = space_make(w, e->pid);
        if (s && e->op == CF_MAPPED)
            space_map(w, s, e);
        else if (s)
            apply_object(w, s, e);
        break;
    case CF_UNMAPPED:
        s = world_space(w, e->pid);
        if (s)
            space_unmap(w, s, e);
        break;
    default:
        break;
    }
}

void resolver_clear(struct resolver *r)
{
    world_clear(&r->now);
    world_clear(&r->ahead);
    world_clear(&r->lines);
    names_clear(&r->names);
    free(r->regions);
    free(r->recent);
    free(r->unnamed);
    *r = (struct resolver){.w = r->w, .odd = r->odd, .names.where = r->names.where};
    r->now.r = r->ahead.r = r->lines.r = r;
}
