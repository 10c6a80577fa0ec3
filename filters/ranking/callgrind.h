/* SPDX-License-Identifier: BSD-2-Clause */
/* callgrind.h - a profile for KCachegrind of what each source line of each function did. */
#ifndef CF_CALLGRIND_H
#define CF_CALLGRIND_H

#include "filters/ranking/ranking.h"

struct cf_callgrind;

/* Asks the reader for the columns; ends the program without memory, as all these do. */
struct cf_callgrind *cf_callgrind_new(struct cf_tool *t, struct cf_reader *r) CF_MUST_CHECK;
/* Takes a frame of any table. Accesses that lack what says what missed, unlike those before, are
   left out, which is a failure. */
void cf_callgrind_frame(struct cf_callgrind *c, const struct cf_frame *f);
/* Columns that rows must have in common which become one before they come here: see condense.h. */
extern const unsigned cf_callgrind_alike[];
/* Once all is read: writes the profile as by cf_tool_file(). */
void cf_callgrind_write(struct cf_callgrind *c, const char *path);
void cf_callgrind_free(struct cf_callgrind *c);

/* ---- callgrind_calls.c ---- */

#define CF_CALLS_ROOT "(root)" /* calls what no function of a path calls */

struct cf_calls;

struct cf_call {
    const char *caller, *callee; /* as they stand in paths */
    const uint64_t *sum;         /* of what the callee did, with all that it called */
};

/* The calls on these paths, with `sums` sums each; ends the program without memory. */
struct cf_calls *cf_calls_new(const struct cf_tool *t, const struct cf_ranked *paths,
                              unsigned sums);
void cf_calls_free(struct cf_calls *c);
/* How many there are, and the one with this number. */
size_t cf_calls_get(const struct cf_calls *c, size_t i, struct cf_call *call);

#endif
