/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hot - the program that the suites of cf-capture pages time.
 *
 *     hot MODE STATE CLOCK
 *
 * observed() takes 5000 ticks of CLOCK (tests/told/clock.c), more for each of its 12 pages that is
 * not cached by STATE, which fake_pagectl writes, and less for each that was moved. The letter MODE
 * says what else it does, or what main() does before. It prints "done" and returns 5. Each run adds
 * a line to the file RUNS of the environment; with HOLD there the eighth is slow, and the eleventh
 * does not end.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 12, PAGE = 4096, BLOCKS = 2000 };
static char area[PAGES * PAGE] __attribute__((aligned(PAGE))) = {1};
static char zeros[3 * PAGE];
static int state, clock_fd;
static uint64_t list[1 << 17];
static char mode, *fresh;
static void *kept[BLOCKS];
static jmp_buf out;
static int to[2], from[2], calls;
static volatile int heard;

static uint64_t weight(int page)
{
    return (uint64_t)(page * 5 % PAGES + 1) * 1000;
}

static void must(int right)
{
    if (!right)
        _exit(99);
}

static void touch(int pages)
{
    for (; pages; pages--, fresh += PAGE)
        *fresh = 1;
}

/* Faults of its own and, meanwhile, of another thread, and waits. */
static void events(void)
{
    char c = 0;

    if (calls++)
        touch(7);
    must(write(to[1], &c, 1) == 1 && read(from[0], &c, 1) == 1);
    usleep(1000);
    usleep(1000);
}

static void *other(void *arg)
{
    char c;

    while (read(to[0], &c, 1) == 1) {
        if (calls > 1)
            touch(5);
        usleep(2000);
        must(write(from[1], &c, 1) == 1);
    }
    return arg;
}

static void hear(int number)
{
    heard = heard + (number == SIGUSR1);
}

static void *map(size_t pages, int permissions, int flags, int fd)
{
    void *p = mmap(NULL, pages * PAGE, permissions, flags, fd, 0);

    must(p != MAP_FAILED);
    return p;
}

static void in_function(void)
{
    char *p;

    if (mode == 'p')
        events();
    if (mode == 'j')
        longjmp(out, 1);
    if (mode == 'c')
        abort();
    if (mode == 'k')
        kill(getpid(), SIGKILL);
    if (mode == 'x')
        exit(4);
    if (mode == 'e')
        execl("/bin/true", "true", NULL);
    if (mode == 'm')
        kept[0] = map(1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 0);
    if (mode == 'u')
        must(munmap(fresh, PAGE) == 0);
    if (mode == 'o')
        must(mprotect(fresh, PAGE, PROT_READ) == 0);
    if (mode == 's')
        raise(SIGUSR1);
    if (mode == 'F')
        must(system("true") == 0);
    if (mode == 'b' || mode == 'B') {
        p = malloc(3 << 20);
        memset(p, 1, 3 << 20);
        __asm__ volatile("" ::"r"(p) : "memory");
        free(p);
    }
}

__attribute__((noinline)) void observed(int deep)
{
    uint64_t now = 0, offs, moved;

    if (mode == 'r' && deep > 0) {
        observed(deep - 1);
        __asm__ volatile("");
        return;
    }
    must(pread(state, list, sizeof list, 0) >= 16 && pread(clock_fd, &now, 8, 0) == 8);
    offs = list[0];
    moved = list[1 + offs];
    now += 5000;
    for (int i = 0; i < PAGES; i++) {
        for (uint64_t j = 0; j < offs; j++)
            if (list[1 + j] == (uint64_t)(area + PAGE * i))
                now += weight(i);
        for (uint64_t j = 0; j < moved; j++)
            if (list[2 + offs + j] == (uint64_t)(area + PAGE * i))
                now -= 10 * (i + 1);
    }
    if (mode != 'z')
        must(pwrite(clock_fd, &now, 8, 0) == 8);
    in_function();
    __asm__ volatile("");
}

static void *idle(void *arg)
{
    for (;;) {
        usleep(100);
        if (arg) {
            observed(0);
            heard = heard + 1;
        }
    }
    return NULL;
}

/* ---- before the call ---- */

