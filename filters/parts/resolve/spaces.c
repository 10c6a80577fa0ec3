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

static uint32_t hash_pid(const struct world *w, uint32_t pid)
{
    return (uint32_t)(pid * 0x9e3779b97f4a7c15u >> 40) & (w->table_size - 1);
}

struct space *world_space(const struct world *w, uint32_t pid)
{
    if (!w->table_size)
        return NULL;
    for (uint32_t h = hash_pid(w, pid); w->table[h]; h = (h + 1) & (w->table_size - 1))
        if (w->table[h]->pid == pid)
            return w->table[h];
    return NULL;
}

static struct space *space_make(struct world *w, uint32_t pid)
{
    struct space *s = world_space(w, pid);

    if (s)
        return s;
    if (w->count * 2 >= w->table_size) {
        struct world old = *w;
        uint32_t size = old.table_size ? old.table_size * 2 : 64;
        struct space **table = calloc(size, sizeof *table);
        if (!table) {
            w->r->failed = 1;
            return NULL;
        }
        w->table = table;
        w->table_size = size;
        for (uint32_t i = 0; i < old.table_size; i++) {
            if (!old.table[i])
                continue;
            uint32_t h = hash_pid(w, old.table[i]->pid);
            while (table[h])
                h = (h + 1) & (size - 1);
            table[h] = old.table[i];
        }
        free(old.table);
    }
    s = calloc(1, sizeof *s);
    if (!s) {
        w->r->failed = 1;
        return NULL;
    }
    s->pid = pid;
    s->code = ++w->r->codes;
    uint32_t h = hash_pid(w, pid);
    while (w->table[h])
        h = (h + 1) & (w->table_size - 1);
    w->table[h] = s;
    w->count++;
    return s;
}

static void space_empty(struct resolver *r, struct space *s)
{
    shared_drop(r, s->maps, 1);
    shared_drop(r, s->objects, 0);
    s->maps = s->objects = NULL;
    s->first_count = 0;
    s->code = ++r->codes;
}

static void space_drop(struct world *w, uint32_t pid)
{
    uint32_t mask = w->table_size - 1, h;
    struct space *s = world_space(w, pid);

    if (!s)
        return;
    space_empty(w->r, s);
    for (h = hash_pid(w, pid); w->table[h] != s;)
        h = (h + 1) & mask;
    free(s);
    w->count--;
    /* Close the gap, so that those that were pushed past it are still found. */
    for (uint32_t i = (h + 1) & mask; w->table[i]; i = (i + 1) & mask) {
        uint32_t home = hash_pid(w, w->table[i]->pid);
        if (((i - home) & mask) >= ((i - h) & mask)) {
            w->table[h] = w->table[i];
            h = i;
        }
    }
    w->table[h] = NULL;
}

void world_clear(struct world *w)
{
    for (uint32_t i = 0; i < w->table_size; i++) {
        if (w->table[i]) {
            space_empty(w->r, w->table[i]);
            free(w->table[i]);
        }
    }
    free(w->table);
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
    if (w->death_count == w->death_room) {
        size_t room = w->death_room ? w->death_room * 2 : 16;
        struct death *more = realloc(w->deaths, room * sizeof *more);
        if (!more) {
            w->r->failed = 1;
            return;
        }
        w->deaths = more;
        w->death_room = room;
    }
    w->deaths[w->death_count++] = (struct death){time, s->pid};
    s->dying++;
}

static void inherit(struct space *s, const struct space *from)
{
    s->maps = from->maps;
    s->objects = from->objects;
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
        inherit(s, parent);
    }
}

void world_copy(struct world *to, const struct world *from)
{
    for (uint32_t i = 0; i < from->table_size; i++) {
        const struct space *old = from->table[i];
        struct space *s = old ? space_make(to, old->pid) : NULL;
        if (!s)
            continue;
        s->parent = old->parent;
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

static void apply_object(struct world *w, struct space *s, const struct event *e)
{
    struct cf_intervals *objects;
    uint32_t slot;

    if (e->op == CF_FREE) {
        slot = s->objects ? cf_intervals_overlap(s->objects->set, e->start, e->start) : 0;
        if (slot && cf_intervals_slots(s->objects->set)[slot].value == e->a) {
            objects = shared_own(w->r, &s->objects, 0);
            if (objects)
                cf_intervals_remove(objects, slot);
        }
        return;
    }
    objects = shared_own(w->r, &s->objects, 0);
    if (!objects)
        return;
    /* No allocator gives out memory twice: the release of what is here was not seen. */
    while ((slot = cf_intervals_overlap(objects, e->start, e->last))) {
        cf_intervals_remove(objects, slot);
        if (w == &w->r->ahead)
            w->r->odd->overlaps++;
    }
    if (!cf_intervals_insert(objects, e->start, e->last, e->a, e->b))
        w->r->failed = 1;
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
    *r = (struct resolver){.w = r->w, .odd = r->odd, .names.where = r->names.where};
    r->now.r = r->ahead.r = r->lines.r = r;
}
