/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repl - the benchmark REPL of "Observing the Invisible", section 7.7.
 *
 * The lines A1 to An are one cache way apart, so that all fall into one set. Other lines of the
 * same set are read first, so that no way is free; then A1 to An in this order, ROUNDS times. What
 * a snapshot finds of them afterwards tells how the set replaces lines.
 *
 *   repl [ROUNDS [SETS [TIMES [WAY_BYTES [WAYS [STOPS]]]]]]
 *        rounds over A1 to An [1]; sets on which this is done, one after the other [1]; times that
 *        all of it is done [1]; bytes of a way [131072]; n [16]; where it stops itself, so that a
 *        snapshot of a real cache is taken (cf-capture snapshot -e stop): 1 at the end, 2 before
 *        A1 and after each line A [nowhere]
 *
 * Where the paper repeats the experiment 1000 times on set 0, SETS does it on as many sets, of
 * which one snapshot at the end shows all. The variant of the paper that stops after each line is
 * one round: each access of it is an event, and a snapshot after each access shows each choice of a
 * way.
 *
 * The memory stands at 0x40000000: first WAYS times WAY_BYTES with the lines A, and then twice that
 * with the others. Physical pages have to be contiguous over a way, as huge pages are, of which
 * the memory consists where REPL stops.
 */
#include <signal.h>

#include "kernel.h"

enum { LINE = 64, AT_THE_END = 1, AFTER_EACH_LINE = 2 };

int main(int argc, char **argv)
{
    size_t rounds = argument(argc, argv, 1, 1), sets = argument(argc, argv, 2, 1);
    size_t times = argument(argc, argv, 3, 1), way = argument(argc, argv, 4, 128 << 10);
    size_t ways = argument(argc, argv, 5, 16), step = way / sizeof(uint64_t);
    size_t stops = argument(argc, argv, 6, 0);
    volatile uint64_t *a = memory(argv[0], (void *)(uintptr_t)0x40000000, 3 * ways * way,
                                  stops ? MAP_HUGETLB | MAP_POPULATE : 0);
    uint64_t sum = 0;

    if (sets > way / LINE) {
        fprintf(stderr, "%s: a way of %zu bytes has no %zu sets\n", argv[0], way, sets);
        return 2;
    }
    for (size_t t = 0; t < times; t++)
        for (size_t set = 0; set < sets; set++) {
            volatile uint64_t *line = a + set * LINE / sizeof(uint64_t);

            for (size_t i = ways; i < 3 * ways; i++)
                sum += line[i * step];
            if (stops == AFTER_EACH_LINE)
                raise(SIGSTOP);
            for (size_t r = 0; r < rounds; r++)
                for (size_t i = 0; i < ways; i++) {
                    sum += line[i * step];
                    if (stops == AFTER_EACH_LINE)
                        raise(SIGSTOP);
                }
        }
    if (stops == AT_THE_END)
        raise(SIGSTOP);
    return sum != 0;
}
