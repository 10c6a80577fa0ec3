/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_stream.h - mutations that leave a stream one: behind a first byte that says how it is read
 * comes the stream, whose checksums are made right where that byte has the bit `sealed`.
 */
#ifndef FUZZ_STREAM_H
#define FUZZ_STREAM_H

#include "tests/unit/reseal.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* Mutations of libFuzzer, half of them within one frame or head, so that the rest stays a stream.
 */
static inline size_t fuzz_stream_mutate(uint8_t *data, size_t size, size_t most, unsigned seed,
                                        uint8_t sealed)
{
    size_t at = 1, n = 0, frames = 0, pick;

    if (size < 2 || seed % 2)
        return LLVMFuzzerMutate(data, size, most);
    while (at < size && (n = reseal_size(data + at, size - at)))
        at += n, frames++;
    if (!frames)
        return LLVMFuzzerMutate(data, size, most);
    pick = seed / 2 % frames;
    for (at = 1; pick-- && (n = reseal_size(data + at, size - at));)
        at += n;
    n = reseal_size(data + at, size - at);
    /* in place: a frame that grows would be no frame */
    LLVMFuzzerMutate(data + at, n, n);
    data[0] |= sealed;
    return size;
}

#endif
