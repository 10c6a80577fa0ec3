/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.c - function, source line and variable at an address of an ELF file, by libdwfl.
 *
 * libdwfl finds the separate debug file (by build-id, by debug link) and reads the line tables. The
 * tables over them are ours, since libdw's own answers walk all symbols, or a whole compilation
 * unit, for each address, and need an index of addresses that not every compiler writes: symbols
 * sorted by address; compilation units by address; functions of a unit by address, made when the
 * unit is first asked for.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters/parts/resolve/symbols_parts.h"
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
    s->segments = calloc(count ? count : 1, sizeof *s->segments);
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
    s->callbacks = (Dwfl_Callbacks){
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &s->debug_path,
    };
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

struct symbols *symbols_open(const char *path, const struct where *where)
{
    struct symbols *s;
    struct stat st;
    int fd = -1;

    symbols_begin();
    s = calloc(1, sizeof *s);
    if (!s || asprintf(&s->file, "%s%s", where->sysroot ? where->sysroot : "", path) < 0) {
        free(s);
        where->refused(where->arg, path, strerrordesc_np(ENOMEM));
        return NULL;
    }
    s->where = where;
    /* Asked for before it is opened, since opening a device or a FIFO may do things or wait. */
    if (stat(s->file, &st) == 0 && S_ISREG(st.st_mode))
        fd = open(s->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 64)) {
        close(fd);
        fd = -1;
    }
    if (fd >= 0) {
        elf_version(EV_CURRENT);
        s->debug_path = debug_path(where);
        if (!s->debug_path || read_segments(s, fd) < 0) {
            close(fd);
            fd = -1;
        } else if (open_module(s, s->file, fd) < 0) {
            fd = -1; /* libdwfl or we have closed it */
        }
    }
    if (fd < 0) {
        symbols_check(s);
        symbols_close(s);
        return NULL;
    }
    return s;
}

void symbols_close(struct symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->unit_count; i++)
        free(s->units[i].functions.at);
    texts_forget(&s->kept);
    texts_forget(&s->recent);
    free(s->kept.at);
    free(s->recent.at);
    free(s->units);
    free(s->unit_spans.at);
    free(s->functions.at);
    free(s->variables.at);
    free(s->stubs.at);
    cf_intervals_free(s->variable_set);
    if (s->dwfl)
        dwfl_end(s->dwfl);
    free(s->debug_path);
    free(s->file);
    free(s->segments);
    free(s);
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

int symbols_bias(const struct symbols *s, uint64_t start, uint64_t offset, unsigned perms,
                 const uint64_t *near, uint64_t *bias)
{
    /* Recordings of other machines come with larger pages than this one's: 8 KiB on SPARC, 64 KiB
       on POWER. */
    for (uint64_t page = 4096; page <= 65536; page *= 2)
        if (bias_by_pages(s, page, start, offset, perms, near, bias) == 0)
            return 0;
    return -1;
}

uint64_t symbols_end(const struct symbols *s)
{
    uint64_t end = 0;

    for (unsigned i = 0; i < s->segment_count; i++)
        if (s->segments[i].vaddr + s->segments[i].memsz > end)
            end = s->segments[i].vaddr + s->segments[i].memsz;
    return end;
}

/* ---- symbol table ---- */

/* Sections by index are those of the file that the symbol came from; only what both files of a
   stripped pair have in common is asked: flags and addresses. */
static int in_code(Elf *elf, GElf_Word index, uint64_t *end)
{
    GElf_Shdr header;
    Elf_Scn *section = index < SHN_LORESERVE ? elf_getscn(elf, index) : NULL;

    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
        return 0;
    *end = header.sh_addr + header.sh_size;
    return 1;
}

/* Names of data symbols may carry "@VERSION". */
static const char *plain_name(struct symbols *s, const char *name)
{
    const char *at = strchr(name, '@');

    if (!at || at == name)
        return name;
    const char *cut = texts_keep(&s->kept, strndup(name, (size_t)(at - name)));
    return cut ? cut : name;
}

/* Functions that Valgrind puts in place of others: "_vgr10010ZU_LIBRARY_malloc" is malloc. The form
   with ZZ has coded the name too; it is left as it is. */
static const char *replaced_name(const char *name)
{
    const char *end;

    if ((strncmp(name, "_vgr", 4) != 0 && strncmp(name, "_vgw", 4) != 0) ||
        strspn(name + 4, "0123456789") != 5 || strncmp(name + 9, "ZU_", 3) != 0)
        return name;
    end = strchr(name + 12, '_');
    return end && end[1] ? end + 1 : name;
}

