// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory of kinds that few programs have: hugetlbfs and its shared page tables, that of a process
 * whose first thread has ended, a block that is not in use, memory that was read and never written;
 * and whether addresses of the kernel are kept from who may not see them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/check_pagemap.h"

static void *stay(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void write_file(const char *path, const char *text)
{
    int file = open(path, O_WRONLY);

    MUST(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text), "%s: %s", path,
         strerror(errno));
    close(file);
}

/* Whether that file has the text in its first few thousand bytes. */
static bool file_has(const char *path, const char *text)
{
    static char bytes[8192];
    int file = open(path, O_RDONLY);
    ssize_t got = file < 0 ? -1 : read(file, bytes, sizeof bytes - 1);

    if (file >= 0)
        close(file);
    bytes[got < 0 ? 0 : got] = '\0';
    return strstr(bytes, text) != NULL;
}

/* Forks a process that reads `shared`, and whose first thread ends while another one stays. */
pid_t fork_leaderless(const volatile char *shared, uint32_t count)
{
    uint64_t deadline = now_ns() + PATIENCE;
    pid_t child = fork();
    char path[64];

    MUST(child >= 0, "fork: %s", strerror(errno));
    if (child == 0) {
        pthread_t thread;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint32_t i = 0; i < count; i++)
            (void)shared[i * PAGE];
        if (pthread_create(&thread, NULL, stay, NULL) != 0)
            _exit(1);
        syscall(SYS_exit, 0);
    }
    snprintf(path, sizeof path, "/proc/%d/stat", child);
    while (!file_has(path, ") Z"))
        MUST(now_ns() < deadline, "the first thread does not end");
    return child;
}

/* Memory of large pages, as large and so placed that processes share its page tables. One page of
   it is there. */
char *map_hugetlb(int *file)
{
    const size_t size = (size_t)1 << 30;
    char *at;

    write_file("/proc/sys/vm/nr_hugepages", "4");
    *file = memfd_create("large", MFD_HUGETLB);
    MUST(*file >= 0 && ftruncate(*file, (off_t)size) == 0, "hugetlb: %s", strerror(errno));
    at = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, 0, 0);
    MUST(at != MAP_FAILED, "mmap: %s", strerror(errno));
    at = (char *)(((uintptr_t)at + size - 1) & ~(size - 1));
    at = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, *file, 0);
    MUST(at != MAP_FAILED, "mmap: %s", strerror(errno));
    memset(at, 1, 2 << 20);
    return at;
}

/* A block of memory that is plugged in and was not taken into use: its first frame, or 0. */
uint64_t offline_frame(void)
{
    char path[96], text[32] = "";
    FILE *file = fopen("/sys/devices/system/memory/block_size_bytes", "r");

    if (file && !fgets(text, sizeof text, file))
        text[0] = '\0';
    if (file)
        fclose(file);
    for (unsigned i = 0; i < 1024; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/memory/memory%u/state", i);
        if (file_has(path, "offline"))
            return i * (strtoull(text, NULL, 16) / PAGE);
    }
    return 0;
}

static void set_syslog(bool on)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    MUST(syscall(SYS_capget, &head, data) == 0, "capget: %s", strerror(errno));
    data[CAP_TO_INDEX(CAP_SYSLOG)].effective &= ~CAP_TO_MASK(CAP_SYSLOG);
    data[CAP_TO_INDEX(CAP_SYSLOG)].effective |= on ? CAP_TO_MASK(CAP_SYSLOG) : 0;
    MUST(syscall(SYS_capset, &head, data) == 0, "capset: %s", strerror(errno));
}

