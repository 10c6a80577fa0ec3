/* SPDX-License-Identifier: BSD-2-Clause */
/* buffer.c - memory in huge pages, and the question whether they were given. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/probe/bench/buffer.h"

enum { ORDINARY_ALIGN = 2 << 20 };

/* A line "Name: N kB" of a file under /proc, in bytes; 0 where there is none. */
static uint64_t kilobytes(const char *file, const char *name)
{
    char line[256];
    uint64_t kb = 0;
    FILE *f = fopen(file, "re");

    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':' &&
            sscanf(line + strlen(name) + 1, "%" SCNu64, &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb * 1024;
}

/* How much of the mapping at `start` has transparent huge pages. */
static uint64_t huge_bytes(const void *start)
{
    char line[512];
    unsigned long from, to;
    uint64_t kb = 0;
    int here = 0;
    FILE *f = fopen("/proc/self/smaps", "re");

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            here = from <= (unsigned long)start && (unsigned long)start < to;
        else if (here && sscanf(line, "AnonHugePages: %" SCNu64, &kb) == 1)
            break;
    }
    if (f)
        fclose(f);
    return kb * 1024;
}

static void *map(uint64_t bytes, int flags)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
                   /* cppcheck-suppress invalidFunctionArg */
                   -1, 0);

    /* cppcheck-suppress memleak */
    return p == MAP_FAILED ? NULL : p;
}

/* Pages that are set aside: either all of the buffer has them, or none. */
static int from_hugetlb(struct cf_buffer *b, uint64_t huge)
{
    b->mapped_bytes = b->size;
    b->mapped = map(b->mapped_bytes, MAP_HUGETLB);
    if (!b->mapped)
        return 0;
    b->base = b->mapped;
    b->page = huge;
    b->pages = CF_BUFFER_HUGETLB;
    return 1;
}

int cf_buffer_new(struct cf_buffer *b, uint64_t size, int ordinary)
{
    const uint64_t small = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t huge = kilobytes("/proc/meminfo", "Hugepagesize"), align = huge, available;

    memset(b, 0, sizeof *b);
    if (align < small || (align & (align - 1)))
        align = ORDINARY_ALIGN;
    if (!size || size > UINT64_MAX / 4) {
        errno = EINVAL;
        return -1;
    }
    b->size = (size + align - 1) / align * align;
    available = kilobytes("/proc/meminfo", "MemAvailable");
    if (available && b->size > available) { /* all of it is written, so one would be killed */
        errno = ENOMEM;
        return -1;
    }
    if (huge && !ordinary && from_hugetlb(b, huge)) {
        memset(b->base, 1, b->size);
        return 0;
    }
    b->mapped_bytes = b->size + align;
    b->mapped = map(b->mapped_bytes, 0);
    if (!b->mapped)
        return -1;
    b->base = (unsigned char *)(((uintptr_t)b->mapped + align - 1) / align * align);
    b->page = small;
    b->pages = CF_BUFFER_ORDINARY;
    if (ordinary) /* unless the kernel has no others, it takes this */
        (void)madvise(b->base, b->size, MADV_NOHUGEPAGE);
    else if (!huge)
        snprintf(b->why, sizeof b->why, "this kernel has no huge pages");
    else if (madvise(b->base, b->size, MADV_HUGEPAGE) != 0)
        snprintf(b->why, sizeof b->why, "madvise(MADV_HUGEPAGE): %s", strerror(errno));
    memset(b->base, 1, b->size);
    if (b->why[0] || ordinary)
        return 0;
    if (huge_bytes(b->base) >= b->size) {
        b->page = huge;
        b->pages = CF_BUFFER_MADVISED;
    } else
        snprintf(b->why, sizeof b->why,
                 "the kernel gave huge pages for %" PRIu64 " of %" PRIu64 " bytes",
                 huge_bytes(b->base), b->size);
    return 0;
}

void cf_buffer_free(struct cf_buffer *b)
{
    if (b->mapped)
        munmap(b->mapped, b->mapped_bytes);
    memset(b, 0, sizeof *b);
}
