/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * contexts.c - stacks become nodes of the tree of calling contexts, which are found again by a hash
 * table. Numbers of nodes are not used twice.
 */
#include <stdlib.h>

#include "parts.h"

enum { EDGES = 4096 };

static struct alloc_edge *find(const struct cf_alloc *a, uint64_t pc, uint32_t parent)
{
    size_t i = cf_hash(a->seed, pc, parent) & (a->edges - 1);

    while (a->edge[i].node && (a->edge[i].pc != pc || a->edge[i].parent != parent))
        i = (i + 1) & (a->edges - 1);
    return &a->edge[i];
}

static int grow(struct cf_alloc *a)
{
    struct alloc_edge *old = a->edge;
    const size_t edges = a->edges;

    a->edges = edges ? 2 * edges : EDGES;
    a->edge = calloc(a->edges, sizeof(*a->edge));
    if (!a->edge) {
        a->edge = old;
        a->edges = edges;
        return -1;
    }
    for (size_t i = 0; i < edges; i++)
        if (old[i].node)
            *find(a, old[i].pc, old[i].parent) = old[i];
    free(old);
    return 0;
}

int alloc_put_nodes(struct cf_alloc *a)
{
    struct alloc_nodes *n = &a->new_nodes;
    const struct cf_values v[] = {{CF_PID, n->pid, 0},
                                  {CF_STACK_ID, n->node, 0},
                                  {CF_PARENT, n->parent, 0},
                                  {CF_PC, n->pc, 0}};
    const uint32_t count = n->count;

    n->count = 0;
    a->result.nodes += count;
    return count ? cf_writer_rows(a->w, CF_STACK, count, v, 4, NULL) : 0;
}

static int64_t child(struct cf_alloc *a, uint32_t image, uint32_t pid, uint32_t parent, uint64_t pc)
{
    struct alloc_nodes *n = &a->new_nodes;
    const uint64_t key = parent ? pc & ~ALLOC_ROOT : pc | ALLOC_ROOT;
    struct alloc_edge *e;

    if (2 * (size_t)a->nodes >= a->edges && grow(a) != 0)
        return -1;
    e = find(a, key, parent ? parent : image);
    if (e->node)
        return e->node;
    if (a->nodes == CF_ALLOC_NODES)
        return 0;
    *e = (struct alloc_edge){key, parent ? parent : image, ++a->nodes};
    if (n->count == ALLOC_BATCH && alloc_put_nodes(a) != 0)
        return -1;
    n->pid[n->count] = pid;
    n->node[n->count] = a->nodes;
    n->parent[n->count] = parent;
    n->pc[n->count++] = pc;
    return a->nodes;
}

int64_t alloc_node(struct cf_alloc *a, uint32_t image, uint32_t pid, const uint64_t *words,
                   uint64_t at, uint32_t frames)
{
    const uint64_t mask = a->ring_words - 1;
    int64_t node = 0;

    for (uint32_t i = frames; i-- > 0;) {
        node = child(a, image, pid, (uint32_t)node, words[(at + i) & mask]);
        if (node <= 0)
            return node;
    }
    return node;
}

/* The nodes by their numbers, of which each is above that of its parent. */
int cf_alloc_repeat(struct cf_alloc *a)
{
    struct alloc_nodes *to = &a->new_nodes;
    uint32_t *edge = calloc((size_t)a->nodes + 1, sizeof(*edge));
    uint32_t *pid = calloc((size_t)a->nodes + 1, sizeof(*pid));
    int r = edge && pid ? 0 : -1;

    to->count = 0;
    for (size_t i = 0; r == 0 && i < a->edges; i++)
        if (a->edge[i].node)
            edge[a->edge[i].node] = (uint32_t)i;
    for (uint32_t node = 1; r == 0 && node <= a->nodes; node++) {
        const struct alloc_edge *e = &a->edge[edge[node]];
        const int root = (e->pc & ALLOC_ROOT) != 0;

        pid[node] = root ? a->image_pid[e->parent] : pid[e->parent];
        to->pid[to->count] = pid[node];
        to->node[to->count] = node;
        to->parent[to->count] = root ? 0 : e->parent;
        to->pc[to->count] = e->pc & ~ALLOC_ROOT;
        if (++to->count == ALLOC_BATCH)
            r = alloc_put_nodes(a);
    }
    free(edge);
    free(pid);
    return r == 0 ? alloc_put_nodes(a) : -1;
}