static void read_symbol(struct symbols *s, int i)
{
    GElf_Sym sym;
    GElf_Addr addr;
    GElf_Word index;
    Elf *elf = NULL;
    Dwarf_Addr elf_bias = 0;
    const char *name = dwfl_module_getsym_info(s->module, i, &sym, &addr, &index, &elf, &elf_bias);

    if (!name || !*name || index == SHN_UNDEF || !elf)
        return;
    /* Of names for one address: global, weak, local; fewer leading underscores are no criterion,
       the alphabet decides. */
    unsigned bind = GELF_ST_BIND(sym.st_info), type = GELF_ST_TYPE(sym.st_info);
    struct span span = {.start = addr - s->bias, .name = name};
    span.rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
    span.end = span.start + sym.st_size;
    if (span.end < span.start)
        return;
    if (type == STT_OBJECT || type == STT_COMMON) {
        if (sym.st_size == 0)
            return;
        span.name = plain_name(s, name);
        span_add(&s->variables, span);
        return;
    }
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return;
    uint64_t section_end = 0;
    if (!in_code(elf, index, &section_end))
        return;
    if (sym.st_size == 0) {
        /* Code in assembler often has labels without a size: each reaches to the next one. Labels
           that compilers and the ARM ABI make up ("$x", ".L3") are no names. */
        if (type == STT_NOTYPE && (name[0] == '$' || name[0] == '.' || bind == STB_LOCAL))
            return;
        span.end = section_end > span.start ? section_end : span.start;
        span.rank += 10;
    }
    if (type == STT_NOTYPE)
        span.rank += 20;
    span.name = replaced_name(name);
    if (span.end > span.start)
        span_add(&s->functions, span);
}

/* A function with a size ends the reach of a label before it, and gives way to none inside it;
   labels end each other. */
static void disjoin_functions(struct spans *s)
{
    size_t kept = 0;
    uint64_t covered = 0; /* up to here by a function with a size */

    if (!spans_sort(s))
        return;
    for (size_t i = 0; i < s->count; i++) {
        struct span f = s->at[i];
        struct span *before = kept ? &s->at[kept - 1] : NULL;
        if (f.rank >= 10 && f.start < covered)
            continue;
        if (before && f.start == before->start)
            continue;
        if (before && before->end > f.start)
            before->end = f.start;
        if (f.rank < 10 && f.end > covered)
            covered = f.end;
        s->at[kept++] = f;
    }
    s->count = kept;
}

static void read_stubs(struct symbols *s)
{
    Dwarf_Addr bias;
    Elf *elf = dwfl_module_getelf(s->module, &bias);
    size_t names;
    Elf_Scn *section = NULL;

    if (!elf || elf_getshdrstrndx(elf, &names) < 0)
        return;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr h;
        const char *name;
        if (!gelf_getshdr(section, &h) || !(h.sh_flags & SHF_EXECINSTR) ||
            !(name = elf_strptr(elf, names, h.sh_name)) || strncmp(name, ".plt", 4) != 0 ||
            h.sh_size == 0 || h.sh_addr + h.sh_size < h.sh_addr)
            continue;
        span_add(&s->stubs,
                 (struct span){.start = h.sh_addr, .end = h.sh_addr + h.sh_size, .name = "[plt]"});
    }
    spans_disjoin(&s->stubs);
}

static void read_symbols(struct symbols *s)
{
    if (s->symbols_read)
        return;
    s->symbols_read = 1;
    symbols_begin();
    int count = dwfl_module_getsymtab(s->module);
    for (int i = 1; i < count; i++)
        read_symbol(s, i);
    disjoin_functions(&s->functions);
    spans_disjoin(&s->variables);
    read_stubs(s);
    s->variable_set = cf_intervals_new(4);
    for (size_t i = 0; s->variable_set && i < s->variables.count; i++) {
        const struct span *v = &s->variables.at[i];
        cf_intervals_insert(s->variable_set, v->start, v->end - 1, (uint32_t)i, 0);
    }
    symbols_check(s);
}

/* "space::Class::member" of a name as a C++ compiler makes it, by the C++ library where there is
   one: it is not linked, since only names of such programs need it, on machines that have it. */
static const char *qualified_name(struct symbols *s, const char *name)
{
    static char *(*demangle)(const char *, char *, size_t *, int *);
    static void *library; /* stays until the program ends */
    static int asked;
    const char *made;
    int status;

    if (strncmp(name, "_Z", 2) != 0)
        return name;
    if (!asked) {
        library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        asked = 1;
        if (library)
            *(void **)&demangle = dlsym(library, "__cxa_demangle");
    }
    made = texts_keep(&s->kept, demangle ? demangle(name, NULL, NULL, &status) : NULL);
    return made ? made : name;
}

uint32_t symbols_variable(struct symbols *s, struct cf_writer *w, uint64_t address, uint64_t key)
{
    read_symbols(s);
    if (!s->variable_set)
        return 0;
    uint32_t slot = cf_intervals_find(s->variable_set, address, key);
    if (slot == 0)
        return 0;
    struct span *v = &s->variables.at[cf_intervals_slots(s->variable_set)[slot].value];
    if (!v->text) {
        symbols_begin();
        v->text = cf_writer_string(w, qualified_name(s, v->name));
        symbols_check(s);
    }
    return v->text;
}

unsigned symbols_places(struct symbols *s, uint64_t address, struct place *places)
{
    unsigned count;

    memset(places, 0, MAX_PLACES * sizeof *places);
    texts_forget(&s->recent);
    symbols_begin();
    count = symbols_debug_places(s, address, places);
    symbols_check(s);
    if (!places[count - 1].function) {
        read_symbols(s);
        const struct span *f = span_find(&s->functions, address);
        if (!f)
            f = span_find(&s->stubs, address);
        places[count - 1].function = f ? f->name : NULL;
    }
    return count;
}
