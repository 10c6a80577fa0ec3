/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lineset.c - which lines of a snapshot were in the one before (see lineset.h).
 *
 * Two hash tables take turns, with open addressing; free slots hold UINT64_MAX, which no key is.
 * They are a little less than half full at most, so that the lines of a full cache, mostly a power
 * of two, have four slots each.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/snapshot/lineset.h"
#include "formats/base/cf_hash.h"
#include "formats/base/cf_memory.h"

enum { LEAST_BITS = 9 };

struct table {
    uint64_t *slot;
    unsigned bits; /* 1 << bits slots */
    size_t lines;
};

struct cf_lineset {
    struct table now, last;
    struct cf_seed seed;
};

static size_t table_bytes(const struct table *t)
{
    return sizeof *t->slot << t->bits;
}

static int table_new(struct table *t, unsigned bits)
{
    *t = (struct table){.bits = bits};
    t->slot = cf_memory_take(table_bytes(t));
    if (!t->slot)
        return -1;
    memset(t->slot, 0xff, table_bytes(t));
    return 0;
}

/* A table that is nearly empty is made anew, so that one large snapshot does not make each of those
   that follow cost as much. */
static void table_clear(struct table *t)
{
    struct table first;

    if (t->bits > LEAST_BITS && t->lines < table_bytes(t) / 256 &&
        table_new(&first, LEAST_BITS) == 0) {
        free(t->slot);
        *t = first;
    }
    memset(t->slot, 0xff, table_bytes(t));
    t->lines = 0;
}

/* The slot of a key: that which holds it, or the free one that it gets. */
static uint64_t *table_find(const struct table *t, uint64_t hash, uint64_t key)
{
    const size_t last = ((size_t)1 << t->bits) - 1;
    size_t at = hash >> (64 - t->bits);

    while (t->slot[at] != key && t->slot[at] != UINT64_MAX)
        at = (at + 1) & last;
    return &t->slot[at];
}

static int table_double(struct table *t, struct cf_seed seed)
{
    struct table more;

    if (table_new(&more, t->bits + 1) != 0)
        return -1;
    for (size_t i = 0; i < (size_t)1 << t->bits; i++)
        if (t->slot[i] != UINT64_MAX)
            *table_find(&more, cf_hash(seed, 0, t->slot[i]), t->slot[i]) = t->slot[i];
    more.lines = t->lines;
    free(t->slot);
    *t = more;
    return 0;
}

int cf_lineset_add(struct cf_lineset *s, const uint64_t *key, uint32_t count, uint8_t *before,
                   uint8_t *again)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t hash = cf_hash(s->seed, 0, key[i]);
        uint64_t *slot = table_find(&s->now, hash, key[i]);

        before[i] = *table_find(&s->last, hash, key[i]) == key[i];
        if (again)
            again[i] = *slot == key[i];
        if (*slot == key[i])
            continue;
        *slot = key[i];
        if (++s->now.lines > ((size_t)15 << s->now.bits) / 32 &&
            table_double(&s->now, s->seed) != 0)
            return -1;
    }
    return 0;
}

void cf_lineset_next(struct cf_lineset *s)
{
    const struct table old = s->last;

    s->last = s->now;
    s->now = old;
    table_clear(&s->now);
}

struct cf_lineset *cf_lineset_new(void)
{
    struct cf_lineset *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->seed = cf_seed(s);
    if (table_new(&s->now, LEAST_BITS) != 0 || table_new(&s->last, LEAST_BITS) != 0) {
        cf_lineset_free(s);
        return NULL;
    }
    return s;
}

void cf_lineset_free(struct cf_lineset *s)
{
    if (!s)
        return;
    free(s->now.slot);
    free(s->last.slot);
    free(s);
}
