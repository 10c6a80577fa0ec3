/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hill.h - the state of rule hill.
 */
#ifndef CLASSIFY_HILL_H
#define CLASSIFY_HILL_H

#include "filters/parts/classify/classify.h"
#include "filters/engine/classes/coherence.h"
#include "filters/engine/rows/cores.h"
#include "filters/engine/cache/hierarchy.h"
#include "filters/engine/classes/threec.h"

enum { PIECE = CF_WIRE_ROWS };

struct hill;

/* A level that is classified. */
struct watched {
    struct hill *h;
    char name[32];
    unsigned level;                 /* index into the machine's levels */
    unsigned caches;                /* that the level has */
    unsigned shared;                /* cores a cache */
    uint8_t cache_of[CF_MAX_CORES]; /* of each core */
    unsigned key_shift;             /* of the keys of processes: see keys() */
    struct cf_threec **three;       /* of each cache, or NULL */
    struct cf_coherence *shares;    /* instead, or NULL */
    int own;                        /* with caches of its own: nothing is watched */
    int data, fetches;              /* accesses that are classified */
    struct cf_class_counts counts;  /* misses */
    uint32_t *miss_row;             /* for `shares`: the misses of the piece */
    uint64_t *miss_line;
    uint32_t misses;
    size_t room;
};

struct hill {
    struct classify *c;
    struct cf_machine *m;
    struct cf_hierarchy *model; /* NULL where a level with its own caches is all there is */
    int own;                    /* a level has its own caches: the model is for fetches only */
    int all_levels;             /* all levels are modelled, for column hit */
    struct cf_cores *cores;
    unsigned core_count;
    uint32_t shortest;  /* line of the machine */
    unsigned key_shift; /* of the keys of processes in the model */
    struct watched watch[2];
    unsigned watches;
    int failed; /* without memory in a watcher */
    int hit_warned;

    /* the piece */
    uint8_t *class; /* of its rows */
    const uint8_t *op;
    uint8_t hit[PIECE], core[PIECE], cache[PIECE], missed[PIECE];
    uint64_t space[PIECE], key[PIECE];
    uint8_t found[CF_HIERARCHY_REFS];
    uint8_t *hits; /* of a frame, for column hit */
};

/* Watchers, for cf_hierarchy_watch(). One cache, all of whose references come here. */
void hill_see_alone(void *arg, const struct cf_hierarchy_refs *refs);
/* Private caches: their misses are kept for coherence.h, which sees the words of the accesses. */
void hill_see_shared(void *arg, const struct cf_hierarchy_refs *refs);

/* hill_model.c: makes the state. */
void *hill_begin(struct classify *c);

#endif
