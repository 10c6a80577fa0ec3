/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions of the program and its libraries allocate and release memory: by the symbols in
 * their files. Valgrind's own tables hold those of the section .text alone, and tcmalloc has its
 * functions in another.
 */
#include "pub_tool_basics.h"
#include "tool.h"

#include <elf.h>

static const struct {
    const HChar *name;
    enum cf_allocator kind;
} functions[] = {
    {"malloc", CF_ALLOCATOR_MALLOC},
    {"calloc", CF_ALLOCATOR_CALLOC},
    {"realloc", CF_ALLOCATOR_REALLOC},
    {"reallocarray", CF_ALLOCATOR_REALLOCARRAY},
    {"memalign", CF_ALLOCATOR_MEMALIGN},
    {"aligned_alloc", CF_ALLOCATOR_MEMALIGN},
    {"posix_memalign", CF_ALLOCATOR_POSIX_MEMALIGN},
    {"valloc", CF_ALLOCATOR_MALLOC},
    {"pvalloc", CF_ALLOCATOR_MALLOC},
    {"free", CF_ALLOCATOR_FREE},
    {"cfree", CF_ALLOCATOR_FREE},
    {"free_sized", CF_ALLOCATOR_FREE},
    {"free_aligned_sized", CF_ALLOCATOR_FREE},
    /* of jemalloc and tcmalloc */
    {"mallocx", CF_ALLOCATOR_MALLOC},
    {"rallocx", CF_ALLOCATOR_REALLOC},
    {"dallocx", CF_ALLOCATOR_FREE},
    {"sdallocx", CF_ALLOCATOR_FREE},
    {"malloc_skip_new_handler", CF_ALLOCATOR_MALLOC},
};

/* The code of a file where it is mapped. The same in the same place has the same functions. */
struct code {
    Addr start;
    ULong device, inode, offset;
    Bool exports; /* it is a library */
    UInt count;
    struct {
        Addr address;
        enum cf_allocator kind;
    } * functions;
};
static struct code *codes;
static UInt n_codes, last_code;

static Bool starts(const HChar **name, const HChar *with)
{
    SizeT length = VG_(strlen)(with);

    if (VG_(strncmp)(*name, with, length) != 0)
        return False;
    *name += length;
    return True;
}

/* The replaceable operators; placement ones, which begin alike, neither allocate nor release. */
static enum cf_allocator kind_of_operator(const HChar *name)
{
    enum cf_allocator kind;

    if (starts(&name, "_Znwm") || starts(&name, "_Znam")) {
        kind = CF_ALLOCATOR_MALLOC;
    } else if (starts(&name, "_ZdlPv") || starts(&name, "_ZdaPv")) {
        kind = CF_ALLOCATOR_FREE;
        starts(&name, "m");
    } else {
        return CF_ALLOCATOR_NONE;
    }
    starts(&name, "St11align_val_t");
    starts(&name, "RKSt9nothrow_t");
    return *name && *name != '@' ? CF_ALLOCATOR_NONE : kind;
}

static enum cf_allocator kind_of(const HChar *name)
{
    static const HChar *const prefixes[] = {"__libc_", "tc_", "je_", "mi_"};
    UInt i;

    if (name[0] == '_' && name[1] == 'Z')
        return kind_of_operator(name);
    for (i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (starts(&name, prefixes[i]))
            break;
    for (i = 0; i < sizeof functions / sizeof *functions; i++) {
        const HChar *rest = name;

        if (*name == *functions[i].name && starts(&rest, functions[i].name) &&
            (!*rest || *rest == '@'))
            return functions[i].kind;
    }
    return CF_ALLOCATOR_NONE;
}

/* A part of a file, to be freed, with a zero behind it; NULL: there is no such part. */
static void *read_part(Int fd, ULong offset, ULong bytes)
{
    const Long length = VG_(fsize)(fd);
    HChar *part;

    if (length < 0 || offset > (ULong)length || bytes > (ULong)length - offset || bytes > 1 << 28 ||
        VG_(lseek)(fd, offset, VKI_SEEK_SET) != (OffT)offset)
        return NULL;
    part = VG_(malloc)("cftrace.allocators", bytes + 1);
    part[bytes] = 0;
    if (VG_(read)(fd, part, bytes) == (Int)bytes)
        return part;
    VG_(free)(part);
    return NULL;
}

static void take_symbols(struct code *c, const Elf64_Sym *symbols, ULong count, const HChar *names,
                         ULong room, Bool exported, const Elf64_Phdr *load)
{
    ULong i;

    for (i = 0; i < count; i++) {
        const Elf64_Sym *s = &symbols[i];
        enum cf_allocator kind;

        if (s->st_shndx == SHN_UNDEF || s->st_name >= room)
            continue;
        c->exports = c->exports || exported;
        if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_value - load->p_vaddr >= load->p_filesz)
            continue;
        kind = kind_of(names + s->st_name);
        if (!kind)
            continue;
        c->functions =
            VG_(realloc)("cftrace.allocators", c->functions, (c->count + 1) * sizeof *c->functions);
        c->functions[c->count].address =
            c->start + (s->st_value - load->p_vaddr) + (load->p_offset - c->offset);
        c->functions[c->count++].kind = kind;
    }
}

