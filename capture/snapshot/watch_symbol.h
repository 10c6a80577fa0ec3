/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_symbol.h - where a symbol of a running program stands in its memory.
 */
#ifndef CF_SNAPSHOT_WATCH_SYMBOL_H
#define CF_SNAPSHOT_WATCH_SYMBOL_H

#include <stdint.h>
#include <sys/types.h>

/* Of the program itself, or of the libraries (and all other files) in its memory, by their symbol
   tables: 0, or -1 when there is none of that name. Indirect functions do not count. */
int cf_watch_symbol(pid_t pid, const char *name, int libraries, uint64_t *addr, uint64_t *bytes);

/* Where the program proper begins, when its libraries have been loaded; 0 when that is not known.
 */
uint64_t cf_watch_entry(pid_t pid);

#endif
