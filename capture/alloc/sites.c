/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sites.c - live objects by process and page, and what samples say of their sites. See sites.h.
 */
#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "sites.h"

enum { PAGE_BITS = 12, BUCKETS = 1024, BACK = SITES_LARGE >> PAGE_BITS };

/* Of a page: whether its objects are kept, and where. */
static uint64_t hash_of(const struct sites *s, uint32_t pid, uint64_t page)
{
    return cf_hash(s->seed, page, pid);
}

static uint32_t kept_of(const struct sites *s)
{
    return s->kept ? s->kept : SITES_KEPT;
}

static int is_kept(const struct sites *s, uint64_t hash)
{
    return (hash >> 40) % kept_of(s) == 0;
}

static int grow(struct sites *s)
{
    const size_t buckets = s->buckets ? 2 * s->buckets : BUCKETS;
    uint32_t *bucket = calloc(buckets, sizeof(*bucket));

    if (!bucket)
        return -1;
    for (size_t i = 0; i < s->buckets; i++)
        for (uint32_t at = s->bucket[i], next; at; at = next) {
            struct site_object *o = &s->object[at - 1];
            uint32_t *to = &bucket[hash_of(s, o->pid, o->addr >> PAGE_BITS) & (buckets - 1)];

            next = o->next;
            o->next = *to;
            *to = at;
        }
    free(s->bucket);
    s->bucket = bucket;
    s->buckets = buckets;
    return 0;
}

static void release_large(struct sites *s, uint32_t pid, uint64_t addr)
{
    for (unsigned i = 0; i < s->larges; i++)
        if (s->large[i].addr == addr && s->large[i].pid == pid)
            s->large[i--] = s->large[--s->larges];
}

void sites_released(struct sites *s, uint32_t pid, uint64_t addr)
{
    const uint64_t hash = hash_of(s, pid, addr >> PAGE_BITS);
    uint32_t *at = s->buckets ? &s->bucket[hash & (s->buckets - 1)] : NULL;

    release_large(s, pid, addr);
    if (!at || !is_kept(s, hash))
        return;
    while (*at) {
        struct site_object *o = &s->object[*at - 1];
        const uint32_t found = *at;

        if (o->addr == addr && o->pid == pid) {
            *at = o->next;
            o->next = s->free;
            s->free = found;
            s->live--;
            return;
        }
        at = &o->next;
    }
}

int sites_allocated(struct sites *s, uint32_t pid, uint64_t addr, uint64_t bytes, uint32_t node)
{
    const uint64_t hash = hash_of(s, pid, addr >> PAGE_BITS);
    struct site_object o = {.addr = addr, .bytes = bytes, .pid = pid, .node = node};
    uint32_t at;

    sites_released(s, pid, addr);
    if (bytes >= SITES_LARGE) {
        if (s->larges < SITES_LARGE_MOST)
            s->large[s->larges++] = o;
        return 0;
    }
    if (!is_kept(s, hash))
        return 0;
    if (s->live >= s->buckets && grow(s) != 0)
        return -1;
    at = s->free;
    if (at) {
        s->free = s->object[at - 1].next;
    } else {
        if (s->objects >= UINT32_MAX - 1 ||
            cf_array_room(&s->object, &s->object_room, s->objects + 1, sizeof(o)) != 0)
            return -1;
        at = (uint32_t)++s->objects;
    }
    o.next = s->bucket[hash & (s->buckets - 1)];
    s->object[at - 1] = o;
    s->bucket[hash & (s->buckets - 1)] = at;
    s->live++;
    return 0;
}

void sites_ended(struct sites *s, uint32_t pid)
{
    for (unsigned i = 0; i < s->larges; i++)
        if (s->large[i].pid == pid)
            s->large[i--] = s->large[--s->larges];
    for (size_t i = 0; i < s->buckets; i++)
        for (uint32_t *at = &s->bucket[i]; *at;) {
            struct site_object *o = &s->object[*at - 1];
            const uint32_t next = o->next;

            if (o->pid != pid) {
                at = &o->next;
                continue;
            }
            o->next = s->free;
            s->free = *at;
            *at = next;
            s->live--;
        }
}

static const struct site_object *find(const struct sites *s, uint32_t pid, uint64_t addr)
{
    const uint64_t page = addr >> PAGE_BITS;

    for (unsigned i = 0; i < s->larges; i++)
        if (s->large[i].pid == pid && addr - s->large[i].addr < s->large[i].bytes)
            return &s->large[i];
    for (uint64_t back = 0; s->buckets && back <= BACK && back <= page; back++) {
        const uint64_t hash = hash_of(s, pid, page - back);

        if (!is_kept(s, hash))
            continue;
        for (uint32_t at = s->bucket[hash & (s->buckets - 1)]; at; at = s->object[at - 1].next) {
            const struct site_object *o = &s->object[at - 1];

            if (o->pid == pid && addr - o->addr < o->bytes)
                return o;
        }
    }
    return NULL;
}

int sites_sampled(struct sites *s, uint32_t pid, uint64_t addr, uint64_t weight, int missed)
{
    const struct site_object *o = find(s, pid, addr);
    struct site_count *c;
    uint64_t all; /* of the samples of all objects, it stands for so many */

    if (!o || !o->node)
        return 0;
    all = o->bytes >= SITES_LARGE ? weight : weight * kept_of(s);
    if (cf_array_cleared(&s->count, &s->count_room, (size_t)o->node + 1, sizeof(*c)) != 0)
        return -1;
    c = &s->count[o->node];
    c->pid = pid;
    c->samples += weight;
    s->samples += all;
    if (missed) {
        c->misses += weight;
        s->misses += all;
    }
    return 0;
}

struct site_count *sites_next(struct sites *s, uint32_t *node, double fraction, uint64_t least)
{
    for (; *node < s->count_room; ++*node) {
        struct site_count *c = &s->count[*node];

        if (c->samples && c->samples >= least && !c->left_out &&
            (double)c->misses * (double)s->samples <
                fraction * (double)s->misses * (double)c->samples)
            return c;
    }
    return NULL;
}

void sites_free(struct sites *s)
{
    free(s->object);
    free(s->bucket);
    free(s->count);
    free(s);
}
