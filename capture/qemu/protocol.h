/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What crosses from the plugin inside the emulator (plugin*.c) to the decoder (decode*.c): one
 * piece of shared memory, which the decoder's process makes and whose descriptor the emulator
 * inherits. Both sides run on one machine and are built together, so fields are in host byte
 * order; all are fixed-width.
 *
 * Each thread of the emulated program (or processor of the emulated system) fills blocks of 64-bit
 * words, one block at a time. A full block is entered into a queue, in whose order the decoder
 * reads; the queue may also hold a part of a block that is not yet full, so that a live stream does
 * not wait. `used` of a block is kept up to date with every word: after the emulator was killed,
 * the decoder still finds all that was recorded.
 *
 * The top three bits of a word tell what it is (enum cfq_tag). Events may stand between executions
 * only. Descriptions of code stand in blocks of their own, queued before any block whose words
 * refer to them.
 */
#ifndef CF_QEMU_PROTOCOL_H
#define CF_QEMU_PROTOCOL_H

#include <stdint.h>

enum {
    CFQ_VERSION = 2,
    CFQ_BLOCKS = 1024,       /* as many threads at most */
    CFQ_BLOCK_BYTES = 65536, /* header included */
    CFQ_BLOCK_HEADER = 64,
    CFQ_WORDS = (CFQ_BLOCK_BYTES - CFQ_BLOCK_HEADER) / 8,
    CFQ_QUEUE = 256,      /* entries, a power of two */
    CFQ_PENDING = 64,     /* of them not yet read: then the program waits; 4 MiB stay in a cache */
    CFQ_MAX_INSNS = 512,  /* in a translation block */
    CFQ_MAX_EVENT = 1024, /* words */
    CFQ_PRIVATE = 128,    /* bytes for the plugin's lock */
};

#define CFQ_MAGIC UINT64_C(0x31756d6571666363)

enum cfq_tag {
    CFQ_ACCESS = 0,  /* address (48 bits, sign-extended), instruction, kind */
    CFQ_EXECUTE = 1, /* a translation block begins: its number in 32 bits */
    CFQ_EVENT = 2,   /* enum cfq_event at bit 48, words in all at bit 0; its fields follow */
    CFQ_RESUME = 3,  /* the block before was full amidst this translation block: its number */
    CFQ_WIDE = 4,    /* an access whose address needs more bits: in the next word */
};

enum {
    CFQ_TAG_SHIFT = 61,
    CFQ_KIND_SHIFT = 57,  /* 4 bits: log2 of the bytes, and 8 for a store */
    CFQ_INSN_SHIFT = 48,  /* 9 bits: index in its translation block */
    CFQ_EVENT_SHIFT = 48, /* 13 bits */
    CFQ_KINDS = 16,
    CFQ_KIND_STORE = 8,
};

#define CFQ_ADDRESS_MASK UINT64_C(0xffffffffffff)

/* Fields are words; a text is its length in bytes and then its bytes, padded with zeros. */
enum cfq_event {
    CFQ_DESCRIBE = 1, /* number of a translation block, then for each instruction its address in the
                         low 56 bits (sign-extended), its bytes in the next 6, and CFQ_REPEATS and
                         CFQ_JOINED */
    CFQ_MAP,          /* start, end, offset, perms, name: replaces what was there */
    CFQ_UNMAP,        /* start, end */
    CFQ_NAMED,        /* name: of the thread */
    CFQ_EXIT,         /* the thread ends */
    CFQ_BEGIN,        /* tid: the thread has made another */
    CFQ_LOADED,       /* address of the program's first segment with code */
};

/* A string instruction with a repeat prefix, the last in its translation block; a block of it alone
 * is executed for each further iteration. And one whose accesses a processor joins. */
#define CFQ_REPEATS (UINT64_C(1) << 63)
#define CFQ_JOINED  (UINT64_C(1) << 62)

enum cfq_state { CFQ_FREE = 0, CFQ_FILLING, CFQ_QUEUED };

/* A block's first bytes; words follow at CFQ_BLOCK_HEADER. */
struct cfq_block {
    uint32_t used;  /* words; plugin */
    uint32_t state; /* enum cfq_state */
    uint32_t pid, tid, cpu;
    uint32_t from;     /* words that were queued before */
    uint64_t sequence; /* order of taking into use */
    uint8_t pad[32];
};

struct cfq_entry {
    uint32_t block, from, to; /* words from..to of it */
    uint32_t last;            /* the block is free after */
};

/* Each side writes its own cache lines. */
struct cfq_shared {
    uint64_t magic;
    uint32_t version;
    uint32_t follow; /* reserved */
    uint8_t pad0[48];

    uint32_t tail;    /* plugin: entries ever queued; futex */
    uint32_t begun;   /* plugin: it was loaded */
    uint32_t waiting; /* plugin: somebody waits on `head` (futex) */
    uint32_t blocks;  /* plugin: translation blocks described */
    uint64_t lost;    /* plugin: blocks of words that found no room */
    uint32_t blind;   /* plugin: so often it could not see what is mapped */
    uint8_t pad1[36];

    uint32_t head;   /* decoder: entries read; futex */
    uint32_t stop;   /* decoder: record no more */
    uint32_t idle;   /* decoder: it waits on `tail` */
    uint32_t reader; /* decoder: its process */
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
