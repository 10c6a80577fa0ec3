// SPDX-License-Identifier: BSD-2-Clause
/*
 * Restoring many pages by pagectl.ko does not keep the CPU from others: a thread that goes before
 * us gets it as often as pages are restored in one go, whatever time that takes.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/guest/check_pages.h"

/* While we ask for it, one thread wants our CPU whenever another one, elsewhere, has seen that it
   had it and has left it to us for a moment. */
static int ping[2];
static volatile uint32_t pongs;
static volatile bool asking;

static void *answer(void *arg)
{
    char byte;

    while (read(ping[0], &byte, 1) == 1)
        pongs++;
    return arg;
}

static void *ask(void *arg)
{
    for (;;) {
        uint64_t moment = now_ns() + 100000;
        uint32_t before = pongs;

        while (!asking)
            usleep(1000);
        while (now_ns() < moment)
            continue;
        if (write(ping[1], "", 1) != 1)
            return arg;
        while (pongs == before)
            continue;
    }
}

/* We are on CPU 0, with one that goes before us there. */
static void share_cpu(void)
{
    const struct sched_param first = {.sched_priority = 1};
    pthread_t threads[2];

    MUST(pipe(ping) == 0 && pthread_create(&threads[0], NULL, answer, NULL) == 0 &&
             pthread_setschedparam(threads[0], SCHED_FIFO, &first) == 0 &&
             pthread_create(&threads[1], NULL, ask, NULL) == 0,
         "no threads");
    for (int i = 0; i < 3; i++) {
        cpu_set_t one;

        CPU_ZERO(&one);
        CPU_SET(i == 1, &one);
        MUST(pthread_setaffinity_np(i < 2 ? threads[i] : pthread_self(), sizeof one, &one) == 0,
             "thread %d does not go to its CPU", i);
    }
}

/* How often this thread had to give way so far. */
static long gave_way(void)
{
    struct rusage usage;

    MUST(getrusage(RUSAGE_THREAD, &usage) == 0, "getrusage: %s", strerror(errno));
    return usage.ru_nivcsw;
}

/* pages_yield PAGES WAYS: while many pages are restored, others get the CPU in between, more often
   than that. There are 32 pages in one go; the rest of munmap gives way, too, a few times. */
void check_pages_yield(int argc, char **argv)
{
    MUST(argc == 2, "pages_yield PAGES WAYS");
    uint32_t count = (uint32_t)atoi(argv[0]), most = PAGECTL_PAGES;
    char *memory =
        /* cppcheck-suppress invalidFunctionArg */
        mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uint64_t at = (uint64_t)(uintptr_t)memory;
    struct victim self = {.pid = getpid()};
    long ways[2], least = atol(argv[1]);

    share_cpu();
    int device = pages_attach(&self);

    for (int i = 0; i < 2; i++) {
        for (uint32_t from = 0; from < count; from += most)
            pages_do(device, PAGECTL_SET, at + (uint64_t)from * PAGE,
                     count - from < most ? count - from : most, pages_policy(0));
        ways[i] = gave_way();
        asking = true;
        if (i == 0)
            pages_restore(device);
        else
            munmap(memory, count * PAGE);
        asking = false;
        ways[i] = gave_way() - ways[i];
        MUST(ways[i] > least, "gave way %ld times while %s restored %u pages", ways[i],
             i ? "munmap" : "RESTORE", count);
    }
    note("%u pages: gave way %ld times in RESTORE, %ld in munmap", count, ways[0], ways[1]);
}
