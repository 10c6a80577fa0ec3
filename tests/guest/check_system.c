// SPDX-License-Identifier: BSD-2-Clause
/*
 * The module as a part of the system: it stops the other CPUs, leaks nothing, and takes nobody with
 * it, whatever is done to it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/userfaultfd.h>
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

#include "tests/guest/check.h"

/* info BACKEND L2_SETS BUFFER_FLAGS */
void check_info(int argc, char **argv)
{
    MUST(argc == 3, "info BACKEND L2_SETS BUFFER_FLAGS");
    int device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, 0);
    struct cacheflow_config config = {.ram = CACHEFLOW_RAMS - 1};
    struct cacheflow_info info;

    MUST(ioctl(device, CACHEFLOW_INFO, &info) == 0, "INFO: %s", strerror(errno));
    MUST(info.abi == CACHEFLOW_ABI && strcmp(info.backend, argv[0]) == 0, "abi %u, backend '%.16s'",
         info.abi, info.backend);
    MUST(info.cpus_online == (uint32_t)sysconf(_SC_NPROCESSORS_ONLN) &&
             info.cpus_able == info.cpus_online,
         "%u CPUs, of which %u can be read", info.cpus_online, info.cpus_able);
    MUST(info.buffer_flags == (uint32_t)atoi(argv[2]), "buffer flags 0x%x", info.buffer_flags);
    MUST(info.ram[CACHEFLOW_L2_TAG].sets == (uint32_t)atoi(argv[1]) &&
             info.ram[CACHEFLOW_L2_TAG].ways == 16 && info.ram[CACHEFLOW_L2_TAG].level == 2,
         "L2 of %u sets, %u ways", info.ram[CACHEFLOW_L2_TAG].sets,
         info.ram[CACHEFLOW_L2_TAG].ways);
    MUST(info.snapshot_bytes <= 512u << 10, "a snapshot takes up to %llu bytes",
         (unsigned long long)info.snapshot_bytes);
    MUST(info.snapshots == info.buffer_bytes / info.snapshot_bytes, "%u snapshots", info.snapshots);
    MUST(ioctl(device, CACHEFLOW_CONFIGURE, &config) < 0 && errno == ENODEV,
         "a memory that is not there can be configured");
    config = (struct cacheflow_config){.cpu = -2};
    MUST(ioctl(device, CACHEFLOW_CONFIGURE, &config) < 0 && errno == EINVAL, "CPU -2 is taken");
    config = (struct cacheflow_config){.cpu = 1 << 20};
    MUST(ioctl(device, CACHEFLOW_CONFIGURE, &config) < 0 && errno == EINVAL, "CPU 2^20 is taken");
    config = (struct cacheflow_config){.flags = 4};
    MUST(ioctl(device, CACHEFLOW_CONFIGURE, &config) < 0 && errno == EINVAL, "flag 4 is taken");
    config = (struct cacheflow_config){.reserved = 1};
    MUST(ioctl(device, CACHEFLOW_CONFIGURE, &config) < 0 && errno == EINVAL, "reserved is taken");
    note("%s, %u CPUs, buffer of %llu bytes holds %u snapshots", info.backend, info.cpus_online,
         (unsigned long long)info.buffer_bytes, info.snapshots);
}

/* ---- the other CPUs ---- */

#define GAPS 4096u

/* A thread that counts as fast as it can and notes when it could not. */
static struct counter {
    pthread_t thread;
    int cpu;
    volatile uint64_t count;
    volatile uint64_t gaps; /* written so far; the last GAPS are kept */
    struct {
        uint64_t from, to; /* ns, of the last step before and the first after */
    } gap[GAPS];
} counters[64];
static volatile bool counting;

