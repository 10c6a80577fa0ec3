/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-occupancy - whose lines are in the cache, snapshot by snapshot: "Observing the Invisible",
 * section 7.5, Figures 9 to 11.
 *
 * In: a stream of snapshots. Out: CSV, a row for each snapshot and process that has lines in it, or
 * with --wide a row a snapshot; or a drawing where standard output is a terminal; and pictures into
 * files. Processes have names where table task tells them; instead of processes, mappings, cores
 * or states of lines can be told apart.
 *
 * One pass. Memory: 64 bytes a snapshot and level, and 12 for each process that has lines in it;
 * pictures take 4 more. Counting is in engine/census.c, output in occupancy/.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filters/occupancy/occupancy.h"

static const char usage[] =
    "Usage: cf-occupancy [OPTION]... [FILE]...\n"
    "Count the lines that each process has in the cache, by snapshot. Writes CSV, or draws where\n"
    "standard output is a terminal. Standard input where no FILE or -.\n"
    "\n"
    "      --by WHAT        process, region, cpu or state                  [process]\n"
    "      --level N        only cache level N      [CSV all, pictures the last one]\n"
    "  -n, --top N          only the N with most lines, the rest as [other]\n"
    "                                                         [CSV all, pictures 10]\n"
    "      --wide           a row a snapshot and a column a process\n"
    "      --lines N        lines of the cache, where snapshots do not tell\n"
    "      --csv, --term    CSV even to a terminal, the drawing even to a file\n"
    "      --png FILE       also a picture; - is standard output, then without CSV\n"
    "      --html FILE      also a page to explore in a browser, in one file\n"
    "      --size WxH       of the picture, in pixels                     [1200x600]\n"
    "  -q, --quiet          no progress, no hints\n"
    "  -h, --help, --version\n"
    "\n"
    "Example:\n"
    "  cf-cache -m tegra-x1 --snapshot-every 19000000 --flush trace.cf |\n"
    "      cf-occupancy --png occupancy.png > occupancy.csv\n";

enum {
    OPT_BY = 256,
    OPT_LEVEL,
    OPT_WIDE,
    OPT_LINES,
    OPT_CSV,
    OPT_TERM,
    OPT_PNG,
    OPT_HTML,
    OPT_SIZE
};

static enum cf_census_by parse_by(const struct cf_tool *t, const char *name)
{
    static const char *const names[] = {"process", "region", "cpu", "state"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return (enum cf_census_by)i;
    cf_die(t, CF_EXIT_USAGE, "--by '%s' is unknown: use process, region, cpu or state", name);
}

static void parse(struct cf_tool *t, struct options *o, int argc, char **argv)
{
    static const struct option longs[] = {
        {"by", required_argument, NULL, OPT_BY},
        {"level", required_argument, NULL, OPT_LEVEL},
        {"top", required_argument, NULL, 'n'},
        {"wide", no_argument, NULL, OPT_WIDE},
        {"lines", required_argument, NULL, OPT_LINES},
        {"csv", no_argument, NULL, OPT_CSV},
        {"term", no_argument, NULL, OPT_TERM},
        {"png", required_argument, NULL, OPT_PNG},
        {"html", required_argument, NULL, OPT_HTML},
        {"size", required_argument, NULL, OPT_SIZE},
        CF_COMMON_OPTIONS,
    };
    int c, pages;

    *o = (struct options){.width = 1200, .height = 600};
    while ((c = getopt_long(argc, argv, "n:" CF_COMMON_LETTERS, longs, NULL)) != -1) {
        switch (c) {
        case OPT_BY:
            o->by = parse_by(t, optarg);
            break;
        case OPT_LEVEL:
            o->level = (uint8_t)cf_parse_u64(t, "--level", optarg, 1, 255);
            break;
        case 'n':
            o->top = (uint32_t)cf_parse_u64(t, "--top", optarg, 1, UINT32_MAX);
            break;
        case OPT_WIDE:
            o->wide = 1;
            break;
        case OPT_LINES:
            o->lines = cf_parse_u64(t, "--lines", optarg, 1, UINT32_MAX);
            break;
        case OPT_CSV:
            o->output = AS_CSV;
            break;
        case OPT_TERM:
            o->output = AS_DRAWING;
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

static void note_header(struct work *w, const struct cf_header *h)
{
    if (!w->unit && h->clock_unit)
        w->unit = strdup(h->clock_unit);
    else if (h->clock_unit && w->unit && strcmp(w->unit, h->clock_unit) != 0)
        w->units_differ = 1;
    cf_picture_command(&w->tool, &w->command, h->command);
}

static void run(struct work *w)
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
        cf_die(&w->tool, CF_EXIT_INPUT,
               "over %d different owners: choose some by cf-select, or --by process", 1 << 16);
    if (bad)
        cf_die(&w->tool, CF_EXIT_ENVIRONMENT, "out of memory");
}

static void hints(const struct work *w)
{
    size_t count, without = 0, over = 0;
    const struct cf_census_snapshot *s = cf_census_snapshots(w->census, &count);

    for (size_t i = 0; i < count; i++) {
        const uint64_t whole = whole_of(w, &s[i].is);

        without += !whole;
        over += whole && s[i].lines > whole;
    }
    if (w->tool.quiet)
        return;
    if (!count)
        cf_warn(&w->tool,
                "there are no snapshots: cf-cache --snapshot-every makes some of a trace");
    if (without)
        cf_warn(&w->tool,
                "%zu snapshots do not tell how large the cache is: give --lines for shares",
                without);
    if (over)
        cf_warn(&w->tool,
                "%zu snapshots list more lines than the cache has: a line that several processes "
                "map counts for each of them",
                over);
    if (w->units_differ)
        cf_warn(&w->tool, "the streams count time in different units: their times do not compare");
}

static void output(const struct work *w)
{
    const struct options *o = &w->o;
    const int page = (o->png && !strcmp(o->png, "-")) || (o->html && !strcmp(o->html, "-"));
    const int term = !page && (o->output == AS_DRAWING || (o->output == BY_STDOUT && isatty(1)));

    if ((o->png || o->html || term) && draw(w, term) != 0)
        cf_die(&w->tool, CF_EXIT_ENVIRONMENT, "standard output: %s", strerror(errno));
    if (page || term)
        return;
    if (o->wide)
        print_wide(w);
    else
        print_long(w);
}

int main(int argc, char **argv)
{
    static struct work w;
    int status;

    cf_tool_init(&w.tool, argc, argv, "cf-occupancy", usage);
    parse(&w.tool, &w.o, argc, argv);
    w.reader = cf_tool_reader(&w.tool, argv + optind, argc - optind);
    w.census = cf_census_new(w.o.by, 0, w.o.level);
    w.tasks = cf_tasks_new();
    if (!w.census || !w.tasks)
        cf_die(&w.tool, CF_EXIT_ENVIRONMENT, "out of memory");
    run(&w);
    hints(&w);
    output(&w);
    status = cf_tool_finish(&w.tool, w.reader, NULL);
    cf_census_free(w.census);
    cf_tasks_free(w.tasks);
    free(w.unit);
    free(w.command);
    return status;
}
