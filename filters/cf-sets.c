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
 * what lineset.h and listing.h say of the largest snapshot. Counting is in census.c, what is like
 * cf-occupancy in survey.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/survey/survey.h"
#include "formats/program/cf_rows.h"

static const char usage[] =
    "Usage: cf-sets [OPTION]... [FILE]...\n"
    "Print the active and the reused set quota of each process for each snapshot: the lines\n"
    "that it has in the cache, and those of them that were in the previous snapshot too, as\n"
    "shares of the whole cache. For snapshots of flush mode. Writes CSV. Several streams are\n"
    "several programs: each has its own snapshots, and a column says of which file it is.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --summary        one row per process: mean and largest quotas\n"
    "      --level N        only cache level N      [CSV all, the picture the last one]\n"
    "  -n, --top N          only the N processes with most lines   [CSV all, picture 8]\n"
    "      --lines N        lines of the cache, where snapshots do not state its size\n"
    "      --colours LIST   names of processes in the order of the pictures' colours\n"
    "      --picture FILE   also a picture, .png, .svg or .pdf; - is PNG on standard\n"
    "                       output, then without CSV\n"
    "      --html FILE      also a page to explore in a browser, in one file\n"
    "      --picture-size WxH  in pixels, or in millimetres as WxHmm      [1400x500]\n"
    "      --title TEXT     of the picture, instead of its own; '' for none\n"
    "      --csv, --term, --json\n"
    "                       the form of the output  [a table on a terminal, else CSV]\n"
    "  -q, --quiet          no progress, no hints\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-cache -m tegra-x1 --snapshot-every 19000000 --flush trace.cf |\n"
    "      cf-sets --picture sets.png > sets.csv\n";

