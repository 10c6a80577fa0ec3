/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parts.h - private to the capture's side of capture/alloc.
 */
#ifndef CF_ALLOC_PARTS_H
#define CF_ALLOC_PARTS_H

#include "alloc.h"
#include "formats/base/cf_hash.h"
#include "shared.h"
#include "sites.h"

enum { ALLOC_BATCH = 1024 };

/* What is known of a ring beside what it says itself. */
struct alloc_ring {
    uint64_t head;  /* up to here its records have been looked at */
    uint64_t tail;  /* and up to here written */
    uint64_t bound; /* it is complete up to this time */
    uint64_t owner; /* as last seen */
};

struct alloc_process {
    uint32_t image;   /* each process that runs a program has another; 0: none is here */
    uint16_t age;     /* of its code, as its last stack has it: another age, another image */
    uint32_t *node;   /* of each stack: of table stack, 0 not known */
    size_t node_room; /* stacks */
};

/* A node of the tree by its parent, or its image where it has none (with ALLOC_ROOT in pc). */
struct alloc_edge {
    uint64_t pc;
    uint32_t parent;
    uint32_t node; /* 0: free */
};

#define ALLOC_ROOT (1ULL << 63)

struct alloc_objects {
    uint64_t time[ALLOC_BATCH], addr[ALLOC_BATCH], bytes[ALLOC_BATCH];
    uint32_t pid[ALLOC_BATCH], tid[ALLOC_BATCH], stack[ALLOC_BATCH];
    uint8_t op[ALLOC_BATCH];
    uint32_t count;
};

struct alloc_nodes {
    uint64_t pc[ALLOC_BATCH];
    uint32_t pid[ALLOC_BATCH], node[ALLOC_BATCH], parent[ALLOC_BATCH];
    uint32_t count;
};

struct alloc_next {
    uint64_t key; /* of a ring's next record: twice its time, and 1 if it is no stack */
    uint32_t ring;
};

struct cf_alloc {
    struct cf_writer *w;
    char *library, *path; /* of the shared memory */
    int fd;
    char *base;
    struct cfa_header *header;
    uint32_t ring_words;           /* as in the header, where the program may write */
    uint64_t scanned, known, last; /* times: of the last look, what is known, the last row's */
    uint64_t buried;               /* when it was looked who has gone */
    uint64_t origin;               /* the time that is 0 in rows */
    struct alloc_ring ring[CFA_RINGS];
    struct alloc_process process[CFA_PROCESSES];
    struct alloc_next heap[CFA_RINGS];
    uint32_t heap_count;
    uint32_t images, nodes, fullest;
    uint32_t *image_pid; /* of each image, from 1 */
    size_t image_room;
    struct alloc_edge *edge;
    size_t edges; /* a power of two */
    struct cf_seed seed;
    struct sites *sites; /* NULL: nothing is left out by samples */
    struct alloc_objects objects;
    struct alloc_nodes new_nodes;
    struct cf_alloc_result result;
};

static inline struct cfa_ring *alloc_ring_of(const struct cf_alloc *a, unsigned i)
{
    return (struct cfa_ring *)(a->base + cfa_ring_at(i));
}

static inline struct cfa_process *alloc_process_of(const struct cf_alloc *a, unsigned i)
{
    return (struct cfa_process *)(a->base + cfa_process_at(i));
}

uint64_t alloc_now(void);

/* rings.c: takes in what a process has counted; it has gone, or is not recorded any more. */
void alloc_bury(struct cf_alloc *a, unsigned process);
/* The capture has read more of a ring, for which its thread may wait. */
void alloc_was_read(struct cf_alloc *a, unsigned ring);

/* contexts.c: the node of a stack whose frames a ring has from word `at` on. 0: there is none. -1
   without memory, or when the writer takes no more. */
int64_t alloc_node(struct cf_alloc *a, uint32_t image, uint32_t pid, const uint64_t *words,
                   uint64_t at, uint32_t frames);
int alloc_put_nodes(struct cf_alloc *a);

#endif
