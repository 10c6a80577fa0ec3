/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * programs.c - what tests/cf-capture-qemu.bats records: one source for every architecture, whose
 * data accesses follow from the source alone. The first argument chooses.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000, ROUNDS = 100 };

uint32_t words[N];
uint8_t bytes[N];
uint16_t halves[N];
uint32_t own[2][N];
uint32_t together;

/* Loads all of words in order, then stores them from the end, then copies every third byte to
   halves: nothing else of these arrays, at whatever optimisation up to -O1. */
__attribute__((noinline)) static uint32_t known(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < N; i++)
        sum += words[i];
    for (int i = N - 1; i >= 0; i--)
        words[i] = sum ^ (uint32_t)i;
    for (int i = 0; i < N; i += 3)
        halves[i] = bytes[i];
    return sum;
}

static void *thread(void *array)
{
    uint32_t *mine = array;

    if (mine == own[0])
        prctl(PR_SET_NAME, "first");

    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < N; i++) {
            mine[i] = (uint32_t)i;
            __atomic_add_fetch(&together, 1, __ATOMIC_SEQ_CST);
        }
    return NULL;
}

static int threads(void)
{
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, thread, own[i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return together != 2 * ROUNDS * N;
}

/* A page comes, is written and goes. */
static int maps(void)
{
    size_t size = 1 << 20;
    /* cppcheck-suppress invalidFunctionArg */
    volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < size; i += 4096)
        p[i] = 1;
    printf("%p\n", (void *)(uintptr_t)p);
    return munmap((void *)(uintptr_t)p, size);
}

/* The child's accesses are its own. */
static int forks(void)
{
    pid_t child = fork();
    int status = 1;

    if (child == 0) {
        for (int i = 0; i < 100; i++)
            (void)known();
        _exit(0);
    }
    (void)known();
    waitpid(child, &status, 0);
    return status;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* For the benchmark: sorts, scatters, and walks. */
static int mixed(size_t n)
{
    enum { TABLE = 1 << 20 };
    uint32_t *a = malloc((n + 1) * sizeof(*a)), *table = calloc(TABLE, sizeof(*table)), x = 1;
    int bad = 1;

    if (a && table && n) {
        for (size_t i = 0; i < n; i++)
            a[i] = (x = x * 1664525 + 1013904223) >> 1;
        qsort(a, n, sizeof(*a), compare);
        for (size_t i = 0; i < 10 * n; i++)
            table[(x = x * 1664525 + 1013904223) >> 12]++;
        for (size_t i = 1; i < TABLE; i++)
            table[i] += table[i / 2];
        bad = a[0] > a[n - 1] || !table[TABLE - 1];
    }
    free(a);
    free(table);
    return bad;
}

static int echo(void)
{
    char line[100];

    if (!fgets(line, sizeof(line), stdin))
        return 1;
    fputs(line, stdout);
    fputs("error\n", stderr);
    return 5;
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "known";
    long rounds = count > 2 ? strtol(arguments[2], NULL, 10) : 1;
    uint32_t sum = 0;

    if (strcmp(what, "threads") == 0)
        return threads();
    if (strcmp(what, "mixed") == 0)
        return mixed((size_t)rounds);
    if (strcmp(what, "maps") == 0)
        return maps();
    if (strcmp(what, "fork") == 0)
        return forks();
    if (strcmp(what, "echo") == 0)
        return echo();
    if (strcmp(what, "die") == 0) {
        (void)known();
        raise(SIGSEGV);
    }
    if (strcmp(what, "sleep") == 0) {
        (void)known();
        puts("done");
        fflush(stdout);
        for (;;)
            sleep(1);
    }
    for (long i = 0; i < rounds; i++)
        sum += known();
    return sum == 1 ? 9 : 0;
}
