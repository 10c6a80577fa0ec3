/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sources.h - which file on this machine a name of column source is: one below a directory that the
 * user names, whose path ends as the name does; else the path that table file states; else one to
 * which that path, where it is relative, or the name leads from the working directory. Where two
 * files fit as well, none is taken.
 *
 * Two paths that differ in nothing but ".", ".." and doubled slashes are of one file.
 *
 * A file that was changed after the program was linked, or recorded, is not what was compiled: a
 * debugger's warning (GDB: "Source file is more recent than executable"), and ours.
 *
 * Memory: each distinct pair of name and path, and of the directories the paths that may be meant.
 */
#ifndef CF_SOURCES_H
#define CF_SOURCES_H

#include "formats/program/cf_options.h"
#include "formats/program/cf_tool.h"

/* "FILE:LINE", so many bytes: the number, and those of the file's name; of what has no line 0, and
   all of it. */
uint64_t cf_source_line(const char *source, size_t length, size_t *name);

enum { CF_SOURCE_DIRS = 64 };

struct cf_sources;

struct cf_source {
    const char *path; /* NULL: not found */
    const char *lack; /* why, or NULL */
    int below;        /* a directory that the user named */
    int linked;       /* `limit` is when the program was linked, else when it was recorded */
    uint64_t limit; /* what has changed since is another text: seconds since 1970, 0 = not known */
};

/* `option` is the one that names the directories, in messages. Exits where one is none. */
struct cf_sources *cf_sources_new(const struct cf_tool *t, const char *option,
                                  const char *const *dir, unsigned dirs);
void cf_sources_free(struct cf_sources *s);
void cf_sources_begin(struct cf_sources *s, struct cf_reader *r);
/* Takes what a header and table file say. */
void cf_sources_frame(struct cf_sources *s, const struct cf_frame *f);

/* Looks below the directories for all names that were wanted so far, so that these need to be
   walked once. */
void cf_sources_want(struct cf_sources *s, const char *name);
void cf_sources_look(struct cf_sources *s);
/* The file of a name, which was wanted where there are directories. Warns where it may be several.
 */
struct cf_source cf_sources_find(struct cf_sources *s, const char *name);
/* Whether the file was changed after the program was linked or recorded; then warns of the first
   ones, and cf_sources_rest() of how many more there are. */
int cf_sources_newer(struct cf_sources *s, const struct cf_source *found);
void cf_sources_rest(const struct cf_sources *s);
/* The same without a word. */
int cf_source_changed(const struct cf_source *found);
/* Whether both say the same of files of this name: the programs that were compiled from them were
   linked at the same time. */
int cf_sources_agree(struct cf_sources *s, struct cf_sources *other, const char *name);

int cf_source_same(const char *path, const char *other);
/* Only regular files, since the path comes from a stream: no device is touched, nothing waited for.
   -1 with errno. */
int cf_source_open(const char *path);

/* ---- source_text.c ---- */

/* Hands the lines of a file to `line`, as they stand there but for their ends, until it returns
   another value than 0. Of a line 4,096 bytes are kept, and "..." then; a zero byte is a question
   mark. 1: `line` had enough, 0: the file ended before; -1 with errno, 0 where it is no text. */
int cf_source_read(const char *path, int (*line)(void *to, uint64_t number, const char *text),
                   void *to) CF_MUST_CHECK;
/* A text for people: tabs are blanks, and nothing commands a terminal. To be freed. */
char *cf_source_safe(const struct cf_tool *t, const char *text);

#endif
