/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allassoc.c - misses of every associativity in one pass (see allassoc.h): the portable code, and
 * what surrounds the vector code.
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

#include "filters/engine/allassoc_parts.h"

static int make_sets(struct cf_allassoc *a, unsigned k, uint32_t sets)
{
    struct cf_allassoc_sets *s = &a->set[k];
    const size_t width = a->vector ? sizeof(*s->narrow) : sizeof(*s->wide);
    const size_t bytes = ((size_t)sets * (a->vector ? 1 : 2) * a->room * width + 63) / 64 * 64;
    void *lines = aligned_alloc(64, bytes);

    s->sets = sets;
    s->mask = sets - 1;
    s->inverse = sets & (sets - 1) ? UINT64_MAX / sets : 0;
    s->found = calloc(a->room + 1, sizeof(*s->found));
    s->head = malloc(sets * sizeof(*s->head));
    if (lines)
        memset(lines, 0xff, bytes); /* all empty */
    if (a->vector)
        s->narrow = lines;
    else
        s->wide = lines;
    if (!lines || !s->found || !s->head)
        return -1;
    for (uint32_t i = 0; i < sets; i++)
        s->head[i] = (uint16_t)a->room;
    return 0;
}

struct cf_allassoc *cf_allassoc_new(const uint32_t *sets, unsigned count, uint32_t ways,
                                    unsigned options)
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
    if (!(options & CF_ALLASSOC_PORTABLE))
        a->vector = cf_allassoc_avx512(ways, &a->room);
#else
    (void)options;
#endif
    for (unsigned k = 0; k < count; k++)
        if (make_sets(a, k, sets[k]) != 0) {
            cf_allassoc_free(a);
            return NULL;
        }
    for (unsigned k = count; k--;)
        a->set[k].top = k + 1 < count && sets[k + 1] % sets[k] == 0 ? a->set[k + 1].top : k;
    for (unsigned k = 0; k < count; k++)
        a->set[k].bottom = k && a->set[k - 1].top >= k ? a->set[k - 1].bottom : k;
    return a;
}

void cf_allassoc_free(struct cf_allassoc *a)
{
    if (!a)
        return;
    for (unsigned k = 0; k < a->count; k++) {
        free(a->set[k].wide);
        free(a->set[k].narrow);
        free(a->set[k].head);
        free(a->set[k].found);
    }
    free(a);
}

uint32_t cf_allassoc_new_region(struct cf_allassoc *a, uint64_t region)
{
    unsigned at = (unsigned)(region * 0x9e3779b97f4a7c15u >> 54);

    for (; a->slot[at].used; at = (at + 1) % REGION_SLOTS)
        if (a->slot[at].region == region)
            return a->slot[at].base;
    if (a->regions == REGIONS)
        return CF_ALLASSOC_EMPTY32;
    a->slot[at].region = region;
    a->slot[at].base = a->regions << REGION_BITS;
    a->slot[at].used = 1;
    a->region[a->regions++] = region;
    return a->slot[at].base;
}

/* Writes all lines out in full, for the portable code. -1 without memory; nothing is changed then.
 */
static int widen(struct cf_allassoc *a)
{
    const uint32_t low = ((uint32_t)1 << REGION_BITS) - 1;
    uint64_t *wide[CF_ALLASSOC_MOST];

    for (unsigned k = 0; k < a->count; k++) {
        wide[k] = malloc((size_t)a->set[k].sets * 2 * a->room * sizeof(**wide));
        if (!wide[k]) {
            while (k--)
                free(wide[k]);
            return -1;
        }
    }
    for (unsigned k = 0; k < a->count; k++) {
        struct cf_allassoc_sets *s = &a->set[k];

        for (size_t i = 0; i < (size_t)s->sets * a->room; i++) {
            const uint32_t line = s->narrow[i];

            /* the second half of each array, where `head` is at first */
            wide[k][i + (i / a->room + 1) * a->room] =
                line == CF_ALLASSOC_EMPTY32
                    ? UINT64_MAX
                    : a->region[line >> REGION_BITS] << REGION_BITS | (line & low);
        }
        free(s->narrow);
        s->narrow = NULL;
        s->wide = wide[k];
    }
    a->vector = NULL;
    return 0;
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
        const uint64_t i = cf_allassoc_index(&set[k], line);

        if (set[k].wide[2 * room * i + set[k].head[i]] != line)
            break;
    }
    if (k < top)
        set[k + 1].first++;
    for (; k >= bottom; k--) {
        const uint64_t i = cf_allassoc_index(&set[k], line);
        const uint32_t place = find(set[k].wide + 2 * room * i + set[k].head[i], room, line);

        if (!place)
            break;
        set[k].found[place]++;
    }
    if (k >= bottom)
        set[k].nowhere++;
    for (; k >= bottom; k--) {
        const uint64_t i = cf_allassoc_index(&set[k], line);

        push(set[k].wide + 2 * room * i, room, &set[k].head[i], line);
    }
}

int cf_allassoc_run(struct cf_allassoc *a, const uint64_t *line, uint32_t count)
{
    uint32_t i = 0;

    if (a->vector) {
        i = a->vector(a, line, count);
        if (i < count && widen(a) != 0)
            return -1;
    }
    for (; i < count; i++)
        for (unsigned k = 0; k < a->count; k = a->set[k].top + 1)
            one_reference(a->set, (int)k, (int)a->set[k].top, a->room, line[i]);
    return 0;
}

uint64_t cf_allassoc_at(const struct cf_allassoc *a, unsigned k, uint32_t place)
{
    const struct cf_allassoc_sets *set = a->set;
    uint64_t sum = 0;

    if (place > a->ways)
        return 0;
    if (place == a->ways) {
        for (unsigned more = k; more <= set[k].top; more++)
            sum += set[more].nowhere;
        for (; place <= a->room; place++)
            sum += set[k].found[place];
        return sum;
    }
    if (place)
        return set[k].found[place];
    for (unsigned fewer = set[k].bottom; fewer <= k; fewer++)
        sum += set[fewer].first;
    return sum + set[k].found[0];
}

uint64_t cf_allassoc_misses(const struct cf_allassoc *a, unsigned k, uint32_t ways)
{
    uint64_t sum = 0;

    for (uint32_t place = ways; place <= a->ways; place++)
        sum += cf_allassoc_at(a, k, place);
    return sum;
}
