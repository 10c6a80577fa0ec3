// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owners: lines of the pages of real processes are put into the tags, and what the module finds for
 * each of them is held against the slow way (check_pagemap.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kernel-page-flags.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/check_pagemap.h"

static char *map_touched(size_t size, int flags, int file, bool write)
{
    char *at = mmap(NULL, size, PROT_READ | (write ? PROT_WRITE : 0), flags, file, 0);
    volatile char *touch = at;

    MUST(at != MAP_FAILED, "mmap: %s", strerror(errno));
    for (size_t i = 0; i < size; i += PAGE) {
        if (write)
            touch[i] = (char)(i / PAGE);
        else
            (void)touch[i];
    }
    return at;
}

static int by_place(const void *a, const void *b)
{
    const struct cacheflow_line *x = a, *y = b;

    return x->set != y->set ? (x->set < y->set ? -1 : 1) : x->way - y->way;
}

/* Several lines of each page, in the sets where they belong, as long as those have ways. */
static uint32_t place_lines(uint32_t sets, uint32_t ways, struct cacheflow_line *lines)
{
    uint8_t *used = calloc(sets, 1);
    uint32_t count = 0;

    for (uint32_t i = 0; i < page_count; i++) {
        for (uint32_t n = 0; n < 3; n++) {
            uint64_t phys = pages[i].frame * PAGE + random_u32() % 64 * 64;
            uint32_t set = (uint32_t)(phys >> 6) & (sets - 1);

            if (used[set] == ways)
                continue;
            line_set_phys(&lines[count], phys);
            lines[count].set = set;
            lines[count].way = used[set]++;
            lines[count++].state = CACHEFLOW_M | CACHEFLOW_E | CACHEFLOW_NON_SECURE;
        }
    }
    /* In the order that a snapshot has. */
    qsort(lines, count, sizeof *lines, by_place);
    free(used);
    return count;
}

static enum kind kind_of(uint64_t frame)
{
    struct page want = {.frame = frame};
    const struct page *page = bsearch(&want, pages, page_count, sizeof *pages, by_frame);

    MUST(page, "a line of frame 0x%llx was never put in", (unsigned long long)frame);
    return page->kind;
}

/* Of memory that this process and one other have mapped. */
static bool is_shared(enum kind kind)
{
    return kind == SHARED || kind == LEADERLESS || kind == HUGETLB;
}

/* Owners of one line, from `owner` on; how many there are. */
static uint32_t check_line(const struct snapshot *s, uint32_t entry, uint32_t first)
{
    uint64_t phys = cacheflow_line_phys(&s->lines[entry]), frame = phys / PAGE;
    enum kind kind = kind_of(frame);
    struct reference found[256] = {{0}};
    uint32_t n = 0, from = 0;

    for (; first + n < s->header->owners && s->owners[first + n].entry == entry; n++) {
        MUST(n < 256, "too many owners");
        found[n] = (struct reference){frame, s->owners[first + n].virt - phys % PAGE,
                                      s->owners[first + n].pid};
    }
    qsort(found, n, sizeof *found, by_mapping);
    while (from < reference_count && references[from].frame < frame)
        from++;
    if (from == reference_count || references[from].frame != frame) {
        uint32_t flags = s->owners[first].flags;

        MUST(n == 1 && s->owners[first].pid == 0 && s->owners[first].mappings == 0,
             "%s page 0x%llx has %u owners, and no process has it mapped", kind_name[kind],
             (unsigned long long)frame, n);
        MUST(flags == (kind == KERNEL                      ? CACHEFLOW_OWNER_KERNEL
                       : kind == DEVICE || kind == OFFLINE ? CACHEFLOW_OWNER_NO_RAM
                                                           : CACHEFLOW_OWNER_UNMAPPED),
             "%s page has flags 0x%x", kind_name[kind], flags);
        MUST(kind == KERNEL
                 ? s->owners[first].virt >> 63 == 1 && s->owners[first].virt % PAGE == phys % PAGE
                 : s->owners[first].virt == 0,
             "%s page is said to be at 0x%llx", kind_name[kind],
             (unsigned long long)s->owners[first].virt);
        return 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct reference *want = &references[from + i];
        uint32_t flags = s->owners[first + i].flags;

        MUST(from + i < reference_count && by_mapping(want, &found[i]) == 0,
             "%s page 0x%llx: found pid %u at 0x%llx, and pagemap has pid %u at 0x%llx",
             kind_name[kind], (unsigned long long)frame, found[i].pid,
             (unsigned long long)found[i].virt, want->pid, (unsigned long long)want->virt);
        MUST(!!(flags & CACHEFLOW_OWNER_SHARED) == (n > 1) && s->owners[first + i].mappings == n,
             "%s page with %u owners has flags 0x%x", kind_name[kind], n, flags);
        MUST(!!(flags & CACHEFLOW_OWNER_FILE) ==
                 (kind == FILE_PRIVATE || kind == FILE_SHARED || is_shared(kind) || kind == TEXT),
             "%s page has flags 0x%x", kind_name[kind], flags);
        MUST(!!(flags & CACHEFLOW_OWNER_EXEC) == (kind == TEXT), "%s page has flags 0x%x",
             kind_name[kind], flags);
    }
    MUST(from + n == reference_count || references[from + n].frame != frame,
         "%s page 0x%llx: pid %u at 0x%llx was not found", kind_name[kind],
         (unsigned long long)frame, references[from + n].pid,
         (unsigned long long)references[from + n].virt);
    MUST((kind != FORKED && !is_shared(kind)) || n == 2, "%s page has %u owners", kind_name[kind],
         n);
    return n;
}

static const char file_name[] = "/checked-file", other_name[] = "/checked-file-too";

static int make_file(const char *path, uint32_t count)
{
    static char page[PAGE] = "a page of a file";
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

    MUST(file >= 0, "%s: %s", path, strerror(errno));
    for (uint32_t i = 0; i < count; i++) {
        page[PAGE - 1] = (char)i;
        MUST(write(file, page, PAGE) == PAGE, "%s: %s", path, strerror(errno));
    }
    return file;
}

/* Forks a child that has the same memory and waits to be killed. It writes to `copied`, which
   becomes its own by that, and reads `shared` and `huge`, which the kernel does not map for it
   before. */
static pid_t fork_waiting(volatile char *copied, const volatile char *shared, uint32_t count,
                          const volatile char *huge)
{
    int ready[2];
    char byte = 0;
    pid_t child;

    MUST(pipe(ready) == 0, "pipe: %s", strerror(errno));
    child = fork();
    MUST(child >= 0, "fork: %s", strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint32_t i = 0; i < count; i++) {
            copied[i * PAGE] = 1;
            (void)shared[i * PAGE];
        }
        if (huge)
            (void)*huge;
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    MUST(read(ready[0], &byte, 1) == 1, "the child is gone");
    return child;
}

static void no_text(void)
{
}

/* A large page. */
static char *map_large(void)
{
    char *large = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0);

    MUST(large != MAP_FAILED, "mmap: %s", strerror(errno));
    large = (char *)(((uintptr_t)large + (2 << 20) - 1) & ~(uintptr_t)((2 << 20) - 1));
    madvise(large, 2 << 20, MADV_HUGEPAGE);
    memset(large, 1, 2 << 20);
    note("%llu kB in large pages, ",
         (unsigned long long)file_number("/proc/self/smaps_rollup", "AnonHugePages:"));
    return large;
}

