/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spaces.c - the address spaces of all processes, as events change them.
 *
 * Comes in: mappings that come and go, heap objects, processes that fork and end. Goes out: for a
 * process, the sets of its mappings and objects; for a mapping, its region: what a person calls it
 * and from where its pages count. Memory: what lives now. A forked process shares its parent's sets
 * until one of the two changes them; a process that has ended is dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/resolve/resolve.h"

/* ---- regions ---- */

static uint32_t region_new(struct resolver *r, struct region region)
{
    uint32_t index = r->region_free;

    if (index) {
        r->region_free = r->regions[index].refs;
    } else {
        if (r->region_count + 2 > r->region_room) {
            uint32_t room = r->region_room ? r->region_room * 2 : 64;
            struct region *at = realloc(r->regions, room * sizeof *at);
            if (!at) {
                r->failed = 1;
                return 0;
            }
            if (!r->regions)
                at[0] = (struct region){0};
            r->regions = at;
            r->region_room = room;
        }
        index = ++r->region_count;
    }
    r->regions[index] = region;
    r->regions[index].refs = 0;
    return index;
}

/* The number of a region that nobody holds is given out anew. */
static void region_drop(struct resolver *r, uint32_t index)
{
    struct region *g = &r->regions[index];

    if (--g->refs == 0) {
        g->refs = r->region_free;
        r->region_free = index;
    }
}

static void perms_text(unsigned perms, char *text)
{
    text[0] = perms & CF_PERM_R ? 'r' : '-';
    text[1] = perms & CF_PERM_W ? 'w' : '-';
    text[2] = perms & CF_PERM_X ? 'x' : '-';
    text[3] = perms & CF_PERM_SHARED ? 's' : '\0';
    text[4] = '\0';
}

uint32_t region_text(struct resolver *r, struct region *g)
{
    char *text = NULL, perms[8];
    const char *name = r->names.at[g->name].text;
    int n;

    if (g->text)
        return g->text;
    perms_text(g->perms, perms);
    if (g->kind == KIND_BSS)
        n = asprintf(&text, "%s [bss]", name);
    else if (g->kind == KIND_ANON)
        n = asprintf(&text, "%s 0x%llx", *name == '[' ? name : "[anon]",
                     (unsigned long long)g->start);
    else if (g->kind == KIND_FILE && g->plain)
        n = asprintf(&text, "%s %s", name, perms);
    else if (g->kind == KIND_FILE)
        n = asprintf(&text, "%s %s +0x%llx", name, perms, (unsigned long long)g->offset);
    else if (g->plain)
        n = asprintf(&text, "%s", name);
    else
        n = asprintf(&text, "%s 0x%llx", name, (unsigned long long)g->start);
    if (n < 0) {
        r->failed = 1;
        return 0;
    }
    g->text = cf_writer_string(r->w, text);
    free(text);
    return g->text;
}

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

/* The set, to be changed: made when there is none, copied when it is shared. */
static struct cf_intervals *owned(struct resolver *r, struct shared **h, int maps)
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

/* ---- mappings ---- */

static uint32_t slot_at(struct cf_intervals *maps, uint64_t addr)
{
    return cf_intervals_overlap(maps, addr, addr);
}

static const struct region *region_at(struct resolver *r, struct cf_intervals *maps, uint64_t addr)
{
    uint32_t slot = slot_at(maps, addr);

    return slot ? &r->regions[cf_intervals_slots(maps)[slot].value] : NULL;
}

/* What is left of a mapping keeps its region. */
static void keep_part(struct resolver *r, struct cf_intervals *maps, uint64_t start, uint64_t last,
                      uint32_t index)
{
    if (cf_intervals_insert(maps, start, last, index, 0))
        r->regions[index].refs++;
    else
        r->failed = 1;
}

/* Takes [start, last] out; what reaches beyond it keeps its region. 1 if code was in it. */
static int cut(struct resolver *r, struct cf_intervals *maps, uint64_t start, uint64_t last)
{
    uint32_t slot;
    int code = 0;

    while ((slot = cf_intervals_overlap(maps, start, last))) {
        struct cf_interval i = cf_intervals_slots(maps)[slot];
        cf_intervals_remove(maps, slot);
        code |= r->regions[i.value].perms & CF_PERM_X;
        if (i.start < start)
            keep_part(r, maps, i.start, start - 1, i.value);
        if (i.last > last)
            keep_part(r, maps, last + 1, i.last, i.value);
        region_drop(r, i.value);
    }
    return code;
}

static int is_first(struct space *s, uint32_t name, uint64_t base)
{
    for (unsigned i = 0; i < s->first_count; i++)
        if (s->firsts[i].name == name)
            return s->firsts[i].base == base;
    if (s->first_count == FIRSTS)
        return 0;
    s->firsts[s->first_count++] = (struct first_of){name, base};
    return 1;
}

/* Bias and symbols of a file mapping. Parts of one image agree on the bias, so the mapping that
   this one replaces, or else the one before it, tells which segment a shared page is for. */
static void find_image(struct resolver *r, struct cf_intervals *maps, struct region *g)
{
    struct symbols *symbols = names_symbols(&r->names, g->name);
    const struct region *near = region_at(r, maps, g->start);
    const struct cf_interval *slots = cf_intervals_slots(maps);

    if (!symbols)
        return;
    for (int step = 0; step < 2; step++) {
        if (near && near->name == g->name && near->symbols)
            break;
        uint32_t slot = cf_intervals_overlap(maps, g->start, UINT64_MAX);
        slot = slot ? slots[slot].prev : 0;
        near = step == 0 && slot ? &r->regions[slots[slot].value] : NULL;
    }
    if (symbols_bias(symbols, g->start, g->offset, g->perms, near ? &near->bias : NULL, &g->bias) ==
        0)
        g->symbols = symbols;
}

