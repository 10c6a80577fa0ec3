/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a recording must say of mappings and heap blocks, told by the program itself: at each point
 * it writes "point N PID", its /proc/self/maps, "brk ADDRESS", and "held ADDRESS BYTES" for each
 * block that it holds. Then it stores to marks[N], so that the recording has a time for it.
 *
 *     maps     mmap, munmap, mprotect, mremap to a place that it chooses, brk, libraries, threads
 *     maps x   the same, mremap to any place
 *     heap     blocks by each function of C, big and small
 *     family   a child by fork, and what it turns into by exec
 *     after    what that does
 *     altstack measured() stores 100 times to marks[10], gets a signal, whose handler runs on a
 * stack of its own above this one, and stores 100 times to marks[11]
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, BLOCKS = 64 };

volatile uint64_t marks[64];
static int points;
static struct {
    void *addr;
    size_t bytes;
} held[BLOCKS];

static void hold(void *p, size_t bytes)
{
    for (int i = 0; i < BLOCKS; i++)
        if (!held[i].addr) {
            held[i].addr = p;
            held[i].bytes = bytes;
            return;
        }
}

static void *let_go(void *p)
{
    for (int i = 0; i < BLOCKS; i++)
        if (held[i].addr == p)
            held[i].addr = NULL;
    return p;
}

/* Allocates nothing. */
static void point(void)
{
    static char text[1 << 16];
    int fd = open("/proc/self/maps", O_RDONLY), n = 0;
    ssize_t got = 0;

    n += snprintf(text + n, sizeof(text) - (size_t)n, "point %d %d\n", points, (int)getpid());
    while (fd >= 0 && (got = read(fd, text + n, sizeof(text) / 2 - (size_t)n)) > 0)
        n += (int)got;
    if (fd >= 0)
        close(fd);
    n += snprintf(text + n, sizeof(text) - (size_t)n, "brk %#llx\n",
                  (unsigned long long)(uintptr_t)sbrk(0));
    for (int i = 0; i < BLOCKS; i++)
        if (held[i].addr)
            n += snprintf(text + n, sizeof(text) - (size_t)n, "held %#llx %zu\n",
                          (unsigned long long)(uintptr_t)held[i].addr, held[i].bytes);
    if (write(STDOUT_FILENO, text, (size_t)n) != n)
        exit(1);
    marks[points++]++;
}

/* Of a file, or, with MAP_ANONYMOUS, of none: then the descriptor does not count. */
static char *map(char *at, size_t pages, int perms, int flags, int fd, long offset)
{
    char *p = mmap(at, pages * PAGE, perms, flags | MAP_PRIVATE, fd, offset);

    if (p == MAP_FAILED)
        exit(1);
    return p;
}

static void *thread(void *p)
{
    char *q = map(NULL, 5, PROT_READ, MAP_ANONYMOUS, 0, 0);

    point();
    munmap(q, 5 * PAGE);
    point();
    return p;
}

static void maps(const char *self, int anywhere)
{
    int fd = open(self, O_RDONLY);
    char *p, *q;
    void *library;
    pthread_t t;

    point();
    p = map(NULL, 8, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, 0, 0);
    point();
    munmap(p + 2 * PAGE, 2 * PAGE); /* out of the middle */
    point();
    mprotect(p + 5 * PAGE, PAGE, PROT_READ);
    point();
    q = map(p + 2 * PAGE, 1, PROT_READ, MAP_FIXED, fd, PAGE); /* a file into the hole */
    point();
    munmap(p, 8 * PAGE); /* of several mappings */
    point();
    p = map(NULL, 4, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, 0, 0);
    q = map(p + 4 * PAGE, 1, PROT_READ, MAP_ANONYMOUS | MAP_FIXED, 0, 0); /* so that it must move */
    if (anywhere) {
        q = mremap(p, 4 * PAGE, 16 * PAGE, MREMAP_MAYMOVE);
    } else {
        q = map(NULL, 20, PROT_READ, MAP_ANONYMOUS, 0, 0);
        q = mremap(p, 4 * PAGE, 16 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q);
    }
    if (q == MAP_FAILED)
        exit(1);
    point();
    mremap(q, 16 * PAGE, 2 * PAGE, 0);
    point();
    munmap(q, 2 * PAGE);
    munmap(p + 4 * PAGE, PAGE);
    point();
    sbrk(10 * PAGE);
    point();
    sbrk(-6 * PAGE);
    point();
    library = dlopen("libm.so.6", RTLD_NOW);
    point();
    if (library)
        dlclose(library);
    point();
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    point();
    close(fd);
}

static void heap(void)
{
    char *p, *q;
    void *r = NULL;

    hold(p = malloc(1000), 1000);
    hold(q = calloc(3, 500), 1500);
    point();
    p = realloc(let_go(p), 100); /* shrinks */
    hold(p, 100);
    point();
    p = realloc(let_go(p), 200000); /* grows */
    hold(p, 200000);
    point();
    free(let_go(q));
    point();
    if (posix_memalign(&r, 4096, 5000) == 0)
        hold(r, 5000);
    hold(q = aligned_alloc(64, 640), 640);
    point();
    free(let_go(r));
    free(let_go(q));
    point();
    hold(q = malloc(5 << 20), 5 << 20); /* areas of their own */
    hold(r = malloc(3 << 20), 3 << 20);
    point();
    free(let_go(q));
    point();
    r = realloc(let_go(r), 9 << 20);
    hold(r, 9 << 20);
    point();
    free(let_go(r));
    free(let_go(p));
    point();
}

static int family(const char *self)
{
    char *p = map(NULL, 3, PROT_READ, MAP_ANONYMOUS, 0, 0);
    pid_t child;
    int status = 0;

    hold(malloc(1234), 1234);
    point();
    child = fork();
    if (child == 0) {
        point();
        hold(malloc(4321), 4321);
        munmap(p, PAGE);
        point();
        execl(self, self, "after", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    point();
    return WEXITSTATUS(status);
}

static __attribute__((noinline)) int inner(int n)
{
    marks[12]++;
    return n + 1;
}

static void handler(int number)
{
    marks[13] += (uint64_t)inner(number);
}

__attribute__((noinline)) void measured(void)
{
    for (int i = 0; i < 100; i++)
        marks[10]++;
    raise(SIGUSR1);
    for (int i = 0; i < 100; i++)
        marks[11]++;
}

static void altstack(void)
{
    static char *volatile high;
    char here[65536];
    const stack_t stack = {.ss_sp = here, .ss_size = sizeof(here)};
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

    high = here;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    measured();
    *high = 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(what, "family") == 0)
        return family(argv[0]);
    if (strcmp(what, "altstack") == 0)
        altstack();
    else if (strcmp(what, "maps") == 0)
        maps(argv[0], argc > 2);
    else
        heap();
    return 0;
}
