/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leon4.h - the parts of leon4-forms, which turns an emulator's log of a SPARC program into what
 * the trace buffers of a LEON would hold: run.c reads the log, model.c adds caches, bus and time,
 * print.c and print_raw.c write the forms. Nothing of it is installed; what the importer and the
 * filters make of these files is tested against it, so it shares no code with them but the cache
 * engine.
 */
#ifndef LEON4_H
#define LEON4_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/program/cf_tool.h"

/* ---- a run: what the processor did, from the log ---- */

enum kind { PLAIN, LOAD, STORE, ATOMIC };

/* One instruction that was executed or trapped. An annulled one leaves no trace. */
struct step {
    uint32_t pc;
    uint32_t opcode;
    uint32_t value;     /* what it computed; meaningless for memory */
    uint32_t addr;      /* of LOAD, STORE, ATOMIC: byte address */
    uint32_t loaded[2]; /* as it reached the register, the second for 8 bytes, or `pair` */
    uint32_t stored[2];
    uint8_t kind;   /* enum kind */
    uint8_t size;   /* bytes of memory */
    uint8_t memory; /* 0: an alternate space that is no memory, or it trapped */
    uint8_t writes; /* ATOMIC: it did store */
    uint8_t pair;   /* a floating-point operation whose result is two words, in loaded[] */
    uint8_t trap;
    uint8_t error; /* the processor stopped in error mode */
};

/* A program with its memory. */
struct run {
    struct step *step;
    size_t steps;
    uint32_t base;   /* address of memory[0] */
    uint8_t *memory; /* as the program began; MEMORY bytes */
    char **text;     /* disassembly of each word of the program, or NULL */
    uint32_t words;  /* of text */
    char **symbol;   /* names, by ascending address */
    uint32_t *at;    /* their addresses */
    uint32_t symbols;
    uint32_t annulled; /* instructions that were jumped over */
    uint32_t checked;  /* loads whose value was compared with memory */
};

enum { MEMORY = 0x40000, MOST_STEPS = 1 << 22 };

/* Reads PREFIX.log, PREFIX.bin and PREFIX.lst; exits with a message when one is no good. Every load
   is compared with what memory holds at the address found, so that a wrong address shows. Memory:
   48 bytes an instruction. */
void run_read(struct cf_tool *t, const char *prefix, struct run *r);
void run_free(struct run *r);

/* Disassembly of the instruction at pc, "" where there is none. */
const char *run_text(const struct run *r, uint32_t pc);

/* Name of the function that holds pc, and the distance from its beginning; "" if unknown. */
const char *run_symbol(const struct run *r, uint32_t pc, uint32_t *offset);

/* ---- the model: what a LEON would have recorded, in the order of time ---- */

struct model {
    uint32_t bus;     /* bytes that the bus is wide: 4, 8, 16 */
    uint32_t latency; /* cycles from a miss to the first data */
    uint32_t post;    /* cycles that a store waits in the write buffer */
    int lock;         /* atomic loads always go to the bus */
    int l2_off;       /* there is no second level */
    uint64_t start;   /* time of the first instruction, before it is cut to 30 bits */
};

struct entry {
    uint64_t time; /* cycles, not wrapped */
    uint32_t step; /* of its run */
    uint8_t cpu;
    uint8_t ahb;   /* a transfer, else an instruction */
    uint8_t write; /* the rest is of transfers */
    uint8_t trans; /* HTRANS: 2 the first of a burst, 3 a further one */
    uint8_t size;  /* HSIZE: bytes = 1 << size */
    uint8_t burst; /* HBURST: 0 single, 1 incrementing */
    uint8_t lock;
    uint32_t addr;
    uint32_t data[4]; /* the bus, most significant word first; unused words are 0 */
};

struct counters {
    uint64_t instructions, icache, dcache, l2;
};

struct trace {
    struct entry *entry;
    size_t entries, room;
    uint8_t *hit; /* of each step: its load was served by the first level */
    struct counters counters;
};

/* Entries of one run as the given CPU. Memory: 56 bytes an entry. */
void model_run(struct cf_tool *t, const struct model *m, const struct run *r, unsigned cpu,
               struct trace *out);

/* Moves the entries of b, which is CPU 1, among those of a, CPU 0, by time. Each CPU then has every
   second cycle, so that times stay strictly ascending. */
void model_interleave(struct cf_tool *t, struct trace *a, struct trace *b, uint64_t start);
void trace_free(struct trace *t);

/* ---- the forms ---- */

enum form { HIST, INST, AHB, ACCESSES, STREAM, COUNTERS };
enum style { GRMON, FTDI, OPENOCD, DSU, TSIM, TCL, TCL_LINES, RAW, WORDS };

struct print {
    enum form form;
    enum style style;
    int single; /* one entry an instruction, two for atomics, as LEON4's manual has it */
    uint32_t bus;
    unsigned cpus;         /* how many there are */
    int cpu;               /* instructions of this CPU only, -1 = of all */
    uint64_t from, count;  /* instructions of each CPU */
    const struct run *run; /* by CPU */
};

enum { TAG = (1 << 30) - 1 };

/* The words that an instruction's entries hold in bits 95:64, at most three. */
unsigned print_results(const struct print *p, const struct step *s, uint32_t words[3]);

/* Is the entry inside the part that was asked for? */
int print_wanted(const struct print *p, const struct entry *e);

/* In the order of time, which is that of the entries where one CPU is shown. -1 without memory: 24
   bytes an entry. */
int print_text(const struct print *p, const struct trace *t, FILE *out);
/* One CPU's instructions after the other's. */
void print_raw(const struct print *p, const struct trace *t, FILE *out);
/* Every load and store (with STREAM also every fetch) with its true address, as cf-capture csv
   reads it: hit says by `level` 1 that the data cache served a load. `hit` is by CPU. */
void print_accesses(const struct print *p, const struct trace *t, const uint8_t *const *hit,
                    FILE *out);

/* What the statistics unit would have counted over the whole run, in the form of its monitor. */
void print_counters(const struct counters *c, unsigned cpus, FILE *out);

#endif
