/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols_parts.h - private to symbols.c, symbols_open.c, symbols_debug.c and symbols_tables.c. */
#ifndef SYMBOLS_PARTS_H
#define SYMBOLS_PARTS_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

#include "filters/engine/rows/intervals.h"
#include "filters/parts/resolve/symbols.h"

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
    int read, lacks; /* lacks: the functions' file was not found */
};

struct texts {
    char **at;
    size_t count, room;
};

struct symbols {
    const struct where *where;
    char *file;  /* as it was opened, or found */
    char *name;  /* the last component of the path that was asked for */
    int refused; /* where->refused() was called */
    uint64_t built;
    struct segment *segments;
    unsigned segment_count;
    int debug_only; /* a separate debug file: the offsets of its segments are not the program's */

    Dwfl *dwfl;
    Dwfl_Callbacks callbacks;
    char *debug_path;
    Dwfl_Module *module;
    Dwarf_Addr bias;       /* of libdwfl's addresses to virtual addresses */
    Dwarf_Addr debug_bias; /* of libdwfl's to those in the debug information */

    int symbols_read, units_read;
    struct spans functions, variables;
    struct cf_intervals *variable_set;
    struct spans stubs;   /* sections of the procedure linkage table */
    struct spans unnamed; /* functions without a symbol */

    struct unit *units;
    size_t unit_count, unit_room;
    struct spans unit_spans;

    struct texts kept;   /* names of symbols that had to be made */
    struct texts recent; /* what the last symbols_places() handed out */
};

/* ---- symbols_tables.c ---- */

/* Without memory the address stays unresolved. */
void span_add(struct spans *s, struct span span);

/* By start; 0 when there are none. */
int spans_sort(struct spans *s);

/* Sorts, and cuts and drops so that no two overlap. A symbol inside another wins its part of it if
   its rank is not worse. What is cut after a nested one is not taken up again. */
void spans_disjoin(struct spans *s);

/* The last span that starts at or before the address and holds it, NULL if none does. */
const struct span *span_find(const struct spans *s, uint64_t address);

/* Takes a text, which texts_forget() frees; NULL without memory. */
const char *texts_keep(struct texts *t, char *text);
void texts_forget(struct texts *t);

/* ---- symbols_open.c ---- */

/* Begins work for which symbols_check() will look whether this machine refused something. */
void symbols_begin(void);
void symbols_check(struct symbols *s);

/* ---- symbols_debug.c ---- */

/* What debug information has of an address: functions from the innermost inlined one out, and
   where each is; as symbols_places(), whose last function may lack. */
unsigned symbols_debug_places(struct symbols *s, uint64_t address, struct place *places);

#endif
