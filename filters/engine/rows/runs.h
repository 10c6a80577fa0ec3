/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs.h - from accesses to line references: what every engine reads.
 *
 * An access touches the lines from addr to addr + size - 1. References to the line that was
 * referenced just before cannot change what a cache holds, so they are dropped: what remains are
 * runs, and a row that begins no run is a hit (distance 0). Two thirds of the references of usual
 * programs go away here, before anything expensive is done.
 *
 * Size 0 (unknown, as in samples) counts as one byte. An access that would go past the top of the
 * address space ends there. An unknown op counts as a load. A flush is always a run of its own; a
 * prefetch is one unless its line is the one before; fetches and data never share a run.
 */
#ifndef CF_RUNS_H
#define CF_RUNS_H

#include <stdint.h>

/* What is known about a run. */
enum cf_run_flag {
    CF_RUN_STORE = 1,     /* one of its references was a store */
    CF_RUN_PART = 2,      /* its line is the second or a later one of the row's access */
    CF_RUN_AGAIN = 4,     /* holds more than one reference */
    CF_RUN_FETCH = 8,     /* of instruction fetches */
    CF_RUN_PREFETCH = 16, /* of prefetches */
    CF_RUN_FLUSH = 32,    /* one flush */
};

/* Which rows take part, and which must stay apart. */
enum cf_runs_option {
    CF_RUNS_DATA = 1,    /* load, store, prefetch, flush */
    CF_RUNS_FETCHES = 2, /* ifetch */
    CF_RUNS_ALL = 3,
    /* a store always begins a run, and so does what follows it: for caches that write through or do
       not allocate */
    CF_RUNS_STORES = 4,
    /* "just before" means the fetch before a fetch and the data reference before a data reference:
       for caches that are split, and that lose lines to no other accesses */
    CF_RUNS_SPLIT = 8,
};

/* A line number that no run has, in bytes that are all the same. With another top bit it would be a
   line: one that no address of a processor makes, whatever its line size, as its top bits take
   turns; while all other bits set are the last word of the address space to the second process. */
#define CF_NO_LINE_BYTE 0xa5
#define CF_NO_LINE      (CF_NO_LINE_BYTE * UINT64_C(0x0101010101010101))

struct cf_runs_input;
struct cf_runs_before;

/* A batch of line references, in the order of the accesses. */
struct cf_runs {
    uint32_t count;
    uint32_t capacity;
    uint64_t *line;      /* number of the line: byte address / line size, XOR the key of its space;
                            below 2^63, so that an engine may use the top bit for a mark */
    uint32_t *row;       /* row of the input whose access begins the run */
    uint8_t *flags;      /* enum cf_run_flag */
    uint64_t references; /* line references so far, the dropped ones too */
    uint64_t done;       /* lines of the row at hand that earlier batches had */
    uint8_t options;     /* enum cf_runs_option */
    uint8_t shift;       /* log2 of the line size in bytes */
    uint8_t apart[5];    /* by class of reference: the classes before it that end a run */
    const uint8_t *begins; /* the caller's, a byte a row and 64 more, or NULL: not 0 where this row
                              and those behind it share no run with rows before. Not with
                              CF_RUNS_SPLIT */
    /* takes many plain rows at a time; NULL: none */
    uint32_t (*blocks)(struct cf_runs *r, const struct cf_runs_input *in, uint32_t from,
                       uint32_t to, struct cf_runs_before *before);
    void (*ops)(const uint8_t *op, uint32_t rows, uint64_t *n);
};

/* For lines of 1 << shift bytes (shift 2 to 16), at most `capacity` (from 1) references a batch.
   The arrays hold 64 elements more than `capacity`, which vector code may overwrite. NULL without
   memory. */
struct cf_runs *cf_runs_new(unsigned shift, unsigned options, uint32_t capacity);
void cf_runs_free(struct cf_runs *r);

/* Makes a batch of the rows from `from` up to `to`, until it is full: returns the row to go on
   with, `to` when all were taken. The first reference of a batch always begins a run. Call again
   with what it returned; an access of more lines than a batch holds takes several calls that
   return its own row. op and size may be NULL: loads, one byte. `space` is XORed into every line
   number: see cf_space_key(). */
uint32_t cf_runs_fill(struct cf_runs *r, const uint64_t *addr, const uint8_t *op,
                      const uint32_t *size, uint32_t from, uint32_t to, uint64_t space);

/* Adds the rows of each operation to n[operation], from CF_LOAD to CF_FLUSH: with the runs that
   have CF_RUN_PART these are all references, the dropped ones too. `op` as in cf_runs_fill(). */
void cf_runs_ops(const struct cf_runs *r, const uint8_t *op, uint32_t rows, uint64_t *n);

/* The flags of `count` references, one over the other. */
uint8_t cf_runs_flags(const uint8_t *flags, uint32_t count);

/* Takes flushes out of the batch; returns how many there were. */
uint32_t cf_runs_drop_flushes(struct cf_runs *r);

/* Equal virtual addresses of different processes are different memory. Processes are numbered 0,
   1, 2, ... in the order in which they appear; the key of number n is n with its bits reversed,
   bit 0 at bit 62, so that it stays clear of the bits that user addresses use and of those that
   choose a set. 0 for number 0. */
uint64_t cf_space_key(uint32_t number);
uint32_t cf_space_number(uint64_t key);

#endif
