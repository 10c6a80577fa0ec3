/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leon4.c - the procedure of the LEON4 profiling tool (see leon4.h).
 *
 * Each set of a cache has an LRU stack, which is searched from its top. The distance of a reference
 * is the number of distinct other lines of its set that were placed or touched since the line
 * itself was (Mattson, Gecsei, Slutz, Traiger: Evaluation techniques for storage hierarchies, IBM
 * Systems Journal 9(2), 1970), which an LRU cache of W ways hits exactly when it is below W.
 * stack.h has the same faster, in a tree, where all references enter. A store to a cache that does
 * not allocate touches a line only where the cache holds it, so that the stack's first W lines
 * remain what the cache has; that needs the list itself.
 *
 * A stack is an array whose last element is its top, so that it grows at the end and a search for a
 * recent line ends soon. Moving a line to the top moves the lines above it down by one. Memory: 8
 * to 16 bytes a distinct line, 128 at least a set that is used.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/leon4.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

enum { READS = 8, NO_LINE = 0 };

struct one {
    uint64_t *line;
    uint32_t count;
    size_t room;
};

struct setstack {
    uint32_t sets;
    struct one set[];
};

static struct setstack *setstack_new(uint32_t sets)
{
    struct setstack *s = calloc(1, sizeof(*s) + sets * sizeof(s->set[0]));

    if (s)
        s->sets = sets;
    return s;
}

static void setstack_free(struct setstack *s)
{
    for (uint32_t i = 0; s && i < s->sets; i++)
        free(s->set[i].line);
    free(s);
}

/* Brings a line to the top, if it is one of the first `most` from there: its place before, counted
   from the top, else UINT32_MAX. */
static uint32_t to_top(struct one *o, uint64_t line, uint32_t most)
{
    const uint32_t end = o->count > most ? o->count - most : 0;

    for (uint32_t i = o->count; i > end; i--)
        if (o->line[i - 1] == line) {
            memmove(o->line + i - 1, o->line + i, (o->count - i) * sizeof(*o->line));
            o->line[o->count - 1] = line;
            return o->count - i;
        }
    return UINT32_MAX;
}

struct place {
    uint64_t line, key; /* key: of its stacks, the line and its space */
};

/* The class of a reference to a cache of so many ways, whose line is then at the top; -1 without
   memory. */
static int classify(struct setstack *s, uint32_t ways, const struct place *p)
{
    struct one *o = &s->set[p->line % s->sets];
    const uint32_t distance = to_top(o, p->key, o->count);

    if (distance != UINT32_MAX)
        return distance < ways      ? CF_CLASS_NONE
               : distance < s->sets ? CF_CLASS_CONFLICT
               : distance > s->sets ? CF_CLASS_CAPACITY
                                    : CF_CLASS_UNCLASSIFIED;
    if (o->count == UINT32_MAX ||
        cf_array_room(&o->line, &o->room, o->count + (size_t)1, sizeof(*o->line)) != 0)
        return -1;
    o->line[o->count++] = p->key;
    return CF_CLASS_COMPULSORY;
}

struct core {
    struct setstack *fetch, *data, *second;
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

        o->fetch = setstack_new(l->c.fetch.sets);
        o->data = setstack_new(l->c.data.sets);
        if (l->c.second.sets)
            o->second = i && !l->c.second_own ? l->core[0].second : setstack_new(l->c.second.sets);
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
        setstack_free(l->core[i].fetch);
        setstack_free(l->core[i].data);
        if (i == 0 || l->c.second_own)
            setstack_free(l->core[i].second);
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

/* The greatest class of several lines; that a line has no class counts last. */
static void raise_class(uint8_t *row, int class)
{
    if (*row == CF_CLASS_UNCLASSIFIED && class)
        *row = (uint8_t) class;
    else if (class != CF_CLASS_UNCLASSIFIED || !*row)
        cf_class_raise(row, (uint8_t) class);
}

static int to_second(struct cf_leon4 *l, struct core *o, const struct place *p, unsigned op,
                     struct cf_leon4_result *r)
{
    struct cf_leon4_counts *n = &l->counts[CF_LEON4_SECOND];
    int class;

    if (!o->second) {
        r->hit = CF_FROM_MEMORY;
        return 0;
    }
    class = classify(o->second, l->c.second.ways, p);
    if (class < 0)
        return -1;
    n->references[op]++;
    n->misses[op][class] += class != CF_CLASS_NONE;
    raise_class(&r->second, class);
    cf_class_raise(&r->hit, class ? CF_FROM_MEMORY : 2);
    return 0;
}

static int missed(struct cf_leon4 *l, struct core *o, const struct place *p, unsigned op, int class,
                  struct cf_leon4_result *r)
{
    if (class < 0)
        return -1;
    l->counts[op == CF_IFETCH ? CF_LEON4_FETCH : CF_LEON4_DATA].misses[op][class]++;
    raise_class(&r->class, class);
    return to_second(l, o, p, op, r);
}

static int fetch(struct cf_leon4 *l, struct core *o, const struct place *p,
                 struct cf_leon4_result *r)
{
    const int read = o->reads && was_read(o, p->line);
    const int class = classify(o->fetch, l->c.fetch.ways, p);

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
    int class;

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
    class = classify(o->data, l->c.data.ways, p);
    if (seen == CF_LEON4_MISS && !class)
        class = CF_CLASS_UNCLASSIFIED;
    l->against += seen == CF_LEON4_HIT && class > 0;
    if (class >= 0 && (seen == CF_LEON4_HIT || !class)) {
        cf_class_raise(&r->hit, 1);
        return 0;
    }
    return missed(l, o, p, CF_LOAD, class, r);
}

static int store(struct cf_leon4 *l, struct core *o, const struct place *p,
                 struct cf_leon4_result *r)
{
    struct cf_leon4_counts *n = &l->counts[CF_LEON4_DATA];
    const int class = l->c.allocate ? classify(o->data, l->c.data.ways, p) : CF_CLASS_NONE;
    int held = 1;

    n->references[CF_STORE]++;
    if (class)
        return missed(l, o, p, CF_STORE, class, r);
    if (!l->c.allocate) /* it brings nothing in, but touches what is held */
        held = to_top(&o->data->set[p->line % o->data->sets], p->key, l->c.data.ways) != UINT32_MAX;
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
