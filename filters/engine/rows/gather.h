/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gather.h - keep some rows of frames: mask to row numbers to shorter columns, which are collected
 * until they are worth a frame of their own.
 *
 * The steps are free of branches that depend on the data, since which rows are kept is just what a
 * processor cannot predict.
 */
#ifndef CF_GATHER_H
#define CF_GATHER_H

#include "formats/stream/cf.h"

/* Number of rows whose mask is 1; the others have 0. */
uint32_t cf_gather_count(const uint8_t *mask, uint32_t rows);

/* to[i] = from[index[i]] for `count` values of `width` bytes: 1, 2, 4 or 8. */
void cf_gather_values(void *to, const void *from, size_t width, const uint32_t *index,
                      uint32_t count);

/* Takes a frame that is complete; it is valid during the call. 0, or -1 to make the function that
   called it return -1. */
typedef int (*cf_gather_send)(void *arg, struct cf_frame *f);

struct cf_gather;

/* NULL without memory. */
struct cf_gather *cf_gather_new(cf_gather_send send, void *arg) CF_MUST_CHECK;
void cf_gather_free(struct cf_gather *g);

/* A mask for `rows` rows, with undefined content; valid until the next call. NULL without memory.
 */
uint8_t *cf_gather_mask(struct cf_gather *g, uint32_t rows) CF_MUST_CHECK;

/* Appends the rows of `f` whose mask is 1 to the frame that is being collected, with all columns
   that have decoded values, also those that are not known; blobs are no values a row and are left
   out. Sends what was collected when it is CF_WIRE_ROWS or more, and before, when `f` is of
   another table or has other columns. -1 without memory (errno is then ENOMEM) or when sending
   failed. */
int cf_gather_rows(struct cf_gather *g, const struct cf_frame *f,
                   const uint8_t *mask) CF_MUST_CHECK;

/* The same for `count` rows by their numbers, which rise. */
int cf_gather_list(struct cf_gather *g, const struct cf_frame *f, const uint32_t *index,
                   uint32_t count) CF_MUST_CHECK;

/* Sends what was collected. -1 when that failed. */
int cf_gather_flush(struct cf_gather *g);

#endif
