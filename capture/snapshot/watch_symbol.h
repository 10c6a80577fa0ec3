/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_symbol.h - where a symbol of a running program stands in its memory.
 */
#ifndef CF_SNAPSHOT_WATCH_SYMBOL_H
#define CF_SNAPSHOT_WATCH_SYMBOL_H

#include <stdint.h>
#include <sys/types.h>

/* Of the program itself, not of its libraries, by its symbol table: 0, or -1 when there is none of
   that name. */
int watch_symbol(pid_t pid, const char *name, uint64_t *addr, uint64_t *bytes);

#endif
