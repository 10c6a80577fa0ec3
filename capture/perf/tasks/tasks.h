/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tasks.h - processes, threads and mappings that the kernel's records announce: rows of tables task
 * and map, and what is mapped now.
 *
 * The kernel announces no unmapping and no growth of a stack: a mapping stays until another takes
 * its place, and a stack is noted as large as it may become.
 */
#ifndef CF_PERF_TASKS_H
#define CF_PERF_TASKS_H

#include "capture/events/records.h"
#include "formats/stream/cf.h"

struct cf_tasks;

struct cf_tasks *cf_tasks_new(struct cf_writer *w, uint64_t start_ns);
void cf_tasks_free(struct cf_tasks *t);

/* A process that runs already, as /proc shows it. -1 where there is none, or without memory. */
int cf_tasks_attach(struct cf_tasks *t, uint32_t pid);

/* Takes in a record that is no sample. -1 when the output takes no more, or without memory. */
int cf_tasks_record(struct cf_tasks *t, const struct cf_record *r);

/* In a segment that has just begun: all that is there, as rows of this time. */
int cf_tasks_repeat(struct cf_tasks *t, uint64_t time);

/* Has f called for each program file that a process begins to run, with ended 0; and with 1, and
   its name alone, where the kernel ended the recording of the process, whose user changes. Where it
   returns 1, the process should map the library that records its heap objects, unless that is NULL,
   and then the memory that is shared with it. */
void cf_tasks_programs(struct cf_tasks *t, int (*f)(void *arg, const char *program, int ended),
                       void *arg, const char *library);

/* How many programs have run without that. */
enum cf_tasks_lack { CF_TASKS_NOTHING, CF_TASKS_LIBRARY = 1, CF_TASKS_MEMORY, CF_TASKS_LACKS };
uint64_t cf_tasks_lacking(const struct cf_tasks *t, enum cf_tasks_lack what);

/* Processes that are alive, as the system says: records of their ends may have been lost. */
unsigned cf_tasks_alive(const struct cf_tasks *t);

/* Where an address lies in a file, or in "[vdso]", the kernel's. */
struct cf_tasks_file {
    const char *name, *build;
    uint64_t offset;
    uint8_t perms; /* of the mapping */
};
/* 1; 0 where it lies in none. */
int cf_tasks_file(const struct cf_tasks *t, uint32_t pid, uint64_t addr, struct cf_tasks_file *f);

/* Calls f for each process that maps that place of a file, with its address there and the build. */
void cf_tasks_places(const struct cf_tasks *t, const char *file, uint64_t offset,
                     void (*f)(void *arg, uint32_t pid, uint64_t addr, const char *build),
                     void *arg);

#endif