/* Pages of a file that are cached and mapped by nobody. */
static void add_cached(int file)
{
    char *cached = mmap(NULL, 8 * PAGE, PROT_READ, MAP_SHARED, file, 32 * PAGE);

    MUST(cached != MAP_FAILED, "mmap: %s", strerror(errno));
    for (uint32_t i = 0; i < 8; i++)
        (void)*(volatile char *)(cached + i * PAGE);
    add_pages(cached, 8, CACHED);
    munmap(cached, 8 * PAGE);
}

static uint64_t kernel_code(void)
{
    FILE *iomem = fopen("/proc/iomem", "r");
    char text[256];
    unsigned long long from = 0;

    while (iomem && !from && fgets(text, sizeof text, iomem)) {
        if (strstr(text, "Kernel code"))
            sscanf(text, " %llx", &from);
    }
    if (iomem)
        fclose(iomem);
    MUST(from, "/proc/iomem does not tell where the kernel is");
    return from;
}

/* Pages of the kernel, of no memory and, if there is one, of memory that is not in use. */
static void add_unmapped(uint64_t offline)
{
    pages[page_count++] = (struct page){kernel_code() / PAGE + 3, KERNEL};
    pages[page_count++] = (struct page){0xf0000000000ull / PAGE, DEVICE};
    if (offline)
        pages[page_count++] = (struct page){offline + 5, OFFLINE};
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Each line came out, with the owners that pagemap has for its page. */
static void check_all_lines(const struct snapshot *s, const struct cacheflow_line *lines,
                            uint32_t count, uint64_t offline)
{
    uint32_t owners = 0, kinds[KINDS] = {0};

    MUST(s->header->flags & CACHEFLOW_SNAP_RESOLVED &&
             !(s->header->flags & CACHEFLOW_SNAP_TRUNCATED),
         "flags 0x%x", s->header->flags);
    MUST(s->header->entries == count && memcmp(lines, s->lines, count * sizeof *lines) == 0,
         "other lines came out");
    for (uint32_t i = 0; i < count; i++) {
        MUST(owners < s->header->owners && s->owners[owners].entry == i, "line %u has no owner", i);
        kinds[kind_of(cacheflow_line_phys(&lines[i]) / PAGE)]++;
        owners += check_line(s, i, owners);
    }
    MUST(owners == s->header->owners, "%u owners too many", s->header->owners - owners);
    for (int kind = 0; kind < KINDS; kind++) {
        MUST(kinds[kind] || (kind == OFFLINE && !offline), "no line of a %s page was looked at",
             kind_name[kind]);
        note("%u %s%s", kinds[kind], kind_name[kind], kind == KINDS - 1 ? "" : ", ");
    }
    note(" lines, %u owners in %.2f ms", owners, (double)s->header->resolve_ns / 1e6);
}

void check_owners(int argc, char **argv)
{
    (void)argv;
    int device =
        device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_RESOLVE | CACHEFLOW_REPLACE);
    int huge_file, file = make_file(file_name, 40), other = make_file(other_name, 16);
    struct cacheflow_info info;
    struct cacheflow_line *lines;
    uint32_t count;
    pid_t child, leaderless;
    uint64_t offline = offline_frame();

    MUST(ioctl(device, CACHEFLOW_INFO, &info) == 0, "INFO: %s", strerror(errno));
    const struct cacheflow_ram *ram = &info.ram[CACHEFLOW_L2_TAG];
    char *left = map_touched(8 * PAGE, MAP_SHARED | MAP_ANONYMOUS, 0, true);

    leaderless = fork_leaderless(left, 8);
    char *huge = map_hugetlb(&huge_file);
    char *forked = map_touched(32 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, 0, true);
    char *copied = map_touched(16 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, 0, true);
    char *shared = map_touched(16 * PAGE, MAP_SHARED | MAP_ANONYMOUS, 0, true);
    char *private = map_touched(16 * PAGE, MAP_PRIVATE, other, false);
    char *same = map_touched(16 * PAGE, MAP_SHARED, file, false);
    char *written = map_touched(8 * PAGE, MAP_PRIVATE, file, true);

    child = fork_waiting(copied, shared, 16, huge);
    /* Only now, so that the child does not have it. */
    char *anon = map_touched(64 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, 0, true);
    char *large = map_large();

    add_pages(forked, 32, FORKED);
    add_pages(copied, 16, ANON);
    add_pages(shared, 16, SHARED);
    add_pages(left, 8, LEADERLESS);
    add_pages(huge, 32, HUGETLB);
    add_pages(private, 16, FILE_PRIVATE);
    add_pages(same, 16, FILE_SHARED);
    add_pages(written, 8, WRITTEN);
    add_pages(anon, 64, ANON);
    add_pages(large, 512, LARGE);
    add_pages((const void *)((uintptr_t)no_text & ~(uintptr_t)(PAGE - 1)), 1, TEXT);
    add_cached(file);
    MUST(argc == 0 || offline, "there is no memory that is not in use");
    add_unmapped(offline);

    qsort(pages, page_count, sizeof *pages, by_frame);
    lines = calloc(ram->sets * ram->ways, sizeof *lines);
    count = place_lines(ram->sets, ram->ways, lines);
    tags_fill(CACHEFLOW_L2_TAG, lines, count, 7);

    struct snapshot s = snapshot_take(device);

    scan_all();
    check_all_lines(&s, lines, count, offline);
    check_addresses(device);
    end_child(child);
    end_child(leaderless);
    unlink(file_name);
    unlink(other_name);
}

