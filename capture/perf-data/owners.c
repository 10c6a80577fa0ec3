/* SPDX-License-Identifier: BSD-2-Clause */
/* owners.c - owners at a time. See owners.h. */
#include "owners.h"

#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

void perf_owners_free(struct perf_owners *o)
{
    free(o->list);
}

void perf_owners_add(const struct cf_tool *t, struct perf_owners *o, uint32_t key, uint64_t time,
                     uint32_t pid, uint32_t tid)
{
    cf_must(t, cf_array_room(&o->list, &o->room, o->count + 1, sizeof *o->list));
    o->list[o->count++] = (struct perf_owner){time, o->number++, key, pid, tid};
}

static int by_key(const void *a, const void *b)
{
    const struct perf_owner *x = a, *y = b;

    return x->key != y->key     ? cf_order(x->key, y->key)
           : x->time != y->time ? cf_order(x->time, y->time)
                                : cf_order(x->number, y->number);
}

static void sort(struct perf_owners *o)
{
    if (o->sorted < o->count)
        qsort(o->list, o->count, sizeof *o->list, by_key);
    o->sorted = o->count;
}

const struct perf_owner *perf_owners_find(struct perf_owners *o, uint32_t key, uint64_t time,
                                          int first)
{
    size_t low = 0, high;

    sort(o);
    high = o->count;
    while (low < high) { /* the first entry behind what is asked for */
        const size_t middle = (low + high) / 2;
        const struct perf_owner *e = &o->list[middle];

        if (e->key < key || (e->key == key && e->time <= time))
            low = middle + 1;
        else
            high = middle;
    }
    if (low && o->list[low - 1].key == key)
        return &o->list[low - 1];
    return first && low < o->count && o->list[low].key == key ? &o->list[low] : NULL;
}

void perf_owners_forget(struct perf_owners *o, uint64_t time)
{
    size_t kept = 0;

    sort(o);
    for (size_t i = 0; i < o->count; i++) {
        const struct perf_owner *next = &o->list[i + 1];

        if (i + 1 == o->count || next->key != o->list[i].key || next->time > time)
            o->list[kept++] = o->list[i];
    }
    o->count = o->sorted = kept;
}