static void *count_on(void *arg)
{
    struct counter *counter = arg;
    cpu_set_t set;
    uint64_t last;

    CPU_ZERO(&set);
    CPU_SET(counter->cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    for (last = now_ns(); counting; counter->count++) {
        uint64_t now = now_ns();

        if (now - last > 20000) {
            counter->gap[counter->gaps % GAPS].from = last;
            counter->gap[counter->gaps % GAPS].to = now;
            __sync_synchronize();
            counter->gaps++;
        }
        last = now;
    }
    return NULL;
}

/* Whether the counter notes that it stood still all through a snapshot, which began when it had
   noted `gaps`. */
static bool stood_still(const struct counter *counter, uint64_t gaps,
                        const struct cacheflow_shot *shot)
{
    uint64_t deadline = now_ns() + PATIENCE, before = counter->count;

    while (counter->count < before + 2)
        MUST(now_ns() < deadline, "the counter of CPU %d does not run any more", counter->cpu);
    __sync_synchronize();
    for (; gaps < counter->gaps; gaps++) {
        if (counter->gap[gaps % GAPS].from <= shot->time_ns &&
            counter->gap[gaps % GAPS].to >= shot->time_ns + shot->cost_ns)
            return true;
    }
    return false;
}

/* freeze ROUNDS: no counter makes a step between begin and end of a snapshot. A busy emulator may
   let a CPU stand still by chance, which says nothing: so in each round the same time is waited as
   well, and rounds go on until in ROUNDS of those waits every counter has made steps. */
void check_freeze(int argc, char **argv)
{
    uint32_t want = argc > 0 ? (uint32_t)atoi(argv[0]) : 10, moved = 0, rounds = 0;
    int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t shortest = UINT64_MAX, limit = now_ns() + PATIENCE;
    cpu_set_t set;

    MUST(cpus >= 2 && cpus <= 64, "%d CPUs", cpus);
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    sched_setaffinity(0, sizeof set, &set);
    int device = device_open(CACHEFLOW_L2_TAG, 0, CACHEFLOW_REPLACE);

    counting = true;
    for (int cpu = 1; cpu < cpus; cpu++) {
        counters[cpu].cpu = cpu;
        MUST(pthread_create(&counters[cpu].thread, NULL, count_on, &counters[cpu]) == 0,
             "no thread");
    }
    for (; moved < want; rounds++) {
        struct cacheflow_shot shot;
        uint64_t counts[64], gaps[64], begin;
        bool all = true;

        for (int cpu = 1; cpu < cpus; cpu++) {
            counts[cpu] = counters[cpu].count;
            while (counters[cpu].count == counts[cpu])
                MUST(now_ns() < limit, "the counter of CPU %d does not run", cpu);
            gaps[cpu] = counters[cpu].gaps;
        }
        MUST(ioctl(device, CACHEFLOW_SNAPSHOT, &shot) == 0, "SNAPSHOT: %s", strerror(errno));
        MUST(shot.cost_ns > 20000, "a snapshot of %llu ns is too short for this check",
             (unsigned long long)shot.cost_ns);
        if (shot.cost_ns < shortest)
            shortest = shot.cost_ns;
        for (int cpu = 1; cpu < cpus; cpu++)
            MUST(stood_still(&counters[cpu], gaps[cpu], &shot),
                 "round %u: the counter of CPU %d made steps during a snapshot of %llu ns", rounds,
                 cpu, (unsigned long long)shot.cost_ns);
        for (int cpu = 1; cpu < cpus; cpu++)
            counts[cpu] = counters[cpu].count;
        for (begin = now_ns(); now_ns() < begin + shot.cost_ns;)
            continue;
        for (int cpu = 1; cpu < cpus; cpu++)
            all = all && counters[cpu].count > counts[cpu] + 1;
        moved += all;
        MUST(moved >= want || now_ns() < limit,
             "in %u rounds the counters made steps %u times without a snapshot: too busy a machine",
             rounds, moved);
    }
    counting = false;
    for (int cpu = 1; cpu < cpus; cpu++)
        pthread_join(counters[cpu].thread, NULL);
    note("%u snapshots of at least %.2f ms, %d other CPUs, which else moved %u times", rounds,
         (double)shortest / 1e6, cpus - 1, moved);
}

/* cost SOURCE: what is told of the cost is so */
void check_cost(int argc, char **argv)
{
    uint32_t source = argc > 0 ? (uint32_t)atoi(argv[0]) : 0;
    int device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_REPLACE);
    uint64_t last = 0;
    bool fast = false;
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(0, &set);
    sched_setaffinity(0, sizeof set, &set);
    for (int i = 0; i < 5; i++) {
        uint64_t begin = now_ns();
        struct snapshot s = snapshot_take(device);
        uint64_t end = now_ns();

        MUST(s.header->cycles_source == source, "counted by %u", s.header->cycles_source);
        MUST(s.shot.cost_cycles > 0 && s.shot.cost_ns > 0, "a snapshot for nothing");
        MUST(s.shot.time_ns >= begin && s.shot.time_ns + s.shot.cost_ns <= end,
             "the snapshot was not taken while it was asked for");
        MUST(s.shot.total_ns >= s.shot.cost_ns && s.shot.total_ns <= end - begin,
             "the whole took %llu ns", (unsigned long long)s.shot.total_ns);
        MUST(s.shot.time_ns > last, "time goes backwards");
        /* No CPU here is slower than 62.5 MHz: that would be each 64th cycle. One that is taken
           away between the two clocks may look so, once. */
        fast |= s.shot.cost_cycles * 16 > s.shot.cost_ns;
        MUST(fast || i < 4, "%llu cycles in %llu ns", (unsigned long long)s.shot.cost_cycles,
             (unsigned long long)s.shot.cost_ns);
        last = s.shot.time_ns;
        if (i == 4)
            note("%llu cycles, %llu ns, %llu ns in all", (unsigned long long)s.shot.cost_cycles,
                 (unsigned long long)s.shot.cost_ns, (unsigned long long)s.shot.total_ns);
    }
}

