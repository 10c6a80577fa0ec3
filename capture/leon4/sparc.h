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

enum sparc_kind {
    SPARC_PLAIN,   /* writes no integer register */
    SPARC_ALU,     /* writes rd, and the operation is in `alu` */
    SPARC_RESULT,  /* writes rd with what cannot be computed here */
    SPARC_SETHI,   /* rd = value */
    SPARC_MEMORY,  /* load, store or both, of `size` bytes */
    SPARC_SAVE,    /* rd of the new window = sum of the operands in the old one */
    SPARC_RESTORE, /* the same the other way */
    SPARC_RDPSR,
    SPARC_WRPSR,   /* the last that the next instruction in memory always follows */
    SPARC_BRANCH,  /* to `value`, see SPARC_ALWAYS and the like */
    SPARC_CALL,    /* to `value` */
    SPARC_JMPL,    /* to the sum of the operands */
    SPARC_RETT,    /* the same, and leaves the window of a trap */
    SPARC_UNKNOWN, /* not a V8 instruction, or text that is not understood */
};

enum sparc_flag {
    SPARC_IMMEDIATE = 1, /* the second operand is simm, not r[rs2] */
    SPARC_LOADS = 2,
    SPARC_STORES = 4,
    SPARC_INTEGER = 8,    /* rd of a memory access is an integer register */
    SPARC_SIGNED = 16,    /* a narrow load extends the sign */
    SPARC_ALTERNATE = 32, /* names an address space: `asi` */
    SPARC_ANNUL = 64,
    SPARC_TARGET = 128, /* `value` is the target of a branch or call */
};

/* Which way a branch goes. */
enum sparc_way { SPARC_EITHER, SPARC_ALWAYS, SPARC_NEVER };

enum sparc_alu {
    SPARC_ADD,
    SPARC_SUB,
    SPARC_AND,
    SPARC_OR,
    SPARC_XOR,
    SPARC_ANDN,
    SPARC_ORN,
    SPARC_XNOR,
    SPARC_SLL,
    SPARC_SRL,
    SPARC_SRA,
    SPARC_MUL, /* the lower 32 bits, which are the same signed and unsigned */
};

struct sparc_insn {
    uint8_t kind;  /* enum sparc_kind */
    uint8_t flags; /* enum sparc_flag */
    uint8_t rd, rs1, rs2;
    uint8_t size; /* bytes accessed */
    uint8_t alu;  /* enum sparc_alu */
    uint8_t way;  /* enum sparc_way */
    uint8_t asi;
    uint32_t simm;  /* sign extended */
    uint32_t value; /* of SETHI; target of branch and call */
};

/* CASA: as no other access to an address space, it has an immediate operand here, which is 0; rs2
   holds what is compared. */
static inline int sparc_compares(const struct sparc_insn *n)
{
    const unsigned mark = SPARC_LOADS | SPARC_STORES | SPARC_ALTERNATE | SPARC_IMMEDIATE;

    return (n->flags & mark) == mark;
}

/* Decodes the instruction word at address pc. */
void sparc_decode(uint32_t word, uint32_t pc, struct sparc_insn *insn);

/* Decodes text as monitors and disassemblers print it, such as "ld  [%g1 + 0x10], %o0": `length`
   bytes, without the blanks around it. Targets of branches that are not numbers stay unknown. */
void sparc_parse(const char *text, size_t length, struct sparc_insn *insn);

#endif
