/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols_open.c - the ELF file of a mapping: the one of that path if it is the build that was
 * recorded, else one of that build id wherever debug files are kept; and where it was in memory.
 *
 * libdwfl searches: by build id and by name below the directories of debug files, then the servers
 * of DEBUGINFOD_URLS, by libdebuginfod where that is installed, which it loads only when the
 * variable is set. The same search serves a file without debug information of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters/parts/resolve/symbols_parts.h"
#include "formats/program/cf_build.h"
#include "formats/stream/cf.h"

/* ---- what the machine refuses ---- */

/* libdw and libelf hand out neither errno nor a reason that differs from "has none", but
   leave errno as it was set when a call to the system failed. A file that is not there is no
   refusal: it was another machine's, or has gone. */
static int refusal(void)
{
    return cf_is_refusal(errno) || errno == EACCES || errno == EPERM || errno == ESTALE ? errno : 0;
}

void symbols_begin(void)
{
    errno = 0;
}

void symbols_check(struct symbols *s)
{
    int why = refusal();

    if (why && !s->refused)
        s->where->refused(s->where->arg, s->file, strerrordesc_np(why));
    s->refused |= why != 0;
}

/* ---- opening ---- */

/* Of a separate debug file: its sections of code are there in name only. */
static int has_no_code(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr h;
    int empty = 0;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &h) && h.sh_flags & SHF_EXECINSTR) {
            if (h.sh_type != SHT_NOBITS)
                return 0;
            empty = 1;
        }
    return empty;
}

static int read_segments(struct symbols *s, int fd)
{
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr header;
    size_t count = 0;

    if (!elf)
        return -1;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
        (header.e_type != ET_EXEC && header.e_type != ET_DYN) || elf_getphdrnum(elf, &count) < 0)
        count = 0;
    free(s->segments);
    s->segment_count = 0;
    s->segments = calloc(count ? count : 1, sizeof *s->segments);
    s->debug_only = has_no_code(elf);
    for (size_t i = 0; s->segments && i < count; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD)
            continue;
        s->segments[s->segment_count++] =
            (struct segment){p.p_offset, p.p_filesz, p.p_vaddr, p.p_memsz,
                             (p.p_flags & PF_R ? (unsigned)CF_PERM_R : 0) |
                                 (p.p_flags & PF_W ? (unsigned)CF_PERM_W : 0) |
                                 (p.p_flags & PF_X ? (unsigned)CF_PERM_X : 0)};
    }
    elf_end(elf);
    return s->segment_count ? 0 : -1;
}

/* libdwfl's search list: beside the file and in .debug beside it, then the directories. */
static char *debug_path(const struct where *w)
{
    char *path = NULL, *own = NULL, *root = NULL;

    if (w->debug_dir && asprintf(&own, ":%s", w->debug_dir) < 0)
        own = NULL;
    if (w->sysroot && asprintf(&root, ":%s/usr/lib/debug", w->sysroot) < 0)
        root = NULL;
    if (asprintf(&path, ":.debug%s%s:/usr/lib/debug", own ? own : "", root ? root : "") < 0)
        path = NULL;
    free(own);
    free(root);
    return path;
}

static int open_module(struct symbols *s, const char *path, int fd)
{
    s->dwfl = dwfl_begin(&s->callbacks);
    if (!s->dwfl) {
        close(fd);
        return -1;
    }
    dwfl_report_begin(s->dwfl);
    s->module = dwfl_report_offline(s->dwfl, path, path, fd);
    if (!s->module)
        close(fd);
    dwfl_report_end(s->dwfl, NULL, NULL);
    return s->module && dwfl_module_getelf(s->module, &s->bias) ? 0 : -1;
}

/* Asked for before it is opened, since opening a device or a FIFO may do things or wait. */
static int open_regular(const char *path)
{
    struct stat st;
    int fd = -1;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 64)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int is_build(int fd, const char *build)
{
    char now[CF_BUILD_TEXT];

    cf_build_read(fd, now);
    return cf_build_same(build, now);
}

/* libdwfl (0.188) closes descriptor 0, our input, where it has looked for a debug file. */
static void end_search(Dwfl *dwfl)
{
    const int keep = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

    dwfl_end(dwfl);
    if (keep < 0)
        return;
    dup2(keep, STDIN_FILENO);
    close(keep);
}

/* Whether a path may be handed to libdwfl, which opens what stands there as it is: no device or
   FIFO, and none that a kernel never names, which could lead to one. */
