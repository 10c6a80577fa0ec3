/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_png.c - the map as a picture with a title, a band a mapping, axes and a legend.
 *
 * From left to right: a column with name, total and share of each mapping, the page numbers, the
 * map, the legend of the colours. Below: the axis of time. Dark grey stripes stand for pages that
 * nobody touched. Memory: 3 bytes a pixel, and a few words a line of pixels.
 */
#include <inttypes.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/heatmap/heat.h"

enum { LEFT = 262, RIGHT = 112, TOP = 76, BOTTOM = 58, BETWEEN = 6, LEAST = 28, MOST = 14 };

static const struct heat_rgb paper = {255, 255, 255};
static const struct heat_rgb ink = {28, 30, 38};
static const struct heat_rgb pale_ink = {96, 99, 112};
static const struct heat_rgb rule = {196, 198, 206};

struct picture {
    int width, height;
    uint8_t *pixels;
    struct heat_rgb pen;
};

static void dot(void *arg, int x, int y, unsigned coverage)
{
    struct picture *p = arg;
    uint8_t *pixel;

    if (x < 0 || y < 0 || x >= p->width || y >= p->height)
        return;
    pixel = p->pixels + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
    pixel[0] = (uint8_t)((pixel[0] * (255 - coverage) + p->pen.r * coverage) / 255);
    pixel[1] = (uint8_t)((pixel[1] * (255 - coverage) + p->pen.g * coverage) / 255);
    pixel[2] = (uint8_t)((pixel[2] * (255 - coverage) + p->pen.b * coverage) / 255);
}

static void box(struct picture *p, int x, int y, int width, int height, struct heat_rgb colour)
{
    p->pen = colour;
    for (int j = y; j < y + height; j++)
        for (int i = x; i < x + width; i++)
            dot(p, i, j, 255);
}

static void text(struct picture *p, int x, int y, int size, struct heat_rgb colour, const char *t)
{
    p->pen = colour;
    heat_draw_text(t, x, y, size, dot, p);
}

static void text_right(struct picture *p, int right, int y, struct heat_rgb colour, const char *t)
{
    text(p, right - heat_text_width(t, 1) + 2, y, 1, colour, t);
}

/* Text cut to a width: of a path, where it does not fit, the last part, and of what is still too
   long the beginning and the end. */
static void text_cut(struct picture *p, int x, int y, int width, int size, struct heat_rgb colour,
                     const char *t)
{
    size_t room = (size_t)(width / heat_text_width("0", size)), n = 0, tail, i = 0;
    char cut[512];
    uint32_t code;

    if (room > sizeof cut - 1)
        room = sizeof cut - 1;
    if (room < 8)
        return;
    if (*t == '/' && (size_t)heat_text_width(t, size) > room * (size_t)heat_text_width("0", size))
        t = strrchr(t, '/') + 1;
    for (const char *c = t; *c; c += heat_character(c, &code))
        n++;
    tail = n > room ? (room - 2) * 2 / 3 : n;
    for (size_t k = 0; *t; t += heat_character(t, &code), k++) {
        if (n > room && k >= room - 2 - tail && k < n - tail) {
            if (k == room - 2 - tail)
                i += (size_t)sprintf(cut + i, "..");
            continue;
        }
        heat_character(t, &code);
        cut[i++] = code >= 32 && code < 127 ? (char)code : '?';
        if (i >= sizeof cut - 4)
            break;
    }
    cut[i] = 0;
    text(p, x, y, size, colour, cut);
}

/* Page numbers, above all at both sides of what is left out and elsewhere where there is room. */
static void draw_page_marks(struct picture *p, const struct heat_map *map,
                            const struct heat_line *line, uint32_t lines, int y)
{
    int before = -100;

    for (uint32_t i = 0; i < lines; i++) {
        char number[24];
        uint32_t end = i;
        int middle, edge = i == 0 || line[i - 1].skipped;

        if (line[i].skipped || line[i].first > line[i].last)
            continue;
        /* the lines that show the same page */
        while (end + 1 < lines && !memcmp(&line[end + 1], &line[i], sizeof *line))
            end++;
        middle = y + (int)(end - i < 14 ? (i + end) / 2 : i + 5);
        if (middle - before >= (edge || end - i >= 7 ? 12 : 40)) {
            heat_page_name(number, sizeof number, map, line[i].first);
            text_right(p, LEFT - 8, middle - 4, pale_ink, number);
            box(p, LEFT - 5, middle, 4, 1, rule);
            before = middle;
        }
        i = end;
    }
}

