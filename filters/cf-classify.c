/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-classify - adds column `class`: why each access missed the cache.
 *
 * In: any stream with accesses. Out: the same, table access with column `class`; or, by --summary,
 * counts as CSV. All other tables and columns pass untouched. Memory: what the rule needs, at most
 * some 11 bytes a distinct line and core where accesses lie together; and one column of one frame.
 */
#include <stdlib.h>

#include "filters/parts/classify/classify.h"
#include "formats/program/cf_rows.h"
#include "formats/program/cf_options.h"
#include "formats/together/cf_processes.h"

static const char usage[] =
    "Usage: cf-classify -m MACHINE [OPTION]... [FILE]...\n"
    "Add column 'class' to each access, why it missed: 0 no miss, 1 compulsory,\n"
    "2 capacity, 3 conflict, 4 true sharing, 5 false sharing, 6 and 7 conflict and\n"
    "false sharing by the allocator, 16 unclassified.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -m, --machine MACHINE  the caches: a description's name, FILE.yaml or host; several\n"
    "                         times, for a summary of each\n"
    "      --rule RULE        hill: compulsory, capacity and conflict after Hill and\n"
    "                         Smith, and sharing between cores  [hill]\n"
    "                         leon4: as the LEON4 profiling tool, by distance in\n"
    "                         each set; adds 'hit' and 'class_behind'\n"
    "                         cacheperf: as CachePerf, samples of cf-sample or cf-capture perf\n"
    "      --no-addresses     leon4: the tool's own procedure: all misses of loads are compulsory\n"
    "      --window N, --window-ratio PERCENT, --same-set N, --load-misses PERCENT,\n"
    "      --store-misses PERCENT, --instruction-accesses PERCENT, --instruction-misses PERCENT,\n"
    "      --line-misses PERCENT, --set-misses PERCENT\n"
    "                         cacheperf: what is left out  [1000, 0.5, 8, 3, 1, 0.01, 1, 1, 1]\n"
    "      --literal          cacheperf: Algorithm 1 as printed\n"
    "      --level LEVEL      misses of this level, by name or depth  [the first ones]\n"
    "      --hit              add column 'hit' too, as cf-cache does  [where the machine\n"
    "                         states latencies and the stream has no such column]\n"
    "      --cores N          as given to cf-cache  [CPUs of the machine]\n"
    "      --seed N           seed of random replacement, as given to cf-cache  [1]\n"
    "      --summary          print counts by level and operation; no stream, unless -o is given\n"
    "  -j, --jobs N           make the summary by N threads; it is the same  [1]\n"
    "      --partial          with --summary: a result to be joined with those of other parts\n"
    "      --picture FILE     draw the summary, too: .png, .svg or .pdf; - is PNG on\n"
    "                         standard output, then without CSV\n"
    "      --picture-size WxH in pixels, or in millimetres as WxHmm  [900x500]\n"
    "      --title TEXT       of the picture, instead of its own; '' for none\n"
    "      --columns A,B      hand on only these columns of accesses, and those that are added\n"
    "  -o, --output FILE      write a packed file instead of standard output\n"
    "      --csv, --term, --json  the form of the summary  [a table on a terminal, else CSV]\n"
    "  -q, --quiet            no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-classify -m tegra-x1 --summary trace.cf\n"
    "  cf-resolve trace.cf | cf-classify -m host | cf-rank --by source --value misses\n";

struct run {
    struct cf_tool tool;
    struct classify c[MOST_MACHINES]; /* more than one for a summary alone */
    void *state[MOST_MACHINES];
    unsigned machines;
    const struct rule *rule;
    const char *output;
    int summary;
    unsigned jobs;
    struct cf_output picture;
    struct parts parts;
};

static void set_rule(const struct cf_tool *t, void *run, const char *option, char *text)
{
    struct run *r = run;

    r->rule = find_rule(t, option, text);
}

static void check(const struct run *r, const struct options *o)
{
    const struct cf_tool *t = &r->tool;

    if (o->no_addresses && r->rule != &rule_leon4)
        cf_die(t, CF_EXIT_USAGE, "--no-addresses is for --rule leon4 alone");
    if ((o->cacheperf_given || o->sets_given) && r->rule != &rule_cacheperf)
        cf_die(t, CF_EXIT_USAGE, "filters, windows and --literal are for --rule cacheperf alone");
    if (o->hit && (r->rule != &rule_hill || !o->streams))
        cf_die(t, CF_EXIT_USAGE, "--hit is for --rule hill, and for a stream");
    if (r->machines > 1 && (r->rule != &rule_hill || o->streams))
        cf_die(t, CF_EXIT_USAGE, "several machines are for a --summary alone, of --rule hill");
    if (r->picture.picture && !r->summary)
        cf_die(t, CF_EXIT_USAGE, "--picture draws the --summary");
    if (r->parts.partial.asked && (r->rule != &rule_hill || o->streams || r->picture.picture))
        cf_die(t, CF_EXIT_USAGE, "--partial goes with a --summary of --rule hill alone");
    if (r->parts.partial.asked && r->jobs > 1)
        cf_die(t, CF_EXIT_USAGE, "--partial does not go with --jobs: take more parts");
}