/* Addresses of the kernel are for who may see them. */
void check_addresses(int device)
{
    static const char restrict_path[] = "/proc/sys/kernel/kptr_restrict";

    for (int i = 0; i < 6; i++) {
        const char setting[] = {(char)('0' + i / 2), '\0'};
        const bool shown = i == 0 || i == 2;
        uint32_t lines = 0, told = 0;

        write_file(restrict_path, setting);
        set_syslog(i % 2 == 0);
        struct snapshot s = snapshot_take(device);

        set_syslog(true);
        for (uint32_t j = 0; j < s.header->owners; j++) {
            lines += (s.owners[j].flags & CACHEFLOW_OWNER_KERNEL) != 0;
            told += (s.owners[j].flags & CACHEFLOW_OWNER_KERNEL) && s.owners[j].virt;
        }
        MUST(lines && told == (shown ? lines : 0),
             "kptr_restrict %s, %s CAP_SYSLOG: %u of %u lines of the kernel have an address",
             setting, i % 2 ? "without" : "with", told, lines);
    }
    write_file(restrict_path, "0");
}

static struct attempt {
    int device;
    volatile pid_t thread;
    volatile int done;
    struct cacheflow_shot shot;
} attempt;

static void *try_snapshot(void *arg)
{
    attempt.thread = (pid_t)syscall(SYS_gettid);
    attempt.done = ioctl(attempt.device, CACHEFLOW_SNAPSHOT, &attempt.shot) == 0 ? 1 : -1;
    return arg;
}

static void hold(int file)
{
    const struct tagram_content content = {.ram = TAGRAM_HOLD, .count = (uint32_t)file};
    int tagram = open("/dev/tagram", O_WRONLY);

    MUST(tagram >= 0 && write(tagram, &content, sizeof content) == sizeof content,
         "/dev/tagram: %s", strerror(errno));
    close(tagram);
}

/* A snapshot that waits for the file of hugetlbfs, which the caller holds and has mapped. */
static pthread_t begin_waiting(void)
{
    uint64_t deadline = now_ns() + PATIENCE;
    bool waited = false;
    pthread_t thread;
    char path[64];

    attempt.device =
        device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_RESOLVE | CACHEFLOW_REPLACE);
    MUST(pthread_create(&thread, NULL, try_snapshot, NULL) == 0, "no thread");
    while (!attempt.done && !waited && now_ns() < deadline) {
        /* stop_machine() makes it wait, too, but not in there */
        snprintf(path, sizeof path, "/proc/self/task/%d/stack", attempt.thread);
        waited = attempt.thread && file_has(path, "resolver_run");
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", attempt.thread);
        waited = waited && file_has(path, ") D ");
    }
    if (!waited)
        hold(-1);
    MUST(waited, "the tables were looked at");
    return thread;
}

static void end_waiting(pthread_t thread)
{
    hold(-1);
    pthread_join(thread, NULL);
    MUST(attempt.done == 1, "and then no snapshot was taken");
}

/* hugetlb: page tables that processes share are not looked at while somebody changes them */
void check_hugetlb(int argc, char **argv)
{
    int file;
    const char *mapped = map_hugetlb(&file);

    (void)argc, (void)argv;
    MUST(mapped, "no mapping"); /* which stays until we end */
    hold(file);
    end_waiting(begin_waiting());
}

static struct other {
    uint64_t frame; /* of its own memory */
    volatile pid_t number;
    volatile bool taken;
} * other;

/* A process with memory of its own, which begins a thread of the number that it is told. */
static void take_number(void)
{
    char *own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0),
         text[64];
    pthread_t thread;

    MUST(own != MAP_FAILED, "mmap: %s", strerror(errno));
    *own = 1;
    add_pages(own, 1, ANON);
    other->frame = pages[0].frame;
    while (!other->number)
        usleep(1000);
    for (int i = 0; i < 100 && !other->taken; i++) {
        snprintf(text, sizeof text, "%d", other->number - 1);
        write_file("/proc/sys/kernel/ns_last_pid", text);
        MUST(pthread_create(&thread, NULL, stay, NULL) == 0, "no thread");
        snprintf(text, sizeof text, "/proc/self/task/%d", other->number);
        other->taken = access(text, F_OK) == 0;
    }
    stay(NULL);
}

static pid_t fork_to(void (*run)(void))
{
    pid_t child = fork();

    MUST(child >= 0, "fork: %s", strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run();
    }
    return child;
}

static void stay_here(void)
{
    stay(NULL);
}

