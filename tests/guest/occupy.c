/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * occupy - stands in for a cache that programs fill, in guests, whose emulator has none: again and
 * again it puts one line of each page that a process has in memory into the tags (tagram.h), where
 * it takes a way of its set at random. Processes that began before it are left out.
 *
 *     occupy SETS WAYS PAUSE
 *
 * Between two rounds it pauses for so many milliseconds, which leave the processor to what is
 * observed; while nobody has the device of cacheflow.ko open, it does nothing else.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/guest/tagram.h"

enum { PAGE = 4096, LINE = 64, BATCH = 512 };
enum { PRIORITY = 90 }; /* over every program: lines of one must come before it has ended */

static uint32_t sets, ways;
static uint64_t *cached; /* by set and way: number of the line, 0 for none */

static void put(uint64_t line)
{
    uint64_t *set = cached + line % sets * ways;

    for (uint32_t w = 0; w < ways; w++)
        if (set[w] == line)
            return;
    set[(uint32_t)rand() % ways] = line;
}

/* The pages from `at` to `end` of a process that are in memory. */
static void put_pages(int pages, uint64_t at, uint64_t end)
{
    uint64_t entry[BATCH];

    for (ssize_t got = 1; at < end && got > 0; at += (uint64_t)got / sizeof *entry * PAGE) {
        const uint64_t left = (end - at) / PAGE, n = left < BATCH ? left : BATCH;

        got = pread(pages, entry, n * sizeof *entry, (off_t)(at / PAGE * sizeof *entry));
        for (ssize_t i = 0; i < got / (ssize_t)sizeof *entry; i++)
            if (entry[i] >> 63)
                put((entry[i] & (((uint64_t)1 << 55) - 1)) * (PAGE / LINE) +
                    (uint32_t)rand() % (PAGE / LINE));
    }
}

static void put_process(int pid)
{
    char path[64], line[512];
    uint64_t from, to;
    FILE *maps;
    int pages;

    snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
    pages = open(path, O_RDONLY);
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    maps = fopen(path, "r");
    while (maps && pages >= 0 && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2)
            put_pages(pages, from, to);
    if (maps)
        fclose(maps);
    if (pages >= 0)
        close(pages);
}

static int write_tags(int tags)
{
    static struct {
        struct tagram_content head;
        struct cacheflow_line line[1 << 16];
    } content;
    uint32_t n = 0;

    for (uint32_t i = 0; i < sets * ways; i++)
        if (cached[i])
            content.line[n++] = (struct cacheflow_line){
                .frame_low = (uint32_t)cached[i],
                .frame_high = (uint16_t)(cached[i] >> 32),
                .set = i / ways,
                .way = (uint8_t)(i % ways),
                .state = CACHEFLOW_M | CACHEFLOW_E | CACHEFLOW_NON_SECURE,
            };
    content.head.ram = CACHEFLOW_L2_TAG;
    content.head.count = n;
    return write(tags, &content, sizeof content.head + n * sizeof content.line[0]) < 0;
}

static int is_observed(void)
{
    FILE *users = fopen("/sys/module/cacheflow/refcnt", "r");
    int count = 0;

    if (users && fscanf(users, "%d", &count) != 1)
        count = 0;
    if (users)
        fclose(users);
    return count > 0;
}

int main(int argc, char **argv)
{
    const int tags = open("/dev/tagram", O_WRONLY);
    const struct sched_param first = {.sched_priority = PRIORITY};

    sets = argc == 4 ? (uint32_t)atoi(argv[1]) : 0;
    ways = argc == 4 ? (uint32_t)atoi(argv[2]) : 0;
    cached = sets * ways <= 1 << 16 ? calloc(sets * ways, sizeof *cached) : NULL;
    if (tags < 0 || !cached || !sets || !ways || sched_setscheduler(0, SCHED_FIFO, &first) != 0)
        return 1;
    for (;; usleep((useconds_t)atoi(argv[3]) * 1000)) {
        const struct dirent *e;
        DIR *d;

        if (!is_observed())
            continue;
        d = opendir("/proc");
        while (d && (e = readdir(d)) != NULL)
            if (isdigit((unsigned char)e->d_name[0]) && atoi(e->d_name) > getpid())
                put_process(atoi(e->d_name));
        if (!d || write_tags(tags) != 0)
            return 1;
        closedir(d);
    }
}
