/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths.c - paths of calls, by the functions on them: nodes of table stack with the same names, of
 * whatever process or segment, are one path.
 *
 * Memory: 43 to 85 bytes a node, as many and 8 a distinct path.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/ranking/ranking.h"
#include "formats/base/cf_memory.h"

enum { MOST_PARENTS = 64 }; /* processes whose nodes one may use */

struct path {
    uint32_t callers, function; /* a path, string id */
};

struct cf_paths {
    struct cf_reader *reader;
    struct cf_counts *nodes;   /* path by process and node */
    struct cf_counts *parents; /* process + 1, by process */
    struct cf_counts *paths;   /* number by callers and function */
    struct path *path;         /* by number; 0 is the empty one */
    size_t count, room;
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
    if (p->nodes && p->parents && p->paths &&
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

static int add_node(struct cf_paths *p, uint32_t pid, uint32_t node, uint32_t callers,
                    uint32_t function)
{
    uint64_t *number = cf_counts_at(p->paths, callers, function), *of;

    if (!number)
        return -1;
    if (!*number) {
        if (p->count == UINT32_MAX ||
            cf_array_room(&p->path, &p->room, p->count + 1, sizeof(*p->path)) != 0)
            return -1;
        p->path[p->count] = (struct path){callers, function};
        *number = p->count++;
    }
    of = cf_counts_at(p->nodes, pid, node);
    if (of)
        *of = *number;
    return of ? 0 : -1;
}

int cf_paths_frame(struct cf_paths *p, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *node = cf_u32(f, CF_STACK_ID);
    const uint32_t *parent = cf_u32(f, CF_PARENT), *function = cf_u32(f, CF_FUNCTION);
    const uint8_t *op = cf_u8(f, CF_OP);

    if (f->table == CF_HEADER) {
        cf_counts_free(p->nodes);
        cf_counts_free(p->parents);
        p->nodes = cf_counts_new();
        p->parents = cf_counts_new();
        return p->nodes && p->parents ? 0 : -1;
    }
    if (f->table == CF_TASK)
        for (uint32_t i = 0; pid && parent && op && i < f->rows; i++) {
            uint64_t *of = op[i] == CF_BEGIN && parent[i] && parent[i] != pid[i]
                               ? cf_counts_at(p->parents, 0, pid[i])
                               : NULL;

            if (of)
                *of = (uint64_t)parent[i] + 1;
        }
    for (uint32_t i = 0; f->table == CF_STACK && node && function && i < f->rows; i++) {
        const uint32_t of = pid ? pid[i] : 0;

        if (node[i] && add_node(p, of, node[i], parent ? find(p, of, parent[i]) : 0, function[i]))
            return -1;
    }
    return 0;
}

void cf_paths_of(const struct cf_paths *p, const struct cf_frame *f, uint64_t *path)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *node = cf_u32(f, CF_STACK_ID);

    for (uint32_t i = 0; i < f->rows; i++)
        path[i] = i && node[i] == node[i - 1] && (!pid || pid[i] == pid[i - 1])
                      ? path[i - 1]
                      : find(p, pid ? pid[i] : 0, node[i]);
}

/* Between two functions stands a semicolon, and so in none of them. */
static void put_function(FILE *out, const char *name)
{
    for (name = *name ? name : "[unknown]"; *name; name++)
        fputc(*name == ';' || *name == '\n' ? ':' : *name, out);
}

char *cf_paths_text(const struct cf_paths *p, uint64_t path, uint64_t function)
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
        list[i] = p->path[path].function;
    for (size_t i = 0; i < depth; i++) {
        put_function(out, cf_reader_text(p->reader, list[i]));
        fputc(';', out);
    }
    put_function(out, cf_reader_text(p->reader, (uint32_t)function));
    free(list);
    return cf_memory_text(out, &text);
}
