/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mappings.c - the mappings of a process, as events change them, and their regions: what a person
 * calls a mapping and from where its pages count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/parts/resolve/resolve.h"

static uint32_t region_new(struct resolver *r, struct region region)
{
    uint32_t index = r->region_free;

    if (index) {
        r->region_free = r->regions[index].refs;
    } else {
        if (cf_array_cleared(&r->regions, &r->region_room, r->region_count + (size_t)2,
                             sizeof *r->regions) != 0) {
            r->failed = 1;
            return 0;
        }
        index = ++r->region_count;
    }
    r->regions[index] = region;
    r->regions[index].refs = 0;
    return index;
}

void region_drop(struct resolver *r, uint32_t index)
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
        n = asprintf(&text, "%s %u", *name == '[' ? name : "[anon]", g->number);
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

uint32_t region_code(struct resolver *r, struct region *g, uint64_t pc)
{
    const struct name *n = &r->names.at[g->name];
    const char *slash = strrchr(n->text, '/'), *file = slash ? slash + 1 : n->text;
    char *text = NULL;
    uint32_t id = 0;
    int length = 0;

    if (g->symbols)
        length = asprintf(&text, "%s+0x%llx", file, (unsigned long long)(pc - g->bias));
    else if (g->kind == KIND_FILE)
        length = asprintf(&text, "%s (%s)", file,
                          n->lack == OTHER_BUILD ? "another build"
                          : n->lack == NOT_FOUND ? "not found"
                                                 : "no symbols");
    else
        id = region_text(r, g);
    if (length > 0) {
        id = cf_writer_string(r->w, text);
        free(text);
    }
    if (length < 0 || cf_array_cleared(&r->unnamed, &r->unnamed_room, id + (size_t)1, 1) != 0)
        r->failed = 1;
    else
        r->unnamed[id] = 1;
    return id;
}

int resolver_names(const struct resolver *r, uint32_t function)
{
    return function && !(function < r->unnamed_room && r->unnamed[function]);
}

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
   this one replaces, or else the one before it, decides which segment a shared page is for.
   Without symbols addresses less the bias are offsets in the file. */
static void find_image(struct resolver *r, struct cf_intervals *maps, struct region *g)
{
    struct symbols *symbols = names_symbols(&r->names, g->name);
    const struct cf_interval *slots = cf_intervals_slots(maps);
    const struct region *near = NULL;
    uint32_t slot = cf_intervals_before(maps, g->start);
    uint64_t bias;

    g->bias = g->start - g->offset;
    if (!symbols)
        return;
    for (int step = 0; step < 2 && slot && !near; step++, slot = slots[slot].prev) {
        near = &r->regions[slots[slot].value];
        if (near->name != g->name || !near->symbols)
            near = NULL;
    }
    if (symbols_bias(symbols, g->start, g->offset, g->perms, near ? &near->bias : NULL, &bias) ==
        0) {
        g->symbols = symbols;
        g->bias = bias;
    }
    r->odd->unstated += !*r->names.at[g->name].build;
}

/* Anonymous memory right after the written segment of a file, within what the file's headers ask
   for: its zero-filled data. What lies beyond in the same row is not: ends *last before it. */
static int find_bss(struct resolver *r, struct cf_intervals *maps, struct region *g, uint64_t *last)
{
    const struct region *before = g->start ? region_at(r, maps, g->start - 1) : NULL;
    uint64_t page, end;

    if (!before || !before->symbols || before->kind != KIND_FILE ||
        g->start - before->bias >= symbols_end(before->symbols))
        return 0;
    /* pages of the recording have at most the bytes that divide where it begins and ends */
    page = (g->start | (*last + 1)) & -(g->start | (*last + 1));
    page = page > 65536 ? 65536 : page;
    end = (before->bias + symbols_end(before->symbols) - 1) | (page - 1);
    if (end >= g->start && end < *last)
        *last = end;
    g->kind = KIND_BSS;
    g->name = before->name;
    g->symbols = before->symbols;
    g->bias = before->bias;
    return 1;
}

/* Memory without a name is called by its place among such, since its address is another one in each
   run: 1 for the first that the process mapped; at the same address again, it is the same. */
