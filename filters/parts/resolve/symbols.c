/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.c - function, source line and variable at an address of an ELF file, by libdwfl.
 *
 * libdwfl reads the line tables of the file, or of the separate debug file that it finds. The
 * tables over them are ours, since libdw's own answers walk all symbols, or a whole compilation
 * unit, for each address, and need an index of addresses that not every compiler writes: symbols
 * sorted by address; compilation units by address; functions of a unit by address, made when the
 * unit is first asked for.
 */
#include <dlfcn.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/resolve/symbols_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

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
    free(s->unnamed.at);
    cf_intervals_free(s->variable_set);
    if (s->dwfl)
        dwfl_end(s->dwfl);
    free(s->debug_path);
    free(s->file);
    free(s->name);
    free(s->segments);
    free(s);
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

static uint32_t unwind_word(const char *at, int swap)
{
    uint32_t word;

    memcpy(&word, at, sizeof word);
    return swap ? __builtin_bswap32(word) : word;
}

/* Where functions begin that no symbol names, by the unwinder's table (Linux Standard Base 5.0,
   Core, 10.6.2). It is sorted, and refers to its own address with 32 bits in every program that a
   compiler for Linux makes. Where they end it does not say: see unnamed(). */
static void read_unwind_table(struct symbols *s)
{
    enum { HEAD = 12, ENTRY = 8, PCREL_SDATA4 = 0x1b, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };
    Dwarf_Addr bias;
    Elf *elf = s->debug_only ? NULL : dwfl_module_getelf(s->module, &bias);
    size_t headers;
    GElf_Phdr h = {0};

    if (!elf || elf_getphdrnum(elf, &headers) != 0)
        return;
    for (size_t i = 0; i < headers && h.p_type != PT_GNU_EH_FRAME; i++)
        if (!gelf_getphdr(elf, (int)i, &h))
            return;
    if (h.p_type != PT_GNU_EH_FRAME || h.p_filesz < HEAD)
        return;
    const Elf_Data *d = elf_getdata_rawchunk(elf, (int64_t)h.p_offset, h.p_filesz, ELF_T_BYTE);
    const unsigned char head[] = {1, PCREL_SDATA4, UDATA4, DATAREL_SDATA4};
    if (!d || memcmp(d->d_buf, head, sizeof head) != 0)
        return;
    const char *table = (const char *)d->d_buf + HEAD;
    const int swap = elf_getident(elf, NULL)[EI_DATA] !=
                     (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
    size_t count = (h.p_filesz - HEAD) / ENTRY, own = unwind_word(table - 4, swap);
    count = own < count ? own : count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t start = h.p_vaddr + (uint64_t)(int32_t)unwind_word(table + i * ENTRY, swap);
        const uint64_t end =
            i + 1 < count
                ? h.p_vaddr + (uint64_t)(int32_t)unwind_word(table + (i + 1) * ENTRY, swap)
                : symbols_end(s);
        if (start < end && end <= symbols_end(s))
            span_add(&s->unnamed, (struct span){.start = start, .end = end});
    }
    spans_disjoin(&s->unnamed);
}

/* "program+0x1040": the beginning of a function that no symbol names, if the unwinder knows the
   address; code that was written without a word for it belongs to no function before it. */
static const char *unnamed(struct symbols *s, uint64_t address)
{
    const struct span *f = span_find(&s->unnamed, address);
    Dwarf_Addr bias = 0;
    Dwarf_CFI *cfi = f ? dwfl_module_eh_cfi(s->module, &bias) : NULL;
    Dwarf_Frame *frame = NULL;
    char *name;

    if (!cfi || dwarf_cfi_addrframe(cfi, address + s->bias - bias, &frame) != 0)
        return NULL;
    free(frame);
    return asprintf(&name, "%s+0x%llx", s->name, (unsigned long long)f->start) < 0
               ? NULL
               : texts_keep(&s->recent, name);
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
    read_unwind_table(s);
    s->variable_set = cf_intervals_new(4);
    for (size_t i = 0; s->variable_set && i < s->variables.count; i++) {
        const struct span *v = &s->variables.at[i];
        cf_intervals_insert(s->variable_set, v->start, v->end - 1, (uint32_t)i, 0);
    }
    symbols_check(s);
}

/* By the C++ library where there is one: it is not linked, since only names of such programs need
   it, on machines that have it. */
const char *symbols_readable(struct symbols *s, const char *name)
{
    static char *(*demangle)(const char *, char *, size_t *, int *);
    static void *library; /* stays until the program ends */
    static int asked;
    const char *made;
    int status;

    if (!name || strncmp(name, "_Z", 2) != 0)
        return name;
    if (!asked) {
        library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        asked = 1;
        if (library)
            *(void **)&demangle = dlsym(library, "__cxa_demangle");
    }
    made = texts_keep(&s->recent, demangle ? demangle(name, NULL, NULL, &status) : NULL);
    return made ? made : name;
}

unsigned symbols_innermost(const struct place *places, unsigned count)
{
    unsigned i = 0;

    while (i + 1 < count && !places[i].function)
        i++;
    return i;
}

const char *symbols_around(struct symbols *s, const struct place *places, unsigned at,
                           unsigned count)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (unsigned i = count; out && i-- > at + 1;) {
        const char *name = symbols_readable(s, places[i].function);

        if (name && ftell(out) > 0)
            putc(';', out);
        for (; name && *name; name++)
            putc(*name == ';' || *name == '\n' ? ':' : *name, out);
    }
    return out && cf_memory_text(out, &text) ? texts_keep(&s->recent, text) : NULL;
}

uint32_t symbols_variable(struct symbols *s, struct cf_writer *w, uint64_t address, uint64_t key,
                          uint64_t *first, uint64_t *last)
{
    read_symbols(s);
    if (!s->variable_set)
        return 0;
    uint32_t slot = cf_intervals_find(s->variable_set, address, key);
    cf_intervals_around(s->variable_set, address, first, last);
    if (slot == 0)
        return 0;
    struct span *v = &s->variables.at[cf_intervals_slots(s->variable_set)[slot].value];
    if (!v->text) {
        symbols_begin();
        v->text = cf_writer_string(w, symbols_readable(s, v->name));
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
        places[count - 1].function = f ? f->name : unnamed(s, address);
    }
    return count;
}
