/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_sequence.h - accesses to lines of one set of a cache that distinguish replacement policies:
 * what cf-capture-probe measures (experiment policy), and cf-infer predicts.
 *
 * Sequences of random accesses whose misses are compared with those of simulated policies: Abel
 * and Reineke, "Reverse Engineering of Cache Replacement Policies in Intel Microprocessors and
 * Their Evaluation", ISPASS 2014, and "nanoBench", ISPASS 2020. Each begins after all of its lines
 * were flushed, and brings the set into a state that does not depend on what was there before, as
 * the reset sequences of Vila, Ganty, Guarnieri, Köpf, "CacheQuery", PLDI 2020. With W ways:
 *
 *   blocks 0 to W - 1            fill the set, in a known order where the lowest empty way comes
 *                                first
 *   W - 2 down to 0              hits, which leave one bit of bit-plru set whatever was before:
 *                                filling leaves those from some way on to the highest one, and the
 *                                last one that is clear then is that of way 0
 *   W to 2 W - 1                 misses: in tree-plru each takes the place of another line, so that
 *                                up to a symmetry of the tree the order of filling does not matter
 *   3 W more                     random ones among all 2 W blocks where the number is even, else
 *                                among the last ones: W + 1 at least, half of W more at most
 *
 * No block is accessed more than CF_SEQUENCE_TOUCHES times, nor twice in a row if that can be
 * avoided, so that a chain of pointers in its line can have as many nodes. The random numbers are
 * those of splitmix64 (Steele, Lea, Flood, OOPSLA 2014), seeded by W and the number alone.
 */
#ifndef CF_SEQUENCE_H
#define CF_SEQUENCE_H

#include <stdint.h>

enum {
    CF_SEQUENCES = 24,       /* how many there are, from number 0 */
    CF_SEQUENCE_WAYS = 64,   /* at most */
    CF_SEQUENCE_TOUCHES = 4, /* of a block, at most */
    CF_SEQUENCE_LONGEST = 6 * CF_SEQUENCE_WAYS - 1,
    CF_SEQUENCE_SET = 1000, /* parameter of a row: this times the number of the set, and the number
                               of the sequence */
};

/* Accesses of each sequence for so many ways, from 1; no two numbers of ways have the same. */
static inline uint32_t cf_sequence_length(uint32_t ways)
{
    return 6 * ways - 1;
}

/* block[cf_sequence_length(ways)]: the numbers, below 2 * ways, of the blocks in their order. */
void cf_sequence_make(uint32_t ways, uint32_t number, uint8_t *block);

#endif
