/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resident - a program for guests that knows what is in the emulated cache: at each round it puts
 * lines of pages of its own into the tags (tagram.h), prints them as cf-capture snapshot is to find
 * them, and stops itself, which asks for a snapshot.
 *
 *     resident ROUNDS SETS WAYS
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/guest/tagram.h"

enum { PAGES = 256, PAGE = 4096 };

int main(int argc, char **argv)
{
    const int rounds = argc == 4 ? atoi(argv[1]) : 0;
    const uint32_t sets = argc == 4 ? (uint32_t)atoi(argv[2]) : 1;
    const uint32_t ways = argc == 4 ? (uint32_t)atoi(argv[3]) : 0;
    const int pages = open("/proc/self/pagemap", O_RDONLY), tags = open("/dev/tagram", O_WRONLY);
    struct {
        struct tagram_content head;
        struct cacheflow_line line[PAGES];
    } *content = calloc(1, sizeof *content);
    uint32_t *filled = calloc(sets, sizeof *filled);
    char *memory =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0);

    if (pages < 0 || tags < 0 || memory == MAP_FAILED || !content || !filled || !ways)
        return 1;
    for (int round = 1; round <= rounds; round++) {
        uint32_t n = 0;

        memset(filled, 0, sets * sizeof *filled);
        memset(memory, round, PAGES * PAGE);
        for (uint32_t i = 0; i < PAGES; i++) {
            const uint64_t virt =
                (uint64_t)(uintptr_t)memory + i * PAGE + (i * 7u + (unsigned)round) % 64 * 64;
            uint64_t entry, phys;
            uint32_t set;

            if (pread(pages, &entry, sizeof entry, (off_t)(virt / PAGE * 8)) != sizeof entry ||
                !(entry >> 63))
                return 1;
            phys = (entry & (((uint64_t)1 << 55) - 1)) * PAGE + virt % PAGE;
            set = (uint32_t)(phys / 64 % sets);
            if (filled[set] == ways)
                continue;
            content->line[n].frame_low = (uint32_t)(phys >> 6);
            content->line[n].frame_high = (uint16_t)(phys >> 38);
            content->line[n].set = set;
            content->line[n].way = (uint8_t)filled[set]++;
            content->line[n].state = CACHEFLOW_M | CACHEFLOW_E | CACHEFLOW_NON_SECURE;
            printf("%d,%u,%u,133,0x%" PRIx64 ",0x%" PRIx64 ",%d\n", round, set,
                   content->line[n].way, phys, virt, getpid());
            n++;
        }
        content->head.ram = CACHEFLOW_L2_TAG;
        content->head.count = n;
        fflush(stdout);
        if (write(tags, content, sizeof content->head + n * sizeof content->line[0]) < 0)
            return 1;
        raise(SIGSTOP);
    }
    return 0;
}
