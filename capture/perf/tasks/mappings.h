/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mappings.h - what is mapped in a process, and rows of table map that say so. A mapping stays
 * until another takes its place.
 */
#ifndef CF_PERF_MAPPINGS_H
#define CF_PERF_MAPPINGS_H

#include "capture/base/cf_builds.h"
#include "capture/base/cf_maps.h"
#include "formats/stream/cf.h"

struct cf_mapping {
    uint64_t start, end, offset;
    uint8_t perms;
    char *name, *build;
};

/* Zero to begin with. */
struct cf_mappings {
    struct cf_mapping *map;
    size_t count, room;
};

/* Where rows go. */
struct cf_map_rows {
    struct cf_writer *out;
    struct cf_builds builds;
};

/* Those that return a status: -1 when the output takes no more, or without memory. */

/* A mapping that is announced: a row, and what lies in its place is not there any more. A stack is
   noted as large as it may become. */
int cf_mappings_add(struct cf_mappings *p, struct cf_map_rows *rows, uint64_t time, uint32_t pid,
                    const struct cf_maps_line *is);
/* All that a process has, as /proc shows it, at time 0; -1 also where it is not there. */
int cf_mappings_attach(struct cf_mappings *p, struct cf_map_rows *rows, uint32_t pid);
/* A process begins with what another has. */
int cf_mappings_copy(struct cf_mappings *p, const struct cf_mappings *from);
/* Rows of all that is there: CF_MAPPED or CF_UNMAPPED. */
int cf_mappings_rows(const struct cf_mappings *p, struct cf_map_rows *rows, uint64_t time,
                     uint32_t pid, enum cf_op op);
/* Nothing is mapped any more. */
void cf_mappings_clear(struct cf_mappings *p);

/* The one at an address, or NULL. */
const struct cf_mapping *cf_mappings_find(const struct cf_mappings *p, uint64_t addr);

#endif
