/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * canneal - row 16 of CachePerf's Table 2, after the program of PARSEC.
 *
 * Elements of a net that is larger than the cache, each a heap object, are picked at random and
 * their neighbours followed; the table of them is larger than the cache, too. Mended: those picked
 * stay within a neighbourhood for a while.
 */
#include "mini.h"

enum { ELEMENTS = 8192, SOME = 8, NEAR = MENDED ? 128 : ELEMENTS };

struct element {
    struct element *next[2];
    long place;
};

static struct element *net[ELEMENTS];

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 160);
    unsigned random = 1;
    long cost = 0;

    for (int i = 0; i < ELEMENTS; i++)
        net[i] = calloc(1, sizeof *net[i]); /* OBJECT */
    for (int i = 0; i < ELEMENTS; i++) {
        net[i]->next[0] = net[i ^ 1];
        net[i]->next[1] = net[MENDED ? i ^ 2 : (i * 37 + 11) % ELEMENTS];
    }
    for (unsigned r = 0; r < rounds; r++) {
        const unsigned begin = r * NEAR % ELEMENTS;
        for (int i = 0; i < ELEMENTS; i += SOME) {
            for (int k = 0; k < SOME; k++) {
                random = random * 1664525 + 1013904223;
                const struct element *e = net[begin + (random >> 8) % NEAR]; /* MISS net */
                cost += e->next[0]->place + e->next[1]->place;               /* MISS */
            }
            notes(SOME, (unsigned)cost);
        }
    }
    USE(cost);
    for (int i = 0; i < ELEMENTS; i++)
        free(net[i]);
    return 0;
}
