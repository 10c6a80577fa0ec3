/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_shutter - a Shutter for the tests of cf-capture snapshot on machines whose caches cannot be
 * read: it answers the calls of kmod/cacheflow.h at a socket (capture/base/cf_device.h).
 *
 *     fake_shutter SOCKET LOG [KEY=VALUE]...
 *
 * It serves one client and ends. Its snapshots hold one line of each page that the children of the
 * client have in memory, by /proc/PID/pagemap. At each it notes in LOG what it finds: state,
 * scheduling and CPUs of the client and of every child, and how long each child ran during the 2 ms
 * that a snapshot takes. Keys: sets, ways, buffer (bytes), abi, late (ms that a snapshot takes),
 * wrong (magic, size, set, owner: what is damaged in snapshots; room: 7 owners had none),
 * private (1: each CPU has such a cache), shared (1: a line belongs to the client, too, which
 * stands first), thrash (1: notes how many lines the client thrashes the cache with and how often
 * it has written to each, least and most).
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "kmod/cacheflow.h"

enum { CHILDREN = 256, PAGES = 4096 };

static uint32_t sets = 256, ways = 16, late = 2, abi = CACHEFLOW_ABI, shared, thrash, private;
static uint64_t buffer_bytes = 16 << 20, used, number;
static const char *wrong = "";
static char *buffer;
static struct cacheflow_config config;
static FILE *notes;
static pid_t client;

static struct child {
    pid_t pid;
    uint64_t ran_ns;
} children[CHILDREN];
static unsigned child_count;

static struct cacheflow_line lines[PAGES];
static struct cacheflow_owner owners[2 * PAGES];
static uint32_t line_count, owner_count;

static void transfer(int fd, void *bytes, size_t count, int in)
{
    char *p = bytes;

    while (count) {
        const ssize_t n = in ? read(fd, p, count) : write(fd, p, count);

        if (n <= 0)
            exit(n == 0 ? 0 : 1); /* the client has gone */
        p += n;
        count -= (size_t)n;
    }
}

/* ---- what the client does to its children ---- */

static char state_of(pid_t pid, pid_t *parent)
{
    char path[64], text[512] = "", state = 0;
    int ppid = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    f = fopen(path, "r");
    if (f) {
        if (fgets(text, sizeof text, f) && strrchr(text, ')'))
            (void)sscanf(strrchr(text, ')') + 1, " %c %d", &state, &ppid);
        fclose(f);
    }
    if (parent)
        *parent = ppid;
    return state;
}

static int is_child(pid_t pid)
{
    for (unsigned i = 0; i < child_count; i++)
        if (children[i].pid == pid)
            return 1;
    return 0;
}

static void find_children(void)
{
    unsigned before;

    child_count = 0;
    do {
        DIR *d = opendir("/proc");
        const struct dirent *e;

        before = child_count;
        while (d && (e = readdir(d)) != NULL) {
            const pid_t pid = (pid_t)atoi(e->d_name);
            pid_t parent;
            char state;

            if (!isdigit((unsigned char)e->d_name[0]) || is_child(pid))
                continue;
            state = state_of(pid, &parent);
            if (state && state != 'Z' && (parent == client || is_child(parent)) &&
                child_count < CHILDREN)
                children[child_count++].pid = pid;
        }
        if (d)
            closedir(d);
    } while (child_count > before);
}