/* geometry: a CPU whose cache is not as it was when the module was loaded is not read */
void check_geometry(int argc, char **argv)
{
    (void)argc, (void)argv;
    int device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, 0);
    struct cacheflow_state before, after;
    struct cacheflow_shot shot;

    MUST(ioctl(device, CACHEFLOW_STATE, &before) == 0, "STATE: %s", strerror(errno));
    MUST(ioctl(device, CACHEFLOW_SNAPSHOT, &shot) < 0 && errno == EIO,
         "a cache of another geometry was read");
    MUST(ioctl(device, CACHEFLOW_STATE, &after) == 0 && after.bytes_used == before.bytes_used &&
             after.last_number == before.last_number,
         "a snapshot that failed has left something");
}

/* ---- leaks ---- */

/* Kilobytes that the system has free, after what it does on its own time has been done. */
static int64_t free_kb(int64_t *slab)
{
    sync();
    usleep(300000);
    *slab = (int64_t)file_number("/proc/meminfo", "SUnreclaim:");
    return (int64_t)file_number("/proc/meminfo", "MemFree:");
}

/* What is allocated and was not freed, of the slab caches whose name begins so, by all or by the
   module: slub_debug=U keeps who has allocated an object. */
static uint32_t objects(const char *cache, const char *caller)
{
    static const char root[] = "/sys/kernel/debug/slab";
    const struct dirent *entry;
    uint32_t sum = 0;
    char path[400], line[512];
    DIR *caches = opendir(root);

    MUST(caches, "%s: %s", root, strerror(errno));
    while ((entry = readdir(caches))) {
        FILE *file;

        if (strncmp(entry->d_name, cache, strlen(cache)) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s/alloc_traces", root, entry->d_name);
        file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
            if (strstr(line, caller))
                sum += (uint32_t)strtoul(line, NULL, 10);
        if (file)
            fclose(file);
    }
    closedir(caches);
    return sum;
}

static uint32_t vmalloc_areas(void)
{
    FILE *file = fopen("/proc/vmallocinfo", "r");
    char line[512];
    uint32_t count = 0;

    MUST(file, "/proc/vmallocinfo: %s", strerror(errno));
    while (fgets(line, sizeof line, file))
        count += strstr(line, "[cacheflow]") != NULL;
    fclose(file);
    return count;
}

static uint32_t tasks_there(void)
{
    const struct dirent *entry;
    uint32_t count = 0;
    DIR *all = opendir("/proc");

    MUST(all, "/proc: %s", strerror(errno));
    while ((entry = readdir(all))) {
        char path[300];
        DIR *tasks;

        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%s/task", entry->d_name);
        if (!(tasks = opendir(path)))
            continue;
        while ((entry = readdir(tasks)))
            count += entry->d_name[0] != '.';
        closedir(tasks);
    }
    closedir(all);
    return count;
}

/* Tasks that are allocated and no longer there. The kernel starts and ends threads of its own as it
   likes, so those that are there are counted, too: before and after, since one that comes or goes
   meanwhile would be taken for one that is held. */
static int32_t tasks_held(void)
{
    uint32_t before, allocated, after = tasks_there();

    do {
        before = after;
        allocated = objects("task_struct", "");
        after = tasks_there();
    } while (before != after);
    return (int32_t)allocated - (int32_t)after;
}

static void leave(pid_t *children, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
}

static void snapshots(int device, uint32_t id, uint32_t count)
{
    struct cacheflow_config config = {.ram = id, .cpu = CACHEFLOW_CPU_ANY};
    struct cacheflow_shot shot;

    for (uint32_t i = 0; i < count; i++) {
        config.flags = CACHEFLOW_REPLACE | (i % 4 ? 0 : CACHEFLOW_RESOLVE);
        MUST(ioctl(device, CACHEFLOW_CONFIGURE, &config) == 0 &&
                 ioctl(device, CACHEFLOW_SNAPSHOT, &shot) == 0,
             "snapshot %u: %s", i, strerror(errno));
        if (i % 100 == 0) {
            int other = open(CACHEFLOW_DEVICE, O_RDONLY);

            MUST(other >= 0, "open: %s", strerror(errno));
            close(other);
            snapshot_read(device, &shot);
        }
    }
}

/* leak RAM SNAPSHOTS: a quarter of them with owners. What the module allocates is counted, so one
   object that is left shows, after however few. What others allocate for it shows as memory that
   is gone, each time; the system's own noise comes and goes, so the best of a few times counts. */
void check_leak(int argc, char **argv)
{
    MUST(argc == 2, "leak RAM SNAPSHOTS");
    uint32_t id = (uint32_t)atoi(argv[0]), count = (uint32_t)atoi(argv[1]);
    int device = device_open(id, CACHEFLOW_CPU_ANY, CACHEFLOW_REPLACE);
    int64_t slab_before, slab_after, before, after;
    uint32_t own, areas, mms = objects("mm_struct", "");
    int32_t held = tasks_held(), more;
    uint64_t deadline;
    pid_t children[4];

    MUST(mms && objects("task_struct", ""), "slabs are not traced: no slub_debug=U?");
    for (int i = 0; i < 10; i++, usleep(20000)) { /* RCU frees what has just ended */
        more = tasks_held();
        held = more < held ? more : held;
    }
    /* Whoever is looked at and ends must be able to go. */
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        MUST(children[i] >= 0, "fork: %s", strerror(errno));
        if (children[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
    }
    snapshots(device, id, 20); /* all that is made once is made now */
    for (int tries = 4;;) {
        before = free_kb(&slab_before);
        own = objects("kmalloc", "[cacheflow]");
        areas = vmalloc_areas();
        snapshots(device, id, count);
        after = free_kb(&slab_after);
        MUST(own && areas && objects("kmalloc", "[cacheflow]") == own && vmalloc_areas() == areas,
             "of %u objects and %u areas of the module %u and %u are left", own, areas,
             objects("kmalloc", "[cacheflow]"), vmalloc_areas());
        /* less than half a page, and 16 bytes of slab, a snapshot */
        if (before - after < 256 + (int64_t)count * 4 / 8 &&
            slab_after - slab_before < 64 + count / 64)
            break;
        MUST(--tries, "%lld kB are gone, the slabs have grown by %lld kB, once more",
             (long long)(before - after), (long long)(slab_after - slab_before));
    }
    leave(children, 4);
    deadline = now_ns() + PATIENCE;
    /* A CPU that idles keeps the memory of whoever it has run last. */
    mms += (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    while ((more = tasks_held()) > held || objects("mm_struct", "") > mms) {
        MUST(now_ns() < deadline, "processes that have ended are held: %d of %d, memory %u of %u",
             more, held, objects("mm_struct", ""), mms);
        usleep(50000);
    }
    note("%u snapshots, %u objects and %u areas, free memory %+lld kB, slabs %+lld kB", count, own,
         areas, (long long)(after - before), (long long)(slab_after - slab_before));
}

/* ---- several clients ---- */

/* Takes `want` snapshots, each with a descriptor of its own, against others who do the same. */
static void hammer(uint32_t id, uint32_t want, uint32_t *taken)
{
    for (uint32_t i = 0; *taken < want; i++) {
        int device = open(CACHEFLOW_DEVICE, O_RDONLY);
        struct cacheflow_config config = {.ram = id, .cpu = CACHEFLOW_CPU_ANY};
        struct cacheflow_shot shot;
        static char bytes[65536];

        if (device < 0)
            _exit(10);
        config.flags = i % 3 ? 0 : CACHEFLOW_RESOLVE;
        if (ioctl(device, CACHEFLOW_CONFIGURE, &config) < 0)
            _exit(11);
        if (ioctl(device, CACHEFLOW_SNAPSHOT, &shot) == 0)
            ++*taken;
        else if (errno == ENOSPC)
            ioctl(device, CACHEFLOW_DISCARD);
        else if (errno != EBUSY)
            _exit(12);
        if (read(device, bytes, sizeof bytes) < 0)
            _exit(13);
        if (i % 4 == 0 && ioctl(device, CACHEFLOW_DISCARD) < 0 && errno != EBUSY)
            _exit(14);
        close(device);
        usleep(100 + random_u32() % 2000);
    }
}

static void *read_into(void *memory)
{
    int device = open(CACHEFLOW_DEVICE, O_RDONLY);
    ssize_t got = device < 0 ? -1 : read(device, memory, 4096);

    if (device >= 0)
        close(device);
    return (void *)(intptr_t)got;
}

/* stuck RAM: who reads into memory that nobody brings holds up no one else */
void check_stuck(int argc, char **argv)
{
    uint32_t id = argc > 0 ? (uint32_t)atoi(argv[0]) : CACHEFLOW_L2_TAG;
    int device = device_open(id, CACHEFLOW_CPU_ANY, CACHEFLOW_REPLACE), other;
    int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0);
    struct uffdio_register whole = {.range = {.start = (uintptr_t)memory, .len = 4096},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    struct uffdio_zeropage bring = {.range = whole.range};
    struct uffd_msg fault;
    struct cacheflow_state state;
    pthread_t reader;
    void *got;

    MUST(faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0 && memory != MAP_FAILED &&
             ioctl(faults, UFFDIO_REGISTER, &whole) == 0,
         "userfaultfd: %s", strerror(errno));
    snapshot_take(device);
    MUST(pthread_create(&reader, NULL, read_into, memory) == 0, "no thread");
    MUST(read(faults, &fault, sizeof fault) == sizeof fault && fault.event == UFFD_EVENT_PAGEFAULT,
         "the reader does not wait for its memory");
    /* Without this, a failure would be a guest that hangs. */
    alarm(PATIENCE / 1000000000);
    MUST(ioctl(device, CACHEFLOW_STATE, &state) == 0 && state.snapshots == 1, "STATE: %s",
         strerror(errno));
    snapshot_take(device);
    other = open(CACHEFLOW_DEVICE, O_RDONLY);
    MUST(other >= 0, "open: %s", strerror(errno));
    close(other);
    alarm(0);
    MUST(ioctl(faults, UFFDIO_ZEROPAGE, &bring) == 0, "userfaultfd: %s", strerror(errno));
    pthread_join(reader, &got);
    MUST((intptr_t)got >= (intptr_t)sizeof(struct cacheflow_snapshot) &&
             ((struct cacheflow_snapshot *)memory)->magic == CACHEFLOW_MAGIC,
         "the reader got %d bytes, or no snapshot", (int)(intptr_t)got);
    note("a snapshot while another client waits for memory");
}

/* clients RAM */
void check_clients(int argc, char **argv)
{
    uint32_t id = argc > 0 ? (uint32_t)atoi(argv[0]) : CACHEFLOW_L2_TAG;
    int one = device_open(id, CACHEFLOW_CPU_ANY, 0);
    int two = device_open(id, CACHEFLOW_CPU_ANY, CACHEFLOW_RESOLVE);
    struct cacheflow_config config;
    struct cacheflow_state state;
    struct cacheflow_shot shot;
    uint32_t *taken = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, 0, 0);
    pid_t children[3];

    MUST(ioctl(one, CACHEFLOW_GET_CONFIG, &config) == 0 && config.flags == 0,
         "one client has the other's configuration");
    MUST(ioctl(one, CACHEFLOW_DISCARD) == 0, "DISCARD: %s", strerror(errno));
    snapshot_take(one);
    MUST(ioctl(two, CACHEFLOW_SNAPSHOT, &shot) < 0 && errno == EBUSY, "a second owner");
    MUST(ioctl(two, CACHEFLOW_DISCARD) < 0 && errno == EBUSY, "others can discard");
    MUST(ioctl(two, CACHEFLOW_STATE, &state) == 0 && state.flags == CACHEFLOW_STATE_OTHER &&
             state.snapshots == 1,
         "the other client does not see the snapshot");
    MUST(ioctl(one, CACHEFLOW_STATE, &state) == 0 && state.flags == CACHEFLOW_STATE_MINE,
         "the owner is not told that it is");
    close(one);
    MUST(ioctl(two, CACHEFLOW_STATE, &state) == 0 && state.flags == 0 && state.snapshots == 1,
         "the snapshot went with its owner");
    snapshot_take(two);
    MUST(ioctl(two, CACHEFLOW_STATE, &state) == 0 && state.snapshots == 2, "it did not add");
    MUST(ioctl(two, CACHEFLOW_DISCARD) == 0, "DISCARD: %s", strerror(errno));
    close(two);

    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        MUST(children[i] >= 0, "fork: %s", strerror(errno));
        if (children[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (int j = 0; j <= i; j++)
                random_u32();
            hammer(id, 25, &taken[i]);
            _exit(0);
        }
    }
    for (int i = 0; i < 3; i++) {
        int status;

        waitpid(children[i], &status, 0);
        MUST(status == 0, "client %d ended with 0x%x", i, status);
        MUST(taken[i] == 25, "client %d got %u snapshots", i, taken[i]);
    }
    note("3 processes took %u + %u + %u", taken[0], taken[1], taken[2]);
}

/* ---- a CPU goes ---- */

static void set_online(int cpu, bool online)
{
    char path[64];
    int file;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", cpu);
    file = open(path, O_WRONLY);
    MUST(file >= 0 && write(file, online ? "1" : "0", 1) == 1, "%s: %s", path, strerror(errno));
    close(file);
}

/* Waits until the child has counted more. */
static void counted(const volatile uint32_t *count, pid_t child)
{
    const uint32_t before = *count;
    const uint64_t deadline = now_ns() + PATIENCE;

    for (int status; *count == before; usleep(1000)) {
        MUST(waitpid(child, &status, WNOHANG) == 0, "the child ended with 0x%x", status);
        MUST(now_ns() < deadline, "the child does nothing");
    }
}

/* unplug RAM ROUNDS: CPU 1 comes and goes while snapshots are taken on it and on whatever CPU */
void check_unplug(int argc, char **argv)
{
    MUST(argc == 2, "unplug RAM ROUNDS");
    uint32_t id = (uint32_t)atoi(argv[0]);
    int rounds = atoi(argv[1]);
    volatile uint32_t *taken =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, 0, 0);
    struct cacheflow_shot shot;
    pid_t child = fork();
    int status;

    MUST(child >= 0, "fork: %s", strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int device = device_open(id, 1, CACHEFLOW_REPLACE);

        for (uint32_t i = 0;; i++) {
            struct cacheflow_config config = {
                .ram = id, .cpu = i % 2 ? 1 : CACHEFLOW_CPU_ANY, .flags = CACHEFLOW_REPLACE};

            if (ioctl(device, CACHEFLOW_CONFIGURE, &config) < 0)
                _exit(20);
            if (ioctl(device, CACHEFLOW_SNAPSHOT, &shot) == 0)
                taken[i % 2]++;
            else if (errno == ENODEV)
                taken[2 + i % 2]++;
            else
                _exit(21);
        }
    }
    for (int i = 0; i < rounds; i++) {
        set_online(1, false);
        counted(&taken[3], child);
        set_online(1, true);
        counted(&taken[1], child);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);

    /* And in peace. */
    int device = device_open(id, 1, CACHEFLOW_REPLACE);
    struct snapshot s = snapshot_take(device);
    uint64_t number = s.shot.number;
    struct cacheflow_state state;

    MUST(s.header->cpu == 1, "CPU %u has read", s.header->cpu);
    set_online(1, false);
    MUST(ioctl(device, CACHEFLOW_SNAPSHOT, &shot) < 0 && errno == ENODEV,
         "a CPU that is not there has read");
    MUST(ioctl(device, CACHEFLOW_STATE, &state) == 0 && state.snapshots == 1 &&
             state.last_number == number,
         "a snapshot that failed has discarded the one before");
    set_online(1, true);
    snapshot_take(device);
    MUST(taken[2] == 0, "no CPU at all was found %u times", taken[2]);
    MUST(taken[0] > 0, "%u snapshots anywhere", taken[0]);
    note("%d times, %u snapshots anywhere, %u on it, %u refused", rounds, taken[0], taken[1],
         taken[3]);
}

/* ---- hostile callers ---- */

static unsigned long random_address(char *mine)
{
    static const unsigned long odd[] = {0,
                                        1,
                                        7,
                                        4096,
                                        ~0ul,
                                        ~0ul - 4095,
                                        1ul << 47,
                                        1ul << 52,
                                        0xffff000000000000ul,
                                        0xffffffff80000000ul};

    switch (random_u32() % 4) {
    case 0:
        return odd[random_u32() % (sizeof odd / sizeof *odd)];
    case 1:
        return (unsigned long)random_u32() << 32 | random_u32();
    case 2: /* across the end of what is mapped */
        return (unsigned long)mine + 4096 - random_u32() % 256;
    default:
        return (unsigned long)mine + random_u32() % 3072;
    }
}

/* fuzz CALLS */
void check_fuzz(int argc, char **argv)
{
    uint32_t calls = argc > 0 ? (uint32_t)atoi(argv[0]) : 100000, done = 0, snapshots = 0;
    int device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, 0);
    char *mine = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0);
    static const unsigned long known[] = {CACHEFLOW_INFO,       CACHEFLOW_CONFIGURE,
                                          CACHEFLOW_GET_CONFIG, CACHEFLOW_SNAPSHOT,
                                          CACHEFLOW_STATE,      CACHEFLOW_DISCARD};

    munmap(mine + 4096, 4096);
    for (uint32_t i = 0; i < calls; i++) {
        unsigned long command = known[random_u32() % 6], address = random_address(mine);
        uint32_t random = random_u32();

        for (uint32_t j = 0; i % 16 == 0 && j < 4096; j += 4) {
            uint32_t value = random_u32();

            value = value & 0x100 ? value & 7 : value;
            memcpy(mine + j, &value, 4);
        }
        if (random % 8 == 0)
            command ^= 1ul << random_u32() % 32;
        else if (random % 8 == 1)
            command = random_u32();
        /* Snapshots take long in an emulator; some do. */
        if (command == CACHEFLOW_SNAPSHOT && snapshots++ % 256)
            continue;
        switch (random >> 8 & 7) {
        case 0:
            pread(device, (void *)address, random_u32() % 3 ? random_u32() % 5000 : ~0ul >> 1,
                  (off_t)((uint64_t)random_u32() << (random_u32() % 33)));
            break;
        case 1:
            lseek(device, (off_t)((uint64_t)random_u32() << (random_u32() % 33)),
                  (int)(random_u32() % 6));
            break;
        case 2: {
            size_t size = (random_u32() % 8192 + 1) * 4096ul;
            void *map = mmap(NULL, size, (int)(random_u32() & 7),
                             random_u32() & 1 ? MAP_SHARED : MAP_PRIVATE, device,
                             (off_t)(random_u32() % 8192) << (random_u32() & 1 ? 12 : 44));

            if (map != MAP_FAILED)
                munmap(map, size);
            break;
        }
        default:
            ioctl(device, command, address);
        }
        done++;
    }
    close(device);
    device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_REPLACE);
    snapshot_take(device);
    note("%u calls", done);
}