/* Each machine has all options. */
static void share_options(struct run *r, const struct options *o, const char *const *machine)
{
    r->machines += !r->machines; /* the rule says that there is none */
    for (unsigned i = 0; i < r->machines; i++) {
        r->c[i].o = *o;
        r->c[i].o.machine = machine[i];
        r->c[i].tool = &r->tool;
    }
}

static void parse(struct run *r, int argc, char **argv)
{
    struct cf_tool *t = &r->tool;
    struct options *o = &r->c[0].o;
    struct cf_cacheperf_config *p = &o->cacheperf;
    int *set = &o->cacheperf_given;
    const char *machine[MOST_MACHINES] = {NULL};
    const struct cf_option table[] = {
        {"machine", 'm', CF_TEXTS(machine, &r->machines, MOST_MACHINES), .reads = CF_READS_MACHINE},
        {"rule", 0, CF_CALL(set_rule, r)},
        {"level", 0, CF_TEXT(&o->level)},
        {"cores", 0, CF_NUMBER(&o->cores, 1, CF_MAX_CORES), .given = &o->cores_given},
        {"seed", 0, CF_NUMBER(&o->seed, 0, UINT64_MAX)},
        {"summary", 0, CF_FLAG(&r->summary)},
        {"jobs", 'j', CF_NUMBER(&r->jobs, 1, MOST_JOBS)},
        CF_PARTIAL_OPTION(&r->parts.partial),
        {"output", 'o', CF_FILE(&r->output)},
        CF_COLUMNS_OPTION(t),
        {"hit", 0, CF_FLAG(&o->hit)},
        {"no-addresses", 0, CF_FLAG(&o->no_addresses)},
        {"literal", 0, CF_FLAG(&p->literal), .given = set},
        {"window", 0, CF_NUMBER(&p->window, 1, 1 << 30), .given = set},
        {"window-ratio", 0, CF_FRACTION(&p->window_ratio, 0, 100, CF_FROM_TO), .given = set},
        {"same-set", 0, CF_NUMBER(&p->same_set, 2, 64), .given = set},
        {"load-misses", 0, CF_FRACTION(&p->load_misses, 0, 100, CF_FROM_TO), .given = set},
        {"store-misses", 0, CF_FRACTION(&p->store_misses, 0, 100, CF_FROM_TO), .given = set},
        {"instruction-accesses", 0, CF_FRACTION(&p->code_accesses, 0, 100, CF_FROM_TO),
         .given = set},
        {"instruction-misses", 0, CF_FRACTION(&p->code_misses, 0, 100, CF_FROM_TO), .given = set},
        {"line-misses", 0, CF_FRACTION(&p->line_misses, 0, 100, CF_FROM_TO), .given = set},
        {"set-misses", 0, CF_FRACTION(&p->set_misses, 0, 100, CF_FROM_TO), .given = &o->sets_given},
        CF_DRAW_OPTIONS(&r->picture),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    r->rule = rules[0];
    o->seed = 1;
    *p = (struct cf_cacheperf_config){.window = 1000,
                                      .same_set = 8,
                                      .window_ratio = 0.5,
                                      .load_misses = 3,
                                      .store_misses = 1,
                                      .code_accesses = 0.01,
                                      .code_misses = 1,
                                      .line_misses = 1,
                                      .set_misses = 1};
    r->picture.sheet = (struct cf_sheet){.width = 900, .height = 500};
    cf_options_read(t, argc, argv, table);
    cf_output_check(t, &r->picture);
    o->streams = !r->summary || r->output;
    check(r, o);
    share_options(r, o, machine);
}

static const unsigned with_hit[] = {CF_CLASS, CF_HIT, 0};

/* For the header of a segment, before it is handed on. Failures show when the writer is closed. */
static void state_facts(struct run *r, const struct cf_header *h, struct cf_writer *out)
{
    struct classify *c = &r->c[0];

    c->made.rule = r->rule->name;
    cf_made_check(&c->made, h, CF_CLASS, c->o.hit ? with_hit : r->rule->adds);
    if (c->o.hit || r->rule == &rule_leon4)
        cf_made_outdate_cost(h, out);
    for (const unsigned *column = r->rule->adds; *column; column++) {
        const char *name = cf_column_name(*column);

        cf_made_state(&c->made, out, *column);
        if (*column == CF_HIT)
            continue;
        (void)cf_writer_fact(out, name, "rule", r->rule->name);
        (void)cf_writer_fact(out, name, "level", *column == CF_CLASS ? c->level : c->behind);
    }
    c->hit_stated = c->adds_hit && (c->o.hit || !cf_header_fact(h, "hit", "machine"));
    if (c->hit_stated)
        cf_made_state(&c->made, out, CF_HIT);
    else if (c->adds_hit)
        cf_writer_forget(out, "hit");
}

static void run(struct run *r, struct cf_reader *in, struct cf_writer *out)
{
    uint8_t *class = cf_column_room(&r->tool, 1);
    struct cf_turns turns = {.stated = r->c[0].o.cores};
    struct jobs *jobs;
    unsigned cores = 0;
    struct cf_frame *f;

    for (unsigned i = 0; i < r->machines; i++)
        cores = r->c[i].made.cores > cores ? r->c[i].made.cores : cores;
    for (const struct need *n = r->rule->needs; n->column; n++)
        cf_reader_want(in, CF_ACCESS, n->column, n->need);
    if (r->rule != &rule_cacheperf)
        cf_reader_refuse_samples(in);
    if (r->rule->open)
        r->rule->open(r->state[0], in, out);
    jobs = jobs_begin(&r->c[0], r->rule, r->state, r->machines, r->jobs);
    cf_tool_idle(in, out);
    while (cf_tool_next(&r->tool, in, &f) > 0) {
        if (parts_take(&r->parts, f))
            continue;
        cf_turns_check(&turns, &r->tool, f, cores);
        if (f->table == CF_HEADER && out)
            state_facts(r, f->header, out);
        if (f->table == CF_ACCESS) {
            for (unsigned i = 0; !jobs && i < r->machines; i++)
                r->rule->frame(r->state[i], f, class);
            if (jobs)
                jobs_frame(jobs, f, class);
            if (r->rule->holds)
                continue;
            if (out)
                cf_tool_set(&r->tool, f, CF_CLASS, class);
        } else if (r->rule->other && r->rule->other(r->state[0], f)) {
            continue;
        }
        if (out && cf_writer_frame(out, f) != 0)
            break; /* cf_tool_finish() reports why */
    }
    jobs_end(jobs);
    if (r->rule->finish)
        r->rule->finish(r->state[0]);
}

static void summarize(struct run *r)
{
    struct summary s = {.tool = &r->tool, .rule = r->rule, .machines = r->machines};

    for (unsigned i = 0; i < r->machines; i++) {
        s.machine = r->c[i].o.machine;
        r->rule->summary(r->state[i], &s);
    }
    if (r->picture.picture)
        summary_draw(&s, &r->picture);
    if (cf_output_stdout(&r->tool, &r->picture) != CF_STDOUT_PICTURE) {
        cf_rows_begin(&r->tool);
        summary_print(&s);
    }
    free(s.row);
}

static struct cf_reader *open_inputs(struct run *r, char *const *files, int count)
{
    if (r->c[0].o.streams || r->rule != &rule_hill)
        return cf_tool_reader(&r->tool, files, count);
    r->parts.partial.tool = &r->tool;
    r->parts.state = r->state;
    r->parts.machines = r->machines;
    return parts_open(&r->parts, files, count);
}

int main(int argc, char **argv)
{
    static struct run r;
    int status, partial;
    struct cf_reader *in;
    struct cf_writer *out;

    cf_tool_init(&r.tool, argc, argv, "cf-classify", usage);
    parse(&r, argc, argv);
    cf_tool_unsaid(&r.tool, "-j", "--jobs");
    for (unsigned i = 0; i < r.machines; i++)
        r.state[i] = r.rule->begin(&r.c[i]);
    in = open_inputs(&r, argv + optind, argc - optind);
    for (unsigned i = 0; i < r.machines; i++)
        r.c[i].in = in;
    out = r.c[0].o.streams ? cf_tool_writer(&r.tool, r.output) : NULL;
    if (!out)
        cf_reader_pieces(in);
    (void)cf_tool_only(&r.tool, out, r.c[0].adds_hit ? with_hit : r.rule->adds);
    run(&r, in, out);
    partial = parts_end(&r.parts, &status);
    if (!partial && r.summary && !cf_reader_lacks(in) && !r.tool.status)
        summarize(&r);
    for (unsigned i = 0; i < r.machines; i++)
        r.rule->end(r.state[i]);
    return partial ? status : cf_tool_finish(&r.tool, in, out);
}
