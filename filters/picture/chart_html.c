/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart_html.c - a chart as one page for a browser: chart.html, which is linked into the program,
 * with the data in place of its mark. Nothing is loaded from elsewhere.
 *
 * The data is JSON; counts are lists of numbers. Memory: none.
 */
#include <inttypes.h>
#include <string.h>

#include "filters/picture/chart.h"

__asm__(".section .rodata\n"
        ".balign 16\n"
        "chart_page:\n"
        ".incbin \"filters/picture/chart.html\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char chart_page[];

static void write_numbers(FILE *out, const uint32_t *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%" PRIu32, i ? "," : "[", value[i]);
    fputs(count ? "]" : "[]", out);
}

static void write_data(const struct cf_chart *c, FILE *out)
{
    fputc('{', out);
    cf_json_text(out, "title", c->title);
    fputc(',', out);
    cf_json_text(out, "summary", c->summary);
    fputc(',', out);
    cf_json_text(out, "command", c->command);
    fprintf(out, ",\"whole\":%" PRIu64 ",\"top\":%" PRIu64 ",\n\"snapshot\":", c->whole,
            cf_chart_top(c));
    write_numbers(out, c->snapshot, c->points);
    fputs(",\n\"series\":[", out);
    for (unsigned s = 0; s < c->series; s++) {
        const struct cf_rgb *rgb = &c->name[s].colour;

        fputs(s ? ",{" : "{", out);
        cf_json_text(out, "name", c->name[s].name);
        fprintf(out, ",\"colour\":\"#%02x%02x%02x\"}", rgb->r, rgb->g, rgb->b);
    }
    fputs("],\n\"panels\":[", out);
    for (unsigned k = 0; k < c->panels; k++) {
        fputs(k ? ",\n{" : "{", out);
        cf_json_text(out, "title", c->panel[k].title);
        fprintf(out, ",\"stacked\":%s,\"lines\":[", c->panel[k].stacked ? "true" : "false");
        for (unsigned s = 0; s < c->series; s++) {
            fputs(s ? ",\n" : "", out);
            write_numbers(out, c->panel[k].lines + (size_t)s * c->points, c->points);
        }
        fputs("]}", out);
    }
    fputs("]}", out);
}

int cf_chart_html(const struct cf_chart *c, FILE *out)
{
    static const char mark[] = "@DATA@";
    const char *page = chart_page, *at = strstr(page, mark);

    if (!at)
        return -1;
    fwrite(page, 1, (size_t)(at - page), out);
    write_data(c, out);
    fputs(at + strlen(mark), out);
    return ferror(out) ? -1 : 0;
}
