/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_exit.c - for targets that are no whole program: calls of the library are what they say. */
#include <stdio.h>
#include <stdlib.h>

void fuzz_exit(int status) __attribute__((noreturn));

int fuzz_fclose(FILE *f);

void fuzz_exit(int status)
{
    exit(status);
}

int fuzz_fclose(FILE *f)
{
    return fclose(f);
}
