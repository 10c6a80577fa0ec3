/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code.c - instructions and segment bases. See code.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/perf/code.h"

enum { SLOTS = 1024 };

struct slot {
    uint32_t pid;
    uint64_t addr;
    uint8_t code[CF_OPERANDS_BYTES]; /* code is replaced by exec, and by compilers at run time */
    struct cf_operands o;
};

struct cf_code {
    struct slot slot[SLOTS];
};

struct cf_code *cf_code_new(void)
{
    return calloc(1, sizeof(struct cf_code));
}

void cf_code_free(struct cf_code *c)
{
    free(c);
}

static size_t from_memory(uint32_t pid, uint64_t addr, uint8_t *code)
{
    const size_t left = 4096 - addr % 4096;
    struct iovec local = {code, CF_OPERANDS_BYTES},
                 remote[2] = {{(void *)(uintptr_t)addr, CF_OPERANDS_BYTES}, {0}};
    ssize_t n;
    unsigned parts = 1;

    if (left < CF_OPERANDS_BYTES) { /* what follows may not be mapped */
        remote[0].iov_len = left;
        remote[1] = (struct iovec){(void *)(uintptr_t)(addr + left), CF_OPERANDS_BYTES - left};
        parts = 2;
    }
    n = process_vm_readv((pid_t)pid, &local, 1, remote, parts, 0);
    return n > 0 ? (size_t)n : 0;
}

static size_t from_file(const struct cf_tasks *tasks, uint32_t pid, uint64_t addr, uint8_t *code)
{
    uint64_t offset;
    const char *name = cf_tasks_file(tasks, pid, addr, &offset);
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    ssize_t n;

    if (fd < 0)
        return 0;
    n = pread(fd, code, CF_OPERANDS_BYTES, (off_t)offset);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

int cf_code_read(struct cf_code *c, const struct cf_tasks *tasks, uint32_t pid, uint64_t addr,
                 struct cf_operands *o)
{
    struct slot *s = &c->slot[(addr ^ pid * 31u) % SLOTS];
    uint8_t code[CF_OPERANDS_BYTES] = {0};
    size_t n = from_memory(pid, addr, code);

    if (!n)
        n = from_file(tasks, pid, addr, code);
    if (!n)
        return -1;
    if (s->pid != pid || s->addr != addr || memcmp(s->code, code, sizeof code) != 0) {
        struct cf_operands decoded;

        if (cf_operands_decode(&decoded, code, n) != 0)
            return -1;
        *s = (struct slot){.pid = pid, .addr = addr, .o = decoded};
        memcpy(s->code, code, sizeof code);
    }
    *o = s->o;
    return 0;
}
