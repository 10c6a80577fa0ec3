/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernels.c - a program whose accesses are the same wherever it runs: without a C library, its
 * stack and all data static, at fixed addresses. It has what compilers make of arrays, structures,
 * jump tables, recursion, floating point, bits, strings, vectors, and by hand (by_hand_ARCH.inc)
 * the addressing modes and instructions that they rarely emit. Built with -static -nostdlib
 * -fno-pie, and -DROUNDS=N; all rounds but the first make the same accesses with -DSAME.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

#ifndef ROUNDS
#define ROUNDS 4
#endif

#ifdef SAME
#define VARIED(round) 3u
#else
#define VARIED(round) round
#endif

enum { N = 256 };

struct node {
    u64 key;
    u32 count;
    u16 half;
    u8 byte, more;
    struct node *next;
    double weight[3];
};

static struct node nodes[N] __attribute__((aligned(64)));
static u32 ints[N + 16], places[N];
static double reals[N];
static float floats[N];
static u8 bytes[4 * N], copy[4 * N];
static long double extended[8];
static u64 bits[N / 8], own[16];
volatile u64 result;
u8 stack[1 << 16] __attribute__((aligned(64)));

void *memset(void *to, int c, u64 n)
{
    u8 *p = to;

    while (n--)
        *p++ = (u8)c;
    return to;
}

void *memcpy(void *to, const void *from, u64 n)
{
    u8 *p = to;
    const u8 *q = from;

    while (n--)
        *p++ = *q++;
    return to;
}

static u32 seed = 7;
static volatile u32 rounds = ROUNDS; /* the code is the same whatever it is */

static u32 next(void)
{
    seed = seed * 1103515245 + 12345;
    return seed >> 8;
}

static __attribute__((noinline)) void fill(void)
{
#ifdef SAME
    seed = 7;
    own[0] = own[1] = 0;
#endif
    for (u32 i = 0; i < N; i++) {
        nodes[i] = (struct node){.key = next(), .count = i, .next = &nodes[(i * 37 + 1) % N]};
        nodes[i].weight[i % 3] = i;
        ints[i] = next();
        places[i] = next() % N;
        reals[i] = i * 0.5;
        floats[i] = (float)i;
        bytes[4 * i] = (u8)i;
    }
}

static __attribute__((noinline)) u64 chase(const struct node *n, u32 steps)
{
    u64 sum = 0;

    for (u32 i = 0; i < steps; i++, n = n->next)
        sum += n->key + n->half + n->byte + (u64)n->weight[i % 3];
    return sum;
}

static __attribute__((noinline)) void update(u32 step)
{
    for (u32 i = 0; i < N; i += step) {
        nodes[i].count += i;
        nodes[i].half ^= (u16)i;
        nodes[i].byte--;
        nodes[i].more |= (u8)step;
        bits[i / 64] ^= 1ul << (i % 64);
    }
}

static __attribute__((noinline)) double gather(const double *from, const u32 *index)
{
    double sum = 0;

    for (u32 i = 0; i < N; i++)
        sum += from[index[i]];
    return sum;
}

static __attribute__((noinline)) void spread(float *to, const float *from, const u32 *index)
{
    for (u32 i = 0; i < N; i++)
        to[i] = from[index[i]] * 2 + to[i];
}

static __attribute__((noinline)) void chosen(u32 *to, const u32 *from)
{
    for (u32 i = 0; i < N; i++)
        if (from[i] & 1)
            to[i] += from[i];
}

static __attribute__((noinline)) u64 tables(u32 what)
{
    switch (what % 7) {
    case 0:
        return ints[what % N];
    case 1:
        return bytes[what % N] + 1u;
    case 2:
        return nodes[what % N].half;
    case 3:
        return (u64)extended[what % 8];
    case 4:
        return bits[what % (N / 8)];
    case 5:
        return (u64)reals[what % N];
    default:
        return what;
    }
}

static __attribute__((noinline)) u64 fibonacci(u32 n, u64 *calls)
{
    ++*calls;
    return n < 2 ? n : fibonacci(n - 1, calls) + fibonacci(n - 2, calls);
}

static __attribute__((noinline)) void sort(u32 *a, int from, int to)
{
    int i = from, j = to;
    const u32 pivot = a[(from + to) / 2];

    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            const u32 swap = a[i];

            a[i++] = a[j];
            a[j--] = swap;
        }
    }
    if (from < j)
        sort(a, from, j);
    if (i < to)
        sort(a, i, to);
}

static __attribute__((noinline)) void atomics(void)
{
    u64 expected = own[0];

    __atomic_fetch_add(&own[0], 3, __ATOMIC_SEQ_CST);
    __atomic_exchange_n(&own[1], 5, __ATOMIC_SEQ_CST);
    (void)__atomic_compare_exchange_n(&own[0], &expected, 9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    extended[own[0] % 8] += (long double)own[1];
    __builtin_prefetch(&own[2]);
}

#ifdef __x86_64__
#include "by_hand_x86.inc"
#else
#include "by_hand_arm64.inc"
#endif

__attribute__((used)) void run(void)
{
    u64 calls = 0;

    begin();
    for (u32 round = 0; round < rounds; round++) {
        fill();
        result += chase(nodes, N);
        update(1 + VARIED(round) % 5);
        result += (u64)gather(reals, places);
        spread(floats, floats, places);
        chosen(ints, places);
        for (u32 i = 0; i < N; i++)
            result += tables(i + VARIED(round));
        result += fibonacci(10, &calls);
        sort(ints, 0, N - 1);
        atomics();
        for (u32 i = 0; i < 20; i++)
            by_hand(i);
    }
    end();
}
