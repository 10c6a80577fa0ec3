// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the checks of pagectl.ko share: a process that is treated, requests, and what is in its page
 * tables, as pagetab.ko reads it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/check_pages.h"

/* ---- the process ---- */

struct question {
    uint64_t what, address, pages, value;
};

static uint64_t word_of(uint64_t seed, uint64_t index)
{
    return (seed << 32 | index) * 0x9e3779b97f4a7c15u;
}

static uint64_t verify(uint64_t *words, uint64_t count, uint64_t seed)
{
    for (uint64_t i = 0; i < count; i++)
        if (words[i] != word_of(seed, i))
            return i + 1;
    return 0;
}

static uint64_t stand_still(void)
{
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return (uint64_t)child;
}

static uint64_t give(void *at, size_t bytes)
{
    struct iovec from = {at, bytes};
    int ends[2];

    return pipe(ends) < 0 || vmsplice(ends[1], &from, 1, 0) != (ssize_t)bytes;
}

static uint64_t obey(const struct question *q)
{
    void *at = (void *)(uintptr_t)q->address;
    uint64_t *words = at;
    size_t bytes = q->pages * PAGE;

    switch (q->what) {
    case VICTIM_FILL:
        for (uint64_t i = 0; i < bytes / sizeof *words; i++)
            words[i] = word_of(q->value, i);
        return 0;
    case VICTIM_VERIFY:
        return verify(words, bytes / sizeof *words, q->value);
    case VICTIM_UNMAP:
        return (uint64_t)munmap(at, bytes);
    case VICTIM_MOVE:
        return mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                      (void *)(uintptr_t)q->value) == MAP_FAILED;
    case VICTIM_READONLY:
        return (uint64_t)mprotect(at, bytes, PROT_READ);
    case VICTIM_DISCARD:
        return (uint64_t)madvise(at, bytes, MADV_DONTNEED);
    case VICTIM_HUGE:
        return (uint64_t)madvise(at, bytes, MADV_HUGEPAGE);
    case VICTIM_FORK:
        return stand_still();
    case VICTIM_GIVE:
        return give(at, bytes);
    case VICTIM_CALL:
        return ((uint64_t(*)(uint64_t))(uintptr_t)q->address)(q->value);
    default:
        _exit(0);
    }
}

static void live(int from, int to)
{
    struct question q;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(from, &q, sizeof q) == sizeof q) {
        uint64_t answer = obey(&q);

        if (write(to, &answer, sizeof answer) != sizeof answer)
            break;
    }
    _exit(0);
}

static uint64_t map(int protection, int flags, int file)
{
    /* cppcheck-suppress invalidFunctionArg */
    void *at = mmap(NULL, VICTIM_PAGES * PAGE, protection, flags, file, 0);

    MUST(at != MAP_FAILED, "mmap: %s", strerror(errno));
    return (uint64_t)(uintptr_t)at;
}

