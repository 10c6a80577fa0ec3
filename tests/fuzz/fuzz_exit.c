/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_exit.c - for targets that are no whole program: the library's calls of exit() are exit(). */
#include <stdlib.h>

void fuzz_exit(int status) __attribute__((noreturn));

void fuzz_exit(int status)
{
    exit(status);
}
