/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_bytes.h - the bytes of perf.data files, for the programs that write them: numbers of either
 * endianness, records, and values that are drawn at random.
 */
#ifndef PERF_BYTES_H
#define PERF_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
    uint8_t *data;
    size_t used, room;
};

static int big;
static uint64_t state;

static inline uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

static inline void put(struct buffer *b, uint64_t value, unsigned bytes)
{
    if (b->used + 8 > b->room) {
        b->room = 2 * b->room + 4096;
        b->data = realloc(b->data, b->room);
        if (!b->data)
            exit(3);
    }
    for (unsigned i = 0; i < bytes; i++)
        b->data[b->used++] = (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

static inline void put_bytes(struct buffer *b, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        put(b, ((const uint8_t *)data)[i], 1);
}

/* A text and zeros up to a multiple of 8 bytes, at least one. */
static inline void put_text(struct buffer *b, const char *text)
{
    put_bytes(b, text, strlen(text) + 1);
    while (b->used % 8)
        put(b, 0, 1);
}

static inline size_t begin(struct buffer *b, uint32_t type, uint16_t misc)
{
    const size_t at = b->used;

    put(b, type, 4);
    put(b, misc, 2);
    put(b, 0, 2);
    return at;
}

static inline void end(struct buffer *b, size_t at)
{
    const size_t used = b->used;

    b->used = at + 6;
    put(b, used - at, 2);
    b->used = used;
}

/* Bit fields: a big-endian compiler counts them from the top. */
static inline uint64_t bit_fields(uint64_t bits)
{
    uint64_t turned = 0;

    for (unsigned i = 0; i < 64; i++)
        turned |= (bits >> i & 1) << (63 - i);
    return big ? turned : bits;
}

#endif
