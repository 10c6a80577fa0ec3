/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_codec.h - how the columns of a frame become bytes and come back (cf-stream(5), "CODECS").
 *
 * Pure functions over arrays: no I/O, no globals. An encoder or decoder belongs to one thread.
 * Bytes that are decoded are not trusted: any input either decodes or gives an error. A column
 * takes at most 24 bytes a row and code of it beside its values, what stretches there are 10 MB,
 * and the blobs of a frame CF_MAX_FRAME together, whatever the input claims.
 */
#ifndef CF_CODEC_H
#define CF_CODEC_H

#include <stdbool.h>

#include "formats/stream/cf_stretched.h"

enum cf_codec {
    CF_RAW = 0,      /* the values, little-endian */
    CF_CONST = 1,    /* no bytes: every value is base */
    CF_NARROW8 = 2,  /* value - base as 1 byte */
    CF_NARROW16 = 3, /* value - base as 2 bytes */
    CF_NARROW32 = 4, /* value - base as 4 bytes */
    CF_ZSTD = 5,     /* the values under zstd; of a blob, base is its length */
    CF_ZDELTA = 6,   /* differences to the value before, under zstd */
    CF_ZPLANES = 7,  /* first all lowest bytes, then all second, ..., under zstd */
    CF_ZDPLANES = 8, /* differences, then planes, under zstd */
    CF_CODES = 9,    /* the row codes of a packed frame: column CF_CODE */
    CF_BYCODE = 10,  /* one value a code */
    CF_STEPS = 11,   /* one time step a code; base is the time of the first row */
    CF_PREDICT = 12, /* addresses predicted by code */
    CF_ROWCODES =
        13,          /* column CF_CODE of a frame for a pipe: 16 bits a row; base is their number */
    CF_RISE8 = 14,   /* steps from value to value in 1 byte; base is the first */
    CF_LINES32 = 15, /* base + 64 times 4 bytes */
    CF_LINES48 = 16, /* base + 64 times 6 bytes: first the low 4 of all, then the high 2 */
    CF_NEAR = 17,    /* column CF_CODE of packed lines: rows back to one of the same page, 0 none */
    CF_PAGES = 18,   /* addresses: place in the page, and the page where there is none before */
    CF_LIKE = 19,    /* 4 bytes: the value where there is none before */
    CF_STRETCHES = 20, /* column CF_CODE of rows in stretches: what there are, and which came */
    CF_CLOCK = 21,     /* times of stretches; base is when the first begins */
    CF_ADDRESSES = 22, /* addresses of stretches */
    CF_CODECS = 23,
};

/* How many stretches a frame has, and rows all of them have, at most. */
enum { CF_STRETCHES_MOST = 65535 };

/* One column in its encoded form. */
struct cf_coded {
    uint16_t id;
    uint8_t type;
    uint8_t codec;
    uint32_t bytes;
    uint64_t base;
    const uint8_t *data;
};

/* For a pipe: raw, constant or narrow, whatever is smallest. `data` of the result points to
   `values` or into `scratch`, which holds rows times 4 bytes. Integer and string types. */
void cf_encode_wire(enum cf_type type, const void *values, size_t rows, void *scratch,
                    struct cf_coded *out);

/* The same for the columns of cache lines, which the last three codecs fit; `scratch` holds rows
   times 6 bytes. */
void cf_encode_line(enum cf_type type, const void *values, size_t rows, void *scratch,
                    struct cf_coded *out);

/* The way back: NULL, or what is wrong. `values` has room for `rows` of the column's type. */
const char *cf_decode_line(const struct cf_coded *c, size_t rows, void *values);

struct cf_encoder; /* for files */

/* NULL without memory. `level` is zstd's. */
struct cf_encoder *cf_encoder_new(int level);
void cf_encoder_free(struct cf_encoder *e);

/* What the rows with one hint have in common. The blocks never move, so that one thread may add
   kinds while others read those that they know of. */
struct cf_row_kind {
    uint64_t pc;
    uint32_t size, insns;
    uint8_t op;
};

enum { CF_KIND_BLOCK = 1 << 14, CF_KIND_BLOCKS = 1 << 15 };

struct cf_kinds {
    struct cf_row_kind *block[CF_KIND_BLOCKS];
    uint32_t end; /* hints are below */
};

static inline const struct cf_row_kind *cf_kind_of(const struct cf_kinds *k, uint32_t hint)
{
    return &k->block[hint / CF_KIND_BLOCK][hint % CF_KIND_BLOCK];
}

/* Numbers the kinds of some rows for a pipe, and writes what they have in common. */
struct cf_numbering;
struct cf_numbering *cf_numbering_new(void);
void cf_numbering_free(struct cf_numbering *n);

/* code[i] = number of the row's kind, from 0 in the order in which they first occur. Returns how
   many there are, 0 when they are more than `most` (at most 65535), -1 without memory. */
