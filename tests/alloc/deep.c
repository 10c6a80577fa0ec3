/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deep N - allocates N times at the end of as many different calls, each 60 deep: two functions
 * call each other as the bits of a number say.
 */
#include <stdint.h>
#include <stdlib.h>

#define END __asm__ volatile("")

static void *volatile kept;
static void zero(uint64_t way, int depth);
static void one(uint64_t way, int depth);

__attribute__((noinline)) static void go(uint64_t way, int depth)
{
    if (!depth)
        kept = malloc(24);
    else if (way & 1)
        one(way >> 1, depth - 1);
    else
        zero(way >> 1, depth - 1);
    END;
}

__attribute__((noinline)) static void zero(uint64_t way, int depth)
{
    go(way, depth);
    END;
}

__attribute__((noinline)) static void one(uint64_t way, int depth)
{
    go(way, depth);
    END;
}

int main(int argc, char **argv)
{
    uint64_t way = 1;

    for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--) {
        way = way * 6364136223846793005 + 1442695040888963407;
        go(way >> 16, 29);
        free(kept);
    }
    return 0;
}
