/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay.h - the registers of one SPARC V8 processor, as far as its instruction trace tells them.
 *
 * The trace shows what most instructions write. From that follows what the registers hold, and from
 * that the addresses of loads, which the trace does not show. A register is known or not; nothing
 * is guessed, and when the trace contradicts what is held (lost entries, another number of
 * windows), everything is forgotten.
 */
#ifndef LEON4_REPLAY_H
#define LEON4_REPLAY_H

#include "capture/leon4/sparc.h"

#define REPLAY_KNOWN (1ULL << 32) /* bit 32 of a value: its lower 32 bits are known */

#define REPLAY_NO_STORE (1ULL << 33) /* a compare and swap that found another value */

enum { REPLAY_MOST_WINDOWS = 32, REPLAY_PATHS = 4 };

/* What the word that the trace has beside a store is. */
enum replay_store { REPLAY_STORE_AUTO, REPLAY_STORE_ADDRESS, REPLAY_STORE_DATA };
/* Which of several words is shown, or meant. */
enum replay_word { REPLAY_NONE, REPLAY_FIRST, REPLAY_LAST };

struct replay_options {
    unsigned windows; /* 2 to 32 */
    enum replay_store store;
    enum replay_word atomic;     /* of the words of an atomic access, what was loaded */
    enum replay_word pair;       /* of a loaded double word, the one that stands alone */
    int alone;                   /* nobody else writes to memory */
    uint8_t memory_asi[256 / 8]; /* address spaces that are memory, a bit each */
};

struct replay_counts {
    uint64_t contradictions; /* a result that differs from what the registers give */
    uint64_t gaps;           /* an instruction that cannot follow the one before */
    uint64_t narrow;         /* a byte or half word loaded that is no such */
    uint64_t learned;        /* registers that followed from a result or address */
};

/* An instruction as the trace shows it. */
struct replay_entry {
    const struct sparc_insn *insn;
    uint32_t pc;
    uint32_t word[4]; /* results, in their order */
    uint8_t words;
    uint8_t trapped; /* it was not executed, and a trap was taken */
};

struct replay_memory; /* shared by the processors of a trace */

struct replay {
    struct replay_memory *memory;
    struct replay_options o;
    struct replay_counts counts;
    uint64_t global[8];
    uint64_t window[16 * REPLAY_MOST_WINDOWS]; /* outs and locals of each; ins are the outs of the
                                                  next one */
    unsigned cwp;                              /* in our own count */
    int absolute;                              /* CWP as the processor counts, -1 unknown */
    int votes;                                 /* single words of stores: + addresses, - data */
    struct {
        uint32_t pc, npc;
    } path[REPLAY_PATHS]; /* where the program can be: see replay_flow.c */
    unsigned paths;
};

void replay_begin(struct replay *r, const struct replay_options *o, struct replay_memory *m);

/* Takes one instruction in. Returns the address of its memory access with REPLAY_KNOWN, or without
   that bit when the address is not known, and perhaps with REPLAY_NO_STORE; 0 for other
   instructions. */
uint64_t replay_step(struct replay *r, const struct replay_entry *e);

/* Whether the instruction accesses an address space that is not memory. */
static inline int replay_elsewhere(const struct replay_options *o, const struct sparc_insn *n)
{
    return n->flags & SPARC_ALTERNATE && !(o->memory_asi[n->asi / 8] >> n->asi % 8 & 1);
}

/* Nothing is known any more. */
void replay_forget(struct replay *r);

/* replay_memory.c: words of memory. NULL without memory; free() frees it. */
struct replay_memory *replay_memory_new(void);
/* The word that holds the byte at `address`, with REPLAY_KNOWN if it is known. */
uint64_t replay_recall(const struct replay_memory *m, uint32_t address);
/* `size` bytes, 1, 2 or 4, at `address` are `value`, or no longer known. */
void replay_remember(struct replay_memory *m, uint32_t address, uint64_t value, unsigned size);
void replay_forget_memory(struct replay_memory *m);

/* replay_flow.c: whether the instruction can follow those before. `target` is where JMPL or RETT
   go, with REPLAY_KNOWN, else 0. */
int replay_follows(struct replay *r, const struct replay_entry *e, uint64_t target);

#endif
