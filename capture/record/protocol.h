/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a producer of records - the Valgrind tool (capture/trace/tool*.c), the QEMU plugin
 * (capture/qemu/plugin*.c) - writes into blocks, and the decoder (decode*.c) makes rows of. Both
 * sides run on one machine and are built together, so fields are in host byte order; all are
 * fixed-width. How blocks get from one to the other is the producer's matter: protocol.h in its
 * room.
 *
 * A block is a sequence of records and events without alignment or padding:
 *
 *     record   u32 header = outcome << 6 | slots, then `slots` addresses of 6 bytes each
 *     event    u32 header < 64 = enum cf_wire_event, u32 bytes (of the whole event), then its
 *              fields
 *
 * A record is one execution of a piece of code with one entry, which a BLOCK event described when
 * it was translated. A superblock, of the Valgrind tool, has several exits; the outcome tells the
 * superblock and the way it went. A superblock owns the outcomes
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
 *
 * Where calls are asked for, the description of a superblock says what its end does to the call
 * stack, and the record holds the stack pointer that this leaves, often in a slot that an access
 * has anyway. So calls and returns are no records of their own: the decoder follows them
 * (decode_calls.h).
 *
 * A translation block, of the QEMU plugin, does not say beforehand what it accesses. It owns one
 * outcome, `first`, and its record lists the accesses that happened, each a word of its own:
 *
 *     record   u64 CF_WIRE_LISTED(outcome), and CF_WIRE_RESUMED
 *     access   u64 CF_WIRE_ACCESS, instruction, kind, address (sign-extended from 48 bits); with
 *              CF_WIRE_WIDE the address is the u64 that follows
 *
 * An access belongs to the last execution of its thread, even if an event, another block or another
 * thread came in between. So all items of such a process are words: events are padded with zeros to
 * 8 bytes, and of one process all pieces of code are listed, or none.
 */
#ifndef CF_RECORD_PROTOCOL_H
#define CF_RECORD_PROTOCOL_H

#include <stdint.h>

enum {
    CF_WIRE_VERSION = 8,
    CF_WIRE_SLOT_BITS = 6,
    CF_WIRE_SLOTS_LONG = 63, /* in a header: see the superblock's description */
    CF_WIRE_EVENTS = 64,     /* headers below this are events */
    CF_WIRE_SLOT_BYTES = 6,
    CF_WIRE_MAX_INSNS = 1024, /* limits of one superblock or translation block */
    CF_WIRE_MAX_ACCESSES = 4096,
    CF_WIRE_MAX_SLOTS = 2048,
    CF_WIRE_MAX_EXITS = 1024,
    CF_WIRE_MAX_SECTIONS = 4,
    CF_WIRE_MAX_NAME = 4096, /* bytes of a name in an event */
    CF_WIRE_NO_SLOT = 0xffff,
};

#define CF_WIRE_OUTCOMES     ((UINT32_C(1) << 26) - 1) /* of one process; 0 is not used */
#define CF_WIRE_ADDRESS_MASK UINT64_C(0xffffffffffff)

/* Words of translation blocks. Whatever has no CF_WIRE_ACCESS has a header in its low half. */
#define CF_WIRE_ACCESS          (UINT64_C(1) << 63)
#define CF_WIRE_WIDE            (UINT64_C(1) << 62)
#define CF_WIRE_LISTED(outcome) ((uint64_t)(outcome) << CF_WIRE_SLOT_BITS | CF_WIRE_SLOTS_LONG)
#define CF_WIRE_RESUMED         (UINT64_C(1) << 32) /* more of an execution that has a record */
enum {
    CF_WIRE_KIND_SHIFT = 58, /* 4 bits: log2 of the bytes, and 8 for a store */
    CF_WIRE_KINDS = 16,
    CF_WIRE_KIND_STORE = 8,
    CF_WIRE_INSN_SHIFT = 48, /* 10 bits: index in its translation block */
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
    /* Of the running thread's call stack: */
    CF_WIRE_SIGNAL,  /* struct cf_wire_signal: a handler is about to run */
    CF_WIRE_HANDLED, /* it has returned to where the signal came */
    CF_WIRE_UNKNOWN, /* calls and returns were not recorded: what is known of it is no more so */
    CF_WIRE_FORKS,   /* struct cf_wire_fork: a child begins with it */
    CF_WIRE_GONE,    /* code is not there any more: what is called by now is told from it */
    CF_WIRE_NO_HEAP, /* the program has no allocation function that is known: no ALLOC comes */
};

/* Every event begins so. */
struct cf_wire_event_header {
    uint32_t type;
    uint32_t bytes;
};

/* Description of a superblock. After it: insns x cf_wire_insn, accesses x cf_wire_access,
 * exits x cf_wire_exit, sections x cf_wire_section, ends x cf_wire_end. Of a translation block,
 * which is listed: insns x cf_wire_insn alone. */
struct cf_wire_block {
    struct cf_wire_event_header header;
    uint32_t first; /* its first outcome */
    uint16_t insns;
    uint16_t accesses;
    uint16_t slots;
    uint16_t exits;
    uint16_t sections;
    uint16_t listed;
    uint16_t ends; /* 0 or 1 */
    uint16_t reserved[3];
};

/* A string instruction with a repeat prefix stands last in its superblock. Superblocks that begin
 * with the same one are its further iterations, of which there may be several in each; of
 * translation blocks, those of it alone. */
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

/* What the end of a superblock does to the call stack, when it runs so far. */
enum cf_wire_end_kind {
    CF_WIRE_CALLS = 1,
    CF_WIRE_RETURNS,
    CF_WIRE_MOVES, /* gives the stack pointer a value that it does not have from itself */
};

struct cf_wire_end {
    uint64_t offset; /* to be added to the slot: the stack pointer then; of a call, before it */
    uint64_t back;   /* CALLS: where it returns to */
    uint16_t slot;
    uint16_t kind;   /* enum cf_wire_end_kind */
    uint32_t pushes; /* CALLS: the return address is on the stack */
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

/* MADE: by the thread that runs; it starts unless that is known of it. */
enum cf_wire_task_kind {
    CF_WIRE_TASK_START = 1,
    CF_WIRE_TASK_NAME,
    CF_WIRE_TASK_EXIT,
    CF_WIRE_TASK_MADE
};

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
    uint32_t perms;  /* 1 read, 2 write, 4 execute, 8 shared */
    uint32_t reserved;
    uint64_t device, inode; /* of the file, as stat() has them; inode 0: not known */
};

struct cf_wire_object {
    struct cf_wire_event_header header;
    uint64_t addr;
    uint64_t size;    /* bytes; of the released block too */
    uint32_t context; /* call stack: a CONTEXT's id, 0 unknown */
    uint32_t reserved;
};

struct cf_wire_signal {
    struct cf_wire_event_header header;
    uint64_t sp, pc;    /* as the signal found them */
    uint64_t low, high; /* the handler has this stack of its own; both 0: it has not */
};

struct cf_wire_fork {
    struct cf_wire_event_header header;
    uint32_t number; /* which of the process, from 1: the START of the child has it */
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
