/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-occupancy - whose lines are in the cache, snapshot by snapshot: "Observing the Invisible",
 * section 7.5, Figures 9 to 11.
 *
 * In: a stream of snapshots. Out: CSV, a row for each snapshot and process that has lines in it, or
 * with --wide a row a snapshot; or a drawing where standard output is a terminal; and pictures into
 * files. Processes have names where table task has them; lines can be counted by mapping, core or
 * state instead of process.
 *
 * One pass. Memory: 64 bytes a snapshot and level, and 12 for each process that has lines in it;
 * pictures take 8 more; and what listing.h says. Counting is in census.c, what is like cf-sets in
 * survey.c.
 */
#include <inttypes.h>

#include "filters/survey/survey.h"

static const char usage[] =
    "Usage: cf-occupancy [OPTION]... [FILE]...\n"
    "Count the lines that each process has in the cache, for each snapshot. Writes CSV, or\n"
    "draws where standard output is a terminal.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --by WHAT        count by process, region, cpu or state         [process]\n"
    "      --level N        only cache level N      [CSV all, pictures the last one]\n"
    "  -n, --top N          only the N with most lines, the rest as [other]\n"
    "                                                         [CSV all, pictures 10]\n"
    "      --wide           one row per snapshot and one column per process\n"
    "      --lines N        lines of the cache, where snapshots do not state its size\n"
    "      --colours LIST   names of processes in the order of the pictures' colours\n"
    "      --csv, --term, --json\n"
    "                       the form of the output  [a drawing on a terminal, else CSV]\n"
    "      --picture FILE   also a picture, .png, .svg or .pdf; - is PNG on standard\n"
    "                       output, then without CSV\n"
    "      --html FILE      also a page to explore in a browser, in one file\n"
    "      --picture-size WxH  in pixels, or in millimetres as WxHmm      [1200x600]\n"
    "      --title TEXT     of the picture, instead of its own; '' for none\n"
    "  -q, --quiet          no progress, no hints\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-cache -m tegra-x1 --snapshot-every 19000000 --flush trace.cf |\n"
    "      cf-occupancy --picture occupancy.png > occupancy.csv\n";

