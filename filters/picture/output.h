/* SPDX-License-Identifier: BSD-2-Clause */
/* output.h - the options of programs that draw, and where their output goes. */
#ifndef CF_OUTPUT_H
#define CF_OUTPUT_H

#include "formats/program/cf_options.h"
#include "filters/picture/picture.h"

struct cf_output {
    const char *picture, *html;
    struct cf_sheet sheet; /* the program sets the size that is not given */
};

/* The options of struct cf_output `o`. Programs that draw on terminals too have CF_FORM_OPTIONS. */
#define CF_PICTURE_OPTIONS(o)                                                                      \
    {"html", 0, CF_FILE(&(o)->html)}, {"png", 0, CF_OLD("picture")},                               \
        {"size", 0, CF_OLD("picture-size")}, CF_DRAW_OPTIONS(o)
/* The same without a page. */
#define CF_DRAW_OPTIONS(o)                                                                         \
    {"picture", 0, CF_FILE(&(o)->picture)}, {"picture-size", 0, CF_CALL(cf_output_size, (o))},     \
    {                                                                                              \
        "title", 0, CF_TEXT(&(o)->sheet.title)                                                     \
    }
void cf_output_size(const struct cf_tool *t, void *output, const char *option, char *text);

/* After all options: takes the form of the picture from its name, and exits with CF_EXIT_USAGE
   where that names none or where a picture would go to a terminal. */
void cf_output_check(const struct cf_tool *t, struct cf_output *o);

/* What standard output gets: a picture (which cf_output_draw() writes), a drawing or CSV. */
enum cf_stdout { CF_STDOUT_PICTURE, CF_STDOUT_DRAWING, CF_STDOUT_CSV };
enum cf_stdout cf_output_stdout(const struct cf_tool *t, const struct cf_output *o);

/* What draws: each returns 0 or -1. Programs without a form for terminals have no `term`. */
struct cf_drawings {
    int (*picture)(const void *what, const struct cf_sheet *, FILE *out);
    int (*html)(const void *what, FILE *out);
    int (*term)(const void *what, FILE *out, const struct cf_terminal *);
};

/* Writes the picture, the page and the drawing that were asked for. Exits with CF_EXIT_ENVIRONMENT
   when one fails. */
void cf_output_draw(const struct cf_tool *t, const struct cf_output *o, const void *what,
                    const struct cf_drawings *by);

#endif
