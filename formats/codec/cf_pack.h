/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_pack.h - what the files of the codec share; private to the stream library.
 *
 * A packed frame of accesses has three alphabets. A kind is a distinct (pc, op, size, insns); a
 * code is a kind with a distinct time step to the row before; a row is a code. All are numbered by
 * first occurrence. cf_pack.c finds them, cf_unpack.c turns them back.
 */
#ifndef CF_PACK_H
#define CF_PACK_H

#include <stdbool.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "cf_codec.h"
#include "formats/cpu/cf_cpu.h"
#include "formats/base/cf_memory.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the codecs copy values as they are in memory, which must be little-endian"
#endif

enum {
    CF_AT_PC = 1,         /* flag of a kind: its address starts out as its pc */
    CF_RECENT = 8,        /* first addresses that the next one may refer to */
    CF_DIFFERENCES = 128, /* flag of a table: it holds differences */
    CF_SKIP = 31,         /* gap in a token of CF_PREDICT that says: no miss, more rows */
};

/* What is known of a code: its kind, and how its address is predicted. */
struct cf_info {
    uint16_t kind, ref;
    uint32_t times;
};

/* What cf_encode_wire() does when *out is raw: another codec if one fits. */
typedef void cf_pipe_encoder(unsigned width, const void *values, size_t rows, void *scratch,
                             struct cf_coded *out);
CF_SIMD_CODE(cf_pipe_encoder, cf_encode_pipe);

/* out[i] is put together from in[i] as its lowest byte, in[stride + i], in[2 * stride + i], ... */
void cf_from_planes_32(const uint8_t *in, size_t stride, size_t n, uint32_t *out);
/* of `planes` planes, 0 to 8; bytes above are 0 */
void cf_from_planes_64(const uint8_t *in, size_t stride, size_t n, unsigned planes, uint64_t *out);

