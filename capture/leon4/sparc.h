/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sparc.h - SPARC V8 instructions, as far as a replay of registers and memory accesses needs them.
 *
 * Source: The SPARC Architecture Manual, Version 8, chapter 5 (formats) and appendix B (the
 * instructions); MAC and CASA as the LEON processors have them.
 */
#ifndef LEON4_SPARC_H
#define LEON4_SPARC_H

#include <stddef.h>
#include <stdint.h>

enum cf_sparc_kind {
    CF_SPARC_PLAIN,   /* writes no integer register */
    CF_SPARC_ALU,     /* writes rd, and the operation is in `alu` */
    CF_SPARC_RESULT,  /* writes rd with what cannot be computed here */
    CF_SPARC_SETHI,   /* rd = value */
    CF_SPARC_MEMORY,  /* load, store or both, of `size` bytes */
    CF_SPARC_SAVE,    /* rd of the new window = sum of the operands in the old one */
    CF_SPARC_RESTORE, /* the same the other way */
    CF_SPARC_RDPSR,
    CF_SPARC_WRPSR,   /* the last that the next instruction in memory always follows */
    CF_SPARC_BRANCH,  /* to `value`, see CF_SPARC_ALWAYS and the like */
    CF_SPARC_CALL,    /* to `value` */
    CF_SPARC_JMPL,    /* to the sum of the operands */
    CF_SPARC_RETT,    /* the same, and leaves the window of a trap */
    CF_SPARC_UNKNOWN, /* not a V8 instruction, or text that is not understood */
};

enum cf_sparc_flag {
    CF_SPARC_IMMEDIATE = 1, /* the second operand is simm, not r[rs2] */
    CF_SPARC_LOADS = 2,
    CF_SPARC_STORES = 4,
    CF_SPARC_INTEGER = 8,    /* rd of a memory access is an integer register */
    CF_SPARC_SIGNED = 16,    /* a narrow load extends the sign */
    CF_SPARC_ALTERNATE = 32, /* names an address space: `asi` */
    CF_SPARC_ANNUL = 64,
    CF_SPARC_TARGET = 128, /* `value` is the target of a branch or call */
};

/* Which way a branch goes. */
enum cf_sparc_way { CF_SPARC_EITHER, CF_SPARC_ALWAYS, CF_SPARC_NEVER };

enum cf_sparc_alu {
    CF_SPARC_ADD,
    CF_SPARC_SUB,
    CF_SPARC_AND,
    CF_SPARC_OR,
    CF_SPARC_XOR,
    CF_SPARC_ANDN,
    CF_SPARC_ORN,
    CF_SPARC_XNOR,
    CF_SPARC_SLL,
    CF_SPARC_SRL,
    CF_SPARC_SRA,
    CF_SPARC_MUL, /* the lower 32 bits, which are the same signed and unsigned */
};

struct cf_sparc_insn {
    uint8_t kind;  /* enum cf_sparc_kind */
    uint8_t flags; /* enum cf_sparc_flag */
    uint8_t rd, rs1, rs2;
    uint8_t size; /* bytes accessed */
    uint8_t alu;  /* enum cf_sparc_alu */
    uint8_t way;  /* enum cf_sparc_way */
    uint8_t asi;
    uint32_t simm;  /* sign extended */
    uint32_t value; /* of SETHI; target of branch and call */
};

/* CASA: as no other access to an address space, it has an immediate operand here, which is 0; rs2
   holds what is compared. */
static inline int sparc_compares(const struct cf_sparc_insn *n)
{
    const unsigned mark =
        CF_SPARC_LOADS | CF_SPARC_STORES | CF_SPARC_ALTERNATE | CF_SPARC_IMMEDIATE;

    return (n->flags & mark) == mark;
}

/* Decodes the instruction word at address pc. */
void cf_sparc_decode(uint32_t word, uint32_t pc, struct cf_sparc_insn *insn);

/* Decodes text as monitors and disassemblers print it, such as "ld  [%g1 + 0x10], %o0": `length`
   bytes, without the blanks around it. Targets of branches that are not numbers stay unknown. */
void cf_sparc_parse(const char *text, size_t length, struct cf_sparc_insn *insn);

#endif