/* Which of the pages the kernel says are free: not those that a CPU keeps for itself. */
static void free_blocks(bool is_free[])
{
    int flags = open("/proc/kpageflags", O_RDONLY);

    for (uint32_t i = 0; i < page_count; i++) {
        uint64_t of = 0;

        MUST(pread(flags, &of, sizeof of, (off_t)(pages[i].frame * sizeof of)) == sizeof of,
             "/proc/kpageflags: %s", strerror(errno));
        is_free[i] = of >> KPF_BUDDY & 1;
    }
    close(flags);
}

/* free PAGES: lines of memory that was unmapped belong to nobody */
void check_free(int argc, char **argv)
{
    MUST(argc == 1, "free PAGES");
    static bool before[PAGES_MAX], after[PAGES_MAX];
    uint32_t want = (uint32_t)atoi(argv[0]), count, blocks = 0, others = 0, owner = 0;
    int device =
        device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_RESOLVE | CACHEFLOW_REPLACE);
    struct cacheflow_info info;
    char *memory = map_touched(want * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, 0, true);

    MUST(ioctl(device, CACHEFLOW_INFO, &info) == 0, "INFO: %s", strerror(errno));
    const struct cacheflow_ram *ram = &info.ram[CACHEFLOW_L2_TAG];
    struct cacheflow_line *lines = calloc(ram->sets * ram->ways, sizeof *lines);

    add_pages(memory, want, ANON);
    qsort(pages, page_count, sizeof *pages, by_frame);
    count = place_lines(ram->sets, ram->ways, lines);
    tags_fill(CACHEFLOW_L2_TAG, lines, count, 5);
    munmap(memory, want * PAGE);
    free_blocks(before);
    struct snapshot s = snapshot_take(device);

    free_blocks(after);
    MUST(s.header->entries == count, "other lines came out");
    for (uint32_t i = 0; i < count; i++) {
        struct page key = {.frame = cacheflow_line_phys(&lines[i]) / PAGE};
        const struct page *page = bsearch(&key, pages, page_count, sizeof *pages, by_frame);
        bool block = before[page - pages] && after[page - pages];
        const struct cacheflow_owner *of = &s.owners[owner];

        if (of->flags == CACHEFLOW_OWNER_FREE) {
            MUST(of->pid == 0 && of->virt == 0, "a free page is said to be at 0x%llx of %u",
                 (unsigned long long)of->virt, of->pid);
            *(block ? &blocks : &others) += 1;
        }
        MUST(!block || of->flags == CACHEFLOW_OWNER_FREE, "a free page has flags 0x%x", of->flags);
        while (owner < s.header->owners && s.owners[owner].entry == i)
            owner++;
    }
    /* Some the kernel has by now, and who else runs. */
    MUST(blocks + others > count / 2, "of %u lines %u are free", count, blocks + others);
    note("%u lines, of free blocks %u, of other free pages %u", count, blocks, others);
}

