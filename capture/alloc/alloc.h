/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alloc.h - heap objects of a program that runs here, by libcf-alloc.so, which is loaded before its
 * own libraries: rows of tables object and stack, over whatever allocator it has.
 *
 *     struct cf_alloc *a = cf_alloc_begin(&options, w, text, sizeof text);
 *     ... fork; in the child: cf_alloc_environment(a), then exec ...
 *     while (recording) {
 *         known = cf_alloc_known(a);          // up to when all is known
 *         cf_alloc_rows(a, known);            // before the accesses up to then
 *         ... poll() for cf_alloc_pause(a) ms ...
 *     }
 *     cf_alloc_end(a, &result);
 *
 * Times are CLOCK_MONOTONIC in nanoseconds: a release has its time before memory is given back, an
 * allocation after it was obtained. So samples with that clock (perf_event_attr.use_clockid) and
 * objects can be ordered; rows have the time since `origin`. Of a release, bytes and stack are 0:
 * its address says of what.
 *
 * A capture that does not read soon enough lets the program wait, for a second at most: then
 * records are lost, and counted. One that ends or dies lets it run on, unrecorded.
 *
 * Memory: 128 KiB a thread that runs (see ring_bytes), 24 bytes a stack and 16 to 32 a node of the
 * tree of calling contexts, of which there are CF_ALLOC_NODES at most.
 */
#ifndef CF_ALLOC_H
#define CF_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#include "formats/stream/cf.h"

struct cf_alloc;

enum { CF_ALLOC_NODES = 1 << 22 };

struct cf_alloc_options {
    const char *library; /* NULL: libcf-alloc.so beside this suite's programs */
    uint32_t depth;      /* frames of a call stack, 1 to 64; 0: 16 */
    uint32_t ring_bytes; /* of a thread's ring, a power of two from 8 KiB to 16 MiB; 0: 128 KiB */
    int throttle;        /* for cf_alloc_sampled() and cf_alloc_throttle() */
    uint64_t origin;     /* the time that is 0 in rows */
};

/* What became of it. */
struct cf_alloc_result {
    uint64_t objects;   /* rows of table object */
    uint64_t nodes;     /* and of table stack */
    uint64_t processes; /* that were recorded */
    uint64_t lost;      /* calls that were not recorded: for want of room or of a ring, */
    uint64_t nested;    /* or as they came from a signal handler amidst a record */
    uint64_t unplaced;  /* processes that were not recorded, since too many ran */
    uint64_t foreign;   /* or as their PID or time namespace is another */
    uint64_t own;       /* processes whose program has malloc itself: nothing of that is seen */
    uint64_t sites;     /* that were left out, */
    uint64_t left_out;  /* and allocations from them */
    uint64_t unknown;   /* objects whose stack is not known */
    uint64_t late;      /* rows whose time is later than it was, since they came too late */
    uint64_t damaged;   /* rings in which the program wrote something else */
};

/* Why objects of a program file cannot be recorded by preloading, for a message: it is linked
   statically, of another architecture, or gets other rights than its caller (setuid, setgid, file
   capabilities), so that the dynamic linker ignores what is preloaded. NULL: they can; or it is no
   ELF file, such as a script, whose interpreter decides. */
const char *cf_alloc_refuses(const char *path);

/* Makes the shared memory. NULL, and a message in `text`, where that cannot be. The writer gets
   rows in the calls below; its segment must have begun by then. */
struct cf_alloc *cf_alloc_begin(const struct cf_alloc_options *o, struct cf_writer *w, char *text,
                                size_t size) CF_MUST_CHECK;

/* The library's file, without links in its path: what runs there is not of the program. */
const char *cf_alloc_library(const struct cf_alloc *a);

/* Whether a mapping of so many bytes by that name is the memory that is shared with programs. */
int cf_alloc_is_memory(const char *name, uint64_t bytes);

/* In the child, before it becomes the program: LD_PRELOAD, with ours before what is there, and the
   path of the shared memory. Both stay for its children. -1 without memory. */
int cf_alloc_environment(const struct cf_alloc *a) CF_MUST_CHECK;

/* Looks at the rings. What happened up to the time it returns, in CLOCK_MONOTONIC, is known. */
uint64_t cf_alloc_known(struct cf_alloc *a);

/* Writes the rows up to `until`, or up to what is known if that is less; what comes later than that
   has a later time. -1: the writer takes no more, or there is no memory. */
int cf_alloc_rows(struct cf_alloc *a, uint64_t until) CF_MUST_CHECK;

/* In a segment that has just begun: the nodes of table stack, to which later rows refer. Objects
   that live are not repeated. -1 as before. */
int cf_alloc_repeat(struct cf_alloc *a) CF_MUST_CHECK;

/* How long the caller may sleep before it looks again, in milliseconds, 1 to 10. */
int cf_alloc_pause(const struct cf_alloc *a);

/* Leaves out what is allocated from now on by the stack of table stack's node, as found in rows of
   this capture: -1 where there is no such stack, or the process has gone. */
int cf_alloc_leave_out(struct cf_alloc *a, uint32_t pid, uint32_t node);

/* With `throttle`: a sample of an access to memory of a process, which stands for `weight` of them,
   counts for the site of the object there. And leaves out the sites that have `least` of them (as a
   weight) and a miss ratio below `fraction` of that of all objects, as section 3.4 of "CachePerf"
   does: how many these are; the paper prints no figures. -1 without memory. Only some of the
   objects are looked at (sites.h). */
int cf_alloc_sampled(struct cf_alloc *a, uint32_t pid, uint64_t addr, uint64_t weight,
                     int missed) CF_MUST_CHECK;
int cf_alloc_throttle(struct cf_alloc *a, double fraction, uint64_t least);

/* Writes what is left, once the programs have ended or as far as it is known; tells those that run
   on to record no more; frees. -1 as cf_alloc_rows(). */
int cf_alloc_end(struct cf_alloc *a, struct cf_alloc_result *result);

#endif
