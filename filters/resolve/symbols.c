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
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters/engine/intervals.h"
#include "filters/resolve/symbols.h"
#include "formats/cf.h"

struct segment {
    uint64_t offset, filesz, vaddr, memsz;
    unsigned perms;
};

/* A symbol, a function of a unit, or a unit: [start, end) of virtual addresses. */
struct span {
    uint64_t start, end;
    uint32_t rank; /* of equals the lowest is taken */
    uint32_t unit; /* index of the unit */
    uint32_t text; /* string id of a variable, 0 = not used yet */
    Dwarf_Off die; /* of the function */
    const char *name;
};

struct spans {
    struct span *at;
    size_t count, room;
};

struct unit {
    Dwarf_Die die, lines; /* where functions stand, where the line table does */
    struct spans functions;
    int read;
};

struct texts {
    char **at;
    size_t count, room;
};

struct symbols {
    struct segment *segments;
    unsigned segment_count;

    Dwfl *dwfl;
    Dwfl_Callbacks callbacks;
    char *debug_path;
    Dwfl_Module *module;
    Dwarf_Addr bias;       /* of libdwfl's addresses to virtual addresses */
    Dwarf_Addr debug_bias; /* of libdwfl's to those in the debug information */

    int symbols_read, units_read;
    struct spans functions, variables;
    struct cf_intervals *variable_set;
    struct spans stubs; /* sections of the procedure linkage table */

    struct unit *units;
    size_t unit_count, unit_room;
    struct spans unit_spans;

    struct texts kept;   /* names of symbols that had to be made */
    struct texts recent; /* what the last symbols_places() handed out */
};

static void *more(void *array, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return array;
    size_t wanted = *room ? *room * 2 : 16;
    void *p = realloc(array, wanted * size);

    if (p)
        *room = wanted;
    return p;
}

static void span_add(struct spans *s, struct span span)
{
    struct span *at = more(s->at, &s->room, s->count, sizeof *at);

    if (!at)
        return; /* without memory the address stays unresolved */
    s->at = at;
    s->at[s->count++] = span;
}

/* By start; of equal starts the better rank first, then the longer, then by name: never by chance.
 */
static int span_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->name && y->name)
        return strcmp(x->name, y->name);
    return x->die < y->die ? -1 : x->die > y->die;
}

static int sort_spans(struct spans *s)
{
    if (s->count)
        qsort(s->at, s->count, sizeof *s->at, span_order);
    return s->count > 0;
}

/* Sorts, and cuts and drops so that no two overlap. A symbol inside another wins its part of it if
   its rank is not worse. What is cut behind a nested one is not taken up again. */
static void disjoin(struct spans *s)
{
    size_t kept = 0;

    if (!sort_spans(s))
        return;
    for (size_t i = 0; i < s->count; i++) {
        struct span *before = kept ? &s->at[kept - 1] : NULL;
        if (before && s->at[i].start < before->end) {
            if (s->at[i].start == before->start || s->at[i].rank > before->rank)
                continue;
            before->end = s->at[i].start;
        }
        s->at[kept++] = s->at[i];
    }
    s->count = kept;
}

/* The last span that starts at or before the address and holds it. */
static const struct span *span_find(const struct spans *s, uint64_t address)
{
    size_t low = 0, high = s->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= s->at[low - 1].end)
        return NULL;
    return &s->at[low - 1];
}

static const char *keep(struct texts *t, char *text)
{
    char **at = text ? more(t->at, &t->room, t->count, sizeof *at) : NULL;

    if (!at) {
        free(text);
        return NULL;
    }
    t->at = at;
    return t->at[t->count++] = text;
}

static void forget(struct texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->at[i]);
    t->count = 0;
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
    struct symbols *s = calloc(1, sizeof *s);
    char *file = NULL;
    struct stat st;
    int fd = -1;

    if (s && asprintf(&file, "%s%s", where->sysroot ? where->sysroot : "", path) < 0)
        file = NULL;
    /* Asked for before it is opened, since opening a device or a FIFO may do things or wait. */
    if (file && stat(file, &st) == 0 && S_ISREG(st.st_mode))
        fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
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
        } else if (open_module(s, file, fd) < 0) {
            fd = -1; /* libdwfl or we have closed it */
        }
    }
    free(file);
    if (fd < 0) {
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
    forget(&s->kept);
    forget(&s->recent);
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
    const char *cut = keep(&s->kept, strndup(name, (size_t)(at - name)));
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

    if (!sort_spans(s))
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
    disjoin(&s->stubs);
}

