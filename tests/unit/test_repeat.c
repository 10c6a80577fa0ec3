/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_repeat: accesses of repeated string instructions, joined. Each case is compared with what it
 * must come to; random copies with what any joining must keep: every byte once, in pieces that end
 * where an aligned 32 bytes end, and no byte loaded after a store to it that came later.
 */
#include <string.h>

#include "capture/record/cf_repeat.c"
#include "tap.h"

enum { MEMORY = 8192 };

static char text[65536];
static size_t used;

static void put(const struct cf_repeat_piece *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%c%llu+%u", used ? " " : "",
                                 p[i].store ? 'S' : 'L', (unsigned long long)p[i].addr, p[i].bytes);
}

/* A copy of `count` elements; from < 0: only stores. */
static const char *joined(long from, uint64_t to, unsigned bytes, unsigned count, int down)
{
    struct cf_repeat_piece out[CF_REPEAT_MOST];
    struct cf_repeat r = {0};

    used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t at = down ? -(uint64_t)i * bytes : (uint64_t)i * bytes;

        if (from >= 0)
            put(out, cf_repeat_add(&r, 0, (uint64_t)from + at, bytes, out));
        put(out, cf_repeat_add(&r, 1, to + at, bytes, out));
    }
    put(out, cf_repeat_end(&r, out));
    return text;
}

/* Runs a copy element by element and in its pieces: the memory must be the same. */
static int same_copy(long from, uint64_t to, unsigned bytes, unsigned count, int down)
{
    static uint8_t one[MEMORY], other[MEMORY], buffer[MEMORY];
    struct cf_repeat_piece out[CF_REPEAT_MOST];
    struct cf_repeat r = {0};
    size_t loaded = 0, stored = 0;

    for (size_t i = 0; i < MEMORY; i++)
        one[i] = other[i] = (uint8_t)(i * 7 + i / 256);
    for (unsigned i = 0; i <= 2 * count; i++) {
        const int64_t at = (int64_t)(i / 2) * (down ? -(int64_t)bytes : (int64_t)bytes);
        unsigned n;

        if (i == 2 * count)
            n = cf_repeat_end(&r, out);
        else if (i & 1) {
            memmove(one + to + at, one + from + at, bytes);
            n = cf_repeat_add(&r, 1, to + at, bytes, out);
        } else
            n = cf_repeat_add(&r, 0, (uint64_t)from + at, bytes, out);
        if (n > CF_REPEAT_MOST)
            return 0;
        for (unsigned k = 0; k < n; k++) {
            const struct cf_repeat_piece *p = &out[k];

            /* A piece that goes over the end of its 32 bytes is an element as it was. */
            if (p->bytes == 0 ||
                (p->addr / 32 != (p->addr + p->bytes - 1) / 32 && p->bytes != bytes))
                return 0;
            if (p->store) {
                if (stored + p->bytes > loaded)
                    return 0; /* of what was not loaded yet */
                memcpy(other + p->addr, buffer + stored, p->bytes);
                stored += p->bytes;
            } else {
                memcpy(buffer + loaded, other + p->addr, p->bytes);
                loaded += p->bytes;
            }
        }
    }
    return loaded == (size_t)count * bytes && stored == loaded && memcmp(one, other, MEMORY) == 0;
}

int main(void)
{
    static const uint8_t movsb[] = {0xf3, 0xa4}, movsq[] = {0xf3, 0x48, 0xa5},
                         scas[] = {0xf2, 0xae}, alone[] = {0xa4}, pause[] = {0xf3, 0x90},
                         sse[] = {0xf3, 0x0f, 0xa4};
    uint32_t x = 2463534242u;
    int good = 1;

    is_text(joined(64, 256, 1, 64, 0), "L64+32 S256+32 L96+32 S288+32", "aligned bytes");
    is_text(joined(64, 256, 8, 5, 0), "L64+32 S256+32 L96+8 S288+8", "aligned words");
    is_text(joined(71, 257, 1, 32, 0), "L71+25 L96+7 S257+31 S288+1",
            "each side by its own pieces");
    is_text(joined(64, 256, 1, 1, 0), "L64+1 S256+1", "one element");
    is_text(joined(64, 256, 1, 0, 0), "", "none");
    is_text(joined(64, 260, 8, 5, 0), "L64+32 S260+24 L96+8 S284+8 S292+8",
            "an element that reaches over the end stays as it is");
    is_text(joined(-1, 5, 1, 60, 0), "S5+27 S32+32 S64+1", "stores alone");
    is_text(joined(100, 300, 1, 3, 1), "L100+1 S300+1 L99+1 S299+1 L98+1 S298+1", "downwards");
    is_text(joined(64, 65, 1, 3, 0), "L64+1 S65+1 L65+1 S66+1 L66+1 S67+1",
            "what is stored is loaded again");
    is_text(joined(95, 96, 1, 3, 0), "L95+1 S96+1 L96+1 S97+1 L97+1 S98+1",
            "also from the end of a piece");
    is_text(joined(65, 64, 1, 32, 0), "L65+31 L96+1 S64+32",
            "towards lower addresses, overlapping");

    for (unsigned i = 0; i < 20000 && good; i++) {
        unsigned bytes, count;
        long from;

        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        bytes = 1u << (x & 3);
        count = x >> 2 & 127;
        from = 2000 + (x >> 9 & 63);
        good = same_copy(from, (uint64_t)from + (x >> 15 & 255) - 128, bytes, count, x >> 31);
        if (!good)
            note("from %ld to %ld, %u elements of %u%s", from, from + (long)(x >> 15 & 255) - 128,
                 count, bytes, x >> 31 ? ", downwards" : "");
    }
    ok(good, "random copies come to the same");

    ok(cf_repeat_kind(movsb, 2) == CF_REPEAT_JOINED && cf_repeat_kind(movsq, 3) == CF_REPEAT_JOINED,
       "movs is joined");
    ok(cf_repeat_kind(scas, 2) == CF_REPEAT_PLAIN, "scas repeats itself");
    ok(!cf_repeat_kind(alone, 1) && !cf_repeat_kind(pause, 2) && !cf_repeat_kind(sse, 3),
       "others are none");
    return done();
}
