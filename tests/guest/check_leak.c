// SPDX-License-Identifier: BSD-2-Clause
/*
 * The module leaks nothing: what it allocates, what others allocate for it, and processes that it
 * has looked at.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/check.h"

/* Kilobytes that the system has free, after what it does on its own time has been done. */
static int64_t free_kb(int64_t *slab)
{
    sync();
    usleep(300000);
    *slab = (int64_t)file_number("/proc/meminfo", "SUnreclaim:");
    return (int64_t)file_number("/proc/meminfo", "MemFree:");
}

/* A kernel with KASAN keeps what was freed for a while, and counts it as allocated. */
static void drop_freed(const char *cache)
{
    char path[400];
    int fd;

    snprintf(path, sizeof path, "/sys/kernel/slab/%s/shrink", cache);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    MUST(write(fd, "1", 1) == 1, "%s: %s", path, strerror(errno));
    close(fd);
}

/* What is allocated and was not freed, of the slab caches whose name begins so, by all or by the
   module: slub_debug=U keeps who has allocated an object. */
uint32_t slab_objects(const char *cache, const char *caller)
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
        drop_freed(entry->d_name);
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
        allocated = slab_objects("task_struct", "");
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
    uint32_t own, areas, mms = slab_objects("mm_struct", "");
    int32_t held = tasks_held(), more;
    uint64_t deadline;
    pid_t children[4];

    MUST(mms && slab_objects("task_struct", ""), "slabs are not traced: no slub_debug=U?");
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
        own = slab_objects("kmalloc", "[cacheflow]");
        areas = vmalloc_areas();
        snapshots(device, id, count);
        after = free_kb(&slab_after);
        MUST(own && areas && slab_objects("kmalloc", "[cacheflow]") == own &&
                 vmalloc_areas() == areas,
             "of %u objects and %u areas of the module %u and %u are left", own, areas,
             slab_objects("kmalloc", "[cacheflow]"), vmalloc_areas());
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
    while ((more = tasks_held()) > held || slab_objects("mm_struct", "") > mms) {
        MUST(now_ns() < deadline, "processes that have ended are held: %d of %d, memory %u of %u",
             more, held, slab_objects("mm_struct", ""), mms);
        usleep(50000);
    }
    note("%u snapshots, %u objects and %u areas, free memory %+lld kB, slabs %+lld kB", count, own,
         areas, (long long)(after - before), (long long)(slab_after - slab_before));
}
