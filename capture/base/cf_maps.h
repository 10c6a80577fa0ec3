/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_maps.h - mappings of processes as Linux lists them (/proc/PID/maps), for captures that read
 * such lists again and again: only what has changed since the last one becomes rows.
 *
 * Memory: the last list of each process.
 */
#ifndef CF_MAPS_H
#define CF_MAPS_H

#include <stdint.h>

#include "formats/stream/cf.h"

struct cf_maps;

struct cf_maps_line {
    uint64_t start, end, offset;
    uint64_t device, inode; /* of the file */
    uint8_t perms;          /* enum cf_perms */
    char *name;             /* to be freed */
};

enum { CF_MAPS_PATH = 64 };

/* Where a process of this machine has its list: /proc/PID/maps, or where that is empty since its
   main thread has ended, that of a thread which lives. */
void cf_maps_path(uint32_t pid, char path[CF_MAPS_PATH]);

/* One line, "start-end perms offset device inode   name": 0, or -1 when it is no such line or there
   is no memory, which need not be distinguished. */
int cf_maps_scan(const char *p, const char *end, struct cf_maps_line *line);

/* NULL without memory. `live`: of processes that run on this machine: rows state which build of a
   file is mapped. */
struct cf_maps *cf_maps_new(int live);
void cf_maps_free(struct cf_maps *m);

/* Takes in a whole list: rows of table map say what came and went since the list before of that
   process, the mappings that went first. `text` need not end in a zero. Lines that are none are
   left out and counted into *bad. -1 when there is no memory or the writer takes no more. */
int cf_maps_update(struct cf_maps *m, struct cf_writer *w, uint64_t time, uint32_t pid,
                   const char *text, size_t length, unsigned *bad) CF_MUST_CHECK;

/* A process begins as a copy of its parent, as cf-stream(5) says; a parent that is not known has
   no mappings. -1 without memory. */
int cf_maps_fork(struct cf_maps *m, uint32_t pid, uint32_t parent) CF_MUST_CHECK;

/* The process has ended, or nothing is known of it any more. */
void cf_maps_forget(struct cf_maps *m, uint32_t pid);

/* Whether the process has a mapping there: 1, 0, or -1 when no list of it came yet. */
int cf_maps_find(struct cf_maps *m, uint32_t pid, uint64_t addr);

/* File name, without directories, of the first executable mapping; "" when there is none. */
const char *cf_maps_program(struct cf_maps *m, uint32_t pid);

#endif
