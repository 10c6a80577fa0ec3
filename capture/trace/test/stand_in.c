/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In place of valgrind, as cf-capture-trace runs it: has it get a SIGTERM when that is worst.
 * STAND_IN=early: the program has announced itself and nothing of it has run yet.
 * STAND_IN=late: it has ended, and BLOCKS mappings, an access and its end are still in the pipe.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/trace/protocol.h"

enum { BLOCKS = 200 };

static int fifo;

/* What a block has: all of it the first, of the others the mapping counts. */
static const struct contents {
    struct cf_wire_map map;
    struct cf_wire_task begins;
    struct cf_wire_thread runs;
    struct cf_wire_block block;
    struct cf_wire_insn insn;
    struct cf_wire_access access;
    uint32_t record, end;
} contents = {
    .map = {.header = {CF_WIRE_MAP, sizeof(contents.map)}, .end = 4096},
    .begins = {{CF_WIRE_TASK, sizeof(contents.begins)}, 1, CF_WIRE_TASK_START},
    .runs = {{CF_WIRE_THREAD, sizeof(contents.runs)}, 1, 0},
    .block = {.header = {CF_WIRE_BLOCK,
                         offsetof(struct contents, record) - offsetof(struct contents, block)},
              .first = 1,
              .insns = 1,
              .accesses = 1},
    .insn = {UINT64_C(4) << 56 | 0x1000},
    .access = {.offset = 0x100, .slot = CF_WIRE_NO_SLOT, .size = 8, .op = CF_WIRE_LOAD},
    .record = 1 << CF_WIRE_SLOT_BITS,
};

static void send(struct cf_wire_token token)
{
    token.pid = (uint32_t)getpid();
    if (write(fifo, &token, sizeof(token)) != sizeof(token))
        exit(9);
}

static void make_ring(const char *directory)
{
    const struct cf_wire_ring head = {.magic = CF_WIRE_MAGIC,
                                      .version = CF_WIRE_VERSION,
                                      .block_bytes = CF_WIRE_BLOCK_BYTES,
                                      .blocks = CF_WIRE_BLOCKS_LEAST};
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof(path), "%s/ring.%d.0", directory, (int)getpid());
    fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, CF_WIRE_RING(CF_WIRE_BLOCKS_LEAST)) != 0 ||
        pwrite(fd, &head, sizeof(head), 0) != sizeof(head))
        exit(9);
    for (int i = 0; i < CF_WIRE_BLOCKS_LEAST; i++)
        if (pwrite(fd, &contents, sizeof(contents),
                   CF_WIRE_HEADER_BYTES + i * CF_WIRE_BLOCK_BYTES) < 0)
            exit(9);
    snprintf(path, sizeof(path), "%s/tokens", directory);
    fifo = open(path, O_WRONLY | O_CLOEXEC);
}

int main(int argc, char **argv)
{
    const pid_t recorder = getppid(), me = getpid();

    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--directory=", 12) == 0)
            make_ring(argv[i] + 12);
    if (strcmp(getenv("STAND_IN"), "early") == 0) {
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_START, .origin = CF_WIRE_FIRST});
        kill(recorder, SIGTERM);
        for (;;)
            pause();
    }
    kill(recorder, SIGSTOP);
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_START, .origin = CF_WIRE_FIRST});
    for (uint32_t i = 0; i < BLOCKS; i++)
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_BLOCK,
                                    .sequence = i,
                                    .bytes =
                                        i ? sizeof(contents.map) : offsetof(struct contents, end)});
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_END});
    kill(recorder, SIGTERM);
    if (fork() == 0) {
        close(fifo);
        while (getppid() == me)
            usleep(1000);
        kill(recorder, SIGCONT);
    }
    return 0;
}
