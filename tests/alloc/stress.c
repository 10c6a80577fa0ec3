/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stress PLUGIN [SIGNALS]: threads that allocate, hand memory to each other, fork and wait, and
 * load and unload PLUGIN, while a timer's signal interrupts them; with SIGNALS its handler
 * allocates, too, which needs an allocator that bears it. Prints sums that are always the same.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 20, OBJECTS = 400, SLOTS = 64 };

static const char *plugin;
static _Atomic(unsigned char *) slot[SLOTS];
static atomic_ulong kept, given;
static int signals;
extern char **environ;

static void interrupted(int number)
{
    if (signals) {
        void *p = malloc(100), *q = calloc(3, 7);

        void *more = realloc(p, 300);
        if (more)
            p = more;
        free(q);
        free(p);
    }
    (void)number;
}

/* What is found in memory that was handed over is what its maker wrote. */
static void check(unsigned char *p)
{
    const size_t bytes = *(size_t *)p;

    for (size_t i = sizeof(bytes); i < bytes; i++)
        if (p[i] != (unsigned char)(bytes + i))
            abort();
    free(p);
}

static unsigned long allocate(uint64_t seed)
{
    unsigned long sum = 0;

    for (unsigned i = 0; i < OBJECTS; i++) {
        size_t bytes;
        unsigned char *p;

        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        bytes = sizeof(bytes) + (seed >> 33) % (i % 50 ? 300 : 300000);
        p = i % 3 ? malloc(bytes) : realloc(malloc(bytes / 2 + 1), bytes);
        *(size_t *)p = bytes;
        for (size_t k = sizeof(bytes); k < bytes; k++)
            p[k] = (unsigned char)(bytes + k);
        sum += bytes;
        atomic_fetch_add(&given, 1);
        p = atomic_exchange(&slot[(seed >> 40) % SLOTS], p);
        if (p)
            check(p);
    }
    return sum;
}

static unsigned long wait_for(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0)
        ;
    if (!WIFEXITED(status))
        abort();
    return (unsigned long)WEXITSTATUS(status);
}

/* A child that allocates and ends; one that the C library does not know of; one that runs a
   program. */
static unsigned long fork_some(uint64_t seed)
{
    char *const argv[] = {"sh", "-c", "exit 3", NULL};
    volatile unsigned long sum = 0;
    pid_t child = fork();

    if (child == 0)
        _exit((int)(allocate(seed) % 100));
    sum += wait_for(child);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    /* Of which the C library does not know: its allocator may be locked by another thread. */
    if (child == 0)
        _exit(signals ? (int)(allocate(seed + 1) % 100) : 5);
    sum += wait_for(child);
    child = vfork();
    if (child == 0)
        _exit(7);
    sum += wait_for(child);
    if (posix_spawnp(&child, "sh", NULL, NULL, argv, environ) != 0)
        abort();
    return sum + wait_for(child);
}

static unsigned long load(uint64_t seed)
{
    void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    unsigned long (*run)(unsigned long) =
        library ? (unsigned long (*)(unsigned long))dlsym(library, "plugin_run") : NULL;
    unsigned long sum;

    if (!run)
        abort();
    sum = run(seed % 1000);
    dlclose(library);
    return sum;
}

static void *work(void *arg)
{
    const uint64_t number = (uintptr_t)arg;
    unsigned long sum = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        sum += allocate(number * 1000 + i);
        if (i % 10 == number % 10)
            sum += fork_some(number * 1000 + i);
        if (i % 4 == 1)
            sum += load(number * 1000 + i);
    }
    atomic_fetch_add(&kept, sum);
    return NULL;
}

int main(int argc, char **argv)
{
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    struct sigaction act = {.sa_handler = interrupted, .sa_flags = SA_RESTART};
    pthread_t thread[THREADS];

    if (argc < 2)
        return 2;
    plugin = argv[1];
    signals = argc > 2;
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, work, (void *)i) != 0)
            return 3;
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    for (unsigned i = 0; i < SLOTS; i++)
        if (slot[i])
            check(slot[i]);
    printf("%lu %lu\n", atomic_load(&kept), atomic_load(&given));
    return 0;
}
