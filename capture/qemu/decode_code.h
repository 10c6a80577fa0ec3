/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_code.h - what the plugin has told of the code: instructions, each known once by address
 * and length, and translation blocks as lists of them; and for each what its accesses and runs have
 * in common (a kind of the writer's).
 */
#ifndef CF_QEMU_DECODE_CODE_H
#define CF_QEMU_DECODE_CODE_H

#include <stdint.h>

#include "formats/stream/cf.h"
#include "protocol.h"

struct code_insn {
    uint64_t pc;
    uint32_t hint[CFQ_KINDS]; /* kinds of its accesses, 0: not yet seen, or to be joined */
    uint16_t bytes;
    uint8_t repeats, joined; /* a string instruction: see CFQ_REPEATS and CFQ_JOINED */
};

struct code_block {
    uint32_t first;     /* of its instructions in `list` */
    uint16_t insns;     /* 0: not described */
    uint16_t crossings; /* instructions that begin or reach into another fetch line than the one
                           before; in `list` behind the instructions */
    uint32_t run;       /* kind of the run of all its instructions, 0: not yet seen */
};

struct code_run {
    uint64_t key; /* number of its first instruction + 1, << 16 | instructions; 0: empty. Also
                     joined accesses: CODE_PIECE | bytes << 1 | store for the instructions */
    uint32_t hint;
};

/* In a list of crossings: the instruction does not follow the one before it in memory. */
#define CODE_APART (UINT32_C(1) << 31)

struct code {
    struct code_insn *insn;
    uint32_t insns, insn_room;
    uint32_t *table; /* of instructions by pc, open addressing; 0: empty, else number + 1 */
    uint32_t table_size;
    struct code_block *block;
    uint32_t blocks;    /* room for so many, */
    uint64_t described; /* and how many are */
    uint32_t *list;
    uint32_t list_used, list_room;
    struct code_run *run;
    uint32_t run_size, runs;
    uint32_t hints; /* given so far */
    uint32_t fetch_line;
    struct cf_writer *writer;
};

enum { CODE_PIECE = 0x8000 };

enum { CODE_BAD = -1, CODE_MEMORY = -2 };

/* Takes in a description: `words` words from behind the event's first. 0, CODE_BAD, CODE_MEMORY. */
int code_describe(struct code *c, const uint64_t *words, uint32_t count);

/* The kind of an access of `kind` (CFQ_KIND_STORE | log2 of the bytes); 0 on failure of the
   writer. */
uint32_t code_new_hint(struct code *c, uint32_t insn, unsigned kind);

/* The kind of a run of `count` instructions of the block from its `from`-th; 0 on failure. */
uint32_t code_run_hint(struct code *c, struct code_block *b, unsigned from, unsigned count,
                       uint64_t *pc);

/* The kind of joined accesses of an instruction; 0 on failure. */
uint32_t code_piece_hint(struct code *c, uint32_t insn, int store, uint32_t bytes);

void code_free(struct code *c);

#endif
