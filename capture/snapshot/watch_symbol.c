/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_symbol.c - symbols by libelf, and where the program was loaded by its first mapping. See
 * watch_symbol.h.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/snapshot/watch_symbol.h"

/* First address of the program's first mapping and its place in the file. */
static int first_mapping(pid_t pid, uint64_t *start, uint64_t *offset)
{
    char path[64], exe[PATH_MAX], line[PATH_MAX + 128];
    int found = -1;
    ssize_t n;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    n = readlink(path, exe, sizeof exe - 1);
    if (n <= 0)
        return -1;
    exe[n] = '\0';
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    f = fopen(path, "re");
    while (f && found != 0 && fgets(line, sizeof line, f)) {
        const char *name = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        if (name && strcmp(name, exe) == 0 &&
            sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64, start, offset) == 2)
            found = 0;
    }
    if (f)
        fclose(f);
    return found;
}

/* What has to be added to addresses in the file. */
static int bias(Elf *elf, pid_t pid, uint64_t *value)
{
    uint64_t start, offset;
    size_t count;
    GElf_Phdr p;

    if (first_mapping(pid, &start, &offset) != 0 || elf_getphdrnum(elf, &count) != 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && offset <= p.p_offset &&
            p.p_offset < offset + (p.p_align ? p.p_align : 1)) {
            *value = start - (p.p_vaddr - (p.p_offset - offset));
            return 0;
        }
    return -1;
}

static int in_table(Elf_Scn *section, const GElf_Shdr *h, Elf *elf, const char *name, GElf_Sym *s)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = data && h->sh_entsize ? h->sh_size / h->sh_entsize : 0;

    for (size_t i = 0; i < count && i <= INT_MAX; i++) {
        const char *text;

        if (!gelf_getsym(data, (int)i, s) || s->st_shndx == SHN_UNDEF)
            continue;
        text = elf_strptr(elf, h->sh_link, s->st_name);
        if (text && strcmp(text, name) == 0)
            return 1;
    }
    return 0;
}

int watch_symbol(pid_t pid, const char *name, uint64_t *addr, uint64_t *bytes)
{
    char path[64];
    int fd, result = -1;
    Elf_Scn *section = NULL;
    Elf *elf;
    GElf_Shdr h;
    GElf_Sym s;

    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
        return -1;
    elf = elf_begin(fd, ELF_C_READ, NULL);
    while (elf && result != 0 && (section = elf_nextscn(elf, section)) != NULL) {
        uint64_t add;

        if (!gelf_getshdr(section, &h) || (h.sh_type != SHT_SYMTAB && h.sh_type != SHT_DYNSYM) ||
            !in_table(section, &h, elf, name, &s) || bias(elf, pid, &add) != 0)
            continue;
        *addr = s.st_value + add;
        *bytes = s.st_size;
        result = 0;
    }
    elf_end(elf);
    close(fd);
    return result;
}
