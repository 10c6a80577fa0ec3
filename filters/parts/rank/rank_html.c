/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_html.c - a ranking as one page for a browser, page.html with its style and script.
 *
 * The data is JSON: names, values and, of a profile, what they vary between and the runs of the
 * best k. Memory: none.
 */
#include "filters/parts/rank/rank.h"

CF_PAGE(rank_page, CF_PAGE_FILE("filters/parts/rank/page.css"),
        CF_PAGE_FILE("filters/parts/rank/page.html"), CF_PAGE_FILE("filters/parts/rank/page.js"));

static void write_curve(FILE *out, const char *name, const struct cf_runtimes *run, size_t runs)
{
    const char *comma = "";

    fprintf(out, ",\n\"%s\":[", name);
    for (size_t k = 0; k < runs; k++) {
        if (!run[k].count)
            continue;
        fprintf(out, "%s[%zu,%.9g,%.9g,%.9g]", comma, k, cf_runtimes_mean(&run[k]),
                (double)run[k].least, (double)run[k].most);
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
    fprintf(out, ",\"total\":%.9g,\"all\":%zu,\n\"rows\":[", d->bars.total, d->bars.all);
    for (size_t i = 0; i < d->bars.count; i++) {
        fputs(i ? ",\n[" : "[", out);
        cf_json_text(out, "", d->bars.name[i]);
        fprintf(out, ",%.9g", d->bars.value[i]);
        if (p) {
            fprintf(out, ",%.9g,%.9g,", p->page[i].gain_least, p->page[i].gain_most);
            cf_json_text(out, "", p->page[i].region);
        }
        fputc(']', out);
    }
    fputc(']', out);
    if (p) {
        fprintf(out, ",\n\"set\":%zu,\"by_run\":%s,\"only\":%s", d->set,
                d->set_by_run ? "true" : "false", p->mode == CF_PAGES_ONLY ? "true" : "false");
        if (p->none.count)
            fprintf(out, ",\"none\":%.9g", cf_runtimes_mean(&p->none));
        if (p->all.count)
            fprintf(out, ",\"every\":%.9g", cf_runtimes_mean(&p->all));
        write_curve(out, "best", p->best, p->ks);
        write_curve(out, "moved", p->moved, p->moves);
    }
    fputc('}', out);
}

int rank_html(const void *what, FILE *out)
{
    return cf_page(out, &rank_page, write_data, what);
}