/* Why the device cannot be opened; 0 when it can. */
static int open_refused(void)
{
    int device = open(CACHEFLOW_DEVICE, O_RDONLY);

    if (device < 0)
        return errno;
    close(device);
    return 0;
}

/* rights: neither the permission nor the capability alone is enough */
void check_rights(int argc, char **argv)
{
    (void)argc, (void)argv;
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (setuid(1000) < 0)
            _exit(1);
        _exit(open_refused() == EACCES ? 0 : 2);
    }
    waitpid(child, &status, 0);
    MUST(status == 0, "another user can open the device (0x%x)", status);
    child = fork();
    if (child == 0) {
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[2];

        if (syscall(SYS_capget, &head, data) < 0)
            _exit(1);
        data[0].effective &= ~(1u << CAP_SYS_RAWIO);
        data[0].permitted &= ~(1u << CAP_SYS_RAWIO);
        if (syscall(SYS_capset, &head, data) < 0)
            _exit(3);
        _exit(open_refused() == EPERM ? 0 : 2);
    }
    waitpid(child, &status, 0);
    MUST(status == 0, "root without CAP_SYS_RAWIO can open the device (0x%x)", status);
}

/* ---- unloading ---- */

static int unload(void)
{
    return (int)syscall(SYS_delete_module, "cacheflow", O_NONBLOCK);
}