/* reused: a process ends while the owners are looked for, a thread of another gets its number */
void check_reused(int argc, char **argv)
{
    uint64_t deadline = now_ns() + PATIENCE;
    struct cacheflow_line line = {.state = CACHEFLOW_E};
    struct cacheflow_info info;
    struct cacheflow_shot shot;
    const char *mapped;
    pid_t ends, stays;
    pthread_t thread;
    int device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, 0), file;

    (void)argc, (void)argv;
    other = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, 0, 0);
    MUST(other != MAP_FAILED && ioctl(device, CACHEFLOW_INFO, &info) == 0, "%s", strerror(errno));
    stays = fork_to(take_number);
    ends = fork_to(stay_here);
    while (!other->frame)
        MUST(now_ns() < deadline, "no memory of another process");
    mapped = map_hugetlb(&file);
    MUST(mapped, "no mapping"); /* which stays until we end */
    line_set_phys(&line, other->frame * PAGE);
    line.set = line.frame_low & (info.ram[CACHEFLOW_L2_TAG].sets - 1);
    tags_fill(CACHEFLOW_L2_TAG, &line, 1, 7);
    hold(file);
    thread = begin_waiting();
    kill(ends, SIGKILL);
    waitpid(ends, NULL, 0);
    other->number = ends;
    while (!other->taken && now_ns() < deadline)
        usleep(1000);
    end_waiting(thread);
    MUST(other->taken, "no thread gets the number %d", ends);
    close(attempt.device);
    shot = attempt.shot;
    struct snapshot s = snapshot_read(device, &shot);

    MUST(s.header->owners == 1 && s.owners[0].pid == (uint32_t)stays,
         "%u owners, the first is %u instead of %d", s.header->owners, s.owners[0].pid, stays);
    kill(stays, SIGKILL);
    waitpid(stays, NULL, 0);
}

/* zeros: the page of zeros, which stands wherever memory was read and never written, is noted once
   for each of two mappings */
void check_zeros(int argc, char **argv)
{
    enum { COUNT = 64 };
    const size_t size = COUNT * PAGE;
    int device =
        device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_RESOLVE | CACHEFLOW_REPLACE);
    char *all = mmap(NULL, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0);
    struct cacheflow_line line = {.state = CACHEFLOW_E};
    struct cacheflow_info info;
    uint32_t found[3] = {0};

    (void)argc, (void)argv;
    MUST(ioctl(device, CACHEFLOW_INFO, &info) == 0, "INFO: %s", strerror(errno));
    MUST(all != MAP_FAILED && mprotect(all, size, PROT_READ) == 0 &&
             mprotect(all + 2 * size, size, PROT_READ) == 0,
         "no memory: %s", strerror(errno));
    for (size_t i = 0; i < size; i += PAGE)
        MUST(all[i] == 0 && all[2 * size + i] == 0, "it is not zero");
    add_pages(all, COUNT, ANON);
    MUST(pages[0].frame == pages[COUNT - 1].frame, "there is no page of zeros");
    line_set_phys(&line, pages[0].frame * PAGE + 192);
    line.set = line.frame_low & (info.ram[CACHEFLOW_L2_TAG].sets - 1);
    tags_fill(CACHEFLOW_L2_TAG, &line, 1, 7);
    struct snapshot s = snapshot_take(device);

    for (uint32_t i = 0; i < s.header->owners; i++) {
        const uint64_t at = s.owners[i].virt - (uint64_t)(uintptr_t)all;

        MUST(s.owners[i].mappings == s.header->owners, "%u mappings, %u owners",
             s.owners[i].mappings, s.header->owners);
        if (s.owners[i].pid != (uint32_t)getpid() || at >= 3 * size)
            continue;
        MUST(at % size == 192, "noted %llu bytes from its begin", (unsigned long long)(at % size));
        found[at / size]++;
    }
    MUST(found[0] == 1 && found[1] == 0 && found[2] == 1, "noted %u, %u and %u times", found[0],
         found[1], found[2]);
    note("%u owners", s.header->owners);
}
