/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resolve.h - what the parts of cf-resolve share: the names of mapped files, the address spaces of
 * the processes, and the texts for program counters and call stacks.
 *
 *     names.c    what a mapping's name means, its ELF file, and the text of its region
 *     spaces.c   processes with their mappings and heap objects, as events change them
 *     mappings.c the mappings of a process and their regions
 *     places.c   function and source line of a pc, allocation site of a call stack
 *
 * All of it belongs to one segment of a stream: string ids are those of the writer's segment.
 * Memory: the mappings and heap objects that live now, in two or three states of time (see below),
 * and each distinct file name, pc and call stack of the segment.
 */
#ifndef CF_RESOLVE_H
#define CF_RESOLVE_H

#include "filters/engine/rows/intervals.h"
#include "filters/parts/resolve/recent.h"
#include "filters/parts/resolve/symbols.h"
#include "formats/stream/cf.h"

/* ---- names.c ---- */

enum kind {
    KIND_FILE,  /* pages count from the start of the mapping */
    KIND_ANON,  /* from the start of the mapping, whatever becomes of its parts */
    KIND_STACK, /* from the top, since it grows down */
    KIND_NAMED, /* [heap] and the like: from the start, contiguous growth continues */
    KIND_BSS,   /* zero-filled data of a file: from its start */
};

struct name {
    const char *text;
    enum kind kind;    /* FILE, ANON, STACK or NAMED */
    const char *build; /* of the file, as it was recorded */
    int opened;        /* `symbols` was tried */
    enum lack lack;    /* of the file */
    int said;          /* where->changed() or missing() was called, if it had to be */
    int allocator;     /* its functions allocate for others: C and C++ library, loader */
    struct symbols *symbols;
    uint16_t seen;      /* permissions that a region of this name had, bit = enum cf_perms */
    uint64_t first[16]; /* and with each the file offset of the first one */
};

struct names {
    struct name *at; /* 0 is not used */
    size_t room;
    struct cf_strings *texts; /* by number; NULL: none yet */
    const struct where *where;
};

/* Number of the name of a mapping with the build of its file, from 1; 0 without memory. */
uint32_t names_find(struct names *n, const char *text, const char *build);
/* ELF file of a name, NULL if there is none. */
struct symbols *names_symbols(struct names *n, uint32_t name);
/* Nothing of the name's file can be named: says so where the reason is that it changed or is
   not there. */
void names_missed(struct names *n, uint32_t name);
void names_clear(struct names *n);

/* ---- spaces.c ---- */

/* One mapping as it was made; its parts share it when it is cut. */
struct region {
    uint64_t base; /* page = ((addr - base) ^ flip) >> page shift: from the start up, or from the */
    uint64_t flip; /* end down */
    uint64_t bias; /* memory address minus virtual address in the ELF file */
    struct symbols *symbols; /* NULL: no ELF file, or no segment of it */
    uint32_t text;           /* string id, 0 = not made yet */
    uint32_t name, refs;
    uint32_t number;            /* of kind ANON, in its process */
    uint8_t kind, perms, plain; /* plain: the text needs no address to be unique */
    uint64_t start, offset;     /* as it was first mapped */
};

/* A set that a forked process shares until one of the two changes it. */
struct shared {
    struct cf_intervals *set;
    uint32_t refs;
};

struct first_of {
    uint32_t name;
    uint64_t base;
};

enum { FIRSTS = 32 };

struct space {
    uint32_t pid, parent, threads;
    uint64_t layout;         /* changes whenever its mappings do; never twice the same */
    uint64_t code;           /* changes whenever its executable mappings do; never twice the same */
    struct shared *maps;     /* value = number of the region */
    struct shared *objects;  /* value = number of the object, extra = string id of its site */
    struct shared *unmapped; /* ahead: objects whose memory is gone and whose release may come */
    struct first_of firsts[FIRSTS]; /* regions of kind NAMED and STACK that got the plain name */
    unsigned first_count;
    struct shared *anon; /* where memory without a name began; value = its number */
    uint64_t forked;     /* when it inherited, UINT64_MAX: it did not */
    int dying;
};

/* A row of map, object or task that waits for its time. */
struct event {
    uint64_t time;
    uint64_t start, last, offset; /* of an object: [start, last] */
    uint32_t pid;
    uint32_t a; /* map: name; task: parent; object: its number */
    uint32_t b; /* task: tid; object: string id of its site */
    uint8_t op, perms;
};

struct death {
    uint64_t time;
    uint32_t pid;
};

/* All processes at one time. Two at least: at the time of the accesses that go out, and ahead of
   them at the time of the last object row, whose stacks need mappings that accesses may not see. */
struct world {
    struct resolver *r;
    struct space **space;
    size_t count, room;
    struct cf_counts *at; /* place in `space`, from 1, by pid; NULL: none yet */
    struct death *deaths; /* processes that end after this time, oldest first */
    size_t death_first, death_count, death_room;
};

