/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory - memory without a name, which the kernel puts beside each other: parts of it unmapped,
 * given other permissions and mapped again.
 *
 *     memory [STATE CLOCK]
 *
 * observed() goes over one page of each, each longer; and takes by CLOCK 1000 ticks for the first
 * that is not cached by STATE, 2000 for the second, and so on (see hot.c).
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 8 };

static char *kept[16];
static unsigned count;
static int state = -1, clock_fd = -1;

static void tell_clock(void)
{
    static uint64_t list[1 << 12];
    uint64_t now = 0;

    if (pread(state, list, sizeof list, 0) < 16 || pread(clock_fd, &now, 8, 0) != 8)
        return;
    now += 5000;
    for (unsigned i = 0; i < count; i++)
        for (uint64_t j = 0; j < list[0]; j++)
            if (list[1 + j] == (uint64_t)kept[i])
                now += 1000 * (i + 1);
    if (pwrite(clock_fd, &now, 8, 0) != 8)
        exit(1);
}

__attribute__((noinline)) unsigned observed(void)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < count; i++)
        for (unsigned round = 0; round < ROUNDS * (i + 1); round++)
            for (unsigned at = 0; at < PAGE; at += 64)
                sum += (unsigned)++kept[i][at];
    if (clock_fd >= 0)
        tell_clock();
    return sum;
}

static char *map(void *at, size_t pages, int permissions)
{
    char *p =
        mmap(at, pages * PAGE, permissions, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0),
             /* cppcheck-suppress invalidFunctionArg */
             -1, 0);

    if (p == MAP_FAILED)
        exit(1);
    return p;
}

static void keep(char *page)
{
    *page = 1;
    kept[count++] = page;
}

int main(int argc, char **argv)
{
    const int both = PROT_READ | PROT_WRITE;
    char *a = map(NULL, 3, both), *b = map(NULL, 2, both), *guarded = map(NULL, 8, PROT_NONE);
    char *holed = map(NULL, 6, both), *again;

    if (mprotect(guarded + 2 * PAGE, 3 * PAGE, both) != 0 || munmap(holed + 2 * PAGE, PAGE) != 0)
        return 1;
    keep(a);
    keep(a + 2 * PAGE);
    keep(b + PAGE);
    keep(guarded + 3 * PAGE);
    keep(holed + 5 * PAGE);
    keep(map(b, 1, both));
    again = map(NULL, 9, both);
    if (munmap(again, 9 * PAGE) != 0)
        return 1;
    keep(map(NULL, 9, both));
    keep(map(NULL, 2, both) + PAGE);
    if (argc > 2) {
        state = open(argv[1], O_RDONLY);
        clock_fd = open(argv[2], O_RDWR);
    }
    return observed() == 0;
}
