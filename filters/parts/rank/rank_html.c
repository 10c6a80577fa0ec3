/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_html.c - a ranking as one page for a browser, page.html with its style and script.
 *
 * The data is JSON: names, values and, of a profile, what they vary between and the runs of the
 * best k. Memory: none.
 */
#include <inttypes.h>

#include "filters/parts/rank/rank.h"

CF_PAGE(rank_page, CF_PAGE_FILE("filters/parts/rank/page.css"),
        CF_PAGE_FILE("filters/parts/rank/page.html"), CF_PAGE_FILE("filters/parts/rank/page.js"));

/* After a comma, and a name where it has one. */
static void write_number(FILE *out, const char *name, double value)
{
    fprintf(out, *name ? ",\"%s\":" : ",", name);
    cf_json_number(out, value);
}

static void write_curve(FILE *out, const char *name, const struct cf_runtimes *run, size_t runs)
{
    const char *comma = "";

    fprintf(out, ",\n\"%s\":[", name);
    for (size_t k = 0; k < runs; k++) {
        if (!run[k].count)
            continue;
        fprintf(out, "%s[%zu", comma, k);
        write_number(out, "", cf_runtimes_mean(&run[k]));
        write_number(out, "", (double)run[k].least);
        write_number(out, "", (double)run[k].most);
        fputc(']', out);
        comma = ",";
    }
    fputc(']', out);
}

static void write_data(const void *what, FILE *out)
{
    const struct rank_drawing *d = what;
    const struct cf_profile *p = d->profile;

    cf_page_head(out, d->bars.title, "", d->bars.summary);
    cf_json_text(out, "value", d->value);
    write_number(out, "total", d->bars.total);
    fprintf(out, ",\"all\":%zu,\n\"rows\":[", d->bars.all);
    for (size_t i = 0; i < d->bars.count; i++) {
        fputs(i ? ",\n[" : "[", out);
        cf_json_text(out, "", d->bars.name[i]);
        if (d->sum)
            fprintf(out, ",\"%" PRIu64 "\"", d->sum[i]);
        else
            write_number(out, "", d->bars.value[i]);
        if (p) {
            write_number(out, "", p->page[i].gain_least);
            write_number(out, "", p->page[i].gain_most);
            fputc(',', out);
            cf_json_text(out, "", p->page[i].region);
        }
        fputc(']', out);
    }
    fputc(']', out);
    if (p) {
        fprintf(out, ",\n\"set\":%zu,\"by_run\":%s,\"only\":%s", d->set,
                d->set_by_run ? "true" : "false", p->mode == CF_PAGES_ONLY ? "true" : "false");
        if (p->none.count)
            write_number(out, "none", cf_runtimes_mean(&p->none));
        if (p->all.count)
            write_number(out, "every", cf_runtimes_mean(&p->all));
        write_curve(out, "best", p->best, p->ks);
        write_curve(out, "moved", p->moved, p->moves);
    }
    fputc('}', out);
}

int rank_html(const void *what, FILE *out)
{
    return cf_page(out, &rank_page, write_data, what);
}
