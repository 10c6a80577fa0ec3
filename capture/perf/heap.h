/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap.h - heap objects beside the samples, by libcf-alloc.so in the program: rows of tables object
 * and stack, and what is said of them.
 */
#ifndef CF_PERF_HEAP_H
#define CF_PERF_HEAP_H

#include "capture/alloc/alloc.h"
#include "formats/program/cf_tool.h"

enum { CF_HEAP_PROGRAMS = 64 };

struct cf_heap_options {
    int none;          /* no heap objects */
    uint32_t depth;    /* callers kept */
    uint32_t throttle; /* percent of the mean miss ratio, below which a site is left out; 0: none */
    uint64_t least;    /* samples by weight that say enough of a site; 0: samples say nothing */
};

struct cf_heap {
    struct cf_tool *tool;
    struct cf_heap_options o;
    struct cf_alloc *alloc;          /* NULL: no objects are recorded */
    uint64_t throttled_ns;           /* when sites were looked at */
    char *program[CF_HEAP_PROGRAMS]; /* of which something was said */
    unsigned programs;
};

/* Where objects cannot be recorded this is said, and all functions do nothing. */
void cf_heap_begin(struct cf_heap *h, struct cf_tool *t, const struct cf_heap_options *o,
                   struct cf_writer *w, uint64_t origin);

/* Says of a program file, before or when it runs, that its objects cannot be recorded, and returns
   0; 1 where they can. */
int cf_heap_program(struct cf_heap *h, const char *path);

/* In the child. */
void cf_heap_environment(const struct cf_heap *h);

/* The library's file, which runs in the program and is not of it; or NULL. */
const char *cf_heap_library(const struct cf_heap *h);

/* Up to when objects are known, UINT64_MAX where none are recorded. */
uint64_t cf_heap_known(struct cf_heap *h);
/* How long the caller may sleep, in milliseconds, at most `most`. */
int cf_heap_pause(const struct cf_heap *h, int most);

/* A sample, for its object's site. These return -1 as cf_alloc_rows(). */
int cf_heap_sampled(struct cf_heap *h, uint32_t pid, uint64_t addr, uint64_t weight, int missed);
/* Rows of before `until`; leaves out sites with few misses. */
int cf_heap_rows(struct cf_heap *h, uint64_t until, uint64_t now);
/* In a segment that has just begun. */
int cf_heap_repeat(struct cf_heap *h);
/* Writes what is left, says what is missing and frees. */
int cf_heap_end(struct cf_heap *h);

#endif