/* What was wrong with what the input means. */
struct oddities {
    uint64_t bad_maps;      /* ranges that are none */
    uint64_t overlaps;      /* objects dropped since another was allocated over them */
    uint64_t unknown_frees; /* releases of what was not allocated */
    uint64_t unstated;      /* mappings of files with names, without a build */
    uint64_t late;          /* accesses whose time has been passed already */
};

struct resolver {
    struct cf_writer *w;
    struct names names;
    struct region *regions; /* 0 = none */
    uint32_t region_count, region_free;
    size_t region_room;
    uint64_t codes; /* last value given to a space's layout or code */
    struct world now, ahead, lines;
    struct recent *recent;
    struct oddities *odd;
    uint8_t *unnamed; /* by string id: it is from region_code() */
    size_t unnamed_room;
    int failed; /* out of memory */
};

struct space *world_space(const struct world *w, uint32_t pid);
/* The set, to be changed: made when there is none, copied when it is shared. */
struct cf_intervals *shared_own(struct resolver *r, struct shared **h, int maps);
/* Its regions are named from the beginning again. */
void space_forget_names(struct resolver *r, struct space *s);
/* Whether the event, as the child of fork begins, says again what it has from its parent. */
static inline int space_repeats(const struct space *s, const struct cf_interval *i,
                                const struct event *e)
{
    return s->forked == e->time && i->start == e->start && i->last == e->last;
}

/* It has no objects. */
void space_forget_objects(struct resolver *r, struct space *s);
/* The memory of objects there is unmapped; there is one at least. */
void space_unmap_objects(struct world *w, struct space *s, uint64_t start, uint64_t last);
/* Makes the event happen. Of a CF_FREE, the object is given; of a CF_ALLOC, number and site. */
void world_apply(struct world *w, const struct event *e);
/* Ends the processes whose time was before `time`; and when the next one does. */
void world_bury(struct world *w, uint64_t time);
uint64_t world_next_death(const struct world *w);
/* Makes the empty world `to` equal to another; they share what neither changes. */
void world_copy(struct world *to, const struct world *from);

void resolver_clear(struct resolver *r);

/* ---- mappings.c ---- */

/* A range is mapped, or no longer is; then objects in it are gone, too. */
void space_map(struct world *w, struct space *s, const struct event *e);
void space_unmap(struct world *w, struct space *s, const struct event *e);
/* Region that holds the address in a space, NULL if none. */
struct region *space_region(struct resolver *r, struct space *s, uint64_t addr, uint64_t key);
/* String id of a region's text. */
uint32_t region_text(struct resolver *r, struct region *g);
/* String id of what stands for the function at a pc where nothing names one: "file+0x1040", the
   address in the file; of a file that names cannot be taken from, "file (another build)",
   "file (not found)" or "file (no symbols)"; else the region's text. */
uint32_t region_code(struct resolver *r, struct region *g, uint64_t pc);
/* Whether a function is one: its id is not 0, nor from region_code(). */
int resolver_names(const struct resolver *r, uint32_t function);
/* Counts a mapping less; the number of a region without any is given out anew. */
void region_drop(struct resolver *r, uint32_t index);

/* ---- places.c ---- */

struct code_place {
    uint32_t function, source; /* string ids; of what nothing names, see region_code() */
    uint32_t inlined;          /* the same, of the functions that it was inlined into */
};

struct site {
    uint32_t text, function, source; /* string ids */
};

struct places;

struct place_options {
    unsigned components; /* of a source path, 0 = all */
    unsigned depth;      /* frames in a site */
    const char **skip;   /* functions that are no allocation sites */
    unsigned skips;
    int no_inline; /* the function is the one that really contains the instruction */
    int inlined;   /* code_place.inlined is wanted, also without places_write_nodes() */
};

struct places *places_new(struct resolver *r, const struct place_options *options);
void places_free(struct places *p);

/* Function and source line of a pc, as ids, for `count` accesses of one process; into `inlined`, if
   not NULL, the functions that it was inlined into. */
void places_find_many(struct places *p, struct space *s, const uint64_t *pc, size_t count,
                      uint32_t *function, uint32_t *source, uint32_t *inlined);

/* One row of table stack. */
void places_node(struct places *p, uint32_t pid, uint32_t node, uint32_t parent, uint64_t pc);
/* A process begins, of which that is the parent, also after both have ended. */
void places_child(struct places *p, uint32_t pid, uint32_t parent);

/* From now on, until places_free(): rows of nodes are written by us, each with its function and
   source line, and where `inlined` the functions that it was inlined into, before the first row
   that uses it. */
void places_write_nodes(struct places *p, int inlined);
/* Writes the row of the node and those of its callers, if that was not done, as the code is mapped
   in `s` (NULL: it is not known) now. */
void places_name_node(struct places *p, struct space *s, uint32_t pid, uint32_t node);
/* Writes those that nobody used. */
void places_rest_of_nodes(struct places *p);

/* Allocation site of a call stack, seen with the mappings that `s` has. */
struct site places_site(struct places *p, struct space *s, uint32_t node);

#endif
