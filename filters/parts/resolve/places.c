/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * places.c - function and source line of program counters, allocation sites of call stacks.
 *
 * A pc is looked up three times deep: in a small cache by pc, which a change of the process's code
 * makes stale; by (file, address in the file), for every process that maps the file; and in the
 * file itself. Memory: one entry for each distinct address in a file, for each distinct frame of a
 * call stack, and for each node of the calling-context trees.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_strings.h"
#include "filters/engine/rows/counts.h"
#include "filters/parts/resolve/resolve.h"

enum {
    FAST_BITS = 16,   /* binary logarithm of the entries in the cache by pc: a huge page */
    FLIGHT = 16,      /* lookups that memory is asked for in advance */
    DEEPEST = 256,    /* frames of a call stack that are looked at */
    MAX_SITE = 16384, /* bytes in the text of a site */
};

struct fast {
    uint64_t pc, code;
    struct code_place place;
};

/* What is known of an address in a file. The texts are of the frame that called from there. */
struct known {
    struct code_place place;
    char *text;      /* "function file:line", of the innermost frame that counts; callers follow */
    uint32_t source; /* of the first of them */
    uint8_t skipped; /* every function here is part of an allocator */
    uint8_t named;   /* an allocator's function by its name, not only by its file */
};

struct node {
    uint32_t pid, id, parent;
    int written; /* its row is written */
    uint64_t pc;
    uint64_t code; /* for which `site` holds */
    struct site site;
};

struct places {
    struct resolver *r;
    struct place_options o;
    struct fast *fast;
    struct known *known;
    size_t known_count, known_room;
    struct node *node;
    size_t nodes, node_room;
    struct node **path; /* for places_name_node() */
    size_t path_room;
    int writes_nodes, around; /* the functions that a place was inlined into are wanted */
    /* places in these lists, from 1: by name, address, and whether what is known is of a return
       address or of a pc; by process and number */
    struct cf_counts *known_at, *node_at;
    struct cf_strings *files; /* that table file has: path and time of the program */
};

struct places *places_new(struct resolver *r, const struct place_options *options)
{
    struct places *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->r = r;
    p->o = *options;
    p->known_at = cf_counts_new();
    p->node_at = cf_counts_new();
    p->files = cf_strings_new();
    p->fast = cf_memory_take(sizeof *p->fast << FAST_BITS);
    if (p->fast)
        memset(p->fast, 0, sizeof *p->fast << FAST_BITS);
    if (p->fast && p->known_at && p->node_at && p->files)
        return p;
    places_free(p);
    return NULL;
}

void places_free(struct places *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->known_count; i++)
        free(p->known[i].text);
    free(p->fast);
    free(p->known);
    free(p->node);
    free(p->path);
    cf_counts_free(p->known_at);
    cf_counts_free(p->node_at);
    cf_strings_free(p->files);
    free(p);
}

/* ---- texts ---- */

/* The last components of a path that the user wants to see. */
static const char *shorten(const struct places *p, const char *path)
{
    const char *at = path + strlen(path);

    if (p->o.components == 0)
        return path;
    for (unsigned left = p->o.components; at > path; at--)
        if (at[-1] == '/' && --left == 0)
            return at;
    return path;
}

/* Says in table file which one it is, once. */
static void state_file(struct places *p, const char *path, uint64_t built)
{
    struct cf_writer *w = p->r->w;
    char *key;
    int fresh = 0, length = asprintf(&key, "%llu %s", (unsigned long long)built, path);

    if (length < 0 || !cf_strings_number(p->files, key, (size_t)length, &fresh))
        p->r->failed = 1;
    if (length >= 0)
        free(key);
    if (fresh) {
        const struct cf_values row[] = {{CF_SOURCE, NULL, cf_writer_string(w, shorten(p, path))},
                                        {CF_LABEL, NULL, cf_writer_string(w, path)},
                                        {CF_BUILT, NULL, built}};

        cf_writer_rows(w, CF_FILE, 1, row, 3, NULL);
    }
}

