/* SPDX-License-Identifier: BSD-2-Clause */
/* sources.c - see sources.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "filters/ranking/sources.h"
#include "formats/base/cf_memory.h"
#include "filters/engine/rows/counts.h"
#include "formats/files/cf_path.h"
#include "formats/base/cf_strings.h"

enum { WARNINGS = 10, ENOUGH = 2 /* last components of a path that say which file it is */ };

/* A row of table file. */
struct known {
    uint32_t source, path; /* string ids */
    uint64_t built;
    size_t next; /* of the same name, as chains have it */
};

/* A file below a directory that has a name that is looked for. */
struct candidate {
    char *path;
    int direct; /* in the directory itself */
    dev_t device;
    ino_t inode;
    size_t next; /* with the same last part */
};

/* The entries of an array that have the same text: the places of the first and last, from 1, where
   each says which is next; 0: none. */
struct chain {
    size_t first, last;
};

struct chains {
    struct cf_strings *texts;
    struct chain *chain; /* by number of the text */
    size_t room;
};

struct cf_sources {
    const struct cf_tool *tool;
    const struct cf_reader *reader;
    const char *option;
    const char *const *dir;
    unsigned dirs;
    uint64_t recorded;    /* the first input: seconds since 1970, 0 = not known */
    struct cf_counts *at; /* by name and path: place in `known`, from 1 */
    struct known *known;
    size_t count, room;
    struct chains names; /* of `known`, up to */
    size_t named;
    struct cf_strings *wanted; /* last parts of names that are looked for */
    struct candidate *candidate;
    size_t candidates, candidate_room;
    struct chains parts; /* of `candidate` */
    unsigned warned;
};

struct cf_sources *cf_sources_new(const struct cf_tool *t, const char *option,
                                  const char *const *dir, unsigned dirs)
{
    struct cf_sources *s = cf_tool_room(t, 1, sizeof *s);

    *s = (struct cf_sources){.tool = t, .option = option, .dir = dir, .dirs = dirs};
    s->at = cf_need(t, cf_counts_new());
    s->wanted = cf_need(t, cf_strings_new());
    s->names.texts = cf_need(t, cf_strings_new());
    s->parts.texts = cf_need(t, cf_strings_new());
    for (unsigned i = 0; i < dirs; i++)
        cf_parse_directory(t, option, dir[i]);
    return s;
}

void cf_sources_free(struct cf_sources *s)
{
    cf_counts_free(s->at);
    cf_strings_free(s->wanted);
    cf_strings_free(s->names.texts);
    cf_strings_free(s->parts.texts);
    free(s->names.chain);
    free(s->parts.chain);
    free(s->candidate);
    free(s->known);
}

static struct chain *chain_of(const struct cf_sources *s, struct chains *c, const char *text)
{
    int fresh;
    const uint32_t number = cf_strings_number(c->texts, text, strlen(text), &fresh);

    if (!number || cf_array_cleared(&c->chain, &c->room, number + (size_t)1, sizeof *c->chain) != 0)
        cf_out_of_memory(s->tool);
    return &c->chain[number];
}

/* The rows of a name. */
static size_t first_known(struct cf_sources *s, const char *name)
{
    for (; s->named < s->count; s->named++) {
        struct chain *c =
            chain_of(s, &s->names, cf_reader_text(s->reader, s->known[s->named].source));

        *(c->last ? &s->known[c->last - 1].next : &c->first) = s->named + 1;
        c->last = s->named + 1;
    }
    return chain_of(s, &s->names, name)->first;
}

void cf_sources_begin(struct cf_sources *s, struct cf_reader *r)
{
    s->reader = r;
    cf_reader_want_each(r, CF_FILE, CF_OPTIONAL, CF_SOURCE, CF_LABEL, CF_BUILT);
}

/* When the first of the inputs was recorded. */
static void take_header(struct cf_sources *s, const struct cf_header *h)
{
    const char *date = h->recorded[CF_RECORDED_DATE];
    struct tm tm = {0};
    time_t at;

    if (!date || !strptime(date, "%Y-%m-%dT%H:%M:%SZ", &tm))
        return;
    at = timegm(&tm);
    if (at > 0 && (!s->recorded || (uint64_t)at < s->recorded))
        s->recorded = (uint64_t)at;
}

void cf_sources_frame(struct cf_sources *s, const struct cf_frame *f)
{
    const uint32_t *source = cf_u32(f, CF_SOURCE), *path = cf_u32(f, CF_LABEL);
    const uint64_t *built = cf_u64(f, CF_BUILT);

    if (f->table == CF_HEADER)
        take_header(s, f->header);
    for (uint32_t i = 0; f->table == CF_FILE && source && path && i < f->rows; i++) {
        uint64_t *at = cf_need(s->tool, cf_counts_at(s->at, source[i], path[i]));
        const uint64_t when = built ? built[i] : 0;

        if (!*at) {
            cf_must(s->tool, cf_array_cleared(&s->known, &s->room, s->count + 1, sizeof *s->known));
            s->known[s->count++] = (struct known){source[i], path[i], when, 0};
            *at = s->count;
        }
        /* of several programs the first: what is newer than that one is another file for it */
        struct known *k = &s->known[*at - 1];
        k->built = when && (!k->built || when < k->built) ? when : k->built;
    }
}

