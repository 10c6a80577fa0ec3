/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * summary.c - references and misses by level, operation and class, as CSV and as a picture. Memory:
 * 180 bytes for each machine, level and operation.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/parts/classify/classify.h"
#include "filters/picture/chart.h"
#include "formats/base/cf_memory.h"

void summary_add(struct summary *s, const char *level, unsigned op, uint64_t references,
                 const uint64_t *misses, uint64_t unknown)
{
    struct summary_row *r;

    if (!references)
        return;
    cf_must(s->tool, cf_array_room(&s->row, &s->room, s->rows + 1, sizeof *s->row));
    r = &s->row[s->rows++];
    *r = (struct summary_row){.machine = s->machine,
                              .level = level,
                              .op = op,
                              .references = references,
                              .unknown = unknown};
    for (const uint8_t *k = s->rule->classes; *k; k++)
        r->misses[*k] = misses[*k];
}

void summary_print(const struct summary *s)
{
    const uint8_t *const classes = s->rule->classes;

    fputs(s->machines > 1 ? "machine,level,op,references,misses" : "level,op,references,misses",
          stdout);
    for (const uint8_t *k = classes; *k; k++)
        cf_csv_text(stdout, 0, cf_class_name(*k));
    if (s->rule->unknown)
        cf_csv_text(stdout, 0, "unknown");
    cf_csv_end(stdout);
    for (size_t i = 0; i < s->rows; i++) {
        const struct summary_row *r = &s->row[i];
        uint64_t misses = 0;

        for (const uint8_t *k = classes; *k; k++)
            misses += r->misses[*k];
        if (s->machines > 1)
            cf_csv_print(stdout, "%s,", r->machine);
        cf_csv_print(stdout, "%s,%s,%" PRIu64 ",%" PRIu64, r->level, cf_op_name(r->op),
                     r->references, misses);
        for (const uint8_t *k = classes; *k; k++)
            cf_csv_u64(stdout, 0, r->misses[*k]);
        if (s->rule->unknown)
            cf_csv_u64(stdout, 0, r->unknown);
        cf_csv_end(stdout);
    }
}

/* A bar a row: the classes, as shares of its references. */
void summary_draw(const struct summary *s, const struct cf_output *o)
{
    struct cf_chart_series series[CF_CLASS_UNCLASSIFIED];
    const char **label = cf_tool_room(s->tool, s->rows, sizeof *label);
    const char **group = cf_tool_room(s->tool, s->rows, sizeof *group);
    double *value = cf_tool_room(s->tool, s->rows * CF_CLASS_UNCLASSIFIED, sizeof *value);
    struct cf_chart c = {.title = "Why accesses miss",
                         .command = "",
                         .panels = 1,
                         .points = (uint32_t)s->rows,
                         .whole = 100,
                         .name = series,
                         .label = label,
                         .group = group};

    for (const uint8_t *k = s->rule->classes; *k; k++, c.series++) {
        series[c.series] = (struct cf_chart_series){cf_class_name(*k), cf_series_colour(c.series)};
        for (size_t i = 0; i < s->rows; i++)
            value[c.series * s->rows + i] =
                100 * (double)s->row[i].misses[*k] / (double)s->row[i].references;
    }
    for (size_t i = 0; i < s->rows; i++) {
        label[i] = cf_tool_text(s->tool, "%s %s", s->row[i].level, cf_op_name(s->row[i].op));
        group[i] = s->row[i].machine;
    }
    c.panel[0] = (struct cf_chart_panel){
        .title = "misses, share of the references", .stacked = 1, .value = value};
    cf_output_draw(s->tool, o, &c, &cf_chart_drawings);
}
