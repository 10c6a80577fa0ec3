/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_builds.h - the builds of files that processes on this machine map, for column build of table
 * map.
 *
 * The recorder looks at a file when it learns of a mapping, shortly after it was made: another file
 * may have the name by then. A capture that knows device and inode of what was mapped states them.
 */
#ifndef CF_BUILDS_H
#define CF_BUILDS_H

#include <stdint.h>
#include <sys/stat.h>

#include "formats/program/cf_build.h"

/* Zero to begin with; nothing is to be freed. The last file is kept, since a loader maps the parts
   of a file one after the other. */
struct cf_builds {
    char path[4097];
    struct stat st;
    char text[CF_BUILD_TEXT];
};

/* The build of the file that a mapping's name means: "" where it is no path or no regular file.
   Device and inode 0: not known. Valid until the next call. */
const char *cf_builds_find(struct cf_builds *b, const char *name, uint64_t device, uint64_t inode);

#endif