static int parse(struct cf_survey *s, int argc, char **argv)
{
    int summary = 0;
    const struct cf_option table[] = {
        {"summary", 0, CF_FLAG(&summary)},
        CF_SURVEY_OPTIONS(s),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    s->o = (struct cf_survey_options){.reuse = 1, .output.sheet = {.width = 1400, .height = 500}};
    cf_options_read(&s->tool, argc, argv, table);
    cf_output_check(&s->tool, &s->o.output);
    return summary;
}

static void hints(const struct cf_survey *s)
{
    size_t transparent = 0;
    const struct cf_census_snapshot *one = s->census->snapshot;

    cf_survey_hints(s, "quotas");
    if (s->tool.quiet)
        return;
    for (size_t i = 0; i < s->census->snapshots; i++)
        transparent += one[i].is.announced && !(one[i].is.mode & CF_MODE_FLUSH);
    if (transparent)
        cf_warn(&s->tool,
                "%zu of %zu snapshots are transparent: they show what is left of all that was used "
                "before, not the active set; take them in flush mode",
                transparent, s->census->snapshots);
    if (s->census->nameless)
        cf_warn(&s->tool, "%llu lines have no address: they do not count as reused",
                (unsigned long long)s->census->nameless);
}

/* ---- CSV: processes in the order of their rank ---- */

enum { LEVELS = 256 };

/* The last column, where there are several streams. */
static void file_name(const struct cf_survey *s, uint32_t stream)
{
    if (s->streams > 1)
        cf_csv_text(stdout, 0, cf_survey_file(s, stream));
    cf_csv_end(stdout);
}

/* A row also where the process has no line: a profile has no holes. */
static void print_profiles(const struct cf_survey *s)
{
    struct cf_ranks r = cf_survey_ranks(s, -1);
    const struct cf_census_snapshot *one = s->census->snapshot;

    cf_survey_heads(s);
    fputs(",pid,name,active_lines,reused_lines,active_quota,reused_quota", stdout);
    puts(s->streams > 1 ? ",file" : "");
    for (size_t i = 0; i < s->census->snapshots; i++) {
        const double whole = (double)cf_survey_whole(s, &one[i].is);

        cf_ranks_fill(s, &one[i], &r);
        for (uint32_t k = 0; k < r.shown; k++) {
            const uint32_t active = r.cell[k] ? r.cell[k]->lines : 0;
            const uint32_t reused = r.cell[k] ? r.cell[k]->reused : 0;
            const struct cf_census_group g = cf_census_group(s->census, r.order[k]);

            if (g.stream != one[i].is.segment)
                continue;
            cf_survey_when(&one[i].is);
            /* the quotas are empty where the whole is not known */
            cf_csv_print(stdout, ",%u,%s,%u,%u,%.9f,%.9f", g.pid, cf_survey_process(s, g), active,
                         reused, active / whole, reused / whole);
            file_name(s, g.stream);
        }
    }
}

struct sum {
    double active, active_most, reused, reused_most; /* quotas */
};

/* One level of one stream. A snapshot without a known geometry leaves the quotas empty. */
static void print_level(const struct cf_survey *s, unsigned level, uint32_t stream,
                        struct cf_ranks *r, struct sum *sum)
{
    const struct cf_census_snapshot *one = s->census->snapshot;
    uint64_t snapshots = 0;
    double known = 1;

    memset(sum, 0, r->groups * sizeof *sum);
    memset(r->total, 0, r->groups * sizeof *r->total);
    for (size_t i = 0; i < s->census->snapshots; i++) {
        const double whole = (double)cf_survey_whole(s, &one[i].is), unit = whole > 0 ? whole : 1;

        if (one[i].is.level != level || one[i].is.segment != stream)
            continue;
        snapshots++;
        known = whole > 0 ? known : 0;
        cf_ranks_fill(s, &one[i], r);
        for (uint32_t k = 0; k < r->shown; k++) {
            const double active = r->cell[k] ? r->cell[k]->lines / unit : 0;
            const double reused = r->cell[k] ? r->cell[k]->reused / unit : 0;

            r->total[k] += r->cell[k] != NULL;
            sum[k].active += active;
            sum[k].reused += reused;
            sum[k].active_most = active > sum[k].active_most ? active : sum[k].active_most;
            sum[k].reused_most = reused > sum[k].reused_most ? reused : sum[k].reused_most;
        }
    }
    for (uint32_t k = 0; k < r->shown; k++) {
        const struct cf_census_group g = cf_census_group(s->census, r->order[k]);

        if (!r->total[k])
            continue;
        cf_csv_print(stdout, "%u,%u,%s,%" PRIu64 ",%.9f,%.9f,%.9f,%.9f", level, g.pid,
                     cf_survey_process(s, g), snapshots,
                     sum[k].active / (known * (double)snapshots), sum[k].active_most / known,
                     sum[k].reused / (known * (double)snapshots), sum[k].reused_most / known);
        file_name(s, stream);
    }
}

static void print_summary(const struct cf_survey *s)
{
    struct cf_ranks r = cf_survey_ranks(s, -1);
    const struct cf_census_snapshot *one = s->census->snapshot;
    struct sum *sum = cf_tool_room(&s->tool, r.groups, sizeof *sum);

    cf_rows_begin(&s->tool);
    fputs("level,pid,name,snapshots,active_mean,active_max,reused_mean,reused_max", stdout);
    puts(s->streams > 1 ? ",file" : "");
    /* streams as they come, each with all its levels */
    for (size_t i = 0, end; i < s->census->snapshots; i = end) {
        uint8_t there[LEVELS] = {0};

        for (end = i; end < s->census->snapshots && one[end].is.segment == one[i].is.segment; end++)
            there[one[end].is.level] = 1;
        for (unsigned level = 0; level < LEVELS; level++)
            if (there[level])
                print_level(s, level, one[i].is.segment, &r, sum);
    }
}

/* ---- the chart ---- */

/* Both profiles as lines: "Observing the Invisible", Figure 12, active sets at the left. */
static void draw(const struct cf_survey *s)
{
    enum { SHOWN = 8 };
    struct cf_survey_chart c;
    char some[64];

    cf_survey_chart(s, SHOWN, 0, &c);
    c.chart.title = "Active and reused sets";
    c.chart.panel[0].title = c.chart.whole ? "active set quota, of the cache" : "active set, lines";
    c.chart.panel[1].title = c.chart.whole ? "reused set quota, of the cache" : "reused set, lines";
    snprintf(some, sizeof some, "; drawn: the %u of %" PRIu32 " with most lines", c.chart.series,
             c.groups);
    snprintf(c.chart.summary, sizeof c.chart.summary,
             "%" PRIu32 " snapshot%s of level %u%s; active: lines in the cache; reused: those that "
             "the snapshot before had too%s",
             c.snapshots, c.snapshots == 1 ? "" : "s", c.level,
             s->streams > 1 ? " of several runs, each from its beginning" : "",
             c.groups > c.chart.series ? some : "");
    cf_output_draw(&s->tool, &s->o.output, &c.chart, &cf_chart_drawings);
}

int main(int argc, char **argv)
{
    static struct cf_survey s;
    int summary;

    cf_tool_init(&s.tool, argc, argv, "cf-sets", usage);
    summary = parse(&s, argc, argv);
    cf_survey_read(&s, argv + optind, argc - optind);
    hints(&s);
    if (s.o.output.picture || s.o.output.html)
        draw(&s);
    if (cf_output_stdout(&s.tool, &s.o.output) != CF_STDOUT_PICTURE)
        (summary ? print_summary : print_profiles)(&s);
    return cf_survey_finish(&s);
}
