/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_csv.c - miss-ratio curves as CSV and as a chart.
 *
 * Memory: a few words a point, for the chart 8 bytes a point and line.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/mrc/mrc.h"
#include "formats/program/cf_rows.h"

static void make_line(const struct mrc *m, size_t group, struct line *l)
{
    *l = (struct line){.rate = 1,
                       .misses = cf_tool_room(&m->tool, m->points, sizeof(*l->misses)),
                       .error = cf_tool_room(&m->tool, m->points, sizeof(*l->error))};
    l->compulsory = part_misses(m->exact, group, l->misses, m->points);
    l->accesses = cf_curve_total(m->exact, group) + l->compulsory +
                  cf_curve_named(m->exact, group, CF_DIST_BEYOND);
    if (m->sampled)
        samples_add(m, group, l);
}

/* ---- where the curves end ---- */

/* 1 when there are distances beyond the bound of the stream. */
static int is_bounded(const struct mrc *m, size_t groups)
{
    for (size_t g = 0; g < groups; g++) {
        if (cf_curve_named(m->exact, g, CF_DIST_BEYOND))
            return 1;
        for (size_t p = 0; m->sampled && p < PARTS; p++)
            if (cf_curve_named(m->sampled, g * PARTS + p, CF_DIST_BEYOND))
                return 1;
    }
    return 0;
}

/* Points that are known: a cache of more lines than the longest distance, and one, may hold
   some of what is beyond. */
static size_t known_points(const struct mrc *m, size_t groups, const struct line *line)
{
    uint64_t most = m->bound;
    size_t n = 0;

    if (!is_bounded(m, groups))
        return m->points;
    for (size_t g = 0; g < groups && !m->bound; g++)
        for (size_t i = 0; i + 1 < m->points; i++)
            if (line[g].misses[i] != line[g].misses[m->points - 1] && m->lines[i] > most)
                most = m->lines[i];
    while (n < m->points && m->lines[n] - 1 <= most)
        n++;
    return n;
}

/* Points up to the first at which no curve falls any more. */
static size_t useful_points(const struct mrc *m, size_t groups, const struct line *line, size_t n)
{
    size_t useful = n ? 1 : 0;

    if (m->o.at.count || m->o.most || n < m->points)
        return n;
    for (size_t g = 0; g < groups; g++)
        for (size_t i = useful; i < n; i++)
            if (line[g].misses[i] != line[g].misses[i - 1])
                useful = i + 1;
    return useful;
}

/* ---- CSV ---- */

/* What a group is called, NULL where its number says it. */
static const char *word_of(const struct mrc *m, uint64_t value)
{
    if (cf_column_type(m->by) == CF_STR)
        return cf_reader_text(m->reader, (uint32_t)value);
    return m->by == CF_OP ? cf_op_name((unsigned)value) : NULL;
}

/* NAN where there is none, or where it is not known. */
static double miss_ratio(const struct line *l, size_t point)
{
    return l->rate > 0 ? (double)l->misses[point] / (double)l->accesses : NAN;
}

static void put_line(const struct mrc *m, const struct line *l, const uint64_t *key, size_t points)
{
    for (size_t i = 0; i < points; i++) {
        uint64_t lines = m->lines[i] * m->sets;

        if (key && word_of(m, *key))
            cf_csv_text(stdout, 1, word_of(m, *key));
        else if (key)
            cf_csv_u64(stdout, 1, *key);
        cf_csv_u64(stdout, !key, lines * m->line_size);
        cf_csv_u64(stdout, 0, lines);
        if (m->sets > 1)
            cf_csv_u64(stdout, 0, m->lines[i]);
        cf_csv_u64(stdout, 0, l->accesses);
        if (l->rate > 0)
            cf_csv_print(stdout, ",%" PRIu64 ",%" PRIu64 ",%.9f", l->misses[i], l->compulsory,
                         miss_ratio(l, i));
        else
            fputs(",,,", stdout);
        if (m->sampled)
            cf_csv_f64(stdout, 0, l->error[i], 9);
        cf_csv_end(stdout);
    }
}

static void put_all(const struct mrc *m, const struct line *line, const struct cf_group *group,
                    size_t groups, size_t points)
{
    cf_rows_begin(&m->tool);
    if (m->by) {
        cf_csv_text(stdout, 1, m->o.by);
        putchar(',');
    }
    printf("size_bytes,lines,%saccesses,misses,compulsory_misses,miss_ratio%s\n",
           m->sets > 1 ? "ways," : "", m->sampled ? ",miss_ratio_error" : "");
    for (size_t g = 0; g < groups; g++)
        put_line(m, &line[group[g].number], m->by ? &group[g].value : NULL, points);
}

/* ---- picture ---- */

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

