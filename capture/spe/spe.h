/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spe.h - what ARM's Statistical Profiling Extension writes: sample records of packets, one record
 * for each sampled operation. Their form is that of the Arm Architecture Reference Manual, DDI
 * 0487, chapter "Statistical Profiling Extension sample record specification".
 */
#ifndef CF_SPE_H
#define CF_SPE_H

#include <stddef.h>
#include <stdint.h>

/* Bits of the Events packet. */
enum cf_spe_events {
    CF_SPE_L1D_ACCESS = 1 << 2,
    CF_SPE_L1D_REFILL = 1 << 3,
    CF_SPE_TLB_ACCESS = 1 << 4,
    CF_SPE_TLB_WALK = 1 << 5,
    CF_SPE_LLC_ACCESS = 1 << 8,
    CF_SPE_LLC_REFILL = 1 << 9,
    CF_SPE_REMOTE = 1 << 10,
};

/* What a record states. */
enum cf_spe_has { CF_SPE_TIMESTAMP = 1, CF_SPE_CONTEXT = 2, CF_SPE_SOURCE = 4 };

struct cf_spe_record {
    uint64_t pc, addr, phys; /* 0: not stated */
    uint64_t events;         /* enum cf_spe_events, and more */
    uint64_t timestamp;      /* of the system's counter */
    uint32_t context;        /* CONTEXTIDR_EL1 or _EL2: Linux puts the thread there, if at all */
    uint32_t latency;        /* cycles from dispatch to completion */
    uint32_t source;         /* Data Source packet, of which each processor has its own meaning */
    uint8_t op;              /* CF_LOAD, CF_STORE; 0: it accesses no memory */
    uint8_t has;             /* enum cf_spe_has */
};

enum { CF_SPE_PACKET = 10 }; /* bytes of a packet, but for the padding of an Alignment packet */

/* A trace on its way to records. Its owner sets `take` and `arg`, the rest is zero at first. */
struct cf_spe {
    void (*take)(void *arg, const struct cf_spe_record *record);
    void *arg;
    uint64_t at;                 /* offset of the next byte in the trace */
    uint8_t held[CF_SPE_PACKET]; /* of a packet whose rest has not come */
    unsigned held_bytes;
    unsigned skip; /* padding that has not come */
    int begun;     /* some packet of a record has come */
    int bad;       /* the record cannot be relied on: it is dropped at its end */
    int unsure;    /* what looked like an end may have been none: a record must state its pc */
    struct cf_spe_record now;
    uint64_t records, dropped; /* records handed out; those damaged or cut off */
    uint64_t unknown;          /* packets of unknown types, which were passed over */
};

/* A piece of trace begins, whose first byte has this offset; cut: perhaps within a record. */
void cf_spe_begin(struct cf_spe *s, uint64_t at, int cut);
/* Takes its bytes, in as many calls as one likes. */
void cf_spe_take(struct cf_spe *s, const uint8_t *bytes, size_t n);
/* It ends: a record that has not ended is dropped. */
void cf_spe_end(struct cf_spe *s);

/* The record as a word of perf's data_src, as perf 6.1 makes it (tools/perf/util/arm-spe.c of
   Linux): by the data source where the processor of that MIDR_EL1 has one that is known, else by
   the events; 0 where the operation accesses no memory. */
uint64_t cf_spe_data_src(const struct cf_spe_record *r, uint64_t midr);

/* Where it was served, as column level has it: by its data source, else by its events. */
unsigned cf_spe_level(const struct cf_spe_record *r, uint64_t midr);

#endif