/* Anonymous memory right behind the written segment of a file, within what the file's headers ask
   for: its zero-filled data. */
static int find_bss(struct resolver *r, struct cf_intervals *maps, struct region *g)
{
    const struct region *before = g->start ? region_at(r, maps, g->start - 1) : NULL;

    if (!before || !before->symbols || before->kind != KIND_FILE ||
        g->start - before->bias >= symbols_end(before->symbols))
        return 0;
    g->kind = KIND_BSS;
    g->name = before->name;
    g->symbols = before->symbols;
    g->bias = before->bias;
    return 1;
}

/* Number of the region that the new mapping continues, 0 if it is one of its own. */
static uint32_t continued(struct resolver *r, struct cf_intervals *maps, const struct region *g,
                          uint64_t last)
{
    const struct cf_interval *slots = cf_intervals_slots(maps);
    uint64_t places[2] = {g->start, g->start ? g->start - 1 : g->start};
    int down = g->kind == KIND_STACK;

    if (g->kind == KIND_FILE)
        return 0;
    if (down) {
        places[0] = last;
        places[1] = last == UINT64_MAX ? last : last + 1;
    }
    for (int i = 0; i < 2; i++) {
        uint32_t slot = slot_at(maps, places[i]);
        if (!slot)
            continue;
        const struct region *old = &r->regions[slots[slot].value];
        if (g->kind == KIND_ANON) {
            /* New permissions for part of it, as of the arena of a thread that grows. */
            if (i == 0 && old->kind == KIND_BSS && slots[slot].last >= last)
                return slots[slot].value;
            if (i == 0 && old->kind == KIND_ANON && old->name == g->name && slot_at(maps, last) &&
                slots[slot_at(maps, last)].value == slots[slot].value)
                return slots[slot].value;
        } else if (old->name == g->name && (!down || last < old->base)) {
            return slots[slot].value;
        }
    }
    return 0;
}

static void map_range(struct world *w, struct space *s, const struct event *e)
{
    struct resolver *r = w->r;
    struct cf_intervals *maps = owned(r, &s->maps, 1);
    struct name *name = &r->names.at[e->a];
    struct region g = {.name = e->a, .start = e->start, .base = e->start, .offset = e->offset};
    uint32_t index;

    if (!maps || e->a == 0)
        return;
    g.kind = name->kind;
    g.perms = e->perms & 15;
    if (cf_intervals_count(maps) == 0)
        s->first_count = 0; /* a new program */
    index = continued(r, maps, &g, e->last);
    if (index && ((r->regions[index].perms ^ g.perms) & CF_PERM_X)) {
        /* Code or no code must stay visible; all else of the region is kept. */
        struct region same = r->regions[index];
        same.perms = g.perms;
        index = region_new(r, same);
    } else if (!index) {
        if (g.kind == KIND_FILE) {
            find_image(r, maps, &g);
            if (!(name->seen >> g.perms & 1)) {
                name->seen |= (uint16_t)(1 << g.perms);
                name->first[g.perms] = g.offset;
            }
            g.plain = name->first[g.perms] == g.offset;
        } else if (g.kind == KIND_STACK) {
            g.base = e->last + 1;
            g.flip = UINT64_MAX;
            g.plain = (uint8_t)is_first(s, g.name, g.base);
        } else if (g.kind == KIND_NAMED) {
            g.plain = (uint8_t)is_first(s, g.name, g.base);
        } else {
            find_bss(r, maps, &g);
        }
        index = region_new(r, g);
    }
    if (!index)
        return;
    r->regions[index].refs++; /* cut() must not let go of it */
    int code = cut(r, maps, e->start, e->last);
    if (cf_intervals_insert(maps, e->start, e->last, index, 0))
        r->regions[index].refs++;
    else
        r->failed = 1;
    region_drop(r, index);
    if (code || g.perms & CF_PERM_X)
        s->code = ++r->codes;
}

static void unmap_range(struct world *w, struct space *s, const struct event *e)
{
    struct resolver *r = w->r;
    uint32_t slot;

    if (s->maps && cf_intervals_overlap(s->maps->set, e->start, e->last)) {
        struct cf_intervals *maps = owned(r, &s->maps, 1);
        if (maps && cut(r, maps, e->start, e->last))
            s->code = ++r->codes;
    }
    if (s->objects && cf_intervals_overlap(s->objects->set, e->start, e->last)) {
        struct cf_intervals *objects = owned(r, &s->objects, 0);
        while (objects && (slot = cf_intervals_overlap(objects, e->start, e->last)))
            cf_intervals_remove(objects, slot);
    }
}

struct region *space_region(struct resolver *r, struct space *s, uint64_t addr, uint64_t key)
{
    if (!s || !s->maps)
        return NULL;
    uint32_t slot = cf_intervals_find(s->maps->set, addr, key);
    return slot ? &r->regions[cf_intervals_slots(s->maps->set)[slot].value] : NULL;
}

/* ---- heap objects ---- */

static void apply_object(struct world *w, struct space *s, const struct event *e)
{
    struct cf_intervals *objects;
    uint32_t slot;

    if (e->op == CF_FREE) {
        slot = s->objects ? cf_intervals_overlap(s->objects->set, e->start, e->start) : 0;
        if (slot && cf_intervals_slots(s->objects->set)[slot].value == e->a) {
            objects = owned(w->r, &s->objects, 0);
            if (objects)
                cf_intervals_remove(objects, slot);
        }
        return;
    }
    objects = owned(w->r, &s->objects, 0);
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
            map_range(w, s, e);
        else if (s)
            apply_object(w, s, e);
        break;
    case CF_UNMAPPED:
        s = world_space(w, e->pid);
        if (s)
            unmap_range(w, s, e);
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
