/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small programs to be traced; the first argument names one.
 *
 *     mixed     string instructions, atomics, vector gathers and masks, fxsave, longjmp, qsort
 *     threads [N]  two threads add to arrays of their own, N times [300]; one is named by the other
 *     fork      a child writes 1000 words, then a grandchild runs /bin/true
 *     segv      faults in the middle of a straight run and dies
 *     recover   the same fault 100 times, each time left by siglongjmp; and a handler that repairs
 *     alarm     a timer's handler interrupts a loop
 *     heap N    allocates and frees N blocks, by all functions there are
 *     maps      maps, moves, protects and unmaps memory, and grows its stack
 *     function  calls `measured` 10 times among other work: recursion, longjmp out of it
 *     quiet     prints a line and sleeps
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static int table[64];
static atomic_int counter;
static char one[5000], other[5000];
static jmp_buf out;
static sigjmp_buf again;
volatile long sink;

#if defined(__x86_64__)
static char area[512] __attribute__((aligned(16)));

/* Its gather has all lanes: of one that is left out lackey has a load from the stack. */
__attribute__((target("avx2"))) static int vectors(void)
{
    __m256i index = _mm256_setr_epi32(1, 5, 9, 13, 2, 6, 10, 63);
    __m256i mask = _mm256_setr_epi32(-1, 0, -1, 0, 0, 0, -1, -1);
    __m256i v = _mm256_i32gather_epi32(table, index, 4);
    __m256i w = _mm256_maskload_epi32(table + 8, mask);

    _mm256_maskstore_epi32(table + 20, mask, _mm256_add_epi32(v, w));
    return table[20];
}

static void special(void)
{
    size_t n = 300;
    void *d = one, *s = other;

    if (__builtin_cpu_supports("avx2"))
        sink += vectors();
    __asm__ volatile("fxsave %0" : "=m"(area));
    __asm__ volatile("fxrstor %0" : : "m"(area));
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
    n = 100;
    d = one;
    __asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(5L) : "memory");
    n = 300;
    d = one;
    s = other;
    __asm__ volatile("repe cmpsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory", "cc");
}
#else
static void special(void)
{
    memcpy(one, other, 300);
}
#endif

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int deep(int n)
{
    if (n == 0)
        longjmp(out, 1);
    return n > 0 ? deep(n - 1) + 1 : 0;
}

static int mixed(int argc)
{
    static int numbers[4000];
    double x = 1;
    int sum = 0;

    for (int i = 0; i < 64; i++)
        table[i] = i * 7919 % 64;
    special();
    for (int i = 0; i < 50; i++) {
        int e = i;

        atomic_fetch_add(&counter, i);
        atomic_compare_exchange_strong(&counter, &e, 7);
    }
    if (!setjmp(out))
        deep(20);
    for (int i = 0; i < 4000; i++)
        numbers[i] = (i * 7919) % 4001;
    qsort(numbers, 4000, sizeof(*numbers), compare);
    for (int i = 0; i < 4000; i++)
        if (numbers[i] > 5 && numbers[i] < argc * 2000 && numbers[i] != 77)
            sum += numbers[i];
    memcpy(one, other, 3000);
    memset(other, 3, 4000);
    for (int i = 0; i < 100; i++) {
        long double y = x * 1.0001 + table[i & 63];

        x = (double)(y * 1.1L);
    }
    sink += sum + (long)strlen(other) + (long)x;
    return 0;
}

static long array[2][1000];
static pthread_barrier_t barrier;
static long rounds = 300;

static void *add(void *arg)
{
    long *a = arg;

    if (a == array[0])
        pthread_setname_np(pthread_self(), "first");
    pthread_barrier_wait(&barrier);
    for (long k = 0; k < rounds; k++)
        for (int i = 0; i < 1000; i++)
            a[i] += i;
    return NULL;
}

static int threads(void)
{
    pthread_t t[2];

    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, add, array[i]);
    pthread_setname_np(t[1], "second");
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}

