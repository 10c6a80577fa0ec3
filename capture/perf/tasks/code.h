/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code.h - instructions and segment bases of running processes.
 */
#ifndef CF_PERF_CODE_H
#define CF_PERF_CODE_H

#include <sys/types.h>

#include "capture/operands/operands.h"
#include "capture/perf/tasks/tasks.h"

struct cf_code; /* a cache of instructions */

struct cf_code *cf_code_new(const struct cf_records *records, const struct cf_tasks *tasks);
void cf_code_free(struct cf_code *c);

/* The instruction that was at an address when the last record happened: from the file that was
   mapped there, or where that was none, is another by now or could be written to, from the
   process's memory. -1 when it cannot be read, is none, or the process runs another program now. */
int cf_code_read(struct cf_code *c, uint32_t pid, uint64_t addr, struct cf_operands *o);

/* Stops the thread for a moment to read its segment bases. -1 where ptrace(2) is not permitted. */
int cf_code_bases(pid_t tid, uint64_t *fs, uint64_t *gs);

#endif
