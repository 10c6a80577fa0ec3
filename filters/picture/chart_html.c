/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart_html.c - a chart as one page for a browser, chart.html with its style and script.
 *
 * The data is JSON; counts are lists of numbers. Memory: none.
 */
#include <inttypes.h>

#include "filters/picture/chart.h"

CF_PAGE(chart_page, CF_PAGE_FILE("filters/picture/chart.css"),
        CF_PAGE_FILE("filters/picture/chart.html"), CF_PAGE_FILE("filters/picture/chart.js"));

/* Of one of the two. */
static void write_numbers(FILE *out, const uint32_t *number, const double *value, uint32_t count)
{
    fputc('[', out);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        if (number)
            fprintf(out, "%" PRIu32, number[i]);
        else
            cf_json_number(out, value[i]);
    }
    fputc(']', out);
}

static void write_data(const void *what, FILE *out)
{
    const struct cf_chart *c = what;
    char summary[CF_CHART_SUMMARY];

    cf_page_head(out, c->title, c->command, cf_chart_summary(c, summary));
    fprintf(out, "\"whole\":%" PRIu64 ",\"top\":", c->whole);
    cf_json_number(out, cf_chart_top(c));
    fprintf(out, ",\n\"%s\":", c->size ? "size" : "snapshot");
    write_numbers(out, c->snapshot, c->size, c->points);
    if (c->time) {
        fputs(",\n\"time\":[", out);
        for (uint32_t i = 0; i < c->points; i++)
            fprintf(out, "%s\"%" PRIu64 "\"", i ? "," : "", c->time[i]);
        fputs("],", out);
        cf_json_text(out, "unit", *c->unit ? c->unit : "ticks");
    }
    fputs(",\n\"signs\":[", out);
    for (unsigned i = 0; i < c->signs; i++) {
        fputs(i ? ",[" : "[", out);
        cf_json_number(out, c->sign[i].size);
        fputc(',', out);
        cf_json_text(out, "", c->sign[i].name);
        fputc(']', out);
    }
    if (c->own) {
        fputs("],\n\"own\":[", out);
        for (unsigned s = 0; s < c->series; s++) {
            fputs(s ? ",[" : "[", out);
            for (uint32_t i = 0; i < c->points; i++)
                fprintf(out, i ? ",%d" : "%d", c->own[(size_t)s * c->points + i]);
            fputc(']', out);
        }
    }
    fputs("],\n\"series\":[", out);
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
            write_numbers(out, NULL, c->panel[k].value + (size_t)s * c->points, c->points);
        }
        fputs("]}", out);
    }
    fputs("]}", out);
}

int cf_chart_html(const void *what, FILE *out)
{
    return cf_page(out, &chart_page, write_data, what);
}
