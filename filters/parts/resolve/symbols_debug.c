/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols_debug.c - functions, inlined ones too, and source lines by debug information (see
 * symbols.c).
 *
 * Units are found by their ranges of addresses; functions of a unit are listed when it is first
 * asked for.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/files/cf_path.h"
#include "filters/parts/resolve/symbols_parts.h"

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
    Dwarf *dwarf = dwfl_module_getdwarf(s->module, &s->debug_bias);
    if (!dwarf)
        return;
    /* libdw's own would end the program with a status that says something else */
    dwarf_new_oom_handler(dwarf, s->where->no_memory);
    while ((cu = dwfl_module_nextcu(s->module, cu, &bias))) {
        Dwarf_Die whole, split;
        uint8_t type;
        /* What libdw hands out when it had no memory for all of it, it does not survive itself. */
        if (cf_array_room(&s->units, &s->unit_room, s->unit_count + 1, sizeof *s->units) != 0 ||
            errno == ENOMEM)
            s->where->no_memory();
        struct unit *u = &s->units[s->unit_count];
        *u = (struct unit){.die = *cu, .lines = *cu};
        /* Of a split unit, the functions stand in a file of their own. */
        if (dwarf_cu_info(cu->cu, NULL, &type, &whole, &split, NULL, NULL, NULL) == 0 &&
            type == DW_UT_skeleton) {
            u->lacks = !split.addr;
            if (split.addr)
                u->die = split;
        }
        add_ranges(&s->unit_spans, &u->lines, (uint32_t)s->unit_count, 0);
        s->unit_count++;
    }
    spans_disjoin(&s->unit_spans);
}

/* Functions stand at the top of a unit, in namespaces and in types, and with `nested` in functions
   and their blocks. */
static void collect_functions(struct unit *u, Dwarf_Die *parent, int nested, unsigned depth)
{
    Dwarf_Die die;

    if (depth > 64 || dwarf_child(parent, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            add_ranges(&u->functions, &die, 0, 0);
            /* fall through */
        case DW_TAG_lexical_block:
            if (nested)
                collect_functions(u, &die, nested, depth + 1);
            break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
            collect_functions(u, &die, nested, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* Whether functions of the unit's language may stand in functions: to find them, all that functions
   hold is looked through. */
static int has_nested(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case DW_LANG_Rust:
    case DW_LANG_Mips_Assembler:
        return 0;
    default:
        return 1;
    }
}

static void tell_part(struct symbols *s, Dwarf_Die *die)
{
    Dwarf_Attribute attr;

    if (!dwarf_attr(die, DW_AT_dwo_name, &attr) && !dwarf_attr(die, DW_AT_GNU_dwo_name, &attr))
        return;
    const char *part = dwarf_formstring(&attr);
    s->where->part(s->where->arg, part ? part : s->file);
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
        if (u->lacks)
            tell_part(s, &u->die);
        collect_functions(u, &u->die, has_nested(&u->die), 0);
        spans_disjoin(&u->functions);
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

/* Whether functions may stand in namespaces or types. Those of C never do, and to find what one
   stands in, libdw walks through its unit from the beginning. */
static int has_scopes(Dwarf_Die *die)
{
    Dwarf_Die cu;

    switch (dwarf_diecu(die, &cu, NULL, NULL) ? dwarf_srclang(&cu) : -1) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
        return 0;
    default:
        return 1;
    }
}

/* "space::class::function": C++ names without a demangler; of C, the name alone. */
static const char *function_name(struct symbols *s, Dwarf_Die die)
{
    Dwarf_Die at = origin(die), *scopes = NULL;
    const char *base = dwarf_diename(&at);
    char *name;

    if (!base)
        return NULL;
    int count = has_scopes(&at) ? dwarf_getscopes_die(&at, &scopes) : 0;
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
    return texts_keep(&s->recent, name);
}

/* libdw has put the unit's directory before names that are relative to it, but not before the
   directories of others. Either may be relative, as where a compiler was told to cut off paths. */
static const char *whole_path(struct symbols *s, struct unit *u, const char *file)
{
    Dwarf_Attribute attr;
    const char *dir = dwarf_formstring(dwarf_attr(&u->lines, DW_AT_comp_dir, &attr));
    const size_t n = dir ? strlen(dir) : 0;
    char *path = NULL;

    if (file[0] == '/' || !n || (!strncmp(file, dir, n) && file[n] == '/'))
        path = strdup(file);
    else if (asprintf(&path, "%s/%s", dir, file) < 0)
        path = NULL;
    if (path)
        cf_path_normalise(path);
    return texts_keep(&s->recent, path);
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

unsigned symbols_debug_places(struct symbols *s, uint64_t address, struct place *places)
{
    unsigned count = 1;

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
    return count;
}
