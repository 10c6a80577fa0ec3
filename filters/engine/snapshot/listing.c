/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listing.c - which rows repeat a line of their snapshot (see listing.h).
 *
 * While rows rise they are kept, so that they can be looked up once a row does not. A snapshot
 * after one that did not rise is looked up from its beginning. The set of lines holds a hash of
 * each line, one of each line and group, and one of those whose reuse was counted.
 */
#include <stdlib.h>

#include "filters/engine/snapshot/lineset.h"
#include "filters/engine/snapshot/listing.h"
#include "formats/base/cf_hash.h"
#include "formats/base/cf_memory.h"

enum { PIECE = 256, EVERY_GROUP = INT32_MAX };

struct row {
    uint64_t place;
    uint32_t cache, group : 31, reused : 1;
};

struct cf_listing {
    struct cf_lineset *seen;
    struct cf_seed seed;
    int rising;  /* all rows of this snapshot */
    int looking; /* they are looked up */
    struct row last;
    struct row *row; /* of this snapshot, unless they are looked up */
    size_t rows, room;
};

struct cf_listing *cf_listing_new(void)
{
    struct cf_listing *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->seed = cf_seed(l);
    l->rising = 1;
    l->seen = cf_lineset_new();
    if (!l->seen) {
        free(l);
        return NULL;
    }
    return l;
}

void cf_listing_free(struct cf_listing *l)
{
    if (!l)
        return;
    cf_lineset_free(l->seen);
    free(l->row);
    free(l);
}

void cf_listing_next(struct cf_listing *l)
{
    if (l->looking) { /* no set of lines before matters */
        cf_lineset_next(l->seen);
        cf_lineset_next(l->seen);
    }
    l->looking = !l->rising;
    l->rising = 1;
    l->rows = 0;
    l->last = (struct row){0};
}

static uint64_t key_of(const struct cf_listing *l, const struct row *r, uint32_t group,
                       uint32_t reused)
{
    const uint64_t of = (uint64_t)r->cache << 32 | group << 1 | reused;
    const uint64_t key = cf_hash(l->seed, r->place, of);

    return key - (key == UINT64_MAX); /* which is no key of a set */
}

/* `first` NULL: they are only noted. */
static int look_up(struct cf_listing *l, const struct row *row, size_t rows, uint8_t *first)
{
    uint64_t key[3 * PIECE];
    uint8_t before[3 * PIECE], again[3 * PIECE];

    for (size_t from = 0, n; from < rows; from += n) {
        uint32_t keys = 0;

        n = rows - from < PIECE ? rows - from : PIECE;
        for (size_t i = from; i < from + n; i++)
            if (row[i].place != CF_LISTING_ALONE) {
                key[keys++] = key_of(l, &row[i], EVERY_GROUP, 0);
                key[keys++] = key_of(l, &row[i], row[i].group, 0);
                if (row[i].reused)
                    key[keys++] = key_of(l, &row[i], row[i].group, 1);
            }
        if (cf_lineset_add(l->seen, key, keys, before, again) != 0)
            return -1;
        keys = 0;
        for (size_t i = from; first && i < from + n; i++) {
            first[i] = CF_FIRST_OF_LINE | CF_FIRST_OF_GROUP | (row[i].reused ? CF_FIRST_REUSED : 0);
            if (row[i].place == CF_LISTING_ALONE)
                continue;
            first[i] = (uint8_t)(again[keys++] ? 0 : CF_FIRST_OF_LINE);
            first[i] |= (uint8_t)(again[keys++] ? 0 : CF_FIRST_OF_GROUP);
            if (row[i].reused)
                first[i] |= (uint8_t)(again[keys++] ? 0 : CF_FIRST_REUSED);
        }
    }
    return 0;
}

int cf_listing_add(struct cf_listing *l, const uint64_t *place, const uint32_t *cache,
                   const uint32_t *group, const uint8_t *reused, uint32_t rows, uint8_t *first)
{
    struct row *to, last = l->last;
    unsigned falls = 0;

    if (cf_array_room(&l->row, &l->room, l->rows + rows, sizeof *l->row) != 0)
        return -1;
    to = l->row + l->rows;
    for (uint32_t i = 0; i < rows; i++) {
        const struct row r = {place[i], cache ? cache[i] : 0, group[i], reused[i] != 0};

        falls |= (r.cache < last.cache) | ((r.cache == last.cache) & (r.place <= last.place));
        to[i] = last = r;
    }
    l->last = last;
    l->rising &= !falls;
    if (!l->looking && l->rising) {
        l->rows += rows;
        return 0;
    }
    if (!l->looking && look_up(l, l->row, l->rows, NULL) != 0)
        return -1;
    l->looking = 1;
    l->rows = 0;
    return look_up(l, to, rows, first) == 0 ? 1 : -1;
}
