/* SPDX-License-Identifier: BSD-2-Clause */
/* share.h - work that does not depend on the rest, by several threads. */
#ifndef CF_SHARE_H
#define CF_SHARE_H

#include <stddef.h>

enum { CF_SHARE_THREADS = 64 };

/* Calls f(arg, i, thread) for all i below `count`, each once, by at most so many threads, numbered
   from 0; without others, by the caller's. */
void cf_share(size_t count, unsigned threads, void (*f)(void *arg, size_t i, unsigned thread),
              void *arg);

#endif
