/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_symbol.h - where a symbol of a running program stands in its memory.
 */
#ifndef CF_WATCH_SYMBOL_H
#define CF_WATCH_SYMBOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of the program itself, or of the libraries (and all other files) in its memory, by their symbol
   tables, or those of the program's debug file: the number of places that have the name, of which
   *addr is the first, up to CF_WATCH_SEVERAL. Indirect functions do not count. As of the next ones
   that look, errno is 0 or what the environment refused, so that it may be elsewhere too. */
enum { CF_WATCH_SEVERAL = 16 };
unsigned cf_watch_symbol(pid_t pid, const char *name, int libraries, uint64_t *addr,
                         uint64_t *bytes);

/* Words on these places that end a message, as far as there is room: of the program itself their
   addresses in its file, of libraries which have the name. */
void cf_watch_several(pid_t pid, const char *name, int libraries, char *list, size_t size);

/* What was added to the addresses in the program's file when it was loaded: 0, or -1. */
int cf_watch_bias(pid_t pid, uint64_t *bias);

/* Where the program proper begins, when its libraries have been loaded; 0 when that is not known.
 */
uint64_t cf_watch_entry(pid_t pid);

#endif
