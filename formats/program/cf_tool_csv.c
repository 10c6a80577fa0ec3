/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_tool_csv.c - fields of CSV (RFC 4180) on a FILE, of which errors show when it is closed.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <csv.h>

#include "formats/base/cf_text.h"
#include "formats/program/cf_rows.h"
#include "cf_tool.h"

static void separate(FILE *out, int first)
{
    if (!first)
        putc_unlocked(',', out);
}

/* Whether what goes there ends on a terminal, as what is put together in memory does where standard
   output is one. */
static int to_terminal(FILE *out)
{
    static int known, standard;
    const int fd = fileno(out);

    if (!known) {
        standard = isatty(STDOUT_FILENO);
        known = 1;
    }
    return fd < 0 || fd == STDOUT_FILENO ? standard : isatty(fd);
}

/* strpbrk() and strchr() take longer for texts as short as these. */
static int has_special(const char *text)
{
    while (*text && *text != ',' && *text != '"' && *text != '\r' && *text != '\n')
        text++;
    return *text != '\0';
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void csv_field(FILE *out, const char *text)
{
    size_t length = strlen(text);

    if (length == 0)
        return;
    if (cf_rows_quote(out)) {
        csv_fwrite(out, text, length);
        return;
    }
    /* Blanks at the ends are quoted too: many readers, libcsv among them, would drop them. */
    if (has_special(text) || is_blank(text[0]) || is_blank(text[length - 1]))
        csv_fwrite(out, text, length);
    else
        fwrite(text, 1, length, out);
}

/* Out of the way of the common case, for the room that it takes. */
static void __attribute__((noinline)) csv_for_terminal(FILE *out, const char *text)
{
    char safe[4 * CF_MAX_TEXT + 1]; /* an escape takes 4 bytes for one, or 6 for two */

    csv_field(out, cf_text_safe(safe, sizeof safe, text));
}

void cf_csv_text(FILE *out, int first, const char *text)
{
    separate(out, first);
    if (to_terminal(out))
        csv_for_terminal(out, text);
    else
        csv_field(out, text);
}

/* By hand, and in one piece: printing is most of the time of a program that writes a number a line.
   The base is a constant where it is called. */
static inline __attribute__((always_inline)) void digits(FILE *out, int first, uint64_t value,
                                                         unsigned base)
{
    char text[24];
    size_t at = sizeof text;

    do {
        text[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    if (base == 16) {
        text[--at] = 'x';
        text[--at] = '0';
    }
    if (!first)
        text[--at] = ',';
    while (at < sizeof text)
        putc_unlocked(text[at++], out);
}

void cf_csv_u64(FILE *out, int first, uint64_t value)
{
    digits(out, first, value, 10);
}

void cf_csv_hex(FILE *out, int first, uint64_t value)
{
    digits(out, first, value, 16);
}

void cf_csv_f64(FILE *out, int first, double value, int digits)
{
    separate(out, first);
    if (isfinite(value)) /* an undefined value is an empty field */
        fprintf(out, "%.*f", digits, value);
}

/* A bare newline, which line tools want and every CSV reader takes; RFC 4180 would have CR LF. */
void cf_csv_end(FILE *out)
{
    putc_unlocked('\n', out);
}

void cf_csv_unit(FILE *out, const char *name, const char *unit)
{
    char text[64];
    size_t n = (size_t)snprintf(text, sizeof text, "%s%s", name, *unit ? "_" : "");

    for (; *unit && n < sizeof text - 1; unit++)
        text[n++] = (*unit >= 'a' && *unit <= 'z') || (*unit >= '0' && *unit <= '9') ? *unit : '_';
    text[n] = '\0';
    cf_csv_text(out, 0, text);
}

void cf_csv_print(FILE *out, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            putc(*p, out);
            continue;
        }
        p += strcspn(p, "suf");
        if (*p == 's')
            cf_csv_text(out, 1, va_arg(list, const char *));
        else if (*p == 'f')
            cf_csv_f64(out, 1, va_arg(list, double), p[-1] - '0');
        else if (p[-1] == 'z')
            cf_csv_u64(out, 1, va_arg(list, size_t));
        else if (p[-1] != 'l')
            cf_csv_u64(out, 1, va_arg(list, unsigned));
        else if (p[-2] == 'l')
            cf_csv_u64(out, 1, va_arg(list, unsigned long long));
        else
            cf_csv_u64(out, 1, va_arg(list, unsigned long));
    }
    va_end(list);
}
