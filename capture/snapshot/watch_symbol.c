/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_symbol.c - symbols by libelf, and where a file was loaded by its first mapping. See
 * watch_symbol.h.
 */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/snapshot/watch_symbol.h"

/* A file in a process's memory: its path there, the first address of its first mapping, and the
   place in the file that stands there. */
struct mapped {
    char path[PATH_MAX];
    uint64_t start, offset;
};

/* The next file of an open /proc/PID/maps whose mappings begin here: 1, or 0 at the end. */
static int next_mapped(FILE *maps, struct mapped *m)
{
    char line[PATH_MAX + 128], last[PATH_MAX];

    snprintf(last, sizeof last, "%s", m->path);
    while (fgets(line, sizeof line, maps)) {
        const char *name = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        if (!name || strcmp(name, last) == 0 ||
            sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64, &m->start, &m->offset) != 2)
            continue;
        snprintf(m->path, sizeof m->path, "%s", name);
        return 1;
    }
    return 0;
}

/* What has to be added to addresses in the file. */
static int bias(Elf *elf, const struct mapped *m, uint64_t *value)
{
    const uint64_t offset = m->offset;
    size_t count;
    GElf_Phdr p;

    if (elf_getphdrnum(elf, &count) != 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && offset <= p.p_offset &&
            p.p_offset < offset + (p.p_align ? p.p_align : 1)) {
            *value = m->start - (p.p_vaddr - (p.p_offset - offset));
            return 0;
        }
    return -1;
}

/* The versions of the symbols of a dynamic table, or NULL. */
static Elf_Data *versions(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr h;

    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &h) && h.sh_type == SHT_GNU_versym)
            return elf_getdata(section, NULL);
    return NULL;
}

/* A symbol that stands for code or data which programs that are linked today would get: no
   indirect function, whose symbol is that of the code that chooses one, no superseded version. */
static int counts(const GElf_Sym *s, Elf_Data *version, int i)
{
    GElf_Versym v;

    return s->st_shndx != SHN_UNDEF && GELF_ST_TYPE(s->st_info) != STT_GNU_IFUNC &&
           !(version && gelf_getversym(version, i, &v) && (v & 0x8000));
}

static int in_table(Elf_Scn *section, const GElf_Shdr *h, Elf *elf, const char *name, GElf_Sym *s)
{
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Data *version = h->sh_type == SHT_DYNSYM ? versions(elf) : NULL;
    const size_t count = data && h->sh_entsize ? h->sh_size / h->sh_entsize : 0;

    for (size_t i = 0; i < count && i <= INT_MAX; i++) {
        const char *text;

        if (!gelf_getsym(data, (int)i, s) || !counts(s, version, (int)i))
            continue;
        text = elf_strptr(elf, h->sh_link, s->st_name);
        if (text && strcmp(text, name) == 0)
            return 1;
    }
    return 0;
}

static int in_file(int fd, const struct mapped *m, const char *name, uint64_t *addr,
                   uint64_t *bytes)
{
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Elf_Scn *section = NULL;
    int result = -1;
    GElf_Shdr h;
    GElf_Sym s;

    while (elf && result != 0 && (section = elf_nextscn(elf, section)) != NULL) {
        uint64_t add;

        if (!gelf_getshdr(section, &h) || (h.sh_type != SHT_SYMTAB && h.sh_type != SHT_DYNSYM) ||
            !in_table(section, &h, elf, name, &s) || bias(elf, m, &add) != 0)
            continue;
        *addr = s.st_value + add;
        *bytes = s.st_size;
        result = 0;
    }
    elf_end(elf);
    return result;
}

int cf_watch_symbol(pid_t pid, const char *name, int libraries, uint64_t *addr, uint64_t *bytes)
{
    char path[PATH_MAX + 64], exe[PATH_MAX];
    struct mapped m = {.path = ""};
    int result = -1;
    FILE *maps;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    n = readlink(path, exe, sizeof exe - 1);
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    maps = fopen(path, "re");
    if (n <= 0 || !maps || elf_version(EV_CURRENT) == EV_NONE)
        n = 0;
    exe[n] = '\0';
    while (n && result != 0 && next_mapped(maps, &m)) {
        const int itself = strcmp(m.path, exe) == 0;
        int fd;

        if (itself == libraries)
            continue;
        /* as the process sees it: it may have another root, and its program may be deleted */
        if (itself)
            snprintf(path, sizeof path, "/proc/%d/exe", pid);
        else
            snprintf(path, sizeof path, "/proc/%d/root%s", pid, m.path);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            continue;
        result = in_file(fd, &m, name, addr, bytes);
        close(fd);
    }
    if (maps)
        fclose(maps);
    return result;
}

uint64_t cf_watch_entry(pid_t pid)
{
    char path[64];
    uint64_t pair[2], entry = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/auxv", pid);
    f = fopen(path, "re");
    while (f && !entry && fread(pair, sizeof pair, 1, f) == 1 && pair[0] != AT_NULL)
        if (pair[0] == AT_ENTRY)
            entry = pair[1];
    if (f)
        fclose(f);
    return entry;
}
