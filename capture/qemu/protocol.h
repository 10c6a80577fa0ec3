/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How records (capture/record/protocol.h) get from the plugin inside the emulator (plugin*.c) to
 * the reader (reader.c): one piece of shared memory, which the reader's process makes and whose
 * descriptor the emulator inherits.
 *
 * Each thread of the emulated program (or processor of the emulated system) fills blocks of 64-bit
 * words, one block at a time. A full block is entered into a queue, in whose order they are read;
 * the queue may also hold a part of a block that is not yet full, so that a live stream does not
 * wait. `used` of a block is kept up to date with every word: after the emulator was killed, the
 * reader still finds all that was recorded. Descriptions of code stand in blocks of their own,
 * queued before any block whose words refer to them.
 */
#ifndef CF_QEMU_PROTOCOL_H
#define CF_QEMU_PROTOCOL_H

#include "capture/record/protocol.h"

enum {
    CFQ_BLOCKS = 1024,       /* as many threads at most */
    CFQ_BLOCK_BYTES = 65536, /* header included */
    CFQ_BLOCK_HEADER = 64,
    CFQ_WORDS = (CFQ_BLOCK_BYTES - CFQ_BLOCK_HEADER) / 8,
    CFQ_QUEUE = 256,   /* entries, a power of two */
    CFQ_PENDING = 64,  /* of them not yet read: then the program waits; 4 MiB stay in a cache */
    CFQ_PRIVATE = 128, /* bytes for the plugin's lock */
};

/* Among the perms of a mapping: they are as the program asked for them. Else they are as the host
   has them, which maps code as data. */
enum { CFQ_PERM_ASKED = 16 };

#define CFQ_MAGIC UINT64_C(0x31756d6571666363)

enum cfq_state { CFQ_FREE = 0, CFQ_FILLING, CFQ_QUEUED };

/* A block's first bytes; words follow at CFQ_BLOCK_HEADER. */
struct cfq_block {
    uint32_t used;          /* words; plugin */
    uint32_t state;         /* enum cfq_state */
    uint32_t pid, tid, cpu; /* tid 0: descriptions and what else is no thread's */
    uint32_t from;          /* words that were queued before */
    uint64_t sequence;      /* order of taking into use */
    uint8_t pad[32];
};

struct cfq_entry {
    uint32_t block, from, to; /* words from..to of it */
    uint32_t last;            /* the block is free after */
};

/* Each side writes its own cache lines. */
struct cfq_shared {
    uint64_t magic;
    uint32_t version; /* CF_WIRE_VERSION */
    uint8_t pad0[52];

    uint32_t tail;    /* plugin: entries ever queued; futex */
    uint32_t begun;   /* plugin: it was loaded */
    uint32_t waiting; /* plugin: somebody waits on `head` (futex) */
    uint32_t blind;   /* plugin: so often it could not see what is mapped */
    uint64_t lost;    /* plugin: blocks of words that found no room */
    uint64_t code;    /* plugin: where the program's first segment with code is, 0: unknown */
    uint32_t forked;  /* plugin: children, which are not recorded */
    uint32_t left;    /* plugin: the program is being replaced by another, or was */
    uint8_t pad1[24];

    uint32_t head;   /* reader: entries read; futex */
    uint32_t stop;   /* reader: record no more */
    uint32_t idle;   /* reader: it waits on `tail` */
    uint32_t reader; /* reader: its process */
    uint8_t pad2[48];

    uint8_t lock[CFQ_PRIVATE];
    struct cfq_entry queue[CFQ_QUEUE];
};

enum {
    CFQ_SHARED_HEADER = 8192,
    CFQ_SHARED_BYTES = CFQ_SHARED_HEADER + CFQ_BLOCKS * CFQ_BLOCK_BYTES
};

_Static_assert(sizeof(struct cfq_block) == CFQ_BLOCK_HEADER, "a block's header");
_Static_assert(sizeof(struct cfq_shared) <= CFQ_SHARED_HEADER, "what stands before the blocks");

static inline struct cfq_block *cfq_block(struct cfq_shared *s, uint32_t number)
{
    return (void *)((uint8_t *)s + CFQ_SHARED_HEADER + (uint64_t)number * CFQ_BLOCK_BYTES);
}

static inline uint64_t *cfq_words(struct cfq_block *b)
{
    return (void *)((uint8_t *)b + CFQ_BLOCK_HEADER);
}

#endif
