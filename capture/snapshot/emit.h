/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit.h - what was seen becomes rows: snapshots as the Shutter hands them out, and what was noted
 * of the observed processes meanwhile.
 *
 * Notes are kept until the snapshot is written that they belong to, so that in transparent mode
 * nothing is written, and no cache is filled with it, before all is over.
 */
#ifndef CF_SNAPSHOT_EMIT_H
#define CF_SNAPSHOT_EMIT_H

#include <stdint.h>

#include "capture/base/cf_maps.h"
#include "kmod/cacheflow.h"

enum owners {
    OWNERS_OBSERVED, /* a line once for each observed process that maps it, else its first owner */
    OWNERS_FIRST,
    OWNERS_ALL,
};

struct cf_note; /* of a process: begin, name, mappings, end */

struct cf_emit {
    struct cf_writer *out;
    struct cf_maps *maps;
    enum owners owners;
    uint64_t start_ns; /* CLOCK_MONOTONIC at time 0 of the stream */
    uint32_t number;   /* snapshots written */
    struct cf_note *first, **last;
    uint32_t *pid; /* processes that are observed at the last note that was written */
    size_t pids;
    unsigned bad_maps; /* lines of lists that could not be read */
    int maps_refused;  /* why a list could not be read of a process that is there, or 0 */
    const char *problem;
    uint64_t *phys, *addr;
    uint32_t *set, *way, *owner;
    uint8_t *state;
    size_t room;
    uint64_t owners_missing; /* that the Shutter had no room for */
};

/* 0, or -1 without memory. */
int cf_emit_open(struct cf_emit *e, struct cf_writer *out);
void cf_emit_free(struct cf_emit *e);

/* Notes; times are CLOCK_MONOTONIC. -1 without memory. */
int cf_emit_begin(struct cf_emit *e, uint64_t ns, uint32_t pid, uint32_t parent, const char *name);
int cf_emit_named(struct cf_emit *e, uint64_t ns, uint32_t pid, const char *name);
int cf_emit_ended(struct cf_emit *e, uint64_t ns, uint32_t pid);
/* Takes `text` over. */
int cf_emit_maps(struct cf_emit *e, uint64_t ns, uint32_t pid, char *text, size_t length);

/* Writes the notes up to a time. -1 when the output takes no more. */
int cf_emit_notes(struct cf_emit *e, uint64_t until_ns);

/* Writes the notes before it and a snapshot of so many bytes, which has not been checked yet.
   `mode`: enum cf_mode. -1 with `problem` when it is damaged, without when the output takes no
   more. */
int cf_emit_snapshot(struct cf_emit *e, const void *bytes, size_t length, unsigned mode);

#endif
