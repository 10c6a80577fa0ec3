/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reap.h - waiting for children at a real-time priority.
 *
 * The last thread of a process reports its end to the parent before it has cleared away what the
 * kernel keeps of it under /proc. A parent of a higher real-time priority on the same CPU comes
 * between, releases the process, and the kernel then waits in a busy loop for that very clearing
 * (release_task, proc_flush_pid, shrink_dcache_parent): where the thread may run on that CPU only,
 * both stay there for ever, and no signal ends it. So the dead are released with ordinary priority,
 * which lets the thread finish first.
 */
#ifndef CF_WATCH_REAP_H
#define CF_WATCH_REAP_H

#include <sys/types.h>

/* waitpid(-1, status, WNOHANG | WUNTRACED | options), of which no call releases a child while this
   thread has a real-time priority. `options` is 0 or __WALL. */
pid_t cf_reap_next(int *status, int options);

/* The stop of one child, if it stands; else 0, also where a signal has made it one of the dead
   meanwhile, which cf_reap_next() then reports. */
pid_t cf_reap_stop(pid_t pid, int *status, int options);

#endif
