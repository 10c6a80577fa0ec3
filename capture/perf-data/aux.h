/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aux.h - traces of hardware units in a perf.data file (AUX areas), of which those of ARM's SPE
 * become samples: one of each record that states a load or a store.
 */
#ifndef PERF_DATA_AUX_H
#define PERF_DATA_AUX_H

#include "capture/spe/spe.h"
#include "owners.h"

struct cf_sample;
struct perf_file;

enum { PERF_AUX_SPE = 4 }; /* PERF_AUXTRACE_ARM_SPE of perf */

/* What the file states of a CPU. */
struct perf_aux_cpu {
    uint64_t cpu, midr, pmu;
};

/* How counts of the hardware's counter become times, as linux/perf_event.h says (time_shift). */
struct perf_aux_clock {
    int known, is_short; /* is_short: counts have only the bits of `mask` */
    unsigned shift;
    uint64_t mult, zero, cycles, mask;
};

struct perf_aux {
    uint32_t kind; /* of the unit; 0: none was stated */
    uint64_t pmu;  /* type of its event */
    struct perf_aux_cpu *cpu;
    size_t cpus, cpu_room;
    struct perf_aux_clock clock;
    struct cf_spe trace;
    struct perf_owners running; /* thread by CPU */
    struct perf_owners process; /* process by thread */
    int overwrite;              /* pieces are snapshots of a buffer that goes round */
    /* of the piece that is read */
    uint32_t piece_cpu, piece_tid; /* UINT32_MAX: not stated */
    uint64_t midr, period;
    uint32_t event;
    uint64_t pieces, samples, others; /* others: records of neither load nor store */
    uint64_t truncated, collided;     /* AUX records that state loss, or samples that collided */
    uint64_t timeless, ownerless;     /* samples without time or thread */
    uint64_t asked;
};

void perf_aux_free(struct perf_aux *a);

/* AUXTRACE_INFO and TIME_CONV: -1 where one is damaged. */
int perf_aux_info(struct perf_file *f, const uint8_t *record, size_t bytes) CF_MUST_CHECK;
int perf_aux_time(struct perf_file *f, const uint8_t *record, size_t bytes) CF_MUST_CHECK;

/* AUXTRACE, and the trace behind it: -1 where it cannot be as long as it says. */
int perf_aux_trace(struct perf_file *f, const uint8_t *record, size_t bytes,
                   uint64_t at) CF_MUST_CHECK;

/* Records of the kernel that say what a trace lacks, or who ran: AUX, ITRACE_START, SWITCH and
   SWITCH_CPU_WIDE. -1 where one is too short. */
int perf_aux_state(struct perf_file *f, unsigned type, const uint8_t *record,
                   size_t bytes) CF_MUST_CHECK;

/* A thread of which a record says the process. */
void perf_aux_thread(struct perf_file *f, uint32_t pid, uint32_t tid, uint64_t time);

/* For perf_order: completes a sample whose thread was not known when it was read; no earlier one
   comes any more. */
void perf_aux_owner(void *file, struct cf_sample *s);

/* Warns what the traces lack. */
void perf_aux_report(const struct perf_file *f);

#endif
