/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_elf.h - the headers of an ELF file of any machine, by libelf.
 */
#ifndef CF_ELF_H
#define CF_ELF_H

#include <gelf.h>

struct cf_elf {
    int fd;
    Elf *elf;
    GElf_Ehdr header;
    size_t segments; /* program headers */
};

/* Opens a regular file; to be closed. 0; -1 when it cannot be read or is no ELF file: errno says
 * which, ENOEXEC for the latter. */
int cf_elf_open(struct cf_elf *e, const char *path);
void cf_elf_close(struct cf_elf *e);

/* Whether a program is an ELF file made for another machine, word size or byte order than ours. */
int cf_elf_foreign(const char *path);

/* Whether a program is an ELF file that needs no dynamic linker. */
int cf_elf_static(const char *path);

#endif