static bool load(const char *parameters)
{
    int file = open("/cacheflow.ko", O_RDONLY);
    bool loaded;

    MUST(file >= 0, "/cacheflow.ko: %s", strerror(errno));
    loaded = syscall(SYS_finit_module, file, parameters, 0) == 0;
    close(file);
    return loaded;
}

/* refused WORDS PARAMETERS: the module is not loaded with these, and the kernel's log tells why in
   these words. */
void check_refused(int argc, char **argv)
{
    MUST(argc == 2, "refused WORDS PARAMETERS");
    int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
    char record[1024], told[sizeof record] = "";
    bool found = false;
    ssize_t got;

    MUST(log >= 0 && lseek(log, 0, SEEK_END) >= 0, "/dev/kmsg: %s", strerror(errno));
    MUST(!load(argv[1]), "it was accepted");
    /* One record a read: what it is, a semicolon, the text. */
    while (!found && (got = read(log, record, sizeof record - 1)) > 0) {
        const char *text;

        record[got] = '\0';
        text = strchr(record, ';');
        snprintf(told, sizeof told, "%.*s", text ? (int)strcspn(text + 1, "\n") : 0,
                 text ? text + 1 : "");
        found = strstr(told, argv[0]) != NULL;
    }
    MUST(found, "the log does not tell '%s', but last '%s'", argv[0], told);
    close(log);
    note("%s", told);
}

