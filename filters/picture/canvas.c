/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * canvas.c - pixels with boxes, lines and text on them, and the PNG file that they become.
 *
 * In: calls. Out: a file by libpng. Memory: 3 bytes a pixel.
 */
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "filters/picture/picture.h"

const struct cf_rgb cf_paper = {255, 255, 255};
const struct cf_rgb cf_ink = {28, 30, 38};
const struct cf_rgb cf_pale_ink = {96, 99, 112};
const struct cf_rgb cf_rule = {196, 198, 206};

struct cf_canvas *cf_canvas_new(int width, int height)
{
    struct cf_canvas *p = calloc(1, sizeof *p);
    const size_t bytes = 3 * (size_t)width * (size_t)height;

    if (!p || !(p->pixels = malloc(bytes))) {
        free(p);
        return NULL;
    }
    p->width = width;
    p->height = height;
    memset(p->pixels, 255, bytes);
    return p;
}

void cf_canvas_free(struct cf_canvas *p)
{
    if (p)
        free(p->pixels);
    free(p);
}

static void dot(void *arg, int x, int y, unsigned coverage)
{
    struct cf_canvas *p = arg;
    uint8_t *pixel;

    if (x < 0 || y < 0 || x >= p->width || y >= p->height)
        return;
    pixel = p->pixels + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
    pixel[0] = (uint8_t)((pixel[0] * (255 - coverage) + p->pen.r * coverage) / 255);
    pixel[1] = (uint8_t)((pixel[1] * (255 - coverage) + p->pen.g * coverage) / 255);
    pixel[2] = (uint8_t)((pixel[2] * (255 - coverage) + p->pen.b * coverage) / 255);
}

void cf_canvas_box(struct cf_canvas *p, int x, int y, int width, int height, struct cf_rgb colour)
{
    p->pen = colour;
    for (int j = y; j < y + height; j++)
        for (int i = x; i < x + width; i++)
            dot(p, i, j, 255);
}

void cf_canvas_text(struct cf_canvas *p, int x, int y, int size, struct cf_rgb colour,
                    const char *t)
{
    p->pen = colour;
    cf_font_draw(t, x, y, size, dot, p);
}

void cf_canvas_text_right(struct cf_canvas *p, int right, int y, struct cf_rgb colour,
                          const char *t)
{
    cf_canvas_text(p, right - cf_font_width(t, 1) + 2, y, 1, colour, t);
}

void cf_canvas_text_cut(struct cf_canvas *p, int x, int y, int width, int size,
                        struct cf_rgb colour, const char *t)
{
    size_t room = (size_t)(width / cf_font_width("0", size)), n = 0, tail, i = 0;
    char cut[512];
    uint32_t code;

    if (room > sizeof cut - 1)
        room = sizeof cut - 1;
    if (room < 8)
        return;
    if (*t == '/' && (size_t)cf_font_width(t, size) > room * (size_t)cf_font_width("0", size))
        t = strrchr(t, '/') + 1;
    for (const char *c = t; *c; c += cf_text_character(c, &code))
        n++;
    tail = n > room ? (room - 2) * 2 / 3 : n;
    for (size_t k = 0; *t; t += cf_text_character(t, &code), k++) {
        if (n > room && k >= room - 2 - tail && k < n - tail) {
            if (k == room - 2 - tail)
                i += (size_t)sprintf(cut + i, "..");
            continue;
        }
        cf_text_character(t, &code);
        cut[i++] = code >= 32 && code < 127 ? (char)code : '?';
        if (i >= sizeof cut - 4)
            break;
    }
    cut[i] = 0;
    cf_canvas_text(p, x, y, size, colour, cut);
}

void cf_canvas_line(struct cf_canvas *p, double x0, double y0, double x1, double y1,
                    struct cf_rgb colour)
{
    const double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    const int left = (int)floor(fmin(x0, x1)) - 2, right = (int)ceil(fmax(x0, x1)) + 2;
    const int top = (int)floor(fmin(y0, y1)) - 2, bottom = (int)ceil(fmax(y0, y1)) + 2;

    p->pen = colour;
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            double t = length > 0 ? ((x - x0) * dx + (y - y0) * dy) / length : 0, near;

            t = t < 0 ? 0 : t > 1 ? 1 : t;
            near = 1.25 - hypot(x - x0 - t * dx, y - y0 - t * dy);
            if (near > 0)
                dot(p, x, y, near >= 1 ? 255 : (unsigned)(near * 255));
        }
}

static void quiet_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

int cf_canvas_png(const struct cf_canvas *p, FILE *out)
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
