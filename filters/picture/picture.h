/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * picture.h - what the filters that draw have in common: colours, numbers and texts for people, a
 * canvas that becomes a PNG, SVG or PDF file, terminals, JSON inside a page. Charts of it are in
 * chart.h.
 *
 * Functions that write return 0, or -1 when `out` could not be written or memory is short.
 */
#ifndef CF_PICTURE_H
#define CF_PICTURE_H

#include <cairo/cairo.h>
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

struct cf_rgb cf_heat_colour(double t);    /* 0 cold .. 1 hot */
extern const struct cf_rgb cf_heat_ground; /* where nothing was counted */
extern const struct cf_rgb cf_heat_gap;    /* what is left out */
/* 21 that differ, then again; the first 14 are good for lines, too. */
enum { CF_SERIES_COLOURS = 14 };
struct cf_rgb cf_series_colour(unsigned series);

/* "1234" as "1.23 k"; what is below 1000 without a point. */
void cf_text_number(char *out, size_t size, double value);

/* Marks of an axis from `least` to `most`: a step of 1, 2 or 5 times a power of ten that gives at
   most `marks` of them. */
double cf_axis_step(double least, double most, unsigned marks);

/* What stands at a mark of an axis with marks `step` apart up to `most`: all of them in one unit
   and with as many digits, such as "50 k" and "100 k". */
void cf_axis_number(char *out, size_t size, double value, double step, double most);

/* An axis of time: what to subtract and to divide by before a time is printed, and its title.
   `unit` is that of the times, "snapshot" for numbers of snapshots, or "". */
struct cf_time_axis {
    uint64_t zero;
    double divisor;
    int digits; /* after the point, for marks `step` apart */
    double step;
    char title[128];
};
void cf_time_axis(uint64_t start, uint64_t end, const char *unit, unsigned marks,
                  struct cf_time_axis *axis);

/* Whether snapshots came at even times: each `*period` after the one before it, none further than
   half of that from `*zero` + its number * `*period`; the last may come sooner. `number` NULL: 0,
   1, 2, ... */
int cf_times_even(const uint32_t *number, const uint64_t *time, size_t count, double *zero,
                  double *period);

/* ---- a canvas (canvas.c): PNG, SVG or PDF ---- */

enum cf_form { CF_PNG, CF_SVG, CF_PDF };

/* What a picture is to be. */
struct cf_sheet {
    enum cf_form form;
    uint32_t width, height; /* in pixels, or in millimetres where mm is not 0 */
    int mm;
    const char *title; /* NULL: the picture's own; "": no title and no summary */
};

/* Lengths are in units, of which a line of text takes CF_LINE_HEIGHT: pixels as a rule, and more
   than one pixel where there are many. A millimetre is 4.5 units. What is narrower than
   CF_NARROW has no room for a column beside the drawing. */
enum { CF_LINE_HEIGHT = 15, CF_NARROW = 640 };

struct cf_canvas {
    cairo_t *cr;
    double width, height;
    double dots; /* a unit: pixels of a PNG; else as many as an image should have */
    const struct cf_sheet *sheet;
    FILE *out;
    size_t written;
};

extern const struct cf_rgb cf_ink, cf_pale_ink, cf_rule;

/* All paper. NULL without memory; whatever fails later, cf_canvas_finish() returns. */
struct cf_canvas *cf_canvas_new(const struct cf_sheet *s, FILE *out) CF_MUST_CHECK;

/* Writes the picture and frees the canvas. */
int cf_canvas_finish(struct cf_canvas *p) CF_MUST_CHECK;

/* The colour of what is drawn by Cairo's functions from here on. */
void cf_canvas_colour(struct cf_canvas *p, struct cf_rgb c);

void cf_canvas_box(struct cf_canvas *p, double x, double y, double width, double height,
                   struct cf_rgb colour);

