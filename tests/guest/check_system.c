// SPDX-License-Identifier: BSD-2-Clause
/*
 * The module as a part of the system: it stops the other CPUs, reads what is there, and
 * takes nobody with it when it or a CPU goes.
 */
#include <errno.h>
#include <fcntl.h>
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

/* ---- unloading ---- */

static int unload(void)
{
    return (int)syscall(SYS_delete_module, "cacheflow", O_NONBLOCK);
}

static bool load(const char *path, const char *parameters)
{
    int file = open(path, O_RDONLY);
    bool loaded;

    MUST(file >= 0, "%s: %s", path, strerror(errno));
    loaded = syscall(SYS_finit_module, file, parameters, 0) == 0;
    close(file);
    return loaded;
}

/* refused WORDS PARAMETERS [MODULE]: it is not loaded with these, and the kernel's log tells why in
   these words. */
void check_refused(int argc, char **argv)
{
    MUST(argc == 2 || argc == 3, "refused WORDS PARAMETERS [MODULE]");
    char path[64];

    snprintf(path, sizeof path, "/%s.ko", argc == 3 ? argv[2] : "cacheflow");
    int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
    char record[1024], told[sizeof record] = "";
    bool found = false;
    ssize_t got;

    MUST(log >= 0 && lseek(log, 0, SEEK_END) >= 0, "/dev/kmsg: %s", strerror(errno));
    MUST(!load(path, argv[1]), "it was accepted");
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
        MUST(load("/cacheflow.ko", argv[2]), "loading: %s", strerror(errno));
        deadline = now_ns() + PATIENCE;
        while (access(CACHEFLOW_DEVICE, F_OK) < 0)
            MUST(now_ns() < deadline, "no device after loading");
    }
    MUST(refused * 2 > (uint32_t)rounds, "only %u of %d were in the middle", refused, rounds);
    note("%d times, %u in the middle of snapshots", rounds, refused);
}
