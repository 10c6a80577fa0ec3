/* SPDX-License-Identifier: BSD-2-Clause */
/* model.h - the state of the model: what model.c and policy.c share. */
#ifndef MODEL_H
#define MODEL_H

#include "tests/reference/reference.h"

enum { PAGES = 64, PAGE = 4096, WANTED = 64 };

/* A byte of the memory of a process: the first of a line, or any in it. */
struct place {
    uint32_t process;
    uint64_t byte;
};

struct way {
    int valid, dirty;
    uint32_t process;
    uint64_t number; /* of the line: address / bytes of a line */
    int brought;     /* by the prefetcher, and not asked for since */
    /* What the policy knows of the way; it stays when a line is taken out. */
    uint64_t touched, came; /* when: LRU, FIFO */
    int bit;                /* bit-PLRU, NRU */
    int value;              /* SRRIP: 0 to 3 */
};

/* What the stride prefetcher knows of a page. */
struct page {
    int valid;
    uint32_t process;
    uint64_t number, last; /* of the page; of the line that was asked for last */
    int64_t step;
};

struct cache {
    struct way *way;  /* those of set 0, of set 1, ... */
    int *upper_older; /* tree-PLRU, `ways` a set: of node n, from 1; its halves are 2n and 2n+1 */
    uint64_t random;
    struct page page[PAGES];
};

struct model {
    struct machine machine;
    struct cache cache[LEVELS][CORES];
    uint64_t counts[LEVELS + 1][COUNTS];
    uint64_t clock;
    listener *listener;
    void *listener_arg;

    /* the line access at hand */
    unsigned core;
    enum op op;   /* what its references count as */
    int fetch;    /* it takes the way of instruction fetches */
    int hardware; /* a prefetcher made it */
    uint64_t row_first, row_last;
    unsigned wanted_count; /* what prefetchers asked for */
    struct {
        int level, fetch;
        struct place place;
    } wanted[WANTED];
};

/* ---- levels.c ---- */

/* The next level outwards for accesses of a kind, or MEMORY. */
int behind(const struct machine *m, int level, int fetch);
/* The way of what is written: that of data, unless the cache is one for instructions. */
int behind_writes(const struct machine *m, int level);
/* Do some accesses come through `inner` to `outer`? */
int is_before(const struct machine *m, int inner, int outer);
unsigned cache_of(const struct machine *m, int level, unsigned core);
/* Does a core use both cache `a` and cache `b`? */
int same_core(const struct machine *m, int level_a, unsigned a, int level_b, unsigned b);

/* ---- lines.c ---- */

/* The cache of the core at hand. */
unsigned here(const struct model *m, int level);
unsigned set_of(const struct model *m, int level, struct place p);
/* The way that holds a line, or NULL. */
struct way *find(struct model *m, int level, unsigned cache, struct place p);
struct way *find_here(struct model *m, int level, struct place p);
void count(struct model *m, int level, enum count what);
/* For the listener. */
void tell(struct model *m, int level, unsigned cache, struct place p, enum how how, int missed);
/* A hit of the core at hand. */
void touch(struct model *m, int level, struct way *w);
/* Takes the lines that hold one of `bytes` bytes from `p` on out of a cache, or makes them clean.
   Returns whether one was dirty. */
int take(struct model *m, int level, unsigned cache, struct place p, unsigned bytes, int clean_only,
         enum count what);
/* inclusive: what such a level loses, the levels before it lose too. Returns whether one had it
   dirty. */
int take_before(struct model *m, int level, unsigned cache, struct place p);
/* Is the line dirty in a cache that no core uses which uses ours of `level`? */
int dirty_elsewhere(struct model *m, struct place p);
/* What leaves `level` on its way outwards asks the other caches that meet it at the next level. */
void snoop(struct model *m, int level, struct place p, int own);
/* A store to a line that our core holds: all other copies go. */
void take_all(struct model *m, int level, struct place p);

/* ---- model.c ---- */

/* A dirty line of `bytes` bytes leaves a level and comes to this one. */
void write_line(struct model *m, int level, struct place p, unsigned bytes);

/* ---- policy.c ---- */

void policy_new(struct model *m, int level, unsigned cache);
/* A hit; or, `came`, a line that has just been put there. */
void policy_touched(struct model *m, int level, unsigned cache, struct way *w, int came);
/* The way that the next line of the set gets. */
struct way *policy_choose(struct model *m, int level, unsigned cache, unsigned set);

/* An access came to the level: `w` is where it found its line, or NULL. */
void prefetcher_sees(struct model *m, int level, struct place p, struct way *w);

#endif
