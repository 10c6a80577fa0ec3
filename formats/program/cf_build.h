/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_build.h - which build of a file it is: what captures record of mapped files in column build
 * (cf-stream(5)), and what cf-resolve holds against it before it takes names from a file.
 */
#ifndef CF_BUILD_H
#define CF_BUILD_H

#include <stddef.h>

enum {
    CF_BUILD_ID_MOST = 64, /* bytes of a build id; linkers make 8 to 20 */
    CF_BUILD_TEXT = 192,   /* bytes of a text, with its end */
};

/* The build could not be found out: the file was gone, or another one had its name. */
#define CF_BUILD_UNKNOWN "unknown"

/* Writes which build of a file is open: "build-id:HEX" from the ELF note of the linker, else
   "size:BYTES mtime:SECONDS.NANOSECONDS". "" where it is no regular file, or cannot be read. */
void cf_build_read(int fd, char *text);

/* The build id in such a text: its bytes, and their number, 0 where there is none. */
size_t cf_build_id(const char *text, unsigned char *id);

/* Whether two texts mean one build. A time of whole seconds equals any time in that second: copies
   that archives make keep no more. */
int cf_build_same(const char *a, const char *b);

#endif
