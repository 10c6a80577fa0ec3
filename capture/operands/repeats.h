/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repeats.h - what decoding says to evaluation. See operands.h.
 */
#ifndef CF_OPERANDS_REPEATS_H
#define CF_OPERANDS_REPEATS_H

enum { OPERANDS_NEXT = -2 }; /* base: address of the next instruction */

enum { /* struct cf_operand, extended */
       OPERANDS_ALL_BITS,
       OPERANDS_LOW_HALF,
       OPERANDS_SIGNED_HALF,
};

enum { /* struct cf_operands, repeats */
       OPERANDS_ONCE,
       OPERANDS_COUNTED,      /* rcx times */
       OPERANDS_ONCE_OR_MORE, /* as long as elements compare, at most rcx times */
};

#endif