static void read_symbols(struct symbols *s)
{
    if (s->symbols_read)
        return;
    s->symbols_read = 1;
    int count = dwfl_module_getsymtab(s->module);
    for (int i = 1; i < count; i++)
        read_symbol(s, i);
    disjoin_functions(&s->functions);
    disjoin(&s->variables);
    read_stubs(s);
    s->variable_set = cf_intervals_new(4);
    for (size_t i = 0; s->variable_set && i < s->variables.count; i++) {
        const struct span *v = &s->variables.at[i];
        cf_intervals_insert(s->variable_set, v->start, v->end - 1, (uint32_t)i, 0);
    }
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
    if (!v->text)
        v->text = cf_writer_string(w, v->name);
    return v->text;
}

/* ---- debug information ---- */

static void add_ranges(struct spans *to, Dwarf_Die *die, uint32_t unit, uint32_t rank)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        /* Functions that the linker has thrown away stand at 0. */
        if (start < end && start != 0)
            span_add(to, (struct span){.start = start,
                                       .end = end,
                                       .rank = rank,
                                       .unit = unit,
                                       .die = dwarf_dieoffset(die)});
    }
}

static void read_units(struct symbols *s)
{
    Dwarf_Die *cu = NULL;
    Dwarf_Addr bias;

    if (s->units_read)
        return;
    s->units_read = 1;
    if (!dwfl_module_getdwarf(s->module, &s->debug_bias))
        return;
    while ((cu = dwfl_module_nextcu(s->module, cu, &bias))) {
        struct unit *units = more(s->units, &s->unit_room, s->unit_count, sizeof *units);
        Dwarf_Die whole, split;
        uint8_t type;
        if (!units)
            return;
        s->units = units;
        struct unit *u = &s->units[s->unit_count];
        *u = (struct unit){.die = *cu, .lines = *cu};
        /* Of a split unit, the functions stand in a file of their own. */
        if (dwarf_cu_info(cu->cu, NULL, &type, &whole, &split, NULL, NULL, NULL) == 0 &&
            type == DW_UT_skeleton && split.addr)
            u->die = split;
        add_ranges(&s->unit_spans, &u->lines, (uint32_t)s->unit_count, 0);
        s->unit_count++;
    }
    disjoin(&s->unit_spans);
}

