/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operands.h - the memory that an instruction accesses, from its bytes and the registers before it
 * runs: x86-64 in 64-bit mode, decoded by Zydis; AArch64 without SVE and SME by a decoder of our
 * own: its loads and stores are one group of regular encodings, of which Capstone 4 leaves out the
 * atomics and misstates what pairs, exclusives and structures access, and how much.
 */
#ifndef CF_OPERANDS_H
#define CF_OPERANDS_H

#include <stddef.h>
#include <stdint.h>

enum {
    CF_OPERANDS_BYTES = 15,   /* of an instruction, at most */
    CF_OPERANDS_GENERAL = 32, /* registers */
    CF_OPERANDS_MOST = 34,    /* accesses of an instruction, at most: scatters of 16 and more */
    CF_OPERANDS_PLACES = 4,   /* operands in memory */
};

/* Registers by their numbers in instructions: 0 rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, 8 r8 to
   r15; of AArch64 x0 to x30 and sp. `vector` and `mask` are NULL, `zeroed` and `pointer_bits` 0,
   where they are not known; what needs them is then refused. */
struct cf_operands_state {
    uint64_t general[CF_OPERANDS_GENERAL];
    uint64_t pc, flags;
    uint64_t fs_base, gs_base;
    uint32_t zeroed;       /* AArch64: bytes of a block that dc zva clears, a power of two */
    uint32_t pointer_bits; /* AArch64: of a user address, without authentication code and tag */
    const uint8_t (*vector)[64]; /* 32: xmm, ymm or zmm of each number, the lowest byte first */
    const uint64_t *mask;        /* 8: k0 to k7 */
};

/* What an instruction needs beside general registers. */
enum cf_operands_needs {
    CF_OPERANDS_SEGMENT = 1,
    CF_OPERANDS_VECTOR = 2,
    CF_OPERANDS_ZEROED = 4,
    CF_OPERANDS_POINTER = 8,  /* pointer_bits */
    CF_OPERANDS_MONITOR = 16, /* an exclusive, not to be stopped at: its store would always fail */
};

/* Address bits of AArch64 under Linux: the top byte is a tag (DDI 0487, D8, "Address tagging"). */
enum { CF_OPERANDS_TAGGED = 56 };

struct cf_access {
    uint64_t addr;
    uint32_t size; /* bytes */
    uint8_t op;    /* enum cf_op */
};

struct cf_operand {
    uint64_t displacement;
    int8_t base, index;    /* register number, -1 none; base -2: the next instruction */
    uint8_t scale;         /* of the index */
    uint8_t extended;      /* enum: which bits of the index count */
    uint8_t segment;       /* 0, 1 fs, 2 gs */
    uint8_t loads, stores; /* 1: it does */
    uint8_t op;            /* instead of these: prefetch or flush, or 0 */
    uint8_t element;       /* bytes of an element that a mask chooses, a lane gathers */
    uint8_t index_bytes;   /* of an index in a vector; 0: the index is a general register */
    uint8_t lanes;         /* elements */
    int8_t bit;            /* number of the register that holds a bit's number, or -1 */
    uint32_t size;         /* bytes */
};

/* A decoded instruction. */
struct cf_operands {
    uint8_t length, needs; /* bytes; enum cf_operands_needs */
    uint8_t places;        /* operands in memory */
    uint8_t address_bits;  /* 64, 32 or CF_OPERANDS_TAGGED */
    uint8_t repeats;       /* enum: how often a string instruction runs */
    int8_t mask;           /* number of the mask: k1 to k7, or of a vector register, or -1 */
    uint8_t mask_is_vector;
    uint8_t packed; /* the elements that the mask chooses lie side by side */
    struct cf_operand place[CF_OPERANDS_PLACES];
};

/* Decodes the instruction at `code`: 0, or -1 where it is none that is known, or cut off. What
   accesses no memory is known by its group alone in AArch64. Not known there are accesses of SVE
   and SME, of memory's tags alone, copies and fills by one instruction, 64 bytes of devices. */
int cf_operands_decode_x86(struct cf_operands *o, const uint8_t *code, size_t length);
int cf_operands_decode_arm64(struct cf_operands *o, const uint8_t *code, size_t length);

/* Of this machine; -1 on those of other architectures. */
static inline int cf_operands_decode(struct cf_operands *o, const uint8_t *code, size_t length)
{
#if defined(__x86_64__)
    return cf_operands_decode_x86(o, code, length);
#elif defined(__aarch64__)
    return cf_operands_decode_arm64(o, code, length);
#else
    (void)o, (void)code, (void)length;
    return -1;
#endif
}

/* Its accesses, loads before stores, at most CF_OPERANDS_MOST; -1 where the state lacks registers
   that it needs. A string instruction with a prefix is one access of all that it may touch, as one
   that compares is of its first element. Several registers of AArch64 are an access each. A
   compare-and-swap, and a store-exclusive, counts as if it had stored. */
int cf_operands_accesses(const struct cf_operands *o, const struct cf_operands_state *s,
                         struct cf_access *access);

#endif
