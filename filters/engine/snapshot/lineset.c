/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lineset.c - which lines of a snapshot were in the one before (see lineset.h).
 *
 * Two sets take turns. A bucket counts its keys; free places hold UINT64_MAX, which no key is, so
 * that looking for a key compares all 16 places without looking at the count (lineset_simd.c).
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/engine/snapshot/lineset_parts.h"
#include "formats/base/cf_memory.h"

enum {
    PLACES = CF_LINESET_PLACES,
    BUCKET_LOAD = 8,
    LEAST_BUCKETS = 64,
    MOST_BUCKETS = 1 << 22,
    MOST_STATED = 1 << 16 /* lines that get room before they come */
};

struct cf_lineset {
    struct half half[2];
    unsigned now; /* which of them is the current one */
    size_t buckets;
    size_t lines; /* added to the current set */
    cf_lineset_adder *fill;
};

static int spill_has(const struct cf_counts *spill, uint64_t key)
{
    return spill && cf_counts_get(spill, 0, key);
}

static int spill_add(struct cf_counts **spill, uint64_t key)
{
    uint64_t *count = NULL;

    if (*spill || (*spill = cf_counts_new()))
        count = cf_counts_at(*spill, 0, key);
    if (!count)
        return -1;
    *count = 1;
    return 0;
}

static void half_clear(const struct cf_lineset *s, struct half *h)
{
    memset(h->bucket, 0xff, s->buckets * sizeof *h->bucket);
    memset(h->count, 0, s->buckets);
    cf_counts_free(h->spill);
    h->spill = NULL;
}

/* ---- adding ---- */

static int half_put(const struct cf_lineset *s, struct half *h, uint64_t key)
{
    const size_t b = key & (s->buckets - 1);

    if (h->count[b] == PLACES)
        return spill_add(&h->spill, key);
    cf_lineset_put(&h->bucket[b], h->count[b]++, key);
    return 0;
}

int cf_lineset_add(struct cf_lineset *s, const uint64_t *key, uint32_t count, uint8_t *before)
{
    struct half *now = &s->half[s->now];
    const struct half *last = &s->half[!s->now];

    s->lines += count;
    for (uint32_t i = 0; i < count; i++) {
        i += s->fill(now, last, s->buckets - 1, key + i, count - i, before + i);
        if (i == count)
            break;
        before[i] = before[i] || spill_has(last->spill, key[i]);
        if (half_put(s, now, key[i]) != 0)
            return -1;
    }
    return 0;
}

/* ---- room ---- */

static void half_free(struct half *h)
{
    free(h->bucket);
    free(h->count);
    cf_counts_free(h->spill);
}

/* Room for the lines of a set, empty. */
static int half_new(const struct cf_lineset *s, struct half *h)
{
    *h = (struct half){.bucket = cf_memory_take(s->buckets * sizeof(struct bucket)),
                       .count = malloc(s->buckets)};
    if (!h->bucket || !h->count) {
        half_free(h);
        *h = (struct half){0};
        return -1;
    }
    half_clear(s, h);
    return 0;
}

static size_t buckets_for(size_t lines)
{
    size_t buckets = LEAST_BUCKETS;

    while (buckets < MOST_BUCKETS && buckets * BUCKET_LOAD < lines)
        buckets *= 2;
    return buckets;
}

/* More buckets, with the keys of the current set; the last one becomes empty. */
static int grow(struct cf_lineset *s, size_t buckets)
{
    const struct half old = s->half[s->now];
    const size_t old_buckets = s->buckets;
    struct half fresh[2] = {{0}};
    int bad;

    s->buckets = buckets;
    bad = half_new(s, &fresh[0]) | half_new(s, &fresh[1]);
    for (size_t b = 0; !bad && b < old_buckets; b++)
        for (unsigned i = 0; !bad && i < old.count[b]; i++)
            bad = half_put(s, &fresh[0],
                           (uint64_t)old.bucket[b].high[i] << 32 | old.bucket[b].low[i]);
    if (!bad && old.spill) {
        const size_t count = cf_counts_size(old.spill);
        struct cf_count *spilled = malloc((count + 1) * sizeof *spilled);

        bad = !spilled;
        if (spilled)
            cf_counts_copy(old.spill, spilled);
        for (size_t i = 0; !bad && i < count; i++)
            bad = half_put(s, &fresh[0], spilled[i].b);
        free(spilled);
    }
    if (bad) {
        half_free(&fresh[0]);
        half_free(&fresh[1]);
        s->buckets = old_buckets;
        return -1;
    }
    half_free(&s->half[0]);
    half_free(&s->half[1]);
    s->half[s->now] = fresh[0];
    s->half[!s->now] = fresh[1];
    return 0;
}

int cf_lineset_next(struct cf_lineset *s)
{
    const size_t buckets = buckets_for(s->lines);

    if (buckets > s->buckets && grow(s, buckets) != 0)
        return -1;
    s->now = !s->now;
    s->lines = 0;
    half_clear(s, &s->half[s->now]);
    return 0;
}

void cf_lineset_clear(struct cf_lineset *s)
{
    s->lines = 0;
    half_clear(s, &s->half[0]);
    half_clear(s, &s->half[1]);
}

struct cf_lineset *cf_lineset_new(size_t lines)
{
    struct cf_lineset *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->fill = CF_SIMD_CHOICE(cf_lineset_fill);
    s->buckets = buckets_for(lines < MOST_STATED ? lines : MOST_STATED);
    if (half_new(s, &s->half[0]) != 0 || half_new(s, &s->half[1]) != 0) {
        cf_lineset_free(s);
        return NULL;
    }
    return s;
}

void cf_lineset_free(struct cf_lineset *s)
{
    for (int i = 0; s && i < 2; i++)
        half_free(&s->half[i]);
    free(s);
}
