/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_stretched.h - frames of accesses that came in stretches (cf-stream(5), "Stretches"), for
 * programs that do with a stretch what they would else do row by row.
 *
 * A stretch comes again and again, with other addresses where its rows have slots. So what a
 * program needs of its other rows, it makes once a frame.
 */
#ifndef CF_STRETCHED_H
#define CF_STRETCHED_H

#include "cf.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CF_STRETCHED_GROUP = 4,
    CF_STRETCH_SLOT = 6,         /* bytes, which hold an address */
    CF_STRETCH_NO_SLOT = 0xffff, /* of a row that has none */
};
#define CF_STRETCH_ADDRESS ((UINT64_C(1) << 48) - 1)

struct cf_stretch {
    uint32_t group;       /* its first group of rows */
    uint16_t rows, slots; /* how many */
    int64_t time;         /* that it takes */
};

/* All numbers are checked. */
struct cf_stretched {
    uint32_t rows, kinds;       /* in the frame */
    uint32_t stretches, groups; /* that it has, and of the rows of all of them */
    const struct cf_stretch *stretch;
    /* Of a stretch's rows, from CF_STRETCHED_GROUP * its group on: the kind, and the number of the
       slot, below those of its stretch, or CF_STRETCH_NO_SLOT. */
    const uint16_t *kind, *place;
    const uint8_t *delta; /* of each row, one stretch after the other: what its address is ahead of
                             its slot's, or its address; 8 bytes */
    size_t tokens;
    const uint8_t *token; /* numbers of the stretches that come, in order; 2 bytes */
    const uint8_t *slot;  /* of each that comes: its slots, CF_STRETCH_SLOT bytes each */
    size_t slot_bytes;
    const uint8_t *op;    /* of each kind; NULL: loads */
    const uint32_t *size; /* the same; NULL: one byte */
};

/* Hands frames of accesses in stretches out whole, and with no column decoded: cf_frame_wanted()
   decodes what was asked for. */
void cf_reader_stretches(struct cf_reader *r);

/* The stretches of such a frame: 1, or 0 where it is another one, or its operations or sizes stand
   once a row, -1 where it is damaged, which is then noted. What it gives is good until the next
   frame. */
int cf_frame_stretched(const struct cf_frame *f, struct cf_stretched *s) CF_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
