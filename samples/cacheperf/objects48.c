/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objects48 - row 12 of CachePerf's Table 2, after raytrace of PARSEC (Fig. 6).
 *
 * Nodes of 48 bytes, of a list that is walked again and again, come from the allocator so that they
 * fall on one set: between two of them lies what fills a way. Mended: the nodes one after the
 * other.
 */
#include "mini.h"

enum { NODES = 64, BYTES = 48, FILL = WAY - 64 - 16 };

struct node {
    struct node *next;
    int value[10];
};

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 20000);
    struct node *list = NULL;
    void *fill[NODES];
    int sum = 0;

    for (int i = 0; i < NODES; i++) {
        struct node *n = malloc(BYTES); /* OBJECT */
        fill[i] = MENDED ? NULL : malloc(FILL);
        n->next = list;
        n->value[0] = i;
        list = n;
    }
    for (unsigned r = 0; r < rounds; r++) {
        for (const volatile struct node *n = list; n; n = n->next) /* MISS */
            sum += n->value[0];                                    /* MISS */
        notes(NODES, (unsigned)sum);
    }
    USE(sum);
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
    for (int i = 0; i < NODES; i++)
        free(fill[i]);
    return 0;
}
