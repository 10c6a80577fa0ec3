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

enum { WATCHES = 2 };

struct hill;

/* Misses between private caches. */
struct miss_list {
    uint32_t *row;
    uint64_t *line;
    uint32_t misses;
    size_t room;
};

/* References that a watcher saw and that wait for their classes. */
struct kept {
    uint64_t *line;
    uint32_t *row, *miss;
    uint8_t *flags;
    struct cf_hierarchy_refs *call; /* the arrays of each stand one behind the other */
    size_t refs, misses, calls, ref_room[3], miss_room, call_room;
};

/* Rows that go through the rule together. */
struct piece {
    struct rows in;
    uint8_t *class; /* of its rows; NULL: for a summary alone */
    struct miss_list list[WATCHES];
    int failed; /* without memory in a watcher */

    /* by several threads */
    int later;         /* classes come in later stages, */
    uint8_t op[PIECE]; /* when of the rows only these are there */
    struct kept kept[WATCHES];
    struct cf_coherence_list *runs[WATCHES];
};

static inline unsigned hill_op(const struct piece *p, uint32_t row)
{
    const unsigned op = p->in.op ? p->in.op[row] : CF_LOAD;

    return op && op < CF_CLASS_OPS ? op : CF_LOAD;
}

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
    int first;                      /* accesses come to it first */
    int own;                        /* with caches of its own: nothing is watched */
    int data, fetches;              /* accesses that are classified */
    struct cf_class_counts counts;  /* misses */
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
    struct watched watch[WATCHES];
    unsigned watches;
    int hit_warned, modelled_said;
    const char *whole;      /* why it needs the whole recording, or NULL: parts can be joined; */
    int whole_level;        /* the level with whose name that begins, or -1 */
    struct hill_part *part; /* it is written down, or NULL */
    int joined;             /* parts are: references were counted by them */
    struct piece *one;      /* of one thread */
    struct piece *at;       /* that is in the model, and what is found of its rows: */
    uint8_t hit[PIECE], core[PIECE], cache[PIECE], missed[PIECE];
    uint64_t space[PIECE], key[PIECE];
    uint8_t found[CF_HIERARCHY_REFS]; /* of three */
    uint8_t *hits;                    /* of a frame, for column hit */
};

/* Watchers, for cf_hierarchy_watch(). One cache, all of whose references come here. */
void hill_see_alone(void *arg, const struct cf_hierarchy_refs *refs);
/* Private caches: their misses are kept for coherence.h, which sees the words of the accesses. */
void hill_see_shared(void *arg, const struct cf_hierarchy_refs *refs);

/* hill_stages.c: in a watcher, keeps what it sees for hill_look_kept(). */
void hill_keep(struct piece *p, unsigned watch, const struct cf_hierarchy_refs *refs);
/* The classes of references that reached one cache. -1 without memory. */
int hill_look(struct watched *w, struct piece *p, const struct cf_hierarchy_refs *refs);
/* The model's part of a piece. -1 without memory. */
int hill_model(struct hill *h, struct piece *p, const struct rows *rows, uint8_t *class);
/* What a watcher between private caches says of the piece in the model. */
struct cf_coherence_rows hill_shared_rows(struct watched *w);

/* hill_stages.c: the rule in stages, see classify.h. */
enum { HILL_STAGES = 3 };
void *hill_piece_new(void *state);
void hill_piece_free(void *piece);
int hill_first(void *state, void *piece, const struct rows *rows);
int hill_stage(void *state, void *piece, unsigned stage);

/* hill_model.c: makes the state. */
void *hill_begin(struct classify *c);

/* rule_hill.c: references and misses of a watcher. */
struct cf_class_counts hill_counts(const struct watched *w);

/* What a row of a partial result is, in cf-stream(5), "Partial results". */
enum hill_entry {
    HILL_PROCESS = 1, /* key1: its number; key2: hill_what() */
    HILL_FIRST,       /* key1: the line's address */
    HILL_HELD,        /* the same: it is there at the end */
    HILL_COUNTS,      /* key1: which level; sums: hill_sums() */
    HILL_END,
};

static inline uint64_t hill_what(unsigned op, unsigned machine, uint32_t process)
{
    return op | machine << 8 | (uint64_t)process << 32;
}

/* By operation: references, and misses of the two classes that need nothing of parts before. */
enum { HILL_SUMS = 3 * (CF_CLASS_OPS - CF_LOAD) };
static inline void hill_sums(struct cf_class_counts *c, uint64_t **sum)
{
    for (unsigned op = CF_LOAD; op < CF_CLASS_OPS; op++) {
        *sum++ = &c->references[op];
        *sum++ = &c->misses[op][CF_CLASS_CAPACITY];
        *sum++ = &c->misses[op][CF_CLASS_CONFLICT];
    }
}

/* hill_part.c: a part is written down. */
struct hill_part *hill_part_new(struct cf_partial *partial, struct hill *h, unsigned machine);
void hill_part_free(struct hill_part *p);
/* A watcher saw the first use of a line, by a row of the piece at hand. -1 without memory. */
int hill_part_first(struct hill_part *p, unsigned watch, uint32_t row, uint64_t line);
/* All watchers have looked at a piece. */
void hill_part_piece(struct hill_part *p, const struct piece *piece);
void hill_part_end(struct hill_part *p);

/* hill_join.c: frames of parts, in their order, go into the states of rule hill. */
struct hill_joined *hill_joined_new(struct cf_partial *partial, void *const *state,
                                    unsigned machines);
void hill_joined_free(struct hill_joined *j);
void hill_joined_frame(struct hill_joined *j, const struct cf_frame *f);

#endif
