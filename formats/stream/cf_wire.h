/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_wire.h - private to libcf: the fixed parts of a stream as bytes (cf-stream(5), "LAYOUT"), and
 * what reader and writer share.
 *
 * Segment head, 32 bytes: magic 8, version u16, zero u16, YAML bytes u32, zero u64, XXH3 u64 of
 * the 24 bytes before it and the YAML padded to 8. The padded YAML follows.
 * Frame head, 40 bytes: magic u32, frame bytes u32, table u16, columns u16, rows u32, first u64,
 * last u64, XXH3 u64 of the 32 bytes before it and the descriptors, which follow, 24 bytes each:
 * id u16, type u8, codec u8, bytes u32, base u64, XXH3 u64 of the padded payload. Then the
 * payloads, each padded with zeros to 8.
 */
#ifndef CF_WIRE_H
#define CF_WIRE_H

#include <string.h>

#define XXH_STATIC_LINKING_ONLY /* for a hash state on the stack */
#include <xxhash.h>

#include "cf.h"
#include "formats/base/cf_strings.h"
#include "formats/codec/cf_codec.h"

/* What the weights of accesses may add up to: so a sum of them fits into 64 bits, and one of bytes
   or cycles of up to 4,096 an access. All accesses of 64 cores in a day are about as many. */
#define CF_WEIGHTS_MOST ((uint64_t)1 << 52)

enum {
    CF_SEGMENT_HEAD = 32,
    CF_FRAME_SUM = 32, /* of the checksum, which ends the head */
    CF_FRAME_HEAD = 40,
    CF_DESCRIPTOR = 24,
    CF_TRAILER_BYTES = 32,
    CF_TRAILER_WANTING = 1, /* a bit of its third number */
    CF_STREAM_VERSION = 1,
    CF_CHAIN_SHIFT = 24, /* of the writer's place in the chain in a string id */
    CF_CHAIN_MOST = 255,
};

#define CF_SEGMENT_MAGIC                                                                           \
    "\x89"                                                                                         \
    "CFL\r\n\x1a\n"
#define CF_FRAME_MAGIC   "CFfr"
#define CF_TRAILER_MAGIC "CFend\r\n\x1a"

static inline void cf_put16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void cf_put32(uint8_t *p, uint32_t v)
{
    cf_put16(p, (uint16_t)v);
    cf_put16(p + 2, (uint16_t)(v >> 16));
}

static inline void cf_put64(uint8_t *p, uint64_t v)
{
    cf_put32(p, (uint32_t)v);
    cf_put32(p + 4, (uint32_t)(v >> 32));
}

static inline uint16_t cf_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t cf_get32(const uint8_t *p)
{
    return cf_get16(p) | (uint32_t)cf_get16(p + 2) << 16;
}

static inline uint64_t cf_get64(const uint8_t *p)
{
    return cf_get32(p) | (uint64_t)cf_get32(p + 4) << 32;
}

static inline size_t cf_pad8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* By AVX2 or AVX-512, three times as fast as XXH3_64bits(), which is of SSE2. Weak, since neither
   the static library has it nor that of other processors. */
XXH64_hash_t XXH3_64bits_dispatch(const void *data, size_t bytes) __attribute__((weak));
XXH_errorcode XXH3_64bits_update_dispatch(XXH3_state_t *sum, const void *data, size_t bytes)
    __attribute__((weak));

/* The checksum of a column's bytes. */
static inline uint64_t cf_checksum(const void *data, size_t bytes)
{
    return XXH3_64bits_dispatch ? XXH3_64bits_dispatch(data, bytes) : XXH3_64bits(data, bytes);
}

/* The same in parts. */
static inline void cf_checksum_add(XXH3_state_t *sum, const void *data, size_t bytes)
{
    if (XXH3_64bits_update_dispatch)
        XXH3_64bits_update_dispatch(sum, data, bytes);
    else
        XXH3_64bits_update(sum, data, bytes);
}

/* Where a frame stands: bytes from the start of its segment (in a reader: of its input). */
struct cf_index_entry {
    uint64_t offset, first, last;
    uint32_t table, rows;
};

/* Parses the YAML of a header into `h`, which takes over a copy. 0; -1 with a message, or -2
   without memory. */
int cf_header_parse(struct cf_header *h, const char *yaml, size_t bytes, char *problem,
                    size_t size);
void cf_header_clear(struct cf_header *h);

/* What takes the place of what a document states; NULL: nothing does. */
struct cf_edits {
    const struct cf_facts *facts;
    const char *command, *clock_unit;
    uint64_t clock_hz; /* 0: not stated */
};

/* New YAML: of `h` without chain (from == NULL), or that of `from`; with the edits, which may be
   NULL, and with `program` at the end of its chain. malloced; NULL without memory. */
char *cf_header_text(const struct cf_header *h, const struct cf_header *from,
                     const struct cf_edits *edits, const char *program, size_t *bytes);

/* Appends a copy. -1 without memory. */
int cf_facts_add(struct cf_facts *l, const char *column, const char *key, const char *value,
                 int number);
/* Appends to `all` what is in `new`, and of `old` the facts of other columns. -1 without memory. */
int cf_facts_join(struct cf_facts *all, const struct cf_facts *old, const struct cf_facts *new);
void cf_facts_clear(struct cf_facts *l);
/* Takes out a column's fact `key`; all of the column where that is NULL. */
void cf_facts_drop(struct cf_facts *l, const char *column, const char *key);
/* Why the list cannot take such a fact: what is wrong, or NULL. */
const char *cf_facts_refuse(const struct cf_facts *l, const char *column, const char *key);

/* Values of the i-th column of a frame as its type, decoded if need be; no unified ids. NULL when
   they do not decode. For the writer. */
const void *cf_frame_decode(const struct cf_frame *f, unsigned i, size_t *blob_bytes);
/* Reports to the reader that cf_frame_decode() found the i-th column damaged. */
void cf_frame_damaged(const struct cf_frame *f, unsigned i);
int cf_reader_unified(const struct cf_reader *r);
/* Whether a column is decoded by the column of codes that stands beside it. */
static inline int is_by_code(unsigned codec)
{
    return (codec >= CF_BYCODE && codec <= CF_PREDICT) || codec == CF_PAGES || codec == CF_LIKE ||
           codec == CF_CLOCK || codec == CF_ADDRESSES;
}

/* Whether the columns that came packed together, and stayed as they came, have what they are
   decoded by: the codes, and addresses the pc that they may begin at. */
int cf_frame_intact(const struct cf_frame *f);

#endif
