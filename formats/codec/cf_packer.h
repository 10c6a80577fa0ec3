/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_packer.h - private to the packer of accesses: what cf_pack.c finds out about the rows of a
 * frame and cf_pack_addresses.c uses to predict their addresses.
 */
#ifndef CF_PACKER_H
#define CF_PACKER_H

#include "cf_pack.h"

enum {
    CF_ROWS_ROOM = CF_FILE_ROWS + 64,   /* so that whole blocks may be written */
    CF_CODES_ROOM = CF_MAX_CODES + 265, /* no multiple of 4096, or stores to one array delay loads
                                           of the same place in another */
    CF_AHEAD = 768,                     /* rows by which memory is fetched before it is used */
    CF_SLOTS = 1 << 17,                 /* of the table that finds tuples, twice the most kinds */
};

/* What is known about a hint. */
struct cf_pack_ident {
    uint32_t stamp; /* frame in which kind was set */
    uint32_t kind;
};

struct cf_pack_student; /* what is learned about a kind */

struct cf_packer {
    size_t rows;
    uint32_t frame;
    const uint32_t *hint;
    const struct cf_kinds *known; /* of the hints, or NULL */
    uint32_t codes, kinds;
    bool timed;
    struct cf_pack_ident *ident;
    size_t ident_room;
    size_t lengths_used, gaps_used, values_used;
    size_t tokens;
    struct cf_pack_student *student;

    /* What follows is written before it is read, and not cleared. */
    uint16_t slot[CF_SLOTS]; /* without hints: kind + 1 of a tuple, 0 = free */

    /* of each code */
    uint64_t step[CF_CODES_ROOM];
    uint16_t next[CF_CODES_ROOM]; /* next code of the same kind */
    uint16_t kind[CF_CODES_ROOM];
    uint32_t where[CF_CODES_ROOM]; /* row where it last ended a run */
    struct cf_info info[CF_CODES_ROOM];

    /* of each kind */
    struct cf_row_kind tuple[CF_CODES_ROOM]; /* without hints */
    uint16_t head[CF_CODES_ROOM];            /* newest code of this kind */
    uint32_t first_row[CF_CODES_ROOM];
    uint64_t last[CF_CODES_ROOM]; /* address */
    uint64_t difference[CF_CODES_ROOM];
    uint32_t misses[CF_CODES_ROOM];
    uint16_t ref[CF_CODES_ROOM];
    uint8_t times[CF_CODES_ROOM];
    uint8_t flags[CF_CODES_ROOM];
    uint16_t student_of[CF_CODES_ROOM];

    uint16_t code[CF_ROWS_ROOM]; /* of each row */
    uint8_t lengths[CF_ROWS_ROOM * 3 + 4];
    uint16_t token[CF_ROWS_ROOM];
    uint8_t gap[CF_ROWS_ROOM + 64];
    uint8_t value[CF_ROWS_ROOM * 8 + 8];
    uint64_t table[CF_CODES_ROOM]; /* one value a kind or code, of any width */
};

#endif