static int forks(void)
{
    long *shared = malloc(8000);
    pid_t child = fork();

    if (child == 0) {
        for (int i = 0; i < 1000; i++)
            shared[i] = i;
        if (fork() == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        wait(NULL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    free(shared);
    return 0;
}

/* Eight stores, of which the fifth faults. */
__attribute__((noinline)) static void run_into(volatile long *good, volatile long *bad)
{
    good[0] = 1;
    good[1] = 2;
    good[2] = 3;
    good[3] = 4;
    *bad = 5;
    good[4] = 6;
    good[5] = 7;
    good[6] = 8;
}

static void *no_access;

static void leave(int s)
{
    (void)s;
    siglongjmp(again, 1);
}

static void repair(int s)
{
    (void)s;
    mprotect(no_access, 4096, PROT_READ | PROT_WRITE);
}

static int fault(int recover)
{
    static long good[8];

    /* cppcheck-suppress invalidFunctionArg */
    no_access = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (recover) {
        signal(SIGSEGV, leave);
        for (volatile int i = 0; i < 100; i++)
            if (sigsetjmp(again, 1) == 0)
                run_into(good, no_access);
        signal(SIGSEGV, repair);
    }
    run_into(good, no_access);
    return 0;
}

static volatile sig_atomic_t ticks;

static void tick(int s)
{
    (void)s;
    ticks++;
}

static int alarms(void)
{
    struct itimerval every = {{0, 5000}, {0, 5000}};

    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &every, NULL);
    while (ticks < 5)
        for (int i = 0; i < 1000; i++)
            array[0][i]++;
    return 0;
}

static int heap(long n)
{
    void *too_much;

    for (long i = 0; i < n; i++) {
        void *p = NULL;

        switch (i % 6) {
        case 0:
            p = malloc(24);
            break;
        case 1:
            p = calloc(4, 10);
            break;
        case 2:
            p = realloc(malloc(10), 100);
            break;
        case 3:
            if (posix_memalign(&p, 256, 64))
                return 1;
            break;
        case 4:
            p = aligned_alloc(64, 128);
            break;
        case 5:
            p = realloc(malloc(200), 150);
            break;
        }
        sink += *(volatile char *)p;
        free(p);
    }
    too_much = malloc((size_t)-1 / 4);
    sink += too_much != NULL;
    free(too_much);
    return 0;
}

__attribute__((noinline)) static long grow(int n)
{
    volatile char room[65536];

    room[0] = (char)n;
    return n ? grow(n - 1) + room[0] : 0;
}

static int maps(void)
{
    /* cppcheck-suppress invalidFunctionArg */
    char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *q;

    p[0] = 1;
    mprotect(p, 4096, PROT_READ);
    mprotect(p, 4096, PROT_READ | PROT_WRITE);
    q = mremap(p, 1 << 20, 1 << 21, MREMAP_MAYMOVE);
    q[(1 << 21) - 1] = 1;
    munmap(q, 1 << 21);
    q = sbrk(1 << 16);
    q[100] = 1;
    sink += grow(40);
    return 0;
}

__attribute__((noinline)) void measured(int depth)
{
    array[0][depth] = depth; /* one store to array[0] at each level */
    if (depth == 3)
        measured(2);
    if (depth == 5)
        longjmp(out, 1);
    sink++;
}

static int function(void)
{
    for (volatile int i = 0; i < 9; i++) {
        for (int k = 0; k < 1000; k++)
            array[1][k] = k;
        if (i == 5 && setjmp(out))
            continue;
        measured(i);
    }
    measured(9);
    for (int k = 0; k < 1000; k++)
        array[1][k] = k;
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (!strcmp(name, "mixed"))
        return mixed(argc);
    if (!strcmp(name, "threads")) {
        rounds = argc > 2 ? atol(argv[2]) : rounds;
        return threads();
    }
    if (!strcmp(name, "fork"))
        return forks();
    if (!strcmp(name, "segv"))
        return fault(0);
    if (!strcmp(name, "recover"))
        return fault(1);
    if (!strcmp(name, "alarm"))
        return alarms();
    if (!strcmp(name, "heap") && argc > 2)
        return heap(atol(argv[2]));
    if (!strcmp(name, "maps"))
        return maps();
    if (!strcmp(name, "function"))
        return function();
    if (!strcmp(name, "quiet")) {
        puts("quiet");
        fflush(stdout);
        sleep(30);
        return 0;
    }
    if (!strcmp(name, "addresses")) {
        printf("%p %p\n", (void *)array[0], (void *)array[1]);
        return 0;
    }
    return 2;
}
