/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - what goes into pictures and pages: texts, data, the commands of the streams.
 */
#include <math.h>
#include <string.h>

#include "filters/picture/picture.h"

void cf_json_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, *name ? "\"%s\":" : "%s", name);
    cf_text_json(out, text, "<>&'");
}

/* Whole numbers and large ones to the last digit, as CSV has them; of ratios what can be seen. */
void cf_json_number(FILE *out, double value)
{
    if (isnan(value))
        fputs("null", out);
    else
        fprintf(out, "%.*g", value == floor(value) || fabs(value) >= 1e6 ? 17 : 9, value);
}

CF_PAGE(common, CF_PAGE_FILE("filters/picture/page.css"), CF_PAGE_FILE("filters/picture/page.html"),
        CF_PAGE_FILE("filters/picture/page.js"));

static void write_colour(FILE *out, struct cf_rgb c)
{
    fprintf(out, "%02x%02x%02x", c.r, c.g, c.b);
}

/* What stands in place of a mark of page.html. */
static void write_part(FILE *out, const char *mark, const struct cf_page *page)
{
    if (!strncmp(mark, "@STYLE@", 7)) {
        fputs(common.style, out);
        fputs(page->style, out);
    } else if (!strncmp(mark, "@BODY@", 6)) {
        fputs(page->body, out);
    } else if (!strncmp(mark, "@RAMP@", 6)) {
        for (int i = 0; i < 256; i++)
            write_colour(out, cf_heat_colour(i / 255.0));
    } else if (!strncmp(mark, "@GROUNDS@", 9)) {
        write_colour(out, cf_heat_ground);
        write_colour(out, cf_heat_gap);
    } else {
        fputs(common.script, out);
        fputs(page->script, out);
    }
}

int cf_page(FILE *out, const struct cf_page *page, void (*data)(const void *what, FILE *out),
            const void *what)
{
    const char *at = common.body, *mark;

    for (; (mark = strchr(at, '@')) != NULL; at = strchr(mark + 1, '@') + 1) {
        fwrite(at, 1, (size_t)(mark - at), out);
        if (!strncmp(mark, "@DATA@", 6))
            data(what, out);
        else
            write_part(out, mark, page);
    }
    fputs(at, out);
    return ferror(out) ? -1 : 0;
}

void cf_page_head(FILE *out, const char *title, const char *command, const char *summary)
{
    fputc('{', out);
    cf_json_text(out, "title", title);
    fputc(',', out);
    cf_json_text(out, "command", command);
    fputc(',', out);
    cf_json_text(out, "summary", summary);
    fputc(',', out);
}
