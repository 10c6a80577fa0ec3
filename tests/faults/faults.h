/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults.h - what the driver and the library that it preloads share: one page of memory, in a file
 * that CF_FAULTS names. The driver sets kind, nth and pid; both count.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdint.h>
#include <sys/types.h>

enum fault_kind { FAULT_MALLOC, FAULT_OPEN, FAULT_READ, FAULT_WRITE, FAULT_CLOSE, FAULT_MMAP };

struct faults {
    uint32_t kind;
    uint64_t nth;     /* the call that fails, from 1 */
    uint64_t count;   /* calls of this kind so far */
    pid_t pid;        /* the process under test */
    uint32_t started; /* calls of what it starts fail, not its own */
    uint32_t armed;   /* set when the loader has done its work */
};

#endif
