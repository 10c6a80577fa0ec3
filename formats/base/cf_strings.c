/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interned strings: an open-addressing hash of numbers over texts that stand one after the other
 * in blocks which never move. Grows with the distinct strings.
 */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "cf_hash.h"
#include "cf_memory.h"
#include "cf_strings.h"

enum { BLOCK = 1 << 16 };

struct block {
    struct block *next;
    size_t used, size;
    char text[];
};

struct entry {
    const char *text;
    uint32_t length;
    uint32_t hash;
};

struct cf_strings {
    struct block *blocks;
    struct entry *entry; /* entry[number - 1] */
    size_t room;
    uint32_t count;
    uint32_t *slot; /* numbers, 0 = free */
    uint32_t slots; /* a power of two */
    size_t block_bytes;
    uint64_t seed; /* of the hash */
};

struct cf_strings *cf_strings_new(void)
{
    struct cf_strings *s = calloc(1, sizeof(*s));

    if (s)
        s->seed = cf_seed(s).a;
    return s;
}

void cf_strings_clear(struct cf_strings *s)
{
    while (s->blocks) {
        struct block *b = s->blocks;

        s->blocks = b->next;
        free(b);
    }
    free(s->entry);
    free(s->slot);
    *s = (struct cf_strings){.seed = s->seed};
}

void cf_strings_free(struct cf_strings *s)
{
    if (s) {
        cf_strings_clear(s);
        free(s);
    }
}

static int grow(struct cf_strings *s)
{
    uint32_t slots = s->slots ? 2 * s->slots : 256;
    uint32_t *slot = calloc(slots, sizeof(*slot));

    if (!slot)
        return -1;
    for (uint32_t n = 0; n < s->count; n++) {
        uint32_t i = s->entry[n].hash & (slots - 1);

        while (slot[i])
            i = (i + 1) & (slots - 1);
        slot[i] = n + 1;
    }
    free(s->slot);
    s->slot = slot;
    s->slots = slots;
    return 0;
}

static char *keep(struct cf_strings *s, const char *text, size_t length)
{
    struct block *b = s->blocks;
    char *place;

    if (!b || b->size - b->used < length + 1) {
        size_t size = length + 1 > BLOCK ? length + 1 : BLOCK;

        b = malloc(sizeof(*b) + size);
        if (!b)
            return NULL;
        b->size = size;
        b->used = 0;
        b->next = s->blocks;
        s->blocks = b;
        s->block_bytes += sizeof(*b) + size;
    }
    place = b->text + b->used;
    memcpy(place, text, length);
    place[length] = 0;
    b->used += length + 1;
    return place;
}

uint32_t cf_strings_number(struct cf_strings *s, const char *text, size_t length, int *fresh)
{
    uint32_t hash = (uint32_t)XXH3_64bits_withSeed(text, length, s->seed);
    uint32_t i;

    *fresh = 0;
    if (2 * (uint64_t)s->count >= s->slots && grow(s) != 0)
        return 0;
    for (i = hash & (s->slots - 1); s->slot[i]; i = (i + 1) & (s->slots - 1)) {
        const struct entry *e = &s->entry[s->slot[i] - 1];

        if (e->hash == hash && e->length == length && memcmp(e->text, text, length) == 0)
            return s->slot[i];
    }
    if (cf_array_room(&s->entry, &s->room, (size_t)s->count + 1, sizeof(*s->entry)) != 0)
        return 0;
    s->entry[s->count].text = keep(s, text, length);
    if (!s->entry[s->count].text)
        return 0;
    s->entry[s->count].length = (uint32_t)length;
    s->entry[s->count].hash = hash;
    s->slot[i] = ++s->count;
    *fresh = 1;
    return s->count;
}

const char *cf_strings_text(const struct cf_strings *s, uint32_t number)
{
    return number && number <= s->count ? s->entry[number - 1].text : NULL;
}

uint32_t cf_strings_count(const struct cf_strings *s)
{
    return s->count;
}

size_t cf_strings_bytes(const struct cf_strings *s)
{
    return s->block_bytes + s->room * sizeof(*s->entry) + s->slots * sizeof(*s->slot);
}
