/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source_text.c - the lines of a source file that are shown. The file may be anything: it is read
 * once from its begin, in pieces, as far as lines are needed; of each at most MOST_TEXT bytes are
 * kept. Lines end with LF or CR LF, and the last one where the file does. Memory: what is shown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filters/parts/annotate/annotate.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_text.h"

enum {
    PIECE = 1 << 16,
    LOOKED_AT = 8000 /* bytes in which a zero byte means no text, as in diff */
};

struct text {
    struct annotate *a;
    struct file *f;
    uint32_t context;
    uint64_t number; /* of the line that is being read, from 1 */
    size_t next;     /* counted line that is the next, */
    size_t edge;     /* and marked one that is the last before, or the first behind, or at */
    char kept[MOST_TEXT + 4];
    size_t used;
    int begun, long_; /* the line has bytes; some are not kept */
};

/* The first marked line from `i` on. */
static size_t marked(const struct file *f, size_t i)
{
    while (i < f->lines && !f->over[i])
        i++;
    return i;
}

/* Whether a line is shown: one that is marked stands near it. */
static int is_near(struct text *t)
{
    const struct file *f = t->f;

    for (; t->edge < f->lines; t->edge = marked(f, t->edge + 1)) {
        const uint64_t at = f->line[t->edge].number;

        if (at && t->number <= at)
            return at - t->number <= t->context;
        if (at && t->number - at <= t->context)
            return 1;
    }
    return 0;
}

static void show(struct text *t, uint64_t number, const uint64_t *sum, const char *words)
{
    struct file *f = t->f;
    struct shown *last = f->shown_lines ? &f->shown[f->shown_lines - 1] : NULL;
    const int gap = !last || number - last->number > 1;

    cf_must(t->a->tool, cf_array_room(&f->shown, &f->room, f->shown_lines + 1, sizeof *f->shown));
    f->shown[f->shown_lines++] =
        (struct shown){number, sum, words ? cf_need(t->a->tool, strdup(words)) : NULL, gap};
}

static void end_line(struct text *t)
{
    const struct file *f = t->f;

    if (is_near(t)) {
        while (t->next < f->lines && f->line[t->next].number < t->number)
            t->next++;
        if (!t->long_ && t->used && t->kept[t->used - 1] == '\r')
            t->used--;
        strcpy(t->kept + t->used, t->long_ ? "..." : "");
        show(t, t->number,
             t->next < f->lines && f->line[t->next].number == t->number ? f->line[t->next].sum
                                                                        : NULL,
             t->kept);
    }
    t->number++;
    t->used = 0;
    t->begun = t->long_ = 0;
}

/* Takes a piece of the file in. */
static void take(struct text *t, const char *bytes, size_t size)
{
    for (const char *end = bytes + size, *line; bytes < end; bytes = line) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t n = (size_t)((stop ? stop : end) - bytes), room = MOST_TEXT - t->used;

        line = stop ? stop + 1 : end;
        t->long_ |= n > room;
        n = n < room ? n : room;
        memcpy(t->kept + t->used, bytes, n);
        for (char *c = t->kept + t->used; c < t->kept + t->used + n; c++)
            *c = *c ? *c : '?';
        t->used += n;
        t->begun = 1;
        if (stop)
            end_line(t);
    }
}

/* 1: read as far as was needed, 0: it ended before; -1 with errno, 0 where it is no text. */
static int read_file(struct text *t, int fd)
{
    char piece[PIECE];
    uint64_t done = 0;
    ssize_t n = 1;

    errno = 0;
    while (n > 0 && t->edge < t->f->lines) {
        n = read(fd, piece, sizeof piece);
        if (n > 0 && done == 0 && memchr(piece, '\0', n < LOOKED_AT ? (size_t)n : LOOKED_AT)) {
            errno = 0;
            return -1;
        }
        if (n > 0)
            take(t, piece, (size_t)n);
        done += n > 0 ? (uint64_t)n : 0;
    }
    if (n == 0 && t->begun)
        end_line(t);
    return n < 0 ? -1 : n > 0;
}

/* Says once why the file's text is missing. */
static void lacks(struct annotate *a, struct file *f, int error)
{
    f->lack = error ? "cannot be read" : "holds no text";
    if (error && cf_is_refusal(error))
        cf_tool_note(a->tool, CF_EXIT_ENVIRONMENT);
    if (!f->warned)
        cf_warn(a->tool, "%s: %s: its lines have no text", f->path,
                error ? strerror(error) : "holds zero bytes: it is no source");
    f->warned = 1;
}

static void check_end(struct annotate *a, struct file *f, uint64_t lines)
{
    const uint64_t last = f->line[f->lines - 1].number;

    if (last > lines && !f->warned) {
        cf_warn(a->tool,
                "%s has only %llu lines, and line %llu was counted: is it the file that was "
                "compiled?",
                f->path, (unsigned long long)lines, (unsigned long long)last);
        f->warned = 1;
    }
}

void text_take(struct annotate *a, struct file *f, uint32_t context)
{
    struct text *t = cf_need(a->tool, calloc(1, sizeof *t));
    const int fd = f->path ? cf_source_open(f->path) : -1;
    int end = f->path && fd < 0 ? -1 : 1, error = errno;
    size_t from;

    *t = (struct text){.a = a, .f = f, .context = context, .number = 1, .edge = marked(f, 0)};
    /* what was counted of the file, but of no line of it */
    for (; t->edge < f->lines && !f->line[t->edge].number; t->edge = marked(f, t->edge + 1))
        show(t, 0, f->line[t->edge].sum, NULL);
    if (fd >= 0) {
        end = read_file(t, fd);
        error = errno;
        close(fd);
    }
    if (end < 0)
        lacks(a, f, error);
    else if (end == 0)
        check_end(a, f, t->number - 1);
    /* those that are behind its end */
    from = f->shown_lines ? f->shown[f->shown_lines - 1].number + 1 : 1;
    for (size_t i = marked(f, 0); i < f->lines; i = marked(f, i + 1))
        if (f->line[i].number >= from)
            show(t, f->line[i].number, f->line[i].sum, NULL);
    free(t);
}

char *text_safe(const struct annotate *a, const char *text)
{
    enum { TAB = 8 };
    char *plain = NULL, *safe = NULL;
    size_t length = 0, column = 0;
    FILE *out = cf_need(a->tool, open_memstream(&plain, &length));

    for (; *text; text++) {
        if (*text == '\t') {
            const size_t blanks = TAB - column % TAB;

            fprintf(out, "%*s", (int)blanks, "");
            column += blanks;
        } else {
            putc(*text, out);
            column += (*text & 0xc0) != 0x80; /* the first byte of a character */
        }
    }
    cf_must(a->tool, fclose(out));
    length = 12 * length + 1; /* an escape a byte */
    safe = cf_text_safe(cf_need(a->tool, malloc(length)), length, plain);
    free(plain);
    return safe;
}
