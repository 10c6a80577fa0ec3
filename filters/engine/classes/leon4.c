/* SPDX-License-Identifier: BSD-2-Clause */
/* leon4.c - the procedure of the LEON4 profiling tool (see leon4.h). */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/leon4.h"
#include "formats/stream/cf.h"

enum { READS = 8, NO_LINE = 0 };

struct core {
    struct cf_setstack *fetch, *data, *second;
    uint64_t read[READS]; /* lines + 1 that the bus read for no known access, the oldest first */
    unsigned reads;
    uint64_t awaited; /* line + 1 that a load missed and whose read has not come */
};

struct cf_leon4 {
    struct cf_leon4_config c;
    struct cf_leon4_counts counts[CF_LEON4_CACHES];
    uint64_t against;
    struct core core[];
};

struct cf_leon4 *cf_leon4_new(const struct cf_leon4_config *config)
{
    struct cf_leon4 *l = calloc(1, sizeof(*l) + config->cores * sizeof(l->core[0]));

    if (!l)
        return NULL;
    l->c = *config;
    if (l->c.second_own)
        l->c.second.ways = 1;
    for (unsigned i = 0; i < l->c.cores; i++) {
        struct core *o = &l->core[i];

        o->fetch = cf_setstack_new(l->c.fetch.sets);
        o->data = cf_setstack_new(l->c.data.sets);
        if (l->c.second.sets)
            o->second =
                i && !l->c.second_own ? l->core[0].second : cf_setstack_new(l->c.second.sets);
        if (!o->fetch || !o->data || (l->c.second.sets && !o->second)) {
            cf_leon4_free(l);
            return NULL;
        }
    }
    return l;
}

void cf_leon4_free(struct cf_leon4 *l)
{
    for (unsigned i = 0; l && i < l->c.cores; i++) {
        cf_setstack_free(l->core[i].fetch);
        cf_setstack_free(l->core[i].data);
        if (i == 0 || l->c.second_own)
            cf_setstack_free(l->core[i].second);
    }
    free(l);
}

/* ---- what the bus read ---- */

/* Takes the line out of those that were read. */
static int was_read(struct core *o, uint64_t line)
{
    for (unsigned i = 0; i < o->reads; i++)
        if (o->read[i] == line + 1) {
            memmove(o->read + i, o->read + i + 1, (--o->reads - i) * sizeof(*o->read));
            return 1;
        }
    return 0;
}

void cf_leon4_bus(struct cf_leon4 *l, unsigned core, uint64_t addr)
{
    struct core *o = &l->core[core];
    const uint64_t line = addr >> l->c.line_shift;

    if (o->awaited == line + 1) {
        o->awaited = NO_LINE;
        return;
    }
    was_read(o, line);
    if (o->reads == READS)
        memmove(o->read, o->read + 1, --o->reads * sizeof(*o->read));
    o->read[o->reads++] = line + 1;
}

/* ---- one line ---- */

struct place {
    uint64_t line, key; /* key: of its stacks, the line and its space */
};

static int to_second(struct cf_leon4 *l, struct core *o, const struct place *p, unsigned op,
                     struct cf_leon4_result *r)
{
    struct cf_leon4_counts *n = &l->counts[CF_LEON4_SECOND];
    uint64_t distance;
    uint8_t class;

    if (!o->second) {
        r->hit = CF_FROM_MEMORY;
        return 0;
    }
    if (cf_setstack_touch(o->second, (uint32_t)(p->line % l->c.second.sets), p->key, &distance) < 0)
        return -1;
    class = (uint8_t)cf_setstack_class(distance, l->c.second.ways, l->c.second.sets);
    n->references[op]++;
    n->misses[op][class] += class != CF_CLASS_NONE;
    cf_class_raise(&r->second, class);
    cf_class_raise(&r->hit, class ? CF_FROM_MEMORY : 2);
    return 0;
}

static int missed(struct cf_leon4 *l, struct core *o, const struct place *p, unsigned op,
                  uint8_t class, struct cf_leon4_result *r)
{
    l->counts[op == CF_IFETCH ? CF_LEON4_FETCH : CF_LEON4_DATA].misses[op][class]++;
    cf_class_raise(&r->class, class);
    return to_second(l, o, p, op, r);
}

static int fetch(struct cf_leon4 *l, struct core *o, const struct place *p,
                 struct cf_leon4_result *r)
{
    uint64_t distance;
    uint8_t class;
    const int read = o->reads && was_read(o, p->line);

    if (cf_setstack_touch(o->fetch, (uint32_t)(p->line % l->c.fetch.sets), p->key, &distance) < 0)
        return -1;
    class = (uint8_t)cf_setstack_class(distance, l->c.fetch.ways, l->c.fetch.sets);
    l->counts[CF_LEON4_FETCH].references[CF_IFETCH]++;
    if (class == CF_CLASS_NONE && !read) {
        cf_class_raise(&r->hit, 1);
        return 0;
    }
    return missed(l, o, p, CF_IFETCH, class ? class : CF_CLASS_UNCLASSIFIED, r);
}

