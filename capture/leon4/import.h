/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import.h - from entries of the trace buffers to records.
 */
#ifndef LEON4_IMPORT_H
#define LEON4_IMPORT_H

#include "capture/leon4/registers.h"
#include "capture/leon4/scan.h"

/* HELD: of one processor no load waits while the others execute so many.
   READS: up to four of a walk of the MMU and one of a line, for data and for the next instruction,
   and what a processor reads ahead. */
enum { CF_LEON4_BATCH = 4096, CF_LEON4_HELD = 4096, CF_LEON4_READS = 32 };

/* Where the bus read stands that shows a miss of the data cache; the last one: any transfer does
   directly after the load, as in section III.C of the LEON4 profiling tool's paper, step 1. */
enum cf_import_miss { CF_READ_AFTER, CF_READ_BEFORE, CF_READ_LINE, CF_TRANSFER_AFTER };

struct cf_import_options {
    struct cf_registers_options registers;
    enum cf_import_miss miss;
    uint32_t line_size;
    unsigned time_bits;           /* 0: the time does not wrap */
    int any_master;               /* a transfer of any master is one of the processor's */
    uint8_t master[CF_SCAN_CPUS]; /* master number of each processor, 255 none */
    uint64_t clock_hz;
    uint64_t warm_up; /* first loads, which the share of known addresses leaves out */
};

struct cf_import_counts {
    uint64_t instructions, trapped, unknown, orphans;
    uint64_t alike; /* entries of which it is not certain that they continue the one before */
    uint64_t transfers, cut; /* cut: loads without the entry after them, or that waited too long */
    uint64_t loads, loads_known, stores, stores_known, elsewhere;
    uint64_t late, late_known; /* of the loads, those after the warm-up */
    uint64_t hits, misses;
    uint64_t crowded; /* loads with so many reads that not all are known */
    uint64_t wraps, backward;
};

/* Unwraps time tags. */
struct cf_import_clock {
    uint64_t now;
    uint64_t wraps;
    uint64_t step; /* to it from the entry before it */
    int astray;    /* it was said that an entry's time seems to be */
    int started;
    int input; /* of the last entry: cf_lines.input */
};

/* An instruction that waits for what follows it. */
struct held {
    struct cf_scan_row row;
    uint64_t time;
    uint8_t open;
    uint8_t partial;       /* accesses may be all that the trace shows */
    uint8_t again;         /* it can follow itself: in the delay slot of a branch to it */
    uint8_t before, after; /* the entry before or after is a transfer: 1 read, 2 write */
    uint32_t before_at;    /* its address */
    uint8_t written; /* bytes that somebody else wrote after it, 255: more than one transfer */
    uint32_t written_at;
    uint32_t reads;                   /* how many reads came after it, */
    uint32_t read_at[CF_LEON4_READS]; /* the addresses of the first ones */
};

struct rows {
    uint32_t count;
    uint64_t time[CF_LEON4_BATCH], addr[CF_LEON4_BATCH], pc[CF_LEON4_BATCH];
    uint32_t cpu[CF_LEON4_BATCH], size[CF_LEON4_BATCH], insns[CF_LEON4_BATCH], hint[CF_LEON4_BATCH];
    uint8_t op[CF_LEON4_BATCH], level[CF_LEON4_BATCH];
    int unhinted;
};

struct cf_import {
    struct cf_import_options o;
    struct cf_tool *tool;
    struct cf_writer *out;
    struct cf_import_counts counts;
    struct cf_import_clock clock, bus_clock;
    int failed;                      /* the output takes no more */
    int bus_seen;                    /* the trace has transfers */
    int grouped;                     /* the input whose rows show all words of an instruction */
    int mixed[CF_SCAN_CPUS];         /* the input that shows other instructions than accesses */
    struct held held[CF_LEON4_HELD]; /* a ring */
    unsigned first, waiting;
    struct held *open[CF_SCAN_CPUS]; /* the last instruction of each processor */
    struct held *last;               /* of all */
    uint8_t before[CF_SCAN_CPUS];    /* the transfer since then */
    uint32_t before_at[CF_SCAN_CPUS];
    struct cf_registers *registers[CF_SCAN_CPUS];
    struct cf_registers_memory *memory;
    struct rows rows, unplaced, bus; /* in `bus`, pc is master, insns trans and hint burst */
};

/* Writes the header. */
void cf_import_begin(struct cf_import *m, const char *command);

/* Starts the clocks of two buffers together by their first tags, of which the bus's may lie before
   the other one and a wrap between them: at most half a period apart. */
void cf_import_start(struct cf_import *m, uint64_t tag, uint64_t bus_tag);

/* Time of an entry in the order of a trace. A tag of `bits` bits goes forwards, by less than a
   period; but one that lies before the last by less than 1/64 of a period (or, with no bits, at
   all) is out of order: it gets the time of the last one, and *backward says so. */
uint64_t cf_import_time(struct cf_import_clock *c, uint64_t tag, unsigned bits, int *backward);

/* Takes an entry in. `scan` is where it came from, for messages. */
void cf_import_row(struct cf_import *m, struct cf_scan *scan, const struct cf_scan_row *row,
                   uint64_t time);

/* The end of the trace, or of all that came so far (`flush`). */
void cf_import_end(struct cf_import *m);
void cf_import_flush(struct cf_import *m);

/* Reports on standard error what was found. */
void cf_import_report(const struct cf_import *m);
void cf_import_free(struct cf_import *m);

#endif
