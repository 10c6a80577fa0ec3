/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter - true sharing: all threads count in one variable. Mended: each in its own, on a line of
 * its own, which are added up at the end.
 */
#include "mini.h"

enum { COUNTS = 4000 };

static unsigned rounds;
static struct {
    _Alignas(LINE) unsigned long value;
} total, own[THREADS];

static void *work(void *arg)
{
    unsigned long *mine = MENDED ? &own[(intptr_t)arg].value : &total.value;

    for (unsigned left = rounds * COUNTS; left > 0; left--)
        __atomic_add_fetch(mine, 1, __ATOMIC_RELAXED); /* MISS */
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = repeats(argc, argv, 40);
    run_threads(work, THREADS);
    for (int t = 0; t < THREADS; t++)
        total.value += own[t].value;
    printf("%lu\n", total.value);
    return 0;
}
