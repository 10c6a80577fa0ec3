/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-sweep - the misses of LRU caches of all sizes and associativities, in one reading.
 *
 * In: any stream with accesses. Out: CSV, a row for each number of sets and ways and line size, all
 * from one simulation a line size (Hill and Smith 1989: see allassoc.h). Memory: at most 12 bytes
 * for each line of the largest cache of each number of sets, its ways a power of two from 16, and
 * 32 bytes a process; nothing grows with the stream, but with --partial: see sweep_partial.c.
 */
#include <inttypes.h>
#include <string.h>

#include "filters/parts/sweep/sweep.h"
#include "formats/base/cf_number.h"
#include "formats/program/cf_rows.h"
#include "formats/program/cf_options.h"
#include "formats/together/cf_processes.h"

static const char usage[] =
    "Usage: cf-sweep [OPTION]... [FILE]...\n"
    "Count the misses of LRU caches of all sizes and associativities in one pass, as CSV.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --for WHAT        data, fetches (of instructions) or unified  [data]\n"
    "      --line-size LIST  bytes of a line  [64]; LIST is numbers with commas\n"
    "      --ways LIST       ways of a set, each up to 1024  [1,2,4,8,16]\n"
    "      --sets A-B|LIST   numbers of sets: powers of two in a range, or any listed  [1-16M]\n"
    "      --min, --max SIZE smallest and largest cache  [1K and 4M]\n"
    "      --memory SIZE     at most, for what the caches hold  [2G]\n"
    "      --partial         write a result that cf-sweep joins with those of other parts\n"
    "      --csv, --term, --json  the form of the output  [a table on a terminal, else CSV]\n"
    "      --picture FILE    also a picture, .png, .svg or .pdf; - is PNG on standard\n"
    "                        output, then without CSV\n"
    "      --html FILE       also a page to explore in a browser, in one file\n"
    "      --picture-size WxH  in pixels, or in millimetres as WxHmm  [900x540]\n"
    "      --title TEXT      of the picture, instead of its own; '' for none\n"
    "  -q, --quiet           no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-sweep trace.cf > sweep.csv\n"
    "  cf-sweep --line-size 32,64,128 --ways 4 --min 16K --max 64K trace.cf\n";

enum {
    BATCH = 1 << 14,      /* line references handed to the simulation at once */
    MOST_SETS_SHIFT = 24, /* log2 of the most sets */
};

static void set_sets(const struct cf_tool *t, void *options, const char *option, char *text)
{
    struct options *o = options;

    o->sets.count = 0;
    if (strchr(text, '-'))
        cf_parse_range(t, option, text, &o->sets_from, &o->sets_to);
    else
        cf_parse_rising(t, &o->sets, option, text);
}

static void parse(struct sweep *s, int argc, char **argv)
{
    static uint64_t line_size[] = {64}, ways[] = {1, 2, 4, 8, 16};
    struct options *const o = &s->o;
    struct cf_tool *const t = &s->tool;
    const struct cf_option table[] = {
        {"for", 0, CF_WORD(&o->what, "data fetches unified", CF_RUNS_DATA)},
        {"line-size", 0, CF_CALL(cf_parse_rising, &o->line_size)},
        {"ways", 0, CF_CALL(cf_parse_rising, &o->ways)},
        {"sets", 0, CF_CALL(set_sets, o)},
        {"min", 0, CF_SIZE_OF(&o->least)},
        {"max", 0, CF_SIZE_OF(&o->most)},
        {"memory", 0, CF_SIZE_OF(&o->memory)},
        CF_PARTIAL_OPTION(&s->partial),
        CF_PICTURE_OPTIONS(&o->output),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){.what = CF_RUNS_DATA,
                          .line_size = {4, 65536, MOST_LIST, 1, line_size},
                          .ways = {1, 1024, MOST_LIST, 5, ways},
                          .sets = {1, 1 << MOST_SETS_SHIFT, MOST_LIST, 0, NULL},
                          .sets_from = 1,
                          .sets_to = UINT64_MAX,
                          .least = 1 << 10,
                          .most = 4 << 20,
                          .memory = (uint64_t)2 << 30,
                          .output.sheet = {.width = 900, .height = 540}};
    cf_options_read(t, argc, argv, table);
    cf_output_check(t, &o->output);
    if (s->partial.asked && (o->output.picture || o->output.html))
        cf_die(t, CF_EXIT_USAGE, "--partial does not go with --%s",
               o->output.picture ? "picture" : "html");
    for (unsigned i = 0; i < o->line_size.count; i++)
        if (!cf_is_power_of_two(o->line_size.value[i]))
            cf_die(t, CF_EXIT_USAGE, "--line-size '%llu': must be a power of two",
                   (unsigned long long)o->line_size.value[i]);
}

/* ---- which caches ---- */

static void try_sets(const struct options *o, struct size *s, uint64_t sets)
{
    for (unsigned w = 0; w < o->ways.count; w++)
        if (sweep_wants(o, s->line * sets * o->ways.value[w])) {
            s->sets[s->count++] = (uint32_t)sets;
            return;
        }
}

/* The numbers of sets with which at least one cache is wanted. */
static void choose_sets(const struct options *o, struct size *s)
{
    for (unsigned i = 0; i < o->sets.count; i++)
        try_sets(o, s, o->sets.value[i]);
    for (uint64_t sets = 1; !o->sets.count && sets <= 1 << MOST_SETS_SHIFT; sets *= 2)
        if (sets >= o->sets_from && sets <= o->sets_to)
            try_sets(o, s, sets);
}

