/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * picture.h - what the filters that draw have in common: colours, numbers and texts for people, a
 * canvas with text that becomes a PNG file, terminals, JSON inside a page. Charts of it are in
 * chart.h.
 *
 * Functions that write return 0, or -1 when `out` could not be written or memory is short.
 */
#ifndef CF_PICTURE_H
#define CF_PICTURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/stream/cf.h"
#include "formats/base/cf_text.h"
#include "formats/program/cf_tool.h"

/* ---- colours, numbers and texts for people (colours.c) ---- */

struct cf_rgb {
    uint8_t r, g, b;
};

struct cf_rgb cf_heat_colour(double t);          /* 0 cold .. 1 hot */
struct cf_rgb cf_series_colour(unsigned series); /* 21 that differ, then again */

/* "1234" as "1.23 k"; what is below 1000 without a point. */
void cf_text_number(char *out, size_t size, double value);

/* Marks of an axis from `least` to `most`: a step of 1, 2 or 5 times a power of ten that gives at
   most `marks` of them. */
double cf_axis_step(double least, double most, unsigned marks);

/* ---- text (font.c) ---- */

/* Coverage (0..255) of `text`, 7-bit with '?' for what is not, by calls of `dot`. The height of
   capitals is 9 * `size` pixels and an advance 7 * `size`; x, y is the upper left of the first. */
void cf_font_draw(const char *text, int x, int y, int size,
                  void (*dot)(void *, int x, int y, unsigned coverage), void *arg);
int cf_font_width(const char *text, int size);

/* ---- a canvas (canvas.c); what lies outside is not drawn ---- */

struct cf_canvas {
    int width, height;
    uint8_t *pixels; /* 3 bytes each: red, green, blue */
    struct cf_rgb pen;
};

extern const struct cf_rgb cf_paper, cf_ink, cf_pale_ink, cf_rule;

/* All paper. NULL without memory. */
struct cf_canvas *cf_canvas_new(int width, int height) CF_MUST_CHECK;
void cf_canvas_free(struct cf_canvas *p);

void cf_canvas_box(struct cf_canvas *p, int x, int y, int width, int height, struct cf_rgb colour);

/* A line one and a half pixels wide, with smooth edges. */
void cf_canvas_line(struct cf_canvas *p, double x0, double y0, double x1, double y1,
                    struct cf_rgb colour);

void cf_canvas_text(struct cf_canvas *p, int x, int y, int size, struct cf_rgb colour,
                    const char *text);
void cf_canvas_text_right(struct cf_canvas *p, int right, int y, struct cf_rgb colour,
                          const char *text);

/* Text cut to a width: of a path, where it does not fit, the last part, and of what is still too
   long the beginning and the end. */
void cf_canvas_text_cut(struct cf_canvas *p, int x, int y, int width, int size,
                        struct cf_rgb colour, const char *text);

int cf_canvas_png(const struct cf_canvas *p, FILE *out) CF_MUST_CHECK;

/* ---- terminals (terminal.c) ---- */

struct cf_terminal {
    unsigned columns, lines; /* lines 0: as many as it takes */
    int colours;             /* 0, 256 or 1 << 24 */
    int utf8;
};

/* What standard output and the environment say: COLUMNS, LINES, COLORTERM, NO_COLOR, TERM, locale.
 */
struct cf_terminal cf_terminal_here(void);

void cf_terminal_colour(FILE *out, const struct cf_terminal *t, int ground, struct cf_rgb c);

/* Writes text that is safe for a terminal, at most `width` columns of it: the beginning and, after
   "..", the end. Returns the columns. */
unsigned cf_terminal_text(FILE *out, const struct cf_terminal *t, const char *text, unsigned width);

/* ---- pages and sizes (file.c) ---- */

/* "name":"text", or "text" where name is "". Whatever could end the element of a page that holds
   it, or is no clean UTF-8, is written as an escape. */
void cf_json_text(FILE *out, const char *name, const char *text);

/* Adds the command of a further stream to those that a picture names, `*line`, which is NULL at
   first and the caller's to free; one that stands there already is not added, nor are those behind
   the first 4,096 bytes. Exits without memory. */
void cf_picture_command(const struct cf_tool *t, char **line, const char *command);

#endif
