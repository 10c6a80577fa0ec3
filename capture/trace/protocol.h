/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What crosses from the Valgrind tool (tool_*.c) to the decoder (decode.c). Both sides run on one
 * machine and are built together, so fields are in host byte order; all are fixed-width.
 *
 * A directory, made by the reading side, holds everything:
 *
 *     tokens      a FIFO: one fixed-size message (struct cf_wire_token) a write, from all traced
 *                 processes, so that the order of arrival is the order of the trace
 *     ring.PID.N  one file a traced process: a header page, then a power of two of blocks, at most
 *                 CF_WIRE_BLOCKS. The reader opens and removes it when the START token comes. N
 *                 tells apart the images that one pid runs through by exec. Where the directory
 *                 has no room for it, it is in a second one.
 *
 * The tool fills a block and sends a BLOCK token; the reader decodes it and adds one to `freed`.
 * Should the reader be gone without having said so in `stop`, the tool removes what it left behind.
 * Before system calls the tool only moves `published`; a reader that is idle may decode that far.
 *
 * A block is a sequence of records and events without alignment or padding:
 *
 *     record   u32 header = outcome << 6 | slots, then `slots` addresses of 6 bytes each
 *     event    u32 header < 64 = enum cf_wire_event, u32 bytes (of the whole event), then its
 * fields
 *
 * A record is one execution of a superblock: a straight piece of code with one entry and several
 * exits, which a BLOCK event described when it was translated. The outcome tells the superblock and
 * the way it went. A superblock owns the outcomes
 *
 *     first + (e << sections | skipped)     e = 0: ran to its end; 1..exits: left by that exit;
 *                                           exits + 1: a fault stopped it (a CUT event follows)
 *
 * where bit i of `skipped` says that section i was not executed: VEX may fold `a && b` into
 * straight code in which the instructions of b run only if a held. Where slots is 63 the number of
 * slots is not in the header but in the superblock's description.
 *
 * An access has the address (slot value + offset) mod 2^48, or the constant `offset` if it has no
 * slot. The slot of a conditional access holds 2^48-1 if the access did not happen.
 */
#ifndef CF_TRACE_PROTOCOL_H
#define CF_TRACE_PROTOCOL_H

#include <stdint.h>

enum {
    CF_WIRE_VERSION = 3,
    CF_WIRE_BLOCK_BYTES = 262144,
    CF_WIRE_BLOCKS = 16,      /* of a ring, at most */
    CF_WIRE_BLOCKS_LEAST = 2, /* where memory is short */
    CF_WIRE_HEADER_BYTES = 4096,
    CF_WIRE_RING_BYTES = CF_WIRE_HEADER_BYTES + CF_WIRE_BLOCKS * CF_WIRE_BLOCK_BYTES,
    CF_WIRE_SLOT_BITS = 6,
    CF_WIRE_SLOTS_LONG = 63, /* in a header: see the superblock's description */
    CF_WIRE_EVENTS = 64,     /* headers below this are events */
    CF_WIRE_SLOT_BYTES = 6,
    CF_WIRE_MAX_INSNS = 1024, /* limits of one superblock */
    CF_WIRE_MAX_ACCESSES = 4096,
    CF_WIRE_MAX_SLOTS = 2048,
    CF_WIRE_MAX_EXITS = 1024,
    CF_WIRE_MAX_SECTIONS = 4,
    CF_WIRE_MAX_NAME = 4096, /* bytes of a name in an event */
    CF_WIRE_NO_SLOT = 0xffff,
};

/* Bytes of a ring of so many blocks. */
#define CF_WIRE_RING(blocks) (CF_WIRE_HEADER_BYTES + (uint64_t)(blocks)*CF_WIRE_BLOCK_BYTES)

#define CF_WIRE_MAGIC        UINT64_C(0x31656361727466c3)
#define CF_WIRE_OUTCOMES     ((UINT32_C(1) << 26) - 1) /* of one process; 0 is not used */
#define CF_WIRE_ADDRESS_MASK UINT64_C(0xffffffffffff)

/* First page of a ring file. Each side writes its own cache lines. */
struct cf_wire_ring {
    uint64_t magic;
    uint32_t version;
    uint32_t pid;
    uint32_t block_bytes;
    uint32_t blocks;
    uint8_t pad0[40];

    uint64_t published; /* tool: sequence << 32 | bytes of that block which are complete */
    uint32_t waiting;   /* tool: it sleeps on `freed` (futex) */
    uint32_t lost;      /* tool: errno of a token that could not be sent, with what it was about */
    uint8_t pad1[48];

    uint32_t freed; /* reader: blocks decoded since the start; futex word */
    uint32_t stop;  /* reader: record no more */
    uint8_t pad2[56];
};

enum cf_wire_token_type {
    CF_WIRE_TOKEN_START = 1, /* pid, ring, parent, origin, outcomes, contexts, value */
    CF_WIRE_TOKEN_BLOCK,     /* pid, ring, sequence, bytes */
    CF_WIRE_TOKEN_END,       /* pid, ring; the blocks before it are complete */
    CF_WIRE_TOKEN_FORKED,    /* pid, ring: it has a child, which will send a START by fork */
    CF_WIRE_TOKEN_EXEC,      /* pid, ring, value: 1 it goes on as another program, 0 it could not */
    CF_WIRE_TOKEN_UNRECORDED, /* pid, parent, origin, value: there is no ring for it: errno */
};

