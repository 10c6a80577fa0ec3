/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.h - one ELF file: which function, source line and variable stand at an address of it.
 *
 * Comes in: the path that a mapping names, and addresses as the file counts them ("virtual address"
 * in its program headers). Goes out: names, which live as long as the file's struct, or until the
 * next question for places.
 *
 * Memory: the headers at once, symbol table and line tables when first asked for, by libdw; a table
 * of functions for each compilation unit that was asked for. Files come over a network only where
 * DEBUGINFOD_URLS names servers.
 */
#ifndef CF_RESOLVE_SYMBOLS_H
#define CF_RESOLVE_SYMBOLS_H

#include <stdint.h>

#include "formats/stream/cf.h"

/* Where files stand on this machine, and what is called for those that could not be read. */
struct where {
    const char *sysroot;   /* before every path, or NULL */
    const char *debug_dir; /* of separate debug files, absolute; NULL: /usr/lib/debug alone */
    int trust;             /* a path means its file, whatever build of it was recorded */
    /* Called once a file that is there, but which this machine refused to open or read (rights,
       descriptors, memory, a bad disk): names of it are missing. */
    void (*refused)(void *arg, const char *file, const char *why);
    /* Called once a file that is another build than was recorded, when a name of it is missing. */
    void (*changed)(void *arg, const char *file);
    /* The same of a file that is not there. */
    void (*missing)(void *arg, const char *file);
    /* The file of a part of split debug information (-gsplit-dwarf) that is not there, or is of
       another build, when code of it is asked for. */
    void (*part)(void *arg, const char *file);
    void *arg;
    __attribute__((noreturn)) void (*no_memory)(void); /* where libdw cannot go on */
};

/* One level of inlining. */
struct place {
    const char *function; /* NULL = unknown */
    const char *file;     /* absolute where the debug information allows it; NULL = unknown */
    unsigned line;
};

enum { MAX_PLACES = 32 };

struct symbols;

/* Why a file that is to be named has no symbols: none of these, or it is no program. */
enum lack { LACKS_NOTHING, OTHER_BUILD, NOT_FOUND };

/* The file of that path, or where it is not the build that was recorded (as cf_build.h has it, "":
   not known), one of that build from elsewhere. NULL when there is no ELF file that can be read
   here: where->refused() was called for one that might be, and *lack says what else is the reason.
   Only regular files are opened, since the path comes from a stream. `where` must last. */
struct symbols *symbols_open(const char *path, const char *build, const struct where *where,
                             enum lack *lack);
void symbols_close(struct symbols *s);

/* *bias = address in memory minus virtual address, of a mapping that begins at `start` with the
   byte `offset` of the file. A page of the file may belong to two segments and be mapped for each:
   the one that agrees with the bias of a neighbour (`near`, or NULL) is meant, else the one that
   agrees with the permissions (enum cf_perms). -1 if no segment holds the offset. */
int symbols_bias(const struct symbols *s, uint64_t start, uint64_t offset, unsigned perms,
                 const uint64_t *near, uint64_t *bias);

/* When the file was last written, as a rule by the linker: seconds since 1970. */
uint64_t symbols_built(const struct symbols *s);

/* First virtual address after the image in memory, zero-filled data included. */
uint64_t symbols_end(const struct symbols *s);

/* The places of an instruction: the innermost inlined function first, and last the function that
   really contains it, always; their number, 1 to MAX_PLACES. The texts last until the next call. */
unsigned symbols_places(struct symbols *s, uint64_t address, struct place *places);

/* "space::Class::member(int)" of a name as a C++ compiler makes it; other names, NULL too, as they
   are. The text lasts until the next call of symbols_places(). */
const char *symbols_readable(struct symbols *s, const char *name);

/* The innermost of these places whose function has a name; the last where none has. */
unsigned symbols_innermost(const struct place *places, unsigned count);

/* "main;outer": the functions around place `at`, the outermost first; NULL: there are none. A
   semicolon in a name is a colon. The text lasts until the next call of symbols_places(). */
const char *symbols_around(struct symbols *s, const struct place *places, unsigned at,
                           unsigned count);

/* String id of the name of the variable at the address, 0 if none. `w` is always the same.
   [*first, *last] around the address is narrowed to where the answer is the same. */
uint32_t symbols_variable(struct symbols *s, struct cf_writer *w, uint64_t address, uint64_t key,
                          uint64_t *first, uint64_t *last);

#endif