/* M(type, bits) for each width that values have; and what M made of them, name_8() to name_64(). */
#define CF_WIDTHS(M) M(uint8_t, 8) M(uint16_t, 16) M(uint32_t, 32) M(uint64_t, 64)
#define CF_OF_WIDTH(name, width, ...)                                                              \
    ((width) == 1   ? name##_8(__VA_ARGS__)                                                        \
     : (width) == 2 ? name##_16(__VA_ARGS__)                                                       \
     : (width) == 4 ? name##_32(__VA_ARGS__)                                                       \
                    : name##_64(__VA_ARGS__))

static inline uint64_t cf_zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t cf_unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

static inline uint64_t cf_load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* Bytes that a value needs beside its first. */
static inline unsigned cf_more_bytes(uint64_t v)
{
    return (63u - (unsigned)__builtin_clzll(v | 1)) / 8;
}

static inline uint8_t *cf_put_varint(uint8_t *p, uint64_t v)
{
    for (; v > 127; v >>= 7)
        *p++ = (uint8_t)(v | 128);
    *p++ = (uint8_t)v;
    return p;
}

/* Copies n codes to row i from row j before it; the two may overlap, then a pattern repeats. Most
   runs are short, so whole blocks are moved: CF_CODE_SLACK codes after the n may be written. */
enum { CF_CODE_SLACK = 16 };

static inline void cf_copy_codes(uint16_t *code, size_t i, size_t j, size_t n)
{
    uint16_t *to = code + i, *end = to + n;
    const uint16_t *from = code + j;
    if (i - j >= 16)
        for (; to < end; to += 16, from += 16)
            memcpy(to, from, 32);
    else if (i - j >= 4)
        for (; to < end; to += 4, from += 4)
            memcpy(to, from, 8);
    else
        while (to < end)
            *to++ = *from++;
}

/* ---- under zstd (cf_zip.c) ---- */

/* Compressor and the space in which it prepares its input. */
struct cf_zip {
    ZSTD_CCtx *zstd;
    struct cf_bytes plain;
};

/* Appends a packet: length, length when compressed, bytes. The two lengths are equal where zstd
   did not help. -1 without memory. */
int cf_zip_packet(struct cf_zip *z, struct cf_bytes *out, const void *data,
                  size_t bytes) CF_MUST_CHECK;

/* Appends a table: a byte that says how many planes the values need and whether they are held as
   differences, then the planes as a packet. The values may be overwritten. -1 without memory. */
int cf_zip_table(struct cf_zip *z, struct cf_bytes *out, uint64_t *values, size_t n,
                 bool differences) CF_MUST_CHECK;

/* Appends n values of `width` bytes by one of CF_RAW, CF_ZSTD, CF_ZDELTA, CF_ZPLANES and
   CF_ZDPLANES; differences start from `base`. Takes CF_RAW where the codec does not help and
   returns what it took, -1 without memory. */
int cf_zip_values(struct cf_zip *z, struct cf_bytes *out, int codec, unsigned width,
                  const void *values, size_t n, uint64_t base) CF_MUST_CHECK;

/* ---- packing (cf_pack.c, cf_pack_addresses.c) ---- */

/* The columns that make a kind, and the time. NULL for what is absent, constant or CF_BY_KIND. They
   must stay until the frame is packed. */
struct cf_tuple {
    const uint64_t *time, *pc;
    const uint8_t *op;
    const uint32_t *size, *insns, *hint;
    const struct cf_kinds *kinds;
};

struct cf_packer;

struct cf_packer *cf_packer_new(void);
void cf_packer_free(struct cf_packer *p);

/* Numbers the rows of a frame. 0, or 1 when they do not repeat enough, -1 without memory. */
int cf_packer_rows(struct cf_packer *p, size_t rows, const struct cf_tuple *t) CF_MUST_CHECK;

/* Whether the codes determine the time too; if not, it is a column of its own. */
bool cf_packer_timed(const struct cf_packer *p);

/* Append the encoded form of what cf_packer_rows() found. -1 without memory. */
int cf_packer_codes(struct cf_packer *p, struct cf_zip *z, struct cf_bytes *out) CF_MUST_CHECK;
int cf_packer_steps(struct cf_packer *p, struct cf_zip *z, struct cf_bytes *out) CF_MUST_CHECK;

/* Appends one value a kind, when the column depends on the kind alone (`known`: it does). 1 when
   it does not. Where the values are CF_BY_KIND, `column` says which; then 2 when all kinds have
   the same one, and *same is that. */
int cf_packer_by_kind(struct cf_packer *p, struct cf_zip *z, struct cf_bytes *out, unsigned width,
                      const void *values, bool known, unsigned column,
                      uint64_t *same) CF_MUST_CHECK;

/* Appends predicted addresses; pc is the pc of each row, CF_BY_KIND or NULL. */
int cf_packer_addresses(struct cf_packer *p, struct cf_zip *z, struct cf_bytes *out,
                        const uint64_t *addr, const uint64_t *pc) CF_MUST_CHECK;

/* ---- packing cache lines (cf_pack_lines.c) ---- */

enum { CF_PAGE_BITS = 12 };

/* What identifies a page; NULL for what is absent or constant, but for phys or addr. */
struct cf_line_columns {
    const uint64_t *phys, *addr;
    const uint32_t *pid;
};

/* near[i]: how many rows before row i there is one of the same page, 0 for none. Returns how many
   have none. */
size_t cf_pack_near(const struct cf_line_columns *c, size_t rows, uint8_t *near);

/* Append an address column or one of 4 bytes. `space` holds rows values. -1 without memory. */
int cf_pack_pages(struct cf_zip *z, struct cf_bytes *out, const uint64_t *values,
                  const uint8_t *near, size_t rows, uint64_t *space) CF_MUST_CHECK;
int cf_pack_like(struct cf_zip *z, struct cf_bytes *out, const uint32_t *values,
                 const uint8_t *near, size_t rows, uint64_t *space) CF_MUST_CHECK;

#endif
