/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fine.h - the fine stage: section 3.3 of "CachePerf". An instruction that is suspected gets the
 * one breakpoint, for all threads, until enough of its accesses were seen or time is up.
 *
 * Memory: the instructions that missed or wait, and a small ring for each thread that is watched.
 */
#ifndef CF_PERF_FINE_H
#define CF_PERF_FINE_H

#include "capture/events/records.h"
#include "capture/perf/tasks/tasks.h"
#include "formats/program/cf_tool.h"

struct cf_fine_options {
    uint32_t most;      /* accesses of an instruction, 0: no fine stage */
    uint32_t same_set;  /* so many running on one set end it early */
    uint64_t expire_ns; /* a breakpoint's time, when another waits */
    uint32_t sets, line_size;
};

struct cf_fine_census {
    uint64_t installed, full, early, expired; /* breakpoints, and how they ended */
    uint64_t unsuitable;                      /* none was set */
    uint64_t accesses;                        /* that they have seen */
    uint64_t vectors;                         /* instructions that address by vector registers */
    uint64_t exclusives;                      /* that a breakpoint would let fail */
    uint64_t authenticated;                   /* whose base is signed */
    uint64_t unknown;                         /* that could not be read or decoded */
    uint64_t segments;                        /* threads whose segment bases could not be read */
    uint32_t others;                          /* files with places that were another build */
    const char *other;                        /* the first of them */
    int error;                                /* errno of one that could not be set, or 0 */
};

struct cf_fine;

struct cf_fine *cf_fine_new(const struct cf_fine_options *o, struct cf_records *records,
                            struct cf_tasks *tasks);
void cf_fine_free(struct cf_fine *f);

/* A place of a file, with so many misses, is to be watched wherever that build of it ("": any) is
   mapped, the first of these calls first, until all have been; what did not run in its time gets
   its turn again. -1 without memory. */
int cf_fine_place(struct cf_fine *f, const char *file, const char *build, uint64_t offset,
                  uint64_t misses);

/* A sampled access; a suspect is watched when its turn comes, and again when none waits and what is
   watched had the time of a breakpoint, or nothing has been for as long. -1 without memory. */
int cf_fine_sampled(struct cf_fine *f, const struct cf_record *r, int missed);

/* The accesses of a breakpoint's sample, as by cf_operands_accesses(). *misses: those of its place,
   once, else 0. */
int cf_fine_accesses(struct cf_fine *f, const struct cf_record *r, struct cf_access *access,
                     uint64_t *misses);

/* The first access of an instruction at which the kernel sampled, to address `addr` if that is not
   0: by the sample's registers, if it has some, and then what it accesses of that page; 0 when its
   bytes cannot be read. */
int cf_fine_decode(struct cf_fine *f, const struct cf_record *r, struct cf_access *access);

/* Sets, moves and takes away the breakpoint as is due. */
void cf_fine_turn(struct cf_fine *f, uint64_t now);
/* Takes it away. */
void cf_fine_stop(struct cf_fine *f);

struct cf_fine_census cf_fine_census(const struct cf_fine *f);

#endif
