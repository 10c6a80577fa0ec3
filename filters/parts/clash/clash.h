/* SPDX-License-Identifier: BSD-2-Clause */
/* clash.h - the parts of cf-clash: profiles from streams and CSV files, and what is printed. */
#ifndef CLASH_H
#define CLASH_H

#include "filters/engine/snapshot/clash.h"
#include "filters/engine/snapshot/snapshots.h"
#include "formats/program/cf_tool.h"

/* One program in isolation. */
struct profile {
    char *name;
    double *active, *reused; /* quota, by snapshot */
    size_t count, room;
};

struct clash_options {
    enum cf_clash_lengths lengths;
    uint8_t level;  /* 0: the last one of each file */
    uint64_t lines; /* of the cache, where snapshots do not state them */
    const char *slowdown, *names;
    int no_self, correlation;
};

/* One (observed, interfering). */
struct pair {
    uint32_t observed, interfering;    /* profiles */
    double excess, eviction, slowdown; /* slowdown: NaN where not known */
};

struct clash {
    struct cf_tool tool;
    struct clash_options o;
    struct profile *profile;
    uint32_t profiles;
    struct cf_snapshot cache; /* of the first profile that is of snapshots */
    struct pair *pair;        /* interfering by interfering */
    uint32_t pairs;
};

/* The pair of two programs, NULL where it was left out. */
struct pair *clash_pair(const struct clash *c, uint32_t observed, uint32_t interfering);

/* ---- clash_profiles.c ---- */

/* Profile of a stream of snapshots; NULL is standard input. What is wrong is reported and noted in
   status; what could be read is there. */
void read_stream(struct clash *c, struct profile *p, char *file);

/* Profile as cf-sets writes it, of all known processes together. */
void read_profile(struct clash *c, struct profile *p, const char *file);

/* observed, interfering, slowdown into the pairs. */
void read_slowdowns(struct clash *c, const char *file);

#endif