/* Every way of every set with a line of the pages, as far as these go; how many they are. */
static uint32_t fill_sets(const struct cacheflow_ram *ram, struct cacheflow_line *lines)
{
    uint32_t n = 0;

    for (uint32_t set = 0; set < ram->sets; set++) {
        uint32_t way = 0;

        for (uint32_t i = 0; i < page_count && way < ram->ways; i++) {
            uint64_t first = pages[i].frame * PAGE >> 6;
            uint64_t line = (first & ~(uint64_t)(ram->sets - 1)) | set;

            if (line < first)
                line += ram->sets;
            if (line >= first + 64)
                continue;
            line_set_phys(&lines[n], line << 6);
            lines[n].set = set;
            lines[n].way = (uint8_t)way++;
            lines[n++].state = CACHEFLOW_M | CACHEFLOW_E;
        }
    }
    return n;
}

/* The mappings of the pages of all lines, as pagemap has them. */
static uint64_t all_owners(const struct cacheflow_line *lines, uint32_t n)
{
    uint64_t want = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t frame = cacheflow_line_phys(&lines[i]) / PAGE;
        uint32_t low = 0, high = reference_count;

        while (low < high) {
            uint32_t middle = (low + high) / 2;

            if (references[middle].frame < frame)
                low = middle + 1;
            else
                high = middle;
        }
        while (low < reference_count && references[low++].frame == frame)
            want++;
    }
    return want;
}

