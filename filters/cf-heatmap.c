/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-heatmap - accesses (or cached lines) of each page over time: which memory is hot, and when.
 *
 * In: a stream, as a rule after cf-resolve, whose columns region and page name the pages. Without
 * them a page is address / 4096 in "[unresolved]". Out: CSV, one row a page and time bin that got
 * something; or a drawing where standard output is a terminal; and pictures into files.
 *
 * One pass. Memory: 8 bytes a page that was touched and fine time bin (four a bin) in which it
 * was, and 512 bytes for each 64 neighbouring pages; it depends on the pages and the number of
 * bins, not on the length of the trace. The end takes about 20 bytes more a page and final bin.
 * A page of --html has finer bins and the functions of cells (30 MB at most), counted beside.
 * Rows are taken in heatmap/rows.c and counted in filters/heat/count.c; the pictures are in
 * filters/heat/render_*.c.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "formats/stream/cf.h"
#include "formats/program/cf_rows.h"

#include "filters/parts/heatmap/rows.h"

static const char usage[] =
    "Usage: cf-heatmap [OPTION]... [FILE]...\n"
    "Count the accesses of each page over time or, from snapshots, its cached lines. Writes\n"
    "CSV, or draws the map where standard output is a terminal.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -b, --bins N         at most N time bins, of equal width                        [200]\n"
    "  -w, --bin-width W    bins of W ticks of the clock instead\n"
    "      --time A-B       only from A to B, both included; also A+LENGTH, A-, -B; or of a\n"
    "                       stored file 10%-20% of its time\n"
    "      --from A, --to B the same as two options\n"
    "      --value WHAT     accesses, bytes, loads, stores, misses, cost            [accesses]\n"
    "      --op LIST        load, store, ifetch, prefetch, flush         [all but ifetch]\n"
    "      --all            count all operations, instruction fetches too\n"
    "      --region GLOB    only mappings whose name matches, such as '*heap*'\n"
    "  -n, --top N          only the N mappings with the largest sums [pictures 12, CSV all]\n"
    "      --table TABLE    access or line    [access, or line where there are no accesses]\n"
    "      --level N        from snapshots: only lines in cache level N\n"
    "      --partial        write a result that cf-heatmap joins with those of other parts\n"
    "  -j, --jobs N         N processes, each on a part of the packed files  [1]\n"
    "      --csv, --term, --json\n"
    "                       the form of the output  [a drawing on a terminal, else CSV]\n"
    "      --picture FILE   also a picture, .png, .svg or .pdf; - is PNG on standard output,\n"
    "                       then without CSV\n"
    "      --html FILE      also a page to explore in a browser, in one file\n"
    "      --picture-size WxH  in pixels, or in millimetres as WxHmm                 [1200x800]\n"
    "      --title TEXT     of the picture, instead of its own; '' for none\n"
    "      --scale SCALE    of the colours, log or linear                                 [log]\n"
    "  -q, --quiet          no progress, no hints\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-capture trace -- ls | cf-resolve | cf-heatmap --html map.html > map.csv\n";

static const char *const value_names[] = {"accesses", "bytes", "loads", "stores", "misses", "cost"};

static int region_wanted(void *arg, uint32_t region)
{
    const struct work *w = arg;

    return fnmatch(w->o->region, heat_region_name(w->reader, region), 0) == 0;
}

static struct heat *make_heat(struct work *w, uint32_t bins)
{
    const struct options *o = w->o;
    uint64_t width = o->width;
    struct heat *h;

    /* with both ends known, the bins can be as wide as they have to be from the beginning */
    if (!width && o->from_given && o->to != UINT64_MAX)
        width = (o->to - o->from) / bins + 1;
    h = heat_new(w->tool, bins, width, o->from);
    if (o->region)
        heat_filter(h, region_wanted, w);
    return h;
}

static void make_heats(struct work *w)
{
    const struct options *o = w->o;

    w->accesses = make_heat(w, o->bins);
    w->lines = heat_new(w->tool, 1, 1, 0);
    if (o->region)
        heat_filter(w->lines, region_wanted, w);
    if (o->output.html)
        w->names = heat_names_new(w->tool, o->region ? region_wanted : NULL, w);
    if (o->output.html && !o->width && o->bins < HEAT_FINE_BINS) {
        w->fine = make_heat(w, HEAT_FINE_BINS);
        heat_bound(w->fine, HEAT_FINE_CELLS);
    }
}

/* ---- output ---- */

/* The table whose rows could not be counted although they are what is asked for, or NULL. */
static const char *lacks_place(const struct work *w)
{
    if (w->no_place[0])
        return "access";
    return w->no_place[1] && !w->access_rows ? "line" : NULL;
}

static void hints(const struct work *w)
{
    const char *placeless = lacks_place(w);

    if (placeless)
        cf_fail(w->tool, CF_EXIT_INPUT,
                "table %s has no column 'addr': what made the stream did not record it", placeless);
    if (w->no_misses && w->access_rows)
        cf_fail(w->tool, CF_EXIT_INPUT,
                "there is no column hit, class or level, which say what missed");
    cf_missed_check(w->tool, 0, w->missed_by);
    if (w->no_level)
        cf_warn(w->tool,
                "accesses that missed the first level, and of which is not known what served "
                "them (level 254), are left out of the misses");
    if (w->tool->quiet)
        return;
    if (w->unresolved_rows)
        cf_warn(w->tool,
                "%llu rows have no mapping: pages are address / 4096; run cf-resolve "
                "before to see mappings",
                (unsigned long long)w->unresolved_rows);
    if (w->line_segments > 1)
        cf_warn(w->tool, "snapshots of several streams: those with the same number are added up");
    if (w->units_differ)
        cf_warn(w->tool, "the streams count time in different units: their times do not compare");
}

