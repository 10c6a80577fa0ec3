/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * terminal.c - what drawings on a terminal have in common: its size and abilities, colours, texts.
 *
 * In: the environment and texts from anywhere. Out: text that is safe for a terminal: names never
 * reach it as they are, and what could command it is replaced. Memory: none.
 */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "filters/picture/picture.h"
#include "formats/base/cf_number.h"

static int cube(uint8_t v)
{
    return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40;
}

/* Entry of the usual table of 256 colours that is near to one: of its greys or of its cube. */
static int nearest(struct cf_rgb c)
{
    int mean = (c.r + c.g + c.b) / 3;

    if (abs(c.r - mean) < 12 && abs(c.g - mean) < 12 && abs(c.b - mean) < 12)
        return mean < 8 ? 16 : mean > 238 ? 231 : 232 + (mean - 3) / 10;
    return 16 + 36 * cube(c.r) + 6 * cube(c.g) + cube(c.b);
}

void cf_terminal_colour(FILE *out, const struct cf_terminal *t, int ground, struct cf_rgb c)
{
    if (t->colours == 256)
        fprintf(out, "\33[%d;5;%dm", ground ? 48 : 38, nearest(c));
    else
        fprintf(out, "\33[%d;2;%d;%d;%dm", ground ? 48 : 38, c.r, c.g, c.b);
}

unsigned cf_terminal_text(FILE *out, const struct cf_terminal *t, const char *text, unsigned width)
{
    unsigned all = 0, used = 0, tail, at = 0;
    uint32_t code;
    size_t n;

    for (const char *c = text; *c; c += cf_text_character(c, &code))
        all++;
    tail = all > width ? (width > 6 ? (width - 2) * 2 / 3 : 0) : all;
    for (const char *c = text; *c; c += n, at++) {
        int columns;

        n = cf_text_character(c, &code);
        if (all > width && at >= width - 2 - tail && at < all - tail) {
            if (at == width - 2 - tail)
                used += (unsigned)fprintf(out, "..");
            continue;
        }
        columns = code < 128 ? 1 : t->utf8 && code != 0xfffd ? wcwidth((wchar_t)code) : -1;
        if (columns < 0)
            fputc('?', out);
        else
            fwrite(c, 1, n, out);
        used += columns < 0 ? 1 : (unsigned)columns;
    }
    return used;
}

void cf_terminal_head(FILE *out, const struct cf_terminal *t, const char *title,
                      const char *summary)
{
    fputs(t->colours ? "\33[1m" : "", out);
    cf_terminal_text(out, t, title, t->columns);
    fprintf(out, "%s\n", t->colours ? "\33[0m" : "");
    cf_terminal_text(out, t, summary, t->columns);
    fputc('\n', out);
}

static unsigned number_of(const char *text, unsigned otherwise)
{
    uint64_t n;

    return text && cf_read_number(text, CF_READ_DECIMAL, 9999, &n) == 0 && n ? (unsigned)n
                                                                             : otherwise;
}

struct cf_terminal cf_terminal_here(void)
{
    const char *depth = getenv("COLORTERM"), *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    struct cf_terminal t = {.columns = 80};
    struct winsize size;

    if (isatty(1) && ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col)
        t.lines = size.ws_row;
    if (cf_tool_columns())
        t.columns = cf_tool_columns();
    t.lines = number_of(getenv("LINES"), t.lines);
    t.utf8 = setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
    if ((plain && *plain) || (term && !strcmp(term, "dumb")))
        t.colours = 0;
    else
        t.colours =
            depth && (!strcmp(depth, "truecolor") || !strcmp(depth, "24bit")) ? 1 << 24 : 256;
    return t;
}

void cf_terminal_time(FILE *out, const struct cf_terminal *t, unsigned gutter, uint32_t width,
                      uint64_t start, uint64_t end, const char *unit)
{
    struct cf_time_axis axis;
    double first, last;
    unsigned at = 0;

    cf_time_axis(start, end, unit, width / 12, &axis);
    first = (double)(start - axis.zero) / axis.divisor;
    last = (double)(end - axis.zero) / axis.divisor;
    fprintf(out, "%*s", gutter, "");
    for (uint64_t k = (uint64_t)(first / axis.step); (double)k * axis.step <= last; k++) {
        double time = (double)k * axis.step;
        char number[40];
        unsigned x;
        int n = snprintf(number, sizeof number, "%.*f", axis.digits, time);

        if (time < first)
            continue;
        x = (unsigned)((time - first) / (last - first) * width);
        if (x < at || x + 1 + (unsigned)n > width)
            continue;
        fprintf(out, "%*s%s%s", (int)(x - at), "", t->utf8 ? "\xe2\x94\x94" : "'", number);
        at = x + 2 + (unsigned)n;
        if (at <= width)
            fputc(' ', out);
        else
            break;
    }
    fprintf(out, "\n%*s", gutter, "");
    cf_terminal_text(out, t, axis.title, width);
    fputc('\n', out);
}
