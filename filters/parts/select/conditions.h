/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conditions.h - which rows of a frame meet all conditions. Those of one column are alternatives.
 * Memory: one byte a row of a frame, and 128 KiB for verdicts on the strings of each column that
 * patterns are for.
 */
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include "formats/program/cf_tool.h"

enum { MAX_TESTS = 256 };

/* One alternative of a condition: a range of a number, or a pattern of a string. */
struct test {
    unsigned column;
    uint64_t from, to;
    struct cf_span span; /* of a time: what they come from */
    const char *glob;
    struct memo *memo; /* of all patterns of the column */
};

struct conditions {
    struct test test[MAX_TESTS]; /* those of one column stand together */
    unsigned tests;
    uint8_t *any; /* rows for which one of the alternatives holds */
};

/* For CF_CALL: the option is called as the column. */
void conditions_add(const struct cf_tool *t, void *conditions, const char *option, char *text);
/* Asks the reader for the columns, and unless the conditions are `inverted` for the frames of the
   times alone that they allow. Whether there are such. */
int conditions_begin(struct conditions *c, struct cf_tool *t, struct cf_reader *r, int inverted);
/* Whether all that they ask for is CPUs, each of which has its own clock. */
int conditions_cpus_alone(const struct conditions *c);
/* Whether they ask for times. */
int conditions_timed(const struct conditions *c);
/* From here on numbers mean other strings. */
void conditions_forget(struct conditions *c);
/* mask[i] = whether row i meets all of them. Returns how many columns of the frame they concern. */
unsigned conditions_mask(const struct conditions *c, const struct cf_reader *r,
                         const struct cf_frame *f, uint8_t *mask);

#endif
