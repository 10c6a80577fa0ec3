/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * callgrind_calls.c - which function called which, with what was done below, by paths of calls.
 *
 * By recursion a function may stand several times on a path, and what is done at its end is done
 * once by each: so only the call that entered the function first has the sum, and the others have
 * 0. All calls of a function then add up to its inclusive sum, as callgrind_annotate takes it,
 * since "(root)" calls those with which paths begin.
 *
 * Memory: the names; 85 bytes and the sums for each pair of functions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/ranking/callgrind.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_strings.h"

struct edge {
    uint32_t caller, callee; /* numbers of names */
};

struct cf_calls {
    const struct cf_tool *tool;
    unsigned sums;
    struct cf_strings *names;
    struct cf_counts *numbers; /* place in `edge`, from 1, by caller and callee */
    struct edge *edge;
    uint64_t *sum; /* of each edge `sums` */
    size_t count, edge_room, sum_room;
    uint64_t *seen; /* by name: number of the last path that it stood on */
    size_t seen_room, paths;
};

static uint64_t *edge_sums(struct cf_calls *c, uint32_t caller, uint32_t callee)
{
    uint64_t *number = cf_need(c->tool, cf_counts_at(c->numbers, caller, callee));

    if (!*number) {
        if (cf_array_room(&c->edge, &c->edge_room, c->count + 1, sizeof *c->edge) != 0 ||
            cf_array_cleared(&c->sum, &c->sum_room, c->count + 1, c->sums * sizeof *c->sum) != 0)
            cf_out_of_memory(c->tool);
        c->edge[c->count] = (struct edge){caller, callee};
        *number = ++c->count;
    }
    return c->sum + (*number - 1) * c->sums;
}

static uint32_t name_number(struct cf_calls *c, const char *name, size_t length)
{
    int fresh;
    const uint32_t number = cf_strings_number(c->names, name, length, &fresh);

    if (!number ||
        cf_array_cleared(&c->seen, &c->seen_room, number + (size_t)1, sizeof *c->seen) != 0)
        cf_out_of_memory(c->tool);
    return number;
}

static void add_path(struct cf_calls *c, const char *path, const uint64_t *sum)
{
    uint32_t caller = name_number(c, CF_CALLS_ROOT, strlen(CF_CALLS_ROOT));

    c->paths++;
    for (size_t n;; path += n + 1) {
        n = strcspn(path, ";");
        const uint32_t callee = name_number(c, path, n);
        uint64_t *to = edge_sums(c, caller, callee);

        for (unsigned v = 0; c->seen[callee] != c->paths && v < c->sums; v++)
            to[v] += sum[v];
        c->seen[callee] = c->paths;
        caller = callee;
        if (!path[n])
            break;
    }
}

struct cf_calls *cf_calls_new(const struct cf_tool *t, const struct cf_ranked *paths, unsigned sums)
{
    struct cf_calls *c = cf_need(t, calloc(1, sizeof *c));

    c->tool = t;
    c->sums = sums;
    c->names = cf_need(t, cf_strings_new());
    c->numbers = cf_need(t, cf_counts_new());
    for (size_t i = 0; i < paths->count; i++)
        add_path(c, paths->item[i].key->text, paths->item[i].sum);
    return c;
}

void cf_calls_free(struct cf_calls *c)
{
    cf_strings_free(c->names);
    cf_counts_free(c->numbers);
    free(c->edge);
    free(c->sum);
    free(c->seen);
    free(c);
}

size_t cf_calls_get(const struct cf_calls *c, size_t i, struct cf_call *call)
{
    if (i < c->count)
        *call =
            (struct cf_call){cf_strings_text(c->names, c->edge[i].caller),
                             cf_strings_text(c->names, c->edge[i].callee), c->sum + i * c->sums};
    return c->count;
}
