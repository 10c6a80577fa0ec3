/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allassoc.c - misses of every associativity in one pass (see allassoc.h): the plain code, and
 * what surrounds that of allassoc_simd.c.
 *
 * A list stands in an array of twice its length. It begins at `head`, so that a new line is put in
 * front by writing it there; where there is no room in front, the list moves to the array's end.
 *
 * Take numbers of sets that divide each other. The place of a line in its list falls, or stays, as
 * the sets become more. So a reference is looked for from the most sets to the fewest: as long as
 * the line comes first, nothing changes; then it is found further back, and moves to the front;
 * and once it is not found, it will not be found in what remains either, and is put in front.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/distance/allassoc_parts.h"

static void *all_ones(size_t bytes)
{
    void *p;

    bytes = (bytes + 63) / 64 * 64;
    p = aligned_alloc(64, bytes);
    return p ? memset(p, 0xff, bytes) : NULL;
}

/* Empty lists of lines. -1 without memory. */
static int make_lines(struct cf_allassoc_sets *s, uint32_t room)
{
    s->line = all_ones((size_t)s->sets * 2 * room * sizeof(*s->line));
    s->head = malloc(s->sets * sizeof(*s->head));
    if (!s->line || !s->head)
        return -1;
    for (uint32_t i = 0; i < s->sets; i++)
        s->head[i] = (uint16_t)room;
    return 0;
}

/* Empty lists of names; for the most sets that share names, those of the empty ways. `fewest` are
   the fewest that do: as they divide the others, two sets whose lines meet in a set of a smaller
   number differ when divided by that, so that lines with one name never meet. -1 without memory. */
static int make_names(struct cf_allassoc_sets *s, uint32_t room, uint32_t fewest, int most)
{
    const size_t count = (size_t)s->sets * room;

    s->name = all_ones(count * sizeof(*s->name));
    if (!s->name)
        return -1;
    if (!most)
        return 0;
    s->way = all_ones(count * sizeof(*s->way));
    s->tag = all_ones(count * sizeof(*s->tag));
    if (!s->way || !s->tag)
        return -1;
    for (uint32_t i = 0; i < s->sets; i++)
        for (uint32_t way = 0; way < room; way++)
            s->name[(size_t)i * room + way] = (uint16_t)(i / fewest * room + way);
    return 0;
}

/* Room for the numbers of sets that share names with the k-th: their last, or -1 without memory. */
static int share_names(struct cf_allassoc *a, unsigned k)
{
    const uint32_t fewest = a->set[k].sets;
    unsigned most = k;

    while (most < a->set[k].top &&
           (uint64_t)a->set[most + 1].sets / fewest * a->room <= CF_ALLASSOC_NAMES)
        most++;
    for (unsigned j = k; j <= most; j++) {
        a->set[j].share = most;
        if (make_names(&a->set[j], a->room, fewest, j == most) != 0)
            return -1;
    }
    return (int)most;
}

/* -1 without memory. */
static int make_sets(struct cf_allassoc *a, const uint32_t *sets)
{
    for (unsigned k = a->count; k--;) {
        struct cf_allassoc_sets *s = &a->set[k];

        s->sets = sets[k];
        s->index = cf_sets(sets[k]);
        s->top = k + 1 < a->count && sets[k + 1] % sets[k] == 0 ? s[1].top : k;
        s->found = calloc(a->room, sizeof(*s->found));
        if (!s->found || (!a->vector && make_lines(s, a->room) != 0))
            return -1;
    }
    for (unsigned k = 0; k < a->count; k++)
        a->set[k].bottom = k && a->set[k - 1].top >= k ? a->set[k - 1].bottom : k;
    for (int k = 0; a->vector && k < (int)a->count; k++) {
        k = share_names(a, (unsigned)k);
        if (k < 0)
            return -1;
    }
    return 0;
}

struct cf_allassoc *cf_allassoc_new(const uint32_t *sets, unsigned count, uint32_t ways)
{
    struct cf_allassoc *a;

