/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.c - the options of programs that draw (see output.h).
 *
 * In: options. Out: a choice, and files by file.c.
 */
#include <string.h>
#include <unistd.h>

#include "filters/picture/output.h"

void cf_output_option(struct cf_tool *t, struct cf_output *o, int option, const char *argument)
{
    switch (option) {
    case CF_OPT_PNG:
        o->png = argument;
        break;
    case CF_OPT_HTML:
        o->html = argument;
        break;
    case CF_OPT_SIZE:
        cf_picture_size(t, "--size", argument, &o->width, &o->height);
        break;
    default:
        cf_common_option(t, option);
    }
}

static int to_stdout(const char *file)
{
    return file && !strcmp(file, "-");
}

void cf_output_check(const struct cf_tool *t, const struct cf_output *o)
{
    if (to_stdout(o->png) && to_stdout(o->html))
        cf_die(t, CF_EXIT_USAGE, "--png and --html cannot both go to standard output");
    if ((to_stdout(o->png) || to_stdout(o->html)) && isatty(1))
        cf_die(t, CF_EXIT_USAGE,
               "a picture is not written to a terminal: give --png or --html a FILE");
}

enum cf_stdout cf_output_stdout(const struct cf_tool *t, const struct cf_output *o)
{
    if (to_stdout(o->png) || to_stdout(o->html))
        return CF_STDOUT_PICTURE;
    return cf_tool_term(t) ? CF_STDOUT_DRAWING : CF_STDOUT_CSV;
}

/* What cf_tool_file() hands to the functions below. */
struct job {
    const struct cf_output *o;
    const void *what;
    int (*png)(const void *what, FILE *out, uint32_t width, uint32_t height);
    int (*html)(const void *what, FILE *out);
};

static int write_png(const void *arg, FILE *out)
{
    const struct job *j = arg;

    return j->png(j->what, out, j->o->width, j->o->height);
}

static int write_html(const void *arg, FILE *out)
{
    const struct job *j = arg;

    return j->html(j->what, out);
}

void cf_output_pictures(const struct cf_tool *t, const struct cf_output *o, const void *what,
                        int (*png)(const void *what, FILE *out, uint32_t width, uint32_t height),
                        int (*html)(const void *what, FILE *out))
{
    const struct job j = {o, what, png, html};

    if (o->png)
        cf_tool_file(t, o->png, write_png, &j);
    if (o->html)
        cf_tool_file(t, o->html, write_html, &j);
}
