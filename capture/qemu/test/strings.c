/* SPDX-License-Identifier: BSD-2-Clause */
/* String instructions of x86 that repeat themselves, on two arrays at multiples of 64. */
#include <stddef.h>
#include <stdint.h>

uint8_t from[256] __attribute__((aligned(64)));
uint8_t to[256] __attribute__((aligned(64)));

static void movsb(void *d, const void *s, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n)::"memory");
}

__attribute__((noinline)) static void strings(void)
{
    void *d = to + 7;
    const void *s = from + 100;
    size_t n = 80;

    movsb(to, from, 64);
    movsb(to + 1, to, 3); /* what is stored is loaded again */
    movsb(to, from, 0);   /* nothing */
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(1) : "memory");
    n = 5;
    __asm__ volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(n)::"memory");
    d = to + 2;
    s = from + 2;
    n = 3;
    __asm__ volatile("std; rep movsb; cld" : "+D"(d), "+S"(s), "+c"(n)::"memory");
    d = to + 100;
    n = 3;
    __asm__ volatile("repne scasb" : "+D"(d), "+c"(n) : "a"(77) : "memory", "cc");
}

int main(void)
{
    strings();
    return 0;
}
