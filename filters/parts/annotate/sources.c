/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sources.c - which file a name of column source is: one below --source-dir whose path ends as the
 * name does; else the path that table file states; else one that the name leads to from the working
 * directory. Where two files fit as well, none is taken.
 *
 * A file that was changed after the program was linked, or recorded, is not what was compiled: a
 * debugger's warning (GDB: "Source file is more recent than executable"), and ours.
 *
 * Memory: each distinct pair of name and path, and of the directories the paths that may be meant.
 */
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filters/parts/annotate/annotate.h"
#include "formats/base/cf_memory.h"
#include "filters/engine/rows/counts.h"

enum { WARNINGS = 10, ENOUGH = 2 /* last components of a path that say which file it is */ };

/* A row of table file. */
struct known {
    uint32_t source, path; /* string ids */
    uint64_t built;
};

/* A file below a directory that has a name that is looked for. */
struct candidate {
    char *path;
    int direct; /* in the directory itself */
    dev_t device;
    ino_t inode;
};

struct sources {
    const struct cf_tool *tool;
    struct cf_counts *at; /* by name and path: place in `known`, from 1 */
    struct known *known;
    size_t count, room;
    struct candidate *candidate;
    size_t candidates, candidate_room;
    unsigned warned;
};

struct sources *sources_new(const struct cf_tool *t)
{
    struct sources *s = cf_tool_room(t, 1, sizeof *s);

    s->tool = t;
    s->at = cf_need(t, cf_counts_new());
    return s;
}

void sources_free(struct sources *s)
{
    cf_counts_free(s->at);
    free(s->candidate);
    free(s->known);
}

void sources_take(struct sources *s, const struct cf_frame *f)
{
    const uint32_t *source = cf_u32(f, CF_SOURCE), *path = cf_u32(f, CF_LABEL);
    const uint64_t *built = cf_u64(f, CF_BUILT);

    for (uint32_t i = 0; source && path && i < f->rows; i++) {
        uint64_t *at = cf_need(s->tool, cf_counts_at(s->at, source[i], path[i]));
        const uint64_t when = built ? built[i] : 0;

        if (!*at) {
            cf_must(s->tool, cf_array_cleared(&s->known, &s->room, s->count + 1, sizeof *s->known));
            s->known[s->count++] = (struct known){source[i], path[i], when};
            *at = s->count;
        }
        /* of several programs the first: what is newer than that one is another file for it */
        struct known *k = &s->known[*at - 1];
        k->built = when && (!k->built || when < k->built) ? when : k->built;
    }
}

/* ---- paths ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The last components that two paths have in common. */
static unsigned in_common(const char *a, const char *b)
{
    const char *x = a + strlen(a), *y = b + strlen(b);
    unsigned parts = 0;

    while (x > a && y > b && x[-1] == y[-1]) {
        x--;
        y--;
        parts += *x == '/';
    }
    /* one begins amidst a component of the other */
    if ((x == a || x[-1] == '/') && (y == b || y[-1] == '/') && *x != '/')
        parts++;
    return parts;
}

/* Components of a name that say something. */
static unsigned parts_of(const char *name)
{
    unsigned parts = 0;

    while (*name) {
        const size_t n = strcspn(name, "/");

        parts += n > 0 && !(n == 1 && name[0] == '.');
        name += n + (name[n] == '/');
    }
    return parts;
}

static int is_file(const char *path, struct stat *st)
{
    return stat(path, st) == 0 && S_ISREG(st->st_mode);
}

