/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classes.c - rule hill of cf-classify(1): beside each cache a fully associative LRU cache with as
 * many lines, which sees the same references; between private data caches also the words that
 * others wrote.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/reference/reference.h"

/* What is known of a line at one cache. */
struct known {
    uint32_t process;
    uint64_t number;
    int seen;        /* referenced before */
    int there;       /* in the fully associative cache, */
    uint64_t when;   /* since then */
    uint64_t others; /* words that other caches wrote since this one referenced the line */
};

struct list {
    struct known *line;
    size_t count, room;
};

/* A level that is classified. */
struct watched {
    int level;
    enum { EVERY, DATA_OPS, FETCHES } ops; /* whose misses */
    int sharing;
    struct list known[CORES]; /* of each cache */
    uint64_t references[OPS], misses[OPS][CLASSES];
};

struct classes {
    struct machine machine;
    unsigned watches;
    struct watched watch[2];
    uint64_t clock;
    enum miss row;
};

static void watch(struct classes *c, int level, int ops)
{
    struct watched *w = &c->watch[c->watches++];

    w->level = level;
    w->ops = ops;
    w->sharing = c->machine.level[level].kind != INSTRUCTION && caches_of(&c->machine, level) > 1;
}

struct classes *classes_new(const struct machine *m, int level)
{
    struct classes *c = calloc(1, sizeof(*c));
    const int data = first_level(m, 0), fetch = first_level(m, 1);

    if (!c)
        abort();
    c->machine = *m;
    if (level >= 0) {
        watch(c, level, EVERY);
        return c;
    }
    if (data != MEMORY)
        watch(c, data, data == fetch ? EVERY : DATA_OPS);
    if (fetch != MEMORY && fetch != data)
        watch(c, fetch, FETCHES);
    return c;
}

void classes_free(struct classes *c)
{
    for (unsigned i = 0; c && i < c->watches; i++)
        for (unsigned k = 0; k < CORES; k++)
            free(c->watch[i].known[k].line);
    free(c);
}

static struct known *know(struct list *l, uint32_t process, uint64_t number)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->line[i].number == number && l->line[i].process == process)
            return &l->line[i];
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->line = realloc(l->line, l->room * sizeof(*l->line));
        if (!l->line)
            abort();
    }
    memset(&l->line[l->count], 0, sizeof(*l->line));
    l->line[l->count].process = process;
    l->line[l->count].number = number;
    return &l->line[l->count++];
}

/* The fully associative cache takes a line in, or learns that it was used. */
static void use(struct classes *c, const struct watched *w, struct list *l, struct known *k)
{
    const struct level *level = &c->machine.level[w->level];
    struct known *oldest = NULL;
    uint64_t n = 0;

    k->when = ++c->clock;
    if (k->there)
        return;
    k->there = 1;
    for (size_t i = 0; i < l->count; i++)
        if (l->line[i].there) {
            n++;
            if (!oldest || l->line[i].when < oldest->when)
                oldest = &l->line[i];
        }
    if (n > (uint64_t)level->ways * level->sets)
        oldest->there = 0;
}

/* The words of the line that the access touches: of 4 bytes, in lines longer than 256 bytes of a
   64th of the line. */
static uint64_t words(const struct classes *c, const struct watched *w, const struct reference *r)
{
    const uint64_t bytes = c->machine.level[w->level].line;
    const uint64_t word = bytes > 256 ? bytes / 64 : 4;
    uint64_t set = 0;

    for (uint64_t i = 0; i < bytes / word; i++) {
        const uint64_t first = r->number * bytes + i * word;

        if (first <= r->last && first + word - 1 >= r->first)
            set |= UINT64_C(1) << i;
    }
    return set;
}

/* Rule hill. */
static enum miss class_of(const struct known *k, uint64_t touched)
{
    if (!k->seen)
        return COMPULSORY;
    if (k->others & touched)
        return TRUE_SHARING;
    if (k->others)
        return FALSE_SHARING;
    return k->there ? CONFLICT : CAPACITY;
}

static int is_asked_for(const struct watched *w, enum op row)
{
    return w->ops == EVERY || (w->ops == FETCHES) == (row == IFETCH);
}

static void see(struct classes *c, struct watched *w, const struct reference *r)
{
    const struct level *l = &c->machine.level[w->level];
    struct list *list = &w->known[r->cache];
    struct known *k = know(list, r->process, r->number);

    if (r->how == FLUSHED) {
        k->there = 0;
        return;
    }
    if (r->how != WRITTEN && is_asked_for(w, r->op)) {
        w->references[r->op]++;
        if (r->missed) {
            const enum miss class = class_of(k, words(c, w, r));

            w->misses[r->op][class]++;
            if (class > c->row)
                c->row = class;
        }
    }
    if (w->sharing && r->how == STORED)
        for (unsigned i = 0; i < caches_of(&c->machine, w->level); i++)
            if (i != r->cache)
                know(&w->known[i], r->process, r->number)->others |= words(c, w, r);
    /* where stores do not allocate, one that misses is as if it had not been */
    if (!l->no_allocate || r->how == READ || !r->missed)
        k->others = 0;
    if (!l->no_allocate || r->how == READ || k->there) {
        k->seen = 1;
        use(c, w, list, k);
    }
}

void classes_see(void *arg, const struct reference *r)
{
    struct classes *c = arg;

    for (unsigned i = 0; i < c->watches; i++)
        if (c->watch[i].level == r->level)
            see(c, &c->watch[i], r);
}

unsigned classes_row(struct classes *c)
{
    const enum miss row = c->row;

    c->row = NO_MISS;
    return row;
}

uint64_t classes_counts(const struct classes *c, unsigned level, enum op op, uint64_t *misses)
{
    for (unsigned i = 0; i < c->watches; i++)
        if (c->watch[i].level == (int)level) {
            memcpy(misses, c->watch[i].misses[op], sizeof(c->watch[i].misses[op]));
            return c->watch[i].references[op];
        }
    return 0;
}