/* Time on a CPU of all threads. */
static uint64_t ran(pid_t pid)
{
    char path[512];
    uint64_t sum = 0, ns;
    const struct dirent *e;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    d = opendir(path);
    while (d && (e = readdir(d)) != NULL) {
        FILE *f;

        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", pid, e->d_name);
        f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (f && fscanf(f, "%" SCNu64, &ns) == 1)
            sum += ns;
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return sum;
}

static void note_process(const char *who, pid_t pid, uint64_t before_ns)
{
    const uint64_t ran_ns = ran(pid);
    const char state = state_of(pid, NULL);
    static const char *const policies[] = {"other", "fifo", "rr"};
    const int policy = sched_getscheduler(pid) & 3;
    struct sched_param sp = {0};
    cpu_set_t cpus;
    char path[64], name[64] = "";
    int first = -1;
    FILE *f;

    CPU_ZERO(&cpus);
    (void)sched_getparam(pid, &sp);
    (void)sched_getaffinity(pid, sizeof cpus, &cpus);
    for (int i = CPU_SETSIZE - 1; i >= 0; i--)
        first = CPU_ISSET((size_t)i, &cpus) ? i : first;
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    f = fopen(path, "r");
    if (f) {
        if (fgets(name, sizeof name, f))
            name[strcspn(name, "\n")] = '\0';
        fclose(f);
    }
    fprintf(notes, "%s,%" PRIu64 ",%d,%s,%c,%s:%d,%d of %d,%" PRIu64 ",%" PRIu64 "\n", who, number,
            pid, name, state ? state : '-', policies[policy < 3 ? policy : 0], sp.sched_priority,
            first, CPU_COUNT(&cpus), ran_ns - before_ns, ran_ns);
}

/* What the client thrashes the cache with is told by its bytes: all are 1 but the first of each
   line. Mappings of a gigabyte and more are those of a sanitizer. */
static void note_thrash(void)
{
    static unsigned char bytes[1 << 20], ones[63];
    unsigned least = 255, most = 0;
    uint64_t start, end, lines_found = 0;
    char path[64], line[512];
    FILE *maps;
    int memory;

    memset(ones, 1, sizeof ones);
    snprintf(path, sizeof path, "/proc/%d/mem", client);
    memory = open(path, O_RDONLY);
    snprintf(path, sizeof path, "/proc/%d/maps", client);
    maps = fopen(path, "r");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " rw", &start, &end) != 2 || (end - start) >> 30)
            continue;
        for (ssize_t got; start < end; start += (uint64_t)got) {
            got = pread(memory, bytes, sizeof bytes, (off_t)start);
            if (got <= 0)
                break;
            for (const unsigned char *p = bytes; p + 64 <= bytes + got; p += 64)
                if (memcmp(p + 1, ones, sizeof ones) == 0) {
                    least = *p < least ? *p : least;
                    most = *p > most ? *p : most;
                    lines_found++;
                }
        }
    }
    if (lines_found > 0)
        fprintf(notes, "thrash,%" PRIu64 ",%" PRIu64 ",%u,%u\n", number, lines_found, least, most);
    if (maps)
        fclose(maps);
    if (memory >= 0)
        close(memory);
}

/* ---- lines ---- */

static void add_line(pid_t pid, uint64_t virt, uint64_t frame, uint32_t *filled)
{
    const uint64_t phys = frame << 12;
    const uint32_t set = (uint32_t)(phys >> 6) % sets;

    if (line_count == PAGES || filled[set] == ways)
        return;
    lines[line_count] =
        (struct cacheflow_line){.frame_low = (uint32_t)(phys >> 6),
                                .frame_high = (uint16_t)(phys >> 38),
                                .set = set,
                                .way = (uint8_t)filled[set]++,
                                .state = CACHEFLOW_M | CACHEFLOW_E | CACHEFLOW_NON_SECURE};
    for (uint32_t i = 0; i <= shared; i++)
        owners[owner_count++] =
            (struct cacheflow_owner){.virt = virt,
                                     .entry = line_count,
                                     .pid = (uint32_t)(i < shared ? client : pid),
                                     .mappings = 1 + shared};
    line_count++;
}

