/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_processes.h - a warning where what is counted together belongs to several processes, one
 * where not all accesses say which is theirs, and one where threads are modelled on several cores
 * that never ran side by side.
 *
 * Equal addresses of two processes are different memory, and so are two stacks of the same name.
 * An answer by address or name of mapping that keeps no process apart says so by the first. Of a
 * model that does, accesses without column pid are the first process's, which is right where all
 * are of one.
 *
 * A tracer lets threads take turns of milliseconds, and says so by table switch. Without column
 * cpu, which cf-merge --interleave adds, a model of several cores sees each thread's turn as a
 * whole: lines that threads would fight over change hands once a turn instead of once an access.
 * Without column tid either, all threads of a process are one, which share nothing at all.
 * With both, rows are no longer in the order in which they were recorded: locks and barriers are
 * not known, so that a thread may reach what another has not mapped or allocated yet.
 */
#ifndef CF_PROCESSES_H
#define CF_PROCESSES_H

#include "formats/program/cf_tool.h"

struct cf_processes {
    uint32_t pid; /* of the first access */
    int begun, warned;
    int silent; /* the warning is another's, who joins this by cf_processes_join() */
};

/* Looks at a frame; warns once, by "NAME: several processes: WHAT". The reader must want pid of
   table access. Other tables are passed over, and nothing is said under --quiet. */
void cf_processes_check(struct cf_processes *p, const struct cf_tool *t, const struct cf_frame *f,
                        const char *what);

/* The same of what another program has looked at, of which `pid` came first, and `several` or not.
 */
void cf_processes_join(struct cf_processes *p, const struct cf_tool *t, uint32_t pid, int several,
                       const char *what);

/* Looks at a frame; warns once where some accesses have column pid and others have none, which a
   model takes for the first process's. `*pids` is 0 at first, or CF_PIDS_ANY where that is no
   matter. */
enum { CF_PIDS_ANY = 3 };
void cf_pids_check(unsigned *pids, const struct cf_tool *t, const struct cf_frame *f);
/* The same of accesses of a part, all of which have pid, or `known` 0: none. */
void cf_pids_join(unsigned *pids, const struct cf_tool *t, int known);

struct cf_turns {
    unsigned pids;       /* for cf_pids_check(); the caller may set it first */
    uint32_t tid;        /* of the first access of the segment */
    int begun, switched; /* it came; table switch did, of several threads for cf_order_check() */
    int warned;
    int apart;          /* warned of processes of one thread each */
    int threads, lacks; /* a process has several; accesses do not say which made them */
    int one;            /* warned that they are taken for one */
    int told;           /* table task or switch came, which says what threads there are */
    unsigned stated;    /* cores by option --cores, which the caller may set first */
};

/* cf_pids_check(); and warns once of threads, once of processes of one thread each, and once of
   threads that accesses do not tell apart. The reader must want cpu, tid and pid of table access
   where there are several cores. `cores` as in the model: below 2, all is right. */
void cf_turns_check(struct cf_turns *turns, const struct cf_tool *t, const struct cf_frame *f,
                    unsigned cores);

/* Whether rows of table switch are of a thread beside its process's first. The reader must want
   pid and tid of it. */
int cf_switches_threads(const struct cf_frame *f);

/* Looks at a frame; warns once where threads were put side by side: "WARNING: WHAT". The reader
   must want cpu of table access, and pid and tid of table switch. */
void cf_order_check(struct cf_turns *turns, const struct cf_tool *t, const struct cf_frame *f,
                    const char *what);

#endif
