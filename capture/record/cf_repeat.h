/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_repeat.h - the accesses of a repeated string instruction (rep movs, rep stos), joined as a
 * processor does it: "Fast-String Operation", Intel 64 and IA-32 Architectures Software Developer's
 * Manual, volume 1, 7.3.9.3. Successive elements become one access, up to the end of an aligned
 * piece of CF_REPEAT_BYTES. Elements stay as they are where they go downwards, where one reaches
 * into the next piece by itself, and where the destination begins less than a line behind the
 * source, so that what was stored is loaded again.
 *
 * A joined load stands where its first element was, a joined store where its last one was: so what
 * is stored was loaded before.
 */
#ifndef CF_REPEAT_H
#define CF_REPEAT_H

#include <stdint.h>

enum {
    CF_REPEAT_BYTES = 32,   /* what a load or store port moves at once, since Haswell and Zen 2 */
    CF_REPEAT_OVERLAP = 64, /* a line */
    CF_REPEAT_WAIT = 3,
    CF_REPEAT_MOST = 2 * (CF_REPEAT_WAIT + 2), /* pieces at a time */
};

enum { CF_REPEAT_PLAIN = 1, CF_REPEAT_JOINED = 2 };

/* What an instruction of x86 is: CF_REPEAT_JOINED, a repeated movs or stos; CF_REPEAT_PLAIN,
 * another string instruction that repeats itself, whose elements no processor joins; 0, any other.
 */
static inline unsigned cf_repeat_kind(const uint8_t *code, unsigned length)
{
    int repeats = 0;

    for (; length > 1; code++, length--)
        if (*code == 0xf2 || *code == 0xf3)
            repeats = 1;
        else if (*code != 0x66 && *code != 0x67 && (*code & 0xf0) != 0x40)
            return 0;
    if (!repeats || !length)
        return 0;
    switch (*code & 0xfe) {
    case 0xa4: /* movs */
    case 0xaa: /* stos */
        return CF_REPEAT_JOINED;
    case 0xa6: /* cmps */
    case 0xac: /* lods */
    case 0xae: /* scas */
        return CF_REPEAT_PLAIN;
    default:
        return 0;
    }
}

struct cf_repeat_piece {
    uint64_t addr;
    uint8_t bytes, store;
};

/* One execution of the instruction; all zero before it begins. */
struct cf_repeat {
    struct cf_repeat_piece load, store;           /* that may yet grow; bytes 0: none */
    struct cf_repeat_piece ready[CF_REPEAT_WAIT]; /* stores that wait for the load before them */
    uint64_t from;                                /* the last element that was loaded, if any */
    uint8_t waiting, loads, apart;
};

/* Takes in an element of up to 64 bytes. Puts finished accesses into out[CF_REPEAT_MOST], in their
 * order; returns how many. */
unsigned cf_repeat_add(struct cf_repeat *r, int store, uint64_t addr, unsigned bytes,
                       struct cf_repeat_piece *out);

/* The instruction has ended, or is interrupted: the rest, in the same way. */
unsigned cf_repeat_end(struct cf_repeat *r, struct cf_repeat_piece *out);

#endif