static void add_lines(pid_t pid, uint32_t *filled)
{
    char path[64], line[512];
    uint64_t start, end, entry;
    FILE *maps;
    int pages;

    snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
    pages = open(path, O_RDONLY);
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    maps = fopen(path, "r");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2)
            for (uint64_t a = start; a < end && a - start < 4096 << 12; a += 4096)
                if (pread(pages, &entry, 8, (off_t)(a >> 12 << 3)) == 8 && entry >> 63 &&
                    (entry & (((uint64_t)1 << 55) - 1)))
                    add_line(pid, a, entry & (((uint64_t)1 << 55) - 1), filled);
    if (maps)
        fclose(maps);
    if (pages >= 0)
        close(pages);
}

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t most_bytes(void)
{
    const uint64_t most = (uint64_t)sets * ways < PAGES ? (uint64_t)sets * ways : PAGES;
    uint64_t bytes = sizeof(struct cacheflow_snapshot) + most * sizeof lines[0] + 64;

    if (config.flags & CACHEFLOW_RESOLVE)
        bytes += most * (1 + shared) * sizeof owners[0];
    return bytes;
}

static int snapshot(struct cacheflow_shot *shot)
{
    const struct timespec takes = {.tv_nsec = late * 1000000L};
    struct cacheflow_snapshot h = {.magic = CACHEFLOW_MAGIC, .abi = CACHEFLOW_ABI};
    uint32_t *filled = calloc(sets, sizeof *filled);
    const int resolve = (config.flags & CACHEFLOW_RESOLVE) != 0;
    char *at;

    if (config.flags & CACHEFLOW_REPLACE)
        used = 0;
    h.time_ns = now_ns();
    find_children();
    line_count = owner_count = 0;
    for (unsigned i = 0; i < child_count; i++) {
        children[i].ran_ns = ran(children[i].pid);
        add_lines(children[i].pid, filled);
    }
    free(filled);
    h.header_bytes = sizeof h;
    h.entries = line_count;
    h.entry_bytes = sizeof lines[0];
    h.owners = resolve ? owner_count : 0;
    h.owner_bytes = sizeof owners[0];
    h.owners_at = (uint32_t)((sizeof h + line_count * sizeof lines[0] + 7) / 8 * 8);
    h.bytes = (h.owners_at + h.owners * sizeof owners[0] + 63) / 64 * 64;
    if (used + h.bytes > buffer_bytes)
        return ENOSPC;
    h.number = ++number;
    h.cost_cycles = 1000 + number;
    h.cycles_source = CACHEFLOW_CYCLES_CPU;
    h.flags = resolve ? CACHEFLOW_SNAP_RESOLVED : 0;
    h.ram = config.ram;
    h.level = 2;
    h.sets = sets;
    h.ways = ways;
    h.line_size = 64;
    h.magic ^= strcmp(wrong, "magic") == 0;
    h.entries += strcmp(wrong, "size") == 0 ? 100000 : 0;
    h.sets = strcmp(wrong, "set") == 0 ? 1 : sets;
    h.owners_missing = strcmp(wrong, "room") == 0 ? 7 : 0;
    owners[0].entry = strcmp(wrong, "owner") == 0 ? 5 : 0;
    nanosleep(&takes, NULL);
    h.cost_ns = now_ns() - h.time_ns;
    at = buffer + used;
    memset(at, 0, h.bytes);
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, lines, line_count * sizeof lines[0]);
    if (resolve)
        memcpy(at + h.owners_at, owners, owner_count * sizeof owners[0]);
    note_process("client", client, 0);
    if (thrash)
        note_thrash();
    for (unsigned i = 0; i < child_count; i++)
        note_process("child", children[i].pid, children[i].ran_ns);
    *shot = (struct cacheflow_shot){.number = number,
                                    .offset = used,
                                    .bytes = h.bytes,
                                    .time_ns = h.time_ns,
                                    .cost_cycles = h.cost_cycles,
                                    .entries = h.entries};
    used += h.bytes;
    return 0;
}

/* ---- calls ---- */

static void answer(int fd, uint32_t error, void *bytes, size_t count)
{
    uint32_t said[2] = {error, error ? 0 : (uint32_t)count};

    transfer(fd, said, sizeof said, 0);
    if (!error)
        transfer(fd, bytes, count, 0);
}

