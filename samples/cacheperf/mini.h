/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mini.h - what the miniatures share.
 *
 * Each program has one defect in its caches' use, and with -DMENDED=1 none (srad: with 1 the first
 * of two, with 2 both). Words of comments mark lines: MISS the statement that misses, OBJECT where
 * the memory is allocated. truth.csv refers to these marks. The first argument is how often the
 * work is repeated. Figures in comments hold for a first level of 32 KiB: 64 sets of 8 ways, 64
 * bytes a line.
 */
#ifndef MINI_H
#define MINI_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MENDED
#define MENDED 0
#endif

enum {
    LINE = 64,
    WAY = 4096, /* bytes after which addresses fall on the same set again */
    THREADS = 4,
};

static inline unsigned repeats(int argc, char **argv, unsigned usual)
{
    return argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : usual;
}

/* What is used so is computed. */
#define USE(value) __asm__ volatile("" : : "r"(value) : "memory")

/* Memory from the begin of a page on, so that sets do not depend on the allocator. */
#define BLOCK(bytes) aligned_alloc(WAY, ((size_t)(bytes) + WAY - 1) / WAY * WAY)

/* Keeps a result in a small table, as programs do: a store that hits. */
static inline void note(unsigned at, unsigned value)
{
    static __thread unsigned notes[LINE];

    *(volatile unsigned *)&notes[at % LINE] = value;
}

/* So many. (After some accesses that miss and not after each: a profiler that names the instruction
   after the one that missed would else name these.) */
static inline void notes(unsigned count, unsigned value)
{
    for (unsigned i = 0; i < count; i++)
        note(i, value);
}

/* Calls work(0), ..., work(threads - 1), each in a thread of its own. */
static inline void run_threads(void *(*work)(void *), int threads)
{
    pthread_t thread[THREADS];

    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i) != 0)
            exit(1);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

#endif
