/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_symbol.c - symbols by libelf, and where a file was loaded by its first mapping. See
 * watch_symbol.h.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/watch/watch_debug.h"
#include "capture/watch/watch_symbol.h"
#include "formats/stream/cf.h"

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
   indirect function, whose symbol is that of the code that chooses one, no variable of which each
   thread has its own, whose value is no address, no source file, no superseded version. */
static int counts(const GElf_Sym *s, Elf_Data *version, int i)
{
    const unsigned type = GELF_ST_TYPE(s->st_info);
    GElf_Versym v;

    return s->st_shndx != SHN_UNDEF && type != STT_GNU_IFUNC && type != STT_TLS &&
           type != STT_FILE && !(version && gelf_getversym(version, i, &v) && (v & 0x8000));
}

/* What is asked for, and what was found. */
struct wanted {
    const char *name;
    int libraries;
    unsigned places; /* that differ, up to CF_WATCH_SEVERAL */
    uint64_t addr[CF_WATCH_SEVERAL], in_file[CF_WATCH_SEVERAL], bytes; /* bytes: of the first */
    int refused;                                                       /* an errno, or 0 */
    char *list; /* of the files that have it, or NULL */
    size_t size;
};

/* A further word, where there is room. */
static void list_word(char *list, size_t size, const char *word)
{
    const size_t used = strlen(list);

    if (used + strlen(word) + 3 <= size)
        snprintf(list + used, size - used, "%s%s", used ? ", " : "", word);
}

static void note(struct wanted *w, uint64_t addr, uint64_t in_file, uint64_t bytes)
{
    for (unsigned i = 0; i < w->places; i++)
        if (w->addr[i] == addr)
            return; /* another table has it, too */
    if (w->places == CF_WATCH_SEVERAL)
        return;
    if (!w->places)
        w->bytes = bytes;
    w->in_file[w->places] = in_file;
    w->addr[w->places++] = addr;
}

static void in_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *h, uint64_t add, struct wanted *w)
{
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Data *version = h->sh_type == SHT_DYNSYM ? versions(elf) : NULL;
    const size_t count = data && h->sh_entsize ? h->sh_size / h->sh_entsize : 0;
    GElf_Sym s;

    for (size_t i = 0; i < count && i <= INT_MAX; i++) {
        const char *text;

        if (!gelf_getsym(data, (int)i, &s) || !counts(&s, version, (int)i))
            continue;
        text = elf_strptr(elf, h->sh_link, s.st_name);
        if (text && strcmp(text, w->name) == 0)
            note(w, s.st_value + add, s.st_value, s.st_size);
    }
}

/* The tables of a file, whose addresses lie so much higher in memory. 1: one of them is that of all
   symbols. */
static int in_tables(Elf *elf, uint64_t add, struct wanted *w)
{
    Elf_Scn *section = NULL;
    int all = 0;
    GElf_Shdr h;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (!gelf_getshdr(section, &h) || (h.sh_type != SHT_SYMTAB && h.sh_type != SHT_DYNSYM))
            continue;
        all |= h.sh_type == SHT_SYMTAB;
        in_table(elf, section, &h, add, w);
    }
    return all;
}

static void in_file(int fd, const struct mapped *m, struct wanted *w)
{
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    const unsigned before = w->places;
    uint64_t add;

    /* Of libraries what they export counts: ld.so has a memcpy() for itself alone. */
    if (elf && bias(elf, m, &add) == 0 && !in_tables(elf, add, w) && !w->libraries) {
        const int debug = cf_watch_debug_file(elf, fd, m->path);
        Elf *more = debug < 0 ? NULL : elf_begin(debug, ELF_C_READ, NULL);

        if (more)
            (void)in_tables(more, add, w);
        elf_end(more);
        if (debug >= 0)
            close(debug);
    }
    if (w->list && w->places > before)
        list_word(w->list, w->size, m->path);
    elf_end(elf);
}

/* Notes what the environment has refused since errno was 0. */
static void note_refusal(struct wanted *w)
{
    if (!w->refused && cf_is_refusal(errno))
        w->refused = errno;
    errno = 0;
}

/* Calls f with each file of the process's memory, those of the program itself or all others. In the
   end errno is what the environment refused of that, or 0. */
static void each_file(pid_t pid, int libraries,
                      void (*f)(int fd, const struct mapped *m, struct wanted *w), struct wanted *w)
{
    char path[PATH_MAX + 64], exe[PATH_MAX];
    struct mapped m = {.path = ""};
    FILE *maps;
    ssize_t n;

    errno = 0;
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    n = readlink(path, exe, sizeof exe - 1);
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    maps = fopen(path, "re");
    if (n <= 0 || !maps || elf_version(EV_CURRENT) == EV_NONE)
        n = 0;
    exe[n] = '\0';
    note_refusal(w);
    while (n && next_mapped(maps, &m)) {
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
        if (fd >= 0) {
            f(fd, &m, w);
            close(fd);
        }
        note_refusal(w);
    }
    note_refusal(w);
    if (maps)
        fclose(maps);
    errno = w->refused;
}

unsigned cf_watch_symbol(pid_t pid, const char *name, int libraries, uint64_t *addr,
                         uint64_t *bytes)
{
    struct wanted w = {.name = name, .libraries = libraries};

    each_file(pid, libraries, in_file, &w);
    if (w.places) {
        *addr = w.addr[0];
        *bytes = w.bytes;
    }
    return w.places;
}

void cf_watch_several(pid_t pid, const char *name, int libraries, char *list, size_t size)
{
    struct wanted w = {.name = name, .libraries = libraries};
    const int begun =
        snprintf(list, size, "%s", libraries ? "in " : "give the address of one, of ");
    char word[32];

    list += begun;
    size -= (size_t)begun;
    if (libraries) {
        w.list = list;
        w.size = size;
    }
    each_file(pid, libraries, in_file, &w);
    for (unsigned i = 0; !libraries && i < w.places; i++) {
        snprintf(word, sizeof word, "0x%" PRIx64, w.in_file[i]);
        list_word(list, size, word);
    }
}

static void bias_of(int fd, const struct mapped *m, struct wanted *w)
{
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

    if (elf && !w->places && bias(elf, m, &w->addr[0]) == 0)
        w->places = 1;
    elf_end(elf);
}

int cf_watch_bias(pid_t pid, uint64_t *value)
{
    struct wanted w = {.places = 0};

    each_file(pid, 0, bias_of, &w);
    *value = w.addr[0];
    return w.places ? 0 : -1;
}

uint64_t cf_watch_entry(pid_t pid)
{
    char path[64];
    uint64_t pair[2], entry = 0;
    FILE *f;

    errno = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", pid);
    f = fopen(path, "re");
    while (f && !entry && fread(pair, sizeof pair, 1, f) == 1 && pair[0] != AT_NULL)
        if (pair[0] == AT_ENTRY)
            entry = pair[1];
    if (f)
        fclose(f);
    return entry;
}
