/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lost.h - what a stream lacks: samples, by its table lost, and accesses that an earlier program of
 * its chain left out. A report is of the others alone.
 */
#ifndef LOST_H
#define LOST_H

#include "formats/stream/cf.h"

struct lost {
    uint64_t samples;   /* that the kernel had no room for */
    uint64_t parts;     /* of traces that lack samples, of which the number is not known */
    uint64_t throttled; /* times that it sampled no more for a while */
    char kept[192];     /* commands that kept some accesses only, as far as there is room */
};

void lost_want(struct cf_reader *r);
/* Takes a frame of any table. */
void lost_frame(struct lost *l, const struct cf_reader *r, const struct cf_frame *f);
/* A sentence without its end, of at most LOST_WORDS bytes, and 1; 0 where nothing is lost. */
enum { LOST_WORDS = 512 };
int lost_words(const struct lost *l, char *text, size_t size);

#endif