/* Of a place in the file that `s` are the symbols of. */
static uint32_t source_id(struct places *p, const struct symbols *s, const struct place *place)
{
    char *text;

    if (!place->file || !place->line)
        return 0;
    state_file(p, place->file, symbols_built(s));
    if (asprintf(&text, "%s:%u", shorten(p, place->file), place->line) < 0) {
        p->r->failed = 1;
        return 0;
    }
    uint32_t id = cf_writer_string(p->r->w, text);
    free(text);
    return id;
}

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A function that allocates for its caller: the standard ones, in C++ also as the linker sees them,
   what the C++ library's headers leave in a program, and those that the user names. */
static int is_allocation(const struct places *p, const char *function)
{
    static const char *const names[] = {
        "malloc",        "calloc",         "realloc",       "reallocarray",   "memalign",
        "aligned_alloc", "posix_memalign", "valloc",        "pvalloc",        "strdup",
        "strndup",       "__strdup",       "__strndup",     "wcsdup",         "asprintf",
        "vasprintf",     "getline",        "getdelim",      "_int_malloc",    "_int_realloc",
        "_int_memalign", "__libc_malloc",  "__libc_calloc", "__libc_realloc", "__libc_memalign",
        "mmap",          "mmap64",
    };
    static const char *const prefixes[] = {"operator new", "_Znw",        "_Zna",
                                           "std::",        "__gnu_cxx::", "_ZNSt",
                                           "_ZSt",         "_ZNKSt",      "_ZN9__gnu_cxx"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(function, names[i]))
            return 1;
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (begins(function, prefixes[i]))
            return 1;
    for (unsigned i = 0; i < p->o.skips; i++)
        if (!strcmp(function, p->o.skip[i]))
            return 1;
    return 0;
}

/* ---- addresses in files ---- */

/* What is known of the address, a new entry zeroed, until the next call; NULL without memory.
   `frame`: of a return address, not of a pc. */
static struct known *known_find(struct places *p, uint32_t name, uint64_t address, int frame,
                                int *is_new)
{
    uint64_t *at = cf_counts_at(p->known_at, name * (uint64_t)2 + (unsigned)frame, address);

    if (!at ||
        cf_array_cleared(&p->known, &p->known_room, p->known_count + 1, sizeof *p->known) != 0) {
        p->r->failed = 1;
        return NULL;
    }
    *is_new = !*at;
    if (*is_new)
        *at = ++p->known_count;
    return &p->known[*at - 1];
}

static void name_ids(struct places *p, struct symbols *s, const struct place *places,
                     unsigned count, struct code_place *ids)
{
    const unsigned at = p->o.no_inline ? count - 1 : symbols_innermost(places, count);
    const char *name = symbols_readable(s, places[at].function);

    ids->function = name ? cf_writer_string(p->r->w, name) : 0;
    name = p->around || p->o.inlined ? symbols_around(s, places, at, count) : NULL;
    ids->inlined = name ? cf_writer_string(p->r->w, name) : 0;
}

static struct code_place place_of(struct places *p, struct space *s, uint64_t pc)
{
    struct region *g = space_region(p->r, s, pc, pc);
    struct place places[MAX_PLACES];
    int is_new;

    if (!g)
        return (struct code_place){.function = 0};
    if (!g->symbols) {
        names_missed(&p->r->names, g->name);
        return (struct code_place){.function = region_code(p->r, g, pc)};
    }
    struct known *k = known_find(p, g->name, pc - g->bias, 0, &is_new);
    if (!k)
        return (struct code_place){.function = 0};
    if (is_new) {
        unsigned count = symbols_places(g->symbols, pc - g->bias, places);
        name_ids(p, g->symbols, places, count, &k->place);
        if (!k->place.function)
            k->place.function = region_code(p->r, g, pc);
        k->place.source = source_id(p, g->symbols, &places[0]);
    }
    return k->place;
}

static inline struct fast *fast_at(struct places *p, uint64_t pc)
{
    return &p->fast[(pc * 0x9e3779b97f4a7c15u) >> (64 - FAST_BITS)];
}

void places_find_many(struct places *p, struct space *s, const uint64_t *pc, size_t count,
                      uint32_t *function, uint32_t *source, uint32_t *inlined)
{
    for (size_t i = 0; i < count; i++) {
        struct fast *f = fast_at(p, pc[i]);
        if (i + FLIGHT < count)
            __builtin_prefetch(fast_at(p, pc[i + FLIGHT]));
        if (f->pc != pc[i] || f->code != s->code)
            *f = (struct fast){pc[i], s->code, place_of(p, s, pc[i])};
        function[i] = f->place.function;
        source[i] = f->place.source;
        if (inlined)
            inlined[i] = f->place.inlined;
    }
}

