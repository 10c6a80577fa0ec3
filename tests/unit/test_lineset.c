/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of successive snapshots against lists that are searched from their begin. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/snapshot/lineset.h"
#include "tap.h"

enum { MOST = 5000 };

static uint64_t state = 7;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* Keys as of lines of a cache, of which some stay; dense; all in one bucket; in any bits. */
static uint64_t key_of(unsigned kind, uint32_t i)
{
    switch (kind) {
    case 0:
        return (uint64_t)(next() % 3) << 20 | i;
    case 1:
        return next() % 4000;
    case 2:
        return (uint64_t)(next() % 2000) << 24;
    default:
        return ((uint64_t)(next() % 8) << 61 | next() % 1000) & ~1ull;
    }
}

static uint64_t run(unsigned kind)
{
    static uint64_t now[MOST], last[MOST];
    static uint8_t before[MOST];
    uint32_t lasts = 0;
    uint64_t wrong = 0, reused = 0;
    struct cf_lineset *s = cf_lineset_new();

    need(s != NULL, "memory");
    for (unsigned round = 0; round < 20; round++) {
        const uint32_t count = round == 7 ? 0 : next() % MOST;

        for (uint32_t i = 0; i < count; i++)
            now[i] = key_of(kind, i);
        for (uint32_t from = 0, n; from < count; from += n) {
            n = 1 + next() % 900;
            n = n < count - from ? n : count - from;
            wrong += cf_lineset_add(s, now + from, n, before + from, NULL) != 0;
        }
        for (uint32_t i = 0; i < count; i++) {
            uint8_t want = 0;

            for (uint32_t k = 0; k < lasts && !want; k++)
                want = last[k] == now[i];
            wrong += before[i] != want;
            reused += want;
        }
        if (round == 13) {
            cf_lineset_next(s);
            cf_lineset_next(s);
            lasts = 0;
            continue;
        }
        cf_lineset_next(s);
        memcpy(last, now, count * sizeof *now);
        lasts = count;
    }
    cf_lineset_free(s);
    return reused ? wrong : UINT64_MAX;
}

static size_t bytes_in_use(void)
{
    const struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

/* Many lines, whose keys a hash without a seed puts into one place: this would go on for hours.
   Then a few: the table for many is not cleared for each of the snapshots of few. */
static void many_then_few(void)
{
    enum { MANY = 1000000 };
    const size_t bytes = bytes_in_use();
    struct cf_lineset *s = cf_lineset_new();
    uint64_t odd = 0x9e3779b97f4a7c15u, inverse = odd, wrong = 0;
    uint8_t before;

    need(s != NULL, "memory");
    for (int i = 0; i < 6; i++)
        inverse *= 2 - odd * inverse;
    for (uint64_t round = 0; round < 7; round++) {
        for (uint64_t i = 0; i < (round < 2 ? MANY : 1); i++) {
            const uint64_t product = i * inverse, key = product ^ product >> 32;

            wrong += cf_lineset_add(s, &key, 1, &before, NULL) != 0 || before != (round > 0);
        }
        cf_lineset_next(s);
    }
    is_u64(wrong, 0, "colliding keys: as there were");
    ok(bytes_in_use() < bytes + (1 << 20), "the room of a large snapshot is given back");
    cf_lineset_free(s);
}

int main(void)
{
    static const char *const kinds[] = {"lines of a cache", "dense keys", "keys of one bucket",
                                        "keys in high bits"};

    for (unsigned kind = 0; kind < 4; kind++)
        is_u64(run(kind), 0, "%s: as the lists say", kinds[kind]);
    many_then_few();
    return done();
}
