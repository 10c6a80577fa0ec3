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
 * pictures take 4 more. Counting is in census.c, what is like cf-sets in survey.c.
 */
#include <errno.h>
#include <string.h>

#include "filters/parts/occupancy/occupancy.h"

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
    "      --csv, --term    CSV even to a terminal, the drawing even to a file\n"
    "      --png FILE       also a picture; - is standard output, then without CSV\n"
    "      --html FILE      also a page to explore in a browser, in one file\n"
    "      --picture-size WxH  in pixels                                  [1200x600]\n"
    "  -q, --quiet          no progress, no hints\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-cache -m tegra-x1 --snapshot-every 19000000 --flush trace.cf |\n"
    "      cf-occupancy --png occupancy.png > occupancy.csv\n";

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

    s->o.output = (struct cf_output){.width = 1200, .height = 600};
    cf_options_read(&s->tool, argc, argv, table);
    cf_output_check(&s->tool, &s->o.output);
    return wide;
}

static void hints(const struct cf_survey *s)
{
    size_t count, over = 0;
    const struct cf_census_snapshot *one = cf_census_snapshots(s->census, &count);

    cf_survey_hints(s, "shares");
    for (size_t i = 0; i < count; i++) {
        const uint64_t whole = cf_survey_whole(s, &one[i].is);

        over += whole && one[i].lines > whole;
    }
    if (over && !s->tool.quiet)
        cf_warn(&s->tool,
                "%zu snapshots list more lines than the cache has: a line that several processes "
                "map counts for each of them",
                over);
}

/* Areas, the groups with most lines below, as "Observing the Invisible", Figures 9 to 11. */
static void draw(const struct cf_survey *s, int to_stdout)
{
    enum { SHOWN = 10 };
    static const char *const titles[] = {"Cache occupancy by process", "Cache occupancy by mapping",
                                         "Cache occupancy by core", "Cache occupancy by state"};
    struct cf_survey_chart c;
    char mean[32], size[48] = "";

    cf_survey_chart(s, SHOWN, 1, &c);
    c.chart.title = titles[s->o.by];
    c.chart.panel[0].title = c.chart.whole ? "share of the cache" : "lines";
    c.chart.panel[0].stacked = 1;
    cf_chart_value(&c.chart, mean, sizeof mean, c.mean);
    if (c.chart.whole)
        snprintf(size, sizeof size, " of %llu lines", (unsigned long long)c.chart.whole);
    snprintf(c.chart.summary, sizeof c.chart.summary,
             "%u snapshot%s of level %u%s; on average %s %s", c.chart.points,
             c.chart.points == 1 ? "" : "s", c.level, size, mean,
             c.chart.whole ? "in use" : "lines in use");
    cf_chart_files(&s->tool, &s->o.output, &c.chart);
    if (to_stdout) {
        const struct cf_terminal terminal = cf_terminal_here();

        if (cf_chart_term(&c.chart, stdout, &terminal) != 0)
            cf_die(&s->tool, CF_EXIT_ENVIRONMENT, "standard output: %s", strerror(errno));
    }
    cf_survey_chart_free(&c);
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
    if (s.o.output.png || s.o.output.html || out == CF_STDOUT_DRAWING)
        draw(&s, out == CF_STDOUT_DRAWING);
    if (out == CF_STDOUT_CSV && wide)
        print_wide(&s);
    else if (out == CF_STDOUT_CSV)
        print_long(&s);
    return cf_survey_finish(&s);
}
