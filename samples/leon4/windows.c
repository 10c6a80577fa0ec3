/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * windows: what makes it hard to follow a LEON's registers from its trace. Calls deeper than the
 * eight register windows, so that windows overflow and underflow; traps in between, by software, by
 * an address that is not aligned and by a division by zero; double-word, byte and half-word
 * accesses, signed and not; atomic ones (swap, ldstub, casa); floating-point loads and stores;
 * loads and stores in alternate spaces, one of which is no memory; a tree that is walked by
 * recursion; and branches that annul their delay slot.
 */
#include <stdint.h>

enum { NODES = 60, DEPTH = 22 };

struct node {
    struct node *left, *right;
    int16_t key;
    uint8_t depth;
    int8_t sign;
    uint64_t value;
};

extern volatile uint32_t trap_counts[4];
volatile uint32_t result;
static struct node nodes[NODES], *root;
static int used;
static volatile uint32_t lock, word = 17;
static volatile uint8_t flag;
static double reals[8] = {1.0, 2.5, -3.25, 4.125, 0, 0, 0, 0};
static uint64_t pairs[8];

static struct node *insert(struct node *at, int key, int depth)
{
    if (!at) {
        struct node *n = &nodes[used++];

        n->key = (int16_t)key;
        n->depth = (uint8_t)depth;
        n->sign = (int8_t)(key < 0 ? -1 : 1);
        n->value = ((uint64_t)(uint32_t)key << 32) + (uint32_t)depth;
        return n;
    }
    if (key < at->key)
        at->left = insert(at->left, key, depth + 1);
    else
        at->right = insert(at->right, key, depth + 1);
    return at;
}

static __attribute__((noinline, optimize("O1"))) uint64_t walk(const struct node *at)
{
    if (!at)
        return 1;
    return walk(at->left) * 3 + at->value + (uint64_t)(at->depth * at->sign) + walk(at->right);
}

/* Deeper than there are windows, with values that must survive in each of them. */
static __attribute__((noinline)) uint32_t dive(uint32_t depth, uint32_t x)
{
    uint32_t y = x * 3 + depth;

    if (depth == 0) {
        __asm__ volatile("ta 1" ::: "memory");
        return x;
    }
    y ^= dive(depth - 1, y + 1);
    return y + x + depth;
}

static uint32_t swap(volatile uint32_t *at, uint32_t with)
{
    __asm__ volatile("swap [%1], %0" : "+r"(with) : "r"(at) : "memory");
    return with;
}

static uint32_t take(volatile uint8_t *at)
{
    uint32_t old;

    __asm__ volatile("ldstub [%1], %0" : "=r"(old) : "r"(at) : "memory");
    return old;
}

static uint32_t compare_and_swap(volatile uint32_t *at, uint32_t expected, uint32_t with)
{
    __asm__ volatile("casa [%1] 0xb, %2, %0" : "+r"(with) : "r"(at), "r"(expected) : "memory");
    return with;
}

static __attribute__((noinline)) uint32_t atomics(void)
{
    uint32_t sum = swap(&lock, 41) + swap(&lock, 0x12345678) + take(&flag) + take(&flag);

    sum += compare_and_swap(&word, 17, 99) + compare_and_swap(&word, 17, 1000);
    return sum + word + lock + flag;
}

static __attribute__((noinline)) uint32_t alternate(void)
{
    uint32_t data, control;

    __asm__ volatile("lda [%1] 0xb, %0" : "=r"(data) : "r"(&word));
    __asm__ volatile("sta %0, [%1] 0xb" ::"r"(data + 1), "r"(&word) : "memory");
    /* The cache control register: no memory, no access of a cache. */
    __asm__ volatile("lda [%1] 2, %0" : "=r"(control) : "r"(0));
    return data + (control & 1);
}

static __attribute__((noinline)) void mistakes(void)
{
    uint32_t x = 5;

    __asm__ volatile("ld [%1 + 2], %0\n"
                     "wr %%g0, %%y\n"
                     "nop; nop; nop\n"
                     "udiv %0, %%g0, %0\n"
                     "ta 3"
                     : "+r"(x)
                     : "r"(&nodes[0])
                     : "memory");
    word += x;
}

static __attribute__((noinline)) void floats(void)
{
    for (int i = 0; i < 4; i++)
        reals[4 + i] = reals[3 - i] * 2 + reals[i];
}

static __attribute__((noinline)) void doubles(void)
{
    for (unsigned i = 0; i < 8; i++)
        __asm__ volatile("std %1, [%0]" ::"r"(&pairs[i]), "r"((uint64_t)i << 33 | i) : "memory");
    for (unsigned i = 0; i < 7; i++) {
        uint64_t pair;

        __asm__ volatile("ldd [%1], %0" : "=r"(pair) : "r"(&pairs[7 - i]));
        pairs[i] += pair;
    }
}

/* Delay slots that are annulled because the branch is not taken, and because it always is. */
static __attribute__((noinline)) uint32_t jumps(void)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < 24; i++)
        __asm__ volatile("andcc %1, 3, %%g0\n"
                         "bne,a 1f\n"
                         " add %0, 3, %0\n"
                         "ba,a 1f\n"
                         " add %0, 100, %0\n"
                         "1: add %0, %1, %0"
                         : "+r"(sum)
                         : "r"(i)
                         : "cc");
    return sum;
}

int main(void)
{
    uint32_t sum = 0, key = 7;

    for (int i = 0; i < NODES; i++) {
        key = key * 1103515245u + 12345u;
        if (i == 0)
            root = insert(0, (int16_t)(key >> 16), 0);
        else
            (void)insert(root, (int16_t)(key >> 16), 0);
    }
    sum = (uint32_t)walk(root);
    for (uint32_t depth = 1; depth < DEPTH; depth += 2)
        sum += dive(depth, sum);
    sum += atomics() + alternate() + jumps();
    mistakes();
    floats();
    doubles();
    for (int i = 0; i < 8; i++)
        sum += (uint32_t)(pairs[i] >> 32) + (uint32_t)(int32_t)reals[i];
    result = sum + trap_counts[0] + trap_counts[1] * 16 + trap_counts[2] * 256;
    return 0;
}
