/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * condense.h - accesses that say the same become one row, with the weight of all.
 *
 * Nearly all accesses of a whole trace hit the first level, and they come from few instructions; a
 * packed frame states what these have in common once a code. Sums over such rows are sums over few
 * rows, and what is of interest where an access missed is read there only.
 */
#ifndef CF_CONDENSE_H
#define CF_CONDENSE_H

#include "formats/program/cf_tool.h"
#include "formats/stream/cf.h"

struct cf_condense;

/* `alike`: columns that rows have in common which become one, with class, level and hit; among them
   weight, and of which stack, with pid, and these three may vary from row to row of a code.
   `others`: further columns, of accesses that missed. Both end with a 0. The reader gives accesses
   without values from now on (cf_reader_defer()), and strings as by cf_reader_unify(). Ends the
   program without memory. */
struct cf_condense *cf_condense_new(const struct cf_tool *t, struct cf_reader *r,
                                    const unsigned *alike, const unsigned *others) CF_MUST_CHECK;
void cf_condense_free(struct cf_condense *c);

/* The rows of a frame: twice the frame itself, with what was asked for of the reader; or fewer. */
struct cf_condensed {
    const struct cf_frame *sums; /* a row for all that are alike */
    const struct cf_frame *rows; /* a row for all hits that are alike, and one for each other */
    uint64_t each;               /* the weight of one access; 0: these are the frame */
    const struct cf_frame *in;   /* the frame as it came, */
    const uint32_t *row;         /* and which row of it each of `rows` is; NULL: the same */
};

/* Valid until the next call and the reader's next frame. Frames of other tables stay as they are.
   -1 where a column is damaged, which the reader reports. */
int cf_condense_frame(struct cf_condense *c, struct cf_frame *f,
                      struct cf_condensed *to) CF_MUST_CHECK;

#endif
