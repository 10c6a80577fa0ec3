/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.h - records of the kernel's rings: read in whatever ring they are, handed out in the
 * order of time.
 *
 * A ring is written on one CPU or for one thread, and its records are in order but for what an
 * interrupt puts between; those of different rings are put into order here. What was read before
 * the last reading began is handed out, since all that happened before that has come by now.
 * Memory: the rings, and the records of two readings.
 */
#ifndef CF_EVENTS_RECORDS_H
#define CF_EVENTS_RECORDS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "capture/operands/operands.h"
#include "capture/events/aux.h"
#include "capture/events/events.h"

#ifdef __x86_64__
#include <asm/perf_regs.h>
#define CF_RECORD_REGISTERS                                                                        \
    ((1ull << PERF_REG_X86_AX | 1ull << PERF_REG_X86_BX | 1ull << PERF_REG_X86_CX |                \
      1ull << PERF_REG_X86_DX | 1ull << PERF_REG_X86_SI | 1ull << PERF_REG_X86_DI |                \
      1ull << PERF_REG_X86_BP | 1ull << PERF_REG_X86_SP | 1ull << PERF_REG_X86_IP |                \
      1ull << PERF_REG_X86_FLAGS | 0xffull << PERF_REG_X86_R8))
#elif defined(__aarch64__)
#include <asm/perf_regs.h>
#define CF_RECORD_REGISTERS ((2ull << PERF_REG_ARM64_PC) - 1) /* x0 to x30, sp, pc */
#else
#define CF_RECORD_REGISTERS 1ull
#endif

/* A record, taken apart as far as all kinds have it. */
struct cf_record {
    uint32_t type, misc;
    uint64_t time;
    uint32_t pid, tid, cpu;
    enum cf_perf_kind kind; /* of its event */
    uint64_t period;        /* of its event */
    /* of a sample */
    uint64_t ip, addr, latency, data_src;
    unsigned level; /* as column level has it; 0: what data_src says */
    int has_state;
    struct cf_operands_state state; /* general registers, pc and flags */
    /* of others: what follows the head, without what the kernel puts behind */
    const uint8_t *body;
    size_t length;
};

static inline uint32_t cf_record_half(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t cf_record_word(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

struct cf_records;

/* Rings of so many bytes, a power of two pages. NULL without memory. */
struct cf_records *cf_records_new(size_t bytes);
void cf_records_free(struct cf_records *r);

/* Takes over the event `fd` of a thread: its records come through a ring of its own, of `bytes` (0:
   as stated before), or through that of the event `into`, if that is not -1. -1 with errno: nothing
   was taken. */
int cf_records_add(struct cf_records *r, int fd, enum cf_perf_kind kind, uint64_t period, pid_t tid,
                   int into, size_t bytes);
/* The thread, which may have inherited the events of another, gets some of its own from now on,
   CLOCK_MONOTONIC: of it and of what it begins, only what comes by these is handed out. -1 without
   memory. */
int cf_records_own(struct cf_records *r, uint32_t tid, uint64_t now);
/* The event, of a unit that writes traces, has its trace in a second ring of `bytes` behind the
   ring that it writes its records to, that of `into` or its own; there is one for all events of
   that ring. Before it is enabled. -1 with errno. */
int cf_records_trace(struct cf_records *r, int fd, int into, int cpu, size_t bytes);
/* Reads what is left of such an event with a ring of its own, and closes it. */
void cf_records_remove(struct cf_records *r, int fd);

/* Reads all rings. -1 without memory. `now`: CLOCK_MONOTONIC before that. What is not before
   `known`, which never goes back, is not handed out yet. */
int cf_records_read(struct cf_records *r, uint64_t now, uint64_t known);

/* The next record in the order of time; all: also of those that may have earlier ones to come. 0
   when there is none. One that came too late has a later time. Valid until the next call of any
   function here. */
int cf_records_next(struct cf_records *r, int all, struct cf_record *record);

/* All records of before this time have been handed out, or are there. */
uint64_t cf_records_sure(const struct cf_records *r);

/* Records that the kernel had no room for and has no record of: it writes how many were lost before
   the next one that has room. 0 of kernels before Linux 6.0, which do not count them elsewhere. */
uint64_t cf_records_untold(const struct cf_records *r);

/* Whether the process has begun another program since the record that was handed out last. */
int cf_records_changes(const struct cf_records *r, uint32_t pid);

/* Records that are none, or are of unknown events. */
uint64_t cf_records_bad(const struct cf_records *r);

#endif
