/* SPDX-License-Identifier: BSD-2-Clause */
/* output.h - the options of programs that draw, and where their output goes. */
#ifndef CF_OUTPUT_H
#define CF_OUTPUT_H

#include "formats/program/cf_options.h"
#include "filters/picture/picture.h"

struct cf_output {
    const char *png, *html;
    uint32_t width, height; /* of the PNG, in pixels: the program sets what they are if not given */
};

/* The options of struct cf_output `o`. Programs that draw on terminals too have CF_FORM_OPTIONS. */
#define CF_PICTURE_OPTIONS(o)                                                                      \
    {"png", 0, CF_TEXT(&(o)->png)}, {"html", 0, CF_TEXT(&(o)->html)},                              \
        {"picture-size", 0, CF_CALL(cf_output_size, (o))},                                         \
    {                                                                                              \
        "size", 0, CF_OLD("picture-size")                                                          \
    }
void cf_output_size(const struct cf_tool *t, void *output, const char *option, char *text);

/* After all options: exits with CF_EXIT_USAGE where two things, or a picture and a terminal, would
   come together on standard output. */
void cf_output_check(const struct cf_tool *t, const struct cf_output *o);

/* What standard output gets: a picture (which cf_output_pictures() writes), a drawing or CSV. */
enum cf_stdout { CF_STDOUT_PICTURE, CF_STDOUT_DRAWING, CF_STDOUT_CSV };
enum cf_stdout cf_output_stdout(const struct cf_tool *t, const struct cf_output *o);

/* Writes the picture and the page that were asked for. Exits with CF_EXIT_ENVIRONMENT when one
   fails. */
void cf_output_pictures(const struct cf_tool *t, const struct cf_output *o, const void *what,
                        int (*png)(const void *what, FILE *out, uint32_t width, uint32_t height),
                        int (*html)(const void *what, FILE *out));

#endif