/* A file in memory that none else has. */
static int own_file(void)
{
    int file = open("/tmp/file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    static const char page[PAGE] = "text";
    bool written = file >= 0 && unlink("/tmp/file") == 0;

    for (uint32_t i = 0; i < VICTIM_PAGES; i++)
        written = written && write(file, page, sizeof page) == sizeof page;
    MUST(written, "/tmp/file: %s", strerror(errno));
    return file;
}

/* We map what it shall have and do not touch it. */
struct victim victim_make(void)
{
    int file = own_file(), to[2], from[2];
    struct victim v = {0};
    uint64_t *areas[] = {&v.anon, &v.shared, &v.data, &v.text, &v.guard};

    MUST(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0, "%s", strerror(errno));
    v.anon = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    v.guard = map(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    v.shared = map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
    v.data = map(PROT_READ | PROT_WRITE, MAP_PRIVATE, file);
    v.text = map(PROT_READ | PROT_EXEC, MAP_PRIVATE, file);
    v.pid = fork();
    MUST(v.pid >= 0, "fork: %s", strerror(errno));
    if (v.pid == 0) {
        close(to[1]);
        close(from[0]);
        live(to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    close(file);
    v.to = to[1];
    v.from = from[0];
    for (size_t i = 0; i < sizeof areas / sizeof *areas; i++)
        munmap((void *)(uintptr_t)*areas[i], VICTIM_PAGES * PAGE);
    return v;
}

void victim_end(const struct victim *victim)
{
    kill(victim->pid, SIGKILL);
    waitpid(victim->pid, NULL, 0);
    close(victim->to);
    close(victim->from);
}

uint64_t victim_ask(const struct victim *victim, enum victim_do what, uint64_t address,
                    uint64_t pages, uint64_t value)
{
    struct question q = {what, address, pages, value};
    uint64_t answer = 0;

    MUST(write(victim->to, &q, sizeof q) == sizeof q &&
             (what == VICTIM_EXIT || read(victim->from, &answer, sizeof answer) == sizeof answer),
         "the process has ended when asked for %d of 0x%" PRIx64, what, address);
    return answer;
}

/* ---- requests ---- */

int pages_open(void)
{
    int device = open(PAGECTL_DEVICE, O_RDONLY | O_CLOEXEC);

    MUST(device >= 0, "%s: %s", PAGECTL_DEVICE, strerror(errno));
    return device;
}

struct pagectl_info pages_info(int device)
{
    struct pagectl_info info;

    MUST(ioctl(device, PAGECTL_INFO, &info) == 0, "INFO: %s", strerror(errno));
    return info;
}

void pages_target(int device, pid_t pid)
{
    struct pagectl_target target = {.pid = pid};

    MUST(ioctl(device, PAGECTL_TARGET, &target) == 0, "TARGET: %s", strerror(errno));
}

int pages_expect(int device, pid_t pid)
{
    static struct pagectl_mapping all[4096];
    static struct pagectl_expect expect;
    char path[64], line[512], mode[8];
    uint32_t count = 0;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    maps = fopen(path, "r");
    MUST(maps, "%s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, maps)) {
        uint64_t start, end;

        if (strstr(line, "[vsyscall]"))
            continue;
        MUST(sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &start, &end, mode) == 3, "%s", line);
        all[count++] = (struct pagectl_mapping){
            .start = start,
            .end = end,
            .flags = (mode[0] == 'r' ? PAGECTL_READ : 0) | (mode[1] == 'w' ? PAGECTL_WRITE : 0) |
                     (mode[2] == 'x' ? PAGECTL_EXEC : 0) | (mode[3] == 's' ? PAGECTL_SHARED : 0)};
    }
    fclose(maps);
    /* In parts, of different sizes. */
    for (uint32_t first = 0; first < count; first += expect.count) {
        expect.first = first;
        expect.count = count - first < first + 3 ? count - first : first + 3;
        expect.total = count;
        memcpy(expect.mapping, all + first, expect.count * sizeof *all);
        if (ioctl(device, PAGECTL_EXPECT, &expect) < 0)
            return errno;
    }
    return 0;
}

int pages_request(int device, unsigned long request, struct pagectl_pages *pages)
{
    return ioctl(device, request, pages) < 0 ? errno : 0;
}

struct pagectl_pages *pages_do(int device, unsigned long request, uint64_t address, uint32_t count,
                               uint32_t policy)
{
    static struct pagectl_pages pages;
    int error;

    memset(&pages, 0, sizeof pages);
    pages.count = count;
    pages.policy = policy;
    for (uint32_t i = 0; i < count; i++)
        pages.page[i].addr = address + (uint64_t)i * PAGE;
    error = pages_request(device, request, &pages);
    MUST(!error, "request 0x%lx: %s", request, strerror(error));
    for (uint32_t i = 0; i < count; i++)
        MUST(pages.page[i].result == PAGECTL_DONE, "request 0x%lx: page %u of %u: result %u",
             request, i, count, pages.page[i].result);
    MUST(pages.failed == 0, "%u have failed, and none says so", pages.failed);
    return &pages;
}

struct pagectl_page pages_one(int device, unsigned long request, uint64_t address, uint32_t policy,
                              uint32_t result)
{
    struct pagectl_pages pages = {.count = 1, .policy = policy, .page[0].addr = address};
    int error = pages_request(device, request, &pages);

    MUST(!error && pages.page[0].result == result && pages.failed == (result != PAGECTL_DONE),
         "request 0x%lx of 0x%" PRIx64 ": %s, result %u and not %u, %u failed", request, address,
         strerror(error), pages.page[0].result, result, pages.failed);
    MUST(result != PAGECTL_UNMAPPED ||
             !(pages.page[0].frame || pages.page[0].policy || pages.page[0].pool),
         "request 0x%lx of 0x%" PRIx64 ", where nothing is: frame 0x%llx, policy %u", request,
         address, (unsigned long long)pages.page[0].frame, pages.page[0].policy);
    return pages.page[0];
}

int pages_attach(const struct victim *victim)
{
    int device = pages_open(), error;

    pages_target(device, victim->pid);
    error = pages_expect(device, victim->pid);
    MUST(!error, "EXPECT: %s", strerror(error));
    return device;
}

void pages_restore(int device)
{
    MUST(ioctl(device, PAGECTL_RESTORE) == 0, "RESTORE: %s", strerror(errno));
}

/* ---- page tables ---- */

struct pagetab pages_look(pid_t pid, uint64_t address)
{
    struct pagetab look = {.addr = address, .pid = pid};
    static int file = -1;

    if (file < 0)
        file = open("/dev/pagetab", O_RDONLY | O_CLOEXEC);
    MUST(file >= 0 && read(file, &look, sizeof look) == sizeof look, "/dev/pagetab: %s",
         strerror(errno));
    MUST(!look.error, "0x%" PRIx64 " of %d: %s", address, pid, strerror(-look.error));
    return look;
}

/* The memory type by the manuals: on arm64 the byte of MAIR_EL1 that bits 4:2 of the entry choose
   (ARM DDI 0487, D17.2.97), on x86 that of IA32_PAT by PAT, PCD, PWT (Intel SDM volume 3, 12.12.3).
 */
static uint32_t type_of(const struct pagetab *look)
{
#ifdef __x86_64__
    uint32_t place = look->entry >> 3 & 3, byte;

    place |= look->entry >> 7 & 1 ? 4 : 0;
    byte = look->types >> 8 * place & 7;
    return byte == 6   ? PAGECTL_CACHED
           : byte == 0 ? PAGECTL_UNCACHED
           : byte == 1 ? PAGECTL_WRITE_COMBINING
                       : PAGECTL_OTHER;
#else
    uint32_t byte = look->types >> 8 * (look->entry >> 2 & 7) & 0xff;

    return byte == 0xff ? PAGECTL_CACHED : byte == 0x44 ? PAGECTL_NONCACHEABLE : PAGECTL_OTHER;
#endif
}

void pages_are(pid_t pid, uint64_t address, uint32_t count, uint32_t policy, bool pinned)
{
    for (uint32_t i = 0; i < count; i++, address += PAGE) {
        struct pagetab look = pages_look(pid, address);

        MUST(type_of(&look) == policy, "page %u of %u, 0x%" PRIx64 ", is of type %u and not %u", i,
             count, address, type_of(&look), policy);
        /* A pin counts by 1024, GUP_PIN_COUNTING_BIAS. */
        MUST((look.pins >= 1024) == pinned, "page %u of %u, 0x%" PRIx64 ", has %lld references", i,
             count, address, (long long)look.pins);
    }
}

uint32_t pages_policy(uint32_t number)
{
#ifdef __x86_64__
    static const uint32_t policies[] = {PAGECTL_UNCACHED, PAGECTL_WRITE_COMBINING, 0};
#else
    static const uint32_t policies[] = {PAGECTL_NONCACHEABLE, 0};
#endif
    return policies[number];
}
