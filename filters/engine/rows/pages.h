/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.h - memory for tables that are read at random. Over many megabytes such reads cost more for
 * the translation of addresses than for the memory, unless pages are huge.
 */
#ifndef CF_PAGES_H
#define CF_PAGES_H

#include <stddef.h>

/* `bytes` of memory that begin with a cache line, not cleared; free() takes it back. From 2 MiB up
   it begins with a huge page, and as far as it fills such pages it is in them, where the system has
   any to give. NULL without memory. */
void *cf_pages_take(size_t bytes);

#endif
