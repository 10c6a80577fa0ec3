/* SPDX-License-Identifier: BSD-2-Clause */
/* plug.c - a library whose function NAME allocates and fills a block. */
#include <stdlib.h>

static void fill(volatile char *p)
{
    for (int i = 0; i < 100; i++)
        p[i % 64] = 1;
}

void NAME(void)
{
    char *p = malloc(64);
    fill(p);
    free(p);
}

void go(void)
{
    NAME();
}
