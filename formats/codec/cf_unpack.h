/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_unpack.h - private to the decoder: what cf_decoder.c, cf_unpack.c, cf_unpack_rows.c and
 * cf_unpack_lines.c share.
 */
#ifndef CF_UNPACK_H
#define CF_UNPACK_H

#include "cf_pack.h"

/* Bytes after every buffer, so that whole words and blocks may be moved. */
enum { SLACK = 64 };

/* ---- rows that come in stretches: cf_unpack_stretches.c ---- */

/* The stretches of a frame, and which of them came. Of their rows each group is whole. */
struct cf_stretches_read {
    struct cf_bytes memory; /* holds stretch, kind, step and place */
    struct cf_stretch *stretch;
    uint32_t stretches, rows, groups, longest; /* all, and slots of the longest */
    uint16_t *kind, *step, *place;             /* of each row */
    const uint8_t *token;                      /* 2 bytes each */
    size_t tokens, slots;                      /* that came */
    struct cf_bytes addresses;                 /* of each group, how they are made */
};

/* What belongs to the frame rather than to one column. */
struct unpacker {
    ZSTD_DCtx *zstd;
    struct cf_bytes plain[3]; /* what packets or a column held before zstd */
    struct cf_bytes values;   /* holds the table */
    struct cf_bytes pcs;      /* holds that of column pc, which two columns may need */
    const uint64_t *table;    /* one value a kind or code */
    bool has_pcs;             /* those of this frame */
    struct cf_bytes memory;   /* holds code, kind and where */
    const char *problem;      /* why the last call failed */
    struct cf_stretches_read stretches;
    size_t rows;
    uint32_t codes, kinds; /* in this frame */
    uint16_t *code;        /* of each row */
    uint16_t *kind;        /* of each code */
    uint32_t *where;       /* of each code: the row where it last ended a run */
};

/* ---- cf_unpack.c; below 0 is a failure, which u->problem then names ---- */

int cfu_fail(struct unpacker *u, const char *problem);

/* Makes b empty, with room for so many bytes and for whole words and blocks after them. */
int cfu_room(struct unpacker *u, struct cf_bytes *b, size_t bytes) CF_MUST_CHECK;

/* What is still to be read. */
struct cf_input {
    const uint8_t *at, *end;
};

static inline struct cf_input cfu_input(const struct cf_coded *c)
{
    return (struct cf_input){c->data, c->data + c->bytes};
}

/* A varint of at most `max`, or below 0. */
int64_t cfu_varint(struct cf_input *in, uint64_t max) CF_MUST_CHECK;

/* Reads a packet of at most max bytes into b. */
int cfu_packet(struct unpacker *u, struct cf_input *in, size_t max,
               struct cf_bytes *b) CF_MUST_CHECK;

/* Reads a table of n values of `width` bytes into v. Uses u->plain[0]. */
int cfu_values(struct unpacker *u, struct cf_input *in, size_t n, unsigned width,
               uint64_t *v) CF_MUST_CHECK;
/* The same into `to`, which becomes u->table. */
int cfu_table(struct unpacker *u, struct cf_input *in, size_t n, unsigned width,
              struct cf_bytes *to) CF_MUST_CHECK;

/* n values of a column by one of CF_ZSTD to CF_ZDPLANES, of `width` bytes. Uses u->plain[0]. */
int cfu_plain(struct unpacker *u, const struct cf_coded *c, unsigned width, size_t n,
              void *out) CF_MUST_CHECK;
/* The planes of a column by CF_ZPLANES, `bytes` in all. */
int cfu_planes(struct unpacker *u, const struct cf_coded *c, size_t bytes,
               uint8_t *out) CF_MUST_CHECK;
