/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source_text.c - the lines of a source file. The file may be anything: it is read once from its
 * begin, in pieces, as far as lines are asked for; of each at most MOST_TEXT bytes are kept. Lines
 * end with LF or CR LF, and the last one where the file does. Memory: a piece and a line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filters/ranking/sources.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_text.h"

enum {
    PIECE = 1 << 16,
    MOST_TEXT = 4096, /* bytes of a line that are kept */
    LOOKED_AT = 8000  /* bytes in which a zero byte means no text, as in diff */
};

struct text {
    int (*line)(void *to, uint64_t number, const char *text);
    void *to;
    uint64_t number; /* of the line that is being read, from 1 */
    size_t used;
    int begun, long_; /* the line has bytes; some are not kept */
    int enough;
    char kept[MOST_TEXT + 4];
    char piece[PIECE];
};

static void end_line(struct text *t)
{
    if (!t->long_ && t->used && t->kept[t->used - 1] == '\r')
        t->used--;
    strcpy(t->kept + t->used, t->long_ ? "..." : "");
    t->enough = t->line(t->to, t->number++, t->kept) != 0;
    t->used = 0;
    t->begun = t->long_ = 0;
}

/* Takes a piece of the file in. */
static void take(struct text *t, const char *bytes, size_t size)
{
    for (const char *end = bytes + size, *line; bytes < end && !t->enough; bytes = line) {
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

static int read_lines(struct text *t, int fd)
{
    uint64_t done = 0;
    ssize_t n = 1;

    errno = 0;
    while (n > 0 && !t->enough) {
        n = read(fd, t->piece, PIECE);
        if (n > 0 && done == 0 && memchr(t->piece, '\0', n < LOOKED_AT ? (size_t)n : LOOKED_AT)) {
            errno = 0;
            return -1;
        }
        if (n > 0)
            take(t, t->piece, (size_t)n);
        done += n > 0 ? (uint64_t)n : 0;
    }
    if (n == 0 && t->begun)
        end_line(t);
    return n < 0 ? -1 : n > 0;
}

int cf_source_read(const char *path, int (*line)(void *to, uint64_t number, const char *text),
                   void *to)
{
    const int fd = cf_source_open(path);
    struct text *t = fd < 0 ? NULL : malloc(sizeof *t);
    int status = -1, error = errno;

    if (t) {
        *t = (struct text){.line = line, .to = to, .number = 1};
        status = read_lines(t, fd);
        error = errno;
    }
    free(t);
    if (fd >= 0)
        close(fd);
    errno = error;
    return status;
}

char *cf_source_safe(const struct cf_tool *t, const char *text)
{
    enum { TAB = 8 };
    char *plain = NULL, *safe = NULL;
    size_t length = 0, column = 0;
    FILE *out = cf_need(t, open_memstream(&plain, &length));

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
    cf_must(t, fclose(out));
    length = 12 * length + 1; /* an escape a byte */
    safe = cf_text_safe(cf_need(t, malloc(length)), length, plain);
    free(plain);
    return safe;
}