uint64_t cf_source_line(const char *source, size_t length, size_t *name)
{
    const char *colon = memrchr(source, ':', length), *const end = source + length;
    uint64_t line = 0;

    *name = length;
    if (!colon || colon + 1 == end || end - colon > 20)
        return 0;
    for (const char *c = colon + 1; c < end; c++) {
        if (!isdigit((unsigned char)*c))
            return 0;
        line = 10 * line + (unsigned)(*c - '0');
    }
    *name = (size_t)(colon - source);
    return line;
}

int cf_source_open(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* ---- paths ---- */

static int is_file(const char *path, struct stat *st)
{
    return stat(path, st) == 0 && S_ISREG(st->st_mode);
}

int cf_source_same(const char *a, const char *b)
{
    struct stat x, y;

    return is_file(a, &x) && is_file(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- directories that the user names ---- */

/* Whether one of the first `wanted` names, which are looked for, is this one. */
static int is_wanted(struct cf_sources *s, const char *name, uint32_t wanted)
{
    int fresh;
    const uint32_t number = cf_strings_number(s->wanted, name, strlen(name), &fresh);

    if (!number)
        cf_out_of_memory(s->tool);
    return number <= wanted;
}

void cf_sources_want(struct cf_sources *s, const char *name)
{
    int fresh;

    name = cf_path_last(name);
    if (!cf_strings_number(s->wanted, name, strlen(name), &fresh))
        cf_out_of_memory(s->tool);
}

static void add_candidate(struct cf_sources *s, const FTSENT *e)
{
    struct stat st;
    struct chain *const c = chain_of(s, &s->parts, e->fts_name);

    if (!is_file(e->fts_accpath, &st))
        return;
    for (size_t i = c->first; i; i = s->candidate[i - 1].next)
        if (s->candidate[i - 1].device == st.st_dev && s->candidate[i - 1].inode == st.st_ino) {
            s->candidate[i - 1].direct |= e->fts_level == 1;
            return;
        }
    cf_must(s->tool, cf_array_cleared(&s->candidate, &s->candidate_room, s->candidates + 1,
                                      sizeof *s->candidate));
    s->candidate[s->candidates++] = (struct candidate){cf_tool_text(s->tool, "%s", e->fts_path),
                                                       e->fts_level == 1, st.st_dev, st.st_ino, 0};
    *(c->last ? &s->candidate[c->last - 1].next : &c->first) = s->candidates;
    c->last = s->candidates;
}

void cf_sources_look(struct cf_sources *s)
{
    const uint32_t wanted = cf_strings_count(s->wanted);
    char *dir[CF_SOURCE_DIRS + 1] = {NULL};
    FTSENT *e;
    FTS *tree;

    s->candidates = 0;
    cf_strings_clear(s->parts.texts);
    if (s->parts.room)
        memset(s->parts.chain, 0, s->parts.room * sizeof *s->parts.chain);
    if (!s->dirs)
        return;
    for (unsigned i = 0; i < s->dirs; i++) {
        dir[i] = realpath(s->dir[i], NULL);
        if (!dir[i])
            cf_die(s->tool, CF_EXIT_USAGE, "%s %s: %s", s->option, s->dir[i], strerror(errno));
    }
    tree = cf_need(s->tool, fts_open(dir, FTS_PHYSICAL | FTS_NOCHDIR, NULL));
    while ((e = fts_read(tree)))
        if ((e->fts_info == FTS_F || e->fts_info == FTS_SL) && is_wanted(s, e->fts_name, wanted))
            add_candidate(s, e);
    fts_close(tree);
    cf_strings_clear(s->wanted);
    for (unsigned i = 0; i < s->dirs; i++)
        free(dir[i]);
}

/* ---- one file ---- */

static char *normal(const struct cf_sources *s, const char *path)
{
    char *copy = cf_tool_text(s->tool, "%s", path);

    cf_path_normalise(copy);
    return copy;
}

/* Whether two paths are of one file. Those of files that are not here are by their texts. */
static int is_one(const struct cf_sources *s, const char *a, const char *b)
{
    struct stat st;

    return is_file(a, &st) && is_file(b, &st) ? cf_source_same(a, b)
                                              : !strcmp(normal(s, a), normal(s, b));
}

/* The path of a name; *built: when the first program was linked that has it. NULL: none is stated,
   or, where *other is not NULL, two. */
static const char *stated(struct cf_sources *s, const char *name, uint64_t *built,
                          const char **other)
{
    const char *path = NULL;

    *other = NULL;
    *built = 0;
    for (size_t i = first_known(s, name); i; i = s->known[i - 1].next) {
        const struct known *k = &s->known[i - 1];
        const char *here = cf_reader_text(s->reader, k->path);

        if (path && strcmp(path, here) && !is_one(s, path, here))
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
    const unsigned all = cf_path_parts(name), least = all < ENOUGH ? all : ENOUGH;
    unsigned parts = cf_path_common(c->path, name);

    if (path && cf_path_common(c->path, path) > parts)
        parts = cf_path_common(c->path, path);
    return parts >= least || c->direct ? parts + (parts == 0) : 0;
}

/* Of the directories, the file that fits best; *other: one that fits as well. */
static const char *below(struct cf_sources *s, const char *name, const char *path,
                         const char **other)
{
    const char *best = NULL;
    unsigned most = 0;

    *other = NULL;
    for (size_t i = chain_of(s, &s->parts, cf_path_last(name))->first; i;
         i = s->candidate[i - 1].next) {
        const struct candidate *c = &s->candidate[i - 1];
        const unsigned fits = fit(c, name, path);

        if (fits && fits == most)
            *other = c->path;
        if (fits > most) {
            most = fits;
            best = c->path;
            *other = NULL;
        }
    }
    return best;
}

/* From the working directory: the name, or the last components of it where the directory's own path
   ends with those before them. NULL: none. */
static char *from_here(const struct cf_sources *s, const char *name)
{
    char *here = realpath(".", NULL), *found = NULL;
    struct stat st;

    for (const char *at = name; here && *at && !found; at += strcspn(at, "/")) {
        at += strspn(at, "/");
        if (*at && *name != '/')
            found = cf_tool_text(s->tool, "%s/%s", here, at);
        if (found && (cf_path_common(found, name) < cf_path_parts(name) || !is_file(found, &st)))
            found = NULL;
    }
    free(here);
    return found;
}

/* Says it of the first files. */
static int is_first(struct cf_sources *s)
{
    return s->warned++ < WARNINGS;
}

struct cf_source cf_sources_find(struct cf_sources *s, const char *name)
{
    const char *other, *path, *best;
    struct cf_source found = {.path = NULL};
    char *whole, *wanted;
    uint64_t built;
    struct stat st;

    path = stated(s, name, &built, &other);
    if (other) {
        found.lack = "stands for several files";
        if (is_first(s))
            cf_warn(s->tool,
                    "%s: stands for %s and %s, whose lines are added up, and has no text: "
                    "'cf-resolve --path-parts 0' keeps files apart",
                    name, path, other);
        return found;
    }
    whole = path ? normal(s, path) : NULL;
    wanted = normal(s, name);
    best = below(s, wanted, whole, &other);
    if (other) {
        found.lack = "several files fit";
        if (is_first(s))
            cf_warn(s->tool, "%s: %s and %s both fit, so it has no text: name one by %s", name,
                    best, other, s->option);
        return found;
    }
    found.below = best != NULL;
    if (best)
        found.path = cf_tool_text(s->tool, "%s", best);
    else if (path && *path == '/' && is_file(path, &st))
        found.path = cf_tool_text(s->tool, "%s", path);
    else if (path && *path == '/' && is_file(whole, &st))
        found.path = cf_tool_text(s->tool, "%s", whole);
    else if (*name == '/' && is_file(name, &st))
        found.path = cf_tool_text(s->tool, "%s", name);
    else if (!whole || *whole == '/' || !(found.path = from_here(s, whole)))
        found.path = from_here(s, wanted);
    found.linked = built && (!s->recorded || built <= s->recorded);
    found.limit = found.linked ? built : s->recorded;
    if (!found.path && cf_path_parts(name))
        found.lack = "not found";
    return found;
}

int cf_source_changed(const struct cf_source *found)
{
    struct stat st;

    return found->limit && is_file(found->path, &st) && st.st_mtime > 0 &&
           (uint64_t)st.st_mtime > found->limit;
}

int cf_sources_newer(struct cf_sources *s, const struct cf_source *found)
{
    if (!cf_source_changed(found))
        return 0;
    if (is_first(s))
        cf_warn(s->tool, "%s: %s: its lines may have moved since", found->path,
                found->linked ? "newer than the program that was compiled from it"
                              : "newer than the recording");
    return 1;
}

void cf_sources_rest(const struct cf_sources *s)
{
    if (s->warned > WARNINGS)
        cf_warn(s->tool, "%u more files are not what was compiled, or not known",
                s->warned - WARNINGS);
}

/* Rows of a name in table file that `other` has, too, with a time; -1: one of them it has not. */
static int in_both(struct cf_sources *s, struct cf_sources *other, const char *name)
{
    int rows = 0;

    for (size_t i = first_known(s, name); i; i = s->known[i - 1].next) {
        const struct known *k = &s->known[i - 1];
        size_t at = first_known(other, name);

        while (at && (!k->built || k->built != other->known[at - 1].built ||
                      strcmp(cf_reader_text(other->reader, other->known[at - 1].path),
                             cf_reader_text(s->reader, k->path)) != 0))
            at = other->known[at - 1].next;
        if (!at)
            return -1;
        rows++;
    }
    return rows;
}

int cf_sources_agree(struct cf_sources *s, struct cf_sources *other, const char *name)
{
    const int rows = in_both(s, other, name);

    return rows > 0 && in_both(other, s, name) == rows;
}