/* ---- call stacks ---- */

void places_node(struct places *p, uint32_t pid, uint32_t id, uint32_t parent, uint64_t pc)
{
    uint64_t *at;

    if (id == 0)
        return;
    at = cf_counts_at(p->node_at, pid, id);
    if (!at || cf_array_cleared(&p->node, &p->node_room, p->nodes + 1, sizeof *p->node) != 0) {
        p->r->failed = 1;
        return;
    }
    if (!*at)
        *at = ++p->nodes;
    p->node[*at - 1] = (struct node){.pid = pid, .id = id, .parent = parent, .pc = pc};
}

/* At node 0, which is none, stands the parent of the process. */
void places_child(struct places *p, uint32_t pid, uint32_t parent)
{
    uint64_t *at = cf_counts_at(p->node_at, pid, 0);

    if (at)
        *at = parent;
    p->r->failed |= !at;
}

/* A forked process goes on with its parent's nodes, which are not sent again. */
static struct node *node_find(const struct places *p, uint32_t pid, uint32_t id)
{
    for (int i = 0; i < 16 && id; i++) {
        const uint64_t place = cf_counts_get(p->node_at, pid, id);

        if (place)
            return &p->node[place - 1];
        pid = (uint32_t)cf_counts_get(p->node_at, pid, 0);
        if (!pid)
            break;
    }
    return NULL;
}

/* ---- nodes with names ---- */

void places_write_nodes(struct places *p, int inlined)
{
    p->writes_nodes = 1;
    p->around = inlined && !p->o.no_inline;
}

static void write_node(struct places *p, struct node *n, struct code_place place)
{
    const struct cf_values row[] = {
        {CF_PID, NULL, n->pid},
        {CF_STACK_ID, NULL, n->id},
        {CF_PARENT, NULL, n->parent},
        {CF_PC, NULL, n->pc},
        {CF_FUNCTION, NULL, n->pc ? place.function : cf_writer_string(p->r->w, "[deeper]")},
        {CF_SOURCE, NULL, place.source},
        {CF_INLINED, NULL, place.inlined}};

    n->written = 1;
    (void)cf_writer_rows(p->r->w, CF_STACK, 1, row, p->around ? 7 : 6,
                         NULL); /* the writer keeps its problem */
}

void places_name_node(struct places *p, struct space *s, uint32_t pid, uint32_t id)
{
    size_t n = 0;

    /* A parent has a lower number, but a stream may say anything. */
    for (struct node *at = node_find(p, pid, id); p->writes_nodes && at && !at->written; n++) {
        if (cf_array_room(&p->path, &p->path_room, n + 1, sizeof *p->path) != 0) {
            p->r->failed = 1;
            return;
        }
        at->written = 1;
        p->path[n] = at;
        at = node_find(p, pid, at->parent);
    }
    while (n-- > 0) {
        const struct code_place none = {.function = 0};
        struct node *at = p->path[n];

        write_node(p, at, s && at->pc ? place_of(p, s, at->pc - 1) : none);
    }
}

void places_rest_of_nodes(struct places *p)
{
    for (size_t i = 0; p && p->writes_nodes && i < p->nodes; i++)
        if (!p->node[i].written)
            write_node(p, &p->node[i], (struct code_place){.function = 0});
}

/* ---- sites ---- */

struct text {
    char *at;
    size_t used;
};

static void text_add(struct text *t, const char *what)
{
    size_t n = strlen(what);

    if (t->used + n + 1 > MAX_SITE)
        return;
    memcpy(t->at + t->used, what, n + 1);
    t->used += n;
}

static void frame_text(struct places *p, struct text *t, const struct place *place,
                       const struct region *g, uint64_t address)
{
    char number[64];
    const char *name = p->r->names.at[g->name].text, *slash = strrchr(name, '/');

    if (place->function) {
        text_add(t, symbols_readable(g->symbols, place->function));
    } else {
        snprintf(number, sizeof number, "+0x%llx", (unsigned long long)address);
        text_add(t, slash ? slash + 1 : *name ? name : "[anon]");
        text_add(t, number);
    }
    if (place->file && place->line) {
        snprintf(number, sizeof number, ":%u", place->line);
        text_add(t, " ");
        text_add(t, shorten(p, place->file));
        text_add(t, number);
    }
}

