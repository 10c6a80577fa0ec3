/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_elf.c - headers of ELF files. See cf_elf.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/base/cf_elf.h"
#include "formats/stream/cf.h"

int cf_elf_open(struct cf_elf *e, const char *path)
{
    struct stat st;
    GElf_Phdr p;

    e->elf = NULL;
    e->segments = 0;
    e->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (e->fd < 0)
        return -1;
    elf_version(EV_CURRENT);
    errno = 0;
    if (fstat(e->fd, &st) == 0 && S_ISREG(st.st_mode))
        e->elf = elf_begin(e->fd, ELF_C_READ, NULL);
    /* With its table of segments: libelf reads that when the first is asked for. */
    if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &e->header) ||
        ((elf_getphdrnum(e->elf, &e->segments) != 0 ||
          (e->segments && !gelf_getphdr(e->elf, 0, &p))) &&
         cf_is_refusal(errno))) {
        int why = cf_is_refusal(errno) ? errno : ENOEXEC;
        cf_elf_close(e);
        errno = why;
        return -1;
    }
    return 0;
}

void cf_elf_close(struct cf_elf *e)
{
    elf_end(e->elf);
    close(e->fd);
}

int cf_elf_foreign(const char *path)
{
    struct cf_elf its, ours;
    int foreign = 0;

    if (cf_elf_open(&its, path) != 0)
        return 0;
    if (cf_elf_open(&ours, "/proc/self/exe") == 0) {
        foreign = its.header.e_machine != ours.header.e_machine ||
                  memcmp(its.header.e_ident + EI_CLASS, ours.header.e_ident + EI_CLASS, 2) != 0;
        cf_elf_close(&ours);
    }
    cf_elf_close(&its);
    return foreign;
}

int cf_elf_static(const char *path)
{
    struct cf_elf e;
    GElf_Phdr p;
    int found = 0;

    if (cf_elf_open(&e, path) != 0)
        return 0;
    for (size_t i = 0; i < e.segments && !found; i++)
        found = gelf_getphdr(e.elf, (int)i, &p) && p.p_type == PT_INTERP;
    cf_elf_close(&e);
    return !found;
}
