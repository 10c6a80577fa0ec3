/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_moved.c - source lines of an earlier recording as they stand in the present source: in the
 * keys of its ranking, line 120 of a file becomes 123 where three were inserted above it.
 *
 * Lines are known by their text, without blanks, where both texts are there. Else they keep their
 * numbers, and that is said, unless the file is the same: it has not changed since the program of
 * the earlier recording was linked, or both recordings are of one program.
 *
 * Memory: the names of files, the keys, and of two versions of one file 80 bytes a line.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters/parts/rank/rank.h"
#include "filters/engine/text/align.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_strings.h"

enum {
    MOST_BYTES = 1 << 26, /* of a source file */
    MOST_TAIL = 16        /* last components of a path that say which file it is */
};

/* Why lines keep their numbers. */
enum why { SAME, CHANGED, NO_TIME, NO_OLD, NO_NEW, NO_TEXT, WHYS };

static const char *const words[WHYS][2] = {
    [CHANGED] = {"has changed since the earlier recording, and its text of then is not there",
                 "--before-source-dir DIR says where it is as it was then, such as in a directory "
                 "by 'git worktree add DIR COMMIT'"},
    [NO_TIME] = {"may have changed since the earlier recording, which states no time",
                 "--before-source-dir DIR says where it is as it was then"},
    [NO_OLD] = {"its text of the earlier recording is not found",
                "--before-source-dir DIR says below which directory it is"},
    [NO_NEW] = {"not found", "--source-dir DIR says below which directory it is"},
    [NO_TEXT] = {"cannot be read, or is no source", "see that it is one"},
};

/* A file of the earlier recording. */
struct earlier {
    uint32_t now;    /* its number among those of the present one, 0: none */
    uint32_t *match; /* by line - 1: the present line, 0 = it is gone; NULL: numbers stay */
    size_t lines;
    int beyond; /* lines behind its end were counted */
};

struct moved {
    const struct rank *k;
    struct cf_sources *sources[2]; /* of the earlier and the present recording */
    struct cf_strings *name[2];
    uint32_t names[2];    /* how many */
    struct earlier *file; /* by number, from 1 */
    struct {
        const char *name;
        size_t files;
    } kept[WHYS];
    const struct cf_rank_key *was; /* the keys as they were, */
    struct cf_rank_key *key;       /* and as they are now */
};

int rank_has_lines(enum cf_rank_by by)
{
    return by == CF_RANK_SOURCE || by == CF_RANK_SITE;
}

/* ---- places in a text ---- */

/* "FILE:LINE", which a source is, and of a site "F FILE:LINE < G FILE:LINE" the last word of each
   part. */
struct place {
    const char *at, *end, *next; /* next: where to look for the next one, NULL: there is none */
    size_t name;                 /* bytes of the file's name */
    uint64_t line;
};

static int next_place(enum cf_rank_by by, struct place *p)
{
    while (p->next) {
        const char *stop = by == CF_RANK_SITE ? strstr(p->next, " < ") : NULL;

        p->at = p->next;
        p->end = stop ? stop : p->at + strlen(p->at);
        p->next = stop ? stop + 3 : NULL;
        for (const char *c = p->at; by == CF_RANK_SITE && c < p->end; c++)
            if (*c == ' ')
                p->at = c + 1;
        p->line = cf_source_line(p->at, (size_t)(p->end - p->at), &p->name);
        if (p->line)
            return 1;
    }
    return 0;
}

static uint32_t number_of(const struct moved *m, struct cf_strings *s, const char *text, size_t n)
{
    int fresh;
    const uint32_t number = cf_strings_number(s, text, n, &fresh);

    if (!number)
        cf_out_of_memory(m->k->tool);
    return number;
}

/* The names of files in the keys of a ranking. */
static void collect(const struct moved *m, const struct cf_ranked *r, struct cf_strings *names)
{
    const struct cf_ranking *c = &m->k->c;

    for (size_t i = 0; i < r->count; i++)
        for (unsigned part = 0; part < c->keys; part++) {
            struct place p = {.next = r->item[i].key[part].text};

            while (rank_has_lines(c->by[part]) && next_place(c->by[part], &p))
                (void)number_of(m, names, p.at, p.name);
        }
}

/* ---- which file is which ---- */

/* The last components of a path; NULL: it has fewer. */
static const char *tail(const char *path, unsigned parts)
{
    const char *at = path + strlen(path);

    while (at > path && parts) {
        at--;
        parts -= *at == '/';
    }
    return parts > 1 ? NULL : at + (*at == '/');
}