static int same_inode(const char *a, const char *b)
{
    struct stat x, y;

    return is_file(a, &x) && is_file(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- directories that the user names ---- */

/* Whether a file that is looked for has this name. */
static int is_wanted(const struct annotate *a, const char *name)
{
    for (size_t i = 0; i < a->files; i++)
        if (a->file[i].wanted && !a->file[i].sought && !strcmp(last_part(a->file[i].name), name))
            return 1;
    return 0;
}

static void add_candidate(struct sources *s, const FTSENT *e)
{
    struct stat st;

    if (!is_file(e->fts_accpath, &st))
        return;
    for (size_t i = 0; i < s->candidates; i++)
        if (s->candidate[i].device == st.st_dev && s->candidate[i].inode == st.st_ino) {
            s->candidate[i].direct |= e->fts_level == 1;
            return;
        }
    cf_must(s->tool, cf_array_cleared(&s->candidate, &s->candidate_room, s->candidates + 1,
                                      sizeof *s->candidate));
    s->candidate[s->candidates++] = (struct candidate){cf_tool_text(s->tool, "%s", e->fts_path),
                                                       e->fts_level == 1, st.st_dev, st.st_ino};
}

/* Finds what has a name that is looked for below the directories. */
static void walk(struct annotate *a)
{
    struct sources *s = a->sources;
    char *dir[MOST_GLOBS + 1] = {NULL};
    FTSENT *e;
    FTS *tree;

    for (unsigned i = 0; i < a->o.dirs; i++) {
        dir[i] = realpath(a->o.dir[i], NULL);
        if (!dir[i])
            cf_die(a->tool, CF_EXIT_USAGE, "--source-dir %s: %s", a->o.dir[i], strerror(errno));
    }
    tree = cf_need(a->tool, fts_open(dir, FTS_PHYSICAL | FTS_NOCHDIR, NULL));
    while ((e = fts_read(tree)))
        if ((e->fts_info == FTS_F || e->fts_info == FTS_SL) && is_wanted(a, e->fts_name))
            add_candidate(s, e);
    fts_close(tree);
    for (unsigned i = 0; i < a->o.dirs; i++)
        free(dir[i]);
}

/* ---- one file ---- */

/* Says it of the first files, once each. */
static void complain(struct annotate *a, const char *name, const char *what, const char *more)
{
    if (a->sources->warned++ < WARNINGS)
        cf_warn(a->tool, "%s: %s%s", name, what, more);
}

static int is_known_as(const struct annotate *a, const struct known *k, const char *name)
{
    return !strcmp(cf_reader_text(a->c.reader, k->source), name);
}

/* The path of a name; *built: when the first program was linked that has it. NULL: none is stated,
   or, where *other is not NULL, two. */
static const char *stated(const struct annotate *a, const char *name, uint64_t *built,
                          const char **other)
{
    const struct sources *s = a->sources;
    const char *path = NULL;

    *other = NULL;
    *built = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct known *k = &s->known[i];
        const char *here;

        if (!is_known_as(a, k, name))
            continue;
        here = cf_reader_text(a->c.reader, k->path);
        if (path && strcmp(path, here) && !same_inode(path, here))
            *other = here;
        path = path ? path : here;
        if (k->built && (!*built || k->built < *built))
            *built = k->built;
    }
    return path;
}

/* How well a candidate fits; 0: not at all. */
static unsigned fit(const struct candidate *c, const char *name, const char *path)
{
    const unsigned all = parts_of(name), least = all < ENOUGH ? all : ENOUGH;
    unsigned parts = in_common(c->path, name);

    if (strcmp(last_part(c->path), last_part(name)))
        return 0;
    if (path && in_common(c->path, path) > parts)
        parts = in_common(c->path, path);
    return parts >= least || c->direct ? parts + (parts == 0) : 0;
}

/* Of the directories, the file that fits best; *other: one that fits as well. */
static const char *below(const struct annotate *a, const char *name, const char *path,
                         const char **other)
{
    const struct sources *s = a->sources;
    const char *best = NULL;
    unsigned most = 0;

    *other = NULL;
    for (size_t i = 0; i < s->candidates; i++) {
        const unsigned fits = fit(&s->candidate[i], name, path);

        if (fits && fits == most)
            *other = s->candidate[i].path;
        if (fits > most) {
            most = fits;
            best = s->candidate[i].path;
            *other = NULL;
        }
    }
    return best;
}

/* From the working directory: the name, or the last components of it where the directory's own path
   ends with those before them. NULL: none. */
static char *from_here(const struct annotate *a, const char *name)
{
    char *here = realpath(".", NULL), *found = NULL;
    struct stat st;

    for (const char *at = name; here && *at && !found; at += strcspn(at, "/")) {
        at += strspn(at, "/");
        if (*at && *name != '/')
            found = cf_tool_text(a->tool, "%s/%s", here, at);
        if (found && (in_common(found, name) < parts_of(name) || !is_file(found, &st)))
            found = NULL;
    }
    free(here);
    return found;
}

/* What was changed after it was compiled. */
static void check_time(struct annotate *a, const struct file *f, uint64_t built)
{
    struct stat st;
    const int linked = built && (!a->recorded || built <= a->recorded);
    const uint64_t limit = linked ? built : a->recorded;

    if (limit && is_file(f->path, &st) && st.st_mtime > 0 && (uint64_t)st.st_mtime > limit)
        complain(a, f->path,
                 linked ? "newer than the program that was compiled from it"
                        : "newer than the recording",
                 ": its lines may have moved since");
}

/* Sets path, or why there is none. */
static void find(struct annotate *a, struct file *f)
{
    const char *other, *path, *best;
    uint64_t built;
    struct stat st;

    f->sought = 1;
    path = stated(a, f->name, &built, &other);
    if (other) {
        f->lack = "stands for several files";
        if (a->sources->warned++ < WARNINGS)
            cf_warn(
                a->tool,
                "%s: stands for %s and %s, whose lines are added up, and has no text: 'cf-resolve "
                "--path-parts 0' keeps files apart",
                f->name, path, other);
        return;
    }
    best = below(a, f->name, path, &other);
    if (other) {
        f->lack = "several files fit";
        if (a->sources->warned++ < WARNINGS)
            cf_warn(a->tool, "%s: %s and %s both fit, so it has no text: name one by --source-dir",
                    f->name, best, other);
        return;
    }
    if (best)
        f->path = cf_tool_text(a->tool, "%s", best);
    else if (path && *path == '/' && is_file(path, &st))
        f->path = cf_tool_text(a->tool, "%s", path);
    else if (*f->name == '/' && is_file(f->name, &st))
        f->path = cf_tool_text(a->tool, "%s", f->name);
    else
        f->path = from_here(a, f->name);
    if (f->path)
        check_time(a, f, built);
    else if (parts_of(f->name))
        f->lack = "not found";
}

void sources_find(struct annotate *a)
{
    int any = 0;

    for (size_t i = 0; i < a->files; i++)
        any |= a->file[i].wanted && !a->file[i].sought;
    if (any && a->o.dirs)
        walk(a);
    for (size_t i = 0; i < a->files; i++)
        if (a->file[i].wanted && !a->file[i].sought)
            find(a, &a->file[i]);
    a->sources->candidates = 0;
}

void sources_remarks(const struct annotate *a)
{
    const struct file *first = NULL;
    size_t lost = 0;

    for (size_t i = 0; i < a->files; i++) {
        const struct file *f = &a->file[i];

        if (!f->sought || f->path || !f->lack || strcmp(f->lack, "not found") != 0)
            continue;
        first = first ? first : f;
        lost++;
    }
    if (a->sources->warned > WARNINGS)
        cf_warn(a->tool, "%u more files are not what was compiled, or not known",
                a->sources->warned - WARNINGS);
    if (lost == 1)
        cf_warn(a->tool,
                "%s: not found, so its lines have no text: --source-dir DIR says below "
                "which directory it is",
                first->name);
    else if (lost)
        cf_warn(a->tool,
                "%zu files, such as %s, were not found, so their lines have no text: "
                "--source-dir DIR says below which directory they are",
                lost, first->name);
}