/* Of which caches and distances the curves are. */
static void describe(const struct mrc *m, size_t given, unsigned series, char *out, size_t size)
{
    char sets[40] = "", of[80] = "", per[80] = "", some[64] = "";

    if (m->sets > 1)
        snprintf(sets, sizeof sets, "%llu sets and ", (unsigned long long)m->sets);
    if (m->of[0] && strcmp(m->of[0], "data") != 0)
        snprintf(of, sizeof of, "; accesses: %.60s", m->of[0]);
    if (m->of[1] && strcmp(m->of[1], "all") != 0)
        snprintf(per, sizeof per, "; one for each %.60s", m->of[1]);
    if (given > series)
        snprintf(some, sizeof some, "; the %u of %zu with most accesses", series, given);
    snprintf(out, size, "LRU caches of %slines of %llu bytes%s%s%s%s%s", sets,
             (unsigned long long)m->line_size, per, of,
             m->sampled ? "; estimated of sampled lines" : "", given ? "" : "; no accesses", some);
}

/* A line for each of the groups with most accesses, and the caches of a machine. `line` is by the
   numbers of the groups. */
static void draw(const struct mrc *m, const struct line *line, const struct cf_group *group,
                 size_t groups, size_t points)
{
    char names[MOST][512];
    struct cf_chart_series series[MOST];
    struct cf_chart_sign sign[CF_MAX_LEVELS];
    double *value = cf_tool_room(&m->tool, MOST * points + 1, sizeof *value);
    double *size = cf_tool_room(&m->tool, points + 1, sizeof *size);
    char *drawn = cf_tool_room(&m->tool, groups, 1);
    struct cf_machine *machine = m->o.machine ? cf_tool_machine(&m->tool, m->o.machine) : NULL;
    struct cf_chart c = {.title = "Miss-ratio curve", .command = "", .points = (uint32_t)points};
    size_t given = 0;

    for (size_t g = 0; g < groups; g++)
        given += line[group[g].number].accesses > 0;
    c.series = given < MOST ? (unsigned)given : MOST;
    if (!given && groups)
        c.series = 1; /* which is empty */
    for (unsigned s = 0; s < c.series; s++) {
        size_t next = groups;

        for (size_t g = 0; g < groups; g++)
            if (!drawn[g] && (next == groups ||
                              line[group[g].number].accesses > line[group[next].number].accesses))
                next = g;
        drawn[next] = 1;
        if (word_of(m, group[next].value))
            snprintf(names[s], sizeof *names, "%s", word_of(m, group[next].value));
        else
            snprintf(names[s], sizeof *names, "%s %llu", m->o.by,
                     (unsigned long long)group[next].value);
        series[s] = (struct cf_chart_series){names[s], cf_series_colour(s)};
        for (size_t i = 0; i < points; i++)
            value[s * points + i] = miss_ratio(&line[group[next].number], i);
    }
    for (size_t i = 0; i < points; i++)
        size[i] = (double)(m->lines[i] * m->sets * m->line_size);
    if (!m->by)
        snprintf(names[0], sizeof *names, "all accesses");
    describe(m, given, c.series, c.summary, sizeof c.summary);
    c.whole = 1;
    c.panels = 1;
    c.name = series;
    c.size = size;
    c.sign = sign;
    c.signs = find_signs(machine, sign);
    c.panel[0] = (struct cf_chart_panel){.title = "miss ratio", .value = value};
    cf_output_draw(&m->tool, &m->o.output, &c, &cf_chart_drawings);
    cf_machine_free(machine);
}

/* Says of how many curves nothing is known, since the sample has none of their lines. */
static void report_unknown(struct mrc *m, const struct line *line, size_t groups)
{
    size_t unknown = 0;

    for (size_t g = 0; g < groups; g++)
        unknown += line[g].rate <= 0;
    if (unknown && (unknown == groups || !m->tool.quiet))
        cf_fail(&m->tool, unknown == groups ? CF_EXIT_INPUT : CF_EXIT_OK,
                "the misses of %zu of %zu curves are not known, since no access of theirs is in "
                "the sample: run cf-distance with a larger --rate or --samples",
                unknown, groups);
}

void print_curves(struct mrc *m)
{
    size_t groups = !m->exact ? 0 : m->by ? cf_groups_count(m->groups) : 1, known, points;
    struct line *line = cf_tool_room(&m->tool, groups, sizeof(*line));
    const struct cf_reader *texts = cf_column_type(m->by) == CF_STR ? m->reader : NULL;
    struct cf_group all = {0}, *group = m->by ? cf_groups_sorted(m->groups, texts) : &all;

    cf_need(&m->tool, group);
    if (m->sampled)
        samples_room(m, groups);
    for (size_t g = 0; g < groups; g++)
        make_line(m, g, &line[g]);
    known = m->exact ? known_points(m, groups, line) : 0;
    points = useful_points(m, groups, line, known);
    if (m->o.output.picture || m->o.output.html)
        draw(m, line, group, groups, points);
    if (cf_output_stdout(&m->tool, &m->o.output) != CF_STDOUT_PICTURE)
        put_all(m, line, group, groups, points);
    if (m->by)
        free(group);
    report_unknown(m, line, groups);
    if (known < m->points && (m->o.at.count || m->o.most || !m->tool.quiet))
        cf_fail(&m->tool, m->o.at.count || m->o.most ? CF_EXIT_INPUT : CF_EXIT_OK,
                "larger caches are left out: the stream has no distance beyond %" PRIu64
                " lines: run cf-distance with a larger --bound",
                m->bound ? m->bound
                : known  ? m->lines[known - 1]
                         : 0);
}
