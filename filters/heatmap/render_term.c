/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_term.c - the map for a terminal: a line with name, total and share above each mapping,
 * the cells below it, the time beneath all.
 *
 * With colours and UTF-8 a character shows two lines of pages by its two halves. With colours but
 * no UTF-8 it shows one, by a blank; without colours one, by characters that grow darker. Names
 * never reach the terminal as they are: what could command it is replaced. Memory: a few words a
 * line and column.
 */
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "filters/heatmap/heat.h"

enum { GUTTER = 15 };

/* half a character is high: as light as in the other pictures it would be all that one sees */
static const struct heat_rgb left_out = {48, 49, 57};
static const char shades[] = ".:-=+*#%@";

static int cube(uint8_t v)
{
    return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40;
}

/* Entry of the usual table of 256 colours that is near to one: of its greys or of its cube. */
static int nearest(struct heat_rgb c)
{
    int mean = (c.r + c.g + c.b) / 3;

    if (abs(c.r - mean) < 12 && abs(c.g - mean) < 12 && abs(c.b - mean) < 12)
        return mean < 8 ? 16 : mean > 238 ? 231 : 232 + (mean - 3) / 10;
    return 16 + 36 * cube(c.r) + 6 * cube(c.g) + cube(c.b);
}

static void set_colour(FILE *out, const struct heat_terminal *t, int ground, struct heat_rgb c)
{
    if (t->colours == 256)
        fprintf(out, "\33[%d;5;%dm", ground ? 48 : 38, nearest(c));
    else
        fprintf(out, "\33[%d;2;%d;%d;%dm", ground ? 48 : 38, c.r, c.g, c.b);
}

/* Writes text that is safe for a terminal, at most `width` columns of it: the beginning and, after
   "..", the end. Returns the columns. */