static uint32_t anon_number(struct resolver *r, struct space *s, uint64_t start)
{
    uint32_t slot = s->anon ? cf_intervals_overlap(s->anon->set, start, start) : 0, number;
    struct cf_intervals *anon;

    if (slot)
        return cf_intervals_slots(s->anon->set)[slot].value;
    anon = shared_own(r, &s->anon, 0);
    number = anon ? cf_intervals_count(anon) + 1 : 0;
    if (anon && !cf_intervals_insert(anon, start, start, number, 0))
        r->failed = 1;
    return number;
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

/* Whether the mapping only joins what is there: all in its range lies in it wholly, and is like it.
   The kernel and Valgrind make one area of neighbours that are alike. */
static int joins(struct resolver *r, struct cf_intervals *maps, const struct region *g,
                 uint64_t last)
{
    const struct cf_interval *slots = cf_intervals_slots(maps);
    uint32_t first = cf_intervals_overlap(maps, g->start, last), slot = first;

    for (; slot && slots[slot].start <= last; slot = slots[slot].next) {
        const struct region *old = &r->regions[slots[slot].value];

        if (slots[slot].start < g->start || slots[slot].last > last ||
            (old->name != g->name && (g->kind != KIND_ANON || old->kind != KIND_BSS)))
            return 0;
        if (g->kind == KIND_FILE && (old->kind != KIND_FILE || old->perms != g->perms ||
                                     old->offset - old->start != g->offset - g->start))
            return 0;
    }
    return first != 0;
}

/* Region of a mapping that continues none; may end *last earlier. */
static uint32_t begin_region(struct resolver *r, struct space *s, struct cf_intervals *maps,
                             struct region g, uint64_t *last)
{
    struct name *name = &r->names.at[g.name];

    if (g.kind == KIND_FILE) {
        find_image(r, maps, &g);
        if (!(name->seen >> g.perms & 1)) {
            name->seen |= (uint16_t)(1 << g.perms);
            name->first[g.perms] = g.offset;
        }
        g.plain = name->first[g.perms] == g.offset;
    } else if (g.kind == KIND_STACK) {
        g.base = *last + 1;
        g.flip = UINT64_MAX;
        g.plain = (uint8_t)is_first(s, g.name, g.base);
    } else if (g.kind == KIND_NAMED) {
        g.plain = (uint8_t)is_first(s, g.name, g.base);
    } else if (!find_bss(r, maps, &g, last)) {
        g.number = anon_number(r, s, g.start);
    }
    return region_new(r, g);
}

/* Maps [g.start, last], or the begin of it; the last address that it did. */
static uint64_t map_one(struct resolver *r, struct space *s, struct cf_intervals *maps,
                        struct region g, uint64_t last)
{
    uint32_t index = continued(r, maps, &g, last);

    if (!index) {
        index = begin_region(r, s, maps, g, &last);
    } else if ((r->regions[index].perms ^ g.perms) & CF_PERM_X) {
        /* Code or no code must stay visible; all else of the region is kept. */
        struct region same = r->regions[index];
        same.perms = g.perms;
        index = region_new(r, same);
    }
    if (!index)
        return last;
    r->regions[index].refs++; /* cut() must not let go of it */
    int code = cut(r, maps, g.start, last);
    if (cf_intervals_insert(maps, g.start, last, index, 0))
        r->regions[index].refs++;
    else
        r->failed = 1;
    region_drop(r, index);
    if (code || g.perms & CF_PERM_X)
        s->code = ++r->codes;
    return last;
}

/* The part of the mapping from an address on. */
static struct region region_from(struct region g, uint64_t start)
{
    g.offset += start - g.start;
    g.start = g.base = start;
    return g;
}

/* Maps [g.start, last] but for what is there already. */
static void map_range(struct resolver *r, struct space *s, struct cf_intervals *maps,
                      struct region g, uint64_t last)
{
    const int joined = joins(r, maps, &g, last);
    uint64_t from = g.start;
    uint32_t slot;

    while (joined && (slot = cf_intervals_overlap(maps, from, last))) {
        const struct cf_interval i = cf_intervals_slots(maps)[slot];

        if (from < i.start)
            map_range(r, s, maps, region_from(g, from), i.start - 1);
        if ((r->regions[i.value].perms ^ g.perms) & CF_PERM_X)
            map_one(r, s, maps, region_from(g, i.start), i.last);
        if (i.last == last)
            return;
        from = i.last + 1;
    }
    if (!joined)
        from = map_one(r, s, maps, g, last) + 1;
    if (from - 1 != last)
        map_range(r, s, maps, region_from(g, from), last);
}

void space_map(struct world *w, struct space *s, const struct event *e)
{
    struct resolver *r = w->r;
    struct cf_intervals *maps = shared_own(r, &s->maps, 1);
    struct region g = {.name = e->a, .start = e->start, .base = e->start, .offset = e->offset};

    if (!maps || e->a == 0)
        return;
    g.kind = r->names.at[e->a].kind;
    g.perms = e->perms & 15;
    if (cf_intervals_count(maps) == 0)
        space_forget_names(r, s); /* a new program */
    /* captures that repeat its mappings list its objects, too, and may begin it late, when its
       parent has others */
    if (space_repeats(s, &cf_intervals_slots(maps)[slot_at(maps, e->start)], e))
        space_forget_objects(r, s);
    map_range(r, s, maps, g, e->last);
    s->layout = ++r->codes;
}

void space_unmap(struct world *w, struct space *s, const struct event *e)
{
    struct resolver *r = w->r;

    if (s->maps && cf_intervals_overlap(s->maps->set, e->start, e->last)) {
        struct cf_intervals *maps = shared_own(r, &s->maps, 1);
        s->layout = ++r->codes;
        if (maps && cut(r, maps, e->start, e->last))
            s->code = s->layout;
    }
    if (s->objects && cf_intervals_overlap(s->objects->set, e->start, e->last)) {
        space_unmap_objects(w, s, e->start, e->last);
        s->layout = ++r->codes;
    }
}

struct region *space_region(struct resolver *r, struct space *s, uint64_t addr, uint64_t key)
{
    if (!s || !s->maps)
        return NULL;
    uint32_t slot = cf_intervals_find(s->maps->set, addr, key);
    return slot ? &r->regions[cf_intervals_slots(s->maps->set)[slot].value] : NULL;
}
