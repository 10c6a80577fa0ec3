/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sites [MS]: two sites that allocate in turn, objects of 1000 and of 2000 bytes, some of which
 * come to stand where one of the other site stood; 1000 rounds, between which it sleeps for MS
 * milliseconds after the first ten.
 */
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void *one(void)
{
    void *p = malloc(1000);

    __asm__ volatile("" ::"r"(p) : "memory");
    return p;
}

__attribute__((noinline)) static void *two(void)
{
    void *p = malloc(2000);

    __asm__ volatile("" ::"r"(p) : "memory");
    return p;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 1000; i++) {
        void *p = one(), *q = two();

        free(p);
        free(q);
        p = malloc(3000);
        __asm__ volatile("" ::"r"(p) : "memory");
        free(p);
        if (i == 10 && argc > 1)
            usleep((useconds_t)atoi(argv[1]) * 1000);
    }
    return 0;
}
