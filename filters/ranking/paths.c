/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths.c - paths of calls, by the names of the functions on them: nodes of table stack with the
 * same names, of whatever process or segment, are one path, and so is what was inlined.
 *
 * Memory: 43 to 85 bytes a node and a pair of node and function, as many and 8 a distinct path; the
 * names.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/ranking/ranking.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_strings.h"

enum {
    MOST_PARENTS = 64, /* processes whose nodes one may use */
    RECENT_BITS = 9,   /* log2 of the accesses whose paths are remembered */
};

struct path {
    uint32_t callers, name; /* a path, number in `names` */
};

/* The path of an access, by what it is found by; path 0: none. */
struct recent {
    uint64_t node, function; /* with the process, and what it was inlined into */
    uint64_t path;
};

struct cf_paths {
    struct cf_reader *reader;
    struct cf_counts *nodes;   /* path by process and node */
    struct cf_counts *parents; /* process + 1, by process */
    struct cf_counts *paths;   /* number by callers and name, */
    struct cf_counts *whole;   /* and by callers and string ids */
    struct cf_strings *names;  /* of functions, as they stand in a path */
    struct path *path;         /* by number; 0 is the empty one */
    size_t count, room;
    struct recent recent[1 << RECENT_BITS]; /* direct-mapped */
};

struct cf_paths *cf_paths_new(struct cf_reader *r)
{
    struct cf_paths *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->reader = r;
    p->count = 1;
    p->nodes = cf_counts_new();
    p->parents = cf_counts_new();
    p->paths = cf_counts_new();
    p->whole = cf_counts_new();
    p->names = cf_strings_new();
    if (p->nodes && p->parents && p->paths && p->whole && p->names &&
        cf_array_cleared(&p->path, &p->room, 1, sizeof(*p->path)) == 0)
        return p;
    cf_paths_free(p);
    return NULL;
}

void cf_paths_free(struct cf_paths *p)
{
    if (!p)
        return;
    cf_counts_free(p->nodes);
    cf_counts_free(p->parents);
    cf_counts_free(p->paths);
    cf_counts_free(p->whole);
    cf_strings_free(p->names);
    free(p->path);
    free(p);
}

static uint32_t find(const struct cf_paths *p, uint32_t pid, uint32_t node)
{
    for (unsigned i = 0; node && i < MOST_PARENTS; i++) {
        const uint64_t path = cf_counts_get(p->nodes, pid, node);
        const uint64_t parent = path ? 0 : cf_counts_get(p->parents, 0, pid);

        if (path || !parent)
            return (uint32_t)path;
        pid = (uint32_t)(parent - 1);
    }
    return 0;
}

/* The path that goes on with a function; 0 without memory. Between two functions stands a
   semicolon, and so in none of them. */
static uint64_t step(struct cf_paths *p, uint64_t callers, const char *name, size_t length)
{
    char *copy = length ? strndup(name, length) : strdup("[unknown]");
    uint64_t *number = NULL;
    uint32_t id = 0;
    int fresh;

    for (char *c = copy; c && *c; c++)
        *c = *c == ';' || *c == '\n' ? ':' : *c;
    if (copy && (id = cf_strings_number(p->names, copy, strlen(copy), &fresh)))
        number = cf_counts_at(p->paths, callers, id);
    free(copy);
    if (!number || *number)
        return number ? *number : 0;
    if (p->count == UINT32_MAX ||
        cf_array_room(&p->path, &p->room, p->count + 1, sizeof(*p->path)) != 0)
        return 0;
    p->path[p->count] = (struct path){(uint32_t)callers, id};
    return *number = p->count++;
}

/* The path that goes on with functions by their string ids: one, and those it was inlined into. */
static uint64_t extend(struct cf_paths *p, uint64_t callers, uint32_t inlined, uint32_t function)
{
    uint64_t *whole = cf_counts_at(p->whole, callers, (uint64_t)inlined << 32 | function);
    const char *at = cf_reader_text(p->reader, inlined);

    if (!whole || *whole)
        return whole ? *whole : 0;
    for (size_t n; *at; at += n + (at[n] == ';')) {
        n = strcspn(at, ";");
        callers = step(p, callers, at, n);
        if (!callers)
            return 0;
    }
    at = cf_reader_text(p->reader, function);
    return *whole = step(p, callers, at, strlen(at));
}