static int parse(struct cf_survey *s, int argc, char **argv)
{
    int wide = 0;
    const struct cf_option table[] = {
        {"by", 0, CF_WORD(&s->o.by, "process region cpu state", 0)},
        {"wide", 0, CF_FLAG(&wide)},
        CF_SURVEY_OPTIONS(s),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    s->o.output.sheet = (struct cf_sheet){.width = 1200, .height = 600};
    cf_options_read(&s->tool, argc, argv, table);
    cf_output_check(&s->tool, &s->o.output);
    return wide;
}

static void hints(const struct cf_survey *s)
{
    static const char *const owners[] = {"processes", "mappings", "cores", "states"};
    const struct cf_census_snapshot *one = s->census->snapshot;
    size_t over = 0, shared = 0;

    cf_survey_hints(s, "shares");
    for (size_t i = 0; i < s->census->snapshots; i++) {
        const uint64_t whole = cf_survey_whole(s, &one[i].is);

        over += whole && one[i].lines > whole;
        shared += one[i].listed > one[i].lines;
    }
    if (over && !s->tool.quiet)
        cf_warn(&s->tool,
                "%zu snapshots list more lines than the cache has: its sets and ways are stated "
                "too low, or rows have no set, way and address and are taken for a line each",
                over);
    if (shared && !s->tool.quiet)
        cf_warn(&s->tool,
                "%zu snapshots have lines of several %s: these count for each of them, and shares "
                "add up to more than is in the cache",
                shared, owners[s->o.by]);
}

/* ---- CSV: groups in the order of their rank, those below --top added up ---- */

/* Lines of the group of a rank; after the last one shown, of all others. */
static uint64_t lines_of(const struct cf_ranks *r, uint32_t rank)
{
    const uint32_t to = rank < r->shown ? rank + 1 : r->groups;
    uint64_t lines = 0;

    for (uint32_t k = rank; k < to; k++)
        lines += r->cell[k] ? r->cell[k]->lines : 0;
    return lines;
}

/* The columns that name a group. */
static void group_names(const struct cf_survey *s)
{
    switch (s->o.by) {
    case CF_CENSUS_REGION:
    case CF_CENSUS_PROCESS:
        fputs(s->o.by == CF_CENSUS_REGION ? ",pid,name,region" : ",pid,name", stdout);
        break;
    case CF_CENSUS_CPU:
        fputs(",cpu", stdout);
        break;
    case CF_CENSUS_STATE:
        fputs(",state", stdout);
        break;
    }
}

static void other_values(const struct cf_survey *s)
{
    fputs(s->o.by == CF_CENSUS_REGION    ? ",,[other],"
          : s->o.by == CF_CENSUS_PROCESS ? ",,[other]"
                                         : ",[other]",
          stdout);
}

static void group_values(const struct cf_survey *s, uint32_t group)
{
    const struct cf_census_group g = cf_census_group(s->census, group);

    switch (s->o.by) {
    case CF_CENSUS_REGION:
    case CF_CENSUS_PROCESS:
        cf_csv_print(stdout, ",%u,%s", g.pid, cf_survey_process(s, g));
        if (s->o.by == CF_CENSUS_REGION)
            cf_csv_text(stdout, 0, cf_survey_region(s, g.value));
        break;
    case CF_CENSUS_CPU:
        cf_csv_u64(stdout, 0, g.value);
        break;
    case CF_CENSUS_STATE:
        cf_csv_text(stdout, 0, cf_state_name(g.value));
        break;
    }
}

static void print_long(const struct cf_survey *s)
{
    struct cf_ranks r = cf_survey_ranks(s, -1);
    const struct cf_census_snapshot *one = s->census->snapshot;

    cf_survey_heads(s);
    group_names(s);
    puts(",lines,share");
    for (size_t i = 0; i < s->census->snapshots; i++) {
        const uint64_t whole = cf_survey_whole(s, &one[i].is);

        cf_ranks_fill(s, &one[i], &r);
        for (uint32_t k = 0; k <= r.shown; k++) {
            const uint64_t lines = lines_of(&r, k);

            if (!lines)
                continue;
            cf_survey_when(&one[i].is);
            if (k < r.shown)
                group_values(s, r.order[k]);
            else
                other_values(s);
            cf_csv_print(stdout, ",%" PRIu64 ",%.6f\n", lines, (double)lines / (double)whole);
        }
    }
}

static void print_wide(const struct cf_survey *s)
{
    struct cf_ranks r = cf_survey_ranks(s, -1);
    const struct cf_census_snapshot *one = s->census->snapshot;
    char text[CF_LABEL_BYTES];

    cf_survey_heads(s);
    for (uint32_t k = 0; k < r.shown; k++) {
        cf_survey_label(s, r.order[k], text);
        cf_csv_text(stdout, 0, text);
    }
    if (r.shown < r.groups)
        cf_csv_text(stdout, 0, "[other]");
    cf_csv_text(stdout, 0, "[empty]");
    cf_csv_end(stdout);
    for (size_t i = 0; i < s->census->snapshots; i++) {
        const uint64_t whole = cf_survey_whole(s, &one[i].is);

        cf_ranks_fill(s, &one[i], &r);
        cf_survey_when(&one[i].is);
        for (uint32_t k = 0; k < r.shown + (r.shown < r.groups); k++)
            cf_csv_u64(stdout, 0, lines_of(&r, k));
        if (whole)
            cf_csv_u64(stdout, 0, one[i].lines < whole ? whole - one[i].lines : 0);
        else
            cf_csv_text(stdout, 0, "");
        cf_csv_end(stdout);
    }
}

/* ---- the chart ---- */

/* Areas, the groups with most lines below, as "Observing the Invisible", Figures 9 to 11. */
static void draw(const struct cf_survey *s)
{
    enum { SHOWN = 10 };
    static const struct cf_drawings drawings = {cf_chart_picture, cf_chart_html, cf_chart_term};
    static const char *const titles[] = {"Cache occupancy by process", "Cache occupancy by mapping",
                                         "Cache occupancy by core", "Cache occupancy by state"};
    struct cf_survey_chart c;
    char mean[32], size[64] = "";

    cf_survey_chart(s, SHOWN, 1, &c);
    c.chart.title = titles[s->o.by];
    c.chart.panel[0].title = c.chart.whole ? "share of the cache" : "lines";
    c.chart.panel[0].stacked = 1;
    cf_chart_value(&c.chart, mean, sizeof mean, c.mean);
    if (c.chart.whole && c.least < c.chart.whole)
        snprintf(size, sizeof size, ", caches of up to %llu lines",
                 (unsigned long long)c.chart.whole);
    else if (c.chart.whole)
        snprintf(size, sizeof size, " of %llu lines", (unsigned long long)c.chart.whole);
    snprintf(c.chart.summary, sizeof c.chart.summary,
             "%u snapshot%s of level %u%s; on average %s %s", c.snapshots,
             c.snapshots == 1 ? "" : "s", c.level, size, mean,
             c.chart.whole ? "in use" : "lines in use");
    cf_output_draw(&s->tool, &s->o.output, &c.chart, &drawings);
}

int main(int argc, char **argv)
{
    static struct cf_survey s;
    enum cf_stdout out;
    int wide;

    cf_tool_init(&s.tool, argc, argv, "cf-occupancy", usage);
    wide = parse(&s, argc, argv);
    out = cf_output_stdout(&s.tool, &s.o.output);
    cf_survey_read(&s, argv + optind, argc - optind);
    hints(&s);
    if (s.o.output.picture || s.o.output.html || out == CF_STDOUT_DRAWING)
        draw(&s);
    if (out == CF_STDOUT_CSV && wide)
        print_wide(&s);
    else if (out == CF_STDOUT_CSV)
        print_long(&s);
    return cf_survey_finish(&s);
}
