/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.c - the options of programs that draw (see output.h).
 *
 * In: options. Out: a choice, and files by file.c.
 */
#include <string.h>
#include <unistd.h>

#include "filters/picture/output.h"

void cf_output_size(const struct cf_tool *t, void *output, const char *option, char *text)
{
    struct cf_output *o = output;
    char *x = strchr(text, 'x');

    if (!x)
        cf_die(t, CF_EXIT_USAGE, "%s: '%s' is no size: write WIDTHxHEIGHT", option, text);
    *x = '\0';
    o->width = (uint32_t)cf_parse_u64(t, option, text, 500, 16384);
    o->height = (uint32_t)cf_parse_u64(t, option, x + 1, 260, 16384);
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
