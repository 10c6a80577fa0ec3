/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shared.h - the memory that libcf-alloc.so and a capture share: who runs, a ring of records for
 * each thread, and which sites are left out.
 *
 * It is a file without a name (memfd), which a process maps by the path in CFA_VARIABLE. It holds,
 * in this order: struct cfa_header on a page; a struct cfa_process for each process; a struct
 * cfa_ring for each thread; for each process a bit for each of its stacks, which is 1 when what
 * they allocate is left out; and the words of the rings. Pages that nobody touches take no memory.
 *
 * A ring has one writer, the thread, and one reader, the capture. Positions count words from the
 * ring's first use and only grow. A record is
 *
 *     word 0    kind (enum cfa_kind) << 56 | what
 *     word 1    time, CLOCK_MONOTONIC in nanoseconds
 *     word 2... as its kind says
 *
 * Times in a ring do not decrease. While a thread is about to take the time of a record, `open`
 * says so: so the capture knows up to when the rings are complete. Whoever waits does so for a
 * limited time. Only 64-bit little-endian machines, where a word is written at once.
 */
#ifndef CF_ALLOC_SHARED_H
#define CF_ALLOC_SHARED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define CFA_VARIABLE "CF_ALLOC_SHARED"

#define CFA_MAGIC 0x31636f6c6c616643ULL

enum {
    CFA_PAGE = 4096,
    CFA_PROCESSES = 256, /* that are recorded at a time, */
    CFA_RINGS = 512,     /* and threads */
    CFA_DEPTH_MOST = 64, /* frames of a call stack */
    CFA_STACK_BITS = 24,
    CFA_SITES = 1 << 16,   /* stacks of a process that can be left out */
    CFA_RING_LEAST = 1024, /* words */
    CFA_RING_MOST = 1 << 21,
    CFA_SIZE_BITS = 64 - CFA_STACK_BITS,
};

enum cfa_kind {
    CFA_FREE = 1,  /* what: address */
    CFA_ALLOC = 2, /* what: address; word 2: stack << CFA_SIZE_BITS | bytes */
    CFA_LARGE = 3, /* what: address; word 2: stack; word 3: bytes */
    CFA_STACK = 4, /* what: stack | frames << 32 | age << 40; return addresses, innermost first */
};

#define CFA_WHAT ((1ULL << 56) - 1)

enum cfa_flag {
    CFA_OWN_MALLOC = 1, /* malloc of the program itself, so that nothing of it is seen */
};

struct cfa_header {
    uint64_t magic;
    uint32_t capture;    /* its process; 0 in no other place stands for none */
    uint32_t depth;      /* frames of a stack */
    uint32_t ring_words; /* a power of two */
    uint32_t closed;     /* record no more */
    uint32_t throttled;  /* something is left out */
    uint32_t unplaced;   /* processes that found no place, */
    uint32_t foreign;    /* or whose numbers or times are others */
    uint32_t spare;
    uint64_t namespaces[2]; /* of the capture */
};

/* Its writer is the process, but for pid, by which a place is taken and given back. */
struct cfa_process {
    uint32_t pid; /* 0: free */
    uint32_t ready;
    uint32_t parent;
    uint32_t flags;    /* enum cfa_flag */
    uint64_t began;    /* time */
    uint64_t lost;     /* records for which there was no room, or no ring */
    uint64_t nested;   /* calls amidst a record: of signal handlers */
    uint64_t left_out; /* allocations from sites that are left out */
    uint64_t unknown;  /* records whose stack could not be kept */
    uint64_t spare[9];
};

struct cfa_ring {
    uint64_t owner;   /* process << 32 | thread; 0: free */
    uint32_t process; /* its place, from 1; 0: not ready */
    uint32_t spare;
    uint64_t spare_line[6];
    uint64_t head; /* of the thread: what it has written ends here */
    uint64_t open; /* the time of its next record, 1 if it is about to be taken, 0 if it is not */
    uint64_t spare_head[6];
    uint64_t tail;    /* of the capture: what is before has been read */
    uint32_t waiting; /* the thread waits for this to become 0 */
    uint32_t spare_tail[13];
};

_Static_assert(sizeof(struct cfa_process) == 128 && sizeof(struct cfa_ring) == 192,
               "the same wherever it is compiled, and lines of their own");

static inline size_t cfa_process_at(unsigned n)
{
    return CFA_PAGE + n * sizeof(struct cfa_process);
}

static inline size_t cfa_ring_at(unsigned n)
{
    return cfa_process_at(CFA_PROCESSES) + n * sizeof(struct cfa_ring);
}

static inline size_t cfa_sites_at(unsigned process)
{
    return cfa_ring_at(CFA_RINGS) + (size_t)process * (CFA_SITES / 8);
}

static inline size_t cfa_words_at(unsigned ring, uint32_t ring_words)
{
    return cfa_sites_at(CFA_PROCESSES) + (size_t)ring * ring_words * sizeof(uint64_t);
}

static inline size_t cfa_bytes(uint32_t ring_words)
{
    return cfa_words_at(CFA_RINGS, ring_words);
}

/* Numbers of the PID and the time namespace of this process, 0 where they are not known. */
static inline void cfa_namespaces(uint64_t number[2])
{
    struct stat st;

    number[0] = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
    number[1] = stat("/proc/self/ns/time", &st) == 0 ? st.st_ino : 0;
}

/* Of a stack, with such a word 0; and how often, modulo 2^16, code was unmapped before. */
static inline uint32_t cfa_frames(uint64_t first)
{
    return first >> 32 & 0xff;
}

static inline uint16_t cfa_age(uint64_t first)
{
    return (uint16_t)(first >> 40);
}

/* Words of a record with such a word 0; 0 if it is none. */
static inline uint32_t cfa_words(uint64_t first)
{
    const uint32_t frames = cfa_frames(first);

    switch (first >> 56) {
    case CFA_FREE:
        return 2;
    case CFA_ALLOC:
        return 3;
    case CFA_LARGE:
        return 4;
    case CFA_STACK:
        return frames <= CFA_DEPTH_MOST ? 2 + frames : 0;
    default:
        return 0;
    }
}

#endif