static const char *function_name(void *reader, uint32_t function)
{
    return cf_reader_text(reader, function);
}

static void name_cells(struct work *w, struct heat_map *map)
{
    if (!heat_names_finish(w->names))
        return;
    map->names = w->names;
    map->function = function_name;
    map->reader = w->reader;
}

static void print(struct work *w)
{
    const struct options *o = w->o;
    int snapshots = o->table ? o->table == CF_LINE : !w->access_rows && w->line_rows;
    static const struct cf_drawings drawings = {heat_picture, heat_html, heat_term};
    struct heat_map map = {0}, fine = {0};

    hints(w);
    heat_finish(snapshots ? w->lines : w->accesses, heat_region_name, w->reader, &map);
    if (map.total == UINT64_MAX)
        cf_die(w->tool, CF_EXIT_INPUT,
               "--value %s: more than 2^64 in all, which no recording has: are its weights right?",
               value_names[o->value]);
    if (!map.total && o->region && (w->access_rows || w->line_rows) && !w->tool->quiet)
        cf_warn(w->tool, "--region '%s': nothing is counted of mappings of such names%s", o->region,
                strchr(o->region, '[') ? "; '[' begins a set of characters in a pattern: "
                                         "'[[]heap]' is that of '[heap]'"
                                       : "");
    map.what = snapshots ? "lines" : o->value == COST ? "cycles" : value_names[o->value];
    map.unit = snapshots ? "snapshot" : w->unit ? w->unit : "";
    map.command = w->command ? w->command : "";
    map.top = o->top ? o->top : 12;
    map.linear = o->linear;
    map.clock = w->unit ? w->unit : "";
    if (!snapshots || w->segment > 1 ||
        !cf_times_even(w->snapshots.number, w->snapshots.time, w->snapshots.count, &map.zero,
                       &map.period))
        map.period = 0;
    if (w->fine && !snapshots) {
        fine = (struct heat_map){.what = map.what,
                                 .unit = map.unit,
                                 .command = map.command,
                                 .top = map.top,
                                 .linear = map.linear};
        heat_finish(w->fine, heat_region_name, w->reader, &fine);
        map.fine = &fine;
    }
    if (w->names && !snapshots)
        name_cells(w, w->fine ? &fine : &map);
    cf_output_draw(w->tool, &o->output, &map, &drawings);
    if (cf_output_stdout(w->tool, &o->output) == CF_STDOUT_CSV) {
        cf_rows_begin(w->tool);
        heat_csv(&map, stdout, o->top ? o->top : UINT32_MAX);
    }
    heat_map_free(&map);
    heat_map_free(&fine);
}

/* Before anything is read, and before processes share the files. */
static void find_span(struct cf_tool *t, struct options *o, char *const *files, int count)
{
    struct cf_reader *r;

    if (!o->span.parts)
        return;
    r = cf_need(t, cf_reader_open(files, count));
    cf_tool_span(t, r, "--time", &o->span);
    cf_reader_close(r);
    o->from = o->span.from;
    o->to = o->span.to;
}

static void run(struct work *w)
{
    const struct options *o = w->o;
    struct cf_frame *f;

    while (cf_tool_next(w->tool, w->reader, &f) > 0) {
        if (cf_partial_frame(&w->partial, f)) {
            if (o->output.html)
                cf_die(w->tool, CF_EXIT_USAGE,
                       "--html: a page names functions, which partial results do not have");
            rows_merge(w, f);
        } else if (f->table == CF_HEADER)
            rows_header(w, f->header);
        else if (f->table == CF_SNAPSHOT)
            rows_snapshots(w, f);
        else if ((f->table == CF_ACCESS || f->table == CF_LINE) &&
                 (!o->table || o->table == f->table))
            rows_add(w, f);
    }
    cf_partial_end(&w->partial);
}

int main(int argc, char **argv)
{
    static struct work w;
    struct options o;
    struct cf_tool tool;
    char *const *files;
    int count;

    cf_tool_init(&tool, argc, argv, "cf-heatmap", usage);
    heatmap_options(&tool, &o, &w.partial, argc, argv);
    w.tool = &tool;
    w.o = &o;
    count = argc - optind;
    find_span(&tool, &o, argv + optind, count);
    w.partial.options = rows_options(&tool, &o);
    files = cf_partial_share(&w.partial, argv + optind, &count);
    w.reader = cf_partial_reader(&w.partial, files, count);
    rows_want(&w);
    make_heats(&w);
    run(&w);
    if (!w.partial.asked)
        print(&w);
    else
        rows_write(&w);
    cf_mix_free(&w.mix);
    heat_free(w.accesses);
    heat_free(w.lines);
    heat_free(w.fine);
    heat_names_free(w.names);
    free(w.snapshots.number);
    free(w.snapshots.time);
    if (w.partial.asked)
        return cf_partial_finish(&w.partial);
    cf_partial_free(&w.partial);
    return cf_tool_finish(&tool, w.reader, NULL);
}
