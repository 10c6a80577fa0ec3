/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How records (capture/record/protocol.h) get from the Valgrind tool (tool_*.c) to the reader
 * (reader.c). A directory, made by the reading side, holds everything:
 *
 *     tokens      a FIFO: one fixed-size message (struct cf_wire_token) a write, from all traced
 *                 processes, so that the order of arrival is the order of the trace
 *     ring.PID.N  one file a traced process: a header page, then a power of two of blocks, at most
 *                 CF_WIRE_BLOCKS. The reader opens and removes it when the START token comes. N
 *                 tells apart the images that one pid runs through by exec. Where the directory
 *                 has no room for it, it is in a second one.
 *
 * Pids and tids, in blocks too, are those of the reader's PID namespace, where none is there twice;
 * tool_numbers.c finds them.
 *
 * The tool fills a block and sends a BLOCK token; the reader decodes it and adds one to `freed`.
 * Should the reader be gone without having said so in `stop`, the tool removes what it left behind.
 * Before system calls the tool only moves `published`; a reader that is idle may decode that far.
 */
#ifndef CF_TRACE_PROTOCOL_H
#define CF_TRACE_PROTOCOL_H

#include "capture/record/protocol.h"

enum {
    CF_WIRE_BLOCK_BYTES = 262144,
    CF_WIRE_BLOCKS = 16,      /* of a ring, at most */
    CF_WIRE_BLOCKS_LEAST = 2, /* where memory is short */
    CF_WIRE_HEADER_BYTES = 4096,
    CF_WIRE_RING_BYTES = CF_WIRE_HEADER_BYTES + CF_WIRE_BLOCKS * CF_WIRE_BLOCK_BYTES,
};

/* Bytes of a ring of so many blocks. */
#define CF_WIRE_RING(blocks) (CF_WIRE_HEADER_BYTES + (uint64_t)(blocks)*CF_WIRE_BLOCK_BYTES)

#define CF_WIRE_MAGIC UINT64_C(0x31656361727466c3)

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
    CF_WIRE_TOKEN_START = 1, /* pid, ring, parent, origin, outcomes, contexts, fork, value */
    CF_WIRE_TOKEN_BLOCK,     /* pid, ring, sequence, bytes */
    CF_WIRE_TOKEN_END,       /* pid, ring; the blocks before it are complete */
    CF_WIRE_TOKEN_FORKED,    /* pid, ring: it has a child, which will send a START by fork */
    CF_WIRE_TOKEN_EXEC, /* pid, ring, value, name: it is about to run that program; or could not */
    CF_WIRE_TOKEN_UNRECORDED, /* pid, parent, origin, value: there is no ring for it: errno */
    CF_WIRE_TOKEN_ALONE,      /* pid, value, name: a child that is not followed, at its fork */
};

/* What becomes of a process that is about to run another program: whether the call failed; recorded
   as before; or unrecorded, since it is not followed, since Valgrind runs no program that gains
   privileges, or since it is made for another processor. */
enum cf_wire_exec {
    CF_WIRE_EXEC_FAILED,
    CF_WIRE_EXEC_RECORDED,
    CF_WIRE_EXEC_ALONE,
    CF_WIRE_EXEC_PRIVILEGED,
    CF_WIRE_EXEC_FOREIGN,
    CF_WIRE_EXEC_KINDS,
};

enum { CF_WIRE_COMM = 16 }; /* bytes of a process's name, as in the kernel */

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
    uint32_t fork;     /* START by fork: number of its FORKS event, 0 if there is none */
    uint32_t sequence; /* BLOCK: counts from 0; its place is sequence % blocks */
    uint32_t bytes;    /* BLOCK: bytes in it */
    uint32_t value;    /* START: 1 the ring is in the second directory; EXEC: enum cf_wire_exec */
    char name[CF_WIRE_COMM]; /* EXEC: of the program; ALONE: of the process that forked */
};

#endif
