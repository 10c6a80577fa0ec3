/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objects.c - address, size and site of the heap objects that matter to a ranking.
 *
 * An object is announced before its first access, when it is not known yet whether one will come,
 * so all living objects are kept. Whenever the list is full, those that were released without a
 * counted access are dropped, and only if less than half is free then does the list grow. Memory:
 * 48 bytes and 85 of index for each object that lives or was counted, times two at most.
 */
#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "filters/ranking/ranking.h"

struct cf_objects {
    struct cf_object_details *list;
    size_t count, room;
    struct cf_counts *index; /* place in the list, from 1, by segment and object */
};

struct cf_objects *cf_objects_new(void)
{
    struct cf_objects *o = calloc(1, sizeof(*o));

    if (!o)
        return NULL;
    o->index = cf_counts_new();
    if (!o->index) {
        free(o);
        return NULL;
    }
    return o;
}

void cf_objects_free(struct cf_objects *o)
{
    if (o) {
        cf_counts_free(o->index);
        free(o->list);
        free(o);
    }
}

/* Drops what no result can need. -1 without memory. */
static int prune(struct cf_objects *o, uint64_t seen, const struct cf_counts *counts)
{
    struct cf_counts *index = cf_counts_new();
    size_t kept = 0;

    if (!index)
        return -1;
    for (size_t i = 0; i < o->count; i++) {
        const struct cf_object_details *d = &o->list[i];
        uint64_t *place;

        if (d->freed < seen && cf_counts_get(counts, d->segment, d->object) == 0)
            continue;
        place = cf_counts_at(index, d->segment, d->object);
        if (!place) {
            cf_counts_free(index);
            return -1;
        }
        o->list[kept++] = *d;
        *place = kept;
    }
    cf_counts_free(o->index);
    o->index = index;
    o->count = kept;
    return 0;
}

static int make_room(struct cf_objects *o, uint64_t seen, const struct cf_counts *counts)
{
    if (o->count < o->room)
        return 0;
    if (o->count && prune(o, seen, counts) != 0)
        return -1;
    if (o->room && o->count < o->room / 2)
        return 0;
    return cf_array_room(&o->list, &o->room, o->room + 1, sizeof(*o->list));
}

int cf_objects_frame(struct cf_objects *o, const struct cf_frame *f, uint64_t segment,
                     uint64_t seen, const struct cf_counts *counts)
{
    const uint64_t *time = cf_u64(f, CF_TIME), *addr = cf_u64(f, CF_ADDR);
    const uint64_t *bytes = cf_u64(f, CF_BYTES);
    const uint32_t *object = cf_u32(f, CF_OBJ), *site = cf_u32(f, CF_SITE);
    const uint8_t *op = cf_u8(f, CF_OP);

    if (!object || !op)
        return 0;
    for (uint32_t i = 0; i < f->rows; i++) {
        uint64_t *place;

        if (!object[i])
            continue;
        if (op[i] == CF_FREE) {
            uint64_t at = cf_counts_get(o->index, segment, object[i]);

            if (at)
                o->list[at - 1].freed = time ? time[i] : 0;
            continue;
        }
        if (make_room(o, seen, counts) != 0)
            return -1;
        place = cf_counts_at(o->index, segment, object[i]);
        if (!place)
            return -1;
        if (!*place)
            *place = ++o->count;
        o->list[*place - 1] = (struct cf_object_details){
            .segment = segment,
            .object = object[i],
            .addr = addr ? addr[i] : 0,
            .bytes = bytes ? bytes[i] : 0,
            .site = site ? site[i] : 0,
            .freed = UINT64_MAX,
        };
    }
    return 0;
}

int cf_objects_put(struct cf_objects *o, const struct cf_object_details *d)
{
    uint64_t *place = cf_counts_at(o->index, d->segment, d->object);

    if (!place || (!*place && cf_array_room(&o->list, &o->room, o->count + 1, sizeof(*d)) != 0))
        return -1;
    if (!*place)
        *place = ++o->count;
    o->list[*place - 1] = *d;
    return 0;
}

const struct cf_object_details *cf_objects_get(const struct cf_objects *o, uint64_t segment,
                                               uint64_t object)
{
    uint64_t at = cf_counts_get(o->index, segment, object);

    return at ? &o->list[at - 1] : NULL;
}
