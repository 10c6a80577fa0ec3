/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code.h - instructions and segment bases of running processes.
 */
#ifndef CF_PERF_CODE_H
#define CF_PERF_CODE_H

#include <sys/types.h>

#include "capture/operands/operands.h"
#include "capture/perf/tasks.h"

struct cf_code; /* a cache of instructions */

struct cf_code *cf_code_new(void);
void cf_code_free(struct cf_code *c);

/* The instruction at an address: from the process's memory, else from the file that it maps there.
   -1 when it cannot be read, or is none. */
int cf_code_read(struct cf_code *c, const struct cf_tasks *tasks, uint32_t pid, uint64_t addr,
                 struct cf_operands *o);

/* Stops the thread for a moment to read its segment bases. -1 where ptrace(2) is not permitted. */
int cf_code_bases(pid_t tid, uint64_t *fs, uint64_t *gs);

#endif
