/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * earlier.h - the instructions of an earlier stream, by the places of files that they were mapped
 * from, those with the most misses first; those with the most accesses where the stream has neither
 * column hit nor level.
 *
 * Memory: a table of the instructions, and the mappings of all processes of the stream.
 */
#ifndef CF_PERF_EARLIER_H
#define CF_PERF_EARLIER_H

#include "capture/perf/fine.h"
#include "formats/program/cf_tool.h"

/* Hands the places on to the fine stage; exits where the file is no such stream. Returns how many
   instructions there were. */
size_t cf_earlier_read(struct cf_tool *t, char *file, struct cf_fine *fine);

#endif
