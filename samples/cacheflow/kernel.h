/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.h - what the kernels of "Observing the Invisible" have in common: numbers from the command
 * line, and memory whose place is known.
 *
 * A kernel's buffer is one anonymous mapping, which a heat map shows as one region. REPL's stands
 * at a fixed address, so that the lines of it can be named beforehand.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The n-th argument as a number of at least 1, or what it is without. Exits with 2 where it is
   none. */
static inline size_t argument(int argc, char **argv, int n, size_t otherwise)
{
    char *end;
    unsigned long long value;

    if (n >= argc)
        return otherwise;
    value = strtoull(argv[n], &end, 0);
    if (!*argv[n] || *end || value < 1 || value > (size_t)1 << 40) {
        fprintf(stderr, "%s: '%s' is no number from 1 on\n", argv[0], argv[n]);
        exit(2);
    }
    return value;
}

/* Anonymous memory of so many bytes, at `place` unless NULL, with these flags too. Exits with 3
   where there is none. */
static inline volatile uint64_t *memory(const char *name, void *place, size_t bytes, int more)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED_NOREPLACE : 0) | more;
    /* anonymous memory has no file */
    /* cppcheck-suppress invalidFunctionArg */
    void *p = mmap(place, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

    if (p == MAP_FAILED || (place && p != place)) {
        fprintf(stderr, "%s: no memory of %zu bytes%s\n", name, bytes,
                more & MAP_HUGETLB ? " in huge pages: see /proc/sys/vm/nr_hugepages" : "");
        exit(3);
    }
    return p;
}

#endif
