/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code.c - instructions and segment bases. See code.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/perf/tasks/code.h"
#include "formats/base/cf_strings.h"
#include "formats/program/cf_build.h"

enum { SLOTS = 1024 };

struct slot {
    uint32_t pid;                    /* of memory */
    uint32_t file;                   /* or number of a file, and its build */
    uint64_t at;                     /* address, or offset */
    uint8_t code[CF_OPERANDS_BYTES]; /* of memory: it is replaced by compilers at run time */
    struct cf_operands o;
};

struct cf_code {
    const struct cf_records *records;
    const struct cf_tasks *tasks;
    struct cf_strings *files; /* builds and names */
    uint32_t file;            /* that was looked at last, or 0 */
    int fd;                   /* -1: it is not the build that was mapped */
    struct slot slot[SLOTS];
};

struct cf_code *cf_code_new(const struct cf_records *records, const struct cf_tasks *tasks)
{
    struct cf_code *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->records = records;
    c->tasks = tasks;
    c->fd = -1;
    c->files = cf_strings_new();
    if (c->files)
        return c;
    free(c);
    return NULL;
}

void cf_code_free(struct cf_code *c)
{
    if (!c)
        return;
    if (c->fd >= 0)
        close(c->fd);
    cf_strings_free(c->files);
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

/* 0: it may not be what the process had there. */
static uint32_t number_of(struct cf_code *c, const struct cf_tasks_file *f)
{
    char text[CF_BUILD_TEXT + 4097];
    int fresh;
    const int length = snprintf(text, sizeof text, "%s %s", f->build, f->name);

    return f->perms & CF_PERM_W || (!f->build[0] && f->name[0] == '/') ||
                   strcmp(f->build, CF_BUILD_UNKNOWN) == 0 || length >= (int)sizeof text
               ? 0
               : cf_strings_number(c->files, text, (size_t)length, &fresh);
}

static size_t from_file(struct cf_code *c, uint32_t number, const struct cf_tasks_file *f,
                        uint8_t *code)
{
    char build[CF_BUILD_TEXT];
    ssize_t n;

    if (f->name[0] == '[') /* all processes have the same, and we do */
        return from_memory((uint32_t)getpid(), getauxval(AT_SYSINFO_EHDR) + f->offset, code);
    if (number != c->file) {
        if (c->fd >= 0)
            close(c->fd);
        c->file = number;
        c->fd = open(f->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (c->fd >= 0)
            cf_build_read(c->fd, build);
        if (c->fd >= 0 && !cf_build_same(build, f->build)) {
            close(c->fd);
            c->fd = -1;
        }
    }
    n = c->fd >= 0 ? pread(c->fd, code, CF_OPERANDS_BYTES, (off_t)f->offset) : 0;
    return n > 0 ? (size_t)n : 0;
}

/* Takes in what was read. */
static int decode(struct slot *s, const struct slot *now, size_t n, struct cf_operands *o)
{
    if (cf_operands_decode(o, now->code, n) != 0)
        return -1;
    *s = *now;
    s->o = *o;
    return 0;
}

int cf_code_read(struct cf_code *c, uint32_t pid, uint64_t addr, struct cf_operands *o)
{
    struct slot now = {0}, *s;
    struct cf_tasks_file f;
    size_t n;

    now.file = cf_tasks_file(c->tasks, pid, addr, &f) ? number_of(c, &f) : 0;
    if (now.file) {
        now.at = f.offset;
        s = &c->slot[(now.at ^ now.file * 31u) % SLOTS];
        if (s->file == now.file && s->at == now.at) {
            *o = s->o;
            return 0;
        }
        n = from_file(c, now.file, &f, now.code);
        if (n)
            return decode(s, &now, n, o);
    }
    now = (struct slot){.pid = pid, .at = addr};
    s = &c->slot[(addr ^ pid * 31u) % SLOTS];
    n = cf_records_changes(c->records, pid) ? 0 : from_memory(pid, addr, now.code);
    if (!n)
        return -1;
    if (s->pid != pid || s->at != addr || memcmp(s->code, now.code, sizeof now.code) != 0)
        return decode(s, &now, n, o);
    *o = s->o;
    return 0;
}
