/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * missing.h - says which processes and calls a recording lacks, and why; and what Valgrind said.
 */
#ifndef CF_TRACE_MISSING_H
#define CF_TRACE_MISSING_H

#include "capture/trace/reader.h"
#include "formats/program/cf_tool.h"

/* Why this program cannot be recorded, and what to do; NULL: it can. */
const char *cf_missing_refuses(const char *path);

/* One warning for each reason. CF_EXIT_INPUT where processes are missing that were to be recorded:
 * those that are not followed are none. After the end of the recording. */
int cf_missing_tell(const struct cf_tool *tool, const struct cf_trace *trace);

/* A warning where processes have no allocation function that is known. */
void cf_missing_heaps(const struct cf_tool *t, const struct cf_decode *decoder);

/* One warning for each reason why calls are not on the paths of a recording that keeps the
 * outermost `depth`. */
void cf_missing_calls(const struct cf_tool *t, const struct cf_decode *decoder, uint32_t depth);

/* Valgrind's messages, "==PID== TEXT", as they are, or in our words. */
void cf_missing_log(const struct cf_tool *t, FILE *log);

#endif