static int draw_band(struct picture *p, const struct heat_map *map, const struct heat_band *band,
                     int y, uint32_t lines, const struct heat_rgb *ramp)
{
    int width = p->width - LEFT - RIGHT;
    struct heat_line *line = calloc(lines, sizeof *line);
    uint64_t *column = malloc((size_t)width * sizeof *column);
    char words[96], total[32];

    if (!line || !column || heat_lines(map, band, lines, 3, line)) {
        free(line);
        free(column);
        return -1;
    }
    box(p, LEFT, y, width, (int)lines, heat_ground);
    for (uint32_t i = 0; i < lines; i++) {
        uint8_t *row = p->pixels + 3 * ((size_t)(y + (int)i) * (size_t)p->width + (size_t)LEFT);
        if (line[i].skipped) {
            /* the middle one of three lines, broken */
            if (i && line[i - 1].skipped && i + 1 < lines && line[i + 1].skipped)
                for (int x = 0; x < width; x += 6)
                    box(p, LEFT + x, y + (int)i, 3, 1, heat_gap);
            continue;
        }
        if (i && !memcmp(&line[i], &line[i - 1], sizeof *line)) {
            memcpy(row, row - 3 * (size_t)p->width, 3 * (size_t)width);
            continue;
        }
        heat_columns(map, &line[i], column, (uint32_t)width);
        for (int x = 0; x < width; x++) {
            if (column[x])
                memcpy(row + 3 * x, &ramp[(int)(heat_scale(map, column[x]) * 255 + 0.5)], 3);
        }
    }
    draw_page_marks(p, map, line, lines, y);
    text_cut(p, 14, y + 1, LEFT - (band->region ? 74 : 108), 1, ink, band->name);
    heat_number(total, sizeof total, (double)band->total);
    snprintf(words, sizeof words, "%s, %.1f %%", total,
             100 * (double)band->total / (double)map->total);
    text(p, 14, y + 15, 1, pale_ink, words);
    if (lines >= 44) {
        snprintf(words, sizeof words, "%" PRIu32 " page%s", band->rows, band->rows == 1 ? "" : "s");
        text(p, 14, y + 29, 1, pale_ink, words);
    }
    /* a bar as long as the share */
    box(p, 4, y, 5, (int)lines, (struct heat_rgb){228, 229, 235});
    {
        int bar = (int)((double)lines * (double)band->total / (double)map->total + 0.5);
        box(p, 4, y + (int)lines - bar, 5, bar, (struct heat_rgb){74, 96, 190});
    }
    free(line);
    free(column);
    return 0;
}

static void draw_time(struct picture *p, const struct heat_map *map, int bottom)
{
    int width = p->width - LEFT - RIGHT;
    struct heat_axis axis;
    double first, last;

    if (!map->bins)
        return;
    heat_time_axis(map, (unsigned)width / 90, &axis);
    first = (double)(map->start - axis.zero) / axis.divisor;
    last = (double)(heat_bin_start(map, map->bins) - axis.zero) / axis.divisor;
    for (uint64_t k = (uint64_t)(first / axis.step); (double)k * axis.step <= last; k++) {
        double at = (double)k * axis.step;
        char number[40];
        int x;

        if (at < first)
            continue;
        x = LEFT + (int)((at - first) / (last - first) * (width - 1));
        box(p, x, bottom, 1, 5, pale_ink);
        snprintf(number, sizeof number, "%.*f", axis.digits, at);
        text(p, x - heat_text_width(number, 1) / 2 + 1, bottom + 9, 1, ink, number);
    }
    text(p, LEFT + (width - heat_text_width(axis.title, 1)) / 2, bottom + 27, 1, pale_ink,
         axis.title);
}

