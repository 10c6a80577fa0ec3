/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_debug.h - the file that holds the symbols of a stripped one.
 */
#ifndef CF_WATCH_DEBUG_H
#define CF_WATCH_DEBUG_H

#include <libelf.h>

/* A descriptor of the debug file of an ELF file that is open and has this path, or -1. It is looked
   for where GDB does ("Debugging with GDB", "Debugging Information in Separate Files"): by build id
   and by the name of .gnu_debuglink. One of another build is not taken. */
int cf_watch_debug_file(Elf *elf, int fd, const char *path);

#endif