static void serve(int fd)
{
    uint32_t call[2];
    char arg[4096];

    for (;;) {
        struct cacheflow_info info = {
            .abi = abi,
            .backend = "fake",
            .buffer_bytes = buffer_bytes,
            .snapshot_bytes = most_bytes(),
            .snapshots = (uint32_t)(buffer_bytes / most_bytes()),
            .ram[CACHEFLOW_L2_TAG] = {.flags = CACHEFLOW_RAM_PRESENT | private,
                                      .level = 2,
                                      .sets = sets,
                                      .ways = ways,
                                      .line_size = 64}};
        struct cacheflow_shot shot;
        uint64_t where[2];
        int error;

        transfer(fd, call, sizeof call, 1);
        if (call[1] > sizeof arg)
            exit(1);
        transfer(fd, arg, call[1], 1);
        switch (call[0]) {
        case 0:
            memcpy(where, arg, sizeof where);
            fprintf(notes, "read,%" PRIu64 "\n", number);
            error = where[0] + where[1] > used ? EINVAL : 0;
            answer(fd, (uint32_t)error, buffer + where[0], where[1]);
            break;
        case (uint32_t)CACHEFLOW_INFO:
            answer(fd, 0, &info, sizeof info);
            break;
        case (uint32_t)CACHEFLOW_CONFIGURE:
            memcpy(&config, arg, sizeof config);
            answer(fd, 0, NULL, 0);
            break;
        case (uint32_t)CACHEFLOW_SNAPSHOT:
            error = snapshot(&shot);
            answer(fd, (uint32_t)error, &shot, sizeof shot);
            break;
        case (uint32_t)CACHEFLOW_DISCARD:
            used = 0;
            answer(fd, 0, NULL, 0);
            break;
        default:
            answer(fd, ENOTTY, NULL, 0);
        }
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct ucred peer;
    socklen_t length = sizeof peer;
    int s, fd;

    if (argc < 3 || strlen(argv[1]) + 4 >= sizeof a.sun_path)
        return 2;
    for (int i = 3; i < argc; i++) {
        const char *value = strchr(argv[i], '=');

        if (!value)
            return 2;
        value++;
        if (strncmp(argv[i], "sets=", 5) == 0)
            sets = (uint32_t)atoi(value);
        else if (strncmp(argv[i], "ways=", 5) == 0)
            ways = (uint32_t)atoi(value);
        else if (strncmp(argv[i], "shared=", 7) == 0)
            shared = atoi(value) != 0;
        else if (strncmp(argv[i], "thrash=", 7) == 0)
            thrash = atoi(value) != 0;
        else if (strncmp(argv[i], "private=", 8) == 0)
        private = atoi(value) ? CACHEFLOW_RAM_PRIVATE : 0;
        else if (strncmp(argv[i], "late=", 5) == 0) late = (uint32_t)atoi(value);
        else if (strncmp(argv[i], "abi=", 4) == 0) abi = (uint32_t)atoi(value);
        else if (strncmp(argv[i], "buffer=", 7) == 0) buffer_bytes = strtoull(value, NULL, 0);
        else if (strncmp(argv[i], "wrong=", 6) == 0) wrong = value;
        else return 2;
    }
    buffer = malloc(buffer_bytes);
    notes = fopen(argv[2], "w");
    if (notes)
        setvbuf(notes, NULL, _IOLBF, 0); /* a note is in the file before its call is answered */
    /* Whoever sees the name can connect. */
    snprintf(a.sun_path, sizeof a.sun_path, "%s.new", argv[1]);
    s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!buffer || !notes || bind(s, (struct sockaddr *)&a, sizeof a) != 0 || listen(s, 1) != 0 ||
        rename(a.sun_path, argv[1]) != 0) {
        perror(argv[1]);
        return 1;
    }
    alarm(600); /* a client that never comes must not keep a test waiting */
    fd = accept(s, NULL, NULL);
    alarm(0);
    if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return 1;
    client = peer.pid;
    serve(fd);
    return 0;
}
