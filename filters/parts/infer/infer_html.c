/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * infer_html.c - the experiments as one page for a browser, page.html with its style and script.
 *
 * The data is JSON: of each experiment its points, and where its change lies; what is known of each
 * cache. Memory: none.
 */
#include <inttypes.h>
#include <math.h>

#include "filters/parts/infer/infer.h"

CF_PAGE(infer_page, CF_PAGE_FILE("filters/parts/infer/page.css"),
        CF_PAGE_FILE("filters/parts/infer/page.html"), CF_PAGE_FILE("filters/parts/infer/page.js"));

static void put_series(const struct infer *f, const struct series *s, FILE *out)
{
    const struct cf_change *c = &s->change;
    const char *comma = "";
    char name[80];

    series_name(f, s, name, sizeof name);
    putc('{', out);
    cf_json_text(out, "name", name);
    putc(',', out);
    cf_json_text(out, "axis", experiment_kinds[s->is].axis);
    putc(',', out);
    cf_json_text(out, "values", s->points.counted ? "misses" : f->unit ? f->unit : "time");
    if (c->count && c->state != CF_CHANGE_NONE && c->state != CF_CHANGE_FEW)
        fprintf(out, ",\"fits\":%" PRIu64 ",\"beyond\":%" PRIu64 ",\"sure\":%.4f", c->value,
                c->beyond, c->confidence);
    fputs(",\"points\":[", out);
    for (size_t i = 0; i < s->points.count; i++) {
        const struct cf_point *x = &s->points.point[i];

        if (isnan(x->value))
            continue;
        fprintf(out, "%s[%" PRIu64 ",%.9g,%.3g,%u]", comma, x->parameter, x->value, x->spread,
                x->good);
        comma = ",";
    }
    fputs("]}", out);
}

/* A row of the table: the texts of its cells. */
static void put_known(const char *comma, const char *of, const char *what, const struct value *v,
                      FILE *out)
{
    char number[96] = "";

    if (v->is && v->how != NOT_TOLD)
        snprintf(number, sizeof number, "%" PRIu64, v->is);
    else if (v->is && v->most != UINT64_MAX)
        snprintf(number, sizeof number, "%" PRIu64 " to %" PRIu64, v->least, v->most);
    fprintf(out, "%s\n[", comma);
    cf_json_text(out, "", of);
    putc(',', out);
    cf_json_text(out, "", what);
    putc(',', out);
    cf_json_text(out, "", number);
    putc(',', out);
    cf_json_text(out, "", how_names[v->how]);
    fprintf(out, ",%.4f,", v->confidence);
    cf_json_text(out, "", v->by);
    putc(']', out);
}

static void write_data(const void *what, FILE *out)
{
    const struct sheet *s = what;
    const struct infer *f = s->f;
    const char *comma = "";
    char summary[160], name[16];

    snprintf(summary, sizeof summary, "%zu measurements, %" PRIu64 " spoilt", f->rows, f->spoilt);
    cf_page_head(out, f->machine ? f->machine : f->cpu ? f->cpu : "Measurements", "", summary);
    fputs("\n\"known\":[", out);
    for (unsigned i = 0; i < f->caches; i++)
        for (unsigned k = 0; k < WHATS; k++)
            if (f->cache[i].value[k].how != NOT_MEASURED) {
                put_known(comma, f->cache[i].name, what_names[k], &f->cache[i].value[k], out);
                comma = ",";
            }
    for (unsigned i = 0; i < f->tlbs; i++) {
        snprintf(name, sizeof name, "tlb %u", i + 1);
        put_known(comma, name, "entries", &f->tlb[i].entries, out);
        comma = ",";
    }
    fputs("],\n\"series\":[", out);
    for (unsigned i = 0; i < s->count; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_series(f, s->series[i], out);
    }
    fputs("]}", out);
}

int infer_html(const void *what, FILE *out)
{
    return cf_page(out, &infer_page, write_data, what);
}