int cf_paths_frame(struct cf_paths *p, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *node = cf_u32(f, CF_STACK_ID);
    const uint32_t *parent = cf_u32(f, CF_PARENT), *function = cf_u32(f, CF_FUNCTION);
    const uint32_t *inlined = cf_u32(f, CF_INLINED);
    const uint8_t *op = cf_u8(f, CF_OP);

    if (f->table == CF_HEADER || f->table == CF_TASK || f->table == CF_STACK)
        memset(p->recent, 0, sizeof p->recent);
    if (f->table == CF_HEADER) {
        cf_counts_free(p->nodes);
        cf_counts_free(p->parents);
        p->nodes = cf_counts_new();
        p->parents = cf_counts_new();
        return p->nodes && p->parents ? 0 : -1;
    }
    if (f->table == CF_TASK)
        for (uint32_t i = 0; pid && parent && op && i < f->rows; i++) {
            uint64_t *of;

            if (op[i] != CF_BEGIN || !parent[i] || parent[i] == pid[i])
                continue;
            of = cf_counts_at(p->parents, 0, pid[i]);
            if (!of)
                return -1;
            *of = (uint64_t)parent[i] + 1;
        }
    for (uint32_t i = 0; f->table == CF_STACK && node && function && i < f->rows; i++) {
        const uint32_t of = pid ? pid[i] : 0, callers = parent ? find(p, of, parent[i]) : 0;
        uint64_t path, *to;

        if (!node[i])
            continue;
        path = extend(p, callers, inlined ? inlined[i] : 0, function[i]);
        to = path ? cf_counts_at(p->nodes, of, node[i]) : NULL;
        if (!to)
            return -1;
        *to = path;
    }
    return 0;
}

int cf_paths_of(struct cf_paths *p, const struct cf_frame *f, const uint64_t *some, uint64_t *path)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *node = cf_u32(f, CF_STACK_ID);
    const uint32_t *function = cf_u32(f, CF_FUNCTION), *inlined = cf_u32(f, CF_INLINED);

    for (uint32_t i = 0; i < f->rows; i++) {
        const uint32_t of = pid ? pid[i] : 0, into = inlined ? inlined[i] : 0;
        const uint64_t a = (uint64_t)of << 32 | (node ? node[i] : 0);
        const uint64_t b = (uint64_t)into << 32 | function[i];
        struct recent *r =
            &p->recent[(a + b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd) >>
                       (64 - RECENT_BITS)];

        path[i] = 0;
        if (!some[i])
            continue;
        if (!r->path || r->node != a || r->function != b) {
            const uint64_t found = extend(p, node ? find(p, of, node[i]) : 0, into, function[i]);

            if (!found)
                return -1;
            *r = (struct recent){a, b, found};
        }
        path[i] = r->path;
    }
    return 0;
}

uint64_t cf_paths_number(struct cf_paths *p, const char *text)
{
    uint64_t path = 0;
    size_t n;

    do {
        n = strcspn(text, ";");
        path = step(p, path, text, n);
        text += n + (text[n] == ';');
    } while (path && *text);
    return path;
}

char *cf_paths_text(const struct cf_paths *p, uint64_t path)
{
    size_t depth = 0, size;
    uint32_t *list;
    char *text = NULL;
    FILE *out;

    for (uint64_t at = path; at && at < p->count; at = p->path[at].callers)
        depth++;
    list = calloc(depth + 1, sizeof(*list));
    out = list ? open_memstream(&text, &size) : NULL;
    if (!out) {
        free(list);
        return NULL;
    }
    for (size_t i = depth; i-- > 0; path = p->path[path].callers)
        list[i] = p->path[path].name;
    for (size_t i = 0; i < depth; i++)
        fprintf(out, "%s%s", i ? ";" : "", cf_strings_text(p->names, list[i]));
    free(list);
    return cf_memory_text(out, &text);
}
