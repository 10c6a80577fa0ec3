/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_picture.c - the curves as a chart: a line for each of the groups with most accesses, and the
 * caches of a machine. Memory: 8 bytes a point and line.
 */
#include <stdlib.h>

#include "filters/parts/mrc/mrc.h"

enum { MOST = 12 };

/* The caches of the machine that hold data, by size. */
static unsigned find_signs(const struct cf_machine *machine, struct cf_chart_sign *sign)
{
    unsigned n = 0;

    for (uint32_t i = 0; machine && i < machine->levels; i++) {
        const struct cf_level *level = &machine->level[i];
        unsigned at = n;

        if (level->kind == CF_INSTRUCTION_CACHE)
            continue;
        for (n++; at && sign[at - 1].size > (double)level->size; at--)
            sign[at] = sign[at - 1];
        sign[at] = (struct cf_chart_sign){(double)level->size, level->name};
    }
    return n;
}

static void name_series(const struct mrc *m, uint64_t value, char *out, size_t size)
{
    if (cf_column_type(m->by) == CF_STR)
        snprintf(out, size, "%s", cf_reader_text(m->reader, (uint32_t)value));
    else if (m->by == CF_OP && cf_op_name((unsigned)value))
        snprintf(out, size, "%s", cf_op_name((unsigned)value));
    else
        snprintf(out, size, "%s %llu", m->o.by, (unsigned long long)value);
}

void mrc_draw(const struct mrc *m, const struct line *line, const struct cf_group *group,
              size_t groups, size_t points)
{
    static const struct cf_drawings drawings = {cf_chart_picture, cf_chart_html, NULL};
    char names[MOST][512];
    struct cf_chart_series series[MOST];
    struct cf_chart_sign sign[CF_MAX_LEVELS];
    double *value = cf_need(&m->tool, calloc(MOST * points + 1, sizeof *value));
    double *size = cf_need(&m->tool, calloc(points + 1, sizeof *size));
    char *drawn = cf_need(&m->tool, calloc(groups + 1, 1));
    struct cf_machine *machine = m->o.machine ? cf_tool_machine(&m->tool, m->o.machine) : NULL;
    struct cf_chart c = {.title = "Miss-ratio curve", .command = "", .points = (uint32_t)points};

    c.series = groups < MOST ? (unsigned)groups : MOST;
    for (unsigned s = 0; s < c.series; s++) {
        size_t next = groups;

        for (size_t g = 0; g < groups; g++)
            if (!drawn[g] && (next == groups ||
                              line[group[g].number].accesses > line[group[next].number].accesses))
                next = g;
        drawn[next] = 1;
        name_series(m, group[next].value, names[s], sizeof names[s]);
        series[s] = (struct cf_chart_series){names[s], cf_series_colour(s)};
        for (size_t i = 0; i < points; i++)
            value[s * points + i] = (double)line[group[next].number].misses[i] /
                                    (double)line[group[next].number].accesses;
    }
    for (size_t i = 0; i < points; i++)
        size[i] = (double)(m->lines[i] * m->sets * m->line_size);
    if (!m->by)
        snprintf(names[0], sizeof *names, "all accesses");
    if (groups > c.series)
        snprintf(c.summary, sizeof c.summary,
                 "LRU caches of lines of %llu bytes; the %u of %zu "
                 "with most accesses",
                 (unsigned long long)m->line_size, c.series, groups);
    else
        snprintf(c.summary, sizeof c.summary, "LRU caches of lines of %llu bytes",
                 (unsigned long long)m->line_size);
    c.whole = 1;
    c.panels = 1;
    c.name = series;
    c.size = size;
    c.sign = sign;
    c.signs = find_signs(machine, sign);
    c.panel[0] = (struct cf_chart_panel){.title = "miss ratio", .value = value};
    cf_output_draw(&m->tool, &m->o.output, &c, &drawings);
    cf_machine_free(machine);
    free(value);
    free(size);
    free(drawn);
}