static void with_threads(void)
{
    pthread_t t;

    if (mode == 'p') {
        fresh = map(64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
        madvise(fresh, 64 * PAGE, MADV_NOHUGEPAGE);
        must(pipe(to) == 0 && pipe(from) == 0);
        pthread_create(&t, NULL, other, NULL);
        observed(0);
    }
    if (mode == 't' || mode == 'T') /* T: it calls the function, too */
        pthread_create(&t, NULL, idle, mode == 'T' ? list : NULL);
    while (mode == 'T' && !heard)
        usleep(100);
}

/* Pages that are never changed: shared, of a file that is no program, a guard. */
static void with_mappings(char *const *argv)
{
    const int fd = open(argv[3], O_RDWR);

    *(char *)map(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, 0) = 1;
    *(char *)map(1, PROT_READ | PROT_WRITE, MAP_SHARED, fd) = *(char *)map(1, 1, MAP_PRIVATE, fd);
    kept[0] = map(3, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
    *(char *)map(1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0) = 1;
    close(fd);
}

/* Over 1000 mappings, and 2000 pages of heap. */
static void with_many(void)
{
    char *p = map(2400, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0);

    for (int i = 0; i < 1200; i++)
        must(mprotect(p + 2 * i * PAGE, PAGE, PROT_READ) == 0);
    for (int i = 0; i < BLOCKS; i++) {
        kept[i] = malloc(4000);
        memset(kept[i], 1, 4000);
    }
}

static void in_child(int calls_it)
{
    const pid_t pid = fork();

    if (pid == 0) {
        if (calls_it)
            observed(0);
        _exit(0);
    }
    must(wait(NULL) == pid && system("true") == 0);
}

/* The N-th run, by the lines of RUNS. */
static long count_run(void)
{
    const char *name = getenv("RUNS");
    const int fd = name ? open(name, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    long n = 0;

    if (fd >= 0)
        must(write(fd, "\n", 1) == 1 && (n = lseek(fd, 0, SEEK_END)) > 0);
    if (fd >= 0)
        close(fd);
    return n;
}

static void before(char *const *argv)
{
    char line[64], *p;
    const long run = count_run();

    if (getenv("HOLD")) { /* until rows are in the file, and then until it is killed */
        if (run == 8)
            sleep(6);
        while (run >= 11)
            pause();
    }
    if (mode == 'f' || mode == 'K')
        in_child(1);
    if (mode == 'b' || mode == 'R') { /* so that there is a heap */
        p = malloc(100);
        __asm__ volatile("" ::"r"(p) : "memory");
    }
    if (mode == 'R')
        with_mappings(argv);
    if (mode == 'L')
        with_many();
    if (mode == 'u' || mode == 'o')
        fresh = map(2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
    if (mode == 'g') { /* one region, in three mappings */
        fresh = map(8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
        touch(8);
        must(mprotect(fresh - 5 * PAGE, PAGE, PROT_READ) == 0);
    }
    if (mode == 's') {
        signal(SIGUSR1, hear);
        raise(SIGUSR1);
    }
    if (mode == 'i')
        while (fgets(line, sizeof line, stdin))
            fputs(line, stdout);
    if (mode == 'q')
        printf("cpu %d policy %d\n", sched_getcpu(), sched_getscheduler(0));
    with_threads();
}

int main(int argc, char **argv)
{
    must(argc == 4);
    mode = *argv[1];
    state = open(argv[2], O_RDONLY);
    clock_fd = open(argv[3], O_RDWR);
    for (int i = 0; i < PAGES; i++)
        area[PAGE * i] = (char)i;
    zeros[PAGE] = 1;
    before(argv);
    if (mode == 'n' || mode == 'K')
        return 6;
    if (mode == 'C') {
        observed(0);
        observed(0);
    }
    if (mode == 'j') {
        if (!setjmp(out))
            observed(0);
        return 5;
    }
    observed(mode == 'r' ? 3 : 0);
    while (mode == 'T' && heard < 3) /* the call that is measured may be the other thread's */
        usleep(100);
    puts("done");
    if (mode == 's')
        printf("heard %d\n", heard);
    fflush(stdout);
    if (mode == 'a')
        raise(SIGTERM);
    return 5;
}
