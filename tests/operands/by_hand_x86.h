/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * by_hand_x86.h - the part of kernels.c that is of x86-64: segments, strings, the stack.
 */
static __attribute__((noinline)) void by_hand(u64 i)
{
    void *to = copy, *from = bytes;
    u64 n = 40 + i % 7, value = i;

    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    n = 5;
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(value) : "memory");
    to = copy + 200, from = bytes + 200, n = 9;
    __asm__ volatile("std; rep movsl; cld" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    __asm__ volatile("mov %%fs:16, %0; add %0, %%fs:8(,%1,8)"
                     : "=&r"(value)
                     : "r"(i % 4)
                     : "memory");
    __asm__ volatile("mov %%gs:(%1), %0; incl %%gs:4(%1)"
                     : "=&r"(value)
                     : "r"(i % 4 * 8)
                     : "memory");
    __asm__ volatile("push %0; popq (%1); pushq 8(%1); popq 8(%1)"
                     : "+r"(value)
                     : "r"(own)
                     : "memory", "cc");
    __asm__ volatile("sub $32, %%rsp; push %%rcx; popq 8(%%rsp); pushq 8(%%rsp); pop %%rcx;"
                     "mov %%rcx, 8(%%rsp);"
                     "add $32, %%rsp"
                     :
                     :
                     : "memory", "cc");
    __asm__ volatile("mov %2, %%r13; movl %0, (%%r13d,%1,2)"
                     :
                     : "r"((u32)i), "r"((u32)i % 16), "r"((u64)bytes)
                     : "memory", "r13");
    __asm__ volatile("fldt %0; fstpt %0; movups %1, %%xmm1; movlps %%xmm1, %1; movnti %2, %3"
                     : "+m"(extended[1]), "+m"(floats[4])
                     : "r"(i), "m"(own[5])
                     : "xmm1", "memory");
    to = copy, from = bytes;
    __asm__ volatile("movsb; lodsw; stosl" : "+S"(from), "+D"(to) : : "memory", "rax", "cc");
}

static long call(long number, long a, long b)
{
    long r;

    __asm__ volatile("syscall" : "=a"(r) : "a"(number), "D"(a), "S"(b) : "rcx", "r11", "memory");
    return r;
}

static void begin(void)
{
    call(158, 0x1002, (long)own);  /* arch_prctl: fs */
    call(158, 0x1001, (long)copy); /* gs */
}

static void end(void)
{
    call(231, 0, 0);
}

__asm__(
    ".globl _start\n_start: lea stack+65536-64(%rip), %rsp\n xor %ebp, %ebp\n call run\n hlt\n");