/* Functions stand at the top of a unit, in namespaces and in types. */
static void collect_functions(struct unit *u, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;

    if (depth > 64 || dwarf_child(parent, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            add_ranges(&u->functions, &die, 0, 0);
            break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
            collect_functions(u, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* The unit that holds the address of the debug information. */
static struct unit *unit_at(struct symbols *s, uint64_t address)
{
    const struct span *span = span_find(&s->unit_spans, address);

    if (!span)
        return NULL;
    struct unit *u = &s->units[span->unit];
    if (!u->read) {
        u->read = 1;
        collect_functions(u, &u->die, 0);
        disjoin(&u->functions);
    }
    return u;
}

/* The die that declares what `die` defines: of an inlined or separately defined function. */
static Dwarf_Die origin(Dwarf_Die die)
{
    for (int i = 0; i < 8; i++) {
        Dwarf_Attribute attr;
        Dwarf_Die to;
        if ((!dwarf_attr(&die, DW_AT_abstract_origin, &attr) &&
             !dwarf_attr(&die, DW_AT_specification, &attr)) ||
            !dwarf_formref_die(&attr, &to))
            break;
        die = to;
    }
    return die;
}

/* "space::class::function": C++ names without a demangler; of C, the name alone. */
static const char *function_name(struct symbols *s, Dwarf_Die die)
{
    Dwarf_Die at = origin(die), *scopes = NULL;
    const char *base = dwarf_diename(&at);
    char *name;

    if (!base)
        return NULL;
    int count = dwarf_getscopes_die(&at, &scopes);
    name = strdup(base);
    for (int i = 1; i < count && name; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_namespace && tag != DW_TAG_class_type && tag != DW_TAG_structure_type &&
            tag != DW_TAG_union_type)
            continue;
        const char *outer = dwarf_diename(&scopes[i]);
        char *longer = NULL;
        if (asprintf(&longer, "%s::%s", outer ? outer : "(anonymous)", name) < 0)
            longer = NULL;
        free(name);
        name = longer;
    }
    free(scopes);
    return keep(&s->recent, name);
}

/* Takes "." and ".." and doubled slashes out of an absolute path, in place. */
static void normalise(char *path)
{
    char *to = path, *from = path;

    while (*from) {
        while (*from == '/')
            from++;
        size_t n = strcspn(from, "/");
        if (n == 2 && from[0] == '.' && from[1] == '.') {
            while (to > path && *--to != '/')
                ;
        } else if (n && !(n == 1 && from[0] == '.')) {
            *to++ = '/';
            memmove(to, from, n);
            to += n;
        }
        from += n;
    }
    if (to == path)
        *to++ = '/';
    *to = '\0';
}

static const char *whole_path(struct symbols *s, struct unit *u, const char *file)
{
    Dwarf_Attribute attr;
    const char *dir = dwarf_formstring(dwarf_attr(&u->lines, DW_AT_comp_dir, &attr));
    char *path = NULL;

    if (file[0] == '/' || !dir || dir[0] != '/')
        path = strdup(file);
    else if (asprintf(&path, "%s/%s", dir, file) < 0)
        path = NULL;
    if (path && path[0] == '/')
        normalise(path);
    return keep(&s->recent, path);
}

/* The innermost inlined calls within `die` that hold the address, outermost first. */
static unsigned inlined(Dwarf_Die die, uint64_t address, Dwarf_Die *calls, unsigned most)
{
    unsigned found = 0;
    Dwarf_Die child;

    if (dwarf_child(&die, &child) != 0)
        return 0;
    while (found < most) {
        int tag = dwarf_tag(&child), down = 0;
        if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) {
            if (dwarf_haspc(&child, address) > 0) {
                if (tag == DW_TAG_inlined_subroutine)
                    calls[found++] = child;
                down = 1;
            }
        }
        Dwarf_Die next;
        if (down) {
            if (dwarf_child(&child, &next) != 0)
                break;
        } else if (dwarf_siblingof(&child, &next) != 0) {
            break;
        }
        child = next;
    }
    return found;
}

static unsigned number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;

    return dwarf_attr(die, name, &attr) && dwarf_formudata(&attr, &value) == 0 ? (unsigned)value
                                                                               : 0;
}

/* Turns the chain of calls into places: a place's line is in the function that stands there, so
   each call site belongs to the place around it. */
static unsigned unwind(struct symbols *s, struct unit *u, Dwarf_Die function, uint64_t address,
                       struct place *places)
{
    Dwarf_Die calls[MAX_PLACES];
    unsigned count = inlined(function, address, calls, MAX_PLACES - 1);
    Dwarf_Files *files = NULL;
    size_t file_count = 0;

    if (count && dwarf_getsrcfiles(&u->lines, &files, &file_count) != 0)
        file_count = 0;
    for (unsigned i = 0; i < count; i++) {
        Dwarf_Die *call = &calls[count - 1 - i];
        unsigned file = number(call, DW_AT_call_file);
        const char *name =
            file && file < file_count ? dwarf_filesrc(files, file, NULL, NULL) : NULL;
        places[i].function = function_name(s, *call);
        places[i + 1].file = name ? whole_path(s, u, name) : NULL;
        places[i + 1].line = number(call, DW_AT_call_line);
    }
    places[count].function = function_name(s, function);
    return count + 1;
}

unsigned symbols_places(struct symbols *s, uint64_t address, struct place *places)
{
    unsigned count = 1;

    memset(places, 0, MAX_PLACES * sizeof *places);
    forget(&s->recent);
    read_units(s);
    uint64_t in_debug = address + s->bias - s->debug_bias;
    struct unit *u = unit_at(s, in_debug);
    if (u) {
        const struct span *f = span_find(&u->functions, in_debug);
        Dwarf_Die die;
        if (f && dwarf_offdie(dwarf_cu_getdwarf(u->die.cu), f->die, &die))
            count = unwind(s, u, die, in_debug, places);
        Dwarf_Line *line = dwarf_getsrc_die(&u->lines, in_debug);
        const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
        int number = 0;
        if (file && dwarf_lineno(line, &number) == 0 && number > 0) {
            places[0].file = whole_path(s, u, file);
            places[0].line = (unsigned)number;
        }
    }
    if (!places[count - 1].function) {
        read_symbols(s);
        const struct span *f = span_find(&s->functions, address);
        if (!f)
            f = span_find(&s->stubs, address);
        places[count - 1].function = f ? f->name : NULL;
    }
    return count;
}