int32_t cf_numbering_rows(struct cf_numbering *n, const struct cf_kinds *k, const uint32_t *hint,
                          size_t rows, uint32_t most, uint16_t *code);

/* Writes one value of `width` bytes a kind to `scratch`, which holds 9 bytes a kind and 16 more, as
   CF_BYCODE or CF_CONST. The id and type of `out` are the caller's. */
void cf_encode_of_kind(const void *values, unsigned width, uint32_t kinds, uint8_t *scratch,
                       struct cf_coded *out);

/* Writes what the numbered kinds say of column pc, op, size or insns to `scratch`, which holds 9
   bytes a kind and 16 more: as CF_BYCODE or CF_CONST. The id and type of `out` are the caller's. */
void cf_numbering_column(struct cf_numbering *n, const struct cf_kinds *k, unsigned column,
                         uint8_t *scratch, struct cf_coded *out);

/* Writes what the kinds of the hints say of column pc, op, size or insns to `to`. */
void cf_kinds_column(const struct cf_kinds *k, unsigned column, const uint32_t *hint, size_t rows,
                     void *to);

/* Encodes the columns of one frame of up to CF_FILE_ROWS rows for a file. Columns of the table
   access that repeat enough are packed together, which may add a column CF_CODE to the result; the
   rest goes as the smallest of constant and the zstd codecs. `hint` as in cf_writer_rows(), or
   NULL; `kinds` is needed where a column's values are CF_BY_KIND. `blob_bytes` is the length of the
   frame's blob column, if it has one. out[i].type is that of a column that cf_columns.h does not
   list. The result, at most count + 1 columns, stays in the encoder until the next call; returns
   their number, -1 without memory or when the type of a column is not known. */
int cf_encoder_frame(struct cf_encoder *e, unsigned table, size_t rows,
                     const struct cf_values *columns, unsigned count, const uint32_t *hint,
                     const struct cf_kinds *kinds, size_t blob_bytes, struct cf_coded *out);

/* Compresses a column in CF_BYCODE that a pipe left as it was: the data stay in the encoder until
   the next call. One that is compressed, or damaged, stays as it is. -1 without memory. */
int cf_encoder_by_code(struct cf_encoder *e, struct cf_coded *c);

/* Writes `rows` values of `width` bytes (1, 2, 4, 8), all the same. */
void cf_fill(void *to, unsigned width, size_t rows, uint64_t value);

struct cf_decoder;

struct cf_decoder *cf_decoder_new(void);
void cf_decoder_free(struct cf_decoder *d);
/* Bytes of memory that it holds. */
size_t cf_decoder_memory(const struct cf_decoder *d);

/* Takes the columns of one frame, whose bytes must stay until the next call. Decodes nothing yet.
 */
void cf_decoder_frame(struct cf_decoder *d, size_t rows, const struct cf_coded *columns,
                      unsigned count);

/* From now on columns are those of at most `most` rows from row `first`; returns how many there
   are. Pieces of a frame go forward only. All of a column is checked when it is first asked for:
   where a column of one piece was valid, that of a later one is too, given the memory. */
size_t cf_decoder_piece(struct cf_decoder *d, size_t first, size_t most);

/* Values of the i-th column (a blob: its bytes, with the length in *blob_bytes when not NULL),
   decoded at the first call; valid until the next cf_decoder_piece() or cf_decoder_frame(). Aligned
   for its type where the encoded data is aligned to 8 bytes. NULL when the bytes are no valid
   encoding or memory is missing: see cf_decoder_problem(). */
const void *cf_decoder_column(struct cf_decoder *d, unsigned i, size_t *blob_bytes);
/* Of a column that states its values once a code rather than once a row: these values, as many as
   *count. *fresh: none of the frame's rows of it were asked for, nor these values, so that they may
   still be replaced. NULL of other columns, and where cf_decoder_column() is NULL too. */
void *cf_decoder_of_codes(struct cf_decoder *d, unsigned i, size_t *count, bool *fresh);
/* The code of each row at hand, and how many codes there are: NULL of a frame without, or where it
   is damaged, which *damaged says. */
const uint16_t *cf_decoder_codes(struct cf_decoder *d, uint32_t *count, bool *damaged);
const char *cf_decoder_problem(const struct cf_decoder *d);

/* The kinds of a frame's rows and the pc of each (see cf_frame_kinds()): 1, 0 where the frame does
   not state them so, -1 where it is damaged. */
int cf_decoder_kinds(struct cf_decoder *d, struct cf_row_kinds *k);
/* What rows in stretches are made of, without operations and sizes: 1, 0 of a frame without, -1
   where it is damaged. */
int cf_decoder_stretched(struct cf_decoder *d, struct cf_stretched *s);
/* One value a kind becomes one of `width` bytes a row. After cf_decoder_kinds(). -1 without memory.
 */
int cf_decoder_spread(struct cf_decoder *d, const uint64_t *values, unsigned width, void *out);

/* The problem where memory is missing. */
extern const char cf_no_memory[];

#endif