/* unload RAM ROUNDS PARAMETERS: unloading is refused while anybody has the device and clean when
   that one is killed in the middle of its work */
void check_unload(int argc, char **argv)
{
    MUST(argc == 3, "unload RAM ROUNDS PARAMETERS");
    uint32_t id = (uint32_t)atoi(argv[0]), refused = 0;
    int rounds = atoi(argv[1]);
    volatile uint32_t *taken =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, 0, 0);

    int device = device_open(id, CACHEFLOW_CPU_ANY, 0);

    MUST(unload() < 0 && errno == EAGAIN, "unloading with an open descriptor: %s", strerror(errno));
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, device, 0);

    MUST(map != MAP_FAILED, "mmap: %s", strerror(errno));
    close(device);
    MUST(unload() < 0 && errno == EAGAIN, "unloading with a mapping: %s", strerror(errno));
    munmap(map, 4096);

    for (int i = 0; i < rounds; i++) {
        pid_t child = fork();
        uint64_t deadline;

        MUST(child >= 0, "fork: %s", strerror(errno));
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            device = device_open(id, CACHEFLOW_CPU_ANY, CACHEFLOW_REPLACE | CACHEFLOW_RESOLVE);
            for (;; ++*taken)
                snapshot_take(device);
        }
        deadline = now_ns() + PATIENCE;
        while (*taken == 0)
            MUST(now_ns() < deadline, "no snapshot is taken");
        usleep(10000 + random_u32() % 30000);
        if (unload() < 0) {
            MUST(errno == EAGAIN, "unloading: %s", strerror(errno));
            refused++;
            kill(child, SIGKILL);
            deadline = now_ns() + PATIENCE;
            while (unload() < 0)
                MUST(errno == EAGAIN && now_ns() < deadline, "unloading: %s", strerror(errno));
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        *taken = 0;
        MUST(access(CACHEFLOW_DEVICE, F_OK) < 0, "the device stays");
        MUST(load(argv[2]), "loading: %s", strerror(errno));
        deadline = now_ns() + PATIENCE;
        while (access(CACHEFLOW_DEVICE, F_OK) < 0)
            MUST(now_ns() < deadline, "no device after loading");
    }
    MUST(refused * 2 > (uint32_t)rounds, "only %u of %d were in the middle", refused, rounds);
    note("%d times, %u in the middle of snapshots", rounds, refused);
}
