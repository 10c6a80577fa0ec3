/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_hash.c - seeds, of the random bytes that the kernel gives each process (getauxval(3)). */
#include <string.h>
#include <sys/auxv.h>

#include "cf_hash.h"

struct cf_seed cf_seed(const void *of)
{
    const void *random = (const void *)getauxval(AT_RANDOM);
    struct cf_seed s = {0, 0};

    if (random)
        memcpy(&s, random, sizeof s);
    /* without random bytes there is where memory lies */
    s.a ^= (uint64_t)(uintptr_t)of * 0x9e3779b97f4a7c15u;
    s.b ^= (uint64_t)(uintptr_t)of * 0xd6e8feb86659fd93u;
    return s;
}
