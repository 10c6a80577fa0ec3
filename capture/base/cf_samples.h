/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_samples.h - samples of memory accesses as perf has them, and the rows that they become: what
 * the importers of perf's files and texts share.
 */
#ifndef CF_SAMPLES_H
#define CF_SAMPLES_H

#include <stdint.h>

#include "formats/program/cf_tool.h"

/* What the bits of a PERF_SAMPLE_DATA_SRC say of the operation: CF_LOAD, CF_STORE, CF_PREFETCH or
   CF_IFETCH; 0 of none of these. An access that loads and stores is CF_STORE, with *both set. */
unsigned cf_data_src_op(uint64_t data_src, int *both);

/* What they say of the level, as column level has it: 1 a hit in the first level, 2 to 4 one in a
   further level, CF_FROM_MEMORY, CF_FROM_BEYOND; 0 where they say nothing, or by numbers that Linux
   6.1 does not know. */
unsigned cf_data_src_level(uint64_t data_src);

/* The operation that an event's name says: CF_LOAD, CF_STORE, or 0. */
unsigned cf_event_op(const char *name, size_t length);

/* One sample. What its source does not have is 0. */
struct cf_sample {
    uint64_t time, addr, phys, pc;
    uint64_t period;   /* events that it stands for */
    uint64_t data_src; /* 0: none */
    uint64_t latency;  /* cycles; above 32 bits the column has UINT32_MAX, which is reported */
    uint32_t pid, tid, cpu;
    uint32_t event;  /* a number for each event, to find an access that several events report */
    uint8_t op;      /* enum cf_op, as the event or the user states it; 0: not stated */
    uint8_t level;   /* as column level has it; 0: what data_src says */
    uint8_t unowned; /* its source finds the thread later */
};

enum { CF_SAMPLES_BATCH = 4096, CF_SAMPLES_NEAR = 64 };

/* Columns that rows have besides time, op, addr, level, weight and stage. */
enum cf_samples_has {
    CF_SAMPLES_CPU = 1,
    CF_SAMPLES_PHYS = 2,
    CF_SAMPLES_DATA_SRC = 4,
    CF_SAMPLES_COST = 8,
    CF_SAMPLES_PC = 16,
    CF_SAMPLES_TASK = 32, /* pid and tid */
};

struct cf_samples {
    struct cf_writer *out;
    unsigned has;   /* enum cf_samples_has */
    unsigned op;    /* of samples that do not state one, or 0: they are left out */
    int timed;      /* times are of a clock: what several events report at one time is one access */
    int failed;     /* the output does not take more */
    uint64_t taken; /* samples that became rows */
    uint64_t no_addr;   /* samples left out: their address is 0, */
    uint64_t no_op;     /* no operation is known, */
    uint64_t repeats;   /* another event has reported the same access */
    uint64_t long_cost; /* samples taken whose latency is above 32 bits */
    unsigned rows;
    unsigned near; /* samples of the last time, at most CF_SAMPLES_NEAR */
    uint64_t near_time;
    struct cf_sample last[CF_SAMPLES_NEAR];
    uint64_t time[CF_SAMPLES_BATCH], addr[CF_SAMPLES_BATCH], phys[CF_SAMPLES_BATCH];
    uint64_t pc[CF_SAMPLES_BATCH], weight[CF_SAMPLES_BATCH], data_src[CF_SAMPLES_BATCH];
    uint32_t pid[CF_SAMPLES_BATCH], tid[CF_SAMPLES_BATCH], cpu[CF_SAMPLES_BATCH];
    uint32_t cost[CF_SAMPLES_BATCH];
    uint8_t op_of[CF_SAMPLES_BATCH], level[CF_SAMPLES_BATCH];
};

/* For CF_CALL(): option --op, of which `samples` takes the operation. */
void cf_samples_set_op(const struct cf_tool *t, void *samples, const char *option, char *text);

/* Adds the rows of a sample, unless it is one that is left out. Times must not fall. */
void cf_samples_add(struct cf_samples *s, const struct cf_sample *sample);

/* Hands the rows to the writer. */
void cf_samples_send(struct cf_samples *s);

/* The same when no input comes, to the end of the pipe. */
void cf_samples_idle(void *samples);

/* Warns what was left out or cut and why; nothing where that is nothing. */
void cf_samples_report(const struct cf_samples *s, const struct cf_tool *t);

#endif
