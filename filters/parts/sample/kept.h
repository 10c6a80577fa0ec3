/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.h - rows that were sampled, collected to frames with their columns level, weight and stage.
 */
#ifndef CF_SAMPLE_KEPT_H
#define CF_SAMPLE_KEPT_H

#include "filters/engine/rows/gather.h"
#include "filters/engine/sample/sampler.h"
#include "formats/program/cf_tool.h"

enum { KEPT_NAMES = 3 }; /* columns of strings that follow from pc: function, source, inlined */

/* Another instruction that a row names. */
struct kept_named {
    uint64_t pc;
    uint32_t text[KEPT_NAMES];
    int moved;
};

struct kept {
    struct cf_tool *tool;
    struct cf_writer *writer;
    struct cf_gather *gather;
    uint64_t rows; /* so far */
    int blob_warned;
    unsigned columns; /* of the frame before */
    uint16_t column[CF_MAX_COLUMNS];
    unsigned moved; /* those of named[] that name another instruction */
    uint64_t weight[CF_SAMPLER_BATCH];
    uint8_t stage[CF_SAMPLER_BATCH], level[CF_SAMPLER_BATCH];
    struct kept_named named[CF_SAMPLER_BATCH];
    uint64_t pc[CF_SAMPLER_BATCH];
    uint32_t text[KEPT_NAMES][CF_SAMPLER_BATCH];
};

/* Ends the program without memory. */
void kept_begin(struct kept *k, struct cf_tool *t, struct cf_writer *w);
void kept_end(struct kept *k);

/* Whether rows of the frame can follow those that are collected, since it has the columns of the
   frame before; else these must be flushed. */
int kept_fits(struct kept *k, const struct cf_frame *f);

/* Collects rows of a frame of which all columns are decoded. -1 where the writer failed, or
   without memory (errno is then ENOMEM), as the next. */
int kept_rows(struct kept *k, const struct cf_frame *f, const struct cf_sampled *taken);

/* Hands on what was collected. */
int kept_flush(struct kept *k);

#endif