/* FIRST: a new image; by exec if the reader knows the pid already. */
enum cf_wire_origin { CF_WIRE_FIRST = 1, CF_WIRE_FORK };

/* One message in the FIFO: smaller than PIPE_BUF, so that writes are atomic. */
struct cf_wire_token {
    uint32_t type;     /* enum cf_wire_token_type */
    uint32_t pid;      /* of the process that sends it */
    uint32_t ring;     /* N of its ring file */
    uint32_t parent;   /* START: parent process */
    uint32_t origin;   /* START: enum cf_wire_origin */
    uint32_t outcomes; /* START by fork: first outcome that is not the parent's */
    uint32_t contexts; /* START by fork: first context that is not the parent's */
    uint32_t sequence; /* BLOCK: counts from 0; its place is sequence % blocks */
    uint32_t bytes;    /* BLOCK: bytes in it */
    uint32_t value;    /* START: 1 the ring is in the second directory */
};

enum cf_wire_event {
    CF_WIRE_PAD = 1, /* nothing */
    CF_WIRE_BLOCK,   /* struct cf_wire_block and its arrays */
    CF_WIRE_CUT,     /* struct cf_wire_cut */
    CF_WIRE_THREAD,  /* struct cf_wire_thread: what follows is this thread's */
    CF_WIRE_TASK,    /* struct cf_wire_task and a name */
    CF_WIRE_MAP,     /* struct cf_wire_map and a name */
    CF_WIRE_UNMAP,   /* struct cf_wire_map */
    CF_WIRE_ALLOC,   /* struct cf_wire_object */
    CF_WIRE_FREE,    /* struct cf_wire_object */
    CF_WIRE_CONTEXT, /* struct cf_wire_context */
    CF_WIRE_LOST,    /* the tool ran out of outcomes and records no more */
};

/* Every event begins so. */
struct cf_wire_event_header {
    uint32_t type;
    uint32_t bytes;
};

/* Description of a superblock. After it: insns x cf_wire_insn, accesses x cf_wire_access,
 * exits x cf_wire_exit, sections x cf_wire_section. */
struct cf_wire_block {
    struct cf_wire_event_header header;
    uint32_t first; /* its first outcome */
    uint16_t insns;
    uint16_t accesses;
    uint16_t slots;
    uint16_t exits;
    uint16_t sections;
    uint16_t reserved;
};

/* A string instruction with a repeat prefix stands last in its superblock. Superblocks that begin
 * with the same one are its further iterations, of which there may be several in each. */
struct cf_wire_insn {
    uint64_t pc_length; /* CF_WIRE_REPEATS, CF_WIRE_JOINED, length in bytes << 56 | address */
};
#define CF_WIRE_REPEATS     (UINT64_C(1) << 63) /* a string instruction with a repeat prefix */
#define CF_WIRE_JOINED      (UINT64_C(1) << 62) /* whose accesses a processor joins */
#define CF_WIRE_LENGTH_MASK UINT64_C(0x3f)
#define CF_WIRE_PC_MASK     ((UINT64_C(1) << 56) - 1)

enum cf_wire_op { CF_WIRE_LOAD = 1, CF_WIRE_STORE = 2, CF_WIRE_CONDITIONAL = 0x80 };

struct cf_wire_access {
    uint64_t offset; /* to be added to the slot, or the address */
    uint16_t insn;   /* index of its instruction; does not decrease */
    uint16_t slot;   /* or CF_WIRE_NO_SLOT */
    uint16_t size;   /* bytes */
    uint8_t op;      /* CF_WIRE_LOAD or _STORE, and perhaps _CONDITIONAL */
    uint8_t reserved;
};

struct cf_wire_exit {
    uint16_t insn;     /* the last instruction executed if it is taken */
    uint16_t accesses; /* accesses before it */
};

struct cf_wire_section {
    uint16_t first; /* instructions first..last */
    uint16_t last;
};

/* Right after the record that a fault cut short. */
struct cf_wire_cut {
    struct cf_wire_event_header header;
    uint32_t progress; /* header the record had: the exit that would have come next */
    uint32_t reserved;
    uint64_t pc; /* of the instruction that did not complete */
};

struct cf_wire_thread {
    struct cf_wire_event_header header;
    uint32_t tid; /* the kernel's */
    uint32_t reserved;
};

enum cf_wire_task_kind { CF_WIRE_TASK_START = 1, CF_WIRE_TASK_NAME, CF_WIRE_TASK_EXIT };

struct cf_wire_task {
    struct cf_wire_event_header header;
    uint32_t tid;
    uint32_t kind; /* enum cf_wire_task_kind */
};

struct cf_wire_map {
    struct cf_wire_event_header header;
    uint64_t start;  /* MAP replaces whatever was in start..end */
    uint64_t end;    /* first address after it */
    uint64_t offset; /* in the file, bytes */
    uint32_t perms;  /* 1 read, 2 write, 4 execute */
    uint32_t reserved;
};

struct cf_wire_object {
    struct cf_wire_event_header header;
    uint64_t addr;
    uint64_t size;    /* bytes; of the released block too */
    uint32_t context; /* call stack: a CONTEXT's id, 0 unknown */
    uint32_t reserved;
};

/* A node of the calling-context tree; ids count from 1, a parent's is lower, 0 is the root. */
struct cf_wire_context {
    struct cf_wire_event_header header;
    uint32_t id;
    uint32_t parent; /* the caller's node: towards main */
    uint64_t pc;     /* return address */
};

#endif