/* Pixels of 0xRRGGBB: in a PNG dot by dot (as many as cf_canvas_dots() gives of both lengths), else
   stretched. */
uint32_t cf_canvas_dots(const struct cf_canvas *p, double units);
void cf_canvas_image(struct cf_canvas *p, double x, double y, double width, double height,
                     uint32_t *pixels, uint32_t columns, uint32_t lines);

/* Text whose capitals reach up to y; x is its left (align 0), middle (0.5) or right (1). */
void cf_canvas_text(struct cf_canvas *p, double x, double y, double align, struct cf_rgb colour,
                    const char *text);
double cf_canvas_text_width(struct cf_canvas *p, const char *text);

/* Text cut to a width: of a path, where it does not fit, the last part, and of what is still too
   long the beginning and the end. */
void cf_canvas_text_cut(struct cf_canvas *p, double x, double y, double width, struct cf_rgb colour,
                        const char *text);

/* A mark of a level axis, and text below it, unless it would begin left of `end`, which moves. */
void cf_canvas_mark(struct cf_canvas *p, double x, double y, const char *text, double *end);

/* An axis of time below a drawing, with its title. */
void cf_canvas_time(struct cf_canvas *p, double x, double width, double y, uint64_t start,
                    uint64_t end, const char *unit);

/* Text in as many lines as it takes, or `most` at most where that is not 0; returns their height.
 */
double cf_canvas_paragraph(struct cf_canvas *p, double x, double y, double width,
                           struct cf_rgb colour, unsigned most, const char *text);

/* Title, cut where it would take more than a sixth of the height, what was observed ("" for
   nothing) and summary at the top; the title alone where the picture is low. Returns where they
   end. */
double cf_canvas_head(struct cf_canvas *p, const char *title, const char *command,
                      const char *summary);

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

/* An axis of time below `width` columns that begin at `gutter`, and its title. */
void cf_terminal_time(FILE *out, const struct cf_terminal *t, unsigned gutter, uint32_t width,
                      uint64_t start, uint64_t end, const char *unit);

/* Title and summary, cut to the width. */
void cf_terminal_head(FILE *out, const struct cf_terminal *t, const char *title,
                      const char *summary);

/* ---- pages and sizes (file.c) ---- */

/* "name":"text", or "text" where name is "". Whatever could end the element of a page that holds
   it, or is no clean UTF-8, is written as an escape. */
void cf_json_text(FILE *out, const char *name, const char *text);

/* A number of a page: "null" for NAN. */
void cf_json_number(FILE *out, double value);

/* The parts of a page that are its own; what all pages have in common is in page.html, page.css and
   page.js, by the order of style, body, data and script. */
struct cf_page {
    const char *style, *body, *script;
};

/* Defines a struct cf_page `page` of files that are linked into the program, each part as one or
   more CF_PAGE_FILE(name from the top of the tree). The Makefile has a line for its object, since
   the compiler tells of no file that is taken in so. Hidden, since on AArch64 an address that is
   fetched from the global offset table would be that of the section. */
#define CF_PAGE_FILE(name) ".incbin \"" name "\"\n"
#define CF_PAGE(page, style, body, script)                                                         \
    __asm__(".section .rodata\n" #page "_style:\n" style ".byte 0\n" #page "_body:\n" body         \
            ".byte 0\n" #page "_script:\n" script ".byte 0\n.previous\n");                         \
    __attribute__((visibility("hidden"))) extern const char page##_style[], page##_body[],         \
        page##_script[];                                                                           \
    static const struct cf_page page = {page##_style, page##_body, page##_script}

/* Writes a page with what `data` writes, a JSON object, as its constant `data`. */
int cf_page(FILE *out, const struct cf_page *page, void (*data)(const void *what, FILE *out),
            const void *what) CF_MUST_CHECK;

/* What the head of a page shows, as the first members of the object: {"title":...,. */
void cf_page_head(FILE *out, const char *title, const char *command, const char *summary);

#endif