    if (!count || count > CF_ALLASSOC_MOST || !ways || ways > 1024 || !sets[0])
        return NULL;
    for (unsigned k = 1; k < count; k++)
        if (sets[k] <= sets[k - 1])
            return NULL;
    a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->count = count;
    a->ways = a->room = ways;
#ifdef __x86_64__
    if (cf_cpu() >= CF_CPU_AVX2 && ways <= 64) {
        a->vector = cf_cpu() == CF_CPU_AVX2 ? cf_allassoc_vectors_avx2 : cf_allassoc_vectors_avx512;
        a->room = ways <= 32 ? 32 : 64;
    }
#endif
    if (make_sets(a, sets) != 0) {
        cf_allassoc_free(a);
        return NULL;
    }
    return a;
}

void cf_allassoc_free(struct cf_allassoc *a)
{
    if (!a)
        return;
    for (unsigned k = 0; k < a->count; k++) {
        free(a->set[k].line);
        free(a->set[k].head);
        free(a->set[k].name);
        free(a->set[k].way);
        free(a->set[k].tag);
        free(a->set[k].found);
    }
    free(a);
}

/* Looks for a line behind the first and moves it to the front: its place, or 0. */
static inline uint32_t find(uint64_t *list, uint32_t room, uint64_t line)
{
    for (uint32_t place = 1; place < room; place++)
        if (list[place] == line) {
            memmove(list + 1, list, place * sizeof(*list));
            list[0] = line;
            return place;
        }
    return 0;
}

/* Puts a line in front of a list that does not hold it. */
static inline void push(uint64_t *array, uint32_t room, uint16_t *head, uint64_t line)
{
    if (!*head) {
        memcpy(array + room, array, room * sizeof(*array));
        *head = (uint16_t)room;
    }
    array[--*head] = line;
}

/* One reference in the chain of numbers of sets from `bottom` to `top`. */
static inline void one_reference(struct cf_allassoc_sets *set, int bottom, int top, uint32_t room,
                                 uint64_t line)
{
    int k = top;

    for (; k >= bottom; k--) {
        const uint64_t i = cf_sets_index(&set[k].index, line);

        if (set[k].line[2 * room * i + set[k].head[i]] != line)
            break;
    }
    if (k < top)
        set[k + 1].first++;
    for (; k >= bottom; k--) {
        const uint64_t i = cf_sets_index(&set[k].index, line);
        const uint32_t place = find(set[k].line + 2 * room * i + set[k].head[i], room, line);

        if (!place)
            break;
        set[k].found[place]++;
    }
    for (; k >= bottom; k--) {
        const uint64_t i = cf_sets_index(&set[k].index, line);

        push(set[k].line + 2 * room * i, room, &set[k].head[i], line);
    }
}

void cf_allassoc_run(struct cf_allassoc *a, const uint64_t *line, uint32_t count)
{
    a->references += count;
    if (a->vector) {
        a->vector(a, line, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        for (unsigned k = 0; k < a->count; k = a->set[k].top + 1)
            one_reference(a->set, (int)k, (int)a->set[k].top, a->room, line[i]);
}

uint64_t cf_allassoc_at(const struct cf_allassoc *a, unsigned k, uint32_t place)
{
    const struct cf_allassoc_sets *set = a->set;
    uint64_t sum;

    if (place >= a->ways)
        return place == a->ways ? cf_allassoc_misses(a, k, place) : 0;
    sum = set[k].found[place];
    for (unsigned fewer = set[k].bottom; !place && fewer <= k; fewer++)
        sum += set[fewer].first;
    return sum;
}

uint64_t cf_allassoc_misses(const struct cf_allassoc *a, unsigned k, uint32_t ways)
{
    uint64_t misses = a->references;

    for (uint32_t place = 0; place < ways && place < a->ways; place++)
        misses -= cf_allassoc_at(a, k, place);
    return misses;
}
