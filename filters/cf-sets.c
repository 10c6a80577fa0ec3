/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-sets - active and reused set quota of each process in each snapshot: "Observing the
 * Invisible", section 7.6, Figure 12.
 *
 * In: a stream of snapshots, taken in flush mode, so that each shows what was used since the one
 * before. Out: CSV, a row for each snapshot and process: the lines that the process has, those of
 * them that the snapshot before had too, and both divided by the lines of the whole cache; or a
 * summary, a row a process; and a picture of both profiles.
 *
 * One pass. Memory: 64 bytes a snapshot and level, 12 for each process that has lines in it, and
 * 34 to 68 a line of the largest snapshot. Counting is in census.c, what is like
 * cf-occupancy in survey.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/parts/sets/sets.h"

static const char usage[] =
    "Usage: cf-sets [OPTION]... [FILE]...\n"
    "Print the active and the reused set quota of each process for each snapshot: the lines\n"
    "that it has in the cache, and those of them that were in the previous snapshot too, as\n"
    "shares of the whole cache. For snapshots of flush mode. Writes CSV.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --summary        one row per process: mean and largest quotas\n"
    "      --level N        only cache level N      [CSV all, the picture the last one]\n"
    "  -n, --top N          only the N processes with most lines   [CSV all, picture 8]\n"
    "      --lines N        lines of the cache, where snapshots do not state its size\n"
    "      --png FILE       also a picture; - is standard output, then without CSV\n"
    "      --html FILE      also a page to explore in a browser, in one file\n"
    "      --picture-size WxH  in pixels                                  [1400x500]\n"
    "  -q, --quiet          no progress, no hints\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-cache -m tegra-x1 --snapshot-every 19000000 --flush trace.cf |\n"
    "      cf-sets --png sets.png > sets.csv\n";

static int parse(struct cf_survey *s, int argc, char **argv)
{
    int summary = 0;
    const struct cf_option table[] = {
        {"summary", 0, CF_FLAG(&summary)},
        CF_SURVEY_OPTIONS(s),
        CF_END_INPUT_OPTIONS,
    };

    s->o = (struct cf_survey_options){.reuse = 1, .output = {.width = 1400, .height = 500}};
    cf_options_read(&s->tool, argc, argv, table);
    cf_output_check(&s->tool, &s->o.output);
    return summary;
}

static void hints(const struct cf_survey *s)
{
    size_t count, transparent = 0;
    const struct cf_census_snapshot *one = cf_census_snapshots(s->census, &count);

    cf_survey_hints(s, "quotas");
    if (s->tool.quiet)
        return;
    for (size_t i = 0; i < count; i++)
        transparent += one[i].is.announced && !(one[i].is.mode & CF_MODE_FLUSH);
    if (transparent)
        cf_warn(&s->tool,
                "%zu of %zu snapshots are transparent: they show what is left of all that was used "
                "before, not the active set; take them in flush mode",
                transparent, count);
    if (cf_census_nameless(s->census))
        cf_warn(&s->tool, "%llu lines have no address: they do not count as reused",
                (unsigned long long)cf_census_nameless(s->census));
}

/* Both profiles as lines: "Observing the Invisible", Figure 12, active sets at the left. */
static void draw(const struct cf_survey *s)
{
    enum { SHOWN = 8 };
    struct cf_survey_chart c;

    cf_survey_chart(s, SHOWN, 0, &c);
    c.chart.title = "Active and reused sets";
    c.chart.panel[0].title = c.chart.whole ? "active set quota, of the cache" : "active set, lines";
    c.chart.panel[1].title = c.chart.whole ? "reused set quota, of the cache" : "reused set, lines";
    snprintf(c.chart.summary, sizeof c.chart.summary,
             "%" PRIu32 " snapshot%s of level %u; active: lines in the cache; reused: those that "
             "the snapshot before had too",
             c.chart.points, c.chart.points == 1 ? "" : "s", c.level);
    cf_chart_files(&s->tool, &s->o.output, &c.chart);
    cf_survey_chart_free(&c);
}

int main(int argc, char **argv)
{
    static struct cf_survey s;
    int summary;

    cf_tool_init(&s.tool, argc, argv, "cf-sets", usage);
    summary = parse(&s, argc, argv);
    cf_survey_read(&s, argv + optind, argc - optind);
    hints(&s);
    if (s.o.output.png || s.o.output.html)
        draw(&s);
    if (cf_output_stdout(&s.tool, &s.o.output) != CF_STDOUT_PICTURE && summary)
        print_summary(&s);
    else if (cf_output_stdout(&s.tool, &s.o.output) != CF_STDOUT_PICTURE)
        print_profiles(&s);
    return cf_survey_finish(&s);
}
