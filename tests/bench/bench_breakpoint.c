/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_breakpoint [-n TIMES]: what an access costs the thread that makes it while a breakpoint of
 * perf_event_open(2) stands at its instruction: of a breakpoint that only counts, which is the
 * kernel's trap and its way back; of one that writes the address of the instruction, and of one as
 * cf-capture perf sets it, with the user's registers, both with IOC_REFRESH, by which the kernel
 * takes it away after 64.
 *
 * Prints nanoseconds of processor a hit, the least of all runs; status 3 where there are no
 * breakpoints. What others do meanwhile does not count: it is the thread's own time.
 */
#include <linux/hw_breakpoint.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/events/events.h"

enum { HITS = 64, RUNS = 2000 };

static volatile uint64_t cell;

__attribute__((noinline)) static void access_cell(void)
{
    cell++;
}

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds a hit, the least of so many times 64; below 0: no breakpoint. */
static double measure(struct perf_event_attr *attr, int refresh, unsigned times)
{
    double least = 1e9;
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE) * 9;
    const int fd = cf_perf_open(attr, 0, -1);
    void *ring = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct perf_event_mmap_page *page = ring;

    if (ring == MAP_FAILED)
        return -1;
    for (unsigned t = 0; t < times; t++) {
        double begun, took;

        ioctl(fd, refresh ? PERF_EVENT_IOC_REFRESH : PERF_EVENT_IOC_ENABLE, refresh ? HITS : 0);
        begun = cpu();
        for (unsigned i = 0; i < HITS; i++)
            access_cell();
        took = (cpu() - begun) / HITS;
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        __atomic_store_n(&page->data_tail, page->data_head, __ATOMIC_RELEASE);
        least = took < least ? took : least;
    }
    munmap(ring, bytes);
    close(fd);
    return least;
}

int main(int argc, char **argv)
{
    const unsigned times = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : RUNS;
    struct perf_event_attr counts, address, ours;
    double least[3];

    cf_perf_breakpoint(&ours, (uintptr_t)access_cell);
    address = ours;
    address.sample_type = PERF_SAMPLE_IP;
    address.sample_regs_user = 0;
    counts = address;
    counts.sample_period = 0;
    least[0] = measure(&counts, 0, times);
    least[1] = measure(&address, 1, times);
    least[2] = measure(&ours, 1, times);
    if (least[0] < 0 || least[1] < 0 || least[2] < 0) {
        fprintf(stderr, "bench_breakpoint: no breakpoints here: %m\n");
        return 3;
    }
    printf("%.0f %.0f %.0f\n", least[0], least[1], least[2]);
    return 0;
}
