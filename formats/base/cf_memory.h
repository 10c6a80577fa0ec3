/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_memory.h - memory for large buffers and for texts; private to this suite.
 *
 * Tables of a hundred thousand entries that are read at random cost a walk through the page tables
 * at nearly every step. In huge pages they do not: packing and unpacking gain 5 to 10 %, and over
 * many megabytes such reads cost more for the translation of addresses than for the memory.
 */
#ifndef CF_MEMORY_H
#define CF_MEMORY_H

#include <stdio.h>

#include "formats/stream/cf.h"

/* `bytes` of memory that begin with a cache line, not cleared; free() takes it back. From 2 MiB up
   it begins with a huge page, and as far as it fills such pages it is in them, where the system has
   any to give. NULL without memory. */
void *cf_memory_take(size_t bytes) CF_MUST_CHECK;

/* As realloc(), of which `used` bytes are kept; free() takes it back. A buffer of a megabyte or
   more begins a huge page of its own and is in huge pages, where the system has any to give. */
void *cf_memory_grow(void *old, size_t used, size_t bytes) CF_MUST_CHECK;

/* Closes a stream of open_memstream() and returns its text, NULL when any of it did not fit into
   memory. */
char *cf_memory_text(FILE *f, char **text) CF_MUST_CHECK;

/* Room for `count` elements of `width` bytes in the array that *(T **)array points to, which has
   room for *room: at least twice as much where it must grow. -1 without memory, and then nothing
   has changed. */
int cf_array_room(void *array, size_t *room, size_t count, size_t width) CF_MUST_CHECK;
/* The same, and what is new is 0. */
int cf_array_cleared(void *array, size_t *room, size_t count, size_t width) CF_MUST_CHECK;

/* Bytes that grow. Room is added before it is written to, so that writers need no checks. */
struct cf_bytes {
    uint8_t *data;
    size_t used, room;
};

/* Room for so many bytes more. 0, or -1 without memory. */
int cf_bytes_room(struct cf_bytes *b, size_t more) CF_MUST_CHECK;
/* Appends so many bytes. 0, or -1 without memory. */
int cf_bytes_add(struct cf_bytes *b, const void *data, size_t bytes) CF_MUST_CHECK;

#endif
