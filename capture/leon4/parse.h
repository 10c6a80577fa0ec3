/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parse.h - between the two parts of the parser of instruction text: operands, and what a mnemonic
 * makes of them.
 */
#ifndef LEON4_PARSE_H
#define LEON4_PARSE_H

#include "capture/leon4/sparc.h"

enum operand_kind { NONE, REGISTER, NUMBER, ADDRESS, FLOATING, STATE, TEXT };
enum { Y_STATE, PSR_STATE, OTHER_STATE };

struct operand {
    uint8_t kind;
    uint8_t reg;     /* of REGISTER and FLOATING; of STATE which */
    uint8_t index;   /* second register of a sum */
    uint8_t has_imm; /* of ADDRESS and sums: `value` counts, not `index` */
    uint8_t asi;
    uint8_t has_asi;
    uint8_t is_sum; /* REGISTER + something without brackets, as in jmpl */
    uint32_t value;
};

/* What the mnemonic, n bytes of `name`, does with its operands, of which there are at most three.
   `annul`: ",a" stood behind it. 0 when it is none, or these are not its operands; *i is then of no
   use. */
int cf_sparc_mnemonic(const char *name, size_t n, int annul, const struct operand *o,
                      unsigned count, struct cf_sparc_insn *i);

#endif
