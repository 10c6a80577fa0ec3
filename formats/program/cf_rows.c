/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_rows.c - CSV on standard output in other forms (see cf_rows.h).
 *
 * In: CSV as the functions of cf_tool.h print it. Out: a table whose columns are as wide as the
 * first HELD rows want, numbers at the right; or JSON Lines (RFC 8259, an object a line): what
 * cf_csv_text() prints is a text, for which it asks cf_rows_quote(), what else reads as a number is
 * one, and an empty field is null. Memory: those rows, at most 1 MiB and one row.
 *
 * stdout becomes a stream of our own (in glibc it is a variable that may be set: "Standard Streams"
 * in its manual), so that whatever prints CSV prints this, too.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_text.h"
#include "formats/program/cf_rows.h"

enum { QUOTE = '"', HELD = 1000, MOST_BYTES = 1 << 20, LEAST_WIDTH = 16, FIELD = 4096 };

struct column {
    char *name;
    unsigned width;
    int left, cut; /* holds texts; they are cut to the width */
};

/* A process has one standard output. */
static struct {
    FILE *out; /* what stdout was; NULL: nothing has begun */
    int json, laid_out;
    int failed; /* errno of what could not be kept or written: nothing comes after it */
    int begun, quoted, after_quote; /* where in a field we are */
    char *text; /* fields held, a zero byte behind each; in JSON QUOTE begins a text */
    size_t used, room;
    unsigned fields[HELD]; /* of each row that is held */
    unsigned rows, now;    /* and of that which is being printed */
    struct column *column;
    unsigned columns;
} rows;

/* A number as JSON has it, but for its exponent. */
static int is_number(const char *s)
{
    s += *s == '-';
    if (!isdigit((unsigned char)*s) || (*s == '0' && isdigit((unsigned char)s[1])))
        return 0;
    s += strspn(s, "0123456789");
    if (*s == '.' && isdigit((unsigned char)s[1]))
        s += 1 + strspn(s + 1, "0123456789");
    return !*s;
}

static int is_address(const char *s)
{
    return s[0] == '0' && s[1] == 'x' && s[2] && !s[2 + strspn(s + 2, "0123456789abcdef")];
}

/* Columns of a terminal that a text takes, one a character. */
static unsigned length(const char *text)
{
    unsigned n = 0;
    uint32_t code;

    for (; *text; text += cf_text_character(text, &code))
        n++;
    return n;
}

/* ---- a table ---- */

/* The widest texts are cut until a row fits. */
static void fit(unsigned most)
{
    for (;;) {
        struct column *widest = NULL;
        unsigned all = 0;

        for (struct column *c = rows.column; c < rows.column + rows.columns; c++) {
            all += c->width + 2;
            if (c->left && (!widest || c->width > widest->width))
                widest = c;
        }
        if (!most || all <= most + 2 || !widest || widest->width <= LEAST_WIDTH)
            return;
        widest->width--;
        widest->cut = 1;
    }
}

static void measure(void)
{
    const char *text = rows.text;
    char safe[FIELD];

    for (unsigned r = 0; r < rows.rows; r++)
        for (unsigned i = 0; i < rows.fields[r]; i++, text += strlen(text) + 1) {
            const unsigned n = length(cf_text_safe(safe, sizeof safe, text));
            struct column *c = &rows.column[i];

            if (n > c->width)
                c->width = n;
            c->left |= r && *text && !is_number(text) && !is_address(text);
        }
    fit(cf_tool_columns());
}

static void table_row(const char *text, unsigned fields)
{
    char safe[FIELD];

    for (unsigned i = 0; i < fields; i++, text += strlen(text) + 1) {
        const struct column *c = &rows.column[i];
        const char *shown = *text ? cf_text_safe(safe, sizeof safe, text) : "-", *dots = "";
        unsigned n = length(shown), blanks;

        if (c->cut && n > c->width) {
            /* the end of a long name says more than its beginning: paths and source lines */
            dots = "...";
            shown = cf_text_end(shown, c->width - 3);
            n = length(shown) + 3;
        }
        blanks = n < c->width ? c->width - n : 0;
        if (c->left)
            fprintf(rows.out, "%s%s%*s", dots, shown, i + 1 < fields ? (int)blanks : 0, "");
        else
            fprintf(rows.out, "%*s%s", (int)blanks, "", shown);
        fputs(i + 1 < fields ? "  " : "\n", rows.out);
    }
}

/* ---- JSON ---- */

static void json_row(const char *text, unsigned fields)
{
    for (unsigned i = 0; i < fields; i++, text += strlen(text) + 1) {
        const int is_text = *text == QUOTE;

        putc(i ? ',' : '{', rows.out);
        cf_text_json(rows.out, rows.column[i].name, "");
        putc(':', rows.out);
        if (!text[is_text])
            fputs("null", rows.out);
        else if (!is_text && is_number(text))
            fputs(text, rows.out);
        else
            cf_text_json(rows.out, text + is_text, "");
    }
    fputs("}\n", rows.out);
}