static void read_sections(struct code *c, Int fd, const Elf64_Ehdr *header, const Elf64_Phdr *load)
{
    const Elf64_Shdr *sections =
        header->e_shentsize == sizeof *sections
            ? read_part(fd, header->e_shoff, header->e_shnum * (ULong)sizeof *sections)
            : NULL;
    UInt i;

    for (i = 0; sections && i < header->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        const Elf64_Shdr *strings = s->sh_link < header->e_shnum ? &sections[s->sh_link] : NULL;
        Elf64_Sym *symbols;
        HChar *names;

        if ((s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM) || !strings)
            continue;
        symbols = read_part(fd, s->sh_offset, s->sh_size);
        names = read_part(fd, strings->sh_offset, strings->sh_size);
        if (symbols && names)
            take_symbols(c, symbols, s->sh_size / sizeof *symbols, names, strings->sh_size,
                         s->sh_type == SHT_DYNSYM, load);
        VG_(free)(symbols);
        VG_(free)(names);
    }
    VG_(free)((void *)sections);
}

/* The segment of the file that is mapped here says where its symbols are. */
static void read_file(struct code *c, const HChar *name)
{
    SysRes file = VG_(open)(name, VKI_O_RDONLY, 0);
    const Int fd = sr_isError(file) ? -1 : (Int)sr_Res(file);
    Elf64_Ehdr *header = fd < 0 ? NULL : read_part(fd, 0, sizeof *header);
    Elf64_Phdr *segments = NULL;
    UInt i;

    if (header && VG_(memcmp)(header->e_ident, ELFMAG, SELFMAG) == 0 &&
        header->e_phentsize == sizeof *segments)
        segments = read_part(fd, header->e_phoff, header->e_phnum * (ULong)sizeof *segments);
    for (i = 0; segments && i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X) &&
            segments[i].p_offset + segments[i].p_filesz > c->offset &&
            VG_PGROUNDDN(segments[i].p_offset) <= c->offset) {
            read_sections(c, fd, header, &segments[i]);
            break;
        }
    VG_(free)(segments);
    VG_(free)(header);
    if (fd >= 0)
        VG_(close)(fd);
}

static const struct code *code_of(Addr pc)
{
    const NSegment *s = VG_(am_find_nsegment)(pc);
    const HChar *name = s && s->kind == SkFileC ? VG_(am_get_filename)(s) : NULL;
    struct code *c;
    UInt i;

    if (!name)
        return NULL;
    for (i = 0; i < n_codes; i++) {
        c = &codes[(last_code + i) % n_codes];
        if (c->start == s->start && c->offset == (ULong)s->offset && c->inode == s->ino &&
            c->device == s->dev) {
            last_code = c - codes;
            return c;
        }
    }
    codes = VG_(realloc)("cftrace.allocators", codes, (n_codes + 1) * sizeof *codes);
    last_code = n_codes++;
    c = &codes[last_code];
    VG_(memset)(c, 0, sizeof *c);
    c->start = s->start;
    c->offset = s->offset;
    c->device = s->dev;
    c->inode = s->ino;
    /* Those of Valgrind take the place of others, where it has them. */
    if (!VG_(strstr)(name, "/vgpreload_"))
        read_file(c, name);
    return c;
}

enum cf_allocator cf_allocators_entry(Addr pc)
{
    const struct code *c = code_of(pc);
    UInt i;

    for (i = 0; c && i < c->count; i++)
        if (c->functions[i].address == pc)
            return c->functions[i].kind;
    return CF_ALLOCATOR_NONE;
}

Bool cf_allocators_missing(Addr pc)
{
    const struct code *c = code_of(pc);

    /* What exports functions is the dynamic linker, which can be run as a program. */
    return !c || (!c->count && !c->exports);
}
