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
 * 256 a line of the cache. Counting is in engine/census.c, output in sets/.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filters/sets/sets.h"

static const char usage[] =
    "Usage: cf-sets [OPTION]... [FILE]...\n"
    "Active and reused set quota of each process, by snapshot: the lines that it has in the "
    "cache,\n"
    "and those of them that the snapshot before had too, as shares of the whole cache. For\n"
    "snapshots of flush mode. Standard input where no FILE or -.\n"
    "\n"
    "      --summary        a row a process: mean and largest quotas\n"
    "      --level N        only cache level N      [CSV all, the picture the last one]\n"
    "  -n, --top N          only the N processes with most lines   [CSV all, picture 8]\n"
    "      --lines N        lines of the cache, where snapshots do not tell\n"
    "      --png FILE       also a picture; - is standard output, then without CSV\n"
    "      --html FILE      also a page to explore in a browser, in one file\n"
    "      --size WxH       of the picture, in pixels                     [1400x500]\n"
    "  -q, --quiet          no progress, no hints\n"
    "  -h, --help, --version\n"
    "\n"
    "Example:\n"
    "  cf-cache -m tegra-x1 --snapshot-every 19000000 --flush trace.cf |\n"
    "      cf-sets --png sets.png > sets.csv\n";

enum { OPT_SUMMARY = 256, OPT_LEVEL, OPT_LINES, OPT_PNG, OPT_HTML, OPT_SIZE };

static void parse(struct cf_tool *t, struct sets_options *o, int argc, char **argv)
{
    static const struct option longs[] = {
        {"summary", no_argument, NULL, OPT_SUMMARY}, {"level", required_argument, NULL, OPT_LEVEL},
        {"top", required_argument, NULL, 'n'},       {"lines", required_argument, NULL, OPT_LINES},
        {"png", required_argument, NULL, OPT_PNG},   {"html", required_argument, NULL, OPT_HTML},
        {"size", required_argument, NULL, OPT_SIZE}, CF_COMMON_OPTIONS,
    };
    int c, pages;

    *o = (struct sets_options){.width = 1400, .height = 500};
    while ((c = getopt_long(argc, argv, "n:" CF_COMMON_LETTERS, longs, NULL)) != -1) {
        switch (c) {
        case OPT_SUMMARY:
            o->summary = 1;
            break;
        case OPT_LEVEL:
            o->level = (uint8_t)cf_parse_u64(t, "--level", optarg, 1, 255);
            break;
        case 'n':
            o->top = (uint32_t)cf_parse_u64(t, "--top", optarg, 1, UINT32_MAX);
            break;
        case OPT_LINES:
            o->lines = cf_parse_u64(t, "--lines", optarg, 1, UINT32_MAX);
            break;
        case OPT_PNG:
            o->png = optarg;
            break;
        case OPT_HTML:
            o->html = optarg;
            break;
        case OPT_SIZE:
            cf_picture_size(t, "--size", optarg, &o->width, &o->height);
            break;
        default:
            cf_common_option(t, c);
        }
    }
    pages = (o->png && !strcmp(o->png, "-")) + (o->html && !strcmp(o->html, "-"));
    if (pages == 2)
        cf_die(t, CF_EXIT_USAGE, "--png and --html cannot both go to standard output");
    if (pages && isatty(1))
        cf_die(t, CF_EXIT_USAGE,
               "a picture is not written to a terminal: give --png or --html a FILE");
}

static void note_header(struct sets *w, const struct cf_header *h)
{
    if (!w->unit && h->clock_unit)
        w->unit = strdup(h->clock_unit);
    cf_picture_command(&w->tool, &w->command, h->command);
}

static void run(struct sets *w)
{
    struct cf_frame *f;
    int bad = 0;

    cf_census_want(w->census, w->reader);
    cf_tasks_want(w->reader);
    cf_reader_unify(w->reader);
    while (!bad && cf_reader_next(w->reader, &f) > 0) {
        cf_tool_progress(&w->tool, w->reader);
        if (f->table == CF_HEADER)
            note_header(w, f->header);
        if (f->table == CF_TASK)
            bad = cf_tasks_frame(w->tasks, f);
        else
            bad = cf_census_frame(w->census, f);
    }
    if (!bad)
        bad = cf_census_end(w->census);
    if (bad == CF_CENSUS_TOO_MANY)
        cf_die(&w->tool, CF_EXIT_INPUT, "over %d processes: choose some by cf-select", 1 << 16);
    if (bad)
        cf_die(&w->tool, CF_EXIT_ENVIRONMENT, "out of memory");
}

static void hints(const struct sets *w)
{
    size_t count, without = 0, transparent = 0;
    const struct cf_census_snapshot *s = cf_census_snapshots(w->census, &count);

    if (w->tool.quiet)
        return;
    for (size_t i = 0; i < count; i++) {
        without += !sets_whole(w, &s[i].is);
        transparent += s[i].is.announced && !(s[i].is.mode & CF_MODE_FLUSH);
    }
    if (!count)
        cf_warn(&w->tool,
                "there are no snapshots: cf-cache --snapshot-every makes some of a trace");
    if (transparent)
        cf_warn(&w->tool,
                "%zu of %zu snapshots are transparent: they show what is left of all that was used "
                "before, not the active set; take them in flush mode",
                transparent, count);
    if (cf_census_nameless(w->census))
        cf_warn(&w->tool, "%llu lines have no address: they do not count as reused",
                (unsigned long long)cf_census_nameless(w->census));
    if (without)
        cf_warn(&w->tool,
                "%zu snapshots do not tell how large the cache is: give --lines for quotas",
                without);
}

int main(int argc, char **argv)
{
    static struct sets w;
    const struct sets_options *o = &w.o;
    int status;

    cf_tool_init(&w.tool, argc, argv, "cf-sets", usage);
    parse(&w.tool, &w.o, argc, argv);
    w.reader = cf_tool_reader(&w.tool, argv + optind, argc - optind);
    w.census = cf_census_new(CF_CENSUS_PROCESS, 1, o->level);
    w.tasks = cf_tasks_new();
    if (!w.census || !w.tasks)
        cf_die(&w.tool, CF_EXIT_ENVIRONMENT, "out of memory");
    run(&w);
    hints(&w);
    if (o->png || o->html)
        sets_draw(&w);
    if ((!o->png || strcmp(o->png, "-") != 0) && (!o->html || strcmp(o->html, "-") != 0))
        sets_print(&w);
    status = cf_tool_finish(&w.tool, w.reader, NULL);
    cf_census_free(w.census);
    cf_tasks_free(w.tasks);
    free(w.unit);
    free(w.command);
    return status;
}