/* truncated: more owners than the buffer has room for are counted, and no line is lost. Needs a
   small buffer. */
void check_truncated(int argc, char **argv)
{
    enum { CHILDREN = 24 };
    (void)argc, (void)argv;
    int device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_RESOLVE);
    struct cacheflow_info info;
    pid_t children[CHILDREN];

    MUST(ioctl(device, CACHEFLOW_INFO, &info) == 0, "INFO: %s", strerror(errno));
    const struct cacheflow_ram *ram = &info.ram[CACHEFLOW_L2_TAG];
    uint32_t count = ram->sets * ram->ways, n, with = 0;
    size_t size = (size_t)count * 64;
    struct cacheflow_line *lines = calloc(count, sizeof *lines);
    char *forked = map_touched(size, MAP_PRIVATE | MAP_ANONYMOUS, 0, true);

    MUST(ioctl(device, CACHEFLOW_DISCARD) == 0, "DISCARD: %s", strerror(errno));
    for (int i = 0; i < CHILDREN; i++)
        children[i] = fork_waiting(NULL, NULL, 0, NULL);
    add_pages(forked, (uint32_t)(size / PAGE), FORKED);
    qsort(pages, page_count, sizeof *pages, by_frame);
    n = fill_sets(ram, lines);
    tags_fill(CACHEFLOW_L2_TAG, lines, n, 3);
    struct snapshot s = snapshot_take(device);

    MUST(s.header->entries == n && memcmp(lines, s.lines, n * sizeof *lines) == 0,
         "other lines came out");
    scan_all();
    const uint64_t want = all_owners(lines, n);

    MUST((uint64_t)s.header->owners + s.header->owners_missing == want,
         "%u owners and %u missing, and pagemap has %llu", s.header->owners,
         s.header->owners_missing, (unsigned long long)want);
    MUST(!!(s.header->flags & CACHEFLOW_SNAP_TRUNCATED) == (s.header->owners_missing > 0),
         "flags 0x%x with %u missing", s.header->flags, s.header->owners_missing);
    MUST(s.header->owners_missing > 0, "the buffer is too large for this check");
    for (uint32_t i = 0; i < s.header->owners; i++)
        with += i == 0 || s.owners[i].entry != s.owners[i - 1].entry;
    MUST(with == n, "of %u lines %u have an owner", n, with);
    note("%u owners kept, %u missing", s.header->owners, s.header->owners_missing);
    for (int i = 0; i < CHILDREN; i++)
        end_child(children[i]);
}
