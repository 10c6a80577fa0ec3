/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * target.c - what ELF headers of any machine tell. See target.h.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "capture/base/cf_elf.h"
#include "target.h"
#include "formats/stream/cf.h"

static const struct {
    unsigned machine;
    int bits, big_endian;
    const char *arch, *libraries;
} known[] = {
    {EM_AARCH64, 64, 0, "aarch64", "/usr/aarch64-linux-gnu"},
    {EM_AARCH64, 64, 1, "aarch64_be", NULL},
    {EM_ARM, 32, 0, "arm", "/usr/arm-linux-gnueabihf"},
    {EM_ARM, 32, 1, "armeb", NULL},
    {EM_RISCV, 64, 0, "riscv64", "/usr/riscv64-linux-gnu"},
    {EM_RISCV, 32, 0, "riscv32", NULL},
    {EM_SPARC32PLUS, 32, 1, "sparc32plus", "/usr/sparc64-linux-gnu"},
    {EM_SPARC, 32, 1, "sparc", NULL},
    {EM_SPARCV9, 64, 1, "sparc64", "/usr/sparc64-linux-gnu"},
    {EM_X86_64, 64, 0, "x86_64", "/usr/x86_64-linux-gnu"},
    {EM_386, 32, 0, "i386", "/usr/i686-linux-gnu"},
    {EM_PPC, 32, 1, "ppc", "/usr/powerpc-linux-gnu"},
    {EM_PPC64, 64, 1, "ppc64", "/usr/powerpc64-linux-gnu"},
    {EM_PPC64, 64, 0, "ppc64le", "/usr/powerpc64le-linux-gnu"},
    {EM_S390, 64, 1, "s390x", "/usr/s390x-linux-gnu"},
    {EM_68K, 32, 1, "m68k", "/usr/m68k-linux-gnu"},
    {EM_ALPHA, 64, 0, "alpha", "/usr/alpha-linux-gnu"},
    {EM_PARISC, 32, 1, "hppa", "/usr/hppa-linux-gnu"},
};

int target_read(const char *path, struct target *t)
{
    struct cf_elf e;
    GElf_Phdr p;
    int result = 0;

    memset(t, 0, sizeof(*t));
    if (cf_elf_open(&e, path) != 0)
        return -1;
    t->machine = e.header.e_machine;
    t->bits = e.header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    t->big_endian = e.header.e_ident[EI_DATA] == ELFDATA2MSB;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].machine == t->machine && known[i].bits == t->bits &&
            known[i].big_endian == t->big_endian) {
            t->arch = known[i].arch;
            t->libraries = known[i].libraries;
        }
    for (size_t i = 0; i < e.segments; i++)
        if (gelf_getphdr(e.elf, (int)i, &p) && p.p_type == PT_INTERP &&
            p.p_filesz < sizeof(t->interpreter) &&
            pread(e.fd, t->interpreter, (size_t)p.p_filesz, (off_t)p.p_offset) < 0)
            result = -1;
    cf_elf_close(&e);
    return result;
}

int target_segment(const char *path, unsigned index, struct target_segment *s)
{
    struct cf_elf e;
    unsigned seen = 0;
    GElf_Phdr p;
    int found = 0;

    if (cf_elf_open(&e, path) != 0)
        return cf_is_refusal(errno) ? -1 : 0;
    for (size_t i = 0; i < e.segments && !found; i++)
        found = gelf_getphdr(e.elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_memsz > 0 &&
                seen++ == index;
    cf_elf_close(&e);
    if (found)
        *s = (struct target_segment){
            .offset = p.p_offset,
            .file_bytes = p.p_filesz,
            .address = p.p_vaddr,
            .bytes = p.p_memsz,
            .perms = (p.p_flags & PF_R ? CF_PERM_R : 0) | (p.p_flags & PF_W ? CF_PERM_W : 0) |
                     (p.p_flags & PF_X ? CF_PERM_X : 0),
        };
    return found;
}

int target_executable(const char *path, uint64_t offset, uint64_t bytes, uint32_t perms)
{
    struct target_segment s;
    int there;

    /* Whole pages are mapped, and the emulator's neighbouring mappings look like one. */
    for (unsigned i = 0; (there = target_segment(path, i, &s)) > 0; i++)
        if (s.perms & CF_PERM_X && !((s.perms ^ perms) & CF_PERM_W) && s.offset < offset + bytes &&
            offset < s.offset + s.file_bytes)
            return 1;
    return there;
}

const char *target_libraries(const char *arch)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i].arch, arch) == 0)
            return known[i].libraries;
    return NULL;
}
