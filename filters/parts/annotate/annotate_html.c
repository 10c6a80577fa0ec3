/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * annotate_html.c - the annotated source as one page for a browser, page.html with its style and
 * script. Sums that JavaScript's numbers do not hold to the last digit are texts. Memory: one line.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "filters/parts/annotate/annotate.h"

CF_PAGE(annotate_page, CF_PAGE_FILE("filters/parts/annotate/page.css"),
        CF_PAGE_FILE("filters/parts/annotate/page.html"),
        CF_PAGE_FILE("filters/parts/annotate/page.js"));

static void write_values(FILE *out, const struct annotate *a, const uint64_t *sum)
{
    fputc('[', out);
    for (unsigned i = 0; i < a->columns; i++) {
        const unsigned v = a->column[i];
        const double ratio = line_is_ratio(a, v) ? cf_sums_ratio(&a->sums, sum) : 0;

        fputs(i ? "," : "", out);
        if (!line_is_ratio(a, v))
            fprintf(out, sum[v] >> 53 ? "\"%" PRIu64 "\"" : "%" PRIu64, sum[v]);
        else if (isnan(ratio))
            fputs("null", out);
        else
            fprintf(out, "%.9g", ratio);
    }
    fputc(']', out);
}

static void write_safe(FILE *out, const struct annotate *a, const char *name, const char *text)
{
    char *safe = cf_source_safe(a->tool, text);

    cf_json_text(out, name, safe);
    free(safe);
}

static void write_file(FILE *out, const struct annotate *a, const struct file *f)
{
    fputc('{', out);
    write_safe(out, a, "name", f->name);
    fputc(',', out);
    write_safe(out, a, "path", f->path ? f->path : "");
    fputc(',', out);
    cf_json_text(out, "lack", f->lack ? f->lack : "");
    fputs(",\"sum\":", out);
    write_values(out, a, f->sum);
    fputs(",\"lines\":[", out);
    for (size_t i = 0; i < f->shown_lines; i++) {
        const struct shown *s = &f->shown[i];

        fprintf(out, "%s[%" PRIu64 ",", i ? ",\n" : "", s->number);
        if (s->sum)
            write_values(out, a, s->sum);
        else
            fputs("null", out);
        fputc(',', out);
        if (s->text)
            write_safe(out, a, "", s->text);
        else
            fputs("null", out);
        fputc(']', out);
    }
    fputs("]}", out);
}

static void write_names(FILE *out, const struct annotate *a)
{
    fputs("\"values\":[", out);
    for (unsigned i = 0; i < a->columns; i++) {
        fputs(i ? ",{" : "{", out);
        cf_json_text(out, "name", cf_sum_name(&a->sums.list[a->column[i]]));
        fprintf(out, ",\"ratio\":%s}", line_is_ratio(a, a->column[i]) ? "true" : "false");
    }
    fputs("],\n\"sort\":", out);
    for (unsigned i = 0; i < a->columns; i++)
        if (a->column[i] == a->sort)
            fprintf(out, "%u", i);
}

/* The files of which no line is shown. */
static void write_rest(FILE *out, const struct annotate *a)
{
    uint64_t sum[CF_MOST_SUMS];

    fprintf(out, ",\n\"rest\":{\"files\":%zu,\"sum\":", lines_rest(a, sum));
    write_values(out, a, sum);
    fputc('}', out);
}

static void write_data(const void *what, FILE *out)
{
    const struct annotate *a = what;
    const char *title = a->o.output.sheet.title;
    char summary[512];
    char *command = cf_source_safe(a->tool, a->command ? a->command : "");
    int any = 0;

    lines_summary(a, summary, sizeof summary);
    cf_page_head(out, title ? title : "Annotated source", command, summary);
    free(command);
    write_names(out, a);
    fputs(",\n\"totals\":[", out);
    for (int part = 0; part < PARTS; part++) {
        fputs(part ? ",{" : "{", out);
        cf_json_text(out, "name", part_name(part));
        fputs(",\"sum\":", out);
        write_values(out, a, a->sum[part]);
        fputc('}', out);
    }
    fputc(']', out);
    write_rest(out, a);
    fputs(",\n\"files\":[", out);
    for (size_t i = 0; i < a->files; i++) {
        if (!a->file[i].wanted)
            continue;
        fputs(any++ ? ",\n" : "\n", out);
        write_file(out, a, &a->file[i]);
    }
    fputs("]}", out);
}

int write_html(const void *annotate, FILE *out)
{
    return cf_page(out, &annotate_page, write_data, annotate);
}
