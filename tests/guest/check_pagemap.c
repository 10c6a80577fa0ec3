// SPDX-License-Identifier: BSD-2-Clause
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/guest/check_pagemap.h"

const char *const kind_name[] = {"anonymous",     "fork-shared", "private file",  "shared file",
                                 "shared memory", "leaderless",  "hugetlb",       "copied file",
                                 "large",         "text",        "unmapped file", "kernel",
                                 "no memory",     "offline"};

struct page pages[PAGES_MAX];
uint32_t page_count;
struct reference references[REFS_MAX];
uint32_t reference_count;

static uint64_t frame_of(int pagemap, uint64_t virt)
{
    uint64_t entry = 0;

    if (pread(pagemap, &entry, sizeof entry, (off_t)(virt / PAGE * sizeof entry)) != sizeof entry)
        return 0;
    return entry >> 63 ? entry & ((1ull << 55) - 1) : 0;
}

void add_pages(const void *at, uint32_t count, enum kind kind)
{
    int pagemap = open("/proc/self/pagemap", O_RDONLY);

    MUST(pagemap >= 0, "pagemap: %s", strerror(errno));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t frame = frame_of(pagemap, (uint64_t)(uintptr_t)at + (uint64_t)i * PAGE);

        MUST(frame, "page %u of %s is not there", i, kind_name[kind]);
        MUST(page_count < PAGES_MAX, "too many pages");
        pages[page_count++] = (struct page){frame, kind};
    }
    close(pagemap);
}

int by_frame(const void *a, const void *b)
{
    const struct page *x = a, *y = b;

    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

int by_mapping(const void *a, const void *b)
{
    const struct reference *x = a, *y = b;

    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->virt < y->virt ? -1 : x->virt > y->virt;
}

static void scan_range(int pagemap, uint64_t from, uint64_t to, uint32_t pid)
{
    static uint64_t entries[4096];

    while (from < to) {
        uint64_t count = (to - from) / PAGE < 4096 ? (to - from) / PAGE : 4096;
        ssize_t got = pread(pagemap, entries, count * sizeof *entries,
                            (off_t)(from / PAGE * sizeof *entries));

        if (got <= 0)
            return;
        for (uint64_t i = 0; i < (uint64_t)got / sizeof *entries; i++, from += PAGE) {
            struct page want = {.frame = entries[i] >> 63 ? entries[i] & ((1ull << 55) - 1) : 0};

            if (!want.frame || !bsearch(&want, pages, page_count, sizeof *pages, by_frame))
                continue;
            MUST(reference_count < REFS_MAX, "too many mappings");
            references[reference_count++] = (struct reference){want.frame, from, pid};
        }
    }
}

/* The lists of a thread, which those of its process are as long as its first one lives. */
static bool scan_thread(uint32_t pid, const char *thread)
{
    char path[64], line[512];
    bool any = false;
    FILE *maps;
    int pagemap;

    snprintf(path, sizeof path, "/proc/%u/task/%.20s/maps", pid, thread);
    maps = fopen(path, "r");
    snprintf(path, sizeof path, "/proc/%u/task/%.20s/pagemap", pid, thread);
    pagemap = open(path, O_RDONLY);
    while (maps && pagemap >= 0 && fgets(line, sizeof line, maps)) {
        unsigned long long from, to;

        any = true;
        if (sscanf(line, "%llx-%llx", &from, &to) == 2 && !strstr(line, "[vsyscall]"))
            scan_range(pagemap, from, to, pid);
    }
    if (maps)
        fclose(maps);
    if (pagemap >= 0)
        close(pagemap);
    return any;
}

static void scan_process(uint32_t pid)
{
    const struct dirent *entry;
    char path[64];
    DIR *threads;

    snprintf(path, sizeof path, "/proc/%u/task", pid);
    threads = opendir(path);
    while (threads && (entry = readdir(threads)))
        if (entry->d_name[0] != '.' && scan_thread(pid, entry->d_name))
            break;
    if (threads)
        closedir(threads);
}

void scan_all(void)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;

    MUST(proc, "/proc: %s", strerror(errno));
    while ((entry = readdir(proc))) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

        if (pid)
            scan_process(pid);
    }
    closedir(proc);
    qsort(references, reference_count, sizeof *references, by_mapping);
}
