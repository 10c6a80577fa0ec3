/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registers.h - the registers of one SPARC V8 processor, as far as its trace shows them.
 *
 * The trace shows what most instructions write. From that follows what the registers hold, and from
 * that the addresses of loads, which the trace does not show. A register is known or not; nothing
 * is guessed, and when the trace contradicts what is held (lost entries, another number of
 * windows), everything is forgotten.
 */
#ifndef LEON4_REGISTERS_H
#define LEON4_REGISTERS_H

#include "capture/leon4/sparc.h"

#define CF_REGISTERS_KNOWN (1ULL << 32) /* bit 32 of a value: its lower 32 bits are known */

#define CF_REGISTERS_NO_STORE (1ULL << 33) /* a compare and swap that found another value */

enum { CF_REGISTERS_MOST_WINDOWS = 32, CF_REGISTERS_PATHS = 4 };

/* What the word that the trace has beside a store is. */
enum cf_registers_store {
    CF_REGISTERS_STORE_AUTO,
    CF_REGISTERS_STORE_ADDRESS,
    CF_REGISTERS_STORE_DATA
};
/* Which of several words is shown, or meant. */
enum cf_registers_word { CF_REGISTERS_NONE, CF_REGISTERS_FIRST, CF_REGISTERS_LAST };

struct cf_registers_options {
    unsigned windows; /* 2 to 32 */
    enum cf_registers_store store;
    enum cf_registers_word atomic; /* of the words of an atomic access, what was loaded */
    enum cf_registers_word pair;   /* of a loaded double word, the one that stands alone */
    int alone;                     /* no other master writes to memory */
    uint8_t memory_asi[256 / 8];   /* address spaces that are memory, a bit each */
};

struct cf_registers_counts {
    uint64_t contradictions; /* a result that differs from what the registers give */
    uint64_t gaps;           /* an instruction that cannot follow the one before */
    uint64_t narrow;         /* a byte or half word loaded that is no such */
    uint64_t learned;        /* registers that followed from a result or address */
};

/* An instruction as the trace shows it. */
struct cf_registers_entry {
    const struct cf_sparc_insn *insn;
    uint32_t pc;
    uint32_t word[4]; /* results, in their order */
    uint8_t words;
    uint8_t trapped; /* it was not executed, and a trap was taken */
};

struct cf_registers_memory; /* shared by the processors of a trace */

struct cf_registers {
    struct cf_registers_memory *memory;
    struct cf_registers_options o;
    struct cf_registers_counts counts;
    uint64_t global[8];
    uint64_t
        window[16 * CF_REGISTERS_MOST_WINDOWS]; /* outs and locals of each; ins are the outs of the
                                                  next one */
    unsigned cwp;                               /* in our own count */
    int absolute;                               /* CWP as the processor counts, -1 unknown */
    int votes;                                  /* single words of stores: + addresses, - data */
    struct {
        uint32_t pc, npc;
    } path[CF_REGISTERS_PATHS]; /* where the program can be: see registers_flow.c */
    unsigned paths;
};

void cf_registers_begin(struct cf_registers *r, const struct cf_registers_options *o,
                        struct cf_registers_memory *m);

/* Takes one instruction in. Returns the address of its memory access with CF_REGISTERS_KNOWN, or
   without that bit when the address is not known, and perhaps with CF_REGISTERS_NO_STORE; 0 for
   other instructions. */
uint64_t cf_registers_step(struct cf_registers *r, const struct cf_registers_entry *e);

/* Whether the instruction accesses an address space that is not memory. */
static inline int cf_registers_elsewhere(const struct cf_registers_options *o,
                                         const struct cf_sparc_insn *n)
{
    return n->flags & CF_SPARC_ALTERNATE && !(o->memory_asi[n->asi / 8] >> n->asi % 8 & 1);
}

/* Nothing is known any more. */
void cf_registers_forget(struct cf_registers *r);

/* registers_memory.c: words of memory. NULL without memory; free() frees it. */
struct cf_registers_memory *cf_registers_memory_new(void);
/* The word that holds the byte at `address`, with CF_REGISTERS_KNOWN if it is known. */
uint64_t cf_registers_recall(const struct cf_registers_memory *m, uint32_t address);
/* `size` bytes, 1, 2 or 4, at `address` are `value`, or no longer known. */
void cf_registers_remember(struct cf_registers_memory *m, uint32_t address, uint64_t value,
                           unsigned size);
void cf_registers_forget_memory(struct cf_registers_memory *m);

/* registers_flow.c: whether the instruction can follow those before. `target` is where JMPL or RETT
   go, with CF_REGISTERS_KNOWN, else 0. */
int cf_registers_follows(struct cf_registers *r, const struct cf_registers_entry *e,
                         uint64_t target);

#endif
