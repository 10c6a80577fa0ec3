/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * target.h - what an ELF file tells of the machine it was made for.
 */
#ifndef CF_QEMU_TARGET_H
#define CF_QEMU_TARGET_H

#include <stdint.h>

struct target {
    const char *arch;      /* as the emulator's name has it: qemu-ARCH; NULL: none that we know */
    const char *libraries; /* where Debian puts the C library for cross compilers, or NULL */
    unsigned machine;      /* as the file has it */
    int big_endian, bits;
    char interpreter[256]; /* its dynamic linker, "" for a static program */
};

struct target_segment {
    uint64_t offset, file_bytes; /* in the file */
    uint64_t address, bytes;     /* in memory */
    uint32_t perms;              /* enum cf_perms */
};

/* 0; -1 when the file cannot be read or is no ELF file: errno tells, ENOEXEC for the latter. */
int target_read(const char *path, struct target *t);

/* The i-th loadable segment: 1, or 0 when there is none; -1 when the system refused to read the
   file (cf_is_refusal()): errno tells. */
int target_segment(const char *path, unsigned i, struct target_segment *s);

/* Whether these bytes of a file are of a segment with code, as writable as `perms` says; -1
   as above. */
int target_executable(const char *path, uint64_t offset, uint64_t bytes, uint32_t perms);

/* Where Debian has the libraries of an architecture, or NULL. */
const char *target_libraries(const char *arch);

#endif