/* A load of a line that is known, be it from the read that served it. */
static int load(struct cf_leon4 *l, struct core *o, const struct place *p, unsigned seen,
                struct cf_leon4_result *r)
{
    struct cf_leon4_counts *n = &l->counts[CF_LEON4_DATA];
    uint64_t distance;
    uint8_t class;

    n->references[CF_LOAD]++;
    if (seen == CF_LEON4_MISS && !was_read(o, p->line))
        o->awaited = p->line + 1;
    if (l->c.data_compulsory) {
        if (seen == CF_LEON4_MISS)
            return missed(l, o, p, CF_LOAD, CF_CLASS_COMPULSORY, r);
        n->unknown[CF_LOAD] += seen == CF_LEON4_NOTHING;
        cf_class_raise(&r->hit, seen == CF_LEON4_HIT);
        return 0;
    }
    if (cf_setstack_touch(o->data, (uint32_t)(p->line % l->c.data.sets), p->key, &distance) < 0)
        return -1;
    class = (uint8_t)cf_setstack_class(distance, l->c.data.ways, l->c.data.sets);
    if (seen == CF_LEON4_MISS && !class)
        class = CF_CLASS_UNCLASSIFIED;
    l->against += seen == CF_LEON4_HIT && class;
    if (seen == CF_LEON4_HIT || !class) {
        cf_class_raise(&r->hit, 1);
        return 0;
    }
    return missed(l, o, p, CF_LOAD, class, r);
}

static int store(struct cf_leon4 *l, struct core *o, const struct place *p,
                 struct cf_leon4_result *r)
{
    struct cf_leon4_counts *n = &l->counts[CF_LEON4_DATA];
    const uint32_t set = (uint32_t)(p->line % l->c.data.sets);
    uint64_t distance;
    uint8_t class = CF_CLASS_NONE;
    int held;

    n->references[CF_STORE]++;
    if (l->c.allocate) {
        if (cf_setstack_touch(o->data, set, p->key, &distance) < 0)
            return -1;
        class = (uint8_t)cf_setstack_class(distance, l->c.data.ways, l->c.data.sets);
        held = !class;
    } else {
        held = cf_setstack_touch_held(o->data, set, p->key, l->c.data.ways);
    }
    if (class)
        return missed(l, o, p, CF_STORE, class, r);
    if (!held || !l->c.write_back)
        return to_second(l, o, p, CF_STORE, r);
    cf_class_raise(&r->hit, 1);
    return 0;
}

/* A load or store of which no line is known. */
static void nowhere(struct cf_leon4 *l, const struct cf_leon4_access *a, struct cf_leon4_result *r)
{
    struct cf_leon4_counts *n = &l->counts[CF_LEON4_DATA];

    n->references[a->op]++;
    if (a->op == CF_LOAD && a->seen == CF_LEON4_MISS) {
        r->class = l->c.data_compulsory ? CF_CLASS_COMPULSORY : CF_CLASS_UNCLASSIFIED;
        n->misses[CF_LOAD][r->class]++;
        r->hit = l->c.second.sets ? 0 : CF_FROM_MEMORY;
    } else if (a->op == CF_LOAD && a->seen == CF_LEON4_HIT) {
        r->hit = 1;
    } else {
        n->unknown[a->op]++;
    }
}

int cf_leon4_access(struct cf_leon4 *l, const struct cf_leon4_access *a, struct cf_leon4_result *r)
{
    struct core *o = &l->core[a->core];
    const uint64_t more = a->size ? a->size - 1 : 0;
    const uint64_t end = a->addr > UINT64_MAX - more ? UINT64_MAX : a->addr + more;

    *r = (struct cf_leon4_result){0};
    if (a->op < CF_LOAD || a->op > CF_IFETCH)
        return 0;
    if (!a->placed && (a->op != CF_LOAD || a->seen != CF_LEON4_MISS || !a->addr)) {
        if (a->op != CF_IFETCH)
            nowhere(l, a, r);
        return 0;
    }
    for (uint64_t line = a->addr >> l->c.line_shift; line <= end >> l->c.line_shift; line++) {
        const struct place p = {line, line ^ a->space};
        int result;

        if (a->op == CF_IFETCH)
            result = fetch(l, o, &p, r);
        else if (a->op == CF_LOAD)
            result = load(l, o, &p, a->seen, r);
        else
            result = store(l, o, &p, r);
        if (result < 0)
            return -1;
        if (!a->placed) /* a bus read may be shorter or longer than the access that it served */
            break;
    }
    return 0;
}

const struct cf_leon4_counts *cf_leon4_counts(const struct cf_leon4 *l, enum cf_leon4_cache cache)
{
    return &l->counts[cache];
}

uint64_t cf_leon4_against(const struct cf_leon4 *l)
{
    return l->against;
}
