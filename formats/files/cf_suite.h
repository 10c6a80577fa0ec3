/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_suite.h - where the suite is installed, or built.
 */
#ifndef CF_SUITE_H
#define CF_SUITE_H

#include <limits.h>

/* Directory of this suite's data ("share/cacheflow") or private programs ("libexec/cacheflow"),
   found beside the running program's directory; a static buffer. */
const char *cf_suite_dir(const char *which);

/* Directory of the running program: 0, or -1 where it cannot be known. */
int cf_suite_own(char dir[PATH_MAX]);

#endif