/* The codes of the rows by CF_CODES, and by CF_ROWCODES: u->rows to u->where. */
int cfu_codes(struct unpacker *u, size_t rows, const struct cf_coded *c) CF_MUST_CHECK;
int cfu_row_codes(struct unpacker *u, size_t rows, const struct cf_coded *c) CF_MUST_CHECK;
/* Room for the codes of the rows, each of which is a kind. */
int cfu_kinds(struct unpacker *u, size_t rows, uint64_t kinds) CF_MUST_CHECK;
/* Fills `out` with values of `width` bytes from narrow ones. False where that is no narrowing. */
bool cfu_widen(unsigned from, const void *v, size_t n, uint64_t base, unsigned width, void *out);

/* ---- cf_unpack_stretches.c ---- */

/* What stretches a frame of CF_STRETCHES has, and which come; then the codes of its rows, as
   cfu_codes(), their times and addresses, all that the frame has: room for SLACK bytes must be
   behind them. */
int cfu_stretches(struct unpacker *u, size_t rows, const struct cf_coded *c) CF_MUST_CHECK;
void cfu_stretch_codes(struct unpacker *u);
/* What addresses are made of, without operations and sizes. */
int cfu_slots(struct unpacker *u, const struct cf_coded *c, struct cf_stretched *s) CF_MUST_CHECK;
int cfu_clock(struct unpacker *u, const struct cf_coded *c, uint64_t *out) CF_MUST_CHECK;
int cfu_addresses(struct unpacker *u, const struct cf_coded *c, uint64_t *out) CF_MUST_CHECK;

/* ---- cf_unpack_rows.c: columns of a frame whose codes are in u ---- */

/* A column whose tables are read and whose tokens are known to fit the frame, and how far it was
   unpacked. */
struct cf_packed {
    uint8_t codec, width;
    size_t row;             /* the first that is still to come */
    struct cf_bytes tables; /* holds value, or last, ahead and info */
    const void *value;      /* of each code: the step, or a value of `width` bytes */
    uint64_t time;          /* of the row before */
    uint64_t *last, *ahead; /* of each kind: address, and what it is ahead of its reference's */
    struct cf_info *info;   /* of each code */
    struct cf_bytes tokens, misses;
    const uint8_t *token, *miss; /* the next ones */
    size_t predicted;            /* rows that are predicted before the miss of ... */
    unsigned pending;            /* ... this token */
};

/* Takes in a column of codec CF_BYCODE, CF_STEPS or CF_PREDICT. `pc`, or NULL, is the column from
   whose values addresses start; it may be `c`. Afterwards nothing can fail any more. */
int cf_packed_begin(struct cf_packed *p, struct unpacker *u, const struct cf_coded *c,
                    const struct cf_coded *pc, unsigned width) CF_MUST_CHECK;

/* Makes the pc of each kind u->table. */
int cfu_pcs(struct unpacker *u, const struct cf_coded *pc) CF_MUST_CHECK;
/* One value a kind to one of `width` bytes a row. */
int cfu_spread(struct unpacker *u, const uint64_t *values, unsigned width, void *out) CF_MUST_CHECK;

/* Writes the values of the next n rows to `out`. */
void cf_packed_rows(struct cf_packed *p, const struct unpacker *u, size_t n, void *out);
/* Passes over the next n rows; `scratch` has room for them. */
void cf_packed_skip(struct cf_packed *p, const struct unpacker *u, size_t n, void *scratch);
void cf_packed_free(struct cf_packed *p);

/* ---- cf_unpack_lines.c ---- */

/* Distances of `rows` rows into b, checked. */
int cf_unpack_near(struct unpacker *u, const struct cf_coded *c, size_t rows, struct cf_bytes *b,
                   size_t *literals) CF_MUST_CHECK;
int cf_unpack_pages(struct unpacker *u, const struct cf_coded *c, const uint8_t *near, size_t rows,
                    size_t literals, uint64_t *out) CF_MUST_CHECK;
int cf_unpack_like(struct unpacker *u, const struct cf_coded *c, const uint8_t *near, size_t rows,
                   size_t literals, uint32_t *out) CF_MUST_CHECK;

#endif