/* Pairs the files that are left, of which each recording has one with such a tail. */
static void pair_tails(struct moved *m, unsigned parts, uint8_t *taken)
{
    const uint32_t olds = m->names[0], news = m->names[1];
    struct cf_strings *tails = cf_need(m->k->tool, cf_strings_new());
    struct {
        uint32_t old, now, olds, news;
    } *of = cf_need(m->k->tool, calloc((size_t)olds + news + 1, sizeof *of));

    for (uint32_t i = 1; i <= olds + news; i++) {
        const int now = i > olds;
        const char *t = tail(cf_strings_text(m->name[now], now ? i - olds : i), parts);
        const uint32_t n = t ? number_of(m, tails, t, strlen(t)) : 0;

        if (n && !now && !m->file[i].now) {
            of[n].old = i;
            of[n].olds++;
        } else if (n && now && !taken[i - olds]) {
            of[n].now = i - olds;
            of[n].news++;
        }
    }
    for (uint32_t n = 1; n <= cf_strings_count(tails); n++)
        if (of[n].olds == 1 && of[n].news == 1) {
            m->file[of[n].old].now = of[n].now;
            taken[of[n].now] = 1;
        }
    cf_strings_free(tails);
    free(of);
}

/* Those of one name, then those of which most of the path is the same. */
static void pair_files(struct moved *m)
{
    uint8_t *taken = cf_need(m->k->tool, calloc((size_t)m->names[1] + 1, 1));

    for (uint32_t i = 1; i <= m->names[0]; i++) {
        const char *name = cf_strings_text(m->name[0], i);
        const uint32_t now = number_of(m, m->name[1], name, strlen(name));

        if (now <= m->names[1])
            taken[m->file[i].now = now] = 1;
    }
    for (unsigned parts = MOST_TAIL; parts; parts--)
        pair_tails(m, parts, taken);
    free(taken);
}

/* ---- which line is which ---- */

struct text {
    uint32_t *line; /* numbers in `texts` */
    size_t lines, room;
};

/* The lines of a file, without blanks: one that was only indented is the same. -1: it has none. */
static int read_text(const struct moved *m, const char *path, struct cf_strings *texts,
                     struct text *t)
{
    const int fd = cf_source_open(path);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    struct stat st;
    char *line = NULL;
    size_t size = 0;
    ssize_t got;
    int bad = !in || fstat(fd, &st) != 0 || st.st_size > MOST_BYTES;

    while (!bad && (got = getline(&line, &size, in)) >= 0) {
        size_t n = 0;

        for (ssize_t i = 0; i < got; i++)
            if (!isspace((unsigned char)line[i]))
                line[n++] = line[i];
        bad = t->lines >= MOST_BYTES || memchr(line, '\0', n) != NULL;
        cf_must(m->k->tool, cf_array_room(&t->line, &t->room, t->lines + 1, sizeof *t->line));
        t->line[t->lines++] = number_of(m, texts, line, n);
    }
    bad |= in && ferror(in);
    free(line);
    if (in)
        (void)fclose(in);
    else if (fd >= 0)
        close(fd);
    return bad ? -1 : 0;
}

/* By their texts; 0 where one has none. */
static int match_texts(const struct moved *m, struct earlier *e, const char *old, const char *now)
{
    struct cf_strings *texts = cf_need(m->k->tool, cf_strings_new());
    struct text t[2] = {{.line = NULL}, {.line = NULL}};
    const int good = read_text(m, old, texts, &t[0]) == 0 && read_text(m, now, texts, &t[1]) == 0;

    if (good) {
        e->lines = t[0].lines;
        e->match = cf_need(m->k->tool, calloc(t[0].lines + 1, sizeof *e->match));
        cf_must(m->k->tool, cf_align(t[0].line, t[0].lines, t[1].line, t[1].lines,
                                     cf_strings_count(texts), e->match));
    }
    cf_strings_free(texts);
    free(t[0].line);
    free(t[1].line);
    return good;
}

/* Finds both texts of a file, and matches their lines. */
static enum why match_file(struct moved *m, struct earlier *e, const char *old, const char *now)
{
    struct cf_source was, is;

    if (!strcmp(old, now) && cf_sources_agree(m->sources[0], m->sources[1], old))
        return SAME;
    was = cf_sources_find(m->sources[0], old);
    is = cf_sources_find(m->sources[1], now);
    if (!is.path)
        return NO_NEW;
    (void)cf_sources_newer(m->sources[1], &is);
    if (!was.path)
        return NO_OLD;
    if (!was.below && cf_source_changed(&was))
        return CHANGED;
    if (cf_source_same(was.path, is.path))
        return was.limit || was.below ? SAME : NO_TIME;
    return match_texts(m, e, was.path, is.path) ? SAME : NO_TEXT;
}

