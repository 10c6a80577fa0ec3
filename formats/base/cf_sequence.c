/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_sequence.c - accesses that distinguish replacement policies. See cf_sequence.h. */
#include "formats/base/cf_sequence.h"

static uint32_t below(uint64_t *state, uint32_t n)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (uint32_t)((z >> 32) * n >> 32);
}

/* A block from `first` to `last` that may be accessed once more: a random one, or the next one that
   may, around; the one before only where no other may. */
static uint32_t draw(uint64_t *state, const uint8_t *touches, uint32_t first, uint32_t last,
                     uint32_t before)
{
    const uint32_t count = last - first + 1, from = below(state, count);

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t b = first + (from + i) % count;

        if (b != before && touches[b] < CF_SEQUENCE_TOUCHES)
            return b;
    }
    return before;
}

void cf_sequence_make(uint32_t ways, uint32_t number, uint8_t *block)
{
    const uint32_t length = cf_sequence_length(ways), last = 2 * ways - 1;
    uint64_t state = (uint64_t)ways << 32 | number;
    uint8_t touches[2 * CF_SEQUENCE_WAYS] = {0};
    uint32_t n = 0, first = 0;

    for (uint32_t b = 0; b < ways; b++)
        block[n++] = (uint8_t)b;
    for (uint32_t b = ways - 1; b-- > 0;)
        block[n++] = (uint8_t)b;
    for (uint32_t b = ways; b <= last; b++)
        block[n++] = (uint8_t)b;
    for (uint32_t i = 0; i < n; i++)
        touches[block[i]]++;
    if (number % 2)
        first = ways - 1 - below(&state, ways / 2 + 1) % ways;
    while (n < length) {
        block[n] = (uint8_t)draw(&state, touches, first, last, block[n - 1]);
        touches[block[n++]]++;
    }
}