/* ---- rows as they come ---- */

static int lay_out(int end)
{
    const char *text = rows.text;

    if (!rows.json && !rows.laid_out) {
        if (rows.rows <= 1 && !end) /* the names alone do not say how wide columns are */
            return 0;
        measure();
        rows.laid_out = 1;
    }
    for (unsigned r = 0; r < rows.rows; r++) {
        const unsigned fields = rows.fields[r];

        if (rows.json)
            json_row(text, fields);
        else
            table_row(text, fields);
        for (unsigned i = 0; i < fields; i++)
            text += strlen(text) + 1;
    }
    if (rows.used) /* what is left is of the row that is being printed */
        memmove(rows.text, text, rows.used - (size_t)(text - rows.text));
    rows.used -= (size_t)(text - rows.text);
    rows.rows = 0;
    return ferror(rows.out) ? -1 : 0;
}

static int put(char c)
{
    if (rows.used == rows.room && cf_array_room(&rows.text, &rows.room, rows.used + 1, 1) != 0)
        return -1;
    rows.text[rows.used++] = c;
    return 0;
}

/* The first row, the names of the columns. */
static int take_names(void)
{
    const char *text = rows.text;

    rows.column = calloc(rows.now, sizeof *rows.column);
    if (!rows.column)
        return -1;
    for (; rows.columns < rows.now; rows.columns++, text += strlen(text) + 1)
        if (!(rows.column[rows.columns].name = strdup(text + (*text == QUOTE))))
            return -1;
    if (rows.json)
        rows.used = rows.now = 0;
    return 0;
}

static int end_row(void)
{
    if (!rows.columns) {
        if (take_names() != 0)
            return -1;
        if (rows.json)
            return 0;
    }
    if (rows.now > rows.columns) { /* what printed it is wrong */
        errno = EPROTO;
        return -1;
    }
    rows.fields[rows.rows++] = rows.now;
    rows.now = 0;
    return rows.rows == HELD || rows.used >= MOST_BYTES || rows.laid_out || rows.json ? lay_out(0)
                                                                                      : 0;
}

static int end_field(char separator)
{
    rows.begun = 0;
    rows.now++;
    return put('\0') != 0 || (separator == '\n' && end_row() != 0) ? -1 : 0;
}

/* A quote within quotes is doubled: its first ends them, its second begins them again. */
static int take_quote(void)
{
    const int doubled = rows.after_quote, first = !rows.begun;

    rows.quoted = !rows.quoted;
    rows.after_quote = !rows.quoted;
    rows.begun = 1;
    return (rows.quoted && doubled) || (first && rows.json) ? put(QUOTE) : 0;
}

static int take_byte(char c)
{
    if (c == QUOTE)
        return take_quote();
    rows.after_quote = 0;
    if (!rows.quoted && (c == ',' || c == '\n'))
        return end_field(c);
    rows.begun = 1;
    return put(c ? c : ' ');
}

static ssize_t take(void *cookie, const char *bytes, size_t size)
{
    (void)cookie;
    errno = 0;
    for (size_t i = 0; i < size && !rows.failed; i++)
        if (take_byte(bytes[i]) != 0)
            rows.failed = errno ? errno : EIO;
    errno = rows.failed;
    return rows.failed ? 0 : (ssize_t)size;
}

/* For programs that exit amidst their rows. */
static void at_exit(void)
{
    (void)cf_rows_end();
}

void cf_rows_begin(const struct cf_tool *t)
{
    static int registered;
    FILE *own;

    if (rows.out || !(cf_rows_json(t) || cf_tool_term(t)))
        return;
    own = cf_need(t, fopencookie(NULL, "w", (cookie_io_functions_t){.write = take}));
    if (!registered && atexit(at_exit) != 0)
        cf_out_of_memory(t);
    registered = 1;
    rows.json = cf_rows_json(t);
    rows.out = stdout;
    stdout = own;
}

int cf_rows_json(const struct cf_tool *t)
{
    return t->form == CF_OPT_JSON;
}

int cf_rows_quote(const FILE *out)
{
    return rows.json && out == stdout;
}

static int flush(int end)
{
    if (!rows.out)
        return 0;
    if (fflush(stdout) == 0 && !rows.failed && lay_out(end) == 0 && fflush(rows.out) == 0)
        return 0;
    if (rows.failed)
        errno = rows.failed;
    return -1;
}

int cf_rows_flush(void)
{
    return flush(0);
}

int cf_rows_end(void)
{
    FILE *out = rows.out;
    int failed, error;

    if (!out)
        return 0;
    failed = flush(1);
    error = errno;
    fclose(stdout);
    stdout = out;
    free(rows.text);
    for (unsigned i = 0; i < rows.columns; i++)
        free(rows.column[i].name);
    free(rows.column);
    memset(&rows, 0, sizeof rows);
    errno = error;
    return failed;
}