static unsigned put_text(FILE *out, const struct heat_terminal *t, const char *text, unsigned width)
{
    unsigned all = 0, used = 0, tail, at = 0;
    uint32_t code;
    size_t n;

    for (const char *c = text; *c; c += heat_character(c, &code))
        all++;
    tail = all > width ? (width > 6 ? (width - 2) * 2 / 3 : 0) : all;
    for (const char *c = text; *c; c += n, at++) {
        int columns;

        n = heat_character(c, &code);
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

static struct heat_rgb colour_of(const struct heat_map *map, const struct heat_line *line,
                                 uint64_t value)
{
    if (line->skipped)
        return left_out;
    return value ? heat_colour(heat_scale(map, value)) : heat_ground;
}

static int same(struct heat_rgb a, struct heat_rgb b)
{
    return a.r == b.r && a.g == b.g && a.b == b.b;
}

/* One line of characters, of one or two lines of pages. */
static void put_cells(FILE *out, const struct heat_map *map, const struct heat_terminal *t,
                      const struct heat_line *line, uint64_t *const column[2], uint32_t width)
{
    struct heat_rgb upper = {0, 0, 0}, lower = {0, 0, 0};

    for (uint32_t x = 0; x < width; x++) {
        struct heat_rgb u = colour_of(map, &line[0], column[0][x]), l;

        if (!t->colours) {
            uint64_t v = column[0][x];
            fputc(line->skipped ? (x % 4 ? ' ' : '~')
                  : v           ? shades[(size_t)(heat_scale(map, v) * (sizeof shades - 2) + 0.5)]
                                : ' ',
                  out);
            continue;
        }
        l = t->utf8 ? colour_of(map, &line[1], column[1][x]) : u;
        if (x == 0 || !same(l, lower))
            set_colour(out, t, 1, l);
        if (t->utf8 && (x == 0 || !same(u, upper)))
            set_colour(out, t, 0, u);
        upper = u;
        lower = l;
        fputs(t->utf8 ? "\xe2\x96\x80" : " ", out);
    }
    if (t->colours)
        fputs("\33[0m", out);
    fputc('\n', out);
}

static void put_label(FILE *out, const struct heat_map *map, const struct heat_terminal *t,
                      const struct heat_band *band)
{
    char total[32], words[128];
    unsigned n;

    heat_number(total, sizeof total, (double)band->total);
    snprintf(words, sizeof words, "  %s, %.1f %%, %" PRIu32 " page%s", total,
             100 * (double)band->total / (double)map->total, band->rows,
             band->rows == 1 ? "" : "s");
    n = (unsigned)strlen(words);
    fputs(t->colours ? "\33[1m" : "", out);
    put_text(out, t, band->name, t->columns > n + 8 ? t->columns - n : 8);
    fprintf(out, "%s%s\n", t->colours ? "\33[0m" : "", words);
}

static int put_band(FILE *out, const struct heat_map *map, const struct heat_terminal *t,
                    const struct heat_band *band, uint32_t characters, uint32_t width)
{
    unsigned halves = t->colours && t->utf8 ? 2 : 1;
    uint32_t lines = characters * halves, before = UINT32_MAX;
    struct heat_line *line = calloc(lines, sizeof *line);
    uint64_t *both = calloc((size_t)2 * width, sizeof *both);
    uint64_t *const column[2] = {both, both ? both + width : NULL};

    if (!line || !both || heat_lines(map, band, lines, 1, line)) {
        free(line);
        free(both);
        return -1;
    }
    put_label(out, map, t, band);
    for (uint32_t i = 0; i < lines; i += halves) {
        uint32_t first = UINT32_MAX;
        char number[32] = "";

        for (unsigned k = halves; k-- > 0;) {
            heat_columns(map, &line[i + k], column[k], width);
            if (line[i + k].first <= line[i + k].last)
                first = line[i + k].first;
        }
        /* each page number once, where its page begins */
        if (first != UINT32_MAX && first != before) {
            heat_page_name(number, sizeof number, map, first);
            before = first;
        }
        fprintf(out, "%*s ", GUTTER - 1, number);
        put_cells(out, map, t, &line[i], column, width);
    }
    free(line);
    free(both);
    return 0;
}

static void put_axis(FILE *out, const struct heat_map *map, const struct heat_terminal *t,
                     uint32_t width)
{
    struct heat_axis axis;
    double first, last;
    unsigned at = 0;

    heat_time_axis(map, width / 12, &axis);
    first = (double)(map->start - axis.zero) / axis.divisor;
    last = (double)(heat_bin_start(map, map->bins) - axis.zero) / axis.divisor;
    fprintf(out, "%*s", GUTTER, "");
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
    fprintf(out, "\n%*s", GUTTER, "");
    put_text(out, t, axis.title, width);
    fputc('\n', out);
}

static void put_legend(FILE *out, const struct heat_map *map, const struct heat_terminal *t)
{
    char peak[32];
    int wide = t->columns >= 80 ? 32 : 16;

    heat_number(peak, sizeof peak, (double)map->peak);
    fprintf(out, "%*s1 ", GUTTER, "");
    for (int i = 0; i < wide; i++) {
        double f = (double)i / (wide - 1);
        if (t->colours) {
            set_colour(out, t, 1, heat_colour(f));
            fputc(' ', out);
        } else {
            fputc(shades[(size_t)(f * (sizeof shades - 2) + 0.5)], out);
        }
    }
    fprintf(out, "%s %s %s (%s)\n", t->colours ? "\33[0m" : "", peak, map->what,
            map->linear ? "linear" : "log");
}

int heat_term(const struct heat_map *map, FILE *out, const struct heat_terminal *t)
{
    uint32_t shown = map->top < map->bands ? map->top : map->bands;
    uint32_t width = t->columns > GUTTER + 10 ? t->columns - GUTTER - 1 : 10;
    /* title, summary, axis and legend take six lines; a band its label and at least one */
    uint32_t room = t->lines > 6 ? t->lines - 6 : 0, lines;
    struct heat_map some = *map;
    uint32_t *height;
    char words[512];

    heat_title(map, words, sizeof words);
    fputs(t->colours ? "\33[1m" : "", out);
    put_text(out, t, words, t->columns);
    fprintf(out, "%s\n", t->colours ? "\33[0m" : "");
    heat_summary(map, words, sizeof words);
    put_text(out, t, words, t->columns);
    fputc('\n', out);
    if (!map->bands) {
        fputs("nothing was counted\n", out);
        return ferror(out) ? -1 : 0;
    }
    if (shown > 4 && room && shown > room / 3)
        shown = room / 3 > 4 ? room / 3 : 4;
    some.top = shown;
    lines = room > 3 * shown ? room - shown : t->lines ? 2 * shown : 6 * shown;
    if (!(height = calloc((size_t)shown + 1, sizeof *height)))
        return -1;
    heat_heights(&some, lines, 1, t->colours && t->utf8 ? 1 : 2, height);
    for (uint32_t b = 0; b < shown; b++) {
        if (put_band(out, map, t, &map->band[b], height[b], width)) {
            free(height);
            return -1;
        }
    }
    free(height);
    put_axis(out, map, t, width);
    put_legend(out, map, t);
    if (shown < map->bands)
        fprintf(out, "%" PRIu32 " smaller mappings are not shown\n", map->bands - shown);
    return ferror(out) ? -1 : 0;
}

static unsigned number_of(const char *text, unsigned otherwise)
{
    char *end;
    unsigned long n = text && *text ? strtoul(text, &end, 10) : 0;

    return n && n < 10000 && !*end ? (unsigned)n : otherwise;
}

struct heat_terminal heat_terminal_here(void)
{
    const char *depth = getenv("COLORTERM"), *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    struct heat_terminal t = {.columns = 80};
    struct winsize size;

    if (isatty(1) && ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col) {
        t.columns = size.ws_col;
        t.lines = size.ws_row;
    }
    t.columns = number_of(getenv("COLUMNS"), t.columns);
    t.lines = number_of(getenv("LINES"), t.lines);
    t.utf8 = setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
    if ((plain && *plain) || (term && !strcmp(term, "dumb")))
        t.colours = 0;
    else
        t.colours =
            depth && (!strcmp(depth, "truecolor") || !strcmp(depth, "24bit")) ? 1 << 24 : 256;
    return t;
}