/* The innermost function at a return address that is no part of an allocator, as text, with those
   that it was inlined into. */
static struct known *frame_of(struct places *p, const struct region *g, uint64_t pc, char *buffer)
{
    struct place places[MAX_PLACES];
    struct text t = {buffer, 0};
    unsigned count = 1, from;
    int is_new, library = p->r->names.at[g->name].allocator;
    struct known *k = known_find(p, g->name, pc - g->bias, 1, &is_new);

    if (!k || !is_new)
        return k;
    memset(places, 0, sizeof places);
    if (g->symbols)
        count = symbols_places(g->symbols, pc - g->bias, places);
    else
        names_missed(&p->r->names, g->name);
    k->named = 1;
    for (from = 0; from < count; from++) {
        int allocates = places[from].function && is_allocation(p, places[from].function);
        k->named &= (uint8_t)allocates;
        if (!allocates)
            break;
    }
    k->skipped = (uint8_t)(library || from == count);
    if (from == count)
        from = 0;
    buffer[0] = '\0';
    for (unsigned i = from, depth = 0; i < count && depth < p->o.depth; i++, depth++) {
        if (i > from)
            text_add(&t, " < ");
        frame_text(p, &t, &places[i], g, pc - g->bias);
    }
    k->text = strdup(buffer);
    if (!k->text)
        p->r->failed = 1;
    const unsigned at = p->o.no_inline ? count - 1 : from;
    const char *function = symbols_readable(g->symbols, places[at].function);
    k->place.function = function ? cf_writer_string(p->r->w, function) : 0;
    k->place.source = source_id(p, g->symbols, &places[from]);
    return k;
}

/* Adds the first `most` functions that the text of a frame names; their number. */
static unsigned levels_add(struct text *t, const char *text, unsigned most, char *buffer)
{
    unsigned n = 1;
    const char *end = strstr(text, " < ");

    while (end && n < most) {
        n++;
        end = strstr(end + 3, " < ");
    }
    snprintf(buffer, MAX_SITE, "%.*s", end ? (int)(end - text) : MAX_SITE, text);
    text_add(t, buffer);
    return n;
}

struct site places_site(struct places *p, struct space *s, uint32_t id)
{
    struct node *leaf = node_find(p, s->pid, id), *n, *start = NULL, *second = NULL;
    char buffer[MAX_SITE], frame[MAX_SITE], part[MAX_SITE];
    struct site site = {0, 0, 0};
    struct text t = {buffer, 0};
    unsigned depth = 0;

    if (!leaf)
        return site;
    if (leaf->code == s->code)
        return leaf->site;
    /* The first frame that is none of an allocator; if all are, the first whose function is not
       called like one, as when the C library allocates for itself; else the first of all. */
    n = leaf;
    for (int i = 0; n && i < DEEPEST && !start; i++, n = node_find(p, s->pid, n->parent)) {
        struct region *g = space_region(p->r, s, n->pc - 1, n->pc);
        struct known *k = g ? frame_of(p, g, n->pc - 1, frame) : NULL;
        if (!k || !k->skipped)
            start = n;
        else if (!second && !k->named)
            second = n;
    }
    if (!start)
        start = second ? second : leaf;
    buffer[0] = '\0';
    n = start;
    for (int i = 0; n && i < DEEPEST && depth < p->o.depth;
         i++, n = node_find(p, s->pid, n->parent)) {
        struct region *g = space_region(p->r, s, n->pc - 1, n->pc);
        struct known *k = g ? frame_of(p, g, n->pc - 1, frame) : NULL;
        const char *text = k && k->text ? k->text : frame;
        if (!k)
            snprintf(frame, sizeof frame, "0x%llx", (unsigned long long)n->pc);
        else if (n == start)
            site = (struct site){0, k->place.function, k->place.source};
        if (depth)
            text_add(&t, " < ");
        depth += levels_add(&t, text, p->o.depth - depth, part);
    }
    site.text = cf_writer_string(p->r->w, buffer);
    leaf->code = s->code;
    leaf->site = site;
    return site;
}