static int may_search(const char *path)
{
    struct stat st;

    return !strstr(path, "/../") && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

/* Opens what libdwfl finds for the build id, and takes its name: a separate debug file, or one of
   the program itself. What a server sends is looked at as well. */
static int find_build(struct symbols *s, const char *build)
{
    unsigned char id[CF_BUILD_ID_MOST];
    size_t bytes = cf_build_id(build, id);
    Dwfl *dwfl = bytes && may_search(s->file) ? dwfl_begin(&s->callbacks) : NULL;
    Dwfl_Module *module;
    char *found = NULL;
    Elf *elf = NULL;
    int fd = -1;

    if (!dwfl)
        return -1;
    dwfl_report_begin(dwfl);
    module = dwfl_report_module(dwfl, s->file, 0, 1);
    dwfl_report_end(dwfl, NULL, NULL);
    if (module && dwfl_module_report_build_id(module, id, bytes, 0) == 0) {
        fd = dwfl_standard_find_debuginfo(module, NULL, s->file, 0, s->file, NULL, 0, &found);
        if (fd < 0)
            fd = dwfl_build_id_find_elf(module, NULL, s->file, 0, &found, &elf);
    }
    elf_end(elf); /* the descriptor alone is taken */
    end_search(dwfl);
    if (fd >= 0 && !is_build(fd, build)) {
        close(fd);
        fd = -1;
    }
    if (fd >= 0 && found) {
        free(s->file);
        s->file = found;
        return fd;
    }
    free(found);
    return fd;
}

/* The file to take names from, or -1. `*lack`: what is one more reason to have none. */
static int open_build(struct symbols *s, const char *build, enum lack *lack)
{
    const int gone = access(s->file, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
    int fd = open_regular(s->file), right = fd < 0 || s->where->trust || !*build;
    unsigned char id[CF_BUILD_ID_MOST];

    if (gone)
        *lack = NOT_FOUND;
    if (fd >= 0 && !right && !is_build(fd, build)) {
        /* Data that a program works on changes, and has no names. */
        if (cf_build_id(build, id) > 0 || read_segments(s, fd) == 0)
            *lack = OTHER_BUILD;
        close(fd);
        fd = -1;
    }
    if (fd < 0 && !refusal()) {
        fd = find_build(s, build);
        errno = refusal();
    }
    return fd;
}

static uint64_t time_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_mtime > 0 ? (uint64_t)st.st_mtime : 0;
}

uint64_t symbols_built(const struct symbols *s)
{
    return s->built;
}

struct symbols *symbols_open(const char *path, const char *build, const struct where *where,
                             enum lack *lack)
{
    struct symbols *s;
    int fd;

    *lack = LACKS_NOTHING;
    symbols_begin();
    s = calloc(1, sizeof *s);
    if (!s || asprintf(&s->file, "%s%s", where->sysroot ? where->sysroot : "", path) < 0 ||
        !(s->name = strdup(strrchr(path, '/') ? strrchr(path, '/') + 1 : path))) {
        symbols_close(s);
        where->refused(where->arg, path, strerrordesc_np(ENOMEM));
        return NULL;
    }
    s->where = where;
    s->debug_path = debug_path(where);
    s->callbacks = (Dwfl_Callbacks){
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &s->debug_path,
    };
    elf_version(EV_CURRENT);
    fd = s->debug_path ? open_build(s, build, lack) : -1;
    s->built = fd >= 0 ? time_of(fd) : 0;
    if (fd >= 0 && read_segments(s, fd) < 0) {
        close(fd);
        fd = -1;
    } else if (fd >= 0 && open_module(s, s->file, fd) < 0) {
        fd = -1; /* libdwfl or we have closed it */
    }
    if (fd < 0) {
        symbols_check(s);
        symbols_close(s);
        return NULL;
    }
    *lack = LACKS_NOTHING;
    return s;
}

/* ---- in memory ---- */

uint64_t symbols_end(const struct symbols *s)
{
    uint64_t end = 0;

    for (unsigned i = 0; i < s->segment_count; i++)
        if (s->segments[i].vaddr + s->segments[i].memsz > end)
            end = s->segments[i].vaddr + s->segments[i].memsz;
    return end;
}

/* As symbols_bias(), for a system with pages of `page` bytes. */
static int bias_by_pages(const struct symbols *s, uint64_t page, uint64_t start, uint64_t offset,
                         unsigned perms, const uint64_t *near, uint64_t *bias)
{
    int best = -1;

    for (unsigned i = 0; i < s->segment_count; i++) {
        const struct segment *g = &s->segments[i];
        uint64_t first = g->offset & ~(page - 1);
        uint64_t end = (g->offset + g->filesz + page - 1) & ~(page - 1);
        if (offset < first || offset >= end)
            continue;
        uint64_t b = start - offset + g->offset - g->vaddr;
        int good = 4 * (near && b == *near) + 2 * !((g->perms ^ perms) & CF_PERM_X) +
                   !((g->perms ^ perms) & CF_PERM_W);
        if (good > best) {
            best = good;
            *bias = b;
        }
    }
    return best < 0 ? -1 : 0;
}

/* A separate debug file states where segments were in memory, but not where in the file. The first
   one has the file's header; the rest of an image has the bias of its neighbour. */
static int bias_of_image(const struct symbols *s, uint64_t start, uint64_t offset,
                         const uint64_t *near, uint64_t *bias)
{
    uint64_t first = s->segments[0].vaddr & ~(uint64_t)4095;

    *bias =
        near && start - *near >= first && start - *near < symbols_end(s) ? *near : start - first;
    return offset != 0 && (!near || *bias != *near) ? -1 : 0;
}

int symbols_bias(const struct symbols *s, uint64_t start, uint64_t offset, unsigned perms,
                 const uint64_t *near, uint64_t *bias)
{
    if (s->debug_only)
        return bias_of_image(s, start, offset, near, bias);
    /* Recordings of other machines come with larger pages than this one's: 8 KiB on SPARC, 64 KiB
       on POWER. */
    for (uint64_t page = 4096; page <= 65536; page *= 2)
        if (bias_by_pages(s, page, start, offset, perms, near, bias) == 0)
            return 0;
    return -1;
}
