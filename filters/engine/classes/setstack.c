/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * setstack.c - an LRU stack for each set (see setstack.h).
 *
 * A stack is an array whose last element is its top, so that it grows at the end and a search for a
 * recent line ends soon. Moving a line to the top moves the lines above it down by one.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/setstack.h"
#include "formats/base/cf_memory.h"

struct one {
    uint64_t *line;
    uint32_t count;
    size_t room;
};

struct cf_setstack {
    uint32_t sets;
    struct one set[];
};

struct cf_setstack *cf_setstack_new(uint32_t sets)
{
    struct cf_setstack *s = calloc(1, sizeof(*s) + sets * sizeof(s->set[0]));

    if (s)
        s->sets = sets;
    return s;
}

void cf_setstack_free(struct cf_setstack *s)
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

int cf_setstack_touch(struct cf_setstack *s, uint32_t set, uint64_t line, uint64_t *distance)
{
    struct one *o = &s->set[set];
    const uint32_t place = to_top(o, line, o->count);

    *distance = place;
    if (place != UINT32_MAX)
        return 0;
    *distance = CF_DIST_COMPULSORY;
    if (o->count == UINT32_MAX ||
        cf_array_room(&o->line, &o->room, o->count + (size_t)1, sizeof(*o->line)) != 0)
        return -1;
    o->line[o->count++] = line;
    return 0;
}

int cf_setstack_touch_held(struct cf_setstack *s, uint32_t set, uint64_t line, uint32_t ways)
{
    return to_top(&s->set[set], line, ways) != UINT32_MAX;
}

enum cf_class cf_setstack_class(uint64_t distance, uint32_t ways, uint32_t sets)
{
    if (distance == CF_DIST_COMPULSORY)
        return CF_CLASS_COMPULSORY;
    if (distance < ways)
        return CF_CLASS_NONE;
    if (distance < sets)
        return CF_CLASS_CONFLICT;
    return distance > sets ? CF_CLASS_CAPACITY : CF_CLASS_UNCLASSIFIED;
}
