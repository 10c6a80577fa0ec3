/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_pagectl: requests to /dev/pagectl, by the module's own device.c in user space: whatever a
 * program asks for, what treats pages gets lists that are in order, whole and within their bounds,
 * and nothing is left when the descriptor is closed.
 *
 * An input is a list of requests: a byte that says which, of which bit 7 says that the user's
 * memory ends where the bytes do, two of length, and as many bytes of the request's structure; the
 * rest of that is zeros. --seeds=FOLDER writes inputs to begin with.
 */
#include <stdio.h>

#include "tests/fuzz/kernel.h"

#include "kmod/pagectl/device.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { SHORT = 0x80, ROOM = 16384 };

static const unsigned commands[] = {PAGECTL_INFO,    PAGECTL_TARGET, PAGECTL_EXPECT,  PAGECTL_SET,
                                    PAGECTL_MIGRATE, PAGECTL_QUERY,  PAGECTL_RESTORE, 0};

/* ---- what takes the place of the module's other files ---- */

struct target {
    pid_t pid;
};

static int targets;
static bool with_pool;

static void must(bool what)
{
    if (!what)
        abort();
}

struct target *target_make(pid_t pid)
{
    struct target *t;

    if (pid < 0 || pid % 5 == 4)
        return ERR_PTR(-ESRCH);
    if (!(t = malloc(sizeof *t)))
        return ERR_PTR(-ENOMEM);
    t->pid = pid;
    targets++;
    return t;
}

void target_free(struct target *target)
{
    free(target);
    targets--;
}

static void look_at_mappings(const struct pagectl_mapping *mapping, u32 count)
{
    must(count > 0 && count <= PAGECTL_MAPPINGS_MOST);
    for (u32 i = 0; i < count; i++)
        must(mapping[i].start < mapping[i].end && !mapping[i].reserved && mapping[i].flags < 16 &&
             (i == 0 || mapping[i - 1].end <= mapping[i].start));
}

long target_compare(struct target *target, const struct pagectl_mapping *mappings, u32 count)
{
    look_at_mappings(mappings, count);
    return target->pid % 5 == 3 ? -EINTR : target->pid % 5 == 2 ? (long)count - 1 : -1;
}

static long treated(struct target *target, struct pagectl_pages *pages)
{
    must(target->pid > 0 && pages->count <= PAGECTL_PAGES);
    for (u32 i = 0; i < pages->count; i++) {
        must(pages->page[i].addr % PAGE_SIZE == 0 && pages->page[i].result == PAGECTL_NOT_TRIED);
        pages->page[i].result = PAGECTL_DONE;
    }
    return target->pid % 5 == 1 ? -EINTR : 0;
}

long target_set(struct target *target, const struct pagectl_mapping *mappings, u32 total,
                struct pagectl_pages *pages)
{
    look_at_mappings(mappings, total);
    must(arch_policies() >> pages->policy & 1);
    return treated(target, pages);
}

long target_migrate(struct target *target, const struct pagectl_mapping *mappings, u32 total,
                    struct pagectl_pages *pages)
{
    look_at_mappings(mappings, total);
    must(with_pool && pages->policy == 0);
    return treated(target, pages);
}

long target_query(struct target *target, struct pagectl_pages *pages)
{
    must(pages->policy == 0);
    return treated(target, pages);
}

long target_restore(struct target *target)
{
    return target->pid % 5 == 0 ? 0 : -EBUSY;
}

u32 arch_policies(void)
{
    return 1u << PAGECTL_CACHED | 1u << PAGECTL_UNCACHED | 1u << PAGECTL_WRITE_COMBINING;
}

int pool_make(u64 phys, u64 bytes)
{
    return phys && bytes ? 0 : -EINVAL;
}

void pool_free(void)
{
}

void pool_info(struct pagectl_info *info)
{
    info->pool_pages = with_pool;
}

bool pool_there(void)
{
    return with_pool;
}

/* ---- requests ---- */

static void request(struct file *file, unsigned which, const uint8_t *bytes, size_t n)
{
    static uint8_t memory[ROOM];
    const unsigned command = commands[which % ARRAY_SIZE(commands)];
    const size_t takes = _IOC_SIZE(command);
    long result;

    must(takes <= ROOM);
    memset(memory, 0, takes);
    n = n < takes ? n : takes;
    memcpy(memory, bytes, n);
    user = memory;
    user_bytes = which & SHORT ? n : takes;
    result = device_operations.unlocked_ioctl(file, command, (unsigned long)memory);
    must(result <= 0 && result > -ERESTARTSYS);
    must(!((struct client *)file->private_data)->lock.locked);
    /* what was not there cannot have been taken for right */
    must(result || user_bytes == takes || command == PAGECTL_SET || command == PAGECTL_QUERY ||
         command == PAGECTL_MIGRATE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file file = {NULL};
    size_t at = 1;

    if (size < 1 || device_operations.open(NULL, &file) != 0)
        return 0;
    with_pool = data[0] & 1;
    while (size - at >= 3) {
        const unsigned which = data[at];
        size_t n = data[at + 1] | (size_t)data[at + 2] << 8;

        at += 3;
        n = n < size - at ? n : size - at;
        request(&file, which & SHORT ? which : which % SHORT, data + at, n);
        at += n;
    }
    device_operations.release(NULL, &file);
    must(targets == 0);
    return 0;
}

/* ---- inputs to begin with ---- */

static void put(FILE *f, unsigned which, const void *bytes, size_t n)
{
    const uint8_t head[] = {(uint8_t)which, (uint8_t)n, (uint8_t)(n >> 8)};

    fwrite(head, 1, sizeof head, f);
    fwrite(bytes, 1, n, f);
}

static int seed(const char *directory)
{
    struct pagectl_expect expect = {.count = 2, .total = 2};
    struct pagectl_pages pages = {.count = 2};
    char name[512];

    for (u32 i = 0; i < 2; i++) {
        expect.mapping[i] = (struct pagectl_mapping){8192 * (i + 1), 8192 * (i + 1) + 4096, i, 0};
        pages.page[i].addr = 8192 * (i + 1);
    }
    for (int i = 0; i < 6; i++) {
        const struct pagectl_target target = {.pid = 10 + i};
        FILE *f;

        snprintf(name, sizeof name, "%s/seed-%d", directory, i);
        if (!(f = fopen(name, "w")))
            return 1;
        fputc(i, f);
        put(f, 0, "", 0);
        put(f, 1, &target, sizeof target);
        put(f, 2, &expect, 16 + 2 * sizeof *expect.mapping);
        pages.policy = PAGECTL_UNCACHED;
        put(f, 3, &pages, 16 + 2 * sizeof *pages.page);
        pages.policy = 0;
        put(f, 4, &pages, 16 + 2 * sizeof *pages.page);
        put(f, 5, &pages, 16 + 2 * sizeof *pages.page);
        put(f, 6, "", 0);
        if (fclose(f) != 0)
            return 1;
    }
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    for (int i = 1; i < *argc; i++)
        if (strncmp((*argv)[i], "--seeds=", 8) == 0)
            exit(seed((*argv)[i] + 8));
    return 0;
}