static void draw_legend(struct picture *p, const struct heat_map *map, int height,
                        const struct heat_rgb *ramp)
{
    int x = p->width - RIGHT + 18;
    char number[32];
    int before = -100;
    double step = heat_step(0, (double)map->peak, 6);

    height = height > 320 ? 320 : height;
    snprintf(number, sizeof number, "%s per", map->what);
    text(p, x, TOP - 30, 1, pale_ink, number);
    text(p, x, TOP - 16, 1, pale_ink, strcmp(map->unit, "snapshot") ? "page and bin" : "page");
    for (int i = 0; i < height; i++)
        box(p, x, TOP + i, 14, 1, ramp[(height - 1 - i) * 255 / (height > 1 ? height - 1 : 1)]);
    /* from the top: the peak, then round values */
    for (double v = (double)map->peak; v >= 1;) {
        int y = TOP + (int)((1 - heat_scale(map, (uint64_t)v)) * (height - 1));
        double next;

        if (y - before >= 14) {
            heat_number(number, sizeof number, v);
            box(p, x + 14, y, 3, 1, pale_ink);
            text(p, x + 20, y - 4, 1, ink, number);
            before = y;
        }
        if (map->linear) {
            next = step * (double)(uint64_t)(v / step);
            v = next < v ? next : next - step;
        } else {
            for (next = 1; next * 10 < v; next *= 10)
                ;
            v = v > 1 ? next : 0;
        }
    }
    box(p, x, TOP + height + 10, 14, 10, heat_ground);
    text(p, x + 20, TOP + height + 10, 1, pale_ink, "none");
    text(p, x, TOP + height + 30, 1, pale_ink, map->linear ? "linear" : "log scale");
}

static void quiet_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static int write_picture(const struct picture *p, FILE *out)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, quiet_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;

    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return -1;
    }
    png_init_io(png, out);
    png_set_compression_level(png, 6);
    png_set_IHDR(png, info, (png_uint_32)p->width, (png_uint_32)p->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int y = 0; y < p->height; y++)
        png_write_row(png, p->pixels + 3 * (size_t)y * (size_t)p->width);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return 0;
}

/* Everything but the file. */
static int draw(struct picture *p, const struct heat_map *map)
{
    uint32_t shown = map->top < map->bands ? map->top : map->bands, fit;
    struct heat_map some = *map;
    uint32_t *height;
    struct heat_rgb ramp[256];
    char words[512];
    int y = TOP, room = p->height - TOP - BOTTOM;

    for (int i = 0; i < 256; i++)
        ramp[i] = heat_colour(i / 255.0);
    box(p, 0, 0, p->width, p->height, paper);
    heat_title(map, words, sizeof words);
    text(p, 14, 10, 2, ink, words);
    if (*map->command)
        text_cut(p, 14 + heat_text_width(words, 2) + 14, 18,
                 p->width - heat_text_width(words, 2) - 40, 1, pale_ink, map->command);
    heat_summary(map, words, sizeof words);
    /* as many mappings as there is room for, the largest ones */
    fit = (uint32_t)(room / (LEAST + BETWEEN));
    some.top = shown = shown < fit ? shown : fit;
    if (shown < map->bands)
        snprintf(words + strlen(words), sizeof words - strlen(words),
                 "; the %" PRIu32 " largest mappings are shown", shown);
    text_cut(p, 14, 40, p->width - 24 - RIGHT, 1, pale_ink, words);
    text(p, 14, TOP - 16, 1, pale_ink, "mapping");
    text_right(p, LEFT - 8, TOP - 16, pale_ink, "page");
    if (!map->bands) {
        text(p, 14, TOP + 40, 2, pale_ink, "nothing was counted");
        return 0;
    }
    if (!(height = calloc((size_t)shown + 1, sizeof *height)))
        return -1;
    heat_heights(&some, (uint32_t)room - shown * BETWEEN, LEAST, MOST, height);
    for (uint32_t b = 0; b < shown; b++) {
        if (draw_band(p, map, &map->band[b], y, height[b], ramp)) {
            free(height);
            return -1;
        }
        y += (int)height[b] + BETWEEN;
    }
    free(height);
    draw_time(p, map, y - BETWEEN + 3);
    draw_legend(p, map, room - 50, ramp);
    return 0;
}

int heat_png(const struct heat_map *map, FILE *out, uint32_t width, uint32_t height)
{
    struct picture p = {.width = (int)width, .height = (int)height};
    int status;

    if (!(p.pixels = malloc((size_t)3 * width * height)))
        return -1;
    status = draw(&p, map) || write_picture(&p, out) ? -1 : 0;
    free(p.pixels);
    return status;
}