static void match_files(struct moved *m)
{
    for (uint32_t i = 1; i <= m->names[0]; i++)
        if (m->file[i].now) {
            cf_sources_want(m->sources[0], cf_strings_text(m->name[0], i));
            cf_sources_want(m->sources[1], cf_strings_text(m->name[1], m->file[i].now));
        }
    cf_sources_look(m->sources[0]);
    cf_sources_look(m->sources[1]);
    for (uint32_t i = 1; i <= m->names[0]; i++) {
        struct earlier *e = &m->file[i];
        const char *old = cf_strings_text(m->name[0], i);
        const char *now = e->now ? cf_strings_text(m->name[1], e->now) : NULL;
        const enum why why = now ? match_file(m, e, old, now) : SAME;

        if (why != SAME && !m->kept[why].files++)
            m->kept[why].name = old;
        if (why != SAME && strcmp(old, now) != 0)
            e->now = 0; /* that it is the same file is not known either */
    }
}

/* ---- keys ---- */

/* The text of a key as it is now; NULL: a line of it is gone. */
static const char *translate(struct moved *m, enum cf_rank_by by, const char *text)
{
    struct place p = {.next = text};
    const char *done = text;
    char *new_text = NULL;
    size_t size;
    int gone = 0;
    FILE *out = cf_need(m->k->tool, open_memstream(&new_text, &size));

    while (next_place(by, &p)) {
        struct earlier *e = &m->file[number_of(m, m->name[0], p.at, p.name)];
        uint64_t line = p.line;

        if (!e->now)
            continue;
        if (e->match && line > e->lines)
            e->beyond = 1;
        if (e->match)
            line = line <= e->lines ? e->match[line - 1] : 0;
        gone |= !line;
        fwrite(done, 1, (size_t)(p.at - done), out);
        fprintf(out, "%s:%llu", cf_strings_text(m->name[1], e->now), (unsigned long long)line);
        done = p.end;
    }
    fputs(done, out);
    new_text = cf_need(m->k->tool, cf_memory_text(out, &new_text));
    text = !strcmp(new_text, text) ? text : cf_tool_text(m->k->tool, "%s", new_text);
    free(new_text);
    return gone ? NULL : text;
}

static void translate_keys(struct moved *m, struct cf_ranked *r)
{
    const struct cf_ranking *c = &m->k->c;

    m->was = r->keys;
    m->key = cf_tool_room(m->k->tool, r->count * c->keys + 1, sizeof *m->key);
    for (size_t i = 0; i < r->count * c->keys; i++) {
        const char *text = r->keys[i].text;

        m->key[i] = r->keys[i];
        if (!rank_has_lines(c->by[i % c->keys]))
            continue;
        m->key[i].text = translate(m, c->by[i % c->keys], text);
        if (!m->key[i].text) {
            m->key[i].text = text;
            m->key[i].b = RANK_GONE;
        }
    }
    for (size_t i = 0; i < r->count; i++)
        r->item[i].key = m->key + (r->item[i].key - m->was);
}

const struct cf_rank_key *rank_moved_from(const struct moved *m, const struct cf_rank_key *key)
{
    return m->was + (key - m->key);
}

static void remarks(const struct moved *m)
{
    for (int why = SAME + 1; why < WHYS; why++) {
        char more[64] = "";

        if (m->kept[why].files > 1)
            snprintf(more, sizeof more, " and %zu more files", m->kept[why].files - 1);
        if (m->kept[why].files)
            cf_warn(m->k->tool, "%s%s: %s, so lines that moved are not matched: %s",
                    m->kept[why].name, more, words[why][0], words[why][1]);
    }
    for (uint32_t i = 1; i <= m->names[0]; i++)
        if (m->file[i].beyond)
            cf_warn(m->k->tool,
                    "%s: its earlier text has only %zu lines, and lines behind these were counted: "
                    "is it the file that was compiled?",
                    cf_strings_text(m->name[0], i), m->file[i].lines);
    cf_sources_rest(m->sources[0]);
    cf_sources_rest(m->sources[1]);
}

struct moved *rank_moved(const struct rank *old, struct cf_ranked *before, const struct rank *k,
                         const struct cf_ranked *after)
{
    struct moved *m;

    if (!k->c.sources)
        return NULL;
    m = cf_tool_room(k->tool, 1, sizeof *m);
    m->k = k;
    m->sources[0] = old->c.sources;
    m->sources[1] = k->c.sources;
    for (int i = 0; i < 2; i++) {
        m->name[i] = cf_need(k->tool, cf_strings_new());
        collect(m, i ? after : before, m->name[i]);
        m->names[i] = cf_strings_count(m->name[i]);
    }
    m->file = cf_tool_room(k->tool, m->names[0] + (size_t)1, sizeof *m->file);
    pair_files(m);
    match_files(m);
    translate_keys(m, before);
    remarks(m);
    for (uint32_t i = 1; i <= m->names[0]; i++)
        free(m->file[i].match);
    cf_strings_free(m->name[0]);
    cf_strings_free(m->name[1]);
    return m;
}