static int begin(const struct cf_tool *t, struct options *o, struct size *s, uint64_t line)
{
    const uint32_t ways = (uint32_t)o->ways.value[o->ways.count - 1];
    uint64_t takes;

    s->line = line;
    choose_sets(o, s);
    if (!s->count)
        return 0;
    takes = cf_allassoc_memory(s->sets, s->count, ways);
    if (takes > o->memory)
        cf_die(t, CF_EXIT_USAGE,
               "the caches take more than --memory, up to %llu MiB: a smaller --max takes less",
               (unsigned long long)(takes + (1 << 20) - 1) >> 20);
    o->memory -= takes;
    s->runs = cf_need(t, cf_runs_new((unsigned)__builtin_ctzll(line), o->what, BATCH));
    s->all = cf_need(t, cf_allassoc_new(s->sets, s->count, ways));
    return 1;
}

static void simulate(struct sweep *w, struct size *s, const struct cf_frame *f, uint32_t from,
                     uint32_t to, uint64_t space)
{
    const uint8_t *op = cf_u8(f, CF_OP);
    int flushes = op && memchr(op + from, CF_FLUSH, to - from);
    struct cf_runs *r = s->runs;

    while (s->count && from < to) {
        from = cf_runs_fill(r, cf_u64(f, CF_ADDR), op, cf_u32(f, CF_SIZE), from, to, space);
        /* removing a line would break the order that all sizes share */
        if (flushes)
            s->flushes += cf_runs_drop_flushes(r);
        cf_allassoc_run(s->all, r->line, r->count);
        sweep_use(w, s, space);
        s->references = r->references - s->flushes;
    }
}

static void run(struct sweep *w, struct cf_reader *r)
{
    struct cf_tool *const t = &w->tool;
    struct cf_frame *f;

    cf_reader_want(r, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_OP, CF_SIZE, CF_PID);
    cf_reader_refuse_samples(r);
    while (cf_tool_next(t, r, &f) > 0) {
        if (cf_partial_frame(&w->partial, f)) {
            sweep_merge(w, f);
            continue;
        }
        cf_pids_check(&w->pids, t, f);
        const uint32_t *const pid = cf_u32(f, CF_PID);

        for (uint32_t from = 0, to; f->table == CF_ACCESS && from < f->rows; from = to) {
            uint64_t space;
            uint32_t core;

            to = cf_cores_piece(w->cores, NULL, pid, NULL, from, f->rows, &core, &space);
            cf_must(t, to == 0);
            if (w->partial.asked)
                sweep_process(w, pid ? pid + from : NULL, space);
            for (unsigned i = 0; i < w->o.line_size.count; i++)
                simulate(w, &w->size[i], f, from, to, space);
        }
    }
    cf_partial_end(&w->partial);
}

static void print(const struct options *o, const struct size *s)
{
    for (unsigned w = 0; w < o->ways.count; w++)
        for (unsigned i = 0; i < s->count; i++) {
            const uint64_t sets = s->sets[i], ways = o->ways.value[w];
            const uint64_t misses = sweep_misses(o, s, i, w);

            if (sweep_wants(o, s->line * sets * ways))
                cf_csv_print(stdout,
                             "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                             ",%.9f\n",
                             sets, ways, sets * ways * s->line, s->line, s->references, misses,
                             (double)misses / (double)s->references);
        }
}

static void print_all(const struct sweep *w)
{
    if (w->o.output.picture || w->o.output.html)
        sweep_draw(&w->tool, &w->o, w->size);
    if (cf_output_stdout(&w->tool, &w->o.output) == CF_STDOUT_PICTURE)
        return;
    cf_rows_begin(&w->tool);
    printf("sets,ways,size_bytes,line_size_bytes,references,misses,miss_ratio\n");
    for (unsigned i = 0; i < w->o.line_size.count; i++)
        print(&w->o, &w->size[i]);
}

int main(int argc, char **argv)
{
    static struct sweep w;
    struct options *const o = &w.o;
    struct cf_reader *r;
    int any = 0;

    cf_tool_init(&w.tool, argc, argv, "cf-sweep", usage);
    parse(&w, argc, argv);
    w.size = cf_tool_room(&w.tool, o->line_size.count, sizeof(*w.size));
    for (unsigned i = 0; i < o->line_size.count; i++)
        any |= begin(&w.tool, o, &w.size[i], o->line_size.value[i]);
    if (!any)
        cf_die(&w.tool, CF_EXIT_USAGE,
               "no cache of such sets, ways and line sizes has from %llu to %llu bytes",
               (unsigned long long)o->least, (unsigned long long)o->most);
    w.cores = cf_need(&w.tool, cf_cores_new(1));
    sweep_partial(&w);
    r = cf_partial_reader(&w.partial, argv + optind, argc - optind);
    cf_reader_pieces(r);
    run(&w, r);
    if (w.partial.asked)
        sweep_write(&w);
    else
        print_all(&w);
    for (unsigned i = 0; i < o->line_size.count; i++) {
        cf_runs_free(w.size[i].runs);
        cf_allassoc_free(w.size[i].all);
    }
    cf_cores_free(w.cores);
    sweep_partial_free(&w);
    if (w.partial.asked)
        return cf_partial_finish(&w.partial);
    cf_partial_free(&w.partial);
    return cf_tool_finish(&w.tool, r, NULL);
}
